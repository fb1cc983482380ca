"""Regular expressions that are compiled on first use."""

from __future__ import annotations

import copy
import importlib
import re
from pathlib import Path

import pytest

import replaykit
from replaykit.patterns import LazyPattern, lazy_pattern


def test_a_pattern_is_compiled_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile

    def counted(source: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(source)
        return compile_now(source, flags)

    monkeypatch.setattr(re, "compile", counted)
    word = lazy_pattern("[A-Z]+", re.IGNORECASE)
    assert compiled == []
    assert word.sub("-", "a b") == "- -"
    assert word.sub("+", "a b") == "+ +"
    assert compiled == ["[A-Z]+"]


def test_a_pattern_has_what_an_expression_has() -> None:
    pair = lazy_pattern(rb"(?P<key>\w)=(\w)")
    found = pair.fullmatch(b"a=b")
    assert found is not None and found["key"] == b"a"
    assert (pair.pattern, pair.groups, dict(pair.groupindex)) == (rb"(?P<key>\w)=(\w)", 2, {"key": 1})
    assert lazy_pattern("a", re.ASCII).flags == re.compile("a", re.ASCII).flags
    assert copy.copy(pair).search(b" x=y ") is not None
    missing = "nonsense"
    with pytest.raises(AttributeError):
        getattr(lazy_pattern("a"), missing)


def test_what_is_wrong_with_a_pattern_is_raised_on_its_first_use() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.search("")


def test_every_pattern_of_the_package_compiles() -> None:
    package = Path(replaykit.__file__).parent
    files = [path for path in package.rglob("*.py") if "= lazy_pattern(" in path.read_text()]
    names = [".".join(("replaykit", *path.relative_to(package).with_suffix("").parts)) for path in files]
    values = [value for name in names for value in vars(importlib.import_module(name)).values()]
    patterns = [value for value in values if type(value) is LazyPattern]
    assert len(patterns) > 200
    for one in patterns:
        assert one.pattern is not None
