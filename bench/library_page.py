"""The reference of the library, made from docstrings: signature, fields, members and example of every name.

`REPLAYKIT_UPDATE=1 pytest tests/test_docs.py` writes it as docs/library.md.
"""

from __future__ import annotations

import inspect
import re
import textwrap
import typing
from collections.abc import Iterable, Iterator
from enum import EnumType
from typing import Any

import replaykit
from replaykit.tasks.described_schema import field_meanings

GROUPS = {
    "Record": "Recorder AsyncRecorder rerun find_browser seal salvage",
    "Read tasks": "load_tasks load_suite load_policies Task Suite AgentTask try_policies",
    "Grade": "grade grade_async grade_many iter_grades GradeOptions RayExecutor read_rows merge build_report"
    " summarize",
    "Read results": "Verdict Report Evidence Outcome PolicyOutcome explain diff render write_report",
    "Ask judges": "plan_judges run_judges agree pack mark_untrusted",
    "Read a run": "open_bundle Bundle Replay OfflinePage serve verify extract",
    "Exchange": "import_run export_run redact",
    "Extend": "CheckFunction Ruling PolicyFunction Finding Judge",
}
"""Every public name, by what it is for; errors have a page of their own."""

INTERNAL = frozenset(
    (
        "asked", "clock", "commanded", "end_own", "ending", "enter", "failed", "has_crashed", "is_busy",
        "is_proxied", "leave", "missed", "names", "on_armed", "on_limit", "read_net_log", "say", "scripted",
        "mentions_crash", "speech",
    )
)  # fmt: skip
"""Members of recorders that only other parts of the recorder call."""

HEAD = """# Library

The names that `import replaykit` offers; everything else is private. Types are complete (`py.typed`).
[Errors](errors.md) lists the exceptions.

Made from the code: `REPLAYKIT_UPDATE=1 pytest tests/test_docs.py` writes it again.
"""


def public() -> dict[str, Any]:
    """Return every public object by its name, but for errors and the version."""
    found = {name: getattr(replaykit, name) for name in replaykit.__all__}
    return {name: one for name, one in found.items() if not isinstance(one, str) and not _is_error(one)}


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, replaykit.ReplaykitError)


def related() -> dict[str, type]:
    """Return the classes that public functions take and return, and those of their fields one level below."""
    first = {name: kind for one in public().values() for name, kind in _mentioned(one).items()}
    below = {name: kind for one in first.values() for name, kind in _mentioned(one).items()}
    known, found = public(), sorted({**below, **first}.items())
    return {name: kind for name, kind in found if name not in known and not _is_error(kind)}


def _mentioned(value: Any) -> dict[str, type]:
    """Return the described classes in the annotations of a function or struct, tasks left out."""
    if not inspect.isfunction(value) and not hasattr(value, "__struct_fields__"):
        return {}
    hints = typing.get_type_hints(inspect.unwrap(value))
    kinds = (kind for hint in hints.values() for kind in _classes(hint))
    return {
        kind.__name__: kind
        for kind in kinds
        if kind.__module__.startswith("replaykit.") and not kind.__module__.startswith("replaykit.tasks.")
    }


def _classes(hint: Any) -> Iterator[type]:
    parts = typing.get_args(hint)
    if isinstance(hint, type) and not parts:
        yield hint
    for part in parts:
        yield from _classes(part)


def members(value: object) -> dict[str, str]:
    """Return the public methods and properties of a class, with their docstrings."""
    if not isinstance(value, type):
        return {}
    hidden = INTERNAL if value in (replaykit.Recorder, replaykit.AsyncRecorder) else ()
    found = [(name, one) for name, one in inspect.getmembers(value) if not name.startswith("_")]
    return {
        name + "()" * inspect.isfunction(one): inspect.getdoc(one) or ""
        for name, one in found
        if name not in hidden and (inspect.isfunction(one) or isinstance(one, property))
    }


def docstrings() -> dict[str, str]:
    """Return every docstring that belongs to the public interface, by dotted name."""
    found: dict[str, str] = {}
    errors = {
        name: getattr(replaykit, name) for name in replaykit.__all__ if _is_error(getattr(replaykit, name))
    }
    for name, value in {**public(), **related(), **errors}.items():
        found[name] = inspect.getdoc(value) or ""
        found |= {f"{name}.{field}": text for field, text in field_meanings(value).items()}
        found |= {f"{name}.{member}": text for member, text in members(value).items()}
    return found


