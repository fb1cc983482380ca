"""Policies as data: rules about the way, not the result.

Vocabulary and outcomes: `docs/policies.md`; grading: `replaykit.grading.policies`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from msgspec import Meta
from msgspec.structs import force_setattr

from replaykit.tasks.checks import Expect, Written
from replaykit.tasks.grammar.properties import property_name

Dimension: TypeAlias = Literal[
    "user_consent",
    "boundary_and_scope_limitation",
    "strict_execution",
    "hierarchy_adherence",
    "robustness_and_security",
    "error_handling_and_safety_nets",
]
"""The six dimensions of ST-WebAgentBench, in report order."""

DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
"""The same, as a tuple."""

PolicySource: TypeAlias = Literal["organization", "user", "task"]
"""Who demands it, highest precedence first."""

SOURCES: tuple[PolicySource, ...] = get_args(PolicySource)
"""The same, as a tuple."""


class Fuzzy(Written, frozen=True, kw_only=True):
    """Words met approximately: a short text never meets a long term."""

    any_of: tuple[str, ...]
    """Terms of which one is enough."""
    min_ratio: Annotated[int, Meta(ge=50, le=100)] = 85
    """Least similarity of a run of whole words, 200 LCS / (a + b)."""


class Text(Written, frozen=True, kw_only=True):
    """A text condition; given operators are ANDed, at least one."""

    equals: str | None = None
    """The whole text."""
    contains: str | None = None
    """A part of the text."""
    any_of: tuple[str, ...] = ()
    """Parts of which one occurs."""
    regex: str | None = None
    """Searched in the text; refused where it could take exponential time."""
    fuzzy: Fuzzy | None = None
    """Words met approximately."""
    word: bool = False
    """Parts must begin and end at word boundaries."""
    ignore_case: bool = True
    """Case does not count."""


class Url(Written, frozen=True, kw_only=True):
    """A URL condition, read by WHATWG rules; given parts are ANDed."""

    host: str | None = None
    """Host, or its parent domain."""
    path: str | None = None
    """Consecutive whole segments."""
    fragment: str | None = None
    """Consecutive whole segments of the fragment."""
    query: dict[str, str | tuple[str, ...]] = {}
    """Each key has one of its values."""
    equals: str | None = None
    """The whole URL."""
    contains: str | None = None
    """A part of the URL's text."""
    regex: str | None = None
    """Searched in the URL's text."""


TextTerms: TypeAlias = str | tuple[str, ...] | Text
"""A word, several of which one is enough, or a condition."""

UrlTerm: TypeAlias = str | Url
"""A URL term (`host.test`, `/path`, `key=value`, `http://...`) or a condition."""

EventKind: TypeAlias = Literal["action", "visit", "message", "answer", "user_reply", "dialog", "page"]
"""Kinds of the one ordered stream of events."""


class Match(Written, frozen=True, kw_only=True):
    """A pattern over one event; fields are ANDed."""

    kind: EventKind | tuple[EventKind, ...] = "action"
    """Kind of event."""
    action: str | tuple[str, ...] = ()
    """Action tags or groups: `@activate @input @navigate`."""
    url: UrlTerm | tuple[str, ...] = ()
    """URL of the page concerned."""
    text: TextTerms = ()
    """A name of the target, or the visible text of a page."""
    value: TextTerms = ()
    """Text entered, option chosen, file given."""
    message: TextTerms = ()
    """Text of a message or dialog."""
    selector: str | Text | None = None
    """CSS or XPath (`//...`): the target is, or is inside, one of its matches before the act; a condition
    is about the reference that the agent itself used."""
    role: str | tuple[str, ...] = ()
    """ARIA role of the target; type of a dialog."""
    failed: bool | None = None
    """Whether the act failed; null = either, but what has to be done has to be done without fail."""
    unless: Match | None = None
    """Not if this matches too."""


class Scope(Written, frozen=True, kw_only=True):
    """Where and when a policy is in force."""

    url: UrlTerm | tuple[str, ...] = ()
    """On these pages."""
    after: Match | None = None
    """From the first of these on."""
    until: Match | None = None
    """Up to the next of these."""
    sites: tuple[str, ...] = ()
    """On tasks of these sites."""
    tasks: tuple[str, ...] = ()
    """On these tasks."""


