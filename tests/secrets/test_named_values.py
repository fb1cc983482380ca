"""Values that a text names as secrets are hidden in every kind of text; others stay."""

from __future__ import annotations

import base64
import gzip
import json
import time
import zlib
from urllib.parse import quote

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from replaykit.secrets.compressed_body import LEVELS_MAX, innermost
from replaykit.secrets.named_values import hide_named, is_credential
from replaykit.secrets.redactor import NAMED_MAX, Redactor

KEY = "Zq9tulip47kQx81LmN0"
WORD = "Zq9-tulip-47k!x"

NAMED = [
    f"export API_KEY={KEY}",
    f'API_KEY="{KEY}"',
    f"HOST=x\nDB_PASSWORD={WORD}\nPORT=1",
    "DB_PASSWORD=tulip",
    f"[db]\npassword = {WORD}\nuser = ann",
    f"db:\n  password: {WORD}\n",
    f"aws_secret_access_key = {KEY}",
    f"login user=ann password={WORD} ok",
    f"Server=x;User Id=a;Password={WORD};",
    f"Authorization: Bearer {KEY}",
    "Authorization: Basic YW5uOnB3",
    f"curl -H 'X-Api-Key: {KEY}' http://x.test/",
    f"GET / HTTP/1.1\r\nHost: x\r\nCookie: a=1; sid={KEY}\r\n\r\n",
    f'The answer was {{"access_token": "{KEY}", "n": 1}}.',
    f"{{'access_token': '{KEY}'}}",
    json.dumps(json.dumps({"note": json.dumps({"access_token": KEY})})),
    f"<p data-x='&quot;access_token&quot;:&quot;{KEY}&quot;'>",
    "data:application/json," + quote(json.dumps({"access_token": KEY})),
    f"login(username='a', password='{WORD}')",
    f"<password>{WORD}</password>",
    f'<input value="{KEY}" type="hidden" name="csrf_token">',
    f'<meta name="csrf-token" content="{KEY}">',
    f'<add key="ApiKey" value="{KEY}"/>',
    f"mysql --password={WORD} -u x",
    f"tool login --token {KEY}",
    f"setx API_KEY {KEY}",
    f"machine x.test login ann password {WORD}",
    f"Log in with user ann and password {WORD}",
    f"The password is {WORD}.",
    f"API key: {KEY}",
    f"Passwort: {WORD}",
    f"//registry.test/:_authToken={KEY}",
    f"os.environ['API_KEY'] = '{KEY}'",
    f"localStorage.setItem('auth_token', '{KEY}')",
    f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{KEY}\n-----END PGP PRIVATE KEY BLOCK-----",
    base64.b64encode(json.dumps({"access_token": KEY}).encode()).decode(),
    "data:text/plain;base64," + base64.b64encode(f"API_KEY={KEY}".encode()).decode(),
    "see " + base64.b64encode(gzip.compress(json.dumps({"access_token": KEY}).encode(), mtime=0)).decode(),
]

PLAIN = [
    "token count 12", "Tokens: 1200", "max_tokens=4096", "TOTAL_TOKEN=1200", "Token: 12", "token = response.token",
    "token = getToken()", "Password", "Password: required", "Password: at least 8 characters", "Password must be 8+ characters",
    "Forgot your password? Reset it at https://x.test/reset", "Secret Santa 2024: gift1", "secret=1", "key: value1234",
    "API key: required", "The token is 64 characters long.", "Password Manager Pro 2024 - $29.99", "Top secret: Area51b",
    "Access token expired at 2026-11-28T10:00:00Z", "token_expiry: 2026-11-28T10:00:00Z", "Sort key: name2", "Keyboard K380",
    "primary_key = id", "Price: $12.99", "Order 4711-AB", "this.password = password;", "if (password === confirm1) {",
    "password: string", "secret: process.env.SECRET", "token: {{ csrf_token }}", "API_KEY=<your key>", "API_KEY=your_api_key_1",
    "Cookies: accept all", "credentials: 'include'", "otp: 6 digits", "pass: 12 of 14", "tokenizer: cl100k_base",
    "Token type: ERC20", '<input type="password" name="password" placeholder="Password">', "--password <password>",
    '{"name": "token", "value": "12"}', "monkey: gorilla1", "turkey: 12lb fresh1", "Shared key: see page 12", "hotkey: ctrl+shift+p1",
    "Signature: J. Doe", "data:text/plain;base64,SGVsbG8gd29ybGQgYW5kIGFsbA==", "eyJhIjoxLCJiIjoyLCJjIjozLCJkIjo0fQ==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
]  # fmt: skip


