"""Static answers against the live page: every element, every read that graders make."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fixtures.sites.shop.server import Site, serve
from replaykit.recorder.page.page_script import API
from replaykit.replay.dom import Dom, Node
from tests.thorough import one_in

sys.path.insert(0, str(Path(__file__).parent))
from awkward import PAGES, random_page

pytestmark = [pytest.mark.live, pytest.mark.one_page]


Watch = Callable[..., Any]

# Snapshot and reads in one task of the page: nothing can change between them.
READ = """(() => {
  const push = API.push('asked');
  const reads = [];
  const visit = (node) => {
    if (node.nodeType === 1) reads.push([node.localName, node.innerText ?? null, node.outerText ?? null,
      node.value ?? null, node.checked ?? null, node.selectedIndex ?? null, node.selected ?? null]);
    if (node.shadowRoot) node.shadowRoot.childNodes.forEach(visit);
    if (/^i?frame$/.test(node.localName) && node.contentDocument) node.contentDocument.childNodes.forEach(visit);
    (node.localName === 'template' ? node.content : node).childNodes.forEach(visit);
  };
  document.childNodes.forEach(visit);
  return JSON.stringify({push: JSON.parse(push), reads});
})()""".replace("API", API)

DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
SHOP = [
    ("/", ""),
    ("/orders", ""),
    ("/orders/1003", ""),
    ("/orders/1003", "#tab-notes"),
    ("/orders/1003", "#tab-history"),
    ("/orders/1003", "#address summary"),
    ("/orders/1003", "[data-open=refund-dialog]"),
    ("/products", ""),
    ("/products/POT-IRON", ""),
    ("/customers", ""),
    ("/customers/C-104", ""),
    ("/settings", ""),
    ("/reports", ""),
    ("/reports", "#report-january button"),
    ("/reports", "#report-december button"),
    ("/help", ""),
    ("/login", ""),
    ("/login?expired=1", ""),
    ("/admin/payroll", ""),
]
"""Views of the shop: path, and what to click there."""


def normal(text: str | None) -> str | None:
    return None if text is None else re.sub(r"\s+", " ", text).strip()


def load(watched: Any, body: str, head: str = "") -> tuple[Dom, list[Any]]:
    watched.page.set_content(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>")
    watched.page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    answer = msgspec.json.decode(watched.call(READ))
    return Dom(answer["push"]["snapshot"].encode()), answer["reads"]


def differences(dom: Dom, reads: list[Any]) -> tuple[list[str], list[str]]:
    """Return where static and live answers differ, and where they differ in white space only."""
    wrong: list[str] = []
    blank: list[str] = []
    assert len(dom.snapshot.nodes) == len(reads)
    for number, (tag, inner, outer, value, checked, index, selected) in enumerate(reads):
        node = dom.node(number)
        assert node is not None
        assert (node.tag, outer) == (tag, inner)
        text = node.inner_text
        if text != inner:
            (blank if normal(text) == normal(inner) else wrong).append(f"{node!r} text {inner!r} is {text!r}")
        wrong += _form_differences(node, value, checked, index, selected)
    return wrong, blank


def _form_differences(node: Node, value: Any, checked: Any, index: Any, selected: Any) -> list[str]:
    pairs = {
        "value": (value, node.value),
        "checked": (checked, node.checked),
        "selectedIndex": (index, node.selected_index),
        "selected": (selected, node.selected),
    }
    return [f"{node!r} {name} {live!r} is {own!r}" for name, (live, own) in pairs.items() if live != own]


@pytest.fixture(scope="module")
def shop() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.mark.parametrize(("path", "click"), one_in(3, SHOP))
def test_every_element_of_every_view_of_the_shop_reads_as_live(
    watch: Watch, shop: Site, path: str, click: str
) -> None:
    watched = watch()
    watched.page.goto(shop.url + path)
    if click:
        watched.page.click(click)
    if "report" in click:
        watched.page.wait_for_selector("#fault:not([hidden]), #export:not([hidden])")
    answer = msgspec.json.decode(watched.call(READ))
    assert len(answer["reads"]) > 10
    assert differences(Dom(answer["push"]["snapshot"].encode()), answer["reads"]) == ([], [])


@pytest.mark.parametrize("name", one_in(2, [*PAGES]))
def test_every_element_of_an_awkward_page_reads_as_live(watch: Watch, name: str) -> None:
    assert differences(*load(watch(), PAGES[name])) == ([], [])


def test_every_element_of_a_quirks_page_reads_as_live(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content(f"<body>{PAGES['tables']}{PAGES['blocks']}</body>")
    answer = msgspec.json.decode(watched.call(READ))
    dom = Dom(answer["push"]["snapshot"].encode())
    assert dom.snapshot.head.compat == "BackCompat"
    assert differences(dom, answer["reads"]) == ([], [])


def test_random_pages_read_as_live(watch: Watch) -> None:
    """Normalised: all; exact: 999 of 1,000 elements."""
    watched = watch()
    elements, inexact = 0, 0
    for seed in range(40):
        dom, reads = load(watched, random_page(seed))
        wrong, blank = differences(dom, reads)
        assert wrong == [], f"random_page({seed})"
        elements, inexact = elements + len(reads), inexact + len(blank)
    assert elements > 1000
    assert inexact <= elements / 1000


def test_form_state_that_people_change_reads_as_live(watch: Watch) -> None:
    watched = watch()
    load(watched, PAGES["controls"])
    page = watched.page
    page.fill("#t", "typed \u00e9")
    page.fill("#a", "line one\n\nline three")
    page.select_option("#s", index=0)
    page.select_option("#m", index=[1])
    for box in page.query_selector_all("input[type=checkbox], input[type=radio]"):
        box.click()
    page.set_input_files("input[type=file]", {"name": "a b.txt", "mimeType": "text/plain", "buffer": b"x"})
    page.evaluate("() => { document.querySelector('input[type=range]').value = 7 }")
    answer = msgspec.json.decode(watched.call(READ))
    dom = Dom(answer["push"]["snapshot"].encode())
    assert differences(dom, answer["reads"]) == ([], [])
    typed = dom.select("#t")
    assert typed is not None
    assert (typed.value, typed.attribute("value")) == ("typed \u00e9", "a")


def test_deeply_nested_pages_read_as_live(watch: Watch) -> None:
    watched = watch()
    load(watched, "")
    watched.page.evaluate("""() => {
      let at = document.body;
      for (let n = 0; n < 400; n += 1) at = at.appendChild(document.createElement(n % 3 ? 'span' : 'div'));
      at.textContent = ' deep ';
    }""")
    answer = msgspec.json.decode(watched.call(READ))
    assert differences(Dom(answer["push"]["snapshot"].encode()), answer["reads"]) == ([], [])


@pytest.mark.parametrize(
    "body",
    one_in(
        3,
        [
            '<style>[id]::before{content:"*"}</style><p id=x> Name</p><p id=y> <b> x</b></p>',
            '<style>[id]::after{content:"*"}</style><p><b id=x><i>Name </i></b></p>',
            '<style>[id]::after{content:"";display:block}</style><p><b id=x>x</b> <b>y</b></p>',
            "<style>:is(p,.c)::before,p:not(.x,.y)::after{content:'*'}</style><p> a </p><p class=x> b </p>",
            "<style>.a\\:b::after,*:empty::before{content:'*'}</style><p><i class=a:b>a </i> b<p>c <i></i> d",
            "<style>li:not(:last-child)::after{content:', '}</style><ul><li> a <li> b </ul>",
            "<style>p{&[id]::before{content:'*'}}</style><p id=x> a<p> b",
            "<x-a><template shadowrootmode=open><style>[id]::before{content:'*'}::slotted(i)::after{content:'x'}</style>"
            "<p id=x> a</p><slot></slot></template><i>b </i></x-a>",
        ],
    ),
)
def test_what_any_selector_generates_reads_as_live(watch: Watch, body: str) -> None:
    assert differences(*load(watch(), body)) == ([], [])


@pytest.mark.parametrize(
    ("rule", "body"),
    [
        ("p::before{content:'*'}", "<p> Name</p><p><b> x</b></p>"),
        ("b::after{content:'';display:block}", "<p><b>x</b> <i>y</i></p>"),
        ("b::before{content:'*'}", "<p>a <b><i> b</i></b> c</p>"),
        ("p::first-letter{text-transform:uppercase}", "<p>name of</p><p>Name</p>"),
        ("p::first-letter{text-transform:lowercase}", "<p>Name Of</p>"),
        (
            "p::first-line{text-transform:uppercase}",
            "<p style=width:90px>a first line <b>and others</b></p><p>b",
        ),
    ],
)
def test_what_an_unreadable_sheet_says_reads_as_live(watch: Watch, site: Any, rule: str, body: str) -> None:
    site.add("/sheet.css", rule, "text/css")
    url = site.add("/", f"<!doctype html><link rel=stylesheet href={site.other}/sheet.css>{body}")
    watched = watch()
    watched.page.goto(url)
    answer = msgspec.json.decode(watched.call(READ))
    dom = Dom(answer["push"]["snapshot"].encode())
    assert [row.readable for row in dom.head.sheets] == [False]
    assert differences(dom, answer["reads"]) == ([], [])


@pytest.mark.parametrize(
    ("body", "change"),
    [
        ("<b>a</b>b", "q('b').remove()"),
        ("<b hidden>a</b>b", "q('b').hidden = false"),
        ("<i>c </i><b>a</b>", "q('i').firstChild.data = 'c'"),
        ("<b>a</b>b", "q('b').before('x')"),
        ("<ul style='list-style:lower-alpha inside'><li>one<li>two</ul>", ""),
    ],
)
def test_letters_beside_a_change_read_as_live(watch: Watch, body: str, change: str) -> None:
    script = f"const q = (css) => document.querySelector(css); document.body.offsetTop; {change}"
    capital = f'<div style="text-transform:capitalize">{body}</div><script>{script}</script>'
    assert differences(*load(watch(), capital)) == ([], [])


def test_first_lines_read_as_live(watch: Watch) -> None:
    styled = "<style>p::first-line{text-transform:uppercase}</style><p>name <b>of</b></p><div>else</div>"
    assert differences(*load(watch(), styled)) == ([], [])


def test_letters_that_become_two_on_a_first_line_read_as_live(watch: Watch) -> None:
    longer = (
        "<style>p::first-line{text-transform:uppercase}</style><p>stra\u00dfe</p><div>else <i>x</i></div>"
    )
    assert differences(*load(watch(), longer)) == ([], [])


def test_closed_shadow_trees_read_as_live(watch: Watch) -> None:
    body = """<p>a <x-c></x-c> b</p><x-c> light <b>c</b></x-c><script>for (const host of document.querySelectorAll('x-c'))
      host.attachShadow({mode: 'closed'}).innerHTML = '<i>x</i> <slot></slot>'</script>"""
    assert differences(*load(watch(), body)) == ([], [])


def test_texts_beside_what_is_masked_read_as_live(watch: Watch) -> None:
    body = '<style>[id]::before{content:"*"}</style><p id=x> Name</p><p id=m>secret</p><b>b</b>'
    dom, reads = load(watch(mask=("#m",)), body)
    assert "secret" not in dom.data.decode()
    for node in dom.select_all("#x, b"):
        assert node.text == reads[node.number][1]


@pytest.mark.parametrize(
    "body",
    one_in(
        3,
        [
            '<style>q::before,q::after{content:""}</style><p>a <q> b </q> c</p>',
            "<p>a <q> b </q> <q><b> c </b></q> <q></q> d <q>e</q> f</p>",
            '<div hidden><b style="display:contents">x<i>y</i></b>z</div>',
            '<style>b::before{content:"* "}</style><p>a <b> x</b> y<b> z</b></p>',
            "<p>it<wbr>\nself <wbr>\nis</p>",
            "<object data=nothing>text</object><object data=nothing> </object>",
            "<select disabled><optgroup><option>a</optgroup></select><select multiple size=1><option>b</select>",
            "x<div style='content-visibility:auto'></div>y<canvas style='content-visibility:hidden'><b>c</b></canvas>",
            "<table><tr><td style='content-visibility:hidden'>a<td>b</table><p>x</p><colgroup></colgroup>",
            "<details><x-b><template shadowrootmode=open><slot></slot></template><p>in</p></x-b></details>"
            "<details><x-b><template shadowrootmode=open></template><p>apart</p></x-b></details>",
            "<div>a <button style='display:inline'></button> b <meter style='all:unset'></meter> c</div>",
            "<canvas><iframe srcdoc='<p> never <b>laid</b> out</p>'></iframe></canvas>",
            "<canvas><details><p hidden>a</p></details><p hidden>b</p>"
            "<div style='content-visibility:hidden'><p hidden>c</p></div></canvas>",
        ],
    ),
)
def test_what_wild_pages_have_taught_reads_as_live(watch: Watch, body: str) -> None:
    assert differences(*load(watch(), body)) == ([], [])


@pytest.mark.parametrize(
    "body",
    one_in(
        3,
        [
            "<span style=display:inline-block>a</span>b <span style=display:inline-flex>a</span>b",
            "<span><div>a</div>b</span> <span>a<div></div>b</span> <span><div>a </div>b</span>",
            "a <b style=float:left>q</b>baz <b style=float:left>q </b>baz <b style=position:absolute>q</b>baz",
            "<div><div></div><b style=float:left>q</b>baz</div><div><b style=float:left>q</b>baz<p>x</p>y</div>",
            "<div style=display:flex>d<b style=position:absolute>q</b>e<b>f</b>g</div>",
            "<b style=display:contents>a</b>b<br>c<wbr>d<i></i>e<span> </span>f<i hidden>x </i>g",
            "<details><summary>a</summary>q</details>b <span><details open><summary>a</summary>q</details>b</span>",
            "<button>a</button>b <svg><text>a</text></svg>b <canvas>a</canvas>b <img alt=a>b <object>a</object>b",
            "<input value=a>b<input>c<input type=search value=a>d<input type=submit>e<input type=file>f<input type=date>g",
            "<textarea>a</textarea>b<textarea>a\n</textarea>b<select><option label=q>.<option>x</select>b",
            "<select size=3><option>.<optgroup label=g></optgroup></select>b<select></select>b<q>a</q>b",
            "<x-a><template shadowrootmode=open>i<slot></slot>t</template>b</x-a>c",
            "<style>.x::before{content:'x'} .y::after{content:'y'} .z::before{content:counter(c)}</style><div class=x>a</div>"
            "<b class=y>a</b>b<div class=z>a</div><div class=x style=display:flex>a</div>",
        ],
    ),
)
def test_words_are_capitalised_as_live(watch: Watch, body: str) -> None:
    assert differences(*load(watch(), f'<div style="text-transform:capitalize">{body}</div>')) == ([], [])


@pytest.mark.parametrize(
    "body",
    one_in(
        3,
        [
            "<p class=f>name<p class=f><b>name</b><p class=f>(\u2018na<p class=f>. a<p class=f>1st<p class=f>-a",
            "<p class=f><img>name<p class=f><input>name<p class=f><i></i> na<p class=f>(<b>n</b>a<p class=f><br>na",
            "<p class=f>\u00dfx<p class=f>\u01c6x<p class=f>e\u0301x<p class=f lang=tr>ist<p class=f>\u200ba<p class=f>$a",
            "<p class=f><i style=float:left>f</i>name<p class=f><i style=display:inline-block>in</i>name<p class=f><q>a</q>",
            "<div class=f><p>name</p>x</div><div class=f><p></p>x</div><div class=f><table><tr><td>n</table></div>",
            "<div class=f style=display:flex>a</div><span class=f>a</span><button class=f>a</button><label class=f>b</label>",
            "<p class=f style=white-space:pre>\n\nname<p class=f style=white-space:pre-line>\n\nname<p class=f><i hidden>X</i>n",
            "<style>.g::before{content:'* '}</style><p class='f g'>name<p class=f><i class=g></i>name<p class=f>n<i class=g>",
            "<style>p::first-letter{text-transform:none} p{text-transform:uppercase}</style><p>name one<p>(name)",
            "<style>@media all{@layer a{p::first-letter{text-transform:lowercase}}}</style><p>Name One<p>NAME",
            "<style>p::first-letter{color:red} p{text-transform:capitalize}</style><p>name one<p>n a",
            "<x-a><template shadowrootmode=open><style>p::first-letter{text-transform:uppercase}</style><p><slot></slot></p>"
            "</template>light</x-a>",
        ],
    ),
)
def test_first_letters_read_as_live(watch: Watch, body: str) -> None:
    styled = f"<style>.f::first-letter{{text-transform:uppercase}}</style>{body}"
    assert differences(*load(watch(), styled)) == ([], [])


@pytest.mark.parametrize(
    "body",
    one_in(
        3,
        [
            "<p style=white-space:pre-line>\f</p><pre>\f</pre><p>\f<i></i><p><i></i>\f<p><b><i style=display:block></i>\f</b>",
            "x<div style='display:inline list-item'>\tx</div>",
            "<option>a</option><option><i style=content-visibility:hidden>x</i></option><script>document.querySelector('option')"
            ".selected = true</script>",
            "<script>for (const [text, count] of [['abc', 0], ['<b>d</b> e<i>f</i>', 2], ['g<p>h</p>', 5]]) {"
            "const host = document.body.appendChild(document.createElement('div')); host.innerHTML = text;"
            "const root = host.attachShadow({mode: 'open', slotAssignment: 'manual'}); root.innerHTML = '<i>s</i><slot></slot>';"
            "root.querySelector('slot').assign(...[...host.childNodes].slice(0, count)); }</script>",
            "<math><mi>x</mi><mi> x</mi><mi>x </mi><mi><b>x</b></mi></math>",
            "<svg><text systemLanguage=xx>x</text><g systemLanguage=xx><text>g</text></g><text systemLanguage=en>e</text>"
            "<switch><text systemLanguage=xx>x</text><text>y</text><text>z</text></switch></svg>",
            'x<span style="display:inline flow-root list-item"> b\n</span>',
            "<i>k<b style=display:table-cell>x</b> <u>y</u></i><i>k<b style=display:table-row>x</b> </i>y",
            "<p>a <br style=white-space:pre>b<p>a <br style=white-space:pre-line>b<p>a <i style=white-space:pre><br></i>b",
            "<p lang=tr style=text-transform:uppercase>i <b lang=''>i</b> <b lang=en>i</b></p>",
            "<style>select,::picker(select){appearance:base-select}</style>k <select><button>a<selectedcontent></selectedcontent>"
            "b</button><option>x <b>y</b></select> l <select><option>z</select>",
            "<select><button>a<selectedcontent></selectedcontent>b</button><option>x <b>y</b></select>",
        ],
    ),
)
def test_what_fuzzing_has_taught_reads_as_live(watch: Watch, body: str) -> None:
    assert differences(*load(watch(), body)) == ([], [])


@pytest.mark.parametrize(
    "body",
    one_in(
        3,
        [
            "<style>p::before{content:'*'} b::after{content:'*'}</style><p> Name</p><p><b><i>Name </i></b></p>",
            "<style>b::after,i::before{content:'';display:block}</style><p><b>x</b> <b>y</b> z <i> x</i></p>",
            "<style>.a.b>.c:hover::before, .c::after{content:'x'}</style><div class=c> a <i class=c> b </i> c</div>",
            "<style>@media all{.c{&::after{content:'x'}}}</style><div class=c> a </div>",
            "<style>:is(.c,.d)::after{content:'x'} .e\\:f::after{content:'x'}</style><b class=c> a </b> <b class=e:f>b </b>",
            "<style>.c::before{content:'x';float:left} .d::after{content:'x';position:absolute}</style><p class=c> a<p class=d>b ",
            "<style>td::after{content:'x'} li::before{content:counter(x)}</style><table><tr><td> a <td>b</table><ul><li> a",
            "<style>div::after{content:'x'}</style><div style=display:flex> a </div><div><p>a</p> </div><div>a <p>b</p></div>",
            "<style>p::before{content:'x '} i::before{content:' '}</style><p> a<p>b<i> c",
            "<style>b::after{content:'\\A';white-space:pre}</style><p><b>a </b> x</p><p> <b>a</b> y",
            "<style>p::before{content:'x'} p{float:left}</style><p> a </p> b",
            "<x-a><template shadowrootmode=open><style>:host::before{content:'x'} b::after{content:'y'}</style><b> a </b> c"
            "</template> d</x-a>",
        ],
    ),
)
def test_blanks_beside_what_is_generated_read_as_live(watch: Watch, body: str) -> None:
    assert differences(*load(watch(), body)) == ([], [])


def test_what_is_skipped_far_away_is_visible_all_the_same(watch: Watch) -> None:
    hidden = "<details><summary>s</summary><i>q</i></details><p style='content-visibility:hidden;height:9px'><b>z</b></p>"
    far = f"<div style=height:9000px></div><div style=content-visibility:auto><p>x <b>y</b></p>{hidden}</div>"
    dom, _ = load(watch(), far)
    assert [node.visible for node in dom.select_all("p, b, i, summary")] == [
        True,
        True,
        True,
        False,
        True,
        False,
    ]


def test_frames_of_a_frameset_are_seen(watch: Watch, site: Any) -> None:
    site.add("/in", "<p>in<p>two<p hidden>three")
    url = site.add("/", "<frameset cols=*,*><frame src=/in><frame src=/in><noframes>no</noframes></frameset>")
    watched = watch()
    watched.page.goto(url)
    answer = msgspec.json.decode(watched.call(READ))
    dom = Dom(answer["push"]["snapshot"].encode())
    assert differences(dom, answer["reads"]) == ([], [])
    shown = [node.visible for node in map(dom.node, range(len(answer["reads"]))) if node and node.tag == "p"]
    assert shown == [True, True, False] * 2


def test_a_custom_control_is_disabled_as_live(watch: Watch) -> None:
    watched = watch()
    body = "<x-i id=a></x-i><fieldset disabled><x-i id=b></x-i><x-j id=c></x-j></fieldset><x-i id=d disabled></x-i>"
    define = "customElements.define('x-i', class extends HTMLElement { static formAssociated = true })"
    dom, _ = load(watched, f"{body}<script>{define}</script>")
    for selector in (":disabled", ":enabled", "x-i:disabled"):
        live = watched.page.evaluate(
            "(css) => [...document.querySelectorAll(css)].map((e) => e.id)", selector
        )
        assert [node.attribute("id") or "" for node in dom.select_all(selector)] == live


@pytest.mark.parametrize("name", one_in(3, [*PAGES]))
def test_the_page_source_is_that_of_the_driver(watch: Watch, name: str) -> None:
    watched = watch()
    dom, _ = load(
        watched,
        PAGES[name]
        + '<p title="a&amp;b&lt;c&quot;\u00a0">x &amp; y &lt; z \u00a0</p><!--c--><pre>\n\nx</pre>',
    )
    assert dom.source == watched.page.content()


def test_a_page_without_a_doctype_has_none_in_its_source(watch: Watch) -> None:
    watched = watch()
    watched.page.set_content("<p>x")
    assert Dom(watched.ask().text.encode()).source == watched.page.content()
