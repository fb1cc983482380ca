"""Compare a recorded run with its rerun, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from replaykit.errors import ReplayError
from replaykit.replay.player import Replay
from replaykit.replay.run_state import Page, State, same_url
from replaykit.reruns.allowed_addresses import Addresses
from replaykit.reruns.rerun_plan import RerunPlan
from replaykit.reruns.step_outcomes import Became, StepOutcome
from replaykit.reruns.tab_pairs import last_looks, tab_order
from replaykit.trajectory.action import Element

SCHEMA = "replaykit.rerun/1"
"""Name and version of the layout of its JSON."""

LINES_MAX = 5
"""Lines of a text that are shown, of those that are gone and of those that are new."""

LINE_MAX = 200
"""Characters of a line that are shown."""

KINDS = ("target", "action", "url", "dialog", "text", "place")
"""Everything in which two runs may differ."""

GATED = ("target", "action", "url", "dialog")
"""Kinds that count as a divergence unless --fail-on names others."""

Text = Literal["same", "differs", "unknown"]
Kind = Literal["target", "action", "url", "dialog", "text", "place"]


class Difference(Struct, frozen=True, kw_only=True):
    """One thing that is not as it was."""

    kind: Kind
    """`target`: it is not there, or another element; `action`: it failed; `url`, `dialog`, `text`: of the
    page after it; `place`: the target was elsewhere."""
    before: str | None = None
    """As it was recorded."""
    after: str | None = None
    """As it is now."""
    gone: tuple[str, ...] = ()
    """Text: the first lines that are gone."""
    new: tuple[str, ...] = ()
    """Text: the first lines that are new."""


class RerunRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One recorded step and its rerun."""

    step: int | None
    """Index of the step, from 0; None = the start page."""
    line: str
    """The step in one line."""
    state: Became
    """`done skipped missing changed failed refused not_reached`."""
    why: str | None = None
    """Reason why the step was not carried out."""
    url: str | None = None
    """URL of the new run after the step."""
    text: Text = "unknown"
    """Comparison of the rendered text, without frames; `unknown`: one run does not show it."""
    differences: tuple[Difference, ...] = ()
    """All differences of the step."""


class Rerun(Struct, frozen=True, kw_only=True):
    """A recorded run and its rerun, compared step by step."""

    schema: str = SCHEMA
    """Name and version of this layout."""
    recorded: str
    """Digest of the recorded run."""
    rerun: str
    """Digest of the new run."""
    rows: tuple[RerunRow, ...]
    """The start, then every recorded step."""
    error: str | None = None
    """Reason why the new run stopped early."""

    def diverges_at(self, kinds: Iterable[str] = GATED) -> RerunRow | None:
        """Return the first row that differs in one of these kinds."""
        wanted = set(kinds)
        return next((row for row in self.rows if any(d.kind in wanted for d in row.differences)), None)


def compare_runs(
    before: Replay, after: Replay, plan: RerunPlan, outcomes: Iterable[StepOutcome], places: Addresses
) -> tuple[RerunRow, ...]:
    """Return a row for the start and one for every step of the recorded run. Time: linear in both."""
    by_step = {outcome.step: outcome for outcome in outcomes}
    again = _states_again(after)
    rows = [_start_row(before, after, places)]
    orders = plan.tabs, tab_order(after)
    for move, state in zip(plan.moves, before, strict=True):
        outcome = by_step.get(move.step, StepOutcome(step=move.step, state="not_reached"))
        # A step that was not done shows the page before it.
        now = again.get(move.step) if outcome.state == "done" else None
        both = _step_pair(state, now, *orders) if now is not None else None
        rows.append(_row(move.line, both, outcome, places))
    return tuple(rows)


class _StepPair(Struct, frozen=True, kw_only=True):
    """The two runs after a step."""

    then: State
    """As it was recorded."""
    now: State
    """As it is now."""
    pairs: tuple[tuple[Page, Page], ...]
    """Looks at the same tab in both; that of the action first."""


def _states_again(replay: Replay) -> dict[int, State]:
    """Return, by recorded step, the state of the step that re-executed it."""
    found = ((state.step.raw, state) for state in replay)
    return {raw["rerun"]: state for raw, state in found if isinstance(raw, Mapping) and "rerun" in raw}


def _step_pair(then: State, now: State, order: Sequence[int], order_now: Sequence[int]) -> _StepPair:
    """Pair the looks at tabs by the order in which those were opened."""
    # One run may have opened more tabs than the other.
    ordinals = dict(zip(order, order_now, strict=False))
    looks = last_looks(now)
    own = then.step.page
    pairs = [(tab, page, looks.get(ordinals.get(tab, -1))) for tab, page in last_looks(then).items()]
    # The step's own tab comes first: its URL is the one that is shown.
    pairs.sort(key=lambda pair: pair[0] != own)
    return _StepPair(
        then=then, now=now, pairs=tuple((was, seen) for _, was, seen in pairs if seen is not None)
    )


