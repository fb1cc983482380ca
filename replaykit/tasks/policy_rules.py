"""Policies as data: rules for how a goal may be reached, not whether it was.

Vocabulary and outcomes: `docs/policies.md`; grading: `replaykit.grading.policies`.
"""

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
"""The six dimensions of ST-WebAgentBench, in the order of reports."""

DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
"""The six dimensions as a tuple."""

PolicySource: TypeAlias = Literal["organization", "user", "task"]
"""Who requires a policy, highest precedence first."""

SOURCES: tuple[PolicySource, ...] = get_args(PolicySource)
"""The sources as a tuple."""


class Fuzzy(Written, frozen=True, kw_only=True):
    """Words that match approximately. A short text never matches a long term."""

    any_of: tuple[str, ...]
    """Terms of which one is enough."""
    min_ratio: Annotated[int, Meta(ge=50, le=100)] = 85
    """Lowest similarity of a run of whole words in percent: 200 LCS / (a + b)."""


class Text(Written, frozen=True, kw_only=True):
    """Conditions on a text. All conditions given must hold; at least one is needed."""

    equals: str | None = None
    """Text that the whole text must equal."""
    contains: str | None = None
    """Text that must occur."""
    any_of: tuple[str, ...] = ()
    """Texts of which one must occur."""
    regex: str | None = None
    """Regular expression that must match somewhere; refused if it could take exponential time."""
    fuzzy: Fuzzy | None = None
    """Words that match approximately."""
    word: bool = False
    """Texts must begin and end at word boundaries."""
    ignore_case: bool = True
    """Case does not count."""


class Url(Written, frozen=True, kw_only=True):
    """Conditions on a URL, parsed by the WHATWG rules. All conditions given must hold."""

    host: str | None = None
    """Host, or a parent domain of it."""
    path: str | None = None
    """Consecutive whole segments of the path."""
    fragment: str | None = None
    """Consecutive whole segments of the fragment."""
    query: dict[str, str | tuple[str, ...]] = {}
    """Query parameters; each must have one of its values."""
    equals: str | None = None
    """URL that the whole URL must equal."""
    contains: str | None = None
    """Text that the URL must contain."""
    regex: str | None = None
    """Regular expression that must match somewhere in the URL."""


TextTerms: TypeAlias = str | tuple[str, ...] | Text
"""A word, several words of which one is enough, or a condition."""

UrlTerm: TypeAlias = str | Url
"""A URL term (`host.test`, `/path`, `key=value`, `http://...`) or a condition."""

EventKind: TypeAlias = Literal["action", "visit", "message", "answer", "user_reply", "dialog", "page"]
"""Kinds of the single ordered stream of events."""


GROUPS: dict[str, tuple[str, ...]] = {
    "@activate": ("click", "dblclick", "tap", "mouse_click", "mouse_dblclick"),
    "@input": (
        "fill", "type", "keyboard_type", "keyboard_insert_text", "select_option", "check", "uncheck",
        "upload_file",
    ),
    "@navigate": ("goto", "go_back", "go_forward", "reload", "new_tab"),
}  # fmt: skip
"""Groups of action tags; keys that activate or enter text also belong to theirs."""


class Match(Written, frozen=True, kw_only=True):
    """A pattern for one event. All fields given must match."""

    kind: EventKind | tuple[EventKind, ...] = "action"
    """Kind of event: `action visit message answer` and others, see `docs/policies.md`."""
    action: str | tuple[str, ...] = ()
    """Action types or groups: `@activate @input @navigate`."""
    url: UrlTerm | tuple[str, ...] = ()
    """URL of the page concerned."""
    text: TextTerms = ()
    """A name of the target, or the visible text of a page."""
    value: TextTerms = ()
    """Text entered, option chosen or file given."""
    message: TextTerms = ()
    """Text of a message or dialog."""
    selector: str | Text | None = None
    """CSS selector or XPath (`//...`): the target must be one of its matches, or inside of one, before the
    action. A text condition compares the reference that the agent itself used.
    """
    role: str | tuple[str, ...] = ()
    """ARIA role of the target; for a dialog its type."""
    failed: bool | None = None
    """Whether the action failed; null = either, but a required action must not have failed."""
    unless: "Match | None" = None
    """No match if this pattern also matches."""


def kinds_of(match: Match) -> frozenset[EventKind]:
    """Return the kinds of events that a match is about."""
    return frozenset((match.kind,) if isinstance(match.kind, str) else match.kind)


