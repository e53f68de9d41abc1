"""The options of a `Solver`, the settings of single solves and drags, and the seed poses of restarts."""

from __future__ import annotations

import inspect
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Final, TypedDict, cast

import numpy as np

from viewer.choices import METHOD_NAMES, ROOT_MODES, Backend, MethodName, RootMode
from viewer.errors import InputError, quote, unknown_name
from viewer.ik.backends import check_backend
from viewer.ik.contact.values import Contact
from viewer.ik.findings import labels
from viewer.ik.goals import KINDS, Goal, goal_ids
from viewer.ik.levenberg_marquardt import CHOICE
from viewer.ik.methods import DEFAULT_TUNING, EVERY_METHOD, METHODS, Tuning
from viewer.ik.system import Settings, System
from viewer.skeleton import Pose, Skeleton
from viewer.skeleton.character import wrong_kind
from viewer.spatial.checks import Floats, as_flag, as_number, whole

RESTARTS = 16
ONE_SHOT = Settings(limit_passes=4, pull=0.02, restarts=RESTARTS, clamp_to_limit=True)
"""A single solve: targets may be far; restarts where it stalls; a weak pull to the start pose."""
DRAGGING = Settings(pull=0.3, restarts=0, least_iterations=1)
"""A step of a drag: near already; never a restart, which would pop; a strong pull to the pose at the drag's start,
without which a hand that goes out and back would leave the pose changed (the idea of Liegeois, "Automatic supervisory
control of the configuration and behavior of multibody mechanisms", IEEE Trans. SMC 7, 1977)."""

INSIDE = 0.98
"""Solves stop slightly inside the tolerances, so that other arithmetic agrees that goals are met."""


def check_settings(settings: Settings) -> None:
    """Raise InputError where a setting is out of its range."""
    for name in ("max_iterations", "least_iterations", "limit_passes", "restarts"):
        whole(getattr(settings, name), f"settings: {name}", least=0)
    for name in ("damping", "damping_scale", "pull"):
        as_number(getattr(settings, name), f"settings: {name}", least=0.0)
    for name in ("step_cap", "pull_cap"):
        as_number(getattr(settings, name), f"settings: {name}", above=0.0)
    for name in ("limit_gain", "least_gain"):
        as_number(getattr(settings, name), f"settings: {name}", least=0.0, most=1.0)
    for name in ("stand", "guarded", "clamp_to_limit", "settle"):
        as_flag(getattr(settings, name), f"settings: {name}")


_TURN = 0.6
"""Standard deviation, radians, of an unlimited joint's turn in a restart."""
_LIMB = 30
"""Unlimited dofs that each turn this far; with more of them, each turns less."""
_WIDER = 3.0
"""Factor on these turns in the later half of the restarts, after poses nearby have been tried."""
_MOVE = 0.3
"""Standard deviation of a root's move, in reaches of the figure."""


@lru_cache(maxsize=4)
def _draws(seed: int, content: int, dofs: int) -> tuple[Floats, Floats]:
    """Uniform and normal numbers (R, n): other solvers of the same goals need the same ones again."""
    random = np.random.default_rng([seed, content])
    size = (RESTARTS * CHOICE, dofs)
    return random.uniform(size=size), random.normal(size=size)


