"""A picture of a character (`viewer.render`), its goals as marks, its camera by numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, Goal
from viewer.opengl.offscreen import check_size, render_image
from viewer.scene.camera import Camera, ViewName
from viewer.scene.drawlist import draw_list
from viewer.scene.look import facing, figure_height, figure_points, floor_of
from viewer.scene.scene import Display, Mark, Scene
from viewer.skeleton.arguments import check_pose, check_skeleton
from viewer.skeleton.character import Character
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinematics import World, fk
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

_STEEPEST = 90.0


def check_camera(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Degrees of yaw and pitch, and metres if there is a third number, as they are.

    Raises:
        InputError: not two or three finite numbers, a pitch beyond straight up or down, a distance that is not above 0.
    """
    good = len(numbers) in {2, 3} and all(math.isfinite(number) for number in numbers)
    if good and abs(numbers[1]) <= _STEEPEST and (len(numbers) == 2 or numbers[2] > 0.0):
        return numbers
    found = quote(",".join(f"{number:g}" for number in numbers))
    raise InputError(f"camera: expected yaw, a pitch of -90 to 90 and a distance above 0, found {found}")


_NEAR_M, _NEAR_DEG = 1e-3, 0.5
"""What counts as reached: the solver's own tolerances unless others are given."""


def marks_of(goals: Iterable[Goal], skeleton: Skeleton, world: World) -> tuple[Mark, ...]:
    """One mark per goal that is enabled and that anything shows: function goals have no place.

    Raises:
        InputError: a goal for an effector, joint or end site that is not there.
    """
    marks = (_mark(goal, skeleton, world) for goal in goals if goal.enabled)
    return tuple(mark for mark in marks if mark is not None)


def _mark(goal: Goal, skeleton: Skeleton, world: World) -> Mark | None:
    kind = KINDS[goal.kind]
    drawing = kind.drawing(goal, skeleton, world)
    if drawing is None:
        return None
    metres, degrees = (0.0 if math.isnan(miss) else miss for miss in kind.miss(goal, skeleton, world))
    return Mark(
        name=goal.effector,
        joint=drawing.joint,
        position=drawing.position,
        target=drawing.target,
        target_rotation=None if drawing.rotation is None else np.array(drawing.rotation),
        reached=metres <= _NEAR_M and degrees <= _NEAR_DEG,
        error_m=metres,
        pin_position=goal.pinned and kind.places,
        pin_rotation=goal.pinned and kind.has_rotation,
    )


CameraName: TypeAlias = Literal["front", "back", "side", "left", "right", "top", "bottom", "three-quarter"]
VIEWS: dict[str, ViewName] = {
    "front": "front", "back": "back", "side": "right", "left": "left", "right": "right",
    "top": "top", "bottom": "bottom", "three-quarter": "three-quarter",
}  # fmt: skip
"""Names of cameras and the standard views that they are. "side": from the figure's right, so that it walks to the
right of the picture."""

_LOGICAL_HEIGHT = 1080.0
"""Pixels high from which on marks and texts grow with the picture."""
LEAST = 0.5
"""A figure that is folded up is shown as if it spanned this part of its height."""
_THICK = 0.025
"""The radius of the thickest bones, likewise."""
_AT_LIMIT = 1e-6
"""Radians or metres."""


def render(
    character: Character | Skeleton,
    pose: Pose | None = None,
    *,
    size: tuple[int, int] = (640, 480),
    camera: CameraName | tuple[float, ...] | Camera = "three-quarter",
    goals: Iterable[Goal] | None = None,
    limits: bool = False,
    samples: int = 4,
    frame: int | None = None,
) -> NDArray[np.uint8]:
    """Draw a character, without a screen.

    Args:
        character: as loaded, or a skeleton.
        pose: to stand in; else ``frame`` of its motion, else the first frame, else the relaxed pose.
        size: (width, height) of the picture in pixels.
        camera: one of `VIEWS`; or (yaw, pitch) in degrees, yaw off the direction that the figure faces and towards its
            left, pitch upwards, and the distance from the figure's middle in metres as a third number (without it all
            of the figure is in view); or a `Camera`.
        goals: shown as marks: where the effectors are and should be. The pose is not solved for them.
        limits: show how far the joints can turn, and light those at a limit.
        samples: per pixel, for smooth edges; 0 for none.
        frame: of the character's first clip, counted from 0.

    Returns:
        Red, green, blue (H, W, 3), the top row first.

    Raises:
        InputError: a character, pose, size, camera, frame or effector that is none; both a pose and a frame.
        MachineError: the machine cannot draw; the line names the cure.
    """
    if not isinstance(character, Character):
        check_skeleton(character)
    width, height = size
    check_size((width, height))
    scale = max(1.0, height / _LOGICAL_HEIGHT)
    scene = scene_of(character, _pose(character, pose, frame), goals=goals, limits=limits)
    projection = camera_of(camera, scene, character, (width, height)).projection((width, height))
    return render_image(draw_list(scene, projection, scale), projection, samples, scale)


