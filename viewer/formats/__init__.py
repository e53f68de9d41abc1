"""Reading and writing files; `viewer.formats.file_formats` lists the formats.

Readers raise only a `ViewerError`: an `InputError` for a file that cannot be opened, a `FormatError`, with the place in
the file, for contents that are refused. Writers raise an `OutputError`, and an `InputError` for what a file cannot
hold. Docstrings name other errors, and conditions that are not obvious.
"""
