"""Robotics: a controller of one's own, damped least squares on the solver's Jacobian, that follows a circle."""

import numpy as np

import viewer

robot = (
    viewer.Builder(name="planar")
    .add("one", kind="hinge", axis=(0, 0, 1))
    .add("two", "one", (0.5, 0, 0), kind="hinge", axis=(0, 0, 1))
    .add("three", "two", (0.4, 0, 0), kind="hinge", axis=(0, 0, 1))
    .effector("tool", "three", (0.3, 0, 0))
    .skeleton
)
solver = viewer.Solver(robot, [viewer.Goal.position("tool", (0, 0, 0))])
values = np.array([0.4, 0.8, 0.6])
misses = []
for angle in np.linspace(0.0, 2.0 * np.pi, 100):
    target = [(0.6 + 0.1 * np.cos(angle), 0.5 + 0.1 * np.sin(angle), 0.0)]
    for _ in range(2):
        state = solver.jacobian(viewer.pose_at(robot, values), targets=target)
        gram = state.matrix @ state.matrix.T + 1e-6 * np.eye(3)
        values += state.matrix.T @ np.linalg.solve(gram, state.residuals)
    misses.append(np.linalg.norm(solver.jacobian(viewer.pose_at(robot, values), targets=target).residuals))
print(f"followed within a millimetre: {max(misses[5:]) < 1e-3}")
