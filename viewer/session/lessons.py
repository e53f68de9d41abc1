"""Lessons: small scenes that open in the workspace Lab, with an exercise each that checks itself.

The last one tries misprints of well-known texts on an arm in a plane: links of lengths l1 and l2, angles t1 and t2 (the
second relative to the first link), a target (x, y) from the shoulder.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.document import Document, SolverSettings, stand_of, world_of
from viewer.ik.goals import Goal
from viewer.ik.lab import Trace
from viewer.ik.methods.limb import two_link_algebraic, two_link_geometric
from viewer.ik.solution import Status
from viewer.session.demo_parts import Demo, DemoText, bent, hinged, opened, s_lock, sample, two_links
from viewer.skeleton import Pose, fk
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import angle_between

_BEHIND, _STRAIGHT, _CALM = 170.0, 12.0, 30.0
"""Degrees: a turn to a target behind the bone, the bend of an elbow whose branches are one, a calm iteration."""
_AGREE = 1e-6
_FEW, _ROUND = 12, 8.0
"""Iterations, and a condition far from singular."""
_NONE = DemoText("The methods are solving")

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


def _needs(*methods: str) -> Callable[[Callable[..., DemoText]], Callable[[Mapping[str, Trace]], DemoText]]:
    """A check that gets the traces of these methods, once all are there."""

    def wrap(check: Callable[..., DemoText]) -> Callable[[Mapping[str, Trace]], DemoText]:
        def checked(traces: Mapping[str, Trace]) -> DemoText:
            return check(*(traces[name] for name in methods)) if all(name in traces for name in methods) else _NONE

        return checked

    return wrap


@_needs("single-bone")
def _points(single: Trace) -> DemoText:
    turn = _steps(single)[0]
    return DemoText(f"One turn by {turn:.1f}°", "ok" if turn > _BEHIND else "idle")


@_needs("two-link")
def _both_ways(two: Trace) -> DemoText:
    skeleton, goal = two.solver.skeleton, two.solver.goals[0]
    shoulder = fk(skeleton, two.start).positions[-2]
    x, y, _ = (np.array(goal.target) - shoulder).tolist()
    lengths = float(np.linalg.norm(skeleton.offsets[-1])), float(np.linalg.norm(skeleton.effectors[0].offset))
    ways = [np.degrees(two_link_algebraic(x, y, lengths, branch)) for branch in (1, -1)]
    others = [np.degrees(two_link_geometric(x, y, lengths, branch)) for branch in (1, -1)]
    apart = float(np.abs(np.subtract(ways, others)).max())
    bend = float(abs(ways[0][1]))
    if bend < _STRAIGHT:
        return DemoText(f"Elbow {bend:.1f}°: the two ways are one", "ok")
    agree = "algebra and geometry agree" if apart < _AGREE else f"they differ by {apart:.2g}°"
    return DemoText(f"Elbow \N{PLUS-MINUS SIGN}{bend:.0f}°: {agree}")


@_needs("ccd", "ccd-from-base")
def _sweeps(tip: Trace, base: Trace) -> DemoText:
    counts = tip.last.iterations, base.last.iterations
    words = f"Iterations: {counts[0]} from the tip, {counts[1]} from the base"
    won = base.last.status is Status.CONVERGED and counts[1] < counts[0]
    return DemoText(words, "ok" if won else "idle")


@_needs("transpose")
def _slow(transpose: Trace) -> DemoText:
    met = transpose.last.status is Status.CONVERGED
    return DemoText(f"Transpose: {transpose.how}", "ok" if met and transpose.last.iterations <= _FEW else "idle")


@_needs("pseudo-inverse", "dls")
def _singular(pseudo: Trace, damped: Trace) -> DemoText:
    sizes = pseudo.jacobian(0).singular_values  # in a plane there are two; the third is 0
    condition = sizes[0] / sizes[1] if sizes[1] > 0.0 else np.inf
    turns = f"{max(_steps(pseudo)):.0f}° at once, damped {max(_steps(damped)):.0f}°"
    return DemoText(f"Condition {condition:.3g}; {turns}", "ok" if condition < _ROUND else "warn")


@_needs("dls")
def _damping(damped: Trace) -> DemoText:
    largest_turn, count = max(_steps(damped)), damped.last.iterations
    if damped.last.status is not Status.CONVERGED or count > _FEW:
        return DemoText(f"It crawls: {damped.how}", "warn")
    if largest_turn > _CALM:
        return DemoText(f"It jerks: {largest_turn:.0f}° at once", "warn")
    return DemoText(f"Met after {count}, {largest_turn:.0f}° at most", "ok")


@_needs("dls", "sdls")
def _selective(damped: Trace, selective: Trace) -> DemoText:
    words = f"dls: {damped.how}; sdls: {selective.how}"
    met = selective.last.status is Status.CONVERGED
    return DemoText(words, "ok" if met and selective.last.iterations < damped.last.iterations else "idle")


@_needs("ccd", "default")
def _locked(ccd: Trace, default: Trace) -> DemoText:
    both = ccd.last.status is Status.CONVERGED and default.last.status is Status.CONVERGED
    return DemoText(f"ccd: {ccd.how}; default: {default.how}", "ok" if both else "idle")


def _single() -> Document:
    return _chain("joint", (20.0,), (-0.55, 0.35), method="single-bone")


LESSONS = (
    _lesson(
        id="joint",
        title="One joint",
        words=(
            "One joint points at the target by a turn about r x d, by atan2 of sine and cosine: acos fails at 180°.",
            "Exercise: click right behind the bone as it starts (Ctrl+Home), so that it turns by more than 170°.",
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
        build=lambda: two_links("branches", (10.0, 60.0), (0.9, 1.0)),
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
            "Exercise: click a place that CCD reaches, too. Step through the iterations with , and .",
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
        build=lambda: two_links("misprints", (30.0, 50.0), (-0.8, 0.7)),
        room=((-1.9, -0.6, 0.0), (1.9, 1.9, 0.0)),
        lab=("two-link", "dls"),
        panel="misprints",
    ),
)


# --- misprints


class Arm(NamedTuple):
    """Two links in a plane, and a target: metres and radians, from the shoulder."""

    l1: float
    l2: float
    t1: float
    t2: float
    x: float
    y: float

    @property
    def target(self) -> Floats:
        """(2,)."""
        return np.array([self.x, self.y])

    @property
    def elbow(self) -> Floats:
        """(2,) its position."""
        return self.l1 * np.array([math.cos(self.t1), math.sin(self.t1)])

    def tip(self, t1: float, t2: float) -> Floats:
        """(2,) the end of the second link at other angles."""
        upper = np.array([math.cos(t1), math.sin(t1)])
        return self.l1 * upper + self.l2 * np.array([math.cos(t1 + t2), math.sin(t1 + t2)])

    @property
    def end(self) -> Floats:
        """(2,) the end of the second link."""
        return self.tip(self.t1, self.t2)

    @property
    def jacobian(self) -> Floats:
        """(2, 2) how the end moves with the angles."""
        lever = np.array([self.end, self.end - self.elbow])
        return np.array([-lever[:, 1], lever[:, 0]])

    def miss(self, t1: float, t2: float) -> float:
        """Metres between the end at these angles and the target; NaN for angles that are no numbers."""
        return float(np.linalg.norm(self.tip(t1, t2) - self.target))

    def bend(self) -> float:
        """The positive one of the two elbow angles that give the target's distance; clamped."""
        cosine = (self.x**2 + self.y**2 - self.l1**2 - self.l2**2) / (2.0 * self.l1 * self.l2)
        return math.acos(min(max(cosine, -1.0), 1.0))


