"""Runs of other tools, made small: one per layout, written into a folder."""

from __future__ import annotations

import gzip
import json
import pickle
import shutil
import struct
import sys
import types
import zipfile
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import zstandard


def png(shade: int = 0, size: int = 2) -> bytes:
    """A grey PNG; another one for each shade."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + bytes([shade % 256] * size * 3) for _ in range(size))
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def write(folder: Path, name: str, content: Any) -> Path:
    """Write bytes as they are, text as UTF-8, anything else as JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not isinstance(content, bytes):
        content = (content if isinstance(content, str) else json.dumps(content)).encode()
    path.write_bytes(content)
    return path


FIRST = "Now given a task: {task}  Please interact with https://shop.test/ and get the answer. "
SEEN = 'Observation: please analyze.\n[3]: <button> "Sort", "Sort by price";\t[7]: "Mugs";\t[9]: <input> "";'


def chat(*said: str, task: str = "Which mug is cheapest?", seen: Any = SEEN) -> list[dict[str, Any]]:
    """A WebVoyager chat: one user message before each assistant message."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You browse."}]
    for number, text in enumerate(said):
        user = seen if number else FIRST.format(task=task) + seen
        content = [{"type": "text", "text": user}, {"type": "image_url", "image_url": {"url": "x"}}]
        messages += [{"role": "user", "content": content}, {"role": "assistant", "content": text}]
    return messages


def turn(action: str, thought: str = "Thinking.") -> str:
    """An assistant message."""
    return f"Thought: {thought}\n\nAction: {action}"


def webvoyager(folder: Path, messages: Any = None, shots: int = 3) -> Path:
    """A result folder of three turns."""
    run = folder / "taskShop--3"
    said = chat(turn("Click [3]"), turn("Type [9]; tin"), turn("ANSWER; The tin mug."))
    write(run, "interact_messages.json", said if messages is None else messages)
    for number in range(1, shots + 1):
        write(run, f"screenshot{number}.png", png(number))
    return run


def mind2web(folder: Path, shots: int = 3, **changes: Any) -> Path:
    """A result folder of version 1: two actions."""
    run = folder / "m2w-1"
    result = {
        "task_id": "m2w-1",
        "task": "Buy a mug.",
        "action_history": ['<button id="s"> Search -> CLICK', "<input> Email -> TYPE: ann@x.test [ENTER]"],
        "thoughts": ["First.", "Then."],
        "final_result_response": "Done.",
        "input_image_paths": None,
        **changes,
    }
    write(run, "result.json", result)
    (run / "trajectory").mkdir(parents=True, exist_ok=True)
    for number in range(shots):
        write(run, f"trajectory/{number}_full_screenshot.png", png(number))
    return run


def mind2web_second(folder: Path, **changes: Any) -> Path:
    """A result folder of version 2: one action and the answer."""
    run = folder / "m2w-2"
    history = [
        {
            "step": 0, "screenshot": "0.png", "url": "http://x.test/", "action": "<a> Mugs -> CLICK | SUCCESS",
            "action_status": "SUCCESS", "thought": "Look.",
        },
        {
            "step": 1, "screenshot": "1.png", "url": None, "action": "TASK_COMPLETE -> ANSWER: Tin mug",
            "action_status": None, "thought": None,
        },
    ]  # fmt: skip
    result = {
        "schema_version": "online-mind2web-v2",
        "task_id": "m2w-2",
        "task": "Find the mug.",
        "agent_final_answer": "Tin  mug",
        "reference_length": 4,
        "action_history": history,
        **changes,
    }
    write(run, "result.json", result)
    for number in range(2):
        write(run, f"trajectory/{number}.png", png(number))
    return run


def wabe(folder: Path, **changes: Any) -> Path:
    """A result folder of WABE: one image per action."""
    fields = {"success": True, "steps_taken": 2, "max_steps": 10, "level": "easy", "error": None}
    run = mind2web(folder, shots=0, **{**fields, **changes})
    for number in range(2):
        write(run, f"trajectory/step_{number:03}.png", png(number))
    return run


def entry(url: str = "http://shop.test/", status: Any = 200, **changes: Any) -> dict[str, Any]:
    """A HAR entry."""
    return {
        "startedDateTime": "2026-03-02T09:00:00.250Z",
        "time": 12,
        "request": {
            "method": "GET", "url": url, "httpVersion": "HTTP/1.1",
            "headers": [{"name": "Authorization", "value": "Bearer abcdefghijklmnop1234"}],
        },
        "response": {
            "status": status, "statusText": "OK", "httpVersion": "HTTP/1.1", "redirectURL": "",
            "headers": [{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
            "content": {"size": 5, "mimeType": "text/html; charset=utf-8", "text": "hello"},
            "bodySize": 5,
        },
        "timings": {"dns": 1, "connect": 2, "ssl": 1, "send": 0, "wait": 8, "receive": 1},
        **changes,
    }  # fmt: skip


def log(*entries: Any) -> dict[str, Any]:
    """A HAR file."""
    return {"log": {"version": "1.2", "creator": {"name": "T", "version": "1"}, "entries": list(entries)}}


def har(folder: Path, *entries: Any) -> Path:
    """A HAR file of two entries."""
    return write(folder, "net.har", log(*(entries or (entry(), entry("http://shop.test/a.js", status=-1)))))


def webarena_verified(folder: Path) -> Path:
    """An output folder."""
    run = folder / "107"
    response = {"task_type": "NAVIGATE", "status": "SUCCESS", "retrieved_data": None, "error_details": None}
    write(run, "agent_response.json", response)
    write(run, "network.har", log(entry()))
    write(run, "eval_result.json", {"task_id": 107, "score": 0.0})
    return run


PAGE_HTML: list[Any] = [
    "HTML", {},
    ["HEAD", {}, ["TITLE", {}, "Shop"]],
    ["BODY", {},
        ["INPUT", {"__playwright_value_": "", "id": "name", "aria-label": "Name"}],
        ["INPUT", {"__playwright_value_": "hunter22secret", "id": "pw", "type": "password"}],
        ["SELECT", {"id": "s"}, ["OPTION", {}, "one"], ["OPTION", {"__playwright_selected_": "true"}, "two"]],
        ["DIV", {"id": "h"}, ["template", {"__playwright_shadow_root_": "open"}, ["B", {}, "deep"]]],
        ["IFRAME", {"src": "/snapshot/frame@2"}],
        ["svg", {}, ["path", {"d": "M0"}]],
        ["BUTTON", {"id": "b"}, "Buy"]],
]  # fmt: skip
"""A page as a trace holds it. Post-order: 0 Shop, 1 TITLE, 2 HEAD, 3 name, 4 pw, 5 one, 6 OPTION ..."""


def shown(call: str, phase: str, html: Any, at: float, **changes: Any) -> dict[str, Any]:
    """A snapshot event of version 10."""
    snapshot = {
        "callId": call, "phase": phase, "pageId": "page@1", "frameId": "frame@1", "frameUrl": "http://shop.test/",
        "doctype": "html", "html": html, "viewport": {"width": 800, "height": 600}, "timestamp": at,
        "resourceOverrides": [], "isMainFrame": True, **changes,
    }  # fmt: skip
    return {"type": "frame-snapshot", "snapshot": snapshot}


def call(id: str, kind: str, method: str, start: float, end: float | None = None, **params: Any) -> list[Any]:
    """Begin and end of a call."""
    begin = {
        "type": "before",
        "callId": id,
        "startTime": start,
        "class": kind,
        "method": method,
        "params": params,
    }
    return [begin] if end is None else [begin, {"type": "after", "callId": id, "endTime": end}]


TARGET = {"__playwright_value_": "", "__playwright_target__": "", "id": "name", "aria-label": "Name"}


def trace_events() -> list[dict[str, Any]]:
    """A page visited, a field filled, a password typed, a button clicked in a frame."""
    filled = ["HTML", {}, [[2, 2]], ["BODY", {}, ["INPUT", TARGET], [[2, 4]], [[2, 9]]]]
    inner = ["HTML", {}, ["BODY", {}, ["A", {"__playwright_target__": "c5", "href": "/x"}, "Inside"]]]
    goto, fill = (
        call("c1", "Frame", "goto", 10, 40, url="http://shop.test/"),
        call("c2", "Frame", "fill", 50, 70, selector="#name", value="Ann"),
    )
    secret = call("c3", "Frame", "type", 80, 95, selector="#pw", text="hunter22secret")
    read = call("c4", "Frame", "textContent", 96, 97, selector="#name")
    click = call("c5", "Frame", "click", 98, None, selector="iframe >> a")
    return [
        {"version": 10, "type": "context-options", "origin": "library", "browserName": "chromium",
         "playwrightVersion": "1.65.1", "options": {"viewport": {"width": 800, "height": 600}},
         "platform": "linux", "wallTime": 1_772_442_000_000, "monotonicTime": 5, "sdkLanguage": "python"},
        {"type": "event", "time": 6, "class": "BrowserContext", "method": "page", "params": {"pageId": "page@1"}},
        goto[0], goto[1],
        shown("c1", "after", PAGE_HTML, 41),
        fill[0],
        shown("c2", "before", [[1, 19]], 51),
        {"type": "log", "callId": "c2", "time": 52, "message": "  fill(\"Ann\")"},
        {"type": "input", "callId": "c2", "point": {"x": 10.4, "y": 20}, "box": {"x": 1, "y": 2, "width": 3, "height": 4}},
        shown("c2", "action", filled, 53),
        fill[1],
        shown("c2", "after", [[1, 99]], 71),
        {"type": "screencast-frame", "pageId": "page@1", "file": "screencast/a.png", "width": 2, "height": 2, "timestamp": 69},
        secret[0],
        {"type": "log", "callId": "c3", "time": 82, "message": "type(hunter22secret)"},
        shown("c3", "before", PAGE_HTML, 81),
        {**secret[1], "error": {"name": "TimeoutError", "message": "no hunter22secret"}},
        *read,
        {"type": "event", "time": 97.5, "class": "BrowserContext", "method": "dialog",
         "params": {"pageId": "page@1", "type": "confirm", "message": "Sure?", "defaultValue": ""}},
        *call("c6", "Dialog", "accept", 97.6, 97.7),
        click[0],
        shown("c5", "action", PAGE_HTML, 99),
        shown("c5", "action", inner, 99, frameId="frame@2", frameUrl="http://shop.test/in", isMainFrame=False),
        {"type": "console", "messageType": "warning", "text": "careful", "args": [], "time": 100,
         "location": {"url": "http://shop.test/", "lineNumber": 3, "columnNumber": 1}, "pageId": "page@1"},
    ]  # fmt: skip


def trace(folder: Path, events: list[dict[str, Any]] | None = None, **members: bytes) -> Path:
    """A trace.zip."""
    path = folder / "shop.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(json.dumps(event) for event in (trace_events() if events is None else events))
    network = json.dumps(
        {"type": "resource-snapshot", "snapshot": entry(startedDateTime="2026-03-02T09:00:00.020Z")}
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {
            "trace.trace": lines.encode(),
            "trace.network": network.encode(),
            "screencast/a.png": png(3),
            **members,
        }.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return path


def agentrewardbench(folder: Path, **changes: Any) -> Path:
    """A trajectory file with images beside it."""
    steps = [
        {"num": 0, "action": "click('a51')", "reasoning": "First.", "url": "http://x.test/", "axtree": "[a51] button",
         "open_pages_urls": ["http://x.test/"], "screenshot_path": "/data/shots/s_0.png", "last_action_error": ""},
        {"num": 1, "action": "fill('b', 'tea')\nsend_msg_to_user('42')", "reasoning": "Then.", "url": "http://x.test/2",
         "axtree": "[b] textbox", "open_pages_urls": ["http://x.test/2"], "screenshot_path": "shots/s_1.png",
         "last_action_error": "no a51"},
        {"num": 2, "action": None, "reasoning": None, "url": "http://x.test/2", "axtree": "[c] text",
         "open_pages_urls": ["http://x.test/2"], "screenshot_path": "shots/s_2.png", "last_action_error": ""},
    ]  # fmt: skip
    for number in range(3):
        write(folder, f"shots/s_{number}.png", png(number))
    fields = {
        "benchmark": "wa",
        "agent": "a",
        "model": "m",
        "valid": True,
        "goal": "Find it.",
        "steps": steps,
    }
    fields |= {"summary_info": {"cum_reward": 1.0}, "experiment": "e", "seed": 1}
    return write(folder, "wa.12.json", {**fields, **changes})


def browser_use(folder: Path, **changes: Any) -> Path:
    """A history file of three turns."""

    def item(at: int, output: Any, result: Any, **state: Any) -> dict[str, Any]:
        before = {"url": f"http://x.test/{at}", "title": "X", "tabs": [], "interacted_element": [None]}
        meta = {
            "step_start_time": 1_772_442_000 + at,
            "step_end_time": 1_772_442_001 + at,
            "step_number": at + 1,
        }
        return {"model_output": output, "result": result, "state": {**before, **state}, "metadata": meta}

    button = {"tag_name": "BUTTON", "attributes": {"id": "b"}, "ax_name": "Buy", "x_path": "/b",
              "bounds": {"x": 1, "y": 2, "width": 3, "height": 4}}  # fmt: skip
    first = {"action": [{"go_to_url": {"url": "http://x.test/"}}], "thinking": "Go.", "next_goal": "See."}
    second = {
        "action": [{"click_element": {"index": 4}}, {"input_text": {"index": 5, "text": "tea"}}],
        "memory": "m",
    }
    last = {"action": [{"done": {"text": "Bought.", "success": True}}]}
    done = {"is_done": True, "success": True, "extracted_content": "Bought.", "judgement": {"verdict": True}}
    history = [
        item(0, first, [{}], screenshot_path="/tmp/away/s0.png"),
        item(1, second, [{}, {"error": "gone"}], interacted_element=[button, None]),
        item(2, None, [{}]),
        item(3, last, [done]),
    ]
    write(folder, "s0.png", png(1))
    return write(folder, "history.json", {"history": history, **changes})


def run_jsonl(folder: Path, tail: str = "") -> Path:
    """A log of one turn."""
    lines = [
        {"t": "user", "ts": 1_772_442_000_000, "text": "Buy tea."},
        {"t": "assistant", "ts": 1_772_442_001_000, "model": "m", "text": "I click.", "reasoning": "Hm.",
         "tool_calls": [{"id": "1", "name": "click", "arguments": {"point": [3, 4]}}, {"id": "2", "name": "sing", "arguments": {}}]},
        {"t": "tool_result", "ts": 1_772_442_002_000, "call_id": "1", "is_error": False, "text": "", "shots": ["shots/shot-1.png"]},
        {"t": "tool_result", "ts": 1_772_442_003_000, "call_id": "2", "is_error": True, "text": "cannot"},
        {"t": "final", "ts": 1_772_442_004_000, "answer": "Done.", "session_id": "s1", "model": "m", "agent_version": "1"},
    ]  # fmt: skip
    write(folder, "shots/shot-1.png", png(1))
    return write(folder, "run.jsonl", "\n".join(json.dumps(line) for line in lines) + "\n" + tail)


def atif(folder: Path, **changes: Any) -> Path:
    """A trajectory of ATIF: one turn and the answer."""
    image = {"type": "image", "source": {"media_type": "image/png", "path": "shots/1.png"}}
    far = {"type": "image", "source": {"media_type": "image/png", "path": "http://evil.test/1.png"}}
    steps = [
        {"step_id": 1, "source": "system", "message": "You browse."},
        {"step_id": 2, "source": "user", "message": "Buy tea.", "timestamp": "2026-03-02T09:00:00Z"},
        {"step_id": 3, "source": "agent", "message": "", "reasoning_content": "Hm.", "timestamp": "2026-03-02T09:00:01Z",
         "tool_calls": [{"tool_call_id": "a", "function_name": "goto", "arguments": {"url": "http://x.test/"}},
                        {"tool_call_id": "b", "function_name": "web_click", "arguments": {"at": 3}}],
         "observation": {"results": [{"source_call_id": "a", "content": [{"type": "text", "text": "ok"}, image]},
                                     {"source_call_id": "b", "content": [far]}]}},
        {"step_id": 4, "source": "agent", "message": "old", "is_copied_context": True},
        {"step_id": 5, "source": "agent", "message": "Bought.", "timestamp": "2026-03-02T09:00:03Z"},
    ]  # fmt: skip
    write(folder, "shots/1.png", png(1))
    root = {
        "schema_version": "ATIF-v1.6",
        "session_id": "s1",
        "agent": {"name": "a", "version": "1"},
        "steps": steps,
    }
    return write(folder, "tea.json", {**root, **changes})


def harbor(folder: Path, error: str | None = None) -> Path:
    """A trial with an ATIF trajectory and rewards."""
    trial = folder / "shop__x1"
    atif(trial / "agent")
    (trial / "agent/tea.json").rename(trial / "agent/trajectory.json")
    write(trial, "agent/answer.txt", "Bought.\n")
    write(trial, "verifier/reward.json", {"reward": 1.0})
    write(trial, "verifier/reward.txt", "0.5\n")
    info = None if error is None else {"exception_type": error}
    write(trial, "result.json", {"task_name": "shop", "exception_info": info})
    return trial


class StepInfo:
    """Pickled under the name of BrowserGym's own class."""


