"""URLs as WebArena-Verified (revision 6473f72) compares them: base without query, first query values."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlparse, urlsplit, urlunparse, urlunsplit

from msgspec import Struct

from replaykit.grading.peers.webarena_verified.normal_text import Derender, is_pattern
from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.grading.values.bounded_regex import found_in, is_broken, start_match
from replaykit.patterns import lazy_pattern

Query = Mapping[str, tuple[Any, ...]]
"""Name to values."""

_WEB = ("http", "https", "ftp", "ftps")
_ENCODED = lazy_pattern(r"[A-Za-z0-9_-]{4,}={0,2}")
_LABEL = lazy_pattern(r"(?!..--)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")
_LABEL_MAX = 63
_URL_MAX = 16_384


class UrlOptions(Struct, frozen=True, kw_only=True):
    """How a URL is read."""

    render: Derender | None = None
    """Replaces a site's name by its active root. Raises ValueError if the site has no root."""
    derender: Derender | None = None
    """Puts a site's name in the place of its roots; raises ValueError where no root fits and one has to."""
    query: Query | None = None
    """Replaces the query of the URL."""
    ignored: tuple[str, ...] = ()
    """Names of query parameters that do not count."""
    ignored_patterns: tuple[str, ...] = ()
    """Expressions for such names, found anywhere in them."""
    decodes_base64: bool = False
    """Path segments that decode to `name=value` belong to the query."""
    values: Any = None
    """Reads the values of the query by their types; called with the query."""


class PeerUrl(Struct, frozen=True, kw_only=True):
    """A URL in the package's normal form."""

    base: str
    """Without query; an expression where `is_pattern`."""
    query: dict[str, Any]
    """Name to values, or to one typed value."""
    is_pattern: bool = False
    """The base is an expression."""
    render: Derender | None = None
    """As in the options."""

    def __str__(self) -> str:
        pairs = [f"{key}={value}" for key, values in sorted(self.query.items()) for value in values]
        parts = urlparse(self.base)
        return urlunparse((parts.scheme, parts.netloc, parts.path, "", "&".join(pairs), parts.fragment))


def peer_url(text: str, options: UrlOptions) -> PeerUrl:
    """Read a URL; raises ValueError where the package does."""
    text = text.strip()
    if not text or len(text) > _URL_MAX:
        raise ValueError("empty URL" if not text else "too long")
    if is_pattern(text):
        query = _values({} if options.query is None else options.query, options)
        return PeerUrl(base=text.rstrip("/"), query=query, is_pattern=True, render=options.render)
    text = text.rstrip("/")
    if text.startswith("__") and options.render is not None:
        text = options.render(text)
    if _is_ssh(text):
        return PeerUrl(base=_ssh_base(text), query={}, render=options.render)
    whole = _normal(text)
    plain = options.derender(whole) if options.derender is not None else whole
    parts = urlparse(plain)
    path = f"{parts.path};{parts.params}" if parts.params else parts.path
    pairs, path = _query(parts.query, path, options)
    base = urlunparse((parts.scheme.lower(), _host(parts), path, "", "", parts.fragment))
    return PeerUrl(base=base, query=_values(pairs, options), render=options.render)


def repository(text: str) -> str | None:
    """Return the address of a repository that is reached by SSH in one form; None for other URLs."""
    return _ssh_base(text.strip().rstrip("/")) if _is_ssh(text.strip()) else None


def decoded_path(path: str) -> tuple[str, list[str]]:
    """Return a path without the segments that are queries in base64, and those queries."""
    segments, queries = path.split("/"), []
    for place, segment in enumerate(segments):
        decoded = _decoded(segment) if _ENCODED.fullmatch(segment) else None
        found = unquote(decoded).strip() if decoded and "=" in decoded else ""
        if found:
            queries.append(found.lstrip("?&"))
            segments[place] = ""
    # Empty segments go whether or not anything was decoded.
    cleaned = "/".join(segment for segment in segments if segment)
    if path.startswith("/"):
        cleaned = "/" + cleaned
    return cleaned + ("/" if path.endswith("/") and cleaned.strip("/") else ""), queries


