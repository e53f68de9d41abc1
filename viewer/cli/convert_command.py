"""``ikviewer convert``: from one file format to another, one file or many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.cli import inputs, job
from viewer.cli.batch import Kind, Spreading, on_each
from viewer.cli.batch_files import Destination, Input, check_not_read, inputs_of, is_folder
from viewer.cli.info_command import length_of
from viewer.cli.job import FILES, SKELETONS, Result, UsageError, argument, flag, option, part
from viewer.cli.options import (
    UNITS,
    UPS,
    Reading,
    checked,
    clip_option,
    count,
    frame_range,
    pose_option,
    positive,
)
from viewer.cli.output import warn
from viewer.errors import InputError, quote, unknown_name
from viewer.formats.table import MOST_DECIMALS, FileFormat, format_of, is_session

if TYPE_CHECKING:  # they load numpy
    from viewer.skeleton import Character, Clip

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


def _output_units(text: str) -> str:
    from viewer.formats.units import check_units

    units = check_units(text)
    if units in {"auto", "raw"}:
        raise InputError(f"expected m, cm, mm, inch or metres per unit, found {quote(text)}")
    return units


def _precision(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > 2 or int(text) > MOST_DECIMALS:
        raise InputError(f"expected a whole number from 0 to {MOST_DECIMALS}, found {quote(text)}")
    return int(text)


class Destinations(job.Options, title="where to"):
    """Where the outputs go."""

    output: str | None = option(
        "OUT",
        "a file; for many inputs a folder (each keeps its name and format) or a name with `{stem}`, the input's "
        "name; replaces existing files, but not inputs",
        short="-o",
        completes=FILES,
    )
    force: bool = flag("replace OUT, and inputs that an output would overwrite")
    spread: Spreading = part(Spreading)


class Motion(job.Options, title="the motion"):
    """Which part of the motion is kept, and its time."""

    clip: str | None = clip_option()
    frames: range | None = option(
        "A:B", "keep these frames, counted from 0, both ends included (`A:B:STEP`)", parse=frame_range, one_of="frames"
    )
    frame: int | None = option(
        "N", "one frame instead of the motion; `.obj`, `.stl` and `.ply` show frame 0 by default",
        parse=count, one_of="frames",
    )  # fmt: skip
    pose: str | None = pose_option(
        "one pose instead of the motion: `rest`, `relaxed`, the name of a pose in IN, or a [pose "
        "file](files.md#poses-and-goals)",
        one_of="frames",
    )
    frame_time: float | None = option("S", "correct the seconds between frames; the frames stay", parse=positive)
    fps: float | None = option("N", "resample to N frames a second; the duration stays", parse=positive)


class Form(job.Options, title="the output"):
    """Units, axes and decimals of the output."""

    to_units: str | None = option(
        "U", "units of the output: `m`, `cm`, `mm`, `inch` or metres per unit (default as read)",
        parse=checked(_output_units), words=UNITS[1:-1],
    )  # fmt: skip
    to_up: str | None = option("", "up axis of the output: `y` or `z` (default as read)", choices=UPS[1:], kind="axis")
    precision: int | None = option(
        "N", "decimals of numbers, 0 to 17 (default: enough to lose nothing that matters)", parse=checked(_precision)
    )
    joints: bool = flag(
        "`.csv`: joint positions by name, a column per degree of freedom (radians, metres), instead of places"
    )


class Options(job.Options):
    """Options of ``ikviewer convert``."""

    paths: list[str] = argument(
        "IN",
        "BVH, JSON, NPZ or glTF files, sessions (`.ikv.json`), folders, `sample:NAME` or `-` (standard input); without "
        "`-o` the last is OUT, a new file, whose suffix says the format",
        nargs="+",
        completes=SKELETONS,
    )
    to: Destinations = part(Destinations)
    reading: Reading = part(Reading)
    motion: Motion = part(Motion)
    form: Form = part(Form)


def run(options: Options) -> Iterator[Result]:
    """Read, change the motion as asked, write."""
    from viewer.formats.save import WRITERS

    _check_usage(options)
    names, out = options.paths, options.to.output
    if out is not None and Destination(out).is_for_many:
        kind = Kind("converting", "converted", tuple(WRITERS), check=lambda output: _check_output(output, options))
        yield from on_each(kind, _convert, options, names, out, options.to.spread, force=options.to.force)
        return
    if out is None:
        *names, out = names
    given, output = inputs_of(names), Path(out)
    if len(given) != 1:
        raise InputError(f"{out}: one file for {len(given)} inputs: expected -o FOLDER or -o '{{stem}}{output.suffix}'")
    if options.to.output is None and is_folder(out):
        raise InputError(f"{out}: cannot be written: expected a file, found a folder (-o {out} writes into it)")
    _check_outputs([(given[0], output)], options)
    if options.to.output is None and os.path.exists(output) and not options.to.force:  # noqa: PTH110 - as `is_folder`
        # With `convert *.bvh` this would be the last of the inputs.
        raise InputError(f"{out}: is there already: --force replaces it (several inputs need -o FOLDER)")
    yield _convert(options, (given[0], output))


def _convert(options: Options, pair: tuple[Input, Path]) -> Result:
    """Convert one file; a line about it.

    Raises:
        ViewerError: the input cannot be read, or the output not written; an existing output is left unchanged.
    """
    from viewer.formats.save import save

    file, output, form = pair[0].file, pair[1], options.form
    read = inputs.load_input(file, options.reading)
    character, what = _asked_for(read, options.motion, pair)
    to = format_of(output)
    lost = [*_unused(form, to), *_lost_clips(options.motion, to, read, character)]
    warn(f"{output}: {warning}" for warning in lost)
    lost = save(character, output, units=form.to_units, up=form.to_up, precision=form.precision, joints=form.joints)
    warn(f"{output}: {warning}" for warning in lost)
    return Result(notes=[f"wrote {output}: {_summary(character, to, what)}"])


def _check_usage(options: Options) -> None:
    """Raise UsageError where options contradict each other."""
    to, motion, count = options.to, options.motion, len(options.paths)
    if to.output is None:
        if count == 1:
            raise UsageError("the following arguments are required: OUT")
        if count > 2:
            raise UsageError("several inputs need -o FOLDER or -o '{stem}.glb' (or another suffix)")
        if to.spread.resume:
            raise UsageError("argument --resume: expected -o FOLDER or -o '{stem}.glb' with it")
    one = "pose" if motion.pose is not None else "frame" if motion.frame is not None else None
    for name, value in (("fps", motion.fps), ("frame-time", motion.frame_time)):
        if one is not None and value is not None:
            raise UsageError(f"argument --{name}: not allowed with argument --{one}: nothing moves")
    if motion.pose is not None and motion.clip is not None:
        raise UsageError("argument --clip: not allowed with argument --pose: nothing moves")


def _check_outputs(pairs: Sequence[tuple[Input, Path]], options: Options) -> None:
    """Refuse unknown formats and outputs that replace what is read: inputs unless ``--force`` is given, rigs always."""
    for _, output in pairs:
        _check_output(output, options)
    if not options.to.force:
        check_not_read(pairs, "--force does so, another name keeps it")


def _check_output(output: Path, options: Options) -> None:
    from viewer.formats.save import check_suffix

    check_suffix(output)
    inputs.check_kept(output, options)


def _unused(form: Form, to: FileFormat) -> list[str]:
    """Options that the output's format cannot follow."""
    unused = []
    if to.in_metres and (form.to_units is not None or form.to_up is not None):
        unused.append(f"{to.name} is in metres, Y up, always: --to-units and --to-up change nothing")
    if not to.decimals and form.precision is not None:
        unused.append(f"{to.name} holds numbers whole: --precision changes nothing")
    if form.joints and to.suffix != ".csv":
        unused.append(f"{to.name} has joints of its own: --joints changes nothing")
    return unused


