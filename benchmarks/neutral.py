"""Problems and competitors of a neutral benchmark beside the checkout: a folder with ``problems.py`` and ``peers/``.

``problems.py`` states skeletons, classes of problems and a score in its docstring; quaternions there are (w, x, y, z),
a free root's translation is added to its offset. The programs in ``peers/`` give whole poses back: their times include
turning the library's own numbers into quaternions, which for MuJoCo and mink is a Python loop over joints that costs
more than an easy solve of MuJoCo's. Our own adapters leave it out; both are listed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from problem_sets import SETS, UNREACHABLE, score
from rivals import MINK, MUJOCO, PINOCCHIO, RIVALS, Entry

from viewer.cli.bench_measures import Problems, Rig
from viewer.formats.skeleton_json import skeleton_from_text
from viewer.spatial.checks import Floats

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "bench"
"""Where it is looked for unless said otherwise."""

SUFFIX = ", neutral adapter"
_PEERS = {PINOCCHIO: "pin_dls", MUJOCO: "mj_dls", MINK: "mink_ik"}
_CHAIN = "any"


def module_at(file: Path) -> ModuleType:
    """A Python file as a module."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


class NeutralSource:
    """A `viewer.cli.bench_measures.Source` of the neutral problems."""

    sets = SETS
    score = staticmethod(score)

    def __init__(self, folder: Path) -> None:
        """Load ``problems.py``."""
        sys.dont_write_bytecode = True  # the folder is not ours
        self.folder = folder
        self.library: Any = module_at(folder / "problems.py")

    def rig(self, name: str) -> Rig:
        """The skeleton through its skeleton file, as a user would load it; ``chain-N`` is its ``chainN``."""
        name = name.replace("chain-", "chain")
        theirs = self.library.SETS[name]()
        skeleton = skeleton_from_text(json.dumps(theirs.to_skeleton_file()), name).skeleton
        effectors = [theirs.names[joint] for joint in theirs.tjoint]
        turned = [effector for effector, turns in zip(effectors, theirs.trot, strict=True) if turns]
        return Rig.of(name, skeleton, effectors, turned)

    def problems(self, rig: Rig, kind: str, count: int, seed: int) -> Problems:
        """Its problems; the classes have the same names but for one."""
        word = "unreach" if kind == UNREACHABLE else kind
        _, targets, turns, moved, turned = self.library.generate(rig.name, word, count, seed)
        translations = np.tile(rig.skeleton.offsets, (count, 1, 1))
        translations[:, 0] += moved
        if turns.ndim == 2:
            turns = np.repeat(turns[:, None], len(rig.joints), axis=1)
        return Problems(targets, xyzw(turns), xyzw(turned), translations)

    def drags(self, rig: Rig, sequences: int, frames: int, seed: int) -> list[Problems]:
        """Its motions; their hidden poses are not given: the rest pose stands for them."""
        _, targets, turns = self.library.generate_drag(rig.name, sequences, frames, seed)
        rotations = np.tile(rig.skeleton.rest_rotations, (frames, 1, 1))
        translations = np.tile(rig.skeleton.offsets, (frames, 1, 1))
        return [Problems(*pair, rotations, translations) for pair in zip(targets, xyzw(turns), strict=True)]

    def rivals(self) -> tuple[Entry, ...]:
        """Our adapters, and those in ``peers/``."""
        sys.path.insert(0, str(self.folder / "peers"))
        theirs = {entry.name: entry for entry in RIVALS if entry.name in _PEERS}
        return (
            *RIVALS,
            *(
                Entry(name + SUFFIX, entry.package, entry.modules, partial(Peer, self, _PEERS[name]), "as in peers/")
                for name, entry in theirs.items()
            ),
        )


class Peer:
    """A program of ``peers/`` as a `viewer.cli.bench_measures.Contender`."""

    def __init__(self, source: NeutralSource, module: str, rig: Rig) -> None:
        """Make its solver for the rig."""
        self.offsets = rig.skeleton.offsets
        peer: Any = module_at(source.folder / "peers" / f"{module}.py")
        with contextlib.redirect_stdout(io.StringIO()):
            self.solver = peer.S(source.library.SETS[rig.name](), {})
        self.root = np.zeros(3)
        self.rest = np.tile([1.0, 0.0, 0.0, 0.0], (len(self.offsets), 1))

    @property
    def damping(self) -> float:
        """The damping of the program's steps."""
        return float(self.solver.damp)

    @damping.setter
    def damping(self, damping: float) -> None:
        self.solver.damp = damping

    def solve(self, targets: Floats, turns: Floats) -> tuple[Floats, Floats, int]:
        """Translation of the root, rotations (J, 4) (w, x, y, z), iterations."""
        found: tuple[Floats, Floats, int] = self.solver.solve(targets, turns[:, [3, 0, 1, 2]], self.root, self.rest)
        return found

    def pose(self, answer: tuple[Floats, Floats, int]) -> tuple[Floats, Floats]:
        """Local rotations and translations, as ours are."""
        translations = self.offsets.copy()
        translations[0] += answer[0]
        return xyzw(answer[1]), translations

    def iterations(self, answer: tuple[Floats, Floats, int]) -> int:
        """Steps taken."""
        return answer[2]


def xyzw(quaternions: Floats) -> Floats:
    """(w, x, y, z) to (x, y, z, w)."""
    return np.asarray(quaternions[..., [1, 2, 3, 0]])
