"""glTF 2.0: skins and their motion, out and in."""
