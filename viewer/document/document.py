"""The document: everything that the window shows and that undo restores, as one immutable value; actions."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

from viewer.document.document_contact import NO_CONTACT, DocumentContact, solver_grips
from viewer.document.document_goal import BALANCE_KIND, NO_BALANCE, DocumentBalance, DocumentGoal
from viewer.document.take import FRAME_TIME, Take, check_frame, layer_of, same
from viewer.errors import InputError, unknown_name
from viewer.ik.goals import Goal
from viewer.ik.methods import DEFAULT_TUNING
from viewer.ik.solver_options import COMMON_NAMES, DEFAULT, DRAGGING, ONE_SHOT, CommonOptions, Options
from viewer.ik.system import Settings
from viewer.skeleton import Character, Clip, FreeNames, Pose, Skeleton
from viewer.spatial.checks import as_flag, as_name, as_number, as_positive, put, swapped, whole

ItemKind = Literal["joint", "effector", "prop", "layer"]

LONGEST_MARKER = 100
"""Most characters of a marker's name."""

PREFERRED = ("start", "rest", "relaxed")
BENDS = {"up": 1, "down": -1}
"""Values of `viewer.ik.methods.Tuning.elbow` by word."""
_LARGEST = 1e100
"""Largest damping, step and step cap, whose squares are finite."""
_NO_MOTION = {"no motion": True}
"""Of fields of a document that its motion does not depend on."""


class Item(NamedTuple):
    """An item that can be selected and dragged.

    ``kind`` is "joint", "effector", "prop" or "layer", ``name`` that of the joint or prop, or the id of the goal or
    layer. An "effector" is a goal: sessions keep this word from when every effector had one goal, whose id is the
    effector's name. The root joint's item is the root handle.
    """

    kind: ItemKind
    name: str

    @property
    def on_figure(self) -> bool:
        """Whether it is a joint or a goal."""
        return self.kind in {"joint", "effector"}


class Mode(StrEnum):
    """What dragging moves."""

    IK = "ik"
    """Goals; the joints follow."""
    FK = "fk"
    """Joints; their descendants follow."""


class Scope(StrEnum):
    """Which joints may move during an IK drag."""

    BODY = "body"
    """All."""
    LIMB = "limb"
    """The joints of the dragged limb."""
    SELECTION = "selection"
    """The selected joints."""


@dataclass(frozen=True, slots=True, order=True)
class Marker:
    """A name of a frame. The name, such as ``Contact``, need not be unique."""

    frame: int
    name: str

    def __post_init__(self) -> None:
        check_frame(self.frame, "marker: frame")
        put(self, frame=int(self.frame), name=as_name(self.name, "marker", LONGEST_MARKER))


