"""The inside of `viewer.physics` that tests use."""

from viewer.choices import Assist, Base
from viewer.formats.mjcf import mjcf_text
from viewer.physics.constraints import Overlaps
from viewer.physics.model import load_mujoco, make_model
from viewer.physics.simulation import Physics, Stuck
from viewer.physics.surroundings import Standing, Together, soles_of, with_feet
