"""Files that a client may name: bundles and task files below the folders that the server was started with."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath

import replaykit
from replaykit import Suite, UsageError

BUNDLE_BYTES_MAX = 256 * 2**20
"""Bytes of a bundle, and of the tape beside it, that are read."""

TASK_BYTES_MAX = 8 * 2**20
"""Bytes of a task file that are read."""

BUNDLE = (".zst",)
TASKS = (".yaml", ".yml", ".toml", ".json", ".jsonl")


class Refusal(UsageError):
    """A call that the server refuses, in words of its own: they hold nothing recorded. Fields: what."""


class AllowedFiles:
    """Bundles and task files below some folders, each named by its path relative to its folder.

    With several folders, a name begins with that of its folder: `runs/a.zst`. Links are followed only to
    files below the same folder.
    """

    def __init__(self, folders: Sequence[str | Path]) -> None:
        """Take the folders. Raises Refusal for a path that is no folder, and for two of one name."""
        roots = list(dict.fromkeys(_folder(one) for one in folders))
        names = [""] if len(roots) == 1 else [root.name for root in roots]
        doubled = next((name for name in names if names.count(name) > 1), None)
        if doubled is not None:
            raise Refusal(what=f"--root: two folders are called {doubled!r}; start one server for each")
        self._roots = dict(zip(names, roots, strict=True))

    def runs(self) -> list[str]:
        """Return the names of all bundles, sorted."""
        return sorted(self._runs())

    def runs_after(self, after: str, limit: int) -> tuple[list[str], bool]:
        """Return at most `limit` names that follow `after`, and whether more follow them."""
        names = self.runs()
        first = bisect_right(names, after) if after else 0
        return names[first : first + limit], first + limit < len(names)

    def run(self, name: str) -> Path:
        """Return the path of a bundle. Raises Refusal for anything else."""
        found, root = self._file(name, BUNDLE, BUNDLE_BYTES_MAX, "run")
        tape = found.with_name(found.stem + ".replies.jsonl")  # grading reads it
        if tape.is_symlink() or tape.exists():
            _admit(_resolved(tape, "the tape"), root, BUNDLE_BYTES_MAX, f"the tape of run {name!r}")
        return found

    def suite(self, name: str) -> Suite:
        """Return the tasks of a file, or the one that `FILE#ID` names. Raises Refusal, TaskError."""
        file, mark, id = name.partition("#")
        found, root = self._file(file, TASKS, TASK_BYTES_MAX, "task file")
        return replaykit.load_suite(f"{found}{mark}{id}", within=root)

    def relative(self, text: str) -> str:
        """Return a text in which files have names, and no paths of this machine."""
        for name, root in self._roots.items():
            text = text.replace(f"{root}{os.sep}", f"{name}/" if name else "").replace(str(root), "the root")
        return text

    def _runs(self) -> Iterator[str]:
        for name, root in self._roots.items():
            for folder, _, files in os.walk(root):  # links to folders are not followed
                for file in files:
                    path = Path(folder, file)
                    if path.suffix in BUNDLE and _is_bundle(path, root):
                        yield str(PurePosixPath(name, path.relative_to(root).as_posix()))

    def _file(self, name: str, suffixes: tuple[str, ...], largest: int, kind: str) -> tuple[Path, Path]:
        what = f"{kind} {name!r}"
        # Paths outside are refused before any access: an answer must not reveal which files exist.
        if "\0" in name or PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor:
            raise Refusal(what=f"{what} is not a path below a root; list_runs names the runs")
        root, rest = self._place(name, what)
        found = _resolved(root / rest, what)
        if found.suffix.lower() not in suffixes:
            raise Refusal(what=f"{what} does not end in {' '.join(suffixes)}")
        _admit(found, root, largest, what)
        return found, root

    def _place(self, name: str, what: str) -> tuple[Path, str]:
        if "" in self._roots:
            return self._roots[""], name
        first, _, rest = name.partition("/")
        if first not in self._roots:
            known = ", ".join(f"{root}/" for root in self._roots)
            raise Refusal(what=f"{what} begins with no root; the roots are {known}")
        return self._roots[first], rest


def _folder(named: str | Path) -> Path:
    found = _resolved(Path(named), f"--root {named}")
    if not found.is_dir():
        raise Refusal(what=f"--root {named}: no such folder")
    return found


def _resolved(path: Path, what: str) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:  # Python 3.11 and 3.12 raise RuntimeError for links in a circle
        raise Refusal(what=f"{what} cannot be found: its links lead nowhere") from error


def _is_bundle(path: Path, root: Path) -> bool:
    with suppress(Refusal):
        found = _resolved(path, path.name)
        return found.suffix in BUNDLE and _is_file(found) and found.is_relative_to(root)
    return False


def _is_file(path: Path) -> bool:
    with suppress(OSError):  # a name that is too long for the system, say
        return path.is_file()
    return False


def _admit(found: Path, root: Path, largest: int, what: str) -> None:
    if not found.is_relative_to(root):
        raise Refusal(what=f"{what} lies outside of the root")
    if not _is_file(found):
        raise Refusal(what=f"{what} is not there, or is no regular file; list_runs names the runs")
    size = found.stat().st_size
    if size > largest:
        raise Refusal(what=f"{what} has {size} bytes; this server reads at most {largest}")
