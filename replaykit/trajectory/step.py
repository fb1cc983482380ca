"""Steps, probes, header, ending and the trajectory they form."""

from functools import cached_property
from typing import Annotated, Any, TypeAlias, TypeVar, cast

from msgspec import Meta, Struct

from replaykit.trajectory.action import Action, Answer, Unknown
from replaykit.trajectory.command import Command
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.exchange import (
    Console,
    Dialog,
    Download,
    Exchange,
    Gap,
    Imported,
    Message,
    Navigation,
    Rest,
    Script,
    ScriptEvent,
    TabChange,
)
from replaykit.trajectory.observation import Frame, Moment, Observation, Read, TabView
from replaykit.trajectory.scalars import VOLATILE, Blob, Id, Json, Ms, N, Px, Record, Threw, Word

CHANNELS = (
    "actions", "targets", "thoughts", "urls", "snapshots", "form_state", "screenshots",
    "a11y", "network", "messages", "replies", "dialogs", "console", "probes",
)  # fmt: skip
"""Everything a recording may hold; each is `recorded`, `partial` or `absent`."""


class AgentInfo(Record, frozen=True, kw_only=True):
    """The agent, as its harness reports it; never guessed."""

    name: str | None = None
    """Agent name."""
    version: str | None = None
    """Agent version."""
    model: str | None = None
    """Model behind it."""
    harness: str | None = None
    """Harness that ran it."""
    extra: dict[str, str] = {}
    """Anything else."""


class Environment(Record, frozen=True, kw_only=True):
    """Where the run was recorded."""

    replaykit: Annotated[str | None, VOLATILE] = None
    """Release that recorded."""
    driver: str | None = None
    """`playwright` or another driver."""
    driver_version: Annotated[str | None, VOLATILE] = None
    """Its version."""
    browser: str | None = None
    """Browser engine."""
    browser_version: Annotated[str | None, VOLATILE] = None
    """Its version."""
    browser_channel: str | None = None
    """Its channel."""
    os: str | None = None
    """Operating system."""
    locale: str | None = None
    """Browser locale."""
    timezone: str | None = None
    """Browser time zone."""
    user_agent: Annotated[str | None, VOLATILE] = None
    """User-agent text."""
    headless: bool | None = None
    """Without a window."""
    viewport: tuple[N, N] | None = None
    """Width, height, CSS px."""
    dpr: Annotated[float, Meta(gt=0, le=16)] | None = None
    """Device pixel ratio."""


class Source(Record, frozen=True, kw_only=True):
    """Where an imported run came from."""

    format: str
    """Importer."""
    version: str | None = None
    """Version of that layout."""
    tool: str | None = None
    """Tool that wrote it."""
    files: dict[str, Id] = {}
    """File name to digest."""
    options: Json = None
    """Importer options."""
    extra: dict[str, Json] = {}
    """Anything else the layout held."""
    alignment: Word | None = None
    """How screenshots were matched to steps."""


class Derivation(Record, frozen=True, kw_only=True):
    """A bundle that this one was made from."""

    digest: Id
    """Its trajectory digest."""
    by: Word
    """`redact salvage import migrate pack`."""


class Header(Record, frozen=True, kw_only=True, tag_field="type", tag="header"):
    """First line of a story."""

    created: Annotated[str | None, VOLATILE] = None
    """RFC 3339 UTC at start, the only wall clock."""
    run: Annotated[str | None, VOLATILE] = None
    """Attempt label, from the harness."""
    task: dict[str, Any] | None = None
    """The whole task, placeholders kept."""
    sites: dict[str, tuple[str, ...]] = {}
    """Site name to roots; the first is the active one."""
    agent: AgentInfo | None = None
    """The agent."""
    environment: Environment = Environment()
    """Where it was recorded."""
    options: dict[str, Any] = {}
    """Options and caps that shape content; no paths, no secrets."""
    channels: dict[str, Word]
    """Channel to `recorded partial absent` (replies also `auto_approve`); missing = absent."""
    witnesses: Annotated[tuple[Word, ...], VOLATILE] = ()
    """Witnesses that started, of `page ledger census commands netlog speech`; each owes a `proof`."""
    agent_access: Annotated[Word | None, VOLATILE] = None
    """How the agent reached the browser: `process` (same process), `proxy` (one between them)."""
    traceparent: Annotated[str | None, VOLATILE] = None
    """W3C trace context that the harness ran the agent in, `00-<32 hex digits>-<16 hex digits>-<2>`."""
    secrets: tuple[str, ...] = ()
    """Ids of declared secrets, never values."""
    clock: Word = "page"
    """`page source none`; `none`: no event has a time."""
    source: Source | None = None
    """Importers: where it came from."""
    derived_from: Annotated[tuple[Derivation, ...], VOLATILE] = ()
    """Oldest first."""
    replies: Annotated[Id | None, VOLATILE] = None
    """A tape packed into the bundle."""
    lost: N = 0
    """Events lost in a salvage."""


