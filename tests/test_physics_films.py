"""Films of simulations: objects and balls are in them where they were, by command, from Python, in the window."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import ran
from inside.document import AddProp, Prop
from inside.ui import FilmPlan, FilmScenes, OnionSettings
from panel_window import PanelWindow
from PIL import Image

import viewer
from viewer import Box, InputError, Physics, Sphere, Surroundings
from viewer.opengl import make_film

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("mujoco")

ARM = viewer.load("sample:claw-arm")
CRATE = Box("crate", (0.4, 1.0, 0.3), (0.2, 0.2, 0.2))


def thrown() -> tuple[Physics, list[dict[str, tuple[float, ...]]]]:
    """A simulation in which a crate falls and balls are thrown at frames 3 and 6, and where all was at each frame."""
    sim = Physics(ARM.skeleton, surroundings=Surroundings(objects=(CRATE,), masses={"crate": 1.0}))
    places: list[dict[str, tuple[float, ...]]] = []
    for frame in range(10):
        balls = {f"ball {n}": tuple(place) for n, place in enumerate(sim.balls.tolist())}
        places.append({one.name: one.center for one in sim.objects} | balls)
        if frame in {2, 5}:
            sim.throw((0.0, 1.0, 2.0), (0.0, 1.0, -8.0))
        sim.step(1.0 / 60.0)
    return sim, places


def test_objects_and_balls_are_kept_frame_by_frame() -> None:
    sim, places = thrown()
    assert (sim.frames, len(sim.clip)) == (11, 11)
    for frame, there in enumerate(places):
        assert {one.name: one.center for one in sim.objects_at(frame)} == there
    assert [len(sim.objects_at(frame)) for frame in range(11)] == [1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3]
    ball = sim.objects_at(10)[1]
    assert isinstance(ball, Sphere)
    assert ball.radius == sim.model.ball_radius
    for frame in (-1, 11):
        with pytest.raises(InputError) as caught:
            sim.objects_at(frame)
        assert str(caught.value) == f"physics: frame: expected 0 to 10, found {frame}"
    sim.reset()
    assert sim.objects_at(0) == (CRATE,)


def test_a_film_shows_them_at_any_rate() -> None:
    sim, places = thrown()
    clip = sim.clip
    moving = replace(ARM, clips=MappingProxyType({clip.name: clip}))
    film = make_film(moving, fps=30, size=(96, 72), samples=0, objects=sim.objects_at)
    for number in range(len(film) - 1):
        props = {prop.name: prop.solid for prop in film.scene(number).props}
        assert {name: solid.center for name, solid in props.items() if solid is not None} == places[2 * number]
    bare = make_film(moving, fps=30, size=(96, 72), samples=0)
    assert not bare.scene(2).props
    assert (bare.picture(2) != film.picture(2)).any()


def test_the_command_films_what_it_simulates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "simulate",
        "sample:claw-arm",
        "--seconds",
        "0.2",
        "--size",
        "64x48",
        "--samples",
        "0",
        "--camera",
        "30,10,4",
    ]
    done = ran(capsys, *command, "--ball", "2@0.05", "-o", str(tmp_path / "hit_%02d.png"))
    assert (done.code, done.err) == (0, "")
    assert f"wrote {tmp_path / 'hit_%02d.png'}: 13 pictures of 64 x 48, 60 a second, 0.22 s" in done.out
    ran(capsys, *command, "-o", str(tmp_path / "calm_%02d.png"))
    hit, calm = ([np.array(Image.open(tmp_path / f"{name}_{n:02d}.png")) for n in (2, 12)] for name in ("hit", "calm"))
    assert (hit[0] == calm[0]).all()
    assert (hit[1] != calm[1]).any()
    gif = tmp_path / "hit.gif"
    assert ran(capsys, *command, "-o", str(gif)).code == 0
    with Image.open(gif) as image:
        assert image.size == (64, 48)
    one = tmp_path / "one.png"
    done = ran(capsys, *command, "-o", str(one))
    assert (done.code, done.err) == (
        1,
        f"error: {one}: expected a film, .mp4, .gif or one_%04d.png, found one picture\n",
    )
    assert not one.exists()


@pytest.mark.parametrize("sample", ["raptor", "biped", "quadruped", "claw-arm"])
def test_a_ball_of_the_command_does_not_fly_between_the_legs(
    sample: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made: list[Physics] = []

    class Kept(Physics):
        def __init__(self, *arguments: Any, **rest: Any) -> None:  # noqa: ANN401 - passed on
            super().__init__(*arguments, **rest)
            made.append(self)

    monkeypatch.setattr("viewer.cli.simulate_command.Physics", Kept)
    assert ran(capsys, "simulate", f"sample:{sample}", "--seconds", "0.8", "--ball", "8@0").code == 0
    (sim,) = made
    ((*_, depth),) = sim.balls.tolist()
    free = 1.5 * sim.model.height - 8.0 * 0.8  # where it would be if it had hit nothing
    assert depth > free + 1.0


def test_the_window_films_the_simulation_and_stops_it_meanwhile() -> None:
    window = PanelWindow(ARM)
    try:
        controller = window.controller
        window.session.dispatch(AddProp(Prop(name="ball", center=(0.4, 1.5, 0.3), radius=0.1, mass=0.5)))
        before = window.session.document
        assert controller.filmed().document is before
        controller.run("physics.run")
        for frame in range(40):
            controller.tick(frame / 60.0)
            if frame == 20:
                controller.simulating.throw()
        sim = controller.simulating.sim
        assert sim is not None
        controller.run("file.film")
        window.frames(6)
        assert window.popup
        assert controller.simulating.paused  # it was not: 40 frames were simulated
        filmed = controller.filmed()
        assert window.session.document is before
        assert filmed.document.frames == sim.frames
        plan = FilmPlan(size=(64, 48), frames=(0, sim.frames - 1), fps=60.0)
        film = FilmScenes(filmed, plan, OnionSettings())
        for number in (0, 15, sim.frames - 1):
            scene = film.scene(number)
            assert {prop.name: prop.solid for prop in scene.props} == {one.name: one for one in sim.objects_at(number)}
            np.testing.assert_allclose(
                scene.world.positions, viewer.fk(ARM.skeleton, sim.clip.pose(number)).positions, atol=1e-9
            )
        assert len(film.scene(sim.frames - 1).props) == 2
        controller.simulating.reset()
        assert controller.filmed().document is before
    finally:
        window.close()
