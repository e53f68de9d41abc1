"""Robots of URDF, read and written: a joint for each link, hinges, slides, limits, tool frames, meshes.

https://wiki.ros.org/urdf/XML. A link becomes the joint that moves it, under the link's name; its frame is the joint's
frame of the file, so that origins and axes stay as they are. Metres; the axis Z is up: the root is turned. Another
process expands the macros of xacro, because their expressions are programs.

Written, joints that URDF does not have become several, with links between them: a universal two hinges, a ball three; a
free root floats. The shapes are the skeleton's bodies, as cylinders and balls; numbers have all their digits.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from viewer.errors import (
    FormatError,
    InputError,
    MachineError,
    and_more,
    at_path,
    is_installed,
    listed,
    more_such,
    of_file,
    plural,
    quote,
    unknown_name,
)
from viewer.formats.apart import run_apart
from viewer.formats.bounds import MOST_TEXT_BYTES, check_counts
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import read_bytes, write_whole
from viewer.formats.meshes import package_places, skin_of
from viewer.formats.robots import (
    Element,
    RobotLink,
    numbers_text,
    origin_of,
    parse_xml,
    robot_of,
    source_of,
    tools_of,
)
from viewer.formats.units import (
    root_rotations_to_internal,
    root_rotations_to_source,
    root_translations_to_internal,
    root_translations_to_source,
    unconverted,
)
from viewer.skeleton import (
    Builder,
    Capsule,
    Character,
    Effector,
    FreeNames,
    Inertia,
    JointKind,
    JointLimits,
    LimitForm,
    Motor,
    Skeleton,
    Source,
    bodies_of,
    inertias_of,
)
from viewer.skeleton.builder import KindWord
from viewer.skeleton.limits import MOST_TURN
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, axes_of, between, perpendicular, to_euler, to_matrix

_KINDS: dict[str, KindWord] = {
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slide",
    "fixed": "fixed",
    "floating": "ball",
    "planar": "hinge",
    "spherical": "ball",
}
"""By URDF's words for joints; the last is Bullet's, of the humanoid of DeepMimic and others."""
_NEVER = {"transmission", "gazebo", "ros2_control", "sensor", "material", "loop", "group"}
"""Elements that say nothing about how a robot looks or moves."""
_MOMENTS = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
_LEAST_AXIS = 1e-9
NO_LINK = "expected a link, found none"
"""The warning for a robot without meshes."""
_DRIVEN = ("revolute", "continuous", "prismatic", "spherical")
_BOUNDLESS = 1e9
"""Values above these state that effort or velocity, which URDF requires, are unknown; files use 1e6 and more."""
_MOST_STATED = 1e6

_ALL_ROUND = 2.0 * math.pi
"""The ends of a range that no pose exceeds, such as those of a UR's joints."""
_LIGHT_KG, _LIGHT_INERTIA = 1e-3, 1e-6
"""Mass and inertia of links without a body: simulators refuse links without any."""
_STILL = 1e-12
_Z = np.array((0.0, 0.0, 1.0))
_NO_MOTOR = Motor()

_SECONDS, _MEMORY = 20.0, 2 << 30
_LOST, _NO_FILE, _NO_ARGUMENT = 'package "', "No such file", "Undefined substitution argument "
"""Its messages about a package that is not found, about a file, and about an argument without a value."""


class Moved(NamedTuple):
    """A joint of the file between two links: offset (3,) and rotation (4,) of the child in the parent's frame.

    ``axis`` (3,) is in the child. Of a revolute joint ``stated`` is the range as in the file; ``limits``, radians or
    metres, are None for a joint without.
    """

    name: str
    word: str
    parent: str
    child: str
    offset: Floats
    rotation: Floats
    axis: Floats
    stated: tuple[float, float] | None
    limits: tuple[float, float] | None
    element: Element


def read_urdf(path: Path, name: str, *, units: str = "auto", up: str = "auto", meshes: bool = True) -> Character:
    """Read a robot; its meshes are looked for beside and above the file. Errors of its contents name the line.

    Without ``meshes`` the reader only checks that they exist: the character has no skin.
    """
    return _read(read_bytes(path, name, MOST_TEXT_BYTES), path, name, units, up, meshes=meshes)


