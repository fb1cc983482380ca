"""Which recorded evidence answers a question about a page, by rank: live reads, snapshots, visited pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import LocatorLimit, SelectorInvalid, SnapshotInvalid, Unsupported
from replaykit.grading.checks.pages.final_page import LAST, evidence_of
from replaykit.grading.checks.requirement import Ruling, Terms, error, undecided
from replaykit.grading.values import urls as urls
from replaykit.grading.verdict import Evidence
from replaykit.patterns import lazy_pattern
from replaykit.replay.agent_made_pages import FORGED, is_forged
from replaykit.replay.dom import Dom
from replaykit.replay.offline_page.chromium_reader import ChromiumReader
from replaykit.replay.offline_page.page_question import PageQuestion
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page
from replaykit.replay.selectors.locator_evaluation import evaluate, may_be_in_shadow, read_selector
from replaykit.tasks.dialect import Mode
from replaykit.trajectory.observation import Read
from replaykit.trajectory.redaction_marks import MASK_NAME
from replaykit.trajectory.step import Probe

_REFUSED = (401, 403)
_VISIT_ERRORS = {
    "timeout": "no answer within the time limit",
    "gone": "the browser or the tab was closed",
    "failed": "the request failed",
}
_INCOMPLETE = lazy_pattern(rf"⟦cut:\d+⟧\Z|⟦{MASK_NAME}⟧")


class Question(Struct, frozen=True, kw_only=True):
    """One question about one page."""

    url: str
    """`last` or a URL."""
    prep: tuple[str, ...] = ()
    """Scripts that ran before."""
    locator: str = ""
    """Key of the read; empty = the page itself."""
    selector: str | None = None
    """A CSS selector, instead of a script."""
    property: str = "text"
    """With a selector."""
    phase: str = "post"
    """`pre post`: before or after the run."""


class EvidenceReading(Struct, frozen=True, kw_only=True):
    """The value that the evidence shows, or the reason why it shows none."""

    evidence: Evidence
    """Where it comes from."""
    read: Read | None = None
    """The value, where a locator was asked."""
    dom: Dom | None = None
    """The document, where the page itself was asked."""
    page: Page | None = None
    """The page that it stands on."""
    text: str | None = None
    """Its rendered text, where the offline Chromium gave it."""
    ruling: Ruling | None = None
    """Why there is neither."""
    notes: tuple[str, ...] = ()
    """Peculiarities met on the way."""


class _Source(Struct, frozen=True, kw_only=True):
    """A recorded page that may answer."""

    page: Page
    """The page."""
    evidence: Evidence
    """Where it stands in the bundle."""
    is_weak: bool = False
    """Visited by the agent, not looked at for the check."""


def ask(replay: Replay, question: Question, terms: Terms, mode: Mode) -> EvidenceReading:
    """Answer from the first evidence that exists; `mode` decides about pages that were not reached."""
    sources = list(_sources(replay, question, terms))
    if not sources:
        return _nothing(question)
    looked = sources
    if mode == "strict" and question.url != LAST:
        # A probe that was turned away stays so; the agent's own older sight of the page does not replace it.
        looked = [source for source in sources if not source.is_weak] or sources
        sources = [source for source in looked if not visit_fault(source.page)]
    if not sources:
        return _not_reached(question, looked)
    if mode == "strict":
        # One that the agent made shows nothing; what another sight of the page shows, counts.
        honest = [source for source in sources if not is_forged(source.page, replay)]
        if not honest:
            return EvidenceReading(evidence=sources[0].evidence, ruling=undecided("forged", FORGED))
        sources = honest
    live = (found for source in sources if (found := _live(source, question)) is not None)
    return next(live, None) or _static(sources, question, terms)


def drawn(reading: EvidenceReading, chromium: ChromiumReader | None) -> EvidenceReading:
    """Return a reading of a whole page with its text as the offline Chromium draws it.

    Without one, and where static reading can answer and is asked first, the reading is left as it is.
    """
    page, dom = reading.page, reading.dom
    if chromium is None or page is None or dom is None or not (chromium.is_first or _is_dark(dom)):
        return reading
    try:
        read = chromium.read(page, _BODY)
    except Unsupported as fault:
        why = replace(reading.evidence, note=str(fault.fields["reason"]))
        return EvidenceReading(evidence=why, ruling=undecided("unsupported", "probe:text"))
    except LocatorLimit:
        return EvidenceReading(evidence=reading.evidence, ruling=error("locator_limit", "page text"))
    if not isinstance(read.value, str):
        return reading
    seen = replace(reading.evidence, tier="chromium", browser=chromium.version)
    return replace(reading, evidence=seen, text=read.value)


_BODY = PageQuestion(locator="text", selector=":root > :is(body, frameset)")


def _is_dark(dom: Dom) -> bool:
    """Return whether static reading cannot give what a page shows."""
    try:
        _ = dom.text
    except Unsupported:
        return True
    except LocatorLimit:
        return False
    return False


def _sources(replay: Replay, question: Question, terms: Terms) -> Iterator[_Source]:
    """Yield the pages that may answer, strongest first."""
    if question.url == LAST:
        final = replay.final
        if final is not None and not question.prep and question.phase == "post":
            yield _Source(page=final, evidence=evidence_of(final, replay, "page", "strong"))
        pages = [page for page in replay.probes if _is_in_place(page)]
    else:
        pages = [page for page in replay.probes if _is_asked(page, question.url, terms)]
    for page in pages:
        if _phase(page) == question.phase and _has_prep(page, question):
            yield _Source(page=page, evidence=evidence_of(page, replay, "probe", "strong"))
    if question.url != LAST and not question.prep and question.phase == "post":
        visited = replay.visited(question.url)
        if visited is not None:
            yield _Source(page=visited, evidence=evidence_of(visited, replay, "page", "weak"), is_weak=True)


def _is_in_place(page: Page) -> bool:
    return isinstance(page.seen, Probe) and (page.seen.in_place or page.seen.requested == LAST)


def _is_asked(page: Page, url: str, terms: Terms) -> bool:
    requested = page.seen.requested if isinstance(page.seen, Probe) else None
    if requested is None or _is_in_place(page):
        return False
    return requested == url or urls.matches(url, requested, urls.SAME, terms.sites)


def _phase(page: Page) -> str:
    return page.seen.phase if isinstance(page.seen, Probe) else "post"


def _has_prep(page: Page, question: Question) -> bool:
    """Return whether a probe ran exactly these scripts: its reads name them; without reads it ran none."""
    ran = {tuple(prep.source for prep in read.prep) for read in page.reads} or {()}
    return question.prep in ran


def _live(source: _Source, question: Question) -> EvidenceReading | None:
    if source.is_weak or not question.locator:
        return None
    for read in source.page.reads:
        is_same = read.locator == question.locator and tuple(p.source for p in read.prep) == question.prep
        if is_same and not _is_incomplete(read) and not _may_be_in_shadow(read, question, source.page.dom):
            return EvidenceReading(
                evidence=_read_as(source, question, "live"),
                read=read,
                page=source.page,
                notes=_prep_notes(read),
            )
    return None


def _may_be_in_shadow(read: Read, question: Question, dom: Dom | None) -> bool:
    return question.selector is not None and may_be_in_shadow(read, dom)


def _is_incomplete(read: Read) -> bool:
    return isinstance(read.value, str) and _INCOMPLETE.search(read.value) is not None


def _prep_notes(read: Read) -> tuple[str, ...]:
    return ("prep_threw",) if any(prep.threw is not None for prep in read.prep) else ()


def _static(sources: list[_Source], question: Question, terms: Terms) -> EvidenceReading:
    """Read the snapshot of the first source that has one."""
    source = next((source for source in sources if source.page.missing is None), None)
    if source is None:
        return _unread(sources[0], question)
    evidence = _read_as(source, question, "static")
    if source.is_weak and terms.require_strong:
        return EvidenceReading(evidence=evidence, ruling=undecided("weak_evidence", f"page:{question.url}"))
    try:
        return _of_snapshot(source, question, evidence, terms.chromium)
    except Unsupported as fault:
        code = f"probe:{question.locator or 'text'}"
        why = replace(evidence, note=_remedy(question, terms.chromium, fault))
        return EvidenceReading(evidence=why, ruling=undecided("unsupported", code))
    except LocatorLimit:
        return EvidenceReading(evidence=evidence, ruling=error("locator_limit", "locator"))
    except SnapshotInvalid:
        return EvidenceReading(evidence=evidence, ruling=error("snapshot_invalid", "snapshot"))


def _of_snapshot(
    source: _Source, question: Question, evidence: Evidence, chromium: ChromiumReader | None
) -> EvidenceReading:
    """Read without a browser, or with one: where that was asked for, and what needs one."""
    if chromium is None or not question.locator or source.page.dom is None:
        return _of_dom(source, question, evidence)
    if not chromium.is_first:
        with suppress(Unsupported):
            return _of_dom(source, question, evidence)
    wanted = PageQuestion(locator=question.locator, selector=question.selector, read=question.property)
    read = chromium.read(source.page, wanted)
    if _may_be_in_shadow(read, question, source.page.dom):
        return _of_dom(source, question, evidence)
    seen = _read_as(source, question, "chromium")
    return EvidenceReading(evidence=replace(seen, browser=chromium.version), read=read)


def _remedy(question: Question, chromium: ChromiumReader | None, fault: Unsupported) -> str | None:
    """Return what would answer, or why the browser does not."""
    if chromium is None:
        return "--replay auto" if question.locator else None
    return str(fault.fields["reason"])


def _of_dom(source: _Source, question: Question, evidence: Evidence) -> EvidenceReading:
    dom = source.page.dom
    if dom is None:
        return _unread(source, question)
    if not question.locator and dom.snapshot.omitted:
        raise Unsupported(locator="text", reason="the snapshot leaves elements out")
    if not question.locator:
        return EvidenceReading(evidence=evidence, dom=dom, page=source.page)
    if question.selector is not None:
        read = read_selector(question.locator, question.selector, question.property, dom, pierces=True)
    else:
        read = evaluate(question.locator, dom)
    return EvidenceReading(evidence=evidence, read=read, page=source.page)


def _nothing(question: Question) -> EvidenceReading:
    code = "snapshot.final" if question.url == LAST else f"page:{question.url}"
    if question.url == LAST and question.prep:
        code = f"probe:{question.locator}"
    return EvidenceReading(evidence=_asked(question), ruling=undecided("not_recorded", code))


def _unread(source: _Source, question: Question) -> EvidenceReading:
    """Return what is missing of a page that was looked at but has no snapshot."""
    seen = source.page.seen
    if isinstance(seen, Probe) and seen.error is not None:
        return EvidenceReading(
            evidence=source.evidence, ruling=error("peer_exception", "the page could not be opened")
        )
    return EvidenceReading(
        evidence=source.evidence, ruling=undecided("not_recorded", source.page.missing or "snapshot.final")
    )


def _not_reached(question: Question, looked: list[_Source]) -> EvidenceReading:
    why = visit_fault(looked[0].page)
    return EvidenceReading(
        evidence=replace(_asked(question), note=why),
        ruling=undecided("page_not_reached", f"page.unreached:{question.url}"),
    )


def visit_fault(page: Page) -> str | None:
    """Return why a page is not the one that was asked for; None where it is, as with 404 and 410."""
    seen, status = page.seen, page.status or 200
    if isinstance(seen, Probe) and seen.error is not None:
        return _VISIT_ERRORS.get(seen.error, f"the browser could not open it ({seen.error})")
    if status >= 500 or status in _REFUSED:
        return f"the server answered {status}"
    if isinstance(seen, Probe) and _is_elsewhere(seen) and _asks_for_password(page):
        return f"it led to a page that asks for a password: {seen.url}"
    return None


def _is_elsewhere(probe: Probe) -> bool:
    asked, arrived = urls.parse(probe.requested or ""), urls.parse(probe.url or "")
    return asked is not None and arrived is not None and asked.path != arrived.path


def _asks_for_password(page: Page) -> bool:
    try:
        return page.dom is not None and page.dom.select("input[type=password i]") is not None
    except (Unsupported, SelectorInvalid, LocatorLimit, SnapshotInvalid):
        return False


def _asked(question: Question) -> Evidence:
    url = None if question.url == LAST else question.url
    return Evidence(url=url, locator=question.locator or None)


def _read_as(source: _Source, question: Question, tier: str) -> Evidence:
    from_page = source.evidence
    return Evidence(
        source=from_page.source,
        step=from_page.step,
        event=from_page.event,
        url=from_page.url,
        locator=question.locator or None,
        tier=tier,
        strength=from_page.strength,
        settled=from_page.settled,
        snapshot=from_page.snapshot,
    )
