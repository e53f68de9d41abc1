"""The steps of a solve as plain loops: Python that numba compiles, and that also runs, slowly, without it."""
