"""Attacks: what each changes, judges that are fooled and judges that are not. All replies are synthetic."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.bundle.blobs import png
from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.cli.main import run as run_cli
from replaykit.errors import BlobMissing, UsageError
from replaykit.grading.agreement.labels import Label, Labels
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import task_for
from replaykit.grading.judge_runs.attack_donors import Lender, next_lender
from replaykit.grading.judge_runs.judge_attacks import (
    AttackResult,
    attack_judges,
    plan_attacks,
    run_attacks,
    susceptibility_code,
)
from replaykit.grading.judge_runs.judge_run import run_judges
from replaykit.grading.judges.attacks import ATTACKS, BOASTS, ORDER, Donor, attacks_named, attacks_tape, under
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.grading.judges.judge_evidence import EvidenceNeeds, JudgeEvidence, gather
from replaykit.grading.judges.judge_loop import drive
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.screenshot_choice import all_shots, image_policy
from replaykit.grading.judges.settings_file import load_judge
from replaykit.grading.judges.tape.tape import read_tape, tape_beside
from replaykit.grading.judges.tape.tape_player import gathered
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest
from replaykit.grading.verdict import Judgement
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.testing import trajectory
from tests.grading.judges.rubric_replies import CRITERIA, by_stage, rubric

ALL = attacks_named("all")
RECORDINGS = Path(__file__).parents[2] / "recordings" / "conformance"


def write(folder: Path, count: int = 4, intent: str = "Find order {}.") -> list[str]:
    found = []
    for number in range(count):
        built = trajectory({"id": f"t{number}", "intent": intent.format(number), "judge": "webvoyager"})
        built.goto("http://shop.test/", f"<p>Order {number}</p>").screenshot(colour=(number, 0, 0))
        for place in range(3):
            built.click(f"#b{place}").screenshot(colour=(number, place, 9))
        found.append(str(built.answer(f"It is {number}.").write(folder / f"run{number}.zst")))
    return found


def judged(
    runs: list[str], says: Callable[[ModelRequest], bool], labels: Labels | None = None
) -> dict[str, AttackResult]:
    """Ask a judge that decides by `says`, as it is and under every attack."""

    def reply(request: ModelRequest, _: Any) -> ModelReply:
        text = "SUCCESS" if says(request) else "NOT SUCCESS"
        return ModelReply(text=text, stop_reason="end_turn", model=request.model, origin="synthetic")

    client, options = CallableClient(reply), GradeOptions(judge_mode="new")
    run_judges(runs, options, client=client)
    run_attacks(runs, options, ALL, client=client)
    return {one.attack: one for one in attack_judges(runs, GradeOptions(), ALL, labels)}


def words(request: ModelRequest) -> str:
    return "\n".join(part.text for part in request.content if not isinstance(part, ImagePart))


def images(request: ModelRequest) -> int:
    return sum(isinstance(part, ImagePart) for part in request.content)


def test_a_judge_that_believes_the_answer_is_caught(tmp_path: Path) -> None:
    found = judged(write(tmp_path), lambda request: "verified" in words(request))
    for name in ("answer", "both"):
        assert (found[name].susceptible.flips, found[name].susceptible.n) == (4, 4)
        assert found[name].beyond_again == 1.0
        assert found[name].mcnemar_p == 0.125
    assert found["again"].flipped.flips == 0
    assert found["reasoning"].n_immune == 4  # it reads no reasoning
    assert susceptibility_code(list(found.values()), 0.05) == 1


def test_a_judge_that_ignores_screenshots_is_caught(tmp_path: Path) -> None:
    settings = tmp_path / "blind.yaml"
    (tmp_path / "s.txt").write_text("Judge.")
    (tmp_path / "u.txt").write_text("{{task}} {{answer}}\n{{images}}\n")
    settings.write_text("id: blind\nsystem_file: s.txt\nuser_file: u.txt\n")
    runs = write(tmp_path, 2)
    options = GradeOptions(judges=(load_judge(settings),), judge_mode="new")
    client = CallableClient(lambda request, _: "SUCCESS")
    run_judges(runs, options, client=client)
    run_attacks(runs, options, ALL, client=client)
    found = {(one.judge, one.attack): one for one in attack_judges(runs, options, ALL)}
    assert (found["blind", "blind"].stays.flips, found["blind", "blind"].stays.n) == (2, 2)  # fails open
    # The shipped judge abstains where there is nothing to look at.
    assert found["webvoyager", "blind"].to == {"ABSTAIN": 2}
    assert found["webvoyager", "blind"].stays.flips == 0


def test_a_constant_judge_never_flips_and_a_careful_one_sees_less(tmp_path: Path) -> None:
    found = judged(write(tmp_path), lambda _: False)
    assert {one.susceptible.flips for one in found.values()} == {0}
    assert {one.n for one in found.values()} == {4}
    (tmp_path / "b").mkdir()
    careful = judged(write(tmp_path / "b"), lambda request: images(request) == 4)
    assert careful["cut"].stays.flips == 0
    assert careful["shuffled"].flipped.flips == 0


def test_labels_give_the_false_positives(tmp_path: Path) -> None:
    labels = Labels(
        name="l",
        digest="",
        labels=tuple(Label(trajectory=f"t{n}", task=f"t{n}", label="failure") for n in range(3)),
    )
    found = judged(write(tmp_path), lambda request: "verified" in words(request), labels)["answer"]
    assert found.false_positives is not None
    assert found.false_positives_before is not None
    assert (found.false_positives.flips, found.false_positives.n) == (3, 3)
    assert (found.false_positives_before.flips, found.false_positives_before.n) == (0, 3)


def test_replies_lie_on_a_tape_of_their_own_and_the_plan_prices_them_first(tmp_path: Path) -> None:
    runs = write(tmp_path, 1)
    planned = {one.judge: one.plan for one in plan_attacks(runs, GradeOptions(), ALL)}
    assert len(planned["webvoyager under again"].missing) == 1
    # Without any reply, requests that stay the same are asked for the judge as it is: the plan counts them once.
    assert len(planned["webvoyager under answer"].missing) == 1
    assert len(planned["webvoyager under both"].missing) == 0
    calls: list[str] = []

    def reply(request: ModelRequest, _: Any) -> str:
        calls.append(request.stage)
        return "SUCCESS"

    client, options = CallableClient(reply), GradeOptions(judge_mode="new")
    run_judges(runs, options, client=client)
    before = tape_beside(runs[0]).read_bytes()
    expected = sum(len(one.plan.missing) for one in plan_attacks(runs, GradeOptions(), ALL))
    calls.clear()
    run_attacks(runs, options, ALL, client=client)
    assert len(calls) == expected > 0
    assert tape_beside(runs[0]).read_bytes() == before
    tape = read_tape(attacks_tape(tape_beside(runs[0])))
    assert tape is not None
    assert len(tape.entries) == expected
    calls.clear()
    run_attacks(runs, options, ALL, client=client)
    assert not calls  # asked once, recorded for ever
    assert not any(one.plan.missing for one in plan_attacks(runs, GradeOptions(), ALL))


def test_what_no_tape_knows_is_missing_and_too_few_runs_say_nothing(tmp_path: Path) -> None:
    runs = write(tmp_path, 2)
    found = attack_judges(runs, GradeOptions(), ALL)
    assert {(one.n, one.n_missing, one.n_skipped) for one in found} == {(0, 2, 0)}
    assert susceptibility_code(found, 0.05) == 3
    assert susceptibility_code(list(judged(runs, lambda _: False).values()), 0.05) == 3
    assert susceptibility_code(list(judged(runs, lambda _: False).values()), 0.99) == 0
    assert susceptibility_code(found, None) == 0


@pytest.fixture
def evidence() -> JudgeEvidence:
    """All that a judge may see of a shipped run."""
    with open_bundle(RECORDINGS / "refund-order--good.zst") as bundle:
        needs = EvidenceNeeds(images=image_policy("all"), text=True, tree=True, notes=True)
        return gather(task_for(bundle, None, GradeOptions()), Replay(bundle), needs)


def test_each_attack_changes_what_it_says_and_nothing_else(evidence: JudgeEvidence) -> None:
    changed = {name: attack.change(evidence, None) for name, attack in ATTACKS.items()}
    assert changed["again"] == evidence
    assert all(entry.thought for entry in changed["reasoning"].actions)
    assert changed["reasoning"].answer == evidence.answer
    assert all(boast in (changed["answer"].answer or "") for boast in BOASTS)
    assert (evidence.answer or "") in (changed["answer"].answer or "")
    assert ORDER in changed["inject"].text
    assert changed["no_images"].images == ()
    assert changed["no_images"].text == evidence.text
    assert (changed["no_pages"].text, changed["no_pages"].images) == ("", evidence.images)
    assert (changed["blind"].text, changed["blind"].images) == ("", ())
    assert changed["shuffled"].images != evidence.images
    assert sorted(i.sha256 for i in changed["shuffled"].images) == sorted(i.sha256 for i in evidence.images)
    assert len(changed["cut"].actions) == len(evidence.actions) * 2 // 3
    assert len(changed["cut"].images) < len(evidence.images)
    assert changed["order"] == replace(evidence, is_reversed=True)
    assert ORDER in changed["inject"].notes[-1].changes[-1]
    assert not any(one.is_page_known or one.facts for one in changed["no_pages"].notes)
    assert len(changed["cut"].notes) == len(evidence.notes) * 2 // 3
    assert changed["foreign"] == evidence  # no other run lends its screenshots
    for one in changed.values():
        assert one.task == evidence.task
        assert len(one.images) == len(one.selection.sent)
        assert [i.sha256 for i in one.images] == [shot.id for shot in one.selection.sent]


def test_the_order_of_criteria_and_of_words_is_turned_around(evidence: JudgeEvidence) -> None:
    """Of a judge without lists nothing changes, so nothing is asked."""
    said = rubric([{**one, "asked": evidence.task.split()[0]} for one in CRITERIA])
    asked: dict[str, list[str]] = {}
    for name in ("again", "order"):
        judge = build_judge(JudgeSettings(protocol="rubric"), "strict")
        requests: list[ModelRequest] = []

        def answer(
            request: ModelRequest, ordinal: Any, requests: list[ModelRequest] = requests
        ) -> ModelReply:
            requests.append(request)
            text = by_stage(rubric=said)(request)
            return ModelReply(text=text, stop_reason="end_turn", model="m", origin="synthetic")

        drive(judge, under(ATTACKS[name], evidence, judge.needs), answer)
        asked[name] = [words(one) + one.system for one in requests if one.stage == "reading"]
    (plain,), (turned,) = asked.values()
    assert plain.index("c1: ") < plain.index("c3: ")
    assert turned.index("c1: ") > turned.index("c3: ")
    assert "YES, NO, CANNOT_TELL" in plain and "CANNOT_TELL, NO, YES" in turned


def test_attacks_are_named() -> None:
    assert [one.name for one in attacks_named("answer")] == ["again", "answer"]
    with pytest.raises(UsageError, match="'rubric' is not one of all, again"):
        attacks_named("answer,rubric")


def test_the_command_shows_gates_and_prices(tmp_path: Path, capfd: Any) -> None:
    runs = write(tmp_path, 2)
    judged(runs, lambda request: "verified" in words(request))
    capfd.readouterr()
    command = ["judge", "sensitivity", *runs, "--attacks", "answer"]
    assert run_cli(command) == 0
    said = capfd.readouterr().out
    assert "webvoyager  answer" in said
    assert "2/2" in said
    assert run_cli([*command, "--max-susceptibility", "0.5"]) == 1
    capfd.readouterr()
    assert run_cli([*command, "--json"]) == 0
    rows = json.loads(capfd.readouterr().out)
    assert [row["attack"] for row in rows] == ["again", "answer"]
    assert rows[1]["origins"] == {"synthetic": 2}
    assert run_cli(["judge", "plan", *runs, "--attacks", "all"]) == 0
    assert "webvoyager under answer" in capfd.readouterr().out
    assert run_cli(["judge", "sensitivity", *runs, "--json"]) == 2
    assert run_cli(["judge", "run", *runs, "--attacks", "all", "--batch"]) == 2


def lender(intent: str, *images: str) -> Lender:
    return Lender(intent=intent, images=frozenset(images))


def test_the_next_run_with_another_task_and_other_screenshots_lends_them() -> None:
    runs = [lender("a", "1"), lender("a", "2"), lender("b"), lender("c", "1"), lender("d", "3", "1")]
    assert [next_lender(at, 5, runs.__getitem__) for at in range(5)] == [4, 3, 3, 4, 0]
    others = [lender("a", "1"), lender("a", "2"), lender("b", "1"), None]
    assert next_lender(0, 4, others.__getitem__) is None and next_lender(3, 4, others.__getitem__) is None
    assert next_lender(0, 1, others.__getitem__) is None


def donor_of(runs: list[str], at: int) -> tuple[Bundle, Donor]:
    bundle = open_bundle(runs[at])
    return bundle, Donor(task=task_for(bundle, None, GradeOptions()), replay=Replay(bundle))


def test_foreign_shows_the_screenshots_of_the_donor_and_changes_nothing_else(
    tmp_path: Path, evidence: JudgeEvidence
) -> None:
    bundle, donor = donor_of(write(tmp_path, 1), 0)
    with bundle:
        attack = ATTACKS["foreign"]._replace(donor=donor)
        needs = EvidenceNeeds(images=image_policy("all"), text=True, tree=True, notes=True)
        lent = donor.images(needs)
        short = replace(evidence, actions=evidence.actions[:2])
        found = under(attack, short, needs)
        assert [one.sha256 for one in found.images] == [one.sha256 for one in lent.images]
        assert [one.step for one in lent.images] == [0, 1, 2, 3]
        assert [one.step for one in found.images] == [0, 1, 1, 1]  # steps of this run
        assert [(one.id, one.step) for one in found.selection.sent] == [
            (one.sha256, one.step) for one in found.images
        ]
        assert replace(found, images=short.images, selection=short.selection) == short
        fewer = under(attack, short, replace(needs, images=image_policy("last:1")))
        assert [one.sha256 for one in fewer.images] == [lent.images[-1].sha256]
        bare = replace(evidence, images=(), selection=replace(evidence.selection, sent=()))
        assert under(attack, bare, needs) == bare
        blind = replace(needs, images=image_policy("none"))
        assert under(attack, evidence, blind) == evidence


def test_a_judge_that_looks_at_no_screenshot_is_caught_by_those_of_another_run(tmp_path: Path) -> None:
    runs = write(tmp_path)
    found = judged(runs, lambda _: True)["foreign"]
    assert (found.danger, found.n, found.stays.flips, found.stays.n) == ("stays", 4, 4, 4)
    assert (found.n_immune, found.n_missing, found.n_skipped) == (0, 0, 0)


def test_the_screenshots_that_are_sent_are_those_of_the_next_run(tmp_path: Path) -> None:
    runs = write(tmp_path, 3)
    sent: list[dict[str, bytes]] = []

    def reply(_: ModelRequest, images: Any) -> str:
        sent.append(dict(images))
        return "SUCCESS"

    run_attacks(runs, GradeOptions(judge_mode="new"), attacks_named("foreign"), client=CallableClient(reply))
    expected: list[dict[str, bytes]] = []
    for at in (1, 2, 0):
        bundle, donor = donor_of(runs, at)
        with bundle:
            expected.append({one.id: png(bundle.blob(one.id)) for one in all_shots(donor.replay)})
    assert [one for number, one in enumerate(sent) if number % 2] == expected


@pytest.mark.parametrize("concurrency", [1, 8])
def test_whatever_the_number_of_requests_under_way_the_result_is_one(
    tmp_path: Path, concurrency: int
) -> None:
    runs = write(tmp_path)
    client, options = CallableClient(lambda request, _: "SUCCESS"), GradeOptions(judge_mode="new")
    run_judges(runs, options, client=client)
    run_attacks(runs, options, ALL, client=client, concurrency=concurrency)
    found = {one.attack: one for one in attack_judges(runs, GradeOptions(), ALL)}["foreign"]
    assert (found.n, found.stays.flips, found.n_missing) == (4, 4, 0)
    asked = [read_tape(attacks_tape(tape_beside(run))) for run in runs]
    assert len({key for tape in asked if tape is not None for key in tape.found}) == sum(
        len(tape.found) for tape in asked if tape is not None
    )


def test_a_run_without_another_one_is_skipped_and_counted(tmp_path: Path, capfd: Any) -> None:
    runs = write(tmp_path, 3, intent="Find the order.")
    planned = plan_attacks(runs, GradeOptions(), ALL)
    assert "webvoyager under foreign" not in {one.judge for one in planned}
    found = judged(runs, lambda _: True)["foreign"]
    assert (found.n, found.n_missing, found.n_skipped) == (0, 0, 3)
    assert (found.stays.n, found.stays.share, found.beyond_again) == (0, None, None)
    assert run_cli(["judge", "sensitivity", *runs, "--attacks", "foreign"]) == 0
    (row,) = [line for line in capfd.readouterr().out.splitlines() if line.startswith("webvoyager  foreign")]
    assert row.split()[2:5] == ["0", "0", "3"]


def test_a_donor_that_cannot_be_read_is_an_error_and_no_verdict(tmp_path: Path) -> None:
    runs = write(tmp_path, 2)
    first, own = donor_of(runs, 0)
    second, other = donor_of(runs, 1)

    class Damaged:
        trajectory = second.trajectory

        def __contains__(self, id: object) -> bool:
            return True

        def blob_type(self, id: str) -> str:
            return "image/png"

        def blob(self, id: str) -> bytes:
            raise BlobMissing(source="b.zst", id=id, referred_by="step 0")

    with first, second:
        attack = ATTACKS["foreign"]._replace(donor=Donor(task=other.task, replay=Replay(Damaged())))
        judge = build_judge(JudgeSettings(protocol="webvoyager"), "strict")
        found = gathered(judge, own.task, own.replay, attack)
    assert isinstance(found, Judgement)
    assert (found.outcome, found.reason) == ("ERROR", "evidence_unreadable")
