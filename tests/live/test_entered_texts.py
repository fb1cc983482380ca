"""Texts that come into a field in other ways than by keys, and tabs that open in other ways than by a plain click."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from replaykit.reruns.playwright_calls import on_element
from replaykit.trajectory.action import Element, Fill, tag_of
from replaykit.trajectory.exchange import Exchange, Navigation, TabChange
from tests.live.one_rule import outcome_of

pytestmark = [pytest.mark.live, pytest.mark.one_page]

NEVER_EVIL = {"type": "never", "match": {"action": "@input", "value": "EVIL"}}

FIELDS = """<!doctype html><input id=from value=EVIL><form action=/sent><input id=to></form>
<div id=grip draggable=true>grip</div>
<div id=editor contenteditable>x</div><div id=closed contenteditable>y</div><script>
const put = (node, text) => { node.textContent = text; };
editor.onpaste = (event) => { event.preventDefault(); put(editor, event.clipboardData.getData('text')); };
closed.onpaste = (event) => { event.preventDefault(); };
closed.onbeforeinput = (event) => { event.preventDefault(); };
grip.ondragstart = (event) => event.dataTransfer.setData('text/plain', 'EVIL');
</script>"""


def paste(page: Any, field: str) -> None:
    page.focus("#from")
    for key in ("Control+a", "Control+c"):
        page.keyboard.press(key)
    page.focus(field)
    page.keyboard.press("Control+v")


def put_in(page: Any, put: Callable[[Any], object]) -> None:
    page.fill("#to", "so-")
    page.focus("#to")
    put(page)


def submit_by_script(page: Any) -> None:
    page.evaluate("() => { to.value = 'EVIL'; document.forms[0].submit(); }")
    page.wait_for_url("**/sent*")


@pytest.mark.parametrize(
    ("act", "acts", "outcome"),
    [
        (lambda page: paste(page, "#to"), ["press", "press", "press", "fill"], "VIOLATED"),
        (lambda page: paste(page, "#editor"), ["press", "press", "press", "fill"], "VIOLATED"),
        (
            lambda page: put_in(page, lambda page: page.keyboard.insert_text("EVIL")),
            ["fill", "fill"],
            "VIOLATED",
        ),
        (
            lambda page: put_in(page, lambda page: paste(page, "#to")),
            ["fill", "press", "press", "press", "fill"],
            "VIOLATED",
        ),
        (
            lambda page: page.locator("#grip").drag_to(page.locator("#to")),
            ["drag_and_drop"],
            "UNDECIDED",
        ),
        (submit_by_script, [], "UNDECIDED"),
        (lambda page: page.evaluate("() => { editor.textContent = 'so EVIL'; }"), [], "UNDECIDED"),
        (
            lambda page: page.evaluate("() => { to.outerHTML = '<input value=\"so EVIL\">'; }"),
            [],
            "UNDECIDED",
        ),
        (lambda page: page.set_content("<textarea>EVIL</textarea>"), [], "UNDECIDED"),
        (lambda page: page.evaluate("() => to.value"), [], "DORMANT"),
    ],
    ids=[
        "pasted",
        "pasted into an editor",
        "put into a text",
        "pasted into a text",
        "dropped",
        "set by script",
        "edited by script",
        "brought",
        "made",
        "read by script",
    ],
)
def test_a_text_is_entered_whatever_way_it_comes(
    act: Callable[[Any], None], acts: list[str], outcome: str, tmp_path: Path, page: Any, site: Any
) -> None:
    page.goto(site.add("/", FIELDS))
    assert outcome_of(NEVER_EVIL, act, page, tmp_path / "run.zst") == outcome
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert [tag_of(step.action) for step in bundle.trajectory.steps] == acts


HIDDEN = """<!doctype html><button id=up>Up</button><a id=down href=/report download>report</a><script>
up.onclick = () => { const field = document.createElement('input'); field.type = 'file'; field.click(); };
</script>"""


def choose(page: Any) -> None:
    with page.expect_file_chooser() as chooser:
        page.click("#up")
    chooser.value.set_files({"name": "a.txt", "mimeType": "text/plain", "buffer": b"x"})


@pytest.mark.parametrize(
    ("act", "outcome"), [(choose, "UNDECIDED"), (lambda page: page.click("#up"), "DORMANT")]
)
def test_files_for_a_field_in_no_document_are_not_denied(
    act: Callable[[Any], None], outcome: str, tmp_path: Path, page: Any, site: Any
) -> None:
    page.goto(site.add("/", HIDDEN))
    rule = {"type": "never", "match": {"action": "upload_file"}}
    assert outcome_of(rule, act, page, tmp_path / "run.zst") == outcome


def test_the_request_of_a_download_is_an_exchange(tmp_path: Path, page: Any, site: Any) -> None:
    report = site.add("/report", "x", "application/octet-stream")
    page.goto(site.add("/", HIDDEN))
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        with page.expect_download():
            page.click("#down")
    with open_bundle(tmp_path / "run.zst") as bundle:
        asked = [(one.method, one.url, one.step) for one in bundle.trajectory.of_type(Exchange)]
    assert asked == [("GET", report, 0)]


def test_redirects_of_a_download_are_missing(tmp_path: Path, page: Any, site: Any) -> None:
    site.add("/file", "x", "application/octet-stream")
    site.answers["/report"] = (302, {"Location": "/file"})
    page.goto(site.add("/", HIDDEN))
    absent = {"type": "network", "should_not_exist": True, "expected": {"url": f"{site.origin}/report"}}
    task = {"id": "t", "intent": "x", "checks": [absent]}
    with Recorder(tmp_path / "run.zst", task=task, screenshots="off") as run:
        run.attach(page)
        with page.expect_download():
            page.click("#down")
    (found,) = grade(tmp_path / "run.zst").checks
    assert "/report" in site.asked
    assert (found.outcome, found.missing) == ("UNDECIDED", ("download.redirected",))


@pytest.mark.parametrize(
    "how", [{"modifiers": ["Control"]}, {"modifiers": ["Shift"]}, {"button": "middle"}], ids=str
)
def test_a_tab_without_an_opener_is_recorded_with_the_page_that_opened_it(
    how: dict[str, Any], tmp_path: Path, page: Any, site: Any
) -> None:
    away = site.add("/away", "<!doctype html><h1>Away</h1>")
    page.goto(site.add("/", "<!doctype html><a id=link href=/away>away</a>"))
    with Recorder(tmp_path / "run.zst", screenshots="off") as run:
        run.attach(page)
        with page.context.expect_page() as opened:
            page.click("#link", **how)
        opened.value.get_by_text("Away").wait_for()
    with open_bundle(tmp_path / "run.zst") as bundle:
        recorded = bundle.trajectory
    opened_at = {one.url for one in recorded.of_type(TabChange) if one.state == "opened"}
    assert away in opened_at | {one.url for one in recorded.of_type(Navigation)}


def test_a_text_that_was_put_in_is_put_in_again(page: Any, site: Any) -> None:
    page.goto(site.add("/", "<!doctype html><input id=to value=so->"))
    page.locator("#to").press("End")
    put = Fill(element=Element(tag="input", value="so-"), value="EVIL", value_after="so-EVIL")
    on_element(put, page.locator("#to"), None, 5000)
    assert page.input_value("#to") == "so-EVIL"
