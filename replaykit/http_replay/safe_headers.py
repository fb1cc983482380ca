"""Filter the headers of a recorded reply: those that set, report, embed or frame anything are removed."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urljoin

from replaykit.http_replay.served_site import Site
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.exchange import Exchange

_DROPPED = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade", "content-length", "content-encoding", "content-md5",
    "digest", "date", "server", "set-cookie", "set-cookie2", "clear-site-data",
    "strict-transport-security", "public-key-pins", "alt-svc", "refresh", "content-security-policy",
    "content-security-policy-report-only", "permissions-policy", "feature-policy",
    "cross-origin-opener-policy", "cross-origin-embedder-policy", "cross-origin-resource-policy",
    "report-to", "reporting-endpoints", "nel", "origin-agent-cluster", "x-content-type-options",
    "referrer-policy", "service-worker-allowed", "sourcemap", "x-sourcemap", "cache-control", "expires",
    "pragma", "age", "content-location", "location", "content-type",
})  # fmt: skip
_NAME = lazy_pattern(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = lazy_pattern(r"[\t\x20-\x7e\x80-\xff]{0,8000}")

OWN = (
    ("Cache-Control", "no-store"),
    # Recorded pages are hostile: a browser runs no script of theirs, and fetches from here only.
    ("Content-Security-Policy", "sandbox; default-src 'self' data: 'unsafe-inline'; form-action 'none'"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)
"""Sent with every reply, recorded or not."""


def recorded(exchange: Exchange, media_type: str) -> Iterator[tuple[str, str]]:
    """Yield the headers of a recorded reply that may be sent again, its content type among them."""
    headers = exchange.response_headers or ()
    types = [value for name, value in headers if name.lower() == "content-type"]
    # Without a type, browsers guess it from the body, and may find HTML.
    yield "Content-Type", next((one for one in (*types, media_type) if one and is_clean(one)), "text/plain")
    for name, value in headers:
        lower = name.lower()
        # Recorded CORS headers would let other sites read what is served here.
        is_kept = lower not in _DROPPED and not lower.startswith("access-control-")
        if is_kept and _NAME.fullmatch(name) and is_clean(value):
            yield name, value


def is_clean(value: str) -> bool:
    """Return whether a value fits into one header line."""
    return _VALUE.fullmatch(value) is not None


def destination(exchange: Exchange, site: Site) -> str | None:
    """Return path and query that a redirect leads to; None where that is not on the site, or missing."""
    values = [value for name, value in exchange.response_headers or () if name.lower() == "location"]
    try:
        target = site.target(urljoin(exchange.url, values[-1])) if values else None
    except ValueError:
        return None
    # Two slashes at the start would name another host.
    return target if target and is_clean(target) and not target.startswith("//") else None
