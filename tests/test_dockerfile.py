"""docs/Dockerfile read as text: what it copies is there, what it installs is what the project needs.

No image is built here: that takes a container engine and a registry, and is what .ci/images does.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from replaykit.cli.command_groups import COMMANDS
from replaykit.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "Dockerfile").read_text("utf-8")
LINES = [line for line in TEXT.splitlines() if line and not line.startswith("#")]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
SETUP = (ROOT / ".ci" / "setup").read_text("utf-8")
EXAMPLES = re.findall(r"^#   (docker .*)$", TEXT, flags=re.M)


def values_of(instruction: str) -> list[str]:
    return [line.partition(" ")[2] for line in LINES if line.startswith(f"{instruction} ")]


def copied() -> list[str]:
    return [source for line in values_of("COPY") for source in line.split()[:-1]]


def pinned() -> dict[str, Version]:
    found = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==(\S+)", LOCK, flags=re.M)
    return {name.lower().replace("_", "-"): Version(version) for name, version in found}


def test_every_line_is_an_instruction() -> None:
    assert {line.split()[0] for line in LINES} == {
        "FROM", "ENV", "WORKDIR", "COPY", "RUN", "ENTRYPOINT", "CMD",
    }  # fmt: skip


def test_the_python_is_one_that_the_project_takes() -> None:
    first, second = values_of("FROM")
    found = re.fullmatch(r"python:(\d+\.\d+)-slim-trixie AS grade", first)
    assert found is not None and second == "grade AS record"
    assert Version(found[1]) in SpecifierSet(PROJECT["project"]["requires-python"])
    assert f"Programming Language :: Python :: {found[1]}" in PROJECT["project"]["classifiers"]


def test_what_the_package_is_built_from_is_copied() -> None:
    assert all((ROOT / name).exists() for name in copied())
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = [*wheel["packages"], *wheel["force-include"], "pyproject.toml"]
    needed += [PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]]
    assert {name.split("/")[0] for name in needed} <= set(copied())


def test_only_what_is_copied_is_sent_to_the_builder() -> None:
    rules = (ROOT / "docs" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    assert rules[1] == "*"
    assert sorted(rule[1:] for rule in rules if rule.startswith("!")) == sorted(copied())


def test_pip_installs_the_pinned_packages_and_they_are_enough() -> None:
    installs = [shlex.split(line) for line in values_of("RUN") if line.startswith("pip ")]
    assert [argv[:2] for argv in installs] == [["pip", "install"]] * 2
    assert installs[0][2:] == ["--require-hashes", "-r", "requirements.lock"]
    assert installs[1][2:] == ["--no-deps", "--no-build-isolation", "."]
    assert "--hash=sha256:" in LOCK
    extras = PROJECT["project"]["optional-dependencies"]
    versions = pinned()
    for text in (
        *PROJECT["project"]["dependencies"],
        *extras["browser"],
        *PROJECT["build-system"]["requires"],
    ):
        wanted = Requirement(text)
        assert versions[wanted.name.lower()] in wanted.specifier, text


def test_the_distribution_s_packages_are_those_of_the_set_up() -> None:
    (line,) = [line for line in values_of("RUN") if line.startswith("apt-get ")]
    update, install, clean = [shlex.split(part) for part in line.split("&&")]
    assert update == ["apt-get", "update"]
    assert install[:4] == ["apt-get", "install", "-y", "--no-install-recommends"]
    assert install[4:] == ["chromium", "libatomic1"]
    assert all(re.search(rf"\becho {name}\b", SETUP) for name in install[4:])
    assert clean == ["rm", "-rf", "/var/lib/apt/lists/*"]
    assert "REPLAYKIT_BROWSER=/usr/bin/chromium" in values_of("ENV")


def test_the_entry_point_is_the_project_s_command() -> None:
    (entry,), (arguments,) = values_of("ENTRYPOINT"), values_of("CMD")
    assert json.loads(entry) == [next(iter(PROJECT["project"]["scripts"]))]
    assert json.loads(arguments) == ["--help"]


@pytest.mark.parametrize("example", [line for line in EXAMPLES if " run " in line])
def test_the_examples_are_commands_with_options_that_exist(example: str) -> None:
    words = shlex.split(example)
    place = next(at for at, word in enumerate(words) if word.startswith("replaykit:"))
    command, *rest = words[place + 1 :]
    assert words[place].partition(":")[2] == command
    assert command in COMMANDS
    help = CliRunner().invoke(cli, [command, "--help"]).output
    assert all(re.search(rf"(^|\s|,){re.escape(word)}\b", help) for word in rest if word.startswith("-"))


def test_the_examples_build_both_targets() -> None:
    builds = [shlex.split(line) for line in EXAMPLES if line.startswith("docker build")]
    targets = [argv[argv.index("--target") + 1] for argv in builds]
    assert targets == [line.rpartition(" AS ")[2] for line in values_of("FROM")]
    assert all(argv[argv.index("-f") + 1] == "docs/Dockerfile" for argv in builds)
