"""Skeleton and goals -> `System`: how the joints move, which of them take part, and the goals' rows and weights.

The solver's settings fit figures of about a metre and goals of weight 1. Everything is therefore measured in the
problem's own units: a mouse and a crane, and goals that all weigh a thousand times as much, are solved in the same way.
Units are powers of 16: multiplying by them costs no digits, and figures of about a metre are measured in metres.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from viewer.ik import algebra
from viewer.ik.contact.volumes import Volumes, no_volumes
from viewer.ik.goals import CODES, KINDS, Goal
from viewer.ik.goals.kind import AT_TARGET, Constants, Kind
from viewer.ik.system import System
from viewer.skeleton import JointKind, LimitForm, Skeleton, effector_of, joint_space
from viewer.skeleton.balance import Points, mass_points, standing_points
from viewer.skeleton.limits import Following
from viewer.skeleton.tree import at_or_above, depth_first, upwards
from viewer.spatial.checks import Bools, Floats, Integers, Ints, frozen
from viewer.spatial.quaternion import axes_of

_COORDINATES = {
    JointKind.HINGE: algebra.HINGE,
    JointKind.UNIVERSAL: algebra.UNIVERSAL,
    JointKind.SLIDE: algebra.SLIDE,
    JointKind.FIXED: algebra.FIXED,
}
_ROTATING = (algebra.HINGE, algebra.UNIVERSAL)
_DOFS = {algebra.FIXED: 0, algebra.HINGE: 1, algebra.SLIDE: 1, algebra.UNIVERSAL: 2}


@dataclass(frozen=True, slots=True, eq=False)
class DofTable:
    """How a skeleton's joints move under given options; made once, used for any goals.

    Attributes:
        form, moves: (J,) as in `System`.
        counts: (J,) dofs of each joint.
        order: (J, 3) as in `System`.
        basis: (J, 4) as in `System`.
        lower, upper, spread, turning: (J, 6) per dof, unused columns ignored.
        depth_first: (J,) joints in depth-first order.
        arms: joints of the arms of a recognised figure.
    """

    skeleton: Skeleton
    form: Ints
    moves: Ints
    counts: Ints
    order: Ints
    basis: Floats
    lower: Floats
    upper: Floats
    spread: Floats
    turning: Floats
    depth_first: Ints
    arms: frozenset[int]


def dof_table_of(
    skeleton: Skeleton,
    spreads: Floats,
    *,
    limits: bool,
    root: str,
    arms: frozenset[int] = frozenset(),
    principal: tuple[Floats, Floats] | None = None,
) -> DofTable:
    """The dofs of all joints.

    Args:
        skeleton: the joints.
        spreads: (J, 3) how readily each joint moves about its axes (or along its coordinates), 1 = ordinary.
        limits: whether limits bind.
        root: "free", "translate" or "locked": what free roots may do.
        arms: joints of a figure's arms (`viewer.ik.mobility.arm_joints`).
        principal: (J, 4) and (J, 3): axes, and spreads about them, of joints that turn without limits
            (`viewer.ik.mobility.principal`); their own, and ``spreads``, unless given.
    """
    count = len(skeleton)
    form, moves = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    order = np.tile(np.arange(3, dtype=np.int64), (count, 1))
    space = joint_space(skeleton)
    for joint, (kind, ranges) in enumerate(zip(skeleton.kinds, skeleton.limits, strict=True)):
        if kind is JointKind.FREE:
            form[joint] = algebra.TURNS if root == "free" else algebra.FIXED
            moves[joint] = 0 if root == "locked" else 3
        elif kind is not JointKind.BALL:
            form[joint] = _COORDINATES[kind]
        elif ranges is None or not limits:
            form[joint] = algebra.TURNS
        elif ranges.form is LimitForm.EULER:
            form[joint], order[joint] = algebra.EULER, axes_of(ranges.order)
        else:
            twist = ranges.twist_axis
            form[joint], order[joint] = algebra.SWING_TWIST, ((twist + 1) % 3, (twist + 2) % 3, twist)
    turns = np.array([_DOFS.get(code, 3) for code in form.tolist()], dtype=np.int64)
    lower, upper = np.full((count, 6), -np.inf), np.full((count, 6), np.inf)
    spread, turning = np.ones((count, 6)), np.zeros((count, 6))
    basis, about = principal or (np.zeros((count, 4)), spreads)
    free = form == algebra.TURNS
    basis = np.where(free[:, None] & (principal is not None), basis, (0.0, 0.0, 0.0, 1.0))
    for joint in range(count):
        at, to = moves[joint], moves[joint] + turns[joint]
        # Balls' columns stand per axis x, y, z; their dofs in the order of their angles.
        columns = order[joint] if turns[joint] == 3 else np.arange(turns[joint])
        if limits and form[joint] not in (algebra.TURNS, algebra.FIXED):
            lower[joint, at:to], upper[joint, at:to] = space.lower[joint, columns], space.upper[joint, columns]
        turning[joint, at:to] = space.circular[joint, columns] | (form[joint] in _ROTATING)
        spread[joint, at:to] = (about if free[joint] else spreads)[joint, columns]
    spread *= (1.0 - skeleton.stiffness)[:, None]
    first = np.array(depth_first(skeleton), dtype=np.intp)
    return DofTable(skeleton, form, moves, moves + turns, order, basis, lower, upper, spread, turning, first, arms)


@lru_cache(maxsize=16)
def joint_tables(skeleton: Skeleton) -> tuple[Any, ...]:
    """Read-only tables of all joints, by which `viewer.ik.compiled.entry.measure_pose` measures poses."""
    dofs, space = dof_table_of(skeleton, np.ones((len(skeleton), 3)), limits=True, root="free"), joint_space(skeleton)
    ranges = np.stack([space.lower, space.upper, space.middle, space.period])
    tables = skeleton.rest_rotations, skeleton.axes, skeleton.offsets, ranges
    return frozen(dofs.form, np.int64), frozen(dofs.order, np.int64), *map(frozen, tables)


_HAND_TRUST = 0.5
"""Weight of a hand in the fit of the root: a hand tells less about position and heading of the body than a foot."""
_EASE = 0.02
"""Part of a dof's range, at each end, that holds do not push the dof into."""
_WEIGHTS = attrgetter("weight", "rotation_weight")
_TARGETS_AND_WEIGHTS = frozenset({"target", "target_rotation", "weight", "rotation_weight"})
_REST = attrgetter(*(part.name for part in fields(Goal) if part.name not in _TARGETS_AND_WEIGHTS))


