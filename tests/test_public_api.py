"""The public face: sorted, complete, and cheap to import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import replaykit
from replaykit import Task
from replaykit.testing import trajectory

TOOLS = ("inspect_ai", "anyio", "opentelemetry", "replaykit.integrations")
"""Modules that integrations load, and the integrations themselves."""

HEAVY = (
    "playwright",
    "anthropic",
    "openai",
    "PIL",
    "jinja2",
    "dask",
    "ray",
    "rich",
    "asyncio",
    "hypothesis",
    *TOOLS,
)


def loaded_by(code: str, watched: tuple[str, ...]) -> set[str]:
    probe = f"import sys\n{code}\nprint(*[m for m in {watched!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_all_names_are_sorted_and_there() -> None:
    assert replaykit.__all__ == sorted(replaykit.__all__)
    for name in replaykit.__all__:
        assert getattr(replaykit, name) is not None
    assert dir(replaykit) == sorted(replaykit.__all__)


def test_every_public_name_says_what_it_is() -> None:
    silent = [n for n in replaykit.__all__ if n != "__version__" and not getattr(replaykit, n).__doc__]
    assert not silent


def test_the_recorder_s_help_names_every_option() -> None:
    from replaykit.recorder.settings import Settings

    described = replaykit.Recorder.__doc__ or ""
    assert not [name for name in Settings.__struct_fields__ if f" {name}" not in described]


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(replaykit, "nonsense")


def test_the_version_is_the_distribution_s() -> None:
    from importlib.metadata import version

    assert replaykit.__version__ == version("replaykit-web")


def test_import_loads_nothing_heavy() -> None:
    watched = (*HEAVY, "msgspec", "zstandard", "click")
    assert loaded_by("import replaykit", watched) == set()


def test_a_worker_that_reads_the_main_module_again_loads_nothing_for_it() -> None:
    assert loaded_by("import replaykit.__main__", (*HEAVY, "click", "msgspec")) == set()


def test_options_are_offered_before_anything_that_grades_is_loaded() -> None:
    assert loaded_by("import replaykit.cli.grade.grade", (*HEAVY, "msgspec", "zstandard")) == set()


def test_help_loads_nothing_heavy() -> None:
    code = "from replaykit.cli.main import run; assert run(['--help']) == 0"
    assert loaded_by(code, (*HEAVY, "zstandard", "msgspec")) == set()


def test_grade_loads_neither_driver_nor_model_client() -> None:
    code = "from replaykit.cli.main import run; assert run(['grade', 'no-such-file.zst']) == 3"
    assert (
        loaded_by(code, ("playwright", "anthropic", "openai", "replaykit.recorder.session.session")) == set()
    )


PARSERS = ("yaml", "tomllib", "cssselect2", "tinycss2", "html", "html.parser", "xml.sax.saxutils", "dateutil")
NETWORK = ("http", "http.server", "http.client", "ssl", "socket", "email", "urllib.request")
PROCESSES = ("concurrent.futures", "multiprocessing", "subprocess", "asyncio", "logging", "zoneinfo")
FILES = ("tempfile", "shutil", "importlib.metadata", "importlib.resources", "random", "difflib", "json")
UNUSED = (
    "replaykit.grading.judges.judge_panel",
    "replaykit.grading.judges.model_judge",
    "replaykit.grading.judges.prompts",
    "replaykit.grading.judges.tape.tape_player",
    "replaykit.grading.policies",
    "replaykit.grading.checks.answer_text",
    "replaykit.grading.checks.pages.page_check",
    "replaykit.grading.checks.requests",
    "replaykit.grading.values.typed_comparison",
    "replaykit.grading.workers.chunks",
    "replaykit.grading.workers.shards",
    "replaykit.interop",
    "replaykit.recorder",
    "replaykit.replay.offline_page",
    "replaykit.replay.selectors.css",
    "replaykit.report.github",
    "replaykit.report.html",
    "replaykit.tasks.faults.check_faults",
    "replaykit.tasks.faults.policy_faults",
)
"""Modules that neither a check of an address nor its report uses."""

MODULES_MAX = 173
"""Modules of replaykit that the grading of an address loads."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Words that grade one run by its last address."""
    folder = tmp_path_factory.mktemp("plain")
    task = folder / "task.json"
    task.write_text(
        '{"id": "t", "intent": "Open it.", "checks": [{"type": "url_match", "url": "https://a.test/"}]}'
    )
    steps = trajectory("t").goto("https://a.test/", "<h1>A</h1>").click("#b", "<h1>B</h1>", tag="button")
    bundle = steps.final().end().write(folder / "run.zst")
    return ["grade", str(bundle), "--task", str(task), "--fail-on", ""]


