"""BVH (Biovision hierarchy): reader and writer.

hierarchy  text -> joints
motion     rows of numbers -> channel values
channels   channel values <-> rotations and translations
reader     file -> Character
writer     Character -> file
"""