@dataclass(frozen=True, slots=True, eq=False)
class Assembly:
    """A `System`, and the skeleton's joints and goals that its indices refer to.

    Attributes:
        joints: (K,) the skeleton's joint of each of the system's.
        goals: (G,) the index of each of the system's goals in the given list.
        spared: (G,) whether it is a hold of a level below another: missing it is no failure.
    """

    system: System
    joints: Ints
    goals: Ints
    spared: Bools

    def fails(self, miss: Floats, overlap: float) -> bool:
        """Whether goals other than such holds are missed, or bodies overlap.

        ``miss`` (G, 2): metres, radians; ``overlap``: how far, in units of what counts as touching.
        """
        return overlap > 1.0 or bool((miss[~self.spared] > self.system.tolerance).any())


def assemble(
    dofs: DofTable,
    goals: Sequence[Goal],
    tolerance: tuple[float, float],
    *,
    levels: bool = False,
    contact: Volumes | None = None,
    floor: float = 0.0,
) -> Assembly:
    """The arrays of a solve, without seeds; goals that are disabled or functions have no rows.

    With a function goal every joint takes part, because the function may read any of them; so it does with contact,
    which numbers the joints in depth-first order. Without ``levels`` all goals have the same level. ``floor`` is the
    height, in metres, that the figure stands on.

    Raises:
        InputError: an effector that is not there.
    """
    parts = _parts(dofs, goals, everything=contact is not None)
    picked, parent = parts.goals, parts.parent
    joint_fields, goal_fields, stance = _of_joints(parts, dofs), _of_goals(parts, dofs), _stance(parts, goals, floor)
    first, goal_joint = joint_fields["first"], goal_fields["goal_joint"]
    follow_fields = _of_followers(parts, first)
    reach = lengths_above(parent, joint_fields["offset"])[goal_joint]
    reach += np.linalg.norm(goal_fields["goal_offset"], axis=-1)
    length = unit_near(float(reach.max(initial=0.0)))
    dof_fields = _of_dofs(parts, dofs, length, follow_fields)
    row_fields = _of_rows(parts, goal_fields, stance["mass"], follow_fields, first)
    live = np.zeros(len(parent), dtype=np.bool_)
    live[np.repeat(np.arange(len(parent)), np.diff(first))[dof_fields["spread"] > 0.0]] = True
    goal_group, group = groups_of(live, row_fields["goals_from"], row_fields["goals_to"], len(picked))
    # Through contact any goal may be in the way of any other.
    if contact is not None or len(row_fields["share"]) or len(follow_fields["follower"]):
        goal_group, group = np.zeros_like(goal_group), np.zeros_like(group)
    goal_level = _levels_of(picked) if levels else np.zeros(len(picked), dtype=np.int64)
    holds = np.array([goal.hold for goal in picked], dtype=np.bool_)
    spared = holds & (goal_level < goal_level.max(initial=0))
    system = System(
        **joint_fields,
        **goal_fields,
        **follow_fields,
        **dof_fields,
        **row_fields,
        **stance,
        **_weights(picked, goals, goal_level, length),
        group=group,
        goal_group=goal_group,
        goal_reach=reach + summed_from_root(parent, dof_fields["slides"])[goal_joint],
        goal_level=goal_level,
        tolerance=np.array(tolerance),
        seeds=np.zeros((0, int(first[-1]))),
        ease=_ease(dof_fields["lower"], dof_fields["upper"], holding=bool(spared.any())),
        preferred=np.zeros(0),
        preferred_turn=np.zeros((0, 4)),
        preference=np.zeros(0),
        contact=no_volumes() if contact is None else contact,
    )
    return Assembly(system, parts.joints, np.array(parts.served, dtype=np.intp), spared)


