"""Faults of policies that a schema cannot see: all of them, each with its path, before anything is graded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Rows
from functools import lru_cache
from typing import get_args

from msgspec import Struct
from msgspec.structs import fields

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.tasks import policy_rules
from replaykit.tasks.grammar import xpath_grammar
from replaykit.tasks.grammar.regexes import regex_fault
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
        yield from _rule(policy, f"{at}.rule")
        yield from _yields(policy, policies, f"{at}.yields_to")
        if policy.when is not None:
            yield from _scope(policy.when, f"{at}.when")


def _rule(policy: policy_rules.Policy, at: str) -> Iterator[Fault]:
    match policy.rule:
        case (
            policy_rules.Never()
            | policy_rules.Eventually()
            | policy_rules.AtMost()
            | policy_rules.AtLeast()
            | policy_rules.Exactly() as rule
        ):
            yield from _matches(rule.match, f"{at}.match")
        case policy_rules.Before() as rule:
            yield from _matches(rule.guarded, f"{at}.guarded")
            yield from _matches(rule.requires, f"{at}.requires")
        case policy_rules.After() as rule:
            yield from _matches(rule.trigger, f"{at}.trigger")
            yield from _matches(rule.response, f"{at}.response")
        case policy_rules.Sequence() as rule:
            for number, item in enumerate(rule.items):
                yield from _match(item, f"{at}.items[{number}]")
        case policy_rules.PageState() as rule:
            yield from _state(rule, at)
        case policy_rules.UrlBoundary() as rule:
            for name in ("allow", "deny", "require"):
                yield from _urls(getattr(rule, name), f"{at}.{name}")
        case policy_rules.Consent() as rule:
            yield from _match(rule.guarded, f"{at}.guarded")
            yield from _words(rule.about, f"{at}.about")
        case policy_rules.OnlyFill() as rule:
            for number, css in enumerate(rule.exempt):
                yield from _selector(css, f"{at}.exempt[{number}]")
        case policy_rules.NoLeak() as rule:
            for number, secret in enumerate(rule.secrets):
                yield from _secret(secret, f"{at}.secrets[{number}]")


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
    if rule.expect == type(rule.expect)():
        yield _fault(
            f"{at}.expect", "empty_text", "no operator is given: use equals, contains, not_empty ..."
        )
    if rule.expect.regex is not None:
        yield from _regex(rule.expect.regex, f"{at}.expect.regex")
    script = rule.locator.startswith(("document.", "[...document.", "func:"))
    if rule.locator and not script:
        yield from _selector(rule.locator, f"{at}.locator")
    elif rule.property is not None:
        yield _fault(f"{at}.property", "field_not_for_kind", "a property needs a CSS selector as locator")


def _matches(match: policy_rules.Match | tuple[policy_rules.Match, ...], at: str) -> Iterator[Fault]:
    if isinstance(match, policy_rules.Match):
        yield from _match(match, at)
        return
    if not match:
        yield _fault(at, "empty_match", "no alternative is given")
    for number, one in enumerate(match):
        yield from _match(one, f"{at}[{number}]")


def _scope(scope: policy_rules.Scope, at: str) -> Iterator[Fault]:
    yield from _urls(_listed(scope.url), f"{at}.url")
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
    yield from _match_fields(match, at)


def _match_fields(match: policy_rules.Match, at: str) -> Iterator[Fault]:
    for name in _listed(match.action):
        if str(name).startswith("@") and str(name).lower() not in policy_rules.GROUPS:
            known = ", ".join(policy_rules.GROUPS)
            yield _fault(f"{at}.action", "unknown_group", f"no group {name!r}; there are {known}")
        elif not str(name).startswith("@") and str(name).lower() not in ACTIONS:
            from difflib import get_close_matches  # for what is wrong only

            near = get_close_matches(str(name).lower().replace("double", "dbl"), ACTIONS, 3, 0.5)
            known = (
                f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(ACTIONS))}"
            )
            yield _fault(f"{at}.action", "unknown_action", f"no action {name!r}; {known}")
    yield from _urls(_listed(match.url), f"{at}.url")
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
    if text.regex is not None:
        yield from _regex(text.regex, f"{at}.regex")


def _words(words: Iterable[object], at: str) -> Iterator[Fault]:
    if any(not str(word).strip() for word in words):
        yield _fault(at, "empty_text", "an empty text occurs everywhere")


def _regex(pattern: str, at: str) -> Iterator[Fault]:
    found = regex_fault(pattern)
    if found is not None:
        yield _fault(at, *found)


def _selector(css: str, at: str) -> Iterator[Fault]:
    reason = bad_selector(css)
    if reason:
        yield _fault(at, "bad_selector", reason)


_FILE_FIRST = lazy_pattern(r"[^/?#:]+\.(?:php|html?|aspx?|jspx?|cgi|cfm)(?=/)", re.IGNORECASE)
"""A name of a page, with more path after it: as a host nothing would ever be there."""


@lru_cache(maxsize=1024)
def bad_selector(css: str) -> str:
    """Return what is wrong with a selector or path; empty where nothing is."""
    # Most policies name no selector, and the parser of CSS takes longer to load than they to grade.
    from cssselect2.parser import SelectorError, parse

    from replaykit.tasks.grammar.selectors import plain_words, selector_fault

    try:
        if xpath_grammar.is_xpath(css):
            xpath_grammar.parse(css)
            return ""
        if not list(parse(css)):
            return "an empty selector matches nothing"
        fault = selector_fault(css)
        return "" if fault is None else f"not a CSS selector: {css!r}: {fault}"
    except SelectorError as error:
        return f"not a CSS selector: {css!r}: {plain_words(error)}"
    except (Unsupported, LocatorLimit) as error:
        return str(error)


def _urls(terms: Rows[policy_rules.UrlTerm], at: str) -> Iterator[Fault]:
    for number, term in enumerate(terms):
        place = f"{at}[{number}]"
        if isinstance(term, policy_rules.Url):
            if term == policy_rules.Url():
                yield _fault(place, "empty_url_term", "no part is given")
            if term.regex is not None:
                yield from _regex(term.regex, f"{place}.regex")
            yield from _stars(term, place)
            yield from _parts(term, place)
        elif found := _FILE_FIRST.match(term):
            reason = (
                f"{found[0]!r} may be a host or a file: write /{term} for a path, https://{term} for a host"
            )
            yield _fault(place, "ambiguous_url_term", reason)
        elif not re.sub(r"^[a-z][a-z0-9+.-]*://|[/?#=&.\s]", "", term, flags=re.IGNORECASE):
            yield _fault(place, "empty_url_term", f"{term!r} names no host, segment, query or fragment")


def _stars(term: policy_rules.Url, at: str) -> Iterator[Fault]:
    for name in ("equals", "contains"):
        if "*" in (getattr(term, name) or ""):
            reason = f"{name} takes `*` for no wildcard: use host, path or regex, or write %2A"
            yield _fault(f"{at}.{name}", "wildcard_in_text", reason)


def _parts(term: policy_rules.Url, at: str) -> Iterator[Fault]:
    for name, signs in (("host", "/?#@"), ("path", "?#")):
        value = getattr(term, name) or ""
        if any(sign in value for sign in signs):
            reason = (
                f"{value!r} is more than a {name}: write the whole as a term, or query and fragment apart"
            )
            yield _fault(f"{at}.{name}", "bad_url_part", reason)


def _secret(secret: str | policy_rules.Secret, at: str) -> Iterator[Fault]:
    if isinstance(secret, policy_rules.Secret) and secret.value is None and secret.secret_env is None:
        yield _fault(at, "empty_text", "neither value nor secret_env is given")
    value = secret if isinstance(secret, str) else secret.value
    if value is not None and not value.strip():
        yield _fault(at, "empty_text", "an empty secret occurs everywhere")


def _fault(path: str, code: str, message: str) -> Fault:
    return Fault(path=path, code=code, message=message)


def _listed(value: str | policy_rules.Url | Rows[policy_rules.UrlTerm]) -> Rows[policy_rules.UrlTerm]:
    return (value,) if isinstance(value, str | policy_rules.Url) else value