class Never(Written, frozen=True, kw_only=True, tag_field="type", tag="never"):
    """No event in force may match."""

    match: Match | tuple[Match, ...]
    """What is forbidden; several = any of them."""


class UrlBoundary(Written, frozen=True, kw_only=True, tag_field="type", tag="url_boundary"):
    """Where the agent may go."""

    allow: tuple[UrlTerm, ...] = ()
    """Every visit must match one."""
    deny: tuple[UrlTerm, ...] = ()
    """No visit may match one."""
    require: tuple[UrlTerm, ...] = ()
    """Some visit must match one."""
    attempts: bool = True
    """A goto that never arrived counts."""
    frames: bool = True
    """An act inside of a denied frame counts as a visit; false: only pages of tabs count."""


class Consent(Written, frozen=True, kw_only=True, tag_field="type", tag="consent"):
    """Ask, and wait for a yes, before acting."""

    guarded: Match
    """Acts that need consent."""
    about: tuple[str, ...] = ()
    """Terms that a request names; default: the `text` of `guarded`."""
    approval: Literal["required", "if_recorded", "ignored"] = "required"
    """Whether a reply must be there."""
    scope: Literal["once", "each"] = "once"
    """One approval holds until a denial, or for one act."""
    approve: tuple[str, ...] = ()
    """Replaces the words that approve."""
    deny: tuple[str, ...] = ()
    """Replaces the words that deny."""


class OnlyFill(Written, frozen=True, kw_only=True, tag_field="type", tag="only_fill"):
    """Nothing may be entered that nobody gave."""

    allowed: tuple[str, ...] = ()
    """Values that may be entered."""
    sources: tuple[Literal["intent", "user", "page"], ...] = ()
    """Where other values may come from."""
    exempt: tuple[str, ...] = ("[type=search]", "[role=searchbox]")
    """Fields (CSS) where anything may be entered."""


class Secret(Written, frozen=True, kw_only=True):
    """A text that may not get out."""

    value: str | None = None
    """Test data, stored plainly."""
    secret_env: str | None = None
    """A real secret: name of an environment variable, read when recording, stored nowhere."""
    id: str | None = None
    """How evidence names it."""
    loose_digits: bool = True
    """Separators between digits do not hide it."""


class NoLeak(Written, frozen=True, kw_only=True, tag_field="type", tag="no_leak"):
    """Secrets may not get out."""

    secrets: tuple[str | Secret, ...]
    """What is secret."""
    channels: Literal["all", "outputs", "inputs"] = "all"
    """`outputs`: messages, answer, URLs gone to; `inputs`: values entered."""


class ReportsError(Written, frozen=True, kw_only=True, tag_field="type", tag="reports_error"):
    """An error that was shown must be told to the user afterwards."""

    indicators: tuple[str, ...] = ()
    """Replaces the phrases that show an error."""
    report: tuple[str, ...] = ()
    """Replaces the words that report one."""
    to: tuple[Literal["message", "answer"], ...] = ("message", "answer")
    """Where it may be told."""
    within: Annotated[int, Meta(ge=0)] | None = None
    """At most so many steps later."""


class Informational(Written, frozen=True, kw_only=True, tag_field="type", tag="informational"):
    """Shown to the agent, never graded."""


class Eventually(Written, frozen=True, kw_only=True, tag_field="type", tag="eventually"):
    """Some event must match."""

    match: Match | tuple[Match, ...]
    """What has to happen; several = any of them."""


class Before(Written, frozen=True, kw_only=True, tag_field="type", tag="before"):
    """Something has to come before each guarded event."""

    guarded: Match | tuple[Match, ...]
    """Events that need it."""
    requires: Match | tuple[Match, ...]
    """What has to come before."""
    within: Annotated[int, Meta(ge=0)] | None = None
    """At most so many steps before."""
    each: bool = False
    """Once again for every guarded event."""


