"""ATIF v1.0 to v1.8, Harbor's trajectory format: tool calls of a turn are steps that share its thought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
from msgspec import Struct, field

from replaykit.errors import UnsupportedVersion
from replaykit.interop.atif.atif_segments import is_continued, parts_elsewhere
from replaykit.interop.folder_search import json_files
from replaykit.interop.har.har_entries import Base, moment, stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.playwright_mcp.snapshot_targets import named_by_snapshot, snapshot_of
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.tool_calls import add_call
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Action, Answer, Unknown
from replaykit.trajectory.exchange import Message
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob, Threw
from replaykit.trajectory.step import AgentInfo, Step

VERSIONS = range(9)
"""Minor versions that are read."""

EXTRA = "replaykit"
"""Key of `extra` that holds what ATIF has no place for."""

KINDS = ("say", "ask", "reply")
"""Kinds of messages that an export names."""

SOURCES = ("system", "user", "agent")
"""Who speaks in a turn."""

_VERSION = lazy_pattern(r"ATIF-v1\.(\d{1,3})")


class AtifToolCall(Struct, kw_only=True):
    """One call."""

    tool_call_id: str = ""
    function_name: str
    arguments: Any = None
    extra: dict[str, Any] | None = None


class AtifResult(Struct, kw_only=True):
    """Result of a call."""

    source_call_id: str | None = None
    content: str | list[dict[str, Any]] | None = None
    extra: dict[str, Any] | None = None


class SeenTurn(Struct, kw_only=True):
    """Result of a turn."""

    results: list[AtifResult] = []


class AtifStep(Struct, kw_only=True):
    """One step of ATIF."""

    source: str = ""
    step_id: Any = None
    message: str | list[dict[str, Any]] | None = None
    timestamp: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[AtifToolCall] | None = None
    observation: SeenTurn | None = None
    is_copied_context: bool | None = None
    extra: dict[str, Any] | None = None


class Agent(Struct, kw_only=True):
    """Who ran."""

    name: str | None = None
    version: str | None = None
    model_name: str | None = None


class Root(Struct, kw_only=True):
    """The file."""

    schema_version: str
    steps: list[AtifStep]
    agent: Agent = field(default_factory=Agent)
    session_id: str | None = None
    extra: dict[str, Any] | None = None


def read(run: Run, candidate: Candidate) -> None:
    """Read one trajectory file."""
    read_atif(run, candidate.file)
    answer = run.header.pop("answer", None)
    run.end("unknown" if answer is None else "answered", answer=answer)


def read_atif(run: Run, name: str) -> None:
    """Add the steps of a file; the answer is left in the run's header for the caller to end with."""
    plain = run.source.json(name)
    _check_version(run, name, plain.get("schema_version") if isinstance(plain, dict) else None)
    root = run.converted(plain, Root, name)
    run.extra["session_id"] = root.session_id
    run.keep(name, {f"extra.{key}": part for key, part in (root.extra or {}).items() if key != EXTRA})
    run.origin.update(version=root.schema_version, tool=_tool(root.agent))
    run.header["agent"] = AgentInfo(
        name=root.agent.name, version=root.agent.version, model=root.agent.model_name
    )
    run.fills(actions="recorded", targets="partial", thoughts="recorded", messages="partial")
    turns = _turns(run, name, root)
    starts = [at for turn in turns if (at := moment(turn.timestamp)) is not None]
    base = Base(start=min(starts, default=None))
    if base.start is not None:
        run.header.update(created=stamp(base.start), clock="source")
    for place, what in parts_elsewhere(plain):
        run.flaw(what, f"{name} {place}")
        run.fills(actions="partial")
    _task(run, name, root, turns)
    folder = PurePosixPath(name).parent
    last = None if is_continued(plain) else _answering(turns)
    given = AtifResults(run, name, turns)
    for turn in turns:
        _turn(run, turn, base, folder, given, is_answer=turn is last)
    run.header["answer"] = None if last is None else _answer(run, last)
    has_shots = run.image_count > 0
    run.fills(replies="partial", screenshots="partial" if has_shots else "absent")
    run.origin["alignment"] = "exact"


def _check_version(run: Run, name: str, found: Any) -> None:
    match = _VERSION.fullmatch(found) if isinstance(found, str) else None
    if match is not None and int(match[1]) in VERSIONS:
        return
    if found is None:
        run.source.malformed(f"{name} schema_version", "missing", "ATIF-v1.0 to ATIF-v1.8")
    raise UnsupportedVersion(
        format=run.source.format, source=run.source.name, place=f"{name} schema_version",
        found=repr(found)[:80], expected="ATIF-v1.0 to ATIF-v1.8", advice="Install a newer replaykit-web.",
    )  # fmt: skip


