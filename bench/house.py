"""How well a stranger can find the way in the source: figures of today beside the goals.

Run: .venv/bin/python -m bench.house [--list]

`--list` also names what each figure counts. Nothing is timed: the figures are the same on any machine.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "replaykit"
SMALL = 80
"""Lines below which a module with one importer needs a reason to stay."""
FULL = 450
"""Lines of a module that has no room for another: from 500 on it is split."""

PRIVATE = frozenset((
    "act", "acts", "anew", "bade", "besides", "crew", "deed", "deeds", "errand", "errands", "farewell",
    "hear", "heard", "hearing", "hears", "heed", "heeds", "lean", "nobody", "oracle", "picture",
    "pictured", "pictures", "said", "says", "sight", "sights", "speakers", "speaks", "spoken", "stir",
    "stirred", "stirring", "stirs", "stranger", "strangers", "teller", "tellers", "telling", "tells",
    "told", "unheard", "unstirring", "untold", "utter", "veil", "veiled", "veils", "wants",
))  # fmt: skip
"""Words of names that only this project used; `bench.prose` has those of documents."""

PRIVATE_IN_SCRIPTS = PRIVATE | {"books", "say", "tell"}
"""Those of names in JavaScript: in Python they have a use, such as `CANNOT_TELL` and `say` of a recorder."""

PRIVATE_IN_TESTS = PRIVATE - {"act", "acts", "lean", "nobody", "said", "says", "wants"}
"""Those of names in tests: agents of tests are called `act`, and replies are what a double `says`."""

_LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_TEXT = re.compile(r"""//.*|/\*(?s:.*?)\*/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`""")
"""Comments and strings of JavaScript."""
_DIRECTIVES = ("noqa", "type:", "fmt:", "pragma:", "!")


class Module(NamedTuple):
    """One file of Python, read."""

    path: Path
    text: str
    tree: ast.Module


class Figure(NamedTuple):
    """One row of the table, and what it counts."""

    what: str
    today: str
    goal: str
    counted: tuple[str, ...] = ()


def read(package: Path, words: Iterable[str] = ()) -> dict[str, Module]:
    """Return every module by its dotted name, sorted; `words`: only those that hold one of these."""
    found, held = {}, {word.lower() for word in words} or {""}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text("utf-8")
        low = text.lower()
        if any(word in low for word in held):
            found[name] = Module(path, text, ast.parse(text))
    return found


def comments(text: str) -> int:
    """Return the comments of a source; those that speak to a tool do not count."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    said = (token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT)
    return sum(not one.startswith(_DIRECTIVES) for one in said)


def code_lines(module: Module) -> int:
    """Return the lines that hold code: no blank lines, comments and docstrings."""
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in (*_LAYOUT, tokenize.COMMENT):
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - _docstring_lines(module.tree))


def _docstring_lines(tree: ast.Module) -> set[int]:
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
    return {
        line
        for node in texts
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def importers(modules: Mapping[str, Module]) -> dict[str, set[str]]:
    """Return each module with those that import it."""
    found: dict[str, set[str]] = {name: set() for name in modules}
    for name, module in modules.items():
        for used in _imported(module.tree):
            if used in found and used != name:
                found[used].add(name)
    return found


@cache
def _imported(tree: ast.Module) -> frozenset[str]:
    """Return the names that a module imports, of modules and of what is in them."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(found)


def crumbs(modules: Mapping[str, Module]) -> list[str]:
    """Return the small modules that one other module imports; no `__init__`."""
    used = importers(modules)
    return [
        name
        for name, module in modules.items()
        if len(used[name]) == 1 and module.path.stem != "__init__" and len(module.text.splitlines()) < SMALL
    ]


def reasons(package: Path, modules: Mapping[str, Module]) -> dict[str, str]:
    """Return why each small module with one importer is a file of its own; empty = for no reason.

    Every reason is read off the source and `CONTRIBUTING.md` beside the package.
    """
    used, root = importers(modules), package.parent
    guide = root / "CONTRIBUTING.md"
    text = guide.read_text("utf-8") if guide.exists() else ""
    found = {}
    for name in crumbs(modules):
        (by,) = used[name]
        own, other = modules[name], modules[by]
        given = {
            "loaded on demand": _is_lazy(name, other.tree),
            "another part imports it": _part(package, own) != _part(package, other),
            f"with its importer over {FULL} lines": _joined(own, other) > FULL,
            "one file each by CONTRIBUTING.md": any(_path(root, one) in text for one in (own, other)),
            "its docstring says why": "Own module: " in (ast.get_docstring(own.tree) or ""),
        }
        found[name] = ", ".join(reason for reason, holds in given.items() if holds)
    return found


