"""The arithmetic of a solve as plain loops: Python that numba compiles (`engine`), and that runs without it, slowly."""
