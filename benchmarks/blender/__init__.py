"""What Blender sees in the files that we write, and what we see in them."""
