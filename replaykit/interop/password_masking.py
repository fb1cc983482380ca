"""Mask passwords in imported files: what a file marks as a password is masked wherever it occurs later.

A file marks a password by the key of a value (`password`), by the key's neighbours (`{"element": "Password",
"text": ...}`), by the type or the name of the field typed into, or by the name of a header.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from replaykit.decoders import decode_plain
from replaykit.patterns import lazy_pattern
from replaykit.secrets.named_values import hide_named
from replaykit.secrets.secret_patterns import HEADERS, is_secret_field
from replaykit.trajectory.action import (
    Action,
    Element,
    TextAction,
    Unknown,
)
from replaykit.trajectory.action import ToolCall as Tool
from replaykit.trajectory.exchange import Rest
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import INT_MAX, Threw
from replaykit.trajectory.step import Event, Step

FIND_MIN = 6
"""Characters of a password that is looked for everywhere: shorter ones stand in other words as well."""

SHORT = 3
"""Characters of a password that is looked for in the step that types it."""

SENSITIVE = frozenset({"sensitive_data", "sensitivedata", "credentials", "secrets"})
"""Keys whose texts are all secret, lower-case."""

_PASSWORD = lazy_pattern(
    r"pass[-_ ]?(?:words?|wd|code|phrase)\b|\bpwd\b|\botp\b|one-time-code|\bcvv\b"
    r"|passwort|kennwort|mot de passe|contrase[ñn]a|\bsenha\b|wachtwoord|has[łl]o\b|l[öo]senord|adgangskode"
    r"|salasana|[şs]ifre|парол|密码|密碼|パスワード|비밀번호|كلمة المرور|סיסמ",
    re.IGNORECASE,
)
_PLACEHOLDER = lazy_pattern(r"<secret>[^<>]{1,128}</secret>|⟦[^⟦⟧]{1,80}⟧")
_DESCRIBING = frozenset({
    "selector", "element", "label", "name", "field", "type", "placeholder", "target", "description",
    "locator", "id", "aria_label", "ax_name", "css", "xpath", "x_path", "autocomplete", "instruction",
})  # fmt: skip
"""Keys that say which field is meant."""

_NAMES = ("aria_label", "labelledby", "label", "placeholder", "title", "active")
"""Names of an element that say what it takes."""

_TYPED = frozenset(["text", "value", "input", "content", "string", "characters", "keys"])
"""Keys that hold what is typed."""

JSON_MAX = 2**22
"""Characters of a text that is read as JSON."""

Found = Callable[[str], None]
"""Is called with each secret."""


def masked(value: Any, found: Found) -> Any:
    """Return a JSON value with a mask for every text that its place there calls a secret."""
    if isinstance(value, dict):
        return {key: _masked_field(value, str(key), part, found) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [masked(part, found) for part in value]
    return without_secrets(_masked_text(value, found), found) if isinstance(value, str) else value


def fitted(event: Event) -> Event:
    """Return an event whose record holds numbers that readers of JSON agree on: larger ones become texts."""
    if isinstance(event, Step):
        return replace(event, raw=_fitted(event.raw), returned=_fitted(event.returned))
    return replace(event, value=_fitted(event.value)) if isinstance(event, Rest) else event


def _fitted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _fitted(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_fitted(part) for part in value]
    # Readers that use doubles round larger ones.
    return str(value) if isinstance(value, int) and abs(value) > INT_MAX else value


def _masked_field(of: Mapping[str, Any], key: str, value: Any, found: Found) -> Any:
    if key.lower() in SENSITIVE:
        return _all_masked(value, found)
    # Any cookie may be a session's: its name does not show it.
    if key.lower() == "cookies" and isinstance(value, list):
        return [_masked_cookie(one, found) for one in value]
    is_secret = is_secret_field(key) or key.lower() in HEADERS or (key in _TYPED and _names_password(of))
    if not is_secret or isinstance(value, dict | list | bool) or value is None:
        return masked(value, found)
    if isinstance(value, int | float) and "token" in key.lower():
        return value  # a count
    return _mask(str(value), found)


def _masked_cookie(cookie: Any, found: Found) -> Any:
    """Return a cookie as browsers store it, its value masked."""
    clean = masked(cookie, found)
    if not isinstance(clean, dict) or not isinstance(clean.get("value"), str):
        return clean
    return {**clean, "value": _mask(clean["value"], found)}


def _names_password(of: Mapping[str, Any]) -> bool:
    if isinstance(of.get("name"), str) and (of["name"].lower() in HEADERS or is_secret_field(of["name"])):
        return True
    descriptions = [part for key, part in of.items() if key.lower() in _DESCRIBING]
    descriptions += [part for one in descriptions if isinstance(one, dict) for part in one.values()]
    return any(isinstance(one, str) and names_password(one) for one in descriptions)


def _all_masked(value: Any, found: Found) -> Any:
    if isinstance(value, dict):
        return {key: _all_masked(part, found) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_all_masked(part, found) for part in value]
    # True and false reveal nothing, and would be found in every text.
    return value if value is None or isinstance(value, bool) else _mask(str(value), found)


def _mask(text: str, found: Found) -> str:
    # A mark would be taken for a password and looked for everywhere.
    if not text or _PLACEHOLDER.fullmatch(text):
        return text
    found(text)
    return MASKED


def masked_step(step: Step, found: Found, seen: Any = None) -> Step:
    """Return a step whose record is masked, and whose typed text is, where its field takes passwords.

    `seen`: what the step before gave back to the agent, such as the tree of a page that numbers its fields.
    """
    action = step.action
    typed = typed_password(action, (seen, step.returned))
    if typed is not None and isinstance(action, TextAction):
        found(typed)
        element = action.element and replace(action.element, masked=True, value=None)
        action = replace(action, value=MASKED, element=element)
    elif isinstance(action, Tool):
        action = replace(action, arguments=masked(action.arguments, found))
    elif isinstance(action, Unknown):
        action = replace(action, raw=masked(action.raw, found))
    step = replace(step, action=action, raw=masked(step.raw, found), returned=masked(step.returned, found))
    return step if typed is None else without(step, typed)


def typed_password(action: Action, seen: Any = None) -> str | None:
    """Return what an action types into a field that takes passwords; None where it types none.

    `seen`: texts, or values that hold them, in which a line may describe the field of a reference.
    """
    if not isinstance(action, TextAction) or action.element is None:
        return None
    if not action.value or _PLACEHOLDER.fullmatch(action.value):
        return None
    ref = action.element.ref
    is_secret = takes_password(action.element) or (ref is not None and _is_marked(ref, seen))
    return action.value if is_secret else None


def _is_marked(ref: str, seen: Any) -> bool:
    """Whether a line of a tree shows that the field of a reference takes passwords."""
    signs = (f"[{ref}]", f"ref={ref}]")
    lines = (
        line for text in _texts(seen) if any(sign in text for sign in signs) for line in text.splitlines()
    )
    return any(names_password(line) and any(sign in line for sign in signs) for line in lines)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        value = list(value.values())
    for part in value if isinstance(value, list | tuple) else ():
        yield from _texts(part)


def without_passwords(text: str, passwords: list[str]) -> str:
    """Return an agent's text without the passwords that it typed in the same turn."""
    for one in passwords:
        text = _without(text, one) if len(one) >= SHORT else text
    return text


