"""Contact inside the solve: what is reachable is reached without going through anything, and what is not is named."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from cli_run import ran
from inside.ik import (
    Buffers,
    assemble,
    dof_table_of,
    engine,
    linearise,
    make_volumes,
    move,
    residuals,
    solve_dual,
    touching,
    twins,
)

import viewer
from viewer import Contact, Goal, Solver, Sphere, Status
from viewer.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

BOTH = Contact(floor=0.0, bodies=True)
DEEP = 1e-3
"""Metres that nothing may overlap by in an answer."""


def place(skeleton: viewer.Skeleton, pose: viewer.Pose, joint: str) -> Floats:
    return np.array(viewer.fk(skeleton, pose).positions[skeleton.names.index(joint)])


def deepest(skeleton: viewer.Skeleton, pose: viewer.Pose) -> float:
    """The deepest overlap of the tested pairs of capsules, by points along their axes: no code of the solver's."""
    bodies = skeleton.bodies or viewer.fit_bodies(skeleton)
    world = viewer.fk(skeleton, pose)
    part = np.linspace(0.0, 1.0, 25)[:, None]
    axes = []
    for one in bodies.capsules:
        x, y, z, w = world.rotations[one.joint]
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        a, b = (turn @ np.array(end) + world.positions[one.joint] for end in (one.a, one.b))
        axes.append(a + part * (b - a))
    depths = [
        bodies.capsules[i].radius
        + bodies.capsules[j].radius
        - np.linalg.norm(axes[i][:, None] - axes[j], axis=-1).min()
        for i, j in bodies.pairs.tolist()
    ]
    return float(max(depths))


def near_body(skeleton: viewer.Skeleton, count: int) -> Floats:
    """(count, 4, 3) targets of two hands near the body's axis; feet have their own."""
    random = np.random.default_rng(31)
    hips = place(skeleton, skeleton.relaxed_pose(), "Hips")
    targets = np.full((count, 4, 3), np.nan)
    angle, radius = random.uniform(0.0, 2.0 * np.pi, (count, 2)), random.uniform(0.1, 0.45, (count, 2))
    targets[:, 2:, 0] = hips[0] + radius * np.cos(angle)
    targets[:, 2:, 1] = random.uniform(0.7, 1.5, (count, 2))
    targets[:, 2:, 2] = hips[2] + radius * np.sin(angle)
    return targets


REACH = [Goal.pin("LeftFoot"), Goal.pin("RightFoot")] + [
    Goal.position(name, (0.0, 0.0, 0.0)) for name in ("LeftHand", "RightHand")
]


@pytest.fixture(scope="module")
def biped() -> viewer.Skeleton:
    return viewer.load("sample:biped").skeleton


@pytest.mark.parametrize(("backend", "count"), [("numpy", 4), ("numba", 30)])
def test_hands_near_the_body_are_placed_without_going_through_it(
    biped: viewer.Skeleton, backend: Literal["numpy", "numba"], count: int
) -> None:
    if backend == "numba":
        pytest.importorskip("numba")
    solver, through = (Solver(biped, REACH, backend=backend, contact=contact) for contact in (BOTH, None))
    start, deep = biped.relaxed_pose(), 0
    for targets in near_body(biped, count):
        solution = solver.solve(start, targets)
        assert solution.status is Status.CONVERGED
        assert deepest(biped, solution.pose) < DEEP
        assert all(touch.depth_m < DEEP for touch in solution.contacts)
        assert viewer.limit_violation(biped, solution.pose).max() <= 1e-9
        deep += deepest(biped, through.solve(start, targets).pose) > DEEP
    assert deep > count // 3  # else the targets would show nothing


def test_both_backends_give_the_same_answer(biped: viewer.Skeleton) -> None:
    pytest.importorskip("numba")
    one, other = (Solver(biped, REACH, backend=backend, contact=BOTH) for backend in ("numpy", "numba"))
    for targets in near_body(biped, 3):
        a, b = (solver.solve(biped.relaxed_pose(), targets) for solver in (one, other))
        assert a.iterations == b.iterations
        np.testing.assert_allclose(a.pose.rotations, b.pose.rotations, atol=1e-6)


