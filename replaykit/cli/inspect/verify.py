"""`replaykit verify`."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import Verification, verify
from replaykit.cli.bundles import find_bundles
from replaykit.cli.command_options import option
from replaykit.cli.maintain import completion
from replaykit.errors import SourceError
from replaykit.grading.judge_runs.tape_use import tape_use
from replaykit.grading.judges.attacks import attacks_tape
from replaykit.grading.judges.judge_config import tape_path
from replaykit.grading.judges.tape.tape_state import TapeState, tape_state
from replaykit.replay.offline_page.fidelity import Disagreement, Fidelity, fidelity
from replaykit.report.json_text import json_text
from replaykit.report.text.table import safe
from replaykit.trajectory.completeness import assumes, channel_lines, state_of
from replaykit.trajectory.plurals import counted


@click.command(epilog="Example: replaykit verify run.zst")
@click.argument(
    "bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...", shell_complete=completion.files
)
@option(
    "--fidelity",
    "Compare values read live with what snapshots answer, statically and in an offline Chromium.",
    name="with_fidelity",
)
@option("--json", "Print one line of JSON per bundle.", name="as_json")
@click.pass_context
def command(ctx: click.Context, bundles: tuple[str, ...], with_fidelity: bool, as_json: bool) -> None:
    """Check structure and digests of bundles, and whether they can be graded."""
    found = [
        (source, _verified(source), tape_use(source, tape_path(source, None)), _under_attack(source))
        for source in find_bundles(bundles)
    ]
    is_faithful = True
    for source, verification, tape, attacked in found:
        compared = _fidelity(source) if with_fidelity and verification.gradable else None
        is_faithful &= compared is None or compared.is_faithful
        if as_json:
            parts = {"tape": tape, "attacks": attacked, "fidelity": compared}
            beside = {name: msgspec.to_builtins(part) for name, part in parts.items() if part is not None}
            beside |= _completeness(source) if verification.gradable else {}
            plain = {"bundle": source, **msgspec.to_builtins(verification), **beside}
            click.echo(json_text(plain))
        else:
            _print(source, verification)
            _print_channels(source, verification)
            _print_tape(tape)
            _print_tape(attacked)
            _print_fidelity(compared)
    if not found:
        ctx.exit(4)
    is_bad = any(
        v.findings or not v.gradable or any(tape is not None and tape.error for tape in tapes)
        for _, v, *tapes in found
    )
    ctx.exit(3 if is_bad or not is_faithful else 0)


def _verified(source: str) -> Verification:
    """Verify a bundle; a link in a folder that leads nowhere is a finding beside the others."""
    try:
        return verify(source)
    except SourceError as error:
        return Verification(source=source, error=type(error).__name__, why=error.message)


def _under_attack(source: str) -> TapeState | None:
    """Return a summary of the tape of replies to attacks; None if there is no such tape."""
    path = attacks_tape(tape_path(source, None))
    return tape_state(source, path) if path.exists() else None


def _completeness(source: str) -> dict[str, Any]:
    with open_bundle(source) as bundle:
        run = bundle.trajectory
        states = {name: state_of(run, name) for name in run.header.channels}
        return {
            "assumes": assumes(run),
            "channels": {name: {"state": found.state, "why": found.why} for name, found in states.items()},
        }


def _print_channels(source: str, found: Verification) -> None:
    if found.gradable:
        with open_bundle(source) as bundle:
            for line in (*channel_lines(bundle.trajectory), f"assumes: {assumes(bundle.trajectory)}"):
                click.echo(f"  {safe(line)}")


def _fidelity(source: str) -> Fidelity:
    with open_bundle(source) as bundle:
        return fidelity(bundle)


def _print_fidelity(found: Fidelity | None) -> None:
    if found is None:
        return
    browser = found.browser or "no browser: nothing was drawn, see `replaykit doctor`"
    click.echo(
        f"  fidelity ({browser}): {counted(found.pages, 'page')}, {counted(found.reads, 'live value')}, "
        f"{counted(found.elements, 'element')}, {counted(len(found.disagreements), 'disagreement')}"
    )
    if found.unsupported:
        click.echo(f"  {found.unsupported} live values that static reading cannot give")
    for page in found.unbuilt:
        click.echo(f"  not built: {safe(page)}")
    for one in found.disagreements:
        where = one.role if one.step is None else f"{one.role} step {one.step}"
        click.echo(f"  {where} {safe(one.url or '')}: {safe(one.question)}{_blank(one)}")
        for name in ("live", "static", "chromium"):
            answer = getattr(one, name)
            if answer is not None:
                click.echo(f"    {name}: {safe(answer)}")


def _blank(one: Disagreement) -> str:
    return " (white space only)" if one.is_blank else ""


def _print(source: str, found: Verification) -> None:
    if found.layout == "unknown" and found.why:
        click.echo(f"NOT OK: {safe(found.why)}")
        return
    state = "ok" if found.gradable and not found.findings else "NOT OK"
    click.echo(
        f"{safe(source)}: {state}: {found.layout}, {counted(found.steps, 'step')}, "
        f"{counted(found.events, 'event')}, {counted(found.blobs, 'blob')}"
    )
    if found.digest:
        click.echo(f"  sha256:{found.digest}")
    if found.content_digest:
        click.echo(f"  content sha256:{found.content_digest}")
    if found.torn_bytes:
        click.echo(f"  {found.torn_bytes} torn bytes after the last commit: `replaykit seal` drops them")
    if found.why and found.why not in found.findings:
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
        f", {tape.unused} that nothing requests" if tape.unused else "",
    ]
    click.echo(f"  {safe(tape.name)}: {counted(tape.replies, 'reply')}{''.join(marks)}")
