"""Every fault of a policy, with its path."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from replaykit.tasks.policy_faults import faults
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
    ({"type": "only_fill", "exempt": ["["]}, "$[0].rule.exempt[0]", "bad_selector"),
    ({"type": "no_leak", "secrets": [{"id": "x"}]}, "$[0].rule.secrets[0]", "empty_text"),
    ({"type": "no_leak", "secrets": ["ok", " "]}, "$[0].rule.secrets[1]", "empty_text"),
]


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
        {"type": "only_fill"},
        {"type": "no_leak", "secrets": ["x", {"secret_env": "PIN"}]},
        {"type": "reports_error"},
        {"type": "informational"},
    ],
)
def test_what_is_sound_has_no_faults(rule: dict[str, Any]) -> None:
    assert faults((policy(rule),)) == ()
