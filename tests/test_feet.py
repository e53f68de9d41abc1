"""Feet: contacts are found again under noise and skating, the meter measures, planted feet stand still."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import ran
from figures import person, reframed
from inside.motion import (
    Contact,
    Contacts,
    FootContacts,
    failures,
    foot_contacts,
    foot_places,
    limb_points,
    measured,
    plant_feet,
    skate,
    steady_pieces,
)
from inside.skeleton import find_figure
from inside.spatial import conjugate, exp, log, multiply, rotate
from strategies import random_quaternions

import viewer
from viewer.errors import InputError
from viewer.progress import watched_by
from viewer.skeleton import Clip, JointKind, Skeleton, fk_clip

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Bools, Floats


@cache
def walk() -> tuple[Skeleton, Clip]:
    """The bundled walk, in which feet stand still."""
    character = viewer.load("sample:walk")
    assert character.clip is not None
    return character.skeleton, character.clip


def skating(clip: Clip, by: float = 1.15) -> Clip:
    places = clip.local_translations()
    places[:, 0, ::2] *= by
    return clip.with_motion(clip.rotations, places)


def noisy(clip: Clip, seed: int, degrees: float = 1.0) -> Clip:
    shake = np.radians(degrees) * np.random.default_rng(seed).normal(size=(*clip.rotations.shape[:2], 3))
    return clip.with_motion(multiply(clip.rotations, exp(shake)))


def touching(contacts: Contacts, frames: int) -> Bools:
    """(4, F) whether heel and ball of each foot touch."""
    touches = np.zeros((4, frames), dtype=bool)
    for number, foot in enumerate(contacts.feet):
        for contact in foot.contacts:
            touches[2 * number + (contact.point == "ball"), contact.frames] = True
    return touches


def f1(truth: Contacts, found: Contacts, frames: int) -> float:
    a, b = touching(truth, frames), touching(found, frames)
    return 2.0 * float((a & b).sum()) / float(a.sum() + b.sum())


def pops(clip: Clip) -> float:
    steps = log(multiply(conjugate(clip.rotations[:-1]), clip.rotations[1:]))
    return float(np.percentile(np.linalg.norm(np.diff(steps, axis=0), axis=-1), 99.9))


# --- contacts


def test_one_foot_or_both_touch_in_a_walk_and_each_point_twice() -> None:
    skeleton, clip = walk()
    found = foot_contacts(skeleton, clip)
    assert [(foot.name, foot.side) for foot in found.feet] == [("LeftFoot", "left"), ("RightFoot", "right")]
    touches = touching(found, len(clip))
    assert touches.any(axis=0).mean() > 0.8
    for foot in found.feet:
        assert [contact.point for contact in foot.contacts] == sorted(
            (contact.point for contact in foot.contacts), reverse=True
        )
        for before, after in zip(foot.contacts, foot.contacts[1:], strict=False):
            assert before.point != after.point or before.end < after.start


def test_contacts_are_where_the_soles_of_the_walk_are_on_the_floor() -> None:
    """The bundled walk is made from a formula with its soles at height 0: truth that no detector made."""
    skeleton, clip = walk()
    world, _ = measured(skeleton, clip)
    touches = touching(foot_contacts(skeleton, clip), len(clip))
    truth = []
    for foot in foot_places(skeleton, world):
        for places in foot.places.values():
            still = np.linalg.norm(np.gradient(places, clip.frame_time, axis=0), axis=1) < 0.15
            truth.append(still & (places[:, 1] < places[:, 1].min() + 0.01))
    right = float((touches & np.array(truth)).sum())
    assert 2.0 * right / float(touches.sum() + np.array(truth).sum()) > 0.9


@pytest.mark.parametrize("by", [0.85, 1.15])
def test_contacts_are_found_under_skating(by: float) -> None:
    skeleton, clip = walk()
    clean = plant_feet(skeleton, clip)
    assert f1(clean.contacts, foot_contacts(skeleton, skating(clean.clip, by)), len(clip)) > 0.85


@pytest.mark.parametrize("seed", range(5))
def test_contacts_are_found_under_noise_at_sixty_frames_a_second(seed: int) -> None:
    skeleton, clip = walk()
    quick = clip.resampled(60.0)
    truth = foot_contacts(skeleton, quick)
    assert f1(truth, foot_contacts(skeleton, noisy(quick, seed)), len(quick)) > 0.6
    shaken = quick.local_translations()
    shaken[:, 0] += 0.005 * np.random.default_rng(seed).normal(size=(len(quick), 3))
    assert f1(truth, foot_contacts(skeleton, quick.with_motion(quick.rotations, shaken)), len(quick)) > 0.85


@pytest.mark.parametrize("size", [0.01, 0.5, 40.0])
def test_size_does_not_matter_if_gravity_is_as_large(size: float) -> None:
    """Lengths times k at a rate that is 1 / sqrt(k) as high are the same walk of a giant, or of a child."""
    skeleton, clip = walk()
    big = replace(
        skeleton, offsets=size * skeleton.offsets, tip_offsets=size * skeleton.tip_offsets, poses={}, effectors=()
    )
    grown = Clip.from_arrays(big, clip.rotations, size * clip.local_translations(), fps=clip.fps)
    # The evidence counts time in seconds: at the same rate a body of another size is only nearly the same.
    same = foot_contacts(big, grown)
    assert len(same.feet) == 2
    if size == 0.5:
        assert f1(foot_contacts(skeleton, clip), same, len(clip)) > 0.85


def test_names_frames_of_joints_and_places_on_the_floor_do_not_matter() -> None:
    skeleton, clip = walk()
    frames = random_quaternions(np.random.default_rng(3), len(skeleton))
    frames[0] = [0.0, 0.0, 0.0, 1.0]
    other = reframed(skeleton, frames)
    above = np.where(skeleton.parents[:, None] < 0, [0.0, 0.0, 0.0, 1.0], frames[skeleton.parents])
    turns = multiply(conjugate(above), multiply(clip.rotations, frames))
    places = np.repeat(other.offsets[None], len(clip), axis=0)
    places[:, 0] = clip.local_translations()[:, 0] + [5.0, 0.0, -3.0]
    assert foot_contacts(other, Clip.from_arrays(other, turns, places, fps=clip.fps)) == foot_contacts(skeleton, clip)


def climbing(step: float = 0.1) -> tuple[Skeleton, Clip, Floats]:
    """The walk, after the first stance raised by a step: as if up on a box. Also the raise (F,)."""
    skeleton, clip = walk()
    rise = step * np.clip((np.arange(len(clip)) - 19) / 14.0, 0.0, 1.0)
    places = clip.local_translations()
    places[:, 0, 1] += rise
    return skeleton, clip.with_motion(clip.rotations, places), rise


def test_a_foot_on_a_step_touches_and_keeps_its_own_height() -> None:
    skeleton, clip, _ = climbing(0.18)
    found = foot_contacts(skeleton, clip)
    assert all(any(contact.start > 34 for contact in foot.contacts) for foot in found.feet)
    planted = plant_feet(skeleton, clip, found)
    heights = []
    for foot, places in zip(found.feet, foot_places(skeleton, fk_clip(skeleton, planted.clip)), strict=True):
        for contact in foot.contacts:
            path = places.places[contact.point][contact.frames]
            assert np.ptp(path, axis=0).max() < 1e-6
            heights.append((contact.point, contact.start, float(path[0, 1])))
    early = max(height for point, start, height in heights if point == "heel" and start < 15)
    late = min(height for point, start, height in heights if point == "heel" and start > 40)
    assert late - early > 0.1


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("what", ["body", "limbs"])
def test_a_stance_in_which_the_capture_fails_for_a_moment_stays_one(what: str, count: int) -> None:
    skeleton, clip = walk()
    whole, random = plant_feet(skeleton, clip), np.random.default_rng(count)
    for foot in whole.contacts.feet:
        stance = max((one for one in foot.contacts if one.point == "heel"), key=lambda one: one.end - one.start)
        wild = slice((stance.start + stance.end) // 2, (stance.start + stance.end) // 2 + count)
        turns, places = clip.rotations.copy(), clip.local_translations()
        first = 0 if what == "body" else 1
        turns[wild, first:] = random_quaternions(random, count, len(skeleton) - first)
        if what == "body":
            places[wild, 0] += [50.0, -20.0, 90.0]
        given = clip.with_motion(turns, places)
        planted = plant_feet(skeleton, given)
        assert [len(one.contacts) for one in planted.contacts.feet] == [
            len(one.contacts) for one in whole.contacts.feet
        ]
        assert planted.report.after.slide_cm_s < 1e-3
        np.testing.assert_array_equal(planted.clip.rotations[wild], turns[wild])
        np.testing.assert_array_equal(planted.clip.local_translations()[wild], places[wild])
        off = np.linalg.norm(
            fk_clip(skeleton, planted.clip).positions - fk_clip(skeleton, whole.clip).positions, axis=-1
        )
        assert np.delete(off, wild, axis=0).max() < 0.02 * count


def test_a_foot_that_is_elsewhere_in_one_frame_of_its_stance_is_put_back() -> None:
    skeleton, clip = walk()
    whole = plant_feet(skeleton, clip)
    foot = whole.contacts.feet[0]
    stance = max((one for one in foot.contacts if one.point == "heel"), key=lambda one: one.end - one.start)
    at, turns = (stance.start + stance.end) // 2, clip.rotations.copy()
    thigh = skeleton.index("LeftUpLeg")
    turns[at, thigh] = multiply(turns[at, thigh], exp(np.radians([10.0, 0.0, 5.0])))
    planted = plant_feet(skeleton, clip.with_motion(turns))
    assert [len(one.contacts) for one in planted.contacts.feet] == [len(one.contacts) for one in whole.contacts.feet]
    world = fk_clip(skeleton, planted.clip)
    heel = limb_points(foot_places(skeleton, world)[0].leg, world)[2]
    np.testing.assert_allclose(heel[[at - 1, at, at + 1]], heel[[at, at + 1, at - 1]], rtol=0, atol=1e-9)


def swinging(rate: float, seed: int, scatter: float = 0.0) -> Floats:
    """(1, F, 3) two seconds of a foot that swings to and fro by 0.6 m twice a second."""
    time = np.arange(round(2.0 * rate)) / rate
    path = np.stack([0.3 * np.sin(4.0 * np.pi * time), 0.05 * np.cos(8.0 * np.pi * time), time], axis=-1)
    return np.asarray((path + scatter * np.random.default_rng(seed).normal(size=path.shape))[None])


@pytest.mark.parametrize("scatter", [0.0, 0.01])
@pytest.mark.parametrize("rate", [24.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.1])
def test_a_foot_that_fails_for_a_moment_is_found_and_nothing_else(rate: float, seconds: float, scatter: float) -> None:
    for seed in range(8):
        path = swinging(rate, seed, scatter)
        assert not failures(path, 0.85, rate).any()
        random = np.random.default_rng(seed)
        first = int(random.integers(1, path.shape[1] - 14))
        away = slice(first, first + max(1, round(seconds * rate)))
        way = random.normal(size=3)
        path[0, away] += 1.5 * way / np.linalg.norm(way)
        found = failures(path, 0.85, rate)[0]
        np.testing.assert_array_equal(np.flatnonzero(found), np.arange(away.start, away.stop))
        np.testing.assert_allclose(found[away], 1.5, rtol=0, atol=0.4)


@pytest.mark.parametrize("apart", range(1, 7))
def test_two_failures_near_each_other_are_both_found(apart: int) -> None:
    path = swinging(30.0, 0)
    path[0, [20, 20 + apart]] += [[2.0, 0.0, 0.0], [0.0, -3.0, 0.0]]
    assert np.flatnonzero(failures(path, 0.85, 30.0)).tolist() == [20, 20 + apart]


@pytest.mark.parametrize("rate", [24.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("seconds", [0.2, 0.5, 1.5])
def test_a_flicker_in_every_other_frame_is_found_however_long_it_is(rate: float, seconds: float) -> None:
    random, time = np.random.default_rng(3), np.arange(round(4.0 * rate)) / rate
    path = np.stack([0.5 * np.sin(2.0 * time), 0.1 * np.cos(3.0 * time), 1.2 * time], axis=1)
    path = (path + random.normal(0.0, 1e-3, path.shape))[None]
    bad = np.arange(round(rate), round((1.0 + seconds) * rate), 2)
    path[0, bad] += 0.3 * random.normal(size=3) / np.sqrt(3.0) + random.normal(0.0, 0.02, (len(bad), 3))
    assert np.flatnonzero(failures(path, 0.85, rate)[0]).tolist() == bad.tolist()


@pytest.mark.parametrize("frames", range(1, 12))
def test_paths_of_any_length_have_failures_but_in_their_ends(frames: int) -> None:
    path = np.zeros((2, frames, 3))
    path[0, frames // 2] = path[1, -1] = [0.0, 1.0, 0.0]
    inner = [frames // 2] if 0 < frames // 2 < frames - 1 else []
    assert np.argwhere(failures(path, 0.85, 30.0)).tolist() == [[0, frame] for frame in inner]


@pytest.mark.parametrize("size", [0.01, 40.0])
def test_failures_have_the_size_of_the_figure(size: float) -> None:
    path = swinging(60.0, 1)
    path[0, 30:33] += [0.0, 0.5, 0.0]
    np.testing.assert_allclose(failures(size * path, size * 0.85, 60.0), size * failures(path, 0.85, 60.0), rtol=1e-9)


def test_a_calibration_frame_is_a_piece_of_its_own() -> None:
    skeleton, clip = walk()
    turns = np.concatenate([skeleton.rest_rotations[None], clip.rotations])
    places = np.concatenate([np.zeros((1, len(skeleton), 3)) + skeleton.offsets, clip.local_translations()])
    places[0, 0] = [80.0, 0.0, -60.0]
    wild = Clip.from_arrays(skeleton, turns, places, fps=clip.fps)
    world, _ = measured(skeleton, wild)
    assert steady_pieces(skeleton, wild, world) == [slice(0, 1), slice(1, len(wild))]
    shifted = [(one.point, one.start - 1, one.end - 1) for one in foot_contacts(skeleton, wild).feet[0].contacts]
    assert shifted == [one[:3] for one in foot_contacts(skeleton, clip).feet[0].contacts]
    assert skate(skeleton, wild).mann == pytest.approx(skate(skeleton, clip).mann, rel=1e-9)
    planted = plant_feet(skeleton, wild).clip
    np.testing.assert_array_equal(planted.rotations[0], wild.rotations[0])


# --- the meter


def test_the_meter_measures_a_slide_that_is_known() -> None:
    skeleton = person()
    frames, speed = 61, 0.1
    places = np.repeat(skeleton.offsets[None], frames, axis=0)
    places[:, 0, 2] += speed * np.arange(frames) / 60.0
    clip = Clip.from_arrays(skeleton, np.repeat(skeleton.rest_rotations[None], frames, axis=0), places, fps=60.0)
    found = skate(skeleton, clip, Contacts((FootContacts("LeftFoot", "left", (Contact("heel", 0, 60),)),)))
    assert found.slide_cm_s == pytest.approx(10.0)
    assert found.drift_cm == pytest.approx(5.0)
    assert found.mann == pytest.approx(10.0 / 60.0)
    assert (found.skate_ratio, found.penetration_mm) == (0.0, 0.0)
    (left, right) = found.feet
    assert left.contacts[0].wanders
    assert (right.contacts, right.slide_cm_s) == ((), 0.0)
    quick = clip[::20]  # 0.1 m/s seen 3 times a second: 3.3 cm a frame
    sliding = Contacts((FootContacts("LeftFoot", "left", (Contact("heel", 0, 3),)),))
    assert skate(skeleton, quick, sliding).skate_ratio == 1.0
    ignored = Contacts((FootContacts("LeftFoot", "left", (Contact("heel", 0, 60, ignored=True),)),))
    assert skate(skeleton, clip, ignored).slide_cm_s == 0.0


# --- planting


@pytest.mark.parametrize("spoil", ["skate", "noise", "both"])
def test_planted_feet_stand_still_and_nothing_pops(spoil: str) -> None:
    skeleton, clip = walk()
    given = skating(clip) if spoil == "skate" else noisy(skating(clip, 1.1 if spoil == "both" else 1.0), 7)
    planted = plant_feet(skeleton, given)
    assert planted.report.before.slide_cm_s > 5.0
    assert planted.report.after.slide_cm_s < 1e-3
    assert planted.report.after.drift_cm < 1e-3
    assert planted.report.short_mm < 1e-3
    assert pops(planted.clip) < (1.5 if spoil == "skate" else 2.0) * pops(given)
    figure = find_figure(skeleton)
    assert figure is not None
    upper = [joint for arm in figure.arms for joint in (arm.upper, arm.lower)]
    np.testing.assert_array_equal(planted.clip.rotations[:, upper], given.rotations[:, upper])


def test_planting_twice_is_planting_once_and_a_clean_walk_stays() -> None:
    skeleton, clip = walk()
    once = plant_feet(skeleton, clip)
    assert once.report.mean_change_cm < 0.05
    again = plant_feet(skeleton, once.clip, once.contacts)
    assert again.report.most_change_cm < 1e-6
    assert again.report.before.slide_cm_s < 1e-6


def test_frames_far_from_what_is_planted_keep_their_bits() -> None:
    skeleton, clip = walk()
    given = skating(clip)
    only = Contacts((FootContacts("LeftFoot", "left", (Contact("heel", 3, 12), Contact("ball", 3, 17))),))
    made = plant_feet(skeleton, given, only, blend=0.2).clip
    np.testing.assert_array_equal(made.rotations[50:], given.rotations[50:])
    np.testing.assert_array_equal(made.local_translations()[50:], given.local_translations()[50:])
    assert (made.rotations[5:15] != given.rotations[5:15]).any()
    nothing = plant_feet(skeleton, given, Contacts(()))
    np.testing.assert_array_equal(nothing.clip.rotations, given.rotations)
    ignored = Contacts(tuple(replace_contacts(foot, ignored=True) for foot in foot_contacts(skeleton, given).feet))
    np.testing.assert_array_equal(plant_feet(skeleton, given, ignored).clip.rotations, given.rotations)


def replace_contacts(foot: FootContacts, **changes: Any) -> FootContacts:  # noqa: ANN401 - fields of a contact
    return foot._replace(contacts=tuple(contact._replace(**changes) for contact in foot.contacts))


def test_the_pelvis_stays_within_what_is_allowed_and_says_what_is_short() -> None:
    skeleton, clip = walk()
    given = skating(clip, 1.3)
    free, held = plant_feet(skeleton, given).report, plant_feet(skeleton, given, pelvis=0.01).report
    assert free.pelvis_cm > 2.0
    assert free.short_mm < 1e-3
    assert held.pelvis_cm == pytest.approx(1.0)
    assert held.short_mm > 1.0
    kinds = (JointKind.FIXED, *skeleton.kinds[1:])
    fixed = replace(skeleton, kinds=kinds, limits=(None, *skeleton.limits[1:]))
    still = Clip.from_arrays(fixed, clip.rotations, fps=clip.fps)
    assert plant_feet(fixed, still).report.pelvis_cm == 0.0


def test_an_overstretched_knee_does_not_pop() -> None:
    skeleton = person()
    figure = find_figure(skeleton)
    assert figure is not None
    frames = 180
    angles = np.radians(2.0) * np.sin(np.linspace(0.0, 20.0, frames))
    turns = np.repeat(skeleton.rest_rotations[None], frames, axis=0)
    for leg in figure.legs:
        turns[:, leg.lower] = multiply(turns[:, leg.lower], exp(angles[:, None] * [1.0, 0.0, 0.0]))
    places = np.repeat(skeleton.offsets[None], frames, axis=0)
    places[:, 0] += 0.02 * np.stack([np.sin(np.linspace(0, 7, frames)), np.zeros(frames), np.zeros(frames)], axis=1)
    given = Clip.from_arrays(skeleton, turns, places, fps=60.0)
    planted = plant_feet(skeleton, given)
    assert planted.report.after.slide_cm_s < 0.05
    steps = log(multiply(conjugate(planted.clip.rotations[:-1]), planted.clip.rotations[1:]))
    assert np.degrees(np.linalg.norm(np.diff(steps, axis=0), axis=-1)).max() < 3.0


@pytest.mark.parametrize("frames", [1, 2])
def test_one_or_two_frames_stay_as_they_are(frames: int) -> None:
    skeleton, clip = walk()
    planted = plant_feet(skeleton, clip[:frames])
    assert len(planted.contacts) == 0
    np.testing.assert_array_equal(planted.clip.rotations, clip.rotations[:frames])
    assert planted.report.after.slide_cm_s == 0.0


def test_one_long_contact_is_one_plant() -> None:
    skeleton = person()
    frames = 90
    turns = np.repeat(skeleton.rest_rotations[None], frames, axis=0)
    given = noisy(Clip.from_arrays(skeleton, turns, fps=30.0), 2, 0.3)
    planted = plant_feet(skeleton, given)
    world = fk_clip(skeleton, planted.clip)
    for foot in foot_places(skeleton, world):
        (heel,) = [one for one in planted.contacts.feet[foot.side == "right"].contacts if one.point == "heel"]
        assert heel.end - heel.start > 70
        assert np.ptp(limb_points(foot.leg, world)[2][heel.frames], axis=0).max() < 1e-9


def test_a_ball_that_stands_under_noise_does_not_shake_the_leg() -> None:
    """Heels rise while balls stand: what the foot's rotation shakes must not reach a nearly straight knee."""
    skeleton, clip = walk()
    truth = foot_contacts(skeleton, clip)
    ratios = []
    for seed in range(12):
        given = noisy(clip, seed)
        planted = plant_feet(skeleton, given, truth)
        assert planted.report.after.slide_cm_s < 1e-3
        ratios.append(pops(planted.clip) / pops(given))
    assert np.mean(ratios) < 1.3
    assert max(ratios) < 1.45


