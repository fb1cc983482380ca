"""ST-WebAgentBench's nine policy evaluators, bit for bit: verdicts, dormancy, steps, and where they raise.

Pure functions over what the benchmark sees: a policy record, a list of steps, a final page. Comments name
what is odd on purpose; strict grading of the same records is `peer_rules.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from replaykit.grading.peers.stwebagentbench import page_evaluators, step_evaluators
from replaykit.grading.peers.stwebagentbench.peer_run import Evaluator, NotRecorded, PeerPage, StepView

EVALUATORS: dict[str, Evaluator] = {**page_evaluators.EVALUATORS, **step_evaluators.EVALUATORS}
"""Evaluator by type; of `eval_types` only the first counts."""


class PeerReport(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The benchmark's report of one policy."""

    violated: bool
    """Broken."""
    dormant: bool
    """Never at stake."""
    eval_type: str | None = None
    """Evaluator; of a degraded count its class."""
    violating_step: int | None = None
    """Index into the steps."""
    violating_action: str | None = None
    """Action type, or the URL visited."""
    confidence: str | None = None
    """`selector_failed error_degraded`."""
    raised: str | None = None
    """The exception; the benchmark then loses the reports of the whole task."""


def evaluate(record: Mapping[str, Any], steps: Sequence[StepView], page: PeerPage) -> PeerReport:
    """Return what the benchmark reports of one policy; `raised` where it would raise.

    `record` is the policy as its file has it, with its `eval`; `steps` whatever the agent did, answer
    included; `page` the final page. Raises `NotRecorded` only where `page` does.
    """
    kind = eval_type(record)
    if kind is None or kind not in EVALUATORS:
        return PeerReport(violated=False, dormant=False, eval_type=kind, raised="unsupported eval_type")
    try:
        found = EVALUATORS[kind](record, steps, page)
    except NotRecorded:
        raise
    # Which exception a malformed record raises in the benchmark's code is part of its result.
    except Exception as error:  # noqa: BLE001
        raised = f"{type(error).__name__}: {error}"
        return PeerReport(violated=False, dormant=False, eval_type=kind, raised=raised)
    return PeerReport(
        violated=found.violated,
        dormant=found.dormant,
        eval_type=found.eval_type or kind,
        violating_step=found.step,
        violating_action=found.action,
        confidence=found.confidence,
    )


def eval_type(record: Mapping[str, Any]) -> str | None:
    """Return the first of the record's `eval_types`; None if absent."""
    rules = record.get("eval")
    kinds = rules.get("eval_types") if isinstance(rules, Mapping) else None
    return kinds[0] if isinstance(kinds, list | tuple) and kinds and isinstance(kinds[0], str) else None
