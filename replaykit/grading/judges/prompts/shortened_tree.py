"""Accessibility trees made smaller: without the lines that name nothing, and cut where that is not enough."""

from __future__ import annotations

import re

_STRUCTURE = """
generic none presentation group list listitem paragraph section sectionheader sectionfooter row rowgroup
layouttable layouttablerow layouttablecell labeltext div span statictext text inlinetextbox linebreak
"""
STRUCTURE = frozenset(_STRUCTURE.split())
"""Roles that say nothing without a name."""

# A role, then marks that only identify: `- generic [ref=e2]:`, `[12] generic ''`, `list`.
_LINE = re.compile(r"\s*(?:- )?(?:\[[\w-]+\]\s*)?(?P<role>[A-Za-z]+)\s*(?P<rest>.*)", re.DOTALL)
_MARKS = re.compile(r"\[(?:ref|bid|id)=[\w-]+\]|''|\"\"|[\s:]")


def pruned(tree: str) -> str:
    """Return a tree's text without its empty structure and without repeated text boxes; the order stays."""
    return "\n".join(line for line in tree.split("\n") if not _is_empty(line))


def fitted(tree: str, most: int) -> str:
    """Return a tree of at most so many characters: as it is, else pruned, else cut with a marker."""
    if len(tree) <= most:
        return tree
    smaller = pruned(tree)
    cut = len(smaller) - most
    return smaller if cut <= 0 else f"{smaller[:most]}⟦cut:{cut}⟧"


def _is_empty(line: str) -> bool:
    found = _LINE.fullmatch(line)
    if found is None:
        return not line.strip()
    role = found["role"].lower()
    # A text box repeats the text that it is part of.
    return role == "inlinetextbox" or (role in STRUCTURE and not _MARKS.sub("", found["rest"]))
