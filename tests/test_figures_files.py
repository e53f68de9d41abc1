"""Several figures in session files, recovery files and recorded actions."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.app import Autosave, recoveries
from inside.document import actions as act
from inside.session import VERSION, Kept, Placement, open_script, open_session, save_session, session_bytes
from sessions import HAND, character, drag, session, shifted

from viewer import FormatError
from viewer.document import new_document
from viewer.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inside.session import Arrangement


def two() -> Session:
    made = session("walk")
    made.figures.add(new_document(character("biped")), "hero")
    made.figures.place("walk", Placement((0.1, 0.0, -2.5), 0.7))
    made.figures.add(new_document(character("claw-arm")))
    made.figures.hide("claw-arm")
    return made


def same(one: Arrangement | None, other: Arrangement | None) -> bool:
    if one is None or other is None:
        return one is other
    pairs = zip(one.figures, other.figures, strict=True)
    return one.active == other.active and all(
        (a.name, a.placement, a.hidden) == (b.name, b.placement, b.hidden)
        and a.state.document.same_as(b.state.document)
        for a, b in pairs
    )


def test_a_file_holds_all_figures_to_the_last_bit(tmp_path: Path) -> None:
    made, path = two(), tmp_path / "two.ikv.json"
    made.dispatch(act.MoveTargets({"LeftHand": (shifted(made.document, "LeftHand", (0.1, 0.1, 0.0)), None)}))
    save_session(made.document, path, figures=made.stage.figures)
    opened = open_session(path)
    assert same(opened.figures, made.stage.arrangement)
    assert opened.figures is not None
    assert opened.document is opened.figures.figure.state.document
    again = Session(opened.document, path, opened.digest, opened.figures)
    assert session_bytes(again.document, figures=again.stage.figures, folder=tmp_path) == path.read_bytes()


def test_one_figure_is_written_as_before() -> None:
    made = session("walk")
    alone = session_bytes(made.document)
    made.figures.add(new_document(character("biped")))
    made.undo()
    assert made.stage.figures is None
    assert session_bytes(made.document, figures=made.stage.figures) == alone
    tree = json.loads(alone)
    assert tree["version"] == 2
    assert "figures" not in tree


def test_one_figure_elsewhere_stays_there(tmp_path: Path) -> None:
    made, path = two(), tmp_path / "one.ikv.json"
    for name in ("claw-arm", "hero"):
        made.figures.remove(name)
    save_session(made.document, path, figures=made.stage.figures)
    found = open_session(path).figures
    assert found is not None
    assert [figure.placement for figure in found.figures] == [Placement((0.1, 0.0, -2.5), 0.7)]


def changed(made: Session, path: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    tree = json.loads(session_bytes(made.document, figures=made.stage.figures))
    assert tree["version"] == VERSION == 3
    change(tree["figures"])
    path.write_text(json.dumps(tree))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda figures: figures[0].update(name="hero"),
         "figures[1].name: expected figures of different names, found two of one name"),
        (lambda figures: figures[0].update(name=""),
         "figures[0].name: expected figures of different names, found an empty name"),
        (lambda figures: figures[0].pop("document"), "figures: expected one figure without a document, found 2"),
        (lambda figures: figures.pop(1), "figures: expected one figure without a document, found 0"),
        (lambda figures: figures[0].update(yaw=1e999), "figures[0].yaw: Expected `float`"),
        (lambda figures: figures[1].update(hidden=True),
         "figures[1].hidden: expected the active figure to be shown, found a hidden one"),
        (lambda figures: figures[0]["document"].update(frame=900),
         "figures[0].document.frame: expected a frame from 0 to 67, found 900"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_figures_is_named(
    change: Callable[[list[dict[str, Any]]], object], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.ikv.json"
    changed(two(), path, change)
    with pytest.raises(FormatError) as caught:
        open_session(path)
    if "Expected `float`" not in message:
        assert str(caught.value) == f"{path}: {message}"
    assert "bad.ikv.json" in str(caught.value)


def test_recovery_files_hold_all_figures(tmp_path: Path) -> None:
    made = two()
    autosave = Autosave(tmp_path, seconds=0.0)
    autosave.keep(made.document, Kept(1.0, 1.0), None, made.stage.figures)
    for _ in range(400):
        if autosave.path.exists():
            break
        time.sleep(0.02)
    assert same(open_session(autosave.path).figures, made.stage.arrangement)
    autosave.close()
    assert not recoveries(tmp_path)


def act_on(made: Session) -> None:
    """Everything that can be done to figures."""
    second = made.figures.add(new_document(character("walk")))
    drag(made, HAND, shifted(made.document, "LeftHand", (0.0, 0.1, 0.1)), ticks=8)
    made.commit()
    made.figures.activate("walk")
    for metres in (0.1, 0.2):
        made.figures.place(second, Placement((metres, 0.0, 1.0), 0.3), done=False)
    made.commit()
    made.figures.hide(second)
    made.figures.add(new_document(character("biped")), "hero", Placement((4.0, 0.0, 0.0)))
    made.undo()
    made.undo()
    made.redo()
    made.figures.remove(second)
    for _ in range(5):
        made.undo()
    made.go_to(2)


@pytest.mark.parametrize("before", [0, 2])
def test_recorded_actions_lead_to_the_same_figures(tmp_path: Path, before: int) -> None:
    made = session("walk")
    for _ in range(before):
        made.figures.add(new_document(character("biped")))
    made.record_actions()
    act_on(made)
    path = tmp_path / "acted.ikv.json"
    save_session(made.document, path, made.action_log, made.stage.figures)
    script = open_script(path)
    while not script.finished:
        script.tick(0.0)
    assert script.notes == []
    assert same(script.session.stage.arrangement, made.stage.arrangement)


def test_undoing_beyond_the_start_of_a_recording(tmp_path: Path) -> None:
    made = two()
    made.record_actions()
    for _ in range(3):
        made.undo()
    made.redo()
    made.figures.activate("walk")
    path = tmp_path / "acted.ikv.json"
    save_session(made.document, path, made.action_log, made.stage.figures)
    script = open_script(path)
    while not script.finished:
        script.tick(0.0)
    assert script.notes == []
    assert same(script.session.stage.arrangement, made.stage.arrangement)
    assert np.allclose(script.session.stage[0].placement.offset, (0.1, 0.0, -2.5))


def test_opening_several_while_recording(tmp_path: Path) -> None:
    made, other = session("walk"), two()
    made.record_actions()
    made.replace(other.document, figures=other.stage.arrangement)
    made.figures.activate("hero")
    path = tmp_path / "acted.ikv.json"
    save_session(made.document, path, made.action_log, made.stage.figures)
    script = open_script(path)
    while not script.finished:
        script.tick(0.0)
    assert script.notes == []
    assert same(script.session.stage.arrangement, made.stage.arrangement)
