"""The command ``ikviewer``, a thin layer over the library; a command's module is imported when it is called.

What cannot be read, used or written raises a `ViewerError`, options that do not go together a `UsageError`.
"""
