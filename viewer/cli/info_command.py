"""``ikviewer info`` and ``fk``: the contents of a file, and world positions and rotations of all joints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from viewer.cli import inputs
from viewer.cli.file_options import FkOptions, InfoOptions
from viewer.cli.inputs import load_input
from viewer.cli.job import Json, Result, UsageError
from viewer.cli.options import SESSION_POSE
from viewer.errors import one_line, plural, quote, shown
from viewer.formats.arrays_and_tables import write_fk_npz
from viewer.formats.file_formats import is_session
from viewer.formats.json_joints import joint_words
from viewer.formats.limit_sources import NONE, WORDS, joint_sources
from viewer.formats.skeleton_json import SkeletonWriter, file_order
from viewer.skeleton import (
    Character,
    Clip,
    EffectorGoal,
    JointKind,
    Skeleton,
    World,
    bodies_of,
    fk,
    fk_clip,
    inertias_of,
    tip_positions,
)
from viewer.skeleton.kinematics import depths, extent, height
from viewer.skeleton.tree import depth_first
from viewer.spatial.checks import Ints
from viewer.spatial.quaternion import IDENTITY

_MOST_JOINTS = 200
"""Joints that the text form lists; ``--json`` lists all."""
_ROUNDING = 1e-12
"""A size below this part of the largest is 0."""

_JOINT_KEYS = (
    "name", "parent", "kind", "offset", "rotation", "limits", "inertia", "motor", "mimic", "limits_from", "tips",
)  # fmt: skip

_NARROWEST = 12
"""Columns for names at least; titles with frame numbers of six digits fit into them."""


def run_info(options: InfoOptions) -> Result:
    """Read the file and describe it."""
    read, about, lines = None, dict[str, Json](), None
    if is_session(options.file):
        from viewer.cli import session_inputs  # noqa: PLC0415 - only sessions need it

        session = session_inputs.read_document(options.file)
        read, lines = session_inputs.as_character(session), session_inputs.lines_of(session)
        about = {"session": session_inputs.words_of(session)}
    character = load_input(options.file, options.reading, quiet=not options.json, session=read, meshes=False)
    return Result(document=_document(character) | about) if options.json else Result(_lines(character, lines))


def _document(character: Character) -> dict[str, Json]:
    """The JSON document; offsets are in the file's own units and axes."""
    skeleton, source, clip = character.skeleton, character.source, character.clip
    sources = joint_sources(character)
    writer: Any = SkeletonWriter(skeleton, source, file_order(character), None)
    usual: Any = {"rotation": IDENTITY.tolist(), "limits": None, "tips": []}
    joints = [
        usual | {"kind": skeleton.kinds[joint].value, "limits_from": sources[joint]} | writer.joint(joint)
        for joint in writer.order.tolist()
    ]
    return {
        "name": skeleton.name,
        "format": source.format,
        "joints": [{key: words[key] for key in _JOINT_KEYS if key in words} for words in joints],
        "dof": skeleton.dof,
        "effectors": writer.effectors(),
        "frames": len(clip) if clip else 0,
        "frame_time": clip.frame_time if clip else None,
        "duration": clip.duration if clip else None,
        "clips": list(character.clips),
        "units": source.units,
        "up": source.up,
        "height": height(character),
        "mass": sum(one.mass for one in inertias_of(skeleton)),
        "mass_from": "file" if skeleton.inertias else "estimated",
        "limits_from": character.limits_from,
        "warnings": list(character.warnings),
    }


