"""`replaykit seal`."""

from __future__ import annotations

import click

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.verification import references
from replaykit.bundle.writer import SealResult, seal
from replaykit.bundle.writer import salvage as salvage_bundle
from replaykit.cli.command_options import option
from replaykit.cli.console import notice
from replaykit.cli.maintain import completion
from replaykit.errors import BundleError
from replaykit.trajectory.plurals import counted


@click.command(epilog="Example: replaykit seal run.zst")
@click.argument("bundle", shell_complete=completion.files)
@option("--salvage NEW", "Write what is whole of a damaged bundle into the new file NEW.")
def command(bundle: str, salvage: str | None) -> None:
    """Finish a journal that a crash left behind: every completed step is kept.

    The file is replaced whole, or left as it was. Sealing a sealed bundle changes nothing. A journal whose
    recorder is still alive is refused.

    A damaged bundle is refused and left as it is. --salvage writes the events before the damage, and all
    blobs that are whole, into a new bundle. A sealed bundle without its end cannot be salvaged.
    """
    result = salvage_bundle(bundle, salvage) if salvage else seal(bundle)
    with open_bundle(result.path) as sealed:
        notice(f"{result.path}: {', '.join([_content(sealed, result), *_dropped(result)])}")
    click.echo(f"sha256:{result.digest}")


def _content(sealed: Bundle, result: SealResult) -> str:
    try:
        ending = sealed.ending.kind if sealed.ending else "interrupted"
        return ", ".join([counted(len(sealed.trajectory.steps), "step"), ending, *_missing(sealed)])
    except BundleError:
        # Sealing interprets no events, so that it loses none.
        return f"{counted(result.events, 'event')}, which cannot all be read: see `replaykit verify`"


def _missing(sealed: Bundle) -> list[str]:
    """Return how many blobs events refer to and the bundle lacks: what rests on them is undecided."""
    run = sealed.trajectory
    named = {id for event in (run.header, *run.events) for id in references(event)}
    lacking = sum(id not in sealed for id in named)
    return [f"{counted(lacking, 'blob')} missing"] if lacking else []


def _dropped(result: SealResult) -> list[str]:
    counts = [(result.torn_bytes, "torn bytes"), (result.private, "private records")]
    lost = [f"{counted(result.lost, 'event')} lost"] if result.lost else []
    return [*lost, *(f"{count} {what} dropped" for count, what in counts if count)]
