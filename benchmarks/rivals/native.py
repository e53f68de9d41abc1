"""Pinocchio without Python: `pinocchio_dls.cpp`, for robots `pinocchio_pose.cpp`, compiled on the spot.

They are called once per solve.

Needs a C++ compiler, Eigen's headers (Debian: ``g++ libeigen3-dev``) and the headers that the package ``pin`` brings.
A library is built once a run, in a temporary folder, for this processor and without checks: as fast as the compiler
makes it.
"""

from __future__ import annotations

import atexit
import ctypes
import math
import shutil
import subprocess
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from rivals.solvers import MOST_ITERATIONS, STOP_DEG, STOP_M, Answer, PinocchioDls
from viewer.cli.bench_measures import Rig
from viewer.errors import InputError
from viewer.spatial.checks import Floats

SOURCE = Path(__file__).with_name("pinocchio_dls.cpp")
POSES = Path(__file__).with_name("pinocchio_pose.cpp")
EIGEN = Path("/usr/include/eigen3")
# The definitions are those of Pinocchio's own CMake targets.
FLAGS = [
    *("-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-shared", "-fPIC"),
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"),
]


@cache
def library() -> ctypes.CDLL:
    """The compiled `pinocchio_dls.cpp`; raises InputError where it cannot be made."""
    loaded = built(SOURCE)
    loaded.pinocchio_make.restype = ctypes.c_void_p
    loaded.pinocchio_make.argtypes = [
        *(ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
        *(ctypes.c_double, ctypes.c_double, ctypes.c_int),
    ]
    pointer = ctypes.c_void_p
    loaded.pinocchio_solve.argtypes = [pointer, pointer, pointer, ctypes.c_double, pointer]
    return loaded


@cache
def built(source: Path) -> ctypes.CDLL:
    """A compiled C++ program that uses Pinocchio; raises InputError where it cannot be made."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    pinocchio: Any = import_module("pinocchio")
    prefix = next((p for p in Path(pinocchio.__file__).parents if (p / "include" / "pinocchio").is_dir()), None)
    if compiler is None or prefix is None or not EIGEN.is_dir():
        raise InputError("Pinocchio from C++: needs a C++ compiler, libeigen3-dev and the headers of the package pin")
    folder = Path(tempfile.mkdtemp(prefix="pinocchio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    made = folder / f"{source.stem}.so"
    places = ["-isystem", str(prefix / "include"), "-isystem", str(EIGEN), str(source)]
    links = [f"-L{prefix / 'lib'}", "-lboost_serialization", f"-Wl,-rpath,{prefix / 'lib'}", "-o", str(made)]
    done = subprocess.run([compiler, *FLAGS, *places, *links], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputError(f"Pinocchio from C++: does not compile: {done.stderr.strip().splitlines()[0]}")
    return ctypes.CDLL(str(made))


class PosesNative:
    """Pose goals of one frame of a robot, by `pinocchio_pose.cpp`.

    Args:
        model: Pinocchio's.
        frame: its name.
        lower, upper: (nq,) bounds of the joints.
        start: (nq,) where each solve begins.
        stops: metres and radians within which a goal is met.
        most: iterations of one attempt, and attempts.

    Raises:
        InputError: the program cannot be made.
    """

    def __init__(
        self,
        model: Any,  # noqa: ANN401 - Pinocchio has no types
        frame: str,
        bounds: tuple[Floats, Floats],
        start: Floats,
        stops: tuple[float, float],
        most: tuple[int, int],
    ) -> None:
        """Hand the model over as a file."""
        program, pointer = built(POSES), ctypes.c_void_p
        program.pose_make.restype = pointer
        program.pose_make.argtypes = [
            *(ctypes.c_char_p, ctypes.c_char_p, pointer, pointer, pointer),
            *(ctypes.c_double, ctypes.c_double, ctypes.c_int, ctypes.c_int),
        ]
        program.pose_solve.argtypes = [pointer] * 4
        arrays = [np.ascontiguousarray(one, np.float64) for one in (*bounds, start)]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "model.txt")
            model.saveToText(str(file))
            places = [one.ctypes.data for one in arrays]
            self.solver = program.pose_make(str(file).encode(), frame.encode(), *places, *stops, *most)
        self.q, self.call = np.zeros(model.nq), program.pose_solve
        self.out = self.q.ctypes.data

    def solve(self, place: Floats, turn: Floats) -> bool:
        """Whether a goal is met, at a place (3,) and turned by a quaternion (4,); the joints then stand in ``q``."""
        return bool(self.call(self.solver, place.ctypes.data, turn.ctypes.data, self.out))


class PinocchioNative(PinocchioDls):
    """The loop of `PinocchioDls` in C++, on the very same model."""

    def __init__(self, rig: Rig) -> None:
        """Hand the model over as a file."""
        super().__init__(rig)
        self.library = library()
        flags = np.array(self.turned, dtype=np.int32)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "model.txt")
            self.model.saveToText(str(file))
            self.solver = self.library.pinocchio_make(
                *(str(file).encode(), len(flags), flags.ctypes.data, self.lower.ctypes.data, self.upper.ctypes.data),
                *(STOP_M, math.radians(STOP_DEG), MOST_ITERATIONS),
            )
        self.q = np.zeros(self.model.nq)
        self.call, self.out = self.library.pinocchio_solve, self.q.ctypes.data

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`."""
        targets, turns = np.ascontiguousarray(targets), np.ascontiguousarray(turns)
        iterations = self.call(self.solver, targets.ctypes.data, turns.ctypes.data, self.damping, self.out)
        return Answer(self.q.copy(), iterations)
