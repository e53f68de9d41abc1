"""The command ``ikviewer``: thin over the library; each command's module is imported when it is called."""
