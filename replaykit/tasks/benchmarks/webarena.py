"""Reader of the task files of WebArena (`config_files/test.raw.json`, f62e0b9) and VisualWebArena (89f5af2).

Placeholders (`__SHOPPING__` ...) are kept; the record itself stays in `Task.source_record`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from replaykit.decoders import convert
from replaykit.errors import TaskError
from replaykit.tasks.checks import Check, HtmlTarget, PageImages, ProgramHtml, StringMatch, UrlMatch
from replaykit.tasks.dialect import Dialect
from replaykit.tasks.task import Task, task_error

DIALECT: Final = "webarena"
"""Whose rules the checks follow."""

VISUAL: Final = "vwa"
"""The same of VisualWebArena, whose records name screenshots."""

CONTAINED: Final = "GOLD in PRED"
"""The note of a URL that the run's last one has to contain."""

AND = " |AND| "
"""Separates start URLs: one tab each."""


class _Contents(Struct, frozen=True, kw_only=True):
    exact_match: str | None = None
    must_include: tuple[str, ...] | None = None
    must_exclude: tuple[str, ...] | None = None
    required_values: tuple[str, ...] | None = None
    fuzzy_match: str | tuple[str, ...] = ()
    not_empty: bool | None = None


class _Target(Struct, frozen=True, kw_only=True):
    url: str
    locator: str
    required_contents: _Contents
    prep_actions: tuple[str, ...] | None = None


class _References(Struct, frozen=True, kw_only=True):
    exact_match: str | None = None
    must_include: tuple[str, ...] = ()
    must_exclude: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    required_values: tuple[str, ...] = ()
    fuzzy_match: str | tuple[str, ...] = ()


class _Eval(Struct, frozen=True, kw_only=True):
    eval_types: tuple[str, ...]
    reference_answers: _References | None = None
    reference_url: str | None = None
    program_html: tuple[_Target, ...] = ()
    page_image_query: tuple[dict[str, Any], ...] = ()
    string_note: str | None = None
    url_note: str | None = None
    reference_answer_raw_annotation: Any = None


class _Record(Struct, frozen=True, kw_only=True):
    task_id: int | str
    intent: str
    start_url: str
    sites: tuple[str, ...] = ()
    intent_template_id: int | None = None
    eval: _Eval


EVAL, REFERENCES, TARGET, CONTENTS = _Eval, _References, _Target, _Contents
"""Parts of a record: their fields are those that are read."""


def read_webarena(records: Iterable[Mapping[str, Any]], source: str) -> list[Task]:
    """Turn the records of a WebArena file into tasks, in order; raises `TaskError` with the exact path."""
    return [_task(dict(record), f"{source}#{record.get('task_id', n)}") for n, record in enumerate(records)]


def _task(record: dict[str, Any], source: str) -> Task:
    try:
        read = convert(record, _Record)
    except msgspec.ValidationError as error:
        raise task_error(source, error) from error
    template = read.intent_template_id
    dialect: Dialect = VISUAL if "image" in record else DIALECT
    return Task(
        id=str(read.task_id),
        intent=read.intent,
        start_urls=tuple(read.start_url.split(AND)),
        sites=read.sites,
        checks=tuple(
            _check(kind, read.eval, n, source, dialect) for n, kind in enumerate(read.eval.eval_types)
        ),
        reference=read.eval.reference_answer_raw_annotation,
        metadata={} if template is None else {"template": template},
        dialect=dialect,
        source_record=record,
    )


def _check(kind: str, rules: _Eval, number: int, source: str, dialect: Dialect) -> Check:
    match kind:
        case "string_match":
            return _string(rules)
        case "url_match":
            return _url(rules.reference_url or "", _note_of(rules, source, dialect))
        case "program_html":
            return ProgramHtml(targets=tuple(_target(target) for target in rules.program_html))
        case "page_image_query":
            return PageImages(queries=rules.page_image_query)
    path = f"$.eval.eval_types[{number}]"
    known = "string_match, url_match, program_html, page_image_query"
    raise TaskError(source=source, path=path, reason=f"no evaluator {kind!r}; there are {known}")


def _note_of(rules: _Eval, source: str, dialect: Dialect) -> str:
    """Return the rule for URLs. Raises TaskError for an unknown one: its check would decide by another."""
    note = rules.url_note or _NOTES[dialect]
    known = _NOTES.values()
    if note not in known:
        reason = f"no rule {note!r}; there are {', '.join(known)}"
        raise TaskError(source=source, path="$.eval.url_note", reason=reason)
    return note


_NOTES = {DIALECT: CONTAINED, VISUAL: "EXACT"}
"""The notes that hold where a record has none."""


def _url(reference: str, note: str) -> UrlMatch:
    """Return what a note means: contained as whole segments, or the same URL in all its parts."""
    if note == CONTAINED:
        return UrlMatch(url=reference, path="prefix")
    return UrlMatch(url=reference, query="exact", fragment="exact")


def _string(rules: _Eval) -> StringMatch:
    wanted = rules.reference_answers or _References()
    return StringMatch(
        exact=() if wanted.exact_match is None else wanted.exact_match,
        must_include=wanted.must_include,
        must_exclude=wanted.must_exclude,
        one_of=wanted.one_of,
        required_values=wanted.required_values,
        fuzzy=wanted.fuzzy_match,
        note=rules.string_note,
    )


def _target(target: _Target) -> HtmlTarget:
    return HtmlTarget(
        url=target.url,
        locator=target.locator,
        prep_actions=target.prep_actions or (),
        exact_match=target.required_contents.exact_match,
        must_include=target.required_contents.must_include or (),
        must_exclude=target.required_contents.must_exclude or (),
        required_values=target.required_contents.required_values or (),
        fuzzy_match=target.required_contents.fuzzy_match,
        not_empty=bool(target.required_contents.not_empty),
    )
