"""HTR files: what they say by plain matrices, what is written and read again, and what is refused."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from characters import every_kind
from inside.spatial import to_matrix

import viewer
from viewer.errors import FormatError
from viewer.skeleton import fk, fk_clip

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

    from viewer.skeleton import Character

HEADER = {
    "FileType": "htr", "DataType": "HTRS", "FileVersion": "1", "NumSegments": "3", "NumFrames": "2",
    "DataFrameRate": "50", "EulerRotationOrder": "ZYX", "CalibrationUnits": "mm", "RotationUnits": "Degrees",
    "GlobalAxisofGravity": "Y", "BoneLengthAxis": "X", "ScaleFactor": "1.0",
}  # fmt: skip
BASE = {
    "hips": (0, 900, 10, 10, 20, 30, 0), "arm": (50, 0, 0, -40, 5, 0, 0), "hand": (300, 5, 0, 0, 0, 90, 120),
}  # fmt: skip
PARENTS = {"hand": "arm", "arm": "hips", "hips": "GLOBAL"}
MOTION = {
    "hips": [(1, 2, 3, 15, 25, 35, 1), (100, 20, 30, -15, 70, 5, 1)],
    "arm": [(0, 0, 0, 60, 0, 10, 1), (0, 4, 0, 60, 30, 10, 1)],
    "hand": [(0, 0, 0, 0, 0, 0, 1), (0, 0, 0, 5, 6, 7, 1)],
}


def text(**header: str) -> str:
    """A file of three segments, children first, of two frames."""
    lines = ["# of a test", "[Header]  # facts", *(f"{key}\t{word}" for key, word in (HEADER | header).items())]
    lines += ["[SegmentNames&Hierarchy]", "#CHILD\tPARENT", *(f"{child} {above}" for child, above in PARENTS.items())]
    lines += ["[BasePosition]", *(" ".join(map(str, (name, *row))) for name, row in BASE.items()), ""]
    for name, rows in MOTION.items():
        lines += [f"[{name}]", *("\t".join(map(str, (frame, *row))) for frame, row in enumerate(rows, start=1))]
    return "\r\n".join([*lines, "[EndOfFile]", "nothing is read here"])


def about(axis: str, angle: float) -> Floats:
    """The matrix of a turn about an axis."""
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = math.cos(angle)
    matrix[j, i], matrix[i, j] = math.sin(angle), -math.sin(angle)
    return matrix


def transform(name: str, frame: int, order: str, angle: float) -> tuple[Floats, Floats]:
    """The turn and the place of a segment in the world, from the format's formula: T T R R, of base and frame."""

    def turn(row: tuple[float, ...]) -> Floats:
        one, two, three = (about(axis, angle * row[3 + "xyz".index(axis)]) for axis in order)
        return one @ two @ three

    base, row = BASE[name], MOTION[name][frame]
    here, place = turn(base) @ turn(row), np.add(base[:3], row[:3])
    if PARENTS[name] == "GLOBAL":
        return here, place
    above, origin = transform(PARENTS[name], frame, order, angle)
    return above @ here, above @ place + origin


def read(tmp_path: Path, content: str) -> Character:
    path = tmp_path / "a.htr"
    path.write_text(content, encoding="utf-8", newline="")
    return viewer.load(path)


def again(character: Character, tmp_path: Path) -> Character:
    viewer.save(character, tmp_path / "again.htr")
    return viewer.load(tmp_path / "again.htr")


@pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "ZYX"])
@pytest.mark.parametrize(("words", "angle"), [("Degrees", math.radians(1.0)), ("radians", 1.0)])
def test_segments_are_where_the_formula_of_the_format_has_them(
    tmp_path: Path, order: str, words: str, angle: float
) -> None:
    character = read(tmp_path, text(EulerRotationOrder=order, RotationUnits=words))
    assert character.clip is not None
    assert character.clip.frame_time == 0.02
    assert character.warnings == ()
    skeleton, world = character.skeleton, fk_clip(character.skeleton, character.clip)
    assert skeleton.names == ("hips", "arm", "hand")
    for frame in range(2):
        for joint, name in enumerate(skeleton.names):
            turn, place = transform(name, frame, order.lower(), angle)
            assert np.abs(world.positions[frame, joint] - 0.001 * place).max() < 1e-12
            assert np.abs(to_matrix(world.rotations[frame, joint]) - turn).max() < 1e-12
    assert skeleton.tip_offsets.tolist() == [[0.12, 0.0, 0.0]]
    assert skeleton.offsets[0].tolist() == [0.0, 0.9, 0.01]


