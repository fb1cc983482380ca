"""`replaykit doctor`."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import click

from replaykit.browser import find_browser
from replaykit.errors import NoBrowser, ReplaykitError

REMEDY = "Name another browser in REPLAYKIT_BROWSER, or install the newest playwright and its Chromium."
"""Advice where a click is not recorded."""

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
_CORE = ("msgspec", "zstandard", "click", "rich", "PyYAML", "cssselect2", "ada-url")
_EXTRAS = {
    "playwright": "browser", "anthropic": "judge", "openai": "openai", "pyarrow": "parquet",
    "inspect-ai": "inspect", "mcp": "mcp", "opentelemetry-sdk": "otel",
}  # fmt: skip


@click.command(epilog="Example: replaykit doctor")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Check what is installed, found and writable, and whether recording works.

    If a browser and its driver are installed, one click is recorded. The exit code is 3 if grading cannot
    work, or if the installed browser does not record. A missing browser, package or key is only a note.
    """
    faults = 0
    for is_fine, words in _findings():
        click.echo(f"{'ok   ' if is_fine else 'FAULT'} {words.replace(chr(10), ' ')}")
        faults += not is_fine
    for words in _notes():
        click.echo(f"note  {words}")
    ctx.exit(3 if faults else 0)


def _findings() -> Iterator[tuple[bool, str]]:
    yield True, f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    for package in ("replaykit-web", *_CORE):
        version = _version(package)
        yield version is not None, f"{package} {version or 'is not installed'}"
    yield from _recording()
    yield _is_writable(Path(tempfile.gettempdir())), f"temporary folder {tempfile.gettempdir()}"
    yield _is_writable(Path.cwd()), f"current folder {Path.cwd()}"


def _recording() -> Iterator[tuple[bool, str]]:
    """Yield whether a click is recorded, where there is what a recording takes."""
    version = _version("playwright")
    if version is None:
        return
    try:
        browser = find_browser()
    except NoBrowser:
        return
    yield _tried(version, browser)


def _tried(version: str, browser: Path) -> tuple[bool, str]:
    from replaykit.recorder.trial_recording import try_recording  # a driver is slow to load

    try:
        tried = try_recording()
    except ReplaykitError as error:
        return False, f"recording with playwright {version} and {browser}: {error.message}"
    about = tried.environment
    named = f"recording with playwright {version} and {about.browser} {about.browser_version}"
    if tried.fault is None:
        return True, f"{named}: one click, and it was recorded"
    return False, f"{named}: {tried.fault}. {REMEDY}"


def _notes() -> Iterator[str]:
    for package, extra in _EXTRAS.items():
        missing = f"is not installed: pip install 'replaykit-web[{extra}]'"
        yield f"{package} {_version(package) or missing}"
    try:
        yield f"browser {find_browser()}"
    except NoBrowser as error:
        yield f"{error.message.replace(chr(10), ' ')} Grading needs none."
    for key in KEYS:
        yield f"{key} is {'set' if os.environ.get(key) else 'not set'}"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _is_writable(folder: Path) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)
