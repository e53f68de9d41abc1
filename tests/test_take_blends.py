"""Ways between keys: exact at keys, short, finite, and smooth where they are to be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inside.document import BLENDS, CODES, Blend, Track, fade_frames, sampled
from inside.spatial import IDENTITY, angle_between, conjugate, exp, log, multiply, normalized, slerp
from strategies import quickly, random_quaternions, seeds

from viewer import InputError

if TYPE_CHECKING:
    from inside.spatial import Floats


def track(seed: int, keys: int, blend: Blend, *, near: float = 1.5) -> Track:
    """Keys of any rotations within ``near`` radians of their neighbours, of either sign, at any frames."""
    random = np.random.default_rng(seed)
    frames = np.cumsum(random.integers(1, 12, size=keys)) + 3
    rotations = [random_quaternions(random)]
    while len(rotations) < keys:
        step = random.normal(size=3)
        step *= random.uniform(0.0, near) / np.linalg.norm(step)
        rotations.append(multiply(rotations[-1], exp(step)) * random.choice([-1.0, 1.0]))
    return Track(0, frames, normalized(np.array(rotations)), random.normal(size=(keys, 3)), np.full(keys, CODES[blend]))


def at(one: Track, first: int, count: int, *, fade: int = 0) -> tuple[Floats, Floats]:
    """Rotations (F, 4) and translations (F, 3)."""
    (found,) = sampled([one], first, count, fade=fade)
    assert found.translations is not None
    return found.rotations[0], found.translations[0]


def finely(one: Track, times: int = 1000) -> Track:
    """The same curve with so many frames for each."""
    return Track(0, one.frames * times, one.rotations, one.translations, one.blends)


blends = st.sampled_from(BLENDS)


@given(seed=seeds, keys=st.integers(1, 6), blend=blends, fade=st.sampled_from([0, 10, 40]))
def test_keys_are_shown_to_the_bit(seed: int, keys: int, blend: Blend, fade: int) -> None:
    one = track(seed, keys, blend, near=math.pi)
    assert one.translations is not None
    for place, frame in enumerate(one.frames.tolist()):
        rotations, translations = at(one, frame, 1, fade=fade)
        np.testing.assert_array_equal(rotations[0], one.rotations[place])
        np.testing.assert_array_equal(translations[0], one.translations[place])


@given(seed=seeds, keys=st.integers(1, 6), blend=blends, fade=st.sampled_from([0, 10, 40]))
def test_everything_between_is_a_rotation(seed: int, keys: int, blend: Blend, fade: int) -> None:
    one = track(seed, keys, blend, near=math.pi)
    rotations, translations = at(one, 0, 100, fade=fade)
    np.testing.assert_allclose(np.linalg.norm(rotations, axis=-1), 1.0, atol=1e-12)
    assert np.isfinite(translations).all()


@pytest.mark.parametrize("blend", BLENDS)
@pytest.mark.parametrize("away", [0.0, 1e-17, 1e-9, 1e-7])
def test_half_turns_and_opposite_signs_are_no_harm(blend: Blend, away: float) -> None:
    q = exp(np.array([0.3, -0.2, 0.9]))
    keys = [q, -q, multiply(q, exp(np.array([math.pi - away, 0.0, 0.0]))), multiply(q, exp(np.array([0, away, 0]))), q]
    one = Track(0, np.array([0, 7, 14, 30, 31]), np.array(keys), np.zeros((5, 3)), np.full(5, CODES[blend]))
    rotations, _ = at(one, 0, 40)
    np.testing.assert_allclose(np.linalg.norm(rotations, axis=-1), 1.0, atol=1e-12)
    np.testing.assert_allclose(angle_between(rotations[:7], q), 0.0, atol=1e-7)  # q and -q are the same rotation


@given(seed=seeds, blend=blends)
def test_the_sign_of_a_key_does_not_matter(seed: int, blend: Blend) -> None:
    one = track(seed, 5, blend)
    flipped = Track(0, one.frames, one.rotations * np.array([1, -1, -1, 1, -1])[:, None], one.translations, one.blends)
    a, b = at(one, 0, 70)[0], at(flipped, 0, 70)[0]
    assert angle_between(a, b).max() < 1e-7


def test_steps_stay_and_straight_ways_are_even() -> None:
    a, b = exp(np.array([0.0, 0.0, 0.2])), exp(np.array([0.0, 0.0, 1.2]))
    places = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    step, line = (
        Track(0, np.array([10, 20]), np.array([a, b]), places, np.full(2, CODES[blend]))
        for blend in (Blend.STEP, Blend.LINEAR)
    )
    rotations, translations = at(step, 0, 31)
    np.testing.assert_array_equal(rotations[:20], np.broadcast_to(a, (20, 4)))
    np.testing.assert_array_equal(rotations[20:], np.broadcast_to(b, (11, 4)))
    np.testing.assert_array_equal(translations[:20], 0.0)
    rotations, translations = at(line, 10, 11)
    part = np.arange(11) / 10
    np.testing.assert_allclose(log(rotations)[:, 2], 0.2 + part, atol=1e-12)
    np.testing.assert_allclose(translations, part[:, None] * places[1], atol=1e-12)


@given(seed=seeds, keys=st.integers(2, 5), blend=blends)
def test_equal_keys_give_a_still_body(seed: int, keys: int, blend: Blend) -> None:
    one = track(seed, keys, blend)
    assert one.translations is not None
    still = Track(0, one.frames, one.rotations[[0] * keys], one.translations[[0] * keys], one.blends)
    rotations, translations = at(still, 0, 80)
    assert angle_between(rotations, one.rotations[0]).max() < 1e-7
    np.testing.assert_allclose(translations, np.broadcast_to(one.translations[0], (80, 3)), atol=1e-12)


@given(seed=seeds)
@quickly
def test_smooth_ways_have_one_velocity_on_both_sides_of_a_key(seed: int) -> None:
    one = finely(track(seed, 5, Blend.SMOOTH, near=3.0))
    for frame in one.frames.tolist():
        (before, key, after), places = (values for values in at(one, frame - 1, 3))
        left = 1000 * log(multiply(conjugate(before), key))
        right = 1000 * log(multiply(conjugate(key), after))
        np.testing.assert_allclose(left, right, atol=0.05)
        np.testing.assert_allclose(1000 * (places[1] - places[0]), 1000 * (places[2] - places[1]), atol=0.05)


def test_smooth_is_not_straight() -> None:
    turns = exp(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.5]]))
    one = Track(0, np.array([0, 10, 20]), turns, None, np.full(3, CODES[Blend.SMOOTH]))
    (found,) = sampled([one], 0, 21, fade=0)
    angles = log(found.rotations[0])[:, 2]
    assert angles[1] < 0.05  # it sets off slowly: before the first key it stood still
    assert angles[9] < 0.95
    assert angles[9] > 0.9


@given(seed=seeds, keys=st.integers(3, 7))
def test_a_hinge_never_turns_beyond_its_keys(seed: int, keys: int) -> None:
    random = np.random.default_rng(seed)
    angles = random.uniform(0.0, 2.4, size=keys)
    angles[random.integers(keys)] = 0.0
    frames = np.cumsum(random.integers(1, 20, size=keys))
    turns = exp(angles[:, None] * np.array([1.0, 0.0, 0.0]))
    places = np.stack([angles, -angles, 0.0 * angles], axis=-1)
    one = Track(0, frames, turns, places, np.full(keys, CODES[Blend.SMOOTH]))
    for start, end, low, high in zip(frames[:-1], frames[1:], angles[:-1], angles[1:], strict=True):
        rotations, moved = at(one, int(start), int(end - start) + 1)
        for values in (log(rotations)[:, 0], moved[:, 0], -moved[:, 1]):
            assert values.min() >= min(low, high) - 1e-9
            assert values.max() <= max(low, high) + 1e-9


@given(seed=seeds)
@quickly
def test_a_smooth_way_never_leads_round_the_other_side(seed: int) -> None:
    one = finely(track(seed, 5, Blend.SMOOTH, near=3.1), 20)
    rotations, _ = at(one, int(one.frames[0]), int(one.frames[-1] - one.frames[0]))
    steps = angle_between(rotations[1:], rotations[:-1])
    assert steps.max() < 0.6


@given(seed=seeds, keys=st.integers(1, 5), blend=blends, fade=st.integers(10, 50))
def test_what_is_added_to_a_clip_fades_to_just_nothing(seed: int, keys: int, blend: Blend, fade: int) -> None:
    one = track(seed, keys, blend)
    low, high = int(one.frames[0]), int(one.frames[-1])
    for first in (low - fade - 3, high + fade):
        rotations, translations = at(one, first, 4, fade=fade)
        np.testing.assert_array_equal(rotations, np.broadcast_to(IDENTITY, (4, 4)))
        np.testing.assert_array_equal(translations, 0.0)
    rotations, _ = at(one, low - fade, fade + 1, fade=fade)
    if blend is Blend.LINEAR:
        part = np.arange(fade + 1) / fade
        assert angle_between(rotations, slerp(IDENTITY, one.rotations[0], part)).max() < 1e-7


@pytest.mark.parametrize(("rate", "frames"), [(24.0, 10), (30.0, 10), (60.0, 20), (120.0, 40), (5.0, 10)])
def test_it_fades_within_a_third_of_a_second_and_ten_frames_at_least(rate: float, frames: int) -> None:
    assert fade_frames(1.0 / rate) == frames


@given(seed=seeds, blend=blends, first=st.integers(0, 60), count=st.integers(1, 40))
def test_any_window_shows_the_same(seed: int, blend: Blend, first: int, count: int) -> None:
    one = track(seed, 6, blend)
    whole, part = at(one, 0, 100), at(one, first, count)
    for a, b in zip(whole, part, strict=True):
        np.testing.assert_allclose(a[first : first + count], b, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"frames": [3, 3]}, "track of joint 4: expected frames from 0 in ascending order"),
        ({"frames": [-1, 3]}, "track of joint 4: expected frames from 0 in ascending order"),
        ({"frames": []}, "track of joint 4: expected frames from 0 in ascending order"),
        ({"blends": [0, 3]}, "track of joint 4: expected one blend from 0 to 2 for each key"),
        ({"blends": [0]}, "track of joint 4: expected one blend from 0 to 2 for each key"),
        ({"rotations": [[0, 0, 0, 1], [0, 0, 0, 2]]}, "track of joint 4: rotations: expected a unit quaternion"),
        ({"rotations": [[0, 0, 0, 1]]}, r"track of joint 4: rotations: expected shape \(2, 4\), found \(1, 4\)"),
        (
            {"translations": [[0, 0, math.nan]] * 2},
            "track of joint 4: translations: expected finite numbers, found nan",
        ),
    ],
)
def test_tracks_that_are_none_are_refused(changes: dict[str, object], words: str) -> None:
    good: dict[str, object] = {
        "frames": [0, 5], "rotations": [[0, 0, 0, 1]] * 2, "translations": None, "blends": [0, 2],
    }  # fmt: skip
    with pytest.raises(InputError, match=words):
        Track(4, **(good | changes))  # type: ignore[arg-type]
