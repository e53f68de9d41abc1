"""Demos: each opens, does what its words say, and never jumps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import SetContact, SetSolver, joints_at_limit, touches_of
from inside.ik import serving
from inside.session import (
    DEMOS,
    EASE,
    LONGEST_STEP,
    PREFIX,
    Chase,
    Demo,
    FigureEight,
    Orbit,
    Pointer,
    Solvers,
    State,
    TargetMotion,
    demo_of,
    demos,
    find_demo,
    load_session,
    save_session,
    settle,
)
from inside.spatial import angle_between
from sessions import QUICK
from ui_person import VIEW, Person

from viewer.document import Item, world_of
from viewer.errors import InputError
from viewer.session import Session

if TYPE_CHECKING:
    from viewer.document import Document

TICK = 1.0 / 60.0
SECONDS = 10
MOST_TURN, MOST_MOVE = np.radians(5.0), 0.03
"""Of a joint in one tick: 300 degrees or 1.8 m a second."""

EVERY = pytest.mark.parametrize("demo", DEMOS, ids=lambda demo: demo.id)
MOVING = pytest.mark.parametrize("demo", [demo for demo in DEMOS if demo.motions], ids=lambda demo: demo.id)


def opened(name: str) -> Session:
    """A session on a demo, on a backend that is named: what is under test does not depend on kernels being ready."""
    session = Session(find_demo(name).build())
    session.dispatch(SetSolver(backend=QUICK))
    session.targets.animate(find_demo(name).motions)
    return session


def said(session: Session) -> str:
    demo = demo_of(session.document)
    assert demo is not None
    says = demo.says(session.document)
    return "" if says is None else says.text


def put(session: Session, place: tuple[float, float, float]) -> None:
    """Drag the tip's target to a place, and let go."""
    item = Item("effector", "tip")
    session.begin_drag((item,))
    for tick in range(30):
        session.gestures.drag_to({item: (place, None)})
        session.tick(tick * TICK)
    session.commit()


def missed(session: Session) -> float:
    return session.errors["tip"].metres or 0.0


@EVERY
def test_each_opens_and_is_always_the_same(demo: Demo) -> None:
    document, build = demo.build(), demo.build
    assert document.same_as(getattr(build, "__wrapped__", build)())  # built again, also where the first one is kept
    assert demo_of(document) is demo
    assert find_demo(PREFIX + demo.id) is demo
    assert all(words.endswith(".") for words in demo.words)
    assert (document.planar == "xy") == (demo.view == "planar")


def test_an_arm_without_a_target_says_nothing_of_its_reach() -> None:
    document = find_demo("two-link").build()
    assert find_demo("two-link").says(document) is not None
    handle = replace(document.goal("tip"), enabled=False, position=None)
    assert find_demo("two-link").says(replace(document, goals=(handle,))) is None


@EVERY
def test_a_saved_demo_is_the_demo_still(demo: Demo, tmp_path: object) -> None:
    path = tmp_path / "work.ikv.json"  # type: ignore[operator]
    document = demo.build()
    save_session(document, path)
    assert load_session(path).same_as(document)
    assert demo_of(load_session(path)) is demo


def test_an_unknown_demo_is_refused() -> None:
    with pytest.raises(InputError, match='no demo "two-lynk"'):
        find_demo("demo:two-lynk")


@EVERY
def test_each_opens_with_its_card_and_is_in_view(demo: Demo) -> None:
    person = Person()
    controller = person.controller
    controller.view.preferences.reduce_motion = False
    controller.files.open(f"demo:{demo.id}")
    assert controller.demos.card is demo
    assert controller.files.title == demo.id
    assert controller.session.targets.running == bool(demo.motions or demo.follows)
    assert controller.camera.orthographic == (demo.view == "planar")
    for seconds in np.linspace(0.0, 5.0, 12):
        for motion in demo.motions:
            x, y = person.pixel(motion.path(float(seconds)))
            assert VIEW.contains(x, y), motion.effector
    assert controller.draw_list().flat.size


