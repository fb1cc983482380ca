"""Runs of CUAVerifierBench: a row of `trajectories` is a run, rows of `annotations` are people's judgements.

Upstream: https://huggingface.co/datasets/microsoft/CUAVerifierBench; the log inside of a row is that of
https://github.com/microsoft/fara, `src/fara/fara_agent.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct

from replaykit.errors import MalformedSource
from replaykit.interop.extra_fields import holds_data
from replaykit.interop.har.har_entries import Base, moment, stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.table_rows import keys, row_at, rows, screenshot_bytes, tables
from replaykit.interop.tool_actions import computer_action
from replaykit.interop.tool_calls import own_action
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import (
    Action,
    Element,
    Fill,
    Goto,
    Press,
    Scroll,
    ToolCall,
    Type,
    Unknown,
    Wait,
)
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob
from replaykit.trajectory.step import AgentInfo

COLUMNS = ("task_id", "web_surfer_log")
"""Columns that mark a table of runs."""

NO_ANSWER = "<no_answer>"
"""Mark of a missing answer."""

TRAJECTORIES, ANNOTATIONS = "trajectories", "annotations"
"""Folders of the two tables."""

VERDICTS = {
    "uv": ("uv_rubric_score", "uv_outcome_success"),
    "mm": ("mm_is_success",),
    "verifier": ("verifier_is_success",),
    "gpt_eval": ("gpt_eval_json",),
}
"""Name of a judge of the data set's own to its columns."""

HUMAN = (
    "final_human_outcome_label", "final_human_process_label", "median_human_rubric_score_agnostic",
    "majority_human_outcome_vote",
)  # fmt: skip
"""Columns of what people agreed on, as the data set sums it up."""

_PART = lazy_pattern(r"(.+?)-\d{5}-of-\d{5}")
_AT = "#"
_TEXTS = lazy_pattern(r"Thought #\d+:\s*(.*?)(?=\nAction #)", re.DOTALL)
_CALL = lazy_pattern(r"Action #\d+: executing tool '([^']{0,64})' with arguments\s+(\{.*\})", re.DOTALL)
_PROTOCOLS = ("https://", "http://", "file://", "about:")


class VerifierRow(Struct, kw_only=True):
    """Fields of a row that are read; the verdicts are read by their columns."""

    task_id: str
    web_surfer_log: str
    instruction: str | None = None
    init_url: str | None = None
    start_timestamp: str | None = None
    end_timestamp: str | None = None
    final_answer: str | None = None
    is_aborted: bool | None = None


def read(run: Run, candidate: Candidate) -> None:
    """Read one row of a table of runs, and what people judged of it."""
    name, _, number = candidate.file.rpartition(_AT)
    plain = row_at(run.source, name, int(number))
    place = f"{name} row {number}"
    # Taken out first: images are bytes, which JSON cannot hold.
    shots = plain.pop("screenshots", None)
    # Verdicts must not stand where a judge of ours could read them.
    judged = {
        column: plain.pop(column, None) for column in (*HUMAN, *(c for own in VERDICTS.values() for c in own))
    }
    row = run.converted(_without_screenshots(plain), VerifierRow, place)
    run.task(row.task_id, intent=row.instruction, start_urls=(row.init_url,) if row.init_url else ())
    run.header["agent"] = AgentInfo(name="Fara")
    run.keep(place, {"end_timestamp": row.end_timestamp} if row.end_timestamp else {})
    if not row.web_surfer_log.strip():
        run.cut("without a log: what was done is not known", place)
    entries = list(_entries(run, row.web_surfer_log, place))
    base = _clock(run, row, entries)
    actions = [entry for entry in entries if entry.get("action") is not None]
    _fill(run, actions, _images(run, shots, place), base)
    _verdicts(run, judged, name)
    _annotations(run, name, row.task_id)
    _end(run, row)