def test_a_batch_gives_what_single_solves_give(biped: viewer.Skeleton) -> None:
    solver, targets = Solver(biped, REACH, contact=BOTH, backend="numpy"), near_body(biped, 2)
    many = solver.solve_batch(biped.relaxed_pose(), targets)
    for i, one in enumerate(targets):
        alone = solver.solve(biped.relaxed_pose(), one).pose
        np.testing.assert_array_equal(alone.rotations, many.pose(i).rotations)
        assert many.status[i] is Status.CONVERGED


def test_nothing_goes_below_the_floor_whatever_is_asked(biped: viewer.Skeleton) -> None:
    hand = Goal.position("LeftHand", (0.4, -0.3, 0.3))
    solution = Solver(biped, [*REACH[:2], hand], contact=Contact(floor=0.0)).solve(biped.relaxed_pose())
    assert solution.status is not Status.CONVERGED
    assert min(solution.errors_m[:2]) < 1e-3
    assert viewer.fk(biped, solution.pose).positions[:, 1].min() > -DEEP
    assert ("LeftHand", "floor") in [(touch.body, touch.other) for touch in solution.contacts]
    (line,) = solution.diagnosis
    assert line.startswith("blocked by contact: LeftHand touches floor")


def test_what_cannot_move_wins_over_a_goal_that_weighs_much(biped: viewer.Skeleton) -> None:
    pose = biped.relaxed_pose()
    ball = Sphere("ball", tuple(place(biped, pose, "LeftFoot").tolist()), 0.08)
    goals = [Goal.pin("LeftFoot", weight=10.0), Goal.pin("RightFoot", weight=10.0), REACH[2]]
    targets = np.full((3, 3), np.nan)
    targets[2] = 0.5, 1.0, 0.3
    solution = Solver(biped, goals, contact=Contact(objects=[ball])).solve(pose, targets)
    assert solution.errors_m[0] > 0.05
    assert solution.errors_m[1] < 2e-3
    assert max(touch.depth_m for touch in solution.contacts) < DEEP
    assert "ball" in " ".join(solution.diagnosis)


def test_what_overlaps_at_the_start_is_pushed_out(biped: viewer.Skeleton) -> None:
    pose = biped.relaxed_pose()
    ball = Sphere("ball", tuple(place(biped, pose, "LeftForeArm").tolist()), 0.08)
    assert viewer.contacts(biped, pose, Contact(objects=[ball]))[0].depth_m > 0.05
    solution = Solver(biped, REACH[:2], contact=Contact(objects=[ball])).solve(pose)
    assert solution.status is Status.CONVERGED
    assert max((touch.depth_m for touch in solution.contacts), default=0.0) < DEEP


def test_what_overlaps_and_cannot_move_is_named(biped: viewer.Skeleton) -> None:
    pose = biped.relaxed_pose()
    ball = Sphere("ball", tuple(place(biped, pose, "Hips").tolist()), 0.05)
    still = Solver(biped, [Goal.pin("Hips")], contact=Contact(objects=[ball]), root="locked").solve(pose)
    assert still.status is not Status.CONVERGED
    assert any(line.startswith("Hips overlaps ball by ") for line in still.diagnosis)
    assert np.isfinite(still.pose.rotations).all()


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_contact_works_at_any_size(biped: viewer.Skeleton, size: float) -> None:
    scaled = replace(biped, offsets=biped.offsets * size, tip_offsets=biped.tip_offsets * size, poses={})
    solver = Solver(scaled, REACH, contact=BOTH, tolerance_m=1e-3 * size)
    for targets in near_body(biped, 2):
        solution = solver.solve(scaled.relaxed_pose(), targets * size)
        assert solution.status is Status.CONVERGED
        assert deepest(scaled, solution.pose) < DEEP * size


def test_a_drag_through_the_body_goes_around_it_and_comes_home(biped: viewer.Skeleton) -> None:
    start = biped.relaxed_pose()
    hand, spine, other = (place(biped, start, name) for name in ("LeftHand", "Spine1", "RightHand"))
    goals = [*REACH[:2], Goal.position("LeftHand", tuple(hand.tolist()))]
    drag = Solver(biped, goals, contact=BOTH, backend="numpy").drag(start)
    legs = [np.linspace(a, b, 15) for a, b in itertools.pairwise((hand, spine, other, hand))]
    targets = np.full((3, 3), np.nan)
    for targets[2] in [*np.concatenate(legs), *[hand] * 40]:
        pose = drag.move(targets).pose
        assert deepest(biped, pose) < DEEP
    assert viewer.fk(biped, pose).positions == pytest.approx(viewer.fk(biped, start).positions, abs=1e-9)


