"""Films of a document or the laboratory: their plan, length, file names and scenes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from viewer.document import Document, frame_pose, joints_at_limit, world_of
from viewer.document.actions import AddClip
from viewer.document.actions.timeline_actions import at_frame
from viewer.document.import_export import baked_character
from viewer.document.key_editing import take_of
from viewer.document.posed_goals import carried
from viewer.errors import plural
from viewer.formats.file_formats import FASTEST_FPS, GIF_FPS, STILL_FPS, STILL_TURN, USUAL_FPS, playable_fps, same_rate
from viewer.ik.contact import Object
from viewer.ik.lab import Trace
from viewer.latest import Latest
from viewer.scene import Camera, Display, Ghost, OtherFigure, Scene, Trail, figure_height, figure_points, props_of
from viewer.scene.scene import method_ghosts
from viewer.session import Session
from viewer.session.figures import StageFigure, State, frame_after
from viewer.session.long_work import LabProblem
from viewer.skeleton import Clip, Pose
from viewer.spatial.checks import Floats
from viewer.ui import drag_targets
from viewer.ui.contact import ground_of, prop_shapes
from viewer.ui.laboratory import PER_SECOND, Laboratory
from viewer.ui.number_format import fixed
from viewer.ui.onion_skin import OnionSettings, ghosts_of, trailed, trails_of
from viewer.ui.scene_builder import goal_marks, other_figure, stretched
from viewer.ui.view import View

FilmFormat = Literal["mp4", "gif", "png"]
FILM_FORMATS: tuple[FilmFormat, ...] = get_args(FilmFormat)

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}

PARTS = ("grid", "names", "goals", "limits", "ghosts", "trails")
"""Parts that can be shown besides the figure."""

ObjectsAt: TypeAlias = Callable[[int], Sequence[Object]]
"""The objects beside the figure at a frame."""

DIGITS = 4
"""Digits of picture numbers, unless the name states them."""

_HASHES = re.compile(r"#+")
_PLACE = re.compile(r"%0?(\d*)d")

_STYLE = Display()
_GLANCES = 64
"""Most sampled frames when checking that a motion stays in view."""


@dataclass(frozen=True, slots=True)
class FilmPlan:
    """Settings of a film.

    Attributes:
        size: (width, height) of the pictures, pixels.
        frames: first and last frame; None: the pose shown, on a turntable.
        fps: pictures per second.
        seconds: length of the film of a pose.
        turntable: whether the camera orbits once during the film.
        whole: whether the camera is moved so that all of the motion is in view; else the window's view is used.
        parts: of `PARTS`, shown besides the figure.
    """

    size: tuple[int, int]
    frames: tuple[int, int] | None
    fps: float
    seconds: float = STILL_TURN
    turntable: bool = False
    whole: bool = False
    parts: frozenset[str] = frozenset({"grid"})


class FilmOrder(NamedTuple):
    """A request for a film by a plan; the path of numbered pictures has a placeholder for the number."""

    plan: FilmPlan
    path: Path


class ShownMotion(NamedTuple):
    """What a film shows and an export writes.

    Attributes:
        document: the active figure's.
        beside: the other figures, placed as the active one sees them, which play on the same clock.
        objects: the objects at a frame, instead of the document's props; None: the props.
        ghosts: the figure by other methods at a frame, while targets stay as in the document; None: it is a motion.
    """

    document: Document
    beside: Sequence[StageFigure] = ()
    objects: ObjectsAt | None = None
    ghosts: Callable[[int], tuple[Ghost, ...]] | None = None


@dataclass(slots=True)
class FilmProgress:
    """Progress of a film.

    Attributes:
        name: of its file.
        total: number of pictures.
        done: pictures drawn so far.
        left: estimated seconds left; None: unknown.
        closes: whether the window closes afterwards.
    """

    name: str
    total: int
    done: int = 0
    left: float | None = None
    closes: bool = False

    @property
    def words(self) -> str:
        """Text of the progress: ``23 of 68``."""
        return f"{self.done} of {self.total}"

    @property
    def left_words(self) -> str:
        """Text of the time left: ``12 s left``; minutes from two minutes on."""
        return "writing the file" if self.done == self.total else left_words(self.left)


def left_words(seconds: float | None) -> str:
    """``12 s left``; minutes from two minutes on; "" where it is unknown."""
    if seconds is None:
        return ""
    return f"{max(1, round(seconds))} s left" if seconds < 120.0 else f"{round(seconds / 60.0)} min left"


def form_of(name: str) -> FilmFormat | None:
    """The format by the suffix of a file name, or None."""
    return next((form for form in FILM_FORMATS if name.casefold().endswith(f".{form}")), None)


def ranges(document: Document) -> tuple[tuple[int, int] | None, ...]:
    """Ranges that a film can show: the played range, all frames if that is more, and the pose (None)."""
    if not document.has_motion:
        return (None,)
    every = (0, document.frames - 1)
    return (document.played, None) if document.played == every else (document.played, every, None)


def default_rate(document: Document, frames: tuple[int, int] | None, form: FilmFormat) -> float:
    """Default pictures per second: the take's rate, or the largest part of it that players support."""
    if frames is None:
        return min(STILL_FPS, USUAL_FPS.get(f".{form}", STILL_FPS))
    rate = 1.0 / document.frame_time
    most = USUAL_FPS.get(f".{form}")
    return rate if most is None else playable_fps(rate, most)