def _read(data: bytes, path: Path, name: str, units: str, up: str, *, meshes: bool) -> Character:
    """The robot of a document; arguments and errors are those of `read_urdf`."""
    with of_file(name):
        root = parse_xml(data)
        if root.tag != "robot":
            found = "a MuJoCo model" if root.tag == "mujoco" else f"<{root.tag}>"
            expected = "a robot (<robot>)" if root.tag == "mujoco" else "<robot>"
            raise FormatError(f"expected {expected}, found {found}", line=root.line)
        given = units, "y" if up == "z" else up
        warnings: list[str] = list(unconverted("URDF", *given))
        links = _links(root)
        check_counts(len(links))
        joints = [_joint(element, links, warnings) for element in root.all("joint")]
        ordered = _ordered(links, joints)
        (top, _), *rest = ordered
        first = rest[0][1] if rest else None
        bare = not links[top].all("visual") and sum(joint.parent == top for joint in joints) == 1
        if bare and first is not None and first.word == "floating":
            ordered = rest  # a root that floats above an empty link is a free root
        below = [joint for _, joint in ordered[1:] if joint is not None]
        warnings += [
            f"joint {quote(joint.name)} floats: its place is fixed, it turns"
            for joint in below if joint.word == "floating"
        ]  # fmt: skip
        wide = {one.child: one.stated for one in below if one.stated and one.stated[1] - one.stated[0] >= MOST_TURN}
        source = source_of("urdf", name, *given)
        source = replace(source, joint_names={joint.child: joint.name for joint in below}, ranges=wide)
        inertias, motors = _inertias(links, warnings), _motors(joints, warnings)
        skeleton = _skeleton(root, ordered, source, inertias, motors, warnings)
        shown = [links[link] for link, _ in ordered if link in links]
        skin, missing = skin_of(root, shown, skeleton, path, meshes=meshes)
        warnings += missing
        other = Counter(child.tag for child in root.children if child.tag not in {"link", "joint", *_NEVER})
        warnings += [f"<{tag}> is not read ({plural(count, 'time')})" for tag, count in other.items()]
        return robot_of(skeleton, source, warnings, skin, "robot")


def _links(root: Element) -> dict[str, Element]:
    links: dict[str, Element] = {}
    for element in root.all("link"):
        name = element.text("name")
        if name in links:
            raise FormatError(f"expected one link {quote(name)}, found two", line=element.line)
        links[name] = element
    if not links:
        raise FormatError(NO_LINK, line=root.line)
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
            raise FormatError(f"joint {quote(name)}: {unknown_name('link', link, links)}", line=found.line)
        ends.append(link)
    offset, rotation = origin_of(element)
    axis, found = np.array([1.0, 0.0, 0.0]), element.first("axis")
    if found is not None:
        axis = np.array(found.numbers("xyz", 3, (1.0, 0.0, 0.0)))
    length = float(np.linalg.norm(axis))
    if _KINDS[word] in ("hinge", "slide") and not length > _LEAST_AXIS:
        line = element.line if found is None else found.line
        raise FormatError(f"joint {quote(name)}: axis: expected a direction, found the zero vector", line=line)
    limits = stated = _limits(element, name, word, warnings)
    if limits is not None and word == "revolute":
        limits = _within_turns(*limits)
    parent, child = ends
    axis = axis / length if length > _LEAST_AXIS else axis
    stated = stated if word == "revolute" else None
    return Moved(name, word, parent, child, offset, rotation, axis, stated, limits, element)


def _limits(element: Element, name: str, word: str, warnings: list[str]) -> tuple[float, float] | None:
    found = element.first("limit")
    if word == "spherical" and found is not None and {"lower", "upper"} & found.attributes.keys():
        warnings.append(f"joint {quote(name)}: limits of spherical joints are not read")
    if word not in ("revolute", "prismatic"):
        return None
    if found is None or not {"lower", "upper"} & found.attributes.keys():
        warnings.append(f"joint {quote(name)} states no limits: it has none")
        return None
    (lower,), (upper,) = found.numbers("lower", 1, (0.0,)), found.numbers("upper", 1, (0.0,))
    if lower > upper:
        raise FormatError(f"joint {quote(name)}: expected lower <= upper, found {lower:g} > {upper:g}", line=found.line)
    if lower == upper:
        warnings.append(f"joint {quote(name)} cannot move: both its limits are {lower:g}")
    return lower, upper


def _within_turns(lower: float, upper: float) -> tuple[float, float] | None:
    if max(-lower, upper) > MOST_TURN:  # such as 1e16: it turns without end
        return None if min(-lower, upper) > MOST_TURN else (max(lower, -MOST_TURN), min(upper, MOST_TURN))
    return lower, upper


