"""The workspace Retarget: a motion on the figure shown, strings that are dragged, one undo step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inside.document import SetLength, actions as act, frame_pose
from inside.session import LongWork
from inside.spatial import angle_between, vectors
from inside.ui import retargeting
from panel_window import PanelWindow
from sessions import character, session
from takes import clip_of, keyed, turn

import viewer
from viewer.document import Document
from viewer.ui import Controller, Drop, Key, Move, Press, Release


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a walk, and a rig as a file."""
    viewer.save(character("walk"), tmp_path / "stride.bvh")
    viewer.save(character("biped"), tmp_path / "hero.json")
    return tmp_path


def controller(folder: Path) -> Controller:
    made = Controller(session("biped"))
    assert made.opening.show_file(folder / "hero.json")
    assert made.retargeting.open(folder / "stride.bvh")
    made.tick(0.0)
    return made


def shown(made: Controller) -> Document:
    return made.session.document


def pixel(made: Controller, name: str, *, source: bool) -> tuple[float, float]:
    """Where a joint is in the window."""
    sides = made.scene().others[0] if source else made.scene()
    at = made.projection().project(sides.world.positions[sides.skeleton.index(name)])
    return float(at[0] + made.viewport.x), float(at[1] + made.viewport.y)


def drag(made: Controller, start: tuple[float, float], end: tuple[float, float], button: str = "left") -> None:
    made.handle(Press(button, *start))  # type: ignore[arg-type]
    for part in np.linspace(0.0, 1.0, 5)[1:]:
        made.handle(Move(*(np.asarray(start) + part * np.subtract(end, start)).tolist()))
    made.handle(Release(button, *end))  # type: ignore[arg-type]
    made.tick(1.0)


def test_the_result_is_shown_at_once_and_apply_leaves_one_step(folder: Path) -> None:
    made = controller(folder)
    assert made.checked("workspace.retarget")
    assert (made.retargeting.source, made.retargeting.target) == ("stride", "hero")
    assert shown(made).clip == "stride"
    assert shown(made).frames == 68
    assert made.session.history.labels == ("Add stride", "Motion stride")
    assert made.run("retarget.apply")
    assert made.checked("workspace.pose")
    assert made.session.history.labels == ("Add stride", "Motion stride")
    made.tick(1.0)
    assert shown(made).clip == "stride"
    made.session.undo()
    assert shown(made).clip is None


def test_a_rig_without_motion_gets_that_of_the_figure_shown(folder: Path) -> None:
    made = Controller(session("biped"))
    assert made.opening.show_file(folder / "stride.bvh")
    assert made.retargeting.open(folder / "hero.json")
    made.tick(0.0)
    assert (made.retargeting.source, made.retargeting.target) == ("stride", "hero")
    assert made.retargeting.problem == ""
    assert made.figures.active == "hero"
    assert shown(made).clip == "stride"
    assert made.run("retarget.cancel")
    assert made.session.stage.names == ["stride"]
    assert shown(made).clip is not None


def test_cancel_takes_all_back_and_leaving_drops_the_result(folder: Path) -> None:
    made = controller(folder)
    assert made.run("retarget.cancel")
    assert made.session.stage.names == ["hero"]
    assert shown(made).clip is None
    made.retargeting.open(folder / "stride.bvh")
    made.run("workspace.pose")
    made.tick(1.0)
    assert shown(made).clip is None
    assert [message.text for message in made.view.bar.messages][-1] == "Retargeted motion dropped"
    made.run("workspace.retarget")
    made.tick(2.0)
    assert shown(made).clip == "stride"


def test_an_end_of_a_string_is_dragged_to_another_joint_and_kept_beside_the_rig(folder: Path) -> None:
    made = controller(folder)
    strings = made.retargeting
    drag(made, pixel(made, "LeftForeArm", source=False), pixel(made, "LeftArm", source=False))
    assert strings.map is not None
    assert strings.map.pairs["LeftForeArm"] == "LeftArm"
    assert "LeftArm" not in strings.map.pairs
    assert made.session.history.labels == ("Add stride", "Motion stride")
    made.run("retarget.map_again")
    assert strings.map.pairs["LeftForeArm"] == "LeftForeArm"
    drag(made, pixel(made, "LeftHand", source=True), pixel(made, "LeftForeArm", source=False))
    assert strings.map.pairs["LeftHand"] == "LeftForeArm"
    at = pixel(made, "Head", source=False)
    drag(made, at, at, "right")
    assert "Head" not in strings.map.pairs
    made.run("retarget.apply")
    kept = viewer.find_map(character("walk"), character("biped"))
    assert kept.pairs["Head"] == "Head"
    assert (folder / "hero.map.json").is_file()
    made.session.go_to(0)
    made.retargeting.open(folder / "stride.bvh")
    assert strings.map is not None
    assert "Head" not in strings.map.pairs
    assert strings.map.pairs["LeftHand"] == "LeftForeArm"


