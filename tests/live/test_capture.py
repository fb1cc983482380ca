"""The serializer in a real page: what a snapshot holds, and what must not leave the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from replaykit.errors import Unsupported
from replaykit.recorder.page.page_script import API, PageOptions, PagePush, decode_message, page_script
from replaykit.replay.dom import Dom
from replaykit.snapshot.codec import encode

pytestmark = [pytest.mark.live, pytest.mark.one_page]

Watch = Callable[..., Any]


def show(watched: Any, body: str, head: str = "") -> Any:
    """Load a document and return its snapshot."""
    watched.page.set_content(
        f"<!doctype html><html><head><title>T</title>{head}</head><body>{body}</body></html>"
    )
    return watched.ask()


def test_the_tokens_are_those_of_the_format(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content(
        '<!doctype html><!--c--><title>T</title><p id="x">Hi <b>you</b><input value="a"></p>'
    )
    watched.page.fill("input", "ab")
    taken = watched.ask()
    start = taken.tokens.index("<p")
    assert taken.tokens[start:] == [
        "<p", ["id", "x"], "=Hi ", "<b", "=you", 1, "<input", ["value", "a"], {"value": "ab", "focus": True}, 4,
    ]  # fmt: skip
    assert taken.tokens[:5] == ["!c", "<html", "<head", "<title", "=T"]
    assert taken.head["doctype"] == ["html", "", ""]
    assert (taken.head["title"], taken.head["compat"], taken.head["ready"]) == ("T", "CSS1Compat", "complete")
    assert (taken.head["content_type"], taken.head["charset"]) == ("text/html", "UTF-8")
    assert taken.head["elements"] == len(taken.style) == len(taken.box) // 4 == 7
    assert taken.head["nodes"] == 7 + 4
    assert taken.head["flags"] == ["composed"]


def test_an_idle_page_gives_the_same_bytes_twice(watch: Watch, site: Any) -> None:
    watched = watch()
    url = site.add(
        "/",
        "<!doctype html><title>Idle</title><style>p{color:red}</style><form><input name=a><select><option>1</select>"
        "</form><p style='opacity:0'>x</p><iframe srcdoc='<p>in'></iframe><img src=/missing.png>",
    )
    watched.page.goto(url)
    watched.settle()
    first, second = watched.ask(), watched.ask()
    assert first.text == second.text
    watched.page.reload()
    watched.settle()
    assert watched.ask().text == first.text


def test_a_snapshot_is_canonical(watch: Watch) -> None:
    taken = show(
        watch(),
        "<div id=s></div><svg><g/></svg><textarea>a</textarea><select multiple><option selected>x</select>",
    )
    assert encode(taken.snapshot) == taken.text.encode()


CONTROLS = """
<input id=text value=a><input id=same value=a><input id=number type=number value=abc><input id=range type=range>
<input id=date type=date><input id=hidden type=hidden value=h><input id=submit type=submit value=s>
<textarea id=area>one\ntwo</textarea><textarea id=untouched>keep</textarea>
<input id=box type=checkbox><input id=was type=checkbox checked><input id=half type=checkbox>
<input id=r1 type=radio name=r checked><input id=r2 type=radio name=r>
<select id=one><option>a<option>b</select><select id=none></select>
<select id=many multiple><option selected>a<option>b<option selected>c</select>
<input id=file type=file multiple><div id=ce contenteditable>text</div>
<dialog id=modal>m</dialog><dialog id=plain open>p</dialog><div id=pop popover>p</div><div id=shut popover>q</div>
<canvas id=canvas width=30 height=20></canvas><video id=video></video><div id=focus tabindex=0></div>
"""


def test_live_state_of_every_control(watch: Watch) -> None:
    watched = watch()
    show(watched, CONTROLS)
    page = watched.page
    page.fill("#text", "b")
    page.fill("#area", "typed")
    page.check("#box")
    page.uncheck("#was")
    page.check("#r2")
    page.select_option("#one", "b")
    page.select_option("#many", ["b", "c"])
    page.set_input_files(
        "#file",
        [
            {"name": "a.txt", "mimeType": "text/plain", "buffer": b"abc"},
            {"name": "b.bin", "mimeType": "", "buffer": b""},
        ],
    )
    page.evaluate("half.indeterminate = true; modal.showModal(); pop.showPopover()")
    taken = watched.ask()
    states = {
        "text": {"value": "b"}, "same": {}, "number": {"value": ""}, "range": {"value": "50"}, "date": {},
        "hidden": {}, "submit": {}, "area": {"value": "typed"}, "untouched": {}, "box": {"checked": True},
        "was": {"checked": False}, "half": {"indeterminate": True}, "r1": {"checked": False},
        "r2": {"checked": True}, "one": {"selected": [1]}, "none": {"selected": []}, "many": {"selected": [1, 2]},
        "file": {"files": [["a.txt", 3, "text/plain"], ["b.bin", 0, "application/octet-stream"]]},
        "modal": {"modal": True, "focus": True}, "plain": {}, "pop": {"popover": True}, "shut": {},
        "canvas": {"canvas": [30, 20]}, "video": {"video": [0, 0]}, "ce": {},
    }  # fmt: skip
    assert {name: state_token(taken, name) for name in states} == states
    page.evaluate("modal.close()")
    page.focus("#focus")
    assert state_token(watched.ask(), "focus") == {"focus": True}


def state_token(taken: Any, name: str) -> dict[str, Any]:
    """The state object behind the attributes of an element, as it was written."""
    place = next(
        i for i, token in enumerate(taken.tokens) if isinstance(token, list) and ["id", name] == token[:2]
    )
    following = taken.tokens[place + 1]
    return following if isinstance(following, dict) else {}


def test_images_say_their_size_or_that_they_are_broken(watch: Watch, site: Any) -> None:
    site.add("/dot.svg", '<svg xmlns="http://www.w3.org/2000/svg" width="3" height="2"/>', "image/svg+xml")
    watched = watch()
    watched.page.goto(
        site.add("/", "<!doctype html><img id=good src=dot.svg><img id=bad src=nothing.png><img id=no>")
    )
    taken = watched.ask()
    assert state_token(taken, "good") == {"image": [3, 2]}
    assert state_token(taken, "bad") == {"image": None}
    assert state_token(taken, "no") == {}


def test_scroll_positions(watch: Watch) -> None:
    watched = watch()
    show(
        watched,
        "<div id=box style='height:50px;overflow:auto'><p style='height:900px'>x</p></div><div style='height:3000px'>",
    )
    watched.page.evaluate("scrollTo(0, 120); box.scrollTop = 33")
    taken = watched.ask()
    assert state_token(taken, "box") == {"scroll": [33, 0]}
    assert taken.tokens[taken.tokens.index("<html") + 1] == {"scroll": [120, 0]}


STYLES = """<style>.gone{display:none} .up{text-transform:uppercase;white-space:pre-line}</style>
<div id=plain>a</div><div id=gone class=gone><p id=inside>b</p></div><span id=up class=up>c</span>
<p id=unseen style='visibility:hidden'>d</p><p id=skip style='content-visibility:hidden'><b id=skipped>e</b></p>
<p id=clear style='opacity:0'>f</p><p id=all style='opacity:0;content-visibility:hidden;-webkit-text-security:disc'>g</p>
<template id=template><i id=content>h</i></template><div id=contents style='display:contents'>i</div>"""


def test_style_indexes(watch: Watch) -> None:
    taken = show(watch(), STYLES)
    expected = {
        "plain": "block|visible|collapse|none",
        "gone": "none",
        "inside": None,
        "up": "inline|visible|preserve-breaks|uppercase",
        "unseen": "block|hidden|collapse|none",
        "skip": "block|visible|collapse|none|c",
        "skipped": "inline|visible|collapse|none",
        "clear": "block|visible|collapse|none|o",
        "all": "block|visible|collapse|none|cos",
        "template": "none",
        "content": None,
        "contents": "contents|visible|collapse|none",
    }
    assert {name: taken.palette(name) for name in expected} == expected
    assert taken.head["styles"][0] == "block|visible|collapse|none"


LETTERS = """<style>.auto{content-visibility:auto}</style>
<b id=left style="float:left">x</b><b id=abs style="position:absolute">x</b><b id=fixed style="position:fixed">x</b>
<b id=sticky style="position:sticky">x</b><div id=near class=auto>x</div><div style="height:9000px"></div>
<div id=far class=auto>x</div><div id=child class=auto><u hidden>h</u><b>x</b></div><div id=hollow class=auto><u hidden>h</u></div>
"""


def test_letters_say_what_is_out_of_flow_or_skipped(watch: Watch) -> None:
    watched = watch()
    show(watched, LETTERS)
    frame = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    watched.page.evaluate(frame)
    taken = watched.ask()
    expected = {
        "left": "f", "abs": "f", "fixed": "f", "sticky": "", "near": "", "far": "ca", "child": "ca", "hollow": "ca",
    }  # fmt: skip
    entries = {name: str(taken.palette(name)) for name in expected}
    assert {name: "".join(entry.split("|")[4:]) for name, entry in entries.items()} == expected
    watched.page.evaluate("far.scrollIntoView()")
    watched.page.evaluate(frame)
    assert watched.ask().palette("far") == "block|visible|collapse|none"


def rows_of(taken: Any, names: str) -> dict[str, list[Any]]:
    """Return the edits of texts by id, or tag, of their elements."""
    named = {taken.number(name): name for name in names if taken.has(name)}
    rows, number = {}, 0
    for distance, *edits in taken.head.get("texts", ()):
        number += distance
        rows[named.get(number, taken.tag(number))] = edits
    return rows


def test_rows_say_where_the_rule_is_wrong(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content(
        "<style>.b::before{content:'*'} .c{text-transform:capitalize}</style><p id=p>a <b id=b class=b></b> x</p>"
        "<p id=q><i id=i class=c>two words</i> \U0001f600</p><p>plain <u hidden>gone</u></p>"
        "<div id=h><template shadowrootmode=open>x <u id=u class=c>in</u><style>u{text-transform:capitalize}</style>"
        "<s hidden>y</s><svg></svg></template></div><iframe srcdoc='<body><p id=f style=text-transform:capitalize>g'></iframe>"
    )
    watched.page.wait_for_selector("iframe >> nth=0")
    watched.page.frames[1].wait_for_selector("p")
    taken = watched.ask()
    assert rows_of(taken, "pbqihuf") == {
        "p": [2, 0, " "],
        "i": [0, 1, "T", 3, 1, "W"],
        "u": [0, 1, "I"],
        "f": [0, 1, "G"],
    }
    watched.page.set_content("<body>A <b>b</b>")
    assert "texts" not in watched.ask().head


def test_a_budget_ends_the_questions(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content("<style>div{text-transform:capitalize}</style><p id=p>x</p>")
    watched.page.evaluate("""() => {
      let at = document.body;
      for (let n = 0; n < 1500; n += 1) { at = at.appendChild(document.createElement('div')); at.append('some text '); }
    }""")
    taken = watched.ask()
    assert [None] in rows_of(taken, "").values()
    dom = Dom(taken.text.encode())
    with pytest.raises(Unsupported, match="could not compare"):
        _ = dom.text
    found = dom.select("#p")
    assert found is not None and found.text == "x"


def test_a_megabyte_of_texts_is_sent_and_no_more(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content("<object id=p></object><object id=q></object><object id=r></object>")
    watched.page.evaluate("() => { for (const shown of [p, q, r]) shown.textContent = 'x'.repeat(400_000); }")
    rows = rows_of(watched.ask(), "pqr")
    assert {name: len(edits) for name, edits in rows.items()} == {"p": 3, "q": 3, "r": 0}


def test_rows_reveal_nothing_of_what_is_masked(watch: Watch) -> None:
    watched = watch(mask=(".m",))
    watched.page.set_content(
        "<style>.c{text-transform:capitalize}</style><div id=d class=c><p>one <b class=m>my secret</b></p>"
        "<p id=p>two</p><details><summary>s</summary><i class=m>my secret</i></details></div><p id=q class=c>q</p>"
    )
    taken = watched.ask()
    assert "secret" not in taken.text.lower()
    assert rows_of(taken, "pdq")["p"] == [0, 1, "T"]
    dom = Dom(taken.text.encode())
    found = {name: dom.select(f"#{name}") for name in "dpq"}
    assert found["p"] is not None and found["p"].text == "Two"
    assert found["q"] is not None and found["q"].text == "Q"
    with pytest.raises(Unsupported, match="masked"):
        _ = found["d"] and found["d"].text


def test_what_the_browser_does_not_show_is_unseen(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content(
        "<details><summary>s</summary><p id=a>x</p><p id=b>y</p></details><p>z</p>"
        "<div style='content-visibility:hidden;height:9px'><i style='display:contents'><b id=c>x</b></i></div>"
    )
    taken = watched.ask()
    dom = Dom(taken.text.encode())
    live = "(css) => [...document.querySelectorAll(css)].map((one) => one.checkVisibility())"
    names = "summary, p, div, b"
    assert [node.visible for node in dom.select_all(names)] == watched.page.evaluate(live, names)
    assert len(taken.head["unseen"]) == 4


def test_boxes_are_in_document_coordinates(watch: Watch) -> None:
    watched = watch()
    show(
        watched,
        "<div id=a style='position:absolute;left:10px;top:1000.4px;width:50px;height:20.6px'></div>"
        "<div id=gone style='display:none'></div><div style='height:3000px'></div><p id=c style='display:contents'>",
    )
    watched.page.evaluate("scrollTo(0, 700)")
    taken = watched.ask()
    assert taken.box_of("a") == (10, 1000, 50, 21)
    assert taken.box_of("gone") == taken.box_of("c") == (0, 0, 0, 0)


def test_boxes_may_be_left_out(watch: Watch) -> None:
    taken = show(watch(boxes=False), "<p>x")
    assert taken.box == []
    assert taken.head["flags"] == ["no_box", "composed"]
    assert taken.style


def test_readable_frames_are_part_of_the_page(watch: Watch, site: Any) -> None:
    site.add(
        "/inner", "<!doctype html><title>I</title><button id=deep>in</button><iframe src=/leaf></iframe>"
    )
    site.add("/leaf", "<p id=leaf>leaf")
    url = site.add(
        "/",
        "<!doctype html><div style='height:100px'></div><iframe id=f src=/inner style='padding:5px'></iframe>",
    )
    watched = watch()
    watched.page.goto(url)
    taken = watched.ask()
    place = taken.tokens.index("@")
    assert taken.tokens[place + 1] == {
        "url": site.origin + "/inner", "base": site.origin + "/inner", "title": "I", "compat": "CSS1Compat",
        "ready": "complete", "doctype": ["html", "", ""],
    }  # fmt: skip
    assert taken.number("f") < taken.number("deep") < taken.number("leaf")
    assert taken.palette("deep") == "inline-block|visible|collapse|none"
    # The frame stands at (8, 108), with 2 px of border and 5 px of padding; the inner body has a margin of 8 px.
    assert taken.box_of("deep")[:2] == (8 + 7 + 8, 108 + 7 + 8)
    assert not taken.push.frames


def test_frames_of_other_origins_are_named_by_ordinal(watch: Watch, site: Any) -> None:
    site.add("/other", "<p id=secret>other")
    site.add("/own", f"<iframe id=nested src='{site.other}/other'></iframe>")
    url = site.add(
        "/",
        f"<iframe id=a src=/own></iframe><iframe id=b src='{site.other}/other'></iframe><iframe id=c sandbox></iframe>",
    )
    watched = watch()
    watched.page.goto(url)
    taken = watched.ask()
    assert "@" in taken.tokens
    assert not taken.has("secret")
    assert [state_token(taken, name) for name in ("a", "nested", "b", "c")] == [
        {},
        {"frame": 0},
        {"frame": 1},
        {"frame": 2},
    ]
    assert [(frame.number, frame.path) for frame in taken.push.frames] == [
        (taken.number("nested"), (0, 0)),
        (taken.number("b"), (1,)),
        (taken.number("c"), (2,)),
    ]
    assert taken.push.frames[0].url == site.other + "/other"


def test_a_frame_that_cannot_be_read_serializes_itself(watch: Watch, site: Any) -> None:
    site.add("/other", "<title>O</title><p id=inside>other")
    watched = watch()
    watched.page.goto(site.add("/", f"<iframe src='{site.other}/other'></iframe>"))
    own = watched.until(
        lambda: [push for push in watched.pushes("rest") if push.title == "O"], "the frame's push"
    )
    assert "=other" in own[0].snapshot


def test_an_iframe_that_is_not_rendered_hides_its_document(watch: Watch) -> None:
    taken = show(watch(), "<iframe style='display:none' srcdoc='<p id=in>x'></iframe>")
    assert taken.palette("in") is None


SHADOW = """<div id=host><b id=slotted>s</b><i id=lost slot=nowhere>l</i></div><script>
const root = host.attachShadow({mode: 'open'});
root.innerHTML = '<style>.h{display:none}</style>t<p id=inside>p</p><slot></slot><div class=h><slot name=gone></slot></div>';
host.append(Object.assign(document.createElement('u'), {id: 'hidden', slot: 'gone'}));
const closed = document.createElement('div'); closed.id = 'closed'; document.body.append(closed);
closed.attachShadow({mode: 'closed'}).innerHTML = '<p id=never>';
</script>"""


def test_open_shadow_roots_come_before_light_children(watch: Watch) -> None:
    taken = show(watch(), SHADOW)
    start = taken.tokens.index(["id", "host"])
    assert taken.tokens[start + 1 : start + 3] == ["#open", "<style"]
    assert taken.number("inside") < taken.number("slotted")
    assert taken.palette("inside") == "block|visible|collapse|none"
    assert taken.palette("slotted") == "inline|visible|collapse|none"
    assert taken.palette("lost") is None
    assert taken.palette("hidden") is None
    assert not taken.has("never")


def test_clobbered_forms_and_documents_do_no_harm(watch: Watch) -> None:
    names = [
        "attributes", "children", "firstChild", "nextSibling", "nodeType", "localName", "namespaceURI", "shadowRoot",
        "getAttribute", "getAttributeNames", "scrollTop", "parentNode", "matches", "labels", "ownerDocument",
    ]  # fmt: skip
    inputs = "".join(f"<input name={name}>" for name in names)
    documents = [
        "title",
        "documentElement",
        "activeElement",
        "styleSheets",
        "URL",
        "defaultView",
        "body",
        "host",
    ]
    watched = watch()
    taken = show(
        watched,
        f"<form id=form class=x style='padding:9px'>{inputs}<button id=b>Go</button></form>"
        + "".join(f"<img name={name}>" for name in documents),
    )
    assert taken.attributes("form") == {"id": "form", "class": "x", "style": "padding:9px"}
    assert taken.head["title"] == "T"
    assert taken.tokens.count("<input") == len(names)
    assert taken.tokens.count("<img") == len(documents)
    watched.forget()
    watched.page.click("#form", position={"x": 1, "y": 1})
    click = watched.until(lambda: watched.events("click"))[0]
    assert click.element.css == "#form"
    assert click.node.number == taken.number("form")
    assert not watched.gaps()


PATCHES = """<!doctype html><title>T</title><script>
const patch = (owner, name) => Object.defineProperty(owner, name, {get() { document.title = 'seen'; return () => 'forged'; }});
patch(Element.prototype, 'getAttributeNames'); patch(Element.prototype, 'attributes'); patch(Element.prototype, 'matches');
patch(Node.prototype, 'firstChild'); patch(Node.prototype, 'nextSibling'); patch(JSON, 'stringify');
</script><p id=p class=q>text</p>"""


def test_patched_prototypes_are_not_ours(watch: Watch, site: Any) -> None:
    watched = watch()
    watched.page.goto(site.add("/", PATCHES))
    taken = watched.ask()
    assert taken.head["title"] == "T"
    assert taken.attributes("p") == {"id": "p", "class": "q"}


def test_foreign_elements_keep_their_names(watch: Watch) -> None:
    watched = watch()
    show(
        watched,
        "<svg id=svg viewBox='0 0 1 1'><linearGradient/><foreignObject><p>x</p></foreignObject></svg><math><mi>x</mi></math>",
    )
    watched.page.evaluate("document.body.append(document.createElementNS('urn:x', 'a:Thing'))")
    watched.page.evaluate("document.body.append(document.createElementNS(null, 'bare'))")
    tokens = watched.ask().tokens
    place = tokens.index("%svg")
    assert tokens[place : place + 3] == ["%svg", ["id", "svg", "viewBox", "0 0 1 1"], "%linearGradient"]
    assert "%foreignObject" in tokens
    assert "&math" in tokens
    assert "^urn:x Thing" in tokens
    assert "^ bare" in tokens


def test_odd_attributes_keep_names_values_and_order(watch: Watch) -> None:
    watched = watch()
    show(watched, "<p id=p></p><i id=i></i>")
    watched.page.evaluate("""() => {
      p.setAttributeNS('urn:x', 'Odd', '1'); p.setAttributeNS('urn:y', 'id', '2');
      i.setAttributeNS('http://www.w3.org/1999/xlink', 'xlink:href', '#a'); i.setAttribute('@click', ''); }""")
    taken = watched.ask()
    assert ["id", "p", "^urn:x Odd", "1", "^urn:y id", "2"] in taken.tokens
    assert ["id", "i", "^http://www.w3.org/1999/xlink xlink:href", "#a", "@click", ""] in taken.tokens


def test_lone_surrogates_are_repaired_and_counted(watch: Watch) -> None:
    watched = watch()
    show(watched, "<p id=p></p><p id=q>\\ud800 as text</p>")
    watched.page.evaluate(
        r"p.append('a\ud83db', '\ud83d\ude00', '\ud800\ud800'); p.setAttribute('t', '\udc00')"
    )
    taken = watched.ask()
    assert taken.tokens[taken.tokens.index(["id", "p", "t", "�"]) + 1 :][:3] == ["=a�b", "=😀", "=��"]
    assert "=\\ud800 as text" in taken.tokens
    assert taken.push.repaired == 3


@pytest.mark.thorough
def test_thousands_of_levels(watch: Watch) -> None:
    # Hidden, since the browser itself crashes when it lays out some 3,000 nested blocks.
    watched = watch()
    show(watched, "<p hidden></p>")
    watched.page.evaluate("""() => { let at = document.querySelector('p');
      for (let i = 0; i < 5000; i += 1) at = at.appendChild(document.createElement('div')); }""")
    taken = watched.ask()
    assert taken.tokens.count("<div") == 5000
    assert taken.tokens[-1] == 5003
    assert taken.style[-5000:] == [-1] * 5000


def test_templates_comments_and_instructions(watch: Watch, site: Any) -> None:
    watched = watch()
    taken = show(
        watched,
        "<template id=t><p>x</p></template><!--a--><noscript><b>n</b></noscript><script>let a=1<2</script>",
    )
    assert taken.tokens[taken.tokens.index(["id", "t"]) :][1:4] == ["<p", "=x", 2]
    assert "!a" in taken.tokens
    assert "=<b>n</b>" in taken.tokens
    assert "=let a=1<2" in taken.tokens
    watched.page.goto(site.add("/x.xml", "<?pi some data?><r><![CDATA[a<b]]></r>", "text/xml"))
    taken = watched.ask()
    assert taken.head["content_type"] == "text/xml"
    assert taken.head["doctype"] is None
    assert "^ r" in taken.tokens
    assert "=a<b" in taken.tokens
    assert "?pi some data" in taken.tokens


def test_sheets_in_head_order(watch: Watch, site: Any) -> None:
    site.add("/own.css", "p{}", "text/css")
    site.add("/other.css", "p{}", "text/css")
    url = site.add(
        "/",
        "<link id=l rel=stylesheet href=/own.css media='print, screen'>"
        f"<link id=o rel=stylesheet href='{site.other}/other.css'><style id=s></style><p>x<script>"
        "const made = new CSSStyleSheet({disabled: true}); document.adoptedStyleSheets = [made]</script>",
    )
    watched = watch()
    watched.page.goto(url)
    taken = watched.ask()
    assert taken.head["sheets"] == [
        ["print, screen", False, taken.number("l"), True, -1],
        ["", False, taken.number("o"), False, -1],
        ["", False, taken.number("s"), True, -1],
        ["", True, -1, True, -1],
    ]


MASKED = "⟦masked⟧"
PASSWORDS = """
<input id=password type=password value=initial data-copy=initial><input id=card autocomplete='billing CC-Number'>
<input id=code autocomplete=one-time-code><textarea id=area autocomplete=new-password>hunter21</textarea>
<input id=dots style='-webkit-text-security:disc'><p id=dotted style='-webkit-text-security:disc'>hunter23</p>
<div id=gone style='display:none'><input id=hidden style='-webkit-text-security:disc' value=hunter24></div>
<div id=region><b id=b title=hunter30>hunter25</b> <input id=inner><select id=choice><option value=hunter26>hunter27</select></div>
<label id=wrap>Pin <span id=pin style='-webkit-text-security:disc'>hunter29</span></label>
<input id=open value=plain><input id=empty type=password>
"""


def fill_passwords(watched: Any) -> None:
    show(watched, PASSWORDS)
    for name in ("password", "card", "code", "area", "dots", "inner", "open"):
        watched.page.fill(f"#{name}", "hunter22")


def test_secret_fields_are_masked_before_they_leave_the_page(watch: Watch) -> None:
    watched = watch(mask=("#region",))
    fill_passwords(watched)
    taken = watched.ask()
    for name in ("password", "card", "code", "area", "dots", "inner"):
        assert state_token(taken, name)["value"] == MASKED, name
        assert state_token(taken, name)["masked"] is True, name
    assert taken.attributes("password") == {
        "id": "password",
        "type": "password",
        "value": MASKED,
        "data-copy": MASKED,
    }
    assert state_token(taken, "open") == {"value": "hunter22", "focus": True}
    assert state_token(taken, "empty") == {"masked": True}
    assert taken.attributes("hidden")["value"] == MASKED
    assert taken.attributes("b") == {"id": "b", "title": MASKED}
    everything = taken.text + "".join(watched.raw)
    for secret in (
        "hunter21",
        "hunter23",
        "hunter24",
        "hunter25",
        "hunter26",
        "hunter27",
        "hunter29",
        "hunter30",
        "initial",
    ):
        assert secret not in everything, secret


def test_no_message_holds_what_a_secret_field_holds(watch: Watch) -> None:
    watched = watch(mask=("#region",))
    show(watched, PASSWORDS)
    watched.forget()
    page = watched.page
    page.fill("#password", "hunter22")
    page.locator("#card").press_sequentially("qzvx-hunter22")
    page.fill("#inner", "hunter22")
    page.click("#b")
    page.click("#wrap")
    page.click("#region", position={"x": 790 - 20, "y": 2})
    page.click("#area")
    page.select_option("#choice", "hunter26")
    page.locator("#password").evaluate("(field) => { field.value = 'hunter28'; }")
    page.click("#password")
    page.keyboard.press("Control+a")
    watched.until(
        lambda: [event for event in watched.events("keydown") if event.data["chord"] == "Control+a"]
    )
    said = "".join(watched.raw) + json.dumps(watched.answer("hits('input, b, option')"))
    for secret in ("hunter", "qzvx"):
        assert secret not in said, said[max(0, said.find(secret) - 300) :][:600]
    wrap = next(event for event in watched.events("click") if event.element.css == "#wrap")
    assert wrap.element.text == f"Pin {MASKED}"
    assert next(event for event in watched.events("click") if event.element.css == "#region").element.masked
    keys = {event.data["key"] for event in watched.events("keydown") if event.element.css == "#card"}
    assert keys == {MASKED}
    inputs = [event for event in watched.events("input") if event.element.css == "#card"]
    assert {event.data["text"] for event in inputs} == {event.data["value"] for event in inputs} == {MASKED}


@pytest.mark.parametrize(
    "toggle",
    [
        "pw.type = 'text'",
        "pw.setAttribute('type', 'text')",
        "pw.replaceWith(Object.assign(document.createElement('input'), {id: 'pw', name: 'p', value: pw.value}))",
    ],
)
def test_show_password_does_not_show_it_to_us(watch: Watch, toggle: str) -> None:
    watched = watch()
    show(watched, "<form><input id=pw name=p type=password></form>")
    watched.page.fill("#pw", "hunter22")
    watched.page.evaluate(toggle)
    taken = watched.ask()
    assert state_token(taken, "pw")["value"] == MASKED
    watched.page.focus("#pw")
    watched.page.keyboard.press("End")
    watched.page.keyboard.type("3")
    assert watched.until(lambda: watched.events("input")[1:])[-1].data["value"] == MASKED
    assert "hunter22" not in "".join(watched.raw) + watched.ask().text


def test_a_field_made_plain_before_anybody_looked_is_masked(watch: Watch, site: Any) -> None:
    watched = watch()
    watched.page.goto(
        site.add("/", "<input type=password id=pw value=hunter22><script>pw.type = 'text'</script>")
    )
    taken = watched.ask()
    assert taken.attributes("pw")["value"] == MASKED


def test_reads_do_not_carry_out_what_is_masked(watch: Watch) -> None:
    watched = watch(mask=("#region",))
    fill_passwords(watched)
    for read in (
        "() => document.querySelector('#password').value",
        "() => ['x ' + document.querySelector('#card').value]",
        "() => ({v: document.querySelector('#b').innerText})",
        "() => document.querySelector('#wrap').textContent",
    ):
        answer = watched.answer(f"classify({read})")
        assert MASKED in json.dumps(answer, ensure_ascii=False)
        assert "hunter" not in json.dumps(answer)
    assert watched.answer("property('#password', 'value')")["value"] == MASKED


def test_an_invalid_mask_lets_nothing_out(watch: Watch) -> None:
    watched = watch(mask=("p[",))
    watched.page.set_content("<p>text</p>")
    watched.page.click("p")
    watched.until(watched.gaps, "a gap")
    assert not watched.pushes()
    assert {gap.why for gap in watched.gaps()} == {"failed"}


def test_fields_that_change_without_an_event_are_named(watch: Watch) -> None:
    watched = watch()
    show(
        watched,
        "<input id=a><input id=pw type=password value=x><input id=c type=checkbox><select id=s><option>1<option>2</select>",
    )
    watched.page.fill("#a", "typed")
    assert changes(watched) == []
    watched.page.evaluate("a.value = 'set'; pw.value = 'hunter22'; c.checked = true; s.value = '2'")
    expected = [("#a", "typed", "set"), ("#pw", MASKED, MASKED), ("#c", "false", "true"), ("#s", "1", "2")]
    assert changes(watched) == expected
    assert changes(watched) == expected


def changes(watched: Any) -> list[tuple[str, str, str]]:
    """All changes without an event, whichever push said so."""
    watched.messages.append(watched.ask().push)
    return [change for push in watched.pushes() for change in push.changed]


@pytest.mark.thorough
def test_large_pages_lose_boxes_then_styles(watch: Watch) -> None:
    watched = watch()
    show(
        watched, "<div id=many hidden></div><input id=dots style='-webkit-text-security:disc' value=hunter22>"
    )
    watched.page.evaluate("many.innerHTML = '<b></b>'.repeat(20000)")
    taken = watched.ask()
    assert taken.head["flags"] == ["no_box", "composed"]
    assert (taken.box, len(taken.style)) == ([], taken.head["elements"])
    watched.page.evaluate("many.innerHTML = '<b></b>'.repeat(60000)")
    taken = watched.ask()
    assert taken.head["flags"] == ["no_box", "no_style"]
    assert (taken.box, taken.style, taken.head["styles"]) == ([], [], [])
    assert taken.attributes("dots")["value"] == MASKED
    dom = Dom(taken.text.encode())
    found = dom.select("#many")
    assert found is not None and found.attribute("hidden") == ""
    for read in (lambda: dom.text, lambda: found.inner_text, lambda: found.visible):
        with pytest.raises(Unsupported, match="no_style"):
            read()


SUMMARY = """(() => {
  const [head, line] = JSON.parse(API.push('asked')).snapshot.split('\\n');
  const tokens = JSON.parse(line), at = (mark) => tokens.flatMap((token, i) => token === mark ? [tokens[i + 1]] : []);
  return {flags: JSON.parse(head).flags, elements: JSON.parse(head).elements, omitted: at('~'), last: tokens.at(-1),
    texts: tokens.filter((token) => token[0] === '=').map((token) => [token.length, token.slice(-9)]),
    kept: tokens.filter((token) => token === '<i').length};
})()""".replace("API", API)


def summary(page: Any, fill: str) -> dict[str, Any]:
    """Serialize in the page's own world and bring out only the outline: the whole has many megabytes."""
    page.set_content("<!doctype html><div id=many hidden></div><p id=after><b></b></p>")
    page.evaluate(page_script(PageOptions(main_world=True)))
    page.evaluate(fill)
    found: dict[str, Any] = page.evaluate(SUMMARY)
    return found


