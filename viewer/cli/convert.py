"""``ikviewer convert``: from one file format to another, one file or many."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from viewer.cli.inputs import check_kept, is_session, named_pose, shown_pose, without_pose
from viewer.cli.options import (
    add_choice,
    add_clip,
    add_jobs,
    add_reading,
    check_frames,
    checked,
    count,
    frame_range,
    load_input,
    motion_of,
    positive,
)
from viewer.cli.output import print_error, print_told, warn
from viewer.errors import InputError, OutputError, ViewerError, quote, unknown_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from viewer.cli.many import Destination, Input
    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip

USAGE = """ikviewer convert [options] IN OUT
       ikviewer convert [options] IN... -o FOLDER
       ikviewer convert [options] IN... -o '{stem}.glb'"""
EXAMPLES = """examples:
  ikviewer convert walk.bvh walk.json
  ikviewer convert capture.bvh short.bvh --frames 100:400 --fps 30
  ikviewer convert *.bvh -o 'glb/{stem}.glb'   (many files; a folder stands for the files in it and below)
  ikviewer convert captures/ -o slow/ --fps 30 --jobs 4
  ikviewer convert zup.bvh yup.bvh --up z --to-up y --to-units cm
  ikviewer convert work.ikv.json take.glb      (what was recorded in the window, as it is played)
  ikviewer convert fox.glb run.bvh --clip Run
  ikviewer convert walk.bvh stride.stl --frame 12
  ikviewer convert wrong.bvh right.bvh --frame-time 0.008333

--fps resamples and keeps the duration; --frame-time corrects the file and keeps the frames.
OUT must not exist unless --force is given; -o replaces what is there."""

_NAMES = {".npz": "NPZ", ".csv": "CSV", ".glb": "glTF", ".gltf": "glTF", ".usda": "USD", ".usdc": "USD",
          ".obj": "OBJ", ".stl": "STL", ".ply": "PLY"}  # fmt: skip
"""What formats are called that are in metres, Y up, always."""
_WHOLE = set(_NAMES) - {".csv"}
_EVERYTHING = {".json", ".npz"}
_MOST_DECIMALS = 17


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    parser.usage = USAGE
    parser.add_argument(
        "paths",
        metavar="IN",
        nargs="+",
        help="BVH, JSON, NPZ or glTF files, sessions (.ikv.json), folders, sample:NAME or - (stdin); without -o the "
        "last is OUT, a new file, whose suffix says the format",
    )
    group = parser.add_argument_group("where to")
    group.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="a file; of many inputs a folder (each keeps its name and format) or a name with {stem} in it, which "
        "stands for the input's name. What is there is replaced",
    )
    group.add_argument("--force", action="store_true", help="replace OUT, and inputs, if they are there")
    group.add_argument("--resume", action="store_true", help="leave out what an earlier run has done (needs -o)")
    add_jobs(group)
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
    add_choice(group, "--to-up", ("y", "z"), told="axis that is up (as read)", kind="axis")
    group.add_argument("--precision", type=checked(_precision), metavar="N", help="decimals of numbers, 0 to 17")
    parser.set_defaults(refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Read, change the motion as asked, write."""
    from pathlib import Path

    from viewer.cli.many import Destination, inputs_of, is_folder

    _check_usage(arguments)
    names, out = arguments.paths, arguments.output
    if out is not None and Destination(out).is_for_many:
        return _convert_many(arguments, Destination(out))
    if out is None:
        *names, out = names
    given, output = inputs_of(names), Path(out)
    if len(given) != 1:
        raise InputError(f"{out}: one file for {len(given)} inputs: expected -o FOLDER or -o '{{stem}}{output.suffix}'")
    if arguments.output is None and is_folder(out):
        raise InputError(f"{out}: cannot be written: expected a file, found a folder (-o {out} writes into it)")
    _check_outputs([(given[0], output)], arguments)
    if arguments.output is None and os.path.exists(output) and not arguments.force:  # noqa: PTH110 - as `is_folder`
        # With `convert *.bvh` it is the last of several inputs.
        raise InputError(f"{out}: is there already: --force replaces it (several inputs need -o FOLDER)")
    print_told(convert(arguments, (given[0], output)))
    return 0


def convert(arguments: argparse.Namespace, pair: tuple[Input, Path]) -> str:
    """Convert one file; returns what to tell of it.

    Raises:
        ViewerError: the input cannot be read, or the output not written; it is then as it was.
    """
    from viewer.cli.convert import told
    from viewer.formats.save import save

    file, output = pair[0].file, pair[1]
    read = load_input(arguments, file)
    character, what = _asked_for(read, arguments, pair)
    lost = [*_unused(arguments, output, character), *_lost_clips(arguments, output, read, character)]
    warn(f"{output}: {warning}" for warning in lost)
    lost = save(character, output, units=arguments.to_units, up=arguments.to_up, precision=arguments.precision)
    warn(f"{output}: {warning}" for warning in lost)
    return f"wrote {output}: {told(character, output, what)}"


