"""Converts session files of version 1, and those from before versions were written, to the present version.

Each effector had one goal, its "handle", whose kind was "off" if disabled; goals had no ids. The layout of a BVH file
was in two entries of the source, and mobility was called spread. Recorded actions called goals handles; their digests
of all but the pose had fewer fields and are dropped.
"""

from __future__ import annotations

from typing import Any

import msgspec

from viewer.errors import FormatError

_OFF = "off"
_NAMES = {"SetHandle": "SetGoal", "SetWanted": "SetGoalKind", "Wanted": "GoalKind"}
_DOCUMENTS = ("open", "leap", "put")
"""Recorded calls whose last argument is a document."""


def from_version_1(text: str) -> str:
    """Convert the text of a session file, except its recorded actions; other text is returned unchanged."""
    try:
        parts = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        tree = msgspec.json.decode(parts["document"])
        parts["document"] = msgspec.Raw(msgspec.json.encode(_document(tree)))
    except (msgspec.MsgspecError, RecursionError, KeyError, TypeError, ValueError):
        return text
    return msgspec.json.encode(parts).decode()


def actions_from_version_1(raw: bytes) -> bytes:
    """Convert recorded actions.

    Raises:
        FormatError: they are nested too deeply.
    """
    try:
        tree = msgspec.json.decode(raw)
        if isinstance(tree, dict):
            tree["start"] = _document(tree.get("start"))
            if isinstance(tree.get("calls"), list):
                tree["calls"] = [_call(one) for one in tree["calls"]]
        return msgspec.json.encode(tree)
    except RecursionError as error:
        raise FormatError("nested too deeply", path="actions") from error


def _call(data: Any) -> Any:  # noqa: ANN401 - decoded data
    if not isinstance(data, list) or not data:
        return data
    if data[0] == "check":
        return data[:2]
    rest = [_value(one) for one in data[1:]]
    if isinstance(data[0], str) and data[0] in _DOCUMENTS and rest:
        rest[-1] = _document(data[-1])
    return [data[0], *rest]


def _value(data: Any) -> Any:  # noqa: ANN401 - decoded data
    if isinstance(data, list):
        return [_value(one) for one in data]
    if not isinstance(data, dict):
        return data
    kind = data.get("$")
    if kind == "Character":
        return data | {"of": _character(data.get("of"))}
    if kind == "SetWanted" and _is_off(data.get("kind")):
        return {"$": "ReleaseEffector", "effector": data.get("effector")}
    made = {key: _value(one) for key, one in data.items()}
    if kind == "SetHandle":
        changes = data.get("changes")
        pairs = changes.get("of") if isinstance(changes, dict) else None
        if isinstance(pairs, list):
            made["changes"] = {"$": "map", "of": [_change(pair) for pair in pairs]}
    if isinstance(kind, str) and kind in _NAMES:
        made["$"] = _NAMES[kind]
    return made


def _change(pair: Any) -> Any:  # noqa: ANN401 - decoded data
    """Convert one changed attribute of a handle."""
    off = isinstance(pair, list) and len(pair) == 2 and pair[0] == "kind" and _is_off(pair[1])
    return ["enabled", False] if off else _value(pair)


def _is_off(kind: object) -> bool:
    return kind == _OFF or (isinstance(kind, dict) and kind.get("of") == [_OFF])


def _document(tree: Any) -> Any:  # noqa: ANN401 - decoded data
    if not isinstance(tree, dict):
        return tree
    made = {("goals" if key == "handles" else key): value for key, value in tree.items()}
    if isinstance(tree.get("handles"), list):
        made["goals"] = [_goal(one) for one in tree["handles"]]
    made |= {"character": _character(tree.get("character")), "skeleton": _skeleton(tree.get("skeleton"))}
    return made


def _goal(tree: Any) -> Any:  # noqa: ANN401 - decoded data
    if not isinstance(tree, dict) or tree.get("kind") != _OFF:
        return tree
    return {key: value for key, value in tree.items() if key != "kind"} | {"enabled": False}


def _character(tree: Any) -> Any:  # noqa: ANN401 - decoded data
    if not isinstance(tree, dict):
        return tree
    tree = tree | {"skeleton": _skeleton(tree.get("skeleton"))}
    source = tree.get("source")
    if not isinstance(source, dict) or source.get("layout_names") is None:
        return tree
    made = {key: value for key, value in source.items() if not key.startswith("layout_")}
    layout = {"names": source["layout_names"], "channels": source.get("layout_channels", [])}
    return tree | {"source": made | {"layout": layout}}


_SKELETON = {"spreads": "mobility", "spread_matrices": "mobility_matrices"}


def _skeleton(tree: Any) -> Any:  # noqa: ANN401 - decoded data
    return {_SKELETON.get(key, key): value for key, value in tree.items()} if isinstance(tree, dict) else tree
