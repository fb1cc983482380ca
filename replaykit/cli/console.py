"""Options and notices that commands share.

Progress and notices go to stderr, only where somebody looks.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import click

from replaykit.cli.command_options import option
from replaykit.file_types import URL, is_url
from replaykit.report.text.table import safe

format_option = option("--format", "Format on stdout.", choices=["text", "json"], default="text")
"""Of commands that say what they found in words or as data."""


def browser_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that choose its browser."""
    program = option(
        "--browser PATH",
        "Browser program. Default: REPLAYKIT_BROWSER, then --channel, then Playwright's own "
        "build, then the first one on PATH.",
    )
    channel = option(
        "--channel NAME", "Browser on PATH by its name: chromium, chrome, chrome-beta or msedge."
    )
    headed = option("--headed", "Show the browser window.")
    # The last one applied comes first in the help.
    return program(channel(headed(command)))


Tick = Callable[[str], None]
"""Called after each piece of work with a few words about it."""


def notice(words: str) -> None:
    """Say something on stderr, unless `--quiet`."""
    if not _settings().get("quiet"):
        click.echo(harmless(words), err=True)


def detail(words: str) -> None:
    """Say something on stderr with `--verbose`."""
    if _settings().get("verbose"):
        click.echo(harmless(words), err=True)


def is_debugging() -> bool:
    """Whether tracebacks are asked for with `--debug`."""
    return bool(_settings().get("debug"))


def harmless(words: str) -> str:
    """Return lines without anything that a terminal would obey: names of files are untrusted."""
    return "\n".join(map(safe, words.splitlines()))


@contextmanager
def progress(title: str, total: int) -> Iterator[Tick]:
    """Show a bar with rate and time left while stderr is a terminal; nothing otherwise."""
    if total < 2 or _settings().get("quiet") or not sys.stderr.isatty():
        yield lambda words: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        # Ids of tasks are untrusted: neither markup nor anything that a terminal would obey.
        TextColumn("{task.fields[words]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, words="")
        yield lambda words: bar.update(task, advance=1, words=harmless(words))


def _settings() -> dict[str, bool]:
    context = click.get_current_context(silent=True)
    return (context.find_root().obj or {}) if context else {}


NEAR_MAX = 1000
"""Names of a folder that are compared with that of a missing file."""


# Windows has no SIGHUP.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""Signals by which others ask the program to end."""


def end_at_once() -> None:
    """Let SIGTERM and SIGHUP end a recording at once, as a crash does: its file is whole at every moment.

    Only a person ends a run with Ctrl-C. Whoever sends another signal is no person, and its end is unknown.
    """
    for number in ENDING:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def near_file(error: Exception) -> str:
    """Return the line that suggests a file of a similar name, for a file that is missing."""
    named = getattr(error, "fields", {}).get("source")
    path = Path(str(named or "").partition("#")[0])
    is_missing = "no such file" in str(error).lower()  # a message may name a file without its folder
    if not named or not is_missing or os.path.lexists(path):
        return ""
    if is_url(path):
        return f"\nit is {URL}"
    if not path.parent.is_dir():
        return ""
    from difflib import get_close_matches  # loaded here: only a typing mistake pays for it

    near = get_close_matches(path.name, [one.name for one in islice(path.parent.iterdir(), NEAR_MAX)], 1, 0.7)
    return "".join(f"\ndid you mean {path.parent / one}?" for one in near)
