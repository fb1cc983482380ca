"""Requests of compat WebJudge for runs in Online-Mind2Web's layout, as the benchmark's script makes them.

`Upstream` says in words of ours what that script reads: `result.json`, every file of `trajectory/` by the first
number in its name, and how it cuts reasons and screenshots.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.reader import open_bundle
from replaykit.grading.judges.judge_evidence import gather
from replaykit.grading.judges.judge_loop import drive
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest
from replaykit.interop.run_import import import_run
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task
from tests.interop.conftest import SHARED
from tests.interop.samples import png, write

MOST = 50

PROMPTS = {
    "verdict.user": "{task}|{key_points}|{last_actions}|{thoughts}",
    "verdict.user_bare": "{task}|{key_points}|{last_actions}",
}
"""Texts that show each part alone."""


class Upstream:
    """Parts of a result folder that the benchmark's script reads."""

    def __init__(self, folder: Path) -> None:
        plain = json.loads((folder / "result.json").read_text())
        shots = folder / "trajectory"
        if plain.get("schema_version"):
            steps = plain["action_history"]
            self.actions = [step["action"] for step in steps][:-1]
            self.thoughts: list[Any] | None = [step["thought"] for step in steps]
            names = [step["screenshot"] for step in steps]
        else:
            self.actions = plain["action_history"]
            self.thoughts = plain.get("thoughts")
            names = sorted(
                (file.name for file in shots.iterdir()), key=lambda name: int(re.findall(r"\d+", name)[0])
            )
        self.shots = [blob_id((shots / name).read_bytes()) for name in names]

    def history(self, variant: str) -> str:
        if variant == "general" and self.thoughts is not None:
            pairs = zip(self.actions, self.thoughts, strict=False)
            return "\n".join(f"{n}. {a}. Reasoning: {t}" for n, (a, t) in enumerate(pairs, 1))
        return "\n".join(f"{n}. {action}" for n, action in enumerate(self.actions, 1))

    def kept(self, scored: list[tuple[int, str]]) -> tuple[list[str], list[str]]:
        """Return screenshots and reasons of the last stage."""
        passed = [(shot, why) for shot, (score, why) in zip(self.shots, scored, strict=True) if score >= 3]
        return [shot for shot, _ in passed][:MOST], [why for _, why in passed if why][:MOST]


def first(folder: Path, actions: list[str], thoughts: list[str] | None, shots: list[str]) -> Path:
    plain = {
        "task_id": "t1",
        "task": "Find it.",
        "action_history": actions,
        "final_result_response": "It is 4.",
    }
    write(folder, "result.json", {**plain, **({} if thoughts is None else {"thoughts": thoughts})})
    (folder / "trajectory").mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(shots):
        write(folder, f"trajectory/{name}", png(number % 250, 2 + number // 250))
    return folder


def second(folder: Path, thoughts: list[str | None]) -> Path:
    said = [f"<button> b{n} -> CLICK" for n in range(len(thoughts) - 1)] + [
        "TASK_COMPLETE -> ANSWER: It is 4."
    ]
    entries = [
        {
            "step": n,
            "screenshot": f"{n}.png",
            "url": None,
            "action": action,
            "action_status": None,
            "thought": t,
        }
        for n, (action, t) in enumerate(zip(said, thoughts, strict=True))
    ]
    plain = {
        "schema_version": "online-mind2web-v2",
        "task_id": "t1",
        "task": "Find it.",
        "reference_length": 3,
    }
    write(folder, "result.json", {**plain, "agent_final_answer": "It is 4.", "action_history": entries})
    for number in range(len(entries)):
        write(folder, f"trajectory/{number}.png", png(number))
    return folder


def sent(
    folder: Path,
    into: Path,
    say: Callable[[ModelRequest], str],
    protocol: str = "webjudge",
    format: str = "online-mind2web",
    **options: Any,
) -> list[ModelRequest]:
    """Import a folder and judge it in compat mode; return the requests."""
    target = into / "run.zst"
    import_run(format, folder, target)
    requests: list[ModelRequest] = []

    def answer(request: ModelRequest, ordinal: object) -> ModelReply:
        requests.append(request)
        return ModelReply(text=say(request), stop_reason="end_turn", model="m", origin="synthetic")

    with open_bundle(target) as bundle:
        judge = build_judge(JudgeSettings(protocol=protocol, **options), "compat")  # type: ignore[arg-type]  # options by name
        drive(judge, gather(Task(id="t1", intent="Find it."), Replay(bundle), judge.needs), answer)
    return requests


def scores(said: list[tuple[int, str]]) -> Callable[[ModelRequest], str]:
    def say(request: ModelRequest) -> str:
        if request.stage == "key_points":
            return "**Key Points**: 1. find"
        if request.stage == "score":
            score, why = said[request.index]
            mark = "### {}:" if "###" in request.system else "**{}**:"
            reason = f"{mark.format('Reasoning')} {why}"
            # Nothing after `Reasoning` is the only way to an empty reason.
            parts = (reason, f"{mark.format('Score')} {score}")
            return "\n\n".join(parts if why else reversed(parts))
        return "Status: success"

    return say


def images(request: ModelRequest) -> list[str]:
    return [part.sha256 for part in request.content if isinstance(part, ImagePart)]


def text(request: ModelRequest) -> str:
    return "".join(part.text for part in request.content if not isinstance(part, ImagePart))


def check(folder: Path, into: Path, said: list[tuple[int, str]], **options: Any) -> None:
    upstream = Upstream(folder)
    requests = sent(folder, into, scores(said), prompts=PROMPTS, **options)
    assert [images(one) for one in requests if one.stage == "score"] == [[shot] for shot in upstream.shots]
    shots, reasons = upstream.kept(said)
    last = requests[-1]
    assert images(last) == shots
    # Of the general judge's replies the script keeps the newlines before the score, as blanks.
    end = "  " if options.get("variant") else ""
    numbered = "\n".join(f"{n}. {why}{end}" for n, why in enumerate(reasons, 1))
    parts = ["Find it.", "1. find", upstream.history(options.get("variant", ""))]
    assert text(last) == "|".join([*parts, numbered] if shots else parts)


ACTIONS = [
    '<button id="s"> Search -> CLICK',
    "click on  the thing | FAILED",
    'Type "a b"',
    "TASK_COMPLETE -> ANSWER: It is 4.",
]
"""Lines that are known, unknown, failed, and an answer: the script sends them as they are."""


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 9])
@pytest.mark.parametrize("variant", ["", "general"])
def test_every_line_and_every_file_of_the_first_version(tmp_path: Path, count: int, variant: str) -> None:
    shots = [f"{number}_full_screenshot.png" for number in range(count)]
    folder = first(tmp_path / "t1", ACTIONS, ["a", "", "c", "d"], shots)
    check(folder, tmp_path, [(5, f"why {n}") for n in range(count)], variant=variant)


