"""Damaged files: a reader gives what holds together and can be shown, or one line of ours; never anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fuzzing import FORMATS, fault, mutant, seeds

if TYPE_CHECKING:
    from pathlib import Path

CASES = dict.fromkeys(FORMATS, 60) | {
    ".bvh": 500, ".json": 240, ".npz": 120, ".gltf": 240, ".glb": 120, ".ikv.json": 120,
    ".xacro": 4, ".xml": 4,  # programs of others read them, slowly
    "actions": 50, "goals": 100, "pose": 100,
}  # fmt: skip
"""A thousand and a half together, every time the same; `benchmarks/fuzz.py` tries a million."""
PARTS = 4
"""Of the cases of a format, each a test: they run beside each other."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_files_let_out_only_our_errors(tmp_path: Path, kind: str, part: int) -> None:
    for number in range(part, CASES[kind], PARTS):
        data = mutant(kind, number)
        assert fault(kind, data, tmp_path) is None, f"mutant({kind!r}, {number}): {data!r}"


@pytest.mark.parametrize("kind", [".bvh", ".json", "goals", "pose"])
def test_files_cut_at_every_byte(tmp_path: Path, kind: str) -> None:
    for data in seeds()[kind]:
        for end in range(0, len(data), 7 if kind == ".json" else 1):
            assert fault(kind, data[:end], tmp_path) is None, end


@pytest.mark.parametrize("kind", FORMATS)
def test_the_files_that_are_damaged_are_whole(tmp_path: Path, kind: str) -> None:
    """The check is checked: undamaged files pass it and are drawn, and a wrong character does not."""
    for data in seeds()[kind]:
        assert fault(kind, data, tmp_path, frame=True) is None
