"""Grade the checks of a task over a recorded run, and put their results together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from replaykit.grading.checks.benchmark_rules import RULES, VERIFIED, WEBARENA
from replaykit.grading.checks.dispatch import items_of
from replaykit.grading.checks.pages.final_page import LAST
from replaykit.grading.checks.requirement import Ask, Graded, Terms, graded, undecided
from replaykit.grading.verdict import CheckResult, Completion, Evidence, Outcome, combine
from replaykit.replay.player import Replay
from replaykit.tasks.checks import Check, PageCheck, ProgramHtml
from replaykit.tasks.dialect import Mode
from replaykit.tasks.network_checks import AgentResponse, NetworkMatch
from replaykit.tasks.task import Task, unresolved
from replaykit.tasks.task_values import NativeCheck
from replaykit.trajectory.completeness import weakest

if TYPE_CHECKING:
    from replaykit.grading.values.urls import Sites
    from replaykit.replay.offline_page.chromium_reader import ChromiumReader

NATIVE = "native"
"""Our own dialect."""


def grade_checks(
    task: Task,
    replay: Replay,
    mode: Mode,
    *,
    require_strong: bool = False,
    require_proof: bool = False,
    sites: Sites | None = None,
    ask: Ask | None = None,
    chromium: ChromiumReader | None = None,
    verifiers: str | None = None,
) -> tuple[CheckResult, ...]:
    """Grade every check of a task whose placeholders are filled.

    A check's own `mode` overrides the one given. `sites` are the roots that count as equal, by default
    those in the bundle. `ask` gives the recorded replies of models, `chromium` those of an offline
    Chromium. Nothing else is read but the replay, and nothing run but installed plugins and verifiers that
    lie in the folder `verifiers`.
    """
    results: list[CheckResult] = []
    sites = replay.trajectory.header.sites if sites is None else sites
    given = _terms(
        task,
        mode,
        sites=sites,
        require_strong=require_strong,
        require_proof=require_proof or task.require_proof,
        ask=ask,
        chromium=chromium,
        verifiers=verifiers,
    )
    cursor = LAST
    for number, check in enumerate(task.checks):
        terms = given if check.mode in (None, mode) else replace(given, mode=check.mode)
        results.append(_grade(check, number, task, replay, terms, cursor))
        if isinstance(check, ProgramHtml):
            from replaykit.grading.checks.pages.program_html import cursor_after

            cursor = cursor_after(check, cursor, replay, terms)
    return tuple(results)


def complete(results: Sequence[CheckResult], mode: Mode) -> Completion | None:
    """Put the results of a task's checks together; None where it has no checks.

    `partial_any` and `partial_fraction` are A and F of ST-WebAgentBench: items met, where a target of
    `program_html` is one item and, in compat mode, a URL is no item.
    """
    if not results:
        return None
    outcome = combine([result.outcome for result in results], mode)
    score = 1.0 if outcome is Outcome.PASS else 0.0
    met = list(chain.from_iterable(_met(result, mode) for result in results))
    fraction = sum(met) / len(met) if met else 0.0
    if mode == "compat" and not any(met):
        fraction = score  # upstream: a reward without items met counts as all
    return Completion(
        outcome=outcome, score=score, partial_any=any(met) or fraction > 0, partial_fraction=fraction
    )


def _met(result: CheckResult, mode: Mode) -> list[bool]:
    """Say for every countable item of a check whether it is met."""
    if result.type == "url_match" and mode == "compat":
        return []
    if result.type != "program_html":
        return [item.outcome is Outcome.PASS for item in result.items]
    targets: dict[str, bool] = {}
    for item in result.items:
        name = ".".join(item.id.split(".")[:2])
        targets[name] = targets.get(name, True) and item.outcome is Outcome.PASS
    return list(targets.values())


def _terms(task: Task, mode: Mode, **more: Any) -> Terms:
    written: Any = task.source_record.get("eval")
    rules = written if isinstance(written, dict) else {}
    return Terms(
        mode=mode,
        require_reason=task.require_reason,
        has_record=bool(rules),
        url_note=str(rules["url_note"]) if "url_note" in rules else None,
        after_fuzzy=_after_fuzzy(rules.get("reference_answers")),
        named=_named(rules.get("program_html")),
        intent=task.intent,
        rules=RULES.get(task.dialect, WEBARENA),
        **more,
    )


def _named(targets: Any) -> tuple[tuple[str, ...], ...]:
    written = targets if isinstance(targets, list) else []
    contents = [one.get("required_contents") if isinstance(one, dict) else None for one in written]
    return tuple(tuple(one) if isinstance(one, dict) else () for one in contents)


def _after_fuzzy(references: Any) -> tuple[str, ...] | None:
    names = list(references) if isinstance(references, dict) else []
    return tuple(names[names.index("fuzzy_match") + 1 :]) if "fuzzy_match" in names else None


def _grade(check: Check, number: int, task: Task, replay: Replay, terms: Terms, cursor: str) -> CheckResult:
    missing = unresolved(check, task.sites) if terms.mode == "strict" else ()
    if missing:
        nowhere = undecided("site_unknown", *(f"site:{name}" for name in missing))
        found: tuple[Graded, ...] = (graded("sites", nowhere, None, terms.mode, Evidence()),)
    else:
        found = items_of(check, number, task, replay, terms, cursor)
    if terms.rules.is_raising_failure:
        found = tuple(_swallowed(one, terms.mode) for one in found)
    kind = str(type(check).__struct_config__.tag)
    mode: Mode = "strict" if _is_ours(check, terms) else terms.mode
    return _result(
        check.id or f"{kind}[{number}]",
        kind,
        _dialect(check, task, terms, mode),
        mode,
        found,
        pre=_pre(check, replay, terms, mode),
        more=("no_peer",) if mode != terms.mode else (),
    )


def _swallowed(one: Graded, mode: Mode) -> Graded:
    """Turn what the benchmark raises into a failure, as ST-WebAgentBench's environment does."""
    item = one.item
    if item.compat is Outcome.ERROR:
        item = replace(item, compat=Outcome.FAIL)
    if mode != "compat" or one.reason != "peer_exception":
        return replace(one, item=item)
    return replace(one, item=replace(item, outcome=Outcome.FAIL), notes=(*one.notes, "peer_exception"))


