"""The measurements of ``ikviewer bench``: names of the parts, and defaults.

`benchmarks/compare.py` in the source tree measures other libraries by the same code.
"""

from __future__ import annotations

PARTS = {
    "speed": "one-shot solves on each backend: milliseconds, honest success",
    "methods": "success and iterations of every solver by its name",
    "drag": "following a cursor: closeness, joint steps, out and back",
    "unreachable": "targets out of reach: motion per further iteration",
    "lockup": "the S-lock: how often each solver gets stuck",
    "poses": "how much solved poses look like a person's, on real motion",
    "batch": "10,000 problems in one call",
    "start": "cold starts: from nothing to the first solved pose",
    "files": "forward kinematics, loading",
}
"""The parts with descriptions; `viewer.cli.bench.plan.measure` runs them."""
SEED = 20_261_121
"""Its problems were not used for tuning."""
COUNT = 200
"""Problems of each class."""
