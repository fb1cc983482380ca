"""The net log of a browser that the recorder starts: requests that no other witness has, and none too many."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.agent_runs import record_agent
from replaykit.tasks.task import Task, decode_task
from replaykit.trajectory.completeness_proof import Proof
from replaykit.trajectory.exchange import Exchange
from replaykit.trajectory.step import Trajectory
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site

pytestmark = pytest.mark.live

FRAME = """const frame = document.createElement('iframe'); frame.sandbox = 'allow-scripts';
frame.srcdoc = '<script>fetch("@buy", {method: "POST", mode: "no-cors"})<' + '/script>';
document.body.append(frame); setTimeout(() => frame.remove(), 60)"""
BEACON = (
    "addEventListener('pagehide', () => navigator.sendBeacon('@buy', new Blob(['x']))); location = '@two'"
)
KEPT = """addEventListener('visibilitychange', () => fetch('@buy', {method: 'POST', keepalive: true, body: 'x'}));
location = '@two'"""
POPUP = "const popup = open('@two'); setTimeout(() => popup.close(), 5); fetch('@buy', {method: 'POST'})"
SHARED = "new SharedWorker('@shared')"
NESTED = """new Worker(URL.createObjectURL(new Blob([`new Worker(URL.createObjectURL(new Blob(
["fetch('@buy', {method: 'POST'})"])))`])))"""
TRANSPORT = """new Worker(URL.createObjectURL(new Blob(["new WebTransport('https://127.0.0.1:1/buy')"])))"""
WAYS = {"frame": FRAME, "beacon": BEACON, "kept": KEPT, "popup": POPUP, "shared": SHARED, "nested": NESTED}

HONEST = """<!doctype html><title>Shop</title><link rel=prefetch href=/prefetched><script src=/script></script>
<img src=/image><img src=/image><iframe src=/two></iframe><iframe sandbox=allow-scripts srcdoc='<p>s</p>'></iframe>
<form action=/two method=post><button id=post>Post</button></form><a href=/moved id=moved>Moved</a>
<script>fetch('/moved'); fetch('/sent', {method: 'POST', body: new Blob(['b'])})</script>"""


@pytest.fixture
def start(site: Site) -> str:
    site.add("/two", "<!doctype html><title>Two</title><a href=/ id=back>Back</a>")
    site.add("/script", "globalThis.x = 1", "text/javascript")
    site.add("/sent", "ok", "text/plain")
    site.add("/image", "", "image/png")
    site.add("/prefetched", "x", "text/plain")
    site.add("/moved", "x", "text/plain")
    return site.add("/", HONEST)


def ran(act: Any, start: str, tmp_path: Path) -> Trajectory:
    task: Task = decode_task({"id": "t", "intent": "Try.", "start_urls": [start]})
    with ThreadPoolExecutor(1) as pool:  # another Playwright than the module's
        pool.submit(record_agent, act, task, tmp_path / "run.zst").result()
    with open_bundle(tmp_path / "run.zst") as bundle:
        return bundle.trajectory


def proof(run: Trajectory) -> Proof:
    (one,) = [one for one in run.of_type(Proof) if one.witness == "netlog"]
    return one


@pytest.mark.parametrize("way", one_in(6, [*WAYS]))
def test_a_request_that_no_other_witness_sees(start: str, site: Site, tmp_path: Path, way: str) -> None:
    site.add("/shared", f"fetch('{start}buy', {{method: 'POST'}})", "text/javascript")
    script = WAYS[way].replace("@", start)

    def act(page: Any, agent_task: Any, run: Any) -> None:
        page.evaluate(script)
        for _ in range(600):
            if "/buy" in site.asked:
                break
            page.wait_for_timeout(100)

    run = ran(act, start, tmp_path)
    bought = [one for one in run.of_type(Exchange) if (one.method, one.url) == ("POST", f"{start}buy")]
    assert len(bought) == 1
    assert bought[0].source in (None, "netlog")
    assert proof(run).closed


def test_a_web_transport_in_the_first_moment_of_a_worker_is_a_request(start: str, tmp_path: Path) -> None:
    def act(page: Any, agent_task: Any, run: Any) -> None:
        page.evaluate(f"void ({TRANSPORT})")
        page.evaluate("void new WebTransport('https://127.0.0.1:1/page')")
        page.wait_for_timeout(700)

    run = ran(act, start, tmp_path)
    asked = [one.url.rpartition("/")[2] for one in run.of_type(Exchange) if one.method == "CONNECT"]
    assert sorted(asked) == ["buy", "page"]
    assert proof(run).closed


def test_an_honest_run_has_no_request_too_many(start: str, tmp_path: Path) -> None:
    def act(page: Any, agent_task: Any, run: Any) -> None:
        page.wait_for_load_state("networkidle")
        page.click("#moved")
        page.go_back()
        page.reload()
        page.click("#post")
        page.click("#back")
        page.wait_for_load_state("networkidle")

    run = ran(act, start, tmp_path)
    assert [(one.method, one.url) for one in run.of_type(Exchange) if one.source == "netlog"] == []
    assert {"commands", "netlog"} <= set(run.header.witnesses)
    assert proof(run).closed
    assert proof(run).counts["recorded"] >= 20
    assert not [one for one in run.of_type(Exchange) if "replaykit.invalid" in one.url]
