"""Teaching: one rotation in six notations, and why interpolating Euler angles is not the shortest way."""

import numpy as np

from viewer import quaternions as q

turn = q.from_axis_angle((1, 1, 0), np.radians(100))
axis, angle = q.to_axis_angle(turn)
print("axis", axis.round(3), "angle", np.degrees(angle).round(1))
print("wxyz", q.to_wxyz(turn).round(3))
print("Euler zxy", np.degrees(q.to_euler(turn, "zxy")).round(1))
print("6D", q.to_6d(turn).round(3))

other = q.from_euler(np.radians([100, 85, -60]), "zxy")
parts = np.linspace(0, 1, 50)
straight = q.slerp(turn, other, parts)
angles = np.outer(1 - parts, q.to_euler(turn, "zxy")) + np.outer(parts, q.to_euler(other, "zxy"))
crooked = q.from_euler(angles, "zxy")
length = [np.degrees(q.angle_between(way[1:], way[:-1]).sum()) for way in (straight, crooked)]
print(f"slerp turns {length[0]:.0f} degrees, Euler angles {length[1]:.0f}")
assert length[0] < length[1]
