"""Pinocchio without Python: `pinocchio_dls.cpp` compiled on the spot, called once per solve.

Needs a C++ compiler, Eigen's headers (Debian: ``g++ libeigen3-dev``) and the headers that the package ``pin`` brings.
The library is built once a run, in a temporary folder, for this processor and without checks: as fast as the compiler
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
from viewer.cli.bench.rigs import Rig
from viewer.errors import InputError
from viewer.spatial.checks import Floats

SOURCE = Path(__file__).with_name("pinocchio_dls.cpp")
EIGEN = Path("/usr/include/eigen3")
# The definitions are those of Pinocchio's own CMake targets.
FLAGS = [
    *("-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-shared", "-fPIC"),
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"),
]


@cache
def library() -> ctypes.CDLL:
    """The compiled program; raises InputError where it cannot be made."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    pinocchio: Any = import_module("pinocchio")
    prefix = next((p for p in Path(pinocchio.__file__).parents if (p / "include" / "pinocchio").is_dir()), None)
    if compiler is None or prefix is None or not EIGEN.is_dir():
        raise InputError("Pinocchio from C++: needs a C++ compiler, libeigen3-dev and the headers of the package pin")
    folder = Path(tempfile.mkdtemp(prefix="pinocchio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    built = folder / "pinocchio_dls.so"
    places = ["-isystem", str(prefix / "include"), "-isystem", str(EIGEN), str(SOURCE)]
    links = [f"-L{prefix / 'lib'}", "-lboost_serialization", f"-Wl,-rpath,{prefix / 'lib'}", "-o", str(built)]
    done = subprocess.run([compiler, *FLAGS, *places, *links], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InputError(f"Pinocchio from C++: does not compile: {done.stderr.strip().splitlines()[0]}")
    loaded = ctypes.CDLL(str(built))
    loaded.pinocchio_make.restype = ctypes.c_void_p
    loaded.pinocchio_make.argtypes = [
        *(ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p),
        *(ctypes.c_double, ctypes.c_double, ctypes.c_int),
    ]
    pointer = ctypes.c_void_p
    loaded.pinocchio_solve.argtypes = [pointer, pointer, pointer, ctypes.c_double, pointer]
    return loaded


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
