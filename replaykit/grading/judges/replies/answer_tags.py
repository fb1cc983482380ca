"""Four answers between tags (AgentRewardBench, arXiv 2504.08942)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from replaykit.grading.judges.replies.verdict_token import (
    REPLY_MAX,
    Parsed,
    abstain,
    silent,
    unfinished,
    verdict,
)

SUCCESS: Mapping[str, bool] = {"successful": True, "unsuccessful": False}
"""Answers to the first question."""

_YES_NO: Mapping[str, bool] = {"yes": True, "no": False}
_OPTIMALITY: Mapping[str, int] = {
    "1. complete failure": 1,
    "2. suboptimal": 2,
    "3. somewhat optimal": 3,
    "4. completely optimal": 4,
}
_OTHERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "side_effect": ("side", _YES_NO),
    "optimality": ("optimal", _OPTIMALITY),
    "looping": ("loop", _YES_NO),
}
_QUOTES = "\"'`*“”„‘’‚"
_PEER = {
    **dict.fromkeys(("successful", "yes", "success"), 1),
    **dict.fromkeys(("unsuccessful", "no", "failure", "unsuccesful"), 0),
}


class PeerRefusal(ValueError):
    """The benchmark's reader stops at this answer."""


def tags(text: str, stop_reason: str, mode: str) -> Parsed:
    """Read a reply with its answers between `<success>`, `<side>`, `<optimal>` and `<loop>`.

    Raises PeerRefusal in compat mode for an answer at which the benchmark's reader stops.
    """
    if mode == "compat":
        return _peer(text)
    return unfinished(stop_reason) or _answers(_plain(text[-REPLY_MAX:]))


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    return "".join(char for char in text if unicodedata.category(char) != "Cf")


def _answers(text: str) -> Parsed:
    answers = _tagged(text, "success")
    extra = {name: _known(_tagged(text, tag), vocabulary) for name, (tag, vocabulary) in _OTHERS.items()}
    if not answers:
        read = silent(text)
    elif len(answers) > 1:
        read = abstain("ambiguous")
    else:
        success = _known(answers, SUCCESS)
        read = abstain("unknown_token") if success is None else verdict(success)
    return Parsed(outcome=read.outcome, reason=read.reason, extra=extra)


def _tagged(text: str, tag: str) -> set[str]:
    """Return every different value between a pair of tags."""
    pairs = re.finditer(rf"<\s*{tag}\s*>([^<]*)<\s*/\s*{tag}\s*>", text, re.IGNORECASE)
    return {_value(pair[1]) for pair in pairs}


def _value(text: str) -> str:
    return " ".join(text.split()).strip(_QUOTES + " ").removesuffix(".").strip(_QUOTES + " ").casefold()


def _known(values: set[str], vocabulary: Mapping[str, Any]) -> Any:
    return vocabulary.get(next(iter(values))) if len(values) == 1 else None


def _peer(text: str) -> Parsed:
    number = _numerized(_inside(text, "success"))
    extra = {name: _numerized(_inside(text, tag)) for name, (tag, _) in _OTHERS.items()}
    read = verdict(number == 1) if number in (0, 1) else abstain("unknown_token")
    return Parsed(outcome=read.outcome, reason=read.reason, extra=extra)


def _inside(text: str, tag: str) -> str:
    """Return what stands between the first opening and the first closing tag, wherever they stand."""
    start, end = text.find(f"<{tag}>"), text.find(f"</{tag}>")
    return "" if start < 0 or end < 0 else text[start + len(tag) + 2 : end]


def _numerized(label: str) -> int:
    if not label:
        return 0
    label = label.strip().lower().replace("'", "").replace('"', "")
    if label == "n/a":
        return -1
    return _PEER[label] if label in _PEER else _optimality(label)


def _optimality(label: str) -> int:
    words = {1: ("complete failure",), 2: ("suboptimal",), 3: ("somewhat successful", "partially successful")}
    for number in (1, 2, 3, 4):
        if label.startswith(f"{number}.") or any(word in label for word in words.get(number, ())):
            return number
    raise PeerRefusal(f"the reference implementation knows no answer {label[:80]!r}")
