"""Checks as data: what a task requires, and what the recorder must look at to grade it.

The fields are those of the suite file (`docs/tasks.md`). `replaykit.grading.checks` grades them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from msgspec import Meta, Struct, field
from msgspec.structs import force_setattr

from replaykit.tasks.grammar.properties import property_name
from replaykit.tasks.network_checks import AgentResponse, NetworkMatch
from replaykit.tasks.site_api import api_requests
from replaykit.tasks.state_checks import StateHttp, StateScript, StateVerifier
from replaykit.tasks.task_values import CheckBase, NativeCheck, Texts, ValueType
from replaykit.tasks.task_values import Written as Written

OR = " |OR| "
"""Between alternatives of one text."""


class StringMatch(CheckBase, frozen=True, kw_only=True, tag="string_match"):
    """Compares the text of the answer (WebArena `string_match`)."""

    exact: Texts = ()
    """Text that the whole answer must equal."""
    must_include: Texts = ()
    """Texts that the answer must contain; ` |OR| ` separates alternatives."""
    must_exclude: Texts = ()
    """Texts that the answer must not contain."""
    one_of: Texts = ()
    """Alternatives for the whole answer."""
    required_values: Texts = ()
    """Inequalities that the number must satisfy, such as `<= 700`; ` |OR| ` separates alternatives."""
    fuzzy: Texts = ()
    """Reference answers that a model compares with the answer."""
    note: str | None = None
    """Reason why the task cannot be done, if the reference gives one (`string_note`)."""
    value_type: ValueType = field(name="as", default="auto")
    """Type as which the answer is read."""
    tolerance: Annotated[float, Meta(ge=0)] | None = None
    """Greatest absolute difference between numbers that counts as equal."""


class UrlMatch(CheckBase, frozen=True, kw_only=True, tag="url_match"):
    """Compares the URL on which the run ended (WebArena `url_match`)."""

    url: Texts
    """The expected URL, or several alternatives."""
    scheme: Literal["any", "exact"] = "any"
    """`any`: http equals https. `exact`: the scheme must be equal."""
    path: Literal["exact", "prefix", "regex"] = "exact"
    """`exact`: all segments are equal. `prefix`: the leading segments are equal, of the route (`#/...`) if
    the URL has one. `regex`: the path matches an expression.
    """
    query: Literal["subset", "exact", "ignore"] = "subset"
    """`subset`: the reference's parameters must occur. `exact`: no others may occur. `ignore`: not compared.
    """
    ignore: tuple[str, ...] = ()
    """Names of query parameters that do not count."""
    fragment: Literal["given", "exact", "ignore"] = "given"
    """`given`: compared if the reference has a fragment. `exact`: always compared. `ignore`: not compared."""


class Expect(Written, frozen=True, kw_only=True):
    """Conditions on a value. All conditions given must hold."""

    equals: str | None = None
    """Text that the whole value must equal."""
    contains: Texts = ()
    """Texts that the value must contain."""
    any_of: tuple[str, ...] = ()
    """Texts of which the value must contain one."""
    all_of: tuple[str, ...] = ()
    """Texts that the value must all contain; ` |OR| ` separates alternatives."""
    excludes: Texts = ()
    """Texts that the value must not contain."""
    regex: str | None = None
    """Regular expression that must match somewhere in the value."""
    not_empty: bool = False
    """The value must hold more than blanks."""


class PageCheck(NativeCheck, frozen=True, kw_only=True, tag="page"):
    """Compares a value on a page after the run."""

    url: str = "last"
    """URL of the page; `last` = the page on which the run ended."""
    prep: tuple[str, ...] = ()
    """JavaScript that runs before the value is read."""
    locator: str | None = None
    """Locator in one of the JavaScript forms. Without locator and selector, the text of the page is read."""
    selector: str | None = None
    """CSS selector; the first match is read."""
    property: str = "text"
    """With `selector`: what is read: `text`, `value`, `checked`, `selectedIndex` or the name of an attribute.
    """
    expect: Expect
    """Conditions on the value."""
    value_type: ValueType = field(name="as", default="auto")
    """Type as which the value is read."""

    def __post_init__(self) -> None:
        """Call the property by the name that it is read with."""
        force_setattr(self, "property", property_name(self.property))


class HtmlTarget(Written, frozen=True, kw_only=True):
    """One target of a WebArena `program_html`."""

    url: str = "last"
    """URL of the page: `last`, a URL, or `func:NAME(...)`."""
    locator: str = ""
    """Value to read: empty = the source of the page; `document....`, `[...document....`, or `func:NAME(...)`.

    """
    prep_actions: tuple[str, ...] = ()
    """JavaScript that runs before the value is read."""
    exact_match: str | None = None
    """Text that the whole value must equal."""
    must_include: tuple[str, ...] = ()
    """Texts that the value must contain; ` |OR| ` separates alternatives."""
    must_exclude: tuple[str, ...] = ()
    """Texts that the value must not contain (VisualWebArena)."""
    required_values: tuple[str, ...] = ()
    """Inequalities that the number must satisfy, such as `<= 700`; ` |OR| ` separates alternatives."""
    fuzzy_match: Texts = ()
    """Reference values that a model compares with the value."""
    not_empty: bool = False
    """The value must hold more than blanks (ST-WebAgentBench)."""


class PageImages(CheckBase, frozen=True, kw_only=True, tag="page_image_query"):
    """Compares images on a page (VisualWebArena). Never graded: it is always UNDECIDED."""

    queries: tuple[dict[str, Any], ...] = ()
    """The queries as the task file has them."""


class ProgramHtml(CheckBase, frozen=True, kw_only=True, tag="program_html"):
    """Compares contents of pages (WebArena `program_html`)."""

    targets: tuple[HtmlTarget, ...]
    """Targets on pages; all must hold."""


class CheckPlugin(NativeCheck, frozen=True, kw_only=True, tag="plugin"):
    """A check of an installed package, entry point group `replaykit.checks`."""

    name: str
    """Name of the entry point."""
    params: dict[str, Any] = {}
    """Parameters that the check receives."""


Check: TypeAlias = (
    StringMatch
    | UrlMatch
    | PageCheck
    | ProgramHtml
    | PageImages
    | AgentResponse
    | NetworkMatch
    | StateHttp
    | StateScript
    | StateVerifier
    | CheckPlugin
)
"""Every check, distinguished by `type`."""


class CheckFault(Struct, frozen=True, kw_only=True):
    """One fault of a check, found before anything is recorded."""

    task: str
    """Task id."""
    path: str
    """Where: `$.checks[0].targets[1].locator`."""
    message: str
    """Fault in words."""
    is_error: bool = True
    """False: it works under a condition that the message names, such as a value read while recording."""


class ProbeRead(Struct, frozen=True, kw_only=True):
    """One value to read from a live page."""

    locator: str
    """Key of the read, as the check names it."""
    script: str | None = None
    """A JavaScript expression."""
    selector: str | None = None
    """A CSS selector, instead of a script."""
    property: str | None = None
    """With `selector`: text, value, checked, selectedIndex or an attribute's name."""


