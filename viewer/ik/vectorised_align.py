"""The numpy backend: where a solve or a restart puts its roots. `viewer.ik.kernels_align` says why and whence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.ik import kernels
from viewer.ik.kernels_align import FEWEST, LEVER, POWERS
from viewer.ik.vectorised_algebra import matrices
from viewer.spatial.quaternion import multiply, rotate

if TYPE_CHECKING:
    from viewer.ik.system import System, Work
    from viewer.spatial.checks import Floats, Ints

_BEGIN = np.array([0.01, 0.02, 0.03, 1.0])


def align_roots(s: System, w: Work, q: Floats, t: Floats, fewest: int) -> None:
    """Turn and move every free root, in place, so that the goals below it fit best; with too few it stays."""
    free = (s.parent < 0) & (s.moves == 3) & (s.form == kernels.TURNS)
    for root in np.flatnonzero(free).tolist():
        goals = np.arange(s.goal_low[root], s.goal_high[root])
        kind = s.goal_kind[goals]
        places = goals[((kind == kernels.POSITION) | (kind == kernels.POSE)) & (s.goal_weight[goals] > 0.0)]
        turns = goals[(kind == kernels.ROTATION) | (kind == kernels.POSE)]
        if s.spread[s.first[root]] > 0.0 and len(places) >= max(1, fewest) and len(places) + len(turns) >= 2:
            _align(s, w, root, places, turns, q, t)


def _align(s: System, w: Work, root: int, places: Ints, turns: Ints, q: Floats, t: Floats) -> None:
    """As `align_roots`, for one root and the goals below it that ask for places and rotations."""
    weight = (s.goal_weight[places] ** 2)[:, None]
    here = (weight * w.point[places]).sum(axis=0) / weight.sum()
    there = (weight * s.goal_target[places]).sum(axis=0) / weight.sum()
    products = (weight * (w.point[places] - here)).T @ (s.goal_target[places] - there)
    # An effector's three axes are points at a lever's length.
    lever = (s.goal_rotation_weight[turns] * LEVER) ** 2
    axes, wanted = matrices(w.turn[s.goal_joint[turns]].T), matrices(s.goal_rotation[turns].T)
    products += np.einsum("ian,jan->ij", lever * axes, wanted)
    turn = _best_turn(products)
    q[root] = multiply(turn, q[root])
    t[root] = there + rotate(turn, t[root] - here)


def _best_turn(products: Floats) -> Floats:
    """The turn that fits best, from the sums of products of both clouds' coordinates (3, 3)."""
    skewed, size = products - products.T, 1.8 * np.linalg.norm(products) + 1e-12
    matrix = np.empty((4, 4))
    matrix[:3, :3] = products + products.T - np.trace(products) * np.eye(3)
    matrix[3, :3] = matrix[:3, 3] = skewed[1, 2], skewed[2, 0], skewed[0, 1]
    matrix[3, 3] = np.trace(products)
    turn = np.linalg.matrix_power(matrix / size + np.eye(4), POWERS) @ _BEGIN
    return np.asarray(turn / np.linalg.norm(turn))


def stand_roots(s: System, w: Work, q: Floats, t: Floats) -> None:
    """Turn every free root about the vertical and move it, in place, so that the goals below it fit best."""
    free = (s.parent < 0) & (s.moves == 3) & (s.form == kernels.TURNS)
    for root in np.flatnonzero(free).tolist():
        goals = np.arange(s.goal_low[root], s.goal_high[root])
        kind = s.goal_kind[goals]
        places = goals[((kind == kernels.POSITION) | (kind == kernels.POSE)) & (s.goal_weight[goals] > 0.0)]
        if s.spread[s.first[root]] > 0.0 and len(places) >= FEWEST:
            _stand(s, w, root, places, q, t)


def _stand(s: System, w: Work, root: int, places: Ints, q: Floats, t: Floats) -> None:
    """As `stand_roots`, for one root and the goals below it that ask for places."""
    weight = ((s.goal_weight[places] * s.goal_trust[places]) ** 2)[:, None]
    here = (weight * w.point[places]).sum(axis=0) / weight.sum()
    there = (weight * s.goal_target[places]).sum(axis=0) / weight.sum()
    a, b = w.point[places] - here, s.goal_target[places] - there
    sine = (weight[:, 0] * (a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2])).sum()
    cosine = (weight[:, 0] * (a[:, 0] * b[:, 0] + a[:, 2] * b[:, 2])).sum()
    half = 0.5 * np.arctan2(sine, cosine)
    turn = np.array([0.0, np.sin(half), 0.0, np.cos(half)])
    q[root] = multiply(turn, q[root])
    t[root] = there + rotate(turn, t[root] - here)
