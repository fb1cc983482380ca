"""Which way a navigation history moved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.session.navigation.tab_history import TabHistory

MOVED = "historyDifferentDocument"
NEW = "differentDocument"


def followed(*events: tuple[str, str | None]) -> TabHistory:
    history = TabHistory()
    history.read([("start", "start")], 0)
    for url, kind in events:
        history.committed(url, kind)
    return history


@pytest.mark.parametrize(
    ("events", "direction"),
    [
        ([("a", NEW), ("start", MOVED)], "back"),
        ([("a", NEW), ("start", MOVED), ("a", MOVED)], "forward"),
        ([("a", NEW), ("start", MOVED), ("start", "reload"), ("a", MOVED)], "forward"),
        ([("a", NEW), ("b", NEW), ("start", MOVED)], "back"),
        ([("a", NEW), ("start", MOVED), ("b", NEW), ("a", MOVED)], None),
        ([("a", NEW), ("start", NEW), ("a", MOVED)], "back"),
        ([("nowhere", MOVED)], None),
    ],
)
def test_direction(events: list[tuple[str, str]], direction: str | None) -> None:
    assert followed(*events).direction == direction


def test_changes_within_a_document_are_entries_too() -> None:
    history = followed()
    history.within("start#one", "fragment")
    history.within("start#one", "historyApi")
    history.within("start", "historySameDocument")
    assert history.direction == "back"
    history.within("start#one", "historySameDocument")
    assert history.direction == "forward"


def test_reading_puts_right_what_was_followed_wrongly() -> None:
    history = followed(("replaced", NEW))
    history.read([("replaced", "replaced")], 0)
    history.committed("next", NEW)
    history.committed("replaced", MOVED)
    assert history.direction == "back"
    history.committed("start", MOVED)
    assert history.direction is None


@given(st.lists(st.sampled_from(["push", "back", "forward"]), max_size=40))
def test_like_a_browser(moves: list[str]) -> None:
    history = followed()
    entries, at = ["start"], 0
    for number, move in enumerate(moves):
        if move == "push":
            entries[at + 1 :] = [f"page {number}"]
            at += 1
            history.committed(entries[at], NEW)
        elif 0 <= at + (-1 if move == "back" else 1) < len(entries):
            at += -1 if move == "back" else 1
            history.committed(entries[at], MOVED)
            assert history.direction == move
