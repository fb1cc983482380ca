"""Texts that were cleaned before: pages repeat theirs in each step, and patterns are slow.

Own module: what is remembered, and how much, is another question than what is a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import sha256

SHORT_MAX = 256
"""Longest text whose outcome is kept, characters; of longer ones only the digest, if they hold no secret."""

OUTCOMES_MAX = 4096
"""Short texts whose outcomes are kept."""

KEPT_MAX = 8192
"""Texts without a secret that are remembered before all are forgotten: a page has hundreds."""


class CleanedTexts:
    """Remembers what `clean` made of texts. Memory is bounded by the limits above."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        self._clean = clean
        self._outcome = lru_cache(maxsize=OUTCOMES_MAX)(clean)
        self._kept: set[str | bytes] = set()
        """Texts that stay as they are: short ones, and digests of longer ones."""

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return self._outcome(text) if len(text) <= SHORT_MAX else self._long(text)

    def keeps(self, texts: Iterable[str]) -> bool:
        """Whether none of these texts holds a secret."""
        return all(map(self._stays, set(texts).difference(self._kept)))

    def forget(self) -> None:
        """Forget all: other values are secret from now on."""
        self._outcome.cache_clear()
        self._kept.clear()

    def _stays(self, text: str) -> bool:
        stays = self.text(text) == text
        if stays and len(text) <= SHORT_MAX:
            self._keep(text)
        return stays

    def _long(self, text: str) -> str:
        digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
        if digest in self._kept:
            return text
        clean = self._clean(text)
        if clean == text:
            self._keep(digest)
        return clean

    def _keep(self, text: str | bytes) -> None:
        if len(self._kept) >= KEPT_MAX:
            self._kept.clear()
        self._kept.add(text)
