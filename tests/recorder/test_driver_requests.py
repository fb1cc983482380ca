"""Requests that the driver's own events report."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from replaykit.recorder.browser.witnesses import driver_requests
from replaykit.recorder.browser.witnesses.driver_requests import FOREIGN_PAGE, DriverRequests
from replaykit.recorder.session.clock import Clock


class Context:
    """A browser context that says what its test lets it say."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []
        self.pages = ["there"]

    def on(self, name: str, listener: Any) -> None:
        assert name in ("request", "websocket")
        self.listeners.append(listener)

    def remove_listener(self, name: str, listener: Any) -> None:
        self.listeners.remove(listener)

    def asks(self, page: Any, url: str = "http://a.test/x#part", post: bytes | None = None) -> None:
        request: dict[str, Any] = {
            "method": "POST",
            "url": url,
            "resource_type": "fetch",
            "post_data_buffer": post,
        }
        request["headers"] = {"content-type": "text/plain"}
        for listener in self.listeners:
            listener(Request(page, **request))


class Request(SimpleNamespace):
    def __init__(self, page: Any, **fields: Any) -> None:
        super().__init__(**fields)
        self._page = page

    @property
    def frame(self) -> Any:
        if self._page is None:
            raise RuntimeError("Service Worker requests do not have an associated frame.")
        return SimpleNamespace(page=self._page)


@pytest.fixture
def requests() -> DriverRequests:
    return DriverRequests(Clock(wall=lambda: 1.0, ticks=lambda: 0.0))


@pytest.mark.parametrize("is_deaf", [False, True])
def test_driver_that_is_to_leave_service_workers_out_reports_not_every_target(
    requests: DriverRequests, is_deaf: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not requests.is_whole_source
    requests.listen(Context())
    if is_deaf:
        monkeypatch.setenv("PLAYWRIGHT_DISABLE_SERVICE_WORKER_NETWORK", "1")
    assert requests.is_whole_source is not is_deaf


def test_requests_of_the_agent_s_pages_are_kept_with_their_bodies(requests: DriverRequests) -> None:
    context = Context()
    assert not requests.is_listening
    requests.listen(context)
    requests.listen(context)
    assert len(context.listeners) == 1
    assert requests.was_there("there")
    assert not requests.was_there("later")
    for page in ("mine", "probe", "stranger", None):
        context.asks(page, post=b"x")
    tabs = {"mine": 2, "probe": -1, "stranger": FOREIGN_PAGE, None: None}
    sent = list(requests.sent(lambda page: tabs[page]))
    assert [(one.page, one.method, one.url, one.post, one.post_type) for one in sent] == [
        (2, "POST", "http://a.test/x", b"x", "text/plain"),
        (None, "POST", "http://a.test/x", b"x", "text/plain"),
    ]
    requests.close()
    assert context.listeners == []


def test_sockets_of_a_page_are_kept(requests: DriverRequests) -> None:
    page = Context()
    requests.listen_to(page)
    requests.listen_to(page)
    (listener,) = page.listeners
    listener(SimpleNamespace(url="ws://a.test/live"))
    assert [(one.method, one.url) for one in requests.sent(lambda _: 1)] == [("GET", "ws://a.test/live")]
    requests.close()
    assert page.listeners == []


def test_what_is_over_the_limit_is_reported_as_missing(
    requests: DriverRequests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_requests, "REQUESTS_MAX", 2)
    context = Context()
    requests.listen(context)
    for _ in range(2):
        context.asks("mine")
    assert requests.is_whole
    context.asks("mine")
    assert not requests.is_whole
    assert len(list(requests.sent(lambda page: 0))) == 2