def tapping(contacts: Contacts) -> Contacts:
    """Contacts in which each heel is off the ground for a moment, and a second time for the rest of its stance."""
    taps = [
        foot._replace(contacts=tuple(
            part
            for one in foot.contacts
            for part in (
                (one._replace(end=one.start + 8), one._replace(start=one.start + 20, end=one.start + 27))
                if one.point == "heel"
                else (one,)
            )
        ))
        for foot in contacts.feet
    ]  # fmt: skip
    return Contacts(tuple(taps))


def backwards(contacts: Contacts, frames: int) -> Contacts:
    feet = [
        foot._replace(contacts=tuple(
            one._replace(start=frames - 1 - one.end, end=frames - 1 - one.start) for one in foot.contacts
        ))
        for foot in contacts.feet
    ]  # fmt: skip
    return Contacts(tuple(feet))


@pytest.mark.parametrize("seed", range(3))
def test_a_clip_planted_backwards_is_the_planted_clip_backwards(seed: int) -> None:
    skeleton, slow = walk()
    clip = noisy(slow.resampled(120.0), seed)
    contacts = tapping(foot_contacts(skeleton, slow.resampled(120.0)))
    forth = plant_feet(skeleton, clip, contacts).clip
    back = plant_feet(skeleton, clip[::-1], backwards(contacts, len(clip))).clip
    np.testing.assert_allclose(
        fk_clip(skeleton, back[::-1]).positions, fk_clip(skeleton, forth).positions, rtol=0.0, atol=1e-9
    )


