"""Layers: a goal over time on a clip is met in its hold, moves nothing else, and does not pop."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import ran
from inside.formats import goals_to_json, layers_from_text
from inside.motion import Layer, TargetKey, apply_layers, overlapping, solve_layers, standing
from inside.skeleton import limits_around
from inside.spatial import angle_between, conjugate, log, multiply, normalized
from sessions import character

import viewer
from viewer.ik import Goal
from viewer.motion import with_windows

if TYPE_CHECKING:
    from viewer.skeleton import Character, Clip

STEP = 1.0 / 30.0
BUTTON = (0.45, 1.35, 0.75)
BETWEEN = (0.1, 1.3, 0.9)
MIDWAY = Goal.midpoint("LeftHand", "RightHand", BETWEEN)


@pytest.fixture(scope="module")
def walk() -> Character:
    return character("walk")


def at(walk: Character, clip: Clip, name: str) -> np.ndarray:
    """(F, 3) where a joint is."""
    return viewer.fk_clip(walk.skeleton, clip).positions[:, walk.skeleton.index(name)]


def reach(**changes: Any) -> Layer:  # noqa: ANN401 - fields of a layer
    given: dict[str, Any] = {"goal": Goal.position("LeftHand", BUTTON), "start": 0.3, "full": (0.7, 0.8), "end": 1.3}
    return Layer(**(given | changes))


def test_the_hand_is_there_in_the_hold_feet_stay_and_other_frames_keep_their_bits(walk: Character) -> None:
    clip = walk.clips["walk"]
    made = apply_layers(walk, [reach()])
    hand = at(walk, made, "LeftHand")
    assert np.linalg.norm(hand[21:25] - BUTTON, axis=-1).max() < 1e-3
    for foot in ("LeftFoot", "RightFoot"):
        assert np.linalg.norm(at(walk, made, foot) - at(walk, clip, foot), axis=-1).max() < 5e-4
    outside = np.r_[0:9, 40 : len(clip)]
    assert np.array_equal(made.rotations[outside], clip.rotations[outside])
    assert np.array_equal(made.local_translations()[outside], clip.local_translations()[outside])
    inside = np.abs(hand - at(walk, clip, "LeftHand")).max(axis=-1)[10:39]
    assert (inside > 0.0).all()


def midway_off(walk: Character, clip: Clip) -> float:
    """Metres of the point between the hands from its target, in the hold."""
    between = 0.5 * (at(walk, clip, "LeftHand") + at(walk, clip, "RightHand"))
    return float(np.linalg.norm(between[21:25] - BETWEEN, axis=-1).max())


def test_the_point_midway_between_two_hands_is_there_in_the_hold(walk: Character) -> None:
    clip, midway = walk.clips["walk"], reach(goal=MIDWAY)
    made = apply_layers(walk, [midway])
    assert midway_off(walk, made) < 1e-3
    for foot in ("LeftFoot", "RightFoot"):
        assert np.linalg.norm(at(walk, made, foot) - at(walk, clip, foot), axis=-1).max() < 5e-4
    (window,) = solve_layers(walk.skeleton, clip, [midway])
    assert [miss.metres < 1e-3 for miss in window.misses] == [True]
    # Each of the hands is in one layer at a time: the later one prevails.
    assert midway_off(walk, apply_layers(walk, [reach(), midway])) < 1e-3
    both = apply_layers(walk, [midway, reach()])
    assert np.linalg.norm(at(walk, both, "LeftHand")[21:25] - BUTTON, axis=-1).max() < 1e-3


def test_limits_are_as_wide_as_the_clip_and_no_wider(walk: Character) -> None:
    """A knee that one frame bends a degree beyond its limit is not free to bend backwards in the others."""
    clip, skeleton = walk.clips["walk"], walk.skeleton
    knee, rotations = skeleton.index("RightLeg"), clip.rotations.copy()
    rotations[20, knee] = [math.sin(math.radians(-3.0)), 0.0, 0.0, math.cos(math.radians(-3.0))]  # 6 degrees, of 5
    bent = clip.with_motion(rotations, clip.local_translations())
    assert np.degrees(viewer.clip_violation(skeleton, bent).max(axis=0)[knee]) == pytest.approx(1.0)
    high = Layer(Goal.position("RightFoot", (0.3, 0.9, -0.9)), start=0.3, full=(0.7, 0.8), end=1.3)
    made = with_windows(bent, solve_layers(skeleton, bent, [high]))
    beyond = np.degrees(viewer.clip_violation(skeleton, made).max(axis=0))
    assert beyond[knee] < 1.0 + 1e-6
    assert np.delete(beyond, knee).max() < 1e-6
    # What is known of a skeleton is not found again for each change of a layer.
    assert limits_around(skeleton, clip) is skeleton
    assert limits_around(skeleton, bent) is not skeleton


def test_frames_next_to_each_other_agree_as_frames_solved_one_by_one_do_not(walk: Character) -> None:
    clip, layer = walk.clips["walk"], reach(start=0.1, full=(1.0, 1.1), end=2.1)
    carried = apply_layers(walk, [layer])
    # The same goals, each frame from the clip's own pose: what is left free ends anywhere.
    feet = standing(walk.skeleton)
    world = viewer.fk_clip(walk.skeleton, clip)
    joints = [walk.skeleton.index(name) for name in ("LeftHand", *feet)]
    goals = [Goal.position("LeftHand", BUTTON), *(Goal.pose(n, (0, 0, 0), (0, 0, 0, 1), level=0) for n in feet)]
    points, turns = world.positions[:, joints].copy(), world.rotations[:, joints]
    share = layer.share(np.arange(float(len(clip))) * STEP)[:, None]
    points[:, 0] += share * (np.array(BUTTON) - points[:, 0])
    solver = viewer.Solver(walk.skeleton, goals, restarts=False, tolerance_m=1e-5, tolerance_deg=1e-3, backend="numpy")
    alone = np.stack([solver.solve(clip.pose(f), points[f], turns[f]).pose.rotations for f in range(3, 64)])

    def pops(rotations: np.ndarray) -> float:
        speed = log(multiply(conjugate(rotations[:-1]), rotations[1:]))
        return float(np.quantile(np.linalg.norm(np.diff(speed, axis=0), axis=-1), 0.999))

    assert pops(carried.rotations[3:64]) < 0.5 * pops(alone)
    assert pops(carried.rotations) < 1.5 * pops(clip.rotations)


def test_a_layer_that_is_off_or_weighs_nothing_leaves_the_clip_as_it_is(walk: Character) -> None:
    clip = walk.clips["walk"]
    for layer in (reach(on=False), reach(weight=0.0)):
        assert apply_layers(walk, [layer]).rotations.tobytes() == clip.rotations.tobytes()


def test_half_the_weight_goes_half_the_way(walk: Character) -> None:
    made = apply_layers(walk, [reach(weight=0.5)])
    before, after = at(walk, walk.clips["walk"], "LeftHand")[22], at(walk, made, "LeftHand")[22]
    np.testing.assert_allclose(after, 0.5 * (before + BUTTON), atol=1e-4)


def test_a_joint_carries_the_target(walk: Character) -> None:
    layer = reach(goal=Goal.position("RightHand", (0.1, -0.1, 0.25)), space="Spine")
    made = apply_layers(walk, [layer])
    world = viewer.fk_clip(walk.skeleton, made)
    spine, hand = (walk.skeleton.index(name) for name in ("Spine", "RightHand"))
    for frame in (21, 24):
        place = world.positions[frame, spine] + viewer.spatial.quaternion.rotate(
            world.rotations[frame, spine], np.array([0.1, -0.1, 0.25])
        )
        np.testing.assert_allclose(world.positions[frame, hand], place, atol=1e-3)


def test_a_target_moves_from_key_to_key(walk: Character) -> None:
    start, end = (0.4, 1.3, 0.6), (0.4, 1.5, 0.9)
    keys = TargetKey(0.6, start), TargetKey(0.9, end)
    layer = reach(goal=Goal.position("LeftHand", start), keys=keys, full=(0.6, 0.9))
    hand = at(walk, apply_layers(walk, [layer]), "LeftHand")
    np.testing.assert_allclose(hand[18], start, atol=1e-3)
    np.testing.assert_allclose(hand[27], end, atol=1e-3)
    part = (22 * STEP - 0.6) / 0.3
    np.testing.assert_allclose(hand[22], np.add(start, part * np.subtract(end, start)), atol=1e-3)


def test_of_two_layers_for_one_hand_the_later_has_the_last_word_and_other_hands_stay(walk: Character) -> None:
    other, right = (0.5, 1.2, 0.7), (-0.3, 1.3, 0.7)
    layers = [reach(), reach(goal=Goal.position("RightHand", right)), reach(goal=Goal.position("LeftHand", other))]
    made = apply_layers(walk, layers)
    np.testing.assert_allclose(at(walk, made, "LeftHand")[22], other, atol=1e-3)
    np.testing.assert_allclose(at(walk, made, "RightHand")[22], right, atol=1e-3)


def test_the_head_looks_at_a_point(walk: Character) -> None:
    point = (1.0, 1.4, 3.0)
    layer = Layer(Goal.aim("Head", point, (0, 0, 1)), 0.2, (0.6, 1.0), 1.5)
    made = apply_layers(walk, [layer])
    world = viewer.fk_clip(walk.skeleton, made)
    head = walk.skeleton.index("Head")
    place = next(one for one in walk.skeleton.effectors if one.name == "Head")
    eye = world.point(place.joint, np.array(place.offset))[20]
    ahead = viewer.spatial.quaternion.rotate(world.rotations[20, head], np.array([0.0, 0.0, 1.0]))
    wanted = np.subtract(point, eye) / np.linalg.norm(np.subtract(point, eye))
    assert np.degrees(np.arccos(ahead @ wanted)) < 0.1


def test_what_cannot_be_reached_is_said(walk: Character) -> None:
    far = reach(goal=Goal.position("LeftHand", (3.0, 1.0, 0.5)))
    (window,) = solve_layers(walk.skeleton, walk.clips["walk"], [far], backend="numpy")
    hand = viewer.fk_arrays(walk.skeleton.parents, window.rotations, window.translations).positions
    full = slice(21 - window.first, 25 - window.first)
    miss = np.linalg.norm(hand[full, walk.skeleton.index("LeftHand")] - (3.0, 1.0, 0.5), axis=-1).max()
    assert window.misses[0].metres == pytest.approx(miss)
    assert miss > 1.0


def test_a_creature_without_a_free_root_moves_only_its_arm() -> None:
    arm = character("two-link")
    assert standing(arm.skeleton) == []


def test_layers_that_do_not_meet_are_solved_apart() -> None:
    early, late = reach(), reach(start=1.4, full=(1.6, 1.7), end=2.0)
    assert overlapping([early, late], STEP) == [[0], [1]]
    assert overlapping([late, early, reach()], STEP) == [[1, 2], [0]]
    assert overlapping([reach(on=False)], STEP) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": 1.5}, 'layer for "LeftHand": expected a weight from 0 to 1, found 1.5'),
        (
            {"end": 0.5},
            'layer for "LeftHand": expected 0 <= start <= full from <= full to <= end, found 0.3, 0.7, 0.8, 0.5',
        ),
        (
            {"goal": Goal.bend("LeftForeArm", 0.5)},
            (
                'layer for "LeftForeArm": expected a goal for a position, rotation, pose, aim or midpoint, '
                "found a goal of the kind bend"
            ),
        ),
        (
            {"goal": MIDWAY, "space": "Hips"},
            'layer for "LeftHand": expected no midpoint in the space of "Hips"',
        ),
        (
            {"goal": Goal.pin("LeftHand")},
            'layer for "LeftHand": expected a goal for a position, rotation, pose, aim or midpoint, found a pin',
        ),
        ({"start": float("nan")}, 'layer for "LeftHand": expected start, full (from, to) and end in seconds'),
    ],
)
def test_a_layer_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(viewer.InputError) as error:
        reach(**changes)
    assert str(error.value) == message


def test_a_layer_ends_with_the_clip_and_names_what_there_is(walk: Character) -> None:
    with pytest.raises(viewer.InputError, match=r"expected an end within the clip's 2\.26\d+ s, found 9 s"):
        apply_layers(walk, [reach(end=9.0)])
    with pytest.raises(viewer.InputError, match="LeftHnd"):
        apply_layers(walk, [reach(goal=Goal.position("LeftHnd", BUTTON))])
    with pytest.raises(viewer.InputError, match="has no clip for layers"):
        apply_layers(character("biped"), [reach()])


def test_files_hold_layers(walk: Character) -> None:
    turn = tuple(normalized(np.array([0.1, 0.2, 0.3, 0.9])).tolist())
    layers = (
        reach(),
        reach(goal=Goal.pose("RightHand", (0.1, 0.2, 0.3), turn, level=2), space="Spine", weight=0.25, on=False),
        reach(
            goal=Goal.position("LeftHand", (0.1, 1.0, 0.3)),
            keys=(TargetKey(0.0, (0.1, 1.0, 0.3)), TargetKey(1.0, (0.5, 1.5, 0.25))),
        ),
        reach(goal=Goal.aim("Head", (1, 2, 3), (0, 0, 1))),
        reach(goal=MIDWAY),
    )
    text = layers_file(*layers)
    assert layers_from_text(text, "layers.json", walk.skeleton) == layers


def layers_file(*layers: Layer) -> str:
    """The text of a file with these layers."""
    entries = []
    for layer in layers:
        goal = json.loads(goals_to_json((layer.goal,)))["goals"][0]
        if layer.keys:
            goal["position"] = [[key.seconds, key.position] for key in layer.keys]
        times = {"start": layer.start, "full": layer.full, "end": layer.end}
        entries.append({"goal": goal, **times, "weight": layer.weight, "space": layer.space, "enabled": layer.on})
    return json.dumps({"version": 1, "type": "layers", "layers": entries})


def file(goal: str) -> str:
    """The text of a file with one layer."""
    return f'{{"layers": [{{"goal": {goal}, "start": 0, "full": [1, 1], "end": 2}}]}}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "layers.json: expected a key in double quotes, found the end of the file (not valid JSON)"),
        ('{"goals": []}', "layers.json: this is a goals file; expected a layers file"),
        (
            file('{"effector": "LeftHnd", "position": [0, 1, 0]}'),
            'layers.json: layers[0]: no effector, joint or tip "LeftHnd"',
        ),
        (
            file('{"effector": "LeftHand", "position": [[0, [1, 2]]]}'),
            "layers.json: layers[0].goal.position[0]: expected [seconds, [3 numbers]], found a list",
        ),
        (
            file('{"effector": "LeftHand", "bend": "LeftForeArm", "angle": 3}'),
            "layers.json: layers[0]",
        ),
        (
            file('{"effector": "LeftHand", "position": [0, 1, 0]}').replace(', "end": 2', ""),
            'layers.json: layers[0]: expected "end", found none',
        ),
    ],
)
def test_files_that_are_refused(walk: Character, text: str, message: str) -> None:
    with pytest.raises(viewer.FormatError) as error:
        layers_from_text(text, "layers.json", walk.skeleton)
    assert message.removeprefix("layers.json: ") in str(error.value)
    assert "layers.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_command_writes_the_motion_and_says_what_was_reached(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, out = tmp_path / "button.json", tmp_path / "out.npz"
    file.write_text(layers_file(reach()))
    done = ran(capsys, "layer", "sample:walk", str(file), "-o", str(out), "--json")
    assert done.code == 0
    (layer,) = done.json["layers"]
    assert layer["frames"] == [10, 39]  # a frame lasts 0.0333333 s
    assert layer["error_m"] < 1e-3
    made, walk = viewer.load(out), character("walk")
    same = apply_layers(walk, [reach()])
    assert angle_between(made.clips["walk"].rotations, same.rotations).max() < 1e-6


def test_layers_that_move_one_hand_at_the_same_time_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def layer(effector: str, start: float, end: float) -> str:
        goal = f'{{"effector": "{effector}", "position": [0.4, 1.2, 0.3]}}'
        return f'{{"goal": {goal}, "start": {start}, "full": [{start + 0.1}, {end - 0.1}], "end": {end}}}'

    file = tmp_path / "two.json"
    both = [layer("LeftHand", 0.2, 0.8), layer("RightHand", 0.2, 0.8), layer("LeftHand", 0.8, 1.2)]
    for more, said in (
        ([], ""),
        (
            [layer("LeftHand", 1.0, 1.4)],
            f'warning: {file}: layers[2] and layers[3] move "LeftHand" at the same time: the later one prevails\n',
        ),
    ):
        file.write_text(f'{{"version": 1, "type": "layers", "layers": [{", ".join([*both, *more])}]}}')
        done = ran(capsys, "layer", "sample:walk", str(file), "-o", str(tmp_path / "out.bvh"), "--backend", "numpy")
        assert (done.code, done.err) == (0, said)


def test_the_command_needs_motion_and_an_output(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "button.json"
    file.write_text(layers_file(reach()))
    assert "required: -o/--output" in ran(capsys, "layer", "sample:walk", str(file)).err
    none = ran(capsys, "layer", "sample:biped", str(file), "-o", str(tmp_path / "o.bvh"))
    assert none.code == 1
    assert none.err == "error: sample:biped: expected motion, found a skeleton without frames\n"
    assert not (tmp_path / "o.bvh").exists()
