"""``--goals-from FILE.py:NAME``: goals by functions in a Python file of the user, which is run."""

from __future__ import annotations

import contextlib
import inspect
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path

from numpy.typing import ArrayLike

from viewer.cli.output import print_note
from viewer.errors import InputError, quote, unknown_name
from viewer.ik.goals import Goal
from viewer.skeleton import Skeleton, World

SUFFIX = ".py"
_RUN_AS = "ikviewer_goals"
"""The file's `__name__`."""


def goal_from(named: str, skeleton: Skeleton) -> Goal:
    """The goal by a function in a Python file, which is run; a note on stderr says so.

    Args:
        named: ``FILE.py:NAME``. The function takes the world pose, and the skeleton if it has two parameters; it
            returns numbers that the solver brings to zero.
        skeleton: the second argument.

    Raises:
        InputError: unknown file or function, or the file raises an error; one line, with file and line.
    """
    file, _, name = named.rpartition(":")
    path = Path(file)
    if not name or path.suffix != SUFFIX:
        raise InputError(f"--goals-from: expected FILE{SUFFIX}:NAME, found {quote(named)}")
    if not os.path.isfile(file):  # noqa: PTH113 - `Path.is_file` raises OSError for names that are too long
        problem = "expected a file, found a folder" if os.path.isdir(file) else "no such file or folder"  # noqa: PTH112
        raise InputError(f"{file}: {problem}")
    print_note(f"note: running {file}, as --goals-from asks, for its function {quote(name)}")
    with _users_code(path):
        found = runpy.run_path(str(path), run_name=_RUN_AS)
    functions = {key: value for key, value in found.items() if callable(value) and not key.startswith("_")}
    if name not in functions:
        raise InputError(f"{file}: {unknown_name('function', name, functions)}")
    return Goal.function(_guarded(functions[name], path, skeleton))


def _guarded(function: Callable[..., ArrayLike], path: Path, skeleton: Skeleton) -> Callable[[World], ArrayLike]:
    """A function of the world pose alone, whose errors name file and line."""
    called = function if _takes_one_argument(function) else partial(_with_skeleton, function, skeleton)

    @wraps(function)
    def residuals(world: World) -> ArrayLike:
        with _users_code(path):
            return called(world)

    return residuals


def _with_skeleton(function: Callable[..., ArrayLike], skeleton: Skeleton, world: World) -> ArrayLike:
    return function(world, skeleton)


def _takes_one_argument(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        return False
    except ValueError:  # compiled functions may have no signature
        return True
    return True


@contextlib.contextmanager
def _users_code(path: Path) -> Iterator[None]:
    """Run the user's code: its output goes to stderr, its errors become one line with file and line."""
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)  # as for a script: modules beside it can be imported
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except (Exception, SystemExit) as error:
        problem = error.msg if isinstance(error, SyntaxError) else str(error)
        where, what = _place(error, path), " ".join(problem.split())
        raise InputError(f"{where}: {type(error).__name__}{f': {what}' if what else ''}") from error
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(folder)


def _place(error: BaseException, path: Path) -> str:
    """``FILE, line L`` of the last line of the user's file in the traceback."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f"{path}, line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}, line {lines[-1]}" if lines else str(path)
