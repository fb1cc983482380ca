"""Rules of installed packages, entry point group `replaykit.policies`: trusted code, found by name."""

from __future__ import annotations

from typing import Any, Protocol

from replaykit.grading.policies.events.scope_window import Window
from replaykit.grading.policies.rule_finding import Finding, Witness
from replaykit.grading.policies.rule_kind import PolicyRun, RuleKind
from replaykit.replay.player import Replay
from replaykit.tasks.policy_rules import Plugin

GROUP = "replaykit.policies"
"""Entry point group of every `PolicyFunction`."""


class PolicyFunction(Protocol):
    """A policy rule of your own: a function `(params, replay, window, witness) -> Finding`.

    Register it as an entry point of the group `replaykit.policies`. `params`: the parameters of the policy's
    rule. `window`: the events of the run to which the policy applies. `witness.mask(text)` masks the task's
    secrets in text that evidence quotes. An exception is an ERROR of this policy. The function must be pure:
    the same run always gives the same finding. `load_policies` returns policies as data, which are not of
    this class.

    Example:
        def stays_away(params, replay, window, witness):
            for state in replay:
                if state.url == params["url"]:
                    where = replaykit.Evidence(url=witness.mask(state.url))
                    return replaykit.Finding(outcome=replaykit.PolicyOutcome.VIOLATED, evidence=(where,))
            return replaykit.Finding(outcome=replaykit.PolicyOutcome.OK, active=True)
    """

    def __call__(
        self, params: dict[str, Any], replay: Replay, window: Window, witness: Witness, /
    ) -> Finding:
        """Return the finding for one run."""


def grade_plugin(rule: Plugin, run: PolicyRun) -> Finding:
    """Return what the plugin finds; raises `LookupError` where none of that name is installed."""
    # Loaded for such rules only: metadata of packages takes longer to load than a run takes to grade.
    from importlib.metadata import entry_points

    found = {point.name: point for point in entry_points(group=GROUP)}
    if rule.name not in found:
        raise LookupError(f"no plugin {rule.name!r}; installed are {', '.join(sorted(found)) or 'none'}")
    policy: PolicyFunction = found[rule.name].load()
    finding: Any = policy(rule.params, run.replay, run.window, run.witness)
    if not isinstance(finding, Finding):
        raise TypeError(f"plugin {rule.name!r} returned {type(finding).__name__}, not a Finding")
    return finding


KIND = RuleKind(grade=grade_plugin, breaks=lambda rule: f"whatever the plugin {rule.name!r} says")
