"""Tangents of keys: slopes at keys are those that were set, and curves stay smooth, short and exact at keys."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.document import (
    Blend,
    Key,
    KeyOnCurves,
    KeyPose,
    SetCoordinate,
    SetKeyValue,
    SetLimits,
    SetSlope,
    SetTangents,
    Tangent,
    Track,
    actions,
    curve_values,
    fade_frames,
    joint_at,
    places,
    sampled_at,
)
from inside.session import Digester, document_data, document_of
from inside.spatial import angle_between, exp, multiply, normalized
from strategies import quickly, random_quaternions, seeds

import viewer
from viewer import InputError
from viewer.document import new_document
from viewer.skeleton import Pose, project_pose

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.document import Document

FINE = 100_000
KEYS = (0, 10, 22, 40)
RIGS = ("biped", "claw-arm", "raptor", "walk")


@lru_cache
def keyed(name: str, *, limits: bool = True) -> Document:
    """A sample with random keys, of all joints."""
    document, random = new_document(viewer.load(f"sample:{name}")), np.random.default_rng(5)
    document = SetLimits(limits).apply(document)
    for frame in KEYS:
        turns = 0.25 * random.normal(size=(len(document.skeleton), 3))
        pose = Pose(multiply(document.pose.rotations, exp(turns)), document.pose.translations)
        pose = project_pose(document.skeleton, pose)
        document = KeyPose(frame, pose=pose, blend=Blend.SMOOTH).apply(document)
    return document


def slope_between(document: Document, joint: int, frame: int) -> Floats:
    """(3,) slopes at a key of a take without a clip, measured from the curve on either side."""
    assert document.take is not None
    track = document.take.track(joint)
    assert track is not None
    tangents = None if track.tangents is None else track.tangents / FINE
    fine = replace(track, frames=track.frames * FINE, tangents=tangents)
    found = sampled_at([fine], np.array([frame * FINE - 1, frame * FINE + 1]), fade=0)
    still = np.repeat(KeyOnCurves(document, joint, frame).motion.translations, 2, axis=0)
    motion = type(KeyOnCurves(document, joint, frame).motion)(
        found.rotations[0], still if found.translations is None else found.translations[0]
    )
    values = curve_values(document, joint, motion)
    return np.asarray((values[1] - values[0]) * FINE / 2.0)


def moving_joints(document: Document) -> list[int]:
    return [j for j, kind in enumerate(document.skeleton.kinds) if kind not in {"fixed", "free"}]


@pytest.mark.parametrize("name", ["biped", "claw-arm", "raptor"])
def test_a_slope_that_is_set_is_the_slope_of_the_curve_and_the_others_stay(name: str) -> None:
    document = keyed(name)
    for joint in moving_joints(document)[::3]:
        curves = places(document.skeleton, joint)
        before = slope_between(document, joint, 10)
        for place in curves:
            after = SetSlope(document.skeleton.names[joint], 10, place, 0.02).apply(document)
            found = slope_between(after, joint, 10)
            assert found[place] == pytest.approx(0.02, abs=2e-6)
            others = [other for other in curves if other != place]
            np.testing.assert_allclose(found[others], before[others], atol=2e-6)
            key = KeyOnCurves(after, joint, 10)
            assert key.tangent is Tangent.FREE
            np.testing.assert_allclose(key.slopes()[[*curves]], found[[*curves]], atol=2e-6)


def test_on_a_clip_the_slope_is_that_of_clip_and_keys() -> None:
    document = keyed("walk")
    joint = document.skeleton.index("LeftArm")
    after = SetSlope("LeftArm", 22, 0, 0.05).apply(document)
    low, _, high = curve_values(after, joint, joint_at(after, joint, np.array([21, 22, 23])))
    assert (high - low)[0] / 2.0 == pytest.approx(0.05, abs=0.01)
    assert KeyOnCurves(after, joint, 22).slopes()[0] == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("name", RIGS)
def test_flat_is_level_auto_is_as_before_and_free_changes_nothing(name: str) -> None:
    document = keyed(name)
    assert document.take is not None
    keys = tuple(Key(joint, frame) for joint in moving_joints(document) for frame in KEYS[1:3])
    flat = SetTangents(keys, Tangent.FLAT).apply(document)
    free = SetTangents(keys, Tangent.FREE).apply(document)
    for key in keys[::7]:
        assert KeyOnCurves(flat, *key).tangent is Tangent.FLAT
        assert not KeyOnCurves(flat, *key).velocity.any()
        assert KeyOnCurves(document, *key).tangent is Tangent.AUTO
        frames = np.arange(41)
        mine, its = (joint_at(one, key.joint, frames).rotations for one in (free, document))
        assert angle_between(mine, its).max() < 1e-9
    again = SetTangents(keys, Tangent.AUTO).apply(flat)
    assert again.take is not None
    assert again.take.same_as(document.take)


@quickly
@given(seed=seeds, keys=st.integers(2, 5), fade=st.sampled_from([0, 10]))
def test_curves_stay_exact_at_keys_and_never_go_the_long_way_round(seed: int, keys: int, fade: int) -> None:
    random = np.random.default_rng(seed)
    frames = np.cumsum(random.integers(1, 12, size=keys)) + 3
    rotations = [random_quaternions(random)]
    while len(rotations) < keys:
        step = random.normal(size=3)
        rotations.append(multiply(rotations[-1], exp(step * random.uniform(0.0, 3.0) / np.linalg.norm(step) / 2.0)))
    tangents = random.normal(size=(keys, 6)) * random.choice([0.01, 1.0, 100.0])
    tangents[random.random(keys) < 0.3] = np.nan
    made = Track(0, frames, normalized(np.array(rotations)), random.normal(size=(keys, 3)), np.full(keys, 2), tangents)
    found = sampled_at([made], np.arange(frames[0], frames[-1] + 1), fade=fade)
    assert np.isfinite(found.rotations).all()
    np.testing.assert_allclose(np.linalg.norm(found.rotations, axis=-1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(found.rotations[0, frames - frames[0]], made.rotations)
    fine = replace(made, frames=frames * 1000, tangents=made.tangents / 1000 if made.tangents is not None else None)
    close = sampled_at([fine], np.arange(frames[0] * 1000, frames[-1] * 1000 + 1, 10), fade=0).rotations[0]
    assert angle_between(close[1:], close[:-1]).max() < 0.35  # no jump anywhere


def test_a_key_gets_another_value_and_stays_inside_its_limits() -> None:
    document = keyed("biped")
    joint = document.skeleton.index("LeftForeArm")
    (place,) = places(document.skeleton, joint)
    after = SetKeyValue("LeftForeArm", 22, place, 0.75).apply(document)
    assert KeyOnCurves(after, joint, 22).coordinates[place] == pytest.approx(0.75, abs=1e-12)
    for frame in (0, 10, 40):
        same = KeyOnCurves(after, joint, frame).coordinates[place]
        assert same == pytest.approx(KeyOnCurves(document, joint, frame).coordinates[place], abs=1e-12)
    far = SetKeyValue("LeftForeArm", 22, place, 9.0).apply(document)
    limits = document.skeleton.limits[joint]
    assert limits is not None
    assert KeyOnCurves(far, joint, 22).coordinates[place] <= limits.upper[place] + 1e-9
    assert after.frame == document.frame


def test_the_pose_shown_follows_when_its_key_is_moved() -> None:
    document = actions.SetFrame(22).apply(keyed("biped"))
    after = SetKeyValue("LeftForeArm", 22, 0, 0.75).apply(document)
    by_slider = SetCoordinate("LeftForeArm", 0, 0.75).apply(document)
    assert angle_between(after.pose.rotations, by_slider.pose.rotations).max() < 1e-9


def test_tangents_move_are_copied_and_keyed_over_with_their_keys() -> None:
    document = keyed("biped")
    joint = document.skeleton.index("LeftArm")
    bent = SetSlope("LeftArm", 22, 0, 0.04).apply(document)
    velocity = KeyOnCurves(bent, joint, 22).velocity
    moved = actions.MoveKeys((Key(joint, 22),), 3).apply(bent)
    np.testing.assert_allclose(KeyOnCurves(moved, joint, 25).velocity, velocity, atol=1e-12)
    copied = actions.CopyKeys((Key(joint, 22),), 30).apply(bent)
    np.testing.assert_allclose(KeyOnCurves(copied, joint, 52).velocity, velocity, atol=1e-12)
    shown = actions.SetFrame(22).apply(bent)
    over = KeyPose(22).apply(SetCoordinate("LeftArm", 0, 0.1).apply(shown))
    np.testing.assert_allclose(KeyOnCurves(over, joint, 22).velocity, velocity, atol=1e-12)
    thinned = actions.SimplifyKeys(30.0).apply(bent)
    assert thinned.take is not None
    assert thinned.take.has(Key(joint, 22))


def test_exported_frames_follow_tangents() -> None:
    """Readers of what is exported see the curve: here of a hinge, a cubic by hand."""
    document = new_document(viewer.load("sample:claw-arm"))
    name = document.skeleton.names[1]
    joint = 1
    (place, *_) = places(document.skeleton, joint)
    for frame, angle in ((0, 0.0), (20, 0.5)):
        document = KeyPose(frame, pose=SetCoordinate(name, place, angle).apply(document).pose).apply(document)
    document = SetTangents((Key(joint, 0), Key(joint, 20)), Tangent.FLAT).apply(document)
    document = SetSlope(name, 0, place, 0.05).apply(document)
    low, high = (float(KeyOnCurves(document, joint, frame).coordinates[place]) for frame in (0, 20))
    values = curve_values(document, joint, joint_at(document, joint, np.arange(21)))[:, place]
    s = np.arange(21) / 20.0
    hermite = low * (2 * s**3 - 3 * s**2 + 1) + 20 * 0.05 * (s**3 - 2 * s**2 + s) + high * (3 * s**2 - 2 * s**3)
    np.testing.assert_allclose(values, hermite, atol=1e-9)


def test_bad_input() -> None:
    document = keyed("biped")
    with pytest.raises(InputError, match=r"^no key of joint \"LeftArm\" at frame 11$"):
        SetSlope("LeftArm", 11, 0, 0.1).apply(document)
    with pytest.raises(InputError, match=r'^joint "LeftForeArm": no curve 2, it has 0$'):
        SetSlope("LeftForeArm", 10, 2, 0.1).apply(document)
    with pytest.raises(InputError, match="slope"):
        SetSlope("LeftArm", 10, 0, math.nan).apply(document)
    with pytest.raises(InputError, match="tangent"):
        SetTangents((Key(3, 10),), "steep").apply(document)  # type: ignore[arg-type]
    one = np.array([0.0, 0.0, 0.0, 1.0])
    for wrong in (np.zeros((2, 6)), np.full((1, 6), np.inf), np.array([[np.nan, 0.0, 0.0, 0.0, 0.0, 0.0]])):
        with pytest.raises(InputError, match="tangents"):
            Track(0, np.array([1]), one[None], None, np.array([2]), wrong)
    assert Track(0, np.array([1]), one[None], None, np.array([2]), np.full((1, 6), np.nan)).tangents is None


def test_fading_on_a_clip_begins_and_ends_at_zero() -> None:
    document = keyed("walk")
    assert document.take is not None
    bent = SetTangents(tuple(document.take.keys_at(10)), Tangent.FREE).apply(document)
    fade = fade_frames(document.frame_time)
    assert bent.take is not None
    for track in bent.take.tracks[:4]:
        found = sampled_at([track], np.array([track.frames[-1] + fade]), fade=fade)
        assert angle_between(found.rotations[0, 0], np.array([0.0, 0.0, 0.0, 1.0])) < 1e-12


def test_a_session_file_keeps_tangents_to_the_bit() -> None:
    document = SetSlope("LeftArm", 22, 0, 0.04).apply(keyed("biped"))
    document = SetTangents((Key(3, 10), Key(4, 10)), Tangent.FLAT).apply(document)
    text = msgspec.json.encode(document_data(document))
    again = document_of(msgspec.json.decode(text, type=type(document_data(document))), Path())
    assert again.same_as(document)
    assert Digester().digest(again) == Digester().digest(document) != Digester().digest(keyed("biped"))