def _is_lazy(name: str, tree: ast.Module) -> bool:
    """Whether every import of a module stands inside of a function."""
    return not any(name in _imported(ast.Module([node], [])) for node in tree.body if _is_import(node))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _part(package: Path, module: Module) -> tuple[str, ...]:
    """Return the part of the package that a module belongs to, such as `recorder/session`."""
    return module.path.parent.relative_to(package).parts[:2]


def _joined(one: Module, other: Module) -> int:
    return len(one.text.splitlines()) + len(other.text.splitlines())


def _path(root: Path, module: Module) -> str:
    return f"`{module.path.relative_to(root).as_posix()}`"


def doubled_classes(modules: Mapping[str, Module]) -> dict[str, list[str]]:
    """Return the public class names that several modules define at their top."""
    found = defaultdict(list)
    for name, module in modules.items():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name)
    return {name: homes for name, homes in sorted(found.items()) if len(homes) > 1}


def doubled_stems(modules: Mapping[str, Module]) -> dict[str, list[str]]:
    """Return the names of files that stand in several folders."""
    found = defaultdict(list)
    for name, module in modules.items():
        if not module.path.stem.startswith("__"):
            found[module.path.stem].append(name)
    return {stem: homes for stem, homes in sorted(found.items()) if len(homes) > 1}


def private_names(modules: Mapping[str, Module], words: frozenset[str] = PRIVATE) -> dict[str, set[str]]:
    """Return the names of functions, classes and variables with one of these words, and where they stand."""
    found = defaultdict(set)
    for home, module in modules.items():
        for node in ast.walk(module.tree):
            name = getattr(node, "name", None) or getattr(node, "arg", None) or getattr(node, "id", None)
            if isinstance(name, str) and _has_word(name, words):
                found[name].add(home)
    return dict(sorted(found.items()))


def private_script_names(package: Path) -> dict[str, set[str]]:
    """Return the names in JavaScript with a word of `PRIVATE_IN_SCRIPTS`, and the files that have them."""
    found = defaultdict(set)
    for path in package.rglob("*.js"):
        for name in _NAME.findall(_TEXT.sub("''", path.read_text("utf-8"))):
            if _has_word(name, PRIVATE_IN_SCRIPTS):
                found[name].add(path.relative_to(package.parent).as_posix())
    return dict(sorted(found.items()))


def _has_word(name: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(map(str.lower, _WORD.findall(name)))


def folders(package: Path) -> list[tuple[str, int]]:
    """Return each folder with the number of its files of Python and JavaScript, empty ones left out."""
    files = [path for path in package.rglob("*") if path.suffix in (".py", ".js") and path.stat().st_size]
    counts = Counter(path.parent.relative_to(package.parent).as_posix() for path in files)
    return sorted(counts.items(), key=lambda row: (-row[1], row[0]))


def figures(package: Path = PACKAGE) -> list[Figure]:
    """Return the table."""
    modules = read(package)
    code = sum(code_lines(module) for module in modules.values())
    said = sum(comments(module.text) for module in modules.values())
    lines = sum(len(module.text.splitlines()) for module in modules.values())
    small, classes, stems = crumbs(modules), doubled_classes(modules), doubled_stems(modules)
    full, why = folders(package), reasons(package, modules)
    private = private_names(modules) | private_script_names(package)
    bare = [name for name in small if not why[name]]
    kept = tuple(f"{name}: {why[name] or 'NO REASON'}" for name in small)
    return [
        Figure("comments per 100 code lines", f"{100 * said / max(code, 1):.1f}", "2 to 5"),
        Figure(
            f"modules with one importer, under {SMALL} lines, without a reason", str(len(bare)), "0", kept
        ),
        Figure("public class names defined twice or more", str(len(classes)), "0", _homes(classes)),
        Figure("module stems used twice or more", str(len(stems)), "0 in two senses", _homes(stems)),
        Figure("names with a private word", str(len(private)), "0", _homes(private)),
        Figure("files in the fullest folder", *_fullest(full), tuple(f"{n} {name}" for name, n in full[:5])),
        Figure("modules", f"{len(modules):,}", "-"),
        Figure("lines of Python, of code", f"{lines:,}, {code:,}", "fewer"),
    ]


def _homes(found: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    return tuple(f"{name}: {', '.join(sorted(homes))}" for name, homes in found.items())


def _fullest(full: list[tuple[str, int]]) -> tuple[str, str]:
    name, count = full[0]
    return f"{count} ({name})", "at most 25"


def table(rows: Iterable[Figure]) -> str:
    """Return the rows below a head, in columns."""
    cells = [("what", "today", "goal"), *((row.what, row.today, row.goal) for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(3)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def main() -> None:
    """Print the table, and on demand what was counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="name what each figure counts")
    rows = figures()
    if parser.parse_args().list:
        for row in rows:
            print("\n".join([f"== {row.what}", *row.counted, ""]) if row.counted else "", end="")
    print(table(rows))


if __name__ == "__main__":
    main()