def crouching(degrees: float, frames: int = 300) -> tuple[Skeleton, Clip]:
    """A person with bent knees who stands still, at 60 frames a second."""
    skeleton = person()
    turns = np.repeat(skeleton.rest_rotations[None], frames, axis=0)
    for side in ("Left", "Right"):
        for part, share in (("UpLeg", -0.5), ("Leg", 1.0), ("Foot", -0.5)):
            joint = skeleton.index(side + part)
            turns[:, joint] = multiply(turns[:, joint], exp(np.radians(share * degrees) * np.array([1.0, 0.0, 0.0])))
    return skeleton, Clip.from_arrays(skeleton, turns, fps=60.0)


@pytest.mark.parametrize("degrees", [20.0, 60.0, 120.0])
def test_legs_that_stand_take_no_more_noise_than_the_clip_has(degrees: float) -> None:
    """Ankles that stand still leave thighs, shins and feet to make up for the noise of all joints."""
    skeleton, clip = crouching(degrees)
    truth = foot_contacts(skeleton, clip)
    for seed in range(4):
        given = noisy(clip, seed)
        planted = plant_feet(skeleton, given, truth)
        assert planted.report.after.slide_cm_s < 1e-3
        assert pops(planted.clip) < 1.1 * pops(given)


def pivoting(degrees: float) -> tuple[Skeleton, Clip, Contacts]:
    """A person who turns about the left heel, which stands; the ball stands for a second before and after."""
    skeleton, clip = crouching(30.0)
    angle = np.radians(degrees) * np.clip(np.linspace(-0.4, 1.4, len(clip)), 0.0, 1.0)
    world, turns, places = fk_clip(skeleton, clip), clip.rotations.copy(), clip.local_translations()
    heel, turn = world.positions[:, skeleton.index("LeftFoot")], exp(angle[:, None] * [0.0, 1.0, 0.0])
    turns[:, 0] = multiply(turn, turns[:, 0])
    places[:, 0] = heel + rotate(turn, places[:, 0] - heel)
    last = len(clip) - 1
    contacts = (Contact("heel", 0, last), Contact("ball", 0, 60), Contact("ball", last - 60, last))
    return skeleton, clip.with_motion(turns, places), Contacts((FootContacts("LeftFoot", "left", contacts),))


