"""Other events of a page or of the people around it: dialogs, console lines, downloads, messages."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from math import inf
from urllib.parse import urljoin

from msgspec.structs import asdict, replace

from replaykit.recorder.session.driver_messages import (
    ConsoleLine,
    DialogClosed,
    DialogOpened,
    DownloadChanged,
    PageMessage,
    Utterance,
)
from replaykit.recorder.session.outbox import Outbox, StepRef
from replaykit.recorder.session.page_message import ms, text_of
from replaykit.recorder.session.request_messages import Requested
from replaykit.recorder.session.witnesses import Commanded
from replaykit.trajectory.action import Element
from replaykit.trajectory.command import Command
from replaykit.trajectory.exchange import Console, Dialog, Download, Message, ScriptEvent

LINES_MAX = 10_000
"""Console lines kept in one recording."""

LINE_MAX = 4096
"""Longest console line kept, UTF-8 bytes."""

LEVELS = frozenset({"log", "info", "warning", "error", "debug", "pageerror"})
"""Console levels; others count as `log`."""

COMMANDS_MAX = 50_000
"""Commands kept in one recording."""

SCRIPT_EVENTS_MAX = 1000
"""Events of scripts kept in one recording, one of each kind and element between two commands of the agent."""

ROLES = {"say": "agent", "ask": "agent", "reply": "user", "answer": "agent", "claim": "agent"}
"""Role of the sender, by kind of message."""

DIALOGS = frozenset({"alert", "confirm", "prompt", "beforeunload"})
"""Kinds of dialogs; others count as `alert`."""

_OVER = frozenset({"completed", "canceled", "failed"})

LINKS_MAX = 1000
"""Addresses of links to downloads kept in one recording."""

ANSWER_MAX_MS = 60_000
"""A page that turns out to be a download was asked for at most so long before."""


class PageEvents:
    """Writes these events, each with the step that it came from."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._dialogs: dict[int, tuple[Dialog, StepRef | None]] = {}
        self._downloads: dict[str, tuple[Download, StepRef | None]] = {}
        self._lines = 0
        self._dropped = 0
        self._script_events: set[tuple[object, ...]] = set()
        self._dropped_events = 0
        self.commands: Counter[str] = Counter()
        """Commands of the agent by kind."""
        self.answer: str | None = None
        """The latest answer."""

    def dialog_opened(self, message: DialogOpened, ref: StepRef | None) -> None:
        """Record a dialog; it is written when it closes."""
        # A tab shows one dialog at a time: the end of an older one was missed.
        self._end_dialog(message.page)
        dialog = Dialog(
            t=ms(message.at),
            page=message.page,
            kind=message.kind if message.kind in DIALOGS else "alert",
            message=message.message,
            default=message.default,
        )
        self._dialogs[message.page] = (dialog, ref)

    def dialog_closed(self, message: DialogClosed) -> None:
        """Write a dialog that is gone."""
        dialog, ref = self._dialogs.pop(message.page, (None, None))
        if dialog is not None:
            closed = replace(dialog, accepted=message.accepted, input=message.input, closed=ms(message.at))
            self._outbox.write(closed, ref=ref)

    def console(self, message: ConsoleLine, ref: StepRef | None) -> None:
        """Write a console line, or count it where there are too many."""
        if self._lines >= LINES_MAX:
            self._dropped += 1
            return
        self._lines += 1
        event = Console(
            t=ms(message.at),
            page=message.page,
            level=message.level if message.level in LEVELS else "log",
            # Redact first: a cut could split a secret, and its first half would be kept.
            text=cut(self._outbox.redactor.text(message.text), LINE_MAX),
            source=message.source,
        )
        self._outbox.write(event, ref=ref)

    def script_event(self, message: PageMessage, ref: StepRef | None) -> None:
        """Write an event of a script that is no action, or count it where there are too many."""
        element, name, key = message.event.element, message.event.name, text_of(message, "key")
        if element is None:
            return
        place = (name, key, message.page, message.frame, element.css, element.text, self.commands.total())
        if place in self._script_events:
            return
        if len(self._script_events) >= SCRIPT_EVENTS_MAX:
            self._dropped_events += 1
            return
        self._script_events.add(place)
        event = ScriptEvent(t=ms(message.at), page=message.page, name=name, key=key, element=element)
        self._outbox.write(event, ref=ref)

    def download(self, message: DownloadChanged, ref: StepRef | None) -> None:
        """Record a download; it is written when it is over."""
        event, begun = self._downloads.get(message.guid, (None, ref))
        if event is None:
            event = Download(t=ms(message.at), page=message.page, url=message.url)
        event = replace(
            event,
            suggested=message.suggested or event.suggested,
            state=message.state if message.state in _OVER | {"started"} else "unknown",
            size=message.size if message.size is None or message.size >= 0 else None,
        )
        self._downloads[message.guid] = (event, begun)
        if message.state in _OVER:
            del self._downloads[message.guid]
            self._outbox.write(event, ref=begun)

    def commanded(self, message: Commanded) -> None:
        """Write a command of the agent."""
        self.commands[message.kind] += 1
        if self.commands.total() <= COMMANDS_MAX:
            fields = asdict(message)
            del fields["forges"], fields["within"], fields["strokes"]
            self._outbox.write(Command(t=ms(fields.pop("at")), **fields))

    def write_utterance(self, message: Utterance, step: int | None) -> None:
        """Write at once an utterance of agent or user, in or after a step: a crash loses no answer."""
        role = ROLES.get(message.kind)
        if role is None:
            return
        if message.kind == "answer":
            self.answer = message.text
        event = Message(
            t=ms(message.at),
            role=role,
            kind=message.kind,
            text=message.text,
            approved=message.approved,
            of=message.of,
            stated_at=None if message.stated_at is None else ms(message.stated_at),
            step=step,
        )
        self._outbox.write(event)

    def finish(self, at: float) -> None:
        """Write what is still open, and how many console lines were dropped."""
        for page in list(self._dialogs):
            self._end_dialog(page)
        for event, ref in self._downloads.values():
            self._outbox.write(event, ref=ref)
        self._downloads.clear()
        if self._dropped:
            self._outbox.gap("console", "flood", at, count=self._dropped)
        if self._dropped_events:
            self._outbox.gap("actions", "flood", at, count=self._dropped_events)
        if self.commands.total() > COMMANDS_MAX:
            self._outbox.gap("actions", "flood", at, count=self.commands.total() - COMMANDS_MAX)

    def _end_dialog(self, page: int) -> None:
        dialog, ref = self._dialogs.pop(page, (None, None))
        if dialog is not None:
            self._outbox.write(dialog, ref=ref)


