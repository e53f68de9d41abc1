"""File commands: opening, saving, exporting, and questions about unsaved changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

from viewer.document import Document, frame_pose
from viewer.document.actions import SetClip
from viewer.document.document_contact import solver_contact
from viewer.document.import_export import baked_character, baked_clip, goals_of
from viewer.errors import InputError, ViewerError, plural, quote, shown
from viewer.formats.file_formats import FILMS, MESHES, PICTURES, READ, SAMPLE, WRITTEN, format_of
from viewer.formats.files import write_whole
from viewer.formats.goals_json import goals_to_json
from viewer.formats.save import retimed, save
from viewer.session import Session
from viewer.session.demo_parts import PREFIX
from viewer.session.figures import Placement
from viewer.session.session_files import SUFFIX, backup_of, digest_on_disk, is_session, save_session
from viewer.skeleton import Character
from viewer.skeleton.character import placed
from viewer.ui.commands import CommandBinding, CommandBindings, needs
from viewer.ui.contact import Contacts
from viewer.ui.events import Answers, FileQuestion, Message, Question
from viewer.ui.film import ObjectsAt, ShownMotion
from viewer.ui.opening import OPENED, Figures, Opening, import_pose_or_goals, kind_of_file
from viewer.ui.posing import Nudging
from viewer.ui.retargeting import Retargeting
from viewer.ui.view import View

GOALS = ".json"
"""Suffix of goals files."""
EXPORTS = (*WRITTEN, *PICTURES)
"""Suffixes of export files."""


def shows_motion(document: Document) -> bool:
    """Whether an export is of the motion, not the pose: there are keys, or the pose shown is the clip's own."""
    if not document.has_motion:
        return False
    keyed = document.take is not None and not document.take.is_plain
    return keyed or document.pose.same_as(frame_pose(document, document.frame))


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of an export, the same as of `ikviewer convert`.

    Attributes:
        motion: the played motion with its keys (True), or the pose (False); None: as `shows_motion` decides. Shapes are
            always of the pose shown.
        frames: first and last frame; None: the played range.
        fps: frames per second; None: the motion's own.
        units: as of `viewer.save`.
        up: as of `viewer.save`.
        precision: as of `viewer.save`.
        joints: as of `viewer.save`.
    """

    motion: bool | None = None
    frames: tuple[int, int] | None = None
    fps: float | None = None
    units: str | float | None = None
    up: str | None = None
    precision: int | None = None
    joints: bool = False


AS_SHOWN = ExportOptions()


class Files:
    """Opens, saves and exports files, and asks before unsaved changes are lost."""

    def __init__(
        self,
        session: Session,
        view: View,
        nudging: Nudging,
        opening: Opening,
        contacts: Contacts,
        figures: Figures,
        retargeting: Retargeting,
        shown: Callable[[], ShownMotion],
    ) -> None:
        """Start without a question; ``shown`` is what an export of motion is of."""
        self._session, self._view, self._nudging, self._opening = session, view, nudging, opening
        self._contacts, self._figures, self._retargeting = contacts, figures, retargeting
        self._shown = shown

    # Names

    @property
    def name(self) -> str:
        """Name of the file, or of the figure."""
        session = self._session
        if session.path is not None:
            return session.path.name
        source = session.document.character.source.path
        return (
            Path(source).name.removeprefix(SAMPLE).removeprefix(PREFIX)
            if source
            else session.document.skeleton.name or "Untitled"
        )

    @property
    def title(self) -> str:
        """Window title: ``walk_02.bvh • modified``."""
        session = self._session
        several = session.stage.several and session.path is None
        name = shown(self._figures.active if several else self.name)
        return f"{name} • modified" if self._session.modified else name

    # Questions

    def unless_unsaved(self, then: Callable[[], object]) -> None:
        """Do something that discards the document; ask first if it has unsaved changes."""
        self._nudging.finish()  # pending nudges are changes, too
        if self._session.modified:
            save, where = ("Save", "") if self._session.path else ("Save as…", " in a session file")
            answers: Answers = {save: partial(self.save, then), "Discard": then, "Cancel": lambda: None}
            self._view.ask(Question(f"Save changes to {self.name}{where}?", answers))
        else:
            then()

    # Doing

    def drop(self, paths: Iterable[Path]) -> None:
        """Open the files dropped on the window; meshes that are no figures become props.

        Beside a figure that is more than an untouched sample, ask whether they are added to it or replace it.
        """
        dropped = list(paths)
        if not dropped:
            return
        first = dropped[0]
        if first.suffix.casefold() in MESHES and first.suffix.casefold() not in READ:
            self._contacts.add_mesh(first)
        elif kind_of_file(first):
            self.open(first)
        elif self._is_untouched:
            self._open_all(dropped)
        elif len(dropped) == 1 and not (is_session(first) or first.suffix.casefold() in READ):
            self._figures.add(first)  # opening it reports why it cannot be read
        else:
            more = len(dropped) - 1
            name = first.name if not more else f"{first.name} and {plural(more, 'more file')}"
            onto: list[tuple[str, Callable[[], object]]] = []
            if not more:
                onto = [(f"Retarget onto {self._figures.active}", partial(self._retargeting.open, first))]
            answers: list[tuple[str, Callable[[], object]]] = [("Add", partial(self._add_all, dropped)), *onto]
            answers.append(("Replace", partial(self._open_all, dropped)))
            self._view.post(Message(name, "note", tuple(answers), about="drop"))

    @property
    def _is_untouched(self) -> bool:
        """Whether what is shown is a sample or a demo in which nothing has been changed."""
        session = self._session
        source = session.document.character.source.path or ""
        shipped = source.startswith((SAMPLE, PREFIX)) and session.path is None
        return shipped and not session.modified and not session.stage.several

    def _add_all(self, paths: Sequence[Path]) -> None:
        for path in paths:
            self._figures.add(path)

    def _open_all(self, paths: Sequence[Path]) -> None:
        """Replace what is shown by the first file, after asking about unsaved changes, and add the others."""

        def replaced() -> None:
            if self._opening.show_file(paths[0]) or len(paths) == 1:
                self._add_all(paths[1:])
            else:
                self._open_all(paths[1:])

        self.unless_unsaved(replaced)

    def open(self, path: Path | str) -> None:
        """Open a file or ``sample:NAME``, after asking about unsaved changes."""
        kind = kind_of_file(path)
        if kind == "map":
            with self._view.errors_shown("open"):
                self._retargeting.take_map(Path(path))
        elif kind:
            import_pose_or_goals(self._session, self._view, Path(path), kind)
        else:
            self.unless_unsaved(partial(self._opening.show_file, path))

    def save(self, then: Callable[[], object] | None = None) -> None:
        """Save to the session's file, or ask for one; ask first if another program has changed the file.

        ``then`` is done once the document is saved, also under another name.
        """
        self._nudging.finish()
        path = self._session.path
        if path is None:
            self._save_as(then)
        elif self._written_by_another(path):
            self._ask_changed(path, then)
        else:
            self.save_to(path, then)

    def _written_by_another(self, path: Path) -> bool:
        known = self._session.file_digest
        now = None if known is None else digest_on_disk(path)
        return now is not None and now != known

    def _ask_changed(self, path: Path, then: Callable[[], object] | None) -> None:
        """Ask what to do with the session's file, which was changed on disk since it was opened or saved here."""
        kept = backup_of(path)
        notes = (
            "Replace writes over that version" + ("." if kept is None else f", which is kept as {kept.name}."),
            "Reload opens that version; the changes made here are lost.",
        )
        answers: Answers = {
            "Save as…": partial(self._save_as, then, _free_name(path)),
            "Replace": partial(self.save_to, path, then),
            "Reload": partial(self._opening.show_file, path),
            "Cancel": lambda: None,
        }
        words = "Another window or program has written it since it was opened or saved here."
        self._view.ask(Question(words, answers, f"{path.name} has changed on disk", notes))

    def save_to(self, path: Path, then: Callable[[], object] | None = None) -> bool:
        """Save as a session file, and do ``then``; whether it could be written."""
        session, view = self._session, self._view
        file = path if is_session(path) else path.with_name(path.name.removesuffix(".json") + SUFFIX)
        try:
            saved = save_session(session.document, file, session.action_log, session.stage.figures)
        except ViewerError as error:
            view.fail(error, "save")
            return False
        session.mark_saved(file, saved.digest)
        view.bar.done("save")
        view.preferences.remember(file)
        which = f", {len(session.stage)} figures" if session.stage.several else ""
        view.note(f"Saved {file.name}{which}{f'; {saved.problem}' if saved.problem else ''}")
        if then is not None:
            then()
        return True

    def save_goals_to(self, path: Path) -> bool:
        """Save the goals, and contact if that is on, as a goals file; whether it could be written."""
        document, view = self._session.document, self._view
        try:
            if is_session(path):
                raise InputError(f"{path.name}: expected another name than that of a session, such as reach{GOALS}")
            goals, contact = goals_of(document), solver_contact(document.contact, document.skeleton)
            stands = document.floor if document.balance.on else None
            said = 0.0 if contact is None or contact.floor is None else contact.floor
            write_whole(path, goals_to_json(goals, contact, None if stands == said else stands))
        except ViewerError as error:
            view.fail(error, "save goals")
            return False
        view.bar.done("save goals")
        on = sum(goal.enabled for goal in goals)
        view.note(f"Saved {plural(on, 'goal')} to {path.name}")
        return True

    def export_to(self, path: Path, options: ExportOptions = AS_SHOWN) -> bool:
        """Export motion or a pose as the path's suffix says, or request a picture or film; whether that worked."""
        suffix, view, document = path.suffix.casefold(), self._view, self._session.document
        scene = self._shown()
        moving, objects = scene.document, scene.objects
        if suffix == ".png":
            view.request("picture", path)
            return True
        if suffix in FILMS:
            view.request("film-dialog", path)  # the dialogue asks for the rest
            return True
        asked = shows_motion(moving) if options.motion is None else options.motion
        written: Any = {
            "units": options.units, "up": options.up, "precision": options.precision, "joints": options.joints,
        }  # fmt: skip
        try:
            form = format_of(path)
            if asked and moving.has_motion and not form.is_shape:
                every = form.several_clips and options.frames is None
                character = _retimed(moving, _as_played(moving, every=every), options)
                around = None if objects is None else _objects_of(objects, moving, character, options)
                others = [_beside(one.document, one.placement, options) for one in scene.beside]
                what = _motion_words(character)
                lost = save(character, path, **written, objects=around, figures=others)
                lost = [*_missing_clips(moving, character), *lost]
            else:
                figure = replace(document.character, skeleton=document.skeleton)
                what, lost = "the pose", save(figure, path, pose=document.pose, **written)
        except ViewerError as error:
            view.fail(error, "export")
            return False
        view.bar.done("export")
        what += f" of {self._figures.active}" if self._session.stage.several else ""
        view.note(f"Exported {what} to {path.name}{f': {lost[0]}' if lost else ''}")
        return True

    def replaces(self, path: Path) -> str:
        """The question before an export replaces a file, with a warning if the figure was read from it."""
        source = self._session.document.character.source.path
        if source is not None and os.path.realpath(source) == os.path.realpath(path):
            return f"{path.name} is the file that this figure was opened from; its content will be lost. Replace it?"
        return f"{path.name} exists. Replace it?"

    def reload(self) -> None:
        """Reload the file, after asking about unsaved changes."""
        session = self._session
        path = session.path or session.document.character.source.path
        if path is not None:
            self.unless_unsaved(partial(self._opening.show_file, path))

    def _toggle_actions(self) -> None:
        view, session = self._view, self._session
        on = session.action_log is None
        session.record_actions(on)
        view.preferences.record_actions = on
        said = "Actions are recorded from here on and saved with the session" if on else "Actions are not recorded"
        view.note(said)

    def _quit(self) -> None:
        self.unless_unsaved(partial(self._view.request, "quit"))

    def _save_as(self, then: Callable[[], object] | None = None, name: str = "") -> None:
        done, name = partial(self.save_to, then=then), name or proposed_session(self.name)
        self._view.ask(FileQuestion("Save as", "Save", (SUFFIX,), done, saving=True, name=name))

    def bindings(self) -> CommandBindings:
        request, session, ask = self._view.request, self._session, self._view.ask
        opening = FileQuestion("Open", "Open", OPENED, self.open, samples=True)
        goals = FileQuestion("Save goals", "Save", (GOALS,), self.save_goals_to, saving=True, ending=f".goals{GOALS}")
        picture = FileQuestion(
            "Save picture", "Save", (".png",), partial(request, "picture"), saving=True, ending=".png"
        )

        def can_reload() -> bool:  # all that is shown came from one file
            return session.path is not None or not (
                session.stage.several or session.document.character.source.path is None
            )

        return {
            "file.new": CommandBinding(partial(request, "new-dialog")),
            "file.open": CommandBinding(partial(ask, opening)),
            "file.save": CommandBinding(self.save),
            "file.save_as": CommandBinding(self._save_as),
            "file.save_goals": CommandBinding(
                partial(ask, goals),
                needs("no goal is on", lambda: session.document.solver_goals()),  # noqa: PLW0108
            ),
            "file.export": CommandBinding(partial(request, "export-dialog")),
            "file.reload": CommandBinding(self.reload, needs("this was not opened from one file", can_reload)),
            "file.record_actions": CommandBinding(
                self._toggle_actions, checked=lambda: self._session.action_log is not None
            ),
            "file.quit": CommandBinding(self._quit),
            "file.picture": CommandBinding(partial(ask, picture)),
            "file.film": CommandBinding(
                partial(request, "film-dialog"), needs("stop recording first", lambda: not session.recorder.recording)
            ),
        }


