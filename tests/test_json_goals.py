"""Goals and pose files: what they mean, what is refused, and that they come back as written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from characters import a_pose, every_kind
from inside.formats import (
    GOAL_FORMS,
    GoalEntry,
    goals_file_from_text,
    goals_to_json,
    pose_from_text,
    pose_to_json,
    read_goals_file,
    read_pose,
    write_whole,
)
from inside.ik import KINDS

from viewer.errors import FormatError, InputError
from viewer.ik import Goal

if TYPE_CHECKING:
    from pathlib import Path

SKELETON = every_kind().skeleton
TURN = (0.5, 0.5, 0.5, 0.5)

FORMS = ", or ".join(["position, rotation or pin", *(" with ".join(form) for form in GOAL_FORMS)])
PINS = '"position", "rotation", "position+rotation", true or false'


def test_the_forms_of_goals_are_in_words() -> None:
    known = (
        "position, rotation or pin", "distance with from", "aim with axis", "bend with angle", "pole with toward",
        "relative with to", "balance", "grip with object",
    )  # fmt: skip
    said = FORMS.split(", or ")
    assert [form for form in said if form in known] == [*known]


def goals_of(*entries: dict[str, Any], **more: Any) -> tuple[Goal, ...]:  # noqa: ANN401 - any JSON value
    return goals_file_from_text(json.dumps({"goals": entries} | more), "g.json", SKELETON).goals


def test_the_contracts_example() -> None:
    goals = goals_of(
        {"effector": "a", "position": [0.4, 1.2, 0.3], "weight": 2.0},
        {"effector": "b", "pin": True},
        {"effector": "root", "position": [0, 1, 0.4], "rotation": [0, 0, 0, 1], "offset": [0, 0, 1],
         "rotation_weight": 0.5},
        {"effector": "euler.tip2", "distance": 0.3, "from": [0, 1, 0]},
        {"effector": "plain", "aim": [0, 1, 0], "axis": [0, 2, 0], "enabled": False},
        version=1,
        type="goals",
    )  # fmt: skip
    assert goals == (
        Goal.position("a", (0.4, 1.2, 0.3), weight=2.0),
        Goal.pin("b"),
        Goal.pose("root", (0, 1, 0.4), (0, 0, 0, 1), offset=(0, 0, 1), rotation_weight=0.5),
        Goal.distance("euler.tip2", 0.3, (0, 1, 0)),
        Goal.aim("plain", (0, 1, 0), (0, 1, 0), enabled=False),
    )


def test_every_goal_comes_back_as_written() -> None:
    options: dict[str, Any] = {"weight": 3.0, "rotation_weight": 0.25, "offset": (0, 0.5, 0), "enabled": False}
    goals = (
        Goal.position("a", (1, 2, 3)),
        Goal.rotation("a", TURN, **options),
        Goal.pose("a", (1 / 3, 2, 3), TURN),
        Goal.pin("a", **options),
        Goal.pin("a", rotation=False, weight=1.0),
        Goal.pin("a", position=False),
        Goal.pin("a", position=(1, 2, 3)),
        Goal.pin("a", position=(1, 2, 3), rotation=TURN),
        Goal.distance("a", 0.0, (1, 2, 3)),
        Goal.aim("a", (0, 0, 1), (0.6, 0.8, 0)),
    )
    assert goals_file_from_text(goals_to_json(goals), "f", SKELETON).goals == goals


def test_pins_of_one_part() -> None:
    held = goals_of({"effector": "a", "pin": "position"}, {"effector": "a", "pin": "rotation", "rotation": TURN})
    assert held == (Goal.pin("a", rotation=False), Goal.pin("a", position=False, rotation=TURN))
    assert goals_of({"effector": "a", "pin": False, "position": [0, 0, 0]}) == (Goal.position("a", (0, 0, 0)),)


def test_function_goals_cannot_be_written() -> None:
    with pytest.raises(InputError, match=r"^a function goal cannot be written to a file$"):
        goals_to_json((Goal.function(lambda world: world.positions[0]),))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"effector": "A", "pin": True}, 'goals[0]: no effector, joint or tip "A"; did you mean "a"?'),
        ({"pin": True}, 'goals[0]: expected "effector", found none'),
        (
            {"effector": "a"},
            f"goals[0]: expected {FORMS}; found none of them",
        ),
        (
            {"effector": "a", "position": [0, 0, 0], "aim": [0, 0, 0]},
            f"goals[0]: expected {FORMS}; found position and aim",
        ),
        ({"effector": "a", "distance": 0}, 'goals[0]: expected "from" beside "distance", found none'),
        ({"effector": "a", "from": [0, 0, 0]}, 'goals[0]: expected "distance" beside "from", found none'),
        ({"effector": "a", "aim": [0, 0, 0]}, 'goals[0]: expected "axis" beside "aim", found none'),
        (
            {"effector": "a", "pin": "position", "rotation": TURN},
            'goals[0]: expected no "rotation" beside a pin of the position, found one',
        ),
        ({"effector": "a", "position": [0, 0, 0], "weight": 0}, "goals[0].weight: expected more than 0, found 0"),
        ({"effector": "a", "distance": -1, "from": [0, 0, 0]}, "goals[0].distance: expected 0 or more, found -1"),
        ({"effector": "a", "position": [0, 0]}, "goals[0].position: expected a list of 3 numbers, found 2"),
        ({"effector": "a", "pin": 1}, "goals[0].pin: expected true or false, found 1"),
        ({"effector": "a", "pin": "yes"}, f'goals[0].pin: expected one of {PINS}, found the text "yes"'),
        (
            {"effector": "a", "rotation": [0, 0, 0, 2]},
            'goals[0]: rotation goal for "a": target rotation: expected a unit quaternion (x, y, z, w), found length 2',
        ),
        (
            {"effector": "a", "aim": [0, 0, 0], "axis": [0, 0, 0]},
            'goals[0]: aim goal for "a": axis: expected a direction, found the zero vector',
        ),
    ],
)
def test_goals_that_are_refused(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        goals_of(entry)
    assert str(caught.value) == f"g.json: {message}"


def test_files_are_read_and_unknown_keys_told(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    write_whole(path, '\ufeff{"goals": [{"effector": "a", "pin": true, "colour": 1}]}')
    warnings: list[str] = []
    assert read_goals_file(path, "g.json", SKELETON, warnings).goals == (Goal.pin("a"),)
    assert warnings == ['goals[0]: unknown key "colour", ignored']
    write_whole(path, '{"rotations": {"root": [0, 1, 0, 0]}, "skeleton": "other", "x": 1}')
    warnings = []
    pose = read_pose(path, "p.json", SKELETON, warnings)
    assert warnings == [
        'unknown key "x", ignored',
        'skeleton: the pose was made for "other", not for "every kind"',
    ]
    assert pose.rotations[0].tolist() == [0, 1, 0, 0]
    assert (pose.rotations[1:] == SKELETON.rest_rotations[1:]).all()
    assert (pose.translations == SKELETON.offsets).all()


def test_poses_come_back_to_the_last_bit() -> None:
    pose = a_pose(SKELETON, np.random.default_rng(7))
    text = pose_to_json(SKELETON, pose)
    assert pose_from_text(text, "p", SKELETON).same_as(pose)
    document = json.loads(text)
    assert (document["version"], document["type"], document["skeleton"]) == (1, "pose", "every kind")
    assert list(document["translations"]) == [SKELETON.names[0], SKELETON.names[4]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"type": "pose", "rotations": {"rot": [0, 0, 0, 1]}}',
            'rotations "rot": no joint "rot"; did you mean "root"?',
        ),
        (
            '{"rotations": {"root": [0, 0, 0, 0]}}',
            'rotations "root": expected a unit quaternion x, y, z, w, found one of length 0',
        ),
        (
            '{"rotations": {}, "translations": {"root": [0, 0, null]}}',
            'translations "root"[2]: expected a number, found null',
        ),
        ("{}", "this is a skeleton file; expected a pose file"),
        ('{"joints": [], "rotations": {}}', "this is a skeleton file; expected a pose file"),
    ],
)
def test_poses_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        pose_from_text(text, "p.json", SKELETON)
    assert str(caught.value) == f"p.json: {message}"


def test_a_pose_file_may_be_empty_if_it_says_what_it_is() -> None:
    assert pose_from_text('{"type": "pose"}', "p", SKELETON).same_as(SKELETON.rest_pose())


def test_no_kind_of_goals_has_a_key_that_all_goals_have() -> None:
    """Else the key would have two meanings, and files that hold the other one could not be read."""
    common = {field.encode_name for field in msgspec.structs.fields(GoalEntry.__base__)}
    assert {"level", "weight", "hold"} <= common
    assert [(word, key) for word, kind in KINDS.items() for key in kind.keys if key in common] == []
