"""Kinds, axes and limits of the joints in a skeleton file: what they mean, and what is refused or warned of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from characters import error_of, rig

from viewer.skeleton import LimitForm


def test_axes_are_normalised_at_any_size() -> None:
    big = rig({}, {"kind": "hinge", "axis": [0, 3e300, 4e300]}, {"kind": "slide", "axis": [0, 0, -1e-300]})
    assert big.skeleton.axes[1, 0] == pytest.approx([0, 0.6, 0.8], rel=1e-15)
    assert big.skeleton.axes[2, 0].tolist() == [0, 0, -1]
    both = rig({}, {"kind": "universal", "axes": [[1, 1, 0], [-1, 1, 0]], "limits": {"angles": [[-1, 2], [3, 4]]}})
    assert both.skeleton.axes[1] @ both.skeleton.axes[1].T == pytest.approx(np.eye(2), abs=1e-15)
    limits = both.skeleton.limits[1]
    assert limits is not None
    assert np.degrees(limits.upper) == pytest.approx([2, 4])


@pytest.mark.parametrize(
    ("joint", "more", "axis"),
    [
        ({"limits": {"x": [-1, 1]}}, [], 1),
        ({"limits": {"x": [-1, 1]}}, [{"offset": [0, 0, 0]}, {"parent": "b", "offset": [-5, 1, 4]}], 0),
        ({"limits": {"x": [-1, 1]}, "tips": [[1, 2, -3]]}, [], 2),
        ({"limits": {"x": [-1, 1]}, "tips": [[0, 0, -3]]}, [{"offset": [1, 0, 0]}], 0),
        ({"limits": {"x": [-1, 1]}, "twist_axis": "z"}, [{"offset": [1, 0, 0]}], 2),
    ],
)
def test_the_twist_axis_is_along_the_bone(joint: dict[str, Any], more: list[dict[str, Any]], axis: int) -> None:
    limits = rig({}, joint, *more).skeleton.limits[1]
    assert limits is not None
    assert limits.twist_axis == axis


def test_missing_axes_of_a_ball_are_unlimited() -> None:
    limits = rig({}, {"limits": {"y": [5, 5]}}).skeleton.limits[1]
    assert limits is not None
    assert limits.lower.tolist() == [-math.inf, math.radians(5), -math.inf]
    assert limits.upper.tolist() == [math.inf, math.radians(5), math.inf]
    assert rig({}, {"limits": {}}).skeleton.limits == (None, None)


@pytest.mark.parametrize("beside", [True, False])
def test_an_order_makes_them_euler_angles(beside: bool) -> None:
    ranges: dict[str, Any] = {"x": [-180, 170], "y": [-90, 90]}
    joint = {"limits": ranges | {"order": "xyz"}} if beside else {"limits": ranges, "order": "xyz"}
    limits = rig({}, joint).skeleton.limits[1]
    assert limits is not None
    assert (limits.form, limits.order) == (LimitForm.EULER, "xyz")
    assert limits.upper.tolist() == [math.radians(170), math.radians(90), math.inf]


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ({"limits": {"x": [30, -30]}}, ".limits.x: expected the lower end first, found 30, -30"),
        ({"limits": {"x": [-181, 0]}}, ".limits.x: expected a range within +-180 degrees, found -181, 0"),
        (
            {"limits": {"x": [0, 95], "order": "yxz"}},
            ".limits.x: expected a range within +-90 degrees: it is the middle angle of yxz, found 0, 95",
        ),
        ({"limits": {"angle": [0, 1]}}, ".limits: expected x, y, z, order in the limits of a ball, found angle"),
        ({"kind": "hinge"}, ': expected "axis", the direction of a hinge, found none'),
        ({"kind": "slide", "axis": [0, 0, 0]}, ".axis: expected a direction, found the zero vector"),
        (
            {"kind": "hinge", "axis": [1, 0, 0], "limits": {"x": [0, 1]}},
            ".limits: expected angle in the limits of a hinge, found x",
        ),
        (
            {"kind": "hinge", "axis": [1, 0, 0], "limits": {"angle": [1, 0]}},
            ".limits.angle: expected the lower end first, found 1, 0",
        ),
        ({"kind": "universal"}, ': expected "axes", the two directions of a universal, found none'),
        (
            {"kind": "universal", "axes": [[1, 0, 0], [1, 1e-5, 0]]},
            ".axes: expected perpendicular axes, found 0.0005729578 degrees between them",
        ),
        (
            {"kind": "universal", "axes": [[1, 0, 0], [0, 1, 0]], "limits": {"angles": [[0, 1], [2, 1]]}},
            ".limits.angles[1]: expected the lower end first, found 2, 1",
        ),
        ({"kind": "free"}, ".kind: expected free on roots only, found it on a joint with a parent"),
        ({"parent": "z"}, '.parent: no joint "z"; there is "a", "b"'),
        ({"parent": "b"}, '.parent: expected parents up to a root, found the cycle "b" -> "b"'),
        ({"name": "a"}, ".name: expected a name of its own, found that of joints[0]"),
        ({"offset": [1e300, 0, 0]}, ".offset: expected lengths within float range in metres"),
        ({"tips": [[0, 0, 0], [1e300, 0, 0]]}, ".tips[1]: expected lengths within float range in metres"),
    ],
)
def test_joints_that_are_refused(joint: dict[str, Any], message: str) -> None:
    assert error_of({}, joint, units=1e9) == f'f.json: joints[1] "{joint.get("name", "b")}"{message}'


def test_a_rest_pose_outside_its_limits_is_warned_of() -> None:
    hinge = {"kind": "hinge", "axis": [1, 0, 0]}
    character = rig(
        {},
        {"limits": {"x": [10, 20]}},
        hinge | {"limits": {"angle": [300, 400]}},
        hinge | {"limits": {"angle": [-90, -5]}},
        {"kind": "slide", "axis": [0, 0, 1], "limits": {"distance": [0.1, 0.2]}},
    )
    outside = 'joints[1] "b", joints[3] "d", joints[4] "e"'
    assert character.warnings == (
        f"{outside}: the rest pose is outside the limits; IK starts from the nearest pose inside",
    )


def test_keys_that_a_kind_does_not_read_are_warned_of() -> None:
    character = rig({"limits": {"x": [0, 1]}}, {"axis": [1, 0, 0]}, {"kind": "fixed", "twist_axis": "x"})
    assert character.warnings == (
        'joints[0] "a": "limits" means nothing for a joint that is free, ignored',
        'joints[1] "b": "axis" means nothing for a joint that is ball, ignored',
        'joints[2] "c": "twist_axis" means nothing for a joint that is fixed, ignored',
    )
    assert character.limits_from is None


def test_ranges_that_no_rotation_is_within_are_refused() -> None:
    far = {"limits": {"x": [150, 170], "z": [150, 170]}, "twist_axis": "y"}
    assert error_of({}, far) == (
        'f.json: joints[1] "b".limits: expected ranges that leave a swing of 180 degrees or less, found none'
    )
    for near in ({"x": [150, 170], "z": [90, 170]}, {"x": [150, 170], "y": [150, 170]}):
        assert rig({}, far | {"limits": near}).skeleton.limits[1] is not None
