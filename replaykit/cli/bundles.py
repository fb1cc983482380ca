"""Bundles named on the command line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from replaykit.bundle.byte_source import BundleNames, bundles_in, is_remote
from replaykit.cli.console import notice
from replaykit.errors import SourceError, TapeError
from replaykit.file_types import kind_of


def find_bundles(named: tuple[str, ...], what: str = "bundle") -> BundleNames:
    """Return the files named and the *.zst of the folders named, in order, each once.

    `what`: what the command accepts, for the error of a missing file.
    """
    return BundleNames(dict.fromkeys(path for name in named for path in _expand(name, what)))


def without_bundles(named: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of the folders named in which there is no bundle."""
    return tuple(dict.fromkeys(name for name in named if not is_remote(name) and not list(bundles_in(name))))


def check_tape(named: str | None) -> None:
    """Raise TapeError for a named tape, or folder of tapes, that is missing or of another kind."""
    if named is not None and not Path(named).exists():
        raise TapeError(source=named, line=0, reason="cannot read the tape: no such file or folder")
    found = kind_of(named) if named is not None else _TAPES[0]
    if found not in _TAPES:
        how = "`replaykit judge run` writes tapes"
        raise TapeError(source=str(named), line=0, reason=f"not a tape of replies: found {found}; {how}")


_TAPES = ("a tape of `replaykit judge run`", "a folder", "an empty file", "a bundle")
"""Kinds of files that may hold replies: a packed bundle does, and a tape begins empty."""


def _expand(name: str, what: str) -> Iterable[str]:
    if not is_remote(name) and not (name and Path(name).exists()):
        reason = "it stands for standard input: name a file" if name == "-" else "no such file or folder"
        raise SourceError(source=name, operation=f"read the {what}", reason=reason)
    found = list(bundles_in(name))
    if not found:
        notice(
            f"{name}: no bundle (*.zst) in this folder or below; record one with `replaykit record`, or write"
            " one from another tool's runs with `replaykit import`"
        )
    return found
