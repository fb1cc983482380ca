"""Recorded pages built anew in an offline Chromium: as live pages read, and with nothing that leaves or runs."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import LocatorLimit, ReplayError, Unsupported
from replaykit.recorder.page.page_script import API
from replaykit.replay.dom import Dom
from replaykit.replay.offline_page import chromium as tier
from replaykit.replay.offline_page.chromium import Chromium, Rebuilt
from replaykit.replay.offline_page.page_payload import STAND_IN, Blueprint, blueprint, blueprint_of
from replaykit.replay.offline_page.page_question import PageQuestion
from replaykit.replay.player import Replay
from replaykit.testing.pages import snapshot
from replaykit.trajectory.redaction_marks import MASKED
from tests.thorough import one_in

sys.path.insert(0, str(Path(__file__).parent))
from awkward import PAGES, random_page
from test_fidelity import DOT, load, normal
from wild import PRELUDE, WildPage

pytestmark = [pytest.mark.live, pytest.mark.one_page]


RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

KNOWN = {
    "generated": "the images of generated content and objects are not loaded, so a blank beside them vanishes"
}
"""Pages on which blanks are known to differ, and why."""

# Snapshot and reads in one task of the page: nothing can change between them.
READ = """(() => {
  const push = API.push('final');
  const reads = [];
  const visit = (node) => {
    if (node.nodeType === 1) reads.push([node.localName, node.innerText ?? null,
      node.value ?? null, node.checked ?? null, node.selectedIndex ?? null, node.selected ?? null]);
    if (node.shadowRoot) node.shadowRoot.childNodes.forEach(visit);
    if (node.localName === 'iframe' && node.contentDocument) node.contentDocument.childNodes.forEach(visit);
    (node.localName === 'template' ? node.content : node).childNodes.forEach(visit);
  };
  document.childNodes.forEach(visit);
  return JSON.stringify({push: JSON.parse(push), reads});
})()""".replace("API", API)

HOSTILE = """<html>
<head><meta http-equiv="refresh" content="0;url=ORIGIN/refreshed">
<link rel="preconnect" href="ORIGIN"><link rel="dns-prefetch" href="ORIGIN"><link rel="prefetch" href="ORIGIN/p">
<link rel="stylesheet" href="ORIGIN/s.css"><link rel="icon" href="ORIGIN/i.ico"><link rel="manifest" href="ORIGIN/m">
<link rel="modulepreload" href="ORIGIN/m.js"><link rel="prerender" href="ORIGIN/r">
<script src="ORIGIN/x.js"></script><script>window.ran = 'script'</script>
<script type="speculationrules">{"prefetch":[{"source":"list","urls":["ORIGIN/sp"]}]}</script>
<style>@import url(ORIGIN/i.css); body{background:url(ORIGIN/b.png)} @font-face{font-family:f;src:url(ORIGIN/f)} p{font-family:f}</style>
<script>navigator.serviceWorker.register('/sw.js'); navigator.sendBeacon('ORIGIN/beacon', '1')</script></head>
<body onload="window.ran = 'onload'" background="ORIGIN/bg.png">
<img src="ORIGIN/a.png" onerror="window.ran = 'onerror'" srcset="ORIGIN/b.png 2x"><img name="createElement" src="x">
<img name="querySelector"><img name="adoptedStyleSheets"><img name="defaultView"><img name="body">
<form name="f"><input name="appendChild"><input name="attributes"><input name="namespaceURI"></form>
<iframe src="ORIGIN/frame"></iframe><iframe srcdoc="<script>parent.ran = 'srcdoc'</script>"></iframe>
<iframe src="javascript:parent.ran = 'frame'"></iframe><object data="ORIGIN/o"></object><embed src="ORIGIN/e">
<video src="ORIGIN/v" poster="ORIGIN/w" autoplay></video><audio src="ORIGIN/u" autoplay controls></audio>
<svg><script>window.ran = 'svg'</script><image href="ORIGIN/s.svg"></image><use href="ORIGIN/u.svg#x"></use></svg>
<a id="js" href="javascript:window.ran = 'link'" ping="ORIGIN/ping">x</a><a id="out" href="ORIGIN/out">y</a>
<form id="post" action="ORIGIN/post" method="post"><button id="send">z</button></form>
<input autofocus onfocus="window.ran = 'focus'"><details open ontoggle="window.ran = 'toggle'"><summary>s</summary></details>
<div id="long" title="LONG">q</div><p id="last">nul\x00end</p>DEEP</body></html>
"""


@pytest.fixture
def listener() -> Iterator[tuple[str, list[bytes]]]:
    """A port that answers nobody and remembers who came."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    guest, _ = server.accept()
                except OSError:
                    return
                with guest:
                    received.append(guest.recv(200))

        threading.Thread(target=listen, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", received
        server.shutdown(socket.SHUT_RDWR)


def built(offline: Chromium, push: Any, **plan: Any) -> Rebuilt:
    texts = tuple(push.get("sheets") or ())
    pointer = push.get("pointer")
    return offline.open(
        blueprint(
            Dom(push["snapshot"].encode()),
            texts=texts,
            viewport=(800, 600),
            pointer=tuple(pointer) if pointer else None,
            **plan,
        )
    )


def differences(offline: Chromium, watched: Any) -> list[Any]:
    """Return where the live page and the one built anew read differently."""
    answer = msgspec.json.decode(watched.call(READ))
    rebuilt = built(offline, answer["push"])
    try:
        assert [fault for fault in rebuilt.faults if fault != "no server has its address"] == []
        reads = rebuilt.readings()
    finally:
        rebuilt.close()
    assert len(reads) == len(answer["reads"])
    return [
        (number, live, own)
        for number, (live, own) in enumerate(zip(answer["reads"], reads, strict=True))
        if live != own and MASKED not in own
    ]


@pytest.mark.parametrize("name", one_in(6, [*PAGES]))
def test_every_element_of_an_awkward_page_reads_as_live(
    watch: Callable[..., Any], offline: Chromium, name: str
) -> None:
    watched = watch()
    load(watched, PAGES[name])
    found = differences(offline, watched)
    assert (found != []) == (name in KNOWN)
    assert [
        (live, own) for _, live, own in found if normal(live[1]) != normal(own[1]) or live[2:] != own[2:]
    ] == []


@pytest.mark.thorough
def test_random_pages_read_as_live(watch: Callable[..., Any], offline: Chromium) -> None:
    watched = watch()
    for seed in range(8):
        load(watched, random_page(seed))
        assert differences(offline, watched) == [], f"random_page({seed})"


@pytest.mark.thorough
def test_wild_pages_read_as_live(watch: Callable[..., Any], offline: Chromium) -> None:
    watched = watch()
    for seed in range(100, 110):
        page = WildPage(seed)
        watched.page.set_content(
            f"<!doctype html><html><head>{page.head}</head><body>{page.body}</body></html>"
        )
        watched.page.evaluate(f"() => {{ {PRELUDE} {page.script} }}")
        watched.page.evaluate(DRAWN)
        watched.forget()
        assert differences(offline, watched) == [], f"WildPage({seed})"


def test_form_state_scroll_focus_hover_and_dialogs_are_restored(
    watch: Callable[..., Any], offline: Chromium
) -> None:
    watched = watch()
    load(
        watched,
        f"""<style>#h:hover{{text-transform:uppercase}} #f:focus{{text-transform:uppercase}}</style>
        <div id=h>hover</div><input id=t value=a><textarea id=a>x</textarea><input type=checkbox id=c checked>
        <input type=radio name=r id=r1 checked><input type=radio name=r id=r2><input type=file id=file>
        <option id=o>alone</option><select id=s><option>1<option>2</select><select id=m multiple><option>1<option>2<option>3</select>
        <dialog id=d>said</dialog><div id=p popover>popped</div><button id=f>focus</button><img src="{DOT}" id=i>
        <div id=tall style="height:50px;overflow:auto"><div style="height:900px">tall</div></div>""",
    )
    page = watched.page
    page.fill("#t", "typed")
    page.fill("#a", "lines\n\nof text")
    page.uncheck("#c")
    page.check("#r2")
    page.select_option("#s", index=1)
    page.select_option("#m", index=[0, 2])
    page.set_input_files("#file", {"name": "a b.txt", "mimeType": "text/plain", "buffer": b"x"})
    page.evaluate(
        "() => { o.selected = true; tall.scrollTop = 70; p.showPopover(); document.querySelector('#f').focus(); }"
    )
    page.mouse.move(20, 12)
    page.evaluate(DRAWN)
    answer = msgspec.json.decode(watched.call(READ))
    answer["push"]["pointer"] = [20, 12]
    rebuilt = built(offline, answer["push"])
    assert rebuilt.readings() == answer["reads"]
    ask = """() => [getComputedStyle(h).textTransform, document.activeElement.id, document.querySelector("#tall").scrollTop,
      p.matches(':popover-open'), file.files[0].name, r1.checked, r2.checked]"""
    state = offline.run(lambda: rebuilt.page.evaluate(ask))
    assert state == ["uppercase", "f", 70, True, "a b.txt", False, True]
    rebuilt.close()


def test_what_a_script_put_into_slots_is_reported_as_lost(
    watch: Callable[..., Any], offline: Chromium
) -> None:
    watched = watch()
    load(watched, "<x-a id=host><b>one</b><i>two</i></x-a>")
    watched.page.evaluate("""() => {
      const root = host.attachShadow({mode: 'open', slotAssignment: 'manual'});
      root.innerHTML = '<slot></slot>';
      root.firstChild.assign(host.lastChild);
    }""")
    rebuilt = built(offline, msgspec.json.decode(watched.call(READ))["push"])
    assert "what a script put into a slot is lost" in rebuilt.faults
    rebuilt.close()


def test_texts_that_show_otherwise_than_recorded_are_refused(
    watch: Callable[..., Any], site: Any, offline: Chromium
) -> None:
    watched = watch()
    words = "<p style='text-transform:capitalize'><b id=gone>x</b><i id=left>small</i></p><p id=last>End</p>"
    watched.page.goto(site.add("/", f"<!doctype html>{words}"))
    watched.page.evaluate("() => { document.body.innerText; gone.remove() }")
    answer = msgspec.json.decode(watched.call(READ))
    # A page that is loaded so begins with a capital.
    assert [text for tag, text, *_ in answer["reads"] if tag == "i"] == ["small"]
    rebuilt = built(offline, answer["push"])
    for selector in ("#left", "#last"):
        with pytest.raises(Unsupported, match="innerText is not recorded"):
            rebuilt.read(PageQuestion(locator="x", selector=selector))
    with pytest.raises(Unsupported, match="outerText is not recorded"):
        rebuilt.read(PageQuestion(locator="document.querySelector('#last').outerText"))
    assert rebuilt.read(PageQuestion(locator="document.querySelector('#left').textContent")).value == "small"
    assert not offline.run(lambda: rebuilt.is_drawn)
    rebuilt.close()


CUSTOM = """<x-i id=a></x-i><x-i id=b disabled></x-i><form id=f><fieldset id=g disabled><x-i id=c><i>c</i></x-i><x-j id=d></x-j>
</fieldset><x-i id=e></x-i></form><x-s id=s></x-s><script>
class Control extends HTMLElement { static formAssociated = true }
customElements.define("x-i", Control);
customElements.define("x-s", class extends Control {
  constructor() { super().attachShadow({ mode: "open" }).innerHTML = "<b>in</b>"; }
});
</script>"""
ASK_CUSTOM = """() => [window, window[0]].map(({ document: page, f, s }) => [':disabled', ':enabled', 'x-s:enabled']
  .map((css) => Array.from(page.querySelectorAll(css), (node) => node.id).join(' '))
  .concat([Array.from(f.elements, (node) => node.id).join(' '), f.innerText, s.shadowRoot.textContent]))"""


def test_custom_controls_are_parts_of_their_forms(watch: Callable[..., Any], offline: Chromium) -> None:
    watched = watch()
    load(watched, CUSTOM + f"<iframe srcdoc='{CUSTOM}'></iframe>")
    live = watched.page.evaluate(ASK_CUSTOM)
    assert live == [["b g c", "a e s", "s", "g c e", "c", "in"]] * 2
    rebuilt = built(offline, msgspec.json.decode(watched.call(READ))["push"])
    assert offline.run(lambda: rebuilt.page.evaluate(ASK_CUSTOM)) == live
    assert [fault for fault in rebuilt.faults if "lost" in fault] == []
    rebuilt.close()


def test_frames_shadow_roots_and_adopted_sheets_are_built(
    watch: Callable[..., Any], site: Any, offline: Chromium
) -> None:
    watched = watch()
    site.add("/in", "<!doctype html><p id=in>inner <b>frame</b></p>")
    site.add("/sheet.css", ".gone { display: none }", "text/css")
    url = site.add(
        "/",
        """<!doctype html><title>Both</title><link rel=stylesheet href=/sheet.css><p class=gone>gone <b>x</b></p>
        <x-a id=host>light</x-a><iframe src=/in></iframe><iframe srcdoc="<p>written</p>"></iframe>
        <noscript><p>never</p></noscript><script>
        const made = new CSSStyleSheet(); made.replaceSync('u { text-transform: uppercase }');
        document.adoptedStyleSheets = [made];
        const root = host.attachShadow({mode: 'open'}); root.innerHTML = '<i>in</i> <slot></slot>';
        const own = new CSSStyleSheet(); own.replaceSync(':host { display: block } i { display: none }');
        root.adoptedStyleSheets = [own];</script><u>up</u>""",
    )
    watched.page.goto(url)
    watched.page.frame_locator("iframe >> nth=1").locator("p").wait_for()
    answer = msgspec.json.decode(watched.call(READ))
    rebuilt = built(offline, answer["push"])
    assert (rebuilt.faults, rebuilt.style) == ((), {"repaired": 0, "differing": 0, "resized": 0})
    assert rebuilt.readings() == answer["reads"]
    ask = "() => [document.URL, document.title, document.querySelector('iframe').getAttribute('src'), document.compatMode]"
    assert offline.run(lambda: rebuilt.page.evaluate(ask)) == [url, "Both", "/in", "CSS1Compat"]
    rebuilt.close()
    # Without the sheets, what was recorded of each element's style takes their place.
    bare = built(offline, {**answer["push"], "sheets": None})
    assert bare.style["repaired"] > 0
    assert (bare.faults, bare.readings()) == ((), answer["reads"])
    bare.close()


@pytest.mark.parametrize(
    "name", one_in(3, ["refund-order--good", "move-card--by_handle", "book-visit--unasked"])
)
def test_every_state_of_a_recording_reads_as_without_a_browser(offline: Chromium, name: str) -> None:
    with open_bundle(RECORDINGS / f"{name}.zst") as bundle:
        replay, opened = Replay(bundle), list[Blueprint]()
        for page in [*replay.pages, *replay.probes]:
            # Most looks show what the one before did.
            if page.dom is None or (shown := blueprint_of(page, replay)) in opened:
                continue
            opened.append(shown)
            rebuilt = offline.open(shown)
            assert rebuilt.faults == ()
            for number, (tag, text, *_) in enumerate(rebuilt.readings()):
                node = page.dom.node(number)
                assert node is not None
                assert (node.tag, node.inner_text) == (tag, text)
            source = offline.run(rebuilt.page.content)
            assert source == page.dom.source
            rebuilt.close()


def test_a_hostile_page_reaches_no_server_and_runs_nothing(
    offline: Chromium, listener: tuple[str, list[bytes]]
) -> None:
    origin, received = listener
    html = HOSTILE.replace("ORIGIN", origin).replace("LONG", "x" * 5_000_000)
    html = html.replace("DEEP", "<div>" * 200 + "deep" + "</div>" * 200)
    page = offline.open(blueprint(Dom(snapshot(html, url=origin + "/"))))
    assert page.faults == ()
    offline.run(lambda: page.page.evaluate("() => document.getElementById('js').click()"))
    offline.run(lambda: page.page.evaluate("() => document.getElementById('out').click()"))
    offline.run(lambda: page.page.evaluate("() => document.getElementById('send').click()"))
    offline.run(lambda: page.page.evaluate("() => fetch('/x').catch(() => 0)"))
    offline.run(lambda: page.page.evaluate("() => { new Image().src = '/late.png' }"))
    # Nothing is what has to happen: for that, time is all there is to wait for.
    offline.run(lambda: page.page.wait_for_timeout(700))
    assert received == []
    assert offline.run(lambda: page.page.evaluate("() => window.ran")) is None
    assert offline.run(lambda: page.page.url) == origin + "/"
    assert page.read(PageQuestion(locator="document.getElementById('long').title.length")).value == 5_000_000
    assert page.read(PageQuestion(locator="document.getElementById('last').textContent.length")).value == 7
    page.close()


def test_the_listener_would_receive_a_connection(listener: tuple[str, list[bytes]]) -> None:
    origin, received = listener
    with socket.create_connection(("127.0.0.1", int(origin.rpartition(":")[2]))) as guest:
        guest.sendall(b"hello")
        guest.recv(1)
    assert received == [b"hello"]


@pytest.mark.parametrize(
    ("locator", "kind", "value"),
    [
        ("document.title", "string", "T"),
        ("document.querySelectorAll('li').length", "number", 2),
        ("[...document.querySelectorAll('li')].reduce((sum, li) => sum + li.innerText, '')", "string", "ab"),
        ("document.querySelector('nope').innerText", "exception", None),
        ("(((", "exception", None),
        ("//input[@id='i']", "string", "typed"),
        ("lambda: document.querySelector('#i').value;", "string", "typed"),
        ("[1, NaN, document.body]", "array", [1, None, "ref: <Node>"]),
        ("-0", "number", -0.0),
        ("1/0", "number", None),
        ("undefined", "undefined", None),
        ("new URL(document.querySelector('a').href).pathname", "string", "/x"),
    ],
)
def test_locators_are_answered_with_their_kinds(
    offline: Chromium, lists: Rebuilt, locator: str, kind: str, value: Any
) -> None:
    read = lists.read(PageQuestion(locator=locator))
    assert (read.locator, read.kind, read.value) == (locator, kind, value)


@pytest.fixture(scope="module")
def lists(offline: Chromium) -> Rebuilt:
    html = """<html><head><title>T</title></head><body><ul><li>a</li><li>b</li></ul><a href="/x">l</a>
    <input id="i" value="v" data-live='{"value": "typed"}'></body></html>"""
    return offline.open(blueprint(Dom(snapshot(html, url="http://shop.test/p"))))


@pytest.mark.parametrize(
    "locator",
    [
        "window.store.total", "app", "typeof app", "document.cookie", "localStorage.length", "Date.now()",
        "new Date().getTime()", "Math.random()", "document.body.offsetWidth", "window.innerWidth",
        "document.querySelector('a').getBoundingClientRect().top", "document.querySelector('a').click()",
        "document.defaultView.store", "fetch('/x')", "(() => { try { return app } catch (e) { return 1 } })()",
    ],
)  # fmt: skip
def test_what_no_recording_holds_is_refused_not_guessed(lists: Rebuilt, locator: str) -> None:
    with pytest.raises(Unsupported, match="is not recorded"):
        lists.read(PageQuestion(locator=locator))


def test_what_shows_is_refused_where_neither_styles_nor_sheets_were_recorded(offline: Chromium) -> None:
    body = "<body><p>seen</p><p class=gone>gone</p></body></html>"
    shown: dict[str, str | None] = {}
    for link in ("", "<link rel=StyleSheet href=/x.css>"):
        data = snapshot(f"<html><head>{link}</head>{body}", url="http://shop.test/").split(b"\n")
        head = {**msgspec.json.decode(data[0]), "styles": [], "flags": ["no_box", "no_style"]}
        bare = b"\n".join([msgspec.json.encode(head), data[1], b"[]", *data[3:]])
        page = offline.open(blueprint(Dom(bare)))
        assert page.read(PageQuestion(locator="document.body.textContent")).value == "seengone"
        try:
            shown[link[:5]] = str(page.read(PageQuestion(locator="document.body.innerText")).value)
        except Unsupported as fault:
            shown[link[:5]] = fault.fields["reason"]
        page.close()
    assert shown == {"": "seen\n\ngone", "<link": "innerText is not recorded"}


def test_a_locator_without_end_and_one_of_endless_words_are_refused(
    lists: Rebuilt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tier, "READ_MAX_MS", 300)
    with pytest.raises(LocatorLimit):
        lists.read(PageQuestion(locator="(() => { for (;;); })()"))
    with pytest.raises(LocatorLimit):
        lists.read(PageQuestion(locator="'x'.repeat(3e6)"))
    assert lists.read(PageQuestion(locator="document.title")).value == "T"


def test_a_page_without_a_web_address_answers_nothing(offline: Chromium) -> None:
    page = offline.open(blueprint(Dom(snapshot("<p>x</p>", url="about:blank"))))
    assert page.plan.url == STAND_IN
    with pytest.raises(Unsupported, match="no server has its address"):
        page.read(PageQuestion(locator="document.URL"))
    page.close()


def test_a_browser_that_is_gone_says_so(browser_path: Path, tmp_path: Path) -> None:
    gone = Chromium(browser_path)
    gone.close()
    with pytest.raises(ReplayError, match="closed"):
        gone.open(blueprint(Dom(snapshot("<p>x</p>"))))


def test_a_browser_that_never_answers_is_ended(browser_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Chromium(browser_path)
    page = own.open(blueprint(Dom(snapshot("<p>x</p>"))))
    monkeypatch.setattr(tier, "WORK_MAX_S", 1.0)
    with pytest.raises(ReplayError, match="no answer"):
        own.run(lambda: page.page.evaluate("() => { for (;;); }"))
    assert not own.is_running
    own.close()
