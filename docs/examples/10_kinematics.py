"""Teaching: forward kinematics written out in five lines, and the same by the library."""

import numpy as np

import viewer
from viewer import quaternions

rig = viewer.load("sample:biped").skeleton
pose = rig.relaxed_pose()

positions, rotations = pose.translations.copy(), pose.rotations.copy()
for joint, parent in enumerate(rig.parents):
    if parent >= 0:  # parents come first: theirs are done
        positions[joint] = positions[parent] + quaternions.rotate(rotations[parent], pose.translations[joint])
        rotations[joint] = quaternions.multiply(rotations[parent], pose.rotations[joint])

world = viewer.fk(rig, pose)
print("the same:", np.allclose(positions, world.positions) and np.allclose(rotations, world.rotations))
print("left hand at", world.positions[rig.index("LeftHand")].round(2))
