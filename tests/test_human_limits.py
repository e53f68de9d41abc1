"""Limits of a recognised human: what people can do is inside on any rig, what they cannot is not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cli_run import ran
from inside.document import SetLength, SetLimitsFrom, baked_character
from inside.formats import LIMIT_SOURCES, derived_limits, human_limits, joint_sources, sources_of, with_limits
from inside.spatial import conjugate, exp, from_axis_angle, multiply, rotate
from sessions import QUICK, character, session

import viewer
from viewer.document import new_document
from viewer.session import Session
from viewer.skeleton import Clip, limit_violation

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton import Character, Pose, Skeleton

Axis = tuple[float, float, float]
REST = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def walk() -> Character:
    return character("walk")


@pytest.fixture(scope="module")
def model() -> Skeleton:
    return character("biped-hands").skeleton


def bow(walk: Character) -> Character:
    """The figure of the walk with a clip in which only the spine bends."""
    skeleton = replace(walk.skeleton, limits=(None,) * len(walk.skeleton))
    pose = skeleton.relaxed_pose()
    rotations = np.repeat(pose.rotations[None], 20, axis=0)
    for frame in range(20):
        rotations[frame, skeleton.index("Spine1")] = exp(np.array([0.02 * frame, 0.0, 0.0]))
    clip = Clip.from_arrays(skeleton, rotations, np.repeat(pose.translations[:1], 20, axis=0), name="bow")
    limited, source = derived_limits(skeleton, [clip])
    return replace(walk, skeleton=limited, clips={"bow": clip}, limits_from=source)


def other_frames(skeleton: Skeleton, seed: int) -> tuple[Skeleton, np.ndarray]:
    """The same figure with a random frame on every joint but the root, and these frames (J, 4)."""
    frames = np.random.default_rng(seed).normal(size=(len(skeleton), 4))
    frames /= np.linalg.norm(frames, axis=1, keepdims=True)
    frames[skeleton.roots] = REST
    above = np.array([frames[parent] if parent >= 0 else REST for parent in skeleton.parents])
    made = replace(
        skeleton,
        rest_rotations=multiply(multiply(conjugate(above), skeleton.rest_rotations), frames),
        offsets=rotate(conjugate(above), skeleton.offsets),
        tip_offsets=rotate(conjugate(frames[skeleton.tip_parents]), skeleton.tip_offsets),
        limits=(None,) * len(skeleton),
        effectors=(),
    )
    return made, frames


def bent(skeleton: Skeleton, joint: str, axis: Axis, degrees: float) -> Pose:
    """The rest pose with a joint turned about an axis of its own frame."""
    pose = skeleton.rest_pose()
    index = skeleton.index(joint)
    rotations = pose.rotations.copy()
    rotations[index] = multiply(rotations[index], from_axis_angle(np.array(axis), np.radians(degrees)))
    return viewer.Pose(rotations, pose.translations)


POSSIBLE = (
    ("LeftLeg", (1.0, 0.0, 0.0), 130.0),
    ("LeftUpLeg", (1.0, 0.0, 0.0), -110.0),
    ("LeftForeArm", (0.0, 1.0, 0.0), -140.0),
    ("LeftArm", (0.0, 0.0, 1.0), 55.0),
    ("LeftArm", (0.0, 1.0, 0.0), -120.0),
    ("Spine", (1.0, 0.0, 0.0), 30.0),
    ("Head", (0.0, 1.0, 0.0), 40.0),
)
IMPOSSIBLE = (
    ("LeftLeg", (1.0, 0.0, 0.0), -30.0),
    ("LeftForeArm", (0.0, 1.0, 0.0), 30.0),
    ("LeftUpLeg", (1.0, 0.0, 0.0), 70.0),
    ("Spine", (0.0, 0.0, 1.0), 60.0),
    ("Head", (0.0, 1.0, 0.0), 100.0),
)


def test_a_rig_like_the_model_gets_the_ranges_of_the_model(walk: Character, model: Skeleton) -> None:
    found = human_limits(walk.skeleton, model)
    for name in ("LeftArm", "RightUpLeg", "Spine1", "Head"):
        own, other = found[walk.skeleton.index(name)], model.limits[model.index(name)]
        assert other is not None
        np.testing.assert_allclose(np.degrees(own.lower), np.degrees(other.lower), atol=3.1)
        np.testing.assert_allclose(np.degrees(own.upper), np.degrees(other.upper), atol=3.1)


@pytest.mark.parametrize(("joint", "axis", "degrees"), POSSIBLE)
def test_what_people_can_do_is_inside(walk: Character, joint: str, axis: Axis, degrees: float) -> None:
    made = bow(walk)
    assert made.limits_from == "human+clip"
    pose = bent(made.skeleton, joint, axis, degrees)
    assert limit_violation(made.skeleton, pose).max() == 0.0
    # From the clip alone most of it is not.
    index = made.skeleton.index(joint)
    assert limit_violation(with_limits(made, "clip").skeleton, pose)[index] > 0.0


@pytest.mark.parametrize(("joint", "axis", "degrees"), IMPOSSIBLE)
def test_what_people_cannot_do_is_outside(walk: Character, joint: str, axis: Axis, degrees: float) -> None:
    made = bow(walk)
    index = made.skeleton.index(joint)
    assert limit_violation(made.skeleton, bent(made.skeleton, joint, axis, degrees))[index] > np.radians(5.0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_axes_of_the_joints_make_no_difference_to_what_is_possible(walk: Character, model: Skeleton, seed: int) -> None:
    plain = replace(walk.skeleton, limits=(None,) * len(walk.skeleton))
    twin, frames = other_frames(plain, seed)
    found = human_limits(twin, model)
    limited = replace(twin, limits=tuple(found.get(joint) for joint in range(len(twin))))
    for joint, axis, degrees in POSSIBLE:
        index = twin.index(joint)
        turned = tuple(rotate(conjugate(frames[index]), np.array(axis)).tolist())
        assert limit_violation(limited, bent(limited, joint, turned, degrees))[index] < np.radians(2.0), joint
    knee = twin.index("LeftLeg")
    back = tuple(rotate(conjugate(frames[knee]), np.array((1.0, 0.0, 0.0))).tolist())
    assert limit_violation(limited, bent(limited, "LeftLeg", back, -60.0))[knee] > np.radians(5.0)


def test_every_frame_of_the_motion_stays_inside(walk: Character) -> None:
    for source in ("human+clip", "clip"):
        limited = with_limits(walk, source)
        assert viewer.clip_violation(limited.skeleton, limited.clips["walk"]).max() < 1e-9


def test_the_sources_that_a_character_has(walk: Character) -> None:
    assert walk.limits_from == "human+clip"
    assert sources_of(walk) == ("human+clip", "human", "clip", "none")
    assert sources_of(character("biped")) == ("file", "human", "none")
    assert sources_of(character("raptor")) == ("file", "none")
    assert with_limits(walk, "none").limits_from is None
    assert not any(with_limits(walk, "none").skeleton.limits)
    assert with_limits(character("biped"), "file") is character("biped")
    with pytest.raises(viewer.InputError) as error:
        with_limits(character("raptor"), "human")
    assert str(error.value) == "limits: raptor has file, none; found human"
    with pytest.raises(viewer.InputError, match='limits: no source "humn"; did you mean "human"'):
        with_limits(walk, "humn")
    assert set(LIMIT_SOURCES) == {"file", "learned", "human+clip", "human", "clip", "none"}


def without_frames(path: Path) -> None:
    """Take the frames out of a BVH file."""
    joints, _, _ = path.read_text(encoding="utf-8").partition("MOTION")
    path.write_text(f"{joints}MOTION\nFrames: 0\nFrame Time: 0.1\n", encoding="utf-8")


@pytest.mark.parametrize("suffix", [".bvh", ".htr", ".glb"])
def test_a_person_without_motion_has_anatomical_limits(walk: Character, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"person{suffix}"
    viewer.save(replace(walk, clips={}), path)
    if suffix == ".bvh":
        without_frames(path)
    person = viewer.load(path)
    assert (len(person.clips), person.limits_from) == (0, "human")
    assert viewer.limit_violation(person.skeleton, person.skeleton.rest_pose()).max() == 0.0
    for (joint, axis, degrees), outside in [*((one, False) for one in POSSIBLE), *((one, True) for one in IMPOSSIBLE)]:
        pose = bent(person.skeleton, joint, axis, degrees)
        assert bool(limit_violation(person.skeleton, pose).max() > np.radians(1.0)) is outside


def test_what_is_no_person_has_no_limits_without_motion(tmp_path: Path) -> None:
    viewer.save(character("serpent"), tmp_path / "serpent.bvh")
    without_frames(tmp_path / "serpent.bvh")
    serpent = viewer.load(tmp_path / "serpent.bvh")
    assert (len(serpent.clips), serpent.limits_from, any(serpent.skeleton.limits)) == (0, None, False)


def test_a_file_is_loaded_with_the_limits_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "walk.bvh"
    viewer.save(character("walk"), path)
    assert viewer.load(path, units="cm", limits="clip").limits_from == "clip"
    done = ran(capsys, "info", str(path), "--units", "cm", "--up", "y", "--limits-from", "clip")
    assert "  limits     clip" in done.out.splitlines()
    done = ran(capsys, "info", str(path), "--units", "cm", "--up", "y", "--json")
    by_name = {joint["name"]: joint["limits_from"] for joint in done.json["joints"]}
    assert (by_name["LeftLeg"], by_name["Hips"]) == ("human+clip", None)


def test_joints_that_are_no_part_of_a_human_keep_those_of_the_clip(walk: Character) -> None:
    names = list(walk.skeleton.names)
    names[names.index("LeftToeBase")] = "Gadget"
    renamed = replace(walk, skeleton=replace(walk.skeleton, names=tuple(names)))
    sources = joint_sources(with_limits(renamed, "human+clip"))
    assert sources[names.index("LeftLeg")] == "human+clip"
    assert set(sources) <= {None, "human+clip", "clip"}


def test_a_figure_whose_clip_is_a_bow_crouches(walk: Character) -> None:
    made = Session(new_document(bow(walk)))
    skeleton = made.document.skeleton
    start = np.array(made.document.pose.translations[0])
    pose = made.document.pose
    feet = viewer.fk(skeleton, pose)
    goals = [
        viewer.Goal.position("Hips", start - (0.0, 0.3, 0.0)),
        *(
            viewer.Goal.pose(name, feet.positions[skeleton.index(name)], feet.rotations[skeleton.index(name)])
            for name in ("LeftFoot", "RightFoot")
        ),
    ]
    solution = viewer.Solver(skeleton, goals, backend=QUICK).solve(pose)
    assert solution.status is viewer.Status.CONVERGED
    locked = with_limits(bow(walk), "clip").skeleton
    assert viewer.Solver(locked, goals, backend=QUICK).solve(pose).status is not viewer.Status.CONVERGED


def test_the_source_is_chosen_in_a_document_and_kept() -> None:
    made = session("walk")
    made.dispatch(SetLength("LeftArm", 0.3))
    before = made.document
    made.dispatch(SetLimitsFrom("clip"))
    document = made.document
    assert document.limits_source == "clip"
    knee = document.skeleton.index("LeftLeg")
    clip = with_limits(character("walk"), "clip").skeleton.limits[knee]
    assert clip is not None
    assert clip.same_as(document.skeleton.limits[knee])
    assert np.array_equal(document.skeleton.offsets, before.skeleton.offsets)
    assert baked_character(document).limits_from == "clip"
    made.dispatch(SetLimitsFrom("none"))
    assert made.document.limits_source is None
    made.dispatch(SetLimitsFrom("human+clip"))
    assert made.document.limits_from == ""
    with pytest.raises(viewer.InputError, match="walk has human"):
        made.dispatch(SetLimitsFrom("file"))


@pytest.mark.parametrize("source", ["human+clip", "human", "clip"])
def test_a_skeleton_file_keeps_the_source(walk: Character, source: str, tmp_path: Path) -> None:
    path = tmp_path / "walk.json"
    viewer.save(with_limits(walk, source), path)
    again = viewer.load(path)
    assert again.limits_from == source
    assert again.limits_derived
    assert sources_of(again) == sources_of(walk)
    for own, other in zip(with_limits(again, source).skeleton.limits, again.skeleton.limits, strict=True):
        assert (own is None) == (other is None)
        if own is not None and other is not None:
            np.testing.assert_allclose((own.lower, own.upper), (other.lower, other.upper), atol=1e-6)
    still = replace(again, clips={})
    assert source in sources_of(still)
    for own, other in zip(with_limits(still, source).skeleton.limits, again.skeleton.limits, strict=True):
        assert source == "human" or own is other
    assert with_limits(again, "none").limits_from is None


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_rig_whose_rest_is_no_pose_stands_relaxed_inside(walk: Character, seed: int) -> None:
    rest = np.random.default_rng(seed).normal(size=(len(walk.skeleton), 4))
    rest /= np.linalg.norm(rest, axis=1, keepdims=True)
    skeleton = replace(walk.skeleton, rest_rotations=rest, limits=(None,) * len(walk.skeleton), poses={})
    limited, source = derived_limits(skeleton, [walk.clips["walk"]])
    assert source == "human+clip"
    assert limit_violation(limited, limited.relaxed_pose()).max() < 1e-6
    made = with_limits(replace(walk, skeleton=limited, limits_from=source), "human")
    seen = with_limits(made, "clip").skeleton.relaxed_pose()
    assert limit_violation(made.skeleton, seen).max() < 1e-6
