"""Takes in files: session files to the bit, exports that show what the window shows; and long clips."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.document import Blend, baked_character, baked_clip, frame_pose
from inside.document import actions as act
from inside.session import ONE_FIGURE, VERSION, load_session, save_session, session_bytes
from sessions import drag, session
from takes import apart, keyed, loose, take_of, turn

import viewer
from viewer import save
from viewer.document import Document, Item, new_document
from viewer.errors import FormatError
from viewer.session import Session
from viewer.skeleton import Clip, Pose

if TYPE_CHECKING:
    from pathlib import Path


def pinned() -> Session:
    """A session with keys, pins, frames solved between them, and a take put aside."""
    return Session(pinned_document())


@cache
def pinned_document() -> Document:
    made = session("walk")
    made.dispatch(act.KeyPose(joints=("LeftArm",)))
    made.dispatch(act.SetClip(None))
    made.dispatch(act.KeyPose())
    made.seek(20)
    root = made.document.skeleton.names[0]
    drag(made, Item("joint", root), made.document.pose.translations[0] + np.array([0.05, -0.1, 0.0]))
    made.commit()
    turn(made, "RightArm", (0.1, 0.2, 0.3))
    made.dispatch(act.KeyPose())
    made.dispatch(act.SetBlend(take_of(made.document).keys_at(0), Blend.LINEAR))
    made.dispatch(act.SetRange(3, 40))
    made.dispatch(act.SetAutoKey(on=True))
    assert take_of(made.document).solved
    assert made.document.put_aside
    return made.document


def again(document: Document, folder: Path) -> Document:
    save_session(document, folder / "a.ikv.json")
    return load_session(folder / "a.ikv.json")


@pytest.mark.parametrize("name", ["biped", "walk", "claw-arm"])
def test_a_take_comes_back_to_the_bit(name: str, tmp_path: Path) -> None:
    made = loose(name)
    for frame in (0, 5, 9):
        if made.document.frames:
            made.seek(frame)
        turn(made, made.document.skeleton.names[2], (0.1 * frame, 1.0 / 3.0, 0.01))
        made.dispatch(act.KeyPose(frame, joints=None if frame else made.document.skeleton.names[1:3]))
    loaded = again(made.document, tmp_path)
    assert loaded.same_as(made.document)
    for frame in range(made.document.frames):
        assert frame_pose(loaded, frame).same_as(frame_pose(made.document, frame))


def test_pins_solved_frames_and_takes_put_aside_come_back(tmp_path: Path) -> None:
    made = pinned()
    loaded = again(made.document, tmp_path)
    assert loaded.same_as(made.document)
    assert loaded.auto_key
    other = Session(loaded)
    other.dispatch(act.SetRange(0, 50))
    assert take_of(other.document).solved == take_of(loaded).solved  # kept, not solved again


def test_documents_differ_where_their_takes_do() -> None:
    document = pinned().document
    take = take_of(document)
    for changed in (
        replace(take, last=50),
        replace(take, pins={}),
        replace(take, solved=()),
        replace(take, tracks=take.tracks[1:]),
        replace(take, tracks=(replace(take.tracks[0], blends=2 - take.tracks[0].blends), *take.tracks[1:])),
        None,
    ):
        assert not replace(document, take=changed).same_as(document)
    assert not replace(document, put_aside=()).same_as(document)
    assert not replace(document, auto_key=False).same_as(document)


def test_files_from_before_there_were_takes_are_opened(tmp_path: Path) -> None:
    document = session().document
    tree = json.loads(session_bytes(document))
    for name in ("take", "put_aside", "auto_key"):
        tree["document"].pop(name, None)  # what is as it is by default is not written
    tree["version"] = 1
    (tmp_path / "old.ikv.json").write_text(json.dumps(tree))
    loaded = load_session(tmp_path / "old.ikv.json")
    assert loaded.same_as(document)
    assert loaded.take is None
    assert (ONE_FIGURE, VERSION) == (2, 3)


def _at(tree: Any, path: list[str | int], value: object) -> None:  # noqa: ANN401 - JSON
    for step in path[:-1]:
        tree = tree[step]
    tree[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["base"], "dance", "document.take.base: expected the name of a clip, found 'dance'"),
        (["last"], -1, "document.take: last frame: expected 0 to 999999, found -1"),
        (["first"], 41, "document.take: range: expected the first frame not after the last, found 41 to 40"),
        (["last"], 10**9, "document.take: expected frames from 0 to 999999, found 1000000000"),
        (["frame_time"], 0.0, "document.take: frame time: expected more than 0 seconds, found 0.0"),
        (["rest"], None, "document.take: take: expected a rest pose for keys that are on no clip"),
        (["tracks", 0, "frames"], [20, 0], "document.take.tracks[0]: track of joint "),
        (["tracks", 0, "blends"], [7, 0], "document.take.tracks[0]: track of joint "),
        (["tracks", 0, "joints"], [99], "document.take.tracks[0].joints: expected joints from 0 to 21, ascending"),
        (["tracks", 0, "rotations"], [], "document.take.tracks[0].rotations: expected an array of shape"),
        (["pins", 0, "frames"], [-4], "document.take.pins[0].frames: expected frames from 0 to 999999"),
        (["pins", 0, "pins", 0, "rotation"], [0, 0, 0, 0], "document.take.pins[0].pins[0]: rotation: expected a unit"),
        (["solved", 0, "joints"], [0], "document.take.solved[0].rotations: expected an array of shape (-1, 1, 4)"),
        (["solved", 0, "first"], -2, "document.take.solved[0]: expected finite numbers and frames from 0"),
    ],
)
def test_damaged_takes_are_refused_with_their_place(
    path: list[str | int], value: object, words: str, tmp_path: Path
) -> None:
    tree = json.loads(session_bytes(pinned().document))
    _at(tree["document"]["take"], path, value)
    file = tmp_path / "a.ikv.json"
    file.write_text(json.dumps(tree))
    with pytest.raises(FormatError) as raised:
        load_session(file)
    assert str(raised.value).startswith(f"{file}: {words}")


def test_a_frame_that_the_take_does_not_have_is_refused(tmp_path: Path) -> None:
    tree = json.loads(session_bytes(pinned().document))
    tree["document"]["frame"] = 41
    (tmp_path / "a.ikv.json").write_text(json.dumps(tree))
    with pytest.raises(FormatError, match=r"document\.frame: expected a frame from 0 to 40, found 41"):
        load_session(tmp_path / "a.ikv.json")


@pytest.mark.parametrize("name", ["biped", "walk"])
def test_a_baked_clip_is_what_is_shown_to_the_bit(name: str) -> None:
    made = keyed([0, 7, 13], name)
    if name == "biped":
        made.dispatch(act.SetLength("LeftArm", 0.4))
    clip = baked_clip(made.document)
    first, last = made.document.played
    assert len(clip) == last - first + 1
    assert clip.keys == (0, 7, 13)
    for frame in range(len(clip)):
        assert clip.pose(frame).same_as(frame_pose(made.document, first + frame))


def test_without_keys_the_baked_clip_is_the_clip_itself() -> None:
    made = session("walk")
    assert baked_clip(made.document) is made.document.clip_data
    made.dispatch(act.SetRange(2, 6))
    assert len(baked_clip(made.document)) == 5
    made.undo()
    made.dispatch(act.SetLength("LeftArm", 0.4))
    clip = baked_clip(made.document)
    assert all(clip.pose(frame).same_as(frame_pose(made.document, frame)) for frame in range(len(clip)))


@pytest.mark.parametrize("suffix", [".json", ".npz", ".bvh", ".glb"])
@pytest.mark.parametrize("name", ["biped", "walk"])
def test_files_show_what_was_keyed(name: str, suffix: str, tmp_path: Path) -> None:
    made = keyed([0, 7, 13], name)
    made.dispatch(act.SetRange(0, 15))
    character = baked_character(made.document)
    save(character, tmp_path / f"a{suffix}")
    units = character.source.metres_per_unit if suffix == ".bvh" else "auto"
    loaded = viewer.load(tmp_path / f"a{suffix}", units=units)
    assert loaded.clip is not None
    assert len(loaded.clip) == 16
    if suffix in (".json", ".npz"):
        assert loaded.clip.keys == (0, 7, 13)
    where = [loaded.skeleton.names.index(name) for name in character.skeleton.names]
    for frame in range(16):
        ours = viewer.fk(character.skeleton, frame_pose(made.document, frame))
        theirs = viewer.fk(loaded.skeleton, loaded.clip.pose(frame))
        np.testing.assert_allclose(theirs.positions[where], ours.positions, atol=2e-5)


def test_a_figure_without_motion_is_saved_without() -> None:
    document = session().document
    assert baked_character(document).clips == {}
    assert baked_character(document).skeleton is document.skeleton


def test_other_units_take_the_keys_along() -> None:
    made = pinned()
    source = made.document.character.source
    large = viewer.load("sample:walk", units=2.0 * source.metres_per_unit)
    before = made.document
    made.dispatch(act.SetUnits(character=large))
    for frame in range(21):
        pose = frame_pose(before, frame)
        exact = frame in (0, 20)  # between, two solves are as near to the pins
        assert apart(Pose(pose.rotations, 2.0 * pose.translations), frame_pose(made.document, frame)) < (
            1e-9 if exact else 0.02
        )
    assert take_of(made.document).solved
    for pin, other in zip(take_of(before).pins[0], take_of(made.document).pins[0], strict=True):
        assert other.position == pytest.approx(2.0 * np.array(pin.position))


def test_a_long_clip_is_neither_copied_nor_baked_to_show_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    character = viewer.load("sample:walk")
    assert character.clip is not None
    short = character.clip
    times = np.arange(20_000) % len(short)
    long = Clip(
        "long", short.frame_time, short.rotations[times], short.translated, short.translations[times], short.offsets
    )
    made = Session(new_document(replace(character, clips={"long": long})))
    made.dispatch(act.SetLimits(on=False))
    for frame in (100, 15_000):
        made.seek(frame)
        turn(made, "LeftArm", (0.0, 0.0, 0.5))
        made.dispatch(act.KeyPose())
    taken: list[int] = []
    whole = Clip.local_translations

    def watched(clip: Clip, frames: slice = slice(None)) -> object:
        taken.append(len(clip.rotations[frames]))
        return whole(clip, frames)

    monkeypatch.setattr(Clip, "local_translations", watched)
    for frame in (0, 99, 7_777, 19_999):
        made.seek(frame)
    assert taken
    assert max(taken) <= 32
    assert made.document.clip_data is long
    while made.undo():
        assert made.document.clip_data is long
