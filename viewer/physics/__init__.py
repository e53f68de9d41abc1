"""Rigid-body physics of skeletons, by MuJoCo (the extra `physics`)."""
