"""The items of a command on the workers of a Dask cluster, with the extra ``cluster``.

The machines see the same files under the same names, as in a shared folder.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import viewer
from viewer.cli import output
from viewer.cli.workers import Done, apart
from viewer.errors import InputError, MachineError, missing_library

T = TypeVar("T")

_PATIENCE = 10.0
"""Seconds in which a scheduler has to answer."""
_one_at_a_time = threading.Lock()
"""What items print to stderr is kept apart, in a process that may have several threads."""


def on_cluster(
    work: Callable[[Any, Any, str], Any], options: object, items: Sequence[T], name: Callable[[T], str], address: str
) -> Iterator[tuple[int, Done]]:
    """As `on_processes`, on the workers of a scheduler: an item whose worker ends is done by another.

    Raises:
        MachineError: Dask is not installed, no scheduler answers, it has no workers, or they have other versions.
    """
    try:
        from distributed import Client, as_completed
        from distributed.scheduler import KilledWorker
    except ImportError as error:
        raise missing_library("--scheduler", error) from error
    try:
        client = Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        cure = "start one with: dask scheduler"
        raise MachineError(f"--scheduler {address}: no scheduler answers within {_PATIENCE:g} s: {cure}") from error
    with client:
        _check_versions(client, address)
        manner = (output.is_quiet(), output.is_debug())
        sent = {
            client.submit(_there, work, options, item, name(item), str(Path.cwd()), manner, pure=False): place
            for place, item in enumerate(items)
        }
        for future in as_completed(list(sent)):
            place = sent.pop(future)
            try:
                done: Done = future.result()
            except KilledWorker:
                problem = f"{name(items[place])}: set aside: the workers that worked on it ended"
                done = Done(InputError(problem), set_aside=True)
            future.release()
            if isinstance(done.result, MachineError):
                raise done.result
            yield place, done


def _check_versions(client: Any, address: str) -> None:  # noqa: ANN401 - Dask may not be installed
    found = client.run(_version)
    if not found:
        raise MachineError(f"--scheduler {address}: it has no workers: start some with: dask worker {address}")
    for worker, version in found.items():
        if version != viewer.__version__:
            expected = f"expected ikviewer {viewer.__version__} on every worker"
            raise MachineError(f"--scheduler {address}: {expected}, found {version} on {worker}")


def _version() -> str:
    return viewer.__version__


def _there(
    work: Callable[[Any, Any, str], Any], options: object, item: object, name: str, folder: str,
    manner: tuple[bool, bool],
) -> Done:  # fmt: skip
    """On a worker: do one item in the folder in which the command was called."""
    with _one_at_a_time:
        os.chdir(folder)
        output.be_quiet(manner[0], debug=manner[1])
        return apart(work, options, item, name)
