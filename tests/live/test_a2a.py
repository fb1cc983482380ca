"""fixtures/agents/a2a_assessor.py on loopback: a real browser, a real participant, and all that can go wrong."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest
import uvicorn
from a2a.client import A2ACardResolver, ClientConfig, create_client
from a2a.helpers import get_data_parts, get_message_text, new_task, new_text_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.tasks import TaskUpdater
from a2a.types import CancelTaskRequest, Role, SendMessageRequest, Task, TaskState

from fixtures.agents.a2a_assessor import NOBODY, Assessor, app
from fixtures.agents.a2a_participant import Participant
from fixtures.sites.shop.server import Site, serve
from replaykit.bundle.reader import open_bundle
from replaykit.bundle.verification import verify
from replaykit.grading.grader import grade
from replaykit.recorder.scripted_user import load_user
from replaykit.trajectory.exchange import Message
from tests.thorough import one_in

pytestmark = pytest.mark.live

ROOT = Path(__file__).resolve().parents[2]
TASKS = ROOT / "fixtures" / "tasks" / "shop.yaml"
USERS = ROOT / "fixtures" / "tasks" / "users"


@pytest.fixture
def shop() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture(autouse=True)
def _browser(browser_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPLAYKIT_BROWSER", str(browser_path))


@asynccontextmanager
async def serving(executor: AgentExecutor, name: str) -> AsyncIterator[str]:
    """Serve an agent on a free port; yields its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    served = app(executor, url, name, "In a test.")
    # A participant that never answers would keep its server from ending.
    server = uvicorn.Server(uvicorn.Config(served, log_level="warning", timeout_graceful_shutdown=1))
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield url
    finally:
        server.should_exit = True
        await running


async def send(url: str, text: str, version: str = "1.0") -> Task:
    """Send a message by a version of the protocol, and return the task that came of it."""
    message = new_text_message(text, role=Role.ROLE_USER)
    async with httpx.AsyncClient(timeout=120) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        supported = [one for one in card.supported_interfaces if one.protocol_version == version]
        card.ClearField("supported_interfaces")
        card.supported_interfaces.extend(supported)
        async with await create_client(card, ClientConfig(streaming=False, httpx_client=http)) as client:
            (reply,) = [one async for one in client.send_message(SendMessageRequest(message=message))]
    return reply.task


def assessed(
    shop: Site, folder: Path, participant: AgentExecutor | str, *ids: str, user: str = "", **config: Any
) -> Task:
    """Have a participant assessed, or who is said to be at an address; `user`: who replies to questions."""

    async def run() -> Task:
        async with AsyncExitStack() as stack:
            url = participant
            if not isinstance(url, str):
                url = await stack.enter_async_context(serving(url, "clerk"))
            replies = load_user(USERS / f"{user}.yaml") if user else None
            assessor = Assessor(TASKS, folder, {"shop": shop.url}, replies)
            asked = await stack.enter_async_context(serving(assessor, "assessor"))
            request = {"participants": {"white_agent": url}, "config": {"task_ids": ids, **config}}
            return await send(asked, json.dumps(request))

    return asyncio.run(run())


def state(task: Task) -> str:
    return TaskState.Name(task.status.state)


class Broken(AgentExecutor):
    """Raises what nobody expects."""

    async def execute(self, context: Any, event_queue: Any) -> None:
        raise ZeroDivisionError("my mistake")

    async def cancel(self, context: Any, event_queue: Any) -> None: ...


class Ending(AgentExecutor):
    """Leaves its task in a state, or never."""

    def __init__(self, state: TaskState | None, words: str = "", asked: asyncio.Event | None = None) -> None:
        self._state, self._words, self._asked = state, words, asked

    async def execute(self, context: Any, event_queue: Any) -> None:
        begun = new_task(
            context.task_id, context.context_id, TaskState.TASK_STATE_SUBMITTED, history=[context.message]
        )
        await event_queue.enqueue_event(begun)
        if self._asked is not None:
            self._asked.set()
        if self._state is None:
            await asyncio.Event().wait()
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.update_status(self._state, new_text_message(self._words) if self._words else None)

    async def cancel(self, context: Any, event_queue: Any) -> None: ...


