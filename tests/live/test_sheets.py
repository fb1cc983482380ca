"""Facts that a page's own script cannot be asked for at every moment: style sheets, closed shadow roots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.recorder import Recorder
from replaykit.replay.dom import Dom
from replaykit.trajectory.exchange import Gap
from replaykit.trajectory.observation import Observation

pytestmark = [pytest.mark.live, pytest.mark.one_page]

SECRET = "hunter22-hunter22"
SHEET = f"@import url(/print.css) print; @import url(/deep.css); a{{content:'{SECRET}'}}"
STYLED = """<!doctype html><link rel=stylesheet href=/sheet.css><style media=screen>i{color:green}</style>
<link rel=stylesheet href=OTHER/deep.css><x-a id=host></x-a><button id=go>go</button><script>
const made = new CSSStyleSheet(); made.replaceSync('u{color:pink}'); document.adoptedStyleSheets = [made];
host.attachShadow({mode: 'open'}).innerHTML = '<style>em{color:red}</style><em>e</em>';</script>"""

HIDDEN = """<!doctype html><x-a id=host>light</x-a><iframe srcdoc="<p id=q></p><script>
q.attachShadow({mode: 'closed'}).innerHTML = '<i>framed</i>'</script>"></iframe><button id=go>go</button><script>
const root = host.attachShadow({mode: 'closed'});
root.innerHTML = '<p>one <slot></slot></p><input type=password><x-b></x-b>';
root.querySelector('input').setAttribute('value', 'hunter' + 22);
root.querySelector('x-b').attachShadow({mode: 'closed'}).innerHTML = '<b>two</b>';</script>"""


def recorded(tmp_path: Path, page: Any, url: str, **options: Any) -> tuple[list[Observation], list[Gap], Any]:
    page.goto(url)
    out = tmp_path / "run.zst"
    with Recorder(out, screenshots="off", network="off", **options) as run:
        run.attach(page.context)
        page.click("#go")
    with open_bundle(out) as bundle:
        recording = bundle.trajectory
        looks = recording.of_type(Observation)
        blobs = {id: bundle.blob(id) for look in looks for id in (look.snapshot, *look.sheets) if id}
    return list(looks), list(recording.of_type(Gap)), blobs


def test_style_sheets_are_kept_in_the_order_of_the_head(tmp_path: Path, page: Any, site: Any) -> None:
    site.add("/sheet.css", SHEET, "text/css")
    site.add("/print.css", "p{color:black}", "text/css")
    site.add("/deep.css", "b{color:blue}", "text/css")
    url = site.add("/", STYLED.replace("OTHER", site.other))
    looks, _, blobs = recorded(tmp_path, page, url, secrets={"pin": SECRET})
    for look in looks[-1:]:
        head = Dom(blobs[look.snapshot]).head
        texts = [id and blobs[id].decode() for id in look.sheets]
        assert len(head.sheets) == len(texts) == 5
        assert [row.readable for row in head.sheets] == [text is not None for text in texts]
        assert texts[0] == (
            '@media print {\np { color: black; }\n}\nb { color: blue; }\na { content: "⟦secret:pin⟧"; }'
        )
        assert texts[1:] == ["i { color: green; }", None, "u { color: pink; }", "em { color: red; }"]
    assert [look.role for look in looks if look.sheets] == ["final"]


def test_the_last_look_shows_closed_shadow_roots(tmp_path: Path, page: Any, site: Any) -> None:
    looks, gaps, blobs = recorded(tmp_path, page, site.add("/", HIDDEN))
    first, last = (Dom(blobs[look.snapshot]) for look in (looks[0], looks[-1]))
    assert not gaps
    assert first.select("#host").shadow is None
    shadow = last.select("#host").shadow
    assert [child.tag for child in shadow.children] == ["p", "input", "x-b"]
    assert shadow.children[1].attribute("value") == "⟦masked⟧"
    assert shadow.children[2].shadow.text_content == "two"
    assert "hunter22" not in last.data.decode()
    assert last.select("iframe").content.select("p").shadow.text_content == "framed"
    # The answers that a page itself can query are unchanged.
    assert last.select("x-b") is None
    assert last.text == page.evaluate("document.body.innerText")


def test_closed_roots_of_a_large_page_are_a_gap(tmp_path: Path, page: Any, site: Any) -> None:
    url = site.add("/", HIDDEN.replace("light", "") + "<p>x</p>" * 5000)
    looks, gaps, blobs = recorded(tmp_path, page, url)
    assert [(gap.channel, gap.why, gap.count) for gap in gaps] == [("snapshots", "shadow.closed", 1)]
    assert Dom(blobs[looks[-1].snapshot]).select("#host").shadow is None