def _tool(agent: Agent) -> str | None:
    return " ".join(part for part in (agent.name, agent.version) if part) or None


def _turns(run: Run, name: str, root: Root) -> list[AtifStep]:
    """Return the turns in the order of the file, numbered from 1; what is no turn is kept."""
    found = []
    _check_order(run, name, [turn.step_id for turn in root.steps])
    for number, turn in enumerate(root.steps, 1):
        place = f"steps[{number - 1}]"
        run.keep(name, {f"{place}.step_id": turn.step_id} if turn.step_id != number else {})
        turn.step_id = number
        if turn.timestamp and moment(turn.timestamp) is None:
            run.flaw("a timestamp that is no time: kept beside the steps", f"{name} {place}")
            run.keep(name, {f"{place}.timestamp": turn.timestamp})
        run.keep(name, dict(_unread(place, turn)))
        if turn.source not in SOURCES:
            run.cut("of a source that is unknown: kept beside the steps", f"{name} {place}")
        elif not turn.is_copied_context:
            found.append(turn)
    return found


def _check_order(run: Run, name: str, ids: list[Any]) -> None:
    """Report numbers that are out of order; where some are left out, steps are missing."""
    numbers = [0, *(id if isinstance(id, int) else -1 for id in ids)]
    for at, (before, id) in enumerate(pairwise(numbers)):
        if id <= before:
            run.flaw("a step_id out of order: steps are read in the order of the file", f"{name} steps[{at}]")
            return
    if numbers[-1] > len(ids) and not run.is_cut:
        run.flaw(
            "a step_id above the number of steps: steps are missing, actions are partial",
            f"{name} step {numbers[-1]}",
        )
        run.fills(actions="partial")


def _unread(path: str, turn: AtifStep) -> Iterator[tuple[str, Any]]:
    """Yield what of a turn has no place in a step: words of the system, copies, what is no text, no turn."""
    if turn.is_copied_context or turn.source not in SOURCES:
        yield path, msgspec.to_builtins(turn)
        return
    if turn.source == "system":
        yield f"{path}.message", turn.message
    for at, part in enumerate(_parts(turn.message)):
        if part.get("type") != "text":
            yield f"{path}.message[{at}]", part
    extras = [("extra", turn.extra)]
    extras += [(f"tool_calls[{at}].extra", call.extra) for at, call in enumerate(turn.tool_calls or ())]
    results = turn.observation.results if turn.observation else []
    extras += [(f"observation.results[{at}].extra", one.extra) for at, one in enumerate(results)]
    for where, extra in extras:
        other = {key: value for key, value in (extra or {}).items() if key != EXTRA}
        if other:
            yield f"{path}.{where}", other


class AtifResults:
    """Results of calls, by the turn that made the call: a result may stand in a later one."""

    snapshot = ""
    """The page as the last call showed it."""

    def __init__(self, run: Run, name: str, turns: list[AtifStep]) -> None:
        self._given: dict[tuple[int, str], list[AtifResult]] = {}
        self._loose: dict[int, list[AtifResult]] = {}
        made: dict[str, int] = {}
        for turn in turns:
            own = {call.tool_call_id: turn.step_id for call in turn.tool_calls or ()}
            made |= own
            for result in turn.observation.results if turn.observation else ():
                self._sort(run, f"{name} step {turn.step_id}", turn, result, made)

    def _sort(self, run: Run, place: str, turn: AtifStep, result: AtifResult, made: dict[str, int]) -> None:
        id = result.source_call_id
        if id is None:
            self._loose.setdefault(turn.step_id, []).append(result)
        elif id in made:
            if made[id] != turn.step_id:
                run.flaw("a result of a call of another step: it is kept with that call", place)
            self._given.setdefault((made[id], id), []).append(result)
        else:
            run.cut("a result of a call that is nowhere: it is kept with the step before it", place)
            self._loose.setdefault(turn.step_id, []).append(result)

    def of(self, turn: AtifStep, call: AtifToolCall) -> list[AtifResult]:
        """Return what a call gave; the last call of a turn has what names no call."""
        # After the last call, the page shows the effect of them all.
        is_last = turn.tool_calls is not None and call is turn.tool_calls[-1]
        loose = self._loose.pop(turn.step_id, []) if is_last else []
        return [*self._given.pop((turn.step_id, call.tool_call_id), []), *loose]

    def left(self, turn: AtifStep) -> list[AtifResult]:
        """Return the results in a turn without calls that name none."""
        return self._loose.pop(turn.step_id, [])


