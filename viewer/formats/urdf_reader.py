"""Reading robots from URDF and xacro: a joint for each link, hinges, slides, limits, tool frames, meshes.

https://wiki.ros.org/urdf/XML. A link becomes the joint that moves it, under the link's name; its frame is the joint's
frame of the file, so that origins and axes stay as they are. The axis Z is up: the root is turned. The macros of xacro
are expanded in another process, because their expressions are programs.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from viewer.errors import FormatError, InputError, MachineError, is_installed, quote, unknown_name
from viewer.formats.bounds import MOST_TEXT_BYTES, check_counts
from viewer.formats.files import read_bytes
from viewer.formats.robot_meshes import skin_of
from viewer.formats.units import root_rotations_to_internal, root_translations_to_internal, unconverted
from viewer.formats.xml_tree import Element, origin_of, parse_xml
from viewer.skeleton import Builder, Character, Skeleton, Source, limit_violation, project_pose
from viewer.skeleton.builder import GoalWord, KindWord
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY

_KINDS: dict[str, KindWord] = {
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slide",
    "fixed": "fixed",
    "floating": "ball",
    "planar": "hinge",
}
_TOOL = re.compile(
    r"(?:^|[_\W])(?:tool\d*|tcp|ee|eef|tip|hand|gripper|palm|foot|sole|end_?effector)(?:$|[_\W\d])", re.IGNORECASE
)
"""Names of links that people move robots by."""
_NEVER = {"transmission", "gazebo", "ros2_control", "sensor", "material", "loop", "group"}
"""Elements that say nothing about how a robot looks or moves."""
_LEAST_AXIS = 1e-9
_SIX = 6
_ROUNDING = 1e-9
_TURNS = 4.0 * math.pi
"""Limits of hinges are two turns at most."""


class Moved(NamedTuple):
    """A joint of the file.

    Attributes:
        name: its name.
        word: its type.
        parent, child: names of links.
        offset: (3,) of the child in the parent.
        rotation: (4,) likewise.
        axis: (3,) in the child.
        limits: (lowest, highest) in radians or metres; None: none.
        element: for messages.
    """

    name: str
    word: str
    parent: str
    child: str
    offset: Floats
    rotation: Floats
    axis: Floats
    limits: tuple[float, float] | None
    element: Element


def read_urdf(path: Path, name: str, *, units: str = "auto", up: str = "auto", meshes: bool = True) -> Character:
    """Read a robot.

    Args:
        path: of the file; meshes are looked for beside and above it.
        name: of the file in messages.
        units: URDF is in metres; other ones are not converted, with a warning.
        up: URDF has Z up; likewise.
        meshes: False only looks whether the meshes are there: a character without a skin.

    Raises:
        FormatError: not XML, no robot, links that do not make one tree, numbers that cannot be used; with the line.
        InputError: the file cannot be read.
    """
    return robot_of(read_bytes(path, name, MOST_TEXT_BYTES), path, name, units=units, up=up, meshes=meshes)


def robot_of(
    data: bytes, path: Path, name: str, *, units: str = "auto", up: str = "auto", meshes: bool = True
) -> Character:
    """The robot of a document; arguments and errors are those of `read_urdf`."""
    root = parse_xml(data, name)
    try:
        return _character(root, path, name, (units, "y" if up == "z" else up), meshes=meshes)
    except FormatError as error:
        error.file = error.file or name
        raise


def _character(root: Element, path: Path, name: str, given: tuple[str, str], *, meshes: bool) -> Character:
    if root.tag == "mujoco":
        raise FormatError("expected a robot (<robot>), found a MuJoCo model", line=root.line)
    if root.tag != "robot":
        raise FormatError(f"expected <robot>, found <{root.tag}>", line=root.line)
    warnings: list[str] = list(unconverted("URDF", *given))
    links = _links(root)
    check_counts(len(links))
    joints = [_joint(element, links, warnings) for element in root.all("joint")]
    ordered = _ordered(links, joints)
    (top, _), *rest = ordered
    if rest and rest[0][1] is not None and rest[0][1].word == "floating" and _is_bare(links[top], joints):
        ordered = rest  # a root that floats above an empty link is a free root
    warnings += [
        f"joint {quote(joint.name)} floats: its place is fixed, it turns"
        for _, joint in ordered[1:] if joint is not None and joint.word == "floating"
    ]  # fmt: skip
    skeleton = _skeleton(root, ordered, warnings)
    shown = [links[link] for link, _ in ordered if link in links]
    skin, missing = skin_of(root, shown, skeleton, path, meshes=meshes)
    warnings += missing
    _note_unread(root, warnings)
    outside = int((limit_violation(skeleton, skeleton.rest_pose()) > _ROUNDING).sum())
    if outside:
        joint = f"{outside} joint{'' if outside == 1 else 's'}"
        warnings.append(f"the zero pose is outside the limits of {joint}: the robot opens in the nearest pose inside")
        skeleton = replace(skeleton, poses={"relaxed": project_pose(skeleton, skeleton.rest_pose())})
    limited = any(limits is not None for limits in skeleton.limits)
    source = Source(path=name, format="urdf", up="z")
    return Character(
        skeleton, source=source, warnings=tuple(warnings), limits_from="file" if limited else None, skin=skin
    )


def _links(root: Element) -> dict[str, Element]:
    links: dict[str, Element] = {}
    for element in root.all("link"):
        name = element.text("name")
        if name in links:
            raise FormatError(f"expected one link {quote(name)}, found two", line=element.line)
        links[name] = element
    if not links:
        raise FormatError("expected a link, found none", line=root.line)
    return links


def _joint(element: Element, links: dict[str, Element], warnings: list[str]) -> Moved:
    name, word = element.text("name"), element.text("type")
    if word not in _KINDS:
        raise FormatError(f"joint {quote(name)}: expected {', '.join(_KINDS)}, found {quote(word)}", line=element.line)
    ends: list[str] = []
    for end in ("parent", "child"):
        found = element.first(end)
        if found is None:
            raise FormatError(f"joint {quote(name)}: expected <{end}>, found none", line=element.line)
        link = found.text("link")
        if link not in links:
            raise FormatError(f"joint {quote(name)}: no link {quote(link)}", line=found.line)
        ends.append(link)
    offset, rotation = origin_of(element)
    axis, found = np.array([1.0, 0.0, 0.0]), element.first("axis")
    if found is not None:
        axis = np.array(found.numbers("xyz", 3, (1.0, 0.0, 0.0)))
    length = float(np.linalg.norm(axis))
    if word not in ("fixed", "floating") and not length > _LEAST_AXIS:
        line = element.line if found is None else found.line
        raise FormatError(f"joint {quote(name)}: axis: expected a direction, found the zero vector", line=line)
    limits = _limits(element, name, word, warnings)
    parent, child = ends
    axis = axis / length if length > _LEAST_AXIS else axis
    return Moved(name, word, parent, child, offset, rotation, axis, limits, element)


def _limits(element: Element, name: str, word: str, warnings: list[str]) -> tuple[float, float] | None:
    if word not in ("revolute", "prismatic"):
        return None
    found = element.first("limit")
    if found is None or not {"lower", "upper"} & found.attributes.keys():
        warnings.append(f"joint {quote(name)} states no limits: it has none")
        return None
    (lower,), (upper,) = found.numbers("lower", 1, (0.0,)), found.numbers("upper", 1, (0.0,))
    if lower > upper:
        raise FormatError(f"joint {quote(name)}: expected lower <= upper, found {lower:g} > {upper:g}", line=found.line)
    if lower == upper:
        warnings.append(f"joint {quote(name)} cannot move: both its limits are {lower:g}")
    if word == "revolute" and max(-lower, upper) > _TURNS:  # such as 1e16: it turns without end
        return None if min(-lower, upper) > _TURNS else (max(lower, -_TURNS), min(upper, _TURNS))
    return lower, upper


def _ordered(links: dict[str, Element], joints: list[Moved]) -> list[tuple[str, Moved | None]]:
    """Links with the joints that move them, parents first.

    Raises:
        FormatError: two joints move a link, several roots, a circle.
    """
    moved: dict[str, Moved] = {}
    children: dict[str, list[str]] = {}
    for joint in joints:
        if joint.child in moved:
            both = f"{quote(moved[joint.child].name)} and {quote(joint.name)}"
            raise FormatError(f"link {quote(joint.child)}: expected one joint that moves it, found {both}",
                              line=joint.element.line)  # fmt: skip
        moved[joint.child] = joint
        children.setdefault(joint.parent, []).append(joint.child)
    roots = [link for link in links if link not in moved]
    if not roots:
        raise FormatError("expected a root link, found that all links are moved, in a circle")
    if len(roots) > 1:
        names = " and ".join(map(quote, roots[:2]))
        more = f", and {len(roots) - 2} more" if len(roots) > 2 else ""
        raise FormatError(f"expected one root link, found {names}{more}", line=links[roots[1]].line)
    found: list[tuple[str, Moved | None]] = []
    stack = [roots[0]]
    while stack:
        link = stack.pop()
        found.append((link, moved.get(link)))
        stack += reversed(children.get(link, []))
    if len(found) < len(links):
        lost = next(link for link in links if link not in {name for name, _ in found})
        raise FormatError(f"link {quote(lost)}: expected a way from the root, found a circle of joints",
                          line=moved[lost].element.line)  # fmt: skip
    return found


def _skeleton(root: Element, ordered: list[tuple[str, Moved | None]], warnings: list[str]) -> Skeleton:
    turned = Source(up="z")
    builder = Builder(name=root.attributes.get("name", "").strip() or "robot")
    names = {link for link, _ in ordered}
    for link, joint in ordered:
        if joint is None or link == ordered[0][0]:
            place, turn = (np.zeros(3), IDENTITY) if joint is None else (joint.offset, joint.rotation)
            rotation = root_rotations_to_internal(turn, turned)
            kind: KindWord = "fixed" if joint is None else "free"
            builder.add(link, None, root_translations_to_internal(place, turned), kind=kind, rotation=rotation)
            continue
        parent, offset, rotation = joint.parent, joint.offset, joint.rotation
        if joint.word == "planar":
            first, second = _across(joint.axis)
            for axis, end in ((first, "x"), (second, "y")):
                between = f"{link}_{end}"
                if between in names:
                    raise FormatError(f"expected one link {quote(between)}, found two", line=joint.element.line)
                builder.add(between, parent, offset, kind="slide", axis=axis, rotation=rotation)
                parent, offset, rotation = between, np.zeros(3), IDENTITY
        kind = _KINDS[joint.word]
        about = joint.axis if kind in ("hinge", "slide") else None
        try:
            builder.add(link, parent, offset, kind=kind, axis=about, limits=joint.limits, rotation=rotation)
        except InputError as error:
            raise FormatError(str(error).removeprefix("builder: "), line=joint.element.line) from error
    for link, goal in _tools(ordered):
        builder.effector(link, link, goal=goal)
    _follow(builder, [joint for _, joint in ordered[1:] if joint is not None], warnings)
    return builder.skeleton


def _follow(builder: Builder, joints: list[Moved], warnings: list[str]) -> None:
    """Let joints follow those that they mimic, where both turn or slide.

    Raises:
        FormatError: joints that follow each other in a circle.
    """
    by_name = {joint.name: joint for joint in joints}
    leaders: dict[str, str] = {}
    alone: list[str] = []
    for joint in joints:
        mimic = joint.element.first("mimic")
        if mimic is None or _KINDS[joint.word] not in ("hinge", "slide"):
            continue
        name = mimic.attributes.get("joint", "")
        what, leader = f"mimic of joint {quote(joint.name)}", by_name.get(name)
        if leader is None:
            alone.append(f"{what}: {unknown_name('joint', name, by_name)}")
            continue
        if _KINDS[leader.word] not in ("hinge", "slide"):
            alone.append(f"{what}: joint {quote(leader.name)} is {leader.word}")
            continue
        leaders[joint.name] = above = name
        while above in leaders:
            above = leaders[above]
            if above == joint.name:
                raise FormatError(f"{what}: joints follow each other in a circle", line=mimic.line)
        (ratio,), (offset,) = mimic.numbers("multiplier", 1, (1.0,)), mimic.numbers("offset", 1, (0.0,))
        if ratio:
            builder.mimic(joint.child, leader.child, ratio, offset)
        else:
            alone.append(f"{what}: its multiplier is 0")
    if alone:
        more = f", and {len(alone) - 1} more such" if len(alone) > 1 else ""
        warnings.append(f"{alone[0]}: it moves by itself{more}")


def _is_bare(link: Element, joints: list[Moved]) -> bool:
    """Whether a link has no shape and moves one joint only."""
    name = link.attributes.get("name", "").strip()
    return not link.all("visual") and sum(joint.parent == name for joint in joints) == 1


def _across(axis: Floats) -> tuple[Floats, Floats]:
    """Two directions (3,) across an axis and each other."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, other)
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)


