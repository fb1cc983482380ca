"""Calls that read a site's API (`func:shopping_get_...`), answered from recorded replies.

The recorder asks what `plan_requests` names; credentials come from the caller and never enter the bundle.
"""

from __future__ import annotations

from typing import Any

import msgspec

from replaykit.decoders import decode_plain
from replaykit.replay.player import Replay
from replaykit.tasks.site_api import ORDERS, REVIEWS
from replaykit.trajectory.step import Probe

ORDER_URL = "shopping_get_latest_order_url"
"""The call that gives a URL."""

_FIELDS = {
    "shopping_get_sku_latest_review_author": ("nickname",),
    "shopping_get_sku_latest_review_rating": ("ratings", 0, "percent"),
    "shopping_get_sku_latest_review_text": ("detail",),
    "shopping_get_sku_latest_review_title": ("title",),
}
API_CALLS = (ORDER_URL, *_FIELDS)
"""Calls that an API answers (names as upstream spells them)."""


class ApiMissing(Exception):
    """The reply was not recorded; the argument is its code."""


class ApiError(Exception):
    """The reply is not what the benchmark can read."""


def api_answer(name: str, arguments: tuple[str, ...], replay: Replay, phase: str = "post") -> str:
    """Return what a call reads in a recorded reply.

    Raises `ApiMissing` if no reply was recorded, `ApiError` where the benchmark raises.
    """
    if len(arguments) != (0 if name == ORDER_URL else 1):
        raise ApiError(f"{len(arguments)} arguments")
    if name == ORDER_URL:
        return _order_url(_reply(ORDERS, replay, phase), replay)
    return _review(name, _reply(REVIEWS + arguments[0], replay, phase))


def _reply(name: str, replay: Replay, phase: str) -> Any:
    found = (page.seen for page in replay.probes if isinstance(page.seen, Probe))
    probe = next((one for one in found if one.name == name and one.phase == phase), None)
    if (
        probe is None
        or probe.status is None
        or not isinstance(probe.body, str)
        or probe.body not in replay.bundle
    ):
        raise ApiMissing(f"api:{name}")
    if probe.status in (401, 403) or probe.status >= 500:
        raise ApiMissing(f"api:{name}")  # the recorder was not let in: nothing is known
    if probe.status != 200:
        raise ApiError(f"status {probe.status}")
    try:
        return decode_plain(replay.bundle.blob(probe.body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ApiError("the reply is not JSON") from error


def _order_url(reply: Any, replay: Replay) -> str:
    number = _at(reply, ("items", 0, "increment_id"))
    roots = replay.trajectory.header.sites.get("shopping")
    if not roots:
        raise ApiMissing("sites.shopping")
    try:
        return f"{roots[0]}/sales/order/view/order_id/{int(number)}/"
    except (TypeError, ValueError) as error:
        raise ApiError(f"the order number {number!r}") from error


def _review(name: str, reply: Any) -> str:
    if isinstance(reply, list | dict | str) and not reply:
        return ""
    is_rating = name.endswith("_rating")
    if is_rating and _at(reply, (0, "ratings", 0, "rating_name")) != "Rating":
        raise ApiError("the first rating is not named Rating")
    found = _at(reply, (-1, *_FIELDS[name]))
    if not is_rating and not isinstance(found, str):
        raise ApiError(f"{found!r} is no text")
    return str(found)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError) as error:
            raise ApiError(f"the reply has no {key!r}") from error
    return value
