"""Research: motion as 6D features for a network, and back without loss."""

import numpy as np

import viewer
from viewer import quaternions

walk = viewer.load("sample:walk")
skeleton, clip = walk.skeleton, walk.clip
assert clip is not None

features = quaternions.to_6d(clip.rotations).reshape(len(clip), -1)
root = clip.local_translations()[:, 0]
velocity = np.diff(root, axis=0) * clip.fps
print(f"{features.shape[0]} frames, {features.shape[1]} numbers a frame, {np.abs(velocity).max():.1f} m/s at most")

rotations = quaternions.from_6d(features.reshape(len(clip), len(skeleton), 6))
again = viewer.Clip.from_arrays(skeleton, rotations, root, fps=clip.fps)
lost = viewer.fk_clip(skeleton, again).positions - viewer.fk_clip(skeleton, clip).positions
print("back within a micrometre:", bool(np.abs(lost).max() < 1e-6))
