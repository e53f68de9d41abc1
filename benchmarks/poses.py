"""How much like a person do solved poses look? The score of `pose_score` on real clips.

    python benchmarks/poses.py [--plain] [--rest] [--frames N]

The clips are the BVH files of people in $IKVIEWER_SHARED/data/bvh (else in ``shared`` beside the checkout), else the
walk of the samples. The solver is a small one of plain numpy, which knows no limits: damped least squares with the
metric of `viewer.ik.mobility`. --plain: without that metric; --rest: from the rest pose, not the relaxed one.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from pose_score import AT_MOST_CM, Given, clip_files, score, trials

from viewer.ik.mobility import REFERENCE, metric
from viewer.skeleton import JointKind, Pose, effector_of, fk
from viewer.spatial.quaternion import conjugate, exp, log, multiply, normalized, to_matrix

if TYPE_CHECKING:
    from viewer.ik.goals import Goal
    from viewer.skeleton import Skeleton, World
    from viewer.spatial.checks import Floats

LEVER = 0.3
"""Metres that a radian counts as."""


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """Damped least squares: dx = S J^T (J S^2 J^T + lambda I)^-1 e, lambda = 0.03 |e|^2 + 1e-5, never uphill."""

    weighed: bool
    iterations: int = 100

    def __call__(self, skeleton: Skeleton, goals: list[Goal], start: Pose, root: str) -> Pose:
        """Solve; ``root`` as in `viewer.Solver`."""
        ready = metric(skeleton) if self.weighed else np.ones((len(skeleton), 3))
        ready = ready * (1.0 - skeleton.stiffness)[:, None]
        ready[skeleton.roots] *= root == "free"
        pose, world = start, fk(skeleton, start)
        error = _residuals(skeleton, goals, world)
        damping = 1.0
        for _ in range(self.iterations):
            if np.linalg.norm(error.reshape(-1, 3), axis=1).max() < 5e-4:
                break
            columns = _columns(skeleton, goals, world, ready, moves=root == "free")
            for _ in range(12):
                ridge = damping * (0.03 * float(error @ error) + 1e-5) * np.eye(len(error))
                step = columns.T @ np.linalg.solve(columns @ columns.T + ridge, error)
                tried = _moved(skeleton, pose, step, ready)
                new_world = fk(skeleton, tried)
                new_error = _residuals(skeleton, goals, new_world)
                if new_error @ new_error < error @ error:
                    break
                damping *= 4.0
            else:
                break
            damping = max(1.0, damping / 4.0)
            pose, world, error = tried, new_world, new_error
        return pose


def _residuals(skeleton: Skeleton, goals: list[Goal], world: World) -> Floats:
    """Places, then turns: target minus current."""
    rows = []
    for goal in goals:
        joint = effector_of(skeleton, goal.effector).joint
        rows.append(np.array(goal.target) - world.positions[joint])
        if goal.target_rotation is not None:
            rows.append(LEVER * log(multiply(goal.target_rotation, conjugate(world.rotations[joint]))))
    return np.concatenate(rows)


def _columns(skeleton: Skeleton, goals: list[Goal], world: World, ready: Floats, *, moves: bool) -> Floats:
    """(m, 6 J) the Jacobian times the spreads: turns about each joint's own axes, then moves of the roots."""
    turns = to_matrix(world.rotations)
    count = len(skeleton)
    rows = []
    for goal in goals:
        joint = effector_of(skeleton, goal.effector).joint
        place, turned = np.zeros((3, 6 * count)), np.zeros((3, 6 * count))
        above = joint
        while above >= 0:
            axes, size = _free_axes(skeleton, above, ready[above])
            arm = world.positions[joint] - world.positions[above]
            columns = slice(3 * above, 3 * above + size)
            in_world = turns[above] @ axes
            place[:, columns] = np.cross(in_world.T, arm).T
            turned[:, columns] = LEVER * in_world
            if moves and skeleton.parents[above] < 0:
                place[:, 3 * (count + above) : 3 * (count + above) + 3] = np.eye(3) * ready[above].mean()
            above = int(skeleton.parents[above])
        rows += [place, turned] if goal.target_rotation is not None else [place]
    return np.concatenate(rows)


def _free_axes(skeleton: Skeleton, joint: int, ready: Floats) -> tuple[Floats, int]:
    """Axes in the joint's frame (3, n), each as long as its spread."""
    kind = skeleton.kinds[joint]
    if kind in (JointKind.BALL, JointKind.FREE):
        return np.diag(ready), 3
    size = kind.axes if kind.hinged else 0
    return (skeleton.axes[joint, :size] * ready[:size, None]).T, size


def _moved(skeleton: Skeleton, pose: Pose, step: Floats, ready: Floats) -> Pose:
    """The pose after a step, of at most 0.6 radians a joint."""
    steps = step.reshape(2, -1, 3)
    vectors = np.zeros((len(skeleton), 3))
    for joint in range(len(skeleton)):
        axes, size = _free_axes(skeleton, joint, ready[joint])
        vectors[joint] = axes @ steps[0, joint, :size]
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= np.minimum(1.0, 0.6 / np.maximum(sizes, 1e-12))
    translations = pose.translations.copy()
    roots = skeleton.roots
    translations[roots] += steps[1, roots] * ready[roots].mean(axis=1, keepdims=True)
    return Pose(normalized(multiply(pose.rotations, exp(vectors))), translations)


def main() -> None:
    parser = argparse.ArgumentParser(description="Score solved poses against real ones.")
    parser.add_argument("--plain", action="store_true", help="all joints move alike")
    parser.add_argument("--rest", action="store_true", help="start from the rest pose")
    parser.add_argument("--frames", type=int, default=40, help="of each clip")
    options = parser.parse_args()
    solve = LeastSquares(weighed=not options.plain)
    totals: dict[Given, list[Floats]] = {given: [] for given in Given}
    print(
        f"spreads relative to {np.degrees(REFERENCE):.0f} degrees; cm of a person of 1.75 m / deg / flips % / reach %"
    )
    for name, trial in trials(clip_files(), options.frames).items():
        if options.rest:
            skeleton = trial.skeleton
            at_rest = MappingProxyType({"relaxed": skeleton.rest_pose()})
            trial = replace(trial, skeleton=replace(skeleton, poses=at_rest))  # noqa: PLW2901 - the same trial, started elsewhere
        cells = []
        for given in Given:
            found = score(trial, given, solve)
            numbers = (found.position_cm, found.angle_deg, found.flips_percent, found.reach_percent)
            totals[given].append(np.array(numbers))
            cells.append(f"{given}: {numbers[0]:5.2f} {numbers[1]:5.1f} {numbers[2]:5.1f} {numbers[3]:4.0f}")
        print(f"{name[:26]:26}  " + "   ".join(cells))
    means = {given: np.mean(rows, axis=0) for given, rows in totals.items()}
    cells = [f"{given}: {m[0]:5.2f} {m[1]:5.1f} {m[2]:5.1f} {m[3]:4.0f}" for given, m in means.items()]
    print(f"{'mean':26}  " + "   ".join(cells))
    print("targets: at most " + ", ".join(f"{given} {cm} cm" for given, cm in AT_MOST_CM.items()))


if __name__ == "__main__":
    main()
