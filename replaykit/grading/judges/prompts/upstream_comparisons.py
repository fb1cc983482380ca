"""Templates of the peers whose checks ask a model, put together from the user's own copy of their source.

The functions build a message of constants and of f-strings that name question, reference and prediction.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from replaykit.errors import JudgeError
from replaykit.grading.judges.prompts.upstream_prompts import statements, tree
from replaykit.grading.model_request import PLACES

FUNCTIONS = {"fuzzy": "llm_fuzzy_match", "unachievable": "llm_ua_match"}
"""Slot to the peer's function."""

MESSAGE = "message"
"""The variable that holds the template."""


def read_comparisons(path: str | Path) -> dict[str, str]:
    """Return the texts for `fuzzy`, `unachievable` and `system` of a source file, as far as they are there.

    The file is parsed and never run. Raises JudgeError where none is there, and for a message that is made
    of anything but constants and f-strings.
    """
    file = Path(path)
    functions = {node.name: node for node in statements(tree(file)) if isinstance(node, ast.FunctionDef)}
    there = {slot: functions[name] for slot, name in FUNCTIONS.items() if name in functions}
    if not there:
        raise JudgeError(what=f"{file.name}: neither {' nor '.join(FUNCTIONS.values())} is defined there")
    found = {slot: _message(function, file.name) for slot, function in there.items()}
    systems = [text for function in there.values() for text in _systems(function)]
    return {**found, **({"system": systems[0]} if systems else {})}


def _message(function: ast.FunctionDef, file: str) -> str:
    text: str | None = None
    for node in statements(function):
        match node:
            case ast.Assign(targets=[ast.Name(id="message")], value=value):
                text = _text(value, file)
            case ast.AugAssign(target=ast.Name(id="message"), op=ast.Add(), value=value):
                text = (text or "") + _text(value, file)
    if text is None:
        raise JudgeError(what=f"{file}: {function.name} assigns no {MESSAGE}")
    return text


def _text(value: ast.expr, file: str) -> str:
    match value:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part, file) for part in parts)
        case ast.FormattedValue(value=ast.Name(id=name), conversion=-1, format_spec=None) if name in PLACES:
            return f"{{{name}}}"
    what = f"{MESSAGE} is made of a {type(value).__name__}"
    raise JudgeError(
        what=f"{file}: line {value.lineno}: {what}; only constants and {', '.join(PLACES)} are read"
    )


def _systems(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the texts of messages whose role is `system`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            said = dict(_constants(node))
            if said.get("role") == "system" and "content" in said:
                yield said["content"]


def _constants(node: ast.Dict) -> Iterator[tuple[str, str]]:
    for pair in zip(node.keys, node.values, strict=True):
        match pair:
            case ast.Constant(value=str(key)), ast.Constant(value=str(text)):
                yield key, text
