"""`replaykit verify`."""

from __future__ import annotations

import click
import msgspec

from replaykit.bundle.verification import Verification, verify
from replaykit.cli.grade import find_bundles
from replaykit.grading.grader import tape_path
from replaykit.grading.judges.tape_state import TapeState, tape_state
from replaykit.report.table import safe


@click.command(epilog="Example: replaykit verify run.zst")
@click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@click.pass_context
def command(ctx: click.Context, bundles: tuple[str, ...], as_json: bool) -> None:
    """Check structure and digests of bundles; say whether they can be graded, and why not."""
    found = [
        (source, verify(source), tape_state(source, tape_path(source, None)))
        for source in find_bundles(bundles)
    ]
    for source, verification, tape in found:
        if as_json:
            beside = {} if tape is None else {"tape": msgspec.to_builtins(tape)}
            plain = {"bundle": source, **msgspec.to_builtins(verification), **beside}
            click.echo(msgspec.json.encode(plain))
        else:
            _print(source, verification)
            _print_tape(tape)
    if not found:
        ctx.exit(4)
    is_bad = any(v.findings or not v.gradable or (tape and tape.error) for _, v, tape in found)
    ctx.exit(3 if is_bad else 0)


def _print(source: str, found: Verification) -> None:
    state = "ok" if found.gradable and not found.findings else "NOT OK"
    click.echo(
        f"{source}: {state}: {found.layout}, {found.steps} steps, {found.events} events, {found.blobs} blobs"
    )
    if found.digest:
        click.echo(f"  sha256:{found.digest}")
    if found.content_digest:
        click.echo(f"  content sha256:{found.content_digest}")
    if found.torn_bytes:
        click.echo(f"  {found.torn_bytes} torn bytes after the last commit: `replaykit seal` drops them")
    if found.why:
        click.echo(f"  {safe(found.why)}")
    for finding in found.findings:
        click.echo(f"  {safe(finding)}")


def _print_tape(tape: TapeState | None) -> None:
    if tape is None:
        return
    if tape.error:
        click.echo(f"  {safe(tape.error)}")
        return
    marks = [
        f", {tape.superseded} superseded" if tape.superseded else "",
        ", its last line is torn" if tape.torn else "",
        ", recorded for another bundle" if tape.foreign else "",
    ]
    click.echo(f"  {safe(tape.name)}: {tape.replies} replies{''.join(marks)}")
