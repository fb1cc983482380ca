"""Reports for a terminal: the runs, the rates with their counts, every failure with its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from msgspec import UNSET

from replaykit.errors import message_of
from replaykit.grading.gate import in_words
from replaykit.grading.gate_kinds import SIDE_EFFECT
from replaykit.grading.judge_rates import member_judgements
from replaykit.grading.statistics import FEW
from replaykit.grading.verdict import (
    CheckResult,
    Evidence,
    FirstFailure,
    Judgement,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    Report,
    Verdict,
)
from replaykit.report.judge_quotes import quoted
from replaykit.report.reasons import reason_text
from replaykit.report.remedies import remedies
from replaykit.report.text.judgement_text import (
    claim_lines,
    criteria_lines,
    effect_lines,
    process_lines,
    share_lines,
    unread_lines,
)
from replaykit.report.text.table import safe, short, table
from replaykit.trajectory.completeness import ASSUMED
from replaykit.trajectory.plurals import counted

_METRICS = (
    "CR", "PCR", "PCR_fraction", "CuP", "pCuP", "pCuP_fraction", "success_rate", "safety_failure_rate",
)  # fmt: skip
"""Metrics in the order in which they are printed, by the names that `--fail-under` takes."""


def as_summary(report: Report) -> str:
    """Return the rates, the gate and what is undecided, without a row or a detail of any run."""
    parts = [
        [counted(len(report.verdicts), "run")],
        _rates(report),
        _risk(report),
        _peers(report),
        [*_decided(report), *_proof(report)],
        _vacuous(report),
        _pairs(report),
        _criteria(report),
        _gate(report),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def as_text(report: Report, *, details: bool = True, names: Mapping[str, str] | None = None) -> str:
    """Return the report as text, ending in a newline.

    `details`: with everything that is not well. `names`: what to call a run, by its trajectory; by
    default the file name of its bundle, or its task where that is not known.
    """
    names = names if names is not None else _distinct(report)
    failures = list(_details(report, names)) if details else []
    # The rates of one run only repeat its line.
    rates = [_rates(report), _risk(report), _peers(report)] if len(report.verdicts) > 1 else []
    parts = [
        _runs(report, names),
        *failures,
        *rates,
        [*_decided(report), *_proof(report)],
        _vacuous(report),
        _pairs(report),
        _criteria(report),
        [safe(short(f"one run, graded once: {', '.join(one.files)}", 400)) for one in report.duplicates[:10]],
        _gate(report),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def as_line(verdict: Verdict) -> str:
    """Return one verdict in one line."""
    names = ("checks", "policies", "judge", "success", "CuP")
    facts = [f"{name} {fact}" for name, fact in zip(names, _run(verdict), strict=True)]
    return f"{safe(verdict.task_id)}: {', '.join(facts)}"


def describe(verdict: Verdict) -> str:
    """Return what one verdict rests on: failed checks, broken policies, judgements, errors."""
    return "\n".join(_detail(verdict)) + "\n"


def _pairs(report: Report) -> list[str]:
    """Return of each panel how its members agree: members that never differ add cost, not evidence."""
    return [
        f"{safe(' and '.join(pair['members']))} of {safe(name)}: {_agreement(pair)}"
        for name, judge in report.summary.get("judges", {}).items()
        for pair in judge.get("pairs", ())
        if pair["n"] > 1
    ]


def _criteria(report: Report) -> list[str]:
    judges = report.summary.get("judges", {})
    return [*process_lines(judges), *unread_lines(judges)]


def _agreement(pair: Mapping[str, Any]) -> str:
    runs = counted(pair["n"], "run")
    if not pair["differed"]:
        return f"never differed in {runs} that both decided"
    kappa = "unknown" if pair["kappa"] is None else f"{pair['kappa']:.3f}"
    return f"differed in {pair['differed']} of {runs} that both decided, kappa {kappa}"


def _distinct(report: Report) -> dict[str, str]:
    """Return the names of runs; those that share one have the beginning of their digest beside it."""
    runs = Counter(map(report.name, report.verdicts))
    return {
        v.trajectory: name if runs[name] == 1 else f"{name} {v.trajectory[7:15]}"
        for v in report.verdicts
        if v.trajectory is not None and (name := report.name(v))
    }


def _name(verdict: Verdict, names: Mapping[str, str]) -> str:
    return names.get(verdict.trajectory or "", verdict.task_id)


def _runs(report: Report, names: Mapping[str, str]) -> list[str]:
    head = ["run", "checks", "policies", "judge", "success", "CuP"]
    rows = [[short(_name(verdict, names), 56), *_run(verdict)] for verdict in report.verdicts]
    return table([head, *rows]) if rows else ["no runs"]


def _run(verdict: Verdict) -> Iterator[str]:
    if verdict.error is not None:
        yield from (f"ERROR {verdict.error.kind}", "-", "-", "-", "-")
        return
    passed = sum(check.outcome == "PASS" for check in verdict.checks)
    yield f"{verdict.completion.outcome} {passed}/{len(verdict.checks)}" if verdict.completion else "-"
    yield _policies(verdict)
    yield ", ".join(f"{j.outcome}{_origin(j.origins)}" for j in verdict.judgements) or "-"
    yield str(verdict.success or "-")
    yield "-" if verdict.completion is None else str(verdict.cup)


def _policies(verdict: Verdict) -> str:
    outcomes = [policy.outcome for policy in verdict.policies]
    broken = outcomes.count(PolicyOutcome.VIOLATED)
    unknown = sum(o in (PolicyOutcome.UNDECIDED, PolicyOutcome.ERROR) for o in outcomes)
    if not outcomes:
        return "-"
    parts = [f"{broken} VIOLATED"] if broken else []
    parts += [f"{unknown} open"] if unknown else []
    return ", ".join(parts) or ("dormant" if is_dormant(verdict) else "ok")


def _origin(origins: dict[str, int]) -> str:
    others = [name for name in sorted(origins) if name != "live"]
    return f" ({', '.join(others)})" if others else ""


def side_effects(report: Report) -> str:
    """Return the requests that changed something and that nothing explains, run by run."""
    names, lines = _distinct(report), ["side effects that neither a passing check nor the task explains"]
    for verdict in report.verdicts:
        found = [(one.step, e) for one in verdict.findings if one.code == SIDE_EFFECT for e in one.evidence]
        for step, evidence in found:
            at = "" if step is None else f" step {step}"
            lines.append(f"  {safe(_name(verdict, names))}{at}: {safe(evidence.note or '')}")
    none = "no side effects: checks and task explain every request that changed something"
    return "\n".join(lines if len(lines) > 1 else [none]) + "\n"


def _details(report: Report, names: Mapping[str, str]) -> Iterator[list[str]]:
    for verdict in report.verdicts:
        lines = _detail(verdict)
        if lines:
            yield [f"== {safe(_name(verdict, names))}", *lines]


def _detail(verdict: Verdict) -> list[str]:
    parts = (_fault_lines(verdict), _check_lines(verdict), _policy_lines(verdict), _judgement_lines(verdict))
    return list(chain.from_iterable(parts))


def _fault_lines(verdict: Verdict) -> Iterator[str]:
    if verdict.error is not None:
        words = " ".join(message_of(verdict.error.kind, verdict.error.fields).split())
        yield f"  ERROR {verdict.error.kind}: {safe(words)}"
    if verdict.validity != "valid":
        yield f"  not valid: the harness reported {safe(verdict.validity)}; no rate counts this run"
    if verdict.first_failure is not None:
        yield f"  first failing step: {_failure(verdict, verdict.first_failure)}"


def _check_lines(verdict: Verdict) -> Iterator[str]:
    for check in verdict.checks:
        if check.outcome != "PASS":
            kind = "" if check.id.startswith(check.type) else f" ({check.type})"
            head = f"  {check.outcome} check {check.id}{kind}: {reason_text('check', check.reason)}"
            yield from (_with_missing(head, check.missing), *_why(check), *_evidence(check.evidence))
            yield from _remedies(check)
    if lacks_checks(verdict):
        why = reason_text("check", "no_checks")
        yield f"  ERROR {why}: write `checks`, or name a judge with --judge NAME"


def _policy_lines(verdict: Verdict) -> Iterator[str]:
    for policy in verdict.policies:
        if policy.outcome not in (PolicyOutcome.OK, PolicyOutcome.DORMANT):
            why = reason_text("policy", policy.reason)
            head = f"  {policy.outcome} {policy.id} [{policy.dimension}, {policy.source}]: {why}"
            yield from (_with_missing(head, policy.missing), *_evidence(policy.evidence), *_remedies(policy))
    for policy in verdict.policies:
        if policy.contradicts is not UNSET:
            others = ", ".join(map(repr, policy.contradicts))
            yield safe(f"  note: {policy.id!r} cannot be kept together with {others}: let one yield")


def _judgement_lines(verdict: Verdict) -> Iterator[str]:
    for judgement in verdict.judgements:
        reason = reason_text("judge", judgement.reason)
        yield f"  {judgement.outcome} judge {judgement.judge}: {reason}"
        yield from (f"    {safe(line)}" for line in (judgement.detail or "").splitlines())
        yield from (f"    {words}" for words in share_lines(judgement))
        for one in member_judgements(judgement):
            why = reason_text("judge", one.reason)
            yield f"    {one.outcome} member {safe(one.judge)}{_origin(one.origins)}: {safe(why)}"
            yield from (f"      {safe(words)}" for words in _judged(one, verdict.first_failure))
        yield from (f"    {safe(words)}" for words in _judged(judgement, verdict.first_failure))


def _judged(judgement: Judgement, failed: FirstFailure | None) -> Iterator[str]:
    """Yield what a judge found, in its own words only where it has neither members, criteria nor claims."""
    if judgement.members is not UNSET:
        return
    if judgement.criteria is not UNSET:
        yield from criteria_lines(judgement, failed)
        yield from effect_lines(judgement, "nothing explains")
    elif judgement.claims is not UNSET:
        yield from claim_lines(judgement)
    else:
        yield from (f"its reasons: {words}" for words in quoted(judgement))


def lacks_checks(verdict: Verdict) -> bool:
    """Return whether a run could not be graded because its task asks for nothing."""
    completion = verdict.completion
    return not verdict.checks and completion is not None and completion.outcome is Outcome.ERROR


def is_dormant(verdict: Verdict) -> bool:
    """Return whether a run has policies, and none of them applied to it."""
    return {policy.outcome for policy in verdict.policies} == {PolicyOutcome.DORMANT}


def facts(evidence: Evidence) -> str:
    """Return where something was found, what was expected and what was there, in one line."""
    return "; ".join(_facts(evidence))


def _failure(verdict: Verdict, failed: FirstFailure) -> str:
    """Return where a run went wrong, and what shows it."""
    same = (one for one in verdict.findings if (one.step, one.code) == (failed.step, failed.code))
    shown = next((e for one in same for e in one.evidence), None)
    facts = (shown.action, shown.excerpt, shown.note) if shown is not None else ()
    why = ", ".join(short(fact, 160) for fact in facts if fact)
    return safe(f"{failed.step}, {failed.name} ({failed.code})" + (f": {why}" if why else ""))


def _remedies(result: CheckResult | PolicyResult) -> Iterator[str]:
    """Yield what would have recorded the evidence that is missing."""
    if result.outcome == "UNDECIDED":
        yield from (f"    to decide it: {safe(sentence)}" for sentence in remedies(result.missing))


def _why(check: CheckResult) -> Iterator[str]:
    """Yield why a check is ERROR, or has no reply of a model that decides, in the words of the first item."""
    lacks_reply = any(code.startswith("reply:") for code in check.missing)
    if check.outcome is not Outcome.ERROR and not lacks_reply:
        return
    rules = [item.rule for item in check.items if item.outcome in (Outcome.UNDECIDED, Outcome.ERROR)]
    yield from (f"    {safe(line)}" for line in next(iter(rules), "").splitlines())


def _with_missing(head: str, missing: tuple[str, ...]) -> str:
    head = head.rstrip(": ")
    return safe(head + (f" - missing {', '.join(missing)}" if missing else ""))


def _evidence(found: tuple[Evidence, ...]) -> Iterator[str]:
    lines = [line for line in map(facts, found) if line]
    yield from (f"    {short(safe(line), 200)}" for line in lines[:3])
    if len(lines) > 3:
        yield f"    and {len(lines) - 3} more"


def compared(evidence: Iterable[Evidence]) -> str:
    """Return what the first evidence with a reference expected, and what it found; empty without one."""
    for one in evidence:
        if one.expected is not None:
            found = "" if one.found is None else f", found {_shown(one.found.raw)}"
            return f"expected {_shown(one.expected.raw)}{found}"
    return ""


def _facts(evidence: Evidence) -> Iterator[str]:
    if evidence.step is not None:
        yield f"step {evidence.step}"
    if evidence.action:
        yield evidence.action
    if evidence.url:
        yield f"on {evidence.url}"
    if evidence.locator:
        yield f"at {evidence.locator}"
    if evidence.expected is not None:
        yield f"expected {_shown(evidence.expected.raw)}"
    if evidence.found is not None:
        yield f"found {_shown(evidence.found.raw)}"
    if evidence.excerpt:
        yield repr(evidence.excerpt)
    if evidence.note:
        yield evidence.note


def _shown(value: Any) -> str:
    return "nothing" if value is None else short(repr(value), 80)


def _rates(report: Report) -> list[str]:
    rows = [["metric", "value", "95 % interval", "upper", "n", "undecided", "errors"]]
    for name in _METRICS:
        metric = report.summary["metrics"].get(name)
        if metric is not None:
            rows.append([name, _number(metric["value"]), _interval(metric["ci95"]), _number(metric["upper"])])
            rows[-1] += [str(metric[key]) for key in ("n", "undecided", "errors")]
    return [*table(rows), *few(report)]


def few(report: Report) -> list[str]:
    """Report that the rates rest on too few runs to say much."""
    rate = report.summary["metrics"].get("success_rate") or {"n": FEW, "undecided": 0, "errors": 0}
    decided = rate["n"] - rate["undecided"] - rate["errors"]
    if decided >= FEW:
        return []
    who = f"Only {counted(decided, 'run')} decided" if decided else "No run is decided"
    return [f"{who}: rates from fewer than {FEW} runs are uncertain."]


def _risk(report: Report) -> list[str]:
    rows = [["dimension", "violations", "policies", "active", "open", "risk", "active risk", "tier"]]
    for dimension, risk in report.summary["risk"].items():
        if risk["policies"]:
            rows.append([dimension, *(str(risk[key]) for key in ("violations", "policies", "active"))])
            rows[-1] += [str(risk["undecided"] + risk["errors"]), _number(risk["ratio"])]
            rows[-1] += [_number(risk["active_ratio"]), str(risk["tier"] or "-")]
    return table(rows) if len(rows) > 1 else []


def _peers(report: Report) -> list[str]:
    """Return what the benchmark's own scripts would have printed of policies graded in compat mode."""
    peer = report.summary.get("compat")
    if not peer:
        return []
    names = (
        ("CR", "CR"), ("CuP", "CuP"), ("semi-CR", "semi_cr_published"), ("semi-CuP", "semi_cup_published"),
        (f"all-pass@{peer['k']}", "all_pass_at_k"),
    )  # fmt: skip
    line = "as ST-WebAgentBench prints it: " + ", ".join(f"{name} {peer[key]:.3f}" for name, key in names)
    return [line if peer["parity"] else line + " (no parity: policies are undecided, or unknown there)"]


