"""The list of contenders."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from viewer.cli.bench.contender import Entry
from viewer.cli.bench.ours import Ours
from viewer.cli.bench.rival_dls import MujocoDls, PinocchioDls
from viewer.cli.bench.rival_ikpy import Ikpy
from viewer.cli.bench.rival_qp import Mink, Placo

NUMBA, NUMPY = "ikviewer (numba)", "ikviewer (numpy)"
PINOCCHIO, MUJOCO, MINK, PLACO, IKPY = "Pinocchio DLS + clamp", "MuJoCo DLS + clamp", "mink (QP)", "placo (QP)", "ikpy"

OURS = (
    Entry(NUMBA, "ikviewer", ("numba",), partial(Ours, backend="numba"), "viewer.Solver, compiled kernels"),
    Entry(NUMPY, "ikviewer", (), partial(Ours, backend="numpy"), "viewer.Solver, numpy"),
)
RIVALS = (
    Entry(PINOCCHIO, "pin", ("pinocchio",), PinocchioDls, "the best damping of six, 200 iterations"),
    Entry(MUJOCO, "mujoco", ("mujoco",), MujocoDls, "the best damping of six, 200 iterations"),
    Entry(
        MINK,
        "mink",
        ("mujoco", "mink", "daqp"),
        Mink,
        "FrameTask, ConfigurationLimit, daqp, tuned, 100 iterations",
    ),
    Entry(PLACO, "placo", ("placo",), Placo, "soft frame tasks, joint limits, 100 iterations"),
    Entry(IKPY, "ikpy", ("ikpy",), Ikpy, "inverse_kinematics from rest"),
)


def present(entries: Iterable[Entry]) -> tuple[list[Entry], dict[str, str]]:
    """Those that can take part, and why the others cannot."""
    absent = {entry.name: why for entry in entries if (why := entry.missing()) is not None}
    return [entry for entry in entries if entry.name not in absent], absent
