"""Faults of URLs in checks: no URL at all, a wildcard, or a pattern that nothing reads as one."""

from __future__ import annotations

from functools import lru_cache

import ada_url

from replaykit.patterns import lazy_pattern

ROOT = lazy_pattern(r"\s*(?:[A-Za-z][A-Za-z0-9+.-]*:|__[A-Za-z0-9_]+__)")
"""How a URL begins that names where it leads."""
_AUTHORITY = lazy_pattern(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*|__[A-Za-z0-9_]+__")
_PATTERN = lazy_pattern(r"\{[^{}]*\}|\\.|\[[^\[\]]*-[^\[\]]*\]|\((?:[^()|]+\|)+[^()|]+\)")
"""Spellings in paths that are patterns only: `{a,b}`, `\\d`, `[0-9]`, `(a|b)`."""
_ANYTHING = lazy_pattern(r"(?:^|(?<=/))\.[*+]")
"""A segment that begins like an expression for anything."""
_LIST = lazy_pattern(r"[,;|\s]\s*(?=/|https?:|$)|\|")
"""Signs between two terms."""
_QUERY = lazy_pattern(r"\\?\?[\w\[\].-]+=")


def star_fault(url: str) -> str:
    """Return what is wrong with a URL that has a wildcard and is no expression; nothing where it has none."""
    if "*" not in url or (url.startswith("^") and url.endswith("$")):
        return ""
    return "a URL of a check has no wildcards: use a regular expression or a prefix, or write %2A for a `*`"


def pattern_in(term: str) -> str:
    """Return what is wrong with a URL term that is written as an expression or as a list; else nothing."""
    plain = term.strip()
    if plain.startswith("^") or plain.endswith("$"):
        return f"{term!r} is a regular expression: write {{regex: ...}}"
    if found := _PATTERN.search(plain.partition("?")[0]):
        return f"`{found[0]}` is a pattern: write {{regex: ...}}, or escape it (%7B for `{{`)"
    if found := _ANYTHING.search(plain):
        return f"`{found[0]}` is a pattern of regular expressions: write `*`, or {{regex: ...}}"
    if _LIST.search(plain):
        return f"{term!r} is a list in one text: give each its own entry, [A, B], or write %2C, %7C, %20"
    return ""


def url_fault(url: str, path: str) -> tuple[str, str] | None:
    """Return code and message of what is wrong with the URL of a `url_match`, None where nothing is."""
    return _kept(url, path) if len(url) <= _KEPT_MAX else _fault(url, path)


def _fault(url: str, path: str) -> tuple[str, str] | None:
    if path == "regex":
        from replaykit.tasks.grammar.regexes import regex_fault  # for URLs that are expressions

        return regex_fault(url) or _pattern_fault(url) or regex_fault(_AUTHORITY.sub("", url, 1).strip("/"))
    reason = star_fault(url) or written_fault(url)
    return ("bad_reference", reason) if reason else None


# Many runs are of one task; long URLs are not kept.
_kept = lru_cache(maxsize=1024)(_fault)
_KEPT_MAX = 2048


def written_fault(url: str) -> str:
    """Return what is wrong with a URL that is to be compared part by part; empty if nothing is."""
    if fault := address_fault(url):
        return fault
    found = spelt_pattern(url)
    return f"`{found}` is a pattern: use `path: regex` for it, or escape it (%7B for `{{`)" if found else ""


def spelt_pattern(url: str) -> str:
    """Return what in a plain URL is spelt as a pattern; empty if nothing is."""
    found = _PATTERN.search(url.partition("?")[0])
    return found[0] if found else ""


def address_fault(url: str) -> str:
    """Return why no browser would open a URL; empty if one would."""
    if not ROOT.match(url):
        return f"{url!r} is no URL: begin with http:// or https://, or with a site such as __SHOP__"
    if fault := root_fault(url):
        return fault
    if "__" not in url and not ada_url.check_url(url.strip()):
        return f"{url!r} is no URL that a browser would open"
    return ""


def parameter_fault(name: str) -> str:
    """Return why no query has a parameter of this name; empty if one could."""
    sign = next((sign for sign in "?&#=" if sign in name), "")
    if sign or not name.strip():
        return f"{name!r} is no name of a parameter: give the name only, as `page` of `?page=2`"
    return ""


def root_fault(url: str) -> str:
    """Return what is wrong with how a URL begins: a misspelt scheme, or a placeholder that is not filled."""
    if found := _LOWER.match(url):
        return f"{found[1]} is not filled: names of sites are in capitals, {found[1].upper()}"
    scheme = _SCHEME.match(url)
    name = scheme[1].lower() if scheme is not None else "http"
    if name in _SCHEMES:
        return ""
    from difflib import get_close_matches  # for what is wrong only

    near = get_close_matches(name, ("http", "https"), 1, _NEAR)
    return f"{url!r} begins with no scheme of a page: did you mean {near[0]}://?" if near else ""


_LOWER = lazy_pattern(r"\s*(__(?=\w*[a-z])[A-Za-z0-9]+(?:_[A-Za-z0-9]+)*__)(?=[/?#]|$)")
"""A URL that begins with a placeholder of which some letters are small."""
_SCHEME = lazy_pattern(r"\s*([A-Za-z][A-Za-z0-9+.-]*)://")
_SCHEMES = ("http", "https", "ws", "wss", "ftp", "file", "data", "blob")
_NEAR = 0.6
"""So alike is `htpp` to `http`."""


def _pattern_fault(url: str) -> tuple[str, str] | None:
    if not ROOT.match(url):
        reason = "an expression is for the path: begin with a root as it is, http://host or __SHOP__"
        return "bad_regex", reason
    if ROOT.sub("", url, 1) and _QUERY.search(url):
        reason = "an expression is for the path: give the query with `path: prefix` and without an expression"
        return "bad_regex", reason
    return None
