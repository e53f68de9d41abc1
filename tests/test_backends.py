"""The numpy backend does what the kernels do, step by step and solve by solve; so do the compiled kernels."""

from __future__ import annotations

import inspect
import types
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.ik import (
    CONVERGED,
    Buffers,
    Settings,
    State,
    Work,
    algebra,
    arm_steps,
    arrays_in,
    contact_kernels,
    copy_state,
    dual_system,
    engine,
    engine_for,
    joints,
    levenberg_marquardt,
    make_work,
    remade,
    residuals,
    solve_dual,
    starts,
    step,
    twins,
)
from inside.spatial import multiply, normalized
from rigs import (
    GOAL_KINDS,
    Problem,
    chain,
    copied,
    problem,
    random_goals,
    random_pose,
    random_problem,
    random_skeleton,
)

from viewer.ik import Goal
from viewer.skeleton import JointKind, Pose, fk, limit_violation

if TYPE_CHECKING:
    from collections.abc import Callable

    from inside.spatial import Floats

    Solve = Callable[..., tuple[int, int, float]]

KERNELS = {
    name: value
    for module in (algebra, joints, contact_kernels, dual_system, step, starts, arm_steps)
    for name, value in vars(module).items()
    if isinstance(value, types.FunctionType)
}
PLAIN = types.SimpleNamespace(**{name: KERNELS[name] for name in engine.STEPS})
FAST = types.SimpleNamespace(**engine.STEPS)
WRITTEN = set(Work._fields) - {
    "gram",
    "factor",
    "pivots",
    "angles",
    "sines",
    "cosines",
    "axes",
    "vectors",
    "quaternions",
}
WRITTEN -= {"near", "contact", "trial", "best", "anchor", "start", "begun", "solved", "found", "nearest"}
"""What steps leave for others in the scratch; of contact see `test_contact_step`."""


