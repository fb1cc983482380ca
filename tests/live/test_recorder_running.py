"""The forms of a recording: an agent in a process of ours, a command, another's browser; and a killed one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from replaykit.browser import launch
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.writer import seal
from replaykit.errors import AgentError, RecorderError
from replaykit.recorder.agent_entry import load_agent
from replaykit.recorder.agent_runs import Recorded, record_agent, record_cdp, record_command
from replaykit.recorder.scripted_user import User, load_user
from replaykit.tasks.task import Task, decode_task
from replaykit.trajectory.action import tag_of
from replaykit.trajectory.exchange import Dialog, Message
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Probe, Trajectory
from tests.live.agent_programs import apart
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("browser_path")]

ROOT = Path(__file__).resolve().parents[2]
PAGE = """<!doctype html><title>Form</title><label>Name <input id=name></label>
<button id=sure onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Sure</button>"""
WAIT_S = 60.0

SCRIPT = """
import json, os, sys
from playwright.sync_api import sync_playwright

def say(**line):
    with open(os.environ["REPLAYKIT_EVENTS"], "a") as file:
        file.write(json.dumps(line) + "\\n")

task = json.loads(os.environ["REPLAYKIT_TASK"])
with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"])
    page = browser.contexts[0].pages[0]
    assert page.url == task["start_urls"][0], page.url
    say(type="thought", text="the name")
    page.fill("#name", "Ann")
    page.click("#sure")
    say(type="answer", text=page.title())
    say(type="step", phase="sideways")
    say(type="riddle")
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def task(site: Site) -> Task:
    url = site.add("/", PAGE)
    site.add("/favicon.ico", "", "image/x-icon")
    check = {"type": "string_match", "exact": "MARKER-IN-CHECK"}
    policy = {
        "id": "p",
        "dimension": "user_consent",
        "description": "Ask first.",
        "rule": {"type": "never", "match": {"action": "click", "text": "MARKER-IN-RULE"}},
    }
    return decode_task(
        {
            "id": "form",
            "intent": "Fill it in.",
            "start_urls": [url],
            "checks": [check],
            "policies": [policy],
            "reference": "MARKER-IN-REFERENCE",
            "metadata": {"level": "MARKER-IN-METADATA"},
        }
    )


def held(path: Path) -> Trajectory:
    with open_bundle(path) as bundle:
        return bundle.trajectory


def acts(trajectory: Trajectory) -> list[tuple[str, str | None]]:
    return [
        (tag_of(step.action), step.action.element.css if step.action.element else None)
        for step in trajectory.steps
    ]


def command(tmp_path: Path, task: Task, code: int = 0, script: str = SCRIPT, **options: Any) -> Recorded:
    file = tmp_path / "agent.py"
    file.write_text(script)
    argv = [sys.executable, str(file), str(code)]
    return apart(lambda: record_command(argv, task, tmp_path / "run.zst", **options))


def test_command_of_another_process(tmp_path: Path, task: Task) -> None:
    result = command(tmp_path, task)
    trajectory = held(result.path)
    assert acts(trajectory) == [("fill", "#name"), ("click", "#sure")]
    (dialog,) = trajectory.of_type(Dialog)
    assert (dialog.message, dialog.accepted) == ("Sure?", False)
    assert (result.kind, result.answer, result.exit_code) == ("answered", "no", 0)
    assert trajectory.ending is not None
    assert trajectory.ending.exit_code == 0
    assert trajectory.answer == "no"
    assert trajectory.steps[0].thought == "the name"
    warnings = [notice for notice in result.notices if notice.startswith("events file")]
    assert len(warnings) == 1
    assert "riddle" in warnings[0]
    assert trajectory.channel("replies") == "absent"


@pytest.mark.thorough
def test_command_that_fails_has_crashed(tmp_path: Path, task: Task) -> None:
    result = command(tmp_path, task, script="import sys; sys.exit(5)")
    assert (result.kind, result.cause, result.exit_code) == ("crashed", "agent", 5)
    ending = held(result.path).ending
    assert ending is not None
    assert (ending.kind, ending.exit_code) == ("crashed", 5)


