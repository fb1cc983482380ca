"""Predicates decided by code on a recording: SUPPORTED, CONTRADICTED or NOT_SHOWN, each with its evidence.

A predicate is contradicted only by positive evidence: another value beside the label, another state, a text
that should be gone, a request that should not exist. A complete channel without such an event also
contradicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import ReplayError
from replaykit.grading.judges.claims import predicates
from replaykit.grading.judges.claims.field_labels import controls_of, count_of, of_type, places_of
from replaykit.grading.judges.claims.request_matching import is_place, is_specific, wanted_changes
from replaykit.grading.judges.claims.run_facts import RunFacts, SeenPage
from replaykit.grading.judges.claims.spurious_evidence import is_about, is_echo, is_vacuous
from replaykit.grading.server_changes import Change
from replaykit.grading.values.normal_form import fold, includes
from replaykit.grading.values.numbers import only_number
from replaykit.grading.values.typed_comparison import compare
from replaykit.grading.verdict import Evidence, Value
from replaykit.replay.dom import Node
from replaykit.trajectory.action_rendering import element_name, render_action
from replaykit.trajectory.exchange import Download
from replaykit.trajectory.step import Step

DECIDE_VERSION = 1
"""Raised when a predicate may be decided differently; part of the judge's fingerprint."""

LABELLED_MAX = 20
"""Looks at pages with a label that a value is looked for on, the last ones: each is parsed."""

EVIDENCE_MAX = 3
"""Pieces of evidence of one predicate."""


class ClaimFinding(StrEnum):
    """Finding of a recording about a predicate, a need or a claim."""

    CONTRADICTED = "CONTRADICTED"
    """It shows the opposite."""
    NOT_SHOWN = "NOT_SHOWN"
    """It does not show it."""
    SUPPORTED = "SUPPORTED"
    """It shows it."""


class Decision(Struct, frozen=True, kw_only=True):
    """One predicate, decided."""

    finding: ClaimFinding
    """Result."""
    reason: str = ""
    """Why it is not supported, in a word."""
    evidence: tuple[Evidence, ...] = ()
    """Where it comes from."""
    events: tuple[int, ...] = ()
    """Requests that it explains, by their positions in the story."""


class Subject(Struct, frozen=True, kw_only=True):
    """Subject of a predicate."""

    facts: RunFacts
    """The run."""
    texts: tuple[str, ...]
    """Task, answer and the words quoted."""
    taken: frozenset[int] = frozenset()
    """Requests that other needs have explained already."""


def supported(evidence: Sequence[Evidence], events: Sequence[int] = ()) -> Decision:
    """Return that the recording shows it."""
    return Decision(
        finding=ClaimFinding.SUPPORTED, evidence=tuple(evidence[:EVIDENCE_MAX]), events=tuple(events)
    )


def not_shown(reason: str, evidence: Sequence[Evidence] = ()) -> Decision:
    """Return that the recording does not show it, and why."""
    return Decision(finding=ClaimFinding.NOT_SHOWN, reason=reason, evidence=tuple(evidence[:EVIDENCE_MAX]))


def contradicted(reason: str, evidence: Sequence[Evidence]) -> Decision:
    """Return that the recording shows the opposite."""
    return Decision(finding=ClaimFinding.CONTRADICTED, reason=reason, evidence=tuple(evidence[:EVIDENCE_MAX]))


def decide(predicate: predicates.AnyPredicate, subject: Subject) -> Decision:
    """Decide one predicate. A page that cannot be asked shows nothing."""
    if is_vacuous(predicate):
        return not_shown("vacuous")
    if not is_about(predicate, subject.texts):
        return not_shown("unrelated")
    try:
        return _DECIDERS[type(predicate)](predicate, subject)
    except ReplayError:
        return not_shown("unreadable")


def _text_visible(one: predicates.TextVisible, subject: Subject) -> Decision:
    facts = subject.facts
    looks = _looks(one.where, facts)
    if isinstance(looks, str):
        return not_shown(looks)
    text = fold(one.text)
    at = [look for look in looks if not one.url or is_place(one.url, look.page.url or "", facts)]
    hits = [(look, line) for look in at for line in look.folded if includes(text, line)]
    if not hits:
        return not_shown("not_visible")
    if any(includes(text, line) for look in facts.at_start for line in look.folded):
        return not_shown("vacuous", [_seen(*hits[0])])
    own = [hit for hit in hits if not is_echo(one.text, facts.entries, hit[0].page.place)]
    return supported([_seen(*hit) for hit in own]) if own else not_shown("echo", [_seen(*hits[0])])


