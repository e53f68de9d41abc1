"""Recorded actions: played again they lead to the same bits; where they do not, the step that departs is named.

Recorded actions that lead elsewhere, and files without any: one line says where and what.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import SetLimits, SetMode, SetSolver, TurnJoint, actions, base_Action as Action
from inside.ik import Backend, backends, engine as numpy_engine
from inside.session import (
    STORED_KINDS,
    Pointer,
    TargetMotion,
    find_demo,
    load_session,
    open_script,
    replay,
)
from restless import Restless, faults
from scripts import Tree, altered, names, recorded, same, saved
from sessions import HAND, QUICK, character, drag, session, shifted

from viewer.document import Item, new_document
from viewer.errors import FormatError, InputError
from viewer.session import Loop, Session

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.document import Document


pytestmark = pytest.mark.usefixtures("kernels_not_ready")


# The same bits


@pytest.mark.parametrize(
    ("name", "seed", "backend"), [("walk", 11, QUICK), ("claw-arm", 13, "numpy"), ("biped-hands", 14, QUICK)]
)
def test_whatever_was_done_leads_to_the_same_bits_again(name: str, seed: int, backend: Backend, tmp_path: Path) -> None:
    made = session(name)
    made.replace(replace(made.document, solver=replace(made.document.solver, backend=backend)))
    hands = Restless(made, seed)
    for _ in range(8):
        hands.act()
    made.record_actions()
    for _ in range(30):
        hands.act()
    assert faults(made.document) == []
    assert len(made.history) > 5
    same(made, tmp_path, times=1)


def test_a_drag_is_written_tick_by_tick_with_times_and_backend(tmp_path: Path) -> None:
    made = recorded()
    drag(made, HAND, shifted(made.document, "LeftHand", (0.1, 0.2, 0.1)), ticks=3)
    made.commit()
    path = saved(made, tmp_path)
    assert names(path) == ["backend", "begin_drag", *["drag_to", "tick"] * 3, "commit"]
    calls = json.loads(path.read_text(encoding="utf-8"))["actions"]["calls"]
    assert calls[0] == ["backend", "numpy"]
    assert [call[1] for call in calls if call[0] == "tick"] == [0.0, 1.0 / 60.0, 2.0 / 60.0]
    same(made, tmp_path)


def test_the_removal_of_a_first_goal_is_refused_again_but_releases_where_it_once_did(tmp_path: Path) -> None:
    made = recorded()
    with pytest.raises(InputError, match='goal "LeftHand" is the first of its effector'):
        made.dispatch(actions.RemoveGoal("LeftHand"))
    same(made, tmp_path)

    def as_before(tree: Tree) -> None:
        tree["calls"] = [call for call in tree["calls"] if call[0] not in ("refused", "check")]

    led_to = replay(altered(saved(made, tmp_path), as_before))
    assert not led_to.goal("LeftHand").enabled


def test_ticks_at_rest_are_not_written(tmp_path: Path) -> None:
    made = recorded()
    made.dispatch(SetLimits(on=False))
    for tick in range(100):
        made.tick(tick / 60.0)
    assert names(saved(made, tmp_path)) == ["backend", "dispatch"]


def test_steps_from_before_the_recording_can_be_undone_and_done_again(tmp_path: Path) -> None:
    made = session()
    before = made.document
    for method in ("dls", "sdls", "ccd"):
        made.dispatch(SetSolver(method=method))
    made.undo()
    made.record_actions()
    made.undo()
    made.redo()
    made.redo()
    assert made.document.solver.method == "ccd"
    same(made, tmp_path)
    made.dispatch(SetLimits(on=False))
    made.go_to(0)
    assert made.document is before
    same(made, tmp_path)
    made.go_to(made.history.index + len(made.history))
    assert not made.document.limits_on
    same(made, tmp_path)
    made.undo()
    made.dispatch(SetMode("fk"))  # type: ignore[arg-type]
    same(made, tmp_path)


def test_what_is_refused_is_refused_again(tmp_path: Path) -> None:
    made = recorded()
    made.begin("Turn")
    made.gestures.update(SetLimits(on=False))
    with pytest.raises(InputError):
        made.dispatch(TurnJoint("Nobody", (0.0, 0.0, 0.0, 1.0)))
    assert made.history.labels == ("Turn",)  # the gesture was committed by it
    with pytest.raises(InputError):
        made.go_to(12)
    assert names(saved(made, tmp_path)) == ["backend", "begin", "update", "dispatch", "refused", "go_to", "refused"]
    same(made, tmp_path)


def test_loop_speed_and_tolerance_count(tmp_path: Path) -> None:
    made = session("walk")
    made.set_speed(2.0)
    made.clock.loop = Loop.PING_PONG
    made.record_actions()
    made.play()
    for tick in range(20):
        made.tick(tick / 30.0)
    made.set_speed(0.5)
    made.clock.loop = Loop.OFF
    for tick in range(20, 40):
        made.tick(tick / 30.0)
    path = saved(made, tmp_path)
    same(made, tmp_path)
    again = open_script(path)
    while not again.finished:
        again.tick(0.0)
    clock = again.session.clock
    assert (clock.speed, clock.loop, clock.direction) == (0.5, Loop.OFF, 1)


@dataclass(frozen=True, slots=True)
class Strange(Action):
    """An action of a kind that no file can hold."""

    @property
    def label(self) -> str:
        return "Strange"

    def apply(self, document: Document) -> Document:
        return replace(document, limits_on=not document.limits_on)


def test_of_an_action_that_cannot_be_written_it_is_kept_what_it_led_to(tmp_path: Path) -> None:
    made = recorded()
    made.dispatch(Strange())
    made.begin("More")
    made.gestures.update(Strange())
    made.commit()
    made.undo()
    path = saved(made, tmp_path)
    assert names(path) == ["backend", "put", "begin", "put", "commit", "undo"]
    same(made, tmp_path)


def test_another_document_that_is_opened_is_part_of_it(tmp_path: Path) -> None:
    made = recorded()
    made.dispatch(SetLimits(on=False))
    made.replace(new_document(character("claw-arm")))
    made.dispatch(SetSolver(method="dls", backend="numpy"))
    made.undo()
    assert not made.undo()
    same(made, tmp_path)


def test_targets_that_move_by_themselves_move_again(tmp_path: Path) -> None:
    for number, name in enumerate(("demo:serpent", "demo:claw")):
        demo = find_demo(name)
        made = Session(demo.build())
        made.dispatch(SetSolver(backend="numpy"))
        made.targets.animate(demo.motions)
        made.record_actions()
        for tick in range(20):
            made.tick(tick / 60.0)
        made.targets.pause()
        folder = tmp_path / str(number)
        folder.mkdir()
        same(made, folder)


def test_a_target_that_follows_the_pointer_follows_it_again(tmp_path: Path) -> None:
    made = session()
    pointer = Pointer(shifted(made.document, "LeftHand", (0.0, 0.0, 0.0)))
    made.record_actions()
    made.targets.animate((TargetMotion("LeftHand", pointer, shown=False),))
    for tick in range(20):
        pointer.position = pointer.position + 0.01
        made.tick(tick / 60.0)
    same(made, tmp_path)


def test_each_backend_serves_where_it_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled engine is played by the other one here: it is asked for, that is what counts."""
    asked: list[str] = []

    def engine(name: str) -> object:
        if asked[-1:] != [name]:
            asked.append(name)
        return numpy_engine

    monkeypatch.setattr(backends, "import_module", engine)
    made = Session(new_document(character("biped")))
    made.record_actions()
    made.dispatch(SetLimits(on=False))
    with backends.serving("numba"):  # as if it had become ready
        drag(made, HAND, shifted(made.document, "LeftHand", (0.1, 0.2, 0.1)), ticks=3)
        made.commit()
    path = saved(made, tmp_path)
    assert names(path)[:4] == ["backend", "dispatch", "backend", "begin_drag"]
    assert asked[-2:] == ["viewer.ik.numpy_engine", "viewer.ik.compiled.numba_engine"]
    asked.clear()
    assert replay(path).same_as(made.document)
    assert asked[-2:] == ["viewer.ik.numpy_engine", "viewer.ik.compiled.numba_engine"]


