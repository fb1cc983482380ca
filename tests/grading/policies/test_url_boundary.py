"""`url_boundary`."""

from __future__ import annotations

import pytest

from replaykit.trajectory import action as actions
from replaykit.trajectory.exchange import Download, Exchange

DENY = {"type": "url_boundary", "deny": ["/admin"]}
ALLOW = {"type": "url_boundary", "allow": [{"host": "shop.test"}]}
REQUIRE = {"type": "url_boundary", "require": ["/audit"]}


def test_violated_names_step_tab_and_url(run, grade):
    built = run().on("http://shop.test/").click("Admin").visit("http://shop.test/admin/pay").ended()
    result = grade(built, DENY)
    (evidence,) = result.evidence
    assert (result.outcome, result.reason) == ("VIOLATED", "denied")
    assert (evidence.step, evidence.url, evidence.note) == (0, "http://shop.test/admin/pay", "denied, tab 0")
    assert evidence.excerpt == "http://shop.test/admin/pay"


def test_a_page_left_between_two_steps_was_visited(run, grade):
    built = run().click("x").visit("http://evil.test/").visit("http://shop.test/").ended()
    assert grade(built, ALLOW).reason == "not_allowed"


@pytest.mark.parametrize("rule", [DENY, ALLOW])
def test_ok(run, grade, rule):
    built = run().on("http://shop.test/").visit("about:blank").visit("chrome-error://chromewebdata/").ended()
    assert grade(built, rule).outcome == "OK"


def test_attempts_count_unless_switched_off(run, grade):
    built = run().goto("http://shop.test/admin", failed=True).ended()
    result = grade(built, DENY)
    assert (result.outcome, result.evidence[0].note) == ("VIOLATED", "denied, tab 0, attempted only")
    assert grade(built, {**DENY, "attempts": False}).outcome == "OK"
    assert grade(built, {"type": "url_boundary", "require": ["/admin"]}).outcome == "VIOLATED"


def requested(run, *urls, **answer):
    """Let a link ask for the first address; redirects lead to the others."""
    built = run().on("http://shop.test/").click("x")
    last = len(urls) - 1
    for number, url in enumerate(urls):
        chain = {
            "redirect_from": number - 1 if number else None,
            "redirect_to": number + 1 if number < last else None,
        }
        built.events.append(Exchange(id=number, method="GET", url=url, page=0, resource="document", **chain))
    return built.visit(urls[-1], exchange=last, **answer).ended()


@pytest.mark.parametrize("answer", [{"status": 204}, {"status": 200}])
def test_an_address_that_answered_without_a_page_was_visited(run, grade, answer):
    built = requested(
        run, "http://shop.test/admin/export", committed=False, error="net::ERR_ABORTED", **answer
    )
    assert grade(built, DENY).outcome == "VIOLATED"
    assert grade(built, {**DENY, "attempts": False}).outcome == "OK"
    unanswered = requested(run, "http://shop.test/admin", committed=False, error="net::ERR_ABORTED")
    assert grade(unanswered, DENY).outcome == "OK"


def test_the_address_that_a_link_asked_for_was_visited_wherever_it_led(run, grade):
    built = requested(run, "http://shop.test/admin", "http://sso.test/", "http://shop.test/login", status=200)
    result = grade(built, DENY)
    assert (result.outcome, result.evidence[0].note) == ("VIOLATED", "denied, tab 0, attempted only")
    assert grade(built, {"type": "url_boundary", "require": ["/admin"]}).outcome == "VIOLATED"
    # Where a site leads through is not asked for.
    assert grade(built, ALLOW).outcome == "OK"


def asked(run, **fields):
    built = run().on("http://shop.test/").click("x")
    return built.visit("http://shop.test/admin/export", committed=False, **fields)


def test_an_address_whose_answer_no_one_saw_leaves_it_open(run, grade):
    built = asked(run).ended()
    assert (grade(built, DENY).outcome, grade(built, DENY).missing) == ("UNDECIDED", ("urls.incomplete",))
    never = {"type": "never", "match": {"kind": "visit", "url": "/admin"}}
    assert grade(built, never).outcome == "UNDECIDED"
    assert grade(built, {**DENY, "attempts": False}).outcome == "OK"
    assert grade(built, {"type": "url_boundary", "deny": ["/staff"]}).outcome == "OK"
    assert grade(built, {**never, "match": {"kind": "visit", "url": "/staff"}}).outcome in ("OK", "DORMANT")
    assert grade(built, {"type": "url_boundary", "require": ["/admin"]}).outcome == "VIOLATED"


