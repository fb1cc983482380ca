"""Runs that the real tools write, imported: sessions of Playwright's MCP server, streams of rrweb."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.interop.importing import import_runs
from replaykit.trajectory.action import Fill, tag_of
from replaykit.trajectory.observation import Observation
from tests.live.errands import DRIVERS, needs

pytestmark = pytest.mark.live


@pytest.fixture
def mcp(browser_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of Playwright's MCP server, which writes a session and a trace into `out`."""
    needs("node", package="@playwright/mcp")
    monkeypatch.syspath_prepend(DRIVERS)
    monkeypatch.setenv("REPLAYKIT_EVENTS", str(tmp_path / "events"))
    spec = importlib.util.spec_from_file_location("drivers_mcp", DRIVERS / "mcp.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "drivers_mcp", module)
    spec.loader.exec_module(module)
    client = module.Client(
        "--headless", "--no-sandbox", "--isolated", "--caps=devtools", f"--executable-path={browser_path}",
        "--save-session", f"--output-dir={tmp_path / 'out'}", "--timeout-action=60000",
    )  # fmt: skip
    yield client
    client.close()


def test_a_session_of_playwright_mcp(mcp: Any, tmp_path: Path) -> None:
    def ref(role: str, name: str) -> str:
        found = re.search(rf'- {role} "{name}[^"]*".*?\[ref=(\w+)\]', mcp.call("browser_snapshot"))
        assert found is not None
        return found[1]

    with serve() as shop:
        mcp.call("browser_start_tracing")
        mcp.call("browser_navigate", url=f"{shop.url}/settings")
        email = ref("textbox", "Contact email")
        mcp.call("browser_fill_form", fields=[
            {"name": "Contact email", "type": "textbox", "target": email, "value": "desk@harbour.test"},
        ])  # fmt: skip
        mcp.call("browser_click", element="Save settings", target=ref("button", "Save settings"))
        mcp.call("browser_take_screenshot")
        mcp.call("browser_stop_tracing")
        root = shop.url
    mcp.close()
    (session,) = import_runs("playwright-mcp", [tmp_path / "out"], tmp_path / "runs")
    assert session.error is None and session.warnings == ()
    with open_bundle(session.path) as bundle:
        run = bundle.trajectory
        assert [tag_of(step.action) for step in run.steps] == [
            "tool_call", "goto", "tool_call", "fill", "tool_call", "click", "tool_call", "tool_call",
        ]  # fmt: skip
        fill = run.steps[3].action
        assert isinstance(fill, Fill) and fill.value == "desk@harbour.test" and fill.element is not None
        assert fill.element.ref == email
        looks = {one.of: one for one in run.of_type(Observation)}
        assert looks[1].url == f"{root}/settings" and looks[1].title
        assert "Contact email" in bundle.blob(str(looks[1].a11y)).decode()
        assert bundle.blob(str(looks[6].screenshot)).startswith(b"\x89PNG")
    (traced,) = import_runs("playwright-trace", [tmp_path / "out"], tmp_path / "runs")
    assert traced.error is None
    with open_bundle(traced.path) as bundle:
        acts = [tag_of(step.action) for step in bundle.trajectory.steps]
        assert [one for one in acts if one in ("goto", "fill", "click")] == ["goto", "fill", "click"]
