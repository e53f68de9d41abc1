"""Recorded actions as data, and done again to the same bits."""