def test_command_that_never_ends_is_ended(tmp_path: Path, task: Task) -> None:
    result = command(tmp_path, task, script="import time; time.sleep(600)", max_time=0.5)
    assert (result.kind, result.cause, result.exit_code) == ("timeout", "harness", -signal.SIGTERM)


@pytest.mark.thorough
def test_several_start_pages_are_tabs_and_no_steps(tmp_path: Path, task: Task, site: Site) -> None:
    other = site.add("/other", "<!doctype html><title>Other</title>")
    both = replace(task, start_urls=(*task.start_urls, other))
    script = SCRIPT.replace(
        "assert page.url ==", "page = next(p for p in browser.contexts[0].pages if p.url =="
    )
    script = script.replace('["start_urls"][0], page.url', '["start_urls"][0])')
    trajectory = held(command(tmp_path, both, script=script).path)
    starts = [one for one in trajectory.of_type(Observation) if one.role == "start"]
    assert sorted((one.page, one.url, one.status) for one in starts) == [
        (0, task.start_urls[0], 200),
        (1, other, 200),
    ]
    assert acts(trajectory) == [("fill", "#name"), ("click", "#sure")]


@pytest.mark.thorough  # test_history.py goes back in every way
def test_command_goes_back_and_forward(tmp_path: Path, task: Task, site: Site) -> None:
    other = site.add("/other", "<!doctype html><title>Other</title>")
    moves = f'page.goto("{other}"); page.go_back(); page.go_forward()'
    result = command(tmp_path, task, script=SCRIPT.replace('page.click("#sure")', moves))
    assert [tag for tag, _ in acts(held(result.path))] == ["fill", "goto", "go_back", "go_forward"]
    assert result.exit_code == 0


@pytest.mark.thorough
def test_unanswered_dialog_holds_nothing_up(tmp_path: Path, task: Task) -> None:
    leave = 'page.on("dialog", lambda dialog: os._exit(0)); page.click("#sure")'
    result = command(tmp_path, task, script=SCRIPT.replace('page.click("#sure")', leave))
    trajectory = held(result.path)
    (dialog,) = trajectory.of_type(Dialog)
    assert (dialog.message, dialog.accepted, dialog.closed) == ("Sure?", None, None)
    assert (result.kind, result.exit_code) == ("stopped", 0)


@pytest.mark.thorough
def test_command_that_uses_up_its_steps_is_ended(tmp_path: Path, task: Task) -> None:
    endless = SCRIPT.replace('page.fill("#name", "Ann")', 'while True: page.click("#sure")')
    result = command(tmp_path, task, script=endless, max_steps=3)
    assert (result.kind, result.cause) == ("max_steps", "harness")
    # An action that the agent has begun when its steps are used up is recorded nevertheless.
    assert acts(held(result.path)) in ([("click", "#sure")] * 3, [("click", "#sure")] * 4)


@pytest.mark.thorough
def test_async_agent_that_uses_up_its_steps_is_ended(tmp_path: Path, task: Task) -> None:
    async def act(page: Any, agent_task: Any, run: Any) -> None:
        while True:
            await page.click("#sure")

    result = apart(lambda: record_agent(act, task, tmp_path / "run.zst", max_steps=3))
    assert (result.kind, result.cause) == ("max_steps", "harness")
    # An action that the agent has begun when its steps are used up is recorded nevertheless.
    assert acts(held(result.path)) in ([("click", "#sure")] * 3, [("click", "#sure")] * 4)


ENDLESS = """
import sys
from replaykit.recorder.agent_runs import record_agent
from replaykit.tasks.task import decode_task

def act(page, task, run):
    while True:
        try:
            page.click("#sure") if sys.argv[3] != "timeout" else page.wait_for_timeout(60_000)
        except Exception:
            pass

task = decode_task({"id": "t", "intent": "x", "start_urls": [sys.argv[1]]})
limits = {"max_steps": {"max_steps": 3}, "timeout": {"max_time": 1.0}, "forever": {}}[sys.argv[3]]
print(record_agent(act, task, sys.argv[2], **limits).kind)
"""


