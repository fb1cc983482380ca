"""Bundles named on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from replaykit.bundle.source import bundles_in, is_remote
from replaykit.errors import SourceError


def find_bundles(named: tuple[str, ...]) -> list[str]:
    """Return the files named and the *.zst of the folders named, in order, each once."""
    return list(dict.fromkeys(path for name in named for path in _expand(name)))


def _expand(name: str) -> Iterable[str]:
    if not is_remote(name) and not (name and Path(name).exists()):
        raise SourceError(source=name, operation="read the bundle", reason="no such file or folder")
    return bundles_in(name)
