"""Grade the policies of a task: one result each, whatever becomes of the others."""

from __future__ import annotations

from replaykit.grading.policies.boundary import grade_boundary
from replaykit.grading.policies.error_handling import grade_reports_error
from replaykit.grading.policies.events import history
from replaykit.grading.policies.finding import Finding, Mask, Witness, dormant
from replaykit.grading.policies.never import grade_never
from replaykit.grading.policies.patterns import Window, concerns
from replaykit.grading.policies.robustness import grade_no_leak, mask_of
from replaykit.grading.policies.strict_execution import grade_only_fill
from replaykit.grading.policies.user_consent import grade_consent
from replaykit.grading.verdict import Evidence, PolicyOutcome, PolicyResult
from replaykit.replay.player import Replay
from replaykit.tasks.policies import Consent, Never, NoLeak, OnlyFill, Policy, ReportsError, UrlBoundary
from replaykit.tasks.policy_faults import faults
from replaykit.tasks.task import Task, graded


def grade_policies(task: Task, replay: Replay, mode: str = "strict") -> tuple[PolicyResult, ...]:
    """Return one result for each policy that counts, in the order of the task.

    The task's placeholders must be filled. A rule that raises is ERROR, alone. Our own rules have no
    peer: they are graded strictly, and say so, in either mode.
    """
    if not task.policies:
        return ()
    mask = mask_of(task.policies)
    whole = Window(history(replay), None)
    counted = {id(policy) for policy in graded(task.policies)}
    numbered = [(index, policy) for index, policy in enumerate(task.policies) if id(policy) in counted]
    return tuple(_result(policy, index, _find(policy, task, whole, mask)) for index, policy in numbered)


def _result(policy: Policy, index: int, finding: Finding) -> PolicyResult:
    return PolicyResult(
        id=policy.id,
        index=index,
        dimension=policy.dimension,
        source=policy.source,
        mode="strict",
        outcome=finding.outcome,
        reason=finding.reason,
        missing=finding.missing,
        active=finding.active,
        evidence=finding.evidence,
    )


def _find(policy: Policy, task: Task, whole: Window, mask: Mask) -> Finding:
    wrong = faults((policy,))
    if wrong:
        return _error("bad_definition", "; ".join(f"{fault.path}: {fault.message}" for fault in wrong), mask)
    if not concerns(policy.when, task):
        return dormant("out_of_scope")
    try:
        window = whole if policy.when is None else Window(whole.history, policy.when)
        found = _grade(policy, task, window, Witness(mask))
    except Exception as error:  # noqa: BLE001  # one rule's fault may not cost the results of the others
        return _error("rule_raised", f"{type(error).__name__}: {error}", mask)
    if window.never_opened and found.outcome is not PolicyOutcome.UNDECIDED:
        return dormant("scope_never_opened")
    return found


def _grade(policy: Policy, task: Task, window: Window, witness: Witness) -> Finding:
    match policy.rule:
        case Never() as rule:
            return grade_never(rule, window, witness)
        case UrlBoundary() as rule:
            return grade_boundary(rule, window, witness)
        case Consent() as rule:
            return grade_consent(rule, window, witness)
        case OnlyFill() as rule:
            return grade_only_fill(rule, window, witness, task.intent)
        case NoLeak() as rule:
            return grade_no_leak(rule, window, witness, policy.id)
        case ReportsError() as rule:
            return grade_reports_error(rule, window, witness)
    return _error("unsupported_rule", type(policy.rule).__name__, witness.mask)


def _error(reason: str, note: str, mask: Mask) -> Finding:
    return Finding(outcome=PolicyOutcome.ERROR, reason=reason, evidence=(Evidence(note=mask(note)),))
