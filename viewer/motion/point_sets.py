"""Sets of points that programs output for a person: their names, and the skeleton that they describe.

Body models (HumanML3D, SMPL) give joints. Detectors (MediaPipe, COCO, Halpe, OpenPose) give landmarks on the body
without a pelvis or a spine: joints of the trunk lie midway between landmarks, and landmarks of feet and hands become
end sites.

Motion of SMPL itself, axis-angles of 22 joints, goes onto a figure in SMPL's T-pose whose proportions are those of
Drillis and Contini, "Body segment parameters" (1966), where these name them: the model's own bone lengths are in a
licensed file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from viewer.choices import PresetName
from viewer.errors import InputError, quote, unknown_name
from viewer.skeleton import Character, Clip, Effector, Skeleton, fk_clip
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import exp, multiply


@dataclass(frozen=True, slots=True)
class Node:
    """A joint or an end site.

    Attributes:
        name: of the joint; of an end site "".
        parent: name of the joint above; "" for the root.
        points: names of the points whose mean is its position; none for the middle of a bent back.
        direction: from its parent in a T-pose that faces +Z, Y up; approximate if the parent has several children.
    """

    name: str
    parent: str
    points: tuple[str, ...]
    direction: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class PointSet:
    """Points with names, and a skeleton.

    Attributes:
        name: as `--preset` has it.
        points: names, in the order of the arrays.
        nodes: joints, parents first, then end sites.
        ends: joints of hands, feet and head, which become effectors.
        across: points left and right of the pelvis.
    """

    name: str
    points: tuple[str, ...]
    nodes: tuple[Node, ...]
    ends: tuple[str, ...]
    across: tuple[str, str] = ("left_hip", "right_hip")

    @property
    def needed(self) -> set[str]:
        """The points without which there is no figure; the others may be missing."""
        return {point for node in self.nodes for point in node.points}


_UP, _DOWN, _FORWARD, _BACK = (0.0, 1.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)
_OUTWARDS = {"left": (1.0, 0.0, 0.0), "right": (-1.0, 0.0, 0.0)}
_ARM = ("shoulder", "elbow", "wrist", "hand")
_LEG = ("knee", "ankle")

_SMPL = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle",
    "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hand", "right_hand",
)  # fmt: skip
_SMPL_PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19, 20, 21)
_MEDIAPIPE = (
    "nose", "left_eye_inner", "left_eye", "left_eye_outer", "right_eye_inner", "right_eye", "right_eye_outer",
    "left_ear", "right_ear", "mouth_left", "mouth_right", "left_shoulder", "right_shoulder", "left_elbow",
    "right_elbow", "left_wrist", "right_wrist", "left_pinky", "right_pinky", "left_index", "right_index", "left_thumb",
    "right_thumb", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle", "right_ankle", "left_heel",
    "right_heel", "left_foot_index", "right_foot_index",
)  # fmt: skip
_COCO = (
    "nose", "left_eye", "right_eye", "left_ear", "right_ear", "left_shoulder", "right_shoulder", "left_elbow",
    "right_elbow", "left_wrist", "right_wrist", "left_hip", "right_hip", "left_knee", "right_knee", "left_ankle",
    "right_ankle",
)  # fmt: skip
_HALPE = (
    "Nose", "LEye", "REye", "LEar", "REar", "LShoulder", "RShoulder", "LElbow", "RElbow", "LWrist", "RWrist", "LHip",
    "RHip", "LKnee", "RKnee", "LAnkle", "RAnkle", "Head", "Neck", "Hip", "LBigToe", "RBigToe", "LSmallToe", "RSmallToe",
    "LHeel", "RHeel",
)  # fmt: skip
_OPENPOSE = (
    "Nose", "Neck", "RShoulder", "RElbow", "RWrist", "LShoulder", "LElbow", "LWrist", "CHip", "RHip", "RKnee", "RAnkle",
    "LHip", "LKnee", "LAnkle", "REye", "LEye", "REar", "LEar", "LBigToe", "LSmallToe", "LHeel", "RBigToe", "RSmallToe",
    "RHeel",
)  # fmt: skip
_ENDS = ("left_wrist", "right_wrist", "left_ankle", "right_ankle", "head")


def direction_of(name: str) -> tuple[float, float, float]:
    """The direction from its parent to a joint of that name in a T-pose that faces +Z, Y up."""
    side, _, part = name.partition("_")
    if side in _OUTWARDS and part in _ARM:
        return _OUTWARDS[side]
    if part in _LEG:
        return _DOWN
    if side in _OUTWARDS and part in {"hip", "collar"}:
        return (_OUTWARDS[side][0], -0.5 if part == "hip" else 1.0, 0.0)
    return _FORWARD if part == "foot" else _UP


def _body_model(name: str, count: int) -> PointSet:
    nodes = tuple(
        Node(joint, _SMPL[parent] if parent >= 0 else "", (joint,), direction_of(joint))
        for joint, parent in zip(_SMPL[:count], _SMPL_PARENTS[:count], strict=True)
    )
    return PointSet(name, _SMPL[:count], nodes, _ENDS)


def _pose2sim(name: str) -> str:
    """The marker of Pose2Sim for a landmark of MediaPipe's: ``LHip`` for ``left_hip``."""
    side, _, part = name.rpartition("_")
    return side[:1].upper() + {"index": "BigToe"}.get(part, part.capitalize())