def _task(run: Run, name: str, root: Root, turns: list[AtifStep]) -> None:
    task = _own_fields(root.extra).get("task")
    if isinstance(task, dict) and isinstance(task.get("id"), str) and isinstance(task.get("intent"), str):
        run.task(task["id"], **{key: value for key, value in task.items() if key != "id"})
        return
    asked = next((_words(turn.message) for turn in turns if turn.source == "user"), None)
    run.task(root.session_id or PurePosixPath(name).stem, intent=asked)


def _turn(
    run: Run, turn: AtifStep, base: Base, folder: PurePosixPath, given: AtifResults, *, is_answer: bool
) -> None:
    if turn.source == "system":
        return
    t = base.ms(moment(turn.timestamp))
    for call in turn.tool_calls or ():
        results = given.of(turn, call)
        step = _call(run, turn, call, results, given, t)
        for result in results:
            _result(run, result, step.index, t, folder)
    worded = _worded(run, turn)
    if worded is not None:
        thought = turn.reasoning_content or None
        run.step(t=t, action=worded, thought=thought, turn=turn.step_id, raw=_words(turn.message))
    else:
        _message(run, turn, t, is_answer=is_answer)
    if turn.reasoning_content and not turn.tool_calls and worded is None:
        run.keep(f"step {turn.step_id}", {"reasoning_content": turn.reasoning_content})
    for at, result in enumerate(given.left(turn)):
        run.keep(f"step {turn.step_id}", {f"observation.results[{at}]": msgspec.to_builtins(result)})
        _result(run, result, run.steps - 1, t, folder)


def _call(
    run: Run,
    turn: AtifStep,
    call: AtifToolCall,
    results: list[AtifResult],
    given: AtifResults,
    t: int | None,
) -> Step:
    """Add the step of a call; the snapshot before it names its target, and its own is for the next."""
    fields = {
        "t": t, "thought": turn.reasoning_content or None, "turn": turn.step_id,
        "returned": _returned(results), "error": _failure(results), **_extra(call),
    }  # fmt: skip
    described = partial(named_by_snapshot, given.snapshot)
    snapshots = (snapshot_of(call.function_name, one.content) for one in results)
    given.snapshot = next(filter(None, snapshots), "")
    unknown = _unknown(call)
    if unknown is not None:
        return run.step(action=unknown, raw=_raw(call, call.arguments), **fields)
    raw = partial(_raw, call)
    return add_call(run, call.function_name, call.arguments, raw=raw, described=described, **fields)


def _returned(results: list[AtifResult]) -> Any:
    contents = [_without_screenshots(one.content) for one in results if one.content]
    return contents[0] if len(contents) == 1 else contents or None


def _failure(results: list[AtifResult]) -> Threw | None:
    """Return the error of a call that Harbor marks as failed; None for any other."""
    failed = next((one for one in results if (one.extra or {}).get("tool_result_is_error") is True), None)
    if failed is None:
        return None
    return Threw(name="Error", message=failed.content if isinstance(failed.content, str) else "")


def _worded(run: Run, turn: AtifStep) -> Action | None:
    """Return the action of a turn that calls nothing, in the wordings of `--actions`; else None."""
    return (
        None
        if turn.tool_calls or turn.source != "agent"
        else run.wordings.message_action(_words(turn.message))
    )


def _message(run: Run, turn: AtifStep, t: int | None, *, is_answer: bool) -> None:
    """Add the message of a turn, without the text of the task and without the answer."""
    own, words = _own_fields(turn.extra), _words(turn.message)
    role, kind = ("user" if turn.source == "user" else "agent"), own.get("kind")
    is_silent = role == "agent" and (not words or (is_answer and not turn.tool_calls))
    if is_silent or kind == "task":
        return
    if kind not in KINDS:
        kind = "reply" if role == "user" and run.steps else "say"
    approved = own.get("approved") if isinstance(own.get("approved"), bool) else None
    step = run.steps - 1 if run.steps else None
    run.add(Message(role=role, kind=kind, text=words, approved=approved, t=t, step=step))


def _raw(call: AtifToolCall, arguments: Any) -> dict[str, Any]:
    return {"function_name": call.function_name, "arguments": arguments or {}}


def _unknown(call: AtifToolCall) -> Unknown | None:
    """Return the action that an export of ours had no name for; None for any other call."""
    raw = call.arguments.get("raw") if isinstance(call.arguments, dict) else None
    is_ours = _own_fields(call.extra).get("unknown") is True and isinstance(raw, str)
    return Unknown(name=call.function_name, raw=str(raw)) if is_ours else None


