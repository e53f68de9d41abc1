"""``ikviewer edit``: joints of a skeleton added, split, mirrored, removed, renamed; its motion goes along."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from viewer.cli import inputs, outputs
from viewer.cli.file_options import JOINT_KINDS, EditOptions
from viewer.cli.job import Result, UsageError
from viewer.cli.output import warn
from viewer.errors import InputError, quote
from viewer.formats.save import check_suffix
from viewer.skeleton import Builder, Skeleton, building
from viewer.skeleton.carrying import Carrier

_WORDS = {"parent", "offset", "kind", "axis", "limits"}


def run(options: EditOptions) -> Result:
    """Read, edit, write."""
    output = Path(options.output)
    check_suffix(output)
    if not options.force:
        outputs.check_kept(output, options)
        if output.exists():
            raise InputError(f"{output}: is there already: --force replaces it")
    character = inputs.load_input(options.file, options.reading)
    before = character.skeleton
    renamed = _edited(before, options.rename, "--rename", _rename)
    after = renamed
    for texts, name, edit in (
        (options.add, "--add", _add), (options.split, "--split", _split), (options.reparent, "--reparent", _reparent),
        (options.kind, "--kind", _kind), (options.mirror, "--mirror", _mirror), (options.remove, "--remove", _remove),
        (options.remove_branch, "--remove-branch", _remove_branch),
    ):  # fmt: skip
        after = _edited(after, texts, name, edit)
    if after is before:
        raise UsageError("no edit: expected --add, --remove, --rename, --mirror or another one")
    carrier = Carrier(renamed, after)
    dropped = list(carrier.lost) if character.clips else []
    warnings = []
    if dropped:
        count = f"{len(dropped)} removed joint{'' if len(dropped) == 1 else 's'}"
        warnings = [f"the motion of {count} is dropped: {', '.join(dropped)}"]
        warn(warnings)
    made = carrier.character(replace(character, skeleton=renamed))
    warnings += outputs.saved(made, output)
    gained = len(after) - len(before)
    return Result(
        notes=[f"wrote {output}: {len(after)} joints ({gained:+d})"],
        document={
            "file": options.file,
            **outputs.character_document(made, output, [*inputs.warnings_of(character, options.file), *warnings]),
            "joints_before": len(before),
            "motion_dropped": [*dropped],
        },
    )


def _edited(skeleton: Skeleton, texts: list[str], option: str, edit: Callable[[Skeleton, str], Skeleton]) -> Skeleton:
    for text in texts:
        try:
            skeleton = edit(skeleton, text)
        except InputError as error:
            raise InputError(f"{option} {quote(text)}: {error}") from error
    return skeleton


def _two(text: str, form: str) -> tuple[str, str]:
    first, found, second = text.partition("=")
    if not (found and first and second):
        raise InputError(f"expected {form}")
    return first, second


def _rename(skeleton: Skeleton, text: str) -> Skeleton:
    return Builder(skeleton).rename(*_two(text, "OLD=NEW")).skeleton


def _add(skeleton: Skeleton, text: str) -> Skeleton:
    """A joint as words say it, such as ``elbow parent=shoulder offset=0,0.3,0 kind=hinge axis=1,0,0 limits=0,150``."""
    name, *pairs = re.split(r"\s+(?=(?:parent|offset|kind|axis|limits)=)", text.strip())
    given = dict(_two(pair, "NAME parent=P offset=X,Y,Z") for pair in pairs)
    if not name or len(given) != len(pairs) or "=" in name:
        wrong = next((word.partition("=")[0] for word in name.split() if "=" in word), "")
        raise InputError(
            f"no word {quote(wrong)}: expected one of {', '.join(sorted(_WORDS))}" if wrong
            else "expected NAME parent=P offset=X,Y,Z, each once"
        )  # fmt: skip
    if "parent" not in given:
        raise InputError("expected parent=NAME")
    kind = given.get("kind", "ball")
    if kind not in JOINT_KINDS:
        raise InputError(f"kind: expected {', '.join(JOINT_KINDS)}, found {quote(kind)}")
    numbers = {word: _numbers(given[word], word) for word in ("offset", "axis", "limits") if word in given}
    values: dict[str, Any] = {"kind": kind}
    if "axis" in numbers:
        axis = numbers["axis"]
        values["axis"] = axis if len(axis) == 3 else [axis[:3], axis[3:]]
    if "limits" in numbers:
        limits = [math.radians(value) if kind != "slide" else value for value in numbers["limits"]]
        values["limits"] = tuple(limits) if len(limits) == 2 else tuple(zip(limits[::2], limits[1::2], strict=False))
    return Builder(skeleton).add(name, given["parent"], numbers.get("offset", [0.0] * 3), **values).skeleton


def _numbers(text: str, word: str) -> list[float]:
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(f"{word}: expected numbers with commas between, found {quote(text)}") from None
    counts = {"offset": (3,), "axis": (3, 6), "limits": (2, 4, 6)}[word]
    if len(values) not in counts:
        raise InputError(f"{word}: expected {' or '.join(map(str, counts))} numbers, found {len(values)}")
    return values


def _split(skeleton: Skeleton, text: str) -> Skeleton:
    joint, new = _two(text, "NAME=NEW")
    name, found, share = new.partition("@")
    try:
        return building.split(skeleton, joint, name, float(share) if found else 0.5)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"expected a part between 0 and 1 after @, found {quote(share)}") from error


def _reparent(skeleton: Skeleton, text: str) -> Skeleton:
    return building.reparented(skeleton, *_two(text, "NAME=PARENT"))


def _kind(skeleton: Skeleton, text: str) -> Skeleton:
    joint, kind = _two(text, "NAME=KIND")
    if kind not in JOINT_KINDS:
        raise InputError(f"expected {', '.join(JOINT_KINDS)}, found {quote(kind)}")
    return building.with_kind(skeleton, joint, kind)  # type: ignore[arg-type] # looked up above


def _mirror(skeleton: Skeleton, text: str) -> Skeleton:
    here, builder = skeleton.index(text), Builder(skeleton)
    names = building.sided_names(skeleton, text)
    for joint, name in names.items():
        builder.rename(skeleton.names[joint], name)
    return building.mirrored(builder.skeleton, names.get(here, text))


def _remove(skeleton: Skeleton, text: str) -> Skeleton:
    return building.removed(skeleton, text)


def _remove_branch(skeleton: Skeleton, text: str) -> Skeleton:
    return building.removed(skeleton, text, branch=True)