@pytest.mark.parametrize("text", NAMED)
@pytest.mark.parametrize("kind", ["text", "text/html", "text/plain", "application/json"])
def test_what_a_text_names_is_hidden(text: str, kind: str) -> None:
    shown = hidden(text, kind)
    assert shown != text
    assert not any(secret in shown for secret in (KEY, WORD, "tulip", "YW5u"))
    assert Redactor().text(shown) == shown


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("kind", ["text", "text/html", "text/plain", "text/javascript"])
def test_what_is_no_secret_stays(text: str, kind: str) -> None:
    # A text that is nothing but a field is a form.
    is_form = kind == "text/plain" and text in ("secret=1", "API_KEY=your_api_key_1")
    assert hidden(text, kind) == (text.partition("=")[0] + "=⟦masked⟧" if is_form else text)


def hidden(text: str, kind: str) -> str:
    if kind == "text":
        return Redactor().text(text)
    body = json.dumps({"message": text}) if kind == "application/json" else text
    shown = Redactor().blob(kind, body.encode()).decode()
    return json.loads(shown)["message"] if kind == "application/json" else shown


def test_test_data_of_the_task_stays_and_others_are_compared() -> None:
    redactor = Redactor({"PW": "open-sesame-42"}, plain=(KEY,), sought=("QX-7781",))
    assert redactor.text(f"API_KEY={KEY}") == f"API_KEY={KEY}"
    assert redactor.text(f"password: {WORD}") == "password: ⟦masked:other⟧"
    assert redactor.text("password: xQX7781") == "password: ⟦masked⟧"
    assert redactor.text("password: open-sesame-42") == "password: ⟦secret:PW⟧"


def test_each_named_value_is_given_back_once_per_text() -> None:
    found: list[str] = []
    Redactor(found=found.append).text(f"API_KEY={KEY} and password: {WORD}")
    assert found == [KEY, WORD]
    assert Redactor(has_names=False).text(f"API_KEY={KEY}") == f"API_KEY={KEY}"


PACK = st.sampled_from([gzip.compress, zlib.compress, zstandard.compress])


@given(PACK, st.integers(1, LEVELS_MAX), st.booleans())
def test_compressed_bodies_hide_what_they_name(pack, levels: int, is_secret: bool) -> None:
    data = json.dumps({"access_token" if is_secret else "note": KEY}).encode()
    for _ in range(levels):
        data = pack(data)
    shown = Redactor().blob("application/json", data)
    assert shown == ("⟦masked⟧".encode() if is_secret else data)


@given(PACK, st.integers(1, LEVELS_MAX + 2))
def test_what_is_compressed_too_often_is_not_whole(pack, levels: int) -> None:
    data = b"plain text"
    for _ in range(levels):
        data = pack(data)
    found = innermost(data, 1000)
    assert found is not None
    assert found.is_whole == (levels <= LEVELS_MAX)
    assert (found.data == b"plain text") == (levels <= LEVELS_MAX)


@given(st.text(max_size=200))
def test_hiding_twice_changes_nothing_more(text: str) -> None:
    once = hide_named(f"API_KEY={KEY} {text}", lambda _: "⟦masked⟧")
    assert hide_named(once, lambda _: "⟦masked⟧") == once


@given(st.text(st.characters(categories=["Ll"]), max_size=19) | st.dates().map(str) | st.integers().map(str))
def test_words_dates_and_numbers_are_no_credentials(text: str) -> None:
    assert not is_credential(text)


@pytest.mark.parametrize(
    "part",
    ["password ", "token=", 'key":"', "<input ", "cookie: a=", "secret is ", "--password ", "user a password ", "key ", "İpassword=",
     "\\" * 9 + '"token', "eyJh", ";base64,AAAA", "key:", "=(/", "=(", "(?a", "a:?", "a://b@", "%3A%2F%2F", "?a=b&", "?"],
)  # fmt: skip
def test_no_text_takes_long(part: str) -> None:
    text = (part * (NAMED_MAX // len(part)))[: NAMED_MAX // 8]
    began = time.process_time()
    Redactor().text(text)
    assert time.process_time() - began < 20
