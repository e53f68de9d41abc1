"""``ikviewer convert``, ``build``, ``edit`` and ``samples``: skeleton files written, and those that are bundled."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from viewer.cli import inputs
from viewer.cli.file_options import (
    AXES,
    JOINT_KINDS,
    BuildOptions,
    ConvertMotion,
    ConvertOptions,
    EditOptions,
    Form,
    SamplesOptions,
)
from viewer.cli.info_command import length_of
from viewer.cli.job import Json, Result, UsageError, check_kept, named_files, warn
from viewer.cli.many_files import Destination, Input, Kind, inputs_of, is_folder, on_each, refuse_resume
from viewer.errors import InputError, plural, prefixed, quote
from viewer.formats.file_formats import SAMPLE, WRITTEN, FileFormat, format_of, is_session
from viewer.formats.load import load, sample_names
from viewer.formats.save import retimed, with_pose
from viewer.skeleton import Builder, Character, Clip, Skeleton, joint_edits, rest_world
from viewer.skeleton.bodies import FACES, bone_mesh
from viewer.skeleton.kinematics import extent
from viewer.skeleton.transfer import Carrier

_MOST = 5000
_KEPT = "--force does so, another name keeps it"

_WORDS = {"parent", "offset", "kind", "axis", "limits"}


def run_convert(options: ConvertOptions) -> Result | Iterator[Result]:
    """Read, change the motion, write."""
    _check_usage(options)
    names, out = options.paths, options.to.output
    if out is not None and Destination(out).is_for_many():
        kind = Kind("converting", "converted", WRITTEN, check=inputs.character_output)
        return on_each(kind, _convert, options, names, out, options.to.spread, kept="" if options.to.force else _KEPT)
    if out is None:
        *names, out = names
    given, output = inputs_of(names), Path(out)
    if len(given) != 1:
        wanted = f"-o FOLDER or -o '{{stem}}{output.suffix}'" if output.suffix else f"-o {out}"
        raise UsageError(f"{out}: one file for {len(given)} inputs: expected {wanted}")
    if options.to.output is None and (is_folder(out) or out.endswith(("/", os.sep))):
        raise InputError(f"{out}: cannot be written: expected a file, found a folder (-o {out} writes into it)")
    inputs.character_output(output)
    check_kept([output], named_files(options, written=False))
    if not options.to.force:
        check_kept([output], [given[0].file], _KEPT)
    if options.to.output is None and os.path.exists(output) and not options.to.force:  # noqa: PTH110 - as `is_folder`
        # With `convert *.bvh` this would be the last of the inputs.
        raise InputError(f"{out}: is there already: --force replaces it (several inputs need -o FOLDER)")
    return _convert(options, (given[0], output))


def _convert(options: ConvertOptions, pair: tuple[Input, Path]) -> Result:
    file, output, form = pair[0].file, pair[1], options.form
    read = inputs.load_input(file, options.reading)
    character, what = _asked_for(read, options.motion, pair)
    to = format_of(output)
    unused = [*_unused(form, to), *_lost_clips(options.motion, to, read, character)]
    lost = [f"{output}: {warning}" for warning in unused]
    warn(lost)
    lost += inputs.saved(
        character, output, units=form.to_units, up=form.to_up, precision=form.precision, joints=form.joints
    )
    document = inputs.character_document(character, output, [*inputs.warnings_of(read, file), *lost])
    notes = [f"wrote {output}: {_summary(character, to, what)}"]
    return Result(notes=notes, document={"file": file, **document})


def _check_usage(options: ConvertOptions) -> None:
    to, motion, count = options.to, options.motion, len(options.paths)
    if to.output is None:
        if count == 1:
            raise UsageError("the following arguments are required: OUT")
        if count > 2:
            raise UsageError("several inputs need -o FOLDER or -o '{stem}.glb' (or another suffix)")
        refuse_resume(to.spread)
    one = "pose" if motion.pose is not None else "frame" if motion.frame is not None else None
    for name, value in (("fps", motion.fps), ("frame-time", motion.frame_time)):
        if one is not None and value is not None:
            raise UsageError(f"argument --{name}: not allowed with argument --{one}: nothing moves")
    if motion.pose is not None and motion.clip is not None:
        raise UsageError("argument --clip: not allowed with argument --pose: nothing moves")


def _unused(form: Form, to: FileFormat) -> list[str]:
    """A line for each option that has no effect on the output's format."""
    unused = []
    if to.in_metres and (form.to_units is not None or form.to_up is not None):
        unused.append(f"{to.name} is in metres, Y up, always: --to-units and --to-up change nothing")
    if not to.decimals and form.precision is not None:
        unused.append(f"{to.name} holds numbers whole: --precision changes nothing")
    if form.joints and not to.has_joint_values:
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
    inputs.motion_of(character, file)
    clips = list(inputs.chosen_clip(character, motion.clip, file).clips.values())
    return clips[:1] if motion.frame is not None or motion.frames is not None else clips


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
    joints = plural(len(character.skeleton), "joint")
    clip = character.clip
    if pose is not None:
        return f"{joints}, {pose}"
    if clip is None or to.is_still:
        return f"{joints}, {'the rest pose' if to.always_a_frame else 'no motion'}"
    if to.several_clips and len(character.clips) > 1:
        return f"{joints}, {len(character.clips)} clips: {', '.join(map(quote, character.clips))}"
    return f"{joints}, {length_of(clip)}"