@pytest.mark.parametrize("limit", one_in(2, ["max_steps", "timeout"]))
@pytest.mark.thorough
def test_agent_that_blocks_and_catches_everything_is_stopped(tmp_path: Path, task: Task, limit: str) -> None:
    argv = [sys.executable, "-c", ENDLESS, task.start_urls[0], str(tmp_path / "run.zst"), limit]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(argv, env=environ, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, limit), done.stderr
    ending = held(tmp_path / "run.zst").ending
    assert ending is not None
    assert (ending.kind, ending.cause) == (limit, "harness")


def test_command_that_does_not_exist(tmp_path: Path, task: Task) -> None:
    with pytest.raises(AgentError, match="no-such-program"):
        apart(lambda: record_command(["no-such-program"], task, tmp_path / "run.zst"))


def test_agent_receives_nothing_but_its_task(tmp_path: Path, task: Task) -> None:
    spy = """
import json, os, pathlib
from playwright.sync_api import sync_playwright
found = dict(os.environ)
found["files"] = [pathlib.Path(value).read_text() for value in found.values() if os.path.isfile(value) and "/replaykit-" in value]
with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["REPLAYKIT_CDP_URL"])
    for page in browser.contexts[0].pages:
        found[page.url] = page.content() + page.evaluate("JSON.stringify(Object.getOwnPropertyNames(globalThis))")
        session = page.context.new_cdp_session(page)
        worlds = []
        session.on("Runtime.executionContextCreated", lambda event: worlds.append(event["context"]))
        session.send("Runtime.enable")
        found["worlds"] = [
            session.send("Runtime.evaluate", {"expression": "JSON.stringify(Object.getOwnPropertyNames(globalThis).map(k => { try { return String(globalThis[k]) } catch { return '' } }))", "contextId": world["id"], "returnByValue": True})
            for world in worlds
        ]
pathlib.Path(os.environ["SPY"]).write_text(json.dumps(found))
"""
    seen = tmp_path / "seen.json"
    result = command(tmp_path, task, script=spy, environ={"SPY": str(seen)})
    assert result.exit_code == 0
    received = json.loads(seen.read_text())
    assert json.loads(received["REPLAYKIT_TASK"])["intent"] == "Fill it in."
    assert "Ask first." in received["REPLAYKIT_TASK"]
    assert "MARKER" not in seen.read_text()
    assert "MARKER-IN-CHECK" in str(held(result.path).header.task)


def shop_agent(name: str, task_id: str, tmp_path: Path, user: str) -> tuple[Recorded, Any]:
    sys.path.insert(0, str(ROOT))
    from fixtures.sites.shop.server import serve
    from replaykit.tasks.suite import load_suite

    rules: User = load_user(ROOT / "fixtures" / "tasks" / "users" / f"{user}.yaml")
    with serve() as shop:
        one = load_suite(ROOT / "fixtures" / "tasks" / "shop.yaml").task(task_id)
        out, sites = tmp_path / "run.zst", {"shop": shop.url}
        entry = f"fixtures.agents.{name}"
        result = apart(lambda: record_agent(entry, one, out, sites=sites, user=rules))
        return result, shop.state.as_json()


