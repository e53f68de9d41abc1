"""What is written is read back as it was, in any units and axes, and is short."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from characters import assert_same, close, every_kind
from hypothesis import given, strategies as st
from inside.formats import (
    lengths_to_internal,
    lengths_to_source,
    root_rotations_to_internal,
    root_rotations_to_source,
    root_translations_to_internal,
    root_translations_to_source,
    skeleton_from_text,
    skeleton_to_json,
)
from inside.spatial import from_axis_angle

from viewer.errors import InputError
from viewer.skeleton import JointLimits, Source

DEGREES = st.decimals(-180, 180, places=4).map(float)


def test_written_and_read_again_is_the_same_to_the_last_bit() -> None:
    character = every_kind()
    again = skeleton_from_text(skeleton_to_json(character), "f")
    assert_same(character, again)
    assert again.warnings == (
        'joints[1] "bäll".limits'.removesuffix(".limits")
        + ', joints[5] "euler": the rest pose is outside the limits; IK starts from the nearest pose inside',
    )


@pytest.mark.parametrize("units", ["m", "cm", "mm", "inch", "cmu", "raw", "0.3", "12.5"])
@pytest.mark.parametrize("up", ["y", "z"])
def test_any_units_and_axes_give_the_same_character(units: str, up: str) -> None:
    character = every_kind(1)
    text = skeleton_to_json(character, units=units, up=up)
    again = skeleton_from_text(text, "f")
    assert_same(character, again, 1e-15)
    assert skeleton_to_json(again) == text
    assert again.source.up == up


def test_the_sources_units_axes_license_and_order_are_gone_back_to() -> None:
    source = Source(units="cm", metres_per_unit=0.01, up="z", license="CC0-1.0", joint_order=(7, 6, 5, 4, 3, 2, 1, 0))
    character = every_kind(2, source)
    document = json.loads(skeleton_to_json(character))
    assert (document["units"], document["up"], document["license"]) == ("cm", "z", "CC0-1.0")
    assert [joint["name"] for joint in document["joints"]] == list(character.skeleton.names[::-1])
    again = skeleton_from_text(skeleton_to_json(character), "f")
    assert skeleton_to_json(again) == skeleton_to_json(character)


def test_what_a_person_typed_is_written_as_typed() -> None:
    joints = [
        {"name": "a", "parent": None, "offset": [57, 7, 0.1], "kind": "ball", "twist_axis": "x",
         "limits": {"x": [-33.3, 37.5], "z": [0.1, 179.99]}},
        {"name": "b", "parent": "a", "offset": [1, 2.54, -3], "rotation": [0.5, 0.5, 0.5, 0.5], "kind": "slide",
         "axis": [0, 0, 1], "limits": {"distance": [0.7, 29]}, "stiffness": 0.5, "tips": [[0, 12.7, 0]]},
    ]  # fmt: skip
    effectors = [{"name": "e", "joint": "b", "offset": [0, 1.1, 0], "goal": "position+rotation"}]
    motion = {"frame_time": 0.0333333, "frames": [[[0, 0, 0, 1], [0, 0, 0, 1]]], "keys": [0]}
    for units, up in [("cm", "y"), ("inch", "z"), (0.07, "z")]:
        document = {"version": 1, "type": "skeleton", "name": "n", "units": units, "up": up, "joints": joints,
                    "effectors": effectors, "motion": motion}  # fmt: skip
        written = json.loads(skeleton_to_json(skeleton_from_text(json.dumps(document), "f")))
        assert written == document


def test_the_text_is_short_and_has_a_line_per_joint() -> None:
    lines = skeleton_to_json(every_kind()).splitlines()
    assert sum(line.startswith('  {"name"') for line in lines) == 8 + 2
    assert '  {"name": "fixed root", "parent": null, "offset": ' in "\n".join(lines)
    assert not any('"stiffness": 0}' in line for line in lines)


@pytest.mark.parametrize("precision", [0, 2, 6])
def test_precision_rounds_lengths_and_never_spoils_rotations(precision: int) -> None:
    character = every_kind(3)
    document = json.loads(skeleton_to_json(character, units="cm", precision=precision))
    offsets = np.array([joint["offset"] for joint in document["joints"]])
    assert offsets == pytest.approx(character.skeleton.offsets * 100, abs=0.5001 * 10.0**-precision)
    assert (np.round(offsets, precision) == offsets).all()
    again = skeleton_from_text(json.dumps(document), "f")
    decimals = max(precision, 4)
    assert character.clip is not None
    assert again.clip is not None
    close(character.clip.rotations, again.clip.rotations, 2 * 10.0**-decimals)


def test_numbers_that_json_has_not_are_refused() -> None:
    character = every_kind()
    offsets = character.skeleton.offsets.copy()
    offsets[3, 1] = 1e308
    with pytest.raises(InputError, match=r"^cannot be written as JSON: expected finite numbers"):
        skeleton_to_json(replace(character, skeleton=replace(character.skeleton, offsets=offsets)), units="mm")


def test_a_slide_with_one_end_is_refused() -> None:
    character = every_kind()
    limits = list(character.skeleton.limits)
    limits[4] = JointLimits.coordinates((0.0, math.inf))
    with pytest.raises(
        InputError, match=r'^skeleton limits of "slide .*": expected two finite ends of a slide, or None, '
    ):
        replace(character.skeleton, limits=tuple(limits))


def test_unknown_units_are_refused() -> None:
    with pytest.raises(InputError, match=r"^units: expected"):
        skeleton_to_json(every_kind(), units="ell")


@given(low=DEGREES, high=DEGREES)
def test_typed_degrees_come_back_as_typed(low: float, high: float) -> None:
    low, high = sorted((low, high))
    joint = {"name": "a", "kind": "hinge", "axis": [1, 0, 0], "limits": {"angle": [low, high]}}
    written = json.loads(skeleton_to_json(skeleton_from_text(json.dumps({"joints": [joint]}), "f")))
    assert written["joints"][0]["limits"]["angle"] == [low, high]


@given(
    st.lists(st.decimals(-10000, 10000, places=5).map(float), min_size=3, max_size=3),
    st.sampled_from([1.0, 0.01, 0.001, 0.0254, 0.0564444, 0.3, 7.0]),
    st.sampled_from(["y", "z"]),
)
def test_typed_lengths_come_back_as_typed(typed: list[float], metres: float, up: Literal["y", "z"]) -> None:
    source = Source(metres_per_unit=metres, up=up)
    values = np.array([typed])
    assert lengths_to_source(lengths_to_internal(values, source), source).tolist() == [typed]
    assert root_translations_to_source(root_translations_to_internal(values, source), source).tolist() == [typed]


def test_roots_turn_by_swapping_components() -> None:
    source = Source(up="z")
    assert root_translations_to_internal(np.array([1.0, 2.0, 3.0]), source).tolist() == [1, 3, -2]
    half = math.sqrt(0.5)
    identity = np.array([[0.0, 0.0, 0.0, 1.0]])
    turned = root_rotations_to_internal(identity, source)
    assert turned == pytest.approx(np.array([[-half, 0, 0, half]]), abs=1e-16)
    assert turned == pytest.approx(from_axis_angle([[1, 0, 0]], [-math.pi / 2]), abs=2e-16)
    assert root_rotations_to_source(turned, source).tolist() == identity.tolist()