class _Parts(NamedTuple):
    """The joints and goals of a system.

    Attributes:
        skeleton: the joints that there are.
        joints: (K,) those that take part, in depth-first order.
        here: (J + 1,) the place of each joint among them, -1: it takes no part; the last one stands for no joint.
        parent: (K,) as in `System`.
        served: the places of the system's goals in the given list.
        goals: these goals, in the order of their rows: first those of one joint, then those of several.
        fixed: their constants.
        lone: how many goals are of one joint.
        masses: of the skeleton, where a goal is for balance.
        follows: joints of the skeleton that follow others.
    """

    skeleton: Skeleton
    joints: Ints
    here: Ints
    parent: Ints
    served: list[int]
    goals: list[Goal]
    fixed: list[Constants]
    kinds: list[Kind]
    lone: int
    masses: Points | None
    follows: Following


def _parts(dofs: DofTable, goals: Sequence[Goal], *, everything: bool) -> _Parts:
    """The goals with rows, and the joints on the way to their effectors, or ``everything``."""
    skeleton = dofs.skeleton
    served = [i for i, goal in enumerate(goals) if goal.enabled and KINDS[goal.kind].built_in]
    constants = {i: KINDS[goals[i].kind].constants(goals[i], skeleton) for i in served}
    functions = any(goal.enabled and not KINDS[goal.kind].built_in for goal in goals)
    masses = mass_points(skeleton) if any(KINDS[goals[i].kind].balances for i in served) else None
    ends = [joint for one in constants.values() for joint in (one.joint, one.other)]
    taking_part = at_or_above(skeleton.parents, [*ends, *(masses.joints.tolist() if masses is not None else [])])
    taking_part |= functions or everything
    follows = joint_space(skeleton).following
    pairs = np.stack([follows.joint, follows.leader], axis=1)
    while (half := taking_part[pairs].any(axis=1) & ~taking_part[pairs].all(axis=1)).any():
        # A follower and its leader take part together.
        taking_part |= at_or_above(skeleton.parents, pairs[half].ravel().tolist())
    joints = dofs.depth_first[taking_part[dofs.depth_first]]
    here = np.full(len(skeleton) + 1, -1, dtype=np.int64)
    here[joints] = np.arange(len(joints))
    served.sort(key=lambda i: (KINDS[goals[i].kind].of_several_limbs, int(here[constants[i].joint])))
    kinds = [KINDS[goals[i].kind] for i in served]
    return _Parts(
        skeleton=skeleton,
        joints=joints,
        here=here,
        parent=here[skeleton.parents[joints]],
        served=served,
        goals=[goals[i] for i in served],
        fixed=[constants[i] for i in served],
        kinds=kinds,
        lone=sum(not kind.of_several_limbs for kind in kinds),
        masses=masses,
        follows=follows,
    )


