"""Limits learned from motion: ranges of both sides, without thrown frames, judged by motion not learned from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from cli_run import Ran, ran
from inside.document import mirrored_pose
from inside.motion import kept_frames, learned, mirrored
from inside.spatial import angle_between, exp, multiply

import viewer
from viewer.errors import InputError
from viewer.skeleton import Clip, JointKind, JointLimits, Skeleton, clip_violation

BIPED = viewer.load("sample:biped").skeleton


def waving(seed: int = 0, frames: int = 400, size: float = 0.5, skeleton: Skeleton = BIPED) -> Clip:
    """Every joint but the root swings about an axis of its own, at 60 frames a second."""
    random = np.random.default_rng(seed)
    swing = np.sin(np.arange(frames)[:, None, None] / random.uniform(8, 20, (len(skeleton), 1)))
    turns = exp(random.uniform(-size, size, (len(skeleton), 3)) * swing)
    turns[:, 0] = (0.0, 0.0, 0.0, 1.0)
    return Clip.from_arrays(skeleton, multiply(skeleton.rest_rotations, turns), fps=60)


BALLS = replace(BIPED, kinds=(JointKind.FREE, *(JointKind.BALL for _ in BIPED.kinds[1:])), limits=(None,) * len(BIPED))
"""The biped whose joints turn any way."""


def head_alone() -> viewer.Character:
    """Two joints with the names of a biped's, which are no figure."""
    skeleton = viewer.Builder(name="stick").add("Hips", None, (0, 1, 0)).add("Head", "Hips", (0, 0.6, 0)).skeleton
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (400, 2, 1))
    return viewer.Character(skeleton, MappingProxyType({"clip": Clip.from_arrays(skeleton, turns)}))


def test_ranges_hold_what_both_sides_do() -> None:
    clip = waving(skeleton=BALLS)
    made = viewer.learn_limits(BALLS, [clip], quantile=0.0, margin=0.0)
    assert clip_violation(made, clip).max() < np.radians(5.0)  # knees keep their side, up to 5 degrees
    other = replace(clip, rotations=mirrored(BALLS, clip.rotations))
    assert clip_violation(made, other).max() < np.radians(5.0)
    elbow = made.index("LeftForeArm")
    one, two = made.limits[elbow], made.limits[made.index("RightForeArm")]
    assert one is not None
    assert two is not None
    # The biped's arms hang along the world's axes: what mirrors a turn changes the signs of two of its components.
    assert np.allclose(np.sort(np.abs([one.lower, one.upper]), axis=0), np.sort(np.abs([two.lower, two.upper]), axis=0))


def test_a_mirrored_frame_is_the_one_that_the_window_makes() -> None:
    clip = waving(3, frames=20)
    other = mirrored(BIPED, clip.rotations)
    inner = BIPED.parents >= 0
    for frame in range(0, 20, 5):
        wanted = mirrored_pose(BIPED, clip.pose(frame)).rotations
        assert angle_between(other[frame], wanted)[inner].max() < 1e-6
    assert angle_between(mirrored(BIPED, other), clip.rotations).max() < 1e-6


def test_a_margin_widens_and_a_quantile_narrows() -> None:
    clips = [waving(seed, size=0.9, skeleton=BALLS) for seed in range(3)]
    narrow = learned(BALLS, clips, 0.1, 0.0)
    usual = learned(BALLS, clips, 0.001, np.radians(15.0))
    assert narrow.mean_range < usual.mean_range
    assert narrow.inside < 0.6
    assert usual.inside > 0.95
    assert usual.unseen is not None
    assert usual.unseen <= usual.inside
    assert (usual.mean_range_before, usual.before) == (None, 1.0)


def test_a_long_clip_does_not_outvote_a_short_one() -> None:
    short, long = waving(4, 300, 0.9, BALLS), waving(5, 6000, 0.1, BALLS)
    found = learned(BALLS, [long, short], 0.01, 0.0)
    alone = learned(BALLS, [short], 0.01, 0.0)
    assert (clip_violation(found.skeleton, short) < np.radians(2.0)).all(axis=1).mean() >= alone.inside


def test_the_margin_is_larger_where_stated_limits_allow_it() -> None:
    head = BALLS.index("Head")
    clip = waving(3, skeleton=BALLS)
    seen = learned(BALLS, [clip], 0.0, 0.0).skeleton.limits[head]
    assert seen is not None
    for part, factor in ((-0.5, 0.5), (0.0, 0.5), (1.0, 1.0), (9.0, 2.0)):
        stated = replace(seen, lower=seen.lower - part * 0.1, upper=seen.upper + part * 0.1)
        rig = replace(BALLS, limits=tuple(stated if joint == head else None for joint in range(len(BALLS))))
        found = viewer.learn_limits(rig, [clip], 0.0, 0.1).limits[head]
        assert found is not None
        assert np.allclose([seen.lower - found.lower, found.upper - seen.upper], factor * 0.1)


def test_thrown_frames_do_not_count() -> None:
    clip = waving(1, skeleton=BALLS)
    rotations = clip.rotations.copy()
    rotations[0, 5] = multiply(rotations[0, 5], exp((0.0, 0.0, 2.8)))  # as a calibration before the motion
    rotations[200:203, 8] = multiply(rotations[200:203, 8], exp((2.5, 0.0, 0.0)))
    spoiled = replace(clip, rotations=rotations)
    assert np.flatnonzero(~kept_frames(BALLS, spoiled)).tolist() == [0, 200, 201, 202]
    assert kept_frames(BALLS, clip).all()
    found = learned(BALLS, [spoiled], 0.0, 0.0)
    assert (found.frames, found.thrown) == (396, 4)
    limits = found.skeleton.limits[8]
    assert limits is not None
    assert (limits.upper - limits.lower).max() < np.radians(120.0)


