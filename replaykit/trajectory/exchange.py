"""Events of the page, the browser and the people around it: one struct per event."""

from typing import Annotated

from replaykit.trajectory.action import Element
from replaykit.trajectory.observation import Moment, Read
from replaykit.trajectory.scalars import VOLATILE, Blob, Json, Ms, N, Word


class TabChange(Moment, frozen=True, kw_only=True, tag="tab"):
    """A tab opened, closed or crashed."""

    state: Word
    """`opened closed crashed`."""
    opener: N | None = None
    """Tab ordinal of the opener."""
    cause: Word = "unknown"
    """`agent page unknown`."""
    url: str | None = None
    """First URL."""
    armed_after_ms: Annotated[Ms | None, VOLATILE] = None
    """How long it ran unwatched, ms."""


class Navigation(Moment, frozen=True, kw_only=True, tag="navigation"):
    """A main-frame commit or same-document change."""

    url: str
    """Where to."""
    kind: Word
    """`goto back forward reload link form script refresh push fragment popup unknown`."""
    cause: Word = "unknown"
    """`agent step script unknown`."""
    committed: bool = True
    """False: it never arrived."""
    error: str | None = None
    """Why it never arrived."""
    same_document: bool = False
    """History push or fragment."""
    ambiguous: bool = False
    """The page's own back button looks the same; of a tab that was never listened in: whether it arrived."""
    frame: tuple[N, ...] = ()
    """Frame ordinals; empty = main frame."""
    exchange: Annotated[N | None, VOLATILE] = None
    """Exchange that produced the document."""
    status: N | None = None
    """HTTP status of the document."""
    step: N | None = None
    """Step that caused it."""
    requested: str | None = None
    """The address first asked for, where redirects led from it to `url`."""


class Dialog(Moment, frozen=True, kw_only=True, tag="dialog"):
    """A native dialog: opened and closed."""

    kind: Word
    """`alert confirm prompt beforeunload`."""
    message: str = ""
    """Its text."""
    default: str | None = None
    """Default text of a prompt."""
    input: str | None = None
    """Text given to a prompt."""
    accepted: bool | None = None
    """Accepted or dismissed; absent = not seen to close."""
    closed: Annotated[Ms | None, VOLATILE] = None
    """When it closed, ms since recording start."""
    step: N | None = None
    """Step that caused it."""


class Console(Moment, frozen=True, kw_only=True, tag="console"):
    """A console line or an uncaught error."""

    level: Word
    """`log info warning error debug pageerror`."""
    text: str
    """The line."""
    source: str | None = None
    """`url:line`."""
    step: N | None = None
    """Step that caused it."""


class Script(Moment, frozen=True, kw_only=True, tag="script"):
    """A page global read for a script reward."""

    name: str
    """Name of the global."""
    read: Read
    """Its value."""
    step: N | None = None
    """Step before the read."""


class ScriptEvent(Moment, frozen=True, kw_only=True, tag="script_event"):
    """An event that a script made and that counts as no action; the page may have made it, or the agent."""

    name: Word
    """`click pointerdown pointerup mousedown mouseup touchstart touchend dblclick auxclick contextmenu`
    `keydown keypress keyup`; `submit` of a form, by its button."""
    key: str | None = None
    """The key that it names."""
    element: Element
    """Where, as it was before."""
    step: N | None = None
    """Step before it."""


class Download(Moment, frozen=True, kw_only=True, tag="download"):
    """A download; never its content."""

    url: str
    """Where from."""
    suggested: str | None = None
    """Suggested file name."""
    state: Word = "unknown"
    """`started completed canceled failed unknown`."""
    size: N | None = None
    """Bytes."""
    step: N | None = None
    """Step that caused it."""