def _of_joints(parts: _Parts, dofs: DofTable) -> dict[str, Any]:
    """The fields of a `System` for its joints."""
    skeleton, joints = parts.skeleton, parts.joints
    return {
        "parent": parts.parent,
        "form": dofs.form[joints],
        "moves": dofs.moves[joints],
        "first": np.concatenate([[0], np.cumsum(dofs.counts[joints])]).astype(np.int64),
        "rest": skeleton.rest_rotations[joints],
        "offset": skeleton.offsets[joints],
        "axes": skeleton.axes[joints],
        "order": dofs.order[joints],
        "basis": dofs.basis[joints],
    }


def _of_goals(parts: _Parts, dofs: DofTable) -> dict[str, Any]:
    """The fields for goals that depend neither on their weights nor on the joints above them."""
    goals, fixed, kinds, here = parts.goals, parts.fixed, parts.kinds, parts.here
    shells = [kind.shell(goal) for kind, goal in zip(kinds, goals, strict=True)]
    joint = np.array([here[one.joint] for one in fixed], dtype=np.int64)
    return {
        "goal_kind": np.array([CODES[goal.kind] for goal in goals], dtype=np.int64),
        "goal_joint": joint,
        "goal_row": _first_rows(kinds)[:-1].copy(),
        "goal_lengths": np.array([kind.lengths for kind in kinds], dtype=np.int64),
        "goal_angles": np.array([kind.angles for kind in kinds], dtype=np.int64),
        "goal_has_shell": np.array([shell is not None for shell in shells], dtype=np.bool_),
        "goal_aims": np.array([kind.aims for kind in kinds], dtype=np.bool_),
        "goal_one_joint": np.array([kind.of_one_joint for kind in kinds], dtype=np.bool_),
        "goal_offset": table([one.offset for one in fixed], 3),
        "goal_target": _points(goals),
        "goal_rotation": _rotations(goals),
        "goal_numbers": _numbers(fixed),
        "goal_shell": table([(shell or AT_TARGET)[:2] for shell in shells], 2),
        "goal_along": table([(shell or AT_TARGET).along for shell in shells], 3),
        "goal_middle": here[[one.middle for one in fixed]],
        "goal_upper": here[[one.upper for one in fixed]],
        "goal_other": here[[one.other for one in fixed]],
        "goal_mean": np.array([kind.of_mean for kind in kinds], dtype=np.bool_),
        "goal_root": _roots(parts.parent)[joint],
        "goal_trust": np.array([_HAND_TRUST if one in dofs.arms else 1.0 for one in parts.joints[joint].tolist()]),
    }