def prose_of(docstring: str) -> str:
    """Return a docstring without its example and its lists of options."""
    return "\n".join(
        line for line in docstring.splitlines() if not line.startswith(" ") and line != "Example:"
    )


def example_of(docstring: str) -> str:
    """Return the code below `Example:`, or nothing."""
    _, _, code = docstring.partition("Example:\n")
    return textwrap.dedent(code).strip()


def page() -> str:
    """Return the whole page as Markdown."""
    parts = [HEAD]
    for title, names in GROUPS.items():
        rows = [
            f"| [`{name}`](#{name.lower()}) | {_summary(getattr(replaykit, name))} |"
            for name in names.split()
        ]
        parts.append(f"**{title}**\n\n| name | purpose |\n| --- | --- |\n" + "\n".join(rows) + "\n")
    parts += [f"## {name}\n\n{_entry(name, value)}" for name, value in public().items()]
    parts.append("## Other types\n\nClasses that the functions above take and return.\n")
    parts += [f"### {name}\n\n{_entry(name, value)}" for name, value in related().items()]
    return "\n".join(parts)


def _summary(value: object) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]


def _entry(name: str, value: Any) -> str:
    return "\n".join(part for part in (_signature(name, value), _text(value), _tables(value)) if part)


def _signature(name: str, value: Any) -> str:
    """Return how a function is called, an argument a line; nothing for classes that no program builds."""
    if not (inspect.isfunction(value) or value in (replaykit.Recorder, replaykit.AsyncRecorder)):
        return ""
    found = inspect.signature(value)
    arguments = "".join(f"    {one},\n" for one in _arguments(found))
    back = "" if isinstance(value, type) else f" -> {str(found.return_annotation).strip(chr(39))}"
    return f"```\n{name}(\n{arguments}){back}\n```\n"


def _arguments(found: inspect.Signature) -> Iterator[str]:
    is_starred = False
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not is_starred:
            is_starred = True
            yield "*"
        yield str(one).replace("'", "")


def _text(value: object) -> str:
    """Return a docstring as Markdown: options become a table, an example a block of code."""
    whole = inspect.getdoc(value) or ""
    text = re.sub(r"(?m)(?:^  \S.*\n?)+", _options, whole.partition("Example:\n")[0]).rstrip() + "\n"
    text, code = re.sub(r"(?m)(?:^.+\n)+", _arguments_listed, text), example_of(whole)
    return text + (f"\n```python\n{code}\n```\n" if code else "")


_ARGUMENT = re.compile(r"(?:^|(?<=\.)\s+)(?=`\w+`(?:(?:,| and) `\w+`)*:\s|Raises |Returns )")


def _arguments_listed(found: re.Match[str]) -> str:
    """Return a paragraph; one that begins with an argument becomes a list and what follows."""
    items = [" ".join(item.split()) for item in _ARGUMENT.split(found[0]) if item.strip()]
    if not found[0].startswith("`") or len(items) < 2:
        return found[0]
    listed = "".join(f"- {item}\n" for item in items if item.startswith("`"))
    return listed + "".join(f"\n{item}\n" for item in items if not item.startswith("`"))


def _options(found: re.Match[str]) -> str:
    pairs = (re.split(r" {2,}", line.strip(), maxsplit=1) for line in found[0].splitlines())
    return "\n" + _table("option", ((f"`{name}`", meaning) for name, meaning in pairs))


def _tables(value: object) -> str:
    first = "value" if isinstance(value, EnumType) else "field"
    fields = [(f"`{name}`", text) for name, text in field_meanings(value).items()]
    own = [(f"`.{name}`", text.partition("\n")[0]) for name, text in members(value).items()]
    return "\n".join(_table(head, rows) for head, rows in ((first, fields), ("member", own)) if rows)


def _table(head: str, rows: Iterable[tuple[str, str]]) -> str:
    lines = [f"| {name} | {text.replace('|', chr(92) + '|')} |" for name, text in rows]
    return f"| {head} | meaning |\n| --- | --- |\n" + "\n".join(lines) + "\n"
