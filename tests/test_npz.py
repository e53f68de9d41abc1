"""NPZ files come back as they were, and no array from outside is believed."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from characters import assert_same, every_kind
from inside.formats import arrays_and_tables, bounds, read_npz, write_fk_npz, write_npz

from viewer.errors import FormatError, InputError, ViewerError
from viewer.skeleton import fk_clip

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.npz"


def arrays_of(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def error_of(path: Path) -> str:
    with pytest.raises(ViewerError) as caught:
        read_npz(path, "a.npz")
    return str(caught.value)


def test_written_and_read_again_is_the_same_to_the_last_bit(path: Path) -> None:
    character = every_kind()
    write_npz(character, path)
    again = read_npz(path, "a.npz")
    assert_same(character, again)
    assert (again.source.format, again.source.units, again.source.up) == ("npz", "m", "y")
    assert again.source.path == "a.npz"


def test_the_arrays_are_what_notebooks_need(path: Path) -> None:
    character = every_kind()
    write_npz(character, path)
    arrays = arrays_of(path)
    skeleton, clip = character.skeleton, character.clip
    assert clip is not None
    assert {name: (array.shape, array.dtype.kind) for name, array in arrays.items()} == {
        "names": ((8,), "U"), "parents": ((8,), "i"), "offsets": ((8, 3), "f"), "rest_rotations": ((8, 4), "f"),
        "tip_parents": ((3,), "i"), "tip_offsets": ((3, 3), "f"), "frame_time": ((), "f"),
        "rotations": ((5, 8, 4), "f"), "translated": ((2,), "i"), "translations": ((5, 2, 3), "f"),
        "positions": ((5, 8, 3), "f"), "world_rotations": ((5, 8, 4), "f"), "keys": ((2,), "i"),
        "clip_name": ((), "U"), "skeleton_json": ((), "U"),
    }  # fmt: skip
    assert arrays["names"].tolist() == list(skeleton.names)
    world = fk_clip(skeleton, clip)
    assert (arrays["positions"] == world.positions).all()
    assert (arrays["world_rotations"] == world.rotations).all()


def test_without_motion_there_are_no_motion_arrays(path: Path) -> None:
    write_npz(replace(every_kind(), clips=MappingProxyType({})), path)
    assert not {"rotations", "frame_time", "positions"} & set(arrays_of(path))
    assert read_npz(path, "a.npz").clip is None


def test_the_same_character_gives_the_same_bytes(path: Path) -> None:
    write_npz(every_kind(), path)
    first = path.read_bytes()
    write_npz(every_kind(), path)
    assert path.read_bytes() == first


def test_other_units_draw_a_warning(path: Path) -> None:
    write_npz(every_kind(), path)
    plain, warned = read_npz(path, "a.npz"), read_npz(path, "a.npz", units="cm")
    assert warned.warnings == (*plain.warnings, "NPZ files are in metres, Y up: nothing was converted")


def test_world_motion_of_fk(path: Path) -> None:
    positions, rotations = np.arange(6.0).reshape(1, 2, 3), np.arange(8.0).reshape(1, 2, 4)
    write_fk_npz(path, ["a", "b"], positions, rotations)
    arrays = arrays_of(path)
    assert list(arrays) == ["names", "positions", "rotations"]
    assert arrays["names"].tolist() == ["a", "b"]
    assert (arrays["positions"] == positions).all()


def test_arrays_alone_make_a_skeleton_children_first_or_not(path: Path) -> None:
    random = np.random.default_rng(0)
    rotations = random.normal(size=(2, 3, 4))
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    np.savez_compressed(
        path,
        names=np.array(["hand", "hips", "arm"]),
        parents=np.array([2, -1, 1], dtype=np.int8),
        offsets=np.arange(9, dtype=np.float32).reshape(3, 3),
        tip_parents=np.array([2, 0, 2], dtype=np.uint16),
        tip_offsets=np.eye(3),
        frame_time=np.array(0.5),
        rotations=np.asfortranarray(rotations),
        translated=np.array([2, 0]),
        translations=np.arange(12.0).reshape(2, 2, 3),
    )
    character = read_npz(path, "a.npz")
    skeleton, clip = character.skeleton, character.clip
    assert skeleton.names == ("hips", "arm", "hand")
    assert skeleton.offsets.tolist() == [[3, 4, 5], [6, 7, 8], [0, 1, 2]]
    assert skeleton.tip_parents.tolist() == [1, 1, 2]
    assert skeleton.tip_offsets.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert clip is not None
    assert clip.frame_time == 0.5
    assert (clip.rotations == rotations[:, [1, 2, 0]]).all()
    assert clip.translated.tolist() == [1, 2]
    assert clip.translations.tolist() == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": None}, 'expected an array "names", found none'),
        ({"names": np.arange(8)}, "names: expected texts, found int64"),
        ({"names": np.array(list("abcdefgh"))}, "names: expected the joints of skeleton_json, in its order"),
        ({"skeleton_json": np.array("{")}, "line 1, column 2: expected a key in double quotes, "),
        ({"skeleton_json": np.array(["{}"])}, "skeleton_json: expected the shape (), found (1)"),
        ({"frame_time": None}, 'expected an array "frame_time", found none'),
        ({"frame_time": np.array(0.0)}, "frame_time: expected more than 0 seconds, found 0"),
        ({"frame_time": np.array("x")}, "frame_time: expected numbers, found <U1"),
        ({"rotations": np.zeros((5, 7, 4))}, "rotations: expected the shape (any, 8, 4), found (5, 7, 4)"),
        (
            {"rotations": np.zeros((1, 8, 4))},
            "rotations[0, 0]: expected a unit quaternion x, y, z, w, found one of length 0",
        ),
        ({"translated": np.array([0, 8])}, "translated: expected numbers from 0 to 7, found 8"),
        ({"translated": np.array([0.0, 1.0])}, "translated: expected whole numbers, found float64"),
        ({"translated": np.array([1, 1])}, "translated: expected each joint once"),
        ({"translations": np.full((5, 2, 3), np.nan)}, "translations[0, 0, 0]: expected finite numbers, found nan"),
        ({"translations": np.zeros((4, 2, 3))}, "translations: expected the shape (5, 2, 3), found (4, 2, 3)"),
        ({"keys": np.array([5])}, "keys: expected numbers from 0 to 4, found 5"),
        ({"skeleton_json": None, "parents": np.arange(1, 9)}, "parents: expected numbers from -1 to 7, found 8"),
        ({"skeleton_json": None, "offsets": np.full((8, 3), np.inf)}, "offsets[0, 0]: expected finite numbers, "),
        ({"skeleton_json": None, "parents": np.zeros(8, int)}, 'joints[0] "root".parent: expected parents up to '),
        ({"rotations": np.zeros((5, 8, 4), complex)}, "rotations: expected an array of numbers or texts, found "),
    ],
)  # fmt: skip
def test_arrays_that_are_refused(path: Path, change: dict[str, Any], message: str) -> None:
    write_npz(every_kind(), path)
    arrays = {name: array for name, array in (arrays_of(path) | change).items() if array is not None}
    arrays_and_tables.write_arrays(path, arrays)
    error = error_of(path)
    assert error.removeprefix("a.npz").lstrip(":, ").startswith(message), error


def test_pickles_are_never_opened(path: Path) -> None:
    np.savez(path, names=np.array(["a", {}], dtype=object))
    objects = "expected an array of numbers or texts, found Python objects (a pickle), which are not opened"
    assert error_of(path) == f"a.npz: names: {objects}"


@pytest.mark.parametrize("data", [b"", b"PK", b"\x93NUMPY\x01\x00", b"PK\x05\x06" + bytes(18)])
def test_files_that_hold_no_arrays(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"^a\.npz: (the file is empty; )?expected "):
        read_npz(path, "a.npz")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a file, found a folder"):
        read_npz(tmp_path, "a.npz")


def test_a_zip_bomb_is_seen_by_its_stated_size(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "FREE_BYTES", 1_000_000)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("names.npy", bytes(10_000_000))
        archive.writestr("other.npy", bytes(10_000_000))
    assert path.stat().st_size < 100_000
    assert (
        error_of(path)
        == f"a.npz: expected at most 1,000,000 bytes of arrays, found 10,000,000 in a file of {path.stat().st_size:,}"
    )


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000, 1000000000000000), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (0,), }",
        "{'descr': '<U999999999', 'fortran_order': False, 'shape': (), }",
        "{'descr': '<f8', 'fortran_order': __import__('os'), 'shape': (), }",
        "(" * 3000,
    ],
)
def test_headers_that_lie_cost_nothing(path: Path, header: str) -> None:
    raw = header.encode() + b"\n"
    body = b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("names.npy", body)
    assert error_of(path).startswith("a.npz: ")


def test_damaged_bytes_let_out_only_our_errors(path: Path) -> None:
    write_npz(every_kind(), path)
    data = path.read_bytes()
    random = np.random.default_rng(5)
    read = 0
    for _ in range(300):
        damaged = bytearray(data)
        for place in random.integers(0, len(data), size=random.integers(1, 5)):
            damaged[place] = random.integers(0, 256)
        path.write_bytes(damaged[: random.integers(1, len(data))] if random.random() < 0.2 else damaged)
        try:
            read += len(read_npz(path, "a.npz").skeleton) > 0
        except ViewerError as error:
            assert str(error).startswith("a.npz")  # noqa: PT017 - either outcome is right, others are not
    assert read < 300


def test_texts_that_are_no_unicode(path: Path) -> None:
    write_npz(every_kind(), path)
    wrong = np.frombuffer(b"\xff" * 32, dtype="<U1")
    buffer = io.BytesIO()
    np.save(buffer, wrong)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("names.npy", buffer.getvalue())
    assert error_of(path).startswith("a.npz: names: expected texts of Unicode characters")
