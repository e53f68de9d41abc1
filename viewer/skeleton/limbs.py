"""The limbs of a skeleton: its arms and legs, how the figure stands and faces, and to which side its limbs bend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

import numpy as np

from viewer.skeleton.kinematics import World
from viewer.skeleton.limits import JointKind, JointLimits, LimitForm
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import RestTree, rest_world
from viewer.spatial.checks import Floats, handed_over
from viewer.spatial.quaternion import conjugate, cross, dot, norm, rotate, unit

ARM, LEG = "arm", "leg"
_ENDS = {ARM: ("hand", "wrist"), LEG: ("foot", "ankle")}
_MIDDLES = {ARM: "elbow", LEG: "knee"}
_UPPERS = {ARM: "upper arm", LEG: "upper leg"}

_LONG = 0.25
"""A branch this long, measured in the figure's longest path, may be a limb: fingers are shorter."""
_UNLIKE = 0.2
"""Twin branches differ by less than this part of their lengths, bone by bone."""
_MOST_BRANCHES = 6
_A_BONE = 0.5
"""An elbow without a name is the last joint whose bones are at least this part of the longest pair."""
_MIDDLE = 0.1
"""Twin bones that start nearer to each other than this, in their length, start in the middle of the body."""

Nodes = list[tuple[int | None, "Floats"]]

_SNAP = np.cos(np.radians(30.0))
"""Up is the coordinate axis within this angle of the body's own axis: people lean, floors do not."""
_HANGS = -0.5
"""Legs hang if they point this much against the trunk (a cosine)."""
_DOWN = -0.7
_LYING = 0.6
_TOE, _FOOT = 0.25, 0.15
"""A foot shows where it points if this much of it, in its own length, is level, and if it is as long as this in the
length of the shin: sensors of robots are nearer."""

Axes = tuple["Floats", "Floats", "Floats", bool]
STANDARD_AXES: Axes = (np.eye(3)[1], np.eye(3)[0], np.eye(3)[2], False)
"""Default up, left and forward of a figure whose rest pose does not show them: Y up, facing Z."""

_BENT = np.sin(np.radians(15.0))
"""A limb that is bent this much at rest shows its plane."""
_AGREES = 0.5
"""Axes within 60 degrees agree."""
_SLANTED = 0.2
"""Sine of the least angle between a bone and an axis that bends it."""
_EQUAL = 1e-3
"""Radians up to which a range is as long to one side as to the other."""
_BEHIND = np.radians(10.0)
_BENDS = np.radians(25.0)
"""Limits show a bending axis if they let it turn this far to one side and at most `_BEHIND` to the other."""


@dataclass(frozen=True, slots=True)
class Limb:
    """An arm or a leg.

    Attributes:
        kind: "arm" or "leg".
        side: "left" or "right"; "" until it is known.
        girdle: its own joints between the body and the upper bone, such as a clavicle, from the body outwards.
        upper: upper arm or thigh: turns about the shoulder or hip.
        lower: forearm or shin: turns about the elbow or knee.
        end: hand or foot; None where the lower bone ends in an end site.
        tip: where the lower bone ends: a joint, and a place (3,) in its frame. The hand or foot itself; else an end
            site, of the lower joint or of one in the same place.
        toe: first joint of the toes, or None.
        named: found by name, not by shape.
    """

    kind: str
    side: str
    girdle: tuple[int, ...]
    upper: int
    lower: int
    end: int | None
    tip: tuple[int, Floats]
    toe: int | None = None
    named: bool = False

    @property
    def first(self) -> int:
        """Its topmost joint, where it leaves the body."""
        return self.girdle[0] if self.girdle else self.upper

    @property
    def last(self) -> int:
        """Its hand or foot; the joint of the lower bone where it has none."""
        return self.lower if self.end is None else self.end


