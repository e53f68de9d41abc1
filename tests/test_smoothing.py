"""Smoothing at a cut-off in hertz and curves with slopes: laws, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.spatial import ease, hermite, low_pass, median, quantiles, slopes, slow_path
from strategies import quickly, seeds

from viewer.errors import InputError


@pytest.mark.parametrize("rate", [30.0, 60.0, 120.0, 23.976])
@pytest.mark.parametrize("cutoff", [2.5, 3.0, 6.0])
def test_a_sine_at_the_cut_off_keeps_its_phase_and_loses_three_decibels(rate: float, cutoff: float) -> None:
    times = np.arange(int(8 * rate)) / rate
    middle = slice(int(2 * rate), int(6 * rate))
    sine = np.sin(2 * np.pi * cutoff * times)
    np.testing.assert_allclose(low_pass(sine, rate, cutoff)[middle], sine[middle] / np.sqrt(2.0), atol=0.04)
    slow = np.sin(2 * np.pi * 0.1 * cutoff * times)
    np.testing.assert_allclose(low_pass(slow, rate, cutoff)[middle], slow[middle], atol=0.01)


@quickly
@given(seeds, st.integers(1, 40))
def test_straight_lines_stay_and_the_ends_keep_their_place(seed: int, frames: int) -> None:
    random = np.random.default_rng(seed)
    line = random.normal(size=(2, 3)) + np.arange(frames)[:, None, None] * random.normal(size=(2, 3))
    np.testing.assert_allclose(low_pass(line, 120.0, 3.0), line, rtol=0, atol=1e-11)
    rough = random.normal(size=(frames, 3))
    smooth = low_pass(rough, 120.0, 3.0)
    np.testing.assert_allclose(smooth[[0, -1]], rough[[0, -1]], rtol=0, atol=1e-11)
    np.testing.assert_allclose(low_pass(rough[::-1], 120.0, 3.0), smooth[::-1], rtol=0, atol=1e-12)


def test_smoothing_is_per_column_and_far_above_the_rate_changes_nothing() -> None:
    rough = np.random.default_rng(4).normal(size=(50, 2, 3))
    np.testing.assert_array_equal(low_pass(rough, 60.0, 5.0)[:, 1, 2], low_pass(rough[:, 1, 2], 60.0, 5.0))
    np.testing.assert_array_equal(low_pass(rough, 1.0, 100.0), rough)


@pytest.mark.parametrize(("rate", "cutoff"), [(0.0, 6.0), (60.0, 0.0), (60.0, -1.0), (np.nan, 6.0), (60.0, np.nan)])
def test_rates_and_cut_offs_are_above_zero(rate: float, cutoff: float) -> None:
    message = f"^smoothing: expected a rate and a cut-off above 0, found {rate:g} and {cutoff:g}$"
    with pytest.raises(InputError, match=message):
        low_pass(np.zeros(5), rate, cutoff)


def test_easing_starts_and_ends_at_rest() -> None:
    t = np.linspace(0.0, 1.0, 100_001)
    eased = ease(t)
    assert eased[[0, 50_000, -1]].tolist() == [0.0, 0.5, 1.0]
    speed = np.gradient(eased, t)
    assert (np.diff(eased) >= 0).all()
    np.testing.assert_allclose(speed[[0, -1]], 0.0, atol=1e-8)
    np.testing.assert_allclose(np.gradient(speed, t)[[0, -1]], 0.0, atol=1e-3)
    assert ease([-2.0, 3.0]).tolist() == [0.0, 1.0]


@quickly
@given(seeds)
def test_a_cubic_with_end_slopes_is_that_cubic(seed: int) -> None:
    random = np.random.default_rng(seed)
    powers = random.normal(size=(4, 3))
    t = np.linspace(0.0, 1.0, 11)
    cubic = sum(power * t[:, None] ** k for k, power in enumerate(powers))
    slopes = powers[1], powers[1] + 2 * powers[2] + 3 * powers[3]
    np.testing.assert_allclose(hermite(t, cubic[0], cubic[-1], *slopes), cubic, rtol=0, atol=1e-12)


@quickly
@given(seeds, st.integers(1, 30), st.integers(0, 2))
def test_medians_quantiles_and_slopes_are_those_of_numpy(seed: int, count: int, more: int) -> None:
    random = np.random.default_rng(seed)
    values = random.normal(size=(count, *random.integers(1, 4, size=more)))
    np.testing.assert_allclose(median(values), np.median(values, axis=0), rtol=0, atol=1e-14)
    shares = [*random.uniform(size=3).tolist(), 0.0, 1.0]
    np.testing.assert_allclose(quantiles(values, shares), np.quantile(values, shares, axis=0), rtol=0, atol=1e-14)
    if count > 1:
        np.testing.assert_array_equal(slopes(values), np.gradient(values, axis=0))


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 40])
@pytest.mark.parametrize("width", [1, 3])
def test_a_slow_path_has_the_least_sum_of_its_pull_and_its_changes(count: int, width: int) -> None:
    random, stiff = np.random.default_rng(count), 2.5
    half = random.normal(size=(count, width, width))
    pull, force = half @ half.swapaxes(1, 2), random.normal(size=(count, width))
    found = slow_path(pull, force, stiff)
    # Of the least sum the derivative is 0.
    changes = np.diff(found, axis=0, prepend=found[:1], append=found[-1:])
    slope = (pull @ found[..., None])[..., 0] - force + stiff * (changes[:-1] - changes[1:])
    np.testing.assert_allclose(slope, 0.0, atol=1e-9)


def test_a_slow_path_goes_on_where_nothing_pulls() -> None:
    pull = np.zeros((5, 1, 1))
    pull[[0, 4]] = 1e9
    found = slow_path(pull, 1e9 * np.array([[1.0], [0.0], [0.0], [0.0], [5.0]]), 1.0)
    np.testing.assert_allclose(found[:, 0], [1.0, 2.0, 3.0, 4.0, 5.0], atol=1e-6)


def test_a_step_that_is_not_stiff_parts_a_slow_path() -> None:
    pull, force = np.ones((6, 1, 1)), np.array([[0.0], [0.0], [0.0], [3.0], [3.0], [3.0]])
    stiff = np.array([9.0, 9.0, 0.0, 9.0, 9.0])
    np.testing.assert_allclose(slow_path(pull, force, stiff), force, atol=1e-12)
    assert np.abs(slow_path(pull, force, 9.0) - force).max() > 0.5
