"""The session's commands, as generators that either driver can carry out."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from secrets import token_hex
from typing import TypeAlias
from urllib.parse import urlsplit

from msgspec.structs import replace

from replaykit.recorder.browser.closed_shadow_roots import reveal
from replaykit.recorder.browser.command_effects import (
    CallMethod,
    Carried,
    CloseProbeTab,
    CommandRefused,
    Outline,
    Sleep,
    Work,
    ask,
    evaluate,
)
from replaykit.recorder.browser.frames_and_workers import (
    close,
    file_contents,
    note_action,
    send_frames,
    snapshot,
)
from replaykit.recorder.browser.instrumentation import entries_of
from replaykit.recorder.browser.screenshots import DecodedCaptures, screenshot
from replaykit.recorder.browser.tab.cdp_tab import CdpTab
from replaykit.recorder.browser.witnesses.net_log import NetLog, Sent
from replaykit.recorder.probes.probe_reading import open_page, prepare, reads, request
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import (
    Close,
    CloseDocuments,
    FetchBody,
    Http,
    Open,
    Pause,
    Post,
    ReadLog,
    ReadPage,
    Screenshot,
)
from replaykit.recorder.session.witnesses import OF_PAGES, Watching

MARKERS_MAX = 12
"""Requests of our own that push the browser's log out, until it holds the first."""


Command: TypeAlias = (
    ReadPage | Screenshot | CloseDocuments | FetchBody | Post | ReadLog | Http | Open | Close | Pause
)  # fmt: skip
"""Outputs of the session that get a reply."""


