"""How easily the documents read: how long their sentences are, and which words another one replaces.

Docstrings of the public interface and descriptions of the JSON schemas count as documents.

Run: .venv/bin/python -m bench.prose [--list N] [FILE]...

Docstrings and comments of the whole source are two more rows, also held against `SOURCE_WORDS`.

`--list` prints the longest sentences of each file and every flagged word. Nothing is timed.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import itertools
import json
import re
import statistics
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.library_page import docstrings, prose_of

ROOT = Path(__file__).resolve().parent.parent
MEDIAN = 20
"""A document's median sentence stays below this number of words."""
LONGEST = 35
"""No sentence has more words."""

WORDS = {
    r"(?<![-\w])(?:acts?|deeds?)(?![-\w])": "action",
    r"\bpictures?\b": "screenshot, image",
    r"\balone\b": "only",
    r"\bbesides\b|, too\b(?! \w)|^too\b": "also, in addition",
    r"\bnobody\b": "no one, unknown",
    r"\b(?:said|told)\b": "reported, listed, logged",
    r"\bpass(?:es|ed|ing)? over\b": "skipped",
    r"\bpeers?\b": "benchmark, or its name",
    r"\bwhat is there\b": "element, field, page",
    r"\bfor ever\b": "forever",
    r"\b(?:is|are|was|were) none\b|\bthere is not\b": "unreadable, missing, unsupported",
    r"\b(?:a|the|its|their) why\b": "reason",
    r"\bmoves? in the history\b": "back/forward navigation",
    r"\b(?:do|does|did|done|doing)(?: \w+){0,3} again\b": "rerun, re-execute",
    r"\banew\b": "again",
}
"""Words that the documents do not use, by what they use instead. Code spans are not looked at."""

SOURCE_WORDS = {
    r"\bnone that\b|\bnone of its\b|\bno more than what\b": "a positive sentence",
    r"\bhears?\b|\bheard\b|\bunheard\b": "receive, record",
    r"\b(?:comes?|came) to\b|\bcomes of\b": "results in, is",
    r"\basks? after\b": "asks for, queries",
    r"\b(?:tells?|speaks?|spoken) of\b|\bspoke of\b": "mentions, reports",
    r"\bbut for\b": "except",
    r"\bone's own\b|\bof its own making\b|\bby and by\b": "plainer words",
    r"\bby then\b|\bthat it is\b$": "plainer words",
}
"""Words that docstrings and comments do not use, in addition to `WORDS`."""

STARTS = ("What ", "Whatever ", "Take in ")
"""Beginnings that docstrings and comments do not have: a noun phrase or a verb such as `Return` says more."""

SOURCES = ("source docstrings", "source comments", "script comments")
"""Rows of texts that stand in the source."""

_FENCE = re.compile(r"^ *(`{3,}|~{3,}).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"(`+)[^`](?:(?!\n\n).)*?\1", re.DOTALL)
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")
_ITEM = re.compile(r"^ *(?:[-*+]|\d+\.) +")
_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)[)\"*_]*\s+|\n{2,}")


class Sentence(NamedTuple):
    """One sentence of a document, or one item of a list."""

    text: str
    """Markup left out; a code span is one word."""

    @property
    def length(self) -> int:
        """Number of words."""
        return len([word for word in self.text.split() if re.search(r"\w", word)])


class Flagged(NamedTuple):
    """A word that another one replaces."""

    line: int
    """From 1."""
    found: str
    instead: str


def documents() -> list[Path]:
    """Return what people read at the root and under docs/, but for decisions, which are history."""
    top = [ROOT / f"{name}.md" for name in ("README", "SECURITY", "CONTRIBUTING", "CHANGELOG")]
    return [*top, *sorted((ROOT / "docs").glob("*.md"))]


def descriptions() -> dict[str, dict[str, str]]:
    """Return what editors and `help()` show: for the library and for each schema, texts by their place."""
    library = {place: prose_of(text) for place, text in docstrings().items()}
    schemas = {path.name: path.read_bytes() for path in sorted((ROOT / "docs").glob("*.schema.json"))}
    return {"docstrings": library} | {
        name: dict(_described(json.loads(raw))) for name, raw in schemas.items()
    }


