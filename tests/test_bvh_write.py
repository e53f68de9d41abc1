"""Writing BVH: what is read again is the same motion, in the layout that was read.

BVH states no units: where others would be guessed than were written, the writer says what to read it by.

Decimals, units and axes of written BVH files, and files that cannot be written.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from bvh_texts import ARM, XYZ, ZXY, Joint, again, assert_same_motion, jumps, places, read, text_of, with_tips, written
from characters import every_kind
from cli_run import figure, ran
from hypothesis import assume, given, strategies as st
from inside.formats import metres_per_unit, parse_bvh, plain_decimal
from inside.skeleton import UNLIMITED, chain
from inside.spatial import EulerOrder, from_axis_angle, multiply, normalized

import viewer
from viewer import save
from viewer.errors import InputError, OutputError
from viewer.skeleton import BvhLayout, Character, Clip, JointKind, JointLimits, Skeleton, Source, fk

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inside.spatial import Floats


POSITIONS, ROTATIONS = tuple(XYZ.split()), ("Xrotation", "Yrotation", "Zrotation")


names_alphabet = st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"))
names = st.text(names_alphabet, min_size=1, max_size=8).filter(
    lambda n: n == n.strip(" ") and n[0] != "{" and " {" not in n
)
channel_names = st.tuples(
    st.sets(st.sampled_from(POSITIONS)).map(tuple), st.lists(st.sampled_from(ROTATIONS), max_size=3, unique=True)
).flatmap(lambda both: st.permutations([*both[0], *both[1]]))


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[str]]:
    """Parents, in any order that has them first, and names."""
    count = draw(st.integers(1, 7))
    parents = [-1, *(draw(st.integers(-1, joint - 1)) for joint in range(1, count))]
    return parents, draw(st.lists(names, min_size=count, max_size=count, unique=True))


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Files with any channels, lengths of 1e-8 to 1e8 units and angles of up to two turns."""
    parents, called = draw(trees())
    scale = 10.0 ** draw(st.integers(-8, 8))
    random = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    joints: list[Joint] = []
    for joint in reversed(range(len(parents))):
        children = [child for child in reversed(joints) if parents[int(child.name.split(":", 1)[0])] == joint]
        channels = " ".join(draw(channel_names))
        tips = scale * random.normal(size=(draw(st.integers(0, 2)), 3))
        offset = scale * random.normal(size=3) * draw(st.sampled_from([0.0, 1.0]))
        joints.append(Joint(f"{joint}:{called[joint]}", offset.tolist(), channels, children, tips.tolist()))
    roots = [joint for joint in reversed(joints) if parents[int(joint.name.split(":", 1)[0])] < 0]
    head = text_of(*roots)
    columns = [name for names_of in parse_bvh(head.encode(), "f").channels for name in names_of]
    assume(columns)  # without channels there are no rows to be found
    spread = np.array([scale if name.endswith("position") else 300.0 for name in columns])
    rows = random.normal(size=(draw(st.integers(1, 4)), len(columns))) * spread
    whole = draw(st.booleans())
    return text_of(*roots, rows=(np.rint(rows / 90) * 90 if whole and scale == 1 else rows).tolist())


@given(texts(), st.sampled_from(["m", "cm", "mm", "inch", "raw", "0.3"]), st.sampled_from(["y", "z"]))
def test_what_was_read_is_written_as_it_was_read(text: str, units: str, up: str) -> None:
    character = read(text, units, up)
    out, warnings = written(character)
    other = read(out, units, up)
    assert warnings == []
    assert other.source.layout == character.source.layout
    assert other.skeleton.names == character.skeleton.names
    assert other.clip is not None
    assert other.clip.frame_time == 0.04
    assert_same_motion(character, other)
    assert jumps(out) <= 180.000001


