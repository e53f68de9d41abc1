"""What files of robots share: XML as a plain tree with line numbers, tools, the result.

XML has no document types, entities or anything that would read other files. A robot is dragged by its tools, hands and
feet, and not by the jaws of a gripper or a camera. A gripper is the body that carries its jaws: links below a tool that
have at most one joint of their own, or that follow one another. What the jaws hold moves with that body, so that body
is dragged, and its arm has as many joints as without a gripper.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, NoReturn
from xml.parsers import expat

import numpy as np

from viewer.errors import FormatError, plural, quote
from viewer.skeleton import Character, Skeleton, Skin, Source, limit_violation, project_pose
from viewer.skeleton.builder import GoalWord
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, from_axis_angle, multiply

MOST_ELEMENTS = 1_000_000
_DEEPEST = 200

_START, _END = r"(?:^|[_\W\d]|(?<=[a-z])(?=[A-Z]))", r"(?:$|[_\W\d]|(?<=[a-z])(?=[A-Z]))"
_HAND = re.compile(rf"{_START}(?i:hand|gripper|palm){_END}")
"""Names of links by which robots are usually moved: of those that are fixed to one another, the first one is used."""
_TOOL = re.compile(rf"{_START}(?i:tool|tcp|ee|eef|foot|sole|end_?effector|grasp|grasping){_END}")
"""The same for tools, of which the last link is where the tool ends."""
_TIP = re.compile(rf"{_START}(?i:tip){_END}")
_SENSOR = re.compile(
    r"camera|optical|depth|imu|laser|lidar|sensor|accelero|gyro|(?:^|_)(?:cam\d*|led|ft)(?:$|_)", re.IGNORECASE
)
_WRIST = re.compile(r"yaw|pitch|roll", re.IGNORECASE)
_FINGER = re.compile(r"finger|jaw|thumb|claw|mover|knuckle", re.IGNORECASE)
_SENSES, _PLAIN, _POINTED, _HELD, _ENDS = range(5)
_SIX = 6
_GRIPPER = 2
"""The most joints that the jaws of a gripper have together; a hand has more."""

_ROUNDING = 1e-9
_COMMENT = re.compile(rb"<!--.*?(-->|\Z)", re.DOTALL)
_ATTRIBUTE_AT_ANOTHER = re.compile(rb"""=\s*("[^"<]*"|'[^'<]*')(?=[A-Za-z_])""")


