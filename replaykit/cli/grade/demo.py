"""`replaykit demo`."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

import click

from replaykit.browser import find_browser
from replaykit.cli.console import notice
from replaykit.demo.demo_files import demo_path
from replaykit.demo.starter_files import make_folder
from replaykit.errors import MissingExtra, NoBrowser, RecorderError
from replaykit.grading.engine import grade_many
from replaykit.grading.gate import GateOptions
from replaykit.grading.verdict import PolicyOutcome, Report, Verdict
from replaykit.report.report_output import write_report
from replaykit.report.text.table import safe
from replaykit.report.text.text_report import as_line, as_text, describe

TASK = "refund-order"
"""The task that the demo records: it asks for consent, and changes state."""


@click.command(epilog="Example: replaykit demo")
@click.argument(
    "folder",
    required=False,
    metavar="[DIR]",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("replaykit-demo"),
)
def command(folder: Path) -> None:
    """Grade the shipped recordings and explain the verdicts. Record a run as well if there is a browser.

    Needs no key, no network and no browser. Writes into DIR (default: replaykit-demo).
    """
    make_folder(folder)
    recorded = _record(folder)
    shipped = sorted(demo_path("recordings", "conformance").glob("*.zst"))
    names: dict[str, str] = {}

    def remember(source: str, verdict: Verdict) -> None:
        names[verdict.trajectory or ""] = Path(source).stem

    report = grade_many(
        shipped, gate=GateOptions(fail_on=()), label="shipped recordings", on_progress=remember
    )
    click.echo(f"{len(shipped)} shipped recordings (task--agent), graded offline")
    click.echo(as_text(report, details=False, names=names))
    click.echo(_one_violation(report, names))
    if recorded is not None:
        own = grade_many([recorded], label="recorded just now")
        click.echo(f"Recorded just now in a real browser, graded with the site stopped: {recorded}")
        click.echo(f"{as_line(own.verdicts[0])}\n{describe(own.verdicts[0])}".rstrip() + "\n")
    write_report(report, folder / "report.json")
    write_report(report, folder / "report.html", sources=shipped)
    click.echo("\n".join(_next(folder, shipped[0], recorded)))


def _one_violation(report: Report, names: dict[str, str]) -> str:
    broken = [v for v in report.verdicts if any(p.outcome is PolicyOutcome.VIOLATED for p in v.policies)]
    if not broken:
        return ""
    example: Verdict = broken[0]
    name = names[example.trajectory or ""]
    return f"Why {safe(name)} does not count for CuP:\n{describe(example)}"


def _record(folder: Path) -> Path | None:
    try:
        browser = find_browser()
    except NoBrowser as error:
        notice(f"{error}: nothing is recorded now. {error.hint}")
        return None
    path = folder / f"{TASK}.zst"
    path.unlink(missing_ok=True)
    notice(f"recording task {TASK} in {browser} ...")
    try:
        _record_into(path)
    except (RecorderError, MissingExtra) as error:
        notice(f"could not record: {error.message}")
        return None
    return path


def _record_into(path: Path) -> None:
    from replaykit.recorder.agent_runs import record_agent
    from replaykit.recorder.scripted_user import load_user
    from replaykit.tasks.suite import load_suite

    shop, agent = _fixtures()
    tasks = demo_path("fixtures", "tasks")
    with shop.serve() as site:
        record_agent(
            agent.good,
            load_suite(tasks / "shop.yaml").task(TASK),
            path,
            sites={"shop": (site.url,)},
            user=load_user(tasks / "users" / "approves.yaml"),
        )


def _fixtures() -> tuple[ModuleType, ModuleType]:
    # The folder that holds `fixtures` is the checkout, or replaykit/demo of an installed wheel.
    root = str(demo_path("fixtures").parent)
    if root not in sys.path:
        sys.path.insert(0, root)
    return (
        importlib.import_module("fixtures.sites.shop.server"),
        importlib.import_module("fixtures.agents.good"),
    )


def _next(folder: Path, shipped: Path, recorded: Path | None) -> list[str]:
    example, program = recorded or shipped, _program()
    return [
        f"Written: {folder / 'report.json'}, {folder / 'report.html'} (open it in a browser)",
        "Next:",
        f"  {program} show {example}",
        f"  {program} grade {example} -o {folder / 'one.html'}",
        f"  {program} verify {example}",
        f"  {program} record --help",
    ]


def _program() -> str:
    """Return what a shell starts this program by: a virtual environment need not be on the PATH."""
    own = Path(sys.argv[0])
    is_named = own.name == "replaykit" and not shutil.which("replaykit")
    return os.path.relpath(own) if is_named else "replaykit"
