"""Build runs in a few words, with a fixed clock and fixed ids: for our tests and our users'."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from msgspec.structs import replace

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.writer import Journal, seal
from replaykit.testing.pages import snapshot
from replaykit.trajectory import action as actions
from replaykit.trajectory.completeness_proof import WITNESSES, Proof
from replaykit.trajectory.exchange import Dialog, Exchange, Gap, Message, Navigation
from replaykit.trajectory.observation import Observation, Read, TabView
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import CHANNELS, Ending, Event, Header, Probe, Step, Trajectory

CREATED = "2026-01-01T00:00:00.000Z"
"""The fixed wall clock of built runs."""

TICK = 100
"""ms between two events of a built run."""

SNAPSHOT = "application/x-replaykit-dom"
PIXMAP = "image/x-portable-pixmap"

Blobs = dict[str, tuple[str, bytes]]


class Builder:
    """A run under construction; every method returns it, so calls chain.

    ::

        trajectory("t1").goto("http://shop.test/", "<h1>Shop</h1>").click("#buy").answer("done").write(path)
    """

    def __init__(self, task: str | dict[str, Any] = "t1", **header: Any) -> None:
        plain = {"id": task, "intent": "Do it."} if isinstance(task, str) else task
        header.setdefault("channels", dict.fromkeys(CHANNELS, "recorded"))
        self._header = Header(created=CREATED, task=plain, **header)
        self._events: list[Event] = []
        self._blobs: Blobs = {}
        self._url = "about:blank"
        self._page: str | None = None
        self._steps = 0

    def goto(self, url: str, html: str | None = None, *, status: int = 200, **step: Any) -> Self:
        """Go to a page of which `html` is the body; adds the step, its navigation and its observation."""
        self.step(actions.Goto(url=url), **{"url": url, **step})
        self.visit(url, kind="goto", cause="agent", status=status)
        return self.see(html if html is not None else "", url=url, status=status)

    def click(self, css: str, html: str | None = None, **element: Any) -> Self:
        """Click an element; `html` is the page afterwards, where it changed."""
        return self._on(actions.Click(element=_element(css, element)), html)

    def fill(self, css: str, value: str, html: str | None = None, **element: Any) -> Self:
        """Fill a field at once."""
        return self._on(actions.Fill(element=_element(css, element), value=value, value_after=value), html)

    def type(self, css: str, value: str, html: str | None = None, **element: Any) -> Self:
        """Type into a field key by key."""
        return self._on(actions.Type(element=_element(css, element), value=value, value_after=value), html)

    def press(self, css: str, key: str, html: str | None = None, **element: Any) -> Self:
        """Press a named key on an element."""
        return self._on(actions.Press(element=_element(css, element), key=key), html)

    def select(self, css: str, *values: str, html: str | None = None, **element: Any) -> Self:
        """Choose options."""
        return self._on(
            actions.SelectOption(element=_element(css, element), values=values, labels=values), html
        )

    def check(self, css: str, html: str | None = None, **element: Any) -> Self:
        """Tick a box."""
        return self._on(actions.Check(element=_element(css, element)), html)

    def step(self, action: actions.Action, **step: Any) -> Self:
        """Add any step; keywords are fields of `Step`."""
        before = Observation(role="before", url=self._url, snapshot=self._page) if self._page else None
        step.setdefault("before", before)
        step.setdefault("url", self._url)
        error = step.pop("error", None)
        if error is not None:
            step["error"] = error if isinstance(error, Threw) else Threw(name="Error", message=error)
        self._add(Step(index=self._steps, action=action, page=0, t=self._t, **step))
        self._steps += 1
        return self

    def see(self, html: str, *, url: str | None = None, role: str = "after", **look: Any) -> Self:
        """Observe a page whose body is `html`, as the result of the last step."""
        self._url = url or self._url
        self._page = self._put(SNAPSHOT, snapshot(html, self._url))
        of = self._steps - 1 if role == "after" and self._steps else None
        look.setdefault("settled", True)
        look.setdefault("status", 200)
        return self._add(
            Observation(
                role="start" if role == "after" and of is None else role,
                of=of,
                url=self._url,
                snapshot=self._page,
                tabs=(TabView(page=0, url=self._url, active=True),),
                page=0,
                t=self._t,
                **look,
            )
        )

    def screenshot(self, width: int = 2, height: int = 2, colour: tuple[int, int, int] = (255, 0, 0)) -> Self:
        """Observe a screenshot of one colour."""
        pixels = f"P6\n{width} {height}\n255\n".encode() + bytes(colour) * (width * height)
        shot = self._put(PIXMAP, pixels)
        of = self._steps - 1 if self._steps else None
        role = "start" if of is None else "after"
        return self._add(Observation(role=role, of=of, url=self._url, screenshot=shot, page=0, t=self._t))

    def visit(self, url: str, kind: str = "link", cause: str = "step", **navigation: Any) -> Self:
        """Commit a navigation."""
        self._url = url
        step = self._steps - 1 if self._steps else None
        return self._add(
            Navigation(url=url, kind=kind, cause=cause, step=step, page=0, t=self._t, **navigation)
        )

    def request(self, method: str, url: str, status: int | None = 200, **exchange: Any) -> Self:
        """Add an exchange of the agent's pages."""
        number = sum(isinstance(event, Exchange) for event in self._events)
        step = self._steps - 1 if self._steps else None
        return self._add(
            Exchange(id=number, method=method, url=url, status=status, step=step, t=self._t, **exchange)
        )

    def dialog(self, message: str, kind: str = "alert", accepted: bool = True, **dialog: Any) -> Self:
        """Show a native dialog."""
        step = self._steps - 1 if self._steps else None
        return self._add(
            Dialog(kind=kind, message=message, accepted=accepted, step=step, page=0, t=self._t, **dialog)
        )

    def say(self, text: str, kind: str = "say") -> Self:
        """Let the agent say something; kinds: say, ask, answer."""
        return self._add(Message(role="agent", kind=kind, text=text, t=self._t))

    def reply(self, text: str, approved: bool | None = None) -> Self:
        """Let the user reply."""
        return self._add(Message(role="user", kind="reply", text=text, approved=approved, t=self._t))

    def gap(self, channel: str, why: str = "timeout") -> Self:
        """Miss something."""
        return self._add(Gap(channel=channel, why=why, t=self._t))

    def claim(self, text: str, of: str = "reply") -> Self:
        """Let the agent say that the user replied, or that the run ended otherwise."""
        return self._add(Message(role="agent", kind="claim", text=text, of=of, t=self._t))

    def proof(self, witness: str, closed: bool = True, lacks: tuple[str, ...] = (), **counts: int) -> Self:
        """Let one witness say what it saw; the header promises it through `witnesses`."""
        return self._add(Proof(witness=witness, closed=closed, lacks=lacks, counts=counts, t=self._t))

    def proven(self, *witnesses: str) -> Self:
        """Promise these witnesses (all of them, if none is named) and let each close its proof here."""
        promised = witnesses or WITNESSES
        self._header = replace(self._header, witnesses=promised)
        for witness in promised:
            self.proof(witness)
        return self

    def probe(
        self, url: str, html: str | None = None, *reads: Read, phase: str = "post", **probe: Any
    ) -> Self:
        """Look at a page in a separate tab."""
        number = sum(isinstance(event, Probe) for event in self._events)
        page = None if html is None else self._put(SNAPSHOT, snapshot(html, url))
        probe = {"requested": url, "url": url, "status": 200, "settled": True, **probe}
        return self._add(Probe(id=f"p{number}", phase=phase, snapshot=page, reads=reads, t=self._t, **probe))

    def api(
        self,
        name: str,
        reply: bytes | str,
        *,
        url: str | None = None,
        mime: str = "application/json",
        status: int = 200,
        phase: str = "post",
    ) -> Self:
        """Ask an API under the name that checks use; `url` is what was asked."""
        number = sum(isinstance(event, Probe) for event in self._events)
        probe = Probe(
            id=f"h{number}",
            phase=phase,
            t=self._t,
            name=name,
            method="GET",
            path=url,
            status=status,
            mime=mime,
            body=self._put(mime, reply.encode() if isinstance(reply, str) else reply),
        )
        return self._add(probe)

    def final(self, html: str | None = None, **look: Any) -> Self:
        """Observe the page that the run ends on."""
        if html is not None:
            return self.see(html, role="final", **look)
        return self._add(
            Observation(
                role="final",
                url=self._url,
                snapshot=self._page,
                tabs=(TabView(page=0, url=self._url, active=True),),
                status=200,
                settled=True,
                page=0,
                t=self._t,
            )
        )

    def answer(self, text: str | None, kind: str = "answered", **ending: Any) -> Self:
        """Answer and end; the final page is observed first, unless it was."""
        if text is not None:
            self.say(text, "answer")
        if self._page and not any(isinstance(e, Observation) and e.role == "final" for e in self._events):
            self.final()
        return self.end(kind, answer=text, **ending)

    def end(self, kind: str = "stopped", **ending: Any) -> Self:
        """End the run."""
        return self._add(Ending(kind=kind, t=self._t, **ending))

    def add(self, event: Event) -> Self:
        """Add any event as it is."""
        return self._add(event)

    def keep(self, media_type: str, data: bytes | str) -> str:
        """Keep a payload and return its id, for fields of events: bodies of requests, screenshots."""
        return self._put(media_type, data.encode() if isinstance(data, str) else data)

    def build(self) -> Trajectory:
        """Return the run in memory."""
        return Trajectory(header=self._header, events=tuple(self._events))

    def blobs(self) -> Blobs:
        """Return its blobs: id to (media type, bytes)."""
        return dict(self._blobs)

    def write(self, path: str | Path, *, sealed: bool = True) -> Path:
        """Write the run into a bundle file."""
        blobs = [(id, media_type, data) for id, (media_type, data) in self._blobs.items()]
        journal = Journal.create(path)
        journal.commit([self._header])
        if self._events:
            journal.commit(self._events, blobs)
        journal.close()
        if sealed:
            seal(path)
        return Path(path)

    @property
    def _t(self) -> int:
        return (len(self._events) + 1) * TICK

    def _on(self, action: actions.Action, html: str | None) -> Self:
        self.step(action)
        return self if html is None else self.see(html)

    def _put(self, media_type: str, data: bytes) -> str:
        id = blob_id(data)
        self._blobs[id] = (media_type, data)
        return id

    def _add(self, event: Event) -> Self:
        self._events.append(event)
        return self


def trajectory(task: str | dict[str, Any] = "t1", **header: Any) -> Builder:
    """Start a run of a task, by id or whole; keywords are fields of `Header`."""
    return Builder(task, **header)


def _element(css: str, fields: dict[str, Any]) -> actions.Element:
    return actions.Element(**{"ref": css, "css": css, **fields})
