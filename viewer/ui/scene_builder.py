"""The scene of a session: the figure, marks, the ground, ghosts and trails of other frames, the other figures."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from viewer.document import (
    Document,
    DocumentContact,
    GoalError,
    Item,
    frame_pose,
    joint_of,
    measured,
    world_of,
)
from viewer.document.document_goal import PAIR_KINDS, DocumentGoal
from viewer.document.evaluation import frames_shown
from viewer.document.scope import at_limit
from viewer.ik.contact import Object
from viewer.ik.goals import KINDS, GoalDrawing
from viewer.ik.solution import Status
from viewer.scene import (
    Density,
    Display,
    Footprint,
    Ghost,
    Mark,
    OtherFigure,
    PropShape,
    Scene,
    Tie,
    Trail,
    density_of,
    figure_height,
    goal_mark,
)
from viewer.session import Session
from viewer.session.figures import Placement
from viewer.skeleton import Character, Pose, World, coordinates_of, find_place, fk_arrays, room_of
from viewer.skeleton.joint_edits import rest_of
from viewer.skeleton.kinematics import fixed_points
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.contact import ground_of, prop_marks, prop_shapes, touch_rings
from viewer.ui.drag_targets import aims, body_handles, free_pole
from viewer.ui.laboratory import Laboratory
from viewer.ui.layering import layer_marks
from viewer.ui.planting import FeetView
from viewer.ui.simulating import Simulating
from viewer.ui.status import too_near, worst
from viewer.ui.timeline import key_frames
from viewer.ui.trails import TrailMover
from viewer.ui.view import View, Workspace

_OUTSIDE = 1e-6
"""Radians or metres beyond its range from which a joint counts as outside."""

_AIMED = 0.3
"""Opacity of the pose that a simulated figure is driven to."""
_APART_M, _APART_W = 0.004, 0.9998
"""It is shown where a joint is farther from it than this part of the figure's height, or turned by more than what has
this cosine of half its angle, 2 degrees: bones would be seen through the meshes of robots for nothing."""
_SLACK, _SLACK_DEG = 0.02, 5.0
"""While a drag still iterates, errors below this fraction of the figure's height (and this many degrees) are not
shown as missed, which would flicker at every quick move."""
_SAID = 0.01
"""Errors from this fraction of the figure's height on are written out: of selected (dragged) goals, of
pins, and without a selection of the worst goal; others may be missed for their sake."""


class Setting(NamedTuple):
    """Other content of a scene.

    Attributes:
        height: H: the figure's size, metres.
        floor: height of the ground, metres.
        axis: view axis under the pointer.
        ghosts: of the figure at other frames.
        trails: of the selected items.
        footprints: of planted feet.
        others: the figures that are not active.
        simulated: a pose shown instead of the document's.
        aimed: the pose that it is driven to: a ghost, where the two differ.
        balls: that were thrown.
        objects: the props, where a simulation has them.
        traced: a pose of the laboratory, shown instead of the document's with all that is measured in it.
    """

    height: float
    floor: float
    axis: str
    ghosts: tuple[Ghost, ...] = ()
    trails: tuple[Trail, ...] = ()
    footprints: tuple[Footprint, ...] = ()
    others: tuple[OtherFigure, ...] = ()
    simulated: Pose | None = None
    aimed: Pose | None = None
    balls: tuple[PropShape, ...] = ()
    objects: tuple[Object, ...] = ()
    traced: Pose | None = None


def _differ(aimed: World, simulated: World, height: float) -> bool:
    """Whether a simulated pose is seen to differ from the one that it is driven to."""
    apart = np.abs(aimed.positions - simulated.positions).max()
    turned = np.abs(np.einsum("ji,ji->j", aimed.rotations, simulated.rotations)).min()
    return bool(apart > _APART_M * height or turned < _APART_W)


def scene_of(session: Session, hovered: Item | None, display: Display, setting: Setting) -> Scene:
    """Make the scene of a session.

    Args:
        session: provides document and report.
        hovered: item under the pointer.
        display: display switches.
        setting: sizes, ghosts and trails.
    """
    document, report = session.document, session.report
    skeleton = document.skeleton
    errors = report.errors if report is not None else session.errors
    if setting.traced is not None:
        document, report = replace(document, pose=setting.traced), None
        errors = measured(document)
    under_way = session.gestures.drag is not None and report is not None and report.status is Status.BUDGET
    slack = _SLACK * setting.height if under_way else 0.0
    near = too_near(document, None if session.clock.playing else report)
    yields = frozenset() if session.clock.playing else session.yields
    free = None if session.gestures.drag is not None or session.clock.playing else free_pole(document, hovered)
    poles = () if free is None else (free,)
    skin = document.character.skin
    shown, ghosts = document.pose, setting.ghosts
    if setting.simulated is not None:
        shown = setting.simulated
        aimed = world_of(skeleton, setting.aimed or document.pose)
        if _differ(aimed, world_of(skeleton, shown), setting.height):
            ghosts = (*ghosts, Ghost(aimed, _AIMED))
    props = prop_shapes(document, hovered) if document.contact.props else ()
    if setting.simulated is not None:
        now = {one.name: one for one in setting.objects}
        props = tuple(replace(prop, solid=now.get(prop.name, prop.solid)) for prop in props)
    return Scene(
        skeleton=skeleton,
        world=world_of(skeleton, shown),
        coordinates=coordinates_of(skeleton, shown),
        marks=(
            *_effectors(document, errors, hovered, (setting.height, slack), near, yields),
            *poles,
            *_roots(document, hovered),
            *(prop_marks(document, hovered) if document.contact.props and setting.simulated is None else ()),
            *(layer_marks(document, hovered) if document.take is not None else ()),
        ),
        selected=frozenset(joint_of(document, item) for item in document.selected_on_figure),
        hovered=joint_of(document, hovered) if hovered is not None and hovered.kind == "joint" else -1,
        at_limit=at_limit(document),
        outside=_outside(document),
        stretched=stretched(document),
        limits_on=document.limits_on,
        unlimited=document.unlimited,
        display=display,
        height=setting.height,
        ghosts=ghosts,
        trails=setting.trails,
        footprints=setting.footprints,
        floor=setting.floor,
        plane=document.planar,
        hovered_axis=setting.axis,
        props=props,
        balls=setting.balls,
        touches=touch_rings(document, labelled=session.gestures.label is not None) if document.contact.on else (),
        ties=ties_of(document, errors),
        skin=skin,
        size=None if skin is None else skin.size_at(document.clip, document.frame),
        others=setting.others,
        margin=document.balance.margin if document.balance.on else None,
        densities=_densities(document),
    )


def _densities(document: Document) -> dict[int, Density]:
    """Where the clip takes the bone of the joint that was selected last."""
    clip, active = document.clip_data, document.active_on_figure
    if clip is None or active is None:
        return {}
    joint = joint_of(document, active)
    found = density_of(document.skeleton, clip, joint)
    return {} if found is None else {joint: found}


def _outside(document: Document) -> frozenset[int]:
    """Joints outside their ranges, as in some clips."""
    skeleton, free = document.skeleton, document.unlimited
    beyond = [joint for joint, room in enumerate(room_of(skeleton, document.pose).tolist()) if room < -_OUTSIDE]
    return frozenset([joint for joint in beyond if skeleton.names[joint] not in free])


def stretched(document: Document) -> frozenset[int]:
    """Joints at the ends of bones that have another length than in the file."""
    own, now = document.character.skeleton.offsets, document.skeleton.offsets
    return frozenset() if own is now else frozenset(np.flatnonzero((own != now).any(axis=1)).tolist())


def _roots(document: Document, hovered: Item | None) -> list[Mark]:
    world, marks = world_of(document.skeleton, document.pose), []
    for item, joint in body_handles(document.skeleton, document.mode, document.solver.root).items():
        states = item in document.selection, item == hovered
        marks.append(Mark(item.name, joint, world.positions[joint], root=True, selected=states[0], hovered=states[1]))
    return marks


def goal_marks(document: Document) -> tuple[Mark, ...]:
    """Marks of effectors and their targets, without selection."""
    still = replace(document, selection=())
    return tuple(_effectors(still, measured(still), None, (figure_height(still.skeleton), 0.0)))


def _effectors(
    document: Document,
    errors: Mapping[str, GoalError],
    hovered: Item | None,
    sizes: tuple[float, float],
    close: Collection[str] = (),
    yields: Collection[str] = (),
) -> list[Mark]:
    """Marks of goals; ``sizes``: the figure's height, and errors too small to show, metres."""
    (height, slack), marks = sizes, []
    chosen = {item.name for item in document.selected_on_figure if item.name in errors}
    others = {name: error for name, error in errors.items() if name not in yields}
    spoken = chosen or {worst(others)[0]}  # the goals in the status line
    selected = {item.name for item in document.selection if item.kind == "effector"}
    lit = hovered.name if hovered is not None and hovered.kind == "effector" else None
    world = world_of(document.skeleton, document.pose)
    fixed = fixed_points(document.skeleton, tuple([(one.effector, one.offset) for one in document.goals]))
    targets = np.array([goal.position or _NOWHERE for goal in document.goals]).reshape(-1, 3)
    for goal, joint, place, target in zip(document.goals, fixed.joints.tolist(), fixed.at(world), targets, strict=True):
        if goal.kind in PAIR_KINDS:
            continue
        name, on, error = goal.id, goal.enabled, errors.get(goal.id)
        metres, degrees, met = (0.0, 0.0, True) if error is None else error
        off, turn = metres or 0.0, degrees or 0.0
        gives_way = on and name in yields
        reached = met or not on or gives_way or (off < slack and turn < _SLACK_DEG)
        much = off >= _SAID * height or turn >= _SLACK_DEG
        kind = KINDS[goal.kind]
        handle = GoalDrawing(
            joint,
            place,
            target if aims(goal) else None,
            goal.rotation if on and goal.has_rotation else None,
            () if goal.placed else _guides(document, goal, world, reached=reached),
        )
        marks.append(
            goal_mark(
                name,
                handle,
                reached=reached,
                error_m=off,
                pin_position=on and goal.pin_position,
                pin_rotation=on and goal.pin_rotation,
                on=on,
                pole=on and kind.spans,
                swivel=kind.swivel(document.skeleton, world, goal.effector)
                if on and name in selected and kind.swivel is not None
                else None,
                selected=name in selected,
                hovered=name == lit,
                too_near=name in close,
                yields=gives_way and (off >= slack or turn >= _SLACK_DEG),
                quiet=not (reached or (much and (name in spoken or goal.pinned))),
            )
        )
    return marks


