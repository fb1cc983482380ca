"""Files that `replaykit demo` needs in addition to the package."""
