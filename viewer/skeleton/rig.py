"""Lending a rig: kinds, limits and effectors of a skeleton file are given to a motion file's joints by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.errors import InputError, shown
from viewer.skeleton.capsule import Bodies
from viewer.skeleton.character import Character
from viewer.skeleton.effectors import Effector
from viewer.skeleton.limits import JointKind
from viewer.skeleton.mimic import kept_mimics
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats


def lend_rig(character: Character, rig: Character) -> Character:
    """The character with kinds, limits, effectors and bodies of a rig's joints of the same names.

    Offsets, rest rotations and motion stay; frames that a kind from the rig cannot express are kept. Joints that
    are not in the rig stay as they are, except that limits derived from the clip are removed.

    Raises:
        InputError: no joint name is in the rig.
    """
    skeleton, lent = character.skeleton, rig.skeleton
    place = {name: joint for joint, name in enumerate(lent.names)}
    pairs = [(joint, place[name]) for joint, name in enumerate(skeleton.names) if name in place]
    if not pairs:
        raise InputError(f"the rig {shown(lent.name)} and {shown(skeleton.name)} have no joint name in common")
    kinds = list(skeleton.kinds)
    axes, stiffness = skeleton.axes.copy(), skeleton.stiffness.copy()
    derived = character.limits_derived
    limits = [None if derived else own for own in skeleton.limits]
    for joint, other in pairs:
        is_root = skeleton.parents[joint] < 0
        kinds[joint] = _kind(lent.kinds[other], is_root=is_root)
        axes[joint], limits[joint], stiffness[joint] = lent.axes[other], lent.limits[other], lent.stiffness[other]
    mobility, matrices = _mobility(skeleton, lent, pairs)
    missing = [name for name in lent.names if name not in skeleton.names]
    warnings = [f"the rig's joints {', '.join(missing)} are not in this file"] if missing else []
    rigged = replace(
        skeleton,
        kinds=tuple(kinds),
        axes=axes,
        limits=tuple(limits),
        stiffness=stiffness,
        mobility=mobility,
        mobility_matrices=matrices,
        effectors=_effectors(skeleton, lent) or skeleton.effectors,
        bodies=_bodies(skeleton, lent) or skeleton.bodies,
        mimics=kept_mimics(lent.mimics or skeleton.mimics, skeleton.names, kinds),
    )
    limited = any(limit is not None for limit in limits)
    return replace(
        character,
        skeleton=rigged,
        warnings=(*character.warnings, *warnings),
        limits_from="file" if limited else None,
    )


def _mobility(skeleton: Skeleton, lent: Skeleton, pairs: list[tuple[int, int]]) -> tuple[Floats | None, Floats | None]:
    """Mobility (J, 3) and (J, 3, 3) of the rig where it states one, else of the skeleton."""
    here, there = map(list, zip(*pairs, strict=True))
    theirs = lent.states_mobility[there]
    if not theirs.any():
        return skeleton.mobility, skeleton.mobility_matrices
    found: list[Floats | None] = []
    for own, other, shape in (
        (skeleton.mobility, lent.mobility, (3,)),
        (skeleton.mobility_matrices, lent.mobility_matrices, (3, 3)),
    ):
        table = np.full((len(skeleton), *shape), np.nan) if own is None else own.copy()
        nothing = np.full((len(pairs), *shape), np.nan)
        some = nothing if other is None else other[there]
        table[here] = np.where(theirs.reshape(-1, *(1,) * len(shape)), some, table[here])
        found.append(None if np.isnan(table).all() else table)
    return found[0], found[1]


def _kind(kind: JointKind, *, is_root: bool) -> JointKind:
    """The kind, with a ball instead of a free joint unless it is a root."""
    return JointKind.BALL if kind is JointKind.FREE and not is_root else kind


def _bodies(skeleton: Skeleton, lent: Skeleton) -> Bodies | None:
    """The rig's bodies whose joint is here; None where it states none, or none of these joints."""
    here = {name: joint for joint, name in enumerate(skeleton.names)}
    stated = () if lent.bodies is None else lent.bodies.capsules
    found = [replace(one, joint=here[lent.names[one.joint]]) for one in stated if lent.names[one.joint] in here]
    return Bodies(tuple(found)) if found else None


def _effectors(skeleton: Skeleton, lent: Skeleton) -> tuple[Effector, ...]:
    """The rig's effectors whose joint the skeleton has."""
    here = {name: joint for joint, name in enumerate(skeleton.names)}
    return tuple(
        replace(effector, joint=here[lent.names[effector.joint]])
        for effector in lent.effectors
        if lent.names[effector.joint] in here
    )
