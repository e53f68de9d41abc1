"""Rotations, projections and rays as plain numpy arrays, independent of skeletons."""
