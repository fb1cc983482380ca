"""Every kind of policy rule and what grades it: a new rule is one file and one line here."""

from __future__ import annotations

from replaykit.grading.policies import (
    consent,
    never,
    no_leak,
    only_fill,
    page_state,
    policy_plugins,
    reports_error,
    trace_rules,
    url_boundary,
)
from replaykit.grading.policies.rule_kind import RuleKind
from replaykit.tasks import policy_rules as rules

RULES: dict[type, RuleKind] = {
    rules.Never: never.KIND,
    rules.UrlBoundary: url_boundary.KIND,
    rules.Consent: consent.KIND,
    rules.OnlyFill: only_fill.KIND,
    rules.NoLeak: no_leak.KIND,
    rules.ReportsError: reports_error.KIND,
    rules.PageState: page_state.KIND,
    rules.Plugin: policy_plugins.KIND,
    rules.Eventually: trace_rules.EVENTUALLY,
    rules.Before: trace_rules.BEFORE,
    rules.After: trace_rules.AFTER,
    rules.Sequence: trace_rules.SEQUENCE,
    rules.AtMost: trace_rules.AT_MOST,
    rules.AtLeast: trace_rules.AT_LEAST,
    rules.Exactly: trace_rules.EXACTLY,
}
"""`informational` is never graded, and `stwab` is translated into these."""