def fastest(form: FilmFormat) -> float:
    """Highest pictures per second of a format."""
    return GIF_FPS if form == "gif" else FASTEST_FPS


def rate_words(document: Document, plan: FilmPlan, form: FilmFormat, own: str = "the take's own") -> str:
    """Explanation of a rate: ``own`` if it is the motion's, ``every 2nd frame of 60 fps``."""
    if plan.frames is None:
        return f"GIF: {GIF_FPS:g} at most" if form == "gif" else ""
    rate = 1.0 / document.frame_time
    if same_rate(plan.fps, rate):
        return own
    step = round(rate / plan.fps)
    if step > 1 and same_rate(plan.fps, rate / step):
        return f"every {ordinal(step)} frame of {rate:.4g} fps"
    return f"resampled from {rate:.4g} fps"


def ordinal(number: int) -> str:
    """English ordinal: ``2nd``, ``3rd``, ``12th``, ``21st``."""
    teens = number // 10 % 10 == 1
    return f"{number}{'th' if teens else _ENDINGS.get(number % 10, 'th')}"


def resampled(document: Document, plan: FilmPlan) -> bool:
    """Whether the pictures are not at the times of frames."""
    return plan.frames is not None and not same_rate(plan.fps, 1.0 / document.frame_time)


def count(document: Document, plan: FilmPlan) -> int:
    """Number of pictures of a film."""
    if plan.frames is None:
        return max(1, round(plan.seconds * plan.fps))
    frames = plan.frames[1] - plan.frames[0] + 1
    return max(1, round(frames * document.frame_time * plan.fps)) if resampled(document, plan) else frames


def length_words(pictures: int, fps: float, size: tuple[int, int] | None = None) -> str:
    """Text of a length: ``68 pictures, 2.27 s``, or with a size ``68 pictures of 1280 x 720, 2.27 s``."""
    what = plural(pictures, "picture")
    return f"{what}{f' of {size_words(size)}' if size else ''}, {fixed(pictures / fps, 2)} s"


def size_words(size: tuple[int, int]) -> str:
    """Text of a size: ``1280 x 720``, with a multiplication sign."""
    return f"{size[0]} \N{MULTIPLICATION SIGN} {size[1]}"


def film_name(typed: str, form: FilmFormat) -> str:
    """A file name with the suffix of a format; for pictures with a placeholder as in C: ``walk_%04d.png``.

    A row of ``#`` is a placeholder, too; without one, four digits are appended.
    """
    stem = without_suffix(typed.strip())
    if form != "png":
        return f"{stem}.{form}"
    if len(_PLACE.findall(stem)) != 1 or stem.count("%") != 1:
        rows = _HASHES.findall(stem)
        stem = stem.replace("%", "%%")
        stem = stem.replace(rows[-1], f"%0{len(rows[-1])}d", 1) if len(rows) == 1 else f"{stem}_%0{DIGITS}d"
    return f"{stem}.{form}"


def without_suffix(name: str) -> str:
    """A name without the suffix of a film format."""
    form = form_of(name)
    return name[: -len(form) - 1] if form else name


def shown_name(name: str, form: FilmFormat) -> str:
    """The name as shown and typed: ``walk.mp4``, ``walk_####.png``; from a name with or without suffix."""
    whole = film_name(name, form)
    if form != "png":
        return whole
    return _PLACE.sub(lambda found: "#" * int(found.group(1) or 1), whole).replace("%%", "%")


def renamed(typed: str, form: FilmFormat) -> str:
    """The typed name for another format; adds or removes the placeholder."""
    stem = without_suffix(typed.strip())
    if form == "png":
        return shown_name(stem, form)
    return f"{re.sub(r'[_.-]?#+$', '', stem)}.{form}"


def files_of(path: Path, pictures: int) -> list[Path]:
    """The files of a film."""
    if not path.name.casefold().endswith(".png"):
        return [path]
    return [path.with_name(path.name % number) for number in range(pictures)]


