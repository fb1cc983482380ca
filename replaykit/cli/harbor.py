"""`replaykit harbor`: Harbor's verifier, and task folders for it."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.cli.console import notice
from replaykit.cli.main import EXIT_CODES
from replaykit.errors import UsageError
from replaykit.grading.judges.clients.transports import Transports
from replaykit.interop.harbor.harbor_tasks import HarborOptions, generate
from replaykit.interop.harbor.harbor_verify import AGENT, IMAGES, OUT, TESTS, Order, verify_trial
from replaykit.report.table import safe
from replaykit.trajectory.counted import counted

FAILED, NOTHING = 3, 4
"""Exit codes."""


@click.group(epilog="Example: replaykit harbor generate WebVoyager_data.jsonl -o tasks/ --limit 5")
def command() -> None:
    """Verify what an agent left in Harbor's folders; write task folders that do so."""


@command.command(
    short_help="Judge a trial, and write its reward.",
    epilog=f"Example: replaykit harbor verify --judge-model claude-sonnet-5-5\n\n{EXIT_CODES}",
)
@click.option(
    "--tests",
    default=TESTS,
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of ground_truth.json.",
)
@click.option(
    "--agent",
    default=AGENT,
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the agent's log.",
)
@click.option(
    "--out",
    default=OUT,
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the reward files.",
)
@click.option(
    "--judge",
    default="webvoyager",
    show_default=True,
    metavar="NAME|FILE",
    help="webvoyager, webjudge, agent_reward, claims, rubric, or a file of settings.",
)
@click.option(
    "--judge-model", "model", metavar="MODEL", help="Model asked, as provider:name. Default: the judge's own."
)
@click.option(
    "--max-images",
    default=IMAGES,
    show_default=True,
    metavar="K",
    help="Pictures that the judge gets at most.",
)
@click.option(
    "--mode",
    default="compat",
    show_default=True,
    metavar="MODE",
    help="compat: as upstream judges; strict: with care.",
)
@click.option("--replies", type=click.Path(path_type=Path), help="A tape to answer from: no model is asked.")
@click.option("--judge-base-url", metavar="URL", help="Server asked instead of the provider's own.")
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    tests: Path,
    agent: Path,
    out: Path,
    judge: str,
    model: str | None,
    max_images: str,
    mode: str,
    replies: Path | None,
    judge_base_url: str | None,
) -> None:
    """Judge answer.txt and shots/ of the agent, and write the reward on every path, errors included.

    Writes reward.txt, reward.json and grading_details.json, what was judged (run.zst) and every reply
    (run.replies.jsonl). Exit 0 where a verdict was reached, 3 where the reward is 0 for an error.
    """
    order = Order(
        tests=tests, agent=agent, out=out, judge=judge, model=model or None, max_images=max_images, mode=mode,
        replies=replies,
    )  # fmt: skip
    found = verify_trial(order, lambda: Transports(base_url=judge_base_url))
    click.echo(found.reward)
    if found.error is not None:
        click.echo(f"error: {safe(found.error)}", err=True)
    ctx.exit(FAILED if found.error is not None else 0)


@command.command(
    "generate", epilog=f"Example: replaykit harbor generate WebVoyager_data.jsonl -o tasks/\n\n{EXIT_CODES}"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the tasks.",
)
@click.option("--limit", type=int, metavar="N", help="The first N tasks of the file. Default: all.")
@click.option(
    "--task-ids", metavar="ID,...", help="These tasks alone, by id, slug or folder name, with commas between."
)
@click.option(
    "--overwrite", is_flag=True, help="Replace folders that exist; without it they are left as they are."
)
@click.option("--unpinned", is_flag=True, help="Take a task file of another digest, and say so in each task.")
@click.option(
    "--environment", type=click.Choice(["kernel"]), help="Write the settings of this environment too."
)
@click.option("--verifier", "has_verifier", is_flag=True, help="Put the verifier itself into every task.")
@click.pass_context
def generate_tasks(
    ctx: click.Context,
    /,
    file: Path,
    output: Path,
    limit: int | None,
    task_ids: str | None,
    overwrite: bool,
    unpinned: bool,
    environment: str | None,
    has_verifier: bool,
) -> None:
    """Write a task folder for each task of a WebVoyager file. Nothing is fetched.

    With --verifier each holds a file that a bare python3 of this platform and version runs; without it the
    verifier's image has to hold replaykit.
    """
    ids = tuple(one.strip() for one in (task_ids or "").split(",") if one.strip())
    if task_ids is not None and not ids:
        raise UsageError(what="--task-ids names no task")
    wanted = HarborOptions(
        limit=limit,
        ids=ids,
        overwrite=overwrite,
        is_unpinned=unpinned,
        has_kernel=environment == "kernel",
        has_verifier=has_verifier,
    )
    written, kept = generate(file, output, wanted)
    for folder in written:
        click.echo(safe(str(folder)))
    notice(f"{counted(len(written), 'task')} written, {len(kept)} left as they are")
    ctx.exit(0 if written or kept else NOTHING)