Pair = tuple[Limb, Limb]


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """What the joints of a skeleton are.

    Attributes:
        root: the joint without a parent that carries the figure.
        trunk: the joint that pelvis and chest hang on: joints above it, up to the root, are not part of the body.
        pelvis: the joint that the legs hang on; the root where there are none.
        chest: the joint that the arms hang on; the pelvis where there are none.
        spine: joints between, from the pelvis (not among them) to the chest (among them).
        neck: joints from the chest (not among them) to the head (not among them).
        head: or None.
        arms: left and right, or none.
        legs: left and right, or none.
        up, left, forward: (3,) unit vectors, world frame, right-angled: the axes of the figure at rest.
        upright: False: the rest pose is not a natural one (bones point anywhere, and the motion turns them), and the
            three directions are those of a standard pose: Y up, facing Z.
    """

    root: int
    trunk: int
    pelvis: int
    chest: int
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    head: int | None
    arms: tuple[Limb, ...]
    legs: tuple[Limb, ...]
    up: Floats
    left: Floats
    forward: Floats
    upright: bool

    @property
    def limbs(self) -> tuple[Limb, ...]:
        """Arms, then legs."""
        return (*self.arms, *self.legs)


def named_pair(tree: RestTree, kind: str) -> Pair | None:
    """Left and right arm or leg by the names of their ends, or of elbows and knees where these end in an end site."""
    for words, ends in ((_ENDS[kind], True), ((_MIDDLES[kind],), False)):
        found = [_first(tree, side, words) for side in ("left", "right")]
        left, right = found
        if left is not None and right is not None:
            trunk = tree.common([left, right])
            if trunk is None or trunk in found:
                return None
            limbs = [_named(tree, kind, side, trunk, joint, ends) for side, joint in (("left", left), ("right", right))]
            return (limbs[0], limbs[1]) if limbs[0] and limbs[1] else None
    return None


def _first(tree: RestTree, side: str, words: tuple[str, ...]) -> int | None:
    """The joint of that side nearest to the root whose name is one of these parts."""
    for joint, part in enumerate(tree.parts):
        if part.side == side and part.part in words and not part.helper:
            return joint
    return None


def _named(tree: RestTree, kind: str, side: str, trunk: int, last: int, ends: bool) -> Limb | None:
    path = tree.between(trunk, last)
    end, above = (last, path[:-1]) if ends else (None, path)
    tip = (last, np.zeros(3)) if ends else tree.end_site(last)
    lower = None if tip is None else _middle(tree, above, tree.end(tip), _MIDDLES[kind])
    if tip is None or lower is None:
        return None
    above = above[: above.index(lower)]
    upper = _nearest(tree, above, tree.place(lower), _UPPERS[kind])
    if upper is None:
        return None
    girdle = tuple(above[: above.index(upper)])
    return Limb(kind, side, girdle, upper, lower, end, tip, toe_of(tree, kind, end), named=True)


def _middle(tree: RestTree, path: list[int], place: Floats, part: str) -> int | None:
    """The elbow or knee of a path to the end of a limb: that of the name, else the last one with bones on either side.

    Wrists of robots have joints that are a few centimetres apart: the part between two of them is no forearm.
    """
    able = [joint for joint in path if tree.apart(tree.place(joint), place) and not tree.parts[joint].helper]
    if any(tree.parts[joint].part == part for joint in able):
        return _nearest(tree, path, place, part)
    shorter = {}
    for number, joint in enumerate(able):
        here = tree.place(joint)
        above = [other for other in map(tree.place, able[:number]) if tree.apart(other, here)]
        if above:
            shorter[joint] = float(min(norm(place - here), norm(here - above[-1])))
    long = [joint for joint, length in shorter.items() if length >= _A_BONE * max(shorter.values())]
    return long[-1] if long else _nearest(tree, path, place, part)


def _nearest(tree: RestTree, path: list[int], place: Floats, part: str) -> int | None:
    """The topmost joint of a path with that name, else the last one that is apart from the place."""
    able = [joint for joint in path if tree.apart(tree.place(joint), place)]
    named = [joint for joint in able if tree.parts[joint].part == part and not tree.parts[joint].helper]
    plain = [joint for joint in able if not tree.parts[joint].helper] or able
    return named[0] if named else (plain[-1] if plain else None)


