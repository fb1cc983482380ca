"""Rules of installed packages, entry point group `replaykit.policies`: trusted code, found by name."""

from __future__ import annotations

from typing import Any, Protocol

from replaykit.grading.policies.events.scope_window import Window
from replaykit.grading.policies.rule_finding import Finding, Witness
from replaykit.grading.policies.rule_kind import PolicyRun, RuleKind
from replaykit.replay.player import Replay
from replaykit.tasks.policy_rules import Plugin

GROUP = "replaykit.policies"
"""Entry point group of every `Policy`."""


class Policy(Protocol):
    """A rule of one's own: a function `(params, replay, window, witness) -> Finding`.

    It is an entry point of `replaykit.policies`. `params`: those of the policy's rule. `window`: the events
    of the run that the policy is about. `witness.mask(text)` takes the task's secrets out of what evidence
    quotes. What it raises is an ERROR of this policy. It has to be pure: same run, same finding. The policies
    of task files, as `load_policies` reads them, are data, and not of this class.
    """

    def __call__(
        self, params: dict[str, Any], replay: Replay, window: Window, witness: Witness, /
    ) -> Finding:
        """Find."""
        ...


def grade_plugin(rule: Plugin, run: PolicyRun) -> Finding:
    """Return what the plugin finds; raises `LookupError` where none of that name is installed."""
    # Loaded for such rules alone: metadata of packages takes longer to load than a run takes to grade.
    from importlib.metadata import entry_points

    found = {point.name: point for point in entry_points(group=GROUP)}
    if rule.name not in found:
        raise LookupError(f"no plugin {rule.name!r}; installed are {', '.join(sorted(found)) or 'none'}")
    policy: Policy = found[rule.name].load()
    finding: Any = policy(rule.params, run.replay, run.window, run.witness)
    if not isinstance(finding, Finding):
        raise TypeError(f"plugin {rule.name!r} returned {type(finding).__name__}, not a Finding")
    return finding


KIND = RuleKind(grade=grade_plugin, breaks=lambda rule: f"whatever the plugin {rule.name!r} says")
