"""A small language for sessions: a page that reports events, a driver that carries commands out."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.recorder.page.page_script import PageEvent, PageNode, PagePush
from replaykit.recorder.session import driver_messages as m
from replaykit.recorder.session.outbox import Blob
from replaykit.recorder.session.session import Session, SessionOptions
from replaykit.tasks.checks import ProbePlan
from replaykit.trajectory.action import Element
from replaykit.trajectory.observation import Observation, Prep, Read
from replaykit.trajectory.step import Header, Step

PIXMAP = "image/x-portable-pixmap"


def dom(text: str = "", url: str = "http://shop.test/") -> str:
    """Return the four lines of a snapshot of one paragraph."""
    tokens = f'["<html","<body","<p",["id","out"],{_quoted("=" + text)},3]'
    head = f'{{"snapshot":1,"url":{_quoted(url)},"elements":3}}'
    return f"{head}\n{tokens}\n[0,0,0]\n[0,0,800,600,0,0,800,600,10,20,100,30]\n"


def source_of(frame: tuple[int, ...]) -> m.Source:
    """Return who speaks in a frame of that place, in its first document."""
    return ("F" + "".join(map(str, frame)), 0) if frame else m.MAIN


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def element(css: str = "#pay", tag: str = "button", **more: Any) -> Element:
    marks = {"id": css[1:]} if css.startswith("#") else {}
    return Element(tag=tag, css=css, **{"attributes": marks, **more})


FIELD = element("#email", "input", type="text")
BOX = element("#agree", "input", type="checkbox")
IMAGE = b"P6\n1 1\n255\nabc"


class Driver:
    """Feeds a session and answers its commands; keeps everything that was written."""

    holds = False
    """Whether commands wait for `answer_held` from the start."""

    def __init__(self, options: SessionOptions | None = None, plan: ProbePlan | None = None) -> None:
        self.session = Session(options or SessionOptions(), Header(channels={}), plan)
        self.now = 0.0
        self.events: list[Any] = []
        self.blobs: dict[str, bytes] = {}
        self.outputs: list[Any] = []
        self.pauses: list[tuple[float, int]] = []
        self.held: list[Any] = []
        self.hold = self.holds
        self.replies: dict[str, Any] = {}
        self.errors: dict[str, str] = {}
        self.seqs: dict[tuple[int, int], int] = {}
        self.document = 0
        self.page_text = "start"
        self._put(self.session.start(0.0))

    def open(self, page: int = 0, url: str = "http://shop.test/", **more: Any) -> Driver:
        more = {"requested": ((url, url),), **more}
        return self.feed(m.TabOpened(at=self.now, page=page, url=url, **more))

    def feed(self, *items: Any) -> Driver:
        for item in items:
            self.now = max(self.now, item.at)
            self._put(self.session.feed(item))
        return self

    def wait(self, ms: float) -> Driver:
        """Let time pass; timers ring in order."""
        until = self.now + ms
        while due := sorted(pause for pause in self.pauses if pause[0] <= until):
            self.pauses.remove(due[0])
            self.feed(m.CommandReply(at=due[0][0], id=due[0][1]))
        self.now = until
        return self

    def event(self, name: str, on: Element | None = None, at: float | None = None, **more: Any) -> Driver:
        page, document = more.pop("page", 0), more.pop("document", self.document)
        trusted, frame = more.pop("trusted", True), more.pop("frame", ())
        source = more.pop("source", source_of(frame))
        node, activated = more.pop("node", None), more.pop("activated", "")
        cause, task = more.pop("cause", ""), more.pop("task", None)
        self.now = self.now if at is None else at
        event = PageEvent(
            seq=self.seq(page, document),
            at=self.now,
            name=name,
            trusted=trusted,
            activated=activated,
            cause=cause,
            task=task,
            element=on,
            node=PageNode(push=node[0], number=node[1]) if node else None,
            data=more,
        )
        said = m.PageMessage(
            at=self.now, page=page, document=document, frame=frame, source=source, event=event
        )
        return self.feed(said)

    def push(self, purpose: str, text: str | None = None, at: float | None = None, **more: Any) -> int:
        page, document = more.pop("page", 0), more.pop("document", self.document)
        frame = more.pop("frame", ())
        source = more.pop("source", source_of(frame))
        self.now = self.now if at is None else at
        self.page_text = self.page_text if text is None else text
        seq = self.seq(page, document)
        push = PagePush(
            seq=seq,
            at=self.now,
            purpose=purpose,
            snapshot=more.pop("snapshot", dom(self.page_text)),
            **{"url": "http://shop.test/", "title": "Shop", "settled": purpose == "rest", **more},
        )
        self.feed(
            m.SnapshotPushed(at=self.now, page=page, document=document, frame=frame, source=source, push=push)
        )
        return seq

    def seq(self, page: int, document: int) -> int:
        number = self.seqs.get((page, document), -1) + 1
        self.seqs[page, document] = number
        return number

    def click(self, on: Element | None = None, at: float | None = None, **more: Any) -> Driver:
        on = on or element()
        self.event("pointerdown", on, at, point=[5, 6], button=0, **more)
        self.event("pointerup", on, point=[5, 6], button=0, **more)
        return self.event("click", on, point=[5, 6], button=0, detail=1, **more)

    def navigate(self, url: str, at: float | None = None, page: int = 0, **more: Any) -> Driver:
        """Start and commit a navigation to another document."""
        self.now = self.now if at is None else at
        reason = more.pop("reason", None)
        kind = more.pop("navigation_type", "differentDocument")
        where = {"page": page, "document": self.document + 1, "url": url}
        if reason:
            self.feed(m.Navigated(at=self.now, stage="requested", reason=reason, **where))
        self.feed(m.Navigated(at=self.now, stage="started", navigation_type=kind, **where))
        self.document += 1
        return self.feed(
            m.Navigated(at=self.now + 5, stage="committed", navigation_type=kind, **where, **more)
        )

    def end(self, kind: str = "stopped", **more: Any) -> Driver:
        self.feed(m.End(at=self.now, kind=kind, **more))
        self.wait(10_000)
        return self

    def answer_held(self) -> Driver:
        held, self.held, self.hold = self.held, [], False
        for command in held:
            self._answer(command)
        return self

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def steps(self) -> list[Step]:
        return self.of(Step)

    @property
    def actions(self) -> list[Any]:
        return [step.action for step in self.steps]

    def looks(self, role: str = "after") -> list[Observation]:
        return [seen for seen in self.of(Observation) if seen.role == role]

    def commands(self, kind: type) -> list[Any]:
        return [output for output in self.outputs if isinstance(output, kind)]

    def _put(self, outputs: list[Any]) -> None:
        for output in outputs:
            self.outputs.append(output)
            if isinstance(output, m.Write):
                self.events.append(output.event)
                self.blobs |= {id: data for id, _, data in output.blobs}
            elif isinstance(output, m.Pause):
                self.pauses.append((self.now + output.ms, output.id))
            elif hasattr(output, "id") and self.hold:
                self.held.append(output)
            elif hasattr(output, "id"):
                self._answer(output)

    def _answer(self, command: Any) -> None:
        name = getattr(command, "what", type(command).__name__)
        error = self.errors.get(name)
        value = None if error else self._value(command, name)
        self.feed(m.CommandReply(at=self.now, id=command.id, value=value, error=error))

    def _value(self, command: Any, name: str) -> Any:
        if name in self.replies:
            reply = self.replies[name]
            return reply(command) if callable(reply) else reply
        match command:
            case m.ReadPage(what="snapshot"):
                seq = self.seq(command.page, self.document)
                url = "http://shop.test/"
                return PagePush(
                    seq=seq,
                    at=self.now,
                    purpose=command.args[0],
                    snapshot=dom(self.page_text),
                    url=url,
                    settled=True,
                )
            case m.ReadPage(what="reads"):
                return [Read(locator=read.locator, kind="string", value="1") for read in command.args]
            case m.ReadPage(what="prep"):
                return [Prep(source=source) for source in command.args]
            case m.Screenshot():
                return (Blob.of(PIXMAP, IMAGE), 1.0, self.now)
            case m.FetchBody():
                return b"<p>body</p>"
            case m.Http():
                return (200, "application/json", b'{"ok":true}')
            case m.Open():
                return {"page": -1, "url": command.url, "status": 200, "redirects": [], "settled": True}
        return None


@pytest.fixture
def driver() -> Driver:
    """A recording with one open tab."""
    return Driver().open()


@pytest.fixture
def new_driver() -> type[Driver]:
    """The driver class, for other options."""
    return Driver
