"""What BVH files of other programs do differently, one by one, and how units and axes are guessed."""

from __future__ import annotations

import math
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from bvh_texts import ARM, XYZ, ZXY, Joint, places, read, text_of
from inside.formats import check_units
from inside.spatial import to_matrix

from viewer import load
from viewer.errors import FormatError, InputError
from viewer.skeleton import EffectorGoal, fk_clip

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats


def turn(axis: str, degrees: float) -> Floats:
    """The matrix of a right-handed turn of column vectors, written out by hand."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    rows = {
        "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
        "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
        "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
    }
    return np.array(rows[axis])


def test_positions_replace_the_offset_on_their_axes_only() -> None:
    root = Joint("root", (-40, 90, -40), f"{XYZ} {ZXY}", [Joint("slide", (1, 2, 3), "Yposition")])
    joints, _ = places(read(text_of(root, rows=[[5, 6, 7, 0, 0, 0, 20], [5, 6, 7, 0, 0, 0, -20]])))
    assert joints[:, 0].tolist() == [[5, 6, 7]] * 2
    assert joints[:, 1].tolist() == [[6, 26, 10], [6, -14, 10]]


def test_positions_in_any_order_and_after_rotations() -> None:
    root = Joint("root", (9, 9, 9), "Zrotation Zposition Xrotation Xposition Yposition Yrotation")
    character = read(text_of(root, rows=[[90, 3, 0, 1, 2, 0]]))
    joints, _ = places(character)
    assert joints[0, 0].tolist() == [1, 2, 3]
    assert character.clip is not None
    np.testing.assert_allclose(to_matrix(character.clip.rotations[0, 0]), turn("z", 90), atol=1e-15)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_rotations_are_the_product_in_file_order_of_each_joint(count: int) -> None:
    orders = list(permutations("xyz", count))
    joints = [
        Joint(f"j{i}", (0, 1, 0), " ".join(f"{a.upper()}rotation" for a in order)) for i, order in enumerate(orders)
    ]
    rows = np.random.default_rng(3).uniform(-360, 360, (4, count * len(orders)))
    character = read(text_of(Joint("root", channels="", children=joints), rows=rows.tolist()))
    assert character.clip is not None
    found = to_matrix(character.clip.rotations)
    for frame, row in enumerate(rows):
        for place, order in enumerate(orders):
            angles = row[place * count : (place + 1) * count]
            expected = np.linalg.multi_dot([np.eye(3), np.eye(3), *map(turn, order, angles)])
            np.testing.assert_allclose(found[frame, place + 1], expected, atol=1e-14)


def test_kinds_come_from_the_rotation_channels() -> None:
    channels = ("", "Yrotation", "Zrotation Xrotation", ZXY, XYZ, f"Xposition {ZXY}")
    joints = [Joint(f"j{i}", (0, 1, 0), names) for i, names in enumerate(channels)]
    skeleton = read(text_of(Joint("root", channels="", children=joints))).skeleton
    assert [kind.value for kind in skeleton.kinds] == [
        "free", "fixed", "hinge", "universal", "ball", "fixed", "ball",
    ]  # fmt: skip
    assert skeleton.axes[2].tolist() == [[0, 1, 0], [0, 0, 0]]
    assert skeleton.axes[3].tolist() == [[0, 0, 1], [1, 0, 0]]
    assert not skeleton.axes[[0, 1, 4, 5, 6]].any()


def test_a_joint_without_channels_is_fixed() -> None:
    character = read(ARM.replace("      CHANNELS 1 Xrotation\n", "").replace(" 0 0\n1", " 0\n1").replace(" 45", ""))
    assert character.warnings == ('joint "Hand" has no CHANNELS: taken as fixed',)
    assert character.skeleton.kinds[2].value == "fixed"


def test_several_roots_stand_apart() -> None:
    roots = (Joint("a", (1, 0, 0), f"{XYZ} {ZXY}", tips=[(0, 1, 0)]), Joint("b", (5, 0, 0), ""))
    character = read(text_of(*roots, rows=[[0, 0, 1, 90, 0, 0]]))
    joints, tips = places(character)
    assert character.skeleton.roots.tolist() == [0, 1]
    np.testing.assert_allclose(joints[0], [[0, 0, 1], [5, 0, 0]])
    np.testing.assert_allclose(tips[0], [[-1, 0, 1]], atol=1e-15)


def test_a_root_without_positions_stays_at_its_offset() -> None:
    joints, _ = places(read(text_of(Joint("a", (1, 2, 3)), rows=[[90, 0, 0]])))
    assert joints[0].tolist() == [[1, 2, 3]]


def test_no_tip_is_dropped_and_none_invented() -> None:
    leaf, both = Joint("leaf"), Joint("both", tips=[(1, 0, 0), (0, 0, 0)], children=[Joint("child")])
    skeleton = read(text_of(Joint("root", children=[leaf, both], tips=[(0, 0, 7)]))).skeleton
    assert skeleton.tip_parents.tolist() == [0, 2, 2]
    assert skeleton.tip_offsets.tolist() == [[0, 0, 7], [1, 0, 0], [0, 0, 0]]
    assert skeleton.tip_names == ("root.tip", "both.tip", "both.tip2")


NAMES = (
    "Upper Leg.L", "mixamorig:Hips", "End", "JOINT", "Site", "MOTION", "HandEnd", "|a/b\\c'\"[0].x", "Hüfte 日本",
    "a{b}", "OFFSET 0 0 0", "no\u00a0break", "Frame Time: 5", "Frames: 3",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_are_kept_whole(name: str) -> None:
    skeleton = read(ARM.replace("JOINT Arm", f"JOINT  {name} \t")).skeleton
    assert skeleton.names == ("Base", name, "Hand")


def test_names_that_repeat_get_the_first_free_number() -> None:
    joints = [Joint(name, (0, 1, 0)) for name in ("a", "b", "a", "a_2", "b", "a")]
    character = read(text_of(Joint("a", children=joints)))
    assert character.skeleton.names == ("a", "a_3", "b", "a_4", "a_2", "b_2", "a_5")
    assert character.source.layout is not None
    assert character.source.layout.names == ("a", "a", "b", "a", "a_2", "b", "a")
    assert [w for w in character.warnings if "called" in w] == [
        '4 joints are called "a": the others are now "a_3", "a_4", "a_5"',
        '2 joints are called "b": one is now "b_2"',
    ]


def test_names_that_are_no_utf8_are_read_as_latin_1() -> None:
    character = read(ARM.replace("Arm", "Hüfte").encode("latin-1"))
    assert character.skeleton.names[1] == "Hüfte"
    assert character.warnings == ("the file is not UTF-8: its names are read as Latin-1",)


def test_an_offset_may_have_a_rotation_at_rest() -> None:
    """As in NVIDIA's files for SOMA: places are those without it."""
    plain, turned = (
        read(ARM),
        read(ARM.replace("OFFSET 0 100 0", "OFFSET 0 100 0 90 0 5").replace("80 0", "80 0 1 2 3")),
    )
    assert turned.clip is not None
    assert plain.clip is not None
    ours, theirs = fk_clip(turned.skeleton, turned.clip), fk_clip(plain.skeleton, plain.clip)
    np.testing.assert_array_equal(ours.positions, theirs.positions)
    said = [warning for warning in turned.warnings if warning not in plain.warnings]
    assert said == [
        "OFFSET with six numbers: the last three, a rotation at rest, are left out; channels hold the whole rotation"
    ]
    with pytest.raises(FormatError, match='line 9, column 5: OFFSET of "Arm": expected a number, found "CHANNELS"'):
        read(ARM.replace("OFFSET 0 100 0", "OFFSET 0 100 0 90"))


