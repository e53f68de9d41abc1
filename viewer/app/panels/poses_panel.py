"""The pose library: which folder, its list, and its pictures in two columns.

A double click applies a pose, a sideways drag blends it in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui
from numpy.typing import NDArray

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import ask, hint
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import confirm, dialog, open_popup, popup
from viewer.app.widgets.edits import Phase, attempt, scrub
from viewer.app.widgets.pen import Area, Pen, gap, item, tip
from viewer.document import Document
from viewer.errors import plural
from viewer.formats.files import read_bytes, write_whole
from viewer.opengl import LibraryPose, PoseLibrary
from viewer.opengl.pose_library import PIXELS
from viewer.session.user_files import poses_folder
from viewer.skeleton import Skeleton
from viewer.ui.events import Message, Rect

BESIDE = "poses"
"""Name of the folder beside a rig's file."""

_REREAD_SECONDS = 1.0
"""Another program may change the folder: the list is read again after this time, when the panel is drawn."""
_MOST_TEXTURES = 256

_Key = tuple[Path, int]


class PoseShelf:
    """Finds the folder for a document, keeps its list up to date, and draws missing pictures on another thread.

    Attributes:
        chosen: which folder the user wants: that beside the rig, which need not exist yet, or the user's own; None:
            that beside the rig if it exists.
    """

    def __init__(self) -> None:
        self.chosen: Literal["beside", "own"] | None = None
        self._library: PoseLibrary | None = None
        self._read_at = 0.0
        self._textures: dict[_Key, imgui.ImTextureData] = {}
        self._drawn: dict[_Key, Future[NDArray[np.uint8]]] = {}
        self._artist: ThreadPoolExecutor | None = None

    def beside(self, document: Document) -> Path | None:
        """The folder ``poses`` beside the file of a document's rig; None if the document has no file."""
        path = document.character.source.path
        return None if path is None else Path(path).absolute().parent / BESIDE

    def library(self, document: Document) -> PoseLibrary:
        """The library for a document: that of the folder chosen."""
        beside = self.beside(document)
        wanted = beside is not None and self.chosen != "own" and (self.chosen == "beside" or beside.is_dir())
        folder = beside if beside is not None and wanted else poses_folder()
        now = time.monotonic()
        if self._library is None or self._library.folder != folder:
            self._library, self._read_at = PoseLibrary(folder), now
        elif now - self._read_at > _REREAD_SECONDS:
            self._library.reread()
            self._read_at = now
        return self._library

    def texture(self, pose: LibraryPose, skeleton: Skeleton, wake: Callable[[], None]) -> imgui.ImTextureRef | None:
        """The picture of a pose of the library shown last; None while it is being drawn, or if it cannot be.

        The skeleton draws poses whose file does not state one; ``wake`` is called while a picture is being drawn.
        """
        try:
            key = pose.path, pose.path.stat().st_mtime_ns
        except OSError:
            return None
        if key in self._textures:
            self._textures[key] = self._textures.pop(key)  # the least recently used one is dropped first
            return self._textures[key].get_tex_ref()
        if key not in self._drawn:
            assert self._library is not None
            self._artist = self._artist or ThreadPoolExecutor(max_workers=1, thread_name_prefix="ikviewer-poses")
            self._drawn[key] = self._artist.submit(self._library.picture, pose.name, skeleton)
        if not self._drawn[key].done():
            wake()
            return None
        if self._drawn[key].exception() is not None:
            return None
        self._textures[key] = _texture_of(self._drawn.pop(key).result())
        while len(self._textures) > _MOST_TEXTURES:
            oldest = next(iter(self._textures))
            self._textures.pop(oldest).set_status(imgui.ImTextureStatus.want_destroy)
        return self._textures[key].get_tex_ref()


def _texture_of(image: NDArray[np.uint8]) -> imgui.ImTextureData:
    """A picture (128, 128, 3) as a texture that the window's renderer makes in its next frame."""
    data = imgui.ImTextureData()
    data.create(imgui.ImTextureFormat.rgba32, PIXELS, PIXELS)
    opaque = np.full((PIXELS, PIXELS, 1), 255, np.uint8)
    data.get_pixels_array()[:] = np.concatenate([image, opaque], axis=-1).reshape(data.get_pixels_array().shape)
    data.use_colors = True
    data.set_status(imgui.ImTextureStatus.want_create)
    imgui.internal.register_user_texture(data)
    return data


