"""``ikviewer feet``: how much feet slide, and the motion with planted feet."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from viewer.cli import inputs, outputs
from viewer.cli.goal_inputs import contacts_of, objects_of
from viewer.cli.job import Result, UsageError
from viewer.cli.many_files import Kind, check_destination, file_to_file, inputs_of, is_many, on_each
from viewer.cli.motion_options import FeetOptions
from viewer.cli.output import Json, print_error, warn, warnings_once
from viewer.cli.workers import done_each
from viewer.errors import InputError, ViewerError, shown
from viewer.formats.companion_json import skate_words
from viewer.formats.save import WRITERS
from viewer.ik.contact import Object
from viewer.motion import Contacts, Planted, Skate, plant_feet, skate
from viewer.skeleton import Character, Clip

_SHORT_MM = 0.5


def run(options: FeetOptions) -> Result | Iterator[Result]:
    """Measure the feet, or plant them and write the motion; of a folder every file."""
    if options.plant != (options.output is not None):
        missing = "-o OUT" if options.plant else "--plant"
        raise UsageError(f"the following arguments are required: {missing}")
    if not is_many([options.file], options.output):
        return _feet(options)
    if options.output is None:
        return _measured_each(options)
    destination = check_destination(options.output, "ikviewer feet")
    kind = Kind("planting", "planted", tuple(WRITERS), check=lambda path: outputs.character_output(path, options))
    return on_each(kind, partial(file_to_file, _feet), options, [options.file], destination.pattern, options.spread)


def _measured_each(options: FeetOptions) -> Iterator[Result]:
    """The meter of every file; one that cannot be read does not stop the others."""
    spread, files = options.spread, [each.file for each in inputs_of([options.file])]
    with warnings_once():
        for file, found in done_each(_feet_of, options, files, str, spread.jobs, spread.scheduler or ""):
            if isinstance(found, ViewerError):
                print_error(f"error: {found}")
                yield Result(document={"file": file, "error": str(found)}, code=1)
            else:
                words = found.document if isinstance(found.document, dict) else {}
                lines = [f"{file}:", *(f"  {line}" for line in found.lines)]
                yield found._replace(lines=lines, document={"file": file, **words})


def _feet_of(options: FeetOptions, file: str) -> Result:
    return _feet(options.replaced(file=file))


def _feet(options: FeetOptions) -> Result:
    if options.output is not None:
        outputs.character_output(options.output, options)
    character = inputs.chosen_clip(inputs.load_input(options.file, options.reading), options.clip, options.file)
    clip = inputs.motion_of(character, options.file)
    objects = objects_of(options.object)
    contacts = None if options.contacts is None else contacts_of(options.contacts)
    try:
        if options.output is not None:
            return _planted(character, clip, contacts, objects, options)
        return _measured(skate(character.skeleton, clip, contacts))
    except InputError as error:
        raise InputError(f"{options.file}: {error}") from error


def _measured(found: Skate) -> Result:
    """A line per foot and contact, and the sums."""
    lines = []
    for foot in found.feet:
        count = len(foot.contacts)
        much = f"slides {foot.slide_cm_s:.2f} cm/s, drifts {foot.drift_cm:.1f} cm" if count else "touches nothing"
        lines.append(f"{shown(foot.name)}: {count} contact{'' if count == 1 else 's'}, {much}")
        lines += [
            f"  {row.contact.point}  frames {row.contact.start:5} to {row.contact.end:5}  "
            f"{row.slide_cm_s:7.2f} cm/s  {row.drift_cm:6.1f} cm{'  turns or slides?' if row.wanders else ''}"
            for row in foot.contacts
        ]
    lines.append(
        f"slide {found.slide_cm_s:.2f} cm/s, drift {found.drift_cm:.1f} cm, MANN {found.mann:.2f} cm a frame, "
        f"skate ratio {100.0 * found.skate_ratio:.1f} %, at most {found.penetration_mm:.0f} mm below the ground"
    )
    return Result(lines, document=skate_words(found))


def _planted(
    character: Character, clip: Clip, contacts: Contacts | None, objects: list[Object], options: FeetOptions
) -> Result:
    """The motion written, and what changed."""
    output = Path(options.output or "")
    pelvis = None if options.pelvis is None else 0.01 * options.pelvis
    done: Planted = plant_feet(character.skeleton, clip, contacts, options.blend, pelvis=pelvis, objects=objects)
    outputs.saved(inputs.with_motion(character, done.clip), output)
    report = done.report
    if report.short_mm > _SHORT_MM:
        warn([f"{output}: feet stay up to {report.short_mm:.1f} mm from their places: the pelvis may not come nearer"])
    document: dict[str, Json] = {
        **skate_words(report.after),
        "before": skate_words(report.before),
        "pelvis_cm": report.pelvis_cm,
        "short_mm": report.short_mm,
        "mean_change_cm": report.mean_change_cm,
        "most_change_cm": report.most_change_cm,
    }
    return Result([report.words], notes=[f"wrote {output}: {len(clip)} frames"], document=document)
