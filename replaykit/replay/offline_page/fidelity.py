"""Live values that a run recorded, against what its snapshots answer: read statically, and in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import LocatorLimit, MissingExtra, NoBrowser, ReplayError, Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom, Node
from replaykit.replay.frame_pages import find
from replaykit.replay.offline_page.chromium import Chromium, Rebuilt, shared
from replaykit.replay.offline_page.frame_builder import Filled
from replaykit.replay.offline_page.page_payload import blueprint_of
from replaykit.replay.offline_page.page_question import PageQuestion
from replaykit.replay.player import Recording, Replay
from replaykit.replay.run_state import Page
from replaykit.replay.selectors.locator_evaluation import LAMBDA, evaluate, read_selector
from replaykit.tasks.grammar.xpath_grammar import is_xpath
from replaykit.trajectory.observation import Read
from replaykit.trajectory.redaction_marks import MASK, MASK_NAME

EXCERPT = 200
"""Characters of a value that are shown."""

_SCRIPTS = ("document.", "[...document.", LAMBDA)
_INCOMPLETE = lazy_pattern(rf"⟦(?:cut:\d+|{MASK_NAME})⟧")
_PROPERTIES = ("tag", "text", "value", "checked", "selected_index", "selected")


class Disagreement(Struct, frozen=True, kw_only=True):
    """One question to which two witnesses give two answers."""

    url: str | None
    """The page."""
    role: str
    """Of its observation: `start before after final unaligned probe`."""
    step: int | None
    """Step that it belongs to, from 0."""
    question: str
    """A locator, or `#NUMBER PROPERTY` of an element; before that, `frame URL` where it stands in one."""
    is_blank: bool
    """Whether they differ in white space only."""
    live: str | None = None
    """Answer of the live page; None where no one asked it."""
    static: str | None = None
    """Answer of static reading; None where it cannot answer."""
    chromium: str | None = None
    """Answer of the offline browser; None if it cannot answer, or is missing."""


class Fidelity(Struct, frozen=True, kw_only=True):
    """How well a bundle's snapshots answer for the live pages."""

    browser: str | None = None
    """Version of the offline browser; None if absent."""
    pages: int = 0
    """Snapshots looked at."""
    reads: int = 0
    """Live values compared."""
    elements: int = 0
    """Elements on which both tiers were compared."""
    unsupported: int = 0
    """Live values that static reading cannot give."""
    unbuilt: tuple[str, ...] = ()
    """Pages that Chromium cannot build as they were, and why."""
    disagreements: tuple[Disagreement, ...] = ()
    """Where the witnesses differ."""

    @property
    def is_faithful(self) -> bool:
        """Whether all agree except in white space."""
        return all(one.is_blank for one in self.disagreements)


def fidelity(bundle: Recording, chromium: Chromium | None = None) -> Fidelity:
    """Compare all live values of a run, and in Chromium every element of every page.

    Without a browser only static reading is compared. Raises SnapshotInvalid, BundleError.
    """
    replay = Replay(bundle)
    chromium = chromium or _browser()
    total = Fidelity(browser=None if chromium is None else chromium.version)
    compared: set[str | None] = set()
    for page in [*replay.pages, *replay.probes]:
        if page.dom is None or (page.snapshot_id in compared and not page.reads):
            continue
        is_new = page.snapshot_id not in compared
        compared.add(page.snapshot_id)
        total = _joined(total, _compared(page, page.dom, replay, chromium, is_new))
    return total


def _browser() -> Chromium | None:
    try:
        return shared()
    except (NoBrowser, MissingExtra):
        return None


def _joined(total: Fidelity, one: Fidelity) -> Fidelity:
    names = ("pages", "reads", "elements", "unsupported", "unbuilt", "disagreements")
    return replace(total, **{name: getattr(total, name) + getattr(one, name) for name in names})


def _compared(page: Page, dom: Dom, replay: Replay, chromium: Chromium | None, is_new: bool) -> Fidelity:
    rebuilt, unbuilt = _built(page, replay, chromium)
    try:
        rows = [_answers(read, dom, rebuilt) for read in page.reads if _is_comparable(read)]
        found = [_of_read(page, read, *answers) for read, *answers in rows]
        elements = 0
        if rebuilt is not None and is_new:
            found += _of_elements(page, dom, rebuilt.readings())
            elements = dom.head.elements
            for inside, frame in _frames(page, rebuilt):
                found += _of_elements(page, frame, rebuilt.readings(inside), f"frame {frame.url} ")
                elements += frame.head.elements
            unbuilt = tuple(_unbuilt(page, rebuilt))
    finally:
        if rebuilt is not None:
            rebuilt.close()
    return Fidelity(
        pages=int(is_new),
        reads=len(rows),
        elements=elements,
        unsupported=sum(static is None for _, static, _ in rows),
        unbuilt=unbuilt,
        disagreements=tuple(one for one in found if one is not None),
    )


