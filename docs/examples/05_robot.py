"""Robotics: an arm built by words, checked, saved and solved."""

import numpy as np

import viewer

robot = (
    viewer.Builder(name="arm")
    .add("base", kind="fixed")
    .add("turntable", "base", (0, 0.1, 0), kind="hinge", axis=(0, 1, 0))
    .add("shoulder", "turntable", (0, 0.2, 0), kind="hinge", axis=(1, 0, 0), limits=(-1.5, 1.5))
    .add("elbow", "shoulder", (0, 0.4, 0), kind="hinge", axis=(1, 0, 0), limits=(0.0, 2.6))
    .add("lift", "elbow", (0, 0.3, 0), kind="slide", axis=(0, 1, 0), limits=(0.0, 0.1))
    .tip("lift", (0, 0.1, 0))
    .effector("tool", "lift", (0, 0.1, 0))
    .skeleton
)
print(robot, *robot.dof_names)
viewer.save(viewer.Character(robot), "arm.json")

solution = viewer.Solver(robot, [viewer.Goal.position("tool", (0.3, 0.5, 0.3))]).solve(robot.rest_pose())
values = viewer.coordinates(robot, solution.pose)
lower, upper = viewer.coordinate_limits(robot)
print(solution.status, "inside the limits:", bool(((values >= lower - 1e-9) & (values <= upper + 1e-9)).all()))
tool = viewer.fk(robot, solution.pose).point(robot.index("lift"), np.array([0, 0.1, 0]))
assert np.allclose(tool, (0.3, 0.5, 0.3), atol=1e-3)
