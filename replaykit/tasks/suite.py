"""Task and suite files: our own (YAML, TOML, JSON) and public ones, recognised by their shape."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from replaykit.errors import TaskError, UnknownTask
from replaykit.tasks.benchmarks.mind2web import mind2web_records, read_mind2web
from replaykit.tasks.checks import Written
from replaykit.tasks.dialect import Composition, Dialect, Mode
from replaykit.tasks.faults.field_faults import FieldFault, empty_lists, read_fields
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.policy_rules import Policy
from replaykit.tasks.task import Task
from replaykit.tasks.written_file import WrittenFile, read_written

SCHEMA = "replaykit.suite/1"
"""Name and version of the layout of task files."""

POLICIES = "replaykit.policies/1"
"""Name and version of the layout of policy files."""

FAULTS_SHOWN = 20
"""Faults of one file that are listed after the first."""


class PolicyRef(Written, frozen=True, kw_only=True):
    """Policies in a separate file."""

    file: str
    """Path of the policy file, relative to the suite file."""


class PolicyFile(Written, frozen=True, kw_only=True):
    """A file of policies."""

    schema: Literal["replaykit.policies/1"]
    """Name and version of this file's layout."""
    policies: tuple[Policy, ...]
    """The policies, each with a unique id."""
    name: str | None = None
    """Name of the file for people."""


class SuiteFile(Written, frozen=True, kw_only=True):
    """A suite file. Its options apply to each task that does not set them itself."""

    schema: Literal["replaykit.suite/1"]
    """Name and version of this file's layout."""
    tasks: tuple[dict[str, Any], ...]
    """The tasks, each with a unique id."""
    name: str | None = None
    """Name of the file for people."""
    sites: dict[str, str | tuple[str, ...]] = {}
    """Name of each site to its root URL, or to several roots, of which the first is the active one."""
    mode: Mode | None = None
    """Mode of every task: `strict`, or `compat` (exactly as the original benchmark grades)."""
    dialect: Dialect | None = None
    """Benchmark whose rules the checks follow."""
    compose: Composition | None = None
    """How checks and judge are combined into one result."""
    require_reason: bool | None = None
    """If true, `N/A` without a reason does not count as an answer."""
    require_proof: bool | None = None
    """If true, a result that needs a channel that is recorded but not proven complete is UNDECIDED."""
    policies: tuple[Policy, ...] | PolicyRef = ()
    """Policies of every task, or the file that holds them."""
    judge: str | JudgeSettings | None = None
    """Judge of every task."""


class Suite(Struct, frozen=True, kw_only=True):
    """Tasks with the root URLs of the sites that they use."""

    tasks: tuple[Task, ...]
    """The tasks in the order of the file; ids are unique."""
    sites: dict[str, tuple[str, ...]] = {}
    """Name of each site to its root URLs; the first is the active one."""
    name: str | None = None
    """Name of the suite for people."""
    is_chosen: bool = False
    """Whether `FILE#ID` named its one task, which then holds for every run."""

    def task_of_run(self, recorded: str | None, source: str) -> Task:
        """Return the task of a run by the id that it was recorded for; without one, the only task.

        A task that was chosen holds for every run. Raises TaskError; UnknownTask for a run of another one.
        """
        if self.is_chosen or (not recorded and len(self.tasks) == 1):
            return self.tasks[0]
        if recorded:
            return self.task(recorded, source)
        known = ", ".join(task.id for task in self.tasks[:12])
        reason = "the run has no task id, by which its task is found: name the task with --task FILE#ID"
        raise TaskError(source=source, path="$", reason=f"{reason}; the file has {known}")

    def task(self, id: str, source: str = "suite") -> Task:
        """Return the task with this id. Raises UnknownTask if there is no such task."""
        for task in self.tasks:
            if task.id == id:
                return task
        known = ", ".join(task.id for task in self.tasks[:12]) or "no tasks"
        raise UnknownTask(source=source, id=id, known=known + (", ..." if len(self.tasks) > 12 else ""))


