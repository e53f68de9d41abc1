"""The folders with the package's own data, the shaders and the sample skeletons; and its version.

Both are plain data folders at the top of the repository. A wheel has them inside the package; in a
checkout and an editable install they are beside the package. The folders hold no
``__init__.py``, so ``importlib.resources`` finds them in a wheel only; else the source tree is searched.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from viewer.errors import ViewerError, quote

_PACKAGE = Path(__file__).resolve().parent


class ResourceError(ViewerError):
    """A data folder of this package is missing: the installation is damaged."""


def data_dir(kind: str) -> Path:
    """Find a data folder of this package.

    Args:
        kind: the folder's name, ``"shaders"`` or ``"skeletons"``.

    Returns:
        The absolute path of the folder, which exists.

    Raises:
        ResourceError: the folder is neither inside the package nor beside it.
    """
    inside_wheel = _PACKAGE / kind
    beside_package = _PACKAGE.parent / kind
    for folder in (inside_wheel, beside_package):
        if folder.is_dir():
            return folder
    raise ResourceError(
        f"expected the data folder {quote(kind)} at {inside_wheel} or {beside_package}, found neither: "
        "install ikviewer again",
    )


def program_version() -> str:
    """The version of this package, which rooms below it cannot import."""
    return str(import_module("viewer").__version__)
