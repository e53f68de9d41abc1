"""The machine that figures were measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import viewer
from viewer.cli.bench.contender import version_of
from viewer.cli.output import Json

_PACKAGES = ("numpy", "numba")


def machine() -> dict[str, Json]:
    """Processor, cores, system, and the versions that matter."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "ikviewer": viewer.__version__,
        **{package: version_of(package) for package in _PACKAGES},
    }


def _processor() -> str:
    """Its name as sold; Linux hides it in a file."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())
