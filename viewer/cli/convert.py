"""``ikviewer convert``: from one file format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from viewer.cli.options import add_reading, frame_range, load_input, print_text, warn
from viewer.errors import InputError, unknown_name
from viewer.formats.save import save

if TYPE_CHECKING:
    import argparse

    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip

HELP = "convert a file: formats by suffix (.bvh .json .npz; .csv out only)"
EXAMPLES = """examples:
  ikviewer convert walk.bvh walk.json
  ikviewer convert capture.bvh short.bvh --frames 100:400 --fps 30
  ikviewer convert zup.bvh yup.bvh --up z --to-up y --to-units cm
  ikviewer convert wrong.bvh right.bvh --frame-time 0.008333

--fps resamples and keeps the duration; --frame-time corrects the file and keeps the frames."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    parser.add_argument("input", metavar="IN", help="BVH, JSON or NPZ file, or sample:NAME")
    parser.add_argument("output", metavar="OUT", help="file to write: .bvh, .json, .npz or .csv")
    add_reading(parser)
    group = parser.add_argument_group("the motion")
    group.add_argument("--clip", metavar="NAME", help="which clip, of a file with several")
    group.add_argument("--frames", metavar="A:B", help="keep frames A to B, both included (A:B:STEP)")
    group.add_argument("--frame-time", type=float, metavar="S", help="seconds between frames: corrects a wrong one")
    group.add_argument("--fps", type=float, metavar="N", help="resample to N frames a second")
    group = parser.add_argument_group("the output")
    group.add_argument("--to-units", metavar="U", help="m, cm, mm, inch or metres per unit (default: as read)")
    group.add_argument("--to-up", metavar="AXIS", help="y or z (default: as read)")
    group.add_argument("--precision", type=int, metavar="N", help="decimals of numbers")


def run(arguments: argparse.Namespace) -> int:
    """Read, change the motion as asked, write."""
    character = load_input(arguments, arguments.input)
    character = _with_motion(character, arguments)
    if character.limits_from == "clip" and Path(arguments.output).suffix.casefold() in {".json", ".npz"}:
        warn([f"{arguments.input}: its limits are derived from the motion; the output states them as its own"])
    lost = save(
        character,
        arguments.output,
        units=arguments.to_units,
        up=arguments.to_up,
        precision=arguments.precision,
    )
    warn(f"{arguments.output}: {warning}" for warning in lost)
    clip = character.clip
    frames = f"{len(clip)} frames at {1 / clip.frame_time:g} fps" if clip else "no motion"
    print_text(f"wrote {arguments.output}: {len(character.skeleton)} joints, {frames}")
    return 0


def _with_motion(character: Character, arguments: argparse.Namespace) -> Character:
    """The character with the one clip asked for, changed as asked: frames, then frame time, then rate."""
    asked = [arguments.frames, arguments.frame_time, arguments.fps, arguments.clip]
    clip = _chosen(character, arguments.clip)
    if clip is None:
        if any(option is not None for option in asked):
            raise InputError(f"{arguments.input}: has no motion, so no frames to change")
        return character
    if arguments.frames is not None:
        clip = clip.frames(*frame_range(arguments.frames, len(clip)))
    if arguments.frame_time is not None:
        clip = replace(clip, frame_time=arguments.frame_time)
    if arguments.fps is not None:
        clip = clip.resampled(arguments.fps)
    return replace(character, clips=MappingProxyType({clip.name: clip}))


def _chosen(character: Character, name: str | None) -> Clip | None:
    if name is None:
        return character.clip
    if name not in character.clips:
        raise InputError(unknown_name("clip", name, character.clips))
    return character.clips[name]
