"""``ikviewer convert``: from one file format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from viewer.cli.options import add_reading, check_frames, checked, frame_range, load_input, motion_of, positive
from viewer.cli.output import print_text, warn
from viewer.errors import InputError, quote, unknown_name
from viewer.formats.save import save
from viewer.formats.units import check_units

if TYPE_CHECKING:
    import argparse

    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip

HELP = "convert a file: formats by suffix (.bvh .json .npz .glb .gltf; out only: .csv .usda .usdc .obj .stl .ply)"
EXAMPLES = """examples:
  ikviewer convert walk.bvh walk.json
  ikviewer convert capture.bvh short.bvh --frames 100:400 --fps 30
  ikviewer convert zup.bvh yup.bvh --up z --to-up y --to-units cm
  ikviewer convert walk.bvh walk.glb
  ikviewer convert fox.glb run.bvh --clip Run
  ikviewer convert wrong.bvh right.bvh --frame-time 0.008333

--fps resamples and keeps the duration; --frame-time corrects the file and keeps the frames."""

_NAMES = {".npz": "NPZ", ".csv": "CSV", ".glb": "glTF", ".gltf": "glTF", ".usda": "USD", ".usdc": "USD",
          ".obj": "OBJ", ".stl": "STL", ".ply": "PLY"}  # fmt: skip
"""What formats are called that are in metres, Y up, always."""
_WHOLE = set(_NAMES) - {".csv"}
_ALL_CLIPS = {".glb", ".gltf"}
_MOST_DECIMALS = 17
"""Decimals that a double can have anything to say in."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    parser.add_argument("input", metavar="IN", help="BVH, JSON, NPZ or glTF file, or sample:NAME")
    parser.add_argument("output", metavar="OUT", help="file to write; its suffix says the format")
    add_reading(parser)
    group = parser.add_argument_group("the motion")
    group.add_argument("--clip", metavar="NAME", help="which clip, of a file with several")
    group.add_argument(
        "--frames", type=frame_range, metavar="A:B", help="keep frames A to B, counted from 0, both included (A:B:STEP)"
    )
    group.add_argument("--frame-time", type=positive, metavar="S", help="seconds between frames: corrects a wrong one")
    group.add_argument("--fps", type=positive, metavar="N", help="resample to N frames a second")
    group = parser.add_argument_group("the output")
    group.add_argument(
        "--to-units", type=checked(_output_units), metavar="U", help="m, cm, mm, inch or metres per unit (as read)"
    )
    group.add_argument("--to-up", choices=("y", "z"), help="axis that is up (as read)")
    group.add_argument("--precision", type=checked(_precision), metavar="N", help="decimals of numbers, 0 to 17")


def run(arguments: argparse.Namespace) -> int:
    """Read, change the motion as asked, write."""
    character = _with_motion(load_input(arguments, arguments.input), arguments)
    warn(f"{arguments.output}: {warning}" for warning in _unused(arguments, character))
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


def _output_units(text: str) -> str:
    units = check_units(text)
    if units in {"auto", "raw"}:
        raise InputError(f"expected m, cm, mm, inch or metres per unit, found {quote(text)}")
    return units


def _precision(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > 2 or int(text) > _MOST_DECIMALS:
        raise InputError(f"expected a whole number from 0 to {_MOST_DECIMALS}, found {quote(text)}")
    return int(text)


def _unused(arguments: argparse.Namespace, character: Character) -> list[str]:
    """What was asked for and the output's format has no place for."""
    suffix = Path(arguments.output).suffix.casefold()
    unused = []
    if suffix in _NAMES and (arguments.to_units is not None or arguments.to_up is not None):
        unused.append(f"{_NAMES[suffix]} is in metres, Y up, always: --to-units and --to-up change nothing")
    if suffix in _WHOLE and arguments.precision is not None:
        unused.append(f"{_NAMES[suffix]} holds numbers whole: --precision changes nothing")
    if len(character.clips) > 1 and suffix not in _ALL_CLIPS:
        first, *others = (quote(name) for name in character.clips)
        unused.append(f"it holds one clip, {first}; left out: {', '.join(others)} (--clip chooses)")
    if suffix in {".json", ".npz"} and character.limits_from == "clip":
        unused.append("its limits are those derived from the motion; read again, they count as the file's own")
    return unused


def _with_motion(character: Character, arguments: argparse.Namespace) -> Character:
    """The character with the one clip asked for, changed as asked: frames, then frame time, then rate."""
    name, frames = arguments.clip, arguments.frames
    if name is None and frames is None and arguments.frame_time is None and arguments.fps is None:
        return character
    clip = motion_of(character, arguments.input) if name is None else _named(character, name, arguments.input)
    if frames is not None:
        check_frames(clip, arguments.input, frames.start, frames.stop - 1)
        clip = clip.frames(frames.start, frames.stop - 1, frames.step)
    if arguments.frame_time is not None:
        clip = replace(clip, frame_time=arguments.frame_time)
    if arguments.fps is not None:
        clip = clip.resampled(arguments.fps)
    return replace(character, clips=MappingProxyType({clip.name: clip}))


def _named(character: Character, name: str, file: str) -> Clip:
    if name not in character.clips:
        raise InputError(f"{file}: {unknown_name('clip', name, character.clips)}")
    return character.clips[name]
