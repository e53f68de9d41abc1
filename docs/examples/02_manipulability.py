"""Research: how well an arm can move its hand, from the singular values of its Jacobian."""

import numpy as np

import viewer

rig = viewer.load("sample:biped").skeleton
solver = viewer.Solver(rig, [viewer.Goal.position("LeftHand", (0, 0, 0))], root="locked", limits=False)

arm = [i for i, name in enumerate(rig.dof_names) if name.startswith(("LeftArm", "LeftForeArm"))]
relaxed = viewer.coordinates(rig, rig.relaxed_pose())
for part in (0.1, 0.5, 1.0, 2.0):  # of the bend that the relaxed arm has
    values = relaxed.copy()
    values[arm] *= part
    jacobian = solver.jacobian(viewer.pose_at(rig, values))
    singular = np.linalg.svd(jacobian.matrix[:, arm], compute_uv=False)
    print(f"{part:3} of the bend: manipulability {np.prod(singular):.4f}, condition {singular[0] / singular[-1]:.1f}")
