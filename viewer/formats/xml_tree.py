"""XML as a plain tree with line numbers, without document types, entities or anything that would read other files."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from viewer.errors import FormatError, quote
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, from_axis_angle, multiply

MOST_ELEMENTS = 1_000_000
_DEEPEST = 200


@dataclass(slots=True)
class Element:
    """An XML element.

    Attributes:
        tag: without a prefix.
        attributes: by name.
        line: where it begins, from 1.
        children: in order; text between them is dropped.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """The children of a tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child of a tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def text(self, name: str) -> str:
        """An attribute that has to be there.

        Raises:
            FormatError: it is not, or is empty.
        """
        found = self.attributes.get(name, "").strip()
        if not found:
            raise FormatError(f"expected the attribute {quote(name)} of <{self.tag}>, found none", line=self.line)
        return found

    def numbers(self, name: str, count: int, usual: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """The finite numbers of an attribute, ``count`` of them; ``usual`` if it is absent.

        Raises:
            FormatError: other ones, or none where there is no usual.
        """
        given = self.attributes.get(name)
        if given is None and usual is not None:
            return usual
        words = self.text(name).split()
        try:
            found = tuple(float(word) for word in words)
        except ValueError:
            found = ()
        if len(found) != count or not all(math.isfinite(number) for number in found):
            many = "a finite number" if count == 1 else f"{count} finite numbers"
            raise FormatError(f"<{self.tag} {name}>: expected {many}, found {quote(given)}", line=self.line)
        return found


def parse_xml(data: bytes, name: str) -> Element:
    """The root element of an XML document; ``name`` is the file in messages.

    Raises:
        FormatError: not well-formed, a document type (entities could make it grow without end), too deep, too large.
    """
    parser = expat.ParserCreate()  # without namespaces: files have prefixes that they do not declare
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    stack: list[Element] = []
    found: list[Element] = []
    count = 0

    def refuse(problem: str) -> NoReturn:
        raise FormatError(problem, file=name, line=parser.CurrentLineNumber)

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS:
            refuse(f"expected at most {MOST_ELEMENTS:,} XML elements, found more")
        if len(stack) >= _DEEPEST:
            refuse(f"expected XML elements in at most {_DEEPEST} others, found more")
        element = Element(tag.rpartition(":")[2], attributes, parser.CurrentLineNumber)
        if stack:
            stack[-1].children.append(element)
        else:
            found.append(element)
        stack.append(element)

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: stack.pop()
    parser.StartDoctypeDeclHandler = lambda *_: refuse("expected no document type, found <!DOCTYPE")
    try:
        parser.Parse(_tidied(data), True)
    except expat.ExpatError as error:
        problem = f"expected XML, found an error: {expat.errors.messages.get(error.code, 'unknown')}"
        raise FormatError(problem, file=name, line=error.lineno, column=error.offset + 1) from error
    except (LookupError, ValueError) as error:  # an encoding that Python does not have
        raise FormatError(f"expected XML, found an error: {error}", file=name) from error
    return found[0]


def _tidied(data: bytes) -> bytes:
    """A document without what other parsers ignore: white space before the declaration, and NUL after the end."""
    if b"\0" in data[:4]:  # UTF-16
        return data
    data = data.rstrip(b"\0")
    bare = data.lstrip()
    end = bare.find(b"?>") + 2
    if len(bare) == len(data) or not bare.startswith(b"<?xml") or end < 2:
        return data
    return bare[:end] + data[: len(data) - len(bare)] + bare[end:]  # lines stay where they are


def origin_of(element: Element) -> tuple[Floats, Floats]:
    """Offset (3,) and rotation (4,) of an element's ``<origin>``: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    found = element.first("origin")
    if found is None:
        return np.zeros(3), IDENTITY
    offset, angles = found.numbers("xyz", 3, (0.0, 0.0, 0.0)), found.numbers("rpy", 3, (0.0, 0.0, 0.0))
    x, y, z = (from_axis_angle(axis, np.array(angle)) for axis, angle in zip(np.eye(3), angles, strict=True))
    return np.array(offset), multiply(z, multiply(y, x))
