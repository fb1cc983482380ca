"""Texts that show on a page and are in no recording: nobody can say that a page lacks a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from tests.thorough import one_in

pytestmark = [pytest.mark.live, pytest.mark.one_page]

SOLD_OUT = "Sold out"
CANVAS = """<canvas id=c width={0} height={1}></canvas>
<script>c.getContext("2d").fillText("Sold out", 10, 20)</script>"""


def outcomes(page: Any, path: Path) -> tuple[str, str]:
    """Record a click, and return what a check and a policy say that forbid a text on the page."""
    wanted = {"type": "page", "expect": {"excludes": SOLD_OUT}}
    rule = {"type": "page_state", "forbid": True, "expect": {"contains": SOLD_OUT}}
    task = {
        "id": "t",
        "intent": "x",
        "checks": [wanted],
        "policies": [{"id": "p", "dimension": "user_consent", "rule": rule}],
    }
    with Recorder(path, task=task, screenshots="off", network="off") as run:
        run.attach(page)
        page.click("#go")
        run.answer("done")
    result = grade(path)
    return result.checks[0].outcome, result.policies[0].outcome


@pytest.mark.parametrize(
    ("part", "expected"),
    one_in(
        3,
        [
            ("<object type=text/html data=/inner width=300 height=100></object>", ("UNDECIDED", "UNDECIDED")),
            ("<embed src=/drawing.svg width=300 height=100>", ("UNDECIDED", "UNDECIDED")),
            ("<object data=/dot.png type=image/png></object>", ("PASS", "OK")),
            ("<object type=text/html data=/inner style='display: none'></object>", ("PASS", "OK")),
            (CANVAS.format(500, 400), ("UNDECIDED", "UNDECIDED")),
            (CANVAS.format(100, 50), ("PASS", "OK")),
            (CANVAS.format(500, 400) + "<p>" + "A chart of all sales. " * 30, ("PASS", "OK")),
            ("<iframe src=/inner></iframe>", ("FAIL", "VIOLATED")),
            ("<iframe src=/inner style='width: 0; height: 0; border: 0'></iframe>", ("PASS", "OK")),
            ("<iframe src=/inner width=1 height=1></iframe>", ("PASS", "OK")),
        ],
    ),
    ids=[
        "object",
        "embed",
        "picture",
        "hidden object",
        "drawn page",
        "small canvas",
        "chart",
        "frame",
        "frame of no size",
        "frame of a pixel",
    ],
)
def test_what_shows_and_was_not_recorded_is_not_denied(
    part: str, expected: tuple[str, str], tmp_path: Path, page: Any, site: Any
) -> None:
    site.add("/inner", f"<!doctype html><p>{SOLD_OUT}")
    site.add(
        "/drawing.svg",
        f"<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>{SOLD_OUT}</text></svg>",
        "image/svg+xml",
    )
    page.goto(site.add("/", f"<!doctype html><button id=go>Go</button>{part}"))
    assert outcomes(page, tmp_path / "run.zst") == expected