def _guides(document: Document, goal: DocumentGoal, world: World, *, reached: bool) -> tuple[Floats, ...]:
    """The lines that show where a goal is met; positions and rotations have none, and there are many of them.

    Where it is missed, one of them leads to its target, unless that is the handle, to which another line leads.
    """
    solved = goal.for_solver()
    drawing = None if solved is None else KINDS[solved.kind].drawing(solved, document.skeleton, world)
    if drawing is None:
        return ()
    if reached or drawing.target is None or (*drawing.target,) == goal.position:
        return drawing.guides
    return (*drawing.guides, np.stack([drawing.position, drawing.target]))


def ties_of(document: Document, errors: Mapping[str, GoalError]) -> tuple[Tie, ...]:
    """The lines between effectors that hold together."""
    goals = [goal for goal in document.goals if goal.kind in PAIR_KINDS and goal.enabled]
    if not goals:
        return ()
    world = world_of(document.skeleton, document.pose)
    selected = {item.name for item in document.selection if item.kind == "effector"}
    ties = []
    for goal in goals:
        ends = fixed_points(document.skeleton, ((goal.effector, goal.offset), (goal.to, _NOWHERE))).at(world)
        reached = goal.id not in errors or errors[goal.id].reached
        ties.append(Tie(ends, reached, bool(selected & {goal.id, goal.effector, goal.to})))
    return tuple(ties)


