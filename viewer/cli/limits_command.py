"""``ikviewer limits``: a rig's joint limits from folders of motion."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.cli import inputs, job
from viewer.cli import options as shared
from viewer.cli.batch_files import inputs_of
from viewer.cli.job import FILES, SKELETONS, Result, UsageError, argument, option, part
from viewer.cli.output import Json, warn
from viewer.cli.workers import done_each
from viewer.errors import InputError, ViewerError, quote

if TYPE_CHECKING:  # they load numpy
    from viewer.motion.range_of_motion import Learned
    from viewer.skeleton import Clip

EXAMPLES = """examples:
  ikviewer limits captures/ --to hero.json -o hero-limited.json
  ikviewer limits captures/ more.bvh --to sample:biped -o biped.json --quantile 0.002 --margin 10 --json

Every motion is put on the rig, and its mirror image, too. A range reaches from one quantile of what a joint does to the
other, in the motion in which it does most, and on by the margin: half of it beyond the limits that the rig has, up to
twice as far inside them. Frames in which joints are thrown do not count."""
_DEGREES = 15.0


def _quantile(text: str) -> float:
    number = shared.finite(text)
    if not 0.0 <= number <= 0.1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 0.1, found {quote(text)}")
    return number


def _margin(text: str) -> float:
    number = shared.finite(text)
    if not 0.0 <= number <= 180.0:
        raise argparse.ArgumentTypeError(f"expected degrees from 0 to 180, found {quote(text)}")
    return number


class Options(job.Options):
    """Options of ``ikviewer limits``."""

    paths: list[str] = argument("MOTION", "folders and files with motion", nargs="+", completes=SKELETONS, reads=True)
    to: str | None = option("RIG", "the skeleton that gets the limits", completes=SKELETONS, reads=True)
    output: str | None = option("OUT", "the skeleton with the limits, `.json`", short="-o", completes=FILES)
    quantile: float = option(
        "Q",
        "part of a motion's frames that may lie beyond each end of a range (default 0.001)",
        parse=_quantile,
        default=1e-3,
    )
    margin: float = option("D", "degrees by which ranges are wider (default 15)", parse=_margin, default=_DEGREES)
    reading: shared.Reading = part(shared.Reading)
    jobs: int = shared.jobs_option()
    json: bool = shared.json_flag()


def run(options: Options) -> Result:
    """Read, put on the rig, learn, write."""
    from dataclasses import replace

    from viewer.formats.load import load
    from viewer.formats.save import save
    from viewer.motion.range_of_motion import learned, named_still

    if options.to is None or options.output is None:
        raise UsageError(f"the following arguments are required: {'--to RIG' if options.to is None else '-o OUT'}")
    output = Path(options.output)
    if output.suffix.casefold() != ".json":
        suffix = quote(output.suffix) if output.suffix else "no suffix"
        raise InputError(f"{output}: expected a name that ends in .json, which holds limits, found {suffix}")
    inputs.check_kept(output, options)
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
    warn(f"{output}: {warning}" for warning in save(made, output))
    lines = _lines(found, len(clips))
    return Result(lines, notes=[f"wrote {output}"], document=_document(options, found, len(clips), broken))


def _on_rig(options: Options, file: str) -> Clip:
    from viewer.formats.load import load
    from viewer.motion.range_of_motion import on_rig

    character = inputs.load_input(file, options.reading, quiet=True)
    inputs.motion_of(character, file)
    assert options.to is not None
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


def _document(options: Options, found: Learned, clips: int, broken: list[str]) -> Json:
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