def test_what_never_moves_keeps_what_it_had() -> None:
    clip = waving(2)
    head = BIPED.index("Head")
    rotations = clip.rotations.copy()
    rotations[:, head] = BIPED.rest_rotations[head]
    own = JointLimits.swing_twist(1, (-0.1, 0.2), (-0.3, 0.4), (-0.5, 0.6))
    rig = replace(BIPED, limits=tuple(own if joint == head else each for joint, each in enumerate(BIPED.limits)))
    found = learned(rig, [replace(clip, rotations=rotations)])
    assert found.still == ("Head",)
    assert found.skeleton.limits[head] is own
    assert found.mean_range_before is not None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: viewer.learn_limits(BIPED, [waving(frames=100)]), "limits: expected 300 frames or more, found 100"),
        (lambda: viewer.learn_limits(BIPED, []), "limits: expected 300 frames or more, found 0"),
        (lambda: viewer.learn_limits(BIPED, [waving()], 0.2), "limits: quantile: expected 0 to 0.1, found 0.2"),
        (lambda: viewer.learn_limits(BIPED, [waving()], 0.0, 4.0),
         "limits: margin: expected 0 to 180 degrees, found 229.183"),
        (lambda: viewer.learn_limits(viewer.load("sample:two-link").skeleton, [waving()]),
         "limits: expected motion of 2 joints, found 22"),
        (lambda: viewer.learn_limits(BIPED, [viewer.load("sample:biped")]),
         "expected motion, found a skeleton without frames"),
        (lambda: viewer.learn_limits(BIPED, [head_alone()]),
         "expected a figure with arms or legs, as the rig is one, found none"),
        (lambda: viewer.learn_limits(viewer.load("sample:two-link").skeleton, [viewer.load("sample:walk")]),
         "expected a rig with arms or legs, or with joints of these names, found neither"),
    ],
)  # fmt: skip
def test_what_nothing_is_learned_from(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == message


# --- the command


@pytest.fixture
def limits_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Ran]:
    """Runs `ikviewer limits` beside a folder `in` with two motions of bipeds, one of them on other joints' names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    for number in range(2):
        clip = waving(number, size=0.3)
        viewer.save(viewer.Character(BIPED, MappingProxyType({"clip": clip})), tmp_path / "in" / f"m{number}.json")
    walk = viewer.load("sample:walk")
    viewer.save(walk, tmp_path / "in" / "walk.bvh")
    return lambda *words: ran(capsys, "limits", *words)


def test_a_folder_becomes_limits_that_the_file_says_are_learned(tmp_path: Path, limits_of: Callable[..., Ran]) -> None:
    (tmp_path / "in" / "bad.bvh").write_text("HIERARCHY\n", encoding="utf-8")
    viewer.save(viewer.load("sample:two-link"), tmp_path / "in" / "still.json")
    result = limits_of("in", "--to", "sample:biped", "-o", "rig.json", "--json")
    assert result.code == 0
    found = json.loads(result.out)
    assert (found["limits_from"], found["motions"], found["frames"]) == ("learned", 3, 868)
    assert len(found["left_out"]) == 2
    lines = result.err.splitlines()
    assert lines[0].startswith("warning: left out: in/bad.bvh")
    assert lines[1] == "warning: left out: in/still.json: expected motion, found a skeleton without frames"
    assert 0.0 < found["inside_unseen"] <= found["inside"] <= 1.0
    rig = viewer.load(tmp_path / "rig.json")
    assert rig.limits_from == "learned"
    assert rig.warnings == ()
    viewer.save(rig, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "rig.json").read_text()
    assert '"limits_from": "learned"' in (tmp_path / "rig.json").read_text()


def test_the_lines_say_both_shares(limits_of: Callable[..., Ran]) -> None:
    result = limits_of("in", "--to", "sample:biped", "-o", "rig.json", "--quantile", "0.01", "--margin", "5")
    first, learned_line, before, wrote = result.out.splitlines()
    assert first == "868 frames of 3 motions"
    assert learned_line.startswith("inside the learned limits: ")
    assert " % of those not learned from; mean range " in learned_line
    assert before.startswith("inside the limits before: ")
    assert wrote == "wrote rig.json"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("in/walk.bvh --to sample:biped -o rig.json", "in/walk.bvh: expected 300 frames or more, found 68"),
        ("in --to sample:biped -o rig.bvh",
         'rig.bvh: expected a name that ends in .json, which holds limits, found ".bvh"'),
        ("in --to gone.json -o rig.json", "gone.json: no such file or folder"),
        ("in/walk.bvh --to in/walk.bvh -o out.bvh", "out.bvh: expected a name that ends in .json"),
        ("in/walk.bvh --to in/walk.bvh -o in/walk.bvh", "in/walk.bvh: is read by this command and would be replaced"),
    ],
)  # fmt: skip
def test_what_the_command_refuses(limits_of: Callable[..., Ran], words: str, message: str) -> None:
    result = limits_of(*words.split())
    assert result.code == 1
    assert result.err.splitlines()[-1].startswith(f"error: {message}")