def test_strings_are_drawn_between_all_pairs_and_doubtful_ones_are_dashed(folder: Path) -> None:
    made = controller(folder)
    strings = made.retargeting
    assert strings.map is not None
    before = strings.shapes(made.projection(), 1.0)
    assert len(before) == len(strings.map.pairs)
    strings.selected = "Head"
    after = strings.shapes(made.projection(), 1.0)
    assert len(after) == len(before) + 2
    assert {text.text for text in strings.texts(made.projection(), 1.0)} == {"Head"}


def test_a_dropped_motion_may_be_retargeted(folder: Path) -> None:
    made = Controller(session("biped"))
    assert made.opening.show_file(folder / "hero.json")
    made.handle(Drop((folder / "stride.bvh",)))
    message = made.view.bar.messages[-1]
    words = [label for label, _ in message.actions]
    assert words == ["Add", "Retarget onto hero", "Replace"]
    message.actions[1][1]()
    assert shown(made).clip == "stride"
    assert made.retargeting.report is not None
    assert made.retargeting.report.feet == "plant"


def test_what_cannot_be_retargeted_is_said(folder: Path) -> None:
    made = Controller(session("claw-arm"))
    assert made.retargeting.open(folder / "stride.bvh")
    assert "expected a figure with arms or legs" in made.retargeting.problem
    assert shown(made).clip is None
    assert not made.can("retarget.apply")


def test_the_toolbar_says_who_chooses_feet_and_hands_and_applies(folder: Path) -> None:
    window = PanelWindow(viewer.load(folder / "hero.json"))
    made = window.controller
    made.run("workspace.retarget")
    window.frames(2)
    assert window.box("toolbar", "Open…")
    assert made.retargeting.open(folder / "stride.bvh")
    made.tick(0.0)
    window.frames(2)
    words = window.words("toolbar")
    assert {"stride", "Feet: plant", "Hands: free", "Cancel", "Apply"} <= set(words)
    depth = made.session.history.index
    window.click("toolbar", "Feet tool")
    assert window.popup
    window.move((3.0, 300.0))
    window.click("toolbar", "finish")
    window.click("toolbar", "finish")  # the first click closes the list
    assert made.checked("workspace.pose")
    assert made.session.history.index == depth
    window.close()


def test_the_workspace_of_one_figure_comes_to_rest() -> None:
    made = Controller(session("biped"))
    made.run("workspace.retarget")
    made.tick(0.0)
    seen = made.view.revision
    assert not made.tick(1.0)
    assert made.view.revision == seen


def both(first: str, second: str) -> Controller:
    """Two bundled figures side by side, the first one active, in the workspace."""
    made = Controller(session("biped"))
    assert made.opening.show_file(f"sample:{first}")
    assert made.figures.add(f"sample:{second}")
    made.session.figures.activate(first)
    made.run("workspace.retarget")
    made.tick(0.0)
    return made


@pytest.mark.parametrize("order", [("walk", "biped-hands"), ("biped-hands", "walk")])
def test_beside_a_motion_it_begins_whichever_figure_is_active(order: tuple[str, str]) -> None:
    made = both(*order)
    strings = made.retargeting
    assert (strings.source, strings.target) == ("walk", "biped-hands")
    assert made.figures.active == "biped-hands"
    assert shown(made).frames == 68
    assert strings.sources == ["walk"]
    assert strings.targets == ["biped-hands"]


def test_of_two_motions_either_can_be_the_source() -> None:
    made = both("walk", "walk")
    strings = made.retargeting
    assert (strings.source, strings.target) == ("walk 2", "walk")
    assert strings.targets == ["walk", "walk 2"]
    strings.choose_target("walk 2")
    assert (strings.source, strings.target) == ("walk", "walk 2")
    made.run("retarget.cancel")
    assert made.session.stage.names == ["walk", "walk 2"]
    assert made.session.history.index == 1  # only that the second figure was added


