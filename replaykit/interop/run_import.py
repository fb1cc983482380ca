"""Many runs of other tools into bundles: one that is bad is reported and skipped."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.sealing import remove_abandoned_folders
from replaykit.bundle.writer import SealResult
from replaykit.errors import (
    BundleWriteError,
    InteropError,
    OutputExists,
    ReplaykitError,
    UnknownLayout,
    with_clean_fields,
)
from replaykit.grading.workers import fork_server
from replaykit.interop.archives.unpacked_archives import Unpacking
from replaykit.interop.imported_run import Options, Run
from replaykit.interop.layout_detection import FoundRun, LeftOut, found_runs
from replaykit.interop.registry import IMPORTERS, Candidate, Importer, importer
from replaykit.interop.source_files import SourceFiles, open_source
from replaykit.interop.written_bundles import write_run
from replaykit.patterns import lazy_pattern
from replaykit.secrets.redactor import Redactor

NAME_MAX = 150
"""Characters of a bundle's name: file systems allow 255 bytes."""

CHUNK = 8
"""Runs that a worker takes at once."""

_UNFIT = lazy_pattern(r"[^A-Za-z0-9._-]+")


class ImportResult(Struct, frozen=True, kw_only=True):
    """Result of importing one run."""

    source: str
    """Path where the run was found."""
    path: str
    """Path of the bundle."""
    archive: str = ""
    """The archive that the run was in; empty if it was in no archive."""
    digest: str = ""
    """Digest of the bundle's content, 64 hex digits; empty if nothing was written."""
    state: str = "imported"
    """`imported`, `kept` (the bundle exists), `failed` or `left` (a part of a folder that is
    not imported: an archive without a run, or a run of another format than the others)."""
    warnings: tuple[str, ...] = ()
    """Remarks about the source."""
    error: ReplaykitError | None = None
    """Error of a failed import."""


def import_run(
    format: str, path: str | Path, target: str | Path, *, options: Options | None = None, force: bool = False
) -> ImportResult:
    """Write the one run under a path as a bundle.

    `format`: a name of `replaykit import --list`, or `auto`. `target`: the bundle to write; an existing one
    is kept unless `force` is true. `options`: options of the import. Raises InteropError, BundleError,
    UsageError.

    Example:
        found = replaykit.import_run("auto", "results", "imported.zst")
        print(found.state, found.warnings)
    """
    options, folder = options or Options(), Path(target).parent
    with _clean_errors(options), _tidy(folder), Unpacking(folder, format, options.limits) as archives:
        one = _only_run(format, Path(path), options, archives)
        done = _import(one.importer, one.candidate, Path(target), options, force=force)
        return _clean(replace(done, archive=one.archive), options)


def _only_run(format: str, path: Path, options: Options, archives: Unpacking) -> FoundRun:
    looked = found_runs(format, path, options, archives)
    error = next((one.error for one in looked if isinstance(one, LeftOut) and one.error), None)
    if error is not None:
        raise error
    found = [one for one in looked if isinstance(one, FoundRun)]
    if len(found) > 1:
        names = [one.candidate.name for one in found]
        what = f"{len(found)} runs, such as {names[0]} and {names[1]}"
        raise UnknownLayout(format=found[0].importer.name, source=str(path), found=what, expected="one run")
    return found[0]


@contextmanager
def _tidy(folder: Path) -> Iterator[None]:
    """Remove what is unfinished in a folder, also what another process left when it was killed."""
    try:
        yield
    finally:
        remove_abandoned_folders(folder, "importing")


def import_runs(
    format: str,
    paths: Iterable[str | Path],
    folder: str | Path,
    *,
    options: Options | None = None,
    force: bool = False,
    jobs: int = 1,
    on_found: Callable[[int], None] = lambda _: None,
    on_run: Callable[[ImportResult], None] = lambda _: None,
) -> list[ImportResult]:
    """Write every run under the paths into a folder; what became of each, in order.

    `jobs`: processes that read at the same time; `on_found` gets how many runs there are, `on_run` what
    became of each. Raises UsageError for options that mean nothing; a run that cannot be read is returned as
    `failed`.
    """
    options = options or Options()
    place, names = Path(folder), set[str]()
    done: list[ImportResult] = []
    if jobs > 1 and format in IMPORTERS:
        fork_server.start(*_loaded([format]))  # it loads while the runs are looked for
    with _tidy(place), Unpacking(place, format, options.limits) as archives:
        plan = partial(_planned, format, folder=place, options=options, names=names, archives=archives)
        found = [one for path in paths for one in plan(Path(path))]
        on_found(len(found))
        for result in _carried_out(found, options, force=force, jobs=jobs):
            done.append(result)
            on_run(result)
    return done


class PlannedImport(NamedTuple):
    """A run to be read: its format, where it is, its bundle, and the archive that it is in."""

    format: str
    candidate: Candidate
    target: Path
    archive: str


