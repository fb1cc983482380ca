"""How checks ask a model by a file of settings: prompts of the user's, from files or from a peer's source."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.errors import JudgeError
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import case_of, grade
from replaykit.grading.judge_runs.judge_run import plan_judges, requests_of, run_judges
from replaykit.grading.judge_runs.tape_use import tape_use
from replaykit.grading.judges.check_comparisons import asking_of
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.judge_config import judges_of
from replaykit.grading.judges.prompts.upstream_prompts import read_comparisons
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.settings_file import load_judge
from replaykit.grading.judges.tape.tape import read_tape
from replaykit.grading.model_request import PLACES, ModelRequest, TextPart
from replaykit.grading.workers.worker import grader_digest
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task
from replaykit.testing.builder import trajectory

SOURCE = """
import pathlib
pathlib.Path({marker!r}).write_text("executed")
def llm_fuzzy_match(pred, reference, question):
    messages: list = []
    message = "Compare.\\n"
    message += f"asked: {{question}}\\n" f"known: {{reference}}\\n"
    message += ("said: " f"{{pred}}")
    messages = [{{"role": "system", "content": "Be brief."}}, {{"role": "user", "content": message}}]
    return ask(messages, role="system")
def llm_ua_match(pred, reference, question):
    message = ""
    message += f"{{reference}} = {{pred}}?"
"""
FUZZY = "Compare.\nasked: {question}\nknown: {reference}\nsaid: {pred}"
TASK: dict[str, Any] = {
    "id": "t", "intent": "Why?", "checks": [{"type": "string_match", "fuzzy": ["tea"]}],
}  # fmt: skip


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "helper_functions.py"
    path.write_text(SOURCE.format(marker=str(tmp_path / "marker")))
    return path


@pytest.fixture
def settings(source: Path) -> JudgeSettings:
    file = source.with_name("checks.yaml")
    file.write_text("protocol: checks\nprompts_from: helper_functions.py\nmodel: openai:m\neffort: null\n")
    return load_judge(file)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return trajectory(TASK).goto("http://h.test/", "<p>x").answer("a Drink").write(tmp_path / "run.zst")


def test_templates_are_put_together_and_nothing_runs(source: Path) -> None:
    found = read_comparisons(source)
    assert found == {"fuzzy": FUZZY, "unachievable": "{reference} = {pred}?", "system": "Be brief."}
    assert not source.with_name("marker").exists()


PARTS = st.lists(
    st.one_of(st.sampled_from(PLACES), st.text(st.characters(codec="utf-8"), max_size=5)), max_size=8
)


@given(PARTS, st.lists(st.booleans(), min_size=8, max_size=8))
def test_any_message_is_read_as_python_makes_it(parts: list[str], cuts: list[bool]) -> None:
    """Written as one f-string or as several, `message` is what the source says with its names left in."""
    statements = ["message = ''"]
    for part, is_apart in zip(parts, cuts, strict=False):
        written = f"{{{part}}}" if part in PLACES else repr(part)[1:-1].replace("{", "{{").replace("}", "}}")
        quote = repr(part)[0]
        statements.append(
            f"message += f{quote}{written}{quote}" if is_apart else f"message += (f{quote}{written}{quote})"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peer.py"
        path.write_text("def llm_ua_match():\n    " + "\n    ".join(statements), "utf-8")
        found = read_comparisons(path)["unachievable"]
    scope = {place: f"{{{place}}}" for place in PLACES}
    exec("\n".join(statements), scope)  # what Python itself makes of it
    assert found == scope["message"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "neither llm_fuzzy_match nor llm_ua_match is defined there"),
        ("def llm_ua_match():\n    text = 'a'", "llm_ua_match assigns no message"),
        ("def llm_ua_match():\n    message = 'a' + b", "line 2: message is made of a BinOp"),
        ("def llm_ua_match():\n    message = f'{secret}'", "line 2: message is made of a FormattedValue"),
        ("def llm_ua_match():\n    message = f'{pred!r}'", "message is made of a FormattedValue"),
        ("def llm_ua_match():\n    message = 3", "message is made of a Constant"),
        ("def (", "not Python source"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "peer.py"
    path.write_text(text)
    with pytest.raises(JudgeError) as caught:
        read_comparisons(path)
    assert words in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


def test_files_of_one_s_own_go_before_those_of_the_peer(source: Path) -> None:
    source.with_name("ours.txt").write_text("{reference} or {pred}")
    file = source.with_name("checks.yaml")
    file.write_text("protocol: checks\nprompts_from: helper_functions.py\nprompts: {fuzzy: ours.txt}\n")
    assert load_judge(file).prompts["fuzzy"] == "{reference} or {pred}"
    assert load_judge(file).prompts["system"] == "Be brief."


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"votes": 3}, "option votes is for judges; checks have prompts, model, effort, max_tokens"),
        ({"id": "ours"}, "option id is for judges"),
        ({"model": "nobody:x"}, "names provider 'nobody'"),
        ({"prompts": {"user": "x"}}, "no prompt 'user' in checks; there are fuzzy, unachievable, system"),
        ({"prompts": {"fuzzy": "{pred}"}}, "prompt fuzzy names no {reference}"),
        ({"prompts": {"fuzzy": "{reference}"}}, "prompt fuzzy names no {pred}"),
        (
            {"prompts": {"fuzzy": "{reference} {pred} {answer}"}},
            "prompt fuzzy names {answer}; there are {question}, {reference}, {pred}",
        ),
    ],
)
def test_settings_that_checks_cannot_have(options: dict[str, Any], words: str, run: Path) -> None:
    settings = JudgeSettings(protocol="checks", **options)
    with pytest.raises(JudgeError) as caught:
        asking_of([settings])
    assert words in str(caught.value)
    with open_bundle(run) as bundle, pytest.raises(JudgeError):
        grade(bundle, judges=(settings,))


def test_only_one_file_says_how_checks_ask(settings: JudgeSettings) -> None:
    with pytest.raises(JudgeError, match="2 files set how checks ask"):
        asking_of([settings, JudgeSettings(protocol="checks")])


def test_it_is_no_judge(settings: JudgeSettings) -> None:
    with pytest.raises(JudgeError, match="no judge of a task"):
        judges_of(Task(id="t", intent="x", judge=settings), ())
    with pytest.raises(JudgeError, match="protocol checks is no judge"):
        build_judge(settings, "strict")


class Model:
    """Says `correct`, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[ModelRequest] = []

    def __call__(self, request: ModelRequest, images: Any) -> str:
        self.asked.append(request)
        return "correct"

    @property
    def texts(self) -> list[str]:
        parts = [part for request in self.asked for part in request.content]
        return [part.text for part in parts if isinstance(part, TextPart)]


