"""Answers and requests that a task expects, rewritten: each way has a name, so that differences can be named."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from msgspec.structs import replace

from tests.grading.checks.synthesis import Event

Pairs = list[tuple[str, str]]
Fields = dict[str, Any]
OTHER = Event(
    method="GET",
    url="http://shop.test/elsewhere",
    status=200,
    headers=(("Accept", "*/*"),),
    post=None,
    body=None,
    cookies=(),
)
PAGE = replace(OTHER, headers=(("Accept", "text/html"),))
FRAME = replace(PAGE, headers=(*PAGE.headers, ("Sec-Fetch-Dest", "iframe"), ("Sec-Fetch-Mode", "navigate")))
BY_HAND = (("Sec-Fetch-User", "?1"), ("Sec-Fetch-Dest", "document"), ("Sec-Fetch-Mode", "navigate"))


def values_like(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an answer may say in the place of a value, by the name of the way."""
    text = value if isinstance(value, str) else json.dumps(value)
    yield "as is", value
    yield "another", "zzz"
    yield "nothing", None
    yield "an expression", "^.*$"
    yield "with another", [value, "zzz"]
    yield "alone in a list", [value]
    yield from {"false": False, "zero": 0, "blank": "", "object": {"a": value}}.items()
    if isinstance(value, str | int | float):
        yield from {"text": text, "upper": text.upper(), "lower": text.lower()}.items()
        yield from {"blanks": f" {text}\t", "full stop": f"{text}.", "quotes": f'"{text}"'}.items()
        yield from {"more": f"about {text}", "twice": f"{text} {text}"}.items()
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield from {"dollars": f"${value}", "minus": f"-{text}", "minus dollars": f"$-{text}"}.items()
        yield from {"groups": f"{value:,}", "cents": value + 0.05, "decimals": f"{value:.2f}"}.items()


def _located(change: Callable[[SplitResult], SplitResult]) -> Callable[[Event], list[Event]]:
    return lambda event: [replace(event, url=urlunsplit(change(urlsplit(event.url))))]


def _queried(change: Callable[[Pairs], Pairs]) -> Callable[[Event], list[Event]]:
    def changed(url: SplitResult) -> SplitResult:
        return url._replace(query=urlencode(change(parse_qsl(url.query, keep_blank_values=True))))

    return _located(changed)


def _posted(change: Callable[[Fields], Fields]) -> Callable[[Event], list[Event]]:
    def changed(event: Event) -> list[Event]:
        if event.post is None:
            return []
        kind, text = event.post
        if "json" in kind:
            return [replace(event, post=(kind, json.dumps(change(json.loads(text)))))]
        return [replace(event, post=(kind, urlencode(change(dict(parse_qsl(text, keep_blank_values=True))))))]

    return changed


def _answered(change: Callable[[Fields], Fields]) -> Callable[[Event], list[Event]]:
    def changed(event: Event) -> list[Event]:
        if event.body is None:
            return []
        return [replace(event, body=(event.body[0], json.dumps(change(json.loads(event.body[1])))))]

    return changed


def _first(change: Callable[[Any], Any]) -> Callable[[Fields], Fields]:
    def changed(fields: Fields) -> Fields:
        key = next(iter(fields), "x")
        return {**fields, key: change(fields.get(key, ""))}

    return changed


def _text(change: Callable[[str], str]) -> Callable[[Any], Any]:
    return lambda value: change(value) if isinstance(value, str) else value


def _headers(change: Callable[[str, str], str]) -> Callable[[Event], list[Event]]:
    return lambda event: [
        replace(event, headers=tuple((name, change(name, value)) for name, value in event.headers))
    ]