def _lost_clips(motion: Motion, to: FileFormat, read: Character, character: Character) -> list[str]:
    """A warning, if clips are left out although no clip was chosen."""
    if motion.clip is not None or motion.pose is not None or len(read.clips) < 2:
        return []
    kept = list(character.clips) if to.several_clips else list(character.clips)[:1]
    others = [quote(name) for name in read.clips if name not in kept]
    lost = f"it holds one clip, {quote(kept[0])}; left out: {', '.join(others)} (--clip chooses)"
    return [lost] if others else []


def _asked_for(character: Character, motion: Motion, pair: tuple[Input, Path]) -> tuple[Character, str | None]:
    """The character with the chosen motion or pose; and the pose's name, if only a pose is written."""
    from dataclasses import replace
    from types import MappingProxyType

    from viewer.formats.save import with_pose

    file, output = pair[0].file, pair[1]
    session, what = is_session(file), None
    pose = None if motion.pose is None else inputs.named_pose(character.skeleton, motion.pose)
    changed = any(value is not None for name, value in motion.values().items() if name != "pose")
    if pose is not None:
        what = f"the pose {quote(motion.pose or '')}"
    elif session and character.clip is None and not changed:
        pose, what = inputs.shown_pose(character, file), "the pose of the session"
    if session and not format_of(output).is_complete:
        character = inputs.without_pose(character)
    if pose is not None:
        return with_pose(character, pose), what
    if changed:
        clips = [_changed(clip, motion, file) for clip in _chosen(character, motion, file)]
        character = replace(character, clips=MappingProxyType({clip.name: clip for clip in clips}))
    return character, None if motion.frame is None else f"frame {motion.frame}"


