"""A document for a character that was just loaded, and what the body stands on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from viewer.document.default_goals import below, stand_of
from viewer.document.document import Document
from viewer.document.evaluation import home_pose
from viewer.document.goal import DocumentGoal, document_goal
from viewer.document.solver_settings import SolverSettings
from viewer.document.units import step_scale
from viewer.errors import InputError, unknown_name
from viewer.ik.goals import KINDS, Goal, GoalKind
from viewer.ik.holds import holds
from viewer.ik.workspace import checked_start
from viewer.skeleton.character import Character
from viewer.skeleton.effectors import EffectorGoal
from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinematics import World, extent, fk
from viewer.skeleton.names import FreeNames
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton, find_place
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import conjugate, multiply, rotate


def new_document(
    character: Character,
    *,
    clip: str | None = None,
    frame: int | None = None,
    pose: Pose | None = None,
    goals: Iterable[Goal] | None = None,
) -> Document:
    """A document that shows a character: every effector that is on is held where it stands, feet are pinned.

    Goals are met to a millimetre; of figures that are not of a person's size, in proportion to it.

    Args:
        character: as loaded.
        clip: name of the clip to play; its first one unless given.
        frame: of that clip; 0 unless given.
        pose: to stand in; else the clip's frame, else the relaxed pose.
        goals: what is asked instead of the holds; effectors on the joints of these are not held. Joints and tips that
            they name become effectors.

    Raises:
        InputError: an unknown clip, frame or effector, a function goal, a pose of another skeleton.
    """
    name = _clip_name(character, clip)
    rest, settings = character.skeleton.rest_pose(), SolverSettings()
    near = settings.tolerance_m * step_scale(float(extent(character).max()))
    solver = replace(settings, tolerance_m=near)
    empty = Document(character, character.skeleton, rest, clip=name, frame=frame or 0, solver=solver)
    if frame is not None and name is None:
        raise InputError(f"no frame {frame}: no clip is loaded")
    start = home_pose(empty) if pose is None else checked_start(character.skeleton, pose)
    skeleton, asked = _asked(character.skeleton, start, tuple(goals or ()))
    own = {goal.id: goal for goal in asked}
    first = [
        own.pop(e.name) if e.name in own else DocumentGoal(effector=e.name, enabled=False) for e in skeleton.effectors
    ]
    return replace(empty, skeleton=skeleton, pose=start, goals=(*first, *own.values()))


def _clip_name(character: Character, clip: str | None) -> str | None:
    if clip is not None and clip not in character.clips:
        raise InputError(unknown_name("clip", clip, character.clips))
    usable = (name for name, found in character.clips.items() if len(found))
    return next(usable, None) if clip is None else clip


def _asked(skeleton: Skeleton, pose: Pose, goals: tuple[Goal, ...]) -> tuple[Skeleton, list[DocumentGoal]]:
    """The skeleton with an effector for every place that is asked about, and what is asked or held."""
    found: dict[str, DocumentGoal] = {}
    effectors = (effector.name for effector in skeleton.effectors)
    free = FreeNames((*skeleton.names, *skeleton.tip_names, *effectors))
    for goal in goals:
        if not KINDS[goal.kind].built_in:
            raise InputError("a document cannot hold a function goal")
        place = find_place(skeleton, goal.effector)
        if place not in skeleton.effectors:
            skeleton = replace(skeleton, effectors=(*skeleton.effectors, replace(place, goal=EffectorGoal.POSITION)))
        name = free.numbered(place.name) if place.name in found else place.name
        found[name] = document_goal(with_place(skeleton, pose, goal, place.name), place.name, name)
    for goal in holds(skeleton, pose, [goal for goal in goals if goal.enabled]):
        own = find_place(skeleton, goal.effector).goal
        held = document_goal(goal, goal.effector)
        found.setdefault(goal.effector, replace(held, kind=GoalKind(own.value), automatic=held.pinned))
    return skeleton, [*found.values()]


def with_place(skeleton: Skeleton, pose: Pose, goal: Goal, effector: str) -> Goal:
    """A goal whose pin, if it says not where, is where the effector stands in the pose."""
    if not goal.pinned:
        return goal
    stand = stand_of(skeleton, pose, DocumentGoal(effector=effector, enabled=False, offset=goal.offset))
    position = goal.target or tuple(stand.position.tolist()) if KINDS[goal.kind].places else None
    rotation = goal.target_rotation or tuple(stand.rotation.tolist()) if KINDS[goal.kind].has_rotation else None
    return replace(goal, target=position, target_rotation=rotation)


_UP = np.array([0.0, 1.0, 0.0])
_BESIDE = float(np.cos(np.radians(15.0)))
"""Feet stand beside one another where the line between them is no farther than this from across where they point."""
_ALIKE = 0.5
"""Feet that point farther apart from the body than 60 degrees say nothing of where it faces."""
_LEVEL = 0.1
"""Feet whose heights differ by less than this part of a leg both stand."""


def pinned_supports(document: Document, partner: Ints) -> tuple[int, ...]:
    """Joints that pins hold and that a body is mirrored about: the feet, and of what is no figure pairs.

    Args:
        document: with the pins.
        partner: (J,) each joint's on the other side.
    """
    skeleton, figure = document.skeleton, find_figure(document.skeleton)
    pins = [one for one in document.goals if one.pinned and one.pin_position and one.position is not None]
    held = {find_place(skeleton, one.effector).joint for one in pins}
    if figure is not None and figure.legs:
        legs = below(skeleton, [leg.upper for leg in figure.legs])
        held = {joint for joint in held if legs[joint]}
    pairs = {joint for joint in held if partner[joint] != joint and int(partner[joint]) in held}
    return tuple(sorted(pairs or (held if figure is not None and figure.legs else ())))


def standing_on(skeleton: Skeleton, world: World, supports: Sequence[int]) -> tuple[int, ...]:
    """The supports given, else the figure's feet: both, or the lower one where the other is lifted; else none."""
    figure = find_figure(skeleton)
    if supports or figure is None:
        return tuple(supports)
    feet = [leg.end for leg in figure.legs if leg.end is not None]
    if len(feet) != len(figure.legs) or not feet:
        return ()
    heights = world.positions[feet, 1]
    leg = float(np.linalg.norm(world.positions[figure.legs[0].upper] - world.positions[figure.legs[0].lower]))
    return tuple(feet) if float(np.ptp(heights)) < 2.0 * _LEVEL * leg else (feet[int(np.argmin(heights))],)


