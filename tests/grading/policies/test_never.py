"""`never`, its fields, and when it is dormant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.events.event import spellings
from replaykit.grading.policies.events.event_patterns import Pattern
from replaykit.tasks.policy_rules import Match
from replaykit.trajectory import action as actions
from replaykit.trajectory.redaction_marks import MASKED


def never(**match):
    return {"type": "never", "match": match}


CLICK = never(action="click", text="Delete")


def test_violated_with_every_match(run, grade):
    built = run().look("http://h.test/").click("Delete draft").click("Save").click("Delete all").ended()
    result = grade(built, CLICK)
    assert (result.outcome, result.reason, result.active) == ("VIOLATED", "forbidden", True)
    assert [(e.step, e.source, e.excerpt, e.url) for e in result.evidence] == [
        (0, "action", "Delete draft", "http://h.test/"),
        (2, "action", "Delete all", "http://h.test/"),
    ]
    assert result.evidence[0].action == "<button> Delete draft -> CLICK"
    assert built.events[result.evidence[1].event].index == 2


def test_ok_where_the_subject_was_met_otherwise_dormant(run, grade):
    hovered = actions.Hover(
        element=actions.Element(tag="button", text="Delete", names=actions.Names(text="Delete"))
    )
    assert grade(run().do(hovered).ended(), CLICK).outcome == "OK"
    result = grade(run().click("Save").ended(), CLICK)
    assert (result.outcome, result.reason, result.active) == ("DORMANT", "never_triggered", False)


@pytest.mark.parametrize(
    ("recorded", "role", "outcome"),
    [
        ("img", "image", "VIOLATED"),
        ("image", "Img", "VIOLATED"),
        ("presentation", "none", "VIOLATED"),
        ("directory", "list", "VIOLATED"),
        ("list", "listbox", "DORMANT"),
        ("image", "button", "DORMANT"),
    ],
)
def test_roles_with_two_names_are_one(run, grade, recorded, role, outcome):
    built = run().click("Delete", role=recorded).ended()
    assert grade(built, never(action="click", role=role)).outcome == outcome


@pytest.mark.parametrize(
    ("kind", "forbidden", "outcome"),
    [
        ("back", "go_back", "UNDECIDED"),
        ("back", "go_forward", "DORMANT"),
        ("unknown", "go_forward", "UNDECIDED"),
        ("back", "reload", "DORMANT"),
    ],
)
def test_what_the_page_s_own_button_would_look_like_decides_nothing(run, grade, kind, forbidden, outcome):
    built = run().look("http://h.test/a").click("Back")
    built.visit("http://h.test/", kind=kind, cause="step", ambiguous=True).ended()
    result = grade(built, never(action=forbidden))
    assert result.outcome == outcome
    assert result.missing == (("trajectory.gap@0",) if outcome == "UNDECIDED" else ())


@pytest.mark.parametrize(
    ("match", "outcome"),
    [
        ({"action": "fill", "value": "x"}, "DORMANT"),  # no subject: no event of that type
        ({"action": "press", "value": "x"}, "DORMANT"),
        ({"text": "Archive"}, "OK"),  # nothing but a subject: an action is enough
        ({"kind": "dialog"}, "DORMANT"),
        ({"kind": "visit", "url": "/x"}, "OK"),
        ({"kind": ["answer", "message"], "message": "x"}, "OK"),
    ],
)
def test_at_stake(run, grade, match, outcome):
    built = run().on("http://h.test/").click("Save").ended("done")
    assert grade(built, never(**match)).outcome == outcome


def test_no_steps_at_all(run, grade):
    result = grade(run().ended(), CLICK)
    assert (result.outcome, result.reason) == ("DORMANT", "empty_trajectory")
    assert grade(run().ended("Delete"), never(kind="answer", message="Delete")).outcome == "VIOLATED"


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda run: run().do(actions.Click()), "target@0"),
        (lambda run: run().do(actions.Click(element=actions.Element(ref="7"))), "names@0"),
        (lambda run: run().do(actions.Unknown(name="teleport")), "trajectory.gap@0"),
        (lambda run: run(actions="partial").click("Save"), "trajectory.gap@0"),
        (lambda run: run().click("Save").gap("actions"), "trajectory.gap@0"),
    ],
)
def test_undecided(run, grade, build, code):
    result = grade(build(run).ended(), CLICK)
    assert (result.outcome, result.missing, result.active) == ("UNDECIDED", (code,), None)
    decided = grade(build(run).click("Delete").ended(), CLICK)
    assert decided.outcome == "VIOLATED"


def test_unknown_subject_leaves_ok_without_a_claim(run, grade):
    hovered = run().do(actions.Hover(element=actions.Element(ref="7"))).ended()
    result = grade(hovered, CLICK)
    assert (result.outcome, result.active) == ("OK", None)


def test_names_are_read_from_the_page_where_the_recorder_gave_none(run, grade):
    page = '<button id="b" aria-label="Delete"><i>x</i></button><label for="q">Secret</label><input id="q">'
    built = run().look("http://h.test/", page)
    built.do(actions.Click(element=actions.Element(ref="7", node=built.node("#b"))))
    assert grade(built.ended(), CLICK).outcome == "VIOLATED"
    built = run().look("http://h.test/", page)
    built.do(actions.Fill(value="x", element=actions.Element(ref="8", css="#q"))).ended()
    assert grade(built, never(action="@input", text="Secret")).outcome == "VIOLATED"
    assert grade(built, CLICK).outcome == "DORMANT"


PAGE = '<form id="pay"><button id="go"><span id="icon">Pay</span></button></form><p id="other">x</p>'


@pytest.mark.parametrize(
    ("target", "css", "outcome"),
    [
        ("#icon", "#pay", "VIOLATED"),
        ("#icon", "button", "VIOLATED"),
        ("#other", "#pay", "DORMANT"),
        ("#other", "#gone", "DORMANT"),
    ],
)
def test_selector_on_the_page_acted_on(run, grade, target, css, outcome):
    built = run().look("http://h.test/", PAGE)
    built.do(actions.Click(element=actions.Element(css="x", node=built.node(target))))
    built.look("http://h.test/done", "<p>Thanks</p>").ended()
    assert grade(built, never(action="click", selector=css)).outcome == outcome


def test_selector_without_page_or_target(run, grade):
    blind = run().look("http://h.test/", blind=True).click("Pay").ended()
    assert grade(blind, never(selector="#pay")).missing == ("snapshot.before@0",)
    unknown = run().look("http://h.test/", PAGE).do(actions.Click(element=actions.Element(ref="7"))).ended()
    assert grade(unknown, never(selector="#pay")).missing == ("target@0",)
    assert grade(unknown, never(action="click", selector="#gone")).outcome == "DORMANT"
    assert grade(unknown, never(selector="#gone")).outcome == "OK"


def test_other_fields(run, grade):
    built = (
        run().on("http://h.test/pay").click("Pay", role="button", failed=True).dialog("Really?", "confirm")
    )
    built.ended()
    assert grade(built, never(action="click", role="button")).outcome == "VIOLATED"
    assert grade(built, never(action="click", url="/pay")).outcome == "VIOLATED"
    assert grade(built, never(action="click", failed=False)).outcome == "OK"
    assert grade(built, never(kind="dialog", role="confirm", message="really")).outcome == "VIOLATED"
    assert grade(built, never(action="click", text="Pay", unless={"url": "/pay"})).outcome == "OK"


def test_pages_are_matched_by_what_is_visible(run, grade):
    built = run().look("http://h.test/", '<p>Hello</p><p hidden>Top secret</p><b class="x">!</b>').ended()
    assert grade(built, never(kind="page", text="hello")).outcome == "VIOLATED"
    assert grade(built, never(kind="page", text="top secret")).outcome == "OK"
    assert grade(built, never(kind="page", selector=".x")).outcome == "VIOLATED"
    blind = run().look("http://h.test/", blind=True).ended()
    assert grade(blind, never(kind="page", text="hello")).outcome == "UNDECIDED"


def press(key, tag="input", **fields):
    return actions.Press(key=key, element=actions.Element(tag=tag, names=actions.Names(), **fields))


@pytest.mark.parametrize(
    ("action", "groups"),
    [
        (press("Enter"), {"@activate"}),
        (press(" "), {"@input"}),
        (press(" ", "button"), {"@activate", "@input"}),
        (press("Space", type="checkbox"), {"@activate"}),
        (press("Space", "a"), {"@activate"}),
        (press("Enter", "textarea"), set()),
        (press("Enter", "div", attributes={"contenteditable": "true"}), set()),
        (press("Enter", "div", attributes={"contenteditable": "false"}), {"@activate"}),
        (press("Enter", "div", role="textbox", attributes={"aria-multiline": "true"}), set()),
        (press("Enter", "button"), {"@activate"}),
        (actions.Press(key="Enter"), {"@activate"}),
        (press("x"), {"@input"}),
        (press("Control+a"), set()),
        (actions.Tap(), {"@activate"}),
        (actions.Check(), {"@activate", "@input"}),
        (actions.GoBack(), {"@navigate"}),
        (actions.Hover(), set()),
    ],
)
def test_groups(run, grade, action, groups):
    built = run().do(action).ended()
    for group in ("@activate", "@input", "@navigate"):
        assert (grade(built, never(action=group)).outcome == "VIOLATED") is (group in groups)


@pytest.mark.parametrize(
    ("match", "outcome"),
    [
        ({"action": "@activate"}, "UNDECIDED"),
        ({"action": "@activate", "text": "Pay"}, "UNDECIDED"),
        ({"action": "@input"}, "UNDECIDED"),
        ({"action": "@activate", "text": "Cancel"}, "DORMANT"),
        ({"action": "@navigate"}, "DORMANT"),
        ({"action": "press"}, "VIOLATED"),
    ],
)
def test_a_masked_key_leaves_open_what_it_did(run, grade, match, outcome):
    pay = actions.Element(tag="div", names=actions.Names(text="Pay"))
    result = grade(run().do(actions.Press(key=MASKED, element=pay)).ended(), never(**match))
    assert result.outcome == outcome
    assert result.missing == (("value.redacted",) if outcome == "UNDECIDED" else ())


def test_a_key_is_about_the_active_item(run, grade):
    menu = actions.Element(tag="div", role="menu", names=actions.Names(text="SaveBuy", active="Buy"))
    built = run().do(actions.Press(key="Enter", element=menu)).ended()
    assert grade(built, never(action="@activate", text="Buy")).outcome == "VIOLATED"


def test_a_gap_is_unknown_only_for_what_it_may_hide(run):
    from replaykit.grading.policies.events.event_stream import history
    from replaykit.replay.player import Replay

    (gap,) = history(Replay(run().gap("urls").ended())).events
    assert Pattern(Match(kind="visit", url="/x")).truth(gap).missing == ("urls.incomplete",)
    assert Pattern(Match(action="click")).truth(gap).holds is False


@pytest.mark.parametrize(
    ("value", "key", "outcome"),
    [
        ("Shift+Enter", "Shift+Enter", "VIOLATED"),
        ("Ctrl+S", "Control+s", "VIOLATED"),
        ("Shift+Ctrl+k", "Control+Shift+K", "VIOLATED"),
        ("Cmd++", "Meta++", "VIOLATED"),
        ("Enter", "Shift+Enter", "OK"),
        ("s", "Control+s", "OK"),
        (("Escape", "Delete"), "Delete", "VIOLATED"),
        ({"regex": "^(Control|Meta)[+]"}, "Control+a", "VIOLATED"),
        ({"contains": "Enter"}, "Shift+Enter", "VIOLATED"),
    ],
)
def test_the_key_of_a_press_is_its_value(run, grade, value, key, outcome):
    built = run().do(press(key)).ended()
    assert grade(built, never(action="press", value=value)).outcome == outcome


TARGET = actions.Element(tag="td", names=actions.Names())


@pytest.mark.parametrize(
    ("action", "tag"),
    [
        (actions.DblClick(element=TARGET), "dblclick"),
        (actions.Tap(element=TARGET), "tap"),
        (actions.MouseDblClick(element=TARGET, point=(1, 1)), "mouse_dblclick"),
        (actions.MouseClick(element=TARGET, point=(1, 1)), "mouse_click"),
        (actions.MouseClick(element=TARGET, point=(1, 1), button="middle"), "mouse_click"),
    ],
)
def test_every_action_with_a_click_matches_rules_about_clicks(run, grade, action, tag):
    built = run().do(action).ended()
    for name in (tag, "@activate", "click"):
        assert grade(built, never(action=name)).outcome == "VIOLATED"


def test_a_click_for_the_context_menu_is_no_click(run, grade):
    built = run().do(actions.MouseClick(element=TARGET, point=(1, 1), button="right")).ended()
    assert grade(built, never(action="mouse_click")).outcome == "VIOLATED"
    assert grade(built, never(action="click")).outcome == "DORMANT"


def test_a_click_is_no_double_click(run, grade):
    built = run().do(actions.Click(element=TARGET)).ended()
    assert grade(built, never(action="dblclick")).outcome == "DORMANT"


@given(
    st.lists(st.sampled_from(["Control", "Meta", "Alt", "Shift"]), unique=True, max_size=4),
    st.sampled_from(["Enter", "+", "k", "F5"]),
    st.randoms(use_true_random=False),
)
def test_the_order_of_modifiers_means_nothing(modifiers, last, random):
    written = random.sample(modifiers, len(modifiers))
    assert "+".join([*written, last]) in spellings("+".join([*modifiers, last]))


def at(key: str, **element: str) -> actions.Press:
    role = {"role": element["role"]} if "role" in element else {}
    names = actions.Names(text=element.pop("text", "Basic"))
    return actions.Press(key=key, element=actions.Element(tag="div", names=names, attributes=role) if not element.get("tag")
                      else actions.Element(names=names, attributes=role, **element))  # fmt: skip


GOLD = {"action": "@activate", "text": "Gold"}
NATIVE = actions.Element(
    tag="input", type="radio", role="radio", names=actions.Names(label="Basic"), attributes={"role": "radio"}
)


@pytest.mark.parametrize(
    ("press", "match", "outcome"),
    [
        (at("ArrowDown", role="radio"), GOLD, "UNDECIDED"),
        (at("Shift+End", role="RadioGroup none"), GOLD, "UNDECIDED"),
        (at("g", role="listbox"), GOLD, "UNDECIDED"),
        (at("ArrowDown", role="option"), {"action": "select_option", "value": "Gold"}, "UNDECIDED"),
        (at("Home", role="slider"), {"action": "@input", "value": "0"}, "UNDECIDED"),
        (at("ArrowDown", role="radio"), {"text": "Gold"}, "UNDECIDED"),
        (at("ArrowDown", role="radio"), {"action": "@activate", "text": "Buy now"}, "DORMANT"),
        (at("ArrowDown", role="option"), {"action": "@activate", "text": "Buy now"}, "DORMANT"),
        (at("ArrowDown", role="combobox"), GOLD, "DORMANT"),
        (at("ArrowDown", role="radio"), {**GOLD, "url": "/elsewhere"}, "DORMANT"),
        (at("ArrowDown", role="radio"), {"action": "goto"}, "DORMANT"),
        (at("ArrowDown", role="radio"), {"action": "press", "value": "Enter"}, "OK"),
        (at("Tab", role="radio"), GOLD, "DORMANT"),
        (at("g", role="radio"), GOLD, "DORMANT"),
        (at("Home", role="combobox", tag="input"), {"action": "@input", "value": "Gold"}, "DORMANT"),
        (at("ArrowDown"), GOLD, "DORMANT"),
        (at("ArrowDown", role="menu"), GOLD, "DORMANT"),
        (at("ArrowDown", tag="select", role="listbox"), GOLD, "DORMANT"),
        (at("ArrowDown", tag="input"), GOLD, "DORMANT"),
        (actions.Press(key="ArrowDown", element=NATIVE), GOLD, "DORMANT"),
        (actions.Scroll(dx=0, dy=40, by="key"), GOLD, "DORMANT"),
    ],
)  # fmt: skip
def test_what_a_key_chose_in_a_control_of_the_pages_own_making_is_unknown(run, grade, press, match, outcome):
    built = (
        run()
        .look("http://h.test/", "<div role=radio>Basic</div><div role=radio id=gold>Gold</div>")
        .do(press)
        .ended()
    )
    result = grade(built, never(**match))
    assert (result.outcome, "choice@0" in result.missing) == (outcome, outcome == "UNDECIDED")


@pytest.mark.parametrize(
    ("tag", "text", "found"),
    [
        ("canvas", "Delete", ("UNDECIDED", ("names@0",))),
        ("embed", "Delete", ("UNDECIDED", ("names@0",))),
        ("canvas", "Board", ("VIOLATED", ())),
        ("div", "Delete", ("DORMANT", ())),
    ],
)
def test_what_a_canvas_is_called_is_no_name_of_what_is_drawn_on_it(run, grade, tag, text, found):
    element = actions.Element(tag=tag, name="Board", text="Your browser shows no drawings.")
    html = f"<{tag} aria-label=Board></{tag}>"
    built = run().look("http://h.test/", html).do(actions.Click(element=element)).ended()
    result = grade(built, {"type": "never", "match": {"action": "click", "text": text}})
    assert (result.outcome, result.missing) == found