def test_a_figure_with_keys_alone_is_a_source() -> None:
    made = Controller(keyed([0, 20]))
    keys = made.figures.active
    assert made.figures.add("sample:biped-hands")
    made.run("workspace.retarget")
    made.tick(0.0)
    strings = made.retargeting
    assert (strings.source, strings.target, strings.problem) == (keys, "biped-hands", "")
    source = made.session.stage.documents[made.session.stage.index(keys)]
    assert shown(made).frames == source.frames
    for frame in (0, 7, 20):
        wanted, found = (
            viewer.fk(document.skeleton, frame_pose(document, frame)) for document in (source, shown(made))
        )
        bones = []
        for world, document in ((wanted, source), (found, shown(made))):
            elbow, shoulder = (document.skeleton.index(name) for name in ("LeftForeArm", "LeftArm"))
            bones.append(vectors.unit(world.positions[elbow] - world.positions[shoulder]))
        assert float(bones[0] @ bones[1]) > 0.999


def test_keys_on_a_clip_are_part_of_the_motion() -> None:
    made = both("walk", "biped-hands")
    before = clip_of(shown(made)).rotations
    made.run("retarget.cancel")
    made.session.figures.activate("walk")
    turn(made.session, "Head", np.array((0.0, 0.5, 0.0)))
    made.session.dispatch(act.KeyPose(0))
    made.session.figures.activate("biped-hands")
    made.run("workspace.retarget")
    made.tick(1.0)
    head = shown(made).skeleton.index("Head")
    after = clip_of(shown(made)).rotations
    assert angle_between(after[0, head], before[0, head]) == pytest.approx(0.5, abs=0.01)


def spans(made: Controller) -> list[tuple[float, float]]:
    """Least and largest pixel of both figures, left to right."""
    scene = made.scene()
    pixels = [made.projection().project(each.world.positions)[:, 0] for each in (scene, scene.others[0])]
    return [(float(x.min()), float(x.max())) for x in pixels]


def test_figures_that_would_hide_each_other_are_shown_side_by_side_and_both_stay_in_view() -> None:
    made = Controller(session("biped"))
    assert made.opening.show_file("sample:biped-hands")
    assert made.figures.add("sample:walk")
    made.session.figures.activate("biped-hands")
    made.camera_moves.look("right")
    made.tick(0.0)
    made.tick(1.0)
    own, other = spans(made)
    assert min(own[1], other[1]) > max(own[0], other[0])
    made.run("workspace.retarget")
    for now in range(2, 5):
        made.tick(float(now))
    own, other = spans(made)
    assert min(own[1], other[1]) < max(own[0], other[0])
    for frame in (20, 40, 67):
        made.playback.go(frame)
        made.tick(5.0 + frame)
        for least, largest in spans(made):
            assert least >= 0.0
            assert largest <= made.viewport.w


def test_the_status_line_says_what_is_to_be_checked() -> None:
    made = Controller(session("biped"))
    made.run("workspace.retarget")
    made.tick(0.0)
    assert made.status()[:4] == ("dot", "Retarget", "idle", "")
    assert made.opening.show_file("sample:biped")
    assert made.figures.add("sample:walk")
    made.session.figures.activate("biped")
    made.tick(1.0)
    line = made.status()
    assert (line.icon, line.state, line.tone) == ("check", "22 pairs", "ok")
    assert line.goals.startswith("feet slid 0.0 cm/s")
    strings = made.retargeting
    assert strings.map is not None
    strings.map = replace(strings.map, certainty={"Neck": 0.5})
    line = made.status()
    assert (line.icon, line.state, line.goals) == ("warn", "1 pair to check", "Neck to Neck")


def test_the_workspace_shows_pairs_and_neither_goals_nor_the_solver() -> None:
    window = PanelWindow(character("biped-hands"))
    controller = window.controller
    assert controller.figures.add("sample:walk")
    controller.session.figures.activate("biped-hands")
    controller.run("workspace.retarget")
    controller.tick(0.0)
    window.ui.layout.workspace = controller.view.workspace
    window.ui.regions = window.ui.layout.regions(window.size, 1.0)
    window.frames(3)
    shown = {line.panel for line in window.lines}
    assert "pairs" in shown
    assert not {"goals", "joints", "solver"} & shown
    words = window.words("pairs")
    assert words[words.index("Without partner") + 1] == "30 joints"
    assert words[words.index("Trunk") + 1] == "6 pairs"
    window.close()