def _first_rows(kinds: Sequence[Kind]) -> Ints:
    """(G + 1,) the first row of each goal, and their count."""
    return np.concatenate([[0], np.cumsum([kind.count for kind in kinds])]).astype(np.int64)


def _of_followers(parts: _Parts, first: Ints) -> dict[str, Any]:
    """The fields for joints that follow others."""
    follows, here = parts.follows, parts.here
    ours = np.flatnonzero(here[follows.joint] >= 0)
    followers, leaders = here[follows.joint[ours]], here[follows.leader[ours]]
    return {
        "follower": first[followers],
        "leader": first[leaders],
        "follower_joint": followers.astype(np.int64),
        "leader_joint": leaders.astype(np.int64),
        "ratio": follows.ratio[ours],
        "shift": follows.offset[ours],
    }


def _of_dofs(parts: _Parts, dofs: DofTable, length: float, follow: dict[str, Any]) -> dict[str, Any]:
    """The fields for dofs; ``length`` is the unit of length in metres."""
    joints = parts.joints
    used = np.arange(6) < dofs.counts[joints][:, None]
    lower, upper = dofs.lower[joints][used], dofs.upper[joints][used]
    carries = np.arange(6) < dofs.moves[joints][:, None]
    is_slide = dofs.form[joints] == algebra.SLIDE
    unit = np.where(carries | is_slide[:, None], length, 1.0)
    spread = dofs.spread[joints] * unit
    followers, leaders = follow["follower_joint"], follow["leader_joint"]
    # A leader moves only where its followers may.
    spread[leaders[spread[followers, 0] == 0.0], 0] = 0.0
    lower[follow["follower"]], upper[follow["follower"]] = -np.inf, np.inf
    most = np.maximum(np.abs(dofs.lower[joints, 0]), np.abs(dofs.upper[joints, 0]))
    most[spread[:, 0] == 0.0] = 0.0
    most[followers] = np.abs(follow["ratio"]) * most[leaders] + np.abs(follow["shift"])
    slides = np.where(is_slide, most, 0.0)
    carries[:, 0] |= np.isinf(slides)
    carries[leaders, 0] |= np.isinf(slides[followers])
    carries[followers, 0] = False
    return {
        "lower": lower,
        "upper": upper,
        "spread": spread[used],
        "unit": unit[used],
        "bounded": np.isfinite(lower) & np.isfinite(upper),
        "turning": dofs.turning[joints][used] > 0.0,
        "slides": slides,
        "carries": carries[used],
    }


def _of_rows(parts: _Parts, goal: dict[str, Any], mass: Floats, follow: dict[str, Any], first: Ints) -> dict[str, Any]:
    """The fields that say which rows and goals each joint moves, and with it each limb."""
    lone, parent = parts.lone, parts.parent
    effectors, last = goal["goal_joint"][:lone], last_descendants(parent)
    goals_from = np.searchsorted(effectors, np.arange(len(parent)), side="left").astype(np.int64)
    goals_to = np.searchsorted(effectors, last, side="right").astype(np.int64)
    share = _shares(parent, goal["goal_joint"][lone:], goal["goal_other"][lone:], goal["goal_mean"][lone:], mass)
    low, high = _row_ranges(_first_rows(parts.kinds), goals_from, goals_to, share)
    pairs = zip(follow["follower_joint"].tolist(), follow["leader_joint"].tolist(), strict=True)
    for follower, leader in pairs:
        if low[follower] < high[follower]:
            empty = low[leader] == high[leader]
            low[leader] = low[follower] if empty else min(low[leader], low[follower])
            high[leader] = high[follower] if empty else max(high[leader], high[follower])
    limbs = _limbs(low, high)
    return {
        "low": low,
        "high": high,
        "goals_from": goals_from,
        "goals_to": goals_to,
        "limb_first": np.append(first[limbs], first[-1:]),
        "limb_low": low[limbs],
        "limb_high": high[limbs],
        "share": share,
    }