@dataclass(frozen=True, slots=True)
class Misprint:
    """One formula.

    ``source`` is the text, ``printed`` what it says, ``right`` the correct formula; ``tried`` computes the results of
    both for an arm.
    """

    source: str
    printed: str
    right: str
    tried: Callable[[Arm], tuple[str, str]]


def arm_of(document: Document, start: Pose) -> Arm | None:
    """The arm of a document with two links in a plane, in a pose, and its target; None of another document."""
    skeleton = document.skeleton
    if len(skeleton) != 2 or not document.goals:
        return None
    goal = document.goals[0]
    if goal.position is None:
        return None
    shoulder, elbow = world_of(skeleton, start).positions[:2]
    upper, lower = elbow - shoulder, stand_of(document.with_pose(start), goal).point - elbow
    if not min(_length(upper), _length(lower)) > 0.0:
        return None
    target = np.array(goal.position) - shoulder
    t1 = math.atan2(upper[1], upper[0])
    t2 = math.remainder(math.atan2(lower[1], lower[0]) - t1, 2.0 * math.pi)
    return Arm(_length(upper), _length(lower), t1, t2, float(target[0]), float(target[1]))


def _length(vector: Floats) -> float:
    return float(np.hypot(vector[0], vector[1]))


def _mm(metres: float) -> str:
    return "no number" if not math.isfinite(metres) else f"misses by {1000.0 * metres:.1f} mm"