def _triangles(character: Character) -> str:
    skeleton = character.skeleton
    triangles = len(bone_mesh(skeleton, rest_world(skeleton)).corners) // 3
    return f"{triangles} triangles of {plural(triangles // len(FACES), 'bone')}"


def _first(character: Character) -> str:
    """The pose that a mesh shows by default, in words."""
    clip = character.clip
    if not clip:
        return "the rest pose"
    return "the one frame" if len(clip) == 1 else f"frame 0 of {len(clip)}"


# --- build


def run_build(options: BuildOptions) -> Result:
    """Build and write."""
    if not 1 <= options.chain <= _MOST:
        raise UsageError(f"argument --chain: expected 1 to {_MOST} bones, found {options.chain}")
    if options.limit is not None and options.kind != "hinge":
        raise UsageError(f"argument --limit: expected --kind hinge, found {options.kind}")
    output = inputs.character_output(options.output)
    builder = Builder(name=options.name)
    for number in range(options.chain):
        kind = options.base if number == 0 and options.base else options.kind
        axis = AXES[options.axis]
        axes = np.array([axis, AXES["z" if options.axis != "z" else "x"]][: 2 if kind == "universal" else 1])
        most = None if options.limit is None or kind != "hinge" else math.radians(options.limit)
        builder.add(
            f"joint{number + 1}",
            f"joint{number}" if number else None,
            (0.0, options.length if number else 0.0, 0.0),
            kind=kind,  # type: ignore[arg-type] # one of the choices
            axis=axes if kind in ("hinge", "slide", "universal") else None,
            limits=None if most is None else (-most, most),
        )
    last = f"joint{options.chain}"
    end = (0.0, options.length, 0.0)
    builder.tip(last, end).effector("end", last, end)
    built = Character(builder.skeleton)
    warnings = inputs.saved(built, output)
    bones = plural(options.chain, "bone")
    document = inputs.character_document(built, output, warnings)
    return Result(notes=[f"wrote {output}: {bones} of {options.length:g} m"], document=document)


# --- edit


def run_edit(options: EditOptions) -> Result:
    """Read, edit, write."""
    output = inputs.character_output(options.output)
    character = inputs.load_input(options.file, options.reading)
    before = character.skeleton
    renamed = _edited(
        before, options.rename, "--rename", lambda s, text: Builder(s).rename(*_two(text, "OLD=NEW")).skeleton
    )
    after = renamed
    for texts, name, edit in (
        (options.add, "--add", _add), (options.split, "--split", _split),
        (options.reparent, "--reparent", lambda s, text: joint_edits.reparented(s, *_two(text, "NAME=PARENT"))),
        (options.kind, "--kind", _kind), (options.mirror, "--mirror", _mirror),
        (options.remove, "--remove", joint_edits.removed),
        (options.remove_branch, "--remove-branch", partial(joint_edits.removed, branch=True)),
    ):  # fmt: skip
        after = _edited(after, texts, name, edit)
    if after is before:
        raise UsageError("no edit: expected --add, --remove, --rename, --mirror or another one")
    carrier = Carrier(renamed, after)
    dropped = list(carrier.lost) if character.clips else []
    warnings = []
    if dropped:
        count = plural(len(dropped), "removed joint")
        warnings = [f"the motion of {count} is dropped: {', '.join(dropped)}"]
        warn(warnings)
    made = carrier.character(replace(character, skeleton=renamed))
    warnings += inputs.saved(made, output)
    gained = len(after) - len(before)
    return Result(
        notes=[f"wrote {output}: {plural(len(after), 'joint')} ({gained:+d})"],
        document={
            "file": options.file,
            **inputs.character_document(made, output, [*inputs.warnings_of(character, options.file), *warnings]),
            "joints_before": len(before),
            "motion_dropped": [*dropped],
        },
    )


def _edited(skeleton: Skeleton, texts: list[str], option: str, edit: Callable[[Skeleton, str], Skeleton]) -> Skeleton:
    for text in texts:
        try:
            with prefixed(f"{option} {quote(text)}", but="builder: "):
                skeleton = edit(skeleton, text)
        except UsageError as error:
            raise UsageError(f"argument {option}: {quote(text)}: {error}") from error
    return skeleton


