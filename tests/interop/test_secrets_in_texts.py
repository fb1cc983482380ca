"""Secrets of configurations, commands, headers and cookies, wherever a file holds them."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.interop.imported_run import Options
from replaykit.interop.password_masking import masked
from replaykit.interop.run_import import import_run
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import Task
from replaykit.trajectory.redaction_marks import MASKED
from tests.interop.conftest import Importing
from tests.interop.samples import atif, run_jsonl, write

SECRET = "Zq9-tulip-47k!x"

PLACES: list[Any] = [
    {"command": f"export API_KEY={SECRET}; curl x"},
    {"command": f'DB_PASSWORD="{SECRET}" python run.py'},
    {"env": {"OPENAI_API_KEY": SECRET}},
    {"cookies": [{"name": "sid", "value": SECRET, "domain": "x.test"}]},
    {"localStorage": [{"name": "auth_token", "value": SECRET}]},
    {"function": f"document.cookie = 'sid={SECRET}; path=/'"},
    {"command": f"curl -H 'Authorization: Basic {SECRET}' http://x.test/"},
    {"command": f"curl -H 'X-Api-Key: {SECRET}' http://x.test/"},
    {"text": f"HTTP/1.1 200 OK\nSet-Cookie: sid={SECRET}; Path=/; HttpOnly\n"},
    {"text": f"Cookie: a=1; sid={SECRET}"},
    {"text": json.dumps({"user": {"password": SECRET}})},
    {"text": json.dumps([{"access_token": SECRET}])},
    {"headers": {"Cookie": f"sid={SECRET}"}},
    {"url": f"http://x.test/?access_token={SECRET}"},
    {"element": "Kennwort (password)", "text": SECRET},
    {"function": f"() => localStorage.setItem('auth_token', '{SECRET}')"},
    {"function": f'sessionStorage["access_token"] = "{SECRET}"'},
    {"function": f"() => {{ sessionStorage.refresh_token = `{SECRET}` }}"},
    {"command": f"curl -u ann:{SECRET} https://x.test/"},
    {"command": f"curl --user 'ann:{SECRET}' https://x.test/"},
    {"command": f"curl -s -b 'theme=dark; sid={SECRET}' https://x.test/"},
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: json.dumps(place)[:40])
@pytest.mark.parametrize("where", ["arguments", "result", "beside", "agent"])
def test_a_secret_stays_out_wherever_it_stands(
    place: Any, where: str, tmp_path: Path, imported: Importing
) -> None:
    call = {"tool_call_id": "c", "function_name": "tool", "arguments": place if where == "arguments" else {}}
    content = json.dumps(place) if where == "result" else "ok"
    step: dict[str, Any] = {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call]}
    step["observation"] = {"results": [{"source_call_id": "c", "content": content}]}
    root: dict[str, Any] = {
        "schema_version": "ATIF-v1.8",
        "agent": {"name": "a", "version": "1"},
        "steps": [step],
    }
    if where == "beside":
        root["extra"] = {"config": place}
    if where == "agent":
        root["agent"]["extra"] = {"settings": [place]}
    bundle = imported("atif", write(tmp_path, "t.json", root))
    held = b"\n".join([*map(bytes, bundle.lines), *map(bundle.blob, bundle.blob_ids)]).decode()
    assert SECRET not in held
    assert "⟦" in held


@pytest.mark.parametrize(
    "text",
    [
        "TOTAL_PRICE=1200", "MAX_TOKENS=4096", "API_KEY=$SECRET", "PRIMARY_KEY", "Cookie: we use cookies", "Cookies: accept all",
        "Authorization: required", "a = b; c = d", "KEY=enter", "TOKEN=<secret>x</secret>", "{not json", "[1, 2",
        "cookie policy = strict", '{"note": "plain"}',
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text: str) -> None:
    found: list[str] = []
    assert masked(text, found.append) == text
    assert not found


@pytest.mark.parametrize(
    "part", ["A_", "cookie: a=", "a=b; ", "authorization: ", "API_KEY=", "COOKIE: A=1; ", 'X_KEY="']
)
def test_no_text_takes_long(part: str) -> None:
    text = part * (500_000 // len(part))
    began = time.process_time()
    masked(text, lambda _: None)
    assert time.process_time() - began < 20


def test_a_variable_that_is_named_is_hidden_in_the_whole_run(tmp_path: Path, imported: Importing) -> None:
    path = run_jsonl(tmp_path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    call = {"id": "env", "name": "bash", "arguments": {"command": f"export MODEL_KEY={SECRET}"}}
    lines[1:1] = [{"t": "assistant", "ts": 1, "text": f"The key is {SECRET}.", "tool_calls": [call]}]
    path.write_text("\n".join(map(json.dumps, lines)))
    bundle = imported("run-jsonl", path)
    held = b"\n".join(map(bytes, bundle.lines)).decode()
    assert SECRET not in held and MASKED in held


def test_secrets_that_are_to_stay_do(tmp_path: Path, imported: Importing) -> None:
    path = atif(tmp_path)
    root = json.loads(path.read_text())
    root["extra"] = {"env": {"DB_PASSWORD": SECRET}}
    path.write_text(json.dumps(root))
    assert SECRET in b"\n".join(map(bytes, imported("atif", path, keeps_secrets=True).lines)).decode()


@pytest.mark.parametrize(
    "text",
    [
        f"http://x.test/?access_token={SECRET}",
        f"http://ann:{SECRET}@x.test/",
        f"Use API_KEY={SECRET} for it.",
    ],
)
def test_a_task_of_the_source_holds_no_secret(text: str, tmp_path: Path, imported: Importing) -> None:
    row = {"episode_id": "e1", "goal": f"Open {text} now.", "website": text, "step": 0, "action": "noop()"}
    bundle = imported("table", write(tmp_path, "runs.jsonl", json.dumps(row)))
    header = bundle.header
    assert header.task is not None and str(header.task["intent"]).startswith("Open ")
    assert SECRET.encode() not in b"".join(bundle.lines)


def test_a_task_of_the_user_stays_as_it_is(tmp_path: Path) -> None:
    url = f"http://x.test/?access_token={SECRET}"
    suite = Suite(tasks=(Task(id="e1", intent="Open it.", start_urls=(url,)),))
    row = {"episode_id": "e1", "goal": "Open it.", "step": 0, "action": "noop()"}
    target = tmp_path / "run.zst"
    import_run("table", write(tmp_path, "runs.jsonl", json.dumps(row)), target, options=Options(suite=suite))
    with open_bundle(target) as bundle:
        assert bundle.header.task is not None and bundle.header.task["start_urls"] == [url]
