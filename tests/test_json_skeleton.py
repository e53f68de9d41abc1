"""A skeleton file is read by its contract: order, units, kinds, limits, poses, motion; everything wrong is named."""

from __future__ import annotations

import json
import math
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from characters import error_of, read, rig
from inside.formats import read_skeleton_json, skeleton_from_text
from inside.spatial import rotate

from viewer.errors import FormatError, ViewerError
from viewer.skeleton import Effector, EffectorGoal, JointKind, JointLimits, fk, fk_clip

if TYPE_CHECKING:
    from pathlib import Path


CLAW: dict[str, Any] = {
    "version": 1,
    "type": "skeleton",
    "name": "claw arm",
    "units": "m",
    "up": "y",
    "license": "CC0-1.0",
    "joints": [
        {"name": "base", "parent": None, "offset": [0, 0, 0], "rotation": [0, 0, 0, 1], "kind": "fixed"},
        {
            "name": "shoulder", "parent": "base", "offset": [0, 0.2, 0], "kind": "ball", "twist_axis": "y",
            "limits": {"x": [-90, 90], "y": [-40, 40], "z": [-60, 60]}, "stiffness": 0.2,
        },
        {
            "name": "elbow", "parent": "shoulder", "offset": [0, 0.4, 0], "kind": "hinge", "axis": [2, 0, 0],
            "limits": {"angle": [0, 150]},
        },
        {
            "name": "piston", "parent": "elbow", "offset": [0, 0.3, 0], "kind": "slide", "axis": [0, 1, 0],
            "limits": {"distance": [0, 0.2]}, "tips": [[0, 0.1, 0]],
        },
    ],
    "effectors": [{"name": "hand", "joint": "piston", "offset": [0, 0.1, 0], "goal": "position"}],
    "poses": {"relaxed": {"rotations": {"elbow": [0.6, 0, 0, 0.8]}, "translations": {"piston": [0, 0.35, 0]}}},
    "motion": {
        "frame_time": 0.0333333,
        "frames": [[[0, 0, 0, 1]] * 4, [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]],
        "translations": {"piston": [[0, 0.35, 0], [0, 0.4, 0]]},
        "keys": [1, 0],
    },
}  # fmt: skip


def test_the_contracts_example() -> None:
    character = read(CLAW)
    skeleton = character.skeleton
    assert (skeleton.name, skeleton.names) == ("claw arm", ("base", "shoulder", "elbow", "piston"))
    assert skeleton.parents.tolist() == [-1, 0, 1, 2]
    assert skeleton.offsets.tolist() == [[0, 0, 0], [0, 0.2, 0], [0, 0.4, 0], [0, 0.3, 0]]
    assert skeleton.kinds == (JointKind.FIXED, JointKind.BALL, JointKind.HINGE, JointKind.SLIDE)
    assert skeleton.axes[2].tolist() == [[1, 0, 0], [0, 0, 0]]
    assert skeleton.stiffness.tolist() == [0, 0.2, 0, 0]
    ranges = [tuple(map(math.radians, pair)) for pair in ((-90, 90), (-40, 40), (-60, 60))]
    low_high = [(low, high) for low, high in ranges]
    assert JointLimits.swing_twist(1, *low_high).same_as(skeleton.limits[1])
    assert JointLimits.coordinates((0.0, math.radians(150))).same_as(skeleton.limits[2])
    assert JointLimits.coordinates((0.0, 0.2)).same_as(skeleton.limits[3])
    assert skeleton.limits[0] is None
    assert skeleton.effectors == (Effector("hand", 3, (0.0, 0.1, 0.0), EffectorGoal.POSITION),)
    assert skeleton.tip_names == ("piston.tip",)
    assert skeleton.tip_offsets.tolist() == [[0, 0.1, 0]]
    assert (character.warnings, character.limits_from) == ((), "file")
    source = character.source
    assert (source.path, source.format, source.units, source.up) == ("f.json", "json", "m", "y")
    assert (source.guessed, source.license, source.joint_order) == (False, "CC0-1.0", (0, 1, 2, 3))