def gym_pickle(step: int, action: str | None, **obs: Any) -> bytes:
    """A step of BrowserGym, as AgentLab writes it."""
    seen = {
        "url": "http://x.test/", "goal": "Find it.", "open_pages_urls": ["http://x.test/"], "open_pages_titles": ["X"],
        "active_page_index": 0, "last_action_error": "", "axtree_txt": "[a] button", "screenshot": None,
        "chat_messages": [{"role": "user", "message": "Find it.", "timestamp": 1.0}], **obs,
    }  # fmt: skip
    info = StepInfo()
    info.__dict__.update(step=step, obs=seen, action=action, agent_info={"think": "Hm."}, truncated=False)
    StepInfo.__module__, StepInfo.__qualname__ = "browsergym.experiments.loop", "StepInfo"
    module = types.ModuleType("browsergym.experiments.loop")
    module.StepInfo = StepInfo  # type: ignore[attr-defined]
    names = ("browsergym", "browsergym.experiments", "browsergym.experiments.loop")
    sys.modules.update(dict.fromkeys(names, module))
    try:
        return gzip.compress(pickle.dumps(info), mtime=0)
    finally:
        for name in names:
            del sys.modules[name]


def browsergym(folder: Path, summary: Any = None) -> Path:
    """An experiment of one action."""
    run = folder / "2026-03-02_09-00-00_agent_on_miniwob.click_3"
    write(run, "step_0.pkl.gz", gym_pickle(0, "click('a')"))
    write(run, "step_1.pkl.gz", gym_pickle(1, "send_msg_to_user('42')", last_action_error="gone"))
    write(run, "step_2.pkl.gz", gym_pickle(2, None))
    write(run, "screenshot_step_0.png", png(1))
    write(
        run,
        "summary_info.json",
        {"n_steps": 2, "cum_reward": 0.5, "err_msg": None} if summary is None else summary,
    )
    return run