def _tools(ordered: list[tuple[str, Moved | None]]) -> list[tuple[str, GoalWord]]:
    """The links that are dragged, and their goals: one behind each last joint that moves, and tool frames.

    Tool frames hold their place, and their rotation where six joints allow that; others are off.
    """
    parents = {link: joint.parent for link, joint in ordered[1:] if joint is not None}
    moves = {link for link, joint in ordered[1:] if joint is not None and joint.word != "fixed"}
    carriers: dict[str, str] = {}  # the moving link above each
    joints: Counter[str] = Counter()  # and how many move
    for link, _ in ordered:
        above = parents.get(link, "")
        carriers[link] = link if link in moves else carriers.get(above, "")
        joints[link] = joints[above] + (link in moves)
    leads_on = {carriers[parents[link]] for link in moves}
    depth: Counter[str] = Counter()
    best: dict[str, tuple[bool, int, str]] = {}
    for link, _ in ordered:
        depth[link] = depth[parents.get(link, "")] + 1
        carrier, tool = carriers[link], bool(_TOOL.search(link))
        if not carrier or (carrier in leads_on and not (tool and link not in moves)):
            continue
        if carrier not in best or (tool, depth[link]) > best[carrier][:2]:
            best[carrier] = tool, depth[link], link
    tools = any(tool for tool, _, _ in best.values())
    found: list[tuple[str, GoalWord]] = []
    handled: dict[str, bool] = {"": False}  # whether a tool frame moves with a link, or with one above it
    for link, _ in ordered:
        behind = handled[parents.get(link, "")]
        handled[link] = behind or (link in best and best[link][0])
        if link in best:
            tool, _, name = best[link]
            if behind and not tool:  # fingers behind a tool frame
                continue
            on: GoalWord = "position+rotation" if joints[name] >= _SIX else "position"
            found.append((name, on if tool or not tools else "off"))
    return found


