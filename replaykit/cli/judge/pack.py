"""`replaykit pack`."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.cli.command_options import PATH, option
from replaykit.grading.judges.tape.packed_tape import pack


@click.command(epilog="Example: replaykit pack run.zst -o run.packed.zst")
@click.argument("bundle", type=click.Path(path_type=Path))
@option("-o --output", "Bundle to write.", type=click.Path(dir_okay=False, path_type=Path), required=True)
@option("--replies", "Tape. Default: the one beside the bundle.", type=PATH)
@option("--force", "Replace an existing file.")
def command(bundle: Path, output: Path, replies: Path | None, force: bool) -> None:
    """Write a bundle that contains its tape. The source is not changed."""
    click.echo(f"sha256:{pack(bundle, output, replies=replies, force=force).digest}")
