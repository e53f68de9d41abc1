"""``ikviewer convert``: from one file format to another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from viewer.cli.inputs import check_kept
from viewer.cli.options import (
    add_clip,
    add_reading,
    check_frames,
    checked,
    count,
    frame_range,
    load_input,
    motion_of,
    positive,
)
from viewer.cli.output import print_text, warn
from viewer.cli.poses import named_pose
from viewer.cli.sessions import is_session, shown_pose, without_pose
from viewer.cli.told import told
from viewer.errors import InputError, quote, unknown_name
from viewer.formats.paths import leads_to
from viewer.formats.save import MOST_DECIMALS, SEVERAL_CLIPS, check_suffix, retimed, save, with_pose
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
  ikviewer convert work.ikv.json take.glb      (what was recorded in the window, as it is played)
  ikviewer convert fox.glb run.bvh --clip Run
  ikviewer convert walk.bvh stride.stl --frame 12
  ikviewer convert wrong.bvh right.bvh --frame-time 0.008333

--fps resamples and keeps the duration; --frame-time corrects the file and keeps the frames."""

_NAMES = {".npz": "NPZ", ".csv": "CSV", ".glb": "glTF", ".gltf": "glTF", ".usda": "USD", ".usdc": "USD",
          ".obj": "OBJ", ".stl": "STL", ".ply": "PLY"}  # fmt: skip
