"""What the goals leave free is drawn to the preferred pose, as strongly as asked, and the goals are met as without.

The preferred pose of a document: within its plane, and of the default method alone.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.document import SetPlanar, SetSolver, preferred_pose, prefers, rig_of
from inside.skeleton import chain
from inside.spatial import angle_between, exp, from_axis_angle, multiply
from sessions import HAND, QUICK, session, shifted

from viewer import Goal, Solver, Status, load
from viewer.errors import InputError
from viewer.skeleton import Pose, effector_of, fk, limit_violation, project_pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inside.spatial import Floats

    from viewer.session import Session
    from viewer.skeleton import Skeleton


LIMBS = ("LeftHand", "LeftFoot", "RightFoot")
BACKENDS = ("numpy", "numba")


@lru_cache(maxsize=1)
def biped() -> Skeleton:
    return load("sample:biped").skeleton


def varied(seed: int, size: float = 0.3) -> Pose:
    """The relaxed pose with all its joints turned at random, inside the limits."""
    relaxed, random = biped().relaxed_pose(), np.random.default_rng(seed)
    turned = multiply(relaxed.rotations, exp(random.normal(size=(len(biped()), 3)) * size))
    return project_pose(biped(), Pose(turned, relaxed.translations))


def places(names: Sequence[str], pose: Pose) -> Floats:
    world = fk(biped(), pose)
    found = [effector_of(biped(), name) for name in names]
    return np.array([world.point(place.joint, np.array(place.offset)) for place in found])


def solver(names: Sequence[str] = LIMBS, **options: Any) -> Solver:  # noqa: ANN401 - the options of a solver
    return Solver(biped(), [Goal.position(name, (0.0, 0.0, 0.0)) for name in names], **{"backend": QUICK, **options})


def apart(pose: Pose, other: Pose) -> float:
    """Root mean square of the joints' angles between two poses, radians, without the root."""
    angles = angle_between(pose.rotations[1:], other.rotations[1:])
    return float(np.sqrt(np.mean(angles**2)))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_larger_the_weight_the_nearer_and_the_goals_are_met(backend: str) -> None:
    wish, start = varied(0), biped().relaxed_pose()
    means = []
    for weight in (0.0, 0.25, 0.5, 0.75, 1.0):
        posing = solver(backend=backend, preferred=wish, preferred_weight=weight)
        found = [posing.solve(start, places(LIMBS, varied(seed, 0.4))) for seed in range(1, 13)]
        assert all(solution.status is Status.CONVERGED for solution in found)
        assert max(solution.errors_m.max() for solution in found) <= 1e-3
        assert max(limit_violation(biped(), solution.pose).max() for solution in found) < 1e-9
        means.append(np.mean([apart(solution.pose, wish) for solution in found]))
    assert (np.diff(means) < -np.radians(1.0)).all()
    assert means[-1] < 0.6 * means[0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_weight_0_is_without_to_the_bit(backend: str) -> None:
    start, target = biped().relaxed_pose(), places(LIMBS, varied(3, 0.4))
    plain = solver(backend=backend)
    none = solver(backend=backend, preferred=varied(0), preferred_weight=0.0)
    assert none.solve(start, target).pose.same_as(plain.solve(start, target).pose)
    assert none.drag(start).move(target).pose.same_as(plain.drag(start).move(target).pose)


def test_what_no_goal_moves_takes_the_preferred_pose_and_the_root_stays_at_the_goal() -> None:
    wish, start = varied(0), biped().relaxed_pose()
    translations = start.translations.copy()
    translations[0] += (3.0, 0.0, 1.0)
    moved = Pose(start.rotations, translations)
    target = places(["LeftHand"], moved) + np.array([0.1, 0.1, 0.0])
    found = solver(["LeftHand"], preferred=wish).solve(moved, target)
    assert found.status is Status.CONVERGED
    idle = [biped().index(name) for name in ("RightArm", "RightForeArm", "LeftUpLeg", "RightLeg", "Head")]
    assert angle_between(found.pose.rotations[idle], wish.rotations[idle]).max() < 1e-6
    # The wish stands at the origin; the figure does not walk there.
    assert np.linalg.norm(found.pose.translations[0] - moved.translations[0]) < 0.5
    half = solver(["LeftHand"], preferred=wish, preferred_weight=0.5).solve(moved, target).pose
    asked = angle_between(start.rotations[idle], wish.rotations[idle])
    np.testing.assert_allclose(angle_between(half.rotations[idle], wish.rotations[idle]), 0.5 * asked, atol=0.02)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_drag_goes_there_without_a_pop_and_holds_its_goals(backend: str) -> None:
    wish, start = varied(0), biped().relaxed_pose()
    target = places(LIMBS, start)
    drag = solver(backend=backend, preferred=wish).drag(start)
    plain = solver(backend=backend).drag(start)
    before, last = apart(start, wish), start
    for _ in range(120):
        found = drag.move(target)
        assert found.errors_m.max() <= 1e-3
        assert angle_between(found.pose.rotations, last.rotations).max() < np.radians(8.0)
        last = found.pose
    assert apart(last, wish) < before - np.radians(3.0)
    assert apart(plain.move(target).pose, start) < 1e-9


def test_backends_and_batches_agree() -> None:
    wish, start = varied(0), biped().relaxed_pose()
    targets = np.stack([places(LIMBS, varied(seed, 0.4)) for seed in range(1, 7)])
    starts = [varied(seed, 0.1) if seed % 2 else start for seed in range(6)]
    numpy, numba = (solver(backend=backend, preferred=wish, preferred_weight=0.7) for backend in BACKENDS)
    for posing in (numpy, numba):
        many = posing.solve_batch(starts, targets)
        for i, begun in enumerate(starts):
            alone = posing.solve(begun, targets[i]).pose
            assert many.pose(i).same_as(alone)
            assert angle_between(alone.rotations, numpy.solve(begun, targets[i]).pose.rotations).max() < 1e-6


def test_a_function_goal_leaves_free_what_the_built_in_ones_would() -> None:
    wish, start = varied(0), biped().relaxed_pose()
    joint, target = biped().index("LeftHand"), places(["LeftHand"], varied(2, 0.4))[0]
    goal = Goal.function(lambda world: world.positions[joint] - target)
    near, far = (
        Solver(biped(), [goal], backend=QUICK, preferred=wish, preferred_weight=weight).solve(start)
        for weight in (1.0, 0.0)
    )
    assert near.status is Status.CONVERGED
    assert apart(near.pose, wish) < 0.5 * apart(far.pose, wish)


def test_exact_or_nothing_gives_the_start_and_not_the_wish() -> None:
    start, target = biped().relaxed_pose(), [[50.0, 1.0, 0.0]]
    posing = solver(["LeftHand"], preferred=varied(0), exact=True, root="locked")
    inside = project_pose(biped(), start)
    found = posing.solve(inside, target)
    assert found.status is Status.UNREACHABLE
    np.testing.assert_allclose(found.pose.rotations, inside.rotations, atol=1e-9)
    np.testing.assert_array_equal(posing.solve_batch(inside, [target]).rotations[0], found.pose.rotations)


def test_out_of_limits_it_is_wished_for_as_far_as_they_go() -> None:
    rest, start = biped().rest_pose(), biped().relaxed_pose()
    wide = Pose(multiply(rest.rotations, from_axis_angle((1.0, 0.0, 0.0), 2.5)), rest.translations)
    assert limit_violation(biped(), wide).max() > 0.5
    found = solver(preferred=wide).solve(start, places(LIMBS, start))
    assert found.status is Status.CONVERGED
    assert limit_violation(biped(), found.pose).max() < 1e-9


def test_stiff_joints_and_other_methods_stay_and_these_say_so() -> None:
    links = chain(6)
    stiff = replace(links, stiffness=np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    rest = links.rest_pose()
    bent = Pose(multiply(rest.rotations, from_axis_angle((0.0, 0.0, 1.0), 0.4)), rest.translations)
    goal = [Goal.position(links.effectors[-1].name, fk(links, bent).positions[-1])]
    found = Solver(stiff, goal, backend=QUICK, preferred=bent).solve(rest)
    np.testing.assert_allclose(found.pose.rotations[2], rest.rotations[2], atol=1e-12)
    plain, told = (Solver(links, goal, method="dls", preferred=pose).solve(rest) for pose in (None, bent))
    assert told.pose.same_as(plain.pose)
    assert (plain.unserved, told.unserved) == ((), ("preferred pose",))
    weightless = Solver(links, goal, method="ccd", preferred=bent, preferred_weight=0.0).solve(rest)
    assert weightless.unserved == ()
    assert Solver(links, goal, backend=QUICK, preferred=bent).solve(rest).unserved == ()


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan"), "much", True])
def test_a_weight_that_is_none_is_refused(weight: Any) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(InputError, match=r"preferred_weight: expected a (finite number, 0 to 1|number), found "):
        solver(preferred=varied(0), preferred_weight=weight)


def test_a_pose_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match='preferred: expected a pose or None, found "relaxed"'):
        solver(preferred="relaxed")
    with pytest.raises(InputError, match="preferred pose: expected 22 joints as the skeleton has, found 3"):
        solver(preferred=chain(3).rest_pose())


def planar(plane: str = "yz") -> Session:
    made = session()
    made.dispatch(SetPlanar(plane))
    return made


def dragged(made: Session, ticks: int = 40) -> None:
    made.begin_drag((HAND,))
    made.gestures.drag_to({HAND: (shifted(made.document, "LeftHand", (0.0, 0.02, 0.02)), None)})
    for _ in range(ticks):
        made.tick(0.0)
    assert made.report is not None
    assert made.report.status == "converged"


def from_rest(made: Session) -> float:
    """Mean degrees of the joints' angles from the preferred pose within the plane."""
    rig = rig_of(made.document)
    wish = preferred_pose(replace(made.document, solver=replace(made.document.solver, prefer="rest")), rig)
    assert rig is not None
    assert wish is not None
    flat = rig.lowered(wish).rotations
    return float(np.degrees(np.mean(angle_between(made.document.pose.rotations[1:], flat[1:]))))


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_in_a_plane_a_drag_is_drawn_to_what_is_in_it_of_the_pose(weight: float) -> None:
    plain, made = planar(), planar()
    made.dispatch(SetSolver(prefer="rest", prefer_weight=weight))
    start = made.document.pose
    rig = rig_of(made.document)
    assert rig is not None
    for one in (plain, made):
        dragged(one)
        assert rig.holds(one.document.pose)
        assert limit_violation(one.document.skeleton, one.document.pose).max() <= 1e-3
    gained = from_rest(plain) - from_rest(made)
    assert gained == 0.0 if weight == 0.0 else gained > 0.1
    # The wish stands and faces elsewhere; the body neither walks nor turns there.
    assert np.linalg.norm(made.document.pose.translations[0] - start.translations[0]) < 0.1
    assert angle_between(made.document.pose.rotations[0], start.rotations[0]) < 0.2


def test_in_a_plane_solving_goes_on_to_it_and_stays_in_the_plane() -> None:
    made = planar()
    made.dispatch(SetSolver(prefer="rest"))
    rig, before = rig_of(made.document), from_rest(made)
    made.solve()
    assert rig is not None
    assert rig.holds(made.document.pose)
    assert made.report is not None
    assert made.report.status == "converged"
    assert from_rest(made) < before - 0.1


def test_the_wish_is_one_object_in_the_plane_with_the_roots_where_they_are() -> None:
    made = planar()
    made.dispatch(SetSolver(prefer="rest"))
    rig = rig_of(made.document)
    assert rig is not None
    wish = preferred_pose(made.document, rig)
    assert wish is not None
    assert preferred_pose(made.document, rig_of(made.document)) is wish
    flat = rig.lowered(wish)
    assert rig.holds(flat)
    np.testing.assert_allclose(flat.translations[0], made.document.pose.translations[0], atol=1e-9)
    assert angle_between(flat.rotations[0], made.document.pose.rotations[0]) < 1e-9


def test_other_methods_are_not_drawn_and_nothing_moves_for_them() -> None:
    made = session()
    made.dispatch(SetSolver(prefer="rest"))
    assert prefers(made.document.solver)
    made.dispatch(SetSolver(method="dls"))
    assert not prefers(made.document.solver)
    assert preferred_pose(made.document, None) is None
    before = made.document
    made.solve()
    assert made.document.pose is before.pose
    dragged(made)
    assert made.report is not None
    assert made.report.unserved == ()
