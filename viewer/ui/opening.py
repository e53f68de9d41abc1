"""Opening files and showing several figures, with notes about what was guessed and questions about missing files.

Pose and goals files change the figure shown; everything else of it stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Literal

from viewer.document import Action, Document, DocumentContact, DocumentGoal, actions as act, new_document
from viewer.document.actions import UseMotion
from viewer.document.document_contact import contact_of, grips, grips_from
from viewer.document.document_goal import NOT_SET, DocumentBalance, balance_from, balances, check_kind, document_goal
from viewer.document.evaluation import Comparison, compare, shared_joints
from viewer.document.import_export import with_pin_target
from viewer.document.posed_goals import pairs_of
from viewer.errors import FormatError, InputError, OutputError, ViewerError
from viewer.formats.file_formats import READ
from viewer.formats.files import read_text
from viewer.formats.goals_json import StatedGoals, read_goals_file
from viewer.formats.json_reading import kind_of, parse
from viewer.formats.load import load
from viewer.formats.skeleton_json import read_pose
from viewer.formats.units import BECAUSE, GUESSES
from viewer.ik.goals import KINDS, Goal
from viewer.latest import Latest
from viewer.session import Session
from viewer.session.demo_parts import PREFIX
from viewer.session.demos import demo_of, find_demo
from viewer.session.figures import Arrangement
from viewer.session.session_files import SUFFIX, MotionError, MotionFile, Opened, is_session, open_session
from viewer.session.stored_characters import character_in
from viewer.session.user_files import fault_line
from viewer.skeleton import Character, effector_of
from viewer.skeleton.kinematics import extent
from viewer.ui import number_format
from viewer.ui.camera_moves import CameraMoves
from viewer.ui.commands import CommandBinding, CommandBindings, needs, on_found
from viewer.ui.contact import grounded, problems
from viewer.ui.demo_commands import Demos
from viewer.ui.dragging import Dragging
from viewer.ui.events import FileQuestion, Message, Question
from viewer.ui.view import View, one_step

_UNITS = {1.0: "metres", 0.01: "centimetres", 0.001: "millimetres", 0.0254: "inches"}
ABOUT = "motion"
"""`Message.about` of messages about motion files."""

_LARGEST = 1 << 20
"""Largest JSON file, bytes, whose contents are checked: poses and goals are small."""

OPENED = (*READ, SUFFIX)
"""Suffixes of what can be opened."""


class Opening:
    """Opens documents; after an error the document shown stays."""

    def __init__(self, session: Session, view: View, drags: Dragging, camera_moves: CameraMoves, demos: Demos) -> None:
        self._session, self._view = session, view
        self._drags, self._camera_moves, self._demos = drags, camera_moves, demos

    def show_file(self, path: Path | str) -> bool:
        """Open a file or ``sample:NAME``; whether it could be read.

        If a session's motion is missing, the user is asked.
        """
        view, changed = self._view, None
        try:
            if is_session(path):
                changed = self.show_session(Path(path))
            else:
                document = _new(path)
                demo = demo_of(document)
                self.show(document, figures=None if demo is None else demo.figures(document))
        except MotionError as error:
            self.ask_motion(Path(path), error.file_of_motion)
            return False
        except Exception as error:  # noqa: BLE001 - no file ends the program
            return self._refused(path, error)
        view.preferences.remember(path)
        self.note_reading()
        self.note_props()
        if changed is not None:
            self.note_motion(changed)
        return True

    def _refused(self, path: Path | str, error: Exception) -> bool:
        """Show why a file could not be read; returns False."""
        known = error if isinstance(error, ViewerError) else InputError(fault_line(error, path))
        self._view.post(file_error(self._view, path, known))
        return False

    def add_file(self, path: Path | str) -> bool:
        """Add the figure of a file, or of ``sample:NAME``, to those shown; whether it could be read.

        Of a session its figures are added.
        """
        view = self._view
        self._drags.cancel()
        view.set_gesture(None)
        try:
            found = abreast_in(open_session(Path(path))) if is_session(path) else [("", _new(path))]
            for name, document in found:
                self._session.figures.add(document, name)
        except Exception as error:  # noqa: BLE001 - no file ends the program
            return self._refused(path, error)
        view.preferences.remember(path)
        self.note_reading()
        self.note_props()
        return True

    def show(
        self,
        document: Document,
        path: Path | None = None,
        file_digest: str | None = None,
        figures: Arrangement | None = None,
    ) -> None:
        """Show another document, as saved in the session file ``path``, whose bytes have the digest ``file_digest``.

        Of a session with several ``figures`` it is the document of the active one.
        """
        self._drags.cancel()
        self._view.set_gesture(None)
        self._session.replace(document, path, file_digest, figures=figures)
        self._view.bar.clear()
        self._camera_moves.start()
        self._demos.opened()

    def show_session(self, path: Path) -> MotionFile | None:
        """Open a session file; returns the motion file if it is missing or has changed.

        Raises:
            MotionError: the motion is not in the session, and its file is missing or has changed.
            ViewerError: the file cannot be read, or is refused.
        """
        opened = open_session(path)
        self.show(opened.document, path, opened.digest, opened.figures)
        return opened.motion

    def note_reading(self) -> None:
        """Post notes about what was guessed or repaired while reading the file shown."""
        for message in _reading_notes(self._view, self._session.document.character):
            self._view.post(message)

    def note_props(self) -> None:
        """Post an error about each prop of the document shown whose mesh cannot be read."""
        for problem in problems(self._session.document):
            self._view.post(Message(problem, "error"))

    # Motion files of sessions that are missing or have changed

    def note_motion(self, found: MotionFile, *, without: bool = False) -> None:
        """Post a message about a missing or changed motion file, with offers.

        The session is shown ``without`` its motion, else it contains a copy.
        """
        state = "is missing" if found.location is None else found.problem
        here = "the figure stands still, its keys are kept" if without else "the session's own copy is shown"
        offers: list[tuple[str, Callable[[], object]]] = [("Locate…", partial(self._locate, found))]
        if found.location is not None:
            offers.append(("Use the changed file", partial(self._use, found, found.location)))
        level: Literal["error", "note"] = "error" if without else "note"
        self._view.post(Message(f"{found.name} {state}: {here}", level, tuple(offers), about=ABOUT))

    def _locate(self, found: MotionFile) -> None:
        session = self._session.path
        folder = Path.cwd() if session is None else session.absolute().parent
        self._view.ask(FileQuestion(f"Locate {found.name}", "Use", READ, partial(self._use, found), folder=folder))

    def _use(self, found: MotionFile, location: Path) -> None:
        """Use the motion of a file for the figure shown, if it fits."""
        use = self._session.dispatch
        if self._view.attempt(lambda: use(UseMotion(character_in(location, found.named))), ABOUT):
            self._view.note(f"Motion of {location.name}")

    def ask_motion(self, session: Path, found: MotionFile) -> None:
        """Ask about a session that cannot be opened with its motion, whose file is missing or has changed."""
        location, folder = found.location, session.absolute().parent
        state, place = "is missing", f"was at {found.named.path}"
        use = partial(self._open_with, session, found)
        locate = FileQuestion(f"Locate {found.name}", "Use", READ, use, folder=folder)
        answers: dict[str, Callable[[], object]] = {"Locate…": partial(self._view.ask, locate)}
        if location is not None:
            state, place = found.problem, f"is at {location}"
            answers["Use the changed file"] = partial(self._open_with, session, found, location)
        answers |= {"Open without motion": partial(self._open_without, session, found), "Cancel": lambda: None}
        notes = (f"It {place}", "Without the motion the figure stands still; pose, goals and keys are kept.")
        title = f"The motion of {session.name}"
        self._view.ask(Question(f"The motion file {found.name} {state}.", answers, title, notes))

    def ask_motion_of(self, session: Path, bare: Opened) -> None:
        """Post a message about, and ask about, a session shown without its motion."""
        if bare.motion is not None:
            self.note_motion(bare.motion, without=True)
            self.ask_motion(session, bare.motion)

    def _open_with(self, session: Path, found: MotionFile, location: Path) -> None:
        """Open the session with the motion of a file; if that does not fit, the document shown stays."""
        try:
            character = character_in(location, found.named)
            opened = open_session(session, motion=False)
            UseMotion(character).apply(opened.document)
        except ViewerError as error:
            self._view.fail(error, ABOUT)
            return
        self.show(opened.document, session, opened.digest, opened.figures)
        self._session.dispatch(UseMotion(character))
        self._view.preferences.remember(session)

    def _open_without(self, session: Path, found: MotionFile) -> None:
        """Open the session without its motion, as an unnamed document that still refers to its motion file."""
        try:
            opened = open_session(session, motion=False)
        except ViewerError as error:
            self._view.fail(error, "open")
            return
        self.show(opened.document, figures=opened.figures)
        self._view.preferences.remember(session)
        self.note_motion(found, without=True)


def abreast_in(opened: Opened) -> list[tuple[str, Document]]:
    """Names and documents of the figures of a session."""
    if opened.figures is None:
        return [("", opened.document)]
    return [(figure.name, figure.document) for figure in opened.figures.figures]


def _new(path: Path | str) -> Document:
    if str(path).startswith(PREFIX):
        return find_demo(str(path)).build()
    return new_document(load(path))


def file_error(view: View, path: Path | str, error: ViewerError) -> Message:
    """The error message of a file: ``walk.bvh:412:17: expected a number, found "abc"``."""
    text = str(error)
    if isinstance(error, FormatError):
        where = ":".join(str(n) for n in (Path(str(path)).name, error.line, error.column) if n is not None)
        text = ": ".join(part for part in (where, error.path or "", error.problem) if part)
    copy = ("Copy", partial(view.request, "copy-text", text))
    folder = ("Show in folder", partial(view.request, "show-in-folder", str(path)))
    return Message(text, "error", (copy, folder) if Path(str(path)).exists() else (copy,), about="open")


def _reading_notes(view: View, character: Character) -> list[Message]:
    """Notes about what was guessed or repaired while reading."""
    news = []
    if character.source.guessed:
        change = ("Change", partial(view.request, "units-dialog"))
        guess = next((line for line in character.warnings if line.startswith(GUESSES)), "")
        why = guess.partition(BECAUSE)[2].partition(",")[0]
        said = f"Read as {units_of(character)}{f' (from its {why})' if why else ''}"
        news.append(Message(said, "note", (change,)))
    others = [line for line in character.warnings if not line.startswith(GUESSES)]
    if others:
        more = f" ({len(others) - 1} more)" if len(others) > 1 else ""
        copy = ("Copy", partial(view.request, "copy-text", "\n".join(others)))
        news.append(Message(view.sentence(others[0]) + more, "note", (copy,)))
    return news


def units_of(character: Character) -> str:
    """Description of a character's units: ``5.64 cm units, height 1.72 m``."""
    metres = character.source.metres_per_unit
    unit = _UNITS.get(metres) or f"{number_format.fixed(100.0 * metres, 2)} cm units"
    up = ", Z up" if character.source.up == "z" else ""
    return f"{unit}{up}, height {number_format.fixed(float(extent(character)[1]), 2)} m"


