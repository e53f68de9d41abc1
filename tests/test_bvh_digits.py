"""Decimals, units and axes of written BVH files, and files that cannot be written."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest
from bvh_texts import ARM, XYZ, ZXY, Joint, again, assert_same_motion, read, text_of, written
from inside.formats import metres_per_unit, plain_decimal
from inside.skeleton import chain
from inside.spatial import from_axis_angle

from viewer import save
from viewer.errors import InputError, OutputError
from viewer.skeleton import Character, Clip

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("power", [-60, -20, -8, 8, 30])
def test_tiny_and_huge_figures_keep_their_digits(power: int) -> None:
    scale = 10.0**power
    arm = Joint("arm", (0, scale, scale / 3), tips=[(0, scale / 7, 0)])
    row = [scale, scale / 9, -scale, 10, 20, 30, 40, 50, 60]
    assert_same_motion(
        character := read(text_of(Joint("root", channels=f"{XYZ} {ZXY}", children=[arm]), rows=[row])), again(character)
    )


def test_a_tip_alone_gives_the_size() -> None:
    character = read(text_of(Joint("root", tips=[(0, 1e-8, 3e-9)]), rows=[[10, 20, 30]]))
    assert_same_motion(character, again(character))


def test_a_flower_of_tiny_petals_keeps_its_digits() -> None:
    petals = [Joint(f"p{i}", tuple(1e-5 * np.random.default_rng(i).normal(size=3))) for i in range(500)]
    character = read(text_of(Joint("root", channels=XYZ, children=petals), rows=[[0.0] * 1503]))
    assert_same_motion(character, again(character))


def test_rounding_does_not_add_up_along_a_chain() -> None:
    skeleton = chain(5000)
    offsets = skeleton.offsets.copy()
    offsets[1:] = (1 / 30, 0.1 / 7, 0.1 / 30)
    skeleton = replace(skeleton, offsets=offsets)
    turns = np.broadcast_to(from_axis_angle(np.array([0.36, 0.48, 0.8]), np.array(0.0007)), (1, len(skeleton), 4))
    clip = Clip("c", 0.1, turns, np.array([], dtype=int), np.zeros((1, 0, 3)), offsets)
    text, _ = written(character := Character(skeleton, MappingProxyType({"c": clip})))
    assert len(text) < 5_000_000
    assert_same_motion(character, read(text))


CONVERSIONS = [("cm", "y", 0.01), ("mm", "z", 0.001), ("inch", None, 0.0254), (0.3, "y", 0.3), ("m", "z", 1.0)]


@pytest.mark.parametrize(("units", "up", "metres"), CONVERSIONS)
def test_other_units_and_axes_are_the_same_places(
    tmp_path: Path, units: str | float, up: Literal["y", "z"] | None, metres: float
) -> None:
    character = read(ARM.replace("0 0 0 0 0 0 0\n", "10 20 30 0 0 0 40\n"), "cm", "z")
    said = save(character, tmp_path / "o.bvh", units=units, up=up)
    assert all(line.startswith("BVH states no units or axes: ") for line in said)  # nothing is lost
    other = read((tmp_path / "o.bvh").read_text(), units, up or "z")
    assert metres_per_unit(str(units)) == metres
    assert_same_motion(character, other)


def test_a_root_that_cannot_turn_is_widened_when_the_axes_change(tmp_path: Path) -> None:
    character = read(text_of(Joint("root", channels="", children=[Joint("a", (1, 2, 3))]), rows=[[1, 2, 3]]), "m", "z")
    warnings = save(character, tmp_path / "o.bvh", up="y")
    assert warnings == ['joint "root": its channels cannot hold the motion; added Zrotation, Xrotation, Yrotation']
    assert_same_motion(character, read((tmp_path / "o.bvh").read_text(), "m", "y"))


def test_precision_is_the_number_of_decimals() -> None:
    for decimals in (0, 2, 17):
        rows = written(read(ARM), precision=decimals)[0].splitlines()[-2:]
        assert {len(number.partition(".")[2]) for row in rows for number in row.split()} == {decimals}
    with pytest.raises(InputError, match=r"^precision: expected 0 to 17 decimals, found 18$"):
        written(read(ARM), precision=18)


def test_no_zero_has_a_sign() -> None:
    text, _ = written(read(ARM.replace("1 2 3 0 0 0 0", "-1e-9 -0.0 0 -1e-9 0 0 -0.0")))
    assert "-0.0" not in text


@pytest.mark.parametrize("value", [1 / 30, 1e-30, 5e-324, 0.1, 1e22, 1.0])
def test_frame_times_are_kept_to_the_last_bit(value: float) -> None:
    assert float(plain_decimal(value)) == value
    assert "e" not in plain_decimal(value)
    assert set(plain_decimal(value)) <= set("0123456789.")


def failing(*_: object) -> None:
    raise OSError(28, "no space")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "a.bvh"
    path.write_text("before")
    breaker: Callable[..., None] = failing
    monkeypatch.setattr(f"os.{call}", breaker)
    with pytest.raises(OutputError, match="the disk is full"):
        save(read(ARM), path)
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("a.bvh", "before")]


@pytest.mark.parametrize(("name", "words"), [("a", "no suffix"), ("a.fbx", '".fbx"'), ("none/a.bvh", "folder")])
def test_places_that_cannot_be_written(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises((InputError, OutputError), match=words):
        save(read(ARM), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
