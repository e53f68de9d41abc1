"""The chain of any number of links."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from inside.skeleton import MOST_LINKS, chain, tip_positions
from inside.spatial import angle_between

from viewer.errors import InputError
from viewer.skeleton import JointKind, fk


@pytest.mark.parametrize("links", [1, 2, 7, 1000])
def test_a_chain_stands_upright_one_metre_tall_on_equal_links(links: int) -> None:
    skeleton = chain(links)
    world = fk(skeleton, skeleton.rest_pose())
    expected = np.zeros((links, 3))
    expected[:, 1] = np.arange(links) / links
    np.testing.assert_allclose(world.positions, expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose(tip_positions(skeleton, world), [[0, 1, 0]], rtol=0, atol=1e-12)
    assert skeleton.parents.tolist() == list(range(-1, links - 1))
    assert set(skeleton.kinds) == {JointKind.BALL}
    assert set(skeleton.limits) == {None}
    assert skeleton.name == f"chain-{links}"
    assert skeleton.names[-1] == f"link_{links}"


@pytest.mark.parametrize("links", [1, 7, 1000])
def test_its_one_effector_is_its_tip(links: int) -> None:
    skeleton = chain(links)
    (effector,) = skeleton.effectors
    assert (effector.name, effector.joint) == ("tip", links - 1)
    np.testing.assert_array_equal(effector.offset, skeleton.tip_offsets[0])


@pytest.mark.parametrize("links", [1, 2, 7, 1000])
def test_relaxed_it_bends_by_60_degrees_in_equal_parts_and_keeps_its_lengths(links: int) -> None:
    skeleton = chain(links)
    pose = skeleton.relaxed_pose()
    world = fk(skeleton, pose)
    whole = angle_between([0.0, 0.0, 0.0, 1.0], world.rotations[-1])
    assert math.isclose(whole, math.radians(60.0), abs_tol=1e-12)
    np.testing.assert_array_equal(pose.translations, skeleton.offsets)
    np.testing.assert_array_equal(pose.rotations, np.tile(pose.rotations[0], (links, 1)))
    assert tip_positions(skeleton, world)[0, 0] > 0.0


@pytest.mark.parametrize("links", [0, -1, MOST_LINKS + 1])
def test_numbers_of_links_that_make_no_chain_are_refused(links: int) -> None:
    message = f"a chain has 1 to 10000 links, found {links}"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        chain(links)


def test_the_longest_chain_is_made() -> None:
    assert len(chain(MOST_LINKS)) == MOST_LINKS
