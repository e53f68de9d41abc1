"""Films of a character, and of the answers of several methods: a camera has all of the motion in view.

    moving = make_film(character, size=(1280, 720))
    write_video(moving, "walk.mp4", fps=moving.fps)

Drawing uses its own thread and OpenGL context, so that a caller such as a window keeps the context of its thread.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError
from viewer.formats.file_formats import FASTEST_FPS, SLOWEST_TURN, STILL_FPS, STILL_TURN, playable_fps
from viewer.formats.lab_report import CURVES, amount
from viewer.formats.video import write_video
from viewer.ik.contact import Contact, Object
from viewer.ik.goals import Goal
from viewer.ik.lab import Trace, Traces, farthest_goal
from viewer.opengl.pictures import (
    LEAST,
    camera_of,
    check_size,
    render_image,
    scale_of,
    scene_of,
    seen_points,
    skeleton_of,
)
from viewer.scene import GRID_REACH, Body, Camera, Scene, Text, draw_list, figure_points, props_of, rgba, seen_joints
from viewer.scene.scene import method_ghosts
from viewer.skeleton import Character, Clip, Pose, Skeleton, Skin, fk, fk_clip, tip_positions
from viewer.spatial.checks import Floats

__all__ = ["Film", "film_traces", "make_film", "playable_fps", "render_traces"]

FIT = 1.16
"""Size of the picture relative to the extent of the motion in it."""
_ROUNDS = 6
_LEVEL = 0.05
"""A view counts as one from straight above or below if the cosine of its pitch is smaller."""

_BLOCK = 1 << 14
"""Points processed together, so that long clips take no more memory than short ones."""
_AROUND = 100
"""Directions besides the axes, each taken both ways, in which the outermost points are searched. Points between these
directions exceed them by less than 3 % of the bounding box, which is less than the view's margin."""
_TURNS = 24
"""Steps of a full turn; a multiple of 4, so that the centre of the rotated points is on the axis."""

_SKIN_FRAMES = 48
"""Most frames at which the extent of a skin is measured."""

Picture = NDArray[np.uint8]

_AHEAD = 3
"""Pictures that may wait for the encoder."""
_PAUSE = 0.005
"""Seconds that a step waits for a slow encoder; short enough to fit between two frames of a window."""


