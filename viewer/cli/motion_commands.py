"""``ikviewer retarget``, ``feet``, ``fit``, ``limits``: put motions on skeletons, plant feet, fit, learn limits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from viewer import motion
from viewer.cli import inputs
from viewer.cli.file_options import FeetOptions, FitOptions, LimitsOptions, RetargetOptions
from viewer.cli.goal_inputs import contacts_of, objects_of
from viewer.cli.info_command import length_of
from viewer.cli.job import Json, Result, UsageError, print_error, warn, warnings_once
from viewer.cli.many_files import Destination, Input, Kind, inputs_of, is_many, on_each, one_or_each, refuse_resume
from viewer.cli.workers import tried_each
from viewer.errors import InputError, ViewerError, listed, plural, prefixed, shown, writing
from viewer.formats.companion_json import read_map, skate_words, write_map
from viewer.formats.file_formats import WRITTEN, wrong_suffix
from viewer.ik.contact import Object
from viewer.skeleton import Character, Clip, find_figure

_LISTED = 4
"""Most pairs that are named in a line."""

_SHORT_MM = 0.5


def run_retarget(options: RetargetOptions) -> Result | Iterator[Result]:
    """Read, pair, put each motion on the rig, write."""
    if options.to is None:
        raise UsageError("the following arguments are required: --to RIG")
    where, save_map = options.where, options.pairing.save_map
    destination = None if where.output is None else Destination(where.output)
    many = destination is not None and destination.is_for_many()
    if not many:
        refuse_resume(where.spread)
    if where.suffix is not None and not (many and destination is not None and not destination.is_template):
        raise UsageError("argument --suffix: expected -o FOLDER with it")
    if save_map is not None or not many:
        given = inputs_of(options.paths, None if destination is None or not many else destination.folder)
        if len(given) > 1 and not many:
            raise UsageError(f"{len(given)} motions need -o FOLDER or -o '{{stem}}.glb'")
        if len(given) > 1:
            raise UsageError(f"argument --save-map: expected one motion with it, found {len(given)}")
    if not many or where.output is None:
        output = None if where.output is None else inputs.character_output(where.output)
        return _retarget(options, (given[0], output))
    suffixes, suffix = (WRITTEN, ".json") if where.suffix is None else ((), where.suffix)
    kind = Kind("retargeting", "retargeted", suffixes, suffix, inputs.character_output, "motion")
    return on_each(kind, _retarget, options, options.paths, where.output, where.spread)


def _retarget(options: RetargetOptions, pair: tuple[Input, Path | None]) -> Result:
    """One motion; where it is not written, the pairs are the result."""
    (file, *_), output = pair
    made = _made(options, file)
    report = made.report
    if options.pairing.save_map is not None:
        write_map(made.map, Path(options.pairing.save_map))
    if output is not None:
        with writing(output):
            output.parent.mkdir(parents=True, exist_ok=True)
        inputs.saved(made.character, output)
    warn(f"{file}: {warning}" for warning in report.warnings)
    slide = report.slide_cm_s
    document: Json = {
        "file": file,
        "output": None if output is None else str(output),
        "frames": report.frames,
        "scale": report.scale,
        "pairs": {**made.map.pairs},
        "unsure": [*made.map.doubtful],
        "without_partner": [*made.map.unmatched],
        "reference": {"source": report.source_reference, "target": report.target_reference},
        "limbs_deg": report.limbs_deg,
        "outside_limits": report.at_limits,
        "feet": report.feet,
        "slide_cm_s": None if slide is None else {"before": slide[0], "after": slide[1]},
    }
    notes = [] if output is None else [f"wrote {output}: {_summary(made, output)}"]
    if options.pairing.save_map is not None:
        notes.append(f"wrote {options.pairing.save_map}: {len(made.map.pairs)} pairs")
    return Result(_table(made) if output is None else (), notes, document)


def _made(options: RetargetOptions, file: str) -> motion.Retargeted:
    how, pairing = options.motion, options.pairing
    source = inputs.load_clip(file, options.reading, how.clip)
    inputs.motion_of(source, file)
    assert options.to is not None
    target = inputs.read_rig(options.to)
    named, stated = pairing.map, None
    if named is not None:
        stated = inputs.warned(named, lambda warnings: read_map(Path(named), named, warnings))
    with prefixed(pairing.map or file, but="map: "):
        found = motion.find_map(source, target, None if stated is None else stated.pairs)
    figures = [find_figure(each.skeleton, any_rest=True) is not None for each in (source, target)]
    if not found.pairs or (stated is None and figures[0] != figures[1]):
        raise InputError(
            f"{options.to if figures[0] else file}: expected a figure with arms or legs, found none: give --map"
        )
    references = [pairing.reference, pairing.target_reference]
    if stated is not None:
        stated_ones = (stated.source_reference, stated.target_reference)
        references = [own if given == "auto" else given for given, own in zip(references, stated_ones, strict=True)]
    found = replace(found, source_reference=references[0], target_reference=references[1])
    try:
        return motion.retarget(
            source,
            target,
            found,
            feet=how.feet,  # type: ignore[arg-type]  # one of the choices
            hands=how.hands,  # type: ignore[arg-type]
            limits=how.limits,
            scale=how.scale,
            in_place=how.in_place,
        )
    except InputError as error:
        problem = str(error).removeprefix("retarget: ")
        raise InputError(f"{options.to if problem.startswith('target ') else file}: {problem}") from None


def _summary(made: motion.Retargeted, output: Path) -> str:
    report, doubtful = made.report, made.map.doubtful
    words = f"{inputs.motion_held(output, plural(report.frames, 'frame'))}, {report.pairs} pairs"
    if doubtful:
        unsure = listed([f"{name} to {made.map.pairs[name]}" for name in doubtful], _LISTED)
        words += f" ({len(doubtful)} to check: {unsure})"
    return f"{words}, scale {report.scale:.3g}"


def _table(made: motion.Retargeted) -> list[str]:
    """The pairs, a line each."""
    width = max((len(name) for name in made.map.pairs), default=0)
    lines = []
    for name, other in made.map.pairs.items():
        check = "" if name not in made.map.doubtful else "   to check"
        lines.append(f"{name:<{width}}  {other}{check}")
    count = len(made.map.unmatched)
    if count:
        lines.append(f"without a partner, at rest: {', '.join(made.map.unmatched)}")
    return lines


# --- feet


def run_feet(options: FeetOptions) -> Result | Iterator[Result]:
    """Measure the feet, or plant them and write the motion; of a folder every file."""
    if options.plant != (options.output is not None):
        missing = "-o OUT" if options.plant else "--plant"
        raise UsageError(f"the following arguments are required: {missing}")
    for field in () if options.plant else options.declared:
        if field.name in ("object", "pelvis", "blend") and getattr(options, field.name) not in (field.default, []):
            raise UsageError(f"argument --{field.name}: expected --plant with it")
    if options.output is None and is_many(options.file, None):
        refuse_resume(options.spread)
        return _measured_each(options)
    kind = Kind("planting", "planted", WRITTEN, check=inputs.character_output)
    return one_or_each(kind, _feet, options, options.file, options.output, options.spread)


def _measured_each(options: FeetOptions) -> Iterator[Result]:
    """The meter of every file; one that cannot be read does not stop the others."""
    spread, files = options.spread, [each.file for each in inputs_of([options.file])]
    with warnings_once():
        for file, done in tried_each(partial(_feet_of, options), files, spread.jobs, spread.scheduler):
            found = done.result
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
        inputs.character_output(options.output)
    character = inputs.load_clip(options.file, options.reading, options.clip)
    clip = inputs.motion_of(character, options.file)
    objects = objects_of(options.object)
    contacts = None if options.contacts is None else contacts_of(options.contacts)
    with prefixed(options.file):
        if options.output is not None:
            return _planted(character, clip, contacts, objects, options)
        return _measured(motion.skate(character.skeleton, clip, contacts))


def _measured(found: motion.Skate) -> Result:
    """A line per foot and contact, and the sums."""
    lines = []
    for foot in found.feet:
        count = len(foot.contacts)
        much = f"slides {foot.slide_cm_s:.2f} cm/s, drifts {foot.drift_cm:.1f} cm" if count else "touches nothing"
        lines.append(f"{shown(foot.name)}: {plural(count, 'contact')}, {much}")
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
    character: Character, clip: Clip, contacts: motion.Contacts | None, objects: list[Object], options: FeetOptions
) -> Result:
    """The motion written, and what changed."""
    output = Path(options.output or "")
    pelvis = None if options.pelvis is None else 0.01 * options.pelvis
    done = motion.plant_feet(character.skeleton, clip, contacts, options.blend, pelvis=pelvis, objects=objects)
    inputs.saved(inputs.with_motion(character, done.clip), output)
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
    held = inputs.motion_held(output, plural(len(clip), "frame"))
    return Result([report.words], notes=[f"wrote {output}: {held}"], document=document)


# --- fit


def run_fit(options: FitOptions) -> Result:
    """Fit, and write the character."""
    from viewer.formats.positions import Fitting, fit_file  # noqa: PLC0415 - only this reads positions

    output = inputs.character_output(options.output)
    how = Fitting(
        preset=options.preset,
        names=options.names,
        rig=None if options.to is None else (options.to, inputs.read_rig(options.to).skeleton),
        fps=options.fps,
        units=options.units,
        up=options.up,
        height=options.height,
    )
    character = fit_file(Path(options.file), options.file, how)
    warn(f"{options.file}: {warning}" for warning in character.warnings)
    inputs.saved(character, output)
    clip, joints = inputs.motion_of(character, options.file), len(character.skeleton)
    document: Json = {
        "output": str(output), "joints": joints, "frames": len(clip), "frame_time": clip.frame_time,
        "warnings": list(character.warnings),
    }  # fmt: skip
    held = inputs.motion_held(output, length_of(clip))
    return Result(notes=[f"wrote {output}: {plural(joints, 'joint')}, {held}"], document=document)


# --- limits


def run_limits(options: LimitsOptions) -> Result:
    """Read, put on the rig, learn, write."""
    output = Path(options.output)
    if output.suffix.casefold() != ".json":
        raise wrong_suffix(output, [".json, which holds limits"])
    files = [each.file for each in inputs_of(options.paths)]
    rig = inputs.read_rig(options.to)
    clips, broken = list[Clip](), list[str]()
    for _, done in tried_each(partial(_on_rig, options), files, options.jobs):
        if isinstance(done.result, ViewerError):
            broken.append(str(done.result))
        else:
            clips.append(done.result)
    warn(f"left out: {line}" for line in broken)
    if not clips:
        raise InputError(f"{', '.join(options.paths)}: expected motion that {options.to} can have, found none")
    with prefixed(", ".join(options.paths), but="limits: "):
        found = motion.learned(rig.skeleton, clips, options.quantile, math.radians(options.margin))
    if found.still:
        warn([f"{options.to}: joints that never move keep the limits that they had: {motion.named_still(found)}"])
    made = replace(rig, skeleton=found.skeleton, limits_from="learned")
    inputs.saved(made, output)
    lines = _limit_lines(found, len(clips))
    return Result(lines, notes=[f"wrote {output}"], document=_limit_document(options, found, len(clips), broken))


def _on_rig(options: LimitsOptions, file: str) -> Clip:
    character = inputs.load_input(file, options.reading, quiet=True)
    inputs.motion_of(character, file)
    with prefixed(file, but="retarget: "):
        return motion.on_rig(inputs.read_rig(options.to).skeleton, character)


def _limit_lines(found: motion.Learned, clips: int) -> list[str]:
    left_out = f"; {found.thrown} in which joints are thrown are left out" if found.thrown else ""
    unseen = "" if found.unseen is None else f", {100.0 * found.unseen:.1f} % of those not learned from"
    share = f"inside the learned limits: {100.0 * found.inside:.1f} % of the frames{unseen}"
    lines = [
        f"{found.frames} frames of {plural(clips, 'motion')}{left_out}",
        f"{share}; mean range {math.degrees(found.mean_range):.0f} degrees",
    ]
    if found.mean_range_before is not None:
        before = f"{100.0 * found.before:.1f} % of the frames"
        lines.append(
            f"inside the limits before: {before}; mean range {math.degrees(found.mean_range_before):.0f} degrees"
        )
    return lines


def _limit_document(options: LimitsOptions, found: motion.Learned, clips: int, broken: list[str]) -> Json:
    return {
        "output": options.output,
        "limits_from": "learned",
        "motions": clips,
        "left_out": [*broken],
        "frames": found.frames,
        "wild_frames": found.thrown,
        "quantile": options.quantile,
        "margin_deg": options.margin,
        "inside": found.inside,
        "inside_unseen": found.unseen,
        "inside_before": found.before if found.mean_range_before is not None else None,
        "mean_range_deg": math.degrees(found.mean_range),
        "mean_range_before_deg": None if found.mean_range_before is None else math.degrees(found.mean_range_before),
        "never_move": [*found.still],
    }