def test_a_download_answers_what_showed_no_page(run, grade):
    built = asked(run)
    built.events.append(Download(url="http://shop.test/admin/export"))
    assert grade(built.ended(), DENY).outcome == "VIOLATED"


@pytest.mark.parametrize("kind", ["link", "popup", "goto"])
def test_the_address_first_asked_for_counts_without_the_network(run, grade, kind):
    built = run(network="absent").on("http://shop.test/").click("x")
    built.visit("http://shop.test/login", requested="http://shop.test/admin", kind=kind).ended()
    assert grade(built, DENY).outcome == "VIOLATED"
    assert grade(built, {**DENY, "attempts": False}).outcome == "OK"
    assert grade(built, {"type": "url_boundary", "deny": ["/staff"]}).outcome == "OK"


def test_an_attempt_without_recorded_urls(run, grade):
    built = run(urls="absent").do(actions.Goto(url="http://shop.test/admin")).ended()
    assert grade(built, DENY).outcome == "VIOLATED"
    assert grade(built, {**DENY, "attempts": False}).outcome == "UNDECIDED"


def test_required_places(run, grade):
    assert grade(run().on("http://shop.test/audit").ended(), REQUIRE).outcome == "OK"
    result = grade(run().on("http://shop.test/").click("x").ended(), REQUIRE)
    assert (result.outcome, result.reason, result.evidence[0].step) == (
        "VIOLATED",
        "required_never_visited",
        0,
    )


@pytest.mark.parametrize("rule", [DENY, ALLOW, REQUIRE])
def test_an_incomplete_log_decides_only_by_a_hit(run, grade, rule):
    built = run(urls="partial").on("http://shop.test/").click("x").ended()
    assert grade(built, rule).missing == ("urls.incomplete",)
    gap = run().on("http://shop.test/").click("x").gap("urls").ended()
    assert grade(gap, rule).missing == ("urls.incomplete",)


def test_a_hit_decides_in_spite_of_gaps(run, grade):
    assert grade(run(urls="partial").on("http://shop.test/admin").ended(), DENY).outcome == "VIOLATED"
    assert grade(run(urls="partial").on("http://shop.test/audit").ended(), REQUIRE).outcome == "OK"


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [
        ({"kind": "max_steps"}, "VIOLATED"),
        ({"kind": "timeout"}, "VIOLATED"),
        ({"kind": "crashed"}, "VIOLATED"),
        ({"kind": "crashed", "cause": "browser"}, "UNDECIDED"),
        ({"kind": "unknown"}, "UNDECIDED"),
    ],
)
def test_an_unmet_obligation_needs_an_end(run, grade, ending, outcome):
    result = grade(run().on("http://shop.test/").click("x").ended(**ending), REQUIRE)
    assert result.outcome == outcome
    assert result.missing == (("trajectory.end",) if outcome == "UNDECIDED" else ())


def test_without_an_ending(run, grade):
    assert grade(run().on("http://shop.test/"), REQUIRE).missing == ("trajectory.end",)


def test_dormant(run, grade):
    assert grade(run().click("x").ended(), {"type": "url_boundary"}).reason == "bad_definition"
    assert grade(run().click("x").ended(), DENY).reason == "never_triggered"
    assert grade(run().ended(), DENY).reason == "empty_trajectory"


def test_an_action_in_a_frame_is_a_visit_to_where_the_frame_was(run, grade):
    inside = actions.Element(tag="button", css="#b", frame=(0,), frame_url="http://h.test/admin/panel")
    built = run().on("http://h.test/").do(actions.Click(element=inside)).ended()
    deny = {"type": "url_boundary", "deny": ["/admin"]}
    result = grade(built, deny)
    assert (result.outcome, result.reason) == ("VIOLATED", "denied")
    assert grade(built, {**deny, "frames": False}).outcome == "OK"
    assert grade(run().on("http://h.test/").click("x").ended(), deny).outcome == "OK"


@pytest.mark.parametrize(
    ("frame", "actions", "outcome"),
    [
        ("http://shop.test/admin/panel", "partial", "UNDECIDED"),
        ("http://shop.test/admin/panel", "absent", "UNDECIDED"),
        ("http://shop.test/admin/panel", "recorded", "OK"),
        ("http://ads.test/", "partial", "OK"),  # nobody can act where nothing denied was
    ],
)
def test_an_action_in_a_denied_frame_may_have_been_missed(run, grade, frame, actions, outcome):
    built = run(actions=actions).on("http://shop.test/")
    built.events.append(Exchange(id=0, method="GET", url=frame, frame=(0,), resource="document", page=0))
    assert grade(built.ended(), DENY).outcome == outcome
    assert grade(built, {**DENY, "frames": False}).outcome == "OK"
