"""Every document is opened and closed, however it comes and goes; one that silences the recorder is a gap."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, Page

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.exchange import Gap
from tests.thorough import one_in

pytestmark = pytest.mark.live

PLAIN = "<!doctype html><title>x</title><a id=next href=/next>next</a><button>b</button>"
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg"/>'
SHEET = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"

FRAMES = {
    "empty": "<iframe></iframe>",
    "srcdoc": '<iframe srcdoc="<button>i</button>"></iframe>',
    "own": '<iframe src="/next"></iframe>',
    "other": '<iframe src="OTHER/next"></iframe>',
    "sandboxed": '<iframe sandbox srcdoc="<p>i"></iframe>',
    "data": '<iframe src="data:text/html,<p>i"></iframe>',
    "script": "<iframe src=\"javascript:'<b>i</b>'\"></iframe>",
    "object": '<object data="/next"></object>',
    "refused": '<iframe src="http://127.0.0.1:9/"></iframe>',
    "pdf": '<iframe src="/sheet"></iframe>',
}

ADD = """(markup) => { const box = document.createElement('div'); box.id = 'box'; document.body.append(box);
  box.innerHTML = markup }"""


@pytest.fixture
def home(site: Any) -> str:
    site.add("/next", PLAIN)
    site.add("/drawing", DRAWING, "image/svg+xml")
    site.add("/sheet", SHEET, "application/pdf")
    site.add("/elsewhere", "<!doctype html><script>location = '/next'</script>")
    return str(site.add("/", PLAIN))


def record(tmp_path: Path, page: Page, act: Callable[[Page], object]) -> tuple[dict[str, Proof], set[str]]:
    """Record what `act` does; returns the proofs of the witnesses in the page, and its gaps."""
    path = tmp_path / "run.zst"
    with Recorder(path, screenshots="off", network="off") as run:
        run.attach(page)
        act(page)
    with open_bundle(path) as bundle:
        proofs = {proof.witness: proof for proof in bundle.trajectory.of_type(Proof)}
        gaps = {gap.why for gap in bundle.trajectory.of_type(Gap) if gap.channel == "actions"}
        assert {"page", "ledger"} <= set(bundle.header.witnesses)
    return {name: proofs[name] for name in ("page", "ledger")}, gaps


def assert_closed(proofs: dict[str, Proof], gaps: set[str]) -> None:
    assert gaps == set()
    assert all(proof.closed for proof in proofs.values())
    assert proofs["page"].counts["documents"] == proofs["page"].counts["closed"] > 0
    assert proofs["ledger"].counts["counted"] == proofs["ledger"].counts["received"]


def test_navigations_of_every_kind(tmp_path: Path, page: Page, home: str, site: Any) -> None:
    def act(page: Page) -> None:
        page.goto(home)
        page.click("button")
        page.click("#next")
        page.wait_for_url("**/next")
        page.go_back()
        page.reload()
        page.goto(f"{site.other}/next")
        page.goto(home.rstrip("/") + "/elsewhere")
        page.wait_for_url("**/next")
        page.goto(home.rstrip("/") + "/drawing")
        page.goto("about:blank")
        page.set_content("<button>x</button>")
        page.click("button")

    assert_closed(*record(tmp_path, page, act))


def test_pages_that_stay_when_they_were_to_go(tmp_path: Path, page: Page, home: str) -> None:
    def act(page: Page) -> None:
        page.on("dialog", lambda dialog: dialog.dismiss())
        page.goto(home)
        page.evaluate("() => { window.onbeforeunload = (event) => event.preventDefault() }")
        page.click("button")
        page.evaluate("() => { location = '/next' }")
        page.click("button")
        page.click("button")

    assert_closed(*record(tmp_path, page, act))


@pytest.mark.parametrize("kind", one_in(6, [*FRAMES]))
def test_frames_of_every_kind(tmp_path: Path, page: Page, home: str, site: Any, kind: str) -> None:
    def act(page: Page) -> None:
        page.goto(home)
        page.evaluate(ADD, FRAMES[kind].replace("OTHER", site.other))
        page.wait_for_timeout(500)  # frames that are no pages of a site have no load to wait for
        page.evaluate("() => document.getElementById('box').remove()")
        page.evaluate(ADD, FRAMES[kind].replace("OTHER", site.other))
        page.evaluate("() => document.getElementById('box').remove()")
        page.click("button")

    proofs, gaps = record(tmp_path, page, act)
    assert gaps <= {"target.late", "target.unarmed"}
    assert all(proof.closed for proof in proofs.values()), proofs


def test_frame_that_goes_elsewhere_is_counted_again(tmp_path: Path, page: Page, home: str) -> None:
    def act(page: Page) -> None:
        page.goto(home)
        page.evaluate(ADD, "<iframe src='/next'></iframe>")
        page.frame_locator("iframe").locator("button").click()
        page.frame_locator("iframe").locator("a").click()
        page.frame_locator("iframe").locator("button").click()

    proofs, gaps = record(tmp_path, page, act)
    assert_closed(proofs, gaps)
    assert proofs["ledger"].counts["windows"] >= 4


def test_popups_and_closed_pages(tmp_path: Path, page: Page, home: str) -> None:
    def act(page: Page) -> None:
        page.goto(home)
        with page.expect_popup() as opened:
            page.evaluate("() => { globalThis.other = open('/next') }")
        opened.value.click("button")
        opened.value.close()
        with page.expect_popup() as opened:
            page.evaluate("() => { globalThis.other = open('/next') }")
        opened.value.hover("button")  # an action waits for the recorder in its tab
        with opened.value.expect_event("close"):
            page.evaluate("() => other.close()")
        page.click("button")

    assert_closed(*record(tmp_path, page, act))


SILENT = """for (const name of ['pointerdown', 'pointerup', 'click']) addEventListener(name, (event) => {
  event.stopImmediatePropagation(); if (name === 'click') GO }, true);"""

SILENCED = {
    "own": """(silent) => { const frame = document.createElement('iframe'); frame.id = 'frame';
      document.body.append(frame); const inner = frame.contentDocument; inner.open();
      inner.write(`<script>${silent.replace('GO', "parent.document.getElementById('frame').remove()")}</` +
        'script><button>i</button>'); inner.close() }""",
    "sandboxed": """(silent) => { addEventListener('message', () => document.getElementById('frame').remove());
      const frame = document.createElement('iframe'); frame.id = 'frame'; frame.sandbox = 'allow-scripts';
      const text = `<script>${silent.replace('GO', "parent.postMessage(1, '*')")}<\\/script><button>i</button>`;
      frame.srcdoc = '<body><script>document.open(); document.write(' +
        JSON.stringify(text).replaceAll('<\\/', '<\\\\/') + '); document.close()</' + 'script>';
      document.body.append(frame) }""",
}


@pytest.mark.parametrize("kind", one_in(2, [*SILENCED]))
def test_frame_silenced_and_removed_within_its_own_click(
    tmp_path: Path, page: Page, home: str, kind: str
) -> None:
    def act(page: Page) -> None:
        page.goto(home)
        page.evaluate(SILENCED[kind], SILENT)
        page.frame_locator("#frame").locator("button").click()

    proofs, gaps = record(tmp_path, page, act)
    assert gaps & {"events.missed", "document.unclosed"}
    assert not all(proof.closed for proof in proofs.values())


def test_page_that_stops_the_events_of_its_end(tmp_path: Path, page: Page, home: str) -> None:
    stop = """() => { document.open(); document.write(`<script>for (const name of ['beforeunload', 'pagehide', 'click',
      'pointerdown', 'pointerup']) addEventListener(name, (event) => event.stopImmediatePropagation(), true)</` +
      'script><button>b</button>'); document.close() }"""

    def act(page: Page) -> None:
        page.goto(home)
        page.evaluate(stop)
        page.click("button")
        page.goto(home)

    _, gaps = record(tmp_path, page, act)
    assert gaps & {"events.missed", "document.unclosed"}


def test_crash_leaves_a_gap(tmp_path: Path, page: Page, home: str) -> None:
    def act(page: Page) -> None:
        page.goto(home)
        other = page.context.new_page()
        with pytest.raises(Error):
            page.goto("chrome://crash")
        other.close()

    proofs, gaps = record(tmp_path, page, act)
    assert "document.crashed" in gaps
    assert not proofs["page"].closed
