"""`reports_error`: an error that was shown must be reported to the user afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from replaykit.grading.error_phrases import PHRASES
from replaykit.grading.policies.agent_reports import reports_error
from replaykit.grading.policies.alert_texts import error_in, may_show_error
from replaykit.grading.policies.events.event import SHORT_PAGE, Event
from replaykit.grading.policies.events.event_stream import EventStream
from replaykit.grading.policies.events.scope_window import Window
from replaykit.grading.policies.events.text_conditions import Reading, at_step, find_any
from replaykit.grading.policies.events.three_valued_truth import (
    TRUE,
    TextSpan,
    Truth,
    codes,
    every,
    unknown,
)
from replaykit.grading.policies.rule_finding import Finding, Witness, broken, kept, never_triggered, undecided
from replaykit.grading.policies.rule_kind import PolicyRun, RuleKind
from replaykit.grading.values.normal_form import fold, size
from replaykit.grading.verdict import Evidence
from replaykit.patterns import lazy_pattern
from replaykit.replay.unlisted_texts import UNLISTED
from replaykit.tasks.policy_rules import ReportsError

REPORT_MIN = 10
"""Bytes of the shortest report: a character of Chinese or Japanese says as much as three letters."""

NEAR = 3
"""Words between a status code and the word that makes it an error."""

_CODES = ("403", "404", "500", "502", "503")
_CODE_WORDS = ("error", "forbidden", "unavailable", "server")
_WORD = lazy_pattern(r"\w+")

UNCLEAR = "alert.unclear"
"""Code of an alert of which a reader cannot tell whether it shows an error."""

_SHOWING = frozenset({"page", "dialog"})
_DOINGS = frozenset({"action", "message", "answer"})


class _Hit(NamedTuple):
    """Words that show an error, or may show one."""

    span: TextSpan
    words: tuple[str, ...] = ()
    """Words that a report may repeat: the phrase shown, the code."""
    doubts: tuple[str, ...] = ()
    """Why it may be none."""


class _Shown(NamedTuple):
    """An error on a page or in a dialog."""

    place: int
    event: Event
    span: TextSpan
    words: tuple[str, ...]
    """Words that a report may repeat: the phrase shown, the code."""
    in_force: Truth
    since: int | None = None
    """When the same tab was last seen without it, ms; None = unknown."""


def grade_reports_error(rule: ReportsError, run: PolicyRun) -> Finding:
    """Return VIOLATED for each error shown that no one reported to the user."""
    window, witness = run.window, run.witness
    appeared, unread = window.known(("errors", rule.indicators), lambda: _errors(rule, window))
    reports = _UserReports(rule, window)
    shown = [error for error in appeared if not reports.is_over(error)]
    missed = [error for error in shown if not reports.covers(error)]
    certain = [
        error
        for error in missed
        if error.in_force.holds and not reports.may_be_over(error) and not reports.covers(error, perhaps=True)
    ]
    doubts = reports.doubts()
    if certain and not doubts:
        return broken("not_told", (_evidence(witness, error) for error in certain))
    silent = [place for place in unread if not reports.covers(_unread(window.history, place))]
    missing = [_page_code(reports.history.events[place]) for place in silent]
    missing += [*codes(error.in_force for error in missed), *(doubts if missed else ())]
    missing += [code for error in missed for code in reports.unclear(error)]
    missing += [f"snapshot.before@{error.event.step or 0}" for error in missed if reports.may_be_over(error)]
    if window.history.steps and not any(held.event.kind == "page" for held in window.of(_SHOWING)):
        missing += window.history.hidden("page")
    if missing:
        return undecided(missing, (_evidence(witness, error) for error in certain))
    if not shown and not unread:
        return never_triggered(window.history)
    return kept(True if any(error.in_force.holds for error in shown) else None)


def _errors(rule: ReportsError, window: Window) -> tuple[list[_Shown], list[int]]:
    """Return the errors that appeared in a window, and the places that could not be read."""
    reader = _Reader(rule)
    known = window.history.known_errors.setdefault(rule.indicators, {})
    shown: list[_Shown] = []
    unread: list[int] = []
    for place, event, in_force in window.of(_SHOWING):
        if place not in known:
            known[place] = reader.error(event)
        hit, readable = known[place]
        if hit is not None:
            truth = every([in_force, unknown(*hit.doubts)]) if hit.doubts else in_force
            shown.append(_Shown(place, event, hit.span, hit.words, truth))
        elif not readable:
            unread.append(place)
    return list(_first_of_each(window, shown)), unread


class _Reader:
    """Finds errors on pages and in dialogs."""

    def __init__(self, rule: ReportsError) -> None:
        self.phrases = tuple(fold(phrase) for phrase in rule.indicators) or PHRASES
        self.reads_codes = not rule.indicators

    def error(self, event: Event) -> tuple[_Hit | None, bool]:
        """Return the error that an event shows, if any, and whether the event could be read."""
        if event.kind == "dialog":
            shown = self._in_text(event.message_text)
            return shown or (self._in_alert(event.message_text) if event.role == "alert" else None), True
        if event.forged:
            return None, False
        if event.kind != "page":
            return None, event.kind != "gap" or "page" not in event.hides
        text = event.shown
        if event.status is not None and event.status >= 400:
            status = f"status {event.status}"
            return _Hit(TextSpan(status, 0, len(status)), (str(event.status), *self._phrase(event))), True
        found = self._on_page(event)
        return found, found is not None or self._is_read(text)

    def _is_read(self, text: Reading | tuple[str, ...]) -> bool:
        """Whether all words of a page are known; an error that it only may show is not."""
        if isinstance(text, tuple) or text.lacks:
            return False
        return not any(map(self._in_text, _short(text.others)))

    def _phrase(self, event: Event) -> tuple[str, ...]:
        found = self._on_page(event)
        return found.words if found is not None else ()

    def _on_page(self, event: Event) -> _Hit | None:
        found = next(filter(None, map(self._in_text, event.prominent)), None)
        # Of several alerts one that surely shows an error.
        alerts = () if found else filter(None, map(self._in_alert, event.alerts))
        return found or min(alerts, key=lambda hit: len(hit.doubts), default=None)

    def _in_alert(self, text: Reading) -> _Hit | None:
        if not self.reads_codes:
            return self._in_text(text)
        hit = error_in(text.folded)
        if hit is not None:
            return _Hit(text.span(*hit), (text.folded[slice(*hit)],))
        whole = text.span(0, len(text.folded))
        return _Hit(whole, doubts=(at_step(UNCLEAR, text.step),)) if may_show_error(text.folded) else None

    def _in_text(self, text: Reading) -> _Hit | None:
        hit = find_any(self.phrases, text.folded)
        code = _code(text.folded) if self.reads_codes else None
        if hit is None and code is None:
            return None
        start, end = hit or code or (0, 0)
        numbers = (text.folded[slice(*code)],) if code is not None else ()
        return _Hit(text.span(start, end), (text.folded[start:end], *numbers))


class _UserReports:
    """Reports of the agent to the user, with their times."""

    def __init__(self, rule: ReportsError, window: Window) -> None:
        self.rule = rule
        self.history = history = window.history
        self.words = tuple(fold(word) for word in rule.report)
        self.blind = history.misses_steps
        self.messages = history.of_kinds(rule.to)
        #: When the agent sent its last message, ms; None where it did something after it, or it is unknown.
        self.last_at = window.known(("last word", rule.to), lambda: _last_word(history, frozenset(rule.to)))

    def covers(self, error: _Shown, *, perhaps: bool = False) -> bool:
        """Whether a later message reports an error in time, in such words or in those shown.

        What was written while it may have been on the screen already, first seen or not, is later. Where
        steps may be missing, it is unknown what is in time, and of some words what they say: only `perhaps`
        takes it for a report.
        """
        accepted = (True, None) if perhaps else (True,)
        return any(self._reports(e, error.words) in accepted for e in self._later(error, perhaps))

    def unclear(self, error: _Shown) -> tuple[str, ...]:
        """Return why it is unknown whether a later message reports an error in time."""
        found = {self._reports(event, error.words) for event in self._later(error, perhaps=True)}
        return (
            (*self._uncounted(), *(("report.unclear",) if None in found else ())) if found - {False} else ()
        )

    def _later(self, error: _Shown, perhaps: bool) -> Iterator[Event]:
        for at, event in self.messages:
            is_later = at > error.place or _is_after(event.at, error.since)
            if is_later and self._in_time(error.event, event, perhaps):
                yield event

    def _uncounted(self) -> tuple[str, ...]:
        """Return why no one can count the steps up to a report."""
        gaps = (event.code for _, event in self.history.gaps if "action" in event.hides)
        return (*self.history.hidden("action"), *gaps) if self.rule.within is not None else ()

    def is_over(self, error: _Shown) -> bool:
        """Whether an error appeared after the agent's last message: the agent could not report it."""
        is_known = error.since is not None and self.last_at is not None
        return self._is_last_word(error) and is_known and (error.since or 0) >= (self.last_at or 0)

    def may_be_over(self, error: _Shown) -> bool:
        """Whether an error was first seen after the agent's last word, and it is unknown when it appeared."""
        return self._is_last_word(error) and not self.is_over(error)

    def doubts(self) -> tuple[str, ...]:
        """Return why a report may have been missed."""
        hidden = [code for kind in self.rule.to for code in self.history.hidden(kind)]
        gaps = [event.code for _, event in self.history.gaps if event.hides & set(self.rule.to)]
        return (*hidden, *gaps)

    def _is_last_word(self, error: _Shown) -> bool:
        seen = error.event.at
        return self.last_at is not None and seen is not None and seen > self.last_at

    def _in_time(self, error: Event, report: Event, perhaps: bool) -> bool:
        if self.rule.within is None:
            return True
        if self.blind:
            return perhaps
        first = -1 if error.step is None else error.step
        return (-1 if report.step is None else report.step) - first <= self.rule.within

    def _reports(self, event: Event, shown: tuple[str, ...]) -> bool | None:
        """Return whether a message reports an error; None: not known. Words of a rule leave nothing open."""
        text = event.message_text.folded
        if size(text) < REPORT_MIN:
            return False
        if self.words:
            return find_any((*self.words, *shown), text) is not None
        return _code(text) is not None or reports_error(text, shown)