def same_base(one: PeerUrl, other: PeerUrl) -> bool:
    """Return whether two URLs agree except in their queries.

    Raises `RegexRefused`, `Unparsed` as the package does.
    """
    if one.is_pattern and _matches(one, other):
        return True
    if other.is_pattern and _matches(other, one):
        return True
    if one.is_pattern or other.is_pattern:
        return False
    return one.base.lower().rstrip("/") == other.base.lower().rstrip("/")


def same_url(one: PeerUrl, other: PeerUrl) -> bool:
    """Return whether two URLs agree, the first side's expressions included. Raises `RegexRefused`."""
    return same_base(one, other) and all(
        _same_value(one.query.get(key, ()), other.query.get(key, ())) for key in {*one.query, *other.query}
    )


def _matches(pattern: PeerUrl, other: PeerUrl) -> bool:
    inner = _rendered(pattern.base[1:-1], pattern.render) if is_pattern(pattern.base) else pattern.base
    return _starts(f"^{inner}$", _rendered(other.base, pattern.render))


def _starts(pattern: str, text: str) -> bool:
    if is_broken(pattern):
        raise Unparsed(f"the expression {pattern!r}")
    return start_match(pattern, text)


def _rendered(text: str, render: Derender | None) -> str:
    if render is None or not text.startswith("__"):
        return text
    try:
        return render(text)
    except ValueError as error:
        raise Unparsed(str(error)) from error


def _same_value(one: Any, other: Any) -> bool:
    left, right = _first(one), _first(other)
    if is_pattern(str(left)):
        return _starts(str(left), str(right))
    return bool(left == right)


def _first(values: Any) -> Any:
    found = values[0] if isinstance(values, tuple) and values else values
    return "" if found is None or found == () else found


def _host(parts: Any) -> str:
    host = parts.netloc.lower()
    try:
        default = {"http": 80, "https": 443}.get(parts.scheme.lower())
        is_default = default is not None and parts.port == default
    except ValueError:
        is_default = False
    return str(parts.hostname or host) if is_default else str(host)


def _query(search: str, path: str, options: UrlOptions) -> tuple[Query, str]:
    if options.query is not None:
        return options.query, path
    parts: list[str] = []
    if options.decodes_base64:
        path, parts = decoded_path(path)
    if search:
        parts.append(search.strip())
    found = parse_qs("&".join(parts), keep_blank_values=True)
    return {unquote(key): tuple(sorted(map(unquote, values))) for key, values in found.items()}, path


def _values(query: Query, options: UrlOptions) -> dict[str, Any]:
    kept = {key: values for key, values in query.items() if not _is_ignored(key, options)}
    plain = {
        key: tuple(sorted(part.lower().strip() if isinstance(part, str) else part for part in _tuple(values)))
        for key, values in kept.items()
    }
    return dict(options.values(plain)) if options.values is not None and plain else plain


def _tuple(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, list | tuple) else (values,)


def _is_ignored(name: str, options: UrlOptions) -> bool:
    if name in options.ignored:
        return True
    return any(found_in(pattern, name, re.IGNORECASE) for pattern in options.ignored_patterns)


def _decoded(segment: str) -> str | None:
    try:
        return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4)).decode("utf-8")
    except (ValueError, binascii.Error):
        return None


def _is_ssh(url: str) -> bool:
    low = url.lower()
    return low.startswith("ssh://") or (low.startswith("git@") and ":" in low and "://" not in low)


