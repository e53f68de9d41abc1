"""Characters for the tests of files: one with everything, small ones from JSON, and how two are compared."""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from inside.formats import skeleton_from_text
from inside.skeleton import UNLIMITED
from inside.spatial import normalized

from viewer.errors import FormatError
from viewer.skeleton import Character, Clip, Effector, EffectorGoal, JointKind, JointLimits, Pose, Skeleton, Source

X, Y, NONE = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0)


def every_kind(seed: int = 0, source: Source | None = None) -> Character:
    """A character with every kind of joint and limit, several roots, tips, poses and motion."""
    random = np.random.default_rng(seed)
    kinds = (
        JointKind.FREE, JointKind.BALL, JointKind.HINGE, JointKind.UNIVERSAL,
        JointKind.SLIDE, JointKind.BALL, JointKind.FIXED, JointKind.BALL,
    )  # fmt: skip
    axes = np.array([[NONE, NONE]] * 2 + [[X, NONE], [X, Y], [Y, NONE]] + [[NONE, NONE]] * 3)
    limits = (
        None,
        JointLimits.swing_twist(2, (-0.3, 0.4), UNLIMITED, (0.1, 0.1)),
        JointLimits.coordinates((-0.1, 2.5)),
        JointLimits.coordinates((-1.0, 1.0), (0.0, 3.0)),
        JointLimits.coordinates((-0.07, 0.57)),
        JointLimits.euler("zxy", (-1.5, 1.5), UNLIMITED, (-3.0, -2.0)),
        None,
        None,
    )
    count = len(kinds)
    skeleton = Skeleton(
        name="every kind",
        names=("root", "bäll", 'quo"te', "new\nline", "slide 日本", "euler", "fixed root", "plain"),
        parents=np.array([-1, 0, 1, 1, 3, 4, -1, 6]),
        offsets=np.round(random.normal(size=(count, 3)), 3),
        rest_rotations=normalized(random.normal(size=(count, 4))),
        kinds=kinds,
        axes=axes,
        limits=limits,
        stiffness=np.array([0, 0.25, 1, 0, 0, 0.1, 0, 0]),
        tip_parents=np.array([2, 5, 5]),
        tip_offsets=np.round(random.normal(size=(3, 3)), 3),
        effectors=(Effector("a", 5, (0.0, 0.25, 0.0), EffectorGoal.POSE), Effector("b", 2, goal=EffectorGoal.OFF)),
    )
    poses = {"relaxed": a_pose(skeleton, random), "rest": skeleton.rest_pose()}
    clip = Clip(
        name="take 1",
        frame_time=1 / 30,
        rotations=normalized(random.normal(size=(5, count, 4))),
        translated=np.array([0, 4]),
        translations=np.round(random.normal(size=(5, 2, 3)), 3),
        offsets=skeleton.offsets,
        keys=(0, 3),
    )
    return Character(
        replace(skeleton, poses=poses), MappingProxyType({clip.name: clip}), source or Source(), (), "file"
    )


def a_pose(skeleton: Skeleton, random: np.random.Generator) -> Pose:
    rotations, translations = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    rotations[1:4] = normalized(random.normal(size=(3, 4)))
    translations[[0, 4]] += 0.125
    return Pose(rotations, translations)


def assert_same(a: Character, b: Character, tolerance: float = 0.0) -> None:
    """Equal in everything that is in the file; rotations and lengths to the tolerance."""
    one, other = a.skeleton, b.skeleton
    assert (one.name, one.names, one.kinds) == (other.name, other.names, other.kinds)
    assert one.parents.tolist() == other.parents.tolist()
    assert one.tip_parents.tolist() == other.tip_parents.tolist()
    assert [e.name for e in one.effectors] == [e.name for e in other.effectors]
    assert [(e.joint, e.goal) for e in one.effectors] == [(e.joint, e.goal) for e in other.effectors]
    for x, y in zip(one.limits, other.limits, strict=True):
        assert (x is None) == (y is None)
        if x is not None and y is not None:
            assert (x.form, x.twist_axis, x.order) == (y.form, y.twist_axis, y.order)
            close(x.lower, y.lower, tolerance)
            close(x.upper, y.upper, tolerance)
    for name in ("offsets", "rest_rotations", "axes", "stiffness", "tip_offsets"):
        close(getattr(one, name), getattr(other, name), tolerance)
    assert list(one.poses) == list(other.poses)
    for name, pose in one.poses.items():
        close(pose.rotations, other.poses[name].rotations, tolerance)
        close(pose.translations, other.poses[name].translations, tolerance)
    assert a.clip is not None
    assert b.clip is not None
    assert (a.clip.name, a.clip.frame_time, a.clip.keys) == (b.clip.name, b.clip.frame_time, b.clip.keys)
    assert a.clip.translated.tolist() == b.clip.translated.tolist()
    close(a.clip.rotations, b.clip.rotations, tolerance)
    close(a.clip.translations, b.clip.translations, tolerance)


def close(a: Any, b: Any, tolerance: float) -> None:  # noqa: ANN401 - any array
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def read(document: dict[str, Any]) -> Character:
    return skeleton_from_text(json.dumps(document), "f.json")


def rig(*joints: dict[str, Any], **more: Any) -> Character:  # noqa: ANN401 - any JSON value
    """Joints a, b, c, ... each the child of the one before, unless they say otherwise."""
    listed = []
    for index, joint in enumerate(joints):
        above = chr(ord("a") + index - 1) if index else None
        listed.append({"name": chr(ord("a") + index), "parent": above, "offset": [0, 1, 0]} | joint)
    return read({"joints": listed} | more)


def error_of(*joints: dict[str, Any], **more: Any) -> str:  # noqa: ANN401
    with pytest.raises(FormatError) as caught:
        rig(*joints, **more)
    return str(caught.value)
