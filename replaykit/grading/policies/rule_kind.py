"""Parts of a kind of policy rule: how it is graded, what would break it, which channels it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from replaykit.grading.policies.events.scope_window import Window
from replaykit.grading.policies.rule_finding import Finding, Witness
from replaykit.replay.player import Replay


class PolicyRun(NamedTuple):
    """A run as one policy sees it."""

    window: Window
    """The part of the run in which the policy is in force."""
    witness: Witness
    """Writes evidence without the task's secrets."""
    replay: Replay
    """The whole run."""
    intent: str
    """The request to the agent."""
    policy: str
    """Id of the policy."""


def no_channels(rule: Any) -> Iterable[str]:
    """Return the channels of a rule that is kept by what happened, and not by what did not."""
    return ()


class RuleKind(NamedTuple):
    """One kind of rule; the functions take the rule as the policy file gives it."""

    grade: Callable[[Any, PolicyRun], Finding]
    """Decides the rule on a run; what it raises is an ERROR of that policy only."""
    breaks: Callable[[Any], str]
    """Describes in one sentence what would violate the rule, for `policies try`."""
    channels: Callable[[Any], Iterable[str]] = no_channels
    """Names the channels in which nothing may have been missed if the rule is kept."""


def as_json(value: object) -> str:
    """Return a part of a rule as it is written in a policy file."""
    return msgspec.json.encode(value).decode()
