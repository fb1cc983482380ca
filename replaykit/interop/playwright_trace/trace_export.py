"""Bundles as traces of Playwright, version 8: what its viewers from 1.53 on open."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from replaykit.bundle.bundle_format import PIXMAP
from replaykit.bundle.reader import Bundle
from replaykit.errors import BundleError, ReplayError
from replaykit.grading.verdict import Verdict
from replaykit.interop.bundle_export import Choices, Exporter, Files, image_bytes, refuse, zipped
from replaykit.interop.har.har_entries import entry_of, moment
from replaykit.interop.playwright_trace.trace_dom import pages_of
from replaykit.interop.playwright_trace.trace_import import CHANNELS, SIDECAR, WHOLE_CHANNELS
from replaykit.interop.playwright_trace.trace_params import call_of
from replaykit.interop.playwright_trace.trace_verdicts import (
    OURS,
    errors_of,
    files_of,
    summary_of,
    verdict_of,
)
from replaykit.snapshot.codec import decode
from replaykit.snapshot.snapshot_format import MEDIA_TYPE, Snapshot
from replaykit.trajectory.action_rendering import render_action
from replaykit.trajectory.exchange import Console, Dialog, Exchange, Message, TabChange
from replaykit.trajectory.observation import Frame, Observation
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Step

VERSION = 8
"""Viewers refuse traces that are newer than they are, and lift older ones."""

_TABS = {"opened": "page", "closed": "pageClosed"}

TICK = 1000
"""ms between the steps of a run without times."""


def file_of(bundle: Bundle, choices: Choices) -> Files:
    """Return the archive. Raises CannotExport where the run has no steps."""
    if not bundle.trajectory.steps:
        raise refuse("playwright-trace", bundle, ["the run has no steps"], "Export its network to har.")
    return {"trace.zip": _Writer(bundle, verdict_of(bundle, choices.verdicts)).archive()}


class _Writer:
    """Lines of the trace and of its network, and the payloads that they name."""

    def __init__(self, bundle: Bundle, verdict: Verdict | None) -> None:
        self._bundle = bundle
        self._run = bundle.trajectory
        self._verdict = verdict
        takes = {step.index: step.error is None for step in self._run.steps}
        self._faults, self._fault = errors_of(verdict, takes) if verdict else ({}, "")
        self._lines: list[dict[str, Any]] = []
        self._resources: dict[str, bytes] = {}
        self._documents: dict[str, Snapshot | None] = {}
        self._last = 0

    def archive(self) -> bytes:
        """Return the zip file."""
        self._lines.append(self._options())
        for step in self._run.steps:
            self._step(step)
        self._events()
        self._consoles()
        self._close()
        network = [{"type": "resource-snapshot", "snapshot": one} for one in self._entries()]
        members = {"trace.trace": _lines(self._lines), "trace.network": _lines(network)}
        members |= {f"resources/{name}": data for name, data in sorted(self._resources.items())}
        return zipped(members)

    def _options(self) -> dict[str, Any]:
        environment, task = self._run.header.environment, self._run.header.task or {}
        looks = [seen for seen in self._run.of_type(Observation) if seen.viewport is not None]
        width, height = (looks[0].viewport if looks else environment.viewport) or (1280, 720)
        start = moment(self._run.header.created)
        return {
            "version": VERSION,
            "type": "context-options",
            "origin": "library",
            "browserName": environment.browser or "chromium",
            "platform": environment.os or "unknown",
            "wallTime": 0 if start is None else round(start.timestamp() * 1000),
            # Our times count from the start already.
            "monotonicTime": 0,
            "title": str(task.get("id", "")),
            "options": {"viewport": {"width": width, "height": height}},
            "sdkLanguage": "python",
            "contextId": f"context@{self._bundle.digest[:16]}",
            CHANNELS: {name: self._run.channel(name) for name in WHOLE_CHANNELS},
        }

    def _step(self, step: Step) -> None:
        call, page = f"call@{step.index}", f"page@{step.page or 0}"
        start = max(self._last, step.t if step.t is not None else step.index * TICK)
        kind, method, params = call_of(step.action)
        title = step.thought.splitlines()[0][:120] if step.thought else render_action(step.action)[:120]
        self._lines.append(
            {
                "type": "before", "callId": call, "stepId": call, "startTime": start, "class": kind,
                "method": method, "params": params, "title": title, "beforeSnapshot": f"before@{call}",
                **({} if step.page is None else {"pageId": page}),
            }
        )  # fmt: skip
        self._seen(step.before, call, "before", page, start, step)
        point = getattr(step.action, "point", None)
        if point is not None:
            place = {"x": point[0], "y": point[1]}
            name = {} if step.before is None else {"inputSnapshot": f"input@{call}"}
            self._lines.append({"type": "input", "callId": call, "point": place, **name})
            self._seen(step.before, call, "input", page, start, step)
        for line in [*(step.thought or "").splitlines(), *step.log]:
            self._lines.append({"type": "log", "callId": call, "time": start, "message": line})
        after = self._after(step)
        # Viewers order calls by time: none may begin before another has ended.
        self._last = max(start + 1, step.end or 0)
        ended: dict[str, Any] = {"type": "after", "callId": call, "endTime": self._last}
        ended["afterSnapshot"] = f"after@{call}"
        if step.error is not None:
            ended["error"] = {"name": step.error.name, "message": step.error.message}
        elif step.index in self._faults:
            ended["error"] = {"name": OURS, "message": self._faults[step.index]}
        self._lines.append(ended)
        if after is not None:
            self._last = max(self._last, after.t or 0)
            self._seen(after, call, "after", page, self._last, None)

    def _after(self, step: Step) -> Observation | None:
        """Return the last look at what followed, with page and image of the last looks that have them."""
        looks = self._run.looks(step)
        if not looks:
            return None
        changes = {
            name: next((getattr(o, name) for o in reversed(looks) if getattr(o, name) is not None), None)
            for name in ("snapshot", "screenshot", "viewport")
        }
        framed = next((o.frames for o in reversed(looks) if o.snapshot is not None), ())
        return msgspec.structs.replace(looks[-1], frames=framed, **changes)

    def _seen(
        self, seen: Observation | None, call: str, phase: str, page: str, at: int, step: Step | None
    ) -> None:
        if seen is None:
            return
        if seen.page is not None:
            page = f"page@{seen.page}"  # after a tab was closed, another one is looked at
        self._shot(seen, page, at)
        document = self._document(seen.snapshot)
        if document is None:
            return
        node = step.action.element.node if step is not None and step.action.element is not None else None
        inner = self._inner(seen.frames, f"frame@{page}")
        main = {"call": call, "phase": phase, "page": page, "at": at, "seen": seen}
        target = node.number if node is not None and node.snapshot == seen.snapshot else -1
        self._snapshots(document, f"frame@{page}", inner, target, main, is_main=True)
        for ordinal, frame in enumerate(seen.frames):
            own = self._document(frame.snapshot)
            if own is not None:
                at_frame = node.number if node is not None and node.snapshot == frame.snapshot else -1
                self._snapshots(own, inner[ordinal], {}, at_frame, main, is_main=False)

    def _inner(self, frames: tuple[Frame, ...], parent: str) -> dict[int, str]:
        return {n: f"{parent}-{n}" for n, frame in enumerate(frames) if isinstance(frame.snapshot, str)}

    def _snapshots(
        self, document: Snapshot, frame: str, inner: dict[int, str], target: int, about: dict[str, Any],
        *, is_main: bool,
    ) -> None:  # fmt: skip
        viewport = about["seen"].viewport or (1280, 720)
        for number, one in enumerate(pages_of(document, frame, inner, target, about["call"])):
            snapshot = {
                "snapshotName": f"{about['phase']}@{about['call']}",
                "callId": about["call"],
                "pageId": about["page"],
                "frameId": one.frame,
                "frameUrl": one.url,
                "doctype": "html",
                "html": one.html,
                "viewport": {"width": viewport[0], "height": viewport[1]},
                "timestamp": about["at"],
                "isMainFrame": is_main and number == 0,
                "resourceOverrides": [],
            }
            self._lines.append({"type": "frame-snapshot", "snapshot": snapshot})

    def _document(self, blob: Any) -> Snapshot | None:
        if not isinstance(blob, str):
            return None
        if blob not in self._documents:
            self._documents[blob] = self._decoded(blob)
        return self._documents[blob]

    def _decoded(self, blob: str) -> Snapshot | None:
        try:
            is_ours = self._bundle.blob_type(blob) == MEDIA_TYPE
            return decode(self._bundle.blob(blob)) if is_ours else None
        except (BundleError, ReplayError):
            return None

    def _shot(self, seen: Observation, page: str, at: int) -> None:
        data = image_bytes(self._bundle, seen.screenshot)
        if data is None:
            return
        name = _sha1(data) + ".jpeg"  # viewers go by the content
        self._resources[name] = data
        width, height = seen.viewport or (1280, 720)
        self._lines.append(
            {
                "type": "screencast-frame", "pageId": page, "sha1": name, "width": width, "height": height,
                "timestamp": at, "frameSwapWallTime": at,
            }
        )  # fmt: skip

    def _events(self) -> None:
        for one in self._run.of_type(TabChange):
            if one.state in _TABS:
                self._event(one, _TABS[one.state], {})
        for asked in self._run.of_type(Dialog):
            stated = {"type": asked.kind, "message": asked.message, "defaultValue": asked.default or ""}
            self._event(asked, "dialog", stated)

    def _event(self, one: TabChange | Dialog, method: str, params: dict[str, Any]) -> None:
        params = {"pageId": f"page@{one.page or 0}", **params}
        event = {"type": "event", "time": one.t or 0, "class": "BrowserContext", "method": method}
        self._lines.append({**event, "params": params})

    def _consoles(self) -> None:
        for one in self._run.of_type(Console):
            url, _, line = (one.source or "").rpartition(":")
            where = {"url": url, "lineNumber": int(line) if line.isdecimal() else 0, "columnNumber": 0}
            self._lines.append(
                {
                    "type": "console", "messageType": one.level, "text": one.text, "args": [],
                    "location": where, "time": one.t or 0, "pageId": f"page@{one.page or 0}",
                }
            )  # fmt: skip

    def _close(self) -> None:
        """Write in a last call what a trace has no place for."""
        task = self._run.header.task or {}
        shown = {name: task[name] for name in ("id", "intent", "start_urls") if task.get(name)}
        messages = [m for m in self._run.of_type(Message) if m.kind != "answer"]
        extra = {
            "task": shown or None,
            "answer": self._run.answer,
            "thoughts": {f"call@{step.index}": step.thought for step in self._run.steps if step.thought},
            "messages": [
                {k: v for k, v in msgspec.to_builtins(m).items() if k not in ("type", "t", "seq")}
                for m in messages
            ],
        }
        files = {SIDECAR: msgspec.json.encode(extra)}
        answer = "no answer" if self._run.answer is None else f"answer: {self._run.answer}"
        title = answer[:200]
        if self._verdict is not None:
            files |= files_of(self._verdict)
            title = f"{summary_of(self._verdict)}, {title}"
        call = f"call@{len(self._run.steps)}"
        self._lines += [
            {
                "type": "before", "callId": call, "stepId": call, "startTime": self._last, "class": "Tracing",
                "method": "tracingGroup", "params": {}, "title": title,
            },
            {
                "type": "after", "callId": call, "endTime": self._last, "attachments": self._attached(files),
                **({"error": {"name": OURS, "message": self._fault}} if self._fault else {}),
            },
        ]  # fmt: skip

    def _attached(self, files: Mapping[str, bytes]) -> list[dict[str, str]]:
        self._resources |= {_sha1(data): data for data in files.values()}
        return [
            {"name": name, "contentType": "application/json", "sha1": _sha1(data)}
            for name, data in files.items()
        ]

    def _entries(self) -> list[dict[str, Any]]:
        found = [one for one in self._run.of_type(Exchange) if one.actor != "probe"]
        start = moment(self._run.header.created) or datetime(1970, 1, 1, tzinfo=UTC)
        urls = {one.id: one.url for one in found}
        return [self._entry(one, start, urls) for one in sorted(found, key=lambda one: one.id)]

    def _entry(self, one: Exchange, start: datetime, urls: dict[int, str]) -> dict[str, Any]:
        to = urls.get(one.redirect_to, "") if one.redirect_to is not None else ""
        if isinstance(one.body, str):
            entry = entry_of(msgspec.structs.replace(one, body=_ELSEWHERE), self._bundle.blob, start, to)
        else:
            entry = entry_of(one, self._bundle.blob, start, to)
        if isinstance(one.body, str) and self._bundle.blob_type(one.body) != PIXMAP:
            data = self._bundle.blob(one.body)
            self._resources[_sha1(data)] = data
            entry["response"]["content"]["_sha1"] = _sha1(data)
        page = {} if one.page is None else {"pageref": f"page@{one.page}"}
        return {**entry, **page, "_monotonicTime": one.t or 0}


_ELSEWHERE = Omitted(why="off")
"""A body that is no part of its entry."""


def _lines(events: list[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


EXPORTER = Exporter(
    name="playwright-trace", writes="a trace.zip for Playwright's viewer", make=file_of, ending=".zip"
)