def _convert_many(arguments: argparse.Namespace, destination: Destination) -> int:
    """Convert every input to an output of its own; one that fails does not stop the others."""
    from viewer.cli.many import JOURNAL, Journal, check_apart, done_each, inputs_of
    from viewer.formats.progress import watched
    from viewer.formats.save import WRITERS

    given = inputs_of(arguments.paths, destination.folder)
    pairs = [(each, destination.output_of(each, suffixes=tuple(WRITERS))) for each in given]
    check_apart(pairs)
    _check_outputs(pairs, arguments)
    journal = Journal(destination.folder / JOURNAL, _options_text(arguments))
    rest = journal.begin(pairs, resume=arguments.resume)
    failed = 0
    done = done_each(_convert_into, arguments, rest, lambda pair: pair[0].file, arguments.jobs)
    for (each, output), result in watched("converting", done, len(rest)):
        error = result if isinstance(result, ViewerError) else None
        journal.add(each, output, error)
        if isinstance(result, ViewerError):
            failed += 1
            print_error(f"error: {result}")
        else:
            print_told(result)
    print_told(_summary(len(pairs), len(pairs) - len(rest), failed))
    return 1 if failed else 0


def _convert_into(arguments: argparse.Namespace, pair: tuple[Input, Path]) -> str:
    """As `convert`, into a folder that may not be there yet."""
    from viewer.formats.files import reason

    try:
        pair[1].parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{pair[1]}: cannot be written: {reason(error)}") from error
    return convert(arguments, pair)


def _summary(count: int, earlier: int, failed: int) -> str:
    done = f"{count - earlier - failed} of {count} file{'' if count == 1 else 's'} converted"
    before = f", {earlier} done before" if earlier else ""
    return f"{done}{before}, {failed} failed" if failed else done + before


def _options_text(arguments: argparse.Namespace) -> str:
    """The options that an output depends on, as words."""
    names = (
        "clip",
        "fps",
        "frame",
        "frame_time",
        "frames",
        "pose",
        "precision",
        "rig",
        "to_units",
        "to_up",
        "units",
        "up",
    )
    given = {name: getattr(arguments, name) for name in names}
    return " ".join(f"{name}={value}" for name, value in given.items() if value is not None)


def _check_usage(arguments: argparse.Namespace) -> None:
    """End with wrong usage (exit 2) where options contradict each other."""
    count = len(arguments.paths)
    if arguments.output is None:
        if count == 1:
            arguments.refuse("the following arguments are required: OUT")
        if count > 2:
            arguments.refuse("several inputs need -o FOLDER or -o '{stem}.glb' (or another suffix)")
        if arguments.resume:
            arguments.refuse("argument --resume: expected -o FOLDER or -o '{stem}.glb' with it")
    one = next((name for name in ("pose", "frame") if getattr(arguments, name) is not None), None)
    for name in ("fps", "frame_time"):
        if one is not None and getattr(arguments, name) is not None:
            arguments.refuse(f"argument --{name.replace('_', '-')}: not allowed with argument --{one}: nothing moves")
    if arguments.pose is not None and arguments.clip is not None:
        arguments.refuse("argument --clip: not allowed with argument --pose: nothing moves")


def _check_outputs(pairs: Sequence[tuple[Input, Path]], arguments: argparse.Namespace) -> None:
    """Refuse names of no format, and to write over what is read: inputs but with ``--force``, all else always."""
    from viewer.cli.many import check_not_read
    from viewer.formats.save import check_suffix

    for _, output in pairs:
        check_suffix(output)
        check_kept(output, arguments)
    if not arguments.force:
        check_not_read(pairs, "--force does so, another name keeps it")


def _output_units(text: str) -> str:
    from viewer.formats.units import check_units

    units = check_units(text)
    if units in {"auto", "raw"}:
        raise InputError(f"expected m, cm, mm, inch or metres per unit, found {quote(text)}")
    return units


