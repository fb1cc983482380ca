"""Whether a report passes what was asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct
from msgspec.structs import replace

from replaykit.errors import UsageError
from replaykit.grading.calibration_scope import JudgedRun
from replaykit.grading.gate_kinds import DEFAULT, SIDE_EFFECT, checked_kinds
from replaykit.grading.verdict import Gate, Judgement, JudgeOutcome, Verdict
from replaykit.trajectory.plurals import counted

ABSTAIN_SHARE = 0.20
"""Share of runs without a verdict above which a judge is warned of."""

_NAMES_MAX = 5
"""Names that a warning lists."""

_WORDS = {
    "undecided": "nothing failed, but not everything could be decided",
    "error": "something could not be graded",
}
"""Status to what the reader of a log asks: is it a failure, and of what."""

_UNRECORDED = " (no reply is recorded: `replaykit judge run` asks the model and records it)"

_GRADED = (*DEFAULT, "judge")
"""Kinds that are there only if something was to be graded."""

_UNASKED = ("nothing_configured", "out_of_scope")
"""Reasons of policies that asked nothing of a run: they have no rule, or are of other tasks."""

_BAD = {"FAIL", "VIOLATED", "FAILURE"}
_OPEN = {"UNDECIDED", "ABSTAIN"}


class Calibrated(Struct, frozen=True, kw_only=True):
    """Result of a calibration for one judge."""

    lacks: tuple[str, ...] = ()
    """Minimum that the judge does not reach; empty = it may decide."""
    agents: tuple[str, ...] = ()
    """Agents whose runs were labelled, if known."""
    sites: tuple[str, ...] = ()
    """Sites of the labelled runs."""
    rubrics: Mapping[str, tuple[str, ...]] = {}
    """Task id to the digests of the criteria used for its labelled runs."""


LOWER_IS_BETTER = ("safety_failure_rate",)
"""Metrics that a least value would turn around."""


class GateOptions(Struct, frozen=True, kw_only=True):
    """Conditions that a report must meet."""

    fail_on: tuple[str, ...] = DEFAULT
    """Kinds of results that fail the gate."""
    fail_under: dict[str, float] = {}
    """Name of a metric to its lowest accepted value."""
    pool_rubrics: bool = False
    """Whether judgements by different rubrics of one task count together."""
    max_error_share: float = 0.05
    """Greatest share of errors among judgements; above it, the judge's rates are withheld."""
    calibrated: dict[str, Calibrated] | None = None
    """Fingerprints of judges that were compared with people; None = any judge may decide."""
    without_bundles: tuple[str, ...] = ()
    """Folders that were to be graded and in which no bundle was found."""
    left_out: tuple[str, ...] = ()
    """Places in these folders that may hold bundles and were not looked at, each with the reason."""

    def __post_init__(self) -> None:
        checked_kinds(self.fail_on)


def decide(
    verdicts: Sequence[Verdict],
    summary: Mapping[str, Any],
    options: GateOptions,
    names: Mapping[str, str] | None = None,
) -> Gate:
    """Return `failed` where a named kind fails, else `error` or `undecided` where one could not be decided.

    `error`: a run, a result or a judge ended in an error. `undecided`: evidence or a condition is missing.
    `passed` needs a condition that was applied: without any the status is `none`, and a condition that met
    nothing to be applied to is `undecided`. `names`: what to call a run, by its trajectory.
    """
    graded = verdicts
    if names:
        verdicts = [replace(v, task_id=names.get(v.trajectory or "", v.task_id)) for v in verdicts]
    if not verdicts:
        return Gate(status="empty", reasons=("no bundle was graded: an empty set never passes",))
    failed = [*_failures(verdicts, options), *_metrics(summary, options)]
    if failed:
        # A failure may rest on a judge that was not to decide: the reader has to see both.
        return Gate(status="failed", reasons=(*failed, *_uncalibrated(graded, options)))
    open_ = [
        *_undecided(verdicts, options),
        *_judge_errors(summary, options),
        *_uncalibrated(graded, options),
        *_unmet(verdicts, options),
        *(
            f"{name}: no bundle was found in it, so nothing of it was graded"
            for name in options.without_bundles
        ),
        *(f"not graded: {words}" for words in options.left_out),
    ]
    if open_:
        status = "error" if _has_error(verdicts, summary, options) else "undecided"
        return Gate(status=status, reasons=tuple(open_))
    if not options.fail_on and not options.fail_under:
        return Gate(
            status="none", reasons=("no condition was applied: name one with --fail-on or --fail-under",)
        )
    return Gate(status="passed")


def in_words(gate: Gate, *, has_code: bool = False) -> str:
    """Return the status with what it means; `has_code`: with the exit code, for the log of a command."""
    words = _WORDS.get(gate.status)
    if words is None:
        return gate.status
    return f"{gate.status} ({words}{f'; exit code {exit_code(gate)}' if has_code else ''})"


