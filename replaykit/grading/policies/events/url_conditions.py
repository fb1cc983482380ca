"""URL terms and conditions, by WHATWG rules: parsed first, decoded afterwards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

import ada_url

from replaykit.grading.policies.events.text_conditions import regex
from replaykit.grading.values.globs import STAR, Segment, hidden, meets, occurs, segment, starts, whole
from replaykit.patterns import lazy_pattern
from replaykit.tasks.policy_rules import Url, UrlTerm

_BLANK = lazy_pattern(
    r"(?:|about:.*|chrome-error:.*|(?:chrome|edge)://(?:newtab|new-tab-page)(?:/.*)?)", re.I
)
_PORT = lazy_pattern(rf"(.*?):(\d+|{STAR})")
_SCHEME = lazy_pattern(rf"[a-z0-9+.-]*{STAR}(?=://)", re.I)
_ANY_PORT = lazy_pattern(rf"(?<=://)([^/?#]*):{STAR}(?=[/?#]|$)")
_BARE_SCHEME = lazy_pattern(r"(https?):/*(?=.)", re.I)
_SCHEME_ALONE = lazy_pattern(r"[a-z][a-z0-9+.-]*:", re.I)
_NAMED_HOST = lazy_pattern(
    r"(?://)?((?:(?:[\w*-]+\.)+[\w*-]+\.?|localhost|\[[0-9a-f:.]+\]|[\w*-]+(?=:))(?::\d+|:\*)?)(/.*)",
    re.I | re.DOTALL,
)
_DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
_PARTS = lazy_pattern(r"([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


class Address(NamedTuple):
    """A URL in the parts that terms compare; texts without case, decoded after splitting."""

    href: str
    """The whole, normalised by WHATWG rules; without user, password and the final dot of a host."""
    scheme: str
    """Without colon."""
    host: str
    """Without port and final dot; empty where the scheme has none."""
    port: str
    """Empty for the scheme's default."""
    path: tuple[str, ...]
    """Segments of the path, without their parameters (`;v=1`)."""
    query: tuple[tuple[str, str], ...]
    """Pairs of the query, and of a query inside the fragment."""
    fragment: tuple[str, ...]
    """Segments of the fragment, up to its query."""
    routed: bool
    """Whether the fragment is a path of its own: `#/orders`."""


def is_blank(url: str) -> bool:
    """Whether this is an empty tab or the browser's own error page: nowhere an agent went."""
    return bool(_BLANK.fullmatch(url.strip()))


@lru_cache(maxsize=4096)
def address(url: str) -> Address | None:
    """Return a URL in parts; None for what no browser would go to."""
    parsed = _parse(url.strip())
    if parsed is None:
        return None
    if parsed.username or parsed.password:
        # Browsers go to the host: words before `@` name no place.
        parsed.username = parsed.password = ""
    if parsed.hostname.endswith("."):
        parsed.hostname = parsed.hostname.rstrip(".") or parsed.hostname
    fragment, _, inner = parsed.hash.removeprefix("#").partition("?")
    return Address(
        href=parsed.href,
        scheme=parsed.protocol.rstrip(":"),
        host=parsed.hostname.lower().rstrip("."),
        port=parsed.port,
        path=segments(parsed.pathname),
        query=pairs(parsed.search.removeprefix("?")) + pairs(inner),
        fragment=segments(fragment.removeprefix("!")),
        routed=fragment.removeprefix("!").startswith("/"),
    )


def parts_of(url: str) -> str:
    """Return all that the words of terms are looked for in, each part on a line; empty for what is no URL."""
    where = address(url)
    if where is None:
        return ""
    return _lines(where.host, *where.path, *map(_joined, where.query), *where.fragment)


class UrlTests:
    """Terms and conditions of which one is enough."""

    def __init__(self, terms: UrlTerm | Sequence[UrlTerm]) -> None:
        listed = (terms,) if isinstance(terms, str | Url) else terms
        self.tests = [_Condition(term) if isinstance(term, Url) else _Term(term) for term in listed]
        found = [test.words for test in self.tests]
        #: Texts of which one occurs in every URL that meets a term; None if no such texts are known.
        self.words = None if None in found else tuple(word for words in found for word in words or ())

    def __bool__(self) -> bool:
        return bool(self.tests)

    def holds(self, url: str) -> bool:
        """Whether the URL meets one of them."""
        where = address(url)
        return where is not None and any(test.holds(where) for test in self.tests)


