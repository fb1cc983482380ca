"""The log `session.md` of Playwright's MCP server: calls of tools, and what a person did in the same browser.

Two forms are read. In the newer one a call ends with a JSON object of sections. In the older one, up to
release 0.0.55, its parts are text between fences, which may hold fences themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.patterns import lazy_pattern

CALL, USER = "### Tool call: ", "### User action: "
"""How an entry begins."""

_SNAPSHOT = "- Snapshot: "
_FENCE = "```"
_PARTS = {"- Args": "args", "- Result": "result", "- Error": "error", "- Code": "code"}
_NUMBER = lazy_pattern(r"(\d{1,9})\.snapshot\.yml")


class McpEntry(Struct, kw_only=True):
    """One entry."""

    line: int
    """Line where it begins, from 1."""
    name: str
    """Tool, or what the person did."""
    is_user: bool
    """A person acted, not the agent."""
    args: Any = None
    """Arguments."""
    result: dict[str, Any] = {}
    """Sections of the answer: `result error code page tabs snapshot events attachments` and others."""
    snapshot: str = ""
    """File of the accessibility tree, in the older form."""
    is_torn: bool = False
    """A part of it has no end, or is no JSON."""

    @property
    def number(self) -> int:
        """Place of the entry, from 1, by the name of its snapshot; 0 if absent."""
        found = _NUMBER.fullmatch(self.snapshot)
        return int(found[1]) if found else 0


class Log(Struct, kw_only=True):
    """A whole log."""

    entries: list[McpEntry]
    strays: list[tuple[int, str]]
    """Lines that belong to no entry: number from 1, text."""


def parse(text: str) -> Log:
    """Return the entries of a log; never fails."""
    lines = text.replace("\r\n", "\n").split("\n")
    log = Log(entries=[], strays=[])
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        entry = log.entries[-1] if log.entries else None
        if line.startswith((CALL, USER)):
            mark = CALL if line.startswith(CALL) else USER
            log.entries.append(McpEntry(line=at, name=line[len(mark) :].strip(), is_user=mark == USER))
        elif entry is not None and line.rstrip() in _PARTS:
            at = _add(entry, _PARTS[line.rstrip()], lines, at)
        elif entry is not None and line.startswith(_SNAPSHOT):
            entry.snapshot = line[len(_SNAPSHOT) :].strip()
        elif line.strip():
            log.strays.append((at, line))
    return log


def _add(entry: McpEntry, part: str, lines: list[str], at: int) -> int:
    """Read the block of a part into its entry; return the line after it."""
    if at >= len(lines) or not lines[at].startswith(_FENCE):
        entry.is_torn = True
        return at
    is_json = lines[at].rstrip() == _FENCE + "json"
    end = next((n for n in range(at + 1, len(lines)) if _closes(lines, n, is_json=is_json)), None)
    block = "\n".join(lines[at + 1 : end])
    entry.is_torn = entry.is_torn or end is None
    _set(entry, part, _value(entry, block) if is_json else block)
    return len(lines) if end is None else end + 1


def _closes(lines: list[str], at: int, *, is_json: bool) -> bool:
    """Whether a line ends a block: text may hold such lines, JSON may not."""
    if lines[at].rstrip() != _FENCE:
        return False
    after = lines[at + 1] if at + 1 < len(lines) else ""
    return is_json or not after.strip() or after.rstrip() in _PARTS or after.startswith(_SNAPSHOT)


def _value(entry: McpEntry, block: str) -> Any:
    try:
        return decode_json(block.encode("utf-8", "replace"))
    except JsonFault:
        entry.is_torn = True
        return block


def _set(entry: McpEntry, part: str, value: Any) -> None:
    if part == "args":
        entry.args = value
    elif part == "result" and isinstance(value, dict):
        entry.result = {**value, **entry.result}
    else:
        entry.result = {**entry.result, part: value}


_LINK = lazy_pattern(r"\[[^\]\n]*\]\(([^)\n]+)\)")
_IMAGE = lazy_pattern(r"[^\s()\[\]'\"]+\.(?:png|jpe?g|webp)\b", re.IGNORECASE)
_ENTRIES = lazy_pattern(r"New console entries: (\S+?)#L(\d{1,9})(?:-L(\d{1,9}))?")
_TAB = lazy_pattern(r"- (\d{1,6}): (\(current\) )?\[(.*)\]\((.*)\)")
_PAGE = lazy_pattern(r"- Page (URL|Title): (.*)")
_CONSOLE = lazy_pattern(r"\[\s*\d+ms\] \[(\w+)\] (.*?)(?: @ (\S+:\d+))?", re.DOTALL)


def page_of(entry: McpEntry) -> dict[str, str]:
    """Return `URL` and `Title` of the page after a call, if its result states them."""
    text = entry.result.get("page")
    return {m[1]: m[2] for m in _PAGE.finditer(text)} if isinstance(text, str) else {}


def tabs_of(entry: McpEntry) -> list[tuple[int, bool, str, str]]:
    """Return place, whether it is the current one, title and URL of each open tab."""
    text = entry.result.get("tabs")
    found = [_TAB.fullmatch(line) for line in text.split("\n")] if isinstance(text, str) else []
    return [(int(m[1]), bool(m[2]), m[3], m[4]) for m in found if m is not None]


def tree_of(entry: McpEntry) -> str | None:
    """Return the accessibility tree that a call gave."""
    parts = (entry.result.get(name) for name in ("snapshot", "inlineSnapshot"))
    return next((one for one in parts if isinstance(one, str) and one), None)


def links_of(entry: McpEntry) -> list[str]:
    """Return the paths of screenshots that a result names."""
    text = entry.result.get("result")
    if not isinstance(text, str):
        return []
    named = [*_LINK.findall(text), *_IMAGE.findall(text)]
    return [path for path in dict.fromkeys(named) if _IMAGE.fullmatch(path)]


def console_of(entry: McpEntry) -> Iterator[tuple[str, int, int]]:
    """Yield file, first and last line of the console entries that came with a call."""
    text = entry.result.get("events")
    for m in _ENTRIES.finditer(text) if isinstance(text, str) else ():
        yield m[1], int(m[2]), int(m[3] or m[2])


def console_lines(text: str) -> list[tuple[str, str, str | None]]:
    """Return level, text and place of each entry of a part of a console log."""
    whole: list[str] = []
    for line in text.split("\n"):
        if _CONSOLE.match(line) or not whole:
            whole.append(line)
        else:
            whole[-1] += "\n" + line
    found = (_CONSOLE.fullmatch(one) for one in whole)
    return [(m[1].lower(), m[2], m[3]) for m in found if m is not None]