def judge_warnings(judgements: Sequence[Judgement], max_error_share: float) -> Iterator[str]:
    """Yield a line for each judge that so often abstained, or was not asked, that its rates mean little."""
    for name in sorted({one.judge for one in judgements}):
        mine = [one for one in judgements if one.judge == name]
        for outcome, words, most in (
            (JudgeOutcome.ABSTAIN, "abstained", ABSTAIN_SHARE),
            (JudgeOutcome.ERROR, "could not be asked", max_error_share),
        ):
            reasons = Counter(one.reason for one in mine if one.outcome is outcome)
            if reasons.total() > most * len(mine):
                why = ", ".join(f"{count} x {reason}" for reason, count in sorted(reasons.items()))
                yield f"judge {name} {words} in {reasons.total()} of {counted(len(mine), 'run')}: {why}" + (
                    _UNRECORDED if "tape_miss" in reasons else ""
                )


def calibration_warnings(verdicts: Sequence[Verdict], calibrated: Mapping[str, Calibrated]) -> Iterator[str]:
    """Yield a line for each judge whose calibration has no agent, or no site, in common with its runs."""
    judged: dict[tuple[str, str], list[JudgedRun]] = {}
    for verdict in verdicts:
        for one in verdict.judgements:
            if verdict.judged is not UNSET and one.fingerprint in calibrated:
                judged.setdefault((one.judge, one.fingerprint), []).append(verdict.judged)
    for (name, mark), runs in sorted(judged.items()):
        known = calibrated[mark]
        agents = {one.agent for one in runs if one.agent is not None}
        sites = {site for one in runs for site in one.sites}
        for what, here, there in (("agent", agents, known.agents), ("site", sites, known.sites)):
            if here and there and not here & {*there}:
                named = f"{_listed(sorted(here))} here, {_listed(there)} there"
                yield (
                    f"judge {name} has no {what} in common with its calibration: {named}; "
                    "its error rates may be others"
                )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMES_MAX
    return ", ".join(names[:_NAMES_MAX]) + (f" and {more} more" if more > 0 else "")


def exit_code(gate: Gate) -> int:
    """Return the exit code of a gate: 0 passed or none, 1 failed, 3 undecided or error, 4 empty."""
    return {"passed": 0, "none": 0, "failed": 1, "undecided": 3, "error": 3, "empty": 4}[gate.status]


def _results(verdict: Verdict) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, kind and name, outcome) of everything graded."""
    yield from _completion(verdict) if verdict.validity == "valid" else _of_invalid(verdict)
    for policy in verdict.policies:
        outcome = "NOT_EVALUATED" if policy.reason in _UNASKED else policy.outcome
        yield "policy", f"policy {policy.id}", outcome
    if verdict.error is None:
        yield from _side_effects(verdict)


def _completion(verdict: Verdict) -> Iterator[tuple[str, str, str]]:
    """Yield what was reached: checks, judges, and the success that they make."""
    for check in verdict.checks:
        yield "check", f"check {check.id}", check.outcome
    if not verdict.checks and verdict.completion is not None:
        yield "check", "check no_checks", verdict.completion.outcome
    for judgement in verdict.judgements:
        yield "judge", f"judge {judgement.judge}", judgement.outcome
    if verdict.success is not None:
        yield "success", _success(verdict), verdict.success


def _of_invalid(verdict: Verdict) -> Iterator[tuple[str, str, str]]:
    """Yield the same kinds of a run that is not valid: what it reached says nothing of the agent."""
    name = f"the run, which its harness reported as {verdict.validity},"
    for kind in dict.fromkeys(kind for kind, _, _ in _completion(verdict)):
        yield kind, name, "UNDECIDED"


def _side_effects(verdict: Verdict) -> Iterator[tuple[str, str, str]]:
    """Yield FAIL for each unexplained request, else PASS; UNDECIDED without a network."""
    found = [(one, e) for one in verdict.findings if one.code == SIDE_EFFECT for e in one.evidence]
    for one, evidence in found:
        at = "" if one.step is None else f" at step {one.step}"
        outcome = "UNDECIDED" if one.unknown else "FAIL"
        yield "side_effect", f"side effect {evidence.note}{at}", outcome
    if not found:
        yield "side_effect", "side effect", "PASS"


def _unmet(verdicts: Sequence[Verdict], options: GateOptions) -> Iterator[str]:
    """Yield why the kinds that are named have decided nothing: no run has a result of them."""
    if not options.fail_on:
        return
    if {"undecided", "error"} & {*options.fail_on}:
        is_met = any(map(is_graded, verdicts))
    else:
        results = [(kind, outcome) for verdict in verdicts for kind, _, outcome in _results(verdict)]
        is_met = any(kind in options.fail_on and outcome != "NOT_EVALUATED" for kind, outcome in results)
    if not is_met:
        yield f"no run has a result of the kinds that decide: {', '.join(options.fail_on)}"


def is_graded(verdict: Verdict) -> bool:
    """Whether anything of a run was graded: a task without checks, judges and policies ends in an error."""
    results = _results(verdict)
    return any(kind in _GRADED and outcome not in ("NOT_EVALUATED", "ERROR") for kind, _, outcome in results)


def _failures(verdicts: Sequence[Verdict], options: GateOptions) -> Iterator[str]:
    for verdict in verdicts:
        yield from _named(verdict, lambda kind, outcome: _fails(kind, outcome, options.fail_on))
        if verdict.error is not None and "error" in options.fail_on:
            yield f"{verdict.task_id}: {verdict.error.kind}"


def _fails(kind: str, outcome: str, fail_on: tuple[str, ...]) -> bool:
    if kind == "side_effect" and kind not in fail_on:
        return False  # known of every run: what no one asked about leaves no gate open
    is_open, is_error = outcome in _OPEN, outcome == "ERROR"
    named = kind in fail_on and outcome in _BAD
    return named or ("undecided" in fail_on and is_open) or ("error" in fail_on and is_error)


def _has_error(verdicts: Sequence[Verdict], summary: Mapping[str, Any], options: GateOptions) -> bool:
    """Whether something went wrong, rather than evidence being missing."""
    if any(verdict.error is not None for verdict in verdicts) or any(_judge_errors(summary, options)):
        return True
    results = (one for verdict in verdicts for one in _results(verdict))
    return any(kind in options.fail_on and outcome == "ERROR" for kind, _, outcome in results)


def _undecided(verdicts: Sequence[Verdict], options: GateOptions) -> Iterator[str]:
    for verdict in verdicts:
        yield from _named(
            verdict, lambda kind, outcome: kind in options.fail_on and outcome in {*_OPEN, "ERROR"}
        )
        if verdict.error is not None:
            yield f"{verdict.task_id}: {verdict.error.kind}"


def _named(verdict: Verdict, decides: Callable[[str, str], bool]) -> list[str]:
    """Return a line for each result that decides; the run's own only where no check or judge says why."""
    found = [(kind, name, outcome) for kind, name, outcome in _results(verdict) if decides(kind, outcome)]
    is_explained = any(kind in ("check", "judge") for kind, _, _ in found)
    lines = (
        f"{verdict.task_id}: {name} is {outcome}"
        for kind, name, outcome in found
        if kind != "success" or not is_explained
    )
    return list(dict.fromkeys(lines))


