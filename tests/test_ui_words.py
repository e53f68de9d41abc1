"""The status line, numbers and names, to the letter."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from characters import rig
from inside.document import AddGoal, Select, SetGoalKind, SetPin, SetSolver
from inside.ik import Cause, Reason
from inside.scene import short_text
from inside.ui import DASH, MINUS, limit_words, numbers, short_name
from sessions import session
from ui_person import Person

from viewer.document import Item, new_document
from viewer.ik import Goal, Status
from viewer.session import Session
from viewer.skeleton import above
from viewer.ui import Controller


def test_numbers_have_fixed_decimals_a_real_minus_and_no_negative_zero() -> None:
    assert numbers.degrees(math.radians(-12.44)) == f"{MINUS}12.4°"
    assert numbers.fixed(0.2771, 3) == "0.277"
    assert numbers.fixed(-0.0001, 3) == "0.000"
    assert numbers.fixed(-0.05, 1) in {f"{MINUS}0.1", "0.0"}
    assert numbers.fixed(math.nan, 1) == numbers.fixed(math.inf, 3) == DASH
    assert numbers.weight(1) == "1.00"
    assert numbers.milliseconds(0.00042) == "0.42 ms"
    assert numbers.milliseconds(2.2607) == "2.26 s"
    assert numbers.seconds(1.6834) == "1.683 s"


def test_errors_have_a_tenth_of_a_millimetre_up_to_a_metre() -> None:
    assert numbers.error(0.1777) == "177.7 mm"
    assert numbers.error(1.0) == "1000 mm"
    assert numbers.error(0.0) == "0.0 mm"
    assert numbers.short(0.1777) == "178 mm"
    assert numbers.short(0.0032) == "3.2 mm"


@pytest.mark.parametrize(
    ("metres", "words"),
    [
        (0.9, "900 mm"),
        (1.178, "1178 mm"),
        (9.999, "9999 mm"),
        (9.9996, "10.0 m"),
        (11.111, "11.1 m"),
        (12345.0, "12 km"),
        (2e200, "over 1e150 m"),
        (np.inf, "over 1e150 m"),
    ],
)
def test_what_is_ten_metres_off_is_said_in_metres(metres: float, words: str) -> None:
    assert numbers.short(metres) == words
    assert short_text(metres) == f"{words} short"
    assert numbers.error(metres, 0) == words


@pytest.mark.parametrize(("metres", "words"), [(0.05, "5 cm"), (0.1, "0.1 m"), (1.0, "1 m"), (0.002, "2 mm")])
def test_steps_as_people_say_them(metres: float, words: str) -> None:
    assert numbers.step(metres) == words


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("RightHand", "R hand"), ("LeftFoot", "L foot"), ("Head", "Head"), ("mixamorig:LeftHand", "L hand"),
        ("hand.R", "R hand"), ("l_foot", "L foot"), ("claw_a", "claw_a"), ("L", "L"), ("", ""), ("日本", "日本"),
        ("l3", "l3"), ("link_l", "L link"), ("L_2", "L_2"),
    ],
)  # fmt: skip
def test_short_names(name: str, short: str) -> None:
    assert short_name(name) == short


def test_converged() -> None:
    status = Person().controller.status()
    assert (status.icon, status.state, status.tone) == ("check", "Converged", "ok")
    assert status.goals == "L hand 0.0 R hand 0.0 L foot 0.0 R foot 0.0 Head 0.0 mm"
    assert status.modes == ()


def test_out_of_reach_names_the_worst_goal_and_the_limit_it_stands_at() -> None:
    person = Person()
    person.controller.session.dispatch(SetSolver(firm_holds=True))  # holds that yield push no joint to its limit
    person.pull(person.at("LeftHand"), (300.0, -250.0))
    status = person.controller.status()
    report = person.controller.session.report
    assert report is not None
    error = report.errors["LeftHand"].metres or 0.0
    assert status.state == f"Out of reach: LeftHand {1000 * error:.0f} mm short"
    assert (status.icon, status.tone) == ("warn", "warn")
    named = [words.split(" at its ")[0] for words in status.goals.split("  ")]
    assert 1 <= len(named) <= 2
    skeleton = person.document.skeleton
    chain = [skeleton.names[j] for j in above(skeleton, skeleton.index("LeftHand"))]
    assert named == [name for name in chain if name in report.at_limit][: len(named)]
    person.key("escape")
    assert person.controller.status().state == "Converged"


def two_link(**goal: object) -> Controller:
    arm = rig(
        {"kind": "fixed"},
        {"kind": "hinge", "axis": [0, 0, 1], "limits": {"angle": [-180, 180]}},
        {"kind": "hinge", "axis": [0, 0, 1], "limits": {"angle": [-180, 180]}, "tips": [[0, 0.5, 0]]},
        effectors=[{"name": "hand", "joint": "c", "offset": [0, 0.5, 0]}],
    )
    goals = [Goal.position("hand", **goal)]  # type: ignore[arg-type]
    controller = Controller(Session(new_document(arm, goals=goals)))
    controller.session.solve()
    return controller


def test_too_near_says_how_far_the_chain_folds() -> None:
    # Links of 1 m and 0.5 m fold to 0.5 m; the shoulder stands at (0, 2, 0).
    status = two_link(p=(0.0, 2.1, 0.0)).status()
    assert status.state == "Too near: hand, chain folds to 500 mm"


def test_too_far_says_how_much_is_missing() -> None:
    status = two_link(p=(2.5, 2.0, 0.0)).status()
    assert status.state == "Out of reach: hand 1000 mm short"


def test_blocked_by_limits() -> None:
    arm = rig(
        {"kind": "fixed"},
        {"kind": "hinge", "axis": [0, 0, 1], "limits": {"angle": [0, 30]}, "tips": [[0, 1, 0]]},
        effectors=[{"name": "hand", "joint": "b", "offset": [0, 1, 0]}],
    )
    controller = Controller(Session(new_document(arm, goals=[Goal.position("hand", (1.0, 2.0, 0.0))])))
    controller.session.solve()
    status = controller.status()
    assert (status.state, status.tone) == ("Blocked by limits: b 0°", "warn")
    assert status.goals == "hand 1414 mm short"


def stopped(controller: Controller, *reasons: Reason) -> str:
    """The state in words where the last solve came to rest short of its goals for these reasons."""
    report = controller.session.report
    assert report is not None
    report.status = Status.STALLED
    report.__dict__["_reasons"] = reasons
    return controller.status().state


LIMITS = Reason(Cause.LIMITS, "blocked by limits: c 10°", brief="Blocked by limits: c 10°")


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        (
            Reason(Cause.FAR, "hand is 1000 mm off: no pose ...", (0,)),
            "Out of reach: hand 1000 mm short",
        ),
        (Reason(Cause.TURN, "hand is ...", (0,), "No joint turns hand that way"), "No joint turns hand that way"),
        (LIMITS._replace(brief="Blocked by limits: b -30°, c swing"), f"Blocked by limits: b {MINUS}30°, c swing"),
    ],
)
def test_the_first_reason_is_said(reason: Reason, state: str) -> None:
    assert stopped(two_link(p=(2.5, 2.0, 0.0)), reason, LIMITS) == state


def test_the_goal_missed_most_has_its_own_reason_said() -> None:
    own = Reason(Cause.TURN, "hand is ...", (0,), "No joint turns hand that way")
    assert stopped(two_link(p=(2.5, 2.0, 0.0)), LIMITS, own) == "No joint turns hand that way"
    assert stopped(two_link(p=(2.5, 2.0, 0.0)), LIMITS, own._replace(cause=Cause.LEVEL)) == "Blocked by limits: c 10°"


def test_where_nothing_better_is_known_it_is_stuck() -> None:
    said = stopped(two_link(p=(2.5, 2.0, 0.0)), Reason(Cause.OTHER, "in reach: more iterations meet every goal"))
    assert said.startswith("Stuck: ")


def rested(controller: Controller) -> bool:
    """Whether nothing moves any more, once it is known why the goals of a resting drag are missed."""
    for _ in range(1000):
        if not controller.tick(1.0):
            return True
        time.sleep(0.01)
    return False


def test_a_rotation_that_no_joint_makes_is_said_once_a_drag_rests_and_nothing_is_offered() -> None:
    arm = rig(
        {"kind": "fixed"},
        {"kind": "hinge", "axis": [0, 0, 1], "tips": [[0, 0.5, 0]]},
        effectors=[{"name": "hand", "joint": "b", "offset": [0, 0.5, 0]}],
    )
    session = Session(new_document(arm))
    controller, hand = Controller(session), Item("effector", "hand")
    session.begin_drag((hand,))
    session.gestures.drag_to({hand: (None, (math.sin(0.5), 0.0, 0.0, math.cos(0.5)))})
    for tick in range(10):
        controller.tick(tick / 60.0)
    assert controller.status().state == "Out of reach: hand 57.3° off"  # in a drag there is no time for more
    assert rested(controller)
    assert controller.status().state == "No joint turns hand that way: at least 57° off"
    session.commit()
    assert controller.status().state == "No joint turns hand that way: at least 57° off"
    assert not session.escape.offered


def test_limits_are_named_while_the_drag_lasts() -> None:
    # Both hinges stand at their ends, and the target is beyond what the arm reaches so.
    arm = rig(
        {"kind": "fixed"},
        {"kind": "hinge", "axis": [0, 0, 1], "limits": {"angle": [-10, 10]}},
        {"kind": "hinge", "axis": [0, 0, 1], "limits": {"angle": [-10, 10]}, "tips": [[0, 0.5, 0]]},
        effectors=[{"name": "hand", "joint": "c", "offset": [0, 0.5, 0]}],
    )
    session = Session(new_document(arm))
    controller, hand = Controller(session), Item("effector", "hand")
    session.begin_drag((hand,))
    session.gestures.drag_to({hand: ((-1.0, 2.0, 0.0), None)})
    for tick in range(40):
        controller.tick(tick / 60.0)
    assert rested(controller)
    assert controller.status().state == "Blocked by limits: c 10°, b 10°"
    session.commit()
    assert controller.status().state.startswith("Blocked by limits: ")


def test_limits_off_and_fk_are_modes() -> None:
    person = Person()
    person.key("l", "d")
    assert person.controller.status().modes == ("Limits off", "FK")


def test_compiling_is_said_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    person = Person()
    person.wait(1.0)
    monkeypatch.setattr(type(person.controller.session.kernels), "compiling", True)
    person.wait(0.2)
    assert person.controller.status().modes == ()
    person.wait(0.3)
    assert person.controller.status().modes == ("Compiling kernels, numpy meanwhile",)
    monkeypatch.setattr(type(person.controller.session.kernels), "compiling", False)
    person.wait(0.1)
    assert person.controller.status().modes == ()


def test_a_clip_that_leaves_its_pins_is_not_said_to_be_solved() -> None:
    person = Person("sample:walk")
    person.controller.session.dispatch(SetPin("LeftFoot", position=True, rotation=True))
    person.key("space")
    person.wait(0.5)
    assert person.controller.status()[:3] == ("dot", "Playing", "idle")
    person.key("space")
    status = person.controller.status()
    assert status[:3] == ("dot", "As in the motion", "idle")
    errors = person.controller.session.errors
    assert f"L foot {1000 * (errors['LeftFoot'].metres or 0.0):.1f}" in status.goals
    missed = {mark.name for mark in person.controller.scene().marks if not mark.reached}
    assert missed == {name for name, error in errors.items() if not error.reached}
    assert missed


def test_frames_a_second_stand_behind_the_solver() -> None:
    person = Person()
    person.drag(person.at("LeftHand"), (30.0, -60.0))
    person.controller.view.fps = 59.7
    figures = person.controller.status().figures
    iterations, time, frames = figures.split(" · ")
    assert iterations.endswith(" it")
    assert time.endswith((" ms", " s"))
    assert frames == "60 fps"


def test_iterations_of_a_whole_drag_are_said_to_be_so() -> None:
    person = Person()
    x, y = person.at("LeftHand")
    person.pull((x, y), (30.0, -60.0))
    tick = person.controller.session.report
    assert tick is not None
    assert person.controller.status().figures.startswith(f"{tick.iterations} it · ")
    person.release(x + 30.0, y - 60.0)
    report = person.controller.session.report
    assert report is not None
    assert person.controller.status().figures.startswith(f"Drag {report.iterations} it · ")
    assert report.iterations == report.steps[-1]


def test_further_goals_of_an_effector_are_named_by_their_kind() -> None:
    person = Person()
    for kind in ("distance", "distance", "position+rotation"):
        person.controller.session.dispatch(AddGoal("LeftHand", kind))
    person.controller.session.dispatch(Select((Item("effector", "Head"), Item("effector", "RightHand"))))
    person.key("delete")
    said = person.controller.status().goals
    for words in ("L hand 0.0 ", "L hand distance 0.0 ", "L hand 3 0.0 ", "L hand position rotation 0.0 "):
        assert words in f"{said} ", said


def test_a_slide_at_its_end_in_millimetres() -> None:
    piston = rig(
        {"kind": "fixed"}, {"kind": "slide", "axis": [0, 1, 0], "limits": {"distance": [0, 0.2]}, "tips": [[0, 0.1, 0]]}
    )
    skeleton = piston.skeleton
    assert limit_words(skeleton, skeleton.rest_pose(), 1) == "b at its limit 0.0 mm"
    assert limit_words(skeleton, skeleton.rest_pose(), 0) == "a"


def test_a_ball_at_its_limits_says_whether_it_swings_or_twists() -> None:
    ball = rig(
        {"kind": "fixed"},
        {
            "kind": "ball",
            "twist_axis": "y",
            "limits": {"x": [-30, 30], "y": [-20, 20], "z": [-30, 30]},
            "tips": [[0, 1, 0]],
        },
    )
    skeleton, rest = ball.skeleton, ball.skeleton.rest_pose()
    assert limit_words(skeleton, rest, 1) == "b at its swing limit"
    half = math.radians(15.0)
    rotations = rest.rotations.copy()
    rotations[1] = (math.sin(half), 0.0, 0.0, math.cos(half))
    assert limit_words(skeleton, type(rest)(rotations, rest.translations), 1) == "b at its swing limit 30°"
    rotations[1] = (0.0, np.sin(-half * 2 / 3), 0.0, np.cos(half * 2 / 3))
    assert limit_words(skeleton, type(rest)(rotations, rest.translations), 1) == f"b at its twist limit {MINUS}20°"


def test_of_many_goals_the_largest_errors_are_named_and_the_others_counted() -> None:
    made = session("biped-hands")
    controller = Controller(made)
    few = "L hand 0.0 R hand 0.0 L foot 0.0 R foot 0.0 Head 0.0 mm"
    assert controller.status().goals == few
    fingers = [goal.id for goal in made.document.goals if not goal.enabled][:4]
    for name in fingers:
        made.dispatch(SetGoalKind(name, "position"))
    assert controller.status().goals == "L hand 0.0 R hand 0.0 mm, 7 others 0.0 mm"
