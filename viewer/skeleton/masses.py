"""What a skeleton weighs: the inertia that its file states of each joint, else that of its bodies' capsules.

Masses of human segments: de Leva, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters", J. Biomechanics
29, 1996. A person weighs 22 kg per square metre of height.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

import numpy as np

from viewer.skeleton.bodies import bodies_of
from viewer.skeleton.capsule import Capsule
from viewer.skeleton.figure import find_figure
from viewer.skeleton.inertia import Inertia, inertia_of_capsules
from viewer.skeleton.kinematics import fk
from viewer.skeleton.limbs import ARM, Figure
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

BODY_MASS_INDEX = 22.0
"""kg / m^2."""
DENSITY = 1000.0
"""kg / m^3, of anything but people."""
_FLAT = 1.0 / 3.0
"""A figure lower than this part of its length lies, as a swimmer or an arm that is stretched out."""
_HEAD, _TRUNK = 0.0694, 0.4346
_ARM, _LEG = (0.0271, 0.0162, 0.0061), (0.1416, 0.0433, 0.0137)
"""Parts of the body's mass: upper arm, forearm, hand; thigh, shank, foot."""


@lru_cache(maxsize=16)
def inertias_of(skeleton: Skeleton) -> tuple[Inertia, ...]:
    """(J,) the inertia of each joint: as stated, else that of its capsules with the masses of `capsule_masses`."""
    stated = skeleton.inertias or (None,) * len(skeleton)
    if None not in stated:
        return tuple(one for one in stated if one is not None)
    capsules: dict[int, list[tuple[Capsule, float]]] = defaultdict(list)
    for one, mass in zip(bodies_of(skeleton).capsules, capsule_masses(skeleton).tolist(), strict=True):
        capsules[one.joint].append((one, mass))
    return tuple(inertia_of_capsules(capsules[joint]) if given is None else given for joint, given in enumerate(stated))


def capsule_masses(skeleton: Skeleton) -> Floats:
    """Kilograms (C,) of the capsules of `bodies_of`.

    Those that the file states; else segment masses of a recognised human figure, a segment's shared by its capsules in
    proportion to their volumes; else the volume of water.
    """
    capsules = bodies_of(skeleton).capsules
    masses = DENSITY * np.array([volume_of(one) for one in capsules])
    figure = find_figure(skeleton)
    if figure is not None and len(figure.arms) == 2 and len(figure.legs) == 2:
        segments, parts = _segments(skeleton, figure)
        of = segments[[one.joint for one in capsules]]
        total = BODY_MASS_INDEX * standing_height(skeleton) ** 2
        sums = np.bincount(of, masses, len(parts))
        masses = total * parts[of] * masses / sums[of]
    stated = [one.mass for one in capsules]
    return np.array([own if given is None else given for own, given in zip(masses.tolist(), stated, strict=True)])


def volume_of(capsule: Capsule) -> float:
    """Cubic metres."""
    length = float(np.linalg.norm(np.subtract(capsule.b, capsule.a)))
    return float(np.pi * capsule.radius**2 * (length + 4.0 / 3.0 * capsule.radius))


def standing_height(skeleton: Skeleton) -> float:
    """Metres from the lowest to the highest joint or end site of the relaxed pose; of one that lies its length."""
    world = fk(skeleton, skeleton.relaxed_pose())
    tips = zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True)
    places = np.array([*world.positions, *(world.point(joint, offset) for joint, offset in tips)])
    extents = np.ptp(places, axis=0)
    height, length = float(extents[1]), float(extents.max())
    return length if height < _FLAT * length else height


def _segments(skeleton: Skeleton, figure: Figure) -> tuple[np.ndarray[tuple[int], np.dtype[np.intp]], Floats]:
    """The segment (J,) of each joint, that of the nearest joint above where one begins; and each one's share."""
    begins: dict[int, int] = {figure.pelvis: 0}
    parts = [_TRUNK]
    for limb in figure.limbs:
        upper, lower, end = _ARM if limb.kind == ARM else _LEG
        found = [(limb.upper, upper), (limb.lower, lower if limb.end is not None else lower + end)]
        for joint, part in [*found, *([(limb.end, end)] if limb.end is not None else [])]:
            begins[joint] = len(parts)
            parts.append(part)
    top = figure.neck[0] if figure.neck else figure.head
    if top is not None:
        begins[top] = len(parts)
        parts.append(_HEAD)
    segments = np.zeros(len(skeleton), dtype=np.intp)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        segments[joint] = begins.get(joint, segments[parent] if parent >= 0 else 0)
    return segments, np.array(parts) / sum(parts)
