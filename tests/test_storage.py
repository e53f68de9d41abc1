"""What a session file holds is equal to the last bit, and what is damaged is refused in words."""

from __future__ import annotations

import base64
import zlib
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from inside.session import (
    LONGEST_PLAIN,
    CharacterData,
    ClipsOfFile,
    Packed,
    Stored,
    character_data,
    character_of,
    pack,
    stored_characters,
    unpack,
)

import viewer
from viewer.errors import FormatError

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton import Character, Clip, Pose, Skeleton

SAMPLES = ["biped-hands", "claw-arm", "piston", "quadruped", "two-link", "walk", "chain-30"]


def there_and_back(character: Character, folder: Path) -> Character:
    text = msgspec.json.encode(character_data(character))
    return character_of(msgspec.json.decode(text, type=CharacterData), folder, "character")


def same_skeleton(a: Skeleton, b: Skeleton) -> bool:
    plain = ("name", "names", "kinds", "effectors")
    numbers = ("parents", "offsets", "rest_rotations", "axes", "stiffness", "tip_parents", "tip_offsets")
    limits = all(
        (x is None and y is None) or (x is not None and x.same_as(y)) for x, y in zip(a.limits, b.limits, strict=True)
    )
    poses = a.poses.keys() == b.poses.keys() and all(same_pose(a.poses[k], b.poses[k]) for k in a.poses)
    spreads = (a.mobility is None) == (b.mobility is None) and (
        a.mobility is None or b.mobility is None or np.array_equal(a.mobility, b.mobility, equal_nan=True)
    )
    return (
        all(getattr(a, name) == getattr(b, name) for name in plain)
        and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in numbers)
        and limits
        and poses
        and spreads
    )


def same_pose(a: Pose, b: Pose) -> bool:
    return a.same_as(b)


def same_clip(a: Clip, b: Clip) -> bool:
    return all(np.array_equal(getattr(a, field.name), getattr(b, field.name)) for field in fields(a))


@given(arrays(np.float64, array_shapes(max_dims=3, max_side=12), elements=st.floats(allow_nan=False)))
def test_any_array_comes_back_to_the_bit(array: np.ndarray) -> None:
    encoded = msgspec.json.encode(pack(array))
    stored = msgspec.json.decode(encoded, type=list[object] | Packed)
    assert unpack(stored, array.shape, "a").tobytes() == array.tobytes()


@pytest.mark.parametrize("size", [LONGEST_PLAIN, LONGEST_PLAIN + 1])
def test_only_long_arrays_are_packed(size: int) -> None:
    array = np.linspace(0.0, 1.0, size)
    assert isinstance(pack(array), Packed) == (size > LONGEST_PLAIN)
    assert np.array_equal(unpack(pack(array), (-1,), "a"), array)


def test_empty_arrays_keep_their_shape() -> None:
    assert unpack([], (0, 3), "a").shape == (0, 3)
    assert unpack([], (-1,), "a", whole=True).dtype == np.intp


def _packed(data: bytes, shape: list[int], kind: str = "f8") -> Packed:
    return Packed(shape, base64.b64encode(zlib.compress(data)).decode(), kind)


@pytest.mark.parametrize(
    ("stored", "words"),
    [
        ([1.0, 2.0], "expected an array of shape (3,), found (2,)"),
        ([[1.0], [2.0, 3.0]], "expected an array of shape (3,), found rows of different lengths"),
        (["a", "b", "c"], "expected numbers, found something else"),
        ([True, False, True], "expected numbers, found something else"),
        (_packed(b"\0" * 16, [3]), "expected 24 bytes of numbers, found 16"),
        (_packed(b"\0" * 800, [3]), "expected 24 bytes of numbers, found 25"),
        (_packed(b"\0" * 24, [3], "c16"), "expected type f8 or i8, found c16"),
        (_packed(b"", [1 << 20, 1 << 20]), "expected at most 29,360,128 numbers, found shape [1048576, 1048576]"),
        (_packed(b"", [-3]), 'expected an array\'s shape, found "[-3]"'),
    ],
)
def test_damaged_arrays_are_refused(stored: Stored, words: str) -> None:
    with pytest.raises(FormatError) as raised:
        unpack(stored, (3,), "document.a")
    assert str(raised.value) == f"document.a: {words}"


def test_what_is_not_base64_or_not_deflated_is_refused() -> None:
    for text in ("!!!", base64.b64encode(b"plain").decode()):
        with pytest.raises(FormatError, match="expected deflated numbers, found damaged data"):
            unpack(Packed([3], text), (3,), "a")


def test_a_small_text_cannot_ask_for_much_memory() -> None:
    bomb = _packed(b"\0" * 50_000_000, [3])
    with pytest.raises(FormatError, match="expected 24 bytes of numbers, found 25"):
        unpack(bomb, (3,), "a")


