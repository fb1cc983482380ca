"""A policy author's loop: what a policy found in a run, what it passed over, and what would break it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from replaykit.grading.policies.event import Event
from replaykit.grading.policies.event_patterns import Pattern, alternatives
from replaykit.grading.policies.event_stream import history
from replaykit.grading.policies.no_leak import mask_of
from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.grading.policies.scope_window import Window
from replaykit.grading.verdict import PolicyResult
from replaykit.replay.player import Replay
from replaykit.tasks.policy_rules import (
    After,
    AtLeast,
    AtMost,
    Before,
    Consent,
    Eventually,
    Exactly,
    Informational,
    Match,
    Never,
    NoLeak,
    OnlyFill,
    PageState,
    Plugin,
    Policy,
    ReportsError,
    Rule,
    Sequence,
    Stwab,
    UrlBoundary,
)
from replaykit.tasks.stwab_rules import native_policies
from replaykit.tasks.task import Task
from replaykit.trajectory.counted import counted
from replaykit.trajectory.rendering import render_action

MISSES_MAX = 200
"""Events passed over that a trial lists."""

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
    """One policy over one run."""

    result: PolicyResult
    """As `grade` gives it."""
    looks: tuple[ExaminedEvent, ...] = ()
    """Events that its matches were about: those that hold first, in order."""
    breaks: str = ""
    """What would violate it."""


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
        found.append(Trial(result=result, looks=(*hits, *misses), breaks=mask(_breaks(policy))))
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
    if event.act is not None:
        return render_action(event.act)
    return event.message or event.url or ""


def _breaks(policy: Policy) -> str:
    sentences = [_sentence(one.rule) for one in native_policies((policy,))]
    return "; ".join(sentence for sentence in sentences if sentence) or "nothing: it is not configured"


def _sentence(rule: Rule) -> str:
    match rule:
        case Never():
            return f"any event like {_json(rule.match)}"
        case UrlBoundary():
            parts = [f"a visit to {_json(rule.deny)}" if rule.deny else ""]
            parts += [f"a visit to anything but {_json(rule.allow)}" if rule.allow else ""]
            parts += [f"no visit to {_json(rule.require)}" if rule.require else ""]
            return ", or ".join(part for part in parts if part)
        case Consent():
            return f"an act like {_json(rule.guarded)} without a request and an approval before it"
        case OnlyFill():
            return (
                f"a value entered that is none of {_json(rule.allowed)} and in none of {_json(rule.sources)}"
            )
        case NoLeak():
            where = {"all": "anywhere", "outputs": "in what goes out", "inputs": "in what is entered"}
            return f"one of {counted(len(rule.secrets), 'secret')} {where[rule.channels]}"
        case ReportsError():
            return f"an error shown that no {' or '.join(rule.to)} tells of afterwards"
        case PageState():
            what = rule.locator or "the page's text"
            return f"{what} {'as' if rule.forbid else 'other than'} {_json(rule.expect)} ({rule.at})"
        case Informational():
            return ""
    return _of_trace(rule)


def _of_trace(rule: Rule) -> str:
    match rule:
        case Eventually():
            return f"a run without an event like {_json(rule.match)}"
        case Before():
            return f"an event like {_json(rule.guarded)} without one like {_json(rule.requires)} before it"
        case After():
            return f"an event like {_json(rule.trigger)} without one like {_json(rule.response)} after it"
        case Sequence():
            return f"a run in which {_json(rule.items)} do not come in this order"
        case AtMost():
            return f"more than {counted(rule.n, 'event')} like {_json(rule.match)}"
        case AtLeast():
            return f"fewer than {counted(rule.n, 'event')} like {_json(rule.match)}"
        case Exactly():
            return f"any other number than {rule.n} of events like {_json(rule.match)}"
        case Plugin(name=name):
            return f"whatever the plugin {name!r} says"
        case Stwab():
            return ""
    return ""


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
