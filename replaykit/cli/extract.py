"""`replaykit extract`."""

from __future__ import annotations

import click

from replaykit.bundle.extraction import MANIFEST, STORY, extract
from replaykit.cli.console import notice


@click.command(epilog="Example: replaykit extract run.zst run/")
@click.argument("bundle")
@click.argument("folder", metavar="DIR")
@click.option("--force", is_flag=True, help="Take a folder that is not empty: replace files of these names.")
def command(bundle: str, folder: str, force: bool) -> None:
    """Write a bundle as plain files into DIR, which is made where it is missing.

    \b
    trajectory.jsonl  header and events, one a line, as recorded
    screenshots/      pictures, captures as PNG
    dom/              snapshots of pages (docs/snapshot-format.md)
    a11y/ styles/     accessibility trees, style sheets
    bodies/           requests and responses
    replies/ other/   a packed tape; what nothing refers to
    manifest.json     digests; blob id to media type and file; written last

    A name begins with the step and an order within it (003-1-before, 003-2-after), that of a body with the
    number of its exchange. Each blob is written once, under the name of the event that refers to it first.
    Recorded pages are not to be trusted: open HTML and SVG from here in nothing that runs scripts.
    """
    result = extract(bundle, folder, force=force)
    counts = ", ".join(f"{number} in {name}/" for name, number in result.files.items())
    notice(f"{folder}: {STORY}, {MANIFEST}" + (f", {counts}" if counts else ""))
    click.echo(f"sha256:{result.digest}")
