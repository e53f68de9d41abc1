"""A skeleton and its goals as the plain arrays that solvers work on.

Only the joints above a goal take part. They are in depth-first order, so that a joint's descendants, and the goals
on them, are neighbours: what a dof moves is one range of rows. Goals that several joints in different limbs move, such
as two hands that hold each other, come after all others.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, Protocol

import numpy as np

from viewer.ik.contact.volumes import Near, Volumes, near_sizes
from viewer.spatial.checks import Bools, Floats, Integers, Ints, zeros_for

_AT_LIMIT = 1e-6
"""Radians or units of length."""
LANES = 8
"""Numbers in the widest vectors that processors have; narrower processors take two or four of theirs instead."""


def filled(count: int) -> int:
    """The length of a row of whole lanes that holds ``count`` numbers."""
    return -(-count // LANES) * LANES


class System(NamedTuple):
    """What does not change while a solve runs. K joints, n dofs, G goals, m rows.

    Attributes:
        parent: (K,) -1 for roots.
        form: (K,) how a joint moves, one of `viewer.ik.algebra`'s FIXED .. SLIDE. Fixed joints go to rest; a fixed root
            stays where it is.
        moves: (K,) 3 for a root that may move, else 0: its first dofs are translations.
        first: (K + 1,) the first dof of each joint.
        rest, offset, axes: (K, 4), (K, 3), (K, 2, 3) as in `Skeleton`.
        order: (K, 3) axes of the three angles of an Euler form; of a swing-twist: swing, swing, twist.
        basis: (K, 4) of joints that turn freely: from the axes that their three dofs turn about to the joint's own.
        low, high: (K,) range of rows that a joint's dofs touch.
        goals_from, goals_to: (K,) the goals of one joint each that are on the joint or below it: a range.
        limb_first: (L + 1,) the first dof of each limb: neighbouring joints that move the same goals, one at least.
        limb_low, limb_high: (L,) range of rows that a limb's dofs touch.
        lower, upper: (n,) limits of the coordinates, infinite where there are none.
        spread: (n,) scale of a dof: its unit, times 1 - stiffness, times how readily it moves; 0 takes no part.
        unit: (n,) what a dof's steps are measured in: 1 radian, or the problem's unit of length in metres.
        group: (K,) the group of the goals that a joint moves; -1: it moves none.
        bounded: (n,) whether both limits are finite.
        turning: (n,) whether a coordinate is an angle that may be counted past half a turn.
        slides: (K,) the most metres that a slide moves from its offset, infinite without ends; 0 for other joints.
        carries: (n,) whether a dof moves what is below it without end: a free root's, such a slide's or its leader's.
        follower, leader: (P,) dofs of joints that follow others, and the dofs that these follow;
        follower_joint, leader_joint: (P,) their joints;
        ratio, shift: (P,) a follower's coordinate is ratio * its leader's + shift. Its limits are its leader's.
        goal_kind, goal_joint, goal_row: (G,) the code of `viewer.ik.goals.ROW_KINDS`; the joint; the first row.
        goal_lengths, goal_angles: (G,) how many of its rows are lengths, which stand first, and how many angles. Three
            lengths are the way to a place.
        goal_has_shell: (G,) whether it has a `viewer.ik.goals.kind.Shell`: the effector is to be in it.
        goal_shell: (G, 2) the least and the most metres of that from the target; 0 for others.
        goal_along: (G, 3) the direction of one that is flat, world frame; 0 for others.
        goal_aims: (G,) whether it points an axis at its target: moves of the effector change its angles.
        goal_one_joint: (G,) whether it sets the angle at its joint, which only turns of that joint change.
        goal_offset, goal_numbers: (G, 3), (G, n) constants of a goal: `viewer.ik.goals.kind.Constants`.
        goal_target, goal_rotation: (G, ...) as in `Goal`; a target of 0 for kinds without one.
        goal_middle, goal_upper: (G,) joints above ``goal_joint`` that rows about a limb read, else -1.
        goal_other: (G,) the second joint of a goal for two effectors, else -1; ``goal_numbers`` begin with the point on
            it. The target of a relative goal is in its frame.
        goal_mean: (G,) whether it is about the mean of points below several joints, which `Work.moment` has.
        mass: (K,) what is fixed to each joint, as a part of the body's mass; without a goal for balance empty, as are
        mass_moment: (K, 3) these masses times where their centres are in the joints' frames;
        stand_joint, stand_offset: (P,), (P, 3) the points that the figure may stand on, in joints' frames;
        stand_level: (P,) the height up to which such a point is taken to touch the floor;
        support: (2 P + 2, 2) x and z of the corners of the support polygon, shrunk, which each solve computes;
        corners: (1,) how many of them there are.
        share: (R, K) of the last R goals, which are of several joints: how much of a joint's motion is that of what
            the goal is about. Of a relative goal 1 where the joint moves the effector, -1 where it moves the base, 0
            where it moves both; of a mean the part that is below the joint, of a mass or of the points.
        goal_weight, goal_rotation_weight: (G,) in units of their own: `viewer.ik.assemble`.
        goal_group: (G,) goals of different groups have no joint in common: each group is a problem of its own.
        goal_root: (G,) the root above.
        goal_reach: (G,) metres from the root to the effector along the bones, with ``slides`` at their longest.
        goal_level: (G,) how many of the levels in use are below the goal's: 0 for the lowest.
        goal_force: (G, 2) how hard its place and its turn pull where levels differ: `viewer.ik.assemble`.
        goal_trust: (G,) weight of a goal's position in the fit of the root: half for hands.
        tolerance: (2,) metres and radians within which a goal is met.
        scale: (2,) the units of length, metres, and of weight: see `viewer.ik.assemble`.
        seeds: (R, n) poses to restart from, the next few for each restart: coordinates, or a step from the pose that
            the solve began with.
        ease: (n,) how far from a limit holds may not push a dof (`viewer.ik.kernels.step`); 0: they may.
        preferred, preferred_turn: (n,), (K, 4) coordinates and local rotations of the preferred pose, else empty.
        preference: (n,) part of the way to it, from where a solve begins, that each dof is drawn, else empty.
        contact: volumes that may touch; without capsules there is no contact.
    """

    parent: Integers
    form: Integers
    moves: Integers
    first: Integers
    rest: Floats
    offset: Floats
    axes: Floats
    order: Integers
    basis: Floats
    low: Integers
    high: Integers
    goals_from: Integers
    goals_to: Integers
    limb_first: Integers
    limb_low: Integers
    limb_high: Integers
    lower: Floats
    upper: Floats
    spread: Floats
    unit: Floats
    group: Integers
    bounded: Bools
    turning: Bools
    slides: Floats
    carries: Bools
    follower: Integers
    leader: Integers
    follower_joint: Integers
    leader_joint: Integers
    ratio: Floats
    shift: Floats
    goal_kind: Integers
    goal_joint: Integers
    goal_row: Integers
    goal_lengths: Integers
    goal_angles: Integers
    goal_has_shell: Bools
    goal_aims: Bools
    goal_one_joint: Bools
    goal_offset: Floats
    goal_target: Floats
    goal_rotation: Floats
    goal_numbers: Floats
    goal_shell: Floats
    goal_along: Floats
    goal_middle: Integers
    goal_upper: Integers
    goal_other: Integers
    goal_mean: Bools
    mass: Floats
    mass_moment: Floats
    stand_joint: Integers
    stand_offset: Floats
    stand_level: Floats
    support: Floats
    corners: Integers
    share: Floats
    goal_weight: Floats
    goal_rotation_weight: Floats
    goal_group: Integers
    goal_root: Integers
    goal_reach: Floats
    goal_level: Integers
    goal_force: Floats
    goal_trust: Floats
    tolerance: Floats
    scale: Floats
    seeds: Floats
    ease: Floats
    preferred: Floats
    preferred_turn: Floats
    preference: Floats
    contact: Volumes


class State(NamedTuple):
    """A pose of the system: coordinates (n,), local rotations (K, 4) and translations (K, 3), residuals (m,)."""

    x: Annotated[Floats, "n"]
    q: Annotated[Floats, "K", 4]
    t: Annotated[Floats, "K", 3]
    e: Annotated[Floats, "m"]


class ContactWork(NamedTuple):
    """Scratch of what keeps bodies apart: see `viewer.ik.levenberg_marquardt.keep_apart`.

    R rows, A of which can be active.

    Attributes:
        overlap: of the pose that `residuals` was last called with: the penalty for what overlaps, and how far the
            deepest does, in units of what counts as touching.
        weight: of a squared overlap, in units of length, beside the squared error of the goals.
        rows: how many rows there are at the pose that the step begins at; joints, p, q, n, gap: (R, ...) as in
            `Near`.
        rate: by how much a step opens each gap.
        active: whether a row is in the active set.
        twist: angular velocity of each dof, and the velocity of what is at the origin, times its spread.
        motion: the same of each joint, for a step.
        u: a step, in spreads.
        chosen: the rows in the active set.
        column, answer: how a dof opens such a gap; the step that opens it, and costs the goals least.
        gram, factor: how the answers open the gaps of all of them.
        short: by how much the goals' step opens a gap too little.
        push: how much of each answer is taken.
        residual, dual: for passing small things.
    """

    overlap: Annotated[Floats, 2]
    weight: Annotated[Floats, 1]
    rows: Annotated[Integers, 1]
    joints: Annotated[Integers, "R", 2]
    p: Annotated[Floats, "R", 3]
    q: Annotated[Floats, "R", 3]
    n: Annotated[Floats, "R", 3]
    gap: Annotated[Floats, "R"]
    rate: Annotated[Floats, "R"]
    active: Annotated[Bools, "R"]
    twist: Annotated[Floats, "n", 6]
    motion: Annotated[Floats, "K", 6]
    u: Annotated[Floats, "n"]
    chosen: Annotated[Integers, "A"]
    column: Annotated[Floats, "A", "n"]
    answer: Annotated[Floats, "A", "n"]
    gram: Annotated[Floats, "A", "A"]
    factor: Annotated[Floats, "A", "A"]
    short: Annotated[Floats, "A"]
    push: Annotated[Floats, "A"]
    residual: Annotated[Floats, "m"]
    dual: Annotated[Floats, "m"]


LEAST_WEIGHT = 1e3
"""Weight of a squared overlap: larger ones make a figure creep along what it touches."""
MOST_ACTIVE = 48
"""Rows that can keep bodies apart at a time."""


class Work(NamedTuple):
    """Scratch of a solve, allocated once.

    Attributes:
        turn, place: world motion of the joints.
        point: world places of the effectors.
        miss: how far off a goal is: metres, radians.
        by_turn, by_move: how a goal's angular or scalar residual answers to a turn or move of its effector.
        angles: the coordinates; N is n and more, whole lanes; compiled code's, as are
        sines, cosines: of half the coordinates that are angles, and
        axes: the world axes that dofs turn about or move along, times their spreads.
        jacobian: weighted and scaled, transposed; M is m and more, with zeros:
            see `viewer.ik.kernels.dual_system`.
        held: the step of a dof that is frozen.
        since: steps since the last `viewer.ik.levenberg_marquardt.stride`; a drag keeps counting.
        weights, spreads: what the system had before a group was singled out; before levels were.
        scales: what rows are scaled by where levels differ.
        losses: of each level: see `viewer.ik.levels`.
        mobility, excess, posture, tried: spreads apart from what ease makes of them, how far dofs are beyond their
            ease, the pull to the anchor, and the excess of a pose that is tried:
            see `viewer.ik.kernels.step`.
        tally: descents that ended as near as the best.
        yielding, before: part of the pull that is followed, and the last step: see `yield_swings`.
        room: how far dofs may still go in this solve, in their units; infinite except in a drag.
        vectors, quaternions: for passing small things.
        as_arm: whether a search takes the steps of an arm: see `viewer.ik.arm_steps`.
        bones, hubs: of an arm: what is rigid between joints, and where these are.
        family, axes6, ways: of a six-axis arm, else without rows: see
            `viewer.ik.kernels.six_axes`.
        trial, best: poses that are tried, and the best one of a search; see also `viewer.ik.levenberg_marquardt`.
        anchor: the pose that the pull leads back to, and that restarts of unlimited joints begin from.
        start: where the last solve began, inside its limits: problems that begin there ``again`` find it here.
        begun, solved: where goals are solved by groups, the pose at the start, and what is solved of the answer.
        found, nearest: the pose that a search found; with levels, the best one so far.
        moment: of each goal of several joints that is about a mean: the part of it that is below each joint, which
            `System.share` has, times where that part's centre is.
        touching, hull, clipped: for finding the support polygon.
        near: what was last found to be near.
        contact: scratch of what keeps bodies apart.
    """

    turn: Annotated[Floats, "K", 4]
    place: Annotated[Floats, "K", 3]
    point: Annotated[Floats, "G", 3]
    miss: Annotated[Floats, "G", 2]
    by_turn: Annotated[Floats, "G", 3, 3]
    by_move: Annotated[Floats, "G", 3, 3]
    angles: Annotated[Floats, "N"]
    sines: Annotated[Floats, "N"]
    cosines: Annotated[Floats, "N"]
    axes: Annotated[Floats, "n", 3]
    jacobian: Annotated[Floats, "n", "M"]
    gram: Annotated[Floats, "M", "M"]
    factor: Annotated[Floats, "M", "M"]
    pivots: Annotated[Floats, "M"]
    y: Annotated[Floats, "m"]
    wanted: Annotated[Floats, "m"]
    step: Annotated[Floats, "n"]
    pull: Annotated[Floats, "n"]
    held: Annotated[Floats, "n"]
    frozen: Annotated[Bools, "n"]
    since: Annotated[Integers, 1]
    weights: Annotated[Floats, 4, "G"]
    spreads: Annotated[Floats, "n"]
    scales: Annotated[Floats, "m"]
    losses: Annotated[Floats, 3, "L"]
    mobility: Annotated[Floats, "n"]
    excess: Annotated[Floats, "n"]
    posture: Annotated[Floats, "n"]
    tried: Annotated[Floats, "n"]
    tally: Annotated[Integers, 1]
    yielding: Annotated[Floats, 1]
    before: Annotated[Floats, "n"]
    room: Annotated[Floats, 1]
    vectors: Annotated[Floats, 4, 3]
    quaternions: Annotated[Floats, 4, 4]
    as_arm: Annotated[Bools, 1]
    bones: Annotated[Floats, "n + 1", 8]
    hubs: Annotated[Floats, "n", 3]
    family: Annotated[Integers, 1]
    axes6: Annotated[Floats, "axes", 4]
    ways: Annotated[Floats, "ways", 6]
    trial: State
    best: State
    anchor: State
    start: State
    begun: State
    solved: State
    found: State
    nearest: State
    moment: Annotated[Floats, "several", "K", 3]
    touching: Annotated[Floats, "P", 2]
    hull: Annotated[Floats, "2 P + 2", 2]
    clipped: Annotated[Floats, "2 P + 2", 2]
    near: Near
    contact: ContactWork


class Many(NamedTuple):
    """N problems of one system, and their answers.

    Attributes:
        q, t: local motion at the start; the answers afterwards.
        target, rotation: goals' targets.
        miss: answers: metres, radians.
        code, iterations: answers.
        outside: answers: the start was outside its limits and was brought inside.
        overlap: answers: how far the deepest overlaps, in units of what counts as touching.
        again: whether the start is the same as that of the problem before.
    """

    q: Annotated[Floats, "N", "K", 4]
    t: Annotated[Floats, "N", "K", 3]
    target: Annotated[Floats, "N", "G", 3]
    rotation: Annotated[Floats, "N", "G", 4]
    miss: Annotated[Floats, "N", "G", 2]
    code: Annotated[Integers, "N"]
    iterations: Annotated[Integers, "N"]
    outside: Annotated[Bools, "N"]
    overlap: Annotated[Floats, "N"]
    again: Annotated[Bools, "N"]


class Call(NamedTuple):
    """What a call of a solver of J joints and G goals (also disabled) begins with: `viewer.ik.compiled.entry`.

    Attributes:
        joints: (K,) the skeleton's joints that the system's are.
        goals: (G',) the solver's goals that the system's are.
        has_place, has_turn: (G,) whether a goal has such a target.
        places, turns: (G, 3), (G, 4) the goals' own targets.
        size: (1,) J.
        numbers: (15,) the `Settings` as numbers, in their order.
        known: (2,) the addresses of the type of numpy's arrays and of None.
    """

    joints: Integers
    goals: Integers
    has_place: Bools
    has_turn: Bools
    places: Floats
    turns: Floats
    size: Integers
    numbers: Floats
    known: Integers


class StartTables(NamedTuple):
    """What compiled code looks at in a start pose: see `viewer.ik.compiled.entry.needs_projection`.

    Attributes:
        row_joint, rows: (R,), (R, 4) parts of a joint's rotation that its kind leaves at 0: dot products.
        universal, parts: (U,), (U, 4, 4) universal joints, and the rows of their parts x, y, n and w.
        slide, along, offset: (S,), (S, 3), (S, 3) slides, the directions in which they slide, and where they rest.
        idle: (I,) limited joints that take no part in the solve.
        form, order, rest, axes, home: (I,), (I, 3), (I, 4), (I, 2, 3), (I, 3) of these, as in `System`; their offsets.
        lower, upper: (I, 3) their limits, in the order of their coordinates.
        turning: (I, 3) which of their coordinates are angles that may be counted past half a turn.
        tolerances: (3,) for the parts, for slides beside their directions in metres, for limits.
    """

    row_joint: Integers
    rows: Floats
    universal: Integers
    parts: Floats
    slide: Integers
    along: Floats
    offset: Floats
    idle: Integers
    form: Integers
    order: Integers
    rest: Floats
    axes: Floats
    home: Floats
    lower: Floats
    upper: Floats
    turning: Bools
    tolerances: Floats


class Settings(NamedTuple):
    """The numbers of a solve, in radians and the units of `viewer.ik.assemble`: metres for what is about a metre tall.

    Attributes:
        max_iterations: steps tried at most, restarts included.
        least_iterations: steps taken even if all goals are met (a drag settles its posture).
        damping, damping_scale: lambda = damping_scale * squared error + damping.
        step_cap: largest turn (radians) or move (units of length) of a dof in one step.
        limit_passes: how often the system is solved again with dofs frozen at their limits.
        limit_gain: part of the way to a limit that a crossing step goes.
        pull: part of the way back to the anchor that what the goals leave free goes in one step.
        pull_cap: largest turn (radians) or move (units of length) of a dof that the pull asks for in one step.
        restarts: how many restarts are allowed; each takes the best of a few seeds.
        least_gain: a step is taken if it brings the squared error below this part of what it was: less than 1 keeps a
            figure that cannot reach its goals from creeping on.
        stand: whether a solve begins with the body turned about the vertical and moved to where its goals are.
        guarded: whether steps that raise the error are undone.
        clamp_to_limit: whether a dof that would cross its limit goes just to it and the others make up for the rest:
            fewer iterations; in a drag the joints would work their way to their limits.
        settle: whether it begins at the anchor and, once its goals are met, continues until the free dofs are at rest.
    """

    max_iterations: int = 200
    least_iterations: int = 0
    damping: float = 1e-5
    damping_scale: float = 0.02
    step_cap: float = 1.0
    limit_passes: int = 2
    limit_gain: float = 1.0
    pull: float = 0.0
    pull_cap: float = 0.03
    restarts: int = 0
    least_gain: float = 0.9999
    stand: bool = False
    guarded: bool = True
    clamp_to_limit: bool = False
    settle: bool = False


class Problems(Protocol):
    """The arrays that an engine works on; `viewer.ik.buffers.Buffers` has them."""

    one: Many

    @property
    def arrays(self) -> tuple[System, Work, State]:
        """The system, its scratch and the pose that is solved."""


def make_work(system: System) -> Work:
    """Scratch for a system."""
    work = zeros_for(Work, _sizes(system))
    work.yielding[0], work.room[0], work.contact.weight[0] = 1.0, np.inf, LEAST_WEIGHT
    return work


def make_state(system: System) -> State:
    """An empty pose of a system."""
    return zeros_for(State, _sizes(system))


def copy_state(source: State, target: State) -> None:
    """Copy a pose."""
    for values, place in zip(source, target, strict=True):
        np.copyto(place, values)


def make_many(system: System, count: int) -> Many:
    """Room for a number of problems of a system."""
    return zeros_for(Many, _sizes(system) | {"N": count})


def _sizes(system: System) -> dict[str, int]:
    """The lengths of axes that the shapes of a system's arrays name."""
    dofs, rows, contact = len(system.lower), count_rows(system), near_sizes(system.contact)
    six = dofs == 6
    return contact | {
        "K": len(system.parent),
        "G": len(system.goal_kind),
        "n": dofs,
        "n + 1": dofs + 1,
        "N": filled(dofs),
        "m": rows,
        "M": filled(rows + 1),
        "L": int(system.goal_level.max(initial=0)) + 3,
        "A": min(contact["R"], MOST_ACTIVE),
        "several": len(system.share),
        "P": len(system.stand_joint),
        "2 P + 2": len(system.support),
        "axes": 15 if six else 0,
        "ways": 8 if six else 0,
    }


def joint_of_dof(system: System) -> Ints:
    """(n,) the joint of each dof."""
    return np.repeat(np.arange(len(system.parent)), np.diff(system.first))


def near_limits(system: System, x: Floats) -> Bools:
    """(n,) whether coordinates are at one of their limits, or beyond it."""
    near = _AT_LIMIT * system.unit
    return np.asarray((x - system.lower < near) | (system.upper - x < near))


def count_rows(system: System) -> int:
    """Rows of all goals together."""
    return int((system.goal_lengths + system.goal_angles).sum())