@pytest.mark.parametrize("thoughts", [None, [], ["a"], ["a", "b", "c", "d", "e"]])
def test_thoughts_of_another_number(tmp_path: Path, thoughts: list[str] | None) -> None:
    folder = first(tmp_path / "t1", ACTIONS, thoughts, ["1.png"])
    check(folder, tmp_path, [(3, "x")], variant="general")


@pytest.mark.parametrize("variant", ["", "general"])
def test_the_second_version_without_its_last_line(tmp_path: Path, variant: str) -> None:
    folder = second(tmp_path / "t1", ["look", None, "", "done"])
    check(folder, tmp_path, [(4, "x"), (1, "y"), (3, ""), (5, "z")], variant=variant)


def test_names_are_ordered_by_their_first_number(tmp_path: Path) -> None:
    folder = first(tmp_path / "t1", ACTIONS, None, ["10_a.png", "2_b.jpg", "1_c.jpeg", "33.webp"])
    assert [
        images(one) for one in sent(folder, tmp_path, scores([(1, "x")] * 4)) if one.stage == "score"
    ] == [
        [blob_id((folder / "trajectory" / name).read_bytes())]
        for name in ("1_c.jpeg", "2_b.jpg", "10_a.png", "33.webp")
    ]


def test_equal_screenshots_are_all_sent(tmp_path: Path) -> None:
    folder = first(tmp_path / "t1", ACTIONS, None, ["1.png", "2.png"])
    (folder / "trajectory" / "2.png").write_bytes((folder / "trajectory" / "1.png").read_bytes())
    check(folder, tmp_path, [(5, "same"), (5, "same")])


@settings(max_examples=8, deadline=None)
@given(
    said=st.lists(
        st.tuples(st.sampled_from([2, 3, 5, 5]), st.sampled_from(["", "why"])), min_size=51, max_size=70
    )
)
def test_reasons_and_screenshots_are_cut_apart(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[int, str]]
) -> None:
    folder = tmp_path_factory.mktemp("runs")
    expected = [(score, why and f"{why} {n}") for n, (score, why) in enumerate(said)]
    run = first(folder / "t1", ACTIONS, None, [f"{n}.png" for n in range(len(said))])
    check(run, folder, expected)


def test_fifty_of_each(tmp_path: Path) -> None:
    """The fifty-first reason is sent where an earlier one is empty: the two lists are cut apart."""
    expected = [(5, "" if n == 0 else f"why {n}") for n in range(60)]
    folder = first(tmp_path / "t1", ACTIONS, None, [f"{n}.png" for n in range(60)])
    last = sent(folder, tmp_path, scores(expected))[-1]
    assert len(images(last)) == MOST
    assert text(last).endswith("\n50. why 50")


def test_the_copy_of_webvoyager_looks_at_the_same_files(tmp_path: Path) -> None:
    folder = first(tmp_path / "t1", ACTIONS, None, [f"{n}.png" for n in range(60)])
    (request,) = sent(
        folder, tmp_path, lambda request: "SUCCESS", protocol="webvoyager", variant="om2w", images="last:3"
    )
    assert images(request) == Upstream(folder).shots[:MOST][-3:]


def test_public_screenshots_of_another_number_than_actions(tmp_path: Path) -> None:
    """Screenshots of WebVoyager's public runs, laid out as the benchmark lays out a run."""
    shared = SHARED / "webvoyager/runs"
    if not shared.exists():
        pytest.skip(f"no public data at {shared}: set REPLAYKIT_SHARED_DATA")
    for run in sorted(shared.iterdir()):
        shots = sorted(run.glob("screenshot*.png"))
        folder = first(tmp_path / run.name / "t1", ACTIONS, None, [])
        for number, shot in enumerate(shots):
            place = folder / "trajectory" / f"{number}.png"
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(shot.read_bytes())
        check(folder, tmp_path / run.name, [(1 + n % 5, f"why {n}") for n in range(len(shots))])


def test_strict_mode_sends_factual_actions(tmp_path: Path) -> None:
    target = tmp_path / "run.zst"
    import_run("online-mind2web", first(tmp_path / "t1", ACTIONS, ["secret"], ["1.png", "2.png"]), target)
    with open_bundle(target) as bundle:
        judge = build_judge(JudgeSettings(protocol="webjudge"), "strict")
        evidence = gather(Task(id="t1", intent="Find it."), Replay(bundle), judge.needs)
    assert any(entry.is_message for entry in evidence.actions)
    assert evidence.history.actions == tuple(ACTIONS)
