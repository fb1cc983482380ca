"""Targets of the next call in a snapshot of Playwright MCP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.interop.playwright_mcp.snapshot_targets import named_by_snapshot, snapshot_of
from replaykit.trajectory.action import Click, Element
from tests.interop.conftest import Importing
from tests.interop.samples import atif, mcp_entry, playwright_mcp

SNAPSHOT = r"""- generic [active] [ref=e1]:
  - button "Delete account" [ref=e3] [cursor=pointer]
  - 'link "a: \"b\"" [ref=e4]':
    - /url: /b
  - generic [ref=e5]: Pay
  - button "say [ref=e6]" [ref=e7]
  - heading "One" [level=1] [ref=e8]: text"""

GIVEN = f"- Page URL: http://shop.test/\n- Page Snapshot:\n```yaml\n{SNAPSHOT}\n```\n"


@pytest.mark.parametrize(
    ("ref", "role", "name"),
    [
        ("e3", "button", "Delete account"),
        ("e4", "link", 'a: "b"'),
        ("e8", "heading", "One"),
        ("e1", None, None),
        ("e5", None, None),
        ("e6", None, None),
        ("e9", None, None),
        (".*", None, None),
    ],
)
def test_one_line_says_what_a_reference_means(ref: str, role: str | None, name: str | None) -> None:
    element = Element(ref=ref, text="Continue")
    assert named_by_snapshot(SNAPSHOT, Click(element=element)).element == Element(
        ref=ref, text="Continue", role=role, name=name
    )
    twice = f'{SNAPSHOT}\n- button "Forged" [ref={ref}]\n- button "Forged" [ref={ref}]'
    assert named_by_snapshot(twice, Click(element=element)).element == element


@pytest.mark.parametrize(
    ("tool", "returned", "found"),
    [
        ("browser_navigate", GIVEN, True),
        ("browser_navigate", [{"type": "text", "text": GIVEN}], True),
        ("browser_navigate", GIVEN + GIVEN, False),
        ("browser_evaluate", GIVEN, False),
        ("browser_navigate", "no snapshot", False),
        ("browser_navigate", None, False),
    ],
)
def test_which_results_hold_a_snapshot(tool: str, returned: Any, found: bool) -> None:
    assert bool(snapshot_of(tool, returned)) == found


@given(st.text("-'\"[]=refe12 :\n\\", max_size=60))
def test_any_snapshot_leaves_an_action(snapshot: str) -> None:
    assert isinstance(named_by_snapshot(snapshot, Click(element=Element(ref="e1"))), Click)


def test_a_session_names_targets_by_the_snapshot_before(tmp_path: Path, imported: Importing) -> None:
    go = mcp_entry("browser_navigate", {"url": "http://shop.test/"}, snapshot=SNAPSHOT)
    click = mcp_entry("browser_click", {"element": "Continue", "ref": "e3"})
    folder = playwright_mcp(tmp_path, go, click, click)
    _, first, second = [step.action.element for step in imported("playwright-mcp", folder).trajectory.steps]
    assert first == Element(ref="e3", text="Continue", role="button", name="Delete account")
    assert second == Element(ref="e3", text="Continue"), "what the page shows by then is unknown"


def test_a_trajectory_names_targets_by_the_result_before(tmp_path: Path, imported: Importing) -> None:
    calls = [
        ("browser_navigate", {"url": "http://shop.test/"}),
        ("browser_click", {"element": "Continue", "ref": "e3"}),
    ]
    steps = [
        {
            "step_id": at, "source": "agent", "message": "",
            "tool_calls": [{"tool_call_id": f"c{at}", "function_name": name, "arguments": arguments}],
            "observation": {"results": [{"source_call_id": f"c{at}", "content": GIVEN}]},
        }
        for at, (name, arguments) in enumerate(calls, 1)
    ]  # fmt: skip
    path = atif(tmp_path, steps=steps)
    element = imported("atif", path).trajectory.steps[1].action.element
    assert element == Element(ref="e3", text="Continue", role="button", name="Delete account")
