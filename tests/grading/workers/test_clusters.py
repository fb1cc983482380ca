"""Dask and Ray, each with a real local cluster: the report of any other way of grading."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import pytest

from replaykit.grading.engine import grade_many
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.workers.executors import Foreign
from replaykit.report.json_report import as_json
from replaykit.testing import trajectory
from tests.grading.workers.dying_work import outcomes, stand_in

TASK = {"intent": "Which?", "checks": [{"type": "string_match", "exact": "tin"}]}


@pytest.fixture
def bundles(tmp_path: Path) -> list[Path]:
    paths = [
        trajectory({**TASK, "id": f"t{n}"})
        .goto("http://a.test/")
        .answer("tin" if n % 3 else "clay")
        .write(tmp_path / f"{n}.zst")
        for n in range(20)
    ]
    (tmp_path / "bad.zst").write_bytes(b"no bundle")
    return [*paths, tmp_path / "bad.zst"]


def test_dask(bundles: list[Path]) -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = grade_many(bundles, executor=client.get_executor())
    assert as_json(found) == as_json(grade_many(bundles))


DYING = ["a", "dies", "b", "dies-once", "c"]
SURVIVED = {name: "WorkerDied" if name == "dies" else "graded" for name in DYING}
"""Outcomes by `stand_in`, which ends its process for some."""


def test_a_bundle_that_ends_its_worker_on_dask_is_one_error() -> None:
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    dask = pytest.importorskip("dask")
    with (
        # A task is lost with its first worker: what the scheduler tries again by itself is not our matter. No task
        # waits at a worker, where it would be lost with the one that ends it.
        dask.config.set(
            {"distributed.scheduler.allowed-failures": 0, "distributed.scheduler.worker-saturation": 1.0}
        ),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = outcomes(Foreign(client.get_executor(), GradeOptions(), work=stand_in), DYING)
    assert found == SURVIVED


@pytest.fixture(scope="module")
def ray_executor() -> Iterator[Executor]:
    """Two workers for both tests: starting Ray takes longer than what it does here."""
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    from replaykit.grading.workers.ray_executor import RayExecutor

    with pytest.MonkeyPatch.context() as patched:
        # Else Ray puts a `print` of its own into `builtins`, where it would stay.
        patched.setenv("RAY_TQDM_PATCH_PRINT", "0")
        # A task is lost with its first worker: what Ray tries again by itself is not our matter.
        patched.setenv("RAY_TASK_MAX_RETRIES", "0")
        with RayExecutor(num_cpus=2, include_dashboard=False, log_to_driver=False) as executor:
            yield executor


# Ray's own threads end after the interpreter begins to; nothing of it is ours.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
def test_ray(bundles: list[Path], ray_executor: Executor) -> None:
    found = grade_many(bundles, executor=ray_executor)
    assert as_json(found) == as_json(grade_many(bundles))


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")
def test_a_bundle_that_ends_its_worker_on_ray_is_one_error(ray_executor: Executor) -> None:
    found = outcomes(Foreign(ray_executor, GradeOptions(), work=stand_in), DYING)
    assert found == SURVIVED
