"""A session opens whatever became of its motion file, and what can be done about that file is offered."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import ran
from inside.app import AutosaveService, Layout, recoveries
from inside.document import actions as act, frame_pose
from inside.session import MotionError, load_session, open_session, save_session, stored_characters as stored
from inside.spatial import exp, multiply
from panel_window import PanelWindow

import viewer
from viewer.document import new_document
from viewer.session import Session
from viewer.ui import Controller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from viewer.document import Document

SAVED = Path(__file__).parent / "saved"
"""A session and a recovery file of an older program, which named their motion and did not carry it, and that motion."""


def turned(made: Session, joint: str, by: float) -> None:
    rotation = made.document.pose.rotations[made.document.skeleton.index(joint)]
    made.dispatch(act.TurnJoint(joint, multiply(rotation, exp([0.0, 0.0, by]))))


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    """The walk as somebody's file."""
    path = tmp_path / "walk.bvh"
    viewer.save(viewer.load("sample:walk"), path)
    return path


@pytest.fixture
def work(walk: Path) -> tuple[Path, Document]:
    """A session on it, with a key and a pose that is not keyed."""
    made = Session(new_document(viewer.load(walk, units="cm")))
    made.seek(20)
    turned(made, "LeftArm", 0.5)
    made.dispatch(act.KeyPose(20))
    turned(made, "RightArm", -0.5)
    save_session(made.document, walk.parent / "work.ikv.json")
    return walk.parent / "work.ikv.json", made.document


def exported_over(path: Path) -> None:
    controller = Controller(Session(new_document(viewer.load(path, units="cm"))))
    turned(controller.session, "Hips", 1.0)
    assert controller.files.export_to(path)


def resampled(path: Path) -> None:
    read = viewer.load(path, units="cm")
    assert read.clip is not None
    viewer.save(viewer.Character(read.skeleton, {"walk": read.clip.resampled(20.0)}, read.source), path)


def edited(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"0.1", b"0.2", 1))


def moved(path: Path) -> None:
    (path.parent / "elsewhere").mkdir()
    path.rename(path.parent / "elsewhere" / path.name)


def ruined(path: Path) -> None:
    path.write_bytes(b"\0" * 100)


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


CHANGED, MISSING = "has changed since this was saved", "is missing: expected it as"
FATES: list[tuple[Callable[[Path], object], str]] = [
    (exported_over, CHANGED),
    (resampled, CHANGED),
    (edited, CHANGED),
    (ruined, CHANGED),
    (moved, MISSING),
    (Path.unlink, MISSING),
    (replaced_by_a_folder, MISSING),
]


@pytest.mark.parametrize(("befalls", "words"), FATES)
def test_a_session_opens_whatever_became_of_its_motion(
    befalls: Callable[[Path], object], words: str, walk: Path, work: tuple[Path, Document]
) -> None:
    path, document = work
    assert open_session(path).motion is None
    befalls(walk)
    opened = open_session(path)
    assert opened.document.same_as(document)
    assert opened.motion is not None
    assert opened.motion.words.startswith(f'the motion file "walk.bvh" {words}')


def test_a_motion_file_without_permission_is_said(walk: Path, work: tuple[Path, Document]) -> None:
    walk.unlink()
    walk.symlink_to(walk)  # a circle, for everybody, root included
    opened = open_session(work[0])
    assert opened.document.same_as(work[1])
    assert opened.motion is not None


def test_session_and_motion_move_together(walk: Path, work: tuple[Path, Document], tmp_path: Path) -> None:
    there = tmp_path / "other" / "motion"
    there.mkdir(parents=True)
    walk.rename(there / "walk.bvh")
    made = Session(load_session(work[0]))
    made.dispatch(act.UseMotion(viewer.load(there / "walk.bvh", units="cm")))
    path = tmp_path / "other" / "sessions" / "work.ikv.json"
    path.parent.mkdir()
    save_session(made.document, path)
    (tmp_path / "other").rename(tmp_path / "moved")
    opened = open_session(tmp_path / "moved" / "sessions" / "work.ikv.json")
    assert opened.motion is None
    assert opened.document.character.source.path == str(tmp_path / "moved" / "motion" / "walk.bvh")


