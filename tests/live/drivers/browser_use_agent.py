"""The shop task by browser-use, with a model that gives prepared replies."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from typing import Any

from browser_use import Agent, BrowserSession
from browser_use.llm.views import ChatInvokeCompletion
from shop_task import EMAIL, ORDER, SEARCH, Reporter

Action = dict[str, dict[str, Any]]


class Page:
    """The page as the model sees it: elements have a number."""

    text = ""

    def link(self, name: str) -> int:
        """Return the number of the link of that name."""
        return self._number(rf"\[(\d+)\]<a />\n\s*{name}\n")

    def button(self, name: str) -> int:
        """Return the number of the button of that name."""
        return self._number(rf"\[(\d+)\]<button [^\n]*\n\s*{name}\n")

    def field(self, name: str) -> int:
        """Return the number of the field of that id."""
        return self._number(rf"\[(\d+)\]<[^\n]* id={name} ")

    def _number(self, pattern: str) -> int:
        found = re.search(pattern, self.text)
        assert found, (pattern, self.text)
        return int(found[1])


def turns_of(page: Page) -> Iterator[list[Action]]:
    """Yield the actions of each turn; the page is described again before the next."""
    yield [{"click": {"index": page.link("Orders")}}]
    yield [{"input": {"index": page.field("q"), "text": SEARCH}}, {"send_keys": {"keys": "Enter"}}]
    yield [{"click": {"index": page.link(ORDER)}}]
    total = re.search(r"Total\s+(?:\S*<\S+ [^\n]*\s+)?(€[\d.]+)", page.text)
    assert total, page.text
    yield [{"click": {"index": page.link("Settings")}}]
    yield [{"input": {"index": page.field("contact-email"), "text": EMAIL}}]
    yield [{"select_dropdown": {"index": page.field("language"), "text": "Suomi"}}]
    yield [{"click": {"index": page.field("weekly-digest")}}]
    yield [{"click": {"index": page.button("Save settings")}}]
    yield [{"done": {"text": total[1], "success": True}}]


class Model:
    """A model that has learnt its part by heart."""

    _verified_api_keys = True
    model = name = model_name = provider = "script"

    def __init__(self) -> None:
        self._page = Page()
        self._turns = turns_of(self._page)

    async def ainvoke(
        self, messages: list[Any], output_format: Any = None, **options: Any
    ) -> ChatInvokeCompletion[Any]:
        """Answer with the next turn."""
        # The page is in one message; advice may follow it.
        self._page.text = [one.text for one in messages if "<browser_state>" in one.text][-1]
        said = {"evaluation_previous_goal": "", "memory": "", "next_goal": "", "action": next(self._turns)}
        return ChatInvokeCompletion(completion=output_format.model_validate(said), usage=None)


async def main() -> None:
    """Do the shop task in the browser that is open."""
    session = BrowserSession(cdp_url=os.environ["REPLAYKIT_CDP_URL"], keep_alive=True)
    agent = Agent(task="shop-task", llm=Model(), browser_session=session, use_vision=False, use_judge=False)
    history = await agent.run(max_steps=12)
    Reporter().answer(history.final_result() or "")
    await session.stop()


if __name__ == "__main__":
    asyncio.run(main())