def _motors(joints: list[Moved], warnings: list[str]) -> dict[str, Motor]:
    """By link the effort and velocity that its joint states.

    Many files state 0 where they know none, although a joint without any effort could not move.
    """
    found: dict[str, Motor] = {}
    idle, wrong = [], []
    for joint in joints:
        limit = joint.element.first("limit")
        if limit is None or joint.word not in _DRIVEN:
            continue
        values: dict[str, float] = {}
        for name in ("effort", "velocity"):
            try:
                (value,) = limit.sizes(name, 1, (_BOUNDLESS,))
            except FormatError as error:
                wrong.append(f"line {limit.line}: joint {quote(joint.name)}: {FormatError(*error.args)}")
                continue
            if value == 0.0 and name == "effort":
                idle.append(joint.name)
            if 0.0 < value < _MOST_STATED:
                values[name] = value
        if values:
            found[joint.child] = Motor(**values)
    if wrong:
        warnings.append(f"{wrong[0]}: it is not known{more_such(len(wrong))}")
    if idle:
        verb = "state" if len(idle) > 1 else "states"
        warnings.append(f"joint {quote(idle[0])}{and_more(len(idle))} {verb} an effort of 0: physics estimates it")
    return found


def _ordered(links: dict[str, Element], joints: list[Moved]) -> list[tuple[str, Moved | None]]:
    """Links with the joints that move them, parents first."""
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
        raise FormatError(f"expected one root link, found {listed([*map(quote, roots)], 2)}", line=links[roots[1]].line)
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


def _inertias(links: dict[str, Element], warnings: list[str]) -> dict[str, Inertia]:
    """The stated inertia of each link; a link without one weighs nothing if others have one.

    Links with an impossible mass are left out, and estimated.
    """
    stated = {link: one for link, element in links.items() if (one := element.first("inertial")) is not None}
    found: dict[str, Inertia] = dict.fromkeys(links, Inertia(0.0))
    wrong, changed = [], []
    for link, element in stated.items():
        try:
            found[link], is_other = _inertia(element)
        except (FormatError, InputError) as error:
            problem = str(FormatError(*error.args)).removeprefix("inertia: ")  # without its line
            wrong.append(f"line {element.line}: link {quote(link)}: {problem}")
            del found[link]
            continue
        if is_other:
            changed.append(link)
    if wrong:
        more = f"; so are those of {len(wrong) - 1} more links" if len(wrong) > 1 else ""
        warnings.append(f"{wrong[0]}: mass and inertia are estimated{more}")
    if changed:
        named = listed([*map(quote, changed)], 3)
        warnings.append(f"no body has the moments of inertia of {named}: the nearest ones are taken")
    return found if any(one.mass > 0.0 for one in found.values()) else {}


def _inertia(element: Element) -> tuple[Inertia, bool]:
    """The inertia of an ``<inertial>``, and whether the stated one was impossible and replaced."""
    center, turn = origin_of(element)
    mass, inertia = element.first("mass"), element.first("inertia")
    (kilograms,) = (0.0,) if mass is None else mass.numbers("value", 1)
    matrix = np.zeros((3, 3))
    if inertia is not None:
        for name, (row, column) in _MOMENTS.items():
            (matrix[row, column],) = inertia.numbers(name, 1, (0.0,))
            matrix[column, row] = matrix[row, column]
    axes = to_matrix(turn)
    with np.errstate(over="ignore", invalid="ignore"):  # moments that are too large are refused below
        turned = axes @ matrix @ axes.T
    return Inertia.nearest(kilograms, center, turned)


def _skeleton(
    root: Element,
    ordered: list[tuple[str, Moved | None]],
    source: Source,
    inertias: dict[str, Inertia],
    motors: dict[str, Motor],
    warnings: list[str],
) -> Skeleton:
    builder = Builder(name=root.attributes.get("name", "").strip() or "robot")
    names = {link for link, _ in ordered}
    for link, joint in ordered:
        if joint is None or link == ordered[0][0]:
            place, turn = (np.zeros(3), IDENTITY) if joint is None else (joint.offset, joint.rotation)
            rotation = root_rotations_to_internal(turn, source)
            kind: KindWord = "fixed" if joint is None else "free"
            place, own = root_translations_to_internal(place, source), inertias.get(link)
            builder.add(link, None, place, kind=kind, rotation=rotation, inertia=own)
            continue
        parent, offset, rotation = joint.parent, joint.offset, joint.rotation
        if joint.word == "planar":
            across = perpendicular(joint.axis)
            for axis, end in ((across, "x"), (np.cross(joint.axis, across), "y")):
                between = f"{link}_{end}"
                if between in names:
                    raise FormatError(f"expected one link {quote(between)}, found two", line=joint.element.line)
                nothing = Inertia(0.0) if inertias else None
                builder.add(between, parent, offset, kind="slide", axis=axis, rotation=rotation, inertia=nothing)
                parent, offset, rotation = between, np.zeros(3), IDENTITY
        kind = _KINDS[joint.word]
        about = joint.axis if kind in ("hinge", "slide") else None
        with at_path(line=joint.element.line, but="builder: "):
            builder.add(
                link, parent, offset, kind=kind, axis=about, limits=joint.limits, rotation=rotation,
                inertia=inertias.get(link), motor=motors.get(link),
            )  # fmt: skip
    for link, goal in tools_of(_robot_links(ordered)):
        builder.effector(link, link, goal=goal)
    _follow(builder, [joint for _, joint in ordered[1:] if joint is not None], warnings)
    return builder.skeleton


