"""JSONPath in compat beside what WebArena-Verified itself reads, where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.checks.requests.webarena_verified_network import _at
from tests.needed import missing

PEERS = Path(__file__).parents[3] / ".venv" / "peers"
DOCUMENT: dict[str, Any] = {
    "a": [{"b": 1, "c": "x"}, {"b": "1", "c": "y & z"}, {"b": 2, "c": "z"}, {"b": "no", "c": "w"}],
    "a-b": {"c": 1},
    "n": {"m": '{"q": 1}'},
    "d": {"x": {"b": 1, "c": 2}},
    "l": [1, 2, 3],
}
PATHS = [
    *(
        "$",
        "$.",
        "a.b",
        "$..b",
        "$..c",
        "$.a.b",
        "$.a[*].b",
        "$.a[0].b",
        "$.a.[0].b",
        "$.a[5].b",
        "$.a[0]['b','c']",
    ),
    *(
        "$.a[0,1].b",
        "$.a-b.c",
        "$['a-b'].c",
        "$.n.m.q",
        "$.d.*",
        "$.l[*]",
        "$.l[-1]",
        "$.l[0:2]",
        "$.l[?(@ > 1)]",
    ),
    *(
        "$.a[?(@.b == 1)].c",
        "$.a[?(@.b==2)].c",
        "$.a[?(@.b != 1)].c",
        "$.a[?(@.b > 1)].c",
        "$.a[?@.b == 1].c",
    ),
    *("$.a[?(@.b == 1.0)].c", "$.a[?(@.b == true)].c", "$.a[?(@.c == 'x')].b", '$.a[?(@.c == "y & z")].b'),
    *(
        "$.a[?(@.b == 1 & @.c == 'x')].c",
        "$.a[?(@.b == 1 && @.c == 'x')].c",
        "$.a[?(@.q)].c",
        "$.a[?(@.c)].b",
    ),
    "$.d[?(@.b == 1)].c",
]
ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from webarena_verified.core.utils.jsonpath_utils import extract_jsonpath_value as read
paths, document = json.load(sys.stdin)
print(json.dumps([read(document, path, strict=False) for path in paths]))
"""


def test_paths_lead_where_the_package_finds_them() -> None:
    if not (PEERS / "webarena_verified").is_dir():
        missing("webarena-verified in .venv/peers")
    asked = json.dumps([PATHS, DOCUMENT])
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(PEERS)], input=asked, capture_output=True, text=True, check=True
    )
    found = json.dumps([_at(DOCUMENT, path) for path in PATHS])
    assert dict(zip(PATHS, json.loads(found), strict=True)) == dict(
        zip(PATHS, json.loads(done.stdout), strict=True)
    )


@pytest.mark.parametrize("path", ["$.l.`len`", "$.a[?(@.c =~ 'x')].b"])
def test_extensions_of_its_library_lead_nowhere(path: str) -> None:
    assert _at(DOCUMENT, path) is None