def _precision(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > 2 or int(text) > _MOST_DECIMALS:
        raise InputError(f"expected a whole number from 0 to {_MOST_DECIMALS}, found {quote(text)}")
    return int(text)


def _unused(arguments: argparse.Namespace, output: Path, character: Character) -> list[str]:
    """What was asked for and the output's format has no place for."""
    suffix = output.suffix.casefold()
    unused = []
    if suffix in _NAMES and (arguments.to_units is not None or arguments.to_up is not None):
        unused.append(f"{_NAMES[suffix]} is in metres, Y up, always: --to-units and --to-up change nothing")
    if suffix in _WHOLE and arguments.precision is not None:
        unused.append(f"{_NAMES[suffix]} holds numbers whole: --precision changes nothing")
    if suffix in _EVERYTHING and character.limits_from == "clip":
        unused.append("its limits are those derived from the motion; read again, they count as the file's own")
    return unused


def _lost_clips(arguments: argparse.Namespace, output: Path, read: Character, character: Character) -> list[str]:
    """The clips that are not written though nobody has chosen one."""
    from viewer.formats.save import SEVERAL_CLIPS

    if arguments.clip is not None or arguments.pose is not None or len(read.clips) < 2:
        return []
    several = output.suffix.casefold() in SEVERAL_CLIPS
    kept = list(character.clips) if several else list(character.clips)[:1]
    others = [quote(name) for name in read.clips if name not in kept]
    lost = f"it holds one clip, {quote(kept[0])}; left out: {', '.join(others)} (--clip chooses)"
    return [lost] if others else []


def _asked_for(
    character: Character, arguments: argparse.Namespace, pair: tuple[Input, Path]
) -> tuple[Character, str | None]:
    """The character with what was asked for; and what that shows, where it is one pose."""
    from dataclasses import replace
    from types import MappingProxyType

    from viewer.formats.save import with_pose

    file, output = pair[0].file, pair[1]
    session, what = is_session(file), None
    pose = None if arguments.pose is None else named_pose(character.skeleton, arguments.pose)
    changed = any(getattr(arguments, name) is not None for name in ("clip", "frame", "frames", "frame_time", "fps"))
    if pose is not None:
        what = f"the pose {quote(arguments.pose)}"
    elif session and character.clip is None and not changed:
        pose, what = shown_pose(character, file), "the pose of the session"
    if session and output.suffix.casefold() not in _EVERYTHING:
        character = without_pose(character)
    if pose is not None:
        return with_pose(character, pose), what
    if changed:
        clips = [_changed(clip, arguments, file) for clip in _chosen(character, arguments, file)]
        character = replace(character, clips=MappingProxyType({clip.name: clip for clip in clips}))
    return character, None if arguments.frame is None else f"frame {arguments.frame}"


def _chosen(character: Character, arguments: argparse.Namespace, file: str) -> list[Clip]:
    """The clip that was asked for, or the first; all of them where only their time is changed."""
    if arguments.clip is None:
        first = motion_of(character, file)
        cut = arguments.frame is not None or arguments.frames is not None
        return [first] if cut else list(character.clips.values())
    if arguments.clip not in character.clips:
        raise InputError(f"{file}: {unknown_name('clip', arguments.clip, character.clips)}")
    return [character.clips[arguments.clip]]


def _changed(clip: Clip, arguments: argparse.Namespace, file: str) -> Clip:
    """Frames, then frame time, then rate."""
    from viewer.formats.save import retimed

    frames = arguments.frames
    if arguments.frame is not None:
        check_frames(clip, file, arguments.frame)
        frames = range(arguments.frame, arguments.frame + 1)
    if frames is not None:
        check_frames(clip, file, frames.start, frames.stop - 1)
    return retimed(clip, frames, frame_time=arguments.frame_time, fps=arguments.fps)


_MESHES = {".obj", ".stl", ".ply"}
_ALWAYS_A_FRAME = {".bvh", ".csv"}
"""Formats that hold the rest pose where there is no motion."""


def told(character: Character, output: Path, pose: str | None) -> str:
    """What is in the file; ``pose`` says what it shows, where it was written of one pose."""
    from viewer.formats.save import SEVERAL_CLIPS

    suffix = output.suffix.casefold()
    if suffix in _MESHES:
        return f"{_triangles(character)}, {pose or _first(character)}"
    joints = f"{len(character.skeleton)} joints"
    clip = character.clip
    if pose is not None:
        return f"{joints}, {pose}"
    if clip is None:
        return f"{joints}, {'the rest pose' if suffix in _ALWAYS_A_FRAME else 'no motion'}"
    if suffix in SEVERAL_CLIPS and len(character.clips) > 1:
        return f"{joints}, {len(character.clips)} clips: {', '.join(map(quote, character.clips))}"
    return f"{joints}, {motion(clip)}"


def motion(clip: Clip) -> str:
    """How much a clip is."""
    return "1 frame" if len(clip) == 1 else f"{len(clip)} frames at {1 / clip.frame_time:g} fps"


def _triangles(character: Character) -> str:
    from viewer.skeleton.bone_mesh import FACES, bone_mesh
    from viewer.skeleton.kinematics import fk

    skeleton = character.skeleton
    triangles = len(bone_mesh(skeleton, fk(skeleton, skeleton.rest_pose())).corners) // 3
    return f"{triangles} triangles of {triangles // len(FACES)} bones"


def _first(character: Character) -> str:
    """Which pose a mesh shows unless another is asked for."""
    clip = character.clip
    if not clip:
        return "the rest pose"
    return "the one frame" if len(clip) == 1 else f"frame 0 of {len(clip)}"
