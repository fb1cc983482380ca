"""A declared secret in the name of a file, a key, an id or a header of another tool's run is kept nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import ReplaykitError
from replaykit.interop.imported_run import Options
from replaykit.interop.run_import import import_run, import_runs
from replaykit.secrets.redactor import Redactor
from replaykit.trajectory.exchange import Rest
from tests.interop.conftest import Importing
from tests.interop.samples import SAMPLES, atif, write

SECRET = "Zq9-tulip-47kx"
OPTIONS = Options(secrets={"PW": SECRET})
FILES = (".json", ".jsonl", ".har")


def held(bundle: Bundle) -> bytes:
    return b"\n".join([*map(bytes, bundle.lines), *map(bundle.blob, bundle.blob_ids)])


@pytest.mark.parametrize("format", SAMPLES)
def test_names_of_files(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    named = path.rename(path.with_name(f"run-{SECRET}{''.join(path.suffixes) if path.is_file() else ''}"))
    (done,) = import_runs(format, [named], tmp_path / "out", options=OPTIONS)
    assert SECRET not in f"{done}"
    assert not [file for file in (tmp_path / "out").iterdir() if SECRET in file.name]
    with open_bundle(done.path) as bundle:
        assert SECRET.encode() not in held(bundle)


@pytest.mark.parametrize("format", [name for name in SAMPLES if name not in ("rrweb", "playwright-mcp")])
def test_keys_and_texts_of_files(format: str, tmp_path: Path) -> None:
    path = SAMPLES[format](tmp_path / "in")
    files = [file for file in (path.rglob("*") if path.is_dir() else [path]) if file.suffix in FILES]
    for file in files:
        text = file.read_text()
        lines = text.splitlines() if file.suffix == ".jsonl" else [text]
        file.write_text("\n".join(json.dumps(with_key(json.loads(line))) for line in lines if line))
    for done in import_runs(format, [path], tmp_path / "out", options=OPTIONS):
        assert SECRET not in f"{done}"
        if done.error is None:
            with open_bundle(done.path) as bundle:
                assert SECRET.encode() not in held(bundle)


def with_key(value: object) -> object:
    """Add a key with the secret to the outermost objects of a value."""
    if isinstance(value, list):
        return [with_key(one) for one in value]
    return (
        {**value, f"x {SECRET}": 1, f"y {SECRET}": {SECRET: [SECRET]}} if isinstance(value, dict) else value
    )


@pytest.mark.parametrize("many", [True, False])
def test_errors(many: bool, tmp_path: Path) -> None:
    path = write(tmp_path, f"{SECRET}.json", {"schema_version": f"ATIF-{SECRET}", "agent": {}, "steps": []})
    if many:
        (done,) = import_runs("atif", [path], tmp_path / "out", options=OPTIONS)
        error = done.error
    else:
        with pytest.raises(ReplaykitError) as raised:
            import_run("atif", path, tmp_path / "run.zst", options=OPTIONS)
        error = raised.value
    assert error is not None
    assert SECRET not in error.message
    assert "⟦secret:PW⟧" in error.message


def test_keys_that_become_equal_are_both_kept() -> None:
    rest = Rest(place="", value={SECRET: 1, "⟦secret:PW⟧": 2, "z": 3})
    clean = Redactor({"PW": SECRET}, hides_keys=True).event(rest).value
    assert clean == {"⟦secret:PW⟧": 1, "⟦secret:PW⟧ 2": 2, "z": 3}


def test_names_without_a_secret_stay(tmp_path: Path, imported: Importing) -> None:
    path = atif(tmp_path)
    plain, other = (imported("atif", path, secrets=secrets) for secrets in ({}, {"PW": SECRET}))
    assert plain.lines[1:] == other.lines[1:]
    sources = [run.header.source for run in (plain, other)]
    assert [list(source.files) for source in sources if source] == [["shots/1.png", "tea.json"]] * 2
