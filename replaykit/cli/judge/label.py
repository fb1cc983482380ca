"""`replaykit label`."""

from __future__ import annotations

import random
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.cli.bundles import find_bundles
from replaykit.cli.console import notice
from replaykit.cli.maintain import completion
from replaykit.errors import UsageError
from replaykit.grading.agreement.labels import Label, Said, append_label, read_labels
from replaykit.replay.player import Replay
from replaykit.report.text.table import safe
from replaykit.trajectory.action import tag_of
from replaykit.trajectory.counted import counted
from replaykit.trajectory.rendering import MESSAGES, render_step

_KEYS: dict[str, Said] = {"s": "success", "f": "failure", "n": "not_executable", "u": "unsure"}


@click.command(epilog="Example: replaykit label runs/ -o labels.jsonl --annotator ada")
@click.argument(
    "bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...", shell_complete=completion.files
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of labels (JSON lines); new labels are appended.",
)
@click.option(
    "--annotator",
    required=True,
    metavar="NAME",
    help="Who labels. Runs that this name has labelled are skipped.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the order in which runs are shown.",
)
@click.pass_context
def command(ctx: click.Context, /, bundles: tuple[str, ...], output: Path, annotator: str, seed: int) -> None:
    """Label each run by hand: success, failure, not executable, unsure.

    Shows task, steps and answer, and how to see the screenshots, but no verdict. Runs that this annotator
    has labelled are skipped. q quits; a later call continues.
    """
    who = annotator.strip()
    if not who:
        raise UsageError(what="--annotator: expected a name, got blanks")
    sources = find_bundles(bundles)
    if not sources:
        ctx.exit(4)
    todo = _open_runs(sources, output, who, seed)
    for place, source in enumerate(todo, 1):
        with open_bundle(source) as bundle:
            _show(bundle, source, f"{place} of {len(todo)}")
            label = _asked(bundle, who)
        if label is None:
            return
        append_label(output, label)
    notice(f"{counted(len(todo), 'run')} labelled" if todo else "every run is labelled already")
    ctx.exit(0)


def _open_runs(sources: Sequence[str], output: Path, annotator: str, seed: int) -> list[str]:
    """Return the runs that this annotator has not labelled, in an order that says nothing about them."""
    said = read_labels(output).labels if output.exists() and output.stat().st_size else ()
    known = {label.trajectory for label in said if label.annotator == annotator}
    by_digest: dict[str, str] = {}
    for source in sources:
        with open_bundle(source) as bundle:
            by_digest.setdefault(bundle.digest, source)
    order = sorted(by_digest)
    random.Random(seed).shuffle(order)
    return [by_digest[digest] for digest in order if digest not in known]


def _show(bundle: Bundle, source: str, place: str) -> None:
    trajectory = bundle.trajectory
    click.echo(f"\nrun {place}: {safe(Path(bundle.name).name)}")
    click.echo(f"task: {safe(str((bundle.header.task or {}).get('intent', '')))}")
    for step in trajectory.steps:
        if tag_of(step.action) not in MESSAGES:
            click.echo(f"  {step.index}. {safe(render_step(step))}")
    answer = trajectory.answer
    click.echo("no answer" if answer is None else f"answer: {safe(answer)}")
    pictures = {page.screenshot_id for page in Replay(bundle).pages} - {None}
    if pictures:
        where = f"replaykit extract {safe(shlex.quote(source))} DIR"
        click.echo(f"pictures: {len(pictures)}, written by: {where}")


def _asked(bundle: Bundle, annotator: str) -> Label | None:
    key = click.prompt(
        "[s]uccess, [f]ailure, [n]ot executable, [u]nsure, [q]uit",
        type=click.Choice([*_KEYS, "q"]),
        show_choices=False,
        err=True,
    )
    if key == "q":
        return None
    note = click.prompt("why", default="", show_default=False, err=True)
    return Label(
        trajectory=bundle.digest,
        label=_KEYS[key],
        annotator=annotator,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        note=note.strip(),
        task=str((bundle.header.task or {}).get("id", "")),
    )
