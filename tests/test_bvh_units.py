"""Units of BVH files that hold a person: guessed from the length of the legs, wherever the file's root lies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from bvh_texts import XYZ, ZXY, Joint, read, text_of
from conftest import shared_dir
from figures import person
from inside.formats import UNIT_LENGTHS
from inside.skeleton import find_figure, height, leg_length

import viewer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from viewer.skeleton import Skeleton

FOLDER = shared_dir()
REAL = sorted((FOLDER / "data" / "bvh").glob("*.bvh")) if FOLDER else []
absent = pytest.mark.skipif(FOLDER is None, reason="shared data not beside the checkout")
PERSON = person(60.0)
"""Legs of 0.84 m, 1.64 m tall."""
SHIFTED = 600.0


def body(skeleton: Skeleton, unit: float, joint: int = 0) -> Joint:
    """The joints of a skeleton from one down, in units of so many metres."""
    children = [body(skeleton, unit, child) for child in np.flatnonzero(skeleton.parents == joint).tolist()]
    tips = (skeleton.tip_offsets[skeleton.tip_parents == joint] / unit).tolist()
    return Joint(skeleton.names[joint], (skeleton.offsets[joint] / unit).tolist(), ZXY, children, tips)


def far_from_its_root(skeleton: Skeleton, unit: float, way: Sequence[float]) -> str:
    """A file whose root stays at the origin while the pelvis is ``way`` off its place, in units, in every frame."""
    hips = replace(body(skeleton, unit), channels=f"{XYZ} {ZXY}")
    place = skeleton.offsets[0] / unit + np.asarray(way)
    rest = [0.0] * (3 * len(skeleton))
    return text_of(Joint("Reference", channels=f"{XYZ} {ZXY}", children=[hips]), rows=[[*[0] * 6, *place, *rest]] * 2)


@pytest.mark.parametrize("unit", UNIT_LENGTHS)
@pytest.mark.parametrize("size", [0.8, 1.0, 1.2])
def test_a_person_is_read_in_the_unit_that_makes_it_one(unit: str, size: float) -> None:
    skeleton = replace(PERSON, offsets=PERSON.offsets * size, tip_offsets=PERSON.tip_offsets * size)
    character = read(text_of(body(skeleton, UNIT_LENGTHS[unit])), units="auto")
    assert character.source.units == unit
    assert height(character) == pytest.approx(size * height(viewer.Character(PERSON)), rel=1e-9)


@pytest.mark.parametrize("unit", ["m", "cm", "mm", "inch"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_root_far_from_the_body_changes_nothing(unit: str, axis: int) -> None:
    way = 6.0 / UNIT_LENGTHS[unit] * np.eye(3)[axis]
    character = read(far_from_its_root(PERSON, UNIT_LENGTHS[unit], way), units="auto")
    assert (character.source.units, character.source.up) == (unit, "y")
    (line,) = character.warnings
    assert line.startswith("units and axes are guessed: ")
    assert line.endswith(f" m; from its leg length, {0.84:.3g} m")


def test_inches_and_the_unit_of_the_cmu_captures_have_to_fit_clearly_better() -> None:
    """Legs of 52 units: 0.52 m in centimetres; in inches 1.32 m, which is nearer to 0.86 m, but not 1.65 times."""
    legs = {name: size for name, size in UNIT_LENGTHS.items() if name in {"cm", "inch"}}
    for length, unit in ((52.0, "cm"), (42.0, "inch")):
        near = {name: abs(np.log(length * size / 0.86)) for name, size in legs.items()}
        assert near["inch"] < near["cm"]
        assert (near["inch"] + np.log(1.65) < near["cm"]) == (unit == "inch")
        character = read(text_of(body(PERSON, 0.84 / length)), units="auto")
        assert character.source.units == unit
        assert f"from its leg length, {length * UNIT_LENGTHS[unit]:.3g} m" in character.warnings[0]


def test_what_the_user_says_stands_and_arms_alone_go_by_their_size() -> None:
    text = far_from_its_root(PERSON, 0.01, (0.0, 0.0, SHIFTED))
    stated = read(text, units="mm", up="y")
    assert (stated.source.units, stated.warnings) == ("mm", ())
    arms = Joint("Chest", children=[
        Joint(f"{side}Arm", (20 * sign, 0, 0), ZXY, [Joint(f"{side}ForeArm", (28 * sign, 0, 0), ZXY, [
            Joint(f"{side}Hand", (26 * sign, 0, 0), ZXY, tips=[(18 * sign, 0, 0)])])])
        for side, sign in (("Left", 1), ("Right", -1))
    ] + [Joint("Head", (0, 20, 0), ZXY, tips=[(0, 17, 0)])])  # fmt: skip
    character = read(text_of(arms), units="auto")
    figure = find_figure(character.skeleton)
    assert figure is not None
    assert not figure.legs
    assert character.source.units == "cm"
    assert character.warnings[0].endswith("; from its size")


def test_a_file_that_is_written_reads_back_and_nobody_is_warned(tmp_path: Path) -> None:
    character = read(far_from_its_root(PERSON, 0.01, (0.0, 0.0, SHIFTED)), units="auto")
    lost = viewer.save(character, tmp_path / "again.bvh")
    assert not [line for line in lost if "states no units" in line]
    assert viewer.load(tmp_path / "again.bvh").source.units == "cm"


def on_z(skeleton: Skeleton) -> viewer.Character:
    """The skeleton as a file with Z up has it, facing -Y, in centimetres."""
    turned = [np.stack([way[:, 0], -way[:, 2], way[:, 1]], axis=1) for way in (skeleton.offsets, skeleton.tip_offsets)]
    character = read(text_of(body(replace(skeleton, offsets=turned[0], tip_offsets=turned[1]), 0.01)), units="auto")
    assert character.source.up == "z"
    return character


def test_a_person_in_a_stride_along_y_stands_on_z(tmp_path: Path) -> None:
    """From toe to toe it is longer than from arm to arm: its width is the least extent, not its depth."""
    walk = viewer.load("sample:walk")
    made = viewer.retarget(walk, on_z(walk.skeleton)).character
    assert walk.clip is not None
    assert made.clip is not None
    for frame in range(0, len(made.clip), 4):
        first = replace(made, clips={"motion": made.clip[frame:]})
        assert not [line for line in viewer.save(first, tmp_path / "walk.bvh") if "states no units" in line]
        again = viewer.load(tmp_path / "walk.bvh")
        assert (again.source.up, again.source.units) == ("z", "cm")


def test_a_guess_that_another_motion_would_change_is_told_when_that_is_written(tmp_path: Path) -> None:
    given = on_z(PERSON)
    lying = given.skeleton.rest_rotations.copy()
    lying[0] = viewer.quaternions.multiply(viewer.quaternions.from_axis_angle((1.0, 0.0, 0.0), np.pi / 2.0), lying[0])
    clip = viewer.Clip.from_arrays(given.skeleton, np.stack([lying, lying]))
    lost = viewer.save(replace(given, clips={"lying": clip}), tmp_path / "lying.bvh")
    told = 'read it with --up z (in Python up="z"), or it is taken for units of 0.01 m (cm), Y up'
    assert f"BVH states no units or axes: {told}" in lost
    stated = replace(given, source=replace(given.source, guessed=False), clips={"lying": clip})
    assert not [line for line in viewer.save(stated, tmp_path / "lying.bvh") if "states no units" in line]


@absent
def test_the_people_of_real_files_are_of_the_size_of_people(shared: Path) -> None:
    people = 0
    for path in REAL:
        character = viewer.load(path)
        figure = find_figure(character.skeleton)
        if figure is None or not figure.legs:
            continue
        people += 1
        leg = leg_length(character.skeleton, figure)
        assert leg is not None
        assert 0.7 < leg < 1.0, path.name
        assert 1.3 < height(character) < 2.1, path.name
    assert people >= 9
    assert shared == FOLDER


@absent
def test_a_capture_moved_away_from_its_root_keeps_its_size(shared: Path) -> None:
    path = shared / "data" / "bvh" / "bandai1_bow_active_001.bvh"
    head, line, rows = path.read_text(encoding="utf-8").partition("Frame Time:")
    step, *frames = rows.strip().split("\n")
    moved = [
        " ".join(f"{float(word) + SHIFTED:.6f}" if column == 8 else word for column, word in enumerate(row.split()))
        for row in frames
    ]
    character = read("\n".join([f"{head}{line} {step}", *moved, ""]), units="auto")
    assert character.source.units == "cm"
    assert height(character) == pytest.approx(height(viewer.load(path)), abs=1e-3)