def test_the_examples_pose_and_motion() -> None:
    character = read(CLAW)
    skeleton, clip = character.skeleton, character.clip
    relaxed = skeleton.relaxed_pose()
    assert relaxed.rotations[2].tolist() == [0.6, 0, 0, 0.8]
    assert relaxed.translations.tolist() == [[0, 0, 0], [0, 0.2, 0], [0, 0.4, 0], [0, 0.35, 0]]
    assert clip is not None
    assert (clip.name, clip.frame_time, len(clip), clip.keys) == ("claw arm", 0.0333333, 2, (0, 1))
    assert clip.rotations[1].tolist() == [[0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert clip.translated.tolist() == [3]
    assert clip.translations[:, 0].tolist() == [[0, 0.35, 0], [0, 0.4, 0]]
    # base at 0, shoulder 0.2 up, turned about z by half a turn: all the rest hangs down.
    assert fk(skeleton, clip.pose(1)).positions[3] == pytest.approx([0, 0.2 - 0.4 - 0.4, 0])


def test_what_is_absent_has_its_default() -> None:
    character = skeleton_from_text('{"joints": [{"name": "a"}, {"name": "b", "parent": "a"}]}', "x/y.json")
    skeleton = character.skeleton
    assert skeleton.name == "y"
    assert skeleton.kinds == (JointKind.FREE, JointKind.BALL)
    assert skeleton.rest_rotations.tolist() == [[0, 0, 0, 1]] * 2
    assert skeleton.limits == (None, None)
    assert (character.clip, character.limits_from) == (None, None)
    assert character.warnings == ('joints[1] "b": no "offset", taken as 0, 0, 0',)


def test_children_may_come_first() -> None:
    names = ["d", "a", "c", "e", "b"]
    parents = {"d": "c", "a": None, "c": "b", "e": "a", "b": "a"}
    joints = [{"name": n, "parent": parents[n], "offset": [ord(n), 0, 0]} for n in names]
    frames = [[[0, 0, math.sin(i), math.cos(i)] for i in range(5)]]
    character = read({"joints": joints, "motion": {"frame_time": 1, "frames": frames}})
    skeleton = character.skeleton
    assert skeleton.names == ("a", "b", "c", "d", "e")
    assert skeleton.parents.tolist() == [-1, 0, 1, 2, 0]
    assert skeleton.offsets[:, 0].tolist() == [ord(n) for n in skeleton.names]
    order = character.source.joint_order
    assert [skeleton.names[i] for i in order] == names
    assert character.clip is not None
    assert character.clip.rotations[0][list(order)] == pytest.approx(np.array(frames[0]))


def test_a_long_chain_listed_from_its_end() -> None:
    joints = [{"name": f"j{i}", "parent": f"j{i - 1}" if i else None, "offset": [0, 1, 0]} for i in range(5000)]
    skeleton = read({"joints": joints[::-1]}).skeleton
    assert skeleton.parents.tolist() == list(range(-1, 4999))
    assert fk(skeleton, skeleton.rest_pose()).positions[-1].tolist() == [0, 5000, 0]


def test_a_file_order_with_parents_first_is_kept() -> None:
    joints = [("r", None), ("a", "r"), ("b", "r"), ("a1", "a"), ("b1", "b"), ("s", None)]
    character = read({"joints": [{"name": n, "parent": p, "offset": [0, 0, 1]} for n, p in joints]})
    assert character.skeleton.names == ("r", "a", "b", "a1", "b1", "s")
    assert character.skeleton.roots.tolist() == [0, 5]


@pytest.mark.parametrize(
    ("units", "metres"), [("cm", 0.01), ("mm", 0.001), ("inch", 0.0254), ("cmu", 0.0564444), (0.3, 0.3), (2, 2.0)]
)
def test_units_scale_every_length(units: str | float, metres: float) -> None:
    plain, scaled = read(CLAW), read(CLAW | {"units": units})
    assert scaled.source.metres_per_unit == metres
    a, b = plain.skeleton, scaled.skeleton
    assert plain.clip is not None
    assert scaled.clip is not None
    assert a.limits[3] is not None
    assert b.limits[3] is not None
    pairs = [
        (a.offsets, b.offsets),
        (a.tip_offsets, b.tip_offsets),
        (a.limits[3].upper, b.limits[3].upper),
        (a.effectors[0].offset, b.effectors[0].offset),
        (a.poses["relaxed"].translations, b.poses["relaxed"].translations),
        (plain.clip.translations, scaled.clip.translations),
        (plain.clip.offsets, scaled.clip.offsets),
    ]
    for one, other in pairs:
        assert np.asarray(other) == pytest.approx(np.asarray(one) * metres, rel=1e-15)
    assert (a.rest_rotations == b.rest_rotations).all()


def test_57_centimetres_are_no_more() -> None:
    assert rig({"offset": [57, 7, 0.1]}, units="cm").skeleton.offsets.tolist() == [[0.57, 0.07, 0.001]]


def test_z_up_turns_the_roots_and_nothing_else() -> None:
    turn = [0.6, 0, 0, 0.8]
    joints = [{"name": "a", "offset": [1, 2, 3], "rotation": turn}, {"name": "b", "parent": "a", "offset": [4, 5, 6]}]
    frames = [[[0, 0, 0, 1], [0, 0.6, 0, 0.8]], [[0, 1, 0, 0], [0, 0, 0, 1]]]
    motion = {"frame_time": 1, "frames": frames, "translations": {"b": [[4, 5, 7]] * 2, "a": [[1, 2, 3], [0, 0, 9]]}}
    document = {
        "joints": joints,
        "motion": motion,
        "poses": {"p": {"rotations": {"a": turn}, "translations": {"a": [7, 8, 9]}}},
    }
    flat, upright = read(document), read(document | {"up": "z"})
    assert upright.skeleton.offsets.tolist() == [[1, 3, -2], [4, 5, 6]]
    assert upright.skeleton.poses["p"].translations.tolist() == [[7, 9, -8], [4, 5, 6]]
    assert upright.clip is not None
    assert flat.clip is not None
    assert upright.clip.translated.tolist() == [0, 1]
    assert upright.clip.translations.tolist() == [[[1, 3, -2], [4, 5, 7]], [[0, 9, 0], [4, 5, 7]]]
    half = math.sqrt(0.5)
    for a, b in [
        (fk_clip(flat.skeleton, flat.clip), fk_clip(upright.skeleton, upright.clip)),
        (fk(flat.skeleton, flat.skeleton.rest_pose()), fk(upright.skeleton, upright.skeleton.rest_pose())),
        (fk(flat.skeleton, flat.skeleton.poses["p"]), fk(upright.skeleton, upright.skeleton.poses["p"])),
    ]:
        assert b.positions == pytest.approx(rotate([-half, 0, 0, half], a.positions), abs=1e-14)


def test_rotations_nearly_unit_are_normalised_and_unit_ones_keep_their_bits() -> None:
    near, exact = [0, 0, 0.70711, 0.70711], [0.1, 0.7, 0.1, 0.7]
    skeleton = rig({"rotation": near}, {"rotation": exact}).skeleton
    assert np.linalg.norm(skeleton.rest_rotations[0]) == pytest.approx(1, abs=1e-15)
    assert skeleton.rest_rotations[1].tolist() == exact
    expected = "expected a unit quaternion x, y, z, w, found one of length"
    assert error_of({"rotation": [0, 0, 0, 1.002]}) == f'f.json: joints[0] "a".rotation: {expected} 1.002'
    assert error_of({}, {"rotation": [0, 0, 0, 0]}) == f'f.json: joints[1] "b".rotation: {expected} 0'
    assert error_of({"rotation": [1e200, 0, 0, 1]}) == f'f.json: joints[0] "a".rotation: {expected} inf'
    motion = {"frame_time": 1, "frames": [[[0, 0, 0, 1]] * 2, [[0, 0, 0, 1], [0, 0, 0, 2]]]}
    assert error_of({}, {}, motion=motion) == f'f.json: motion.frames[1][1] "b": {expected} 2'
    poses = {"p": {"rotations": {"b": [0, 0, 0, 2]}}}
    assert error_of({}, {}, poses=poses) == f'f.json: poses "p".rotations "b": {expected} 2'


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            {"effectors": [{"name": "e", "joint": "a"}, {"name": "e", "joint": "b"}]},
            'effectors[1] "e".name: expected a name of its own, found that of effectors[0]',
        ),
        ({"effectors": [{"name": "e", "joint": "A"}]}, 'effectors[0] "e".joint: no joint "A"; did you mean "a"?'),
        (
            {"poses": {"p": {"rotations": {"x": [0, 0, 0, 1]}}}},
            'poses "p".rotations "x": no joint "x"; there is "a", "b"',
        ),
        (
            {"motion": {"frame_time": 1, "frames": [[[0, 0, 0, 1]] * 2, [[0, 0, 0, 1]]]}},
            "motion.frames[1]: expected 2 rotations, one per joint, found 1",
        ),
        (
            {"motion": {"frame_time": 1, "frames": [[[0, 0, 0, 1]] * 2], "translations": {"a": []}}},
            'motion.translations "a": expected 1 translations, one per frame, found 0',
        ),
        (
            {"motion": {"frame_time": 1, "frames": [[[0, 0, 0, 1]] * 2], "translations": {"c": [[0, 0, 0]]}}},
            'motion.translations "c": no joint "c"; there is "a", "b"',
        ),
        (
            {"motion": {"frame_time": 1, "frames": [[[0, 0, 0, 1]] * 2], "keys": [0, 1]}},
            "motion.keys[1]: expected a frame from 0 to 0, found 1",
        ),
    ],
)
def test_effectors_poses_and_motion_that_are_refused(more: dict[str, Any], message: str) -> None:
    assert error_of({}, {}, **more) == f"f.json: {message}"


