"""Where the run ended: WebArena `url_match`, and the strict rules beside it."""

from __future__ import annotations

from replaykit.grading.checks.benchmark_rules import PeerRaises
from replaykit.grading.checks.requirement import (
    Graded,
    Ruling,
    Terms,
    any_of,
    error,
    failed,
    graded,
    of_peer,
    undecided,
)
from replaykit.grading.values import urls
from replaykit.grading.verdict import Evidence, Outcome, Value
from replaykit.tasks.checks import OR, UrlMatch, texts
from replaykit.tasks.faults.url_faults import url_fault
from replaykit.tasks.grammar.regex_matcher import RegexRefused
from replaykit.trajectory.redaction_marks import holds_mark, unknown_code


def grade_url(
    check: UrlMatch,
    final: str | None,
    peer: str | None,
    terms: Terms,
    evidence: Evidence,
    fault: Ruling | None = None,
) -> Graded:
    """Grade the final URL; `peer` is the URL that the benchmark's own page would have at that time.

    None = not recorded. `fault`: the reason why the final page cannot be used as evidence.
    """
    missing = undecided("urls.incomplete", "urls.incomplete")
    strict = fault or (missing if final is None else _strict(check, final, terms))
    compat = missing if peer is None else _peer(check, peer, terms)
    return graded("url", strict, compat, terms.mode, evidence)


def _strict(check: UrlMatch, found: str, terms: Terms) -> Ruling:
    references = [part for text in texts(check.url) for part in text.split(OR)]
    if not references:
        return error("no_requirements", "url: no URL is given")
    return any_of([_strict_one(check, reference, found, terms) for reference in references])


def _strict_one(check: UrlMatch, reference: str, found: str, terms: Terms) -> Ruling:
    rules = urls.UrlRules(
        scheme=check.scheme, path=check.path, query=check.query, ignore=check.ignore, fragment=check.fragment
    )
    wanted, actual = urls.parse(reference, terms.sites), urls.parse(found, terms.sites)
    sides = [
        Value(raw=raw, normal=None if side is None else urls.shown(side), type="url")
        for raw, side in ((reference, wanted), (found, actual))
    ]
    if fault := url_fault(reference, rules.path):
        return error(fault[0], f"url: {fault[1]}", *sides)
    if wanted is None and rules.path != "regex":
        return error("bad_reference", "url: a reference is a URL", *sides)
    if actual is None:
        return failed("not_a_url", "url: both sides must be readable", *sides)
    try:
        if wanted is not None and rules.path != "regex":
            matches = urls.agree(wanted, actual, rules)
        else:
            matches = urls.matches(reference, found, rules, terms.sites)
    except RegexRefused as refused:
        return error("unsafe_regex", f"url: {refused}", *sides)
    if not matches and holds_mark(found) and (wanted is None or urls.may_agree(wanted, actual, rules)):
        return undecided("hidden", unknown_code(found))
    return Ruling(
        outcome=Outcome.PASS if matches else Outcome.FAIL,
        rule=f"url: origin, path {rules.path}, query {rules.query}, fragment {rules.fragment}",
        reason=None if matches else "differs",
        expected=sides[0],
        found=sides[1],
    )


def _peer(check: UrlMatch, found: str, terms: Terms) -> Ruling:
    reference = OR.join(texts(check.url))
    sides = [Value(raw=raw, type="url") for raw in (reference, found)]
    try:
        matches = terms.rules.url_matches(reference, found, terms.url_note)
    except PeerRaises as fault:
        return error("peer_exception", str(fault), *sides)
    except ValueError:
        return error("peer_exception", "urlparse", *sides)
    return of_peer(matches, terms.url_note or "url_match", *sides)