ZSTANDARD = 93
"""Method of zip archives, which `zipfile` writes from Python 3.14 on."""


def packed(members: Mapping[str, Any]) -> bytes:
    """A zip archive with members packed by Zstandard, as Inspect writes it."""
    body, directory = b"", b""
    for name, content in members.items():
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        data, title = zstandard.compress(raw), name.encode()
        head = struct.pack(
            "<HHHHHIIIHH", 63, 0, ZSTANDARD, 0, 33, zlib.crc32(raw), len(data), len(raw), len(title), 0
        )
        directory += b"PK\1\2" + b"?\0" + head + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + title
        body += b"PK\3\4" + head + title + data
    count = len(members)
    return (
        body
        + directory
        + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0)
    )


def unpacked(path: Path) -> dict[str, bytes]:
    """The members of a zip archive; those packed by Zstandard as well."""
    found = {}
    with zipfile.ZipFile(path) as archive, path.open("rb") as stream:
        for one in archive.infolist():
            if one.compress_type != ZSTANDARD:
                found[one.filename] = archive.read(one)
                continue
            stream.seek(one.header_offset + 26)
            sizes = struct.unpack("<HH", stream.read(4))
            stream.seek(sum(sizes), 1)
            found[one.filename] = (
                zstandard.ZstdDecompressor().decompressobj().decompress(stream.read(one.compress_size))
            )
    return found


