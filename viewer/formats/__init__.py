"""Reading and writing files; `viewer.formats.file_formats` lists the formats. Readers raise only a `ViewerError`."""
