"""Several figures at the window: drawn beside each other, clicked, dropped, hidden, compared."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import actions as act
from inside.session import Placement, Preferences, abreast, find_demo, save_session
from sessions import character
from test_ui_files import WALK, texts
from ui_person import Person, answer

import viewer
from viewer.document import new_document, world_of
from viewer.session import Session
from viewer.ui import Controller, Drop

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def person() -> Person:
    made = Person("sample:walk")
    made.controller.session.figures.add(new_document(character("biped")), "hero")
    made.controller.camera_moves.frame_all()
    made.wait()
    return made


def seen(person: Person) -> dict[str, np.ndarray]:
    """Pixels of every figure's joints."""
    stage, scene = person.controller.session.stage, person.controller.scene()
    worlds = {other.name: other.world for other in scene.others} | {stage.figure.name: scene.world}
    projection = person.controller.projection()
    return {name: projection.project(world.positions) for name, world in worlds.items()}


def test_what_is_seen_does_not_depend_on_which_figure_is_active(person: Person) -> None:
    session = person.controller.session
    session.figures.place("walk", Placement((0.4, 0.1, -0.7), 2.0))
    session.figures.place("hero", Placement((1.9, 0.0, 0.3), -0.8))
    before = seen(person)
    for name in ("walk", "hero", "walk"):
        session.figures.activate(name)
        after = seen(person)
        assert before.keys() == after.keys()
        for each, pixels in before.items():
            assert np.allclose(after[each], pixels, atol=1e-6)
    session.undo()
    assert session.stage.figure.name == "hero"
    assert np.allclose(seen(person)["walk"], before["walk"], atol=1e-6)  # only the hero goes back


def test_all_figures_are_in_view_and_apart(person: Person) -> None:
    person.controller.session.figures.add(new_document(character("claw-arm")))
    person.controller.camera_moves.start()
    pixels = seen(person)
    projection = person.controller.projection()
    assert all(projection.inside(one).all() for one in pixels.values())
    for one, other in combinations(pixels.values(), 2):
        gaps = np.linalg.norm(one[:, None] - other[None], axis=-1)
        assert gaps.min() > 8.0


def middle(person: Person, name: str, joint: str = "Spine1") -> tuple[float, float]:
    stage = person.controller.session.stage
    skeleton = stage.documents[stage.index(name)].skeleton
    x, y = seen(person)[name][skeleton.index(joint)].tolist()
    return x + person.controller.viewport.x, y + person.controller.viewport.y


def test_a_click_on_a_figure_makes_it_active_and_selects_nothing(person: Person) -> None:
    controller = person.controller
    start = controller.session.document
    person.move(*middle(person, "walk"))
    assert controller.view.hovered.figure == "walk"
    assert controller.cursor == "hand"
    assert [hint.words for hint in controller.hints()] == ["work on it", "orbit"]
    (other,) = controller.scene().others
    assert other.hovered
    depth = controller.session.history.index
    person.click(*middle(person, "walk"))
    stage = controller.session.stage
    assert stage.figure.name == "walk"
    assert stage.documents[1] is start
    assert controller.session.history.index == depth
    assert controller.session.document.selection == ()


def test_a_drag_on_another_figure_orbits(person: Person) -> None:
    yaw, stage = person.controller.camera.yaw, person.controller.session.stage
    documents = stage.documents
    person.drag(middle(person, "walk"), (60.0, 0.0))
    assert person.controller.camera.yaw != yaw
    assert stage.documents == documents
    assert stage.figure.name == "hero"


def test_commands_of_figures(person: Person) -> None:
    controller = person.controller
    stage = controller.session.stage
    person.key("shift+pagedown")
    assert stage.figure.name == "walk"
    assert controller.run("figure.hide")
    assert [one.hidden for one in stage] == [True, False]
    assert not controller.scene().others
    assert not controller.run("figure.hide")
    controller.figures.activate("walk")
    assert [one.hidden for one in stage] == [False, False]
    assert controller.run("figure.remove")
    assert stage.names == ["hero"]
    assert not controller.can("figure.remove")
    assert not controller.can("figure.next")
    person.key("ctrl+z")
    assert stage.names == ["walk", "hero"]


def test_what_stands_beside_others_is_not_reloaded_without_them(person: Person, tmp_path: Path) -> None:
    assert not person.controller.can("file.reload")
    person.controller.files.save_to(tmp_path / "both.ikv.json")
    assert person.controller.run("file.reload")
    assert person.controller.session.stage.names == ["walk", "hero"]


def test_a_demo_begins_beside_others_without_replacing_them() -> None:
    demo = find_demo("demo:s-lock").build()
    arrangement = abreast([("", demo), ("", new_document(character("walk")))])
    controller = Controller(Session(demo, figures=arrangement), Preferences(reduce_motion=True))
    assert controller.session.stage.names == ["s-lock", "walk"]


