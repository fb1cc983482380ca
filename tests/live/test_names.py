"""Accessible names of what was acted on, against the browser's own accessibility tree and Playwright's names."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.live.test_actions import until_last

pytestmark = [pytest.mark.live, pytest.mark.one_page]


MASKED = "⟦masked⟧"
ELSEWHERE = """<div id=one>One <b>bold</b></div><div id=two hidden>Two <i>hidden</i></div>
<span id=three style="visibility:hidden">Three</span><span id=four><i aria-labelledby=one>Four</i></span>
<span id=five aria-label=Fifth>5</span><img id=six alt=Sixth width=9 height=9><input id=eight type=button value=Eighth hidden>
<svg id=seven width=9 height=9><title>Seventh</title></svg><i id=nine title=Ninth></i>
<label for=ten>Tenth</label><input id=ten><b id=eleven aria-label=Eleventh hidden>11</b>"""
INSIDE = {
    "words": "Save <b>this</b> order",
    "what cannot be seen": "Save <span style='visibility:hidden'>Saving <i style='visibility:visible'>it</i></span>",
    "names of what cannot be seen": "Save<i style='visibility:hidden' title=Link>#<img alt=picture></i>",
    "a line break": "Save<br>it",
    "what is not rendered": "Save <span style='display:none'>Saving</span><span aria-hidden=true>¶</span>",
    "no box of its own": "<span style='display:contents'>Save <b>it</b></span>",
    "a drawing": "<svg width=9 height=9><title>Bin</title><text>x</text></svg>Delete",
    "a drawing without a title": "<svg width=9 height=9><text>x</text></svg>Delete",
    "a drawing in a drawing": "<svg width=9 height=9><svg><title>Bin</title></svg></svg>Delete",
    "a picture": "Delete<img alt=' it '>now",
    "a drawing whose title is its last part": "<svg width=9 height=9><g></g><title>Bin</title></svg>",
    "a part of a drawing": "<svg width=9 height=9><g><title>Bin</title></g></svg>",
    "a tip beside words": "<i title='Delete it'>Delete</i>",
    "an image for show": "<img alt='' title=Tip width=9 height=9>Go",
    "a part with a label": "Go<span aria-label='home now'>x</span>or stay",
    "a part that references": "Go <span aria-labelledby='one two'>x</span>",
    "a part that references what references": "Go <span aria-labelledby=four>x</span>",
    "blocks": "a<div>b</div>c<span style='display:inline-block'>d</span>e",
}
"""Texts of a button."""

ON_IT = {
    "references": "aria-labelledby='one nowhere two'",
    "what is hidden alone": "aria-labelledby=three",
    "what references": "aria-labelledby=four",
    "a blank label": "aria-label=' ' title=Tip",
    "references what has a label": "aria-labelledby=five",
    "references itself by its label, and a row": "aria-label=Delete aria-labelledby='{} one'",
    "references itself by its tip, and a row": "title=Delete aria-labelledby='{} one'",
    "references an image": "aria-labelledby=six",
    "references a drawing": "aria-labelledby=seven",
    "references a button": "aria-labelledby=eight",
    "references a tip": "aria-labelledby=nine",
    "references a field with a label": "aria-labelledby=ten",
    "references a hidden label": "aria-labelledby=eleven",
}
"""Attributes of a button that says nothing."""

FIELDS = {
    "label": "<label for=f0>Name <i style='visibility:hidden'>(required)</i></label><input id=f0>",
    "prompt": "<input id=f1 placeholder=Town>",
    "no prompt": "<input id=f2 type=checkbox placeholder=Town>",
    "tip": "<textarea id=f3 title=Tip placeholder=Town></textarea>",
    "prompt of an editor": "<span id=f4 role=textbox contenteditable style='padding:9px' aria-placeholder='Write it'></span>",
}
ROLES = {
    "a word that is no role": "<button @ role=btn>x</button>",
    "words before a role": "<div @ role='trash&#9; BUTTON link'>x</div>",
    "a class of roles": "<button @ role=widget>x</button>",
    "a control of no role": "<a @ href=# role=presentation>x</a>",
    "what can be focused, of no role": "<h2 @ role=none tabindex=-1>x</h2>",
    "what has a label, of no role": "<h2 @ role='none presentation' aria-label=y>x</h2>",
    "a role of a module": "<p @ role=doc-abstract>x</p>",
    "a link in a drawing": "<svg><a @ href=#><text y=9>x</text></a></svg>",
    "a link in an old drawing": "<svg><a @ xlink:href=#><text y=9>x</text></a></svg>",
    "a button in a drawing": "<svg><g @ role=button tabindex=0><text y=9>x</text></g></svg>",
}
"""Elements, each marked, whose roles are not the first words of their attributes."""

DRAWN = {
    "a link with a title": "<svg><a href=# id=n0><title>Bin</title><rect width=9 height=9 /></a></svg>",
    "a link with a tip": "<svg><a href=# id=n1 xlink:title=Bin><rect width=9 height=9 /></a></svg>",
    "a button with a title": "<svg><g role=button id=n2><rect width=9 height=9 /><title>Bin</title></g></svg>",
}
BY_PLAYWRIGHT = {
    "an icon's tip": ("button", "Delete it", "<button id=p0><i title='Delete it'></i></button>"),
    "a hidden label": (
        "textbox",
        "Name it",
        "<label for=p1 hidden>Name <i hidden>it</i></label><input id=p1 placeholder=Town>",
    ),
}
"""Role, name and page where Chromium finds no name and Playwright does, as the specification wants."""


def live_names(watched: Any, *roles: str) -> list[str]:
    """Names of all elements of some roles, in their order, as the browser gives them to assistive technology."""
    tree = watched.cdp.send("Accessibility.getFullAXTree")["nodes"]
    return [node["name"]["value"].strip() for node in tree if node["role"].get("value") in roles]


def names(watched: Any, *css: str) -> list[str]:
    """Click elements; return the names in the events."""
    watched.settle()
    for one in css:
        watched.page.click(one)
    return [until_last(watched, "click", one).element.name or "" for one in css]


def test_buttons_are_called_as_in_the_accessibility_tree(watch: Callable[..., Any]) -> None:
    buttons = [f">{inside}" for inside in INSIDE.values()]
    buttons += [
        f"{attributes.format(f'b{number}')}>"
        for number, attributes in enumerate(ON_IT.values(), len(buttons))
    ]
    drawn = [f"<p><button id=b{number} {button}</button>" for number, button in enumerate(buttons)]
    watched = watch()
    watched.page.set_content(f"<!doctype html>{''.join(drawn)}{ELSEWHERE}")
    live = dict(zip((*INSIDE, *ON_IT), live_names(watched, "button"), strict=True))
    own = names(watched, *(f"#b{number}" for number in range(len(buttons))))
    assert dict(zip(live, own, strict=True)) == live


@pytest.mark.parametrize(
    ("bodies", "prefix", "roles"),
    [(FIELDS, "#f", ("textbox", "checkbox")), (DRAWN, "#n", ("link", "button"))],
    ids=["fields", "parts of drawings"],
)
def test_elements_are_called_as_in_the_accessibility_tree(
    bodies: dict[str, str], prefix: str, roles: tuple[str, ...], watch: Callable[..., Any]
) -> None:
    watched = watch()
    watched.page.set_content(f"<!doctype html>{'<p>'.join(bodies.values())}")
    live = dict(zip(bodies, live_names(watched, *roles), strict=True))
    own = names(watched, *(f"{prefix}{number}" for number in range(len(bodies))))
    assert dict(zip(live, own, strict=True)) == live


def live_role(watched: Any, css: str) -> str:
    node = watched.cdp.send("Runtime.evaluate", {"expression": f"document.querySelector({css!r})"})
    asked = {"objectId": node["result"]["objectId"], "fetchRelatives": False}
    role: str = watched.cdp.send("Accessibility.getPartialAXTree", asked)["nodes"][0]["role"]["value"]
    return role


def test_roles_are_those_of_the_accessibility_tree(watch: Callable[..., Any]) -> None:
    watched = watch()
    marked = [body.replace("@", f"id=r{number}") for number, body in enumerate(ROLES.values())]
    watched.page.set_content(f"<!doctype html>{'<p>'.join(marked)}")
    watched.settle()
    live = {kind: live_role(watched, f"#r{number}") for number, kind in enumerate(ROLES)}
    watched.page.evaluate(
        "document.querySelectorAll('[id^=r]').forEach((e) => e.dispatchEvent(new Event('click')))"
    )
    events = watched.until(lambda: watched.events("click")[len(ROLES) - 1 :] and watched.events("click"))
    assert dict(zip(ROLES, (event.element.role for event in events), strict=True)) == live


def test_names_that_only_playwright_finds(watch: Callable[..., Any]) -> None:
    watched = watch()
    bodies = [body for _, _, body in BY_PLAYWRIGHT.values()]
    watched.page.set_content(f"<!doctype html>{'<p>'.join(bodies)}")
    for role, name, _ in BY_PLAYWRIGHT.values():
        expect(watched.page.get_by_role(role, name=name, exact=True)).to_be_visible()
    own = names(watched, *(f"#p{number}" for number in range(len(bodies))))
    assert own == [name for _, name, _ in BY_PLAYWRIGHT.values()]


def test_what_is_masked_is_masked_in_names(watch: Callable[..., Any]) -> None:
    watched = watch(mask=("#card",))
    watched.page.set_content(
        "<!doctype html><button id=b>Pay with <b id=card>4111<svg><title>1111</title></svg></b></button>"
        "<p><button id=c aria-labelledby=card></button>"
    )
    said = names(watched, "#b", "#c")
    assert said[0].startswith("Pay with ") and not any("11" in name for name in said) and said[1] != ""


MASKED_PAGE = """<!doctype html><style>.dots { -webkit-text-security: disc }</style>
<button id=a class=secret aria-label='Pay with Quux'>Pay</button>
<button id=b class=secret title='Quux Quux'></button>
<button id=c>Pay with <i class=secret aria-label='card Quux'>x</i></button>
<button id=d>Pay with <img class=secret alt='card Quux'></button>
<a id=e class=secret href='javascript:void Quux'>Quux</a>
<input id=f class=secret placeholder='as in Quux'>
<input id=g class=secret type=submit value='Pay with Quux'>
<button id=h class=dots title='Quux'>Quux</button>
<svg id=i role=img class=secret aria-label='a seal'><title>Quux</title></svg>
<button id=j class=secret data-copy='+49 Quux now'>Quux</button>
<select id=k class=secret aria-label='cards'><option label='card Quux' title='Quux'>Quux</option></select>
"""


def test_what_a_masked_element_says_in_attributes_never_leaves_the_page(watch: Callable[..., Any]) -> None:
    watched = watch(mask=(".secret",))
    watched.page.set_content(MASKED_PAGE)
    said = names(watched, *(f"#{name}" for name in "abcdefghijk"))
    assert said == [
        MASKED, MASKED, f"Pay with {MASKED}", f"Pay with {MASKED}", MASKED, MASKED, MASKED, MASKED, MASKED, MASKED,
        MASKED,
    ]  # fmt: skip
    taken = watched.ask()
    assert taken.attributes("a") == {"id": "a", "class": "secret", "aria-label": MASKED}
    assert taken.attributes("e")["href"] == taken.attributes("j")["data-copy"] == MASKED
    for read in ("property('#b', 'title')", "classify(() => document.querySelector('#f').placeholder)"):
        assert watched.answer(read)["value"] == MASKED
    assert "Quux" not in "".join(watched.raw) + taken.text + json.dumps(
        watched.answer("hits('a, button, input')")
    )


def test_what_a_secret_field_is_called_stays(watch: Callable[..., Any]) -> None:
    watched = watch()
    watched.page.set_content(
        "<!doctype html><input id=a type=password aria-label='Current password' title='At least 8' value=hunter22>"
        "<input id=b style='-webkit-text-security: disc' placeholder='PIN' value=hunter22>"
    )
    assert names(watched, "#a", "#b") == ["Current password", "PIN"]
    assert watched.ask().attributes("a")["title"] == "At least 8"
    assert "hunter22" not in "".join(watched.raw)


def test_what_a_name_references_without_end_is_bounded(watch: Callable[..., Any]) -> None:
    """By visits, of which every `<b>w</b>` takes two, and before its length is: 512 of them would fit."""
    watched = watch()
    parts = "<i aria-labelledby='{}'>x</i>".format(" ".join(["all"] * 5000)) * 200
    watched.page.set_content(
        f"<!doctype html><button id=b>{parts}</button><div id=all>{'<b>w</b> ' * 5000}</div>"
    )
    (name,) = names(watched, "#b")
    assert 100 < name.count("w") <= 250


def clicked(watched: Any, css: str, **options: Any) -> Any:
    """Click; return what the page reported of the element."""
    known = len(watched.events("click"))
    watched.page.click(css, **options)
    clicks = watched.until(lambda: watched.events("click")[known:], f"click on {css}")
    return clicks[-1].element


SHOWN = """<!doctype html><style>#b4::before { content: 'Delete ' attr(data-what) } #b4::after { content: '\\201D' }
#b5::before { content: '\\e5cd' } #b6::before { content: '*' / 'Starred' } #b8::before { content: 'No'; display: none }
#b9::before { content: 'Now'; display: block }</style>
<x-a id=h0>Delete <b>it</b></x-a><x-b id=h1><b slot=label>Delete it</b> rest</x-b><x-c id=h2>Delete it</x-c><x-b id=h3></x-b>
<button id=b4 data-what=it></button><button id=b5>Close</button><button id=b6></button>
<button id=b7><x-d></x-d></button><button id=b8>Yes</button><button id=b9>Buy</button>
<x-e id=h10></x-e><x-f id=h11>Open</x-f><b id=label>Told elsewhere</b><script>
const make = (name, html, then) => customElements.define(name, class extends HTMLElement {
  constructor() { super(); const root = this.attachShadow({mode: 'open'}); root.innerHTML = html; then?.(root) } });
