"""Rigid-body physics of skeletons, by MuJoCo (the extra `physics`): loads it, and converts its order of quaternions."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from viewer.errors import MachineError, is_installed
from viewer.spatial.checks import Floats


def wxyz(quaternions: Floats) -> Floats:
    """Quaternions (..., 4) in MuJoCo's order."""
    return quaternions[..., [3, 0, 1, 2]]


def xyzw(quaternions: Floats) -> Floats:
    """Quaternions (..., 4) of MuJoCo in ours, at unit length."""
    return unit_length(quaternions[..., [1, 2, 3, 0]])


def unit_length(q: Floats) -> Floats:
    """Quaternions (..., 4) divided by their lengths."""
    return np.asarray(q / np.sqrt(np.einsum("...i,...i->...", q, q))[..., None])


def left(q: Floats) -> Floats:
    """(N, 4, 4) what row quaternions p are multiplied by so that q p results, of quaternions (N, 4)."""
    x, y, z, w = np.moveaxis(q, -1, 0)
    rows = [[w, z, -y, -x], [-z, w, x, -y], [y, -x, w, -z], [x, y, z, w]]
    return np.moveaxis(np.array(rows), -1, 0)


def by_vector(q: Floats, v: Floats) -> Floats:
    """(N, 4) the products q (v, 0) of quaternions (N, 4) and vectors (N, 3)."""
    return np.asarray(np.einsum("ni,nij->nj", v, left(q)[:, :3]))


def load_mujoco() -> Any:  # noqa: ANN401 - without types
    """The module.

    Raises:
        MachineError: it is not installed, or this machine cannot load it.
    """
    if not is_installed("mujoco"):
        raise MachineError("physics needs MuJoCo: pip install 'ikviewer[physics]'")
    try:
        module = import_module("mujoco")
    except (ImportError, OSError) as error:
        raise MachineError(f"MuJoCo cannot be loaded: {error}: pip install --force-reinstall mujoco-core") from error
    module.set_mju_user_warning(_say_nothing)  # otherwise it writes MUJOCO_LOG.TXT into the working folder
    return module


def _say_nothing(_message: str) -> None:
    """Simulations look at the warnings of their data instead."""
