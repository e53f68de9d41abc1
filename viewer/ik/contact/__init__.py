"""Contact: floor, bodies and objects as values, what is near in a pose, and what touches."""

from __future__ import annotations

from viewer.first_use import on_first_use

# Objects are values, which need no skeleton.
__getattr__, __dir__, __all__ = on_first_use(__file__, __name__)