class Scope(Written, frozen=True, kw_only=True):
    """Where and when a policy applies."""

    url: UrlTerm | tuple[str, ...] = ()
    """URLs of the pages on which it applies."""
    after: Match | None = None
    """The policy applies from the first event that matches."""
    until: Match | None = None
    """The policy applies up to the next event that matches."""
    sites: tuple[str, ...] = ()
    """Names of sites whose tasks it applies to."""
    tasks: tuple[str, ...] = ()
    """Ids of the tasks that it applies to."""


class Never(Written, frozen=True, kw_only=True, tag_field="type", tag="never"):
    """No event may match."""

    match: Match | tuple[Match, ...]
    """Forbidden events; several patterns = any of them."""


class UrlBoundary(Written, frozen=True, kw_only=True, tag_field="type", tag="url_boundary"):
    """Limits the URLs that the agent may visit."""

    allow: tuple[UrlTerm, ...] = ()
    """Every visit must match one of these."""
    deny: tuple[UrlTerm, ...] = ()
    """No visit may match one of these."""
    require: tuple[UrlTerm, ...] = ()
    """At least one visit must match one of these."""
    attempts: bool = True
    """A `goto` that never arrived counts as a visit, and an address that was asked for and led elsewhere."""
    frames: bool = True
    """An action inside a denied frame counts as a visit. If false, only pages of tabs count."""


class Consent(Written, frozen=True, kw_only=True, tag_field="type", tag="consent"):
    """The agent must ask and receive a yes before a guarded action."""

    guarded: Match
    """Actions that need consent."""
    about: tuple[str, ...] = ()
    """Terms that the request must name; default: the `text` of `guarded`."""
    approval: Literal["required", "if_recorded", "ignored"] = "required"
    """`required`: an approving reply must be recorded. `if_recorded`: a recorded reply must approve.
    `ignored`: the request is enough.
    """
    scope: Literal["once", "each"] = "once"
    """`once`: an approval holds until a denial. `each`: it holds for one action."""
    approve: tuple[str, ...] = ()
    """Words that mean yes, instead of the default ones."""
    deny: tuple[str, ...] = ()
    """Words that mean no, instead of the default ones."""


class OnlyFill(Written, frozen=True, kw_only=True, tag_field="type", tag="only_fill"):
    """The agent may enter only values that it was given."""

    allowed: tuple[str, ...] = ()
    """Values that may be entered."""
    sources: tuple[Literal["intent", "user", "page"], ...] = ()
    """Where other values may come from: `intent user page`."""
    exempt: tuple[str, ...] = ("[type=search]", "[role=searchbox]")
    """CSS selectors of fields in which any value may be entered."""


class Secret(Written, frozen=True, kw_only=True):
    """A text that must not leak."""

    value: str | None = None
    """Test data, stored as plain text."""
    secret_env: str | None = None
    """A real secret: name of an environment variable that is read while recording and stored nowhere."""
    id: str | None = None
    """Name of the secret in evidence."""
    loose_digits: bool = True
    """The secret also matches with separators between its digits."""


class NoLeak(Written, frozen=True, kw_only=True, tag_field="type", tag="no_leak"):
    """Secrets must not leak."""

    secrets: tuple[str | Secret, ...]
    """The secrets."""
    channels: Literal["all", "outputs", "inputs"] = "all"
    """Where secrets must not appear. `outputs`: messages, answer, visited URLs. `inputs`: values entered.
    `all`: both.
    """


class ReportsError(Written, frozen=True, kw_only=True, tag_field="type", tag="reports_error"):
    """The agent must report each error that it was shown to the user."""

    indicators: tuple[str, ...] = ()
    """Phrases that show an error, instead of the default ones."""
    report: tuple[str, ...] = ()
    """Words that report an error, instead of the default ones."""
    to: tuple[Literal["message", "answer"], ...] = ("message", "answer")
    """Where the agent may report it."""
    within: Annotated[int, Meta(ge=0)] | None = None
    """Greatest number of steps until the report."""


class Informational(Written, frozen=True, kw_only=True, tag_field="type", tag="informational"):
    """A policy that the agent sees and that is never graded."""


class Eventually(Written, frozen=True, kw_only=True, tag_field="type", tag="eventually"):
    """Some event must match."""

    match: Match | tuple[Match, ...]
    """Required event; several patterns = any of them."""


class Before(Written, frozen=True, kw_only=True, tag_field="type", tag="before"):
    """Something must precede each guarded event."""

    guarded: Match | tuple[Match, ...]
    """Events that need something before them."""
    requires: Match | tuple[Match, ...]
    """Event that must come before."""
    within: Annotated[int, Meta(ge=0)] | None = None
    """Greatest number of steps between both."""
    each: bool = False
    """Each guarded event needs its own preceding event."""


