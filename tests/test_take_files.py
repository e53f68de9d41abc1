"""Takes in files: session files to the bit, exports that show what the window shows; and long clips.

Ways between keys: exact at keys, short, finite, and smooth where they are to be.

Pins between keys: the frames between two keys that hold the same pin are solved once, and kept.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.document import (
    BLENDS,
    CODES,
    Blend,
    Key,
    Track,
    actions as act,
    baked_character,
    baked_clip,
    fade_frames,
    frame_pose,
    layered,
    motion_of,
    sampled,
)
from inside.session import ONE_FIGURE, VERSION, load_session, save_session, session_bytes
from inside.spatial import IDENTITY, angle_between, conjugate, exp, log, multiply, normalized, slerp
from sessions import FOOT, HAND, drag, place, session, target_of
from strategies import quickly, random_quaternions, seeds
from takes import apart, keyed, loose, take_of, turn

import viewer
from viewer import InputError, save
from viewer.document import Document, Item, new_document, stand_of
from viewer.errors import FormatError
from viewer.session import Session
from viewer.skeleton import Clip, Pose

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats


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
        (["last"], -1, "document.take: last frame: expected a whole number, 0 to 999999, found -1"),
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


def track(seed: int, keys: int, blend: Blend, *, near: float = 1.5) -> Track:
    """Keys of any rotations within ``near`` radians of their neighbours, of either sign, at any frames."""
    random = np.random.default_rng(seed)
    frames = np.cumsum(random.integers(1, 12, size=keys)) + 3
    rotations = [random_quaternions(random)]
    while len(rotations) < keys:
        step = random.normal(size=3)
        step *= random.uniform(0.0, near) / np.linalg.norm(step)
        rotations.append(multiply(rotations[-1], exp(step)) * random.choice([-1.0, 1.0]))
    return Track(0, frames, normalized(np.array(rotations)), random.normal(size=(keys, 3)), np.full(keys, CODES[blend]))


def at(one: Track, first: int, count: int, *, fade: int = 0) -> tuple[Floats, Floats]:
    """Rotations (F, 4) and translations (F, 3)."""
    (found,) = sampled([one], first, count, fade=fade)
    assert found.translations is not None
    return found.rotations[0], found.translations[0]


def finely(one: Track, times: int = 1000) -> Track:
    """The same curve with so many frames for each."""
    return Track(0, one.frames * times, one.rotations, one.translations, one.blends)


blends = st.sampled_from(BLENDS)


@given(seed=seeds, keys=st.integers(1, 6), blend=blends, fade=st.sampled_from([0, 10, 40]))
def test_keys_are_shown_to_the_bit(seed: int, keys: int, blend: Blend, fade: int) -> None:
    one = track(seed, keys, blend, near=math.pi)
    assert one.translations is not None
    for number, frame in enumerate(one.frames.tolist()):
        rotations, translations = at(one, frame, 1, fade=fade)
        np.testing.assert_array_equal(rotations[0], one.rotations[number])
        np.testing.assert_array_equal(translations[0], one.translations[number])


@given(seed=seeds, keys=st.integers(1, 6), blend=blends, fade=st.sampled_from([0, 10, 40]))
def test_everything_between_is_a_rotation(seed: int, keys: int, blend: Blend, fade: int) -> None:
    one = track(seed, keys, blend, near=math.pi)
    rotations, translations = at(one, 0, 100, fade=fade)
    np.testing.assert_allclose(np.linalg.norm(rotations, axis=-1), 1.0, atol=1e-12)
    assert np.isfinite(translations).all()


@pytest.mark.parametrize("blend", BLENDS)
@pytest.mark.parametrize("away", [0.0, 1e-17, 1e-9, 1e-7])
def test_half_turns_and_opposite_signs_are_no_harm(blend: Blend, away: float) -> None:
    q = exp(np.array([0.3, -0.2, 0.9]))
    keys = [q, -q, multiply(q, exp(np.array([math.pi - away, 0.0, 0.0]))), multiply(q, exp(np.array([0, away, 0]))), q]
    one = Track(0, np.array([0, 7, 14, 30, 31]), np.array(keys), np.zeros((5, 3)), np.full(5, CODES[blend]))
    rotations, _ = at(one, 0, 40)
    np.testing.assert_allclose(np.linalg.norm(rotations, axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(angle_between(rotations[:7], q), 0.0, atol=1e-7)  # q and -q are the same rotation


@given(seed=seeds, blend=blends)
def test_the_sign_of_a_key_does_not_matter(seed: int, blend: Blend) -> None:
    one = track(seed, 5, blend)
    flipped = Track(0, one.frames, one.rotations * np.array([1, -1, -1, 1, -1])[:, None], one.translations, one.blends)
    a, b = at(one, 0, 70)[0], at(flipped, 0, 70)[0]
    assert angle_between(a, b).max() < 1e-7


def test_steps_stay_and_straight_ways_are_even() -> None:
    a, b = exp(np.array([0.0, 0.0, 0.2])), exp(np.array([0.0, 0.0, 1.2]))
    places = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    step, line = (
        Track(0, np.array([10, 20]), np.array([a, b]), places, np.full(2, CODES[blend]))
        for blend in (Blend.STEP, Blend.LINEAR)
    )
    rotations, translations = at(step, 0, 31)
    np.testing.assert_array_equal(rotations[:20], np.broadcast_to(a, (20, 4)))
    np.testing.assert_array_equal(rotations[20:], np.broadcast_to(b, (11, 4)))
    np.testing.assert_array_equal(translations[:20], 0.0)
    rotations, translations = at(line, 10, 11)
    part = np.arange(11) / 10
    np.testing.assert_allclose(log(rotations)[:, 2], 0.2 + part, atol=1e-12)
    np.testing.assert_allclose(translations, part[:, None] * places[1], atol=1e-12)


@given(seed=seeds, keys=st.integers(2, 5), blend=blends)
def test_equal_keys_give_a_still_body(seed: int, keys: int, blend: Blend) -> None:
    one = track(seed, keys, blend)
    assert one.translations is not None
    still = Track(0, one.frames, one.rotations[[0] * keys], one.translations[[0] * keys], one.blends)
    rotations, translations = at(still, 0, 80)
    assert angle_between(rotations, one.rotations[0]).max() < 1e-7
    np.testing.assert_allclose(translations, np.broadcast_to(one.translations[0], (80, 3)), atol=1e-12)


@given(seed=seeds)
@quickly
def test_smooth_ways_have_one_velocity_on_both_sides_of_a_key(seed: int) -> None:
    one = finely(track(seed, 5, Blend.SMOOTH, near=3.0))
    for frame in one.frames.tolist():
        (before, key, after), places = (values for values in at(one, frame - 1, 3))
        left = 1000 * log(multiply(conjugate(before), key))
        right = 1000 * log(multiply(conjugate(key), after))
        np.testing.assert_allclose(left, right, atol=0.05)
        np.testing.assert_allclose(1000 * (places[1] - places[0]), 1000 * (places[2] - places[1]), atol=0.05)


def test_smooth_is_not_straight() -> None:
    turns = exp(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.5]]))
    one = Track(0, np.array([0, 10, 20]), turns, None, np.full(3, CODES[Blend.SMOOTH]))
    (found,) = sampled([one], 0, 21, fade=0)
    angles = log(found.rotations[0])[:, 2]
    assert angles[1] < 0.05  # it sets off slowly: before the first key it stood still
    assert angles[9] < 0.95
    assert angles[9] > 0.9


@given(seed=seeds, keys=st.integers(3, 7))
def test_a_hinge_never_turns_beyond_its_keys(seed: int, keys: int) -> None:
    random = np.random.default_rng(seed)
    angles = random.uniform(0.0, 2.4, size=keys)
    angles[random.integers(keys)] = 0.0
    frames = np.cumsum(random.integers(1, 20, size=keys))
    turns = exp(angles[:, None] * np.array([1.0, 0.0, 0.0]))
    places = np.stack([angles, -angles, 0.0 * angles], axis=-1)
    one = Track(0, frames, turns, places, np.full(keys, CODES[Blend.SMOOTH]))
    for start, end, low, high in zip(frames[:-1], frames[1:], angles[:-1], angles[1:], strict=True):
        rotations, moved = at(one, int(start), int(end - start) + 1)
        for values in (log(rotations)[:, 0], moved[:, 0], -moved[:, 1]):
            assert values.min() >= min(low, high) - 1e-9
            assert values.max() <= max(low, high) + 1e-9


@given(seed=seeds)
@quickly
def test_a_smooth_way_never_leads_round_the_other_side(seed: int) -> None:
    one = finely(track(seed, 5, Blend.SMOOTH, near=3.1), 20)
    rotations, _ = at(one, int(one.frames[0]), int(one.frames[-1] - one.frames[0]))
    steps = angle_between(rotations[1:], rotations[:-1])
    assert steps.max() < 0.6


@given(seed=seeds, keys=st.integers(1, 5), blend=blends, fade=st.integers(10, 50))
def test_what_is_added_to_a_clip_fades_to_just_nothing(seed: int, keys: int, blend: Blend, fade: int) -> None:
    one = track(seed, keys, blend)
    low, high = int(one.frames[0]), int(one.frames[-1])
    for first in (low - fade - 3, high + fade):
        rotations, translations = at(one, first, 4, fade=fade)
        np.testing.assert_array_equal(rotations, np.broadcast_to(IDENTITY, (4, 4)))
        np.testing.assert_array_equal(translations, 0.0)
    rotations, _ = at(one, low - fade, fade + 1, fade=fade)
    if blend is Blend.LINEAR:
        part = np.arange(fade + 1) / fade
        assert angle_between(rotations, slerp(IDENTITY, one.rotations[0], part)).max() < 1e-7


@pytest.mark.parametrize(("rate", "frames"), [(24.0, 10), (30.0, 10), (60.0, 20), (120.0, 40), (5.0, 10)])
def test_it_fades_within_a_third_of_a_second_and_ten_frames_at_least(rate: float, frames: int) -> None:
    assert fade_frames(1.0 / rate) == frames


@given(seed=seeds, blend=blends, first=st.integers(0, 60), count=st.integers(1, 40))
def test_any_window_shows_the_same(seed: int, blend: Blend, first: int, count: int) -> None:
    one = track(seed, 6, blend)
    whole, part = at(one, 0, 100), at(one, first, count)
    for a, b in zip(whole, part, strict=True):
        np.testing.assert_allclose(a[first : first + count], b, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"frames": [3, 3]}, "track of joint 4: expected frames from 0 in ascending order"),
        ({"frames": [-1, 3]}, "track of joint 4: expected frames from 0 in ascending order"),
        ({"frames": []}, "track of joint 4: expected frames from 0 in ascending order"),
        ({"blends": [0, 3]}, "track of joint 4: expected one blend from 0 to 2 for each key"),
        ({"blends": [0]}, "track of joint 4: expected one blend from 0 to 2 for each key"),
        ({"rotations": [[0, 0, 0, 1], [0, 0, 0, 2]]}, "track of joint 4: rotations: expected a unit quaternion"),
        ({"rotations": [[0, 0, 0, 1]]}, r"track of joint 4: rotations: expected shape \(2, 4\), found \(1, 4\)"),
        (
            {"translations": [[0, 0, math.nan]] * 2},
            "track of joint 4: translations: expected finite numbers, found nan",
        ),
    ],
)
def test_tracks_that_are_none_are_refused(changes: dict[str, object], words: str) -> None:
    good: dict[str, object] = {
        "frames": [0, 5], "rotations": [[0, 0, 0, 1]] * 2, "translations": None, "blends": [0, 2],
    }  # fmt: skip
    with pytest.raises(InputError, match=words):
        Track(4, **(good | changes))  # type: ignore[arg-type]


FEET = ("LeftFoot", "RightFoot")


def hips(made: Session) -> Item:
    return Item("joint", made.document.skeleton.names[0])


def crouch(made: Session, way: tuple[float, float, float]) -> None:
    """Move the pelvis; the feet are pinned."""
    drag(made, hips(made), made.document.pose.translations[0] + np.array(way))
    made.commit()


def crouched(*ways: tuple[float, float, float], apart: int = 20) -> Session:
    """Keys every so many frames, the pelvis moved from one to the next, feet pinned all the time."""
    made = session()
    made.dispatch(act.KeyPose())
    for number, way in enumerate(ways, 1):
        made.seek(apart * number)
        crouch(made, way)
        made.dispatch(act.KeyPose())
    return made


def slip(document: Document, pose: Pose, effector: str) -> float:
    """Metres that an effector is off its pin."""
    handle = document.goal(effector)
    assert handle.position is not None
    return float(np.linalg.norm(stand_of(document.with_pose(pose), handle).point - np.array(handle.position)))


def blended(document: Document, frame: int) -> Pose:
    """A frame as the keys alone have it."""
    frames = layered(motion_of(document), frame, 1)
    return Pose(frames.rotations[0], frames.translations[0])


DOWN, SIDE = (0.05, -0.25, 0.05), (-0.1, 0.15, 0.0)


@pytest.mark.parametrize("blend", Blend)
def test_pinned_feet_stay_between_keys(blend: Blend) -> None:
    made = crouched(DOWN, SIDE)
    made.dispatch(act.SetBlend(None, blend))
    document = made.document
    for frame in range(41):
        for foot in FEET:
            assert slip(document, frame_pose(document, frame), foot) < 1e-3
    slipped = max(slip(document, blended(document, frame), foot) for frame in range(41) for foot in FEET)
    assert slipped > 0.02 or blend is Blend.STEP  # else there was nothing to solve
    np.testing.assert_array_equal(frame_pose(document, 10).translations[0], blended(document, 10).translations[0])


def test_frames_are_smooth_up_to_the_keys() -> None:
    document = crouched(DOWN, SIDE).document
    poses = [frame_pose(document, frame).rotations for frame in range(41)]
    steps = [float(np.abs(b - a).max()) for a, b in itertools.pairwise(poses)]
    assert max(abs(b - a) for a, b in itertools.pairwise(steps)) < 0.02
    assert steps[0] < 0.02


def test_without_pins_nothing_is_solved() -> None:
    made = session()
    for foot in FEET:
        made.dispatch(act.SetPin(foot, position=False, rotation=False))
    made.dispatch(act.KeyPose())
    made.seek(20)
    crouch(made, DOWN)
    made.dispatch(act.KeyPose())
    assert take_of(made.document).pins == {}
    assert take_of(made.document).solved == ()


def test_a_pin_that_was_taken_off_between_is_not_held() -> None:
    made = crouched(DOWN)
    made.seek(40)
    for foot in FEET:
        made.dispatch(act.SetPin(foot, position=False, rotation=False))
    made.dispatch(act.KeyPose())
    assert [(some.first, len(some)) for some in take_of(made.document).solved] == [(1, 19)]


def test_a_pin_that_was_put_elsewhere_is_not_the_same() -> None:
    made = crouched(DOWN)
    made.seek(40)
    at = np.array(made.document.goal("LeftFoot").position) + np.array([0.0, 0.1, 0.1])
    made.dispatch(act.MoveTargets({"LeftFoot": (at, None)}))
    made.dispatch(act.KeyPose())
    document = made.document
    _, second = take_of(document).solved
    assert second.first == 21
    left, right = (document.skeleton.index(foot) for foot in FEET)
    assert right in second.joints
    assert left not in second.joints
    assert max(slip(document, frame_pose(document, frame), "RightFoot") for frame in range(20, 41)) < 1e-3


def test_a_pin_that_a_key_does_not_stand_at_is_not_held_there() -> None:
    made = session("walk")
    for foot in FEET:
        made.dispatch(act.SetPin(foot, position=True, rotation=True))
    made.dispatch(act.KeyPose())
    made.seek(made.document.frames - 1)  # the pins stay behind
    pose = made.document.pose
    made.dispatch(act.KeyPose())
    before = take_of(made.document).solved
    assert [some.joints.size for some in before] == [0] * len(before)
    assert made.document.pose.same_as(pose)
    turn(made, "LeftArm", (0.0, 0.0, 0.3))
    made.dispatch(act.KeyPose(joints=("LeftArm",)))
    assert before
    assert all(a is b for a, b in zip(take_of(made.document).solved, before, strict=True))


def test_pins_are_held_on_a_clip() -> None:
    made = session("walk")
    start = made.document.pose
    made.dispatch(act.KeyPose())
    made.seek(8)
    made.dispatch(act.SetPose(start))
    for foot in FEET:
        made.dispatch(act.SetPin(foot, position=True, rotation=True))
    made.dispatch(act.KeyPose())
    document = made.document
    assert max(slip(document, blended(document, frame), foot) for frame in range(9) for foot in FEET) > 2e-3
    assert max(slip(document, frame_pose(document, frame), foot) for frame in range(9) for foot in FEET) < 1e-3


def test_a_stretch_is_solved_anew_only_when_its_keys_change() -> None:
    made = crouched(DOWN, SIDE, DOWN)
    made.dispatch(act.SetBlend(None, Blend.LINEAR))
    first, second, third = take_of(made.document).solved
    made.seek(60)
    crouch(made, (0.0, 0.05, 0.0))
    made.dispatch(act.KeyPose())
    after = take_of(made.document).solved
    assert after[0] is first
    assert after[1].digest == second.digest  # a straight way does not ask what comes after its keys
    assert after[2].digest != third.digest
    made.dispatch(act.SetRange(0, 70))
    made.dispatch(act.SetSolver(tolerance_m=0.01))
    made.dispatch(act.SetLimits(on=False))
    assert all(a is b for a, b in zip(take_of(made.document).solved, after, strict=True))
    made.dispatch(act.DeleteKeys(frame=60))
    assert [some.first for some in take_of(made.document).solved] == [1, 21]


def test_a_key_of_an_arm_leaves_the_feet_pinned_and_one_of_a_knee_does_not() -> None:
    made = crouched(DOWN)
    (whole,) = take_of(made.document).solved
    made.seek(10)
    turn(made, "LeftArm", (0.0, 0.0, 0.3))
    made.dispatch(act.KeyPose(joints=("LeftArm",)))
    document = made.document
    assert [(some.first, len(some)) for some in take_of(document).solved] == [(1, 19)]
    assert max(slip(document, frame_pose(document, frame), foot) for frame in range(21) for foot in FEET) < 1e-3
    assert frame_pose(document, 10).rotations[document.skeleton.index("LeftArm")] == pytest.approx(
        document.pose.rotations[document.skeleton.index("LeftArm")]
    )
    made.undo()
    assert take_of(made.document).solved[0] is whole


def test_keys_on_longer_legs_are_solved_anew() -> None:
    made = crouched(DOWN)
    before = take_of(made.document).solved[0]
    length = float(np.linalg.norm(made.document.skeleton.offsets[made.document.skeleton.index("LeftLeg")]))
    made.dispatch(act.SetLength("LeftUpLeg", 1.01 * length))
    assert take_of(made.document).solved[0].digest != before.digest
    made.undo()
    assert take_of(made.document).solved[0] is before


def test_an_effector_that_is_gone_is_pinned_no_more() -> None:
    made = crouched(DOWN)
    gone = [handle for handle in made.document.goals if handle.effector in FEET]
    skeleton = made.document.skeleton
    effectors = tuple(one for one in skeleton.effectors if one.name not in FEET)
    handles = tuple(handle for handle in made.document.goals if handle not in gone)
    made.replace(replace(made.document, skeleton=replace(skeleton, effectors=effectors), goals=handles))
    made.seek(40)
    made.dispatch(act.KeyPose())
    assert frame_pose(made.document, 40).same_as(made.document.pose)


def test_what_was_solved_is_played_and_exported_alike() -> None:
    made = crouched(DOWN, SIDE)
    document, clip = made.document, baked_clip(made.document)
    shown = []
    made.seek(0)
    made.play()
    for tick in range(41):
        made.tick(tick / 30.0)
        shown.append(made.document.pose)
        assert made.document.frame == tick
    for frame in range(41):
        assert clip.pose(frame).same_as(frame_pose(document, frame))
        assert clip.pose(frame).same_as(shown[frame])


def test_moved_keys_take_their_pins_along() -> None:
    made = crouched(DOWN)
    made.dispatch(act.MoveKeys(take_of(made.document).keys_at(20), 10))
    document = made.document
    assert tuple(take_of(document).pins) == (0, 30)
    assert max(slip(document, frame_pose(document, frame), foot) for frame in range(31) for foot in FEET) < 1e-3
    knee = document.skeleton.index("LeftLeg")
    made.dispatch(act.MoveKeys((Key(knee, 30),), 10))
    assert tuple(take_of(made.document).pins) == (0, 30, 40)


def test_a_pin_stands_where_the_keys_about_a_frame_hold_it_and_not_where_it_was_put_last() -> None:
    made = session()
    made.dispatch(act.KeyPose())
    first = place(made.document, "LeftFoot")
    made.seek(30)
    drag(made, FOOT, first + np.array([0.0, 0.05, 0.3]))
    made.commit()
    made.dispatch(act.KeyPose())
    last = target_of(made.document, "LeftFoot")
    for frame, there in ((0, first), (30, last), (50, last), (0, first)):
        made.seek(frame)
        np.testing.assert_allclose(target_of(made.document, "LeftFoot"), there, atol=1e-9)
    made.seek(15)
    np.testing.assert_allclose(target_of(made.document, "LeftFoot"), place(made.document, "LeftFoot"), atol=1e-12)
    made.seek(0)
    drag(made, HAND, place(made.document, "LeftHand") + np.array([0.0, 0.1, 0.1]))
    made.commit()
    np.testing.assert_allclose(place(made.document, "LeftFoot"), first, atol=1e-3)


def test_a_pin_that_no_key_holds_yet_stays_in_the_world() -> None:
    made = session()
    made.dispatch(act.KeyPose())
    made.seek(30)
    crouch(made, (0.0, -0.1, 0.1))
    made.dispatch(act.KeyPose())
    made.dispatch(act.SetPin("RightHand", position=True))
    there = target_of(made.document, "RightHand")
    made.seek(0)
    np.testing.assert_array_equal(target_of(made.document, "RightHand"), there)
