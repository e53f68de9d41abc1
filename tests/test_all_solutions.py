"""All poses that meet goals: as many as closed forms say, each meets its goals, and the window steps through them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cli_run import ran
from inside.document import SetCoordinate
from inside.spatial import angle_between
from method_cases import planar
from sessions import QUICK
from ui_person import Person

import viewer
from viewer import Goal, InputError, Solver

if TYPE_CHECKING:
    from pathlib import Path

CAPS = pytest.CaptureFixture[str]


def arm(*axes: tuple[float, float, float], lengths: tuple[float, ...]) -> viewer.Skeleton:
    """A fixed base with hinges one above the other, and a tool."""
    builder = viewer.Builder().add("base", None, (0, 0, 0), kind="fixed")
    above = "base"
    for number, (axis, length) in enumerate(zip(axes, lengths, strict=False)):
        builder = builder.add(f"j{number}", above, (0, length, 0), kind="hinge", axis=axis)
        above = f"j{number}"
    return builder.add("tool", above, (0, lengths[-1], 0), kind="fixed").skeleton


Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
SPHERICAL = arm(Y, Z, Z, Y, Z, Y, lengths=(0.3, 0.2, 0.5, 0.4, 0.0, 0.0, 0.1))
"""Six hinges of which the last three meet in a point: eight poses for a tool, where each of three flips is open."""
THREE = arm(Y, Z, Z, lengths=(0.3, 0.0, 0.5, 0.4))


def reached(rig: viewer.Skeleton, seed: int, *, turned: bool) -> list[Goal]:
    """A goal for the tool that some pose meets."""
    pose = viewer.pose_at(rig, np.random.default_rng(seed).uniform(-1.5, 1.5, rig.dof))
    world, tool = viewer.fk(rig, pose), rig.index("tool")
    place = world.positions[tool]
    return [Goal.pose("tool", place, world.rotations[tool]) if turned else Goal.position("tool", place)]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("rig", "turned", "count"), [(SPHERICAL, True, 8), (THREE, False, 4)])
def test_an_arm_has_as_many_as_its_flips(rig: viewer.Skeleton, turned: bool, count: int, seed: int) -> None:
    goals = reached(rig, seed, turned=turned)
    solver = Solver(rig, goals, limits=False, root="locked", backend=QUICK)
    found = viewer.all_solutions(solver, rig.rest_pose())
    assert len(found) == count
    for solution in found:
        assert np.nanmax(solution.errors_m) < 1e-5
        world = viewer.fk(rig, solution.pose)
        np.testing.assert_allclose(world.positions[rig.index("tool")], np.array(goals[0].target), atol=1e-5)
    for i, one in enumerate(found):
        for other in found[:i]:
            assert angle_between(one.pose.rotations, other.pose.rotations).max() > np.radians(0.5)
    again = viewer.all_solutions(solver, rig.rest_pose())
    assert all(a.pose.same_as(b.pose) for a, b in zip(found, again, strict=True))


@pytest.mark.parametrize("ground", [None, -1.0])
def test_poses_that_go_below_the_floor_come_last(ground: float | None) -> None:
    """A tool that is low and near: with the elbow down it is below the floor, though nearer to the start."""
    start = viewer.pose_at(THREE, (0.0, -2.1, 1.2))
    assert viewer.fk(THREE, start).positions[:, 1].min() >= 0.0
    solver = Solver(THREE, [Goal.position("tool", (0.6, 0.02, 0.0))], limits=False, root="locked", ground=ground)
    found = viewer.all_solutions(solver, start)
    below = [viewer.fk(THREE, one.pose).positions[:, 1].min() < -1e-3 for one in found]
    assert len(found) == 4
    assert sum(below) == 2
    turns = [angle_between(start.rotations, one.pose.rotations).sum() for one in found]
    if ground is None:
        assert below == [False, False, True, True]
    else:
        assert turns == sorted(turns)
        assert below != sorted(below)


def test_two_links_have_the_two_of_the_law_of_cosines_and_limits_leave_one() -> None:
    skeleton = viewer.load("sample:two-link").skeleton
    l1, l2, x, y = 1.0, 0.8, 0.9, 1.0
    cosine = (x * x + y * y - l1 * l1 - l2 * l2) / (2 * l1 * l2)
    bends = [np.arccos(cosine), -np.arccos(cosine)]
    goals = [Goal.position("tip", (x, y, 0.0))]
    found = viewer.all_solutions(Solver(skeleton, goals, backend=QUICK), skeleton.rest_pose())
    angles = sorted(float(viewer.coordinates(skeleton, one.pose)[-1]) for one in found)
    np.testing.assert_allclose(np.abs(angles), np.abs(sorted(bends)), atol=1e-4)
    assert len(found) == 2
    narrow = planar(2, 100.0)
    one = viewer.all_solutions(
        Solver(narrow, [Goal.position("j1.tip", (1.2, 1.2, 0.0))], backend=QUICK), narrow.rest_pose()
    )
    assert len(one) in {1, 2}
    assert all(viewer.limit_violation(narrow, each.pose).max() < 1e-9 for each in one)


def test_freedoms_that_are_left_are_counted_and_what_cannot_be_met_gives_none() -> None:
    biped = viewer.load("sample:biped").skeleton
    solver = Solver(biped, [Goal.position("LeftHand", (0.4, 1.2, 0.3))], backend=QUICK)
    with pytest.raises(
        InputError, match=r"infinitely many poses meet the goals: they leave \d+ of \d+ degrees of freedom"
    ):
        viewer.all_solutions(solver, biped.rest_pose(), starts=8)
    far = Solver(THREE, [Goal.position("tool", (9.0, 0.0, 0.0))], backend=QUICK, root="locked")
    assert viewer.all_solutions(far, THREE.rest_pose(), starts=8) == ()


def test_the_window_steps_through_them_both_ways() -> None:
    person = Person("sample:two-link", backend=QUICK)
    session = person.controller.session
    goal = next(one for one in person.document.goals if one.enabled and one.has_position)
    session.dispatch(SetCoordinate(person.document.skeleton.names[-1], 0, 1.0))
    before = person.document
    for chord, number in (("alt+n", 2), ("alt+n", 1), ("alt+shift+n", 2)):
        person.key(chord)
        words = f"Solution {number} of 2"
        assert person.controller.view.bar.messages[-1].text == words
        assert session.history.labels[session.history.index - 1] == words
    moved, was = (np.array(document.goal(goal.id).position) for document in (person.document, before))
    np.testing.assert_allclose(moved, was, atol=2e-6)
    turned = angle_between(person.document.pose.rotations, before.pose.rotations)
    assert turned.max() > 0.5


def test_from_a_pose_that_meets_nothing_the_nearest_comes_first() -> None:
    person = Person("sample:two-link", backend=QUICK)
    session, document = person.controller.session, person.document
    goal = next(one for one in document.goals if one.enabled and one.has_position)
    session.replace(document.with_goal(replace(goal, position=(0.9, 1.0, 0.0))))
    person.key("alt+n")
    assert person.controller.view.bar.messages[-1].text == "Solution 1 of 2"
    person.key("alt+n")
    assert person.controller.view.bar.messages[-1].text == "Solution 2 of 2"
    texts = [message.text for message in person.controller.view.bar.messages]
    assert sum(text.startswith("Solution") for text in texts) == 1


def test_what_is_said_of_a_solution_goes_with_it() -> None:
    person = Person("sample:two-link", backend=QUICK)
    before = person.document.pose
    person.key("alt+n")
    person.wait()
    assert [one.text for one in person.controller.view.bar.messages] == ["Solution 2 of 2"]
    person.controller.run("edit.undo")
    person.wait()
    assert person.document.pose.same_as(before)
    assert person.controller.view.bar.messages == ()


def test_the_window_says_why_there_are_none() -> None:
    person = Person(backend=QUICK)
    person.key("alt+n")
    message = person.controller.view.bar.messages[-1]
    assert message.text.startswith("Infinitely many poses meet the goals: they leave ")
    assert message.level == "note"  # nothing failed, and there is nothing to mend


def two_arms() -> viewer.Skeleton:
    """Two spherical-wrist arms and a head on one base; the second arm is longer."""
    builder = viewer.Builder().add("base", None, (0, 0, 0), kind="fixed").add("head", "base", (0, 1, 0), kind="ball")
    for side, longer in (("l", 0.0), ("r", 0.1)):
        above = "base"
        for number, (axis, length) in enumerate(
            zip((Y, Z, Z, Y, Z, Y), (0.3, 0.2, 0.5 + longer, 0.4, 0.0, 0.0), strict=True)
        ):
            builder = builder.add(f"{side}{number}", above, (0, length, 0), kind="hinge", axis=axis)
            above = f"{side}{number}"
        builder = builder.add(f"{side}_tool", above, (0, 0.1, 0), kind="fixed")
    return builder.skeleton


def test_two_arms_have_every_pose_of_the_one_with_every_pose_of_the_other() -> None:
    rig = two_arms()
    pose = viewer.pose_at(rig, np.random.default_rng(1).uniform(-1.2, 1.2, rig.dof))
    world = viewer.fk(rig, pose)
    tools = "l_tool", "r_tool"
    goals = [Goal.pose(name, world.positions[rig.index(name)], world.rotations[rig.index(name)]) for name in tools]
    start = rig.rest_pose()
    alone = [viewer.all_solutions(Solver(rig, [goal], backend=QUICK), start) for goal in goals]
    assert [len(found) for found in alone] == [8, 8]
    found = viewer.all_solutions(Solver(rig, goals, backend=QUICK), start)
    assert len(found) == 64
    assert max(float(np.nanmax(one.errors_m)) for one in found) < 1e-6
    values = np.array([viewer.coordinates(rig, one.pose) for one in found]).round(4)
    assert len(np.unique(values, axis=0)) == 64
    far = [float(angle_between(start.rotations, one.pose.rotations).sum()) for one in found]
    assert far == sorted(far)
    assert all(np.allclose(one.pose.rotations[rig.index("head")], (0, 0, 0, 1)) for one in found)


def test_the_command_takes_the_kth(tmp_path: Path, capsys: CAPS) -> None:
    goals = tmp_path / "tip.json"
    asked = [{"effector": "tip", "position": [0.9, 1.0, 0.0]}]
    goals.write_text(json.dumps({"version": 1, "type": "goals", "goals": asked}), encoding="utf-8")
    bends = []
    for number in ("1", "2"):
        arguments = ["solve", "sample:two-link", str(goals), "--solution", number, "--backend", QUICK]
        done = ran(capsys, *arguments, "--json")
        assert done.code == 0, done.err
        document = json.loads(done.out)
        assert document["solutions"] == 2
        bends.append(document["pose"]["rotations"])
        assert ran(capsys, *arguments).out.splitlines()[0].endswith(f"{QUICK}, one of 2 solutions")
    assert bends[0] != bends[1]
    none = ran(capsys, "solve", "sample:two-link", str(goals), "--solution", "3", "--backend", QUICK)
    assert none.code != 0
    assert none.err == "error: --solution 3: 2 found\n"