def replace_question(path: Path, pictures: int) -> str:
    """The question before existing files are replaced: ``walk.mp4 exists. Replace it?``; "" if none exists."""
    if not path.name.casefold().endswith(".png"):
        return f"{path.name} exists. Replace it?" if path.exists() else ""
    try:
        here = {entry.name for entry in path.parent.iterdir()}
    except OSError:  # writing reports errors of the folder
        return ""
    found = [file.name for file in files_of(path, pictures) if file.name in here]
    if len(found) == 1:
        return f"{found[0]} exists. Replace it?"
    return f"{len(found)} of these {pictures} pictures exist. Replace them?" if found else ""


class FilmScenes:
    """The scenes of a film's pictures.

    The document is that of the film's start; documents never change, so that the window may go on editing. Not
    thread-safe.

    Attributes:
        document: to be filmed.
        plan: its settings.
        clip: the motion at the film's rate; None: the pose is shown.
        count: number of pictures.
    """

    def __init__(self, filmed: ShownMotion, plan: FilmPlan, asked: OnionSettings, style: Display = _STYLE) -> None:
        """Compute all frames of the document; those of other figures are computed one by one.

        ``asked`` are settings of ghosts and trails; ``style`` is the window's, whose shadow and way to draw the film
        has.

        Raises:
            InputError: the document has no such frames.
        """
        document, self._beside, self._objects, self._ghosts = filmed
        self.document, self.plan = document, plan
        self.clip = _clip(document, plan)
        self.count = count(document, plan) if self.clip is None else len(self.clip)
        self._asked = asked
        self._height, self._floor = figure_height(document.skeleton), ground_of(document)
        self._props = prop_shapes(replace(document, selection=()), None)
        self._display = _display(plan.parts, style)
        self._moments = not plan.parts.isdisjoint({"goals", "limits", "ghosts", "trails"})
        self._kept: tuple[int, Document] | None = None

    def pose(self, number: int) -> Pose:
        """The pose of a picture, counted from 0."""
        return self.document.pose if self.clip is None else self.clip.pose(number)

    def _frame(self, number: int) -> int:
        """The frame of the motion that a picture shows, or comes nearest to."""
        if self.clip is None or self.plan.frames is None:
            return self.document.frame
        first, last = self.plan.frames
        return min(first + round(number / (self.plan.fps * self.document.frame_time)), last)

    def moment(self, number: int) -> Document:
        """The document at a picture's time, its goals moved along as during playback."""
        if self.clip is None or self.plan.frames is None:
            return self.document
        if self._kept is None or self._kept[0] != number:
            frame, pose = self._frame(number), self.clip.pose(number)
            solved = self._ghosts is not None
            moment = self.document.with_pose(pose) if solved else carried(self.document, pose, pins=False, frame=frame)
            self._kept = number, moment
        return self._kept[1]

    def scene(self, number: int) -> Scene:
        """The scene of a picture, without selection."""
        skeleton = self.document.skeleton
        skin = self.document.character.skin
        plain = Scene(
            skeleton=skeleton,
            world=world_of(skeleton, self.pose(number)),
            stretched=stretched(self.document),
            limits_on=self.document.limits_on,
            unlimited=self.document.unlimited,
            plane=self.document.planar,
            display=self._display,
            height=self._height,
            floor=self._floor,
            props=self._props if self._objects is None else props_of(self._objects(self._frame(number))),
            skin=skin,
            size=None if skin is None else skin.size_at(self.document.clip, self._frame(number)),
            others=tuple(self._other(one, number) for one in self._beside),
            ghosts=() if self._ghosts is None else self._ghosts(self._frame(number)),
        )
        return self._annotated(plain, self.moment(number)) if self._moments else plain

    def _other(self, figure: StageFigure, number: int) -> OtherFigure:
        """Another figure at a picture's time."""
        document = figure.document
        if self.clip is not None and document.frames:
            seconds = (self._frame(number) - self.document.played[0]) * self.document.frame_time
            figure = replace(figure, state=State(at_frame(document, frame_after(document, seconds))))
        return other_figure(figure)

    def _annotated(self, scene: Scene, document: Document) -> Scene:
        """Add the goals, limits, ghosts and trails that the plan contains."""
        parts = self.plan.parts
        ghosts = scene.ghosts
        trails: tuple[Trail, ...] = ()
        if self.clip is not None and "ghosts" in parts and self._ghosts is None:
            ghosts = ghosts_of(document, self._asked)
        if self.clip is not None and "trails" in parts:
            trails = trails_of(document, trailed(document), self._asked)
        limited = joints_at_limit(document) if "limits" in parts else ()
        return replace(
            scene,
            marks=goal_marks(document) if "goals" in parts else (),
            at_limit=frozenset(document.skeleton.index(name) for name in limited),
            ghosts=ghosts,
            trails=trails,
        )

    def selected(self, number: int) -> Floats | None:
        """(3,) centre of the window's selection at a picture's time; None without a selection."""
        document = self.moment(number)
        points = [point for item in document.selection for point in drag_targets.places(document, item)]
        if not points:
            return None
        return np.asarray(0.5 * (np.min(points, axis=0) + np.max(points, axis=0)))


