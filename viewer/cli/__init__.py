"""The command ``ikviewer``, a thin layer over the library; a command's module is imported when it is called."""