def scene_of(
    character: Character | Skeleton, pose: Pose, *, goals: Iterable[Goal] | None = None, limits: bool = False
) -> Scene:
    """What a picture of a character in a pose shows; arguments as of `render`.

    Raises:
        InputError: the pose has another number of joints, a goal names what is not there.
    """
    skeleton = _skeleton(character)
    if len(pose.rotations) != len(skeleton):
        raise InputError(f"pose: expected {len(skeleton)} joints, found {len(pose.rotations)}")
    world = fk(skeleton, pose)
    return Scene(
        skeleton=skeleton,
        world=world,
        marks=marks_of(goals or (), skeleton, world),
        at_limit=_at_limit(skeleton, pose) if limits else frozenset(),
        display=Display(limits="all" if limits else "none"),
        height=figure_height(skeleton),
        floor=floor_of(character),
    )


def _skeleton(character: Character | Skeleton) -> Skeleton:
    return character.skeleton if isinstance(character, Character) else character


def _pose(character: Character | Skeleton, pose: Pose | None, frame: int | None) -> Pose:
    clip = character.clip if isinstance(character, Character) else None
    if pose is not None:
        if frame is not None:
            raise InputError("expected a pose or a frame, found both")
        check_pose(pose)
        return pose
    if frame is None and (clip is None or not len(clip)):
        return _skeleton(character).relaxed_pose()
    if clip is None:
        raise InputError(f"frame {frame}: expected motion, found a skeleton without frames")
    return clip.pose(frame or 0)


def camera_of(
    camera: str | tuple[float, ...] | Camera,
    scene: Scene,
    character: Character | Skeleton,
    size: tuple[int, int],
    points: Floats | None = None,
) -> Camera:
    """The camera that `render` takes for its argument ``camera``.

    Args:
        camera: as of `render`.
        scene: the figure tells which way is ahead.
        character: whose figure it is.
        size: of the picture in pixels.
        points: (N, 3) what has to be in view; None for what `seen_points` finds in the scene.

    Raises:
        InputError: no view of that name, numbers that are no camera.
    """
    if isinstance(camera, Camera):
        return camera
    points = seen_points(scene) if points is None else points
    ahead = facing(character, scene.world)
    least = LEAST * scene.height
    if isinstance(camera, str):
        if camera not in VIEWS:
            raise InputError(f"camera: expected {', '.join(VIEWS)} or (yaw, pitch, distance), found {quote(camera)}")
        return Camera(np.zeros(3)).looking(VIEWS[camera], ahead).frame(points, size, least=least)
    yaw, pitch, *distance = check_camera(camera)
    turned = Camera(np.zeros(3)).looking("front", ahead).turned(math.radians(yaw), math.radians(pitch))
    framed = turned.frame(points, size, least=least)
    return replace(framed, distance=distance[0]) if distance else framed


def seen_points(scene: Scene, figure: Floats | None = None) -> Floats:
    """(N, 3) all that has to be in view; ``figure`` (M, 3): places of the figure, if not those of this moment alone."""
    figure = figure_points(scene.skeleton, scene.world) if figure is None else figure
    targets = [mark.target for mark in scene.marks if mark.target is not None]
    points = np.concatenate([figure, np.array(targets).reshape(-1, 3)])
    # Bones and joints are thicker than their points, which shows where one is near the eye.
    round_it = _THICK * scene.height * np.concatenate([np.eye(3), -np.eye(3)])
    return np.asarray((points[:, None] + round_it).reshape(-1, 3))


def _at_limit(skeleton: Skeleton, pose: Pose) -> frozenset[int]:
    """The joints that stand at a limit, or outside."""
    space = joint_space(skeleton)
    coordinates = space.measure(pose.rotations, pose.translations)
    near = ((coordinates - space.lower < _AT_LIMIT) | (space.upper - coordinates < _AT_LIMIT)).any(axis=-1)
    return frozenset(np.flatnonzero(near).tolist())
