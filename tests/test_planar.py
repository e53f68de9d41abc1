"""Planar documents: in every plane, every rig stays where it is, whatever is done to it.

Keys of a planar document: what is solved between them keeps to the plane.

A body kept in a plane is looked at straight: no drag tilts the view, so clicks and drags land in the plane.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import (
    PLANES,
    Blend,
    MoveTargets,
    ResetPose,
    SetCoordinate,
    SetGoalKind,
    SetLimits,
    SetPlanar,
    SetSolver,
    TurnJoint,
    actions as act,
    frame_pose,
    normal_of,
    rig_of,
    violation,
)
from inside.ik import runs
from inside.session import DEMOS, document_data, document_of, load_session, save_session
from inside.spatial import conjugate, from_axis_angle, multiply, rotate
from sessions import HAND, drag, place, session
from takes import take_of, turn
from ui_person import EMPTY, VIEW, Person

import viewer
from viewer.document import Document, Grab, Item, new_document, stand_of, world_of
from viewer.errors import FormatError, InputError
from viewer.session import Session
from viewer.skeleton import fk

if TYPE_CHECKING:
    from viewer.skeleton import Pose


RIGS = ("biped", "claw-arm", "serpent", "quadruped", "two-link", "piston", "chain-20")
EVERY = [(rig, plane) for rig in RIGS for plane in PLANES]


def flat(rig: str, plane: str) -> Session:
    session = Session(new_document(viewer.load(f"sample:{rig}")))
    session.dispatch(SetSolver(backend="numpy"))
    session.dispatch(SetPlanar(plane))
    return session


def depths(document: Document, plane: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """(J,) how far every joint is from the plane through the origin."""
    return np.asarray(world_of(document.skeleton, document.pose).positions @ normal_of(plane))


def item_of(document: Document) -> Item:
    return Item("effector", next(handle.effector for handle in document.goals if handle.enabled))


@pytest.mark.parametrize(("rig", "plane"), EVERY)
def test_a_drag_leaves_no_plane(rig: str, plane: str) -> None:
    session = flat(rig, plane)
    before = depths(session.document, plane)
    item = item_of(session.document)
    start = stand_of(session.document, session.document.goal(item.name)).point
    session.begin_drag((item,))
    for tick in range(12):
        session.gestures.drag_to({item: (start + np.array([0.2, 0.15, 0.25]) * tick / 12, None)})
        session.tick(tick / 60)
        assert np.abs(depths(session.document, plane) - before).max() < 1e-9
    session.commit()
    assert np.abs(depths(session.document, plane) - before).max() < 1e-9
    assert violation(session.document) < 1e-8


def test_a_drag_out_of_reach_works_out_no_diagnosis(monkeypatch: pytest.MonkeyPatch) -> None:
    session = flat("biped", "zx")
    monkeypatch.setattr(runs, "diagnose", lambda *_, **__: pytest.fail("takes a hundred times as long as a tick"))
    item = item_of(session.document)
    session.begin_drag((item,))
    for tick in range(30):
        session.gestures.drag_to({item: ((3.0, 1.0, 3.0), None)})
        session.tick(tick / 60)
    assert session.report is not None
    assert session.report.status != "converged"


@pytest.mark.parametrize("plane", PLANES)
def test_joints_turn_about_the_normal_alone(plane: str) -> None:
    session, normal = flat("biped", plane), normal_of(plane)
    document = session.document
    before = world_of(document.skeleton, document.pose).rotations
    session.dispatch(MoveTargets({"RightHand": (np.array([-0.2, 1.5, 0.3]), None)}))
    after = world_of(session.document.skeleton, session.document.pose).rotations
    turns = multiply(after, before * (-1, -1, -1, 1))
    assert np.abs(np.cross(turns[:, :3], normal)).max() < 1e-9
    assert np.abs(turns[:, :3]).max() > 0.05


def test_chains_are_brought_into_the_plane_through_their_root() -> None:
    for rig, plane in (("chain-20", "xy"), ("chain-20", "yz"), ("serpent", "zx"), ("serpent", "yz")):
        assert np.ptp(depths(flat(rig, plane).document, plane)) < 1e-9, (rig, plane)


def test_a_hinge_below_is_turned_to_the_normal() -> None:
    session = flat("piston", "yz")
    before = session.document.pose
    session.dispatch(MoveTargets({"hook": (np.array([0.0, 1.0, 6.0]), None)}))
    boom = session.document.skeleton.index("boom")
    assert np.abs(session.document.pose.rotations[boom] - before.rotations[boom]).max() > 0.01


def test_shoulders_keep_their_way_across() -> None:
    session = Session(new_document(viewer.load("sample:biped")))
    skeleton = session.document.skeleton
    sides = [skeleton.index(name) for name in ("LeftArm", "RightArm")]
    before = depths(session.document, "yz")[sides]
    session.dispatch(SetPlanar("yz"))
    after = depths(session.document, "yz")[sides]
    assert abs(np.ptp(after) - np.ptp(before)) < 0.02
    assert np.ptp(before) > 0.3


def test_it_is_one_step_and_undo_gives_the_very_document_back() -> None:
    session = Session(new_document(viewer.load("sample:biped")))
    before = session.document
    session.dispatch(SetPlanar("yz"))
    assert (session.history.index, session.history.labels[-1]) == (1, "Plane YZ")
    assert session.report is not None
    assert session.report.status == "converged"
    assert session.undo()
    assert session.document is before


def test_handles_move_into_the_plane_with_the_body() -> None:
    session = flat("biped", "yz")
    for handle in session.document.goals:
        if handle.enabled:
            stand = stand_of(session.document, handle)
            assert handle.position is not None
            assert np.linalg.norm(np.array(handle.position) - stand.point) < 1e-9


def test_targets_are_confined() -> None:
    session, normal = flat("biped", "yz"), normal_of("yz")
    hand = session.document.goal("LeftHand")
    depth = float(np.array(hand.position) @ normal)
    session.dispatch(MoveTargets({"LeftHand": (np.array([5.0, 1.2, 0.4]), None)}))
    moved = session.document.goal("LeftHand").position
    assert moved is not None
    assert np.allclose(moved, (depth, 1.2, 0.4))


def test_sliders_and_turns_by_hand_stay_in_the_plane_and_in_the_limits() -> None:
    session = flat("biped", "yz")
    before = depths(session.document, "yz")
    rotation = from_axis_angle(np.array([0.48, 0.64, 0.6]), 1.0)
    session.dispatch(TurnJoint("LeftArm", rotation))
    session.dispatch(SetCoordinate("Spine", 0, 0.3))
    assert np.abs(depths(session.document, "yz") - before).max() < 1e-9
    assert violation(session.document) < 1e-8
    session.dispatch(ResetPose())
    assert violation(session.document) < 1e-8


@pytest.mark.parametrize("limits", [True, False])
def test_a_grabbed_bone_and_the_root_stay_in_the_plane(limits: bool) -> None:
    session = flat("biped", "xy")
    session.dispatch(SetLimits(limits))
    for items, grab in (((), Grab("Spine1", (0.0, 0.1, 0.0))), ((Item("joint", "Hips"),), None)):
        before = depths(session.document, "xy")
        item = Item("joint", grab.joint if grab is not None else "Hips")
        session.begin_drag(items, grab)
        for tick in range(20):
            session.gestures.drag_to({item: (np.array([0.1, 0.9, 0.5]), None)})
            session.tick(tick / 60)
        session.commit()
        assert np.abs(depths(session.document, "xy") - before).max() < 1e-9


def test_a_planar_rig_is_given_to_the_solver_as_it_is() -> None:
    document = flat("two-link", "xy").document
    rig = rig_of(document)
    assert rig is not None
    assert rig.skeleton.names == document.skeleton.names
    assert np.array_equal(rig.skeleton.rest_rotations, document.skeleton.rest_rotations)
    assert rig.lowered(rig.lifted(document.pose)).same_as(document.pose)


def test_a_root_that_is_locked_stays() -> None:
    session = flat("biped", "xy")
    session.dispatch(SetSolver(root="locked"))
    before = session.document.pose.translations[0].copy(), session.document.pose.rotations[0].copy()
    session.dispatch(MoveTargets({"LeftHand": (np.array([1.5, 2.0, 0.0]), None)}))
    assert np.abs(session.document.pose.translations[0] - before[0]).max() < 1e-12
    assert np.abs(session.document.pose.rotations[0] - before[1]).max() < 1e-12


def test_leaving_the_plane_frees_the_body() -> None:
    session = flat("biped", "xy")
    session.dispatch(SetPlanar(None))
    assert session.document.planar is None
    before = depths(session.document, "xy")
    session.dispatch(MoveTargets({"LeftHand": (np.array([0.3, 1.2, 0.45]), None)}))
    assert np.abs(depths(session.document, "xy") - before).max() > 0.05


def test_an_aim_in_the_plane_is_met_there() -> None:
    session = flat("serpent", "zx")
    session.dispatch(SetGoalKind("Head", "aim"))
    session.dispatch(MoveTargets({"Head": (np.array([0.8, 3.0, 1.2]), None)}))
    assert session.errors["Head"].reached
    assert np.ptp(depths(session.document, "zx")) < 1e-9


def test_a_session_file_keeps_it(tmp_path: Path) -> None:
    document = flat("biped", "yz").document
    path = tmp_path / "flat.ikv.json"
    save_session(document, path)
    assert load_session(path).same_as(document)
    assert not load_session(path).same_as(replace(document, planar="xy"))


def test_a_file_without_it_opens_in_space_and_other_words_are_refused() -> None:
    data = document_data(new_document(viewer.load("sample:two-link")))
    assert data.planar is None
    data.planar = "xz"
    with pytest.raises(FormatError, match="expected one of xy, yz, zx or null, found 'xz'"):
        document_of(data, Path())


def test_unknown_planes_are_refused() -> None:
    session = Session(new_document(viewer.load("sample:two-link")))
    with pytest.raises(InputError, match='no plane "xz"'):
        session.dispatch(SetPlanar("xz"))
    assert session.history.index == 0


FEET = ("LeftFoot", "RightFoot")
APART = 20


def off_plane(document: Document, pose: Pose, other: Pose, plane: str) -> float:
    """Metres that joints are nearer to a plane than in another pose, or radians that they turn out of it."""
    normal = normal_of(plane)
    one, two = (fk(document.skeleton, some) for some in (pose, other))
    moved = np.abs((one.positions - two.positions) @ normal).max()
    axes = [rotate(conjugate(world.rotations), normal) for world in (one, two)]
    return float(max(moved, np.abs(axes[0] - axes[1]).max()))


def crouched(plane: str | None, way: tuple[float, float, float]) -> Session:
    """Two keys, the pelvis moved between them; the feet are pinned."""
    made = session()
    made.dispatch(act.SetPlanar(plane))
    made.dispatch(act.KeyPose())
    made.seek(APART)
    pelvis = Item("joint", made.document.skeleton.names[0])
    drag(made, pelvis, made.document.pose.translations[0] + np.array(way))
    made.commit()
    made.dispatch(act.KeyPose())
    return made


@pytest.mark.parametrize("blend", [Blend.LINEAR, Blend.SMOOTH])
@pytest.mark.parametrize(("plane", "way"), [("yz", (0, -0.3, 0.15)), ("xy", (0.12, -0.3, 0)), ("zx", (0.15, 0, 0.12))])
def test_frames_between_keys_keep_to_the_plane(plane: str, way: tuple[float, float, float], blend: Blend) -> None:
    made = crouched(plane, way)
    made.dispatch(act.SetBlend(None, blend))
    document = made.document
    assert sum(len(some.joints) for some in take_of(document).solved) > 0
    start = frame_pose(document, 0)
    assert max(off_plane(document, frame_pose(document, f), start, plane) for f in range(APART + 1)) < 1e-9
    for foot in FEET:
        handle = document.goal(foot)
        stands = [stand_of(document.with_pose(frame_pose(document, f)), handle).point for f in range(APART + 1)]
        assert np.linalg.norm(np.array(stands) - np.array(handle.position), axis=-1).max() < 1e-3


def test_keys_that_were_made_in_space_are_solved_in_space() -> None:
    made = crouched(None, (0.1, -0.25, 0.1))
    made.dispatch(act.SetLimits(on=False))
    made.seek(2 * APART)
    turn(made, "LeftArm", (0.0, 0.3, 0.0))
    made.dispatch(act.KeyPose())
    kept = take_of(made.document).solved
    made.dispatch(act.SetPlanar("yz"))
    assert all(a is b for a, b in zip(take_of(made.document).solved, kept, strict=True))
    made.seek(0)
    made.dispatch(act.MoveKeys(take_of(made.document).keys_at(APART), 2))
    document = made.document
    for foot in FEET:
        handle = document.goal(foot)
        stands = [stand_of(document.with_pose(frame_pose(document, f)), handle).point for f in range(APART + 3)]
        assert np.ptp(stands, axis=0).max() < 2e-3


def test_what_is_recorded_over_planar_keys_keeps_to_the_plane() -> None:
    made = crouched("yz", (0, -0.3, 0.15))
    before = made.document
    start = frame_pose(before, 0)
    made.seek(2)
    made.record()
    made.tick(0.0)
    begin = place(made.document, HAND.name)
    made.begin_drag((HAND,))
    for tick in range(1, 24):
        made.gestures.drag_to({HAND: (begin + np.array([0.1, 0.01, 0.015]) * tick, None)})
        made.tick(tick / 60.0)
        assert off_plane(made.document, made.document.pose, start, "yz") < 1e-9
    made.commit()
    made.stop_recording()
    after = made.document
    assert max(off_plane(after, frame_pose(after, f), start, "yz") for f in range(APART + 1)) < 1e-9
    arm = after.skeleton.index("LeftForeArm")
    assert (frame_pose(after, 12).rotations[arm] != frame_pose(before, 12).rotations[arm]).any()


FLAT = [demo.id for demo in DEMOS if demo.view == "planar"]
TURNING = [
    "view.front", "view.right", "view.top", "view.back", "view.left", "view.bottom", "view.three_quarter",
    "view.opposite", "view.orthographic", "view.orbit_left", "view.orbit_right", "view.orbit_up", "view.orbit_down",
]  # fmt: skip


def shown(name: str) -> Person:
    person = Person()
    person.controller.files.open(f"demo:{name}")
    person.controller.session.targets.pause()
    return person


def looks_straight(person: Person) -> bool:
    camera = person.controller.camera
    return bool(camera.orthographic and np.allclose(camera.back, (0.0, 0.0, 1.0), atol=1e-12))


@pytest.mark.parametrize(
    ("name", "button", "held"),
    [(name, "left", ()) for name in FLAT]
    + [(FLAT[0], "middle", ()), (FLAT[0], "left", ("alt",)), (FLAT[0], "right", ())],
)
def test_a_drag_of_the_background_shifts_the_view(name: str, button: str, held: tuple[str, ...]) -> None:
    person = shown(name)
    document = person.document
    before = person.pixel(np.array([0.2, 0.3, 0.0]))
    person.drag(EMPTY, (60.0, -40.0), *held, button=button)  # type: ignore[arg-type]  # a button's name
    assert looks_straight(person)
    assert person.pixel(np.array([0.2, 0.3, 0.0])) == pytest.approx((before[0] + 60.0, before[1] - 40.0), abs=0.01)
    assert person.document is document


def test_a_click_after_a_drag_that_missed_lands_where_it_was_clicked() -> None:
    person = shown("two-link")
    person.drag(EMPTY, (60.0, -40.0))
    person.click(*person.pixel(np.array([-0.4, 0.9, 0.0])))
    assert np.allclose(person.target("tip"), (-0.4, 0.9, 0.0), atol=1e-9)
    assert np.allclose(person.place("tip"), (-0.4, 0.9, 0.0), atol=1e-3)


@pytest.mark.parametrize("command", TURNING)
def test_no_command_turns_the_view_and_menus_say_so(command: str) -> None:
    person = shown("puzzle")
    assert not person.controller.can(command)
    person.controller.run(command)
    person.wait(0.5)
    assert looks_straight(person)
    person.controller.files.open("sample:biped")
    assert person.controller.can(command)


def test_the_view_axes_and_scrolling_with_two_fingers_do_not_turn_it_either() -> None:
    person = shown("s-lock")
    for x in range(VIEW.x + VIEW.w - 90, VIEW.x + VIEW.w, 6):
        person.move(x, VIEW.y + 50.0)
        assert not person.controller.view.hovered.axis
    person.controller.view.preferences.two_fingers = True
    person.scroll(3.0, *EMPTY)
    assert looks_straight(person)


def test_starting_over_looks_as_at_first() -> None:
    person = shown("two-link")
    camera = person.controller.camera
    person.drag(EMPTY, (60.0, -40.0))
    person.scroll(2.0, *EMPTY)
    assert not person.controller.camera.same_as(camera)
    person.controller.run("demo.start_over")
    assert person.controller.camera.same_as(camera)


def test_a_plane_that_comes_back_by_redo_is_looked_at_straight() -> None:
    person = Person()
    person.controller.run("view.plane_xy")
    person.key("ctrl+z")
    person.controller.run("view.three_quarter")
    person.wait(0.5)
    assert not looks_straight(person)
    person.key("ctrl+y")
    person.wait(0.5)
    assert person.document.planar == "xy"
    assert looks_straight(person)


def test_hints_say_what_a_drag_of_the_background_does() -> None:
    person = shown("puzzle")
    person.move(*EMPTY)
    assert ("Drag", "pan") in [hint[:2] for hint in person.controller.hints()]
    person.controller.files.open("sample:biped")
    person.move(*EMPTY)
    assert ("Drag", "orbit") in [hint[:2] for hint in person.controller.hints()]
