"""Names of hosts: an element with a shadow tree names the one control in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.live.one_rule import outcome_of

pytestmark = [pytest.mark.live, pytest.mark.one_page]

RULE = {"type": "never", "match": {"action": "@activate", "text": "Subscribe"}}

HOST = """<!doctype html><{tag} aria-label=Subscribe {attributes}></{tag}><script>
customElements.define('{tag}', class extends HTMLElement {{
  connectedCallback() {{
    this.attachShadow({{ mode: 'open', delegatesFocus: {delegates} }}).innerHTML = `{inner}`;
  }}
}});
</script>"""

ONE = "<button id=b>Plus</button>"
TWO = "<button id=b>Plus</button><button>Minus</button>"
NESTED = "<p>News</p><button id=b>Plus</button><slot></slot>"


@pytest.mark.parametrize(
    ("host", "outcome"),
    [
        ({"tag": "my-button", "inner": ONE}, "VIOLATED"),
        ({"tag": "my-button", "inner": TWO, "delegates": "true"}, "VIOLATED"),
        ({"tag": "my-button", "inner": TWO, "attributes": "role=button"}, "VIOLATED"),
        ({"tag": "my-button", "inner": TWO, "attributes": "tabindex=0"}, "VIOLATED"),
        ({"tag": "my-app", "inner": TWO}, "DORMANT"),
        ({"tag": "my-app", "inner": TWO, "attributes": "tabindex=-1"}, "DORMANT"),
        ({"tag": "my-app", "inner": NESTED, "attributes": "><a href=/>Home</a"}, "DORMANT"),
    ],
    ids=[
        "one control",
        "delegates focus",
        "role",
        "focusable",
        "shell",
        "focused by script",
        "shell with content",
    ],
)
def test_a_host_that_is_operable_names_what_is_in_it(
    host: dict[str, str], outcome: str, tmp_path: Path, page: Any, site: Any
) -> None:
    page.goto(site.add("/", HOST.format(**{"attributes": "", "delegates": "false", **host})))
    assert outcome_of(RULE, lambda page: page.click("#b"), page, tmp_path / "run.zst") == outcome
