"""The pose that what a document's goals leave free is drawn to, as its solver takes it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from viewer.ik.options import DEFAULT
from viewer.skeleton.pose import Pose

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.planar_rig import PlanarRig
    from viewer.session.solver_settings import SolverSettings


def prefers(settings: SolverSettings) -> bool:
    """Whether a solver with these settings is drawn to a pose: only the default method is."""
    return settings.prefer != "start" and settings.method == DEFAULT


def preferred_pose(document: Document, rig: PlanarRig | None) -> Pose | None:
    """The preferred pose of the document's skeleton, or of the rig that stands for it; None where there is none.

    The same object for the same skeleton and rig: solvers are kept by it.
    """
    wish = document.solver.preferred(document.skeleton) if prefers(document.solver) else None
    return wish if wish is None or rig is None else _flat(rig, document.pose, wish)


@lru_cache(maxsize=8)
def _flat(rig: PlanarRig, pose: Pose, wish: Pose) -> Pose:
    """The wish within the rig's planes, its free roots as in the pose: it is the joints that have habits."""
    rotations, translations = wish.rotations.copy(), wish.translations.copy()
    rotations[rig.roots], translations[rig.roots] = pose.rotations[rig.roots], pose.translations[rig.roots]
    # The solver brings it inside the limits, where they bind.
    return rig.lifted(rig.nearest(Pose(rotations, translations), limits=False))
