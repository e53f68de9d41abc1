"""The skeleton as a MuJoCo model (MJCF).

It is the model that `viewer.physics` simulates: joints, limits, capsules and masses, without actuators.
Numbers have all their digits: `MjSpec.to_xml` would round them to six.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET  # writes; `viewer.formats.xml_tree` reads

import numpy as np

from viewer.errors import InputError, listed
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import write_whole
from viewer.formats.mjcf_reader import called
from viewer.physics.library import load_mujoco
from viewer.physics.model import make_spec
from viewer.physics.surroundings import Surroundings
from viewer.skeleton import Character, JointKind


def write_mjcf(character: Character, path: Path, options: WriteOptions) -> list[str]:  # noqa: ARG001 - as of all writers
    """Write the skeleton.

    Raises:
        InputError: MuJoCo would not open it.
        MachineError: MuJoCo is not installed.
    """
    skeleton = character.skeleton
    write_whole(path, mjcf_text(character))
    warnings = []
    if character.clips:
        warnings.append("a MuJoCo model has no motion: it is left out")
    limited = [
        name
        for name, kind, limits in zip(skeleton.names, skeleton.kinds, skeleton.limits, strict=True)
        if kind is JointKind.BALL and limits is not None
    ]
    if limited:
        named = listed(limited, 3)
        warnings.append(f"MuJoCo limits the whole turn of a ball, not its swings and twist: those of {named} are free")
    return warnings


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
    mujoco = load_mujoco()
    skeleton = character.skeleton
    made = make_spec(skeleton, skeleton.rest_pose(), Surroundings())
    spec = made.spec
    root = ET.Element("mujoco", model=spec.modelname)
    ET.SubElement(root, "compiler", angle="radian")
    option = ET.SubElement(root, "option", timestep=_number(spec.option.timestep), integrator="implicitfast")
    option.set("gravity", _numbers(spec.option.gravity))
    world = ET.SubElement(root, "worldbody")
    elements: dict[int, ET.Element] = {}
    _add_geoms(mujoco, world, spec.worldbody)
    parents = skeleton.parents.tolist()
    for joint, (body, parent) in enumerate(zip(made.bodies, parents, strict=True)):
        element = ET.SubElement(world if parent < 0 else elements[parent], "body", name=body.name)
        element.set("pos", _numbers(body.pos))
        element.set("quat", _numbers(body.quat))
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
            ET.SubElement(element, "site", name=site.name, pos=_numbers(site.pos), quat=_numbers(site.quat))
        _add_geoms(mujoco, element, body)
    contact = ET.SubElement(root, "contact")
    for pair in spec.excludes:
        ET.SubElement(contact, "exclude", body1=pair.bodyname1, body2=pair.bodyname2)
    if spec.equalities:
        equality = ET.SubElement(root, "equality")
        for one in spec.equalities:
            if int(one.type) == int(mujoco.mjtEq.mjEQ_JOINT):
                added = ET.SubElement(equality, "joint", joint1=one.name1, joint2=one.name2)
                added.set("polycoef", _numbers([*one.data[:2], 0.0, 0.0, 0.0]))
            else:
                word = "weld" if int(one.type) == int(mujoco.mjtEq.mjEQ_WELD) else "connect"
                added = ET.SubElement(equality, word, site1=one.name1, site2=one.name2)
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
    kinds = mujoco.mjtJoint
    names = {int(kinds.mjJNT_BALL): "ball", int(kinds.mjJNT_HINGE): "hinge", int(kinds.mjJNT_SLIDE): "slide"}
    for joint in body.joints:
        if int(joint.type) == int(kinds.mjJNT_FREE):
            ET.SubElement(element, "freejoint", name=joint.name)
            continue
        made = ET.SubElement(element, "joint", name=joint.name, type=names[int(joint.type)])
        if int(joint.type) != int(kinds.mjJNT_BALL):
            made.set("axis", _numbers(joint.axis))
        if int(joint.limited) == int(mujoco.mjtLimited.mjLIMITED_TRUE):
            made.set("range", _numbers(joint.range))
            made.set("limited", "true")
        if int(joint.actfrclimited) == int(mujoco.mjtLimited.mjLIMITED_TRUE):
            made.set("actuatorfrcrange", _numbers(joint.actfrcrange))
            made.set("actuatorfrclimited", "true")


def _add_geoms(mujoco: Any, element: ET.Element, body: Any) -> None:  # noqa: ANN401
    kinds = mujoco.mjtGeom
    names = {
        int(kinds.mjGEOM_PLANE): ("plane", 3), int(kinds.mjGEOM_SPHERE): ("sphere", 1),
        int(kinds.mjGEOM_CAPSULE): ("capsule", 1), int(kinds.mjGEOM_BOX): ("box", 3),
    }  # fmt: skip
    for geom in body.geoms:
        kind, count = names[int(geom.type)]
        made = ET.SubElement(element, "geom", type=kind, size=_numbers(geom.size[:count]))
        if np.isfinite(geom.fromto).all():
            made.set("fromto", _numbers(geom.fromto))
        else:
            made.set("pos", _numbers(geom.pos))
            made.set("quat", _numbers(geom.quat))
        if np.isfinite(geom.mass):
            made.set("mass", _number(geom.mass))
        made.set("friction", _numbers(geom.friction))
        made.set("contype", str(int(geom.contype)))
        made.set("conaffinity", str(int(geom.conaffinity)))


def _number(value: float) -> str:
    return repr(float(value))


def _numbers(values: Any) -> str:  # noqa: ANN401 - MuJoCo's arrays
    return " ".join(_number(value) for value in values)
