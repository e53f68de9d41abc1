"""``ikviewer retarget``: motions on another skeleton, one file or many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from viewer.cli import inputs, outputs
from viewer.cli import options as shared
from viewer.cli.job import Result, UsageError
from viewer.cli.many_files import Destination, Input, Kind, Pair, check_apart, check_not_read, inputs_of, on_pairs
from viewer.cli.motion_options import RetargetOptions
from viewer.cli.output import Json, warn
from viewer.errors import FormatError, InputError, OutputError, reason
from viewer.formats.companion_json import StatedMap, read_map, write_map
from viewer.formats.save import WRITERS, check_suffix
from viewer.motion import Retargeted, find_map, retarget
from viewer.skeleton import find_figure

_LISTED = 4
"""Most pairs that are named in a line."""


def run(options: RetargetOptions) -> Result | Iterator[Result]:
    """Read, pair, put each motion on the rig, write."""
    if options.to is None:
        raise UsageError("the following arguments are required: --to RIG")
    where = options.where
    destination = None if where.output is None else Destination(where.output)
    many = destination is not None and destination.is_for_many
    if where.spread.resume and not many:
        raise UsageError("argument --resume: expected -o FOLDER or -o '{stem}.glb' with it")
    if where.suffix is not None and not (many and destination is not None and not destination.is_template):
        raise UsageError("argument --suffix: expected -o FOLDER with it")
    given = inputs_of(options.paths, None if destination is None or not many else destination.folder)
    if len(given) > 1 and not many:
        raise UsageError(f"{len(given)} motions need -o FOLDER or -o '{{stem}}.glb'")
    if len(given) > 1 and options.pairing.save_map is not None:
        raise UsageError(f"argument --save-map: expected one motion with it, found {len(given)}")
    pairs = [(each, _output_of(each, destination, where.suffix, tuple(WRITERS))) for each in given]
    for _, output in pairs:
        if output is not None:
            check_suffix(output)
        outputs.check_kept(output, options)
    outputs.check_kept(options.pairing.save_map, options)
    if not many:
        document, lines, notes = _retarget(options, pairs[0])
        return Result(lines, notes=notes, document=document)
    assert destination is not None
    written = [(each, output) for each, output in pairs if output is not None]
    check_not_read(written, "another name keeps it")
    check_apart(written)
    kind = Kind("retargeting", "retargeted", noun="motion")
    return on_pairs(kind, _retarget_into, options, written, destination, where.spread)


def _output_of(
    given: Input, destination: Destination | None, suffix: str | None, suffixes: Sequence[str]
) -> Path | None:
    if destination is None:
        return None
    if not destination.is_for_many:
        return Path(destination.pattern)
    output = destination.output_of(given, suffixes=suffixes)
    return output if suffix is None else output.with_name(f"{Path(given.stem).name}{suffix}")


def _retarget_into(options: RetargetOptions, pair: Pair) -> Result:
    document, lines, notes = _retarget(options, pair)
    return Result(lines, notes=notes, document=document)


def _retarget(options: RetargetOptions, pair: tuple[Input, Path | None]) -> tuple[Json, list[str], list[str]]:
    """One motion; returns its JSON document, lines of text and notes.

    Raises:
        ViewerError: something cannot be read, does not fit or cannot be written; existing files are left as they are.
    """
    (file, *_), output = pair
    made = _made(options, file)
    report = made.report
    if options.pairing.save_map is not None:
        write_map(made.map, Path(options.pairing.save_map))
    if output is not None:
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{output}: cannot be written: {reason(error)}") from error
        outputs.saved(made.character, output)
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
    notes = [] if output is None else [f"wrote {output}: {_summary(made)}"]
    if options.pairing.save_map is not None:
        notes.append(f"wrote {options.pairing.save_map}: {len(made.map.pairs)} pairs")
    return document, [] if output is not None else _table(made), notes


def _made(options: RetargetOptions, file: str) -> Retargeted:
    motion, pairing = options.motion, options.pairing
    source = inputs.chosen_clip(inputs.load_input(file, options.reading), motion.clip, file)
    inputs.motion_of(source, file)
    assert options.to is not None
    target = inputs.load_input(options.to, shared.Reading(), quiet=True)
    stated = _stated(pairing.map)
    try:
        found = find_map(source, target, None if stated is None else stated.pairs)
    except InputError as error:
        raise InputError(f"{pairing.map or file}: {str(error).removeprefix('map: ')}") from None
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
        return retarget(
            source,
            target,
            found,
            feet=motion.feet,  # type: ignore[arg-type]  # one of the choices
            hands=motion.hands,  # type: ignore[arg-type]
            limits=motion.limits,
            scale=motion.scale,
            in_place=motion.in_place,
        )
    except FormatError:
        raise
    except InputError as error:
        raise InputError(f"{file}: {str(error).removeprefix('retarget: ')}") from None


def _stated(name: str | None) -> StatedMap | None:
    if name is None:
        return None
    warnings: list[str] = []
    stated = read_map(Path(name), name, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return stated


def _summary(made: Retargeted) -> str:
    report, doubtful = made.report, made.map.doubtful
    words = f"{report.frames} frame{'' if report.frames == 1 else 's'}, {report.pairs} pairs"
    if doubtful:
        more = f" and {len(doubtful) - _LISTED} more" if len(doubtful) > _LISTED else ""
        listed = ", ".join(f"{name} to {made.map.pairs[name]}" for name in doubtful[:_LISTED])
        words += f" ({len(doubtful)} to check: {listed}{more})"
    return f"{words}, scale {report.scale:.3g}"


def _table(made: Retargeted) -> list[str]:
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
