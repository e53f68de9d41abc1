"""Files in and out: BVH, JSON, NPZ, CSV. A reader raises nothing but `viewer.errors.ViewerError`."""