def _planned(
    format: str, path: Path, *, folder: Path, options: Options, names: set[str], archives: Unpacking
) -> Iterator[PlannedImport | ImportResult]:
    try:
        found = found_runs(format, path, options, archives)
    except InteropError as error:
        yield _clean(ImportResult(source=str(path), path="", state="failed", error=error), options)
        return
    for one in found:
        if isinstance(one, FoundRun):
            called = Redactor(options.secrets).text(one.candidate.name)
            target = folder / f"{_name(called, names)}.zst"
            yield PlannedImport(one.importer.name, one.candidate, target, one.archive)
        elif one.error is not None:
            failed = ImportResult(source=one.path, path="", state="failed", error=one.error)
            yield _clean(failed, options)
        else:
            yield ImportResult(source=one.path, path="", state="left", warnings=(one.remark,))


def _carried_out(
    found: list[PlannedImport | ImportResult], options: Options, *, force: bool, jobs: int
) -> Iterator[ImportResult]:
    carry_out = partial(_carry_out, options=options, force=force)
    # A worker costs more to start than most runs to import.
    if jobs < 2 or len(found) < 2:
        yield from map(carry_out, found)
        return
    formats = {one.format for one in found if isinstance(one, PlannedImport)}
    workers = ProcessPoolExecutor(
        min(jobs, len(found)),
        mp_context=fork_server.context(*_loaded(formats)),
        initializer=fork_server.end_with_parent,
    )
    try:
        # Four chunks a worker: large runs are spread, and few messages are sent.
        with fork_server.undisturbed():
            results = workers.map(carry_out, found, chunksize=max(1, min(CHUNK, len(found) // (4 * jobs))))
        yield from results
    except BaseException:  # Ctrl-C must not wait for what has begun; the caller removes what is left of it
        fork_server.end(workers)
        raise
    workers.shutdown()


def _loaded(formats: Iterable[str]) -> list[str]:
    """Return the modules that workers need, which are copies of one fresh process that has read them."""
    return [__name__, *(IMPORTERS[name] for name in sorted(formats))]


def _carry_out(one: PlannedImport | ImportResult, *, options: Options, force: bool) -> ImportResult:
    if isinstance(one, ImportResult):
        return one
    try:
        done = _import(importer(one.format), one.candidate, one.target, options, force=force)
    except ReplaykitError as error:
        shown = _shown(one.candidate)
        done = ImportResult(source=shown, path=str(one.target), state="failed", error=error)
    return _clean(replace(done, archive=one.archive), options)


def _clean(done: ImportResult, options: Options) -> ImportResult:
    """Return a result without declared secrets: names of files may hold one, and errors repeat values."""
    if not options.secrets:
        return done
    clean = Redactor(options.secrets).text
    error = None if done.error is None else with_clean_fields(done.error, clean)
    return replace(done, source=clean(done.source), archive=clean(done.archive), error=error)


@contextmanager
def _clean_errors(options: Options) -> Iterator[None]:
    try:
        yield
    except ReplaykitError as error:
        if not options.secrets:
            raise
        raise with_clean_fields(error, Redactor(options.secrets).text) from None


def _import(
    one: Importer, candidate: Candidate, target: Path, options: Options, *, force: bool
) -> ImportResult:
    if os.path.lexists(target) and not force:
        return ImportResult(source=_shown(candidate), path=str(target), state="kept")
    # `rename` would fail on it after the whole import.
    if target.is_dir():
        raise BundleWriteError(source=str(target), operation="write the bundle", reason="it is a folder")
    # Of many files in a folder, errors name this one.
    source = open_source(one.name, candidate.root, options.limits, _shown(candidate))
    try:
        run, sealed = _written(one, candidate, source, options, target, is_forced=force)
    except OutputExists:  # another import was faster
        return ImportResult(source=_shown(candidate), path=str(target), state="kept")
    finally:
        source.close()
    return ImportResult(
        source=_shown(candidate), path=str(target), digest=sealed.digest, warnings=tuple(run.warnings)
    )


def _written(
    one: Importer,
    candidate: Candidate,
    source: SourceFiles,
    options: Options,
    target: Path,
    *,
    is_forced: bool,
) -> tuple[Run, SealResult]:
    """Read a run and write it; read it again where it named a password, which may stand in other places."""
    passwords: set[str] = set()
    while True:
        with Run(source, candidate.name, options, passwords) as run:
            one.read(run, candidate)
            _count_unread(run, candidate)
            # A password is known once its field was read, and its text may stand before that.
            if options.keeps_secrets or run.passwords == passwords:
                return run, write_run(run, target, is_forced=is_forced)
            passwords = run.passwords


def _count_unread(run: Run, candidate: Candidate) -> None:
    """Count the files of a folder or an archive that were not read, by the ends of their names."""
    if candidate.file:
        return  # one file of a folder or of an archive, which may hold other runs
    for name in run.source.names():
        if name not in run.source.files:
            end = PurePosixPath(name).suffix
            run.leave_out(f"*{end}" if end else name)


def _shown(candidate: Candidate) -> str:
    path = candidate.root / candidate.file if candidate.file else candidate.root
    return candidate.shown or str(path)


def _name(wanted: str, taken: set[str]) -> str:
    """Return a file name for a run; runs of one name are distinguished by a number, in the order found."""
    # A leading dot would hide the file.
    plain = _UNFIT.sub("-", wanted).strip("-.")[:NAME_MAX] or "run"
    name, number = plain, 1
    # Some file systems take names that differ only in case for one.
    while name.lower() in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name.lower())
    return name
