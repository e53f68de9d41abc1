"""Recorded actions that lead elsewhere, and files without any: one line says where and what."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from inside.document import SetLimits, TurnJoint
from inside.session import load_session, replay
from scripts import Tree, altered, recorded, saved
from sessions import session

from viewer.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("kernels_not_ready")

# Where it departs


def test_the_step_that_departs_is_named(tmp_path: Path) -> None:
    made = recorded()
    made.dispatch(SetLimits(on=False))
    made.dispatch(TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))
    made.dispatch(TurnJoint("LeftForeArm", (0.0, 0.0, 0.6, 0.8)))

    def change(tree: Tree) -> None:
        turned = [call for call in tree["calls"] if call[0] == "dispatch"][1]
        turned[1]["rotation"][2:] = [0.8, 0.6]

    notes = list[str]()
    replay(altered(saved(made, tmp_path), change), notes)
    assert len(notes) == 2
    assert all(note.startswith('call 5 of 8, dispatch of "Turn LeftArm": from here ') for note in notes)
    assert notes[0].endswith("the pose is not as recorded")
    assert notes[1].endswith("goals, settings or keys are not as recorded")


def test_another_machine_is_named_with_what_departs(tmp_path: Path) -> None:
    made = recorded()
    made.dispatch(SetLimits(on=False))

    def change(tree: Tree) -> None:
        tree["machine"]["numpy"] = "0.0.1"
        tree["calls"][1][1]["on"] = True

    notes = list[str]()
    replay(altered(saved(made, tmp_path), change), notes)
    assert "(recorded on ikviewer " in notes[0]
    assert "numpy 0.0.1" in notes[0]


@pytest.mark.parametrize(
    ("place", "call", "words"),
    [
        (1, ["dispatch", {"$": "SetLimits", "on": 3}], "it is refused now, and was not: joint limits: expected True"),
        (2, ["refused"], "it was refused, and is not now"),
        (2, ["failed", "ZeroDivisionError"], "it failed, and does not now"),
    ],
)
def test_other_outcomes_are_said(place: int, call: list[object], words: str, tmp_path: Path) -> None:
    made = recorded()
    made.dispatch(SetLimits(on=False))
    notes = list[str]()
    replay(altered(saved(made, tmp_path), lambda tree: tree["calls"].__setitem__(place, call)), notes)
    assert words in notes[0]


def test_a_fault_of_the_program_comes_up_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a report of a crash is for."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError("on purpose")

    made = recorded()
    with monkeypatch.context() as broken:
        broken.setattr(SetLimits, "apply", fail)
        with pytest.raises(ZeroDivisionError):
            made.dispatch(SetLimits(on=False))
        path = saved(made, tmp_path)
        with pytest.raises(ZeroDivisionError, match="on purpose"):
            replay(path)
    notes = list[str]()
    assert not replay(path, notes).limits_on  # once it is mended
    assert notes[0].endswith("it failed, and does not now")


# Bad files


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["jump", 3], 'actions.calls[1]: no call "jump"; there is '),
        (["__class__"], 'actions.calls[1]: no call "__class__"; there is '),
        ([], "actions.calls[1]: expected the name of a call and its data"),
        (3, "actions.calls[1]: expected array, found int"),
        (["dispatch", {"$": "SetLimit", "on": True}], 'no kind of value "SetLimit"; did you mean "SetLimits"'),
        (["dispatch", {"$": "Popen", "args": ["ls"]}], 'actions.calls[1]: no kind of value "Popen"'),
        (["dispatch", {"$": "SetLimits", "off": 1}], "expected the attributes of SetLimits, found others"),
        (["dispatch", {"$": "Mode", "of": ["walk"]}], "expected the attributes of Mode, found others"),
        (["dispatch", 5], "actions.calls[1]: dispatch cannot be done: AttributeError: "),
        (["dispatch"], "actions.calls[1]: dispatch cannot be done: TypeError: "),
        (["tick", "noon"], "actions.calls[1]: tick cannot be done: ValueError: "),
        (["seek", {"$": "float", "of": "5"}], 'expected nan, inf or -inf, found "5"'),
        (["seek", {"$": "floats", "shape": [2], "of": [1]}], "expected an array of shape (2,), found"),
        (["open", 5], "actions.calls[1]: expected a document, found "),
    ],
)
def test_what_is_no_call_is_refused_in_one_line(change: object, words: str, tmp_path: Path) -> None:
    made = recorded()
    made.dispatch(SetLimits(on=False))
    path = altered(saved(made, tmp_path), lambda tree: tree["calls"].__setitem__(1, change))
    with pytest.raises(FormatError) as raised:
        replay(path)
    assert words in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)
    assert load_session(path).same_as(made.document)  # the document itself is none the worse


def test_a_session_without_actions(tmp_path: Path) -> None:
    made = session()
    assert made.action_log is None
    path = saved(made, tmp_path)
    with pytest.raises(FormatError, match='the session holds no actions: it was saved while "Record actions" was off'):
        replay(path)


def test_a_backend_that_is_not_here_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = recorded(backend="numpy")
    made.dispatch(SetLimits(on=False))

    def change(tree: Tree) -> None:
        tree["calls"][0] = ["backend", "numba"]

    path, notes = altered(saved(made, tmp_path), change), list[str]()
    monkeypatch.delitem(sys.modules, "viewer.ik.compiled.numba_engine", raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert replay(path, notes).same_as(made.document)
    (note,) = notes
    assert note.endswith('backend "numba" needs numba: python3 -m pip install numba; the results will differ')
