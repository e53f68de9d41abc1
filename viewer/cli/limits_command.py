"""``ikviewer limits``: a rig's joint limits from folders of motion."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from viewer.cli import inputs, outputs
from viewer.cli.job import Result
from viewer.cli.many_files import inputs_of
from viewer.cli.motion_options import LimitsOptions
from viewer.cli.output import Json, warn
from viewer.cli.workers import done_each
from viewer.errors import InputError, ViewerError, quote
from viewer.formats.load import load
from viewer.motion import Learned, learned, named_still, on_rig
from viewer.skeleton import Clip

_DEGREES = 15.0


def run(options: LimitsOptions) -> Result:
    """Read, put on the rig, learn, write."""
    output = Path(options.output)
    if output.suffix.casefold() != ".json":
        suffix = quote(output.suffix) if output.suffix else "no suffix"
        raise InputError(f"{output}: expected a name that ends in .json, which holds limits, found {suffix}")
    outputs.check_kept(output, options)
    files = [each.file for each in inputs_of(options.paths)]
    rig = load(options.to)
    clips, broken = [], []
    for _, found_clip in done_each(_on_rig, options, files, str, options.jobs):
        if isinstance(found_clip, ViewerError):
            broken.append(str(found_clip))
        else:
            clips.append(found_clip)
    warn(f"left out: {line}" for line in broken)
    if not clips:
        raise InputError(f"{', '.join(options.paths)}: expected motion of a figure, found none")
    try:
        found = learned(rig.skeleton, clips, options.quantile, math.radians(options.margin))
    except InputError as error:
        raise InputError(f"{', '.join(options.paths)}: {str(error).removeprefix('limits: ')}") from error
    if found.still:
        warn([f"{options.to}: joints that never move keep the limits that they had: {named_still(found)}"])

    made = replace(rig, skeleton=found.skeleton, limits_from="learned")
    outputs.saved(made, output)
    lines = _lines(found, len(clips))
    return Result(lines, notes=[f"wrote {output}"], document=_document(options, found, len(clips), broken))


def _on_rig(options: LimitsOptions, file: str) -> Clip:
    character = inputs.load_input(file, options.reading, quiet=True)
    inputs.motion_of(character, file)
    try:
        return on_rig(load(options.to).skeleton, character)
    except InputError as error:
        raise InputError(f"{file}: {str(error).removeprefix('retarget: ')}") from error


def _lines(found: Learned, clips: int) -> list[str]:
    left_out = f"; {found.wild} in which joints are thrown are left out" if found.wild else ""
    unseen = "" if found.unseen is None else f", {100.0 * found.unseen:.1f} % of those not learned from"
    share = f"inside the learned limits: {100.0 * found.inside:.1f} % of the frames{unseen}"
    lines = [
        f"{found.frames} frames of {clips} motion{'' if clips == 1 else 's'}{left_out}",
        f"{share}; mean range {math.degrees(found.mean_range):.0f} degrees",
    ]
    if found.mean_range_before is not None:
        before = f"{100.0 * found.before:.1f} % of the frames"
        lines.append(
            f"inside the limits before: {before}; mean range {math.degrees(found.mean_range_before):.0f} degrees"
        )
    return lines


def _document(options: LimitsOptions, found: Learned, clips: int, broken: list[str]) -> Json:
    return {
        "output": options.output,
        "limits_from": "learned",
        "motions": clips,
        "left_out": [*broken],
        "frames": found.frames,
        "wild_frames": found.wild,
        "quantile": options.quantile,
        "margin_deg": options.margin,
        "inside": found.inside,
        "inside_unseen": found.unseen,
        "inside_before": found.before if found.mean_range_before is not None else None,
        "mean_range_deg": math.degrees(found.mean_range),
        "mean_range_before_deg": None if found.mean_range_before is None else math.degrees(found.mean_range_before),
        "never_move": [*found.still],
    }
