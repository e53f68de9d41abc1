"""USD files: USD's own validators find nothing, and its own library has every joint where we have it."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import viewer
from viewer.errors import InputError, MachineError
from viewer.skeleton import fk, fk_clip

if TYPE_CHECKING:
    from pathlib import Path

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
from pxr import Usd, UsdGeom, UsdSkel, UsdValidation  # noqa: E402 - only where it is installed


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
@pytest.mark.parametrize("sample", ["walk", "biped-hands", "claw-arm", "chain-300"])
def test_usds_validators_find_nothing(sample: str, suffix: str, tmp_path: Path) -> None:
    viewer.save(viewer.load(f"sample:{sample}"), tmp_path / f"a{suffix}")
    stage = Usd.Stage.Open(str(tmp_path / f"a{suffix}"))
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    found = UsdValidation.ValidationContext(validators).Validate(stage)
    assert [(error.GetName(), error.GetMessage()) for error in found] == []


def test_usds_library_has_every_joint_where_we_have_it(tmp_path: Path) -> None:
    character = viewer.load("sample:walk")
    clip, skeleton = character.clip, character.skeleton
    assert clip is not None
    viewer.save(character, tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    cache = UsdSkel.Cache()
    query = cache.GetSkelQuery(UsdSkel.Skeleton(stage.GetPrimAtPath("/Character/Skeleton")))
    world = fk_clip(skeleton, clip)
    for frame in (0, 13, len(clip) - 1):
        found = [matrix.ExtractTranslation() for matrix in query.ComputeJointSkelTransforms(float(frame))]
        np.testing.assert_allclose(np.array(found), world.positions[frame], rtol=0, atol=1e-6)
    assert stage.GetTimeCodesPerSecond() == pytest.approx(1 / clip.frame_time)
    assert stage.GetEndTimeCode() == len(clip) - 1
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Y"


def test_the_bind_pose_is_the_rest_pose(tmp_path: Path) -> None:
    skeleton = viewer.load("sample:biped").skeleton
    viewer.save(viewer.load("sample:biped"), tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    prim = UsdSkel.Skeleton(stage.GetPrimAtPath("/Character/Skeleton"))
    found = np.array([matrix.ExtractTranslation() for matrix in prim.GetBindTransformsAttr().Get()])
    np.testing.assert_allclose(found, fk(skeleton, skeleton.rest_pose()).positions, rtol=0, atol=1e-12)
    assert list(prim.GetJointNamesAttr().Get()) == list(skeleton.names)


def test_names_that_are_no_identifiers_stay_apart(tmp_path: Path) -> None:
    character = viewer.load("sample:two-link")
    names = ("Ünter arm.L", "Ünter arm:L")
    viewer.save(replace(character, skeleton=replace(character.skeleton, names=names)), tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    prim = UsdSkel.Skeleton(stage.GetPrimAtPath("/Character/Skeleton"))
    assert len(set(prim.GetJointsAttr().Get())) == 2
    assert tuple(prim.GetJointNamesAttr().Get()) == names


def test_without_the_library_the_cure_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delitem(sys.modules, "viewer.formats.usd", raising=False)
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MachineError, match="writing USD needs usd-core: python3 -m pip install usd-core"):
        viewer.save(viewer.load("sample:walk"), tmp_path / "a.usda")
    assert not list(tmp_path.iterdir())


def test_what_is_not_finite_is_refused(tmp_path: Path) -> None:
    character = viewer.load("sample:two-link")
    broken = replace(character, skeleton=replace(character.skeleton, offsets=character.skeleton.offsets + 1.7e308))
    with pytest.raises(InputError, match="cannot be written as USD"):
        viewer.save(broken, tmp_path / "a.usda")
