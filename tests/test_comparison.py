"""How far two motions are apart."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.document import actions as act, compare, rounded_up, shared_joints
from sessions import character

import viewer
from viewer.document import new_document

WALK = new_document(character("walk"))


def moved(metres: float, rate: float = 1.0) -> viewer.Character:
    """The walk with its root elsewhere and another rate."""
    found = character("walk")
    name, clip = next(iter(found.clips.items()))
    assert clip.translated[0] == 0
    places = clip.translations.copy()
    places[:, 0, 0] += metres
    other = replace(clip, translations=places, frame_time=clip.frame_time / rate)
    return replace(found, clips=MappingProxyType({name: other}))


def test_a_motion_differs_from_itself_by_nothing() -> None:
    found = compare(WALK, WALK)
    assert found.metres.shape == (68, len(WALK.skeleton))
    assert not found.metres.any()


def test_another_path_counts_from_the_origin_and_not_from_the_root() -> None:
    other = new_document(moved(0.25))
    assert np.allclose(compare(WALK, other).metres, 0.25)
    assert np.allclose(compare(WALK, other, from_root=True).metres, 0.0, atol=1e-12)


def test_frames_of_one_time_are_compared() -> None:
    slow = new_document(moved(0.0, 0.5))
    found = compare(WALK, slow)
    clip = character("walk").clip
    assert clip is not None
    for frame in (0, 7, 31, 67):
        here, there = (viewer.fk(WALK.skeleton, clip.pose(one)).positions for one in (frame, frame // 2))
        assert np.allclose(found.metres[frame], np.linalg.norm(here - there, axis=-1), atol=1e-9)


def test_the_last_frame_of_a_shorter_range_stays() -> None:
    short = act.SetRange(10, 14).apply(WALK)
    found = compare(WALK, short)
    clip = character("walk").clip
    assert clip is not None
    here, there = (viewer.fk(WALK.skeleton, clip.pose(one)).positions for one in (60, 14))
    assert np.allclose(found.metres[60], np.linalg.norm(here - there, axis=-1), atol=1e-9)
    back = compare(short, WALK)
    assert (back.first, len(back.metres)) == (10, 5)
    assert not back.covers(9)
    assert back.covers(14)


def test_the_distances_do_not_depend_on_the_order_of_equal_ranges() -> None:
    other = new_document(moved(0.1))
    assert np.allclose(compare(WALK, other).metres, compare(other, WALK).metres)


def test_the_worst_joint_is_the_one_that_is_farthest() -> None:
    short = act.SetRange(0, 20).apply(WALK)
    found = compare(WALK, short)
    name, frame, metres = found.worst()
    assert metres == found.metres.max() == found.most.max()
    assert found.metres[frame, found.names.index(name)] == metres
    one = found.worst(30)
    assert one[1:] == (30, found.metres[30].max())
    assert np.allclose(found.mean, found.metres.mean(axis=1))
    column = found.of(WALK.skeleton.index(name))
    assert column is not None
    assert column.max() == metres


def test_only_joints_of_one_name_are_compared() -> None:
    renamed = act.RenameJoint("Head", "Nose").apply(WALK)
    assert set(shared_joints(WALK, renamed)) == set(WALK.skeleton.names) - {"Head"}
    found = compare(WALK, renamed)
    assert found.of(WALK.skeleton.index("Head")) is None
    assert not found.metres.any()


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(viewer.InputError, match=r"^no joint has the same name in both figures$"):
        compare(WALK, new_document(character("claw-arm")))
    with pytest.raises(viewer.InputError, match=r"^only motions can be compared: one of the figures has no frames$"):
        compare(WALK, new_document(character("biped")))


@given(st.floats(1e-9, 1e9))
def test_an_axis_ends_at_a_round_number_that_is_not_far_above(metres: float) -> None:
    top = rounded_up(metres)
    assert metres * (1 - 1e-6) <= top <= 2.6 * metres
    assert float(f"{top:.0e}") == pytest.approx(top)