def test_the_way_from_the_session_comes_before_the_absolute_one(walk: Path, work: tuple[Path, Document]) -> None:
    copied = walk.parent / "copy"
    copied.mkdir()
    shutil.copy(walk, copied)
    shutil.copy(work[0], copied)
    opened = open_session(copied / "work.ikv.json")
    assert opened.document.character.source.path == str(copied / "walk.bvh")
    (copied / "walk.bvh").write_bytes(b"x")
    assert open_session(copied / "work.ikv.json").motion is None  # the one that it was saved with is still there


@pytest.mark.parametrize("name", ["info", "check", "fk"])
def test_commands_say_it_in_a_line_and_work(
    name: str, walk: Path, work: tuple[Path, Document], capsys: pytest.CaptureFixture[str]
) -> None:
    path = work[0]
    exported_over(walk)
    done = ran(capsys, name, path)
    said = f'the motion file "walk.bvh" {CHANGED}; the session\'s own copy is used'
    assert (done.code, done.err) == (0, f"warning: {path}: {said}\n")


# Files of an older program


@pytest.fixture
def old(tmp_path: Path) -> Path:
    for name in ("arm.bvh", "arm.ikv.json"):
        shutil.copy(SAVED / name, tmp_path)
    return tmp_path / "arm.ikv.json"


def test_an_old_session_opens_with_its_motion_beside_it(old: Path) -> None:
    opened = open_session(old)
    assert opened.motion is None
    assert opened.document.character.source.path == str(old.parent / "arm.bvh")
    take = opened.document.take
    assert take is not None
    assert (take.frames, opened.document.frame, opened.document.frames) == ((2,), 4, 6)
    assert saved_again(opened.document, old).same_as(opened.document)


def saved_again(document: Document, path: Path) -> Document:
    save_session(document, path)
    return load_session(path)


def test_an_old_session_without_its_motion_shows_its_pose_and_keys(old: Path) -> None:
    whole = load_session(old)
    (old.parent / "arm.bvh").rename(old.parent / "moved.bvh")
    with pytest.raises(MotionError) as raised:
        open_session(old)
    said = 'the motion file "arm.bvh" is missing: expected it as /home/ann/motion/arm.bvh or beside this file'
    assert str(raised.value) == f"{old}: document.character.clips: {said}"
    bare = open_session(old, motion=False)
    assert bare.motion is not None
    document = bare.document
    assert document.pose.same_as(whole.pose)
    assert document.take is not None
    assert whole.take is not None
    assert document.take.same_as(whole.take)
    # The key turns the joint of the figure at rest as it turned that of the motion.
    rest, played = document.skeleton.rest_pose(), frame_pose(document, 2)
    key = document.take.tracks[1].rotations[0]
    np.testing.assert_allclose(played.rotations[1], multiply(rest.rotations[1], key), atol=1e-15)
    # The motion found again gives all of it back.
    made = Session(document)
    made.dispatch(act.UseMotion(viewer.load(old.parent / "moved.bvh", units=1.0, up="y")))
    assert made.document.pose.same_as(whole.pose)
    assert frame_pose(made.document, 2).same_as(frame_pose(whole, 2))
    made.undo()
    assert made.document is document


