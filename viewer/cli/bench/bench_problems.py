"""Seeded problems, whose targets a hidden pose reaches, so that a solution inside the limits exists; and drags.

near / medium / far: each coordinate of the hidden pose lies uniformly in 0.15 / 0.5 / 1 of its range, seen from the
rest pose; a free root is moved by up to 0.05 / 0.3 / 1 m per axis and turned by up to 10 / 45 / 180 degrees about any
axis. unreachable: as medium, but every target is pushed 0.5 m away from the root. Chains: a point in a shell between
0.1 and 0.9 of their length. Every problem starts from the rest pose, which lies on limits (straight elbows and knees):
the hard case, and the usual one in an editor.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from viewer.cli.bench.rigs import Rig
from viewer.cli.bench.score import world
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.skeleton import JointKind, Pose, joint_space
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import exp, from_matrix

PARTS = {"near": 0.15, "medium": 0.5, "far": 1.0}
ROOT_M = {"near": 0.05, "medium": 0.3, "far": 1.0}
ROOT_DEG = {"near": 10.0, "medium": 45.0, "far": 180.0}
UNREACHABLE = "unreachable"
CLASSES = (*PARTS, UNREACHABLE)
_PUSHED_M = 0.5
_SHELL = (0.1, 0.9)

_KEYS = 5
_DRAG_PART = 0.6
_DRAG_ROOT_M = 0.2
_DRAG_ROOT_RAD = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Problems:
    """N problems of one rig and class.

    Attributes:
        targets, turns: (N, G, 3) metres and (N, G, 4) (x, y, z, w): where each effector is to be and how turned.
        rotations, translations: (N, J, 4) and (N, J, 3) the hidden poses; they solve the problems unless these are
            unreachable or a chain's.
    """

    targets: Floats
    turns: Floats
    rotations: Floats
    translations: Floats

    def __len__(self) -> int:
        """The number of problems."""
        return len(self.targets)

    def first(self, count: int) -> Problems:
        """The first ``count`` of them."""
        some = (self.targets, self.turns, self.rotations, self.translations)
        return Problems(*(array[:count] for array in some))


def problems(rig: Rig, kind: str, count: int, seed: int) -> Problems:
    """``count`` problems of a class; rig, class and seed determine them."""
    random = np.random.default_rng([seed, zlib.crc32(rig.name.encode()), zlib.crc32(kind.encode())])
    if not any(rig.skeleton.limits):
        return _shell(rig, count, random)
    size = "medium" if kind == UNREACHABLE else kind
    coordinates = PARTS[size] * drawn(rig, count, random)
    moved = random.uniform(-ROOT_M[size], ROOT_M[size], (count, 3))
    turned = _directions(count, random) * np.radians(random.uniform(0.0, ROOT_DEG[size], (count, 1)))
    found = posed(rig, coordinates, moved, turned)
    if kind == UNREACHABLE:
        outward = found.targets - found.translations[:, :1]
        found.targets[:] += _PUSHED_M * outward / np.linalg.norm(outward, axis=-1, keepdims=True)
    return found


def drags(rig: Rig, sequences: int, frames: int, seed: int) -> list[Problems]:
    """Smooth motions through random poses, from rest, to be followed frame by frame."""
    random = np.random.default_rng([seed, zlib.crc32(rig.name.encode()), zlib.crc32(b"drag")])
    made = []
    for _ in range(sequences):
        coordinates = _DRAG_PART * drawn(rig, _KEYS, random)
        moved = random.uniform(-_DRAG_ROOT_M, _DRAG_ROOT_M, (_KEYS, 3))
        turned = random.normal(0.0, _DRAG_ROOT_RAD, (_KEYS, 3))
        for keys in (coordinates, moved, turned):
            keys[0] = 0.0
        made.append(posed(rig, *(_eased(keys, frames) for keys in (coordinates, moved, turned))))
    return made


def posed(rig: Rig, coordinates: Floats, moved: Floats, turned: Floats) -> Problems:
    """The problems whose hidden poses have these coordinates.

    Args:
        rig: the skeleton.
        coordinates: (N, J, 3) added to the rest pose's, as `viewer.skeleton.coordinates` defines them.
        moved: (N, 3) metres that free roots are moved by.
        turned: (N, 3) rotation vectors that they are turned by.
    """
    skeleton, space = rig.skeleton, joint_space(rig.skeleton)
    count = len(coordinates)
    rotations = np.tile(skeleton.rest_rotations, (count, 1, 1))
    translations = np.tile(skeleton.offsets, (count, 1, 1))
    rotations, translations = space.rebuild(_rest(rig) + coordinates, rotations, translations)
    for joint in _free_roots(rig):
        rotations[:, joint], translations[:, joint] = exp(turned), skeleton.offsets[joint] + moved
    places, frames = world(skeleton, rotations, translations)
    at = frames[:, rig.joints]
    targets = places[:, rig.joints] + np.einsum("ngij,gj->ngi", at, rig.offsets)
    return Problems(targets, from_matrix(at), rotations, translations)


def drawn(rig: Rig, count: int, random: np.random.Generator) -> Floats:
    """(count, J, 3) coordinates anywhere in their ranges, minus the rest pose's; 0 where there is no range."""
    space = joint_space(rig.skeleton)
    limited = np.isfinite(space.lower) & np.isfinite(space.upper)
    lower, upper = np.where(limited, space.lower, 0.0), np.where(limited, space.upper, 0.0)
    return np.where(limited, random.uniform(lower, upper, (count, *lower.shape)) - _rest(rig), 0.0)