def shelf_of(ui: PanelContext) -> PoseShelf:
    """The pose library that the window shows."""
    shelf: PoseShelf = ui.memory_of("poses").setdefault("shelf", PoseShelf())
    return shelf


NO_POSES = "No poses yet"

_PICTURE, _NAME, _SPACE, _COLUMNS = 96.0, 20.0, 6.0, 2
"""Sizes of a picture, of the line below it and of the space between; logical pixels."""
_FLIP = 24.0
_FULL = 180.0
"""Logical pixels that a drag takes from 0 to 100 %."""
_BAR = 4.0
_NOTE = 18.0
_MENU, _FOLDERS = "##pose menu", "##pose folders"


def draw_poses(ui: PanelContext) -> None:
    """Draw the panel, or a hint how to fill an empty library."""
    library = shelf_of(ui).library(ui.session.document)
    empty = not library.poses and not library.problems
    if not empty:
        _head(ui)
    query = ui.memory.get("query", "")
    found = library.find(query)
    imgui.begin_child("grid", (0.0, max(1.0, imgui.get_content_region_avail().y - ui.px(_NOTE))))
    if empty:
        controls.quiet(ui, NO_POSES)
        gap(ui.px(4))
        if controls.text_button(ui, "Keep this pose", icon=fa.ICON_FA_PLUS, hint=_keep_hint()):
            ask(ui, "keep-pose")
    elif not found and query:
        controls.quiet(ui, f'No pose matches "{query}"')
    elif found:
        _grid(ui, library, found)
    for problem in library.problems:
        _problem(ui, problem)
    imgui.end_child()
    _foot(ui, library)
    _menu(ui, library)


def _keep_hint() -> str:
    return hint("pose.keep", "Keep this pose in the library")


def _head(ui: PanelContext) -> None:
    """The search field, and the button that keeps the pose."""
    x, y = imgui.get_cursor_screen_pos()
    wide, button = imgui.get_content_region_avail().x, ui.px(24)
    imgui.begin_child("head", (wide - button - ui.px(4), button))
    ui.memory["query"] = fields.search_field(ui, "find", ui.memory.get("query", ""), "Find pose or tag").text
    imgui.end_child()
    imgui.set_cursor_screen_pos((x + wide - button, y))
    if controls.icon_button(ui, "keep", fa.ICON_FA_PLUS, _keep_hint(), size=24):
        ask(ui, "keep-pose")


def _foot(ui: PanelContext, library: PoseLibrary) -> None:
    """Draw what a pose would be applied to, and the folder."""
    pen = Pen(ui)
    joints = ui.session.document.selected("joint")
    to = "all joints" if not joints else joints[0] if len(joints) == 1 else f"{len(joints)} joints"
    x, y = imgui.get_cursor_screen_pos()
    room, button = imgui.get_content_region_avail().x, pen.px(_NOTE)
    top = pen.middle(y, button, SMALL)
    full = pen.fitted(x, top, f"Applied to {to}", room - button - pen.px(4), "text3", SMALL)
    imgui.dummy((room - button - pen.px(4), button))
    tip(full or "Poses change the selected joints; all if none is selected")
    imgui.set_cursor_screen_pos((x + room - button, y))
    if controls.icon_button(ui, "folder", fa.ICON_FA_FOLDER, f"Poses of {library.folder}", size=_NOTE, fill=None):
        open_popup(ui, _FOLDERS)
    with popup(ui, _FOLDERS) as opened:
        if opened:
            _folders(ui, library)


def _folders(ui: PanelContext, library: PoseLibrary) -> None:
    """Entries that choose the folder."""
    beside = shelf_of(ui).beside(ui.session.document)
    here = library.folder
    if imgui.menu_item_simple("Beside the rig", None, here == beside, beside is not None):
        shelf_of(ui).chosen = "beside"
    if imgui.menu_item_simple("My poses", None, here != beside):
        shelf_of(ui).chosen = "own"
    imgui.separator()
    if imgui.menu_item_simple("Show in folder", None, False, here.is_dir()):
        ask(ui, "show-in-folder", here)


