"""Runs that the real tools write, imported: sessions of Playwright's MCP server, streams of rrweb."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from fixtures.sites.shop.server import serve
from replaykit.bundle.reader import open_bundle
from replaykit.interop.run_import import import_runs
from replaykit.snapshot.codec import decode
from replaykit.trajectory.action import Fill, tag_of
from replaykit.trajectory.exchange import Console, Navigation
from replaykit.trajectory.observation import Observation
from tests.live.agent_programs import DRIVERS, needs
from tests.live.conftest import Site

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
        actions = [tag_of(step.action) for step in bundle.trajectory.steps]
        assert [one for one in actions if one in ("goto", "fill", "click")] == ["goto", "fill", "click"]


PAGE = """<!doctype html><title>Shop</title><style>#x {color: red}</style>
<label for=name>Name</label><input id=name><input id=pw type=password><input id=news type=checkbox>
<textarea id=note>old</textarea><select id=size><option value=1>One<option value=2>Two</select>
<button id=buy onclick="out.textContent = 'Sent'; console.warn('sent', 3)">Buy</button><p id=out></p><div id=h></div>
<iframe srcdoc="<b>inside</b>"></iframe><ul id=list></ul><a id=next href="/two">Next</a>
<div style="height: 3000px"></div>
<script>h.attachShadow({mode: 'open'}).innerHTML = '<i>deep</i>';
function grow(n) { for (let i = 0; i < n; i++) { const li = document.createElement('li');
  li.textContent = 'item ' + i; list.insertBefore(li, list.firstChild) } }
function cut() { list.lastChild.remove(); list.firstChild.firstChild.data = 'changed' }</script>"""

RECORD = """() => { window.events = [];
const console = rrwebPluginConsoleRecord.getRecordConsolePlugin({level: ['warn']});
rrweb.record({emit: event => window.events.push(event), plugins: [console]}) }"""


def record(page: Page) -> None:
    """Start rrweb in a page."""
    for script in (
        "rrweb/umd/rrweb.js",
        "@rrweb/rrweb-plugin-console-record/umd/rrweb-plugin-console-record.js",
    ):
        page.add_script_tag(path=DRIVERS / "node_modules" / script)
    page.evaluate(RECORD)


def test_a_stream_of_rrweb(page: Page, site: Site, tmp_path: Path) -> None:
    needs("node", package="rrweb")
    url = site.add("/", PAGE)
    site.add("/two", PAGE)
    page.goto(url)
    record(page)
    page.fill("#name", "Ann")
    page.type("#pw", "hunter22secret")
    page.check("#news")
    page.fill("#note", "new")
    page.select_option("#size", "2")
    page.evaluate("grow(3); cut()")
    page.click("#buy")
    page.dblclick("#out")
    page.evaluate("scrollTo(0, 300)")
    page.wait_for_function("events.some(event => event.type == 3 && event.data.source == 3)")
    first = page.evaluate("events")
    page.goto(site.origin + "/two")
    record(page)
    page.fill("#name", "Bob")
    page.wait_for_function("events.some(event => event.type == 3 && event.data.source == 5)")
    events = [*first, *page.evaluate("events")]
    (tmp_path / "stream.json").write_text(json.dumps(events))
    (done,) = import_runs("auto", [tmp_path / "stream.json"], tmp_path / "runs")
    assert done.error is None and not [line for line in done.warnings if not line.startswith("left out")]
    with open_bundle(done.path) as bundle:
        run = bundle.trajectory
        actions = [tag_of(step.action) for step in run.steps]
        assert actions == [
            "fill", "fill", "check", "fill", "select_option", "click", "dblclick", "scroll", "fill",
        ]  # fmt: skip
        values = [step.action.value for step in run.steps if isinstance(step.action, Fill)]
        assert values == ["Ann", "\u27e6masked\u27e7", "new", "Bob"]
        everything = b"".join(bundle.lines) + b"".join(map(bundle.blob, bundle.blob_ids))
        assert b"hunter22secret" not in everything and b"******" not in everything
        assert [one.url for one in run.of_type(Navigation)] == [url, site.origin + "/two"]
        assert [one.text for one in run.of_type(Console)] == ["sent 3"]
        shown = run.steps[8].before
        last = [one for one in run.of_type(Observation) if one.of == 7][-1]
        assert shown is not None and run.channel("snapshots") == "recorded"
        left = decode(bundle.blob(str(run.steps[7].before and run.steps[7].before.snapshot)))
        texts = [
            name for name in left.name if name in ("Sent", "changed", "item 1", "item 0", "deep", "inside")
        ]
        assert texts == ["Sent", "deep", "inside", "changed", "item 1"]
        assert last.url is not None
