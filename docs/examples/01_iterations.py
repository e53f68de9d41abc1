"""Research: how the error of a solve falls, iteration by iteration, by three methods."""

import numpy as np

import viewer

rig = viewer.load("sample:biped").skeleton
start = rig.relaxed_pose()
goals = [viewer.Goal.position("LeftHand", (0.5, 1.4, 0.3)), viewer.Goal.pin("RightFoot")]

for method in ("default", "dls", "ccd"):
    trace = viewer.Solver(rig, goals, method=method, max_iterations=20, backend="numpy").trace(start)
    worst = [float(np.nanmax(step.errors_m)) for step in trace]
    print(f"{method:8}", " ".join(f"{error * 1000:.0f}" for error in worst[:6]), "mm")
    assert worst[-1] < worst[0]
