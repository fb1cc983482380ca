"""Other reports of a tab: dialogs, console lines, downloads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from replaykit.recorder.browser.tab.tab_state import TabState
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import (
    ConsoleLine,
    DialogClosed,
    DialogOpened,
    DownloadChanged,
    Input,
)

Params: TypeAlias = dict[str, Any]

TEXT_MAX = 4096
"""Longest console line kept, characters."""

_LEVELS = {"warning": "warning", "error": "error", "assert": "error", "debug": "debug", "info": "info"}
_DOWNLOAD_STATES = {"inProgress": "started", "completed": "completed", "canceled": "canceled"}


class Reports:
    """Reports of one tab."""

    def __init__(self, tab: TabState, clock: Clock) -> None:
        self._tab = tab
        self._clock = clock
        self._downloads: dict[str, DownloadChanged] = {}

    def translate(self, method: str, params: Params, *, is_own: bool) -> Iterator[Input]:
        """Yield what an event of REPORTS means; `is_own`: the page's own world says it."""
        if is_own or method != "Runtime.consoleAPICalled":
            yield from REPORTS[method](self, params)

    def _dialog_opening(self, params: Params) -> Iterator[Input]:
        if self._tab.has_dialog:
            return  # also reported by the frame that opened it
        self._tab.has_dialog = True
        yield DialogOpened(
            at=self._clock.arrived(),
            page=self._tab.page,
            kind=params["type"],
            message=params["message"],
            default=params.get("defaultPrompt") if params["type"] == "prompt" else None,
        )

    def _dialog_closed(self, params: Params) -> Iterator[Input]:
        if not self._tab.has_dialog:
            return
        self._tab.has_dialog = False
        text = params.get("userInput") or None
        at = self._clock.arrived()
        yield DialogClosed(at=at, page=self._tab.page, accepted=params["result"], input=text)

    def _console(self, params: Params) -> Iterator[Input]:
        text = " ".join(_argument(value) for value in params["args"])
        yield ConsoleLine(
            at=self._clock.witnessed(self._clock.of_epoch(params["timestamp"])),
            page=self._tab.page,
            level=_LEVELS.get(params["type"], "log"),
            text=text[:TEXT_MAX],
            source=_source(params.get("stackTrace")),
        )

    def _thrown(self, params: Params) -> Iterator[Input]:
        details = params["exceptionDetails"]
        thrown = details.get("exception", {})
        yield ConsoleLine(
            at=self._clock.of_epoch(params["timestamp"]),
            page=self._tab.page,
            level="pageerror",
            text=str(thrown.get("description") or details["text"])[:TEXT_MAX],
            source=_source(details.get("stackTrace")),
        )

    def _download_begins(self, params: Params) -> Iterator[Input]:
        begun = DownloadChanged(
            at=self._clock.arrived(),
            page=self._tab.page,
            guid=params["guid"],
            url=params["url"],
            suggested=params.get("suggestedFilename"),
            state="started",
        )
        self._downloads[begun.guid] = begun
        yield begun

    def _download_moves(self, params: Params) -> Iterator[Input]:
        begun = self._downloads.get(params["guid"])
        state = _DOWNLOAD_STATES.get(params["state"], "unknown")
        if begun is None or state == "started":
            return
        del self._downloads[begun.guid]
        yield DownloadChanged(
            at=self._clock.arrived(),
            page=self._tab.page,
            guid=begun.guid,
            url=begun.url,
            suggested=begun.suggested,
            state=state,
            size=int(params["receivedBytes"]) if state == "completed" else None,
        )


def _argument(value: Params) -> str:
    if "value" in value:
        plain = value["value"]
        return plain if isinstance(plain, str) else json.dumps(plain)
    return str(value.get("unserializableValue") or value.get("description") or value.get("type", ""))


def _source(trace: Params | None) -> str | None:
    frames = trace.get("callFrames") if trace else None
    return f"{frames[0]['url']}:{frames[0]['lineNumber'] + 1}" if frames and frames[0]["url"] else None


REPORTS: dict[str, Callable[[Reports, Params], Iterator[Input]]] = {
    "Runtime.consoleAPICalled": Reports._console,
    "Runtime.exceptionThrown": Reports._thrown,
    "Page.javascriptDialogOpening": Reports._dialog_opening,
    "Page.javascriptDialogClosed": Reports._dialog_closed,
    "Page.downloadWillBegin": Reports._download_begins,
    "Page.downloadProgress": Reports._download_moves,
}
"""Protocol events that are reports."""
