"""A task file, a policy file and an agent to begin with, and the schemas that editors check them by."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from replaykit.errors import OutputExists, UsageError, write_refused
from replaykit.report.json_text import json_text
from replaykit.report.report_output import write_file
from replaykit.tasks.policies_schema import policies_schema
from replaykit.tasks.suite import suite_schema

TEMPLATES = ("tasks.yaml", "policies.yaml", "agent.py")
"""Files for people to edit."""

SCHEMAS = {"suite": suite_schema, "policies": policies_schema}
"""Schemas beside them, in `.schema`; the first line of each YAML file names its own."""


def write_starter(folder: Path, url: str, *, force: bool = False) -> list[Path]:
    """Write the files for a site into a folder, all or none, and return their paths, those to edit first.

    Raises UsageError for a URL that no browser opens, OutputExists for a file that is there without `force`.
    """
    contents = {folder / name: text.encode() for name, text in _templates(_checked(url)).items()}
    for name, schema in SCHEMAS.items():
        contents[folder / ".schema" / f"{name}.schema.json"] = json_text(schema(), 1) + b"\n"
    for path in () if force else contents:
        if os.path.lexists(path):
            raise OutputExists(source=str(path), operation="write the file")
    for path, content in contents.items():
        make_folder(path.parent)
        write_file(path, content)
    return [*contents]


def _templates(url: str) -> dict[str, str]:
    place = resources.files("replaykit.demo") / "starter"
    return {name: (place / f"{name}.txt").read_text("utf-8").replace("{url}", url) for name in TEMPLATES}


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or any(one in url for one in " \"'#{}\n"):
        raise UsageError(
            what=f"--url: expected the address of a site, such as https://example.com, got {url!r}"
        )
    return url.rstrip("/")


def make_folder(folder: Path) -> None:
    """Make a folder where none is. Raises UsageError for a wrong place, BundleWriteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_refused(folder, "make the folder", error) from error
