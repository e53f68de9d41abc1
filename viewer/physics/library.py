"""MuJoCo, and its order of quaternions."""

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
    ours = quaternions[..., [1, 2, 3, 0]]
    return np.asarray(ours / np.linalg.norm(ours, axis=-1, keepdims=True))


def load_mujoco() -> Any:  # noqa: ANN401 - without types
    """The module.

    Raises:
        MachineError: it is not installed.
    """
    if not is_installed("mujoco"):
        raise MachineError("physics needs MuJoCo: pip install 'ikviewer[physics]'")
    module = import_module("mujoco")
    module.set_mju_user_warning(_say_nothing)  # else it writes MUJOCO_LOG.TXT into the working folder
    return module


def _say_nothing(_message: str) -> None:
    """Simulations look at the warnings of their data instead."""