def _lines(character: Character, session: list[str] | None) -> list[str]:
    skeleton, source = character.skeleton, character.source
    on = [shown(e.name) for e in skeleton.effectors if e.goal is not EffectorGoal.OFF]
    off = [shown(e.name) for e in skeleton.effectors if e.goal is EffectorGoal.OFF]
    kind = source.format.upper() or "made in code"
    guess = ", guessed" if source.guessed else ""
    limits = character.limits_from or NONE
    sizes = extent(character)
    x, y, z = np.where(sizes > _ROUNDING * sizes.max(), sizes, 0.0).tolist()
    lines = [
        f"{shown(skeleton.name)}: {kind if session is None else f'session ({kind})'}",
        f"  joints     {len(skeleton)}, {skeleton.dof} degrees of freedom",
        f"  size       {x:.3g} x {y:.3g} x {z:.3g} m (x, y, z; y is up)",
        f"  units      1 unit = {source.metres_per_unit:g} m, {source.up.upper()} up{guess}",
        *_motions(character),
        f"  effectors  {', '.join(on) or 'none'}" + (f"; off: {', '.join(off)}" if off else ""),
        f"  limits     {WORDS.get(limits, limits).lower()}",
        f"  bodies     {_bodies(skeleton)}",
        f"  mass       {_mass(skeleton)}",
        *_motors(skeleton),
        f"  poses      {', '.join(map(shown, skeleton.poses)) or 'none'}",
    ]
    if character.skin is not None:
        lines.append(f"  skin       {character.skin.vertices:,} vertices, {', '.join(character.skin.contents)}")
    lines += [f"  loop       {shown(one.a)} with {shown(one.b)}" for one in skeleton.loops]
    lines += [f"  not read   {', '.join(source.unread)}"] if source.unread else []
    lines += session or []
    lines += [one_line(f"  warning    {warning}") for warning in character.warnings]
    return lines + _tree(character)


def _bodies(skeleton: Skeleton) -> str:
    """How many volumes there are for contact, and how many pairs of them are tested."""
    bodies = bodies_of(skeleton)
    origin = "fitted to the bones" if skeleton.bodies is None else "from the file"
    pairs = len(bodies.pairs)
    return f"{len(bodies)} {origin}, {plural(pairs, 'pair')} {'is' if pairs == 1 else 'are'} tested"


def _mass(skeleton: Skeleton) -> str:
    """What it weighs, and whether that is stated."""
    kilograms = sum(one.mass for one in inertias_of(skeleton))
    missing = skeleton.inertias.count(None)
    some = f", but estimated of {plural(missing, 'joint')}" if missing else ""
    return f"{kilograms:.4g} kg, {f'from the file{some}' if skeleton.inertias else 'estimated'}"


def _motors(skeleton: Skeleton) -> list[str]:
    """Of how many joints that move the file states effort and velocity."""
    stated = [motor for motor in skeleton.motors if motor is not None]
    if not stated:
        return []
    moving = sum(kind not in (JointKind.FIXED, JointKind.FREE) for kind in skeleton.kinds)
    efforts, speeds = (sum(value is not None for value in each) for each in
                       zip(*((motor.effort, motor.velocity) for motor in stated), strict=True))  # fmt: skip
    return [f"  motors     effort of {efforts}, velocity of {speeds} of {moving} joints, from the file"]


def _motions(character: Character) -> list[str]:
    """A line for each clip, with its name if there are several."""
    clips = [clip for clip in character.clips.values() if clip]
    several = len(character.clips) > 1
    lines = [f"{f'{quote(c.name)}: ' if several else ''}{length_of(c)}, {c.duration:.3g} s" for c in clips]
    return [f"  {'' if line else 'motion':<10} {text}" for line, text in enumerate(lines or ["none"])]


def length_of(clip: Clip) -> str:
    """The length of a clip in words: ``68 frames at 30 fps``."""
    return "1 frame" if len(clip) == 1 else f"{len(clip)} frames at {1 / clip.frame_time:g} fps"


def _tree(character: Character) -> list[str]:
    """Joints, indented by depth, with their kinds and ranges in degrees."""
    skeleton, sources = character.skeleton, joint_sources(character)
    depth = depths(skeleton.parents)
    lines: list[str] = []
    for joint in depth_first(skeleton)[:_MOST_JOINTS]:
        words = joint_words(skeleton, joint, character.source)
        label = "  " * int(depth[joint] + 1) + shown(skeleton.names[joint])
        ranges = _ranges(words.get("limits"))
        if ranges and sources[joint] != character.limits_from:
            ranges += f"  ({sources[joint]})"
        mimic = words.get("mimic")
        if isinstance(mimic, dict):
            ranges += f"  follows {shown(mimic['joint'])}"
        lines.append(f"{label:<34} {skeleton.kinds[joint].value:<10} {ranges}".rstrip())
    if len(skeleton) > _MOST_JOINTS:
        lines.append(f"  ... and {len(skeleton) - _MOST_JOINTS} more (--json lists all)")
    return lines


