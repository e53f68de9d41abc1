"""Writing BVH: what is read again is the same motion, in the layout that was read."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from bvh_texts import ARM, XYZ, Joint, again, assert_same_motion, jumps, places, read, text_of, with_tips, written
from characters import every_kind
from hypothesis import assume, given
from hypothesis import strategies as st
from inside.formats import parse_bvh
from inside.skeleton import UNLIMITED, chain
from inside.spatial import EulerOrder, from_axis_angle, multiply, normalized

from viewer import save
from viewer.errors import OutputError
from viewer.skeleton import BvhLayout, Character, Clip, JointKind, JointLimits, Skeleton, Source, fk

if TYPE_CHECKING:
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
