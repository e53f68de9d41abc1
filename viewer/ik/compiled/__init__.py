"""The compiled backend: numba compiles the kernels and the loop as one, and keeps the code on disk."""