def test_grading_an_address_loads_only_what_that_needs(plain: list[str]) -> None:
    code = f"from replaykit.cli.main import run; assert run({plain!r}) == 0"
    assert loaded_by(code, (*HEAVY, *PARSERS, *NETWORK, *PROCESSES, *FILES, *UNUSED)) == set()


def test_grading_an_address_loads_few_modules(plain: list[str]) -> None:
    code = f"from replaykit.cli.main import run; run({plain!r}); print(); print(sum(name.startswith('replaykit') for name in sys.modules))"
    probe = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}"], capture_output=True, text=True, check=True
    )
    assert int(probe.stdout.split()[-1]) < MODULES_MAX


def test_show_loads_what_it_shows(plain: list[str]) -> None:
    code = f"from replaykit.cli.main import run; assert run(['show', {plain[1]!r}]) == 0"
    graders = ("replaykit.grading.grader", "replaykit.grading.metrics", "replaykit.tasks.task", *UNUSED)
    assert loaded_by(code, (*HEAVY, *PARSERS, *NETWORK, *PROCESSES, *FILES, *graders)) == set()


def test_grading_one_bundle_loads_no_reader_of_files_nor_what_others_need() -> None:
    bundle = Path(__file__).parent.parent / "recordings" / "conformance" / "order-total--good.zst"
    code = f"from replaykit.cli.main import run; assert run(['grade', {str(bundle)!r}]) == 0"
    readers = ("yaml", "tomllib", "importlib.metadata", "html.parser", "xml.sax.saxutils", "zipfile")
    others = ("http.server", "concurrent.futures", "multiprocessing", "replaykit.report.html.report_file")
    graders = ("replaykit.grading.judges.tape.tape_player", "replaykit.grading.checks.requests.network_check")
    rules = ("tinycss2", "difflib", "html", "replaykit.grading.peers.stwebagentbench.peer_run")
    assert loaded_by(code, (*HEAVY, *readers, *others, *graders, *rules)) == set()


def test_annotations_of_events_and_tasks_are_no_texts() -> None:
    """msgspec compiles each annotation that is one: a thousand of them took a tenth of a start."""
    from replaykit.trajectory.step import Event, Header

    structs = set(_structs([Task, Header, *get_args(Event)]))
    texts = {f"{one.__name__}.{name}" for one in structs for name in _texts(one)}
    assert len(structs) > 60
    assert texts == {"Frame.frames", "Match.unless", "JudgeSettings.members"}  # each holds its own kind


def _structs(kinds: list[object]) -> Iterator[type[msgspec.Struct]]:
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            yield kind
            yield from _structs([*vars(kind).get("__annotations__", {}).values(), *kind.__mro__[1:-1]])
        else:
            yield from _structs(list(get_args(kind)))


def _texts(kind: type) -> list[str]:
    return [name for name, said in vars(kind).get("__annotations__", {}).items() if isinstance(said, str)]


def test_who_hands_out_bundles_does_not_load_the_grader() -> None:
    folder = Path(__file__).parent.parent / "recordings" / "conformance"
    words = ["grade", str(folder), "--jobs", "2", "--fail-on", ""]
    code = f"from replaykit.cli.main import run; assert run({words!r}) == 0"
    grader = ("replaykit.grading.grader", "replaykit.replay.dom", "replaykit.bundle.reader")
    assert loaded_by(code, (*HEAVY, *grader)) == set()
