"""Inspect's logs, a run a sample: calls of tools are steps, their results what the steps gave."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from replaykit.errors import InteropError, UnsupportedVersion
from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import PEEK_MAX, files, is_marked, peek
from replaykit.interop.har.har_entries import Base, moment, stamp
from replaykit.interop.imported_run import INERT, Run
from replaykit.interop.inspect.inspect_turns import (
    CallResults,
    InspectCall,
    InspectMessage,
    Part,
    add_result,
    named_by_tree,
    parts,
    text_of,
    whole,
)
from replaykit.interop.inspect.tool_events import ToolEvent, ToolEvents
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.repaired_values import plain_number
from replaykit.interop.source_files import Archive, SourceLimits, kind_of
from replaykit.interop.tool_calls import add_call, called_action
from replaykit.trajectory.action import Answer, Unknown
from replaykit.trajectory.exchange import Imported, Message
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import AgentInfo, Step

ENDING, JSON_ENDING = ".eval", ".json"
"""How the names of logs end: an archive with a member per sample, and one JSON file with all of them."""

VERSION = 2
"""Version of logs that is read."""

HEADERS = ("header.json", "_journal/start.json")
"""Members that say what was run; a log that was broken off has only the second."""

MARKS = (b'"status"', b'"eval"', b'"run_id"')
"""Marks at the beginning of a JSON log."""

STATES = ("started", "success", "cancelled", "error")
"""Values of `status` in a log."""

OF_THE_LOG = ("results", "stats", "reductions")
"""Keys of a header on all samples together."""

_LIMITS = {"message": "max_steps", "turn": "max_steps", "time": "timeout", "working": "timeout"}


class ModelOutput(Struct, kw_only=True):
    """The model's last message."""

    completion: str = ""


class Sample(Struct, kw_only=True):
    """One member `samples/<id>_epoch_<n>.json`."""

    id: str | int
    epoch: int
    input: Any
    messages: list[InspectMessage] = []
    output: ModelOutput | None = None
    scores: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    limit: dict[str, Any] | None = None
    attachments: dict[str, Any] = {}
    events: list[Any] = []
    events_data: Any = None
    started_at: str | None = None


def read(run: Run, candidate: Candidate) -> None:
    """Read one sample of a log."""
    is_json = candidate.file.lower().endswith(JSON_ENDING) and candidate.root.is_dir()
    name, plain = (_sample_of_json if is_json else _member)(run, candidate)
    sample: Sample = run.converted(plain, Sample, name)
    # Inspect moves long texts and images out of the messages.
    used = whole(sample.input, sample.attachments).used
    for at, one in enumerate(sample.messages):
        used |= _resolve(run, sample, one, f"{name} messages[{at}]")
    run.task(str(sample.id), intent=_asked(sample))
    run.fills(actions="recorded", targets="partial", thoughts="partial", messages="partial")
    base = _clock(run, sample)
    _add_turns(run, sample, CallResults(run, name, sample.messages), base)
    _leave_out(run, sample, used)
    run.fills(screenshots="partial" if run.image_count else "absent")
    run.origin["alignment"] = "exact"
    for scorer, score in (sample.scores or {}).items():
        run.add(Imported(kind="label", name=scorer, value=score, file=name))
    _end(run, sample)


def _member(run: Run, candidate: Candidate) -> tuple[str, Any]:
    """Return the name of a sample and what it holds; read the header of its archive."""
    if not candidate.file:
        run.source.malformed("the archive", "no sample", "members samples/<id>_epoch_<n>.json")
    name = next((one for one in HEADERS if one in run.source), None)
    if name is None:
        run.source.malformed("the archive", f"neither {HEADERS[0]} nor {HEADERS[1]}", "one of both")
    _read_header(run, name, run.source.json(name))
    samples = {*_samples(run.source.names()), name}
    for other in run.source.names():
        run.leave_out(other, int(other not in samples))
    return candidate.file, run.source.json(candidate.file)