def _follow(builder: Builder, joints: list[Moved], warnings: list[str]) -> None:
    """Make joints follow those that they mimic, where both turn or slide."""
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
        warnings.append(f"{alone[0]}: it moves by itself{more_such(len(alone))}")


def _robot_links(ordered: list[tuple[str, Moved | None]]) -> list[RobotLink]:
    """The links as `tools_of` takes them."""
    mimics = {
        joint.name: mimic.attributes.get("joint", "")
        for _, joint in ordered[1:] if joint is not None and (mimic := joint.element.first("mimic")) is not None
    }  # fmt: skip
    coupled = {*mimics, *mimics.values()}
    found = [RobotLink(ordered[0][0], "", moves=False, coupled=False)]
    for link, joint in ordered[1:]:
        if joint is not None:
            moves, endless = joint.word != "fixed", _KINDS[joint.word] == "hinge" and joint.limits is None
            found.append(RobotLink(link, joint.parent, moves, joint.name in coupled, endless))
    return found


def read_xacro(path: Path, name: str, *, units: str = "auto", up: str = "auto", meshes: bool = True) -> Character:
    """Read a robot as `read_urdf` does, once xacro, if it is installed, has expanded its macros in time."""
    if not is_installed("xacro"):
        raise MachineError(f"{name}: reading it needs xacro: pip install 'ikviewer[robots]'")
    if not path.is_file():
        raise InputError(f"{name}: no such file")
    folder = path.resolve().parent
    places = json.dumps([(str(base), named) for base, named in package_places(folder)])
    with of_file(name):
        data, lines = run_apart(
            "xacro", [places, str(folder.parent), str(path.resolve())],
            memory=_MEMORY, size=MOST_TEXT_BYTES, seconds=_SECONDS,
        )  # fmt: skip
        if data is None:
            raise FormatError(f"xacro refuses it: {_reason(lines, path)}")
        try:
            return _read(data, path, name, units, up, meshes=meshes)
        except FormatError as error:
            if error.problem == NO_LINK:
                raise FormatError(f"{NO_LINK}: macros are opened by the file that includes them") from error
            if error.line is None:
                raise
            raise FormatError(f"line {error.line} of what xacro makes of it: {error.problem}") from error


def _reason(lines: list[str], path: Path) -> str:
    """Why xacro refuses a file, by the lines that it printed."""
    reasons = lines or ["no reason"]
    if lines and lines[0].startswith("Traceback"):
        reasons = lines[-1:]
    elif lines[:1] == ["error:"]:  # of a MemoryError
        reasons = [f"it needs more than {_MEMORY >> 30} GiB of memory"]
    lost = [line for line in reasons if line.startswith(_LOST)]
    first = next((line for line in reasons if line not in lost), reasons[0])
    # A missing package may be a copy under another name, whose files exist.
    reason = (lost[0] if lost and _NO_FILE in first else first)[:200]
    missing = reason.partition(_NO_ARGUMENT)[2].split()
    return (
        f"{reason}: expand it yourself, by `xacro {path.name} {missing[0]}:=... -o robot.urdf`" if missing else reason
    )


# --- writing


class _Step(NamedTuple):
    """A joint of the file: the link that it moves, its type, axis (3,) and range."""

    link: str
    word: str
    axis: Floats | None = None
    limits: tuple[float, float] | None = None


def write_urdf(character: Character, path: Path, options: WriteOptions) -> list[str]:  # noqa: ARG001 - as of all writers
    """Write the skeleton."""
    text, warnings = urdf_text(character)
    write_whole(path, text)
    return warnings


