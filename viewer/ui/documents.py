"""Opening, saving and exporting: what can go wrong is said in a message, and the document stays as it was."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.document.actions import SetClip
from viewer.document.evaluation import baked_character, baked_clip, frame_pose
from viewer.document.opening import new_document
from viewer.errors import FormatError, InputError, ViewerError, quote
from viewer.formats.load import SAMPLE, load
from viewer.formats.save import SEVERAL_CLIPS, SHAPES, WRITERS, retimed, save
from viewer.formats.units import BECAUSE, GUESSES
from viewer.scene import figure_points
from viewer.session import Document
from viewer.session.demos import PREFIX, find_demo
from viewer.session.files import SUFFIX, MotionError, is_session, save_session
from viewer.session.unexpected import fault_line
from viewer.skeleton.character import Character
from viewer.skeleton.kinematics import fk
from viewer.ui import numbers, showing
from viewer.ui.messages import Message

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

FILMS = (".mp4", ".gif")
EXPORTS = (*WRITERS, ".png", *FILMS)
"""Suffixes of what can be exported."""
_UNITS = {1.0: "metres", 0.01: "centimetres", 0.001: "millimetres", 0.0254: "inches"}


def open_path(controller: Controller, path: Path | str, *, units: str | float = "auto", up: str = "auto") -> bool:
    """Show a file or ``sample:NAME`` in place of what is shown; whether it could be read.

    Where a session's motion is gone, the person is asked what is to be done.
    """
    changed = None
    try:
        if is_session(path):
            changed = showing.open_whole(controller, Path(path))
        else:
            showing.show(controller, _new(path, units, up))
    except MotionError as error:
        showing.ask(controller, Path(path), error.file_of_motion)
        return False
    except Exception as error:  # noqa: BLE001 - no file ends the program
        known = error if isinstance(error, ViewerError) else InputError(fault_line(error, path))
        controller.post(bad_file(controller, path, known))
        return False
    controller.preferences.remember(path)
    tell_reading(controller)
    if changed is not None:
        showing.tell(controller, changed)
    return True


def tell_reading(controller: Controller) -> None:
    """Say what was guessed or mended while the file that is shown was read."""
    for message in _news(controller, controller.document.character):
        controller.post(message)


def _new(path: Path | str, units: str | float, up: str) -> Document:
    if str(path).startswith(PREFIX):
        return find_demo(str(path)).build()
    return new_document(load(path, units=units, up=up))


def bad_file(controller: Controller, path: Path | str, error: ViewerError) -> Message:
    """``walk.bvh:412:17: expected a number, found "abc"``."""
    text = str(error)
    if isinstance(error, FormatError):
        place = ":".join(str(n) for n in (Path(str(path)).name, error.line, error.column) if n is not None)
        text = ": ".join(part for part in (place, error.path or "", error.problem) if part)
    copy = ("Copy", partial(controller.request, "copy-text", text))
    folder = ("Show in folder", partial(controller.request, "show-in-folder", str(path)))
    return Message(text, "error", (copy, folder) if Path(str(path)).exists() else (copy,), about="open")


def _news(controller: Controller, character: Character) -> list[Message]:
    """What was guessed or mended while reading."""
    news = []
    if character.source.guessed:
        change = ("Change", partial(controller.request, "units-dialog"))
        guess = next((line for line in character.warnings if line.startswith(GUESSES)), "")
        why = guess.partition(BECAUSE)[2].partition(",")[0]
        said = f"Read as {units_of(character)}{f' (from its {why})' if why else ''}"
        news.append(Message(said, "note", (change,)))
    others = [line for line in character.warnings if not line.startswith(GUESSES)]
    if others:
        more = f" ({len(others) - 1} more)" if len(others) > 1 else ""
        news.append(
            Message(others[0] + more, "note", (("Copy", partial(controller.request, "copy-text", "\n".join(others))),))
        )
    return news


def units_of(character: Character) -> str:
    """``5.64 cm units, height 1.72 m``."""
    metres = character.source.metres_per_unit
    unit = _UNITS.get(metres) or f"{numbers.fixed(100.0 * metres, 2)} cm units"
    up = ", Z up" if character.source.up == "z" else ""
    return f"{unit}{up}, height {numbers.fixed(_height(character), 2)} m"


def _height(character: Character) -> float:
    """Metres from the lowest to the highest place of the first frame, or of the rest pose."""
    skeleton, clip = character.skeleton, character.clip
    pose = clip.pose(0) if clip is not None and len(clip) else skeleton.rest_pose()
    return float(np.ptp(figure_points(skeleton, fk(skeleton, pose))[:, 1]))


def proposed_session(name: str) -> str:
    """The name that a session of a file is saved under: ``walk.ikv.json``."""
    return name if is_session(name) else f"{Path(name.removeprefix(SAMPLE).removeprefix(PREFIX)).stem}{SUFFIX}"


def save_to(controller: Controller, path: Path) -> bool:
    """Save the document as a session; whether it could be written."""
    place = path if is_session(path) else path.with_name(path.name.removesuffix(".json") + SUFFIX)
    try:
        saved = save_session(controller.session.document, place, controller.session.action_log)
    except ViewerError as error:
        controller.fail(error, "save")
        return False
    controller.session.mark_saved(place, saved.digest)
    controller.bar.done("save")
    controller.preferences.remember(place)
    controller.note(f"Saved {place.name}{f'; {saved.problem}' if saved.problem else ''}")
    return True


def has_motion(document: Document) -> bool:
    """Whether there is a clip, or a take with keys."""
    return document.clip_data is not None or (document.take is not None and not document.take.is_empty)


def shows_motion(document: Document) -> bool:
    """Whether an export is about the motion, not the pose: keys were set, or the pose shown is the clip's own."""
    if not has_motion(document):
        return False
    keyed = document.take is not None and not document.take.is_empty
    return keyed or document.pose.same_as(frame_pose(document, document.frame))


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What is written, and how; `ikviewer convert` has the same.

    Attributes:
        motion: what is played, with its keys (True), or the pose (False); None: as `shows_motion` says. Shapes are
            always of the pose that is shown.
        frames: the first and last frame of the motion; None: all that is played.
        fps: frames a second; None: as it is played.
        units: as of `viewer.save`.
        up: likewise.
        precision: likewise.
    """

    motion: bool | None = None
    frames: tuple[int, int] | None = None
    fps: float | None = None
    units: str | float | None = None
    up: str | None = None
    precision: int | None = None


AS_SHOWN = ExportOptions()


def export_to(
    controller: Controller, path: Path, *, motion: bool | None = None, options: ExportOptions = AS_SHOWN
) -> bool:
    """Write a file of motion, or of a pose, in any of `WRITERS`, or ask for a picture or film; whether it could be.

    Args:
        controller: of the document.
        path: by suffix.
        motion: in place of the options' own, unless None.
        options: what is written, and how.
    """
    if path.suffix.casefold() == ".png":
        controller.request("picture", path)
        return True
    if path.suffix.casefold() in FILMS:
        controller.request("film-dialog", path)  # there is more to be asked
        return True
    document = controller.session.document
    asked = next((one for one in (motion, options.motion) if one is not None), None)
    asked = shows_motion(document) if asked is None else asked
    whole = asked and has_motion(document) and path.suffix.casefold() not in SHAPES
    written: Any = {"units": options.units, "up": options.up, "precision": options.precision}
    try:
        if whole:
            every = path.suffix.casefold() in SEVERAL_CLIPS and options.frames is None
            character = _retimed(document, _as_played(document, every=every), options)
            what, lost = _told(character), save(character, path, **written)
            lost = [*_left_out(document, character), *lost]
        else:
            figure = replace(document.character, skeleton=document.skeleton)
            what, lost = "the pose", save(figure, path, pose=document.pose, **written)
    except ViewerError as error:
        controller.fail(error, "export")
        return False
    controller.bar.done("export")
    controller.note(f"Exported {what} to {path.name}{f': {lost[0]}' if lost else ''}")
    return True


def replaces(controller: Controller, path: Path) -> str:
    """What is asked before an export replaces a file: more of the very file that the motion shown was read from."""
    source = controller.session.document.character.source.path
    if source is not None and os.path.realpath(source) == os.path.realpath(path):
        return f"{path.name} is the file that this figure was opened from; what it holds now will be gone. Replace it?"
    return f"{path.name} exists. Replace it?"


def _as_played(document: Document, *, every: bool) -> Character:
    """What is played with its keys; and the other clips, each with its own, where the format holds them."""
    character = baked_character(document)
    if not every:
        return character
    names = [name for name in document.character.clips if name not in {document.clip, *character.clips}]
    others = {name: baked_clip(SetClip(name).apply(document)) for name in names}
    return replace(character, clips=MappingProxyType({**character.clips, **others}))


def _retimed(document: Document, character: Character, options: ExportOptions) -> Character:
    """The character with the frames and the rate that are asked for."""
    if options.frames is None and options.fps is None:
        return character
    first = document.played[0]
    frames = None if options.frames is None else range(options.frames[0] - first, options.frames[1] - first + 1)
    clips = {name: retimed(clip, frames, fps=options.fps) for name, clip in character.clips.items()}
    return replace(character, clips=MappingProxyType(clips))


def _told(character: Character) -> str:
    """``68 frames``, ``3 clips``."""
    if len(character.clips) != 1:
        return f"{len(character.clips)} clips"
    frames = len(next(iter(character.clips.values())))
    return f"{frames} frame{'' if frames == 1 else 's'}"


def _left_out(document: Document, character: Character) -> list[str]:
    """That clips are not in the file, if any are not."""
    names = [quote(name) for name in document.character.clips if name not in character.clips]
    return [f"it holds one clip, without {', '.join(names)}"] if names else []