def _note_unread(root: Element, warnings: list[str]) -> None:
    known = {"link", "joint", *_NEVER}
    other = Counter(child.tag for child in root.children if child.tag not in known)
    warnings += [f"<{tag}> is not read ({count} times)" for tag, count in other.items()]


# --- xacro

_SECONDS = 20.0
_RUN = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)),) * 2)
except ImportError:  # Windows
    sys.argv.pop(1)
import xacro
xacro.main()
"""


def read_xacro(path: Path, name: str, *, units: str = "auto", up: str = "auto", meshes: bool = True) -> Character:
    """Read a robot; arguments are those of `viewer.formats.urdf_reader.read_urdf`.

    Raises:
        FormatError: xacro refuses it, takes too long, or makes no robot of it.
        InputError: there is no such file.
        MachineError: xacro is not installed.
    """
    if not is_installed("xacro"):
        raise MachineError(f"{name}: xacro files need: pip install 'ikviewer[robots]'")
    if not path.is_file():
        raise InputError(f"{name}: no such file")
    with tempfile.TemporaryFile() as made, tempfile.TemporaryFile() as said:
        command = [sys.executable, "-c", _RUN, str(MOST_TEXT_BYTES), str(path.resolve())]
        try:
            done = subprocess.run(  # noqa: S603 - our own Python
                command, stdout=made, stderr=said, timeout=_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise FormatError(f"xacro took more than {_SECONDS:g} s", file=name) from error
        made.seek(0)
        said.seek(0)
        if done.returncode:
            lines = [line.strip() for line in said.read(1 << 16).decode("utf-8", "replace").splitlines()]
            said_last = next(
                (line for line in lines if line and not line.startswith(("Traceback", "File "))), "no reason"
            )
            raise FormatError(f"xacro refuses it: {said_last[:200]}", file=name)
        return robot_of(made.read(MOST_TEXT_BYTES + 1), path, name, units=units, up=up, meshes=meshes)