def _value(one: predicates.ValueShown, subject: Subject) -> Decision:
    facts = subject.facts
    looks = _looks(one.where, facts)
    if isinstance(looks, str):
        return not_shown(looks)
    if one.where == "any":
        looks = [look for look in looks if count_of(one.label, look)][-LABELLED_MAX:]
    rows = [(look, found) for look in looks if (found := _beside(one, look)) is not None]
    if not rows:
        return not_shown("not_visible")
    hits = [(look, value) for look, values in rows for value in values[:1] if _all_meet(one, values)]
    if not hits:
        return _other_value(one, rows)
    if any(_all_meet(one, _beside(one, look) or ()) for look in facts.at_start):
        return not_shown("vacuous", [_valued(one, *hits[0])])
    own = [hit for hit in hits if not is_echo(hit[1], facts.entries, hit[0].page.place)]
    shown = [_valued(one, *hit) for hit in own or hits]
    return supported(shown) if own else not_shown("echo", shown)


def _beside(one: predicates.ValueShown, look: SeenPage) -> tuple[str, ...] | None:
    """Return the value of each place where the label stands; None where a place has none or several."""
    found = [of_type(one.value, place.candidates, one.kind_of) for place in places_of(one.label, look)]
    found = [values for values in found if values]
    if not found or any(len(values) > 1 for values in found):
        return None
    return tuple(values[0] for values in found)


def _all_meet(one: predicates.ValueShown, values: Sequence[str]) -> bool:
    return bool(values) and all(_meets(one, value) for value in values)


def _meets(one: predicates.ValueShown, value: str) -> bool:
    if one.op == "equals":
        return compare(one.value, value, one.kind_of).matches
    wanted, found = only_number(one.value), only_number(value)
    if wanted is None or found is None:
        return False
    return found.value >= wanted.value if one.op == "at_least" else found.value <= wanted.value


def _other_value(one: predicates.ValueShown, rows: Sequence[tuple[SeenPage, tuple[str, ...]]]) -> Decision:
    """Return that another value stands there; where the last page has the label once, a contradiction."""
    look, values = rows[-1]
    shown = [_valued(one, look, values[0])]
    is_one = len(values) == 1 and count_of(one.label, look) <= 1
    if one.where == "final" and is_one:
        return contradicted("other_value", shown)
    return not_shown("other_value" if is_one else "ambiguous", shown)


def _absent(one: predicates.Absent, subject: Subject) -> Decision:
    facts = subject.facts
    look = facts.final
    if isinstance(look, str):
        return not_shown(look)
    text = fold(one.text)
    here = next((line for line in look.folded if includes(text, line)), None)
    if here is not None:
        return contradicted("visible", [_seen(look, here)])
    same = [other for other in facts.looks if other.page.url == look.page.url]
    before = [(other, line) for other in same for line in other.folded if includes(text, line)]
    if not before:
        return not_shown("never_there", [look.evidence])
    if look.page.seen.frames or not look.page.excludes(_IMAGES):
        return not_shown("pictures", [look.evidence])
    return supported([_seen(*before[-1]), look.evidence])


_IMAGES = "img, canvas, svg, video, object, embed, iframe, picture"


def _state(one: predicates.ControlState, subject: Subject) -> Decision:
    facts = subject.facts
    look = facts.final
    if isinstance(look, str):
        return not_shown(look)
    nodes = list(controls_of(one.label, look))
    if len(nodes) != 1:
        return not_shown("ambiguous" if nodes else "not_visible")
    found = _state_of(nodes[0], one.state)
    evidence = replace(look.evidence, locator=one.label, found=Value(raw=found))
    if found is None:
        return not_shown("not_visible", [evidence])
    if found != one.state:
        return contradicted("other_state", [evidence])
    if any(_is_labelled(step, one.label) for step in facts.replay.steps):
        return not_shown("echo", [evidence])
    start = [_state_of(node, one.state) for early in facts.at_start for node in controls_of(one.label, early)]
    return not_shown("vacuous", [evidence]) if one.state in start else supported([evidence])


