"""Clips: frames, sampling between them, other rates, cutting, and what is refused."""

from __future__ import annotations

import math
import re
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.skeleton import MOST_FRAMES
from inside.spatial import angle_between, exp, multiply
from strategies import clips, quickly, random_clip, random_skeleton, seeds, unit_floats

from viewer.errors import InputError
from viewer.skeleton import Clip, Skeleton

FIGURE = random_skeleton(1, 4)
CLIP = replace(random_clip(2, FIGURE, 10), frame_time=0.5, keys=(0, 3, 4, 9))


def same_frames(a: Clip, b: Clip) -> bool:
    return np.array_equal(a.rotations, b.rotations) and np.array_equal(a.translations, b.translations)


@quickly
@given(clips())
def test_a_frame_has_the_clips_rotations_and_translations_and_the_offsets_of_the_rest(
    taken: tuple[Skeleton, Clip],
) -> None:
    skeleton, clip = taken
    whole = clip.local_translations()
    for frame in range(len(clip)):
        pose = clip.pose(frame)
        np.testing.assert_array_equal(pose.rotations, clip.rotations[frame])
        np.testing.assert_array_equal(pose.translations, whole[frame])
        np.testing.assert_array_equal(pose.translations[clip.translated], clip.translations[frame])
        still = np.setdiff1d(np.arange(len(skeleton)), clip.translated)
        np.testing.assert_array_equal(pose.translations[still], skeleton.offsets[still])
    assert clip.duration == len(clip) * clip.frame_time


@quickly
@given(clips(frames=20))
def test_at_the_times_of_its_frames_a_clip_is_its_frames_to_the_last_bit(taken: tuple[Skeleton, Clip]) -> None:
    _, clip = taken
    assert same_frames(clip.sample(np.arange(len(clip)) * clip.frame_time), clip)
    backwards = [clip.sample([frame * clip.frame_time]) for frame in reversed(range(len(clip)))]
    np.testing.assert_array_equal([one.rotations[0] for one in backwards], clip.rotations[::-1])


def test_long_clips_are_exact_at_their_frames_too() -> None:
    count = 20_000
    rotations = exp(np.linspace(0.0, 6.0, count)[:, None, None] * np.array([0.6, 0.0, 0.8]))
    clip = Clip("long", 0.0083333, rotations, np.array([0]), np.zeros((count, 1, 3)), np.zeros((1, 3)))
    assert same_frames(clip.sample(np.arange(count) * 0.0083333), clip)
    assert same_frames(clip.resampled(1 / 0.0083333), clip)


@quickly
@given(clips(), st.integers(0, 6), unit_floats)
def test_between_two_frames_joints_turn_evenly_the_short_way_and_move_straight(
    taken: tuple[Skeleton, Clip], frame: int, part: float
) -> None:
    _, clip = taken
    frame = min(frame, len(clip) - 1)
    after = min(frame + 1, len(clip) - 1)
    found = clip.sample([(frame + part) * clip.frame_time])
    whole = angle_between(clip.rotations[frame], clip.rotations[after])
    np.testing.assert_allclose(
        angle_between(clip.rotations[frame], found.rotations[0]), part * whole, rtol=0, atol=1e-8
    )
    np.testing.assert_allclose(
        angle_between(found.rotations[0], clip.rotations[after]), (1 - part) * whole, rtol=0, atol=1e-8
    )
    straight = (1 - part) * clip.translations[frame] + part * clip.translations[after]
    np.testing.assert_allclose(found.translations[0], straight, rtol=0, atol=1e-8)


def test_times_before_the_first_frame_and_after_the_last_are_those_frames() -> None:
    found = CLIP.sample([-3.0, 0.0, 4.5, 4.7, 5.0, 1e9])
    np.testing.assert_array_equal(found.rotations, CLIP.rotations[[0, 0, 9, 9, 9, 9]])


def test_a_sample_has_the_step_of_its_times_and_no_keys() -> None:
    found = CLIP.sample([1.0, 1.25, 1.5])
    assert (found.frame_time, found.keys, found.name) == (0.25, (), CLIP.name)
    assert CLIP.sample([1.0]).frame_time == CLIP.frame_time


@quickly
@given(clips(frames=30), st.floats(0.5, 240.0))
def test_another_rate_keeps_the_duration_to_the_nearest_frame(taken: tuple[Skeleton, Clip], fps: float) -> None:
    _, clip = taken
    found = clip.resampled(fps)
    assert found.frame_time == 1.0 / fps
    assert len(found) >= 1
    if len(found) > 1:
        assert abs(found.duration - clip.duration) <= 0.5 / fps + 1e-9
    np.testing.assert_array_equal(found.rotations[0], clip.rotations[0])


def test_twice_the_rate_keeps_every_frame_and_half_of_it_every_other() -> None:
    double, half = CLIP.resampled(4.0), CLIP.resampled(1.0)
    assert (len(double), len(half)) == (20, 5)
    assert same_frames(double.frames(0, 19, 2), CLIP)
    assert same_frames(half, CLIP.frames(0, 9, 2))
    assert same_frames(CLIP.resampled(2.0), CLIP)


@given(st.integers(0, 9), st.integers(0, 9), st.integers(1, 12))
def test_frames_from_a_to_b_include_both(a: int, b: int, step: int) -> None:
    first, last = min(a, b), max(a, b)
    cut = CLIP.frames(first, last, step)
    wanted = list(range(first, last + 1, step))
    assert len(cut) == len(wanted)
    np.testing.assert_array_equal(cut.rotations, CLIP.rotations[wanted])
    np.testing.assert_array_equal(cut.translations, CLIP.translations[wanted])
    assert cut.frame_time == step * CLIP.frame_time
    assert [wanted[key] for key in cut.keys] == [key for key in CLIP.keys if key in wanted]


