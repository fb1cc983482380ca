"""Skipped events match nothing: words looked for in all texts at once, pages by their bytes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replaykit.grading.policies.events.event_index import Concordance, may_be_at_stake, may_match
from replaykit.grading.policies.events.event_patterns import Pattern
from replaykit.grading.policies.events.event_stream import history
from replaykit.grading.policies.events.scope_window import Window
from replaykit.replay.player import Replay
from replaykit.tasks.policy_rules import Match
from replaykit.trajectory.action import Click, Element, Fill, Unknown

from .test_policy_grading import MOVES

SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
TEXTS = st.lists(st.none() | st.text("ab\n", max_size=6), max_size=8)
WORDS = st.lists(st.text("ab", max_size=3), max_size=3)

MATCHES: list[dict[str, Any]] = [
    {"action": "click", "text": "Pay"},
    {"text": ["pay", "NEXT"], "selector": "p"},
    {"action": "@activate", "text": {"equals": "Pay"}},
    {"text": {"contains": "Pay", "ignore_case": False}},
    {"text": {"regex": "p.y"}},
    {"selector": "button"},
    {"action": "click", "selector": "#nowhere"},
    {"selector": "//button"},
    {"url": "/admin", "unless": {"action": "click"}},
    {"url": {"host": "h.test", "query": {"a": "1"}}},
    {"kind": "visit", "url": ["/b", "h.test", "http://h.test/admin"]},
    {"kind": ["visit", "action"], "url": "/a"},
    {"kind": "page", "text": "admin"},
    {"kind": ["message", "answer"], "message": "may i"},
    {"action": "@input", "value": ["lisboa", "sesame42"]},
]


@given(TEXTS, WORDS)
def test_rows_are_those_of_a_naive_reader(texts: list[str | None], words: list[str]) -> None:
    found = [row for row, text in enumerate(texts) if text is None or any(word in text for word in words)]
    assert Concordance(texts).rows(words) == found


def test_a_word_over_a_line_break_finds_its_row() -> None:
    assert 1 in Concordance(["a", "x\na\nb\n", "b"]).rows(["\na\nb\n"])


@SETTINGS
@given(
    st.lists(st.sampled_from([*sorted(MOVES), "gap", "unknown", "bare"]), max_size=8),
    st.sampled_from(MATCHES),
)
def test_what_is_left_out_matches_nothing(run: Any, moves: list[str], written: dict[str, Any]) -> None:
    window = Window(history(Replay(_run(run, moves))), None)
    pattern = Pattern(msgspec.convert(written, Match))
    kept = list(may_match(pattern, window))
    assert kept == [held for held in window.held if held in kept]
    for held in window.held:
        assert held in kept or pattern.truth(held.event).holds is False
    at_stake = may_be_at_stake(pattern, window)
    assert all(h in at_stake or pattern.at_stake(h.event).holds is False for h in window.held)


def _run(run: Any, moves: list[str]) -> Any:
    extra = {
        "gap": lambda built: built.gap("actions"),
        "unknown": lambda built: built.do(Unknown(name="dance")),
        "bare": lambda built: built.do(Fill(value="lisboa", element=Element(tag="p", css="p"))),
    }
    built = run().on("http://h.test/", "<p>Start <button>Pay</button></p>")
    for move in moves:
        (MOVES | extra)[move](built)
    return built.ended("All done now.")


@pytest.mark.parametrize(("written", "left"), [({"text": "Pay"}, 1), ({"text": "nothing"}, 0)])
def test_most_events_are_left_out(run: Any, written: dict[str, Any], left: int) -> None:
    built = run().look("http://h.test/", "<p>Hi</p>").click("Save").click("Pay").click("Send").ended()
    pattern = Pattern(msgspec.convert(written, Match))
    assert len(may_match(pattern, Window(history(Replay(built)), None))) == left


def test_pages_without_a_match_are_left_out(run: Any) -> None:
    built = run().look("http://h.test/", "<button id=pay>Pay</button>")
    built.do(Click(element=Element(tag="button", css="#pay", node=built.node("#pay"))))
    built.look("http://h.test/b", "<button id=send>Send</button>")
    built.do(Click(element=Element(tag="button", css="#send", node=built.node("#send")))).ended()
    window = Window(history(Replay(built)), None)
    kept = may_match(Pattern(msgspec.convert({"selector": "#pay"}, Match)), window)
    assert [held.event.step for held in kept] == [0]