class ProbePage(Struct, frozen=True, kw_only=True):
    """One page to look at, before or after the run."""

    id: str
    """`p0`, `p1` ... in plan order."""
    phase: Literal["pre", "post"]
    """Before the agent's first action, or after its last."""
    url: str
    """`last` = in place on the agent's page, else a URL."""
    prep: tuple[str, ...] = ()
    """JavaScript run before the reads."""
    reads: tuple[ProbeRead, ...] = ()
    """Values to read."""


class ProbeHttp(Struct, frozen=True, kw_only=True):
    """One API request to make."""

    id: str
    """`h0`, `h1` ... in plan order."""
    phase: Literal["pre", "post"]
    """Before or after the run."""
    name: str
    """Name that checks use."""
    method: str
    """HTTP method."""
    url: str
    """Full URL."""


class ProbePlan(Struct, frozen=True, kw_only=True):
    """Everything that the checks of a task need to have looked at."""

    pages: tuple[ProbePage, ...] = ()
    """Pages, in the order of the checks; equal ones merged."""
    http: tuple[ProbeHttp, ...] = ()
    """API requests."""
    step_reads: tuple[ProbeRead, ...] = ()
    """Read-only reads that ride on every observation of the agent's page."""


def locator_key(selector: str | None, prop: str, locator: str | None) -> str:
    """Return the text that names a read in probes and evidence; empty = the page's text."""
    if selector is not None:
        return f"{selector} @{prop}"
    return locator or ""


def texts(value: Texts) -> tuple[str, ...]:
    """Return one text or many as many."""
    return (value,) if isinstance(value, str) else tuple(value)


