"""Skeletons edited by pure functions, and documents on them: laws that every sequence of edits keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from inside.document import GoalLayer, actions as act, remap
from inside.skeleton import Carrier, joint_edits as make, rest_world
from rigs import random_pose, random_skeleton

import viewer
from viewer import Builder, Pose, Skeleton, fk
from viewer.document import Document, Item, new_document
from viewer.errors import InputError
from viewer.session import Session

FLIP = np.array([-1.0, 1.0, 1.0])


class Edit(NamedTuple):
    """An edit of a skeleton, and the joints that it may move."""

    skeleton: Skeleton
    touched: set[str]


def random_edit(random: np.random.Generator, skeleton: Skeleton) -> Edit:
    """One of all kinds of edits, on a joint chosen by chance.

    Raises:
        InputError: the edit is refused.
    """
    joint = str(random.choice(skeleton.names))
    place = rest_world(skeleton).positions[skeleton.index(joint)] + random.normal(0.0, 0.3, 3)
    name = make.new_joint_name(skeleton)
    kinds = ("ball", "hinge", "universal", "slide", "fixed")

    def move(children: bool) -> Edit:
        gone = make.branch_of(skeleton, joint) if children else (joint,)
        return Edit(make.moved(skeleton, joint, place, children=children), set(gone))

    def mirror() -> Edit:
        names = make.sided_names(skeleton, joint)
        named = viewer.Builder(skeleton)
        for index, new in names.items():
            named.rename(skeleton.names[index], new)
        top = names.get(skeleton.index(joint), joint)
        twin = make.twin_of(named.skeleton, top)
        old = set() if twin is None else set(make.branch_of(named.skeleton, twin))
        return Edit(make.mirrored(named.skeleton, top), old | set(skeleton.names))

    edits: tuple[Callable[[], Edit], ...] = (
        lambda: Edit(make.added(skeleton, name, joint, place, kind=str(random.choice(kinds))), set()),  # type: ignore[arg-type]
        lambda: Edit(make.added(skeleton, name, joint, place), set()),
        lambda: Edit(make.split(skeleton, joint, name, random.uniform(0.1, 0.9)), set()),
        lambda: move(children=False),
        lambda: move(children=True),
        lambda: Edit(make.removed(skeleton, joint), set()),
        lambda: Edit(make.removed(skeleton, joint, branch=True), set()),
        lambda: Edit(make.reparented(skeleton, joint, str(random.choice(skeleton.names))), set()),
        lambda: Edit(make.with_kind(skeleton, joint, str(random.choice(kinds))), set()),  # type: ignore[arg-type]
        lambda: Edit(make.duplicated(skeleton, joint, random.normal(0.0, 0.2, 3))[0], set()),
        lambda: Edit(
            make.with_links(skeleton, joint, int(random.integers(1, 6))), set(make.chain_through(skeleton, joint)[1:-1])
        ),
        mirror,
    )
    return edits[int(random.integers(len(edits)))]()


def check_laws(before: Skeleton, after: Skeleton, touched: set[str], pose: Pose) -> Pose:
    """Every joint that was not touched is where it was, at rest and posed; the pose on the edited skeleton."""
    again = Builder(after).skeleton  # every law of `Skeleton` is checked again
    np.testing.assert_array_equal(again.offsets, after.offsets)
    kept = [name for name in after.names if name in before.names and name not in touched]
    here, there = [before.index(name) for name in kept], [after.index(name) for name in kept]
    a, b = fk(before, before.rest_pose()), fk(after, after.rest_pose())
    np.testing.assert_allclose(b.positions[there], a.positions[here], atol=1e-12)
    np.testing.assert_allclose(np.abs((b.rotations[there] * a.rotations[here]).sum(-1)), 1.0, atol=1e-12)
    carried = Carrier(before, after).pose(pose)
    if not touched:
        a, b = fk(before, pose), fk(after, carried)
        np.testing.assert_allclose(b.positions[there], a.positions[here], atol=1e-12)
        np.testing.assert_allclose(np.abs((b.rotations[there] * a.rotations[here]).sum(-1)), 1.0, atol=1e-12)
    rest = Carrier(before, after).pose(before.rest_pose())
    np.testing.assert_allclose(rest.translations, after.offsets, atol=1e-12)
    return carried


@pytest.mark.parametrize("seed", range(15))
def test_random_edits_keep_the_laws_and_what_they_do_not_touch(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = random_skeleton(random, int(random.integers(1, 9)))
    pose, done = random_pose(random, skeleton), 0
    for _ in range(30):
        try:
            edit = random_edit(random, skeleton)
        except InputError:
            continue
        pose = check_laws(skeleton, edit.skeleton, edit.touched, pose)
        skeleton, done = edit.skeleton, done + 1
        if len(skeleton) > 40:
            break
    assert done > 3


# Documents


def empty() -> Document:
    nothing = Builder(name="untitled").add("joint1", kind="fixed").skeleton
    return new_document(viewer.Character(nothing))


def session_of(*actions: act.Action) -> Session:
    session = Session(empty())
    for action in actions:
        session.dispatch(action)
    return session


def random_action(random: np.random.Generator, document: Document) -> act.Action:
    skeleton = document.skeleton
    joint = str(random.choice(skeleton.names))
    place = rest_world(skeleton).positions[skeleton.index(joint)] + random.normal(0.0, 0.2, 3)
    mirror, kind = bool(random.integers(2)), str(random.choice(("ball", "hinge", "universal", "slide", "fixed")))
    actions = (
        act.AddJoint(joint, place, kind=kind, mirror=mirror),
        act.MoveJoint(joint, place, children=bool(random.integers(2)), mirror=mirror),
        act.SplitBone(joint, random.uniform(0.2, 0.8), mirror=mirror),
        act.RemoveJoint(joint, branch=bool(random.integers(6) == 0), mirror=mirror),
        act.SetKind(joint, kind, mirror=mirror),
        act.SetAxis(joint, random.normal(size=3), mirror=mirror),
        act.Reparent(joint, str(random.choice(skeleton.names))),
        act.MirrorBranch(joint),
        act.DuplicateBranch(joint, random.normal(0.0, 0.1, 3)),
        act.SetLinks(joint, int(random.integers(1, 7))),
        act.RenameJoint(joint, f"{joint}x"[:12]),
        act.ReadyToPose(),
    )
    return actions[int(random.integers(len(actions)))]


@pytest.mark.parametrize("start", ["empty", "walk", "biped"])
def test_undo_of_forty_edits_is_the_start_to_the_bit(start: str) -> None:
    document = empty() if start == "empty" else new_document(viewer.load(f"sample:{start}"))
    session, random = Session(document), np.random.default_rng(7)
    session.dispatch(act.AddJoint("", (0.1, 0.2, 0.3))) if start == "empty" else None
    before, tried = session.document, 0
    states: list[Document] = []
    while len(states) < 40 and tried < 400:
        tried += 1
        now = session.document
        try:
            session.dispatch(random_action(random, now))
        except InputError:
            assert session.document is now
            continue
        if session.document is not now:
            states.append(now)
    assert len(states) == 40
    last = session.document
    for state in reversed(states):
        session.undo()
        assert session.document.same_as(state)
    assert session.document.same_as(before)
    session.go_to(len(session.history))
    assert session.document.same_as(last)


def test_a_layer_that_goes_with_its_joint_is_no_longer_selected() -> None:
    session = Session(new_document(viewer.load("sample:walk")))
    toes = next(one.name for one in session.document.skeleton.effectors if one.name.startswith("LeftToe"))
    layer = GoalLayer(id="step", effector=toes, first=3, full=(5, 6), last=8, position=(0.1, 0.1, 0.1))
    session.dispatch(act.AddLayer(layer))
    session.dispatch(act.Select((Item("layer", "step"),)))
    before = session.document
    joint = next(one.joint for one in before.skeleton.effectors if one.name == toes)
    changed = remap(before, make.removed(before.skeleton, before.skeleton.names[joint]))
    assert changed.take is not None
    assert changed.take.layers == ()
    assert changed.selection == ()


def test_a_hinge_whose_axis_a_new_bone_changes_stays_inside_its_range() -> None:
    arm = viewer.Builder().add("base", None, (0, 0, 0), kind="fixed")
    arm = arm.add("elbow", "base", (0, 0.5, 0), kind="hinge", axis=(0, 0, 1), limits=(-0.3, 2.6))
    document = new_document(viewer.Character(arm.skeleton))
    document = replace(document, pose=viewer.pose_at(arm.skeleton, [2.0]), limits_on=True)
    added = act.AddJoint("elbow", (0.4, 0.6, 0.3), "hand", facing=(0.0, 0.0, -1.0)).apply(document)
    assert not np.allclose(added.skeleton.axes[1, 0], document.skeleton.axes[1, 0])
    assert viewer.limit_violation(added.skeleton, added.pose).max() < 1e-9
