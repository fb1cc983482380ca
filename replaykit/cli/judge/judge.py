"""`replaykit judge`: what judges would ask, asking it, and one exact request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from replaykit.cli.bundles import check_tape, find_bundles
from replaykit.cli.command_options import FOLDER, PATH, option
from replaykit.cli.console import notice, progress
from replaykit.cli.judge.judge_rubric import SUITES, with_model_of, write_rubrics
from replaykit.cli.judge.judged_bundles import (
    distinct_runs,
    is_task_readable,
    judged_bundles,
    readable_runs,
    report_unread,
)
from replaykit.cli.maintain import completion
from replaykit.cli.site_options import check_model, check_server, parse_sites
from replaykit.errors import ReplaykitError, UsageError
from replaykit.grading.agreement.labels import left_out, read_labels
from replaykit.grading.gate import judge_warnings
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_attacks import (
    attack_judges,
    plan_attacks,
    run_attacks,
    susceptibility_code,
)
from replaykit.grading.judge_runs.judge_run import (
    PlannedJudge,
    foreign_tapes,
    plan_judges,
    recorded_stages,
    recorded_usage,
    requests_of,
    run_batches,
    run_judges,
    sensitivity_to_screenshots,
    summed,
)
from replaykit.grading.judge_runs.rubric_authoring import tasks_of
from replaykit.grading.judges.attacks import ATTACKS, attacks_named
from replaykit.grading.judges.costs import PER, Prices, cost, read_prices
from replaykit.grading.judges.settings_file import named_judge
from replaykit.grading.judges.tape.tape import plain_request
from replaykit.grading.model_request import ReplyFailure
from replaykit.grading.verdict import Judgement
from replaykit.report.json_text import json_text
from replaykit.report.text.attack_text import attack_text
from replaykit.report.text.cost_text import plan_totals, stage_costs
from replaykit.report.text.table import safe, table
from replaykit.tasks.suite import load_suite
from replaykit.trajectory.plurals import counted

RUNS = 1000
"""Times that re-grading is priced for."""

_Command = Callable[..., Any]


_SHARED = (
    click.argument(
        "bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...", shell_complete=completion.files
    ),
    option(
        "--task FILE[#ID]",
        "Judge against this task in place of the recorded one.",
        name="task_file",
        shell_complete=completion.tasks,
    ),
    option(
        "--site NAME=URL",
        "Root URL of a site, in place of the recorded one; may be given again.",
        name="sites",
        multiple=True,
    ),
    option(
        "--mode",
        "strict: careful rules. compat: the rules of the published judge. Default: the task's own mode.",
        choices=["strict", "compat"],
    ),
    option(
        "--judge NAME|FILE",
        "Judge in addition to the task's own: webvoyager, webjudge, agent_reward, claims, "
        "rubric, a settings file, or file.py@NAME; may be given again.",
        name="judges",
        shell_complete=completion.judges,
        multiple=True,
    ),
    option(
        "--judge-model MODEL",
        "Model of all judges and checks, as provider:name, such as anthropic:claude-sonnet-5-5 "
        "or openai:NAME.",
    ),
    option(
        "--rubrics DIR",
        "Folder of criteria for the judge rubric, one file per task, as `judge rubric` writes them.",
    ),
    option("--replies PATH", "Tape, or folder of tapes. Default: the one beside each bundle."),
)


def _shared(command: _Command) -> _Command:
    """Add the options that say which judges look at which bundles."""
    for decorate in reversed(_SHARED):
        command = decorate(command)
    return command


_attacks = option(
    "--attacks all|NAME,...",
    f"Attacks on the judge: {', '.join(ATTACKS)}. `again`, which measures noise, is always included.",
)


@click.group(epilog="Example: replaykit judge plan runs/ --judge webvoyager")
def command() -> None:
    """Ask models what judges and checks need, and keep every reply on a tape."""


@command.command(epilog="Example: replaykit judge plan run.zst --judge webvoyager --prices 3/15")
@_shared
@option(
    "--prices IN/OUT",
    "Price of a million tokens read and written, such as 3/15. The plan then includes the cost.",
)
@_attacks
@option("--json", "Print the plan as JSON.", name="is_json")
@click.pass_context
def plan(
    ctx: click.Context, /, prices: str | None, attacks: str | None, is_json: bool, **options: Any
) -> None:
    """Show what would be asked and what the tape already answers. Nothing is sent."""
    at = read_prices(prices) if prices else None
    named, how = _how(**options)
    judged = judged_bundles(named, lambda one: plan_judges(one, how))
    sources, planned = judged.sources, judged.rows
    if attacks is not None:
        planned += plan_attacks(sources, how, attacks_named(attacks))
    for name in foreign_tapes(sources, how):
        notice(f"{safe(name)} was recorded for another bundle: only equal requests are answered")
    if is_json:
        click.echo(json_text([_row(one) for one in planned], 1))
    elif planned:
        _print_plan(planned, recorded_usage(sources, how), at)
        if at is not None:
            click.echo("\n" + stage_costs(planned, recorded_stages(sources, how), at))
    ctx.exit(judged.code if planned or judged.unread else _nothing(sources))


@command.command(
    short_help="Ask for missing replies and record them.",
    epilog="Example: replaykit judge run runs/ --judge webvoyager",
)
@_shared
@option("--judge-base-url URL", "Server to ask in place of the provider's own.")
@option("--refresh", "Ask for everything again; the later reply is used.")
@option("--batch", "Send batches, which Anthropic answers within a day: cheaper and slower.", name="is_batch")
@option("--concurrency", "Number of requests in flight.", type=click.IntRange(1, 64), default=4)
@_attacks
@click.pass_context
def run(
    ctx: click.Context,
    /,
    refresh: bool,
    is_batch: bool,
    concurrency: int,
    attacks: str | None,
    **options: Any,
) -> None:
    """Ask for missing replies, and record each one before it is used."""
    chosen = attacks_named(attacks) if attacks is not None else ()
    if chosen and (is_batch or refresh):
        raise UsageError(what="--attacks asks for what is missing, one by one: no --batch, no --refresh")
    if refresh and is_batch:
        raise UsageError(what="--batch asks for what is missing: it does not go with --refresh")
    named, how = _how(judge_mode="refresh" if refresh else "new", **options)
    sources = distinct_runs(named)
    # Batches and attacks take all runs together: one that cannot be read would end the others.
    together = readable_runs(sources, how) if is_batch or chosen else sources
    if is_batch:
        _complain(run_batches(together, how))
        how = msgspec.structs.replace(how, judge_mode="none")
    with progress("judging", len(sources)) as tick:
        judged = run_judges(sources, how, concurrency=concurrency, on_progress=lambda source, _: tick(source))
    for source, judgement in judged:
        click.echo(f"{safe(source)}  {judgement.judge}  {judgement.outcome}  {safe(judgement.reason)}")
    _complain_of(judged)
    under = run_attacks(together, how, chosen, concurrency=concurrency) if chosen else []
    for source, attack, judgement in under:
        result = f"{judgement.judge} under {attack}  {judgement.outcome}  {safe(judgement.reason)}"
        click.echo(f"{safe(source)}  {result}")
    judged += [(source, judgement) for source, _, judgement in under]
    _complain_of(judged[len(judged) - len(under) :])
    # Errors were reported above, each with its cause.
    for warning in judge_warnings([one for _, one in judged], max_error_share=1.0):
        notice(safe(warning))
    ctx.exit(_code(judged) if judged else _nothing(sources))


@command.command(
    short_help="Print one exact request as JSON.",
    epilog="Example: replaykit judge prompt run.zst --judge webvoyager",
)
@_shared
@option(
    "--number", "Number of the request, in the order of asking, from 0.", type=click.IntRange(0), default=0
)
@click.pass_context
def prompt(ctx: click.Context, /, number: int, **options: Any) -> None:
    """Print one exact request as JSON. Screenshots appear as blob ids."""
    named, how = _how(**options)
    judged = judged_bundles(named, lambda one: requests_of(one, how))
    requests = [asked.request for asked in judged.rows]
    if not requests:
        ctx.exit(judged.code or _nothing(judged.sources))
    if number >= len(requests):
        raise UsageError(what=f"--number {number}, from 0: {counted(len(requests), 'request')} known")
    click.echo(json_text(plain_request(requests[number]), 1))
    ctx.exit(judged.code)


@command.command(
    short_help="Measure how verdicts change under attack, or with fewer screenshots.",
    epilog="Example: replaykit judge sensitivity runs/ --judge webvoyager",
)
@_shared
@option(
    "--k K,...",
    "How many of the last screenshots the judge sees: numbers from 1 to 100, or all, separated by commas.",
    default="1,3,15,all",
)
@_attacks
@option(
    "--labels FILE",
    "With --attacks: people's labels, to compare false positives with and without each attack.",
    type=PATH,
)
@option(
    "--max-susceptibility SHARE",
    "With --attacks: exit 1 if the 95 % bound of flips to SUCCESS is above SHARE, and 3 if "
    "there are too few runs to decide.",
    name="most",
    type=click.FloatRange(0, 1),
)
@option("--json", "With --attacks: print everything as JSON.", name="is_json")
@click.pass_context
def sensitivity(
    ctx: click.Context,
    /,
    k: str,
    attacks: str | None,
    labels: Path | None,
    most: float | None,
    is_json: bool,
    **options: Any,
) -> None:
    """Measure how verdicts change under attack, or with the number of screenshots.

    Nothing is sent; the tapes have to hold the replies. `judge run` records them, and `judge run --attacks`
    records those under attack.
    """
    named, how = _how(**options)
    check_tape(options["replies"])
    if attacks is not None:
        ctx.exit(_print_attacks(named, how, attacks, labels, most, is_json=is_json))
    if labels is not None or most is not None or is_json:
        raise UsageError(what="--labels, --max-susceptibility and --json apply to --attacks: name some")
    ks = _numbers(k)
    judged = judged_bundles(named, lambda one: sensitivity_to_screenshots(one, how, ks=ks))
    found = summed(judged.rows)
    head = ["judge", "k", "n", "success", "failure", "abstain", "missing", "changed"]
    rows = [[str(value) for value in msgspec.structs.astuple(one)] for one in found]
    if judged.sources:
        click.echo("\n".join(table([head, *rows])) if rows else "no judge takes its screenshots by number")
    if any(one.n_missing for one in found):
        notice(
            "what is missing, `replaykit judge run` records: with --judge FILE, and `images: last:K` in it"
        )
    ctx.exit(judged.code if rows or judged.code else 4)


def _print_attacks(
    named: list[str],
    how: GradeOptions,
    attacks: str,
    labels: Path | None,
    most: float | None,
    *,
    is_json: bool,
) -> int:
    """Print what the tapes know of judges under attack; return the exit code."""
    given = read_labels(labels) if labels is not None else None
    for words in left_out(given.n_replaced, given.n_unanswered) if given else ():
        notice(words)
    once, unread = distinct_runs(named), list[ReplaykitError]()
    results = attack_judges(once, how, attacks_named(attacks), given, on_unread=unread.append)
    for error in unread:
        report_unread(error)
    code = 3 if unread else 0
    if len(unread) == len(once):
        return code or _nothing(once)
    if is_json:
        click.echo(json_text(results, 1))
    else:
        click.echo(attack_text(results), nl=False)
    return (susceptibility_code(results, most) if results else _nothing(once)) or code


@command.command(
    short_help="Write the criteria of tasks into files, before any run is judged.",
    epilog="Example: replaykit judge rubric suite.yaml -o rubrics/",
)
@click.argument("sources", nargs=-1, required=True, metavar="SUITE|BUNDLE_OR_DIR...")
@option(
    "-o DIR",
    "Folder for one file per task. Existing files are kept.",
    name="folder",
    type=FOLDER,
    required=True,
)
@option("--judge FILE", "Settings file of a judge rubric. Default: its own settings.")
@option("--judge-model MODEL", "Model to ask, as provider:name.")
@option("--judge-base-url URL", "Server to ask in place of the provider's own.")
@option(
    "--site NAME=URL",
    "Root URL of a site, in place of the recorded one; may be given again.",
    name="sites",
    multiple=True,
)
@click.pass_context
def rubric(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    folder: Path,
    judge: str | None,
    judge_model: str | None,
    judge_base_url: str | None,
    sites: tuple[str, ...],
) -> None:
    """Ask a model, once per task, for the criteria of its runs, and write them for review.

    `--rubrics DIR` of `judge run` and `grade` then judges by these files.
    """
    check_server(judge_base_url)
    check_model(judge_model)
    settings = with_model_of(named_judge(judge or "rubric"), judge_model)
    files = [one for one in sources if Path(one.partition("#")[0]).suffix.lower() in SUITES]
    bundles = find_bundles(tuple(one for one in sources if one not in files))
    if not files and not bundles:
        ctx.exit(4)
    how = GradeOptions(sites=parse_sites(sites))
    readable = [one for one in bundles if is_task_readable(one, how)]
    code = 3 if len(readable) < len(bundles) else 0
    tasks = tasks_of([*files, *readable], how)
    ctx.exit(write_rubrics(tasks, settings, folder, judge_base_url) or code)


def _numbers(text: str) -> tuple[int | Literal["all"], ...]:
    return tuple(_number(part.strip(), text) for part in text.split(","))


def _number(part: str, text: str) -> int | Literal["all"]:
    if part == "all":
        return "all"
    if part.isascii() and part.isdecimal() and len(part) < 4 and 1 <= int(part) <= 100:
        return int(part)
    raise UsageError(what=f"--k: expected integers from 1 to 100 or all, such as 1,3,all, got {text!r}")


def _how(
    bundles: tuple[str, ...],
    task_file: str | None,
    sites: tuple[str, ...],
    judges: tuple[str, ...],
    **options: Any,
) -> tuple[list[str], GradeOptions]:
    check_server(options.get("judge_base_url"))
    check_model(options.get("judge_model"))
    replies = options["replies"]
    if replies is not None and Path(replies).exists():  # `run` begins one that is missing
        check_tape(replies)
    elif replies is not None:
        notice(f"{safe(replies)}: no such tape yet; it answers nothing")
    how = GradeOptions(
        suite=load_suite(task_file) if task_file else None,
        sites=parse_sites(sites),
        judges=tuple(named_judge(name) for name in judges),
        **options,
    )
    return find_bundles(bundles), how


def _row(one: PlannedJudge) -> dict[str, Any]:
    found = one.plan
    return {
        "source": one.source, "judge": one.judge, "model": one.model, "missing": len(found.missing),
        "blocked": found.blocked, "at_most": found.at_most, "tokens": found.tokens, "images": found.images,
    }  # fmt: skip


def _print_plan(planned: list[PlannedJudge], usage: tuple[int, Any], at: Prices | None) -> None:
    # Under many attacks most judges ask nothing of their own: rows of zeros would hide the others.
    shown = [one for one in planned if one.plan.missing or one.plan.at_most or one.plan.blocked] or planned[
        :1
    ]
    rows = [[str(value if value is not None else "-") for value in _row(one).values()] for one in shown]
    click.echo("\n".join(table([list(_row(shown[0])), *rows])))
    left_out = len(planned) - len(shown)
    if left_out:
        click.echo(f"{counted(left_out, 'more row')} with nothing to ask; --json lists all")
    click.echo("\n" + plan_totals(planned, at) + "\n")
    replies, billed = usage
    calls = sum(one.plan.at_most for one in planned)
    click.echo(
        f"recorded: {counted(replies, 'reply')}, {counted(billed.input_tokens, 'token')} read, "
        f"{billed.output_tokens} written"
    )
    click.echo(f"missing: at most {counted(calls, 'call')}; re-grading {RUNS} times from the tape: 0 calls")
    if at is not None:
        once = cost(billed, at)
        click.echo(f"recorded replies cost {float(once):.4f}; asking {RUNS} times: {float(once * RUNS):.2f}")
        click.echo(_cost_of_missing(planned, at))


def _cost_of_missing(planned: list[PlannedJudge], at: Prices) -> str:
    """Return in words what the known requests cost, and how many calls that leaves out."""
    known = sum(len(one.plan.missing) for one in planned)
    later = sum(one.plan.at_most for one in planned) - known
    new = sum(one.plan.tokens for one in planned) * at.read / PER
    verb = "costs" if known == 1 else "cost"
    text = f"{counted(known, 'missing request')} {verb} about {float(new):.4f} for what is read"
    if later > 0:
        text += f"; up to {counted(later, 'more call')}, which need earlier replies, are not part of it"
    return text


def _complain(failures: list[ReplyFailure]) -> None:
    for words, count in Counter(f"{one.kind}: {one.message}" for one in failures).items():
        notice(f"{count} x {safe(words)}")


def _complain_of(judged: list[tuple[str, Judgement]]) -> None:
    errors = [one for _, one in judged if one.outcome == "ERROR"]
    for words, count in Counter(f"{one.reason}: {one.detail}" for one in errors).items():
        notice(f"{count} x {safe(words)}")


def _nothing(sources: list[str]) -> int:
    if sources:
        notice(
            "nothing asks a model: no judge is named (--judge NAME, or in the task), and no check needs one"
        )
    return 4


def _code(judged: list[tuple[str, Judgement]]) -> int:
    return 3 if any(one.outcome == "ERROR" for _, one in judged) else 0
