"""What `replaykit demo` needs beside the package."""
