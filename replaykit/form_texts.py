"""Encoded forms in bodies and queries: `name=value&name=value`, in the charset of the page that sent them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import quote_plus, unquote_to_bytes

from replaykit.charsets import ENCODED, SHIFTS, utf8_text
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.redaction_marks import UNREAD

PageCodec: TypeAlias = Callable[[], str | None]
"""Returns the codec of the pages that are not in UTF-8; None = unknown. It is asked for other texts only."""

_TEXT = lazy_pattern(r"[^&=+#]+")


def form_in_utf8(text: str, codec: PageCodec) -> str:
    """Return an encoded form whose texts in another charset are in UTF-8, as all others are.

    `UNREAD` stands for what cannot be read.
    """
    if ENCODED.search(text) is None:
        return text
    return _TEXT.sub(lambda found: _in_utf8(found[0], codec), text)


def url_in_utf8(url: str, codec: PageCodec) -> str:
    """Return a URL whose query is in UTF-8; all before it always is."""
    head, mark, query = url.partition("?")
    return head + mark + form_in_utf8(query, codec) if query else url


def text_of(data: bytes, codec: PageCodec) -> str:
    """Return bytes that are text in UTF-8, or else in the charset of the pages."""
    text = utf8_text(data)
    if text is None:
        text = data.decode(codec() or "utf-8", "replace")
    for sign in ("\ufffd", *SHIFTS):
        text = text.replace(sign, UNREAD)
    return text


def _in_utf8(text: str, codec: PageCodec) -> str:
    data = unquote_to_bytes(text)
    return text if utf8_text(data) is not None else quote_plus(text_of(data, codec))