def fit_camera(camera: Camera, points: Floats, size: tuple[int, int], *, upright: bool = False) -> Camera:
    """A camera moved, not turned, such that points are in view with equal margins at opposite edges of the picture.

    With perspective near points take more room, so the centre of the picture is not the centre of the points in space,
    which `Camera.frame` takes. The points (N, 3) are around the camera's target, which is moved only up and down if
    ``upright``, for a turntable.
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
    """A camera moved up or down, and as near as possible."""
    offsets = points - camera.target
    _, over = _slopes(camera, size)
    above = _room(offsets @ camera.up, over * (offsets @ camera.back))[1]
    steep = math.cos(camera.pitch)
    rise = above / steep if steep > _LEVEL else 0.0
    moved = replace(camera, target=camera.target + np.array([0.0, rise, 0.0]))
    return replace(moved, distance=_distance(moved, points, size))


def _distance(camera: Camera, points: Floats, size: tuple[int, int]) -> float:
    """The smallest distance at which all points are in view, with an unchanged target."""
    offsets = points - camera.target
    near = offsets @ camera.back
    across, over = _slopes(camera, size)
    sides = np.abs(offsets @ camera.right) / across, np.abs(offsets @ camera.up) / over
    return float((np.maximum(*sides) + near).max())


def _room(aside: Floats, nearer: Floats) -> tuple[float, float]:
    """Half of the extent between two opposite edges, and its centre."""
    most, least = float((nearer + aside).max()), float((nearer - aside).max())
    return 0.5 * (most + least), 0.5 * (most - least)


def _middle(places: Floats, depths: Floats, start: float) -> float:
    """The centre that gives points with offsets (N,) and depths (N,) equal margins on both sides."""
    middle = start
    for _ in range(_ROUNDS):
        slopes = (places - middle) / depths
        most, least = int(np.argmax(slopes)), int(np.argmin(slopes))
        middle += float((slopes[most] + slopes[least]) / (1.0 / depths[most] + 1.0 / depths[least]))
    return middle


def _slopes(camera: Camera, size: tuple[int, int]) -> tuple[float, float]:
    """Half width and half height of the view without its margin, per metre of distance."""
    over = math.tan(0.5 * camera.fov_y) / FIT
    return over * max(size[0], 1) / max(size[1], 1), over


def swept_points(skeleton: Skeleton, clip: Clip, skin: Skin | None = None) -> Floats:
    """(N, 3) metres: the outermost joints and end sites over all frames; N does not grow with the number of frames.

    Of a skin the outermost vertices count, too, at some frames.
    """
    step = max(1, _BLOCK // max(1, len(skeleton) + len(skeleton.tip_parents)))
    seen = seen_joints(skeleton, skin)
    ends = seen[skeleton.tip_parents]
    kept = np.empty((0, 3))
    for first in range(0, len(clip), step):
        world = fk_clip(skeleton, clip, slice(first, first + step))
        places = np.concatenate([world.positions[:, seen], tip_positions(skeleton, world)[:, ends]], axis=1).reshape(
            -1, 3
        )
        points = np.concatenate([kept, places])
        kept = outermost(points[np.isfinite(points).all(axis=1)])
    if skin is not None:
        frames = np.unique(np.linspace(0, len(clip) - 1, _SKIN_FRAMES).round().astype(int)).tolist()
        worlds = [fk(skeleton, clip.pose(frame)) for frame in frames]
        kept = outermost(np.concatenate([kept, *(figure_points(skeleton, world, skin) for world in worlds)]))
    return kept


def outermost(points: Floats) -> Floats:
    """(M, 3) those of the points (N, 3) that are farthest in one of many directions, including the axes."""
    if not len(points):
        return points
    # Scaled to a cube, so that for a long walk left and right count as much as its ends.
    sides = np.ptp(points, axis=0)
    along = points / np.where(sides > 0.0, sides, 1.0) @ _directions().T
    farthest = np.concatenate([np.argmax(along, axis=0), np.argmin(along, axis=0)])
    return np.asarray(points[np.unique(farthest)])


def turned_round(points: Floats, axis: Floats) -> Floats:
    """Copies of points (N, 3) rotated about the vertical line through ``axis`` (3,) in `_TURNS` steps."""
    steps = [2.0 * math.pi * number / _TURNS for number in range(_TURNS)]
    x, y, z = (points - axis).T
    turned = [np.stack([math.cos(t) * x + math.sin(t) * z, y, math.cos(t) * z - math.sin(t) * x], 1) for t in steps]
    return np.asarray(np.concatenate(turned) + axis)


def middle(points: Floats) -> Floats:
    """(3,) centre of the bounding box of points (N, 3)."""
    return np.asarray(0.5 * (points.min(axis=0) + points.max(axis=0)))


def _directions() -> Floats:
    """(D, 3) unit vectors: the axes, and an evenly spaced spiral from the pole to the equator."""
    number = np.arange(_AROUND)
    height = 1.0 - (number + 0.5) / _AROUND
    turn = number * math.pi * (3.0 - math.sqrt(5.0))
    level = np.sqrt(1.0 - height * height)
    spiral = np.stack([level * np.cos(turn), height, level * np.sin(turn)], axis=1)
    return np.concatenate([np.eye(3), spiral])


@dataclass(frozen=True, slots=True, eq=False)
class Film:
    """The pictures of a film; each is drawn on demand, in any order.

    Attributes:
        count: number of pictures.
        fps: pictures per second.
        size: (width, height) in pixels.
        scene: the scene of each picture, by its number from 0.
        camera: the camera of each picture.
        disc: x, z and radius in metres of the grid on the ground in all pictures; None: around the figure.
        samples: per pixel, for smooth edges; 0 for none.
        texts: written over each picture, by its number and the scale of texts; None: nothing.
    """

    count: int
    fps: float
    size: tuple[int, int]
    scene: Callable[[int], Scene]
    camera: Callable[[int], Camera]
    disc: tuple[float, float, float] | None = None
    samples: int = 4
    texts: Callable[[int, float], Sequence[Text]] | None = None

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        """All pictures in order, each drawn when it is requested."""
        return (self.picture(number) for number in range(self.count))

    @property
    def seconds(self) -> float:
        """Duration."""
        return self.count / self.fps

    def picture(self, number: int) -> NDArray[np.uint8]:
        """Red, green, blue (H, W, 3) of one picture, the top row first.

        Raises:
            MachineError: the machine cannot draw; the line names the cure.
        """
        scale = scale_of(self.size)
        projection = self.camera(number).projection(self.size)
        listed = draw_list(self.scene(number), projection, scale)
        if self.disc is not None:
            listed = replace(listed, ground=replace(listed.ground, disc=self.disc))
        if self.texts is not None:
            listed = replace(listed, texts=(*listed.texts, *self.texts(number, scale)))
        return render_image(listed, projection, self.samples, scale)


def make_film(
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
    body: Body = "skin",
    contact: Contact | None = None,
    objects: Callable[[int], Sequence[Object]] | None = None,
) -> Film:
    """A film of a character's motion, or of a pose on a turntable.

    The camera is fixed, or circles at a constant height and distance, and has all of the motion in view.

    Args:
        character: its first clip is played; without motion its relaxed pose is shown.
        pose: shown instead of the motion.
        frames: of the clip, counted from 0; default all.
        fps: pictures per second; the motion is resampled and keeps its duration. Default: the clip's own rate.
        size: (width, height) of the pictures.
        camera: as in `viewer.render`; a turntable begins there.
        goals: shown as marks, as in `viewer.render`.
        limits: show the ranges of the joints, and highlight joints at a limit.
        turntable: circle the figure once during the motion (a pose: in `STILL_TURN` seconds), or once in this number
            of seconds, several times during a longer motion.
        samples: per pixel, for smooth edges; 0 for none.
        body: as in `viewer.render`.
        contact: its objects are drawn, and the ground at its floor.
        objects: gives the objects beside the character at a frame of its clip, such as `viewer.Physics.objects_at`.

    Raises:
        InputError: neither motion nor turntable; invalid frames, rate, turn, size or camera; both a pose and frames.
    """
    check_size(size)
    _check(fps, turntable)
    clip = _clip(character, pose, frames, fps)
    marked = tuple(goals or ())
    if clip is None and not turntable:
        raise InputError("expected a motion or a turntable, found a still pose")
    original, started = character.clip if isinstance(character, Character) else None, frames.start if frames else 0
    stood = clip.pose(0) if clip is not None else pose or skeleton_of(character).relaxed_pose()

    def posed(pose: Pose, frame: int | None) -> Scene:
        drawn = scene_of(character, pose, goals=marked, limits=limits, body=body, contact=contact, frame=frame)
        around = () if objects is None or frame is None else props_of(objects(frame))
        return replace(drawn, props=(*drawn.props, *around)) if around else drawn

    first = posed(stood, None if clip is None else started)

    def scene(number: int) -> Scene:
        if clip is None:
            return first
        assert original is not None
        at = started + round(number * clip.frame_time / original.frame_time)
        return posed(clip.pose(number), min(at, len(original) - 1))

    skin = first.skin if first.shows_skin else None
    points = seen_points(first, None if clip is None else swept_points(first.skeleton, clip, skin))
    rate = fps or (STILL_FPS if clip is None else 1.0 / clip.frame_time)
    lasts = STILL_TURN if clip is None else len(clip) / rate
    turn = lasts if turntable is True else float(turntable)
    count = max(1, round(rate * turn)) if clip is None else len(clip)
    points = turned_round(points, middle(points)) if turntable else points
    view = camera_of(camera, first, character, size, points)
    if not _given(camera) and np.linalg.norm(np.ptp(points, axis=0)) > LEAST * first.height:
        view = fit_camera(view, points, size, upright=bool(turntable))
    step = 2.0 * math.pi / (rate * turn) if turntable else 0.0
    return Film(
        count=count,
        fps=rate,
        size=size,
        scene=scene,
        camera=lambda number: view.turned(number * step, 0.0) if step else view,
        disc=disc_under(points, first.height),
        samples=samples,
    )


def _check(fps: float | None, turntable: bool | float) -> None:
    if fps is not None and not 0.0 < fps <= FASTEST_FPS:
        raise InputError(f"frames per second: expected more than 0 and at most {FASTEST_FPS:g}, found {fps:g}")
    if not isinstance(turntable, bool) and not 0.0 < turntable <= SLOWEST_TURN:
        raise InputError(f"turntable: expected more than 0 and at most {SLOWEST_TURN:g} seconds, found {turntable:g}")


def _given(camera: str | tuple[float, ...] | Camera) -> bool:
    """Whether the camera's distance is given."""
    return isinstance(camera, Camera) or (not isinstance(camera, str) and len(camera) > 2)


