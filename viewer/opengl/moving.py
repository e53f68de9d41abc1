"""Moving pictures of a character, drawn one at a time, by cameras that have all of the motion in view.

    moving = movie(character, size=(1280, 720))
    write_video(moving, "walk.mp4", fps=moving.fps)

Drawing has a thread and an OpenGL context of its own: the caller, a window between two of its
frames too, keeps the context that is current on its own thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError
from viewer.formats.video import FASTEST, SLOWEST_TURN, STILL_FPS, STILL_TURN, playable_fps
from viewer.ik.goals import Goal
from viewer.opengl.floor import REACH
from viewer.opengl.offscreen import check_size, render_image
from viewer.opengl.picture import LEAST, camera_of, scene_of, seen_points
from viewer.scene.camera import Camera
from viewer.scene.drawlist import draw_list
from viewer.scene.scene import Scene
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.kinematics import fk_clip, tip_positions
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

FIT = 1.16
"""How many times larger than what is seen the picture is."""
_ROUNDS = 6
_LEVEL = 0.05
"""Cosine of the pitch from which on a view counts as one from straight above or below."""


def fitted(camera: Camera, points: Floats, size: tuple[int, int], *, upright: bool = False) -> Camera:
    """A camera moved, not turned, so that points are in view with the same room at opposite edges of the picture.

    A figure that comes near grows: the middle of what it sweeps over in the picture is not that of the places where it
    was, which is what `Camera.frame` takes.

    Args:
        camera: with perspective; its target is among the points.
        points: (N, 3) metres, at least one.
        size: (width, height) of the picture in pixels.
        upright: move the target up and down only, to go round it: points are the same from all sides.
    """
    if upright:
        return _round_axis(camera, points, size)
    offsets = points - camera.target
    right, up, near = offsets @ camera.right, offsets @ camera.up, offsets @ camera.back
    across, over = _slopes(camera, size)
    # A point is in view where right + across * near <= across * distance, and so to the left, up and down.
    wide, high = _room(right, across * near)[0] / across, _room(up, over * near)[0] / over
    distance = max(wide, high)
    depths = distance - near
    aside = _middle(right, depths, _room(right, across * near)[1])
    above = _middle(up, depths, _room(up, over * near)[1])
    return replace(camera, target=camera.target + aside * camera.right + above * camera.up, distance=distance)


def _round_axis(camera: Camera, points: Floats, size: tuple[int, int]) -> Camera:
    """Moved up or down, and as near as all points allow."""
    offsets = points - camera.target
    _, over = _slopes(camera, size)
    above = _room(offsets @ camera.up, over * (offsets @ camera.back))[1]
    steep = math.cos(camera.pitch)
    rise = above / steep if steep > _LEVEL else 0.0
    moved = replace(camera, target=camera.target + np.array([0.0, rise, 0.0]))
    return replace(moved, distance=_distance(moved, points, size))


def _distance(camera: Camera, points: Floats, size: tuple[int, int]) -> float:
    """The least distance from a target that stays where it is."""
    offsets = points - camera.target
    near = offsets @ camera.back
    across, over = _slopes(camera, size)
    sides = np.abs(offsets @ camera.right) / across, np.abs(offsets @ camera.up) / over
    return float((np.maximum(*sides) + near).max())


def _room(aside: Floats, nearer: Floats) -> tuple[float, float]:
    """Half of what has to fit between two opposite edges, and where its middle is."""
    most, least = float((nearer + aside).max()), float((nearer - aside).max())
    return 0.5 * (most + least), 0.5 * (most - least)


def _middle(places: Floats, depths: Floats, start: float) -> float:
    """Where to look so that there is as much room on both sides of what is (N,) aside and (N,) deep in the view."""
    middle = start
    for _ in range(_ROUNDS):
        slopes = (places - middle) / depths
        most, least = int(np.argmax(slopes)), int(np.argmin(slopes))
        middle += float((slopes[most] + slopes[least]) / (1.0 / depths[most] + 1.0 / depths[least]))
    return middle


def _slopes(camera: Camera, size: tuple[int, int]) -> tuple[float, float]:
    """How far the view reaches to the side and up, less its margin, per metre of distance."""
    over = math.tan(0.5 * camera.fov_y) / FIT
    return over * max(size[0], 1) / max(size[1], 1), over


_BLOCK = 1 << 14
"""Places looked at together, so that long clips take no more memory than short ones."""
_AROUND = 100
"""Directions besides the axes in which, both ways, the outermost places are looked for. What lies between them sticks
out by less than 3 % of the box round all, and a view has more room than that round it."""
_TURNS = 24
"""A multiple of 4, so that the middle of what was turned all the way round is on the axis."""


def swept_points(skeleton: Skeleton, clip: Clip) -> Floats:
    """(N, 3) metres: the outermost joints and end sites of all frames, few however many frames there are.

    Args:
        skeleton: whose clip it is.
        clip: at least one frame.
    """
    step = max(1, _BLOCK // max(1, len(skeleton) + len(skeleton.tip_parents)))
    kept = np.empty((0, 3))
    for first in range(0, len(clip), step):
        world = fk_clip(skeleton, clip, slice(first, first + step))
        places = np.concatenate([world.positions, tip_positions(skeleton, world)], axis=1).reshape(-1, 3)
        points = np.concatenate([kept, places])
        kept = outermost(points[np.isfinite(points).all(axis=1)])
    return kept


def outermost(points: Floats) -> Floats:
    """(M, 3) of points (N, 3) those that are farthest in one of many directions; the axes are among these."""
    if not len(points):
        return points
    # As if they filled a cube: of someone who walks far the left and right count as much as the ends of the way.
    sides = np.ptp(points, axis=0)
    along = points / np.where(sides > 0.0, sides, 1.0) @ _directions().T
    farthest = np.concatenate([np.argmax(along, axis=0), np.argmin(along, axis=0)])
    return np.asarray(points[np.unique(farthest)])


def turned_round(points: Floats, axis: Floats) -> Floats:
    """(N, 3) points turned all the way about the upright line through ``axis`` (3,), a step at a time."""
    steps = [2.0 * math.pi * number / _TURNS for number in range(_TURNS)]
    x, y, z = (points - axis).T
    turned = [np.stack([math.cos(t) * x + math.sin(t) * z, y, math.cos(t) * z - math.sin(t) * x], 1) for t in steps]
    return np.asarray(np.concatenate(turned) + axis)


def middle(points: Floats) -> Floats:
    """(3,) the middle of the box round points (N, 3)."""
    return np.asarray(0.5 * (points.min(axis=0) + points.max(axis=0)))


def _directions() -> Floats:
    """(D, 3) unit vectors: along the axes, and a spiral from the pole to the equator, evenly spread."""
    number = np.arange(_AROUND)
    height = 1.0 - (number + 0.5) / _AROUND
    turn = number * math.pi * (3.0 - math.sqrt(5.0))
    level = np.sqrt(1.0 - height * height)
    spiral = np.stack([level * np.cos(turn), height, level * np.sin(turn)], axis=1)
    return np.concatenate([np.eye(3), spiral])


__all__ = ["Movie", "disc_under", "movie", "playable_fps"]

_LOGICAL_HEIGHT = 1080.0
"""Pixels high from which on marks and texts grow with the picture, as in still ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Movie:
    """Pictures that belong together; each is drawn when it is asked for, in whatever order.

    Attributes:
        count: how many there are.
        fps: of them a second.
        size: (width, height) in pixels.
        scene: what there is to see in each, by its number from 0.
        camera: from where.
        disc: x, z and radius in metres of the grid on the ground, the same in all; None for one round the figure.
        samples: per pixel, for smooth edges; 0 for none.
    """

    count: int
    fps: float
    size: tuple[int, int]
    scene: Callable[[int], Scene]
    camera: Callable[[int], Camera]
    disc: tuple[float, float, float] | None = None
    samples: int = 4

    def __len__(self) -> int:
        """How many pictures there are."""
        return self.count

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        """All pictures from the first to the last; a step draws one."""
        return (self.picture(number) for number in range(self.count))

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return self.count / self.fps

    def picture(self, number: int) -> NDArray[np.uint8]:
        """Red, green, blue (H, W, 3) of one picture, the top row first.

        Raises:
            MachineError: the machine cannot draw; the line names the cure.
        """
        scale = max(1.0, self.size[1] / _LOGICAL_HEIGHT)
        projection = self.camera(number).projection(self.size)
        listed = draw_list(self.scene(number), projection, scale)
        if self.disc is not None:
            listed = replace(listed, ground=replace(listed.ground, disc=self.disc))
        return render_image(listed, projection, self.samples, scale)