def toe_of(tree: RestTree, kind: str, foot: int | None) -> int | None:
    """The joint below a foot that is farthest from it, of its own children."""
    if kind != LEG or foot is None:
        return None
    here = tree.place(foot)
    toes = [child for child in tree.children[foot] if tree.apart(tree.place(child), here)]
    return max(toes, key=lambda toe: float(np.linalg.norm(tree.place(toe) - here)), default=None)


def twin_pairs(tree: RestTree, taken: set[int]) -> list[Pair]:
    """Pairs of similar long branches of one joint, longest first; legs and arms are not distinguished yet."""
    pairs: list[tuple[float, Pair]] = []
    for children in tree.children:
        long = [child for child in children if child not in taken and tree.depth[child] > _LONG * tree.size]
        if not 2 <= len(long) <= _MOST_BRANCHES:
            continue
        lines = {child: _nodes(tree, child) for child in long}
        alike = [(unlike, a, b) for a, b in combinations(long, 2) if (unlike := _unlike(lines[a], lines[b])) < _UNLIKE]
        # Three similar branches are the fingers of a claw or the legs of a spider.
        if len(alike) == 1:
            _, a, b = alike[0]
            limbs = [_shaped(tree, one, lines[one], lines[other]) for one, other in ((a, b), (b, a))]
            if limbs[0] and limbs[1]:
                pairs.append((tree.depth[a], (limbs[0], limbs[1])))
    return [pair for _, pair in sorted(pairs, key=lambda found: -found[0])]


def _nodes(tree: RestTree, child: int) -> Nodes:
    """Joints and places down the longest path; of joints in one place only the first; an end site comes last."""
    nodes: Nodes = []
    for joint in tree.longest(child):
        if not nodes or tree.apart(nodes[-1][1], tree.place(joint)):
            nodes.append((joint, tree.place(joint)))
    last = tree.end_site(tree.longest(child)[-1])
    return [*nodes, (None, tree.end(last))] if last is not None else nodes


def _lengths(nodes: Nodes) -> Floats:
    places = np.array([place for _, place in nodes])
    return np.asarray(np.linalg.norm(np.diff(places, axis=0), axis=1))


def _unlike(a: Nodes, b: Nodes) -> float:
    """Difference of two lines bone by bone, in parts of their lengths: 0 for twins."""
    first, second = _lengths(a), _lengths(b)
    count = max(len(first), len(second))
    first, second = np.pad(first, (0, count - len(first))), np.pad(second, (0, count - len(second)))
    total = float(first.sum() + second.sum())
    return 2.0 * float(np.abs(first - second).sum()) / total if total > 0 else 1.0


def _shaped(tree: RestTree, child: int, nodes: Nodes, twin: Nodes) -> Limb | None:
    """The limb whose two long bones are the longest neighbours of a line; ``kind`` is still "" here.

    Collarbones may be as long, but both start in the middle of the body.
    """
    lengths = _lengths(nodes)
    if len(lengths) < 2:
        return None
    gaps = [float(np.linalg.norm(a - b)) for (_, a), (_, b) in zip(nodes, twin, strict=False)]
    gaps += [np.inf] * (len(lengths) - len(gaps))
    able = [gap > _MIDDLE * length for gap, length in zip(gaps, lengths, strict=False)]
    products = [a * b * (beside or not any(able)) for (a, b), beside in zip(pairwise(lengths), able, strict=False)]
    (upper, _), (lower, _), (end, _) = nodes[int(np.argmax(products)) :][:3]
    tip = (end, np.zeros(3)) if end is not None else tree.end_site(tree.longest(child)[-1])
    if upper is None or lower is None or tip is None:
        return None
    path = tree.between(tree.parents[child], upper)
    sides = [tree.parts[joint].side for joint in (*path, lower) if tree.parts[joint].side]
    return Limb("", sides[0] if sides else "", tuple(path[:-1]), upper, lower, end, tip)