def test_a_file_dropped_beside_a_figure_asks(tmp_path: Path) -> None:
    person = Person("sample:walk")
    person.controller.handle(Drop((WALK,)))  # nothing has been done to the sample
    assert person.document.character.source.path == str(WALK)
    person.controller.view.bar.clear()
    person.controller.handle(Drop((WALK,)))
    (message,) = person.controller.view.bar.messages
    assert message.text == WALK.name
    assert [words for words, _ in message.actions] == ["Add", "Retarget onto walk", "Replace"]
    stage = person.controller.session.stage
    assert stage.names == ["walk"]
    dict(message.actions)["Add"]()
    assert stage.names == ["walk", "walk 2"]
    assert person.controller.session.history.labels == ("Add walk 2",)

    broken = tmp_path / "broken.bvh"
    broken.write_text("HIERARCHY\n", encoding="utf-8")
    person.controller.view.bar.clear()
    person.controller.handle(Drop((broken, WALK, WALK)))
    (message,) = person.controller.view.bar.messages
    assert message.text == "broken.bvh and 2 more files"
    dict(message.actions)["Add"]()
    assert stage.names == ["walk", "walk 2", "walk 3", "walk 4"]
    assert any(text.startswith("broken.bvh:") for text in texts(person.controller))


def test_replacing_several_asks_about_unsaved_changes(person: Person) -> None:
    person.controller.handle(Drop((WALK,)))
    dict(person.controller.view.bar.messages[-1].actions)["Replace"]()
    assert person.controller.view.requests[-1].name == "question"
    answer(person.controller, "Discard")
    assert person.controller.session.stage.names == ["walk"]
    assert person.document.character.source.path == str(WALK)


def test_a_session_of_several_is_saved_opened_and_added(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "both.ikv.json"
    assert person.controller.files.save_to(path)
    assert texts(person.controller)[-1] == "Saved both.ikv.json, 2 figures"
    other = Person()
    assert other.controller.opening.show_file(path)
    stage = other.controller.session.stage
    assert (stage.names, stage.active) == (["walk", "hero"], 1)
    assert not other.controller.session.modified
    assert other.controller.figures.add(path)
    assert stage.names == ["walk", "hero", "walk 2", "hero 2"]


def test_an_export_is_of_the_active_figure_and_says_so(person: Person, tmp_path: Path) -> None:
    person.controller.session.figures.activate("walk")
    assert person.controller.files.export_to(tmp_path / "one.bvh")
    assert texts(person.controller)[-1].startswith("Exported 68 frames of walk to one.bvh")
    assert len(viewer.load(tmp_path / "one.bvh").skeleton) == len(person.document.skeleton)


def test_the_figure_that_is_compared(person: Person) -> None:
    figures, session = person.controller.figures, person.controller.session
    assert not figures.comparable  # the hero does not move
    session.figures.add(new_document(character("walk")))
    assert figures.comparable == ("walk",)
    figures.compare("walk")
    found = figures.comparison()
    assert found is not None
    assert found.metres.max() == 0.0
    assert figures.comparison() is found
    session.dispatch(act.SetRange(0, 9))
    again = figures.comparison()
    assert again is not None
    assert len(again.metres) == 10
    session.figures.activate("walk")  # which is not compared with itself
    assert figures.comparison() is None
    session.figures.activate("walk 2")
    session.figures.remove("walk")
    assert figures.compared == ""


def test_several_characters_of_the_library() -> None:
    session = viewer.view([character("walk"), character("biped"), character("walk")], window="headless")
    assert session.stage.names == ["walk", "biped", "walk 2"]
    assert len({figure.placement.offset[0] for figure in session.stage}) == 3
    with pytest.raises(viewer.InputError, match=r"^characters: expected at least one, found none$"):
        viewer.view([], window="headless")
    with pytest.raises(
        viewer.InputError, match=r"^characters\[1\]: expected a character, found a Skeleton: pass viewer"
    ):
        viewer.view([character("walk"), character("walk").skeleton], window="headless")  # type: ignore[list-item]


def test_a_hidden_figure_is_in_the_file_and_not_in_the_picture(person: Person, tmp_path: Path) -> None:
    session = person.controller.session
    session.figures.hide("walk")
    save_session(session.document, tmp_path / "a.ikv.json", figures=session.stage.figures)
    other = Person()
    assert other.controller.opening.show_file(tmp_path / "a.ikv.json")
    assert [one.hidden for one in other.controller.session.stage] == [True, False]
    assert other.controller.scene().others == ()


def test_one_figure_costs_nothing_more() -> None:
    made = Session(new_document(character("biped")))
    assert made.stage.figures is None
    person = Person()
    assert person.controller.scene().others == ()
    ground = person.controller.draw_list().ground
    assert (ground.disc, ground.patch) == (None, None)
    world = world_of(person.document.skeleton, person.document.pose)
    assert person.controller.scene().world is world


def test_space_plays_the_others_while_the_active_figure_has_no_motion(person: Person) -> None:
    session, start = person.controller.session, seen(person)["walk"]
    assert session.stage.figure.name == "hero"
    person.key("space")
    person.wait(0.5)
    assert person.controller.status().state == "Playing"
    assert not np.allclose(seen(person)["walk"], start)
    person.key("space")
    assert person.controller.status().state != "Playing"
    person.key("period", "period")  # frames of the timeline that a first key would make
    assert session.document.frame == 2
    person.key("space")
    person.wait(0.5)
    assert session.document.frame > 10
    assert not np.allclose(seen(person)["walk"], start)
    person.key("space")
    session.figures.hide("walk")
    assert not person.controller.can("play.forwards")
