"""The measurements of ``ikviewer bench``. `benchmarks/compare.py` measures other libraries by the same code."""