"""What formats are called that are in metres, Y up, always."""
_WHOLE = set(_NAMES) - {".csv"}
_PARTLY_READ = {".glb", ".gltf"}
_EVERYTHING = {".json", ".npz"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    parser.add_argument(
        "input", metavar="IN", help="BVH, JSON, NPZ or glTF file, a session (.ikv.json), or sample:NAME"
    )
    parser.add_argument("output", metavar="OUT", help="file to write; its suffix says the format")
    add_reading(parser)
    group = parser.add_argument_group("the motion")
    add_clip(group)
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--frames", type=frame_range, metavar="A:B", help="keep frames A to B, counted from 0, both included (A:B:STEP)"
    )
    which.add_argument("--frame", type=count, metavar="N", help="one frame alone (.obj .stl .ply: 0 if not given)")
    which.add_argument("--pose", metavar="P", help="no motion: rest, relaxed, another pose of IN by name, a pose file")
    group.add_argument("--frame-time", type=positive, metavar="S", help="seconds between frames: corrects a wrong one")
    group.add_argument("--fps", type=positive, metavar="N", help="resample to N frames a second")
    group = parser.add_argument_group("the output")
    group.add_argument(
        "--to-units", type=checked(_output_units), metavar="U", help="m, cm, mm, inch or metres per unit (as read)"
    )
    group.add_argument("--to-up", choices=("y", "z"), help="axis that is up (as read)")
    group.add_argument("--precision", type=checked(_precision), metavar="N", help="decimals of numbers, 0 to 17")
    parser.set_defaults(refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Read, change the motion as asked, write."""
    output = Path(arguments.output)
    _check_usage(arguments)
    check_suffix(output)
    _check_kept(output, arguments)
    read = load_input(arguments, arguments.input)
    character, what = _asked_for(read, arguments)
    warn(
        f"{output}: {warning}" for warning in [*_unused(arguments, character), *_lost_clips(arguments, read, character)]
    )
    lost = save(character, output, units=arguments.to_units, up=arguments.to_up, precision=arguments.precision)
    warn(f"{output}: {warning}" for warning in lost)
    print_text(f"wrote {output}: {told(character, output, what)}")
    return 0


def _check_usage(arguments: argparse.Namespace) -> None:
    """End with wrong usage (exit 2) where options contradict each other."""
    one = next((name for name in ("pose", "frame") if getattr(arguments, name) is not None), None)
    for name in ("fps", "frame_time"):
        if one is not None and getattr(arguments, name) is not None:
            arguments.refuse(f"argument --{name.replace('_', '-')}: not allowed with argument --{one}: nothing moves")
    if arguments.pose is not None and arguments.clip is not None:
        arguments.refuse("argument --clip: not allowed with argument --pose: nothing moves")


def _check_kept(output: Path, arguments: argparse.Namespace) -> None:
    """Refuse to write over what is read, but for IN itself where all that it holds is read."""
    check_kept(output, arguments)
    suffixes = {output.suffix.casefold(), Path(arguments.input).suffix.casefold()}
    if suffixes & _PARTLY_READ and leads_to(output, arguments.input):
        raise InputError(f"{output}: of this file meshes are not read, and would be lost: give OUT another name")


def _output_units(text: str) -> str:
    units = check_units(text)
    if units in {"auto", "raw"}:
        raise InputError(f"expected m, cm, mm, inch or metres per unit, found {quote(text)}")
    return units


def _precision(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > 2 or int(text) > MOST_DECIMALS:
        raise InputError(f"expected a whole number from 0 to {MOST_DECIMALS}, found {quote(text)}")
    return int(text)


def _unused(arguments: argparse.Namespace, character: Character) -> list[str]:
    """What was asked for and the output's format has no place for."""
    suffix = Path(arguments.output).suffix.casefold()
    unused = []
    if suffix in _NAMES and (arguments.to_units is not None or arguments.to_up is not None):
        unused.append(f"{_NAMES[suffix]} is in metres, Y up, always: --to-units and --to-up change nothing")
    if suffix in _WHOLE and arguments.precision is not None:
        unused.append(f"{_NAMES[suffix]} holds numbers whole: --precision changes nothing")
    if suffix in _EVERYTHING and character.limits_from == "clip":
        unused.append("its limits are those derived from the motion; read again, they count as the file's own")
    return unused


def _lost_clips(arguments: argparse.Namespace, read: Character, character: Character) -> list[str]:
    """The clips that are not written though nobody has chosen one."""
    if arguments.clip is not None or arguments.pose is not None or len(read.clips) < 2:
        return []
    several = Path(arguments.output).suffix.casefold() in SEVERAL_CLIPS
    kept = list(character.clips) if several else list(character.clips)[:1]
    others = [quote(name) for name in read.clips if name not in kept]
    lost = f"it holds one clip, {quote(kept[0])}; left out: {', '.join(others)} (--clip chooses)"
    return [lost] if others else []


def _asked_for(character: Character, arguments: argparse.Namespace) -> tuple[Character, str | None]:
    """The character with what was asked for; and what that shows, where it is one pose."""
    session, what = is_session(arguments.input), None
    pose = None if arguments.pose is None else named_pose(character.skeleton, arguments.pose)
    changed = any(getattr(arguments, name) is not None for name in ("clip", "frame", "frames", "frame_time", "fps"))
    if pose is not None:
        what = f"the pose {quote(arguments.pose)}"
    elif session and character.clip is None and not changed:
        pose, what = shown_pose(character, arguments.input), "the pose of the session"
    if session and Path(arguments.output).suffix.casefold() not in _EVERYTHING:
        character = without_pose(character)
    if pose is not None:
        return with_pose(character, pose), what
    if changed:
        clips = [_changed(clip, arguments) for clip in _chosen(character, arguments)]
        character = replace(character, clips=MappingProxyType({clip.name: clip for clip in clips}))
    return character, None if arguments.frame is None else f"frame {arguments.frame}"


def _chosen(character: Character, arguments: argparse.Namespace) -> list[Clip]:
    """The clip that was asked for, or the first; all of them where only their time is changed."""
    if arguments.clip is None:
        first = motion_of(character, arguments.input)
        cut = arguments.frame is not None or arguments.frames is not None
        return [first] if cut else list(character.clips.values())
    if arguments.clip not in character.clips:
        raise InputError(f"{arguments.input}: {unknown_name('clip', arguments.clip, character.clips)}")
    return [character.clips[arguments.clip]]


def _changed(clip: Clip, arguments: argparse.Namespace) -> Clip:
    """Frames, then frame time, then rate."""
    frames = arguments.frames
    if arguments.frame is not None:
        check_frames(clip, arguments.input, arguments.frame)
        frames = range(arguments.frame, arguments.frame + 1)
    if frames is not None:
        check_frames(clip, arguments.input, frames.start, frames.stop - 1)
    return retimed(clip, frames, frame_time=arguments.frame_time, fps=arguments.fps)