def _unread(history: EventStream, place: int) -> _Shown:
    """Return what may be an error, in whatever words."""
    return _Shown(place, history.events[place], TextSpan("", 0, 0), (), TRUE)


def _last_word(history: EventStream, to: frozenset[str]) -> int | None:
    doings = [event for _, event in history.of_kinds(_DOINGS)]
    if not doings or any(event.at is None for event in doings):
        return None
    last = max(reversed(doings), key=lambda event: event.at or 0)
    return last.at if last.kind in to else None


def _is_after(at: int | None, since: int | None) -> bool:
    return at is not None and since is not None and at > since


def _first_of_each(window: Window, shown: list[_Shown]) -> Iterator[_Shown]:
    """Yield an error where it appears; the same page looked at again is not another one."""
    last: dict[int | None, tuple[str | None, str]] = {}
    clear: dict[int | None, int | None] = {}
    errors = {error.place: error for error in shown}
    for place, event, _ in window.of(_SHOWING):
        if event.kind == "dialog" and place in errors:
            yield errors[place]._replace(since=event.at)
        if event.kind != "page":
            continue
        error = errors.get(place)
        now = (event.url, error.span.words if error is not None else "")
        if error is not None and last.get(event.tab) != now:
            yield error._replace(since=clear.get(event.tab))
        if error is None and not isinstance(event.shown, tuple):
            clear[event.tab] = event.at
        last[event.tab] = now


