"""Bundles named on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from replaykit.bundle.byte_source import BundleNames, FoundBundles, all_named_bundles, is_remote
from replaykit.cli.console import notice
from replaykit.errors import ReplaykitError, SourceError, TapeError
from replaykit.file_types import kind_of, pattern_words
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.plurals import counted

if TYPE_CHECKING:
    from replaykit.grading.verdict import Verdict


def find_bundles(named: tuple[str, ...], what: str = "bundle") -> BundleNames:
    """Return the files named and the *.zst of the folders named, in order, each once.

    `what`: what the command accepts, for the error of a missing file.
    """
    return found_bundles(named, what).names


def found_bundles(named: tuple[str, ...], what: str = "bundle") -> FoundBundles:
    """Return what `find_bundles` does, with the folders that hold no bundle and what is left out of them."""
    for name in named:
        _check_there(name, what)
    found = all_named_bundles(named)
    for words in found.left_out:
        notice(f"left out: {words}")
    for name in found.empty:
        notice(
            f"{name}: no bundle (*.zst) in this folder or below; record one with `replaykit record`, or write"
            " one from another tool's runs with `replaykit import`"
        )
    return found._replace(names=BundleNames(dict.fromkeys(found.names)))


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


def warn_of_unmatched(
    verdicts: Sequence[Verdict], sources: Sequence[str], *, are_all_shown: bool = True
) -> None:
    """Name the bundles that are given beside a report and have no verdict in it.

    `are_all_shown`: also count the verdicts whose bundle is not given.
    """
    from replaykit.report.html.run_details import sources_of  # for who names a report and bundles

    shown = sources_of(verdicts, sources)
    left = [source for source in sources if source not in shown.values() and _is_read(source)]
    if left:
        notice(f"{counted(len(left), 'bundle')} without a verdict in the report: {_shortened(left)}")
    if are_all_shown and sources and len(shown) < len(verdicts):
        lacking = len(verdicts) - len(shown)
        notice(f"{lacking} of {counted(len(verdicts), 'verdict')} in the report without a bundle here")


def _is_read(source: str) -> bool:
    """Whether a bundle can be read; a notice names one that cannot."""
    from replaykit.bundle.reader import open_bundle  # for who names a report and bundles

    try:
        open_bundle(source).close()
    except ReplaykitError as error:
        notice(f"not shown: {error}")
        return False
    return True


def warn_of_unused_tapes(verdicts: Iterable[Verdict], sources: Iterable[str]) -> None:
    """Name the judges whose replies lie beside runs of which no judge gave a judgement."""
    if any(verdict.judgements for verdict in verdicts):
        return
    judges = dict.fromkeys(name for source in sources for name in _recorded_judges(source))
    if judges:
        named = ", ".join(judges)
        notice(
            f"not used: replies of {named} beside the bundles; `--judge NAME` or `--judge FILE` reads them"
        )


_LINE_MAX = 2**16
"""Bytes of a line of a tape that are looked at: the judge stands before what it was asked."""


def _recorded_judges(source: str) -> Iterator[str]:
    """Yield the judge of the first reply on the tape beside a bundle; nothing of a check's."""
    # The module of tapes is not loaded for who has none.
    with suppress(OSError), Path(source.removesuffix(".zst") + ".replies.jsonl").open("rb") as tape:
        tape.readline(_LINE_MAX)
        found = _JUDGE.search(tape.readline(_LINE_MAX))
        if found is not None and not found[1].startswith(b"webarena."):
            yield found[1].decode("utf-8", "replace")


_JUDGE = lazy_pattern(rb'"judge":"((?:[^"\\]|\\.)*)"')


_NAMED = 3
"""Bundles that a message names."""


def _shortened(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _check_there(name: str, what: str) -> None:
    if not is_remote(name) and not (name and Path(name).exists()):
        missing = f"no such file or folder{pattern_words(name)}"
        reason = "it stands for standard input: name a file" if name == "-" else missing
        raise SourceError(source=name, operation=f"read the {what}", reason=reason)