def with_goals(assembly: Assembly, goals: Sequence[Goal], before: Sequence[Goal]) -> Assembly:
    """The assembly for goals that differ from its own, ``before``, in targets and weights alone (`same_rows`)."""
    picked = [goals[i] for i in assembly.goals.tolist()]
    system = assembly.system._replace(goal_target=_points(picked), goal_rotation=_rotations(picked))
    if list(map(_WEIGHTS, goals)) != list(map(_WEIGHTS, before)):
        system = system._replace(**_weights(picked, goals, system.goal_level, float(system.scale[0])))
    return replace(assembly, system=system)


def same_rows(goals: Sequence[Goal], others: Sequence[Goal]) -> bool:
    """Whether two lists of goals differ only in targets and weights."""
    return len(goals) == len(others) and all(a is b or _REST(a) == _REST(b) for a, b in zip(goals, others, strict=True))


def _ease(lower: Floats, upper: Floats, *, holding: bool) -> Floats:
    """(n,) the part of each dof's range for ease where there are holds that give way, else 0."""
    bounded = np.isfinite(lower) & np.isfinite(upper) & holding
    return np.where(bounded, _EASE * np.subtract(upper, lower, where=bounded, out=np.zeros_like(lower)), 0.0)


def _points(goals: Sequence[Goal]) -> Floats:
    return table([goal.target or (0.0, 0.0, 0.0) for goal in goals], 3)


def _rotations(goals: Sequence[Goal]) -> Floats:
    return table([goal.target_rotation or (0.0, 0.0, 0.0, 1.0) for goal in goals], 4)


def _numbers(fixed: Sequence[Constants]) -> Floats:
    """(G, n) the numbers of goals, 0 behind those of goals that have fewer."""
    found = np.zeros((len(fixed), max([1, *(len(one.numbers) for one in fixed)])))
    for row, one in zip(found, fixed, strict=True):
        row[: len(one.numbers)] = one.numbers
    return found


def table(rows: Sequence[object], width: int) -> Floats:
    """(N, width) rows, also without any."""
    return np.array(rows, dtype=np.float64).reshape(-1, width)


def last_descendants(parent: Ints) -> Ints:
    """(K,) the last joint of each joint's subtree, in depth-first order."""
    last = np.arange(len(parent), dtype=np.int64)
    for k in range(len(parent) - 1, 0, -1):
        if parent[k] >= 0:
            last[parent[k]] = max(last[parent[k]], last[k])
    return last


def _limbs(low: Ints, high: Ints) -> Ints:
    """(L,) joints that move other rows than the joint before them."""
    return np.flatnonzero(np.diff(low, prepend=-1) | np.diff(high, prepend=-1))


def _stance(parts: _Parts, goals: Sequence[Goal], floor: float) -> dict[str, Any]:
    """The fields for balance: masses by joints of the system, and what the figure may stand on; else empty."""
    skeleton, here, masses = parts.skeleton, parts.here, parts.masses
    count = len(parts.joints) if masses is not None else 0
    mass, moment = np.zeros(count), np.zeros((count, 3))
    joint, offsets, levels = np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros(0)
    if masses is not None:
        np.add.at(mass, here[masses.joints], masses.values)
        np.add.at(moment, here[masses.joints], masses.values[:, None] * masses.offsets)
        pinned = [goal for goal in goals if goal.enabled and goal.pinned and KINDS[goal.kind].sets_position]
        fixed = {effector_of(skeleton, goal.effector).joint for goal in pinned}
        points, heights = standing_points(skeleton, floor, fixed)
        part = here[points.joints] >= 0
        joint, offsets, levels = here[points.joints[part]].astype(np.int64), points.offsets[part], heights[part]
    return {
        "mass": mass,
        "mass_moment": moment,
        "stand_joint": joint,
        "stand_offset": offsets,
        "stand_level": levels,
        "support": np.zeros((2 * len(joint) + 2, 2)),
        "corners": np.zeros(1, dtype=np.int64),
    }


