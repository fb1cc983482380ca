"""`replaykit seal`."""

from __future__ import annotations

import click

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.writer import SealResult, seal
from replaykit.cli.console import notice
from replaykit.cli.maintain import completion
from replaykit.errors import BundleError
from replaykit.trajectory.plurals import counted


@click.command(epilog="Example: replaykit seal run.zst")
@click.argument("bundle", shell_complete=completion.files)
def command(bundle: str) -> None:
    """Finish a journal that a crash left behind: every completed step is kept.

    The file is replaced whole, or left as it was. Sealing a sealed bundle changes nothing. A journal whose
    recorder is still alive is refused.
    """
    result = seal(bundle)
    with open_bundle(bundle) as sealed:
        notice(f"{bundle}: {', '.join([_content(sealed, result), *_dropped(result)])}")
    click.echo(f"sha256:{result.digest}")


def _content(sealed: Bundle, result: SealResult) -> str:
    try:
        ending = sealed.ending.kind if sealed.ending else "interrupted"
        return f"{counted(len(sealed.trajectory.steps), 'step')}, {ending}"
    except BundleError:
        # Sealing understands no events, so that none is lost to it.
        return f"{counted(result.events, 'event')}, which cannot all be read: see `replaykit verify`"


def _dropped(result: SealResult) -> list[str]:
    counts = [(result.torn_bytes, "torn bytes"), (result.private, "private records")]
    return [f"{count} {what} dropped" for count, what in counts if count]