@given(trees(), st.integers(0, 1 << 30), st.sampled_from(["y", "z"]), st.integers(-8, 8), st.booleans())
def test_any_character_keeps_its_motion(
    tree: tuple[list[int], list[str]], seed: int, up: Literal["y", "z"], power: int, laid_out: bool
) -> None:
    parents, called = tree
    random = np.random.default_rng(seed)
    count, frames = len(parents), 3
    tips = np.sort(random.integers(0, count, random.integers(0, 4)))
    skeleton = Skeleton(
        name="made",
        names=tuple(called),
        parents=np.array(parents),
        offsets=random.normal(size=(count, 3)) * 10.0**power,
        rest_rotations=normalized(random.normal(size=(count, 4))),
        kinds=tuple(JointKind.FREE if parent < 0 else JointKind.BALL for parent in parents),
        axes=np.zeros((count, 2, 3)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=tips,
        tip_offsets=random.normal(size=(len(tips), 3)) * 10.0**power,
    )
    moved = np.flatnonzero(random.integers(0, 2, count))
    turns = normalized(random.normal(size=(frames, count, 4)))
    shifts = random.normal(size=(frames, len(moved), 3)) * 10.0**power
    clip = Clip("c", 1 / 24, turns, moved, shifts, skeleton.offsets)
    layout = read(ARM).source.layout if laid_out and count == 3 else None
    source = Source(metres_per_unit=0.01, units="cm", up=up, layout=layout)
    character = Character(skeleton, MappingProxyType({"c": clip}), source)
    expected = character if layout else replace(character, skeleton=with_tips(skeleton))
    assert_same_motion(expected, again(character))
    assert jumps(written(character)[0]) <= 180.000001


def hinge_clip(character: Character, joint: int, rotations: Floats) -> Character:
    """The character with other rotations of one joint."""
    clip = character.clip
    assert clip is not None
    turns = clip.rotations.copy()
    turns[:, joint] = rotations
    return replace(character, clips=MappingProxyType({"c": replace(clip, rotations=turns)}))


def test_what_the_layout_cannot_hold_widens_its_channels() -> None:
    character = hinge_clip(read(ARM), 2, from_axis_angle(np.array([0.0, 1, 0]), np.array([0.5, 1.0])))
    text, warnings = written(character)
    assert warnings == ['joint "Hand": its channels cannot hold the motion; added Zrotation, Yrotation']
    other = read(text)
    assert other.source.layout is not None
    assert other.source.layout.channels[2] == ("Xrotation", "Zrotation", "Yrotation")
    assert_same_motion(character, other)


@pytest.mark.parametrize(("off", "widened"), [(1e-10, False), (1e-6, True)])
def test_channels_hold_what_differs_by_rounding_only(off: float, widened: bool) -> None:
    aside = from_axis_angle(np.array([0.0, 1, 0]), np.array([off, off]))
    turns = multiply(aside, from_axis_angle(np.array([1.0, 0, 0]), np.array([0.5, 1.0])))
    _, warnings = written(hinge_clip(read(ARM), 2, turns))
    assert len(warnings) == widened


def test_a_joint_that_moves_gets_positions() -> None:
    character = read(ARM)
    assert character.clip is not None
    shifts = np.stack([character.clip.translations[:, 0], [[0, 85, 0], [0, 90, 0]]], axis=1)
    clip = replace(character.clip, translated=np.array([0, 2]), translations=shifts)
    character = replace(character, clips=MappingProxyType({"c": clip}))
    text, warnings = written(character)
    assert warnings == ['joint "Hand": its channels cannot hold the motion; added Xposition, Yposition, Zposition']
    assert_same_motion(character, read(text))


@pytest.mark.parametrize("units", ["cm", "mm", "inch", "cmu", "0.3"])
def test_one_position_channel_stays_one_in_any_unit(units: str) -> None:
    root = Joint("root", channels="", children=[Joint("slide", (0.1, 0.2, 0.7), "Yposition")])
    character = read(text_of(root, rows=[[0.3], [1 / 3]]), units, "z")
    text, warnings = written(character)
    assert warnings == []
    assert "CHANNELS 1 Yposition" in text


def test_universals_past_a_right_angle_stay_universals() -> None:
    """(170, 120) and (-10, 60, 180) are one rotation: the two channels hold only the first form."""
    rows = np.random.default_rng(1).uniform(-180, 180, (200, 2)).tolist()
    text, warnings = written(read(text_of(Joint("root", channels="Zrotation Xrotation"), rows=rows)))
    assert warnings == []
    assert jumps(text) <= 180.000001
    found = parse_bvh(text.encode(), "f").values
    np.testing.assert_allclose((found - rows + 180) % 360, 180, atol=1e-6)


def test_a_steady_turn_is_written_without_a_jump() -> None:
    rows = [[0.0, 0.0, 25.0 * frame, 80.0, 10.0 * frame] for frame in range(100)]
    root = Joint("root", channels="Xposition Yposition Zrotation Xrotation Yrotation")
    text, _ = written(read(text_of(root, rows=rows)))
    np.testing.assert_allclose(parse_bvh(text.encode(), "f").values, rows, atol=1e-6)


def test_a_turn_past_gimbal_lock_is_written_as_it_was() -> None:
    """Past 90 degrees another triple of angles is the usual one: half a turn away on two channels."""
    rows = [[30.0, angle, 40.0] for angle in np.linspace(60.5, 119.5, 60)]
    text, _ = written(read(text_of(Joint("root"), rows=rows)))
    np.testing.assert_allclose(parse_bvh(text.encode(), "f").values, rows, atol=1e-6)


def test_turns_through_gimbal_lock_keep_their_places() -> None:
    rows = [[30.0, angle, 40.0] for angle in np.linspace(60, 120, 61)]
    before = read(text_of(Joint("root", tips=[(1, 2, 3)]), rows=rows))
    text, _ = written(before)
    assert jumps(text) <= 180.000001
    np.testing.assert_allclose(places(read(text))[1], places(before)[1], atol=1e-6)


def test_names_that_repeat_are_written_as_they_were_read() -> None:
    text, _ = written(read(ARM.replace("Hand", "Arm")))
    assert text.count("JOINT Arm\n") == 2
    assert "Arm_2" not in text


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("new\nline", "new_line"), ("tab\tin", "tab_in"), (" blank", "_blank"), ("blank ", "blank_"),
        ("Wrist {x}", "Wrist _x_"), ("a{b} {c", "a_b_ _c"), ("a {b", "a _b"), ("{", "_"), ("{ a", "_ a"),
        ("nul\0", "nul_"), ("\x7f", "_"),
    ],
)  # fmt: skip
def test_names_that_bvh_cannot_hold_are_changed_with_a_warning(name: str, safe: str) -> None:
    skeleton = replace(chain(2), names=("root", name))
    text, warnings = written(Character(skeleton))
    shown = name.encode("unicode_escape").decode()
    assert warnings == [f'joint "{shown}" is written as "{safe}": BVH cannot hold its name']
    assert read(text).skeleton.names == ("root", safe)