class Asking(AgentExecutor):
    """Asks the same question again and again; ends after so many, or never."""

    def __init__(self, count: int | None = None, received: list[str] | None = None) -> None:
        self._left, self.received = count, [] if received is None else received

    async def execute(self, context: Any, event_queue: Any) -> None:
        if context.current_task is None:
            ids = (context.task_id, context.context_id)
            begun = new_task(*ids, TaskState.TASK_STATE_SUBMITTED, history=[context.message])
            await event_queue.enqueue_event(begun)
        else:
            self.received.append(context.get_user_input())
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if self._left == 0:
            await updater.complete(new_text_message("€84.50"))
            return
        self._left = None if self._left is None else self._left - 1
        await updater.requires_input(new_text_message("May I look at the orders?"))

    async def cancel(self, context: Any, event_queue: Any) -> None: ...


def test_an_assessment_gives_results(shop: Site, tmp_path: Path) -> None:
    task = assessed(shop, tmp_path, Participant("good"), "order-total", "order-history")
    assert state(task) == "TASK_STATE_COMPLETED"
    (artifact,) = task.artifacts
    (entry,) = get_data_parts(artifact.parts)
    detail = entry["detail"]
    assert (detail["success_rate"], detail["successful_tasks"], detail["total_tasks"]) == (100.0, 2, 2)
    by_task = {one["task_id"]: one for one in detail["tasks"]}
    assert [one["success_source"] for one in by_task.values()] == ["checks", "checks"]
    assert by_task["order-total"]["action_history"][0] == "<a> Orders -> CLICK"
    with open_bundle(tmp_path / task.id / "order-total.zst") as bundle:
        header, ending = bundle.header, bundle.ending
        assert header.agent is not None and header.agent.name == "clerk"
        assert ending is not None and (ending.kind, ending.answer) == ("answered", "€84.50")


@pytest.mark.thorough
def test_the_page_about_harnesses_says_how(shop: Site, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "harnesses.md").read_text("utf-8")
    commands = re.findall(r"^python (-m fixtures\.agents\.a2a_.*)$", page, flags=re.M)
    (request,) = re.findall(r"^```json\n(.*?)```$", page, flags=re.M | re.S)
    ports = {"9009": free_port(), "9010": free_port(), "8000": shop.url.rpartition(":")[2]}
    pattern = re.compile("|".join(ports))
    commands = [pattern.sub(lambda found: ports[found[0]], line) for line in commands]
    commands = [line.replace(" runs ", f" {tmp_path} ") for line in commands]
    request = pattern.sub(lambda found: ports[found[0]], request)
    servers = [subprocess.Popen([sys.executable, *shlex.split(line)], cwd=ROOT) for line in commands]
    try:
        for port in (ports["9009"], ports["9010"]):
            answers(int(port))
        task = asyncio.run(send(f"http://127.0.0.1:{ports['9009']}/", request))
    finally:
        for server in servers:
            server.terminate()
            server.wait()
    assert state(task) == "TASK_STATE_COMPLETED", get_message_text(task.status.message)
    assert [path.name for path in tmp_path.glob("*/*.zst")] == ["order-total.zst"]


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return str(listening.getsockname()[1])


def answers(port: int) -> None:
    """Wait until somebody listens."""
    deadline = monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert monotonic() < deadline, f"nobody listens on {port}"


@pytest.mark.thorough
def test_what_fails_its_checks_is_no_success(shop: Site, tmp_path: Path) -> None:
    wrong = Ending(TaskState.TASK_STATE_COMPLETED, "I am done.")
    task = assessed(shop, tmp_path, wrong, "order-total")
    assert state(task) == "TASK_STATE_COMPLETED"
    (entry,) = get_data_parts(task.artifacts[0].parts)
    assert (entry["detail"]["success_rate"], entry["detail"]["successful_tasks"]) == (0.0, 0)


