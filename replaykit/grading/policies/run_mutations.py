"""Runs broken on purpose, one edit at a time: a policy that notices no edit guards nothing.

Edits are made in memory, in a fixed order; the bundle stays as it is. What is swapped in, visited or leaked
is taken from the policies themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from replaykit.grading.policies.events.text_conditions import words_of
from replaykit.grading.policies.policy_debugging import matches_of
from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.grading.verdict import PolicyOutcome
from replaykit.replay.player import Recording, Replay
from replaykit.tasks.benchmarks.stwab_rules import native_policies
from replaykit.tasks.policy_rules import Never, NoLeak, OnlyFill, Policy, ReportsError, Secret, UrlBoundary
from replaykit.tasks.task import Task
from replaykit.trajectory import action as actions
from replaykit.trajectory.exchange import Message, Navigation
from replaykit.trajectory.step import Ending, Event, Step, Trajectory

EDITS = (
    "drop_consent", "late_consent", "swap_target", "add_visit", "change_value", "leak_in_answer",
    "hide_error_report",
)  # fmt: skip
"""Kinds of edits, in the order they are made."""

FOREIGN = "http://elsewhere.invalid/"
"""A place that no policy allows."""

STRANGE = "a value that was not given"
"""Text entered by an edit."""

MUTANTS_MAX = 2_000
"""Edits of one run."""


class Mutant(Struct, frozen=True, kw_only=True):
    """One edit, and who noticed it."""

    edit: str
    """Kind of edit."""
    step: int | None
    """Step concerned."""
    what: str
    """The change, in words."""
    noticed: tuple[str, ...]
    """Ids of the policies whose outcome turned VIOLATED."""


class Mutation(Struct, frozen=True, kw_only=True):
    """Result of all edits to one run."""

    mutants: tuple[Mutant, ...]
    """Changed runs, in order."""
    scores: dict[str, tuple[int, int]]
    """Policy id to (edits noticed, edits made), without policies that the original run violates."""

    @property
    def noticed(self) -> int:
        """Number of edits that at least one policy noticed."""
        return sum(bool(mutant.noticed) for mutant in self.mutants)


class _Edit(NamedTuple):
    kind: str
    step: int | None
    what: str
    events: tuple[Event | actions.Unknown, ...]


class _Edited:
    """A recording whose story is another one."""

    def __init__(self, recording: Recording, trajectory: Trajectory) -> None:
        self.recording = recording
        self.trajectory = trajectory

    def __contains__(self, id: object) -> bool:
        return id in self.recording

    def blob(self, id: str) -> bytes:
        return self.recording.blob(id)

    def blob_type(self, id: str) -> str:
        return self.recording.blob_type(id)


def mutate(task: Task, replay: Replay) -> Mutation:
    """Edit a run wherever an edit applies, and grade each edited run by all policies, strictly."""
    before = {result.id: result.outcome for result in grade_policies(task, replay)}
    sound = [id for id, outcome in before.items() if outcome is not PolicyOutcome.VIOLATED]
    mutants: list[Mutant] = []
    for edit in _edits(replay.trajectory, native_policies(task.policies)):
        if len(mutants) == MUTANTS_MAX:
            break
        edited = Replay(_Edited(replay.bundle, replace(replay.trajectory, events=edit.events)))
        after = {result.id: result.outcome for result in grade_policies(task, edited)}
        noticed = tuple(id for id in sound if after[id] is PolicyOutcome.VIOLATED)
        mutants.append(Mutant(edit=edit.kind, step=edit.step, what=edit.what, noticed=noticed))
    scores = {id: (sum(id in mutant.noticed for mutant in mutants), len(mutants)) for id in sound}
    return Mutation(mutants=tuple(mutants), scores=scores)


def _edits(trajectory: Trajectory, policies: Sequence[Policy]) -> Iterator[_Edit]:
    events = trajectory.events
    yield from _drop_consent(events)
    yield from _late_consent(events)
    yield from _swap_target(events, policies)
    yield from _add_visit(events, policies)
    yield from _change_value(events, policies)
    yield from _leak_in_answer(events, policies)
    yield from _hide_error_report(events, policies)


_Events = tuple[Event | actions.Unknown, ...]


def _drop_consent(events: _Events) -> Iterator[_Edit]:
    """Take away one reply of the user, or one message of the agent."""
    for at, event in enumerate(events):
        if isinstance(event, Message) and event.kind != "answer":
            who = "the user's" if event.role == "user" else "the agent's"
            yield _Edit(
                "drop_consent", event.step, f"{who} words are gone", (*events[:at], *events[at + 1 :])
            )
        elif isinstance(event, Step) and isinstance(event.action, actions.SendMsgToUser):
            silent = replace(event, action=actions.Noop(), observed=(), declared=None)
            yield _Edit("drop_consent", event.index, "the agent's message is gone", _with(events, at, silent))


def _late_consent(events: _Events) -> Iterator[_Edit]:
    """Let one reply of the user come after the action that followed it."""
    for at, event in enumerate(events):
        if not isinstance(event, Message) or event.role != "user":
            continue
        steps = (n for n in range(at + 1, len(events)) if isinstance(events[n], Step))
        following = next(steps, None)
        if following is not None:
            moved = replace(event, t=getattr(events[following], "t", None))
            rest = (*events[:at], *events[at + 1 : following + 1], moved, *events[following + 1 :])
            yield _Edit("late_consent", event.step, "the user's reply comes one action later", rest)


def _swap_target(events: _Events, policies: Sequence[Policy]) -> Iterator[_Edit]:
    """Let an action on an element be one on what a policy names."""
    words = _guarded_words(policies)
    for at, event in enumerate(events):
        element = event.action.element if isinstance(event, Step) else None
        if not isinstance(event, Step) or element is None or not isinstance(event.action, actions.Click):
            continue
        for word in words:
            target = replace(
                element, text=word, name=word, names=actions.Names(text=word), node=None, css=None
            )
            swapped = replace(event, action=replace(event.action, element=target), observed=(), declared=None)
            yield _Edit(
                "swap_target", event.index, f"the target is called {word!r}", _with(events, at, swapped)
            )


def _guarded_words(policies: Sequence[Policy]) -> tuple[str, ...]:
    matches = [match for policy in policies for _, match in matches_of(policy.rule)]
    firsts = [words_of(match.text)[:1] for match in matches if match.text]
    return tuple(dict.fromkeys(word for words in firsts for word in words))


def _add_visit(events: _Events, policies: Sequence[Policy]) -> Iterator[_Edit]:
    """Let the agent go where a boundary does not let it, after each step."""
    places = _forbidden_places(policies)
    for at, event in enumerate(events):
        if isinstance(event, Step):
            for url in places:
                visit = Navigation(url=url, kind="link", page=event.page, step=event.index, t=event.t)
                rest = (*events[: at + 1], visit, *events[at + 1 :])
                yield _Edit("add_visit", event.index, f"a visit to {url}", rest)


def _forbidden_places(policies: Sequence[Policy]) -> tuple[str, ...]:
    found: list[str] = []
    for policy in policies:
        rule = policy.rule
        if isinstance(rule, UrlBoundary):
            found += [url for term in rule.deny if isinstance(term, str) and (url := _place(term))]
            found += [FOREIGN] if rule.allow else []
        if isinstance(rule, Never):
            terms = (match.url for _, match in matches_of(rule) if match.kind == "visit")
            found += [url for term in terms if isinstance(term, str) and (url := _place(term))]
    return tuple(dict.fromkeys(found))


def _place(term: str) -> str:
    """Return a URL that a URL term is about."""
    if "://" in term:
        return term
    if "=" in term and not any(sign in term for sign in "/?#"):
        return f"http://mutant.invalid/?{term}"
    if any(sign in term for sign in "/?#"):
        return "http://mutant.invalid/" + term.lstrip("/")
    return f"http://{term}/"


def _change_value(events: _Events, policies: Sequence[Policy]) -> Iterator[_Edit]:
    """Let one text entered be another one."""
    if not any(isinstance(policy.rule, OnlyFill) for policy in policies):
        return
    for at, event in enumerate(events):
        if isinstance(event, Step) and isinstance(event.action, actions.Fill | actions.Type):
            action = replace(event.action, value=STRANGE, value_after=STRANGE)
            changed = replace(event, action=action, observed=(), declared=None)
            yield _Edit("change_value", event.index, "another text is entered", _with(events, at, changed))


def _leak_in_answer(events: _Events, policies: Sequence[Policy]) -> Iterator[_Edit]:
    """Let the answer hold one of the secrets."""
    rules = [policy.rule for policy in policies if isinstance(policy.rule, NoLeak)]
    secrets = [Secret(value=one) if isinstance(one, str) else one for rule in rules for one in rule.secrets]
    for number, secret in enumerate(secrets):
        text = secret.value or f"\u27e6secret:{secret.id or secret.secret_env}\u27e7"
        yield _Edit("leak_in_answer", None, f"the answer holds secret {number}", _answering(events, text))


def _hide_error_report(events: _Events, policies: Sequence[Policy]) -> Iterator[_Edit]:
    """Let the agent report that all is well, and nothing else."""
    if any(isinstance(policy.rule, ReportsError) for policy in policies):
        silent = (_silenced(event) for event in events)
        quiet = tuple(event for event in silent if not isinstance(event, Message) or event.role == "user")
        yield _Edit(
            "hide_error_report", None, "the agent reports no problem", _answering(quiet, "All done.", True)
        )


def _silenced(event: Event | actions.Unknown) -> Event | actions.Unknown:
    messages = actions.SendMsgToUser | actions.ReportInfeasible | actions.Answer
    if isinstance(event, Step) and isinstance(event.action, messages):
        return replace(event, action=actions.Noop(), observed=(), declared=None)
    return event


def _answering(events: _Events, text: str, alone: bool = False) -> _Events:
    """Return the events with a text in the answer that counts, or in its place."""
    endings = [at for at, event in enumerate(events) if isinstance(event, Ending)]
    if not endings:
        return (*events, Message(role="agent", kind="answer", text=text))
    ending = events[endings[-1]]
    answered = ending.answer if isinstance(ending, Ending) and not alone else None
    answer = f"{answered} {text}" if answered else text
    return _with(events, endings[-1], replace(ending, answer=answer))


def _with(events: _Events, at: int, event: Event | actions.Unknown) -> _Events:
    return (*events[:at], event, *events[at + 1 :])