def _shares(parent: Ints, effector: Ints, base: Ints, mean: Bools, mass: Floats) -> Floats:
    """(R, K) of goals (R,) of several joints: see `System`; the base of those for balance is -1."""
    share = np.zeros((len(effector), len(parent)))
    below = mass.copy()
    for k in range(len(mass) - 1, 0, -1):
        if parent[k] >= 0:
            below[parent[k]] += below[k]
    for row, one, other, of_mean in zip(share, effector.tolist(), base.tolist(), mean.tolist(), strict=True):
        if other < 0:
            row[:] = below
            continue
        for end, part in zip((one, other), (0.5, 0.5) if of_mean else (1.0, -1.0), strict=True):
            row[upwards(parent, end)] += part
    return share


def _row_ranges(rows: Ints, goals_from: Ints, goals_to: Ints, share: Floats) -> tuple[Ints, Ints]:
    """(K,) the first row that a joint moves, and the one after the last.

    ``rows`` (G + 1,): the first row of each goal, and their count; all others are as in `System`.
    """
    low, high = rows[goals_from], rows[goals_to]
    lone = len(rows) - 1 - len(share)
    for k in np.flatnonzero(share.any(axis=0)).tolist():
        moved = np.flatnonzero(share[:, k])
        low[k] = low[k] if goals_from[k] < goals_to[k] else rows[lone + moved[0]]
        high[k] = rows[lone + moved[-1] + 1]
    return low, high


def _roots(parent: Ints) -> Ints:
    """(K,) the root above each joint, in depth-first order."""
    root = np.arange(len(parent), dtype=np.int64)
    for k, above in enumerate(parent.tolist()):
        if above >= 0:
            root[k] = root[above]
    return root


_MOST_POWER = 250
"""Largest power of 16, near the end of the range of floats."""


def unit_near(value: float) -> float:
    """The power of 16 that is nearest to a number, by factors; 1 for 0."""
    if not 0.0 < value < math.inf:
        return 1.0
    power = round(math.log(value, 16.0))
    return float(16.0 ** min(max(power, -_MOST_POWER), _MOST_POWER))


def lengths_above(parent: Ints, offset: Floats) -> Floats:
    """(K,) metres of bones from the root to each joint, parents before children."""
    return summed_from_root(parent, np.where(parent < 0, 0.0, np.linalg.norm(offset, axis=-1)))


def summed_from_root(parent: Ints, own: Floats) -> Floats:
    """(K,) the sum of a number of each joint and of all above it, parents before children."""
    result = own.tolist()
    for k, above in enumerate(parent.tolist()):
        if above >= 0:
            result[k] += result[above]
    return np.array(result)


def groups_of(live: Bools, goals_from: Integers, goals_to: Integers, count: int) -> tuple[Integers, Integers]:
    """The groups of goals that share a joint that can move, directly or through other goals.

    ``live`` (K,): whether a joint can move; ``goals_from`` and ``goals_to`` (K,): the first goal below each joint, and
    the one after the last; ``count``: G.

    Returns:
        (G,) the group of each goal, counted from 0, and (K,) of each joint; -1 for joints that move none.
    """
    some = live & (goals_to > goals_from)
    # A joint moves goals that follow each other: it joins each of them, but the last, to the next one.
    joins = np.bincount(goals_from[some], minlength=count) - np.bincount(goals_to[some] - 1, minlength=count)
    goal_group = np.cumsum(np.append(0, np.cumsum(joins)[:-1] == 0))[:count].astype(np.int64)
    group = np.full(len(live), -1, dtype=np.int64)
    group[some] = goal_group[goals_from[some]]
    return goal_group, group


