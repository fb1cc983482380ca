"""Observations: what a page looked like, by reference to snapshots and screenshots."""

from typing import Annotated

from msgspec import Meta

from replaykit.trajectory.scalars import VOLATILE, Blob, Id, Json, Ms, N, Point, Record, Threw, Word


class TabView(Record, frozen=True, kw_only=True):
    """One open tab."""

    page: N
    """Tab ordinal in order of opening."""
    url: str
    """Its URL."""
    title: str | None = None
    """Its title."""
    active: bool = False
    """The tab acted on last."""


class Frame(Record, frozen=True, kw_only=True):
    """A frame whose document the page itself cannot read."""

    snapshot: Blob | None = None
    """Its own snapshot."""
    url: str | None = None
    """Its URL."""
    why: Word | None = None
    """Why there is no snapshot: `unseen unmatched unarmed crashed`; importers may give others."""
    frames: "tuple[Frame, ...]" = ()
    """Frames inside of it that its document cannot read, by ordinal in its own snapshot."""


class Stale(Record, frozen=True, kw_only=True):
    """How far a snapshot lies behind the action."""

    ms: Ms = 0
    """Age, ms."""
    mutations: N = 0
    """DOM mutations since."""


class Prep(Record, frozen=True, kw_only=True):
    """A preparing script that ran before a read."""

    source: str
    """JavaScript."""
    threw: Threw | None = None
    """Its exception."""


class Hit(Record, frozen=True, kw_only=True):
    """One element that a selector matched."""

    number: N
    """Element number in the snapshot."""
    attributes: dict[str, str] = {}
    """Its attributes."""


class Read(Record, frozen=True, kw_only=True):
    """A value read from the live page for a check or policy."""

    locator: str
    """Locator text, as in the task."""
    kind: Word
    """`bool null undefined number string array object node function exception hits`."""
    value: Json = None
    """The value, as JSON."""
    special: Word | None = None
    """`nan inf -inf`: numbers that JSON does not have."""
    threw: Threw | None = None
    """The exception, where kind is `exception`."""
    prep: tuple[Prep, ...] = ()
    """Scripts run before."""
    hits: tuple[Hit, ...] = ()
    """Selectors: all hits, at most the first 1,000."""


class Moment(Record, frozen=True, kw_only=True, tag_field="type"):
    """Fields that every event but the header starts with."""

    t: Annotated[Ms | None, VOLATILE] = None
    """ms since recording start, the page's clock."""
    page: N | None = None
    """Tab ordinal; absent = no page."""
    seq: Annotated[N, VOLATILE] = 0
    """The page's own message counter; 0 for driver and harness."""


class Observation(Moment, frozen=True, kw_only=True, tag="observation"):
    """A page at one moment."""

    role: Word
    """`start before after final unaligned`; `before` only inside a step."""
    of: N | None = None
    """Step index, for role `after`."""
    url: str | None = None
    """URL at `t`."""
    title: str | None = None
    """Title at `t`."""
    tabs: tuple[TabView, ...] = ()
    """All open tabs."""
    viewport: tuple[N, N] | None = None
    """Width, height, CSS px."""
    pointer: Point | None = None
    """Last pointer position."""
    snapshot: Blob | None = None
    """`application/x-replaykit-dom`; importers may give `text/html`."""
    frames: tuple[Frame, ...] = ()
    """Frames with documents of their own, by ordinal."""
    sheets: tuple[Id | None, ...] = ()
    """Style sheets in head order."""
    screenshot: Blob | None = None
    """The screenshot."""
    clean: Blob | None = None
    """A second screenshot without marks (importers; never for a judge)."""
    shot_t: Annotated[Ms | None, VOLATILE] = None
    """When the screenshot was taken, ms since recording start."""
    shot_scale: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """Scale of the screenshot."""
    shot_exact: bool = True
    """False: nearest in time, not keyed."""
    status: N | None = None
    """HTTP status of the main document."""
    settled: Annotated[bool | None, VOLATILE] = None
    """Whether the page was at rest."""
    stale: Annotated[Stale | None, VOLATILE] = None
    """How far the snapshot lies behind."""
    changed_without_event: Annotated[tuple[tuple[str, str, str], ...], VOLATILE] = ()
    """Fields that a script set since the observation before: CSS path, value before, value after.

    A path that begins with `iframe >>>` lies in a frame, one with `left >>>` in the document before.
    """
    a11y: Blob | None = None
    """Accessibility tree, `text/yaml` or `application/json`."""
    reads: tuple[Read, ...] = ()
    """Live reads."""
    source: Word | None = None
    """`agent`: the agent wrote this document itself (`setContent`); absent = the site."""
    from_last: bool = False
    """A final taken from the page's last `after`: others closed it."""
    repaired: N = 0
    """Texts and numbers repaired."""
