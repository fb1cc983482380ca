"""The trajectory digest: sha256 of a short text that names story and blobs, and nothing of the container."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256


def manifest(events: int, story_sha256: str, blobs: Iterable[tuple[str, int, str]]) -> bytes:
    """Return the manifest text; `blobs` are (id, payload bytes, media type) in any order."""
    # Text and its UTF-8 bytes sort alike.
    lines = sorted([f"blob {id} {n} {media_type}\n" for id, n, media_type in blobs])
    return f"replaykit-manifest 1\nstory {events} {story_sha256}\n{''.join(lines)}".encode()


def trajectory_digest(events: int, story_sha256: str, blobs: Iterable[tuple[str, int, str]]) -> str:
    """Return the digest that names a trajectory: 64 hex digits."""
    return sha256(manifest(events, story_sha256, blobs)).hexdigest()
