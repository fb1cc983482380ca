"""Facts about importers and exporters, and where they live."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from replaykit.errors import UsageError
from replaykit.interop.imported_run import Options, Run
from replaykit.trajectory.step import CHANNELS

FACTS = ("task", "answer", "times")
"""Facts that are listed of a format in addition to its channels."""

RECORDED, PARTIAL, ABSENT, OPTIONAL = "R", "P", "-", "o"
"""Letters of the capability table: all of it, some of it, none, only with an option or an optional part."""


class Candidate(Struct, frozen=True, kw_only=True):
    """One run found under a path."""

    name: str
    """Name of its bundle, without ending."""
    root: Path
    """Folder or archive that holds it."""
    file: str = ""
    """The file of it in the folder, where it is not the whole folder."""
    parts: tuple[tuple[str, int, int], ...] = ()
    """Rows of tables that it is made of: file, start and end."""
    shown: str = ""
    """Text for people in the place of its path, where that is of an unpacked archive."""


def flag(option: str) -> str:
    """Return an option as the command line names it."""
    return "--" + option.replace("_", "-")


class Importer(Struct, frozen=True, kw_only=True):
    """One layout that can be read."""

    name: str
    """FORMAT."""
    reads: str
    """In a few words, for the table."""
    looks_for: str
    """The files that mark the layout."""
    channels: Mapping[str, str]
    """Channel or fact to letter; missing = not at all."""
    find: Callable[[Path], Iterator[Candidate]]
    """Yields the runs under a path."""
    read: Callable[[Run, Candidate], None]
    """Reads one run."""
    options: tuple[str, ...] = ()
    """Names of `Options` that it takes, in addition to those that all take."""
    find_asked: Callable[[Path, Options], Iterator[Candidate]] | None = None
    """Yields the runs where the user names the format; None = as `find` does."""

    def option_flags(self) -> str:
        """Return its own options as the command line names them; `-` where it has none."""
        return " ".join(flag(name) for name in self.options) or ABSENT

    def letter(self, name: str) -> str:
        """Return what it fills of a channel or fact."""
        return self.channels.get(name, ABSENT)


def letters(text: str) -> dict[str, str]:
    """Return channel or fact to letter, from `R task answer; P targets`."""
    rows = [part.split() for part in text.split(";")]
    return {name: row[0] for row in rows for name in row[1:]}


IMPORTERS = {
    "webvoyager": "replaykit.interop.webvoyager.webvoyager_import",
    "wabe": "replaykit.interop.wabe.wabe_results",
    "online-mind2web": "replaykit.interop.online_mind2web.mind2web_import",
    "webarena-verified": "replaykit.interop.webarena_verified.output_folders",
    "harbor": "replaykit.interop.harbor.harbor_jobs",
    "browsergym": "replaykit.interop.browsergym.experiments",
    "agentrewardbench": "replaykit.interop.agentrewardbench.trajectories",
    "browser-use": "replaykit.interop.browser_use.history_files",
    "cuaverifierbench": "replaykit.interop.cuaverifierbench.verifier_tables",
    "clawbench": "replaykit.interop.clawbench.run_folders",
    "atif": "replaykit.interop.atif.atif_import",
    "run-jsonl": "replaykit.interop.run_jsonl.agent_log",
    "playwright-trace": "replaykit.interop.playwright_trace.trace_import",
    "playwright-mcp": "replaykit.interop.playwright_mcp.mcp_session",
    "stagehand": "replaykit.interop.stagehand.trajectories_import",
    "rrweb": "replaykit.interop.rrweb.rrweb_import",
    "inspect": "replaykit.interop.inspect.inspect_log",
    "har": "replaykit.interop.har.har_files",
    "table": "replaykit.interop.table.table_import",
}
"""FORMAT to the module whose `IMPORTER` reads it, in the order in which `auto` tries them."""


def importer(name: str) -> Importer:
    """Return the importer of a format. Raises UsageError."""
    if name not in IMPORTERS:
        raise UsageError(what=f"no import format {name!r}; there are auto, {', '.join(IMPORTERS)}")
    found: Importer = importlib.import_module(IMPORTERS[name]).IMPORTER
    return found


def matrix() -> list[dict[str, str]]:
    """Return a row for each importer: `format`, a letter a fact and channel, `options`, `looks_for`."""
    columns = (*FACTS, *CHANNELS)
    rows = (importer(name) for name in IMPORTERS)
    return [
        {
            "format": row.name,
            **{name: row.letter(name) for name in columns},
            "options": row.option_flags(),
            "looks_for": row.looks_for,
        }
        for row in rows
    ]


def check_options(one: Importer, options: Options) -> None:
    """Raise UsageError for an option that the importer does not take."""
    defaults = Options()
    given: dict[str, Any] = {name: getattr(options, name) for name in OWN}
    for name, value in given.items():
        if value != getattr(defaults, name) and name not in one.options:
            taken = "no options" if one.option_flags() == ABSENT else one.option_flags()
            raise UsageError(what=f"import {one.name} takes no option {flag(name)}; it takes {taken}")
    if options.actions and options.mode == "compat":
        raise UsageError(
            what="--actions: mode compat reads actions as the benchmark does; leave one of them out"
        )


OWN = ("mode", "max_iter", "shots", "judgements", "sidecar", "url_event", "tools", "actions", "columns")
"""Options that belong to some formats only."""