def test_other_methods_say_that_they_do_not_heed_contact(biped: viewer.Skeleton) -> None:
    solution = Solver(biped, REACH, contact=BOTH, method="ccd").solve(biped.relaxed_pose())
    assert solution.unserved == ("contact",)
    assert Solver(biped, REACH, method="ccd").solve(biped.relaxed_pose()).unserved == ()


def test_an_empty_contact_changes_nothing(biped: viewer.Skeleton) -> None:
    (targets,) = near_body(biped, 1)
    one, other = (
        Solver(biped, REACH, contact=contact).solve(biped.relaxed_pose(), targets) for contact in (None, Contact())
    )
    np.testing.assert_array_equal(one.pose.rotations, other.pose.rotations)
    assert other.contacts == []


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        (3, 'contact: expected a Contact or None, found "3"'),
        (Contact(exclude=[("LeftArm", "Nose")]), 'contact: exclude[0]: no joint or object "Nose"; there is "Hips", '),
    ],
)
def test_what_is_no_contact_is_refused(biped: viewer.Skeleton, contact: Contact, message: str) -> None:
    with pytest.raises(InputError) as error:
        Solver(biped, REACH, contact=contact)
    assert str(error.value).startswith(message)


# --- the step

DAMPING = 1e-3
KEEP_APART = twins(engine.LOOPS, engine.STEPS)["keep_apart"]


def stepped(skeleton: viewer.Skeleton, targets: Floats) -> Buffers:
    """Buffers with the goals' step from the relaxed pose, some dofs held, not yet corrected."""
    dofs = dof_table_of(skeleton, np.ones((len(skeleton), 3)), limits=False, root="free")
    volumes = make_volumes(skeleton, BOTH, np.argsort(dofs.depth_first))
    buffers = Buffers(skeleton, assemble(dofs, REACH, (1e-3, 1e-2), contact=volumes))
    pose = skeleton.relaxed_pose()
    here = viewer.fk(skeleton, pose)
    joints = [skeleton.names.index(goal.effector) for goal in REACH]
    buffers.aim_at(np.where(np.isnan(targets), here.positions[joints], targets), here.rotations[joints])
    buffers.go_back(pose)
    s, w = buffers.system, buffers.work
    linearise(s, w, buffers.state.x)
    w.frozen[::9] = True
    jacobian = np.where(w.frozen[:, None], 0.0, w.jacobian)
    w.gram[:] = jacobian.T @ jacobian
    solve_dual(w, buffers.state.e, DAMPING, w.y)
    engine.STEPS["spread_step"](s, w, w.frozen, w.y, w.pull, w.step)
    return buffers


def test_a_corrected_step_closes_no_gap_and_serves_the_goals_best_among_those(biped: viewer.Skeleton) -> None:
    corrected = 0
    for targets in near_body(biped, 8):
        buffers = stepped(biped, targets)
        s, w, e = buffers.system, buffers.work, buffers.state.e
        c, count = w.contact, int(buffers.work.contact.rows[0])
        rows = np.zeros((count, len(w.step)))
        for d in range(len(w.step)):
            c.u[:] = 0.0
            c.u[d] = 1.0
            engine.STEPS["find_rates"](s, w)
            rows[:, d] = c.rate[:count]
        gap = c.gap[:count]
        least = np.where(gap < 0.0, -gap, -0.9 * gap)
        before = w.step / s.spread
        KEEP_APART(s, w, DAMPING)
        u = w.step / s.spread
        exact = 2e-3 * s.contact.slack[0] + 2e-5 * np.abs(rows @ before).max()
        assert (rows @ u - least).min() > -exact
        if (rows @ before - least).min() > 0.0:
            np.testing.assert_array_equal(u, before)
            continue
        corrected += 1
        # Karush, Kuhn and Tucker: the gradient is a sum of rows that bind, none of which pulls.
        free = ~w.frozen
        jacobian = w.jacobian[free, : len(e)]
        gradient = jacobian @ (jacobian.T @ u[free] - e) + DAMPING * u[free]
        binding = rows[rows @ u - least < exact][:, free]
        push, *_ = np.linalg.lstsq(binding.T, gradient, rcond=None)
        assert np.linalg.norm(binding.T @ push - gradient) < 1e-2 * np.linalg.norm(gradient)
    assert corrected > 3


