"""The window: loop, panels, dialogs."""
