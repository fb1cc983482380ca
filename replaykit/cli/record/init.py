"""`replaykit init`."""

from __future__ import annotations

import shlex
from importlib.util import find_spec
from pathlib import Path

import click

from replaykit.cli.command_options import option
from replaykit.cli.console import notice
from replaykit.demo.starter_files import write_starter
from replaykit.report.text.table import safe

TASK = "read-title"
"""The task of the starter file."""


@click.command(epilog="Example: replaykit init my-agent --url https://example.com")
@click.argument(
    "folder",
    required=False,
    metavar="[DIR]",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
)
@option("--url URL", "Root URL of the site that your agent works on.", default="https://example.com")
@option("--force", "Replace existing files.")
def command(folder: Path, url: str, force: bool) -> None:
    """Write a first task, policies and an agent into DIR (default: here), ready to record and grade.

    \b
    tasks.yaml     one task with three checks
    policies.yaml  two policies that hold during every task
    agent.py       an agent that answers the task
    .schema/       JSON Schemas: editors with a YAML language server complete
                   and check the two YAML files by them
    """
    for path in write_starter(folder, url, force=force):
        click.echo(safe(str(path)))
    notice("\n".join(_next(folder)))


def _next(folder: Path) -> list[str]:
    needed = [] if find_spec("playwright") else ["  pip install 'replaykit-web[browser]'"]
    enter = [] if folder == Path() else [f"  cd {shlex.quote(str(folder))}"]
    return [
        "Next:",
        *needed,
        *enter,
        f"  replaykit record --task tasks.yaml#{TASK} --agent agent:run -o run.zst",
        "  replaykit grade run.zst",
    ]
