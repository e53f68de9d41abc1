"""Damaged files: a reader gives a character that holds together, or one line of ours; never anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mutations import fault, mutant, seeds

if TYPE_CHECKING:
    from pathlib import Path

CASES = {".bvh": 4000, ".json": 1000, ".npz": 300}


@pytest.mark.parametrize("suffix", CASES)
def test_damaged_files_let_out_only_our_errors(tmp_path: Path, suffix: str) -> None:
    for number in range(CASES[suffix]):
        data = mutant(suffix, number)
        assert fault(suffix, data, tmp_path) is None, f"mutant({suffix!r}, {number}): {data!r}"


@pytest.mark.parametrize("suffix", [".bvh", ".json"])
def test_files_cut_at_every_byte(tmp_path: Path, suffix: str) -> None:
    for data in seeds()[suffix]:
        for end in range(0, len(data), 1 if suffix == ".bvh" else 7):
            assert fault(suffix, data[:end], tmp_path) is None, end


@pytest.mark.parametrize("suffix", CASES)
def test_the_files_that_are_damaged_are_whole(tmp_path: Path, suffix: str) -> None:
    """The check is checked: undamaged files pass it, and a wrong character does not."""
    for data in seeds()[suffix]:
        assert fault(suffix, data, tmp_path) is None