# On and off


def test_off_again_nothing_is_kept(tmp_path: Path) -> None:
    made = recorded()
    made.dispatch(SetLimits(on=False))
    made.record_actions(on=False)
    made.dispatch(SetLimits(on=True))
    assert b"actions" not in saved(made, tmp_path).read_bytes()


def test_what_is_under_way_is_brought_to_its_end_first() -> None:
    made = session()
    made.begin("Turn")
    made.gestures.update(TurnJoint("LeftArm", (0.0, 0.0, 0.6, 0.8)))
    made.record_actions()
    assert made.history.labels == ("Turn",)
    assert made.gestures.label is None


def test_every_action_can_be_written() -> None:
    kinds = vars(actions).values()
    missing = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Action) and kind is not Action]
    assert missing
    assert [kind.__name__ for kind in missing if STORED_KINDS.get(kind.__name__) is not kind] == []


def test_numbers_keep_their_bits_and_kinds(tmp_path: Path) -> None:
    """Also numpy's own, and those that JSON has no word for."""
    made = recorded()
    third = np.float64(1.0) / 3.0
    made.dispatch(SetSolver(tolerance_m=third, iterations=7))
    made.dispatch(TurnJoint("LeftArm", np.array([0.0, 0.0, 0.6, 0.8], dtype=np.float32)))
    made.dispatch(actions.Select((Item("joint", "LeftArm"),)))
    with pytest.raises(InputError):
        made.dispatch(actions.SetCoordinate("LeftArm", 0, float("nan")))
    same(made, tmp_path)
    assert replay(saved(made, tmp_path)).solver.tolerance_m == third


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
