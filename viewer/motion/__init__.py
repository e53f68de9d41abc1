"""Changes of clips: clips in, clips and reports out. No files, no window."""
