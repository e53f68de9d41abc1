"""Teaching: what methods of inverse kinematics need for one task, on one page."""

import viewer

rig = viewer.load("sample:biped").skeleton
goals = [viewer.Goal.position("LeftHand", (0.5, 1.3, 0.3)), viewer.Goal.position("RightHand", (-0.4, 1.0, 0.4))]

print("method          iterations  status")
for method in ("default", "dls", "sdls", "pseudo-inverse", "transpose", "ccd"):
    solution = viewer.Solver(rig, goals, method=method, backend="numpy").solve(rig.relaxed_pose())
    print(f"{method:15} {solution.iterations:10}  {solution.status}")
    assert solution.errors_m.max() < 0.01
