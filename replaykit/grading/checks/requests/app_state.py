"""The state that an app ends in: JSON it sent or answered, and globals of a page (script rewards)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from replaykit.decoders import decode_as_python
from replaykit.grading.checks.absence import resting_on
from replaykit.grading.checks.requests.exchange_order import candidates, is_redirected, is_unanswered
from replaykit.grading.checks.requests.json_predicates import holds, same
from replaykit.grading.checks.requests.run_requests import Missing
from replaykit.grading.checks.requests.state_faults import state_faults
from replaykit.grading.checks.requirement import (
    Graded,
    Ruling,
    Terms,
    error,
    failed,
    graded,
    of_peer,
    undecided,
)
from replaykit.grading.values.bounded_regex import RegexRefused
from replaykit.grading.values.jsonpath import find
from replaykit.grading.values.jsonpath_limits import PathFault
from replaykit.grading.values.urls import EXACT, SAME, matches
from replaykit.grading.verdict import Evidence, Outcome, Value
from replaykit.patterns import lazy_pattern
from replaykit.replay.agent_made_pages import FORGED
from replaykit.replay.player import Replay
from replaykit.tasks.state_checks import ExchangeChoice, Predicate, StateHttp, StateScript
from replaykit.trajectory.completeness import lacking
from replaykit.trajectory.exchange import Exchange, Script
from replaykit.trajectory.redaction_marks import HIDDEN, holds_mark
from replaykit.trajectory.step import Probe

RAW, DONE, REASON = "WOB_RAW_REWARD_GLOBAL", "WOB_DONE_GLOBAL", "WOB_REWARD_REASON"
"""Globals of MiniWoB++; its discounted reward is graded by no one."""

_NOTHING = object()
_SUCCESS = range(200, 300)


class StateDocument(NamedTuple):
    """One document that an exchange holds."""

    document: Any
    """JSON, a status, or headers."""
    evidence: Evidence
    """Where it is."""
    doubt: str | None = None
    """Code of what is missing to know that this state is meant; None: it is."""


def grade_state(check: StateHttp, replay: Replay, terms: Terms) -> tuple[Graded, ...]:
    """Grade every predicate on the state that was sent or answered."""
    if wrong := [*state_faults(check)]:
        return tuple(_unmeant(path, reason, check, terms) for path, reason in wrong)
    predicates = check.where or (Predicate(op="exists"),)
    names = [f"where.{number}" for number in range(len(check.where))] or ["exchange"]
    states = _states(check, replay)
    found: list[Graded] = []
    for name, predicate in zip(names, predicates, strict=True):
        ruling, evidence = _ruling(check, predicate, states, replay, terms)
        found.append(graded(name, ruling, None, terms.mode, evidence))
    return tuple(found)


def _unmeant(path: str, reason: str, check: StateHttp, terms: Terms) -> Graded:
    name = _PLACE.sub(r"where.\1", path) if path.startswith(".where") else "exchange"
    shown = Value(raw=f"{check.exchange.method} {check.exchange.path}", type="request")
    return graded(name, error("bad_definition", f"{path}: {reason}", shown), None, terms.mode, Evidence())


_PLACE = lazy_pattern(r"^\.where\[(\d+)\].*$")


def grade_script(check: StateScript, replay: Replay, terms: Terms, url: str | None) -> Graded:
    """Grade a global of the page; `url` is the page that a MiniWoB++ task is on."""
    if terms.rules.has_raw_reward:
        return _miniwob(replay, terms, url)
    script = _last(replay, check.value)
    if script is None:
        return graded(
            "value", undecided("not_recorded", f"script:{check.value}"), None, terms.mode, Evidence()
        )
    node = script.read.value if script.read.kind not in ("undefined", "exception") else _NOTHING
    ruling = _compared(Predicate(op=check.op, value=check.expected), [] if node is _NOTHING else [node], None)
    return graded("value", ruling, None, terms.mode, _script_evidence(script, replay))


def _miniwob(replay: Replay, terms: Terms, url: str | None) -> Graded:
    raw, done = _last(replay, RAW), _last(replay, DONE)
    if raw is None or done is None:
        missing = undecided("not_recorded", f"script:{RAW if raw is None else DONE}")
        return graded("reward", missing, missing, terms.mode, Evidence())
    reward, is_done = raw.read.value, done.read.value is True
    expected, found = Value(raw=1, type="number"), Value(raw=reward, type="number")
    reason = None if is_done and same(reward, 1) else "not_submitted" if not is_done else "differs"
    strict = Ruling(
        outcome=Outcome.PASS if reason is None else Outcome.FAIL,
        rule="done, and the raw reward is 1",
        reason=reason,
        expected=expected,
        found=found,
    )
    is_number = isinstance(reward, int | float) and not isinstance(reward, bool)
    is_there = url is None or (replay.final is not None and _same_page(replay.final.url, url))
    compat = of_peer(
        is_number and reward > 0 and is_there, "raw reward above 0, on the task's page", expected, found
    )
    return graded("reward", strict, compat, terms.mode, _script_evidence(raw, replay))


def _same_page(found: str | None, url: str) -> bool:
    """Return whether the page of the task is still shown.

    For the benchmark any anchor, even `#`, is another.
    """
    if found is None or ("#" in found) is not ("#" in url):
        return False
    return found == url or matches(url, found, SAME)


def _last(replay: Replay, name: str) -> Script | None:
    """Return the last read of a global: the last episode counts."""
    reads = [event for event in replay.trajectory.of_type(Script) if event.name == name]
    return reads[-1] if reads else None


def _script_evidence(script: Script, replay: Replay) -> Evidence:
    return Evidence(
        source="script", step=script.step, event=replay.trajectory.events.index(script), strength="strong"
    )


def _states(check: StateHttp, replay: Replay) -> Ruling | list[StateDocument]:
    choice = check.exchange
    try:
        if choice.phase != "run":
            return _probed(choice, replay)
        found = _exchanges(choice, replay)
        if choice.which == "count" and choice.ok:
            _require_answers(found)
        meant = candidates([one for _, one in found], choice)
        return [_state(*found[one.place], choice, replay)._replace(doubt=one.doubt) for one in meant]
    except Missing as missing:
        return undecided("not_recorded", str(missing))


def _require_answers(found: list[tuple[int, Exchange]]) -> None:
    logged_only = next((one for _, one in found if one.source == "netlog"), None)
    if logged_only is not None:
        raise Missing(f"response:{logged_only.id}")


def _exchanges(choice: ExchangeChoice, replay: Replay) -> list[tuple[int, Exchange]]:
    return [
        (place, event)
        for place, event in enumerate(replay.trajectory.events)
        if isinstance(event, Exchange) and event.actor != "probe" and _is_chosen(event, choice)
    ]


def _is_chosen(exchange: Exchange, choice: ExchangeChoice) -> bool:
    # Whether it failed is unknown if only the net log has it, no one answered it, or it led elsewhere.
    is_unknown = exchange.source == "netlog" or is_unanswered(exchange) or is_redirected(exchange)
    is_ok = exchange.status in _SUCCESS or not choice.ok or is_unknown
    return is_ok and exchange.method.upper() == choice.method.upper() and _is_at(exchange.url, choice.path)


def _is_at(url: str, path: str) -> bool:
    """Return whether a URL has a path; the query counts where the path has one, a final slash never."""
    if "://" in path:
        return matches(path, url, EXACT)
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    wanted, mark, query = path.partition("?")
    is_path = wanted.rstrip("/") == parts.path.rstrip("/")
    return is_path and (not mark or query == parts.query)


def _state(place: int, exchange: Exchange, choice: ExchangeChoice, replay: Replay) -> StateDocument:
    evidence = Evidence(
        source="exchange", step=exchange.step, event=place, url=exchange.url, strength="strong"
    )
    if choice.which == "count":
        return StateDocument(_NOTHING, evidence)
    if exchange.source == "netlog":
        return StateDocument(Missing(f"response:{exchange.id}"), evidence)
    if exchange.source == "agent":
        return StateDocument(Missing(FORGED), evidence)
    if choice.part != "request" and is_unanswered(exchange):
        return StateDocument(Missing(f"unanswered:{exchange.id}"), evidence)
    match choice.part:
        case "status":
            return StateDocument(exchange.status, evidence)
        case "headers":
            if exchange.response_headers is None:
                raise Missing(f"headers:{exchange.id}")
            return StateDocument({name.lower(): value for name, value in exchange.response_headers}, evidence)
    blob = exchange.post if choice.part == "request" else exchange.body
    return StateDocument(_json(blob, str(exchange.id), replay), evidence)


def _probed(choice: ExchangeChoice, replay: Replay) -> list[StateDocument]:
    found: list[StateDocument] = []
    for page in replay.probes:
        probe = page.seen
        if not isinstance(probe, Probe) or probe.path is None or probe.phase != choice.phase:
            continue
        if _is_at(probe.path, choice.path) and (probe.status in _SUCCESS or not choice.ok):
            evidence = Evidence(source="probe", event=page.place, url=probe.path, strength="strong")
            is_status = choice.part == "status"
            found.append(
                StateDocument(probe.status if is_status else _json(probe.body, probe.id, replay), evidence)
            )
    if not found:
        raise Missing(f"api:state:{choice.path}")
    return {"first": found[:1], "last": found[-1:]}.get(choice.which, found)


def _json(blob: Any, number: str, replay: Replay) -> Any:
    if blob is None:
        return _NOTHING
    if not isinstance(blob, str) or blob not in replay.bundle:
        raise Missing(f"body:{number}")
    try:
        return decode_as_python(replay.bundle.blob(blob))
    except (ValueError, RecursionError):
        return _NOTHING


def _ruling(
    check: StateHttp, predicate: Predicate, states: Ruling | list[StateDocument], replay: Replay, terms: Terms
) -> tuple[Ruling, Evidence]:
    if isinstance(states, Ruling):
        return states, Evidence()
    choice = check.exchange
    if choice.which == "count":
        ruling = _counted(predicate, states)
        return resting_on(ruling, replay, terms), Evidence(source="exchange")
    earlier = _earlier(check, replay) if predicate.op == "changed" else _NOTHING
    judged = [(_at(predicate, state, earlier), state) for state in states]
    known = [one for one in judged if one[1].doubt is None]
    ruling, evidence = _of_known(known, choice, replay)
    # One that is surely meant is enough, whatever the doubtful ones hold.
    if choice.which == "any" and ruling.outcome is Outcome.PASS:
        return ruling, evidence
    # A doubtful exchange decides nothing; if it would change the outcome, the outcome is unknown.
    for other, state in judged:
        if state.doubt is not None and other.outcome is not ruling.outcome:
            return undecided("not_recorded", state.doubt), state.evidence
    return ruling, evidence


def _of_known(
    known: Sequence[tuple[Ruling, StateDocument]], choice: ExchangeChoice, replay: Replay
) -> tuple[Ruling, Evidence]:
    """Return the ruling on what is surely meant."""
    if not known:
        codes = lacking(replay.trajectory, "network")
        if codes:
            return undecided("not_recorded", *codes), Evidence()
        shown = Value(raw=f"{choice.method} {choice.path}", type="request")
        return failed("no_exchange", "there is such an exchange", shown), Evidence()
    best = next((one for one in known if one[0].outcome is Outcome.PASS), None)
    best = best or next((one for one in known if one[0].outcome is Outcome.UNDECIDED), known[-1])
    return best[0], best[1].evidence


def _counted(predicate: Predicate, states: Sequence[StateDocument]) -> Ruling:
    """Compare the number of matches, once with and once without those that are unknown."""
    doubts = [state.doubt for state in states if state.doubt is not None]
    least = len(states) - len(doubts)
    ruled = [_compared(predicate, [number], None) for number in range(least, len(states) + 1)]
    if len({one.outcome for one in ruled}) > 1:
        return undecided("not_recorded", doubts[0])
    return ruled[0]


def _at(predicate: Predicate, state: StateDocument, earlier: Any) -> Ruling:
    if isinstance(state.document, Missing):
        return undecided("not_recorded", str(state.document))
    if state.document is _NOTHING:
        return failed("not_json", "the state is JSON")
    try:
        nodes = find(predicate.at, state.document)
        before = None if earlier is _NOTHING else find(predicate.at, earlier)
        if predicate.op not in ("exists", "absent") and holds_mark([*nodes, *(before or ())]):
            return undecided("hidden", HIDDEN)
        return _compared(predicate, nodes, before)
    except (PathFault, RegexRefused) as fault:
        return error("bad_predicate", str(fault), Value(raw=predicate.at, type="path"))


def _earlier(check: StateHttp, replay: Replay) -> Any:
    """Return the state before: what was asked for before the run, else the first that was sent."""
    choice = check.exchange
    before = ExchangeChoice(method="GET", path=choice.path, phase="pre")
    try:
        return _probed(before, replay)[-1].document
    except Missing:
        found = _exchanges(choice, replay) if choice.phase == "run" else []
        first = _state(*found[0], choice, replay).document if len(found) > 1 else _NOTHING
        return _NOTHING if isinstance(first, Missing) else first


def _compared(predicate: Predicate, nodes: list[Any], before: list[Any] | None) -> Ruling:
    expected = Value(raw=predicate.value, type=predicate.op)
    found = Value(raw=nodes[0] if len(nodes) == 1 else nodes, type="json")
    if predicate.op == "changed" and before is None:
        return undecided("not_recorded", "state.before")
    rule = f"{predicate.at or 'the whole'} {predicate.op}"
    matches_all = _fulfils(predicate, nodes, before)
    return Ruling(
        outcome=Outcome.PASS if matches_all else Outcome.FAIL,
        rule=rule,
        reason=None if matches_all else "differs" if nodes else "no_value",
        expected=expected,
        found=found,
    )


def _fulfils(predicate: Predicate, nodes: list[Any], before: list[Any] | None) -> bool:
    match predicate.op:
        case "exists":
            return bool(nodes)
        case "absent":
            return not nodes
        case "changed":
            return not same(nodes, before)
    results = [holds(predicate.op, node, predicate.value, predicate.value_type) for node in nodes]
    return any(results) if predicate.any else bool(results) and all(results)
