"""Limits that stop a dragged joint: named while it is dragged and after, widened by what the drag needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.document import SetLimitRanges
from inside.formats import derived_limits, with_limits
from inside.session import Preferences
from inside.spatial import exp
from sessions import character

from viewer.document import Item, new_document
from viewer.session import Session
from viewer.skeleton import Character, Clip, fk
from viewer.ui import Controller

HIPS = Item("joint", "Hips")


def bow() -> Character:
    """The figure of the walk with a clip in which only the spine bends."""
    walk = character("walk")
    skeleton = replace(walk.skeleton, limits=(None,) * len(walk.skeleton))
    pose = skeleton.relaxed_pose()
    rotations = np.repeat(pose.rotations[None], 20, axis=0)
    for frame in range(20):
        rotations[frame, skeleton.index("Spine1")] = exp(np.array([0.02 * frame, 0.0, 0.0]))
    clip = Clip.from_arrays(skeleton, rotations, np.repeat(pose.translations[:1], 20, axis=0), name="bow")
    limited, source = derived_limits(skeleton, [clip])
    return replace(walk, skeleton=limited, clips={"bow": clip}, limits_from=source)


def controller(source: str) -> Controller:
    return Controller(Session(new_document(with_limits(bow(), source))), Preferences())


def lowered(made: Controller, by: float) -> float:
    """Drag the hips down by metres, in small steps; how far they are from there while still held."""
    session = made.session
    document = session.document
    start = fk(document.skeleton, document.pose).positions[document.skeleton.index("Hips")]
    session.begin_drag((HIPS,))
    for step in range(1, 61):
        session.gestures.drag_to({HIPS: (start - np.array([0.0, by * min(1.0, step / 40), 0.0]), None)})
        session.tick(step / 60.0)
    document = session.document
    now = fk(document.skeleton, document.pose).positions[document.skeleton.index("Hips")]
    return float(np.linalg.norm(now - start + np.array([0.0, by, 0.0])))


def ranges(made: Controller, joint: str) -> tuple[float, float]:
    skeleton = made.session.document.skeleton
    limits = skeleton.limits[skeleton.index(joint)]
    assert limits is not None
    axis = int(np.argmax(limits.upper - limits.lower))
    return float(np.degrees(limits.lower[axis])), float(np.degrees(limits.upper[axis]))


def test_a_bow_with_human_limits_crouches() -> None:
    assert lowered(controller("human+clip"), 0.2) < 2e-3
    assert lowered(controller("clip"), 0.2) > 0.1


def test_knees_that_stop_the_hips_are_named_and_widened_in_one_step() -> None:
    made = controller("clip")
    session = made.session
    short = lowered(made, 0.2)
    assert not made.limit_ranges.words()  # the status line says it as long as the drag goes on
    line = made.status()
    assert "LeftLeg" in f"{line.state} {line.goals}"
    session.commit()
    said = made.limit_ranges.words()
    assert said.startswith("LeftLeg at its ")
    assert said.endswith(", from the clip")
    steps, before = len(session.history), ranges(made, "LeftLeg")
    made.run("limits.widen")
    assert len(session.history) == steps + 1
    after = ranges(made, "LeftLeg")
    assert after[1] - after[0] > before[1] - before[0] + 10.0
    assert after != before
    assert not made.limit_ranges.words()
    session.undo()
    assert ranges(made, "LeftLeg") == before
    session.redo()
    session.undo()
    session.undo()
    assert lowered(made, 0.2) == pytest.approx(short, abs=1e-3)
    session.commit()
    made.run("limits.widen")
    assert lowered(made, 0.2 - short) < 5e-3


def test_a_range_set_by_hand_is_called_so() -> None:
    made = controller("clip")
    knee = made.session.document.skeleton.limits[made.session.document.skeleton.index("LeftLeg")]
    assert knee is not None
    ends = tuple(zip(knee.lower.tolist(), (knee.upper + 0.05).tolist(), strict=True))
    made.session.dispatch(SetLimitRanges({"LeftLeg": ends, "RightLeg": ends}))
    lowered(made, 0.3)
    made.session.commit()
    assert made.limit_ranges.words().endswith(", set by hand")


def test_nothing_is_said_once_the_figure_has_moved_on() -> None:
    made = controller("clip")
    lowered(made, 0.2)
    made.session.commit()
    assert made.limit_ranges.words()
    made.session.undo()
    assert not made.limit_ranges.words()


def test_a_drag_that_arrives_says_nothing() -> None:
    made = controller("human+clip")
    lowered(made, 0.1)
    made.session.commit()
    assert made.session.gestures.fell_short is None
    assert not made.limit_ranges.words()
