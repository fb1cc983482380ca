"""Fields whose call does not say that they take passwords, where another part of the file does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.trajectory.redaction_marks import MASKED
from tests.interop.conftest import Importing
from tests.interop.samples import agentrewardbench, atif, chat, turn, webvoyager
from tests.interop.test_flaws import everything
from tests.interop.test_gone import edited

TYPED = "hunter"
"""A plain word: it is looked for in no other place than its step."""


def typing(tree: Any, name: str, arguments: dict[str, Any]) -> list[Any]:
    """Two calls: the first one gives the page back, the second one types into it."""
    calls = [("goto", {"url": "http://x.test/"}), (name, arguments)]
    return [
        {"step_id": at, "source": "agent", "message": "",
         "tool_calls": [{"tool_call_id": "a", "function_name": name, "arguments": given}],
         "observation": {"results": [{"source_call_id": "a", "content": tree if at == 1 else "done"}]}}
        for at, (name, given) in enumerate(calls, 1)
    ]  # fmt: skip


INSPECT = ("web_browser_type", {"element_id": 9, "text": TYPED})
MCP = ("browser_type", {"ref": "e9", "text": TYPED})


@pytest.mark.parametrize(
    ("call", "tree", "is_secret"),
    [
        (INSPECT, '[8] textbox "Name"\n[9] textbox "Password"\n[10] button', True),
        (INSPECT, "[9] textbox 'Your Pass Code'", True),
        (MCP, '- textbox "Password" [ref=e9]\n- button [ref=e10]', True),
        (INSPECT, '[9] textbox "Name"\n[19] textbox "Password"', False),
        (INSPECT, '[9] textbox "Name"\n- link "Forgot your password?"', False),
        (MCP, '- textbox "Password" [ref=e99]', False),
    ],
)
def test_a_returned_page_shows_whether_a_field_is_secret(
    call: tuple[str, dict[str, Any]], tree: str, is_secret: bool, tmp_path: Path, imported: Importing
) -> None:
    bundle = imported("atif", atif(tmp_path, steps=typing(tree, *call)))
    assert (bundle.trajectory.steps[1].action.value == MASKED) is is_secret
    assert (TYPED.encode() in everything(bundle)) is not is_secret


def test_an_invisible_label_marks_a_password_field(tmp_path: Path, imported: Importing) -> None:
    seen = 'Observation: x.\n[9]: <input> "", "Your password";'
    said = chat(turn(f"Type [9]; {TYPED}"), turn("ANSWER; Done."), seen=seen)
    bundle = imported("webvoyager", webvoyager(tmp_path, said, shots=2))
    assert TYPED.encode() not in everything(bundle)


def test_the_tree_of_agentrewardbench_marks_a_password_field(tmp_path: Path, imported: Importing) -> None:
    path = agentrewardbench(tmp_path)
    change = {"action": f"fill('a7', '{TYPED}')", "axtree": "[a7] textbox 'Password', required"}
    edited(path, lambda plain: plain["steps"][0].update(change))
    bundle = imported("agentrewardbench", path)
    assert bundle.trajectory.steps[0].action.value == MASKED and TYPED.encode() not in everything(bundle)