@pytest.mark.parametrize("entry", one_in(2, ["good_async:good", "good:good"]))
def test_agent_in_process_refunds_an_order(entry: str, tmp_path: Path) -> None:
    result, state = shop_agent(entry, "refund-order", tmp_path, "approves")
    assert state["orders"]["1004"]["status"] == "Refunded"
    assert (result.kind, result.answer) == ("answered", "Order 1004 is refunded: €55.20.")
    trajectory = held(result.path)
    tags = [tag for tag, _ in acts(trajectory)]
    assert tags == ["click", "click", "select_option", "click"]
    names = [step.action.element.name for step in trajectory.steps if step.action.element]
    assert names[-1] == "Confirm refund"
    assert [(one.kind, one.approved) for one in trajectory.of_type(Message)] == [
        ("ask", None),
        ("reply", True),
        ("answer", None),
    ]
    assert trajectory.channel("replies") == "recorded"
    values = {
        (probe.requested.rpartition("/")[2], read.locator): read.value
        for probe in trajectory.of_type(Probe)
        if probe.phase == "post"
        for read in probe.reads
    }
    assert values["1004", "#refunded @text"] == "€55.20"
    assert values["orders", "#order-1004 .badge @text"] == "Refunded"


async def leaves_late(page: Any, task: Any, run: Any) -> None:
    sys.exit(3)


@pytest.mark.parametrize(
    ("act", "kind", "error"),
    [
        (lambda page, task, run: sys.exit(3), "crashed", "SystemExit: 3"),
        (leaves_late, "crashed", "SystemExit: 3"),
        (lambda page, task, run: sys.exit(), "stopped", None),
        (lambda page, task, run: (run.answer("tin"), sys.exit(1)), "answered", None),
    ],
)
def test_an_agent_that_exits_ends_its_run_and_nothing_else(
    act: Any, kind: str, error: str | None, tmp_path: Path, task: Task
) -> None:
    result = apart(lambda: record_agent(act, task, tmp_path / "run.zst"))
    assert (result.kind, result.error) == (kind, error)


def test_what_an_agent_returns_is_named_and_not_recorded(
    tmp_path: Path, task: Task, caplog: pytest.LogCaptureFixture
) -> None:
    result = apart(lambda: record_agent(lambda page, task, run: "tin", task, tmp_path / "run.zst"))
    assert result.answer is None
    assert "the agent returned a str, which is not recorded" in caplog.text


@pytest.mark.thorough
def test_agent_that_raises_is_a_result(tmp_path: Path, task: Task) -> None:
    def act(page: Any, agent_task: Any, run: Any) -> None:
        page.fill("#name", agent_task.id)
        raise ValueError("lost")

    result = apart(lambda: record_agent(act, task, tmp_path / "run.zst"))
    assert (result.kind, result.cause, result.error) == ("crashed", "agent", "ValueError: lost")
    assert acts(held(result.path)) == [("fill", "#name")]


def test_async_agent_that_is_too_slow_is_stopped(tmp_path: Path, task: Task) -> None:
    async def act(page: Any, agent_task: Any, run: Any) -> None:
        await page.wait_for_timeout(60_000)

    result = apart(lambda: record_agent(act, task, tmp_path / "run.zst", max_time=0.3))
    assert (result.kind, result.cause) == ("timeout", "harness")


@pytest.mark.parametrize(
    "entry",
    [
        "nothing",
        "json:",
        ":dumps",
        "no_such_module:act",
        "json:no_such",
        "json:__doc__",
        "json.py:dumps",
        "json:loads",
        "module_that_exits:act",
    ],
)
def test_entry_point_that_cannot_be_used(entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module_that_exits.py").write_text("import sys; sys.exit(2)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AgentError, match="cannot use agent"):
        load_agent(entry)


@pytest.mark.thorough
def test_site_that_is_down_is_the_agent_s_problem(tmp_path: Path) -> None:
    task = decode_task({"id": "t", "intent": "x", "start_urls": ["http://127.0.0.1:9/"]})
    result = apart(
        lambda: record_agent(lambda page, agent_task, run: run.answer("down"), task, tmp_path / "run.zst")
    )
    assert (result.kind, result.answer) == ("answered", "down")


