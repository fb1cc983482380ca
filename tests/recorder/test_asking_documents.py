"""Documents that are left while they ask: what they asked for unseen is a gap, and only of those that may have."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.browser.tab.asking_documents import BEGUN_MAX, AskingDocuments
from replaykit.recorder.browser.tab.cdp_frames import FrameTree

OLD, NEW = "L1", "L2"


def documents() -> AskingDocuments:
    frames = FrameTree()
    frames.begin("M")
    frames.attach("M", None)
    frames.attach("F", "M")
    return AskingDocuments(frames)


def ask(asking: AskingDocuments, name: str, at: float, **more: Any) -> None:
    given: dict[str, Any] = {
        "loaderId": OLD,
        "frameId": "M",
        "type": "Fetch",
        "initiator": {"type": "script"},
    }
    asking.take("Network.requestWillBeSent", {**given, "requestId": name, "wallTime": at, **more})


def end(asking: AskingDocuments, name: str, method: str = "loadingFinished") -> None:
    asking.take(f"Network.{method}", {"requestId": name})


def go(asking: AskingDocuments, at: float = 10.0, loader: str = NEW) -> None:
    ask(asking, loader, at, loaderId=loader, type="Document", initiator={"type": "other"})


@pytest.mark.parametrize("method", ["loadingFinished", "loadingFailed"])
def test_document_that_was_answered_before_it_is_left_has_asked_for_nothing_more(method: str) -> None:
    asking = documents()
    ask(asking, "1", 5)
    end(asking, "1", method)
    go(asking)
    assert asking.left("M", NEW) == 0


@pytest.mark.parametrize("method", ["responseReceived", "responseReceivedExtraInfo"])
def test_document_whose_data_come_as_it_is_left_may_have_asked_unseen(method: str) -> None:
    asking = documents()
    ask(asking, "1", 5)
    go(asking)
    end(asking, "1", method)
    assert (asking.left("M", NEW), asking.left("M", "L3")) == (1, 0)


def test_document_that_waits_in_vain_has_asked_for_nothing_more() -> None:
    asking = documents()
    ask(asking, "1", 5)
    go(asking)
    assert asking.left("M", NEW) == 0
    end(asking, "1", "responseReceivedExtraInfo")
    assert asking.left("M", "L3") == 0


@pytest.mark.parametrize(("at", "count"), [(9.0, 0), (10.001, 1)])
@pytest.mark.parametrize("kind", ["Ping", "Image", "Script", "Fetch"])
def test_document_whose_script_asks_after_the_navigation_began_may_have_asked_unseen(
    kind: str, at: float, count: int
) -> None:
    asking = documents()
    by = "other" if kind == "Image" else "script"
    ask(asking, "1", at, type=kind, initiator={"type": by})
    end(asking, "1")
    go(asking)
    assert asking.left("M", NEW) == count


@pytest.mark.parametrize(
    "more",
    [
        {"initiator": {"type": "parser"}},
        {"initiator": {"type": "other"}, "type": "Other"},
        {"loaderId": ""},
        {"loaderId": NEW},
    ],
    ids=["markup", "icon", "worker", "successor"],
)
def test_what_no_script_of_the_old_document_asks_for_is_no_reason(more: dict[str, Any]) -> None:
    asking = documents()
    go(asking)
    ask(asking, "1", 11, **more)
    assert asking.left("M", NEW) == 0


def test_frames_go_with_the_page_around_them_and_not_the_other_way_round() -> None:
    asking = documents()
    go(asking, 4, "F2")
    ask(asking, "1", 5, frameId="F", loaderId="F1")
    ask(asking, "2", 11)
    assert asking.left("F", "F2") == 1
    ask(asking, "3", 11, frameId="F", loaderId="F2")
    go(asking)
    assert asking.left("M", NEW) == 2


def test_navigations_without_a_document_are_forgotten() -> None:
    asking = documents()
    for number in range(BEGUN_MAX + 9):
        go(asking, number, f"N{number}")
    assert len(asking._begun) == BEGUN_MAX