def _rest(rig: Rig) -> Floats:
    """(J, 3) coordinates of the rest pose, brought inside the ranges."""
    space = joint_space(rig.skeleton)
    return np.clip(np.zeros_like(space.lower), space.lower, space.upper)


def _free_roots(rig: Rig) -> list[int]:
    return [joint for joint, kind in enumerate(rig.skeleton.kinds) if kind is JointKind.FREE]


def _shell(rig: Rig, count: int, random: np.random.Generator) -> Problems:
    """Points about a chain's first joint, uniform by volume."""
    skeleton = rig.skeleton
    reach = float(np.linalg.norm(skeleton.offsets[1:], axis=-1).sum() + np.linalg.norm(rig.offsets[0]))
    least, most = (part**3 for part in _SHELL)
    distances = reach * np.cbrt(random.uniform(least, most, (count, 1)))
    targets = skeleton.offsets[0] + distances * _directions(count, random)
    return Problems(
        targets[:, None],
        np.tile([0.0, 0.0, 0.0, 1.0], (count, 1, 1)),
        np.tile(skeleton.rest_rotations, (count, 1, 1)),
        np.tile(skeleton.offsets, (count, 1, 1)),
    )


def _directions(count: int, random: np.random.Generator) -> Floats:
    """(count, 3) unit vectors, every direction equally likely."""
    vectors = random.normal(size=(count, 3))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _eased(keys: Floats, frames: int) -> Floats:
    """(frames, ...) values that pass through keys (K, ...) and are slow at each."""
    places = np.linspace(0.0, len(keys) - 1.0, frames)
    before = np.minimum(places.astype(np.intp), len(keys) - 2)
    part = places - before
    part = (part * part * (3.0 - 2.0 * part)).reshape(-1, *([1] * (keys.ndim - 1)))
    return np.asarray(keys[before] * (1.0 - part) + keys[before + 1] * part)


# --- paths of a cursor

SIZES_M = (0.3, 0.15, 0.075)
"""Lengths of lines and widths of loops, of which the first that at least half of the starts can reach is used."""
BEYOND_M = 1.2
"""Length of a path out of reach."""
_WAY_FRAMES, _STAY_FRAMES = 120, 30
_PATH_FRAMES = 60
_CHECKED = (_PATH_FRAMES // 4, _PATH_FRAMES // 2, 3 * _PATH_FRAMES // 4)


def out_and_back(
    solver: Solver, starts: Problems, shape: str, seed: int, tries: int, size_m: float
) -> list[tuple[Pose, Floats, Floats]]:
    """One path per start for which one is found.

    Args:
        solver: says what is within reach: a one-shot solve of places on the way.
        starts: whose hidden poses the drags begin at.
        shape: "line" or "loop".
        seed: of the directions, and of which effector moves.
        tries: directions that are tried for each start.
        size_m: see `SIZES_M`.

    Returns:
        Start pose, targets (F, G, 3), turns (G, 4).
    """
    random = np.random.default_rng([seed, len(shape)])
    found = []
    for places, turns, rotations, translations in zip(
        starts.targets, starts.turns, starts.rotations, starts.translations, strict=True
    ):
        start = Pose(rotations, translations)
        for _ in range(tries):
            targets = np.tile(places, (_PATH_FRAMES + 1, 1, 1))
            targets[:, random.integers(len(places))] += size_m * _walk(shape, random)
            on_the_way = (solver.solve(start, targets=targets[k], target_rotations=turns) for k in _CHECKED)
            if all(solution.status is Status.CONVERGED for solution in on_the_way):
                found.append((start, targets, turns))
                break
    return found


def beyond(starts: Problems, seed: int) -> list[tuple[Pose, Floats, Floats]]:
    """One path per start: one effector goes `BEYOND_M` out, farther than it reaches, stays there and comes back.

    Returns:
        Start pose, targets (F, G, 3), turns (G, 4).
    """
    random = np.random.default_rng([seed, 1])
    there = np.linspace(0.0, 1.0, _WAY_FRAMES + 1)
    parts = np.concatenate([there, np.ones(_STAY_FRAMES), there[::-1]])
    paths = []
    for places, turns, rotations, translations in zip(
        starts.targets, starts.turns, starts.rotations, starts.translations, strict=True
    ):
        way = random.normal(size=3)
        targets = np.tile(places, (len(parts), 1, 1))
        targets[:, random.integers(len(places))] += BEYOND_M * parts[:, None] * way / np.linalg.norm(way)
        paths.append((Pose(rotations, translations), targets, turns))
    return paths


def _walk(shape: str, random: np.random.Generator) -> Floats:
    """(F, 3) places of a path one metre in size, seen from its start: eased, ending where it began."""
    first, second = np.linalg.qr(random.normal(size=(3, 2)))[0].T
    turn = np.linspace(0.0, 2.0 * np.pi, _PATH_FRAMES + 1)[:, None]
    out = 0.5 * (1.0 - np.cos(turn))
    if shape == "line":
        return np.asarray(out * first)
    return np.asarray(out * first + 0.5 * np.sin(turn) * second)
