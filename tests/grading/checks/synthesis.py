"""Runs that do what a WebArena-Verified task expects, made from its expected blocks alone."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import quote, urlencode

from msgspec import Struct

from replaykit.replay.player import Replay
from replaykit.tasks.grammar.parsed_regex import codes, parsed
from replaykit.testing.builder import Builder, trajectory
from tests.grading.checks.conftest import replay_of

ROOTS = {
    "gitlab": "http://gitlab.test",
    "map": "http://map.test",
    "reddit": "http://reddit.test",
    "shopping_admin": "http://admin.test/admin",
    "shopping": "http://shop.test",
    "wikipedia": "http://wiki.test",
    "homepage": "http://home.test",
}
SITES = {name: (root,) for name, root in ROOTS.items()}


class Event(Struct, frozen=True, kw_only=True):
    """One request as a browser would have sent it."""

    method: str
    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    post: tuple[str, str] | None
    """Media type and text."""
    body: tuple[str, str] | None
    """Media type and text."""
    cookies: tuple[tuple[str, str], ...]


def answer_of(record: dict[str, Any]) -> str:
    """Return the answer that the task expects, alternatives resolved."""
    (rules,) = (rule for rule in record["eval"] if rule["evaluator"] == "AgentResponseEvaluator")
    wanted = dict(rules["expected"])
    values = wanted.get("retrieved_data")
    if isinstance(values, list):
        wanted["retrieved_data"] = [
            _chosen(value, rules["results_schema"].get("items", {})) for value in values
        ]
    wanted.setdefault("retrieved_data", None)
    return json.dumps(wanted)


def event_of(rule: dict[str, Any], *, is_filled: bool = True) -> Event | None:
    """Return the request that an evaluator expects; None where it expects that there is none.

    Evaluators of one task may each want to see the last request, so each has a run of its own. Bodies keep
    their placeholders where they are not to be filled: the peer compares some as they stand.
    """
    return None if rule.get("should_not_exist") else _event(rule["expected"], is_filled)


def recorded(events: list[Event], answer: str) -> Replay:
    """Return a run that sent these requests; pages among them were shown in its tab."""
    run = trajectory(sites=SITES)
    run.goto(f"{ROOTS['homepage']}/", "")
    for event in events:
        _send(run, event)
    return replay_of(run.answer(answer))


def _send(run: Builder, event: Event) -> None:
    headers = [*event.headers]
    fields: dict[str, Any] = {}
    if event.post:
        headers.append(("Content-Type", event.post[0]))
        fields["post"] = run.keep(*event.post)
    if event.body:
        fields |= {"mime": event.body[0], "body": run.keep(*event.body)}
    status = None if event.status < 0 else event.status
    run.request(
        event.method,
        event.url,
        status,
        request_headers=tuple(headers),
        response_headers=tuple(("Set-Cookie", f"{name}={value}; path=/") for name, value in event.cookies),
        **fields,
    )
    if is_page(event) and status is not None:
        number = sum(1 for one in run.build().events if type(one).__name__ == "Exchange") - 1
        run.visit(event.url, status=status, exchange=number)


def is_page(event: Event) -> bool:
    """Say whether a tab shows what the request brings."""
    headers = {name.lower(): value for name, value in event.headers}
    is_frame = headers.get("sec-fetch-dest", "document") != "document"
    return event.method == "GET" and headers.get("accept", "").startswith("text/html") and not is_frame


def har_entry(event: Event) -> dict[str, Any]:
    """Return the event as an entry of a HAR file."""
    request: dict[str, Any] = {"method": event.method, "url": event.url, "headers": _pairs(event.headers)}
    response = {
        "status": event.status,
        "redirectURL": "",
        "headers": [],
        "cookies": _pairs(event.cookies),
        "content": {"mimeType": event.body[0], "text": event.body[1]} if event.body else {},
    }
    if event.post:
        request["postData"] = {"mimeType": event.post[0], "text": event.post[1]}
    return {"request": request, "response": response}


def _pairs(pairs: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _event(wanted: dict[str, Any], is_filled: bool) -> Event:
    url = wanted["url"] if isinstance(wanted["url"], str) else wanted["url"][0]
    query = wanted.get("query_params")
    address = _filled(_sample(url.replace("^.*/", "^http://map[.]test/", 1)))
    if query is not None:
        pairs = [(key, _sample(_first(value))) for key, value in query.items() if _first(value) is not None]
        address = address.split("?")[0] + "?" + urlencode([pair for pair in pairs if pair[1] != ""])
    return Event(
        method=wanted.get("http_method", "GET"),
        url=address,
        status=wanted.get("response_status", 200),
        headers=(
            ("Accept", "text/html,application/xhtml+xml"),
            *(
                (name, _filled(_sample(_first(value))))
                for name, value in (wanted.get("headers") or {}).items()
            ),
        ),
        post=_body(wanted.get("post_data"), is_filled),
        body=_body(wanted.get("response_content"), is_filled, always_json=True),
        cookies=tuple(
            (name, quote(_sample(value))) for name, value in (wanted.get("response_cookies") or {}).items()
        ),
    )


def _chosen(value: Any, schema: dict[str, Any]) -> Any:
    """Return one alternative where a list stands for several."""
    if schema.get("type") == "object" and isinstance(value, dict):
        fields = schema.get("properties", {})
        return {key: _chosen(part, fields.get(key, {})) for key, part in value.items()}
    if schema.get("type") == "array" and isinstance(value, list):
        return [_chosen(part, schema.get("items", {})) for part in value]
    if schema.get("format") == "coordinates" and isinstance(value, list) and len(value) == 2:
        return value
    found = value[0] if isinstance(value, list) and value else value
    return _filled(_sample(found)) if isinstance(found, str) else found


def _body(
    wanted: dict[str, Any] | None, is_filled: bool, *, always_json: bool = False
) -> tuple[str, str] | None:
    if not wanted:
        return None
    made: dict[str, Any] = {}
    for key, value in wanted.items():
        is_whole = isinstance(value, list) and (len(value) < 2 or "[?" in key or "[*]" in key)
        found = value if is_whole else _first(value)
        if isinstance(found, str):
            found = _filled(_sample(found)) if is_filled else _sample(found)
        if found is not None or always_json:
            _put(made, key, found)
    made = made or {"x": "y"}
    is_form = all(isinstance(part, str) for part in made.values()) and not always_json
    if is_form:
        return "application/x-www-form-urlencoded", urlencode(made)
    return "application/json", json.dumps(made)


_PATH = re.compile(
    r"\.?([A-Za-z_]\w*)|\[(\d+)\]|\['([^']+)'\]|\[\"([^\"]+)\"\]|\[(\*)\]|\[\?\(@\.(\w+) == (.+?)\)\]"
)


def _put(made: dict[str, Any], key: str, value: Any) -> None:
    """Put a value where a key of an expected block looks for it."""
    if key.startswith("$.^") or (key.startswith("^") and key.endswith("$")):
        made[_sample(key.removeprefix("$."))] = value
    elif key.startswith("$"):
        steps = list(_PATH.finditer(key, 1))
        assert "".join(step[0] for step in steps) == key[1:], key
        _put_at(made, steps, value)
    else:
        made[key] = value


def _put_at(here: Any, steps: list[re.Match[str]], value: Any) -> Any:
    """Return what `here` becomes when the value stands behind these steps."""
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    name = step[1] or step[3] or step[4]
    if name:
        here = {} if here is None else here
        here[name] = _put_at(here.get(name), rest, value)
        return here
    here = [] if here is None else here
    if step[2]:
        here.extend([None] * (int(step[2]) + 1 - len(here)))
        here[int(step[2])] = _put_at(here[int(step[2])], rest, value)
        return here
    # A filter or `[*]` finds several nodes: one for every value.
    for number, one in enumerate(value if isinstance(value, list) else [value]):
        if number == len(here):
            here.append({step[6]: json.loads(step[7].replace("'", '"'))} if step[6] else None)
        here[number] = _put_at(here[number], rest, one)
    return here


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) and value else value


def _filled(text: str) -> str:
    return re.sub(r"__([A-Z_]+?)__", lambda name: ROOTS.get(name[1].lower(), name[0]), text)


def _sample(text: Any) -> Any:
    """Return a text that an expression between `^` and `$` matches, other values as they are."""
    if not isinstance(text, str) or len(text) < 2 or not (text.startswith("^") and text.endswith("$")):
        return text
    found = "".join(_written(part) for part in parsed(text[1:-1]))
    assert re.fullmatch(text, found, re.DOTALL), (text, found)
    return found


def _written(part: Any) -> str:
    kind, value = part
    match kind:
        case codes.LITERAL:
            return chr(value)
        case codes.MAX_REPEAT | codes.MIN_REPEAT:
            is_any = value[2][0][0] is codes.ANY
            return "x" * max(value[0], 1) if is_any else "".join(map(_written, value[2])) * value[0]
        case codes.SUBPATTERN:
            return "".join(_written(one) for one in value[3])
        case codes.BRANCH:
            return "".join(_written(one) for one in value[1][0])
        case codes.ANY:
            return "."
        case codes.IN:
            return _member(value)
        case codes.CATEGORY:
            return {codes.CATEGORY_DIGIT: "7", codes.CATEGORY_SPACE: " "}.get(value, "w")
        case codes.NOT_LITERAL:
            return "y" if chr(value) != "y" else "z"
        case codes.ASSERT:
            return "".join(_written(one) for one in value[1])
        case codes.AT | codes.ASSERT_NOT:
            return ""
    raise AssertionError(f"no sample of {kind}")


def _member(members: Any) -> str:
    kind, value = members[0]
    if kind is codes.NEGATE:
        return "x"
    return chr(value[0]) if kind is codes.RANGE else _written((kind, value))
