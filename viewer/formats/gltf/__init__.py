"""glTF 2.0: skins and animations, reading and writing."""
