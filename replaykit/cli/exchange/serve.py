"""`replaykit serve`."""

from __future__ import annotations

import signal
import threading

import click

from replaykit.bundle.reader import open_bundle
from replaykit.cli.command_options import option
from replaykit.cli.console import notice
from replaykit.cli.maintain import completion
from replaykit.http_replay.http_server import Served, serve
from replaykit.report.text.table import safe


@click.command(epilog="Example: replaykit serve run.zst")
@click.argument("bundle", shell_complete=completion.files)
@option("--port", "Port to listen on; 0 takes a free one.", type=click.IntRange(0, 65535), default=0)
@option("--site NAME", "Site of the task, or origin (http://host:port). Needed if the run has several.")
@option(
    "--state PATH",
    "Path that GET answers with the last JSON sent to it (PUT, POST), in addition to those that the run "
    "shows; may be given again.",
    name="states",
    multiple=True,
)
@click.pass_context
def command(ctx: click.Context, bundle: str, port: int, site: str | None, states: tuple[str, ...]) -> None:
    """Serve the recorded HTTP replies of a run on 127.0.0.1, until interrupted.

    For programs that judge a run by asking its server: give them the printed address.

    \b
    GET               the newest recorded reply, if nothing can have changed since
    PUT, POST, ...    the recorded reply, if the run made the same request
    anything else     404 or 405; listed on stderr at the end, exit code 3:
                      the program's result then does not count
    """
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    with open_bundle(bundle) as opened, serve(opened, port=port, site=site, states=states) as served:
        click.echo(served.url)  # flushed: whoever waits for it reads a pipe
        over.wait()
        missed = _report(served)
    ctx.exit(3 if missed else 0)


def _report(served: Served) -> int:
    notice(f"{served.answered} answered, {served.missed} not recorded")
    for path in served.assumed:
        notice(f"{safe(path)}: what a POST sent last was taken for its state; --state declares it")
    for miss in dict.fromkeys(map(str, served.misses)):
        click.echo(f"not recorded: {miss}", err=True)
    return served.missed
