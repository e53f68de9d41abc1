"""The scene: everything visible at one moment, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from viewer.document import Item
from viewer.formats.lab_report import Curve
from viewer.ik.contact import Object
from viewer.ik.goals import Goal
from viewer.scene.look import figure_points
from viewer.skeleton import Skeleton, Skin, World, point_of
from viewer.spatial.checks import Floats

LimitsShown = Literal["none", "selected", "all"]
Body = Literal["sticks", "capsules", "skin"]
BODIES: tuple[Body, ...] = get_args(Body)
"""What can be drawn of a figure."""


class Mark(NamedTuple):
    """One handle of the view: an effector and its goal, or the root.

    Attributes:
        name: the effector's, or the root joint's.
        joint: index of the joint that it is fixed to.
        position: (3,) current position.
        target: (3,) target position, or None.
        target_rotation: (4,) target rotation, or None.
        reached: whether its goal is met, or is a hold that gives way.
        error_m: metres between it and its target.
        error_deg: degrees between its rotation and its target's.
        pin_position, pin_rotation: whether the goal is pinned.
        on: whether it has a goal.
        selected, hovered: states to show.
        root: it is the root handle.
        pole: its target is a pole, towards which the joint points.
        swivel: (N, 3) the circle of possible positions of such a joint, if it is shown.
        guides: (N, 3) each: lines that show where its goal is met.
        too_near: its target is missed because the chain cannot fold so far.
        yields: its goal is a hold that gives way.
        prop: it is the handle of a prop, which is on no joint.
        layer: it is the target of a layer, which is on no joint, either.
        quiet: its miss is small or not of interest: it is shown by a thin ring instead of a label.
    """

    name: str
    joint: int
    position: Floats
    target: Floats | None = None
    target_rotation: Floats | None = None
    reached: bool = True
    error_m: float = 0.0
    error_deg: float = 0.0
    pin_position: bool = False
    pin_rotation: bool = False
    on: bool = True
    selected: bool = False
    hovered: bool = False
    root: bool = False
    pole: bool = False
    swivel: Floats | None = None
    guides: tuple[Floats, ...] = ()
    too_near: bool = False
    yields: bool = False
    quiet: bool = False
    prop: bool = False
    layer: bool = False

    @property
    def free_pole(self) -> bool:
        """Whether it is the mark of a limb's middle joint, which could have a pole."""
        return self.pole and not self.on


@dataclass(frozen=True, slots=True)
class Tie:
    """Two effectors that hold together at ``ends`` (2, 3); whether their goal is met, and any of the three selected."""

    ends: Floats
    reached: bool = True
    selected: bool = False


@dataclass(frozen=True, slots=True)
class PropShape:
    """A prop as it is drawn and picked: its shape and place, None if its mesh cannot be read, and states to show."""

    name: str
    solid: Object | None
    selected: bool = False
    hovered: bool = False


def props_of(objects: Iterable[Object]) -> tuple[PropShape, ...]:
    """Objects as they are drawn."""
    return tuple(PropShape(one.name, one) for one in objects)


@dataclass(frozen=True, slots=True, eq=False)
class TouchRing:
    """A ring, its radius in metres, where the figure touches something, named by its label, or "".

    The point (3,) is between the two surfaces, the unit normal (3,) points to the body.
    """

    point: Floats
    normal: Floats
    radius: float
    label: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Ghost:
    """The figure at another moment.

    Attributes:
        world: (J, ...) its joints.
        alpha: opacity.
        label: written above its head, such as ``+12`` frames.
        colour: in the palette.
        at: (3,) position of its label instead, in a disc of its colour.
    """

    world: World
    alpha: float = 0.15
    label: str = ""
    colour: str = "ghost"
    at: Floats | None = None


_ALPHA = 0.5
_SAME = 0.01
"""A ghost whose joints are all nearer to the figure's than this part of its height is not drawn: they would overlap."""


def method_ghosts(
    skeleton: Skeleton, figure: World, others: Iterable[tuple[Curve, World]], goal: Goal | None, height: float
) -> tuple[Ghost, ...]:
    """Ghosts of the laboratory: of methods whose answers (J, ...) differ from the figure's pose (J, ...).

    The height is of the figure, metres. Their letters are at the effector of a goal; None: above the heads.
    """
    found = []
    for curve, world in others:
        if float(np.abs(world.positions - figure.positions).max()) >= _SAME * height:
            at = None if goal is None else effector_position(skeleton, world, goal)
            found.append(Ghost(world, _ALPHA, curve.letter, curve.ink, at))
    return tuple(found)


def effector_position(skeleton: Skeleton, world: World, goal: Goal) -> Floats | None:
    """(3,) of the point that a goal moves, metres; None for a goal of the whole figure."""
    if not goal.effector:
        return None
    return world.point(*point_of(skeleton, goal.effector, goal.offset))


DOTTED = 20
"""Frames before and after the current one at which a selected trail has dots."""


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """A stance of a foot.

    Attributes:
        heel: (3,) the ankle there.
        way: (3,) level, from the ankle to the ball; zero where the foot has none.
        rise: metres above the floor, on a step.
        side: "left" or "right".
        now: the stance includes the frame shown.
        planted: the foot does not slide.
        slides_cm: how far it slides, in cm.
    """

    heel: Floats
    way: Floats
    rise: float
    side: str
    now: bool = False
    planted: bool = True
    slides_cm: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Trail:
    """The path of a point over some frames.

    Attributes:
        points: (N, 3) positions, frame by frame.
        now: index of the current frame.
        keys: indices of frames with keys.
        selected: whether its joint or effector is selected: then its frames have dots, which can be dragged.
        item: the joint or effector.
        first: frame of the first point.
    """

    points: Floats
    now: int
    keys: tuple[int, ...] = ()
    selected: bool = False
    item: Item | None = None
    first: int = 0

    @property
    def dotted(self) -> range:
        """Indices of the points that have a dot: those near the current frame, of a selected trail."""
        if not self.selected:
            return range(0)
        return range(max(self.now - DOTTED, 0), min(self.now + DOTTED, len(self.points) - 1) + 1)


