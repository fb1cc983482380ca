"""Task folders of Harbor from WebVoyager's task files: whole, the same every time, nothing fetched."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.decoders import decode, decode_plain
from replaykit.errors import BundleWriteError, TaskError, UnknownTask, UsageError
from replaykit.file_types import read_whole
from replaykit.interop.harbor.single_file_verifier import NAME, verifier
from replaykit.interop.toml_text import toml_text

COMMIT = "091544539eba485dbd74ef3742011ddeede37336"
"""Revision of https://github.com/MinorJerry/WebVoyager that the digests below are of."""

PINNED = {
    "69b19fd86c23f1a500244a3724e039aa7ca6a1223d03e11eb10e308d4f11c488": "WebVoyager_data.jsonl",
    "3b801188b17cb07d909dee66edffd1500759bc9faed107d6f3475a853b6fdbf3": "GAIA_web.jsonl",
}
"""sha256 of the task files to their names."""

REFERENCES = "reference_answer.json"
REFERENCES_DIGEST = "5473818408d8a19960c4f820c1e5721d218b87b547499d7281c2a0fc4267b0c4"
"""Reference answers beside the task file; for people, in `task.toml` only."""

FILE_MAX = 64 * 2**20
"""Bytes of a task file."""

VIEWPORT = (1280, 1024)
"""CSS px of the browser that the tasks ask for."""


class HarborOptions(Struct, frozen=True, kw_only=True):
    """Which tasks, and how their folders are written."""

    limit: int | None = None
    """First so many of them; None = all."""
    ids: tuple[str, ...] = ()
    """Raw ids, slugs or folder names; empty = all."""
    overwrite: bool = False
    """Replace folders that exist."""
    is_unpinned: bool = False
    """Take a file of another digest, and say so in every task."""
    has_kernel: bool = False
    """Write `environment/kernel.json` too."""
    has_verifier: bool = False
    """Put the verifier into every task, for images without replaykit."""


class Reference(Struct, frozen=True, kw_only=True):
    """A reference answer."""

    kind: str
    """`golden` or `possible`."""
    answer: str
    """In words."""


class WebTask(Struct, frozen=True, kw_only=True):
    """One task."""

    id: str
    """As in the file."""
    question: str
    """The question to the agent."""
    site: str
    """Name of the site."""
    start_url: str
    """Where it begins."""
    source: str
    """File and revision that it is from."""
    reference: Reference | None = None
    """Never shown to an agent or a judge."""

    @property
    def slug(self) -> str:
        """Name in folders: lower-case, blanks and other characters as `-`."""
        return re.sub(r"[^a-z0-9._-]+", "-", self.id.lower()).strip("-.") or "task"

    @property
    def folder(self) -> str:
        """Name of its folder."""
        return f"webvoyager-{self.slug}"


def generate(file: Path, target: Path, wanted: HarborOptions) -> tuple[list[Path], list[Path]]:
    """Write a folder for each task; return those written and those that were there and stay.

    Raises TaskError for a file that is not the pinned one or no task file, and where two tasks would have
    one folder; UnknownTask, UsageError. Nothing is written then.
    """
    if wanted.limit is not None and wanted.limit < 0:
        raise UsageError(what=f"--limit {wanted.limit}: expected 0 or more")
    written, kept = [], []
    tasks = chosen(read_tasks(file, is_unpinned=wanted.is_unpinned), wanted, file)
    # Before anything is written: half a set of folders helps no one.
    _check_folders(tasks, file)
    own = {f"tests/{NAME}": verifier()} if wanted.has_verifier else {}  # built once
    for task in tasks:
        folder = target / task.folder
        if os.path.lexists(folder) and not wanted.overwrite:
            kept.append(folder)
            continue
        _write(folder, {**files_of(task, has_kernel=wanted.has_kernel), **own})
        written.append(folder)
    return written, kept


