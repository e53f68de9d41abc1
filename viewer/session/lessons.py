"""Lessons: small scenes that open in the workspace Lab, with an exercise each that checks itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

import numpy as np

from viewer.document import Document, SolverSettings
from viewer.ik.goals import Goal
from viewer.ik.lab import Trace
from viewer.ik.methods.limb import two_link_algebraic, two_link_geometric
from viewer.ik.solution import Status
from viewer.session.demo_parts import Demo, Says, bent, hinged, opened, s_lock, sample
from viewer.skeleton import fk
from viewer.spatial.quaternion import angle_between

_BEHIND, _STRAIGHT, _CALM = 170.0, 12.0, 30.0
"""Degrees: a turn to a target behind the bone, the bend of an elbow whose branches are one, a calm iteration."""
_AGREE = 1e-6
_FEW, _ROUND = 12, 8.0
"""Iterations, and a condition far from singular."""
_NONE = Says("The methods are solving")

_AROUND = ((-1.5, -1.1, 0.0), (1.3, 1.2, 0.0))

_lesson = partial(Demo, view="planar", click_moves="tip", room=_AROUND)
"""A chain in a plane, whose target is where the user clicks."""


def _chain(name: str, degrees: tuple[float, ...], target: tuple[float, float], **settings: object) -> Document:
    """A chain of hinges in a plane, not solved yet."""
    skeleton = hinged(sample(f"chain-{len(degrees)}"), None)
    solver = SolverSettings(restarts=False, **settings)  # type: ignore[arg-type]
    goals = [Goal.position("tip", (*target, 0.0))]
    return opened(name, skeleton, bent(skeleton, degrees), goals, solver=solver, planar="xy")


def _steps(trace: Trace) -> list[float]:
    """Degrees that the joint that turns most turns in each iteration."""
    poses = [solution.pose for solution in trace.solutions]
    turns = [float(angle_between(a.rotations, b.rotations).max()) for a, b in pairwise(poses)]
    return np.degrees(turns).tolist() if turns else [0.0]


def _needs(*methods: str) -> Callable[[Callable[..., Says]], Callable[[Mapping[str, Trace]], Says]]:
    """A check that gets the traces of these methods, once all are there."""

    def wrap(check: Callable[..., Says]) -> Callable[[Mapping[str, Trace]], Says]:
        def checked(traces: Mapping[str, Trace]) -> Says:
            return check(*(traces[name] for name in methods)) if all(name in traces for name in methods) else _NONE

        return checked

    return wrap


@_needs("single-bone")
def _points(single: Trace) -> Says:
    turn = _steps(single)[0]
    return Says(f"One turn by {turn:.1f}°", "ok" if turn > _BEHIND else "idle")


@_needs("two-link")
def _both_ways(two: Trace) -> Says:
    skeleton, goal = two.solver.skeleton, two.solver.goals[0]
    shoulder = fk(skeleton, two.start).positions[-2]
    x, y, _ = (np.array(goal.target) - shoulder).tolist()
    lengths = float(np.linalg.norm(skeleton.offsets[-1])), float(np.linalg.norm(skeleton.effectors[0].offset))
    ways = [np.degrees(two_link_algebraic(x, y, lengths, branch)) for branch in (1, -1)]
    others = [np.degrees(two_link_geometric(x, y, lengths, branch)) for branch in (1, -1)]
    apart = float(np.abs(np.subtract(ways, others)).max())
    bend = float(abs(ways[0][1]))
    if bend < _STRAIGHT:
        return Says(f"Elbow {bend:.1f}°: the two ways are one", "ok")
    agree = "algebra and geometry agree" if apart < _AGREE else f"they differ by {apart:.2g}°"
    return Says(f"Elbow {bend:.0f}° or {-bend:.0f}°: {agree}")


@_needs("ccd", "ccd-from-base")
def _sweeps(tip: Trace, base: Trace) -> Says:
    counts = tip.last.iterations, base.last.iterations
    words = f"Iterations: {counts[0]} from the tip, {counts[1]} from the base"
    won = base.last.status is Status.CONVERGED and counts[1] < counts[0]
    return Says(words, "ok" if won else "idle")


@_needs("transpose")
def _slow(transpose: Trace) -> Says:
    met = transpose.last.status is Status.CONVERGED
    return Says(f"Transpose: {transpose.how}", "ok" if met and transpose.last.iterations <= _FEW else "idle")


@_needs("pseudo-inverse", "dls")
def _singular(pseudo: Trace, damped: Trace) -> Says:
    sizes = pseudo.jacobian(0).singular_values  # in a plane there are two; the third is 0
    condition = sizes[0] / sizes[1] if sizes[1] > 0.0 else np.inf
    turns = f"{max(_steps(pseudo)):.0f}° at once, damped {max(_steps(damped)):.0f}°"
    return Says(f"Condition {condition:.3g}; {turns}", "ok" if condition < _ROUND else "warn")


@_needs("dls")
def _damping(damped: Trace) -> Says:
    largest_turn, count = max(_steps(damped)), damped.last.iterations
    if damped.last.status is not Status.CONVERGED or count > _FEW:
        return Says(f"It crawls: {damped.how}", "warn")
    if largest_turn > _CALM:
        return Says(f"It jerks: {largest_turn:.0f}° at once", "warn")
    return Says(f"Met after {count}, {largest_turn:.0f}° at most", "ok")


@_needs("dls", "sdls")
def _selective(damped: Trace, selective: Trace) -> Says:
    words = f"dls: {damped.how}; sdls: {selective.how}"
    met = selective.last.status is Status.CONVERGED
    return Says(words, "ok" if met and selective.last.iterations < damped.last.iterations else "idle")


@_needs("ccd", "default")
def _locked(ccd: Trace, default: Trace) -> Says:
    both = ccd.last.status is Status.CONVERGED and default.last.status is Status.CONVERGED
    return Says(f"ccd: {ccd.how}; default: {default.how}", "ok" if both else "idle")


def _single() -> Document:
    return _chain("joint", (20.0,), (-0.55, 0.35), method="single-bone")


def _two(name: str, degrees: tuple[float, float], target: tuple[float, float]) -> Document:
    """The arm of 1 m and 0.8 m, not solved yet."""
    skeleton = hinged(sample("two-link"), None)
    goals, solver = [Goal.position("tip", (*target, 0.0))], SolverSettings(method="two-link", restarts=False)
    return opened(name, skeleton, bent(skeleton, degrees), goals, solver=solver, planar="xy")


LESSONS = (
    _lesson(
        id="joint",
        title="One joint",
        words=(
            "One joint points at the target by a turn about r x d, by atan2 of sine and cosine: acos fails at 180°.",
            "Exercise: click right behind the bone, so that it turns by more than 170°.",
        ),
        build=_single,
        lab=("single-bone", "ccd"),
        check=_points,
    ),
    _lesson(
        id="branches",
        title="Both ways of two links",
        words=(
            "Two links reach a target with the elbow up or down; the solver panel derives both angles.",
            "Exercise: click to where the two branches become one.",
        ),
        build=lambda: _two("branches", (10.0, 60.0), (0.9, 1.0)),
        room=((-1.9, -0.6, 0.0), (1.9, 1.9, 0.0)),
        lab=("two-link", "default"),
        check=_both_ways,
    ),
    _lesson(
        id="sweeps",
        title="CCD from both ends",
        words=(
            "CCD turns one joint at a time: from the tip the last bones curl, from the base the first ones swing.",
            "Exercise: find a target that the sweeps from the base meet first.",
        ),
        build=lambda: _chain("sweeps", (40.0, -30.0, 25.0, 15.0, -20.0, 10.0), (-0.6, 0.3), method="ccd"),
        lab=("ccd", "ccd-from-base", "fabrik"),
        check=_sweeps,
    ),
    _lesson(
        id="transpose",
        title="The transpose and its step",
        words=(
            "The transpose follows the slope of the error by the best step of the linear model: safe and slow.",
            "Exercise: find a target that it meets within 12 iterations.",
        ),
        build=lambda: _chain("transpose", (60.0, -40.0, 30.0, 20.0), (0.45, 0.6), method="transpose"),
        lab=("transpose", "dls", "default"),
        check=_slow,
    ),
    _lesson(
        id="singular",
        title="The pseudo-inverse at a singularity",
        words=(
            "A straight arm cannot move along itself: a singular value is almost 0, and its inverse throws the joints.",
            "Exercise: bend the arm (FK) until the condition at the start is below 8. The Jacobian (J) shows why.",
        ),
        build=lambda: _chain("singular", (90.5, -1.0, 1.0), (0.1, 0.7), method="dls", damping=0.5, truncation=1e-9),
        lab=("pseudo-inverse", "dls", "transpose"),
        check=_singular,
    ),
    _lesson(
        id="damping",
        title="Damping: neither jerk nor crawl",
        words=(
            "Much damping makes small, safe steps, little damping large ones that throw the arm about.",
            "Exercise: set Damping so that dls is there within 12 iterations, none of which turns a joint by 30°.",
        ),
        build=lambda: _chain("damping", (90.5, -1.0, 1.0), (-0.3, 0.6), method="dls", damping=1.5),
        lab=("dls", "sdls"),
        check=_damping,
    ),
    _lesson(
        id="selective",
        title="SDLS has no slider",
        words=(
            "Selectively damped least squares damps each singular vector by what it would do: nothing to choose.",
            "Exercise: find a target that sdls meets in fewer iterations than dls with this damping.",
        ),
        build=lambda: _chain("selective", (60.0, -50.0, 40.0, 10.0), (0.1, 0.1), method="dls", damping=0.1),
        lab=("sdls", "dls", "pseudo-inverse"),
        check=_selective,
    ),
    _lesson(
        id="lock",
        title="The lock of an S, and the way out",
        words=(
            "Each joint alone can only make it worse, so CCD stays; default restarts from other poses and gets there.",
            "Exercise: click to where CCD gets, too. Step through the iterations with , and .",
        ),
        build=lambda: s_lock("lock", "default"),
        room=((-1.3, -0.15, 0.0), (0.55, 1.15, 0.0)),
        lab=("default", "ccd", "dls", "fabrik"),
        check=_locked,
    ),
    _lesson(
        id="misprints",
        title="Misprints of the sources",
        words=(
            "Formulas of well-known texts as printed and as they should be, tried on this arm where a drag began.",
            "The tab Misprints has them. Click: near the shoulder, to the left, out of reach.",
        ),
        build=lambda: _two("misprints", (30.0, 50.0), (-0.8, 0.7)),
        room=((-1.9, -0.6, 0.0), (1.9, 1.9, 0.0)),
        lab=("two-link", "dls"),
        panel="misprints",
    ),
)
"""In the order of the menu."""