def source_texts(
    package: Path = ROOT / "replaykit", words: Sequence[str] = ("",)
) -> dict[str, dict[str, str]]:
    """Return all docstrings, those of fields included, and all comments of a package, by `path:line`.

    `words`: only those of Python files that hold one of these.
    """
    found: dict[str, dict[str, str]] = {name: {} for name in SOURCES}
    for path in sorted(package.rglob("*.py")):
        place, text = path.relative_to(package.parent), path.read_text("utf-8")
        if not any(word in text for word in words):
            continue
        found["source docstrings"] |= {f"{place}:{line}": one for line, one in _docstrings(ast.parse(text))}
        found["source comments"] |= {f"{place}:{line}": one for line, one in _comments(text)}
    for path in sorted(package.rglob("*.js")):
        place, held = path.relative_to(package.parent), _script_comments(path.read_text("utf-8"))
        found["script comments"] |= {f"{place}:{line}": one for line, one in _joined(held)}
    return found


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and text of each statement that is only a text."""
    for node in ast.walk(tree):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value.lineno, prose_of(inspect.cleandoc(value.value))


def _comments(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each comment; lines of comment below each other are one."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = (token for token in tokens if token.type == tokenize.COMMENT)
    yield from _joined({one.start[0]: one.string.lstrip("# ") for one in comments})


def _script_comments(text: str) -> dict[int, str]:
    """Return the comments of a script that have a line of their own, by line."""
    lines = enumerate(text.splitlines(), 1)
    return {number: line.strip().lstrip("/ ") for number, line in lines if line.strip().startswith("//")}


def _joined(held: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    for line in sorted(held):
        if line - 1 not in held:
            lines = itertools.takewhile(held.__contains__, itertools.count(line))
            yield line, "\n".join(held[one] for one in lines)


def _described(part: object, place: str = "$") -> Iterator[tuple[str, str]]:
    """Yield the path and text of every description of a schema."""
    if not isinstance(part, dict):
        return
    if isinstance(part.get("description"), str):
        yield place, part["description"]
    for name, below in part.items():
        yield from _described(below, f"{place}.{name}")


def sentences(markdown: str) -> list[Sentence]:
    """Return the sentences outside of tables, code blocks and headings."""
    found = (part for block in _blocks(_bare(markdown)) for part in _END.split(block))
    return [Sentence(" ".join(part.split())) for part in found if re.search(r"\w", part)]


def _bare(markdown: str) -> str:
    """Return the text with a word for each code span, and no blocks of code, comments or targets of links."""
    text = _CODE.sub("`code`", _COMMENT.sub("", _FENCE.sub("\n", markdown)))
    return _LINK.sub(r"\1", text)


def _blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, and items of lists one by one."""
    held: list[str] = []
    for line in [*text.splitlines(), ""]:
        line = line.lstrip("> ")
        is_apart = not line.strip() or line.lstrip().startswith(("|", "#"))
        if is_apart or _ITEM.match(line):
            yield "\n".join(held)
            held = []
        if not is_apart:
            held.append(_ITEM.sub("", line, count=1))
    yield "\n".join(held)


def flagged(text: str, words: Mapping[str, str] = WORDS) -> list[Flagged]:
    """Return the words that another word of the field replaces, in order."""
    bare = _FENCE.sub(_blanked, text)
    bare = re.sub(r"\]\([^)]*\)", _blanked, _CODE.sub(_blanked, _COMMENT.sub(_blanked, bare)))
    found = [
        Flagged(bare.count("\n", 0, hit.start()) + 1, hit[0], instead)
        for pattern, instead in words.items()
        for hit in re.finditer(pattern.replace(" ", r"\s+"), bare, re.IGNORECASE | re.MULTILINE)
    ]
    return sorted(found)


def _blanked(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "_", found[0])


def median(found: Sequence[Sentence]) -> float:
    """Return the median of the lengths; 0 of nothing."""
    return statistics.median([one.length for one in found] or [0])


def longest(found: Iterable[Sentence], count: int = 10) -> list[Sentence]:
    """Return the longest, the worst first."""
    return sorted(found, key=lambda one: -one.length)[:count]


def row(name: str, texts: Sequence[str], flags: Mapping[str, str] = WORDS) -> str:
    """Return a line of figures of some documents together."""
    found = [one for text in texts for one in sentences(text)]
    most = max((one.length for one in found), default=0)
    over = sum(one.length > LONGEST for one in found)
    words = sum(len(flagged(text, flags)) for text in texts)
    return f"{name:26}{len(found):10}{median(found):8g}{most:9}{over:9}{words:9}"


def listing(name: str, texts: Mapping[str, str], count: int, flags: Mapping[str, str] = WORDS) -> str:
    """Return the longest sentences of some texts, and their flagged words."""
    found = [one for text in texts.values() for one in sentences(text)]
    parts = [f"  {one.length} words: {one.text}" for one in longest(found, count)]
    parts += [
        f"  {name}{place}:{one.line}: {one.found!r}: {one.instead}"
        for place, text in texts.items()
        for one in flagged(text, flags)
    ]
    return "\n".join(parts)


def main() -> None:
    """Print a line for each document and one for all, and on demand what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", type=int, metavar="N", help="print the N longest sentences of each file")
    parser.add_argument("files", nargs="*", type=Path, help="documents; by default all")
    given = parser.parse_args()
    found = {path.name: {"": path.read_text("utf-8")} for path in given.files or documents()}
    found |= {} if given.files else descriptions()
    print(f"{'document':26} sentences  median  longest  over {LONGEST}  flagged")
    for name, texts in found.items():
        print(row(name, [*texts.values()]))
        if given.list is not None:
            print(listing(name, texts, given.list))
    print(row("all", [text for texts in found.values() for text in texts.values()]))
    for name, texts in ({} if given.files else source_texts()).items():
        print(row(name, [*texts.values()], WORDS | SOURCE_WORDS))
        if given.list is not None:
            print(listing("", texts, given.list, WORDS | SOURCE_WORDS))


if __name__ == "__main__":
    main()
