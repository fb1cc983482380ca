"""Seal recordings that a sample left unfinished, such as those of a command that a limit ended."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path

from anyio.to_thread import run_sync
from inspect_ai.hooks import Hooks, SampleEnd, hooks

import replaykit
from replaykit.integrations.inspect.sample_recording import files_in

log = logging.getLogger("replaykit.inspect")

FOLDER = "REPLAYKIT_INSPECT_DIR"
"""Variable that names the folder of the recordings; the hook is enabled by it."""


@hooks(name="replaykit", description="Seal recordings that a sample left unfinished")
class JournalHook(Hooks):
    """Seals the bundles of a sample when it ends, in the folder that `REPLAYKIT_INSPECT_DIR` names."""

    def enabled(self) -> bool:
        """Return whether the folder is named."""
        return bool(os.environ.get(FOLDER))

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Seal the bundles that have the sample's name."""
        await run_sync(seal_left, files_in(os.environ[FOLDER], data.sample.id, data.sample.epoch))


def seal_left(files: Iterable[Path]) -> None:
    """Seal those of these files that are unfinished recordings; a failure is logged."""
    for file in files:
        try:
            if file.is_file() and _is_journal(file):
                replaykit.seal(file)
        except replaykit.ReplaykitError as error:
            log.warning("%s", error)


def _is_journal(file: Path) -> bool:
    with replaykit.open_bundle(file) as bundle:
        return bundle.layout == "journal"
