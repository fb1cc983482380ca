"""People's labels of runs: readers of label files, and one line of ours."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.decoders import convert, decode, decode_each_key_once
from replaykit.errors import LabelError
from replaykit.file_types import DEVICE, READ_ONLY, is_appendable, is_device
from replaykit.grading.agreement.label_tables import read_table
from replaykit.grading.agreement.verifier_labels import (
    BLIND,
    FINAL,
    MAGIC,
    LabelRule,
    column_of,
    is_published,
    parquet_rows,
    verifier_labels_of,
)
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.plurals import counted

LabelAnswer: TypeAlias = Literal["success", "failure", "not_executable", "unsure"]
"""Answers that a person may give about a run."""

LABELS: tuple[LabelAnswer, ...] = ("success", "failure", "not_executable", "unsure")
"""Done, not done, could not be done (CAPTCHA, site down: the run is invalid), and unknown."""

FILE_MAX = 64 * 2**20
"""Bytes of a label file."""

HEAD = 2**16
"""Characters at the beginning of a file in which its first row names its columns."""

_PEER = {
    "successful": "success", "unsuccessful": "failure", "unsure": "unsure",
    "0": "failure", "1": "success", "2": "not_executable",
    "0.0": "failure", "1.0": "success", "2.0": "not_executable", "false": "failure", "true": "success",
}  # fmt: skip
_ANSWER_COLUMNS = ("label", "human_label", "trajectory_success")
"""Columns that hold the answer about a run."""
_SHOWN = 200
"""Characters of what was found, in an error."""
_DIGEST = lazy_pattern(r"[0-9a-f]{64}", re.IGNORECASE)
_ARB = ("benchmark", "model_name", "task_id", "annotator_name")


class Label(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One person's answer about one run."""

    trajectory: str
    """Trajectory digest, 64 hex digits; of other projects' files the name of the run."""
    label: LabelAnswer
    """The answer of the person."""
    annotator: str = ""
    """Who answered."""
    at: str = ""
    """When, RFC 3339."""
    note: str = ""
    """Why."""
    task: str = ""
    """Task id: runs of one task are drawn together."""
    others: dict[str, str] = {}
    """Answers to further questions, as they stand in the file."""


class Labels(Struct, frozen=True, kw_only=True):
    """The labels of a file."""

    name: str
    """File name, without its folder."""
    digest: str
    """`sha256:...` of the file."""
    labels: tuple[Label, ...]
    """One for each annotator and run, the last one given, in the order of the first."""
    agents: tuple[str, ...] = ()
    """Whose runs a file labels that has a column for each agent."""
    rule: str = ""
    """By which rule the judgements of several people make one label; empty = the first one's counts."""
    n_replaced: int = 0
    """Labels that a later row of the same run and annotator answers otherwise: the later one counts."""
    n_unanswered: int = 0
    """Rows without an answer: they were left for later."""

    @property
    def names_tasks(self) -> bool:
        """Whether runs are named by their tasks: the file has one agent's runs, one of each task."""
        return bool(self.labels) and all(label.task == label.trajectory for label in self.labels)

    def primary(self) -> dict[str, Label]:
        """Return the label of each run by the rule, or by its first annotator if no rule is given."""
        found: dict[str, Label] = {}
        for label in self.labels:
            if self.rule and label.annotator != self.rule:
                continue
            found.setdefault(label.trajectory, label)
        return found

    def of_runs(self, tasks: Mapping[str, str]) -> Labels:
        """Return the labels with the names of these runs (run to task).

        A file that names tasks labels the only run of each; of a task with several runs it labels none, and
        its label keeps its name.
        """
        if not self.names_tasks:
            return self
        runs: dict[str, list[str]] = {}
        for run, task in tasks.items():
            runs.setdefault(task, []).append(run)
        only = {task: several[0] for task, several in runs.items() if len(several) == 1}
        named = (replace(label, trajectory=only.get(label.task, label.trajectory)) for label in self.labels)
        return replace(self, labels=tuple(named))

    def pairs(self) -> list[tuple[Label, Label]]:
        """Return the labels of the first two annotators of each run that has two."""
        by_run: dict[str, list[Label]] = {}
        for label in self.labels:
            if not self.rule or label.annotator != self.rule:
                by_run.setdefault(label.trajectory, []).append(label)
        return [(answer[0], answer[1]) for answer in by_run.values() if len(answer) > 1]

    def counts(self) -> dict[str, int]:
        """Return how many runs have which label."""
        count = Counter(label.label for label in self.primary().values())
        return {name: count[name] for name in LABELS if count[name]}


