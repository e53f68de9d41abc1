"""``ikviewer fk``: where every joint is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.cli.inputs import POSE, check_kept, is_session, named_pose
from viewer.cli.options import (
    add_clip,
    add_input,
    add_json,
    check_frames,
    chosen_clip,
    count,
    frame_list,
    load_input,
    motion_of,
)
from viewer.cli.output import Json, print_json, print_text, print_told
from viewer.errors import shown

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from viewer.skeleton.character import Character
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Ints

EXAMPLES = """examples:
  ikviewer fk walk.bvh --frame 12
  ikviewer fk walk.bvh --frames 0,10,20:30 --json
  ikviewer fk walk.bvh --frames 0:99 --npz positions.npz
  ikviewer fk sample:biped --pose relaxed --json

Metres, Y up, rotations as quaternions (x, y, z, w). Without a frame or pose: the rest pose;
of a session the pose in which it was saved (--pose session)."""

_NARROWEST = 12
"""Columns for names, so that frame numbers of up to six digits stand in them, too."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    add_input(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--frame", type=count, metavar="N", help="one frame, counted from 0")
    which.add_argument(
        "--frames", type=frame_list, metavar="LIST", help="frames such as 0,10,20:30 or 0:100:5; ends are included"
    )
    which.add_argument("--pose", metavar="P", help="rest, relaxed, another pose of FILE by name, or a pose file")
    add_clip(parser)
    parser.add_argument("--npz", metavar="OUT", help="write names, positions (F,J,3) and rotations (F,J,4)")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print or write the joints' places."""
    from pathlib import Path

    from viewer.formats.skeleton_json import file_order

    check_kept(arguments.npz, arguments)
    character = chosen_clip(load_input(arguments, arguments.file), arguments.clip, arguments.file)
    frames, world = _evaluated(character, arguments)
    order = file_order(character)
    if arguments.npz:
        _write_npz(Path(arguments.npz), character.skeleton, order, world)
        if not arguments.json:
            said = "1 frame" if len(frames) == 1 else f"{len(frames)} frames"
            print_told(f"wrote {arguments.npz}: {len(order)} joints, {said}")
    if arguments.json:
        documents = [_document(character.skeleton, order, frame, at) for frame, at in _rows(frames, world)]
        print_json(documents if arguments.frames is not None else documents[0])
    elif not arguments.npz:
        for frame, at in _rows(frames, world):
            print_text(_table(character.skeleton, order, frame, at))
    return 0


def _evaluated(character: Character, arguments: argparse.Namespace) -> tuple[list[int | None], World]:
    """The frames asked for (None: a pose that is no frame) and their world motions, (F, J, ...)."""
    import numpy as np

    from viewer.skeleton.kinematics import World, fk, fk_clip

    skeleton = character.skeleton
    frames = _frames(character, arguments)
    if frames is not None and character.clip is not None:
        chosen: Ints = np.array(frames, dtype=np.intp)
        return list(frames), fk_clip(skeleton, character.clip, chosen)
    usual = "rest" if not is_session(arguments.file) else POSE
    world = fk(skeleton, named_pose(skeleton, arguments.pose or usual))
    return [None], World(world.positions[None], world.rotations[None])


def _frames(character: Character, arguments: argparse.Namespace) -> list[int] | None:
    if arguments.frame is None and arguments.frames is None:
        return None
    clip = motion_of(character, arguments.file)
    if arguments.frame is not None:
        check_frames(clip, arguments.file, arguments.frame)
        return [arguments.frame]
    for part in arguments.frames:
        check_frames(clip, arguments.file, part.start, part.stop - 1)
    return [frame for part in arguments.frames for frame in part]


def _rows(frames: list[int | None], world: World) -> list[tuple[int | None, World]]:
    from viewer.skeleton.kinematics import World

    return [(frame, World(world.positions[row], world.rotations[row])) for row, frame in enumerate(frames)]


def _document(skeleton: Skeleton, order: Ints, frame: int | None, world: World) -> Json:
    from viewer.skeleton.kinematics import tip_positions

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
    # Adding 0 makes -0 plain: rounded first, or -0.00001 would be written as -0.0000.
    places = world.positions.round(4) + 0.0
    for joint in order.tolist():
        x, y, z = places[joint].tolist()
        lines.append(f"{names[joint]:<{width}}  {x:9.4f} {y:9.4f} {z:9.4f}")
    return "\n".join(lines)