def seeds_for(system: System, skeleton: Skeleton, seed: int) -> Floats:
    """(R, n) poses to restart from, `CHOICE` for each restart, drawn inside the limits.

    Always the same for the same content and seed.
    """
    content = zlib.crc32("\0".join(skeleton.names).encode("utf-8", "surrogatepass"))
    content = zlib.crc32((skeleton.offsets / system.scale[0]).tobytes(), content)
    content = zlib.crc32(system.goal_joint.tobytes() + system.goal_kind.tobytes(), content)
    uniform, normal = _draws(seed, content, len(system.lower))
    lower = np.where(system.bounded, system.lower, 0.0)
    upper = np.where(system.bounded, system.upper, 0.0)
    # Many joints in a row would coil up: the turns of a long chain add up to as much as those of a limb.
    free = max(1, int(np.count_nonzero(~system.bounded)))
    turn = np.full((RESTARTS * CHOICE, 1), _TURN * min(1.0, math.sqrt(_LIMB / free)))
    if free <= _LIMB:
        turn[len(turn) // 2 :] *= _WIDER
    seeds = np.where(system.bounded, lower + uniform * (upper - lower), turn * system.unit * normal)
    reach = float(np.linalg.norm(system.offset, axis=-1).max(initial=0.0))
    for k in np.flatnonzero(system.moves).tolist():
        first = system.first[k]
        seeds[:, first : first + 3] = _MOVE * reach * normal[:, first : first + 3]
    seeds[:, system.spread == 0.0] = 0.0
    return seeds


DEFAULT: Final = "default"
DLS: Final = "dls"
assert (*EVERY_METHOD,) == METHOD_NAMES, f"MethodName: expected the words {', '.join(EVERY_METHOD)}"


class SolverOptions(TypedDict, total=False):
    """The keywords of `Solver`; see `Options` for their meaning and defaults.

    They are listed again because type checkers take keywords from nothing else.
    """

    method: MethodName
    backend: Backend
    root: RootMode
    tolerance_m: float
    tolerance_deg: float
    max_iterations: int
    restarts: bool
    natural: bool
    limits: bool
    seed: int
    exact: bool
    preferred: Pose | None
    preferred_weight: float
    settings: Settings
    tuning: Tuning
    contact: Contact | None
    ground: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """The options that documents keep, too: as attributes of the same names in their `SolverSettings`.

    Attributes:
        method: "default", or one of `viewer.ik.methods.METHODS`: for comparison and lessons.
        backend: "numpy", "numba" (compiles now), or "auto": numpy until the compiled kernels are ready (`warm_up`).
        root: what free roots may do: "free", "translate" or "locked".
        tolerance_m: metres within which a position is reached.
        tolerance_deg: degrees within which a rotation is reached.
        max_iterations: steps of one solve at most, restarts included; those of ``settings`` where only these are given.
            Goals that leave no degree of freedom are tried from three other sets of seeds, with three times as many,
            before they are called unreachable.
        restarts: whether a one-shot solve that stalls starts again from other poses.
        natural: whether joints move as readily as those of living things (`viewer.ik.mobility`), or all equally.
    """

    method: MethodName = DEFAULT
    backend: Backend = "auto"
    root: RootMode = "free"
    tolerance_m: float = 1e-3
    tolerance_deg: float = 0.5
    max_iterations: int = 200
    restarts: bool = True
    natural: bool = True

    def __post_init__(self) -> None:
        """Check them; raises an InputError: an unknown name (near ones are offered), or a number out of range."""
        if self.method not in METHOD_NAMES:
            raise InputError(unknown_name("method", str(self.method), METHOD_NAMES))
        if self.root not in ROOT_MODES:
            raise InputError(unknown_name("root mode", str(self.root), ROOT_MODES))
        check_backend(self.backend)
        for name in ("tolerance_m", "tolerance_deg"):
            as_number(getattr(self, name), name, above=0.0)
        whole(self.max_iterations, "max_iterations", least=0)
        for name in ("restarts", "natural"):
            as_flag(getattr(self, name), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(CommonOptions):
    """How to solve.

    Attributes:
        limits: whether joint limits bind.
        seed: of the poses that restarts begin from, which depend only on it and on skeleton and goals.
        exact: whether a solve that does not converge gives the start pose back ("exact or nothing"; inside its limits)
            or the nearest. A drag always gives the nearest.
        preferred: a pose of the skeleton to which joints are drawn where the goals leave them free: their rotations
            (of slides the translation), not free roots. None: the pose that a solve or drag begins with. Of the
            default method; others name it in `Solution.unserved`.
        preferred_weight: how strongly: part of the way from where it begins to that pose, 0 (not at all) to 1.
        settings: numbers of the step (`viewer.ik.system.Settings`): damping, step cap, pull, ... ``restarts=False``,
            ``preferred`` and a standing figure override their restarts, settle and stand. Drags have
            numbers of their own (`viewer.ik.solver_options.DRAGGING`).
        tuning: the numbers of single methods (`viewer.ik.methods.common.Tuning`); others ignore them.
        contact: what the figure must not go through; None: nothing. Of the default method; others name it in
            `Solution.unserved`.
        ground: metres: the height of the ground for balance goals; None: that of the floor of ``contact``, or 0 without
            one.
    """

    limits: bool = True
    seed: int = 0
    exact: bool = False
    preferred: Pose | None = None
    preferred_weight: float = 1.0
    settings: Settings = ONE_SHOT
    tuning: Tuning = DEFAULT_TUNING
    contact: Contact | None = None
    ground: float | None = None

    def __post_init__(self) -> None:
        CommonOptions.__post_init__(self)  # `super()` does not know classes with slots that dataclasses make
        whole(self.seed, "seed", least=0)
        for name in ("limits", "exact"):
            as_flag(getattr(self, name), name)
        if self.preferred is not None and not isinstance(self.preferred, Pose):
            raise wrong_kind(self.preferred, "a pose or None", "preferred: ")
        as_number(self.preferred_weight, "preferred_weight", least=0.0, most=1.0)
        for name, kind in (("settings", Settings), ("tuning", Tuning)):
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name}: expected {kind.__name__}, found {quote(getattr(self, name))}")
        check_settings(self.settings)
        if self.contact is not None and not isinstance(self.contact, Contact):
            raise InputError(f"contact: expected a Contact or None, found {quote(self.contact)}")
        if self.ground is not None:
            as_number(self.ground, "ground")

    @property
    def floor(self) -> float:
        """Metres: the height that the figure stands on."""
        if self.ground is not None:
            return self.ground
        return 0.0 if self.contact is None or self.contact.floor is None else self.contact.floor


COMMON_NAMES = tuple(field.name for field in fields(CommonOptions))
OPTION_NAMES = tuple(field.name for field in fields(Options))


def keywords_of(options: Options) -> SolverOptions:
    """The options as keyword arguments of a `Solver`."""
    return cast("SolverOptions", {name: getattr(options, name) for name in OPTION_NAMES})


def options_of(given: Mapping[str, object]) -> Options:
    """The options, by name; an InputError for an unknown one, with similar ones, or an invalid value."""
    for name in given:
        if name not in OPTION_NAMES:
            raise InputError(f"Solver: {unknown_name('option', name, OPTION_NAMES)}")
    options = Options(**given)  # type: ignore[arg-type]  # it checks their values
    if "settings" in given and "max_iterations" not in given:
        return replace(options, max_iterations=options.settings.max_iterations)
    return options


def checked_goals(goals: Sequence[Goal]) -> tuple[Goal, ...]:
    """The goals, one of which is enabled at least.

    Raises:
        InputError: values that are no goals, two with the same id, or none that is enabled.
    """
    found: object = goals
    if not isinstance(found, Iterable):
        raise InputError(f"expected a list of goals, found {quote(found)}")
    given = tuple(goals)
    entries: tuple[object, ...] = given
    for entry in entries:
        if not isinstance(entry, Goal):
            raise InputError(f"expected a list of goals, found {quote(entry)} in it")
    goal_ids(given)
    if not any(goal.enabled for goal in given):
        raise InputError("a solver needs at least one goal that is enabled")
    return given


def unserved_of(goals: Sequence[Goal], method: str) -> tuple[str, ...]:
    """Labels of the enabled goals that a method cannot serve."""
    if method == DEFAULT:
        return ()
    served = METHODS[method].serves
    named = zip(goals, labels(goals), strict=True)
    return tuple(
        name for goal, name in named if goal.enabled and (KINDS[goal.kind].grips or KINDS[goal.kind] not in served)
    )


def serves_levels(goals: Sequence[Goal], options: Options) -> bool:
    """Whether levels of goals are distinguished: by the default method, of built-in goals with analytic rows."""
    functions = any(goal.enabled and not KINDS[goal.kind].built_in for goal in goals)
    return options.method == DEFAULT and not functions and not options.tuning.own_rows


def signature_of(made: Callable[..., None]) -> inspect.Signature:
    """The signature for `help`: every option with its default instead of ``**options``."""
    given = list(inspect.signature(made).parameters.values())[1:-1]
    return inspect.Signature([*given, *inspect.signature(Options).parameters.values()])


def not_to_be_set(name: str) -> str:
    """The message when a caller sets an attribute of a solver."""
    if name in OPTION_NAMES or name in {"options", "skeleton"}:
        return f'a solver\'s "{name}" does not change: make another Solver'
    return f'a solver has no "{name}" to be set: only its "goals" can be'
