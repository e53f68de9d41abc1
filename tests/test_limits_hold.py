"""Joint limits that are on hold, whatever is done, in space and in every plane; only clips are played as they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import PLANES, out_of_plane, violation
from inside.document import actions as act
from restless import OUTSIDE, Restless, left_outside
from ui_person import Person

import viewer
from viewer.document import new_document
from viewer.errors import ViewerError
from viewer.session import Session
from viewer.skeleton import JointLimits, Pose

if TYPE_CHECKING:
    from collections.abc import Callable

WORK = (
    ("biped", "default"), ("biped", "dls"), ("serpent", "default"), ("claw-arm", "ccd"), ("piston", "transpose"),
    ("walk", "default"),
)  # fmt: skip


def opened(rig: str, method: str = "default") -> Session:
    session = Session(new_document(viewer.load(f"sample:{rig}")))
    session.dispatch(act.SetSolver(backend="numpy", method=method))
    return session


def any_pose(session: Session, seed: int) -> Pose:
    """Every joint turned anyhow."""
    turns = np.random.default_rng(seed).normal(size=session.document.pose.rotations.shape)
    return Pose(turns / np.linalg.norm(turns, axis=-1, keepdims=True), session.document.pose.translations)


@pytest.mark.parametrize(("rig", "method"), WORK)
def test_nothing_that_is_done_leaves_a_joint_outside(rig: str, method: str) -> None:
    session = opened(rig, method)
    hands = Restless(session, seed=len(rig) + len(method))
    pick = hands.random
    doings: tuple[Callable[[], object], ...] = (
        lambda: session.dispatch(act.SetPlanar(hands.one((None, *PLANES)))),
        lambda: session.dispatch(act.SetLimits(hands.often(0.6))),
        lambda: session.dispatch(act.TurnJoint(hands.joint(), hands.turn())),
        lambda: session.dispatch(act.PastePose(any_pose(session, int(pick.integers(1000))))),
        lambda: session.dispatch(hands.edit()),
        hands.act,
    )
    checked = 0
    for _ in range(20):
        try:
            hands.one(doings)()
        except ViewerError:
            continue
        session.stop()
        session.commit()
        checked += session.document.limits_on
        assert left_outside(session.document) == [], session.history.labels[: session.history.index][-1:]
    assert checked > 2


def test_a_joint_that_is_outside_is_seen() -> None:
    """A test that cannot fail is none."""
    document = opened("biped").document
    assert left_outside(document) == []
    rotations = document.pose.rotations.copy()
    rotations[document.skeleton.index("LeftLeg")] = (-0.6, 0.0, 0.0, 0.8)
    bent = replace(document, pose=Pose(rotations, document.pose.translations))
    assert [line.split(" by ")[0] for line in left_outside(bent)] == ["LeftLeg"]
    assert left_outside(replace(bent, limits_on=False)) == []


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("rig", ["serpent", "biped", "claw-arm", "piston"])
def test_limits_switched_on_in_a_plane_bind_at_once(rig: str, plane: str) -> None:
    session = opened(rig)
    session.dispatch(act.SetLimits(on=False))
    session.dispatch(act.SetPlanar(plane))
    session.dispatch(act.PastePose(any_pose(session, 1)))
    session.dispatch(act.SetLimits(on=True))
    assert violation(session.document) < OUTSIDE


@pytest.mark.parametrize("plane", PLANES)
def test_a_pose_that_is_outside_by_rounding_is_brought_into_the_plane_within_the_limits(plane: str) -> None:
    # The relaxed pose of the file, as opened: some joints are 1e-7 beyond their ranges.
    session = Session(new_document(viewer.load("sample:serpent")))
    assert 0.0 < violation(session.document) < OUTSIDE
    session.dispatch(act.SetPlanar(plane))
    assert violation(session.document) < OUTSIDE


def across() -> Session:
    """A chain of two bones along X, the second held by its range so that it points out of the plane XY."""
    skeleton = viewer.load("sample:two-link").skeleton
    held = JointLimits.swing_twist(0, (0.0, 0.0), (0.5, 0.6), (0.0, 0.0))
    kinds = (skeleton.kinds[0], viewer.JointKind.BALL)
    character = viewer.load("sample:two-link")
    bent = replace(skeleton, kinds=kinds, limits=(None, held), poses={})
    return Session(new_document(replace(character, skeleton=bent)))


def test_where_limits_exclude_the_plane_they_hold_and_the_joint_is_named() -> None:
    session = across()
    session.dispatch(act.SetPlanar("xy"))
    document = session.document
    assert violation(document) < OUTSIDE
    assert out_of_plane(document) == (document.skeleton.names[1],)
    assert session.report is not None
    assert document.skeleton.names[1] in session.report.at_limit
    session.dispatch(act.SetLimits(on=False))
    assert out_of_plane(session.document) == ()


def test_the_window_says_which_joints_stand_out_of_the_plane() -> None:
    person = Person("sample:serpent")
    person.controller.run("view.plane_xy")
    assert violation(person.document) < OUTSIDE
    count = len(out_of_plane(person.document))
    assert (
        person.controller.view.bar.messages[-1].text
        == f"{count} joints stand out of the plane: their limits exclude it"
    )
    side = Person()
    side.controller.run("view.plane_yz")
    assert side.controller.view.bar.messages == ()


def test_what_stands_at_its_limit_is_lit_as_soon_as_it_is_shown() -> None:
    person = Person()
    skeleton = person.document.skeleton
    knee = skeleton.index("LeftLeg")
    assert knee not in person.controller.scene().at_limit
    person.controller.session.dispatch(act.TurnJoint("LeftLeg", (0.99619470, 0.0, 0.0, 0.08715574)))
    assert person.controller.scene().at_limit == {knee}
    # Nothing is solved here: a goal that is missed leaves no report.
    goal = viewer.Goal.position("LeftHand", (0.0, 3.0, 0.0))
    opened = Session(new_document(person.document.character, pose=person.document.pose, goals=[goal]))
    person.controller.session.replace(opened.document)
    assert person.controller.session.report is None
    assert person.controller.scene().at_limit == {knee}
    person.controller.run("limits.all")
    assert person.controller.scene().at_limit == frozenset()
