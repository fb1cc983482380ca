"""Every fault of the fields of a file: msgspec stops at the first, a person wants to mend all at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from replaykit.decoders import convert
from replaykit.patterns import lazy_pattern

FAULTS_MAX = 50
"""Faults that are looked for: a file with more is of another kind."""

_UNQUOTED = lazy_pattern(r"Expected `[^`]*\bstr\b[^`]*`, got `(?:bool|int|float|date|datetime|time)`")
_UNLISTED = lazy_pattern(r"Expected `array`, got `(?:str|int|float|object)`")
_HINTS = ((_UNQUOTED, " (quote it)"), (_UNLISTED, " (write it in brackets: [...])"))
_NAMED = lazy_pattern(r"Object (contains unknown|missing required) field `(.*)`")
_KEY = lazy_pattern(r"\.(\w+)|\[(\d+)\]|(.)")

_Kind = TypeVar("_Kind")


class FieldFault(NamedTuple):
    """One fault."""

    path: str
    """Where it is: `$.tasks[0].checks[1]`."""
    reason: str
    """Fault in words, with the nearest accepted name where a name is wrong."""


class ReadFields(NamedTuple, Generic[_Kind]):
    """Result of reading a value as a struct."""

    value: _Kind | None
    """The struct without the parts that are wrong; None where nothing is left of it."""
    faults: list[FieldFault]
    """Faults, in the order of reading."""


def field_fault(error: msgspec.ValidationError, plain: Any, kind: type) -> FieldFault:
    """Turn msgspec's message into reason and path; `plain` was read as a struct `kind`."""
    reason, _, path = str(error).partition(" - at `")
    path = path.rstrip("`") or "$"
    from replaykit.tasks.faults.nearest_names import suggestion  # for what is wrong only

    hint = next((hint for form, hint in _HINTS if form.match(reason)), "")
    hint = hint or suggestion(reason, path, plain, kind)
    return FieldFault(path, reason + hint)


def read_fields(plain: Any, kind: type[_Kind], at: str = "$") -> ReadFields[_Kind]:
    """Read plain values as a struct; after each fault, what is wrong is taken out and the rest is read again.

    `at`: the place of `plain` in its file.
    """
    draft, found = _Draft(plain), dict[str, FieldFault]()
    while len(found) < FAULTS_MAX:
        try:
            return ReadFields(convert(draft.plain, kind), list(found.values()))
        except msgspec.ValidationError as error:
            fault = field_fault(error, draft.plain, kind)
            name = _NAMED.match(fault.reason)
            for place, key, reason in _places(fault, name, draft, kind):
                # A field that was taken out because it was wrong is missing afterwards: no second fault.
                found.setdefault(key, FieldFault(at + place.removeprefix("$"), reason))
            if not draft.without(fault.path, name):
                break
    return ReadFields(None, list(found.values()))


def empty_lists(plain: Any, at: str = "$") -> Iterator[FieldFault]:
    """Yield the lists in the policies of a file or task that are written and empty.

    A field with an empty list counts as left out, so that a pattern matches more than its author meant.
    """
    policies = plain.get("policies") if isinstance(plain, dict) else None
    for number, policy in enumerate(policies if isinstance(policies, list) else ()):
        yield from _empty_below(policy, f"{at}.policies[{number}]")


_EMPTY_LIST = "empty_list: nothing is listed: leave the field out, or fill it"


def _empty_below(value: Any, at: str) -> Iterator[FieldFault]:
    if isinstance(value, dict):
        for name, part in value.items():
            if part == []:
                yield FieldFault(f"{at}.{name}", _EMPTY_LIST)
            yield from _empty_below(part, f"{at}.{name}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _empty_below(part, f"{at}[{number}]")


def _places(
    fault: FieldFault, name: re.Match[str] | None, draft: _Draft, kind: type
) -> Iterator[tuple[str, str, str]]:
    """Yield place, a key of its own, and reason; of an object all fields that it lacks."""
    place = draft.original(fault.path)
    if name is None or name[1] == "contains unknown":
        yield place, place if name is None else f"{place}.{name[2]}", fault.reason
        return
    from replaykit.tasks.faults.nearest_names import missing_fields

    path, lacking = fault.path, [name[2]]
    while True:
        place = draft.original(path)
        for one in dict.fromkeys([*lacking, *missing_fields(path, draft.plain, kind)]):
            yield place, f"{place}.{one}", f"Object missing required field `{one}`"
        if path.endswith("]") or "." not in path:
            return
        # The item of a list that holds it goes with it: what else it lacks would not be reported.
        path, lacking = path.rpartition(".")[0], []


class _Draft:
    """A copy of plain values from which faulty parts are taken out, and the places that the rest had."""

    def __init__(self, plain: Any) -> None:
        self._numbers: dict[int, list[int]] = {}
        self.plain = self._copied(plain)

    def _copied(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._copied(item) for key, item in value.items()}
        if not isinstance(value, list):
            return value
        copied = [self._copied(item) for item in value]
        self._numbers[id(copied)] = list(range(len(copied)))
        return copied

    def original(self, path: str) -> str:
        """Return a path with the numbers that items had before others were taken out."""
        parts = ["$"]
        for holder, key in self._walk(path):
            number = self._numbers[id(holder)][key] if isinstance(holder, list) else None
            parts.append(f".{key}" if number is None else f"[{number}]")
        return "".join(parts) if len(parts) > 1 else path

    def without(self, path: str, named: re.Match[str] | None) -> bool:
        """Take out what is wrong at a path; return whether anything could be."""
        way = list(self._walk(path))
        if named is not None and named[1] == "contains unknown":
            holder = way[-1][0][way[-1][1]] if way else self.plain
            return holder.pop(named[2], self) is not self
        # Where a required field is missing, only an item of a list can do without the whole.
        is_missing = named is not None
        while way:
            holder, key = way.pop()
            if isinstance(holder, list):
                del holder[key], self._numbers[id(holder)][key]
                return True
            if not is_missing:
                del holder[key]
                return True
        return False

    def _walk(self, path: str) -> Iterator[tuple[Any, Any]]:
        """Yield each holder on the way with the key of what follows, as far as the path leads."""
        value = self.plain
        for field, index, _ in _KEY.findall(path.removeprefix("$")):
            key = field if field else int(index) if index else None
            is_there = isinstance(value, dict) and key in value if field else isinstance(value, list)
            if key is None or not is_there:
                return
            yield value, key
            value = value[key]
