"""Targets of Playwright MCP's calls, as the snapshot before the call shows them under their references."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Action

_REFERENCE = lazy_pattern(r"(?:f\d{1,6})?e\d{1,9}")
_LINE = lazy_pattern(
    r"""[ ]*- '?(\w{1,64}) ("(?:[^"\\\n]|\\.){0,1024}")(?: \[[^\]\n]{0,256}\])*'?:?(?: [^\n]*)?"""
)
_SNAPSHOT = lazy_pattern(r"^(?:- |### )(?:Page )?Snapshot:?\s*\n```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PAGE_TEXT = ("evaluate", "run_code", "console_messages", "network_requests")
"""Suffixes of tools that return text written by a page."""


def snapshot_of(tool: str, returned: Any) -> str:
    """Return the snapshot in a tool's result; empty if absent, or if a page may have written it."""
    texts = returned if isinstance(returned, list) else [returned]
    texts = [one.get("text") if isinstance(one, dict) else one for one in texts]
    if tool.endswith(_PAGE_TEXT):
        return ""
    found = [one[1] for text in texts if isinstance(text, str) for one in _SNAPSHOT.finditer(text)]
    return found[-1] if len(found) == 1 else ""


def named_by_snapshot(snapshot: str, action: Action) -> Action:
    """Return an action with role and name of its target, if one line of the snapshot has its reference."""
    element = action.element
    ref = element.ref if element is not None else None
    if element is None or not ref or not snapshot or not _REFERENCE.fullmatch(ref):
        return action
    lines = [line for line in snapshot.split("\n") if f"[ref={ref}]" in line]
    node = _LINE.fullmatch(lines[0].rstrip("\r")) if len(lines) == 1 else None
    name = None if node is None or f"[ref={ref}]" in node[2] else _name(node[2])
    # A role without a name does not identify the target.
    if node is None or not name:
        return action
    return replace(action, element=replace(element, role=node[1], name=name))


def _name(quoted: str) -> str | None:
    try:
        name = decode_json(quoted.replace("''", "'").encode("utf-8", "replace"))
    except JsonFault:
        return None
    return name if isinstance(name, str) else None