def marker_at(markers: tuple[Marker, ...], frame: int) -> Marker | None:
    """The marker of a frame, or None."""
    return next((marker for marker in markers if marker.frame == frame), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverSettings(CommonOptions):
    """Solver settings of a document, beside those of `CommonOptions`.

    Attributes:
        exact: whether poses that miss a goal are not shown ("exact or nothing").
        prefer: the pose to which joints are drawn where goals leave them free: "start" (where a drag begins), "rest" or
            "relaxed". Not for planar documents.
        prefer_weight: fraction of the way from the start to that pose, 0 to 1.
        until_close: whether each tick of a drag iterates until the goals are met, ``max_iterations`` at most, or makes
            ``iterations`` steps.
        iterations: steps of one tick while tracking.
        damping: lambda, squared in the equation; None: the method's default.
        step: fraction of each proposed step that is taken; None: all of it.
        step_cap_deg: most degrees that a joint rotates in one step; None: the method's default.
        truncation: of "pseudo-inverse": fraction of the largest singular value below which others count as 0;
            None: the default.
        numeric: whether the Jacobian is computed by finite differences.
        bend: of "two-link": "up" (the solution with the higher elbow) or "down"; None: either.
        firm_holds: whether holds only weigh less than the dragged goal, or give way to it wherever it could be met
            without them (`viewer.document.posed_goals.holds_yield`). Documents from before this choice have firm holds;
            new documents do not.
    """

    exact: bool = False
    prefer: str = "start"
    prefer_weight: float = 1.0
    until_close: bool = False
    iterations: int = 4
    damping: float | None = None
    step: float | None = None
    step_cap_deg: float | None = None
    truncation: float | None = None
    numeric: bool = False
    bend: str | None = None
    firm_holds: bool = True

    def __post_init__(self) -> None:
        for name in ("max_iterations", "iterations"):
            whole(getattr(self, name), name, least=1)
        CommonOptions.__post_init__(self)
        for name in ("exact", "until_close", "numeric", "firm_holds"):
            as_flag(getattr(self, name), name)
        if self.prefer not in PREFERRED:
            raise InputError(unknown_name("preferred pose", str(self.prefer), PREFERRED))
        if self.bend is not None and self.bend not in BENDS:
            raise InputError(unknown_name("bend", str(self.bend), tuple(BENDS)))
        as_number(self.prefer_weight, "prefer_weight", least=0.0, most=1.0)
        if self.truncation is not None:
            as_number(self.truncation, "truncation", least=0.0, below=1.0)
        for name in ("damping", "step", "step_cap_deg"):
            if getattr(self, name) is not None:
                as_number(as_positive(getattr(self, name), name), name, most=_LARGEST)

    def options(self, *, limits: bool) -> Options:
        """Options of a `Solver`."""
        tuning = replace(
            DEFAULT_TUNING,
            damping=self.damping,
            step=self.step or DEFAULT_TUNING.step,
            numeric=self.numeric,
            elbow=0 if self.bend is None else BENDS[self.bend],
        )
        if self.truncation is not None:
            tuning = replace(tuning, truncation=self.truncation)
        if self.step_cap_deg is not None:
            tuning = replace(tuning, most_turn=math.radians(self.step_cap_deg))
        return Options(
            **{name: getattr(self, name) for name in COMMON_NAMES},
            limits=limits,
            preferred_weight=self.prefer_weight,
            settings=self._tuned(ONE_SHOT),
            tuning=tuning,
        )

    def preferred(self, skeleton: Skeleton) -> Pose | None:
        """The preferred pose; the same object for the same skeleton, as cached solvers are found by it."""
        return None if self.prefer == "start" else _pose_of(skeleton, self.prefer)

    def dragging(self, iterations: int) -> Settings:
        """Settings of one tick with this many iterations."""
        return self._tuned(DRAGGING)._replace(max_iterations=iterations)

    def _tuned(self, settings: Settings) -> Settings:
        if self.damping is not None:
            settings = settings._replace(damping=self.damping**2, damping_scale=0.0)
        if self.step_cap_deg is not None:
            settings = settings._replace(step_cap=math.radians(self.step_cap_deg))
        return settings

    @property
    def tick_iterations(self) -> int:
        """Iterations of one tick of a drag."""
        return self.max_iterations if self.until_close else self.iterations


@lru_cache(maxsize=16)
def _pose_of(skeleton: Skeleton, name: str) -> Pose:
    return skeleton.rest_pose() if name == "rest" else skeleton.relaxed_pose()


def prefers(settings: SolverSettings) -> bool:
    """Whether a preferred pose applies: only the default method has one."""
    return settings.prefer != "start" and settings.method == DEFAULT


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """The document. Documents share unchanged parts, so that keeping hundreds of them costs little.

    Attributes:
        character: as loaded: the file's skeleton, clips and units.
        skeleton: the working copy: edited lengths, stiffness, effectors and limits.
        pose: of ``skeleton``, solved.
        goals: first one per effector, in the skeleton's order and with its name as id; then any number of others.
        limits_on: whether joint limits bind.
        limits_from: the source of the limits, a `LimitSource` (`viewer.formats.file_formats`); "": as it was loaded.
        unlimited: names of joints whose limits never bind.
        solver: the solver's settings.
        selection: the selected items; the last one is active.
        mode: whether dragging moves goals (IK) or turns joints (FK).
        scope: which joints an IK drag may move.
        clip: name of the clip shown, or None.
        frame: the frame of the clip or take that is shown, or was shown before the pose was edited.
        take: keys on the clip shown, or without a clip; None: there were none yet.
        put_aside: takes on other clips and the one without a clip; each is used again with its clip.
        auto_key: whether every edit of the pose sets keys of the joints that it changes.
        planar: the world plane that the body stays in: "xy", "yz" or "zx"; None: it moves in space.
        contact: what the figure must not go through.
        balance: whether the figure keeps its balance.
        markers: names of frames, by frame.
    """

    character: Character
    skeleton: Skeleton
    pose: Pose = field(metadata=_NO_MOTION)
    goals: tuple[DocumentGoal, ...] = field(default=(), metadata=_NO_MOTION)
    limits_on: bool = True
    limits_from: str = ""
    unlimited: frozenset[str] = frozenset()
    solver: SolverSettings = field(default_factory=SolverSettings)
    selection: tuple[Item, ...] = field(default=(), metadata=_NO_MOTION)
    mode: Mode = field(default=Mode.IK, metadata=_NO_MOTION)
    scope: Scope = field(default=Scope.BODY, metadata=_NO_MOTION)
    clip: str | None = None
    frame: int = field(default=0, metadata=_NO_MOTION)
    take: Take | None = None
    put_aside: tuple[Take, ...] = ()
    auto_key: bool = field(default=False, metadata=_NO_MOTION)
    planar: str | None = None
    contact: DocumentContact = NO_CONTACT
    balance: DocumentBalance = NO_BALANCE
    markers: tuple[Marker, ...] = field(default=(), metadata=_NO_MOTION)

    def goal(self, name: str) -> DocumentGoal:
        """The goal with an id; the id of an effector's first goal is the effector's name."""
        for goal in self.goals:
            if goal.id == name:
                return goal
        raise InputError(unknown_name("effector", name, [goal.id for goal in self.goals]))

    @property
    def limits_source(self) -> str | None:
        """Where the limits come from, as of `Character.limits_from`."""
        if self.limits_from == "none":
            return None
        return self.limits_from or self.character.limits_from

    def goals_of(self, effector: str) -> tuple[DocumentGoal, ...]:
        """All goals of one effector, the one that has its name first."""
        return tuple(goal for goal in self.goals if goal.effector == effector)

    def with_goal(self, goal: DocumentGoal) -> Document:
        """The document with the goal of the same id replaced; the same object if the goals are equal."""
        goals = tuple([goal if own.id == goal.id else own for own in self.goals])
        return self if goals == self.goals else self.with_goals(goals)

    def changed(self, **changes: Any) -> Document:  # noqa: ANN401 - each field has its own type
        """The document with other values of some fields; itself if they are equal."""
        same = all(getattr(self, name) == value for name, value in changes.items())
        return self if same else replace(self, **changes)

    def with_goals(self, goals: tuple[DocumentGoal, ...]) -> Document:
        """The document with other goals of the same effectors."""
        return swapped(self, goals=goals)

    @property
    def takes(self) -> tuple[Take, ...]:
        """The takes put aside, and the one shown."""
        return self.put_aside if self.take is None else (*self.put_aside, self.take)

    def with_takes(self, change: Callable[[Take], Take]) -> Document:
        """The document with all its takes changed."""
        take = None if self.take is None else change(self.take)
        return replace(self, take=take, put_aside=tuple(map(change, self.put_aside)))

    def with_pose(self, pose: Pose) -> Document:
        """The document in another pose, as each step of a drag makes it."""
        return swapped(self, pose=pose)

    @property
    def clip_data(self) -> Clip | None:
        """The clip shown, as loaded."""
        return None if self.clip is None else self.character.clips.get(self.clip)

    @property
    def active(self) -> Item | None:
        """The item selected last, or None."""
        return self.selection[-1] if self.selection else None

    def selected(self, kind: ItemKind) -> tuple[str, ...]:
        """The names of the selected items of a kind; of goals their ids."""
        return tuple(item.name for item in self.selection if item.kind == kind)

    @property
    def selected_on_figure(self) -> tuple[Item, ...]:
        """The selected joints and effectors."""
        return tuple(item for item in self.selection if item.on_figure)

    @property
    def active_on_figure(self) -> Item | None:
        """The item selected last if it is a joint or an effector, else None."""
        return self.active if self.active is not None and self.active.on_figure else None

    def check_item(self, item: Item) -> None:
        """Raise InputError unless the item is a joint, an effector, a prop or a layer of this document."""
        kind, name = item
        if kind == "effector":
            self.goal(name)
        elif kind == "joint":
            self.skeleton.index(name)
        elif kind == "prop":
            self.contact.prop(name)
        elif kind == "layer":
            layer_of(self.take, name)
        else:
            raise InputError(unknown_name("kind of item", str(kind), ("joint", "effector", "prop", "layer")))

    def has(self, item: Item) -> bool:
        """Whether the item is a joint, an effector, a prop or a layer of this document."""
        try:
            self.check_item(item)
        except InputError:
            return False
        return True

    def with_what_is_left_selected(self) -> Document:
        """The document without the selected items that an action removed; itself if there are none."""
        return self.changed(selection=tuple(item for item in self.selection if self.has(item)))

    def solver_goals(self) -> dict[str, Goal]:
        """The enabled goals as the solver takes them, by id, in order; then `body_goals`."""
        found = ((goal.id, goal.for_solver()) for goal in self.goals)
        return {name: goal for name, goal in found if goal is not None} | self.body_goals()

    def body_goals(self) -> dict[str, Goal]:
        """The goals without an effector, as the solver takes them, by id: those for grips, then that for balance."""
        goals = dict(solver_grips(self.contact, self.skeleton)) if self.contact.grips else {}
        balance = self.balance.goal
        return goals if balance is None else goals | {self.balance_id: balance}

    @property
    def balance_id(self) -> str:
        """The id of the goal for balance: ``balance``, unless another goal has that name."""
        return FreeNames(goal.id for goal in self.goals).take(BALANCE_KIND)

    @property
    def floor(self) -> float:
        """Metres: the height of the floor that the figure stands on, of contact if that has one."""
        return self.contact.height if self.contact.on and self.contact.floor else self.balance.height

    @property
    def frames(self) -> int:
        """Number of frames that can be shown: of the clip, else of the take, else 0."""
        clip = self.clip_data
        if clip is not None:
            return len(clip)
        return 0 if self.take is None else self.take.end + 1

    @property
    def has_motion(self) -> bool:
        """Whether there is a clip, or a take with keys."""
        return self.clip_data is not None or (self.take is not None and not self.take.is_empty)

    @property
    def played(self) -> tuple[int, int]:
        """First and last frame that are played and exported."""
        if self.take is not None:
            return self.take.first, self.take.last
        return 0, max(self.frames - 1, 0)

    @property
    def frame_time(self) -> float:
        """Seconds per frame: of the clip, else of the take."""
        clip = self.clip_data
        if clip is not None:
            return clip.frame_time
        return FRAME_TIME if self.take is None else self.take.frame_time

    def same_as(self, other: Document) -> bool:
        """Whether all fields are equal, numbers to the last bit."""
        return same(self, other)


_OF_MOTION = tuple(attribute.name for attribute in fields(Document) if attribute.metadata != _NO_MOTION)


def shares(one: Document, other: Document, names: Iterable[str]) -> bool:
    """Whether the values of some fields are the same objects in two documents."""
    return all(getattr(one, name) is getattr(other, name) for name in names)


def same_motion(one: Document, other: Document) -> bool:
    """Whether two documents have the same motion; frame, pose and selection may differ."""
    return shares(one, other, _OF_MOTION)


def is_unchanged(document: Document, left: Document) -> bool:
    """Whether a document still has the pose, goals and limits that a drag ended with."""
    same = shares(document, left, ("pose", "goals", "skeleton", "unlimited"))
    return same and document.limits_on == left.limits_on


class Action(ABC):
    """A change of a document; a value, so that it can be kept, written and done again.

    Its class states the attributes beside its base: ``class SetPin(Action, solves=True)``.

    Attributes:
        solves: whether the pose is solved afterwards, towards the goals.
        restarts: whether that solve may restart from other poses if it misses a goal and the settings allow it.
        saved: whether it changes what a file would hold: selecting does not.
        words: name of the undo step, where ``{0.joint}`` stands for the attribute ``joint``, and ``{switched}`` for
            "on" or "off", by the attribute ``on``.
    """

    __slots__ = ()

    solves: ClassVar[bool] = False
    restarts: ClassVar[bool] = False
    saved: ClassVar[bool] = True
    words: ClassVar[str] = ""

    def __init_subclass__(
        cls,
        *,
        solves: bool | None = None,
        restarts: bool | None = None,
        saved: bool | None = None,
        words: str | None = None,
    ) -> None:
        stated = {"solves": solves, "restarts": restarts, "saved": saved, "words": words}
        for name, value in stated.items():
            if value is not None:
                setattr(cls, name, value)

    @property
    def label(self) -> str:
        """The name of the undo step."""
        return self.words.format(self, switched="on" if getattr(self, "on", False) else "off")

    @abstractmethod
    def apply(self, document: Document) -> Document:
        """The changed document, not solved yet; the same object if nothing changes.

        Raises:
            InputError: the action cannot be done.
        """


@dataclass(frozen=True, slots=True, init=False)
class SettingsAction(Action):
    """An action that changes fields of one value of a document, given as keywords: ``SetSolver(damping=0.1)``."""

    changes: Mapping[str, Any]

    def __init__(self, **changes: Any) -> None:  # noqa: ANN401 - each field has its own type
        put(self, changes=changes)
