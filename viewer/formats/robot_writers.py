"""The skeleton as a robot of URDF, or as a MuJoCo model (MJCF); numbers have all their digits.

URDF is in metres, Z up. Joints that it does not have become several, with links between them: a universal two hinges, a
ball three; a free root floats. The shapes are the skeleton's bodies, as cylinders and balls.

MJCF is the model that `viewer.physics` simulates: joints, limits, capsules and masses, without actuators.
`MjSpec.to_xml` would round numbers to six digits.
"""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from viewer.errors import InputError, listed
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import write_whole
from viewer.formats.mjcf_reader import called
from viewer.formats.units import root_rotations_to_source, root_translations_to_source
from viewer.formats.urdf_reader import BOUNDLESS, MOMENTS
from viewer.physics.model import make_spec
from viewer.physics.surroundings import Surroundings
from viewer.skeleton import (
    Capsule,
    Character,
    Effector,
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
from viewer.skeleton.names import FreeNames
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, axes_of, between, to_euler

_ALL_ROUND = 2.0 * math.pi
"""The ends of a range that no pose exceeds, such as those of a UR's joints."""
_WORLD = "world"
_LIGHT_KG, _LIGHT_INERTIA = 1e-3, 1e-6
"""Mass and inertia of links without a body: simulators refuse links without any."""
_STILL = 1e-12
_Z = np.array((0.0, 0.0, 1.0))
_NO_MOTOR = Motor()


class Step(NamedTuple):
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
    world = free.take(_WORLD) if base else ""
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
        step = Step(tool.name, "fixed")
        _add_joint(root, step, called[tool.name], skeleton.names[tool.joint], np.array(tool.offset), IDENTITY)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n", warnings


def _stands_at_origin(skeleton: Skeleton, root: int, up: Source) -> bool:
    """Whether the root is fixed at the origin with the axes of the file: it needs no joint."""
    turn = root_rotations_to_source(skeleton.rest_rotations[root], up)
    still = abs(abs(turn[3]) - 1.0) < _STILL and float(np.abs(skeleton.offsets[root]).max()) < _STILL
    return skeleton.kinds[root] is JointKind.FIXED and still


def _steps(skeleton: Skeleton, joint: int, source: Source, free: FreeNames) -> list[Step]:
    name, kind, limits = skeleton.names[joint], skeleton.kinds[joint], skeleton.limits[joint]
    if kind is JointKind.FREE:
        return [Step(name, "floating")]
    if kind is JointKind.FIXED:
        return [Step(name, "fixed")]
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
    return [Step(link, word, axis, ends) for link, axis, ends in zip(links, axes, ranges, strict=True)]


def _range(limits: JointLimits | None, column: int) -> tuple[float, float] | None:
    if limits is None:
        return None
    lower, upper = float(limits.lower[column]), float(limits.upper[column])
    if limits.form is LimitForm.COORDINATES and lower == -np.inf and upper == np.inf:
        return -_ALL_ROUND, _ALL_ROUND  # that range was stated: a joint without a stated range has no limits
    return (lower, upper) if np.isfinite(lower) and np.isfinite(upper) else None


def _joint_names(character: Character, plans: list[list[Step]], tools: list[Effector]) -> dict[str, str]:
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
    root: ET.Element, step: Step, name: str, parent: str, offset: Floats, rotation: Floats, motor: Motor = _NO_MOTOR
) -> ET.Element:
    word = "continuous" if step.word == "revolute" and step.limits is None else step.word
    made = ET.SubElement(root, "joint", name=name, type=word)
    ET.SubElement(made, "parent", link=parent)
    ET.SubElement(made, "child", link=step.link)
    _add_origin(made, offset, rotation)
    if step.axis is not None:
        ET.SubElement(made, "axis", xyz=_numbers(step.axis))
        lower, upper = step.limits or (-1e3, 1e3)
        ends = {} if word == "continuous" else {"lower": repr(lower), "upper": repr(upper)}
        if ends or motor != _NO_MOTOR:
            driven = {"effort": repr(motor.effort or BOUNDLESS), "velocity": repr(motor.velocity or BOUNDLESS)}
            ET.SubElement(made, "limit", ends | driven)
    return made


def _add_origin(element: ET.Element, offset: Floats, rotation: Floats) -> None:
    # Most are not turned; one by one `to_euler` takes longer than the rest of a joint.
    angles = (0.0, 0.0, 0.0) if rotation is IDENTITY else to_euler(rotation, "zyx")[::-1]
    ET.SubElement(element, "origin", xyz=_numbers(offset), rpy=_numbers(angles))


def _capsules(skeleton: Skeleton) -> dict[int, list[Capsule]]:
    """The bodies of each joint."""
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
    ET.SubElement(made, "inertia", {name: repr(float(matrix[at])) for name, at in MOMENTS.items()})


def _numbers(values: Any) -> str:  # noqa: ANN401 - arrays of numpy, or of MuJoCo
    return " ".join(repr(float(value)) for value in values)


def write_mjcf(character: Character, path: Path, options: WriteOptions) -> list[str]:  # noqa: ARG001 - as of all writers
    """Write the skeleton; MuJoCo has to be installed, and to open what is made."""
    skeleton = character.skeleton
    write_whole(path, mjcf_text(character))
    balls = skeleton.of_kind(JointKind.BALL).tolist()
    limited = [
        name
        for name, ball, limits in zip(skeleton.names, balls, skeleton.limits, strict=True)
        if ball and limits is not None
    ]
    if not limited:
        return []
    return [f"MuJoCo limits the whole turn of a ball, not its swings and twist: those of {listed(limited, 3)} are free"]


