"""Files of labels: ours, tables, and those of two other projects."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import LabelError
from replaykit.grading.agreement.labels import LABELS, Label, append_label, check_appendable, read_labels


def write(folder, text, name="labels.jsonl"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_json_lines(tmp_path):
    path = tmp_path / "labels.jsonl"
    append_label(path, Label(trajectory="a" * 64, label="success", annotator="ada", note="fine"))
    append_label(path, Label(trajectory="a" * 64, label="failure", annotator="ada"))
    append_label(path, Label(trajectory="a" * 64, label="success", annotator="bob"))
    append_label(path, Label(trajectory="b" * 64, label="unsure", annotator="bob", task="t2"))
    found = read_labels(path)
    assert [(one.trajectory[0], one.label, one.annotator) for one in found.labels] == [
        ("a", "failure", "ada"), ("a", "success", "bob"), ("b", "unsure", "bob"),
    ]  # fmt: skip
    assert {run[0]: one.label for run, one in found.primary().items()} == {"a": "failure", "b": "unsure"}
    assert [(one.annotator, two.annotator) for one, two in found.pairs()] == [("ada", "bob")]
    assert found.counts() == {"failure": 1, "unsure": 1}
    assert len(path.read_text().splitlines()) == 4


def test_a_digest_with_its_algorithm_is_the_same(tmp_path):
    text = json.dumps({"trajectory": "sha256:" + "a" * 64, "label": " Success ", "annotator": " ada "})
    (label,) = read_labels(write(tmp_path, text)).labels
    assert (label.trajectory, label.label, label.annotator) == ("a" * 64, "success", "ada")


def test_a_table(tmp_path):
    text = 'trajectory,label,annotator,note\naaa,success,ada,"a, b"\nbbb,failure,ada,\n'
    found = read_labels(write(tmp_path, "\ufeff" + text, "l.csv"))
    assert [(one.trajectory, one.label, one.note) for one in found.labels] == [
        ("aaa", "success", "a, b"), ("bbb", "failure", ""),
    ]  # fmt: skip


def test_agent_reward_bench(tmp_path):
    text = (
        "annotator_name,benchmark,task_id,model_name,exp_name,trajectory_success,trajectory_side_effect\n"
        "A,webarena,webarena.1,m,e,Successful,No\nB,webarena,webarena.1,m,e,Unsuccessful,Yes\n"
        "A,webarena,webarena.2,m,e,Unsure,No\n"
    )
    found = read_labels(write(tmp_path, text, "annotations.csv"))
    assert [(one.trajectory, one.label, one.annotator, one.task) for one in found.labels] == [
        ("webarena/m/webarena.1", "success", "A", "webarena/webarena.1"),
        ("webarena/m/webarena.1", "failure", "B", "webarena/webarena.1"),
        ("webarena/m/webarena.2", "unsure", "A", "webarena/webarena.2"),
    ]
    assert found.labels[1].others == {"trajectory_success": "Unsuccessful", "trajectory_side_effect": "Yes"}


def test_online_mind2web(tmp_path):
    found = read_labels(write(tmp_path, "task_id,human_label\nt1,1\nt2,0\nt3,2\n", "h.csv"))
    assert [one.label for one in found.labels] == ["success", "failure", "not_executable"]
    assert [one.task for one in found.labels] == ["t1", "t2", "t3"]


PUBLISHED = [
    {"task_id": "t1", "confirmed_task": "Find it.", "Agent A_human_label": 1, "Operator_human_label": 0},
    {"task_id": "t2", "confirmed_task": "Buy it.", "Agent A_human_label": 0, "Operator_human_label": 2},
    {"task_id": "t3", "confirmed_task": "Sort it.", "Agent A_human_label": "1", "Operator_human_label": None},
]
"""The layout of Online-Mind2Web's `human_label.json`."""


