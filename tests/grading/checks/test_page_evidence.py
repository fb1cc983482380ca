from collections.abc import Callable
from typing import Any

import pytest

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.grading.verdict import CheckResult
from replaykit.replay.offline_page.page_question import PageQuestion
from replaykit.replay.run_state import Page
from replaykit.testing.builder import Builder
from replaykit.trajectory.observation import Observation, Read
from replaykit.trajectory.scalars import Omitted

S = "http://s.test"
KEY = "#n @text"
Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]


def check(url: str = f"{S}/b", **fields: Any) -> dict[str, Any]:
    return {"type": "page", "url": url, "selector": "#n", "expect": {"equals": "1"}, **fields}


def live(value: str) -> Read:
    return Read(locator=KEY, kind="string", value=value)


def test_a_live_read_outranks_the_snapshot(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", "<p id=n>2</p>", live("1"))
    result = grade(ended, check())
    (evidence,) = result.evidence
    assert result.outcome == "PASS"
    assert (evidence.source, evidence.tier, evidence.strength, evidence.locator) == (
        "probe",
        "live",
        "strong",
        KEY,
    )
    assert (evidence.url, evidence.settled) == (f"{S}/b", True)


def test_a_snapshot_answers_without_a_live_read(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", "<p id=n>1</p>")
    (evidence,) = grade(ended, check()).evidence
    assert (evidence.tier, evidence.strength) == ("static", "strong")
    assert evidence.snapshot is not None


def test_a_probe_outranks_a_visit(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/b", "<p id=n>2</p>").answer("ok").probe(f"{S}/b", "<p id=n>1</p>")
    assert grade(ended, check()).outcome == "PASS"


def test_a_visited_page_is_weak(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/b", "<p id=n>1</p>").goto(f"{S}/a", "").answer("ok")
    result = grade(ended, check())
    assert (result.outcome, result.evidence[0].strength, result.evidence[0].step) == ("PASS", "weak", 1)
    result = grade(ended, check(), require_strong=True)
    assert (result.outcome, result.reason, result.missing) == (
        "UNDECIDED",
        "weak_evidence",
        (f"page:{S}/b",),
    )


@pytest.mark.parametrize(
    ("method", "status", "outcome"),
    [("POST", 200, "UNDECIDED"), ("POST", 409, "PASS"), ("GET", 200, "PASS"), ("DELETE", None, "UNDECIDED")],
)
def test_a_visit_is_evidence_until_something_changes(
    grade: Grade, run: Run, method: str, status: int | None, outcome: str
) -> None:
    ended = (
        run()
        .goto(f"{S}/b", "<p id=n>1</p>")
        .goto(f"{S}/a", "")
        .request(method, f"{S}/x", status)
        .answer("ok")
    )
    assert grade(ended, check()).outcome == outcome


def test_a_visit_never_answers_after_preparation(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/b", "<p id=n>1</p>").answer("ok")
    assert grade(ended, check(prep=["go()"])).missing == (f"page:{S}/b",)


def test_the_final_page_answers_last(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/a", "<p id=n>1</p>").answer("ok")
    result = grade(ended, check("last"))
    assert (result.outcome, result.evidence[0].strength, result.evidence[0].step) == ("PASS", "strong", 0)


def test_what_is_missing_of_the_final_page(grade: Grade, run: Run) -> None:
    assert grade(run().goto(f"{S}/a", "<p id=n>1</p>").end(), check("last")).missing == ("snapshot.final",)
    bare = Observation(role="final", url=f"{S}/a", page=0, snapshot=Omitted(why="cap"))
    assert grade(run().goto(f"{S}/a", "").add(bare).end(), check("last")).missing == ("snapshot.final",)


@pytest.mark.parametrize("value", ["1⟦cut:99999⟧", "⟦masked⟧"])
def test_an_incomplete_live_read_gives_way_to_the_snapshot(grade: Grade, run: Run, value: str) -> None:
    ended = run().goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", "<p id=n>1</p>", live(value))
    result = grade(ended, check())
    assert (result.outcome, result.evidence[0].tier) == ("PASS", "static")


class Browser:
    """Stands for the offline Chromium: says one text, or that it cannot."""

    version = "Chrome/1"

    def __init__(self, said: Read | Exception, *, is_first: bool) -> None:
        self.said = said
        self.is_first = is_first
        self.asked: list[PageQuestion] = []

    def read(self, page: Page, wanted: PageQuestion) -> Read:
        self.asked.append(wanted)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


DRAWN = Read(locator="text", kind="string", value="drawn by it")
DARK = "<p>⟦masked⟧</p>"
SEEN = "<p>plain</p>"
WHOLE = {"selector": None, "expect": {"contains": "drawn"}}


@pytest.mark.parametrize(
    ("html", "is_first", "outcome", "tier"),
    [
        (SEEN, True, "PASS", "chromium"),
        (SEEN, False, "FAIL", "static"),
        (DARK, True, "PASS", "chromium"),
        (DARK, False, "PASS", "chromium"),
    ],
)
def test_the_text_of_a_page_is_the_browser_s_where_it_is_asked(
    grade: Grade, run: Run, html: str, is_first: bool, outcome: str, tier: str
) -> None:
    browser = Browser(DRAWN, is_first=is_first)
    result = grade(
        run().goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", html), check(**WHOLE), chromium=browser
    )
    (evidence,) = result.evidence
    assert (result.outcome, evidence.tier) == (outcome, tier)
    assert evidence.browser == ("Chrome/1" if tier == "chromium" else None)
    target = {"url": f"{S}/b", "locator": "", "must_include": ["drawn"]}
    whole = {"type": "program_html", "targets": [target]}
    found = grade(run().goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", html), whole, chromium=browser)
    assert (found.outcome, found.evidence[0].tier) == (outcome, tier)


@pytest.mark.parametrize(
    ("said", "outcome", "reason"),
    [
        (Unsupported(locator="text", reason="no browser"), "UNDECIDED", "unsupported"),
        (LocatorLimit(locator="text", limit="10 s"), "ERROR", "locator_limit"),
        (Read(locator="text", kind="undefined"), "UNDECIDED", "unsupported"),
    ],
)
def test_a_text_that_the_browser_cannot_read(
    grade: Grade, run: Run, said: Read | Exception, outcome: str, reason: str
) -> None:
    ended = run().goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", DARK)
    result = grade(ended, check(**WHOLE), chromium=Browser(said, is_first=False))
    assert (result.outcome, result.reason) == (outcome, reason)


LOGIN = "<form><input type=password></form>"


@pytest.mark.parametrize(
    ("html", "fields", "reason"),
    [
        (LOGIN, {"at": f"{S}/login"}, "page_not_reached"),
        (LOGIN, {"at": f"{S}/b/"}, "no_element"),
        ("<p>moved</p>", {"at": f"{S}/c"}, "no_element"),
        ("<p id=n>1</p>", {"status": 500}, "page_not_reached"),
        ("<p id=n>1</p>", {"status": 401}, "page_not_reached"),
        ("<p id=n>2</p>", {"status": 410}, "differs"),
        (None, {"error": "net::ERR_CONNECTION_REFUSED", "status": None}, "page_not_reached"),
    ],
)
def test_pages_that_were_not_reached(
    grade: Grade, run: Run, html: str | None, fields: dict[str, Any], reason: str
) -> None:
    fields = dict(fields)
    arrived = fields.pop("at", f"{S}/b")
    ended = run().goto(f"{S}/b", "<p id=n>1</p>").answer("ok")
    ended = ended.probe(arrived, html, requested=f"{S}/b", **fields)
    result = grade(ended, check())
    assert result.reason == reason
    assert result.missing == ((f"page.unreached:{S}/b",) if reason == "page_not_reached" else ())
    if reason == "page_not_reached":
        words = {"login": "asks for a password", "b": f"answered {fields.get('status')}"}
        why = fields.get("error") or words[arrived.rpartition("/")[2]]
        assert why in (result.evidence[0].note or "")


def test_compat_grades_whatever_page_was_there(grade: Grade, run: Run) -> None:
    target = {"url": f"{S}/b", "locator": "", "must_include": ["trouble"]}
    ended = run().goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", "<p>trouble</p>", status=503)
    assert grade(ended, {"type": "program_html", "targets": [target]}, "compat").outcome == "PASS"
    failed = run().goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", None, status=None, error="net::ERR_FAILED")
    result = grade(failed, {"type": "program_html", "targets": [target]}, "compat")
    assert (result.outcome, result.reason) == ("ERROR", "peer_exception")


def test_a_probe_of_another_root_of_the_site_answers(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/a", "").answer("ok").probe("http://10.0.0.1/b/", "<p id=n>1</p>")
    assert grade(ended, check()).outcome == "UNDECIDED"
    assert grade(ended, check(), sites={"shop": (S, "http://10.0.0.1")}).outcome == "PASS"


def test_removing_evidence_never_turns_pass_into_fail(grade: Grade, run: Run) -> None:
    def ended(*, probe: bool, visit: bool) -> Builder:
        built = run().goto(f"{S}/b", "<p id=n>1</p>") if visit else run()
        built = built.goto(f"{S}/a", "").answer("ok")
        return built.probe(f"{S}/b", "<p id=n>1</p>", live("1")) if probe else built

    outcomes = [grade(ended(probe=p, visit=v), check()).outcome for p in (True, False) for v in (True, False)]
    assert outcomes == ["PASS", "PASS", "PASS", "UNDECIDED"]
