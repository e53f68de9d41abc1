"""Copies of values by `copy` and `pickle`: made anew from their fields, checked and read-only again."""

from __future__ import annotations

from dataclasses import fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Reduced: TypeAlias = "tuple[Any, tuple[Any, ...]]"
"""What `object.__reduce__` gives: a function and its arguments."""


def reduced(value: DataclassInstance) -> Reduced:
    """How a value is made again of its fields, for its ``__reduce__``: read-only maps cannot be copied as they are."""
    given = {field.name: getattr(value, field.name) for field in fields(value)}
    maps = {name for name, content in given.items() if isinstance(content, MappingProxyType)}
    return _made, (type(value), given | {name: dict(given[name]) for name in maps}, maps)


def _made(kind: type[Any], given: dict[str, Any], maps: set[str]) -> object:
    return kind(**given | {name: MappingProxyType(given[name]) for name in maps})
