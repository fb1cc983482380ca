"""The public face: sorted, complete, and cheap to import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import replaykit

TOOLS = ("inspect_ai", "anyio", "opentelemetry", "replaykit.integrations")
"""What integrations load, and they themselves."""

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

    told = replaykit.Recorder.__doc__ or ""
    assert not [name for name in Settings.__struct_fields__ if f" {name}" not in told]


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


def test_grading_one_bundle_loads_no_reader_of_files_nor_what_others_need() -> None:
    bundle = Path(__file__).parent.parent / "recordings" / "conformance" / "order-total--good.zst"
    code = f"from replaykit.cli.main import run; assert run(['grade', {str(bundle)!r}]) == 0"
    readers = ("yaml", "tomllib", "importlib.metadata", "html.parser", "xml.sax.saxutils")
    others = ("http.server", "concurrent.futures", "multiprocessing", "replaykit.report.html.report_file")
    graders = ("replaykit.grading.judges.tape.tape_player", "replaykit.grading.checks.requests.network_check")
    assert loaded_by(code, (*HEAVY, *readers, *others, *graders)) == set()


def test_who_hands_out_bundles_does_not_load_the_grader() -> None:
    folder = Path(__file__).parent.parent / "recordings" / "conformance"
    words = ["grade", str(folder), "--jobs", "2", "--fail-on", ""]
    code = f"from replaykit.cli.main import run; assert run({words!r}) == 0"
    grader = ("replaykit.grading.grader", "replaykit.replay.dom", "replaykit.bundle.reader")
    assert loaded_by(code, (*HEAVY, *grader)) == set()