def test_names_that_no_file_can_hold_write_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        save(Character(chain(2), source=Source(layout=BvhLayout(("root", "\ud800"), ((), ())))), tmp_path / "a.bvh")
    assert list(tmp_path.iterdir()) == []


def test_a_skeleton_of_another_format_gets_the_usual_channels() -> None:
    character = every_kind()
    skeleton = character.skeleton
    text, warnings = written(character)
    # ("new\nline" cannot be held; the positions of the slide and the turns of fixed joints can.)
    assert [warning for warning in warnings if "channels" in warning] == []
    parsed = parse_bvh(text.encode(), "f")
    usual = ("Zrotation", "Xrotation", "Yrotation")
    channels = dict(zip([joint.name for joint in parsed.joints], parsed.channels, strict=True))
    assert channels == {
        "root": POSITIONS + usual, "bäll": usual, 'quo"te': usual, "new_line": usual, "slide 日本": POSITIONS + usual,
        "euler": usual, "fixed root": POSITIONS + usual, "plain": usual,
    }  # fmt: skip
    assert [len(joint.tips) for joint in parsed.joints if joint.name == "plain"] == [1]
    assert_same_motion(replace(character, skeleton=with_tips(skeleton)), again(character))


@pytest.mark.parametrize("order", ["xyz", "yzx", "zxy", "xzy", "yxz", "zyx"])
def test_euler_limits_give_the_order(order: EulerOrder) -> None:
    limits = (None, JointLimits.euler(order, UNLIMITED, (-1.0, 1.0), UNLIMITED))
    skeleton = replace(chain(2), limits=limits)
    text, _ = written(Character(skeleton))
    assert f"CHANNELS 3 {' '.join(f'{axis.upper()}rotation' for axis in order)}\n" in text


def test_joints_are_nested_where_the_arrays_are_not() -> None:
    """Joints level by level become a hierarchy child by child."""
    skeleton = replace(chain(5), parents=np.array([-1, 0, 0, 1, 2]), names=("root", "a", "b", "a1", "b1"))
    other = read(written(Character(skeleton))[0])
    assert other.skeleton.names == ("root", "a", "a1", "b", "b1")
    assert other.skeleton.parents.tolist() == [-1, 0, 1, 0, 3]


def test_without_motion_the_rest_pose_is_the_one_frame() -> None:
    text, _ = written(Character(chain(2)))
    assert "Frames: 1\nFrame Time: 0.03333333333333333\n" in text
    np.testing.assert_allclose(places(read(text))[0][0], fk(chain(2), chain(2).rest_pose()).positions, atol=1e-7)


