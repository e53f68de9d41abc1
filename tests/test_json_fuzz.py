"""Thousands of damaged files: a reader gives a value or one of our errors, in one line that begins with the file."""

from __future__ import annotations

import copy
import json
import math
import random
from typing import TYPE_CHECKING, Any

import pytest
from characters import every_kind
from inside.formats import (
    goals_file_from_text,
    goals_to_json,
    pose_from_text,
    pose_to_json,
    skeleton_from_text,
    skeleton_to_json,
)

from viewer.errors import ViewerError
from viewer.ik import Goal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CASES = 400
SKELETON = every_kind().skeleton
GOALS = (
    Goal.pin("a"),
    Goal.pose("b", (0, 1, 2), (0, 0, 0, 1), weight=2.0),
    Goal.distance("root", 1.0, (0, 0, 0)),
    Goal.aim("euler.tip", (0, 1, 0), (0, 0, 1), offset=(1, 0, 0)),
)
READERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "skeleton": (skeleton_to_json(every_kind(), units="cm", up="z"), lambda text: skeleton_from_text(text, "f")),
    "pose": (pose_to_json(SKELETON, SKELETON.poses["relaxed"]), lambda text: pose_from_text(text, "f", SKELETON)),
    "goals": (goals_to_json(GOALS), lambda text: goals_file_from_text(text, "f", SKELETON).goals),
}
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2, 0.5, 1e308, -1e-320, 10**30, math.nan, -math.inf, "", "x", "root", "\ud800", [], {}, [0],
    [0, 0, 0], [1, 2, 3, 4], [[0, 0, 0]], {"a": 1}, "free", "hinge", "universal", "slide", [1e200] * 3, [1e200] * 4,
)  # fmt: skip
PIECES = ("{", "}", "[", "]", ",", ":", '"', "\\", "null", "1e999", "NaN", "-", "9" * 400, ".", "\0", "\n", "\ufeff",
          "é", "\ud800", "/*", '"a"', "\\u0000", "\\ud83e")  # fmt: skip


def places(tree: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - any JSON value
    if above:
        yield above
    if isinstance(tree, (dict, list)):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from places(tree[key], (*above, key))


def at(tree: Any, place: tuple[Any, ...]) -> Any:  # noqa: ANN401
    for key in place:
        tree = tree[key]
    return tree


def damaged_tree(text: str, dice: random.Random) -> str:
    """One to three values deleted, renamed, doubled, swapped for others or for odd ones."""
    tree = json.loads(text)
    for _ in range(dice.randint(1, 3)):
        place = dice.choice(list(places(tree)) or [("joints",)])
        holder, key = at(tree, place[:-1]), place[-1]
        kind = dice.random()
        if key not in holder and isinstance(holder, dict):
            continue
        if kind < 0.15:
            del holder[key]
        elif kind < 0.25 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(dice.choice(holder)))
        elif kind < 0.35 and isinstance(holder, dict):
            holder[dice.choice(["zz", "x", "limits", "axis", "order", "kind"])] = holder.pop(key)
        elif kind < 0.45:
            holder[key] = copy.deepcopy(at(tree, dice.choice(list(places(tree)))))
        else:
            holder[key] = copy.deepcopy(dice.choice(VALUES))
    return json.dumps(tree, ensure_ascii=dice.random() < 0.5)


def damaged_text(text: str, dice: random.Random) -> str:
    """One to four pieces cut out, put in, doubled, or the end lost."""
    for _ in range(dice.randint(1, 4)):
        place, kind = dice.randrange(len(text) + 1), dice.random()
        if kind < 0.3:
            text = text[:place] + text[place + dice.randint(1, 9) :]
        elif kind < 0.8:
            text = text[:place] + dice.choice(PIECES) + text[place + dice.randint(0, 2) :]
        elif kind < 0.9:
            text = text[:place]
        else:
            other = dice.randrange(len(text) + 1)
            text = text[:place] + text[other : other + dice.randint(1, 40)] + text[place:]
    return text


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("damage", [damaged_tree, damaged_text])
def test_damaged_files_let_out_only_our_errors(kind: str, damage: Callable[[str, random.Random], str]) -> None:
    text, read = READERS[kind]
    dice = random.Random(f"{kind} {damage.__name__}")
    outcomes = {"read": 0, "refused": 0}
    for _ in range(CASES):
        case = damage(text, dice)
        message = ""
        try:
            read(case)
        except ViewerError as error:
            message = str(error)
        outcomes["refused" if message else "read"] += 1
        assert not message or (message.startswith("f") and "\n" not in message), case
        assert len(message) < 1000, case
    assert outcomes["refused"] > CASES // 2
    assert outcomes["read"] > 0
