"""Values of locators: sums, truth, arrays of what lists hold, numbers read from texts."""

from __future__ import annotations

import math
from typing import Any

from replaykit.errors import Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom, Node
from replaykit.replay.selectors.locator_values import BLANK, UNDEFINED, JsError, Nodes, text

# A leading `0x` makes parseInt read hexadecimal digits; parseFloat stops behind its zero.
_NUMERALS = {
    "parseFloat": lazy_pattern(
        rf"[{BLANK}]*([+-]?(?:Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))"
    ),
    "parseInt": lazy_pattern(rf"[{BLANK}]*([+-]?(?:0[xX]|[0-9]+))"),
}
_DIGITS_MAX = 400
_CHARACTERS_A_NODE = 16


def truthy(value: Any) -> bool:
    """Return whether a value counts as true."""
    if value is None or value is UNDEFINED or (isinstance(value, float) and math.isnan(value)):
        return False
    return isinstance(value, Dom | Node | list) or bool(value)


def add(left: Any, right: Any, locator: str) -> Any:
    """Return `left + right`: texts joined, or numbers added."""
    if all(isinstance(side, int | float) and not isinstance(side, bool) for side in (left, right)):
        return _plain_number(left + right)
    if any(isinstance(side, str) or type(side) is list for side in (left, right)):
        return text(left) + text(right)
    raise Unsupported(locator=locator, reason="a sum of neither texts nor numbers")


def items(value: Any, locator: str) -> list[Any]:
    """Return the items of a list, or the characters of a text, as an array."""
    if isinstance(value, list):
        return list(value)
    if isinstance(value, str):
        return list(value)
    if value is None or value is UNDEFINED:
        raise JsError("TypeError", f"{text(value)} is not iterable")
    raise Unsupported(locator=locator, reason="the items of what is no list")


def numeral(name: str, value: Any, locator: str) -> int | float:
    """Return `parseFloat(value)` or `parseInt(value)`."""
    found = _NUMERALS[name].match(text(value))
    if found is None:
        return math.nan
    if len(found[1]) > _DIGITS_MAX or found[1].lower() in ("0x", "+0x", "-0x"):
        raise Unsupported(locator=locator, reason="such a number")
    return _plain_number(float(found[1]))


def size(value: Any) -> int:
    """Return how many nodes a value is worth in memory."""
    if isinstance(value, str):
        return len(value) // _CHARACTERS_A_NODE
    return len(value) if isinstance(value, list) else 0


def plain(value: Any, locator: str) -> Any:
    """Return an item of an array as the driver hands it over: nodes become texts."""
    if isinstance(value, Node | Dom):
        return "ref: <Node>"
    if isinstance(value, list) and not isinstance(value, Nodes):
        return [plain(part, locator) for part in value]
    if isinstance(value, Nodes) or (isinstance(value, float) and not math.isfinite(value)):
        raise Unsupported(locator=locator, reason="such an item of an array")
    return None if value is UNDEFINED else value


def _plain_number(value: int | float) -> int | float:
    """Give whole numbers as integers: JavaScript has one number type and prints `3`, not `3.0`."""
    is_whole = float(value).is_integer() and abs(value) < 2**53
    is_negative_zero = value == 0 and math.copysign(1, value) < 0
    return int(value) if is_whole and not is_negative_zero else float(value)
