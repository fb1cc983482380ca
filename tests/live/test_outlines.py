"""Accessibility trees: of every page at rest, and none where a masked field holds something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.recorder.agent_runs import record_agent
from replaykit.recorder.browser import session_commands
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.task import decode_task
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.observation import Observation
from tests.live.agent_programs import apart

pytestmark = [pytest.mark.live, pytest.mark.one_page]

SECRET = 'pin: "hunter22"'
FORM = """<!doctype html><title>Form</title><h1>Order</h1><label>Name <input id=name></label>
<label>Password <input id=pass type=password></label><button id=go onclick="said.textContent = name_.value">Go</button>
<p id=said></p><script>const name_ = document.querySelector("#name"), said = document.querySelector("#said")</script>
"""


def trees(bundle: Bundle) -> list[tuple[str, str | None]]:
    """Role and tree of every look that may have one."""
    looks = bundle.trajectory.of_type(Observation)
    return [
        (look.role, bundle.blob(look.a11y).decode() if isinstance(look.a11y, str) else None) for look in looks
    ]


def record(out: Path, page: Page, url: str, **options: Any) -> None:
    page.goto(url)
    with Recorder(out, screenshots="off", **options) as run:
        run.attach(page)
        page.fill("#name", "Ann")
        page.click("#go")
        page.wait_for_timeout(400)


def test_every_page_at_rest_has_its_tree(tmp_path: Path, page: Page, site: Any) -> None:
    record(tmp_path / "run.zst", page, site.add("/", FORM), a11y=True)
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.header.channels["a11y"] == "recorded"
        last = trees(bundle)[-1]
        assert last == ("final", page.locator("body").aria_snapshot())
        assert '- textbox "Name": Ann' in (last[1] or "")
        # A look after the fill only where the page came to rest before the click.
        roles = [role for role, tree in trees(bundle) if tree is not None]
        assert roles in (["after", "final"], ["after", "after", "final"])


@pytest.mark.thorough
def test_async_agents_have_them_as_well(tmp_path: Path, site: Any) -> None:
    async def act(page: Any, agent_task: Any, run: Any) -> None:
        await page.click("#go")
        await page.wait_for_timeout(400)

    task = decode_task({"id": "form", "intent": "Go.", "start_urls": [site.add("/", FORM)]})
    apart(lambda: record_agent(act, task, tmp_path / "run.zst", a11y=True, screenshots="off"))
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert '- heading "Order" [level=1]' in (trees(bundle)[-1][1] or "")


def test_nothing_is_reported_without_asking(tmp_path: Path, page: Page, site: Any) -> None:
    record(tmp_path / "run.zst", page, site.add("/", FORM))
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.header.channels["a11y"] == "absent"
        assert {tree for _, tree in trees(bundle)} == {None}


def test_a_typed_password_withholds_the_tree_and_a_declared_secret_is_replaced(
    tmp_path: Path, page: Page, site: Any
) -> None:
    out = tmp_path / "run.zst"
    page.goto(site.add("/", FORM))
    with Recorder(out, screenshots="off", a11y=True, secrets={"pin": SECRET}) as run:
        run.attach(page)
        page.fill("#name", SECRET)
        page.click("#go")
        page.wait_for_timeout(400)
        page.fill("#pass", "another secret")
        page.wait_for_timeout(400)
    with open_bundle(out) as bundle:
        kept = [tree for _, tree in trees(bundle) if tree is not None]
        assert kept  # one more where the page came to rest between the first two actions
        assert all("⟦secret:pin⟧" in tree and "hunter22" not in tree for tree in kept)
        assert trees(bundle)[-1] == ("final", None)
        gaps = {(gap.channel, gap.why) for gap in bundle.trajectory.of_type(Gap)}
        assert ("a11y", "withheld") in gaps


def test_a_huge_page_has_none(tmp_path: Path, page: Page, site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_commands, "ELEMENTS_MAX", 5)
    record(tmp_path / "run.zst", page, site.add("/", FORM), a11y=True)
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert {tree for _, tree in trees(bundle)} == {None}
        assert ("a11y", "too_large") in {(gap.channel, gap.why) for gap in bundle.trajectory.of_type(Gap)}