@pytest.mark.parametrize(
    ("units", "scale", "metres"),
    [("mm", 1.0, 0.001), ("cm", 1.0, 0.01), ("dm", 2.0, 0.2), ("Meters", 1.0, 1.0), ("inches", 0.5, 0.0127)],
)
def test_the_header_states_units_and_a_scale(tmp_path: Path, units: str, scale: float, metres: float) -> None:
    skeleton = read(tmp_path, text(CalibrationUnits=units, ScaleFactor=str(scale))).skeleton
    assert skeleton.offsets[0] == pytest.approx([0.0, 900 * metres, 10 * metres], rel=1e-12)
    assert skeleton.tip_offsets[0] == pytest.approx([120 * metres, 0.0, 0.0], rel=1e-12)


def test_what_is_up_is_turned_up_and_options_come_first(tmp_path: Path) -> None:
    path = tmp_path / "a.htr"
    path.write_text(text(GlobalAxisofGravity="Z"), encoding="utf-8")
    assert viewer.load(path).skeleton.offsets[0].tolist() == [0.0, 0.01, -0.9]
    assert viewer.load(path, units="cm", up="y").skeleton.offsets[0].tolist() == [0.0, 9.0, 0.1]


def test_without_units_they_are_guessed(tmp_path: Path) -> None:
    character = read(tmp_path, text().replace("CalibrationUnits\tmm\r\n", ""))
    places = {name: transform(name, 0, "zyx", math.radians(1.0)) for name in BASE}
    turn, place = places["hand"]
    height = np.ptp([*(place[1] for _, place in places.values()), (place + turn @ (120, 0, 0))[1]])
    said = f"units are guessed: units of 0.01 m (cm), height {0.01 * height:.3g} m; from its size"
    assert character.warnings == (said,)


def test_a_person_without_units_has_the_legs_of_one(tmp_path: Path) -> None:
    """As in BVH files: from its size, a figure with long arms or a tail would be another one."""
    walk = viewer.load("sample:walk")
    viewer.save(walk, tmp_path / "walk.htr")
    text = (tmp_path / "walk.htr").read_text(encoding="utf-8")
    stated = read(tmp_path, text)
    guessed = read(tmp_path, text.replace("CalibrationUnits cm\n", ""))
    (said,) = guessed.warnings
    assert said.startswith("units are guessed: units of 0.01 m (cm), height ")
    assert said.endswith("; from its leg length, 0.859 m")
    assert np.array_equal(guessed.skeleton.offsets, stated.skeleton.offsets)


def test_segments_without_motion_stay_and_bones_keep_their_length(tmp_path: Path) -> None:
    whole = text().replace("35\t1\r\n", "35\t1.5\r\n")
    start, end = whole.index("[arm]"), whole.index("[hand]")
    character = read(tmp_path, whole[:start] + whole[end:])
    assert character.warnings == (
        'segment "arm" has no motion: it stays in its base position',
        "bones that change their length keep that of the base position",
    )
    assert character.clip is not None
    assert np.ptp(character.clip.rotations[:, 1], axis=0).max() == 0.0


def test_values_that_were_not_measured_are_those_before_or_the_first_after(tmp_path: Path) -> None:
    frames = [(9999999, 0, 0, 9999999, 0, 0, 1), (1, 2, 3, 5, 6, 7, 1), (9999999.0,) * 7, (4, 5, 6, 0, 0, 0, 1)]
    turn = np.radians([frame[3:6] for frame in (frames[1], frames[1], frames[1], frames[3])])
    lines = [f"[hips]\n1 {' '.join(map(str, frames[0]))}"]
    lines += [f"{number} {' '.join(map(str, row))}" for number, row in enumerate(frames[1:], 2)]
    whole = text()
    character = read(tmp_path, whole[: whole.index("[hips]")] + "\n".join(lines))
    assert character.clip is not None
    assert character.warnings[-1] == 'segment "hips" has no values in 2 frames: it stays as it was'
    base = np.array(BASE["hips"][:3])
    places = 0.001 * np.add(base, [(1, 2, 3), (1, 2, 3), (1, 2, 3), (4, 5, 6)])
    np.testing.assert_allclose(character.clip.translations[:, 0], places, atol=1e-12)
    for frame in range(4):
        own = about("z", turn[frame, 2]) @ about("y", turn[frame, 1]) @ about("x", turn[frame, 0])
        start = about("z", np.radians(30)) @ about("y", np.radians(20)) @ about("x", np.radians(10))
        np.testing.assert_allclose(to_matrix(character.clip.rotations[frame, 0]), start @ own, atol=1e-12)
    lost = read(tmp_path, whole[: whole.index("[hips]")] + "[hips]\n1" + " 9999999.00" * 7)
    assert 'segment "hips" has no values in 1 frame: it stays as it was' in lost.warnings
    assert lost.clip is not None
    np.testing.assert_allclose(lost.clip.translations[0, 0], 0.001 * base, atol=1e-12)


