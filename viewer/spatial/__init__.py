"""Rotations, rigid motions and rays as plain numpy arrays; knows nothing of skeletons."""