def movie(
    character: Character | Skeleton,
    pose: Pose | None = None,
    *,
    frames: range | None = None,
    fps: float | None = None,
    size: tuple[int, int] = (640, 480),
    camera: str | tuple[float, ...] | Camera = "three-quarter",
    goals: Iterable[Goal] | None = None,
    limits: bool = False,
    turntable: bool | float = False,
    samples: int = 4,
) -> Movie:
    """A moving picture of a character's motion, or of a pose that is turned round.

    The camera stands still, or goes round at one height and distance, and has all of the motion in view.

    Args:
        character: its first clip is played; one without motion stands in its relaxed pose.
        pose: to stand in, instead of the motion.
        frames: of the clip, counted from 0; all of them unless given.
        fps: pictures a second; the motion is resampled and lasts as long as before. The clip's own rate unless given.
        size: (width, height) of the pictures.
        camera: as of `viewer.render`; where a turn begins.
        goals: shown as marks, as of `viewer.render`.
        limits: show how far the joints can turn, and light those at a limit.
        turntable: go round the figure once while the motion lasts (a pose: in `STILL_TURN` seconds), or once in so
            many seconds: a motion that lasts longer is seen from all sides several times.
        samples: per pixel, for smooth edges; 0 for none.

    Raises:
        InputError: nothing moves and nothing is turned; frames, a rate, a turn, a size or a camera that there is not;
            a pose and frames.
    """
    check_size(size)
    _check(fps, turntable)
    clip = _clip(character, pose, frames, fps)
    marked = tuple(goals or ())
    if clip is None and not turntable:
        raise InputError("expected a motion or a turntable, found a still pose")
    stood = clip.pose(0) if clip is not None else pose or _skeleton(character).relaxed_pose()
    first = scene_of(character, stood, goals=marked, limits=limits)

    def scene(number: int) -> Scene:
        return first if clip is None else scene_of(character, clip.pose(number), goals=marked, limits=limits)

    points = seen_points(first, None if clip is None else swept_points(first.skeleton, clip))
    rate = fps or (STILL_FPS if clip is None else 1.0 / clip.frame_time)
    lasts = STILL_TURN if clip is None else len(clip) / rate
    turn = lasts if turntable is True else float(turntable)
    count = max(1, round(rate * turn)) if clip is None else len(clip)
    points = turned_round(points, middle(points)) if turntable else points
    view = camera_of(camera, first, character, size, points)
    if not _given(camera) and np.linalg.norm(np.ptp(points, axis=0)) > LEAST * first.height:
        view = fitted(view, points, size, upright=bool(turntable))
    step = 2.0 * math.pi / (rate * turn) if turntable else 0.0
    return Movie(
        count=count,
        fps=rate,
        size=size,
        scene=scene,
        camera=lambda number: view.turned(number * step, 0.0) if step else view,
        disc=disc_under(points, first.height),
        samples=samples,
    )


