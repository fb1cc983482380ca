"""`replaykit import`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import Any

import click

from replaykit.cli.command_options import COUNT, FOLDER, PATH, option
from replaykit.cli.console import harmless, notice, progress
from replaykit.cli.maintain import completion
from replaykit.cli.record.record import declared_secrets
from replaykit.errors import ReplaykitError, UnknownLayout, UsageError
from replaykit.file_types import URL, WRITTEN_MAX, read_whole
from replaykit.interop.archives.unpacked_archives import is_archive
from replaykit.interop.har.har_merge import join_har
from replaykit.interop.imported_run import Options
from replaykit.interop.registry import matrix
from replaykit.interop.run_import import ImportResult, import_runs
from replaykit.interop.source_files import SourceLimits
from replaykit.interop.table.table_columns import check_columns
from replaykit.interop.text_actions import check_wordings
from replaykit.interop.unreadable.path_kinds import MISSING
from replaykit.report.json_text import json_text
from replaykit.report.text.table import safe, table
from replaykit.tasks.suite import load_suite
from replaykit.tasks.yaml_text import parsed_yaml, words_of
from replaykit.trajectory.plurals import counted

FAILED, NOTHING = 3, 4
"""Exit codes."""


@click.command(epilog="Example: replaykit import webvoyager results/ -o runs/")
@click.argument("format", required=False, metavar="FORMAT", shell_complete=completion.import_formats)
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(path_type=Path))
@option("-o --output", "Folder for the bundles, made if it is missing.", type=FOLDER)
@option(
    "--list",
    "List what each format contains and which files it looks for, and import nothing.",
    name="is_list",
)
@option("--json", "With --list: print JSON.", name="is_json")
@option(
    "--jobs N", "Number of processes; each reads one run at a time.", type=click.IntRange(1, 256), default=1
)
@option("--force", "Replace existing bundles.")
@option("--into BUNDLE", "har: match the file with this run by time, in a copy of the run in the folder -o.")
@option(
    "--task FILE[#ID]",
    "Take the tasks from this file, by their ids.",
    name="task_file",
    shell_complete=completion.tasks,
)
@option(
    "--mode",
    "webvoyager: read carefully (strict), or as the benchmark's own reader does (compat).",
    choices=["strict", "compat"],
    default="strict",
)
@option("--max-iter N", "webvoyager: number of turns after which the harness stopped an agent.", type=COUNT)
@option(
    "--shots DIR",
    "agentrewardbench, browser-use, cuaverifierbench, table: folder with the screenshots, "
    "if they are elsewhere.",
    type=PATH,
)
@option("--judgements DIR", "agentrewardbench: folder of judgements.", type=PATH)
@option(
    "--sidecar FILE",
    "playwright-trace: JSON with what a trace lacks: task, answer, thoughts, messages.",
    type=PATH,
)
@option(
    "--url-event TAG",
    "rrweb: tag of the custom events that carry a new URL; pushState leaves no event of its own.",
)
@option(
    "--tools FILE",
    "harbor, inspect, atif, run-jsonl, playwright-mcp, stagehand: YAML that maps foreign "
    "tool names to actions.",
    type=PATH,
)
@option(
    "--actions FILE",
    "YAML that maps wordings with {places} to actions, for the formats that take it (--list).",
    type=PATH,
)
@option(
    "--columns FILE",
    "table: YAML that maps fields (run, intent, action, screenshot_after, ...) to columns.",
    type=PATH,
)
@option("--keep-secrets", "Keep typed passwords in clear text.", name="keeps_secrets")
@option(
    "--secret-env NAME", "Environment variable whose value is removed; may be given again.", multiple=True
)
@option(
    "--limit NAME=N",
    "Raise a limit of the reader, such as member=200000000 (bytes) or steps=5000; may be given again.",
    name="limits",
    multiple=True,
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    format: str | None,
    paths: tuple[Path, ...],
    output: Path | None,
    is_list: bool,
    is_json: bool,
    force: bool,
    jobs: int,
    into: str | None,
    task_file: str | None,
    secret_env: tuple[str, ...],
    limits: tuple[str, ...],
    tools: Path | None,
    actions: Path | None,
    columns: Path | None,
    **others: Any,
) -> None:
    """Convert runs of other tools to bundles. What a format does not contain is graded UNDECIDED.

    FORMAT is a name from `--list`, or `auto`. PATH is a run, or a folder of runs. Nothing in a source is
    executed or fetched. A run that cannot be read is reported and skipped (exit 3). If there is no run at
    all, the exit code is 4.
    """
    if is_list:
        click.echo(_listed(is_json), nl=False)
        return
    if format is None or not paths or output is None:
        raise lacking("import", {"FORMAT": format, "PATH...": paths, "-o DIR": output})
    options = Options(
        suite=load_suite(task_file) if task_file else None,
        secrets=declared_secrets(secret_env),
        limits=_limits(limits),
        tools=_tools(tools),
        actions=_actions(actions),
        columns=check_columns(_yaml("--columns", columns)),
        **others,
    )
    if into is not None:
        _join(format, paths, into, output, options, force=force)
        return
    with ExitStack() as stack:
        pace = Pace(stack)
        done = import_runs(
            format, paths, output, options=options, force=force, jobs=jobs,
            on_found=pace.begin, on_run=pace.report,
        )  # fmt: skip
    _exit(ctx, done)


class Pace:
    """How far an import of many runs is: a bar on a terminal, else a line a minute."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._total, self._done = 0, 0
        self._began = self._reported = monotonic()
        self._tick: Callable[[str], None] = lambda _: None

    def begin(self, total: int) -> None:
        """Take the number of runs."""
        self._total = total
        self._tick = self._stack.enter_context(progress("import", total))

    def report(self, one: ImportResult) -> None:
        """Report what became of a run, and how far the import is."""
        _report(one)
        self._done += 1
        self._tick(Path(one.source).name)
        now = monotonic()
        if now - self._reported >= EVERY_S and self._done < self._total and not sys.stderr.isatty():
            self._reported = now
            notice(pace_line(self._done, self._total, now - self._began))