INSPECT_LOG = Path(__file__).with_name("mugs.eval")
"""Written by inspect-ai 0.3.285 with a scripted `mockllm/model`: one sample of five calls."""


def inspect_log(folder: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Path:
    """That log, its sample changed."""
    members = {name: json.loads(data) for name, data in unpacked(INSPECT_LOG).items()}
    change(members["samples/mug/1_epoch_1.json"])
    return write(folder, "mugs.eval", packed(members))


def mcp_entry(tool: str, args: Any, **sections: Any) -> str:
    """An entry of `session.md`, as Playwright's MCP server 0.0.83 writes it."""
    return "\n".join([
        "", f"### Tool call: {tool}", "- Args", "```json", json.dumps(args, indent=2), "```",
        "- Result", "```json", json.dumps(sections, indent=2), "```", "",
    ])  # fmt: skip


MCP_PAGE = "- Page URL: http://shop.test/\n- Page Title: Shop\n- Console: 1 errors, 0 warnings"
MCP_TREE = (
    '- heading "Shop" [level=1] [ref=e2]\n- textbox "Name" [ref=e5]: Ann\n- textbox "Password" [ref=e7]'
)


def mcp_entries() -> list[str]:
    """A page visited, a form filled, a password typed, a button clicked, a screenshot taken."""
    console = "- New console entries: out/console-1.log#L1-L2"
    form = [{"target": "e5", "name": "Name", "type": "textbox", "value": "Ann"},
            {"target": "e9", "name": "News", "type": "checkbox", "value": "true"},
            {"target": "e11", "name": "Size", "type": "combobox", "value": "two"}]  # fmt: skip
    shot = {"type": "image", "data": b64encode(png(4)).decode(), "mimeType": "image/png"}
    secret = "hunter22secret"
    return [
        mcp_entry("browser_navigate", {"url": "http://shop.test/"}, code="await page.goto('http://shop.test/');",
                  page=MCP_PAGE, snapshot=MCP_TREE, events=console),
        mcp_entry("browser_fill_form", {"fields": form}, code="await page.getByRole('textbox').fill('Ann');"),
        mcp_entry("browser_type", {"element": "Password", "target": "e7", "text": secret},
                  code=f"await page.getByRole('textbox', {{ name: 'Password' }}).fill('{secret}');"),
        mcp_entry("browser_snapshot", {}, page=MCP_PAGE, inlineSnapshot=f"{MCP_TREE}: {secret}"),
        mcp_entry("browser_click", {"element": "Buy", "target": "e12"}, error="Error: covered", isError=True,
                  tabs="- 0: [Shop [1]](http://shop.test/)\n- 1: (current) [Two](http://shop.test/2)", page=MCP_PAGE),
        mcp_entry("browser_take_screenshot", {"scale": "css"}, result="- [Screenshot](out/page-1.png)", attachments=[shot]),
        mcp_entry("browser_evaluate", {"function": "() => 1"}, result="1", code="await page.evaluate('() => 1');"),
    ]  # fmt: skip


def playwright_mcp(folder: Path, *entries: str) -> Path:
    """The folder of output of a session."""
    write(folder, "session-1795595353410/session.md", "".join(entries or mcp_entries()))
    lines = "[     185ms] [ERROR] Not found @ http://shop.test/x:0\n[     190ms] [LOG] two\nlines @ http://shop.test/:1\n"
    write(folder, "console-1.log", lines)
    return folder


def fara_log(*actions: dict[str, Any], text: str = "") -> str:
    """A log of Fara's harness: the start, an entry an action, and what else is said in it."""
    lines: list[Any] = [{"timestamp": "2026-03-02T09:00:00.5", "type": "OtherEvent", "message": "Starting."}]
    for at, arguments in enumerate(actions):
        lines.append({
            "timestamp": f"2026-03-02T09:00:{at + 1:02}", "type": "WebSurferEvent", "source": "FaraAgent",
            "message": f"computer_use( {json.dumps(arguments)} )", "url": f"http://x.test/{at}",
            "action": "computer_use", "arguments": arguments,
        })  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines) + text


