"""Places in a JSON document and its values as people read them, for messages."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

from viewer.errors import quote

Json: TypeAlias = Any
"""A decoded JSON value."""


def path_text(place: list[tuple[str | int, Json]]) -> str:
    """A place as people read it: items of a list by number and name, keys of a map in quotes."""
    parts = []
    for key, item in place:
        if isinstance(key, int):
            name = item.get("name") if isinstance(item, dict) else None
            parts.append(f"[{key}] {quote(name)}" if isinstance(name, str) else f"[{key}]")
        else:
            parts.append(key if key.startswith(".") else f" {key}")
    return "".join(parts).removeprefix(".")


def found(value: Json) -> str:
    """What a JSON value is, in a few words."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        if math.isinf(value):
            return f"a number past {'-' * (value < 0)}1.8e308"
        return "NaN" if math.isnan(value) else f"{value}"
    if isinstance(value, str):
        return f"the text {quote(value)}" if value else "an empty text"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "an object"
