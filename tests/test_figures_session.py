"""Several figures in one session: one clock, one undo history, one of them active."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cli_run import ran
from inside.document import actions as act
from inside.session import Placement, beside
from sessions import HAND, character, drag, session, shifted

from viewer import InputError
from viewer.document import Item, new_document, world_of
from viewer.session import Session
from viewer.skeleton import Source

if TYPE_CHECKING:
    from pathlib import Path


def two(first: str = "walk", second: str = "walk") -> Session:
    made = session(first)
    made.figures.add(new_document(character(second)))
    return made


def nudged(made: Session, effector: str = "LeftHand") -> None:
    at = shifted(made.document, effector, (0.05, 0.05, 0.0))
    made.dispatch(act.MoveTargets({effector: (at, None)}))


def test_a_figure_of_a_name_that_is_there_gets_a_number() -> None:
    made = two()
    made.figures.add(new_document(character("walk")))
    assert made.stage.names == ["walk", "walk 2", "walk 3"]
    nameless = replace(character("walk"), source=Source(path="sample:"))
    made.figures.add(new_document(nameless))
    made.figures.add(new_document(nameless))
    assert made.stage.names[3:] == ["Figure", "Figure 2"]


def test_figures_stand_beside_each_other_on_one_level() -> None:
    made = two()
    for name in ("biped", "claw-arm"):
        made.figures.add(new_document(character(name)))
    stage = made.stage
    placed = [
        one.placement.points(world_of(one.state.document.skeleton, one.state.document.pose).positions) for one in stage
    ]
    assert np.allclose([places[0, 2] for places in placed], placed[0][0, 2])
    for one, other in pairwise(placed):
        assert one[:, 0].max() < other[:, 0].min()


def test_placements_seen_from_each_other_agree_with_the_stage() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        one, other = (Placement(tuple(rng.normal(size=3)), float(rng.uniform(-9, 9))) for _ in range(2))
        points = rng.normal(size=(5, 3))
        assert np.allclose(other.points(one.seen_from(other).points(points)), one.points(points), atol=1e-12)


def test_actions_change_the_active_figure_alone() -> None:
    made = two()
    first = made.stage.documents[0]
    nudged(made)
    assert made.stage.documents[0] is first
    made.figures.activate("walk")
    second = made.stage.documents[1]
    drag(made, HAND, shifted(made.document, "LeftHand", (0.0, 0.1, 0.1)))
    made.commit()
    assert made.stage.documents[1] is second
    assert made.stage.documents[0] is not first


def test_one_history_goes_back_through_all_figures() -> None:
    made = session("walk")
    start = made.document
    nudged(made)
    made.figures.add(new_document(character("walk")))
    added = made.document
    nudged(made)
    made.figures.activate("walk")
    nudged(made, "RightHand")
    ends = made.stage.documents
    made.figures.place("walk 2", Placement((3.0, 0.0, 1.0), 0.5))
    made.figures.hide("walk 2")
    made.figures.remove("walk 2")
    assert made.stage.names == ["walk"]
    labels = ["Move LeftHand", "Add walk 2", "Move LeftHand", "Move RightHand", "Place walk 2", "Hide walk 2"]
    assert list(made.history.labels) == [*labels, "Remove walk 2"]

    assert made.undo()
    assert [one.hidden for one in made.stage] == [False, True]
    assert made.undo()
    assert [one.hidden for one in made.stage] == [False, False]
    assert made.undo()
    assert made.stage[1].placement != Placement((3.0, 0.0, 1.0), 0.5)
    assert made.stage.documents == ends
    assert made.undo()
    assert made.stage.figure.name == "walk"
    assert made.undo()
    assert made.stage.figure.name == "walk 2"
    assert made.document is added
    assert made.undo()
    assert made.undo()
    assert not made.undo()
    assert made.stage.names == ["walk"]
    assert made.document is start

    made.go_to(5)
    assert made.stage.documents == ends
    assert made.stage[1].placement == Placement((3.0, 0.0, 1.0), 0.5)
    made.go_to(0)
    assert made.document is start
    made.go_to(7)
    assert made.stage.names == ["walk"]


def test_all_play_on_one_clock() -> None:
    made = two()
    made.figures.add(new_document(character("biped")))
    made.figures.hide("walk")
    made.figures.activate("walk 2")
    for frame in (3, 17, 5):
        made.seek(frame)
        assert [one.frame for one in made.stage.documents] == [0, frame, 0]
    made.figures.hide("walk", hidden=False)
    assert made.stage.documents[0].frame == 5
    made.play()
    made.tick(1.0)
    for now in (1.1, 1.25, 1.4):
        made.tick(now)
        assert made.stage.documents[0].frame == made.stage.documents[1].frame
        assert made.stage.documents[0].pose.same_as(made.stage.documents[1].pose)
    assert made.document.frame > 5


def test_a_figure_without_motion_lets_the_others_play() -> None:
    made = two("walk", "biped")
    assert not made.document.frames
    made.play()
    made.tick(1.0)
    made.tick(1.3)
    assert made.stage.documents[0].frame == round(0.3 / made.stage.documents[0].frame_time - 0.5)
    assert made.clock.playing


def test_a_shorter_motion_stays_at_its_end() -> None:
    made = two()
    made.dispatch(act.SetRange(0, 9))
    made.figures.activate("walk")
    made.seek(30)
    assert made.stage.documents[1].frame == 9


def test_becoming_active_keeps_the_clock_running() -> None:
    made = two()
    made.play()
    made.tick(1.0)
    made.tick(1.2)
    made.figures.activate("walk")
    frame = made.document.frame
    assert made.clock.playing
    made.tick(1.3)
    made.tick(1.5)
    assert made.document.frame > frame


def test_a_drag_of_a_figure_is_one_step() -> None:
    made = two()
    before = made.stage[1].placement
    for metres in (0.1, 0.2, 0.3):
        made.figures.place("walk 2", Placement((metres, 0.0, 0.0)), done=False)
    made.figures.place("walk 2", Placement((0.4, 0.0, 0.0)))
    assert made.history.labels == ("Add walk 2", "Place walk 2")
    assert made.undo()
    assert made.stage[1].placement == before


def test_hiding_the_active_figure_makes_another_one_active() -> None:
    made = two()
    made.figures.hide("walk 2")
    assert made.stage.figure.name == "walk"
    with pytest.raises(InputError, match=r"^walk is the only figure that is shown$"):
        made.figures.hide("walk")
    with pytest.raises(InputError, match=r"^walk 2 is hidden: show it first$"):
        made.figures.activate("walk 2")
    made.figures.remove("walk")
    assert [one.hidden for one in made.stage] == [False]  # somebody must be seen
    with pytest.raises(InputError, match=r"^walk 2 is the only figure$"):
        made.figures.remove("walk 2")


def test_what_is_no_figure_is_refused() -> None:
    made = two()
    depth = made.history.index
    with pytest.raises(InputError, match=r'^no figure "wlak"; did you mean "walk" or "walk 2"\?$'):
        made.figures.activate("wlak")
    for bad, found in (
        ((float("nan"), 0.0, 0.0), "finite numbers, found nan"),
        ((1.0, 2.0), r"shape \(3,\), found \(2,\)"),
    ):
        with pytest.raises(InputError, match=rf"^placement: offset: expected {found}$"):
            made.figures.place("walk", Placement(bad))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^placement: yaw: expected a finite number, found inf$"):
        made.figures.place("walk", Placement(yaw=float("inf")))
    assert made.history.index == depth


def test_opening_another_document_leaves_one_figure() -> None:
    made = two()
    made.replace(new_document(character("biped")))
    assert made.stage.names == ["biped"]
    assert [one.placement for one in made.stage] == [beside(made.document, [])]
    assert not made.undo()
    made.dispatch(act.Select((Item("effector", "LeftHand"),)))


def test_the_command_opens_several_and_names_the_one_that_is_broken(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken, state = tmp_path / "broken.bvh", tmp_path / "state.json"
    broken.write_text("HIERARCHY\nROOT\n", encoding="utf-8")
    window = ("--window", "headless", "--state-file", state)
    done = ran(capsys, "view", "sample:walk", broken, "sample:walk", "demo:two-link", *window)
    assert done.code == 0
    assert f"{broken}, line 3" in done.err
    assert [one["name"] for one in json.loads(state.read_text())["figures"]] == ["walk", "walk 2", "two-link"]
    alone = ran(capsys, "view", broken, tmp_path / "gone.bvh", *window)
    assert (alone.code, alone.err.count("error:")) == (1, 1)
    assert f"{broken}, line 3" in alone.err


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_done_can_be_undone_and_done_again(seed: int) -> None:
    rng = np.random.default_rng(seed)
    made, extra = two("biped", "claw-arm"), new_document(character("two-link"))
    made.replace(made.document, figures=made.stage.arrangement)
    start = made.stage.arrangement

    def one(names: list[str]) -> str:
        return names[int(rng.integers(len(names)))]

    def step() -> None:
        stage, kind = made.stage, int(rng.integers(7))
        name = one(stage.names)
        offset = (float(rng.normal()), 0.0, float(rng.normal()))
        if kind == 0:
            made.figures.add(extra)
        elif kind == 1:
            made.figures.remove(name)
        elif kind == 2:
            made.figures.hide(name, bool(rng.integers(2)))
        elif kind == 3:
            made.figures.place(name, Placement(offset, float(rng.normal())), done=bool(rng.integers(2)))
        elif kind == 4:
            made.figures.activate(name)
        elif kind == 5:
            made.dispatch(act.SetLimits(not made.document.limits_on))
        else:
            made.begin("Limits")
            made.gestures.update(act.SetLimits(not made.document.limits_on))
            made.commit()

    def shown() -> list[tuple[str, object, object, bool]]:
        return [(one.name, id(one.state.document), one.placement, one.hidden) for one in made.stage]

    for _ in range(40):
        with suppress(InputError):
            step()
        stage = made.stage
        assert len(set(stage.names)) == len(stage)
        assert not stage.figure.hidden
        assert stage.several == (len(stage) > 1)
    made.commit()
    end = shown()
    while made.undo():
        assert not made.stage.figure.hidden
    figures = made.stage.arrangement.figures
    assert [(one.name, one.placement, one.hidden) for one in figures] == [
        (one.name, one.placement, one.hidden) for one in start.figures
    ]
    assert [one.state.document for one in figures] == [one.state.document for one in start.figures]
    while made.redo():
        pass
    assert shown() == end
