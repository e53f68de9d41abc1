"""The misprints of the sources: the right forms are right for any arm, the printed ones are not."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from inside.session import DEMOS, MISPRINTS, Arm, Misprint, arm_of

import viewer
from viewer.document import new_document

BY_SOURCE = {one.source: one for one in MISPRINTS}


def arms() -> list[Arm]:
    """Arms with targets in reach, in all quadrants."""
    random, made = np.random.default_rng(3), []
    for _ in range(40):
        l1, l2 = random.uniform(0.5, 1.5, 2)
        distance = random.uniform(abs(l1 - l2) + 0.05, l1 + l2 - 0.05)
        angle = random.uniform(-math.pi, math.pi)
        t1, t2 = random.uniform(-math.pi, math.pi, 2)
        made.append(Arm(l1, l2, t1, t2, distance * math.cos(angle), distance * math.sin(angle)))
    return made


def number(words: str) -> float:
    return float(re.findall(r"-?\d+(?:\.\d+)?", words)[-1 if "becomes" in words else 0])


@pytest.mark.parametrize("source", ["Lander, eq. 6", "Cutchins, two links"])
def test_closed_forms_reach_every_target_and_the_printed_ones_do_not(source: str) -> None:
    tried = [BY_SOURCE[source].tried(arm) for arm in arms()]
    assert all(right == "misses by 0.0 mm" for _, right in tried)
    assert sum(printed != "misses by 0.0 mm" for printed, _ in tried) > 30


def test_the_column_of_the_jacobian_is_that_of_differences() -> None:
    tried = [BY_SOURCE["Kenwright, eq. 13"].tried(arm) for arm in arms()]
    assert all(right == "0.000 m/rad off" for _, right in tried)
    assert all(number(printed) > 0.0 for printed, _ in tried)


def test_increments_come_nearer_and_values_do_not() -> None:
    nearer = 0
    for arm in arms():
        printed, right = BY_SOURCE["Kenwright, Wikibooks"].tried(arm)
        before = arm.miss(arm.t1, arm.t2)
        nearer += number(right) < 1000.0 * before
        assert printed != right
    assert nearer > 30  # a tenth of the way; near singular poses even that is too far


def test_a_ccd_step_never_makes_it_worse_and_without_the_sign_it_does() -> None:
    worse = 0
    for arm in arms():
        printed, right = BY_SOURCE["Cutchins, CCD"].tried(arm)
        before = round(1000.0 * arm.miss(arm.t1, arm.t2))
        assert number(right) <= before
        worse += number(printed) > before
    assert worse > 5


def test_descendants_that_are_rotated_point_at_the_target() -> None:
    for arm in arms():
        assert BY_SOURCE["Wikibooks, CCD"].tried(arm)[1] == "0.0° off the target"


def test_the_reach_has_a_hole() -> None:
    arm = Arm(1.0, 0.4, 0.3, 0.5, 0.1, 0.2)
    assert BY_SOURCE["Lander, reach"].tried(arm) == ("0.22 m: in reach", "0.22 m: too near")
    assert BY_SOURCE["Lander, eq. 5"].tried(arm)[0].endswith("no number")


@pytest.mark.parametrize("entry", MISPRINTS, ids=lambda entry: entry.source)
def test_each_has_words_for_any_arm_even_at_its_own_target_and_at_the_shoulder(entry: Misprint) -> None:
    odd = [Arm(1.0, 0.8, 0.2, 0.0, 1.8, 0.0), Arm(1.0, 0.8, 0.2, math.pi, 0.0, 0.0), Arm(1.0, 1.0, 0.0, 0.0, 0.0, 3.0)]
    odd += [Arm(1.0, 1.0, 0.3, 1.0, 0.0, 0.0)]
    for arm in (*arms(), *odd):
        printed, right = entry.tried(arm)
        assert printed
        assert right
        assert printed != right or arm in odd or entry.source in {"Lander, reach", "Wikibooks, CCD", "Cutchins, CCD"}


def test_the_arm_of_the_lesson_and_no_other_document() -> None:
    lesson = next(one for one in DEMOS if one.id == "misprints").build()
    arm = arm_of(lesson, lesson.pose)
    assert arm is not None
    lengths, angles = (arm.l1, arm.l2), (math.degrees(arm.t1), math.degrees(arm.t2))
    assert lengths == pytest.approx((1.0, 0.8))
    assert angles == pytest.approx((30.0, 50.0))
    other = next(one for one in DEMOS if one.id == "ccd-chain").build()
    assert arm_of(other, other.pose) is None
    flat = viewer.load(text='{"joints": [{"name": "a"}, {"name": "b", "parent": "a", "offset": [0, 1, 0]}]}')
    bare = new_document(flat)
    assert bare.goals[0].effector == "b"
    assert arm_of(bare, bare.pose) is None  # its second link has no length