def _sample_of_json(run: Run, candidate: Candidate) -> tuple[str, Any]:
    """Return the place of a sample and what it holds; read the header of its file."""
    name = candidate.file
    if not candidate.parts:
        path = run.source.path(name)
        if path.stat().st_size > PEEK_MAX:
            found = f"a log of {path.stat().st_size} bytes"
            wanted = f"at most {PEEK_MAX}; convert it: inspect log convert --to eval"
            run.source.malformed(name, found, wanted)
    plain = run.source.json(name)
    ((_, at, _),) = candidate.parts or ((name, -1, 0),)
    samples = _listed(plain)
    if not 0 <= at < len(samples):
        run.source.malformed(f"{name} samples", "empty", "a list with a sample")
    _read_header(run, name, {key: value for key, value in plain.items() if key != "samples"})
    return f"{name} samples[{at}]", samples[at]


def _listed(plain: Any) -> list[Any]:
    """Return the samples of a JSON log."""
    found = plain.get("samples") if isinstance(plain, dict) else None
    return found if isinstance(found, list) else []


def _read_header(run: Run, name: str, plain: Any) -> None:
    if not isinstance(plain, dict):
        run.source.malformed(name, kind_of(plain), "object")
    _check_version(run, name, plain.get("version"))
    about = _object(plain.get("eval"))
    packages, model = _object(about.get("packages")), about.get("model")
    tool = packages.get("inspect_ai")
    run.origin.update(
        version=str(VERSION), tool=f"inspect_ai {tool}" if isinstance(tool, str) else "inspect_ai"
    )
    run.header["agent"] = AgentInfo(harness="inspect_ai", model=model if isinstance(model, str) else None)
    run.keep(
        name, {key: value for key, value in plain.items() if key not in OF_THE_LOG and holds_data(value)}
    )
    # They are about other samples as well.
    for key in OF_THE_LOG:
        run.leave_out(key, int(holds_data(plain.get(key))))


def _check_version(run: Run, name: str, found: Any) -> None:
    if found is None:
        run.source.malformed(f"{name} version", "missing", str(VERSION))
    number = plain_number(found)
    if number == VERSION:
        return
    is_newer = number is not None and number > VERSION
    advice = "Install a newer replaykit-web." if is_newer else "Convert it: inspect log convert --to eval."
    raise UnsupportedVersion(
        format=run.source.format, source=run.source.name, place=f"{name} version", found=repr(found)[:80],
        expected=str(VERSION), advice=advice,
    )  # fmt: skip


def _resolve(run: Run, sample: Sample, one: InspectMessage, place: str) -> set[str]:
    """Put attachments in the place of their references; return the keys of those."""
    used: set[str] = set()
    for part in ("content", "tool_calls", "error"):
        found = whole(getattr(one, part), sample.attachments)
        if found.missing:
            run.flaw("an attachment that is not in the file", place)
        setattr(one, part, found.value)
        used |= found.used
    return used


def _asked(sample: Sample) -> str | None:
    """Return the words of the task: the text given, or the users' messages among those given."""
    given = whole(sample.input, sample.attachments).value
    if isinstance(given, str):
        return given
    asked = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    texts = [text_of(one.get("content")) for one in asked if one.get("role") == "user"]
    return "\n".join(text for text in texts if text) or None


def _clock(run: Run, sample: Sample) -> Base:
    base = Base(start=moment(sample.started_at))
    if base.start is not None:
        run.header.update(created=stamp(base.start), clock="source")
    return base


def _add_turns(run: Run, sample: Sample, given: CallResults, base: Base) -> None:
    asked, last = _asked(sample), _last(sample)
    made = _Calls(run, given, ToolEvents(sample.events), sample.attachments, base)
    for number, one in enumerate(sample.messages):
        if one.role == "assistant":
            _add_turn(run, one, number, made, is_last=one is last)
        elif one.role == "user":
            _add_words(run, one, number, asked)
        elif one.role != "tool":
            run.keep(f"messages[{number}]", {"role": one.role, "content": one.content})
    for id, event in made.events.left():
        # An agent `react` takes its submission out of the messages, and it touches no page.
        if isinstance(called_action(run, event.function, event.arguments), INERT):
            continue
        # Events show calls that were cut out of the messages, as by compaction, and those of other agents.
        run.flaw("a call that no message holds: it is left out, actions are partial", f"call {id!r:.80}")
        run.fills(actions="partial")


