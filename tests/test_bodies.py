"""Bodies: the capsules fitted to a skeleton, which pairs are tested, and those that a file states."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from inside.formats import check_character, skeleton_from_text, skeleton_to_json
from inside.session import document_data, document_of
from inside.skeleton import chain, with_rig
from inside.spatial import segment_distances
from odd_figures import odd_figure

import viewer
from viewer.document import new_document
from viewer.errors import FormatError, InputError
from viewer.skeleton import Bodies, Capsule, bodies_of, fit_bodies

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = ("biped", "biped-hands", "quadruped", "raptor", "claw-arm", "piston", "serpent", "two-link", "walk")


def sample(name: str) -> viewer.Skeleton:
    return viewer.load(f"sample:{name}").skeleton


def spaces(skeleton: viewer.Skeleton, bodies: Bodies, pose: viewer.Pose) -> np.ndarray[Any, Any]:
    """(P,) metres between the surfaces of the tested pairs."""
    world, table = viewer.fk(skeleton, pose), bodies.table
    a, b = table.ends(world.positions, world.rotations)
    i, j = bodies.pairs.T
    apart = segment_distances(a[i], b[i] - a[i], a[j], b[j] - a[j])
    return np.asarray(apart - table.radius[i] - table.radius[j])


def test_a_figure_without_bones_has_no_bodies() -> None:
    bodies = fit_bodies(viewer.Skeleton("dot", ("dot",), np.array([-1]), np.array([[0.0, 1.0, 0.0]])))
    assert bodies.capsules == ()
    assert bodies.pairs.shape == (0, 2)


@pytest.mark.parametrize("name", SAMPLES)
def test_pairs_are_apart_at_rest_and_relaxed_and_no_neighbours(name: str) -> None:
    skeleton = sample(name)
    bodies = fit_bodies(skeleton)
    assert len(bodies) > 0
    for pose in (skeleton.rest_pose(), skeleton.relaxed_pose()):
        assert (spaces(skeleton, bodies, pose) > 0.0).all()
    joints = bodies.table.joint
    for i, j in bodies.pairs.tolist():
        a, b = int(joints[i]), int(joints[j])
        assert i < j
        assert a != b
        assert skeleton.parents[a] != b
        assert skeleton.parents[b] != a


@pytest.mark.parametrize(("name", "capsules", "pairs"), [("biped", 28, 319), ("quadruped", 38, 640)])
def test_the_samples_have_these_bodies(name: str, capsules: int, pairs: int) -> None:
    bodies = fit_bodies(sample(name))
    assert (len(bodies), len(bodies.pairs)) == (capsules, pairs)


def test_a_person_has_a_persons_radii_scaled_by_height() -> None:
    skeleton = sample("biped")
    radius = {skeleton.names[one.joint]: one.radius for one in fit_bodies(skeleton, height=1.75).capsules}
    expected = {"LeftUpLeg": 0.065, "RightLeg": 0.045, "LeftArm": 0.045, "RightForeArm": 0.035, "Head": 0.085}
    assert {name: radius[name] for name in expected} == pytest.approx(expected)
    tall = {skeleton.names[one.joint]: one.radius for one in fit_bodies(skeleton, height=1.925).capsules}
    assert tall["LeftArm"] == pytest.approx(0.0495)


def test_standing_feet_touch_the_floor_and_are_not_below_it() -> None:
    skeleton = sample("biped")
    bodies = fit_bodies(skeleton)
    for pose in (skeleton.rest_pose(), skeleton.relaxed_pose()):
        world = viewer.fk(skeleton, pose)
        heights = np.stack(bodies.table.ends(world.positions, world.rotations), axis=1)[..., 1]
        assert (heights - bodies.clearances).min() >= -1e-12
        assert (heights - bodies.clearances).min() < 0.02
    assert (bodies.clearances >= 0.0).all()
    assert (bodies.clearances <= bodies.table.radius[:, None]).all()


def test_the_same_skeleton_has_the_same_bodies() -> None:
    one, other = fit_bodies(sample("raptor")), fit_bodies(viewer.load("sample:raptor").skeleton)
    assert one == other
    assert np.array_equal(one.pairs, other.pairs)
    assert np.array_equal(one.clearances, other.clearances)


def test_fingers_that_touch_when_the_joints_tremble_become_thinner_and_stay_tested() -> None:
    skeleton = sample("biped-hands")
    bodies = fit_bodies(skeleton)
    fingers = {place for place, one in enumerate(bodies.capsules) if "Hand" in skeleton.names[one.joint]}
    assert any(i in fingers and j in fingers for i, j in bodies.pairs.tolist())


@pytest.mark.parametrize("size", [0.002, 100.0])
def test_bodies_scale_with_the_figure(size: float) -> None:
    usual = sample("biped")
    pose = usual.relaxed_pose()
    scaled = replace(
        usual,
        offsets=usual.offsets * size,
        tip_offsets=usual.tip_offsets * size,
        effectors=(),
        poses={"relaxed": viewer.Pose(pose.rotations, pose.translations * size)},
    )
    one, other = fit_bodies(usual), fit_bodies(scaled)
    assert other.table.radius == pytest.approx(one.table.radius * size, rel=1e-9)
    assert other.clearances == pytest.approx(one.clearances * size, abs=1e-12 * size)
    assert np.array_equal(one.pairs, other.pairs)


@pytest.mark.parametrize("links", [1, 2, 200, 1500])
def test_chains_of_any_length(links: int) -> None:
    bodies = fit_bodies(chain(links))
    assert len(bodies) == min(links, 1000)
    assert (bodies.table.radius > 0.0).all()


def test_what_has_no_length_has_no_body() -> None:
    point = viewer.Builder().add("root").add("here", "root").skeleton
    assert len(fit_bodies(point)) == 0
    bone = viewer.Builder(point).add("there", "here", (0, 1, 0)).skeleton
    (capsule,) = fit_bodies(bone).capsules
    assert (bone.names[capsule.joint], capsule.b) == ("here", (0.0, 1.0, 0.0))


@pytest.mark.parametrize("seed", range(20))
def test_odd_figures_have_bodies(seed: int) -> None:
    try:
        skeleton = skeleton_from_text(json.dumps(odd_figure(seed)), "odd.json").skeleton
    except FormatError:
        return
    bodies = fit_bodies(skeleton)
    assert np.isfinite(bodies.table.radius).all()
    assert np.isfinite(bodies.clearances).all()
    assert (spaces(skeleton, bodies, skeleton.relaxed_pose()) > 0.0).all()


FILE: dict[str, Any] = {
    "units": "cm",
    "joints": [
        {"name": "a"},
        {"name": "b", "parent": "a", "offset": [0, 50, 0]},
        {"name": "c", "parent": "b", "offset": [0, 50, 0]},
    ],
    "bodies": [
        {"joint": "a", "capsule": [[0, 0, 0], [0, 40, 0], 5]},
        {"joint": "c", "capsule": [[0, 10, 0], [0, 10, 0], 7.5], "mass": 2.5},
    ],
}  # fmt: skip


def test_a_file_states_bodies() -> None:
    character = skeleton_from_text(json.dumps(FILE), "f.json")
    skeleton = character.skeleton
    stated = (Capsule(0, (0, 0, 0), (0, 0.4, 0), 0.05), Capsule(2, (0, 0.1, 0), (0, 0.1, 0), 0.075, 2.5))
    assert skeleton.bodies is not None
    assert skeleton.bodies.capsules == stated
    found = bodies_of(skeleton)
    assert found.capsules == stated
    assert found.pairs.tolist() == [[0, 1]]
    assert bodies_of(sample("biped")) == fit_bodies(sample("biped"))
    for units in ("cm", "m", "inch"):
        again = skeleton_from_text(skeleton_to_json(character, units=units), "f.json").skeleton
        assert again.bodies == skeleton.bodies
    rounded = skeleton_from_text(skeleton_to_json(character, units="m", precision=0), "f.json").skeleton
    assert rounded.bodies is not None


def test_bodies_go_along_with_their_joints() -> None:
    skeleton = skeleton_from_text(json.dumps(FILE), "f.json").skeleton
    assert viewer.Builder(skeleton).skeleton.bodies == skeleton.bodies
    renamed = viewer.Builder(skeleton).rename("c", "tail").skeleton
    assert renamed.bodies == skeleton.bodies
    shorter = viewer.Builder(skeleton).remove("b").skeleton
    assert shorter.bodies == Bodies(skeleton.bodies.capsules[:1] if skeleton.bodies else ())
    arm = viewer.Builder().add("spine").add("LeftArm", "spine", (0.2, 0, 0)).tip("LeftArm", (0.3, 0, 0)).skeleton
    arm = replace(arm, bodies=Bodies((Capsule(1, (0, 0, 0), (0.3, 0, 0.1), 0.05, 3.0),)))
    both = viewer.Builder(arm).mirror("LeftArm").skeleton
    assert both.bodies is not None
    right = next(one for one in both.bodies.capsules if both.names[one.joint] == "RightArm")
    assert (right.b, right.radius, right.mass) == ((-0.3, 0.0, 0.1), 0.05, 3.0)
    bare = skeleton_from_text(json.dumps({key: value for key, value in FILE.items() if key != "bodies"}), "g.json")
    lender = skeleton_from_text(json.dumps(FILE), "f.json")
    assert with_rig(bare, lender).skeleton.bodies == skeleton.bodies


BONE: list[Any] = [[0, 0, 0], [0, 1, 0], 1]
REFUSED: list[tuple[list[Any], str]] = [
    ([{"joint": "d", "capsule": BONE}], 'f.json: bodies[0].joint: no joint "d"; there is "a", "b", "c"'),
    ([{"joint": "a", "capsule": [*BONE[:2], 0]}], "f.json: bodies[0].capsule[2]: expected more than 0, found 0"),
    ([{"joint": "a", "capsule": [*BONE[:2], -1]}], "f.json: bodies[0].capsule[2]: expected more than 0, found -1"),
    ([{"joint": "a", "capsule": [[0, 0], *BONE[1:]]}], "f.json: bodies[0].capsule[0]: expected a list of 3 numbers, "),
    ([{"joint": "a", "capsule": BONE, "mass": 0}], "f.json: bodies[0].mass: expected more than 0, found 0"),
    ([{"joint": "a", "capsule": BONE[:2]}], "f.json: bodies[0].capsule: expected a list of 3 values, found 2"),
    ([{"joint": "a", "capsule": [[0, 0, 1e308], *BONE[1:]]}], 'joint "a": expected lengths'),
    ([{"joint": "a", "capsule": BONE}] * 1001, "f.json: bodies: expected at most 1,000"),
]


@pytest.mark.parametrize(("bodies", "message"), REFUSED)
def test_bodies_that_are_refused(bodies: list[Any], message: str) -> None:
    with pytest.raises(FormatError) as refused:
        check_character(skeleton_from_text(json.dumps(FILE | {"bodies": bodies}), "f.json"))
    assert str(refused.value).startswith(message)


def test_values_that_are_refused() -> None:
    for radius in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="capsule: radius: expected"):
            Capsule(0, (0, 0, 0), (0, 1, 0), radius)
    with pytest.raises(InputError, match="fit_bodies: height: expected more than 0 metres"):
        fit_bodies(sample("biped"), height=0.0)
    with pytest.raises(InputError, match="joint of capsule 0: expected a joint from 0 to 21, found 22"):
        replace(sample("biped"), bodies=Bodies((Capsule(22, (0, 0, 0), (0, 1, 0), 1.0),)))
    assert repr(Capsule(3, (0, 0, 0), (0, 0.5, 0), 0.1)) == "<Capsule: joint 3, length 0.5, radius 0.1>"


def test_a_session_file_keeps_stated_bodies(tmp_path: Path) -> None:
    character = skeleton_from_text(json.dumps(FILE), "f.json")
    document = new_document(character)
    data = document_data(document)
    again = document_of(msgspec.json.decode(msgspec.json.encode(data), type=type(data)), tmp_path)
    assert again.skeleton.bodies == character.skeleton.bodies
    assert again.same_as(document)
