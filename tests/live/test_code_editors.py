"""Editors that draw their text elsewhere: the node that receives the keys holds other text than a person sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import outcome_of
from tests.thorough import one_in

pytestmark = pytest.mark.live

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