def _start_row(before: Replay, after: Replay, places: Addresses) -> RerunRow:
    then, now = _first(before), _first(after)
    pairs = ((then, now),) if then is not None and now is not None else ()
    return RerunRow(
        step=None,
        line="start",
        state="done",
        url=now.url if now is not None else None,
        text=_text_word(pairs, places),
        differences=tuple(one for pair in pairs for one in _pages(*pair, places)),
    )


def _first(replay: Replay) -> Page | None:
    """Return the page on which the agent began: as the first action met it, else as it was when it came."""
    start = next((page for page in replay.pages if page.role == "start"), None)
    met = replay[0].before if len(replay) else None
    # The first action sees the page once it has settled.
    is_same = met is not None and (start is None or start.tab == met.tab)
    return met if is_same else start


def _row(line: str, both: _StepPair | None, outcome: StepOutcome, places: Addresses) -> RerunRow:
    seen = tuple(_seen(both, places)) if both is not None else ()
    return RerunRow(
        step=outcome.step,
        line=line,
        state=outcome.state,
        why=outcome.why if outcome.state != "done" else None,
        url=_url(both) if both is not None else None,
        text=_text_word(both.pairs, places) if both is not None else "unknown",
        differences=(*_of_outcome(outcome), *seen),
    )


def _url(both: _StepPair) -> str | None:
    page = both.pairs[0][1] if both.pairs else both.now.after
    return page.url if page is not None else None


def _of_outcome(outcome: StepOutcome) -> Iterator[Difference]:
    if outcome.state in ("missing", "changed"):
        yield Difference(kind="target", before=outcome.before, after=outcome.after or outcome.why)
    elif outcome.state == "failed":
        yield Difference(kind="action", after=outcome.why)
    elif outcome.why == "moved":
        yield Difference(kind="place", before=outcome.before, after=outcome.after)


def _seen(both: _StepPair, places: Addresses) -> Iterator[Difference]:
    yield from _targets(both.then.step.action.element, both.now.step.action.element)
    dialogs = [[f"{one.kind} {one.message!r}" for one in state.dialogs] for state in (both.then, both.now)]
    if dialogs[0] != dialogs[1]:
        was, is_now = ("; ".join(words)[:LINE_MAX] or "none" for words in dialogs)
        yield Difference(kind="dialog", before=was, after=is_now)
    for then, now in both.pairs:
        yield from _pages(then, now, places)


def _targets(then: Element | None, now: Element | None) -> Iterator[Difference]:
    # A masked name would differ from any other.
    if then is None or now is None or then.masked or now.masked:
        return
    for name in ("role", "name"):
        was, is_now = (" ".join((getattr(one, name) or "").split()) for one in (then, now))
        if was != is_now:
            yield Difference(kind="target", before=f"{name} {was!r}", after=f"{name} {is_now!r}")


def _pages(then: Page, now: Page, places: Addresses) -> Iterator[Difference]:
    if then.url is not None and now.url is not None:
        due = places.live(then.url) or then.url
        if not same_url(due, now.url):
            yield Difference(kind="url", before=due, after=now.url)
    was, is_now = _lines(then), _lines(now)
    if was is not None and is_now is not None:
        yield from _texts([places.text(line) for line in was], is_now)


def _texts(then: list[str], now: list[str]) -> Iterator[Difference]:
    """Compare lines as they are counted: one that only moved is no difference."""
    gone = list((Counter(then) - Counter(now)).elements())
    new = list((Counter(now) - Counter(then)).elements())
    if gone or new:
        yield Difference(
            kind="text",
            before=f"{len(gone)} lines gone",
            after=f"{len(new)} lines new",
            gone=tuple(line[:LINE_MAX] for line in gone[:LINES_MAX]),
            new=tuple(line[:LINE_MAX] for line in new[:LINES_MAX]),
        )


def _lines(page: Page) -> list[str] | None:
    """Return the lines of a page that hold text; None where its text is unknown."""
    try:
        dom = page.dom
        text = dom.text if dom is not None else None
    except ReplayError:
        return None
    if text is None:
        return None
    return [line for line in (" ".join(part.split()) for part in text.splitlines()) if line]


def _text_word(pairs: Iterable[tuple[Page, Page]], places: Addresses) -> Text:
    known = [(_lines(then), _lines(now)) for then, now in pairs]
    texts = [(then, now) for then, now in known if then is not None and now is not None]
    if not texts:
        return "unknown"
    is_same = all(Counter(map(places.text, then)) == Counter(now) for then, now in texts)
    return "same" if is_same else "differs"