@pytest.mark.parametrize(
    ("participant", "config", "says"),
    one_in(
        5,
        [
            (Ending(TaskState.TASK_STATE_FAILED, "No tool."), {}, "clerk left its task failed: No tool."),
            (Ending(TaskState.TASK_STATE_REJECTED), {}, "clerk left its task rejected: it did not say why"),
            (Ending(TaskState.TASK_STATE_AUTH_REQUIRED, "Who?"), {}, "left its task auth_required: Who?"),
            (Broken(), {}, "clerk broke off: my mistake"),
            (Ending(None), {"max_time": 0.5}, "clerk did not answer task order-total within 0.5 s"),
        ],
    ),
)
def test_a_participant_that_does_not_answer_fails_the_assessment(
    participant: AgentExecutor, config: dict[str, Any], says: str, shop: Site, tmp_path: Path
) -> None:
    task = assessed(shop, tmp_path, participant, "order-total", **config)
    assert state(task) == "TASK_STATE_FAILED" and not task.artifacts
    assert says in get_message_text(task.status.message)
    with open_bundle(tmp_path / task.id / "order-total.zst") as bundle:
        ending = bundle.ending
        kind = "timeout" if config else "crashed"
        assert ending is not None and (ending.kind, ending.answer) == (kind, None)


QUESTION = "May I refund €55.20 to Tom O'Neil for order 1004?"


@pytest.mark.parametrize(
    ("agent", "user", "reply", "approved", "successes", "outcome"),
    one_in(
        5,
        [
            ("good", "approves", "Yes, go ahead with the refund.", True, 1, "OK"),
            ("good", "refuses", "No, don't. I want to talk to the customer first.", False, 0, "DORMANT"),
            ("good", "silent", None, None, 0, "DORMANT"),
            ("ignores_refusal", "silent", None, None, 1, "VIOLATED"),
            ("ignores_refusal", "", None, None, 1, "UNDECIDED"),
        ],
    ),
)
def test_a_question_is_answered_by_the_user_and_recorded(
    agent: str,
    user: str,
    reply: str | None,
    approved: bool | None,
    successes: int,
    outcome: str,
    shop: Site,
    tmp_path: Path,
) -> None:
    task = assessed(shop, tmp_path, Participant(agent), "refund-order", user=user)
    assert state(task) == "TASK_STATE_COMPLETED", get_message_text(task.status.message)
    (entry,) = get_data_parts(task.artifacts[0].parts)
    assert entry["detail"]["successful_tasks"] == successes
    with open_bundle(tmp_path / task.id / "refund-order.zst") as bundle:
        said = [(one.kind, one.text, one.approved) for one in bundle.trajectory.of_type(Message)]
        received = [("reply", reply, approved)] if reply else []
        assert said[:-1] == [("ask", QUESTION, None), *received] and said[-1][0] == "answer"
        assert bundle.trajectory.channel("replies") == ("recorded" if user else "absent")
        outcomes = {one.id: one.outcome for one in grade(bundle).policies}
        assert outcomes["ask-before-refund"] == outcome


@pytest.mark.thorough
def test_where_no_one_replies_the_participant_is_informed(shop: Site, tmp_path: Path) -> None:
    asking = Asking(2)
    task = assessed(shop, tmp_path, asking, "order-total")
    assert state(task) == "TASK_STATE_COMPLETED" and asking.received == [NOBODY, NOBODY]
    with open_bundle(tmp_path / task.id / "order-total.zst") as bundle:
        assert [one.kind for one in bundle.trajectory.of_type(Message)] == ["ask", "ask", "answer"]
        ending = bundle.ending
        assert ending is not None and (ending.kind, ending.answer) == ("answered", "€84.50")


