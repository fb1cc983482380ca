"""A trace that the installed Playwright writes, imported: steps, pages, live values, no password."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from replaykit.bundle.reader import open_bundle
from replaykit.interop.run_import import import_run
from replaykit.replay.player import Replay
from replaykit.trajectory.action import tag_of

pytestmark = pytest.mark.live

PAGE = """<!doctype html><title>Shop</title><h1>Shop</h1>
<input id=name aria-label=Name><input id=pw type=password><input id=c type=checkbox>
<select id=s><option>one<option>two</select><div id=h></div><iframe srcdoc="<b id=inner>Inside</b>"></iframe>
<button id=b onclick="document.title = 'Bought'">Buy</button>
<script>h.attachShadow({mode: 'open'}).innerHTML = '<i>deep</i>'; console.log('hello')</script>"""


@pytest.fixture
def trace(browser: Browser, tmp_path: Path) -> Path:
    context = browser.new_context(viewport={"width": 800, "height": 600})
    context.route("**/*", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    context.tracing.start(screenshots=True, snapshots=True)
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("http://shop.test/")
    page.fill("#name", "Ann")
    page.fill("#pw", "hunter22secret")
    page.check("#c")
    page.select_option("#s", "two")
    page.frame_locator("iframe").locator("#inner").click()
    page.get_by_role("button").click()
    assert page.title() == "Bought"
    path = tmp_path / "trace.zip"
    context.tracing.stop(path=path)
    context.close()
    return path


def test_a_fresh_trace(trace: Path, tmp_path: Path) -> None:
    import_run("playwright-trace", trace, tmp_path / "run.zst")
    with open_bundle(tmp_path / "run.zst") as bundle:
        replay = Replay(bundle)
        steps = replay.steps
        assert [tag_of(step.action) for step in steps] == [
            "new_tab", "goto", "fill", "fill", "check", "select_option", "click", "click",
        ]  # fmt: skip
        assert all(step.action.element and step.action.element.node for step in steps[2:])
        inner = steps[6].action.element
        assert inner is not None and inner.tag == "b" and inner.frame == (0,)
        final = replay.final
        assert final is not None and final.dom is not None and final.url == "http://shop.test/"
        assert final.dom.snapshot.head.title == "Bought"
        states = final.dom.snapshot.state
        name, box, select = (final.dom.select(css) for css in ("#name", "#c", "#s"))
        assert name and box and select
        assert states[name.row].value == "Ann" and states[box.row].checked
        assert states[select.row].selected == [1]
        everything = b"".join(bundle.lines) + b"".join(map(bundle.blob, bundle.blob_ids))
        assert b"hunter22secret" not in everything
        for channel in ("actions", "targets", "network", "console", "dialogs"):
            assert bundle.trajectory.channel(channel) == "recorded", channel