def _state_of(node: Node, wanted: str) -> str | None:
    if wanted in ("enabled", "disabled"):
        return "disabled" if node.disabled else "enabled"
    return None if node.checked is None else "checked" if node.checked else "unchecked"


def _is_labelled(step: Step, label: str) -> bool:
    """Return whether an action was on an element of this name."""
    element = step.action.element
    if element is None:
        return False
    names = (
        (element.names.label, element.names.aria_label, element.names.placeholder) if element.names else ()
    )
    called = (element_name(element), element.name, *names, (element.attributes or {}).get("name"))
    return fold(label).rstrip(":* ") in {fold(name).rstrip(":* ") for name in called if name}


def _url_visited(one: predicates.UrlVisited, subject: Subject) -> Decision:
    facts = subject.facts
    if not is_specific(one.url, one.query):
        return not_shown("vacuous")
    hits = [hit for hit in facts.visits if is_place(one.url, hit[1].url, facts, one.query)]
    if not hits:
        is_known = facts.is_complete("urls") and _is_given(one.url, subject)
        return contradicted("not_visited", []) if is_known else not_shown("not_visited")
    if any(facts.is_before_first_action(place) for place, _ in hits):
        return not_shown("vacuous")
    return supported(
        [Evidence(source="navigation", event=place, step=hit.step, url=hit.url) for place, hit in hits]
    )


def _ended_on(one: predicates.EndedOn, subject: Subject) -> Decision:
    facts, page = subject.facts, subject.facts.replay.final
    if not is_specific(one.url, one.query):
        return not_shown("vacuous")
    if page is None or page.url is None:
        return not_shown("not_recorded")
    evidence = [Evidence(source="page", event=page.place, url=page.url)]
    if not is_place(one.url, page.url, facts, one.query):
        is_known = facts.is_complete("urls") and _is_given(one.url, subject)
        return (contradicted if is_known else not_shown)("elsewhere", evidence)
    if isinstance(facts.final, str):
        return not_shown(facts.final, evidence)
    if page.status is not None and page.status >= 400:
        return not_shown("failed", evidence)
    starts = [look.page.url for look in facts.at_start]
    is_start = any(is_place(one.url, url or "", facts, one.query) for url in starts)
    return not_shown("vacuous", evidence) if is_start else supported(evidence)


def _is_given(url: str, subject: Subject) -> bool:
    """Return whether task or answer name an address: one that a model guessed contradicts nothing."""
    return bool(url) and any(url.casefold() in text.casefold() for text in subject.texts)


def _request_sent(one: predicates.RequestSent, subject: Subject) -> Decision:
    facts = subject.facts
    if not one.fields and not is_specific(one.url, {}):
        return not_shown("vacuous")
    if not facts.has_network:
        return not_shown("not_recorded")
    if facts.is_quiet:
        # Who was asked may have taken the order back.
        return not_shown("user_spoke") if facts.user_spoke else contradicted("no_change", [])
    hits, others = wanted_changes(one, facts)
    hits = [change for change in hits if change.event not in subject.taken]
    if not hits:
        return contradicted("other_values", _sent(others)) if others else not_shown("no_such_request")
    if len(hits) != one.n:
        return not_shown("repeated" if len(hits) > one.n else "fewer", _sent(hits))
    return supported(_sent(hits), [change.event for change in hits])


def _no_request(one: predicates.NoRequest, subject: Subject) -> Decision:
    facts = subject.facts
    method = one.method.strip().upper()
    hits = [
        change
        for change in facts.changes
        if method in ("", change.exchange.method.upper())
        and (not one.url or is_place(one.url, change.exchange.url, facts))
    ]
    if hits:
        return contradicted("sent", _sent(hits))
    return supported([]) if facts.has_every_answer else not_shown("incomplete")


def _user_agreed(one: predicates.UserAgreed, subject: Subject) -> Decision:
    facts = subject.facts
    if not facts.changes:
        return not_shown("no_change")
    before = min(facts.began(change) for change in facts.changes)
    shown = [Evidence(source="message", event=place, step=reply.step) for place, reply in facts.agreed]
    if facts.agreed and facts.agreed[0][0] < before:
        return supported(shown)
    # Consent that came too late, or never, where every word of the user is known.
    is_known = facts.is_complete("replies") and not facts.is_undecided
    return contradicted("not_agreed", shown) if is_known else not_shown("not_agreed", shown)


