"""Policies that cannot both be kept."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from replaykit.tasks.faults.policy_contradictions import contradictions
from replaykit.tasks.policy_rules import Policy

SAVE = {"action": "click", "text": "Save"}
NEVER = {"type": "never", "match": SAVE}
ALWAYS = {"type": "eventually", "match": SAVE}


def policy(name: str, rule: dict[str, Any], **fields: Any) -> Policy:
    return msgspec.convert({"id": name, "dimension": "user_consent", "rule": rule, **fields}, Policy)


@pytest.mark.parametrize(
    ("one", "other", "clashes"),
    [
        (NEVER, ALWAYS, True),
        (ALWAYS, NEVER, True),
        ({"type": "never", "match": [SAVE, {"action": "fill"}]}, ALWAYS, True),
        (NEVER, {"type": "eventually", "match": [SAVE, {"action": "fill"}]}, False),
        (NEVER, {"type": "eventually", "match": {"action": "click", "text": "Send"}}, False),
        (NEVER, {"type": "at_least", "n": 1, "match": SAVE}, True),
        (NEVER, {"type": "at_least", "n": 0, "match": SAVE}, False),
        (NEVER, {"type": "sequence", "items": [SAVE], "active": "always"}, True),
        (NEVER, {"type": "sequence", "items": [SAVE]}, False),
        ({"type": "url_boundary", "deny": ["/a"]}, {"type": "url_boundary", "require": ["/a"]}, True),
        ({"type": "url_boundary", "deny": ["/a"]}, {"type": "url_boundary", "require": ["/a", "/b"]}, False),
        ({"type": "url_boundary", "deny": ["/a", "/b"]}, {"type": "url_boundary", "allow": ["/b"]}, True),
        (NEVER, NEVER, False),
    ],
)
def test_pairs(one: dict[str, Any], other: dict[str, Any], clashes: bool) -> None:
    found = contradictions((policy("a", one), policy("b", other)))
    assert bool(found) is clashes
    assert all(fault.code == "contradiction" for fault in found)


def test_the_higher_source_is_named_first() -> None:
    (fault,) = contradictions((policy("low", NEVER, source="task"), policy("high", ALWAYS)))
    assert fault.message.startswith("'high' (organization) and 'low' (task)")
    assert fault.path == "$[0]"


def test_a_policy_that_yields_or_is_elsewhere_or_disabled_clashes_with_no_other() -> None:
    assert not contradictions((policy("a", NEVER), policy("b", ALWAYS, source="user", yields_to=["a"])))
    assert not contradictions((policy("a", NEVER), policy("b", ALWAYS, enabled=False)))
    apart = ({"sites": ["x"]}, {"sites": ["y"]})
    assert not contradictions((policy("a", NEVER, when=apart[0]), policy("b", ALWAYS, when=apart[1])))
    assert contradictions((policy("a", NEVER, when=apart[0]), policy("b", ALWAYS, when={"tasks": ["t"]})))
