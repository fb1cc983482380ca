"""`SECURITY.md` lists what is hidden by its look; the list is that of the code."""

from __future__ import annotations

from pathlib import Path

from replaykit.secrets.secret_looks import LOOKS

PAGE = Path(__file__).parents[2] / "SECURITY.md"


def test_the_page_lists_every_pattern() -> None:
    names = " ".join(dict.fromkeys(f"`{name}`" for name, _ in LOOKS))
    assert f"({names})" in PAGE.read_text("utf-8")