@MOVING
def test_nothing_pops_in_ten_seconds(demo: Demo) -> None:
    session = opened(demo.id)
    before, steps = session.document, session.history.index
    for tick in range(round(SECONDS / TICK)):
        assert session.tick(tick * TICK)
        after = session.document
        turned = angle_between(before.pose.rotations, after.pose.rotations).max()
        places = [world_of(each.skeleton, each.pose).positions for each in (before, after)]
        assert turned < MOST_TURN, (tick, turned)
        assert np.abs(places[1] - places[0]).max() < MOST_MOVE, tick
        assert np.abs(np.linalg.norm(after.pose.rotations, axis=1) - 1.0).max() < 1e-9
        if tick * TICK > 2.0 * EASE:  # it stays near, all the time
            errors = session.errors.values()
            assert max((error.metres or 0.0) for error in errors) < 0.02, tick
            assert max((error.degrees or 0.0) for error in errors) < 2.0, tick
        before = after
    assert session.history.index == steps


def test_the_arm_stays_at_its_distance_from_the_ball_and_faces_it() -> None:
    session = opened("ball")
    seen = []
    for tick in range(600):
        session.tick(tick * TICK)
        seen.append(session.document.goal("wrist").position)
    assert np.ptp(np.array(seen), axis=0).max() > 0.7
    assert session.document.goal("wrist").position == session.document.goal("wrist_2").position
    assert said(session).startswith("0.")


def test_feet_stay_pinned_while_the_body_reaches() -> None:
    session = opened("reach")
    feet = [session.document.skeleton.index(name) for name in ("LeftFoot", "RightFoot")]
    head = session.document.skeleton.index("Head")
    start = world_of(session.document.skeleton, session.document.pose).positions
    low = start[head, 1]
    for tick in range(600):
        session.tick(tick * TICK)
        places = world_of(session.document.skeleton, session.document.pose).positions
        assert np.abs(places[feet] - start[feet]).max() < 2e-3
        low = min(low, places[head, 1])
    assert low < start[head, 1] - 0.2


@pytest.mark.parametrize(
    ("name", "others"), [("floor", {"floor", "RightHand"}), ("bodies", {"floor", "table", "RightForeArm"})]
)
def test_contact_keeps_out_what_the_goals_ask_into(name: str, others: set[str]) -> None:
    session = opened(name)
    assert said(session) == "Nothing goes through anything"
    document = session.document
    touches = touches_of(document.contact, document.skeleton, document.pose)
    assert {name for touch in touches for name in (touch.body, touch.other)} >= others
    session.dispatch(SetContact(on=False))
    assert " mm in " in said(session)
    session.dispatch(SetContact(on=True))
    assert said(session) == "Nothing goes through anything"


