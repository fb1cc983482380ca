"""One secret, planted wherever a run can take it: declared, it is nowhere in the bundle and on no screenshot.

The same look finds it in a recording that did not know of it, and no more after that one has been redacted.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, unquote_plus

import pytest

from replaykit.bundle.blobs import pixmap_size
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.errors import SecretFound
from replaykit.recorder.recorder import Recorder
from replaykit.redaction.bundle_redaction import redact
from replaykit.trajectory.exchange import Console, Exchange, Message
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Trajectory

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("browser_path")]

SECRET = 'Qx7 "ö/&+t<7'
"""Every character that an encoding writes in its own way."""

INK = bytes((1, 254, 3))
"""Colour of what shows the secret, and of nothing else."""

BLACK = bytes(3 * 60)
"""Part of a row of a box painted over."""

SHOWN = "background: rgb(1,254,3); color: rgb(1,254,3); padding: 6px; width: 200px; height: 30px"
FIELDS = f"input {{ width: 200px }} .said {{ {SHOWN} }}"
WHOLE = f"addEventListener('input', (e) => e.target.classList.toggle('said', e.target.value.length === {len(SECRET)}))"
"""A part of the secret is none: a field that is being filled has no colour yet."""

START = f"""<!doctype html><meta charset=utf-8><title>Start</title>
<style>{FIELDS}</style><script>{WHOLE}</script>
<form action=/done method=post><input name=note id=note><button id=send>Send</button></form>
<form action=/found><input name=q id=q><button id=find>Find</button></form>
<p id=out style="{SHOWN}" hidden></p><a href=/other id=other>Other</a>"""

SENT = """async (secret) => {
  const bytes = new TextEncoder().encode(secret);
  const encoded = btoa(String.fromCharCode(...bytes));
  const post = (type, body) => fetch('/api', {method: 'POST', headers: {'content-type': type}, body});
  console.log('the word is ' + secret);
  console.log(encodeURIComponent(secret), encoded, btoa('x' + String.fromCharCode(...bytes)));
  await post('application/json', JSON.stringify({note: secret, list: [secret]}));
  await post('text/plain', encoded);
  await post('application/x-www-form-urlencoded', new URLSearchParams({note: secret}));
  await fetch('/api?note=' + encodeURIComponent(secret), {headers: {'x-note': encodeURIComponent(secret)}});
  await fetch('/echo');
  document.title = secret;
  document.querySelector('#out').hidden = false;
  document.querySelector('#out').textContent = 'It is ' + secret;
  document.querySelector('#out').setAttribute('data-note', encoded);
}"""


@pytest.fixture
def root(site: Site) -> str:
    """The root of a site that says the secret back in every way."""
    said = html.escape(SECRET)
    site.add("/", START)
    site.add("/done", f"<!doctype html><meta charset=utf-8><title>Done</title><b style='{SHOWN}'>{said}</b>")
    site.add(
        "/found", f"<!doctype html><meta charset=utf-8><title>{said}</title><i style='{SHOWN}'>{said}</i>"
    )
    site.add("/other", "<!doctype html><title>Other</title><p>Nothing here.</p>")
    site.add("/api", json.dumps({"said": SECRET, "ascii": f"a {SECRET} b"}), "application/json")
    site.add("/echo", quote(SECRET), "text/plain")
    site.add("/favicon.ico", "", "image/x-icon")
    return site.origin


def act(page: Page, run: Recorder) -> None:
    """Type, show, send, log, think, say and ask the secret."""
    run.thought(f"I shall type {SECRET}.")
    page.fill("#note", SECRET)
    page.evaluate(SENT, SECRET)
    run.message(f"It begins: {SECRET}")
    with run.step(
        {"type": "tool_call", "name": "shell", "arguments": {"word": SECRET}}, raw=f"echo {SECRET}"
    ):
        pass
    page.click("#send")
    page.locator("b").wait_for()
    page.go_back()
    page.locator("#q").press_sequentially(SECRET)
    page.press("#q", "Enter")
    page.locator("i").wait_for()
    run.ask(f"Is it {quote(SECRET)}?", reply=f"Yes, {SECRET}")
    page.goto("/other")
    page.goto("/done")  # what the run ends on shows it, at rest
    run.answer(f"{SECRET} and {base64.b64encode(SECRET.encode()).decode()}")


def record(path: Path, browser: Browser, root: str, **options: Any) -> Trajectory:
    context = browser.new_context(viewport={"width": 640, "height": 360}, base_url=root)
    try:
        with Recorder(path, **options) as run:
            page = run.attach(context.new_page())
            page.goto("/")
            act(page, run)
    finally:
        context.close()
    return held(path)


def held(path: Path) -> Trajectory:
    with open_bundle(path) as bundle:
        return bundle.trajectory


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """Every decoded line and every payload that is no screenshot, with its name."""
    with open_bundle(path) as bundle:
        yield from ((f"line {number}", line.decode()) for number, line in enumerate(bundle.lines))
        for id in bundle.blob_ids:
            if not bundle.blob_type(id).startswith("image/"):
                yield bundle.blob_type(id), bundle.blob(id).decode("utf-8", "replace")


DECODERS: tuple[Callable[[str], str], ...] = (
    html.unescape,
    unquote,
    unquote_plus,
    lambda text: re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text),
    lambda text: re.sub(r"\\+([\"/])", r"\1", text),
    lambda text: re.sub(r"[A-Za-z0-9+/_-]{8,}={0,2}", in_base64, text),
)


def in_base64(found: re.Match[str]) -> str:
    text = found[0].rstrip("=").replace("-", "+").replace("_", "/")
    return "|".join(
        base64.b64decode(part + "A" * (-len(part) % 4)).decode("utf-8", "replace")
        for part in (text, text[1:], text[2:], text[3:])
    )


def holds(text: str) -> bool:
    """Whether any reading of a text, three encodings deep, gives the secret; independent of the recorder."""
    seen = {text}
    for _ in range(3):
        if any(SECRET in one for one in seen):
            return True
        seen |= {decode(one) for one in seen for decode in DECODERS if len(seen) < 200}
    return any(SECRET in one for one in seen)


def images(path: Path) -> list[bytes]:
    with open_bundle(path) as bundle:
        ids = {seen.screenshot for seen in bundle.trajectory.of_type(Observation)}
        return [bundle.blob(id) for id in ids if isinstance(id, str)]


def ink(image: bytes) -> int:
    """Pixels in the colour of the secret."""
    width, height = pixmap_size(image)
    pixels = image[-3 * width * height :]
    return sum(pixels[at : at + 3] == INK for at in range(0, len(pixels), 3))


def assert_clean(path: Path) -> None:
    assert not [name for name, text in texts(path) if holds(text)]
    assert not [ink(image) for image in images(path) if ink(image)]
    assert verify(path).findings == ()


def assert_everywhere(trajectory: Trajectory, token: str) -> None:
    """Assert that each planted secret occurs under its token: the test looked at something."""
    fills = [getattr(step.action, "value", "") for step in trajectory.steps]
    assert fills.count(token) == 2
    assert f"I shall type {token}." in [step.thought for step in trajectory.steps]
    assert {token in message.text for message in trajectory.of_type(Message)} == {True}
    assert any(token in line.text for line in trajectory.of_type(Console))
    exchanges = trajectory.of_type(Exchange)
    assert sum(token in one.url for one in exchanges) >= 2
    assert any(token in value for one in exchanges for _, value in one.request_headers or ())
    assert token in (trajectory.answer or "")


@pytest.fixture
def careless(tmp_path: Path, browser: Browser, root: str) -> Path:
    """A recording that knew of no secret."""
    record(tmp_path / "careless.zst", browser, root)
    return tmp_path / "careless.zst"


def test_a_declared_secret_is_nowhere(tmp_path: Path, browser: Browser, root: str) -> None:
    path = tmp_path / "run.zst"
    trajectory = record(path, browser, root, secrets={"WORD": SECRET})
    assert_everywhere(trajectory, "⟦secret:WORD⟧")
    assert_clean(path)
    assert trajectory.header.secrets == ("WORD",)
    black = [image for image in images(path) if BLACK in image]
    assert black, "no screenshot was kept with a box painted over"


def test_the_same_look_finds_it_where_it_was_not_declared(careless: Path) -> None:
    found = [name for name, text in texts(careless) if holds(text)]
    kinds = {name for name in found if "/" in name}
    assert {"application/x-replaykit-dom", "application/json", "text/plain", "text/html"} <= kinds
    assert len(found) > 20
    assert max(map(ink, images(careless))) > 1000


def test_the_recorder_s_own_scan_finds_it_too(
    tmp_path: Path, browser: Browser, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replaykit.recorder.session.session.Redactor.text", lambda self, text: text)
    with pytest.raises(SecretFound) as raised:
        record(tmp_path / "run.zst", browser, root, secrets={"WORD": SECRET})
    assert SECRET not in raised.value.message


@pytest.mark.thorough
def test_redaction_takes_it_out_of_a_finished_bundle(careless: Path, tmp_path: Path) -> None:
    before, clean = careless.read_bytes(), tmp_path / "clean.zst"
    done = redact(careless, clean, secrets={"WORD": SECRET})
    assert careless.read_bytes() == before
    assert_clean(clean)
    trajectory, source = held(clean), held(careless)
    assert_everywhere(trajectory, "⟦secret:WORD⟧")
    assert done.left == ()
    assert trajectory.header.secrets == ("WORD",)
    assert [(one.digest, one.by) for one in trajectory.header.derived_from] == [(done.source, "redact")]
    assert [type(one) for one in trajectory.events] == [type(one) for one in source.events]
    looks = zip(trajectory.of_type(Observation), source.of_type(Observation), strict=True)
    changed = [new.screenshot for new, old in looks if new.screenshot != old.screenshot]
    assert {one for one in changed if isinstance(one, Omitted)} <= {Omitted(why="withheld")}
    assert done.painted >= 1
    assert any(BLACK in image for image in images(clean))
    assert redact(clean, tmp_path / "again.zst", secrets={"WORD": SECRET}).blobs == 0
