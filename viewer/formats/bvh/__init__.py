"""BVH (Biovision hierarchy): reader and writer.

words     the words of the text part, with their places
hierarchy the joints
motion    the rows of numbers
parse     the bytes of a file -> joints and channel values
channels  columns of numbers -> rotations and translations
reader    a file -> Character
angles    rotations -> angles without jumps
layout    which channels a joint is written with
writer    Character -> a file
"""