def cua_row(**changes: Any) -> dict[str, Any]:
    """A row of CUAVerifierBench's `trajectories`: three actions and four images."""
    log = fara_log(
        {"action": "visit_url", "url": "shop.test/mugs", "thoughts": "I open the shop."},
        {"action": "type", "coordinate": [30.4, 41.6], "text": "tin mug", "thoughts": "I search."},
        {"action": "terminate", "status": "success", "thoughts": "The tin mug costs 9.50."},
    )
    row = {
        "task_id": "Shop--31", "instruction": "What is the price of the tin mug?", "init_url": "http://x.test/start",
        "start_timestamp": "2026-03-02T09:00:00", "end_timestamp": "2026-03-02T09:01:00",
        "final_answer": "The tin mug costs 9.50.", "is_aborted": False, "web_surfer_log": log,
        "screenshots": [{"bytes": png(at), "path": f"screenshot{at}.png"} for at in range(4)], "n_screenshots": 4,
        "gpt_eval_json": '{"score": 1, "gpt_response_text": "Looks right."}', "uv_rubric_score": 0.875,
        "uv_outcome_success": 1, "mm_is_success": 0, "verifier_is_success": 1, "final_human_outcome_label": 1,
        "final_human_process_label": 0, "median_human_rubric_score_agnostic": 0.75, "majority_human_outcome_vote": 1,
    }  # fmt: skip
    return {**row, **changes}