def test_a_foot_that_turns_on_its_heel_is_not_turned_back() -> None:
    skeleton, clip, contacts = pivoting(70.0)
    planted = plant_feet(skeleton, clip, contacts)
    np.testing.assert_allclose(planted.clip.rotations, clip.rotations, rtol=0, atol=1e-6)
    assert planted.report.after.slide_cm_s < 1e-3


@pytest.mark.parametrize("degrees", [170.0, 400.0])
def test_noise_on_a_foot_that_spins_on_its_heel_is_not_magnified(degrees: float) -> None:
    skeleton, clip, contacts = pivoting(degrees)
    for seed in range(3):
        given = noisy(clip, seed)
        planted = plant_feet(skeleton, given, contacts)
        assert planted.report.after.slide_cm_s < 1e-3
        assert pops(planted.clip) < 1.2 * pops(given)


@pytest.mark.parametrize("degrees", [20.0, 60.0])
def test_a_body_that_shakes_as_a_whole_is_steady_over_feet_that_stand(degrees: float) -> None:
    """As noise on the root: knees and hips would have to make up for it."""
    skeleton, clip = crouching(degrees)
    truth = foot_contacts(skeleton, clip)
    whole = plant_feet(skeleton, clip, truth).clip
    for seed in range(3):
        places = clip.local_translations()
        places[:, 0] += 0.005 * np.random.default_rng(seed).normal(size=(len(clip), 3))
        planted = plant_feet(skeleton, clip.with_motion(clip.rotations, places), truth)
        assert planted.report.after.slide_cm_s < 1e-3
        assert planted.report.pelvis_cm < 3.0
        shakes = np.diff(fk_clip(skeleton, planted.clip).positions[:, 0], 2, axis=0)
        assert np.abs(shakes).max() < 0.4 * np.abs(np.diff(places[:, 0], 2, axis=0)).max()
        assert pops(planted.clip) < np.radians(2.0)
    assert pops(whole) < 1e-9


