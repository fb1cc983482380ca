"""Task and suite files: our own (YAML, TOML, JSON) and public ones, recognised by their shape."""

from __future__ import annotations

import importlib
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from replaykit.decoders import NEST_MAX, decode_as_python, decode_plain, is_nested_deeper
from replaykit.errors import TaskError, UnknownTask
from replaykit.file_types import HEAD, kind_of, kind_of_bytes
from replaykit.patterns import lazy_pattern
from replaykit.tasks.benchmarks.mind2web import mind2web_records, read_mind2web
from replaykit.tasks.checks import Written
from replaykit.tasks.dialect import Composition, Dialect, Mode
from replaykit.tasks.faults.field_faults import FieldFault, read_fields
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.policy_rules import Policy
from replaykit.tasks.task import Task
from replaykit.tasks.yaml_text import parsed_yaml, words_of

SCHEMA = "replaykit.suite/1"
"""Name and version of the layout of task files."""

POLICIES = "replaykit.policies/1"
"""Name and version of the layout of policy files."""

FILE_MAX = 64 * 2**20
"""Bytes of a task file."""

FAULTS_SHOWN = 20
"""Faults of one file that are listed after the first."""

VALUES_MAX = 5_000_000
"""Values in a task file after YAML aliases are expanded: a few lines can claim billions."""


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


def survey_suite(path: str | Path, *, within: str | Path | None = None) -> tuple[Suite, TaskError | None]:
    """Read a task file as `load_suite` does; return the tasks that can be read, and what is wrong with it.

    Raises TaskError where no task can be read.
    """
    file = Path(path)
    suite, faults = _recognise(_parse(file), file, within)
    return suite, _error(file, faults) if faults else None


def load_mind2web(path: str | Path) -> tuple[list[Any], str] | None:
    """Return the records of an Online-Mind2Web file or a WABE scenario, and the path of their list.

    They may be empty, or wrong; None for any other layout. Raises `TaskError` for an unreadable file.
    """
    plain = _parse(Path(path))
    records = mind2web_records(plain)
    return None if records is None else (records, _place_of(plain))


def suite_schema() -> dict[str, Any]:
    """Return the JSON Schema of the suite file, its tasks included."""
    from replaykit.tasks.described_schema import components, document  # for the one who asks for it

    (suite, task), parts = components(SuiteFile, Task)
    parts["SuiteFile"]["properties"]["tasks"]["items"] = task
    return document("replaykit suite", "urn:replaykit:suite:1", suite, parts)


def _parse(file: Path, kind: str = "task file", named_by: Path | None = None) -> Any:
    """Return what a file holds; `named_by` is the file that names it."""
    try:
        # Pipes and devices have no size: what is read is bounded.
        with file.open("rb") as stream:
            data = stream.read(FILE_MAX + 1)
        if len(data) > FILE_MAX:
            raise TaskError(source=file, path="$", reason=f"larger than {FILE_MAX} bytes")
        text = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig").read()
        plain = _PARSERS.get(file.suffix.lower(), _by_start)(text)
    except OSError as error:
        what = "it is a folder: name one file in it" if file.is_dir() else error.strerror
        named = f" that {named_by} names in `policies.file`" if named_by is not None else ""
        reason = f"cannot read the {kind}{named}: {what}"
        raise TaskError(source=file, path="$", reason=reason) from error
    except RecursionError as error:
        raise _too_deep(file) from error
    except (msgspec.DecodeError, ValueError) as error:
        found = kind_of_bytes(data[:HEAD])
        what = words_of(error) if found in _WRITTEN else f"found {found}; a {kind} is YAML, TOML or JSON"
        reason = f"not a {kind}: {what}"
        raise TaskError(source=file, path="$", reason=reason) from error
    if is_nested_deeper(plain, NEST_MAX):
        raise _too_deep(file)
    _refuse_odd_values(plain, file)
    return plain


_WRITTEN = ("a JSON file", "a text file", "a task file", "a policy file", "settings of a judge")
"""Kinds of files that people write: what is wrong with one stands in the words of its parser."""


def _too_deep(file: Path) -> TaskError:
    return TaskError(source=file, path="$", reason=f"nested deeper than {NEST_MAX} levels")


