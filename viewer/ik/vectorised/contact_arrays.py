"""The numpy backend: the rows that keep bodies apart. Formulas: `viewer.ik.kernels.contact_rows`."""

from __future__ import annotations

import numpy as np

from viewer.ik.contact.touching import find_near
from viewer.ik.kernels.contact_rows import CLOSER, EXACT, YIELDING
from viewer.ik.system import System, Work
from viewer.ik.vectorised.tables import joint_of_dof, kept
from viewer.spatial.checks import Floats


def measure_overlap(s: System, w: Work) -> None:
    """Find what overlaps in the pose of ``w.turn`` and ``w.place``: `ContactWork.overlap`."""
    count = find_near(s.contact, w.near, w.place, w.turn, 0.0)
    depth = np.maximum(-w.near.gap[:count], 0.0)
    w.contact.overlap[0] = w.contact.weight[0] * float(depth.dot(depth)) / s.scale[0] ** 2
    w.contact.overlap[1] = depth.max(initial=0.0) / s.contact.slack[0]


def note_contacts(s: System, w: Work) -> None:
    """Find what is near in the pose that `residuals` was last called with: the step begins here."""
    c, near = w.contact, w.near
    count = find_near(s.contact, near, w.place, w.turn, float(s.contact.near[0]))
    c.rows[0] = count
    for mine, found in ((c.joints, near.joints), (c.p, near.p), (c.q, near.q), (c.n, near.n), (c.gap, near.gap)):
        mine[:count] = found[:count]


@kept
def _moved_by(s: System) -> Floats:
    """(K + 1, n) 1 where a dof moves a joint, else 0; the last row is the world's."""
    moved = np.zeros((len(s.parent) + 1, len(s.lower)))
    joint = joint_of_dof(s)
    for k, parent in enumerate(s.parent.tolist()):
        moved[k] = moved[parent]
        moved[k, joint == k] = 1.0
    return moved


def _wrench(n: Floats, point: Floats) -> Floats:
    """(6, ...) of normals (..., 3) at points (..., 3): times a twist, it is the point's speed along its normal."""
    (x, y, z), (u, v, w) = point.T, n.T
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u, u, v, w))


def find_rates(s: System, w: Work) -> None:
    """Put by how much the step ``w.contact.u`` opens each gap into ``w.contact.rate``."""
    c, count = w.contact, w.contact.rows[0]
    motion = (_moved_by(s) * c.u).dot(c.twist)
    first, second = c.joints[:count].T
    n = c.n[:count]
    c.rate[:count] = (_wrench(n, c.p[:count]) * motion[first].T - _wrench(n, c.q[:count]) * motion[second].T).sum(
        axis=0
    )


def least_rates(gap: Floats) -> Floats:
    """The least by which a step has to open each gap."""
    return np.where(gap < 0.0, -gap, -CLOSER * gap)


def most_violated(s: System, w: Work) -> int:
    """The row outside the active set that ``c.rate`` violates most; -1: none."""
    c, count = w.contact, w.contact.rows[0]
    violation = np.where(c.active[:count], 0.0, least_rates(c.gap[:count]) - c.rate[:count])
    row = int(violation.argmax())
    return row if violation[row] > EXACT * s.contact.slack[0] else -1


def add_row(s: System, w: Work, at: int, row: int, damping: float) -> None:
    """Put a row into the active set, with the step that opens its gap and the entries of the gram."""
    c, m = w.contact, len(w.contact.residual)
    c.chosen[at], c.active[row] = row, True
    first, second = c.joints[row]
    moved = _moved_by(s)
    column = c.column[at]
    column[:] = moved[first] * c.twist.dot(_wrench(c.n[row], c.p[row]))
    column -= moved[second] * c.twist.dot(_wrench(c.n[row], c.q[row]))
    c.short[at] = least_rates(c.gap[row]) - column.dot(_in_spreads(s, w.step))
    column[w.frozen] = 0.0
    jacobian = w.jacobian[:, :m]
    dual = np.linalg.solve(w.factor[:m, :m], column.dot(jacobian))
    c.answer[at] = np.where(w.frozen, 0.0, column - jacobian.dot(dual)) / damping
    c.gram[: at + 1, at] = c.column[: at + 1].dot(c.answer[at])
    c.gram[at, :at] = c.gram[:at, at]


def _in_spreads(s: System, step: Floats) -> Floats:
    return np.divide(step, s.spread, out=np.zeros_like(step), where=s.spread != 0.0)


def solve_active(w: Work, count: int) -> None:
    """Find the pushes by which all rows of the active set are as open as they should be."""
    c = w.contact
    gram = c.gram[:count, :count]
    ridge = YIELDING * float(np.trace(gram)) / count
    c.push[:count] = np.linalg.lstsq(gram + ridge * np.eye(count), c.short[:count], rcond=None)[0]


def drop_row(w: Work, at: int, count: int) -> None:
    """Take a row out of the active set; the last one takes its place."""
    c, last = w.contact, count - 1
    c.active[c.chosen[at]] = False
    for table in (c.chosen, c.short, c.column, c.answer, c.gram, c.gram.T):
        table[at] = table[last]


def push_step(s: System, w: Work, count: int) -> None:
    """Put the goals' step with the pushes of the active set, in spreads, into ``w.contact.u``."""
    c = w.contact
    c.u[:] = _in_spreads(s, w.step) + c.push[:count].dot(c.answer[:count])


def take_step(s: System, w: Work) -> None:
    """Let ``w.contact.u`` be the step; frozen dofs keep theirs."""
    np.multiply(s.spread, w.contact.u, out=w.step, where=~w.frozen & (s.spread != 0.0))