def _clip(character: Character | Skeleton, pose: Pose | None, frames: range | None, fps: float | None) -> Clip | None:
    """The clip to play; None for a still pose."""
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
    """The grid's disc: below all points, and as far beyond them as in a still picture."""
    x, _, z = middle(points).tolist()
    half = 0.5 * np.ptp(points[:, [0, 2]], axis=0)
    return x, z, GRID_REACH * height + max(float(np.hypot(*half)) - 0.5 * height, 0.0)


LAB_SIZE = (960, 720)
PER_SECOND = 10.0
"""Iterations a second of a film, whose last one stays for a second."""
_LEGEND_MARGIN, _LEGEND_ROW = 24.0, 22.0
"""Logical pixels of the legend."""


def render_traces(character: Character | Skeleton, traces: Traces) -> NDArray[np.uint8]:
    """Draw the answers of a laboratory: the first method's figure, those of the others as ghosts with their letters.

    Args:
        character: whose skeleton the traces are of.
        traces: at least one.

    Returns:
        As `viewer.render`.

    Raises:
        MachineError: as `viewer.render`.
    """
    scene, scale = _lab_scene(character, traces, traces.iterations), scale_of(LAB_SIZE)
    projection = camera_of("three-quarter", scene, character, LAB_SIZE).projection(LAB_SIZE)
    drawn = draw_list(scene, projection, scale)
    legend = _legend(traces, traces.iterations, scale)
    return render_image(replace(drawn, texts=(*drawn.texts, *legend)), projection, 4, scale)


