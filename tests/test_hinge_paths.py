"""Three hinges whose bone passes near the first of their axes: slow, and off by little."""

from __future__ import annotations

import numpy as np
import pytest
from inside.motion import Ranges, Size, path_angles, three_angles, turn_of
from inside.spatial import Floats, from_axis_angle, multiply, rotate, vectors

AXES = np.eye(3)
LENGTH = 0.6
FREE = Ranges(np.zeros(3), np.full(3, np.inf))
RATE = 60.0


def passing(degrees: float, frames: int = 120) -> Floats:
    """Turns (F, 4) in which the bone, along +Z, swings from one side of the first axis to the other, past it."""
    swing = from_axis_angle(np.array([0.0, 0.0, 1.0]), np.radians(np.linspace(-60.0, 60.0, frames)))
    aside = from_axis_angle(np.array([0.0, 1.0, 0.0]), np.full(frames, np.radians(90.0 - degrees)))
    return multiply(swing, aside)


def angles_of(turns: Floats, ranges: Ranges, lever: float = 0.0) -> Floats:
    """`path_angles` (F, 3) of one row of hinges, in one of two, the other one of which turns otherwise."""
    both = np.stack([turns, turns[::-1]])
    twice = Ranges(*(np.stack([each, each]) for each in ranges))
    size = Size(np.full(2, LENGTH), np.full(2, lever))
    return np.asarray(path_angles(np.stack([AXES, AXES]), both, twice, RATE, size)[0])


def speed(angles: Floats) -> float:
    """Degrees a second of the first hinge, at most."""
    return float(np.degrees(np.abs(np.diff(angles[:, 0])).max()) * RATE)


def off(angles: Floats, turns: Floats) -> Floats:
    """(F,) metres that the end of the limb is off."""
    bone = np.array([0.0, 0.0, LENGTH])
    return vectors.norm(rotate(turn_of(AXES, angles), bone) - rotate(turns, bone))


@pytest.mark.parametrize("degrees", [0.1, 1.0, -1.0, 3.0])
def test_a_bone_that_passes_the_first_axis_does_not_spin_the_hinges(degrees: float) -> None:
    turns = passing(degrees)
    angles, exact = angles_of(turns, FREE), three_angles(AXES, turns, FREE.cost)
    assert off(exact, turns).max() < 1e-9
    assert speed(angles) < min(0.7 * speed(exact), 800.0)
    missed = off(angles, turns)
    assert missed.max() < 0.03
    assert missed[vectors.norm(np.cross(rotate(turns, AXES[2]), AXES[0])) > 0.5].max() < 1e-3


def test_a_bone_on_the_first_axis_keeps_its_angles() -> None:
    """No first angle is better than another there: the nearest to the middle of the range is taken."""
    turns = np.tile(from_axis_angle(np.array([0.0, 1.0, 0.0]), np.radians(90.0)), (30, 1))
    angles = angles_of(turns, FREE)
    np.testing.assert_allclose(angles[:, 0], 0.0, atol=1e-9)
    assert off(angles, turns).max() < 1e-9


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_few_frames_have_angles_too(frames: int) -> None:
    turns = passing(5.0)[60 : 60 + frames]
    angles = angles_of(turns, FREE)
    assert angles.shape == (frames, 3)
    assert off(angles, turns).max() < 0.01


def test_the_solution_is_taken_whose_angles_are_in_their_ranges() -> None:
    turns = passing(5.0)
    for middle in (0.0, np.pi):
        ranges = Ranges(np.array([0.0, middle, 0.0]), np.array([np.inf, 1.57, np.inf]))
        angles = angles_of(turns, ranges)
        assert (np.cos(angles[:, 1] - middle) > -1e-3).all()


def test_a_limb_that_the_first_hinge_carries_away_is_carried_less() -> None:
    """Of two solutions, half a turn of the first hinge apart, one carries the shoulder across its axis."""
    turns = passing(10.0)
    angles = angles_of(turns, FREE, lever=0.15)
    assert np.abs(angles[[0, -1], 0]).max() < np.pi / 2.0 + 0.2
