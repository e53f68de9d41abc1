"""The JSON Schema of skeleton files, made from the types that read them.

``python -m viewer.formats.json_schema`` prints it; it is published as ``skeletons/skeleton.schema.json``. Unknown keys
fail the schema, where the reader warns of them: so an editor marks a misspelt one.
"""

from __future__ import annotations

import inspect
import json
import sys
from typing import Any

import msgspec

from viewer.formats.json_structs import SkeletonFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def skeleton_schema() -> dict[str, object]:
    """The schema, as a tree of plain values."""
    schema = _canonical(msgspec.json.schema(SkeletonFile))
    return {"$schema": DIALECT, "title": "ikviewer skeleton file, version 1", **schema}


def _canonical(part: Any) -> Any:  # noqa: ANN401 - a part of a tree of JSON values
    """The same schema whichever Python and msgspec made it.

    Python 3.13 strips the indentation of docstrings itself; msgspec 0.22 says null after what else a value may be.
    """
    if isinstance(part, list):
        return [_canonical(one) for one in part]
    if not isinstance(part, dict):
        return part
    tidy = {key: _canonical(value) for key, value in part.items()}
    if isinstance(tidy.get("description"), str):
        tidy["description"] = inspect.cleandoc(tidy["description"])
    if "anyOf" in tidy:
        tidy["anyOf"].sort(key=lambda one: one.get("type") == "null")
    return tidy


def schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(skeleton_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