def test_the_published_labels_of_online_mind2web(tmp_path):
    found = read_labels(write(tmp_path, json.dumps(PUBLISHED, indent=4), "human_label.json"))
    assert found.agents == ("Agent A", "Operator")
    assert {label.trajectory: (label.task, label.label) for label in found.labels} == {
        "Agent A/t1": ("t1", "success"),
        "Operator/t1": ("t1", "failure"),
        "Agent A/t2": ("t2", "failure"),
        "Operator/t2": ("t2", "not_executable"),
        "Agent A/t3": ("t3", "success"),
    }
    assert not found.names_tasks
    one = read_labels(write(tmp_path, json.dumps(PUBLISHED), "human_label.json"), "Operator")
    assert [(label.trajectory, label.label) for label in one.labels] == [
        ("t1", "failure"),
        ("t2", "not_executable"),
    ]
    assert one.names_tasks


def test_judgements_of_the_benchmark_s_own_script(tmp_path):
    lines = [
        {"task_id": "t1", "predicted_label": 1, "input_text": "x"},
        {"task_id": "t2", "predicted_label": 0},
    ]
    found = read_labels(write(tmp_path, "\n".join(json.dumps(line) for line in lines), "results.json"))
    assert [(label.trajectory, label.label) for label in found.labels] == [
        ("t1", "success"),
        ("t2", "failure"),
    ]
    assert found.names_tasks


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            [{"task_id": "t1", "A_human_label": 3}],
            "entry 1, A_human_label: 3 is not 0 (failure), 1 (success)",
        ),
        ([{"task_id": "t1", "A_human_label": {}}], "entry 1, A_human_label: {} is not 0"),
        ([{"confirmed_task": "x", "A_human_label": 1}], "entry 1: expected task_id and <Agent>_human_label"),
        (
            [{"task_id": "t", "A_human_label": 1}, {"task_id": " t ", "A_human_label": 1}],
            "entries 1 and 2 are both",
        ),
        (["t1"], "malformed: Expected `object`"),
    ],
)
def test_what_is_wrong_in_the_published_layout_is_named(tmp_path, rows, words):
    with pytest.raises(LabelError) as caught:
        read_labels(write(tmp_path, json.dumps(rows), "human_label.json"))
    assert words in str(caught.value)


