"""The content digest: the manifest of a reduced story, the same for two recordings of one deterministic run.

The reduced story leaves out when things happened, where the site was served and what only timing decides;
docs/bundle-format.md 1.6 is normative, field by field. It is computed and never stored.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import cast

from replaykit.bundle.blobs import class_of
from replaykit.bundle.bundle_format import SNAPSHOT
from replaykit.bundle.container import Container
from replaykit.bundle.reduced_story import reduced_lines
from replaykit.bundle.story_lines import decode_line
from replaykit.bundle.trajectory_digest import manifest
from replaykit.errors import BundleError
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.step import Header

ROOTS_MAX = 100
"""Most site roots that are replaced by their names: each needs another scan of every text."""

_ID = lazy_pattern(rb'"([0-9a-f]{64})"')
_ROOT = lazy_pattern(r"https?://[^\s/?#][^\s?#]{0,2000}")
_NAME = lazy_pattern(r"[A-Za-z0-9_.-]{1,64}")

# How far a document had come with loading. In a JSON text these bytes are a key and its value: within
# strings every quote has a backslash.
_READY = lazy_pattern(rb'"ready":"(?:loading|interactive|complete)",?')

# Characters after which the match would be part of another host, port or word.
_BOUNDARY = rb"(?![A-Za-z0-9_-]|[.:@][A-Za-z0-9])"


def content_digest(container: Container) -> str:
    """Return the content digest, 64 hex digits.

    Memory: the story and one blob. Raises BundleError: EventInvalid, BundleDamaged, DigestMismatch.
    """
    return sha256(content_manifest(container)).hexdigest()


def content_manifest(container: Container) -> bytes:
    """Return the manifest text of the reduced story and of the blobs that it refers to."""
    lines, roots = _reduced(container)
    wanted = {found.decode() for line in lines for found in _ID.findall(line)}
    blobs = {id: _blob(container, id, roots) for id in container.tables.blobs if id in wanted}
    story = sha256()
    for line in lines:
        story.update(_ID.sub(lambda found: _renamed(found, blobs), line) + b"\n")
    return manifest(len(lines) - 1, story.hexdigest(), set(blobs.values()))


class Roots:
    """The addresses that a site was recorded at, which read as `__NAME__` wherever they occur."""

    def __init__(self, header: Header) -> None:
        named = [
            (root.rstrip("/"), name)
            for name, roots in header.sites.items()
            for root in roots
            if _ROOT.fullmatch(root) and _NAME.fullmatch(name)
        ]
        # Of two roots that begin alike the longer one says more.
        longest_first = sorted(named, key=lambda pair: (-len(pair[0]), pair))[:ROOTS_MAX]
        self._patterns = [
            (re.compile(re.escape(root.encode()) + _BOUNDARY), f"__{name.upper()}__".encode())
            for root, name in longest_first
        ]

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def named(self, text: bytes) -> bytes:
        """Return a text with the names in place of the roots."""
        for pattern, name in self._patterns:
            text = pattern.sub(name, text)
        return text


def _reduced(container: Container) -> tuple[list[bytes], Roots]:
    name, version = container.name, container.tables.format
    lines = enumerate(container.lines(), -1)
    # Exchanges, the bulk of a story, are not kept.
    decoded = (decode_line(line, number, name, version) for number, line in lines)
    header = cast(Header, next(decoded))
    roots = Roots(header)
    try:
        return [roots.named(line) for line in reduced_lines(header, decoded)], roots
    except RecursionError as error:
        raise BundleError(source=name, what="a value is nested too deeply for the content digest") from error


def _blob(container: Container, id: str, roots: Roots) -> tuple[str, int, str]:
    place = container.tables.blobs[id]
    is_timed = place.media_type == SNAPSHOT
    if class_of(place.media_type) in ("opaque", "pixels") or not (roots or is_timed):
        return id, place.n, place.media_type
    payload = roots.named(container.blob(id))
    if is_timed:
        payload = _READY.sub(b"", payload)
    return sha256(payload).hexdigest(), len(payload), place.media_type


def _renamed(found: re.Match[bytes], blobs: dict[str, tuple[str, int, str]]) -> bytes:
    id = found[1].decode()
    return f'"{blobs[id][0] if id in blobs else id}"'.encode()
