"""Policies that look for the same thing look for it once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from replaykit.grading.policies.events import match_cache
from replaykit.grading.policies.events.event_patterns import Pattern
from replaykit.grading.policies.events.event_stream import history
from replaykit.grading.policies.events.match_cache import track_of
from replaykit.grading.policies.events.scope_window import Window
from replaykit.replay.player import Replay
from replaykit.tasks.policy_rules import Match, Scope


@pytest.fixture
def window(run: Any) -> Window:
    built = (
        run()
        .look("http://h.test/", "<p>Hi</p>")
        .click("Save")
        .click("Send")
        .look("http://h.test/b", "")
        .ended()
    )
    return Window(history(Replay(built)), None)


def match(**fields: Any) -> Match:
    return msgspec.convert(fields, Match)


def test_equal_matches_share_a_track(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Match] = []
    monkeypatch.setattr(match_cache, "Pattern", lambda one: made.append(one) or Pattern(one))
    first = track_of(match(action="click", text="Save"), window, done=False)
    assert track_of(match(action="click", text="Save"), window, done=False) is first
    assert track_of((match(action="click", text="Save"),), window, done=False) is first
    assert len(made) == 1
    assert track_of(match(action="click", text="Save"), window, done=True) is not first
    assert len(made) == 2


def test_a_condition_on_urls_with_a_query_may_be_shared(window: Window) -> None:
    wanted = match(kind="visit", url={"host": "h.test", "query": {"a": "1"}})
    assert track_of(wanted, window, done=False) is track_of(wanted, window, done=False)


def test_actions_are_looked_up_by_their_types(window: Window) -> None:
    kinds = frozenset({"action", "page"})
    clicks = Pattern(match(kind=["action", "page"], action="@activate")).types
    assert [held.event.kind for held in window.of(kinds, clicks)].count("action") == 2
    fills = Pattern(match(action="fill")).types
    assert {held.event.kind for held in window.of(kinds, fills)} == {"page"}
    assert window.of(kinds) == window.of(kinds, clicks)


def test_a_scope_has_a_window_of_its_own(window: Window) -> None:
    scoped = Window(window.history, Scope(after=match(action="click", text="Save")))
    wanted = match(action="click")
    assert len(track_of(wanted, window, done=False).certain) == 2
    assert len(track_of(wanted, scoped, done=False).certain) == 1