def test_rates_are_how_fast_gaps_open(biped: viewer.Skeleton) -> None:
    buffers = stepped(biped, near_body(biped, 1)[0])
    s, w, state, random = buffers.system, buffers.work, buffers.state, np.random.default_rng(4)
    c, count = w.contact, int(buffers.work.contact.rows[0])
    pairs, h = np.column_stack([w.near.first[:count], w.near.second[:count]]), 1e-6
    c.u[:] = random.normal(size=len(w.step))
    engine.STEPS["find_rates"](s, w)
    rate, step, gaps = c.rate[:count].copy(), s.spread * c.u, []
    for sign in (1.0, -1.0):
        x, q, t = state.x.copy(), state.q.copy(), state.t.copy()
        move(s, w, sign * h * step, x, q, t)
        residuals(s, w, q, t, state.e.copy())
        touching.find_near(s.contact, w.near, w.place, w.turn, 1.0)
        found = zip(w.near.first.tolist(), w.near.second.tolist(), w.near.gap.tolist(), strict=True)
        known = {(first, second): gap for first, second, gap in found if second >= 0}
        gaps.append([known[first, second] for first, second in pairs.tolist() if second >= 0])
    bodies = pairs[:, 1] >= 0
    np.testing.assert_allclose((np.array(gaps[0]) - gaps[1]) / (2.0 * h), rate[bodies], atol=1e-4)


# --- the command


def test_the_command_keeps_to_what_the_goals_file_and_its_options_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goals = tmp_path / "reach.json"
    goal = {"effector": "LeftHand", "position": [0.4, -0.3, 0.3]}
    goals.write_text(json.dumps({"version": 2, "type": "goals", "goals": [goal], "contact": {"floor": 0.0}}))
    done = ran(capsys, "solve", "sample:biped", str(goals), "--object", "sphere:0.1@0,1,0.4", "--json")
    report = done.json
    assert {"body", "other", "depth_m", "point"} == set(report["contacts"][0])
    assert any(one["other"] == "floor" for one in report["contacts"])
    assert all(one["depth_m"] < DEEP for one in report["contacts"])
    assert report["diagnosis"][0].startswith("blocked by contact: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--floor", "nan"], 'argument --floor: expected a finite number, found "nan"'),
        (["--object", "sphere:-1@0,1,0"], 'argument --object: expected sizes above 0, found "sphere:-1@0,1,0"'),
        (["--object", "ball:1"], "argument --object: expected sphere:RADIUS@X,Y,Z, "),
        (["--object", "box:1,1@0,0,0"], "argument --object: expected sphere:RADIUS@X,Y,Z, "),
        (["--object", "box:1,1,1@0,0,inf"], "argument --object: expected sphere:RADIUS@X,Y,Z, "),
        (["--object", "sphere:1"], "argument --object: expected sphere:RADIUS@X,Y,Z, "),
    ],
)
def test_options_of_contact_that_cannot_be_used_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    goals = tmp_path / "reach.json"
    goals.write_text('{"version": 1, "type": "goals", "goals": [{"effector": "LeftHand", "position": [0.4, 1, 0.3]}]}')
    done = ran(capsys, "solve", "sample:biped", str(goals), *words)
    assert done.code == 2
    assert message in done.err


def test_an_object_whose_file_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    goals = tmp_path / "reach.json"
    goals.write_text('{"version": 1, "type": "goals", "goals": [{"effector": "LeftHand", "position": [0.4, 1, 0.3]}]}')
    done = ran(capsys, "solve", "sample:biped", str(goals), "--object", "mesh:nothing.stl")
    assert (done.code, done.err) == (1, 'error: --object: mesh "object 1": no such file: "nothing.stl"\n')
