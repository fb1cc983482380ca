"""Changes and observed facts of each step: text without a model, for judges that read it.

Pages are compared line by line as multisets, in the order of the page: a line that only moved is no change,
and the time is linear in the untrusted text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import BundleError, ReplayError
from replaykit.grading.findings.detection import findings_of
from replaykit.grading.judges.claims.request_matching import sent_fields
from replaykit.grading.server_changes import Change, changes
from replaykit.grading.verdict import RunFinding
from replaykit.replay.agent_made_pages import is_forged
from replaykit.replay.dom import Dom, Node
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page, State
from replaykit.trajectory.exchange import Download

CHANGES_VERSION = 1
"""Raised when steps are described differently; part of the fingerprint of judges that read them."""

LINES_MAX = 40
"""Lines of one step."""

LETTERS_MAX = 4000
"""Characters of one step."""

LINE_MAX = 300
"""Characters of one line."""

FIELDS_MAX = 20
"""Fields of a request that are listed."""

UNKNOWN = "page unknown"
"""Of a step whose page afterwards cannot be read: never an empty difference."""


class StepNote(Struct, frozen=True, kw_only=True):
    """Facts about one step without its screenshot."""

    step: int
    """Step index, from 0."""
    changes: tuple[str, ...] = ()
    """`- line`, `+ line`, `~ "label": "before" -> "after"`; only `page unknown` if the page is unreadable."""
    facts: tuple[str, ...] = ()
    """Address, status, requests that changed something, dialogs, downloads."""
    found: tuple[str, ...] = ()
    """Findings of detectors at the step, code and name each, if the judge needs them."""
    n_cut: int = 0
    """Lines left out."""

    @property
    def is_page_known(self) -> bool:
        """Whether the page after the step was read."""
        return self.changes != (UNKNOWN,)


class _Content(Struct, frozen=True):
    """A page that was read."""

    lines: tuple[str, ...]
    fields: dict[str, str]


def step_notes(replay: Replay, *, forged: bool = False, findings: bool = False) -> tuple[StepNote, ...]:
    """Return a note for each step.

    `forged`: pages that the agent had a hand in too. `findings`: what detectors find, in fixed words only.
    """
    detected = _detected(replay) if findings else {}
    by_step: dict[int | None, list[Change]] = {}
    for change in changes(replay):
        by_step.setdefault(change.exchange.step, []).append(change)
    downloads = list(replay.trajectory.of_type(Download))
    seen: dict[int | None, _Content | None] = {}
    found = []
    for state in replay:
        facts = [
            *_facts(state),
            *(_request(change, replay) for change in by_step.get(state.index, ())),
            *(_download(one) for one in downloads if one.step == state.index),
        ]
        lines = list(_changes(state, replay, seen, forged=forged))
        note = _bounded(state.index, lines, facts)
        found.append(replace(note, found=tuple(detected[state.index])) if state.index in detected else note)
    return tuple(found)


_DETECTED = ("A1", "A2", "A3", "A4", "B1", "B2", "B3", "B5", "C1", "C2", "C3", "D1", "E6")
"""Codes that rest on the run only: not on checks, policies, judges or the words of the answer."""


def _detected(replay: Replay) -> dict[int, list[str]]:
    """Return step to what was found there."""
    lines: dict[int, list[str]] = {}
    for one in findings_of(replay):
        if one.code in _DETECTED and one.step is not None and not one.unknown:
            lines.setdefault(one.step, []).append(f"{one.code} {one.name}{_later(one)}")
    return lines


def _later(one: RunFinding) -> str:
    more = [str(step) for step in one.steps[1:]]
    again = f", again at step {', '.join(more)}" if more else ""
    return f"{again}, recovered" if one.recovered else again


def _changes(
    state: State, replay: Replay, seen: dict[int | None, _Content | None], *, forged: bool
) -> Iterator[str]:
    """Yield what changed on the tab; `seen` holds the last content of each tab and is updated."""
    tab = state.step.page
    before = _content(state.before, replay, forged=forged) or seen.get(tab)
    page, after = _last_content(state, replay, forged=forged)
    if page is None or after is None:
        seen[tab] = None
        yield UNKNOWN
        return
    seen[page.tab] = after
    is_same_tab = page.tab == tab
    if before is None or not is_same_tab or _is_replaced(state):
        yield "page replaced" if before is not None and is_same_tab else "page first seen"
        before = _Content((), {})
    yield from (f"- {line}" for line in _missing(before.lines, after.lines))
    yield from (f"+ {line}" for line in _missing(after.lines, before.lines))
    for label, value in after.fields.items():
        old = before.fields.get(label, "")
        if value != old:
            yield f'~ "{label}": "{old}" -> "{value}"'


def _last_content(state: State, replay: Replay, *, forged: bool) -> tuple[Page | None, _Content | None]:
    """Return the last look after a step that can be read, one at the tab acted on where there is one."""
    looks = [page for page in (*state.interim, state.after) if page is not None]
    if state.index == len(replay) - 1 and replay.final is not None:
        looks.append(replay.final)
    looks.sort(key=lambda page: page.tab == state.step.page)
    for page in reversed(looks):
        content = _content(page, replay, forged=forged)
        if content is not None:
            return page, content
    return None, None


def _content(page: Page | None, replay: Replay, *, forged: bool) -> _Content | None:
    """Return what a page shows; None where it cannot be read or the agent had a hand in it."""
    try:
        if page is None or page.dom is None or (not forged and is_forged(page, replay)):
            return None
        lines = tuple(line.strip() for line in page.dom.text.split("\n") if line.strip())
        return _Content(lines, form_state(page.dom))
    except (ReplayError, BundleError):
        return None


def _is_replaced(state: State) -> bool:
    return any(one.committed and not one.same_document and not one.frame for one in state.navigations)


def _missing(lines: Sequence[str], others: Sequence[str]) -> Iterator[str]:
    """Yield the lines that the others lack, as often as they lack them."""
    left = Counter(others)
    for line in lines:
        if left[line] > 0:
            left[line] -= 1
        else:
            yield line


def _facts(state: State) -> Iterator[str]:
    after = state.after
    if after is not None and after.url:
        status = f", status {after.status}" if after.status is not None else ""
        yield f"page {after.url}{status}"
    if state.step.error is not None:
        yield f"the action failed: {state.step.error.name}"
    for one in state.dialogs:
        closed = {True: "accepted", False: "dismissed", None: "not seen to close"}[one.accepted]
        yield f"{one.kind} {closed}: {one.message}"


def _request(change: Change, replay: Replay) -> str:
    fields = [f"{name}={value}" for name, value in sent_fields(change, replay)][:FIELDS_MAX]
    sent = f" with {', '.join(fields)}" if fields else ""
    return f"request {change.exchange.method} {change.exchange.url}: {change.status}{sent}"


def _download(one: Download) -> str:
    return f"download {one.suggested or one.url}: {one.state}"


def _bounded(step: int, lines: Sequence[str], facts: Sequence[str]) -> StepNote:
    """Return a note of at most so many lines and characters."""
    kept: list[str] = []
    left = LETTERS_MAX
    for line in lines[:LINES_MAX]:
        short = line[:LINE_MAX]
        left -= len(short)
        if left < 0:
            break
        kept.append(short)
    facts = tuple(fact[: 2 * LINE_MAX] for fact in facts[:LINES_MAX])
    return StepNote(step=step, changes=tuple(kept), facts=facts, n_cut=len(lines) - len(kept))


CONTROLS = "input, select, textarea"
"""Selector of elements with a state."""

CONTROLS_MAX = 200
"""Controls of a page that are read, the first ones."""

_SILENT = ("hidden", "password", "submit", "button", "image", "reset")


def form_state(dom: Dom) -> dict[str, str]:
    """Return label to value of the controls of a page; a label that stands twice is numbered.

    Raises ReplayError where the page cannot be asked.
    """
    labels = {node.attribute("for") or "": node.text for node in dom.select_all("label")}
    found: dict[str, str] = {}
    for node in dom.select_all(CONTROLS)[:CONTROLS_MAX]:
        label = next(filter(None, _names(node, labels)), "")
        if label and (node.attribute("type") or "").lower() not in _SILENT:
            found[_free(label, found)] = value_of(node)
    return found


def value_of(node: Node) -> str:
    """Return what a control holds: its text, its choice, or `checked` and `unchecked`."""
    if node.tag == "select":
        return ", ".join(one.text_content.strip() for one in node.options if one.selected)
    if node.attribute("type") in ("checkbox", "radio"):
        return "checked" if node.checked else "unchecked"
    return str(node.value or "")


def _names(node: Node, labels: Mapping[str, str]) -> Iterator[str]:
    above = node.closest("label")
    yield " ".join(above.text.split()) if above is not None else ""
    yield " ".join(labels.get(node.attribute("id") or "-", "").split())
    for name in ("aria-label", "placeholder", "title", "name"):
        yield node.attribute(name) or ""


def _free(label: str, taken: Mapping[str, str]) -> str:
    number = 1
    while (named := label if number == 1 else f"{label} #{number}") in taken:
        number += 1
    return named
