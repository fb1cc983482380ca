"""YAML that people write: what it holds, or where it is wrong in words without the parser's own."""

from __future__ import annotations

from functools import cache
from typing import Any

from replaykit.decoders import NEST_MAX, is_nested_deeper


def parsed_yaml(text: str) -> Any:
    """Return what a YAML text holds. Raises ValueError with line and column."""
    # Loaded for files only: a bundle holds its task, and the parser takes longer to load than it to grade.
    import yaml

    try:
        plain = yaml.load(text, _loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        problem = str(error.problem or error.context)
        raise ValueError(f"{where}{problem}{_hint(problem)}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(f"line {line}: a character that YAML has not, #x{error.character:04x}") from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    if is_nested_deeper(plain, NEST_MAX):
        raise ValueError(_TOO_DEEP)
    return plain


@cache
def _loader() -> type[Any]:
    """Return the safe loader, which refuses here a key that stands twice: by itself it takes the last."""
    import yaml

    class Loader(yaml.SafeLoader):
        def flatten_mapping(self, node: Any) -> None:
            # Before keys are merged (`<<`): a field may replace a merged one.
            seen = set[tuple[str, str]]()
            for key, _ in node.value:
                name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else None
                if name in seen:
                    problem = f"found the key {key.value!r:.80} twice"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen |= set() if name is None else {name}
            super().flatten_mapping(node)

    return Loader


def _hint(problem: str) -> str:
    """Return what is most likely meant by words of the parser, and how to mend it."""
    return next((f" ({hint})" for words, hint in _HINTS.items() if words in problem), "")


_HINTS = {
    "mapping values are not allowed": "indent the line as those beside it, and quote a text that holds `: `",
    "<document start>": "indent the line as the first one",
    "<block end>": "indent the line as those beside it, and quote a text as a whole or not at all",
    "'\\t'": "indent with spaces, not with tabs",
    "cannot start any token": "quote a text that begins with this character",
    "found the key": "one of them would not count: leave it out",
    "undefined alias": "quote a text that begins with `*`",
    "constructor for the tag": "quote a text that begins with `!`",
    "stream end": "a bracket is not closed",
    "end of stream": "a quote is not closed",
    "find expected ':'": "a key needs a colon and a space behind it",
}
"""A part of the words of the parser to a hint; the first one that is found counts."""

_TOO_DEEP = f"nested deeper than {NEST_MAX} levels"


def words_of(error: Exception) -> str:
    """Return what a parser of text complains of, in one line."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8: byte 0x{error.object[error.start]:02x} at {error.start:,}"
    return " ".join(str(error).split())