class Figures:
    """Adds, removes, hides and switches figures."""

    def __init__(self, session: Session, view: View, opening: Opening, camera_moves: CameraMoves) -> None:
        self._session, self._view = session, view
        self._opening, self._camera_moves = opening, camera_moves
        self._compared, self.from_root = "", False
        self._comparison = Latest[Comparison | None]()

    @property
    def active(self) -> str:
        return self._session.stage.figure.name

    def add(self, path: Path | str) -> bool:
        """Add the figure of a file, or of ``sample:NAME``, beside the others; whether it could be read."""
        if not self._opening.add_file(path):
            return False
        self._camera_moves.frame_figures()
        return True

    def activate(self, name: str) -> None:
        """Make a figure active, a hidden one shown first; an InputError if there is none of this name."""
        stage = self._session.stage
        if stage[stage.index(name)].hidden:
            self._session.figures.hide(name, hidden=False)
        self._session.figures.activate(name)

    def hover(self, name: str) -> None:
        """Light up a figure whose row in a list is under the pointer; "" for none."""
        lit = name or self._view.hovered.figure
        if lit != self._view.lit_figure:
            self._view.lit_figure = lit
            self._view.changed()

    # Comparing

    @property
    def compared(self) -> str:
        """Name of the figure with which the active one is compared; "" for none."""
        stage = self._session.stage
        there = self._compared in stage.names and self._compared != self.active
        return self._compared if there and stage.several else ""

    @property
    def comparable(self) -> tuple[str, ...]:
        """Names of the figures with motion that share joints with the active one, if that has motion."""
        stage, own = self._session.stage, self._session.document
        if not own.frames:
            return ()
        others = ((figure.name, figure.document) for figure in stage)
        return tuple(name for name, one in others if one is not own and one.frames and shared_joints(own, one))

    def compare(self, name: str, *, from_root: bool | None = None) -> None:
        """Compare the active figure with another one, "" with none; ``from_root`` as of `compare`."""
        self._compared = name
        self.from_root = self.from_root if from_root is None else from_root
        self._view.changed()

    def comparison(self) -> Comparison | None:
        """The distances to the compared figure, cached until a motion changes; None if there is none."""
        name, stage = self.compared, self._session.stage
        if not name:
            return None
        pair = self._session.document, stage.documents[stage.index(name)]

        def compared() -> Comparison | None:
            try:
                return compare(*pair, from_root=self.from_root)
            except InputError:  # one of them has lost its motion meanwhile
                return None

        parts = (part for one in pair for part in (one.clip_data, one.take, one.skeleton))
        return self._comparison.of(compared, *parts, equal=self.from_root)

    def _next(self) -> str | None:
        """The name of the next figure that is shown; None without another."""
        stage = self._session.stage
        following = [*stage][stage.active + 1 :] + [*stage][: stage.active]
        return next((one.name for one in following if not one.hidden), None)

    def bindings(self) -> CommandBindings:
        session = self._session
        another = needs("no other figure is shown", lambda: session.stage.others)
        return {
            "figure.add": CommandBinding(
                lambda: self._view.ask(FileQuestion("Add figure", "Add", OPENED, self.add, samples=True))
            ),
            "figure.next": on_found("no other figure is shown", self._next, session.figures.activate),
            "figure.hide": CommandBinding(lambda: session.figures.hide(self.active), another),
            "figure.remove": CommandBinding(
                lambda: session.figures.remove(self.active),
                needs("it is the only figure", lambda: session.stage.several),
            ),
        }


