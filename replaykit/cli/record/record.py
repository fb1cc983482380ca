"""`replaykit record`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
from msgspec import Struct

from replaykit.cli.command_groups import SectionedCommand
from replaykit.cli.command_options import COUNT, PATH, option
from replaykit.cli.console import browser_options, end_at_once, harmless, is_debugging, notice, progress
from replaykit.cli.maintain import completion
from replaykit.cli.site_options import parse_sites
from replaykit.errors import OutputExists, UsageError
from replaykit.recorder.agent_entry import load_agent
from replaykit.recorder.agent_runs import (
    BrowserChoice,
    Recorded,
    record_agent,
    record_cdp,
    record_command,
    record_person,
)
from replaykit.recorder.evidence_pages import EvidencePages, as_evidence
from replaykit.recorder.scripted_user import load_user
from replaykit.recorder.settings import refuse_selectors
from replaykit.recorder.suite_runs import (
    SuiteResult,
    TaskChoice,
    choose,
    is_stopped_by_person,
    level_of,
    record_suite,
    runs_of,
    summary,
)
from replaykit.report.text.table import safe
from replaykit.tasks.moved_sites import at_sites
from replaykit.tasks.suite import Suite, load_suite
from replaykit.tasks.task import Sites, Task

FAILED, NOTHING, INTERRUPTED = 3, 4, 130
"""Exit codes of a suite run."""

EXAMPLE = "Example: replaykit record --task suite.yaml#order-total --agent agent:run -o run.zst"

SECTIONS = {
    "Agent": ["agent", "cdp", "user_file", "harness_events", "max_steps", "max_time", "pass_env"],
    "Task": ["task_file", "sites"],
    "Suite": ["suite_file", "level", "task_ids", "per_level", "seed", "limit", "trials"],
    "Browser": ["browser", "channel", "headed", "viewport"],
    "Evidence": ["screenshots", "a11y", "network", "pre_probes", "evidence"],
    "Secrets": ["secret_env", "mask", "keep_headers"],
    "Output": ["output", "force"],
}
"""Heading in the help to its options."""


@click.command(
    cls=SectionedCommand,
    sections=SECTIONS,
    epilog=EXAMPLE,
    context_settings={"ignore_unknown_options": False},
)
@click.argument("url", required=False)
@click.argument("argv", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
@option(
    "-o --output",
    "Bundle to write; missing folders are made. Default: <task id or host>.zst here. With "
    "--suite: the folder of the bundles.",
    type=PATH,
)
@option("--suite FILE", "Record the tasks of this suite, into a folder.", name="suite_file")
@option("--level L", "With --suite: only tasks with this level.")
@option("--task-ids ID,...", "With --suite: only these tasks, separated by commas.")
@option("--per-level N", "With --suite: a sample of N tasks per level.", type=COUNT)
@option("--seed N", "With --per-level: seed of the sample. Default: 42.", type=int)
@option("--limit N", "With --suite: only the first N of the chosen tasks.", type=COUNT)
@option("--trials K", "With --suite: record each task K times. Default: 1.", type=COUNT)
@option(
    "--task FILE[#ID]",
    "Task that the agent gets and the bundle keeps. A file of many tasks needs #ID.",
    name="task_file",
    shell_complete=completion.tasks,
)
@option(
    "--agent MODULE:FUNCTION",
    "Function fn(page, task, run), sync or async. Its module is imported from the current "
    "folder or PYTHONPATH.",
)
@option(
    "--cdp URL",
    "Attach to a running browser, such as http://127.0.0.1:9222, until it closes or you press Ctrl-C.",
)
@option(
    "--site NAME=URL",
    "Root URL of a site of the task, such as shop=http://127.0.0.1:8000; may be given again.",
    name="sites",
    multiple=True,
)
@option(
    "--user FILE", "YAML rules that answer the agent's questions. Default: no one answers.", name="user_file"
)
@option(
    "--harness-events FILE",
    "File of JSON lines in which the harness around a -- COMMAND writes the user's replies "
    "and how the run ended. The command itself does not see it.",
)
@option("--max-steps N", "End the run after N steps. Default: the task's limit, else none.", type=COUNT)
@option(
    "--max-time S",
    "Seconds that the agent may take. Default: no limit.",
    type=click.FloatRange(min=0, min_open=True),
)
@browser_options
@option("--viewport WxH", "Size of the page in CSS pixels.", default="1280x720")
@option("--screenshots", "Take screenshots, or none.", choices=["png", "off"], default="png")
@option("--a11y", "Also keep the accessibility tree of every settled page.")
@option(
    "--network",
    "Keep requests with bodies, without bodies, or not at all.",
    choices=["bodies", "meta", "off"],
    default="bodies",
)
@option(
    "--pre-probes",
    "Read pages before the run as well. auto: those of the task's checks. on: all that "
    "--evidence names. off: none.",
    choices=["auto", "on", "off"],
    default="auto",
)
@option(
    "--evidence task|suite|FILE",
    "Pages to read after the run. task: those of the task's checks. suite: those of every task of its suite "
    "on the same sites. FILE: those of the task and a list of URLs, one per line.",
    default="task",
)
@option(
    "--secret-env NAME",
    "Environment variable whose value (4 characters or more) never reaches the file; may be given again.",
    multiple=True,
)
@option(
    "--pass-env NAME",
    "Environment variable that COMMAND inherits although it holds a secret; may be given again.",
    multiple=True,
)
@option(
    "--mask SELECTOR",
    "CSS selector of elements to mask in texts and to paint over in screenshots, in addition "
    "to password fields; may be given again.",
    multiple=True,
)
@option(
    "--keep-header NAME",
    "Header whose value is kept although it looks like a secret; may be given again.",
    name="keep_headers",
    multiple=True,
)
@option("--force", "Replace what exists at -o.")
@click.pass_context
def command(ctx: click.Context, /, url: str | None, argv: tuple[str, ...], **options: Any) -> None:
    """Record a run into one bundle.

    \b
    Who acts, one of:
      --agent      a Python function in this process
      -- COMMAND   any program. It reads the browser's address from
                   REPLAYKIT_CDP_URL and its task from REPLAYKIT_TASK, and
                   writes thoughts, messages and its answer as JSON lines
                   to the file REPLAYKIT_EVENTS.
      --cdp        the agent of a browser that runs already
      URL          a person, in a window

    If the agent crashes, the run is recorded as crashed and the exit code is 0: grading decides what it is
    worth.

    With --suite, --agent or COMMAND records one bundle per task and trial. Existing bundles are kept. A run
    that fails is reported and skipped (exit 3). Without a matching task the exit code is 4. Ctrl-C ends the
    run, which is kept, and the suite (exit 130).
    """
    end_at_once()
    url, argv = _url_or_command(url, argv)
    wanted = SuiteOptions(**{name: options.pop(name) for name in SuiteOptions.__struct_fields__})
    actor = Actor(url=url, argv=argv, agent=options.pop("agent"), cdp=options.pop("cdp"))
    actor.check()
    if wanted.suite_file is not None:
        ctx.exit(_record_suite(wanted, actor, **options))
    wanted.refuse_any()
    recorded = _record(actor, **options)
    for words in recorded.notices:
        notice(words)
    ended = f"{recorded.kind}" + (f": {recorded.error}" if recorded.error else "")
    answer = "" if recorded.answer is None else f", answer: {recorded.answer!r}"
    notice(f"{recorded.path}: {ended}{answer}")
    _blame(recorded)
    click.echo(f"sha256:{recorded.digest}")


def _blame(recorded: Recorded) -> None:
    if recorded.trace and is_debugging():
        click.echo(harmless(recorded.trace), err=True)
    elif recorded.place:
        notice(f"  at {recorded.place}; --debug shows the traceback")


class Actor(Struct, frozen=True, kw_only=True):
    """The agent of the run: one of four kinds."""

    url: str | None
    argv: tuple[str, ...]
    agent: str | None
    cdp: str | None

    def check(self) -> None:
        """Raise UsageError unless it is exactly one."""
        forms = {"a URL": self.url, "--agent": self.agent, "--cdp": self.cdp, "-- COMMAND": self.argv}
        given = [name for name, value in forms.items() if value]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise UsageError(what=f"choose what to record, with one of {', '.join(forms)}; found {found}")


class SuiteOptions(Struct, frozen=True, kw_only=True):
    """The options of a suite run."""

    suite_file: str | None
    level: str | None
    task_ids: str | None
    per_level: int | None
    seed: int | None
    limit: int | None
    trials: int | None

    def refuse_any(self) -> None:
        """Raise UsageError where an option is given although there is no suite."""
        given = [name for name in self.__struct_fields__ if getattr(self, name) is not None]
        if given:
            raise UsageError(what=f"--{given[0].replace('_', '-')} belongs to --suite FILE")

    def choice(self) -> TaskChoice:
        """Return which tasks are recorded."""
        if self.seed is not None and self.per_level is None:
            raise UsageError(what="--seed belongs to --per-level N")
        return TaskChoice(
            level=self.level,
            ids=tuple(id.strip() for id in (self.task_ids or "").split(",") if id.strip()),
            per_level=self.per_level,
            seed=42 if self.seed is None else self.seed,
            limit=self.limit,
        )


def _record(actor: Actor, output: Path | None, task_file: str | None, **options: Any) -> Recorded:
    suite = load_suite(task_file) if task_file else None
    task = _only_task(suite, task_file)
    out = output or default_name(task, actor.url or actor.cdp)
    if out.is_dir():
        raise UsageError(what=f"-o {out} is a folder; name the file of the bundle")
    if out.suffix != ".zst":
        notice(f"{out} does not end in .zst: commands that take a folder will not find it there")
    if out.exists() and not options["force"]:  # reported before a browser starts
        raise OutputExists(source=str(out), operation="create the bundle")
    return _recorder_of(actor, suite, task_file, **options)(task, out)


def _record_suite(
    wanted: SuiteOptions, actor: Actor, output: Path | None, task_file: str | None, **options: Any
) -> int:
    if actor.url or actor.cdp or task_file or output is None or output.is_file():
        raise UsageError(what="--suite FILE goes with -o FOLDER and --agent or -- COMMAND, without --task")
    suite = load_suite(str(wanted.suite_file))
    runs = runs_of(choose(suite.tasks, wanted.choice()), wanted.trials or 1, output)
    if not runs:
        levels = sorted({level_of(task) for task in suite.tasks} - {""})
        notice(f"{wanted.suite_file}: no task fits; its levels are {', '.join(levels) or 'not given'}")
        return NOTHING
    if actor.agent:
        load_agent(actor.agent)  # one that cannot be loaded fails before the first browser starts
    record = _recorder_of(actor, suite, wanted.suite_file, **options)
    done = []
    with progress("record", len(runs)) as tick:
        force = bool(options["force"])
        for result in record_suite(runs, lambda run: record(run.task, run.path, run.trial), force=force):
            _report(result)
            tick(result.task)
            done.append(result)
    notice(summary(done, len(runs)))
    if done and is_stopped_by_person(done[-1]):
        return INTERRUPTED
    return FAILED if any(result.state == "failed" for result in done) else 0


def _report(result: SuiteResult) -> None:
    name = f"{safe(result.file)}: {safe(result.task)}, trial {result.trial}"
    if result.state == "kept":
        notice(f"{name}: exists, left as it is (--force replaces it)")
        return
    for words in result.notices:
        notice(f"{result.file}: {words}")
    error = f": {safe(result.error)}" if result.error else ""
    if result.state == "failed":
        click.echo(f"failed: {name}{error}", err=True)
    else:
        notice(f"{name}: {result.ending}{error}")
        click.echo(f"{safe(result.file)} sha256:{result.digest}")


def _recorder_of(
    actor: Actor,
    suite: Suite | None,
    task_file: str | None,
    sites: tuple[str, ...],
    user_file: str | None,
    max_time: float | None,
    browser: str | None,
    channel: str | None,
    headed: bool,
    viewport: str,
    evidence: str,
    secret_env: tuple[str, ...],
    pass_env: tuple[str, ...],
    harness_events: str | None,
    **options: Any,
) -> Callable[..., Recorded]:
    """Return what records one task into one file, by the options of the command line."""
    refuse_selectors(options["mask"], "--mask")
    roots = {**(suite.sites if suite else {}), **parse_sites(sites)}
    options |= {
        "sites": roots,
        "user": load_user(user_file) if user_file else None,
        "secrets": declared_secrets(secret_env),
        "evidence": _evidence(evidence, task_file, roots),
    }
    choice = BrowserChoice(path=browser, channel=channel, headed=headed, viewport=_size(viewport))

    if harness_events is not None and not actor.argv:
        raise UsageError(what="--harness-events belongs to -- COMMAND")

    def record(task: Task | None, out: Path, trial: int | None = None) -> Recorded:
        given = {**options, **({} if trial is None else {"run": str(trial)})}
        task = at_sites(task, suite.sites, roots) if task is not None and suite is not None else task
        if actor.cdp:
            return record_cdp(actor.cdp, task, out, **given)
        if actor.url:
            return record_person(actor.url, task, out, browser=choice, **given)
        given |= {"browser": choice, "max_time": max_time}
        if actor.agent:
            return record_agent(actor.agent, task, out, **given)
        return record_command(
            actor.argv, task, out, pass_env=pass_env, harness_events=harness_events, **given
        )

    return record


def default_name(task: Task | None, url: str | None) -> Path:
    """Return `<task id or host>.zst`, with nothing in it that a file name cannot hold."""
    name = task.id if task else (urlsplit(url).hostname if url else None)
    return Path(re.sub(r"[^A-Za-z0-9._-]+", "-", name or "run").lstrip(".-") + ".zst")


def _url_or_command(url: str | None, argv: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    # `record -- COMMAND` and `record URL` look alike to the parser: a URL has a scheme.
    if url is not None and "://" not in url:
        return None, (url, *argv)
    return url, argv


def _only_task(suite: Suite | None, task_file: str | None) -> Task | None:
    if suite is None:
        return None
    if len(suite.tasks) == 1:
        return suite.tasks[0]
    known = ", ".join(task.id for task in suite.tasks[:12])
    raise UsageError(what=f"{task_file} holds {len(suite.tasks)} tasks: pick one with #ID, of {known}")


def _evidence(text: str, task_file: str | None, sites: Sites) -> EvidencePages:
    if text != "suite":
        evidence = as_evidence(text)
    elif task_file is None:
        raise UsageError(what="--evidence suite: name the suite and the task with --task FILE#ID")
    else:
        evidence = as_evidence(load_suite(task_file.partition("#")[0]))
    evidence.pages(sites)  # a site without a root is reported before a browser starts
    return evidence


def declared_secrets(names: Iterable[str]) -> dict[str, str]:
    """Return the values of variables by their names. Raises UsageError for one that is not set."""
    missing = [name for name in names if not os.environ.get(name)]
    if missing:
        raise UsageError(what=f"--secret-env: {', '.join(missing)} is not set")
    return {name: os.environ[name] for name in names}


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{2,5})x(\d{2,5})", text)
    if not found:
        raise UsageError(what=f"--viewport: expected WxH such as 1280x720, got {text!r}")
    return int(found[1]), int(found[2])
