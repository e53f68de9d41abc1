"""Goals for balance: the centre of mass stays above the support of the figure, inside it by a margin.

The support polygon is found where a solve, or a step of a drag, begins, and kept during it: the hull of the feet, knees
and hands that are pinned or touch the floor, shrunk by the margin. Rows are the horizontal vector from the centre of
mass to that polygon, 0 inside it: the goal has no effect as long as the figure is in balance.
"""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.algebra import turned
from viewer.ik.goals.goal import Goal, Number, Unit
from viewer.ik.goals.kind import Constants, FileKey, Kind, Measure, Places, Rows, no_drawing, one_by_one
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton
from viewer.skeleton.tree import rest_tree
from viewer.spatial.checks import Floats, Ints

MARGIN = Number(
    name="margin",
    unit=Unit.LENGTH,
    title="Margin",
    hint="How far inside the support polygon the centre of mass is to stay",
    least=0.0,
    default=0.03,
    expected="a finite number, 0 or more",
)
_HALVINGS = 12
"""Bisections of a margin that is too large for the polygon: to a few thousandths of the largest one."""


def balance_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = the horizontal vector from the centre of mass to the polygon, and how moves of that centre change it."""
    put_moments(s, w, g)
    return way_to_support(s, w, g, row, e)


def put_moments(s: System, w: Work, g: int) -> None:
    """The mass below each joint, times where its centre is, into ``w.moment``: one pass from the leaves."""
    moment = w.moment[g - len(s.goal_kind) + len(s.share)]
    for k in range(len(s.mass)):
        x, y, z = turned(
            w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3],
            s.mass_moment[k, 0], s.mass_moment[k, 1], s.mass_moment[k, 2],
        )  # fmt: skip
        moment[k, 0] = x + s.mass[k] * w.place[k, 0]
        moment[k, 1] = y + s.mass[k] * w.place[k, 1]
        moment[k, 2] = z + s.mass[k] * w.place[k, 2]
    for k in range(len(s.mass) - 1, -1, -1):
        p = s.parent[k]
        if p >= 0:
            for i in range(3):
                moment[p, i] += moment[k, i]


def way_to_support(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """`balance_residual`, with the moments known."""
    moment = w.moment[g - len(s.goal_kind) + len(s.share)]
    x = z = 0.0
    for k in range(len(s.mass)):
        if s.parent[k] < 0:
            x += moment[k, 0]
            z += moment[k, 2]
    for i in range(2):
        e[row + i] = 0.0
        for j in range(3):
            w.by_move[g, i, j] = 0.0
    count = s.corners[0]
    w.miss[g, 0] = 0.0 if count > 0 else math.nan
    inside, least = count > 2, math.inf
    mx = mz = ux = uz = 0.0
    on_edge = False
    for c in range(count):
        after = c + 1 if c + 1 < count else 0
        ax, az = s.support[c, 0], s.support[c, 1]
        dx, dz = s.support[after, 0] - ax, s.support[after, 1] - az
        square = dx * dx + dz * dz
        if dx * (z - az) - dz * (x - ax) > 0.0:
            inside = False
        part = 0.0
        if square > 0.0:
            part = max(0.0, min(1.0, (dx * (x - ax) + dz * (z - az)) / square))
        vx, vz = ax + part * dx - x, az + part * dz - z
        if vx * vx + vz * vz < least:
            least, mx, mz = vx * vx + vz * vz, vx, vz
            on_edge = 0.0 < part < 1.0
            if on_edge:
                length = math.sqrt(square)
                ux, uz = dx / length, dz / length
    if count == 0 or inside:
        return 0.0
    w.miss[g, 0] = math.sqrt(least)
    e[row], e[row + 1] = s.goal_weight[g] * mx, s.goal_weight[g] * mz
    # Beside an edge, motion along it does not count.
    w.by_move[g, 0, 0] = w.by_move[g, 1, 2] = 1.0
    if on_edge:
        w.by_move[g, 0, 0], w.by_move[g, 0, 2] = 1.0 - ux * ux, -ux * uz
        w.by_move[g, 1, 0], w.by_move[g, 1, 2] = -ux * uz, 1.0 - uz * uz
    return float(w.miss[g, 0] / s.tolerance[0]) if s.goal_weight[g] > 0.0 else 0.0


def balance_residuals(s: System, w: Work, frames: Floats, some: Places, places: Ints, e: Floats) -> float:
    """`balance_residual` of some goals."""
    moment = np.einsum("ijn,jn->in", frames[:, :, :-1], s.mass_moment.T).T + s.mass[:, None] * w.place
    for k in range(len(s.mass) - 1, 0, -1):
        if s.parent[k] >= 0:
            moment[s.parent[k]] += moment[k]
    w.moment[np.arange(len(s.goal_kind))[some] - len(s.goal_kind) + len(s.share)] = moment
    return float(s.tolerance[0]) * one_by_one(way_to_support, s, w, some, places, e)


def find_support(s: System, w: Work) -> None:
    """Find the support polygon of the pose that `residuals` was last called with, shrunk: ``s.support``.

    The hull by Andrew's monotone chain; its half planes are moved inwards, and cut it (Sutherland and Hodgman). Where
    the polygon is too small for the margin, its middle remains.
    """
    count = find_hull(s, w)
    s.corners[0] = count
    for c in range(count):
        s.support[c, 0], s.support[c, 1] = w.hull[c, 0], w.hull[c, 1]
    if count < 3:
        return
    margin = 0.0
    for g in range(len(s.goal_kind) - len(s.share), len(s.goal_kind)):
        if s.goal_other[g] < 0:
            # An error below the tolerance is inside by the whole margin.
            margin = max(margin, s.goal_numbers[g, 0] + s.tolerance[0])
    left = shrink(s, w, count, margin)
    if left > 0:
        return
    low, high = 0.0, margin
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if shrink(s, w, count, middle) > 0:
            low = middle
        else:
            high = middle
    shrink(s, w, count, low)


def find_hull(s: System, w: Work) -> int:
    """Put the hull of the touching points into ``w.hull``, anticlockwise in z and x; returns its number of corners."""
    points = 0
    for p in range(len(s.stand_joint)):
        k = s.stand_joint[p]
        x, y, z = turned(
            w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3],
            s.stand_offset[p, 0], s.stand_offset[p, 1], s.stand_offset[p, 2],
        )  # fmt: skip
        if y + w.place[k, 1] > s.stand_level[p]:
            continue
        x, z = x + w.place[k, 0], z + w.place[k, 2]
        # In order of x, then z; each place once.
        at = points
        while at > 0 and (w.touching[at - 1, 0] > x or (w.touching[at - 1, 0] == x and w.touching[at - 1, 1] > z)):
            at -= 1
        if at > 0 and w.touching[at - 1, 0] == x and w.touching[at - 1, 1] == z:
            continue
        for i in range(points, at, -1):
            w.touching[i, 0], w.touching[i, 1] = w.touching[i - 1, 0], w.touching[i - 1, 1]
        w.touching[at, 0], w.touching[at, 1] = x, z
        points += 1
    if points < 3:
        for i in range(points):
            w.hull[i, 0], w.hull[i, 1] = w.touching[i, 0], w.touching[i, 1]
        return points
    count = 0
    for side in range(2):
        start = count
        for i in range(points):
            at = i if side == 0 else points - 1 - i
            x, z = w.touching[at, 0], w.touching[at, 1]
            while count - start >= 2 and not turns_right(w, count, x, z):
                count -= 1
            w.hull[count, 0], w.hull[count, 1] = x, z
            count += 1
        count -= 1
    return count


def turns_right(w: Work, count: int, x: float, z: float) -> bool:
    """Whether the path over the last two corners of the hull to a point turns inwards."""
    ax, az = w.hull[count - 2, 0], w.hull[count - 2, 1]
    bx, bz = w.hull[count - 1, 0], w.hull[count - 1, 1]
    return bool((bx - ax) * (z - az) - (bz - az) * (x - ax) < 0.0)


def shrink(s: System, w: Work, count: int, margin: float) -> int:
    """Put the hull shrunk by a margin into ``s.support``; returns its number of corners."""
    left = count
    for c in range(count):
        s.support[c, 0], s.support[c, 1] = w.hull[c, 0], w.hull[c, 1]
    for c in range(count):
        after = c + 1 if c + 1 < count else 0
        ax, az = w.hull[c, 0], w.hull[c, 1]
        dx, dz = w.hull[after, 0] - ax, w.hull[after, 1] - az
        length = math.sqrt(dx * dx + dz * dz)
        kept = 0
        for i in range(left):
            j = i + 1 if i + 1 < left else 0
            px, pz, qx, qz = s.support[i, 0], s.support[i, 1], s.support[j, 0], s.support[j, 1]
            here = ((pz - az) * dx - (px - ax) * dz) / -length - margin
            there = ((qz - az) * dx - (qx - ax) * dz) / -length - margin
            if here >= 0.0:
                w.clipped[kept, 0], w.clipped[kept, 1] = px, pz
                kept += 1
            if here * there < 0.0:
                part = here / (here - there)
                w.clipped[kept, 0], w.clipped[kept, 1] = px + part * (qx - px), pz + part * (qz - pz)
                kept += 1
        for i in range(kept):
            s.support[i, 0], s.support[i, 1] = w.clipped[i, 0], w.clipped[i, 1]
        left = kept
    s.corners[0] = left
    return left


def balance_constants(goal: Goal, skeleton: Skeleton) -> Constants:
    """The margin; the joint is the end of the longest way from a root, by which lengths are scaled."""
    return Constants(rest_tree(skeleton).longest(int(skeleton.roots[0]))[-1], (0.0, 0.0, 0.0), (goal.number("margin"),))


KIND = Kind(
    word="balance",
    title="Balance",
    hint="Keep the centre of mass above what the figure stands on",
    rows=(Rows(Measure.CENTER, balance_residual, balance_residuals),),
    keys={"margin": FileKey("margin", "How far inside the support polygon, metres.", MARGIN)},
    named_by="",
    since=2,
    constants=balance_constants,
    drawing=no_drawing,  # the window draws balance by other means
    firm=True,
)
KINDS = (KIND,)
