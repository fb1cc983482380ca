"""Session logs of Playwright's MCP server: `session.md`, with screenshots and consoles that lie beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec.structs import replace

from replaykit.interop.folder_search import files, is_marked
from replaykit.interop.imported_run import Run
from replaykit.interop.password_masking import exactly_without, names_password, typed_by_code
from replaykit.interop.playwright_mcp.mcp_log import (
    CALL,
    USER,
    McpEntry,
    console_lines,
    console_of,
    links_of,
    page_of,
    parse,
    tabs_of,
    tree_of,
)
from replaykit.interop.playwright_mcp.snapshot_targets import named_by_snapshot
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.tool_calls import called_action, form_call
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Action, TextAction
from replaykit.trajectory.exchange import Console
from replaykit.trajectory.observation import Observation, TabView
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import Blob, Threw

LOG = "session.md"
"""The file of a session."""

_HELD = ("snapshot", "inlineSnapshot", "attachments")
"""Sections that observations hold."""

_LEVELS = {"warn": "warning", "verbose": "debug", "trace": "log"}
_FIELD = lazy_pattern(r'(?m)^(\s*\'?- .*?"((?:[^"\\\n]|\\.)*)".*?): (\S.*)$')


def read(run: Run, candidate: Candidate) -> None:
    """Read one session."""
    log = parse(run.source.text(candidate.file))
    if not log.entries:
        run.source.malformed(candidate.file, "without a call of a tool", f"lines that begin with {CALL!r}")
    run.task(None)
    # A call that threw is not in the log, and it may have acted before that.
    run.fills(actions="partial", targets="partial", urls="partial")
    run.origin["tool"] = "@playwright/mcp"
    shown = ""
    for place, entry in enumerate(log.entries, 1):
        if entry.is_torn:
            run.flaw("an entry with a part that has no end or is no JSON", f"{LOG} line {entry.line}")
        if entry.number and entry.number != place:
            run.flaw(
                "an entry whose number is another one: some are lost or forged", f"{LOG} line {entry.line}"
            )
        folder = PurePosixPath(candidate.file).parent
        tree = _tree_text(run, entry, folder)
        _add(run, entry, place, shown, tree)
        shown = tree or ""
    for line, text in log.strays:
        run.flaw("a line that belongs to no entry: kept beside the steps", f"{LOG} line {line}")
        run.keep(f"{LOG} line {line}", {"text": text})
    run.fills(screenshots="partial" if run.image_count else "absent")
    run.origin["alignment"] = "exact"
    run.end("unknown", cause="harness")


def _add(run: Run, entry: McpEntry, place: int, shown: str, tree: str | None) -> None:
    """Add what an entry did; `shown` and `tree` are the page's trees before and after it."""
    if entry.is_user:
        run.flaw("an action of a person, not of the agent: kept beside the steps", f"{LOG} line {entry.line}")
        run.keep(f"{LOG} [{place}]", _of_person(run, entry))
        return
    actions = [named_by_snapshot(shown, _without_secret(action, entry)) for action in _actions(run, entry)]
    error = entry.result.get("error")
    for at, action in enumerate(actions):
        is_last = at == len(actions) - 1
        run.step(
            action=action, turn=place, raw={"tool": entry.name, "args": entry.args},
            returned=_returned(entry) if is_last else None,
            error=Threw(name="Error", message=str(error)) if error and is_last else None,
        )  # fmt: skip
    _look(run, entry, tree)
    _consoles(run, entry)


_SECRETS = lazy_pattern(
    r"(?:process\.env\[|os\.environ\[|System\.getenv\(|GetEnvironmentVariable\()(['\"])(\w{1,256})\1[\])]"
)
"""Code that takes a secret of `--secrets`: the call itself has its name in the place of the text."""


def _without_secret(action: Action, entry: McpEntry) -> Action:
    """Return an action with a mask for a text that is the name of a secret, which the server entered."""
    names = {found[2] for found in _SECRETS.finditer(str(entry.result.get("code") or ""))}
    is_secret = isinstance(action, TextAction) and action.value in names
    return replace(action, value=MASKED) if is_secret else action


def _of_person(run: Run, entry: McpEntry) -> dict[str, Any]:
    """Return a person's action; the entry's code names the field that was filled."""
    kept = {"user": entry.name, "args": entry.args, **entry.result}
    if run.options.keeps_secrets:
        return kept
    for typed in typed_by_code(str(entry.result.get("code") or "")):
        run.secret(typed)
        kept = {key: exactly_without(part, typed) for key, part in kept.items()}
    return kept


