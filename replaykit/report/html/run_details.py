"""Which bundle shows which verdict, and everything that the report shows about one run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import BundleError, TapeError
from replaykit.grading.judges.judge_config import tape_path
from replaykit.grading.judges.step_notes import step_notes
from replaykit.grading.judges.tape.tape import Tape, read_tape
from replaykit.grading.verdict import CheckResult, Judgement, PolicyResult, Verdict
from replaykit.replay.player import Replay
from replaykit.report.html.bounded_text import any_value, bounded, line, without_empty
from replaykit.report.html.embedded_evidence import EmbeddedEvidence
from replaykit.report.html.observations import looks
from replaykit.report.html.page_sketch import Spot
from replaykit.report.html.run_story import story
from replaykit.report.judge_quotes import quoted
from replaykit.report.reasons import reason_words
from replaykit.report.remedies import remedy

PARTS_MAX = 200
"""Parts of one request."""


def sources_of(verdicts: Sequence[Verdict], sources: Iterable[str | Path]) -> dict[int, str]:
    """Return the source of each verdict that has one, by its place: of its content, else of its base name."""
    by_digest: dict[str, str] = {}
    by_name: dict[str, str] = {}
    for source in sorted(map(str, sources), key=lambda name: (Path(name).name, name)):
        by_name.setdefault(Path(source).name, source)
        digest = _digest(source)
        if digest is not None:
            by_digest.setdefault(digest, source)
    found = {}
    for place, verdict in enumerate(verdicts):
        unread = by_name.get(verdict.task_id) if verdict.trajectory is None else None
        shown_by = by_digest.get(verdict.trajectory or "") or unread
        if shown_by is not None:
            found[place] = shown_by
    return found


def run_data(
    source: str, verdict: Verdict, evidence: EmbeddedEvidence, replies: str | None
) -> dict[str, Any]:
    """Return everything about a run; its screenshots and pages are written on the way.

    A bundle that cannot be read gives a run without a story, with the reason.
    """
    plain = msgspec.to_builtins(verdict)
    try:
        with open_bundle(source) as bundle:
            return {**_shown(bundle, verdict, evidence, replies), "verdict": plain, **_more(verdict)}
    except BundleError as error:
        name = Path(source).name
        return {"verdict": plain, **_more(verdict), "unreadable": line(str(error).replace(source, name))}


def _more(verdict: Verdict) -> dict[str, Any]:
    """Return what would have recorded each piece of missing evidence, and the reasons of each judge."""
    results: tuple[CheckResult | PolicyResult, ...] = (*verdict.checks, *verdict.policies)
    missing = dict.fromkeys(code for one in results if one.outcome == "UNDECIDED" for code in one.missing)
    return {
        "remedies": {code: remedy(code) for code in missing},
        "reasons": dict(_reasons(verdict)),
        "quotes": [" ".join(quoted(one)) for one in verdict.judgements],
    }


def _reasons(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Yield kind and word of each reason, and its sentence."""
    kinds = (("check", verdict.checks), ("policy", verdict.policies), ("judge", verdict.judgements))
    for kind, results in kinds:
        for one in results:
            if one.reason and (words := reason_words(kind, one.reason)):
                yield f"{kind}:{one.reason}", words


def recorded(bundle: Bundle, evidence: EmbeddedEvidence, more: Iterable[str] = ()) -> dict[str, Any]:
    """Return what a bundle holds of its run, without a verdict; `more`: other screenshots to show."""
    seen = looks(bundle.trajectory)
    screenshots = evidence.screenshots(bundle, dict.fromkeys([*seen.screenshots, *more]))
    pages = evidence.pages(bundle, seen.pages, _targets(bundle))
    return {
        **story(bundle, seen),
        "screenshots": screenshots,
        "pages": pages,
        "left_out": sum(id not in screenshots for id in seen.screenshots)
        + sum(name not in pages for name in seen.pages),
    }


def facts(run: dict[str, Any]) -> dict[str, Any]:
    """Return what a run's row takes from its bundle."""
    if "n_steps" not in run:
        return {}
    times = [one["t"] for one in (run.get("ending"), *run.get("steps", [])[-1:]) if one and "t" in one]
    return without_empty(
        {
            "steps": run.get("n_steps", 0),
            "ms": max(times, default=None),
            "intent": bounded(run.get("task", {}).get("intent"), 300),
            "seen": bool(run.get("screenshots")),
        }
    )


