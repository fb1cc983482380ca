"""Untrusted text and data inside an HTML file, so that nothing of it can run.

Small data stand as JSON without `<`, `>` or `&`; large ones deflated and in base64. No string of theirs meets
the HTML parser but through `text`.
"""

from __future__ import annotations

import base64
import html
import json
import zlib
from hashlib import sha256
from typing import Any

import msgspec

LEVEL = 9
"""Of deflate. Bytes may differ between builds of zlib, what they inflate to does not."""

# JSON stays JSON, and no script of it can end, begin or hide in a comment.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
_CONTROLS = (0x7F, *range(0x80, 0xA0))
_INERT = str.maketrans(_ESCAPES) | {code: f"\\u{code:04x}" for code in _CONTROLS}
_SHOWN = dict.fromkeys(_CONTROLS, "\ufffd")


def text(value: str) -> str:
    """Return text that is safe between tags and in quoted attributes."""
    return html.escape(value, quote=True).translate(_SHOWN)


def inert_json(value: Any) -> str:
    """Return a value as JSON that can stand inside of a script element."""
    return _plain_json(value).decode().translate(_INERT)


def packed_json(value: Any) -> str:
    """Return a value as JSON, deflated, in base64."""
    return packed(_plain_json(value))


def packed(data: bytes) -> str:
    """Return bytes deflated (zlib), in base64."""
    return base64.b64encode(zlib.compress(data, LEVEL)).decode()


def data_block(id: str, kind: str, content: str) -> str:
    """Return a script element that is data. `id` and `kind` are ours; `content` is inert already."""
    return f'<script type="{kind}" id="{id}">{content}</script>\n'


def source_hash(source: str) -> str:
    """Return what a content security policy calls this script or style."""
    return "'sha256-" + base64.b64encode(sha256(source.encode()).digest()).decode() + "'"


def _plain_json(value: Any) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, msgspec.MsgspecError, OverflowError):
        # Lone surrogates and huge integers, which msgspec refuses: as escapes, and as digits.
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":"), allow_nan=False).encode()