def _without_screenshots(plain: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose other cells fit into JSON."""
    return dict(msgspec.to_builtins(plain))


def _entries(run: Run, log: str, place: str) -> Iterator[dict[str, Any]]:
    """Yield the entries of the log; an invalid line is a flaw."""
    for number, line in enumerate(log.splitlines(), 1):
        if not line.strip():
            continue
        where = f"{place} web_surfer_log line {number}"
        try:
            entry = decode_json(line.encode(), run.source.limits.depth)
        except JsonFault:
            entry = None
        if not isinstance(entry, dict):
            run.cut("a line that is no entry of the log: kept beside the steps", where)
            run.keep(where, {"line": line})
            continue
        stated = _with_action(entry)
        # An entry with an action is kept whole in its step.
        if stated.get("action") is None:
            run.keep(where, {key: value for key, value in entry.items() if holds_data(value)})
        yield stated


def _with_action(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry with its action; older logs hold thought and action as one text."""
    message = entry.get("message")
    call = _CALL.search(message) if isinstance(message, str) and entry.get("action") is None else None
    if call is None:
        return entry
    try:
        arguments = decode_json(call[2].encode())
    except JsonFault:
        return entry
    thought = _TEXTS.search(str(message))
    return {
        **entry,
        "action": call[1],
        "arguments": {**arguments, "thoughts": thought[1].strip() if thought else ""},
    }


def _clock(run: Run, row: VerifierRow, entries: list[dict[str, Any]]) -> Base:
    """Return where times count from: the harness wrote them without a zone."""
    times = [at for at in (_time(one.get("timestamp")) for one in entries) if at is not None]
    start = min(times, default=None)
    first = moment(row.start_timestamp)
    if first is not None:
        run.header["created"] = stamp(first)
    if start is not None:
        run.header["clock"] = "source"
    run.extra["start_timestamp"] = row.start_timestamp
    return Base(start=start)


def _time(text: Any) -> datetime | None:
    if not isinstance(text, str) or len(text) > 64:
        return None
    try:
        found = datetime.fromisoformat(text)
        # Only differences count here: any zone gives the same ones.
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _images(run: Run, cells: Any, place: str) -> list[Blob | None]:
    """Return the images in their order, None for each value that is no image."""
    if cells is None:
        return []
    if not isinstance(cells, list):
        run.source.malformed(f"{place} screenshots", type(cells).__name__, "a list of images")
    return [_image(run, cell, f"{place} screenshots[{at}]") for at, cell in enumerate(cells)]


def _image(run: Run, cell: Any, place: str) -> Blob | None:
    data = screenshot_bytes(cell)
    named = cell.get("path") if isinstance(cell, dict) else None
    run.keep(place, {"path": named} if named else {})
    if isinstance(data, str):
        shot = run.screenshot_at(data)
        if shot is None:
            run.flaw("a screenshot that is named and not there", place)
        return shot
    if data is None:
        run.flaw("no image: left out", place)
        return None
    run.source.check("member", len(data), place, "bytes")
    return run.screenshot_of(data, place)


def _fill(run: Run, actions: list[dict[str, Any]], shots: list[Blob | None], base: Base) -> None:
    """Add the steps: the first image shows the start, each other one what followed a step."""
    # One image more than steps: the start has one too.
    is_aligned = len(shots) == len(actions) + 1
    if is_aligned and shots[0] is not None:
        run.add(Observation(role="start", screenshot=shots[0]))
    for at, entry in enumerate(actions):
        _step(run, at, entry, shots[at + 1] if is_aligned else None, base)
    for shot in () if is_aligned else shots:
        if shot is not None:
            run.add(Observation(role="unaligned", screenshot=shot))
    run.origin["alignment"] = "order" if is_aligned else "unaligned"
    run.fills(actions="recorded", targets="partial", thoughts="recorded", urls="partial")
    whole = "recorded" if all(shots) else "partial"
    run.fills(
        screenshots=whole if is_aligned and run.image_count else "partial" if run.image_count else "absent"
    )


def _step(run: Run, turn: int, entry: dict[str, Any], shot: Blob | None, base: Base) -> None:
    arguments = entry.get("arguments")
    stated = dict(arguments) if isinstance(arguments, dict) else {}
    thought = stated.pop("thoughts", None)
    url, t = entry.get("url"), base.ms(_time(entry.get("timestamp")))
    url = url if isinstance(url, str) and url else None
    step = run.step(
        t=t,
        url=url,
        before=Observation(role="before", t=t, url=url) if url else None,
        action=_action(run, str(entry["action"]), stated),
        thought=thought if isinstance(thought, str) and thought else None,
        turn=turn,
        raw={key: value for key, value in entry.items() if holds_data(value)},
    )
    if shot is not None:
        run.add(Observation(role="after", of=step.index, screenshot=shot))


def _action(run: Run, name: str, stated: dict[str, Any]) -> Action:
    # Computer tools name the action in their arguments.
    own = stated.get("action")
    name = own if isinstance(own, str) and own else name
    arguments = {key: value for key, value in stated.items() if key != "action"}
    try:
        found = _MAKERS[name](arguments) if name in _MAKERS else None
    except (KeyError, TypeError, ValueError, OverflowError, msgspec.ValidationError):
        found = None
    # Fara's own names go first: some equal those of other tools, with other meanings.
    found = found or own_action(run, name, arguments) or computer_action(name, arguments)
    return found or Unknown(name=name[:64] or "action", raw=msgspec.json.encode(arguments).decode())


def _visit(stated: Mapping[str, Any]) -> Action:
    """Return where Fara's address bar leads: words are searched for."""
    url = stated["url"]
    if not isinstance(url, str) or not url:
        raise ValueError
    if url.startswith(_PROTOCOLS):
        return Goto(url=url)
    # As Fara itself does with words in its address bar.
    return _search({"query": url}) if " " in url else Goto(url="https://" + url)


def _search(stated: Mapping[str, Any]) -> Action:
    return Goto(url=f"https://www.bing.com/search?q={quote_plus(stated['query'])}&FORM=QBLH")


def _type(stated: Mapping[str, Any]) -> Action:
    """Return what is typed at a place; Enter follows unless the call sets `press_enter` to false."""
    text = stated.get("text", stated.get("text_value"))
    x, y = stated["coordinate"]
    element = Element(point=(round(x), round(y)))
    kind = Fill if stated.get("delete_existing_text") is True else Type
    return kind(element=element, value=str(text), submit=stated.get("press_enter", True) is not False)


def _scroll(stated: Mapping[str, Any]) -> Action:
    # The number gives the way: what is done is one page of it.
    way = -1 if float(stated["pixels"]) > 0 else 1
    return Scroll(dy=way, amount="up" if way < 0 else "down")


def _keys(stated: Mapping[str, Any]) -> Action:
    found = stated["keys"]
    return Press(key="+".join(str(one) for one in found)) if found else _refuse()


def _refuse() -> Any:
    raise ValueError


def _wait(stated: Mapping[str, Any]) -> Action:
    return Wait(ms=round(float(stated.get("time", stated.get("duration", 3))) * 1000))


_MAKERS: dict[str, Callable[[Mapping[str, Any]], Action]] = {
    "visit_url": _visit,
    "web_search": _search,
    "type": _type,
    "input_text": _type,
    "scroll": _scroll,
    "key": _keys,
    "keypress": _keys,
    "wait": _wait,
    "sleep": _wait,
    "pause_and_memorize_fact": lambda stated: ToolCall(
        name="pause_and_memorize_fact", arguments=dict(stated)
    ),
    "terminate": lambda stated: ToolCall(name="terminate", arguments=dict(stated)),
    "stop": lambda stated: ToolCall(name="terminate", arguments=dict(stated)),
}
"""Fara's own actions, by `src/fara/fara_agent.py`; what else there is are those of any computer tool."""


def _verdicts(run: Run, judged: dict[str, Any], name: str) -> None:
    """Add the verdicts of the data set's judges, and what its people agreed on."""
    for judge, columns in VERDICTS.items():
        value = {column: judged[column] for column in columns if holds_data(judged[column])}
        if value:
            run.add(Imported(kind="judgement", name=judge, value=value, file=name))
    value = {column: judged[column] for column in HUMAN if judged[column] is not None}
    if value:
        run.add(Imported(kind="label", name="human", value=value, file=name))


def _annotations(run: Run, name: str, task: str) -> None:
    """Add each annotation, and the label that a strict majority of those made without help gives."""
    votes: Counter[str] = Counter()
    for table in _judged_tables(run, name):
        for row in _rows(run, table):
            if row.get("task_id") != task or row.get("split", split_of(name)) != split_of(name):
                continue
            blind = row.get("human_judgement_outcome")
            votes[str(blind)] += 1
            who = row.get("annotator")
            stated = {key: value for key, value in row.items() if holds_data(value)}
            run.add(
                Imported(
                    kind="label", name=who if isinstance(who, str) else "annotator", value=stated, file=table
                )
            )
    if votes:
        run.add(Imported(kind="label", name="majority", value=_majority(votes), file=ANNOTATIONS))


def _majority(votes: Counter[str]) -> dict[str, Any]:
    right, wrong = votes["Correct"], votes["Incorrect"]
    # A tie shows that people disagree, so it decides nothing.
    outcome = "success" if right > wrong else "failure" if wrong > right else "unsure"
    return {"outcome": outcome, "votes": dict(sorted(votes.items()))}


def _judged_tables(run: Run, name: str) -> list[str]:
    """Return the names of the tables of annotations that belong to a table of runs."""
    names = [one for one in run.source.names() if one.lower().endswith((".parquet", ".jsonl", ".json"))]
    return [one for one in names if ANNOTATIONS in one and split_of(one) in (split_of(name), ANNOTATIONS)]


def _rows(run: Run, table: str) -> list[dict[str, Any]]:
    try:
        run.source.read(table)  # counts it, and keeps its digest
        return [dict(msgspec.to_builtins(row, str_keys=True)) for row in rows(run.source, table)]
    except MalformedSource as fault:
        run.flaw(f"unreadable ({fault.fields['found']}): annotations are left out", table)
        return []


def split_of(name: str) -> str:
    """Return the split in a table's file name: `internal-00000-of-00003.parquet` is `internal`."""
    stem = PurePosixPath(name).stem.removesuffix(".text")
    part = _PART.fullmatch(stem)
    return part[1] if part else stem


def _end(run: Run, row: VerifierRow) -> None:
    answer = None if row.final_answer in (None, NO_ANSWER) else row.final_answer
    if row.is_aborted:
        run.end("stopped", answer=answer)
    else:
        run.end("unknown" if answer is None else "answered", answer=answer)


def find(path: Path) -> Iterator[Candidate]:
    """Yield the rows of the tables of runs under a path."""
    for file in tables(path, *COLUMNS):
        # From there, the annotations lie inside of the source.
        root = file.parent.parent if file.parent.name == TRAJECTORIES else file.parent
        name = file.relative_to(root).as_posix()
        for number, key in enumerate(keys(file, "task_id")):
            yield Candidate(name=f"{split_of(name)}/{key or number}", root=root, file=f"{name}{_AT}{number}")


IMPORTER = Importer(
    name="cuaverifierbench",
    reads="rows of CUAVerifierBench, with what people judged",
    looks_for=f"{TRAJECTORIES}/*.parquet, or JSON lines, with {', '.join(COLUMNS)}",
    channels=letters("R task answer actions thoughts; P targets urls; o times screenshots"),
    find=find,
    read=read,
    options=("shots", "actions"),
)
"""Reads the layout; Parquet needs the extra `parquet`."""
