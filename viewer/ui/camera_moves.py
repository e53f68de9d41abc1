"""Camera moves: standard views, keys, wheel, animated jumps, planes; none during a drag."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from viewer.document import Document, frame_pose, joint_of, world_of
from viewer.document.actions import SetPlanar
from viewer.document.scope import out_of_plane
from viewer.latest import Latest
from viewer.scene import Camera, ViewName, blend, facing, figure_points
from viewer.session import Session
from viewer.session.demos import demo_of
from viewer.session.figures import Placement
from viewer.skeleton import Pose, Skeleton, at_or_below, fk_arrays, rest_world, tip_positions
from viewer.skeleton.joint_edits import unplaced
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui import drag_targets
from viewer.ui.commands import CommandBinding, CommandBindings, needs
from viewer.ui.events import Scroll
from viewer.ui.scene_builder import Others
from viewer.ui.view import View, Workspace

VIEWS: dict[str, ViewName] = {
    "front": "front", "right": "right", "top": "top", "back": "back", "left": "left", "bottom": "bottom",
    "three_quarter": "three-quarter",
}  # fmt: skip
"""Views of the figure, by the names of their commands."""
_AGAINST = {
    "x": (0.5 * math.pi, 0.0), "-x": (-0.5 * math.pi, 0.0), "z": (0.0, 0.0), "-z": (math.pi, 0.0),
    "y": (None, 0.5 * math.pi), "-y": (None, -0.5 * math.pi),
}  # fmt: skip
"""Yaw and pitch that look against an axis; None keeps the yaw, for straight up and down."""

_SECONDS = np.linspace(0.0, 12.0, 121).tolist()
"""Seconds at which the paths of a demo's moving targets are sampled, so that they stay in view."""
_PANS = 5
"""Rounds of a pan: points nearer than the target move farther, so that each round pans the rest of the way."""
_BESIDE = 0.3
"""Least part of the view's width into which a demo is fitted beside its card."""
JUMP_SECONDS = 0.18
CARD_WIDTH, CARD_MARGIN = 296.0, 12.0
"""Size and place of a demo's card, at the top left of the view, logical pixels."""
ORBIT_STEP = math.radians(15.0)
_SCROLL_ORBIT = 40.0
"""Pixels of orbit or pan per notch of two-finger scrolling."""
_LEAST_SPAN = 0.25
"""Least height that is framed, as a fraction of the figure's height."""
_MARGIN = 24.0
"""Logical pixels around framed points, for the rings of pins and selected items."""
_TALL = 0.55
"""Least fraction of the view's height that the figure must fill for the initial view to include its path."""
_TALL_AMONG = 0.45
"""The same where there are several figures."""
_ABREAST = math.radians(27.5)
"""Rotation of the initial view towards the front where figures stand side by side."""
_EMPTY = np.array([(-0.6, 0.0, -0.4), (0.6, 1.7, 0.4)])
"""Corners of the room, metres, in which a skeleton is made from nothing."""
_RESIZED = 1.5
"""Factor of change in the figure's size after which the view is reset."""

_ALONG = {"xy": "z", "yz": "x", "zx": "y"}
"""By plane, the axis that points at the viewer."""
_NAMED = 2
"""Most joints that a message names; more are counted."""

_HIDDEN = 0.3
"""Part of the narrower figure that may be behind or before the other one."""
_FRAMES, _PLACES = 48, 30_000
"""Most sampled frames of a path, and most points."""


def along(camera: Camera, axis: str) -> Camera:
    """A camera rotated so that a world axis ("x", "-x", ...) points at the viewer."""
    yaw, pitch = _AGAINST[axis]
    return replace(camera, yaw=camera.yaw if yaw is None else yaw, pitch=pitch)


