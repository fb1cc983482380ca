"""Record the browser of one sample, and note in its store where the bundle is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from anyio import move_on_after
from inspect_ai.util import LimitExceededError, StoreModel

import replaykit

if TYPE_CHECKING:
    from inspect_ai.solver import TaskState
    from playwright.async_api import Browser, BrowserContext, Page

CLOSING_S = 30.0
"""Longest wait for the last look at the pages of a sample that was cancelled."""

ENDINGS = {"message": "max_steps", "turn": "max_steps", "time": "timeout", "working": "timeout"}
"""Inspect's limit to the ending that it is here; other limits stop the run."""


class RecordedRun(StoreModel):
    """Where the bundle of a sample is; logs show the fields as `RecordedRun:bundle`, `RecordedRun:digest`."""

    bundle: str = ""
    """Path of the bundle."""
    digest: str = ""
    """`sha256:...` of its content; empty until it is sealed."""


@asynccontextmanager
async def record_sample(
    state: TaskState, page: Page | BrowserContext | Browser, folder: str | Path = "runs", **options: Any
) -> AsyncIterator[replaykit.AsyncRecorder]:
    """Record a page, context or browser of `playwright.async_api` as `FOLDER/<sample id>.<epoch>.zst`.

    The completion of `state.output` at the end of the block is recorded as the answer. The bundle is sealed
    whatever ends the block: an exception, a limit, a cancellation. `options` are those of `AsyncRecorder`;
    `force=True` replaces the recording of an earlier attempt. Raises OutputExists, RecorderError.
    """
    path = Path(folder) / file_name(state.sample_id, state.epoch)
    kept = state.store_as(RecordedRun)
    kept.bundle, kept.digest = str(path), ""
    options.setdefault("run", f"{state.sample_id}.{state.epoch}")
    run = replaykit.AsyncRecorder(path, **options)
    async with AsyncExitStack() as stack:
        await run.__aenter__()
        stack.push_async_exit(partial(_close, run, kept))
        await run.attach(page)
        yield run
        if state.output.completion:
            run.answer(state.output.completion)


def file_name(id: str | int, epoch: int | None = None) -> str:
    """Return the file name of a sample's bundle. Different ids have different names."""
    plain = quote(str(id), safe=" ")
    return f"{plain}.zst" if epoch is None else f"{plain}.{epoch}.zst"


def files_in(folder: str | Path, id: str | int, epoch: int) -> Iterator[Path]:
    """Return where the bundle of a sample may be, the file of its epoch first."""
    yield Path(folder) / file_name(id, epoch)
    yield Path(folder) / file_name(id)


async def _close(
    run: replaykit.AsyncRecorder,
    kept: RecordedRun,
    kind: type[BaseException] | None,
    error: BaseException | None,
    trace: TracebackType | None,
) -> None:
    """Seal.

    Inspect cancels a sample at its limit: without a shield, every wait would be cancelled as well.
    """
    if isinstance(error, LimitExceededError):
        run.end(ENDINGS.get(error.type, "stopped"), cause="harness")
    with move_on_after(CLOSING_S, shield=True):
        await run.stop(error)
    if run.result is not None:
        kept.digest = f"sha256:{run.result.digest}"