_NOWHERE = (0.0, 0.0, 0.0)


def at_rest(scene: Scene) -> Scene:
    """The scene with the figure in its rest pose alone: its motion, goals and limits in use are not shown."""
    skeleton = scene.skeleton
    pose = skeleton.rest_pose()
    return replace(
        scene,
        world=rest_of(skeleton),
        coordinates=coordinates_of(skeleton, pose),
        marks=(),
        at_limit=frozenset(),
        outside=frozenset(),
        stretched=frozenset(),
        ghosts=(),
        trails=(),
        footprints=(),
        touches=(),
        ties=(),
        size=None,
        margin=None,
    )


class SceneBuilder:
    """The scene of a session, cached until it changes."""

    def __init__(
        self, session: Session, view: View, others: Others, simulating: Simulating, laboratory: Laboratory
    ) -> None:
        """Start without a cached scene."""
        self._session, self._view, self._others, self._simulating = session, view, others, simulating
        self._laboratory = laboratory
        self.onion_skin, self.feet = OnionSkin(session, view), FeetView(session)
        self._scene: tuple[object, Scene] | None = None
        self._ground: tuple[tuple[Character, DocumentContact], float] | None = None

    def scene(self) -> Scene:
        """The scene."""
        session, view, others = self._session, self._view, self.onion_skin
        hovered = view.hovered_item()
        display = view.display if not session.document.balance.on else replace(view.display, balance=True)
        if view.workspace in (Workspace.RETARGET, Workspace.BUILD):
            display = replace(display, goals=False, limits="none")  # strings or new bones are shown instead
        asked = others.asked if display.ghosts or display.trails else None
        lit = view.lit_figure
        mover = getattr(view.gesture, "mover", None)
        held = mover.frame if isinstance(mover, TrailMover) else None
        simulated = self._simulating.pose if self._simulating.sim is not None else None
        laboratory = self._laboratory if view.workspace is Workspace.LAB else None
        traces = None if laboratory is None else laboratory.shown_key
        shown = view.workspace, session.stage.revision, id(simulated), traces
        key = (*shown, view.hovered.axis, hovered, display, asked, lit, held)
        if self._scene is None or self._scene[0] != key:
            ghosts = (*others.ghosts(), *self.feet.before()) if display.ghosts else ()
            if held is not None and held != session.document.frame:
                ghosts = (*ghosts, others.ghost_at(held))
            trails = others.trails() if display.trails else ()
            beside = self._simulating.beside(self._others.figures(lit)) if session.stage.several else ()
            prints = self.feet.footprints() if session.document.take is not None else ()
            axis = view.hovered.axis
            physics = self._simulating
            around = (None, (), ()) if simulated is None else (physics.aimed, physics.balls, physics.objects)
            traced = None
            if laboratory is not None:
                traced, ghosts = laboratory.pose, (*ghosts, *laboratory.ghosts())
            setting = Setting(
                view.height, self._floor(), axis, ghosts, trails, prints, beside, simulated, *around, traced
            )
            made = scene_of(session, hovered, display, setting)
            self._scene = key, made if view.workspace is not Workspace.BUILD else at_rest(made)
        return self._scene[1]

    def _floor(self) -> float:
        """Height of the ground: of the floor that counts, else below the figure as loaded."""
        character, contact = key = self._session.document.character, self._session.document.contact
        if self._ground is None or self._ground[0][0] is not character or self._ground[0][1] is not contact:
            self._ground = key, ground_of(self._session.document)
        return self._ground[1]


