"""Puts motion on another figure: two figures side by side, strings between their joints, and an immediate result.

The target becomes the active figure of the stage, the source is one beside it. While the workspace is open, the result
is the target's motion and the newest undo step, which every change replaces; leaving without *Apply* undoes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from viewer.document import Document, world_of
from viewer.document.actions import AddClip
from viewer.document.document import same_motion
from viewer.document.import_export import baked_clip
from viewer.errors import InputError, ViewerError, plural
from viewer.formats.companion_json import read_map, write_map
from viewer.gizmo import Fill, Shape, Stroke
from viewer.motion import Choices, Retargeted, RetargetReport, find_map, retarget
from viewer.scene import OtherFigure, Text, rgba
from viewer.scene.flat import circle
from viewer.session import Session
from viewer.session.history import Step
from viewer.session.long_work import LONG, Background, Job, LongWork
from viewer.skeleton import Character, Skeleton
from viewer.skeleton.joint_map import Map, Reference
from viewer.skeleton.names import body_part
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection, pixels_away
from viewer.ui.camera_moves import CameraMoves
from viewer.ui.commands import CommandBinding, CommandBindings, Lacks, needs
from viewer.ui.events import FileQuestion, Move, Press, Release
from viewer.ui.opening import OPENED, Figures
from viewer.ui.scene_builder import Others
from viewer.ui.status import StatusLine
from viewer.ui.view import Gesture, View, Workspace

_NEAR = 11.0
"""Logical pixels from a joint within which the pointer is on it."""
_SAG, _POINTS, _DASH = 0.07, 17, 2
_ABOUT = "retarget"
_BUNDLED = ("sample:", "demo:")
_SHARES = {"contacts": 0.3, "planting": 0.4}
"""Parts of the time that retargeting with planted feet takes; the rest comes after them."""
NOTHING = "Drop or open a motion for the figure shown, or a rig that gets the motion shown."
"""The message while there is no motion to take."""


class End(NamedTuple):
    """A joint of one of the two figures; ``source``: of the one that the motion comes from."""

    source: bool
    joint: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The user's choices besides the pairs: of feet, hands, limits, scale and path, and the neutral poses."""

    choices: Choices = field(default_factory=Choices)
    source_reference: Reference = "auto"
    target_reference: Reference = "auto"