def test_zero_length_bones_are_kept() -> None:
    text = text_of(Joint("a", children=[Joint("b", children=[Joint("c", tips=[(0, 0, 0)])])]), rows=[[0] * 9])
    joints, tips = places(read(text))
    assert not joints.any()
    assert tips.shape == (1, 1, 3)


def test_a_chain_of_thousands_needs_no_recursion() -> None:
    count = 3000
    opened = "".join(f"JOINT j{i}\n{{\nOFFSET 0 1 0\nCHANNELS 1 Zrotation\n" for i in range(1, count))
    head = f"HIERARCHY\nROOT j0\n{{\nOFFSET 0 0 0\nCHANNELS 0\n{opened}{'}' + chr(10)}{('}' + chr(10)) * (count - 1)}"
    character = read(f"{head}MOTION\nFrames: 1\nFrame Time: 1\n{'0.036 ' * (count - 1)}")
    joints, _ = places(character)
    # Turns of 0.036 degrees after each unit: the chain's corners lie on a circle.
    angles = np.radians(0.036) * np.arange(1, count - 1)
    np.testing.assert_allclose(joints[0, -1, :2], [-np.sin(angles).sum(), 1 + np.cos(angles).sum()], atol=1e-8)


def test_without_known_names_every_tip_is_an_effector() -> None:
    effectors = read(
        text_of(Joint("a", children=[Joint(f"c{i}", tips=[(0, 1, 0)]) for i in range(15)]))
    ).skeleton.effectors
    assert len([e for e in effectors if e.goal is not EffectorGoal.OFF]) == 12


