"""Research: which part of a box in front of a figure one hand reaches while the feet stay."""

import numpy as np

import viewer

rig = viewer.load("sample:biped").skeleton
random = np.random.default_rng(0)
targets = random.uniform((-0.3, 0.6, 0.1), (0.9, 1.8, 0.8), size=(30, 3))

goals = [viewer.Goal.position("LeftHand", (0, 0, 0)), viewer.Goal.pin("LeftFoot"), viewer.Goal.pin("RightFoot")]
keep = np.full((30, 2, 3), np.nan)  # the pins keep their own targets
solver = viewer.Solver(rig, goals, root="locked", restarts=False, max_iterations=40)
found = solver.solve_batch(rig.relaxed_pose(), np.concatenate([targets[:, None], keep], axis=1))

reached = found.errors_m[:, 0] < 0.01
print(f"{reached.sum()} of {len(targets)} targets within 1 cm")
far = np.linalg.norm(targets[reached] - (0, 1.4, 0), axis=1)
print(f"farthest reached: {far.max():.1f} m from the chest")
assert 0 < reached.sum() < 30