def film_traces(character: Character | Skeleton, traces: Traces) -> Film:
    """The film of a laboratory: a picture an iteration, as `render_traces` draws the last one.

    Args:
        character: whose skeleton the traces are of.
        traces: at least one.
    """
    last = traces.iterations
    first, end = _lab_scene(character, traces, 0), _lab_scene(character, traces, last)
    worlds = [fk(traces.skeleton, trace.at(k).pose) for trace in traces.each for k in range(last + 1)]
    points = seen_points(end, np.concatenate([world.positions for world in worlds]))
    camera = camera_of("three-quarter", first, character, LAB_SIZE, points)

    def texts(number: int, scale: float) -> list[Text]:
        iteration = min(number, last)
        counted = _legend_line(f"Iteration {iteration} of {last}", "text2", len(traces.each), scale)
        return [*_legend(traces, iteration, scale), counted]

    return Film(
        count=last + round(PER_SECOND),
        fps=PER_SECOND,
        size=LAB_SIZE,
        scene=lambda number: _lab_scene(character, traces, min(number, last)),
        camera=lambda _: camera,
        disc=disc_under(points, first.height),
        texts=texts,
    )


def _lab_scene(character: Character | Skeleton, traces: Traces, iteration: int) -> Scene:
    first, *others = traces.each
    scene = scene_of(character, first.at(iteration).pose, goals=first.solver.goals)
    worlds = (fk(traces.skeleton, trace.at(iteration).pose) for trace in others)
    lettered = zip(CURVES[1:], worlds, strict=False)
    ghosts = method_ghosts(traces.skeleton, scene.world, lettered, farthest_goal(first), scene.height)
    return replace(scene, ghosts=ghosts)


def _legend(traces: Traces, iteration: int, scale: float) -> list[Text]:
    """A line a method: its letter, how far it is, and how it ended."""
    lines = [
        (f"{curve.letter}  {_legend_words(trace, iteration)}", curve.ink)
        for curve, trace in zip(CURVES, traces.each, strict=False)
    ]
    return [_legend_line(words, ink, row, scale) for row, (words, ink) in enumerate(lines)]


