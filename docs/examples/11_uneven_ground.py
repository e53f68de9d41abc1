"""Games: a walk on a step, feet kept above the ground by IK frame by frame, saved as BVH."""

import numpy as np

import viewer

walk = viewer.load("sample:walk")
rig, clip = walk.skeleton, walk.clip
assert clip is not None
feet = [rig.index(name) for name in ("LeftFoot", "RightFoot")]
positions = viewer.fk_clip(rig, clip).positions[:, feet]
step = 0.1 * (positions[..., 2] > positions[..., 2].mean())  # the ground is 10 cm higher from there on

goals = [viewer.Goal.position("LeftFoot", (0, 0, 0)), viewer.Goal.position("RightFoot", (0, 0, 0))]
solver = viewer.Solver(rig, goals, limits=False, restarts=False)
poses = []
for pose, feet_now, up in zip(clip[:20], positions[:20], step[:20], strict=True):
    targets = feet_now + np.stack([np.zeros(2), up, np.zeros(2)], axis=1)
    poses.append(solver.solve(pose, targets=targets).pose)

rotations = np.array([pose.rotations for pose in poses])
stepped = viewer.Clip.from_arrays(rig, rotations, np.array([pose.translations for pose in poses]), fps=clip.fps)
heights = viewer.fk_clip(rig, stepped).positions[:, feet, 1] - positions[:20, :, 1]
print(f"feet follow the ground within 2 mm: {np.abs(heights - step[:20]).max() < 2e-3}")
viewer.save(viewer.Character(rig, {"stepped": stepped}), "stepped.bvh")