def find_axes(
    tree: RestTree, pelvis: int, chest: int, head: int | None, arms: tuple[Limb, ...], legs: tuple[Limb, ...]
) -> Axes | None:
    """Up, left and forward (3,), and whether the rest pose is a standing person's.

    None where it is not and names do not identify the figure either.
    """
    trunk = _trunk(tree, pelvis, chest, head, arms)
    if not _stands(tree, trunk, legs):
        return STANDARD_AXES if all(a.named for a in (*arms, *legs)) else None
    up = _up(tree, trunk, legs)
    across = _across(tree, legs or arms, up)
    if across is None:
        return None
    forward = unit(cross(across, up))
    shown = _toes(tree, legs, up) @ forward
    if abs(shown) > 1e-6:
        forward = forward if shown > 0 else -forward
    elif (legs or arms)[0].side == "" and forward[int(np.argmax(np.abs(forward)))] < 0:
        # Neither feet nor names show it: most figures in files face along an axis, not against it.
        forward = -forward
    return up, cross(up, forward), forward, True


def on_all_fours(tree: RestTree, pelvis: int, chest: int, arms: tuple[Limb, ...], legs: tuple[Limb, ...]) -> bool:
    """Whether both arms and legs reach down from a level spine: a quadruped."""
    if not (arms and legs):
        return False
    low, high = tree.place(pelvis), tree.place(chest)
    if not tree.apart(high, low):  # as where a robot's waist turns in its pelvis
        low, high = (np.mean([tree.place(limb.upper) for limb in limbs], axis=0) for limbs in (legs, arms))
    if chest == pelvis or abs(float(unit(high - low)[1])) > _LYING:
        return False
    return all(float(_direction(tree, limb)[1]) < _DOWN for limb in (*arms, *legs))


def _direction(tree: RestTree, limb: Limb) -> Floats:
    """From shoulder or hip to hand or foot."""
    return unit(tree.end(limb.tip) - tree.place(limb.upper))


def _trunk(tree: RestTree, pelvis: int, chest: int, head: int | None, arms: tuple[Limb, ...]) -> Floats:
    """Direction (3,) from the pelvis to the head, else the shoulders; zero where there is nothing above."""
    low = tree.place(pelvis)
    tops = [tree.place(head)] if head is not None else []
    tops += [np.mean([tree.place(arm.upper) for arm in arms], axis=0)] if arms else []
    tops += [tree.place(chest)]
    return next((unit(top - low) for top in tops if tree.apart(top, low)), np.zeros(3))


def _stands(tree: RestTree, trunk: Floats, legs: tuple[Limb, ...]) -> bool:
    """Whether the legs hang from the trunk, both on one side of it."""
    if not legs:
        return bool(trunk.any())
    directions = [_direction(tree, leg) for leg in legs]
    if not trunk.any():
        return float(directions[0] @ directions[1]) > -_HANGS
    return all(float(direction @ trunk) < _HANGS for direction in directions)


def _up(tree: RestTree, trunk: Floats, legs: tuple[Limb, ...]) -> Floats:
    """The body's own up, or the coordinate axis near it."""
    own = unit(trunk - np.sum([_direction(tree, leg) for leg in legs], axis=0)) if legs else trunk
    axis = int(np.argmax(np.abs(own)))
    if abs(float(own[axis])) < _SNAP:
        return own
    return np.asarray(np.sign(own[axis]) * np.eye(3)[axis])


def _across(tree: RestTree, pair: tuple[Limb, ...], up: Floats) -> Floats | None:
    """Level direction from the second limb of a pair to the first, None if one stands above the other."""
    between = tree.place(pair[0].upper) - tree.place(pair[1].upper)
    level = between - (between @ up) * up
    return unit(level) if tree.apart(level, np.zeros(3)) else None


