"""`replaykit label`."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.cli.bundles import find_bundles
from replaykit.cli.command_options import option
from replaykit.cli.console import notice
from replaykit.cli.maintain import completion
from replaykit.grading.agreement.labels import LabelAnswer
from replaykit.labelling.label_server import label_page
from replaykit.labelling.label_session import LabelSession
from replaykit.replay.player import Replay
from replaykit.report.text.table import safe
from replaykit.trajectory.action import tag_of
from replaykit.trajectory.action_rendering import MESSAGES, render_step

_KEYS: dict[str, LabelAnswer] = {"y": "success", "n": "failure", "u": "unsure", "x": "not_executable"}
"""The keys of the page: a key must not mean something else in the terminal."""


@click.command(epilog="Example: replaykit label runs/ -o labels.jsonl --annotator ada")
@click.argument(
    "bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...", shell_complete=completion.files
)
@option(
    "-o --output",
    "File of labels (JSON lines); new labels are appended.",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
)
@option("--annotator NAME", "Who labels. Runs that this name has labelled are skipped.", required=True)
@option("--seed", "Seed of the order in which runs are shown.", type=int, default=0)
@option(
    "--page/--terminal",
    "Ask on a local page with the screenshots, or in the terminal without them. Default: the page, if "
    "stdin is a terminal.",
    name="on_page",
    is_flag=True,
    default=None,
    show_default=False,
)
@option("--no-open", "Print the address of the page without opening a browser.")
@option(
    "--port", "Port of the page on 127.0.0.1; 0 takes a free one.", type=click.IntRange(0, 65535), default=0
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    bundles: tuple[str, ...],
    output: Path,
    annotator: str,
    seed: int,
    on_page: bool | None,
    no_open: bool,
    port: int,
) -> None:
    """Label each run by hand: success, failure, not executable, unsure.

    Shows task, steps, screenshots and answer on a local page, but no verdict. Every answer is saved at once.
    Runs that this annotator has labelled are skipped; a later call continues.
    """
    sources = find_bundles(bundles)
    session = LabelSession(sources, output, annotator, seed)
    if not sources:
        ctx.exit(4)
    for error in session.unreadable:
        notice(f"left out: {error.message}")
    if not session.unlabelled():
        notice("every run is labelled already")
    elif sys.stdin.isatty() if on_page is None else on_page:
        _label_on_page(session, port, opens=not no_open)
    else:
        _label_in_terminal(session)
    ctx.exit(3 if session.unreadable else 0)


def _label_on_page(session: LabelSession, port: int, *, opens: bool) -> None:
    with label_page(session, port) as page, _interrupts(page.ended):
        click.echo(page.url)  # flushed: whoever waits for it reads a pipe
        notice("Label on this page: ? lists its keys. Ctrl-C ends.")
        if opens:
            click.launch(page.url)
        page.ended.wait()
    notice(session.summary())


@contextmanager
def _interrupts(over: threading.Event) -> Iterator[None]:
    """Set an event where the command is to end, instead of breaking it off."""

    def end(number: int, frame: FrameType | None) -> None:
        over.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _label_in_terminal(session: LabelSession) -> None:
    todo = session.unlabelled()
    for number, place in enumerate(todo, 1):
        with open_bundle(session.source(place)) as bundle:
            _show(bundle, session.source(place), f"{number} of {len(todo)}")
            key = _choice()
            if key == "q":
                break
            note = click.prompt("comment (Enter: none)", default="", show_default=False, err=True)
            session.save(place, bundle, _KEYS[key], note)
    notice(session.summary())


def _show(bundle: Bundle, source: str, place: str) -> None:
    trajectory = bundle.trajectory
    click.echo(f"\nrun {place}: {safe(Path(bundle.name).name)}")
    click.echo(f"task: {safe(str((bundle.header.task or {}).get('intent', '')))}")
    for step in trajectory.steps:
        if tag_of(step.action) not in MESSAGES:
            click.echo(f"  {step.index}. {safe(render_step(step))}")
    answer = trajectory.answer
    click.echo("no answer" if answer is None else f"answer: {safe(answer)}")
    shots = {page.screenshot_id for page in Replay(bundle).pages} - {None}
    if shots:
        where = f"replaykit extract {safe(shlex.quote(source))} DIR"
        click.echo(f"screenshots: {len(shots)}, written by: {where}")


def _choice() -> str:
    key: str = click.prompt(
        "Did it succeed? [y]es, [n]o, [u]nsure, [x] not executable, [q]uit",
        type=click.Choice([*_KEYS, "q"]),
        show_choices=False,
        err=True,
    )
    return key