def test_the_demo_of_bodies_opens_after_few_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numpy solves it before the window opens; from the relaxed pose it took 153 iterations."""
    found: list[State] = []

    def settled(document: Document, solvers: Solvers) -> State:
        found.append(settle(document, solvers))
        return found[-1]

    monkeypatch.setattr(demos, "settle", settled)
    with serving("numpy"):
        made = demos.bodies.__wrapped__()
    (state,) = found
    assert state.document is made
    assert state.report is not None
    assert 0 < state.report.iterations <= 20


# Two links


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((0.9, 1.0, 0.0), "In reach: the target is 1.345 m away"),
        ((0.0, -2.0, 0.0), "Too far by 0.200 m: the target is 2.000 m away"),
        ((-0.05, 0.0, 0.0), "Too near by 0.150 m: the target is 0.050 m away"),
    ],
)
def test_two_links_say_what_they_reach(place: tuple[float, float, float], words: str) -> None:
    session = opened("two-link")
    put(session, place)
    assert said(session) == words
    assert (missed(session) < 1e-3) == words.startswith("In reach")


def test_out_of_reach_the_arm_is_straight() -> None:
    session = opened("two-link")
    put(session, (0.0, -2.5, 0.0))
    assert missed(session) == pytest.approx(0.7, abs=1e-3)


# The S-lock


def test_ccd_locks_and_the_default_does_not() -> None:
    assert len(joints_at_limit(find_demo("s-lock").build())) == 4
    session = opened("s-lock")
    assert said(session) == "218 mm short"
    assert len(joints_at_limit(session.document)) == 3
    for method in ("ccd", "ccd-from-base"):
        session.dispatch(SetSolver(method=method, max_iterations=300))
        session.solve()
        assert missed(session) > 0.2
    session.dispatch(SetSolver(method="default"))
    session.solve()
    assert missed(session) < 1e-3
    assert said(session) == "The target is reached"


# The chain


def test_the_chain_comes_to_the_pointer_and_rests() -> None:
    session = opened("ccd-chain")
    pointer = Pointer(np.array(session.document.goal("tip").position))
    session.targets.animate((TargetMotion("tip", pointer),))
    pointer.position = np.array([-0.6, 0.4, 0.0])
    assert session.tick(0.0)
    now = 0.0
    while session.tick(now) and now < 10.0:
        now += TICK
    assert now < 10.0
    assert missed(session) < 1e-3
    assert np.abs(world_of(session.document.skeleton, session.document.pose).positions[:, 2]).max() < 1e-9


# The puzzle


def test_the_puzzle_can_be_solved_and_says_so() -> None:
    session = opened("puzzle")
    assert said(session).endswith("cm to go")
    held = Session(session.document)
    held.dispatch(SetSolver(backend=QUICK))
    item = Item("effector", "tip")
    held.begin_drag((item,))
    for tick in range(300):
        held.gestures.drag_to({item: ((0.42, 0.2, 0.0), None)})
        held.tick(tick * TICK)
    held.commit()
    assert said(held) == "Solved: the tip is in the circle"


# Moving targets


def positions(document: Document, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.array(document.goal(name).position)


def test_paths_are_what_they_are_called() -> None:
    orbit = Orbit((1.0, 2.0, 3.0), (0.5, 0.0, 0.0), (0.0, 0.0, 0.5), 4.0)
    eight = FigureEight((0.0, 1.0, 0.0), (2.0, 0.0, 0.0), (0.0, 0.5, 0.0), 8.0)
    for seconds in np.linspace(0.0, 9.0, 50):
        assert np.linalg.norm(orbit(seconds) - (1.0, 2.0, 3.0)) == pytest.approx(0.5)
        assert np.allclose(orbit(seconds), orbit(seconds + orbit.period))
        assert np.allclose(Chase(eight, 0.7)(seconds), eight(seconds - 0.7))
    for seconds in (0.0, 4.0):  # its middle, from both loops
        assert np.allclose(eight(seconds), (0.0, 1.0, 0.0))
    assert eight(2.0)[0] == pytest.approx(2.0)
    assert eight(6.0)[0] == pytest.approx(-2.0)


def test_a_pause_holds_the_body_still_and_it_goes_on_without_a_leap() -> None:
    session = opened("serpent")
    for tick in range(100):
        session.tick(tick * TICK)
    session.targets.pause()
    held = session.document
    assert not session.tick(100 * TICK)
    assert session.document is held
    session.targets.resume()
    session.tick(1000.0)  # much later: time has not gone on
    session.tick(1000.0 + TICK)
    assert np.linalg.norm(positions(session.document, "Head") - positions(held, "Head")) < 0.1


def test_a_late_tick_is_no_leap() -> None:
    session = opened("ball")
    for tick in range(100):
        session.tick(tick * TICK)
    before = positions(session.document, "wrist")
    session.tick(100.0)
    speed = 2.0 * np.pi * 0.41 / 5.0
    assert np.linalg.norm(positions(session.document, "wrist") - before) < 1.1 * speed * LONGEST_STEP


def test_targets_wait_for_a_drag_and_come_back_to_their_way_by_and_by() -> None:
    session = opened("ball")
    for tick in range(60):
        session.tick(tick * TICK)
    item = Item("effector", "wrist")
    session.begin_drag((item,))
    session.gestures.drag_to({item: ((0.0, 0.9, 0.5), None)})
    session.tick(61 * TICK)
    assert np.allclose(positions(session.document, "wrist"), (0.0, 0.9, 0.5))
    session.commit()
    before = positions(session.document, "wrist")
    for tick in range(62, 62 + round(2.0 * EASE / TICK)):
        session.tick(tick * TICK)
        after = positions(session.document, "wrist")
        assert np.linalg.norm(after - before) < 0.04
        before = after
    assert np.allclose(before, positions(session.document, "wrist_2"))


def test_undo_during_a_motion_undoes_the_last_edit() -> None:
    session = opened("claw")
    session.dispatch(SetSolver(max_iterations=50))
    for tick in range(10):
        session.tick(tick * TICK)
    assert session.undo()
    assert session.document.solver.max_iterations == 200
    assert session.tick(1.0)


def test_another_document_ends_the_motion() -> None:
    session = opened("claw")
    session.replace(find_demo("two-link").build())
    assert not session.targets.running
    assert session.targets.motions == ()


def test_a_motion_of_an_effector_that_is_not_there_is_refused() -> None:
    session = opened("two-link")
    with pytest.raises(InputError, match='no effector "tap"'):
        session.targets.animate((TargetMotion("tap", Pointer(np.zeros(3))),))
    assert not session.targets.running
