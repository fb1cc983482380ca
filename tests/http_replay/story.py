"""A run that is written by hand, so that what it holds is known to the byte."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import Journal, seal
from replaykit.http_replay.recorded_replies import HttpReply, Miss, RecordedAnswers
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.step import Header, Probe

SHOP = "http://shop.test"
JSON = (("Content-Type", "application/json"),)


class Story:
    """Events of a run to be, and their bodies."""

    def __init__(self, network: str = "recorded") -> None:
        self.header = Header(channels={"network": network}, sites={"shop": (SHOP,)})
        self.events: list[Any] = []
        self.blobs: dict[str, bytes] = {}

    def body(self, data: bytes | None) -> str | None:
        if data is None:
            return None
        name = hashlib.sha256(data).hexdigest()
        self.blobs[name] = data
        return name

    def said(
        self,
        method: str,
        path: str,
        t: int,
        reply: bytes | None = b"{}",
        sent: bytes | None = None,
        **more: Any,
    ) -> None:
        facts = {"status": 200, "mime": "application/json", "response_headers": JSON, "ended": t + 5, **more}
        url = path if "://" in path else SHOP + path
        number = len(self.events)
        body = facts.pop("body", None) or self.body(reply)
        self.events.append(
            Exchange(id=number, t=t, method=method, url=url, body=body, post=self.body(sent), **facts)
        )

    def probed(self, path: str, t: int, reply: bytes, phase: str = "post") -> None:
        probe = Probe(
            id=f"p{t}", t=t, phase=phase, name="state", method="GET", path=path, status=200,
            mime="application/json", body=self.body(reply),
        )  # fmt: skip
        self.events.append(probe)

    def written(self, folder: Path) -> Path:
        with Journal.create(folder / "run.zst") as journal:
            blobs = [(name, "application/json", data) for name, data in self.blobs.items()]
            journal.commit([self.header, *self.events], blobs)
        seal(folder / "run.zst")
        return folder / "run.zst"

    def ask(self, folder: Path, method: str, target: str, body: bytes = b"", **how: Any) -> HttpReply | Miss:
        with open_bundle(self.written(folder)) as bundle:
            return RecordedAnswers(bundle, **how).answer(method, target, body)