def load_tasks(path: str | Path) -> list[Task]:
    """Read the tasks of a file.

    `path`: a suite in YAML, TOML or JSON, or a JSON task file of WebArena, WebArena-Verified, VisualWebArena,
    ST-WebAgentBench or WebVoyager. The format is recognised by its structure. `FILE#ID` selects one task.
    Raises TaskError with the path of the faulty field, UnknownTask.

    Example:
        (task,) = replaykit.load_tasks("tasks.yaml#order-total")
        print(task.intent)
    """
    return list(load_suite(path).tasks)


def load_suite(path: str | Path, *, within: str | Path | None = None) -> Suite:
    """Read a task file of any supported layout, with the sites of its tasks.

    `path`: `FILE#ID` selects one task. `within`: folder in which a referenced file of policies must lie, for
    task files that you do not trust; None = anywhere. Raises TaskError with the path of the faulty field,
    UnknownTask.
    """
    file, _, id = str(path).partition("#")
    suite, error = survey_suite(file, within=within)
    if error is not None:
        raise error
    return msgspec.structs.replace(suite, tasks=(suite.task(id, file),), is_chosen=True) if id else suite


def survey_suite(
    path: str | Path | WrittenFile, *, within: str | Path | None = None
) -> tuple[Suite, TaskError | None]:
    """Read a task file as `load_suite` does; return the tasks that can be read, and what is wrong with it.

    Raises TaskError where no task can be read.
    """
    written = path if isinstance(path, WrittenFile) else read_written(path)
    suite, faults = _recognise(written, within)
    return suite, _error(written.path, faults) if faults else None


def mind2web_tables(plain: Any) -> tuple[list[Any], str] | None:
    """Return the records of an Online-Mind2Web file or a WABE scenario, and the path of their list.

    They may be empty, or wrong; None for any other layout.
    """
    records = mind2web_records(plain)
    return None if records is None else (records, _place_of(plain))


def suite_schema() -> dict[str, Any]:
    """Return the JSON Schema of the suite file, its tasks included."""
    from replaykit.tasks.described_schema import components, document  # for the one who asks for it

    (suite, task), parts = components(SuiteFile, Task)
    parts["SuiteFile"]["properties"]["tasks"]["items"] = task
    return document("replaykit suite", "urn:replaykit:suite:1", suite, parts)


def _recognise(written: WrittenFile, within: str | Path | None) -> tuple[Suite, list[FieldFault]]:
    plain, file = written.plain, written.path
    if isinstance(plain, dict) and ("schema" in plain or isinstance(plain.get("tasks"), list)):
        tables = mind2web_records(plain)
        if "schema" in plain or not tables:
            return _suite(plain, file, within)
    if isinstance(plain, dict) and {"id", "intent"} <= plain.keys():
        return _one_task(plain, file)
    suite = Suite(tasks=tuple(_public(written)))
    return suite, _duplicates(suite.tasks)


def _one_task(plain: dict[str, Any], file: Path) -> tuple[Suite, list[FieldFault]]:
    task, wrong = read_fields(plain, Task)
    if task is None:
        raise _error(file, wrong)
    wrong += [*empty_lists(plain), *_policy_faults(task.policies, "$.policies")]
    if task.policies or len(task.checks) > 1:
        from replaykit.tasks.faults.suite_faults import task_faults  # for tasks that may have such

        wrong += [FieldFault(f"${path}", reason) for path, reason in task_faults(task)]
    return Suite(tasks=(task,)), wrong


def _public(written: WrittenFile) -> list[Task]:
    """Read a task file of a benchmark, recognised by its fields."""
    plain, file = written.plain, written.path
    tables = mind2web_records(plain)
    if tables:
        return read_mind2web(tables, str(file), _place_of(plain))
    records = plain if isinstance(plain, list) else [plain]
    if records and all(isinstance(r, dict) for r in records):
        for needed, benchmark, reader in _READERS:
            if needed <= records[0].keys():
                module = importlib.import_module(f"replaykit.tasks.benchmarks.{benchmark}")
                return list(getattr(module, reader)(records, str(file)))
    expected = f"expected `schema: {SCHEMA}`, one task, or a public task file"
    reason = f"unknown layout, {written.kind}: {expected}"
    raise TaskError(source=file, path="$", reason=reason)


def _place_of(plain: Any) -> str:
    return "$" if isinstance(plain, list) else "$.tasks"


