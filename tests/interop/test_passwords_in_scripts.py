"""Passwords that a script types, in the languages that fields are named in."""

from __future__ import annotations

import json
from pathlib import Path
from time import process_time

import pytest

from replaykit.interop.password_masking import CODE_MAX, names_password, typed_by_code, without_secrets
from replaykit.trajectory.redaction_marks import MASKED
from tests.interop.conftest import Importing
from tests.interop.samples import write
from tests.interop.test_flaws import everything

TYPED = "rosebud"
"""A plain word: it is looked for in no other place."""

CALLS = [
    f"await page.getByRole('textbox', {{ name: 'Password' }}).fill('{TYPED}');",
    f'page.get_by_label("Passwort").fill("{TYPED}")',
    f"await page.locator('#password').first().pressSequentially('{TYPED}', {{ delay: 5 }});",
    f"page.locator('input[type=password]').first.type('{TYPED}')",
    f"await page.type('#pwd', '{TYPED}')",
    f"await page.fill(`input[name=password]`, `{TYPED}`)",
    f"page.get_by_placeholder('Mot de passe').nth(1).press_sequentially('{TYPED}')",
]


@pytest.mark.parametrize("call", CALLS)
def test_a_script_s_password_is_masked(call: str, tmp_path: Path, imported: Importing) -> None:
    assert typed_by_code(call) == [TYPED]
    script = f"async (page) => {{ {call} }}"
    step = {"step_id": 1, "source": "agent", "message": "", "tool_calls": [
        {"tool_call_id": "a", "function_name": "browser_run_code", "arguments": {"code": script}}]}  # fmt: skip
    root = {"schema_version": "ATIF-v1.6", "agent": {"name": "a", "version": "1"}, "steps": [step]}
    held = everything(imported("atif", write(tmp_path, "t.json", root)))
    assert TYPED.encode() not in held and MASKED.encode() in held


@pytest.mark.parametrize(
    "call",
    [
        "page.getByLabel('Email').fill('ann@x.test')",
        "page.getByLabel('Password').click(); page.getByLabel('Email').fill('ann@x.test')",
        "page.getByLabel('Password').fill('<secret>pw</secret>')",
        "page.getByLabel('Password').fill(secret)",
        "fill('rosebud')",
    ],
)
def test_other_texts_stay(call: str) -> None:
    assert typed_by_code(call) == []
    assert without_secrets(call, lambda _: None) == call


@pytest.mark.parametrize(
    "name",
    ["Passwort", "Kennwort", "Mot de passe", "Contraseña", "Senha", "Wachtwoord", "Hasło", "Lösenord", "Şifre",
     "Пароль", "密码", "パスワード", "비밀번호"],
)  # fmt: skip
def test_fields_are_named_in_many_languages(name: str) -> None:
    assert names_password(name) and names_password(f"{name} *")


@pytest.mark.parametrize("name", ["Passenger", "Compass", "Search", "Parola chiave", "Path", "Hash", "Pass"])
def test_other_fields_are_no_passwords(name: str) -> None:
    assert not names_password(name)


def test_hostile_scripts_take_bounded_time() -> None:
    line = "locator(a).fill('" * (CODE_MAX // 17)
    text = "\n".join([line] * 300)
    began = process_time()
    typed_by_code(text)
    assert process_time() - began < 60
    assert typed_by_code("x" * CODE_MAX + CALLS[0]) == []


def test_what_a_person_filled_is_masked_by_the_code_of_its_entry(tmp_path: Path, imported: Importing) -> None:
    entry = "\n".join([
        "", "### User action: fill", "- Args", "```json",
        json.dumps({"name": "fill", "ref": "e30", "text": TYPED}, indent=2),
        "```", "- Code", "```js", CALLS[0], "```", "- Snapshot: 001.snapshot.yml", "",
    ])  # fmt: skip
    write(tmp_path / "session-1", "001.snapshot.yml", '- textbox "Password" [ref=e30]: rosebud')
    bundle = imported("playwright-mcp", write(tmp_path / "session-1", "session.md", entry).parent)
    assert TYPED.encode() not in everything(bundle)