def _check(fps: float | None, turntable: bool | float) -> None:
    if fps is not None and not 0.0 < fps <= FASTEST:
        raise InputError(f"frames per second: expected more than 0 and at most {FASTEST:g}, found {fps:g}")
    if not isinstance(turntable, bool) and not 0.0 < turntable <= SLOWEST_TURN:
        raise InputError(f"turntable: expected more than 0 and at most {SLOWEST_TURN:g} seconds, found {turntable:g}")


def _given(camera: str | tuple[float, ...] | Camera) -> bool:
    """Whether the camera says itself how far away it is."""
    return isinstance(camera, Camera) or (not isinstance(camera, str) and len(camera) > 2)


def _skeleton(character: Character | Skeleton) -> Skeleton:
    return character.skeleton if isinstance(character, Character) else character


def _clip(character: Character | Skeleton, pose: Pose | None, frames: range | None, fps: float | None) -> Clip | None:
    """What is played; None where a pose stands still."""
    clip = character.clip if isinstance(character, Character) else None
    if pose is not None or clip is None or not len(clip):
        if frames is not None:
            raise InputError("expected frames of a motion, found a pose that stands still")
        return None
    if frames is not None and not frames:
        raise InputError("frames: expected at least one, found none")
    if frames is not None:
        clip = clip.frames(frames.start, frames[-1], frames.step)
    return clip if fps is None else clip.resampled(fps)


def disc_under(points: Floats, height: float) -> tuple[float, float, float]:
    """Where the grid is: under all that is seen, and as far beyond it as in a still picture."""
    x, _, z = middle(points).tolist()
    half = 0.5 * np.ptp(points[:, [0, 2]], axis=0)
    return x, z, REACH * height + max(float(np.hypot(*half)) - 0.5 * height, 0.0)
