"""`replaykit redact`."""

from __future__ import annotations

from pathlib import Path

import click

from replaykit.cli.command_options import option
from replaykit.cli.console import notice
from replaykit.cli.record.record import declared_secrets
from replaykit.redaction.bundle_redaction import LEFT_MAX, Redaction, redact
from replaykit.report.text.table import safe
from replaykit.trajectory.plurals import counted


@click.command(epilog="Example: replaykit redact run.zst -o clean.zst --secret-env SHOP_PASSWORD")
@click.argument("bundle", type=click.Path(path_type=Path))
@option(
    "-o --output",
    "Bundle to write; its tape is written beside it.",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
)
@option(
    "--secret-env NAME",
    "Environment variable whose value is removed, in all of its encodings; may be given again.",
    multiple=True,
)
@option(
    "--pattern RE",
    "Regular expression of further text to remove; may be given again.",
    name="patterns",
    multiple=True,
)
@option("--force", "Replace an existing file.")
@click.pass_context
def command(
    ctx: click.Context,
    bundle: Path,
    output: Path,
    secret_env: tuple[str, ...],
    patterns: tuple[str, ...],
    force: bool,
) -> None:
    """Write a copy of a bundle, and of its tape, without secrets. The source is not changed.

    \b
    Replaced in every record and text:
      values of secrets, and what matches a pattern
      secret headers and fields
      text that looks like a key or a card number

    Screenshots are painted over where a secret was visible, and removed where its place is unknown. The
    result is read back. If a secret is still there, no file is written (exit 3). Text that still looks like
    a secret is listed (exit 1).
    """
    done = redact(bundle, output, secrets=declared_secrets(secret_env), patterns=patterns, force=force)
    _report(done)
    click.echo(f"sha256:{done.digest}")
    for left in done.left:
        click.echo(f"left: {safe(left.place)}: {left.id}")
    if len(done.left) >= LEFT_MAX:
        notice(f"only the first {LEFT_MAX} places are listed")
    ctx.exit(1 if done.left else 0)


def _report(done: Redaction) -> None:
    notice(
        f"{done.path}: {done.blobs} payloads rewritten, {done.painted} screenshots painted over, "
        f"{done.withheld} payloads left out"
    )
    if done.tape is not None:
        missing = f", {counted(done.replies_left_out, 'reply')} left out" if done.replies_left_out else ""
        notice(f"{done.tape}: keys made again{missing}")