def figure(x: float, y: float, z: float) -> str:
    """A figure with these extents in its first frame; its rest pose is another."""
    joints = [Joint("i", (1, 1, 1), XYZ), Joint("j", (1, 1, 1), XYZ)]
    return text_of(Joint("root", channels="", children=joints), rows=[[x, 0, z, 0, y, 0]])


@pytest.mark.parametrize(
    ("extent", "units", "metres"),
    [
        (0.0, "m", 1.0), (1e-8, "m", 1.0), (2.999, "m", 1.0),
        (3.0, "cmu", 0.0564444), (39.999, "cmu", 0.0564444),
        (40.0, "inch", 0.0254), (119.999, "inch", 0.0254),
        (120.0, "cm", 0.01), (400.0, "cm", 0.01),
        (400.001, "mm", 0.001), (1e9, "mm", 0.001),
    ],
)  # fmt: skip
def test_units_are_guessed_from_the_largest_extent(extent: float, units: str, metres: float) -> None:
    character = read(figure(extent / 3, extent, extent / 3), units="auto")
    assert (character.source.units, character.source.metres_per_unit) == (units, metres)
    assert (character.source.up, character.source.guessed) == ("y", True)
    joints, _ = places(character)
    assert joints[0, 2, 1] == pytest.approx(extent * metres, rel=1e-15)
    assert any(warning.startswith("units and axes are guessed: ") for warning in character.warnings)


def test_the_rest_pose_decides_where_there_is_no_motion() -> None:
    tall = Joint("root", children=[Joint("a", (0, 60, 0), tips=[(0, 60, 0)])])
    assert read(text_of(tall), units="auto").source.units == "cm"


@pytest.mark.parametrize(
    ("extents", "up"),
    [
        ((60, 30, 170), "z"), ((60, 30, 45), "y"), ((60, 30, 45.001), "z"), ((29, 30, 170), "y"),
        ((30, 30, 170), "z"), ((60, 170, 30), "y"), ((0, 0, 1), "z"), ((0, 0, 0), "y"),
    ],
)  # fmt: skip
def test_z_is_up_where_y_is_smallest_and_z_is_large(extents: tuple[float, float, float], up: str) -> None:
    assert read(figure(*extents), units="auto").source.up == up
    assert read(figure(*extents), units="cm").source.up == up
    assert read(figure(*extents), units="raw").source.up == "y"


def test_what_is_stated_is_not_guessed() -> None:
    text = figure(60, 30, 170)
    stated = read(text, units="inch", up="y")
    assert (stated.source.units, stated.source.up, stated.source.guessed) == ("inch", "y", False)
    assert stated.warnings == ()
    assert read(text, units="raw").warnings == ()
    half = read(text, units="cm").source
    assert (half.units, half.up, half.guessed) == ("cm", "z", True)
    assert read(text, units=0.5).source.metres_per_unit == 0.5
    assert read(text, units="raw", up="z").source.up == "z"


def test_guessed_frame_in_words() -> None:
    warnings = read(figure(60, 30, 170), units="auto").warnings
    assert warnings == ("units and axes are guessed: units of 0.01 m (cm), Z up, height 1.7 m; from its size",)


