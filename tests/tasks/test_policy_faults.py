"""Every fault of a policy, with its path."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from replaykit.tasks.faults.policy_faults import faults
from replaykit.tasks.policy_rules import Policy


def policy(rule: dict[str, Any], **fields: Any) -> Policy:
    plain = {"id": "p", "dimension": "user_consent", "rule": rule, **fields}
    return msgspec.convert(plain, Policy)


def never(**match: Any) -> dict[str, Any]:
    return {"type": "never", "match": match}


CASES = [
    (never(), "$[0].rule.match", "empty_match"),
    (never(unless={"action": "click"}), "$[0].rule.match", "empty_match"),
    ({"type": "never", "match": []}, "$[0].rule.match", "empty_match"),
    (never(kind=[]), "$[0].rule.match", "empty_match"),
    (never(text={"word": True}), "$[0].rule.match.text", "empty_text"),
    (never(text=""), "$[0].rule.match.text", "empty_text"),
    (never(value=["a", " "]), "$[0].rule.match.value", "empty_text"),
    (never(text={"any_of": ["a", ""]}), "$[0].rule.match.text.any_of", "empty_text"),
    (never(kind="visit", text="x"), "$[0].rule.match.text", "field_not_for_kind"),
    (never(kind=["answer", "dialog"], role="alert"), "$[0].rule.match.role", "field_not_for_kind"),
    (never(kind="page", action="click"), "$[0].rule.match.action", "field_not_for_kind"),
    (never(text={"regex": "("}), "$[0].rule.match.text.regex", "bad_regex"),
    (never(message={"regex": "(a+)+"}, kind="answer"), "$[0].rule.match.message.regex", "unsafe_regex"),
    (never(url={"host": "https://shop.test"}), "$[0].rule.match.url[0].host", "bad_url_part"),
    (never(url={"host": "shop.test/x"}), "$[0].rule.match.url[0].host", "bad_url_part"),
    (never(url={"path": "/x?a=1"}), "$[0].rule.match.url[0].path", "bad_url_part"),
    (never(url="index.php/admin"), "$[0].rule.match.url[0]", "ambiguous_url_term"),
    (never(url={"regex": "(.*)*"}), "$[0].rule.match.url[0].regex", "unsafe_regex"),
    (never(action="@activte"), "$[0].rule.match.action", "unknown_group"),
    (never(action="double_click"), "$[0].rule.match.action", "unknown_action"),
    (never(action=["click", "delete"]), "$[0].rule.match.action", "unknown_action"),
    (never(selector="p:has-text('x')"), "$[0].rule.match.selector", "bad_selector"),
    (never(url={"contains": "/a/*"}), "$[0].rule.match.url[0].contains", "wildcard_in_text"),
    (never(selector="a["), "$[0].rule.match.selector", "bad_selector"),
    (never(selector=""), "$[0].rule.match.selector", "bad_selector"),
    (never(action="click", unless={"selector": ":"}), "$[0].rule.match.unless.selector", "bad_selector"),
    (never(url="/"), "$[0].rule.match.url[0]", "empty_url_term"),
    (never(url={}), "$[0].rule.match.url[0]", "empty_url_term"),
    ({"type": "url_boundary", "deny": ["/a", "http://"]}, "$[0].rule.deny[1]", "empty_url_term"),
    ({"type": "url_boundary", "allow": [""]}, "$[0].rule.allow[0]", "empty_url_term"),
    ({"type": "consent", "guarded": {}}, "$[0].rule.guarded", "empty_match"),
    ({"type": "consent", "guarded": {"action": "click"}, "about": [""]}, "$[0].rule.about", "empty_text"),
    ({"type": "only_fill", "sources": ["page"], "exempt": ["["]}, "$[0].rule.exempt[0]", "bad_selector"),
    ({"type": "no_leak", "secrets": [{"id": "x"}]}, "$[0].rule.secrets[0]", "empty_text"),
    ({"type": "no_leak", "secrets": ["ok", " "]}, "$[0].rule.secrets[1]", "empty_text"),
    # Rules without a condition.
    ({"type": "url_boundary"}, "$[0].rule", "empty_rule"),
    ({"type": "url_boundary", "allow": [], "deny": []}, "$[0].rule", "empty_rule"),
    ({"type": "only_fill"}, "$[0].rule", "empty_rule"),
    ({"type": "only_fill", "exempt": []}, "$[0].rule", "empty_rule"),
    ({"type": "no_leak", "secrets": []}, "$[0].rule", "empty_rule"),
    ({"type": "reports_error", "to": []}, "$[0].rule", "empty_rule"),
    ({"type": "at_least", "n": 0, "match": {"text": "Pay"}}, "$[0].rule.n", "empty_rule"),
    # Texts that no one sees.
    (never(text="\u200b"), "$[0].rule.match.text", "empty_text"),
    (never(text=["a", "\u3164\ufeff"]), "$[0].rule.match.text", "empty_text"),
    ({"type": "reports_error", "indicators": [""]}, "$[0].rule.indicators", "empty_text"),
    ({"type": "reports_error", "report": ["\u2060"]}, "$[0].rule.report", "empty_text"),
    ({"type": "consent", "guarded": {"text": "Pay"}, "approve": [" "]}, "$[0].rule.approve", "empty_text"),
    ({"type": "page_state", "expect": {"contains": ""}}, "$[0].rule.expect.contains[0]", "empty_text"),
    ({"type": "page_state", "expect": {"excludes": "\u200b"}}, "$[0].rule.expect.excludes[0]", "empty_text"),
    # Expressions of every text, and of none.
    (never(text={"regex": ""}), "$[0].rule.match.text.regex", "empty_text"),
    (never(text={"regex": ".*"}), "$[0].rule.match.text.regex", "empty_text"),
    (never(text={"regex": "a^"}), "$[0].rule.match.text.regex", "bad_regex"),
    (never(text={"regex": "/Pay/i"}), "$[0].rule.match.text.regex", "bad_regex"),
    ({"type": "page_state", "expect": {"regex": "x*"}}, "$[0].rule.expect.regex", "empty_text"),
    # Fields that the actions do not have.
    (never(action="click", value="x"), "$[0].rule.match.value", "field_not_for_action"),
    (never(action=["click", "dblclick"], value="x"), "$[0].rule.match.value", "field_not_for_action"),
    (never(action="goto", text="Pay"), "$[0].rule.match.text", "field_not_for_action"),
    (never(action="@navigate", selector="#a"), "$[0].rule.match.selector", "field_not_for_action"),
    (never(action="goto", url="/admin"), "$[0].rule.match.url", "field_not_for_action"),
    (never(role=""), "$[0].rule.match.role", "empty_text"),
    (never(role="buton"), "$[0].rule.match.role", "unknown_role"),
    (never(selector="#a::before"), "$[0].rule.match.selector", "bad_selector"),
    (
        {"type": "page_state", "locator": "document.querySelector('##').value", "expect": {"equals": "x"}},
        "$[0].rule.locator",
        "bad_selector",
    ),
    # URLs that nothing meets, or everything.
    *(
        (never(kind="visit", url=term), "$[0].rule.match.url[0]", code)
        for term, code in [
            ("*", "empty_url_term"), ("/**", "empty_url_term"), ("http://*", "empty_url_term"),
            ("\u200b", "empty_url_term"), ("http//shop.test", "bad_url_term"), ("^http://shop.test", "bad_url_term"),
            ("/orders$", "bad_url_term"), (".*admin.*", "bad_url_term"), ("/orders/.*", "bad_url_term"),
            ("/orders,/admin", "bad_url_term"), ("/orders /admin", "bad_url_term"), ("/orders|/admin", "bad_url_term"),
            ("shop.test, pay.test/x,", "bad_url_term"), ("/{orders,admin}", "bad_url_term"),
            ("/orders/[0-9]", "bad_url_term"), ("/orders/{id}", "bad_url_term"),
        ]
    ),
    (never(url={"host": ""}), "$[0].rule.match.url[0].host", "empty_url_term"),
    (never(url={"path": "/"}), "$[0].rule.match.url[0].path", "empty_url_term"),
    (never(url={"path": "/**"}), "$[0].rule.match.url[0].path", "empty_url_term"),
    (never(url={"fragment": "#/"}), "$[0].rule.match.url[0].fragment", "empty_url_term"),
    (never(url={"contains": " "}), "$[0].rule.match.url[0].contains", "empty_url_term"),
    (never(url={"equals": "/orders"}), "$[0].rule.match.url[0].equals", "bad_url_part"),
    (never(url={"query": {"a": []}}), "$[0].rule.match.url[0].query.a", "empty_url_term"),
    (never(url={"regex": ".*"}), "$[0].rule.match.url[0].regex", "empty_text"),
    (never(url={"regex": "^/admin"}), "$[0].rule.match.url[0].regex", "bad_regex"),
    (never(url={"regex": "^admin$"}), "$[0].rule.match.url[0].regex", "bad_regex"),
    ({"type": "url_boundary", "allow": [{"path": "/"}]}, "$[0].rule.allow[0].path", "empty_url_term"),
    # Conditions that contradict each other.
    (never(text="Pay", unless={"text": "Pay"}), "$[0].rule.match.unless", "never_violated"),
    (never(action="click", text="Pay", unless={"action": "click"}), "$[0].rule.match.unless", "never_violated"),
    ({"type": "only_fill", "sources": ["page"], "exempt": ["*"]}, "$[0].rule.exempt", "never_violated"),
    (never(text={"equals": "Pay", "contains": "Refund"}), "$[0].rule.match.text.contains", "never_matches"),
    (never(text={"equals": "Pay", "any_of": ["a1", "b"]}), "$[0].rule.match.text.any_of", "never_matches"),
    # Texts that are written as something else.
    *(
        (never(text=text), "$[0].rule.match.text", "bad_text")
        for text in [
            "Confirm.*", "^Confirm$", "Order \\d+", "/confirm/i", "Confirm|Approve", ["Pay", "Confirm refund|Pay"],
            "<button>Confirm</button>", "<button> Confirm", '<a class="x"> Confirm',
            "\u201cPay\u201d", "\u201ePay now\u201c", "\u2018Pay\u2019", "*Pay*",
        ]
    ),
    (never(text={"equals": "Confirm.*"}), "$[0].rule.match.text.equals", "bad_text"),
    (never(text={"any_of": ["a", "b.+c"]}), "$[0].rule.match.text.any_of", "bad_text"),
    (never(kind="answer", message="a|b"), "$[0].rule.match.message", "bad_text"),
    ({"type": "reports_error", "indicators": ["error.*"]}, "$[0].rule.indicators", "bad_text"),
    (
        {"type": "page_state", "locator": "#s", "expect": {"equals": "Refund.*"}, "forbid": True},
        "$[0].rule.expect.equals",
        "bad_text",
    ),
    (never(role="a"), "$[0].rule.match.role", "unknown_role"),
    (never(role=["button", "H2"]), "$[0].rule.match.role", "unknown_role"),
    (never(selector="Confirm refund"), "$[0].rule.match.selector", "bad_selector"),
    (never(selector="listbox"), "$[0].rule.match.selector", "bad_selector"),
    ({"type": "only_fill", "sources": ["page"], "exempt": ["Notes"]}, "$[0].rule.exempt[0]", "bad_selector"),
    ({"type": "url_boundary", "deny": ["*/admin/*"]}, "$[0].rule.deny[0]", "bad_url_term"),
    # Secrets that are none.
    *(
        ({"type": "no_leak", "secrets": [secret]}, "$[0].rule.secrets[0]" + place, code)
        for secret, place, code in [
            ("---", "", "empty_text"), ("\u200b", "", "empty_text"), ("$BADGE", "", "bad_secret"),
            ("${BADGE}", "", "bad_secret"), ("${{ secrets.BADGE }}", "", "bad_secret"),
            ("⟦secret:badge⟧", "", "bad_secret"), ({"secret_env": ""}, ".secret_env", "bad_secret"),
            ({"secret_env": "$BADGE"}, ".secret_env", "bad_secret"),
            ({"secret_env": "BADGE", "value": "QX-7781"}, "", "two_values"),
        ]
    ),
    (
        {"type": "no_leak", "secrets": [{"id": "b", "value": "x1"}, {"id": "b", "value": "x2"}]},
        "$[0].rule.secrets[1]",
        "duplicate_id",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "path", "code"), CASES)
def test_each_fault_has_its_path(rule: dict[str, Any], path: str, code: str) -> None:
    (fault,) = faults((policy(rule),))
    assert (fault.path, fault.code) == (path, code)
    assert fault.message


def test_scopes_are_looked_at_too() -> None:
    when = {"url": "/", "after": {"action": "@x"}, "until": {"kind": "visit", "role": "x"}}
    found = faults((policy(never(action="click"), when=when),))
    assert [(fault.path, fault.code) for fault in found] == [
        ("$[0].when.url[0]", "empty_url_term"),
        ("$[0].when.after.action", "unknown_group"),
        ("$[0].when.until.role", "field_not_for_kind"),
    ]


def test_all_faults_of_all_policies_are_found() -> None:
    found = faults((policy(never()), policy(never(action="@x", selector="["))))
    assert [(fault.path, fault.code) for fault in found] == [
        ("$[0].rule.match", "empty_match"),
        ("$[1].id", "duplicate_id"),
        ("$[1].rule.match.action", "unknown_group"),
        ("$[1].rule.match.selector", "bad_selector"),
    ]
    assert "policy 0" in found[1].message


@pytest.mark.parametrize(
    "rule",
    [
        never(action="@Activate", text=["Refund", "Issue credit"]),
        never(kind="dialog"),
        never(kind=["message", "answer"], message={"regex": "quota (is )?exceeded"}),
        never(selector="form:has(> #x):not(.y), [type=search]"),
        {"type": "url_boundary", "allow": [{"host": "h.test"}], "deny": ["/a", "view=Payroll", "hr", "#x"]},
        {"type": "only_fill", "sources": ["page"]},
        {"type": "no_leak", "secrets": ["x", {"secret_env": "PIN"}]},
        {"type": "reports_error"},
        {"type": "no_leak", "secrets": ["$ecret!", "pa$$w0rd", "100 %", {"id": "b", "secret_env": "B"}]},
        never(action="@activate", value="Enter"),
        never(action=["click", "press"], value="Enter"),
        never(action=["click", "fill"], value="x"),
        never(action=["goto", "click"], text="Pay"),
        never(action="goto", failed=True),
        never(text={"regex": "^[^x]*$"}),
        never(text={"regex": "^(?!ok)"}),
        never(value={"regex": "^$"}),
        never(text={"regex": "^Pay( now)?$"}),
        never(text=["***", "×", "ähm"]),
        never(
            text=["Home | Shop", "All files (*.*)", "Name*", "C:\\docs\\sales", "a...b", "$5", "[x]", "^ up"]
        ),
        never(value=["<b>", "1.5", "a.b*c", "\\\\server\\data"]),
        never(selector="search"),
        never(selector="linearGradient, x-card p"),
        never(role=["Button", "x-card", "tab"]),
        never(kind="dialog", role="confirm"),
        never(selector="x-card > p"),
        *(
            {"type": "url_boundary", "deny": [term]}
            for term in [
                "shop.*",
                "*.shop.test",
                "localhost:*",
                "/orders/*/edit",
                "/admin/**",
                "/files/.git",
                "/a,b",
                "/my files",
                "/a;v=1",
                "data:",
                "view=pay*",
                "http://shop.test:*/x",
                "/orders/(1)",
                "/a%7Bb%7D",
                {"regex": "^https://shop\\.test/"},
                {"regex": "/orders/\\d+$"},
                {"regex": "^http"},
                {"regex": "^data:"},
                {"equals": "shop.test/orders"},
                {"contains": "a b"},
                {"query": {"a": ""}},
                {"contains": "/orders/"},
                {"fragment": "/users"},
                {"path": "/orders/*"},
            ]
        ),
        {"type": "informational"},
        never(text="Pay", unless={"text": "Pay later"}),
        *(
            never(text=text)
            for text in ["E-mail*", "* required", "Say \u201cyes\u201d", "Don\u2019t pay", "***"]
        ),
        never(text="Pay", unless={"text": "Pay", "url": "/test"}),
        never(kind=["action", "visit"], url="/a", unless={"kind": "visit", "url": "/a"}),
        never(text={"equals": "Pay  now!", "contains": "pay NOW", "any_of": ["x", "pay"]}),
        {"type": "only_fill", "sources": ["page"], "exempt": ["input.free"]},
    ],
)
def test_what_is_sound_has_no_faults(rule: dict[str, Any]) -> None:
    assert faults((policy(rule),)) == ()
