"""Finding the runs under a path: of a layout, or of whatever layout it is; also in archives.

Archives in a folder are unpacked as well, those in archives are not. A folder that is a run keeps its own.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from replaykit.errors import InteropError, MalformedSource, UnknownLayout
from replaykit.file_types import URL, pattern_words
from replaykit.interop.archives.unpacked_archives import (
    ARCHIVES,
    UnpackedTotals,
    Unpacking,
    archive_stem,
    is_archive,
    is_packed,
)
from replaykit.interop.folder_search import files
from replaykit.interop.imported_run import Options
from replaykit.interop.registry import IMPORTERS, Candidate, Importer, check_options, importer
from replaykit.interop.unreadable.lfs_pointers import FETCH, is_pointer_file
from replaykit.interop.unreadable.path_kinds import MISSING, is_vague, kind_of_path
from replaykit.trajectory.plurals import counted

ARCHIVES_MAX = 1000
"""Archives of a folder that are unpacked."""

LOOK_MAX = 1000
"""Archives in an archive that are counted, and places beside the runs that are looked at."""


class FoundRun(NamedTuple):
    """A run, who reads it, and the archive that it was in."""

    importer: Importer
    candidate: Candidate
    archive: str = ""


class LeftOut(NamedTuple):
    """A part of a folder that is not imported, and why: what failed, or a remark."""

    path: str
    remark: str = ""
    error: InteropError | None = None


def found_runs(format: str, path: Path, options: Options, archives: Unpacking) -> list[FoundRun | LeftOut]:
    """Return the runs under a path, or in an archive. Raises InteropError, UsageError."""
    try:
        is_folder = path.is_dir()
    except OSError as error:  # a name that no file system takes
        raise _unreadable(format, path, error) from error
    if is_folder:
        return _Folder(format, path, options, archives).found()
    return list(_in_file(format, path, options, archives))


def _unreadable(format: str, path: Path, error: OSError) -> MalformedSource:
    found = f"unreadable ({error.strerror})"
    return MalformedSource(
        format=format, source=str(path), place="the path", found=found, expected="a file or folder"
    )


def _in_file(format: str, path: Path, options: Options, archives: Unpacking) -> Iterator[FoundRun]:
    fault: UnknownLayout | None = None
    try:
        one, found = _looked_under(format, path, options)
    except UnknownLayout as error:
        fault = error
    if fault is None:
        yield from (FoundRun(one, each) for each in found)
        return
    # Some layouts are archives themselves; this one may hold files of another.
    if not is_archive(path):
        raise fault
    if path.suffix.lower() == ".zip" and not zipfile.is_zipfile(path):
        raise fault
    yield from _in_archive(format, path, options, archives)


def _in_archive(format: str, path: Path, options: Options, archives: Unpacking) -> Iterator[FoundRun]:
    folder = archives.unpacked(path)
    try:
        one, found = _looked_under(format, folder, options)
    except UnknownLayout as error:
        inner = sum(1 for _ in islice(_archives(folder), LOOK_MAX))
        what = f"{counted(inner, 'archive')}: unpack it first" if inner else error.fields["found"]
        raise UnknownLayout(
            **{**error.fields, "source": str(path), "found": f"an archive with {what}"}
        ) from error
    for each in found:
        yield FoundRun(one, replace(each, shown=_shown_inside(each, folder, str(path))), str(path))


def _archives(folder: Path) -> Iterator[Path]:
    """Yield the archives in a folder, in order; links are skipped."""
    yield from (file for file in files(folder, *ARCHIVES) if not file.is_symlink())


class _Folder:
    """A folder: its own runs, then those of its archives."""

    def __init__(self, format: str, path: Path, options: Options, archives: Unpacking) -> None:
        self._format, self._path, self._options, self._unpacking = format, path, options, archives
        self._spent = UnpackedTotals()
        self._own: Importer | None = None

    def found(self) -> list[FoundRun | LeftOut]:
        """Return the runs, and the archives without one. Raises InteropError, UsageError."""
        fault: UnknownLayout | None = None
        own: list[Candidate] = []
        try:
            self._own, own = _looked_under(self._format, self._path, self._options)
        except UnknownLayout as error:
            fault = error
        runs = [FoundRun(self._own, each) for each in own if self._own]
        found = [*runs, *self._pointers(own), *self._of_others(own), *self._packed(own)]
        if fault is not None and not any(isinstance(one, FoundRun) or one.error for one in found):
            raise self._without(fault, len(found))
        return found

    def _pointers(self, own: list[Candidate]) -> Iterator[LeftOut]:
        """Yield the pointers in the places of runs: files that end as a run of the folder does."""
        runs = {one.root / one.file.partition("#")[0] for one in own}
        endings = tuple(sorted({one.suffix.lower() for one in runs if one.is_file() and one.suffix}))
        for file in files(self._path, *endings) if endings else ():
            is_inside = file in runs or any(parent in runs for parent in file.parents)
            if not is_inside and not is_archive(file) and is_pointer_file(file):
                error = MalformedSource(
                    format=self._format, source=str(file), place="the file",
                    found=f"a pointer of Git LFS; {FETCH}", expected="the file itself",
                )  # fmt: skip
                yield LeftOut(str(file), error=error)

    def _of_others(self, own: list[Candidate]) -> Iterator[LeftOut]:
        """Yield what lies beside the runs: links to folders, and runs that `auto` does not read."""
        if self._own is None:
            return
        for place in islice(_unclaimed(self._path, own), LOOK_MAX):
            if place.is_symlink():
                yield from self._linked(place)
            elif self._format == "auto":
                yield from self._of_other(place, self._own)

    def _linked(self, link: Path) -> Iterator[LeftOut]:
        """Yield a link to a folder elsewhere; runs of this folder are read where they are."""
        with suppress(OSError, RuntimeError):  # of a link in a circle
            target = link.resolve()
            if target.is_dir() and not target.is_relative_to(self._path.resolve()):
                yield LeftOut(str(link), "a link to a folder is not followed: name that folder")

    def _of_other(self, place: Path, own: Importer) -> Iterator[LeftOut]:
        other = resembled(place)
        if other is None or other.name in (own.name, _LOOSE):
            return
        first = next(other.find(place))
        if not is_archive(first.root / first.file):  # archives are looked at by themselves
            yield LeftOut(str(place), _of_other(other))

    def _without(self, fault: UnknownLayout, archives: int) -> UnknownLayout:
        if not archives:
            return fault
        what = f"a folder with {counted(archives, 'archive')} without a run"
        return UnknownLayout(**{**fault.fields, "found": what})

    def _packed(self, own: list[Candidate]) -> Iterator[FoundRun | LeftOut]:
        found = list(islice(_others(self._path, own), ARCHIVES_MAX + 1))
        if len(found) > ARCHIVES_MAX:
            error = MalformedSource(
                format=self._format, source=str(self._path), place="the folder",
                found=f"more than {ARCHIVES_MAX} archives", expected="fewer; unpack them first",
            )  # fmt: skip
            yield LeftOut(str(self._path), error=error)
            return
        twins = [one for one in found if one.with_name(archive_stem(one)).exists()]
        yield from (LeftOut(str(one), "unpacked already, beside itself: left out") for one in twins)
        for archive in found:
            if archive not in twins and not is_packed(archive):
                yield from self._inside(archive)
        yield from self._unzipped([one for one in found if one not in twins and is_packed(one)])

    def _inside(self, archive: Path) -> Iterator[FoundRun | LeftOut]:
        """Yield the runs of one archive; an archive that fails does not stop the others."""
        try:
            folder = self._unpacking.unpacked(archive, self._spent)
            one, found = self._looked(folder)
        except UnknownLayout:
            other = (resembled(archive) or resembled(folder)) if self._format == "auto" else None
            yield LeftOut(str(archive), _of_other(other) if other else "an archive without a run: left out")
            return
        except InteropError as error:
            yield LeftOut(str(archive), error=error)
            return
        inner = archive.relative_to(self._path).with_name(archive_stem(archive)).as_posix()
        for each in found:
            name = inner if each.root == folder and not each.file else f"{inner}/{each.name}"
            shown = _shown_inside(each, folder, str(archive))
            yield FoundRun(one, replace(each, name=name, shown=shown), str(archive))

    def _unzipped(self, files_: list[Path]) -> Iterator[FoundRun | LeftOut]:
        """Yield the runs of files that are packed one by one: the rows of a run may stand in several."""
        if not files_:
            return
        folder = self._unpacking.folder(self._path.resolve().name)
        for file in files_:
            name = file.relative_to(self._path).with_suffix("").as_posix()
            try:
                self._unpacking.add(file, folder, self._spent, name)
            except InteropError as error:
                yield LeftOut(str(file), error=error)
        with suppress(UnknownLayout):
            one, found = self._looked(folder)
            for each in found:
                shown = _shown_inside(each, folder, str(self._path))
                yield FoundRun(one, replace(each, shown=shown), str(self._path / each.file))
            return
        yield from (LeftOut(str(file), "a packed file without a run: left out") for file in files_)

    def _looked(self, folder: Path) -> tuple[Importer, list[Candidate]]:
        if self._own is None:
            return _looked_under(self._format, folder, self._options)
        # One folder holds runs of one layout.
        is_asked = self._format != "auto"
        return self._own, list(_found(self._own, folder, self._options, is_asked=is_asked))


def _others(path: Path, own: Iterable[Candidate]) -> Iterator[Path]:
    """Yield the archives of a folder that are no run and lie in no run."""
    runs = {one.root if one.root.is_file() else one.root / one.file for one in own}
    for archive in _archives(path):
        if archive not in runs and not any(parent in runs for parent in archive.parents):
            yield archive


_LOOSE = "table"
"""Layout that any rows of data may have; a run of it is looked for only where no other layout is."""


def _of_other(one: Importer) -> str:
    return f"of the format {one.name}, and a folder is read in one: import it by itself"


def _unclaimed(path: Path, own: Iterable[Candidate]) -> Iterator[Path]:
    """Yield the files of a folder, and the folders in it, that neither are a run nor hold or belong to one.

    Archives are left to others.
    """
    runs = {one.root if one.root.is_file() else one.root / one.file.partition("#")[0] for one in own}
    above = {parent for run in runs for parent in run.parents}
    left = [] if path in runs else [path]
    while left:
        for entry in sorted(left.pop().iterdir()):
            if entry in above:
                left.append(entry)
            elif entry not in runs and not is_archive(entry):
                yield entry


def _shown_inside(candidate: Candidate, folder: Path, archive: str) -> str:
    inner = (candidate.root / candidate.file).relative_to(folder).as_posix()
    return archive if inner == "." else f"{archive}/{inner}"


def _looked_under(format: str, path: Path, options: Options) -> tuple[Importer, list[Candidate]]:
    try:
        one = _chosen(format, path)
        check_options(one, options)
        return one, list(_found(one, path, options, is_asked=format != "auto"))
    except OSError as error:
        raise _unreadable(format, path, error) from error


def _chosen(format: str, path: Path) -> Importer:
    if format != "auto":
        return importer(format)
    found = resembled(path)
    if found is None:
        known = [f"{name}: {importer(name).looks_for}" for name in IMPORTERS]
        kind, listed = kind_of_path(path), "\n".join(["one of these", *known])
        raise _unknown(format, path, kind, listed if is_vague(kind) else "a run that a tool recorded")
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
    is_there = found not in (MISSING, URL)
    wanted = expected if is_there else f"a file or folder{pattern_words(path)}"
    return UnknownLayout(format=format, source=str(path), found=found, expected=wanted)