class CameraMoves:
    """Moves the view's camera; keeps the body in a plane of the world, and faces it.

    Attributes:
        seen: gives the poses that are drawn in place of the document's, such as those of the laboratory and of physics.
    """

    def __init__(self, session: Session, view: View, others: Others) -> None:
        self.seen: Callable[[], Sequence[Pose]] = tuple
        self._session, self._view, self._others = session, view, others
        session.stage.moved.append(self._carry)
        self.follow = False
        self._shown: tuple[Skeleton, int, Floats] | None = None
        self._was_planar = False
        self._sized: Skeleton | None = None
        self._jump: tuple[Camera, Camera] | None = None
        self._since: float | None = None
        self._started: Camera | None = None
        self._height, self._travel = 1.0, Latest[Floats]()

    def set(self, camera: Camera) -> None:
        """Set the camera immediately, and end a jump under way."""
        self._jump = self._since = None
        if not camera.same_as(self._view.camera):
            self._view.camera = camera
            self._view.changed()

    def _carry(self, before: Placement, after: Placement) -> None:
        """Express the camera in the coordinates of the figure that is active now: what is seen stays where it is."""
        self._height = self._view.height
        if before == after:
            return
        way = before.seen_from(after)

        def carried(camera: Camera) -> Camera:
            return replace(camera, target=way.points(camera.target), yaw=camera.yaw + way.yaw)

        self._view.camera = carried(self._view.camera)
        if self._jump is not None:
            self._jump = carried(self._jump[0]), carried(self._jump[1])
        self._view.changed()

    def jump(self, camera: Camera) -> None:
        """Animate to a camera, or set it immediately with "reduce motion"."""
        if self._view.dragging:
            return
        if self._view.reduce_motion:
            self.set(camera)
            return
        self._jump, self._since = (self._view.camera, camera), None
        self._view.changed()

    @property
    def heading_for(self) -> Camera:
        """The camera at the end of the jump under way, else the present camera."""
        return self._jump[1] if self._jump else self._view.camera

    def tick(self, now: float) -> bool:
        """Advance a jump under way; whether the camera moved."""
        document = self._session.document
        if self._sized is not document.skeleton:
            self._sized = document.skeleton
            if self._view.workspace is Workspace.BUILD:
                self._height = self._view.height  # it grows joint by joint
            if not 1.0 / _RESIZED < self._view.height / self._height < _RESIZED:
                self.start()  # for instance after a change of units: the figure would be a dot, or fill the view
        if self._jump is None:
            return (
                (document.planar is not None and self._face())
                or (self.follow and self._follow())
                or self._keep_in_view(document)
            )
        if self._since is None:
            self._since = now
        start, goal = self._jump
        part = (now - self._since) / JUMP_SECONDS
        if part >= 1.0:
            self.set(goal)
        else:
            self._view.camera = blend(start, goal, part)
            self._view.changed()
        return True

    def _face(self) -> bool:
        """Face a planar document's plane again, for instance after an undo."""
        faced = facing_plane(self._session.document, self._view.camera)
        if faced is self._view.camera or faced.same_as(self._view.camera):
            return False
        self.jump(faced)
        return True

    def _follow(self) -> bool:
        """Keep the selection centred, if `follow` is on."""
        if self._view.dragging:
            return False
        points = selected_points(self._session.document)
        if not len(points):
            return False
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        if np.abs(middle - self._view.camera.target).max() < 1e-9:
            return False
        self.set(replace(self._view.camera, target=middle))
        return True

    def _keep_in_view(self, document: Document) -> bool:
        """Follow a figure that its motion, or its rest pose, carries out of the view; both, if strings connect two.

        If its middle was already outside, or it was larger than the view, the user is looking at something else.
        """
        view, before = self._view, self._shown
        # In Build the figure is at rest.
        frame = -1 if view.workspace is Workspace.BUILD else document.frame
        if before is not None and before[0] is document.skeleton and before[1] == frame:
            return False
        places = self._followed(document)
        self._shown = document.skeleton, frame, places
        if before is None or before[0] is not document.skeleton:
            return False
        if self.follow or view.dragging or not view.keep_in_view:
            return False
        size = np.array(view.viewport.size)
        low, high = _frame_of(view.projection(), before[2])
        middle = 0.5 * (low + high)
        if not ((middle >= 0.0).all() and (middle <= size).all() and (high - low <= size).all()):
            return False
        if not _lacking(view.projection(), places, _MARGIN * view.scale).any():
            return False
        way = 0.5 * (places.min(axis=0) + places.max(axis=0) - before[2].min(axis=0) - before[2].max(axis=0))
        moved = replace(view.camera, target=view.camera.target + way)
        low, high = _frame_of(moved.projection(view.viewport.size), places)
        if not (high - low <= size).all():
            self.set(self._framed(moved, places) if view.workspace is Workspace.RETARGET else moved)
            return True
        by = _lacking(moved.projection(view.viewport.size), places, _MARGIN * view.scale)
        self.set(moved.pan(float(by[0]), float(by[1]), view.viewport.size))
        return True

    def _followed(self, document: Document) -> Floats:
        """(N, 3) joints and tips of what stays in view: the figure, with the others where motion is retargeted."""
        resting = self._view.workspace is Workspace.BUILD
        world = rest_world(document.skeleton) if resting else world_of(document.skeleton, document.pose)
        own = figure_points(document.skeleton, world)
        return np.concatenate([own, self._others.points()]) if self._view.workspace is Workspace.RETARGET else own

    def orbit(self, dx: float, dy: float) -> None:
        """Orbit by a pointer motion of (dx, dy) pixels; pan if the document is planar."""
        if self._view.turns:
            self.set(self._view.camera.orbit(dx, dy, self._view.scale))
        else:
            self.pan(dx, dy)

    def pan(self, dx: float, dy: float) -> None:
        """Pan by a pointer motion of (dx, dy) pixels."""
        self.set(self._view.camera.pan(dx, dy, self._view.viewport.size))

    def zoom(self, steps: float, x: float, y: float) -> None:
        """Zoom in by steps of the wheel; the point under the viewport's pixel (x, y) stays there."""
        point = self._view.projection().under(x, y, self._view.camera.target)
        self.set(self._view.camera.zoom(steps, point if np.isfinite(point).all() else None))

    def scroll(self, event: Scroll) -> None:
        """Answer the wheel: zoom; with the two-finger preference orbit, pan with Shift and zoom with Ctrl."""
        x, y = self._view.local(event.x, event.y)
        by = _SCROLL_ORBIT * self._view.scale
        if not self._view.two_fingers or "ctrl" in event.mods:
            self.zoom(event.dy, x, y)
        elif "shift" in event.mods:
            self.pan(by * event.dx, by * event.dy)
        else:
            self.orbit(by * event.dx, by * event.dy)

    def centre(self, point: Floats) -> None:
        """Make a point (3,) the centre of orbiting."""
        self.jump(replace(self.heading_for, target=point))

    def frame(self, points: Floats) -> None:
        """Bring points (N, 3) into view."""
        if len(points):
            self.jump(self._framed(self.heading_for, points))

    def _framed(self, camera: Camera, points: Floats) -> Camera:
        """The camera with points (N, 3) in view, with a margin for the marks on them."""
        least, margin = _LEAST_SPAN * self._view.height, _MARGIN * self._view.scale
        return camera.frame(points, self._view.viewport.size, least=least, margin=margin)

    def frame_all(self) -> None:
        """Bring all figures and their paths over the played frames into view."""
        self.frame(self._paths())

    def frame_figures(self, *, beside: bool = False) -> None:
        """Bring all figures into view as they stand, without their paths; ``beside``: such that none hides another."""
        own, others = _figure(self._session.document), self._others.points()
        camera = self.heading_for
        if beside and len(others) and self._view.turns:
            camera = _side_by_side(camera, own, others)
        self.jump(self._framed(camera, np.concatenate([own, others])))

    def start(self) -> None:
        """Set the initial view of a document: the figure, and its path if the figure stays large."""
        self._jump = None
        document = self._session.document
        camera, figure = self._opening_view(), _figure(document)
        demo = demo_of(document)
        room = np.array(() if demo is None else demo.room).reshape(-1, 3)
        if unplaced(document.skeleton):
            room = _EMPTY
        if self._session.stage.several:
            room = np.concatenate([room, self._others.points()])
        view = self._framed(camera, np.concatenate([self._paths(), room]))
        pixels = view.projection(self._view.viewport.size).project(figure)
        heights = np.ptp((self._along(document) @ view.up).reshape(-1, len(figure)), axis=1)
        least = _TALL_AMONG if self._session.stage.several else _TALL
        # As tall as where it stands up: the view stays when the window changes while the figure bows.
        if not np.ptp(pixels[:, 1]) * heights.max() >= least * self._view.viewport.h * heights[0]:
            view = self._framed(camera, np.concatenate([figure, room]))
        if demo is not None:
            paths = [motion.path(seconds) for motion in demo.motions for seconds in _SECONDS]
            view = self._beside_card(view, figure, np.concatenate([figure, room, np.reshape(paths, (-1, 3))]))
        self.set(view)
        self._started, self._height = self._view.camera, self._view.height

    def _beside_card(self, camera: Camera, figure: Floats, points: Floats) -> Camera:
        """The camera with a figure (N, 3) moved out from under a demo's card as far as points (M, 3) stay in view.

        In a narrow view it is farther away, so that they have room beside the card.
        """
        viewport, scale = self._view.viewport, self._view.scale
        card, margin = (CARD_WIDTH + 2.0 * CARD_MARGIN) * scale, _MARGIN * scale
        beside = round(max(viewport.w - card, _BESIDE * viewport.w)), viewport.h
        for begun in (camera, camera.frame(points, beside, margin=margin)):
            moved = begun
            for _ in range(_PANS):
                projection = moved.projection(viewport.size)
                left, right = projection.project(figure)[:, 0].min(), projection.project(points)[:, 0].max()
                by = min(card - left, viewport.w - margin - right)
                moved = moved.pan(float(by), 0.0, viewport.size)
            if left + by >= card - 1.0:
                break
        to_the_right = float((moved.target - camera.target) @ camera.right) < 0.0
        return moved if to_the_right else camera

    def _paths(self) -> Floats:
        """(N, 3) the figure in the poses that are drawn, else along its motion, and the other figures."""
        document, stage, seen = self._session.document, self._session.stage, self.seen()
        figures = [_figure(document, pose) for pose in seen]
        own = np.concatenate(figures) if figures else self._along(document)
        if not stage.several:
            return own
        others = [one.placement.points(motion_points(one.document)) for one in stage.others]
        return np.concatenate([own, self._others.points(), *others])

    def _along(self, document: Document) -> Floats:
        """(N, 3) the figure in its present pose and along its motion."""
        motion = document.take, document.clip_data, document.skeleton
        return np.concatenate([_figure(document), self._travel.of(lambda: motion_points(document), *motion)])

    def _opening_view(self) -> Camera:
        document = self._session.document
        demo, planar = demo_of(document), document.planar is not None
        view = "three-quarter" if demo is None or demo.view == "planar" else demo.view
        turned = self._view.camera.looking(view, facing(document.character))
        if self._session.stage.several and demo is None:
            turned = turned.turned(_ABREAST, 0.0)
        if self._was_planar and not planar:
            turned = replace(turned, orthographic=False)
        self._was_planar = planar
        return facing_plane(document, turned)

    def resized(self) -> None:
        """Fit the view to another viewport size, if the user has not changed it."""
        if self._view.camera is self._started:
            self.start()

    def frame_selection(self) -> None:
        """Bring the selection into view, with the tips of its joints; the figure if nothing is selected."""
        document = self._session.document
        points = np.concatenate([selected_points(document), _selected_tips(document)])
        self.frame(points if len(points) else _figure(document))

    def look(self, view: ViewName) -> None:
        self.jump(self.heading_for.looking(view, facing(self._session.document.character)))

    def look_along(self, axis: str) -> None:
        """Jump so that a world axis ("x", "-x", ...) points at the viewer; a second time, to the opposite view."""
        now = self.heading_for
        goal = along(now, axis)
        there = abs(math.remainder(goal.yaw - now.yaw, math.tau)) < 1e-9 and abs(goal.pitch - now.pitch) < 1e-9
        self.jump(now.opposite() if there else goal)

    def _step(self, yaw: float, pitch: float) -> CommandBinding:
        return self._turning(lambda: self.jump(self.heading_for.turned(yaw, pitch)))

    def _turning(self, do: Callable[[], None], checked: Callable[[], bool] | None = None) -> CommandBinding:
        return CommandBinding(do, needs("the figure is held in a plane", lambda: self._view.turns), checked)

    def toggle_plane(self, plane: str) -> None:
        """Put the body into a plane and face it; if it is in that plane already, leave it."""
        leaves = self._is_in(plane)
        self._session.dispatch(SetPlanar(None if leaves else plane))
        self.set(replace(self.heading_for, orthographic=not leaves))
        if not leaves:
            self.jump(facing_plane(self._session.document, self.heading_for))
        note_out_of_plane(self._session, self._view)

    def _is_in(self, plane: str) -> bool:
        return self._session.document.planar == plane

    def _toggle_perspective(self) -> None:
        self.set(replace(self.heading_for, orthographic=not self.heading_for.orthographic))

    def bindings(self) -> CommandBindings:
        step = ORBIT_STEP
        views = {f"view.{word}": self._turning(partial(self.look, view)) for word, view in VIEWS.items()}
        planes = {
            f"view.plane_{plane}": CommandBinding(
                partial(self.toggle_plane, plane), checked=partial(self._is_in, plane)
            )
            for plane in _ALONG
        }
        return {
            **views,
            **planes,
            "view.frame_selection": CommandBinding(self.frame_selection),
            "view.frame_all": CommandBinding(self.frame_all),
            "view.follow": self._view.switch(self, "follow"),
            "view.opposite": self._turning(lambda: self.jump(self.heading_for.opposite())),
            "view.orthographic": self._turning(self._toggle_perspective, lambda: self._view.camera.orthographic),
            "view.orbit_left": self._step(-step, 0.0),
            "view.orbit_right": self._step(step, 0.0),
            "view.orbit_up": self._step(0.0, step),
            "view.orbit_down": self._step(0.0, -step),
        }


