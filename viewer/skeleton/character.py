"""A character: what one file holds, ready to be posed, played and written again."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from viewer.errors import quote
from viewer.skeleton.copies import reduced

if TYPE_CHECKING:
    from collections.abc import Mapping

    from viewer.skeleton.clip import Clip
    from viewer.skeleton.copies import Reduced
    from viewer.skeleton.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class BvhLayout:
    """How a BVH file wrote its joints, so that it can be written the same way again.

    Attributes:
        names: per joint as they stood in the file, repeated ones included.
        channels: per joint, in file order: "Xposition" .. "Zposition", "Xrotation" .. "Zrotation".
    """

    names: tuple[str, ...]
    channels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Source:
    """The file's own units, axes and order; writing BVH or JSON goes back to them.

    Attributes:
        path: as the user named it ("sample:biped" too), or None for one built in code.
        format: "bvh", "json", "npz", ...
        metres_per_unit: how long one unit of the file is.
        units: its name: m, cm, mm, inch, cmu, raw or the number.
        up: "y" or "z".
        guessed: units or up axis were guessed, not stated by the file or the user.
        joint_order: per joint of the file, the index in the skeleton (files may list children first).
        layout: the BVH channels, or None for other formats.
        license: as the file states it, or "".
        unread: what else the file holds, counted ("1 mesh"): writing leaves it out, and says so.
    """

    path: str | None = None
    format: str = ""
    metres_per_unit: float = 1.0
    units: str = "m"
    up: str = "y"
    guessed: bool = False
    joint_order: tuple[int, ...] = ()
    layout: BvhLayout | None = None
    license: str = ""
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Character:
    """A skeleton with its motion.

    Attributes:
        skeleton: the joints.
        clips: motion by name, in the file's order.
        source: where it came from and how it was written there.
        warnings: what was guessed, mended or ignored while reading, a line each.
        limits_from: "file", "clip" (derived from the motion) or None (there are no limits).
    """

    skeleton: Skeleton
    clips: Mapping[str, Clip] = field(default_factory=lambda: MappingProxyType({}))
    source: Source = field(default_factory=Source)
    warnings: tuple[str, ...] = ()
    limits_from: str | None = None

    def __repr__(self) -> str:
        """Its skeleton and motion."""
        skeleton, clips = self.skeleton, ", ".join(map(quote, self.clips)) or "no motion"
        return f"<Character {quote(skeleton.name)}: {len(skeleton)} joints, {clips}>"

    def __reduce__(self) -> Reduced:
        """Copied by its fields."""
        return reduced(self)

    @property
    def clip(self) -> Clip | None:
        """The first clip, or None."""
        return next(iter(self.clips.values()), None)
