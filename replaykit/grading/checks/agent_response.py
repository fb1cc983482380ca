"""Structured answers (`task_type, status, retrieved_data`), strictly and as WebArena-Verified grades them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from replaykit.decoders import decode_as_python
from replaykit.grading.checks.answer_text import answer_evidence, counts_as_no_answer
from replaykit.grading.checks.requests.request_faults import faults_of
from replaykit.grading.checks.requirement import (
    Graded,
    Ruling,
    Terms,
    error,
    failed,
    graded,
    of_peer,
    undecided,
)
from replaykit.grading.checks.structured_answer import ValueDifference, compare_data, is_same_text
from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.grading.peers.webarena_verified.structures import PeerFault, equal, read_json, read_list
from replaykit.grading.peers.webarena_verified.typed_values import PeerOptions, typed
from replaykit.grading.values.bounded_regex import RegexRefused
from replaykit.grading.verdict import Outcome, Value
from replaykit.replay.player import Replay
from replaykit.tasks.network_checks import AgentResponse

_FENCE = "```"
_RULE = "answer: task type, status, data by schema"


class PeerResponse(Struct, frozen=True, kw_only=True):
    """Input of the package for comparing an answer: the fields as the task file has them."""

    expected: Mapping[str, Any]
    """`task_type`, `status`, and `retrieved_data` where the file has it."""
    schema: Mapping[str, Any]
    """Schema of the data."""
    is_ordered: bool
    """Whether the order counts."""
    options: PeerOptions
    """Options on which normal forms depend."""
    strict: PeerOptions
    """The same for what is expected: URLs have to lie below a root."""


def grade_response(check: AgentResponse, peer: PeerResponse, replay: Replay, terms: Terms) -> Graded:
    """Grade the answer as one requirement."""
    answer = replay.answer
    evidence = answer_evidence(replay.trajectory)
    if answer is None and not counts_as_no_answer(replay.ending):
        nothing = undecided("no_ending", "trajectory.end")
        return graded("response", nothing, nothing, terms.mode, evidence)
    strict = failed("no_answer", "an answer is given") if answer is None else _strict(check, answer, terms)
    return graded("response", strict, peer_response(peer, answer or ""), terms.mode, evidence)


def answer_object(answer: str) -> Any:
    """Return an answer read as JSON, in the first fence or as a whole; None where there is nothing.

    A text that is no JSON is itself.
    """
    text = _unfenced(answer)
    try:
        return decode_as_python(text) or None
    except (ValueError, RecursionError):
        return text or None


def peer_response(peer: PeerResponse, answer: str) -> Ruling:
    """Rule on an answer as the package does."""
    expected = Value(raw=dict(peer.expected), type="agent_response")
    found = Value(raw=answer, type="text")
    try:
        response = read_json(_unfenced(answer)) or None
        return of_peer(_peer_accepts(peer, response), "AgentResponseEvaluator", expected, found)
    except (PeerFault, Unparsed) as fault:
        return error("peer_exception", f"AgentResponseEvaluator: {fault}", expected, found)
    except RegexRefused as fault:
        return error("unsafe_regex", str(fault), expected, found)


def _unfenced(answer: str) -> str:
    start = answer.find(_FENCE)
    end = answer.find(_FENCE, start + len(_FENCE)) if start >= 0 else -1
    if end < 0:
        return answer.strip()
    return answer[start + len(_FENCE) : end].removeprefix("json").strip()


def _peer_accepts(peer: PeerResponse, response: Any) -> bool:
    is_retrieval = str(peer.expected["task_type"]).lower() == "retrieve"
    wanted = {name: typed(peer.expected[name], "string", peer.options) for name in ("task_type", "status")}
    data = _peer_data(peer, peer.expected.get("retrieved_data"), is_expected=True)
    if not isinstance(response, dict):
        return False
    read = _peer_read(peer, response, is_retrieval)
    # The benchmark expects fields that the task file leaves out, but never reads them.
    if read.keys() != {*wanted, "retrieved_data"}:
        return False
    if not all(read[name] is not None and wanted[name] == read[name] for name in wanted):
        return False
    if not is_retrieval:
        return True
    if data is None or read["retrieved_data"] is None:
        return data is read["retrieved_data"]
    return equal(tuple(data), tuple(read["retrieved_data"]), is_ordered=peer.is_ordered)


def _peer_read(peer: PeerResponse, reply: Mapping[str, Any], is_retrieval: bool) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name in ("task_type", "status", "retrieved_data"):
        if name not in peer.expected:
            continue
        key = "performed_operation" if name == "task_type" and name not in reply else name
        if name == "retrieved_data":
            data = reply.get(name) if is_retrieval else None
            read[name] = _peer_data(peer, data, is_expected=False)
        elif key in reply:
            if not isinstance(reply[key], str):
                raise PeerFault(f"{key} is no text")
            read[name] = typed(reply[key].strip(), "string", peer.options) if reply[key].strip() else None
    return read


def _peer_data(peer: PeerResponse, data: Any, *, is_expected: bool) -> Any:
    if not data and not isinstance(data, int | float):
        return None
    values = data if isinstance(data, list) else [data]
    options = peer.strict if is_expected else peer.options
    return read_list(values, peer.schema, options, is_expected=is_expected)


def _strict(check: AgentResponse, answer: str, terms: Terms) -> Ruling:
    response = answer_object(answer)
    expected, found = Value(raw=_expected(check), type="agent_response"), Value(raw=answer, type="text")
    if fault := next(faults_of(check), None):
        return error("bad_reference", f"{_RULE}: {': '.join(fault)}", expected, found)
    if not isinstance(response, dict):
        return failed("not_an_object", _RULE, expected, found)
    try:
        difference = _difference(check, response, terms)
    except RegexRefused as fault:
        return error("unsafe_regex", str(fault), expected, found)
    return Ruling(
        outcome=Outcome.PASS if difference.matches else Outcome.FAIL,
        rule=_RULE if difference.matches else f"{_RULE}: {difference.at}",
        reason=difference.reason,
        notes=difference.notes,
        expected=expected,
        found=found,
    )


def _difference(check: AgentResponse, response: Mapping[str, Any], terms: Terms) -> ValueDifference:
    for name, wanted in (("task_type", check.expected.task_type), ("status", check.expected.status)):
        key = "performed_operation" if name == "task_type" and name not in response else name
        found = response.get(key)
        if not isinstance(found, str) or not is_same_text(wanted, found):
            return ValueDifference(False, "differs", f"$.{name}")
    if check.expected.task_type != "retrieve":
        return ValueDifference(True)
    wanted_data = check.expected.retrieved_data
    return _data_difference(
        check, None if wanted_data is UNSET else wanted_data, response.get("retrieved_data"), terms
    )


def _data_difference(check: AgentResponse, wanted: Any, found: Any, terms: Terms) -> ValueDifference:
    found = None if found in ("", [], {}) or found is None else found
    wanted = wanted or None
    if wanted is None or found is None:
        return ValueDifference(wanted is found, None if wanted is found else "null", "$.retrieved_data")
    values = found if isinstance(found, list) else [found]
    schema = check.results_schema if check.results_schema.get("type") == "array" else {"type": "array"}
    result = compare_data(wanted, values, schema, terms.sites, is_ordered=check.ordered)
    return result._replace(at="$.retrieved_data" + result.at.removeprefix("$"))


def _expected(check: AgentResponse) -> dict[str, Any]:
    expected = check.expected
    data = None if expected.retrieved_data is UNSET else expected.retrieved_data
    return {"task_type": expected.task_type, "status": expected.status, "retrieved_data": data}
