"""A judge from a file: YAML, TOML or JSON, with prompts in files of their own."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from replaykit.decoders import convert, decode_plain
from replaykit.errors import JudgeError
from replaykit.file_types import HEAD, kind_of, kind_of_bytes
from replaykit.grading.judges.bounded_file import file_bytes
from replaykit.grading.judges.check_comparisons import CHECKS
from replaykit.grading.judges.judge_options import PROTOCOLS, judge_settings
from replaykit.grading.judges.judge_plugins import is_entry
from replaykit.grading.judges.prompts.upstream_prompts import read_comparisons, read_prompts
from replaykit.grading.judges.rubric.rubric_files import read_rubric_file
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.yaml_text import parsed_yaml, words_of

FILE_MAX = 2**20
"""Bytes of a file of settings, and of a prompt."""

SUFFIXES = (".yaml", ".yml", ".toml", ".json")
"""Of files that describe a judge."""


def named_judge(named: str) -> JudgeSettings:
    """Return the judge that a command names: a protocol, a file of settings, or one in Python.

    Raises JudgeError.
    """
    if Path(named).suffix.lower() in SUFFIXES:
        return load_judge(named)
    if named not in PROTOCOLS and is_entry(named):
        return JudgeSettings(protocol="custom", id=named.rpartition("@")[2], entry=named)
    return judge_settings(named)


def load_judge(path: str | Path) -> JudgeSettings:
    """Read the settings of a judge.

    `prompts`: slot to file, `system_file` and `user_file`: the same for these slots, `prompts_from`: the
    benchmark's source file, never run; `rubric`: a file of criteria, or the criteria themselves. Paths
    are relative to the file. Raises JudgeError.
    """
    file = Path(path)
    plain = _parsed(file)
    if not isinstance(plain, dict):
        raise JudgeError(what=f"{file.name}: expected a mapping, got {type(plain).__name__}")
    plain["members"] = [_member(one, file) for one in _listed(plain.get("members"), file)]
    prompts = _prompts(plain, file)
    plain = {name: value for name, value in plain.items() if name not in _FILES}
    plain.setdefault("protocol", "custom")
    if isinstance(plain.get("rubric"), str):
        plain["rubric"] = msgspec.to_builtins(read_rubric_file(file.parent / plain["rubric"]))
    try:
        return convert({**plain, "prompts": prompts}, JudgeSettings)
    except msgspec.ValidationError as error:
        kind = kind_of(file)
        found = error if kind in _SETTINGS else f"found {kind}"
        raise JudgeError(what=f"{file.name}: not settings of a judge: {found}") from error


_SETTINGS = ("settings of a judge", "a text file", "a JSON file")


_FILES = ("prompts", "prompts_from", "system_file", "user_file")


def _prompts(plain: Mapping[str, Any], file: Path) -> dict[str, str]:
    named = {**_mapping(plain.get("prompts") or {}, file)}
    named.update({slot: plain[f"{slot}_file"] for slot in ("system", "user") if f"{slot}_file" in plain})
    found = {slot: _text(file.parent / str(name)) for slot, name in named.items()}
    source = plain.get("prompts_from")
    if source is None:
        return found
    protocol = str(plain.get("protocol", "custom"))
    if protocol == CHECKS:
        return {**read_comparisons(file.parent / str(source)), **found}
    how = {name: str(plain.get(name) or "") for name in ("order", "variant")}
    return {**read_prompts(file.parent / str(source), protocol, **how), **found}


def _listed(members: Any, file: Path) -> list[Any]:
    if not isinstance(members or [], list):
        raise JudgeError(what=f"{file.name}: members: expected a list of judges, got {members!r}")
    return members or []


def _member(one: Any, file: Path) -> Any:
    """Return a member of a panel: a judge by name, one in a file beside this, or settings as they are."""
    if isinstance(one, dict) and set(one) == {"file"}:
        one = str(file.parent / str(one["file"]))
    if not isinstance(one, str):
        return one
    if Path(one).suffix.lower() in SUFFIXES and _members_in(Path(one)):
        raise JudgeError(what=f"{file.name}: members: {Path(one).name} is a panel itself, and no member")
    return named_judge(one)


def _members_in(file: Path) -> bool:
    plain = _parsed(file)
    return isinstance(plain, dict) and bool(plain.get("members"))


def _mapping(value: Any, file: Path) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise JudgeError(what=f"{file.name}: prompts: expected slots with their files, got {value!r}")
    return value


def _text(path: Path) -> str:
    data = file_bytes(path, FILE_MAX)
    try:
        if b"\0" not in data:  # there is one in every text in UTF-16
            return data.decode("utf-8-sig")
        reason = f"found {kind_of_bytes(data[:HEAD])}"
    except UnicodeDecodeError as error:
        kind = kind_of_bytes(data[:HEAD])
        reason = words_of(error) if kind in ("a text file", "a file of another kind") else f"found {kind}"
    raise JudgeError(what=f"{path.name}: not a text in UTF-8: {reason}")


def _parsed(file: Path) -> Any:
    text = _text(file)
    try:
        match file.suffix.lower():
            case ".toml":
                return tomllib.loads(text)
            case ".json":
                return decode_plain(text)
            case _:
                return parsed_yaml(text)
    except (
        tomllib.TOMLDecodeError,
        msgspec.DecodeError,
        ValueError,
        RecursionError,
    ) as error:
        raise JudgeError(what=f"{file.name}: not a judge: {words_of(error)}") from error