ALPHAS = (0.42, 0.25)
"""Opacity of the nearest ghosts, and of those beyond."""
_APART, _LEAST, _AROUND = 0.3, 0.15, 1.0
"""Seconds between ghosts without keys; least seconds between ghosts at keys; seconds of trails each way."""
MOST_TRAILS = 12


class OnionSettings(NamedTuple):
    """Settings of ghosts and trails.

    Attributes:
        around: number of ghosts before and after, each.
        step: frames between them; 0: at keys.
        reach: frames of trails before and after; 0: one second.
    """

    around: int = 2
    step: int = 0
    reach: int = 0


class OnionSkin:
    """Ghosts and trails, cached until their input changes."""

    def __init__(self, session: Session, view: View) -> None:
        """Start without cached results."""
        self._session, self._view = session, view
        self._kept: dict[str, tuple[tuple[object, ...], Any]] = {}

    @property
    def asked(self) -> OnionSettings:
        """The settings in the preferences."""
        preferences = self._view.preferences
        return OnionSettings(preferences.ghosts_around, preferences.ghost_step, preferences.trail_frames)

    def ghosts(self) -> tuple[Ghost, ...]:
        """Ghosts of the figure; none during a recording."""
        document = self._session.document
        if not self._view.display.ghosts or self._has_none(document):
            return ()
        found: tuple[Ghost, ...] = self._once("ghosts", document, (), lambda: ghosts_of(document, self.asked))
        return found

    def ghost_at(self, frame: int) -> Ghost:
        """The figure at a frame, as that frame's motion is dragged."""
        document = self._session.document
        world = _worlds(document, (frame,))
        return Ghost(World(world.positions[0], world.rotations[0]), ALPHAS[0], _label(frame - document.frame))

    def trails(self) -> tuple[Trail, ...]:
        """Trails of the selected items; of all effectors if nothing is selected."""
        document = self._session.document
        if not self._view.display.trails or self._has_none(document):
            return ()
        chosen = document.selected_on_figure or tuple(Item("effector", h.id) for h in document.goals if h.enabled)
        items = chosen[-MOST_TRAILS:]
        offsets = tuple(_offset(document, item) for item in items)
        more = (items, offsets, document.selection)
        found: tuple[Trail, ...] = self._once("trails", document, more, lambda: trails_of(document, items, self.asked))
        return found

    def _has_none(self, document: Document) -> bool:
        take = document.take
        return self._session.recorder.recording or (document.clip is None and (take is None or take.is_empty))

    def _once(self, name: str, document: Document, more: tuple[object, ...], make: Callable[[], object]) -> Any:  # noqa: ANN401 - what was made
        same = (document.take, document.clip_data, document.skeleton)
        equal = (document.frame, self.asked, *more)
        kept = self._kept.get(name)
        if kept is not None and kept[0][1] == equal and _all_same(kept[0][0], same):
            return kept[1]
        made = make()
        self._kept[name] = (same, equal), made
        return made


