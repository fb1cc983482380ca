"""Calls of WABE's runner for a scenario, by a2a-sdk 0.3: it needs nothing else, and has no replaykit.

    python tests/gallery/runner_of_a2a_0_3.py scenario.toml

It starts every `cmd`, waits for the agents' cards, sends the request as a stream, and prints what comes back as
JSON lines: the states, their words, and the text of the artifact. All that it started ends with it.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError
from a2a.types import AgentCard, Message, Part, Role, TaskArtifactUpdateEvent, TextPart


@contextmanager
def started(commands: list[str]) -> Iterator[None]:
    """Start commands, each as leader of its own group, and end the groups."""
    running = [subprocess.Popen(shlex.split(command), start_new_session=True) for command in commands]
    try:
        yield
    finally:
        for process in running:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


async def card_of(http: httpx.AsyncClient, endpoint: str) -> AgentCard:
    """Return the card of an agent, as soon as it answers."""
    for _ in range(600):
        try:
            return await A2ACardResolver(httpx_client=http, base_url=endpoint).get_agent_card()
        except A2AClientError:  # not up yet
            await asyncio.sleep(0.1)
    raise TimeoutError(endpoint)


def texts(parts: list[Part]) -> str:
    """Join texts; fails for a part that is no text, as WABE's client does."""
    return "\n".join(part.root.text for part in parts)


async def ask(scenario: dict[str, Any]) -> None:
    """Send the request, and print each event."""
    participants = {one["role"]: one["endpoint"] for one in scenario["participants"]}
    wanted = {"participants": participants, "config": scenario["config"], "tasks": scenario.get("tasks", [])}
    parts = [Part(root=TextPart(text=json.dumps(wanted)))]
    message = Message(role=Role.user, parts=parts, message_id=uuid4().hex)
    async with httpx.AsyncClient(timeout=60) as http:
        for endpoint in participants.values():
            await card_of(http, endpoint)
        card = await card_of(http, scenario["green_agent"]["endpoint"])
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
        async for task, update in client.send_message(message):
            if isinstance(update, TaskArtifactUpdateEvent):
                update_fields = {"artifact": update.artifact.name, "text": texts(update.artifact.parts)}
            else:
                words = texts(task.status.message.parts) if task.status.message else ""
                update_fields = {"state": task.status.state.value, "text": words}
            print(json.dumps(update_fields), flush=True)


def main() -> None:
    """Run the scenario that is named."""
    scenario = tomllib.loads(Path(sys.argv[1]).read_text("utf-8"))
    agents = [*scenario["participants"], scenario["green_agent"]]
    with started([one["cmd"] for one in agents if one.get("cmd")]):
        asyncio.run(ask(scenario))


if __name__ == "__main__":
    main()