def read_tasks(file: Path, *, is_unpinned: bool = False) -> list[WebTask]:
    """Return the tasks of WebVoyager's or GAIA's file, with the references that lie beside it."""
    data = _bytes(file)
    digest = hashlib.sha256(data).hexdigest()
    # Results on a changed file cannot be compared with published ones.
    if digest not in PINNED and not is_unpinned:
        reason = (
            f"sha256 {digest} is not one of the pinned files of commit {COMMIT[:7]}: take it with --unpinned"
        )
        raise TaskError(source=file, path="$", reason=reason)
    source = f"{PINNED[digest]}@{COMMIT[:7]}" if digest in PINNED else f"unpinned sha256:{digest}"
    references = _references(file.with_name(REFERENCES), is_unpinned=is_unpinned)
    lines = [line for line in data.split(b"\n") if line.strip()]
    return [_task(file, number, line, source, references) for number, line in enumerate(lines, 1)]


def chosen(tasks: list[WebTask], wanted: HarborOptions, file: Path) -> list[WebTask]:
    """Return the tasks asked for, by raw id, slug or folder name, in file order."""
    if wanted.ids:
        ids = {task.id for name in wanted.ids for task in _named(tasks, name, file)}
        tasks = [task for task in tasks if task.id in ids]
    return tasks if wanted.limit is None else tasks[: wanted.limit]


def _named(tasks: list[WebTask], name: str, file: Path) -> list[WebTask]:
    """Return the tasks of a raw id; of a slug or folder name where no task has that id."""
    # A raw id may equal the slug of another task.
    exact = [task for task in tasks if task.id == name]
    found = exact or [task for task in tasks if name in (task.slug, task.folder)]
    if not found:
        known = ", ".join(task.id for task in tasks[:12])
        raise UnknownTask(source=file, id=name, known=known)
    return found


def _check_folders(tasks: list[WebTask], file: Path) -> None:
    """Raise TaskError where two tasks would be written to one folder, naming both."""
    first: dict[str, WebTask] = {}
    for task in tasks:
        other = first.setdefault(task.folder, task)
        if other is not task:
            both = f"{other.id!r} twice" if other.id == task.id else f"{other.id!r} and {task.id!r}"
            reason = f"{both}: one folder, {task.folder}; rename one, or leave it out with --task-ids"
            raise TaskError(source=file, path="id", reason=reason)


def files_of(task: WebTask, *, has_kernel: bool = False) -> dict[str, bytes]:
    """Return relative name to content of a task's folder."""
    found = {
        "instruction.md": f"{task.question}\n\n"
        f"Start at {task.start_url}. Use only the browser.\n"
        "Your last message is your answer: say in it what was asked for.\n",
        "task.toml": _toml(task),
        # Without the reference answer: a judge must not see it.
        "tests/ground_truth.json": json.dumps({"id": task.id, "task": task.question}, ensure_ascii=False)
        + "\n",
        "tests/test.sh": TEST,
    }
    if has_kernel:
        width, height = VIEWPORT
        plain = {"start_url": task.start_url, "stealth": True, "viewport": {"width": width, "height": height}}
        found["environment/kernel.json"] = json.dumps(plain) + "\n"
    if task.reference is not None:
        found["solution/solve.sh"] = _solution(task.reference.answer)
    return {name: text.encode() for name, text in found.items()}


TEST = """#!/bin/sh
# Judges what the agent left in /logs/agent and writes the reward to /logs/verifier.
mkdir -p /logs/verifier
if command -v replaykit >/dev/null 2>&1; then
    verifier="replaykit"
else
    verifier="python3 /tests/replaykit-verifier.pyz"
fi
$verifier harbor verify --judge-model "${JUDGE_MODEL:-claude-sonnet-5-5}" --max-images "${MAX_IMAGES:-15}"
if [ ! -s /logs/verifier/reward.txt ]; then
    echo 0 > /logs/verifier/reward.txt
fi
"""
"""Runs the verifier; the reward is never empty."""


def _solution(answer: str) -> str:
    """Return what Harbor's oracle agent runs: no other agent and no judge is given this folder."""
    quoted = shlex.quote(answer.replace("\0", ""))
    return (
        "#!/bin/sh\n"
        "# Answers with the reference, without a browser: it tries the verifier, not the site.\n"
        f"mkdir -p /logs/agent && printf '%s\\n' {quoted} > /logs/agent/answer.txt\n"
    )