@given(seeds)
def test_the_short_way_is_taken_whatever_the_signs(seed: int) -> None:
    random = np.random.default_rng(seed)
    start = exp(random.normal(size=(1, 3)))
    end = multiply(start, exp(0.3 * random.normal(size=(1, 3)))) * random.choice([-1.0, 1.0])
    clip = Clip("two", 1.0, np.array([start, end]), np.array([], np.intp), np.zeros((2, 0, 3)), np.zeros((1, 3)))
    halfway = clip.sample([0.5]).rotations[0]
    assert math.isclose(angle_between(start, halfway)[0], 0.5 * angle_between(start, end)[0], abs_tol=1e-14)


@pytest.mark.parametrize("name", ["rotations", "translated", "translations", "offsets"])
def test_a_clip_cannot_be_changed_nor_can_its_maker_or_its_parts(name: str) -> None:
    mine = np.array(getattr(CLIP, name))
    changes: dict[str, Any] = {name: mine}
    value = getattr(replace(CLIP, **changes), name)
    mine[...] = 0
    np.testing.assert_array_equal(value, getattr(CLIP, name))
    for some in (CLIP, CLIP.frames(2, 8, 3), CLIP.sample([0.1, 0.2]), CLIP.resampled(7.0), CLIP.frames(0, 1)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(some, name)[...] = 0
    with pytest.raises(FrozenInstanceError):
        setattr(CLIP, name, mine)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"frame_time": 0.0}, 'clip "clip-2": frame time: expected more than 0 seconds, found 0.0'),
        ({"frame_time": 1e-320}, 'clip "clip-2": frame time: expected more than 0 seconds, found 1e-320'),
        ({"frame_time": -1.0}, 'clip "clip-2": frame time: expected more than 0 seconds, found -1.0'),
        ({"frame_time": math.nan}, 'clip "clip-2": frame time: expected more than 0 seconds, found nan'),
        ({"frame_time": math.inf}, 'clip "clip-2": frame time: expected more than 0 seconds, found inf'),
        (
            {"rotations": np.zeros((10, 3, 4)), "translated": np.array([1]), "translations": np.zeros((10, 1, 3))},
            'clip "clip-2": rotations: expected shape (any, 4, 4), found (10, 3, 4)',
        ),
        (
            {"translated": np.array([1]), "translations": np.zeros((9, 1, 3))},
            'clip "clip-2": translations: expected shape (10, 1, 3), found (9, 1, 3)',
        ),
    ],
)
def test_what_is_no_clip_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        replace(CLIP, **changes)


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        ((0, 10, 1), "no frame 10: the clip has 0 to 9"),
        ((-1, 5, 1), "no frame -1: the clip has 0 to 9"),
        ((5, 4, 1), "frames 5:4:1: expected first <= last and a step of 1 or more"),
        ((4, 5, 0), "frames 4:5:0: expected first <= last and a step of 1 or more"),
        ((4, 5, -1), "frames 4:5:-1: expected first <= last and a step of 1 or more"),
    ],
)
def test_frames_that_are_not_there_are_refused(cut: tuple[int, int, int], message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        CLIP.frames(*cut)


@pytest.mark.parametrize("time", [math.nan, math.inf])
def test_a_clip_is_sampled_at_finite_times(time: float) -> None:
    with pytest.raises(InputError, match=r"^a clip is sampled at finite times, found (nan|inf)$"):
        CLIP.sample([0.0, time])


@pytest.mark.parametrize(
    ("fps", "message"),
    [
        (0.0, "frames per second: expected more than 0, found 0.0"),
        (-24.0, "frames per second: expected more than 0, found -24.0"),
        (math.nan, "frames per second: expected more than 0, found nan"),
        (math.inf, "frames per second: expected more than 0, found inf"),
        (1e9, f"1e+09 frames per second make 5e+09 frames: expected at most {MOST_FRAMES:,}"),
        (1e308, f"1e+308 frames per second make more than 1e308 frames: expected at most {MOST_FRAMES:,}"),
    ],
)
def test_rates_that_make_no_clip_are_refused(fps: float, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        CLIP.resampled(fps)


@quickly
@given(clips())
def test_other_motion_keeps_name_rate_and_offsets_and_translates_what_leaves_its_offset(
    taken: tuple[Skeleton, Clip],
) -> None:
    skeleton, clip = taken
    turns, places = clip.rotations[::-1], clip.local_translations()
    places[-1, 0] += [0.0, 0.5, 0.0]
    made = clip.with_motion(turns, places)
    assert (made.name, made.frame_time, made.keys) == (clip.name, clip.frame_time, clip.keys)
    np.testing.assert_array_equal(made.rotations, turns)
    np.testing.assert_array_equal(made.local_translations(), places)
    np.testing.assert_array_equal(made.offsets, clip.offsets)
    assert made.translated.tolist() == [
        joint for joint in range(len(skeleton)) if (places[:, joint] != clip.offsets[joint]).any()
    ]
    assert same_frames(clip.with_motion(clip.rotations), clip)


def test_other_motion_of_another_length_has_no_keys_and_of_other_joints_is_refused() -> None:
    assert CLIP.keys
    assert CLIP.with_motion(CLIP.rotations[:4], CLIP.local_translations(slice(4))).keys == ()
    with pytest.raises(InputError, match=r"^clip \"[^\"]+\": rotations: expected"):
        CLIP.with_motion(CLIP.rotations[:, :2])
    with pytest.raises(InputError, match=r"^clip \"[^\"]+\": translations: expected"):
        CLIP.with_motion(CLIP.rotations, CLIP.local_translations(slice(4)))
    with pytest.raises(InputError, match="translations"):
        CLIP.with_motion(CLIP.rotations[:4])
