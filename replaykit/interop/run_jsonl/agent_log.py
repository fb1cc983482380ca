"""Agent logs `run.jsonl`, one JSON line an event: user, assistant, tool results with images, the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.errors import MalformedSource
from replaykit.interop.folder_search import files
from replaykit.interop.har.har_entries import stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.playwright_trace.trace_contexts import as_time
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.tool_calls import add_call
from replaykit.interop.uncertain_actions import uncertain
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Action, Answer
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import AgentInfo, Step

_HEAD = 4096
_BEGINNING = lazy_pattern(rb'[^{]{0,9}\{\s*("ts"\s*:\s*[\d.e+-]+\s*,\s*)?"t"\s*:')


class LoggedCall(Struct, kw_only=True):
    """One tool call."""

    id: str
    name: str
    arguments: Any = None


class LogLine(Struct, kw_only=True):
    """One line; which fields it has depends on `t`."""

    t: str
    ts: float | None = None
    text: str | None = None
    reasoning: str | None = None
    tool_calls: list[LoggedCall] | None = None
    call_id: str | None = None
    is_error: bool | None = None
    shots: list[str] | None = None
    answer: str | None = None
    session_id: str | None = None
    model: str | None = None
    agent_version: str | None = None


def read(run: Run, candidate: Candidate) -> None:
    """Read one log."""
    read_log(run, candidate.file)
    answer = run.header.pop("answer", None)
    run.end("unknown" if answer is None else "answered", answer=answer)


def read_log(run: Run, name: str) -> None:
    """Add the steps of a log; the answer is left in the run's header for the caller to end with."""
    lines = list(_lines(run, name))
    if not lines:
        run.source.malformed(name, "without a line that can be read", "an event a line")
    start = min((line.ts for line in lines if line.ts is not None), default=None)
    moment = as_time(start) if start is not None else None
    if moment is not None:
        run.header.update(created=stamp(moment), clock="source")
    asked = next((line.text for line in lines if line.t == "user"), None)
    final = next((line for line in reversed(lines) if line.t == "final"), None)
    run.task((final.session_id if final else None) or PurePosixPath(name).stem, intent=asked)
    models = (line.model for line in (*([final] if final else ()), *lines) if line.model)
    agent = AgentInfo(version=final.agent_version if final else None, model=next(models, None))
    if agent != AgentInfo():
        run.header["agent"] = agent
    _steps(run, lines, start, PurePosixPath(name).parent)
    run.header["answer"] = final.answer if final is not None else _last_text(run, lines)
    run.fills(actions="recorded", targets="partial", thoughts="recorded")
    named = sum(len(line.shots or ()) for line in lines if line.t == "tool_result")
    run.fills(
        screenshots="absent" if not run.image_count else "recorded" if run.image_count == named else "partial"
    )
    run.origin["alignment"] = "exact"


def _lines(run: Run, name: str) -> Iterator[LogLine]:
    for number, plain in run.lines(name):
        place = f"{name} line {number}"
        try:
            line = run.converted(plain, LogLine, place)
        except MalformedSource:
            line = None
        if line is not None and line.t in KINDS_OF_LINES:
            yield line
            continue
        # A kind that the layout does not have may be that of an action.
        run.cut("no event of an agent: kept beside the steps", place)
        run.keep(place, {"line": plain})


def _steps(run: Run, lines: list[LogLine], start: float | None, folder: PurePosixPath) -> None:
    results = {line.call_id: line for line in lines if line.t == "tool_result" and line.call_id}
    called = {call.id for line in lines if line.t == "assistant" for call in line.tool_calls or ()}
    for number, line in enumerate(lines):
        if line.t == "tool_result" and line.call_id not in called:
            run.cut("a result of a call that is nowhere: kept beside the steps", f"call {line.call_id!r:.80}")
            run.keep(f"result {number}", {"result": msgspec.to_builtins(line)})
    for turn, line in enumerate(lines):
        t = None if start is None or line.ts is None else max(0, round(line.ts - start))
        if line.t == "user" and line.text is not None:
            run.add(Message(role="user", kind="reply" if run.steps else "say", text=line.text, t=t))
        elif line.t == "assistant":
            is_last = line is lines[-1] or (lines[-1].t == "final" and lines[-1].answer == line.text)
            _turn(run, line, turn, t, is_last=is_last)
            for call in line.tool_calls or ():
                is_certain = call.id in results or not results
                _call(run, line, call, results.get(call.id), turn, t, folder, is_certain=is_certain)


