"""The executor on Ray's interface, of which something stands in: tests/grading/workers/test_clusters.py has Ray itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import replaykit
from replaykit.errors import MissingExtra
from replaykit.report.json_report import as_json
from replaykit.testing import trajectory
from tests.grading.workers.stand_in import Ray


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    module = Ray()
    monkeypatch.setitem(sys.modules, "ray", module)
    return module


def test_the_report_is_that_of_any_other_way(ray: Ray, tmp_path: Path) -> None:
    task = {"intent": "Which?", "checks": [{"type": "string_match", "exact": "tin"}]}
    paths = [trajectory({**task, "id": f"t{n}"}).answer("tin").write(tmp_path / f"{n}.zst") for n in range(4)]
    with replaykit.RayExecutor(address="auto") as executor:
        assert ray.options == {"address": "auto"}
        report = replaykit.grade_many(paths, executor=executor)
    assert as_json(report) == as_json(replaykit.grade_many(paths))
    assert len(ray.runs) == 1, "a function is made remote once"
    assert not ray.is_initialized()


def test_a_connection_of_somebody_else_stays(ray: Ray) -> None:
    ray.init()
    with replaykit.RayExecutor(address="auto") as executor:
        assert executor.submit(int, "7").result() == 7
    assert ray.options == {}
    ray.shutdown()


def test_without_the_extra_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match="grading on Ray needs the package 'ray'") as caught:
        replaykit.RayExecutor()
    assert "replaykit-web[ray]" in caught.value.message
