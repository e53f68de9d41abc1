"""Layers of a document: they are part of what is played and exported, follow props, and can be undone and baked."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.document import (
    AddLayer,
    AddProp,
    BakeLayers,
    GoalLayer,
    KeyPose,
    MoveLayer,
    Prop,
    RemoveLayer,
    RemoveProp,
    Select,
    SetClip,
    SetCoordinate,
    SetLayer,
    SetProp,
    baked_clip,
    frame_pose,
    miss_of,
    target_of,
)
from sessions import session

import viewer
from viewer.document import Item

if TYPE_CHECKING:
    from viewer.document import Action, Document
    from viewer.session import Session

BUTTON = (0.45, 1.35, 0.75)


def layer(**changes: Any) -> GoalLayer:  # noqa: ANN401 - fields of a layer
    given: dict[str, Any] = {"id": "reach", "effector": "LeftHand", "first": 9, "full": (21, 24), "last": 39}
    return GoalLayer(**({"position": BUTTON} | given | changes))


@pytest.fixture
def reaching() -> Session:
    made = session("walk")
    made.dispatch(AddLayer(layer()))
    return made


def hand(document: Document, frame: int, name: str = "LeftHand") -> np.ndarray:
    world = viewer.fk(document.skeleton, frame_pose(document, frame))
    return np.asarray(world.positions[document.skeleton.index(name)])


def test_a_layer_changes_what_is_played_and_exported_inside_its_frames_alone(reaching: Session) -> None:
    document = reaching.document
    clip, made = document.clip_data, baked_clip(document)
    assert clip is not None
    np.testing.assert_allclose(hand(document, 22), BUTTON, atol=1e-4)
    for frame in (0, 8, 40, 67):
        assert np.array_equal(frame_pose(document, frame).rotations, clip.rotations[frame])
    for frame in (8, 15, 22, 30, 40):
        assert np.array_equal(made.rotations[frame], frame_pose(document, frame).rotations)


def test_off_undone_and_removed_it_leaves_the_clip_as_it_was(reaching: Session) -> None:
    clip = reaching.document.clip_data
    assert clip is not None
    for action in (SetLayer("reach", on=False), SetLayer("reach", weight=0.0), RemoveLayer("reach")):
        reaching.dispatch(action)
        assert baked_clip(reaching.document).rotations.tobytes() == clip.rotations.tobytes()
        reaching.undo()
        np.testing.assert_allclose(hand(reaching.document, 22), BUTTON, atol=1e-4)
    reaching.undo()
    assert baked_clip(reaching.document) is clip


def test_frames_already_solved_are_kept(reaching: Session) -> None:
    before = reaching.document.take
    assert before is not None
    reaching.dispatch(AddLayer(layer(id="later", first=45, full=(50, 50), last=55)))
    after = reaching.document.take
    assert after is not None
    assert after.solved[0] is before.solved[0]
    reaching.dispatch(SetLayer("later", position=(0.4, 1.0, 1.7)))
    assert reaching.document.take is not None
    assert reaching.document.take.solved[0] is before.solved[0]


def test_a_button_that_is_moved_is_still_hit() -> None:
    made = session("walk")
    made.dispatch(AddProp(Prop(name="button", center=BUTTON, radius=0.02)))
    made.dispatch(AddLayer(layer(space="button", position=(0.0, 0.0, 0.0))))
    made.seek(22)
    np.testing.assert_allclose(hand(made.document, 22), BUTTON, atol=1e-4)
    moved = (0.5, 1.2, 0.8)
    made.dispatch(SetProp("button", center=moved))
    np.testing.assert_allclose(hand(made.document, 22), moved, atol=1e-4)
    shown = viewer.fk(made.document.skeleton, made.document.pose).positions[made.document.skeleton.index("LeftHand")]
    np.testing.assert_allclose(shown, moved, atol=1e-3)
    made.dispatch(RemoveProp("button"))
    kept = made.document.take
    assert kept is not None
    assert kept.layers[0].space == ""
    np.testing.assert_allclose(np.array(kept.layers[0].position), moved)


def test_keys_below_a_layer_are_played_and_the_hand_is_still_there(reaching: Session) -> None:
    reaching.seek(22)
    reaching.dispatch(SetCoordinate("Spine", 0, 0.3))
    reaching.dispatch(KeyPose(22, ("Spine",)))
    np.testing.assert_allclose(hand(reaching.document, 22), BUTTON, atol=1e-4)


def test_baked_layers_are_keys_of_the_same_motion(reaching: Session) -> None:
    before = baked_clip(reaching.document)
    reaching.dispatch(BakeLayers())
    after = reaching.document.take
    assert after is not None
    assert after.is_plain is False
    assert (after.layers, after.solved) == ((), ())
    np.testing.assert_allclose(baked_clip(reaching.document).rotations, before.rotations, atol=1e-12)


def test_what_stays_out_of_reach_is_measured(reaching: Session) -> None:
    assert miss_of(reaching.document, layer()).metres < 1e-4
    reaching.dispatch(SetLayer("reach", position=(4.0, 1.0, 0.7)))
    far = reaching.document.take
    assert far is not None
    seen = [np.linalg.norm(hand(reaching.document, frame) - (4.0, 1.0, 0.7)) for frame in range(21, 25)]
    assert miss_of(reaching.document, far.layers[0]).metres == pytest.approx(max(seen))


def test_the_order_decides_which_layer_has_the_last_word(reaching: Session) -> None:
    other = (0.5, 1.2, 0.7)
    reaching.dispatch(AddLayer(layer(id="second", position=other)))
    np.testing.assert_allclose(hand(reaching.document, 22), other, atol=1e-4)
    reaching.dispatch(MoveLayer("second", 0))
    np.testing.assert_allclose(hand(reaching.document, 22), BUTTON, atol=1e-4)


def test_a_joint_carries_the_target_of_the_pose_shown(reaching: Session) -> None:
    reaching.seek(22)
    document = reaching.document
    carried = layer(space="Spine", position=(0.0, 0.1, 0.2))
    world = viewer.fk(document.skeleton, document.pose)
    spine = document.skeleton.index("Spine")
    np.testing.assert_allclose(target_of(document, carried).position, world.point(spine, np.array((0.0, 0.1, 0.2))))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"effector": "LeftHnd"}, 'no effector, joint or tip "LeftHnd"'),
        ({"last": 90}, "layer reach: expected frames from 0 to 67, found 90"),
        ({"space": "LeftHand"}, "layer reach: LeftHand cannot be carried by itself"),
        ({"space": "Sun"}, 'no effector, joint or tip "Sun"'),
    ],
)
def test_a_layer_that_does_not_fit_is_refused(made: dict[str, Any], message: str) -> None:
    walk = session("walk")
    before = walk.document
    with pytest.raises(viewer.InputError) as error:
        walk.dispatch(AddLayer(layer(**made)))
    assert message in str(error.value)
    assert walk.document is before


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"first": 22}, 'layer "reach": expected first <= full from <= full to <= last, found 22, 21, 24, 39'),
        ({"weight": 2}, 'layer "reach": weight: expected a finite number, 0 to 1, found 2'),
        ({"level": 7}, 'layer "reach": level: expected a whole number, 0 to 3, found 7'),
        ({"position": None}, 'layer "reach": expected a position or a rotation, found neither'),
        ({"on": 1}, 'layer "reach": on: expected True or False, found 1'),
    ],
)
def test_a_layer_that_cannot_be_is_refused(made: dict[str, Any], message: str) -> None:
    with pytest.raises(viewer.InputError) as error:
        layer(**made)
    assert str(error.value) == message


def test_layers_need_motion_and_names_of_their_own(reaching: Session) -> None:
    with pytest.raises(viewer.InputError, match="there is no motion for a layer: load a clip, or set keys"):
        session().dispatch(AddLayer(layer()))
    with pytest.raises(viewer.InputError, match='layer "reach": there is one already'):
        reaching.dispatch(AddLayer(layer()))
    with pytest.raises(viewer.InputError, match="take: expected layers of different ids, found"):
        replace(reaching.document.take, layers=(layer(), layer()))  # type: ignore[type-var]


def test_keys_alone_can_have_a_layer_too() -> None:
    made = session()
    made.dispatch(KeyPose(0))
    made.dispatch(SetCoordinate("Spine", 0, 0.2))
    made.dispatch(KeyPose(40))
    place = np.add(hand(made.document, 20), (0.1, 0.2, 0.1))
    made.dispatch(AddLayer(layer(position=tuple(place.tolist()))))
    np.testing.assert_allclose(hand(made.document, 22), place, atol=1e-4)


@pytest.mark.parametrize("gone", [RemoveLayer("reach"), BakeLayers(), SetClip(None)])
def test_a_layer_that_is_gone_is_not_selected_any_more(reaching: Session, gone: Action) -> None:
    both = (Item("joint", "Head"), Item("layer", "reach"))
    reaching.dispatch(Select(both))
    reaching.dispatch(gone)
    left = reaching.document.selection
    assert left == both[:1]
    reaching.undo()
    assert reaching.document.selection == both
