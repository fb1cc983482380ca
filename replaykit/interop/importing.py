"""Many runs of other tools into bundles: one that is bad is told and passed over."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.writer import SealResult
from replaykit.errors import BundleWriteError, InteropError, MalformedSource, ReplaykitError, UnknownLayout
from replaykit.grading.workers import fork_server
from replaykit.interop.imported_run import Options, Run
from replaykit.interop.lfs_pointers import FETCH, is_pointer_file
from replaykit.interop.registry import IMPORTERS, Candidate, Importer, check_options, importer
from replaykit.interop.run_search import fault_of, files
from replaykit.interop.scratch_folder import remove_abandoned_folders
from replaykit.interop.source_files import SourceFiles, open_source
from replaykit.interop.unpacked_archives import Unpacking, is_tape
from replaykit.interop.written_bundles import write_run
from replaykit.trajectory.counted import counted

NAME_MAX = 150
"""Characters of a bundle's name: file systems allow 255 bytes."""

CHUNK = 8
"""Runs that a worker takes at once."""

LOOK_MAX = 1000
"""Files of a folder that are looked at to say what it is."""

MISSING = "missing"
"""What is found where there is no such path."""

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


class ImportResult(Struct, frozen=True, kw_only=True):
    """Result of importing one run."""

    source: str
    """Path where the run was found."""
    path: str
    """Path of the bundle."""
    digest: str = ""
    """Digest of the bundle's content, 64 hex digits; empty if nothing was written."""
    state: str = "imported"
    """`imported`, `kept` (the bundle exists) or `failed`."""
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
    with _tidy(folder), Unpacking(folder, format, options.limits) as archives:
        one, found = _looked(format, Path(path), options, archives)
        if len(found) > 1:
            what = f"{len(found)} runs, such as {found[0].name} and {found[1].name}"
            raise UnknownLayout(format=one.name, source=str(path), found=what, expected="one run")
        return _import(one, found[0], Path(target), options, force=force)


@contextmanager
def _tidy(folder: Path) -> Iterator[None]:
    """Remove what is unfinished in a folder, also what another process left when it was killed."""
    try:
        yield
    finally:
        remove_abandoned_folders(folder)


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

    `jobs`: processes that read at the same time; `on_found` is told how many runs there are, `on_run` what
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
    """A run to be read: its format, where it is, and its bundle."""

    format: str
    candidate: Candidate
    target: Path


