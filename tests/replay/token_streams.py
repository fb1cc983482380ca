"""Made-up snapshots of every kind of box, for the two implementations of the rule of rendered texts."""

from __future__ import annotations

import random
from typing import Any

import msgspec


def words(text: str) -> list[str]:
    """Split a list of names."""
    return text.split()


COMMON = words("div p span b br td td tr tr table tbody thead li x-a")
RARE = words(
    "div p span b br td tr table tbody button select option optgroup details summary textarea input img canvas "
    "video object noscript template iframe slot x-a ul li h1 fieldset wbr"
)
HTML = 4 * COMMON + RARE
DISPLAYS = (
    *words(
        "block inline inline-block flex none contents table inline-table table-row table-cell list-item ruby"
    ),
    *words("table-row-group table-header-group table-caption table-column table-column-group ruby-text math"),
    *words("flow-root -webkit-inline-box"),
    "inline list-item",
    "block math",
)
PLAIN = {
    "<td": "table-cell", "<tr": "table-row", "<table": "table", "<tbody": "table-row-group",
    "<thead": "table-header-group", "<span": "inline", "<b": "inline", "<x-a": "inline", "<div": "block", "<p": "block",
    "<br": "inline", "<select": "inline-block", "<option": "block", "<optgroup": "block",
}  # fmt: skip
BELOW = {
    "<table": ("<tbody", "<thead", "<tr"),
    "<tbody": ("<tr",),
    "<thead": ("<tr",),
    "<tr": ("<td",),
    "<select": ("<option", "<optgroup"),
    "<details": ("<summary",),
}
COLLAPSES = ("collapse", "collapse", "preserve", "preserve-breaks", "break-spaces", "preserve-spaces")
TRANSFORMS = ("none", "none", "uppercase", "lowercase", "capitalize", "uppercase full-width", "")
LETTERS = 8 * ("",) + ("c", "f", "f", "o", "s", "cf")
PIECES = (
    " ", "  ", "\n", "\t", "\r\n", "\f", "a", "B", "word", "\u00df", "\u0130", "\u03a3", "\u0149", "\u0587", "\u1e9e", "\u019b",
    "\u10d0", "\u00a0", "\u200b", "\U0001f600", "\U00010428", "\ufffd", "\u27e6masked\u27e7", "\u27e6cut:3\u27e7", "",
)  # fmt: skip


class Stream:
    """One snapshot, drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.tokens: list[Any] = []
        self.style: list[int] = []
        self.styles: list[str] = []
        self.left = self.chance.randint(2, 40)
        self._element("<html", 0, False)

    @property
    def asked(self) -> dict[str, Any]:
        """Return the tokens for the page's implementation."""
        return {"tokens": self.tokens, "style": self.style, "styles": self.styles, "cut": True}

    @property
    def data(self) -> bytes:
        """The snapshot."""
        head = {
            "snapshot": 1,
            "url": "http://x.test/",
            "elements": len(self.style),
            "styles": self.styles,
            "flags": ["cut", "composed"],
        }
        lines = (head, self.tokens, self.style, [])
        return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)

    def _element(self, start: str, depth: int, hidden: bool) -> None:
        chance = self.chance
        self.tokens.append(start)
        if pairs := self._attributes():
            self.tokens.append(pairs)
        hidden = self._styled(start, hidden)
        if start[0] == "<" and chance.random() < (0.5 if start == "<x-a" else 0.03):
            self._level("#open", depth, hidden, 3)
        if start == "<iframe" and chance.random() < 0.5:
            self.tokens += ["@", {"url": "u"}]
            self._inside("@", depth, False, 3)
            self._close()
        self._inside(start, depth, hidden or start == "<template", 6)
        self._close()

    def _level(self, start: str, depth: int, hidden: bool, most: int) -> None:
        self.tokens.append(start)
        self._inside(start, depth, hidden, most)
        self._close()

    def _inside(self, above: str, depth: int, hidden: bool, most: int) -> None:
        for _ in range(self.chance.randint(0, most)):
            if depth < 12 and self.left > 0 and self.chance.random() < 0.55:
                self.left -= 1
                self._element(self._start(above), depth + 1, hidden)
            else:
                self.tokens.append(self._leaf())

    def _start(self, above: str) -> str:
        chance = self.chance
        if above in BELOW and chance.random() < 0.6:
            return chance.choice(BELOW[above])
        if chance.random() < 0.85:
            return f"<{chance.choice(HTML)}"
        return chance.choice(
            ("%svg", "%text", "%tspan", "%a", "%g", "%foreignObject", "&math", "&mi", "^urn:x y")
        )

    def _leaf(self) -> str:
        mark = self.chance.choice(("=", "=", "=", "=", "!"))
        return mark + "".join(self.chance.choices(PIECES, k=self.chance.randint(0, 4)))

    def _attributes(self) -> list[str]:
        names = (("open", ""), ("multiple", ""), ("size", " 3x"), ("size", "1"), ("^urn:x open", ""))
        return [part for pair in names if self.chance.random() < 0.06 for part in pair]

    def _styled(self, start: str, hidden: bool) -> bool:
        chance = self.chance
        entry = "none"
        if start == "<html":
            entry = "block|visible|collapse|none"
        elif chance.random() > 0.02:
            display = PLAIN.get(start) if chance.random() < 0.8 else None
            visibility = chance.choice(("visible", "visible", "visible", "hidden"))
            parts = (display or chance.choice(DISPLAYS), visibility, chance.choice(COLLAPSES),
                     chance.choice(TRANSFORMS))  # fmt: skip
            letters = chance.choice(LETTERS)
            entry = "|".join(parts) + (f"|{letters}" if letters else "")
        if entry.startswith("none"):
            entry = "none"
        if hidden and not entry.startswith("contents"):
            self.style.append(-1)
            return True
        entry = "contents|visible|collapse|none" if hidden else entry
        if entry not in self.styles:
            self.styles.append(entry)
        self.style.append(self.styles.index(entry))
        return hidden or entry == "none"

    def _close(self) -> None:
        if isinstance(self.tokens[-1], int):
            self.tokens[-1] += 1
        else:
            self.tokens.append(1)