class Density(NamedTuple):
    """The N directions (N, 3) that a bone takes, in the joint's frame at rest.

    ``shares`` (N,) are parts of the frames; they add up to 1.
    """

    ways: Floats
    shares: Floats


@dataclass(frozen=True, slots=True, eq=False)
class OtherFigure:
    """A figure that is not active, in the coordinates of the one that is.

    Attributes:
        world: (J, ...) where they are.
        hovered: it is under the pointer.
        skin: meshes that follow the joints, or None.
        size: as of `Scene`.
    """

    name: str
    skeleton: Skeleton
    world: World
    hovered: bool = False
    skin: Skin | None = None
    size: Floats | None = None

    @property
    def points(self) -> Floats:
        """(N, 3) its joints and tips."""
        return figure_points(self.skeleton, self.world)


@dataclass(frozen=True, slots=True)
class Display:
    """Switches for what is shown besides the figure.

    Attributes:
        limits: of which joints the ranges are drawn.
        axes: the axes of the selected joints.
        names: all joints' names.
        grid, shadow: of the floor.
        goals: effectors, targets and pins.
        view_axes: the view axes at the top right.
        ghosts: the figure at other frames.
        trails: the paths of selected joints and effectors.
        balance: centre of mass and support polygon.
        bodies: the figure's bodies instead of its bones.
        skin: the figure's skin, if it has one and no bodies are shown, instead of its bones.
        see_through: the bones within the bodies or the skin.
    """

    limits: LimitsShown = "selected"
    axes: bool = False
    names: bool = False
    grid: bool = True
    shadow: bool = True
    goals: bool = True
    view_axes: bool = False
    ghosts: bool = False
    trails: bool = False
    balance: bool = False
    bodies: bool = False
    skin: bool = True
    see_through: bool = False

    @property
    def shows_skins(self) -> bool:
        """Whether figures are drawn as their skins, as far as they have any."""
        return self.skin and not self.bodies

    @property
    def body(self) -> Body:
        """What is drawn of a figure that has a skin."""
        return "capsules" if self.bodies else "skin" if self.skin else "sticks"

    def with_body(self, body: Body) -> Display:
        """The same with another body; "sticks" for a figure without a skin is "skin", too."""
        return replace(self, bodies=body == "capsules", skin=body == "skin")


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A figure at one moment and everything that is shown with it.

    Attributes:
        world: (J, ...) their world pose.
        marks: one per handle.
        selected: joints that are selected.
        hovered: the joint under the pointer, -1 for none.
        at_limit: joints at an end of their ranges.
        outside: joints beyond their ranges, which clips may contain; drawn like those at a limit.
        stretched: joints at the ends of bones that have another length than in the file.
        limits_on: whether joint limits bind.
        unlimited: names of joints whose own limits are switched off.
        height: H, metres, the figure's size, to which other sizes are relative; 0 for the skeleton's own.
        ghosts: the figure at other moments.
        trails: paths of points.
        footprints: stances of planted feet.
        floor: height of the ground, metres.
        plane: the world plane to which the body is confined, "xy", "yz" or "zx", or None.
        hovered_axis: the view axis under the pointer ("x", "-x", ...), "" for none.
        coordinates: (J, 3) of the joints; None: measured from ``world`` when needed.
        props: objects around the figure.
        balls: props that cannot be picked.
        touches: where the figure touches something.
        ties: pairs of effectors that hold together.
        skin: meshes that follow the joints, or None.
        size: (J, 3, 3) as of `Skin.size_at`; None: as at rest.
        others: the figures that are not active.
        margin: metres inside the support polygon that the centre of mass is kept at; None: balance is not kept.
        densities: by joint, the directions in which the clip moves its bone.
    """

    skeleton: Skeleton
    world: World
    marks: tuple[Mark, ...] = ()
    selected: frozenset[int] = frozenset()
    hovered: int = -1
    at_limit: frozenset[int] = frozenset()
    outside: frozenset[int] = frozenset()
    stretched: frozenset[int] = frozenset()
    limits_on: bool = True
    unlimited: frozenset[str] = frozenset()
    display: Display = field(default_factory=Display)
    height: float = 0.0
    ghosts: tuple[Ghost, ...] = ()
    trails: tuple[Trail, ...] = ()
    footprints: tuple[Footprint, ...] = ()
    floor: float = 0.0
    plane: str | None = None
    hovered_axis: str = ""
    coordinates: Floats | None = None
    props: tuple[PropShape, ...] = ()
    balls: tuple[PropShape, ...] = ()
    touches: tuple[TouchRing, ...] = ()
    ties: tuple[Tie, ...] = ()
    others: tuple[OtherFigure, ...] = ()
    margin: float | None = None
    skin: Skin | None = None
    size: Floats | None = None
    densities: Mapping[int, Density] = field(default_factory=dict)

    @property
    def shows_skin(self) -> bool:
        """Whether the skin is what is drawn of the figure."""
        return self.skin is not None and self.display.shows_skins