# Parsers are loaded for files only: a bundle holds its task, and they take longer to load than it to grade.
def _toml(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def _json(text: str) -> Any:
    plain = decode_plain(text)
    # The parser keeps the last of two fields with one name. Each colon outside of texts is a field, so most
    # files need no second parser, which would have to be loaded.
    if _STRING.sub("", text).count(":") != _fields_in(plain):
        decode_as_python(text, object_pairs_hook=_with_each_key_once)
    return plain


_STRING = lazy_pattern(r'"(?:[^"\\]|\\.)*"')


def _fields_in(plain: Any) -> int:
    count, stack = 0, [plain]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            count += len(value)
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return count


def _json_lines(text: str) -> Any:
    return [_json(line) for line in text.split("\n") if line.strip()]


def _by_start(text: str) -> Any:
    """Read a file whose name says nothing of its form, such as a pipe."""
    return _json(text) if text.lstrip()[:1] in ("{", "[") else parsed_yaml(text)


def _with_each_key_once(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"one object has the field {twice!r:.80} twice: leave one of them out")


_PARSERS: dict[str, Callable[[str], Any]] = {
    ".yaml": parsed_yaml,
    ".yml": parsed_yaml,
    ".toml": _toml,
    ".json": _json,
    ".jsonl": _json_lines,
}


def _refuse_odd_values(plain: Any, file: Path) -> None:
    seen, stack = 0, [plain]
    while stack:
        value = stack.pop()
        seen += 1
        if seen > VALUES_MAX:
            raise TaskError(source=file, path="$", reason=f"more than {VALUES_MAX} values")
        if isinstance(value, dict):
            stack += [*value, *value.values()]
        elif isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, str) and not _is_text(value):
            raise TaskError(
                source=file, path="$", reason=f"{value!r:.80} holds half a character (a surrogate)"
            )


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _recognise(plain: Any, file: Path, within: str | Path | None) -> tuple[Suite, list[FieldFault]]:
    if isinstance(plain, dict) and ("schema" in plain or isinstance(plain.get("tasks"), list)):
        tables = mind2web_records(plain)
        if "schema" in plain or not tables:
            return _suite(plain, file, within)
    if isinstance(plain, dict) and {"id", "intent"} <= plain.keys():
        return _one_task(plain, file)
    suite = Suite(tasks=tuple(_public(plain, file)))
    return suite, _duplicates(suite.tasks)


def _one_task(plain: dict[str, Any], file: Path) -> tuple[Suite, list[FieldFault]]:
    task, wrong = read_fields(plain, Task)
    if task is None:
        raise _error(file, wrong)
    wrong += _policy_faults(task.policies, "$.policies")
    if task.policies or len(task.checks) > 1:
        from replaykit.tasks.faults.suite_faults import task_faults  # for tasks that may have such

        wrong += [FieldFault(f"${path}", reason) for path, reason in task_faults(task)]
    return Suite(tasks=(task,)), wrong


def _public(plain: Any, file: Path) -> list[Task]:
    """Read a task file of a benchmark, recognised by its fields."""
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
    reason = f"unknown layout, {kind_of(file)}: {expected}"
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
    shared_faults = _policy_faults(shared["policies"], "$.policies")
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


def _shared(written: SuiteFile, file: Path, within: str | Path | None) -> dict[str, Any]:
    policies = written.policies
    if isinstance(policies, PolicyRef):
        named = file.parent / policies.file
        if within is not None and not named.resolve().is_relative_to(Path(within).resolve()):
            raise TaskError(source=file, path="$.policies.file", reason=f"it lies outside of {within}")
        policies = _policies(named, file)
    names = ("mode", "dialect", "compose", "require_reason", "require_proof", "judge")
    stated = {name: getattr(written, name) for name in names}
    return {"policies": policies, **{name: value for name, value in stated.items() if value is not None}}


def load_policies(path: str | Path) -> tuple[Policy, ...]:
    """Read the policies of a policy file. Raises TaskError with the path of the faulty field.

    Example:
        for policy in replaykit.load_policies("policies.yaml"):
            print(policy.id, policy.dimension)
    """
    return _policies(Path(path))


def _policies(path: Path, named_by: Path | None = None) -> tuple[Policy, ...]:
    plain = _parse(path, "policy file", named_by)
    if isinstance(plain, list):
        reason = f"a list; name it `policies:` below a first line `schema: {POLICIES}`"
        raise _error(path, [FieldFault("$", reason)])
    if isinstance(plain, dict) and (missing := _layout_faults(plain, path, POLICIES)):
        raise _error(path, missing)
    written, wrong = read_fields(plain, PolicyFile)
    wrong += () if written is None else _policy_faults(written.policies, "$.policies")
    if written is not None and not plain.get("policies"):
        wrong.append(FieldFault("$.policies", "it has no policies: nothing can be graded with it"))
    if written is None or wrong:
        raise _error(path, wrong)
    return written.policies


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
