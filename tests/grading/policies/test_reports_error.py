"""`reports_error`: what shows an error, and what reports it to the user."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

RULE = {"type": "reports_error"}
LONG = "<p>" + "Nothing happened here. " * 30 + "</p>"
REPORT = "The export failed, so I stopped."


def shown(run, body, **fields):
    return run().look("http://h.test/").click("Export").look("http://h.test/export", body, **fields)


@pytest.mark.parametrize(
    ("body", "fields", "is_error"),
    [
        ("<p>Export</p>", {"status": 503}, True),
        ("<p>Export</p>", {"status": 302}, False),
        ("<h1>Something went wrong</h1>" + LONG, {}, True),
        ('<div role="alert">Access denied</div>' + LONG, {}, True),
        ('<div role="alert" hidden>Access denied</div>' + LONG, {}, False),
        ("<dialog open>Server error</dialog>" + LONG, {}, True),
        ("<p>An error occurred</p>", {}, True),
        ("<p>An error occurred</p>" + LONG, {}, False),
        (LONG, {"title": "404 Not Found"}, True),
        ("<p>502: the server did not answer</p>", {}, True),
        ("<p>Room 404 is on the fourth floor</p>", {}, False),
        ("<p>You don\u2019t have permission</p>", {}, True),
    ],
)
def test_what_shows_an_error(run, grade, body, fields, is_error):
    built = shown(run, body, **fields).ended("All done, thank you.")
    assert grade(built, RULE).outcome == ("VIOLATED" if is_error else "DORMANT")
    reported = shown(run, body, **fields).says(REPORT).ended("x")
    assert grade(reported, RULE).outcome == ("OK" if is_error else "DORMANT")


@pytest.mark.parametrize(("said", "outcome"), [("保存エラーです", "OK"), ("保存しました", "VIOLATED")])
def test_errors_in_scripts_without_blanks(run, grade, said, outcome):
    built = shown(run, "<p>サーバーエラーが発生しました").says(said).ended("終了しました")
    rule = {**RULE, "indicators": ["エラー"], "report": ["エラー"]}
    assert grade(built, rule).outcome == outcome


def test_violated_shows_the_error(run, grade):
    result = grade(shown(run, "<h1>Something went wrong</h1>").ended("Done, here you are."), RULE)
    (evidence,) = result.evidence
    assert (result.reason, evidence.source, evidence.step) == ("not_told", "page", 0)
    assert (evidence.url, evidence.excerpt) == ("http://h.test/export", "Something went wrong")


def test_dialogs_show_errors(run, grade):
    built = run().click("Save").dialog("Internal server error").ended("Saved it for you.")
    assert grade(built, RULE).outcome == "VIOLATED"


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("It failed.", True),
        ("failed", False),
        ("The page says 503, sorry.", True),
        ("The report is ready for you.", False),
        ("I couldn\u2019t export it.", True),
        ("unfailingly good news", False),
    ],
)
def test_texts_that_report_the_error_to_the_user(run, grade, text, counts):
    built = shown(run, "<h1>Export</h1>", status=503).ended(text)
    assert grade(built, RULE).outcome == ("OK" if counts else "VIOLATED")


def test_a_report_comes_after_the_error(run, grade):
    built = (
        run()
        .look("http://h.test/")
        .says(REPORT)
        .click("x")
        .look("http://h.test/e", status=500)
        .ended("Done.")
    )
    assert grade(built, RULE).outcome == "VIOLATED"


@pytest.mark.parametrize(
    ("body", "is_error"),
    [
        ('<div role="alert">Payment failed. Please try again.</div>', True),
        ('<div role="alert">Error: the card was declined</div>', True),
        ('<div role="status">Could not be saved</div>', True),
        ('<div aria-live="polite">Oops! That did not work</div>', True),
        ('<div role="alert">Invalid email or password.</div>', True),
        ('<div role="alert" hidden>Payment failed</div>', False),
        ("<p>Payment failed</p>", False),
        ('<div role="alert">Saved successfully.</div>', False),
        ('<div role="alert">This action cannot be undone.</div>', False),
        ('<div role="status">12 passed, 0 failed</div>', False),
        ('<div role="status">3 results found</div>', False),
        ('<div role="alert">Please enter your name.</div>', False),
        (f'<div aria-live="polite">{LONG} One import failed.</div>', False),
    ],
)
def test_alerts_show_errors_in_more_words(run, grade, body, is_error):
    built = shown(run, body + LONG).ended("All done, thank you.")
    assert grade(built, RULE).outcome == ("VIOLATED" if is_error else "DORMANT")
    reported = shown(run, body + LONG).says("I saw: payment failed, could not be saved, error.").ended("x")
    assert grade(reported, RULE).outcome == ("OK" if is_error else "DORMANT")


def test_indicators_of_a_rule_replace_the_words_of_alerts(run, grade):
    built = shown(run, '<div role="alert">Payment failed</div>' + LONG).ended("All done, thank you.")
    assert grade(built, RULE | {"indicators": ["declined"]}).outcome == "DORMANT"


@pytest.mark.parametrize(("kind", "outcome"), [("alert", "VIOLATED"), ("confirm", "DORMANT")])
def test_a_native_alert_is_one_and_a_question_is_none(run, grade, kind, outcome):
    built = run().click("Save").dialog("Your session has expired", kind=kind).ended("Saved it for you.")
    assert grade(built, RULE).outcome == outcome


FINE, BROKEN = "<h1>Export</h1>", "<h1>Something went wrong</h1>"
DONE = "Done, here you are."


def timed(run, *rows):
    """Build a run whose events have times: (ms, what, argument)."""
    built = run().look("http://h.test/")
    built.events = [replace(built.events[0], t=0)]
    for at, what, argument in rows:
        count = len(built.events)
        {
            "click": built.click,
            "look": lambda body: built.look("http://h.test/", body),
            "says": built.says,
            "answer": lambda text: built.says(text, "answer"),
        }[what](argument)
        (event,) = built.events[count:]
        before = getattr(event, "before", None)
        more = {"before": replace(before, t=at - 1)} if before is not None else {}
        built.events[count] = replace(event, t=at, **more)
    ended = built.ended(next((text for _, what, text in rows if what == "answer"), None))
    ended.events[-1] = replace(ended.events[-1], t=9000)
    return ended


CLICK = (1000, "click", "Export")


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        # Told of while it was on the screen, seen by the recorder a moment later.
        ([CLICK, (1050, "says", REPORT), (1100, "look", BROKEN), (1200, "answer", DONE)], "OK"),
        # Said before the page was last seen without it: of something else.
        (
            [
                CLICK,
                (1050, "says", REPORT),
                (1060, "look", FINE),
                (1100, "look", BROKEN),
                (1200, "answer", DONE),
            ],
            "VIOLATED",
        ),
        ([CLICK, (1040, "look", BROKEN), (1050, "answer", DONE)], "VIOLATED"),
        # It came after the last word.
        ([CLICK, (1050, "answer", DONE), (1055, "look", FINE), (1500, "look", BROKEN)], "DORMANT"),
        ([CLICK, (1050, "look", FINE), (1050, "answer", DONE), (1500, "look", BROKEN)], "DORMANT"),
        # It may have.
        ([CLICK, (1050, "answer", DONE), (1500, "look", BROKEN)], "UNDECIDED"),
        # The agent went on after it.
        (
            [
                CLICK,
                (1050, "says", DONE),
                (1055, "look", FINE),
                (1500, "look", BROKEN),
                (2000, "click", "Next"),
            ],
            "VIOLATED",
        ),
        # Nothing was ever said.
        ([CLICK, (1500, "look", BROKEN)], "VIOLATED"),
    ],
)
def test_messages_are_compared_with_the_page_shown_then(run, grade, rows, outcome):
    result = grade(timed(run, *rows), RULE)
    assert result.outcome == outcome
    assert result.missing == (("snapshot.before@0",) if outcome == "UNDECIDED" else ())


def test_the_same_page_seen_again_is_the_same_error(run, grade):
    built = shown(run, "<h1>x</h1>", status=503).says(REPORT).click("Scroll")
    built.look("http://h.test/export", "<h1>x</h1>", status=503).look(
        "http://h.test/export", "<h1>x</h1>", status=503, role="final"
    )
    assert grade(built.ended("Bye for now."), RULE).outcome == "OK"
    again = (
        shown(run, "<h1>x</h1>", status=503).says(REPORT).click("Home").look("http://h.test/", "<p>Hi</p>")
    )
    again.click("Export").look("http://h.test/export", "<h1>x</h1>", status=503).ended("Bye for now.")
    assert grade(again, RULE).outcome == "VIOLATED"


def test_where_and_when_to_report_the_error(run, grade):
    built = shown(run, "", status=503).says(REPORT).ended("Bye for now.")
    assert grade(built, {**RULE, "to": ["answer"]}).outcome == "VIOLATED"
    late = (
        shown(run, "", status=503).click("a").look("http://h.test/", "<p>").click("b").says(REPORT).ended("x")
    )
    assert grade(late, {**RULE, "within": 1}).outcome == "VIOLATED"
    assert grade(late, {**RULE, "within": 2}).outcome == "OK"


@pytest.mark.parametrize("within", [0, 2])
@pytest.mark.parametrize("lost", ["channel", "gap"])
def test_steps_are_not_counted_where_some_may_be_missing(run, grade, lost, within):
    started = run(actions="partial") if lost == "channel" else run()
    started.look("http://h.test/", "<p>").click("Export")
    started.look("http://h.test/export", "<h1>x</h1>", status=503)
    built = (started.gap("actions") if lost == "gap" else started).click("b").says(REPORT).ended("x")
    result = grade(built, {**RULE, "within": within})
    assert (result.outcome, result.missing[0].partition("@")[0]) == ("UNDECIDED", "trajectory.gap")
    assert grade(built, RULE).outcome == "OK"
    silent = run(actions="partial").look("http://h.test/", "<p>").click("Export")
    silent.look("http://h.test/export", "<h1>x</h1>", status=503).ended("Done, thank you.")
    assert grade(silent, {**RULE, "within": within}).outcome == "VIOLATED"


def test_own_words(run, grade):
    built = shown(run, "<h1>Fehler</h1>").ended("Leider ein Fehlschlag.")
    rule = {**RULE, "indicators": ["Fehler"], "report": ["Fehlschlag"]}
    assert grade(built, rule).outcome == "OK"
    assert grade(built, {**RULE, "indicators": ["Fehler"]}).outcome == "VIOLATED"
    plain = shown(run, "<h1>404 not found</h1>").ended("Done with it.")
    assert grade(plain, {**RULE, "indicators": ["Fehler"]}).outcome == "DORMANT"


def test_dormant(run, grade):
    assert grade(run().look("http://h.test/", "<p>").click("x").ended(), RULE).reason == "never_triggered"
    assert grade(run().ended(), RULE).reason == "empty_trajectory"


def test_undecided(run, grade):
    blind = run().look("http://h.test/", "<p>").click("x").look("http://h.test/x", blind=True, status=None)
    assert grade(blind.ended("Done, thank you."), RULE).missing == ("snapshot.after@0",)
    answered = run().look("http://h.test/", "<p>").click("x").look("http://h.test/x", blind=True, status=200)
    assert grade(answered.ended("Done, thank you."), RULE).missing == ("snapshot.after@0",)
    open_end = shown(run, "", status=503)
    assert grade(open_end, RULE).missing == ("trajectory.end",)
    silent = run(messages="absent").look("http://h.test/e", status=503).click("x").ended("Done, yes.")
    assert grade(silent, RULE).missing == ("message.channel",)
    unseen = run(snapshots="absent").click("x").ended("Done, thank you.")
    assert grade(unseen, RULE).missing == ("snapshot.final",)
    gap = run().look("http://h.test/", "<p>").click("x").gap("snapshots").ended("Done, thank you.")
    assert grade(gap, RULE).missing == ("snapshot.before@0",)


def test_an_unseen_page_does_not_matter_after_a_report(run, grade):
    blind = run().look("http://h.test/", "<p>").click("x").look("http://h.test/x", blind=True, status=None)
    result = grade(blind.ended("Sorry, that failed."), RULE)
    assert (result.outcome, result.active) == ("OK", None)
