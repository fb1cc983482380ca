"""`replaykit install-browser`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import click

from replaykit.browser import find_browser
from replaykit.cli.console import notice
from replaykit.errors import NoBrowser

INSTALL_MAX_S = 900
"""Seconds that one way of installing may take; closed networks hang rather than refuse."""


@click.command(epilog="Example: replaykit install-browser")
def command() -> None:
    """Find a browser, or install one: the distribution's Chromium for root, else Playwright's own."""
    try:
        click.echo(find_browser())
        return
    except NoBrowser:
        if os.environ.get("REPLAYKIT_BROWSER"):
            raise  # no other browser would be taken
        notice("no browser found")
    for words in _ways():
        notice("running: " + " ".join(words))
        if _runs(words):
            break
    click.echo(find_browser())


def _ways() -> Iterator[list[str]]:
    if shutil.which("apt-get") and hasattr(os, "geteuid"):
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        if not sudo or shutil.which("sudo"):
            install = "apt-get update && apt-get install -y --no-install-recommends chromium"
            yield [*sudo, "sh", "-c", install]
    yield [sys.executable, "-m", "playwright", "install", "chromium"]


def _runs(words: list[str]) -> bool:
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=sys.stderr, timeout=INSTALL_MAX_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        notice(f"failed: {error}")
        return False
    return done.returncode == 0
