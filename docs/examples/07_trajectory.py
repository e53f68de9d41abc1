"""Robotics: a trajectory of named joint values, from a solver to CSV and back to a motion."""

import csv
from pathlib import Path

import numpy as np

import viewer

rig = viewer.load("sample:chain-4").skeleton
drag = viewer.Solver(rig, [viewer.Goal.position("tip", (0, 0, 0))], backend="numpy").drag(rig.relaxed_pose())
poses = [drag.move([(0.5 + 0.2 * part, 0.5, 0.2)], iterations=8).pose for part in np.linspace(0, 1, 20)]
values = np.array([viewer.coordinates(rig, pose) for pose in poses])

with Path("trajectory.csv").open("w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(rig.dof_names)
    writer.writerows(values.tolist())

again = np.loadtxt("trajectory.csv", delimiter=",", skiprows=1)
clip = viewer.clip_at(rig, again, fps=50)
print(clip, f"at {clip.fps:.0f} a second")
print("fastest joint: less than 10 rad/s:", bool((np.abs(np.diff(again, axis=0)) * clip.fps).max() < 10))
viewer.save(viewer.Character(rig, {"clip": clip}), "trajectory.bvh")
