"""Goals across figures: a target that stays at a joint of another figure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import actions as act
from inside.session import Placement, open_script, open_session, save_session, session_bytes
from sessions import HAND, character, drag, session, shifted

from viewer import FormatError, InputError
from viewer.document import new_document, stand_of
from viewer.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

RIGHT, LEFT = "RightHand", "LeftHand"


def place(made: Session, figure: str, effector: str) -> Floats:
    """(3,) where an effector is on the stage."""
    stage = made.stage
    index = stage.index(figure)
    document = stage.documents[index]
    return stage[index].placement.points(stand_of(document, document.goal(effector)).point)


def apart(made: Session) -> float:
    return float(np.linalg.norm(place(made, "biped 2", RIGHT) - place(made, "biped", LEFT)))


def handshake() -> Session:
    """Two bipeds that face each other; the second's right hand follows the first one's left."""
    made = session("biped")
    second = made.figures.add(new_document(character("biped")))
    made.dispatch(act.SetSolver(backend="numpy"))
    made.figures.place(second, Placement((0.1, 0.0, 0.45), np.pi))
    made.figures.link(second, RIGHT, "biped", LEFT)
    return made


def test_the_hand_stays_at_the_other_one() -> None:
    made = handshake()
    assert apart(made) < 0.002
    made.figures.activate("biped")
    drag(made, HAND, shifted(made.document, LEFT, (0.0, 0.25, 0.1)), ticks=20)
    assert apart(made) < 0.005  # in the middle of the drag, too
    made.commit()
    assert apart(made) < 0.002
    assert made.history.labels[-1] == "Drag LeftHand"
    made.undo()
    assert apart(made) < 0.002


def test_the_figure_that_is_moved_takes_its_hand_along() -> None:
    made = handshake()
    for metres in (0.42, 0.4, 0.38):
        made.figures.place("biped 2", Placement((0.1, 0.0, metres), 3.0), done=False)
        assert apart(made) < 0.004
    made.commit()
    made.figures.place("biped", Placement((0.05, 0.0, 0.0), 0.2))
    assert apart(made) < 0.002


def test_a_goal_that_follows_comes_back_after_it_was_dragged() -> None:
    made = handshake()
    hand = HAND._replace(name=RIGHT)
    drag(made, hand, shifted(made.document, RIGHT, (0.0, 0.3, 0.0)), ticks=12)
    assert apart(made) > 0.05  # while it is held
    made.commit()
    assert apart(made) < 0.002


def test_following_while_playing() -> None:
    made = session("walk")
    made.figures.add(new_document(character("walk")))
    made.dispatch(act.SetSolver(backend="numpy"))
    made.figures.place("walk 2", Placement((0.55, 0.0, 0.1)))
    made.figures.link("walk 2", RIGHT, "walk", LEFT)
    made.figures.activate("walk")
    for frame in (5, 20, 41):
        made.seek(frame)
        gap = place(made, "walk 2", RIGHT) - place(made, "walk", LEFT)
        assert np.linalg.norm(gap) < 0.003
        other = made.stage.documents[1]
        assert other.frame == frame


def test_undo_restores_the_pose_from_before_the_link() -> None:
    made = session("biped")
    second = made.figures.add(new_document(character("biped")))
    before = made.document
    made.figures.link(second, RIGHT, "biped", LEFT)
    assert made.history.labels[-1] == "RightHand follows biped/LeftHand"
    assert made.document is not before
    made.undo()
    assert made.document is before
    made.redo()
    assert made.stage[1].links
    made.figures.link(second, RIGHT)
    assert made.history.labels[-1] == "Free RightHand"
    assert [one.links for one in made.stage] == [(), ()]


def test_a_figure_that_goes_takes_its_links_along() -> None:
    made = handshake()
    made.figures.remove("biped")
    assert [one.links for one in made.stage] == [()]
    made.undo()
    assert apart(made) < 0.002


def test_what_cannot_be_followed_is_refused() -> None:
    made = handshake()
    depth = made.history.index
    for arguments, message in (
        (("biped", LEFT, "biped", RIGHT), r'^"LeftHand": a goal follows another figure, not its own$'),
        (("biped", "Hand", "biped 2", RIGHT), '^no effector "Hand"'),
        (("biped", LEFT, "biped 2", "Paw"), "^no .*Paw"),
        (("biped", LEFT, "somebody", RIGHT), '^no figure "somebody"'),
    ):
        with pytest.raises(InputError, match=message):
            made.figures.link(*arguments)
    assert made.history.index == depth


def test_files_and_replays_hold_links(tmp_path: Path) -> None:
    made, path = session("biped"), tmp_path / "shake.ikv.json"
    made.record_actions()
    second = made.figures.add(new_document(character("biped")))
    made.figures.link(second, RIGHT, "biped", LEFT)
    made.figures.activate("biped")
    drag(made, HAND, shifted(made.document, LEFT, (0.0, 0.2, 0.1)), ticks=8)
    made.commit()
    save_session(made.document, path, made.action_log, made.stage.figures)
    found = open_session(path).figures
    assert found is not None
    assert [figure.links for figure in found.figures] == [one.links for one in made.stage]
    script = open_script(path)
    while not script.finished:
        script.tick(0.0)
    assert script.notes == []
    assert [one.links for one in script.session.stage] == [one.links for one in made.stage]
    for one, other in zip(script.session.stage.documents, made.stage.documents, strict=True):
        assert one.same_as(other)


def test_links_that_lead_nowhere_are_not_written_and_refused_in_files(tmp_path: Path) -> None:
    made, path = handshake(), tmp_path / "bad.ikv.json"
    made.figures.activate("biped")
    made.dispatch(act.RemoveEffector(LEFT))
    tree = json.loads(session_bytes(made.document, figures=made.stage.figures))
    for link, message in (
        (["Nose", "biped", LEFT], 'no goal "Nose"'),
        ([RIGHT, "biped 2", LEFT], 'no other figure "biped 2"'),
        ([RIGHT, "biped", "Nose"], 'no .*"Nose"'),
    ):
        tree["figures"][1]["links"] = [link]
        path.write_text(json.dumps(tree))
        with pytest.raises(FormatError, match=rf"figures\[1\].links\[0\]: {message}"):
            open_session(path)
