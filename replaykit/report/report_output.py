"""One door to every report format."""

from __future__ import annotations

import contextlib
import errno
import io
import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from replaykit.errors import BundleWriteError, UsageError, write_refused
from replaykit.file_types import DEVICE, READ_ONLY, is_device, is_writable, kind_of
from replaykit.grading.verdict import Report
from replaykit.report.report_formats import BY_EXTENSION, FORMATS, IN_PARTS, OnRun, UndecidedTag

if TYPE_CHECKING:
    from replaykit.bundle.reader import Bundle
    from replaykit.report.html.report_file import HtmlOptions

Sources = Iterable[str | Path]
"""Bundles that show what a report is about; only the HTML report looks at them."""

_SHOWING_RUNS = ("wabe", "html")


def render(
    report: Report,
    format: str,
    sources: Sources = (),
    *,
    has_fallback: bool = True,
    tasks: str | None = None,
    junit_undecided: UndecidedTag = "error",
) -> bytes:
    """Return a report in one of the report formats. Raises UsageError for an unknown format.

    `format`: see `write_report`. `sources`: the graded bundles. `has_fallback`: in the results of WABE, the
    agent's own end replaces a judge that gave no verdict. `tasks`: the task file; JUnit then names it with
    the line of each check and policy. `junit_undecided`: see `write_report`.
    """
    if format not in FORMATS:
        raise UsageError(what=f"no report format {format!r}; there are {', '.join(FORMATS)}")
    module, name = FORMATS[format]
    renderer = getattr(import_module(module), name)
    options: dict[str, Any] = {"has_fallback": has_fallback} if format == "wabe" else {}
    if format == "junit":
        options["undecided"] = junit_undecided
        from replaykit.report.task_file_lines import task_file  # for JUnit only

        options["tasks"] = None if tasks is None else task_file(tasks)
    shown = (report, sources) if format in _SHOWING_RUNS else (report,)
    rendered: str | bytes = renderer(*shown, **options)
    return rendered.encode() if isinstance(rendered, str) else rendered


def write_report(
    report: Report,
    path: str | Path,
    format: str | None = None,
    sources: Sources = (),
    *,
    has_fallback: bool = True,
    tasks: str | None = None,
    junit_undecided: UndecidedTag = "error",
    on_run: OnRun | None = None,
) -> None:
    """Write a report to a file, which is replaced as a whole.

    `format`: `text json jsonl csv junit github wabe html`; default: by the extension of `path`. `sources`:
    the graded bundles, which `html` and `wabe` show. `has_fallback`: in the results of WABE, the agent's own
    end replaces a judge that gave no verdict. `tasks`: the task file; JUnit names it with the line of each
    check. `junit_undecided`: what JUnit calls a case that could not be decided: `error`, `failure` or
    `skipped`. `on_run`: called with the name of each run written to HTML. Raises UsageError for an unknown
    format or an invalid place.

    Example:
        report = replaykit.grade_many(["runs/"])
        replaykit.write_report(report, "report.html", sources=["runs/"])
    """
    if not isinstance(report, Report):
        raise UsageError(
            what=f"write_report takes a Report, as grade_many returns it, got {type(report).__name__}"
        )
    file = Path(path)
    form = format or _format_of(file)
    if form == "html":
        write_html_file(report, sources, file, on_run=on_run)
    elif form in IN_PARTS:
        module, name = IN_PARTS[form]
        write_parts(file, getattr(import_module(module), name)(report))
    else:
        rendered = render(
            report, form, sources,
            has_fallback=has_fallback, tasks=tasks, junit_undecided=junit_undecided,
        )  # fmt: skip
        write_file(file, rendered)


def check_place(path: str | Path, format: str | None = None) -> None:
    """Raise where a report cannot be written: UsageError for its place, BundleWriteError for its rights."""
    file = Path(path)
    if format is None:
        _format_of(file)
    if not file.parent.is_dir():
        raise UsageError(what=f"cannot write {file}: there is no folder {file.parent}; make it first")
    if (kept := _kept(file)) is not None:
        raise UsageError(what=f"cannot write {file}: {kept}")
    if not is_writable(file):
        raise BundleWriteError(source=str(file), operation="write", reason=READ_ONLY)


def _kept(file: Path) -> str | None:
    """Return why a report must not take a file's place."""
    if is_device(file):
        return DEVICE
    return "it is a bundle, which this would replace" if kind_of(file) == "a bundle" else None


def write_html_file(
    report: Report,
    sources: Sources,
    file: Path,
    options: HtmlOptions | None = None,
    on_run: OnRun | None = None,
) -> None:
    """Write the HTML report run by run: memory does not grow with them. Replaces the file whole."""
    from replaykit.report.html.report_file import write_html

    with _page(file) as text:
        write_html(report, sources, text, options, on_run)


def write_parting_file(before: Bundle, after: Bundle, names: tuple[str, str], file: Path) -> None:
    """Write what lies between two runs as HTML; `names` say which is which. Replaces the file whole."""
    from replaykit.report.html.run_diff_file import write_run_diff

    with _page(file) as text:
        write_run_diff(before, after, names, text)


def write_file(file: Path, data: bytes) -> None:
    """Write a file whole or not at all. Raises UsageError for a wrong place, BundleWriteError."""
    write_parts(file, [data])


def write_parts(file: Path, parts: Iterable[bytes]) -> None:
    """Write a file whole or not at all, part by part; raises as `write_file` does."""
    try:
        with replacing(file) as stream:
            stream.writelines(parts)
    except OSError as error:
        raise write_refused(file, "write", error) from error


def replace_file(file: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    with replacing(file) as stream:
        stream.write(data)


_NAME_MAX = 50
"""Characters of a name that the file beside it takes: a long name has no room for more."""


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[IO[bytes]]:
    """Give a stream whose content takes the file's place at the end, whole or not at all."""
    import tempfile  # for reports in files

    if (kept := _kept(file)) is not None:
        raise OSError(errno.ENOTSUP, kept)
    handle, name = tempfile.mkstemp(prefix=f".{file.name[:_NAME_MAX]}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


@contextlib.contextmanager
def _page(file: Path) -> Iterator[IO[str]]:
    """Give a stream for HTML; lone surrogates of recorded words become `?`."""
    try:
        with replacing(file) as stream:
            text = io.TextIOWrapper(stream, "utf-8", "replace", newline="\n")
            yield text
            text.detach()
    except OSError as error:
        raise write_refused(file, "write", error) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _format_of(file: Path) -> str:
    try:
        return BY_EXTENSION[file.suffix.lower()]
    except KeyError:
        known = ", ".join(BY_EXTENSION)
        raise UsageError(what=f"cannot determine the format of {file}: use {known}, or --format") from None
