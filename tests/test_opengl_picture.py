"""`viewer.render`: pictures of characters, and of anything by any thread."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gl_drawing import NOTHING, SIZE, WHITE, camera, context, spheres
from inside.opengl import VIEWS, camera_of, renderer, scene_of

import viewer
from viewer.errors import InputError, MachineError
from viewer.opengl import render_image
from viewer.scene import Camera, Display, draw_list
from viewer.skeleton import bodies_of

if TYPE_CHECKING:
    from viewer.skeleton import Character

SMALL = (160, 120)


@pytest.fixture(autouse=True)
def _a_machine_that_draws() -> None:
    context()


@pytest.fixture(scope="module")
def biped() -> Character:
    return viewer.load("sample:biped")


def shown(*arguments: Any, **more: Any) -> np.ndarray:  # noqa: ANN401 - as `viewer.render` takes them
    return viewer.render(*arguments, size=SMALL, samples=0, **more).astype(int)


def test_a_picture_is_rows_of_red_green_blue_of_the_size_asked(biped: Character) -> None:
    picture = viewer.render(biped, size=(200, 90))
    assert picture.shape == (90, 200, 3)
    assert picture.dtype == np.uint8
    assert viewer.render(biped).shape == (480, 640, 3)
    assert picture[0].mean() > picture[-1].mean() + 10  # the top of the background is its lighter end


def test_a_picture_comes_out_the_same_again(biped: Character) -> None:
    first = viewer.render(biped, size=SMALL)
    viewer.render(viewer.load("sample:serpent"), size=(99, 33), limits=True)
    assert (viewer.render(biped, size=SMALL) == first).all()


@pytest.mark.parametrize("name", ["biped", "claw-arm", "piston", "quadruped", "raptor", "serpent", "two-link", "walk"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_sample_is_whole_in_every_view(name: str, view: str) -> None:
    character = viewer.load(f"sample:{name}")
    scene = replace(scene_of(character, character.skeleton.rest_pose()), display=Display(grid=False, shadow=False))
    projection = camera_of(view, scene, character, SIZE).projection(SIZE)
    figure = render_image(draw_list(scene, projection), projection, 0).astype(int)
    covered = np.abs(figure - render_image(NOTHING, projection, 0)).max(axis=-1) > 2
    rows, columns = np.nonzero(covered)
    assert rows.min() > 2
    assert columns.min() > 2
    assert rows.max() < SIZE[1] - 3
    assert columns.max() < SIZE[0] - 3
    # As large as fits, with room for handles; but what is straight may be seen from its end.
    least = 0.1 if name in {"two-link", "serpent"} else 0.35
    assert max(np.ptp(rows) / SIZE[1], np.ptp(columns) / SIZE[0]) > least


def test_without_a_pose_it_is_the_first_frame_or_the_relaxed_pose(biped: Character) -> None:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    assert (shown(walk) == shown(walk, walk.clip.pose(0))).all()
    assert (shown(walk, frame=7) == shown(walk, walk.clip.pose(7))).all()
    assert (shown(walk, frame=7) != shown(walk)).any()
    assert (shown(biped) == shown(biped, biped.skeleton.relaxed_pose())).all()
    assert (shown(biped) == shown(biped.skeleton)).all()


def test_a_mirrored_figure_from_the_front_is_mirrored_in_the_picture(biped: Character) -> None:
    picture = viewer.render(biped, biped.skeleton.rest_pose(), size=(321, 240), camera="front", samples=0).astype(int)
    bright = picture.max(axis=-1) > 110
    assert bright.sum() > 500
    # Faces that are seen edge-on may fall to either side.
    assert (bright != bright[:, ::-1]).mean() < 0.01
    # Its left is blue, and on the right of the picture.
    above = picture[:115]  # of the horizon: the axes on the ground are red and blue
    bluer = above[..., 2] - above[..., 0]
    columns = [np.nonzero(some)[1].mean() for some in (bluer > 20, bluer < -20)]
    assert columns[0] > 161 + 12
    assert columns[1] < 161 - 12


def test_the_figure_walks_to_the_right_when_seen_from_the_side() -> None:
    walk = viewer.load("sample:walk")
    assert walk.clip is not None
    fixed = Camera(np.array([0.0, 0.9, 0.6])).looking("right")
    middles = []
    for frame in (0, len(walk.clip) - 1):
        bright = (
            viewer.render(walk, size=(320, 240), camera=replace(fixed, distance=6.0), frame=frame).max(axis=-1) > 110
        )
        middles.append(float(np.nonzero(bright)[1].mean()))
    assert middles[1] > middles[0] + 10


@pytest.mark.parametrize(
    ("view", "numbers"), [("front", (0, 0)), ("left", (90.0, 0.0)), ("three-quarter", (-47.5, 15)), ("top", (0, 90))]
)
def test_a_camera_may_be_numbers(biped: Character, view: str, numbers: tuple[float, ...]) -> None:
    assert (shown(biped, camera=view) == shown(biped, camera=numbers)).all()


def test_a_farther_camera_shows_a_smaller_figure(biped: Character) -> None:
    def height(distance: float) -> int:
        bright = shown(biped, camera=(0, 0, distance)).max(axis=-1) > 90
        return int(bright.any(axis=1).sum())

    assert height(5.0) == pytest.approx(2 * height(10.0), rel=0.15)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"camera": "behind"}, r'^camera: expected front, back, .* or \(yaw, pitch, distance\), found "behind"$'),
        ({"camera": (1.0,)}, '^camera: expected yaw, a pitch of -90 to 90 and a distance above 0, found "1"$'),
        ({"camera": (1.0, 91.0)}, 'found "1,91"$'),
        ({"camera": (1.0, 2.0, 0.0)}, 'found "1,2,0"$'),
        ({"camera": (1.0, 2.0, 1.1e7)}, r"^camera: expected a distance of at most 1e\+07 m, found 1.1e\+07$"),
        ({"camera": (float("nan"), 2.0)}, 'found "nan,2"$'),
        ({"size": (0, 10)}, "^size: expected 1 to 8192 pixels either way, found 0 x 10$"),
        ({"size": (10, 8193)}, "found 10 x 8193$"),
        ({"frame": 3}, "^frame 3: expected motion, found a skeleton without frames$"),
        ({"goals": [viewer.Goal.position("Hnad", (0, 1, 0))]}, '^no effector, joint or tip "Hnad"'),
    ],
)
def test_what_cannot_be_drawn_is_refused(biped: Character, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        viewer.render(biped, **more)


def test_a_pose_and_a_frame_contradict_each_other_and_poses_must_fit(biped: Character) -> None:
    with pytest.raises(InputError, match=r"^expected a pose or a frame, found both$"):
        viewer.render(biped, biped.skeleton.rest_pose(), frame=0)
    with pytest.raises(InputError, match=r"^pose: expected .* joints, found 2$"):
        viewer.render(biped, viewer.load("sample:two-link").skeleton.rest_pose())
    walk = viewer.load("sample:walk")
    with pytest.raises(InputError, match="frame"):
        viewer.render(walk, frame=10_000)


def test_goals_are_marked_where_they_are_and_limits_only_when_asked(biped: Character) -> None:
    pose = biped.skeleton.relaxed_pose()
    plain = shown(biped, pose)
    assert (shown(biped, pose, goals=[]) == plain).all()
    hand = viewer.fk(biped.skeleton, pose).positions[biped.skeleton.index("LeftHand")]
    reached = viewer.render(biped, pose, goals=[viewer.Goal.position("LeftHand", hand)], samples=0).astype(int)
    missed = viewer.render(
        biped, pose, goals=[viewer.Goal.position("LeftHand", np.add(hand, (0.3, 0.5, 0)))], samples=0
    )
    amber, violet = np.array([255, 178, 36]), np.array([166, 120, 255])
    assert (np.abs(reached - violet).max(axis=-1) < 8).sum() > 20
    assert (np.abs(reached - amber).max(axis=-1) < 8).sum() == 0
    assert (np.abs(missed.astype(int) - amber).max(axis=-1) < 8).sum() > 40
    assert (shown(biped, pose, limits=True) != plain).any(axis=-1).sum() > 200


@pytest.mark.parametrize("scale", [2e-3, 60.0])
def test_a_tiny_hand_and_a_giant_robot_look_like_a_person(biped: Character, scale: float) -> None:
    skeleton = biped.skeleton
    sized = replace(skeleton, offsets=skeleton.offsets * scale, tip_offsets=skeleton.tip_offsets * scale, poses={})
    apart = np.abs(
        shown(skeleton, skeleton.rest_pose(), camera="front") - shown(sized, sized.rest_pose(), camera="front")
    ).max(axis=-1)
    # The grid's cells are powers of ten, whatever the size: only the figure, above the horizon, is the same.
    assert (apart[: SMALL[1] // 2] > 6).mean() < 0.01


def test_samples_smooth_the_edges(biped: Character) -> None:
    def steps(samples: int) -> int:
        return len(np.unique(viewer.render(biped, size=SMALL, samples=samples).reshape(-1, 3), axis=0))

    assert steps(4) > steps(0)
    assert (viewer.render(biped, size=SMALL, samples=64) == viewer.render(biped, size=SMALL, samples=4)).mean() > 0.5


def test_any_thread_may_draw_and_the_contexts_of_others_stay_as_they_are(biped: Character) -> None:
    here = viewer.render(biped, size=SMALL)
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(viewer.render(biped, size=SMALL))) for _ in range(3)]
    with context() as ctx:
        buffer = ctx.buffer(b"kept")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert buffer.read() == b"kept"
        assert ctx.error == "GL_NO_ERROR"
    assert len(found) == 3
    assert all((picture == here).all() for picture in found)


def test_a_driver_that_gives_up_is_a_machine_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError("the framebuffer is not complete")

    monkeypatch.setattr("viewer.opengl.gpu_objects.RenderTarget.sized", exhausted)
    with pytest.raises(MachineError, match=r"^the graphics driver cannot draw 320 x 240 pixels \(the framebuffer is"):
        render_image(NOTHING, camera().projection(SIZE))


def test_a_machine_that_cannot_draw_says_so_each_time(monkeypatch: pytest.MonkeyPatch, biped: Character) -> None:
    def refused() -> None:
        raise MachineError("OpenGL is missing")

    renderer.offscreen.cache_clear()
    monkeypatch.setattr(renderer, "create_context", refused)
    for _ in range(2):
        with pytest.raises(MachineError, match=r"^OpenGL is missing$"):
            viewer.render(biped, size=SMALL)


def test_large_pictures_are_drawn_and_their_memory_is_given_back() -> None:
    projection = camera().projection((3000, 1500))
    picture = render_image(replace(NOTHING, spheres=spheres(((0, 0, 0), 0.3, WHITE))), projection)
    assert picture.shape == (1500, 3000, 3)
    assert picture[750, 1500].min() > 100
    made = renderer.offscreen()
    assert made._target._framebuffer is None


def test_bodies_and_objects_are_drawn_in_view_on_their_floor() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    pose = skeleton.relaxed_pose()
    ball = viewer.Sphere("ball", (1.5, 0.4, 0.0), 0.3)
    contact = viewer.Contact(floor=-0.2, objects=[ball, viewer.Box("box", (-1.5, 0.4, 0.0), (0.4, 0.4, 0.4))])
    scene = scene_of(skeleton, pose, body="capsules", contact=contact)
    assert scene.floor == -0.2
    projection = camera_of("front", scene, skeleton, (300, 200)).projection((300, 200))
    found = draw_list(scene, projection)
    assert not found.sticks
    assert len(found.capsules) == len(bodies_of(skeleton).capsules) + 1
    assert len(found.solids) == 36
    for side in (-0.3, 0.3):
        assert projection.inside(projection.project(np.array([(1.5 + side, 0.4, 0.0)]))).all()
    view = Camera(np.array([0.0, 0.8, 0.0]), distance=6.0)
    bones, bodies, all_ = (
        shown(skeleton, pose, camera=view, body=body, contact=which)
        for body, which in (("sticks", None), ("capsules", None), ("capsules", contact))
    )
    assert (bones != bodies).any()
    assert (bodies != all_).any()
