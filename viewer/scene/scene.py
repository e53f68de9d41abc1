"""The scene: what there is to see at one moment, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from viewer.scene.look import facing
from viewer.skeleton.kinematics import World
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

__all__ = ["Display", "Ghost", "LimitsShown", "Mark", "Scene", "Trail", "facing"]

LimitsShown = Literal["none", "selected", "all"]


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """One handle of the view: an effector and its goal, or the root.

    Attributes:
        name: the effector's, or the root joint's.
        joint: index of the joint that it is fixed to.
        position: (3,) where it is.
        target: (3,) where it should be, None where its goal asks for no place.
        target_rotation: (4,) how it should be turned, or None.
        reached: whether its goal is met.
        error_m: metres between it and its target.
        pin_position, pin_rotation: whether the goal is pinned.
        on: whether it has a goal.
        selected, hovered: states to show.
        root: it is the root handle.
        pole: its target is a pole, which the joint points towards from wherever it is.
        swivel: (N, 3) the circle that such a joint can be on, where it is shown.
        too_near: its target is missed because it is nearer than the chain folds.
        quiet: its goal is missed, but by little, or it is not what is looked at: a thin ring says so, and no words.
    """

    name: str
    joint: int
    position: Floats
    target: Floats | None = None
    target_rotation: Floats | None = None
    reached: bool = True
    error_m: float = 0.0
    pin_position: bool = False
    pin_rotation: bool = False
    on: bool = True
    selected: bool = False
    hovered: bool = False
    root: bool = False
    pole: bool = False
    swivel: Floats | None = None
    too_near: bool = False
    quiet: bool = False

    @property
    def free_pole(self) -> bool:
        """Whether it is where a limb could have a pole: it stands for the limb's middle joint."""
        return self.pole and not self.on


@dataclass(frozen=True, slots=True, eq=False)
class Ghost:
    """The figure at another moment.

    Attributes:
        world: (J, ...) its joints.
        alpha: how faint.
        label: written above its head, such as ``+12`` frames.
    """

    world: World
    alpha: float = 0.15
    label: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Trail:
    """The way of a point over some frames.

    Attributes:
        points: (N, 3) where it is, frame by frame.
        now: index of the frame that is shown.
        keys: indices of frames with keys.
        selected: it is of something selected.
    """

    points: Floats
    now: int
    keys: tuple[int, ...] = ()
    selected: bool = False


@dataclass(frozen=True, slots=True)
class Display:
    """What is shown besides the figure.

    Attributes:
        limits: of which joints the ranges are drawn.
        axes: the axes of the selected joints.
        names: all joints' names.
        grid, shadow: of the floor.
        goals: effectors, targets and pins.
        view_axes: the disc of view axes at the top right.
        ghosts: the figure at other frames.
        trails: the ways of what is selected.
        balance: centre of mass and support polygon.
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


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A figure at one moment and all that is shown with it.

    Attributes:
        skeleton: the joints.
        world: (J, ...) where they are.
        marks: one per handle.
        selected: joints that are selected.
        hovered: the joint under the pointer, -1 for none.
        at_limit: joints at an end of their ranges.
        outside: joints beyond their ranges, as clips may have them; lit like those at a limit.
        stretched: joints whose bone to the parent is not as long as in the file.
        limits_on: whether joint limits bind.
        unlimited: names of joints whose own limits are switched off.
        display: what is shown.
        height: H, metres, the figure's size by which all is measured; 0 for the skeleton's own.
        ghosts: other moments.
        trails: ways of points.
        floor: height of the ground, metres.
        plane: the plane of the world that the body is kept in: "xy", "yz" or "zx"; None: it moves in space.
        hovered_axis: the view axis under the pointer ("x", "-x", ...), "" for none.
        coordinates: (J, 3) of the joints; None: they are measured from ``world`` where they are needed.
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
    floor: float = 0.0
    plane: str | None = None
    hovered_axis: str = ""
    coordinates: Floats | None = None