def test_cycles_are_named_even_long_ones() -> None:
    parents = {"r": None, "a": "b", "b": "c", "c": "a"}
    joints = [{"name": name, "parent": parent} for name, parent in parents.items()]
    with pytest.raises(FormatError, match=r'^f.json: joints\[1\] "a".parent: .* the cycle "a" -> "b" -> "c" -> "a"$'):
        read({"joints": joints})
    ring = [{"name": f"j{i}", "parent": f"j{(i + 1) % 3000}", "offset": [0, 0, 0]} for i in range(3000)]
    with pytest.raises(FormatError, match=r'"j0" -> "j1" .* "j7" -> …$'):
        read({"joints": ring})


def test_motion_without_frames_is_none() -> None:
    character = rig({}, motion={"frame_time": 1, "frames": []})
    assert (character.clip, character.warnings) == (None, ("motion: no frames, ignored",))


def test_effectors_are_found_only_where_the_file_says_nothing() -> None:
    joints = [{"name": "Hips"}, {"name": "LeftHand", "parent": "Hips", "offset": [0, 1, 0]}]
    assert [e.name for e in read({"joints": joints}).skeleton.effectors] == ["LeftHand"]
    assert read({"joints": joints, "effectors": []}).skeleton.effectors == ()


def test_every_shared_malformed_file_does_what_is_expected(shared: Path) -> None:
    folder = shared / "data" / "malformed"
    cases = json.loads((folder / "expectations.json").read_text("utf-8"))["cases"]
    cases = [case for case in cases if case["kind"] == "json"]
    assert len(cases) > 20
    for case in cases:
        verdict, text, count, frames = outcome(folder / case["file"])
        assert case["verdict"] in (verdict, "either"), text
        if verdict == "refuse":
            assert text.startswith(case["file"])
            assert not [word for word in case["error_should_mention"] if word not in text], text
        else:
            assert (count, frames) == (case.get("joints", count), case.get("frames", 0))


def outcome(path: Path) -> tuple[str, str, int, int]:
    """Verdict, message or warnings, number of joints and of frames."""
    try:
        character = read_skeleton_json(path, path.name)
    except ViewerError as error:
        return "refuse", str(error), 0, 0
    return "load", " ".join(character.warnings), len(character.skeleton), len(character.clip or ())


def test_deep_and_long_input_takes_bounded_memory() -> None:
    tracemalloc.start()
    try:
        for text in ("[" * 1_000_000, '{"joints":[' + '{"name":"a"},' * 20_000, "9" * 1_000_000, '"' + "\\u" * 300_000):
            with pytest.raises(FormatError):
                skeleton_from_text(text, "f")
        assert tracemalloc.get_traced_memory()[1] < 100e6
    finally:
        tracemalloc.stop()