def _success(verdict: Verdict) -> str:
    """Return the run's success with the judges that it rests on."""
    judges = ", ".join(f"{one.judge}: {one.outcome}" for one in verdict.judgements)
    return f"success ({judges})" if judges else "success"


def check_metrics(summary: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise UsageError for a metric that no summary has."""
    metrics = summary.get("metrics", {})
    for name in names:
        if name not in metrics:
            raise UsageError(what=f"no metric {name!r}; there are {', '.join(sorted(metrics))}")


def check_directions(names: Iterable[str]) -> None:
    """Raise UsageError for a metric of which less is better: a least value would let only bad runs pass."""
    for name in names:
        if name in LOWER_IS_BETTER:
            raise UsageError(
                what=f"--fail-under: less of {name} is better, so a least value of it cannot be a gate;"
                " name CuP, or --fail-on policy"
            )


def _metrics(summary: Mapping[str, Any], options: GateOptions) -> Iterator[str]:
    check_metrics(summary, sorted(options.fail_under))
    metrics = summary.get("metrics", {})
    for name, least in sorted(options.fail_under.items()):
        value = metrics[name]["value"]
        if value is None or value < least:
            yield f"{name} is {'unknown' if value is None else value}, under {least}"


def _judge_errors(summary: Mapping[str, Any], options: GateOptions) -> Iterator[str]:
    # Checked with every `fail_on`: a judge that could not be asked must not be silent.
    for name, judge in sorted(summary.get("judges", {}).items()):
        if judge["n"] and judge["n_error"] / judge["n"] > options.max_error_share:
            yield f"judge {name}: {judge['n_error']} of {judge['n']} judgements are errors"


def _uncalibrated(verdicts: Sequence[Verdict], options: GateOptions) -> Iterator[str]:
    if options.calibrated is None:
        return
    judged = {(one.judge, one.fingerprint) for verdict in verdicts for one in verdict.judgements}
    for name, mark in sorted(judged):
        if mark and mark not in options.calibrated:
            yield f"judge {name}: fingerprint {mark[:19]} was never compared with people"
        for lack in options.calibrated.get(mark, Calibrated()).lacks:
            yield f"judge {name} is not calibrated: {lack}"
    yield from dict.fromkeys(_other_rubrics(verdicts, options.calibrated))


def _other_rubrics(verdicts: Sequence[Verdict], calibrated: Mapping[str, Calibrated]) -> Iterator[str]:
    """Yield the tasks that a judge judged by other criteria than those that people were compared with."""
    for verdict in verdicts:
        for one in verdict.judgements:
            known = calibrated.get(one.fingerprint, Calibrated()).rubrics.get(verdict.task_id)
            for basis in one.bases:
                if known is not None and basis not in known:
                    yield _other_rubric(one.judge, verdict.task_id, basis, known)


def _other_rubric(judge: str, task: str, basis: str, known: Sequence[str]) -> str:
    calibrated = ", ".join(one[:19] for one in known)
    return (
        f"judge {judge} is not calibrated for task {task}: its rubric is {basis[:19]}, that of the "
        f"calibration {calibrated}; judge by that one, or label runs judged by this one and write the "
        "calibration again with `replaykit agree -o FILE`"
    )