def _legend_line(words: str, ink: str, row: int, scale: float) -> Text:
    return Text(words, _LEGEND_MARGIN * scale, (_LEGEND_MARGIN + _LEGEND_ROW * row) * scale, rgba(ink), 15)


def _legend_words(trace: Trace, iteration: int) -> str:
    words = f"{trace.method}: {amount(trace.error(iteration), metres=trace.in_metres)}"
    return words if iteration < trace.last.iterations else f"{words}, {trace.how}"


class _Cancelled(Exception):  # noqa: N818 - not an error
    """Ends the writer's thread without replacing the old file."""


class Filming:
    """Writes a film, encoded on another thread; to be used by one thread. On exit it cancels an unfinished film.

    A window calls `step` between its own frames, shows the progress, and can cancel at any time:

        filming = Filming(make_film(character), "walk.mp4")
        while filming.step():
            show(filming.done, filming.total)   # or filming.cancel()

    Attributes:
        done: pictures drawn so far.
        total: pictures of the film.
        written: pictures in the file once it is finished, 0 before.
        kept: numbered pictures that are finished; they stay if the film is cancelled.
    """

    def __init__(self, film: Film, file: str | os.PathLike[str]) -> None:
        """Begin; ``file`` is .mp4, .gif, or .png with a field for the picture's number, as in `write_video`."""
        self.done, self.total, self.written, self.kept = 0, len(film), 0, 0
        self._film, self._file = film, file
        self._pictures: SimpleQueue[Picture | _Cancelled | None] = SimpleQueue()
        self._problem: BaseException | None = None
        self._begun = threading.Event()
        self._ended = threading.Event()  # until Python 3.13 a thread whose `join` was interrupted counts as dead
        threading.Thread(target=self._write, name="ikviewer-filming", daemon=True).start()
        self._wait()

    def step(self) -> bool:
        """Draw the next picture, unless the encoder is behind; takes about as long as drawing a picture.

        Returns:
            Whether there is more to do.

        Raises:
            InputError: an unknown suffix, or a rate that the format does not support.
            MachineError: the machine cannot draw, or has no ffmpeg.
            OutputError: the file cannot be written; an old file stays as it was.
        """
        if not self._ended.is_set():
            if self.done == self.total or self._pictures.qsize() >= _AHEAD:
                self._ended.wait(_PAUSE)
            else:
                self._draw()
        if not self._ended.is_set():
            return True
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
        return False

    def cancel(self) -> None:
        """Stop: an old file stays as it was; numbered pictures that are finished stay."""
        self._pictures.put(_Cancelled())
        self._ended.wait()
        self._problem = None

    def __enter__(self) -> Filming:  # noqa: PYI034 - nothing inherits from it
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel an unfinished film."""
        if not self._ended.is_set():
            self.cancel()

    def _wait(self) -> None:
        """Wait until the writer requests pictures or has failed, so that no picture is drawn unnecessarily."""
        self._begun.wait()
        if self._problem is not None:
            self._ended.wait()

    def _draw(self) -> None:
        try:
            self._pictures.put(self._film.picture(self.done))
        except BaseException:
            self.cancel()
            raise
        self.done += 1
        if self.done == self.total:
            self._pictures.put(None)

    def _write(self) -> None:
        try:
            # Numbered pictures have no rate: those of motion captured at 1000 frames per second can be written too.
            fps = min(self._film.fps, FASTEST_FPS) if Path(self._file).suffix.casefold() == ".png" else self._film.fps
            self.written = write_video(self._taken(), self._file, fps=fps)
        except _Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where the steps are taken
            self._problem = error
        finally:
            self._begun.set()
            self._ended.set()

    def _taken(self) -> Iterator[Picture]:
        """The pictures from the queue."""
        self._begun.set()
        numbered = Path(self._file).suffix.casefold() == ".png"
        while (picture := self._pictures.get()) is not None:
            if isinstance(picture, _Cancelled):
                raise picture
            yield picture
            self.kept += numbered  # the writer requests the next picture after writing this one
