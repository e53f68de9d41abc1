"""The numpy backend: the loop with vectorised steps. It is always there; `viewer.ik.compiled` is the faster one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from viewer.ik import active_set, algebra, levels, levenberg_marquardt, problems
from viewer.ik.algebra import Quaternion
from viewer.ik.arm_search import is_arm, join_bones, search_arm
from viewer.ik.backends import twins
from viewer.ik.kernels.contact_rows import penalty
from viewer.ik.kernels.starts import FEWEST, LEVER, POWERS
from viewer.ik.system import Problems, Settings, State, System, Work
from viewer.ik.vectorised.forward_arrays import (
    add_row,
    drop_row,
    find_rates,
    kept,
    most_violated,
    push_step,
    residuals,
    solve_active,
    take_step,
)
from viewer.ik.vectorised.joint_arrays import difference, into_limits, move, prefer, reseed
from viewer.ik.vectorised.step_arrays import (
    cap,
    excess_loss,
    fill_row,
    freeze,
    gram,
    less_pull,
    linearise,
    predicted_ease,
    put_excess,
    put_row,
    put_table,
    scale_columns,
    scale_row,
    shorten,
    solve_dual,
    spread_step,
    stiffen,
    substitute,
    yield_swings,
)
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.columns import matrices

_BEGIN = np.array([0.01, 0.02, 0.03, 1.0])
_IDENTITY = np.eye(4)


class Root(NamedTuple):
    """A root that may move and turn, and the goals below it.

    Attributes:
        joint, dof: the root and its first dof.
        places, turns: (P,), (T,) goals with positions, and with rotations.
    """

    joint: int
    dof: int
    places: Ints
    turns: Ints


@kept
def _roots(s: System) -> tuple[Root, ...]:
    free = (s.parent < 0) & (s.moves == 3) & (s.form == algebra.TURNS)
    roots = []
    for joint in np.flatnonzero(free).tolist():
        goals = np.arange(s.goals_from[joint], s.goals_to[joint])
        places = goals[s.goal_lengths[goals] == 3]
        turns = goals[(s.goal_angles[goals] == 3) & ~s.goal_looks[goals]]
        roots.append(Root(joint, int(s.first[joint]), places, turns))
    return tuple(roots)


class Clouds(NamedTuple):
    """Positions of the effectors below a root, and of their targets.

    Attributes:
        here, there: centroids, by weight.
        products: (3, 3) sums of products of both clouds' coordinates from these, by weight.
    """

    here: list[float]
    there: list[float]
    products: Floats


def _clouds(s: System, w: Work, places: Ints, weight: Floats) -> Clouds | None:
    """The clouds of weighted position goals; None where all weights are 0."""
    weight = weight * weight
    total = np.add.reduce(weight)
    if total == 0.0:
        return None
    points = np.concatenate([w.point.take(places, axis=0), s.goal_target.take(places, axis=0)], axis=1)
    centre = weight.dot(points) / total
    points -= centre
    x, y, z, *there = centre.tolist()
    return Clouds([x, y, z], there, (points[:, :3].T * weight).dot(points[:, 3:]))


def align_roots(s: System, w: Work, q: Floats, t: Floats, fewest: int) -> bool:
    """Turn and move every free root, in place, so that the goals below it fit best; with too few it stays."""
    moved = False
    for root in _roots(s):
        places, turns = root.places, root.turns
        enough = len(places) >= max(1, fewest) and len(places) + len(turns) >= 2
        if s.spread[root.dof] > 0.0 and enough:
            clouds = _clouds(s, w, places, s.goal_weight[places])
            if clouds is not None:
                products = clouds.products
                if len(turns):
                    products = products + _axes(s, w, turns)
                _put(root.joint, _best_turn(products), clouds, q, t)
                moved = True
    return moved


def _axes(s: System, w: Work, turns: Ints) -> Floats:
    """The share of goals with rotations: an effector's three axes are points at a lever's length."""
    lever = (s.goal_rotation_weight[turns] * LEVER) ** 2
    axes, wanted = matrices(w.turn[s.goal_joint[turns]].T), matrices(s.goal_rotation[turns].T)
    return np.asarray(np.einsum("ian,jan->ij", lever * axes, wanted))


def _best_turn(products: Floats) -> Quaternion:
    """The rotation that fits best, from the sums (3, 3) of products of both clouds' coordinates."""
    skewed, trace = products - products.T, float(np.einsum("ii", products))
    size = 1.8 * math.sqrt(np.vdot(products, products)) + 1e-12
    matrix = np.empty((4, 4))
    np.subtract(products + products.T, trace * _IDENTITY[:3, :3], out=matrix[:3, :3])
    matrix[:3, 3] = skewed[1, 2], skewed[2, 0], skewed[0, 1]
    matrix[3, :3], matrix[3, 3] = matrix[:3, 3], trace
    x, y, z, r = np.dot(np.linalg.matrix_power(matrix / size + _IDENTITY, POWERS), _BEGIN).tolist()
    length = math.sqrt(x * x + y * y + z * z + r * r)
    return x / length, y / length, z / length, r / length