def _ranges(limits: object) -> str:
    """Limits on one line: ``x -90..90  y -40..40``."""
    if not isinstance(limits, dict):
        return ""
    parts: list[str] = []
    for name, value in limits.items():
        if name == "order":
            parts.append(f"order {value}")
            continue
        pairs = value if isinstance(value[0], list) else [value]
        parts.append(f"{name} " + " ".join(f"{low:.4g}..{high:.4g}" for low, high in pairs))
    return "  ".join(parts)


def run_fk(options: FkOptions) -> Result:
    """Evaluate the pose or the frames; ``--npz`` writes the arrays."""
    if options.npz is not None:
        inputs.checked_output(options.npz, (".npz",))
    if options.clip is not None and options.frame is None and options.frames is None:
        raise UsageError("argument --clip: expected --frame or --frames with it")
    character = inputs.chosen_clip(
        inputs.load_input(options.file, options.reading, meshes=False), options.clip, options.file
    )
    return evaluate(character, options)


def evaluate(character: Character, options: FkOptions) -> Result:
    """World positions and rotations of a character in the frames or the pose of the options."""
    frames, world = _evaluated(character, options)
    skeleton, order = character.skeleton, file_order(character)
    document: Json = None
    if options.json:
        documents = [_frame_document(skeleton, order, frame, at) for frame, at in _rows(frames, world)]
        document = [*documents] if options.frames is not None else documents[0]
    if options.npz:
        names = [skeleton.names[joint] for joint in order]
        write_fk_npz(Path(options.npz), names, world.positions[:, order], world.rotations[:, order])
        length = plural(len(frames), "frame")
        return Result(notes=[f"wrote {options.npz}: {plural(len(order), 'joint')}, {length}"], document=document)
    tables = [] if options.json else [_table(skeleton, order, frame, at) for frame, at in _rows(frames, world)]
    return Result(tables, document=document)


def _evaluated(character: Character, options: FkOptions) -> tuple[list[int | None], World]:
    """The frames (None for a pose) and their world motion, (F, J, ...)."""
    skeleton = character.skeleton
    frames = _frames(character, options)
    if frames is not None and character.clip is not None:
        chosen: Ints = np.array(frames, dtype=np.intp)
        return list(frames), fk_clip(skeleton, character.clip, chosen)
    usual = "rest" if not is_session(options.file) else SESSION_POSE
    world = fk(skeleton, inputs.named_pose(skeleton, options.pose or usual))
    return [None], World(world.positions[None], world.rotations[None])


def _frames(character: Character, options: FkOptions) -> list[int] | None:
    if options.frame is None and options.frames is None:
        return None
    clip = inputs.motion_of(character, options.file)
    if options.frame is not None:
        inputs.check_frames(clip, options.file, options.frame)
        return [options.frame]
    for some in options.frames or ():
        inputs.check_frames(clip, options.file, some.start, some.stop - 1)
    return [frame for some in options.frames or () for frame in some]


def _rows(frames: list[int | None], world: World) -> list[tuple[int | None, World]]:
    return [(frame, World(world.positions[row], world.rotations[row])) for row, frame in enumerate(frames)]


def _frame_document(skeleton: Skeleton, order: Ints, frame: int | None, world: World) -> Json:
    joints: dict[str, Json] = {
        skeleton.names[joint]: {
            "position": world.positions[joint].tolist(),
            "rotation": world.rotations[joint].tolist(),
        }
        for joint in order.tolist()
    }
    places = tip_positions(skeleton, world).tolist()
    tips: list[Json] = [
        {"parent": skeleton.names[parent], "position": place}
        for parent, place in zip(skeleton.tip_parents.tolist(), places, strict=True)
    ]
    return {"frame": frame, "joints": joints, "tips": tips}


def _table(skeleton: Skeleton, order: Ints, frame: int | None, world: World) -> str:
    names = [shown(name) for name in skeleton.names]
    width = max(_NARROWEST, *map(len, names))
    title = "pose" if frame is None else f"frame {frame}"
    lines = [f"{title:<{width}}  {'x':>9} {'y':>9} {'z':>9}  (m)"]
    # Rounding first and then adding 0 avoids "-0.0000".
    places = world.positions.round(4) + 0.0
    for joint in order.tolist():
        x, y, z = places[joint].tolist()
        lines.append(f"{names[joint]:<{width}}  {x:9.4f} {y:9.4f} {z:9.4f}")
    return "\n".join(lines)
