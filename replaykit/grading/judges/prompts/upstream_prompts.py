"""Prompts of other projects, named by digest: their texts are read from the user's own copy, never shipped.

A copy is parsed, never executed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from replaykit.errors import JudgeError
from replaykit.file_types import read_whole
from replaykit.grading.model_request import PLACES

SOURCE_MAX = 4 * 2**20
"""Bytes of a source file that is read."""

_WEBJUDGE = "WebJudge_Online_Mind2Web_eval"
_GENERAL = "WebJudge_general_eval"

LITERALS: dict[str, dict[str, str]] = {
    "webvoyager": {"system": "SYSTEM_PROMPT", "user": "USER_PROMPT"},
    "webjudge": {
        "key_points.system": "identify_key_points.system_msg",
        "key_points.user": "identify_key_points.prompt",
        "score.system": "judge_image.system_msg",
        "score.user": "judge_image.prompt",
        "verdict.system": f"{_WEBJUDGE}.system_msg",
        "verdict.user": f"{_WEBJUDGE}.prompt",
        "verdict.user_bare": f"{_WEBJUDGE}.prompt#2",
    },
    "agent_reward": {
        "system": "SYSTEM_PROMPT",
        "system.verdict_last": "INVERTED_SYSTEM_PROMPT",
        "goal": "GOAL_TEMPLATE",
        "step": "STEP_TEMPLATE",
        "actions": "ACTION_TEMPLATE",
        "axtree": "AXTREE_TEMPLATE",
        "closing": "FINAL_MSG",
    },
}
"""Protocol to slot to the name of the literal in the benchmark's source file."""

KNOWN: dict[str, dict[str, tuple[str, ...]]] = {
    "webvoyager": {
        "system": ("b666ebf53ca6d2d8c4a3f9af60e35885dd7094cc61d86c8352cccb127230a5b8",),
        "user": ("22abfda4131da25bbea0e2bb9aeb8a39579a3bfcf0f6a0f943b281ff5bff3959",),
    },
    "webjudge": {
        "key_points.system": ("f59402219cc586b00584fea7263a4fa93f71bf3e4d6fd43ae66f5430844cd51d",),
        "key_points.user": ("0a0cf959a858a9eb295675230f7826d4c759d28b40b9d7ddc3776c7c936057ab",),
        "score.system": ("0c15bc23bcadf384e37763aaccf601291df6c0cdab8ec763b023b7c34470dda4",),
        "score.user": ("75cc58c21896a74c2a26a72792ea68e91e2df31239d8e02c79b3977c5f773c9e",),
        "verdict.system": ("ff67fd2ed338ab1aa571ec13efaa17ce2a459857e92a11f04b4217979a5484af",),
        "verdict.user": ("0002edd5e7fffc9313703e3def89401534fc77ccc82700a6866c25ccb2425171",),
        "verdict.user_bare": ("7ab5f230283267b7426b9bf8880aa5be6536cb192856d8eff72b005b4ca5bb65",),
    },
    "agent_reward": {
        "system": (
            "fe04b299cbdab9ed65d75dbea8bd792b9c3bd19b8044a32af2de43d146872080",
            "cadd5a379588691a163ec0dc7623e292665700c26531ff056d992ad529cc2e69",
        ),
        "goal": ("7c7e921622dd0a1ea5eec840d1188aa69323b9bcf6fd2571051f587e85d19971",),
        "step": ("57ef68008a0c53e6f8e53f9db7dbc2f0b04890b4e4d3f2e3837026a7242c6cbb",),
        "actions": ("48e6a1e0c4c16b1888d723074f752413bea9d5dcf6da4a9e31390e55bb51b014",),
        "axtree": ("6aae13e453f4e412f4e5b66dd251933802b8bfd3feb6fb99c7337ea351abfb6b",),
        "screenshot": ("dcfd786d31abaa75fc7e9d055a685366ead51d2b09291ab53baebef688c7b649",),
        "closing": ("2f65bdacccb7857bb60f6e9b71e915246a07fd7aa863879efc44933d5c0683e2",),
    },
}
"""Protocol to slot to sha256 of the benchmark's texts, as their literals stand in its source."""

