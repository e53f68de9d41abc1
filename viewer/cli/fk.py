"""``ikviewer fk``: where every joint is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from viewer.cli.options import (
    Json,
    add_input,
    add_json,
    frame_list,
    load_input,
    print_json,
    print_text,
)
from viewer.errors import InputError
from viewer.skeleton.extent import tip_positions
from viewer.skeleton.kinematics import World, fk, fk_clip

if TYPE_CHECKING:
    import argparse

    from viewer.skeleton.character import Character
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Ints

HELP = "evaluate forward kinematics: world positions and rotations of all joints"
EXAMPLES = """examples:
  ikviewer fk walk.bvh --frame 12
  ikviewer fk walk.bvh --frames 0,10,20:30 --json
  ikviewer fk walk.bvh --frames 0:99 --npz positions.npz
  ikviewer fk sample:biped --pose relaxed --json

Metres, Y up, rotations as quaternions (x, y, z, w). Without a frame or pose: the rest pose."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    add_input(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--frame", type=int, metavar="N", help="one frame, counted from 0")
    which.add_argument("--frames", metavar="LIST", help="frames such as 0,10,20:30 or 0:100:5")
    which.add_argument("--pose", metavar="P", help="a pose file, or the name of a pose in FILE")
    parser.add_argument("--npz", metavar="OUT", help="write names, positions (F,J,3) and rotations (F,J,4)")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print or write the joints' places."""
    character = load_input(arguments)
    skeleton = character.skeleton
    frames, world = _evaluated(character, arguments)
    if arguments.npz:
        _write_npz(Path(arguments.npz), character, world)
    documents = [_document(skeleton, frame, world, row) for row, frame in enumerate(frames)]
    if arguments.json:
        print_json(documents if arguments.frames is not None else documents[0])
    elif not arguments.npz:
        print_text("\n".join(_table(skeleton, frames, world)))
    return 0


def _evaluated(character: Character, arguments: argparse.Namespace) -> tuple[list[int | None], World]:
    """The frames asked for (None: a pose that is no frame) and their world motions, (F, J, ...)."""
    skeleton, clip = character.skeleton, character.clip
    if arguments.frame is not None or arguments.frames is not None:
        if clip is None:
            raise InputError(f"{arguments.file}: has no motion, so no frames")
        frames = [arguments.frame] if arguments.frames is None else frame_list(arguments.frames, len(clip))
        for frame in frames:
            clip.check_frame(frame)
        chosen: Ints = np.array(frames, dtype=np.intp)
        return list(frames), fk_clip(skeleton, clip, chosen)
    pose = skeleton.rest_pose() if arguments.pose is None else _pose(skeleton, arguments.pose)
    world = fk(skeleton, pose)
    return [None], World(world.positions[None], world.rotations[None])


def _pose(skeleton: Skeleton, name: str) -> Pose:
    """A pose of the skeleton's file by name, or a pose file."""
    if name in skeleton.poses:
        return skeleton.poses[name]
    from viewer.formats.pose_json import read_pose

    return read_pose(Path(name), name, skeleton)


def _document(skeleton: Skeleton, frame: int | None, world: World, row: int) -> Json:
    here = World(world.positions[row], world.rotations[row])
    joints: dict[str, Json] = {
        name: {"position": position, "rotation": rotation}
        for name, position, rotation in zip(
            skeleton.names, here.positions.tolist(), here.rotations.tolist(), strict=True
        )
    }
    places = tip_positions(skeleton, here).tolist()
    tips: list[Json] = [
        {"parent": skeleton.names[parent], "position": place}
        for parent, place in zip(skeleton.tip_parents.tolist(), places, strict=True)
    ]
    return {"frame": frame, "joints": joints, "tips": tips}


def _write_npz(path: Path, character: Character, world: World) -> None:
    from viewer.formats.npz import write_fk_npz

    order = list(character.source.joint_order or range(len(character.skeleton)))
    names = [character.skeleton.names[joint] for joint in order]
    write_fk_npz(path, names, world.positions[:, order], world.rotations[:, order])


def _table(skeleton: Skeleton, frames: list[int | None], world: World) -> list[str]:
    lines: list[str] = []
    width = max(len(name) for name in skeleton.names)
    for row, frame in enumerate(frames):
        lines.append(f"{'pose' if frame is None else f'frame {frame}':<{width}}  {'x':>9} {'y':>9} {'z':>9}  (m)")
        for name, place in zip(skeleton.names, world.positions[row].tolist(), strict=True):
            lines.append(f"{name:<{width}}  " + " ".join(f"{value + 0.0:9.4f}" for value in place))
    return lines