def widened_camera(camera: Camera, view: tuple[int, int], size: tuple[int, int]) -> Camera:
    """The camera widened so that the picture shows at least what the window's view shows."""
    wide, wanted = view[0] / max(view[1], 1), size[0] / max(size[1], 1)
    if wanted >= wide:
        return camera
    return replace(camera, fov_y=2.0 * math.atan(math.tan(0.5 * camera.fov_y) * wide / wanted))


def leaves_view(document: Document, frames: tuple[int, int], camera: Camera, size: tuple[int, int]) -> bool:
    """Whether a figure that is in view of a film's camera, in pictures of a size, leaves the view in some frames."""
    if not _seen(document, document.pose, camera, size):
        return False  # a close view is intended
    first, last = frames
    step = -(-(last - first + 1) // _GLANCES)
    return not all(_seen(document, frame_pose(document, f), camera, size) for f in range(first, last + 1, step))


def _seen(document: Document, pose: Pose, camera: Camera, size: tuple[int, int]) -> bool:
    """Whether all of the figure is in view."""
    points = figure_points(document.skeleton, world_of(document.skeleton, pose), document.character.skin)
    at = camera.projection(size).project(points)[..., :2] / size
    return bool(((at >= 0.0) & (at <= 1.0)).all())


def _clip(document: Document, plan: FilmPlan) -> Clip | None:
    """The frames of the plan's range with all keys, at the film's rate."""
    if plan.frames is None:
        return None
    first, last = plan.frames
    if document.played != plan.frames:
        document = replace(document, take=replace(take_of(document), first=first, last=last))
    clip = baked_character(document).clip
    assert clip is not None
    return clip.resampled(plan.fps) if resampled(document, plan) else clip


def _display(parts: frozenset[str], style: Display) -> Display:
    return Display(
        limits="all" if "limits" in parts else "none",
        names="names" in parts,
        grid="grid" in parts,
        shadow=style.shadow,
        bodies=style.bodies,
        skin=style.skin,
        see_through=style.see_through,
        goals="goals" in parts,
        ghosts="ghosts" in parts,
        trails="trails" in parts,
    )


class LabFilm:
    """What is filmed of the laboratory, made once for what is shown there."""

    def __init__(self, session: Session, view: View, laboratory: Laboratory) -> None:
        self._session, self._view, self._lab = session, view, laboratory
        self._made = Latest[ShownMotion]()

    def filmed(self) -> ShownMotion | None:
        """What a film shows; None outside the workspace."""
        lab, document = self._lab, self._session.document
        problem, solid = lab.problem, lab.trace
        if lab.pose is None or problem is None or solid is None:
            return None
        key = lab.solid, lab.hidden, lab.methods, lab.worker.revision
        return self._made.of(lambda: self._film(document, problem, solid), document, equal=key)

    def _film(self, document: Document, problem: LabProblem, solid: Trace) -> ShownMotion:
        """A frame for every iteration, and a second of the last one. The user may go on while the film is made."""
        lab, skeleton, height = self._lab, document.skeleton, self._view.height
        last, lettered, others = lab.last, lab.lettered, [(lab.curve(name), one) for name, one in lab.others.items()]
        poses = [problem.shown(solid.at(min(k, last)).pose) for k in range(last + round(PER_SECOND))]
        turns, places = (np.array([getattr(pose, name) for pose in poses]) for name in ("rotations", "translations"))
        clip = Clip.from_arrays(skeleton, turns, places, fps=PER_SECOND, name="Iterations")

        def ghosts(frame: int) -> tuple[Ghost, ...]:
            worlds = [(curve, world_of(skeleton, problem.shown(trace.at(frame).pose))) for curve, trace in others]
            return method_ghosts(skeleton, world_of(skeleton, poses[frame]), worlds, lettered, height)

        # Its first frame has moved the goals along.
        filmed = replace(AddClip.of(document, clip).apply(document), goals=document.goals)
        return ShownMotion(filmed, ghosts=ghosts)