def standing_across(
    skeleton: Skeleton, moments: tuple[World, World], across: Floats, supports: Sequence[int]
) -> Floats:
    """(3,) the level unit direction from side to side of a body that stands on something.

    Along the line between feet that stand side by side: each one's image then falls on the other. Else across where
    the feet point together, or the root does.

    Args:
        skeleton: of the body.
        moments: at rest, and as it stands.
        across: (3,) that direction at rest.
        supports: joints, one or more.
    """
    rest, world = moments
    facing = turned_across(rest, world, across, root_of(skeleton)[supports[0]])
    if len(supports) == 1:
        return facing
    figure = find_figure(skeleton)
    if figure is not None and figure.upright:
        joints = list(supports)
        away = multiply(world.rotations[joints], conjugate(rest.rotations[joints]))
        feet = _level(rotate(away, across).sum(axis=0))
        facing = feet if feet is not None and float(feet @ facing) > _ALIKE else facing
    side = (rest.positions[list(supports)] - rest.positions[list(supports)].mean(axis=0)) @ across
    line = _level(np.sign(side) @ world.positions[list(supports)])
    return line if line is not None and float(line @ facing) > _BESIDE else facing


def _level(way: Floats) -> Floats | None:
    flat = way - (way @ _UP) * _UP
    length = float(np.linalg.norm(flat))
    return np.asarray(flat / length) if length > 1e-3 else None


def turned_across(rest: World, world: World, across: Floats, root: int) -> Floats:
    """The direction from side to side of a posed body, level: at rest's own level where it lies on its side."""
    way = rotate(multiply(world.rotations[root], conjugate(rest.rotations[root])), across)
    level = way - (way @ _UP) * _UP + (across @ _UP) * _UP
    length = float(np.linalg.norm(level))
    return np.asarray(level / length) if length > 1e-3 else across


def root_of(skeleton: Skeleton) -> list[int]:
    """By joint the one without a parent that it hangs on."""
    roots: list[int] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        roots.append(joint if parent < 0 else roots[parent])
    return roots


def moved_over(skeleton: Skeleton, mirrored: Pose, before: World, supports: Sequence[int], partner: Ints) -> Pose:
    """A mirrored pose moved so that the middle between its supports is where that was before.

    Args:
        skeleton: of both.
        mirrored: with its roots anywhere.
        before: what was mirrored.
        supports: joints that it stood on; it stands on their partners.
        partner: (J,) each joint's on the other side.
    """
    joints = list(supports)
    middle = before.positions[joints].mean(axis=0)
    now = fk(skeleton, mirrored).positions[partner[joints]].mean(axis=0)
    root = root_of(skeleton)[joints[0]]
    translations = mirrored.translations.copy()
    translations[root] += middle - now
    return Pose(mirrored.rotations, translations)