def test_the_command_says_what_opens_an_old_session(old: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (old.parent / "arm.bvh").unlink()
    done = ran(capsys, "info", old)
    assert done.code == 1
    assert done.err.endswith(f"or beside this file; the window opens the session without it: ikviewer view {old}\n")
    assert done.err.count("\n") == 1
    assert ran(capsys, "view", old, "--window", "headless").code == 1


def test_what_would_stand_still_for_too_long_is_refused(old: Path) -> None:
    (old.parent / "arm.bvh").unlink()
    tree: dict[str, Any] = json.loads(old.read_bytes())
    tree["document"]["take"]["last"] = 10**15
    old.write_text(json.dumps(tree), encoding="utf-8")
    with pytest.raises(viewer.FormatError, match="the motion is too long to be opened without its file"):
        open_session(old, motion=False)


# Another motion


def other(folder: Path, name: str, clips: dict[str, viewer.Clip]) -> viewer.Character:
    read = viewer.load(SAVED / "arm.bvh", units="m", up="y")
    viewer.save(viewer.Character(read.skeleton, clips, read.source), folder / name)
    return viewer.load(folder / name)


def arm() -> viewer.Clip:
    clip = viewer.load(SAVED / "arm.bvh", units="m", up="y").clip
    assert clip is not None
    return clip


def test_a_shorter_motion_keeps_the_keys_and_is_drawn_out_to_the_last(old: Path, tmp_path: Path) -> None:
    made = Session(load_session(old))
    made.dispatch(act.UseMotion(other(tmp_path, "short.json", {"other name": arm().frames(0, 1)})))
    document = made.document
    assert list(document.character.clips) == ["arm"]
    assert document.take is not None
    assert (document.frames, document.frame, document.take.frames, document.played) == (3, 2, (2,), (0, 2))
    clip = document.clip_data
    assert clip is not None
    assert np.array_equal(clip.rotations[2], clip.rotations[1])
    assert saved_again(document, old).same_as(document)


def test_a_frame_that_is_shown_is_shown_of_the_new_motion(old: Path, tmp_path: Path) -> None:
    made = Session(load_session(old))
    made.seek(5)
    made.dispatch(act.UseMotion(other(tmp_path, "back.json", {"arm": arm().frames(0, 2)})))
    assert made.document.frame == 2
    assert made.document.pose.same_as(frame_pose(made.document, 2))


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("sample:walk", "sample:walk: expected motion of the 3 joints of this figure, found 22"),
        ("sample:two-link", "sample:two-link: expected motion, found a skeleton without frames"),
    ],
)
def test_a_motion_that_does_not_fit_is_refused(file: str, words: str, old: Path) -> None:
    made = Session(load_session(old))
    before = made.document
    with pytest.raises(viewer.InputError) as raised:
        made.dispatch(act.UseMotion(viewer.load(file)))
    assert str(raised.value) == words
    assert made.document is before


# Very long ones


