"""Robots as URDF: links and joints, limits, meshes."""