def test_fractions_are_no_indices() -> None:
    with pytest.raises(FormatError, match="parents: expected whole numbers"):
        unpack([0.5], (1,), "parents", whole=True)


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples_come_back_equal(sample: str, tmp_path: Path) -> None:
    character = viewer.load(f"sample:{sample}")
    again = there_and_back(character, tmp_path)
    assert same_skeleton(character.skeleton, again.skeleton)
    assert (again.source, again.warnings, again.limits_from) == (
        character.source,
        character.warnings,
        character.limits_from,
    )
    assert list(again.clips) == list(character.clips)
    assert all(same_clip(clip, again.clips[name]) for name, clip in character.clips.items())


def _bvh(folder: Path) -> Path:
    path = folder / "walk.bvh"
    viewer.save(viewer.load("sample:walk"), path)
    return path


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every motion is too large to be carried."""
    monkeypatch.setattr(stored_characters, "LARGEST_CARRIED", 0)


def test_clips_are_carried_and_their_file_is_named_by_its_way_from_the_session(tmp_path: Path) -> None:
    character = viewer.load(_bvh(tmp_path), units="cm")
    data = character_data(character, tmp_path / "sessions" / "new")
    assert isinstance(data.clips, list)
    assert data.file is not None
    assert (data.file.path, data.file.relative) == (str(tmp_path / "walk.bvh"), "../../walk.bvh")
    assert character_data(character).file is None
    assert character_data(viewer.load("sample:walk"), tmp_path).file is None
    shorter = replace(character, clips={"walk": character.clips["walk"].frames(0, 9)})
    assert character_data(shorter, tmp_path).file is None


@pytest.mark.usefixtures("small")
def test_a_large_clip_that_is_as_its_file_has_it_is_kept_by_reference(tmp_path: Path) -> None:
    character = viewer.load(_bvh(tmp_path), units="cm")
    assert isinstance(character_data(character).clips, ClipsOfFile)
    again = there_and_back(character, tmp_path)
    assert character.clip is not None
    assert again.clip is not None
    assert same_clip(character.clip, again.clip)


@pytest.mark.usefixtures("small")
def test_a_corrected_frame_time_is_kept_beside_the_reference(tmp_path: Path) -> None:
    character = viewer.load(_bvh(tmp_path), units="cm")
    assert character.clip is not None
    slower = replace(character, clips={character.clip.name: replace(character.clip, frame_time=0.25)})
    assert isinstance(character_data(slower).clips, ClipsOfFile)
    again = there_and_back(slower, tmp_path)
    assert again.clip is not None
    assert again.clip.frame_time == 0.25


@pytest.mark.usefixtures("small")
def test_a_clip_that_was_changed_is_written_out(tmp_path: Path) -> None:
    character = viewer.load(_bvh(tmp_path), units="cm")
    assert character.clip is not None
    shorter = replace(character, clips={character.clip.name: character.clip.frames(0, 9)})
    data = character_data(shorter)
    assert isinstance(data.clips, list)
    again = there_and_back(shorter, tmp_path)
    assert again.clip is not None
    assert len(again.clip) == 10


@pytest.mark.usefixtures("small")
def test_a_motion_file_may_move_along_with_the_session(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    path = _bvh(tmp_path / "old")
    data = character_data(viewer.load(path, units="cm"))
    (tmp_path / "new").mkdir()
    path.rename(tmp_path / "new" / "walk.bvh")
    assert character_of(data, tmp_path / "new", "character").clip is not None
    with pytest.raises(FormatError, match=r'character\.clips: the motion file "walk\.bvh" is missing: expected it'):
        character_of(data, tmp_path, "character")


@pytest.mark.usefixtures("small")
def test_a_motion_file_that_has_changed_is_said_to_have(tmp_path: Path) -> None:
    path = _bvh(tmp_path)
    data = character_data(viewer.load(path, units="cm"))
    path.write_text(path.read_text().replace("0.0", "0.1", 1))
    with pytest.raises(FormatError, match="has changed since this was saved"):
        character_of(data, tmp_path, "character")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kinds": ["ball"]}, "character.skeleton: expected 2 kinds and limits, one for each name"),
        ({"kinds": ["ball", "wheel"]}, "character.skeleton.kinds[1]: expected one of ball, hinge"),
        (
            {"parents": [-1, 7]},
            'character.skeleton: skeleton parents of "elbow": expected each parent before its children',
        ),
        ({"names": ["a", "a"]}, "character.skeleton: joint names must be unique"),
        ({"rest_rotations": [[0, 0, 0, 1], [0, 0, 0, 2]]}, "expected a unit quaternion (x, y, z, w), found length 2"),
        ({"offsets": [[0, 0, 0]]}, "character.skeleton.offsets: expected an array of shape (2, 3), found (1, 3)"),
    ],
)
def test_a_skeleton_that_is_none_is_refused(change: dict[str, object], words: str, tmp_path: Path) -> None:
    data = character_data(viewer.load("sample:two-link"))
    broken = msgspec.structs.replace(data, skeleton=msgspec.structs.replace(data.skeleton, **change))
    with pytest.raises(FormatError) as raised:
        character_of(broken, tmp_path, "character")
    assert words in str(raised.value)
