"""Messages of drivers to the session, and its commands to drivers: nothing here reaches a file.

All `at` are ms since recording start on the driver's clock. A command with an `id` gets exactly one
`CommandReply`.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from replaykit.recorder.page.page_script import PageEvent, PageNode, PagePush
from replaykit.recorder.session.request_messages import RequestMessage
from replaykit.recorder.session.witnesses import (
    Answered,
    Commanded,
    Logged,
    ScriptAsked,
    ScriptEnded,
    Witnessed,
)
from replaykit.trajectory.action import Action
from replaykit.trajectory.scalars import Box
from replaykit.trajectory.step import Event, Header

Source: TypeAlias = tuple[str, int]
"""A document that reports for itself: the browser's id of its frame, and its ordinal in it."""

MAIN: Source = ("", 0)
"""The main frame, whatever document it shows."""


class Timed(Struct, frozen=True, kw_only=True):
    """An input with its time."""

    at: float


class OfTab(Timed, frozen=True, kw_only=True):
    """Something that happens in a tab."""

    page: int
    """Tab ordinal."""


class OfDocument(OfTab, frozen=True, kw_only=True):
    """An input from the script in a document, by the page's own time."""

    document: int
    """Document ordinal within the tab."""
    frame: tuple[int, ...] = ()
    """Frame ordinals; empty = main frame."""
    source: Source = MAIN
    """Who says it."""


class PageMessage(OfDocument, frozen=True, kw_only=True):
    """A DOM event, as the page script saw it."""

    event: PageEvent
    """The message."""


class SnapshotPushed(OfDocument, frozen=True, kw_only=True):
    """A snapshot that the page sent; `at` is that of the serialization."""

    push: PagePush
    """The message."""


class FrameLeft(OfTab, frozen=True, kw_only=True):
    """A document in a frame that the page cannot read is no more, or was never watched."""

    source: Source
    """Which."""
    why: str = "left"
    """`left` (replaced, or its frame removed), `crashed`, `unarmed` (no script got in)."""


class FrameOwned(OfTab, frozen=True, kw_only=True):
    """It is known now whose frame an element of a snapshot holds."""

    source: Source
    """Who pushed the snapshot."""
    node: PageNode
    """The element that holds the frame."""
    id: str
    """The browser's id of the frame."""


class TabOpened(OfTab, frozen=True, kw_only=True):
    """A tab appeared."""

    url: str
    opener: int | None = None
    """Tab ordinal of the opener."""
    armed_after_ms: int | None = None
    """How long it ran unwatched, ms."""
    existing: bool = False
    """It was there when the recorder came: no action of the agent."""
    earlier: tuple[tuple[float, str], ...] = ()
    """Where it was before the recorder was attached, by the browser: when, ms, and the address."""
    requested: tuple[tuple[str, str], ...] = ()
    """Entries of its history: address, and the one that was first asked for."""
    is_linked: bool = False
    """A link opened it: until it has a document, it takes no input."""


class TabMissed(OfTab, frozen=True, kw_only=True):
    """A tab in which no one could listen: it went too soon, or was out of reach. `at`: when first seen."""

    opener: int | None = None
    """Tab ordinal of the opener."""
    urls: tuple[tuple[float, str], ...] = ()
    """Where it was, as far as the browser reported: when, ms, and the address."""
    closed_at: float | None = None
    """When it was gone; None = it may still be there."""
    existing: bool = False
    """It was there when the recorder came: no action of the agent."""
    is_empty: bool = False
    """It never had a document, so there was nothing to miss."""


class TabClosed(OfTab, frozen=True, kw_only=True):
    """A tab is gone."""


class TabCrashed(OfTab, frozen=True, kw_only=True):
    """A tab's renderer died."""


class Navigated(OfTab, frozen=True, kw_only=True):
    """A stage of a navigation."""

    frame: tuple[int, ...] = ()
    """Frame ordinals; empty = main frame."""
    document: int
    """Document ordinal within the tab, of the document that results."""
    url: str
    stage: str
    """`requested started committed within failed`, or `elsewhere`: asked for in a tab of its own."""
    navigation_type: str | None = None
    """Of `Page.frameStartedNavigating` / `navigatedWithinDocument`, verbatim."""
    reason: str | None = None
    """Of `Page.frameRequestedNavigation`, verbatim."""
    direction: str | None = None
    """`back` or `forward`, read from the navigation history."""
    loader: str | None = None
    """Loader id of one that started or failed."""
    request: str | None = None
    """Network id of the request that produced the document."""
    error: str | None = None
    """Network error of a failed one."""
    is_kept: bool = False
    """The document comes out of the back-forward cache: it sent its first messages long ago."""


class HistoryCall(OfTab, frozen=True, kw_only=True):
    """The agent asks its driver to go back or forward in a tab's history."""

    is_over: bool = False
    """The driver has done so, or could not."""


class DialogOpened(OfTab, frozen=True, kw_only=True):
    """A native dialog is on the screen."""

    kind: str
    message: str
    default: str | None = None


class DialogClosed(OfTab, frozen=True, kw_only=True):
    """It is gone."""

    accepted: bool
    input: str | None = None


class ConsoleLine(OfTab, frozen=True, kw_only=True):
    """A console line or uncaught error."""

    level: str
    text: str
    source: str | None = None


class DownloadChanged(OfTab, frozen=True, kw_only=True):
    """A download changed its state."""

    guid: str
    url: str
    suggested: str | None = None
    state: str
    size: int | None = None


class CommandReply(Timed, frozen=True, kw_only=True):
    """A command was carried out, or not."""

    id: int
    value: Any = None
    """Value as the command's docstring describes it."""
    error: str | None = None
    """`timeout dialog_open gone failed`."""