def _entered(one: predicates.Entered, subject: Subject) -> Decision:
    actions = [step for step in subject.facts.replay.steps if step.done and _is_labelled(step, one.label)]
    entered = [(step, texts) for step in actions if (texts := _given(step))]
    if not entered:
        return not_shown("not_entered")
    step, texts = entered[-1]
    evidence = [Evidence(source="step", step=step.index, action=render_action(step.action))]
    if any(compare(one.value, text).matches for text in texts):
        return supported(evidence)
    if any("⟦" in text for text in texts) or not subject.facts.is_complete("actions"):
        return not_shown("masked", evidence)
    return contradicted("other_value", evidence)


def _given(step: Step) -> tuple[str, ...]:
    action = step.action
    texts = (getattr(action, "value_after", None) or getattr(action, "value", None),)
    chosen = (*getattr(action, "values", ()), *getattr(action, "labels", ()))
    return tuple(text for text in (*texts, *chosen) if isinstance(text, str))


def _count(one: predicates.Count, subject: Subject) -> Decision:
    facts = subject.facts
    if not fold(one.match) or (one.op == "at_least" and not one.n):
        return not_shown("vacuous")
    evidence = _counted(one, facts)
    channel = "actions" if one.of == "acts" else "network"
    is_met = {"exactly": len(evidence) == one.n, "at_least": len(evidence) >= one.n}
    holds = is_met.get(one.op, len(evidence) <= one.n)
    if one.op == "at_least" and holds:
        return supported(evidence)
    if one.op != "at_least" and len(evidence) > one.n:
        return contradicted("more", evidence)
    if not facts.is_complete(channel):
        return not_shown("incomplete", evidence)
    if holds:
        return supported(evidence)
    # A match that a model guessed may miss what was done.
    return not_shown("fewer", evidence)


def _counted(one: predicates.Count, facts: RunFacts) -> list[Evidence]:
    if one.of == "requests":
        return _sent([change for change in facts.changes if is_place(one.match, change.exchange.url, facts)])
    words = fold(one.match)
    lines = [(step, render_action(step.action)) for step in facts.replay.steps if step.done]
    return [
        Evidence(source="step", step=step.index, action=line)
        for step, line in lines
        if includes(words, fold(line))
    ]


def _downloaded(one: predicates.Downloaded, subject: Subject) -> Decision:
    events = enumerate(subject.facts.replay.trajectory.events)
    for event, found in events:
        if isinstance(found, Download) and fold(found.suggested or "") == fold(one.name) != "":
            evidence = [Evidence(source="download", event=event, step=found.step, url=found.url)]
            return supported(evidence) if found.state == "completed" else not_shown("unfinished", evidence)
    return not_shown("not_downloaded")


def _cannot_check(one: predicates.CannotCheck, subject: Subject) -> Decision:
    return not_shown("cannot_check")


_DECIDERS: dict[type, Callable[[Any, Subject], Decision]] = {
    predicates.TextVisible: _text_visible,
    predicates.ValueShown: _value,
    predicates.Absent: _absent,
    predicates.ControlState: _state,
    predicates.UrlVisited: _url_visited,
    predicates.EndedOn: _ended_on,
    predicates.RequestSent: _request_sent,
    predicates.NoRequest: _no_request,
    predicates.UserAgreed: _user_agreed,
    predicates.Entered: _entered,
    predicates.Count: _count,
    predicates.Downloaded: _downloaded,
    predicates.CannotCheck: _cannot_check,
}


def _looks(where: str, facts: RunFacts) -> Sequence[SeenPage] | str:
    if where == "any":
        return facts.looks
    look = facts.final
    return look if isinstance(look, str) else (look,)


def _seen(look: SeenPage, line: str) -> Evidence:
    return replace(look.evidence, excerpt=line[:200])


def _valued(one: predicates.ValueShown, look: SeenPage, value: str) -> Evidence:
    return replace(
        look.evidence, locator=one.label, expected=Value(raw=one.value), found=Value(raw=value[:200])
    )


def _sent(found: Collection[Change]) -> list[Evidence]:
    return [_request(change) for change in list(found)[: EVIDENCE_MAX * 10]]


def _request(change: Change) -> Evidence:
    one = change.exchange
    note = f"{one.method} {change.status}"
    return Evidence(source="exchange", event=change.event, step=one.step, url=one.url, note=note)
