"""Match actions that the harness declared with those that pages observed: one step per declared action.

Compatible actions are merged; for contradictory ones, both are kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import (
    Action,
    Check,
    Element,
    Press,
    Scroll,
    SelectOption,
    Uncheck,
    Unknown,
    tag_of,
)

ACTIVATE = frozenset({"click", "dblclick", "tap", "mouse_click", "mouse_dblclick"})
"""Actions that activate an element, in addition to a press of Enter or Space."""

INPUT = frozenset(
    {
        "fill",
        "type",
        "keyboard_type",
        "keyboard_insert_text",
        "select_option",
        "check",
        "uncheck",
        "upload_file",
    }
)
"""Actions that enter something, in addition to a press of a printable key."""

NAVIGATE = frozenset({"goto", "go_back", "go_forward", "reload", "new_tab"})
"""Actions that navigate."""

SILENT = frozenset(
    {
        "hover",
        "focus",
        "scroll",
        "wait",
        "noop",
        "send_msg_to_user",
        "answer",
        "report_infeasible",
        "tool_call",
    }
    | {"handle_dialog", "focus_tab", "mouse_move", "mouse_down", "mouse_up", "keyboard_down", "keyboard_up"}
)
"""Declared actions that need not leave an event."""

_ID_SELECTOR = lazy_pattern(r"#[\w-]+")
_ACTIVATING_KEYS = frozenset({"Enter", "Space"})


class Merged(Struct, frozen=True, kw_only=True):
    """One step's actions."""

    action: Action
    """The action that happened."""
    origin: str
    """`declared both`."""
    declared: Action | None = None
    """The declared action, only if it contradicts `action`."""
    actions: tuple[int, ...] = ()
    """Which observed actions belong to the step, in order."""
    matched: int | None = None
    """Which of them is `action`."""
    seen: bool = True
    """False: it left no event, although it should have."""


def merge(declared: Sequence[Action], observed: Sequence[Action]) -> list[Merged]:
    """Return one step per declared action; every observed action belongs to exactly one of them.

    `declared` must not be empty. Actions are matched in order; one that matches nothing belongs to the step
    before it, or contradicts a declared action that nothing else confirms.
    """
    matches = _matches(declared, observed)
    shares = _shares(matches, len(observed))
    return [
        _merged(stated, observed, match, share)
        for stated, match, share in zip(declared, matches, shares, strict=True)
    ]


def is_choice_by(declared: Action, seen: Action) -> bool:
    """Whether a key or a click chose or checked something: what was chosen is only in what was seen."""
    return isinstance(seen, SelectOption | Check | Uncheck) and type(declared) is not type(seen)


def is_compatible(declared: Action, seen: Action) -> bool:
    """Whether two actions can be one: the same group, and the same element where both name one."""
    if isinstance(declared, Unknown) or isinstance(seen, Unknown):
        # An unknown action names nothing that could contradict what the page saw.
        return True
    is_kind = tag_of(declared) == tag_of(seen) or bool(_groups(declared) & _groups(seen))
    return is_kind and _is_same_target(declared.element, seen.element)


def _matches(declared: Sequence[Action], observed: Sequence[Action]) -> list[int | None]:
    """Return per declared action the observed one that confirms it, in order."""
    matches: list[int | None] = []
    start = 0
    for stated in declared:
        # Order is kept: a later event never confirms an earlier declared action.
        found = next((at for at in range(start, len(observed)) if is_compatible(stated, observed[at])), None)
        matches.append(found)
        start = start if found is None else found + 1
    return matches


def _shares(matches: Sequence[int | None], count: int) -> list[list[int]]:
    """Return per declared action the observed ones between its neighbours' matches."""
    shares: list[list[int]] = [[] for _ in matches]
    owner = 0
    for action in range(count):
        owner = next((at for at, match in enumerate(matches) if match == action), owner)
        later = range(owner + 1, len(matches))
        following = next((at for at in later if matches[at] is not None), len(matches))
        # Undeclared actions after a match may be the effect of the next, unconfirmed action.
        is_spare = action not in matches and bool(shares[owner]) and owner + 1 < following
        owner = owner + 1 if is_spare else owner
        shares[owner].append(action)
    return shares