def _add_words(run: Run, one: InspectMessage, number: int, asked: str | None) -> None:
    """Add the user's messages to the agent, without the task itself."""
    words = text_of(one.content)
    if words and not (words == asked and one.source == "input"):
        _add_message(run, "user", words)
    _keep_parts(run, f"messages[{number}]", one)


def _add_message(run: Run, role: str, words: str) -> None:
    run.add(Message(role=role, kind="say", text=words, step=run.steps - 1 if run.steps else None))


def _add_turn(
    run: Run,
    one: InspectMessage,
    number: int,
    made: _Calls,
    *,
    is_last: bool,
) -> None:
    thought, words, calls = parts(one.content, Part.THOUGHT), text_of(one.content), one.calls()
    worded = None if calls else run.wordings.message_action(words)
    if worded is not None:
        run.step(action=worded, thought=thought, turn=number, raw=words)
    # The last words are the answer.
    elif words and not is_last:
        _add_message(run, "agent", words)
    for call in calls:
        made.add(call, thought=thought, turn=number)
    if one.broken():
        run.flaw("a call without a function: it is kept, actions are partial", f"messages[{number}]")
        run.keep(f"messages[{number}]", {"tool_calls": one.tool_calls})
        run.fills(actions="partial")
    if thought and not calls and not is_last and worded is None:
        # No step and no answer has a place for this thought.
        run.keep(f"messages[{number}]", {"reasoning": thought})
    _keep_parts(run, f"messages[{number}]", one)


class _Calls(NamedTuple):
    """Calls of a sample: what they gave, and what the events say of them."""

    run: Run
    given: CallResults
    events: ToolEvents
    attachments: dict[str, Any]
    base: Base

    def add(self, call: InspectCall, *, thought: str | None, turn: int) -> None:
        """Add a call, as it was carried out: an approver may have changed or stopped it."""
        run, event, described = self.run, self.events.of(call.id), partial(named_by_tree, self.given.tree)
        result, place = self.given.of(call.id), f"messages[{turn}]"
        function, arguments = self._carried_out(call, event, place)
        if call.parse_error:
            run.keep(place, {"tool_calls.parse_error": call.parse_error})
        fields: dict[str, Any] = {"thought": thought, "turn": turn}
        if result is None and event is None and not self.events.is_empty:
            # The sample ended before the call was made, or while it was.
            raw = msgspec.json.encode(arguments).decode()
            run.step(
                action=Unknown(name=function[:64] or "call", raw=raw), raw=_raw(function, arguments), **fields
            )
            return
        failed = event.error if event is not None else None
        step = add_call(
            run, function, arguments, t=None if event is None else self.base.ms(moment(event.timestamp)),
            raw=partial(_raw, function), returned=result and result.returned,
            error=failed if result is None else result.error, described=described, **fields,
        )  # fmt: skip
        if result is not None:
            add_result(run, result, step.index)

    def _carried_out(self, call: InspectCall, event: ToolEvent | None, place: str) -> tuple[str, Any]:
        """Return what was called; what the message asked for is kept if it was something else."""
        found = whole(event.arguments if event is not None else None, self.attachments)
        if (
            event is None
            or found.missing
            or not (isinstance(found.value, dict) and isinstance(call.arguments, dict))
        ):
            return call.function, call.arguments
        own = (event.function or call.function, found.value)
        if own != (call.function, call.arguments) and not call.parse_error:
            self.run.flaw("a call that an approver changed: what was asked for is kept beside", place)
            self.run.keep(place, {"tool_calls": _raw(call.function, call.arguments)})
            return own
        return call.function, call.arguments


def _raw(function: str, arguments: Any) -> dict[str, Any]:
    return {"function": function, "arguments": arguments}


