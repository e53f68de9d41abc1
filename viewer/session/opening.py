"""A document for a character that was just loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from viewer.errors import InputError, unknown_name
from viewer.ik.goals import GoalKind
from viewer.ik.holds import holds
from viewer.ik.workspace import checked_start
from viewer.session.document import Document
from viewer.session.handle import Handle, handle_of
from viewer.session.scale import step_scale
from viewer.session.solver_settings import SolverSettings
from viewer.session.standing import stand_of
from viewer.session.values import Wanted
from viewer.skeleton.effectors import Effector, EffectorGoal, find_place
from viewer.skeleton.extent import extent
from viewer.skeleton.names import FreeNames

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.ik.goals import Goal
    from viewer.skeleton.character import Character
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton


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
            they name become effectors, and so does a second goal of one effector.

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
    start = empty.home_pose() if pose is None else checked_start(character.skeleton, pose)
    skeleton, asked = _asked(character.skeleton, start, tuple(goals or ()))
    handles = tuple(asked.get(e.name) or Handle(effector=e.name, kind=Wanted.OFF) for e in skeleton.effectors)
    return replace(empty, skeleton=skeleton, pose=start, handles=handles)


def _clip_name(character: Character, clip: str | None) -> str | None:
    if clip is not None and clip not in character.clips:
        raise InputError(unknown_name("clip", clip, character.clips))
    usable = (name for name, found in character.clips.items() if len(found))
    return next(usable, None) if clip is None else clip


def _asked(skeleton: Skeleton, pose: Pose, goals: tuple[Goal, ...]) -> tuple[Skeleton, dict[str, Handle]]:
    """The skeleton with an effector for every goal, and the handles of all that are asked for anything."""
    handles: dict[str, Handle] = {}
    effectors = (effector.name for effector in skeleton.effectors)
    free = FreeNames((*skeleton.names, *skeleton.tip_names, *effectors))
    for goal in goals:
        if goal.kind is GoalKind.FUNCTION:
            raise InputError("a function goal has no handle")
        place = find_place(skeleton, goal.effector)
        if place.name in handles:
            place = replace(place, name=free.numbered(place.name))
        if place not in skeleton.effectors:
            skeleton = replace(skeleton, effectors=(*skeleton.effectors, replace(place, goal=EffectorGoal.POSITION)))
        handles[place.name] = _settled(skeleton, pose, goal, place)
    for goal in holds(skeleton, pose, [goal for goal in goals if goal.enabled]):
        own = find_place(skeleton, goal.effector).goal
        handle = handle_of(goal, goal.effector)
        handles.setdefault(goal.effector, replace(handle, kind=Wanted(own.value), automatic=handle.pinned))
    return skeleton, handles


def _settled(skeleton: Skeleton, pose: Pose, goal: Goal, place: Effector) -> Handle:
    """The handle of a goal; a pin without a place takes it from the pose."""
    stand = stand_of(skeleton, pose, Handle(effector=place.name, kind=Wanted.OFF, offset=goal.offset))
    if goal.pinned:
        places = goal.kind in (GoalKind.POSITION, GoalKind.POSE)
        turns = goal.kind in (GoalKind.ROTATION, GoalKind.POSE)
        position = goal.target or tuple(stand.position.tolist()) if places else None
        rotation = goal.target_rotation or tuple(stand.rotation.tolist()) if turns else None
        goal = replace(goal, target=position, target_rotation=rotation)
    return handle_of(goal, place.name)