def test_a_foot_that_taps_beside_a_heel_that_stands_keeps_its_motion() -> None:
    skeleton, clip = crouching(40.0)
    turns = clip.rotations.copy()
    foot = skeleton.index("LeftFoot")
    tapping = np.radians(10.0) * np.sin(np.linspace(0.0, 2.0 * np.pi * 40.0, len(clip)))[:, None]
    turns[:, foot] = multiply(turns[:, foot], exp(tapping * [1.0, 0.0, 0.0]))
    given, last = clip.with_motion(turns), len(clip) - 1
    heels = Contacts(tuple(
        FootContacts(skeleton.names[skeleton.index(f"{side.capitalize()}Foot")], side, (Contact("heel", 0, last),))
        for side in ("left", "right")
    ))  # fmt: skip
    np.testing.assert_allclose(plant_feet(skeleton, given, heels).clip.rotations, turns, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("middle", "swing", "pace"), [(85.0, 15.0, 0.9), (80.0, 30.0, 0.3), (60.0, 60.0, 0.3)])
def test_knees_of_legs_that_spin_about_themselves_bend_to_one_side(middle: float, swing: float, pace: float) -> None:
    """As markerless captures have them: the flexion axis that the rest pose shows is square to the knee's plane."""
    skeleton, clip = walk()
    turns = clip.rotations.copy()
    for side in ("Left", "Right"):
        thigh, shin, foot = (skeleton.index(f"{side}{part}") for part in ("UpLeg", "Leg", "Foot"))
        angle = np.radians(middle + swing * np.sin(pace * np.arange(len(clip))))[:, None]
        spin = [
            exp(angle * skeleton.offsets[joint] / np.linalg.norm(skeleton.offsets[joint])) for joint in (shin, foot)
        ]
        turns[:, thigh] = multiply(turns[:, thigh], spin[0])
        turns[:, shin] = multiply(multiply(conjugate(spin[0]), turns[:, shin]), spin[1])
        turns[:, foot] = multiply(conjugate(spin[1]), turns[:, foot])
    spun = clip.with_motion(turns)
    np.testing.assert_allclose(fk_clip(skeleton, spun).positions, fk_clip(skeleton, clip).positions, atol=1e-9)
    given = skating(spun)
    planted = plant_feet(skeleton, given, foot_contacts(skeleton, clip))
    assert planted.report.after.slide_cm_s < 1e-3
    assert pops(planted.clip) < 2.0 * pops(given)


@pytest.mark.parametrize("rate", [30.0, 60.0])
def test_hips_do_not_shake_over_feet_that_stand(rate: float) -> None:
    """A pelvis that is turned by noise moves hips along straight legs: knees would shake by more than the capture's."""
    skeleton, clip = walk()
    clip = clip.resampled(rate)
    ratios = [
        pops(plant_feet(skeleton, given).clip) / pops(given) for given in (noisy(clip, seed) for seed in range(6))
    ]
    assert max(ratios) < 1.2
    assert np.mean(ratios) < 1.11


