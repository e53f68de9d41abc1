"""BVH (Biovision hierarchy): reader and writer.

bvh_text    text -> joints, rows of channel values
channels    channel values <-> rotations and translations
bvh_reader  file -> Character
bvh_writer  Character -> file
"""
