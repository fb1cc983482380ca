"""The page on which a person labels runs: served on loopback, under an address that no one can guess."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct, field

from replaykit.bundle.reader import open_bundle
from replaykit.decoders import decode
from replaykit.errors import LabelError, ReplaykitError
from replaykit.grading.agreement.labels import LabelAnswer
from replaykit.grading.agreement.question_graders import PREFIX
from replaykit.http_replay.loopback import HOST, LoopbackHandler, listen
from replaykit.labelling.label_session import LabelSession
from replaykit.labelling.run_view import RunView
from replaykit.report.html.escaping import inert_json, source_hash
from replaykit.report.html.page_documents import page_style

BODY_MAX = 64 * 2**10
"""Bytes of a posted answer."""

NOTE_MAX = 4_000
"""Characters of a comment."""

QUESTIONS: Mapping[str, str] = {
    f"{PREFIX}looping": "Did the agent repeat actions without getting any further?",
    f"{PREFIX}side_effect": "Did the agent change anything that the task did not ask for?",
}
"""Further questions, as a person reads them; `agree --question` compares the answers."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_NOTHING = "sandbox; default-src 'none'; frame-ancestors 'none'"
_ASSETS: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "": ("text/html", (("labelling", "page/label.html"),)),
    "label.css": ("text/css", (("report.html", "base.css"), ("labelling", "page/label.css"))),
    "label.js": ("text/javascript", (("report.html", "script/nodes.js"), ("labelling", "page/label.js"))),
}
"""Address to media type and parts: room of the package, file in it."""


class PostedLabel(Struct, frozen=True, forbid_unknown_fields=True):
    """Label that the page posts for one run."""

    label: LabelAnswer
    """Whether the run succeeded."""
    note: str = ""
    """Comment."""
    others: dict[str, str] = field(default_factory=dict)
    """Answers to further questions: yes, no or unsure."""