def _chosen(character: Character, motion: Motion, file: str) -> list[Clip]:
    """The named clip, or the first; all clips if only their timing changes."""
    if motion.clip is None:
        first = inputs.motion_of(character, file)
        cut = motion.frame is not None or motion.frames is not None
        return [first] if cut else list(character.clips.values())
    if motion.clip not in character.clips:
        raise InputError(f"{file}: {unknown_name('clip', motion.clip, character.clips)}")
    return [character.clips[motion.clip]]


def _changed(clip: Clip, motion: Motion, file: str) -> Clip:
    """The clip with the chosen frames, then the frame time, then the rate."""
    from viewer.formats.save import retimed

    frames = motion.frames
    if motion.frame is not None:
        inputs.check_frames(clip, file, motion.frame)
        frames = range(motion.frame, motion.frame + 1)
    if frames is not None:
        inputs.check_frames(clip, file, frames.start, frames.stop - 1)
    return retimed(clip, frames, frame_time=motion.frame_time, fps=motion.fps)


def _summary(character: Character, to: FileFormat, pose: str | None) -> str:
    """What the output holds; ``pose`` names the pose if only one was written."""
    if to.is_shape:
        return f"{_triangles(character)}, {pose or _first(character)}"
    joints = f"{len(character.skeleton)} joints"
    clip = character.clip
    if pose is not None:
        return f"{joints}, {pose}"
    if clip is None:
        return f"{joints}, {'the rest pose' if to.always_a_frame else 'no motion'}"
    if to.several_clips and len(character.clips) > 1:
        return f"{joints}, {len(character.clips)} clips: {', '.join(map(quote, character.clips))}"
    return f"{joints}, {length_of(clip)}"


def _triangles(character: Character) -> str:
    from viewer.skeleton import fk
    from viewer.skeleton.bone_mesh import FACES, bone_mesh

    skeleton = character.skeleton
    triangles = len(bone_mesh(skeleton, fk(skeleton, skeleton.rest_pose())).corners) // 3
    return f"{triangles} triangles of {triangles // len(FACES)} bones"


def _first(character: Character) -> str:
    """The pose that a mesh shows by default, in words."""
    clip = character.clip
    if not clip:
        return "the rest pose"
    return "the one frame" if len(clip) == 1 else f"frame 0 of {len(clip)}"