def test_a_map_that_is_dropped_gives_the_pairs(folder: Path) -> None:
    made = controller(folder)
    strings, file = made.retargeting, folder / "mine.json"
    file.write_text('{"type": "map", "pairs": {"Head": null, "LeftHand": "LeftForeArm"}, "reference": {"source": 3}}')
    made.handle(Drop((file,)))
    assert strings.map is not None
    assert "Head" not in strings.map.pairs
    assert strings.map.pairs["LeftHand"] == "LeftForeArm"
    assert strings.settings.source_reference == 3
    assert made.session.history.labels == ("Add stride", "Motion stride")
    file.write_text('{"type": "map", "pairs": {"Nose": "Head"}}')
    made.handle(Drop((file,)))
    assert made.view.bar.messages[-1].text.startswith('mine.json: source: no joint "Nose"; there is "Hips"')
    assert strings.map.pairs["LeftHand"] == "LeftForeArm"
    made.run("retarget.cancel")
    made.handle(Drop((file,)))
    said = "mine.json pairs joints: open it in the workspace Retarget, beside the motion and the rig"
    assert made.view.bar.messages[-1].text == said


def test_a_file_that_is_nothing_to_add_is_refused_without_a_question(folder: Path) -> None:
    made = controller(folder)
    picture = folder / "a.png"
    picture.write_bytes(b"")
    made.handle(Drop((picture,)))
    message = made.view.bar.messages[-1]
    assert message.level == "error"
    assert 'found ".png"' in message.text
    assert len(made.session.stage.names) == 2


# Long motions


@pytest.fixture
def long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Controller:
    """A controller for which the walk counts as long."""
    monkeypatch.setattr(retargeting, "LONG", 2)
    return controller(folder)


def work_of(made: Controller) -> LongWork[Any]:
    return made.background.jobs["retargeting"].work


def labels(made: Controller) -> tuple[str, ...]:
    return made.session.history.labels


def made_to_the_end(made: Controller) -> None:
    work_of(made).wait()
    made.tick(2.0)
    assert not made.background.jobs


def test_a_long_motion_is_retargeted_while_the_window_goes_on(long: Controller, folder: Path) -> None:
    assert labels(long) == ("Add stride",)
    assert not long.can("retarget.apply")
    assert long.status().state == "Retargeting"
    made_to_the_end(long)
    assert labels(long) == ("Add stride", "Motion stride")
    assert long.can("retarget.apply")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retargeting, "LONG", 1_000)
        at_once = controller(folder)
    now, before = shown(long).clip_data, shown(at_once).clip_data
    assert now is not None
    assert before is not None
    np.testing.assert_array_equal(now.rotations, before.rotations)
    np.testing.assert_array_equal(now.translations, before.translations)


def test_escape_while_it_is_made_leaves_all_as_it_was(long: Controller) -> None:
    work = work_of(long)
    long.handle(Key("escape"))
    work.wait()
    long.tick(2.0)
    assert not long.retargeting.running
    assert long.checked("workspace.pose")
    assert shown(long).clip is None
    assert [*long.session.stage.names] == ["hero"]


def test_settings_and_figures_that_change_meanwhile_are_those_of_the_result(long: Controller) -> None:
    first = work_of(long)
    settings = long.retargeting.settings
    long.retargeting.change(replace(settings, choices=replace(settings.choices, in_place=True)))
    assert work_of(long) is not first
    long.session.dispatch(SetLength("LeftForeArm", 0.5))
    work = work_of(long)
    work.wait()
    long.tick(2.0)
    assert work_of(long) is not work  # again, on the longer arm
    made_to_the_end(long)
    clip = shown(long).clip_data
    assert clip is not None
    hips = (
        viewer.fk(shown(long).skeleton, clip.pose(60)).positions[0]
        - viewer.fk(shown(long).skeleton, clip.pose(0)).positions[0]
    )
    assert abs(hips[[0, 2]]).max() < 0.1


def test_the_card_of_a_long_motion_cancels_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retargeting, "LONG", 2)
    window = PanelWindow(character("biped"))
    assert window.controller.retargeting.open(folder / "stride.bvh")
    assert work_of(window.controller) is not None
    window.frames(3)
    assert {"Retargeting", "Cancel"} <= set(window.words("filming"))
    window.click("filming", "Cancel")
    assert not window.controller.background.jobs
    assert not window.controller.retargeting.running
    window.close()