def facing_plane(document: Document, camera: Camera) -> Camera:
    """An orthographic camera facing the document's plane; the same camera if the document is not planar."""
    plane = document.planar
    if plane is None:
        return camera
    # From above choose the yaw at which the other axes run across and down.
    level = replace(camera, yaw=0.0) if _ALONG[plane] == "y" else camera
    return replace(along(level, _ALONG[plane]), orthographic=True)


def note_out_of_plane(session: Session, view: View) -> None:
    """Post a note about joints that their limits keep out of the plane, if any."""
    names = out_of_plane(session.document)
    if names:
        what = f"{len(names)} joints" if len(names) > _NAMED else " and ".join(names)
        verb, whose = ("stands", "its") if len(names) == 1 else ("stand", "their")
        view.note(f"{what} {verb} out of the plane: {whose} limits exclude it")


def _side_by_side(camera: Camera, first: Floats, second: Floats) -> Camera:
    """The camera turned just enough to put two clouds of points (N, 3) beside each other, if one hides the other."""
    sides = [(float((points @ camera.right).min()), float((points @ camera.right).max())) for points in (first, second)]
    shared = min(end for _, end in sides) - max(start for start, _ in sides)
    if shared <= _HIDDEN * min(end - start for start, end in sides):
        return camera
    apart = np.median(second, axis=0) - np.median(first, axis=0)
    if not np.hypot(apart[0], apart[2]) > 0.0:
        return camera
    across = math.atan2(-apart[2], apart[0])  # the yaw at which the second stands right of the first
    turn = math.remainder(across - camera.yaw, math.pi)
    return camera.turned(turn, 0.0)