def _detector(
    name: str,
    points: tuple[str, ...],
    head: tuple[str, ...] = ("left_ear", "right_ear"),
    word_of: Callable[[str], str] = str,
) -> PointSet:
    """The set of a detector; ``head``: landmarks round the middle of the head; ``word_of``: its word for a landmark."""
    hips, shoulders = ((word_of(f"left_{part}"), word_of(f"right_{part}")) for part in ("hip", "shoulder"))
    nodes = [
        Node("pelvis", "", hips, _UP), Node("spine1", "pelvis", hips, _UP), Node("spine2", "spine1", (), _UP),
        Node("chest", "spine2", shoulders, _UP),
        Node("neck", "chest", shoulders, _UP), Node("head", "neck", head, _UP),
    ]  # fmt: skip
    tips = [Node("", "head", (word_of("nose"),), _FORWARD)]
    tips += [Node("", "head", (ear,), _OUTWARDS[side]) for side in _OUTWARDS if (ear := f"{side}_ear") in head]
    for side, out in _OUTWARDS.items():
        above = {
            "shoulder": "chest",
            "elbow": "shoulder",
            "wrist": "elbow",
            "hip": "pelvis",
            "knee": "hip",
            "ankle": "knee",
        }
        for part, parent in above.items():
            joint = f"{side}_{part}"
            on_trunk = parent in {"chest", "pelvis"}
            way = out if on_trunk else direction_of(joint)
            nodes.append(Node(joint, parent if on_trunk else f"{side}_{parent}", (word_of(joint),), way))
        if word_of(f"{side}_heel") in points:
            tips += [Node("", f"{side}_ankle", (word_of(f"{side}_foot_index"),), _FORWARD)]
            tips += [Node("", f"{side}_ankle", (word_of(f"{side}_heel"),), _BACK)]
        if f"{side}_pinky" in points:
            tips += [Node("", f"{side}_wrist", (f"{side}_{finger}",), out) for finger in ("index", "pinky")]
    return PointSet(name, points, (*nodes, *tips), _ENDS, across=hips)


POINT_SETS: dict[PresetName, PointSet] = {
    "humanml3d": _body_model("humanml3d", 22),
    "smpl": _body_model("smpl", 24),
    "mediapipe": _detector("mediapipe", _MEDIAPIPE),
    "coco": _detector("coco", _COCO),
    "halpe26": _detector("halpe26", _HALPE, ("Head", "Nose"), _pose2sim),
    "body25": _detector("body25", _OPENPOSE, ("Nose",), _pose2sim),
}
"""The point sets by name; each has another number of points."""


def point_set(name: PresetName) -> PointSet:
    """The point set of that name; an InputError if there is none."""
    if name not in POINT_SETS:
        raise InputError(f"fit: preset: expected {', '.join(POINT_SETS)}, found {quote(name)}")
    return POINT_SETS[name]


def counts_of_sets() -> str:
    """The numbers of points that say which set they are: ``22 (humanml3d), ...``."""
    return ", ".join(f"{len(each.points)} ({each.name})" for each in POINT_SETS.values())


def set_of_count(count: int) -> PointSet | None:
    """The set that has this number of points, or None."""
    return next((each for each in POINT_SETS.values() if len(each.points) == count), None)


def set_of_names(names: Sequence[str]) -> PointSet | None:
    """The set whose figure needs the most of these names, and no others; None if there is none."""
    known = set(names)
    sets = [each for each in POINT_SETS.values() if known.issuperset(each.needed)]
    return max(sets, key=lambda each: len(each.needed), default=None)