def _ssh_base(url: str) -> str:
    """Write a repository's address as `user@__SSH_HOST__:path`, in lower case, without port."""
    if url.lower().startswith("ssh://"):
        parts = urlparse(url)
        user = parts.netloc.split("@")[0] if "@" in parts.netloc else "git"
        path = parts.path
    else:
        user, _, rest = url.partition("@")
        path = rest.partition(":")[2]
    return f"{user.lower()}@__SSH_HOST__:{path.lstrip('/').lower()}"


def _normal(url: str) -> str:
    """Write a URL in one way: scheme, lower-case host, no default port, no dot or empty segments."""
    parts = urlsplit(_cleaned(url).strip())
    user, at, address = parts.netloc.rpartition("@")
    host, _, port = address.partition(":")
    scheme = parts.scheme.lower()
    host = _ascii_host(host.lower().strip("."))
    port = "" if port == {"http": "80", "https": "443"}.get(scheme) else port
    where = f"{user}{at}{host}" + (f":{port}" if port else "")
    path = _path(_requoted(parts.path, "~:/#[]@!$&'()*+,;="), scheme)
    query = "&".join(_pair(pair) for pair in parts.query.split("&") if pair)
    return urlunsplit((scheme, where, path, query, _requoted(parts.fragment, "~=")))


def _cleaned(url: str) -> str:
    if not (url == "-" or (url.startswith("/") and not url.startswith("//"))):
        scheme, colon, rest = url.partition(":")
        if ":" not in url[:7]:
            url = f"https://{url.lstrip('/')}"
        elif colon and scheme.lower() in _WEB:
            url = f"{scheme}://{rest.lstrip('/')}"
    return url.replace("#!", "?_escaped_fragment_=").rstrip("&? ")


def _ascii_host(host: str) -> str:
    if host.isascii():
        return _ascii_labels(host.split("."))
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError as error:
        raise ValueError(f"no host: {host!r}") from error


def _ascii_labels(labels: Sequence[str]) -> str:
    """Join the parts of a host; blank parts are skipped if all others are proper names."""
    is_proper = all(map(_LABEL.fullmatch, filter(None, labels)))
    if any(len(label) > _LABEL_MAX for label in labels) or not (is_proper or all(labels[:-1])):
        raise ValueError("no host: a part is empty or too long")
    return ".".join(filter(None, labels))


def _requoted(text: str, safe: str) -> str:
    return quote(unicodedata.normalize("NFC", unquote(text)), safe)


def _pair(pair: str) -> str:
    key, _, value = pair.partition("=")
    key, value = (_requoted(part, "~:/?[]@!$'()*+,;") for part in (key, value))
    return f"{key}={value}" if value else key


def _path(path: str, scheme: str) -> str:
    if scheme not in ("", "http", "https", "ftp", "file"):
        return path
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            kept = kept[:-1] if len(kept) > 1 else kept
        elif segment != "." and (segment or not kept):
            kept.append(segment)
    if segments[-1] in ("", ".", ".."):
        kept.append("")
    return "/".join(kept) or ("/" if scheme else "")


def site_names(roots: Mapping[str, Sequence[str]]) -> Derender:
    """Return what puts `__NAME__` in the place of the first site's root in a text: longest roots first.

    Every occurrence counts, inside other URLs too, as upstream. A text without any root stays as it is.
    """
    ordered = sorted(roots.items(), key=lambda item: -max(map(len, item[1]), default=0))

    def derender(text: str) -> str:
        for name, root in _pairs(ordered):
            if root in text:
                return text.replace(root.rstrip("/"), f"__{name.upper()}__")
        return text

    return derender


def _pairs(ordered: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, str]]:
    return [(name, root) for name, roots in ordered for root in roots]


def active_roots(roots: Mapping[str, Sequence[str]]) -> Derender:
    """Return what puts the active root in the place of `__NAME__` at a text's beginning."""

    def render(text: str) -> str:
        for name, found in roots.items():
            if found and text.startswith(f"__{name.upper()}__"):
                return text.replace(f"__{name.upper()}__", found[0])
        raise ValueError(f"no root for {text!r}")

    return render
