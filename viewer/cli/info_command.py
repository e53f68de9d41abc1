"""``ikviewer info``: the contents of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from viewer.cli.console import Json
from viewer.cli.file_options import InfoOptions
from viewer.cli.inputs import SessionInput, load_input, read_session
from viewer.cli.job import Result
from viewer.errors import one_line, plural, quote, shown
from viewer.formats.file_formats import is_session
from viewer.formats.json_joints import joint_words
from viewer.formats.limit_sources import joint_sources
from viewer.formats.skeleton_json import file_order
from viewer.formats.units import lengths_to_source, root_rotations_to_source, root_translations_to_source
from viewer.skeleton import Character, Clip, EffectorGoal, JointKind, Skeleton, bodies_of, inertias_of
from viewer.skeleton.kinematics import depths, extent, height
from viewer.skeleton.tree import depth_first

_MOST_JOINTS = 200
"""Joints that the text form lists; ``--json`` lists all."""
_ROUNDING = 1e-12
"""A size below this part of the largest is 0."""


def run_info(options: InfoOptions) -> Result:
    """Read the file and describe it."""
    session = read_session(options.file) if is_session(options.file) else None
    read = None if session is None else session.character
    character = load_input(options.file, options.reading, quiet=not options.json, session=read, meshes=False)
    found = _document(character) | ({} if session is None else {"session": session.document})
    return Result(_lines(character, session), document=found)


def _document(character: Character) -> dict[str, Json]:
    """The JSON document; offsets are in the file's own units and axes."""
    skeleton, source, clip = character.skeleton, character.source, character.clip
    sources = joint_sources(character)
    return {
        "name": skeleton.name,
        "format": source.format,
        "joints": [_joint(character, joint, sources[joint]) for joint in file_order(character).tolist()],
        "dof": skeleton.dof,
        "effectors": [
            {
                "name": effector.name,
                "joint": skeleton.names[effector.joint],
                "offset": _lengths(character, effector.offset),
                "goal": effector.goal.value,
            }
            for effector in skeleton.effectors
        ],
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


_ORIGINS = {
    "file": "from the file",
    "learned": "from the file, learned from motion",
    "clip": "derived from the motion",
    "human": "human",
    "human+clip": "human, and what the motion does",
    None: "none",
}
"""Words for the sources of limits."""


def _joint(character: Character, joint: int, limits_from: str | None) -> Json:
    skeleton, source = character.skeleton, character.source
    parent = int(skeleton.parents[joint])
    offset, rotation = skeleton.offsets[joint], skeleton.rest_rotations[joint]
    words: dict[str, Any] = joint_words(skeleton, joint, source)
    return {
        "name": skeleton.names[joint],
        "parent": skeleton.names[parent] if parent >= 0 else None,
        "kind": skeleton.kinds[joint].value,
        "offset": root_translations_to_source(offset, source).tolist() if parent < 0 else _lengths(character, offset),
        "rotation": (root_rotations_to_source(rotation, source) if parent < 0 else rotation).tolist(),
        "limits": words.get("limits"),
        **{key: words[key] for key in ("inertia", "motor", "mimic") if key in words},
        "limits_from": limits_from,
        "tips": [_lengths(character, tip) for tip in skeleton.tip_offsets[skeleton.tip_parents == joint]],
    }


def _lengths(character: Character, values: ArrayLike) -> list[Json]:
    result: list[Json] = lengths_to_source(np.asarray(values), character.source).tolist()
    return result


def _lines(character: Character, session: SessionInput | None) -> list[str]:
    skeleton, source = character.skeleton, character.source
    on = [shown(e.name) for e in skeleton.effectors if e.goal is not EffectorGoal.OFF]
    off = [shown(e.name) for e in skeleton.effectors if e.goal is EffectorGoal.OFF]
    kind = source.format.upper() or "made in code"
    guess = ", guessed" if source.guessed else ""
    origin = _ORIGINS.get(character.limits_from, str(character.limits_from))
    sizes = extent(character)
    x, y, z = np.where(sizes > _ROUNDING * sizes.max(), sizes, 0.0).tolist()
    lines = [
        f"{shown(skeleton.name)}: {kind if session is None else f'session ({kind})'}",
        f"  joints     {len(skeleton)}, {skeleton.dof} degrees of freedom",
        f"  size       {x:.3g} x {y:.3g} x {z:.3g} m (x, y, z; y is up)",
        f"  units      1 unit = {source.metres_per_unit:g} m, {source.up.upper()} up{guess}",
        *_motions(character),
        f"  effectors  {', '.join(on) or 'none'}" + (f"; off: {', '.join(off)}" if off else ""),
        f"  limits     {origin}",
        f"  bodies     {_bodies(skeleton)}",
        f"  mass       {_mass(skeleton)}",
        *_motors(skeleton),
        f"  poses      {', '.join(map(shown, skeleton.poses)) or 'none'}",
    ]
    if character.skin is not None:
        lines.append(f"  skin       {character.skin.vertices:,} vertices, {', '.join(character.skin.contents)}")
    lines += [f"  loop       {shown(one.a)} with {shown(one.b)}" for one in skeleton.loops]
    lines += [f"  not read   {', '.join(source.unread)}"] if source.unread else []
    lines += session.lines if session is not None else []
    lines += [one_line(f"  warning    {warning}") for warning in character.warnings]
    return lines + _tree(character)


def _bodies(skeleton: Skeleton) -> str:
    """How many volumes there are for contact, and how many pairs of them are tested."""
    bodies = bodies_of(skeleton)
    origin = "fitted to the bones" if skeleton.bodies is None else "from the file"
    return f"{len(bodies)} {origin}, {len(bodies.pairs)} pairs are tested"


def _mass(skeleton: Skeleton) -> str:
    """What it weighs, and whether that is stated."""
    kilograms = sum(one.mass for one in inertias_of(skeleton))
    missing = skeleton.inertias.count(None)
    some = f", but estimated of {plural(missing, 'joint')}" if missing else ""
    stated = f"from the file{some}"
    return f"{kilograms:.4g} kg, {stated if skeleton.inertias else 'estimated'}"


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
    named = [f"{quote(clip.name)}: " if len(character.clips) > 1 else "" for clip in clips]
    lines = [f"{name}{length_of(clip)}, {clip.duration:.3g} s" for name, clip in zip(named, clips, strict=True)]
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