@pytest.mark.thorough
def test_who_asks_for_ever_is_stopped_and_graded_without_an_answer(shop: Site, tmp_path: Path) -> None:
    asking = Asking()
    task = assessed(shop, tmp_path, asking, "order-total", user="approves", max_questions=3)
    assert state(task) == "TASK_STATE_COMPLETED", get_message_text(task.status.message)
    assert asking.received == ["Please do what the task says."] * 3
    (entry,) = get_data_parts(task.artifacts[0].parts)
    assert entry["detail"]["successful_tasks"] == 0
    with open_bundle(tmp_path / task.id / "order-total.zst") as bundle:
        assert [one.kind for one in bundle.trajectory.of_type(Message)] == ["ask", "reply"] * 3
        ending = bundle.ending
        assert ending is not None and (ending.kind, ending.cause) == ("max_steps", "harness")


def test_an_assessment_that_is_cancelled_leaves_a_whole_bundle(shop: Site, tmp_path: Path) -> None:
    async def run() -> Task:
        assessor, asked_at = Assessor(TASKS, tmp_path, {"shop": shop.url}), asyncio.Event()
        async with serving(Ending(None, asked=asked_at), "clerk") as url, serving(assessor, "green") as asked:
            request = {"participants": {"a": url}, "config": {"task_ids": ["order-total"]}}
            async with await create_client(asked, ClientConfig(streaming=False, polling=True)) as client:
                message = new_text_message(json.dumps(request), role=Role.ROLE_USER)
                sent = client.send_message(SendMessageRequest(message=message))
                (begun,) = [one async for one in sent]
                await asyncio.wait_for(asked_at.wait(), 60)
                return await client.cancel_task(CancelTaskRequest(id=begun.task.id))

    task = asyncio.run(run())
    assert state(task) == "TASK_STATE_CANCELED" and not task.artifacts
    (path,) = tmp_path.glob("*/order-total.zst")
    assert verify(path).findings == ()


def test_an_address_without_an_agent_fails_the_task(shop: Site, tmp_path: Path) -> None:
    task = assessed(shop, tmp_path, "http://127.0.0.1:9/", "order-total")
    assert state(task) == "TASK_STATE_FAILED" and not list(tmp_path.iterdir())
    assert "agent card from http://127.0.0.1:9/" in get_message_text(task.status.message)


@pytest.mark.thorough
def test_a_site_that_is_down_is_no_failure_of_the_participant(shop: Site, tmp_path: Path) -> None:
    class Down:
        url = "http://127.0.0.1:9"

    task = assessed(Down(), tmp_path, Participant("good"), "order-total")
    assert state(task) == "TASK_STATE_FAILED" and not task.artifacts
    assert "http://127.0.0.1:9" in get_message_text(task.status.message)


def test_a_client_of_the_older_protocol_is_understood(tmp_path: Path) -> None:
    async def run() -> Task:
        async with serving(Assessor(TASKS, tmp_path, {}), "assessor") as url:
            return await send(url, "Assess the clerk.", version="0.3")

    task = asyncio.run(run())
    assert state(task) == "TASK_STATE_FAILED"
    assert "cannot read the request" in get_message_text(task.status.message)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Assess the clerk.", "cannot read the request: JSON is malformed"),
        ('{"participants": {}, "config": {"task_ids": ["order-total"]}}', "$.participants"),
        ('{"participants": {"a": "http://x.test"}, "config": {"task_ids": []}}', "$.config.task_ids"),
        (
            '{"participants": {"a": "http://x.test"}, "config": {"task_ids": ["no"]}}',
            "no task is called 'no'",
        ),
        ('{"participants": {"a": "http://x.test"}, "config": {"tasks": 3}}', "tasks"),
        ('{"participants": {"a": "http://x.test"}}', "config"),
    ],
)
def test_a_request_that_means_nothing(text: str, says: str, tmp_path: Path) -> None:
    async def run() -> Task:
        async with serving(Assessor(TASKS, tmp_path, {}), "assessor") as url:
            return await send(url, text)

    task = asyncio.run(run())
    assert state(task) == "TASK_STATE_FAILED" and not task.artifacts
    assert says in get_message_text(task.status.message)