def test_too_much_text_is_left_out_and_counted(page: Any) -> None:
    outline = summary(
        page,
        """() => { for (let i = 0; i < 27; i += 1) {
          many.append(document.createElement('i')); many.lastChild.append('x'.repeat(2 ** 20 + (i ? 0 : 5))); } }""",
    )
    assert outline["flags"] == ["cut", "main_world", "composed"]
    assert outline["texts"][0] == [1 + 2**20 + len("⟦cut:5⟧"), "xx⟦cut:5⟧"]
    assert outline["texts"][1] == [1 + 2**20, "x" * 9]
    assert outline["omitted"] == [27 - outline["kept"], 2]
    assert 23 <= outline["kept"] <= 25


def test_too_many_elements_are_left_out_and_counted(page: Any) -> None:
    outline = summary(page, "many.innerHTML = '<i></i>'.repeat(250_005)")
    assert outline["flags"] == ["no_box", "no_style", "cut", "main_world"]
    assert outline["elements"] == 250_000
    assert outline["omitted"] == [250_005 - outline["kept"], 2]
    assert outline["last"] == 2


def test_a_page_that_was_cut_answers_nothing_that_the_rest_could_change(page: Any) -> None:
    markup = "'<i>a</i>'.repeat(1000) + `<b id=long>${'x'.repeat(2 ** 20 + 5)}</b>`"
    page.set_content("<!doctype html><div id=many></div><p id=after>z</p>")
    page.evaluate(page_script(PageOptions(main_world=True)))
    page.evaluate(f"many.innerHTML = {markup}")
    push = decode_message(page.evaluate(f"{API}.push('asked')"))
    assert isinstance(push, PagePush)
    dom = Dom(push.snapshot.encode())
    assert "cut" in dom.head.flags
    with pytest.raises(Unsupported, match="cut"):
        _ = dom.text
    after = dom.select("#after")
    assert after is not None and after.text == "z"


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("() => true", {"kind": "bool", "value": True}),
        ("() => null", {"kind": "null"}),
        ("() => undefined", {"kind": "undefined"}),
        ("() => Symbol('x')", {"kind": "undefined"}),
        ("() => 4", {"kind": "number", "value": 4}),
        ("() => 3.5", {"kind": "number", "value": 3.5}),
        ("() => NaN", {"kind": "number", "special": "nan"}),
        ("() => -Infinity", {"kind": "number", "special": "-inf"}),
        ("() => 12n", {"kind": "number", "value": 12}),
        ("() => document.querySelector('#a').id", {"kind": "string", "value": "a"}),
        ("() => document.querySelector('#a')", {"kind": "node"}),
        ("() => document.querySelector('#a').firstChild", {"kind": "node"}),
        ("() => document.querySelectorAll('p')", {"kind": "object", "value": {"0": "ref: <Node>"}}),
        (
            "() => [1, 'a', null, undefined, {b: [true]}]",
            {"kind": "array", "value": [1, "a", None, None, {"b": [True]}]},
        ),
        (
            "() => { const a = {b: 1}; a.self = a; return a }",
            {"kind": "object", "value": {"b": 1, "self": None}},
        ),
        ("() => () => 1", {"kind": "function"}),
        (
            "() => document.querySelector('#none').value",
            {
                "kind": "exception",
                "threw": {"name": "TypeError", "message": "Cannot read properties of null (reading 'value')"},
            },
        ),
        ("() => { throw 'text' }", {"kind": "exception", "threw": {"name": "Error", "message": "text"}}),
        ("() => 'x'.repeat(2 ** 20 + 3)", {"kind": "string", "value": "x" * 2**20 + "⟦cut:3⟧"}),
    ],
)
def test_reads_keep_the_kind_of_their_value(watch: Watch, read: str, expected: dict[str, Any]) -> None:
    watched = watch()
    show(watched, "<p id=a>x</p>")
    assert watched.answer(f"classify({read})") == expected


