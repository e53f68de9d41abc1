"""Changes of clips, as pure functions: retargeting, planted feet, goals over time, fitting, learned limits."""

from __future__ import annotations

from viewer.first_use import on_first_use

# Reading a file of contacts needs no solver.
__getattr__, __dir__, __all__ = on_first_use(__file__, __name__)
