"""Faults of policies that a schema cannot see: all of them, each with its path, before anything is graded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Sequence as Rows
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import fields

from replaykit.patterns import lazy_pattern
from replaykit.tasks import policy_rules
from replaykit.tasks.checks import texts
from replaykit.tasks.faults.policy_reach import reach_of
from replaykit.tasks.faults.text_faults import name_fault, words_fault
from replaykit.tasks.faults.url_term_faults import url_term_faults
from replaykit.tasks.faults.value_faults import expect_faults, locator_faults, selected_fault
from replaykit.tasks.grammar.element_names import ROLES_OF_ELEMENTS, unknown_elements
from replaykit.tasks.grammar.letters import is_blank, plain_letters
from replaykit.tasks.grammar.regex_reach import condition_fault
from replaykit.trajectory.action import Action

ACTIONS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(Action))
"""Tags of actions."""

KIND_FIELDS: dict[policy_rules.EventKind, tuple[str, ...]] = {
    "action": ("action", "url", "text", "selector", "role", "value", "failed"),
    "visit": ("url", "failed"),
    "message": ("url", "message"),
    "answer": ("url", "message"),
    "user_reply": ("url", "message"),
    "dialog": ("url", "message", "value", "role"),
    "page": ("url", "text", "selector"),
}
"""Fields of a match that each kind of event has."""


_OF_BROWSER = frozenset({"goto", "new_tab", "go_back", "go_forward", "reload", "close_tab", "focus_tab"})
"""Actions without a target on the page."""

_WITHOUT = {
    **dict.fromkeys(("text", "selector", "role"), _OF_BROWSER),
    "value": _OF_BROWSER | {
        "click", "dblclick", "tap", "mouse_click", "mouse_dblclick", "mouse_move", "mouse_down", "mouse_up",
        "hover", "focus", "clear", "check", "uncheck", "scroll",
    },
    "url": frozenset({"goto", "new_tab"}),
}  # fmt: skip
"""Field of a match to actions that do not have it."""

_INSTEAD = {
    "text": "", "selector": "", "role": "",
    "value": ": what was entered is a value of fill, type, select_option, press ...",
    "url": " of its own, only that of the page that is left: write {kind: visit, url: ...}",
}  # fmt: skip
"""Such a field to what is meant, for the message."""

_FIELDS = tuple(field.name for field in fields(policy_rules.Match) if field.name != "kind")


class Fault(Struct, frozen=True, kw_only=True):
    """Something a policy cannot mean."""

    path: str
    """JSON path from the list of policies: `$[0].rule.match`."""
    code: str
    """`duplicate_id empty_match empty_text field_not_for_kind ...`."""
    message: str
    """For people."""


def faults(policies: Rows[policy_rules.Policy]) -> tuple[Fault, ...]:
    """Return every fault of these policies, in order."""
    return tuple(_faults(policies))


def _faults(policies: Rows[policy_rules.Policy]) -> Iterator[Fault]:
    seen: dict[str, int] = {}
    for number, policy in enumerate(policies):
        at = f"$[{number}]"
        if policy.id in seen:
            first = f"{policy.id!r} is already the id of policy {seen[policy.id]}"
            yield _fault(f"{at}.id", "duplicate_id", first)
        seen.setdefault(policy.id, number)
        yield from _rule(policy.rule, f"{at}.rule")
        for reach in reach_of(policy):
            if not reach.is_always:
                yield _fault(at + reach.path, "never_violated", reach.why)
        yield from _yields(policy, policies, f"{at}.yields_to")
        if policy.when is not None:
            yield from _scope(policy.when, f"{at}.when")


def _rule(rule: Struct, at: str) -> Iterator[Fault]:
    if isinstance(rule, policy_rules.PageState):
        yield from _state(rule, at)
    for name, part_faults in _PARTS.get(type(rule), {}).items():
        yield from part_faults(getattr(rule, name), f"{at}.{name}")
    if isinstance(rule, policy_rules.AtLeast) and rule.n == 0:
        yield _fault(f"{at}.n", "empty_rule", "every run has at least 0: give 1 or more")
    needed = _NEEDED.get(type(rule), ())
    if needed and not any(getattr(rule, name) for name in needed):
        yield _fault(at, "empty_rule", f"it says nothing: give {' or '.join(needed)}")


def _record(record: Mapping[str, Any], at: str) -> Iterator[Fault]:
    """Yield a fault for a record of ST-WebAgentBench that demands nothing: it would have no result."""
    from replaykit.errors import TaskError
    from replaykit.tasks.benchmarks.stwab_rules import translate  # for such records only

    shown = "write {type: informational} for a text that only the agent sees"
    if not record.get("eval"):
        yield _fault(at, "empty_rule", f"it has no `eval`, so nothing would be graded: {shown}")
        return
    try:
        rules = translate(record).rules
    except TaskError as error:
        reason = str(error.fields["reason"])
        yield _fault(f"{at}.{str(error.fields['path']).removeprefix('$.')}", "bad_definition", reason)
        return
    if not rules:
        yield _fault(f"{at}.eval", "empty_rule", f"its `eval` demands nothing: {shown}")


def _yields(policy: policy_rules.Policy, policies: Rows[policy_rules.Policy], at: str) -> Iterator[Fault]:
    sources = {other.id: other.source for other in policies}
    for number, name in enumerate(policy.yields_to):
        if name not in sources:
            yield _fault(f"{at}[{number}]", "yields_to_unknown", f"no policy {name!r}")
        elif policy_rules.SOURCES.index(sources[name]) >= policy_rules.SOURCES.index(policy.source):
            order = " over ".join(policy_rules.SOURCES)
            yield _fault(
                f"{at}[{number}]",
                "yields_to_not_higher",
                f"{name!r} is of source {sources[name]}, no higher than {policy.source} ({order})",
            )


def _state(rule: policy_rules.PageState, at: str) -> Iterator[Fault]:
    for path, message in expect_faults(rule.expect):
        if path != ".regex":
            yield _fault(f"{at}.expect{path}", "empty_text", message)
    if rule.expect.regex is not None:
        yield from _regex(rule.expect.regex, f"{at}.expect.regex")
    for name in ("equals", "contains", "any_of"):
        for words in texts(getattr(rule.expect, name) or ()) if rule.forbid else ():
            if fault := words_fault(words):
                yield _fault(f"{at}.expect.{name}", "bad_text", fault)
    is_script = rule.locator.startswith(("document.", "[...document.", "func:"))
    if is_script:
        # A locator that only a live page answers may have been read during the run.
        found = (message for message, is_error in locator_faults(rule.locator) if is_error)
        yield from (_fault(f"{at}.locator", "bad_selector", message) for message in found)
    elif rule.locator:
        yield from _selector(rule.locator, f"{at}.locator")
    if rule.property is not None and (is_script or not rule.locator):
        yield _fault(f"{at}.property", "field_not_for_kind", "a property needs a CSS selector as locator")


def _matches(match: policy_rules.Match | tuple[policy_rules.Match, ...], at: str) -> Iterator[Fault]:
    if isinstance(match, policy_rules.Match):
        yield from _match(match, at)
        return
    if not match:
        yield _fault(at, "empty_match", "no alternative is given")
    yield from _each_match(match, at)


def _each_match(matches: Rows[policy_rules.Match], at: str) -> Iterator[Fault]:
    for number, one in enumerate(matches):
        yield from _match(one, f"{at}[{number}]")


def _scope(scope: policy_rules.Scope, at: str) -> Iterator[Fault]:
    yield from _url_faults(_listed(scope.url), f"{at}.url")
    for name in ("after", "until"):
        match = getattr(scope, name)
        if match is not None:
            yield from _match(match, f"{at}.{name}")


def _match(match: policy_rules.Match, at: str) -> Iterator[Fault]:
    kinds = (match.kind,) if isinstance(match.kind, str) else match.kind
    given = [name for name in _FIELDS if getattr(match, name) not in ((), None)]
    if not kinds or (kinds == ("action",) and not set(given) - {"unless"}):
        yield _fault(at, "empty_match", "no field is given: it would match everything")
    for name in given:
        wrong = [kind for kind in kinds if name != "unless" and name not in KIND_FIELDS[kind]]
        if wrong:
            yield _fault(f"{at}.{name}", "field_not_for_kind", f"{' and '.join(wrong)} events have no {name}")
    if kinds == ("action",):
        yield from _action_fields(match, given, at)
    yield from _match_fields(match, at)


def _action_fields(match: policy_rules.Match, given: Rows[str], at: str) -> Iterator[Fault]:
    """Yield a fault for each field that none of the actions named has."""
    names = [str(name).lower() for name in _listed(match.action)]
    # Keys are actions of some groups, and have a value.
    tags = {tag for name in names for tag in policy_rules.GROUPS.get(name, (name,))}
    if not tags <= ACTIONS or {"@activate", "@input"} & {*names}:
        return
    for name, without in _WITHOUT.items():
        if name in given and tags and tags <= without:
            shown = " and ".join(sorted(tags))
            yield _fault(f"{at}.{name}", "field_not_for_action", f"{shown} has no {name}{_INSTEAD[name]}")


def _match_fields(match: policy_rules.Match, at: str) -> Iterator[Fault]:
    for name in _listed(match.action):
        if str(name).startswith("@") and str(name).lower() not in policy_rules.GROUPS:
            known = ", ".join(policy_rules.GROUPS)
            yield _fault(f"{at}.action", "unknown_group", f"no group {name!r}; there are {known}")
        elif not str(name).startswith("@") and str(name).lower() not in ACTIONS:
            from difflib import get_close_matches  # for what is wrong only

            names = (*policy_rules.GROUPS, *ACTIONS)
            near = get_close_matches(str(name).lower().replace("double", "dbl"), names, 3, 0.6)
            known = (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(ACTIONS))}"
            )
            yield _fault(f"{at}.action", "unknown_action", f"no action {name!r}; {known}")
    yield from _url_faults(_listed(match.url), f"{at}.url")
    for role in _listed(match.role):
        yield from _role(str(role), f"{at}.role")
    for name in ("text", "value", "message"):
        if getattr(match, name) != ():
            yield from _text(getattr(match, name), f"{at}.{name}")
    if isinstance(match.selector, policy_rules.Text):
        yield from _text(match.selector, f"{at}.selector")
    elif match.selector is not None:
        yield from _selector(match.selector, f"{at}.selector")
    if match.unless is not None:
        yield from _match(match.unless, f"{at}.unless")


def _text(text: str | tuple[str, ...] | policy_rules.Text, at: str) -> Iterator[Fault]:
    if not isinstance(text, policy_rules.Text):
        yield from _words(_listed(text), at)
        return
    if (text.equals, text.contains, text.regex, text.any_of, text.fuzzy) == (None, None, None, (), None):
        yield _fault(at, "empty_text", "no operator is given: use equals, contains, any_of, regex or fuzzy")
    if text.fuzzy is not None:
        yield from _words(text.fuzzy.any_of or ("",), f"{at}.fuzzy.any_of")
    if text.contains is not None:
        yield from _words((text.contains,), f"{at}.contains")
    yield from _words(text.any_of, f"{at}.any_of")
    if text.equals is not None and (fault := words_fault(text.equals)):
        yield _fault(f"{at}.equals", "bad_text", fault)
    if text.regex is not None:
        yield from _regex(text.regex, f"{at}.regex")
    yield from _contradicted(text, at)


def _contradicted(text: policy_rules.Text, at: str) -> Iterator[Fault]:
    """Yield a fault where the whole text is given, and other conditions that it does not meet."""
    if text.equals is None:
        return
    whole = plain_letters(text.equals)
    contained = () if text.contains is None else (text.contains,)
    for name, words in (("contains", contained), ("any_of", text.any_of)):
        if words and not any(plain_letters(word) in whole for word in words):
            yield _fault(f"{at}.{name}", "never_matches", f"{text.equals!r} (equals) has none of {name}")


def _role(role: str, at: str) -> Iterator[Fault]:
    """Yield a fault for an empty role, for an element, and for what is spelt like a role of ARIA."""
    if is_blank(role):
        yield _fault(at, "empty_text", "an empty role matches no element")
    elif role.lower() not in ROLES:
        from difflib import get_close_matches  # for what is wrong only

        plain = role.strip().lower()
        meant = ROLES_OF_ELEMENTS.get(plain)
        for near in [meant] if meant else get_close_matches(plain, ROLES, 1, 0.85):
            yield _fault(at, "unknown_role", f"no role {role!r}; did you mean {near}?")


def _words(words: Iterable[object], at: str) -> Iterator[Fault]:
    if any(is_blank(str(word)) for word in words):
        yield _fault(at, "empty_text", "an empty text occurs everywhere")
    fault_of = name_fault if at.endswith(".text") else words_fault
    for fault in filter(None, (fault_of(str(word)) for word in words)):
        yield _fault(at, "bad_text", fault)


def _regex(pattern: str, at: str) -> Iterator[Fault]:
    fault = condition_fault(pattern)
    if fault is not None:
        yield _fault(at, *fault)


def _selector(css: str, at: str) -> Iterator[Fault]:
    reason = selected_fault(css)
    if not reason and (names := unknown_elements(css)):
        field = "role" if css.strip().lower() in ROLES else "text"
        reason = f"{css!r} is not a selector: HTML has no element {names[0]!r}; did you mean {field}: {css}?"
    if reason:
        yield _fault(at, "bad_selector", reason)


def _selectors(each: Rows[str], at: str) -> Iterator[Fault]:
    for number, css in enumerate(each):
        yield from _selector(css, f"{at}[{number}]")


def _url_faults(terms: Rows[policy_rules.UrlTerm], at: str) -> Iterator[Fault]:
    yield from (_fault(*fault) for fault in url_term_faults(terms, at))


def _secrets(secrets: Rows[str | policy_rules.Secret], at: str) -> Iterator[Fault]:
    seen = set[str]()
    for number, one in enumerate(secrets):
        secret = policy_rules.Secret(value=one) if isinstance(one, str) else one
        yield from _secret(secret, f"{at}[{number}]")
        name = secret.id or secret.secret_env
        if name is not None and name in seen:
            yield _fault(f"{at}[{number}]", "duplicate_id", f"{name!r} is already the id of another secret")
        seen |= set() if name is None else {name}


def _secret(secret: policy_rules.Secret, at: str) -> Iterator[Fault]:
    value, variable = secret.value, secret.secret_env
    if value is None and variable is None:
        yield _fault(at, "empty_text", "neither value nor secret_env is given")
    if value is not None and variable is not None:
        yield _fault(at, "two_values", "both value and secret_env are given: leave one out")
    if value is not None and not any(char.isalnum() for char in value):
        reason = (
            f"{value!r} has no letter and no digit" if value.strip() else "an empty secret occurs everywhere"
        )
        yield _fault(at, "empty_text", reason)
    elif value is not None and (named := _REFERENCE.fullmatch(value.strip())):
        name = next(filter(None, named.groups()))
        reason = f"{value!r} names a secret, and is not its value: write {{secret_env: {name}}}"
        yield _fault(at, "bad_secret", reason)
    if variable is not None and not _VARIABLE.fullmatch(variable):
        yield _fault(f"{at}.secret_env", "bad_secret", f"{variable!r} is no name of an environment variable")


_FILE_FIRST = lazy_pattern(r"[^/?#:]+\.(?:php|html?|aspx?|jspx?|cgi|cfm)(?=/)", re.IGNORECASE)
"""A name of a page, with more path after it: as a host nothing would ever be there."""

_REFERENCE = lazy_pattern(
    r"\$([A-Z_][A-Z0-9_]*)|\$\{(\w+)\}|\$\{\{\s*(?:\w+\.)?(\w+)\s*\}\}|⟦secret:([^⟧]+)⟧|%([A-Z_][A-Z0-9_]*)%"
)
"""References to a secret in shells, workflows and recordings."""

_VARIABLE = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")

ROLES = frozenset({
    "alert", "alertdialog", "application", "article", "banner", "blockquote", "button", "caption", "cell",
    "checkbox", "code", "columnheader", "combobox", "complementary", "contentinfo", "definition", "deletion",
    "dialog", "directory", "document", "emphasis", "feed", "figure", "form", "generic", "grid", "gridcell",
    "group", "heading", "img", "image", "insertion", "link", "list", "listbox", "listitem", "log", "main",
    "marquee", "math", "menu", "menubar", "menuitem", "menuitemcheckbox", "menuitemradio", "meter",
    "navigation", "none", "note", "option", "paragraph", "presentation", "progressbar", "radio", "radiogroup",
    "region", "row", "rowgroup", "rowheader", "scrollbar", "search", "searchbox", "separator", "slider",
    "spinbutton", "status", "strong", "subscript", "superscript", "switch", "tab", "table", "tablist",
    "tabpanel", "term", "textbox", "time", "timer", "toolbar", "tooltip", "tree", "treegrid", "treeitem",
    "confirm", "prompt", "beforeunload",
})  # fmt: skip
"""Roles of ARIA 1.2, and types of dialogs."""


def _fault(path: str, code: str, message: str) -> Fault:
    return Fault(path=path, code=code, message=message)


def _listed(value: str | policy_rules.Url | Rows[policy_rules.UrlTerm]) -> Rows[policy_rules.UrlTerm]:
    return (value,) if isinstance(value, str | policy_rules.Url) else value


_PARTS: Mapping[type[Struct], Mapping[str, Callable[[Any, str], Iterator[Fault]]]] = {
    policy_rules.Never: {"match": _matches},
    policy_rules.Eventually: {"match": _matches},
    policy_rules.AtMost: {"match": _matches},
    policy_rules.AtLeast: {"match": _matches},
    policy_rules.Exactly: {"match": _matches},
    policy_rules.Before: {"guarded": _matches, "requires": _matches},
    policy_rules.After: {"trigger": _matches, "response": _matches},
    policy_rules.Sequence: {"items": _each_match},
    policy_rules.UrlBoundary: {"allow": _url_faults, "deny": _url_faults, "require": _url_faults},
    policy_rules.Consent: {"guarded": _match, "about": _words, "approve": _words, "deny": _words},
    policy_rules.OnlyFill: {"exempt": _selectors},
    policy_rules.ReportsError: {"indicators": _words, "report": _words},
    policy_rules.NoLeak: {"secrets": _secrets},
    policy_rules.Stwab: {"record": _record},
}
"""Rule to its parts, and where the faults of each are found."""

_NEEDED: Mapping[type[Struct], tuple[str, ...]] = {
    policy_rules.UrlBoundary: ("allow", "deny", "require"),
    policy_rules.OnlyFill: ("allowed", "sources"),
    policy_rules.ReportsError: ("to",),
    policy_rules.NoLeak: ("secrets",),
}
"""Rule to lists of which one must hold something, or the rule says nothing."""