def urdf_text(character: Character) -> tuple[str, list[str]]:
    """The robot as XML, and what it does not hold."""
    skeleton = character.skeleton
    root = ET.Element("robot", name=skeleton.name or "robot")
    warnings: list[str] = []
    tools = [one for one in skeleton.effectors if one.name not in skeleton.names]
    free = FreeNames([*skeleton.names, *(tool.name for tool in tools)])
    plans = [_steps(skeleton, joint, character.source, free) for joint in range(len(skeleton))]
    cones = [
        name
        for name, limits in zip(skeleton.names, skeleton.limits, strict=True)
        if limits is not None and limits.form is LimitForm.SWING_TWIST
    ]
    if cones:
        are = "a cone and a twist" if len(cones) == 1 else "cones and twists"
        warnings.append(f"the limits of {listed(cones, 3)} are {are}: they are left out")
    between_links = [step.link for plan in plans for step in plan[:-1]]
    if between_links:
        warnings.append(f"URDF has hinges and slides only: {len(between_links)} links without a body stand in")
    roots = np.flatnonzero(skeleton.parents < 0)
    up = Source(up="y" if character.source.units == "raw" else "z")  # raw axes are those of the file
    base = len(roots) > 1 or not _stands_at_origin(skeleton, int(roots[0]), up)
    world = free.take("world") if base else ""
    if base:
        ET.SubElement(root, "link", name=world)
    mimics = {one.joint: one for one in skeleton.mimics}
    capsules, inertias, called = _capsules(skeleton), inertias_of(skeleton), _joint_names(character, plans, tools)
    for joint, plan in enumerate(plans):
        parent = int(skeleton.parents[joint])
        offset, rotation = skeleton.offsets[joint], skeleton.rest_rotations[joint]
        above = skeleton.names[parent] if parent >= 0 else world
        if parent < 0:
            offset, rotation = root_translations_to_source(offset, up), root_rotations_to_source(rotation, up)
        mimic = mimics.get(skeleton.names[joint])
        motor = (skeleton.motors[joint] if skeleton.motors else None) or _NO_MOTOR
        for step in plan:
            last = step is plan[-1]
            link = _add_link(root, step.link, capsules[joint] if last else [])
            own = inertias[joint] if last else Inertia(0.0)
            if own.mass > 0.0 or step.word != "fixed":
                _add_inertia(link, own)
            if parent >= 0 or base:
                made = _add_joint(root, step, called[step.link], above, offset, rotation, motor)
                if mimic is not None:
                    follows = {"multiplier": repr(mimic.ratio), "offset": repr(mimic.offset)}
                    ET.SubElement(made, "mimic", {"joint": called[mimic.leader]} | follows)
            above, offset, rotation = step.link, np.zeros(3), IDENTITY
    for tool in tools:
        _add_link(root, tool.name, [])
        step = _Step(tool.name, "fixed")
        _add_joint(root, step, called[tool.name], skeleton.names[tool.joint], np.array(tool.offset), IDENTITY)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n", warnings


def _stands_at_origin(skeleton: Skeleton, root: int, up: Source) -> bool:
    """Whether the root is fixed at the origin with the axes of the file: it needs no joint."""
    turn = root_rotations_to_source(skeleton.rest_rotations[root], up)
    still = abs(abs(turn[3]) - 1.0) < _STILL and float(np.abs(skeleton.offsets[root]).max()) < _STILL
    return skeleton.kinds[root] is JointKind.FIXED and still


def _steps(skeleton: Skeleton, joint: int, source: Source, free: FreeNames) -> list[_Step]:
    name, kind, limits = skeleton.names[joint], skeleton.kinds[joint], skeleton.limits[joint]
    if kind is JointKind.FREE:
        return [_Step(name, "floating")]
    if kind is JointKind.FIXED:
        return [_Step(name, "fixed")]
    if kind is JointKind.BALL:
        euler = limits is not None and limits.form is LimitForm.EULER
        order = limits.order if limits is not None and euler else "xyz"
        axes = np.eye(3)[list(axes_of(order))]
        ranges = [_range(limits, axis) if euler else None for axis in axes_of(order)]
    else:
        axes = skeleton.axes[joint, : kind.axes]
        ranges = [_range(limits, column) for column in range(len(axes))]
        if kind is JointKind.HINGE and name in source.ranges and (limits is None or np.isinf(limits.lower[0])):
            ranges = [source.ranges[name]]
    word = "prismatic" if kind is JointKind.SLIDE else "revolute"
    links = [*(free.take(f"{name}_{number + 1}") for number in range(len(axes) - 1)), name]
    return [_Step(link, word, axis, ends) for link, axis, ends in zip(links, axes, ranges, strict=True)]