def _extra(call: AtifToolCall) -> dict[str, Any]:
    """Return fields of the step that ATIF has no place for."""
    own = _own_fields(call.extra)
    fields: dict[str, Any] = {}
    if isinstance(own.get("url"), str):
        fields["url"] = own["url"]
    error = own.get("error")
    if isinstance(error, dict) and isinstance(error.get("name"), str):
        fields["error"] = Threw(name=error["name"], message=str(error.get("message", "")))
    return fields


def _result(run: Run, result: AtifResult, of: int, t: int | None, folder: PurePosixPath) -> None:
    seen = _own_fields(result.extra)
    shots = [found for part in _parts(result.content) if (found := _image(run, part, folder))]
    for more in shots[1:]:
        run.add(Observation(role="unaligned", t=t, screenshot=more))
    shot = shots[0] if shots else None
    if of < 0 or (shot is None and not seen):
        return
    url, title = (seen.get(name) if isinstance(seen.get(name), str) else None for name in ("url", "title"))
    run.add(Observation(role="after", of=of, t=t, url=url, title=title, screenshot=shot))
    if url is not None:
        run.fills(urls="partial")


def _image(run: Run, part: Mapping[str, Any], folder: PurePosixPath) -> Blob | None:
    source = part.get("source")
    if part.get("type") != "image" or not isinstance(source, dict):
        return None
    if isinstance(source.get("data"), str):
        return run.screenshot_in(source["data"])
    path = source.get("path")
    return run.screenshot_named(path, folder) if isinstance(path, str) else None


def _parts(content: Any) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [block for text in _blocks(content) if (block := _image_block(text)) is not None]
    return content if isinstance(content, list) else []


def _blocks(content: str) -> list[str]:
    """Return the blocks of a result as Harbor writes those of Claude Code: JSON between empty lines."""
    return content.split("\n\n") if '"base64"' in content else [content]


def _image_block(text: str) -> dict[str, Any] | None:
    """Return a block that holds a screenshot; None for any other text."""
    if not text.startswith("{") or '"base64"' not in text:
        return None
    try:
        block = decode_json(text.encode("utf-8", "replace"))
    except JsonFault:
        return None
    source = block.get("source") if isinstance(block, dict) and block.get("type") == "image" else None
    return block if isinstance(source, dict) and isinstance(source.get("data"), str) else None


def _without_screenshots(content: Any) -> Any:
    """Return a result without the blocks that observations hold."""
    if not isinstance(content, str):
        return content
    return "\n\n".join(text for text in _blocks(content) if _image_block(text) is None)


def _words(message: Any) -> str:
    if isinstance(message, str):
        return message
    texts = (part.get("text") for part in _parts(message) if part.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _answering(turns: list[AtifStep]) -> AtifStep | None:
    """Return the agent's last turn, whose text is the answer; None without such a turn or an answer."""
    turns_of_agent = [turn for turn in turns if turn.source == "agent"]
    is_answer = (
        bool(turns_of_agent)
        and bool(_words(turns_of_agent[-1].message))
        and _own_fields(turns_of_agent[-1].extra).get("kind") not in KINDS
    )
    return turns_of_agent[-1] if is_answer else None


def _answer(run: Run, turn: AtifStep) -> str | None:
    worded = _worded(run, turn)
    if worded is None:
        return _words(turn.message)
    return worded.text if isinstance(worded, Answer) else None


def _own_fields(extra: dict[str, Any] | None) -> dict[str, Any]:
    """Return what an export of ours writes in a place that ATIF leaves free."""
    own = (extra or {}).get(EXTRA)
    return own if isinstance(own, dict) else {}


def _is_one(plain: Any) -> bool:
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    return isinstance(version, str) and version.startswith("ATIF-")


def find(path: Path) -> Iterator[Candidate]:
    """Yield the trajectory files under a path."""
    for file in json_files(path, _is_one, b'"schema_version"', b"ATIF-"):
        # Runs of one benchmark all have this file name.
        name = file.stem if file.stem != "trajectory" else file.resolve().parent.name
        yield Candidate(name=name, root=file.parent, file=file.name)


IMPORTER = Importer(
    name="atif",
    reads="ATIF v1.0 to v1.8",
    looks_for="*.json with schema_version ATIF-v1.*",
    channels=letters("R actions thoughts; P task targets answer messages replies; o times screenshots urls"),
    find=find,
    read=read,
    options=("tools", "actions"),
)
