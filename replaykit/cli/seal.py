"""`replaykit seal`."""

from __future__ import annotations

import click

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import seal
from replaykit.cli.console import notice


@click.command(epilog="Example: replaykit seal run.zst")
@click.argument("bundle")
def command(bundle: str) -> None:
    """Finish a journal that a crash left behind: every completed step is kept.

    The file is replaced whole, or left as it was. Sealing a sealed bundle changes nothing.
    """
    result = seal(bundle)
    with open_bundle(bundle) as sealed:
        steps = len(sealed.trajectory.steps)
        ending = sealed.ending.kind if sealed.ending else "interrupted"
    notice(
        f"{bundle}: {steps} steps, {ending}"
        + (f", {result.torn_bytes} torn bytes dropped" if result.torn_bytes else "")
    )
    click.echo(f"sha256:{result.digest}")