def _actions(run: Run, entry: McpEntry) -> list[Action]:
    """Return what a call did: one action, of a form one for each of its fields."""
    fields = entry.args.get("fields") if isinstance(entry.args, dict) else None
    if entry.name != "browser_fill_form" or not isinstance(fields, list) or not fields:
        return [called_action(run, entry.name, entry.args)]
    return [
        called_action(run, *(form_call(one) if isinstance(one, dict) else (entry.name, one)))
        for one in fields
    ]


def _returned(entry: McpEntry) -> Any:
    """Return what a call gave back, without what its observation holds."""
    found = {
        key: value for key, value in entry.result.items() if key not in _HELD and value not in (None, "")
    }
    others = [one for one in _attached(entry) if one.get("type") != "image"]
    return {**found, **({"attachments": others} if others else {})} or None


def _attached(entry: McpEntry) -> list[dict[str, Any]]:
    parts = entry.result.get("attachments")
    return [one for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []


def _look(run: Run, entry: McpEntry, text: str | None) -> None:
    page, tabs, tree = page_of(entry), tabs_of(entry), _tree(run, entry, text)
    shots = _shots(run, entry)
    if not page and not tabs and tree is None and not shots:
        return
    current = next((one for one in tabs if one[1]), None)
    url = page.get("URL") or (current[3] if current else None)
    title = page.get("Title") or (current[2] if current else None)
    run.add(
        Observation(
            role="after", of=run.steps - 1, url=url or None, title=title or None, a11y=tree,
            screenshot=shots[0] if shots else None,
            tabs=tuple(TabView(page=at, url=link, title=name, active=on) for at, on, name, link in tabs),
        )
    )  # fmt: skip
    if tree is not None:
        run.fills(a11y="partial")
    for shot in shots[1:]:
        run.add(Observation(role="unaligned", screenshot=shot))


def _tree(run: Run, entry: McpEntry, text: str | None) -> Blob | None:
    if text is None and entry.snapshot:
        run.flaw("a snapshot that is not in the folder", entry.snapshot)
    return run.put("text/yaml", _masked(run, text).encode()) if text else None


def _tree_text(run: Run, entry: McpEntry, folder: PurePosixPath) -> str | None:
    text = tree_of(entry)
    if text is not None or not entry.snapshot:
        return text
    name = run.source.ending(entry.snapshot, folder)
    return None if name is None else run.text_beside(name)


def _masked(run: Run, tree: str) -> str:
    """Return a tree without the values of fields whose names call them passwords."""
    if run.options.keeps_secrets:
        return tree

    def mask(found: re.Match[str]) -> str:
        if not names_password(found[2]):
            return found[0]
        run.secret(found[3].strip("\"'"))
        return f"{found[1]}: {MASKED}"

    return _FIELD.sub(mask, tree)


def _shots(run: Run, entry: McpEntry) -> list[Blob]:
    """Return the screenshots of a call: those in the log, else those that it names."""
    held = [one.get("data") for one in _attached(entry) if one.get("type") == "image"]
    found = [run.screenshot_in(data) for data in held if isinstance(data, str)]
    # Results of all other tools are text of the page, which may name any file.
    named = links_of(entry) if "screenshot" in entry.name and not any(found) else []
    if named:
        found = [run.screenshot_at(path) for path in named]
        if not any(found):
            run.flaw("a screenshot that is not in the folder", named[0][:80])
    return [one for one in found if one is not None]


def _consoles(run: Run, entry: McpEntry) -> None:
    for path, first, last in console_of(entry):
        name = run.source.ending(path)
        if name is None:
            run.flaw("a console log that is not in the folder", path[:80])
            continue
        lines = (run.text_beside(name) or "").split("\n")[max(0, first - 1) : last]
        for level, text, place in console_lines("\n".join(lines)):
            level = _LEVELS.get(level, level)
            run.add(Console(level=level, text=text, source=place, step=run.steps - 1))
            run.fills(console="partial")


def find(path: Path) -> Iterator[Candidate]:
    """Yield the sessions under a path."""
    for file in files(path, LOG):
        if file.name == LOG and (is_marked(file, CALL.encode()) or is_marked(file, USER.encode())):
            folder = file.parent
            # Screenshots and consoles lie in the folder around that of the session.
            root = folder if folder == path or file == path else folder.parent
            name = file.relative_to(root).as_posix()
            yield Candidate(name=folder.resolve().name, root=root, file=name)


IMPORTER = Importer(
    name="playwright-mcp",
    reads="session logs of Playwright's MCP server",
    looks_for=f"session-<time>/{LOG}",
    channels=letters("P actions targets urls; o screenshots a11y console"),
    find=find,
    read=read,
    options=("tools",),
)