def standing_still(frames: int, seed: int, steps: tuple[float, ...] = (0.0,)) -> tuple[Skeleton, Clip]:
    """Sixty frames a second of a figure with noise of a degree at every joint, in places (metres ahead) in turn."""
    skeleton, _ = walk()
    turns = np.repeat(skeleton.rest_rotations[None], frames, axis=0)
    places = np.repeat(skeleton.offsets[None], frames, axis=0)
    places[:, 0, 2] += np.repeat(steps, frames // len(steps))
    return skeleton, noisy(Clip.from_arrays(skeleton, turns, places, fps=60.0), seed)


@pytest.mark.parametrize("seed", range(4))
def test_noise_does_not_cut_a_stance_and_a_step_does(seed: int) -> None:
    frames = 600
    for steps in ((0.0,), (0.0, 0.3)):
        skeleton, clip = standing_still(frames, seed, steps)
        for foot in foot_contacts(skeleton, clip).feet:
            heels = [contact for contact in foot.contacts if contact.point == "heel"]
            assert len(heels) == len(steps)
            for place, heel in enumerate(heels):
                first, after = (frames * (place + end) // len(steps) for end in (0, 1))
                assert first - 1 <= heel.start < first + 60
                assert after - 60 <= heel.end <= after


def test_noise_does_not_turn_a_trunk_over_feet_that_stand() -> None:
    """Each hip would go its own way, and straight legs have no other way to follow it than by their knees."""
    for seed in range(4):
        skeleton, given = standing_still(240, seed)
        planted = plant_feet(skeleton, given)
        assert planted.report.after.slide_cm_s < 1e-3
        assert pops(planted.clip) < 1.05 * pops(given)


@pytest.mark.parametrize("noise", ["turns", "places"])
def test_a_foot_that_swings_moves_with_the_body_that_is_made_calm(noise: str) -> None:
    """Else its knee, nearly straight, would make up for what the body no longer shakes."""
    skeleton, _ = walk()
    count, left, right = 180, skeleton.index("LeftFoot"), skeleton.index("RightLeg")
    turns = np.repeat(skeleton.rest_rotations[None], count, axis=0)
    places = np.repeat(skeleton.offsets[None], count, axis=0)
    for name, degrees in (("RightUpLeg", -30.0), ("RightLeg", 10.0)):
        joint = skeleton.index(name)
        turns[:, joint] = multiply(turns[:, joint], exp(np.radians([degrees, 0.0, 0.0])))
    contacts = Contacts((FootContacts(skeleton.names[left], "left", (Contact("heel", 0, count - 1),)),))
    random = np.random.default_rng(5)
    if noise == "turns":
        turns[:, 0] = multiply(turns[:, 0], exp(np.radians(1.0) * random.normal(size=(count, 3))))
    else:
        places[:, 0] += 0.005 * random.normal(size=(count, 3))
    given = Clip.from_arrays(skeleton, turns, places, fps=60.0)
    planted = plant_feet(skeleton, given, contacts).clip
    knee = log(multiply(conjugate(turns[:, right]), planted.rotations[:, right]))
    assert np.degrees(np.abs(np.diff(knee, axis=0)).max()) < 0.6


# --- bad input


@pytest.mark.parametrize("call", [foot_contacts, skate, plant_feet])
def test_what_has_no_legs_is_refused(call: Any) -> None:  # noqa: ANN401 - one of three
    chain = viewer.load("sample:chain-4").skeleton
    clip = Clip.from_arrays(chain, np.repeat(chain.rest_rotations[None], 5, axis=0))
    with pytest.raises(InputError, match=r"^expected a figure with legs, found none$"):
        call(chain, clip)
    skeleton, clip = walk()
    with pytest.raises(InputError, match=r"expected a clip, found a Skeleton$"):
        call(skeleton, skeleton)


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        (("LeftHand", Contact("heel", 0, 3)), 'contacts: no foot "LeftHand": expected "LeftFoot", "RightFoot"'),
        (("LeftFoot", Contact("heel", 0, 68)), 'contacts of "LeftFoot": expected frames from 0 to 67, found 0 to 68'),
        (("LeftFoot", Contact("heel", 9, 3)), 'contacts of "LeftFoot": expected frames from 0 to 67, found 9 to 3'),
        (("LeftFoot", Contact("toe", 0, 3)), 'contacts of "LeftFoot": expected a point "heel" or "ball", found "toe"'),
    ],
)
def test_contacts_that_do_not_fit_are_refused(contact: tuple[str, Contact], message: str) -> None:
    skeleton, clip = walk()
    given = Contacts((FootContacts(contact[0], "left", (contact[1],)),))
    for call in (skate, plant_feet):
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            call(skeleton, clip, given)


def test_a_blend_and_a_pelvis_have_bounds() -> None:
    skeleton, clip = walk()
    for blend in (0.0, -1.0, 11.0, np.nan):
        message = f"planting: expected a blend above 0 and up to 10 seconds, found {blend:g}"
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            plant_feet(skeleton, clip, blend=blend)
    for pelvis in (-0.1, np.inf, np.nan):
        message = f"planting: expected 0 or more metres for the pelvis, found {pelvis:g}"
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            plant_feet(skeleton, clip, pelvis=pelvis)


# --- the command


def slippery(tmp_path: Path) -> Path:
    """The walk with its root's path 1.15 times as long, as a file."""
    character = viewer.load("sample:walk")
    assert character.clip is not None
    file = tmp_path / "slippery.bvh"
    viewer.save(replace(character, clips={"walk": skating(character.clip)}), file)
    return file


CM = ("--units", "cm", "--up", "y")


def test_the_command_measures_plants_and_reads_its_own_contacts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file, out = slippery(tmp_path), tmp_path / "planted.bvh"
    done = ran(capsys, "feet", file, *CM, "--json")
    assert (done.code, done.err) == (0, "")
    before = done.json
    assert before["slide_cm_s"] > 10.0
    assert {"start", "end", "slide_cm_s", "drift_cm"} <= set(before["feet"]["LeftFoot"]["contacts"][0])
    (tmp_path / "contacts.json").write_text(done.out, encoding="utf-8")
    done = ran(capsys, "feet", file, *CM, "--plant", "-o", out, "--contacts", tmp_path / "contacts.json")
    assert done.code == 0
    assert re.fullmatch(
        rf"slid \d+\.\d cm/s, now 0\.00; pelvis at most \d\.\d cm\nwrote {re.escape(str(out))}: 68 frames\n", done.out
    )
    after = ran(capsys, "feet", out, *CM, "--contacts", tmp_path / "contacts.json", "--json").json
    assert after["slide_cm_s"] < 0.05
    planted = ran(capsys, "feet", file, *CM, "--plant", "-o", tmp_path / "b.bvh", "--json").json
    assert planted["before"]["slide_cm_s"] == before["slide_cm_s"]
    assert planted["slide_cm_s"] < 0.01
    lines = ran(capsys, "feet", file, *CM).out.splitlines()
    assert lines[0].startswith("LeftFoot: ")
    assert lines[-1].startswith("slide ")


