"""MuJoCo models (MJCF), read and written.

https://mujoco.readthedocs.io/en/stable/XMLreference.html. Another process compiles the model; each of its joints
becomes one of ours. Joints act in the order of the file, each about its anchor
in the body's frame: a joint's frame is at its anchor, and a body whose last anchor is not at its origin follows as a
fixed joint. The axis against gravity is up.

What is written is the model that `viewer.physics` simulates: joints, limits, capsules and masses, without actuators.
Numbers have all their digits; `MjSpec.to_xml` would round them to six.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from viewer.errors import FormatError, InputError, MachineError, and_more, at_path, is_installed, listed, of_file, quote
from viewer.formats.apart import run_apart
from viewer.formats.bounds import MOST_TEXT_BYTES, check_counts
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import read_bytes, write_whole
from viewer.formats.meshes import Shape, not_shown, package_of, primitive, rigid_skin
from viewer.formats.robots import (
    Element,
    RobotLink,
    is_sensor,
    numbers_text,
    parse_xml,
    robot_of,
    source_of,
    wheels_of,
)
from viewer.formats.units import root_rotations_to_internal, root_translations_to_internal, unconverted
from viewer.skeleton import Builder, Character, FreeNames, Inertia, JointKind, Motor, Pose, Skeleton, Source
from viewer.skeleton.builder import Limits
from viewer.skeleton.limits import MOST_TURN
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, from_axis_angle, from_wxyz, multiply, rotate, to_matrix

_SECONDS, _MEMORY, _LARGEST_MODEL = 30.0, 8 << 30, 2 << 30
_MOST_TOOLS = 12
_FREE, _BALL, _SLIDE, _HINGE = range(4)
_CONNECTED, _WELDED, _EQUAL_JOINTS = range(3)
_ON_JOINTS = (0, 1)
"""MuJoCo's numbers of what actuators act on: joints, in their own frame or the parent's."""
_SITE, _WRAPPED_SITE = 6, 3
"""MuJoCo's numbers of equalities, of sites among its objects, and of those among what tendons run through."""
_SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(2, 8)
"""MuJoCo's numbers of joint and geom types."""
_SHOWN_GROUPS = 3
"""Geoms of these groups and above are shapes for collisions."""
_WORLD = re.compile(r"world/\d+")


class Part(NamedTuple):
    """A joint of ours, with offset (3,) and rotation (4,) in the frame of its parent.

    ``body`` and ``joint`` are indices in the model; a joint of -1 is none: it is fixed.
    """

    name: str
    body: int
    joint: int
    parent: str | None
    offset: Floats
    rotation: Floats


