"""One action of a driver is one step, and what a page does by itself is no step. Causes decide, and no clock."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.action import Action, tag_of
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

BUSY = "const until = performance.now() + 900; while (performance.now() < until);"


def said(action: Action) -> str:
    words = [getattr(action, name, None) for name in ("value", "key", "labels")]
    found = next((word for word in words if word is not None), None)
    shown = ",".join(found) if isinstance(found, tuple) else found
    return tag_of(action) if shown is None else f"{tag_of(action)} {shown}"


@pytest.fixture
def acts(tmp_path: Path, page: Any, site: Any) -> Callable[..., list[str]]:
    """Record acts on a page of a site; return what was recorded."""

    def record(markup: str, act: Callable[[Any], object], **more: str) -> list[str]:
        for path, text in more.items():
            site.add(f"/{path}", f"<!doctype html>{text}")
        page.goto(site.add("/", f"<!doctype html>{markup}"))
        out = tmp_path / "run.zst"
        with Recorder(out, screenshots="off", network="off") as run:
            run.attach(page.context)
            act(page)
        with open_bundle(out) as bundle:
            return [said(step.action) for step in bundle.trajectory.steps]

    return record


def compose(page: Any) -> None:
    page.focus("#it")
    session = page.context.new_cdp_session(page)
    for text in ("か", "かん", "かんじ"):
        at = {"selectionStart": len(text), "selectionEnd": len(text)}
        session.send("Input.imeSetComposition", {"text": text, **at})
    session.send("Input.insertText", {"text": "漢字"})


EDITOR = """<div id=it tabindex=0 style="width:90px;height:20px"></div><script>
it.editContext = new EditContext()</script>"""


@pytest.mark.parametrize(
    ("markup", "act", "steps"),
    one_in(3, [
        ("<textarea id=it rows=4></textarea>", lambda page: page.fill("#it", "a\n\nb"), ["fill a\n\nb"]),
        (f"<textarea id=it oninput='{BUSY}'></textarea>", lambda page: page.fill("#it", "a\nb"), ["fill a\nb"]),
        ("<div id=it contenteditable><h2>x</h2><ol><li>y</ol></div>", lambda page: page.fill("#it", "a\nb"),
         ["fill a\nb"]),
        (f"<input id=it onkeydown='{BUSY}'>", lambda page: page.locator("#it").press_sequentially("ok"), ["type ok"]),
        (f"<input id=it onbeforeinput='{BUSY}'>", lambda page: page.press("#it", "Backspace"), ["press Backspace"]),
        ("<input id=it>", compose, ["fill 漢字"]),
        (EDITOR, compose, ["fill 漢字"]),
        (EDITOR, lambda page: (page.focus("#it"), page.keyboard.insert_text("ab")), ["fill ab"]),
        (EDITOR, lambda page: (page.focus("#it"), page.keyboard.type("ab")), ["type ab"]),
        ("<input id=it maxlength=1><input maxlength=1><script>it.oninput = () => it.nextSibling.focus()</script>",
         lambda page: (page.focus("#it"), page.keyboard.type("42")), ["type 42"]),
    ]),
)  # fmt: skip
def test_a_text_is_one_step(
    acts: Callable[..., list[str]], markup: str, act: Callable[[Any], object], steps: list[str]
) -> None:
    assert acts(markup, act) == steps


@pytest.mark.parametrize(
    ("markup", "act", "steps"),
    one_in(3, [
        ("<p id=it onclick='this.outerHTML = this.outerHTML'>x</p>", lambda page: page.dblclick("#it"), ["dblclick"]),
        ("<div id=box><i id=it>x</i></div><script>box.onclick = () => { box.innerHTML = '<b id=it>y</b>' }</script>",
         lambda page: page.dblclick("#it"), ["dblclick"]),
        ("<input type=checkbox id=it>", lambda page: page.dblclick("#it"), ["dblclick"]),
        ("<label id=it>x <input type=checkbox></label>", lambda page: page.dblclick("#it"), ["dblclick"]),
        ("<p id=it>some words</p>", lambda page: page.click("#it", click_count=3), ["dblclick"]),
        ("<button id=it>x</button>", lambda page: [page.click("#it") for _ in range(3)], ["click"] * 3),
        ("<select size=3><option>a<option id=it>b</select>", lambda page: page.click("#it"), ["select_option b"]),
        ("<select id=it><option>a<option>b</select>", lambda page: page.press("#it", "b"), ["select_option b"]),
        ("<input type=range id=it max=10 value=5>", lambda page: page.press("#it", "End"),
         ["press End", "fill 10"]),
        ("<div draggable=true id=it>x</div><textarea id=to></textarea><script>it.ondragstart = (event) =>"
         " event.dataTransfer.setData('text/plain', 'x')</script>",
         lambda page: page.drag_and_drop("#it", "#to"), ["drag_and_drop"]),
    ]),
)  # fmt: skip
def test_what_a_pointer_or_a_key_does_is_reported_once(
    acts: Callable[..., list[str]], markup: str, act: Callable[[Any], object], steps: list[str]
) -> None:
    assert acts(markup, act) == steps


SETS = """<select id=list><option>a<option>b</select><input type=radio id=dot><input type=checkbox id=box><script>
const say = (field, ...names) => names.forEach((name) => field.dispatchEvent(new Event(name, { bubbles: true })));
const set = () => { list.value = 'b'; dot.checked = box.checked = true;
  for (const field of [list, dot, box]) say(field, 'input', 'change'); document.title = 'set'; };"""


def is_set(page: Any) -> None:
    page.wait_for_function("document.title === 'set'")


def press_and_wait(page: Any) -> None:
    page.click("#it")
    is_set(page)


@pytest.mark.parametrize(
    ("markup", "act", "steps"),
    one_in(3, [
        (f"{SETS} setTimeout(set, 1300)</script>", is_set, []),
        (f"{SETS}</script><button id=it onclick='set()'>x</button>", press_and_wait, ["click"]),
        (f"{SETS}</script><b id=it onpointerdown='set()'>x</b>", press_and_wait, ["click"]),
        (f"{SETS}</script><button id=it onclick='setTimeout(set, 1300)'>x</button>", press_and_wait, ["click"]),
        (f"{SETS}</script><select id=it onchange='set()'><option>c<option>d</select>",
         lambda page: page.select_option("#it", "d"), ["select_option d"]),
        ("<p style='height:4000px'></p><p id=end>e</p><script>setTimeout(() => { end.scrollIntoView();"
         " document.title = 'set' }, 1300)</script>", is_set, []),
        ("<p id=it contenteditable>x</p><button id=b onclick=\"document.execCommand('bold')\">b</button>",
         lambda page: (page.click("#it"), page.click("#b")), ["click", "click"]),
    ]),
)  # fmt: skip
def test_what_a_page_does_by_itself_is_no_step(
    acts: Callable[..., list[str]], markup: str, act: Callable[[Any], object], steps: list[str]
) -> None:
    assert acts(markup, act) == steps


AGENT_SETS = "(list) => { list.value = 'b'; list.dispatchEvent(new Event('change', { bubbles: true })) }"
CARD = "<button id=it>x</button><div id=card>y</div>"


@pytest.mark.parametrize(
    ("markup", "act", "steps"),
    one_in(3, [
        (CARD, lambda page: (page.click("#it"), page.evaluate("card.click()")), ["click", "click"]),
        (CARD, lambda page: (page.click("#it"), page.locator("#card").dispatch_event("click")), ["click", "click"]),
        (f"{SETS}</script>", lambda page: page.locator("#list").evaluate(AGENT_SETS), ["select_option b"]),
        (f"{SETS}</script><input id=it>", lambda page: (page.locator("#it").press_sequentially("ok"),
         page.eval_on_selector("#list", AGENT_SETS)), ["type ok", "select_option b"]),
        ("<input id=a><input id=b>", lambda page: (page.locator("#a").press_sequentially("ok"), page.evaluate(
         "b.value = 'x'; b.dispatchEvent(new Event('change', { bubbles: true }))")), ["type ok", "fill x"]),
        ("<button id=it onclick='setTimeout(() => { box.click(); document.title = \"set\" }, 1300)'>x</button>"
         "<input type=checkbox id=box>", press_and_wait, ["click"]),
        ("<button id=it>x</button><script>setTimeout(() => { it.click(); document.title = 'set' }, 1300)</script>",
         is_set, []),
        ("<input id=it><input id=to>", lambda page: (page.mouse.click(30, 20), page.keyboard.insert_text("ab")),
         ["click", "fill ab"]),
        ("<input id=it><input id=to>", lambda page: (page.keyboard.down("Shift"), page.focus("#it"),
         page.keyboard.insert_text("ab"), page.keyboard.up("Shift")), ["fill ab"]),
    ]),
)  # fmt: skip
def test_scripts_of_the_agent_are_distinguished_from_those_of_the_page(
    acts: Callable[..., list[str]], markup: str, act: Callable[[Any], object], steps: list[str]
) -> None:
    assert acts(markup, act) == steps


BUSY_FIELD = f"<input id=it style='position:fixed;left:0;top:0;width:99px' onpointerdown='{BUSY}'>"


def at_once(page: Any) -> None:
    """Send a click and a text without waiting for the page to take in either."""
    page.mouse.move(20, 9)
    mouse, keyboard = page.mouse._impl_obj, page.keyboard._impl_obj

    async def send() -> None:
        await asyncio.gather(mouse.down("left", 1), mouse.up("left", 1), keyboard.insert_text("ab"))

    page._sync(send())


def test_inputs_that_a_busy_page_gets_at_once_are_all_kept(acts: Callable[..., list[str]]) -> None:
    assert acts(BUSY_FIELD, at_once) == ["click", "fill ab"]


OPENER = "<button id=it onclick=\"window.other = window.open('/other')\">x</button>"


def popup(page: Any) -> Any:
    with page.expect_popup() as opened:
        page.click("#it")
    opened.value.wait_for_load_state()
    return opened.value


def until_closed(page: Any) -> None:
    other = popup(page)
    if not other.is_closed():
        other.wait_for_event("close")
    page.wait_for_function("true")


@pytest.mark.parametrize(
    ("other", "opener", "act", "steps"),
    [
        ("<script>setTimeout(close, 1300)</script>", OPENER, until_closed, ["click"]),
        ("x", f"{OPENER}<script>setTimeout(() => other.close(), 1500)</script>", until_closed, ["click"]),
        ("x", OPENER, lambda page: popup(page).close(), ["click", "close_tab"]),
    ],
)
def test_whoever_closes_a_popup_is_identified(
    acts: Callable[..., list[str]], other: str, opener: str, act: Callable[[Any], object], steps: list[str]
) -> None:
    assert acts(opener, act, other=other) == steps


@pytest.mark.parametrize("when", ["1300", "20"])
def test_a_page_that_goes_back_by_itself_makes_no_step(acts: Callable[..., list[str]], when: str) -> None:
    def act(page: Any) -> None:
        # The page may be back before a wait for its address would begin.
        with page.expect_event("framenavigated", lambda frame: frame.url.endswith("/next")):
            page.click("#it")
        page.wait_for_url("**/")

    found = acts(
        "<a id=it href=/next>x</a>", act, next=f"<script>setTimeout(() => history.go(-1), {when})</script>"
    )
    assert found == ["click"]


SHOP = f"""<input id=text><textarea id=area oninput='{BUSY.replace("900", "150")}'></textarea>
<label id=label>x <input type=checkbox></label><select id=list><option>a<option>b</select>
<p id=box><b id=twice>x</b></p><p style="height:3000px"></p><button id=far>far</button>
<script>box.onclick = () => {{ box.innerHTML = '<i id=twice>y</i>' }};
setInterval(() => list.dispatchEvent(new Event('change', {{ bubbles: true }})), 200)</script>"""


def run_through(page: Any) -> None:
    page.locator("#text").press_sequentially("word")
    page.press("#text", "Enter")
    page.fill("#area", "one\ntwo")
    page.click("#label")
    page.select_option("#list", "b")
    page.dblclick("#twice")
    page.click("#far")


@pytest.fixture
def load() -> Iterator[None]:
    """Three processes that keep every core busy."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3)]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


STEPS = ["type word", "press Enter", "fill one\ntwo", "check", "select_option b", "dblclick", "click"]


@pytest.mark.parametrize("_again", one_in(2, range(2)))
def test_a_run_is_the_same(acts: Callable[..., list[str]], _again: int) -> None:
    assert acts(SHOP, run_through) == STEPS


@pytest.mark.usefixtures("load")
@pytest.mark.parametrize("_again", one_in(3, range(3)))
def test_a_run_is_the_same_on_a_loaded_machine(acts: Callable[..., list[str]], _again: int) -> None:
    assert acts(SHOP, run_through) == STEPS
