"""A program for the interpreter with Inspect: record samples that end in every way.

Arguments: the folder of the bundles, the shop, and a journal.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from anyio import CancelScope, lowlevel
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.solver import solver
from inspect_ai.util import LimitExceededError
from playwright.async_api import async_playwright

import replaykit
from replaykit.integrations.inspect import record_sample, recorded_run

FOLDER, SHOP, JOURNAL = sys.argv[1:]
LEAN = ["--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup"]
"""Of the browser: without menus that nobody opens."""


scopes = []
lent = AsyncExitStack()
browsers = []


async def browser():
    """Return the browser of all samples, which follow one another: each has a context of its own."""
    if not browsers:
        playwright = await lent.enter_async_context(async_playwright())
        path = replaykit.find_browser()
        browsers.append(await playwright.chromium.launch(executable_path=path, args=LEAN))
    return browsers[0]


async def finished(state):
    state.output = ModelOutput.from_content("scripted", "€84.50")


async def cancelled(state):
    # As a time limit does, but never before the click.
    scopes[-1].cancel()
    await lowlevel.checkpoint()


async def raising(state):
    raise RuntimeError("the agent broke")


async def limited(state):
    raise LimitExceededError("message", value=3, limit=2)


ENDS = {"a/finished": finished, "cancelled": cancelled, "raising": raising, "limited": limited}


@solver
def ended():
    async def solve(state, generate):
        if state.sample_id == "left":
            await lent.aclose()
            shutil.copy(JOURNAL, Path(FOLDER) / "left.1.zst")
            return state
        page = await (await browser()).new_page()
        await page.goto(SHOP)
        with CancelScope() as scope:
            scopes.append(scope)
            async with record_sample(state, page, FOLDER):
                await page.get_by_role("link", name="Orders").first.click()
                await ENDS[state.sample_id](state)
        return state

    return solve


dataset = [Sample(id=id, input="Do it.") for id in (*ENDS, "left")]
task = Task(dataset=dataset, solver=ended(), scorer=recorded_run(FOLDER))
eval(task, model="mockllm/model", log_dir="logs", display="none", fail_on_error=False, max_samples=1)
