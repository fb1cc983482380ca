"""`replaykit mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.errors import MissingExtra


@click.command(epilog="Example: replaykit mcp --root runs")
@click.option(
    "--root",
    "roots",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder whose bundles and task files clients may read, with those below it; may be given again.",
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