def stand_roots(s: System, w: Work, q: Floats, t: Floats) -> None:
    """Turn every free root about the vertical and move it, in place, so that the goals below it fit best."""
    for root in _roots(s):
        places = root.places
        if s.spread[root.dof] > 0.0 and len(places) >= FEWEST:
            clouds = _clouds(s, w, places, s.goal_weight[places] * s.goal_trust[places])
            if clouds is not None:
                (xx, _, xz), _, (zx, _, zz) = clouds.products.tolist()
                half = 0.5 * math.atan2(zx - xz, xx + zz)
                _put(root.joint, (0.0, math.sin(half), 0.0, math.cos(half)), clouds, q, t)


def _put(root: int, turn: Quaternion, clouds: Clouds, q: Floats, t: Floats) -> None:
    """Turn a root about the clouds' centroids, and move it from the one to the other."""
    (hx, hy, hz), (ox, oy, oz) = clouds.here, clouds.there
    x, y, z = t[root].tolist()
    x, y, z = algebra.turned(*turn, x - hx, y - hy, z - hz)
    q[root], t[root] = algebra.product(*turn, *q[root].tolist()), (ox + x, oy + y, oz + z)


# --- the steps and the loop


STEPS: dict[str, Any] = {
    function.__name__: function
    for function in (
        add_row, align_roots, cap, difference, drop_row, excess_loss, fill_row, find_rates, freeze, gram, into_limits,
        is_arm, join_bones, search_arm,
        less_pull, linearise, most_violated, move, penalty, predicted_ease, prefer, push_step, put_excess, put_row,
        put_table, reseed, residuals, scale_columns, scale_row, shorten, solve_active, solve_dual, spread_step,
        stand_roots, stiffen, substitute, take_step, yield_swings,
    )
}  # fmt: skip
"""The steps of the loop."""

LOOPS = (active_set, levenberg_marquardt, levels, problems)
"""The modules whose functions each backend runs with steps of its own."""

_Minimise: TypeAlias = Callable[[System, Work, State, Settings], tuple[int, int, float]]


def _overflowing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose overflows give infinity without a warning, as in compiled code."""

    def run(*arguments: object) -> object:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


_twins = twins(LOOPS, STEPS)
begin = _twins["begin"]
"""`viewer.ik.problems.begin` with this backend's steps."""
minimise: _Minimise = _overflowing(_twins["minimise"])
"""`viewer.ik.levenberg_marquardt.minimise` with these steps."""
follow: _Minimise = _overflowing(_twins["follow"])
"""`viewer.ik.levels.follow` with these steps."""
_solve_batch = _overflowing(_twins["solve_batch"])


def solve_batch(workspace: Problems, settings: Settings, *, onward: bool) -> None:
    """`viewer.ik.problems.solve_batch` with this backend's steps, on a workspace's problems."""
    _solve_batch(*workspace.arrays, settings, workspace.one, onward)


__all__ = ["LOOPS", "STEPS", "begin", "follow", "into_limits", "minimise", "residuals", "solve_batch"]