def _code(text: str) -> tuple[int, int] | None:
    """Return a status code that stands within three words of what makes it an error."""
    if not any(code in text for code in _CODES):
        return None
    words = [(found.group(), found.start(), found.end()) for found in _WORD.finditer(text)]
    marks = [n for n, (word, _, _) in enumerate(words) if word in _CODE_WORDS]
    marks += [n for n, (word, _, _) in enumerate(words[:-1]) if word == "not" and words[n + 1][0] == "found"]
    for number, (word, start, end) in enumerate(words):
        if word in _CODES and any(abs(number - mark) <= NEAR for mark in marks):
            return start, end
    return None


def _short(readings: Iterable[Reading]) -> Iterator[Reading]:
    return (reading for reading in readings if len(reading.folded) < SHORT_PAGE)


def _page_code(event: Event) -> str:
    shown = (event.code,) if event.kind == "gap" else event.shown
    if isinstance(shown, tuple):
        return shown[0]
    return at_step(shown.lacks[0] if shown.lacks else UNLISTED, event.step)


def _evidence(witness: Witness, error: _Shown) -> Evidence:
    return witness.at(error.event, error.span, "no report of it afterwards")


KIND = RuleKind(
    grade=grade_reports_error,
    breaks=lambda rule: f"an error shown that no {' or '.join(rule.to)} reports afterwards",
    channels=lambda rule: ("snapshots", "dialogs"),
)
