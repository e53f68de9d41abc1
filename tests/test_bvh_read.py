"""Reading BVH: the grammar in every layout, and what is refused, with its place."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from bvh_texts import ARM, places, read, refused
from inside.formats import parse_bvh

from viewer.errors import FormatError


def test_what_a_plain_file_holds() -> None:
    character = read(ARM)
    skeleton, clip = character.skeleton, character.clip
    assert clip is not None
    assert (skeleton.name, skeleton.names) == ("f", ("Base", "Arm", "Hand"))
    assert skeleton.parents.tolist() == [-1, 0, 1]
    assert [kind.value for kind in skeleton.kinds] == ["free", "ball", "hinge"]
    assert skeleton.offsets.tolist() == [[0, 0, 0], [0, 100, 0], [0, 80, 0]]
    assert skeleton.tip_parents.tolist() == [2]
    assert skeleton.tip_offsets.tolist() == [[0, 20, 0]]
    assert (len(clip), clip.frame_time, clip.translated.tolist()) == (2, 0.04, [0])
    assert character.limits_from == "clip"
    assert character.warnings == ()


def test_world_places_by_hand() -> None:
    joints, tips = places(read(ARM))
    np.testing.assert_allclose(joints[0], [[1, 2, 3], [1, 102, 3], [1, 182, 3]], atol=1e-12)
    np.testing.assert_allclose(tips[0], [[1, 202, 3]], atol=1e-12)
    # Frame 1: the root turned 90 degrees about z lays the arm along -x, which turns 30 degrees about x within:
    # (0, 80 cos 30, 80 sin 30) -> (-80 cos 30, 0, 40); the hand adds 45 degrees about the same axis.
    upper, lower = math.radians(30), math.radians(75)
    hand: list[float] = [1 - 100 - 80 * math.cos(upper), 2, 3 + 80 * math.sin(upper)]
    np.testing.assert_allclose(joints[1], [[1.0, 2.0, 3.0], [-99.0, 2.0, 3.0], hand], atol=1e-12)
    tip = [hand[0] - 20 * math.cos(lower), 2, hand[2] + 20 * math.sin(lower)]
    np.testing.assert_allclose(tips[1], [tip], atol=1e-12)


ONE_LINE = " ".join(ARM.partition("MOTION")[0].split())
LAYOUTS = {
    "CR LF": ARM.replace("\n", "\r\n"),
    "bare CR": ARM.replace("\n", "\r"),
    "CR LF, then LF": ARM.partition("MOTION")[0].replace("\n", "\r\n") + "MOTION" + ARM.partition("MOTION")[2],
    "tabs": ARM.replace(" ", "\t").replace("Frame\tTime", "Frame Time"),
    "lower case": ARM.lower().replace("base", "Base").replace("arm", "Arm").replace("hand", "Hand"),
    "upper case": ARM.upper().replace("BASE", "Base").replace("ARM", "Arm").replace("HAND", "Hand"),
    "no indentation": "\n".join(line.strip() for line in ARM.splitlines()),
    "blanks at line ends": ARM.replace("\n", " \t \n"),
    "blank lines": ARM.replace("\n", "\n\n \n"),
    "many blanks between numbers": ARM.replace("1 2 3 ", "1  2 \t 3   "),
    "no newline at the end": ARM.removesuffix("\n"),
    "byte order mark": "\ufeff" + ARM,
    "braces on the line of the name": ARM.replace("Base\n{", "Base {").replace("Arm\n  {", "Arm\t{"),
    "names on a line of their own": ARM.replace("ROOT Base", "ROOT\nBase").replace("JOINT Arm", "JOINT \n\n  Arm"),
    "all joints on one line": ONE_LINE + "\nMOTION" + ARM.partition("MOTION")[2],
    "motion header on one line": ARM.replace("MOTION\nFrames: 2\n", "MOTION Frames: 2 "),
    "first row on the line of the frame time": ARM.replace("0.04\n", "0.04 "),
    "blanks before colons": ARM.replace("Frames:", "frames :").replace("Frame Time:", "FRAME \t TIME :"),
    "no blank after colons": ARM.replace("Frames: ", "Frames:").replace("Frame Time: ", "Frame Time:"),
    "a name of the End Site": ARM.replace("End Site", "end site Tip of the hand"),
    "wrapped rows": ARM.replace("1 2 3 ", "1 2 3\n"),
    "wrapped after every number": ARM.partition("1 2 3")[0] + "\n".join("1230000000") + "\n1 2 3 90 0 0 0 30 0 45",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_the_same_file(layout: str) -> None:
    one, other = read(ARM), read(LAYOUTS[layout])
    assert other.skeleton.names == one.skeleton.names
    assert other.warnings == ()
    for a, b in zip(places(one), places(other), strict=True):
        np.testing.assert_array_equal(a, b)


def test_numbers_are_taken_in_every_form() -> None:
    row = "+1 1E1 -0.0 .5 5. 1e-3 -2.5E+1 010 1.0000000000000000000001 -.25"
    values = parse_bvh(ARM.replace("1 2 3 0 0 0 0 0 0 0", row).encode(), "f.bvh").values
    assert values[0].tolist() == [1, 10, 0, 0.5, 5, 0.001, -25, 10, 1, -0.25]


def test_numbers_are_read_to_the_last_bit() -> None:
    generator = random.Random(5)
    words = [f"{generator.uniform(-360, 360):.{generator.randrange(25)}f}" for _ in range(2000)]
    words += [f"{generator.uniform(-1, 1) * 10.0 ** generator.randrange(-300, 100):.17g}" for _ in range(2000)]
    rows = "\n".join(" ".join(words[i : i + 10]) for i in range(0, len(words), 10))
    text = ARM.partition("1 2 3")[0].replace("Frames: 2", "Frames: 400")
    plain = parse_bvh((text + rows).encode(), "f.bvh")
    assert plain.values.ravel().tolist() == [float(word) for word in words]
    # One plus sign sends the rows through the careful reader: the same numbers.
    careful = parse_bvh((text + "+" + rows.lstrip("-")).encode(), "f.bvh")
    assert np.abs(careful.values).tolist() == np.abs(plain.values).tolist()


REFUSALS = [
    ("HIERARCHY", "<html>", 1, 1, 'expected a BVH file, which begins with HIERARCHY, found "<html>"'),
    ("ROOT Base", "JOINT Base", 2, 1, 'expected ROOT, found "JOINT"'),
    ("Base\n", "\n", 3, 1, 'expected a name after ROOT, found "{"'),
    ("Base\n{", "Base\n", 4, 3, 'joint "Base": expected {, found "OFFSET"'),
    ("  OFFSET 0 0 0", "  OFSET 0 0 0",
     4, 3, 'in joint "Base": expected OFFSET, CHANNELS, JOINT, End Site or }, found "OFSET"'),
    ("0 100 0", "0 nan 0", 8, 14, 'OFFSET of "Arm": expected a number, found "nan"'),
    ("0 100 0", "0 1,5 0",
     8, 14, 'OFFSET of "Arm": expected a number, found "1,5" (a decimal comma; BVH has a point)'),
    ("0 100 0", "0 1e101 0", 8, 14, 'OFFSET of "Arm": expected a number, found "1e101" (out of range)'),
    ("0 100 0", "0 100", 9, 5, 'OFFSET of "Arm": expected a number, found "CHANNELS"'),
    ("0 80 0", "0 80 0\nOFFSET 1 1 1", 13, 1, 'OFFSET of "Hand": expected once, found a second one'),
    ("      OFFSET 0 80 0\n", "", 17, 5, 'joint "Hand": expected OFFSET before }, found none'),
    ("CHANNELS 1 X", "CHANNELS 2 X", 13, 7, 'CHANNELS of "Hand": expected 2 names, found 1'),
    ("CHANNELS 1 X", "CHANNELS 0 X", 13, 7, 'CHANNELS of "Hand": expected 0 names, found 1'),
    ("CHANNELS 1 X", "CHANNELS one X", 13, 16, 'CHANNELS of "Hand": expected a whole number, found "one"'),
    ("CHANNELS 1 X", "CHANNELS 7 X", 13, 16, 'CHANNELS of "Hand": expected 0 to 6 channels, found 7'),
    ("1 Xrotation", "1 Wrotation",
     13, 18, 'CHANNELS of "Hand": expected Xposition to Zrotation, found "Wrotation"'),
    ("1 Xrotation", "2 Xrotation Xrotation",
     13, 7, 'CHANNELS of "Hand": expected each channel once, found Xrotation twice'),
    ("1 Xrotation", "1 Xrotation CHANNELS 0",
     13, 28, 'CHANNELS of "Hand": expected once, found a second time'),
    ("      }\n    }\n  }\n}", "      }\n    }\n CHANNELS 0\n  }\n}",
     19, 2, 'CHANNELS of "Arm": expected once, found a second time'),
    ("End Site", "End", 15, 7, 'in joint "Hand", after End: expected Site, found "{"'),
    ("0 20 0\n", "0 20 0\nJOINT Nail\n",
     17, 1, 'End Site of "Hand": expected }, found "JOINT" "Nail"'),
    ("OFFSET 0 20 0", "", 17, 7, 'End Site of "Hand": expected OFFSET, found "}"'),
    ("}\nMOTION", "}\n}\nMOTION", 21, 1, 'expected ROOT or MOTION, found "}"'),
    ("}\nMOTION", "MOTION",
     20, 1, 'in joint "Base": expected JOINT, End Site or }, found "MOTION"'),
    ("Frames: 2", "Frames 2", 22, 1, 'expected Frames:, found "Frames"'),
    ("Frames: 2", "Frames: 2.5", 22, 9, 'Frames: expected a whole number, found "2.5"'),
    ("Frames: 2", "Frames: -1", 22, 9, "Frames: expected 0 or more, found -1"),
    ("0.04", "30fps", 23, 13, 'Frame Time: expected a number, found "30fps"'),
    ("0.04", "-0.04", 23, 13, "Frame Time: expected more than 0 seconds, found -0.04"),
    (ARM[ARM.index("0.04") :], "", 23, 13, "Frame Time: expected a number, found end of file"),
    ("30 0 45", "30 0 x", 25, 21, 'in a frame: expected a finite number, found "x"'),
    ("30 0 45", "30 inf 45", 25, 19, 'in a frame: expected a finite number, found "inf"'),
    ("30 0 45", "30 1e999 45", 25, 19, 'in a frame: expected a finite number, found "1e999" (out of range)'),
    ("30 0 45", "30 -1e101 45", 25, 19, 'in a frame: expected a finite number, found "-1e101" (out of range)'),
    ("30 0 45", "30 0x1 45", 25, 19, 'in a frame: expected a finite number, found "0x1"'),
    ("30 0 45", "30 1_0 45", 25, 19, 'in a frame: expected a finite number, found "1_0"'),
    ("30 0 45", "30 \uff14 45", 25, 19, 'in a frame: expected a finite number, found "\uff14"'),
    ("30 0 45", "30 0,5 45",
     25, 19, 'in a frame: expected a finite number, found "0,5" (a decimal comma; BVH has a point)'),
    ("30 0 45", "30 0],[1 45", 25, 19, 'in a frame: expected a finite number, found "0],[1"'),
    ("30 0 45", "30 0", 25, 1, "expected 10 numbers in a frame (the channels of all joints), found 9"),
    ("30 0 45", "30 0 45 0", 25, 1, "expected 10 numbers in a frame (the channels of all joints), found 11"),
    ("0\n1 2 3", "0 1\n2 3", 24, 1, "expected 10 numbers in a frame (the channels of all joints), found 11"),
    ("0.04\n1 2 3", "0.04 1 2 3 4\n", 23, 18, "expected 10 numbers in a frame (the channels of all joints), found 4"),
    ("0.04\n1 2 3", "0.04 1 2 ?", 23, 22, 'in a frame: expected a finite number, found "?"'),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "column", "problem"), REFUSALS)
def test_refusals_say_line_column_expected_and_found(old: str, new: str, line: int, column: int, problem: str) -> None:
    assert old in ARM
    assert refused(ARM.replace(old, new, 1)) == f"f.bvh, line {line}, column {column}: {problem}"


def test_channels_after_a_child_are_refused() -> None:
    """Readers that patch an earlier joint then corrupt their memory."""
    text = "HIERARCHY ROOT a { OFFSET 0 0 0 JOINT b { OFFSET 0 1 0 CHANNELS 0 } CHANNELS 1 Xrotation } MOTION"
    assert (
        refused(text)
        == 'f.bvh, line 1, column 69: CHANNELS of "a": expected before the joint\'s children, found after one'
    )


@pytest.mark.parametrize("at", [len(ARM.partition(mark)[0]) for mark in ("Arm", "80", "End", "}\nMOTION", "0.04")])
def test_a_file_cut_short_says_end_of_file(at: int) -> None:
    assert refused(ARM[:at]).endswith("found end of file")


def test_binary_files_are_not_bvh() -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    assert "expected a BVH file, which begins with HIERARCHY" in refused(png)
    assert refused(ARM.encode("utf-16")) == (
        "f.bvh, line 1, column 1: expected a BVH file with HIERARCHY in UTF-8, found UTF-16"
    )
    assert refused(b" \n\t\n") == "f.bvh, line 1, column 1: expected HIERARCHY, found an empty file"


HOSTILE = {
    "a long number": ARM.replace("30 0 45", "1" * 200_000 + "x 0 45"),
    "a long number out of range": ARM.replace("30 0 45", "1" * 5000 + " 0 45"),
    "a long count": ARM.replace("Frames: 2", "Frames: " + "9" * 5000),
    "a long line": ARM.replace("30 0 45", "0 " * 500_000),
    "a long offset": ARM.replace("0 100 0", "0 " + "9" * 200_000 + "e 0"),
    "open braces": "HIERARCHY ROOT a " + "{ " * 100_000,
    "joints in joints": "HIERARCHY ROOT a { " + "JOINT b { " * 20_000,
    "colons": ARM.partition("MOTION")[0] + "MOTION " + "Frames: " * 50_000,
    "glued numbers": ARM.replace("30 0 45", "1-" * 100_000 + "x 0 45"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_texts_are_refused_at_once(what: str) -> None:
    """None takes time in proportion to more than its length: what does would hang here."""
    assert refused(HOSTILE[what]).startswith("f.bvh, line ")
    assert len(refused(HOSTILE[what])) < 200


def test_a_name_of_many_blanks_is_read_at_once() -> None:
    name = "a" + " " * 200_000 + "b"
    assert read(ARM.replace("Arm", name)).skeleton.names[1] == name


def test_what_frames_says_is_not_believed() -> None:
    for said in ("1", "3", "1000000000", "0"):
        character = read(ARM.replace("Frames: 2", f"Frames: {said}"))
        assert character.clip is not None
        assert len(character.clip) == 2
        assert character.warnings == (f"Frames: says {said}, found 2",)


def test_frame_time_zero_or_missing_is_a_thirtieth() -> None:
    zero, missing = read(ARM.replace("0.04", "0.0")), read(ARM.replace("Frame Time: 0.04\n", ""))
    tiny = read(ARM.replace("0.04", "1e-310"))  # its rate is infinite
    for character, warning in (
        (zero, "Frame Time is 0: taken as 1/30 s"),
        (tiny, "Frame Time is 1e-310: taken as 1/30 s"),
        (missing, "no Frame Time: taken as 1/30 s"),
    ):
        assert character.clip is not None
        assert (len(character.clip), character.clip.frame_time) == (2, 1 / 30)
        assert character.warnings == (warning,)


def test_a_skeleton_without_motion_or_frames_has_a_rest_pose() -> None:
    bare = read(ARM.partition("MOTION")[0])
    empty = read(ARM.partition("1 2 3")[0])
    assert bare.warnings == ("no MOTION: a skeleton without frames",)
    assert empty.warnings == ("Frames: says 2, found 0",)
    for character in (bare, empty):
        assert (character.clip, character.limits_from) == (None, None)
        assert len(character.skeleton) == 3


def test_glued_numbers_are_parted_with_a_warning() -> None:
    character = read(ARM.replace("90 0 0 0 30", "90 0.0-7.5e-1+2 30"))
    assert character.warnings == ('line 25: "0.0-7.5e-1+2" has no blank between its numbers: read as several',)
    values = parse_bvh(ARM.replace("90 0 0 0 30", "90 0.0-7.5e-1+2 30").encode(), "f.bvh").values
    assert values[1].tolist() == [1, 2, 3, 90, 0, -0.75, 2, 30, 0, 45]


def test_rows_longer_than_one_block_keep_their_line_numbers() -> None:
    rows = ["1.25 2.5 3.75 0 0 0 0 0 0 0"] * 20_000
    text = ARM.partition("1 2 3")[0].replace("Frames: 2", "Frames: 20000")
    assert len(parse_bvh((text + "\n".join(rows)).encode(), "f").values) == 20_000
    rows[15_000] = "1 2 3 4 5 6 7 8 9 ten"
    with pytest.raises(
        FormatError, match='f, line 15024, column 19: in a frame: expected a finite number, found "ten"'
    ):
        parse_bvh((text + "\n".join(rows)).encode(), "f")