def kind_of_file(path: Path | str) -> str:
    """The kind of a file, "pose", "goals" or "map"; empty for any other, or if it cannot be read."""
    file = Path(path)
    if file.suffix.casefold() != ".json" or is_session(file):
        return ""
    try:
        if file.stat().st_size > _LARGEST:
            return ""
        kind = kind_of(parse(read_text(file, str(file))))
    except (OSError, InputError, FormatError, OutputError):
        return ""
    return kind if kind in {"pose", "goals", "map"} else ""


def import_pose_or_goals(session: Session, view: View, path: Path, kind: str) -> None:
    """Apply a pose or goals file to the figure."""
    warnings: list[str] = []
    try:
        if kind == "pose":
            pose = read_pose(path, str(path), session.document.skeleton, warnings)
            session.dispatch(act.SetPose(pose, f"Pose of {path.name}"))
        else:
            _take_goals(session, read_goals_file(path, str(path), session.document.skeleton, warnings), path.name)
    except ViewerError as error:
        view.post(file_error(view, path, error))
        return
    view.bar.done("open")
    view.note(f"{kind.capitalize()} taken from {path.name}{f': {warnings[0]}' if warnings else ''}")


def _take_goals(session: Session, file: StatedGoals, name: str) -> None:
    """Set the goals of the named effectors, in order, and the contact if there is any; the rest stays."""
    goals, contact, ground = file
    taken: list[str] = []
    with one_step(session, f"Goals of {name}") as do:
        if contact is not None:
            wanted = contact_of(contact, session.document.contact)
            do(_set_all(act.SetContact, wanted))
        for hand, prop in grips_from(goals, session.document.skeleton):
            do(act.SetGrip(hand, prop))
        if any(map(balances, goals)):
            before = replace(session.document.balance, **grounded(session.document, ground))
            do(_set_all(act.SetBalance, balance_from(goals, before)))
        # Effectors hold together as the pose has them before anything moves.
        pairs = [_take_pair(session, goal) for goal in goals if KINDS[goal.kind].of_two]
        for goal in goals:
            if not (KINDS[goal.kind].of_two or balances(goal) or grips(goal)):
                taken.append(_take_goal(session, goal, taken))
        asked = {session.document.goal(name).effector for name in taken}
        for first, second in pairs:
            if second in asked and first not in asked and not session.document.goal(first).pinned:
                do(act.ReleaseEffector(first))


