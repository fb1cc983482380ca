"""Texts as TOML writes them."""

from __future__ import annotations

import json

from replaykit.patterns import lazy_pattern

_SURROGATE = lazy_pattern(r"[\ud800-\udfff]")


def toml_text(text: str) -> str:
    """Return a basic string of TOML: the escapes of JSON, and U+007F. Half a character becomes U+FFFD."""
    plain = _SURROGATE.sub("\ufffd", text)
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