def _masked_text(raw: str, found: Found) -> str:
    """Return a text that is JSON, such as the arguments of a call, masked; others as they are."""
    # Most texts are no JSON, and decoding each one costs time.
    if not raw.startswith(("{", "[")) or len(raw) > JSON_MAX:
        return raw
    try:
        plain = decode_plain(raw)
    except (msgspec.DecodeError, RecursionError):
        return raw
    clean = masked(plain, found)
    return raw if clean == plain else msgspec.json.encode(clean).decode()


def without(step: Step, typed: str) -> Step:
    """Return a step whose texts do not hold what was typed in it."""
    # Two characters stand in nearly any text, so only whole values are compared.
    if len(typed) < SHORT:
        return replace(step, raw=exactly_without(step.raw, typed))
    error = step.error
    return replace(
        step,
        raw=_without(step.raw, typed),
        returned=_without(step.returned, typed),
        thought=_without(step.thought, typed),
        log=tuple(_without(line, typed) for line in step.log),
        error=error and Threw(name=error.name, message=_without(error.message, typed)),
    )


def _without(value: Any, typed: str) -> Any:
    if isinstance(value, str):
        return value.replace(typed, MASKED)
    if isinstance(value, dict):
        return {key: _without(part, typed) for key, part in value.items()}
    return [_without(part, typed) for part in value] if isinstance(value, list) else value