def _elbow_place(arm: Arm) -> tuple[str, str]:
    x, y = arm.elbow.tolist()
    return f"({x:.2f}, {y:.2f}) as an angle", f"({x:.2f}, {y:.2f}) m: the elbow"


def _shoulder(arm: Arm) -> tuple[str, str]:
    t2 = arm.bend()
    above = -arm.l2 * math.sin(t2) * arm.x + (arm.l1 + arm.l2 * math.cos(t2)) * arm.y
    below = arm.l2 * math.sin(t2) * arm.y + (arm.l1 + arm.l2 * math.cos(t2)) * arm.x
    printed = above / below if below != 0.0 else math.nan
    return _mm(arm.miss(printed, t2)), _mm(arm.miss(math.atan2(above, below), t2))


def _branches(arm: Arm) -> tuple[str, str]:
    square = arm.x**2 + arm.y**2
    cosine = (square - arm.l1**2 - arm.l2**2) / (2.0 * arm.l1 * arm.l2)
    if abs(cosine) > 1.0:
        return f"acos of {cosine:.2f}: no number", "clamped: the arm points at the target"
    angle = math.degrees(math.acos(cosine))
    return f"one: {angle:.0f}°", f"two: {angle:.0f}° and {-angle:.0f}°"


def _reach(arm: Arm) -> tuple[str, str]:
    distance = math.hypot(arm.x, arm.y)
    printed = "in reach" if distance <= arm.l1 + arm.l2 else "too far"
    right = "too near" if distance < abs(arm.l1 - arm.l2) else printed
    return f"{distance:.2f} m: {printed}", f"{distance:.2f} m: {right}"


def _notation(arm: Arm) -> tuple[str, str]:
    step = np.array([0.1, 0.0])
    x, y = (arm.jacobian @ step).tolist()
    return "a function of the velocities", f"0.1 rad/s at the shoulder: ({x:.2f}, {y:.2f}) m/s"


def _column(arm: Arm) -> tuple[str, str]:
    step = 1e-6
    true = (arm.tip(arm.t1 + step, arm.t2) - arm.tip(arm.t1 - step, arm.t2)) / (2.0 * step)
    away = arm.target - arm.end
    printed, right = np.array([-away[1], away[0]]), np.array([-arm.end[1], arm.end[0]])
    off = [f"{np.linalg.norm(one - true):.3f} m/rad off" for one in (printed, right)]
    return off[0], off[1]


def _rank(arm: Arm) -> tuple[str, str]:
    straight = arm._replace(t2=0.0).jacobian
    determinant = float(np.linalg.det(straight @ straight.T))
    step = np.linalg.pinv(straight) @ (arm.target - arm._replace(t2=0.0).end)
    found = f"by SVD: {np.degrees(np.abs(step).max()):.0f}° at most"
    return f"straight arm: det(J J^T) = {abs(determinant):.0e}, no inverse", found


def _increments(arm: Arm) -> tuple[str, str]:
    change = np.linalg.pinv(arm.jacobian, rcond=1e-3) @ (0.1 * (arm.target - arm.end))
    before = arm.miss(arm.t1, arm.t2)
    printed, right = arm.miss(*change.tolist()), arm.miss(arm.t1 + change[0], arm.t2 + change[1])
    return _from_to(before, printed), _from_to(before, right)


def _from_to(before: float, after: float) -> str:
    return f"{1000.0 * before:.0f} mm becomes {1000.0 * after:.0f} mm"


def _quadrants(arm: Arm) -> tuple[str, str]:
    t2 = arm.bend()
    ratio = math.atan(arm.y / arm.x) if arm.x != 0.0 else math.nan
    across, along = arm.l2 * math.sin(t2), arm.l1 + arm.l2 * math.cos(t2)
    inner = math.atan(across / along) if along != 0.0 else math.nan
    right = math.atan2(arm.y, arm.x) - math.atan2(across, along)
    return _mm(arm.miss(ratio - inner, math.pi - t2)), _mm(arm.miss(right, t2))


def _ccd_angle(arm: Arm) -> tuple[str, str]:
    angle = _turn(arm.end - arm.elbow, arm.target - arm.elbow)
    before = arm.miss(arm.t1, arm.t2)
    return _from_to(before, arm.miss(arm.t1, abs(angle))), _from_to(before, arm.miss(arm.t1, arm.t2 + angle))


