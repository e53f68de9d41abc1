"""The JSON Schema of skeleton files, made from the types that read them.

``python -m viewer.formats.json_schema`` prints it; it is published as ``skeletons/skeleton.schema.json``. Unknown keys
fail the schema, where the reader warns of them: so an editor marks a misspelt one.
"""

from __future__ import annotations

import json
import sys

import msgspec

from viewer.formats.json_structs import SkeletonFile

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def skeleton_schema() -> dict[str, object]:
    """The schema, as a tree of plain values."""
    schema = msgspec.json.schema(SkeletonFile)
    return {"$schema": DIALECT, "title": "ikviewer skeleton file, version 1", **schema}


def schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(skeleton_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
