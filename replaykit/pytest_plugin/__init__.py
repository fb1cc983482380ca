"""The pytest plugin: bundles with a stored verdict are tests, and tests grade and record bundles.

Every `*.zst` with its `*.verdict.json` beside it is collected as one test: graded again, the verdict has to
be the stored one. Nothing but pytest is loaded until a bundle is met; the recorder only by `record_page`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replaykit.errors import ReplaykitError

if TYPE_CHECKING:
    from replaykit.grading.verdict import Verdict
    from replaykit.recorder.recorder import Recorder
    from replaykit.tasks.task import Task

JUDGE_MODES = ("none", "new", "refresh", "off")
"""As of `replaykit grade`."""

FAIL_ON = ("success", "check", "policy")
"""Kinds of results that fail a test, as of `replaykit grade`."""

_WRITTEN = pytest.StashKey[list[str]]()
_BARE = pytest.StashKey[list[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options."""
    group = parser.getgroup("replaykit")
    group.addoption(
        "--replaykit-update",
        action="store_true",
        help="write the verdict of every bundle met beside it, instead of comparing them",
    )
    group.addoption(
        "--replaykit-judge-mode",
        choices=JUDGE_MODES,
        default="none",
        help="whether judges may ask models; none (default): replies come from the tape only",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Begin the list of what is written."""
    config.stash[_WRITTEN] = []
    config.stash[_BARE] = []


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a bundle that has a stored verdict, or is to get one."""
    if file_path.suffix != ".zst":
        return None
    if not parent.config.getoption("replaykit_update") and not verdict_path(file_path).exists():
        parent.config.stash[_BARE].append(file_path)
        return None
    return BundleFile.from_parent(parent, path=file_path)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Name the verdicts that were written, and the bundles that were no test for want of one."""
    bare = config.stash[_BARE]
    if bare:
        first = bare[0].name
        terminalreporter.write_sep("=", "replaykit: bundles without a stored verdict")
        terminalreporter.write_line(
            f"{len(bare)} not tested, such as {first}: it has no {verdict_path(bare[0]).name} beside it."
        )
        terminalreporter.write_line("Store verdicts with `pytest FOLDER --replaykit-update`; look at them.")
    written = config.stash[_WRITTEN]
    if written:
        terminalreporter.write_sep("=", "replaykit: verdicts written, look at what changed")
        for path in written:
            terminalreporter.write_line(path)


def verdict_path(bundle: Path) -> Path:
    """Return where the stored verdict of a bundle lies: `run.zst` has `run.verdict.json`."""
    return bundle.with_suffix(".verdict.json")


class BundleFile(pytest.File):
    """A bundle."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield the one test of a bundle."""
        yield BundleItem.from_parent(self, name="verdict")


class BundleItem(pytest.Item):
    """The comparison of a bundle's verdict with the stored one."""

    def runtest(self) -> None:
        """Grade the bundle against the task that it holds."""
        from replaykit.pytest_plugin.grading_fixture import graded

        verdict = graded(self.path, judge_mode=self.config.getoption("replaykit_judge_mode"))
        _hold(verdict, verdict_path(self.path), self.config)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return what is wrong with the bundle, without a traceback through the plugin."""
        if isinstance(excinfo.value, ReplaykitError):
            return excinfo.value.message
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the bundle and its name for the report."""
        return self.path, None, self.path.name


GradeBundle = Callable[..., "Verdict"]
"""Type of the fixture `grade_bundle`."""

RecordPage = Callable[..., AbstractContextManager["Recorder"]]
"""Type of the fixture `record_page`."""


@pytest.fixture
def grade_bundle(request: pytest.FixtureRequest) -> GradeBundle:
    """Grade a bundle and fail the test, with reason and evidence, where the run did not do its task.

    `grade_bundle(path, task=None, *, fail_on=FAIL_ON, stored=False, **options)` returns the Verdict. `path`
    and `task` (a `Task`, or `FILE#ID`) are found from the test's own folder; `options` are those of
    `replaykit.grade`. With `stored=True` the verdict has to be the one stored beside the bundle,
    whatever its outcome; `--replaykit-update` writes it. Raises BundleError, TaskError.
    """
    config, folder = request.config, request.path.parent

    def grade(
        path: str | Path,
        task: Task | str | Path | None = None,
        *,
        fail_on: Iterable[str] = FAIL_ON,
        stored: bool = False,
        **options: Any,
    ) -> Verdict:
        from replaykit.pytest_plugin.grading_fixture import graded

        place = folder / path
        options.setdefault("judge_mode", config.getoption("replaykit_judge_mode"))
        verdict = graded(place, _found(task, folder), **options)
        if stored:
            _hold(verdict, verdict_path(place), config)
        else:
            _pass(verdict, place, fail_on)
        return verdict

    return grade


@pytest.fixture
def record_page(request: pytest.FixtureRequest, tmp_path: Path, grade_bundle: GradeBundle) -> RecordPage:
    """Record a Playwright page of the sync API into a bundle, and grade it once the block is over.

    `with record_page(page, task, *, path=None, fail_on=FAIL_ON, **options) as run:` gives the Recorder;
    `options` are its own (`sites`, `user`, `secrets` ...). `task`: a `Task`, or `FILE#ID` from the
    test's own folder. The bundle is `run.path`, by default `<task id>.zst` in `tmp_path`. Where the block
    itself fails, that is the failure of the test, and the bundle ends with it.
    Raises RecorderError, TaskError.
    """
    folder = request.path.parent

    @contextmanager
    def record(
        page: Any,
        task: Task | str | Path,
        *,
        path: str | Path | None = None,
        fail_on: Iterable[str] = FAIL_ON,
        **options: Any,
    ) -> Iterator[Recorder]:
        from replaykit.pytest_plugin.recorder_fixture import recorder

        with recorder(_found(task, folder), tmp_path, path, options) as run:
            run.attach(page)
            yield run
        grade_bundle(run.path, fail_on=fail_on)

    return record


def _found(task: Any, folder: Path) -> Any:
    return folder / task if isinstance(task, str | Path) else task


def _hold(verdict: Verdict, path: Path, config: pytest.Config) -> None:
    """Write the verdict or compare it with the stored one."""
    from replaykit.pytest_plugin.verdict_files import compare_stored, store

    if not config.getoption("replaykit_update"):
        difference = compare_stored(verdict, path)
        if difference is not None:
            pytest.fail(difference, pytrace=False)
    elif store(verdict, path):
        config.stash[_WRITTEN].append(str(path))


def _pass(verdict: Verdict, path: Path, fail_on: Iterable[str]) -> None:
    from replaykit.pytest_plugin.grading_fixture import why_not

    reason = why_not(verdict, path, fail_on)
    if reason is not None:
        pytest.fail(reason, pytrace=False)
