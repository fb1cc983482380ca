"""Requests to a site's API that calls of WebArena's targets need: their names, and where they go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from replaykit.patterns import lazy_pattern

ORDERS = "shopping.latest_order"
"""Name of the request for the newest order."""

REVIEWS = "shopping.reviews:"
"""Start of the name of a request for the reviews of a product; its number follows."""

_CALL = lazy_pattern(
    r"func:\s*(shopping_get_(latest_order_url|sku_latest_review_\w+))\s*\(\s*(?:['\"]([^'\"]*)['\"])?\s*\)"
)
_NEWEST = (
    "searchCriteria[sortOrders][0][field]=created_at&searchCriteria[sortOrders][0][direction]=DESC"
    "&searchCriteria[pageSize]=1"
)


def api_requests(texts: Iterable[str], sites: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Return name and URL of every request that calls among these texts need, each once."""
    roots = sites.get("shopping")
    found = (_CALL.fullmatch(text) for text in texts)
    wanted = [(ORDERS if call[3] is None else REVIEWS + call[3], call[3]) for call in found if call]
    if not roots:
        return []
    return [(name, roots[0].rstrip("/") + _path(number)) for name, number in dict.fromkeys(wanted)]


def is_api_call(text: str) -> bool:
    """Return whether a target's URL or locator is a call that an API answers."""
    return _CALL.fullmatch(text) is not None


def _path(number: str | None) -> str:
    if number is None:
        return f"/rest/V1/orders?{_NEWEST}"
    return f"/rest/V1/products/{quote(number, safe='')}/reviews"
