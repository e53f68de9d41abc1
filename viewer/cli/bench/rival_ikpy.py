"""ikpy: one chain, one target, scipy's least squares over its joint angles."""

from __future__ import annotations

import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from viewer.cli.bench.hinges import mechanism, pose_arrays
from viewer.cli.bench.rigs import Rig
from viewer.cli.bench.rival_dls import Answer
from viewer.cli.bench.urdf import urdf
from viewer.errors import InputError
from viewer.spatial.checks import Floats

_MOST_AXES = 100


class Ikpy:
    """ikpy as its examples: ``Chain.from_urdf_file(...).inverse_kinematics(target)``, started at rest."""

    def __init__(self, rig: Rig) -> None:
        """Build its chain of the rig.

        Raises:
            InputError: a rig with more than one goal, with a free root, or so long that a solve takes many seconds.
        """
        self.built = mechanism(rig.skeleton, spherical=False)
        if len(rig.joints) != 1 or self.built.floating or rig.turned.any():
            raise InputError("ikpy: it knows chains with one position goal only")
        if len(self.built.all_axes()) > _MOST_AXES:
            raise InputError(f"ikpy: a solve of more than {_MOST_AXES} axes takes it many seconds")
        chain: Any = import_module("ikpy.chain").Chain
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "robot.urdf")
            file.write_text(urdf(rig, self.built), encoding="utf-8")
            with warnings.catch_warnings():  # of links that do not move: their mask can only be made afterwards
                warnings.simplefilter("ignore")
                self.chain = chain.from_urdf_file(str(file), base_elements=["world"])
        names = [link.name for link in self.chain.links]
        self.places = [names.index(axis.name) for axis in self.built.all_axes()]
        self.chain.active_links_mask = np.isin(np.arange(len(names)), self.places)

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`; turns play no part."""
        del turns
        return Answer(self.chain.inverse_kinematics(targets[0]), 0)

    def pose(self, answer: Answer) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        return pose_arrays(self.built, np.asarray(answer.q)[self.places])

    def iterations(self, answer: Answer) -> int:
        """It does not say."""
        return answer.iterations