def test_rows_are_the_same_however_they_are_numbered_and_written(tmp_path: Path) -> None:
    plain = read(tmp_path, text()).clip
    odd = text().replace("2\t100\t20\t", "17  +100\t20.  ").replace("1\t0\t0\t0\t60", "1 .0 0e0 0 60.0")
    assert odd != text()
    other = read(tmp_path, odd.replace("[hand]", "# of the hand\n\n[hand]# here")).clip
    assert plain is not None
    assert other is not None
    assert np.array_equal(other.rotations, plain.rotations)
    assert np.array_equal(other.translations, plain.translations)


@pytest.mark.parametrize(("units", "up"), [(None, None), ("inch", "z"), ("cmu", "y")])
def test_a_motion_comes_back(tmp_path: Path, units: str | None, up: Literal["y", "z"] | None) -> None:
    walk, path = viewer.load("sample:walk"), tmp_path / "walk.htr"
    said = viewer.save(walk, path, units=units, up=up)
    assert said == ["3 of 5 end sites are not along the axis of bones: written as segments"]
    loaded = viewer.load(path)
    assert loaded.warnings == ()
    assert (loaded.source.units, loaded.source.up) == ({None: "cm", "cmu": "mm"}.get(units, units), up or "y")
    assert walk.clip is not None
    assert loaded.clip is not None
    assert loaded.clip.frame_time == pytest.approx(walk.clip.frame_time, rel=1e-15)
    joints = [loaded.skeleton.index(name) for name in walk.skeleton.names]
    one, other = fk_clip(walk.skeleton, walk.clip), fk_clip(loaded.skeleton, loaded.clip)
    assert np.abs(one.positions - other.positions[:, joints]).max() < 2e-6
    assert np.abs((one.rotations * other.rotations[:, joints]).sum(axis=-1)).min() > 1.0 - 1e-12
    assert np.abs(loaded.skeleton.offsets[joints] - walk.skeleton.offsets).max() < 1e-6


def test_a_file_is_written_as_it_was_read(tmp_path: Path) -> None:
    read(tmp_path, text(CalibrationUnits="cm", GlobalAxisofGravity="Z"))
    first = again(viewer.load(tmp_path / "a.htr"), tmp_path)
    written = (tmp_path / "again.htr").read_text(encoding="utf-8")
    assert written.splitlines()[13:24] == [
        "[SegmentNames&Hierarchy]", "hand\tarm", "arm\thips", "hips\tGLOBAL", "[BasePosition]",
        "hand\t300.000000\t5.000000\t0.000000\t0.000000\t0.000000\t90.000000\t120.000000",
        "arm\t50.000000\t0.000000\t0.000000\t-40.000000\t5.000000\t0.000000\t0.000000",
        "hips\t0.000000\t900.000000\t10.000000\t10.000000\t20.000000\t30.000000\t0.000000",
        "[hand]", "1\t0.000000\t0.000000\t0.000000\t0.000000\t0.000000\t0.000000\t1",
        "2\t0.000000\t0.000000\t0.000000\t5.000000\t6.000000\t7.000000\t1",
    ]  # fmt: skip
    viewer.save(first, tmp_path / "third.htr")
    assert (tmp_path / "third.htr").read_text(encoding="utf-8") == written


def test_a_pose_alone_every_kind_and_names_that_a_file_cannot_hold(tmp_path: Path) -> None:
    figure = every_kind()
    said = viewer.save(figure, tmp_path / "a.htr")
    assert any("HTR has no place for" in line for line in said)
    loaded = viewer.load(tmp_path / "a.htr")
    rest, other = (fk(each, each.rest_pose()).positions for each in (figure.skeleton, loaded.skeleton))
    joints = [loaded.skeleton.index(re.sub(r"\s", "_", name)) for name in figure.skeleton.names]
    assert np.abs(rest - other[joints]).max() < 1e-5


