"""A tab's navigation history, followed event by event: the browser says that it moved, not which way."""

from __future__ import annotations


class TabHistory:
    """URLs of the entries and the place among them; read from the browser at times, followed in between."""

    def __init__(self) -> None:
        self.direction: str | None = None
        """`back` or `forward`: the last back/forward navigation; None = unknown."""
        self.moves = 0
        """Counts what was followed: a reading that was overtaken is out of date."""
        self.requested: tuple[tuple[str, str], ...] = ()
        """Entries when it was read last: address, and the one that was first asked for."""
        self._urls: list[str] = []
        self._at = -1

    def read(self, entries: list[tuple[str, str]], at: int) -> None:
        """Record the history as the browser reports it."""
        self.requested = tuple(entries)
        self._urls, self._at = [url for url, _ in entries], at

    def shows(self, url: str) -> bool:
        """Whether the history, when it was read last, had an entry of this address."""
        return any(shown == url for shown, _ in self.requested)

    def committed(self, url: str, kind: str | None) -> None:
        """Follow the commit of a document; `kind` is the protocol's navigation type."""
        self.moves += 1
        if kind is not None and kind.startswith("history"):
            self._travel(url)
        elif kind is None or not kind.startswith(("reload", "restore")):
            self._push(url)

    def within(self, url: str, kind: str | None) -> None:
        """Follow a change within the document; one that keeps the address replaces its entry."""
        self.moves += 1
        # Despite its name, `historyApi` is `pushState`, and no back/forward navigation.
        if kind is not None and kind.startswith("history") and kind != "historyApi":
            self._travel(url)
        elif self._at < 0 or self._urls[self._at] != url:
            self._push(url)

    def _push(self, url: str) -> None:
        self._urls[self._at + 1 :] = [url]
        self._at += 1

    def _travel(self, url: str) -> None:
        # Nearly all moves are by one; among equal distances, back is the commoner.
        places = [place for place, one in enumerate(self._urls) if one == url and place != self._at]
        nearest = min(places, key=lambda place: (abs(place - self._at), place), default=None)
        if nearest is None:
            self.direction = None
            return
        self.direction = "back" if nearest < self._at else "forward"
        self._at = nearest
