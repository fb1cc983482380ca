"""Examples of docs/gallery.md that grade by the core, without any extra: Harbor's task folder, ST-WebAgentBench."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.model_request import ModelReply
from replaykit.interop.harbor.harbor_tasks import HarborOptions, generate
from replaykit.interop.harbor.harbor_verify import Order, verify_trial
from tests.blocks import ROOT
from tests.gallery.conftest import PUBLIC, Example, section

HARBOR = ROOT / "fixtures" / "gallery" / "harbor"
REPLY = ModelReply(
    text="The screenshot shows order 1007 with the total €84.50, which is the answer.\n\nSUCCESS",
    stop_reason="end_turn", model="synthetic", origin="synthetic",
)  # fmt: skip


def test_the_tape_answers_the_request_of_the_example(tmp_path: Path, update_goldens: bool) -> None:
    (task,), _ = generate(HARBOR / "tasks.jsonl", tmp_path / "tasks", HarborOptions(is_unpinned=True))
    order = Order(tests=task / "tests", agent=HARBOR / "agent", out=tmp_path / "out")
    assert verify_trial(order, lambda: CallableClient(lambda *_: REPLY)).reward == 1.0
    made = (tmp_path / "out" / "run.replies.jsonl").read_bytes()
    if update_goldens:
        (HARBOR / "replies.jsonl").write_bytes(made)
    assert (HARBOR / "replies.jsonl").read_bytes() == made
    again = msgspec.structs.replace(order, replies=HARBOR / "replies.jsonl")
    assert verify_trial(again, lambda: CallableClient(lambda *_: REPLY)).error is None


def test_a_task_folder_of_harbor_is_graded_by_a_bare_python(example: Callable[..., Example]) -> None:
    opened = example("core", has_stand_in=True)
    opened.shows("Harbor")
    details = json.loads((opened.folder / "verifier" / "grading_details.json").read_text("utf-8"))
    assert (details["state"], details["n_images"]) == ("graded", 1)


@pytest.mark.thorough  # the test above starts the same program, and tests of the verifier miss a tape
def test_a_tape_that_is_missing_gives_a_reward_of_0_and_its_name(example: Callable[..., Example]) -> None:
    opened = example("core", has_stand_in=True)
    failed = opened.run(section("Harbor")[0].replace("replies.jsonl", "no.jsonl"))
    assert failed.returncode == 3
    assert "there is no tape fixtures/gallery/harbor/no.jsonl" in failed.stderr
    assert json.loads((opened.folder / "verifier" / "reward.json").read_text("utf-8"))["reward"] == 0.0


def with_recordings(opened: Example) -> Example:
    (opened.folder / "recordings").symlink_to(ROOT / "recordings")
    return opened


def test_runs_are_graded_by_a_task_file_of_st_webagentbench(example: Callable[..., Example]) -> None:
    with_recordings(example("core", has_stand_in=True)).shows("ST-WebAgentBench", code=1)


def test_compat_mode_reports_what_the_benchmark_reports(example: Callable[..., Example]) -> None:
    command = section("ST-WebAgentBench")[0].rstrip() + " --mode compat\n"
    done = with_recordings(example("core", has_stand_in=True)).run(command)
    assert "refund-order--good: policy 0-ask_the_user is VIOLATED" in done.stdout
    assert "as ST-WebAgentBench prints it: CR 1.000, CuP 0.000" in done.stdout


def test_an_unknown_task_of_the_benchmark_is_refused(example: Callable[..., Example]) -> None:
    command = section("ST-WebAgentBench")[0].replace("#7001", "#7002")
    failed = with_recordings(example("core", has_stand_in=True)).run(command)
    assert failed.returncode == 3
    assert "no task '7002'; it has 7001" in failed.stderr


def test_the_benchmark_s_own_task_file_is_valid(example: Callable[..., Example]) -> None:
    file = PUBLIC / "st-webagentbench" / "test.raw.json"
    if not file.exists():
        # No checkout holds the benchmark's file.
        pytest.skip(reason=f"{file} is missing: REPLAYKIT_SHARED_DATA names no folder with it")
    done = example("core", has_stand_in=True).run(f"replaykit tasks validate {file}")
    assert done.stdout == f"{file}: 375 tasks, 0 errors, 0 notes\n"


RUN = "recordings/conformance/order-total--good.zst"


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("replaykit record http://127.0.0.1:8000 -o run.zst", "browser"),
        ("replaykit record --cdp http://127.0.0.1:1 -o run.zst", "browser"),
        ("replaykit record -o run.zst -- true", "browser"),
        (f"replaykit rerun {RUN} -o again.zst --site shop=http://127.0.0.1:8000", "browser"),
        ("replaykit mcp --root .", "mcp"),
        (f"replaykit grade {RUN} --otel console", "otel"),
        (f"replaykit export parquet {RUN} -o set", "parquet"),
        ("replaykit grade memory://run.zst", "remote"),
    ],
)
def test_what_needs_an_extra_names_it(example: Callable[..., Example], command: str, extra: str) -> None:
    failed = with_recordings(example("core")).run(command)
    assert failed.returncode == 3, failed.stdout + failed.stderr
    assert f"pip install 'replaykit-web[{extra}]'" in failed.stderr


@pytest.mark.parametrize(("model", "extra"), [("anthropic:any", "judge"), ("openai:any", "openai")])
def test_a_judge_without_its_client_is_an_error_that_names_the_extra(
    example: Callable[..., Example], model: str, extra: str
) -> None:
    failed = with_recordings(example("core")).run(
        f"replaykit judge run {RUN} --judge webvoyager --judge-model {model}"
    )
    assert "missing_sdk" in failed.stdout
    assert f"pip install 'replaykit-web[{extra}]'" in failed.stderr