def test_without_channels_there_are_no_rows() -> None:
    text, warnings = written(read(text_of(Joint("root", channels="", tips=[(0, 1, 0)]))))
    assert text.endswith("Frames: 0\nFrame Time: 0.03333333333333333\n")
    assert warnings == []


SAY = "BVH states no units or axes: read it with "
PISTON, BIPED = viewer.load("sample:piston"), viewer.load("sample:biped")


def told(lost: list[str]) -> list[str]:
    return [line for line in lost if line.startswith("BVH states no units")]


def height(character: viewer.Character) -> float:
    return float(np.ptp(viewer.fk(character.skeleton, character.skeleton.rest_pose()).positions, axis=0).max())


def test_a_file_that_would_be_guessed_wrongly_says_how_to_read_it(tmp_path: Path) -> None:
    path = tmp_path / "piston.bvh"
    (line,) = told(viewer.save(PISTON, path))
    assert line == f'{SAY}--units m (in Python units="m"), or it is taken for units of 0.0564444 m (cmu), Y up'
    stated = viewer.load(path, units="m")
    assert height(stated) == pytest.approx(height(PISTON), abs=1e-6)
    assert stated.warnings == ()
    assert height(viewer.load(path)) != pytest.approx(height(PISTON), rel=0.5)


@pytest.mark.parametrize(("units", "up"), [("m", "y"), ("cm", "y"), ("m", "z"), ("cm", "z")])
def test_one_that_is_guessed_rightly_says_nothing(tmp_path: Path, units: str, up: Literal["y", "z"]) -> None:
    path = tmp_path / "biped.bvh"
    assert told(viewer.save(BIPED, path, units=units, up=up)) == []
    again = viewer.load(path)
    assert (again.source.units, again.source.up) == (units, up)
    assert height(again) == pytest.approx(height(BIPED), abs=1e-5)


def test_the_axis_is_told_where_that_alone_is_guessed_wrongly(tmp_path: Path) -> None:
    path, rest = tmp_path / "lying.bvh", BIPED.skeleton.rest_pose()
    # On its back with its arms out, head along z: taken for a figure that stands, Z up.
    turns = rest.rotations.copy()
    turns[0] = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    (line,) = told(viewer.save(BIPED, path, pose=viewer.Pose(turns, rest.translations)))
    assert line == f'{SAY}--up y (in Python up="y"), or it is taken for metres, Z up'
    assert viewer.load(path).source.up == "z"
    assert viewer.load(path, up="y").source.units == "m"
    # Walking, it is deeper than it is wide: Z is not seen to be up.
    (line,) = told(viewer.save(viewer.load("sample:walk"), path, up="z"))
    assert line == f'{SAY}--up z (in Python up="z"), or it is taken for units of 0.01 m (cm), Y up'


def test_who_read_it_by_these_units_knows_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path, out = figure(tmp_path), tmp_path / "out.bvh"
    assert ran(capsys, "convert", path, out, "--units", "cm", "--up", "y").err == ""
    said = ran(capsys, "convert", path, "-o", out, "--units", "cm", "--up", "y", "--to-units", "mm").err
    guess = "units of 0.01 m (cm), Y up"
    assert said == f'warning: {out}: {SAY}--units mm (in Python units="mm"), or it is taken for {guess}\n'


