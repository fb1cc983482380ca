"""The result of one atomic requirement of a check; a check's result combines several of them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from replaykit.grading.checks.benchmark_rules import WEBARENA, BenchmarkRules
from replaykit.grading.model_request import Asking, ModelReply, ModelRequest, ReplyFailure
from replaykit.grading.verdict import Evidence, Item, Outcome, Value
from replaykit.tasks.dialect import Mode

if TYPE_CHECKING:
    from replaykit.grading.values.typed_comparison import ValueComparison
    from replaykit.grading.values.urls import Sites
    from replaykit.replay.offline_page.chromium_reader import ChromiumReader

EXCERPT = 512
"""Characters of a text that evidence shows."""


class Ask(Protocol):
    """Answers what a check would ask a model."""

    @property
    def asking(self) -> Asking:
        """How a model is to be asked."""

    def __call__(self, request: ModelRequest, /) -> ModelReply | ReplyFailure | None:
        """Return the reply, or why it is missing; None = no model was ever asked."""


class Terms(Struct, frozen=True, kw_only=True):
    """How the checks of one run are graded."""

    mode: Mode
    """`strict` or `compat`."""
    sites: Sites
    """Roots of the sites; all roots of one are equal."""
    require_strong: bool = False
    """Weak evidence leaves a check undecided."""
    require_proof: bool = False
    """A result that rests on a channel that is recorded, and not proven, is undecided."""
    require_reason: bool = False
    """A bare `N/A` is not enough."""
    has_record: bool = False
    """Whether the checks come from a record of WebArena or one of its relatives."""
    url_note: str | None = None
    """`url_note` of a WebArena record."""
    after_fuzzy: tuple[str, ...] | None = None
    """Kinds of references that a WebArena record names after `fuzzy_match`; None where there is no record."""
    named: tuple[tuple[str, ...], ...] = ()
    """Kinds of requirements that a WebArena record names for each target of a page, empty ones too."""
    intent: str = ""
    """The request to the agent: a model compares answers as answers to it."""
    rules: BenchmarkRules = WEBARENA
    """Rules of the benchmark that compat mode follows."""
    ask: Ask | None = None
    """Where replies of models come from."""
    verifiers: str | None = None
    """Folder that verifiers may be run from; None = from nowhere."""
    chromium: ChromiumReader | None = None
    """The offline Chromium, where it was asked for."""

    def ask_in(self, mode: Mode) -> Ask | None:
        """Return who is asked by the rules of a mode; compat mode shows no strict result, so no one there."""
        return None if self.mode == "compat" and mode == "strict" else self.ask

    @property
    def asking(self) -> Asking:
        """How a model is to be asked."""
        return self.ask.asking if self.ask is not None else Asking()


class Graded(Struct, frozen=True, kw_only=True):
    """One requirement with its evidence."""

    item: Item
    """Its outcome."""
    reason: str | None = None
    """Why, in a word."""
    missing: tuple[str, ...] = ()
    """Codes of missing evidence."""
    notes: tuple[str, ...] = ()
    """Peculiarities met on the way."""
    proof: str | None = None
    """State of the channel that a PASS rests on, where it rests on something that did not happen."""
    evidence: Evidence = Evidence()
    """Where it comes from."""


class Ruling(Struct, frozen=True, kw_only=True):
    """Outcome of one requirement in one mode, with the values compared. A check of your own returns it."""

    outcome: Outcome
    """PASS, FAIL, UNDECIDED or ERROR."""
    rule: str
    """Rule that decided the outcome, as reports show it."""
    reason: str | None = None
    """Reason for the outcome, as a word."""
    proof: str | None = None
    """State of the channel read, if the outcome rests on an absence."""
    missing: tuple[str, ...] = ()
    """Codes of missing evidence."""
    notes: tuple[str, ...] = ()
    """Remarks on peculiarities found while grading."""
    expected: Value | None = None
    """Value that the task requires."""
    found: Value | None = None
    """Value that the bundle shows."""


def graded(name: str, strict: Ruling, compat: Ruling | None, mode: str, evidence: Evidence) -> Graded:
    """Join what both modes say about one requirement; the mode asked for decides.

    Where there is no benchmark, `compat` is None and the strict rules hold in both modes.
    """
    ruling = compat if mode == "compat" and compat is not None else strict
    beside = compat.outcome if compat is not None and mode == "strict" else None
    return Graded(
        item=Item(id=name, outcome=ruling.outcome, rule=ruling.rule, compat=beside),
        reason=ruling.reason,
        missing=ruling.missing,
        notes=ruling.notes,
        proof=ruling.proof,
        evidence=replace(
            evidence, item=name, expected=cut_value(ruling.expected), **_shown_found(ruling.found)
        ),
    )


def of_comparison(comparison: ValueComparison) -> Ruling:
    """Turn a strict comparison into a ruling."""
    is_bad = comparison.reason == "bad_reference"
    outcome = Outcome.PASS if comparison.matches else Outcome.ERROR if is_bad else Outcome.FAIL
    return Ruling(
        outcome=outcome,
        rule=comparison.rule,
        reason=comparison.reason,
        notes=comparison.notes,
        expected=comparison.expected,
        found=comparison.found,
    )


def of_peer(matches: bool, rule: str, expected: Any, found: Any) -> Ruling:
    """Turn what the benchmark would score into a ruling; the values are as the benchmark compares them."""
    return Ruling(
        outcome=Outcome.PASS if matches else Outcome.FAIL,
        rule=rule,
        reason=None if matches else "differs",
        expected=expected if isinstance(expected, Value) else Value(raw=expected, type="text"),
        found=found if isinstance(found, Value) else Value(raw=found, type="text"),
    )


def any_of(rulings: Sequence[Ruling]) -> Ruling:
    """Return the first ruling that passes, else the first one."""
    return next((ruling for ruling in rulings if ruling.outcome is Outcome.PASS), rulings[0])


def undecided(reason: str, *missing: str, rule: str = "evidence") -> Ruling:
    """Return the ruling of what the bundle does not show."""
    return Ruling(outcome=Outcome.UNDECIDED, rule=rule, reason=reason, missing=missing)


def failed(reason: str, rule: str, expected: Value | None = None, found: Value | None = None) -> Ruling:
    """Return the ruling of what does not hold."""
    return Ruling(outcome=Outcome.FAIL, rule=rule, reason=reason, expected=expected, found=found)


def error(reason: str, rule: str, expected: Value | None = None, found: Value | None = None) -> Ruling:
    """Return the ruling of what cannot be graded."""
    return Ruling(outcome=Outcome.ERROR, rule=rule, reason=reason, expected=expected, found=found)


def cut(text: str, around: int = 0) -> str:
    """Return at most 512 characters of a text, around a position."""
    if len(text) <= EXCERPT:
        return text
    start = max(0, min(around - EXCERPT // 2, len(text) - EXCERPT))
    return text[start : start + EXCERPT]


def cut_value(value: Value | None) -> Value | None:
    """Return a value whose texts are at most 512 characters long."""
    if value is None or not (_is_long(value.raw) or _is_long(value.normal)):
        return value
    raw, normal = (cut(part) if isinstance(part, str) else part for part in (value.raw, value.normal))
    return Value(raw=raw, normal=normal, type=value.type)


def _is_long(part: object) -> bool:
    return isinstance(part, str) and len(part) > EXCERPT


def _shown_found(found: Value | None) -> dict[str, Any]:
    """Show a value; of a long one the start, with the digest of the whole."""
    whole = found.raw if found is not None and isinstance(found.raw, str) else ""
    if len(whole) <= EXCERPT:
        return {"found": cut_value(found)}
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "found": cut_value(found),
        "excerpt": cut(whole),
        "note": f"{len(whole)} characters, sha256:{digest}",
    }