def _grid(ui: PanelContext, library: PoseLibrary, found: Sequence[LibraryPose]) -> None:
    pen = Pen(ui)
    side, space = pen.px(_PICTURE), pen.px(_SPACE)
    height = side + pen.px(_NAME)
    left, _ = imgui.get_cursor_screen_pos()
    room = imgui.get_content_region_avail().x
    columns = max(_COLUMNS, int((room + space) // (side + space)))
    side = min(side, float(int((room - (columns - 1) * space) // columns)))
    with controls.no_spacing():
        for row in controls.rows_in_view(-(-len(found) // columns), height):
            _, top = imgui.get_cursor_screen_pos()
            for column, pose in enumerate(found[row * columns : (row + 1) * columns]):
                imgui.set_cursor_screen_pos((left + column * (side + space), top))
                _cell(ui, library, pose, side)
            imgui.set_cursor_screen_pos((left, top + height))
        imgui.dummy((1.0, 0.0))


def _cell(ui: PanelContext, library: PoseLibrary, pose: LibraryPose, side: float) -> None:
    """Draw a pose and answer the pointer."""
    pen = Pen(ui)
    imgui.push_id(pose.name)
    it = item("pose", side, side, right_too=True)
    share = _answer(ui, library, pose, it)
    pen.box(*it[:4], "field")
    texture = shelf_of(ui).texture(pose, ui.session.document.skeleton, partial(ui.wake, 0.05))
    if texture is not None:
        pen.picture(texture, (it.x, it.y, it.w, it.h))
    if it.hovered or share is not None:
        pen.frame(*it[:4], "accent" if share is not None else "line_hi")
    if share is not None:
        pen.box(it.x, it.y + it.h - pen.px(_BAR), share * it.w, pen.px(_BAR), "accent", rounding=0)
        pen.right(it.x + it.w - pen.px(6), it.y + it.h - pen.px(24), f"{round(100.0 * share)} %")
    y = pen.middle(it.y + it.h, pen.px(_NAME), SMALL)
    colour = "text" if it.hovered or share is not None else "text2"
    words = pen.fit(pose.name, it.w, SMALL)
    pen.text(it.x + (it.w - pen.width(words, SMALL)) / 2.0, y, words, colour, SMALL)
    if it.hovered and share is None:
        flip = _flip_area(pen, it)
        hovered = flip.contains(*imgui.get_io().mouse_pos)
        pen.box(*flip, "field_hi" if hovered else "field")
        middle = flip.x + flip.w / 2.0, flip.y + flip.h / 2.0
        pen.icon(*middle, fa.ICON_FA_ARROWS_LEFT_RIGHT, "text" if hovered else "text2")
    imgui.pop_id()


def _flip_area(pen: Pen, it: Area) -> Rect:
    """The part of a picture that applies the pose flipped; imgui has no button inside a button."""
    size, edge = pen.px(_FLIP), pen.px(4)
    return Rect(round(it.x + it.w - size - edge), round(it.y + edge), round(size), round(size))


def _answer(ui: PanelContext, library: PoseLibrary, pose: LibraryPose, it: Area) -> float | None:
    """Answer the pointer on a picture; returns the share of the blend under way, or None."""
    pen, io = Pen(ui), imgui.get_io()
    flip = _flip_area(pen, it)
    over_flip = it.hovered and flip.contains(*io.mouse_pos)
    if imgui.is_item_activated():
        ui.memory["on flip"] = over_flip
    on_flip = ui.memory.get("on flip", False)
    edit = None if on_flip else scrub(it, 0.0, 1.0 / pen.px(_FULL), snap=0.1, scale=ui.scale)
    blending = ui.memory.get("blend") == pose.path
    if edit is not None:
        match edit.phase:
            case Phase.BEGIN:
                blending = attempt(ui, partial(_begin, ui, library, pose))
                ui.memory["blend"] = pose.path if blending else None
            case Phase.COMMIT:
                ui.session.commit()
            case Phase.CANCEL:
                ui.session.cancel()
        if blending and edit.phase in {Phase.BEGIN, Phase.MOVE}:
            ui.memory["share"] = min(max(edit.value, 0.0), 1.0)
            attempt(ui, lambda: ui.controller.library_poses.blend(edit.value))
        if edit.phase in {Phase.COMMIT, Phase.CANCEL}:
            ui.memory["blend"], blending = None, False
    if it.clicked and imgui.is_mouse_released(imgui.MouseButton_.right):
        open_popup(ui, _MENU, pose)
    elif it.clicked and on_flip and over_flip:
        _apply(ui, library, pose, flipped=True)
    elif it.hovered and not over_flip and imgui.is_mouse_double_clicked(imgui.MouseButton_.left):
        _apply(ui, library, pose)
    elif edit is None and not blending:
        tip("Apply flipped: left and right swapped" if over_flip else _words(pose))
    return float(ui.memory.get("share", 0.0)) if blending else None


def _words(pose: LibraryPose) -> str:
    tags = f"\n{', '.join(pose.tags)}" if pose.tags else ""
    made_for = f" of {pose.skeleton}" if pose.skeleton else ""
    return f"{pose.name}: {plural(pose.joints, 'joint')}{made_for}{tags}\nDouble-click to apply, drag sideways to blend"


def _begin(ui: PanelContext, library: PoseLibrary, pose: LibraryPose) -> None:
    source, own = library.read(pose.name).on(ui.session.document.skeleton)
    ui.controller.library_poses.begin(pose.name, source, own)


def _apply(ui: PanelContext, library: PoseLibrary, pose: LibraryPose, *, flipped: bool = False) -> None:
    def do() -> None:
        source, own = library.read(pose.name).on(ui.session.document.skeleton)
        ui.controller.library_poses.apply(pose.name, source, own, flipped=flipped)

    attempt(ui, do)


def _menu(ui: PanelContext, library: PoseLibrary) -> None:
    """The menu of the picture that was right-clicked."""
    with popup(ui, _MENU) as opened:
        if not opened:
            return
        pose = ui.memory[_MENU]
        if imgui.menu_item_simple("Apply", "Double-click"):
            _apply(ui, library, pose)
        if imgui.menu_item_simple("Apply flipped"):
            _apply(ui, library, pose, flipped=True)
        imgui.separator()
        if imgui.menu_item_simple("Name and tags…"):
            ask(ui, "keep-pose", pose)
        if imgui.menu_item_simple("Show in folder"):
            ask(ui, "show-in-folder", pose.path)
        if imgui.menu_item_simple("Delete"):
            attempt(ui, partial(_delete, ui, library, pose))


def _delete(ui: PanelContext, library: PoseLibrary, pose: LibraryPose) -> None:
    """Delete a pose; the message offers to bring it back."""
    content = read_bytes(pose.path, str(pose.path))
    library.remove(pose.name)

    def restore() -> None:
        attempt(ui, lambda: write_whole(pose.path, content))
        library.reread()

    ui.controller.view.post(Message(f"Deleted pose {pose.name}", actions=(("Undo", restore),), stays=True))


def _problem(ui: PanelContext, words: str) -> None:
    """A file of the folder that is no pose, or a folder that cannot be read."""
    pen, x, y, wide, h = controls.line(ui, 18)
    pen.icon(x + pen.px(7), y + pen.px(9), fa.ICON_FA_TRIANGLE_EXCLAMATION, "warn", SMALL)
    pen.fitted(x + pen.px(18), pen.middle(y, h, SMALL), words, wide - pen.px(18), "text2", SMALL)
    tip(words)


def draw_pose_dialog(ui: PanelContext) -> None:
    """Draw the dialog with the name and the tags of a pose, new or of the library."""
    pose: LibraryPose | None = ui.memory.get("pose")
    with dialog(ui, "keep-pose", width=360.0, title="Name and tags" if pose else "Keep this pose") as shown:
        if shown is None:
            return
        if shown.asked:
            pose = ui.memory["pose"] = shown.asked.value
            ui.memory["name"] = pose.name if pose else "Pose"
            ui.memory["tags"] = ", ".join(pose.tags) if pose else ""
        if imgui.is_window_appearing():
            fields.focus_next_field()
        controls.label(ui, "Name")
        ui.memory["name"], entered = fields.text_line(ui, "name", ui.memory["name"], chosen=True)
        controls.label(ui, "Tags")
        ui.memory["tags"], too = fields.text_line(ui, "tags", ui.memory["tags"], hint="walk, left hand")
        gap(ui.px(6))
        done = partial(_change, ui, pose) if pose else partial(_keep, ui)
        confirm(ui, shown, "Apply" if pose else "Keep", done, entered=entered or too)


def _tags(ui: PanelContext) -> list[str]:
    return [tag.strip() for tag in ui.memory["tags"].split(",") if tag.strip()]


def _keep(ui: PanelContext) -> None:
    document = ui.session.document
    library = shelf_of(ui).library(document)
    name = library.keep(document.skeleton, document.pose, ui.memory["name"], _tags(ui))
    ui.controller.view.note(f"Kept pose: {name}")


def _change(ui: PanelContext, pose: LibraryPose) -> None:
    library = shelf_of(ui).library(ui.session.document)
    if tuple(_tags(ui)) != pose.tags:
        library.set_tags(pose.name, _tags(ui))
    library.rename(pose.name, ui.memory["name"])
