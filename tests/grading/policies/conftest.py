"""A small language for runs: `run().look("http://shop.test/", "<p>Hi</p>").click("Pay").ended()`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from replaykit.grading.policies.policy_grading import grade_policies
from replaykit.grading.verdict import PolicyResult
from replaykit.replay.dom import Dom
from replaykit.replay.player import Replay
from replaykit.snapshot.snapshot_format import MEDIA_TYPE
from replaykit.tasks.task import Task
from replaykit.testing.pages import snapshot
from replaykit.trajectory import action as actions
from replaykit.trajectory.exchange import Dialog, Gap, Message, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import CHANNELS, Ending, Header, Step, Trajectory

NAMES = ("text", "value", "aria_label", "labelledby", "label", "alt", "title", "placeholder")


class Run:
    """Builds a trajectory; every channel is recorded unless it says otherwise."""

    def __init__(self, **channels: str) -> None:
        self.channels = dict.fromkeys(CHANNELS, "recorded") | channels
        self.events: list[Any] = []
        self.blobs: dict[str, bytes] = {}
        self.now: Observation | None = None
        self.url: str | None = None
        self.step = 0
        self.secrets: tuple[str, ...] = ()
        self.task: dict[str, Any] | None = None

    def on(self, url: str, *body: str, title: str = "", status: int | None = 200, visit: bool = True) -> Run:
        """Go to a page without an action, and look at it."""
        if visit and self.url != url:
            self.visit(url)
        return self.look(url, *body, title=title, status=status)

    def look(
        self,
        url: str,
        *body: str,
        title: str = "",
        status: int | None = 200,
        blind: bool = False,
        role: str = "",
    ) -> Run:
        """Observe a page."""
        self.url = url
        recorded = None if blind else self._recorded(url, title, *body)
        self.now = Observation(
            role=role or ("after" if self.step else "start"),
            of=self.step - 1 if self.step and role in ("", "after") else None,
            page=0,
            url=url,
            title=title or None,
            status=status,
            snapshot=recorded,
        )
        self.events.append(self.now)
        return self

    def visit(self, url: str, **fields: Any) -> Run:
        """Add a line of the navigation log."""
        at = {"step": self.step - 1} if self.step else {}
        self.events.append(Navigation(page=0, url=url, **{"kind": "link", **at, **fields}))
        self.url = url if fields.get("committed", True) else self.url
        return self

    def do(self, action: actions.ActionBase, *, failed: bool = False, **fields: Any) -> Run:
        """Act on the page observed last."""
        before = self.now and msgspec.structs.replace(self.now, role="before", of=None)
        error = Threw(name="TimeoutError") if failed else None
        self.events.append(
            Step(index=self.step, page=0, action=action, before=before, error=error, url=self.url, **fields)
        )
        self.step += 1
        return self

    def click(self, name: str | None = None, *, failed: bool = False, **fields: Any) -> Run:
        """Click an element with that text."""
        return self.do(actions.Click(element=target(name, "button", **fields)), failed=failed)

    def fill(self, value: str, name: str = "", **fields: Any) -> Run:
        """Fill a field with that label."""
        return self.do(actions.Fill(value=value, element=target("", "input", label=name, **fields)))

    def goto(self, url: str, *, failed: bool = False) -> Run:
        """Go somewhere by the address bar."""
        self.do(actions.Goto(url=url), failed=failed)
        if failed:
            return self
        return self.visit(url, kind="goto", cause="agent")

    def send_message(self, text: str) -> Run:
        """Send a message to the user as an action of its own."""
        return self.do(actions.SendMsgToUser(text=text))

    def says(self, text: str, kind: str = "say") -> Run:
        """Record a message of the agent beside the steps."""
        self.events.append(Message(role="agent", kind=kind, text=text))
        return self

    def reply(self, text: str, approved: bool | None = None) -> Run:
        """Let the user reply."""
        self.events.append(Message(role="user", kind="reply", text=text, approved=approved))
        return self

    def dialog(self, message: str, kind: str = "alert", **fields: Any) -> Run:
        """Open a native dialog."""
        self.events.append(Dialog(page=0, kind=kind, message=message, **fields))
        return self

    def gap(self, channel: str, why: str = "timeout") -> Run:
        """Miss something."""
        self.events.append(Gap(channel=channel, why=why, step=max(0, self.step - 1)))
        return self

    def ended(self, answer: str | None = None, kind: str = "answered", **fields: Any) -> Run:
        """End the run."""
        self.events.append(Ending(kind=kind, answer=answer, **fields))
        return self

    @property
    def trajectory(self) -> Trajectory:
        header = Header(channels=self.channels, secrets=self.secrets, task=self.task)
        return Trajectory(header=header, events=tuple(self.events))

    def __contains__(self, id: object) -> bool:
        return id in self.blobs

    def blob(self, id: str) -> bytes:
        return self.blobs[id]

    def blob_type(self, id: str) -> str:
        return MEDIA_TYPE

    def node(self, css: str) -> actions.NodeRef:
        """Return the place of an element in the page observed last."""
        assert self.now is not None
        found = Dom(self.blobs[self.now.snapshot]).pierce_all(css)[0]
        return actions.NodeRef(snapshot=self.now.snapshot, number=found.number)

    def _recorded(self, url: str, title: str, *body: str) -> str:
        data = snapshot("".join(body), url, title)
        id = hashlib.sha256(data).hexdigest()
        self.blobs[id] = data
        return id


def target(text: str | None, tag: str, **fields: Any) -> actions.Element | None:
    """Return an element; names are given by keyword."""
    if text is None:
        return None
    names = actions.Names(text=text, **{key: fields.pop(key) for key in NAMES if key in fields})
    return actions.Element(tag=tag, text=text, names=names, **fields)


@pytest.fixture
def run() -> type[Run]:
    return Run


@pytest.fixture
def grade() -> Callable[..., PolicyResult]:
    """Grade one rule, written as in a file, over a run."""

    def grade_one(
        run: Run, rule: dict[str, Any], *, task: dict[str, Any] | None = None, **policy: Any
    ) -> Any:
        plain = {"id": "p", "dimension": "strict_execution", "rule": rule, **policy}
        asked = {"id": "t", "intent": "Do it.", **(task or {})}
        written = msgspec.convert({**asked, "policies": [plain]}, Task)
        (result,) = grade_policies(written, Replay(run))
        return result

    return grade_one