def _planned(
    format: str, path: Path, *, folder: Path, options: Options, names: set[str], archives: Unpacking
) -> Iterator[PlannedImport | ImportResult]:
    try:
        one, found = _looked(format, path, options, archives)
    except InteropError as error:
        yield ImportResult(source=str(path), path="", state="failed", error=error)
        return
    for candidate in found:
        yield PlannedImport(one.name, candidate, folder / f"{_name(candidate.name, names)}.zst")


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
        yield from workers.map(carry_out, found, chunksize=max(1, min(CHUNK, len(found) // (4 * jobs))))
    finally:
        # Ctrl-C must not wait for every run that was planned.
        workers.shutdown(cancel_futures=True)


def _loaded(formats: Iterable[str]) -> list[str]:
    """Return the modules that workers need, which are copies of one fresh process that has read them."""
    return [__name__, *(IMPORTERS[name] for name in sorted(formats))]


def _carry_out(one: PlannedImport | ImportResult, *, options: Options, force: bool) -> ImportResult:
    if isinstance(one, ImportResult):
        return one
    try:
        return _import(importer(one.format), one.candidate, one.target, options, force=force)
    except ReplaykitError as error:
        return ImportResult(source=_shown(one.candidate), path=str(one.target), state="failed", error=error)


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
        run, sealed = _written(one, candidate, source, options, target)
    finally:
        source.close()
    return ImportResult(
        source=_shown(candidate), path=str(target), digest=sealed.digest, warnings=tuple(run.warnings)
    )


def _written(
    one: Importer, candidate: Candidate, source: SourceFiles, options: Options, target: Path
) -> tuple[Run, SealResult]:
    """Read a run and write it; read it again where it named a password, which may stand in other places."""
    passwords: set[str] = set()
    while True:
        with Run(source, candidate.name, options, passwords) as run:
            one.read(run, candidate)
            _count_unread(run, candidate)
            # A password is known once its field was read, and its text may stand before that.
            if options.keeps_secrets or run.passwords == passwords:
                return run, write_run(run, target)
            passwords = run.passwords


def _count_unread(run: Run, candidate: Candidate) -> None:
    """Count the files of a folder or an archive that were not read, by the ends of their names."""
    if candidate.file:
        return  # one file of a folder or of an archive, which may hold other runs
    for name in run.source.names():
        if name not in run.source.files:
            end = PurePosixPath(name).suffix
            run.leave_out(f"*{end}" if end else name)


def _looked(
    format: str, path: Path, options: Options, archives: Unpacking
) -> tuple[Importer, list[Candidate]]:
    """Return the importer and the runs under a path, or in an archive. Raises InteropError, UsageError."""
    if is_tape(path):
        return _looked_inside(format, path, options, archives)
    try:
        return _looked_under(format, path, options)
    except UnknownLayout:
        # Some layouts are zip archives themselves; this one may hold folders of another.
        if path.suffix.lower() != ".zip" or not path.is_file() or not zipfile.is_zipfile(path):
            raise
        with suppress(UnknownLayout):
            return _looked_inside(format, path, options, archives)
        raise


def _looked_inside(
    format: str, path: Path, options: Options, archives: Unpacking
) -> tuple[Importer, list[Candidate]]:
    folder = archives.unpacked(path)
    try:
        one, found = _looked_under(format, folder, options)
    except UnknownLayout as error:
        what = f"an archive with {error.fields['found']}"
        raise UnknownLayout(**{**error.fields, "source": str(path), "found": what}) from error
    return one, [replace(each, shown=_shown_inside(each, folder, path)) for each in found]


def _shown_inside(candidate: Candidate, folder: Path, archive: Path) -> str:
    inner = (candidate.root / candidate.file).relative_to(folder).as_posix()
    return str(archive) if inner == "." else f"{archive}/{inner}"


def _looked_under(format: str, path: Path, options: Options) -> tuple[Importer, list[Candidate]]:
    try:
        one = _chosen(format, path)
        check_options(one, options)
        return one, list(_found(one, path, options, is_asked=format != "auto"))
    except OSError as error:
        found = f"unreadable ({error.strerror})"
        raise MalformedSource(
            format=format, source=str(path), place="the path", found=found, expected="a file or folder"
        ) from error


def _chosen(format: str, path: Path) -> Importer:
    if format != "auto":
        return importer(format)
    found = resembled(path)
    if found is None:
        known = [f"{name}: {importer(name).looks_for}" for name in IMPORTERS]
        raise _unknown(format, path, kind_of_path(path), "\n".join(["one of these", *known]))
    return found


def resembled(path: Path) -> Importer | None:
    """Return the first importer that finds a run under the path."""
    candidates = (importer(name) for name in IMPORTERS)
    return next((one for one in candidates if next(one.find(path), None) is not None), None)


def _found(one: Importer, path: Path, options: Options, *, is_asked: bool) -> Iterator[Candidate]:
    is_own = one.find_asked is not None and (is_asked or options.columns)
    found = one.find_asked(path, options) if is_own and one.find_asked is not None else one.find(path)
    first = next(found, None)
    if first is None:
        other = resembled(path)
        hint = f"{kind_of_path(path)}, which resembles {other.name}" if other else kind_of_path(path)
        raise _unknown(one.name, path, hint, one.looks_for)
    yield first
    yield from found


def _unknown(format: str, path: Path, found: str, expected: str) -> UnknownLayout:
    wanted = "a file or folder" if found == MISSING else expected
    return UnknownLayout(format=format, source=str(path), found=found, expected=wanted)


def kind_of_path(path: Path) -> str:
    """Return what there is at a path, so that a person sees what was meant."""
    if not path.exists():
        return MISSING
    if path.is_dir():
        return _kind_of_folder(path)
    if not path.is_file():
        return "no regular file"
    if not path.stat().st_size:
        return "an empty file"
    if is_pointer_file(path):
        return f"a pointer of Git LFS; {FETCH}"
    if path.suffix.lower() == ".zip":
        return "a zip archive" if zipfile.is_zipfile(path) else "no whole zip archive"
    return _kind_of_json(path) if path.suffix.lower() in (".json", ".har") else "a file"


def _kind_of_folder(path: Path) -> str:
    pointers = sum(is_pointer_file(file) for file in islice(files(path, ""), LOOK_MAX))
    if pointers:
        return f"a folder with {counted(pointers, 'pointer')} of Git LFS; {FETCH}"
    return "a folder of other files" if any(path.iterdir()) else "an empty folder"


def _kind_of_json(path: Path) -> str:
    try:
        fault = fault_of(path)
    except OSError as error:
        return f"unreadable ({error.strerror})"
    return "JSON of another layout" if fault is None else f"a file that is {fault}"


def _shown(candidate: Candidate) -> str:
    path = candidate.root / candidate.file if candidate.file else candidate.root
    return candidate.shown or str(path)


def _name(wanted: str, taken: set[str]) -> str:
    """Return a file name for a run; runs of one name are told apart by a number, in the order found."""
    # A leading dot would hide the file.
    plain = _UNFIT.sub("-", wanted).strip("-.")[:NAME_MAX] or "run"
    name, number = plain, 1
    # Some file systems take names that differ only in case for one.
    while name.lower() in taken:
        number += 1
        name = f"{plain}-{number}"
    taken.add(name.lower())
    return name