def _turn(a: Floats, b: Floats) -> float:
    """Radians from one direction (2,) to another."""
    return math.atan2(float(a[0] * b[1] - a[1] * b[0]), float(a @ b))


def _descendants(arm: Arm) -> tuple[str, str]:
    moved = arm._replace(t1=arm.t1 + _turn(arm.end, arm.target))
    ends = arm.end + (moved.elbow - arm.elbow), moved.end
    translated, rotated = (f"{math.degrees(abs(_turn(end, arm.target))):.1f}° off the target" for end in ends)
    return translated, rotated


def _antiparallel(arm: Arm) -> tuple[str, str]:  # noqa: ARG001 - a bone along Z
    return "a bone along Z stays: 180° off", "any axis across the bone: 0° off"


def _missing(arm: Arm) -> tuple[str, str]:
    e, jacobian = arm.target - arm.end, arm.jacobian
    response = jacobian @ jacobian.T @ e
    alpha = float(e @ response) / max(float(response @ response), 1e-300)
    damped = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 0.01 * np.eye(2), e)
    left = [float(np.linalg.norm(e - jacobian @ step)) for step in (alpha * jacobian.T @ e, damped)]
    return "no formula", f"linear model leaves {1000.0 * left[0]:.0f} mm and {1000.0 * left[1]:.0f} mm"


def _facing(arm: Arm) -> tuple[str, str]:  # noqa: ARG001 - facing exactly away
    return "facing away: gradient 0, stays", "facing away: error 180°, turns"


def _diagonal(arm: Arm) -> tuple[str, str]:
    e = arm.target - arm.end
    change = np.linalg.pinv(arm.jacobian, rcond=1e-3) @ e
    return "a matrix of 2 x 2", f"{math.degrees(change[0]):.0f}° and {math.degrees(change[1]):.0f}°"


MISPRINTS = (
    Misprint("Lander, eq. 1", "θ2 = (L1 cos θ1, L1 sin θ1)", "the elbow O2 = (L1 cos θ1, L1 sin θ1)", _elbow_place),
    Misprint(
        "Lander, eq. 6",
        "θ1 = a ratio, without arctangent",
        "θ1 = atan2(-(L2 sin θ2) x + (L1 + L2 cos θ2) y, (L2 sin θ2) y + (L1 + L2 cos θ2) x)",
        _shoulder,
    ),
    Misprint("Lander, eq. 5", "θ2 = acos(...)", "θ2 = ± acos(...), its argument clamped: two branches", _branches),
    Misprint("Lander, reach", "d <= L1 + L2", "|L1 - L2| <= d <= L1 + L2", _reach),
    Misprint("Kenwright, eq. 6 and 9", "v = J(w), w the speeds of the joints", "v = J w, so w = pinv(J) v", _notation),
    Misprint(
        "Kenwright, eq. 13",
        "r x (target - end)",
        "axis x (end - pivot), in world axes; a column per degree of freedom",
        _column,
    ),
    Misprint("Kenwright, eq. 2", "pinv(J) = J^T (J J^T)^-1", "only at full row rank; otherwise SVD or damping", _rank),
    Misprint("Kenwright, Wikibooks", "sets the angles to pinv(J) e", "adds pinv(J) e to the angles", _increments),
    Misprint(
        "Cutchins, two links",
        "180 - acos(...), arctan of ratios",
        "± acos(clamped), atan2 for both terms",
        _quadrants,
    ),
    Misprint(
        "Cutchins, CCD",
        "θ = acos(t·e) / (|t||e|)",
        "θ += atan2(t x e, t·e), about the start of the bone",
        _ccd_angle,
    ),
    Misprint("Wikibooks, CCD", "descendants are translated", "descendants are rotated, too", _descendants),
    Misprint("Wikibooks, opposite", "half a turn about Z", "half a turn about any axis across the bone", _antiparallel),
    Misprint(
        "Wikibooks, transpose and damping",
        "(formulas missing)",
        "k J^T e with k = <e, J J^T e> / <J J^T e, J J^T e>;  J^T (J J^T + λ² I)^-1 e",
        _missing,
    ),
    Misprint("Robot, facing", "1 - dot", "the rotation vector from the axis to the target", _facing),
    Misprint("Robot, Δ", "diag(distance) times the inverse", "Δ = k pinv(J) (target - end)", _diagonal),
)
"""In the order of the panel."""
