"""Actions that are recognised by the order of events and by what a pointer did on its way, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.page.page_script import PageOpen
from replaykit.recorder.recorder import Recorder
from replaykit.replay.dom import Dom
from replaykit.trajectory.action import DragAndDrop, UploadFile, tag_of
from replaykit.trajectory.observation import Observation, Stale
from replaykit.trajectory.step import Step
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

BOARD = """<!doctype html><style>.card{position:absolute;left:20px;width:60px;height:40px;background:#ccc}</style>
<div class=card id=kept style="top:20px"></div><div class=card id=moved style="top:80px"></div>
<p class=card id=text style="top:140px">some text</p><button class=card id=button style="top:200px">b</button>
<div id=zone style="position:absolute;left:300px;top:20px;width:200px;height:300px"><b>here</b></div>
<canvas id=canvas style="position:absolute;left:550px;top:20px" width=200 height=200></canvas><script>
kept.onpointerdown = (event) => kept.setPointerCapture(event.pointerId);
let held = false;
moved.onmousedown = (event) => { held = true; event.preventDefault(); };
document.onmousemove = (event) => { if (held) { moved.style.left = `${event.clientX - 30}px`;
  moved.style.top = `${event.clientY - 20}px`; } };
document.onmouseup = () => { held = false; };
</script>"""

FORM = """<!doctype html><label id=label for=two>Two</label><input type=checkbox id=one><input type=checkbox id=two>
<span id=mark onclick="three.click()">mark</span><input type=checkbox id=three>
<button id=all onclick="one.click(); two.click()">all</button>
<input type=checkbox id=later onclick="event.preventDefault(); setTimeout(() => { later.checked = true; })">
<select id=size><option>s<option>m<option>l</select><input id=name><input id=file type=file><script>
const slow = () => { const until = performance.now() + 1200; while (performance.now() < until); };
addEventListener('click', (event) => { if (event.target.matches('#one,#label')) slow(); });
</script>"""


def recorded(
    tmp_path: Path, page: Any, markup: str, act: Callable[[Any], None]
) -> tuple[tuple[Step, ...], Any]:
    page.set_content(markup)
    out = tmp_path / "run.zst"
    with Recorder(out, screenshots="off", network="off") as run:
        run.attach(page.context)
        act(page)
    with open_bundle(out) as bundle:
        steps = bundle.trajectory.steps
        doms = [Dom(bundle.blob(step.before.snapshot)) for step in steps]
    return steps, doms


def drag(page: Any, start: tuple[int, int], stop: tuple[int, int]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*stop, steps=4)
    page.mouse.up()


def described(steps: tuple[Step, ...]) -> list[tuple[str, str | None]]:
    return [(tag_of(s.action), s.action.element.css if s.action.element else None) for s in steps]


@pytest.mark.parametrize(
    ("start", "kind", "source", "target"),
    one_in(
        3,
        [
            ((50, 40), "drag_and_drop", "#kept", "#zone > b"),
            ((50, 100), "drag_and_drop", "#moved", "#zone > b"),
            ((30, 160), "click", "#text", None),
            ((30, 220), "click", "#button", None),
            ((600, 60), "drag_and_drop", "#canvas", "#canvas"),
        ],
    ),
)
def test_drags_by_pointer(
    tmp_path: Path, page: Any, start: tuple[int, int], kind: str, source: str, target: str | None
) -> None:
    stop = (310, 30) if target and "zone" in target else (start[0] + 30, start[1] + 5)
    steps, _ = recorded(tmp_path, page, BOARD, lambda page: drag(page, start, stop))
    assert described(steps) == [(kind, source)]
    action = steps[0].action
    assert action.point == start
    if isinstance(action, DragAndDrop):
        assert (action.to.css, action.to_point, action.completed) == (target, stop, True)
        assert action.to.node is not None


def test_drags_by_script(tmp_path: Path, page: Any) -> None:
    def act(page: Any) -> None:
        page.click("#button")
        carried = page.evaluate_handle("new DataTransfer()")
        page.dispatch_event("#kept", "dragstart", {"dataTransfer": carried})
        page.dispatch_event("#zone", "drop", {"dataTransfer": carried})
        files = page.evaluate_handle(
            "(() => { const made = new DataTransfer(); made.items.add(new File(['abc'], 'a.txt')); return made; })()"
        )
        page.dispatch_event("#zone", "drop", {"dataTransfer": files})

    steps, _ = recorded(tmp_path, page, BOARD, act)
    assert described(steps) == [("click", "#button"), ("drag_and_drop", "#kept"), ("upload_file", "#zone")]
    dragged, uploaded = steps[1].action, steps[2].action
    assert isinstance(dragged, DragAndDrop) and isinstance(uploaded, UploadFile)
    assert (dragged.to.css, dragged.trusted, dragged.completed) == ("#zone", False, True)
    assert [(file.name, file.size) for file in uploaded.files] == [("a.txt", 3)]


def test_boxes_are_checked_however_long_the_page_takes(tmp_path: Path, page: Any) -> None:
    def act(page: Any) -> None:
        for css in ("#one", "#label", "#mark", "#all", "#later"):
            page.click(css)

    steps, _ = recorded(tmp_path, page, FORM, act)
    assert described(steps) == [
        ("check", "#one"),
        ("check", "#two"),
        ("check", "#three"),
        ("click", "#all"),
        ("click", "#later"),
    ]
    assert (steps[1].action.element.via.css, steps[2].action.element.via.css) == ("#label", "#mark")


def test_a_fill_after_a_text_has_a_page_of_its_own_before_it(tmp_path: Path, page: Any) -> None:
    def act(page: Any) -> None:
        page.locator("#name").press_sequentially("abc")
        page.fill("#name", "new")
        page.locator("#name").press_sequentially("er")

    steps, doms = recorded(tmp_path, page, FORM, act)
    assert [tag_of(step.action) for step in steps] == ["type", "fill", "type"]
    assert [dom.select("#name").value for dom in doms] == ["", "abc", "new"]
    assert [step.before.stale for step in steps] == [None, None, None]


def test_an_action_without_a_first_event_says_how_old_its_page_is(tmp_path: Path, page: Any) -> None:
    def act(page: Any) -> None:
        page.locator("#name").press_sequentially("abc")
        page.select_option("#size", "m")
        page.select_option("#size", "l")

    steps, doms = recorded(tmp_path, page, FORM, act)
    assert described(steps) == [("type", "#name"), ("select_option", "#size"), ("select_option", "#size")]
    values = [step.action.element.value for step in steps]
    assert values == ["", "s", "m"]
    for step, dom in zip(steps, doms, strict=True):
        is_current = dom.select("#name").value == ("" if step is steps[0] else "abc")
        is_current = is_current and dom.select("#size").value == (step.action.element.value or "s")
        assert is_current or (isinstance(step.before.stale, Stale) and step.before.stale.mutations > 0)


def test_a_value_before_an_action_is_the_one_that_the_page_entered_in_reply_to_the_last(
    tmp_path: Path, page: Any
) -> None:
    def act(page: Any) -> None:
        page.click("#reset")
        page.select_option("#size", "l")

    reply = "size.value = 'm'; size.dispatchEvent(new Event('change'))"
    markup = f'<select id=size><option>s<option>m<option>l</select><button id=reset onclick="{reply}">reset</button>'
    steps, _ = recorded(tmp_path, page, markup, act)
    assert [step.action.element.value for step in steps[1:]] == ["m"]


@pytest.mark.parametrize(
    ("markup", "act", "touched"),
    one_in(
        3,
        [
            ("<select><option>a<option>b</select>", "", False),
            ("<select><option disabled>a<option>b</select>", "", False),
            ("<select><option>a<option selected>b<option selected>c</select>", "", False),
            (
                "<select size=3><option>a</select><select multiple><option selected>a<option>b</select>",
                "",
                False,
            ),
            ("<select id=x><option>a<option>b</select>", "select", True),
            ("<select id=x multiple><option selected>a<option>b</select>", "select", True),
            ("<select id=x size=2><option>a<option>b</select>", "select", True),
            ("<input type=file id=x>", "", False),
            ("<input type=file id=x>", "upload", True),
            ("<input id=x>", "fill", True),
            ("<input id=x>", "click", True),
        ],
    ),
)
def test_who_acted_before_the_script_came_was_there(
    watch: Callable[..., Any], page: Any, markup: str, act: str, touched: bool
) -> None:
    page.set_content(f"<!doctype html>{markup}")
    acts = {
        "select": lambda: page.select_option("#x", "b"),
        "upload": lambda: page.set_input_files("#x", {"name": "a", "mimeType": "text/plain", "buffer": b"a"}),
        "fill": lambda: page.fill("#x", "a"),
        "click": lambda: page.click("#x"),
    }
    if act:
        acts[act]()
    watched = watch()
    (opening,) = watched.until(lambda: [one for one in watched.messages if isinstance(one, PageOpen)])
    assert opening.touched is touched


TIMES = 6
"""A busy machine may come to the next page before it looked at this one, but not every time."""


def test_a_page_that_is_left_before_it_rests_has_been_seen(tmp_path: Path, page: Any, site: Any) -> None:
    site.add("/next", "<!doctype html><title>Next</title><p>next")
    brief = site.add(
        "/brief", "<!doctype html><title>Brief</title><p>price 42<script>document.body.append('!')</script>"
    )
    page.goto(site.add("/", "<!doctype html><p>start"))
    out = tmp_path / "run.zst"
    with Recorder(out, screenshots="off", network="off") as run:
        run.attach(page.context)
        for _ in range(TIMES):
            page.goto(brief)
            assert page.inner_text("p") == "price 42"
            page.goto(site.origin + "/next")
            page.wait_for_selector("text=next")
    with open_bundle(out) as bundle:
        looks = [one for one in bundle.trajectory.of_type(Observation) if isinstance(one.snapshot, str)]
        texts = [Dom(bundle.blob(look.snapshot)).text for look in looks if look.role in ("after", "final")]
    assert "price 42\n\n!" in texts
    assert texts[-1] == "next"


def test_fields_that_a_script_sets_are_reported_with_the_next_snapshot(tmp_path: Path, page: Any) -> None:
    page.set_content(FORM)
    out = tmp_path / "run.zst"
    with Recorder(out, screenshots="off", network="off") as run:
        run.attach(page.context)
        page.click("#name")
        page.evaluate("() => { document.querySelector('#name').value = 'set'; }")
        page.click("#size")
    with open_bundle(out) as bundle:
        recording = bundle.trajectory
        looks = [*recording.of_type(Observation), *(step.before for step in recording.steps if step.before)]
    # Which snapshot is the next one is a matter of time.
    changes = {change for look in looks for change in look.changed_without_event}
    assert changes == {("#name", "", "set")}


CHOICES = """<!doctype html><select id=size><option>s<option>m<option>l</select>
<input type=radio name=way id=slow checked><input type=radio name=way id=fast>
<input type=checkbox id=agree><input type=checkbox id=stuck onclick="event.preventDefault()">
<input type=number id=amount value=4><input type=range id=share value=74><input type=date id=day>
<input id=code value=EVxIL>"""


@pytest.mark.parametrize(
    ("field", "keys", "wanted"),
    one_in(
        3,
        [
            ("#size", ["ArrowDown"], [("press", "ArrowDown"), ("select_option", ("m",))]),
            ("#size", ["l"], [("select_option", ("l",))]),
            ("#slow", ["ArrowDown"], [("press", "ArrowDown"), ("check", "#fast")]),
            ("#agree", ["Space"], [("press", "Space"), ("check", "#agree")]),
            ("#stuck", ["Space"], [("press", "Space")]),
            ("#amount", ["ArrowUp"], [("press", "ArrowUp"), ("fill", "5")]),
            ("#share", ["Home"], [("press", "Home"), ("fill", "0")]),
            ("#day", list("01022027"), [("type", "01022027")]),
            ("#code", ["End", "ArrowLeft"], [("press", "End"), ("press", "ArrowLeft")]),
        ],
    ),
)
def test_keys_that_change_a_field_enter_or_choose(
    tmp_path: Path, page: Any, field: str, keys: list[str], wanted: list[tuple[str, object]]
) -> None:
    def act(page: Any) -> None:
        page.focus(field)
        for key in keys:
            page.keyboard.press(key)

    steps, _ = recorded(tmp_path, page, CHOICES, act)
    assert [(tag_of(step.action), chosen(step.action)) for step in steps] == wanted


def chosen(action: Any) -> object:
    said = (getattr(action, name, None) for name in ("key", "values", "value"))
    return next((one for one in said if one is not None), action.element.css)


def test_a_key_that_deletes_says_what_its_field_holds(tmp_path: Path, page: Any) -> None:
    def act(page: Any) -> None:
        page.focus("#code")
        for key in ("Home", "ArrowRight", "ArrowRight", "Delete"):
            page.keyboard.press(key)

    steps, _ = recorded(tmp_path, page, CHOICES, act)
    assert [step.action.value_after for step in steps] == [None, None, None, "EVIL"]
