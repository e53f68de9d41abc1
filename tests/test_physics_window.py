"""Physics in the window: watching changes nothing, what is kept is one undo step, hands pull and balls hit."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.app import controls
from inside.document import actions
from inside.physics import Stuck
from panel_window import PanelWindow

import viewer
from viewer.ui import Leave, Move, Press, Release

if TYPE_CHECKING:
    from collections.abc import Iterator


pytest.importorskip("mujoco")


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:biped"))
    yield made
    made.close()


def run_for(window: PanelWindow, seconds: float, start: float = 0.0) -> float:
    """Tick at 60 frames per second; the time afterwards."""
    frames = round(60 * seconds)
    for frame in range(frames + 1):
        window.controller.tick(start + frame / 60.0)
    return start + seconds


def test_watching_is_no_edit_and_leaving_offers_the_pose(window: PanelWindow) -> None:
    controller, session = window.controller, window.session
    before = session.document
    assert controller.run("physics.run")
    assert controller.view.workspace.value == "physics"
    now = run_for(window, 0.3)
    sim = controller.simulating.sim
    assert sim is not None
    assert sim.seconds == pytest.approx(0.3, abs=0.02)
    controller.simulating.throw()
    now = run_for(window, 0.5, now)
    assert len(controller.simulating.balls) == 1
    line = controller.status()
    assert (line.icon, line.state.partition(" at ")[0]) == ("dot", "Physics runs")
    assert line.goals.startswith("held by ")
    assert " it" not in line.figures  # nothing is solved
    assert session.document is before
    assert not session.modified
    assert controller.run("physics.run")
    run_for(window, 0.1, now)
    assert controller.view.workspace.value == "pose"
    assert controller.simulating.sim is None
    (message,) = [one for one in controller.view.bar.messages if one.text == "Simulation dropped"]
    controller.view.bar.choose(message, 0)
    assert (len(session.history), session.history.labels[-1]) == (1, "Keep simulated pose")


def test_a_pulled_bone_follows_the_hand_and_what_happened_is_kept_as_a_clip(window: PanelWindow) -> None:
    controller, session = window.controller, window.session
    controller.run("physics.run")
    now = run_for(window, 0.1)
    part = controller.simulating
    assert part.sim is not None
    scene = controller.scene()
    x, y = controller.projection().project(scene.world.positions[session.document.skeleton.index("LeftLeg")]).tolist()
    hit = next(
        one
        for one in controller.hit_test.hits(x + controller.viewport.x, y + controller.viewport.y)
        if part.can_pull(one)
    )
    to = hit.point + np.array((0.0, 0.3, 0.4))
    away = np.linalg.norm(hit.point - to)
    part.pull(hit, to)
    now = run_for(window, 1.0, now)
    assert part.sim.pull_force > 0.0
    world = viewer.fk(part.sim.skeleton, part.sim.pose)
    assert np.linalg.norm(world.positions[hit.index] - to) < 0.8 * away + 0.2
    assert part.shapes(controller.projection(), 1.0)
    assert part.texts(controller.projection(), 1.0)[0].text.endswith(" N")
    part.release()
    assert part.sim.pull_force == 0.0
    assert controller.run("physics.keep_clip")
    assert session.history.labels[-1] == "Motion physics"
    clip = session.document.clip_data
    assert clip is not None
    assert len(clip) == pytest.approx(66, abs=3)


def test_space_pauses_a_key_steps_and_forces_take_effect(window: PanelWindow) -> None:
    controller = window.controller
    controller.run("physics.run")
    now, part = run_for(window, 0.2), controller.simulating
    assert controller.run("play.forwards")
    assert part.paused
    assert part.sim is not None
    still = part.sim.seconds
    now = run_for(window, 0.2, now)
    assert part.sim.seconds == still
    assert controller.run("play.next")
    assert part.sim.seconds == pytest.approx(still + 1.0 / 60.0)
    part.change(replace(part.forces, strength=2.0, assist="off"))
    assert (part.sim.strength, part.sim.assist) == (2.0, "off")
    part.change(replace(part.forces, gravity=0.0))
    assert part.sim.surroundings.gravity == 0.0
    assert controller.run("play.first")
    assert part.sim.seconds == 0.0


def test_the_play_button_of_the_timeline_pauses_physics_as_space_does(window: PanelWindow) -> None:
    window.controller.run("physics.run")
    run_for(window, 0.1)
    window.frames(3)
    window.click("timeline", "play.forwards")
    assert window.controller.simulating.paused


def test_without_mujoco_the_panel_names_the_cure(window: PanelWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.physics.model.is_installed", lambda _: False)
    window.controller.run("physics.run")
    run_for(window, 0.1)
    assert window.controller.simulating.problem == "physics needs MuJoCo: pip install 'ikviewer[physics]'"
    assert not window.controller.can("physics.throw")


def test_what_cannot_move_is_not_said_to_run() -> None:
    fixed = viewer.load(
        text='{"joints": [{"name": "a", "kind": "fixed"}, {"name": "b", "parent": "a", "kind": "fixed"}]}'
    )
    window = PanelWindow(fixed)
    window.controller.run("physics.run")
    run_for(window, 0.1)
    assert "can move" in window.controller.simulating.problem
    words = [hint.words for hint in window.controller.hints()]
    assert words
    assert not {"pull a bone", "throw a ball", "pause", "stop"} & set(words)
    assert [one.text for one in window.controller.view.bar.messages] == []
    window.close()


def paragraphs_of_panel(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the panel says from now on, in place of drawing it."""
    told: list[str] = []
    note = lambda _, words, *_rest, **_more: told.append(words)  # noqa: E731
    noting = SimpleNamespace(**vars(controls) | {"paragraph": note})  # for this panel alone
    monkeypatch.setattr("viewer.app.panels.physics_panel.controls", noting)
    return told


