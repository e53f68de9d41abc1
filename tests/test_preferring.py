"""The preferred pose of a document: within its plane, and of the default method alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import SetPlanar, SetSolver, preferred_pose, prefers, rig_of
from inside.spatial import angle_between
from sessions import HAND, session, shifted

from viewer.skeleton import limit_violation

if TYPE_CHECKING:
    from viewer.session import Session


def planar(plane: str = "yz") -> Session:
    made = session()
    made.dispatch(SetPlanar(plane))
    return made


def dragged(made: Session, ticks: int = 40) -> None:
    made.begin_drag((HAND,))
    made.gestures.drag_to({HAND: (shifted(made.document, "LeftHand", (0.0, 0.02, 0.02)), None)})
    for _ in range(ticks):
        made.tick(0.0)
    assert made.report is not None
    assert made.report.converged


def from_rest(made: Session) -> float:
    """Mean degrees of the joints' angles from the preferred pose within the plane."""
    rig = rig_of(made.document)
    wish = preferred_pose(replace(made.document, solver=replace(made.document.solver, prefer="rest")), rig)
    assert rig is not None
    assert wish is not None
    flat = rig.lowered(wish).rotations
    return float(np.degrees(np.mean(angle_between(made.document.pose.rotations[1:], flat[1:]))))


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_in_a_plane_a_drag_is_drawn_to_what_is_in_it_of_the_pose(weight: float) -> None:
    plain, made = planar(), planar()
    made.dispatch(SetSolver(prefer="rest", prefer_weight=weight))
    start = made.document.pose
    rig = rig_of(made.document)
    assert rig is not None
    for one in (plain, made):
        dragged(one)
        assert rig.holds(one.document.pose)
        assert limit_violation(one.document.skeleton, one.document.pose).max() <= 1e-3
    gained = from_rest(plain) - from_rest(made)
    assert gained == 0.0 if weight == 0.0 else gained > 0.1
    # The wish stands and faces elsewhere; the body neither walks nor turns there.
    assert np.linalg.norm(made.document.pose.translations[0] - start.translations[0]) < 0.1
    assert angle_between(made.document.pose.rotations[0], start.rotations[0]) < 0.2


def test_in_a_plane_solving_goes_on_to_it_and_stays_in_the_plane() -> None:
    made = planar()
    made.dispatch(SetSolver(prefer="rest"))
    rig, before = rig_of(made.document), from_rest(made)
    made.solve()
    assert rig is not None
    assert rig.holds(made.document.pose)
    assert made.report is not None
    assert made.report.converged
    assert from_rest(made) < before - 0.1


def test_the_wish_is_one_object_in_the_plane_with_the_roots_where_they_are() -> None:
    made = planar()
    made.dispatch(SetSolver(prefer="rest"))
    rig = rig_of(made.document)
    assert rig is not None
    wish = preferred_pose(made.document, rig)
    assert wish is not None
    assert preferred_pose(made.document, rig_of(made.document)) is wish
    flat = rig.lowered(wish)
    assert rig.holds(flat)
    np.testing.assert_allclose(flat.translations[0], made.document.pose.translations[0], atol=1e-9)
    assert angle_between(flat.rotations[0], made.document.pose.rotations[0]) < 1e-9


def test_other_methods_are_not_drawn_and_nothing_moves_for_them() -> None:
    made = session()
    made.dispatch(SetSolver(prefer="rest"))
    assert prefers(made.document.solver)
    made.dispatch(SetSolver(method="dls"))
    assert not prefers(made.document.solver)
    assert preferred_pose(made.document, None) is None
    before = made.document
    made.solve()
    assert made.document.pose is before.pose
    dragged(made)
    assert made.report is not None
    assert made.report.unserved == ()
