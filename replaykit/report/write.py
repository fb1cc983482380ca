"""One door to every report format."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from replaykit.errors import UsageError
from replaykit.grading.verdict import Report
from replaykit.report.github import as_github
from replaykit.report.html.report_file import HtmlOptions, write_html
from replaykit.report.json_report import as_json, as_jsonl
from replaykit.report.junit import as_junit
from replaykit.report.text import as_text
from replaykit.report.wabe import as_wabe

Sources = Iterable[str | Path]
"""Bundles that show what a report says; only the HTML report looks at them."""

FORMATS: dict[str, Callable[[Report, Sources], bytes]] = {
    "text": lambda report, _: as_text(report).encode(),
    "json": lambda report, _: as_json(report),
    "jsonl": lambda report, _: as_jsonl(report),
    "junit": lambda report, _: as_junit(report),
    "github": lambda report, _: as_github(report),
    "wabe": as_wabe,
    "html": lambda report, sources: as_html(report, sources),  # noqa: PLW0108  # defined below
}
"""Format name to renderer."""

_BY_EXTENSION = {".json": "json", ".jsonl": "jsonl", ".txt": "text", ".html": "html", ".htm": "html"}
_BY_EXTENSION |= {".xml": "junit", ".md": "github"}


def render(report: Report, format: str, sources: Sources = ()) -> bytes:
    """Return the report in a format; unknown names are a `UsageError`."""
    if format not in FORMATS:
        raise UsageError(what=f"no report format {format!r}; there are {', '.join(FORMATS)}")
    return FORMATS[format](report, sources)


def write_report(report: Report, path: str | Path, format: str | None = None, sources: Sources = ()) -> None:
    """Write the report; the format follows the extension unless named. Replaces the file whole.

    `sources`: the bundles graded. HTML and WABE's results show their runs, all others need none.
    """
    file = Path(path)
    if (format or _format_of(file)) == "html":
        write_html_file(report, sources, file)
        return
    data = render(report, format or _format_of(file), sources)
    try:
        replace_file(file, data)
    except OSError as error:
        raise _refused(file, error) from error


def write_html_file(report: Report, sources: Sources, file: Path, options: HtmlOptions | None = None) -> None:
    """Write the HTML report run by run: memory does not grow with them. Replaces the file whole."""
    try:
        with replacing(file) as stream:
            text = io.TextIOWrapper(stream, "utf-8", "replace", newline="\n")
            write_html(report, sources, text, options)
            text.detach()
    except OSError as error:
        raise _refused(file, error) from error


def as_html(report: Report, sources: Sources = ()) -> bytes:
    """Return the HTML report."""
    text = io.StringIO(newline="\n")
    write_html(report, sources, text)
    return text.getvalue().encode("utf-8", "replace")


def replace_file(file: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    with replacing(file) as stream:
        stream.write(data)


@contextlib.contextmanager
def replacing(file: Path) -> Iterator[IO[bytes]]:
    """Give a stream whose content takes the file's place at the end, whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _refused(file: Path, error: OSError) -> UsageError:
    return UsageError(what=f"cannot write {file}: {error.strerror or error}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _format_of(file: Path) -> str:
    try:
        return _BY_EXTENSION[file.suffix.lower()]
    except KeyError:
        known = ", ".join(_BY_EXTENSION)
        raise UsageError(what=f"cannot tell the format of {file}: use {known}, or --format") from None