def left_out(n_replaced: int, n_unanswered: int) -> Iterator[str]:
    """Yield what of a file of labels is not used, in words."""
    if n_replaced:
        yield f"{counted(n_replaced, 'label')} replaced by a later one of the same run and annotator"
    if n_unanswered:
        yield f"{counted(n_unanswered, 'row')} without an answer: not used"


def read_labels(path: str | Path, agent: str | None = None, rule: LabelRule | None = None) -> Labels:
    """Read labels: JSON lines of ours, CSV, AgentRewardBench's and Online-Mind2Web's.

    `agent`: whose runs to take of AgentRewardBench's `annotations.csv` (`model_name`), or whose column of
    Online-Mind2Web's `human_label.json`; runs are then named by their tasks. `rule`: of CUAVerifierBench's
    tables, `majority` by default. Raises LabelError.
    """
    file = Path(path)
    if is_parquet(file):
        rows = parquet_rows(file)
        return _verifier_labels(rows, rule or "majority", file.name, _digest(file))
    return labels_of(_bytes(file), file.name, agent, rule)


def labels_of(data: bytes, name: str, agent: str | None = None, rule: LabelRule | None = None) -> Labels:
    """Read the labels of a file from its bytes; see `read_labels`. Raises LabelError."""
    digest = "sha256:" + hashlib.sha256(data).hexdigest()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LabelError(source=name, line=0, reason="it is not UTF-8 text") from error
    published = _published(text, name)
    if published is not None:
        return _verifier_labels(published, rule or "majority", name, digest)
    if rule is not None:
        reason = f"label rule {rule} needs a table of CUAVerifierBench"
        raise LabelError(source=name, line=0, reason=reason)
    if text.lstrip().startswith("[") and HUMAN in text:
        rows, agents = columns(text, name, agent)
        labels, n_unanswered = _answered(rows)
        return Labels(
            name=name, digest=digest, labels=tuple(labels), agents=agents, n_unanswered=n_unanswered
        )
    answered, n_unanswered = _answered(_READERS.get(text.lstrip()[:1], _table)(text, name))
    labels, n_replaced = _latest(answered)
    agents = tuple(sorted({one for one in map(_model, labels) if one is not None}))
    if agent is not None and agents:
        labels = _of_model(labels, agent, agents, name)
    return Labels(
        name=name,
        digest=digest,
        labels=tuple(labels),
        agents=agents,
        n_replaced=n_replaced,
        n_unanswered=n_unanswered,
    )


def _verifier_labels(rows: Sequence[Mapping[str, Any]], rule: LabelRule, name: str, digest: str) -> Labels:
    found = tuple(convert(row, Label) for row in verifier_labels_of(rows, rule, name))
    n_unanswered = sum(_is_empty(row[column_of(rule)]) for row in rows)
    return Labels(name=name, digest=digest, labels=found, rule=rule, n_unanswered=n_unanswered)


def is_parquet(file: Path) -> bool:
    """Whether a file is a table that is not read whole: its screenshots are left where they are."""
    if not file.is_file():  # whoever looks into a pipe takes what it holds
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _model(label: Label) -> str | None:
    """Return whose run a label of AgentRewardBench is about; None of other labels."""
    bench, _, task = label.task.partition("/")
    is_named = task and label.trajectory.startswith(f"{bench}/") and label.trajectory.endswith(f"/{task}")
    middle = label.trajectory.removeprefix(f"{bench}/").removesuffix(task).removesuffix("/")
    return middle if is_named and middle else None


def _of_model(labels: Sequence[Label], agent: str, agents: Sequence[str], name: str) -> list[Label]:
    """Return the labels of one agent's runs, named by their tasks."""
    _check_agent(agent, agents, name)
    tasks = ((label, label.task.partition("/")[2]) for label in labels if _model(label) == agent)
    return [replace(label, trajectory=task, task=task) for label, task in tasks]


def _check_agent(agent: str, agents: Sequence[str], name: str) -> None:
    if agent not in agents:
        known = ", ".join(one or "(unnamed)" for one in agents) or "none"
        raise LabelError(source=name, line=0, reason=f"no labels of agent {agent!r}; there are {known}")


def _published(text: str, name: str) -> list[dict[str, Any]] | None:
    """Return the rows of a table of CUAVerifierBench in JSON; None of another file."""
    if not any(column in text[:HEAD] for column in (BLIND, FINAL)):
        return None
    text = text.lstrip()
    try:
        rows = decode(text, list[dict[str, Any]]) if text.startswith("[") else _plain_lines(text)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise LabelError(source=name, line=0, reason=f"malformed: {error}") from error
    return rows if rows and is_published(rows[0]) else None