class _Term:
    """A URL term, read by its shape."""

    def __init__(self, term: str) -> None:
        named = _NAMED_HOST.fullmatch(term.strip())
        #: The host of `shop.test/orders`, with its port.
        self.host = hidden(named[1]) if named else None
        self.term = term = _BARE_SCHEME.sub(r"\1://", hidden((named[2] if named else term).strip()), count=1)
        self.is_scheme = _SCHEME_ALONE.fullmatch(term) is not None
        self.pair = pairs(term) if "=" in term and not re.search(r"[/?#]", term) else ()
        self.is_whole = "://" in term
        self.whole = address(_ANY_PORT.sub(r"\1", _SCHEME.sub("http", term))) if self.is_whole else None
        self.any_port = _ANY_PORT.search(term) is not None
        self.has_parts = re.search(r"[/?#]", term) is not None
        self.is_host = "." in term or _PORT.fullmatch(term) is not None
        bare, query, fragment = _split(term)
        self.path = segments(bare)
        self.query = pairs(query)
        self.fragment = segments(fragment)

    @property
    def words(self) -> tuple[str, ...] | None:
        if STAR in self.term or STAR in (self.host or "") or self.is_scheme:
            return None
        if self.host is not None:
            return (_port_apart(self.host)[0],)
        if self.is_whole:
            return () if self.whole is None else (_lines(self.whole.host, *self.whole.path),)
        if self.pair:
            return _lines(_joined(self.pair[0])), _lines(_decode(self.term))
        if self.has_parts:
            return _first(self.path, self.query, self.fragment)
        return (_port_apart(self.term)[0],)

    def holds(self, where: Address) -> bool:
        if self.is_scheme:
            return f"{where.scheme}:" == self.term.lower()
        if self.host is not None:
            at_path = _starts(self.path, where.path or ("",)) and _starts(self.fragment, where.fragment)
            return at_path and _is_host(self.host, where) and _subset(self.query, where.query)
        if self.is_whole:
            return self.whole is not None and _inside(self.whole, where, any_port=self.any_port)
        if self.pair:
            return _subset(self.pair, where.query) or _run((_decode(self.term),), where.path + where.fragment)
        if self.has_parts:
            return self._parts(where)
        if self.is_host:
            return _is_host(self.term, where)
        label = segment(_port_apart(self.term)[0])
        return any(meets(label, one) for one in where.host.split("."))

    def _parts(self, where: Address) -> bool:
        at_path = _run(self.path, where.path) or (where.routed and _starts(self.path, where.fragment))
        return at_path and _subset(self.query, where.query) and _starts(self.fragment, where.fragment)


class _Condition:
    """A compiled `policy_rules.Url`."""

    def __init__(self, condition: Url) -> None:
        self.condition = condition
        self.host = None if condition.host is None else hidden(condition.host)
        self.path = segments(hidden(condition.path or ""))
        self.fragment = segments(hidden((condition.fragment or "").removeprefix("#").removeprefix("!")))
        self.query = {
            key.casefold(): [segment(hidden(value).casefold()) for value in _listed(one)]
            for key, one in condition.query.items()
        }
        self.equals = None if condition.equals is None else address(condition.equals)

    @property
    def words(self) -> tuple[str, ...] | None:
        found = (_port_apart(self.host)[0],) if self.host else _first(self.path, (), self.fragment)
        return None if found and any(STAR in word for word in found) else found

    def holds(self, where: Address) -> bool:
        return (
            (self.host is None or _is_host(self.host, where))
            and _run(self.path, where.path)
            and _run(self.fragment, where.fragment)
            and all(self._asks(key, some, where) for key, some in self.query.items())
            and (self.condition.equals is None or _is_same(self.equals, where))
            and self._text_holds(where.href)
        )

    @staticmethod
    def _asks(key: str, values: Sequence[Segment], where: Address) -> bool:
        given = [value for name, value in where.query if name == key]
        return any(meets(value, one) for value in values for one in given)

    def _text_holds(self, href: str) -> bool:
        wanted = self.condition
        return (wanted.contains is None or _contains(wanted.contains, href)) and (
            wanted.regex is None or regex(wanted.regex, True).search(href) is not None
        )


def segments(path: str) -> tuple[str, ...]:
    """Return the segments of a path, decoded after splitting; parameters and empty ones dropped."""
    return tuple(_decode(name) for part in path.split("/") if (name := part.partition(";")[0]))


