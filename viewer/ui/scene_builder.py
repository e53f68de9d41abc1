"""The scene of a session: the figure, its marks, the ground, and all that is shown with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from viewer.document import Document, GoalError, Item, joint_of, measured, stand_of, world_of
from viewer.document.document_goal import DocumentGoal
from viewer.document.scope import at_limit
from viewer.ik.goals import KINDS
from viewer.ik.solution import Status
from viewer.latest import Latest
from viewer.scene import Density, Display, Ghost, Mark, OtherFigure, Scene, Tie, density_of, figure_height
from viewer.session import Session
from viewer.session.figures import Placement, StageFigure
from viewer.skeleton import Pose, World, coordinates_of, rest_world, room_of
from viewer.skeleton.kinematics import fixed_points
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import dot
from viewer.ui.contact import ground_of, prop_marks, prop_shapes, touch_rings
from viewer.ui.drag_targets import aims, body_handles, free_pole
from viewer.ui.laboratory import Laboratory
from viewer.ui.layering import layer_marks
from viewer.ui.onion_skin import OnionSkin, TrailMover
from viewer.ui.planting import FeetView
from viewer.ui.simulating import Simulating
from viewer.ui.status import too_near, worst
from viewer.ui.view import View, Workspace

_OUTSIDE = 1e-6
"""Radians or metres beyond its range from which a joint counts as outside."""

_AIMED = 0.3
"""Opacity of the pose that a simulated figure is driven to."""
_APART_M, _APART_W = 0.004, 0.9998
"""That pose is shown if a joint is farther from it than this part of the figure's height, or rotated by more than 2
degrees (this is the cosine of half that angle): otherwise bones would show through the meshes of robots without need.
"""
_SLACK, _SLACK_DEG = 0.02, 5.0
"""While a drag still iterates, errors below this fraction of the figure's height (and this many degrees) are not
shown as missed, which would flicker at every quick move."""
_SAID = 0.01
"""Errors from this fraction of the figure's height on are written out: of selected (dragged) goals, of
pins, and without a selection of the worst goal; others may be missed for their sake."""

_NOWHERE = (0.0, 0.0, 0.0)


def _differ(aimed: World, simulated: World, height: float) -> bool:
    """Whether a simulated pose differs visibly from the one that it is driven to."""
    apart = np.abs(aimed.positions - simulated.positions).max()
    turned = np.abs(dot(aimed.rotations, simulated.rotations)).min()
    return bool(apart > _APART_M * height or turned < _APART_W)


def _densities(document: Document) -> dict[int, Density]:
    """The directions in which the clip moves the bone of the joint that was selected last."""
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
    spoken = chosen or {worst(others)[0]}  # status line: goals
    selected = set(document.selected("effector"))
    lit = hovered.name if hovered is not None and hovered.kind == "effector" else None
    world = world_of(document.skeleton, document.pose)
    fixed = fixed_points(document.skeleton, tuple([(one.effector, one.offset) for one in document.goals]))
    targets = np.array([goal.position or _NOWHERE for goal in document.goals]).reshape(-1, 3)
    for goal, joint, place, target in zip(document.goals, fixed.joints.tolist(), fixed.at(world), targets, strict=True):
        if KINDS[goal.kind].relative:
            continue
        name, on, error = goal.id, goal.enabled, errors.get(goal.id)
        metres, degrees, met = (0.0, 0.0, True) if error is None else error
        off, turn = metres or 0.0, degrees or 0.0
        gives_way = on and name in yields
        reached = met or not on or gives_way or (off < slack and turn < _SLACK_DEG)
        much = off >= _SAID * height or turn >= _SLACK_DEG
        kind = KINDS[goal.kind]
        marks.append(
            Mark(
                name,
                joint,
                stand_of(document, goal).point if goal.of_two else place,
                target if aims(goal) else None,
                np.array(goal.rotation) if on and goal.has_rotation else None,
                reached,
                off,
                turn,
                pin_position=on and goal.pin_position,
                pin_rotation=on and goal.pin_rotation,
                on=on,
                pole=on and kind.of_limb,
                swivel=kind.swivel(document.skeleton, world, goal.effector)
                if on and name in selected and kind.swivel is not None
                else None,
                selected=name in selected,
                hovered=name == lit,
                too_near=name in close,
                yields=gives_way and (off >= slack or turn >= _SLACK_DEG),
                guides=() if goal.sets_pose else _guides(document, goal, world, reached=reached),
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
    goals = [goal for goal in document.goals if goal.relative]
    if not goals:
        return ()
    world = world_of(document.skeleton, document.pose)
    selected = set(document.selected("effector"))
    ties = []
    for goal in goals:
        ends = fixed_points(document.skeleton, ((goal.effector, goal.offset), (goal.to, _NOWHERE))).at(world)
        reached = goal.id not in errors or errors[goal.id].reached
        ties.append(Tie(ends, reached, bool(selected & {goal.id, goal.effector, goal.to})))
    return tuple(ties)


def at_rest(scene: Scene) -> Scene:
    """The scene with the figure in its rest pose alone: its motion, goals and limits in use are not shown."""
    skeleton = scene.skeleton
    pose = skeleton.rest_pose()
    return replace(
        scene,
        world=rest_world(skeleton),
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


def other_figure(figure: StageFigure, *, lit: bool = False) -> OtherFigure:
    """A figure at its placement as seen from the active one, in the pose shown."""
    document = figure.document
    world, skin = figure.placement.world(world_of(document.skeleton, document.pose)), document.character.skin
    size = None if skin is None else skin.size_at(document.clip, document.frame)
    return OtherFigure(figure.name, document.skeleton, world, lit, skin, size)


class Others:
    """The figures beside the active one, in its coordinates, cached until one changes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._kept: dict[str, tuple[tuple[Document, Placement, bool], OtherFigure]] = {}

    def figures(self, hovered: str = "") -> tuple[OtherFigure, ...]:
        """Those that are not hidden; ``hovered`` is the name of the one under the pointer."""
        stage = self._session.stage
        if not stage.several:
            return ()
        found, kept = [], self._kept
        self._kept = {}
        for one in stage.others:
            key = one.document, one.placement, one.name == hovered
            known = kept.get(one.name)
            if known is None or known[0][0] is not key[0] or known[0][1:] != key[1:]:
                known = key, other_figure(one, lit=one.name == hovered)
            self._kept[one.name] = known
            found.append(known[1])
        return tuple(found)

    def points(self) -> Floats:
        """(N, 3) joints and tips of all of them."""
        return np.concatenate([np.empty((0, 3)), *(other.points for other in self.figures())])


