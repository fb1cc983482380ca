"""`replaykit harbor`: Harbor's verifier, and task folders for it."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.cli.console import notice
from replaykit.errors import UsageError
from replaykit.grading.judges.clients.transports import Transports
from replaykit.interop.harbor.harbor_tasks import HarborOptions, generate
from replaykit.interop.harbor.harbor_verify import AGENT, IMAGES, OUT, TESTS, Order, verify_trial
from replaykit.report.text.table import safe
from replaykit.trajectory.plurals import counted

FAILED, NOTHING = 3, 4
"""Exit codes."""


@click.group(epilog="Example: replaykit harbor generate WebVoyager_data.jsonl -o tasks/ --unpinned")
def command() -> None:
    """Verify what an agent left in Harbor's folders, and write task folders with such a verifier."""


@command.command(
    short_help="Judge a trial and write its reward.",
    epilog="Example: replaykit harbor verify --tests tests/ --agent agent/ --out verifier/",
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
    help="Folder for the reward files.",
)
@click.option(
    "--judge",
    default="webvoyager",
    show_default=True,
    metavar="NAME|FILE",
    help="webvoyager, webjudge, agent_reward, claims, rubric, or a settings file.",
)
@click.option(
    "--judge-model",
    "model",
    metavar="MODEL",
    help="Model to ask, as provider:name. Default: the judge's own.",
)
@click.option(
    "--max-images",
    default=IMAGES,
    show_default=True,
    metavar="K",
    help="Most screenshots that the judge gets.",
)
@click.option(
    "--mode",
    default="compat",
    show_default=True,
    metavar="MODE",
    help="compat: the rules of the published judge. strict: careful rules.",
)
@click.option("--replies", type=click.Path(path_type=Path), help="Tape to answer from; no model is asked.")
@click.option("--judge-base-url", metavar="URL", help="Server to ask in place of the provider's own.")
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
    """Judge answer.txt and shots/ of the agent, and write the reward, also after an error.

    Writes reward.txt, reward.json, grading_details.json, what was judged (run.zst) and every reply
    (run.replies.jsonl). The exit code is 0 if there is a verdict, and 3 if the reward is 0 because of an
    error.
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
    "generate", epilog="Example: replaykit harbor generate WebVoyager_data.jsonl -o tasks/ --unpinned"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the tasks.",
)
@click.option("--limit", type=int, metavar="N", help="Only the first N tasks of the file. Default: all.")
@click.option(
    "--task-ids", metavar="ID,...", help="Only these tasks, by id, slug or folder name, separated by commas."
)
@click.option("--overwrite", is_flag=True, help="Replace existing folders. Without it they are kept.")
@click.option(
    "--unpinned", is_flag=True, help="Accept a task file with another digest, and note it in each task."
)
@click.option(
    "--environment", type=click.Choice(["kernel"]), help="Also write the settings of this environment."
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

    With --verifier each folder holds a file that a plain python3 of this platform and version runs. Without
    it replaykit has to be installed in the verifier's image.
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