def test_names_without_blanks_and_brackets_are_written(tmp_path: Path) -> None:
    builder = viewer.Builder()
    builder.add("left arm").add("[hand]", "left arm", (0, 1, 0)).add("global", "[hand]", (0, 1, 0))
    said = viewer.save(viewer.Character(builder.skeleton), tmp_path / "a.htr")
    assert said[:3] == [
        'joint "left arm" is written as "left_arm": HTR cannot hold its name',
        'joint "[hand]" is written as "_hand_": HTR cannot hold its name',
        'joint "global" is written as "_": HTR cannot hold its name',
    ]
    assert viewer.load(tmp_path / "a.htr").skeleton.names == ("left_arm", "_hand_", "_")


def test_a_joint_with_the_name_of_the_end_of_a_file_does_not_end_it(tmp_path: Path) -> None:
    builder = viewer.Builder()
    builder.add("hips").add("EndOfFile", "hips", (0, 1, 0)).add("hand", "EndOfFile", (0, 1, 0))
    still = np.broadcast_to(builder.skeleton.rest_pose().rotations, (2, 3, 4))
    clip = viewer.Clip.from_arrays(builder.skeleton, still, fps=30.0)
    viewer.save(viewer.Character(builder.skeleton, {clip.name: clip}), tmp_path / "a.htr")
    back = viewer.load(tmp_path / "a.htr")
    assert back.skeleton.names == ("hips", "_", "hand")
    assert not [warning for warning in back.warnings if "no motion" in warning]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[Header]", "Header", 'line 2: expected [Header], found "Header"'),
        (
            "[BasePosition]",
            "[Base]",
            "line 1: expected [Header], [SegmentNames&Hierarchy] and [BasePosition], found [Header], {}, [Base]".format(
                "[SegmentNames&Hierarchy]"
            ),
        ),
        ("FileType\thtr", "FileType\tgtr", 'line 3: FileType: expected htr, found "gtr"'),
        ("FileVersion\t1", "FileVersion\t2", 'line 5: FileVersion: expected 1, found "2"'),
        ("Order\tZYX", "Order\tZYZ", 'line 9: EulerRotationOrder: expected xyz, xzy, yxz, yzx, zxy, zyx, found "ZYZ"'),
        ("Gravity\tY", "Gravity\tX", 'line 12: GlobalAxisofGravity: expected y, z, found "X"'),
        ("Rate\t50", "Rate\t0", 'line 8: DataFrameRate: expected a number of 1e-6 to 1e6, found "0"'),
        ("hand arm", "hand", "line 17: expected a segment and its parent, found 1 word"),
        ("hand arm", "hips arm", 'line 19: expected each segment once, found "hips" again'),
        ("hand arm", "hand foot", 'line 17: expected GLOBAL or the name of a segment, found "foot"'),
        ("hips GLOBAL", "hips hand", "line 15: expected a tree of segments, found one that is below itself"),
        ("arm 50 0", "leg 50 0", 'line 20: expected a base position of each segment, found none of "arm"'),
        ("arm 50 0", "hips 50 0", 'line 22: expected each base position once, found "hips" again'),
        ("arm 50 0 0", "arm 50 0", "line 22: expected 8 values, found 7"),
        ("arm 50 0", "arm 50 zero", 'line 22: expected a finite number, found "zero"'),
        ("arm 50 0", "arm 50 inf", 'line 22: expected a finite number, found "inf"'),
        ("[arm]", "[leg]", 'line 28: expected each segment by its name, and once, found "leg"'),
        ("[arm]", "[hips]", 'line 28: expected each segment by its name, and once, found "hips" again'),
        ("2\t0\t4\t0\t60\t30\t10\t1\r\n", "", 'line 28: expected 2 frames, as of "hips", found 1'),
    ],
)
def test_files_that_are_none_are_refused(tmp_path: Path, before: str, after: str, said: str) -> None:
    assert text().count(before) == 1
    with pytest.raises(FormatError) as error:
        read(tmp_path, text().replace(before, after))
    assert str(error.value) == f"{tmp_path / 'a.htr'}, {said}"
