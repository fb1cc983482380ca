"""The browser's own count of input events, against the events received: what a page hides from the recorder is a gap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.page.page_script import API
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.action import Click
from replaykit.trajectory.exchange import Gap
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

HIDES = """for (const name of ['pointerdown', 'pointerup', 'click', 'keydown', 'beforeinput', 'input'])
  VIEW.addEventListener(name, (event) => { event.stopImmediatePropagation();
    if (name === 'click') document.title += '!' }, true);"""

LIES = """EventCounts.prototype.get = () => 0; Object.defineProperty(Performance.prototype, 'eventCounts',
  { get: () => new Map() });"""


def missed(path: Path) -> dict[str, int]:
    with open_bundle(path) as bundle:
        found = bundle.trajectory.of_type(Gap)
        counts: dict[str, int] = {}
        for gap in found:
            if gap.channel == "actions":
                counts[gap.why] = counts.get(gap.why, 0) + gap.count
        return counts


def is_clicked(path: Path) -> bool:
    with open_bundle(path) as bundle:
        return any(isinstance(step.action, Click) for step in bundle.trajectory.steps)


def hides(view: str = "window") -> str:
    return HIDES.replace("VIEW", view)


@pytest.mark.parametrize("script", [hides(), LIES + hides()])
@pytest.mark.parametrize("action", one_in(2, ["click", "key"]))
def test_events_that_were_stopped_before_are_counted(
    tmp_path: Path, page: Any, site: Any, script: str, action: str
) -> None:
    page.goto(site.add("/", f"<!doctype html><button id=it>x</button><script>{script}</script>"))
    with Recorder(tmp_path / "run.zst", screenshots="off", network="off") as run:
        run.attach(page)
        page.click("#it") if action == "click" else page.press("#it", "Enter")
    assert missed(tmp_path / "run.zst")["events.missed"] >= 2


def tap(page: Any, x: int, y: int) -> None:
    protocol = page.context.new_cdp_session(page)
    protocol.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    protocol.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.parametrize("script", ["", hides()], ids=["plain", "hides"])
def test_a_touch_in_a_frame_is_one(tmp_path: Path, page: Any, site: Any, script: str) -> None:
    site.add(
        "/in", f"<!doctype html><button style='width:99px;height:99px'>In</button><script>{script}</script>"
    )
    frames = "<iframe src=/in style='width:120px;height:120px;border:0'></iframe>"
    page.goto(site.add("/", f"<!doctype html><body style='margin:0'>{frames}"))
    with Recorder(tmp_path / "run.zst", screenshots="off", network="off") as run:
        run.attach(page)
        tap(page, 50, 50)
        page.wait_for_timeout(300)
    assert bool(missed(tmp_path / "run.zst")) == bool(script)
    assert is_clicked(tmp_path / "run.zst") != bool(script)


def test_a_frame_that_silences_itself_is_counted(tmp_path: Path, page: Any, site: Any) -> None:
    markup = f"""<!doctype html><script>onload = () => {{ const frame = document.createElement('iframe');
      document.body.append(frame); const inner = frame.contentWindow; {hides("inner")}
      inner.document.body.innerHTML = '<button>x</button>' }}</script>"""
    url = site.add("/", markup)
    with Recorder(tmp_path / "run.zst", screenshots="off", network="off") as run:
        run.attach(page)
        page.goto(url)
        page.frame_locator("iframe").locator("button").click()
    # Whether the recorder or the page is first in the new frame: the click is an action, or counted as missed.
    assert is_clicked(tmp_path / "run.zst") or missed(tmp_path / "run.zst")["events.missed"] >= 1


HONEST = """<!doctype html><form onsubmit="return false"><input id=text><textarea id=area></textarea>
<label id=label>x<input type=checkbox id=box></label><select id=list><option>a<option>b</select>
<input type=range id=range><input type=date id=date><button id=go>go</button><button id=off disabled>off</button></form>
<p id=gone onclick="this.remove()">gone</p><p id=again onclick="this.replaceWith(this.cloneNode(true))">again</p><p id=drag draggable=true>drag</p><p id=drop>drop</p>
<button id=brief onkeypress="this.remove()">brief</button><iframe id=frame srcdoc="<button id=inner onclick='parent.frame.remove()'>x</button>"></iframe><x-box></x-box><script>
customElements.define('x-box', class extends HTMLElement { constructor() { super();
  this.attachShadow({ mode: 'open' }).innerHTML = '<button id=deep>deep</button>'; } });
go.addEventListener('click', (event) => event.stopImmediatePropagation());</script>"""


def test_honest_pages_leave_no_gap(tmp_path: Path, page: Any, site: Any) -> None:
    url = site.add("/", HONEST)
    with Recorder(tmp_path / "run.zst", screenshots="off", network="off") as run:
        run.attach(page)
        page.goto(url)
        page.fill("#text", "a")
        page.locator("#area").press_sequentially("b\nc")
        page.press("#text", "Enter")
        page.click("#label")
        page.select_option("#list", "b")
        page.click("#range")
        page.fill("#date", "2030-01-02")
        page.dblclick("#go")
        page.click("#go", button="right")
        page.click("#off", force=True)
        page.click("#gone")
        page.press("#brief", "Enter")
        page.dblclick("#again")
        page.drag_and_drop("#drag", "#drop")
        page.click("#deep")
        page.frame_locator("#frame").locator("#inner").click()
        page.goto(url)
        page.click("#go")
    assert missed(tmp_path / "run.zst") == {}


def test_a_removed_button_of_an_earlier_key_excuses_no_click(tmp_path: Path, page: Any, site: Any) -> None:
    markup = """<!doctype html><button id=brief onkeydown="this.remove()">brief</button><button id=it>it</button><script>
      addEventListener('click', (event) => event.stopImmediatePropagation(), true);</script>"""
    with Recorder(tmp_path / "run.zst", screenshots="off", network="off") as run:
        page.goto(site.add("/", markup))
        run.attach(page)
        page.press("#brief", "Enter")
        page.click("#it")
    assert missed(tmp_path / "run.zst")["events.missed"] == 1


def test_nothing_retires_the_script(tmp_path: Path, page: Any, watch: Any, site: Any) -> None:
    watched = watch()
    watched.page.goto(site.add("/", "<!doctype html><button id=it>x</button>"))
    assert watched.call(f"typeof {API}.retire") == "undefined"
    watched.call(
        f"(() => {{ try {{ {API} = {{ nonce: 'x', api: {{}} }}; delete globalThis.{API} }} catch {{}} }})()"
    )
    watched.call(f"globalThis.{watched.options.binding} = () => 0; 1")
    watched.page.click("#it")
    watched.until(lambda: watched.events("click"))