def _set_all(action: Callable[..., Action], wanted: DocumentContact | DocumentBalance) -> Action:
    """The action that sets every setting as in a value."""
    return action(**{field.name: getattr(wanted, field.name) for field in fields(wanted)})


def _take_goal(session: Session, goal: Goal, taken: Collection[str]) -> str:
    """Set the effector's next goal that is not in ``taken``, or add one; its id."""
    check_kind(goal.kind)
    name = _made_effector(session, goal.effector)
    free = (one.id for one in session.document.goals_of(name) if not one.of_two)
    own = next((one for one in free if one not in taken), None)
    if own is None:
        session.gestures.update(act.AddGoal(name, goal.kind))
        own = session.document.selection[-1].name
    wanted = document_goal(with_pin_target(session.document.skeleton, session.document.pose, goal, name), name)
    given = {place.name: getattr(wanted, place.name) for place in fields(DocumentGoal) if place.name not in NOT_SET}
    session.gestures.update(act.SetGoal(own, **{key: value for key, value in given.items() if value is not None}))
    return own


def _made_effector(session: Session, named: str) -> str:
    """The name of the effector that a goal names, which is made where there is none."""
    effectors = [effector.name for effector in session.document.skeleton.effectors]
    name = effector_of(session.document.skeleton, named).name
    if name not in effectors:
        session.gestures.update(act.MakeEffector(named))
        name = session.document.selection[-1].name
    return name