def _built(page: Page, replay: Replay, chromium: Chromium | None) -> tuple[Rebuilt | None, tuple[str, ...]]:
    if chromium is None:
        return None, ()
    try:
        rebuilt = chromium.open(blueprint_of(page, replay, with_frames=True))
    except ReplayError as error:
        return None, (f"{page.url}: {error}",)
    if not rebuilt.faults:
        return rebuilt, ()
    rebuilt.close()
    return None, (f"{page.url}: {', '.join(rebuilt.faults)}",)


def _is_comparable(read: Read) -> bool:
    is_cut = isinstance(read.value, str) and _INCOMPLETE.search(read.value) is not None
    return read.kind != "hits" and not is_cut


def _answers(read: Read, dom: Dom, rebuilt: Rebuilt | None) -> tuple[Read, Read | None, Read | None]:
    wanted = _wanted(read.locator)
    try:
        static: Read | None = _static(wanted, dom)
    except (Unsupported, LocatorLimit):
        static = None
    try:
        chromium = rebuilt.read(wanted) if rebuilt is not None else None
    except (Unsupported, LocatorLimit):
        chromium = None
    return read, static, chromium


def _wanted(key: str) -> PageQuestion:
    """Take the key of a read apart: `SELECTOR @PROPERTY`, or a script or path."""
    selector, mark, name = key.rpartition(" @")
    if not mark or key.startswith(_SCRIPTS) or is_xpath(key):
        return PageQuestion(locator=key)
    return PageQuestion(locator=key, selector=selector, read=name)


def _static(wanted: PageQuestion, dom: Dom) -> Read:
    if wanted.selector is not None:
        return read_selector(wanted.locator, wanted.selector, wanted.read, dom)
    return evaluate(wanted.locator, dom)


def _of_read(page: Page, live: Read, static: Read | None, chromium: Read | None) -> Disagreement | None:
    texts = [_text(one) for one in (live, static, chromium)]
    return _disagreement(page, live.locator, *texts)


def _text(read: Read | None) -> str | None:
    """Return a value with its kind; of an exception its name, as browsers word messages differently."""
    if read is None:
        return None
    shown = read.threw.name if read.threw is not None else read.special or read.value
    return (
        f"{read.kind}: {shown}" if read.kind not in ("null", "undefined", "node", "function") else read.kind
    )


def _frames(page: Page, rebuilt: Rebuilt) -> Iterator[tuple[Filled, Dom]]:
    """Yield the frames that the page cannot read and that were built, with their snapshots."""
    for inside in rebuilt.frames:
        view = find(page.frames, inside.snapshot) if inside.snapshot is not None else None
        if view is not None and view.dom is not None and not inside.faults:
            yield inside, view.dom


def _unbuilt(page: Page, rebuilt: Rebuilt) -> Iterator[str]:
    for inside in rebuilt.frames:
        if inside.snapshot is not None and inside.faults:
            yield f"frame of {page.url}: {', '.join(inside.faults)}"


def _of_elements(
    page: Page, dom: Dom, readings: list[list[Any]], where: str = ""
) -> Iterator[Disagreement | None]:
    for number, own in enumerate(readings):
        node = dom.node(number)
        for name, theirs in zip(_PROPERTIES, own, strict=True):
            known, ours = _property(node, name)
            if known and MASK not in str(theirs):
                question = f"{where}#{number} {name}"
                yield _disagreement(page, question, None, _shown(ours), _shown(theirs))


def _property(node: Node | None, name: str) -> tuple[bool, Any]:
    """Return whether static reading can answer, and what."""
    if node is None:
        return False, None
    try:
        return True, getattr(node, "inner_text" if name == "text" else name)
    except Unsupported:
        return False, None


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _disagreement(
    page: Page, question: str, live: str | None, static: str | None, chromium: str | None
) -> Disagreement | None:
    texts = [text for text in (live, static, chromium) if text is not None]
    if len(set(texts)) < 2:
        return None
    return Disagreement(
        url=page.url,
        role=page.role,
        step=page.step,
        question=question,
        is_blank=len({" ".join(text.split()) for text in texts}) == 1,
        **{
            name: None if text is None else text[:EXCERPT]
            for name, text in (("live", live), ("static", static), ("chromium", chromium))
        },
    )