_READERS: tuple[tuple[set[str], str, str], ...] = (
    ({"task_id", "intent", "eval", "start_url", "policies"}, "stwebagentbench", "read_stwebagentbench"),
    ({"task_id", "intent", "eval", "start_url"}, "webarena", "read_webarena"),
    ({"task_id", "intent", "eval", "start_urls", "intent_template"}, "webarena_verified", "read_verified"),
    ({"ques", "web", "id"}, "webvoyager", "read_webvoyager"),
)
"""Fields of a record to the module of its benchmark, which is loaded then, and the reader in it."""


def _suite(plain: dict[str, Any], file: Path, within: str | Path | None) -> tuple[Suite, list[FieldFault]]:
    faults = _layout_faults(plain, file)
    found = read_fields({**plain, "schema": SCHEMA}, SuiteFile)
    faults += found.faults
    written = found.value
    if written is None:
        raise _error(file, faults)
    if not plain.get("tasks"):
        faults.append(FieldFault("$.tasks", "it has no tasks: nothing can be graded with it"))
    shared = _shared(written, file, within)
    shared_faults = [*empty_lists(plain), *_policy_faults(shared["policies"], "$.policies")]
    faults += shared_faults
    tasks = {number: _merge(task, record, shared) for number, task, record in _tasks(plain, faults)}
    for number, task in tasks.items():
        # Each task has the shared policies as well: their faults are reported once.
        faults += () if shared_faults else _policy_faults(task.policies, f"$.tasks[{number}].policies")
    sites = {name: (root,) if isinstance(root, str) else root for name, root in written.sites.items()}
    from replaykit.tasks.faults.suite_faults import root_faults

    faults += [FieldFault(f"$.sites{path}", reason) for path, reason in root_faults(sites)]
    faults += _scope_faults(written, plain, tasks)
    return Suite(tasks=tuple(tasks.values()), sites=sites, name=written.name), faults


def _scope_faults(
    written: SuiteFile, plain: Mapping[str, Any], tasks: Mapping[int, Task]
) -> list[FieldFault]:
    """Return names in scopes of policies that the file lacks; policies of another file may name others."""
    from replaykit.tasks.faults.suite_faults import names_in, scope_faults, task_faults

    records = plain.get("tasks") or []
    inline = () if isinstance(written.policies, PolicyRef) else written.policies
    found = scope_faults(inline, names_in(records, written.sites))
    faults = [FieldFault(f"$.policies{fault.path}", fault.message) for fault in found]
    for number, task in tasks.items():
        own = task.policies[len(task.policies) - len(records[number].get("policies") or ()) :]
        own_faults = task_faults(msgspec.structs.replace(task, policies=own))
        faults += [FieldFault(f"$.tasks[{number}]{path}", reason) for path, reason in own_faults]
    return faults


def _layout_faults(plain: Mapping[str, Any], file: Path, layout: str = SCHEMA) -> list[FieldFault]:
    """Return the fault of a missing first line. Raises TaskError for the layout of another file."""
    if "schema" not in plain:
        line = f"begin the file with the line `schema: {layout}`"
        return [FieldFault("$", f"the line that names the layout is missing: {line}")]
    found = plain["schema"]
    if found == layout:
        return []
    reason = f"layout {found!r:.80} is unknown: this release reads {layout}"
    if isinstance(found, str) and found in _LAYOUTS:
        reason = f"it is {_LAYOUTS[found]}; {_LAYOUTS[layout].partition(' (')[0]} has `schema: {layout}`"
    raise TaskError(source=file, path="$.schema", reason=reason)


_LAYOUTS = {
    SCHEMA: "a task file (`replaykit grade` reads it with --task FILE)",
    POLICIES: "a policy file (a task file names it with `policies: {file: FILE}`, `replaykit grade` with "
    "--policies FILE)",
    "replaykit.report/1": "a report of `replaykit grade`",
    "replaykit.calibration/2": "a calibration of `replaykit agree`",
}
"""Schema of a file to what it is."""