def _shown(
    bundle: Bundle, verdict: Verdict, evidence: EmbeddedEvidence, replies: str | None
) -> dict[str, Any]:
    return {
        **recorded(bundle, evidence, screenshots_of(verdict)),
        "policies": dict(_policies(bundle)),
        "judges": transcripts(verdict, _tape(bundle, replies)),
        "changes": _changes(bundle, set(_cited(verdict.judgements))),
    }


def _cited(judgements: Iterable[Judgement]) -> Iterator[int]:
    """Yield the steps that judges cite for their criteria, those of a panel's members too."""
    for one in judgements:
        members = () if one.members is UNSET else one.members
        criteria = [() if one.criteria is UNSET else one.criteria, *(m.get("criteria", ()) for m in members)]
        yield from (step for rows in criteria for row in rows for step in row["steps"])


def _changes(bundle: Bundle, cited: Collection[int]) -> dict[str, tuple[str, ...]]:
    """Return what changed on the page with each cited step, in the lines that a judge reads."""
    notes = step_notes(Replay(bundle)) if cited else ()
    return {str(note.step): note.changes for note in notes if note.step in cited and note.changes}


def _targets(bundle: Bundle) -> Iterator[Spot]:
    for step in bundle.trajectory.steps:
        element = step.action.element
        if element is not None and element.node is not None:
            yield element.node.snapshot, element.node.number


def _policies(bundle: Bundle) -> Iterator[tuple[str, dict[str, str | None]]]:
    policies = (bundle.header.task or {}).get("policies")
    for policy in policies if isinstance(policies, list) else []:
        if isinstance(policy, dict):
            description = policy.get("description")
            rule = bounded(any_value(policy.get("rule")), 4_000)
            yield str(policy.get("id", "")), {"description": line(any_value(description)), "rule": rule}


def _tape(bundle: Bundle, replies: str | None) -> Tape | None:
    try:
        return read_tape(tape_path(bundle.name, replies))
    except TapeError:
        return None  # grading has reported it already; what the verdict holds of its replies is shown


def _digest(source: str) -> str | None:
    try:
        with open_bundle(source) as bundle:
            return "sha256:" + bundle.digest
    except BundleError:
        return None


def transcripts(verdict: Verdict, tape: Tape | None) -> list[dict[str, Any]]:
    """Return the exchanges behind each judgement of a verdict, in order; without a tape the replies only."""
    asked = {} if tape is None else {entry.key: entry for entry in tape.entries}
    return [
        {
            "judge": judgement.judge,
            "exchanges": [_exchange(stage, asked) for stage in judgement.stages],
            "images": _sent(judgement),
        }
        for judgement in verdict.judgements
    ]


def screenshots_of(verdict: Verdict) -> Iterator[str]:
    """Yield the blobs of the screenshots that judges were shown."""
    for judgement in verdict.judgements:
        yield from (str(image.get("digest", "")) for image in _sent(judgement))


def _sent(judgement: Judgement) -> list[dict[str, Any]]:
    sent = judgement.images.get("sent", [])
    return [image for image in sent if isinstance(image, dict)]


def _exchange(stage: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    entry = asked.get(str(stage.get("request_key", "")))
    plain = without_empty(
        {
            "stage": line(f"{stage.get('member', '')} {stage.get('stage', '')}".strip()),
            "reply": bounded(str(stage.get("reply_text", ""))),
            "parsed": bounded(any_value(stage.get("parsed"))),
        }
    )
    if entry is None:
        return plain
    request = entry.request
    return without_empty(
        {
            **plain,
            "model": str(request.get("model", "")),
            "answered": entry.reply.model,
            "origin": entry.origin,
            "stop": entry.reply.stop_reason,
            "system": [bounded(text) for text in _texts(request.get("system"))],
            "parts": list(_parts(request.get("messages")))[:PARTS_MAX],
        }
    )


def _texts(blocks: Any) -> Iterator[str]:
    for block in blocks if isinstance(blocks, list) else [blocks]:
        text = block.get("text") if isinstance(block, dict) else block
        if isinstance(text, str):
            yield text


def _parts(messages: Any) -> Iterator[dict[str, Any]]:
    for message in messages if isinstance(messages, list) else []:
        content = message.get("content") if isinstance(message, dict) else None
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict) and isinstance(part.get("sha256"), str):
                yield {"screenshot": part["sha256"]}
            else:
                yield from ({"text": bounded(text)} for text in _texts(part))
