"""The steps of a solve as plain loops: Python that numba compiles, and that runs without it, slowly."""
