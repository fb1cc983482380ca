"""URL terms and conditions, by WHATWG rules: parsed first, decoded afterwards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

import ada_url

from replaykit.grading.policies.texts import regex
from replaykit.tasks.policies import Url, UrlTerm

_BLANK = re.compile(r"(?:|about:.*|chrome-error:.*|(?:chrome|edge)://(?:newtab|new-tab-page)(?:/.*)?)", re.I)
_PORT = re.compile(r"(.*?):(\d+)")
_PARTS = re.compile(r"([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


class Address(NamedTuple):
    """A URL in the parts that terms compare; texts without case, decoded after splitting."""

    href: str
    """The whole, normalised by WHATWG rules."""
    host: str
    """Without port; empty where the scheme has none."""
    port: str
    """Empty for the scheme's default."""
    path: tuple[str, ...]
    """Segments of the path."""
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
    fragment, _, inner = parsed.hash.removeprefix("#").partition("?")
    return Address(
        href=parsed.href,
        host=parsed.hostname.lower(),
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
        #: Texts of which one is in the parts of every URL that meets a term; None where there are none such.
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
        self.term = term = term.strip()
        self.pair = pairs(term) if "=" in term and not re.search(r"[/?#]", term) else ()
        self.segment = _decode(term)
        self.is_whole = "://" in term
        self.whole = address(term) if self.is_whole else None
        self.has_parts = re.search(r"[/?#]", term) is not None
        self.is_host = "." in term or _PORT.fullmatch(term) is not None
        bare, query, fragment = _split(term)
        self.path = segments(bare)
        self.query = pairs(query)
        self.fragment = segments(fragment)

    @property
    def words(self) -> tuple[str, ...] | None:
        if self.is_whole:
            return () if self.whole is None else (_lines(self.whole.host, *self.whole.path),)
        if self.pair:
            return _lines(_joined(self.pair[0])), _lines(self.segment)
        if self.has_parts:
            return _first(self.path, self.query, self.fragment)
        return (_port_apart(self.term)[0] if self.is_host else self.term.lower(),)

    def holds(self, where: Address) -> bool:
        if self.is_whole:
            return self.whole is not None and _inside(self.whole, where)
        if self.pair:
            return _subset(self.pair, where.query) or self.segment in where.path + where.fragment
        if self.has_parts:
            return self._parts(where)
        if self.is_host:
            return _is_host(self.term, where)
        return self.term.lower() in where.host.split(".")

    def _parts(self, where: Address) -> bool:
        at_path = _run(self.path, where.path) or (where.routed and _starts(self.path, where.fragment))
        return at_path and _subset(self.query, where.query) and _starts(self.fragment, where.fragment)


class _Condition:
    """A compiled `Url`."""

    def __init__(self, condition: Url) -> None:
        self.condition = condition
        self.path = segments(condition.path or "")
        self.fragment = segments((condition.fragment or "").removeprefix("#"))
        self.query = {
            key.casefold(): {value.casefold() for value in ((one,) if isinstance(one, str) else one)}
            for key, one in condition.query.items()
        }
        equals = None if condition.equals is None else address(condition.equals)
        self.equals = equals.href.casefold() if equals else (condition.equals or "").casefold()

    @property
    def words(self) -> tuple[str, ...] | None:
        host = self.condition.host
        return (_port_apart(host)[0],) if host else _first(self.path, (), self.fragment)

    def holds(self, where: Address) -> bool:
        wanted = self.condition
        return (
            (wanted.host is None or _is_host(wanted.host, where))
            and _run(self.path, where.path)
            and _run(self.fragment, where.fragment)
            and all(any(k == key and v in some for k, v in where.query) for key, some in self.query.items())
            and self._text_holds(where.href)
        )

    def _text_holds(self, href: str) -> bool:
        wanted = self.condition
        return (
            (wanted.equals is None or self.equals == href.casefold())
            and (wanted.contains is None or _contains(wanted.contains, href))
            and (wanted.regex is None or regex(wanted.regex, True).search(href) is not None)
        )


def segments(path: str) -> tuple[str, ...]:
    """Return the segments of a path, decoded after splitting; empty ones dropped."""
    return tuple(_decode(part) for part in path.split("/") if part)


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


def _inside(wanted: Address, where: Address) -> bool:
    return (
        (wanted.host, wanted.port) == (where.host, where.port)
        and _starts(wanted.path, where.path)
        and _starts(wanted.fragment, where.fragment)
        and _subset(wanted.query, where.query)
    )


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
    with_port = _PORT.fullmatch(host)
    name, port = (with_port[1], with_port[2]) if with_port else (host, None)
    return name.lower().strip("."), port


def _is_host(wanted: str, where: Address) -> bool:
    host, port = _port_apart(wanted)
    is_inside = where.host == host or where.host.endswith("." + host)
    return bool(host) and is_inside and (port is None or port == where.port)


def _starts(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    return found[: len(wanted)] == wanted


def _run(wanted: tuple[str, ...], found: tuple[str, ...]) -> bool:
    if wanted and wanted[0] not in found:
        return False
    length = len(wanted)
    return any(found[at : at + length] == wanted for at in range(len(found) - length + 1))


def _subset(wanted: tuple[tuple[str, str], ...], found: tuple[tuple[str, str], ...]) -> bool:
    return not wanted or all(pair in found for pair in wanted)


def _contains(part: str, href: str) -> bool:
    part = part.casefold()
    return part in href.casefold() or part in unquote(href).casefold()
