"""ikviewer: load a skeleton, pose it by inverse kinematics, take the motion anywhere.

The library half: everything here but `view` works without a screen, and importing it loads no OpenGL.

    character = viewer.load("walk.bvh")
    world = viewer.fk(character.skeleton, character.clip.pose(12))
    solver = viewer.Solver(character.skeleton, [viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3))])
    solution = solver.solve(character.skeleton.relaxed_pose())
    picture = viewer.render(character, solution.pose)
"""

from __future__ import annotations

from viewer.first_use import on_first_use

__version__ = "0.1.0"
# Inspecting or converting a file needs neither solver nor OpenGL, and the command's version and help not even numpy.
__getattr__, __dir__, __all__ = on_first_use(__file__, __name__)
