"""`replaykit rerun`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from replaykit.cli.command_options import PATH, option
from replaykit.cli.console import browser_options, end_at_once, format_option, notice
from replaykit.cli.maintain import completion
from replaykit.cli.record.record import declared_secrets
from replaykit.cli.site_options import parse_sites
from replaykit.errors import UsageError
from replaykit.recorder.agent_runs import BrowserChoice, Recorded
from replaykit.report.json_text import json_text
from replaykit.reruns.allowed_addresses import parse_url_map
from replaykit.reruns.live_rerun import PATIENCE_S, rerun
from replaykit.reruns.rerun_diff import GATED, KINDS, Rerun
from replaykit.reruns.rerun_text import rerun_text
from replaykit.tasks.suite import load_suite
from replaykit.tasks.task import Task

UNABLE, INTERRUPTED = 3, 130
"""Exit codes."""

EXAMPLE = "Example: replaykit rerun run.zst --site shop=http://127.0.0.1:8000 -o again.zst"


@click.command(epilog=EXAMPLE)
@click.argument("bundle", shell_complete=completion.files)
@option("-o --output", "Bundle of the new run. Default: <BUNDLE>-rerun.zst.", type=PATH)
@option(
    "--site NAME=URL",
    "Current root URL of a site of the recording; may be given again.",
    name="sites",
    multiple=True,
)
@option(
    "--url-map OLD=NEW", "A recorded root URL and its current replacement; may be given again.", multiple=True
)
@option("--allow URL", "A recorded root URL that may be opened unchanged; may be given again.", multiple=True)
@option(
    "--task FILE[#ID]",
    "Record this task with the new run, so that it can be graded. Default: only the id and "
    "intent of the recorded task.",
    name="task_file",
    shell_complete=completion.tasks,
)
@option(
    "--fill STEP=NAME",
    "Environment variable with the text of a step whose own text was masked, such as a "
    "password; may be given again.",
    multiple=True,
)
@option(
    "--upload STEP=FILE",
    "File that a step uploads; recordings do not contain uploaded files. One step may have "
    "several; may be given again.",
    multiple=True,
)
@option(
    "--secret-env NAME",
    "Environment variable whose value replaces the secret of that name; may be given again.",
    multiple=True,
)
@option(
    "--timeout S",
    "Seconds to wait for the target of a step.",
    name="patience",
    type=click.FloatRange(min=0, min_open=True),
    default=PATIENCE_S,
)
@option(
    "--max-time S",
    "Seconds for all steps together. Default: no limit.",
    type=click.FloatRange(min=0, min_open=True),
)
@option(
    "--fail-on KIND,...",
    f"What counts as a divergence, separated by commas: {', '.join(KINDS)}.",
    default=",".join(GATED),
)
@browser_options
@option("--force", "Replace an existing file.")
@format_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    bundle: str,
    output: Path | None,
    task_file: str | None,
    sites: tuple[str, ...],
    url_map: tuple[str, ...],
    fill: tuple[str, ...],
    upload: tuple[str, ...],
    secret_env: tuple[str, ...],
    fail_on: str,
    browser: str | None,
    channel: str | None,
    headed: bool,
    format: str,
    **options: Any,
) -> None:
    """Re-execute a recorded run on a live site, record it, and report where the two diverge.

    Only pages under a named root URL are opened. The rerun ends at the first step that cannot be executed,
    because later actions would no longer be those of the recording. The exit code is 1 if the runs diverge,
    and 3 if a step could not be attempted or the new run broke off.
    """
    end_at_once()
    kinds = _kinds(fail_on)
    found, recorded = rerun(
        bundle,
        output or Path(Path(bundle).name.removesuffix(".zst") + "-rerun.zst"),
        sites=parse_sites(sites),
        url_map=parse_url_map(url_map),
        task=_task(task_file),
        fill=_texts(fill),
        upload=_files(upload),
        secrets=declared_secrets(secret_env),
        browser=BrowserChoice(path=browser, channel=channel, headed=headed),
        **options,
    )
    click.echo(rerun_text(found, kinds) if format == "text" else json_text(found, 2) + b"\n", nl=False)
    for words in recorded.notices:
        notice(words)
    notice(f"{recorded.path} {found.rerun}")
    ctx.exit(exit_code(found, recorded, kinds))


def exit_code(found: Rerun, recorded: Recorded, kinds: tuple[str, ...]) -> int:
    """Return 0; 1 where the runs diverge, 3 where not every step could be done, 130 after Ctrl-C."""
    if (recorded.kind, recorded.cause) == ("stopped", "person"):
        return INTERRUPTED
    if found.diverges_at(kinds) is not None:
        return 1
    return UNABLE if any(row.state not in ("done", "skipped") for row in found.rows) else 0


def _kinds(text: str) -> tuple[str, ...]:
    kinds = tuple(filter(None, (word.strip() for word in text.split(","))))
    unknown = [word for word in kinds if word not in KINDS]
    if unknown:
        raise UsageError(what=f"--fail-on: no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
    return kinds


def _task(file: str | None) -> Task | None:
    tasks = load_suite(file).tasks if file else ()
    if len(tasks) > 1:
        raise UsageError(what=f"{file} holds {len(tasks)} tasks: pick one with #ID")
    return tasks[0] if tasks else None


def _texts(given: Iterable[str]) -> dict[int, str]:
    found = {}
    for step, name in _of_steps("--fill: expected STEP=NAME of a variable", given):
        if not os.environ.get(name):
            raise UsageError(what=f"--fill: {name} is not set")
        found[step] = os.environ[name]
    return found


def _files(given: Iterable[str]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for step, name in _of_steps("--upload: expected STEP=FILE", given):
        found.setdefault(step, []).append(name)
    return found


def _of_steps(expected: str, given: Iterable[str]) -> Iterator[tuple[int, str]]:
    for text in given:
        step, _, rest = text.partition("=")
        if not step.isdecimal() or len(step) > 6 or not rest:
            raise UsageError(what=f"{expected}, got {text!r}")
        yield int(step), rest