def _all_same(some: object, others: tuple[object, ...]) -> bool:
    return isinstance(some, tuple) and all(one is other for one, other in zip(some, others, strict=True))


def ghost_frames(document: Document, asked: OnionSettings) -> tuple[int, ...]:
    """Frames of ghosts, ascending: at keys; at regular steps if that is set or a clip has no keys."""
    now, (first, last) = document.frame, document.played
    keys = key_frames(document)
    step = asked.step or max(1, round(_APART / document.frame_time))
    steps = range(step, step * asked.around + 1, step)
    back, on = [now - by for by in steps if now - by >= first], [now + by for by in steps if now + by <= last]
    if not asked.step:
        least = max(1, round(_LEAST / document.frame_time))
        at_keys = (
            _spread(reversed(keys[: bisect_left(keys, now)]), now, least, asked.around),
            _spread(keys[bisect_right(keys, now) :], now, least, asked.around),
        )
        # Without a clip nothing moves beyond the keys.
        moves = document.clip is not None
        back, on = (found or (other if moves else []) for found, other in zip(at_keys, (back, on), strict=True))
    return (*reversed(back), *on)


def _spread(keys: Iterable[int], now: int, least: int, most: int) -> list[int]:
    """The first keys that are at least ``least`` frames apart: a recording has one at every frame."""
    found: list[int] = []
    for key in keys:
        if len(found) == most:
            break
        if abs(key - (found[-1] if found else now)) >= least:
            found.append(key)
    return found


def ghosts_of(document: Document, asked: OnionSettings) -> tuple[Ghost, ...]:
    """Ghosts of the figure, fainter with distance in frames."""
    frames, now = ghost_frames(document, asked), document.frame
    if not frames:
        return ()
    world = _worlds(document, frames)
    ghosts = []
    for index, frame in enumerate(frames):
        between = sum(1 for other in frames if min(now, frame) < other < max(now, frame))
        moment = World(world.positions[index], world.rotations[index])
        ghosts.append(Ghost(moment, ALPHAS[min(between, len(ALPHAS) - 1)], _label(frame - now)))
    return tuple(ghosts)