def test_the_command_warns_too(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    goals, out = tmp_path / "goals.json", tmp_path / "out.bvh"
    name = PISTON.skeleton.effectors[0].name
    goals.write_text(f'{{"goals": [{{"effector": "{name}", "pin": true}}]}}', encoding="utf-8")
    done = ran(capsys, "solve", "sample:piston", goals, "-o", out)
    assert f"warning: {out}: {SAY}--units m " in done.err
    assert ran(capsys, "info", out, "--units", "m").err == ""


@pytest.mark.parametrize("power", [-60, -20, -8, 8, 30])
def test_tiny_and_huge_figures_keep_their_digits(power: int) -> None:
    scale = 10.0**power
    arm = Joint("arm", (0, scale, scale / 3), tips=[(0, scale / 7, 0)])
    row = [scale, scale / 9, -scale, 10, 20, 30, 40, 50, 60]
    assert_same_motion(
        character := read(text_of(Joint("root", channels=f"{XYZ} {ZXY}", children=[arm]), rows=[row])), again(character)
    )


def test_a_tip_alone_gives_the_size() -> None:
    character = read(text_of(Joint("root", tips=[(0, 1e-8, 3e-9)]), rows=[[10, 20, 30]]))
    assert_same_motion(character, again(character))


def test_a_flower_of_tiny_petals_keeps_its_digits() -> None:
    petals = [Joint(f"p{i}", tuple(1e-5 * np.random.default_rng(i).normal(size=3))) for i in range(500)]
    character = read(text_of(Joint("root", channels=XYZ, children=petals), rows=[[0.0] * 1503]))
    assert_same_motion(character, again(character))


def test_rounding_does_not_add_up_along_a_chain() -> None:
    skeleton = chain(5000)
    offsets = skeleton.offsets.copy()
    offsets[1:] = (1 / 30, 0.1 / 7, 0.1 / 30)
    skeleton = replace(skeleton, offsets=offsets)
    turns = np.broadcast_to(from_axis_angle(np.array([0.36, 0.48, 0.8]), np.array(0.0007)), (1, len(skeleton), 4))
    clip = Clip("c", 0.1, turns, np.array([], dtype=int), np.zeros((1, 0, 3)), offsets)
    text, _ = written(character := Character(skeleton, MappingProxyType({"c": clip})))
    assert len(text) < 5_000_000
    assert_same_motion(character, read(text))


CONVERSIONS = [("cm", "y", 0.01), ("mm", "z", 0.001), ("inch", None, 0.0254), (0.3, "y", 0.3), ("m", "z", 1.0)]


@pytest.mark.parametrize(("units", "up", "metres"), CONVERSIONS)
def test_other_units_and_axes_are_the_same_places(
    tmp_path: Path, units: str | float, up: Literal["y", "z"] | None, metres: float
) -> None:
    character = read(ARM.replace("0 0 0 0 0 0 0\n", "10 20 30 0 0 0 40\n"), "cm", "z")
    said = save(character, tmp_path / "o.bvh", units=units, up=up)
    assert all(line.startswith("BVH states no units or axes: ") for line in said)  # nothing is lost
    other = read((tmp_path / "o.bvh").read_text(), units, up or "z")
    assert metres_per_unit(str(units)) == metres
    assert_same_motion(character, other)


def test_a_root_that_cannot_turn_is_widened_when_the_axes_change(tmp_path: Path) -> None:
    character = read(text_of(Joint("root", channels="", children=[Joint("a", (1, 2, 3))]), rows=[[1, 2, 3]]), "m", "z")
    warnings = save(character, tmp_path / "o.bvh", up="y")
    assert warnings == ['joint "root": its channels cannot hold the motion; added Zrotation, Xrotation, Yrotation']
    assert_same_motion(character, read((tmp_path / "o.bvh").read_text(), "m", "y"))


def test_precision_is_the_number_of_decimals() -> None:
    for decimals in (0, 2, 17):
        rows = written(read(ARM), precision=decimals)[0].splitlines()[-2:]
        assert {len(number.partition(".")[2]) for row in rows for number in row.split()} == {decimals}
    with pytest.raises(InputError, match=r"^precision: expected 0 to 17 decimals, found 18$"):
        written(read(ARM), precision=18)


def test_no_zero_has_a_sign() -> None:
    text, _ = written(read(ARM.replace("1 2 3 0 0 0 0", "-1e-9 -0.0 0 -1e-9 0 0 -0.0")))
    assert "-0.0" not in text


@pytest.mark.parametrize("value", [1 / 30, 1e-30, 5e-324, 0.1, 1e22, 1.0])
def test_frame_times_are_kept_to_the_last_bit(value: float) -> None:
    assert float(plain_decimal(value)) == value
    assert "e" not in plain_decimal(value)
    assert set(plain_decimal(value)) <= set("0123456789.")


def failing(*_: object) -> None:
    raise OSError(28, "no space")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "a.bvh"
    path.write_text("before")
    breaker: Callable[..., None] = failing
    monkeypatch.setattr(f"os.{call}", breaker)
    with pytest.raises(OutputError, match="the disk is full"):
        save(read(ARM), path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.bvh", "before")]


@pytest.mark.parametrize(("name", "words"), [("a", "no suffix"), ("a.fbx", '".fbx"'), ("none/a.bvh", "folder")])
def test_places_that_cannot_be_written(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises((InputError, OutputError), match=words):
        save(read(ARM), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
