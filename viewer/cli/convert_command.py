"""``ikviewer convert``: from one file format to another, one file or many."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from viewer.cli import inputs, outputs
from viewer.cli.file_options import ConvertMotion, ConvertOptions, Form
from viewer.cli.info_command import length_of
from viewer.cli.job import Result, UsageError
from viewer.cli.many_files import Destination, Input, Kind, check_not_read, inputs_of, is_folder, on_each
from viewer.cli.output import warn
from viewer.errors import InputError, quote, unknown_name
from viewer.formats.file_formats import FileFormat, format_of, is_session
from viewer.formats.save import WRITERS, retimed, with_pose
from viewer.skeleton import Character, Clip, fk
from viewer.skeleton.bone_mesh import FACES, bone_mesh


def run(options: ConvertOptions) -> Result | Iterator[Result]:
    """Read, change the motion, write."""
    _check_usage(options)
    names, out = options.paths, options.to.output
    if out is not None and Destination(out).is_for_many:
        kind = Kind(
            "converting", "converted", tuple(WRITERS), check=lambda output: outputs.character_output(output, options)
        )
        return on_each(kind, _convert, options, names, out, options.to.spread, force=options.to.force)
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
    return _convert(options, (given[0], output))


def _convert(options: ConvertOptions, pair: tuple[Input, Path]) -> Result:
    """Convert one file; a line about it.

    Raises:
        ViewerError: the input cannot be read, or the output not written; an existing output is left unchanged.
    """
    file, output, form = pair[0].file, pair[1], options.form
    read = inputs.load_input(file, options.reading)
    character, what = _asked_for(read, options.motion, pair)
    to = format_of(output)
    unused = [*_unused(form, to), *_lost_clips(options.motion, to, read, character)]
    lost = [f"{output}: {warning}" for warning in unused]
    warn(lost)
    lost += outputs.saved(
        character, output, units=form.to_units, up=form.to_up, precision=form.precision, joints=form.joints
    )
    document = outputs.character_document(character, output, [*inputs.warnings_of(read, file), *lost])
    notes = [f"wrote {output}: {_summary(character, to, what)}"]
    return Result(notes=notes, document={"file": file, **document})


def _check_usage(options: ConvertOptions) -> None:
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


def _check_outputs(pairs: Sequence[tuple[Input, Path]], options: ConvertOptions) -> None:
    """Refuse unknown formats and outputs that replace what is read: inputs unless ``--force`` is given, rigs always."""
    for _, output in pairs:
        outputs.character_output(output, options)
    if not options.to.force:
        check_not_read(pairs, "--force does so, another name keeps it")


def _unused(form: Form, to: FileFormat) -> list[str]:
    """ConvertOptions that the output's format cannot follow."""
    unused = []
    if to.in_metres and (form.to_units is not None or form.to_up is not None):
        unused.append(f"{to.name} is in metres, Y up, always: --to-units and --to-up change nothing")
    if not to.decimals and form.precision is not None:
        unused.append(f"{to.name} holds numbers whole: --precision changes nothing")
    if form.joints and to.suffix != ".csv":
        unused.append(f"{to.name} has joints of its own: --joints changes nothing")
    return unused


def _lost_clips(motion: ConvertMotion, to: FileFormat, read: Character, character: Character) -> list[str]:
    """A warning, if clips are left out although no clip was chosen."""
    if motion.clip is not None or motion.pose is not None or len(read.clips) < 2:
        return []
    kept = list(character.clips) if to.several_clips else list(character.clips)[:1]
    others = [quote(name) for name in read.clips if name not in kept]
    lost = f"it holds one clip, {quote(kept[0])}; left out: {', '.join(others)} (--clip chooses)"
    return [lost] if others else []


def _asked_for(character: Character, motion: ConvertMotion, pair: tuple[Input, Path]) -> tuple[Character, str | None]:
    """The character with the chosen motion or pose; and the pose's name, if only a pose is written."""
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


def _chosen(character: Character, motion: ConvertMotion, file: str) -> list[Clip]:
    """The named clip, or the first; all clips if only their timing changes."""
    if motion.clip is None:
        first = inputs.motion_of(character, file)
        cut = motion.frame is not None or motion.frames is not None
        return [first] if cut else list(character.clips.values())
    if motion.clip not in character.clips:
        raise InputError(f"{file}: {unknown_name('clip', motion.clip, character.clips)}")
    return [character.clips[motion.clip]]


def _changed(clip: Clip, motion: ConvertMotion, file: str) -> Clip:
    """The clip with the chosen frames, then the frame time, then the rate."""
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
    skeleton = character.skeleton
    triangles = len(bone_mesh(skeleton, fk(skeleton, skeleton.rest_pose())).corners) // 3
    return f"{triangles} triangles of {triangles // len(FACES)} bones"


def _first(character: Character) -> str:
    """The pose that a mesh shows by default, in words."""
    clip = character.clip
    if not clip:
        return "the rest pose"
    return "the one frame" if len(clip) == 1 else f"frame 0 of {len(clip)}"