def _tasks(plain: Mapping[str, Any], faults: list[FieldFault]) -> Iterator[tuple[int, Task, dict[str, Any]]]:
    """Yield number, task and record of each that is well; add what is wrong with the others."""
    records = plain.get("tasks")
    seen: set[str] = set()
    for number, record in enumerate(records if isinstance(records, list) else ()):
        if not isinstance(record, dict):
            continue
        task, wrong = read_fields(record, Task, f"$.tasks[{number}]")
        if task is not None and task.id in seen:
            wrong.append(FieldFault(f"$.tasks[{number}].id", f"duplicate task id {task.id!r}"))
        wrong += empty_lists(record, f"$.tasks[{number}]")
        faults += wrong
        seen |= set() if task is None else {task.id}
        if task is not None and not wrong:  # one without its faulty parts would have faults of its own
            yield number, task, record


def _error(file: str | Path, faults: Sequence[FieldFault]) -> TaskError:
    """Return one error of all faults of a file: whoever mends it wants to read it once."""
    first, *others = faults
    lines = [f"also {fault.reason} - at `{fault.path}`" for fault in others[:FAULTS_SHOWN]]
    if len(others) > FAULTS_SHOWN:
        lines.append(f"and {len(others) - FAULTS_SHOWN} more faults")
    return TaskError(source=str(file), path=first.path, reason=first.reason, others=tuple(lines))


def _is_inside(file: Path, folder: Path) -> bool:
    with suppress(RuntimeError):  # Python 3.11 and 3.12 raise it for links in a circle
        return file.resolve().is_relative_to(folder.resolve())
    return False


def _shared(written: SuiteFile, file: Path, within: str | Path | None) -> dict[str, Any]:
    policies = written.policies
    if isinstance(policies, PolicyRef):
        named = file.parent / policies.file
        if within is not None and not _is_inside(named, Path(within)):
            raise TaskError(source=file, path="$.policies.file", reason=f"it lies outside of {within}")
        policies = policies_of(read_written(named, "policy file", file))
    names = ("mode", "dialect", "compose", "require_reason", "require_proof", "judge")
    stated = {name: getattr(written, name) for name in names}
    return {"policies": policies, **{name: value for name, value in stated.items() if value is not None}}


def load_policies(path: str | Path) -> tuple[Policy, ...]:
    """Read the policies of a policy file. Raises TaskError with the path of the faulty field.

    Example:
        for policy in replaykit.load_policies("policies.yaml"):
            print(policy.id, policy.dimension)
    """
    return policies_of(read_written(path, "policy file"))


def policies_of(read: WrittenFile) -> tuple[Policy, ...]:
    """Return the policies of a file that was read. Raises TaskError."""
    plain, path = read.plain, read.path
    if not isinstance(plain, dict):
        raise _error(path, [FieldFault("$", _not_policies(read))])
    if missing := _layout_faults(plain, path, POLICIES):
        raise _error(path, missing)
    written, wrong = read_fields(plain, PolicyFile)
    wrong += empty_lists(plain)
    wrong += () if written is None else _policy_faults(written.policies, "$.policies")
    if written is not None and not plain.get("policies"):
        wrong.append(FieldFault("$.policies", "it has no policies: nothing can be graded with it"))
    if written is None or wrong:
        raise _error(path, wrong)
    return written.policies


def _not_policies(read: WrittenFile) -> str:
    """Return why a file that has no fields is not a policy file."""
    if isinstance(read.plain, list):
        return f"a list; name it `policies:` below a first line `schema: {POLICIES}`"
    return f"not a policy file: found {read.kind}; a policy file begins with the line `schema: {POLICIES}`"


def _merge(task: Task, record: Mapping[str, Any], shared: Mapping[str, Any]) -> Task:
    inherited = {name: value for name, value in shared.items() if name != "policies" and name not in record}
    return msgspec.structs.replace(task, policies=(*shared["policies"], *task.policies), **inherited)


def _policy_faults(policies: Sequence[Policy], at: str) -> list[FieldFault]:
    """Return what a schema cannot see."""
    if not policies:
        return []
    from replaykit.tasks.faults.policy_faults import faults  # for files that have some: it reads selectors

    found = faults(policies)
    return [FieldFault(at + one.path.removeprefix("$"), f"{one.code}: {one.message}") for one in found]


def _duplicates(tasks: Sequence[Task]) -> list[FieldFault]:
    seen, found = set[str](), list[FieldFault]()
    for number, task in enumerate(tasks):
        if task.id in seen:
            found.append(FieldFault(f"$.tasks[{number}].id", f"duplicate task id {task.id!r}"))
        seen.add(task.id)
    return found