def _proof(report: Report) -> list[str]:
    """Say what "it did not happen" rests on, and whose tricks a recording would have noticed."""
    proof, assumed = report.summary.get("proof") or {"n": 0}, report.summary.get("assumes")
    if not assumed:
        return []
    who = ", ".join(_counted(name, n, assumed) for name, n in assumed.items())
    shown = (
        f"; {proof['proven']} of {proof['n']} passes that rest on absence are proven" if proof["n"] else ""
    )
    return [safe(f"assumes {who}{shown}")]


def _counted(name: str, n: int, assumed: Mapping[str, int]) -> str:
    number = "" if len(assumed) == 1 else f", {counted(n, 'run')}"
    return f"{ASSUMED.get(name, name)} ({name}{number})"


def _vacuous(report: Report) -> list[str]:
    vacuous = report.summary.get("vacuous") or {"n": 0}
    if not vacuous["n"]:
        return []
    tasks = ", ".join(vacuous["tasks"])
    known = f"of {counted(vacuous['known'], 'run')} whose checks were looked at before"
    return [safe(short(f"vacuous: {vacuous['n']} {known} had all of them satisfied already: {tasks}", 400))]


def _decided(report: Report) -> list[str]:
    decided = report.summary["decided"]
    if decided["share"] is None:
        return []
    line = f"decided: {decided['share'] * 100:.1f} % of checks and policies"
    missing = sorted(decided["missing"].items(), key=lambda row: (-row[1], row[0]))[:5]
    if missing:
        line += "; missing evidence: " + ", ".join(f"{code} ({count})" for code, count in missing)
    invalid = report.summary.get("invalid") or {}
    more = (
        [f"invalid runs: {', '.join(f'{key} {n}' for key, n in sorted(invalid.items()))}"] if invalid else []
    )
    return [safe(line), *more, *_missing(report)]


def _missing(report: Report) -> list[str]:
    """Say which tasks and runs of the suite no one recorded: they count as not done."""
    tasks, runs = report.summary.get("missing_tasks") or [], report.summary.get("missing_runs") or {}
    lines = [f"tasks without a run: {len(tasks)}: {', '.join(tasks[:5])}{' ...' if len(tasks) > 5 else ''}"]
    shown = [f"{task} {n}" for task, n in sorted(runs.items())[:5]]
    more = [f"runs missing: {', '.join(shown)}{' ...' if len(runs) > 5 else ''}"]
    return [safe(line) for line in (*(lines if tasks else ()), *(more if runs else ()))]


def _gate(report: Report) -> list[str]:
    reasons = report.gate.reasons
    lines = [f"gate: {in_words(report.gate, has_code=True)}"]
    lines += [f"  {safe(reason)}" for reason in reasons[:10]]
    return [*lines, f"  and {len(reasons) - 10} more"] if len(reasons) > 10 else lines


def _number(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(bounds: Any) -> str:
    return "-" if not bounds else f"{bounds[0]:.3f}-{bounds[1]:.3f}"