def _figure(document: Document, pose: Pose | None = None) -> Floats:
    """(N, 3) joints, tips and vertices of the skin in a pose, default the present one."""
    world = world_of(document.skeleton, document.pose if pose is None else pose)
    return figure_points(document.skeleton, world, document.character.skin)


def _frame_of(projection: Projection, points: Floats) -> tuple[Floats, Floats]:
    """(2,) least and largest pixels of points (N, 3); not finite if any is behind the eye."""
    if (projection.depth(points) <= 0.0).any():
        return np.full(2, np.inf), np.full(2, np.inf)
    pixels = projection.project(points)
    return pixels.min(axis=0), pixels.max(axis=0)


def _lacking(projection: Projection, points: Floats, margin: float) -> Floats:
    """(2,) pixels by which points (N, 3) have to move to be in view, a margin away from its edges if there is room."""
    low, high = _frame_of(projection, points)
    size = np.array(projection.size, dtype=np.float64)
    if not np.isfinite(low).all():
        return np.full(2, np.inf)
    free = np.minimum(margin, np.maximum(0.5 * (size - (high - low)), 0.0))
    return np.asarray(np.maximum(free - low, 0.0) - np.maximum(high - (size - free), 0.0))


def selected_points(document: Document) -> Floats:
    """(N, 3) positions and targets of the selected items."""
    points = [point for item in document.selection for point in drag_targets.places(document, item)]
    return np.array(points).reshape(-1, 3)


