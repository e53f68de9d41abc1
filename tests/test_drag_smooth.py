"""Dragging is smooth: out of reach and back it neither freezes nor leaps, a straight knee rests, and home is found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import Backend, ReturnPath
from inside.spatial import from_axis_angle
from method_cases import planar
from sessions import QUICK
from test_drag import BIPED, PLACES, RELAXED, degrees_between, looped, trapped

import viewer
from viewer import Goal, Solver, Status
from viewer.skeleton import Pose

if TYPE_CHECKING:
    from inside.spatial import Floats

LIMBS = ("LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head")
AT = PLACES[[BIPED.index(name) for name in LIMBS]]
A_FRAME = 0.008
"""Metres that the cursor goes in a frame."""


def held(*, pinned: bool) -> list[Goal]:
    """All limbs stay where they are in the relaxed pose; feet with their turn if they are pinned."""
    return [
        Goal.pin(name) if pinned and name.endswith("Foot") else Goal.position(name, place)
        for name, place in zip(LIMBS, AT, strict=True)
    ]


def moved(effector: int, way: Floats) -> Floats:
    """Targets (5, 3) with one effector somewhere else."""
    targets = AT.copy()
    targets[effector] += way
    return targets


@pytest.mark.parametrize(
    ("way", "pinned", "limits", "backend"),
    [
        ((0.0, 0.0, -1.0), True, True, "numba"),
        ((-0.75, -0.6, -0.28), True, True, "numba"),
        ((0.35, 0.93, 0.09), False, True, "numpy"),
        ((0.35, 0.93, 0.09), False, True, "numba"),
        ((0.25, -0.95, -0.17), False, False, "numba"),
    ],
)
def test_out_of_reach_and_back_it_neither_freezes_nor_leaps(
    way: tuple[float, float, float], pinned: bool, limits: bool, backend: Backend
) -> None:
    if backend == "numba":
        pytest.importorskip("numba")
    solver = Solver(BIPED, held(pinned=pinned), backend=backend, limits=limits)
    drag, last, frozen = solver.drag(RELAXED), RELAXED, 0
    there = np.arange(0.0, 0.9, A_FRAME)
    for far in [*there.tolist(), *there[::-1].tolist()]:
        targets = moved(0, far * np.array(way))
        one = drag.move(targets, iterations=2)
        turned = degrees_between(last, one.pose)
        last = one.pose
        assert turned < 15.0
        if turned < 0.01 and np.nanmax(one.errors_m) > 0.02:
            frozen += solver.solve(RELAXED, targets=targets).status is Status.CONVERGED
    assert frozen == 0
    for _ in range(40):
        end = drag.move(AT)
    assert end.status is Status.CONVERGED
    assert degrees_between(end.pose, RELAXED) < 0.5


def test_who_is_far_behind_glides_there() -> None:
    drag = Solver(BIPED, held(pinned=False), backend=QUICK).drag(RELAXED)
    drag.move(AT)
    last = drag.move(moved(0, np.array([-0.5, 0.3, 0.3]))).pose
    steps = []
    for _ in range(40):
        one = drag.move(moved(0, np.array([-0.5, 0.3, 0.3])))
        steps.append(degrees_between(last, one.pose))
        last = one.pose
    assert max(steps) < 11.0
    assert np.count_nonzero(np.array(steps) > 4.0) > 3
    assert one.status is Status.CONVERGED


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_a_knee_that_is_nearly_straight_rests_while_its_cursors_do(limits: bool, backend: Backend) -> None:
    if backend == "numba":
        pytest.importorskip("numba")
    drag = Solver(BIPED, held(pinned=False), backend=backend, limits=limits).drag(RELAXED)
    places = []
    for up in [*np.linspace(0.0, 0.04, 60).tolist(), *[0.04] * 60]:
        targets = AT.copy()
        targets[[0, 1, 4], 1] += up
        one = drag.move(targets)
        places.append(viewer.fk(BIPED, one.pose).positions)
    assert one.status is Status.CONVERGED
    assert np.linalg.norm(np.diff(places[-20:], axis=0), axis=-1).max() < 1e-3


def test_a_drag_that_is_caught_on_its_way_back_is_led_home() -> None:
    links, random = 6, np.random.default_rng(2)
    arm = planar(links, 45.0)
    for _ in range(8):
        start, end = (
            Pose(from_axis_angle((0, 0, 1), random.uniform(-0.785, 0.785, links)), arm.offsets) for _ in range(2)
        )
        here, there = (viewer.fk(arm, pose).point(links - 1, arm.tip_offsets[0]) for pose in (start, end))
        drag = Solver(arm, [Goal.position(f"j{links - 1}.tip", (0, 0, 0))], backend=QUICK).drag(start)
        for part in [*np.linspace(0.0, 1.5, 30).tolist(), *np.linspace(1.5, 0.0, 30).tolist(), *[0.0] * 60]:
            back = drag.move([here + part * (there - here)])
        assert back.status is Status.CONVERGED


def test_the_way_home_leaves_no_goal_by_much(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    leaves = ReturnPath.leaves_goals

    def asking(way: ReturnPath) -> bool:
        asked.append(leaves(way))
        return asked[-1]

    monkeypatch.setattr(ReturnPath, "leaves_goals", asking)
    claw, tips = viewer.load("sample:claw-arm").skeleton, ("claw_a", "claw_b", "claw_c")
    chosen = [effector for effector in claw.effectors if effector.name in tips]
    way, across = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 2)))[0].T
    poses = looped(way, across)
    worlds = [viewer.fk(claw, pose) for pose in (poses[0], *poses[42:])]
    places = np.array([[world.point(one.joint, np.array(one.offset)) for one in chosen] for world in worlds])
    assert asked == [False]
    assert np.linalg.norm(places[1:] - places[0], axis=-1).max() < 0.06


def test_a_way_home_that_leaves_its_goals_is_seen_as_such() -> None:
    arm = planar(2, 170.0)
    bend = math.radians(100.0)
    start, other = (
        Pose(from_axis_angle((0, 0, 1), np.array([-0.5 * turn, turn])), arm.offsets) for turn in (bend, -bend)
    )
    drag = Solver(arm, [Goal.position("j1.tip", (0, 0, 0))], backend=QUICK).drag(other)
    place = viewer.fk(arm, start).point(1, arm.tip_offsets[0])
    drag.move([place], iterations=8)
    space = drag._buffers
    home = space.work.trial
    for array, there in zip(
        home, (space.state.x * -1.0, start.rotations, start.translations, space.state.e), strict=True
    ):
        np.copyto(array, there)
    assert ReturnPath(space.arrays, home).leaves_goals()


def test_an_escape_that_comes_much_nearer_is_offered_too() -> None:
    drag, target = trapped()
    arm, start = drag.start, drag
    solver = Solver(
        planar(4, 45.0),
        [Goal.position("j3.tip", target), Goal.position("j0", (0.0, 0.02, 0.0))],
        backend=QUICK,
    )
    both, places = solver.drag(arm), np.array([target, (0.0, 0.02, 0.0)])
    for _ in range(60):
        both.move(places, iterations=2)
    assert start.solution is not None
    assert both.solution is not None
    escaped = both.escape()
    assert escaped is not None
    assert escaped.status is not Status.CONVERGED
    assert escaped.errors_m.sum() <= 0.5 * both.solution.errors_m.sum()