def _turn(run: Run, line: LogLine, turn: int, t: int | None, *, is_last: bool) -> None:
    """Add an agent's text: an action in the wordings of `--actions`, or words to the user."""
    worded = _worded(run, line)
    if worded is not None:
        run.step(t=t, action=worded, thought=line.reasoning, turn=turn, raw=line.text)
    elif line.text and not is_last and (line.reasoning or not line.tool_calls):
        run.add(Message(role="agent", kind="say", text=line.text, t=t))


def _worded(run: Run, line: LogLine) -> Action | None:
    return None if line.tool_calls or not line.text else run.wordings.message_action(line.text)


def _last_text(run: Run, lines: list[LogLine]) -> str | None:
    """Return an agent's last text, where the log has no `final`; None where it still acted then."""
    turns = [line for line in lines if line.t == "assistant"]
    if not turns or turns[-1].tool_calls or run.is_cut:
        return None
    worded = _worded(run, turns[-1])
    if worded is None:
        return turns[-1].text
    return worded.text if isinstance(worded, Answer) else None


def _call(
    run: Run,
    line: LogLine,
    call: LoggedCall,
    result: LogLine | None,
    turn: int,
    t: int | None,
    folder: PurePosixPath,
    *,
    is_certain: bool,
) -> None:
    """Add the steps of a call; without a result among those of others, it was perhaps not carried out."""
    step = add_call(
        run, call.name, call.arguments, t=t, thought=line.reasoning or line.text, turn=turn,
        error=_error(result),
        raw=lambda arguments: {**msgspec.to_builtins(call), "arguments": arguments},
        returned=None if result is None else result.text or None,
        **({} if is_certain else {"described": uncertain}),
    )  # fmt: skip
    if result is not None:
        _shots(run, result, step, folder)


def _error(result: LogLine | None) -> Threw | None:
    return (
        Threw(name="ToolError", message=result.text or "") if result is not None and result.is_error else None
    )


def _shots(run: Run, result: LogLine, step: Step, folder: PurePosixPath) -> None:
    for path in result.shots or ():
        shot = run.screenshot_named(path, folder)
        if shot is not None:
            run.add(Observation(role="after", of=step.index, t=step.t, screenshot=shot))


def find(path: Path) -> Iterator[Candidate]:
    """Yield the logs under a path."""
    for file in files(path, ".jsonl"):
        if _is_log(file):
            name = file.stem if file.stem != "run" else file.resolve().parent.name
            yield Candidate(name=name, root=file.parent, file=file.name)


def _is_log(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD).replace(b"\0", b"")  # also of a file in UTF-16: reading it reports that
    except OSError:
        return False
    return _BEGINNING.match(head) is not None or _is_line(head.partition(b"\n")[0])


def _is_line(line: bytes) -> bool:
    """Whether a first line is an event of a log, its keys in any order."""
    try:
        plain = decode_json(line.strip())
    except JsonFault:
        return False
    return isinstance(plain, dict) and plain.get("t") in KINDS_OF_LINES


KINDS_OF_LINES = ("user", "assistant", "tool_result", "final")
"""Kinds of lines."""


IMPORTER = Importer(
    name="run-jsonl",
    reads="agent logs run.jsonl",
    looks_for='*.jsonl whose lines begin with {"t":',
    channels=letters("R task answer actions thoughts screenshots times; P targets messages"),
    find=find,
    read=read,
    options=("tools", "actions"),
)