def test_minus_zero_keeps_its_sign(watch: Watch) -> None:
    answer = watch().answer("classify(() => -0)")
    assert str(answer["value"]) == "-0.0"


def test_hits_and_properties(watch: Watch) -> None:
    watched = watch()
    taken = show(
        watched,
        "<p class=a id=x> one  two</p><p class=a></p><input id=i value=v><input id=c type=checkbox checked>",
    )
    assert watched.answer("hits('.a')") == [
        {"number": taken.number("x"), "attributes": {"class": "a", "id": "x"}},
        {"number": taken.number("x") + 1, "attributes": {"class": "a"}},
    ]
    assert watched.answer("hits('.none')") == []
    assert watched.answer("property('#x', 'text')") == {"kind": "string", "value": "one two"}
    assert watched.answer("property('#x', 'class')") == {"kind": "string", "value": "a"}
    assert watched.answer("property('#x', 'title')") == {"kind": "null"}
    assert watched.answer("property('#none', 'text')") == {"kind": "undefined"}
    assert watched.answer("property('#i', 'value')") == {"kind": "string", "value": "v"}
    assert watched.answer("property('#c', 'checked')") == {"kind": "bool", "value": True}


def test_an_owner_learns_which_frame_it_holds(watch: Watch, site: Any) -> None:
    watched = watch()
    watched.page.goto(site.add("/", f"<p id=p><iframe id=f src='{site.other}/x'></iframe>"))
    before = watched.ask()
    assert [frame.id for frame in before.push.frames] == [""]
    node = watched.answer("own(document.querySelector('#f'), 'F1')")
    assert node["number"] == before.number("f")
    assert node["push"] >= before.push.seq  # the page may have come to rest meanwhile
    after = watched.ask()
    assert [frame.id for frame in after.push.frames] == ["F1"]
    assert after.text == before.text
    assert watched.answer("own(document.querySelector('#p'), 'F2')") is None