def _toes(tree: RestTree, legs: tuple[Limb, ...], up: Floats) -> Floats:
    """Sum of the level directions in which the feet point; zero where they show none."""
    total = np.zeros(3)
    for leg in legs:
        if leg.end is not None:
            reach = foot_direction(tree, leg.end)
            level = reach - (reach @ up) * up
            shin = float(np.linalg.norm(tree.end(leg.tip) - tree.place(leg.lower)))
            if np.linalg.norm(level) > max(_TOE * float(np.linalg.norm(reach)), _FOOT * shin):
                total += unit(level)
    return total


def foot_direction(tree: RestTree, foot: int) -> Floats:
    """(3,) from the foot's joint to the end site or joint below it that is farthest away, at rest; zero if none."""
    here = tree.place(foot)
    below = tree.below(foot)
    points = [tree.place(joint) for joint in below[1:]] + [tip for joint in below for tip in tree.tips[joint]]
    return max((point - here for point in points), key=lambda way: float(np.linalg.norm(way)), default=np.zeros(3))


def flexion_axis(skeleton: Skeleton, figure: Figure, limb: Limb, *, by_limits: bool = True) -> Floats | None:
    """Unit axis (3,), in the rest frame of the limb's lower joint; a positive turn about it bends the limb.

    Hinges and universals have it in their axes; its side follows from the limits, else from the figure. For a ball it
    is perpendicular to the limb and to the way the figure faces, unless the limits say otherwise.

    Without ``by_limits``, limits of a ball count only where the rest pose shows nothing.

    Returns:
        None where neither limits nor the rest pose show it.
    """
    bones = limb.upper, limb.lower
    if skeleton.kinds[limb.lower].hinged:
        return _hinge_axes(skeleton, figure)[bones]
    expected, shown = _expected(skeleton, figure).get(bones), _limited(skeleton.limits[limb.lower])
    if expected is None or (by_limits and shown is not None and float(shown @ expected) < _AGREES):
        return shown
    return expected


def limb_places(world: World, limb: Limb) -> Floats:
    """World places (3, 3) of a limb's shoulder, elbow and wrist, or hip, knee and ankle.

    Without a hand or foot, the limb's end site takes its place.
    """
    return np.vstack([world.positions[[limb.upper, limb.lower]], world.point(*limb.tip)])


def places_of_limbs(world: World, limbs: Sequence[Limb]) -> Floats:
    """(L, 3, 3) the places of some limbs, in the world of one pose: as `limb_places` of each."""
    ends = world.points(np.array([limb.tip[0] for limb in limbs]), np.array([limb.tip[1] for limb in limbs]))
    return np.concatenate([world.positions[[(limb.upper, limb.lower) for limb in limbs]], ends[:, None]], axis=1)


@lru_cache(maxsize=16)
def rest_limbs(skeleton: Skeleton, figure: Figure) -> Floats:
    """(L, 3, 3) the places of a figure's arms, then legs, at rest."""
    return handed_over(places_of_limbs(rest_world(skeleton), figure.limbs))


@lru_cache(maxsize=16)
def leg_length(skeleton: Skeleton, figure: Figure) -> float | None:
    """Length of thigh and shank at rest, the mean of both legs; None of a figure without legs."""
    bones = np.diff(rest_limbs(skeleton, figure)[len(figure.arms) :], axis=1)
    return float(norm(bones).sum(axis=-1).mean()) if figure.legs else None


def bends_towards(figure: Figure, limb: Limb, direction: Floats) -> Floats:
    """Unit vector (3,) that the lower bone moves to as the limb bends, its upper one pointing in ``direction``.

    Forearms go forward and shins back; the forearm of an arm that reaches forward goes up, the shin of a lifted thigh
    down.
    """
    sign = 1.0 if limb.kind == ARM else -1.0
    ahead = abs(float(direction @ figure.forward)) > np.cos(np.radians(35.0))
    return sign * (figure.up if ahead else figure.forward)


