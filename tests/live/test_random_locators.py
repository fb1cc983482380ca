"""Locators made at random, asked three ways: of the live page by the recorder, of its snapshot, of an offline Chromium.

Where static reading answers, all three say the same; where it cannot, it says so. Roles and texts, which only a
browser finds, are asked of the live page and of the offline one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.recorder import Recorder
from replaykit.replay.offline_page.chromium import Chromium
from replaykit.replay.offline_page.fidelity import Fidelity, fidelity
from replaykit.replay.offline_page.offline_page import OfflinePage
from replaykit.tasks.task import Task, decode_task

sys.path.insert(0, str(Path(__file__).parent))
from wild import PRELUDE, WildPage

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import Browser

pytestmark = pytest.mark.live

# Every page below has some of these, so that most locators find something.
KNOWN = """<main id=m class="a b"><h1 title=T>Head <b>line</b></h1><ul class=a><li>one<li class=b>two <i>x</i><li>three</ul>
<form aria-label=Form><label>Name <input name=n value=v></label><label><input type=checkbox checked> Agree</label>
<select id=s><option>red<option selected value=g>green</select><textarea>lines</textarea><button disabled>Send</button>
<button>Go <span hidden>away</span></button></form><table class=b><tr><th>Item<th>Price<tr><td>Mug<td>4.50</table>
<p style="display:none" class=a>never</p><p class=b data-x=1>said <span style="text-transform:uppercase">loud</span></p>
<a href="/x?y=1#z">link</a><div hidden>gone</div><details><summary>More</summary>inside</details></main>"""

NAMES = [
    "*",
    "p",
    "li",
    "ul",
    "h1",
    "b",
    "i",
    "span",
    "input",
    "select",
    "option",
    "textarea",
    "button",
    "table",
    "tr",
    "td",
    "th",
    "a",
    "div",
    "main",
    "form",
    "summary",
    "details",
]
TESTS = [
    ".a", ".b", "#m", "#s", "[title]", "[name=n]", "[data-x='1']", "[class~=b]", "[type=checkbox]", "[href^='/x']",
    ":first-child", ":last-child", ":nth-child(2)", ":nth-child(odd)", ":not(.a)", ":empty", ":checked", ":disabled",
    ":only-child", ":first-of-type", ":nth-last-child(2)", ":is(.a, .b)", ":has(> b)", ":has(i)", ":enabled", "::before",
]  # fmt: skip
PROPERTIES = [
    "outerText", "innerText", "textContent", "value", "checked", "selectedIndex", "tagName", "className", "id", "href",
    "innerHTML", "outerHTML", "children.length", "childElementCount", "firstElementChild.outerText", "title", "disabled",
    "nextElementSibling.innerText", "parentElement.tagName", "getAttribute('class')", "nonsense", "dataset.x", "type",
    "children[1].outerText", "textContent.trim()", "innerText.length", "lastElementChild?.outerText", "hidden",
]  # fmt: skip
READS = ["text", "value", "checked", "selectedIndex", "class", "href", "data-x"]
AXES = ["//", "//main//", ".//", "//ul/", "//form//"]
PREDICATES = [
    "",
    "[1]",
    "[2]",
    "[last()]",
    "[@class]",
    "[@class='b']",
    "[text()='two ']",
    "[contains(., 'e')]",
]

compounds = st.builds(
    lambda name, tests: name + "".join(tests),
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(TESTS), max_size=2),
)
selectors = st.builds(
    lambda first, rest: first + "".join(mark + one for mark, one in rest),
    compounds,
    st.lists(st.tuples(st.sampled_from([" ", " > ", " + ", " ~ ", ", "]), compounds), max_size=2),
)
quoted = selectors.map(lambda css: css.replace("'", '"'))
properties = st.sampled_from(PROPERTIES)
scripts = st.one_of(
    st.builds("document.querySelector('{}').{}".format, quoted, properties),
    st.builds("document.querySelector('{}')?.{}".format, quoted, properties),
    st.builds("document.querySelectorAll('{}').length".format, quoted),
    st.builds("document.querySelectorAll('{}')[{}].{}".format, quoted, st.integers(0, 3), properties),
    st.builds("[...document.querySelectorAll('{}')].map(e => e.{}).join('|')".format, quoted, properties),
    st.builds("[...document.querySelectorAll('{}')].filter(e => e.{}).length".format, quoted, properties),
)
paths = st.builds("{}{}{}".format, st.sampled_from(AXES), st.sampled_from(NAMES), st.sampled_from(PREDICATES))
checks = st.one_of(
    scripts.map(lambda locator: {"locator": locator}),
    paths.map(lambda locator: {"locator": locator}),
    st.builds(lambda css, read: {"selector": css, "property": read}, selectors, st.sampled_from(READS)),
)
ROLES = [
    "button",
    "checkbox",
    "textbox",
    "combobox",
    "option",
    "heading",
    "listitem",
    "list",
    "link",
    "table",
    "row",
    "cell",
    "form",
    "main",
    "group",
]
WORDS = [
    "one",
    "two",
    "Head",
    "line",
    "Send",
    "Go",
    "Name",
    "Agree",
    "Mug",
    "loud",
    "never",
    "More",
    "inside",
    "e",
]
# A recording takes seconds: few pages, many questions to each, and nothing is made smaller.
BOUND = settings(
    max_examples=4,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    phases=[Phase.generate],
)


@pytest.fixture
def record(site: Site, browser: Browser, tmp_path: Path) -> Callable[..., Path]:
    """Record a wild page, asked by a task; `look` sees the live page."""

    def record(seed: int, task: Task | None, look: Callable[[Any], None] = lambda _: None) -> Path:
        page = WildPage(seed)
        body = f"{KNOWN}{page.body}<script>{PRELUDE} {page.script}</script>"
        url = site.add(f"/{seed}", f"<!doctype html><html><head>{page.head}</head><body>{body}</body></html>")
        path, context = tmp_path / f"{len(list(tmp_path.iterdir()))}.zst", browser.new_context()
        try:
            with Recorder(path, task=task, sites={"site": site.origin}) as run:
                attached = run.attach(context.new_page())
                attached.goto(url)
                look(attached)
        finally:
            context.close()
        return path

    return record


@pytest.mark.thorough  # test_chromium.py reads random pages in all three ways
def test_a_live_value_a_static_one_and_an_offline_one_agree(
    record: Callable[..., Path], offline: Chromium
) -> None:
    total = Fidelity()

    @BOUND
    @given(st.integers(0, 99), st.lists(checks, min_size=60, max_size=60, unique_by=repr))
    def agree(seed: int, wanted: list[dict[str, Any]]) -> None:
        nonlocal total
        written = [{"type": "page", "url": "last", "expect": {"not_empty": True}, **one} for one in wanted]
        task = decode_task({"id": "t", "intent": "Look.", "sites": ["site"], "checks": written})
        with open_bundle(record(seed, task)) as bundle:
            found = fidelity(bundle, offline)
        assert [one for one in found.disagreements if not one.is_blank] == []
        assert [one for one in found.unbuilt if not one.startswith("about:blank")] == []
        total = Fidelity(reads=total.reads + found.reads, unsupported=total.unsupported + found.unsupported)

    agree()
    assert total.reads > 150
    assert total.unsupported < total.reads / 3


@pytest.mark.thorough
def test_roles_and_texts_are_found_offline_as_live(record: Callable[..., Path], offline: Chromium) -> None:
    asked = st.lists(
        st.one_of(
            st.tuples(
                st.just("role"), st.sampled_from(ROLES), st.none() | st.sampled_from(WORDS), st.booleans()
            ),
            st.tuples(st.just("text"), st.sampled_from(WORDS), st.none(), st.booleans()),
            st.tuples(st.just("label"), st.sampled_from(WORDS), st.none(), st.booleans()),
        ),
        min_size=45,
        max_size=45,
    )

    @BOUND
    @given(st.integers(0, 99), asked)
    def agree(seed: int, questions: list[tuple[str, str, str | None, bool]]) -> None:
        live: list[list[str]] = []
        path = record(seed, None, lambda page: live.extend(found(page, one) for one in questions))
        with open_bundle(path) as bundle, OfflinePage(bundle, chromium=offline) as page:
            own = [found(page, one) for one in questions]
            assert page.missing == ()
        assert [pair for pair in zip(questions, live, own, strict=True) if pair[1] != pair[2]] == []
        assert any(live)

    agree()


def found(page: Any, question: tuple[str, str, str | None, bool]) -> list[str]:
    """Return the texts of what a question finds."""
    kind, word, name, exact = question
    if kind == "role":
        named = {} if name is None else {"name": name, "exact": exact}
        return page.get_by_role(word, **named).all_text_contents()
    finder = page.get_by_text if kind == "text" else page.get_by_label
    return finder(word, exact=exact).all_text_contents()
