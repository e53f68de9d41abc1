"""Recorded sessions, played again: they give the same results, and their files still open."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import fields
from enum import Enum
from typing import TYPE_CHECKING, Any

import pytest
from inside.document import Action, actions
from inside.formats import GoalEntry, read_goals_file
from inside.ik import KINDS
from inside.session import DOERS
from recordings import (
    FOLDER,
    GOALS,
    calls,
    differences,
    expected_of,
    facts,
    kinds_in,
    recordings,
    replayed,
    stored,
)
from sessions import character

if TYPE_CHECKING:
    from pathlib import Path

    from viewer import Goal

ALL = recordings()
MAKE = "PYTHONPATH=. python tests/recorded/make.py"
CURE = f"record a session that uses it: a function in tests/recorded/make.py that returns its Hand, then {MAKE}"
every = pytest.mark.parametrize("path", ALL, ids=lambda path: f"{path.parent.name}-{path.name.partition('.')[0]}")


@every
def test_a_recording_leads_where_it_led(path: Path) -> None:
    session, notes = replayed(path)
    led_to, (digest, expected) = session.document, expected_of(path)
    since = expected.pop("since", "")
    # Another machine may have other last bits, which is noted; what was refused is refused all the same.
    assert [note for note in notes if "not as recorded" not in note] == []
    assert [*differences(facts(session), expected)] == []
    document, found = stored(path)
    assert found == digest  # a file keeps every bit, on every machine
    if not since:
        assert [*differences(document, led_to)] == []


@every
def test_a_recording_names_no_folder_of_a_machine(path: Path) -> None:
    source = stored(path)[0].character.source.path
    assert source is not None
    assert source.startswith(("sample:", "demo:"))


def test_every_action_and_every_call_occurs_in_a_recording() -> None:
    found = [call for path in ALL for call in calls(path)]
    kinds = vars(actions).values()
    registered = {kind.__name__ for kind in kinds if isinstance(kind, type) and issubclass(kind, Action)}
    assert registered - {Action.__name__} - {*kinds_in(found)} == set(), CURE
    assert DOERS.keys() - {call[0] for call in found} == set(), CURE


def test_no_field_is_the_same_in_all_recordings() -> None:
    """Of documents, goals, settings and takes: a reader that forgets one is found out."""
    values = defaultdict[str, set[object]](set)
    for path in ALL:
        document, _ = stored(path)
        takes = [take for take in (document.take, *document.put_aside) if take is not None]
        tracks = [track for take in takes for track in take.tracks]
        parts: tuple[Any, ...] = (document, document.solver, *document.goals, *takes, *tracks)
        for value in parts:
            for place in fields(value):
                found = getattr(value, place.name)
                values[f"{type(value).__name__}.{place.name}"].add(found if isinstance(found, Enum) else repr(found))
    assert [name for name, found in values.items() if len(found) < 2] == [], CURE
    kinds = {name: type(one) for name, found in values.items() for one in found if isinstance(one, Enum)}
    never = {"function", "balance", "grip"}  # no document holds one
    assert {name: left for name, kind in kinds.items() if (left := {*kind} - values[name] - never)} == {}, CURE


# Goals files


@pytest.mark.parametrize(("name", "goals"), GOALS.items())
def test_a_goals_file_of_every_version_gives_its_goals(name: str, goals: tuple[Goal, ...]) -> None:
    path, warnings = FOLDER / f"{name}.json", list[str]()
    assert read_goals_file(path, path.name, character("biped").skeleton, warnings).goals == goals
    assert warnings == []


def test_goals_files_have_every_kind_and_every_word() -> None:
    cure = f"add goals that have it to GOALS of tests/recordings.py, and run {MAKE}"
    kinds = {goal.kind for goals in GOALS.values() for goal in goals}
    assert {*KINDS} - {"function"} - kinds == set(), cure
    text = "".join((FOLDER / f"{name}.json").read_text(encoding="utf-8") for name in GOALS)
    assert [word for word in GoalEntry.__struct_encode_fields__ if f'"{word}": ' not in text] == [], cure