def read_mjcf(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read a model, if MuJoCo is installed and compiles it in time.

    Meshes that are missing, or outside of the model's package, are left out.
    """
    data = read_bytes(path, name, MOST_TEXT_BYTES)
    with of_file(name), at_path(but="builder: "):
        root = parse_xml(data)
        if root.tag != "mujoco":
            raise FormatError(f"expected <mujoco>, found <{root.tag}>", line=root.line)
        if not is_installed("mujoco"):
            raise MachineError(f"{name}: MuJoCo models need: pip install 'ikviewer[physics]'")
        model = _compiled(path)
        missing = _left_out(model)
        gravity = np.abs(model["gravity"])
        character = _character(model, root, source_of("mjcf", name, units, up, "y" if gravity[1] > gravity[2] else "z"))
    stated = unconverted("MuJoCo", units, "y" if up == "z" else up)
    return replace(character, warnings=(*stated, *missing, *character.warnings))


def _compiled(path: Path) -> dict[str, Any]:
    path = path.resolve()
    words = [str(path), str(package_of(path.parent))]
    made, lines = run_apart("MuJoCo", words, memory=_MEMORY, size=_LARGEST_MODEL, seconds=_SECONDS)
    if not made:
        raise FormatError(lines[-1] if lines else "MuJoCo refuses it: no reason")
    with np.load(io.BytesIO(made), allow_pickle=False) as arrays:
        return dict(arrays)


def _left_out(model: dict[str, Any]) -> list[str]:
    """Warnings about meshes that were not read, and bodies that weighed what these did."""
    files, light = model["left_out"].tolist(), sorted(set(model["light"].tolist()))
    lines = [not_shown(files)] if files else []
    return [*lines, f"too light, without its meshes: {quote(light[0])}{and_more(len(light))}"] if light else lines


def _character(model: dict[str, Any], root: Element, source: Source) -> Character:
    warnings: list[str] = []
    parts = _parts(model, source)
    check_counts(len(parts))
    skeleton = _skeleton(model, root, parts, warnings)
    others = len(model["eq_type"]) - len(_mimics(model, parts)) - len(_loops(model))
    if others:
        warnings.append(f"{others} equality constraint{' is' if others == 1 else 's are'} not read")
    shapes = _shapes(model, parts)
    bare = set(model["bare"].tolist()).intersection(skeleton.names).difference(shape.link for shape in shapes)
    skin = rigid_skin(shapes, sorted(bare), skeleton, warnings)
    if len(model["key_qpos"]):
        skeleton = replace(skeleton, poses={"relaxed": _key_pose(model, parts, skeleton, source)})
    called = {part.name: str(model["jnt_names"][part.joint]) for part in parts if part.joint >= 0}
    source = replace(source, joint_names={body: name for body, name in called.items() if name})
    return robot_of(skeleton, source, warnings, skin, "model")


def _parts(model: dict[str, Any], source: Source) -> list[Part]:
    """Our joints, parents first: those of each body in order."""
    last: dict[int, str] = {}
    free = FreeNames(map(str, model["body_names"]))
    parts: list[Part] = []
    for body in range(1, len(model["body_parentid"])):
        name, above = _called(str(model["body_names"][body])), last.get(int(model["body_parentid"][body]))
        if not name or name in last.values():
            name = str(model["body_names"][body]) or f"body_{body}"
        offset, rotation = model["body_pos"][body], from_wxyz(model["body_quat"][body])
        if above is None:
            offset, rotation = (
                root_translations_to_internal(offset, source),
                root_rotations_to_internal(rotation, source),
            )
        first, count = int(model["body_jntadr"][body]), int(model["body_jntnum"][body])
        joints = list(range(first, first + count)) if count else [-1]
        anchor = np.zeros(3)  # origin of the frame so far, in the body
        for joint in joints:
            ends = joint == joints[-1]
            at = model["jnt_pos"][joint] if joint >= 0 and model["jnt_type"][joint] != _FREE else np.zeros(3)
            here = not ends or bool(np.abs(at).max() > 0.0)
            own = free.take(str(model["jnt_names"][joint]) or f"{name}_joint") if here else name
            parts.append(Part(own, body, joint, above, offset + rotate(rotation, at - anchor), rotation))
            above, offset, rotation, anchor = own, np.zeros(3), IDENTITY, at
        if above != name:
            parts.append(Part(name, body, -1, above, -anchor, IDENTITY))
        last[body] = name
    if not parts:
        raise InputError("expected a body, found none")
    return parts


def _called(name: str) -> str:
    """The name of a body in ours: ``world/0`` is a link called ``world``, a name that MuJoCo keeps for its own."""
    return "world" if _WORLD.fullmatch(name) else name


def _skeleton(model: dict[str, Any], root: Element, parts: list[Part], warnings: list[str]) -> Skeleton:
    builder = Builder(name=root.attributes.get("model", "").strip() or "model")
    kinds = {_BALL: "ball", _SLIDE: "slide", _HINGE: "hinge"}
    inertias, motors = _inertias(model, parts), _motors(model)
    for part in parts:
        kind, axis, limits = "fixed", None, None
        if part.joint >= 0:
            word = int(model["jnt_type"][part.joint])
            if word == _FREE and part.parent is not None:
                raise InputError(f"joint {quote(part.name)}: expected free joints on roots only")
            kind = "free" if word == _FREE else kinds[word]
            axis = model["jnt_axis"][part.joint] if word in (_SLIDE, _HINGE) else None
            limits = _limits(model, part.joint, word, part.name, warnings)
        builder.add(
            part.name, part.parent, part.offset, kind=kind, axis=axis, limits=limits, rotation=part.rotation,  # type: ignore[arg-type]
            inertia=inertias.get(part.name), motor=motors.get(part.joint),
        )  # fmt: skip
    _add_ends(builder, model, parts)
    _add_tools(builder, model, parts)
    for follower, leader, ratio, offset in _mimics(model, parts):
        builder.mimic(follower, leader, ratio, offset)
    _add_loops(builder, model, parts)
    return builder.skeleton


def _inertias(model: dict[str, Any], parts: list[Part]) -> dict[str, Inertia]:
    """The inertias of our joints: the last joint of each body has the body's; empty for a model without masses."""
    if not model["body_mass"].any():
        return {}
    found = {part.name: Inertia(0.0) for part in parts}
    for body, name in {part.body: part.name for part in parts}.items():
        axes = to_matrix(from_wxyz(model["body_iquat"][body]))
        matrix = (axes * model["body_inertia"][body]) @ axes.T
        found[name], _ = Inertia.nearest(float(model["body_mass"][body]), model["body_ipos"][body], matrix)
    return found


def _motors(model: dict[str, Any]) -> dict[int, Motor]:
    """By joint the largest effort of its actuators together, where these pull and push equally.

    The force of an actuator is bounded by its own range, or that of its control if it is a plain motor; that of all of
    a joint's actuators by the joint's.
    """
    found: dict[int, float] = {}
    for number, (kind, (joint, _)) in enumerate(zip(model["actuator_trntype"], model["actuator_trnid"], strict=True)):
        if int(kind) not in _ON_JOINTS:
            continue
        most = _even_range(model["actuator_forcerange"][number], model["actuator_forcelimited"][number])
        plain = not (model["actuator_dyntype"][number] or model["actuator_gaintype"][number])
        if plain and not model["actuator_biastype"][number]:
            control = _even_range(model["actuator_ctrlrange"][number], model["actuator_ctrllimited"][number])
            most = min(most, abs(float(model["actuator_gainprm"][number][0])) * control)
        found[int(joint)] = found.get(int(joint), 0.0) + abs(float(model["actuator_gear"][number][0])) * most
    for joint, limited in enumerate(model["jnt_actfrclimited"]):
        most = _even_range(model["jnt_actfrcrange"][joint], limited)
        found[joint] = min(found.get(joint, np.inf), most)
    return {joint: Motor(effort=most) for joint, most in found.items() if 0.0 < most < np.inf}


def _even_range(ends: Floats, limited: bool) -> float:
    """The end of a range about 0; infinite where there is no such range."""
    lower, upper = (float(end) for end in ends)
    return upper if limited and lower == -upper and upper > 0.0 else np.inf


class _Joined(NamedTuple):
    """Places of two bodies that stay together: the bodies, (3,) in the frame of each, and whether they turn as one."""

    bodies: tuple[int, int]
    places: tuple[Floats, Floats]
    rigid: bool


def _loops(model: dict[str, Any]) -> list[_Joined]:
    """Connections and welds of two bodies; welds in the model's own pose.

    Those with a mocap body are none: it is the handle by which a program draws the other one, which effectors do here.
    """
    found, stands = [], model["body_mocapid"] >= 0
    stands[0] = True  # the world
    for number in np.flatnonzero(np.isin(model["eq_type"], (_CONNECTED, _WELDED))).tolist():
        ends = int(model["eq_obj1id"][number]), int(model["eq_obj2id"][number])
        data, rigid = model["eq_data"][number], bool(model["eq_type"][number] == _WELDED)
        if not model["eq_active0"][number]:
            continue
        if model["eq_objtype"][number] == _SITE:
            a, b = (int(model["site_bodyid"][end]) for end in ends)
            places = model["site_pos"][ends[0]], model["site_pos"][ends[1]]
        elif rigid:
            a, b = ends
            places = data[3:6] + rotate(from_wxyz(data[6:10]), data[:3]), data[:3]
        else:
            a, b = ends
            places = data[:3], data[3:6]
        if a != b and not stands[[a, b]].any():
            found.append(_Joined((a, b), places, rigid))
    return found


def _add_loops(builder: Builder, model: dict[str, Any], parts: list[Part]) -> None:
    """Loops between effectors that are made for them."""
    names = {part.body: part.name for part in parts}
    for number, one in enumerate(_loops(model), 1):
        ends = [f"loop_{number}{letter}" for letter in "ab"]
        for end, body, place in zip(ends, one.bodies, one.places, strict=True):
            builder.effector(end, names[body], place, goal="off")
        builder.loop(*ends, rigid=one.rigid)


def _mimics(model: dict[str, Any], parts: list[Part]) -> list[tuple[str, str, float, float]]:
    """Joints that follow others: equalities of two hinges or slides, of the first degree.

    MuJoCo counts from the model's own pose, as our coordinates do.
    """
    names = {part.joint: part.name for part in parts}
    found: dict[str, tuple[str, str, float, float]] = {}
    for number in np.flatnonzero(model["eq_type"] == _EQUAL_JOINTS).tolist():
        joints = int(model["eq_obj1id"][number]), int(model["eq_obj2id"][number])
        offset, ratio, *higher = model["eq_data"][number, :5].tolist()
        if min(joints) < 0 or not model["eq_active0"][number] or any(higher) or not ratio:
            continue
        if any(int(model["jnt_type"][joint]) not in (_SLIDE, _HINGE) for joint in joints):
            continue
        follower, leader = names[joints[0]], names[joints[1]]
        above = leader
        while above in found and above != follower:
            above = found[above][1]
        if follower not in found and above != follower:
            found[follower] = follower, leader, ratio, offset
    return list(found.values())


def _limits(model: dict[str, Any], joint: int, word: int, name: str, warnings: list[str]) -> Limits:
    if not model["jnt_limited"][joint]:
        return None
    if word == _BALL:
        whole = min(float(model["jnt_range"][joint][1]), np.pi)
        degrees = f"{np.degrees(whole):g}"
        warnings.append(
            f"joint {quote(name)}: its limit of {degrees} degrees is read as {degrees} for each swing and the twist"
        )
        return ((-whole, whole),) * 3
    start = float(model["qpos0"][model["jnt_qposadr"][joint]])
    lower, upper = (float(value) - start for value in model["jnt_range"][joint])
    most = MOST_TURN if word == _HINGE else np.inf
    return max(lower, -most), min(upper, most)


def _add_ends(builder: Builder, model: dict[str, Any], parts: list[Part]) -> None:
    """An end site of each last body where its spheres and capsules reach to: a forearm's hand, a foot's toes."""
    parents, reach = model["body_parentid"].tolist(), dict[int, Floats]()
    above = rotate(from_wxyz(model["body_quat"] * (1.0, -1.0, -1.0, -1.0)), -model["body_pos"])
    for geom, body in enumerate(model["geom_bodyid"].tolist()):
        word, size = int(model["geom_type"][geom]), model["geom_size"][geom]
        if body in parents or word not in (_SPHERE, _CAPSULE, _CYLINDER):
            continue
        half = 0.0 if word == _SPHERE else float(size[1])
        along = rotate(from_wxyz(model["geom_quat"][geom]), np.array([0.0, 0.0, half]))
        for place in (model["geom_pos"][geom] + along, model["geom_pos"][geom] - along):
            far = max(float(size[0]), float(np.linalg.norm(reach.get(body, np.zeros(3)))))
            # Shapes nearer to the body above, such as the ball of a foot in its ankle, are no ends.
            if np.linalg.norm(place) > far and np.linalg.norm(place - above[body]) > np.linalg.norm(above[body]):
                reach[body] = place
    for body, name in {part.body: part.name for part in parts}.items():
        if body in reach:
            builder.tip(name, reach[body])


def _add_tools(builder: Builder, model: dict[str, Any], parts: list[Part]) -> None:
    """Effectors are the sites on bodies that move, but sensors and those that tendons run through.

    Without any, they are the last bodies, but sensors and those that only close a loop; wheels and rotors beside others
    are off and come last, as in URDF files. A limb of a body that floats, with no site from its root on, has its last
    body.
    """
    moving: set[int] = set()
    parents = model["body_parentid"].tolist()
    for body in range(1, len(parents)):
        if model["body_jntnum"][body] or parents[body] in moving:
            moving.add(body)
    names = {part.body: part.name for part in parts}
    run_through = set(model["wrap_objid"][model["wrap_type"] == _WRAPPED_SITE].tolist())
    called = zip(model["site_names"].tolist(), model["site_bodyid"].tolist(), model["site_pos"], strict=True)
    sites = [(name, body, place) for site, (name, body, place) in enumerate(called)
             if name and body in moving and name not in builder.names and not is_sensor(name)
             and site not in run_through][:_MOST_TOOLS]  # fmt: skip
    for name, body, place in sites:
        builder.effector(name, names[body], place, goal="position")
    closing = {body for loop in _loops(model) for body in loop.bodies}
    last = [body for body in sorted(moving) if body not in parents]
    found = [body for body in last if body not in closing and not is_sensor(names[body])] or last
    if sites:
        found = _free_limbs(model, found, {body for _, body, _ in sites})
    wheels = _wheels(model, parts)
    tools = [names[body] for body in found]
    wheels = set() if wheels.issuperset(tools) else wheels
    for tool in sorted(tools, key=lambda one: one in wheels)[: _MOST_TOOLS - len(sites)]:
        builder.effector(tool, tool, goal="off" if tool in wheels else "position")


def _free_limbs(model: dict[str, Any], bodies: list[int], handled: set[int]) -> list[int]:
    """Those bodies that end a limb of a body that floats, on which nothing is handled.

    What is fixed to a body that leads on, such as a camera on a chest, ends none.
    """
    parents, joints = model["body_parentid"].tolist(), model["body_jntnum"].tolist()
    floating = set(model["jnt_bodyid"][model["jnt_type"] == _FREE].tolist())
    leading: set[int] = set()
    for body in np.flatnonzero(model["body_jntnum"]).tolist():
        while (body := parents[body]) and body not in leading:
            leading.add(body)
    found = []
    for body in bodies:
        limb = [body]
        while limb[-1] and limb[-1] not in floating:
            limb.append(parents[limb[-1]])
        *limb, root = limb
        moved = next((one for one in limb if joints[one]), 0)
        if root and moved and moved not in leading and not handled & set(limb):
            found.append(body)
    return found


def _wheels(model: dict[str, Any], parts: list[Part]) -> set[str]:
    """The parts that turn without end on the root."""
    links = []
    for part in parts:
        word = int(model["jnt_type"][part.joint]) if part.joint >= 0 else _FREE
        endless = word == _HINGE and not model["jnt_limited"][part.joint]
        links.append(RobotLink(part.name, part.parent or "", moves=word != _FREE, coupled=False, endless=endless))
    return wheels_of(links)


def _key_pose(model: dict[str, Any], parts: list[Part], skeleton: Skeleton, source: Source) -> Pose:
    qpos, rotations, translations = model["key_qpos"][0], skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    for part in parts:
        if part.joint < 0:
            continue
        here, first = skeleton.index(part.name), int(model["jnt_qposadr"][part.joint])
        word = int(model["jnt_type"][part.joint])
        if word == _FREE:
            translations[here] = root_translations_to_internal(qpos[first : first + 3], source)
            rotations[here] = root_rotations_to_internal(from_wxyz(qpos[first + 3 : first + 7]), source)
        elif word == _BALL:
            rotations[here] = multiply(rotations[here], from_wxyz(qpos[first : first + 4]))
        else:
            value = float(qpos[first] - model["qpos0"][first])
            axis = skeleton.axes[here, 0]
            if word == _HINGE:
                rotations[here] = multiply(rotations[here], from_axis_angle(axis, np.array(value)))
            else:
                translations[here] = translations[here] + rotate(skeleton.rest_rotations[here], value * axis)
    return Pose(rotations, translations)


def _shapes(model: dict[str, Any], parts: list[Part]) -> list[Shape]:
    if not is_installed("trimesh"):
        return []
    names = {part.body: part.name for part in parts}
    shapes = []
    for geom in _shown_geoms(model, set(names)):
        body = int(model["geom_bodyid"][geom])
        found = _triangles(model, geom)
        if found is None:
            continue
        points, faces = found
        turn = to_matrix(from_wxyz(model["geom_quat"][geom]))
        material = int(model["geom_matid"][geom])
        colour = model["mat_rgba"][material] if material >= 0 else model["geom_rgba"][geom]
        r, g, b, a = (float(value) for value in colour)
        if a > 0.0:
            shapes.append(Shape(names[body], points @ turn.T + model["geom_pos"][geom], faces, (r, g, b, a)))
    return shapes


def _shown_geoms(model: dict[str, Any], bodies: set[int]) -> list[int]:
    """Those of the groups that MuJoCo shows.

    Where most bodies have none, as in a dog whose skin hides all but its eyes and claws, all meshes are shown, too, and
    for bodies without meshes their collision shapes.
    """
    of = model["geom_bodyid"].tolist()
    every = [geom for geom, body in enumerate(of) if body in bodies]
    shown = [geom for geom in every if model["geom_group"][geom] < _SHOWN_GROUPS]
    bare = {of[geom] for geom in every} - {of[geom] for geom in shown}
    if len(bare) <= len({of[geom] for geom in shown}):
        return shown
    kept = {*shown, *(geom for geom in every if model["geom_type"][geom] == _MESH)}
    bare -= {of[geom] for geom in kept}
    return [geom for geom in every if geom in kept or of[geom] in bare]


def _triangles(model: dict[str, Any], geom: int) -> tuple[Any, Any] | None:
    word, size = int(model["geom_type"][geom]), model["geom_size"][geom]
    if word == _MESH:
        mesh = int(model["geom_dataid"][geom])
        first, count = int(model["mesh_vertadr"][mesh]), int(model["mesh_vertnum"][mesh])
        start, faces = int(model["mesh_faceadr"][mesh]), int(model["mesh_facenum"][mesh])
        return model["mesh_vert"][first : first + count], model["mesh_face"][start : start + faces].astype(np.int64)
    r, half = float(size[0]), float(size[1])
    shapes: dict[int, tuple[str, list[float]]] = {
        _BOX: ("box", (2.0 * size).tolist()),
        _SPHERE: ("sphere", [r]),
        _ELLIPSOID: ("ellipsoid", size.tolist()),
        _CYLINDER: ("cylinder", [r, 2.0 * half]),
        _CAPSULE: ("capsule", [r, 2.0 * half]),
    }
    return primitive(*shapes[word]) if word in shapes else None


# --- writing


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
    names = [character.source.name_of(_called(name)) for name in every]
    if len(set(names)) < len(names):
        return
    new = dict(zip(every, names, strict=True))
    for element in elements:
        for key in ("name", "joint1", "joint2"):
            if key in element.attrib:
                element.set(key, new[element.attrib[key]])


def mjcf_text(character: Character) -> str:
    """The model as XML; errors are those of `write_mjcf`."""
    from viewer.physics.model import make_spec  # noqa: PLC0415 - reading needs no physics
    from viewer.physics.surroundings import Surroundings  # noqa: PLC0415

    skeleton = character.skeleton
    made = make_spec(skeleton, skeleton.rest_pose(), Surroundings())
    mujoco, spec = made.mujoco, made.spec
    root = ET.Element("mujoco", model=spec.modelname)
    ET.SubElement(root, "compiler", angle="radian")
    option = ET.SubElement(root, "option", timestep=_number(spec.option.timestep), integrator="implicitfast")
    option.set("gravity", numbers_text(spec.option.gravity))
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
                pos=numbers_text(body.ipos),
                quat=numbers_text(body.iquat),
                mass=_number(body.mass),
                diaginertia=numbers_text(body.inertia),
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
                added.set("polycoef", numbers_text([*one.data[:2], 0.0, 0.0, 0.0]))
            added.set("solref", numbers_text(one.solref))
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
            made.set("axis", numbers_text(joint.axis))
        if int(joint.limited) == int(mujoco.mjtLimited.mjLIMITED_TRUE):
            made.set("range", numbers_text(joint.range))
            made.set("limited", "true")
        if int(joint.actfrclimited) == int(mujoco.mjtLimited.mjLIMITED_TRUE):
            made.set("actuatorfrcrange", numbers_text(joint.actfrcrange))
            made.set("actuatorfrclimited", "true")


def _add_geoms(mujoco: Any, element: ET.Element, body: Any) -> None:  # noqa: ANN401
    for geom in body.geoms:
        word = _word(mujoco.mjtGeom(geom.type))
        size = numbers_text(geom.size[: 3 if word in {"plane", "box"} else 1])
        place = {"fromto": numbers_text(geom.fromto)} if np.isfinite(geom.fromto).all() else _place(geom)
        made = ET.SubElement(element, "geom", {"type": word, "size": size} | place)
        if np.isfinite(geom.mass):
            made.set("mass", _number(geom.mass))
        made.set("friction", numbers_text(geom.friction))
        made.set("contype", str(int(geom.contype)))
        made.set("conaffinity", str(int(geom.conaffinity)))


def _word(kind: Any) -> str:  # noqa: ANN401
    """The word in files for a kind of MuJoCo: "ball" for ``mjJNT_BALL``."""
    return str(kind.name).partition("_")[2].lower()


def _place(one: Any) -> dict[str, str]:  # noqa: ANN401
    return {"pos": numbers_text(one.pos), "quat": numbers_text(one.quat)}


def _number(value: float) -> str:
    return repr(float(value))
