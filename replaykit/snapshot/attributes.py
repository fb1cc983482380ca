"""Names of attributes in a snapshot: qualified names, and `^uri name` where that name would be ambiguous.

Named as it is: what has no namespace, and on a foreign element what has that of its usual prefix.
"""

from __future__ import annotations

from replaykit.snapshot.snapshot_format import HTML

XML = "http://www.w3.org/XML/1998/namespace"
XMLNS = "http://www.w3.org/2000/xmlns/"
XLINK = "http://www.w3.org/1999/xlink"

_PREFIXES = {"xlink": XLINK, "xml": XML, "xmlns": XMLNS}
_SPELLED = {uri: prefix for prefix, uri in _PREFIXES.items()}


def namespace_of(name: str, kind: int) -> str:
    """Return the namespace of an attribute of an element of that kind; empty where it has none."""
    if _is_spelled_out(name):
        return name[1 : name.rindex(" ")]
    prefix, _, local = name.partition(":")
    return _PREFIXES.get(prefix, "") if kind != HTML and (local or prefix == "xmlns") else ""


def qualified(name: str) -> str:
    """Return the name that `getAttribute` takes."""
    return name[name.rindex(" ") + 1 :] if _is_spelled_out(name) else name


def serialized(name: str, kind: int) -> str:
    """Return the name that page source has (HTML standard 13.3): the usual prefix, not the page's own."""
    if not _is_spelled_out(name):
        return name
    whole, uri = qualified(name), namespace_of(name, kind)
    local = whole.rpartition(":")[2]
    if uri == XMLNS and local == "xmlns":
        return local
    return f"{_SPELLED[uri]}:{local}" if uri in _SPELLED else whole


def _is_spelled_out(name: str) -> bool:
    return name[:1] == "^" and " " in name
