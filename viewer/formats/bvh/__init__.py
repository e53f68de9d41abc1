"""BVH (Biovision hierarchy): reader and writer.

header    words and places of the text part
hierarchy the joints
motion    the rows of numbers
channels  columns of numbers <-> rotations and translations
reader    a file -> Character
layout    which channels a joint is written with
writer    Character -> a file
"""