_MOST_RATIO = 300.0
"""Weights that differ by more than this factor are drawn together: squared they would leave the lighter goals to the
rounding of the heavier. With that ratio the heavier goal misses by less than a tolerance already."""
_LEVEL_RATIO = 100.0
"""How many times as hard the lightest goal of a level pulls as the heaviest of the one below."""


def _weights(picked: Sequence[Goal], goals: Sequence[Goal], levels: Ints, length: float) -> dict[str, Any]:
    """The fields of a `System` for weights: of its own goals, beside those of all goals that are enabled."""
    functions = [goal for goal in goals if goal.enabled and not KINDS[goal.kind].built_in]
    weight, rotation_weight, unit = balanced_weights([*picked, *functions], length)
    return {
        "goal_weight": weight[: len(picked)].copy(),
        "goal_rotation_weight": rotation_weight[: len(picked)].copy(),
        "goal_force": _level_forces(picked, levels),
        "scale": np.array([length, unit]),
    }


def balanced_weights(goals: Sequence[Goal], unit: float) -> tuple[Floats, Floats, float]:
    """Weights per metre (G,) and per radian (G,) as the solver counts them, and the unit that they are measured in.

    ``unit``: metres, the unit of length.
    """
    places, turns = (np.array([getattr(goal, name) for goal in goals]) for name in ("weight", "rotation_weight"))
    # A radian counts as much as a length of the figure's own size.
    turns = turns * unit
    with np.errstate(over="ignore"):
        logs = np.log(np.stack([places, turns])) if len(goals) else np.zeros((2, 0))
    logs[0] += math.log(unit)
    asked = _asked(goals).T
    if not asked.any():
        return places, turns, 1.0
    least, most = float(logs[asked].min()), float(logs[asked].max())
    ratio = most - least
    own = unit_near(math.exp(min(max(least, -700.0), 700.0)))
    if ratio <= math.log(_MOST_RATIO):
        return places / own, turns / own, own
    # Their order stays, and so does the proportion between the logarithms of their ratios.
    drawn = np.exp((logs - least) * (math.log(_MOST_RATIO) / ratio))
    drawn = np.where(asked, drawn, 1.0)
    return drawn[0] / unit, drawn[1], own


def _asked(goals: Sequence[Goal]) -> Bools:
    """(G, 2) whether goals have lengths, and whether they have angles."""
    kinds = [KINDS[goal.kind] for goal in goals]
    return np.array([(kind.metres, kind.radians) for kind in kinds], dtype=np.bool_).reshape(-1, 2)


def _levels_of(goals: Sequence[Goal]) -> Integers:
    """(G,) how many of the levels that goals have are below each one's: 0 for the lowest, whose number is largest."""
    numbers = [goal.level for goal in goals]
    below = sorted(set(numbers), reverse=True)
    return np.array([below.index(number) for number in numbers], dtype=np.int64)


def _level_forces(goals: Sequence[Goal], levels: Integers) -> Floats:
    """(G, 2) how hard each goal's place and turn pull: in the lowest level 1 or more, by the weights.

    The lightest goal of a level pulls `_LEVEL_RATIO` times as hard as the heaviest of the one below. Within a level
    weights that differ by more than that are drawn together.
    """
    asked = _asked(goals)
    logs = np.log([(goal.weight, goal.rotation_weight) for goal in goals]).reshape(-1, 2)
    forces, base, most = np.ones((len(goals), 2)), 0.0, math.log(_LEVEL_RATIO)
    for level in range(int(levels.max(initial=-1)) + 1):
        here = (levels == level)[:, None] & asked
        if here.any():
            above = logs[here] - logs[here].min()
            above *= min(1.0, most / max(float(above.max()), most))
            forces[here] = np.exp(base + above)
            base += float(above.max()) + most
    return forces