def pairs(query: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs of a query, decoded after splitting."""
    found = parse_qsl(query, keep_blank_values=True, max_num_fields=None)
    return tuple((key.casefold(), value.casefold()) for key, value in found)


def _parse(url: str) -> ada_url.URL | None:
    for candidate in (url,) if "://" in url else (url, f"http://{url}"):
        try:
            return ada_url.URL(candidate)
        except ValueError:
            continue
    return None


def _split(term: str) -> tuple[str, str, str]:
    found = _PARTS.fullmatch(term)
    return (found[1] or "", found[2] or "", found[3] or "") if found else (term, "", "")


def _decode(text: str) -> str:
    return unquote(text).casefold()


def _inside(wanted: Address, where: Address, *, any_port: bool) -> bool:
    return (
        _has_name(wanted.host, where.host, exact=True)
        and (any_port or wanted.port == where.port)
        and _begins(wanted, where)
        and _starts(wanted.fragment, where.fragment)
        and _subset(wanted.query, where.query)
    )


def _begins(wanted: Address, where: Address) -> bool:
    """Compare paths: one with a fragment goes on there, and is whole."""
    if not wanted.fragment:
        return _starts(wanted.path, where.path or ("",))
    return whole([segment(one) for one in wanted.path], where.path)


def _is_same(wanted: Address | None, where: Address) -> bool:
    """Compare whole addresses; http and https are one, fields of a query may stand in any order."""
    if wanted is None:
        return False
    web = ("http", "https")
    is_scheme = wanted.scheme == where.scheme or (wanted.scheme in web and where.scheme in web)
    parts = ("host", "port", "path", "fragment", "routed")
    is_place = all(getattr(wanted, name) == getattr(where, name) for name in parts)
    return is_scheme and is_place and sorted(wanted.query) == sorted(where.query)


def _joined(pair: tuple[str, str]) -> str:
    return f"{pair[0]}={pair[1]}"


def _first(
    path: tuple[str, ...], query: tuple[tuple[str, str], ...], fragment: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Return the first part that a URL has to have; None where none is asked for."""
    wanted = path or tuple(map(_joined, query[:1])) or fragment
    return (_lines(*wanted),) if wanted else None


def _lines(*parts: str) -> str:
    return "\n" + "\n".join(parts) + "\n"


def _port_apart(host: str) -> tuple[str, str | None]:
    # An IPv6 address needs its brackets to be parsed.
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    with_port = _PORT.fullmatch(host)
    name, port = (with_port[1], with_port[2]) if with_port else (host, None)
    # Only other names need a parser: for punycode, and for one spelling of IPv6.
    parsed = _parse(f"http://{name}") if not name.isascii() or name.startswith("[") else None
    return (parsed.hostname if parsed else name).lower().strip("."), port


def _is_host(wanted: str, where: Address) -> bool:
    host, port = _port_apart(wanted)
    is_port = port in (None, STAR, where.port or _DEFAULT_PORTS.get(where.scheme))
    return bool(host) and is_port and _has_name(host, where.host, exact=False)


def _has_name(wanted: str, found: str, *, exact: bool) -> bool:
    """Compare names of hosts; `*.` at the beginning is the name and all below it."""
    if wanted == STAR:
        return bool(found)
    bare = wanted.removeprefix(STAR + ".")
    if STAR not in bare:
        is_below = not exact or bare != wanted
        return found == bare or (is_below and found.endswith("." + bare))
    labels, there = [segment(label) for label in bare.split(".")], found.split(".")
    if exact and bare == wanted and len(labels) != len(there):
        return False
    return starts(labels[::-1], there[::-1])


def _starts(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    if not any(STAR in one for one in wanted):
        return found[: len(wanted)] == wanted
    return starts([segment(one) for one in wanted], found)


def _run(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    if any(STAR in one for one in wanted):
        return occurs([segment(one) for one in wanted], found or ("",))
    if wanted and wanted[0] not in found:
        return False
    length = len(wanted)
    return any(found[at : at + length] == wanted for at in range(len(found) - length + 1))


def _subset(wanted: tuple[tuple[str, str], ...], found: tuple[tuple[str, str], ...]) -> bool:
    return all(any(_same_pair(pair, one) for one in found) for pair in wanted)


def _same_pair(wanted: tuple[str, str], found: tuple[str, str]) -> bool:
    return all(meets(segment(one), other) for one, other in zip(wanted, found, strict=True))


def _listed(values: str | Sequence[str]) -> Sequence[str]:
    return (values,) if isinstance(values, str) else values


def _contains(part: str, href: str) -> bool:
    part = part.casefold()
    return part in href.casefold() or part in unquote(href).casefold()