def _take_pair(session: Session, goal: Goal) -> tuple[str, str]:
    """Add a goal for two effectors, or set the one that they have; their names."""
    ends = _made_effector(session, goal.effector), _made_effector(session, goal.to)
    relative = KINDS[goal.kind].relative
    own = _pair_of(session, ends, relative=relative)
    if own is None:
        session.gestures.update(act.HoldTogether(*ends) if relative else act.AddGoalForTwo(*ends, goal.kind))
        own = _pair_of(session, ends, relative=relative)
    assert own is not None
    stated = {"position": goal.target, "rotation": goal.target_rotation}
    session.gestures.update(act.SetGoal(own, kind=goal.kind, offset=goal.offset))
    session.gestures.update(act.HoldEffector(own))  # measures the target from the offset
    session.gestures.update(
        act.SetGoal(
            own,
            weight=goal.weight,
            rotation_weight=goal.rotation_weight,
            enabled=goal.enabled,
            level=goal.level,
            **{key: value for key, value in stated.items() if value is not None},
        )
    )
    return ends


def _pair_of(session: Session, ends: tuple[str, str], *, relative: bool) -> str | None:
    """The id of the goal of the first of two effectors that holds them together, or that places them in the world."""
    pairs = pairs_of(session.document)
    return next((goal.id for goal in pairs if goal.ends == ends and goal.relative is relative), None)
