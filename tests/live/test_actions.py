"""Messages of a page while a driver acts on it, and the moments of its snapshots."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from replaykit.recorder.page.page_script import PageEvent, PagePart, PagePush, decode_message

pytestmark = [pytest.mark.live, pytest.mark.one_page]

Watch = Callable[..., Any]
MASKED = "⟦masked⟧"

FORM = """<!doctype html><title>Form</title><form id=form onsubmit="event.preventDefault()">
<label id=label for=name>Your name</label><input id=name placeholder=Name>
<input id=box type=checkbox aria-label=Agree><select id=choice aria-label=Size><option value=s>Small<option value=l>Large</select>
<input id=file type=file><textarea id=area></textarea><button id=go type=button title=Hint><b id=inner>Go</b> now</button></form>
<a id=link href="#there">Link</a><div id=edit contenteditable>old</div>"""


def form(watch: Watch) -> Any:
    watched = watch()
    watched.page.set_content(FORM)
    watched.settle()
    return watched


def received(watched: Any) -> list[tuple[str, bool]]:
    return [(event.name, event.trusted) for event in watched.events() if event.name != "idle"]


def until_last(watched: Any, name: str, css: str) -> PageEvent:
    """Wait for an event on an element; return the last such."""
    found: list[PageEvent] = watched.until(
        lambda: [event for event in watched.events(name) if event.element and event.element.css == css],
        f"{name} on {css}",
    )
    return found[-1]


def test_all_results_of_one_event_are_sent_in_one_message(watch: Watch) -> None:
    watched = form(watch)
    watched.page.click("#go")
    watched.until(lambda: watched.events("click"), "click")
    (pressed,) = (call for call in watched.calls if '"name":"pointerdown"' in call)
    before, event = pressed.split("\n")
    assert '"purpose":"before"' in before
    assert '"name":"pointerdown"' in event


def test_fill(watch: Watch) -> None:
    watched = form(watch)
    watched.page.fill("#name", "Ann")
    event = until_last(watched, "input", "#name")
    assert received(watched) == [("focusin", True), ("beforeinput", True), ("input", True)]
    assert event.data == {"input_type": "insertText", "text": "Ann", "value": "Ann"}
    assert event.element.value == ""
    watched.page.fill("#area", "x")
    until_last(watched, "input", "#area")
    change = watched.events("change")
    assert [(event.element.css, event.data) for event in change] == [
        ("#name", {"control": "text", "value": "Ann"})
    ]


def test_press_sequentially(watch: Watch) -> None:
    watched = form(watch)
    watched.page.locator("#name").press_sequentially("aB")
    watched.until(lambda: watched.events("input")[1:])
    assert received(watched)[1:] == [("keydown", True), ("beforeinput", True), ("input", True)] * 2
    keys = [event.data for event in watched.events("keydown")]
    assert keys[0] == {"key": "a", "chord": "a", "printable": True, "repeat": False, "modifiers": []}
    assert keys[1]["key"] == "B"
    assert [event.data["value"] for event in watched.events("input")] == ["a", "aB"]
    assert len(watched.pushes("before")) == 1


def test_press_enter_and_chords(watch: Watch) -> None:
    watched = form(watch)
    watched.page.focus("#area")
    watched.page.keyboard.press("Enter")
    until_last(watched, "input", "#area")
    assert received(watched) == [("focusin", True), ("keydown", True), ("beforeinput", True), ("input", True)]
    assert watched.events("keydown")[0].data["chord"] == "Enter"
    assert not watched.events("keydown")[0].data["printable"]
    assert watched.events("beforeinput")[0].data == {"input_type": "insertLineBreak", "text": None}
    watched.forget()
    watched.page.keyboard.press("Control+Shift+A")
    keydown = watched.until(lambda: watched.events("keydown")[2:])[0].data
    assert (keydown["chord"], keydown["modifiers"]) == ("Control+Shift+A", ["Control", "Shift"])
    assert [event.data["chord"] for event in watched.events("keydown")][:2] == ["Control", "Control+Shift"]


@pytest.mark.parametrize("action", ["check", "click"])
def test_check_and_click_on_a_checkbox(watch: Watch, action: str) -> None:
    watched = form(watch)
    getattr(watched.page, action)("#box")
    event = until_last(watched, "change", "#box")
    trusted = [(name, True) for name in ("pointerdown", "focusin", "pointerup", "click", "input", "change")]
    assert received(watched) == trusted
    assert event.data == {"control": "check", "checked": True, "clicked": True}
    assert (event.element.role, event.element.name) == ("checkbox", "Agree")


def test_select_option(watch: Watch) -> None:
    watched = form(watch)
    watched.page.select_option("#choice", "l")
    event = until_last(watched, "change", "#choice")
    assert received(watched) == [("input", False), ("change", False)]
    assert event.data == {"control": "select", "values": ["l"], "labels": ["Large"]}
    assert (event.element.value, event.element.role, event.element.name) == ("s", "combobox", "Size")
    assert not watched.pushes("before")
    assert event.node.push == watched.shown


def test_set_input_files(watch: Watch) -> None:
    watched = form(watch)
    watched.page.set_input_files("#file", {"name": "a.txt", "mimeType": "text/plain", "buffer": b"abc"})
    event = until_last(watched, "change", "#file")
    assert [name for name, _ in received(watched)] == ["input", "change"]
    assert event.data == {
        "control": "file",
        "files": [{"name": "a.txt", "size": 3, "mime": "text/plain", "key": 1}],
    }


def test_click(watch: Watch) -> None:
    watched = form(watch)
    watched.page.click("#go")
    event = until_last(watched, "click", "#go")
    trusted = [(name, True) for name in ("pointerdown", "focusin", "pointerup", "click")]
    assert received(watched) == trusted
    box = event.element.box
    assert event.data["button"] == 0
    assert event.data["detail"] == 1
    assert box[0] < event.data["point"][0] < box[0] + box[2]
    assert event.element.point == tuple(event.data["point"])
    assert event.at == pytest.approx(watched.page.evaluate("Date.now()"), abs=5000)


def test_double_click_and_other_buttons(watch: Watch) -> None:
    watched = form(watch)
    watched.page.dblclick("#go")
    until_last(watched, "dblclick", "#go")
    names = [event.name for event in watched.events("click", "dblclick")]
    assert names == ["click", "click", "dblclick"]
    assert len(watched.pushes("before")) == 1
    watched.page.click("#go", button="right")
    assert until_last(watched, "contextmenu", "#go").data["button"] == 2
    watched.page.click("#go", button="middle", modifiers=["Shift"])
    event = watched.until(
        lambda: [event for event in watched.events("auxclick") if event.data["button"] == 1]
    )[0]
    assert event.data["modifiers"] == ["Shift"]


def test_click_by_script(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("document.querySelector('#box').click()")
    until_last(watched, "change", "#box")
    assert received(watched) == [("click", False), ("input", True), ("change", True)]
    assert not watched.pushes("before")


def test_events_that_a_script_dispatches_are_reported_where_pages_take_them_for_a_user_s(
    watch: Watch,
) -> None:
    watched = form(watch)
    watched.page.evaluate("""() => { for (const name of ['pointerdown', 'keydown', 'wheel', 'focusin', 'submit', 'click'])
      go.dispatchEvent(new Event(name, {bubbles: true})); }""")
    until_last(watched, "click", "#go")
    assert received(watched) == [("pointerdown", False), ("keydown", False), ("click", False)]


def test_typing_into_an_editable_element(watch: Watch) -> None:
    watched = form(watch)
    watched.page.fill("#edit", "new text")
    assert until_last(watched, "input", "#edit").data["value"] == "new text"


def test_wheel_scroll_and_toggle(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content(
        "<!doctype html><details id=d><summary id=s>More</summary>x</details><p style='height:4000px'>"
    )
    watched.settle()
    watched.page.mouse.move(50, 300)
    watched.page.mouse.wheel(0, 240)
    assert watched.until(lambda: watched.events("wheel"))[0].data == {"dx": 0, "dy": 240}
    scroll = watched.until(lambda: [event for event in watched.events("scroll") if event.data["top"] == 240])
    assert scroll[0].element.tag == "html"
    watched.page.click("#s")
    toggle = watched.until(lambda: watched.events("toggle"))[0]
    assert (toggle.element.css, toggle.data) == ("#d", {"open": True})
    assert until_last(watched, "click", "#s").element.name == "More"


def test_drag_and_drop(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content(
        "<p id=from draggable=true>drag</p><p id=to ondragover='event.preventDefault()' ondrop='event.preventDefault()'>to</p>"
    )
    watched.settle()
    watched.page.drag_and_drop("#from", "#to")
    assert until_last(watched, "drop", "#to").data["point"]
    assert until_last(watched, "dragstart", "#from").trusted


def test_submit_of_a_form(watch: Watch) -> None:
    watched = form(watch)
    watched.page.press("#name", "Enter")
    assert until_last(watched, "submit", "#form").trusted


def test_the_control_is_described_as_it_was_before_the_action(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate(
        "go.addEventListener('click', () => { go.textContent = 'Done'; go.disabled = true; })"
    )
    watched.page.click("#inner")
    element = until_last(watched, "click", "#go").element
    assert (element.tag, element.type, element.role, element.name) == ("button", "button", "button", "Go now")
    assert (element.text, element.names.text, element.names.title) == ("Go now", "Go now", "Hint")
    assert element.attributes == {"id": "go", "type": "button", "title": "Hint"}
    assert (element.via.tag, element.via.css) == ("b", "#inner")
    assert (element.disabled, element.visible, element.frame, element.masked) == (False, True, (), False)


NAMED = """<!doctype html><body>
<label>Email <input class=t></label> | <label for=x>Search</label><input class=t id=x type=search>
<span id=l1>First</span><span id=l2>second</span><div class=t role=button aria-labelledby="l1 l2">no</div>
<button class=t aria-label=Close>×</button><button class=t><img alt=Cart> (2)<i aria-hidden=true>hid</i><i hidden>den</i></button>
<input class=t type=submit value=Send><input class=t type=submit><input class=t type=image alt=Find>
<a class=t href=#><span>Read</span><div>more</div></a><input class=t placeholder=Code><img class=t alt=Logo onclick="1">
<select class=t title=Pick><option>a</select><textarea class=t aria-label=Note></textarea>
<input class=t type=radio><input class=t type=range><input class=t type=number><a class=t>no link</a>
<svg class=t onclick="1" width=9 height=9><title>Chart</title><circle r=3 /></svg><h2 class=t onclick="1">Head</h2>
<div class=t role="presentation link">role</div><select class=t multiple><option>a</select>"""


def test_roles_and_names(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content(NAMED)
    watched.settle()
    watched.page.evaluate(
        "document.querySelectorAll('.t').forEach((e) => e.dispatchEvent(new Event('click')))"
    )
    count = watched.page.evaluate("document.querySelectorAll('.t').length")
    events = watched.until(lambda: watched.events("click")[count - 1 :] and watched.events("click"))
    assert [(event.element.role, event.element.name) for event in events] == [
        ("textbox", "Email"),
        ("searchbox", "Search"),
        ("button", "First second"),
        ("button", "Close"),
        ("button", "Cart (2)"),
        ("button", "Send"),
        ("button", "Submit"),
        ("button", "Find"),
        ("link", "Read more"),
        ("textbox", "Code"),
        ("img", "Logo"),
        ("combobox", "Pick"),
        ("textbox", "Note"),
        ("radio", None),
        ("slider", None),
        ("spinbutton", None),
        (None, None),
        ("graphics-document", "Chart"),
        ("heading", "Head"),
        ("presentation", None),
        ("listbox", None),
    ]
    names = events[0].element.names
    assert (names.label, names.text, names.value) == ("Email", None, None)
    assert events[5].element.names.value == "Send"
    assert events[4].element.names.alt == "Cart"
    assert events[2].element.names.labelledby == "First second"


PATHS = """<!doctype html><div id=a><p>1</p><p>2<b>x</b></p></div><div id=twin><i>1</i></div><div id=twin><i>2</i></div>
<div id="odd id"><u>u</u></div><svg><g><rect width=9 height=9 /></g></svg><p id="4:x.y">esc</p>"""


def test_css_paths_find_their_element_alone(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content(PATHS)
    watched.settle()
    watched.page.evaluate("""document.querySelectorAll('body *').forEach((e, i) => {
      e.dataset.place = i; e.dispatchEvent(new Event('click')); })""")
    count = watched.page.evaluate("document.querySelectorAll('body *').length")
    events = watched.until(lambda: watched.events("click")[count - 1 :] and watched.events("click"))
    found = watched.page.evaluate(
        "(paths) => paths.map((path) => [...document.querySelectorAll(path)].map((e) => +e.dataset.place))",
        [event.element.css for event in events],
    )
    assert found == [[place] for place in range(count)]
    assert events[0].element.css == "#a"
    assert events[2].element.css == "#a > p:nth-of-type(2)"


def test_long_texts_and_many_attributes_are_cut(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("""() => { go.textContent = 'x'.repeat(2000);
      for (let i = 0; i < 80; i += 1) go.setAttribute('data-' + i, i ? '' : 'y'.repeat(1500)); }""")
    watched.page.click("#go", position={"x": 3, "y": 3})
    element = until_last(watched, "click", "#go").element
    assert element.text == "x" * 1024 + "⟦cut:976⟧"
    assert len(element.attributes) == 64
    assert element.attributes["data-0"] == "y" * 1024 + "⟦cut:476⟧"
    assert element.cut


def test_the_before_push_precedes_every_handler_of_the_page(watch: Watch, site: Any) -> None:
    url = site.add(
        "/",
        "<!doctype html><script>for (const name of ['pointerdown', 'click']) addEventListener(name, (event) => {"
        "event.stopImmediatePropagation(); document.querySelector('#target')?.remove(); }, true)</script>"
        "<p>x</p><button id=target>Pay</button>",
    )
    watched = watch()
    watched.page.goto(url)
    watched.settle()
    watched.page.mouse.move(*middle(watched.page, "#target"))
    watched.page.mouse.down()
    push = watched.until(lambda: watched.pushes("before"))[0]
    event = until_last(watched, "pointerdown", "#target")
    assert watched.messages.index(push) < watched.messages.index(event)
    assert '"id","target"' in push.snapshot
    assert event.node.push == push.seq
    assert started_tag(push, event.node.number) == ("<button", ["id", "target"])
    assert push.at == event.at
    watched.until(lambda: [rest for rest in watched.pushes("rest") if '"id","target"' not in rest.snapshot])


def middle(page: Any, css: str) -> tuple[float, float]:
    box = page.locator(css).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def started_tag(push: PagePush, number: int) -> tuple[str, Any]:
    """Start token of an element number, and its attributes."""
    tokens = json.loads(push.snapshot.splitlines()[1])
    starts = [i for i, token in enumerate(tokens) if isinstance(token, str) and token[0] in "<%&^"]
    return tokens[starts[number]], tokens[starts[number] + 1]


def test_a_click_that_leaves_the_page_delivers_what_was_before(watch: Watch, site: Any) -> None:
    site.add("/next", "<!doctype html><title>Next</title><p>next")
    url = site.add("/", "<!doctype html><a id=link href=/next onpointerdown=\"location = '/next'\">go</a>")
    watched = watch()
    for _ in range(5):
        watched.page.goto(url)
        watched.settle()
        watched.page.mouse.move(*middle(watched.page, "#link"))
        watched.page.mouse.down()
        watched.page.wait_for_url("**/next")
        watched.page.mouse.up()
        (push,) = watched.until(lambda: watched.pushes("before"))
        event = until_last(watched, "pointerdown", "#link")
        assert started_tag(push, event.node.number)[0] == "<a"
        watched.until(lambda: [push for push in watched.pushes("rest") if push.title == "Next"])
        watched.forget()


def test_the_same_gesture_has_one_before_and_a_changed_page_another(watch: Watch) -> None:
    watched = form(watch)
    watched.page.locator("#name").press_sequentially("ann")
    watched.page.keyboard.press("Enter")
    watched.until(lambda: watched.events("submit"))
    typed, entered = watched.pushes("before")
    assert '{"value":"ann"' not in typed.snapshot
    assert '{"value":"ann","focus":true}' in entered.snapshot
    enter = watched.events("keydown")[-1]
    assert (enter.data["key"], enter.node.push) == ("Enter", entered.seq)


@pytest.mark.thorough
def test_two_clicks_on_a_page_that_changes_have_two_befores(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("() => { go.onclick = () => { inner.textContent += '!'; }; }")
    watched.page.click("#go")
    watched.page.click("#go")
    watched.until(lambda: watched.events("click")[1:])
    first, second = watched.pushes("before")
    assert '"=Go"' in first.snapshot
    assert '"=Go!"' in second.snapshot
    assert watched.events("click")[1].element.text == "Go! now"


def test_rest_follows_an_action_whether_or_not_it_changed_anything(watch: Watch) -> None:
    watched = form(watch)
    watched.page.click("#link")
    push = watched.until(lambda: rests_after_action(watched))[0]
    assert push.settled
    assert push.url.endswith("#there")


def test_rest_waits_until_nothing_changes(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("""() => { go.onclick = () => { let n = 0; const timer = setInterval(() => {
      inner.textContent = 'n' + (n += 1); if (n === 8) clearInterval(timer); }, 40); }; }""")
    watched.page.click("#go")
    watched.until(lambda: rests_after_action(watched))
    push = rests_after_action(watched)[0]
    assert push.settled
    assert '"=n8"' in push.snapshot


def test_a_page_that_never_rests_is_shown_all_the_same(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("setInterval(() => { inner.textContent = Math.random(); }, 20)")
    watched.page.click("#go")
    first, second = watched.until(lambda: rests_after_action(watched)[1:] and rests_after_action(watched))
    assert not first.settled
    assert not second.settled
    assert first.at - watched.events("pointerdown")[0].at >= 1500


def rests_after_action(watched: Any) -> list[PagePush]:
    actions = watched.events("pointerdown")
    return [push for push in watched.pushes("rest") if actions and push.at > actions[0].at]


@pytest.mark.thorough
def test_later_rests_are_shown_at_most_three_more_times(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate(
        "() => { go.onclick = () => setTimeout(() => { inner.textContent = 'late'; }, 300); }"
    )
    watched.page.click("#go")
    first, later = watched.until(lambda: rests_after_action(watched)[1:] and rests_after_action(watched))
    assert '"=Go"' in first.snapshot
    assert '"=late"' in later.snapshot
    assert later.at - watched.events("pointerdown")[0].at >= 500
    assert first.settled and later.settled


def test_quiet_says_how_long(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("inner.textContent = 'x'")
    assert watched.answer("quiet()")["mutations"] >= 1
    watched.until(lambda: watched.answer("quiet()")["quiet_ms"] >= 300)
    watched.ask()
    assert watched.answer("quiet()")["mutations"] == 0


def test_a_slow_page_is_not_read_inside_of_an_event(watch: Watch) -> None:
    watched = form(watch)
    # The reads of any page take longer than 50 ms once the machine is slow enough: here the page is big enough.
    watched.page.evaluate(
        "document.body.append(...Array.from({length: 25000}, () => document.createElement('b')))"
    )
    latest = watched.ask().push
    assert latest.cost > 50
    watched.forget()
    watched.page.click("#go")
    event = until_last(watched, "pointerdown", "#go")
    push = watched.pushes("before")[0]
    assert push.stale is not None
    assert push.stale.ms >= 0
    assert push.snapshot == latest.snapshot
    assert event.node.push == push.seq
    assert started_tag(push, event.node.number)[1][:2] == ["id", "go"]


def test_numbers_count_every_message_of_a_document(watch: Watch) -> None:
    watched = form(watch)
    for text in ("a", "b", "c"):
        watched.page.fill("#name", text)
        watched.page.click("#go")
    watched.until(lambda: watched.events("click")[2:])
    watched.until(lambda: watched.pushes("rest"))
    numbers = [one.seq for one in watched.messages]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


FRAMES = """<!doctype html><div style="height:50px"></div><iframe src=/empty></iframe>
<iframe id=f src=/inner style="border:3px solid;padding:4px;margin:0"></iframe>"""


def test_actions_in_readable_frames_are_reported_by_the_outermost_document(watch: Watch, site: Any) -> None:
    site.add("/empty", "")
    site.add("/inner", "<!doctype html><body style='margin:0'><button id=in style='margin:10px'>In</button>")
    watched = watch()
    watched.page.goto(site.add("/", FRAMES))
    watched.settle()
    watched.page.frame_locator("#f").locator("#in").click()
    event = until_last(watched, "click", "#in")
    push = watched.pushes("before")[0]
    assert (event.element.frame, event.element.frame_url) == ((1,), site.origin + "/inner")
    assert started_tag(push, event.node.number) == ("<button", ["id", "in", "style", "margin:10px"])
    box = watched.page.locator("#f").bounding_box()
    assert event.element.box[:2] == (round(box["x"]) + 17, round(box["y"]) + 17)
    left, top, width, height = event.element.box
    assert left < event.data["point"][0] < left + width
    assert top < event.data["point"][1] < top + height
    assert push.pointer is not None
    # Its own clock starts later than the page's.
    assert abs(event.at - watched.page.evaluate("Date.now()")) < 5000
    assert push.at == watched.events("pointerdown")[0].at


def test_time_of_a_frame_that_came_late(watch: Watch, site: Any) -> None:
    site.add("/inner", "<button id=in onclick='document.title = Date.now()'>In</button>")
    watched = watch()
    watched.page.goto(site.add("/", "<!doctype html><div id=d></div>"))
    watched.page.wait_for_timeout(700)
    watched.page.evaluate("d.innerHTML = '<iframe id=f src=/inner></iframe>'")
    watched.page.frame_locator("#f").locator("#in").click()
    event = until_last(watched, "click", "#in")
    title = watched.page.frame_locator("#f").locator("title").inner_text()
    assert abs(float(watched.page.frames[1].title() or title) - event.at) < 500


def test_a_frame_is_recorded_from_its_first_moment(watch: Watch, site: Any) -> None:
    site.add("/inner", "<input id=a type=checkbox><script>a.click()</script>")
    watched = watch()
    watched.page.goto(site.add("/", "<!doctype html><div id=d></div>"))
    watched.settle()
    watched.page.evaluate("d.innerHTML = '<iframe id=f src=/inner></iframe>'")
    event = watched.until(lambda: watched.events("change"))[0]
    assert event.element.frame == (0,)


def test_a_frame_element_of_another_namespace_is_no_frame(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("form.append(document.createElementNS('http://www.w3.org/2000/svg', 'iframe'))")
    watched.page.evaluate("form.append(document.createElement('iframe'))")
    watched.page.frames[1].set_content("<button id=in>x</button>")
    watched.page.frames[1].click("#in")
    assert until_last(watched, "click", "#in").element.frame == (0,)
    assert not watched.gaps()


def test_events_inside_shadow_trees(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content("""<!doctype html><x-box id=host></x-box><x-shut id=shut></x-shut><script>
      host.attachShadow({mode: 'open'}).innerHTML = '<p><select id=s><option>a<option>b</select><button id=b><i>B</i></button></p>';
      shut.attachShadow({mode: 'closed'}).innerHTML = '<button style="width:50px;height:20px">c</button>';
    </script>""")
    watched.settle()
    watched.page.locator("#b").click()
    click = until_last(watched, "click", "#host >>> #b")
    assert click.element.via.css == "#host >>> #b > i"
    assert started_tag(watched.pushes("before")[0], click.node.number)[1] == ["id", "b"]
    watched.page.locator("#s").select_option("b")
    assert until_last(watched, "change", "#host >>> #s").data["values"] == ["b"]
    assert len(watched.events("change")) == 1
    watched.page.mouse.click(*middle(watched.page, "#shut"))
    shut = until_last(watched, "click", "#shut").element
    assert shut.closed_shadow
    assert not click.element.closed_shadow


@pytest.mark.parametrize(
    "host", ["<x-shut id=host></x-shut>", "<div id=host></div>", "<p id=host>Label <b>b</b></p>"]
)
@pytest.mark.parametrize("enter", ["type", "insert_text"])
def test_text_that_goes_into_a_closed_shadow_tree_is_masked(watch: Watch, host: str, enter: str) -> None:
    watched = watch()
    watched.page.set_content(f"""<!doctype html>{host}<input id=after><script>
      host.attachShadow({{mode: 'closed', delegatesFocus: true}}).innerHTML = '<input type=password>';
    </script>""")
    watched.settle()
    watched.page.evaluate("host.focus()")
    getattr(watched.page.keyboard, enter)("hunter22")
    watched.page.fill("#after", "plain")
    watched.until(
        lambda: [e for e in watched.events("input") if e.data["value"] == "plain"], "the last input"
    )
    inside = [event for event in watched.events("input", "beforeinput") if event.element.css == "#host"]
    assert {event.data["text"] for event in inside} == {MASKED}
    assert {event.data["value"] for event in inside if event.name == "input"} == {MASKED}
    keys = [event.data["key"] for event in watched.events("keydown")]
    assert keys == [MASKED] * (len("hunter22") if enter == "type" else 0)


def test_a_shortcut_pressed_on_a_focused_part_of_the_page_is_kept(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content("<!doctype html><div id=grid tabindex=0><p>cell</p></div>")
    watched.settle()
    watched.page.focus("#grid")
    watched.page.keyboard.press("j")
    watched.page.evaluate("document.activeElement.blur()")
    watched.page.keyboard.press("k")
    watched.until(lambda: len(watched.events("keydown")) == 2, "both keys")
    assert [event.data["key"] for event in watched.events("keydown")] == ["j", "k"]


@pytest.mark.parametrize(
    "button",
    [
        "<button id=b>Buy</button>",
        "<input id=b type=button value=Buy>",
        "<details><summary id=b>Buy</summary></details>",
        "<a id=b href=#x>Buy</a>",
        "<div id=b role=button tabindex=0>Buy</div>",
        "<span id=b role=Switch tabindex=0>Buy</span>",
    ],
)
def test_a_key_pressed_on_what_holds_no_field_is_kept(watch: Watch, button: str) -> None:
    watched = watch()
    watched.page.set_content(f"<!doctype html>{button}")
    watched.settle()
    watched.page.press("#b", "Space")
    assert until_last(watched, "keydown", "#b").data["key"] == " "


@pytest.mark.parametrize("how", ["attribute", "property"])
def test_a_key_in_a_list_has_the_name_of_its_active_item(watch: Watch, how: str) -> None:
    watched = watch()
    watched.page.set_content("""<!doctype html><div id=menu role=menu tabindex=0>
      <div role=menuitem>Save</div><div role=menuitem id=two>Buy <b>now</b></div></div>""")
    script = {
        "attribute": "menu.setAttribute('aria-activedescendant', 'two')",
        "property": "menu.ariaActiveDescendantElement = two",
    }[how]
    watched.page.evaluate(f"() => {{ {script} }}")
    watched.settle()
    watched.page.press("#menu", "Enter")
    assert until_last(watched, "keydown", "#menu").element.names.active == "Buy now"


def test_document_open_does_not_deafen_us(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("document.open(); document.write('<button id=again>x</button>'); document.close()")
    # The page at rest stands in for one that takes too long to read inside of the event.
    watched.until(lambda: [push for push in watched.pushes("rest") if '"id","again"' in push.snapshot])
    watched.page.click("#again")
    assert until_last(watched, "click", "#again").node is not None
    assert len(watched.events("click")) == 1


def test_a_popup_is_recorded_once_in_its_first_and_its_second_document(watch: Watch, site: Any) -> None:
    site.add("/popup", "<button id=p>x</button>")
    watched = watch()
    watched.page.goto(
        site.add("/", "<button id=b onclick=\"window.made = window.open('about:blank')\">x</button>")
    )
    with watched.page.expect_popup() as opened:
        watched.page.click("#b")
    popup = watch_also(watched, opened.value)
    watched.page.evaluate("made.location = '/popup'")
    opened.value.wait_for_selector("#p")
    opened.value.click("#p")
    popup.until(lambda: popup.events("click"))
    assert [event.name for event in popup.events("click")] == ["click"]


def watch_also(watched: Any, page: Any) -> Any:
    return type(watched)(page, watched.options)


@pytest.mark.thorough
def test_a_flood_that_nothing_follows_is_counted(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("for (let i = 0; i < 3000; i += 1) go.dispatchEvent(new Event('click'))")
    watched.until(lambda: sum(gap.count for gap in watched.gaps()) + len(watched.events("click")) >= 3000)
    assert {gap.why for gap in watched.gaps()} == {"flood"}


def test_a_flood_is_dropped_and_counted_and_actions_get_through(watch: Watch) -> None:
    watched = form(watch)
    watched.page.evaluate("for (let i = 0; i < 3000; i += 1) go.dispatchEvent(new Event('click'))")
    watched.page.locator("#name").press_sequentially("x" * 150)
    watched.until(lambda: len(watched.events("input")) >= 150)
    made_up = [event for event in watched.events("click") if not event.trusted]
    assert 1 <= len(made_up) <= 600
    assert len(watched.events("keydown")) == len(watched.events("input")) == 150
    watched.until(lambda: sum(gap.count for gap in watched.gaps()) >= 3000 - len(made_up))
    assert {gap.why for gap in watched.gaps()} == {"flood"}
    numbers = [one.seq for one in watched.messages]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) - min(numbers) + 1 == len(numbers) + sum(gap.count for gap in watched.gaps())


@pytest.mark.thorough
def test_long_messages_come_in_parts(watch: Watch) -> None:
    watched = form(watch)
    fill = "for (let i = 0; i < 5; i += 1) edit.append('x' + '😀'.repeat(500_000))"
    watched.page.evaluate(f"edit.style.display = 'none'; {fill}")
    push = watched.until(lambda: [push for push in watched.pushes("rest") if "😀" in push.snapshot])[0]
    assert push.snapshot.count('"=x' + "😀" * 500_000 + '"') == 5
    pieces = [message for message in map(decode_message, watched.raw) if isinstance(message, PagePart)]
    assert len(pieces) >= 2
    assert all(len(piece.text) <= 4 * 2**20 for piece in pieces)
    assert not watched.gaps()
