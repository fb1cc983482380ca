"""The workflow of .github/workflows: it tests every version that the project names, by scripts that exist."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from _pytest.mark.expression import Expression

from replaykit.errors import DriverTooOld

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LATEST = (3, 14)
"""The newest Python that is tested."""


def loaded(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def versions() -> list[str]:
    matrix: list[str] = loaded(ROOT / ".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"][
        "python"
    ]
    return matrix


def test_every_version_from_the_oldest_to_the_latest_is_tested() -> None:
    oldest = re.fullmatch(r">=3\.(\d+)", PROJECT["requires-python"])
    assert oldest is not None
    assert versions() == [f"3.{minor}" for minor in range(int(oldest[1]), LATEST[1] + 1)]


def test_every_version_that_the_package_names_is_tested() -> None:
    named = re.findall(r"Programming Language :: Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named
    assert set(named) <= set(versions())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: str(path.name))
def test_a_workflow_runs_scripts_that_exist_and_may_only_read(path: Path) -> None:
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    scripts = [step["run"].split()[1] for step in steps if "run" in step]
    assert scripts
    assert [name for name in scripts if not (ROOT / name).is_file()] == []


def test_the_lowest_playwright_that_is_admitted_is_tested_with_the_newest() -> None:
    (admitted,) = PROJECT["optional-dependencies"]["browser"]
    floor = re.fullmatch(r"playwright>=(\d+\.\d+)", admitted)
    assert floor is not None
    lock = (ROOT / "tests" / "lowest.lock").read_text("utf-8")
    assert lock.startswith(f"playwright=={floor[1]}.")
    assert f"playwright {floor[1]} or newer" in DriverTooOld.hint
    job = loaded(ROOT / ".github/workflows/ci.yml")["jobs"]["lowest"]
    assert "sh .ci/lowest" in [step.get("run") for step in job["steps"]]
    named = re.findall(r"tests/live/\w+\.py", (ROOT / ".ci" / "lowest").read_text("utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(("package", "extra"), [("anthropic", "judge"), ("mcp", "mcp"), ("rich", None)])
def test_other_lowest_releases_are_tested_without_a_browser(package: str, extra: str | None) -> None:
    needs = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    (floor,) = [found[1] for need in needs if (found := re.fullmatch(rf"{package}>=([\d.]+)", need))]
    lock = (ROOT / "tests" / "lowest-offline.lock").read_text("utf-8")
    tested = re.search(rf"^{package}==([\d.]+)", lock, flags=re.M)
    assert tested is not None
    assert tested[1].removesuffix(".0").removesuffix(".0") == floor
    assert re.search(rf"for package in .*\b{package}\b", (ROOT / ".ci" / "lowest").read_text("utf-8"))


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize("thorough", [False, True])
def test_ci_runs_every_test_once_and_a_change_has_to_pass_all_but_the_thorough(
    live: bool, thorough: bool
) -> None:
    asked = {
        name: re.findall(r'-m "([\w ]+)" \|\|', (ROOT / ".ci" / name).read_text("utf-8"))
        for name in ("test", "thorough")
    }
    marks = {"live": live, "thorough": thorough}
    runs = {
        name: sum(bool(Expression.compile(one).evaluate(lambda mark, **_: marks[mark])) for one in found)
        for name, found in asked.items()
    }
    assert runs == {"test": not thorough, "thorough": thorough}
    asked_of_ci = [
        step.get("run") for job in ("test", "thorough") for step in jobs_of("ci.yml")[job]["steps"]
    ]
    assert {"bash .ci/run", "sh .ci/thorough"} <= set(asked_of_ci)
    assert '/test"' in (ROOT / ".ci" / "run").read_text("utf-8")


def jobs_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = loaded(ROOT / ".github/workflows" / name)["jobs"]
    return found


def test_the_site_is_built_in_ci_and_published_after_the_package() -> None:
    runs = [step.get("run") for name in ("ci.yml", "release.yml") for step in jobs_of(name)["site"]["steps"]]
    assert runs.count("sh .ci/site") == 2
    release = jobs_of("release.yml")
    assert "site" in release["publish"]["needs"]
    assert release["publish-site"]["needs"] == "publish"


def test_images_are_published_with_their_contents_after_the_package(tmp_path: Path) -> None:
    job = jobs_of("release.yml")["publish-images"]
    assert job["needs"] == "publish"
    (step,) = [step for step in job["steps"] if "run" in step]
    log, docker = tmp_path / "log", tmp_path / "docker"
    docker.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >>{log}\n')
    docker.chmod(0o755)
    known = {"REPOSITORY": "owner/name", "REGISTRY_USER": "ada", "REGISTRY_TOKEN": "token-of-ada"}
    assert set(step["env"]) == set(known)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-ec", step["run"]], cwd=ROOT, env={**known, **path}, check=True)
    login, create, *builds = log.read_text().splitlines()
    assert (login.split()[:2], create.split()[:2]) == (["login", "ghcr.io"], ["buildx", "create"])
    assert re.findall(r"-t \S+:[\d.]+-(\w+) ", "\n".join(builds)) == ["grade", "record"]
    assert all("--sbom=true --provenance=mode=max --push" in line for line in builds)
    assert "token-of-ada" not in log.read_text()


@pytest.mark.parametrize("arguments", [["publish"], ["publish", "ghcr.io/a/b"], ["other"]])
def test_images_are_not_published_without_a_name_and_an_account(arguments: list[str]) -> None:
    done = subprocess.run(
        ["sh", ".ci/images", *arguments], cwd=ROOT, env={"PATH": os.environ["PATH"]},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and done.stderr.startswith("usage: ")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: str(path.name))
def test_only_jobs_that_publish_may_do_more_than_read(path: Path) -> None:
    more = [name for name, job in loaded(path)["jobs"].items() if "permissions" in job]
    assert [name for name in more if not name.startswith("publish")] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: str(path.name))
def test_every_action_is_pinned_by_its_commit(path: Path) -> None:
    steps = [step for job in loaded(path)["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert [name for name in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name)] == []
