"""Documents of a tab: every one is opened and closed, or there is a gap."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.tab.cdp_documents import LiveDocuments
from replaykit.recorder.browser.witnesses.command_times import Whereabouts
from replaykit.recorder.page.page_script import PageClose, PageOpen

HERE = ((), 1)
NEXT = ((), 2)


class Hands:
    """Documents of a tab, and what is said of them."""

    def __init__(self, acted_at: float = inf, *, is_armed: bool = True) -> None:
        self.gaps: list[str] = []
        self.arrivals: dict[str, float] = {}
        self.documents = LiveDocuments(
            lambda why, detail: self.gaps.append(why), is_armed=lambda via: is_armed
        )
        self.acted_at = [acted_at]
        self.documents.may_have_acted = self.may_have_acted
        self.documents.arrival = self.arrivals.get

    def may_have_acted(self, document: Whereabouts, until: float) -> bool:
        return any(document.sure_at <= at and (at < until or at == inf) for at in self.acted_at)

    def commit(self, frame: str = "M", at: float = 0, loader: str = "", *, is_top: bool = False) -> None:
        self.documents.committed((), frame, at, loader, is_top=is_top)

    def open(self, place: Any = HERE, frame: str = "M", role: str = "main", at: float = 0) -> None:
        self.documents.opened(place, frame, PageOpen(seq=0, at=at, role=role), at)

    def close(
        self, place: Any = HERE, at: float = 0, received: int = 0, missed: int = 0, *, leaving: bool = True
    ) -> None:
        self.documents.reported(place)
        message = PageClose(seq=1, at=at, windows=1, received=received, missed=missed, leaving=leaving)
        self.documents.closed(place, message, at)


def test_document_that_opens_and_closes_leaves_no_gap() -> None:
    hands = Hands()
    hands.commit()
    hands.open()
    hands.close(received=3, missed=1)
    hands.documents.left(HERE)
    hands.commit()
    hands.open(NEXT)
    hands.close(NEXT, received=2)
    hands.documents.finish()
    assert hands.gaps == []
    assert hands.documents.counts == {"documents": 2, "closed": 2, "windows": 2, "counted": 6, "received": 5}


@pytest.mark.parametrize("end", ["commit", "detach", "finish", "target"])
def test_document_without_opening_is_a_gap(end: str) -> None:
    hands = Hands()
    hands.commit()
    _end(hands, end)
    hands.documents.crashed(())  # of the next one, where there is one
    assert hands.gaps[:1] == ["document.unopened"]


@pytest.mark.parametrize("end", ["detach", "finish", "target", "world", "crash"])
def test_document_that_is_not_closed_is_a_gap(end: str) -> None:
    hands = Hands()
    hands.commit()
    hands.open()
    hands.close()
    hands.documents.reported(HERE)
    _end(hands, end)
    if end in ("world", "crash"):
        assert hands.gaps == []
        hands.commit() if end == "world" else hands.documents.crashed(())
    assert hands.gaps == ["document.unclosed"]


def _end(hands: Hands, how: str) -> None:
    documents = hands.documents
    match how:
        case "commit":
            hands.commit()
        case "detach":
            documents.detached((), "M")
        case "finish":
            documents.finish()
        case "target":
            documents.gone(())
        case "world" | "crash":
            documents.left(HERE)


@pytest.mark.parametrize(("acted_at", "gaps"), [(5.0, []), (15.0, ["document.unclosed"])])
def test_document_without_an_action_since_needs_no_closing(acted_at: float, gaps: list[str]) -> None:
    hands = Hands(acted_at)
    hands.commit()
    hands.open(at=10)
    hands.documents.left(HERE)
    hands.documents.finish()
    assert hands.gaps == gaps


@pytest.mark.parametrize(("acted_at", "gaps"), [(15.0, []), (25.0, ["document.unclosed"])])
def test_document_that_only_counts_is_known_until_then(acted_at: float, gaps: list[str]) -> None:
    hands = Hands(acted_at)
    hands.open(at=10)
    hands.close(at=20, leaving=False)
    hands.documents.gone(())
    assert hands.gaps == gaps


@pytest.mark.parametrize(("at", "gaps"), [(15, ["document.unclosed"]), (25, [])])
def test_document_that_was_asked_is_known_until_then(at: float, gaps: list[str]) -> None:
    hands = Hands(20)
    hands.open(at=10)
    hands.close(at=10, leaving=False)
    hands.documents.counted(HERE, at)
    hands.documents.counted(NEXT, 99)
    hands.documents.gone(())
    assert hands.gaps == gaps


def test_documents_say_where_and_since_when_they_are() -> None:
    hands, found = Hands(), list[Whereabouts]()
    hands.documents.may_have_acted = lambda document, until: bool(found.append(document))
    hands.documents.begun(("S",), "F", 3)
    hands.open((("S",), 1), "F", role="frame", at=4)
    hands.open(at=5)
    hands.documents.finish()
    assert found == [
        Whereabouts(frame="F", begun_at=3, sure_at=4, is_apart=True),
        Whereabouts(frame="", begun_at=5, sure_at=5),
    ]


@pytest.mark.parametrize(("acted_at", "gaps"), [(5.0, []), (15.0, ["document.unopened"])])
def test_document_without_an_action_needs_no_opening(acted_at: float, gaps: list[str]) -> None:
    hands = Hands(acted_at)
    hands.commit(at=10)
    hands.documents.detached((), "M")
    assert hands.gaps == gaps


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize(("acted_at", "is_sure"), [(5, True), (15, False), (20, True), (25, True)])
def test_command_after_the_next_document_is_there_was_none_for_this_one(
    acted_at: float, is_sure: bool, is_open: bool
) -> None:
    hands = Hands(acted_at)
    hands.arrivals = {"first": 10, "next": 20}
    hands.documents.arrival = hands.arrivals.get
    hands.commit(at=18, loader="first")
    if is_open:
        hands.open(at=10)
        hands.documents.left(HERE)
    hands.commit(at=40, loader="next")
    assert hands.gaps == ([] if is_sure else ["document.unclosed" if is_open else "document.unopened"])


@pytest.mark.parametrize(("is_top", "gaps"), [(True, []), (False, ["document.unclosed"])])
def test_frames_go_with_the_page_around_them(is_top: bool, gaps: list[str]) -> None:
    hands = Hands(25)
    hands.arrivals["next"] = 20
    hands.open(frame="F", role="frame", at=10)
    hands.documents.left(HERE)
    hands.commit(at=40, loader="next", is_top=is_top)
    hands.open(NEXT, at=30)
    hands.documents.finish()
    assert hands.gaps == gaps


def test_document_that_left_before_anything_was_asked_for_needs_no_successor() -> None:
    hands = Hands(5)
    hands.open(at=10)
    hands.documents.left(HERE)
    hands.acted_at.append(50)
    hands.documents.finish()
    assert hands.gaps == []


def test_world_that_outlives_an_empty_document_keeps_its_books() -> None:
    hands = Hands()
    hands.open()
    hands.commit()
    assert hands.documents.open() == [HERE]
    hands.close()
    hands.documents.finish()
    assert hands.gaps == []


def test_part_of_a_page_is_closed_by_the_document_around_it() -> None:
    hands = Hands()
    hands.commit("F")
    hands.open(frame="F", role="part")
    hands.documents.detached((), "F")
    assert hands.gaps == []


def test_unobserved_document_is_a_gap() -> None:
    hands = Hands()
    hands.open(role="none")
    assert hands.gaps == ["document.unopened"]


def test_document_before_the_script_came_owes_nothing() -> None:
    hands = Hands(is_armed=False)
    hands.documents.begun((), "M", 0)
    hands.commit()
    assert hands.gaps == []


def test_document_out_of_the_cache_has_opened_before_it_is_reported() -> None:
    hands = Hands()
    hands.documents.begun((), "M", 0)
    hands.open()
    hands.commit()
    hands.close()
    hands.documents.finish()
    assert hands.gaps == []


def test_crash_is_a_gap_for_each_document() -> None:
    hands = Hands()
    hands.open()
    hands.close()
    hands.open(NEXT, frame="F", role="part")
    hands.documents.crashed(())
    hands.documents.finish()
    assert hands.gaps == ["document.crashed", "document.crashed"]


def test_document_that_reported_its_end_may_go_on() -> None:
    hands = Hands()
    hands.open()
    hands.close()
    hands.documents.answered(HERE)
    hands.documents.reported(HERE)
    assert hands.documents.open() == []
    hands.documents.finish()
    assert hands.gaps == []


_STEPS = st.sampled_from(["commit", "open", "close", "say", "detach", "world", "begin"])


@given(st.lists(_STEPS, max_size=20))
def test_closing_every_document_at_its_end_is_the_only_way_without_a_gap(steps: list[str]) -> None:
    hands = Hands()
    is_open = is_closed = is_there = False
    owed = 0
    for step in [*steps, "finish"]:
        is_end = step in ("detach", "finish") or step == ("world" if is_open else "commit")
        if is_end and is_there:
            owed += not (is_open and is_closed)
            is_there = is_open = is_closed = False
        match step:
            case "commit":
                hands.commit()
                is_there = True
            case "begin":
                hands.documents.begun((), "M", 0)
                is_there = True
            case "open":
                hands.open()
                is_there, is_open, is_closed = True, True, False
            case "close":
                hands.close()
                is_closed = is_open
            case "say":
                hands.documents.reported(HERE)
                is_closed = False
            case _:
                _end(hands, step)
    assert len(hands.gaps) == owed
