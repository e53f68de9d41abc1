"""A preferred pose: joints that the goals leave free tend to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from viewer.errors import InputError
from viewer.ik.assemble import Assembly
from viewer.ik.backends.vectorised.engine import into_limits
from viewer.ik.system import System, make_state, make_work
from viewer.ik.workspace import checked_start
from viewer.skeleton import JointKind, Pose, Skeleton
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import slerp


@dataclass(frozen=True, slots=True, eq=False)
class Preferred:
    """A preferred pose and its weight.

    Free roots are left where the start has them: it is the joints that have habits, not the place in the world.

    Attributes:
        skeleton: the joints.
        pose: of the skeleton.
        weight: part of the way from the start to the pose, above 0 and up to 1.
    """

    skeleton: Skeleton
    pose: Pose
    weight: float

    @classmethod
    def of(cls, skeleton: Skeleton, pose: Pose | None, weight: float) -> Preferred | None:
        """The preferred pose that the options ask for; None without one.

        Raises:
            InputError: a pose of another skeleton, infinite numbers, rotations that are none.
        """
        if pose is None:
            return None
        try:
            checked = checked_start(skeleton, pose)
        except InputError as error:
            raise InputError(f"preferred {error}") from None
        return cls(skeleton, checked, weight) if weight > 0.0 else None

    def with_pose(self, assembly: Assembly) -> Assembly:
        """The assembly with the pose, inside its limits, in its system."""
        system, state = assembly.system, make_state(assembly.system)
        state.q[:], state.t[:] = self.pose.rotations[assembly.joints], self.pose.translations[assembly.joints]
        into_limits(system, make_work(system), state.q, state.t, state.x)
        draws = np.where(system.spread > 0.0, self.weight, 0.0)
        draws[_of_free_roots(system)] = 0.0
        system = system._replace(preferred=state.x, preferred_turn=state.q, preference=draws)
        return replace(assembly, system=system)

    def drawn(self, rotations: Floats, translations: Floats, taking_part: Ints) -> tuple[Floats, Floats]:
        """Local rotations (..., J, 4) and translations (..., J, 3), with joints that no goal moves drawn to the pose.

        These may end outside their limits: between two poses that are inside.

        Args:
            rotations: of the start; not changed.
            translations: of the start, metres; not changed.
            taking_part: indices of the joints that the solver itself moves.
        """
        stays = np.array([kind in {JointKind.FREE, JointKind.FIXED} for kind in self.skeleton.kinds])
        stays |= self.skeleton.stiffness >= 1.0
        stays[taking_part] = True
        turn = np.flatnonzero(~stays)
        if not turn.size:
            return rotations, translations
        slide = [joint for joint in turn.tolist() if self.skeleton.kinds[joint] is JointKind.SLIDE]
        rotations, translations = rotations.copy(), translations.copy()
        rotations[..., turn, :] = slerp(rotations[..., turn, :], self.pose.rotations[turn], self.weight)
        translations[..., slide, :] += self.weight * (self.pose.translations[slide] - translations[..., slide, :])
        return rotations, translations


def _of_free_roots(system: System) -> Ints:
    """The dofs of roots that move."""
    roots = np.flatnonzero((system.parent < 0) & (system.moves > 0))
    ends = [np.arange(system.first[k], system.first[k + 1]) for k in roots.tolist()]
    return np.concatenate([np.empty(0, dtype=np.int64), *ends])
