"""docs/harnesses.md: its loop drives a real browser, its commands run."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.tasks.suite import load_suite
from tests.blocks import typed_lines

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", (ROOT / "docs" / "harnesses.md").read_text("utf-8"), flags=re.S)
NAME = re.compile(r"# (\S+\.\w+)\n")
FILES = {found[1]: text for _, text in BLOCKS if (found := NAME.match(text))}
LINES = [line for kind, text in BLOCKS if kind == "sh" for line in typed_lines(text)]
COMMANDS = [line for line in LINES if line.startswith("replaykit ")]
INSPECT = [line for line in LINES if line.startswith("inspect ")]  # tests/integrations/inspect runs them
TELEMETRY = [line for line in LINES if " --otel " in line]  # tests/integrations/otel runs it
SERVERS = [line for line in LINES if line not in (*COMMANDS, *INSPECT, *TELEMETRY)]
AGENTS = ("assessor", "participant")


def defined(name: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(FILES[name], name, "exec"), space)
    return space


def test_every_block_of_the_page_is_run_or_compared() -> None:
    assert list(FILES) == ["loop.py", "traced.py"]
    assert [line.split()[1] for line in INSPECT] == ["eval", "score"]
    assert [line.split()[1] for line in COMMANDS] == ["record", "grade", "rerun"]
    assert [line.split()[2] for line in SERVERS] == [f"fixtures.agents.a2a_{name}" for name in AGENTS]
    assert len(BLOCKS) == len(FILES) + 8


# The loop


class Gym:
    """An environment with BrowserGym's interface: references are CSS selectors here."""

    def __init__(self, browser: Any, url: str, limit: int = 9) -> None:
        self.unwrapped, self._browser, self._url, self._left = self, browser, url, limit
        self._chat = [{"role": "assistant", "message": "Hi!"}, {"role": "user", "message": "The goal."}]

    def reset(self) -> tuple[dict[str, Any], dict[str, Any]]:
        self.context = self._browser.new_context()
        self.chat = SimpleNamespace(context=self.context)  # of BrowserGym a browser of its own
        self._page = self.context.new_page()
        self._page.goto(self._url)
        return self._seen(), {}

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        call = ast.parse(action, mode="eval").body
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        values = [ast.literal_eval(argument) for argument in call.args]
        if call.func.id == "send_msg_to_user":
            self._chat.append({"role": "assistant", "message": values[0]})
        else:
            getattr(self._page, call.func.id)(*values)
        self._left -= 1
        return self._seen(), 0.0, len(self._chat) > 2, not self._left, {}

    def _seen(self) -> dict[str, Any]:
        total = self._page.locator("#total")
        text = total.inner_text() if total.count() else ""
        return {"url": self._page.url, "total": text, "chat_messages": list(self._chat)}


def clerk() -> Callable[[dict[str, Any]], tuple[str, str]]:
    plan = iter(
        [
            "click('.side a[href$=\"orders\"]')",
            "fill('#q', 'Ines')",
            "click('#order-search button')",
            "click('#orders tbody a >> nth=0')",
        ]
    )

    def act(observation: dict[str, Any]) -> tuple[str, str]:
        said = f"send_msg_to_user({observation['total']!r})"
        return next(plan, said), f"I am at {observation['url']}."

    return act


@pytest.fixture
def browser(browser_path: Path) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=browser_path, chromium_sandbox=False)
        yield started
        started.close()


@pytest.mark.live
def test_the_loop_records_and_grades_an_episode(browser: Any, tmp_path: Path) -> None:
    task = load_suite(ROOT / "fixtures" / "tasks" / "shop.yaml").task("order-total")
    path = tmp_path / "episode.zst"
    with serve() as shop:
        env = Gym(browser, shop.url)
        verdict = defined("loop.py")["record_episode"](env, clerk(), path, task, {"shop": shop.url})
    assert (verdict.success, verdict.cup) == ("PASS", 1)
    with open_bundle(path) as bundle:
        steps = bundle.trajectory.steps
        assert [step.raw for step in steps][:2] == [
            "click('.side a[href$=\"orders\"]')",
            "fill('#q', 'Ines')",
        ]
        assert [step.origin for step in steps] == ["both"] * 4 + ["declared"]
        assert all(step.thought for step in steps)


@pytest.mark.live
@pytest.mark.thorough
def test_an_episode_that_is_cut_off_is_recorded_as_such(browser: Any, tmp_path: Path) -> None:
    task = load_suite(ROOT / "fixtures" / "tasks" / "shop.yaml").task("order-total")
    path = tmp_path / "episode.zst"
    with serve() as shop:
        env = Gym(browser, shop.url, limit=2)
        verdict = defined("loop.py")["record_episode"](env, clerk(), path, task, {"shop": shop.url})
    assert verdict.success == "FAIL"
    with open_bundle(path) as bundle:
        assert bundle.ending is not None
        assert (bundle.ending.kind, bundle.ending.cause) == ("max_steps", "harness")


@pytest.mark.live
@pytest.mark.thorough
def test_the_trace_of_a_run_is_that_of_its_harness(browser: Any, tmp_path: Path) -> None:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    provider, sent = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(sent))
    path = tmp_path / "run.zst"
    with serve() as shop:
        page = browser.new_page()
        page.goto(shop.url)
        place = defined("traced.py")["record_traced"](provider.get_tracer("harness"), page, path)
    (span,) = sent.get_finished_spans()
    with open_bundle(path) as bundle:
        assert bundle.header.traceparent == place
        assert [step.action.__struct_config__.tag for step in bundle.trajectory.steps] == ["click"]
    assert place.startswith(f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-")


# The commands


@pytest.mark.live
@pytest.mark.thorough  # test_help_examples.py runs the like
def test_the_commands_record_grade_and_do_it_again(browser_path: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "fixtures" / "tasks" / "shop.yaml", tmp_path)
    (tmp_path / "my_agent.py").write_text("from fixtures.agents.good import good as run\n", "utf-8")
    environ = {"PYTHONPATH": str(ROOT), "REPLAYKIT_BROWSER": str(browser_path), "PATH": "/usr/bin:/bin"}
    outputs = []
    for line in COMMANDS:
        with serve() as shop:  # afresh: the first run may have changed it
            argv = shlex.split(line.replace("http://127.0.0.1:8000", shop.url))
            done = subprocess.run(
                [sys.executable, "-m", *argv], cwd=tmp_path, env=environ, capture_output=True, text=True,
                timeout=120, check=False,
            )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        outputs.append(done.stdout)
    assert '"success_rate"' in (tmp_path / "results.json").read_text("utf-8")
    (shown,) = [text for kind, text in BLOCKS if kind == "" and "steps done" in text]
    assert outputs[2].splitlines()[-1] == shown.splitlines()[-1]
    assert "<a> Orders -> CLICK" in outputs[2]