def _merged(declared: Action, observed: Sequence[Action], match: int | None, share: list[int]) -> Merged:
    actions = tuple(share)
    if match is not None:
        return Merged(
            action=_joined(declared, observed[match]), origin="both", actions=actions, matched=match
        )
    # Drivers scroll an element into view for actions that leave no event: no contradiction.
    first = next((at for at in share if not _is_stray(observed[at])), None)
    if first is not None:
        seen = _with_ref(observed[first], None)
        return Merged(action=seen, origin="both", declared=declared, actions=actions, matched=first)
    return Merged(
        action=declared,
        origin="declared",
        actions=actions,
        seen=isinstance(declared, Unknown) or tag_of(declared) in SILENT,
    )


def _joined(declared: Action, seen: Action) -> Action:
    """Return type, arguments and reference as declared; element, point and circumstances as observed."""
    if isinstance(declared, Unknown):
        return seen
    ref = declared.element.ref if declared.element else None
    # The harness knows what was meant; only the page knows how it was done.
    joined = replace(
        declared,
        element=_with_ref(seen, ref).element or declared.element,
        trusted=seen.trusted,
        completed=seen.completed,
        by=seen.by or declared.by,
        modifiers=seen.modifiers or declared.modifiers,
    )
    return replace(joined, **_seen_arguments(declared, seen))


def _seen_arguments(declared: Action, seen: Action) -> dict[str, object]:
    arguments: dict[str, object] = {}
    if hasattr(declared, "point") and getattr(seen, "point", None) is not None:
        arguments["point"] = getattr(seen, "point", None)
    if hasattr(declared, "value_after") and hasattr(seen, "value_after"):
        arguments["value_after"] = seen.value_after
    if isinstance(declared, SelectOption) and isinstance(seen, SelectOption):
        arguments["labels"] = declared.labels or seen.labels
    return arguments


def _with_ref(seen: Action, ref: str | None) -> Action:
    if seen.element is None or ref is None:
        return seen
    return replace(seen, element=replace(seen.element, ref=ref))


def _groups(action: Action) -> set[str]:
    tag = tag_of(action)
    if isinstance(action, Press):
        return _key_groups(action.key)
    groups = {name for name, tags in _GROUPS.items() if tag in tags}
    # Clicks are how checkboxes are set and things are dragged; an empty fill is how fields are cleared.
    if tag in ("check", "uncheck", "drag_and_drop"):
        groups.add("activate")
    if tag in ("clear", "fill"):
        groups.add("clear")
    return groups


def _key_groups(key: str) -> set[str]:
    if key in _ACTIVATING_KEYS:
        return {"activate"}
    if len(key) == 1:
        return {"input"}
    # Agents empty a field by selecting all of it or by deleting, so these keys confirm a declared `clear`.
    return {"clear"} if key in ("Backspace", "Delete", "Control+a", "Meta+a") else set()


_GROUPS = {"activate": ACTIVATE, "input": INPUT, "navigate": NAVIGATE}


def _is_stray(action: Action) -> bool:
    return isinstance(action, Scroll) and action.by == "unknown"


def _is_same_target(declared: Element | None, seen: Element | None) -> bool:
    """Whether nothing that both elements report contradicts: bid, node, then css."""
    if declared is None or seen is None:
        return True
    verdicts = [
        _same_reference(declared.ref, seen),
        _same(declared.node, seen.node),
        _same((declared.attributes or {}).get("bid"), (seen.attributes or {}).get("bid")),
        _same(declared.css, seen.css),
    ]
    return next((verdict for verdict in verdicts if verdict is not None), True)


def _same(one: object, other: object) -> bool | None:
    return None if one is None or other is None else one == other


def _same_reference(ref: str | None, seen: Element) -> bool | None:
    """Return whether a reference names the element or the target inside of it; None where it does not say.

    A bid is compared with the attribute, an id selector with the id; other selectors have many spellings.
    """
    marks = seen.attributes or {}
    if ref is None:
        return None
    if ref in (seen.css, marks.get("bid"), seen.via.css if seen.via else None):
        return True
    if _ID_SELECTOR.fullmatch(ref):
        return marks.get("id") == ref[1:] if marks or seen.css else None
    # Inside of a control the bid of the target itself is not known.
    return False if "bid" in marks and ref.isalnum() and seen.via is None else None
