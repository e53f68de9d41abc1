"""Robots of URDF: a joint for each link, hinges, slides, limits, tool frames, meshes.

https://wiki.ros.org/urdf/XML. A link becomes the joint that moves it, under the link's name; its frame is the joint's
frame of the file, so that origins and axes stay as they are. The axis Z is up: the root is turned. Another process
expands the macros of xacro, because their expressions are programs.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

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
from viewer.formats.bounds import MOST_TEXT_BYTES, check_counts
from viewer.formats.files import read_bytes
from viewer.formats.meshes import package_places, skin_of
from viewer.formats.robot_reading import (
    Element,
    RobotLink,
    origin_of,
    parse_xml,
    robot_of,
    run_apart,
    source_of,
    tools_of,
)
from viewer.formats.units import root_rotations_to_internal, root_translations_to_internal, unconverted
from viewer.skeleton import Builder, Character, Inertia, Motor, Skeleton, Source
from viewer.skeleton.builder import KindWord
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, perpendicular, to_matrix

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
MOMENTS = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
_LEAST_AXIS = 1e-9
_TURNS = 4.0 * math.pi
"""Limits of hinges are two turns at most."""
NO_LINK = "expected a link, found none"
"""The warning for a robot without meshes."""
_DRIVEN = ("revolute", "continuous", "prismatic", "spherical")
BOUNDLESS = 1e9
"""Values above these state that effort or velocity, which URDF requires, are unknown; files use 1e6 and more."""
_MOST_STATED = 1e6

_SECONDS, _MEMORY = 20.0, 2 << 30
_RUN = """
import json, pathlib
places, own = json.loads(sys.argv.pop(1)), sys.argv.pop(1)
import xacro, xacro.substitution_args


def found(package):
    for place, name in places:
        for folder in [pathlib.Path(place)] * (name == package) + [pathlib.Path(place, package)]:
            if folder.is_dir():
                return str(folder)
    try:
        return in_ros(package)
    except Exception:
        print(f'package "{package}": expected its folder beside or above the file, or in ROS_PACKAGE_PATH, found none',
              file=sys.stderr)
    return own  # a copy under another name has the same files

in_ros, xacro.substitution_args._eval_find = xacro.substitution_args._eval_find, found
xacro.main()
"""
"""Without ROS, xacro has no way to find the packages that `$(find PACKAGE)` names."""
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
        wide = {one.child: one.stated for one in below if one.stated and one.stated[1] - one.stated[0] >= _TURNS}
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
    if max(-lower, upper) > _TURNS:  # such as 1e16: it turns without end
        return None if min(-lower, upper) > _TURNS else (max(lower, -_TURNS), min(upper, _TURNS))
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
                (value,) = limit.sizes(name, 1, (BOUNDLESS,))
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
        for name, (row, column) in MOMENTS.items():
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
        raise MachineError(f"{name}: xacro files need: pip install 'ikviewer[robots]'")
    if not path.is_file():
        raise InputError(f"{name}: no such file")
    folder = path.resolve().parent
    places = json.dumps([(str(base), named) for base, named in package_places(folder)])
    with of_file(name):
        data, lines = run_apart(
            _RUN, [places, str(folder.parent), str(path.resolve())], "xacro",
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
    reasons = [line for line in lines if not line.startswith(("Traceback", "File "))] or ["no reason"]
    lost = [line for line in reasons if line.startswith(_LOST)]
    first = next((line for line in reasons if line not in lost), reasons[0])
    # A missing package may be a copy under another name, whose files exist.
    reason = (lost[0] if lost and _NO_FILE in first else first)[:200]
    missing = reason.partition(_NO_ARGUMENT)[2].split()
    return (
        f"{reason}: expand it yourself, by `xacro {path.name} {missing[0]}:=... -o robot.urdf`" if missing else reason
    )
