"""Files of other tools that no layout reads: what each is, and what of the same tool can be imported.

An error then says more than that nothing was found. A file is known by its name, its first bytes or its keys.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from replaykit.interop.folder_search import files, first_line, peek
from replaykit.patterns import lazy_pattern

LOOK_MAX = 1000
"""Files of a folder whose names are looked at."""

_HAR = "save the requests there as HAR"
_SCRIPT = "which says what to do and not what happened: record its run with `replaykit record`"
_SCRIPTS = "which say what to do and not what happened: record the run with `replaykit record`"
_SAVED = "which holds requests that someone saved and not those that were sent"
PAGES_ONLY = "which shows no actions: import a trace of Playwright instead"

_NO_LAYOUT = "which no layout reads; rows with a column `action` are a `table`"
_OPENHANDS = f"events of OpenHands, {_NO_LAYOUT}"
_MESSAGES = (
    "which no layout reads as it is; rows with the message of each turn in a column `action` are a `table`"
)
_SPANS = "which hold no pages: export the runs of the agent's own tool"
_SKYVERN = f"{_NO_LAYOUT}; record the next run with `replaykit record`"
_STAGEHAND = "which is for people: write `stagehand.history` or the result of `agent.execute` as JSON"
_WEBLINX = "which no layout reads; the rows of its data set are a `table`"
_TESTS = "which says which tests passed and not what happened: record the run with `replaykit record`"
TASKS = "which say what to do and not what happened: give them as `--task FILE` to an import of runs"

_SHEET = "which no layout reads: save its sheet as CSV, which is a `table`"
_PICKLE = "which may run code: those of BrowserGym are read, as part of the folder of their experiment"
FLOWS = "flows of mitmproxy; write them as HAR: `mitmdump -nr FILE --set hardump=net.har`"

_ENDINGS = {
    ".saz": f"a session of Fiddler; {_HAR}: File > Export Sessions > HTTPArchive",
    ".chls": f"a session of Charles; {_HAR}: File > Export Session",
    ".chlsj": f"a session of Charles; {_HAR}: File > Export Session",
    ".mitm": FLOWS,
    ".flow": FLOWS,
    ".flows": FLOWS,
    ".pcap": f"captured packets; {_HAR}, in the browser",
    ".pcapng": f"captured packets; {_HAR}, in the browser",
    ".krecorder": f"a script of Katalon Recorder, {_SCRIPT}",
    ".side": f"a script of Selenium IDE, {_SCRIPT}",
    ".robot": f"a suite of Robot Framework, {_SCRIPT}",
    ".jmx": f"a plan of JMeter, {_SCRIPT}",
    ".xlsx": f"a workbook, {_SHEET}",
    ".xls": f"a workbook, {_SHEET}",
    ".ods": f"a workbook, {_SHEET}",
    ".pkl": f"a pickle, {_PICKLE}",
    ".pickle": f"a pickle, {_PICKLE}",
    ".pkl.gz": f"a pickle, {_PICKLE}",
    ".mhtml": f"one saved page, {PAGES_ONLY}",
    ".warc": f"a web archive, {PAGES_ONLY}",
    ".wacz": f"a web archive, {PAGES_ONLY}",
    ".webarchive": f"one saved page, {PAGES_ONLY}",
    ".webm": f"a video, {PAGES_ONLY}",
    ".mp4": f"a video, {PAGES_ONLY}",
}
"""End of a name to what the file is."""

_KEYS: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"info", "item"}), f"a collection of Postman, {_SAVED}"),
    (frozenset({"__export_format", "resources"}), f"an export of Insomnia, {_SAVED}; its HAR holds replies"),
    (frozenset({"title", "steps"}), f"a flow of Chrome's Recorder, {_SCRIPT}"),
    (frozenset({"tests", "url", "id"}), f"a script of Selenium IDE, {_SCRIPT}"),
    (frozenset({"sdk_version", "prompt", "steps"}), f"a trajectory of Nova Act, {_NO_LAYOUT}"),
    (frozenset({"toolCallId", "name", "arguments"}), f"events of Agent TARS, {_NO_LAYOUT}"),
    (frozenset({"source", "url", "action", "arguments"}), f"a log of Magentic-One, {_NO_LAYOUT}"),
    (frozenset({"cypressVersion", "runs"}), f"results of Cypress, {_TESTS}"),
    (frozenset({"stats", "results", "meta"}), f"a report of Mochawesome, {_TESTS}"),
    (frozenset({"type", "content", "tool_calls"}), f"messages of LangChain, {_MESSAGES}"),
    (frozenset({"type", "call_id", "actions"}), f"items of OpenAI's Responses, {_MESSAGES}"),
    (frozenset({"from", "value"}), f"messages of a model in pairs of `from` and `value`, {_MESSAGES}"),
    (frozenset({"engine", "engine_log", "instruction"}), f"a log of LaVague, {_NO_LAYOUT}"),
    (frozenset({"instruction", "engine", "code", "url"}), f"a log of LaVague, {_NO_LAYOUT}"),
    (frozenset({"run_id", "run_type", "run_request"}), f"a run of Skyvern without its steps, {_SKYVERN}"),
    (frozenset({"type", "agent_states"}), f"a state of AutoGen's team, {_MESSAGES}"),
    (frozenset({"traceEvents"}), f"a performance profile of Chrome; {_HAR}, in the panel Network"),
    (frozenset({"constants", "events"}), f"a net log of Chrome; {_HAR}, in the panel Network"),
    (
        frozenset({"config", "suites", "stats"}),
        "a report of Playwright's test runner; import its traces: `use: { trace: 'on' }` writes them",
    ),
    (
        frozenset({"status", "scheme", "host", "path", "durations"}),
        f"a session of Charles; {_HAR}: File > Export Session",
    ),
    (frozenset({"id", "source", "action", "args"}), _OPENHANDS),
    (frozenset({"id", "source", "observation", "extras"}), _OPENHANDS),
    (frozenset({"id", "timestamp", "source", "kind"}), _OPENHANDS),
    (frozenset({"type", "subtype", "session_id"}), f"a log of Claude Code, {_MESSAGES}"),
    (frozenset({"type", "message", "session_id"}), f"a log of Claude Code, {_MESSAGES}"),
    (frozenset({"type", "message", "sessionId"}), f"a session of Claude Code, {_MESSAGES}"),
    (frozenset({"type", "summary", "leafUuid"}), f"a session of Claude Code, {_MESSAGES}"),
    (frozenset({"object", "output"}), f"a response of OpenAI, {_MESSAGES}"),
    (frozenset({"type", "call_id", "arguments"}), f"items of OpenAI's Responses, {_MESSAGES}"),
    (frozenset({"type", "call_id", "action"}), f"items of OpenAI's Responses, {_MESSAGES}"),
    (frozenset({"role", "content"}), f"messages of a model, {_MESSAGES}"),
    (frozenset({"role", "parts"}), f"messages of Gemini, {_MESSAGES}"),
    (frozenset({"run_type", "inputs"}), f"runs of LangSmith, {_SPANS}"),
    (frozenset({"traceId", "type", "startTime", "level"}), f"observations of Langfuse, {_SPANS}"),
    (frozenset({"observations", "scores"}), f"a trace of Langfuse, {_SPANS}"),
    (frozenset({"action_type", "task_id", "step_id"}), f"actions of Skyvern, {_SKYVERN}"),
    (frozenset({"task_id", "step_id", "organization_id"}), f"steps of Skyvern, {_SKYVERN}"),
    (frozenset({"task_id", "request", "extracted_information"}), f"a task of Skyvern, {_SKYVERN}"),
    (frozenset({"modelOutput", "result", "state"}), f"a history of Nanobrowser, {_NO_LAYOUT}"),
    (frozenset({"planner_agent"}), f"a log of Agent-E, {_NO_LAYOUT}"),
    (frozenset({"intent", "eval", "start_url"}), f"tasks of WebArena, {TASKS}"),
    (frozenset({"ques", "web", "web_name"}), f"tasks of WebVoyager, {TASKS}"),
    (
        frozenset({"confirmed_task", "actions"}),
        "a row of Mind2Web; put it into a list, `[ROW]`: it is a `table` then",
    ),
    (frozenset({"confirmed_task", "website"}), f"tasks of Mind2Web, {TASKS}"),
    (frozenset({"name", "context", "attributes", "start_time"}), f"spans of OpenTelemetry, {_SPANS}"),
    (frozenset({"name", "trace_id", "span_id"}), f"spans of OpenTelemetry, {_SPANS}"),
    (frozenset({"name", "traceId", "spanId"}), f"spans of OpenTelemetry, {_SPANS}"),
    (frozenset({"name", "span_kind", "context.span_id"}), f"spans of Phoenix, {_SPANS}"),
    (frozenset({"op_name", "trace_id", "inputs"}), f"calls of Weave, {_SPANS}"),
    (frozenset({"project_id", "trace_id", "op_name"}), f"calls of Weave, {_SPANS}"),
    (frozenset({"type", "step", "timestamp", "payload"}), f"events of LangGraph, {_MESSAGES}"),
    (frozenset({"source", "models_usage", "content"}), f"messages of AutoGen, {_MESSAGES}"),
    (frozenset({"category", "message", "level"}), f"a log of Stagehand, {_STAGEHAND}"),
    (frozenset({"jsonrpc", "method"}), f"messages of MCP, {_MESSAGES}"),
    (frozenset({"id", "command", "target", "value"}), f"commands of Selenium IDE, {_SCRIPTS}"),
    (frozenset({"type", "selectors"}), f"steps of Chrome's Recorder, {_SCRIPTS}"),
    (frozenset({"name", "signals"}), f"a script of Playwright's code generator, {_SCRIPT}"),
    (frozenset({"type", "timestamp", "speaker", "utterance"}), f"a replay of WebLINX, {_WEBLINX}"),
    (frozenset({"type", "timestamp", "state", "action"}), f"a replay of WebLINX, {_WEBLINX}"),
    (
        frozenset({"step_num", "action_timestamp", "action"}),
        "a run of OSWorld; import its traj.jsonl as a `table`",
    ),
    (
        frozenset({"task_id", "predicted_label", "evaluation_details"}),
        "judgements of WebJudge; import the runs that it judged, as online-mind2web",
    ),
    (frozenset({"resourceSpans"}), f"spans of OpenTelemetry, {_SPANS}"),
)
"""Keys of an object, or of the first one of a list, to what the JSON is; the first that fit."""

_NAMES: tuple[tuple[Any, str], ...] = (
    (
        lazy_pattern(r"render_[\w-]+\.html"),
        "renders of WebArena; import the traces that `run.py --save_trace_enabled` writes: playwright-trace",
    ),
    (
        lazy_pattern(r"conversation_[\w-]+_\d+\.txt"),
        "prompts of browser-use, which do not show what became of an action; give its history instead:"
        " `history.save_to_file(PATH)`",
    ),
    (lazy_pattern(r"traj\.jsonl"), "a run of OSWorld; import its traj.jsonl as a `table`"),
    (
        lazy_pattern(r"traj_[\w.-]+\.json"),
        "results of TheAgentCompany, with events of OpenHands, which no layout reads",
    ),
    (
        lazy_pattern(r"report(-[\w-]+)?\.jsonl"),
        "a blob report of Playwright without a trace: `use: { trace: 'on' }` adds them",
    ),
)
"""Name of a file to what its folder is."""

_ELEMENT = "interacted_element"
"""Stands beside each action in lists that browser-use makes of a history."""


_PROGRAMS = (".js", ".mjs", ".ts", ".py", ".java", ".cs")
"""Ends of names of programs, such as recorders export; in a folder they say nothing about it."""

_READ = (".html", ".txt", ".json", ".jsonl")
"""Ends of names of files in a folder that are known by their names or keys."""


def known_file(path: Path) -> str | None:
    """Return what a file of another tool is, by its name; else None."""
    name = path.name.lower()
    if name.endswith(_PROGRAMS):
        return f"a program, {_SCRIPT}"
    return next((words for ending, words in _ENDINGS.items() if name.endswith(ending)), None)


def known_folder(path: Path) -> str | None:
    """Return what a folder of another tool is, by names in it, by its first JSON, by an ending; else None."""
    found = list(islice(files(path, *_READ, *_ENDINGS), LOOK_MAX))
    named = (words for form, words in _NAMES if any(form.fullmatch(file.name) for file in found))
    rows = (file for file in found if file.suffix.lower() in (".json", ".jsonl"))
    by_ending = (_ENDINGS[end] for file in found if (end := file.suffix.lower()) in _ENDINGS)
    return (
        next(named, None)
        or next(filter(None, map(_in_file, islice(rows, ROWS_MAX))), None)
        or next(by_ending, None)
    )


def _in_file(file: Path) -> str | None:
    return known_json(first_line(file) if file.suffix.lower() == ".jsonl" else peek(file))


def known_json(plain: Any) -> str | None:
    """Return what a JSON value of another tool is, by its keys; else None."""
    first = _first(plain if isinstance(plain, list) else [plain])
    rows = plain if isinstance(plain, list) else [plain, *_rows_in(plain)]
    found = map(_by_keys, [first, _first(_rows_in(first)), *rows[:ROWS_MAX]])
    return _partial_export(plain) or next(filter(None, found), None)


def is_unread(rows: list[Any]) -> bool:
    """Whether rows are events of a tool that no layout reads."""
    return any(_NO_LAYOUT in (_by_keys(row) or "") for row in rows[:ROWS_MAX])


ROWS_MAX = 20
"""Rows that are looked at: the first ones may be of a kind that many tools write."""


def _rows_in(plain: Any) -> list[Any]:
    """Return the list that an object wraps, as APIs and histories do."""
    rows = (plain.get(key) for key in _WRAPPERS) if isinstance(plain, dict) else ()
    return next((one for one in rows if isinstance(one, list)), [])


_WRAPPERS = (
    "history",
    "trajectory",
    "events",
    "messages",
    "items",
    "output",
    "data",
    "runs",
    "contents",
    "conversations",
)
"""Keys under which other tools keep their rows."""


def _by_keys(first: Any) -> str | None:
    keys = first.keys() if isinstance(first, dict) else frozenset()
    return next((words for wanted, words in _KEYS if wanted <= keys), None)


def _first(rows: Iterable[Any]) -> Any:
    return next((one for row in rows for one in (row if isinstance(row, list) else [row])), None)


def _partial_export(plain: Any) -> str | None:
    """Return what a list of browser-use is that holds a part of a run only; else None."""
    rows = plain if isinstance(plain, list) else []
    first = _first(rows)
    if not isinstance(first, dict) or _ELEMENT not in first:
        return None
    call = "action_history()" if isinstance(rows[0], list) else "model_actions()"
    return (
        f"the result of browser-use's {call}, which does not show what became of each action; give the whole"
        " history instead: `history.save_to_file(PATH)`"
    )
