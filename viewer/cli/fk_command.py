"""``ikviewer fk``: world positions and rotations of all joints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from viewer.cli import inputs, job
from viewer.cli import options as shared
from viewer.cli.job import FILES, Result, option, part
from viewer.cli.output import Json
from viewer.errors import shown
from viewer.formats.table import is_session

if TYPE_CHECKING:  # they load numpy
    from viewer.skeleton import Character, Skeleton, World
    from viewer.spatial.checks import Ints

EXAMPLES = """examples:
  ikviewer fk walk.bvh --frame 12
  ikviewer fk walk.bvh --frames 0,10,20:30 --json
  ikviewer fk walk.bvh --frames 0:99 --npz positions.npz
  ikviewer fk sample:biped --pose relaxed --json

Metres, Y up, rotations as quaternions (x, y, z, w). Without a frame or pose: the rest pose;
of a session the pose in which it was saved (--pose session)."""

_NARROWEST = 12
"""Columns for names at least; titles with frame numbers of six digits fit into them."""


class Options(job.Options):
    """Options of ``ikviewer fk``."""

    file: str = shared.input_file()
    reading: shared.Reading = part(shared.Reading)
    frame: int | None = option("N", "one frame, counted from 0", parse=shared.count, one_of="frames")
    frames: list[range] | None = option(
        "LIST",
        "several frames, such as `0,10,20:30` or `0:60:5`; ends are included",
        parse=shared.frame_list,
        one_of="frames",
    )
    pose: str | None = shared.pose_option(
        "a pose: `rest`, `relaxed`, the name of a pose in the file, or a [pose file](files.md#poses-and-goals)",
        one_of="frames",
    )
    clip: str | None = shared.clip_option()
    npz: str | None = option(
        "OUT",
        "write arrays: `names` (J), `positions` (F, J, 3), `rotations` (F, J, 4), in the file's joint order",
        completes=FILES,
    )
    json: bool = shared.json_flag("print one JSON document; with `--frames` a list of them")


def run(options: Options) -> Result:
    """Read, evaluate, write the arrays if asked."""
    inputs.check_kept(options.npz, options)
    character = inputs.chosen_clip(inputs.load_input(options.file, options.reading), options.clip, options.file)
    return evaluate(character, options)


def evaluate(character: Character, options: Options) -> Result:
    """World positions and rotations of a character in the frames or the pose of the options."""
    from viewer.formats.skeleton_json import file_order

    frames, world = _evaluated(character, options)
    skeleton, order = character.skeleton, file_order(character)
    documents = [_document(skeleton, order, frame, at) for frame, at in _rows(frames, world)] if options.json else []
    document: Json = None
    if options.json:
        document = list(documents) if options.frames is not None else documents[0]
    if options.npz:
        _write_npz(Path(options.npz), skeleton, order, world)
        length = "1 frame" if len(frames) == 1 else f"{len(frames)} frames"
        return Result(notes=[f"wrote {options.npz}: {len(order)} joints, {length}"], document=document)
    tables = [] if options.json else [_table(skeleton, order, frame, at) for frame, at in _rows(frames, world)]
    return Result(tables, document=document)


def _evaluated(character: Character, options: Options) -> tuple[list[int | None], World]:
    """The frames (None for a pose) and their world motion, (F, J, ...)."""
    import numpy as np

    from viewer.skeleton import World, fk, fk_clip

    skeleton = character.skeleton
    frames = _frames(character, options)
    if frames is not None and character.clip is not None:
        chosen: Ints = np.array(frames, dtype=np.intp)
        return list(frames), fk_clip(skeleton, character.clip, chosen)
    usual = "rest" if not is_session(options.file) else inputs.SESSION_POSE
    world = fk(skeleton, inputs.named_pose(skeleton, options.pose or usual))
    return [None], World(world.positions[None], world.rotations[None])


def _frames(character: Character, options: Options) -> list[int] | None:
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
    from viewer.skeleton import World

    return [(frame, World(world.positions[row], world.rotations[row])) for row, frame in enumerate(frames)]


def _document(skeleton: Skeleton, order: Ints, frame: int | None, world: World) -> Json:
    from viewer.skeleton import tip_positions

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
    from viewer.formats.npz import write_fk_npz

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