def cua_annotation(who: str, outcome: str = "Correct", **changes: Any) -> dict[str, Any]:
    """A row of its `annotations`."""
    return {
        "task_id": "Shop--31", "annotator": who, "human_judgement_outcome": outcome,
        "human_judgement_process": "Incorrect", "human_process_score": 0.5, "outcome_comment": f"{who} saw the price.",
        "process_comment": "A detour.", "informed_outcome_agreement": "Agree", "informed_process_agreement": "Disagree",
        "informed_outcome_comment": "", "informed_process_comment": None, **changes,
    }  # fmt: skip


def cua_tables(
    folder: Path, rows: list[dict[str, Any]], annotations: list[dict[str, Any]], split: str = "internal"
) -> Path:
    """Both tables as Parquet, under the names that they are published with."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = folder / "set"
    for name, content in (("trajectories", rows), ("annotations", annotations)):
        (place / name).mkdir(parents=True, exist_ok=True)
        if content:
            pq.write_table(pa.Table.from_pylist(content), place / name / f"{split}-00000-of-00001.parquet")
    return place


def cuaverifierbench(folder: Path) -> Path:
    """One run that two people judged."""
    return cua_tables(folder, [cua_row()], [cua_annotation("Judge1"), cua_annotation("Judge2")])


CLAW_START = 1_772_442_000_000


def claw_event(kind: str, at: int, xpath: str = "", **fields: Any) -> dict[str, Any]:
    """An event as ClawBench's page script sends it. `at`: ms since the start."""
    tag = xpath.rpartition("/")[2].partition("[")[0].upper()
    target = {
        "tagName": tag,
        "id": fields.pop("id", ""),
        "className": "",
        "textContent": fields.pop("text", ""),
        "xpath": xpath,
    }
    own = {"target": target} if kind != "pageLoad" else {}
    return {"type": kind, "timestamp": CLAW_START + at, "url": "http://shop.test/", **own, **fields}