def test_an_agent_that_is_not_labelled_is_refused(tmp_path):
    path = write(tmp_path, json.dumps(PUBLISHED), "human_label.json")
    with pytest.raises(LabelError, match=r"no labels of agent 'B'; there are Agent A, Operator"):
        read_labels(path, "B")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"trajectory": "a", "label": "maybe"}', "line 1: label 'maybe' is not one of success, failure"),
        ('{"label": "success"}', "line 1: it names no trajectory"),
        ('{"trajectory": "a", "label": "success"}\n{', "line 2: malformed"),
        ('{"trajectory": "a", "label": "success", "note": 3}', "line 1: Expected `str`"),
        ("trajectory,label\na,nope\n", "line 2: label 'nope'"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        ('{"trajectory": "a", "Label": 1}', "line 1: it has no label; found trajectory, Label"),
        ('{"task_id": "a", "Label": 1}', "line 1: it has no label; found task_id, Label"),
        ('{"run": "a", "label": 1}', "it names no trajectory and no task_id; found run, label"),
        ("run,verdict\na,1\n", "found run, verdict"),
        ("trajectory,label,Label\na,1,0\n", "line 1: two columns are called 'label'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, words):
    with pytest.raises(LabelError) as caught:
        read_labels(write(tmp_path, text))
    assert words in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(LabelError, match=r"^none\.csv: cannot read"):
        read_labels(tmp_path / "none.csv")


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), st.sampled_from(LABELS)
        ),
        max_size=5,
    )
)
def test_what_is_written_is_read(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("labels") / "l.jsonl"
    for run, label in rows:
        append_label(path, Label(trajectory=run.strip().removeprefix("sha256:") or "x", label=label))
    if rows:
        assert {one.label for one in read_labels(path).labels} <= {label for _, label in rows}


@pytest.mark.parametrize(
    "text",
    [
        "trajectory,label,annotator\n{},success,ada\n",
        "Trajectory; Label ;ANNOTATOR\r\n{};1,0;ada\r\n".replace("1,0", "1"),
        "trajectory\tlabel\tannotator\n\n{}\t1.0\tada\n\n",
        'trajectory,label,annotator\n{},"True","ada"',
        '[{{"trajectory": "{}", "label": true, "annotator": "ada"}}]',
        '{{"trajectory": "{}", "label": 1, "annotator": "ada"}}',
    ],
)
@pytest.mark.parametrize("digest", ["sha256:" + "ab" * 32, "AB" * 32])
def test_one_label_as_programs_and_spreadsheets_write_it(tmp_path, text, digest):
    (label,) = read_labels(write(tmp_path, "\ufeff" + text.format(digest))).labels
    assert (label.trajectory, label.label, label.annotator) == ("ab" * 32, "success", "ada")


def test_a_row_without_an_answer_is_left_for_later(tmp_path):
    found = read_labels(write(tmp_path, "trajectory,label\na,\nb,1\nc, \n", "l.csv"))
    assert [label.trajectory for label in found.labels] == ["b"]
    found = read_labels(
        write(tmp_path, '{"trajectory": "a", "label": null}\n{"trajectory": "b", "label": 0}')
    )
    assert [label.trajectory for label in found.labels] == ["b"]


def test_numbers_of_tasks_name_tasks(tmp_path):
    found = read_labels(write(tmp_path, '{"task_id": 21, "label": 1}'))
    assert (found.labels[0].task, found.names_tasks) == ("21", True)


def test_labels_that_a_later_row_changes_are_counted(tmp_path):
    rows = "a,1,ada\na,0,ada\na,0,ada\na,1,bob\nb,1,ada\n"
    found = read_labels(write(tmp_path, "trajectory,label,annotator\n" + rows, "l.csv"))
    assert (len(found.labels), found.n_replaced) == (3, 1)


def test_a_task_labels_its_run_only_where_it_has_one(tmp_path):
    found = read_labels(write(tmp_path, "task_id,label\nt1,1\nt2,0\n", "l.csv"))
    named = found.of_runs({"r1": "t1", "r2": "t2", "r3": "t2", "r4": "t3"})
    assert {run: label.label for run, label in named.primary().items()} == {"r1": "success", "t2": "failure"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.csv", "trajectory,label\na,1\nb,\nc, \n"),
        ("l.jsonl", '{"trajectory": "a", "label": 1}\n{"trajectory": "b", "label": ""}\n'
         '{"trajectory": "c", "label": null}\n'),
        ("l.json", '[{"trajectory": "a", "label": 1}, {"trajectory": "b", "label": null},'
         ' {"trajectory": "c", "label": " "}]'),
        ("human_label.json", '[{"task_id": "a", "A_human_label": 1}, {"task_id": "b", "A_human_label": ""},'
         ' {"task_id": "c", "A_human_label": null}]'),
        ("annotations.json", '[{"task_id": "a", "human_judgement_outcome": "correct"},'
         ' {"task_id": "b", "human_judgement_outcome": ""},'
         ' {"task_id": "c", "human_judgement_outcome": null}]'),
    ],
)  # fmt: skip
def test_rows_without_an_answer_are_counted(tmp_path, name, text):
    found = read_labels(write(tmp_path, text, name))
    assert {one.trajectory for one in found.labels} == {"a"}
    assert found.n_unanswered == 2


@pytest.mark.parametrize("text", ["{}", "[{}]"])
def test_a_field_that_stands_twice_is_refused(tmp_path, text):
    row = '"trajectory": "a", "label": "success", "label": "failure"'
    with pytest.raises(LabelError, match="the field 'label' twice"):
        read_labels(write(tmp_path, text.replace("{}", "{" + row + "}")))
    once = '"trajectory": "a", "label": "success", "note": "\\"label\\": 1, \\"label\\": 2"'
    assert len(read_labels(write(tmp_path, text.replace("{}", "{" + once + "}"))).labels) == 1


@given(st.lists(st.sampled_from(["1", "0", "", " ", "success"]), min_size=1))
def test_each_row_is_a_label_or_counted(tmp_path_factory, answers):
    rows = "".join(f"r{place},{answer}\n" for place, answer in enumerate(answers))
    found = read_labels(write(tmp_path_factory.mktemp("labels"), f"trajectory,label\n{rows}", "l.csv"))
    assert len(found.labels) + found.n_unanswered == len(answers)


def test_labels_are_not_appended_to_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LabelError, match="a device or a pipe"):
        check_appendable(tmp_path / "pipe")