class Begin(Timed, frozen=True, kw_only=True):
    """The agent gets the browser: what happened before was the recorder's doing, no step.

    Needed only where `SessionOptions.is_begun` is false; a recording without start URLs begins at once.
    """


class StepEnter(Timed, frozen=True, kw_only=True):
    """The harness says what the agent is about to do."""

    actions: tuple[Action, ...]
    """One per call in the harness's string."""
    thought: str | None = None
    raw: Any = None
    stated_at: float | None = None
    """When, as the agent reports it."""


class StepExit(Timed, frozen=True, kw_only=True):
    """The harness says that it is done."""

    error: tuple[str, str] | None = None
    """Name and message of the exception."""


class Speaking(Timed, frozen=True, kw_only=True):
    """The agent is about to say something, and waits until its page has been looked at."""


class Utterance(Timed, frozen=True, kw_only=True):
    """A message of agent or user, or a thought of the agent."""

    kind: str
    """`thought say ask reply answer claim`."""
    text: str
    approved: bool | None = None
    stated_at: float | None = None
    """When, as the speaker reports it; orders nothing."""
    of: str | None = None
    """Subject of a claim: `reply end`, or another kind of message attributed to another speaker."""


class End(Timed, frozen=True, kw_only=True):
    """The run is over."""

    kind: str
    cause: str = "agent"
    answer: str | None = None
    exit_code: int | None = None
    error: tuple[str, str] | None = None
    validity: str = "valid"


Input: TypeAlias = (
    PageMessage | SnapshotPushed | FrameLeft | FrameOwned | TabOpened | TabMissed | TabClosed | TabCrashed
    | Navigated | HistoryCall | DialogOpened | DialogClosed | ConsoleLine | DownloadChanged | RequestMessage
    | CommandReply | Commanded | ScriptAsked | ScriptEnded | Answered | Logged | Witnessed | Begin
    | StepEnter | StepExit | Speaking | Utterance | End
)  # fmt: skip


class Write(Struct, frozen=True, kw_only=True):
    """Append and commit one event with its new blobs (id, media type, bytes); `frames`: of some, by id."""

    event: Event | Header
    blobs: tuple[tuple[str, str, bytes], ...] = ()
    frames: dict[str, bytes] = {}


class Arm(Struct, frozen=True, kw_only=True):
    """Make sure that the page script runs in this tab."""

    page: int
    document: int


class Disarm(Struct, frozen=True, kw_only=True):
    """Stop listening to a tab."""

    page: int


class WithReply(Struct, frozen=True, kw_only=True):
    """A command with a reply: its id."""

    id: int


class ReadPage(WithReply, frozen=True, kw_only=True):
    """Request something from a tab. The reply depends on `what`:

    `snapshot` (args: purpose) → PagePush, after a `SnapshotPushed` of every frame that reports for itself ·
    `frames` → None, after those ·
    `note_action` (args: frame id) → None: an action there may change other frames ·
    `reads` (args: list of ProbeRead) → list[Read] · `prep` (args: sources) → list[Prep] ·
    `file` (args: frame id, number of the file) → bytes or None · `history` → None or `back`/`forward` ·
    `requested` → pairs as in `TabOpened.requested` ·
    `a11y` → str, YAML.
    """

    page: int
    what: str
    args: tuple[Any, ...] = ()


class Screenshot(WithReply, frozen=True, kw_only=True):
    """Take a screenshot, boxes (`paint`, CSS px) blackened. Reply value: (`Blob`, scale, at)."""

    page: int
    paint: tuple[Box, ...] = ()
    is_painted: bool = False


class FetchBody(WithReply, frozen=True, kw_only=True):
    """Fetch a response body. Reply value: bytes."""

    request: str


class ReadLog(WithReply, frozen=True, kw_only=True):
    """Read the browser's net log to its end. Reply value: list[Sent], its times epoch ms less the start."""


class CloseDocuments(WithReply, frozen=True, kw_only=True):
    """Ask every document that is still there for its closing message. Reply value: list[Witnessed]."""


class Post(WithReply, frozen=True, kw_only=True):
    """Fetch the body of a request that was not reported with it. Reply value: bytes."""

    request: str


class Http(WithReply, frozen=True, kw_only=True):
    """Ask an API. Reply value: (status, media type, bytes)."""

    name: str
    method: str
    path: str


class Open(WithReply, frozen=True, kw_only=True):
    """Open or navigate the probe tab. Reply value: {page, url, status, error, redirects, settled}."""

    url: str
    actor: str = "probe"


class Close(WithReply, frozen=True, kw_only=True):
    """Close the probe tab. Reply value: None."""

    page: int


class Pause(WithReply, frozen=True, kw_only=True):
    """Reply after `ms`."""

    ms: int


class Seal(Struct, frozen=True, kw_only=True):
    """Last output: nothing follows."""


Output: TypeAlias = (
    Write | Arm | Disarm | ReadPage | Screenshot | CloseDocuments | FetchBody | Post | ReadLog | Http | Open
    | Close | Pause | Seal
)  # fmt: skip


class Core(Protocol):
    """The sans-io session, as a driver sees it."""

    def start(self, at: float) -> list[Output]:
        """Begin; the first output writes the header."""

    def feed(self, item: Input, /) -> list[Output]:
        """Take an input in."""

    @property
    def is_ending(self) -> bool:
        """Whether the run is over, for whatever reason: the agent has to stop."""

    @property
    def is_ready(self) -> bool:
        """Whether all observations due before the agent's next action are done."""
