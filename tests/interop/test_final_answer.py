"""The final answer of an agent, read from transcripts of several harnesses."""

from __future__ import annotations

from typing import Any

import pytest

from replaykit.interop.clawbench.final_answer import final_answer

TRANSCRIPTS: list[tuple[list[Any], str | None]] = [
    ([{"role": "assistant", "content": "Done."}], "Done."),
    ([{"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "name": "x"}]}}], None),
    ([{"role": "assistant", "content": "Done."}, {"role": "user", "content": "no"}], None),
    ([{"type": "result", "subtype": "success", "result": "42"}], "42"),
    ([{"type": "response_item", "payload": {"type": "message", "role": "assistant",
                                            "content": [{"type": "output_text", "text": "42"}]}}], "42"),
    ([{"role": "assistant", "content": "42"}, {"type": "response_item", "payload": {"type": "function_call"}}], None),
    ([{"model_output": {"action": []}, "result": [{"is_done": True, "extracted_content": "42"}]}], "42"),
    ([{"model_output": {"action": []}, "result": [{"extracted_content": "page"}]}], None),
    ([3, "x", {}, {"role": "assistant", "content": None}], None),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "answer"), TRANSCRIPTS)
def test_the_final_answer_is_the_last_message_that_calls_nothing(
    lines: list[Any], answer: str | None
) -> None:
    assert final_answer(lines) == answer