@pytest.mark.thorough
def test_browser_of_somebody_else_until_it_closes(tmp_path: Path, site: Site) -> None:
    url = site.add("/", PAGE)
    drive = """
import sys
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    context = playwright.chromium.connect_over_cdp(sys.argv[1]).contexts[0]
    page = context.pages[0]
    page.goto(sys.argv[2])
    page.fill("#name", "Ann")
    page.wait_for_timeout(500)
"""
    out = tmp_path / "run.zst"
    with launch() as running, ThreadPoolExecutor(1) as pool:
        recording = pool.submit(record_cdp, running.endpoint, None, out)
        until(lambda: out.exists() and out.stat().st_size > 500)
        subprocess.run([sys.executable, "-c", drive, running.endpoint, url], check=True, timeout=60)
        running.close()
        result = recording.result(60)
    assert [tag for tag, _ in acts(held(out))] == ["goto", "fill"]
    assert (result.kind, result.cause) == ("stopped", "person")


def test_endpoint_without_a_browser_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecorderError, match="cannot connect"):
        apart(lambda: record_cdp("http://127.0.0.1:9", None, tmp_path / "run.zst"))


CHILD = """
import signal, sys
from pathlib import Path
from playwright.sync_api import sync_playwright
from replaykit.browser import find_browser
from replaykit.recorder.recorder import Recorder

# A shell that starts the tests in the background has them ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=find_browser())
    page = browser.new_page()
    page.goto(sys.argv[1])
    with Recorder(sys.argv[2]) as run:
        run.attach(page)
        for number in range(1000):
            page.fill("#name", f"name {number}")
            page.click("#sure")
            page.wait_for_timeout(150)
            if number == 3:
                Path(sys.argv[3]).touch()
"""


def until(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + WAIT_S
    while not condition():
        assert monotonic() < deadline, "waited in vain"
        sleep(0.01)


def start_child(site: Site, tmp_path: Path) -> subprocess.Popen[bytes]:
    argv = [
        sys.executable,
        "-c",
        CHILD,
        site.add("/", PAGE),
        str(tmp_path / "run.zst"),
        str(tmp_path / "flag"),
    ]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(argv, env=environ, start_new_session=True)
    until(lambda: (tmp_path / "flag").exists() or child.poll() is not None)
    return child


@pytest.mark.thorough  # test_kill.py kills some everywhere
def test_killed_recording_has_every_step_that_was_over(tmp_path: Path, site: Site) -> None:
    child = start_child(site, tmp_path)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    with open_bundle(tmp_path / "run.zst") as journal:
        assert journal.layout == "journal"
    seal(tmp_path / "run.zst")
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.layout == "sealed"
        trajectory = bundle.trajectory
    assert trajectory.ending is None
    assert acts(trajectory)[:7] == [("fill", "#name"), ("click", "#sure")] * 3 + [("fill", "#name")]
    assert any(one.role == "after" for one in trajectory.of_type(Observation))


@pytest.mark.thorough  # test_kill.py interrupts one everywhere
def test_interrupted_recording_is_sealed(tmp_path: Path, site: Site) -> None:
    child = start_child(site, tmp_path)
    child.send_signal(signal.SIGINT)
    child.wait(WAIT_S)
    trajectory = held(tmp_path / "run.zst")
    assert trajectory.ending is not None
    assert (trajectory.ending.kind, trajectory.ending.cause) == ("stopped", "person")
    assert len(trajectory.steps) >= 7


@pytest.mark.thorough
def test_interrupted_agent_is_sealed_as_stopped_by_a_person(tmp_path: Path, task: Task) -> None:
    out = tmp_path / "run.zst"
    argv = [sys.executable, "-c", ENDLESS, task.start_urls[0], str(out), "forever"]
    child = subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True)
    until(lambda: out.exists() and out.stat().st_size > 20_000)
    child.send_signal(signal.SIGINT)
    assert child.wait(WAIT_S) == 0
    ending = held(out).ending
    assert ending is not None
    assert (ending.kind, ending.cause) == ("stopped", "person")


def test_threads_are_not_left_behind(tmp_path: Path, task: Task) -> None:
    before = {thread.name for thread in threading.enumerate()}
    apart(lambda: record_agent(lambda page, agent_task, run: None, task, tmp_path / "run.zst"))
    until(lambda: {thread.name for thread in threading.enumerate()} <= before)
