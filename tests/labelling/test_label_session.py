"""Sessions of labelling: order, what is skipped, what is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import BundleError, LabelError, UsageError
from replaykit.grading.agreement.labels import Label, LabelAnswer, append_label, read_labels
from replaykit.labelling.label_session import LabelSession
from replaykit.testing import trajectory


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Three runs."""
    found = []
    for number in range(3):
        run = trajectory({"id": f"t{number}\ud800", "intent": "Say it."}).goto(
            "http://shop.test/", "<p>x</p>"
        )
        found.append(str(run.answer(str(number)).write(tmp_path / f"{number}.zst")))
    return found


def save(session: LabelSession, place: int, said: LabelAnswer = "success", note: str = "") -> None:
    with open_bundle(session.source(place)) as bundle:
        session.save(place, bundle, said, note)


def test_known_runs_are_skipped_and_a_later_label_replaces(runs: list[str], tmp_path: Path) -> None:
    output = tmp_path / "labels.jsonl"
    session = LabelSession([*runs, runs[0]], output, " ada ")
    assert len(session) == 3
    save(session, 1, note=" because ")
    assert session.unlabelled() == [0, 2]
    assert session.unlabelled(after=1) == [2, 0]
    later = LabelSession(runs, output, "ada")
    assert [later.source(place) for place in range(3)] == [session.source(place) for place in range(3)]
    assert later.unlabelled() == [0, 2]
    label = later.label(1)
    assert label is not None
    assert (label.note, label.annotator) == ("because", "ada")
    save(later, 1, "failure")
    assert len(output.read_text().splitlines()) == 2
    assert [one.label for one in read_labels(output).labels] == ["failure"]
    assert later.summary() == "1 run labelled now; 1 of 3 runs labelled by ada: 1 failure"
    assert LabelSession(runs, output, "bob").unlabelled() == [0, 1, 2]


def test_a_file_that_is_no_list_of_lines_is_left_alone(runs: list[str], tmp_path: Path) -> None:
    output = tmp_path / "labels.csv"
    output.write_text("trajectory,label\na,success\n")
    with pytest.raises(LabelError, match="not JSON lines"):
        LabelSession(runs, output, "ada")
    with pytest.raises(UsageError, match="--annotator"):
        LabelSession(runs, tmp_path / "labels.jsonl", "  ")


def test_a_bundle_that_cannot_be_read_does_not_stop_the_others(runs: list[str], tmp_path: Path) -> None:
    (tmp_path / "bad.zst").write_text("no bundle")
    session = LabelSession([str(tmp_path / "bad.zst"), *runs], tmp_path / "labels.jsonl", "ada")
    assert len(session) == 3
    assert [error.fields["source"] for error in session.unreadable] == [str(tmp_path / "bad.zst")]
    with pytest.raises(BundleError, match="not a replaykit bundle"):
        LabelSession([str(tmp_path / "bad.zst")], tmp_path / "labels.jsonl", "ada")


def test_a_missing_folder_is_named_before_a_person_answers(runs: list[str], tmp_path: Path) -> None:
    with pytest.raises(LabelError, match=r"there is no folder .*no; make it first"):
        LabelSession(runs, tmp_path / "no" / "labels.jsonl", "ada")


def test_a_line_without_its_end_is_ended(tmp_path: Path) -> None:
    output = tmp_path / "labels.jsonl"
    output.write_text('{"trajectory": "a", "label": "success"}')
    append_label(output, Label(trajectory="b", label="failure"))
    assert [one.trajectory for one in read_labels(output).labels] == ["a", "b"]


def test_a_label_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "labels.jsonl"
    append_label(output, Label(trajectory="a", label="success"))
    before = output.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LabelError, match="No space left"):
        append_label(output, Label(trajectory="b", label="success"))
    assert output.read_bytes() == before