BOX, SECRET_BOX = "/html[1]/body[1]/input[1]", "/html[1]/body[1]/input[2]"
CLAW_EVENTS = (
    claw_event("pageLoad", 0, title="Shop"),
    claw_event("click", 1000, BOX, x=31, y=42, value=""),
    claw_event("keydown", 1100, BOX, key="t", value=""),
    claw_event("input", 1101, BOX, value="t"),
    claw_event("keyup", 1102, BOX, key="t", value="t"),
    claw_event("keydown", 1200, BOX, key="i", value="t"),
    claw_event("keyup", 1201, BOX, key="i", value="ti"),
    claw_event("change", 1300, BOX, value="ti"),
    claw_event("keydown", 1400, BOX, key="Enter", value="ti"),
    claw_event("submit", 1401, "/html[1]/body[1]/form[1]", text="Find"),
    claw_event("input", 1500, SECRET_BOX, id="password", value="hunter22secre"),
    claw_event("keydown", 1501, SECRET_BOX, id="password", key="t", value="hunter22secre"),
    claw_event("keyup", 1502, SECRET_BOX, id="password", key="t", value="hunter22secret"),
    claw_event("scroll", 1600, "", scrollX=0, scrollY=300),
    claw_event("scroll", 1700, "", scrollX=0, scrollY=800),
    claw_event("click", 1800, "/html[1]/body[1]/a[7]", x=7, y=8, text="Buy"),
    claw_event("pageLoad", 1900, title="Bought"),
)
CLAW_ORDER = {
    "url": "http://shop.test/order?rush=1",
    "method": "POST",
    "body": {"item": "tin mug", "count": 2},
}


def clawbench(folder: Path, *events: dict[str, Any], **meta: Any) -> Path:
    """A run of a few gestures, whose last request was intercepted."""
    run = folder / "openclaw-886-shop-m-20260302-090000"
    fields: dict[str, Any] = {
        "test_case": "886-shop", "metaclass": "shopping", "instruction": "Order two tin mugs.", "model": "m",
        "harness": "openclaw", "thinking_level": None, "email_used": "ann@mail.test", "timestamp": "20260302-090000",
        "time_limit_minutes": 15, "duration_seconds": 62, "intercepted": True, "result_category": "pass",
        "run_metrics": {"actions": 14, "stop_reason": None, "missing_files": []},
    }  # fmt: skip
    write(run, "run-meta.json", {**fields, **meta})
    write(run, "eval-schema.json", {"url_pattern": "/order", "method": "POST"})
    lines = [json.dumps(one) for one in events or CLAW_EVENTS]
    write(run, "data/actions.jsonl", "".join(line + "\n" for line in lines))
    headers = {"Content-Type": "application/json", "Cookie": "sid=abcdef0123456789"}
    requests = [
        {"timestamp": 1_772_442_000.25, "url": "http://shop.test/", "method": "GET", "headers": {"Accept": "*/*"},
         "body": None, "query_params": {}, "resource_type": "Document"},
        {"timestamp": 1_772_442_001.85, "headers": headers, "query_params": {"rush": "1"}, "resource_type": "Fetch", **CLAW_ORDER},
    ]  # fmt: skip
    write(run, "data/requests.jsonl", "".join(json.dumps(one) + "\n" for one in requests))
    request = {"params": {"rush": "1"}, **CLAW_ORDER}
    write(
        run,
        "data/interception.json",
        {"intercepted": True, "request": request, "schema": {"url_pattern": "/order"}},
    )
    write(
        run,
        "judge.json",
        {"match": True, "reason": "Two mugs.", "judge_model": "j", "raw": "{}", "error": None},
    )
    said = [{"type": "message", "message": {"role": "user", "content": "Order two tin mugs."}},
            {"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": "I have ordered them."}]}}]  # fmt: skip
    write(run, "data/agent-messages.jsonl", "".join(json.dumps(one) + "\n" for one in said))
    for at in (0, 1101, 1800):
        write(run, f"data/screenshots/{CLAW_START + at}.png", png(at))
    write(run, "data/recording.mp4", b"mp4")
    return run


STAGEHAND_RUN = Path(__file__).with_name("stagehand")
"""Written by `writeTrajectoryDir` of @browserbasehq/stagehand 3.7.3 from a run of eight steps; scores by hand."""


