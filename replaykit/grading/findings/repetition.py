"""Runs that do not come forward: the same action again and again, and loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

from replaykit.grading.findings.taxonomy import found
from replaykit.grading.findings.turns import Turn
from replaykit.grading.verdict import RunFinding
from replaykit.trajectory import action as actions
from replaykit.trajectory.action_rendering import render_action

TIMES = 3
"""So often the same action on the same page is a repetition."""

LONGEST = 6
"""Actions of the longest loop that is looked for."""

_REPEATED = (
    actions.Scroll, actions.Wait, actions.Noop, actions.Hover, actions.MouseMove, actions.Press,
    actions.KeyboardType, actions.KeyboardInsertText, actions.KeyboardDown, actions.KeyboardUp,
    actions.SendMsgToUser, actions.Answer, actions.ReportInfeasible, actions.ToolCall, actions.Unknown,
    actions.FocusTab,
)  # fmt: skip
"""Actions that are rightly done several times on one page, or whose effect is unknown."""


def repeated(turns: Sequence[Turn]) -> Iterator[RunFinding]:
    """Yield C1 for each action that was done three times on one page, and C2 for each loop.

    Where pages are missing, so that the same actions may have been a loop, one C2 reports that it is unknown.
    """
    places = [_place(turn) for turn in turns]
    if None not in places and len(set(places)) == len(places):
        return  # no page came twice
    keys = _keys(turns, places)
    loops = list(_loops(keys))
    if not loops and _may_loop(turns, places):
        yield found("C2", [], unknown=True, source="page", note="unknown: pages were not recorded")
    if len(turns) < TIMES or not any(keys):
        return
    yield from _thrice(turns, keys)
    for first, length, end in loops:
        steps = [turn.step.index for turn in turns[first:end]]
        cycle = set(keys[first : first + length])
        lines = "; ".join(render_action(turn.action) for turn in turns[first : first + length])
        yield found(
            "C2",
            steps[length:],
            recovered=any(key not in cycle for key in keys[end:]),
            action=render_action(turns[first + length].action),
            url=turns[first + length].step.url,
            note=f"steps {steps[0]} to {steps[-1]} go round {(end - first) // length} times: {lines}"[:400],
        )


def _thrice(turns: Sequence[Turn], keys: Sequence[Hashable | None]) -> Iterator[RunFinding]:
    places: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        if key is not None and not isinstance(turns[place].action, _REPEATED):
            places.setdefault(key, []).append(place)
    for several in places.values():
        if len(several) >= TIMES:
            again, first = turns[several[1]], turns[several[0]].step.index
            yield found(
                "C1",
                [turns[place].step.index for place in several[1:]],
                recovered=any(key != keys[several[0]] for key in keys[several[-1] + 1 :]),
                action=render_action(again.action),
                url=again.step.url,
                note=f"done {len(several)} times on the same page, first at step {first}",
            )


def _loops(keys: Sequence[Hashable | None]) -> Iterator[tuple[int, int, int]]:
    """Yield first place, length and end of each loop: 2 to 6 actions that come twice in full, or oftener."""
    place = 0
    while place < len(keys):
        lengths = range(2, LONGEST + 1) if keys[place] is not None else ()
        length = next((n for n in lengths if _comes_again(keys, place, n)), None)
        if length is None:
            place += 1
            continue
        end = place + 2 * length
        while keys[end : end + length] == keys[place : place + length]:
            end += length
        yield place, length, end
        place = end


def _comes_again(keys: Sequence[Hashable | None], place: int, length: int) -> bool:
    cycle = keys[place : place + length]
    is_known = len(cycle) == length and None not in cycle and len(set(cycle)) > 1
    return is_known and keys[place + length : place + 2 * length] == cycle


def _may_loop(turns: Sequence[Turn], places: Sequence[Hashable | None]) -> bool:
    """Return whether pages that are missing hide a loop: the same actions come twice in full."""
    if None not in places:
        return False
    signatures = [_signature(turn.action) for turn in turns]
    return any(
        signatures[place : place + n] == signatures[place + n : place + 2 * n]
        and _may_be_same(places[place : place + 2 * n], n)
        for place in range(len(turns))
        for n in range(2, LONGEST + 1)
    )


def _may_be_same(places: Sequence[Hashable | None], n: int) -> bool:
    """Return whether the first n pages may be the next n: some are missing, and those known are equal."""
    pairs = list(zip(places[:n], places[n:], strict=False))
    return len(places) == 2 * n and None in places and all(a == b or None in (a, b) for a, b in pairs)


def _signature(action: actions.Action) -> Hashable:
    """Return what distinguishes an action: its line, and the element where the line does not name it."""
    element: actions.Element | None = getattr(action, "element", None)
    is_unnamed = element is not None and not (element.name or element.text)
    return render_action(action), (element.ref, element.css) if element is not None and is_unnamed else None


def _keys(turns: Sequence[Turn], pages: Sequence[Hashable | None]) -> list[Hashable | None]:
    """Return action and page of each step; None where the page was never there twice, or is not recorded."""
    times = Counter(pages)
    return [
        (_signature(turn.action), page) if page is not None and times[page] > 1 else None
        for turn, page in zip(turns, pages, strict=True)
    ]


def _place(turn: Turn) -> Hashable | None:
    """Return what distinguishes the page acted on: its snapshot, else its tree, else its screenshot."""
    seen = turn.before
    if seen is None:
        return None
    for shown in (seen.snapshot, seen.a11y, seen.screenshot):
        if isinstance(shown, str):
            return seen.url, shown
    return None