def plan(
    checks: Iterable[Check],
    sites: Mapping[str, Sequence[str]],
    *,
    others: Iterable[Check] = (),
    urls: Iterable[str] = (),
    pre: Literal["own", "all"] = "own",
) -> ProbePlan:
    """Return what the recorder has to look at so that these checks can be graded offline.

    `others` are checks of other tasks: their pages come after the task's own, without those that a script
    has to prepare, since it could change what is looked at afterwards. `urls` are further pages to look at.
    `pre` chooses the pages that are also looked at before the run. URLs must have their placeholders filled.
    Pages of checks outside of the sites are left out: a task file must not send the recorder anywhere else.
    """
    checks = tuple(checks)
    own = _allowed((need for check in checks for need in _needs(check)), sites)
    further = _allowed((need for check in others for need in _needs(check) if not need[1]), sites)
    needs = [*own, *further, *((url, (), None) for url in urls)]
    early = _pages(needs if pre == "all" else own)
    wanted: list[tuple[Literal["pre", "post"], str, tuple[str, ...]]]
    wanted = [("pre", url, prep) for url, prep in early if url != "last"]
    wanted += [("post", url, prep) for url, prep in _pages(needs)]
    return ProbePlan(
        http=tuple(
            ProbeHttp(id=f"h{number}", phase=phase, name=name, method="GET", url=url)
            for number, (phase, name, url) in enumerate(_requests(checks, sites))
        ),
        pages=tuple(
            ProbePage(id=f"p{number}", phase=phase, url=url, prep=prep, reads=_reads(needs, url, prep))
            for number, (phase, url, prep) in enumerate(wanted)
        ),
        step_reads=_reads(own, "last", ()),
    )


def skipped_pages(checks: Iterable[Check], sites: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the pages that these checks are about and that are outside of the sites, in order."""
    needs = [need for check in checks for need in _needs(check)]
    kept = {url for url, _, _ in _allowed(needs, sites)}
    return tuple(dict.fromkeys(url for url, _, _ in needs if url not in kept))


def _requests(
    checks: Sequence[Check], sites: Mapping[str, Sequence[str]]
) -> list[tuple[Literal["pre", "post"], str, str]]:
    """Return phase, name and URL of every API request that checks need, inside of the sites."""
    found: list[tuple[Literal["pre", "post"], str, str]]
    found = [("post", name, url) for name, url in api_requests(_texts_of(checks), sites)]
    root = next((roots[0].rstrip("/") for roots in sites.values() if roots), "")
    for check in checks:
        choice = check.exchange if isinstance(check, StateHttp) else None
        if choice is not None and choice.phase != "run":
            url = choice.path if "://" in choice.path else root + choice.path
            found.append((choice.phase, f"state:{choice.path}", url))
    return [one for one in dict.fromkeys(found) if _inside(one[2], sites)]


def _texts_of(checks: Iterable[Check]) -> list[str]:
    """Return the texts of checks that may be calls of an API."""
    targets = [target for check in checks if isinstance(check, ProgramHtml) for target in check.targets]
    return [text for target in targets for text in (target.url, target.locator)]


_Need: TypeAlias = tuple[str, tuple[str, ...], ProbeRead | None]


def _needs(check: Check) -> list[_Need]:
    if isinstance(check, PageCheck):
        return [(check.url, check.prep, _page_read(check))]
    if isinstance(check, ProgramHtml):
        plain = [target for target in check.targets if not target.url.startswith("func:")]
        return [(target.url, target.prep_actions, _script_read(target.locator)) for target in plain]
    return []


def _page_read(check: PageCheck) -> ProbeRead | None:
    if check.selector is None:
        return _script_read(check.locator or "")
    key = locator_key(check.selector, check.property, None)
    return ProbeRead(locator=key, selector=check.selector, property=check.property)


def _script_read(locator: str) -> ProbeRead | None:
    if locator.startswith("lambda:"):
        return ProbeRead(locator=locator, script=locator.removeprefix("lambda:").rstrip("; "))
    is_script = locator.startswith(("document.", "[...document."))
    return ProbeRead(locator=locator, script=locator) if is_script else None


def _allowed(needs: Iterable[_Need], sites: Mapping[str, Sequence[str]]) -> list[_Need]:
    return [need for need in needs if need[0] == "last" or _inside(need[0], sites)]


def _pages(needs: Iterable[_Need]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return _unique((url, prep) for url, prep, _ in needs)


def _reads(needs: Iterable[_Need], url: str, prep: tuple[str, ...]) -> tuple[ProbeRead, ...]:
    found = _unique(read for u, p, read in needs if (u, p) == (url, prep) and read is not None)
    # A probe's reads name the scripts that prepared it: without one it would pass for the page as it is.
    return found or ((_PREPARED,) if prep else ())


_PREPARED = ProbeRead(locator="document.title", script="document.title")


def _inside(url: str, sites: Mapping[str, Sequence[str]]) -> bool:
    roots = [root.rstrip("/") for site in sites.values() for root in site]
    return any(url == root or url.startswith((root + "/", root + "?", root + "#")) for root in roots)


_T = TypeVar("_T")


def _unique(items: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(items))