def test_the_command_refuses_what_does_not_fit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = slippery(tmp_path)
    chain = ran(capsys, "feet", "sample:chain-4")
    assert (chain.code, chain.err) == (1, "error: sample:chain-4: expected motion, found a skeleton without frames\n")
    half = ran(capsys, "feet", file, "--plant")
    assert half.code == 2
    assert "the following arguments are required: -o OUT" in half.err
    other = ran(capsys, "feet", file, "-o", "x.bvh")
    assert "the following arguments are required: --plant" in other.err
    for option, value in (("--pelvis", "2"), ("--object", "sphere:1@0,0,0"), ("--blend", "0.1")):
        alone = ran(capsys, "feet", file, option, value)
        assert (alone.code, alone.err.splitlines()[-1]) == (
            2, f"ikviewer feet: error: argument {option}: expected --plant with it",
        )  # fmt: skip
    far = ran(capsys, "feet", file, "--plant", "-o", "x.bvh", "--pelvis=-1cm")
    assert 'argument --pelvis: expected 0 or more centimetres, found "-1cm"' in far.err
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"feet": {"LeftFoot": {"contacts": [{"start": 5, "end": 3}]}}}', encoding="utf-8")
    refused = ran(capsys, "feet", file, *CM, "--contacts", wrong)
    assert refused.err == f"error: {wrong}: feet.LeftFoot.contacts[0]: expected an end from 5 on, found 3\n"
    wrong.write_text('{"feet": {"Tail": {"contacts": []}}}', encoding="utf-8")
    refused = ran(capsys, "feet", file, *CM, "--contacts", wrong)
    assert refused.err == f'error: {file}: contacts: no foot "Tail": expected "LeftFoot", "RightFoot"\n'


def test_check_knows_contacts_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "contacts.json"
    file.write_text(ran(capsys, "feet", "sample:walk", "--json").out, encoding="utf-8")
    assert ran(capsys, "check", file).out == f"ok       {file}: 9 contacts of feet\n"


