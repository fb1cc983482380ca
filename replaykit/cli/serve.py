"""`replaykit serve`."""

from __future__ import annotations

import signal
import threading

import click

from replaykit.bundle.reader import open_bundle
from replaykit.cli.console import notice
from replaykit.http_replay.http_server import Served, serve
from replaykit.report.table import safe


@click.command(epilog="Example: replaykit serve run.zst --port 8000")
@click.argument("bundle")
@click.option(
    "--port",
    default=0,
    type=click.IntRange(0, 65535),
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--site",
    metavar="NAME",
    help="Site of the task, or origin (http://host:port). Needed where the run has several.",
)
@click.option(
    "--state", "states", multiple=True, metavar="PATH",
    help="Path that GET answers with the last JSON that was sent to it (PUT, POST), beside those where the "
    "run shows it; may be given again.",
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, bundle: str, port: int, site: str | None, states: tuple[str, ...]) -> None:
    """Answer HTTP requests on 127.0.0.1 with what a run recorded, until interrupted.

    For programs that judge a run by asking its server: give them the address that is printed. A GET is
    answered with the newest reply recorded, where nothing can have changed since; a request that changes
    something only where the run made the same one. Anything else is a miss (404, or 405), named on stderr
    at the end, with exit code 3: then what the program says of the run does not count.
    """
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    with open_bundle(bundle) as opened, serve(opened, port=port, site=site, states=states) as served:
        click.echo(served.url)  # flushed: whoever waits for it reads a pipe
        over.wait()
        missed = _told(served)
    ctx.exit(3 if missed else 0)


def _told(served: Served) -> int:
    notice(f"{served.answered} answered, {served.missed} not recorded")
    for path in served.assumed:
        notice(f"{safe(path)}: what a POST sent last was taken for its state; --state says that it is")
    for miss in dict.fromkeys(map(str, served.misses)):
        click.echo(f"not recorded: {miss}", err=True)
    return served.missed
