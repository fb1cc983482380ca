"""Sources of which a part is elsewhere, in another encoding, or never was: each is named, with what to do."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.bundle_format import PREAMBLE_HEAD
from replaykit.errors import MalformedSource, UnknownLayout, WideSource
from replaykit.interop.run_import import import_run, import_runs
from replaykit.interop.unreadable.other_files import known_json
from replaykit.interop.unreadable.wide_text import wide_encoding
from tests.interop.samples import har, log, rr_page, write

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n"


@pytest.mark.parametrize(("format", "name"), [("har", "b.har"), ("rrweb", "b.json"), ("auto", "b.har")])
def test_a_pointer_beside_a_run_is_named(format: str, name: str, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    har(folder) if name.endswith(".har") else write(folder, "stream.json", rr_page())
    write(folder, name, POINTER)
    write(folder, "film.mp4", POINTER)
    done = import_runs(format, [folder], tmp_path / "out")
    assert sorted(one.state for one in done) == ["failed", "imported"]
    (error,) = [str(one.error) for one in done if one.error is not None]
    assert name in error and "git lfs pull" in error


def test_without_a_pointer_nothing_fails(tmp_path: Path) -> None:
    har(tmp_path / "in")
    write(tmp_path / "in", "notes.txt", b"none")
    assert [one.state for one in import_runs("har", [tmp_path / "in"], tmp_path / "out")] == ["imported"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("format", "name", "text"),
    [
        ("har", "net.har", json.dumps(log())),
        ("rrweb", "r.json", json.dumps(rr_page())),
        ("run-jsonl", "run.jsonl", '{"t": "user", "text": "x"}\n'),
        ("table", "t.csv", "run,action\n1,click\n"),
    ],
)
def test_a_file_in_utf_16_is_refused_with_the_way_to_convert_it(
    format: str, name: str, text: str, encoding: str, tmp_path: Path
) -> None:
    path = write(tmp_path, name, text.encode(encoding))
    with pytest.raises((WideSource, UnknownLayout)) as refused:
        import_run(format, path, tmp_path / "x.zst")
    assert "UTF-16" in str(refused.value) and "iconv" in f"{refused.value} {refused.value.hint}"


@given(st.text(st.characters(codec="ascii", min_codepoint=1), min_size=2))
def test_text_in_utf_8_is_not_wide_and_text_in_utf_16_is(text: str) -> None:
    assert not wide_encoding(text.encode())
    assert all(wide_encoding(text.encode(name)) for name in ("utf-16", "utf-16-le", "utf-16-be"))


@pytest.mark.parametrize(
    ("plain", "call"),
    [
        ([{"click": {"index": 1}, "interacted_element": None}], "model_actions()"),
        ([[], [{"click": {"index": 1}, "interacted_element": None, "result": None}]], "action_history()"),
    ],
)
def test_a_list_of_what_a_model_asked_for_is_refused_with_what_to_give(
    plain: Any, call: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "actions.json", plain)
    for format in ("auto", "browser-use"):
        with pytest.raises(UnknownLayout) as refused:
            import_run(format, path, tmp_path / "x.zst")
        assert call in str(refused.value) and "save_to_file" in str(refused.value)


@pytest.mark.parametrize("plain", [[], {}, None, [1], [[]], [{"click": 1}], [[{"click": 1}]]])
def test_other_json_is_no_part_of_a_run(plain: Any) -> None:
    assert known_json(plain) is None


STRANGE: dict[str, tuple[Any, str]] = {
    "a.chlsj": ([{"status": "COMPLETE"}], "a session of Charles; save the requests there as HAR"),
    "a.saz": (b"PK", "a session of Fiddler; save the requests there as HAR"),
    "a.MITM": (b"9:websocket", "flows of mitmproxy; write them as HAR: `mitmdump -nr FILE --set hardump=net.har`"),
    "a.side": ({"id": "1", "url": "http://shop.test", "tests": []}, "a script of Selenium IDE"),
    "a.mp4": (b"....ftyp", "a video, which shows no actions"),
    "collection.json": ({"info": {"name": "Shop"}, "item": []}, "a collection of Postman"),
    "export.json": ({"_type": "export", "__export_format": 4, "resources": []}, "an export of Insomnia"),
    "flow.json": ({"title": "Pay", "steps": [{"type": "click"}]}, "a flow of Chrome's Recorder"),
    "profile.json": ({"traceEvents": [], "metadata": {}}, "a performance profile of Chrome"),
    "net-log.json": ({"constants": {}, "events": []}, "a net log of Chrome"),
    "report.json": ({"config": {}, "suites": [], "errors": [], "stats": {}}, "a report of Playwright's test runner"),
    "events.json": ([{"id": 0, "source": "user", "action": "message", "args": {}}], "events of OpenHands"),
    "a_auto_eval_results.json": (
        {"task_id": "a", "predicted_label": 1, "evaluation_details": {}}, "judgements of WebJudge",
    ),
    "stream.jsonl": (
        b'{"type": "system", "subtype": "init", "session_id": "s"}\n{"type": "result"}', "a log of Claude Code",
    ),
    "session.jsonl": (b'{"type": "user", "message": {}, "sessionId": "s"}', "a session of Claude Code"),
    "items.json": (
        [{"type": "reasoning", "id": "r"}, {"type": "computer_call", "call_id": "c", "action": {"type": "click"}}],
        "items of OpenAI's Responses",
    ),
    "responses.jsonl": (b'{"id": "r", "object": "response", "output": []}', "a response of OpenAI"),
    "chat.json": ({"messages": [{"role": "user", "content": "x"}]}, "messages of a model"),
    "trajectory.json": (
        {"trajectory": [{"id": 0, "source": "environment", "observation": "x", "extras": {}}]}, "events of OpenHands",
    ),
    "sdk/event-00000-a.json": (
        {"id": "a", "timestamp": "2026", "source": "agent", "kind": "SystemPromptEvent"}, "events of OpenHands",
    ),
    "runs.jsonl": (b'{"id": "r", "run_type": "tool", "inputs": {}, "outputs": {}}', "runs of LangSmith"),
    "traces.jsonl": (b'{"resourceSpans": []}', "spans of OpenTelemetry"),
    "observations.json": (
        [{"id": "o", "traceId": "t", "type": "TOOL", "startTime": "2026", "level": "DEFAULT"}], "observations of Langfuse",
    ),
    "steps.json": ([{"task_id": "t", "step_id": "s", "organization_id": "o"}], "steps of Skyvern"),
    "nano.json": (
        {"history": [{"modelOutput": "{}", "result": [], "state": {}}]}, "a history of Nanobrowser",
    ),
    "test.raw.json": ([{"sites": [], "intent": "x", "start_url": "u", "eval": {}}], "tasks of WebArena"),
    "wa/render_12.html": (b"<html></html>", "renders of WebArena; import the traces"),
    "os/traj.jsonl": (b'{"step_num": 1, "action": "DONE"}', "a run of OSWorld"),
    "tac/traj_pm-task.json": ([{"x": 1}], "results of TheAgentCompany"),
    "act_a_trajectory.json": ({"sdk_version": "3.4", "prompt": "x", "steps": [], "metadata": {}}, "a trajectory of Nova Act"),
    "tars.json": (
        {"sessionId": "s", "events": [{"type": "user_message"}, {"type": "tool_call", "toolCallId": "c", "name": "click", "arguments": {}}]},
        "events of Agent TARS",
    ),
    "magentic.jsonl": (
        b'{"source": "WebSurfer", "message": "I clicked.", "url": "http://x", "action": "click", "arguments": {}}', "a log of Magentic-One",
    ),
    "cypress.json": ({"cypressVersion": "13", "runs": []}, "results of Cypress"),
    "mochawesome.json": ({"stats": {}, "results": [], "meta": {}}, "a report of Mochawesome"),
    "langchain.json": (
        {"messages": [{"type": "human", "content": "x"}, {"type": "ai", "content": "", "tool_calls": []}]}, "messages of LangChain",
    ),
    "weave.jsonl": (b'{"id": "c", "op_name": "weave:///x", "trace_id": "t", "inputs": {}}', "calls of Weave"),
    "phoenix.jsonl": (b'{"name": "click", "span_kind": "TOOL", "context.span_id": "s"}', "spans of Phoenix"),
    "spans.jsonl": (b'{"name": "click", "trace_id": "t", "span_id": "s", "attributes": {}}', "spans of OpenTelemetry"),
    "graph.jsonl": (b'{"type": "task", "step": 1, "timestamp": "2026", "payload": {}}', "events of LangGraph"),
    "team.json": (
        {"messages": [{"source": "web", "models_usage": None, "content": [], "type": "ToolCallRequestEvent"}]},
        "messages of AutoGen",
    ),
    "stagehand.jsonl": (b'\r\n{"category": "action", "message": "clicked", "level": 1}', "a log of Stagehand"),
    "mcp.jsonl": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}', "messages of MCP"),
    "codegen.jsonl": (b'{"name": "click", "selector": "#a", "signals": []}', "a script of Playwright's code generator"),
    "replay.json": (
        {"data": [{"type": "chat", "timestamp": 1, "speaker": "instructor", "utterance": "x"}]}, "a replay of WebLINX",
    ),
    "a.warc": (b"WARC/1.1", "a web archive, which shows no actions"),
    "twice.jsonl": (
        b'{"run": "a", "action": "x", "action": "y"}', "a file of JSON lines, whose first line is an object with the key",
    ),
    "pretty.jsonl": (b'{\n "run": "a"\n}', "a file of JSON lines, whose first line is not JSON"),
    "recording.js": (b"const puppeteer = require('puppeteer');", "a program, which says what to do"),
    "bu/conversation_0a-1_12.txt": (b" SystemMessage ", "prompts of browser-use"),
    "sel/shop.side": ({"id": "1", "url": "http://shop.test", "tests": []}, "a script of Selenium IDE"),
    "output.jsonl": (
        b'{"instance_id": "1", "history": [{"id": 1, "source": "agent", "action": "browse", "args": {"url": "x"}}]}',
        "events of OpenHands",
    ),
    "demo.json": ({"confirmed_task": "x", "website": "y", "actions": []}, "a row of Mind2Web; put it into a list"),
    "contents.json": ({"contents": [{"role": "user", "parts": [{"text": "x"}]}]}, "messages of Gemini"),
    "tars-desktop.json": ({"conversations": [{"from": "human", "value": "x"}]}, "messages of a model in pairs"),
    "batch.json": ([{"type": "computer_call", "call_id": "c", "actions": []}], "items of OpenAI's Responses"),
    "state.json": ({"type": "TeamState", "agent_states": {}}, "a state of AutoGen's team"),
    "sky.json": ({"run_id": "r", "run_type": "task_v2", "run_request": {}}, "a run of Skyvern without its steps"),
    "lavague.csv": (b"instruction,engine,code,url\nx,y,z,u\n", "a log of LaVague"),
    "spans.csv": (b"name,span_kind,context.span_id\nclick,TOOL,s\n", "spans of Phoenix"),
    "rows.csv": (b"name,what\nx,clicked\n", "a table with the columns 'name', 'what', whose names do not show"),
    "rows.jsonl": (b'{"name": "x"}', "a file of JSON lines of another layout, with the keys 'name'"),
    "macro.json": (
        {"name": "x", "goal": "y", "steps": [{"action": "navigate", "url": "http://x"}, {"action": "click"}]},
        "JSON of another layout, with the keys 'name', 'goal', 'steps'; if it is a run, and not a plan or a script",
    ),
    "flows": (b"1452:9:websocket;0:~8:response;", "flows of mitmproxy; write them as HAR"),
    "a.warc.gz": (gzip.compress(b"WARC/1.0\r\n"), "a web archive, which shows no actions"),
    "page.html": (b"<!doctype html><p>x", "an HTML page, which shows no actions"),
    "shot.png": (b"\x89PNG\r\n", "a screenshot: name the folder of its run"),
    "runs.db": (b"SQLite format 3\0", "a database of SQLite: export its rows"),
    "sheet.xlsx": (b"PK", "a workbook, which no layout reads: save its sheet as CSV"),
    "step_0.pkl.gz": (b"\x1f\x8b", "a pickle, which may run code"),
    "tasks.yaml": (b"schema: replaykit.suite/1\n", "a task file, which says what to do"),
    "policies.yaml": (b"schema: replaykit.policies/1\n", "a policy file, which says what is forbidden"),
    "done/run.zst": (PREAMBLE_HEAD, "a folder of 1 bundle: grade them as they are"),
    "run.zst": (PREAMBLE_HEAD, "a bundle already: grade it as it is"),
    "blob/report.jsonl": (b'{"method": "onConfigure"}', "a blob report of Playwright without a trace"),
}  # fmt: skip
"""Name of a file that no layout reads to its content and what it is called."""


@pytest.mark.parametrize("name", STRANGE)
def test_a_file_of_another_tool_is_named_with_what_is_possible(name: str, tmp_path: Path) -> None:
    content, words = STRANGE[name]
    path = write(tmp_path / "in", name, content)
    given = path if "/" not in name else path.parent
    for format in ("auto", "har", "webvoyager"):
        with pytest.raises(UnknownLayout) as refused:
            import_run(format, given, tmp_path / "x.zst")
        assert f"it is {words}" in str(refused.value)


def test_a_blob_report_without_a_trace_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "report-2.zip", "w") as blob:
        blob.writestr("report.jsonl", '{"method": "onConfigure"}')
    with pytest.raises(UnknownLayout, match="an archive with a blob report of Playwright without a trace"):
        import_run("auto", tmp_path / "report-2.zip", tmp_path / "x.zst")


@pytest.mark.parametrize("plain", [{"title": "x"}, {"info": {}}, {"events": []}, [{"id": 1, "action": "x"}]])
def test_other_keys_are_of_no_tool(plain: Any) -> None:
    assert known_json(plain) is None


def test_a_har_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    whole = json.dumps(log()).encode()
    with pytest.raises(MalformedSource, match=r"net\.har"):
        import_run("har", write(tmp_path, "net.har", whole[:-9]), tmp_path / "x.zst")
