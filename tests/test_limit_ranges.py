"""Ranges of limits: set by numbers, on both sides, fitted to the clip, restored, widened where they are in the way.

Joint limits that are on hold, whatever is done, in space and in every plane; only clips are played as they are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.document import (
    PLANES,
    MoveTargets,
    Select,
    SetLimitRanges,
    SetLimitsFrom,
    actions as act,
    fitted_ranges,
    held_percent,
    mirrored_pose,
    mirrored_ranges,
    out_of_plane,
    seen_in_clip,
    violation,
    with_ranges,
)
from inside.spatial import exp, multiply
from panel_window import PanelWindow
from restless import OUTSIDE, Restless, left_outside
from sessions import QUICK, session
from ui_person import Person

import viewer
from viewer.document import Item, new_document
from viewer.errors import ViewerError
from viewer.session import Session
from viewer.skeleton import JointKind, JointLimits, Pose, limit_violation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from viewer.document import Document


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:walk"))
    yield made
    made.close()


def ranges(document: Document, joint: str) -> list[tuple[float, float]]:
    """Degrees."""
    limits = document.skeleton.limits[document.skeleton.index(joint)]
    assert limits is not None
    return [*zip(np.degrees(limits.lower).tolist(), np.degrees(limits.upper).tolist(), strict=True)]


def test_ranges_bind_are_saved_and_undone(tmp_path: Path) -> None:
    made = session("biped")
    made.dispatch(SetLimitRanges({"LeftLeg": ((0.1, 1.0),)}))
    assert ranges(made.document, "LeftLeg") == [pytest.approx((math.degrees(0.1), math.degrees(1.0)))]
    assert limit_violation(made.document.skeleton, made.document.pose).max() < 1e-9
    path = tmp_path / "rig.json"
    viewer.save(replace(made.document.character, skeleton=made.document.skeleton), path)
    again = viewer.load(path).skeleton
    knee = again.limits[again.index("LeftLeg")]
    assert knee is not None
    np.testing.assert_allclose((knee.lower, knee.upper), ([0.1], [1.0]), atol=1e-12)
    made.undo()
    assert ranges(made.document, "LeftLeg") == [pytest.approx((0.0, 140.0))]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"LeftLeg": ((1.0, 0.5),)}, 'joint "LeftLeg": coordinates limits: range 0: expected the lower end first'),
        ({"LeftLeg": ((0.0, 1.0), (0.0, 1.0))}, 'joint "LeftLeg": expected 1 ranges, found 2'),
        ({"Hips": ((0.0, 1.0),)}, 'joint "Hips": a joint that is free has no limits'),
        ({"LeftLg": ((0.0, 1.0),)}, 'no joint "LeftLg"'),
        (
            {"Spine": ((0.0, 9.0), (0.0, 1.0), (0.0, 1.0))},
            'joint "Spine": swing-twist limits about x: expected',
        ),
    ],
)
def test_ranges_that_cannot_be_are_refused(given: dict[str, Any], message: str) -> None:
    made = session("biped")
    before = made.document
    with pytest.raises(viewer.InputError) as error:
        made.dispatch(SetLimitRanges(given))
    assert str(error.value).startswith(message)
    assert made.document is before


@pytest.mark.parametrize(
    ("sample", "joint"), [("biped", "LeftArm"), ("walk", "LeftUpLeg"), ("biped", "LeftLeg"), ("raptor", "")]
)
def test_the_other_side_allows_the_mirror_images(sample: str, joint: str) -> None:
    document = session(sample).document
    skeleton = document.skeleton
    if joint not in skeleton.names:
        joint = next(name for name in skeleton.names if name.lower().startswith(("left", "l_")))
    index = skeleton.index(joint)
    limits = skeleton.limits[index]
    assert limits is not None
    odd = tuple((-0.1 * (i + 1), 0.25 * (i + 1)) for i in range(len(limits.lower)))
    found = mirrored_ranges(skeleton, index, odd)
    assert found is not None
    other, opposite = found
    changed = with_ranges(skeleton, {joint: odd, other: opposite})
    rng = np.random.default_rng(0)
    for _ in range(40):
        pose = skeleton.rest_pose()
        rotations = pose.rotations.copy()
        turn = rng.uniform(-0.8, 0.8, 3)
        if skeleton.kinds[index] is JointKind.HINGE:
            turn = skeleton.axes[index, 0] * turn[0]
        rotations[index] = multiply(rotations[index], exp(turn))
        posed = viewer.Pose(rotations, pose.translations)
        mine = limit_violation(changed, posed)[index]
        its = limit_violation(changed, mirrored_pose(skeleton, posed))[skeleton.index(other)]
        assert its == pytest.approx(mine, abs=1e-6)


def test_what_the_clip_does_is_measured() -> None:
    made = session("walk")
    knee = made.document.skeleton.index("LeftLeg")
    seen = seen_in_clip(made.document, knee)
    assert seen is not None
    assert seen.share == 1.0
    made.dispatch(SetLimitRanges({"LeftLeg": ((0.0, 0.5), (-0.5, 0.5), (-0.5, 0.5))}))
    tight = seen_in_clip(made.document, knee)
    assert tight is not None
    clip = made.document.clip_data
    assert clip is not None
    angles = 2.0 * np.arccos(np.clip(np.abs(clip.rotations[:, knee, 3]), 0.0, 1.0))
    assert tight.share == pytest.approx((angles < 0.5 + np.radians(0.5)).mean(), abs=0.03)
    assert seen_in_clip(session("biped").document, knee) is None


def test_fit_and_restore(window: PanelWindow) -> None:
    window.session.dispatch(Select((Item("joint", "LeftLeg"),)))
    before = ranges(window.session.document, "LeftLeg")
    window.controller.view.mirror = True
    window.controller.run("limits.fit")
    document = window.session.document
    seen = seen_in_clip(document, document.skeleton.index("LeftLeg"))
    assert seen is not None
    assert seen.share == 1.0
    assert ranges(document, "LeftLeg")[0][1] == pytest.approx(math.degrees(seen.high[0]) + 1.0)
    assert ranges(document, "RightLeg")[0] == pytest.approx(ranges(document, "LeftLeg")[0])
    window.controller.run("limits.restore")
    assert ranges(window.session.document, "LeftLeg") == [pytest.approx(one) for one in before]


def reached(session_: Session) -> bool:
    return session_.errors["LeftHand"].reached


def test_a_limit_in_the_way_is_named_and_widened(window: PanelWindow) -> None:
    session_ = window.session
    session_.dispatch(SetLimitsFrom("clip"))
    start = session_.document.goal("LeftHand").position
    assert start is not None
    assert not window.controller.limit_ranges.words()
    assert not window.controller.can("limits.widen")
    session_.dispatch(MoveTargets({"LeftHand": (np.add(start, (0.1, 0.75, 0.2)), None)}))
    assert not reached(session_)
    said = window.controller.limit_ranges.words()
    assert " limit" in said
    assert said.endswith(", from the clip")
    steps = len(session_.history)
    window.controller.run("limits.widen")
    assert len(session_.history) == steps + 1
    assert reached(session_)
    assert not window.controller.limit_ranges.words()
    session_.undo()
    assert not reached(session_)


def counted(document: Document, joint: int, spare: float) -> float:
    """The share of frames inside, one by one with the rig as it is."""
    clip = document.clip_data
    assert clip is not None
    return float(np.mean([limit_violation(document.skeleton, pose)[joint] <= spare for pose in clip]))


@pytest.mark.parametrize("joint", ["LeftArm", "LeftUpLeg", "Spine"])
def test_the_share_is_that_of_a_count_frame_by_frame(joint: str) -> None:
    made, rng = session("walk"), np.random.default_rng(3)
    index, shares = made.document.skeleton.index(joint), []
    for _ in range(6):
        wide = seen_in_clip(made.document, index)
        assert wide is not None
        low = wide.low + rng.uniform(0.0, 0.4, 3) * (wide.high - wide.low)
        high = wide.high - rng.uniform(0.0, 0.4, 3) * (wide.high - wide.low)
        made.dispatch(SetLimitRanges({joint: tuple(zip(low.tolist(), high.tolist(), strict=True))}))
        seen = seen_in_clip(made.document, index)
        assert seen is not None
        assert seen.share == counted(made.document, index, math.radians(0.5))
        shares.append(seen.share)
    assert any(0.0 < share < 1.0 for share in shares)


def one_joint(kind: JointKind, limits: JointLimits, moves: list[float]) -> Document:
    """A joint that a clip moves by so many radians, or metres, about or along z."""
    axes = np.array([[[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]])
    skeleton = viewer.Skeleton(
        name="one", names=("one",), parents=np.array([-1]), offsets=np.zeros((1, 3)),
        rest_rotations=np.array([[0.0, 0.0, 0.0, 1.0]]), kinds=(kind,), axes=axes, limits=(limits,),
        stiffness=np.zeros(1), tip_parents=np.array([0]), tip_offsets=np.array([[0.0, 1.0, 0.0]]),
    )  # fmt: skip
    along = np.array(moves)[:, None, None] * np.array([0.0, 0.0, 1.0])
    turns, places = (exp(along), 0.0 * along) if kind is JointKind.HINGE else (exp(0.0 * along), along)
    clip = viewer.Clip("all", 0.1, turns, np.array([0]), places, skeleton.offsets)
    return new_document(viewer.Character(skeleton, MappingProxyType({"all": clip})))


def test_slides_are_measured_and_fitted_by_their_distance() -> None:
    document = one_joint(JointKind.SLIDE, JointLimits.coordinates((-0.2, 0.3)), [-0.1, 0.0, 0.25, 0.5])
    seen = seen_in_clip(document, 0)
    assert seen is not None
    assert (seen.low[0], seen.high[0], seen.share) == (pytest.approx(-0.1), pytest.approx(0.5), 0.75)
    found = fitted_ranges(document, 0)
    assert found is not None
    assert found[0] == pytest.approx((-0.1, 0.5))


def test_a_hinge_past_half_a_turn_counts_as_inside() -> None:
    document = one_joint(JointKind.HINGE, JointLimits.coordinates((0.0, 4.0)), [0.0, 1.0, 3.5, 5.0])
    seen = seen_in_clip(document, 0)
    assert seen is not None
    assert seen.share == 0.75


def test_a_fit_of_a_clip_at_half_a_turn_can_be_set() -> None:
    limits = JointLimits.swing_twist(1, (-1.0, 1.0), (-1.0, 1.0), (-1.0, 1.0))
    document = one_joint(JointKind.HINGE, JointLimits.coordinates((0.0, 1.0)), [0.0, math.pi, 1.0])
    turned = replace(document.skeleton, kinds=(JointKind.BALL,), axes=np.zeros((1, 2, 3)), limits=(limits,))
    ball = new_document(replace(document.character, skeleton=turned))
    found = fitted_ranges(ball, 0)
    assert found is not None
    changed = SetLimitRanges({"one": found}).apply(ball)
    seen = seen_in_clip(changed, 0)
    assert seen is not None
    assert seen.share == 1.0


def test_twist_never_becomes_swing_on_the_other_side() -> None:
    skeleton = session("walk").document.skeleton
    left, right = skeleton.index("LeftArm"), skeleton.index("RightArm")
    its = skeleton.limits[right]
    assert its is not None
    some = ((-0.1, 0.2), (-0.3, 0.4), (-0.5, 0.6))
    assert mirrored_ranges(skeleton, left, some) is not None
    limits = [*skeleton.limits]
    limits[right] = replace(its, twist_axis=(its.twist_axis + 1) % 3)
    assert mirrored_ranges(replace(skeleton, limits=tuple(limits)), left, some) is None


def test_a_typed_end_that_cannot_be_is_refused_in_degrees(window: PanelWindow) -> None:
    window.session.dispatch(Select((Item("joint", "LeftArm"),)))
    window.frames(3)
    window.double_click("inspector", "Swing Y to")
    window.write("2*15")
    before = window.session.document
    assert ranges(before, "LeftArm")[1][1] == pytest.approx(30.0)
    window.rest()
    window.double_click("inspector", "Swing Y from")
    window.write("-2*100")
    assert window.session.document is before
    assert [message.text for message in window.controller.view.bar.messages] == [
        'Joint "LeftArm": Swing Y: expected an end within ±180.0°, found \N{MINUS SIGN}200.0°'
    ]


def test_a_share_is_100_percent_only_if_every_frame_is_inside() -> None:
    assert [held_percent(share) for share in (0.0, 1e-4, 0.934, 0.9999, 1.0)] == [0, 1, 93, 99, 100]


WORK = (
    ("biped", "default"), ("biped", "dls"), ("serpent", "default"), ("claw-arm", "ccd"), ("piston", "transpose"),
    ("walk", "default"),
)  # fmt: skip


def opened(rig: str, method: str = "default") -> Session:
    session = Session(new_document(viewer.load(f"sample:{rig}")))
    session.dispatch(act.SetSolver(backend=QUICK, method=method))
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
