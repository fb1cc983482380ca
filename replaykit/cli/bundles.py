"""Bundles named on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from replaykit.bundle.byte_source import bundles_in, is_remote
from replaykit.cli.console import notice
from replaykit.errors import SourceError, TapeError


def find_bundles(named: tuple[str, ...]) -> list[str]:
    """Return the files named and the *.zst of the folders named, in order, each once."""
    return list(dict.fromkeys(path for name in named for path in _expand(name)))


def check_tape(named: str | None) -> None:
    """Raise TapeError for a named tape, or folder of tapes, that is not there to answer."""
    if named is not None and not Path(named).exists():
        raise TapeError(source=named, line=0, reason="cannot read the tape: no such file or folder")


def _expand(name: str) -> Iterable[str]:
    if not is_remote(name) and not (name and Path(name).exists()):
        reason = "it stands for standard input: name a file" if name == "-" else "no such file or folder"
        raise SourceError(source=name, operation="read the bundle", reason=reason)
    found = list(bundles_in(name))
    if not found:
        notice(
            f"{name}: no bundle (*.zst) in this folder or below; record one with `replaykit record`, or write"
            " one from another tool's runs with `replaykit import`"
        )
    return found
