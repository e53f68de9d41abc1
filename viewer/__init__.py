"""ikviewer: load a skeleton, pose it by inverse kinematics, take the motion anywhere."""

__version__ = "0.1.0"
