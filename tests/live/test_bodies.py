"""Bodies of requests in a real browser: whatever a page sends is in the bundle, or the bundle says why not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.exchange import Exchange, Gap
from replaykit.trajectory.scalars import Omitted

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import BrowserContext

pytestmark = pytest.mark.live

BYTES = "new Uint8Array([0, 255, 254, 65])"
RAW = bytes([0, 255, 254, 65])
FORM = "const form = new FormData(); form.append('size', 'L');"
XHR = """await new Promise((done) => { const asked = new XMLHttpRequest(); asked.onload = done;
    asked.open('POST', url); asked.send(body) })"""

KINDS = {
    "nested-blob": (f"body = new Blob([new Blob(['red ']), 'green ', {BYTES}])", b"red green " + RAW),
    "untyped-blob": ("body = new Blob(['plain'])", b"plain"),
    "blob-of-a-stream": ("body = await new Response(new Blob(['flow']).stream()).blob()", b"flow"),
    "buffer": (f"body = {BYTES}.buffer", RAW),
    "view": (f"body = {BYTES}.subarray(1, 3)", RAW[1:3]),
    "parameters": ("body = new URLSearchParams({size: 'L'})", b"size=L"),
    "field": (f"{FORM} body = form", b'name="size"\r\n\r\nL\r\n'),
    "file-of-text": (f"{FORM} form.append('f', new File(['words'], 'n.txt')); body = form", b"words"),
    "file-of-bytes": (f"{FORM} form.append('f', new File([{BYTES}], 'n.bin')); body = form", RAW),
    "empty-blob": ("body = new Blob([])", b""),
}
WAYS = {
    "fetch": "await fetch(url, {method: 'POST', body})",
    "request": "await fetch(new Request(url, {method: 'POST', body}))",
    "keepalive": "await fetch(url, {method: 'PUT', body, keepalive: true})",
    "xhr": XHR,
    "beacon": "navigator.sendBeacon(url, body)",
}
WORKER = """const source = new Blob([`fetch('${url}', {method: 'POST', body: new Blob(['of a worker'])})
    .then(() => postMessage(1))`]); await new Promise((done) => {
    new Worker(URL.createObjectURL(source)).onmessage = done })"""


FORMS = {"multipart": " enctype=multipart/form-data", "accept-charset": " accept-charset={}"}

# The server answers before it has read all of it, which the browser may call a failure.
LONG = "(url) => fetch(url, {method: 'POST', body: 'y'.repeat(2 ** 21)}).catch(() => 0)"


@pytest.fixture
def start(site: Site) -> str:
    site.add("/favicon.ico", "", "image/x-icon")
    site.add("/sent", "ok", "text/plain")
    upload = "<form method=post enctype=multipart/form-data action=/sent><input name=a value=1><input type=file name=f></form>"
    return site.add("/", f"<!doctype html><title>Shop</title>{upload}")


def test_bodies(context: BrowserContext, start: str, tmp_path: Path) -> None:
    page = context.new_page()
    page.goto(start)
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        for kind, (make, _) in KINDS.items():
            for way, send in WAYS.items():
                page.evaluate(f"async (url) => {{ let body; {make}; {send} }}", f"{start}sent?{kind}.{way}")
        page.evaluate(f"async (url) => {{ {WORKER} }}", f"{start}sent?worker")
        page.evaluate("(url) => fetch(url, {method: 'POST'})", f"{start}sent?nothing")
        page.evaluate(LONG, f"{start}sent?long")
        page.evaluate(f"(url) => fetch(url, {{method: 'POST', body: {BYTES}}})", f"{start}sent?last")
    with open_bundle(tmp_path / "run.zst") as bundle:
        found = {one.url.rpartition("?")[2]: one.post for one in bundle.trajectory.of_type(Exchange)}
        for kind, (_, right) in KINDS.items():
            for way in WAYS:
                post = found[f"{kind}.{way}"]
                assert isinstance(post, str), (kind, way, post)
                assert right in bundle.blob(post), (kind, way)
        # A worker may send before anybody listens in it: then that is a gap, or the driver has reported it.
        late = [gap for gap in bundle.trajectory.of_type(Gap) if gap.why == "target.late"]
        sent = found.get("worker")
        assert late or sent == Omitted(why="unreported") or bundle.blob(str(sent)) == b"of a worker"
        assert bundle.blob(str(found["last"])) == RAW
    assert found["nothing"] is None
    assert getattr(found["long"], "why", None) == "cap"
    assert getattr(found["long"], "n", None) == 2**21


def test_a_file_of_the_disk_is_named_and_its_lack_is_reported(
    context: BrowserContext, start: str, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("from the disk")
    page = context.new_page()
    page.goto(start)
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.set_input_files("input[type=file]", tmp_path / "note.txt")
        with page.expect_navigation():
            page.evaluate("document.forms[0].submit()")
    with open_bundle(tmp_path / "run.zst") as bundle:
        (sent,) = [one for one in bundle.trajectory.of_type(Exchange) if one.method == "POST"]
        assert isinstance(sent.post, str)
        data = bundle.blob(sent.post)
    assert b'filename="note.txt"' in data
    assert sent.post_size == len(data) + len("from the disk")


FOREIGN = {
    "CORS": "fetch(url, {method: 'POST', body: 'x'}).catch(() => 0)",
    "ORB": "new Promise((done) => { const image = new Image(); image.onerror = done; image.src = url })",
}


@pytest.mark.parametrize("way", FOREIGN)
def test_what_another_origin_answered_has_its_status(
    way: str, context: BrowserContext, site: Site, start: str, tmp_path: Path
) -> None:
    url = site.add("/data", "<!doctype html><title>x</title>").replace("127.0.0.1", "localhost")
    page = context.new_page()
    page.goto(start)
    with Recorder(tmp_path / "run.zst", network="bodies") as run:
        run.attach(page)
        for number in range(4):
            page.evaluate(f"(url) => {FOREIGN[way]}", f"{url}?{number}")
    with open_bundle(tmp_path / "run.zst") as bundle:
        asked = [one for one in bundle.trajectory.of_type(Exchange) if one.url.startswith(url)]
    assert [one.error is not None for one in asked] == [True] * 4
    # On a busy machine the browser may give a status after it has reported the end of the request.
    statuses = {one.status for one in asked}
    assert 200 in statuses
    assert statuses <= {200, None}


@pytest.mark.parametrize(("charset", "name"), [("windows-1252", "Jürgen Groß"), ("Shift_JIS", "山田太郎様")])
@pytest.mark.parametrize("way", ["get", "post", "multipart", "accept-charset", "frame"])
def test_a_form_of_a_page_that_is_not_in_utf8(
    context: BrowserContext, site: Site, charset: str, name: str, way: str, tmp_path: Path
) -> None:
    """The charset of the page decides how its form is read: nothing in the request names it."""
    method = "get" if way == "get" else "post"
    field = {"query_params": {"who": [name]}} if way == "get" else {"post_data": {"who": name}}
    expected = {"url": f"{site.origin}/sent", "http_method": method.upper(), **field}
    check = {"type": "network", "expected": expected, "is_navigation": False}
    checks = [check, check | {"should_not_exist": True}]
    form = f"<form method={method}{FORMS.get(way, '').format(charset)} action=/sent><input name=who><button>Send</button></form>"
    is_utf8 = way == "accept-charset"
    data = f"<!doctype html><title>Shop</title>{form}".encode("utf-8" if is_utf8 else charset)
    site.pages["/form"] = (data, f"text/html; charset={'utf-8' if is_utf8 else charset}")
    site.add("/sent", "ok", "text/plain")
    path = "/" if way == "frame" else "/form"
    site.add("/", "<!doctype html><title>Shop</title><iframe src=/form></iframe>")
    page = context.new_page()
    page.goto(site.origin + path)
    with Recorder(tmp_path / "run.zst", task={"id": "t", "intent": "x", "checks": checks}) as recorder:
        recorder.attach(page)
        form_of = page.frames[-1]
        form_of.fill("input", name)
        with page.expect_request("**/sent*"):
            form_of.click("button")
        form_of.wait_for_url("**/sent*")
        recorder.answer("done")
    assert [check.outcome for check in grade(tmp_path / "run.zst").checks] == ["PASS", "FAIL"]