def _two(text: str, form: str) -> tuple[str, str]:
    first, found, second = text.partition("=")
    if not (found and first and second):
        raise UsageError(f"expected {form}")
    return first, second


def _add(skeleton: Skeleton, text: str) -> Skeleton:
    """A joint as words say it, such as ``elbow parent=shoulder offset=0,0.3,0 kind=hinge axis=1,0,0 limits=0,150``."""
    name, *pairs = re.split(r"\s+(?=(?:parent|offset|kind|axis|limits)=)", text.strip())
    given = dict(_two(pair, "NAME parent=P offset=X,Y,Z") for pair in pairs)
    if not name or len(given) != len(pairs) or "=" in name:
        wrong = next((word.partition("=")[0] for word in name.split() if "=" in word), "")
        raise UsageError(
            f"no word {quote(wrong)}: expected one of {', '.join(sorted(_WORDS))}" if wrong
            else "expected NAME parent=P offset=X,Y,Z, each once"
        )  # fmt: skip
    if "parent" not in given:
        raise UsageError("expected parent=NAME")
    kind = given.get("kind", "ball")
    if kind not in JOINT_KINDS:
        raise UsageError(f"kind: expected {', '.join(JOINT_KINDS)}, found {quote(kind)}")
    numbers = {word: _numbers(given[word], word) for word in ("offset", "axis", "limits") if word in given}
    values: dict[str, Any] = {"kind": kind}
    if "axis" in numbers:
        axis = numbers["axis"]
        values["axis"] = axis if len(axis) == 3 else [axis[:3], axis[3:]]
    if "limits" in numbers:
        given_limits = numbers["limits"]
        if any(low > high for low, high in zip(given_limits[::2], given_limits[1::2], strict=True)):
            raise UsageError(f"limits: expected LOW,HIGH, found {given['limits']}")
        limits = [math.radians(value) if kind != "slide" else value for value in given_limits]
        values["limits"] = tuple(limits) if len(limits) == 2 else tuple(zip(limits[::2], limits[1::2], strict=False))
    return Builder(skeleton).add(name, given["parent"], numbers.get("offset", [0.0] * 3), **values).skeleton


def _numbers(text: str, word: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"{word}: expected numbers with commas between, found {quote(text)}") from None
    counts = {"offset": (3,), "axis": (3, 6), "limits": (2, 4, 6)}[word]
    if len(values) not in counts:
        raise UsageError(f"{word}: expected {' or '.join(map(str, counts))} numbers, found {len(values)}")
    return values


def _split(skeleton: Skeleton, text: str) -> Skeleton:
    joint, new = _two(text, "NAME=NEW")
    name, found, share = new.partition("@")
    try:
        return joint_edits.split(skeleton, joint, name, float(share) if found else 0.5)
    except ValueError as error:
        raise UsageError(f"expected a part between 0 and 1 after @, found {quote(share)}") from error


def _kind(skeleton: Skeleton, text: str) -> Skeleton:
    joint, kind = _two(text, "NAME=KIND")
    if kind not in JOINT_KINDS:
        raise UsageError(f"expected {', '.join(JOINT_KINDS)}, found {quote(kind)}")
    return joint_edits.with_kind(skeleton, joint, kind)  # type: ignore[arg-type] # looked up above


def _mirror(skeleton: Skeleton, text: str) -> Skeleton:
    here, builder = skeleton.index(text), Builder(skeleton)
    names = joint_edits.sided_names(skeleton, text)
    for joint, name in names.items():
        builder.rename(skeleton.names[joint], name)
    return joint_edits.mirrored(builder.skeleton, names.get(here, text))


# --- samples


def run_samples(_: SamplesOptions) -> Result:
    """List what is bundled."""
    from viewer.session.demos import DEMOS  # noqa: PLC0415 - the other commands need no demos

    rows: list[Json] = []
    lines: list[str] = []
    for name in sample_names():
        character = load(SAMPLE + name)
        joints, frames = len(character.skeleton), len(character.clip) if character.clip else 0
        size = float(extent(character).max())
        rows.append({"name": SAMPLE + name, "joints": joints, "frames": frames, "size": size})
        motion = f", {frames} frames" if frames else ""
        lines.append(f"{SAMPLE + name:<20} {joints:>3} joints, {size:.2f} m{motion}")
    lines.append(f"{SAMPLE + 'chain-N':<20}   N joints, 1.00 m")
    return Result([*lines, *(f"{inputs.DEMO + demo.id:<20} {demo.title}" for demo in DEMOS)], document=rows)