class After(Written, frozen=True, kw_only=True, tag_field="type", tag="after"):
    """Something has to follow each trigger."""

    trigger: Match | tuple[Match, ...]
    """Events that call for a response."""
    response: Match | tuple[Match, ...]
    """What has to follow."""
    within: Annotated[int, Meta(ge=0)] | None = None
    """At most so many steps later."""


class Sequence(Written, frozen=True, kw_only=True, tag_field="type", tag="sequence"):
    """Events in this order."""

    items: Annotated[tuple[Match, ...], Meta(min_length=1)]
    """What has to happen, in order."""
    contiguous: bool = False
    """With no other action in between."""
    active: Literal["any", "last", "always"] = "any"
    """At stake once any of them happens, once the last one does, or from the start."""


class AtMost(Written, frozen=True, kw_only=True, tag_field="type", tag="at_most"):
    """No more than so many."""

    n: Annotated[int, Meta(ge=0)]
    """Number of matching events."""
    match: Match | tuple[Match, ...]
    """Events that are counted."""


class AtLeast(Written, frozen=True, kw_only=True, tag_field="type", tag="at_least"):
    """No fewer than so many."""

    n: Annotated[int, Meta(ge=0)]
    """Number of matching events."""
    match: Match | tuple[Match, ...]
    """Events that are counted."""


class Exactly(Written, frozen=True, kw_only=True, tag_field="type", tag="exactly"):
    """So many, no more and no fewer."""

    n: Annotated[int, Meta(ge=0)]
    """Number of matching events."""
    match: Match | tuple[Match, ...]
    """Events that are counted."""
    zero: Literal["dormant", "violated"] = "dormant"
    """What none at all means where some are demanded."""


class PageState(Written, frozen=True, kw_only=True, tag_field="type", tag="page_state"):
    """A value on a page must, or must not, be so."""

    expect: Expect
    """What the value is."""
    locator: str = ""
    """JavaScript form, XPath, or CSS with `property`; none = visible text and form values."""
    property: str | None = None
    """With CSS: checked, value, selectedIndex, text or an attribute's name."""
    url: str = "last"
    """`last` = the page that the run ended on, else a page looked at after the run."""
    at: Literal["final", "committed", "every"] = "final"
    """At the end; when it was submitted last, or at the end; whenever it was seen."""
    forbid: bool = False
    """True: it must not be so."""

    def __post_init__(self) -> None:
        """Call the property by the name that it is read with."""
        if self.property is not None:
            force_setattr(self, "property", property_name(self.property))


class Plugin(Written, frozen=True, kw_only=True, tag_field="type", tag="plugin"):
    """A rule of an installed package, entry point group `replaykit.policies`."""

    name: str
    """Name of the entry point."""
    params: dict[str, Any] = {}
    """Parameters passed to the plugin."""


class Stwab(Written, frozen=True, kw_only=True, tag_field="type", tag="stwab"):
    """A policy of ST-WebAgentBench, graded as its file means it or, in compat mode, as its code does."""

    record: dict[str, Any]
    """The record, verbatim but for placeholders."""


Rule: TypeAlias = (
    Never | UrlBoundary | Consent | OnlyFill | NoLeak | ReportsError | Informational
    | Eventually | Before | After | Sequence | AtMost | AtLeast | Exactly | PageState | Plugin | Stwab
)  # fmt: skip
"""Every rule, told apart by `type`."""


class Policy(Written, frozen=True, kw_only=True):
    """One rule with its place among the others."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    """Unique in its file."""
    dimension: Dimension
    """Safety dimension that the policy belongs to."""
    rule: Rule
    """The rule, told by its `type`."""
    source: PolicySource = "organization"
    """Who demands it: a higher source wins over a lower one."""
    description: str = ""
    """Text that the agent sees; no rule reads it."""
    when: Scope | None = None
    """Where and when it is in force."""
    yields_to: tuple[str, ...] = ()
    """Policies of a higher source: where one of them is at stake, this one is not."""
    tags: dict[str, str] = {}
    """Words to group policies by."""
    enabled: bool = True
    """Disabled ones are neither graded nor counted."""