def test_a_push_says_url_title_viewport_and_pointer(watch: Watch) -> None:
    watched = watch()
    show(watched, "<button id=b>x</button>")
    push = watched.ask().push
    shown = (push.url, push.title, push.viewport, push.pointer)
    assert shown == (watched.page.url, "T", (800, 600), None)
    watched.page.mouse.move(33, 44)
    assert watched.ask().push.pointer == (33, 44)


def test_nothing_is_visible_to_the_page(browser: Any, watch: Watch, site: Any) -> None:
    probe = """() => JSON.stringify([Object.getOwnPropertyNames(window).sort(), Object.getOwnPropertyNames(document),
      document.documentElement.outerHTML, performance.getEntriesByType('mark').length,
      Object.getOwnPropertySymbols(window).length, document.hasFocus(), document.activeElement.tagName])"""
    url = site.add(
        "/",
        "<!doctype html><p>x</p><script>addEventListener('error', (e) => document.title = e.message)</script>",
    )
    context = browser.new_context(viewport={"width": 800, "height": 600})
    plain = context.new_page()
    plain.goto(url)
    expected = plain.evaluate(probe)
    context.close()
    watched = watch()
    watched.page.goto(url)
    watched.settle()
    watched.ask()
    assert watched.page.evaluate(probe) == expected


def test_a_strict_policy_of_the_page_does_not_stop_us(watch: Watch, site: Any) -> None:
    site.headers["Content-Security-Policy"] = (
        "default-src 'none'; require-trusted-types-for 'script'; sandbox allow-forms"
    )
    watched = watch()
    watched.page.goto(site.add("/", "<button id=b>x</button>"))
    taken = watched.ask()
    assert taken.has("b")
    watched.page.click("#b")
    assert watched.until(lambda: watched.events("click"))[0].node is not None


def test_a_page_that_is_there_already_is_taken_on(page: Any, watch: Watch) -> None:
    page.set_content("<p id=early>x</p>")
    watched = watch()
    assert watched.ask().has("early")
    assert watched.until(lambda: watched.pushes("rest"))
