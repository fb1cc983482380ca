from collections.abc import Callable
from typing import Any

import pytest

from replaykit.grading.verdict import CheckResult
from replaykit.testing.builder import Builder

S = "http://s.test"
Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]


def test_needs_the_final_page(grade: Grade, run: Run) -> None:
    for mode in ("strict", "compat"):
        result = grade(run().goto(f"{S}/a", "").end("timeout"), {"type": "url_match", "url": f"{S}/a"}, mode)
        assert (result.outcome, result.missing) == ("UNDECIDED", ("urls.incomplete",))


def test_evidence_names_page_and_both_urls(grade: Grade, run: Run) -> None:
    result = grade(
        run().goto(f"{S}/a?x=1", "").answer("ok"), {"type": "url_match", "url": f"{S}/b", "id": "where"}
    )
    (evidence,) = result.evidence
    assert (result.id, result.type, result.reason) == ("where", "url_match", "differs")
    assert (evidence.item, evidence.source, evidence.url, evidence.step) == ("url", "page", f"{S}/a?x=1", 0)
    assert evidence.expected is not None
    assert evidence.found is not None
    assert (evidence.expected.normal, evidence.found.normal) == ("@shop/b", "@shop/a?x=1")
    assert evidence.snapshot is not None


@pytest.mark.parametrize(
    ("check", "outcome", "reason"),
    [
        ({"url": [f"{S}/x", f"{S}/a"]}, "PASS", None),
        ({"url": ""}, "ERROR", "bad_reference"),
        ({"url": f"{S}/*"}, "ERROR", "bad_reference"),
        ({"url": f"{S}/.*", "path": "regex"}, "PASS", None),
        ({"url": f"{S}/(a+)+b", "path": "regex"}, "ERROR", "unsafe_regex"),
        ({"url": f"{S}/[a-z]", "path": "regex"}, "PASS", None),
        ({"url": f"{S}/a", "query": "exact"}, "FAIL", "differs"),
        ({"url": f"{S}/a", "query": "exact", "ignore": ["t"]}, "PASS", None),
        ({"url": "https://s.test/a", "scheme": "exact"}, "FAIL", "differs"),
    ],
)
def test_options(grade: Grade, run: Run, check: dict[str, Any], outcome: str, reason: str | None) -> None:
    result = grade(run().goto(f"{S}/a?t=1", "").answer("ok"), {"type": "url_match", **check})
    assert (result.outcome, result.reason) == (outcome, reason)


def test_all_roots_of_a_site_count(grade: Grade, run: Run) -> None:
    ended = run().goto("http://10.0.0.1/a", "").answer("ok")
    sites = {"shop": (S, "http://10.0.0.1")}
    check = {"type": "url_match", "url": f"{S}/a"}
    assert grade(ended, check).outcome == "FAIL"
    assert grade(ended, check, sites=sites).outcome == "PASS"


def test_compat_knows_one_note_only(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/a", "").answer("ok")
    check = {"type": "url_match", "url": f"{S}/a"}
    for note, outcome in (("GOLD in PRED", "PASS"), ("EXACT", "ERROR"), (None, "ERROR")):
        record = {"eval": {"url_note": note}}
        assert grade(ended, check, "compat", source_record=record).outcome == outcome
        assert grade(ended, check, source_record=record).outcome == "PASS"


def test_compat_raises_as_urlparse_does(grade: Grade, run: Run) -> None:
    result = grade(
        run().goto(f"{S}/a", "").answer("ok"), {"type": "url_match", "url": "http://[::1/a"}, "compat"
    )
    assert (result.outcome, result.reason) == ("ERROR", "peer_exception")
