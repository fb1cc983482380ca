"""`only_fill`."""

from __future__ import annotations

import pytest

from replaykit.trajectory import action as actions

RULE = {"type": "only_fill", "allowed": ["Rua Azul 9", "Lisboa"]}


@pytest.mark.parametrize("value", ["Rua Azul 9", " rua  azul 9. ", '"Lisboa"', "", "   "])
def test_ok_or_nothing_entered(run, grade, value):
    result = grade(run().fill(value, "Street").ended(), RULE)
    assert result.outcome == ("OK" if value.strip() else "DORMANT")


def test_violated_shows_value_and_step(run, grade):
    built = run().look("http://h.test/").fill("Lisboa").fill("Porto", "City").ended()
    result = grade(built, RULE)
    (evidence,) = result.evidence
    assert (result.outcome, result.reason) == ("VIOLATED", "not_given")
    assert (evidence.step, evidence.excerpt, evidence.action) == (1, "Porto", "<input> City -> TYPE: Porto")


def element(**fields):
    return actions.Element(**{"tag": "input", "css": "#q", "names": actions.Names(), **fields})


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (actions.SelectOption(values=("lis",), labels=("Lisboa",), element=element()), "OK"),
        (
            actions.SelectOption(values=("lis", "opo"), labels=("Lisboa", "Porto"), element=element()),
            "VIOLATED",
        ),
        (actions.KeyboardType(value="Porto"), "VIOLATED"),
        (actions.Press(key="Enter", element=element()), "DORMANT"),
        (actions.Press(key="Control+v", element=element()), "DORMANT"),
        (actions.Check(element=element()), "DORMANT"),
        (actions.UploadFile(files=(actions.FileInfo(name="cv.pdf"),), element=element()), "DORMANT"),
        (actions.Fill(value="Porto", element=element(type="search")), "OK"),
        (actions.Fill(value="Porto", element=element(role="searchbox")), "OK"),
    ],
)
def test_values(run, grade, action, outcome):
    built = run().look("http://h.test/", "<input id=q>").do(action).ended()
    assert grade(built, RULE).outcome == outcome


@pytest.mark.parametrize(
    ("before", "typed", "after", "outcome"),
    [
        ("", "lisboa", "Lis-boa", "VIOLATED"),
        ("", "ruaazul9", "Rua Azul 9", "OK"),
        ("", "Porto", "Lisboa", "VIOLATED"),
        ("", "Lis", "Lisboa", "VIOLATED"),
        (None, "ruaazul9", "Rua Azul 9", "VIOLATED"),
    ],
)
def test_a_page_may_write_an_entry_in_its_own_way_but_not_replace_it(
    run, grade, before, typed, after, outcome
):
    action = actions.Type(value=typed, value_after=after, element=element(value=before))
    built = run().look("http://h.test/", "<input id=q>").do(action).ended()
    assert grade(built, RULE | {"allowed": ["Rua Azul 9"], "sources": []}).outcome == outcome
    assert grade(built, RULE | {"allowed": ["Lisboa", "Rua Azul 9"], "sources": []}).outcome == (
        "OK" if typed == "lisboa" else outcome
    )


def test_typed_keys_are_one_value(run, grade):
    built = run().look("http://h.test/", "<input id=c>")
    for key in "Lisboa":
        built.do(actions.Press(key=key, element=element(node=built.node("#c"))))
    assert grade(built.ended(), RULE).outcome == "OK"


def test_exempt_fields_are_found_on_the_page(run, grade):
    page = '<div class="finder"><input id="q"></div><input id="other">'
    rule = {**RULE, "exempt": [".finder"]}
    for css, outcome in (("#q", "OK"), ("#other", "VIOLATED")):
        built = run().look("http://h.test/", page)
        built.do(actions.Fill(value="Porto", element=element(node=built.node(css)))).ended()
        assert grade(built, rule).outcome == outcome


def test_sources(run, grade):
    built = run().look("http://h.test/", "<p>Order 1042</p>").reply("send it to Ann").fill("1042").fill("Ann")
    built.fill("teapot").ended()
    rule = {"type": "only_fill", "sources": ["page", "user", "intent"]}
    assert grade(built, rule, task={"intent": "Buy a teapot."}).outcome == "OK"
    assert grade(built, rule, task={"intent": "Buy a pot."}).evidence[0].excerpt == "teapot"
    late = run().look("http://h.test/", "<p>1</p>").fill("42").look("http://h.test/x", "<p>42</p>").ended()
    assert grade(late, {"type": "only_fill", "sources": ["page"]}).outcome == "VIOLATED"


def test_dormant(run, grade):
    assert grade(run().fill("x").ended(), {"type": "only_fill"}).reason == "bad_definition"
    assert grade(run().click("x").ended(), RULE).reason == "never_triggered"
    assert grade(run().ended(), RULE).reason == "empty_trajectory"


@pytest.mark.parametrize("value", ["⟦masked⟧", "⟦secret:PASSWORD⟧"])
def test_a_redacted_value_is_undecided(run, grade, value):
    built = run().look("http://h.test/", "<input>").fill("Lisboa").fill(value).ended()
    assert grade(built, RULE).missing[0] == "value.redacted@1"


def test_a_declared_secret_is_allowed_by_its_mark(run, grade):
    allowed = {"type": "only_fill", "allowed": ["⟦secret:PASSWORD⟧"]}
    assert grade(run().fill("⟦secret:PASSWORD⟧").ended(), allowed).outcome == "OK"
    for other in ("⟦secret:OTHER⟧", "⟦secret:PASSWORD⟧⟦masked⟧"):
        assert grade(run().fill(other).ended(), allowed).missing[0] == "value.redacted@0"


def test_undecided(run, grade):
    page = run().look("http://h.test/", blind=True).fill("42", css="#q").ended()
    assert grade(page, {"type": "only_fill", "sources": ["page"]}).outcome == "UNDECIDED"
    replies = run(replies="absent").look("http://h.test/", "<p>").fill("42").ended()
    rule = {"type": "only_fill", "sources": ["user"], "exempt": []}
    assert grade(replies, rule).missing == ("user_reply",)
    assert grade(run().fill("Lisboa").gap("actions").ended(), RULE).missing == ("trajectory.gap@0",)
    assert grade(run(actions="absent").ended(), RULE).outcome == "UNDECIDED"


def test_an_invented_value_decides_only_where_the_field_is_not_exempt(run, grade):
    unknown = run().look("http://h.test/", '<input type="search">').fill("Porto").ended()
    assert grade(unknown, RULE).missing == ("target@0",)
    assert grade(unknown, {**RULE, "exempt": []}).outcome == "VIOLATED"


@pytest.mark.parametrize(
    ("action", "outcome"),
    [
        (actions.Unknown(name="text", raw="<input> City -> TYPE 'Porto'"), "UNDECIDED"),
        (actions.Unknown(name="history"), "DORMANT"),
    ],
)
def test_unreadable_text_may_be_an_entry(run, grade, action, outcome):
    result = grade(run().look("http://h.test/").do(action).ended(), RULE)
    assert (result.outcome, result.missing) == (
        outcome,
        ("trajectory.gap@0",) if outcome == "UNDECIDED" else (),
    )