def _plain_lines(text: str) -> list[dict[str, Any]]:
    return [decode(line, dict[str, Any]) for line in text.split("\n") if line.strip()]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def append_label(path: str | Path, label: Label) -> None:
    """Append one label to a file of JSON lines: all of its line or nothing. Raises LabelError."""
    line = msgspec.json.encode(label) + b"\n"
    try:
        with Path(path).open("a+b", buffering=0) as file:
            _append(file, line)
    except OSError as error:
        raise LabelError(source=Path(path).name, line=0, reason=f"cannot write: {error.strerror}") from error


def _append(file: FileIO, line: bytes) -> None:
    end = file.seek(0, os.SEEK_END)
    if end:
        file.seek(end - 1)
        # An editor may have left the last line without its end.
        line = line if file.read(1) == b"\n" else b"\n" + line
    try:
        if file.write(line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(file.fileno())
    except OSError:
        file.truncate(end)
        raise


def check_appendable(path: str | Path) -> None:
    """Raise LabelError where no labels can be appended: no such folder, or labels in another form."""
    if not Path(path).parent.is_dir():
        reason = f"there is no folder {Path(path).parent}; make it first"
        raise LabelError(source=str(path), line=0, reason=reason)
    if is_device(path):
        raise LabelError(source=str(path), line=0, reason=DEVICE)
    if not is_appendable(path):
        raise LabelError(source=str(path), line=0, reason=f"no labels can be added: {READ_ONLY}")
    if not Path(path).exists():
        return
    head = _bytes(Path(path)).decode("utf-8-sig", "replace").lstrip()
    if head and not head.startswith("{"):
        reason = "it is not JSON lines: name another file for new labels"
        raise LabelError(source=Path(path).name, line=0, reason=reason)


def _answered(rows: Iterable[Label | None]) -> tuple[list[Label], int]:
    """Return the labels, and how many rows have no answer."""
    given = list(rows)
    labels = [row for row in given if row is not None]
    return labels, len(given) - len(labels)


def _latest(labels: Iterable[Label]) -> tuple[list[Label], int]:
    """Return the last label of each run and annotator, and how many it replaces that answer otherwise."""
    found: dict[tuple[str, str], Label] = {}
    n_replaced = 0
    for label in labels:
        before = found.get((label.trajectory, label.annotator), label)
        n_replaced += (before.label, before.others) != (label.label, label.others)
        found[label.trajectory, label.annotator] = label
    return list(found.values()), n_replaced


def _json_lines(text: str, name: str) -> Iterator[Label | None]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _given(_object(line, name, number), name, number)


def columns(text: str, name: str, agent: str | None = None) -> tuple[list[Label | None], tuple[str, ...]]:
    """Read Online-Mind2Web's `human_label.json`; return its labels and the agents that it has columns of.

    A run that was not labelled gives None.

    It is a list of tasks: `task_id`, `confirmed_task`, and `<Agent>_human_label` 0, 1 or 2 of each agent. A
    run is named `agent/task_id`, or only by its task if one agent is requested or only one exists. Raises
    LabelError.
    """
    rows = list(_entries(text, name))
    agents = tuple(dict.fromkeys(_agent(key) for _, row in rows for key in row if key.endswith(HUMAN)))
    if agent is not None:
        _check_agent(agent, agents, name)
    chosen = agents if agent is None else (agent,)
    labels = [label for place, row in rows for label in _of_task(row, name, place, chosen)]
    return labels, agents


HUMAN = "human_label"
"""How a column of labels ends; the agent's name and `_` stand before it."""


def _agent(column: str) -> str:
    return column.removesuffix(HUMAN).removesuffix("_")


def _entries(text: str, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield number and fields of each entry of a list of tasks, each task once."""
    first: dict[str, int] = {}
    for place, row in enumerate(_objects(text, name), 1):
        task = row.get("task_id")
        if not isinstance(task, str) or not task.strip() or not any(key.endswith(HUMAN) for key in row):
            reason = f"entry {place}: expected task_id and <Agent>_{HUMAN}, got {', '.join(list(row)[:6])}"
            raise LabelError(source=name, line=0, reason=reason)
        if first.setdefault(task.strip(), place) != place:
            reason = f"entries {first[task.strip()]} and {place} are both of task {task.strip()!r}"
            raise LabelError(source=name, line=0, reason=reason)
        yield place, row


def _of_task(row: Mapping[str, Any], name: str, place: int, agents: Sequence[str]) -> Iterator[Label | None]:
    task = row["task_id"].strip()
    for agent in agents:
        column = f"{agent}_{HUMAN}" if agent else HUMAN
        value = row.get(column)
        if _is_empty(value):
            yield None
            continue
        answer = _PEER.get(str(int(value)) if isinstance(value, bool) else str(value).strip().lower())
        if answer is None:
            reason = (
                f"entry {place}, {column}: {value!r} is not 0 (failure), 1 (success) or 2 (not executable)"
            )
            raise LabelError(source=name, line=0, reason=reason)
        run = task if len(agents) == 1 else f"{agent}/{task}"
        yield convert({"trajectory": run, "label": answer, "task": task}, Label)


def _list(text: str, name: str) -> Iterator[Label | None]:
    for row in _objects(text, name):
        yield _given(row, name, 0)


def _objects(text: str, name: str) -> list[dict[str, Any]]:
    try:
        return convert(decode_each_key_once(text), list[dict[str, Any]])
    except (ValueError, RecursionError) as error:
        raise LabelError(source=name, line=0, reason=f"malformed: {error}") from error


def _object(line: str, name: str, number: int) -> Mapping[str, Any]:
    try:
        return convert(decode_each_key_once(line), dict[str, Any])
    except (ValueError, RecursionError) as error:
        reason = f"malformed: {error}; each line has to be one JSON object, such as `label` writes"
        raise LabelError(source=name, line=number, reason=reason) from error


def _table(text: str, name: str) -> Iterator[Label | None]:
    columns, rows = read_table(text, name)
    if not set(_ANSWER_COLUMNS) & set(columns):
        reason = (
            "no labels: expected JSON lines, or CSV with columns such as trajectory, label, annotator; "
            f"found {', '.join(columns)[:_SHOWN]}"
        )
        raise LabelError(source=name, line=0, reason=reason)
    for number, row in rows:
        yield _given(row, name, number)


_READERS = {"{": _json_lines, "[": _list}
"""First sign of a file that is not a table, and who reads it."""


def _given(row: Mapping[str, Any], name: str, number: int) -> Label | None:
    """Return the label of a row; None of one whose label is empty: it was left for later."""
    plain = _renamed(row)
    if "label" not in plain:
        reason = f"it has no label; found {', '.join(row)[:_SHOWN]}; expected `trajectory` and `label`"
        raise LabelError(source=name, line=number, reason=reason)
    is_left = _is_empty(plain["label"]) and not plain.get("others")
    return None if is_left else _label(plain, name, number)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _renamed(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of another project's file in our words."""
    if all(field in row for field in _ARB):
        return _of_agent_reward_bench(row)
    if "task_id" not in row or "trajectory" in row:
        return row
    task = str(row["task_id"])
    answer = [row[name] for name in (HUMAN, "predicted_label", "label") if name in row]
    found = {"trajectory": task, "task": task, "annotator": row.get("annotator", "")}
    return {**found, "label": answer[0]} if answer else found


def _of_agent_reward_bench(row: Mapping[str, Any]) -> Mapping[str, Any]:
    others = {key: value for key, value in row.items() if key.startswith("trajectory_")}
    return {
        "trajectory": "/".join(row[field] for field in _ARB[:3]),
        "label": others.get("trajectory_success", ""),
        "annotator": row["annotator_name"],
        "task": f"{row['benchmark']}/{row['task_id']}",
        "others": others,
    }


def _label(plain: Mapping[str, Any], name: str, number: int) -> Label:
    answer = str(plain["label"]).strip().lower()
    fields = {
        **plain,
        "label": _PEER.get(answer, answer),
        "annotator": str(plain.get("annotator", "")).strip(),
    }
    run = str(plain.get("trajectory") or "").strip().removeprefix("sha256:")
    fields["trajectory"] = run.lower() if _DIGEST.fullmatch(run) else run
    if not run:
        reason = f"it names no trajectory and no task_id; found {', '.join(plain)[:_SHOWN]}"
        raise LabelError(source=name, line=number, reason=reason)
    if fields["label"] not in LABELS:
        reason = f"label {answer!r:.{_SHOWN}} is not one of {', '.join(LABELS)}, or 1, 0, 2"
        raise LabelError(source=name, line=number, reason=reason)
    try:
        return convert(fields, Label)
    except msgspec.ValidationError as error:
        raise LabelError(source=name, line=number, reason=str(error)) from error


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(FILE_MAX + 1)
    except OSError as error:
        raise LabelError(source=path.name, line=0, reason=f"cannot read: {error.strerror}") from error
    if len(data) > FILE_MAX:
        raise LabelError(source=path.name, line=0, reason=f"larger than {FILE_MAX} bytes")
    return data
