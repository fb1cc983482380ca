"""docs/interop.md against the code: the table, the formats, the limits."""

from __future__ import annotations

import re
from pathlib import Path

from replaykit.interop.bundle_export import EXPORTERS
from replaykit.interop.registry import IMPORTERS, matrix
from replaykit.interop.source_files import SourceLimits
from replaykit.interop.untrusted_json import SOURCE_NEST_MAX

DOCUMENT = Path(__file__).parents[2] / "docs" / "interop.md"
COLUMNS = (
    "task", "answer", "times", "actions", "targets", "thoughts", "urls", "snapshots", "screenshots", "a11y",
    "network", "console", "dialogs", "messages", "replies",
)  # fmt: skip
TABLE = re.compile(r"(?<=\n)(?:\| `[a-z0-9-]+` (?:\| [RPo-] )+\|\n)+|ROWS\n")


def rows() -> str:
    lines = []
    for row in matrix():
        assert row["snapshots"] == row["form_state"]
        assert row["probes"] == "-"
        lines.append(f"| `{row['format']}` | " + " | ".join(row[name] for name in COLUMNS) + " |\n")
    return "".join(lines)


def test_the_table_is_the_code_s(update_goldens: bool) -> None:
    text = DOCUMENT.read_text()
    if update_goldens:
        DOCUMENT.write_text(TABLE.sub(rows(), text, count=1))
    found = TABLE.search(DOCUMENT.read_text())
    assert found is not None and found[0] == rows()


def test_every_format_is_described() -> None:
    text = DOCUMENT.read_text()
    layouts, exports = text.split("## The layouts")[1].split("## Exports")
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", layouts, flags=re.M)) == set(IMPORTERS)
    assert set(re.findall(r"^\| `([a-z0-9-]+)` \|", exports.split("## Harbor")[0], flags=re.M)) >= set(
        EXPORTERS
    ) - {"stwab-submission"}


def test_the_limits_are_the_code_s() -> None:
    text, limits = DOCUMENT.read_text(), SourceLimits()
    assert f"{limits.members:,} files" in text and f"`member` {limits.member >> 20} MiB" in text
    assert f"`source` {limits.source >> 30} GiB" in text and f"`line` {limits.line >> 20} MiB" in text
    assert f"`steps` {limits.steps:,}" in text and f"{SOURCE_NEST_MAX} levels" in text
