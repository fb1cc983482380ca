"""A participant of WABE on a server of a2a-sdk 0.3: it shows the history of an order, then finishes."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill
from a2a.utils import new_agent_text_message, new_task

ELEMENTS = ('link "Orders"', 'link "1003"', 'tab "History"')


class Scripted(AgentExecutor):
    """Replies with one call after the other, each as a task that is completed."""

    def __init__(self) -> None:
        self._talks: dict[str, int] = {}

    async def execute(self, context: Any, event_queue: Any) -> None:
        number = self._talks.get(context.context_id, 0)
        self._talks[context.context_id] = number + 1
        call: dict[str, Any] = {"thought": "It is shown.", "tool": "finish", "params": {}}
        if number < len(ELEMENTS):
            found = re.search(rf"{ELEMENTS[number]}.*?\[ref=(\w+)\]", context.get_user_input(), flags=re.I)
            call = {"thought": f"Call {number}.", "tool": "browser_click", "params": {}}
            call["params"] = {"element": ELEMENTS[number], "ref": found[1] if found else "none"}
        task = new_task(context.message)
        await event_queue.enqueue_event(task)
        words = new_agent_text_message(f"<json>{json.dumps(call)}</json>", task.context_id, task.id)
        await TaskUpdater(event_queue, task.id, task.context_id).complete(words)

    async def cancel(self, context: Any, event_queue: Any) -> None: ...


def main() -> None:
    port = int(sys.argv[1])
    card = AgentCard(
        name="scripted", description="Shows the history of an order.", url=f"http://127.0.0.1:{port}/",
        version="1", default_input_modes=["text"], default_output_modes=["text"],
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id="show", name="show", description="Shows.", tags=["browser"])],
    )  # fmt: skip
    handler = DefaultRequestHandler(agent_executor=Scripted(), task_store=InMemoryTaskStore())
    served = A2AStarletteApplication(agent_card=card, http_handler=handler).build()
    uvicorn.run(served, host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main()
