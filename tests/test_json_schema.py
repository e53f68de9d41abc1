"""The published schema is the one the code makes, and agrees with what the reader takes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from characters import every_kind
from inside.formats import json_structs, schema_text, skeleton_schema, skeleton_to_json
from jsonschema import Draft202012Validator

from viewer.resources import data_dir

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
