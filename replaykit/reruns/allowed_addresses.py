"""Where a recorded run may be carried out again: roots that the user named, and no other address.

A bundle is somebody else's content. What it holds about addresses counts only where it lies under a root
that is mapped; a URL is read as a browser reads it before it is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import ada_url
from msgspec import Struct

from replaykit.errors import UsageError
from replaykit.patterns import lazy_pattern

_WEB = ("http:", "https:")
_PAIR = lazy_pattern(r"(https?://\S+?)=(https?://\S+)")


class Addresses(Struct, frozen=True, kw_only=True):
    """Recorded roots and what stands for them now."""

    pairs: tuple[tuple[str, str], ...]
    """Recorded root to live root, as a browser writes them, without a slash at the end; longest first."""

    def live(self, url: str) -> str | None:
        """Return the live URL for a recorded one; None where no root covers it."""
        normalised = normal(url)
        for old, new in self.pairs if normalised is not None else ():
            if normalised is not None and _is_under(normalised, old):
                return new + normalised[len(old) :]
        return None

    def allows(self, url: str) -> bool:
        """Whether a live URL lies under one of the live roots."""
        normalised = normal(url)
        return normalised is not None and any(_is_under(normalised, new) for _, new in self.pairs)

    def text(self, text: str) -> str:
        """Return a recorded text with its roots as they are now: pages print their own addresses."""
        for old, new in self.pairs:
            text = text.replace(old, new)
        return text


def addresses(
    recorded: Mapping[str, Sequence[str]],
    *,
    sites: Mapping[str, Sequence[str]] | None = None,
    url_map: Iterable[tuple[str, str]] = (),
    allow: Iterable[str] = (),
) -> Addresses:
    """Return what the user named: sites of the recording by name, pairs of roots, roots as recorded.

    `recorded`: the sites in the header of the story. Raises UsageError for names and roots that mean nothing.
    """
    pairs = [*url_map, *((root, root) for root in allow)]
    for name, roots in (sites or {}).items():
        if name not in recorded:
            known = ", ".join(sorted(recorded)) or "none; use --url-map OLD=NEW"
            raise UsageError(what=f"--site: the recording has no site {name!r}; it has {known}")
        pairs += [(old, roots[0]) for old in recorded[name]]
    found = {_root(old): _root(new) for old, new in pairs}
    # The longest root wins, as a site may lie within another.
    return Addresses(pairs=tuple(sorted(found.items(), key=lambda pair: -len(pair[0]))))


def parse_url_map(given: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs of `OLD=NEW` texts. Raises UsageError."""
    pairs = []
    for text in given:
        found = _PAIR.fullmatch(text)
        if found is None:
            raise UsageError(what=f"--url-map: expected OLD=NEW with two http(s) roots, got {text!r}")
        pairs.append((found[1], found[2]))
    return pairs


def normal(url: str) -> str | None:
    """Return an http(s) URL as a browser writes it; None for any other text, and for one with a user name."""
    try:
        # Browsers take `\` for `/` and drop tabs: Python's parser sees another host there.
        parsed = ada_url.URL(url)
    except ValueError:
        return None
    # `http://shop.example@evil.example` reads like the first host and opens the second.
    if parsed.protocol not in _WEB or parsed.username or parsed.password:
        return None
    return str(parsed.href)


def _root(url: str) -> str:
    normalised = normal(url)
    # A query belongs to one page; nothing lies under it.
    if normalised is None or "?" in normalised or "#" in normalised:
        raise UsageError(what=f"expected an http(s) root such as http://127.0.0.1:8000, got {url!r}")
    return normalised.rstrip("/")


def _is_under(url: str, root: str) -> bool:
    # `/shop` must not cover `/shopping`.
    return url.startswith(root) and url[len(root) : len(root) + 1] in ("", "/", "?", "#")
