"""Error messages: one line, the place first, near names offered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.errors import FormatError, InputError, MachineError, OutputError, ViewerError, quote, unknown_name

JOINTS = ("Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftHand", "RightHand", "Head")


def test_all_errors_are_of_one_family_and_say_what_the_command_exits_with() -> None:
    exit_codes = {kind: kind.exit_code for kind in (FormatError, InputError, OutputError, MachineError)}
    assert exit_codes == {FormatError: 1, InputError: 1, OutputError: 1, MachineError: 3}
    assert all(issubclass(kind, ViewerError) for kind in exit_codes)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FormatError("found 0"), "found 0"),
        (FormatError("found 0", file="a.bvh"), "a.bvh: found 0"),
        (FormatError("found 0", file="a.bvh", line=3), "a.bvh, line 3: found 0"),
        (FormatError("found 0", file="a.bvh", line=3, column=7), "a.bvh, line 3, column 7: found 0"),
        (FormatError("found 0", line=3, column=7), "line 3, column 7: found 0"),
        (FormatError("found 0", file="a.json", path='joints[1] "b".offset'), 'a.json: joints[1] "b".offset: found 0'),
        (FormatError("found 0", path=".offset"), ".offset: found 0"),
    ],
)
def test_a_format_error_says_where_it_knows_to(error: FormatError, text: str) -> None:
    assert str(error) == text


def test_a_format_error_keeps_the_place_and_the_problem_apart() -> None:
    error = FormatError("found 0", file="a.bvh", line=3, column=7)
    assert (error.file, error.line, error.column, error.path, error.problem) == ("a.bvh", 3, 7, None, "found 0")


@pytest.mark.parametrize(
    ("found", "quoted"),
    [
        ("Hips", '"Hips"'),
        ("", '""'),
        (3.5, '"3.5"'),
        (None, '"None"'),
        ([1, "a"], "\"[1, 'a']\""),
        ("line\nbreak\tand\x00", '"line\\nbreak\\tand\\x00"'),
        ("\udc80", '"\\udc80"'),
        ("Hüfte 日本", '"Hüfte 日本"'),
        ("x" * 60, f'"{"x" * 60}"'),
        ("x" * 31 + "y" * 30, f'"{"x" * 30}…{"y" * 29}"'),
        ("\x1b[31mred\u202egnp.exe", '"\\x1b[31mred\\u202egnp.exe"'),
        ("\x9b1A\u2028\u200bHand", '"\\x9b1A\\u2028\\u200bHand"'),
    ],
)
def test_what_was_found_is_quoted_short_and_printable(found: object, quoted: str) -> None:
    assert quote(found) == quoted


@given(st.text(max_size=60))
def test_a_quote_is_always_one_printable_line(text: str) -> None:
    assert quote(text).isprintable()
    assert len(quote(text).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("LeftHnad", 'no joint "LeftHnad"; did you mean "LeftHand"?'),
        ("lefthand", 'no joint "lefthand"; did you mean "LeftHand"?'),
        ("LEFTLEG", 'no joint "LEFTLEG"; did you mean "LeftLeg" or "LeftUpLeg"?'),
        (
            "zzz",
            'no joint "zzz"; there is "Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftHand", "RightHand", "Head"',
        ),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_near_ones_else_with_what_there_is(name: str, message: str) -> None:
    assert unknown_name("joint", name, JOINTS) == message


@pytest.mark.parametrize("side", ["LeftHand", "RightHand"])
@pytest.mark.parametrize(
    "form", ["hand_{}", "hand.{}", "Hand-{}", "{}_hand", "{} Hand", "mixamorig:{}_Hand", "DEF:hand.{}", "Hand{}"]
)
def test_however_a_side_is_written_the_joint_of_that_side_is_offered(side: str, form: str) -> None:
    word = side.removesuffix("Hand")
    # Where nothing parts it from the rest of the name, a side is told by its capital.
    small = [] if form == "Hand{}" else [word.lower(), word[0].lower()]
    for written in [word, word[0], *small]:
        name = form.format(written)
        assert unknown_name("joint", name, JOINTS) == f'no joint "{name}"; did you mean "{side}"?'


@pytest.mark.parametrize("name", ["hand_l", "LeftHand", "l hand", "DEF-hand.L"])
def test_names_of_other_conventions_are_offered_too(name: str) -> None:
    for known in ("Hand.L", "LHand", "hand_left", "mixamorig:LeftHand"):
        assert unknown_name("joint", name, ["Head", known, "Foot.R"]).startswith(
            f'no joint "{name}"; did you mean "{known}"'
        )


def test_a_slip_beside_a_side_is_seen_through() -> None:
    assert unknown_name("joint", "hnad_l", JOINTS).startswith('no joint "hnad_l"; did you mean "LeftHand"')
    assert unknown_name("joint", "toe_l", ("LeftToe", "ToeL")) == 'no joint "toe_l"; did you mean "LeftToe"?'


def test_of_many_names_eight_are_listed_and_of_none_that_is_said() -> None:
    many = [f"joint{number}" for number in range(11)]
    listed = ", ".join(f'"{name}"' for name in many[:8])
    assert unknown_name("joint", "zzz", many) == f'no joint "zzz"; there is {listed} and 3 more'
    assert unknown_name("clip", "walk", iter(())) == 'no clip "walk": there is none'


def test_of_names_that_differ_in_case_alone_the_first_is_offered() -> None:
    assert unknown_name("joint", "hnad", ("Hand", "HAND", "hand")) == 'no joint "hnad"; did you mean "Hand"?'


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=10))
def test_any_name_gets_one_line(name: str, known: list[str]) -> None:
    assert unknown_name("joint", name, known).isprintable()
