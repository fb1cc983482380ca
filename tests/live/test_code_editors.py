"""Editors that draw their text elsewhere: the node that receives the keys holds other text than a person sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import outcome_of
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

RULE = {"type": "never", "match": {"action": "@input", "value": "EVIL"}}

DRAWN = """<!doctype html><div id=editor tabindex=0 style="height:80px"></div><button>Go</button><script>
const context = new EditContext();
let text = '';
editor.editContext = context;
context.ontextupdate = (event) => {
  text += event.text;
  editor.textContent = text;
  context.updateText(0, 9999, text + '#' + text);
};
</script>"""

EMPTIED = """<!doctype html><div id=editor style="position:relative;height:80px"><textarea
style="position:absolute;opacity:0;width:8px;height:1em"></textarea><pre></pre></div><button>Go</button><script>
const [field, shown] = editor.children;
field.oninput = () => { shown.textContent += field.value; field.value = ''; };
editor.onclick = () => field.focus();
</script>"""

PLAIN = "<!doctype html><textarea id=editor></textarea><button>Go</button>"


def in_parts(page: Any) -> None:
    page.click("#editor")
    page.keyboard.type("EV")
    page.click("button")
    page.click("#editor")
    page.keyboard.press("End")
    page.keyboard.type("IL")


def at_once(page: Any) -> None:
    page.click("#editor")
    page.keyboard.type("Fine words\nall")


def composed(page: Any) -> None:
    page.click("#editor")
    session = page.context.new_cdp_session(page)
    for text in ("E", "EV", "EVI", "EVIL"):
        composition = {"text": text, "selectionStart": len(text), "selectionEnd": len(text)}
        session.send("Input.imeSetComposition", composition)
    session.send("Input.insertText", {"text": "EVIL"})


@pytest.mark.parametrize(
    ("html", "act", "outcome"),
    one_in(
        2,
        [
            (DRAWN, in_parts, "UNDECIDED"),
            (EMPTIED, in_parts, "UNDECIDED"),
            (PLAIN, in_parts, "VIOLATED"),
            (DRAWN, composed, "VIOLATED"),
            (DRAWN, at_once, "OK"),
            (EMPTIED, at_once, "OK"),
        ],
    ),
    ids=["drawn", "emptied", "plain", "composed", "drawn at once", "emptied at once"],
)
def test_what_such_an_editor_holds_in_the_end_is_not_denied(
    html: str, act: Callable[[Any], None], outcome: str, tmp_path: Path, page: Any, site: Any
) -> None:
    page.goto(site.add("/", html))
    assert outcome_of(RULE, act, page, tmp_path / "run.zst") == outcome


# As ProseMirror (TipTap) does: the page puts the first key in the place of a selection; the browser enters the others.
REPLACES = """<!doctype html><p>start</p><div id=editor contenteditable>hello</div><script>
const after = () => { const range = getSelection(); range.selectAllChildren(editor); range.collapseToEnd() };
editor.onkeypress = (event) => { if (!getSelection().isCollapsed) { event.preventDefault();
  editor.textContent = event.key; after() } };
</script>"""

# As CKEditor does: the page draws again what the browser entered, and a text outside shares a letter with it.
DRAWS = """<!doctype html><p>start</p><div id=editor contenteditable>hello</div><script>
editor.onbeforeinput = (event) => { event.preventDefault(); const all = getSelection().isCollapsed ? editor.textContent : '';
editor.textContent = all + event.data; getSelection().selectAllChildren(editor); getSelection().collapseToEnd() };
</script>"""


def only(*allowed: str) -> dict[str, Any]:
    """A rule that allows these values."""
    return {"type": "only_fill", "allowed": list(allowed), "sources": []}


def written(text: str) -> Callable[[Any], None]:
    """Write a text in the place of what the editor holds."""

    def act(page: Any) -> None:
        page.click("#editor")
        page.keyboard.press("Control+a")
        page.keyboard.type(text)

    return act


@pytest.mark.parametrize(
    ("html", "text", "rule", "outcome"),
    one_in(
        2,
        [
            (REPLACES, "tall EVIL", only("tall EVIL"), "OK"),
            (REPLACES, "tall EVIL", only("all EVIL"), "VIOLATED"),
            (
                REPLACES,
                "tall EVIL",
                {"type": "never", "match": {"value": {"equals": "tall EVIL"}}},
                "VIOLATED",
            ),
            (REPLACES, "EVIL", RULE, "VIOLATED"),
            (DRAWS, "tall EVIL", only("tall EVIL"), "OK"),
            (DRAWS, "tall EVIL", only("tall"), "VIOLATED"),
        ],
    ),
)
def test_what_is_typed_over_a_selection_is_one_text(
    html: str, text: str, rule: dict[str, Any], outcome: str, tmp_path: Path, page: Any, site: Any
) -> None:
    page.goto(site.add("/", html))
    assert outcome_of(rule, written(text), page, tmp_path / "run.zst") == outcome