def assert_close(one: object, other: object, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(
        np.asarray(other, dtype=np.float64), np.asarray(one, dtype=np.float64), rtol=tolerance, atol=tolerance
    )


class Pair:
    """One problem's arrays twice; a step is called on both, and all that it may write is compared."""

    def __init__(self, case: Problem, tolerance: float = 1e-9) -> None:
        self.system, self.tolerance = case.system, tolerance
        self.works = make_work(case.system), make_work(case.system)
        self.states = copied(case.state), copied(case.state)
        self.others = copied(case.state), copied(case.state)

    def call(self, step: str, arguments: Callable[[Work, State, State], tuple[Any, ...]]) -> None:
        results = [
            getattr(backend, step)(*arguments(work, state, other))
            for backend, work, state, other in zip((PLAIN, FAST), self.works, self.states, self.others, strict=True)
        ]
        if results[0] is not None:
            assert_close(results[0], results[1], self.tolerance)
        for one, other in (self.states, self.others):
            for array, twin in zip(one, other, strict=True):
                assert_close(array, twin, self.tolerance)
        # The kernels fill only the upper triangle of the Gram matrix.
        m = len(self.works[0].wanted)
        gram, twin = (np.triu(work.gram[:m, :m]) for work in self.works)
        assert_close(gram, twin, self.tolerance)
        for name in WRITTEN:
            array, twin = (getattr(work, name) for work in self.works)
            assert_close(array, twin, self.tolerance)
            twin[:] = array


@pytest.mark.parametrize("seed", range(21))
def test_every_step_agrees(seed: int) -> None:
    case = random_problem(seed, 1 + seed % 14, root=("free", "translate", "locked")[seed % 3])
    s, random = case.system, np.random.default_rng(seed)
    pair = Pair(case)
    scattered = normalized(random.normal(size=case.state.q.shape))
    for state in pair.states:
        state.q[:] = scattered
    for work, state in zip(pair.works, pair.states, strict=True):
        joints.into_limits(s, work, state.q, state.t, state.x)
    pair.call("residuals", lambda w, state, _: (s, w, state.q, state.t, state.e))
    pair.call("linearise", lambda w, state, _: (s, w, state.x))
    pair.call("difference", lambda w, a, b: (s, w, a.x, a.q, a.t, b.x, b.q, b.t, w.pull))
    pair.call("gram", lambda w, *_: (s, w))
    for _ in range(3):
        pair.call("less_pull", lambda w, state, _: (s, w, w.frozen, w.pull, state.e, w.wanted))
        pair.call("solve_dual", lambda w, *_: (w, w.wanted, 0.1, w.y))
        pair.call("substitute", lambda w, state, _: (w, state.e, w.y))
        pair.call("spread_step", lambda w, *_: (s, w, w.frozen, w.y, w.pull, w.step))
        pair.call("cap", lambda w, *_: (s, w.step, 0.3))
        pair.call("freeze", lambda w, state, _: (s, w, state.x, False))
        pair.call("freeze", lambda w, state, _: (s, w, state.x, True))
    pair.call("shorten", lambda w, state, _: (s, w.step, state.x, 0.5))
    pair.call("move", lambda w, state, _: (s, w, w.step, state.x, state.q, state.t))


SHARED = {
    name
    for module in (starts,)
    for name, value in vars(module).items()
    if getattr(value, "__module__", "") == module.__name__
} | {
    "choose_seed", "excess_loss", "find_support", "into_limits", "is_arm", "join_bones", "linearise_arm", "penalty",
    "predicted_ease", "propose_arm", "put_arm", "put_arm_step", "put_excess", "put_way_back", "reach_of", "solve_arm",
    "stiffen", "take_closed_form", "try_arm_step", "yield_swings",
}  # fmt: skip
"""Functions that are called rarely, or loop over a few dofs or goals: both backends run the same source."""


def test_steps_stand_in_for_all_that_the_driver_calls() -> None:
    own = {module.__name__ for module in engine.LOOPS}
    called = {
        name
        for module in engine.LOOPS
        for name, value in vars(module).items()
        if isinstance(value, types.FunctionType) and value.__module__ not in {*own, "typing"}
    }
    assert called == set(engine.STEPS) | (SHARED & called)
    for name in engine.STEPS:
        kernel, step = inspect.signature(KERNELS[name]), inspect.signature(engine.STEPS[name])
        assert list(kernel.parameters) == list(step.parameters), name


def numbers_used(module: types.ModuleType) -> dict[str, object]:
    """The numbers and words of a module by the names under which its own functions look them up."""
    own = [one for one in vars(module).values() if isinstance(one, types.FunctionType)]
    used = {name for one in own if one.__module__ == module.__name__ for name in one.__code__.co_names}
    found = {name: value for name, value in vars(module).items() if isinstance(value, int | float | str | tuple)}
    return {name: found[name] for name in used & set(found) if not name.startswith("__")}


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_modules_of_a_backend_give_no_name_two_values(backend: str) -> None:
    """Their twins share one namespace, in which the last one would count for all."""
    numba = backend == "numba"
    modules = pytest.importorskip("viewer.ik.compiled.numba_engine").MODULES if numba else engine.LOOPS
    values: dict[str, str] = {}
    for module in modules:
        for name, value in numbers_used(module).items():
            assert values.setdefault(name, repr(value)) == repr(value), f"{module.__name__}.{name}"
    assert values


def test_twins_look_up_each_other_and_what_stands_in() -> None:
    module = types.ModuleType("sums")
    source = "from math import sqrt\nTWO = 2\ndef half(x): return x / TWO\ndef root_of_half(x): return sqrt(half(x))\n"
    exec(source, module.__dict__)
    wrapped: list[str] = []

    def wrap(function: Any) -> Any:  # noqa: ANN401 - any function
        wrapped.append(function.__name__)
        return function

    space = twins([module], {"sqrt": lambda x: ("root", x)}, wrap)
    assert space["root_of_half"](18) == ("root", 9.0)
    assert module.root_of_half(18) == 3.0
    assert wrapped == ["half", "root_of_half"]


def reachable(seed: int, joints: int = 8) -> Problem:
    """A rig with goals that a hidden pose meets, to be found from another pose."""
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, joints, [JointKind.BALL, JointKind.HINGE, JointKind.UNIVERSAL, JointKind.SLIDE])
    skeleton = replace(skeleton, stiffness=np.zeros(joints))
    pose = random_pose(random, skeleton)
    moved = np.array([kind is JointKind.SLIDE for kind in skeleton.kinds])[:, None]
    hidden = fk(skeleton, Pose(pose.rotations, np.where(moved, pose.translations, skeleton.offsets)))
    names = [skeleton.names[-1], skeleton.names[joints // 2]]
    targets = [(hidden.positions[skeleton.index(name)], hidden.rotations[skeleton.index(name)]) for name in names]
    goals = [Goal.pose(names[0], *targets[0]), Goal.position(names[1], targets[1][0])]
    return problem(skeleton, goals, skeleton.rest_pose())


def solved(solve: Solve, case: Problem, settings: Settings) -> tuple[int, int, State]:
    state = copied(case.state)
    work = make_work(case.system)
    copy_state(case.state, work.anchor)
    status, iterations, _ = solve(case.system, work, state, settings)
    return status, iterations, state


def solved_compiled(case: Problem, settings: Settings) -> tuple[int, int, State]:
    """The same by compiled code."""
    buffers = Buffers(case.skeleton, replace(case.assembly, system=case.system))
    for state in (buffers.state, buffers.work.anchor):
        copy_state(case.state, state)
    engine_for("numba")[0].solve_batch(buffers, settings, onward=True)
    return int(buffers.one.code[0]), int(buffers.one.iterations[0]), buffers.state


def with_seeds(case: Problem, count: int) -> Problem:
    random, s = np.random.default_rng(0), case.system
    low, high = np.where(s.bounded, s.lower, -1.0), np.where(s.bounded, s.upper, 1.0)
    return replace(case, system=s._replace(seeds=random.uniform(low, high, (count, len(s.lower)))))


def assert_same_answer(one: tuple[int, int, State], other: tuple[int, int, State]) -> None:
    assert one[:2] == other[:2]
    assert_close(one[2].x, other[2].x, 1e-6)
    assert_close(one[2].t, other[2].t, 1e-6)
    assert np.abs(np.abs(np.einsum("ki,ki->k", one[2].q, other[2].q)) - 1.0).max(initial=0.0) < 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_whole_solves_agree(seed: int) -> None:
    case = with_seeds(reachable(seed), 4)
    settings = Settings(max_iterations=80, restarts=4, pull=0.1 * (seed % 2))
    plain, fast = (solved(solve, case, settings) for solve in (levenberg_marquardt.minimise, engine.minimise))
    assert plain[0] == CONVERGED
    assert_same_answer(plain, fast)


def test_compiled_solves_agree() -> None:
    pytest.importorskip("numba")
    answers = []
    for seed in range(30):
        case = with_seeds(reachable(seed, 12), 4)
        settings = Settings(max_iterations=80, restarts=4, pull=0.1 * (seed % 2))
        answers.append([solved_compiled(case, settings), solved(engine.minimise, case, settings)])
    assert [one[0] for one, _ in answers] == [other[0] for _, other in answers]
    # Where a solve gets stuck, rounding decides where: only answers are compared.
    converged = [pair for pair in answers if pair[0][0] == CONVERGED]
    assert len(converged) >= 27
    for one, other in converged:
        assert_same_answer(one, other)


def world(case: Problem, state: State) -> Floats:
    """(K, 3) places by the skeleton's own forward kinematics."""
    rest = case.skeleton.rest_pose()
    rotations, translations = rest.rotations.copy(), rest.translations.copy()
    rotations[case.assembly.joints], translations[case.assembly.joints] = state.q, state.t
    return fk(case.skeleton, Pose(rotations, translations)).positions[case.assembly.joints]


@pytest.mark.parametrize("joints", [1, 2, 5, 64, 1000])
def test_forward_kinematics_of_chains_of_any_length(joints: int) -> None:
    skeleton = chain(joints)
    random = np.random.default_rng(joints)
    pose = replace(skeleton.rest_pose(), rotations=normalized(random.normal(size=(joints, 4))))
    case = problem(skeleton, [Goal.position(f"j{joints - 1}.tip", (0.1, 0.2, 0.3))], pose)
    residuals(case.system, case.work, case.state.q, case.state.t, case.state.e)
    assert_close(world(case, case.state), case.work.place, 1e-12)


def test_a_chain_of_five_thousand_reaches_its_target() -> None:
    case = problem(chain(5000), [Goal.position("j4999.tip", (0.3, 0.5, -0.1))], chain(5000).rest_pose())
    bent = chain(5000).rest_pose().rotations.copy()
    bent[:, 2], bent[:, 3] = np.sin(2e-4), np.cos(2e-4)
    case.state.q[:] = bent
    status, iterations, state = solved(engine.minimise, case, Settings())
    assert status == CONVERGED
    assert iterations < 30
    tip = world(case, state)[-1]
    assert np.linalg.norm(tip - [0.3, 0.5, -0.1]) < 2e-3


def test_no_dofs_leave_the_pose_as_it_is() -> None:
    random = np.random.default_rng(0)
    skeleton = random_skeleton(random, 5, [JointKind.FIXED])
    case = problem(skeleton, random_goals(random, skeleton), skeleton.rest_pose())
    assert len(case.system.lower) == 0
    for solve in (levenberg_marquardt.minimise, engine.minimise):
        status, iterations, state = solved(solve, case, Settings())
        assert status != CONVERGED
        assert iterations <= 1
        assert_close(case.state.q, state.q, 0.0)


def test_no_goals_are_met_at_once() -> None:
    skeleton = random_skeleton(np.random.default_rng(0), 5)
    case = problem(skeleton, [], skeleton.rest_pose())
    for solve in (levenberg_marquardt.minimise, engine.minimise):
        assert solved(solve, case, Settings())[:2] == (CONVERGED, 0)


@pytest.mark.parametrize("kind", GOAL_KINDS)
def test_goals_on_a_free_root_are_met_by_moving_it(kind: str) -> None:
    random = np.random.default_rng([*kind.encode()])
    skeleton = random_skeleton(random, 3, [JointKind.BALL])
    kinds, limits = (JointKind.FREE, *skeleton.kinds[1:]), (None, *skeleton.limits[1:])
    skeleton = replace(skeleton, kinds=kinds, limits=limits, stiffness=np.zeros(3))
    goal = replace(random_goals(random, skeleton, [kind])[0], effector="j0")
    case = problem(skeleton, [goal], skeleton.rest_pose())
    assert len(case.system.lower) == 6
    plain, fast = (solved(solve, case, Settings()) for solve in (levenberg_marquardt.minimise, engine.minimise))
    assert fast[0] == CONVERGED
    assert_same_answer(plain, fast)


def test_targets_may_be_rewritten_between_solves() -> None:
    case = reachable(3)
    before = solved(engine.minimise, case, Settings())[2]
    case.system.goal_target[:] += 0.05
    after = solved(engine.minimise, case, Settings())[2]
    fresh = replace(case, system=remade(case.system, (array.copy() for array in arrays_in(case.system))))
    assert_close(solved(engine.minimise, fresh, Settings())[2].q, after.q, 0.0)
    assert np.abs(after.q - before.q).max() > 1e-4


@pytest.mark.parametrize("far", [1e6, 1e30, 1e155, 1e300])
def test_targets_at_any_distance_leave_the_pose_finite(far: float) -> None:
    random = np.random.default_rng(4)
    skeleton = random_skeleton(random, 6)
    case = problem(skeleton, random_goals(random, skeleton), random_pose(random, skeleton))
    case.system.goal_target[:] *= far
    status, _, state = solved(engine.minimise, case, Settings(max_iterations=20))
    assert status != CONVERGED
    for array in (state.x, state.q, state.t):
        assert np.isfinite(array).all()


def test_the_dual_system_without_damping_takes_the_shortest_solution() -> None:
    case = random_problem(0, 3, ["position", "position"])
    work = make_work(case.system)
    work.gram[0, 0], wanted = 2.0, np.zeros(len(work.y))
    wanted[:2] = 1.0
    solve_dual(work, wanted, 0.0, work.y)
    assert work.y.tolist() == [0.5] + [0.0] * (len(work.y) - 1)


@pytest.mark.parametrize("backend", [PLAIN, FAST], ids=["kernels", "numpy"])
@pytest.mark.parametrize("seed", range(6))
def test_no_move_leaves_the_limits_or_unit_length(backend: types.SimpleNamespace, seed: int) -> None:
    case = random_problem(seed, 10)
    skeleton, joints, state = case.skeleton, case.assembly.joints, copied(case.state)
    assert (state.x <= case.system.upper).all()
    random = np.random.default_rng(seed)
    rest = skeleton.rest_pose()
    for _ in range(60):
        step = random.normal(size=len(case.system.lower)) * 0.8
        backend.move(case.system, case.work, step, state.x, state.q, state.t)
        rotations, translations = rest.rotations.copy(), rest.translations.copy()
        rotations[joints], translations[joints] = state.q, state.t
        assert limit_violation(skeleton, Pose(rotations, translations))[joints].max() < 1e-9
    assert np.abs(np.linalg.norm(state.q, axis=1) - 1.0).max() < 1e-12


def test_a_turn_is_the_same_rotation_by_either_sign() -> None:
    case = reachable(1)
    flipped = copied(case.state)
    flipped.q[:] = multiply(flipped.q, [0.0, 0.0, 0.0, -1.0])
    joints.into_limits(case.system, case.work, flipped.q, flipped.t, flipped.x)
    assert_close(case.state.x, flipped.x)