def test_a_motion_too_large_to_be_carried_stays_in_its_file(
    walk: Path, work: tuple[Path, Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, document = work
    monkeypatch.setattr(stored, "LARGEST_CARRIED", 1000)
    save_session(document, path)
    assert path.stat().st_size < 20_000
    assert load_session(path).same_as(document)
    walk.unlink()
    with pytest.raises(MotionError):
        load_session(path)
    save_session(document, path)  # it is nowhere else: it is written out, however large
    assert load_session(path).same_as(document)


# In the window


@pytest.fixture
def window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PanelWindow]:
    monkeypatch.chdir(tmp_path)
    made = PanelWindow(viewer.load("sample:two-link"))
    yield made
    made.close()


def offered(controller: Controller) -> list[str]:
    return [words for words, _ in controller.view.bar.messages[-1].actions]


def test_the_window_shows_the_copy_and_offers_the_changed_file(walk: Path, work: tuple[Path, Document]) -> None:
    path, document = work
    exported_over(walk)
    controller = Controller(Session(new_document(viewer.load("sample:two-link"))))
    assert controller.opening.show_file(path)
    session, message = controller.session, controller.view.bar.messages[-1]
    assert session.document.same_as(document)
    assert (session.path, session.modified) == (path, False)
    assert message.text == f"walk.bvh {CHANGED}: the session's own copy is shown"
    assert offered(controller) == ["Locate…", "Use the changed file"]
    controller.view.bar.choose(message, 1)
    clip, now = session.document.clip_data, viewer.load(walk, units="cm").clip
    assert clip is not None
    assert now is not None
    assert len(now) == 1, "the pose was exported: what is written can be less than what was there"
    assert np.array_equal(clip.rotations, np.repeat(now.rotations, 21, axis=0))
    assert session.modified
    session.undo()
    assert session.document.same_as(document)


def test_a_missing_file_can_be_located(walk: Path, work: tuple[Path, Document], window: PanelWindow) -> None:
    path, document = work
    moved(walk)
    assert window.controller.opening.show_file(path)
    assert offered(window.controller) == ["Locate…"]
    window.controller.view.bar.choose(window.controller.view.bar.messages[-1], 0)
    window.frames(4)
    state = window.ui._memories["files"]["state"]
    assert (state.asked.title, state.folder) == ("Locate walk.bvh", path.parent)
    state.asked.done(walk.parent / "elsewhere" / "walk.bvh")
    assert window.session.document.take is not None
    assert window.session.document.character.source.path == str(walk.parent / "elsewhere" / "walk.bvh")
    assert window.session.document.pose.same_as(document.pose)


def ask(window: PanelWindow, old: Path) -> None:
    assert not window.controller.opening.show_file(old)
    window.frames(4)
    assert window.popup


def texts(window: PanelWindow) -> list[str]:
    return [message.text for message in window.controller.view.bar.messages]


def test_what_to_do_about_an_old_session_is_asked(old: Path, window: PanelWindow) -> None:
    before = window.session.document
    (old.parent / "arm.bvh").rename(old.parent / "moved.bvh")
    ask(window, old)
    assert "The motion of arm.ikv.json" in window.words("questions")
    window.click("questions", "Cancel")
    assert not window.popup
    assert window.session.document is before

    ask(window, old)
    window.click("questions", "Open without motion")
    assert window.session.document.frames == 6
    assert window.session.path != old, "saving must not write over the session that names the motion"
    assert texts(window) == ["arm.bvh is missing: the figure stands still, its keys are kept"]

    ask(window, old)
    window.click("questions", "Locate…")
    window.frames(4)
    window.ui._memories["files"]["state"].asked.done(old.parent / "moved.bvh")
    assert window.session.path == old
    assert window.session.document.take is not None
    assert window.session.modified


def test_a_changed_file_can_be_used_for_an_old_session(old: Path, window: PanelWindow) -> None:
    whole = load_session(old)
    motion = old.parent / "arm.bvh"
    motion.write_text(motion.read_text(encoding="utf-8").replace("0 1 0 ", "0 2 0 "), encoding="utf-8")
    ask(window, old)
    window.click("questions", "Use the changed file")
    document = window.session.document
    assert window.session.path == old
    assert document.pose.same_as(whole.pose)
    assert frame_pose(document, 2).translations[0].tolist() == [0.0, 2.0, 0.0]
    assert np.array_equal(frame_pose(document, 2).rotations, frame_pose(whole, 2).rotations)


def test_a_changed_file_that_does_not_fit_leaves_what_is_shown(old: Path, window: PanelWindow) -> None:
    before = window.session.document
    (old.parent / "arm.bvh").write_text("nonsense", encoding="utf-8")
    ask(window, old)
    window.click("questions", "Use the changed file")
    assert window.session.document is before
    assert "arm.bvh" in texts(window)[0]


def test_exporting_over_the_open_file_is_asked_in_its_own_words(walk: Path, work: tuple[Path, Document]) -> None:
    path = work[0]
    controller = Controller(Session(load_session(path), path))
    own, strange = controller.files.replaces(walk), controller.files.replaces(path)
    assert own == "walk.bvh is the file that this figure was opened from; its content will be lost. Replace it?"
    assert strange == "work.ikv.json exists. Replace it?"


# Recovery


def test_an_old_recovery_file_opens_without_its_motion_and_stays(tmp_path: Path) -> None:
    shutil.copy(SAVED / "left.ikv.json", tmp_path)
    controller = Controller(Session(new_document(viewer.load("sample:two-link"))))
    keeper = AutosaveService(controller, Layout(), tmp_path, tmp_path / "preferences.json")
    keeper.offer()
    controller.view.bar.choose(controller.view.bar.messages[0], 0)
    assert controller.session.document.frames == 6
    assert controller.session.modified
    assert controller.view.bar.messages[-1].text == "arm.bvh is missing: the figure stands still, its keys are kept"
    assert len(recoveries(tmp_path)) == 1, "the only place that knows the motion"
