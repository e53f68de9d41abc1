"""Sessions whose actions are recorded, and the files that hold them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from inside.ik import Backend
from inside.session import replay, save_session, session_bytes
from sessions import QUICK, session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from viewer.session import Session

Tree = dict[str, Any]


def recorded(name: str = "biped", backend: Backend = QUICK) -> Session:
    made = session(name, backend)
    made.record_actions()
    return made


def saved(made: Session, folder: Path) -> Path:
    path = folder / "reported.ikv.json"
    save_session(made.document, path, made.action_log)
    return path


def altered(path: Path, change: Callable[[Tree], object]) -> Path:
    """The file with its actions changed."""
    tree = json.loads(path.read_text(encoding="utf-8"))
    change(tree["actions"])
    path.write_text(json.dumps(tree), encoding="utf-8")
    return path


def names(path: Path) -> list[str]:
    tree = json.loads(path.read_text(encoding="utf-8"))
    return [call[0] for call in tree["actions"]["calls"] if call[0] != "check"]


def same(made: Session, folder: Path, *, times: int = 2) -> None:
    """Done again, so many times, it is the same document, and nothing is to be said about it."""
    path, notes = saved(made, folder), list[str]()
    for _ in range(times):
        again = replay(path, notes)
        assert notes == []
        assert again.same_as(made.document)
        assert session_bytes(again) == session_bytes(made.document)
