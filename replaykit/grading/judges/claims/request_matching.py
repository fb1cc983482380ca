"""Requests that predicates name: by method, address and the fields of their bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from replaykit.errors import BundleError
from replaykit.grading.judges.claims.predicates import RequestSent
from replaykit.grading.judges.claims.run_facts import RunFacts
from replaykit.grading.server_changes import BODY_MAX, Change
from replaykit.grading.values.bodies import decoded, read_fields
from replaykit.grading.values.globs import STAR, hidden, segment, whole
from replaykit.grading.values.normal_form import fold
from replaykit.grading.values.typed_comparison import compare
from replaykit.grading.values.urls import parse
from replaykit.replay.page_charsets import legacy_codec
from replaykit.replay.player import Replay

FIELDS_MAX = 1000
"""Values of a body that are looked at."""

ANY = "*"
"""Name that stands for any field."""


def is_specific(url: str, query: Mapping[str, str]) -> bool:
    """Return whether an address names something: it has a segment with letters, or a parameter."""
    parsed = parse(_absolute(url)) if url else None
    words = [part.replace(STAR, "") for part in parsed.path] if parsed is not None else []
    return any(len(word) > 1 for word in words) or any(query.values())


def is_place(wanted: str, found: str, facts: RunFacts, query: Mapping[str, str] | None = None) -> bool:
    """Return whether a URL of the sites is the one that is wanted: a whole one, or a path, with wildcards."""
    one, other = parse(_absolute(wanted)), parse(found)
    if one is None or other is None or not facts.is_own(found):
        return False
    is_path = wanted.startswith(("/", "*")) or not wanted
    if not is_path and one.host != other.host:
        return False
    pairs = Counter(one.query) + Counter((query or {}).items())
    if not pairs <= Counter(other.query) or (one.fragment is not None and one.fragment != other.fragment):
        return False
    return not wanted or whole([segment(part) for part in one.path], other.path)


def wanted_changes(one: RequestSent, facts: RunFacts) -> tuple[list[Change], list[Change]]:
    """Return the changes that a predicate names, and those that differ in the values of its fields only."""
    hits, others = [], []
    for change in facts.changes:
        method = one.method.strip().upper()
        is_method = method in ("", change.exchange.method.upper())
        is_status = one.status in (None, change.status)
        if not is_method or not is_status or (one.url and not is_place(one.url, change.exchange.url, facts)):
            continue
        sent = list(sent_fields(change, facts.replay)) if one.fields else []
        if all(_has(name, value, sent) for name, value in one.fields.items()):
            hits.append(change)
        elif one.url and _differs(one.fields, sent):
            others.append(change)
    return hits, others


def _absolute(url: str) -> str:
    text = hidden(url)
    if "://" in text:
        return text
    return f"http://site.invalid/{text.lstrip('/')}"


def _has(name: str, value: str, sent: list[tuple[str, str]]) -> bool:
    return any(_same(value, found) for key, found in sent if name == ANY or fold(name) == fold(key))


def _differs(fields: Mapping[str, str], sent: list[tuple[str, str]]) -> bool:
    """Return whether a body has each of the fields, and no value that is masked."""
    keys = {fold(key) for key, _ in sent}
    values = [found for _, found in sent]
    return (
        ANY not in fields and all(fold(name) in keys for name in fields) and not any("⟦" in v for v in values)
    )


def _same(wanted: str, found: str) -> bool:
    return fold(wanted) == fold(found) or compare(wanted, found).matches


def sent_fields(change: Change, replay: Replay) -> Iterator[tuple[str, str]]:
    """Yield the fields of a request's body, those inside of others by their own names."""
    post = change.exchange.post
    bundle = replay.bundle
    if not isinstance(post, str) or post not in bundle:
        return
    headers = change.exchange.request_headers or ()
    kind = next((value for name, value in headers if name.lower() == "content-type"), "")
    try:
        body = bundle.blob(post)[:BODY_MAX]
        fields = read_fields(
            kind or bundle.blob_type(post), decoded(body, kind, partial(replay.memo, legacy_codec))
        )
    except (BundleError, RecursionError):
        return
    yield from _leaves(fields or {})


def _leaves(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names and values, at most a thousand, without recursion."""
    left: list[tuple[str, Any]] = list(fields.items())
    for _ in range(FIELDS_MAX):
        if not left:
            return
        name, value = left.pop(0)
        if isinstance(value, dict):
            left += list(value.items())
        elif isinstance(value, list):
            left += [(name, one) for one in value]
        else:
            yield name, str(value).lower() if isinstance(value, bool) else str(value)
