"""Pictures of draw lists, and of a character with its goals (`viewer.render`).

OpenGL is loaded for the first picture; no window is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from viewer.errors import InputError, missing_library, quote
from viewer.ik.contact import Contact, Object, Sphere
from viewer.ik.goals import KINDS, Goal
from viewer.scene import (
    BODIES,
    RGBA,
    Body,
    Camera,
    Display,
    DrawList,
    Mark,
    Scene,
    Text,
    ViewName,
    draw_list,
    facing,
    figure_height,
    figure_points,
    floor_of,
    props_of,
    rgba,
    triangles_of,
)
from viewer.skeleton import Character, Pose, Skeleton, World, fk
from viewer.skeleton.character import check_pose, check_skeleton
from viewer.skeleton.coordinates import limited_joints
from viewer.spatial.checks import FARTHEST, Floats
from viewer.spatial.projection import Projection

LARGEST = 8192
"""Largest width and height of a picture, pixels."""

_EM_PER_LINE = 2048 / 2400
"""Roboto's em square per line height: sizes are line heights, as in the window, but Pillow takes the em square."""

_ANCHORS = {"left": "lm", "centre": "mm", "right": "rm"}
_HALO = 0.6
_SPARE = 2
"""Pixels around a text's box, for rounding."""

_STEEPEST = 90.0

_NEAR_M, _NEAR_DEG = 1e-3, 0.5
"""A goal counts as reached within these errors, the solver's default tolerances."""

CameraName: TypeAlias = Literal["front", "back", "side", "left", "right", "top", "bottom", "three-quarter"]
VIEWS: dict[str, ViewName] = {
    "front": "front", "back": "back", "side": "right", "left": "left", "right": "right",
    "top": "top", "bottom": "bottom", "three-quarter": "three-quarter",
}  # fmt: skip
"""Names of cameras and their standard views. "side" is a view from the figure's right: it walks to the right."""

_LOGICAL_HEIGHT = 1080.0
"""Marks and texts grow with pictures that are higher than this, pixels."""
LEAST = 0.5
"""Smallest extent of the view, as a fraction of the figure's height, for folded figures."""
_THICK = 0.025
"""Radius of the thickest bones, as a fraction of the figure's height."""