def _selected_tips(document: Document) -> Floats:
    """(N, 3) tips of selected joints, and of descendants of selected effectors' joints, such as toes."""
    skeleton, chosen = document.skeleton, document.selected_on_figure
    ends = at_or_below(skeleton, *[joint_of(document, item) for item in chosen if item.kind == "effector"])
    ends[[joint_of(document, item) for item in chosen]] = True
    world = world_of(skeleton, document.pose)
    return figure_points(skeleton, world)[len(skeleton) :][ends[skeleton.tip_parents]]


def motion_points(document: Document) -> Floats:
    """(N, 3) joints and tips at sampled frames of the played range, with the first and the last."""
    first, last = document.played
    if not document.frames or last <= first:
        return np.empty((0, 3))
    most = max(2, min(_FRAMES, _PLACES // len(document.skeleton), last - first + 1))
    frames = np.unique(np.linspace(first, last, most).round().astype(int)).tolist()
    poses = [_pose(document, frame) for frame in frames]
    if document.character.skin is not None:
        return np.concatenate([_figure(document, pose) for pose in poses])
    motion = np.stack([pose.rotations for pose in poses]), np.stack([pose.translations for pose in poses])
    world = fk_arrays(document.skeleton.parents, *motion)
    return np.concatenate([world.positions, tip_positions(document.skeleton, world)], axis=1).reshape(-1, 3)


def _pose(document: Document, frame: int) -> Pose:
    clip, take = document.clip_data, document.take
    plain = clip is not None and (take is None or take.is_plain) and frame < len(clip)
    return clip.pose(frame) if plain and clip is not None else frame_pose(document, frame)