def test_check_warns_of_sliding_feet(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = slippery(tmp_path)
    done = ran(capsys, "check", file, "sample:walk", *CM)
    (warning,) = [line for line in done.out.splitlines() if line.startswith("warning")]
    assert re.fullmatch(
        rf"warning  {re.escape(str(file))}: feet slide by \d\d\.\d cm/s: `ikviewer feet --plant` holds them", warning
    )


# --- props


def foot_points(skeleton: Skeleton, clip: Clip) -> Floats:
    """(F, K, 3) joints and end sites of both feet."""
    world = fk_clip(skeleton, clip)
    feet = [joint for joint, name in enumerate(skeleton.names) if "Foot" in name or "Toe" in name]
    tips = [
        world.point(int(joint), offset)
        for joint, offset in zip(skeleton.tip_parents, skeleton.tip_offsets, strict=True)
        if joint in feet
    ]
    return np.stack([*(world.positions[:, joint] for joint in feet), *tips], axis=1)


@pytest.mark.parametrize("seed", range(8))
def test_the_walk_climbs_a_box_and_no_foot_is_in_it(seed: int) -> None:
    skeleton, clip = walk()
    random = np.random.default_rng(seed)
    size = np.array([2.0, random.uniform(0.03, 0.15), random.uniform(0.6, 1.4)])
    centre = np.array([0.0, 0.5 * size[1], random.uniform(0.4, 2.4)])
    turn = exp([0.0, random.uniform(-0.5, 0.5), 0.0])
    box = viewer.Box("box", tuple(centre), tuple(size), tuple(turn))
    planted = plant_feet(skeleton, clip, objects=[box])
    assert planted.report.after.slide_cm_s < 1e-3
    assert planted.report.short_mm < 0.1
    inside = np.abs(rotate(conjugate(turn), foot_points(skeleton, planted.clip) - centre)) < 0.5 * size - 0.002
    assert not inside.all(axis=-1).any()
    heights = [
        float(places.places["heel"][(contact.start + contact.end) // 2, 1])
        for foot, places in zip(
            planted.contacts.feet, foot_places(skeleton, fk_clip(skeleton, planted.clip)), strict=True
        )
        for contact in foot.contacts
        if contact.point == "heel"
    ]
    assert max(heights) - min(heights) == pytest.approx(size[1], abs=0.01)  # on it as well as beside it
    assert pops(planted.clip) < 2.0 * pops(clip)


def test_balls_and_meshes_are_stepped_on_walls_are_not_and_stairs_keep_their_height() -> None:
    skeleton, clip = walk()
    contact = next(one for one in foot_contacts(skeleton, clip).feet[0].contacts if one.start > 20)
    middle = (contact.start + contact.end) // 2
    ankle = fk_clip(skeleton, clip).positions[middle, skeleton.index("LeftFoot")]
    dome = viewer.Sphere("dome", (float(ankle[0]), -1.95, float(ankle[2]) + 0.05), 2.0)
    over = plant_feet(skeleton, clip, objects=[dome]).clip
    assert fk_clip(skeleton, over).positions[middle, skeleton.index("LeftFoot"), 1] > ankle[1] + 0.03
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (0, 0.08) for z in (0.9, 2.2)], dtype=float)
    faces = [[0, 1, 3], [0, 3, 2], [4, 7, 5], [4, 6, 7], [0, 5, 1], [0, 4, 5], [2, 3, 7], [2, 7, 6], [0, 2, 6],
             [0, 6, 4], [1, 5, 7], [1, 7, 3]]  # fmt: skip
    mesh = viewer.Mesh("slab", vertices=corners, faces=np.array(faces))
    box = viewer.Box("slab", (0.0, 0.04, 1.55), (2.0, 0.08, 1.3))
    one, other = (plant_feet(skeleton, clip, objects=[thing]).clip for thing in (mesh, box))
    np.testing.assert_allclose(one.rotations, other.rotations, atol=1e-6)
    wall = viewer.Box("wall", (0.0, 1.0, 1.5), (2.0, 2.0, 0.2))
    np.testing.assert_array_equal(
        plant_feet(skeleton, clip, objects=[wall]).clip.rotations, plant_feet(skeleton, clip).clip.rotations
    )
    climbed = plant_feet(skeleton, clip, objects=[box])
    again = plant_feet(skeleton, climbed.clip, climbed.contacts, objects=[box])
    assert again.report.most_change_cm < 0.7  # it stands on the box already


DEPTHS = np.arange(0.55, 3.0, 0.36)


def upstairs() -> tuple[Skeleton, Clip]:
    """The walk up stairs of 17 cm and 36 cm, the highest above the figure's hips."""
    skeleton, clip = walk()
    stairs = [
        viewer.Box(f"step {n}", (0.0, 0.085 * n, depth + 1.0), (2.0, 0.17 * n, 2.0))
        for n, depth in enumerate(DEPTHS.tolist(), 1)
    ]
    return skeleton, plant_feet(skeleton, clip, objects=stairs).clip


def solid(polygons: list[list[tuple[float, float, float]]]) -> viewer.Mesh:
    """A mesh of polygons, each as triangles with its first corner."""
    triangles = [[one[0], *pair] for one in polygons for pair in itertools.pairwise(one[1:])]
    places, faces = np.unique(np.array(triangles, dtype=float).reshape(-1, 3), axis=0, return_inverse=True)
    return viewer.Mesh("solid", vertices=places, faces=faces.reshape(-1, 3))


def test_stairs_that_are_one_mesh_are_climbed_as_stairs_of_boxes() -> None:
    skeleton, clip = walk()
    edges, high = [*DEPTHS.tolist(), float(DEPTHS[-1]) + 2.0], 0.0
    sides: list[list[tuple[float, float, float]]] = []
    for near, far in itertools.pairwise(edges):
        low, high = high, high + 0.17
        sides += [
            [(-1, high, near), (-1, high, far), (1, high, far), (1, high, near)],
            [(-1, low, near), (-1, high, near), (1, high, near), (1, low, near)],
            [(-1, 0, near), (1, 0, near), (1, 0, far), (-1, 0, far)],
            [(1, 0, far), *([(1, 0, near)] if low else []), (1, low, near), (1, high, near), (1, high, far)],
            [(-1, 0, far), (-1, high, far), (-1, high, near), (-1, low, near), *([(-1, 0, near)] if low else [])],
        ]
    sides.append([(1, 0, edges[-1]), (1, high, edges[-1]), (-1, high, edges[-1]), (-1, 0, edges[-1])])
    one, several = plant_feet(skeleton, clip, objects=[solid(sides)]).clip, upstairs()[1]
    np.testing.assert_allclose(one.rotations, several.rotations, atol=1e-6)
    np.testing.assert_allclose(one.translations, several.translations, atol=1e-6)


def test_a_mesh_that_rises_gently_is_walked_up_and_one_that_is_steep_is_a_wall() -> None:
    skeleton, clip = walk()
    flat = plant_feet(skeleton, clip).clip
    for high, climbed in ((0.8, 0.25), (12.0, None)):
        ramp = solid([
            [(-1, 0, 0.6), (-1, high, 4.6), (1, high, 4.6), (1, 0, 0.6)],
            [(-1, 0, 0.6), (1, 0, 0.6), (1, 0, 4.6), (-1, 0, 4.6)],
            [(-1, 0, 4.6), (1, 0, 4.6), (1, high, 4.6), (-1, high, 4.6)],
            [(-1, 0, 0.6), (-1, 0, 4.6), (-1, high, 4.6)],
            [(1, 0, 0.6), (1, high, 4.6), (1, 0, 4.6)],
        ])  # fmt: skip
        planted = plant_feet(skeleton, clip, objects=[ramp])
        assert planted.report.after.slide_cm_s < 1e-3
        if climbed is None:
            np.testing.assert_array_equal(planted.clip.rotations, flat.rotations)
        else:
            risen = fk_clip(skeleton, planted.clip).positions[-1, 0, 1] - fk_clip(skeleton, flat).positions[-1, 0, 1]
            assert risen > climbed


def test_stairs_are_ground_wherever_a_foot_stands() -> None:
    skeleton, clip = upstairs()
    assert fk_clip(skeleton, clip).positions[-1, 0, 1] > 1.7
    found = foot_contacts(skeleton, clip)
    world = fk_clip(skeleton, clip)
    for foot, places in zip(found.feet, foot_places(skeleton, world), strict=True):
        heels = [one for one in foot.contacts if one.point == "heel"]
        heights = [float(places.places["heel"][(one.start + one.end) // 2, 1]) for one in heels]
        assert len(heights) == 2
        assert heights[1] - heights[0] > 0.3
    meter = skate(skeleton, clip)
    assert meter.slide_cm_s < 0.1
    assert meter.penetration_mm < 3.0  # a foot that comes from below its first step is in no ground
    assert meter.skate_ratio == 0.0
    planted = plant_feet(skeleton, clip)
    assert planted.report.most_change_cm < 0.5
    rig = viewer.load("sample:biped-hands")
    made = viewer.retarget(viewer.Character(skeleton, {"stairs": clip}), rig)
    assert made.report.slide_cm_s is not None
    assert made.report.slide_cm_s[1] < 0.05
    assert made.character.clip is not None
    climbed = fk_clip(rig.skeleton, made.character.clip).positions[:, 0, 1]
    own = world.positions[:, 0, 1]
    assert np.ptp(climbed) == pytest.approx(np.ptp(own) * made.report.scale, rel=0.05)


def test_the_command_steps_on_objects(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "up.glb"
    done = ran(capsys, "feet", "sample:walk", "--plant", "-o", out, "--object", "box:2,0.1,1@0,0.05,1.2")
    assert done.code == 0
    made = viewer.load(out)
    assert made.clip is not None
    highest = fk_clip(made.skeleton, made.clip).positions[:, 0, 1].max()
    skeleton, clip = walk()
    assert highest > fk_clip(skeleton, clip).positions[:, 0, 1].max() + 0.05
    wrong = ran(capsys, "feet", "sample:walk", "--plant", "-o", out, "--object", "pyramid:1@0,0,0")
    assert wrong.code == 2
    assert "argument --object: expected sphere:RADIUS@X,Y,Z, box:" in wrong.err


@pytest.mark.parametrize("name", ["foot_contacts", "plant_feet", "retarget"])
def test_every_work_that_is_told_of_comes_to_its_end(name: str) -> None:
    walk, told = viewer.load("sample:walk"), dict[str, tuple[int, int]]()
    assert walk.clip is not None

    def note(what: str, done: int, total: int) -> None:
        told[what] = done, total

    with watched_by(note):
        if name == "retarget":
            viewer.retarget(walk, viewer.load("sample:biped"))
        else:
            getattr(viewer, name)(walk.skeleton, walk.clip)
    assert told
    assert all(done == total for done, total in told.values()), told
