"""Other solvers of inverse kinematics, made ready for the benchmarks; ``pip install '.[bench]'`` installs most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module

from rivals import native
from rivals.solvers import DAMPING, Ikpy, Mink, MujocoDls, PinocchioDls, Placo
from viewer.cli.bench_measures import Maker
from viewer.errors import InputError

PINOCCHIO, MUJOCO, MINK, PLACO, IKPY = "Pinocchio DLS + clamp", "MuJoCo DLS + clamp", "mink (QP)", "placo (QP)", "ikpy"


@dataclass(frozen=True, slots=True)
class Entry:
    """A rival that can be made for any rig it serves.

    Attributes:
        name: in tables; what follows a comma says how it is run.
        package: whose version is reported.
        modules: that must be importable.
        make: from a rig; raises InputError for a rig that it cannot serve.
        note: how it was used.
    """

    name: str
    package: str
    modules: tuple[str, ...]
    make: Maker
    note: str

    def missing(self) -> str | None:
        """Why it cannot take part, or None."""
        for module in self.modules:
            try:
                import_module(module)
            except ImportError as error:
                return f"{self.package} cannot be imported: {str(error).splitlines()[0]}"
        return None


RIVALS = (
    Entry(PINOCCHIO, "pin", ("pinocchio",), PinocchioDls, "the best damping of six, 200 iterations"),
    Entry(MUJOCO, "mujoco", ("mujoco",), MujocoDls, "the best damping of six, 200 iterations"),
    Entry(MINK, "mink", ("mujoco", "mink", "daqp"), Mink, "FrameTask, ConfigurationLimit, daqp, tuned, 100 iterations"),
    Entry(PLACO, "placo", ("placo",), Placo, "soft frame tasks, joint limits, 100 iterations"),
    Entry(IKPY, "ikpy", ("ikpy",), Ikpy, "inverse_kinematics from rest"),
)


def compiled() -> tuple[Entry, ...]:
    """Pinocchio without Python, where it can be made."""
    try:
        native.library()
    except (ImportError, InputError):
        return ()
    note = f"the same loop in C++ (-O3 -march=native), damping {DAMPING:g} unless tuned"
    return (Entry(f"{PINOCCHIO}, C++", "pin", ("pinocchio",), native.PinocchioNative, note),)


def present(entries: Iterable[Entry]) -> tuple[list[Entry], dict[str, str]]:
    """Those that can take part, and why the others cannot."""
    absent = {entry.name: why for entry in entries if (why := entry.missing()) is not None}
    return [entry for entry in entries if entry.name not in absent], absent
