"""`replaykit harbor`: Harbor's verifier, and task folders for it."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.cli.command_options import FOLDER, PATH, option
from replaykit.cli.console import notice
from replaykit.cli.exchange.import_ import FAILED, NOTHING
from replaykit.errors import UsageError
from replaykit.grading.judges.clients.transports import client_or_own
from replaykit.interop.harbor.harbor_tasks import HarborOptions, generate
from replaykit.interop.harbor.harbor_verify import AGENT, IMAGES, OUT, TESTS, Order, verify_trial
from replaykit.report.text.table import safe
from replaykit.trajectory.plurals import counted


@click.group(epilog="Example: replaykit harbor generate WebVoyager_data.jsonl -o tasks/ --unpinned")
def command() -> None:
    """Verify what an agent left in Harbor's folders, and write task folders with such a verifier."""


@command.command(
    short_help="Judge a trial and write its reward.",
    epilog="Example: replaykit harbor verify --tests tests/ --agent agent/ --out verifier/",
)
@option("--tests", "Folder of ground_truth.json.", type=PATH, default=TESTS)
@option("--agent", "Folder of the agent's log.", type=PATH, default=AGENT)
@option("--out", "Folder for the reward files.", type=PATH, default=OUT)
@option(
    "--judge NAME|FILE",
    "webvoyager, webjudge, agent_reward, claims, rubric, or a settings file.",
    default="webvoyager",
)
@option("--judge-model MODEL", "Model to ask, as provider:name. Default: the judge's own.", name="model")
@option("--max-images K", "Most screenshots that the judge gets.", default=IMAGES)
@option("--mode MODE", "compat: the rules of the published judge. strict: careful rules.", default="compat")
@option("--replies", "Tape to answer from; no model is asked.", type=PATH)
@option("--judge-base-url URL", "Server to ask in place of the provider's own.")
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
    with client_or_own(None, judge_base_url) as client:
        found = verify_trial(order, lambda: client)
    click.echo(found.reward)
    if found.error is not None:
        click.echo(f"error: {safe(found.error)}", err=True)
    ctx.exit(FAILED if found.error is not None else 0)


@command.command(
    "generate", epilog="Example: replaykit harbor generate WebVoyager_data.jsonl -o tasks/ --unpinned"
)
@click.argument("file", type=click.Path(path_type=Path))
@option("-o --output", "Folder for the tasks.", type=FOLDER, required=True)
@option("--limit N", "Only the first N tasks of the file. Default: all.", type=int)
@option("--task-ids ID,...", "Only these tasks, by id, slug or folder name, separated by commas.")
@option("--overwrite", "Replace existing folders. Without it they are kept.")
@option("--unpinned", "Accept a task file with another digest, and note it in each task.")
@option("--environment", "Also write the settings of this environment.", choices=["kernel"])
@option("--verifier", "Put the verifier itself into every task.", name="has_verifier")
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
