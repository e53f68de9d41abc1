"""Where solves begin: joints stand as their kinds can hold, and those that no goal moves are inside their limits.

These are drawn to the preferred pose, too, if there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.idle import Idle
from viewer.ik.unheld import Unheld
from viewer.ik.workspace import checked_start
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from viewer.ik.preferred import Preferred
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools, Floats, Ints


class Starts:
    """The start poses of one solver, the last of them remembered.

    Args:
        skeleton: the joints.
        taking_part: indices of the joints that the solver itself moves and keeps inside their limits.
        preferred: what the other joints are drawn to, if anything.
        limits: whether limits bind.
    """

    def __init__(self, skeleton: Skeleton, taking_part: Ints, preferred: Preferred | None, *, limits: bool) -> None:
        """Find the joints that take no part."""
        self._skeleton, self._taking_part, self._preferred = skeleton, taking_part, preferred
        self._unheld = Unheld(skeleton)
        self._idle = Idle(skeleton, taking_part, limits=limits)
        self._start: tuple[Pose, Pose, bool] | None = None
        self._drawn: tuple[Pose, Pose] | None = None

    def start(self, pose: Pose) -> tuple[Pose, bool]:
        """A pose as given, each joint as its kind can hold it, and those that take no part inside their limits.

        Returns:
            It, and whether any was not; of joints that take part their limits are another's concern.

        Raises:
            InputError: no pose, or one of another skeleton.
        """
        if self._start is None or pose is not self._start[0]:  # poses do not change: one that was checked stays good
            checked = checked_start(self._skeleton, pose)
            turns, moves, unheld = self._unheld.held(checked.rotations, checked.translations)
            inside, outside = self._idle.pose_inside(
                checked if unheld is None else Pose.trusted(handed_over(turns), handed_over(moves))
            )
            self._start = (pose, inside, outside or unheld is not None)
        return self._start[1:]

    def drawn(self, start: Pose) -> Pose:
        """A pose that `start` gave, its joints that take no part drawn to the preferred pose, inside their limits."""
        if self._preferred is None:
            return start
        if self._drawn is None or self._drawn[0] is not start:
            self._drawn = (
                start,
                Pose.trusted(*map(handed_over, self._draw(self._preferred, start.rotations, start.translations))),
            )
        return self._drawn[1]

    def stacked(self, rotations: Floats, translations: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Of local rotations (N, J, 4) and translations (N, J, 3), all `start` and all `drawn`."""
        begun = self._idle.inside(*self._unheld.held(rotations, translations)[:2])[:2]
        return begun, begun if self._preferred is None else self._draw(self._preferred, *begun)

    def idle_of(self, chosen: Bools) -> Bools:
        """(N, J) the joints that take no part in the problems (N,) that are chosen."""
        idle = np.repeat(chosen[:, None], len(self._skeleton), axis=1)
        idle[:, self._taking_part] = False
        return idle

    def _draw(self, preferred: Preferred, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        return self._idle.inside(*preferred.drawn(rotations, translations, self._taking_part))[:2]
