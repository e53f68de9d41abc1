"""Reading and writing files; `viewer.formats.table` lists the formats. Readers raise only a `ViewerError`."""
