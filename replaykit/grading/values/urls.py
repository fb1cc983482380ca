"""URLs compared: WebArena's substring rule, and by parts under the WHATWG rules."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import parse_qs, parse_qsl, unquote, urlparse

import ada_url
from msgspec import Struct
from msgspec.structs import replace

from replaykit.patterns import lazy_pattern
from replaykit.trajectory.redaction_marks import holds_mark

Sites = Mapping[str, Sequence[str]]
"""Site name to its roots; all roots of a site are equal."""


_ROOT_DOT = lazy_pattern(r"\.(?=:\d+$|$)")
_ESCAPE = lazy_pattern(r"%([0-9A-Fa-f]{2})")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$'()*,:@")
"""Characters that mean the same escaped or not in a path or a fragment: they separate nothing there."""
_AUTHORITY = lazy_pattern(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")


class UrlParts(Struct, frozen=True, kw_only=True):
    """A URL in parts, as they are compared."""

    scheme: str
    """Lower case, without colon."""
    host: str
    """Lower-case host and port, without a default port; `@NAME` stands for a root of that site."""
    path: tuple[str, ...]
    """Segments that are not empty; `%2C` is `,`, `%2F` is no slash."""
    query: tuple[tuple[str, str], ...]
    """Decoded pairs in order; blank values kept."""
    fragment: str | None
    """Without `#`; None = absent."""


class UrlRules(Struct, frozen=True, kw_only=True):
    """How two URLs are compared; the defaults are those of strict checks."""

    scheme: str = "any"
    """`any exact`."""
    path: str = "exact"
    """`exact prefix regex`; `prefix` = leading whole segments, of the route in a fragment if there is one."""
    query: str = "subset"
    """`subset exact ignore`."""
    ignore: tuple[str, ...] = ()
    """Names of query parameters that do not count."""
    fragment: str = "given"
    """`given exact ignore`."""


EXACT = UrlRules(query="exact")
"""The rules of URLs as values."""

SAME = UrlRules(query="exact", fragment="exact")
"""The rules by which two pages are the same."""


def parse(text: str, sites: Sites | None = None) -> UrlParts | None:
    """Read a URL by the WHATWG rules, None where no browser would accept it."""
    whole = _kept(text) if len(text) <= _KEPT_MAX else _read(text)
    return None if whole is None else _site_relative(whole, sites or {})


def _read(text: str) -> UrlParts | None:
    try:
        found = ada_url.URL(text.strip())
    except (ValueError, UnicodeError):
        return None
    return UrlParts(
        scheme=found.protocol.rstrip(":"),
        host=_ROOT_DOT.sub("", found.host),
        path=_segments(found.pathname),
        query=tuple(pairs(found.search.removeprefix("?"))),
        fragment=_decode(found.hash[1:]) if found.hash else None,
    )


# Checks, policies and pages compare the same few URLs over and over; long ones are not kept.
_kept = lru_cache(maxsize=1024)(_read)
_KEPT_MAX = 2048


def matches(reference: str, found: str, rules: UrlRules = EXACT, sites: Sites | None = None) -> bool:
    """Return whether a URL is what the reference demands; unreadable ones match nothing."""
    actual = parse(found, sites)
    if rules.path == "regex":
        return actual is not None and _matches_pattern(reference, actual, rules, sites)
    wanted = parse(reference, sites)
    return wanted is not None and actual is not None and agree(wanted, actual, rules)


def shown(url: UrlParts) -> str:
    """Return the parts as one text, for evidence."""
    query = "&".join(f"{key}={value}" for key, value in url.query)
    text = f"{url.host}/{'/'.join(url.path)}" + (f"?{query}" if query else "")
    return text if url.fragment is None else f"{text}#{url.fragment}"


def peer_matches(reference: str, found: str, *, is_decoded: bool = False) -> bool:
    """Compare as WebArena does: substring of host and path, pooled query values (`URLEvaluator`).

    ST-WebAgentBench decodes each URL before it reads it, and has the fragment as part of what is contained.
    Raises ValueError where Python's `urlparse` does.
    """
    read = _decoded_parts if is_decoded else _peer_parts
    alternatives = [read(part) for part in reference.split(" |OR| ")]
    base, query = read(found)
    pooled: dict[str, list[str]] = defaultdict(list)
    for _, wanted in alternatives:
        for key, values in wanted.items():
            pooled[key] += values
    in_base = any(part in base for part, _ in alternatives)
    return in_base and all(set(values) & set(query.get(key, ())) for key, values in pooled.items())


def pairs(query: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of a query in order, decoded; blank values are kept."""
    return tuple(parse_qsl(query, keep_blank_values=True, errors="replace"))


def same_place(wanted: UrlParts, actual: UrlParts) -> bool:
    """Return whether two URLs agree except in their queries; a fragment counts if one is expected."""
    return agree(wanted, actual, UrlRules(query="ignore"))


def with_active_root(text: str, sites: Sites) -> str:
    """Put the active root of a site in the place of another one of it."""
    for roots in sites.values():
        active = roots[0].rstrip("/") if roots else ""
        for root in roots[1:]:
            if text.startswith(root.rstrip("/")):
                return active + text[len(root.rstrip("/")) :]
    return text


