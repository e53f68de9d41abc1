"""``ikviewer fk``: world positions and rotations of all joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from viewer.cli import inputs, outputs
from viewer.cli.console import Json
from viewer.cli.file_options import FkOptions
from viewer.cli.job import Result
from viewer.cli.options import SESSION_POSE
from viewer.errors import plural, shown
from viewer.formats.arrays_and_tables import write_fk_npz
from viewer.formats.file_formats import is_session
from viewer.formats.skeleton_json import file_order
from viewer.skeleton import Character, Skeleton, World, fk, fk_clip, tip_positions
from viewer.spatial.checks import Ints

_NARROWEST = 12
"""Columns for names at least; titles with frame numbers of six digits fit into them."""


def run_fk(options: FkOptions) -> Result:
    """Evaluate the pose or the frames; ``--npz`` writes the arrays."""
    outputs.check_kept(options.npz, options)
    character = inputs.chosen_clip(
        inputs.load_input(options.file, options.reading, meshes=False), options.clip, options.file
    )
    return evaluate(character, options)


def evaluate(character: Character, options: FkOptions) -> Result:
    """World positions and rotations of a character in the frames or the pose of the options."""
    frames, world = _evaluated(character, options)
    skeleton, order = character.skeleton, file_order(character)
    documents = [_document(skeleton, order, frame, at) for frame, at in _rows(frames, world)] if options.json else []
    document: Json = None
    if options.json:
        document = list(documents) if options.frames is not None else documents[0]
    if options.npz:
        _write_npz(Path(options.npz), skeleton, order, world)
        length = plural(len(frames), "frame")
        return Result(notes=[f"wrote {options.npz}: {len(order)} joints, {length}"], document=document)
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


def _document(skeleton: Skeleton, order: Ints, frame: int | None, world: World) -> Json:
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


def _write_npz(path: Path, skeleton: Skeleton, order: Ints, world: World) -> None:
    names = [skeleton.names[joint] for joint in order]
    write_fk_npz(path, names, world.positions[:, order], world.rotations[:, order])


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