class Exchange(Moment, frozen=True, kw_only=True, tag="exchange"):
    """One HTTP request with its response; `t` = request start."""

    id: Annotated[N, VOLATILE]
    """In order of request start, redirects and probes included."""
    method: str
    """HTTP method."""
    url: str
    """Full URL."""
    step: N | None = None
    """Step that caused it."""
    frame: tuple[N, ...] = ()
    """Frame ordinals; empty = main frame."""
    actor: Word = "agent"
    """`agent probe`; a request that the agent made without a page has no `page` and initiator `driver`."""
    initiator: Word | None = None
    """`parser script preload other`; `evaluated`: a script of the agent called one of the page, which asked;
    `agent`: a script of the agent asked; `driver`: the agent's own HTTP client, no page;
    `gesture`: a gesture on the page sent the form that asked; `form`: a script did, of the page or agent."""
    source: Word | None = None
    """Source of the record: absent = the browser.

    `netlog` = only the net log; `agent` = the agent answered it.
    """
    resource: Word = "other"
    """`document stylesheet script image font media xhr fetch websocket eventsource worker webtransport
    ping other`."""
    http_version: Annotated[str | None, VOLATILE] = None
    """As negotiated."""
    remote: Annotated[str | None, VOLATILE] = None
    """Remote address and port."""
    request_headers: tuple[tuple[str, str], ...] | None = None
    """Wire order and case; secrets removed."""
    response_headers: tuple[tuple[str, str], ...] | None = None
    """Wire order and case; secrets removed."""
    post: Blob | None = None
    """Request body."""
    post_size: N | None = None
    """Bytes of the request body, where `post` holds fewer: files of the disk are left out."""
    body: Blob | None = None
    """Response body."""
    status: N | None = None
    """HTTP status; absent = no response."""
    status_text: str | None = None
    """Reason phrase."""
    mime: str | None = None
    """Media type of the response."""
    encoded_size: Annotated[N | None, VOLATILE] = None
    """Bytes on the wire."""
    decoded_size: N | None = None
    """Bytes after decoding."""
    from_cache: bool = False
    """Served from the browser's cache."""
    from_worker: bool = False
    """Served by a service worker."""
    redirect_from: N | None = None
    """Exchange that led here."""
    redirect_to: N | None = None
    """Exchange this led to."""
    error: str | None = None
    """`net::ERR_...` as the browser reports it."""
    sent: Annotated[Ms | None, VOLATILE] = None
    """Request sent, ms since recording start."""
    waited: Annotated[Ms | None, VOLATILE] = None
    """First byte awaited, ms since recording start."""
    received: Annotated[Ms | None, VOLATILE] = None
    """Response headers, ms since recording start."""
    ended: Annotated[Ms | None, VOLATILE] = None
    """Body complete, ms since recording start."""
    messages: N = 0
    """Frames (WebSocket) or messages (event stream) received."""
    sent_frames: N = 0
    """WebSocket frames sent."""


class Message(Moment, frozen=True, kw_only=True, tag="message"):
    """A message between agent and user."""

    role: Word
    """`agent user`."""
    kind: Word
    """`say ask reply answer`, or `claim`: a message that the agent attributes to another.

    No check reads it.
    """
    text: str
    """Text of the message."""
    of: Word | None = None
    """Claims: what is claimed, `reply` or `end`."""
    stated_at: Annotated[Ms | None, VOLATILE] = None
    """Time of the message as the agent states it, ms since recording start; does not affect the order."""
    approved: bool | None = None
    """The user's decision, where one was stated."""
    step: N | None = None
    """Step before it."""


class Gap(Moment, frozen=True, kw_only=True, tag="gap"):
    """Something was missed, and what."""

    channel: Word
    """Channel that is incomplete."""
    why: str
    """A code: `events.missed`, `document.unclosed`, `target.late`, `flood`, `timeout` ..."""
    start: Annotated[Ms | None, VOLATILE] = None
    """From, ms since recording start."""
    end: Annotated[Ms | None, VOLATILE] = None
    """To, ms since recording start."""
    step: N | None = None
    """Step concerned."""
    count: N = 1
    """How many were missed."""
    detail: str | None = None
    """More about it, for people to read: the type of a missed event, and the document."""


class Imported(Moment, frozen=True, kw_only=True, tag="imported"):
    """A verdict or label that came with an imported run; never a verdict of ours."""

    kind: Word
    """`label judgement outcome reward`."""
    value: Json
    """As found."""
    name: str | None = None
    """Who or what gave it."""
    file: str | None = None
    """File it came from."""


class Rest(Moment, frozen=True, kw_only=True, tag="rest"):
    """Other fields of an imported run: kept as they are, read by nothing that grades."""

    place: str
    """File, and the part of it."""
    value: Json
    """Path in the file to value."""
