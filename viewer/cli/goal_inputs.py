"""Goals as inputs of commands, including functions in Python files; and layers, contacts, objects."""

from __future__ import annotations

import contextlib
import inspect
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import wraps
from itertools import count
from pathlib import Path

from numpy.typing import ArrayLike

from viewer.cli.inputs import warned
from viewer.cli.job import print_note
from viewer.cli.options import ShapeText
from viewer.cli.solving_options import Touching
from viewer.errors import InputError, prefixed, quote, unknown_name
from viewer.formats.companion_json import read_contacts, read_layers
from viewer.formats.goals_json import StatedGoals, read_goals_file
from viewer.ik.contact import Box, Contact, Mesh, Object, Sphere
from viewer.ik.contact.volumes import check_names
from viewer.ik.goals import Goal
from viewer.motion import Contacts, Layer
from viewer.skeleton import Skeleton, World

_RUN_AS = "ikviewer_goals"
"""The file's `__name__`."""


def goal_from(named: str, skeleton: Skeleton) -> Goal:
    """The goal by a function in a Python file (``FILE.py:NAME``), which is run; a note on stderr says so.

    The function takes the world pose, and the skeleton if it has two parameters; it returns numbers that the solver
    brings to zero. An error that it raises becomes one line, with file and line.
    """
    file, _, name = named.rpartition(":")
    path = Path(file)
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
    arguments = () if _takes_one_argument(function) else (skeleton,)

    @wraps(function)
    def residuals(world: World) -> ArrayLike:
        with _users_code(path):
            return function(world, *arguments)

    return residuals


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


def goals_of(name: str, skeleton: Skeleton) -> StatedGoals:
    """The goals, contact and ground of a goals file, or of standard input; its warnings go to stderr."""
    return warned(name, lambda warnings: read_goals_file(Path(name), name, skeleton, warnings))


def check_enabled(goals: Iterable[Goal], name: str | None) -> None:
    """Raise InputError, which names the file, unless a goal is enabled."""
    if not any(goal.enabled for goal in goals):
        raise InputError(f"{name}: a solver needs at least one goal that is enabled")


def layers_of(name: str, skeleton: Skeleton) -> tuple[Layer, ...]:
    """The layers of a layers file, or of standard input; its warnings go to stderr."""
    return warned(name, lambda warnings: read_layers(Path(name), name, skeleton, warnings))


def contacts_of(name: str) -> Contacts:
    """The contacts of a contacts file, or of standard input; its warnings go to stderr."""
    return warned(name, lambda warnings: read_contacts(Path(name), name, warnings))


# --- contact: a floor, the figure's own body, objects


def contact_of(options: Touching, given: Contact | None, skeleton: Skeleton) -> Contact | None:
    """The contact of these options and of the goals file together; the options take precedence."""
    if options.floor is None and not options.bodies and not options.object:
        return given
    given = given or Contact()
    objects = [*given.objects, *objects_of(options.object, {one.name for one in given.objects})]
    floor = given.floor if options.floor is None else options.floor
    contact = Contact(floor, given.bodies or options.bodies, objects, given.exclude)
    check_names(skeleton, contact)
    return contact


def objects_of(given: Sequence[ShapeText], taken: Collection[str] = ()) -> list[Object]:
    """The objects of `--object`, under names that are not taken."""
    names = (name for i in count(1) if (name := f"object {i}") not in taken)
    return [_object(each, next(names)) for each in given]


def _object(given: ShapeText, name: str) -> Object:
    with prefixed("--object"):
        if given.shape == "mesh":
            return Mesh(name, path=given.file, center=given.center)
        if given.shape == "box":
            width, height, depth = given.sizes
            return Box(name, given.center, (width, height, depth))
        return Sphere(name, given.center, given.sizes[0])
