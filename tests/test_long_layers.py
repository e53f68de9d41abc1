"""Long layers: they are solved block by block while the session goes on, and exported as a whole."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from inside.document import AddLayer, BakeLayers, GoalLayer, SetLayer, baked_clip, finished, frame_pose
from inside.motion import BLOCK, WHOLE, LayerGroup, solve_layers
from sessions import character

import viewer
from viewer.document import Document, new_document
from viewer.session import Session

PLACE = (0.25, 0.1, 0.35)
"""Within reach of the left hand, seen from the hips."""


@pytest.fixture(scope="module")
def long_walk() -> viewer.Character:
    """A walk on the spot of some twenty seconds; kernels are ready, as between blocks they would change last bits."""
    viewer.ik.warm_up()
    walk = character("walk")
    clip = walk.clip
    assert clip is not None
    times = WHOLE // len(clip) + 2
    there, back = np.arange(len(clip) - 1), np.arange(len(clip) - 1, 0, -1)
    frames = np.concatenate([there, back] * (times // 2 + 1))
    places = clip.local_translations()
    places[:, 0, [0, 2]] = 0.0
    long = viewer.Clip.from_arrays(walk.skeleton, clip.rotations[frames], places[frames], fps=clip.fps, name="long")
    return replace(walk, clips={"long": long})


def held(document: Document) -> GoalLayer:
    last = document.frames - 1
    return GoalLayer(
        id="held", effector="LeftHand", position=PLACE, space="Hips", first=0, full=(0, last), last=last
    )  # fmt: skip


def hand(document: Document, frame: int) -> np.ndarray:
    """Where the left hand is, seen from the hips."""
    skeleton = document.skeleton
    world = viewer.fk(skeleton, frame_pose(document, frame))
    hips = skeleton.index("Hips")
    away = world.positions[skeleton.index("LeftHand")] - world.positions[hips]
    return np.asarray(viewer.quaternions.rotate(viewer.quaternions.conjugate(world.rotations[hips]), away))


def work(session: Session, until: int = 0) -> None:
    """Tick until so many blocks are missing."""
    begun = time.monotonic()
    session.tick(0.0)
    while session.layers.missing > until:
        session.tick(0.0)
        time.sleep(1e-3)
        assert time.monotonic() - begun < 120.0


def test_the_frames_of_a_block_do_not_depend_on_the_order_of_solving(long_walk: viewer.Character) -> None:
    clip = long_walk.clip
    assert clip is not None
    end = (len(clip) - 1) * clip.frame_time
    long = viewer.Layer(viewer.Goal.position("LeftHand", PLACE), 0.0, (0.0, end), end, 1.0, "Hips")
    one, other = (LayerGroup(long_walk.skeleton, clip, [long], 0, {}) for _ in range(2))
    assert len(one.blocks) > 3
    assert all(block.stop - block.start <= BLOCK for block in one.blocks)
    numbers = range(len(one.blocks))
    forwards = [one.block(number) for number in numbers]
    backwards = [other.block(number) for number in reversed(numbers)][::-1]
    for a, b in zip(forwards, backwards, strict=True):
        np.testing.assert_array_equal(a[0], b[0])
        np.testing.assert_array_equal(a[1], b[1])
    (window,) = solve_layers(long_walk.skeleton, clip, [long])
    np.testing.assert_array_equal(window.rotations, np.concatenate([each[0] for each in forwards]))
    assert window.misses[0].metres < 1e-3
    # No frame shows that there is a seam: corrections fade from one block into the next.
    turns = window.rotations
    steps = np.abs((turns[:-1] * turns[1:]).sum(axis=-1)).clip(max=1.0).min(axis=1)
    steps = 2.0 * np.arccos(steps)  # radians, of the joint that turns most
    seams = [block.start - 1 for block in one.blocks[1:]]
    assert steps[seams].max() <= 1.5 * np.quantile(steps, 0.99)


def test_a_long_layer_is_solved_while_the_session_goes_on(long_walk: viewer.Character) -> None:
    document = new_document(long_walk)
    session = Session(document)
    session.seek(300)
    before = hand(session.document, 300)
    session.dispatch(AddLayer(held(document)))
    session.seek(300)
    np.testing.assert_allclose(hand(session.document, 300), before, atol=1e-12)
    session.tick(0.0)
    total = session.layers.missing
    assert total > 3
    work(session, until=total - 1)
    np.testing.assert_allclose(hand(session.document, 300), PLACE, atol=1e-3)  # the block shown comes first
    np.testing.assert_allclose(session.document.pose.rotations, frame_pose(session.document, 300).rotations, atol=1e-12)
    assert session.history.labels[-1] == "Layer for LeftHand"
    work(session)
    for frame in (0, 127, 128, 500, session.document.frames - 1):
        np.testing.assert_allclose(hand(session.document, frame), PLACE, atol=1e-3)
    made = session.document
    assert session.undo()
    np.testing.assert_allclose(hand(session.document, 300), before, atol=1e-12)
    assert session.redo()
    session.tick(0.0)
    assert session.layers.missing == 0  # its blocks were kept
    assert session.document.take is not None
    assert made.take is not None
    assert {one.digest for one in session.document.take.solved} == {one.digest for one in made.take.solved}


def test_what_is_exported_or_baked_is_solved_to_the_end(long_walk: viewer.Character) -> None:
    document = new_document(long_walk)
    session = Session(document)
    session.dispatch(AddLayer(held(document)))
    exported = baked_clip(session.document)
    work(session)
    np.testing.assert_array_equal(exported.rotations, baked_clip(session.document).rotations)
    whole = finished(AddLayer(held(document)).apply(document))
    np.testing.assert_array_equal(frame_pose(whole, 400).rotations, frame_pose(session.document, 400).rotations)
    session.dispatch(SetLayer("held", position=(0.2, 0.1, 0.35)))
    session.dispatch(BakeLayers())
    np.testing.assert_allclose(hand(session.document, 600), (0.2, 0.1, 0.35), atol=2e-3)
