"""Finds the links by which a robot is dragged: tools, hands and feet, and not the jaws of a gripper or a camera.

A gripper is the body that carries its jaws: links below a tool that have at most one joint of their own, or that follow
one another. What the jaws hold moves with that body, so that body is dragged, and its arm has as many joints as without
a gripper.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from viewer.skeleton.builder import GoalWord

_START, _END = r"(?:^|[_\W\d]|(?<=[a-z])(?=[A-Z]))", r"(?:$|[_\W\d]|(?<=[a-z])(?=[A-Z]))"
_HAND = re.compile(rf"{_START}(?i:hand|gripper|palm){_END}")
"""Names of links by which robots are usually moved: of those that are fixed to one another, the first one is used."""
_TOOL = re.compile(rf"{_START}(?i:tool|tcp|ee|eef|foot|sole|end_?effector|grasp|grasping){_END}")
"""The same for tools, of which the last link is where the tool ends."""
_TIP = re.compile(rf"{_START}(?i:tip){_END}")
_SENSOR = re.compile(
    r"camera|optical|depth|imu|laser|lidar|sensor|accelero|gyro|(?:^|_)led(?:$|_)|(?:^|_)ft(?:$|_)", re.IGNORECASE
)
_WRIST = re.compile(r"yaw|pitch|roll", re.IGNORECASE)
_FINGER = re.compile(r"finger|jaw|thumb|claw|mover|knuckle", re.IGNORECASE)
_SENSES, _PLAIN, _POINTED, _HELD, _ENDS = range(5)
_SIX = 6
_GRIPPER = 2
"""The most joints that the jaws of a gripper have together; a hand has more."""


class RobotLink(NamedTuple):
    """A link and what moves it.

    Attributes:
        name: its own.
        parent: the link that it is on; "" for the root.
        moves: whether the joint between them moves.
        coupled: whether it follows another joint, or is followed.
    """

    name: str
    parent: str
    moves: bool
    coupled: bool


def tools_of(ordered: Sequence[RobotLink]) -> list[tuple[str, GoalWord]]:
    """The links that are dragged, and their goals: one behind each last joint that moves, and tool frames.

    Tool frames hold their place, and their rotation where six joints allow that; others are off.

    Args:
        ordered: the links, parents first.
    """
    carriers: dict[str, str] = {"": ""}  # the moving link above each
    joints: Counter[str] = Counter()  # and how many move
    for one in ordered:
        carriers[one.name] = one.name if one.moves else carriers[one.parent]
        joints[one.name] = joints[one.parent] + one.moves
    jaws = _jaws(ordered, carriers)
    leads_on = {
        carriers[one.parent] for one in ordered if one.moves and (one.name not in jaws or carriers[one.parent] in jaws)
    }
    best = _best(ordered, carriers, leads_on)
    tools = any(rank >= _POINTED for rank, _, _ in best.values())
    found: list[tuple[str, GoalWord]] = []
    handled: dict[str, bool] = {"": False}  # whether a tool frame moves with a link, or with one above it
    for one in ordered:
        behind = handled[one.parent]
        rank, _, name = best.get(one.name, (_SENSES, 0, ""))
        tool = rank >= _POINTED
        handled[one.name] = behind or tool
        jaw = jaws.get(one.name)
        if not name or jaw or (behind and not tool and jaw is None):  # fingers behind a tool frame
            continue
        on: GoalWord = "position+rotation" if joints[name] >= _SIX else "position"
        found.append((name, "off" if jaw is not None or (tools and not tool) else on))
    return found


def rank_of(link: str) -> int:
    """How suitable a link is for dragging, by its name: a sensor least, a tool most."""
    if _SENSOR.search(link):
        return _SENSES
    if _WRIST.search(link):  # the yaw of a hand is an axis of its wrist
        return _PLAIN
    hand = bool(_HAND.search(link))
    if _TOOL.search(link) or (hand and "frame" in link.casefold()):
        return _ENDS
    return _HELD if hand and not _FINGER.search(link) else _POINTED if hand or _TIP.search(link) else _PLAIN


def _best(
    ordered: Sequence[RobotLink], carriers: Mapping[str, str], leads_on: Collection[str]
) -> dict[str, tuple[int, int, str]]:
    """The link fixed to each moving link that is best for dragging: (rank, how far out, name)."""
    depth: Counter[str] = Counter()
    best: dict[str, tuple[int, int, str]] = {}
    for one in ordered:
        depth[one.name] = depth[one.parent] + 1
        carrier, rank = carriers[one.name], rank_of(one.name)
        if not carrier or (carrier in leads_on and (one.moves or rank < _POINTED)):
            continue
        far = -depth[one.name] if rank == _HELD else depth[one.name]
        if carrier not in best or (rank, far) > best[carrier][:2]:
            best[carrier] = rank, far, one.name
    return best


def _jaws(ordered: Sequence[RobotLink], carriers: Mapping[str, str]) -> dict[str, bool]:
    """The moving links of grippers and simple hands, each with whether it belongs to a gripper."""
    own: Counter[str] = Counter()  # joints of their own from a link on
    coupled: set[str] = set()  # links with coupled joints from there on
    for one in reversed(ordered):
        own[one.name] += one.moves and not one.coupled
        own[one.parent] += own[one.name]
        if one.coupled or one.name in coupled:
            coupled |= {one.name, one.parent}
    held = {carriers[one.name] for one in ordered if rank_of(one.name) >= _HELD} - {""}
    first = {
        one.name: carriers[one.parent]
        for one in ordered
        if one.moves and carriers[one.parent] in held and own[one.name] <= 1
        and (one.name in coupled or _FINGER.search(one.name))
    }  # fmt: skip
    together: Counter[str] = Counter()
    for link, carrier in first.items():
        together[carrier] += own[link]
    found: dict[str, bool] = {}
    above: dict[str, str] = {}  # the jaw that a link is part of
    for one in ordered:
        jaw = one.name if one.name in first else above.get(one.parent, "")
        above[one.name] = jaw
        if jaw and one.moves:
            found[one.name] = together[first[jaw]] <= _GRIPPER
    return found
