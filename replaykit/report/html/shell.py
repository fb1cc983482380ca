"""The file around the data: head, first screen, the one program, and the policy that allows nothing else."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import IO, Any

from replaykit.patterns import lazy_pattern
from replaykit.report.html.escaping import data_block, inert_json, source_hash, text
from replaykit.report.html.page_documents import page_style

SCRIPTS = (
    "nodes", "store", "words", "charts", "measured", "filters", "runs", "overview", "causes", "changes",
    "change_charts", "stage", "film", "steps", "sides", "side_rows", "side_views", "verdict", "judge",
    "details", "run", "keys", "main",
)  # fmt: skip
"""Parts of the program, in order."""

_PLACE = lazy_pattern(r"\{\{(\w+)\}\}")


@contextmanager
def data_behind(file: IO[str]) -> Iterator[IO[str]]:
    """Give a stream for data blocks: they end the file, behind what is written to it meanwhile."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", prefix="replaykit-") as blocks:
        yield blocks
        blocks.seek(0)
        shutil.copyfileobj(blocks, file)
    file.write("</body>\n</html>\n")


def opening(title: str, first: dict[str, Any], fallback: str) -> str:
    """Return the file up to its data blocks: `first` is the first screen, `fallback` the same in words."""
    style, script = _asset("base.css") + "\n" + _asset("report.css"), program()
    values = {
        "title": text(title),
        "policy": text(policy(script, style)),
        "style": style,
        "fallback": text(fallback),
        "data": data_block("report", "application/json", inert_json(first)),
        "script": script,
    }
    return _PLACE.sub(lambda found: values[found[1]], _asset("shell.html"))


def policy(script: str, style: str) -> str:
    """Return the content security policy of the file: this program, these styles, nothing from anywhere."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {source_hash(script)}",
            f"style-src-elem {source_hash(style)} {source_hash(page_style())}",
            "style-src-attr 'unsafe-inline'",
            "img-src blob:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types replaykit-page",
        )
    )


def program() -> str:
    """Return the program: its parts in one function, strict."""
    parts = "\n".join(_asset("script", f"{name}.js") for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{parts}}})();\n'


def _asset(*path: str) -> str:
    return files("replaykit.report.html").joinpath(*path).read_text("utf-8")