class Commands:
    """Turns commands into generators over the tabs of one recording."""

    def __init__(self, tabs: Mapping[int, CdpTab], clock: Clock) -> None:
        self._tabs = tabs
        self._clock = clock
        self._images = DecodedCaptures()
        self.net_log: NetLog | None = None
        """Of the browser, where it writes one."""
        self.watching = Watching()
        """Gaps of the witnesses in the pages so far."""

    def start(self, command: Command) -> Carried:
        """Return the generator that carries the command out; nothing happens before its first step."""
        match command:
            case ReadPage():
                return self._read(command)
            case Screenshot():
                return self._screenshot(command)
            case FetchBody():
                return self._body(command)
            case Post():
                return self._post(command)
            case CloseDocuments():
                return self._close_documents()
            case ReadLog():
                return self._log()
            case Open():
                return self._open(command)
            case Close():
                return self._close(command)
            case Http():
                return _http(command)
            case Pause():
                return _pause(command)

    def _tab(self, page: int) -> CdpTab:
        tab = self._tabs.get(page)
        if tab is None or tab.is_gone:
            raise CommandRefused("gone")
        return tab

    def _read(self, command: ReadPage) -> Carried:
        tab = self._tab(command.page)
        match command.what:
            case "snapshot":
                # Only at the end: on a large page the browser needs seconds for this.
                hidden = (yield from reveal(tab)) if command.args[:1] == ("final",) else 0
                return replace((yield from snapshot(tab, *command.args)), hidden=hidden)
            case "frames":
                return (yield from send_frames(tab))
            case "note_action":
                return (yield from note_action(tab, *command.args))
            case "a11y":
                return (yield from outline(tab))
            case "reads":
                return (yield from reads(tab, command.args))
            case "prep":
                return (yield from prepare(tab, command.args))
            case "file":
                return (yield from file_contents(tab, *command.args))
            case "history":
                return tab.history.direction
            case "requested":
                return entries_of((yield from ask(tab, "Page.getNavigationHistory", {})))
        raise CommandRefused("failed")

    def _screenshot(self, command: Screenshot) -> Carried:
        tab = self._tab(command.page)
        return (yield from screenshot(tab, command, self._clock, self._images))

    def _body(self, command: FetchBody) -> Carried:
        reply = yield from self._ask_owner(command.request, "Network.getResponseBody")
        return _decoded(reply["body"], is_base64=reply["base64Encoded"])

    def _post(self, command: Post) -> Carried:
        reply = yield from self._ask_owner(command.request, "Network.getRequestPostData")
        text: str = reply["postData"]
        if "base64Encoded" not in reply and "\ufffd" in text:
            raise CommandRefused("failed")  # browsers before 2025 report bytes that are no text as text
        return _decoded(text, is_base64=reply.get("base64Encoded", False))

    def _log(self) -> Carried:
        if self.net_log is None:
            raise CommandRefused("gone")
        # `.invalid` never resolves: the marker reaches the log and no server.
        marker = f"http://replaykit.invalid/{token_hex(8)}"
        for _ in range(MARKERS_MAX):
            yield from self._mark(marker)
            for _ in range(5):
                sent = yield Work(run=self.net_log.read)
                if any(one.url == marker for one in sent):
                    return self._logged(sent)
                yield Sleep(ms=20)
        raise CommandRefused("timeout")

    def _mark(self, marker: str) -> Carried:
        # The browser writes its log in portions: a request of ours pushes out what came before it.
        tab = next((tab for tab in self._tabs.values() if not tab.is_gone), None)
        if tab is not None:
            options = {"disableCache": True, "includeCredentials": False}
            wanted = {"frameId": tab.frames.main, "url": marker, "options": options}
            with suppress(CommandRefused):
                yield CallMethod(tab=tab, method="Network.loadNetworkResource", params=wanted)

    def _logged(self, sent: list[Sent]) -> list[Sent]:
        if self.net_log is None or not self.net_log.is_readable:
            raise CommandRefused("failed")
        pages = [one for one in sent if urlsplit(one.url).hostname != "replaykit.invalid"]
        return [replace(one, at=self._clock.of_epoch(one.at)) for one in pages]

    def _ask_owner(self, request: str, method: str) -> Carried:
        owners = ((tab, tab.network.owner(request)) for tab in self._tabs.values())
        tab, via = next((one for one in owners if one[1] is not None), (None, None))
        if tab is None or via is None or tab.is_gone:
            raise CommandRefused("gone")
        # A dialog stops the page, not its network: the body can be had all the same.
        wanted = {"requestId": request.partition("#")[0]}
        try:
            return (yield CallMethod(tab=tab, method=method, params=wanted, via=via))
        except CommandRefused as refused:
            # The browser drops bodies when a page goes away, and has none of what it did not load itself, nor
            # of what a frame's process was given before the recorder was attached.
            raise CommandRefused("gone" if str(refused) == "failed" else str(refused)) from refused

    def _close_documents(self) -> Carried:
        tabs = [tab for tab in self._tabs.values() if tab.actor == "agent"]
        for tab in tabs:
            yield from close(tab, self._clock)
            for gap in tab.gaps:
                self.watching.take(gap.channel, gap.why)
        at, counts = self._clock.now(), Counter[str]()
        for tab in tabs:
            counts.update(tab.documents.counts)
        return [self.watching.of(witness, at, counts) for witness in OF_PAGES]

    def _open(self, command: Open) -> Carried:
        probes = (tab for tab in self._tabs.values() if tab.actor == "probe" and not tab.is_gone)
        return (yield from open_page(next(probes, None), command.url, self._clock))

    def _close(self, command: Close) -> Carried:
        return (yield CloseProbeTab(tab=self._tab(command.page)))


def _decoded(body: str, *, is_base64: bool) -> bytes:
    return base64.b64decode(body) if is_base64 else body.encode("utf-8", "surrogatepass")


def _http(command: Http) -> Carried:
    return (yield Work(run=lambda: request(command.method, command.path)))


def _pause(command: Pause) -> Carried:
    return (yield Sleep(ms=command.ms))


ELEMENTS_MAX = 10_000
"""Elements of a page whose tree is taken: Playwright needs 40 ms for a thousand."""


def outline(tab: CdpTab) -> Carried:
    """Return the tree of a page's main frame, as YAML.

    Raises `CommandRefused("withheld")` where a masked field or region holds something: the tree says what, in
    words of its own.
    """
    if (yield from evaluate(tab, f"document.getElementsByTagName('*').length > {ELEMENTS_MAX}")):
        raise CommandRefused("too_large")
    # Before and after: a region may become masked while Playwright reads the tree.
    yield from _open(tab)
    tree = yield Outline(tab=tab)
    yield from _open(tab)
    return tree


def _open(tab: CdpTab) -> Carried:
    if (yield from evaluate(tab, f"{tab.names.api}.hasMasked()")):
        raise CommandRefused("withheld")
