"""Options declared as fields: what the parser, the help and other processes make of them."""

from __future__ import annotations

import argparse
import pickle
from typing import Any

import pytest
from inside.cli import (
    COMMANDS,
    ConvertMotion,
    ConvertOptions,
    Options,
    SolveOptions,
    add_fields,
    argument,
    command_parser,
    count,
    fields_of,
    flag,
    made_from,
    option,
    options_of,
    part,
)


class Inner(Options, title="inside"):
    """A part."""

    max_count: int = option("N", "how many, of [some](here.md) `things` (50 %)", parse=count, default=3, short="-m")
    fast: bool = flag("at once")


class Outer(Options):
    """Options with a part."""

    names: list[str] = argument("NAME", "names", nargs="*")
    inner: Inner = part(Inner)
    kind: str = option("", "which", choices=("big", "small"), default="big")


def parse(*words: str) -> Outer:
    parser = argparse.ArgumentParser()
    add_fields(parser, Outer)
    return made_from(Outer, parser.parse_args(words))


def test_fields_become_options_and_parts_become_groups() -> None:
    chosen = parse("a", "-m", "7", "--fast", "--kind", "small")
    assert chosen.values() == {"names": ["a"], "max_count": 7, "fast": True, "kind": "small"}
    assert (chosen.inner.max_count, chosen.inner.fast) == (7, True)
    assert parse().values() == {"names": [], "max_count": 3, "fast": False, "kind": "big"}
    parser = argparse.ArgumentParser()
    add_fields(parser, Outer)
    text = " ".join(parser.format_help().split())
    assert "inside: -m N, --max-count N how many, of some things (50 %) --fast at once" in text


def test_options_do_not_change_and_unknown_ones_are_refused() -> None:
    with pytest.raises(AttributeError):
        parse().kind = "small"  # type: ignore[misc]
    with pytest.raises(TypeError, match="Outer has no option colour"):
        Outer(colour=1)  # type: ignore[call-arg]


def test_options_reach_other_processes() -> None:
    values: dict[str, Any] = {"paths": ["a.bvh"], "motion": ConvertMotion(frame=3)}
    again = pickle.loads(pickle.dumps(ConvertOptions(**values)))
    assert again.values() == ConvertOptions(**values).values()
    assert again.motion.frame == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_starts_from_the_defaults_of_its_fields(command: str) -> None:
    cls: type[Options] = options_of(command)
    names = [field.name for field in fields_of(cls)]
    assert len(names) == len(set(names))
    parser = command_parser(command)
    given = [field.choices[0] if field.choices else "x" for field in fields_of(cls) if not field.is_option]
    needed = [word for field in fields_of(cls) if field.required for word in (field.names[-1], "1")]
    words = [] if command in {"view", "bench"} else [*given, *needed]
    chosen = made_from(cls, parser.parse_args(words)).values()
    for field in fields_of(cls):
        if field.is_option and not field.required:
            assert chosen[field.name] == (list(field.default) if field.repeats else field.default)


def test_a_field_says_which_values_are_files_that_are_read() -> None:
    reads = {field.name for field in fields_of(SolveOptions) if field.reads}
    assert reads == {"file", "rig", "goals", "from_pose", "prefer"}
