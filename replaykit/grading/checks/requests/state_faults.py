"""Faults of conditions on the state of an app: what no exchange has, and predicates that say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

from replaykit.grading.checks.requests.json_predicates import holds
from replaykit.grading.values.jsonpath import check_path
from replaykit.grading.values.jsonpath_limits import PathFault
from replaykit.grading.values.typed_comparison import compare
from replaykit.tasks.faults.http_faults import method_fault
from replaykit.tasks.faults.url_faults import ROOT, root_fault
from replaykit.tasks.grammar.regex_reach import condition_fault
from replaykit.tasks.network_checks import STATUSES, SUCCESS
from replaykit.tasks.state_checks import ExchangeChoice, Predicate, StateHttp, StateScript

_UNARY = ("exists", "absent", "changed")
"""Operators without a value."""

_NUMERIC = ("equals", "not_equals", "in", "lt", "le", "gt", "ge")
"""Operators for a number."""

_COUNTS = range(2**53)
"""Numbers of exchanges that a run may have: as many as JSON can tell apart."""


def state_faults(check: StateHttp | StateScript) -> Iterator[tuple[str, str]]:
    """Yield place and message of what no run could meet, or every run."""
    if isinstance(check, StateScript):
        names = {".value": ".expected"}
        predicate = Predicate(op=check.op, value=check.expected)
        yield from ((names.get(path, path), message) for path, message in _of_predicate(predicate))
        return
    yield from _of_choice(check.exchange)
    for number, predicate in enumerate(check.where):
        at = f".where[{number}]"
        found = [*_of_predicate(predicate)] or [*_of_number(check.exchange, predicate)]
        yield from ((at + path, message) for path, message in found)


def _of_choice(choice: ExchangeChoice) -> Iterator[tuple[str, str]]:
    if fault := method_fault(choice.method):
        yield ".exchange.method", fault
    if "#" in choice.path:
        yield ".exchange.path", f"{choice.path!r}: a request has no `#`; name what it asks for"
    elif not choice.path.startswith("/") and not ROOT.match(choice.path):
        yield ".exchange.path", f"no request has the path {choice.path!r}: begin with `/`, or with http://"
    elif fault := root_fault(choice.path):
        yield ".exchange.path", fault


def _of_predicate(predicate: Predicate) -> Iterator[tuple[str, str]]:
    try:
        check_path(predicate.at)
    except PathFault as fault:
        yield ".at", f"{predicate.at!r} cannot be read: {fault}"
    op, value = predicate.op, predicate.value
    if op in _UNARY:
        if value is not None:
            yield ".value", f"`{op}` takes no value: use equals or not_equals, or leave {value!r} out"
    elif op == "matches":
        unsafe = condition_fault(value) if isinstance(value, str) else (0, "a pattern is a text")
        yield from ((".value", unsafe[1]) for _ in (0,) if unsafe is not None)
    elif reason := _unmeant(op, value) or _untyped(predicate):
        yield ".value", reason


def _unmeant(op: str, value: object) -> str:
    """Return why no value could be compared so; empty if some could."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if op == "in" and (not isinstance(value, list | tuple) or not value):
        return f"`in` takes a list of values, such as [paid, settled], not {value!r}"
    if op == "length" and not (isinstance(value, int) and is_number and value >= 0):
        return f"`length` takes a whole number from 0, not {value!r}"
    if op in ("lt", "le", "gt", "ge") and not (is_number or isinstance(value, str)):
        return f"`{op}` takes a number or a text, not {value!r}"
    if op in ("contains", "subset") and value is None:
        return f"`{op}` takes a value: nothing is demanded"
    return ""


def _untyped(predicate: Predicate) -> str:
    kind, value = predicate.value_type, predicate.value
    is_typed = kind not in (None, "auto", "text") and predicate.op in ("equals", "not_equals")
    if not is_typed or isinstance(value, list | dict):
        return ""
    text = str(value)
    return f"{value!r} is no {kind}" if compare(text, text, str(kind)).reason else ""


def _of_number(choice: ExchangeChoice, predicate: Predicate) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a condition on the number of exchanges, or on a status."""
    what = "number of exchanges" if choice.which == "count" else "status"
    if choice.which != "count" and choice.part != "status":
        return
    if predicate.at:
        yield ".at", f"a {what} is a number, and has no places in it: leave `at` out"
    elif choice.which != "count" and predicate.op == "exists":
        return
    elif predicate.op not in _NUMERIC:
        yield ".op", f"a {what} is a number: use {', '.join(_NUMERIC)}"
    else:
        outcomes = {holds(predicate.op, one, predicate.value) for one in _tried(choice, predicate)}
        if len(outcomes) == 1:
            hint = "; write it without quotes" if isinstance(predicate.value, str) else ""
            shown = f"{predicate.op} {predicate.value!r}{hint}"
            yield ".value", f"{'every' if True in outcomes else 'no'} {what} is {shown}{_only_ok(choice)}"


def _tried(choice: ExchangeChoice, predicate: Predicate) -> Sequence[int]:
    """Return the ends of what the number may be, and the neighbours of the numbers that a condition names."""
    possible = _COUNTS if choice.which == "count" else SUCCESS if choice.ok else STATUSES
    named = predicate.value if isinstance(predicate.value, list | tuple) else (predicate.value,)
    finite = (int(one) for one in named if isinstance(one, int | float) and isfinite(one))
    near = (one + by for one in finite for by in (-1, 0, 1))
    return [possible[0], possible[-1], *(number for number in near if number in possible)]


def _only_ok(choice: ExchangeChoice) -> str:
    is_narrowed = choice.which != "count" and choice.ok
    return ": only successful exchanges (2xx) count; give `ok: false` for others" if is_narrowed else ""
