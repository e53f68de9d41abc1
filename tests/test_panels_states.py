"""Panels in every state of a document and a window: they draw, and nothing leaves its place."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from characters import every_kind, rig
from imgui_bundle import imgui
from inside.app import PANELS, explained, file_dialog
from inside.document import MoveTargets, RemoveEffector, Select, SetGoalKind, SetLimits, SetSolver, kinds_for
from inside.ui import Question
from panel_window import PanelWindow

import viewer
from viewer.document import Item
from viewer.ui import Message, help_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from viewer.skeleton import Character

STRANGE = ("###", "##x", "%s%d", "name with spaces " * 12, "手首", "\t", "a/b\\c", "🦴", "Ω", '"quoted"')


@contextmanager
def shown(character: Character, size: tuple[int, int] = (1280, 720), scale: float = 1.0) -> Iterator[PanelWindow]:
    window = PanelWindow(character, size, scale)
    try:
        yield window
    finally:
        window.close()


def chain(names: tuple[str, ...]) -> Character:
    joints = [
        {"name": name, "parent": names[index - 1] if index else None, "offset": [0, 0.1, 0]}
        for index, name in enumerate(names)
    ]
    return rig(*joints)


def names_of(window: PanelWindow, panel: str) -> list[str]:
    return [box.name for box in window.boxes if box.panel == panel]


@pytest.mark.parametrize("sample", ["walk", "biped-hands", "claw-arm", "piston", "chain-1000"])
def test_every_joint_and_effector_of_a_sample_can_be_inspected(sample: str) -> None:
    with shown(viewer.load(f"sample:{sample}")) as window:
        document = window.session.document
        joints = [Item("joint", name) for name in document.skeleton.names[:: max(1, len(document.skeleton) // 8)]]
        for item in [*joints, *(Item("effector", handle.effector) for handle in document.goals[:6])]:
            window.session.dispatch(Select((item,)))
            window.frames(2)
            assert names_of(window, "inspector")


def test_every_kind_of_joint() -> None:
    with shown(every_kind()) as window:
        skeleton = window.session.document.skeleton
        for name, kind in zip(skeleton.names, skeleton.kinds, strict=True):
            window.session.dispatch(Select((Item("joint", name),)))
            window.frames()
            words = " ".join(window.words("inspector"))
            assert f"· {kind.dofs} DOF" in words or "goal ·" in words, name


@pytest.mark.parametrize("kind", kinds_for(1))
def test_every_kind_of_goal(kind: str) -> None:
    with shown(viewer.load("sample:biped")) as window:
        name = window.session.document.goals[0].effector
        window.session.dispatch(Select((Item("effector", name),)))
        window.session.dispatch(SetGoalKind(name, kind))
        window.frames(3)
        assert "Hold here" in names_of(window, "inspector")


def test_strange_names() -> None:
    with shown(chain(STRANGE)) as window:
        for name in STRANGE:
            window.session.dispatch(Select((Item("joint", name),)))
            window.frames(2)
        window.click("skeleton", "joint ###")
        assert window.session.document.active == ("joint", "###")


def test_a_figure_without_effectors_is_told_how_to_get_one() -> None:
    with shown(viewer.load("sample:two-link")) as window:
        assert window.words("chips") == []
        for handle in window.session.document.goals:
            window.session.dispatch(RemoveEffector(handle.effector))
        window.frames()
        said = " ".join(window.words("chips"))
        assert said == "No effectors. Right-click a joint and choose Make effector, or drag any bone"


def test_words_in_the_menu_bar_and_the_status_line() -> None:
    with shown(viewer.load("sample:walk")) as window:
        assert window.words("menu") == [
            "Pose",
            "Animate",
            "Retarget",
            "Build",
            "Physics",
            "Lab",
            "22 joints · 69 DOF · 68 frames",
            "walk",
        ]
        window.session.dispatch(SetLimits(on=False))
        window.frames(2)
        assert "walk • modified" in window.words("menu")
        assert "Limits off" in window.words("status")
        assert window.words("chips") == ["Joint limits off", "press L to turn on"]


@pytest.mark.parametrize("width", [960, 1280])
def test_a_chain_that_was_made_shorter_is_said_however_long_the_line_is(width: int) -> None:
    with shown(viewer.load("sample:biped"), (width, 720)) as window:
        hand = Item("effector", "LeftHand")
        window.session.dispatch(SetLimits(on=False))
        controller = window.controller
        controller.session.dispatch(Select((hand,)))
        assert controller.run("grab.move")
        controller.session.gestures.drag_to({hand: ((3.0, 3.0, 0.0), None)})
        for tick in range(60):
            controller.tick(tick / 60.0)
        for _ in range(5):
            controller.run("drag.chain_shorter")
        length, most = window.session.gestures.chain
        assert 0 < length < most
        window.ui.notes = ["half resolution", "no shadow", "no ghosts", "and more that is to be said of the drawing"]
        window.frames(2)
        rect = window.ui.regions.rects[next(one.place for one in PANELS if one.id == "status")]
        found = [line for line in window.lines if line.panel == "status" and line.name == f"chain {length}"]
        assert len(found) == 1
        others = [line for line in window.lines if line.panel == "status" and line.left < found[0].left]
        assert max(line.right for line in others) < found[0].left
        assert found[0].right <= rect.x + rect.w


@pytest.mark.parametrize(("width", "scale"), [(960, 1.0), (1280, 1.0), (1920, 1.0), (1280, 1.25)])
def test_no_line_of_text_leaves_its_panel(width: int, scale: float) -> None:
    with shown(long_names(), (width, 720), scale) as window:
        name = window.session.document.skeleton.names[-1]
        window.session.dispatch(Select((Item("effector", name), Item("joint", name))))
        window.session.dispatch(MoveTargets({name: ((-123.456, 99.0, -50.0), (0.0, 0.0, 0.0, 1.0))}))
        window.session.dispatch(SetLimits(on=False))
        window.frames(4)
        places = {panel.id: panel.place for panel in PANELS}
        for line in window.lines:
            rect = window.ui.regions.rects.get(places[line.panel])
            if rect is not None:
                assert rect.x <= line.left, line
                assert line.right <= rect.x + rect.w + 1.0, line


def long_names() -> Character:
    return chain(tuple(f"Character01:TheVeryLongNameOfTheLeftHandIndexFinger{n}" for n in range(6)))


def test_a_thousand_joints_put_no_more_rows_up_than_are_seen() -> None:
    with shown(viewer.load("sample:chain-1000")) as window:
        assert len(names_of(window, "skeleton")) < 60
        window.session.dispatch(Select((Item("joint", window.session.document.skeleton.names[800]),)))
        window.frames(4)
        assert f"joint {window.session.document.skeleton.names[800]}" in names_of(window, "skeleton")


@pytest.mark.parametrize(("width", "scale"), [(1120, 1.0), (1280, 1.0), (2560, 2.0)])
def test_names_far_down_a_tree_are_whole(width: int, scale: float) -> None:
    with shown(viewer.load("sample:chain-1000"), (width, round(720 * scale)), scale) as window:
        names = window.session.document.skeleton.names
        for joint in (0, 12, 40, 999):
            window.session.dispatch(Select((Item("joint", names[joint]),)))
            window.frames(4)
            shown_names = [line for line in window.words("skeleton") if line != "Find joint"]
            assert names[joint] in shown_names
            assert set(shown_names) <= set(names)


def test_children_stand_to_the_right_of_their_parents() -> None:
    with shown(viewer.load("sample:biped"), (1920, 1200)) as window:
        left = {line.name: line.left for line in window.lines if line.panel == "skeleton"}
        skeleton = window.session.document.skeleton
        for joint, name in enumerate(skeleton.names):
            parent = int(skeleton.parents[joint])
            if name in left and parent >= 0:
                assert left[name] >= left[skeleton.names[parent]] + 8.0


def test_unreached_goals_and_limits_off() -> None:
    with shown(viewer.load("sample:biped")) as window:
        name = window.session.document.goals[0].effector
        window.session.dispatch(Select((Item("effector", name),)))
        window.session.dispatch(MoveTargets({name: ((9.0, 9.0, 9.0), None)}))
        window.frames(3)
        assert not window.session.errors[name].reached
        window.session.dispatch(SetLimits(on=False))
        window.frames(3)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("default", {"damping", "step", "rows 0"}),
        ("ccd", set()),
        ("sdls", {"step", "rows 0"}),
        ("two-link", {"bend 0"}),
    ],
)  # fmt: skip
def test_a_solver_shows_the_settings_that_it_takes(method: str, settings: set[str]) -> None:
    with shown(viewer.load("sample:two-link")) as window:
        window.session.dispatch(SetSolver(method=method))
        window.front("solver")
        window.frames(2)
        assert {"damping", "step", "rows 0", "bend 0"} & set(names_of(window, "solver")) == settings


@pytest.mark.parametrize(
    "command",
    ["help.keys", "file.open", "file.save_as", "file.export", "file.picture", "file.new", "window.preferences",
     "play.go_to"],
)  # fmt: skip
def test_dialogs_open_and_close_with_escape(command: str) -> None:
    with shown(viewer.load("sample:walk")) as window:
        window.controller.run(command)
        window.frames(4)
        assert window.popup
        for _ in range(3):  # the first may belong to the field that has the focus
            window.tap(imgui.Key.escape)
            window.frames(2)
        assert not window.popup


def test_questions_open_and_end_with_what_they_are_about() -> None:
    with shown(viewer.load("sample:walk")) as window:
        said: list[str] = []
        answers = {word: lambda word=word: said.append(word) for word in ("Yes", "Perhaps", "No")}
        there = [True]
        for key, after in ((imgui.Key.enter, ["Yes"]), (imgui.Key.escape, ["Yes", "No"])):
            window.controller.view.ask(Question("Is it so?", answers, stands=lambda: bool(there)))
            window.frames(4)
            opened = window.popup
            window.tap(key)
            window.frames(3)
            assert (opened, window.popup, said) == (True, False, after)
        window.controller.view.ask(Question("Is it so?", answers, stands=lambda: bool(there)))
        window.frames(4)
        there.clear()
        window.frames(3)
        assert not window.popup
        assert said == ["Yes", "No"]


def test_units_and_rate_are_applied_both_or_not_at_all() -> None:
    with shown(viewer.load("sample:walk")) as window:
        window.controller.view.request("units-dialog")
        window.frames(4)
        before, state = window.session.document, window.ui._memories["units"]["state"]
        state.units, state.rate = "cm", "0"
        window.frames(2)
        window.click("units", "Apply")
        assert window.session.document is before
        said = 'Frames a second: expected a number above 0, found "0"'
        assert window.controller.view.bar.messages[-1].text == said
        state.rate = "60"
        window.click("units", "Apply")
        assert not window.popup
        assert window.session.document.frame_time == pytest.approx(1.0 / 60.0)
        assert str(window.session.document.character.source.units) == "cm"


@pytest.mark.parametrize("item", [Item("joint", "LeftArm"), Item("effector", "LeftHand"), None])
def test_the_context_menu(item: Item | None) -> None:
    with shown(viewer.load("sample:walk")) as window:
        window.controller.view.request("context-menu", item, 400.0, 300.0)
        window.frames(3)
        assert window.popup


def test_messages_and_their_buttons() -> None:
    with shown(viewer.load("sample:biped")) as window:
        pressed: list[str] = []
        action = ("Copy", lambda: pressed.append("copied"))
        window.controller.view.post(Message('walk.bvh:412:17: expected a number, found "abc"', "error", (action,)))
        window.controller.view.post(Message("far " * 200))
        window.frames(3)
        window.click("messages", "Copy")
        assert pressed == ["copied"]
        window.click("messages", "close")
        assert window.controller.view.bar.messages == ()


@pytest.mark.parametrize(
    ("size", "scale"),
    [((960, 600), 1.0), ((1280, 720), 1.0), ((1920, 1080), 1.0), ((3840, 2160), 2.0), ((1600, 1000), 1.5)],
)
def test_nothing_leaves_its_panel_sideways(size: tuple[int, int], scale: float) -> None:
    with shown(viewer.load("sample:walk"), size, scale) as window:
        chosen = Item("effector", "RightHand"), Item("joint", "RightArm")
        window.session.dispatch(Select(chosen))
        window.session.dispatch(SetGoalKind("RightHand", "position+rotation"))
        window.frames(4)
        places = {panel.id: panel.place for panel in PANELS}
        for box in window.boxes:
            place = places.get(box.panel)
            if place is None or place not in window.ui.regions.rects:
                continue
            rect = window.ui.regions.rects[place]
            assert rect.x <= box.left, box
            assert box.right <= rect.x + rect.w + 1, box


def test_controls_of_a_panel_do_not_lie_on_each_other() -> None:
    with shown(viewer.load("sample:walk")) as window:
        window.session.dispatch(Select((Item("effector", "RightHand"), Item("joint", "RightArm"))))
        window.frames(4)
        for panel in ("toolbar", "inspector", "timeline", "goals"):
            boxes = [box for box in window.boxes if box.panel == panel]
            for index, a in enumerate(boxes):
                for b in boxes[index + 1 :]:
                    apart = a.right <= b.left or b.right <= a.left or a.bottom <= b.top or b.bottom <= a.top
                    assert apart, (a, b)


def test_a_value_that_changes_moves_nothing() -> None:
    with shown(viewer.load("sample:walk")) as window:
        window.session.dispatch(Select((Item("effector", "RightHand"), Item("joint", "RightArm"))))
        window.frames(3)
        before = [box for box in window.boxes if box.panel in {"inspector", "goals", "toolbar", "solver"}]
        window.session.dispatch(MoveTargets({"RightHand": ((-12.25, 1.0, 3.0), None)}))
        window.frames(3)
        after = [box for box in window.boxes if box.panel in {"inspector", "goals", "toolbar", "solver"}]
        assert after == before


def test_a_folder_lists_folders_first_and_only_what_fits(tmp_path: Path) -> None:
    (tmp_path / "zoo").mkdir()
    for name in ("b.bvh", "A.BVH", "c.txt", ".hidden.bvh"):
        (tmp_path / name).write_text("x")
    rows, problem = file_dialog.list_folder(tmp_path, (".bvh",))
    assert ([row.name for row in rows], problem) == (["zoo", "A.BVH", "b.bvh"], "")
    assert file_dialog.list_folder(tmp_path / "none", ())[1] == f"{tmp_path / 'none'}: No such file or directory"
    assert file_dialog.typed_path("zoo/x.bvh", tmp_path) == tmp_path / "zoo" / "x.bvh"


def test_a_file_is_opened_through_the_dialog(tmp_path: Path) -> None:
    with shown(viewer.load("sample:biped")) as window:
        walk = tmp_path / "my walk.bvh"
        viewer.save(viewer.load("sample:walk"), walk)
        window.controller.run("file.open")
        window.frames(3)
        state = window.ui._memories["files"]["state"]
        state.go(tmp_path)
        window.frames(2)
        window.double_click("files", "my walk.bvh")
        window.frames(2)
        assert window.controller.files.name == "my walk.bvh"
        assert not window.popup


def test_a_file_that_exists_is_replaced_only_when_asked_twice(tmp_path: Path) -> None:
    with shown(viewer.load("sample:biped")) as window:
        kept = tmp_path / "kept.ikv.json"
        kept.write_text("precious")
        window.controller.run("file.save_as")
        window.frames(3)
        state = window.ui._memories["files"]["state"]
        state.go(tmp_path)
        window.write("kept")  # the name has the keyboard, all of it selected
        assert state.name == "kept"
        assert kept.read_text() == "precious"
        window.click("files", "Replace")
        assert kept.read_text() != "precious"
        assert window.session.path == kept


def test_f1_closes_the_help_that_it_opened() -> None:
    with shown(viewer.load("sample:walk")) as window:
        window.controller.run("help.keys")
        window.frames(3)
        assert "Keyboard and mouse" in window.words("help")
        window.controller.run("help.keys")
        window.frames(3)
        assert not window.popup


def test_the_help_is_filtered_as_one_types() -> None:
    with shown(viewer.load("sample:walk")) as window:
        window.controller.run("help.keys")
        window.frames(3)
        imgui.get_io().add_input_characters_utf8("mirror")
        window.frames(3)
        assert "Mirror pose" in window.words("help")
        assert "Undo" not in window.words("help")


def test_the_tooltip_of_what_is_grey_says_why() -> None:
    with shown(viewer.load("sample:biped")) as window:
        lacks = window.controller.lacks
        assert explained("edit.redo", lacks("edit.redo")) == "Redo   Ctrl+Shift+Z\nThere is nothing to redo"
        window.session.dispatch(SetLimits(False))
        window.session.undo()
        assert explained("edit.redo", lacks("edit.redo"), "Redo Limits off") == "Redo Limits off   Ctrl+Shift+Z"


@pytest.mark.parametrize(
    ("size", "scale", "columns"), [((1280, 720), 1.0, 3), ((1600, 1000), 1.0, 4), ((1280, 720), 2.0, 1)]
)
def test_the_words_of_the_page_of_keys_are_in_columns(size: tuple[int, int], scale: float, columns: int) -> None:
    with shown(viewer.load("sample:biped"), size, scale) as window:
        window.controller.run("help.keys")
        window.frames(4)
        words = {row.words for rows in help_rows("simple").values() for row in rows}
        found = [line for line in window.lines if line.panel == "help" and line.name in words]
        assert len({line.left for line in found}) == columns
        assert len(found) > 0.9 * len(words)  # others are shortened


def test_the_field_of_find_stays_where_it_is() -> None:
    with shown(viewer.load("sample:biped")) as window:
        window.controller.run("find.all")
        window.frames(4)
        counts, tops = [], set()
        for typed in ("", "p", "l", "ant"):
            imgui.get_io().add_input_characters_utf8(typed)
            window.frames(4)
            found = [box for box in window.boxes if box.name.startswith("found ")]
            counts.append(len(found))
            tops.add(min(box.top for box in found))
        assert counts[0] > counts[-1]
        assert len(tops) == 1


def test_an_empty_skeleton_has_no_joints_in_lists() -> None:
    with shown(viewer.load("sample:biped")) as window:
        window.controller.run("file.new_skeleton")
        window.frames(4)
        assert not [name for name in names_of(window, "skeleton") if name.startswith("joint ")]
        window.controller.run("find.all")
        window.frames(4)
        assert not [name for name in names_of(window, "find") if name.startswith("found ")]


@pytest.mark.parametrize("width", [800, 960, 1100, 1280])
def test_the_list_of_solvers_goes_before_those_of_what_is_shown(width: int) -> None:
    with shown(viewer.load("sample:biped"), (width, 600)) as window:
        names = names_of(window, "toolbar")
        assert "solver" in names
        assert width == 800 or "show" in names
