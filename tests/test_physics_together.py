"""Several figures in one simulation: put together and taken apart exactly, apart they do not feel each other."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from inside.physics import Assist, Physics, Standing, Together
from panel_window import PanelWindow
from sessions import character

import viewer
from viewer.document import new_document

pytest.importorskip("mujoco")


def standing(name: str, offset: tuple[float, float, float], yaw: float = 0.0) -> Standing:
    turn = viewer.quaternions.from_axis_angle((0.0, 1.0, 0.0), yaw)
    return Standing(character(name).skeleton, np.array(offset), turn)


def simulation(together: Together, assist: Assist = "held") -> Physics:
    start = together.pose([figure.skeleton.relaxed_pose() for figure in together.figures])
    return Physics(together.skeleton, start, figures=[one.skeleton for one in together.figures], assist=assist)


def test_figures_are_put_together_and_taken_apart() -> None:
    figures = [
        standing("biped", (0.0, 0.0, 0.0)),
        standing("claw-arm", (1.0, 0.1, -2.0), 2.0),
        standing("biped", (3, 0, 0)),
    ]
    together = Together.of(figures)
    skeleton = together.skeleton
    assert len(skeleton) == sum(len(one.skeleton) for one in figures)
    assert skeleton.names[: len(figures[0].skeleton)] == figures[0].skeleton.names
    assert len(set(skeleton.names)) == len(skeleton)
    poses = [one.skeleton.relaxed_pose() for one in figures]
    whole = together.pose(poses)
    for pose, again in zip(poses, together.split(whole), strict=True):
        np.testing.assert_allclose(again.rotations, pose.rotations, atol=1e-12)
        np.testing.assert_allclose(again.translations, pose.translations, atol=1e-12)
    world = viewer.fk(skeleton, whole)
    for figure, first, pose in zip(figures, together.first, poses, strict=True):
        own = viewer.fk(figure.skeleton, pose).positions
        wanted = viewer.quaternions.rotate(figure.rotation, own) + figure.offset
        np.testing.assert_allclose(world.positions[first : first + len(own)], wanted, atol=1e-12)


def test_apart_they_move_as_alone_and_weigh_what_they_weigh() -> None:
    far = Together.of([standing("biped", (0.0, 0.0, 0.0)), standing("biped", (50.0, 0.0, 0.0), 1.0)])
    sim, alone = simulation(far), Physics(character("biped").skeleton)
    assert [part.mass for part in sim.model.parts] == pytest.approx([alone.model.mass] * 2)
    for one in (sim, alone):
        one.push("Spine2", (0.0, 0.0, 30.0), at=0.1)
        one.step(1.0)
    pushed, other = far.split(sim.pose)
    np.testing.assert_allclose(pushed.translations[0], alone.pose.translations[0], atol=2e-3)
    start = character("biped").skeleton.relaxed_pose()
    assert np.linalg.norm(other.translations[0] - start.translations[0]) < 5e-3
    clip = far.clip(sim.clip, 0)
    assert len(clip) == len(sim.clip)
    np.testing.assert_allclose(clip.pose(len(clip) - 1).translations[0], pushed.translations[0], atol=1e-9)


def test_near_each_other_they_push_each_other() -> None:
    near = Together.of([standing("biped", (0.0, 0.0, 0.0)), standing("biped", (0.0, 0.0, 0.45), math.pi)])
    sim = simulation(near, assist="off")
    sim.push("Spine2", (0.0, 0.0, 150.0), at=0.1)
    sim.step(1.0)
    _, other = near.split(sim.pose)
    start = character("biped").skeleton.relaxed_pose()
    assert np.linalg.norm(other.translations[0] - start.translations[0]) > 0.05
    assert sim.deepest < 0.05


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:biped"))
    yield made
    made.close()


def test_all_figures_of_the_stage_are_simulated(window: PanelWindow) -> None:
    controller, session = window.controller, window.session
    session.figures.add(new_document(character("biped")), "second")
    session.figures.activate(session.stage[0].name)
    controller.run("physics.run")
    for frame in range(30):
        controller.tick(frame / 60.0)
    part = controller.simulating
    assert part.sim is not None
    assert len(part.sim.model.parts) == 2
    before = controller.scene().others[0].world.positions
    name = part.sim.skeleton.names[len(session.document.skeleton) + 4]
    part.sim.push(name, (0.0, 0.0, 60.0))
    for frame in range(30, 60):
        controller.tick(frame / 60.0)
    scene = controller.scene()
    assert np.abs(scene.others[0].world.positions - before).max() > 0.01
    assert not session.modified or session.history.labels[-1] != "Keep simulated pose"
    part.keep_clip()
    clip = session.document.clip_data
    assert clip is not None
    assert clip.rotations.shape[1] == len(session.document.skeleton)
    # A figure that goes changes who is simulated.
    session.figures.remove("second")
    controller.tick(1.1)
    assert part.sim is not None
    assert len(part.sim.model.parts) == 1


def test_the_ring_opens_with_three() -> None:
    made = PanelWindow(viewer.load("sample:biped"))
    try:
        made.controller.opening.show_file("demo:ring")
        assert len(made.session.stage) == 3
        for frame in range(12):
            made.controller.tick(frame / 60.0)
        sim = made.controller.simulating.sim
        assert sim is not None
        assert len(sim.model.parts) == 3
    finally:
        made.close()