def stagehand(folder: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Path:
    """That run, its trajectory changed."""
    run = folder / "mug-1" / "run-1"
    shutil.copytree(STAGEHAND_RUN, run)
    trajectory = json.loads((run / "trajectory.json").read_text())
    change(trajectory)
    write(run, "trajectory.json", trajectory)
    return run


RR_START = 1_772_442_000_000
"""When a stream of rrweb begins, ms."""


def element(number: int, tag: str, /, *children: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    """An element as rrweb serializes it."""
    return {"type": 2, "id": number, "tagName": tag, "attributes": attributes, "childNodes": list(children)}


def words(id: int, text: str) -> dict[str, Any]:
    """A text as rrweb serializes it."""
    return {"type": 3, "id": id, "textContent": text}


def increment(at: int, source: int, /, **data: Any) -> dict[str, Any]:
    """An increment of rrweb."""
    if source == 0:
        data = {"texts": [], "attributes": [], "removes": [], "adds": [], **data}
    return {"type": 3, "timestamp": RR_START + at, "data": {"source": source, **data}}


def rr_body() -> list[dict[str, Any]]:
    """A form, a shadow root, a list and a frame."""
    deep = {**element(16, "i", words(17, "deep")), "isShadow": True}
    options = (
        element(12, "option", words(13, "One"), value="1"),
        element(14, "option", words(15, "Two"), value="2"),
    )
    return [
        element(20, "label", words(21, "Name"), **{"for": "name"}),
        element(8, "input", id="name", value=""), element(9, "input", id="pw", type="password", value=""),
        element(10, "input", id="news", type="checkbox", value="on"), element(11, "select", *options, id="size"),
        {**element(18, "div", deep, id="h"), "isShadowHost": True},
        element(22, "ul", id="list"), element(23, "iframe", srcdoc="<b>x</b>"),
        element(24, "script", words(25, "SCRIPT_PLACEHOLDER")),
    ]  # fmt: skip


def rr_page(body: list[dict[str, Any]] | None = None) -> list[dict[str, Any]]:
    """The address of a page and its full snapshot."""
    head = element(4, "head", element(5, "title", words(6, "Shop")))
    page = element(3, "html", head, element(7, "body", *(rr_body() if body is None else body)), lang="en")
    document = {"type": 0, "id": 1, "childNodes": [{"type": 1, "id": 2, "name": "html"}, page]}
    return [
        {"type": 4, "timestamp": RR_START, "data": {"href": "http://shop.test/", "width": 800, "height": 600}},
        {"type": 2, "timestamp": RR_START + 1,
         "data": {"node": document, "initialOffset": {"left": 0, "top": 0}}},
    ]  # fmt: skip


def rr_events() -> list[dict[str, Any]]:
    """A page clicked, filled, scrolled, and changed by its scripts."""
    inner = {
        "type": 0,
        "id": 30,
        "childNodes": [element(31, "html", element(32, "b", words(33, "in the frame")))],
    }
    item = {"parentId": 22, "nextId": None, "node": element(40, "li")}
    text = {"parentId": 40, "nextId": None, "node": words(41, "first")}
    console = {"level": "warn", "payload": ['"careful"', "3"], "trace": ["http://shop.test/:3:1"]}
    return [
        *rr_page(),
        increment(2, 0, adds=[{"parentId": 23, "nextId": None, "node": inner}], isAttachIframe=True),
        increment(8, 1, positions=[{"x": 1, "y": 1, "id": 7, "timeOffset": -3}]),
        increment(10, 2, type=2, id=8, x=3, y=4), increment(11, 0, adds=[text, item]),
        increment(20, 5, id=8, text="A", isChecked=False), increment(30, 5, id=8, text="Ann", isChecked=False),
        increment(40, 5, id=9, text="**************", isChecked=False),
        {"type": 6, "timestamp": RR_START + 45, "data": {"plugin": "rrweb/console@1", "payload": console}},
        increment(50, 2, type=2, id=10, x=5, y=6), increment(51, 5, id=10, text="on", isChecked=True),
        increment(60, 5, id=11, text="2", isChecked=False),
        increment(70, 3, id=1, x=0, y=100), increment(75, 3, id=1, x=0, y=250),
    ]  # fmt: skip


def rrweb(folder: Path) -> Path:
    """A stream of rrweb."""
    return write(folder, "stream.json", rr_events())


def table_rows(run: str = "shop-1") -> list[dict[str, Any]]:
    """Rows of a table, one a step, as data sets of agents have them."""
    same = {"episode_id": run, "goal": "Buy tea.", "website": "http://shop.test/", "success": True}

    def row(at: int, action: Any, **cells: Any) -> dict[str, Any]:
        shot = "data:image/png;base64," + b64encode(png(at)).decode()
        seen = {"url": f"http://shop.test/{at}", "axtree": f"[{at}] button"}
        return {**same, "step": at, "observation": seen, "screenshot_before": shot, "action": action, **cells}

    return [
        row(0, "click('a51')", thought="Look.", latency=1.5),
        row(1, {"name": "type", "arguments": {"text": "tea"}}, thought="Search.", error="no field"),
        row(2, "TYPE", target='<input type="password"> Password', value="hunter22secret"),
        row(3, "stop [Bought.]", thought="Done.", tokens={"in": 7}),
    ]


def table(folder: Path) -> Path:
    """A table of one run, in JSON lines."""
    return write(folder, "train.jsonl", "".join(json.dumps(row) + "\n" for row in table_rows()))


SAMPLES: dict[str, Callable[[Path], Path]] = {
    "webvoyager": webvoyager,
    "online-mind2web": mind2web,
    "wabe": wabe,
    "playwright-trace": trace,
    "agentrewardbench": agentrewardbench,
    "browser-use": browser_use,
    "cuaverifierbench": cuaverifierbench,
    "clawbench": clawbench,
    "run-jsonl": run_jsonl,
    "atif": atif,
    "harbor": harbor,
    "browsergym": browsergym,
    "playwright-mcp": playwright_mcp,
    "stagehand": stagehand,
    "rrweb": rrweb,
    "inspect": inspect_log,
    "har": har,
    "webarena-verified": webarena_verified,
    "table": table,
}
"""FORMAT to a maker of a small run of it."""
