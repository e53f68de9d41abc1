"""Writing a skeleton as a robot in URDF: what has no joint there becomes several, with links between them.

Universal joints become two hinges, balls three; a free root floats. Lengths are metres, Z is up, numbers have all their
digits. The shapes are the bodies of the skeleton, as cylinders and balls.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET  # only written here

import numpy as np

from viewer.errors import OutputError, quote
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import write_whole
from viewer.formats.units import root_rotations_to_source, root_translations_to_source
from viewer.physics.masses import capsule_masses
from viewer.skeleton import Capsule, Character, JointKind, JointLimits, LimitForm, Skeleton, Source, bodies_of
from viewer.spatial.angles import axes_of, to_euler
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, between

_WORLD = "world"
_LIGHT_KG, _LIGHT_INERTIA = 1e-3, 1e-6
"""Of links without a body: simulators refuse none at all."""
_STILL = 1e-12
_Z = np.array((0.0, 0.0, 1.0))


class Step(NamedTuple):
    """A joint of the file.

    Attributes:
        link: that it moves.
        word: its type.
        axis: (3,), or None.
        limits: (lowest, highest), or None.
    """

    link: str
    word: str
    axis: Floats | None = None
    limits: tuple[float, float] | None = None


def write_urdf(character: Character, path: Path, options: WriteOptions) -> list[str]:  # noqa: ARG001 - as of all writers
    """Write the skeleton.

    Returns:
        Warnings: what a robot does not hold.

    Raises:
        OutputError: it cannot be written, or two links would have one name.
    """
    text, warnings = urdf_text(character)
    write_whole(path, text)
    return warnings


def urdf_text(character: Character) -> tuple[str, list[str]]:
    """The robot as XML, and what it does not hold; errors are those of `write_urdf`."""
    skeleton = character.skeleton
    root = ET.Element("robot", name=skeleton.name or "robot")
    warnings = ["a robot has no motion: it is left out"] if character.clips else []
    if character.skin is not None:
        warnings.append("meshes are left out: the shapes are the bodies of the skeleton")
    plans = [_steps(skeleton, joint, warnings) for joint in range(len(skeleton))]
    between_links = [step.link for plan in plans for step in plan[:-1]]
    if between_links:
        warnings.append(f"URDF has hinges and slides only: {len(between_links)} links without a body stand in")
    tools = [one for one in skeleton.effectors if one.name not in skeleton.names]
    names = [*between_links, *skeleton.names, *(tool.name for tool in tools)]
    roots = np.flatnonzero(skeleton.parents < 0)
    base = len(roots) > 1 or not _stands_at_origin(skeleton, int(roots[0]))
    if base:
        names.append(_WORLD)
        ET.SubElement(root, "link", name=_WORLD)
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise OutputError(f"two links would be called {quote(twice)}")
    capsules = _capsules(skeleton)
    for joint, plan in enumerate(plans):
        parent = int(skeleton.parents[joint])
        offset, rotation = skeleton.offsets[joint], skeleton.rest_rotations[joint]
        above = skeleton.names[parent] if parent >= 0 else _WORLD
        if parent < 0:
            up = Source(up="z")
            offset, rotation = root_translations_to_source(offset, up), root_rotations_to_source(rotation, up)
        mimic = next((one for one in skeleton.mimics if one.joint == skeleton.names[joint]), None)
        for step in plan:
            mine = capsules[joint] if step is plan[-1] else []
            _add_link(root, step.link, mine)
            if parent >= 0 or base:
                made = _add_joint(root, step, above, offset, rotation)
                if mimic is not None:
                    follows = {"multiplier": repr(mimic.ratio), "offset": repr(mimic.offset)}
                    ET.SubElement(made, "mimic", {"joint": _joint_name(mimic.leader)} | follows)
            above, offset, rotation = step.link, np.zeros(3), IDENTITY
    for tool in tools:
        _add_link(root, tool.name, [])
        step = Step(tool.name, "fixed")
        _add_joint(root, step, skeleton.names[tool.joint], np.array(tool.offset), IDENTITY)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n", warnings


def _stands_at_origin(skeleton: Skeleton, root: int) -> bool:
    """Whether the root is fixed at the origin with the axes of the file: it needs no joint."""
    up = Source(up="z")
    turn = root_rotations_to_source(skeleton.rest_rotations[root], up)
    still = abs(abs(turn[3]) - 1.0) < _STILL and float(np.abs(skeleton.offsets[root]).max()) < _STILL
    return skeleton.kinds[root] is JointKind.FIXED and still


def _steps(skeleton: Skeleton, joint: int, warnings: list[str]) -> list[Step]:
    name, kind, limits = skeleton.names[joint], skeleton.kinds[joint], skeleton.limits[joint]
    if kind is JointKind.FREE:
        return [Step(name, "floating")]
    if kind is JointKind.FIXED:
        return [Step(name, "fixed")]
    if kind is JointKind.BALL:
        euler = limits is not None and limits.form is LimitForm.EULER
        if limits is not None and not euler:
            warnings.append(f"the limits of {name} are a cone and a twist: they are left out")
        order = limits.order if limits is not None and euler else "xyz"
        axes = np.eye(3)[list(axes_of(order))]
        ranges = [_range(limits, axis) if euler else None for axis in axes_of(order)]
    else:
        axes = skeleton.axes[joint, : 2 if kind is JointKind.UNIVERSAL else 1]
        ranges = [_range(limits, column) for column in range(len(axes))]
    word = "prismatic" if kind is JointKind.SLIDE else "revolute"
    links = [*(f"{name}_{number + 1}" for number in range(len(axes) - 1)), name]
    return [Step(link, word, axis, ends) for link, axis, ends in zip(links, axes, ranges, strict=True)]


def _range(limits: JointLimits | None, column: int) -> tuple[float, float] | None:
    if limits is None:
        return None
    lower, upper = float(limits.lower[column]), float(limits.upper[column])
    return (lower, upper) if np.isfinite(lower) and np.isfinite(upper) else None


def _joint_name(link: str) -> str:
    return f"{link}_joint"


def _add_joint(root: ET.Element, step: Step, parent: str, offset: Floats, rotation: Floats) -> ET.Element:
    word = "continuous" if step.word == "revolute" and step.limits is None else step.word
    made = ET.SubElement(root, "joint", name=_joint_name(step.link), type=word)
    ET.SubElement(made, "parent", link=parent)
    ET.SubElement(made, "child", link=step.link)
    _add_origin(made, offset, rotation)
    if step.axis is not None:
        ET.SubElement(made, "axis", xyz=_numbers(step.axis))
        lower, upper = step.limits or (-1e3, 1e3)
        if word != "continuous":
            ET.SubElement(made, "limit", lower=repr(lower), upper=repr(upper), effort="1000.0", velocity="100.0")
    return made


def _add_origin(element: ET.Element, offset: Floats, rotation: Floats) -> None:
    yaw, pitch, roll = to_euler(rotation, "zyx").tolist()
    ET.SubElement(element, "origin", xyz=_numbers(offset), rpy=_numbers(np.array((roll, pitch, yaw))))


def _capsules(skeleton: Skeleton) -> dict[int, list[tuple[Capsule, float]]]:
    """The bodies of each joint with their masses."""
    found: dict[int, list[tuple[Capsule, float]]] = defaultdict(list)
    for one, mass in zip(bodies_of(skeleton).capsules, capsule_masses(skeleton).tolist(), strict=True):
        found[one.joint].append((one, mass))
    return found


def _add_link(root: ET.Element, name: str, capsules: list[tuple[Capsule, float]]) -> None:
    link = ET.SubElement(root, "link", name=name)
    _add_inertia(link, capsules)
    for use in ("visual", "collision"):
        for one, _ in capsules:
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


def _add_inertia(link: ET.Element, capsules: list[tuple[Capsule, float]]) -> None:
    mass = sum(kilograms for _, kilograms in capsules)
    middle, inertia = np.zeros(3), _LIGHT_INERTIA * np.eye(3)
    if mass > 0.0:
        middle = sum((0.5 * kg * np.add(one.a, one.b) for one, kg in capsules), np.zeros(3)) / mass
        inertia = sum((_inertia_of(one, kg, middle) for one, kg in capsules), np.zeros((3, 3)))
    made = ET.SubElement(link, "inertial")
    _add_origin(made, middle, IDENTITY)
    ET.SubElement(made, "mass", value=repr(float(mass) or _LIGHT_KG))
    names = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    ET.SubElement(made, "inertia", {name: repr(float(inertia[at])) for name, at in names.items()})


def _inertia_of(one: Capsule, mass: float, about: Floats) -> Floats:
    """(3, 3) of a solid capsule, kg m^2 about a point: a cylinder and two half balls of one density."""
    a, b, r = np.array(one.a), np.array(one.b), float(one.radius)
    length = float(np.linalg.norm(b - a))
    cylinder, ball = length, 4.0 / 3.0 * r  # volumes over pi r^2
    tube, ends = mass * cylinder / (cylinder + ball), mass * ball / (cylinder + ball)
    along = tube * r * r / 2.0 + ends * 0.4 * r * r
    across = tube * (length**2 / 12.0 + r * r / 4.0) + ends * (0.4 * r * r + length**2 / 4.0 + 0.375 * length * r)
    axis = (b - a) / length if length > 0.0 else _Z
    own = across * np.eye(3) + (along - across) * np.outer(axis, axis)
    d = 0.5 * (a + b) - about
    return np.asarray(own + mass * (d @ d * np.eye(3) - np.outer(d, d)))


def _numbers(values: Floats) -> str:
    return " ".join(repr(float(value)) for value in values.tolist())