make('x-a', '<button><i>!</i> <slot></slot></button>');
make('x-b', '<button><slot name=label>Nothing</slot></button>');
make('x-c', '<x-a><slot></slot></x-a>');
make('x-d', '<span>Deep <i>word</i></span>');
make('x-e', '<button aria-labelledby=inside>x</button><span id=inside>Told inside</span>');
make('x-f', '<button>x</button>', (root) => { root.firstChild.ariaLabelledByElements = [label] });
</script>"""


def test_what_shows_through_slots_shadow_trees_and_style_sheets_is_the_name(
    watch: Callable[..., Any],
) -> None:
    watched = watch()
    watched.page.set_content(SHOWN)
    watched.settle()
    own = [clicked(watched, f"#{'h' if n in (0, 1, 2, 3, 10, 11) else 'b'}{n}").name for n in range(12)]
    live = [name.replace("\ue5cd", "").strip() for name in live_names(watched, "button")]
    assert sorted(own) == sorted(live)


CLOSED = """<!doctype html><style>div, x-b { margin: 5px }</style><div id=a></div><x-b id=b>Cancel</x-b>
<x-b id=c><span>Cancel</span></x-b><x-o id=d>Open</x-o>
<x-u id=e>Never defined</x-u><div id=f onclick=1>Plain</div><x-b id=g>Slotted</x-b><div id=i style="height: 9px; background: red" title=Bar></div>
<div id=j><img width=20 height=20 alt=Bin></div><script>
const closed = (host, html) => { host.attachShadow({mode: 'closed'}).innerHTML = html };
closed(a, '<button>Buy now</button>'); closed(b, '<button>Buy now</button>');
closed(c, '<button>Buy <slot></slot></button>'); closed(g, '<button><slot></slot></button>');
d.attachShadow({mode: 'open'}).innerHTML = '<x-i></x-i><button>o</button>';
closed(d.shadowRoot.firstChild, '<button>Buy now</button>');
</script>"""


def test_what_a_closed_tree_shows_is_not_known(watch: Callable[..., Any]) -> None:
    watched = watch()
    watched.page.set_content(CLOSED)
    watched.settle()
    places: dict[str, Any] = {"c": {"x": 3, "y": 8}, "d": {"x": 4, "y": 8}}
    found = {
        name: clicked(watched, f"#{name}", position=places.get(name)).closed_shadow for name in "abcdefgij"
    }
    assert {name for name, is_closed in found.items() if is_closed} == {"a", "b", "c", "d"}


CHANGING = """<!doctype html><style>#s:hover .was, #s .now { display: none } #s:hover .now { display: inline }
#p::before { content: 'Pay' } #p:hover::before { content: 'Stay' }</style>
<button id=m>Buy</button><button id=o>Send</button><span id=r><button id=q>Drop</button></span>
<button id=s><i class=was>Sell</i><i class=now>Keep</i></button><button id=p></button><button id=k>Key</button>
<button id=z>Same</button><script>
m.onpointermove = () => { m.textContent = 'No' }; o.onmouseenter = () => { o.textContent = 'No' };
q.onmouseover = () => { r.innerHTML = '<button id=q>No</button>' };
k.onfocus = () => { k.textContent = 'No' };
</script>"""


TIMED = """<!doctype html><button id=t>Buy</button><button id=a aria-label=Send>x</button><button id=n><b>Sell</b> it</button>
<button id=u>Same</button><p id=c>0</p><script>
const tick = () => setInterval(() => { c.textContent = Number(c.textContent) + 1 }, 20);
const rename = { t: () => { t.firstChild.data = 'No' }, a: () => { a.ariaLabel = 'No' },
  n: () => { n.firstChild.textContent = 'Keep' } };
