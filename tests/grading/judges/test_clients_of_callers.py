"""Who closes a client: its caller where there is one, and the sitting itself where it made its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_attacks import run_attacks
from replaykit.grading.judge_runs.judge_run import run_batches, run_judges
from replaykit.grading.judges.attacks import attacks_named
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.clients.transports import Transports, client_or_own
from replaykit.grading.model_request import ModelReply, ModelRequest
from replaykit.testing import trajectory

SITTINGS: dict[str, Callable[[str, Transports], Any]] = {
    "judges": lambda run, client: run_judges([run], GradeOptions(judge_mode="new"), client=client),
    "batches": lambda run, client: run_batches([run], client=client),
    "attacks": lambda run, client: run_attacks([run], GradeOptions(), attacks_named("all"), client=client),
}


class Closable(CallableClient):
    """A client that says SUCCESS, and knows whether it was closed."""

    def __init__(self) -> None:
        super().__init__(_success)
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


def _success(request: ModelRequest, _: Any) -> ModelReply:
    return ModelReply(text="SUCCESS", stop_reason="end_turn", model=request.model, origin="synthetic")


@pytest.mark.parametrize("name", SITTINGS)
def test_the_client_of_a_caller_stays_open(name: str, tmp_path: Path) -> None:
    built = trajectory({"id": "t", "intent": "Find it.", "judge": "webvoyager"})
    built.goto("http://shop.test/", "<p>Here</p>").screenshot()
    run = str(built.answer("Here.").write(tmp_path / "run.zst"))
    provider = Closable()
    SITTINGS[name](run, Transports(clients={"anthropic": provider}))
    assert not provider.is_closed


def test_transports_of_a_sitting_are_closed_after_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Transports] = []

    def note(own: Transports) -> None:
        closed.append(own)

    monkeypatch.setattr(Transports, "close", note)
    with pytest.raises(OSError, match="full"), client_or_own(None, "http://127.0.0.1:9") as own:
        raise OSError("full")
    assert closed == [own]