@lru_cache(maxsize=16)
def _expected(skeleton: Skeleton, figure: Figure) -> dict[tuple[int, int], Floats]:
    """Bending axes in the rest pose by the upper and lower joint of each limb; none if the figure does not stand.

    It is that of the limb's bend, else at right angles to the limb and forward.
    """
    if not figure.upright:
        return {}
    world, limbs = rest_world(skeleton), figure.limbs
    ways = unit(np.diff(rest_limbs(skeleton, figure), axis=1))
    upper, lower = ways[:, 0], ways[:, 1]
    forward = np.array([bends_towards(figure, limb, way) for limb, way in zip(limbs, upper, strict=True)])
    axes, bends = unit(cross(upper, forward)), cross(upper, lower)
    shown = (norm(bends) > _BENT) & (dot(unit(bends), axes) > _AGREES)
    axes = np.where(shown[:, None], unit(bends), axes)
    own = handed_over(rotate(conjugate(world.rotations[[limb.lower for limb in limbs]]), axes))
    return {(limb.upper, limb.lower): axis for limb, axis in zip(limbs, own, strict=True)}


@lru_cache(maxsize=16)
def _hinge_axes(skeleton: Skeleton, figure: Figure) -> dict[tuple[int, int], Floats]:
    """Bending axes by the upper and lower joint of the limbs that bend by hinges or universals."""
    some = [number for number, limb in enumerate(figure.limbs) if skeleton.kinds[limb.lower].hinged]
    if not some:
        return {}
    limbs, ways = [figure.limbs[number] for number in some], unit(np.diff(rest_limbs(skeleton, figure)[some], axis=1))
    joints = [limb.lower for limb in limbs]
    turns, axes = rest_world(skeleton).rotations[joints], skeleton.axes[joints]
    # Of a universal one axis lies across the bone, the other one twists it.
    across = np.abs(dot(axes, rotate(conjugate(turns), ways[:, 1])[:, None])).argmin(axis=1)
    columns = [0 if skeleton.kinds[joint] is JointKind.HINGE else int(across[row]) for row, joint in enumerate(joints)]
    axes = axes[range(len(joints)), columns]
    bent = _bent_about(ways, rotate(turns, axes)).tolist()
    found = {}
    for limb, axis, column, angle in zip(limbs, axes, columns, bent, strict=True):
        sign, bones = _side(skeleton.limits[limb.lower], column, angle), (limb.upper, limb.lower)
        expected = _expected(skeleton, figure).get(bones)
        if sign == 0.0 and expected is not None:
            sign = float(np.sign(axis @ expected))
        found[bones] = handed_over(-axis if sign < 0 else axis)
    return found


def _bent_about(ways: Floats, axes: Floats) -> Floats:
    """Radians (N,) by which limbs with bones along (N, 2, 3) are bent about axes (N, 3); 0 of one along a bone."""
    upper, lower = cross(axes, ways[:, 0]), cross(axes, ways[:, 1])
    shown = np.minimum(norm(upper), norm(lower)) >= _SLANTED
    return np.asarray(np.where(shown, np.arctan2(dot(cross(upper, lower), axes), dot(upper, lower)), 0.0))


def _side(limits: JointLimits | None, column: int, bent: float) -> float:
    """Sign of the side of straight to which a range is longer; 0 where both are equal or there is none."""
    if limits is None or not np.isfinite([limits.lower[column], limits.upper[column]]).all():
        return 0.0
    longer = float(limits.upper[column] + limits.lower[column]) + 2.0 * bent
    return 0.0 if abs(longer) < _EQUAL else float(np.sign(longer))


def _limited(limits: JointLimits | None) -> Floats | None:
    """The coordinate axis that a ball's limits let bend the most, signed, if they let it bend to one side only."""
    if limits is None or limits.form is LimitForm.COORDINATES:
        return None
    far, near = np.maximum(limits.upper, -limits.lower), np.minimum(limits.upper, -limits.lower)
    if limits.form is LimitForm.SWING_TWIST:
        far[limits.twist_axis] = -np.inf
    axis = int(np.argmax(far))
    if near[axis] > _BEHIND or not _BENDS <= far[axis] < np.inf:
        return None
    sign = 1.0 if limits.upper[axis] == far[axis] else -1.0
    return np.asarray(sign * np.eye(3)[axis])