@lru_cache(maxsize=1)
def _artist() -> ThreadPoolExecutor:
    """The only thread that draws, so that contexts of other threads, such as a window's, are not affected."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="ikviewer-offscreen")


def render_image(
    draw_list: DrawList, projection: Projection, samples: int = 4, scale: float = 1.0
) -> NDArray[np.uint8]:
    """Draw a draw list with its texts on a separate OpenGL context, from any thread: (H, W, 3), the top row first.

    The driver limits the ``samples`` per pixel; ``scale`` is that of the draw list, physical per logical pixels.

    Raises:
        InputError: a size of less than 1 or more than `LARGEST` pixels.
        MachineError: the machine cannot draw; the line names the cure.
    """
    check_size(projection.size)
    try:
        from viewer.opengl.gpu_objects import claim_drawing  # noqa: PLC0415 - the library works without OpenGL
        from viewer.opengl.renderer import offscreen  # noqa: PLC0415
    except ImportError as error:
        raise missing_library("drawing", error, "pyrr") from error
    claim_drawing()  # in a forked process the drawing thread does not exist, and this would wait without end
    drawn = _artist().submit(lambda: offscreen().picture(draw_list, projection, samples, scale))
    return write_texts(drawn.result(), draw_list.texts, scale)


def check_size(size: tuple[int, int]) -> None:
    """Raise InputError unless a picture can have this (width, height) in pixels."""
    if not all(1 <= pixels <= LARGEST for pixels in size):
        raise InputError(f"size: expected 1 to {LARGEST} pixels either way, found {size[0]} x {size[1]}")


def scale_of(size: tuple[int, int]) -> float:
    """The scale of marks and texts in a picture of (width, height) pixels."""
    return max(1.0, size[1] / _LOGICAL_HEIGHT)


def write_texts(picture: NDArray[np.uint8], texts: Sequence[Text], scale: float = 1.0) -> NDArray[np.uint8]:
    """A copy of the picture (H, W, 3) with texts; the same array if there are none."""
    if not texts:
        return picture
    image = Image.fromarray(picture).convert("RGBA")
    for text in texts:
        font = _font(text.size * scale, bold=text.bold)
        if text.halo:
            rim = max(1, round(scale))
            _written(image, text, font, rgba("halo", _HALO * text.colour[3]), rim)
        _written(image, text, font, text.colour, 0)
    return np.asarray(image.convert("RGB"))


def _written(
    image: Image.Image, text: Text, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, colour: RGBA, rim: int
) -> None:
    """Draw one text in one colour, through a mask, because Pillow's text replaces colours instead of blending."""
    anchor = _ANCHORS[text.anchor]
    low_x, low_y, high_x, high_y = font.getbbox(text.text, anchor=anchor, stroke_width=rim)
    # The mask is no larger than the text, as there may be a hundred; the subpixel position is kept.
    left, top = math.floor(text.x + low_x) - _SPARE, math.floor(text.y + low_y) - _SPARE
    size = math.ceil(high_x - low_x) + 2 * _SPARE + 1, math.ceil(high_y - low_y) + 2 * _SPARE + 1
    if left >= image.width or top >= image.height or left + size[0] <= 0 or top + size[1] <= 0:
        return
    stencil = Image.new("L", size)
    place = text.x - left, text.y - top
    ImageDraw.Draw(stencil).text(place, text.text, fill=255, font=font, anchor=anchor, stroke_width=rim)
    red, green, blue, alpha = (round(255 * part) for part in colour)
    image.paste((red, green, blue, 255), (left, top), stencil.point(lambda cover: cover * alpha // 255))


@lru_cache(maxsize=16)
def _font(line: float, *, bold: bool) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Roboto, as in the window, or Pillow's own font if that is not installed."""
    size = max(line * _EM_PER_LINE, 1.0)
    path = _roboto("Bold" if bold else "Regular")
    return ImageFont.truetype(str(path), size) if path is not None else ImageFont.load_default(size)


def _roboto(face: str) -> Path | None:
    """The font's file in imgui_bundle, which is not imported because that needs the X11 library."""
    found = find_spec("imgui_bundle")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        path = Path(folder) / "assets" / "fonts" / "Roboto" / f"Roboto-{face}.ttf"
        if path.is_file():
            return path
    return None


def check_camera(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """The numbers of a camera, checked: degrees of yaw and pitch, and perhaps a distance in metres.

    Raises:
        InputError: not two or three finite numbers, a pitch beyond 90 degrees, a distance that is not above 0 or from
            which nothing is seen.
    """
    good = len(numbers) in {2, 3} and all(math.isfinite(number) for number in numbers)
    if good and abs(numbers[1]) <= _STEEPEST and (len(numbers) == 2 or numbers[2] > 0.0):
        if len(numbers) == 3 and numbers[2] > FARTHEST:
            raise InputError(f"camera: expected a distance of at most {FARTHEST:g} m, found {numbers[2]:g}")
        return numbers
    found = quote(",".join(f"{number:g}" for number in numbers))
    raise InputError(f"camera: expected yaw, a pitch of -90 to 90 and a distance above 0, found {found}")


def marks_of(goals: Iterable[Goal], skeleton: Skeleton, world: World) -> tuple[Mark, ...]:
    """A mark for each enabled goal of a kind that has one; function goals have none.

    Raises:
        InputError: a goal for an unknown effector, joint or end site.
    """
    marks = (_mark(goal, skeleton, world) for goal in goals if goal.enabled)
    return tuple(mark for mark in marks if mark is not None)


def _mark(goal: Goal, skeleton: Skeleton, world: World) -> Mark | None:
    kind = KINDS[goal.kind]
    drawing = kind.drawing(goal, skeleton, world)
    if drawing is None:
        return None
    metres, degrees = (0.0 if math.isnan(miss) else miss for miss in kind.missed(goal, skeleton, world))
    return Mark(
        goal.effector,
        drawing.joint,
        drawing.position,
        drawing.target,
        None if drawing.rotation is None else np.array(drawing.rotation),
        guides=drawing.guides,
        reached=metres <= _NEAR_M and degrees <= _NEAR_DEG,
        error_m=metres,
        error_deg=degrees,
        pin_position=goal.pinned and kind.sets_position,
        pin_rotation=goal.pinned and kind.has_rotation,
    )


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
    body: Body = "skin",
    contact: Contact | None = None,
) -> NDArray[np.uint8]:
    """Draw a character, without a screen.

    Args:
        character: a character or a skeleton.
        pose: the pose; default ``frame`` of the motion, else the first frame, else the relaxed pose.
        size: (width, height) of the picture in pixels.
        camera: a name of a view; or (yaw, pitch) in degrees, yaw from the figure's front towards its left, pitch
            upwards, with a distance from the figure's centre in metres as an optional third number (default: all of
            the figure is in view); or a `Camera`.
        goals: shown as marks of effectors and targets. The pose is not solved for them.
        limits: show the ranges of the joints, and highlight joints at a limit.
        samples: per pixel, for smooth edges; 0 for none.
        frame: of the character's first clip, counted from 0.
        body: what is drawn of the figure: its "skin" (sticks where the file has none), "sticks", or the "capsules" with
            which it touches things.
        contact: its objects are drawn, and the ground at its floor.

    Returns:
        Red, green, blue (H, W, 3), the top row first.

    Raises:
        InputError: an invalid character, pose, size, camera, frame, body or effector; both a pose and a frame.
        MachineError: the machine cannot draw; the message names the cure.
    """
    if not isinstance(character, Character):
        check_skeleton(character)
    width, height = size
    check_size((width, height))
    scale = scale_of(size)
    shown = 0 if pose is None and frame is None else frame
    posed = _pose(character, pose, frame)
    scene = scene_of(character, posed, goals=goals, limits=limits, body=body, contact=contact, frame=shown)
    projection = camera_of(camera, scene, character, (width, height)).projection((width, height))
    return render_image(draw_list(scene, projection, scale), projection, samples, scale)


def scene_of(
    character: Character | Skeleton,
    pose: Pose,
    *,
    goals: Iterable[Goal] | None = None,
    limits: bool = False,
    body: Body = "skin",
    contact: Contact | None = None,
    frame: int | None = None,
) -> Scene:
    """The scene of a character in a pose; arguments are those of `render`, ``frame`` that of the pose.

    Raises:
        InputError: a pose with another number of joints, a goal for an unknown effector, an unknown body.
    """
    if body not in BODIES:
        raise InputError(f"body: expected {', '.join(BODIES)}, found {quote(body)}")
    skeleton = skeleton_of(character)
    if len(pose.rotations) != len(skeleton):
        raise InputError(f"pose: expected {len(skeleton)} joints, found {len(pose.rotations)}")
    world = fk(skeleton, pose)
    skin, clip = (character.skin, character.clip) if isinstance(character, Character) else (None, None)
    return Scene(
        skeleton=skeleton,
        world=world,
        marks=marks_of(goals or (), skeleton, world),
        at_limit=limited_joints(skeleton, pose) if limits else frozenset(),
        display=Display(limits="all" if limits else "none").with_body(body),
        height=figure_height(skeleton),
        floor=floor_of(character) if contact is None or contact.floor is None else contact.floor,
        props=() if contact is None else props_of(contact.objects),
        skin=skin,
        size=None if skin is None or clip is None else skin.size_at(clip.name, frame),
    )


def skeleton_of(character: Character | Skeleton) -> Skeleton:
    """The skeleton of what is drawn."""
    return character.skeleton if isinstance(character, Character) else character


def _pose(character: Character | Skeleton, pose: Pose | None, frame: int | None) -> Pose:
    clip = character.clip if isinstance(character, Character) else None
    if pose is not None:
        if frame is not None:
            raise InputError("expected a pose or a frame, found both")
        check_pose(pose)
        return pose
    if frame is None and (clip is None or not len(clip)):
        return skeleton_of(character).relaxed_pose()
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
    """The camera for the argument ``camera`` of `render`; the points (N, 3), default `seen_points`, have to be in view.

    Raises:
        InputError: an unknown name, or invalid numbers.
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
    """(N, 3) points that have to be in view; ``figure`` (M, 3): other points of the figure than those of the scene."""
    if figure is None:
        figure = figure_points(scene.skeleton, scene.world, scene.skin if scene.shows_skin else None)
    targets = [mark.target for mark in scene.marks if mark.target is not None]
    points = np.concatenate([figure, np.array(targets).reshape(-1, 3)])
    # Bones have a thickness, which matters near the eye.
    round_it = _THICK * scene.height * np.concatenate([np.eye(3), -np.eye(3)])
    around = (points[:, None] + round_it).reshape(-1, 3)
    return np.concatenate([around, *(_ends_of(prop.solid) for prop in scene.props if prop.solid is not None)])


def _ends_of(solid: Object) -> Floats:
    """(N, 3) points between which a solid is."""
    if isinstance(solid, Sphere):
        return np.asarray(solid.center + solid.radius * np.concatenate([np.eye(3), -np.eye(3)]))
    return triangles_of(solid).reshape(-1, 3)