class Step(Moment, frozen=True, kw_only=True, tag="step"):
    """One action of the agent."""

    index: N
    """From 0, without gap."""
    action: Action
    """The action: as the page reports it, if it saw anything."""
    origin: Word = "observed"
    """`observed declared both imported`."""
    declared: Action | None = None
    """The action that the harness declared, only if it contradicts `action`."""
    observed: tuple[Action, ...] = ()
    """Actions observed in the window: if several, with `declared`, or if one chose something undeclared."""
    seen: bool = True
    """False: the action was declared and should cause events, but no event was observed."""
    before: Observation | None = None
    """The page acted on."""
    end: Annotated[Ms | None, VOLATILE] = None
    """Action over, ms since recording start."""
    url: str | None = None
    """URL right after the action, before settling."""
    tabs: tuple[TabView, ...] = ()
    """Tabs right after the action."""
    thought: str | None = None
    """Reasoning."""
    raw: Json = None
    """The harness's own string, or the source's record."""
    returned: Json = None
    """Value that the action returned to the agent, as its harness reports it; no evidence about the page."""
    error: Threw | None = None
    """The action failed."""
    turn: N | None = None
    """Steps of one model turn share it."""
    log: tuple[str, ...] = ()
    """Driver's lines."""
    stated_at: Annotated[Ms | None, VOLATILE] = None
    """When it was begun as the agent reports it, ms since recording start; orders nothing."""

    @property
    def mismatch(self) -> bool:
        """Whether what was declared contradicts what was seen."""
        return self.declared is not None

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action seen, or else the action itself: what strict policies grade."""
        return self.observed or (self.action,)

    @property
    def reported(self) -> Action:
        """The action as the harness reported it: what other benchmarks grade."""
        return self.declared if self.declared is not None else self.action

    @property
    def done(self) -> bool:
        """Whether the action was seen and did not fail."""
        return self.seen and self.error is None


class Probe(Moment, frozen=True, kw_only=True, tag="probe"):
    """Evidence that a check asked for, taken in a separate tab or request."""

    id: str
    """Of the probe plan."""
    phase: Word
    """`pre post`."""
    requested: str | None = None
    """URL asked for."""
    url: str | None = None
    """Final URL."""
    in_place: bool = False
    """Read on the agent's own page."""
    status: N | None = None
    """HTTP status."""
    error: str | None = None
    """Network error."""
    redirects: tuple[str, ...] = ()
    """URLs on the way."""
    settled: Annotated[bool | None, VOLATILE] = None
    """Whether the page was at rest."""
    snapshot: Blob | None = None
    """As in an observation."""
    frames: tuple[Frame, ...] = ()
    """As in an observation."""
    sheets: tuple[Id | None, ...] = ()
    """As in an observation."""
    reads: tuple[Read, ...] = ()
    """Live reads."""
    name: str | None = None
    """HTTP probes: name."""
    method: str | None = None
    """HTTP probes: method."""
    path: str | None = None
    """HTTP probes: path."""
    mime: str | None = None
    """HTTP probes: media type."""
    body: Blob | None = None
    """HTTP probes: reply."""
    source: Word | None = None
    """`agent`: a script that the agent planted ran in the page before the page's own."""


class Ending(Moment, frozen=True, kw_only=True, tag="ending"):
    """How the run ended; last event, at most one."""

    kind: Word
    """`answered stopped max_steps timeout crashed unknown`."""
    cause: Word = "agent"
    """`agent browser recorder harness person`."""
    answer: str | None = None
    """Final answer; empty text is an answer."""
    exit_code: Px | None = None
    """Exit code of the agent's command."""
    error: Threw | None = None
    """Error of the crash."""
    thought: str | None = None
    """A thought that no step followed."""
    validity: Word = "valid"
    """`valid blocked site_down session_lost other`: as the harness reports it, never guessed."""
    synthetic: bool = False
    """The answer was made up by a harness."""


Event: TypeAlias = (
    Step | Observation | TabChange | Navigation | Dialog | Console | Script | ScriptEvent
    | Download | Exchange | Command | Message | Probe | Gap | Proof | Imported | Rest | Ending
)  # fmt: skip
"""Every event but the header, distinguished by `type`."""

_E = TypeVar("_E")


class Trajectory(Struct, frozen=True, kw_only=True, dict=True):
    """A whole run in memory."""

    header: Header
    """First line."""
    events: tuple[Event | Unknown, ...] = ()
    """All others, in order."""

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All steps in order."""
        return self.of_type(Step)

    @cached_property
    def ending(self) -> Ending | None:
        """The ending; None = interrupted."""
        last = self.events[-1] if self.events else None
        return last if isinstance(last, Ending) else next(iter(self.of_type(Ending)), None)

    @cached_property
    def answer(self) -> str | None:
        """The ending's answer, else the last answer message, else the last answer action."""
        if self.ending is not None and self.ending.answer is not None:
            return self.ending.answer
        stated = [m.text for m in self.of_type(Message) if m.kind == "answer"]
        acted = [s.action.text for s in self.steps if isinstance(s.action, Answer)]
        return (stated or acted)[-1] if stated or acted else None

    def of_type(self, kind: type[_E]) -> tuple[_E, ...]:
        """Return the events of one struct, in order."""
        return cast("tuple[_E, ...]", self._sorted.get(kind, ()))

    @cached_property
    def _sorted(self) -> dict[type, tuple[Event | Unknown, ...]]:
        found: dict[type, list[Event | Unknown]] = {}
        for event in self.events:
            found.setdefault(type(event), []).append(event)
        return {kind: tuple(events) for kind, events in found.items()}

    def after(self, step: Step) -> Observation | None:
        """Return the last settled look at the page that followed a step."""
        return next(reversed(self.looks(step)), None)

    def looks(self, step: Step) -> tuple[Observation, ...]:
        """Return every look at the page that followed a step; all but the last are interim."""
        return tuple(o for o in self.of_type(Observation) if o.role == "after" and o.of == step.index)

    def channel(self, name: str) -> str:
        """Return `recorded`, `partial`, `absent` or `auto_approve`; a gap makes a channel partial."""
        state = self.header.channels.get(name, "absent")
        gaps = any(gap.channel == name for gap in self.of_type(Gap))
        return "partial" if state == "recorded" and gaps else state
