"""The arithmetic of a solve in numpy, for processes without compiled kernels."""