def tree_set(names: Sequence[str], parents: Sequence[str]) -> PointSet:
    """A point set for joints whose parents are stated by name ("" for the root).

    Raises:
        InputError: no root or several, a parent that is not a joint, a circle.
    """
    roots = [name for name, parent in zip(names, parents, strict=True) if not parent]
    if len(roots) != 1:
        found = ", ".join(map(quote, roots[:3])) or "none"
        raise InputError(f"expected one joint without a parent, found {found}")
    above = dict(zip(names, parents, strict=True))
    for name, parent in above.items():
        if parent and parent not in above:
            raise InputError(f"joint {quote(name)}: parent: {unknown_name('joint', parent, names)}")
    order: list[str] = []
    listed: set[str] = set()
    for name in names:
        way: list[str] = []
        step = name
        while step and step not in listed:
            if step in way:
                raise InputError(f"joint {quote(name)}: its parents lead in a circle")
            way.append(step)
            step = above[step]
        listed.update(way)
        order += reversed(way)
    nodes = tuple(Node(name, above[name], (name,), direction_of(name)) for name in order)
    inner = set(parents)
    ends = tuple(name for name in order if name not in inner)
    sides = [name for name in order if above[name] == roots[0]]
    left = next((name for name in sides if "left" in name.casefold()), "")
    right = next((name for name in sides if "right" in name.casefold()), "")
    return PointSet("names", tuple(names), nodes, ends, (left, right))


HEIGHT = 1.7
"""Default height of the figure, metres."""
BODY_JOINTS = 22
_PLACES = {
    "pelvis": (0.0, 0.0, 0.0), "hip": (0.05, -0.045, 0.0), "knee": (0.01, -0.23, 0.0), "ankle": (-0.005, -0.246, -0.02),
    "foot": (0.01, -0.03, 0.075), "spine1": (0.0, 0.065, -0.015), "spine2": (0.0, 0.08, 0.0),
    "spine3": (0.0, 0.03, 0.0), "neck": (0.0, 0.125, -0.02), "head": (0.0, 0.05, 0.03), "collar": (0.045, 0.065, -0.01),
    "shoulder": (0.065, 0.02, -0.01), "elbow": (0.16, 0.0, 0.0), "wrist": (0.15, 0.0, 0.0),
}  # fmt: skip
"""Offsets from the parent in the T-pose in parts of the height; of the left side."""
_CROWN, _HAND, _TOE = (0.0, 0.105, 0.0), (0.108, 0.0, 0.0), (0.0, -0.009, 0.04)
_SOLE = 0.05
"""Quantile of the lowest heights of all frames that is the floor."""


def smpl_figure(height: float = HEIGHT) -> Skeleton:
    """The figure in SMPL's T-pose (Y up, facing Z), metres, with its soles on the floor."""
    described = point_set("humanml3d")
    names = described.points
    offsets = np.array([_of_side(name, _PLACES[name.rpartition("_")[2]]) for name in names])
    parents = [names.index(node.parent) if node.parent else -1 for node in described.nodes]
    tips = {"head": _CROWN, "left_wrist": _HAND, "right_wrist": _HAND, "left_foot": _TOE, "right_foot": _TOE}
    held = sorted(tips, key=names.index)
    # From the pelvis to the sole, with the toes' end site.
    down = sum(_PLACES[part][1] for part in ("hip", "knee", "ankle", "foot")) + _TOE[1]
    offsets[0] = (0.0, -down, 0.0)
    return Skeleton(
        name="smpl",
        names=names,
        parents=np.array(parents, dtype=np.intp),
        offsets=offsets * height,
        tip_parents=np.array([names.index(name) for name in held], dtype=np.intp),
        tip_offsets=np.array([_of_side(name, tips[name]) for name in held]) * height,
        effectors=tuple(Effector(end, names.index(end)) for end in described.ends),
    )


def smpl_motion(axis_angles: Floats, places: Floats, *, fps: float, height: float, name: str) -> Character:
    """The figure in motion.

    Args:
        axis_angles: (F, 22, 3) radians, the pelvis first, Z up as AMASS has them.
        places: (F, 3) positions of the pelvis up to a constant, metres, Z up.
        fps: frames per second.
        height: metres.
        name: of the clip.

    Returns:
        Y up. The positions lack a constant that depends on the body, so the figure is set on the floor.
    """
    skeleton = smpl_figure(height)
    rotations = exp(axis_angles)
    up = np.array([-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    rotations[:, 0] = multiply(up, rotations[:, 0])
    moved = np.stack([places[:, 0], places[:, 2], -places[:, 1]], axis=-1)
    clip = Clip.from_arrays(skeleton, rotations, moved, fps=fps, name=name)
    toes = [skeleton.index(f"{side}_foot") for side in ("left", "right")]
    world = fk_clip(skeleton, clip).positions[:, toes, 1].min(axis=1)
    moved[:, 1] -= float(np.quantile(world, _SOLE)) + _TOE[1] * height
    clip = Clip.from_arrays(skeleton, rotations, moved, fps=fps, name=name)
    return Character(skeleton, MappingProxyType({name: clip}))


def _of_side(name: str, offset: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = offset
    return (-x, y, z) if name.startswith("right") else offset