class After(Written, frozen=True, kw_only=True, tag_field="type", tag="after"):
    """Something must follow each trigger."""

    trigger: Match | tuple[Match, ...]
    """Events that require a response."""
    response: Match | tuple[Match, ...]
    """Event that must follow."""
    within: Annotated[int, Meta(ge=0)] | None = None
    """Greatest number of steps until the response."""


class Sequence(Written, frozen=True, kw_only=True, tag_field="type", tag="sequence"):
    """Events must occur in this order."""

    items: Annotated[tuple[Match, ...], Meta(min_length=1)]
    """Patterns of the events, in order."""
    contiguous: bool = False
    """No other action may occur in between."""
    active: Literal["any", "last", "always"] = "any"
    """The policy applies once `any` of the events or the `last` one occurred, or `always`."""


class AtMost(Written, frozen=True, kw_only=True, tag_field="type", tag="at_most"):
    """At most `n` events may match."""

    n: Annotated[int, Meta(ge=0)]
    """Greatest number of matching events."""
    match: Match | tuple[Match, ...]
    """Events that are counted."""


class AtLeast(Written, frozen=True, kw_only=True, tag_field="type", tag="at_least"):
    """At least `n` events must match."""

    n: Annotated[int, Meta(ge=0)]
    """Lowest number of matching events."""
    match: Match | tuple[Match, ...]
    """Events that are counted."""


class Exactly(Written, frozen=True, kw_only=True, tag_field="type", tag="exactly"):
    """Exactly `n` events must match."""

    n: Annotated[int, Meta(ge=0)]
    """Required number of matching events."""
    match: Match | tuple[Match, ...]
    """Events that are counted."""
    zero: Literal["dormant", "violated"] = "dormant"
    """Outcome if events are required and no event matches."""


class PageState(Written, frozen=True, kw_only=True, tag_field="type", tag="page_state"):
    """A value on a page must meet, or must not meet, a condition."""

    expect: Expect
    """Conditions on the value."""
    locator: str = ""
    """JavaScript form, XPath, or CSS with `property`; empty = visible text and form values."""
    property: str | None = None
    """With a CSS locator: `checked`, `value`, `selectedIndex`, `text` or the name of an attribute."""
    url: str = "last"
    """URL of a page that is looked at after the run; `last` = the page on which the run ended."""
    at: Literal["final", "committed", "every"] = "final"
    """When the value is compared. `final`: at the end. `committed`: when the form was last submitted,
    otherwise at the end. `every`: whenever it was seen.
    """
    forbid: bool = False
    """If true, the value must not meet the conditions."""

    def __post_init__(self) -> None:
        """Call the property by the name that it is read with."""
        if self.property is not None:
            force_setattr(self, "property", property_name(self.property))


class Plugin(Written, frozen=True, kw_only=True, tag_field="type", tag="plugin"):
    """A rule of an installed package, entry point group `replaykit.policies`."""

    name: str
    """Name of the entry point."""
    params: dict[str, Any] = {}
    """Parameters that the rule receives."""


class Stwab(Written, frozen=True, kw_only=True, tag_field="type", tag="stwab"):
    """A policy of ST-WebAgentBench: strict mode grades its meaning, compat mode what its code does."""

    record: dict[str, Any]
    """The record, verbatim except for placeholders."""


Rule: TypeAlias = (
    Never | UrlBoundary | Consent | OnlyFill | NoLeak | ReportsError | Informational
    | Eventually | Before | After | Sequence | AtMost | AtLeast | Exactly | PageState | Plugin | Stwab
)  # fmt: skip
"""Every rule, distinguished by `type`."""


class Policy(Written, frozen=True, kw_only=True):
    """A rule with its id, dimension, source and scope."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    """Unique id in the file."""
    dimension: Dimension
    """Safety dimension that the policy belongs to."""
    rule: Rule
    """The rule; its `type` selects the kind."""
    source: PolicySource = "organization"
    """Who requires the policy; a higher source has precedence over a lower one."""
    description: str = ""
    """Text that the agent sees. No rule reads it."""
    when: Scope | None = None
    """Where and when the policy applies; null = always."""
    yields_to: tuple[str, ...] = ()
    """Ids of policies of a higher source. If one of them applies, this policy does not."""
    tags: dict[str, str] = {}
    """Labels to group policies by."""
    enabled: bool = True
    """Disabled policies are neither graded nor counted."""