def exactly_without(value: Any, typed: str) -> Any:
    """Return a value with a mask for each text that is the typed one."""
    if isinstance(value, dict):
        return {key: exactly_without(part, typed) for key, part in value.items()}
    if isinstance(value, list):
        return [exactly_without(part, typed) for part in value]
    return MASKED if value == typed else value


def takes_password(element: Element) -> bool:
    """Whether a field is declared to take passwords: by its type, its names or the way it is found."""
    attributes = element.attributes or {}
    if (element.type or attributes.get("type") or "").lower() == "password":
        return True
    names = [element.name, element.ref, element.text, element.css, element.xpath]
    names += [] if element.names is None else [getattr(element.names, name) for name in _NAMES]
    names += [attributes.get(key) for key in ("name", "id", "autocomplete", "aria-label", "placeholder")]
    return any(names_password(one) for one in names if one)


def names_password(text: str) -> bool:
    """Whether the name of a field, or the way to find it, shows that it takes passwords."""
    # A long text that mentions a password is no field's name.
    return len(text) < 512 and (
        _PASSWORD.search(text) is not None or text.lower() in ("password", "pwd", "otp")
    )


def is_worth_finding(text: str) -> bool:
    """Whether a password may be looked for everywhere: a plain word stands in other texts by chance."""
    return len(text) >= FIND_MIN and not text.isalpha() and "⟦" not in text


_TYPED_BY_CODE = (
    lazy_pattern(
        r"((?:get_?[bB]y_?\w{1,20}|locator)\((?P<aim>(?:(?!get_?[bB]y|locator\()[^\n;]){1,200}?)\)(?:\.\w{1,20}(?:\(\d*\))?){0,3}"
        r"\.(?:fill|type|pressSequentially|press_sequentially)\(\s*)(['\"`])(?P<typed>[^\n]{1,200}?)(?<!\\)\3\s*[,)]"
    ),
    lazy_pattern(
        r"(\.(?:fill|type)\(\s*(['\"`])(?P<aim>[^\n]{1,200}?)\2\s*,\s*)(['\"`])(?P<typed>[^\n]{1,200}?)(?<!\\)\4"
        r"\s*[,)]"
    ),
)
"""Calls of Playwright or Puppeteer that type: where, and what."""


_TYPES = lazy_pattern(r"(?:fill|type|equentially)\(")

CODE_MAX, CODE_LINES = 4096, 200
"""Characters of a line of a script, and lines that type, which are looked at."""


def typed_by_code(text: str) -> list[str]:
    """Return what the calls of a script type into fields that are named like passwords."""
    # Cheap test first: the patterns are slow on long texts.
    if "(" not in text or not _TYPES.search(text):
        return []
    lines = [line for line in text.splitlines() if len(line) <= CODE_MAX and _TYPES.search(line)]
    found = (
        one for line in lines[:CODE_LINES] for pattern in _TYPED_BY_CODE for one in pattern.finditer(line)
    )
    typed = (one["typed"] for one in found if names_password(one["aim"]))
    return [one for one in typed if not _PLACEHOLDER.fullmatch(one)]


def without_secrets(text: str, found: Callable[[str], None]) -> str:
    """Return a text with a mask for each value that it marks as a secret; `found` gets each named one."""
    for typed in typed_by_code(text):
        found(typed)
        text = re.sub(rf"(['\"`]){re.escape(typed)}\1", rf"\1{MASKED}\1", text)
    return hide_named(text, lambda value: _mask(value, found), _masked_only)


def _masked_only(_: str) -> str:
    # Values of cookies such as `theme` stand in other texts by chance.
    return MASKED