def cut(text: str, limit: int) -> str:
    """Return a text of at most `limit` UTF-8 bytes; what is left out is counted in characters."""
    # Texts of pages may hold lone surrogates, which plain UTF-8 refuses.
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return text
    kept = data[:limit].decode("utf-8", "ignore")
    return f"{kept}⟦cut:{len(text) - len(kept)}⟧"


class DownloadRequests:
    """Finds the downloads for which the browser reported no request: a link with `download` makes such.

    The browser then names only the last address. That of a link that was clicked is also the first.
    """

    def __init__(self) -> None:
        self._asked_at: dict[str, float] = {}
        self._links: set[str] = set()
        self._unreported: list[DownloadChanged] = []

    def clicked(self, element: Element | None, base: str) -> None:
        """Record a link that an event was on."""
        marks = (element.attributes if element is not None else None) or {}
        if "download" in marks and "href" in marks and len(self._links) < LINKS_MAX:
            with suppress(ValueError):  # not an address
                self._links.add(_plain(urljoin(base, marks["href"])))

    def redirected(self) -> list[DownloadChanged]:
        """Return the downloads that redirects may have led to."""
        return [one for one in self._unreported if _plain(one.url) not in self._links]

    def asked(self, message: Requested) -> None:
        """Record a request that the browser reported."""
        # Taken out and put back, so that the first to be forgotten is the oldest.
        self._asked_at.pop(_plain(message.url), None)
        self._asked_at[_plain(message.url)] = message.at
        while message.at - next(iter(self._asked_at.values())) > ANSWER_MAX_MS:
            del self._asked_at[next(iter(self._asked_at))]

    def of(self, message: DownloadChanged) -> Requested | None:
        """Return the request of a download that begins; None if it was reported, or nothing was sent."""
        is_new = message.state == "started" and message.url.startswith(("http:", "https:"))
        if not is_new or message.at - self._asked_at.get(_plain(message.url), -inf) <= ANSWER_MAX_MS:
            return None
        self._unreported.append(message)
        name = f"download:{message.guid}"
        return Requested(
            at=message.at,
            request=name,
            page=message.page,
            method="GET",
            url=message.url,
            initiator="other",
        )


def _plain(url: str) -> str:
    return url.partition("#")[0]
