"""Commands that give the agent a hand in a document, and the documents that this concerns."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.browser.witnesses.agent_made_documents import forges, has_code
from replaykit.recorder.session.witnesses import Commanded

BASE = "http://site.test/"
LATER = "Page.addScriptToEvaluateOnNewDocument"


@pytest.mark.parametrize(
    ("name", "params", "what"),
    [
        ("Frame.setContent", {}, "document"),
        ("Page.setDocumentContent", {}, "document"),
        ("BrowserContext.addInitScript", {"source": "x = 1"}, "later"),
        ("Page.addInitScript", {"source": "x = 1"}, "later"),
        (LATER, {"source": "x = 1"}, "later"),
        (LATER, {"source": "x = 1", "runImmediately": True}, "both"),
        (LATER, {"source": "", "worldName": "utility"}, ""),
        (LATER, {"source": "//# sourceURL=pptr:internal"}, ""),
        ("Fetch.fulfillRequest", {"requestId": "1"}, "both"),
        ("Fetch.continueRequest", {"requestId": "1"}, ""),
        ("Fetch.continueRequest", {"requestId": "1", "url": BASE}, "both"),
        ("Runtime.evaluate", {"expression": "x = 1"}, ""),
        ("Frame.goto", {"url": BASE}, ""),
    ],
)
def test_what_a_command_forges(name: str, params: dict[str, Any], what: str) -> None:
    assert forges(name, params) == what


@pytest.mark.parametrize(
    "source", ["// a\nx", "// a\u2028x()", "/* a */ x", "/* a */ /* b", "'//'", "/a//*/", "x // y", "<!-- x"]
)
def test_code_beside_comments_is_code(source: str) -> None:
    assert has_code(source)


@given(st.lists(st.sampled_from([" ", "\n", "// x", "/* y */", "\t"])))
def test_comments_and_blanks_are_no_code(parts: list[str]) -> None:
    assert not has_code("\n".join(parts))


def planted(driver: Any, **said: Any) -> Any:
    return driver.feed(Commanded(at=1, kind="script", name="addInitScript", **said))


def test_a_planted_script_counts_from_the_next_document_on(driver: Any) -> None:
    planted(driver, page=0, forges="later").click(at=100).push("rest", "first", at=200)
    driver.navigate(f"{BASE}b", 2000).push("rest", "second", at=2100)
    driver.wait(3000).end()
    assert {one.source for one in driver.looks("after") if one.t < 2000} == {None}
    assert driver.looks("final")[-1].source == "agent"


def test_one_of_another_tab_does_not_count(driver: Any) -> None:
    planted(driver.open(1), page=1, forges="later").navigate(f"{BASE}b", 2000).push("rest", "second", at=2100)
    driver.wait(3000).end()
    assert driver.looks("final")[-1].source is None


def test_one_of_no_tab_counts_in_all(driver: Any) -> None:
    planted(driver, forges="later").navigate(f"{BASE}b", 2000).push("rest", "second", at=2100)
    driver.wait(3000).end()
    assert driver.looks("final")[-1].source == "agent"


def test_one_that_was_refused_does_not_count(driver: Any) -> None:
    planted(driver, forges="both", refused=True).navigate(f"{BASE}b", 2000).push("rest", "second", at=2100)
    driver.wait(3000).end()
    assert driver.looks("final")[-1].source is None
