"""Files that no layout reads: pointers of Git LFS, text in UTF-16, parts of a run."""
