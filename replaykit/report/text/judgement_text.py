"""Findings of judges, in lines: criteria of `rubric` with process and share, needs and claims of `claims`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from replaykit.grading.verdict import FirstFailure, Judgement
from replaykit.report.text.table import safe

UNREAD_SHARE = 0.05
"""Share of criteria without a readable verdict above which a judge is warned of."""

WORDS_MAX = 160
"""Characters that are shown of a criterion, and of what was seen."""

_SHORT = {"YES": "YES", "NO": "NO", "CANNOT_TELL": "?"}


QUOTE_MAX = 120
"""Characters that are shown of the words that an item is about."""

_OF = {"task": "need", "answer": "claim"}


def criteria_lines(judgement: Judgement, detected: FirstFailure | None = None) -> Iterator[str]:
    """Yield the criteria with the steps cited, the process score, and the first failing step of the judge.

    `detected`: the first failing step that was found without a model.
    """
    rows = () if judgement.criteria is UNSET else judgement.criteria
    yield "  ".join(f"{one['id']} {_verdict(one)}" for one in rows)
    for one in rows:
        if one["verdict"] != "YES" and one["kind"] == "outcome":
            yield f"{one['id']} {one['verdict']}{_why(one)}: {_words(one['statement'])}{_seen(one)}"
    if judgement.process is not UNSET:
        yield f"process {_share(judgement.process['score'])}, at most {_share(judgement.process['upper'])}"
    if judgement.failure is not UNSET and judgement.failure is not None:
        yield f"first failing step by the judge: {_failure(judgement.failure, detected)}"
    if judgement.unsupported is not UNSET and judgement.unsupported:
        yield f"stated but not shown: {', '.join(judgement.unsupported)}"
    if judgement.depends_on is not UNSET:
        yield f"rests on {judgement.depends_on}: no second opinion on them"


def share_lines(judgement: Judgement) -> Iterator[str]:
    """Yield the share that calibrated thresholds decided by; nothing where none were applied."""
    if judgement.share is UNSET:
        return
    one = judgement.share
    share = (
        f"{_share(one['low'])} to {_share(one['high'])}" if one["low"] != one["high"] else _share(one["low"])
    )
    at = f"accepted from {one['accept'] or 'never'}, rejected up to {one['reject'] or 'never'}"
    yield f"share {share}, {at}; was {one['was']}"


def process_lines(judges: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each judge with criteria: mean process score, and what its runs have in common."""
    for name, judge in judges.items():
        if "process" not in judge:
            continue
        interval = judge["process_ci95"]
        between = f" ({_share(interval[0])} to {_share(interval[1])})" if interval else ""
        parts = (
            ("blocked", "n_blocked"),
            ("unsupported", "n_unsupported"),
            ("side effects", "n_side_effects"),
        )
        counts = ", ".join(f"{word} in {judge[key]}" for word, key in parts if judge.get(key))
        more = f"; {counts} of {judge['n']}" if counts else ""
        yield f"judge {safe(name)}: process {_share(judge['process'])}{between}{more}"


def unread_lines(judges: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a warning for each judge that left more than `UNREAD_SHARE` of its criteria unread."""
    for name, judge in judges.items():
        share = judge.get("unread_share")
        if share is not None and share > UNREAD_SHARE:
            yield (
                f"warning: judge {safe(name)} left {share * 100:.1f} % of its criteria unread, more than "
                f"{UNREAD_SHARE * 100:.0f} %: the model does not answer as asked"
            )


def _verdict(one: Mapping[str, Any]) -> str:
    steps = ",".join(map(str, one["steps"]))
    applies = "" if one.get("applies", "YES") == "YES" else f" (applies: {one['applies']})"
    return f"{_SHORT[one['verdict']]}{'@' + steps if steps else ''}{applies}"


def _why(one: Mapping[str, Any]) -> str:
    excused = f"{one['blocker']}, {one['excused']}" if one.get("excused") else ""
    words = ", ".join(filter(None, (one["reason"], excused)))
    return f" ({words})" if words else ""


def _seen(one: Mapping[str, Any]) -> str:
    return f" - {_words(one['seen'])}" if one["seen"] else ""


def _words(text: str) -> str:
    return " ".join(text.split())[:WORDS_MAX]


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3f}"


def _failure(failure: Mapping[str, Any], detected: FirstFailure | None) -> str:
    same = ""
    if detected is not None:
        same = ", as detected" if failure["step"] == detected.step else f", detected at {detected.step}"
    return f"{failure['step']} ({failure['code']}){same}"


def claim_lines(judgement: Judgement) -> Iterator[str]:
    """Yield each need and claim with its finding and where it was seen, then what nothing explains."""
    for one in () if judgement.claims is UNSET else judgement.claims:
        quote = " ".join(str(one["quote"]).split())[:QUOTE_MAX]
        why = f" ({one['reason']})" if one["reason"] else ""
        key = "" if one["key"] else ", not a key claim"
        yield f'{_OF[one["of"]]} {one["id"]} {one["finding"]}{why}: "{quote}"{key}{_places(one)}'
    yield from effect_lines(judgement, "no need explains")


def effect_lines(judgement: Judgement, words: str) -> Iterator[str]:
    """Yield each request that changed something and that nothing explains."""
    for one in () if judgement.side_effects is UNSET else judgement.side_effects:
        yield f"{words}: {_change(one)}"


def _places(one: Mapping[str, Any]) -> str:
    """Return the steps and events that the evidence is from."""
    found = [e for predicate in one["predicates"] for e in predicate["evidence"]]
    places = dict.fromkeys(_place(e) for e in found)
    return f" @ {', '.join(places)}" if places else ""


def _place(evidence: Mapping[str, Any]) -> str:
    source, step = evidence.get("source", "page"), evidence.get("step")
    if source == "page" and step is None and evidence.get("note"):
        return str(evidence["note"])
    return f"{source} step {step}" if step is not None else f"{source} event {evidence.get('event')}"


def _change(one: Mapping[str, Any]) -> str:
    if "note" in one:
        return str(one["note"])
    at = "" if one["step"] is None else f" @ step {one['step']}"
    return f"{one['method']} {one['url']}: {one['status']}{at}"
