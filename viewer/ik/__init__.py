"""Inverse kinematics: what is wanted of a skeleton, as values."""