def test_a_run_is_asked_about_by_the_peer_s_template(run: Path, settings: JudgeSettings) -> None:
    model = Model()
    options = GradeOptions(mode="compat", judges=(settings,), judge_mode="new")
    with open_bundle(run) as bundle:
        verdict = grade(bundle, options=options, client=CallableClient(model))
        again = grade(bundle, options=msgspec.structs.replace(options, judge_mode="none"))
        assert grade(bundle, mode="compat").checks[0].reason == "tape_miss"
        assert grade(bundle, mode="compat", judges=(settings,), judge_mode="off").success != "PASS"
    assert again == verdict
    assert verdict.success == "PASS"
    assert verdict.judgements == ()
    # The exact text that the other evaluator sends for this run; it cleans the answer first.
    assert model.texts[-1] == "Compare.\nasked: Why?\nknown: tea\nsaid: a drink"
    assert [(one.model, one.effort, one.system) for one in model.asked][-1] == ("openai:m", None, "Be brief.")
    named = f"sha256:{hashlib.sha256(FUZZY.encode()).hexdigest()}"
    assert verdict.checks[0].items[0].rule == f"webarena.fuzzy: openai:m (live), prompt {named}"
    tape = read_tape(run.with_name("run.replies.jsonl"))
    assert tape is not None
    assert {entry.provenance["prompt"] for entry in tape.entries} == {named}


def test_strict_and_compat_ask_by_the_same_template(run: Path, settings: JudgeSettings) -> None:
    model = Model()
    options = GradeOptions(judges=(settings,), judge_mode="new")
    with open_bundle(run) as bundle:
        grade(bundle, options=options, client=CallableClient(model))
    bare, delimited = sorted(model.texts, key=len)
    assert bare == "Compare.\nasked: Why?\nknown: tea\nsaid: a drink"
    assert delimited.startswith("Compare.\nasked: <<question ")


def test_plans_and_asks_like_judges(run: Path, settings: JudgeSettings) -> None:
    options = GradeOptions(judges=(settings,), mode="compat")
    (planned,) = plan_judges([run], options)
    assert (planned.judge, planned.model, len(planned.plan.missing)) == ("checks", "openai:m", 1)
    assert {asked.request.prompt[:7] for asked in requests_of([run], options)} == {"sha256:"}
    asking = msgspec.structs.replace(options, judge_mode="new")
    ((_, judgement),) = run_judges([run], asking, client=CallableClient(Model()))
    assert (judgement.judge, judgement.reason) == ("checks", "recorded")
    with open_bundle(run) as bundle:
        assert grade(bundle, options=options).success == "PASS"
        kept = [grader_digest(case_of(bundle, one)) for one in (options, GradeOptions(mode="compat"))]
    assert kept[0] != kept[1]
    # They are for those who name the file: not left over by nobody.
    state = tape_use(run, run.with_name("run.replies.jsonl"))
    assert state is not None
    assert state.unused == 0