class SceneBuilder:
    """The scene of a session, cached until it changes."""

    def __init__(
        self, session: Session, view: View, others: Others, simulating: Simulating, laboratory: Laboratory
    ) -> None:
        self._session, self._view, self._others, self._simulating = session, view, others, simulating
        self._laboratory = laboratory
        self.onion_skin, self.feet = OnionSkin(session, view), FeetView(session)
        self._scene, self._ground = Latest[Scene](), Latest[float]()

    def scene(self) -> Scene:
        session, view, physics = self._session, self._view, self._simulating
        display = view.display if not session.document.balance.on else replace(view.display, balance=True)
        if view.workspace in (Workspace.RETARGET, Workspace.BUILD):
            display = replace(display, goals=False, limits="none")  # strings or new bones are shown instead
        onion = self.onion_skin.settings if display.ghosts or display.trails else None
        mover = getattr(view.gesture, "mover", None)
        held = mover.frame if isinstance(mover, TrailMover) else None
        simulated = physics.pose if physics.sim is not None else None
        laboratory = self._laboratory if view.workspace is Workspace.LAB else None
        traces = None if laboratory is None else laboratory.shown_key
        shown = (
            view.workspace, session.stage.revision, traces, view.hovered.axis, view.hovered_item(), display, onion,
            view.lit_figure, held,
        )  # fmt: skip
        return self._scene.of(lambda: self._made(display, held, simulated, laboratory), simulated, equal=shown)

    def _made(self, display: Display, held: int | None, simulated: Pose | None, laboratory: Laboratory | None) -> Scene:
        """Make the scene.

        ``held``: the frame of a trail that is dragged; ``simulated``: a pose shown instead of the document's;
        ``laboratory``: the one whose workspace is open: its pose is shown, with all that is measured in it.
        """
        session, view, physics = self._session, self._view, self._simulating
        document, report, hovered, height = session.document, session.report, view.hovered_item(), view.height
        skeleton, skin = document.skeleton, document.character.skin
        errors = report.errors if report is not None else session.errors
        if laboratory is not None and (traced := laboratory.pose) is not None:
            document, report = replace(document, pose=traced), None
            errors = measured(document)
        under_way = session.gestures.drag is not None and report is not None and report.status is Status.BUDGET
        slack = _SLACK * height if under_way else 0.0
        near = too_near(document, None if session.clock.playing else report)
        yields = frozenset() if session.clock.playing else session.yields
        free = None if session.gestures.drag is not None or session.clock.playing else free_pole(document, hovered)
        shown = document.pose if simulated is None else simulated
        ghosts = (*self._ghosts(display, held), *(() if laboratory is None else laboratory.ghosts()))
        props = prop_shapes(document, hovered) if document.contact.props else ()
        if simulated is not None:
            aimed = world_of(skeleton, physics.aimed or document.pose)
            if _differ(aimed, world_of(skeleton, shown), height):
                ghosts = (*ghosts, Ghost(aimed, _AIMED))
            now = {one.name: one for one in physics.objects}
            props = tuple(replace(prop, solid=now.get(prop.name, prop.solid)) for prop in props)
        scene = Scene(
            skeleton=skeleton,
            world=world_of(skeleton, shown),
            coordinates=coordinates_of(skeleton, shown),
            marks=(
                *_effectors(document, errors, hovered, (height, slack), near, yields),
                *(() if free is None else (free,)),
                *_roots(document, hovered),
                *(prop_marks(document, hovered) if document.contact.props and simulated is None else ()),
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
            height=height,
            ghosts=ghosts,
            trails=self.onion_skin.trails() if display.trails else (),
            footprints=self.feet.footprints() if document.take is not None else (),
            floor=self._floor(),
            plane=document.planar,
            hovered_axis=view.hovered.axis,
            props=props,
            balls=() if simulated is None else physics.balls,
            touches=touch_rings(document, labelled=session.gestures.label is not None) if document.contact.on else (),
            ties=ties_of(document, errors),
            skin=skin,
            size=None if skin is None else skin.size_at(document.clip, document.frame),
            others=physics.beside(self._others.figures(view.lit_figure)) if session.stage.several else (),
            margin=document.balance.margin if document.balance.on else None,
            densities=_densities(document),
        )
        return scene if view.workspace is not Workspace.BUILD else at_rest(scene)

    def _ghosts(self, display: Display, held: int | None) -> tuple[Ghost, ...]:
        """The figure at other frames, with the frame whose trail is dragged, and without planted feet."""
        ghosts = (*self.onion_skin.ghosts(), *self.feet.before()) if display.ghosts else ()
        if held is not None and held != self._session.document.frame:
            ghosts = (*ghosts, self.onion_skin.ghost_at(held))
        return ghosts

    def _floor(self) -> float:
        """Height of the ground: of the floor that counts, else below the figure as loaded."""
        document = self._session.document
        return self._ground.of(lambda: ground_of(document), document.character, document.contact)
