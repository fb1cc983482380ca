"""Texts that a page shows and `innerText` lacks: they prove nothing, and no one may say that they are absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

OPEN = ("UNDECIDED",) * 5
ABSENT = ("PASS", "FAIL", "OK", "VIOLATED", "DORMANT")

SHOWN = {
    "before": "<style>p::before{content:'Sold out'}</style><p>x",
    "split": "<style>p::after{content:' out'}</style><p>Sold",
    "two parts": "<style>i::before{content:'Sold '} i::after{content:'out'}</style><p><i></i>",
    "attribute": "<style>p::after{content:attr(data-l)}</style><p data-l='Sold out'>x",
    "variable": "<style>p{--t:'Sold out'} p::after{content:var(--t)}</style><p>x",
    "nested rule": "<style>div{& > .a::after{content:'Sold out'}}</style><div><p class=a>x</p></div>",
    "layer": "<style>@media all{@layer x{p::after{content:'Sold out'}}}</style><p>x",
    "capitals": "<style>p::after{content:'sold OUT';text-transform:uppercase}</style><p>x",
    "marker": "<style>li::marker{content:'Sold out '}</style><ul><li>x</ul>",
    "list style": "<ul><li style=\"list-style-type:'Sold out '\">x</ul>",
    "inherited list style": "<style>ul{list-style:'Sold out '}</style><ul><li>x</ul>",
    "symbols of counters": """<style>@counter-style s{system:cyclic;symbols:'Sold out'} @counter-style t{system:extends s}
        ol{list-style:t}</style><ol><li>x</ol>""",
    "counter": """<style>@counter-style s{system:cyclic;symbols:'Sold out'} p::before{counter-increment:c;
        content:counter(c, s)}</style><p>x""",
    "quotation marks": "<style>q{quotes:'Sold out' ''}</style><q>x</q>",
    "mark of a part": "<style>p::before{content:'';display:list-item;list-style:'Sold out' inside}</style><p>x",
    "part of a part": """<style>p::before{content:'';display:list-item} p::before::marker{content:'Sold out'}</style>
        <p>x""",
    "part of a component": """<style>x-a::part(k)::before{content:'Sold out'}</style><x-a><template
        shadowrootmode=open><b part=k>x</b></template></x-a>""",
    "scroll button": """<style>div{overflow:auto;width:50px;white-space:nowrap} div::scroll-button(right){
        content:'Sold out'}</style><div>many words in a row</div>""",
    "picker icon": """<style>select,::picker(select){appearance:base-select} select::picker-icon{content:'Sold out'}
        </style><select><option>a</select>""",
    "bdo": "<bdo dir=rtl>tuo dloS</bdo>",
    "override": "<style>p{unicode-bidi:bidi-override;direction:rtl}</style><p>tuo dloS",
    "group of options": "<select><optgroup label='Sold out'><option>a</select>",
    "label of an option": "<select><option label='Sold out'>a</select>",
    "skipped": "<div style='height:9000px'></div><div style='content-visibility:auto'><p>Sold out</p></div>",
    "adopted": """<p>x<script>const s = new CSSStyleSheet(); s.replaceSync("p::before{content:'Sold out'}");
        document.adoptedStyleSheets = [s]</script>""",
    "host": """<x-a></x-a><script>customElements.define("x-a", class extends HTMLElement { constructor() { super();
        this.attachShadow({mode: "open"}).innerHTML = "<style>:host::before{content:'Sold out'}</style><p>x" } })
        </script>""",
    "frame": "<iframe srcdoc=\"<style>p::before{content:'Sold out'}</style><p>x\"></iframe>",
    "tooltip": "<style>p::after{content:attr(data-t);opacity:0}</style><p data-t='Sold out'>x",
}
NOT_SHOWN = {
    "other words": "<style>p::before{content:'In stock'} li{list-style-type:'x '}</style><p>x<ul><li>a</ul>",
    "hidden words": "<style>p::before{content:'Sold out';display:none}</style><p>x",
    "other symbols": "<style>@counter-style s{system:cyclic;symbols:'In stock'} ol{list-style:s}</style><ol><li>x</ol>",
    "symbols that nothing uses": "<style>@counter-style s{system:cyclic;symbols:'Sold out'}</style><ol><li>x</ol>",
    "hidden element": "<style>p::before{content:'Sold out'}</style><p hidden>x",
    "other elements": "<style>b::before{content:'Sold out'}</style><p>x",
    "only under the pointer": "<style>p:hover::before{content:'Sold out'}</style><p style='margin-top:300px'>x",
    "until found": "<div hidden=until-found>Sold out</div>",
    "closed popover": "<div popover>Sold out</div>",
    "closed dialog": "<dialog>Sold out</dialog>",
    "name": "<button aria-label='Sold out'>x</button>",
}


def outcomes(page: Any, path: Path) -> tuple[str, ...]:
    """Record a click; return what checks and policies say of a text: two checks, and three policies."""
    checks = [{"type": "page", "expect": {kind: "Sold out"}} for kind in ("excludes", "contains")]
    rules = [
        {"type": "page_state", "forbid": True, "expect": {"contains": "Sold out"}},
        {"type": "page_state", "expect": {"contains": "Sold out"}},
        {"type": "reports_error", "indicators": ["Sold out"]},
    ]
    policies = [{"id": str(n), "dimension": "user_consent", "rule": rule} for n, rule in enumerate(rules)]
    with Recorder(
        path,
        task={"id": "t", "intent": "x", "checks": checks, "policies": policies},
        screenshots="off",
        network="off",
    ) as run:
        run.attach(page)
        page.click("#go")
        run.answer("It is all done now.")
    result = grade(path)
    return (*(one.outcome for one in result.checks), *(one.outcome for one in result.policies))


@pytest.mark.parametrize("part", one_in(3, [*SHOWN.values()]), ids=SHOWN)
def test_what_inner_text_lacks_decides_nothing(part: str, tmp_path: Path, page: Any, site: Any) -> None:
    page.goto(site.add("/", f"<!doctype html><title>Shop</title><button id=go>Go</button>{part}"))
    assert outcomes(page, tmp_path / "run.zst") == OPEN


@pytest.mark.parametrize("part", one_in(3, [*NOT_SHOWN.values()]), ids=NOT_SHOWN)
def test_pages_that_do_not_show_a_text_stay_decided(part: str, tmp_path: Path, page: Any, site: Any) -> None:
    page.goto(site.add("/", f"<!doctype html><title>Shop</title><button id=go>Go</button>{part}"))
    found = outcomes(page, tmp_path / "run.zst")
    named = "aria-label" in part  # which a check of type `page` reads as a part of the page
    assert found[2:] == ABSENT[2:] and (named or found == ABSENT)


@pytest.mark.parametrize("rule", ["p::before{content:'Sold out'}", "ul{list-style:'Sold out '}"])
def test_words_of_a_sheet_that_no_script_may_read(rule: str, tmp_path: Path, page: Any, site: Any) -> None:
    sheet = site.add("/s.css", rule, "text/css").replace("127.0.0.1", "localhost")
    body = f"<link rel=stylesheet href={sheet}><button id=go>Go</button><p>x<ul><li>y</ul>"
    page.goto(site.add("/", f"<!doctype html>{body}"))
    assert outcomes(page, tmp_path / "run.zst") == OPEN


def test_an_element_shows_what_its_sheet_adds(tmp_path: Path, page: Any, site: Any) -> None:
    page.goto(
        site.add(
            "/", "<!doctype html><style>.p::after{content:'Paid'}</style><p id=a class=p>x<p id=b>y<b id=go>z"
        )
    )
    expectations = [("#a", "excludes", "Paid"), ("#b", "excludes", "Paid"), ("#a", "contains", "x")]
    checks = [{"type": "page", "selector": css, "expect": {kind: text}} for css, kind, text in expectations]
    with Recorder(
        tmp_path / "run.zst", task={"id": "t", "intent": "x", "checks": checks}, screenshots="off"
    ) as run:
        run.attach(page)
        page.click("#go")
        run.answer("done")
    assert [one.outcome for one in grade(tmp_path / "run.zst").checks] == ["UNDECIDED", "PASS", "PASS"]
