"""CSV tables of motion for spreadsheets and plots, which are only written (RFC 4180, UTF-8).

The header is ``frame,time`` and then for each joint, in the file's order, six columns: ``NAME.x,NAME.y,NAME.z``, its
world position in metres (Y up), and its local rotation as intrinsic Euler angles in degrees, named and listed in the
joint's own order: ``NAME.rz,NAME.rx,NAME.ry`` means R = Rz Rx Ry. The order is that of the joint's channels in a BVH
file, else that of its limits, else ZXY. Angles continue past 180 degrees, so that they do not jump.

A spreadsheet would take a name that begins with =, +, -, @, a tab or a line end for a formula. Such a name gets an
apostrophe in front, and so does one that begins with an apostrophe: removing one gives every name back.

As joint positions, the usual input of robots, the columns are the degrees of freedom by their names (see
`viewer.skeleton.dofs`): radians, metres of slides and of a free root's place.

One row per frame follows, ``time`` in seconds from the first; without motion a single row, the rest pose.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import BinaryIO

import numpy as np

from viewer.errors import InputError
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import write_whole
from viewer.formats.json_reading import rounded
from viewer.formats.skeleton_json import file_order
from viewer.progress import watched
from viewer.skeleton import Character, LimitForm, fk_arrays, fk_clip
from viewer.skeleton.clip_limits import too_fast
from viewer.skeleton.dofs import coordinates
from viewer.spatial.angles import EULER_ORDERS, to_euler
from viewer.spatial.checks import Floats, Ints

_USUAL_ORDER = "zxy"
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""Characters with which a formula may begin in a spreadsheet, and the apostrophe that prevents it."""


def write_csv(character: Character, path: Path, options: WriteOptions) -> list[str]:
    """Write the first clip as a table, or the rest pose if there is none.

    The precision is that of all numbers except the time; None: every digit. A motion of joint positions that is faster
    than the motors of its joints is written with a warning.
    """
    names, numbers = _joint_positions(character) if options.joints else _places(character)
    header, table = ["frame", "time", *names], rounded(numbers, options.precision)
    if not np.isfinite(table).all():
        raise InputError("cannot be written as a table: expected finite numbers, found NaN or infinity")
    step = character.clip.frame_time if character.clip is not None else 0.0

    def fill(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        writer = csv.writer(text)
        writer.writerow(header)
        writer.writerows(
            [frame, frame * step, *row.tolist()] for frame, row in enumerate(watched("writing", table, len(table)))
        )
        text.detach()

    write_whole(path, fill)
    fast = too_fast(character.skeleton, character.clip) if options.joints and character.clip is not None else ()
    return ["CSV holds positions and angles only: no skeleton, limits or effectors", *fast]


def euler_orders(character: Character) -> list[str]:
    """The order in which the angles of each joint of the file are listed, such as "zxy"."""
    layout, skeleton = character.source.layout, character.skeleton
    orders: list[str] = []
    for number, joint in enumerate(file_order(character).tolist()):
        limits = skeleton.limits[joint]
        channels = layout.channels[number] if layout is not None else ()
        listed = "".join(channel[0].lower() for channel in channels if channel.endswith("rotation"))
        if listed in EULER_ORDERS:
            orders.append(listed)
        elif limits is not None and limits.form is LimitForm.EULER:
            orders.append(limits.order)
        else:
            orders.append(_USUAL_ORDER)
    return orders


def _guarded(name: str) -> str:
    """A name as a cell that no spreadsheet evaluates (CWE-1236)."""
    return f"'{name}" if name.startswith(_FORMULAS) else name


def _joint_positions(character: Character) -> tuple[list[str], Floats]:
    """Names of the degrees of freedom, and (F, D) their values: radians, metres of slides and roots."""
    skeleton, clip = character.skeleton, character.clip
    values = coordinates(skeleton, skeleton.rest_pose() if clip is None else clip)
    return [_guarded(character.source.name_of(name)) for name in skeleton.dof_names], np.atleast_2d(values)


def _places(character: Character) -> tuple[list[str], Floats]:
    """Names of positions and angles, and (F, 6 J) their values."""
    order, eulers = file_order(character), euler_orders(character)
    header: list[str] = []
    for joint, euler in zip(order.tolist(), eulers, strict=True):
        name = _guarded(character.skeleton.names[joint])
        header += [f"{name}.{axis}" for axis in "xyz"] + [f"{name}.r{axis}" for axis in euler]
    return header, _table(character, order, eulers)


def _table(character: Character, order: Ints, eulers: list[str]) -> Floats:
    """(F, 6 J) positions and angles."""
    skeleton, clip = character.skeleton, character.clip
    with np.errstate(over="ignore", invalid="ignore"):
        if clip is None:
            rotations = skeleton.rest_rotations[None]
            world = fk_arrays(skeleton.parents, rotations, skeleton.offsets[None])
        else:
            rotations, world = clip.rotations, fk_clip(skeleton, clip)
    angles = np.empty((len(rotations), len(order), 3))
    for euler in set(eulers):
        columns = [column for column, own in enumerate(eulers) if own == euler]
        angles[:, columns] = np.degrees(to_euler(rotations[:, order[columns]], euler))
    angles = np.unwrap(angles, period=360.0, axis=0)
    return np.concatenate([world.positions[:, order], angles], axis=-1).reshape(len(rotations), -1)