EVERY_S = 60
"""Seconds between two lines that say how far an import is."""


def pace_line(done: int, total: int, seconds: float) -> str:
    """Return how far an import is, its rate and the time left."""
    rate = done / seconds if seconds > 0 else 0.0
    left = f", {(total - done) / rate:.0f} s left" if rate else ""
    return f"{done} of {total} runs, {rate:.1f} a second{left}"


def lacking(command: str, given: Mapping[str, object]) -> UsageError:
    """Return the error of a command that needs all of these, or --list."""
    *first, last = given
    missing = ", ".join(name for name, value in given.items() if not value)
    return UsageError(what=f"{command} takes {', '.join(first)} and {last}, or --list; missing: {missing}")


def _join(
    format: str, paths: tuple[Path, ...], into: str, output: Path, options: Options, *, force: bool
) -> None:
    if format != "har" or len(paths) != 1 or options.suite is not None:
        raise UsageError(what="--into BUNDLE goes with FORMAT har and one file, without --task")
    _report(join_har(paths[0], into, output, options=options, force=force))


def _report(one: ImportResult) -> None:
    if one.error is not None:
        report_failure(one.error)
    elif one.state == "left":
        pass  # its warning gives the reason
    elif one.state == "kept":
        notice(f"{one.path}: exists, left as it is (--force replaces it)")
    else:
        click.echo(f"{safe(one.path)} sha256:{one.digest}")
    for words in one.warnings:
        notice(f"{one.source}: {words}")


def report_failure(error: ReplaykitError) -> None:
    """Report on stderr why one of many failed."""
    click.echo("failed: " + harmless(error.message).replace("\n", "\n  "), err=True)


def _exit(ctx: click.Context, done: list[ImportResult]) -> None:
    failed = sum(one.state == "failed" for one in done)
    kept = sum(one.state == "kept" for one in done)
    were = f", {kept} left as they were" if kept else ""
    were += _archives(done)
    notice(f"{sum(one.state == 'imported' for one in done)} imported, {failed} failed{were}")
    is_nothing = all(
        isinstance(one.error, UnknownLayout) and one.error.fields["found"] not in (MISSING, URL)
        for one in done
    )
    ctx.exit(NOTHING if is_nothing else FAILED if failed else 0)


def _archives(done: list[ImportResult]) -> str:
    """Return how many archives were unpacked, and what was left out."""
    read = len({one.archive for one in done if one.archive})
    left = Counter(is_archive(Path(one.source)) for one in done if one.state == "left")
    text = f" ({counted(read, 'archive')} unpacked)" if read else ""
    text += f", {counted(left[True], 'archive')} left out" if left[True] else ""
    return text + (f", {counted(left[False], 'other')} left out" if left[False] else "")


def _listed(is_json: bool) -> str:
    rows = matrix()
    if is_json:
        return json_text(rows, 2).decode() + "\n"
    names = [name for name in rows[0] if name != "looks_for"]
    cells = [[row[name] for name in names] for row in rows]
    legend = "R all of it, P some of it, o only with an option or an optional part, - none"
    files = table(
        [["format", "files that it looks for"], *([row["format"], row["looks_for"]] for row in rows)]
    )
    return "\n".join([*table([names, *cells]), "", legend, "", *files]) + "\n"


def _limits(texts: tuple[str, ...]) -> SourceLimits:
    names = SourceLimits.__struct_fields__
    values = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in names or not number.isdecimal() or len(number) > 15:
            raise UsageError(what=f"--limit: expected NAME=N with NAME of {', '.join(names)}, got {text!r}")
        values[name] = int(number)
    return SourceLimits(**values)


def _actions(file: Path | None) -> dict[str, Any]:
    plain = _yaml("--actions", file)
    if not isinstance(plain, dict) or not all(isinstance(one, str) for one in plain):
        raise UsageError(what=f"--actions {file}: expected wording: action")
    check_wordings(plain)
    return plain


def _yaml(option: str, file: Path | None) -> Any:
    if file is None:
        return {}
    try:
        return parsed_yaml(read_whole(file, WRITTEN_MAX).decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(what=f"{option} {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(what=f"{option} {file}: {words_of(error)}") from error


def _tools(file: Path | None) -> dict[str, str]:
    plain = _yaml("--tools", file)
    if not isinstance(plain, dict) or not all(isinstance(one, str) for pair in plain.items() for one in pair):
        raise UsageError(what=f"--tools {file}: expected tool name: action")
    return plain
