"""Requests that a run made: strict rules, and beside them those of WebArena-Verified."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

from msgspec import UNSET

from replaykit.grading.checks.absence import resting_on
from replaykit.grading.checks.requests.named_fields import fields_difference, kinds_difference
from replaykit.grading.checks.requests.request_faults import faults_of
from replaykit.grading.checks.requests.run_requests import (
    Missing,
    RunRequest,
    is_complete,
    last_navigation,
    requests_of,
)
from replaykit.grading.checks.requests.webarena_verified_network import PeerRule, peer_accepts
from replaykit.grading.checks.requirement import (
    Graded,
    Ruling,
    Terms,
    error,
    failed,
    graded,
    of_peer,
    undecided,
)
from replaykit.grading.checks.structured_answer import compare_data
from replaykit.grading.peers.webarena_verified.normal_text import is_pattern
from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.grading.peers.webarena_verified.peer_urls import decoded_path
from replaykit.grading.peers.webarena_verified.structures import PeerFault
from replaykit.grading.values import urls as urls
from replaykit.grading.values.bounded_regex import RegexRefused, found_in, full_match
from replaykit.grading.values.jsonpath_limits import PathFault
from replaykit.grading.verdict import Evidence, Outcome, Value
from replaykit.patterns import lazy_pattern
from replaykit.replay.agent_made_pages import FORGED, is_forged
from replaykit.replay.page_charsets import readable_url
from replaykit.replay.player import Replay
from replaykit.tasks.checks import texts
from replaykit.tasks.network_checks import SUCCESS, ExpectedRequest, NetworkMatch
from replaykit.trajectory.completeness import lacking
from replaykit.trajectory.exchange import Navigation
from replaykit.trajectory.redaction_marks import holds_mark, unknown_code

_USER = lazy_pattern(r"[a-z][a-z0-9+.-]*://[^/?#]*@", re.IGNORECASE)
"""A URL that names who asks."""
_RULE = "request: URL, method, status, and what else is named"


class _Judged(NamedTuple):
    """Result of comparing one request: the field that differs (None = no field), and what is unknown."""

    request: RunRequest
    differs: str | None
    missing: str = ""


def grade_network(check: NetworkMatch, peer: PeerRule, replay: Replay, terms: Terms) -> Graded:
    """Grade a request as one requirement."""
    strict, request = _strict(check, replay, terms)
    return graded("request", strict, _peer(check, peer, replay), terms.mode, _evidence(request))


def _peer(check: NetworkMatch, peer: PeerRule, replay: Replay) -> Ruling:
    expected = Value(raw=_shown(check), type="request")
    try:
        accepts = peer_accepts(peer, requests_of(replay))
    except Missing as missing:
        return undecided("not_recorded", str(missing))
    except (PeerFault, Unparsed) as fault:
        return error("peer_exception", f"NetworkEventEvaluator: {fault}", expected)
    except RegexRefused as fault:
        return error("unsafe_regex", str(fault), expected)
    # Upstream has no word for a network that was not recorded: there, what is missing never was.
    if accepts is check.should_not_exist and not is_complete(replay):
        return undecided("not_recorded", "network")
    return of_peer(accepts, "NetworkEventEvaluator", expected, None)


def _strict(check: NetworkMatch, replay: Replay, terms: Terms) -> tuple[Ruling, RunRequest | None]:
    wanted = Value(raw=_shown(check), type="request")
    if fault := next(faults_of(check), None):
        return error("bad_reference", f"request: {': '.join(fault)}", wanted), None
    try:
        return _decided(check, replay, terms)
    except Missing as missing:
        return undecided("not_recorded", str(missing)), None
    except (RegexRefused, PathFault) as fault:
        return error("unsafe_pattern", str(fault), wanted), None


def _decided(check: NetworkMatch, replay: Replay, terms: Terms) -> tuple[Ruling, RunRequest | None]:
    needs_page = check.is_navigation and check.expected.method == "GET"
    if needs_page and not check.should_not_exist:
        return _navigated(check, replay, terms)
    chosen = [one for one in requests_of(replay) if _is_selected(check, one, terms)]
    if check.should_not_exist:
        return _absent(check, chosen, replay, terms)
    if not chosen:
        return _nothing(check, replay), None
    judged = [_known(check, one, terms) for one in (chosen[-1:] if check.last_event_only else chosen)]
    best = next((one for one in judged if one.differs is None), None)
    unknown = next((one.missing for one in judged if one.missing), "")
    if best is None and unknown:
        raise Missing(unknown)
    best = best or judged[-1]
    return _ruling(check, best.differs, best.request), best.request


def _absent(
    check: NetworkMatch, chosen: Sequence[RunRequest], replay: Replay, terms: Terms
) -> tuple[Ruling, RunRequest | None]:
    expected = Value(raw=_shown(check), type="request")
    judged = [_known(check, one, terms) for one in reversed(chosen)]
    made = next((one.request for one in judged if one.differs is None), None)
    if made is not None:
        found = Value(raw=f"{made.exchange.method} {made.url}", type="request")
        return failed("request_made", "no such request", expected, found), made
    if unknown := next((one.missing for one in judged if one.missing), ""):
        raise Missing(unknown)
    if (shown := _shown_without_request(check, replay, terms)) is not None:
        return failed("request_made", "no such page", expected, Value(raw=shown.url, type="url")), None
    none_made = Ruling(outcome=Outcome.PASS, rule="no such request", expected=expected)
    return resting_on(none_made, replay, terms), None


def _shown_without_request(check: NetworkMatch, replay: Replay, terms: Terms) -> Navigation | None:
    """Return a page that may not be visited and that was shown without a request (`pushState`)."""
    expected = check.expected
    if not check.is_navigation or expected.method != "GET":
        return None
    if expected.response_status is not None or _names_more(expected):
        return None  # only a request has these
    if codes := lacking(replay.trajectory, "urls"):
        raise Missing(codes[0])
    pages = (one for one in replay.navigations if one.committed and not one.frame and _is_more(one))
    return next((one for one in pages if _has_url(check, readable_url(one.url, replay), terms)), None)


def _is_more(page: Navigation) -> bool:
    """Whether a page shows more of its URL than a request: one that a script wrote, or a fragment."""
    return page.same_document or "#" in (page.url or "")


def _names_more(expected: ExpectedRequest) -> bool:
    fields = (expected.headers, expected.post_data, expected.response_content, expected.response_cookies)
    return any(fields)


def _nothing(check: NetworkMatch, replay: Replay) -> Ruling:
    codes = lacking(replay.trajectory, "network")
    if codes:
        return undecided("not_recorded", *codes)
    return failed("no_request", _RULE, Value(raw=_shown(check), type="request"))


def _navigated(check: NetworkMatch, replay: Replay, terms: Terms) -> tuple[Ruling, RunRequest | None]:
    """Judge the page that the run ended on: what a person sees in the address bar."""
    if replay.trajectory.channel("urls") == "absent":
        return undecided("not_recorded", "urls.incomplete"), None
    found = last_navigation(replay)
    if replay.final is not None and is_forged(replay.final, replay):
        raise Missing(FORGED)
    if found is None and replay.trajectory.channel("urls") != "recorded":
        return undecided("not_recorded", "urls.incomplete"), None
    if found is None:
        return failed("no_navigation", "the last page", Value(raw=_shown(check), type="request")), None
    page, request = found
    differs = _page_difference(check, page, request, replay, terms)
    expected, shown = Value(raw=_shown(check), type="request"), Value(raw=page.url, type="url")
    if differs is not None:
        return failed("differs", f"the last page: {differs}", expected, shown), request
    return Ruling(outcome=Outcome.PASS, rule="the last page", expected=expected, found=shown), request


def _page_difference(
    check: NetworkMatch, page: Navigation, request: RunRequest | None, replay: Replay, terms: Terms
) -> str | None:
    expected = check.expected
    wanted = expected.statuses() or SUCCESS
    hop = _hop(wanted, request, replay)
    url = hop.url if hop is not None and hop is not request else page.url
    if not _has_url(check, readable_url(url, replay), terms):
        return "url"
    status = hop.status if hop is not None else page.status
    if status is None:
        # A change within the document asks no one; only success can be meant.
        return None if page.same_document and any(one in wanted for one in SUCCESS) else "status"
    if status not in wanted:
        return "status"
    return _named_difference(check, hop, terms) if hop is not None else _unseen(expected)


def _hop(wanted: Container[int], request: RunRequest | None, replay: Replay) -> RunRequest | None:
    """Return the request that answers for a page: in a redirect chain the hop of a status that is wanted."""
    by_id = {one.exchange.id: one for one in requests_of(replay)}
    hop: RunRequest | None = request
    for _ in by_id:
        if hop is None or hop.status in wanted:
            break
        hop = by_id.get(hop.exchange.redirect_from) if hop.exchange.redirect_from is not None else None
    return hop or request


def _unseen(expected: ExpectedRequest) -> str | None:
    if _names_more(expected):
        raise Missing("network")
    return None


def _is_selected(check: NetworkMatch, request: RunRequest, terms: Terms) -> bool:
    expected = check.expected
    if not expected.is_asked_by(request.exchange.method, is_absent=check.should_not_exist):
        return False
    try:
        if not _is_url(check, texts(check.expected.url), request.url_in_utf8, terms, query="ignore"):
            return False
    except Missing:
        return True  # whether it is the one that is meant is judged, and unknown
    referer = _named(expected.headers or {}, "referer")
    found = request.headers.get("referer") if referer is not None else None
    return referer is None or found is None or _is_url(check, texts_of(referer), found, terms, query="ignore")


def _known(check: NetworkMatch, request: RunRequest, terms: Terms) -> _Judged:
    """Judge one of several requests: what is not known of it need not matter."""
    try:
        return _Judged(request, _difference(check, request, terms))
    except Missing as missing:
        return _Judged(request, "unknown", str(missing))


def _difference(check: NetworkMatch, request: RunRequest, terms: Terms) -> str | None:
    if not _has_url(check, request.url_in_utf8, terms):
        return "url"
    if not check.should_not_exist and request.exchange.method != check.expected.method:
        return "method"  # `put` is another method than `PUT`
    if request.exchange.source == "agent":
        raise Missing(FORGED)  # the site was not asked
    wanted = check.expected.statuses(is_absent=check.should_not_exist)
    is_open = request.may_have(wanted)
    if wanted is not None and not is_open and request.status not in wanted:
        return "status"
    differs = _named_difference(check, request, terms)
    if differs is None and is_open:
        raise Missing(f"unanswered:{request.exchange.id}")
    return differs


def _named_difference(check: NetworkMatch, request: RunRequest, terms: Terms) -> str | None:
    """Return the first of the fields that the task names that differs."""
    expected = check.expected
    for name, wanted in (expected.headers or {}).items():
        if not _has_header(check, name, wanted, request, terms):
            return f"headers.{name}"
    sides: tuple[tuple[str, Mapping[str, Any] | None, Callable[[], Any]], ...] = (
        ("post_data", _unignored(check), lambda: request.sent),
        ("response_content", expected.response_content, lambda: request.answered),
        ("response_cookies", expected.response_cookies, lambda: _cookies(request)),
    )
    for field, wanted_fields, read in sides:
        if wanted_fields:
            schema = (check.post_data_schema or {}) if field == "post_data" else {}
            fields = read() or _nothing_of(check, field, request)
            differs = fields_difference(wanted_fields, fields, schema, terms)
            if differs is None and field == "response_content":
                differs = kinds_difference(wanted_fields, fields)
            if differs is not None:
                return f"{field}.{differs}"
    return None


def _cookies(request: RunRequest) -> dict[str, str]:
    request.require_cookies()
    return request.cookies


def _nothing_of(check: NetworkMatch, field: str, request: RunRequest) -> dict[str, Any]:
    """Return no fields; raises `Missing` for a body that cannot be read and that may be forbidden."""
    body = {"post_data": request.exchange.post, "response_content": request.exchange.body}.get(field)
    if check.should_not_exist and body is not None:
        raise Missing(f"body:{request.exchange.id}")
    return {}


def _unignored(check: NetworkMatch) -> dict[str, Any]:
    patterns = check.ignored_post_data_params_patterns
    given = check.expected.post_data or {}
    return {key: value for key, value in given.items() if not any(found_in(one, key) for one in patterns)}


def _has_header(check: NetworkMatch, name: str, wanted: Any, request: RunRequest, terms: Terms) -> bool:
    found = request.header(name)
    if found is None:
        if name.lower() == "cookie":
            request.require_cookies()
        elif name.lower() == "authorization":
            request.require_credentials()
        return False
    if name.lower() in ("referer", "redirect_url"):
        return _is_url(check, texts_of(wanted), found, terms)
    return compare_data(wanted, found, {}, terms.sites).matches


def _named(headers: Mapping[str, Any], name: str) -> Any:
    return next((value for key, value in headers.items() if key.lower() == name), None)


def texts_of(value: Any) -> tuple[str, ...]:
    """Return one text, or several alternatives, as several."""
    return tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),)


def _has_url(check: NetworkMatch, found: str, terms: Terms) -> bool:
    query = "given" if check.should_not_exist else "exact"
    params = check.expected.query_params
    return _is_url(check, texts(check.expected.url), found, terms, query=query, params=params)


def _is_url(
    check: NetworkMatch,
    references: Sequence[str],
    found: str,
    terms: Terms,
    *,
    query: str = "exact",
    params: Mapping[str, Any] | None = None,
) -> bool:
    """Compare a URL with alternatives: by parts, an expression with all before the query."""
    actual, pairs = _split(check, _without_end(found), terms)
    if actual is None:
        return False  # what no browser could have asked for is skipped
    is_hidden = False
    for reference in references:
        if not is_pattern(reference) and _names_user(reference) is not _names_user(found):
            continue
        is_same, is_near, given = _same_place(check, reference, found, actual, terms)
        wanted = _as_lists(params) if params is not None else _grouped(given)
        there = _grouped(pairs)
        if query == "given":  # what is forbidden is no other request for one more parameter
            there = {key: values for key, values in there.items() if key in wanted}
        if is_same and (query == "ignore" or _same_query(check, wanted, there, terms)):
            return True
        is_hidden |= is_near and (query == "ignore" or _may_be_query(check, wanted, there, terms))
    # A masked part may be the one that the check expects; where nothing is masked, the URL differs.
    if is_hidden and holds_mark(found):
        raise Missing(unknown_code(found))
    return False


def _same_place(
    check: NetworkMatch, reference: str, found: str, actual: urls.UrlParts, terms: Terms
) -> tuple[bool, bool, list[tuple[str, str]]]:
    """Return whether all before the query agrees, whether it may, and the query of the reference."""
    is_hidden = holds_mark(actual.path)
    if is_pattern(reference):
        is_same = _matches_pattern(reference, found, terms)
        return is_same, is_same or is_hidden, []
    wanted, given = _split(check, _without_end(reference), terms)
    is_same = wanted is not None and urls.same_place(wanted, actual)
    may_be = is_hidden and (wanted is None or _may_be_path(wanted.host, wanted.path, actual))
    return is_same, is_same or may_be, given


def _may_be_query(
    check: NetworkMatch, wanted: Mapping[str, list[Any]], there: Mapping[str, list[Any]], terms: Terms
) -> bool:
    """Whether the parameters agree of which no value is hidden."""
    hidden = {key for key in wanted if holds_mark(there.get(key, []))}
    left, found = ({key: row[key] for key in row if key not in hidden} for row in (wanted, there))
    return _same_query(check, left, found, terms)


def _may_be_path(host: str, path: Sequence[str], actual: urls.UrlParts) -> bool:
    """Whether a path of which parts are hidden may be this one."""
    pairs = zip(path, actual.path, strict=False)
    is_like = len(path) == len(actual.path) and all(one == two or holds_mark(two) for one, two in pairs)
    return host == actual.host and is_like


def _split(check: NetworkMatch, url: str, terms: Terms) -> tuple[urls.UrlParts | None, list[tuple[str, str]]]:
    """Return a URL without its query, and the query, decoded path segments included."""
    if not check.decode_base64_query:
        parsed = urls.parse(url, terms.sites)
        return parsed, list(parsed.query) if parsed is not None else []
    head, mark, search = url.partition("?")
    scheme, slashes, rest = head.partition("://")
    host, slash, path = rest.partition("/")
    plain, queries = decoded_path(slash + path)
    whole = urls.parse(f"{scheme}{slashes}{host}{plain}{mark}{'&'.join(filter(None, [*queries, search]))}")
    if whole is None or mark or not queries:
        parsed = urls.parse(f"{scheme}{slashes}{host}{plain}{mark}{search}", terms.sites)
    else:
        parsed = urls.parse(f"{scheme}{slashes}{host}{plain}", terms.sites)
    pairs = urls.pairs("&".join(queries))
    return parsed, [*pairs, *(parsed.query if parsed is not None else ())]


def _matches_pattern(pattern: str, found: str, terms: Terms) -> bool:
    plain = urls.with_active_root(found, terms.sites)
    base = plain.split("#")[0].split("?")[0]
    read = urls.parse(found)
    written = f"{read.scheme}://{read.host}/{'/'.join(read.path)}" if read is not None else base
    normal = urls.with_active_root(written, terms.sites)
    ends = normal + "/" * base.endswith("/")
    texts_of_it = (base, base.rstrip("/")) if _names_user(found) else (base, base.rstrip("/"), normal, ends)
    return any(full_match(pattern, text) for text in texts_of_it)


def _without_end(url: str) -> str:
    """Return a URL without the signs after its last part that mean nothing, as the package does."""
    return url.strip().rstrip("/").rstrip("&? ")


def _names_user(url: str) -> bool:
    return "@" in url and _USER.match(url) is not None


def _grouped(pairs: Sequence[tuple[str, str]]) -> dict[str, list[Any]]:
    """Return values by name, decoded once more, as the package does."""
    found: dict[str, list[Any]] = {}
    for key, value in pairs:
        found.setdefault(unquote(key), []).append(unquote(value))
    return found


def _as_lists(params: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {key: list(value) if isinstance(value, list | tuple) else [value] for key, value in params.items()}


def _same_query(
    check: NetworkMatch, wanted: Mapping[str, list[Any]], found: Mapping[str, list[Any]], terms: Terms
) -> bool:
    """Compare queries by name, ignored ones left out; a blank value is a missing one."""
    types = (check.query_params_schema or {}).get("properties", {})
    return all(
        _same_values(wanted.get(key, []), found.get(key, []), types.get(key, {}), terms)
        for key in {*wanted, *found}
        if not _is_ignored(key, check)
    )


def _same_values(wanted: list[Any], found: list[Any], kind: Mapping[str, Any], terms: Terms) -> bool:
    items = kind.get("items", kind) if kind.get("type") == "array" else kind
    expected = [value for value in wanted if value not in (None, "")]
    actual = [value for value in found if value != ""]
    if len(expected) == 1 and is_pattern(expected[0]):
        return all(full_match(expected[0], value.strip(), re.IGNORECASE) for value in actual or [""])
    if not items:
        return sorted(map(_trimmed, expected)) == sorted(map(_trimmed, actual))
    return compare_data(expected, actual, {"type": "array", "items": items}, terms.sites).matches


def _trimmed(value: Any) -> str:
    return str(value).strip().casefold()


def _is_ignored(name: str, check: NetworkMatch) -> bool:
    if name in check.ignored_query_params:
        return True
    return any(found_in(pattern, name, re.IGNORECASE) for pattern in check.ignored_query_params_patterns)


def _ruling(check: NetworkMatch, differs: str | None, request: RunRequest | None) -> Ruling:
    found = f"{request.exchange.method} {request.url}: {request.status}" if request is not None else None
    if found is not None and differs is not None:
        found += f" (differs in {differs})"
    return Ruling(
        outcome=Outcome.PASS if differs is None else Outcome.FAIL,
        rule=_RULE if differs is None else f"{_RULE}: {differs}",
        reason=None if differs is None else "differs",
        expected=Value(raw=_shown(check), type="request"),
        found=Value(raw=found, type="request"),
    )


def _shown(check: NetworkMatch) -> str:
    expected = check.expected
    is_any = check.should_not_exist and expected.http_method is UNSET
    return f"{'any method' if is_any else expected.method} {' or '.join(texts(expected.url))}"


def _evidence(request: RunRequest | None) -> Evidence:
    if request is None:
        return Evidence(source="exchange")
    return Evidence(
        source="exchange", step=request.exchange.step, event=request.event, url=request.url, strength="strong"
    )
