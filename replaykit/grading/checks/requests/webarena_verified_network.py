"""Requests as WebArena-Verified grades them (`NetworkEventEvaluator`, revision 6473f72)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from replaykit.grading.checks.requests.run_requests import Missing, RunRequest
from replaykit.grading.peers.webarena_verified.normal_text import is_pattern
from replaykit.grading.peers.webarena_verified.peer_jsonpath import find_as_peer
from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.grading.peers.webarena_verified.peer_urls import UrlOptions, same_base
from replaykit.grading.peers.webarena_verified.structures import PeerFault, equal, read_object
from replaykit.grading.peers.webarena_verified.typed_values import PeerOptions, Typed, typed
from replaykit.grading.values.bodies import with_decoded_texts
from replaykit.grading.values.bounded_regex import found_in, start_match
from replaykit.grading.values.jsonpath_limits import PathFault
from replaykit.patterns import lazy_pattern

_TEXT = "string"
_PLAIN = lazy_pattern(r"https?://[a-z0-9.-]+(?::\d+)?(?:[/?#][^\[\]]*)?$", re.ASCII)
"""URLs that any parser splits; brackets are what it fails at."""
_URL_HEADERS = ("redirect_url", "referer")


class PeerRule(Struct, frozen=True, kw_only=True):
    """An evaluator as the task file has it."""

    rule: Mapping[str, Any]
    """`expected` and its options."""
    is_navigation: bool
    """The task is a navigation."""
    options: PeerOptions
    """Options on which normal forms depend; what was found need not lie below any root."""
    strict: PeerOptions
    """The same for what is expected."""

    @property
    def expected(self) -> Mapping[str, Any]:
        """The request."""
        wanted: Mapping[str, Any] = self.rule["expected"]
        return wanted

    @property
    def method(self) -> str:
        """HTTP method."""
        return str(self.expected.get("http_method", "GET"))


def peer_accepts(peer: PeerRule, requests: Sequence[RunRequest]) -> bool:
    """Return what the package decides about these requests.

    Raises `PeerFault` where it gives up, `RegexRefused` for unsafe expressions, `Missing` for lost bodies.
    """
    wanted = _expected(peer)
    _require_readable(requests)
    chosen = _selected(peer, requests)
    if peer.rule.get("last_event_only", True):
        chosen = chosen[-1:]
    if not all(one.url for one in chosen):
        raise PeerFault("a request without URL")
    if peer.rule.get("should_not_exist"):
        return not chosen
    found = [_found(peer, request, wanted) for request in chosen]
    if any(equal(wanted, one, allows_more=True) for one, missing in found if not missing):
        return True
    # Missing values matter only where all known ones are as expected.
    for one, missing in found:
        known = {name: value for name, value in wanted.items() if name not in missing}
        if missing and equal(known, one, allows_more=True):
            raise next(iter(missing.values()))
    return False


def _require_readable(requests: Sequence[RunRequest]) -> None:
    """Raise `PeerFault` for a URL that the package cannot split: it reads all of them, to leave out files."""
    for request in requests:
        if not _PLAIN.match(request.url):
            try:
                urlsplit(request.url)
            except ValueError as fault:
                raise PeerFault(f"the URL {request.url!r}: {fault}") from fault


def _selected(peer: PeerRule, requests: Sequence[RunRequest]) -> list[RunRequest]:
    if peer.is_navigation and peer.method == "GET":
        return [one for one in requests if is_navigation(one)][-1:]
    wanted = _url(peer, peer.expected["url"], is_expected=True)
    referer = (peer.expected.get("headers") or {}).get("referer")
    page = _url(peer, referer, is_expected=True) if referer is not None else None
    return [one for one in requests if _is_selected(peer, one, wanted, page)]


def _is_selected(peer: PeerRule, request: RunRequest, wanted: Typed, page: Typed | None) -> bool:
    if request.exchange.method.lower() != peer.method.lower():
        return False
    found = _url(peer, request.url, is_expected=False)
    if not isinstance(found, Typed):
        raise PeerFault(f"the URL {request.url!r}")
    if not _has_same_base(wanted, found):
        return False
    referer = request.headers.get("referer", "").lower() if page is not None else ""
    if page is None or not referer:
        return True
    other = _url(peer, referer, is_expected=False)
    return not isinstance(other, Typed) or _has_same_base(page, other)


def is_navigation(request: RunRequest) -> bool:
    """Return whether the package takes a request for a navigation: by what its headers accept."""
    if request.exchange.method != "GET":
        return False
    headers = {name: value.lower() for name, value in request.headers.items()}
    accept = headers.get("accept", "")
    if "sec-fetch-user" not in headers:
        return accept.startswith("text/html")
    wanted = {"sec-fetch-dest": "document", "sec-fetch-mode": "navigate", "sec-fetch-user": "?1"}
    return all(headers.get(name) == value for name, value in wanted.items()) and "text/html" in accept


def _has_same_base(wanted: Typed, found: Typed) -> bool:
    return any(same_base(one, other) for one in wanted.alternatives for other in found.alternatives)


def _expected(peer: PeerRule) -> dict[str, Any]:
    expected = peer.expected
    query = expected.get("query_params")
    wanted: dict[str, Any] = {
        "url": _url(peer, expected["url"], is_expected=True, query=query),
        "http_method": peer.method,
        "response_status": expected.get("response_status", 200),
        "post_data": _post(peer, expected.get("post_data"), None),
        "response_content": expected.get("response_content") or None,
        "response_cookies": _texts(expected.get("response_cookies"), peer.strict) or None,
    }
    if expected.get("headers") is not None:
        wanted["headers"] = _headers(peer, expected["headers"], is_expected=True)
    return wanted


def _found(
    peer: PeerRule, request: RunRequest, wanted: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Missing]]:
    """Return the fields of a request, and why some are not known."""
    found: dict[str, Any] = {
        "url": _url(peer, request.url, is_expected=False),
        "http_method": request.exchange.method,
        "response_status": request.status,
        "post_data": None,
        "response_content": None,
        "response_cookies": None,
    }
    missing: dict[str, Missing] = {}
    for name, read in _READERS.items():
        if peer.expected.get(name):
            try:
                found |= read(peer, request, wanted)
            except Missing as fault:
                found.pop(name, None)
                missing[name] = fault
    return found, missing


def _read_headers(peer: PeerRule, request: RunRequest, wanted: Mapping[str, Any]) -> dict[str, Any]:
    headers = {name: request.header(name) for name in peer.expected["headers"]}
    present = {name: value for name, value in headers.items() if value is not None}
    return {"headers": _headers(peer, present, is_expected=False)} if present else {}


def _read_post(peer: PeerRule, request: RunRequest, wanted: Mapping[str, Any]) -> dict[str, Any]:
    keys = [key.strip() for key in wanted["post_data"] or ()]
    return {"post_data": _post(peer, request.fields, keys)}


def _read_content(peer: PeerRule, request: RunRequest, wanted: Mapping[str, Any]) -> dict[str, Any]:
    keys = [key.strip() for key in peer.expected["response_content"]]
    return {"response_content": _content(request.content, keys)}


def _read_cookies(peer: PeerRule, request: RunRequest, wanted: Mapping[str, Any]) -> dict[str, Any]:
    cookies = request.cookies
    present = {name: cookies[name] for name in peer.expected["response_cookies"] if name in cookies}
    return {"response_cookies": _texts(present, peer.options) or None}


_READERS: dict[str, Callable[[PeerRule, RunRequest, Mapping[str, Any]], dict[str, Any]]] = {
    "headers": _read_headers,
    "post_data": _read_post,
    "response_content": _read_content,
    "response_cookies": _read_cookies,
}


def _url(peer: PeerRule, value: Any, *, is_expected: bool, query: Any = None) -> Any:
    options = peer.strict if is_expected else peer.options
    rule = peer.rule
    schema = rule.get("query_params_schema")
    url = UrlOptions(
        render=options.url.render,
        derender=options.url.derender,
        query=None if query is None else {name: _tuple(values) for name, values in query.items()},
        ignored=tuple(rule.get("ignored_query_params") or ()),
        ignored_patterns=tuple(rule.get("ignored_query_params_patterns") or ()),
        decodes_base64=bool(rule.get("decode_base64_query")),
        values=_typed_query(schema, options, is_expected) if schema else None,
    )
    try:
        return typed(value, "url", replace(options, url=url))
    except Unparsed as error:
        if is_expected:
            raise PeerFault(f"the URL {value!r}: {error}") from error
        return value


def _typed_query(schema: Mapping[str, Any], options: PeerOptions, is_expected: bool) -> Callable[[Any], Any]:
    return lambda query: read_object(query, schema, options, is_expected=is_expected)


def _tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _headers(peer: PeerRule, headers: Mapping[str, Any], *, is_expected: bool) -> dict[str, Any]:
    options = peer.strict if is_expected else peer.options
    return {
        name: _url(peer, value, is_expected=is_expected)
        if name in _URL_HEADERS and value
        else _text(value, options)
        for name, value in headers.items()
    }


def _text(value: Any, options: PeerOptions) -> Any:
    plain = options.derender(value) if isinstance(value, str) and options.derender else value
    try:
        return typed(plain, _TEXT, PeerOptions())
    except Unparsed:
        return value


def _texts(values: Mapping[str, Any] | None, options: PeerOptions) -> dict[str, Any]:
    return {name: typed(value, _TEXT, PeerOptions()) for name, value in (values or {}).items()}


def _post(peer: PeerRule, fields: Mapping[str, Any] | None, keys: Sequence[str] | None) -> Any:
    """Type the fields of a body; `keys` are those that what is expected names, None for itself."""
    if not fields:
        return None
    patterns = peer.rule.get("ignored_post_data_params_patterns") or ()
    kept = {key: value for key, value in fields.items() if not any(found_in(one, key) for one in patterns)}
    if keys:
        kept = {key: _at(kept, key) if _is_path(key) else kept.get(key) for key in keys}
    if not kept:
        return kept
    options = peer.strict if keys is None else peer.options
    schema = peer.rule.get("post_data_schema") or {"type": "object"}
    if schema.get("type") != "object":
        raise PeerFault(f"a schema of type {schema.get('type')!r} for a body")
    return read_object(kept, schema, options, is_expected=keys is None)


def _content(fields: Mapping[str, Any] | None, keys: Sequence[str]) -> dict[str, Any] | None:
    if not fields:
        return None
    found = {key: fields[key] for key in keys if not _is_path(key) and key in fields}
    return found | {key: _at(fields, key) for key in keys if _is_path(key)}


def _is_path(key: str) -> bool:
    return key.startswith("$") or is_pattern(key)


def _at(fields: Mapping[str, Any], key: str) -> Any:
    """Return what a path leads to: one value, a tuple of several, None for nothing."""
    pattern = key[2:] if key.startswith("$.^") and key.endswith("$") else key
    if is_pattern(pattern):
        hits = [value for name, value in fields.items() if start_match(pattern, name)]
        return hits[0] if len(hits) == 1 else tuple(hits) or None
    try:
        hits = find_as_peer(key, dict(fields)) or find_as_peer(key, with_decoded_texts(dict(fields)))
    except PathFault:
        return None
    if len(hits) == 1 and not re.search(r"\?\(", key):
        return hits[0]
    return tuple(hits) or None
