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
from replaykit.errors import NoBrowser

PLAYWRIGHT_MIN = (1, 60)
"""Its CDP sessions deliver all events from this release on."""

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
_CORE = ("msgspec", "zstandard", "click", "rich", "PyYAML", "cssselect2", "ada-url")
_EXTRAS = {"playwright": "browser", "anthropic": "judge", "openai": "openai"}


@click.command(epilog="Example: replaykit doctor")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Say what is installed, found and writable.

    Exit 3 where grading cannot work. What recording and models lack (a browser, packages, keys) is a note.
    """
    faults = 0
    for is_fine, words in _findings():
        click.echo(f"{'ok   ' if is_fine else 'FAULT'} {words}")
        faults += not is_fine
    for words in _notes():
        click.echo(f"note  {words}")
    ctx.exit(3 if faults else 0)


def _findings() -> Iterator[tuple[bool, str]]:
    yield True, f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    for package in ("replaykit-web", *_CORE):
        version = _version(package)
        yield version is not None, f"{package} {version or 'is not installed'}"
    yield from _driver()
    yield _is_writable(Path(tempfile.gettempdir())), f"temporary folder {tempfile.gettempdir()}"
    yield _is_writable(Path.cwd()), f"current folder {Path.cwd()}"


def _driver() -> Iterator[tuple[bool, str]]:
    version = _version("playwright")
    if version is not None and _number(version) < PLAYWRIGHT_MIN:
        least = ".".join(map(str, PLAYWRIGHT_MIN))
        yield False, f"playwright {version} delivers no page events: recording needs {least} or newer"


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


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