def _label(away: int) -> str:
    """``+12`` frames from the one shown, with a minus sign before it."""
    return f"{'+' if away > 0 else number_format.MINUS}{abs(away)}"


def trails_of(document: Document, items: Sequence[Item], asked: OnionSettings) -> tuple[Trail, ...]:
    """Trails of items before and after the frame shown, within the played range."""
    now, (first, last) = document.frame, document.played
    reach = asked.reach or max(1, round(_AROUND / document.frame_time))
    low, high = max(min(first, now), now - reach), min(max(last, now), now + reach)
    frames = range(low, high + 1)
    if len(frames) <= 1:
        return ()
    shown = frames_shown(document, low, high)
    world = fk_arrays(document.skeleton.parents, shown.rotations, shown.translations)
    keys = tuple(frame - low for frame in key_frames(document) if low <= frame <= high)
    return tuple(
        Trail(
            world.point(joint_of(document, item), np.array(_offset(document, item))),
            now - low,
            keys,
            item in document.selection,
            item,
            low,
        )
        for item in items
    )


def _offset(document: Document, item: Item) -> tuple[float, ...]:
    """(3,) offset of an item from its joint, metres, in the joint's frame."""
    if item.kind == "joint":
        return (0.0, 0.0, 0.0)
    goal = document.goal(item.name)
    own = find_place(document.skeleton, goal.effector).offset
    return tuple(np.add(own, goal.offset).tolist())


def _worlds(document: Document, frames: Iterable[int]) -> World:
    """World transforms of the joints at some frames."""
    poses = [frame_pose(document, frame) for frame in frames]
    rotations: Floats = np.stack([pose.rotations for pose in poses])
    return fk_arrays(document.skeleton.parents, rotations, np.stack([pose.translations for pose in poses]))


class Beside(NamedTuple):
    """A figure that is filmed beside the active one.

    Attributes:
        name: of the figure.
        document: at the film's start.
        placement: as seen from the active figure.
    """

    name: str
    document: Document
    placement: Placement


class Others:
    """The figures beside the active one, in its coordinates, cached until one changes."""

    def __init__(self, session: Session) -> None:
        """Start without cached figures."""
        self._session = session
        self._kept: dict[str, tuple[tuple[Document, Placement, bool], OtherFigure]] = {}

    def figures(self, hovered: str = "") -> tuple[OtherFigure, ...]:
        """Those that are not hidden.

        Args:
            hovered: name of the one under the pointer.
        """
        stage = self._session.stage
        if not stage.several:
            return ()
        own, found, kept = stage.placement[stage.active], [], self._kept
        self._kept = {}
        for index, document in enumerate(stage.documents):
            if index == stage.active or stage.hidden[index]:
                continue
            name = stage.names[index]
            placed, lit = stage.placement[index].seen_from(own), name == hovered
            key = (document, placed, lit)
            known = kept.get(name)
            if known is None or known[0][0] is not document or known[0][1:] != key[1:]:
                world = placed.world(world_of(document.skeleton, document.pose))
                skin = document.character.skin
                size = None if skin is None else skin.size_at(document.clip, document.frame)
                known = key, OtherFigure(name, document.skeleton, world, lit, skin, size)
            self._kept[name] = known
            found.append(known[1])
        return tuple(found)

    def beside(self) -> tuple[Beside, ...]:
        """Those that are not hidden, for a film."""
        stage = self._session.stage
        own = stage.placement[stage.active]
        return tuple(
            Beside(stage.names[index], document, stage.placement[index].seen_from(own))
            for index, document in enumerate(stage.documents)
            if index != stage.active and not stage.hidden[index]
        )

    def points(self) -> Floats:
        """(N, 3) joints and tips of all of them."""
        return np.concatenate([np.empty((0, 3)), *(other.points for other in self.figures())])