def _range(limits: JointLimits | None, column: int) -> tuple[float, float] | None:
    if limits is None:
        return None
    lower, upper = float(limits.lower[column]), float(limits.upper[column])
    if limits.form is LimitForm.COORDINATES and lower == -np.inf and upper == np.inf:
        return -_ALL_ROUND, _ALL_ROUND  # that range was stated: a joint without a stated range has no limits
    return (lower, upper) if np.isfinite(lower) and np.isfinite(upper) else None


def _joint_names(character: Character, plans: list[list[_Step]], tools: list[Effector]) -> dict[str, str]:
    """The names of the joints by the links that they move: those of the file that was read, each once."""
    links = [*(step.link for plan in plans for step in plan), *(tool.name for tool in tools)]
    read = {link: name for link in links if (name := character.source.joint_names.get(link))}
    taken, found = set(read.values()), dict[str, str]()
    once = len(taken) == len(read)
    for link in links:
        name = read.get(link) if once else None
        if name is None:
            name = f"{link}_joint"
            while name in taken:
                name += "_"
            taken.add(name)
        found[link] = name
    return found


def _add_joint(
    root: ET.Element, step: _Step, name: str, parent: str, offset: Floats, rotation: Floats, motor: Motor = _NO_MOTOR
) -> ET.Element:
    word = "continuous" if step.word == "revolute" and step.limits is None else step.word
    made = ET.SubElement(root, "joint", name=name, type=word)
    ET.SubElement(made, "parent", link=parent)
    ET.SubElement(made, "child", link=step.link)
    _add_origin(made, offset, rotation)
    if step.axis is not None:
        ET.SubElement(made, "axis", xyz=numbers_text(step.axis))
        lower, upper = step.limits or (-1e3, 1e3)
        ends = {} if word == "continuous" else {"lower": repr(lower), "upper": repr(upper)}
        if ends or motor != _NO_MOTOR:
            driven = {"effort": repr(motor.effort or _BOUNDLESS), "velocity": repr(motor.velocity or _BOUNDLESS)}
            ET.SubElement(made, "limit", ends | driven)
    return made


def _add_origin(element: ET.Element, offset: Floats, rotation: Floats) -> None:
    # Most are not turned; one by one `to_euler` takes longer than the rest of a joint.
    angles = (0.0, 0.0, 0.0) if rotation is IDENTITY else to_euler(rotation, "zyx")[::-1]
    ET.SubElement(element, "origin", xyz=numbers_text(offset), rpy=numbers_text(angles))


def _capsules(skeleton: Skeleton) -> dict[int, list[Capsule]]:
    found: dict[int, list[Capsule]] = defaultdict(list)
    for one in bodies_of(skeleton).capsules:
        found[one.joint].append(one)
    return found


def _add_link(root: ET.Element, name: str, capsules: list[Capsule]) -> ET.Element:
    link = ET.SubElement(root, "link", name=name)
    for use in ("visual", "collision"):
        for one in capsules:
            a, b = np.array(one.a), np.array(one.b)
            length = float(np.linalg.norm(b - a))
            if length > 0.0:
                made = ET.SubElement(link, use)
                _add_origin(made, 0.5 * (a + b), between(_Z, (b - a) / length))
                shape = ET.SubElement(made, "geometry")
                ET.SubElement(shape, "cylinder", radius=repr(float(one.radius)), length=repr(length))
            for end in (a, b) if length > 0.0 else (a,):
                made = ET.SubElement(link, use)
                _add_origin(made, end, IDENTITY)
                ET.SubElement(ET.SubElement(made, "geometry"), "sphere", radius=repr(float(one.radius)))
    return link


def _add_inertia(link: ET.Element, inertia: Inertia) -> None:
    """Write an inertia; simulators refuse moving links without one."""
    weighs = inertia.mass > 0.0
    made = ET.Element("inertial")
    link.insert(0, made)
    _add_origin(made, np.array(inertia.center), IDENTITY)
    ET.SubElement(made, "mass", value=repr(inertia.mass if weighs else _LIGHT_KG))
    matrix = inertia.matrix if weighs else _LIGHT_INERTIA * np.eye(3)
    ET.SubElement(made, "inertia", {name: repr(float(matrix[at])) for name, at in _MOMENTS.items()})
