from collections.abc import Callable
from typing import Any

import pytest

from replaykit.grading.checks.pages.page_check import page_fields
from replaykit.grading.verdict import CheckResult
from replaykit.replay.dom import Dom
from replaykit.testing.builder import Builder
from replaykit.testing.pages import snapshot
from replaykit.trajectory.observation import Prep, Read

S = "http://s.test"
Grade = Callable[..., CheckResult]
Run = Callable[..., Builder]


def native(**fields: Any) -> dict[str, Any]:
    return {"type": "page", "expect": {"equals": "1"}, **fields}


def html(*targets: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "program_html",
        "targets": [{"url": "last", "locator": "", **target} for target in targets],
    }


BODY = """<title>Cart</title><h1>Your cart</h1><input id=qty value=2 data-live='{"value": "3"}'>
<img alt="A cup"><a href="/pay">Pay</a><p hidden>secret sale</p><script>draft</script><!-- note -->"""


def test_page_text_is_what_a_person_can_find() -> None:
    fields = page_fields(Dom(snapshot(BODY, title="Cart")))
    assert fields[0] == "Cart"
    assert "Your cart" in fields[1]
    assert {"3", "A cup", "/pay", "2"} <= set(fields)
    assert not any(word in field for field in fields for word in ("draft", "note", "secret sale"))


@pytest.mark.parametrize(
    ("expect", "outcome"),
    [
        ({"equals": "5"}, "PASS"),
        ({"equals": "6"}, "FAIL"),
        ({"contains": "5"}, "PASS"),
        ({"contains": ["5", "6"]}, "FAIL"),
        ({"any_of": ["6", "5"]}, "PASS"),
        ({"any_of": ["6", "7"]}, "FAIL"),
        ({"all_of": ["5", "6 |OR| 5"]}, "PASS"),
        ({"excludes": ["6"]}, "PASS"),
        ({"excludes": ["6", "5"]}, "FAIL"),
        ({"regex": r"\d"}, "PASS"),
        ({"regex": r"[a-z]"}, "FAIL"),
        ({"regex": r"(a*)*b"}, "ERROR"),
        ({"not_empty": True}, "PASS"),
        ({"contains": ""}, "ERROR"),
        ({}, "ERROR"),
    ],
)
def test_native_operators(grade: Grade, run: Run, expect: dict[str, Any], outcome: str) -> None:
    ended = run().goto(f"{S}/p", "<b id=n>5</b>").answer("ok")
    assert grade(ended, native(selector="#n", expect=expect)).outcome == outcome


COMPONENT = (
    "<h1>Stay</h1><date-picker><template shadowrootmode=open><b id=out>14 May</b></template></date-picker>"
)


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({"selector": "#out", "expect": {"equals": "14 May"}}, "PASS"),
        ({"selector": "date-picker #out", "expect": {"equals": "14 May"}}, "PASS"),
        ({"selector": "date-picker > #out", "expect": {"equals": "15 May"}}, "FAIL"),
        ({"expect": {"contains": "14 May"}}, "PASS"),
        ({"expect": {"excludes": "14 May"}}, "FAIL"),
        ({"expect": {"excludes": "15 May"}}, "PASS"),
    ],
)
def test_what_a_component_shows_in_its_shadow_tree(
    grade: Grade, run: Run, fields: dict[str, Any], outcome: str
) -> None:
    ended = run().goto(f"{S}/p", COMPONENT).answer("ok")
    assert grade(ended, native(**fields)).outcome == outcome


@pytest.mark.parametrize(
    ("body", "selector", "prop", "outcome"),
    [
        ("<sl-input id=n></sl-input>", "#n", "value", "UNDECIDED"),
        ("<sl-switch id=n></sl-switch>", "sl-switch", "checked", "UNDECIDED"),
        ("<sl-input id=n value=5></sl-input>", "#n", "data-x", "FAIL"),
        ("<sl-input id=n></sl-input>", "#none", "value", "FAIL"),
        ("<div id=n></div>", "#n", "value", "FAIL"),
    ],
)
def test_what_a_custom_element_holds_is_not_recorded(
    grade: Grade, run: Run, body: str, selector: str, prop: str, outcome: str
) -> None:
    ended = run().goto(f"{S}/p", body).answer("ok")
    check = native(selector=selector, property=prop, expect={"equals": "5"})
    assert grade(ended, check).outcome == outcome


