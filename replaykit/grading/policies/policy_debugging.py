"""Helps policy authors: what a policy found in a run, what it skipped, and what would violate it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import fields, replace

from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.event_patterns import Pattern, alternatives
from replaykit.grading.policies.events.event_stream import history
from replaykit.grading.policies.events.scope_window import Window
from replaykit.grading.policies.no_leak import mask_of
from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.grading.policies.rule_registry import RULES
from replaykit.grading.verdict import PolicyResult
from replaykit.replay.player import Replay
from replaykit.tasks.benchmarks.stwab_rules import native_policies
from replaykit.tasks.policy_rules import Match, Policy, Rule, Sequence
from replaykit.tasks.task import Task
from replaykit.trajectory.action_rendering import render_action

MISSES_MAX = 200
"""Most skipped events that a trial lists."""

_FIELDS = tuple(field.name for field in fields(Match) if field.name not in ("kind", "unless"))


class ExaminedEvent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event that a policy looked at."""

    pattern: str
    """Which match of the rule: `match`, `guarded`, `items.0` ..."""
    kind: str
    """Kind of event."""
    step: int | None = None
    """Step index."""
    shown: str = ""
    """The event in one line."""
    holds: bool | None = None
    """Whether it matched; null = not recorded."""
    first_miss: str | None = None
    """The first field that did not hold."""


class Trial(Struct, frozen=True, kw_only=True):
    """One policy tried on one run."""

    result: PolicyResult
    """Result as `grade` gives it."""
    looks: tuple[ExaminedEvent, ...] = ()
    """Events that its patterns were tried on; those that match come first, in order."""
    breaks: str = ""
    """Description of an event that would violate it."""


def trials_of(task: Task, replay: Replay, mode: str = "strict") -> tuple[Trial, ...]:
    """Return a trial of each policy of a task that counts, in order."""
    window = Window(history(replay), None)
    mask = mask_of(native_policies(task.policies))
    found = []
    for result in grade_policies(task, replay, mode):
        policy = task.policies[result.index]
        looks = [replace(look, shown=mask(look.shown)) for look in _looks(policy, window)]
        hits = [look for look in looks if look.holds is not False]
        misses = [look for look in looks if look.holds is False][:MISSES_MAX]
        found.append(Trial(result=result, looks=(*hits, *misses), breaks=mask(breaks_of(policy))))
    return tuple(found)


def matches_of(rule: Rule) -> Iterator[tuple[str, Match]]:
    """Yield the matches of a rule with their names."""
    for name in ("match", "guarded", "requires", "trigger", "response"):
        given = getattr(rule, name, None)
        if given is not None:
            listed = alternatives(given)
            yield from ((name if len(listed) == 1 else f"{name}.{n}", one) for n, one in enumerate(listed))
    if isinstance(rule, Sequence):
        yield from ((f"items.{n}", item) for n, item in enumerate(rule.items))


def _looks(policy: Policy, window: Window) -> Iterator[ExaminedEvent]:
    for one in native_policies((policy,)):
        scoped = window if one.when is None else Window(window.history, one.when)
        for name, match in matches_of(one.rule):
            pattern = Pattern(match)
            for _, event, _ in scoped.of(pattern.kinds):
                if event.kind != "gap":
                    holds = pattern.truth(event).holds
                    miss = None if holds else _first_miss(match, event)
                    yield ExaminedEvent(
                        pattern=name,
                        kind=event.kind,
                        step=event.step,
                        shown=_shown(event),
                        holds=holds,
                        first_miss=miss,
                    )


def _first_miss(match: Match, event: Event) -> str | None:
    """Return the first field that does not hold of the event, `unless` where only the exception speaks."""
    given = [name for name in _FIELDS if getattr(match, name) not in ((), None)]
    for name in given:
        alone = Match(kind=match.kind, **{name: getattr(match, name)})
        if not Pattern(alone).truth(event).holds:
            return name
    return "unless" if match.unless is not None else None


def _shown(event: Event) -> str:
    if event.action is not None:
        return render_action(event.action)
    return event.message or event.url or ""


def breaks_of(policy: Policy) -> str:
    """Return what would violate a policy, in one sentence."""
    kinds = [(RULES.get(type(one.rule)), one.rule) for one in native_policies((policy,))]
    sentences = [kind.breaks(rule) for kind, rule in kinds if kind is not None]
    return "; ".join(sentence for sentence in sentences if sentence) or "nothing: it is not configured"
