"""Take secrets out of a finished bundle: a derived bundle, its tape with it, a scan of what was written."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from msgspec import Struct

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.sealing import check_copy, folder_beside, put_copy
from replaykit.bundle.story_lines import Line
from replaykit.bundle.verification import references
from replaykit.bundle.writer import Journal, NewBlob, seal
from replaykit.errors import SecretLeft, TaskError
from replaykit.grading.judges.tape.tape import tape_beside
from replaykit.recorder.settings import as_settings
from replaykit.redaction.leftover_scan import DIGEST, Left, scan, scan_tape
from replaykit.redaction.rewriter import Rewriting
from replaykit.redaction.tape_redaction import read_bytes_of, rewrite_tape, tapes_beside
from replaykit.secrets.redactor import Redactor
from replaykit.secrets.secret_patterns import given_looks
from replaykit.tasks.benchmarks.policy_secrets import plain_texts
from replaykit.tasks.task import decode_task
from replaykit.trajectory.action import Unknown

BATCH = 8
"""Events of one commit: the largest ones fit into one frame, and the most numerous ones into the frames."""

LEFT_MAX = 1000
"""Findings that are listed."""


class Redaction(Struct, frozen=True, kw_only=True):
    """The bundle that `redact` wrote."""

    path: str
    """Path of the new bundle."""
    digest: str
    """Digest of its content, 64 hex digits."""
    source: str
    """Digest of the source bundle's content, 64 hex digits."""
    blobs: int
    """Number of blobs that were rewritten or painted over."""
    painted: int
    """Number of screenshots with black boxes."""
    withheld: int
    """Number of blobs left out: screenshots that may show a secret, and blobs that cannot be redacted."""
    tape: str | None = None
    """Path of the tape written with it."""
    replies_left_out: int = 0
    """Number of replies about screenshots that were left out."""
    left: tuple[Left, ...] = ()
    """Places that still look like secrets, at most 1,000."""


def redact(
    bundle: str | Path,
    output: str | Path,
    *,
    secrets: Mapping[str, str] | None = None,
    patterns: Iterable[str] = (),
    force: bool = False,
) -> Redaction:
    """Write a copy of a bundle and its tape without secrets; the source does not change.

    `secrets`: id of each secret to its value, which is replaced in all its encodings. `patterns`: regular
    expressions, replaced in texts. Built-in patterns and the names of secret fields and headers always apply.
    Raises UsageError, BundleError, TapeError, and SecretLeft if a secret cannot be removed; then nothing is
    written.

    Example:
        found = replaykit.redact("run.zst", "clean.zst", secrets={"token": "s3cr3t-value"})
        print(found.path)
    """
    settings = as_settings({"secrets": dict(secrets or {})})
    looks, target = given_looks(patterns), Path(output)
    check_copy(Path(bundle), (target, *tapes_beside(target)), "redacted", is_forced=force)
    with open_bundle(bundle) as source:
        redactor = Redactor(
            settings.secrets, plain=_plain_texts(source), keep_headers=_kept_headers(source), given=looks
        )
        rewriting = Rewriting(source, redactor, is_strict=bool(settings.secrets or looks))
        with folder_beside(target, "redacting") as folder:
            return _write(source, rewriting, redactor, settings.secrets, folder, target, is_forced=force)


def _write(
    source: Bundle,
    rewriting: Rewriting,
    redactor: Redactor,
    secrets: Iterable[str],
    folder: Path,
    target: Path,
    *,
    is_forced: bool,
) -> Redaction:
    # Written aside and scanned first: a bundle with a secret never gets its final name.
    written = folder / "run.zst"
    _write_journal(source, rewriting, secrets, written)
    written.chmod(stat.S_IMODE(Path(source.name).stat().st_mode))
    sealed = seal(written)
    own, under_attack = (
        _tape(path, rewriting, redactor, sealed.digest) for path in tapes_beside(source.name)
    )
    tapes = list(zip(tapes_beside(target), (own[0], under_attack[0]), strict=True))
    # Reads the file as it is on the disk, not what was meant to be written.
    left = tuple(_left(written, tapes, redactor, str(target)))
    put_copy(written, target, dict(tapes), "redacted", is_forced=is_forced)
    return Redaction(
        path=str(target),
        digest=sealed.digest,
        source=source.digest,
        blobs=sum(new not in (None, old) for old, new in rewriting.ids.items()),
        painted=rewriting.painted,
        withheld=rewriting.withheld,
        tape=None if own[0] is None else str(tape_beside(target)),
        replies_left_out=own[1] + under_attack[1],
        left=left,
    )


def _write_journal(source: Bundle, rewriting: Rewriting, secrets: Iterable[str], path: Path) -> None:
    old = {new: id for id, new in rewriting.ids.items() if new is not None}
    events = iter(source.trajectory.events)
    with Journal.create(path) as journal:
        header = rewriting.header(secrets)
        journal.commit([header], _blobs([header], source, rewriting, old, journal))
        while batch := [rewriting.line(event) for event in islice(events, BATCH)]:
            journal.commit(batch, _blobs(batch, source, rewriting, old, journal))


def _blobs(
    lines: Iterable[Line], source: Bundle, rewriting: Rewriting, old: Mapping[str, str], journal: Journal
) -> Iterator[NewBlob]:
    """Yield the blobs that these lines are the first to refer to; what nothing refers to is not copied."""
    wanted = dict.fromkeys(id for line in lines for id in _references(line))
    for id in wanted:
        payload = rewriting.payload(old[id]) if id in old and id not in journal else None
        if payload is not None:
            yield id, source.blob_type(old[id]), payload


def _references(line: Line) -> Iterator[str]:
    if isinstance(line, Unknown):
        yield from DIGEST.findall(line.raw)
    else:
        yield from references(line)


def _tape(path: Path, rewriting: Rewriting, redactor: Redactor, digest: str) -> tuple[bytes | None, int]:
    data = read_bytes_of(path)
    return (None, 0) if data is None else rewrite_tape(data, path.name, redactor, rewriting.ids, digest)


def _left(
    written: Path, tapes: Iterable[tuple[Path, bytes | None]], redactor: Redactor, name: str
) -> Iterator[Left]:
    """Read back what was written, and yield what is left. Raises SecretLeft for a declared secret."""
    with open_bundle(written) as bundle:
        yield from islice(_refusing(scan(bundle, redactor), name), LEFT_MAX)
    for path, data in tapes:
        yield from islice(_refusing(scan_tape(data or b"", redactor), path.name), LEFT_MAX)


def _refusing(found: Iterable[Left], source: str) -> Iterator[Left]:
    for one in found:
        if one.is_declared:
            raise SecretLeft(source=source, id=one.id, place=one.place)
        yield one


def _plain_texts(source: Bundle) -> tuple[str, ...]:
    """Return the test data that the stored task names anyway; empty for an unreadable task."""
    try:
        return plain_texts(decode_task(source.header.task) if source.header.task else None)
    except TaskError:
        return ()


def _kept_headers(source: Bundle) -> tuple[str, ...]:
    # The recorder kept these headers on request; hiding them now would undo that.
    names = source.header.options.get("keep_headers")
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