def test_the_panel_says_what_is_stuck(window: PanelWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window.controller.run("physics.run")
    run_for(window, 0.1)
    told = paragraphs_of_panel(monkeypatch)
    window.frames(2)
    assert told == []
    stuck = (Stuck("LeftHand", "floor", 0.004), Stuck("Head", "table", 0.0125))
    monkeypatch.setattr("viewer.physics.simulation.Physics.stuck", stuck)
    window.frames(1)
    assert told == [
        "LeftHand is 4 mm deep in the floor and cannot leave it: it stays there",
        "Head is 12.5 mm deep in table and cannot leave it: it stays there",
    ]


@pytest.mark.parametrize(
    ("efforts", "said"),
    [
        ((None, None), []),
        ((None, 3.0), ["At any strength the motor of a joint gives at most the effort in the file"]),
        ((2.0, 3.0), ["At any strength the motors of 2 joints give at most the effort in the file"]),
    ],
)
def test_the_panel_says_that_stated_efforts_do_not_follow_the_strength(
    efforts: tuple[float | None, ...], said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arm = viewer.Builder(name="arm")
    arm.add("base", None, (0.0, 0.0, 0.0), kind="fixed")
    for index, effort in enumerate(efforts):
        motor = viewer.Motor(effort=effort, velocity=2.0)
        arm.add(f"link{index}", ("base", "link0")[index], (0.0, 0.3, 0.0), kind="hinge", axis=(0, 0, 1), motor=motor)
    window = PanelWindow(viewer.Character(arm.skeleton))
    window.controller.run("physics.run")
    run_for(window, 0.1)
    told = paragraphs_of_panel(monkeypatch)
    window.frames(1)
    assert told == said
    lines = window.words("physics")
    assert ("At full effort" in lines) is bool(said)
    assert ("none" in lines) is bool(said)
    window.close()


def test_hints_name_what_the_simulation_can_do_now(window: PanelWindow) -> None:
    controller = window.controller
    controller.run("physics.run")
    run_for(window, 0.1)
    hints = [(hint.keys, hint.words) for hint in controller.hints()]
    assert hints == [("Drag", "pull a bone"), ("Shift K", "throw a ball"), ("Space", "pause"), ("K", "stop")]
    controller.run("physics.pause")
    assert ("Space", "resume") in [(hint.keys, hint.words) for hint in controller.hints()]
    controller.run("physics.pause")
    sim = controller.simulating.sim
    assert sim is not None
    sim._data.qvel[6] = np.inf  # it becomes unstable
    run_for(window, 0.1, 1.0)
    assert "unstable" in controller.simulating.problem
    assert [(hint.keys, hint.words) for hint in controller.hints()] == [("Ctrl Home", "start again"), ("K", "stop")]


def test_the_toolbar_pauses_resets_throws_and_keeps_the_pose(window: PanelWindow) -> None:
    controller, session = window.controller, window.session
    controller.run("physics.run")
    run_for(window, 0.2)
    window.frames(2)
    part = controller.simulating
    assert part.sim is not None
    window.click("toolbar", "Pause##physics.pause")
    assert controller.checked("physics.pause") is True
    window.click("toolbar", "Resume##physics.pause")
    assert controller.checked("physics.pause") is False
    window.click("toolbar", "assist tool 1")
    assert part.sim.assist == part.forces.assist == "helped"
    window.click("toolbar", "Throw ball##physics.throw")
    assert len(part.sim.balls) == 1
    window.click("toolbar", "Reset##physics.reset")
    assert part.sim.seconds < 0.7
    depth = session.history.index
    part.sim.push("Spine2", (0.0, 0.0, 20.0))
    run_for(window, 0.3)
    window.click("toolbar", "finish")
    assert session.history.index == depth + 1


@pytest.mark.parametrize("sample", ["biped", "raptor", "claw-arm"])
def test_a_ball_that_a_button_throws_hits_the_figure_wherever_the_pointer_was_before(sample: str) -> None:
    window = PanelWindow(viewer.load(f"sample:{sample}"), (1280, 720))
    controller = window.controller
    controller.run("physics.run")
    now = run_for(window, 0.2)
    window.frames(2)
    view = controller.viewport
    controller.handle(Move(view.x + view.w - 5.0, view.y + 5.0))
    controller.handle(Leave())
    controller.run("physics.throw")
    part = controller.simulating
    assert part.sim is not None
    start = part.sim.balls[-1]
    straight = part.forces.ball_speed * 0.6
    run_for(window, 0.6, now)
    flown = float(np.linalg.norm(part.sim.balls[-1] - start))
    assert flown < 0.9 * straight  # something was in its way
    window.close()


def test_leaving_while_a_bone_is_pulled_lets_go_of_it(window: PanelWindow) -> None:
    controller, session = window.controller, window.session
    controller.run("physics.run")
    run_for(window, 0.1)
    places, names = controller.scene().world.positions, session.document.skeleton.names
    bone = 0.5 * (places[names.index("LeftLeg")] + places[names.index("LeftFoot")])
    x, y = controller.projection().project(bone).tolist()
    x, y = x + controller.viewport.x, y + controller.viewport.y
    controller.handle(Press("left", x, y))
    controller.handle(Move(x + 40.0, y))
    part = controller.simulating
    assert part.sim is not None
    assert controller.run("physics.run")
    run_for(window, 0.1)
    assert controller.simulating.pose is None
    controller.handle(Move(x + 80.0, y))
    controller.handle(Release("left", x + 80.0, y))


def test_a_skeleton_that_is_edited_under_way_is_shown_before_it_is_simulated_anew(window: PanelWindow) -> None:
    controller, session = window.controller, window.session
    session.dispatch(actions.SplitBone("Spine1"))
    controller.run("physics.run")
    now = run_for(window, 0.1)
    session.undo()
    assert len(controller.scene().world.positions) == len(session.document.skeleton) == 22
    controller.draw_list()
    run_for(window, 0.1, now)
    pose = controller.simulating.pose
    assert pose is not None
    assert len(pose.rotations) == 22


@pytest.mark.parametrize("name", ["gravity", "friction", "ball_mass", "ball_radius", "ball_speed"])
def test_numbers_are_dragged(window: PanelWindow, name: str) -> None:
    part, field = window.controller.simulating, name.replace("_", " ")
    window.controller.run("physics.run")
    run_for(window, 0.1)
    window.frames(2)
    panel = next(box.panel for box in window.boxes if box.name == field)
    sim, before = part.sim, part.forces
    assert sim is not None
    usual = {"gravity": 1.0, "friction": 0.9, "ball_mass": min(sim.model.mass / 70.0, 1.0),
             "ball_radius": sim.model.ball_radius, "ball_speed": 8.0}[name]  # fmt: skip
    window.drag(panel, field, 20.0, lambda: None if name == "ball_speed" else _same(part.forces, before))
    assert getattr(part.forces, name) > 1.05 * usual
    assert part.forces == replace(before, **{name: getattr(part.forces, name)})


def _same(now: object, before: object) -> None:
    """What needs another simulation changes once, at the end of the drag."""
    assert now is before
