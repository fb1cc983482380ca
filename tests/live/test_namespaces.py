"""Attributes with namespaces and adopted style sheets: what was recorded, and what is built anew from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import ReplayError
from replaykit.recorder.recorder import Recorder
from replaykit.replay.dom import Dom
from replaykit.replay.offline_page.chromium import Chromium
from replaykit.replay.offline_page.offline_page import OfflinePage
from replaykit.replay.offline_page.page_payload import blueprint

pytestmark = [pytest.mark.live, pytest.mark.one_page]

NAMED = """<!doctype html><title>Named</title><p id=plain xml:lang=de xlink:href=a Data-X=1>x</p>
<svg id=drawn xmlns:xlink="http://www.w3.org/1999/xlink" xml:space=preserve viewBox="0 0 9 9">
<a xlink:href="#there" xlink:title="there"><text>go</text></a>
<foreignObject width=9 height=9><div xlink:href=b>in</div></foreignObject></svg>
<math><mi xlink:href="#m" mathvariant=bold>m</mi></math><p id=made></p><svg id=odd></svg><script>
const X = 'http://www.w3.org/1999/xlink';
for (const one of [made, odd]) {
  one.setAttributeNS(X, 'href', 'bare');
  one.setAttributeNS(X, 'k:title', 'other prefix');
  one.setAttributeNS('http://www.w3.org/XML/1998/namespace', 'xml:lang', 'fr');
  one.setAttributeNS('http://www.w3.org/2000/xmlns/', 'xmlns:k', 'urn:k');
  one.setAttributeNS('urn:shop', 's:price', '3');
  one.setAttributeNS('urn:shop', 'sku', '4');
  one.setAttributeNS(null, 'CamelCase', '5');
  one.setAttribute('xlink:role', 'no namespace');
  one.setAttribute('href', 'own');
}
</script>"""

ATTRIBUTES = """() => [...document.querySelectorAll('[id], svg *, math *')].map((node) =>
  [...node.attributes].map((one) => [one.namespaceURI, one.name, one.localName, one.value]))"""

ASKED = ("[href]", "[*|href]", "[title]", "[*|title]", "[sku]", "[*|sku]", "[role]", "[lang]")


def test_attributes_keep_their_namespaces(watch: Callable[..., Any], site: Any, offline: Chromium) -> None:
    watched = watch()
    watched.page.goto(site.add("/", NAMED))
    taken = watched.ask()
    dom = Dom(taken.text.encode())
    assert dom.source == watched.page.content()
    for css in ASKED:
        live = watched.page.evaluate(f"[...document.querySelectorAll('{css}')].map((node) => node.localName)")
        assert [node.tag for node in dom.select_all(css)] == live, css
    for name in ("href", "k:title", "s:price", "sku", "xlink:role", "CamelCase"):
        live = watched.page.evaluate(f"odd.getAttribute('{name}')")
        assert dom.select_all("#odd")[0].attribute(name) == live, name
    rebuilt = offline.open(blueprint(dom))
    assert rebuilt.faults == ()
    assert offline.run(lambda: rebuilt.page.evaluate(ATTRIBUTES)) == watched.page.evaluate(ATTRIBUTES)
    rebuilt.close()


def test_a_mask_covers_attributes_of_any_namespace(watch: Callable[..., Any]) -> None:
    watched = watch(mask=("#card",))
    watched.page.set_content(
        "<!doctype html><p id=card>x</p><script>card.setAttributeNS('urn:x', 'x:title', '4111');"
        "card.setAttributeNS('http://www.w3.org/1999/xlink', 'xlink:title', '4111')</script>"
    )
    assert "4111" not in watched.ask().text.partition("<script")[0]


STYLED = """<!doctype html><title>Styled</title><x-a id=a></x-a><x-b id=b></x-b><x-b id=c></x-b><p class=c>Light</p>
<iframe srcdoc="<p class=c>Framed</p><p class=d>Stays</p>"></iframe><button id=go>go</button><script>
const sheet = (text, view = window) => { const made = new view.CSSStyleSheet(); made.replaceSync(text); return made };
const flat = 'height: 0; margin: 0; overflow: hidden';
const shared = sheet(`.c { ${flat} }`);
const root = (host, html, ...sheets) => {
  const made = host.attachShadow({mode: 'open'}); made.innerHTML = html; made.adoptedStyleSheets = sheets;
};
root(a, '<p class=c>Alpha</p><p class=d>Delta</p>', sheet('.d { height: 9px }'));
root(b, '<p class=c>Beta</p><p class=e>Eta</p>', shared, sheet(`.c { height: 20px } .e { ${flat} }`));
root(c, '<p class=c>Gamma</p><p class=e>Eta</p>', sheet('.c { height: 20px }'), shared);
document.adoptedStyleSheets = [sheet(':root { color: red }'), shared];
document.querySelector('iframe').onload = ({target}) => {
  target.contentDocument.adoptedStyleSheets = [sheet(`.c { ${flat} }`, target.contentWindow)];
};
go.onclick = () => { root_sheet.replaceSync(`.d { ${flat} }`); };
const root_sheet = a.shadowRoot.adoptedStyleSheets[0];
</script>"""

SEEN = ("#a .c", "#a .d", "#b .c", "#b .e", "#c .c", "#c .e", "p.c")


def recorded(tmp_path: Path, page: Any, url: str) -> Path:
    out = tmp_path / "run.zst"
    page.goto(url)
    page.frame_locator("iframe").locator(".d").wait_for()
    with Recorder(out, screenshots="off", network="off") as run:
        run.attach(page.context)
        page.click("#go")
        expected = page.locator("#a .d")
        expected.wait_for(state="hidden")
    return out


@pytest.mark.thorough
def test_adopted_sheets_style_the_trees_that_they_styled(
    tmp_path: Path, page: Any, site: Any, offline: Chromium
) -> None:
    out = recorded(tmp_path, page, site.add("/", STYLED))
    live = {css: page.locator(css).first.is_visible() for css in SEEN}
    live["frame"] = [page.frame_locator("iframe").locator(css).is_visible() for css in (".c", ".d")]
    with open_bundle(out) as bundle, OfflinePage(bundle, chromium=offline) as shown:
        own: dict[str, Any] = {css: shown.locator(css).first.is_visible() for css in SEEN}
        own["frame"] = [shown.frame_locator("iframe").locator(css).is_visible() for css in (".c", ".d")]
    assert own == live
    assert {live[css] for css in SEEN} == {True, False}


def test_what_has_a_size_is_known_without_any_sheet(
    tmp_path: Path, watch: Callable[..., Any], site: Any, offline: Chromium
) -> None:
    watched = watch()
    watched.page.goto(site.add("/", STYLED))
    watched.page.frame_locator("iframe").locator(".d").wait_for()
    dom = Dom(watched.ask().text.encode())
    rebuilt = offline.open(blueprint(dom))
    live = {css: watched.page.locator(css).first.is_visible() for css in SEEN}
    assert rebuilt.faults == ()
    shown = offline.run(lambda: {css: rebuilt.page.locator(css).first.is_visible() for css in SEEN})
    assert (shown, offline.run(lambda: rebuilt.is_drawn)) == (live, True)
    rebuilt.close()


def test_a_page_that_cannot_be_rebuilt_is_built_once(
    tmp_path: Path, page: Any, site: Any, offline: Chromium, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = STYLED.replace("<p class=c>Light", "<p style='float: left'>Light").replace("id=a>", "id=a hidden>")
    out = recorded_plain(tmp_path, page, site.add("/", body))
    opened = []

    def refuse(plan: Any) -> Any:
        opened.append(plan.url)
        raise ReplayError(what="the offline browser cannot build it")

    monkeypatch.setattr(offline, "open", refuse)
    with open_bundle(out) as bundle, OfflinePage(bundle, chromium=offline) as shown:
        for css in ("#a", "#b", "p"):
            with pytest.raises(ReplayError, match="cannot build it"):
                shown.locator(css).count()
        assert len(opened) == 1
        assert len(shown.missing) == 1


def recorded_plain(tmp_path: Path, page: Any, url: str) -> Path:
    out = tmp_path / "run.zst"
    page.goto(url)
    with Recorder(out, screenshots="off", network="off") as run:
        run.attach(page.context)
        page.click("#go")
    return out


def test_a_replaced_sheet_is_read_again(watch: Callable[..., Any]) -> None:
    watched = watch()
    watched.page.set_content("<!doctype html><p id=p><b id=b> x</b></p>")
    watched.page.evaluate(
        "() => { globalThis.made = new CSSStyleSheet(); made.replaceSync('b { color: red }');"
        " document.adoptedStyleSheets = [made] }"
    )
    first = watched.ask()
    watched.page.evaluate("""made.replaceSync('b::before { content: ">"; }')""")
    second = watched.ask()
    heads = [msgspec.json.decode(taken.text.split("\n")[0]) for taken in (first, second)]
    assert ["texts" in head for head in heads] == [False, True]  # the sign keeps the blank behind it
