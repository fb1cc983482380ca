"""`replaykit mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.cli.command_options import PATH, option
from replaykit.errors import MissingExtra


@click.command(epilog="Example: replaykit mcp --root runs")
@option(
    "--root DIR",
    "Folder whose bundles and task files clients may read, with those below it; may be given again.",
    name="roots",
    type=PATH,
    multiple=True,
    required=True,
)
def command(roots: tuple[Path, ...]) -> None:
    """Serve recorded runs to coding agents by the Model Context Protocol, on standard input and output.

    Offers tools to list runs, show steps, query recorded pages, grade, explain and compare. It writes
    nothing, starts no browser, asks no model, and runs no plug-in and no verifier.
    """
    try:
        from replaykit.integrations.mcp.tool_server import tool_server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "pydantic", "anyio"):
            raise
        raise MissingExtra(package="mcp>=2", extra="mcp", purpose="serving runs to agents") from error
    tool_server(roots).run("stdio")
