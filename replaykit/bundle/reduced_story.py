"""The reduced story: what two recordings of one deterministic run have in common, line by line.

Left out are fields marked volatile where they are declared, events that only timing orders or counts, and
looks at pages that were taken in passing; docs/bundle-format.md 1.6 is normative.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple, TypeAlias, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.story_lines import Line
from replaykit.trajectory.action import NodeRef
from replaykit.trajectory.exchange import Dialog, Message, Navigation
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import VOLATILE
from replaykit.trajectory.step import Ending, Header, Step

Counted: TypeAlias = Step | Dialog | Message | Navigation | Observation | Ending
"""Events of the reduced story; all others are left out, those of newer versions too."""

SHOT_FIELDS = frozenset({"screenshot", "clean", "shot_scale", "shot_exact"})
"""Fields left out of an observation that has a snapshot.

They show the same page a moment later, in pixels that differ between two renderings on one machine (a caret,
the corners of a focus ring).
"""

_RANKS = {Step: 0, Dialog: 1, Message: 1, Navigation: 2, Observation: 3, Ending: 4}
"""Order within one step; what the agent and its user do is ordered by time only."""


def reduced_lines(header: Header, events: Iterable[Line]) -> list[bytes]:
    """Return the lines of the reduced story, site roots still in them; the header is the first one."""
    kept = [event for event in events if isinstance(event, Counted)]
    return [_encode(event) for event in (header, *_selected(header, kept))]


@cache
def volatile_fields(kind: type[Struct]) -> frozenset[str]:
    """Return the fields of a struct that are marked volatile where they are declared."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name in hints if VOLATILE in getattr(hints[name], "__metadata__", ()))


# Which events, in which order


def _selected(header: Header, events: list[Counted]) -> list[Counted]:
    # Python sorts stably: what no key tells apart stays in order of time, then of lines.
    in_time = sorted(events, key=lambda e: (_number(e.t), _number(e.page), e.seq))
    looks = _counted_looks(header, [event for event in in_time if isinstance(event, Observation)])
    others: list[Counted] = [event for event in in_time if not isinstance(event, Observation)]
    steps = [event for event in in_time if isinstance(event, Step)]
    times = [step.t for step in steps if step.t is not None]
    if times and len(times) == len(steps):
        others = [_after_its_step(e, steps, times) if isinstance(e, Message) else e for e in others]
    is_imported = header.source is not None
    ordered = sorted([*others, *looks], key=_place)
    return [e if is_imported or not isinstance(e, Step) else _with_own_look(e) for e in ordered]


def _after_its_step(message: Message, steps: list[Step], times: list[int]) -> Message:
    # The step written last before a message is not always the step that was performed last.
    if message.t is None:
        return message
    done = bisect_right(times, message.t)
    return replace(message, step=steps[done - 1].index if done else None)


def _counted_looks(header: Header, looks: list[Observation]) -> list[Observation]:
    finals = [look for look in looks if look.role == "final"]
    if finals and header.source is None:
        # How far a page had come when the next action began is a matter of time. That action's own look shows
        # what it was done on, and the final one what came of everything.
        return finals
    last = {look.of: look for look in looks if look.role == "after"}
    return [*last.values(), *finals]


def _with_own_look(step: Step) -> Step:
    # A look from before the action shows as much of the page as had come by chance.
    before = step.before
    if before is None or before.t is None:
        return step
    is_unchanged = before.stale is None or before.stale.mutations == 0
    is_own = step.seq > 0 and before.t == step.t and is_unchanged
    return step if is_own else replace(step, before=None)


class _Place(NamedTuple):
    is_last: bool
    step: int
    rank: int
    page: int


def _place(event: Counted) -> _Place:
    rank = _RANKS[type(event)]
    page = event.page if isinstance(event, (Navigation, Observation)) else None
    is_last = isinstance(event, Ending) or (isinstance(event, Observation) and event.role == "final")
    return _Place(is_last, _step(event), rank, _number(page))


def _step(event: Counted) -> int:
    match event:
        case Step(index=step):
            return step
        case Observation(of=step) | Dialog(step=step) | Message(step=step) | Navigation(step=step):
            return _number(step)
    return -1


def _number(value: int | None) -> int:
    return -1 if value is None else value


# Which fields


def _encode(event: Header | Counted) -> bytes:
    before = event.before.snapshot if isinstance(event, Step) and event.before else None
    return msgspec.json.encode(_plain(event, before), order="sorted")


def _plain(value: Any, before: object) -> Any:
    # Values of any type, which may be nested to any depth, are lists and dicts: they stay as they are.
    if isinstance(value, tuple):
        return [_plain(part, before) for part in value]
    return _fields(value, before) if isinstance(value, Struct) else value


def _fields(struct: Struct, before: object) -> dict[str, Any]:
    tag = struct.__struct_config__.tag
    plain: dict[str, Any] = {} if tag is None else {"type": tag}
    for name, default in _defaults(type(struct)):
        value = getattr(struct, name)
        if value != default and not _is_passing(struct, name, value, before):
            part = _plain(value, before)
            if part != {}:
                plain[name] = part
    return plain


def _is_passing(struct: Struct, name: str, value: Any, before: object) -> bool:
    if isinstance(struct, Observation):
        return name in SHOT_FIELDS and isinstance(struct.snapshot, str)
    return isinstance(value, NodeRef) and value.snapshot != before


@cache
def _defaults(kind: type[Struct]) -> tuple[tuple[str, Any], ...]:
    # A default is left out on disk or not, as the writer likes.
    volatile = volatile_fields(kind)
    return tuple((f.name, _default(f)) for f in msgspec.structs.fields(kind) if f.name not in volatile)


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default