class Retargeting:
    """Puts the motion of another figure on the active one.

    Attributes:
        source, target: names of the figures; "" while there is no motion to take.
        settings: what the user chose.
        map: the pairs, or None.
        report: of the result, or None.
        problem: why there is none, or "".
        selected: the source's joint of the pair that is selected, or "".
        held: the end of the string that is dragged, or None.
    """

    def __init__(
        self,
        session: Session,
        view: View,
        figures: Figures,
        camera_moves: CameraMoves,
        background: Background,
        others: Others,
    ) -> None:
        self._session, self._view, self._figures = session, view, figures
        self._camera_moves, self._background, self._others = camera_moves, background, others
        self.source = self.target = self.selected = self.problem = ""
        self.settings = Settings()
        self.map: Map | None = None
        self.report: RetargetReport | None = None
        self.held: End | None = None
        self._given: dict[str, str | None] = {}
        self._step: Step | None = None
        self._added, self._target_moves = "", False

    @property
    def on(self) -> bool:
        return self._view.workspace is Workspace.RETARGET

    @property
    def running(self) -> bool:
        """Whether there are a source and a target."""
        return bool(self.source)

    @property
    def sources(self) -> list[str]:
        """Names of the figures whose motion can be taken."""
        return [name for name in self._session.stage.names if name != self.target and self._moves(name)]

    @property
    def targets(self) -> list[str]:
        """Names of the figures that can get the motion; the source, too, if the target has motion to give."""
        return [name for name in self._session.stage.names if name != self.source or self._target_moves]

    # Beginning and ending

    @property
    def opens(self) -> str:
        """What `open` takes now: ``a motion``; where the active figure has one, also a rig for it."""
        return "a rig for this motion, or another motion" if self._moves(self._figures.active) else "a motion"

    def open(self, path: Path | str) -> bool:
        """Add the figure of a file and put its motion on the active one; whether the file could be read.

        A rig without motion gets that of the active one.
        """
        self._forget(take_back=True)
        active = self._figures.active
        if not self._figures.add(path):
            return False
        added = self._figures.active
        if self._moves(active) and not self._moves(added):
            self._begin(active, added)
        else:
            self._session.figures.activate(active)
            self._begin(added, active)
        self._added = added
        if not self.on:
            self._view.enter(Workspace.RETARGET)
        return True

    def choose_source(self, name: str) -> None:
        """Take the motion of another figure that is shown."""
        target = self._figures.active
        self._forget(take_back=True)
        self._begin(name, target)

    def choose_target(self, name: str) -> None:
        """Put the motion on another figure that is shown; choosing the source swaps the two."""
        source = self.source if name != self.source else self.target
        self._forget(take_back=True)
        self._begin(source, name)

    def tick(self) -> bool:
        """Begin and end with the workspace; nothing moves by itself."""
        self._follow()
        return False

    def _follow(self) -> None:
        """Begin when the workspace is opened beside a figure with motion, and drop the result when it is left."""
        if not self.on:
            if self.running:
                self._forget(take_back=True)
                self._view.note("Retargeted motion dropped")
            return
        stage = self._session.stage
        if self.running and {self.source, self.target} <= {*stage.names}:
            return
        if self.running:
            self._forget(take_back=False)
        active = self._figures.active
        others = [name for name in stage.names if name != active]
        moving = [name for name in (*others, active) if self._moves(name)]
        if others and moving:
            self._begin(moving[0], active if moving[0] != active else others[0])

    def _begin(self, source: str, target: str) -> None:
        self.source, self.target, self._target_moves = source, target, self._moves(target)
        self.settings, self._given = Settings(), dict(self._kept_pairs())
        self.update()
        self._camera_moves.frame_figures(beside=True)

    def _forget(self, *, take_back: bool) -> None:
        self._background.drop("retargeting")
        if take_back:
            self._take_back()
        self.source = self.target = self.selected = self.problem = ""
        self.map, self.report, self.held, self._step, self._added = None, None, None, None, ""
        self._given = {}
        self._view.changed()

    def apply(self) -> None:
        """Keep the result: the newest undo step. Pairs given by hand are saved beside the rig's file."""
        if self._step is None or self.map is None:
            return
        name, kept = self.source, self._file_of_pairs()
        if kept is not None and self._given:
            with self._view.errors_shown(_ABOUT):
                write_map(self.map, kept)
        self._forget(take_back=False)
        self._view.enter(Workspace.POSE)
        self._view.note(f"Motion of {name} retargeted")

    def cancel(self) -> None:
        """Undo the result, and remove the figure that was added for it."""
        added = self._added
        self._forget(take_back=True)
        stage = self._session.stage
        if added in stage.names and stage.several:
            self._session.figures.remove(added)
        self._view.enter(Workspace.POSE)

    def _take_back(self) -> None:
        history = self._session.history
        if self._step is not None and history.index and history.steps[history.index - 1] is self._step:
            self._session.undo()
        self._step = None

    # The result

    def change(self, settings: Settings) -> None:
        self.settings = settings
        self.update()

    def update(self) -> None:
        """Make the result again; for a long motion it is ready later."""
        self._background.drop("retargeting")
        session = self._session
        if self._figures.active != self.target:
            self._figures.activate(self.target)
        frame, playing = session.document.frame, session.clock.playing
        self._take_back()
        try:
            source = self._character(self.source)
            target = self._character(self.target, moving=False)
            known = {name: other for name, other in self._given.items() if name in source.skeleton.names}
            settings = self.settings
            found = replace(
                find_map(source, target, known),
                source_reference=settings.source_reference,
                target_reference=settings.target_reference,
            )
            self.map = found
            choices = settings.choices
            make = partial(
                retarget,
                source,
                target,
                found,
                feet=choices.feet,
                hands=choices.hands,
                limits=choices.limits,
                scale=choices.scale,
                in_place=choices.in_place,
            )
            if source.clip is not None and len(source.clip) >= LONG:
                self.report, self.problem = None, ""
                self._start(make)
            else:
                self._show(make(), frame, playing=playing)
        except InputError as error:
            self._refuse(error)

    def _start(self, make: Callable[[], Retargeted]) -> None:
        """Make the result in the background; again if a figure changes meanwhile."""
        names, session = (self.source, self.target), self._session
        begun = [self._document(name) for name in names]

        def is_current() -> bool:
            there = {*names} <= {*session.stage.names}
            return there and all(map(same_motion, begun, map(self._document, names)))

        def take_over(made: Retargeted) -> None:
            if self._figures.active != self.target:
                self._figures.activate(self.target)
            self._show(made, session.document.frame, playing=session.clock.playing)

        job = Job(
            work=LongWork(make, _SHARES),
            title="Retargeting",
            hint="Leave everything as it was (Esc)",
            is_current=is_current,
            take_over=take_over,
            outdated=self._make_again,
            failed=self._refuse,
            cancelled=self.cancel,
        )
        self._background.start("retargeting", job)
        self._view.changed()

    def _make_again(self) -> None:
        if {self.source, self.target} <= {*self._session.stage.names}:  # else `tick` ends it
            self.update()

    def _refuse(self, error: ViewerError) -> None:
        self.report, self.problem = None, str(error).removeprefix("retarget: ")
        self._view.changed()

    def _show(self, made: Retargeted, frame: int, *, playing: bool) -> None:
        """Make a result the newest undo step, and go on at a frame."""
        session = self._session
        self.report, self.problem = made.report, ""
        clip = made.character.clip
        assert clip is not None
        named = MappingProxyType({self.source: replace(clip, name=self.source)})
        session.dispatch(AddClip(replace(made.character, clips=named, skin=None)))
        self._step = session.history.steps[-1]
        if 0 < frame < len(clip):
            session.seek(frame)
        if playing:
            session.play()
        self._view.changed()

    def _document(self, name: str) -> Document:
        stage = self._session.stage
        return stage.documents[stage.index(name)]

    def _moves(self, name: str) -> bool:
        return self._document(name).has_motion

    def _character(self, name: str, *, moving: bool = True) -> Character:
        """The figure as it is shown; a source with its motion alone, keys and layers included."""
        document = self._document(name)
        clips = document.character.clips
        if moving:
            if not document.has_motion:
                raise InputError(f"{name} has no motion")
            if document.take is not None:
                document = replace(document, take=replace(document.take, first=0, last=document.frames - 1))
            clip = baked_clip(document)
            clips = {clip.name: clip}
        return replace(document.character, skeleton=document.skeleton, clips=MappingProxyType({**clips}))

    # Pairs

    def pair(self, source: str, target: str | None) -> None:
        """Pair two joints; None: the source's joint has no partner."""
        before = dict(self._given)
        for name, other in list(self._pairs().items()):
            if target is not None and other == target and name != source:
                self._given[name] = None
        self._given[source] = target
        self.selected = source if target is not None else ""
        try:
            find_map(self._character(self.source), self._character(self.target, moving=False), self._given)
        except ViewerError as error:
            self._given = before
            self._view.fail(error, _ABOUT)
            return
        self._view.bar.done(_ABOUT)
        self.update()

    def map_again(self) -> None:
        """Forget the pairs given by hand."""
        self._given = {}
        self.selected = ""
        self.update()

    def take_map(self, path: Path) -> None:
        """Use the pairs and the neutral poses of a map file.

        Raises:
            ViewerError: nothing is retargeted; the file cannot be read, or names joints that are not there.
        """
        if not self.running:
            raise InputError(
                f"{path.name} pairs joints: open it in the workspace Retarget, beside the motion and the rig"
            )
        stated = read_map(path, str(path))
        try:
            find_map(self._character(self.source), self._character(self.target, moving=False), stated.pairs)
        except InputError as error:
            raise InputError(f"{path.name}: {str(error).removeprefix('map: ')}") from error
        self._given, self.selected = dict(stated.pairs), ""
        self.settings = replace(
            self.settings, source_reference=stated.source_reference, target_reference=stated.target_reference
        )
        self.update()
        self._view.note(f"Pairs as in {path.name}")

    def _ask_file(self) -> None:
        title = f"Retarget: open {self.opens}"
        self._view.ask(FileQuestion(title, "Retarget", OPENED, self.open, samples=True))

    def ask_map(self) -> None:
        suffixes = (".json",)
        self._view.ask(FileQuestion("Save map", "Save", suffixes, self.save_map, saving=True, ending=".map.json"))

    def save_map(self, path: Path) -> None:
        if self.map is not None:
            write_map(self.map, path)
            self._view.note(f"Pairs saved in {path.name}")

    def _pairs(self) -> Mapping[str, str]:
        return {} if self.map is None else self.map.pairs

    def _file_of_pairs(self) -> Path | None:
        """Where pairs are kept: beside the target's file."""
        path = self._document(self.target).character.source.path
        return None if not path or path.startswith(_BUNDLED) else Path(path).with_suffix(".map.json")

    def _kept_pairs(self) -> Mapping[str, str | None]:
        path = self._file_of_pairs()
        if path is None or not path.is_file():
            return {}
        try:
            stated = read_map(path, str(path))
        except ViewerError as error:
            self._view.fail(error, _ABOUT)
            return {}
        names = (self._document(self.source).skeleton.names, self._document(self.target).skeleton.names)
        fitting = {n: o for n, o in stated.pairs.items() if n in names[0] and (o is None or o in names[1])}
        if fitting:
            self._view.note(f"Pairs as in {path.name}")
        return fitting

    def status(self, usual: Callable[[], StatusLine]) -> StatusLine:  # noqa: ARG002 - as of all workspaces
        """The text of the status line: which pairs are to be checked, and what became of the feet."""
        found, report = self.map, self.report
        if not self.running:
            return StatusLine("dot", "Retarget", "idle", "", "", ())
        if self._background.is_under_way("retargeting"):
            return StatusLine("dot", "Retargeting", "idle", "", "", ())
        if self.problem or found is None or report is None:
            return StatusLine("warn", "Not retargeted", "warn", self.problem, "", ())
        slid = "" if report.slide_cm_s is None else "feet slid {:.1f} cm/s, now {:.2f}".format(*report.slide_cm_s)
        if found.doubtful:
            names = ", ".join(f"{name} to {found.pairs[name]}" for name in found.doubtful)
            count = f"{plural(len(found.doubtful), 'pair')} to check"
            return StatusLine("warn", count, "warn", names, slid, ())
        return StatusLine("check", plural(len(found.pairs), "pair"), "ok", slid, "", ())

    # In the view

    def _sides(self) -> tuple[OtherFigure, tuple[Skeleton, Floats]] | None:
        """The source as it is drawn, and the target's joints with their places."""
        if not (self.on and self.running) or self._figures.active != self.target:
            return None
        other = next((one for one in self._others.figures(self._view.lit_figure) if one.name == self.source), None)
        document = self._session.document
        places = world_of(document.skeleton, document.pose).positions
        return None if other is None else (other, (document.skeleton, places))

    def end_at(self, x: float, y: float) -> End | None:
        """The joint of either figure nearest to a pixel of the window; None away from all."""
        sides = self._sides()
        if sides is None:
            return None
        at, projection = np.array(self._view.local(x, y)), self._view.projection()
        other, (skeleton, places) = sides
        best: tuple[float, End] | None = None
        for source, names, points in (
            (True, other.skeleton.names, other.world.positions),
            (False, skeleton.names, places),
        ):
            away = pixels_away(projection.project(points), at)
            paired = np.array([name in (self._pairs() if source else self._pairs().values()) for name in names])
            # A joint with a string is preferred to one without that lies beside it.
            nearest = int(np.argmin(away - np.where(paired, 3.0 * self._view.scale, 0.0)))
            if away[nearest] <= _NEAR * self._view.scale and (best is None or away[nearest] < best[0]):
                best = float(away[nearest]), End(source, names[nearest])
        return None if best is None else best[1]

    def select(self, end: End) -> None:
        pairs = self._pairs()
        found = end.joint if end.source else next((n for n, o in pairs.items() if o == end.joint), "")
        self.selected = found if found in pairs else ""
        self._view.changed()

    def remove(self, end: End) -> None:
        """Make the pair's source joint have no partner."""
        self.select(end)
        if self.selected:
            self.pair(self.selected, None)

    def join(self, start: End, end: End) -> None:
        """Drop the end of a string on a joint: on the same figure the end moves there; on the other the two pair up."""
        if start.source != end.source:
            source, target = (start, end) if start.source else (end, start)
            self.pair(source.joint, target.joint)
            return
        pairs = self._pairs()
        if not end.source:
            source_name = next((name for name, other in pairs.items() if other == start.joint), None)
            if source_name is not None:
                self.pair(source_name, end.joint)
        elif start.joint in pairs:
            partner = pairs[start.joint]
            self._given[start.joint] = None
            self.pair(end.joint, partner)

    def shapes(self, projection: Projection, scale: float) -> list[Shape]:
        """The strings, those to check dashed; none outside the workspace."""
        sides = self._sides()
        if sides is None or self.map is None:
            return []
        other, (skeleton, places) = sides
        ends = projection.project(other.world.positions), projection.project(places)
        shapes: list[Shape] = []
        doubtful = self.map.doubtful
        for name, partner in sorted(self.map.pairs.items(), key=lambda pair: pair[0] == self.selected):
            start, end = ends[0][other.skeleton.index(name)], ends[1][skeleton.index(partner)]
            if not (np.isfinite(start).all() and np.isfinite(end).all()):
                continue
            points, chosen = _string(start, end), name == self.selected
            if name in doubtful and not chosen:
                shapes += [Stroke(points[i : i + 2], 1.6 * scale, "warn") for i in range(0, _POINTS - 1, _DASH)]
                shapes += [Stroke(circle(at, 5.0 * scale), 1.6 * scale, "warn", closed=True) for at in (start, end)]
                continue
            colour = "accent" if chosen else body_part(name).side or "centre"
            shapes.append(Stroke(points, (2.0 if chosen else 1.1) * scale, colour, 1.0 if chosen else 0.38))
            if chosen:
                shapes += [Fill(circle(at, 5.0 * scale), "accent") for at in (start, end)]
        if self.held is not None:
            skeleton_of, points = (other.skeleton, ends[0]) if self.held.source else (skeleton, ends[1])
            start = points[skeleton_of.index(self.held.joint)]
            shapes.append(Stroke(np.array([start, self._view.local(*self._view.pointer_at)]), 2.0 * scale, "accent"))
        return shapes

    def texts(self, projection: Projection, scale: float) -> tuple[Text, ...]:
        """The names of the selected pair, and of the joint under the pointer while a string is dragged."""
        sides = self._sides()
        if sides is None:
            return ()
        other, (skeleton, places) = sides
        named: list[End] = []
        if self.selected in self._pairs():
            named = [End(True, self.selected), End(False, self._pairs()[self.selected])]
        if self.held is not None:
            over = self.end_at(*self._view.pointer_at)
            named = [self.held, *([over] if over is not None and over != self.held else [])]
        texts = []
        for source, joint in named:
            bones, points = (other.skeleton, other.world.positions) if source else (skeleton, places)
            x, y = projection.project(points[bones.index(joint)]).tolist()
            if np.isfinite([x, y]).all():
                side, shift = ("right", -12.0) if source else ("left", 12.0)
                texts.append(Text(joint, x + shift * scale, y, rgba("text"), 13, side))  # type: ignore[arg-type]
        return tuple(texts)

    def _needs(self, words: str, there: Callable[[], object]) -> Lacks:
        on, found = needs("only in the workspace Retarget", lambda: self.on), needs(words, there)
        return lambda: on() or found()

    def bindings(self) -> CommandBindings:
        return {
            "retarget.open": CommandBinding(self._ask_file),
            "retarget.apply": CommandBinding(self.apply, self._needs("no motion is retargeted", lambda: self._step)),
            "retarget.cancel": CommandBinding(
                self.cancel, self._needs("no motion is retargeted", lambda: self.running)
            ),
            "retarget.map_again": CommandBinding(
                self.map_again, self._needs("no pair was changed", lambda: self._given)
            ),
        }


def _string(start: Floats, end: Floats) -> Floats:
    """(N, 2) pixels of a string that sags between two points."""
    part = np.linspace(0.0, 1.0, _POINTS)[:, None]
    sag = _SAG * float(np.linalg.norm(end - start)) * 4.0 * part * (1.0 - part)
    return np.asarray(start + part * (end - start) + sag * np.array([0.0, 1.0]))


class StringDrag(Gesture):
    """The end of a string follows the pointer."""

    cursor = "grabbing"

    def __init__(self, view: View, retargeting: Retargeting, event: Press, end: End) -> None:
        self._view, self._retargeting = view, retargeting
        self.button = event.button
        retargeting.held = end

    def move(self, event: Move) -> None:
        self._view.pointer = event
        self._view.changed()

    def release(self, event: Release) -> None:
        """Pair with the joint under the pointer, if there is one."""
        start, self._retargeting.held = self._retargeting.held, None
        end = self._retargeting.end_at(event.x, event.y)
        self._view.changed()
        if start is not None and end is not None and end != start:
            self._retargeting.join(start, end)