STRIPPED = frozenset(
    {
        "fe04b299cbdab9ed65d75dbea8bd792b9c3bd19b8044a32af2de43d146872080",
        "57ef68008a0c53e6f8e53f9db7dbc2f0b04890b4e4d3f2e3837026a7242c6cbb",
        "48e6a1e0c4c16b1888d723074f752413bea9d5dcf6da4a9e31390e55bb51b014",
        "6aae13e453f4e412f4e5b66dd251933802b8bfd3feb6fb99c7337ea351abfb6b",
    }
)
"""Texts that the benchmark strips before it uses them."""


FUNCTIONS = {"fuzzy": "llm_fuzzy_match", "unachievable": "llm_ua_match"}
"""Slot to the benchmark's function."""

MESSAGE = "message"
"""The variable that holds the template."""


def read_prompts(path: str | Path, protocol: str, order: str = "", variant: str = "") -> dict[str, str]:
    """Return slot to text, read from the user's copy of the benchmark's source file."""
    names = dict(LITERALS.get(protocol, {}))
    if variant == "general":
        names = {slot: name.replace(_WEBJUDGE, _GENERAL) for slot, name in names.items()}
    if not names:
        raise JudgeError(what=f"prompts_from: no source is known for {protocol}: name files under `prompts`")
    last = names.pop("system.verdict_last", "")
    names["system"] = last if last and order == "verdict_last" else names.get("system", "")
    return {slot: literal(path, name) for slot, name in names.items() if name}


def literal(path: str | Path, name: str) -> str:
    """Return the text that a source file assigns to `NAME`, `function.NAME`, or `NAME#2`, its second time.

    The file is parsed and never run. Raises JudgeError for anything but one string constant.
    """
    wanted, _, number = name.partition("#")
    found = list(_assigned(tree(Path(path)), wanted.split(".")))
    place = int(number or 1) - 1
    if place >= len(found):
        times = f"{len(found)} times" if found else "nowhere"
        raise JudgeError(what=f"{Path(path).name}: {name} is wanted; {wanted} is assigned {times}")
    value = found[place]
    if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
        what = type(value).__name__
        raise JudgeError(
            what=f"{Path(path).name}: line {value.lineno}: {name} is a {what}; only string constants are read"
        )
    return value.value


def tree(path: Path) -> ast.Module:
    """Return a source file, parsed. Raises JudgeError for what cannot be."""
    try:
        source = read_whole(path, SOURCE_MAX)
    except OSError as error:
        raise JudgeError(what=f"{path.name}: cannot read the prompts: {error.strerror}") from error
    try:
        return ast.parse(source, path.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise JudgeError(what=f"{path.name}: not Python source: {error}") from error


def _assigned(scope: ast.AST, names: list[str]) -> Iterator[ast.expr]:
    """Yield the values assigned to a name in a scope, by line; the last name is that of the variable."""
    for node in statements(scope):
        if len(names) > 1:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == names[0]:
                yield from _assigned(node, names[1:])
        elif isinstance(node, ast.Assign):
            if any(isinstance(target, ast.Name) and target.id == names[0] for target in node.targets):
                yield node.value
        elif (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id == names[0]
            and node.value is not None
        ):
            yield node.value


def statements(scope: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a scope and of the blocks in it, not those of inner functions and classes."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            yield from statements(node)


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
            message = dict(_constants(node))
            if message.get("role") == "system" and "content" in message:
                yield message["content"]


def _constants(node: ast.Dict) -> Iterator[tuple[str, str]]:
    for pair in zip(node.keys, node.values, strict=True):
        match pair:
            case ast.Constant(value=str(key)), ast.Constant(value=str(text)):
                yield key, text
