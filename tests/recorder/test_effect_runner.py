"""Tasks of a recorder whose loop ends."""

from __future__ import annotations

import asyncio
import inspect

import pytest

from replaykit.recorder.browser.async_driver import AsyncDriver
from tests.recorder.test_driver import Scripted


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("has_begun", [False, True])
def test_work_that_is_cancelled_with_its_task_is_closed(has_begun: bool) -> None:
    begun: list[str] = []

    async def work() -> None:
        begun.append("work")
        await asyncio.sleep(60)

    async def run() -> None:
        runner = AsyncDriver(lambda _: Scripted(), lambda _: None, "")
        carried = work()
        task = runner._spawn(carried)
        if has_begun:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert inspect.getcoroutinestate(carried) == inspect.CORO_CLOSED
        assert not runner._tasks

    asyncio.run(run())
    assert begun == ["work"] * has_begun