def post_url(url: str) -> str:
    """Return the page of the post that a Reddit URL belongs to (WebArena `reddit_get_post_url`)."""
    parts = urlparse(url)
    path = parts.path.split("/")
    if len(path) < 4 or path[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{path[2]}/{path[3]}/"


def _peer_parts(url: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlparse(url.rstrip("/"))
    return parts.netloc + parts.path, parse_qs(parts.query) if parts.query else {}


def _decoded_parts(url: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlparse(unquote(url.rstrip("/")))
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return parts.netloc + parts.path + fragment, parse_qs(parts.query)


def _segments(path: str) -> tuple[str, ...]:
    return tuple(_decode(segment) for segment in path.split("/") if segment)


def _decode(text: str) -> str:
    """Decode what parts nothing: `%2F` in a segment is no slash."""

    def one(escape: re.Match[str]) -> str:
        char = chr(int(escape[1], 16))
        return char if char in _PLAIN else escape[0].upper()

    return _ESCAPE.sub(one, text)


def _site_relative(url: UrlParts, sites: Sites) -> UrlParts:
    """Write the URL relative to its site where it lies below a root: the longest one."""
    best: tuple[int, str] | None = None
    for name, roots in sorted(sites.items()):
        for root in filter(None, map(parse, roots)):
            is_below = root.host == url.host and url.path[: len(root.path)] == root.path
            if is_below and (best is None or len(root.path) > best[0]):
                best = len(root.path), name
    if best is None:
        return url
    depth, name = best
    return UrlParts(
        scheme=url.scheme, host=f"@{name}", path=url.path[depth:], query=url.query, fragment=url.fragment
    )


def agree(wanted: UrlParts, actual: UrlParts, rules: UrlRules) -> bool:
    """Return whether a URL is what the reference demands, both read before; not for patterns."""
    return (
        _matches_origin(wanted, actual, rules)
        and _matches_path(wanted, actual, rules)
        and _matches_query(wanted.query, actual.query, rules)
        and _matches_fragment(wanted.fragment, actual.fragment, rules)
    )


def may_agree(wanted: UrlParts, actual: UrlParts, rules: UrlRules) -> bool:
    """Return whether a URL may be what the reference demands, whatever its hidden parts were."""
    fragment = wanted.fragment if holds_mark(actual.fragment) else actual.fragment
    shown = replace(
        actual,
        path=_filled(wanted.path, actual.path),
        query=_filled_pairs(wanted.query, actual.query),
        fragment=fragment,
    )
    return agree(wanted, shown, rules)


def _filled(wanted: tuple[str, ...], found: tuple[str, ...]) -> tuple[str, ...]:
    """Return segments, each hidden one replaced by what is wanted in its place."""
    return tuple(wanted[at] if holds_mark(one) and at < len(wanted) else one for at, one in enumerate(found))


def _filled_pairs(
    wanted: tuple[tuple[str, str], ...], found: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Return pairs, each hidden value replaced by one that is wanted and nowhere else."""
    left: dict[str, list[str]] = defaultdict(list)
    for key, value in (Counter(wanted) - Counter(found)).elements():
        left[key].append(value)
    return tuple(
        (key, left[key].pop(0) if holds_mark(value) and left[key] else value) for key, value in found
    )


def _matches_path(wanted: UrlParts, actual: UrlParts, rules: UrlRules) -> bool:
    # A prefix ends where its text ends: in the fragment, where it has one.
    goes_on = wanted.fragment is None or rules.fragment == "ignore"
    return _begins(wanted.path, actual.path, is_prefix=rules.path == "prefix" and goes_on)


def _begins(wanted: tuple[str, ...], found: tuple[str, ...], *, is_prefix: bool) -> bool:
    return wanted == (found[: len(wanted)] if is_prefix else found)


def _matches_pattern(reference: str, actual: UrlParts, rules: UrlRules, sites: Sites | None) -> bool:
    """Compare where all after the reference's host is a regular expression for the path.

    Raises `RegexRefused` where that would take too long.
    """
    authority = _AUTHORITY.match(reference)
    wanted = parse(authority[0], None) if authority else None
    plain = None if wanted is None else _site_relative(wanted, sites or {})
    if plain is None or authority is None or not _matches_origin(plain, actual, rules):
        return False
    pattern = reference[authority.end() :].strip("/")
    from replaykit.tasks.grammar.regex_matcher import matcher  # for URLs that are expressions

    return matcher(pattern).fullmatch("/".join(actual.path))


def _matches_origin(wanted: UrlParts, actual: UrlParts, rules: UrlRules) -> bool:
    web = ("http", "https")
    both_web = wanted.scheme in web and actual.scheme in web and rules.scheme == "any"
    return (both_web or wanted.scheme == actual.scheme) and wanted.host == actual.host


def _matches_query(
    wanted: tuple[tuple[str, str], ...], actual: tuple[tuple[str, str], ...], rules: UrlRules
) -> bool:
    if rules.query == "ignore":
        return True
    here = Counter(pair for pair in wanted if pair[0] not in rules.ignore)
    there = Counter(pair for pair in actual if pair[0] not in rules.ignore)
    return here == there if rules.query == "exact" else here <= there


def _matches_fragment(wanted: str | None, actual: str | None, rules: UrlRules) -> bool:
    if rules.fragment == "ignore" or (rules.fragment == "given" and wanted is None):
        return True
    if wanted is None or actual is None:
        return wanted == actual
    routes = [_route(fragment) for fragment in (wanted, actual)]
    if routes[0] is None or routes[1] is None:
        return wanted == actual
    (path, query), (found, pairs_found) = routes[0], routes[1]
    is_prefix = rules.path == "prefix"
    return _begins(path, found, is_prefix=is_prefix) and _matches_query(query, pairs_found, rules)


def _route(fragment: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]] | None:
    """Read `#/path?query`, as single-page apps write it."""
    route = fragment.removeprefix("!")
    if not route.startswith("/"):
        return None
    path, _, query = route.partition("?")
    return _segments(path), pairs(query)