def _toml(task: WebTask) -> str:
    reference = task.reference
    metadata = {
        "difficulty": "medium",
        "category": "web-navigation",
        "source": task.source,
        "web_name": task.site,
        "start_url": task.start_url,
        "reference_answer": reference.answer if reference is not None else "",
        "reference_type": reference.kind if reference is not None else "none",
    }
    lines = ['schema_version = "1.0"', "", "[task]"]
    lines += [
        f"name = {toml_text('webvoyager/webvoyager__' + task.slug)}",
        f'keywords = ["web", "webvoyager", {toml_text(task.site.lower())}]',
    ]
    lines += ["", "[metadata]", *(f"{name} = {toml_text(value)}" for name, value in metadata.items())]
    lines += ["", "[verifier]", "timeout_sec = 600.0", "", "[verifier.env]"]
    # Harbor fills these in from its own environment: no key is in a file.
    lines += [f'{name} = "${{{name}}}"' for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")]
    lines += ['JUDGE_MODEL = "${WEBVOYAGER_JUDGE_MODEL:-claude-sonnet-5-5}"']
    lines += ['MAX_IMAGES = "${WEBVOYAGER_MAX_IMAGES:-15}"']
    lines += ["", "[agent]", "timeout_sec = 1800.0", "", "[environment]", "build_timeout_sec = 600.0"]
    lines += ["cpus = 1", "memory_mb = 2048", "storage_mb = 10240"]
    return "\n".join(lines) + "\n"


def _task(
    file: Path, number: int, line: bytes, source: str, references: Mapping[tuple[str, int], Reference]
) -> WebTask:
    try:
        plain = decode_plain(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise TaskError(source=file, path=f"line {number}", reason=f"not JSON: {error}") from error
    plain = plain if isinstance(plain, dict) else {}
    id = plain.get("id") if "web_name" in plain else plain.get("task_id")
    values = [id, plain.get("ques"), plain.get("web")]
    if not all(isinstance(value, str) and value for value in values):
        raise TaskError(source=file, path=f"line {number}", reason="expected texts in id, ques and web")
    site = str(plain.get("web_name", "GAIA"))
    final = plain.get("Final answer")
    own = Reference(kind="golden", answer=final) if isinstance(final, str) else None
    return WebTask(
        id=str(id),
        question=str(plain["ques"]).strip(),
        site=site,
        start_url=str(plain["web"]),
        source=source,
        reference=own or references.get(_place(str(id), site)),
    )


def _place(id: str, site: str) -> tuple[str, int]:
    number = id.rpartition("--")[2]
    return (site, int(number) if number.isdecimal() and len(number) < 10 else -1)


def _references(file: Path, *, is_unpinned: bool) -> dict[tuple[str, int], Reference]:
    if not file.is_file():
        return {}
    data = _bytes(file)
    if hashlib.sha256(data).hexdigest() != REFERENCES_DIGEST and not is_unpinned:
        raise TaskError(source=file, path="$", reason="not the pinned file: take it with --unpinned")
    try:
        plain = decode(data, dict[str, dict[str, Any]])
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise TaskError(source=file, path="$", reason=f"not reference answers: {error}") from error
    return {
        (site, one["id"]): Reference(kind=str(one.get("type", "")), answer=str(one.get("ans", "")))
        for site, answers in plain.items()
        for one in _records(answers.get("answers"))
        if isinstance(one.get("id"), int)
    }


def _records(value: Any) -> Iterable[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _bytes(file: Path) -> bytes:
    try:
        return read_whole(file, FILE_MAX)
    except OSError as error:
        reason = f"cannot read the task file: {error.strerror}"
        raise TaskError(source=file, path="$", reason=reason) from error


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder whole or not at all."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target: a rename works only within one file system.
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as place:
            made = Path(place) / "task"
            for name, data in files.items():
                file = made / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(data)
                # Independent of the umask, so that equal tasks have equal folders.
                file.chmod(0o755 if name.endswith((".sh", ".pyz")) else 0o644)
            # `rmtree` refuses links, and must not empty what they lead to.
            if folder.is_symlink() or folder.is_file():
                folder.unlink()
            elif folder.exists():
                shutil.rmtree(folder)
            made.replace(folder)
    except OSError as error:
        raise BundleWriteError(
            source=str(folder), operation="write the task", reason=error.strerror or str(error)
        ) from error