@dataclass(slots=True)
class Element:
    """An XML element: its tag without a prefix, and the line, from 1, where it begins; text in it is dropped."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """The children of a tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child of a tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def text(self, name: str) -> str:
        """An attribute that has to be there."""
        found = self.attributes.get(name, "").strip()
        if not found:
            raise FormatError(f"expected the attribute {quote(name)} of <{self.tag}>, found none", line=self.line)
        return found

    def numbers(self, name: str, count: int, usual: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """The finite numbers of an attribute, ``count`` of them; ``usual`` if it is absent."""
        given = self.attributes.get(name)
        if given is None and usual is not None:
            return usual
        words = self.text(name).split()
        try:
            found = tuple(float(word) for word in words)
        except ValueError:
            found = ()
        if len(found) != count or not all(math.isfinite(number) for number in found):
            many = "a finite number" if count == 1 else f"{count} finite numbers"
            raise FormatError(f"<{self.tag} {name}>: expected {many}, found {quote(given)}", line=self.line)
        return found

    def sizes(self, name: str, count: int, usual: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """`numbers` of 0 or more."""
        found = self.numbers(name, count, usual)
        if min(found) < 0.0:
            raise FormatError(f"<{self.tag} {name}>: expected 0 or more, found {min(found):g}", line=self.line)
        return found


def parse_xml(data: bytes) -> Element:
    """The root element of an XML document that is neither too deep nor too large.

    A document type is refused: entities could make it grow without end.
    """
    if not data.strip():
        raise FormatError("the file is empty; expected XML")
    parser = expat.ParserCreate()  # without namespaces: files have prefixes that they do not declare
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    stack: list[Element] = []
    found: list[Element] = []
    count = 0

    def refuse(problem: str) -> NoReturn:
        raise FormatError(problem, line=parser.CurrentLineNumber)

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS:
            refuse(f"expected at most {MOST_ELEMENTS:,} XML elements, found more")
        if len(stack) >= _DEEPEST:
            refuse(f"expected XML elements in at most {_DEEPEST} others, found more")
        element = Element(tag.rpartition(":")[2], attributes, parser.CurrentLineNumber)
        if stack:
            stack[-1].children.append(element)
        else:
            found.append(element)
        stack.append(element)

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: stack.pop()
    parser.StartDoctypeDeclHandler = lambda *_: refuse("expected no document type, found <!DOCTYPE")
    try:
        parser.Parse(_tidied(data), True)
    except expat.ExpatError as error:
        problem = f"expected XML, found an error: {expat.errors.messages.get(error.code, 'unknown')}"
        raise FormatError(problem, line=error.lineno, column=error.offset + 1) from error
    except (LookupError, ValueError) as error:  # an encoding that Python does not have
        raise FormatError(f"expected XML, found an error: {error}") from error
    return found[0]


def _tidied(data: bytes) -> bytes:
    """A document as other parsers take it, in the same lines.

    They accept comments with two hyphens, white space and comments before the declaration, no space between attributes,
    and NUL after the end.
    """
    if b"\0" in data[:4]:  # UTF-16
        return data
    data = _COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n") if found[1] else found[0], data.rstrip(b"\0"))
    data = _ATTRIBUTE_AT_ANOTHER.sub(rb"\g<0> ", data)
    bare = data.lstrip()
    end = bare.find(b"?>") + 2
    if len(bare) == len(data) or not bare.startswith(b"<?xml") or end < 2:
        return data
    return bare[:end] + data[: len(data) - len(bare)] + bare[end:]  # lines stay where they are


def numbers_text(values: Iterable[float]) -> str:
    """Numbers with all their digits, as an attribute of XML."""
    return " ".join(repr(float(value)) for value in values)


def source_of(form: str, name: str, units: str, up: str, file_up: str = "z") -> Source:
    """Metres and the file's own upward axis; with raw units the axes stay as they are."""
    raw = units == "raw" and up == "auto"
    return Source(path=name, format=form, units="raw" if raw else "m", up="y" if raw or file_up == "y" else "z")


def robot_of(skeleton: Skeleton, source: Source, warnings: list[str], skin: Skin | None, noun: str) -> Character:
    """The character of a robot, which opens inside its limits; ``noun`` is what messages call it."""
    outside = int((limit_violation(skeleton, skeleton.rest_pose()) > _ROUNDING).sum())
    if outside and "relaxed" not in skeleton.poses:
        joints = plural(outside, "joint")
        warnings.append(f"the zero pose is outside the limits of {joints}: the {noun} opens in the nearest pose inside")
        skeleton = replace(skeleton, poses={"relaxed": project_pose(skeleton, skeleton.rest_pose())})
    limits_from = "file" if any(limits is not None for limits in skeleton.limits) else None
    return Character(skeleton, source=source, warnings=tuple(warnings), limits_from=limits_from, skin=skin)


def origin_of(element: Element) -> tuple[Floats, Floats]:
    """Offset (3,) and rotation (4,) of an element's ``<origin>``: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    found = element.first("origin")
    if found is None:
        return np.zeros(3), IDENTITY
    offset, angles = found.numbers("xyz", 3, (0.0, 0.0, 0.0)), found.numbers("rpy", 3, (0.0, 0.0, 0.0))
    x, y, z = (from_axis_angle(axis, np.array(angle)) for axis, angle in zip(np.eye(3), angles, strict=True))
    return np.array(offset), multiply(z, multiply(y, x))


class RobotLink(NamedTuple):
    """A link and what moves it.

    Attributes:
        parent: the link that it is on; "" for the root.
        moves: whether the joint between them moves.
        coupled: whether it follows another joint, or is followed.
        endless: whether it turns without end.
    """

    name: str
    parent: str
    moves: bool
    coupled: bool
    endless: bool = False


def tools_of(ordered: Sequence[RobotLink]) -> list[tuple[str, GoalWord]]:
    """The links that are dragged, and their goals: one behind each last joint that moves, and tool frames.

    Tool frames hold their place, and their rotation where six joints allow that; others are off. Wheels and rotors on
    the root, which stay in place however they turn, are off and come last. ``ordered``: parents first.
    """
    carriers: dict[str, str] = {"": ""}  # the moving link above each
    joints = _joints_above(ordered)
    for one in ordered:
        carriers[one.name] = one.name if one.moves else carriers[one.parent]
    jaws = _jaws(ordered, carriers)
    leads_on = {
        carriers[one.parent] for one in ordered if one.moves and (one.name not in jaws or carriers[one.parent] in jaws)
    }
    best = _best(ordered, carriers, leads_on)
    tools = any(rank >= _POINTED for rank, _, _ in best.values())
    found: list[tuple[str, GoalWord]] = []
    wheels = wheels_of(ordered)
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
        found.append((name, "off" if jaw is not None or (tools and not tool) or (name in wheels and not tool) else on))
    return sorted(found, key=lambda one: one[0] in wheels)


def wheels_of(ordered: Sequence[RobotLink]) -> set[str]:
    """Wheels and rotors on the root, which stay in place however they turn."""
    joints = _joints_above(ordered)
    return {one.name for one in ordered if one.endless and one.parent and joints[one.name] == 1}


def _joints_above(ordered: Sequence[RobotLink]) -> Counter[str]:
    """By link, how many joints between it and the root move."""
    joints: Counter[str] = Counter()
    for one in ordered:
        joints[one.name] = joints[one.parent] + one.moves
    return joints


def is_sensor(link: str) -> bool:
    """Whether a name is that of a camera or another sensor, which is no effector."""
    return bool(_SENSOR.search(link))


def rank_of(link: str) -> int:
    """How suitable a link is for dragging, by its name: a sensor least, a tool most."""
    if is_sensor(link):
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
