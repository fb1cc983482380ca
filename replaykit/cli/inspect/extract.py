"""`replaykit extract`."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.bundle.extraction import MANIFEST, STORY, extract
from replaykit.cli.command_options import option
from replaykit.cli.console import notice
from replaykit.cli.maintain import completion
from replaykit.errors import UsageError


@click.command(epilog="Example: replaykit extract run.zst -o run/")
@click.argument("bundle", shell_complete=completion.files)
@click.argument("folder", metavar="[DIR]", required=False)
@option(
    "-o --output DIR",
    "Folder to write, another way to name DIR. Default: the name of the bundle without .zst.",
)
@option("--force", "Write into a folder that is not empty, and replace files with the same names.")
def command(bundle: str, folder: str | None, output: str | None, force: bool) -> None:
    """Unpack a bundle into plain files in DIR, which is created if it is missing.

    \b
    trajectory.jsonl  header and events as recorded, one per line
    screenshots/      screenshots as PNG
    dom/              snapshots of pages (docs/snapshot-format.md)
    a11y/ styles/     accessibility trees, style sheets
    bodies/           requests and responses
    replies/ other/   a packed tape; blobs that no event refers to
    manifest.json     digests; blob id to media type and file; written last

    A file name begins with the step and the order within it (003-1-before, 003-2-after). The name of a body
    begins with the number of its exchange. Each blob is written once, under the name of the first event that
    refers to it. Recorded pages are hostile: open their HTML and SVG only in programs that run no scripts.
    """
    if folder is not None and output is not None:
        raise UsageError(what=f"extract writes one folder, got two: {folder} and -o {output}")
    folder = folder or output or _folder_of(bundle)
    result = extract(bundle, folder, force=force)
    counts = ", ".join(f"{number} in {name}/" for name, number in result.files.items())
    notice(f"{folder}: {STORY}, {MANIFEST}" + (f", {counts}" if counts else ""))
    click.echo(f"sha256:{result.digest}")


def _folder_of(bundle: str) -> str:
    name = Path(bundle).name
    if not name.endswith(".zst"):
        raise UsageError(what=f"name the folder to write with -o DIR: {bundle!r} does not end in .zst")
    return name.removesuffix(".zst")