@pytest.mark.parametrize(
    ("pattern", "outcome"),
    [("Total: 5 m²", "PASS"), ("Total: 5 m2", "PASS"), ("Cafe\u0301", "PASS"), ("Cafe ", "FAIL")],
)
def test_an_expression_finds_what_a_person_reads(grade: Grade, run: Run, pattern: str, outcome: str) -> None:
    ended = run().goto(f"{S}/p", "<p>Café Total:\u00a05\u00a0m²").answer("ok")
    assert grade(ended, native(expect={"regex": pattern})).outcome == outcome


def test_an_expression_reads_a_long_page_to_its_end(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/p", "<p>" + "word " * 20_000 + "<p>order 1042").answer("ok")
    assert grade(ended, native(expect={"regex": r"order \d+$"})).outcome == "PASS"
    assert grade(ended, native(expect={"regex": r"refund \d+"})).outcome == "FAIL"


@pytest.mark.parametrize(
    ("check", "outcome", "reason"),
    [
        (native(selector=".none"), "FAIL", "no_element"),
        (native(selector=".none", expect={"excludes": "x"}), "FAIL", "no_element"),
        (native(selector="#qty", property="data-x"), "FAIL", "no_value"),
        (native(selector="..k"), "ERROR", "bad_selector"),
        (native(locator="document.querySelector('h1')"), "ERROR", "bad_locator"),
        (native(locator="document.querySelector('h9').id"), "FAIL", "no_element"),
        (native(selector="#qty", property="value", expect={"equals": "3"}), "PASS", None),
        (native(selector="#qty", property="value", expect={"equals": "3.0"}), "PASS", None),
        (
            native(selector="#qty", property="value", expect={"equals": "3.0"}, **{"as": "text"}),
            "FAIL",
            "differs",
        ),
        (native(locator="document.title", expect={"equals": "cart"}), "PASS", None),
        (native(expect={"contains": "a cup"}), "PASS", None),
        (native(expect={"equals": "A Cup"}), "PASS", None),
        (native(expect={"excludes": "draft"}), "PASS", None),
        (native(expect={"excludes": "cup"}), "FAIL", "contained"),
        (native(selector="h1", expect={"not_empty": True}), "PASS", None),
        (native(selector="script", property="src", expect={"not_empty": True}), "FAIL", "no_value"),
        (native(locator="document.title.split('a')"), "ERROR", "bad_locator"),
        (native(locator="'x'.repeat(9)"), "UNDECIDED", "unsupported"),
    ],
)
def test_native_reads(
    grade: Grade, run: Run, check: dict[str, Any], outcome: str, reason: str | None
) -> None:
    result = grade(run().goto(f"{S}/p", BODY).answer("ok"), check)
    assert (result.outcome, result.reason) == (outcome, reason)


def test_native_pages_have_no_peer(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/p", "<b id=n>1</b>").answer("ok")
    result = grade(ended, native(selector="#n"), "compat")
    assert (result.outcome, result.dialect, result.mode, result.notes) == (
        "PASS",
        "native",
        "strict",
        ("no_peer",),
    )
    assert result.items[0].compat is None


def test_unsupported_locators_name_the_probe_that_would_answer(grade: Grade, run: Run) -> None:
    locator = "document.querySelector('h1').outerText.match(/cart/)"
    ended = run().goto(f"{S}/p", BODY).answer("ok")
    for mode in ("strict", "compat"):
        result = grade(ended, html({"locator": locator, "exact_match": "cart"}), mode)
        assert (result.outcome, result.missing) == ("UNDECIDED", (f"probe:{locator}",))
    live = Read(locator=locator, kind="string", value="cart")
    ended = run().goto(f"{S}/p", BODY).final(BODY, reads=(live,)).answer("ok")
    assert grade(ended, html({"locator": locator, "exact_match": "cart"})).outcome == "PASS"


def test_every_target_is_graded(grade: Grade, run: Run) -> None:
    ended = run().goto(f"{S}/p", BODY).answer("ok")
    result = grade(
        ended,
        html({"must_include": ["cart", "plum"]}, {"locator": "document.title", "exact_match": "Cart"}),
    )
    assert [(item.id, item.outcome) for item in result.items] == [
        ("target.0.must_include.0", "PASS"),
        ("target.0.must_include.1", "FAIL"),
        ("target.1.exact", "PASS"),
    ]
    assert [evidence.item for evidence in result.evidence] == [item.id for item in result.items]


@pytest.mark.parametrize(
    ("target", "compat", "strict"),
    [
        ({"locator": " document.title", "exact_match": "cart"}, "ERROR", "PASS"),
        ({"locator": "lambda: 1", "exact_match": "cart"}, "ERROR", "FAIL"),
        ({"locator": "document.title"}, "ERROR", "ERROR"),
        ({"locator": "", "must_include": [""]}, "PASS", "ERROR"),
        ({"locator": "document.querySelector('..k').id", "exact_match": ""}, "PASS", "ERROR"),
        ({"locator": "func:nobody_knows()", "exact_match": "x"}, "ERROR", "ERROR"),
        ({"url": "func:reddit_get_post_url(1)", "exact_match": "x"}, "ERROR", "ERROR"),
    ],
)
def test_odd_targets(grade: Grade, run: Run, target: dict[str, Any], compat: str, strict: str) -> None:
    ended = run().goto(f"{S}/p", BODY).answer("ok")
    assert grade(ended, html(target), "compat").outcome == compat
    assert grade(ended, html(target)).outcome == strict


@pytest.mark.parametrize("mode", ["strict", "compat"])
@pytest.mark.parametrize(
    ("target", "code"),
    [
        (
            {"url": "func:shopping_get_latest_order_url()", "must_include": ["x"]},
            "api:shopping.latest_order",
        ),
        (
            {"locator": "func:shopping_get_sku_latest_review_rating('B0')", "exact_match": "100"},
            "api:shopping.reviews:B0",
        ),
        (
            {
                "url": f"{S}/members",
                "locator": "func:gitlab_get_project_memeber_role(__page__, 'ann')",
                "exact_match": "Guest",
            },
            f"page:{S}/members",
        ),
        (
            {"locator": "func:get_query_text(__page__, 'p:hover')", "exact_match": "x"},
            "probe:func:get_query_text(__page__, 'p:hover')",
        ),
    ],
)
def test_helpers_name_what_they_need(
    grade: Grade, run: Run, mode: str, target: dict[str, Any], code: str
) -> None:
    result = grade(run().goto(f"{S}/p", BODY).answer("ok"), html(target), mode)
    assert (result.outcome, result.missing) == ("UNDECIDED", (code,))


ROLE = "func:gitlab_get_project_memeber_role(__page__, '{}')"
MEMBERS = """
<table><tr><td data-label="Account"><span class="gl-avatar-labeled-sublabel">@ann</span></td>
<td class="col-max-role"><span>Owner</span></td></tr></table>
"""


@pytest.mark.parametrize(
    ("user", "wanted", "compat", "strict"),
    [("ann", "owner", "PASS", "PASS"), ("bo", "owner", "FAIL", "FAIL"), ("bo", "", "PASS", "FAIL")],
)
def test_calls_read_pages(grade: Grade, run: Run, user: str, wanted: str, compat: str, strict: str) -> None:
    check = html({"url": f"{S}/members", "locator": ROLE.format(user), "exact_match": wanted})
    ended = run().goto(f"{S}/p", BODY).answer("ok").probe(f"{S}/members", MEMBERS)
    assert grade(ended, check, "compat").outcome == compat
    found = grade(ended, check)
    assert found.outcome == strict
    assert found.evidence[0].locator == ROLE.format(user)
    assert found.evidence[0].strength == "strong"


REVIEWS = '[{"nickname": "Ann", "ratings": [{"rating_name": "Rating", "percent": 80}], "detail": "fine"}]'


@pytest.mark.parametrize(
    ("call", "reply", "status", "compat", "strict"),
    [
        ("author", REVIEWS, 200, "PASS", "PASS"),
        ("rating", REVIEWS, 200, "PASS", "PASS"),
        ("text", REVIEWS, 200, "PASS", "PASS"),
        ("author", "[]", 200, "FAIL", "FAIL"),
        ("author", "[1]", 200, "ERROR", "ERROR"),
        ("author", "no json", 200, "ERROR", "ERROR"),
        ("rating", REVIEWS.replace('"Rating"', '"Price"'), 200, "ERROR", "ERROR"),
        ("author", REVIEWS, 404, "ERROR", "ERROR"),
        ("author", REVIEWS, 401, "UNDECIDED", "UNDECIDED"),
    ],
)
def test_calls_read_replies_of_an_api(
    grade: Grade, run: Run, call: str, reply: str, status: int, compat: str, strict: str
) -> None:
    wanted = {"author": "ann", "rating": "80", "text": "fine"}[call]
    check = html({"locator": f"func:shopping_get_sku_latest_review_{call}('B0')", "exact_match": wanted})
    ended = run().goto(f"{S}/p", BODY).answer("ok").api("shopping.reviews:B0", reply, status=status)
    assert grade(ended, check, "compat").outcome == compat
    assert grade(ended, check).outcome == strict


@pytest.mark.parametrize("mode", ["strict", "compat"])
def test_the_newest_order_is_the_page_to_read(grade: Grade, run: Run, mode: str) -> None:
    check = html({"url": "func:shopping_get_latest_order_url()", "must_include": ["plum"]})
    ended = run(sites={"shopping": (S,)}).goto(f"{S}/p", BODY).answer("ok")
    asked = ended.api("shopping.latest_order", '{"items": [{"increment_id": "000000170"}]}')
    page = f"{S}/sales/order/view/order_id/170/"
    assert grade(asked, check, mode).missing == (f"page:{page}",)
    assert grade(asked.probe(page, "<p>plum</p>"), check, mode).outcome == "PASS"


def test_the_post_url_is_pure(grade: Grade, run: Run) -> None:
    check = html({"url": "func:reddit_get_post_url('__last_url__')", "must_include": ["plum"]})
    ended = run().goto(f"{S}/f/books/7/a-title", "").answer("ok")
    assert grade(ended, check).missing == (f"page:{S}/f/books/7/",)
    ended = run().goto(f"{S}/f/books/7/a-title", "").answer("ok").probe(f"{S}/f/books/7/", "<p>plum</p>")
    assert grade(ended, check).outcome == "PASS"
    assert grade(run().end("stopped"), check).missing == ("urls.incomplete",)


def test_the_peers_browser_moves_and_ours_does_not(grade: Grade, run: Run) -> None:
    check = html(
        {"url": f"{S}/b", "must_include": ["bee"]},
        {"locator": "document.title.trim()", "exact_match": ""},
        {"must_include": ["ant"]},
    )
    ended = run().goto(f"{S}/a", "<p>ant</p>").answer("ok").probe(f"{S}/b", "<p>bee</p>")
    assert [item.outcome for item in grade(ended, check).items] == ["PASS", "PASS", "PASS"]
    assert [item.outcome for item in grade(ended, check, "compat").items] == ["PASS", "PASS", "FAIL"]


def test_preparation_is_part_of_the_question(grade: Grade, run: Run) -> None:
    locator = "document.querySelector('#n').value"
    click = "document.querySelector('#more').click()"
    read = Read(locator=locator, kind="string", value="7", prep=(Prep(source=click),))
    ended = run().goto(f"{S}/p", "<input id=n value=1>").answer("ok")
    ended = ended.probe("last", "<input id=n value=7>", read, in_place=True)
    prepared = {"locator": locator, "exact_match": "7", "prep_actions": [click]}
    assert grade(ended, html(prepared)).outcome == "PASS"
    assert grade(ended, html({"locator": locator, "exact_match": "1"})).outcome == "PASS"
    other = {**prepared, "prep_actions": ["other()"]}
    assert grade(ended, html(other)).missing == (f"probe:{locator}",)


@pytest.mark.parametrize(
    ("before", "pre"), [("<p>plum</p>", "satisfied"), ("<p>pear</p>", "unsatisfied"), (None, "unknown")]
)
def test_says_whether_it_held_before_the_run(grade: Grade, run: Run, before: str | None, pre: str) -> None:
    started = run().probe(f"{S}/b", before, phase="pre") if before else run()
    ended = started.goto(f"{S}/a", "").answer("ok").probe(f"{S}/b", "<p>plum</p>")
    result = grade(ended, html({"url": f"{S}/b", "must_include": ["plum"]}))
    assert (result.outcome, result.pre) == ("PASS", pre)
    assert grade(ended, native(url=f"{S}/b", expect={"contains": "plum"})).pre == pre


@pytest.mark.parametrize(
    ("html", "expect", "outcome"),
    [
        ("<button id=b disabled>x</button>", {"equals": "true"}, "PASS"),
        ('<button id=b disabled="disabled">x</button>', {"equals": "true"}, "PASS"),
        ('<button id=b disabled="false">x</button>', {"equals": "true"}, "PASS"),
        ("<button id=b disabled>x</button>", {"equals": ""}, "PASS"),
        ("<button id=b disabled>x</button>", {"not_empty": True}, "PASS"),
        ("<button id=b disabled>x</button>", {"equals": "false"}, "FAIL"),
        ("<button id=b>x</button>", {"equals": "false"}, "PASS"),
        ("<button id=b>x</button>", {"equals": "true"}, "FAIL"),
        ("<p>x</p>", {"equals": "false"}, "FAIL"),
    ],
)
def test_an_attribute_that_counts_by_being_there(
    grade: Grade, run: Run, html: str, expect: dict[str, Any], outcome: str
) -> None:
    ended = run().goto(S, html).final().answer("done")
    assert grade(ended, native(selector="#b", property="disabled", expect=expect)).outcome == outcome