REQUESTS: dict[str, Callable[[Event], list[Event]]] = {
    "as is": lambda event: [event],
    "nothing": lambda _: [OTHER],
    "upper path": _located(lambda url: url._replace(path=url.path.upper())),
    "slash": _located(lambda url: url._replace(path=url.path + "/")),
    "double slash": _located(lambda url: url._replace(path=url.path.replace("/", "//", 1))),
    "dots": _located(lambda url: url._replace(path=url.path + "/x/..")),
    "longer path": _located(lambda url: url._replace(path=url.path + "x")),
    "shorter path": _located(lambda url: url._replace(path=url.path.rpartition("/")[0])),
    "escaped path": _located(lambda url: url._replace(path=url.path.replace("a", "%61"))),
    "fragment": _located(lambda url: url._replace(fragment="f")),
    "https": _located(lambda url: url._replace(scheme="https")),
    "upper host": _located(lambda url: url._replace(netloc=url.netloc.upper())),
    "other host": _located(lambda url: url._replace(netloc="other.test")),
    "port": _located(lambda url: url._replace(netloc=url.netloc + ":80")),
    "upper query": _located(lambda url: url._replace(query=url.query.upper())),
    "extra parameter": _queried(lambda pairs: [*pairs, ("zz", "1")]),
    "blank parameter": _queried(lambda pairs: [*pairs, ("zz", "")]),
    "no first parameter": _queried(lambda pairs: pairs[1:]),
    "upper values": _queried(lambda pairs: [(name, value.upper()) for name, value in pairs]),
    "blanks around values": _queried(lambda pairs: [(name, f" {value} ") for name, value in pairs]),
    "other order": _queried(lambda pairs: pairs[::-1]),
    "values twice": _queried(lambda pairs: [*pairs, *((name, "other") for name, _ in pairs)]),
    "other values first": _queried(lambda pairs: [*((name, "other") for name, _ in pairs), *pairs]),
    "status 500": lambda event: [replace(event, status=500)],
    "status 304": lambda event: [replace(event, status=304)],
    "no response": lambda event: [replace(event, status=-1)],
    "another method": lambda event: [replace(event, method="PUT" if event.method != "PUT" else "POST")],
    "lower method": lambda event: [replace(event, method=event.method.lower())],
    "no headers": lambda event: [replace(event, headers=())],
    "upper headers": _headers(lambda name, value: value.upper() if name != "Accept" else value),
    "other referer": _headers(lambda name, value: value + "x" if name.lower() == "referer" else value),
    "by hand": lambda event: [replace(event, headers=(*event.headers, *BY_HAND))],
    "no first field": _posted(lambda fields: dict(list(fields.items())[1:]) or {"y": "z"}),
    "other field": _posted(_first(lambda _: "zzz")),
    "null field": _posted(_first(lambda _: None)),
    "blank field": _posted(_first(lambda _: "")),
    "upper field": _posted(_first(_text(str.upper))),
    "blanks around field": _posted(_first(_text(lambda text: f" {text} "))),
    "full stop in field": _posted(_first(_text(lambda text: text + "."))),
    "text field": _posted(_first(str)),
    "list field": _posted(_first(lambda value: [value])),
    "extra field": _posted(lambda fields: {**fields, "zz": "1"}),
    "no bodies": lambda event: [replace(event, post=None, body=None)],
    "plain text": lambda event: [replace(event, post=("text/plain", event.post[1]))] if event.post else [],
    "no first content": _answered(lambda fields: dict(list(fields.items())[1:]) or {"y": 1}),
    "other content": _answered(_first(lambda _: "zzz")),
    "extra content": _answered(lambda fields: {**fields, "zz": 1}),
    "no cookies": lambda event: [replace(event, cookies=())],
    "other cookies": lambda event: [replace(event, cookies=tuple((name, "z") for name, _ in event.cookies))],
    "after another": lambda event: [OTHER, event],
    "before another": lambda event: [event, OTHER],
    "before a page": lambda event: [event, PAGE],
    "before a frame": lambda event: [event, FRAME],
    "before a failure": lambda event: [event, replace(event, status=500)],
    "after a failure": lambda event: [replace(event, status=500), event],
    "before a picture": lambda event: [event, replace(OTHER, url="http://shop.test/a.png")],
    "after no URL": lambda event: [replace(OTHER, url="http://[::1/a"), event],
}
"""Requests that a run may send in the place of another, by the way; empty where a way changes nothing."""