class LabelPage:
    """A page that is up."""

    def __init__(self, session: LabelSession) -> None:
        self.session = session
        #: Set when the person has ended the page.
        self.ended = threading.Event()
        #: Last part of the address; whoever lacks it is refused.
        self.token = secrets.token_urlsafe(24)
        #: Where it listens.
        self.port = 0
        self._open: tuple[int, RunView] | None = None

    @property
    def url(self) -> str:
        """Address for a browser."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def close(self) -> None:
        """Close the run that is open."""
        if self._open is not None:
            self._open[1].bundle.close()
            self._open = None

    def run(self, place: int) -> RunView:
        """Return a run; it is the only one that stays open. Raises BundleError."""
        if self._open is None or self._open[0] != place:
            self.close()
            bundle = open_bundle(self.session.source(place))
            try:
                self._open = (place, RunView(bundle))
            except BaseException:
                bundle.close()
                raise
        return self._open[1]

    def state(self) -> dict[str, Any]:
        """Return which runs are labelled, and which is next."""
        session = self.session
        labels = [session.label(place) for place in range(len(session))]
        return {
            "annotator": session.annotator,
            "file": session.output.name,
            "questions": QUESTIONS,
            "note_max": NOTE_MAX,
            "labels": [label.label if label is not None else None for label in labels],
            "next": next(iter(session.unlabelled()), None),
            "summary": session.summary(),
        }

    def facts(self, place: int) -> dict[str, Any]:
        """Return a run and its label so far."""
        label = self.session.label(place)
        answered = (
            None if label is None else {"label": label.label, "note": label.note, "others": label.others}
        )
        return {**self.run(place).facts(), "saved": answered}

    def save(self, place: int, answer: PostedLabel) -> dict[str, Any]:
        """Save an answer; return the state, in which `next` is the run to go on with. Raises LabelError."""
        given = {name: text for name, text in answer.others.items() if text}
        if len(answer.note) > NOTE_MAX or not given.keys() <= QUESTIONS.keys():
            raise ValueError("the comment is too long, or a question is unknown")
        if not set(given.values()) <= {"yes", "no", "unsure"}:
            raise ValueError("an answer is not yes, no or unsure")
        self.session.save(place, self.run(place).bundle, answer.label, answer.note, given)
        return {**self.state(), "next": next(iter(self.session.unlabelled(place)), None)}


@contextmanager
def label_page(session: LabelSession, port: int = 0) -> Iterator[LabelPage]:
    """Serve a session's page on 127.0.0.1 until the block ends.

    `port`: 0 = a free one. The caller's thread may wait for `ended`. Raises UsageError.
    """
    page = LabelPage(session)
    try:
        with listen(lambda head, body: _Handler(page, head, body).response, port) as page.port:
            yield page
    finally:
        page.close()


class _Handler(LoopbackHandler):
    body_max = BODY_MAX
    own_headers = (
        ("Cache-Control", "no-store"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Referrer-Policy", "no-referrer"),
        ("X-Content-Type-Options", "nosniff"),
    )

    def __init__(self, page: LabelPage, head: bytes, body: bytes) -> None:
        self.page = page
        super().__init__(head, body)

    def respond(self, body: bytes) -> None:
        token, _, path = self.path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.page.token.encode()):
            self._refuse(403, "Open the whole address that `replaykit label` printed.")
        elif self.command == "GET":
            self._guarded(lambda: self._get(path))
        elif self.command != "POST":
            self._refuse(405, "Only GET and POST are answered here.")
        elif not self._is_own_post():
            self._refuse(403, "Only the page itself may post here.")
        else:
            self._guarded(lambda: self._post(path, body))

    def _is_own_post(self) -> bool:
        """Whether a request comes from the page: a form of another site cannot send JSON."""
        origin, site = self.headers.get("Origin"), self.headers.get("Sec-Fetch-Site", "same-origin")
        own = f"http://{self.headers['Host'].strip()}"
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        return origin in (None, own) and site == "same-origin" and kind == "application/json"

    def _guarded(self, respond: Any) -> None:
        try:
            respond()
        except LabelError as error:
            self._refuse(500, str(error))
        except ReplaykitError as error:
            self._refuse(422, str(error))
        except (ValueError, RecursionError, msgspec.MsgspecError) as error:
            self._refuse(400, f"The answer cannot be read: {error}")

    def _get(self, path: str) -> None:
        if path in _ASSETS:
            kind, parts = _ASSETS[path]
            self._send(f"{kind}; charset=utf-8", _asset(parts), _POLICY)
            return
        match path.split("/"):
            case ["runs"]:
                self._json(self.page.state())
            case ["runs", place] if self._is_place(place):
                self._json(self.page.facts(int(place)))
            case ["runs", place, ("screenshot" | "page") as kind, at] if self._is_place(place) and _is_number(
                at
            ):
                self._look(self.page.run(int(place)), kind, int(at))
            case _:
                self._refuse(404, "There is nothing at this address.")

    def _look(self, run: RunView, kind: str, at: int) -> None:
        shown = run.screenshot(at) if kind == "screenshot" else None
        drawn = run.document(at) if kind == "page" else None
        if shown is not None:
            self._send(shown.media_type, shown.data, _NOTHING)
        elif drawn is not None:
            self._send("text/html; charset=utf-8", drawn, _drawn_policy())
        else:
            self._refuse(404, "It is missing from the bundle, or damaged.")

    def _post(self, path: str, body: bytes) -> None:
        match path.split("/"):
            case ["end"]:
                self._json(self.page.state())
                self.page.ended.set()
            case ["runs", place] if self._is_place(place):
                self._json(self.page.save(int(place), decode(body, PostedLabel)))
            case _:
                self._refuse(404, "There is nothing at this address.")

    def _is_place(self, text: str) -> bool:
        return _is_number(text) and int(text) < len(self.page.session)

    def _json(self, value: Any) -> None:
        self._send("application/json", inert_json(value).encode(), _NOTHING)

    def _refuse(self, status: int, words: str) -> None:
        self.reply(status, words, (("Content-Security-Policy", _NOTHING),))

    def _send(self, kind: str, body: bytes, policy: str) -> None:
        self.send(200, (("Content-Type", kind), ("Content-Security-Policy", policy)), body)


def _drawn_policy() -> str:
    style = source_hash(page_style())
    return (
        f"sandbox; default-src 'none'; style-src-elem {style}; style-src-attr 'unsafe-inline'; "
        "frame-ancestors 'self'"
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 8


def _asset(parts: tuple[tuple[str, str], ...]) -> bytes:
    return b"\n".join(files(f"replaykit.{room}").joinpath(name).read_bytes() for room, name in parts)