def _keep_parts(run: Run, place: str, one: InspectMessage) -> None:
    """Keep parts of a message that are neither words nor thoughts."""
    other = parts(one.content, Part.OTHER)
    if other:
        run.keep(place, {"content": other})


def _leave_out(run: Run, sample: Sample, used: set[str]) -> None:
    run.leave_out("events", len(sample.events))
    run.leave_out("events_data", int(holds_data(sample.events_data)))
    for id in sample.attachments.keys() - used:
        run.leave_out(f"attachments.{id[:64]}")


def _last(sample: Sample) -> InspectMessage | None:
    """Return the agent's last message, where it called nothing any more; None where something followed."""
    turns = [one for one in sample.messages if one.role == "assistant"]
    return turns[-1] if turns and not turns[-1].tool_calls else None


def _end(run: Run, sample: Sample) -> None:
    answer = _answer(run, sample)
    last = _last(sample)
    thought = None if last is None else parts(last.content, Part.THOUGHT)
    error, limit = sample.error, sample.limit
    if error is not None:
        run.keep(
            "error", {key: value for key, value in error.items() if key != "message" and holds_data(value)}
        )
        threw = Threw(name="Error", message=str(error.get("message", "")))
        run.end("crashed", answer=answer, thought=thought, error=threw)
    elif limit is not None:
        run.keep("limit", {"limit": limit})
        run.end(_LIMITS.get(str(limit.get("type")), "stopped"), answer=answer, thought=thought)
    else:
        run.end("stopped" if answer is None else "answered", answer=answer, thought=thought)


def _answer(run: Run, sample: Sample) -> str | None:
    """Return what was scored as the answer; None where the last turn still acted and submitted nothing."""
    last = _last(sample)
    worded = None if last is None else run.wordings.message_action(text_of(last.content))
    if worded is not None:
        return worded.text if isinstance(worded, Answer) else None
    submitted = any(isinstance(one, Step) and isinstance(one.action, Answer) for one in run.events)
    if last is None and not submitted:
        return None
    # Scorers read the completion, which need not be the last message.
    scored = whole(sample.output.completion if sample.output else "", sample.attachments).value
    return scored or (text_of(last.content) if last else run.last_message()) or None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _samples(names: list[str]) -> list[str]:
    return [one for one in names if one.startswith("samples/") and one.endswith(".json")]


def find(path: Path) -> Iterator[Candidate]:
    """Yield the samples of the logs under a path; a broken log is one run, which fails by name."""
    for file in files(path, ENDING, JSON_ENDING):
        yield from _in_archive(file) if file.name.lower().endswith(ENDING) else _in_json(file)


def _in_archive(file: Path) -> Iterator[Candidate]:
    try:
        archive = Archive(IMPORTER.name, file, SourceLimits())
        names = _samples(archive.names())
        archive.close()
    except InteropError:
        # Reading it later reports why it is broken.
        names = []
    for name in names:
        yield Candidate(name=name[len("samples/") : -len(".json")], root=file, file=name)
    if not names:
        yield Candidate(name=file.stem, root=file)


def _in_json(file: Path) -> Iterator[Candidate]:
    plain = peek(file)
    if not (_is_log(plain) if plain is not None else is_marked(file, *MARKS)):
        return
    samples = _listed(plain)
    for at, one in enumerate(samples):
        sample = _object(one)
        name = f"{sample.get('id', at)}_epoch_{sample.get('epoch', 1)}"
        yield Candidate(name=name, root=file.parent, file=file.name, parts=((file.name, at, at + 1),))
    if not samples:
        yield Candidate(name=file.stem, root=file.parent, file=file.name)


def _is_log(plain: Any) -> bool:
    return isinstance(plain, dict) and plain.get("status") in STATES and "task" in _object(plain.get("eval"))


IMPORTER = Importer(
    name="inspect",
    reads="logs of Inspect, a run a sample",
    looks_for=f"*{ENDING} with samples/<id>_epoch_<n>.json; *{JSON_ENDING} with status, eval, samples",
    channels=letters("R task answer actions; P targets thoughts messages; o times screenshots"),
    find=find,
    read=read,
    options=("tools", "actions"),
)