def _rename_joints(root: ET.Element, character: Character) -> None:
    """Give joints the names of the file that was read, unless two would get the same name."""
    elements = [*root.iter("joint"), *root.iter("freejoint")]
    every = [element.get("name", "") for element in elements if element.get("name")]
    names = [character.source.name_of(called(name)) for name in every]
    if len(set(names)) < len(names):
        return
    new = dict(zip(every, names, strict=True))
    for element in elements:
        for key in ("name", "joint1", "joint2"):
            if key in element.attrib:
                element.set(key, new[element.attrib[key]])


def mjcf_text(character: Character) -> str:
    """The model as XML; errors are those of `write_mjcf`."""
    skeleton = character.skeleton
    made = make_spec(skeleton, skeleton.rest_pose(), Surroundings())
    mujoco, spec = made.mujoco, made.spec
    root = ET.Element("mujoco", model=spec.modelname)
    ET.SubElement(root, "compiler", angle="radian")
    option = ET.SubElement(root, "option", timestep=_number(spec.option.timestep), integrator="implicitfast")
    option.set("gravity", _numbers(spec.option.gravity))
    world = ET.SubElement(root, "worldbody")
    elements: dict[int, ET.Element] = {}
    _add_geoms(mujoco, world, spec.worldbody)
    parents = skeleton.parents.tolist()
    for joint, (body, parent) in enumerate(zip(made.bodies, parents, strict=True)):
        element = ET.SubElement(world if parent < 0 else elements[parent], "body", {"name": body.name} | _place(body))
        elements[joint] = element
        if body.explicitinertial:
            ET.SubElement(
                element,
                "inertial",
                pos=_numbers(body.ipos),
                quat=_numbers(body.iquat),
                mass=_number(body.mass),
                diaginertia=_numbers(body.inertia),
            )
        _add_joints(mujoco, element, body)
        for site in body.sites:
            ET.SubElement(element, "site", {"name": site.name} | _place(site))
        _add_geoms(mujoco, element, body)
    contact = ET.SubElement(root, "contact")
    for pair in spec.excludes:
        ET.SubElement(contact, "exclude", body1=pair.bodyname1, body2=pair.bodyname2)
    if spec.equalities:
        equality = ET.SubElement(root, "equality")
        for one in spec.equalities:
            word = _word(mujoco.mjtEq(one.type))
            what = "joint" if word == "joint" else "site"
            added = ET.SubElement(equality, word, {f"{what}1": one.name1, f"{what}2": one.name2})
            if word == "joint":
                added.set("polycoef", _numbers([*one.data[:2], 0.0, 0.0, 0.0]))
            added.set("solref", _numbers(one.solref))
    _rename_joints(root, character)
    try:
        ET.indent(root)
        text = ET.tostring(root, encoding="unicode", xml_declaration=False) + "\n"
    except RecursionError as error:  # MuJoCo cannot read such a file, either
        raise InputError("expected shorter chains of joints: MuJoCo files hold bodies inside bodies") from error
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError as error:  # such as bodies too small for it
        raise InputError(f"MuJoCo refuses this model: {' '.join(str(error).split())}") from error
    return text


def _add_joints(mujoco: Any, element: ET.Element, body: Any) -> None:  # noqa: ANN401
    for joint in body.joints:
        word = _word(mujoco.mjtJoint(joint.type))
        if word == "free":
            ET.SubElement(element, "freejoint", name=joint.name)
            continue
        made = ET.SubElement(element, "joint", name=joint.name, type=word)
        if word != "ball":
            made.set("axis", _numbers(joint.axis))
        if int(joint.limited) == int(mujoco.mjtLimited.mjLIMITED_TRUE):
            made.set("range", _numbers(joint.range))
            made.set("limited", "true")
        if int(joint.actfrclimited) == int(mujoco.mjtLimited.mjLIMITED_TRUE):
            made.set("actuatorfrcrange", _numbers(joint.actfrcrange))
            made.set("actuatorfrclimited", "true")


def _add_geoms(mujoco: Any, element: ET.Element, body: Any) -> None:  # noqa: ANN401
    for geom in body.geoms:
        word = _word(mujoco.mjtGeom(geom.type))
        size = _numbers(geom.size[: 3 if word in {"plane", "box"} else 1])
        place = {"fromto": _numbers(geom.fromto)} if np.isfinite(geom.fromto).all() else _place(geom)
        made = ET.SubElement(element, "geom", {"type": word, "size": size} | place)
        if np.isfinite(geom.mass):
            made.set("mass", _number(geom.mass))
        made.set("friction", _numbers(geom.friction))
        made.set("contype", str(int(geom.contype)))
        made.set("conaffinity", str(int(geom.conaffinity)))


def _word(kind: Any) -> str:  # noqa: ANN401
    """The word in files for a kind of MuJoCo: "ball" for ``mjJNT_BALL``."""
    return str(kind.name).partition("_")[2].lower()


def _place(one: Any) -> dict[str, str]:  # noqa: ANN401
    return {"pos": _numbers(one.pos), "quat": _numbers(one.quat)}


def _number(value: float) -> str:
    return repr(float(value))
