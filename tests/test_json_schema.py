"""The published schema is the one the code makes, and agrees with what the reader takes.

JSON that cannot be read says where and why; unknown keys are warnings.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from characters import every_kind
from inside.formats import (
    GoalsFile,
    PoseFile,
    SkeletonFile,
    data_dir,
    decode,
    json_structs,
    kind_of,
    parse,
    schema_text,
    skeleton_schema,
    skeleton_to_json,
)
from jsonschema import Draft202012Validator

from viewer.errors import FormatError

VALIDATOR = Draft202012Validator(skeleton_schema())
PUBLISHED = data_dir("skeletons") / "skeleton.schema.json"


def test_the_schema_is_one_and_published() -> None:
    Draft202012Validator.check_schema(skeleton_schema())
    assert PUBLISHED.read_text("utf-8") == schema_text(), "run python -m viewer.formats.json_structs"


def test_neither_the_version_of_python_nor_that_of_msgspec_shows() -> None:
    def otherwise(part: Any) -> Any:  # noqa: ANN401
        """Indented as Python before 3.13 has docstrings, and null first as msgspec before 0.22 has it."""
        if isinstance(part, list):
            return [otherwise(one) for one in part]
        if not isinstance(part, dict):
            return part
        other = {key: otherwise(value) for key, value in part.items()}
        if isinstance(other.get("description"), str):
            other["description"] = other["description"].replace("\n\n", "\n\n    ")
        if "anyOf" in other:
            other["anyOf"].sort(key=lambda one: one.get("type") != "null")
        return other

    published = json.loads(PUBLISHED.read_text("utf-8"))
    changed = otherwise(published)
    assert json.dumps(changed) != json.dumps(published)
    assert json.dumps(json_structs._canonical(changed)) == json.dumps(published)


def test_the_module_prints_it() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "viewer.formats.json_structs"], check=True, capture_output=True, encoding="utf-8"
    )
    assert printed.stdout == schema_text()


def test_what_is_written_is_valid() -> None:
    for units in ("m", "inch", "0.3"):
        VALIDATOR.validate(json.loads(skeleton_to_json(every_kind(), units=units)))


def test_the_samples_are_valid() -> None:
    samples = [path for path in sorted(PUBLISHED.parent.glob("*.json")) if path != PUBLISHED]
    for path in samples:
        VALIDATOR.validate(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "change",
    [
        {"joints": []},
        {"joints": [{}]},
        {"joints": [{"name": ""}]},
        {"joints": [{"name": "a", "offset": [0, 0]}]},
        {"joints": [{"name": "a", "offset": [0, 0, "1"]}]},
        {"joints": [{"name": "a", "rotation": [0, 0, 1]}]},
        {"joints": [{"name": "a", "kind": "rope"}]},
        {"joints": [{"name": "a", "stiffness": 2}]},
        {"joints": [{"name": "a", "limits": {"x": [1]}}]},
        {"joints": [{"name": "a", "lenght": 1}]},
        {"version": 2},
        {"type": "goals"},
        {"units": "km"},
        {"units": 0},
        {"up": "x"},
        {"motion": {"frame_time": 0, "frames": []}},
    ],
)
def test_what_is_refused_or_warned_of_is_invalid(change: dict[str, Any]) -> None:
    good = {"joints": [{"name": "a"}]}
    assert VALIDATOR.is_valid(good)
    assert not VALIDATOR.is_valid(good | change)


JOINT = '{"name":"a","offset":[0,0,0]}'


def error_of(text: str) -> str:
    with pytest.raises(FormatError) as caught:
        decode(text, SkeletonFile, "skeleton", "f.json")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json: the file is empty; expected a JSON object"),
        (" \n", "f.json: the file is empty; expected a JSON object"),
        ("[]", "f.json: expected a JSON object, found an empty list"),
        ("3", "f.json: expected a JSON object, found 3"),
        ('{"joints": [\n  {"name": }]}', 'f.json, line 2, column 12: expected a value, found "}" (not valid JSON)'),
        ("{", "f.json, line 1, column 2: expected a key in double quotes, found the end of the file (not valid JSON)"),
        ('{"a" 1}', 'f.json, line 1, column 6: expected a colon, found "1" (not valid JSON)'),
        (
            '{"ä":1 "b"}',
            'f.json, line 1, column 8: expected a comma or a closing bracket, found """ (not valid JSON)',
        ),
        (
            '{"joints":["a]}',
            "f.json, line 1, column 12: expected JSON, found a text without its closing quotation mark",
        ),
        (
            "{} HIERARCHY",
            (
                "f.json, line 1, column 4: expected nothing after the end of the JSON document, "
                'found "HIERARCHY" (not valid JSON)'
            ),
        ),
        (
            "HIERARCHY\nROOT",
            'f.json, line 1, column 1: expected JSON, found "HIERARCHY": this looks like a BVH file',
        ),
        ("[" * 100_000, "f.json: nested too deeply: expected JSON with fewer brackets inside each other"),
        ('{"a":' * 100_000, "f.json: nested too deeply: expected JSON with fewer brackets inside each other"),
    ],
)
def test_what_is_not_json_is_located(text: str, message: str) -> None:
    assert error_of(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", 'expected "joints", found none'),
        ('{"joints": {}}', "joints: expected a list, found an object"),
        ('{"joints": []}', "joints: expected a list that is not empty, found an empty list"),
        ('{"joints": [3]}', "joints[0]: expected an object, found 3"),
        ('{"joints": [{}]}', 'joints[0]: expected "name", found none'),
        ('{"joints": [{"name": 7}]}', "joints[0].name: expected text, found 7"),
        ('{"joints": [{"name": ""}]}', 'joints[0] "".name: expected text that is not empty, found an empty text'),
        ('{"joints": [{"name": "a", "offset": 1}]}', 'joints[0] "a".offset: expected a list of 3 numbers, found 1'),
        (
            '{"joints": [{"name": "a", "offset": [1, 2]}]}',
            'joints[0] "a".offset: expected a list of 3 numbers, found 2',
        ),
        (
            '{"joints": [{"name": "a", "offset": [0, "1", 0]}]}',
            'joints[0] "a".offset[1]: expected a number, found the text "1"',
        ),
        (
            '{"joints": [{"name": "a", "offset": [0, true, 0]}]}',
            'joints[0] "a".offset[1]: expected a number, found true',
        ),
        ('{"joints": [{"name": "a", "offset": [0, NaN, 0]}]}', 'joints[0] "a".offset[1]: expected a number, found NaN'),
        (
            '{"joints": [{"name": "a", "offset": [0, 0, -1e999]}]}',
            'joints[0] "a".offset[2]: expected a number, found a number past -1.8e308',
        ),
        (
            f'{{"joints": [{{"name": "a", "offset": [{"9" * 5000}, 0, 0]}}]}}',
            'joints[0] "a".offset[0]: expected a number, found a number past 1.8e308',
        ),
        (
            '{"joints": [{"name": "a", "stiffness": 1.5}]}',
            'joints[0] "a".stiffness: expected 1 or less, found 1.5',
        ),
        (
            '{"joints": [{"name": "a", "limits": {"x": [30]}}]}',
            'joints[0] "a".limits.x: expected a list of 2 numbers, found 1',
        ),
        (
            '{"joints": [{"name": "a", "kind": "bal"}]}',
            (
                'joints[0] "a".kind: expected one of "ball", "hinge", "universal", "slide", "fixed", "free", '
                'found the text "bal"'
            ),
        ),
        (
            f'{{"joints": [{JOINT}], "units": "km"}}',
            'units: expected one of "m", "cm", "mm", "inch", "cmu" or a number, found the text "km"',
        ),
        (f'{{"joints": [{JOINT}], "units": 0}}', "units: expected more than 0, found 0"),
        (f'{{"joints": [{JOINT}], "up": "x"}}', 'up: expected one of "y", "z", found the text "x"'),
        (
            f'{{"joints": [{JOINT}], "poses": {{"x": {{"rotations": {{"b": [0, 0, 0]}}}}}}}}',
            'poses "x".rotations "b": expected a list of 4 numbers, found 3',
        ),
        (
            f'{{"joints": [{JOINT}], "motion": {{"frame_time": 0, "frames": []}}}}',
            "motion.frame_time: expected more than 0, found 0",
        ),
        (
            f'{{"joints": [{JOINT}], "motion": {{"frame_time": 1, "frames": [], "keys": [1.5]}}}}',
            "motion.keys[0]: expected a whole number, found 1.5",
        ),
        (
            '{"joints": [{"name": "\\ud800"}]}',
            'joints[0] "\\ud800".name: expected whole characters, found half of a surrogate pair: "\\ud800"',
        ),
        ('{"version": 2, "bones": []}', "version: expected 1, found 2: the file is from a later program"),
        (f'{{"version": 0, "joints": [{JOINT}]}}', "version: expected 1 or more, found 0"),
        ('{"type": "goals", "goals": []}', "this is a goals file; expected a skeleton file"),
        ('{"goals": []}', "this is a goals file; expected a skeleton file"),
        ('{"rotations": {}}', "this is a pose file; expected a skeleton file"),
        (
            '{"document": {}}',
            (
                "this is a session file; expected a skeleton file "
                "(the window and commands read sessions, by names that end in .ikv.json)"
            ),
        ),
        (
            '{"version": 2, "document": {}}',  # as sessions are saved: not a skeleton of a later version
            (
                "this is a session file; expected a skeleton file "
                "(the window and commands read sessions, by names that end in .ikv.json)"
            ),
        ),
        (
            '{"type": "rig"}',
            (
                'type: expected one of "skeleton", "pose", "goals", "layers", "contacts", "map", "session", '
                'found the text "rig"'
            ),
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_place(text: str, message: str) -> None:
    assert error_of(text) == f"f.json: {message}"


def test_unknown_keys_are_named_where_they_stand() -> None:
    joints = [{"name": f"j{i}", "offset": [0, 0, 0], "colour": 1} for i in range(9)]
    text = json.dumps({"joints": joints, "poses": {"p": {"speed": None}}, "author": "me"})
    warnings: list[str] = []
    data = decode(text, SkeletonFile, "skeleton", "f.json", warnings)
    listed = ", ".join(f'joints[{i}] "j{i}"' for i in range(6))
    assert warnings == [
        f'{listed} and 3 more: unknown key "colour", ignored',
        'poses "p": unknown key "speed", ignored',
        'unknown key "author", ignored',
    ]
    assert [joint.name for joint in data.joints] == [f"j{i}" for i in range(9)]


def test_both_ways_read_the_same_data() -> None:
    text = '{"version": 1, "$schema": "s", "joints": [{"name": "a", "offset": [0, 1e-3, 2], "limits": null}]%s}'
    none: list[str] = []
    warnings: list[str] = []
    fast = decode(text % "", SkeletonFile, "skeleton", "f", none)
    careful = decode(text % ', "x": 1, "units": 2, "name": null', SkeletonFile, "skeleton", "f", warnings)
    assert (none, warnings) == ([], ['unknown key "x", ignored'])
    assert fast.joints == careful.joints
    assert careful.units == 2
    whole = decode('{"version": 1.0, "joints": [{"name": "a"}]}', SkeletonFile, "skeleton", "f")
    assert whole.version == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"goals": [], "joints": []}', "goals"),
        ('{"rotations": {}, "joints": []}', "skeleton"),
        ('{"rotations": {}}', "pose"),
        ('{"document": {}}', "session"),
        ('{"type": "pose", "goals": []}', "pose"),
        ("{}", "skeleton"),
    ],
)
def test_a_file_is_what_its_type_or_its_keys_say(text: str, kind: str) -> None:
    assert kind_of(parse(text)) == kind


def test_the_other_kinds_say_what_they_found() -> None:
    with pytest.raises(FormatError, match=r"^f: this is a skeleton file; expected a goals file$"):
        decode('{"joints": [], "goal": 1}', GoalsFile, "goals", "f")
    with pytest.raises(FormatError, match=r"^f: this is a goals file; expected a pose file$"):
        decode('{"goals": []}', PoseFile, "pose", "f")