def test_only_what_is_guessed_is_said_to_be() -> None:
    upright, lying = figure(60, 170, 30), figure(60, 30, 170)
    assert read(upright, units="auto", up="y").warnings == (
        "units are guessed: units of 0.01 m (cm), height 1.7 m; from its size",
    )
    assert read(figure(0.6, 1.7, 0.3), units="auto", up="y").warnings == (
        "units are guessed: metres, height 1.7 m; from its size",
    )
    assert read(lying, units="cm").warnings == ("axes are guessed: Z up, height 1.7 m",)
    for units in ("cm", "0.0564444", 0.0564444, "raw"):
        assert read(upright, units=units).warnings == ()
        assert read(lying, units=units, up="z").warnings == ()


def test_z_up_turns_roots_and_scales_lengths() -> None:
    arm = Joint("arm", (0, 0, 50), "Xrotation", tips=[(0, 0, 100)])
    root = Joint("root", (10, 20, 30), f"{XYZ} {ZXY}", [arm])
    text = text_of(root, rows=[[1, 2, 3, 30, 40, 50, 60]])
    raw, turned = read(text), read(text, units="cm", up="z")
    to_y_up = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    for before, after in zip(places(raw), places(turned), strict=True):
        np.testing.assert_allclose(after, 0.01 * before @ to_y_up.T, atol=1e-15)
    # Only the root turns: what stands in its parent's frame is scaled and no more.
    assert turned.clip is not None
    assert raw.clip is not None
    np.testing.assert_array_equal(turned.clip.rotations[:, 1], raw.clip.rotations[:, 1])
    assert turned.skeleton.offsets.tolist() == [[0.1, 0.3, -0.2], [0, 0, 0.5]]
    assert turned.skeleton.tip_offsets.tolist() == [[0, 0, 1.0]]
    np.testing.assert_allclose(to_matrix(turned.skeleton.rest_rotations[0]), to_y_up, atol=1e-15)


@pytest.mark.parametrize(
    "units", ["", "metre", "-1", "nan", "inf", "0", "1e13", "1e-13", "1_0", "0x1", "1,5", "e5", "."]
)
def test_units_that_are_none(units: str) -> None:
    with pytest.raises(InputError, match=r"^units: expected auto, m, cm, mm, inch, raw or metres per unit, found "):
        check_units(units)


def test_an_axis_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.bvh").write_text(ARM)
    with pytest.raises(InputError, match=r'^up: expected auto, y, z, found "x"'):
        load(tmp_path / "a.bvh", up="x")  # type: ignore[arg-type]


def test_words_of_units_and_axes_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "A.BVH").write_text(ARM)
    source = load(tmp_path / "A.BVH", units=" CM ", up="Z").source  # type: ignore[arg-type]
    assert (source.units, source.up) == ("cm", "z")


@pytest.mark.parametrize("named", ["", " Toe"])
def test_an_end_site_with_channels_is_a_joint(named: str) -> None:
    text = ARM.replace("End Site", f"End Site{named}").replace("0 20 0", "0 20 0\n        CHANNELS 1 Zrotation")
    text = text.replace("0 0 0 0 0 0 0", "0 0 0 0 0 0 0 10").replace("30 0 45", "30 0 45 20")
    character = read(text)
    end = named.strip() or "Hand_end"
    assert character.skeleton.names == ("Base", "Arm", "Hand", end)
    assert character.skeleton.kinds[3] == "hinge"
    assert not len(character.skeleton.tip_parents)
    assert f'End Site of "Hand" has channels: read as a joint, "{end}"' in character.warnings
    assert character.clip is not None
    np.testing.assert_allclose(to_matrix(character.clip.rotations[:, 3]), [turn("z", 10), turn("z", 20)], atol=1e-15)


def test_an_end_site_may_state_that_it_has_no_channels() -> None:
    assert len(read(ARM.replace("0 20 0", "0 20 0 CHANNELS 0")).skeleton.tip_parents) == 1


def test_a_frame_time_that_is_rather_a_rate_is_said() -> None:
    line = "Frame Time is 120 seconds from frame to frame: perhaps a rate, which --frame-time 0.00833333 corrects"
    assert line in read(ARM.replace("0.04", "120")).warnings
    assert not any("rate" in warning for warning in read(ARM.replace("0.04", "9.9")).warnings)


@pytest.mark.parametrize("end", [b"\x1a", bytes(512)])
def test_what_old_programs_put_behind_the_last_row_is_no_row(tmp_path: Path, end: bytes) -> None:
    file = tmp_path / "old.bvh"
    file.write_bytes(ARM.encode() + end)
    assert len(load(file).clip or ()) == 2