def _free_name(path: Path) -> str:
    """An unused name similar to a session's: ``walk 2.ikv.json``."""
    stem = path.name[: -len(SUFFIX)] if path.name.casefold().endswith(SUFFIX) else path.stem
    return next(name for n in count(2) if not path.with_name(name := f"{stem} {n}{SUFFIX}").exists())


def proposed_session(name: str) -> str:
    """The proposed session name for a file: ``walk.ikv.json``."""
    return name if is_session(name) else f"{Path(name.removeprefix(SAMPLE).removeprefix(PREFIX)).stem}{SUFFIX}"


def _as_played(document: Document, *, every: bool) -> Character:
    """The played motion with its keys, and (every) the other clips with theirs, if the format can hold them."""
    character = baked_character(document)
    if not every:
        return character
    names = [name for name in document.character.clips if name not in {document.clip, *character.clips}]
    others = {name: baked_clip(SetClip(name).apply(document)) for name in names}
    return replace(character, clips=MappingProxyType({**character.clips, **others}))


def _objects_of(objects: ObjectsAt, document: Document, character: Character, options: ExportOptions) -> ObjectsAt:
    """The objects at a frame of the clip of a character, of those at a frame of the document that it was made from."""
    assert character.clip is not None
    first = document.played[0] if options.frames is None else options.frames[0]
    step = character.clip.frame_time / document.frame_time
    return lambda frame: objects(min(first + round(frame * step), document.frames - 1))


def _beside(document: Document, placement: Placement, options: ExportOptions) -> Character:
    """Another figure where it stands, with the frames and the rate of the options."""
    character = _retimed(document, _as_played(document, every=False), options)
    return placed(character, placement.offset, placement.rotation)


def _retimed(document: Document, character: Character, options: ExportOptions) -> Character:
    """The character with the frames and the rate of the options."""
    if options.frames is None and options.fps is None:
        return character
    first = document.played[0]
    frames = None if options.frames is None else range(options.frames[0] - first, options.frames[1] - first + 1)
    clips = {name: retimed(clip, frames, fps=options.fps) for name, clip in character.clips.items()}
    return replace(character, clips=MappingProxyType(clips))


def _motion_words(character: Character) -> str:
    """``68 frames``, ``3 clips``."""
    if len(character.clips) != 1:
        return plural(len(character.clips), "clip")
    return plural(len(next(iter(character.clips.values()))), "frame")


def _missing_clips(document: Document, character: Character) -> list[str]:
    """A line about clips that are not in the file, if any."""
    names = [quote(name) for name in document.character.clips if name not in character.clips]
    return [f"it holds one clip, without {', '.join(names)}"] if names else []