def _is_ours(check: Check, terms: Terms) -> bool:
    """Whether no benchmark has such a check, so that there is nothing to be compatible with."""
    return isinstance(check, NativeCheck) and not terms.rules.has_raw_reward


def _dialect(check: Check, task: Task, terms: Terms, mode: Mode) -> str:
    """Name whose rules hold; compat mode compares a native task with the benchmark that has the check."""
    if _is_ours(check, terms) or (mode == "strict" and task.dialect not in RULES):
        return NATIVE
    own = VERIFIED if isinstance(check, AgentResponse | NetworkMatch) else WEBARENA
    return RULES.get(task.dialect, own).name


def _pre(check: Check, replay: Replay, terms: Terms, mode: Mode) -> str:
    """Return whether a check on pages held before the run, as far as those pages were looked at then."""
    if not replay.has_pre_state:
        return "unknown"
    match check:
        case PageCheck():
            from replaykit.grading.checks.pages.page_check import grade_page

            found = grade_page(check, replay, terms, "pre")
        case ProgramHtml():
            from replaykit.grading.checks.pages.program_html import grade_html

            found = grade_html(check, replay, terms, LAST, "pre")
        case _:
            return "unknown"
    outcome = combine([one.item.outcome for one in found], mode)
    return {Outcome.PASS: "satisfied", Outcome.FAIL: "unsatisfied"}.get(outcome, "unknown")


def _result(
    name: str,
    kind: str,
    dialect: str,
    mode: Mode,
    found: Sequence[Graded],
    *,
    pre: str,
    more: tuple[str, ...],
) -> CheckResult:
    is_empty = not found and mode == "strict"
    outcome = Outcome.ERROR if is_empty else combine([one.item.outcome for one in found], mode)
    reasons = [one.reason for one in found if one.item.outcome is outcome and one.reason]
    passed = outcome is Outcome.PASS
    return CheckResult(
        id=name,
        type=kind,
        dialect=dialect,
        mode=mode,
        outcome=outcome,
        score=1.0 if passed else 0.0,
        reason=None if passed else "no_requirements" if is_empty else next(iter(reasons), None),
        missing=_unique([code for one in found for code in one.missing]),
        notes=(*_unique([note for one in found for note in one.notes]), *more),
        pre=pre,
        proof=weakest([one.proof for one in found if one.proof]) if passed else None,
        items=tuple([one.item for one in found]),
        evidence=tuple([one.evidence for one in found]),
    )


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
