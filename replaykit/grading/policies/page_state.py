"""`page_state`: what a page must, or must not, show; and policies that yield to those of a higher source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.grading.policies.events.event import Event
from replaykit.grading.policies.events.event_patterns import action_types, is_action
from replaykit.grading.policies.events.scope_window import Window
from replaykit.grading.policies.events.text_conditions import Reading, at_step, regex
from replaykit.grading.policies.events.three_valued_truth import TextSpan
from replaykit.grading.policies.rule_finding import Finding, Witness, broken, dormant, kept, undecided
from replaykit.grading.policies.rule_kind import PolicyRun, RuleKind, as_json
from replaykit.grading.values.boolean_attributes import presence
from replaykit.grading.values.normal_form import fold, normal, spellings
from replaykit.grading.verdict import Evidence, PolicyOutcome
from replaykit.patterns import lazy_pattern
from replaykit.replay.agent_made_pages import FORGED, is_forged
from replaykit.replay.dom import Dom
from replaykit.replay.player import SAFE_METHODS, Replay
from replaykit.replay.run_state import Page
from replaykit.replay.selectors.locator_evaluation import evaluate, may_be_in_shadow, read_selector
from replaykit.replay.selectors.xpath_evaluation import find
from replaykit.replay.unlisted_texts import UNLISTED
from replaykit.tasks.checks import Expect, locator_key, texts
from replaykit.tasks.grammar.xpath_grammar import is_xpath
from replaykit.tasks.policy_rules import PageState, Policy
from replaykit.trajectory.completeness import END
from replaykit.trajectory.observation import Read

_ACTIVATES = action_types(("@activate",))
_CONTROLS = ("input", "textarea", "select")
_LIVE = lazy_pattern(r"\.(?:value|checked|selected\w*)\b")
_OR = lazy_pattern(r" \|(?:OR|or)\| ")


class PageReading(Struct, frozen=True, kw_only=True):
    """Answer of one page to a locator."""

    texts: tuple[str, ...] = ()
    """Its value, or the texts of the whole page; empty: it is absent."""
    missing: tuple[str, ...] = ()
    """Why it is unknown."""
    page: Page | None = None
    """The page."""
    step: int | None = None
    """Step that acted on it; None = the final page."""
    tier: str | None = None
    """`live static`."""


def grade_page_state(rule: PageState, run: PolicyRun) -> Finding:
    """Return VIOLATED where a forbidden state was shown, or a demanded one was not."""
    window, witness = run.window, run.witness
    states = list(_states(rule, window, run.replay))
    known = [state for state in states if state.texts]
    missing = [code for state in states for code in state.missing]
    met = [(state, hit) for state in known if (hit := _fulfilled(rule.expect, state.texts)) is not None]
    doubts = [list(_doubts(rule, state)) for state, _ in met]
    certain = [found for found, doubt in zip(met, doubts, strict=True) if not doubt]
    if rule.forbid and certain:
        return broken("forbidden_state", (_evidence(rule, witness, state, hit) for state, hit in certain))
    unmet = [state for state in known if not any(state is one for one, _ in met)]
    hidden = [code for state in unmet for code in _hidden(rule, state)]
    if not rule.forbid and unmet and not hidden:
        return broken("state_not_met", (_evidence(rule, witness, state, None) for state in unmet))
    hidden += [code for doubt in doubts for code in doubt]
    unseen = _unseen(rule, window) if rule.forbid or not known else ()
    if missing or hidden or unseen:
        return undecided((*missing, *hidden, *unseen))
    if not known:
        return dormant("selector_never_resolved") if rule.forbid else _absent(rule, window, witness)
    return kept()


def _hidden(rule: PageState, state: PageReading) -> Iterator[str]:
    """Yield why a page may hold what was not found on it."""
    yield from _lacking(rule, state)
    others = _others(rule, state.page) if state.page is not None else ()
    if others and _fulfilled(rule.expect, (*state.texts, *others)) is not None:
        yield at_step(UNLISTED, state.step)


def _doubts(rule: PageState, state: PageReading) -> Iterator[str]:
    """Yield why a page may hold what it was found to lack."""
    if not rule.expect.excludes:
        return
    yield from _lacking(rule, state)
    others = _others(rule, state.page) if state.page is not None else ()
    if others and _fulfilled(rule.expect, (*state.texts, *others)) is None:
        yield at_step(UNLISTED, state.step)


def _lacking(rule: PageState, state: PageReading) -> Iterator[str]:
    lacks = state.page.unread if state.page is not None and not rule.locator else ()
    for text in state.texts:
        yield from Reading(text, state.step, lacks).missing


def _others(rule: PageState, page: Page) -> tuple[str, ...]:
    """Return what a page, or an element of it, may show as well."""
    is_text = rule.property in (None, "text") and not is_xpath(rule.locator) and not _is_script(rule.locator)
    if not rule.locator:
        return page.unlisted_texts
    return page.unlisted_in(rule.locator) if is_text else ()


def _unseen(rule: PageState, window: Window) -> tuple[str, ...]:
    """Return why a page that counts may have been shown and not recorded."""
    gaps = window.gaps("page")
    return gaps if rule.at == "every" else tuple(code for code in gaps if code == END)


def yielded(policy: Policy, finding: Finding, others: Mapping[str, Finding]) -> Finding:
    """Return the finding of a policy beside those of higher sources that it yields to.

    One that is at stake takes its place. One that could not be decided leaves open whether it does.
    """
    found = [others[name] for name in policy.yields_to if name in others]
    if any(one.outcome in (PolicyOutcome.OK, PolicyOutcome.VIOLATED) for one in found):
        return dormant("yielded")
    if not any(one.outcome in (PolicyOutcome.UNDECIDED, PolicyOutcome.ERROR) for one in found):
        return finding
    if finding.outcome is PolicyOutcome.OK:
        return kept(None)
    if finding.outcome is PolicyOutcome.VIOLATED:
        codes = [code for one in found for code in one.missing]
        return undecided(codes or ("yields_to",), finding.evidence)
    return finding


def _states(rule: PageState, window: Window, replay: Replay) -> Iterator[PageReading]:
    """Yield what counts: the last page, that or the last one submitted, or every page."""
    if rule.url != "last":
        page = replay.probe(rule.url)
        yield _shown(rule, page, None, replay) if page else PageReading(missing=(f"page:{rule.url}",))
        return
    if rule.at == "every":
        yield from (_shown(rule, page, page.step, replay) for page in replay.pages)
        return
    final = _shown(rule, replay.final, None, replay)
    yield final
    if rule.at == "committed" and not final.texts and not final.missing:
        yield from _submitted(rule, window, replay)


def _submitted(rule: PageState, window: Window, replay: Replay) -> Iterator[PageReading]:
    """Yield the latest submitted page that has such a value."""
    for event in reversed([held.event for held in window.held if held.event.kind == "action"]):
        if not _submits(event, replay):
            continue
        shown = _shown(rule, event.page, event.step, replay)
        if shown.texts or shown.missing:
            yield shown
            return


def _submits(event: Event, replay: Replay) -> bool:
    if replay.trajectory.channel("network") == "recorded":
        requests = (one for one in replay.exchanges if one.step == event.step)
        return any(request.method.upper() not in SAFE_METHODS for request in requests)
    element = event.element
    is_button = element is not None and (
        element.tag == "button"
        or element.role == "button"
        or (element.tag == "input" and element.type in ("submit", "image"))
    )
    return is_button and is_action(event, *_ACTIVATES)


def _shown(rule: PageState, page: Page | None, step: int | None, replay: Replay) -> PageReading:
    if rule.locator.startswith("func:"):
        return PageReading(
            missing=(f"api:{rule.locator[5:].partition('(')[0].strip()}",), page=page, step=step
        )
    if page is None:
        code = "snapshot.final" if step is None else f"snapshot.before@{step}"
        return PageReading(missing=(code,), step=step)
    if is_forged(page, replay):
        return PageReading(missing=(FORGED,), page=page, step=step)
    read = page.read(_key(rule)) if rule.locator else None
    # A probe asks the document only: what it did not find may be in a shadow tree.
    if read is not None and not may_be_in_shadow(read, page.dom):
        return PageReading(texts=_texts_of(rule, read), page=page, step=step, tier="live")
    dom = page.dom
    if dom is None:
        return PageReading(missing=(page.missing or "snapshot.final",), page=page, step=step)
    if _is_live(rule) and replay.trajectory.channel("form_state") != "recorded":
        return PageReading(missing=("form_state",), page=page, step=step)
    try:
        texts = _read(rule, dom) if rule.locator else _page_texts(dom, page)
        return PageReading(texts=texts, page=page, step=step, tier="static")
    except (Unsupported, LocatorLimit):
        code = f"probe:{rule.locator}" if rule.locator else "visible_text"
        return PageReading(missing=(code,), page=page, step=step)


def _is_live(rule: PageState) -> bool:
    if rule.property is not None:
        return rule.property in ("value", "checked", "selectedIndex")
    return not rule.locator or is_xpath(rule.locator) or _LIVE.search(rule.locator) is not None


def _is_script(locator: str) -> bool:
    return locator.startswith(("document.", "[...document."))


def _key(rule: PageState) -> str:
    if is_xpath(rule.locator) or _is_script(rule.locator):
        return rule.locator
    return locator_key(rule.locator, rule.property or "text", None)


def _read(rule: PageState, dom: Dom) -> tuple[str, ...]:
    if is_xpath(rule.locator):
        return _of_path(rule.locator, dom)
    if _is_script(rule.locator):
        return _of_read(evaluate(rule.locator, dom))
    read = read_selector(_key(rule), rule.locator, rule.property or "text", dom, pierces=True)
    return _texts_of(rule, read)


def _page_texts(dom: Dom, page: Page) -> tuple[str, ...]:
    """Return the visible text of a page, those of its frames, then the values of its fields."""
    fields = (node.value for node in dom.pierce_all("input, textarea, select") if not node.masked)
    return (
        dom.whole_text,
        *page.frame_texts,
        *(value for value in fields if isinstance(value, str) and value),
    )


def _of_path(path: str, dom: Dom) -> tuple[str, ...]:
    node = next(iter(find(path, dom)), None)
    if node is None:
        return ()
    return (str(node.value),) if node.tag in _CONTROLS else (node.text,)


def _texts_of(rule: PageState, read: Read) -> tuple[str, ...]:
    there = presence(rule.property, read)
    return _of_read(read) if there is None else there


def _of_read(read: Read) -> tuple[str, ...]:
    """Return a value as text; null, undefined and exceptions are absent."""
    match read.kind:
        case "string":
            return (str(read.value),)
        case "bool":
            return ("true" if read.value else "false",)
        case "number":
            return (read.special or str(read.value),)
        case "array":
            return (",".join(str(one) for one in read.value or ()),)
    return ()


def _fulfilled(expect: Expect, found: Sequence[str]) -> str | None:
    """Return a text that shows that the value is as expected; None where it is not."""
    tests = list(_tests(expect, found))
    return next((hit for hit in tests if hit), "") if all(hit is not None for hit in tests) else None


def _tests(expect: Expect, found: Sequence[str]) -> Iterator[str | None]:
    if expect.equals is not None:
        wanted = normal(expect.equals)
        yield next((text for text in found if normal(text) == wanted), None)
    for part in (*texts(expect.contains), *expect.all_of):
        yield _part(_OR.split(part), found)
    if expect.any_of:
        yield _part(expect.any_of, found)
    for part in texts(expect.excludes):
        yield None if _part((part,), found) is not None else ""
    if expect.regex is not None:
        pattern = regex(expect.regex, False)
        yield next((text for text in found if any(map(pattern.search, spellings(text)))), None)
    if expect.not_empty:
        yield next((text for text in found if text.strip()), None)


def _part(alternatives: Iterable[str], found: Sequence[str]) -> str | None:
    folded = [(text, fold(text)) for text in found]
    parts = [fold(part) for part in alternatives]
    return next((text for text, plain in folded if any(part in plain for part in parts)), None)


def _evidence(rule: PageState, witness: Witness, state: PageReading, hit: str | None) -> Evidence:
    page = state.page
    text = hit if hit is not None else (state.texts[0] if state.texts else "")
    note = "the value is forbidden" if rule.forbid else "the value is not as demanded"
    return Evidence(
        source="page",
        step=state.step,
        event=page.place if page is not None else None,
        url=witness.mask(page.url) if page is not None and page.url is not None else None,
        locator=rule.locator or None,
        tier=state.tier,
        strength="strong",
        snapshot=page.snapshot_id if page is not None else None,
        excerpt=witness.excerpt(_span(rule.expect, text)),
        note=note,
    )


def _span(expect: Expect, text: str) -> TextSpan:
    """Return where a text shows what was expected; its beginning where it does not say where."""
    for part in (*texts(expect.contains), *expect.all_of, *expect.any_of):
        for alternative in _OR.split(part):
            at = text.casefold().find(alternative.casefold())
            if at >= 0 and len(text.casefold()) == len(text):
                return TextSpan(text, at, at + len(alternative))
    return TextSpan(text, 0, min(len(text), 80))


def _absent(rule: PageState, window: Window, witness: Witness) -> Finding:
    return broken("state_absent", [witness.end(window.history, f"nothing to read at {rule.locator!r}")])


def _breaks(rule: PageState) -> str:
    what = rule.locator or "the page's text"
    return f"{what} {'as' if rule.forbid else 'other than'} {as_json(rule.expect)} ({rule.at})"


KIND = RuleKind(
    grade=grade_page_state,
    breaks=_breaks,
    channels=lambda rule: ("snapshots",) if rule.forbid else (),
)