</script>"""


def test_names_that_a_timer_changes_right_before_the_click_are_kept(watch: Callable[..., Any]) -> None:
    watched = watch()
    watched.page.set_content(TIMED)
    watched.settle()
    watched.page.evaluate("void tick()")  # a page that never rests again
    earlier = {}
    for name in "tanu":
        script = "name => setTimeout(() => { rename[name]?.(); setTimeout(() => document.getElementById(name).click()) })"
        watched.page.evaluate(script, name)
        earlier[name] = until_last(watched, "click", f"#{name}").element.earlier
    assert earlier == {"t": ("Buy",), "a": ("Send",), "n": ("Sell",), "u": ()}


def test_a_masked_text_is_none_of_the_earlier_names(watch: Callable[..., Any]) -> None:
    watched = watch(mask=("b",))
    watched.page.set_content("<button id=t><i>Buy</i> <b>4711</b></button>")
    watched.settle()
    watched.page.evaluate("t.querySelector('b').textContent = '1'; t.querySelector('b').remove(); t.click()")
    assert "4711" not in str(until_last(watched, "click", "#t").element)


OVERLAYS = """<!doctype html><style>body { margin: 0 } button { position: absolute; width: 90px; height: 30px; left: 0 }
.overlay { position: absolute; left: 0; width: 90px; height: 30px; pointer-events: none; background: white }</style>
<button id=v style="top: 0">Cancel</button><div class=overlay style="top: 0">Buy now</div>
<button id=o style="top: 40px">Cancel</button><div class=overlay style="top: 40px; opacity: 0">Buy now</div>
<button id=f style="top: 80px">Cancel</button><div class=overlay style="top: 300px">Buy now</div>
<button id=b style="top: 120px">Cancel<span class=overlay style="top: 0">own</span></button>"""


def test_texts_over_a_target_that_a_pointer_goes_through_are_kept(watch: Callable[..., Any]) -> None:
    watched = watch()
    watched.page.set_content(OVERLAYS)
    watched.settle()
    watched.ask()
    assert {name: clicked(watched, f"#{name}").over for name in "vofb"} == {
        "v": ("Buy now",), "o": (), "f": (), "b": (),
    }  # fmt: skip


def test_names_that_change_as_somebody_comes_near_are_kept(watch: Callable[..., Any]) -> None:
    watched = watch()
    watched.page.set_content(CHANGING)
    watched.settle()
    watched.ask()
    earlier = {}
    for name in "moqspz":
        watched.page.click(f"#{name}")
        earlier[name] = until_last(watched, "click", f"#{name}").element.earlier
    watched.page.focus("#k")
    watched.page.keyboard.press("Enter")
    earlier["k"] = until_last(watched, "keydown", "#k").element.earlier
    assert earlier == {
        "m": ("Buy",), "o": ("Send",), "q": ("Drop",), "s": ("Sell",), "p": ("Pay",), "z": (), "k": ("Key",),
    }  # fmt: skip


CLOSING_UP = """<!doctype html><style>button { display: block; width: 90px; height: 30px }</style>
<button id=a>Buy</button><button id=b>Sell</button><button id=c>Keep</button><script>
a.onclick = () => a.remove(); b.onclick = () => b.remove(); c.onclick = () => { c.textContent = 'Leave' };
</script>"""


def test_what_was_pressed_is_no_name_of_what_is_pressed_next(watch: Callable[..., Any]) -> None:
    watched = watch()
    watched.page.set_content(CLOSING_UP)
    watched.settle()
    earlier = []
    for name in "abcc":
        watched.forget()
        watched.page.mouse.click(20, 20)
        earlier.append(until_last(watched, "pointerdown", f"#{name}").element.earlier)
    assert earlier == [(), (), (), ()]
