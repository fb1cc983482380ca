"""A declared secret leaves in every form; ids, keys and digests stay."""

from __future__ import annotations

import base64
import html
import json
import re
import urllib.parse

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from replaykit.errors import RecorderError
from replaykit.secrets.redactor import Redactor
from replaykit.secrets.secret_looks import passes_luhn
from replaykit.secrets.secret_patterns import (
    SPAN_MAX,
    WINDOW,
    given_looks,
    is_secret_field,
    sent_names,
    spans,
)
from replaykit.secrets.snapshot_secrets import rewrite_snapshot
from replaykit.snapshot.codec import decode
from replaykit.tasks.grammar import regex_matcher
from replaykit.trajectory.action import Click, Element, Fill, Names, NodeRef, ToolCall
from replaykit.trajectory.exchange import Console, Exchange, Message, Navigation
from replaykit.trajectory.observation import Observation, Read
from replaykit.trajectory.step import Header, Probe, Step

SECRET = 's3cr&t "v\\alue"/ü+ñ'
DIGEST = "deadbeef" * 8

secrets = st.text(
    st.characters(codec="utf-8", exclude_characters="⟦⟧:", exclude_categories=("Cs", "Cc")),
    min_size=4,
    max_size=24,
)
around = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12)


def forms(value: str, before: str = "", after: str = "") -> list[str]:
    """Return a text that holds the value, in every form that software writes it in."""
    text = f"{before}{value}{after}"
    return [
        text,
        urllib.parse.quote(text),
        urllib.parse.quote(text, safe=""),
        re.sub("%..", lambda match: match.group().lower(), urllib.parse.quote(text)),
        urllib.parse.quote_plus(text),
        urllib.parse.quote(urllib.parse.quote(text)),
        html.escape(text),
        html.escape(html.escape(text)),
        "".join(f"&#{ord(char)};" for char in text),
        "".join(f"&#x{ord(char):X};" for char in text),
        json.dumps(text),
        json.dumps(text, ensure_ascii=False),
        json.dumps(json.dumps(text)),
        json.dumps(text).replace("/", "\\/"),
        base64.b64encode(text.encode()).decode(),
        base64.urlsafe_b64encode(text.encode()).decode(),
        urllib.parse.quote_plus(base64.b64encode(text.encode()).decode()),
        f"https://user:{urllib.parse.quote(value, safe='')}@host/",
    ]


def holds(text: str, value: str) -> bool:
    """Whether any plain reading of a text still gives the value; independent of the patterns."""
    readings = {text, html.unescape(text), html.unescape(html.unescape(text))}
    readings |= {urllib.parse.unquote(one) for one in readings} | {
        urllib.parse.unquote_plus(one) for one in readings
    }
    readings |= {urllib.parse.unquote(one) for one in readings}
    return any(value in one for one in readings)


@given(secrets, around, around)
@example(SECRET, "a", "b")
@example("0000", "", "")
def test_no_form_of_a_secret_survives(secret: str, before: str, after: str) -> None:
    assume(secret not in "⟦secret:PW⟧")
    redactor = Redactor({"PW": secret}, has_patterns=False)
    for form in forms(secret, before, after):
        clean = redactor.text(form)
        assert "⟦secret:PW⟧" in clean
        assert not holds(clean.replace("⟦secret:PW⟧", "\0"), secret)
        assert redactor.scan(form.encode()) is not None


@given(secrets, st.integers(0, 2))
def test_base64_hides_every_alignment(secret: str, shift: int) -> None:
    redactor = Redactor({"PW": secret}, has_patterns=False)
    encoded = base64.b64encode(b"x" * shift + secret.encode() + b"yz").decode()
    clean = redactor.text(encoded)
    assert "⟦secret:PW⟧" in clean and clean != encoded


@given(around)
def test_what_holds_no_secret_stays(text: str) -> None:
    assume("hunter22" not in text)
    redactor = Redactor({"PW": "hunter22"}, has_patterns=False)
    assume("=" not in text)
    assert redactor.text(text) == text


def test_the_longer_of_two_secrets_goes_first() -> None:
    redactor = Redactor({"A": "hunter", "B": "hunter22"})
    assert redactor.text("hunter22 hunter") == "⟦secret:B⟧⟦secret:A⟧ ⟦secret:A⟧"


def test_a_secret_within_a_secret_is_named_as_well() -> None:
    redactor = Redactor({"A": "hunter22", "B": "hunter22", "C": "QX7781-ab"}, sought=("qx 7781", "zebra"))
    assert redactor.text("hunter22 or QX7781-ab") == "⟦secret:A⟧⟦secret:B⟧ or ⟦secret:C⟧⟦masked⟧"


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(RecorderError, match="--mask"):
        Redactor({"PIN": "123"})


# Events


def step(secret: str) -> Step:
    element = Element(
        ref=secret,
        name=secret,
        text=f"a {secret} b",
        value=secret,
        names=Names(label=secret),
        attributes={"data-x": secret, "hunter22": "x"},
        css="#a",
        node=NodeRef(snapshot=DIGEST, number=3),
    )
    return Step(
        index=0,
        action=Fill(element=element, value=secret, value_after=secret),
        declared=ToolCall(name="shell", arguments={"hunter22": [secret, {"deep": secret}], "n": 5}),
        observed=(Click(element=element),),
        before=Observation(role="before", title=secret, url=f"http://x.test/?q={secret}", snapshot=DIGEST),
        thought=f"I use {secret}",
        raw={"call": f"fill('{secret}')"},
    )


@pytest.mark.parametrize(
    "event",
    [
        step("hunter22"),
        Message(role="agent", kind="say", text="my hunter22"),
        Console(level="log", text="hunter22", source="http://x.test/hunter22.js:3"),
        Navigation(url="http://u:hunter22@x.test/", kind="goto"),
        Exchange(id=0, method="GET", url="http://x.test/hunter22", error="hunter22", post=DIGEST),
        Probe(id="p0", phase="post", reads=(Read(locator="a", kind="array", value=["hunter22"]),)),
        Header(channels={}, task={"intent": "say hunter22"}, secrets=("PW",)),
    ],
    ids=lambda event: type(event).__name__,
)
def test_every_string_of_an_event_is_clean(event: object) -> None:
    clean = msgspec.json.encode(Redactor({"PW": "hunter22"}).event(event))  # type: ignore[type-var]
    assert b"secret:PW" in clean
    values = clean.replace(b'"hunter22":', b"")  # keys stay
    assert b"hunter22" not in values


def test_keys_of_free_json_and_texts_that_vary_are_clean() -> None:
    """Fields that a script set, the version of a protocol, keys of a tool's arguments, names of headers."""
    look = Observation(role="before", changed_without_event=(("#a", "", "my hunter22"),))
    events = [
        Step(index=0, action=Click(), declared=ToolCall(name="x", arguments={"hunter22": 1}), before=look),
        Step(index=0, action=Click(), raw={"a": [{"hunter22": 1}]}),
        Exchange(id=0, method="GET", url="/", http_version="hunter22", request_headers=(("hunter22", "x"),)),
    ]
    for event in events:
        clean = msgspec.json.encode(Redactor({"PW": "hunter22"}, hides_keys=True).event(event))
        assert b"hunter22" not in clean and b"secret:PW" in clean


def test_ids_keys_words_and_digests_stay() -> None:
    redactor = Redactor({"A": "deadbeef", "B": "before", "C": "data-x", "D": "hunter22"})
    clean = redactor.event(step("zz"))
    assert clean.before is not None and clean.before.snapshot == DIGEST
    assert clean.before.role == "before"
    element = clean.action.element
    assert element is not None and element.node is not None and element.node.snapshot == DIGEST
    assert set(element.attributes or {}) == {"data-x", "hunter22"}
    assert redactor.event(Probe(id="deadbeef", phase="post")).id == "deadbeef"
    assert redactor.event(Header(channels={"before": "recorded"}, secrets=("deadbeef",))).secrets == (
        "deadbeef",
    )


def test_an_event_without_secrets_is_the_same_event() -> None:
    event = step("nothing")
    assert Redactor({"PW": "hunter22"}).event(event) == event


# Headers, fields, looks


def test_secret_headers_keep_their_names() -> None:
    headers = (
        ("Cookie", "a=1"),
        ("X-CSRF-Token", "t"),
        ("Accept", "text/html"),
        ("Authorization", "Basic x"),
    )
    exchange = Exchange(id=0, method="GET", url="http://x.test/", request_headers=headers)
    clean = Redactor(keep_headers=("x-csrf-token",)).event(exchange)
    assert clean.request_headers == (
        ("Cookie", "⟦header⟧"),
        ("X-CSRF-Token", "t"),
        ("Accept", "text/html"),
        ("Authorization", "⟦header⟧"),
    )
    assert clean.response_headers is None


def test_headers_that_sites_name_after_authorization_are_secret_too() -> None:
    secret = ("shopauth", "X-Auth", "X-Forwarded-Authorization", "Authentication", "X-User-Password")
    plain = (":authority", "WWW-Authenticate", "Author", "Authentication-Results", "X-Auth-Email")
    headers = tuple((name, "st=1~hmac=6c") for name in (*secret, *plain))
    clean = Redactor().headers(headers)
    assert [name for name, value in clean if value == "⟦header⟧"] == [*secret]


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("password", True),
        ("user[password]", True),
        ("newPassword", True),
        ("confirmpwd", True),
        ("csrf_token", True),
        ("csrftoken", True),
        ("otp", True),
        ("cvc", True),
        ("pass", True),
        ("passengers", False),
        ("compass", False),
        ("footprint", False),
        ("tokens", False),
        ("tokenType", False),
        ("token_type", False),
        ("maxTokens", False),
        ("max_token", False),
        ("passwordless", False),
        ("password_policy", False),
        ("showPassword", False),
        ("cardinality", False),
        ("sort_key", False),
        ("key", False),
        ("keyboard", False),
        ("api_key", True),
        ("apiKey", True),
        ("X-Api-Key", True),
        ("client_secret", True),
        ("token_value", True),
        ("passwordConfirmation", True),
        ("X-Amz-Signature", True),
        ("email", False),
    ],
)
def test_field_names(name: str, secret: bool) -> None:
    assert is_secret_field(name) is secret


@pytest.mark.parametrize(
    "text",
    [
        "http://ines:ZEBRA@h.test/inner",
        "see http://ines:ZEBRA@h.test, then",
        '"http:\\/\\/ines:ZEBRA@h.test"',
        "wss://ZEBRA@h.test/socket",
        "/go?next=http%3A%2F%2Fines%3AZEBRA%40h.test%2F",
        "http://h.test/x?api_key=ZEBRA&q=1",
        "GET http://h.test/x?q=1&apiKey=ZEBRA 404",
        "GET /x?q=1&access_key=ZEBRA 404",
        "/x?api_key=ZEBRA",
        "?X-Amz-Signature=ZEBRA#top",
        "http://h.test/#access_token=ZEBRA&state=1",
        "/go?next=%2Fx%3Fapi_key%3DZEBRA",
        "http://h.test/map?key=ZEBRA0123456789abcdef",
    ],
)
def test_addresses_hold_no_secret_wherever_they_stand(text: str) -> None:
    redactor = Redactor()
    assert "ZEBRA" not in redactor.text(text)
    assert b"ZEBRA" not in redactor.blob("text/html", f"<a href='{text}'>x</a>".encode())
    assert b"ZEBRA" not in redactor.blob("application/json", json.dumps({"at": text}).encode())
    assert redactor.text(redactor.text(text)) == redactor.text(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://h.test/x?tokenType=bearer&maxTokens=5&passwordless=1&cardinality=3&sort_key=name&key=price",
        "write to ann@h.test about http://h.test/@ann",
        "ssh://git@h.test/repo",
        "10:30@noon",
    ],
)
def test_plain_addresses_stay(text: str) -> None:
    assert Redactor().text(text) == text


def test_a_program_is_no_address() -> None:
    source = b"a=b?token=c:d;x&&secret=1;fetch('http://h.test/x?api_key=ZEBRA')"
    assert Redactor().blob("text/javascript", source) == source.replace(b"ZEBRA", "⟦masked⟧".encode())


def test_fields_of_bodies_and_queries() -> None:
    redactor = Redactor(fields=("pin",), plain=("public",))
    form = redactor.blob("application/x-www-form-urlencoded", b"user=ann&password=x&pin=1&token=public")
    assert form.decode() == "user=ann&password=⟦masked⟧&pin=⟦masked⟧&token=public"
    body = redactor.blob(
        "application/json", b'{"a": {"password":"x" , "otp": 12, "n": 1.50}, "passengers": 2}'
    )
    assert body.decode() == '{"a": {"password":"⟦masked⟧" , "otp": "⟦masked⟧", "n": 1.50}, "passengers": 2}'
    part = b'--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nx y\r\n--b--\r\n'
    assert b"x y" not in redactor.blob("multipart/form-data", part)
    assert redactor.text("http://x.test/a?token=t&b=1#c") == "http://x.test/a?token=⟦masked⟧&b=1#c"
    assert redactor.text("not a URL: a?token=t") == "not a URL: a?token=t"


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("application/x-www-form-urlencoded", "a=1&password={}"),
        ("application/json", '{{"a": 1, "password": "{}"}}'),
        (
            "multipart/form-data",
            '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n{}\r\n--b--\r\n',
        ),
    ],
)
def test_a_declared_secret_wins_over_the_name_of_its_field_and_the_rest_is_hidden(
    media_type: str, body: str
) -> None:
    redactor = Redactor({"PW": "open-sesame-42"}, sought=("QX-7781",))
    kept = {
        "open-sesame-42": "⟦secret:PW⟧",
        "zebra-open-sesame-42-zebra": "⟦masked⟧⟦secret:PW⟧⟦masked⟧",
        "zebra": "⟦masked:other⟧",
        "xxQX7781": "⟦masked⟧",
        "sesame": "⟦masked⟧",
    }
    for value, shown in kept.items():
        assert redactor.blob(media_type, body.format(value).encode()).decode() == body.format(shown)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("open-sesame-42", "⟦secret:PW⟧"),
        ("QX-7781", "QX-7781"),
        ("hunter2", "⟦masked:other⟧"),
        ("⟦secret:PW⟧", "⟦masked:other⟧"),
        ("⟦secret:sesame⟧", "⟦masked⟧"),
        ("OPEN SESAME 42", "⟦masked⟧"),
        ("", ""),
    ],
)
def test_what_stands_for_the_value_of_a_masked_field(value: str, shown: str) -> None:
    assert Redactor({"PW": "open-sesame-42"}, plain=("QX-7781",), sought=("QX-7781",)).masked(value) == shown


def test_only_a_recorder_compares() -> None:
    assert Redactor({"PW": "open-sesame-42"}).masked("hunter2") == "⟦masked⟧"
    assert Redactor(sought=()).masked("hunter2") == "⟦masked⟧"
    assert Redactor().text("⟦masked:other⟧") == "⟦masked:other⟧"
    # Secrets that are named later were not compared with it.
    assert Redactor({"NEW": "hunter2"}).text("x ⟦masked:other⟧") == "x ⟦masked⟧"


@given(st.text(max_size=12), st.text(max_size=12))
def test_a_masked_value_leaves_only_marks(before: str, after: str) -> None:
    shown = Redactor({"PW": "open-sesame-42"}, sought=("QX-7781",)).masked(f"{before}open-sesame-42{after}")
    assert "⟦secret:PW⟧" in shown
    assert set(shown.replace("⟦secret:PW⟧", "|").replace("⟦masked⟧", "|")) == {"|"}


def test_fields_that_a_page_masks_are_hidden_from_then_on() -> None:
    redactor = Redactor(plain=("public",))
    url = "http://x.test/a?user%5Bpw%5D=walrus&b=1"
    assert redactor.text(url) == url
    redactor.hide_fields(sent_names("user[pw]", "Key"))
    assert redactor.text(url) == "http://x.test/a?user%5Bpw%5D=⟦masked⟧&b=1"
    body = redactor.blob("application/json", b'{"user": {"pw": "walrus", "key": "seal", "PW": "public"}}')
    assert body.decode() == '{"user": {"pw": "⟦masked⟧", "key": "⟦masked⟧", "PW": "public"}}'


@pytest.mark.parametrize(
    ("called", "sent"),
    [
        (("pw", None), ["pw"]),
        (("user[pw]", "Key"), ["user[pw]", "pw", "key"]),
        (("p", ""), []),
        (("a[b][cd]", "e[]"), ["a[b][cd]", "cd", "e[]"]),
    ],
)
def test_what_a_field_is_called_where_it_is_sent(
    called: tuple[str | None, str | None], sent: list[str]
) -> None:
    assert list(sent_names(*called)) == sent


def test_json_keeps_its_bytes_and_stays_json() -> None:
    redactor = Redactor({"PIN": "4711", "PW": "hunter22"})
    clean = redactor.blob(
        "application/json; charset=utf-8", b'[ 4711, "4711", {"hunter22" : "\\u0068unter22"}, 1e5]'
    )
    assert json.loads(clean) == ["⟦secret:PIN⟧", "⟦secret:PIN⟧", {"hunter22": "⟦secret:PW⟧"}, 1e5]
    assert clean.startswith(b'[ "') and clean.endswith(b", 1e5]")


PLAIN = [
    '{"user": "ann", "password": "Zebra-7741x"}',
    ' [{"password":"Zebra-7741x"}]',
    "user=ann&password=Zebra-7741x",
    "password=Zebra-7741x",
]
NESTED = json.dumps({"body": json.dumps({"a": json.dumps({"password": "Zebra-7741x"}), "b": 1})})


@pytest.mark.parametrize("text", PLAIN)
def test_json_and_forms_that_are_sent_as_plain_text_hide_their_fields(text: str) -> None:
    clean = Redactor().blob("text/plain;charset=UTF-8", text.encode()).decode()
    assert clean == text.replace("Zebra-7741x", "⟦masked⟧")


@pytest.mark.parametrize(
    "text", ["Set password=Zebra & go", "a [note] {about} password", "{broken: password"]
)
def test_other_plain_texts_stay(text: str) -> None:
    assert Redactor().blob("text/plain", text.encode()).decode() == text


def test_json_within_strings_of_json_hides_its_fields() -> None:
    clean = json.loads(Redactor().blob("application/json", NESTED.encode()))
    inner = json.loads(clean["body"])
    assert json.loads(inner["a"]) == {"password": "⟦masked⟧"}
    assert inner["b"] == 1


@given(
    value=st.recursive(
        st.none() | st.integers(0, 9) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        max_leaves=6,
    ),
    levels=st.integers(0, 3),
)
def test_json_without_secrets_keeps_its_bytes_however_deep_it_is_nested(value: object, levels: int) -> None:
    text = json.dumps(value)
    for _ in range(levels):
        text = json.dumps({"v": text})
    assert Redactor().blob("application/json", text.encode()) == text.encode()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Bearer abcdefghij0123456789", "bearer"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijkl", "jwt"),
        ("AKIAABCDEFGHIJKLMNOP", "aws_key"),
        ("ghp_" + "a" * 36, "github_token"),
        ("sk-" + "ant-" + "a" * 30, "model_key"),
        ("sk_" + "test_" + "a1" * 12, "stripe_key"),
        ("discord" + ".com/api/webhooks/" + "1" * 18 + "/" + "aB3-" * 17, "chat_hook"),
        ("gsk_" + "aB3" * 17, "service_key"),
        ("ya29." + "a0-_" * 20, "service_key"),
        ("4111 1111 1111 1111", "card"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "private_key"),
    ],
)
def test_looks(text: str, name: str) -> None:
    assert Redactor().text(f"a: {text} b") == f"a: ⟦pattern:{name}⟧ b"
    assert Redactor(plain=(text,)).text(f"a: {text} b") == f"a: {text} b"
    found = Redactor().scan(text.encode())
    assert found is not None and (found.id, found.is_declared) == (name, False)


@pytest.mark.parametrize(
    "text", ["4111111111111112", "1700000000000", "v4111111111111111", "task-sk-" + "a", "ntn_" + "word-" * 9]
)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert Redactor().text(text) == text


@given(st.integers(10**14, 10**15 - 1))
def test_luhn_accepts_exactly_one_check_digit(number: int) -> None:
    assert sum(passes_luhn(f"{number}{digit}") for digit in range(10)) == 1


# Snapshots and other payloads


def snapshot(text: str, attribute: str = "x") -> bytes:
    tokens = ["<html", "<body", "<p", ["title", attribute, "hunter22", "x"], {"value": text}, "=" + text, 3]
    head = {"snapshot": 1, "url": "http://x.test/", "title": text, "elements": 3, "styles": ["none"]}
    lines = [head, tokens, [0, 0, 0], [0] * 12]
    return b"".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines
    )


def test_snapshots_are_cleaned_in_their_strings_only() -> None:
    redactor = Redactor({"PW": "hunter22", "P": "<body"})
    data = snapshot('say "hunter22"', "hunter22")
    clean = redactor.blob("application/x-replaykit-dom", data)
    tokens = json.loads(clean.split(b"\n")[1])
    assert tokens[:4] == ["<html", "<body", "<p", ["title", "⟦secret:PW⟧", "hunter22", "x"]]
    assert tokens[4:] == [{"value": 'say "⟦secret:PW⟧"'}, '=say "⟦secret:PW⟧"', 3]
    assert json.loads(clean.split(b"\n")[0])["title"] == 'say "⟦secret:PW⟧"'


# Elements: 0 div, 1 p, 2 b of its shadow tree, 3 i, 4 p.
ROWED = ["<div", "<p", "#open", "<b", "=%s", 2, "<i", "=a", 2, "<p", "=%s", 2]


@pytest.mark.parametrize(
    ("shadow", "light", "inserted", "kept"),
    [
        ("x", "y", " ", [0, 1, 2, 3, 4]),
        ("hunter22", "y", " ", [0, 1, 3, 4]),
        ("x", "my hunter22", " ", [1, 2, 3]),
        ("x", "y", "Hunter22", []),
        ("x", "y", "HUNTER22", []),
        ("x", "y", "Hunter2", [0, 1, 2, 3, 4]),
    ],
)
def test_rows_of_texts_reveal_no_secret(shadow: str, light: str, inserted: str, kept: list[int]) -> None:
    parts = iter((shadow, light))
    tokens = [token.replace("%s", next(parts)) if "%s" in str(token) else token for token in ROWED]
    half = len(inserted) // 2
    row = [1, 0, 1, inserted[:half], 2, 0, inserted[half:]]
    rows = [[0, *row[1:]], row, row, row, row]
    head = {"snapshot": 1, "url": "u", "elements": 5, "texts": rows, "flags": ["composed"]}
    data = b"".join(json.dumps(line).encode() + b"\n" for line in (head, tokens, [], []))
    found = json.loads(Redactor({"PW": "hunter22"}).blob("application/x-replaykit-dom", data).split(b"\n")[0])
    assert [at for at, edits in enumerate(found["texts"]) if len(edits) > 1] == kept
    assert [edits[0] for edits in found["texts"]] == [0, 1, 1, 1, 1]


@given(secrets, around)
def test_a_cleaned_snapshot_is_a_snapshot(secret: str, text: str) -> None:
    redactor = Redactor({"PW": secret}, has_patterns=False)
    clean = redactor.blob("application/x-replaykit-dom", snapshot(text + secret))
    title = decode(clean).head.title
    assert "⟦secret:PW⟧" in title
    assert secret not in title.replace("⟦secret:PW⟧", "\0") or secret in "⟦secret:PW⟧"


def test_a_snapshot_without_secrets_keeps_its_bytes() -> None:
    data = snapshot("täxt").replace(b",", b" , ")
    assert Redactor({"PW": "hunter22"}).blob("application/x-replaykit-dom", data) == data


PIECES = st.sampled_from(
    [
        "Orders",
        "hunter22",
        "say hunter22",
        "",
        "http://x.test/a?pw=walrus",
        "/a?token=t0ken-1",
        "a@b",
        "x" * 300,
    ]
)
VALUES = st.recursive(PIECES | st.integers(0, 9), lambda inner: st.lists(inner, max_size=3), max_leaves=5)
TOKENS = st.lists(
    st.builds(str.__add__, st.sampled_from(["=", "!", "?", "<", "%", "^", ""]), PIECES)
    | st.lists(VALUES, max_size=4)
    | st.dictionaries(PIECES, VALUES, max_size=2)
    | st.integers(0, 3),
    max_size=8,
)


@given(st.lists(TOKENS, min_size=1, max_size=4), st.booleans())
def test_texts_that_were_seen_before_hide_no_secret(pages: list[list[object]], hides: bool) -> None:
    """Snapshot by snapshot, one that remembers gives what one that remembers nothing gives."""
    redactor = Redactor({"PW": "hunter22"})
    for number, tokens in enumerate(pages):
        data = b"".join(json.dumps(line).encode() + b"\n" for line in ({"title": "t"}, tokens, [], []))
        fresh = Redactor({"PW": "hunter22"})
        if hides and number:
            redactor.hide_fields(["pw"])
            fresh.hide_fields(["pw"])
        slow = rewrite_snapshot(data, fresh.text, lambda _: False, lambda _: False)
        assert redactor.blob("application/x-replaykit-dom", data) == slow


@pytest.mark.parametrize(
    "media_type", ["text/html", "text/css", "application/javascript", "image/svg+xml", "a/b+xml"]
)
def test_texts_are_cleaned_whatever_their_encoding(media_type: str) -> None:
    clean = Redactor({"PW": "hunter22"}).blob(media_type, b"\xff<p>hunter22\xe4</p>")
    assert clean == "⟦secret:PW⟧".encode().join([b"\xff<p>", b"\xe4</p>"])


def test_pixels_are_left_alone() -> None:
    data = b"P6\n1 1\n255\nhunter22"
    assert Redactor({"PW": "hunter22"}).blob("image/x-portable-pixmap", data) == data


def test_what_is_left_is_found_and_not_named() -> None:
    found = Redactor({"PW": "hunter22"}).scan(b"xx hunter22")
    assert found is not None
    assert (found.id, found.is_declared, found.offset) == ("PW", True, 3)
    assert "hunter22" not in repr(found)
    assert Redactor({"PW": "hunter22"}).scan(b"nothing") is None


# Patterns of a user


def given_redactor(*patterns: str, **secrets: str) -> Redactor:
    return Redactor(secrets, has_patterns=False, given=given_looks(patterns))


def test_given_patterns_are_hidden_in_texts_numbers_and_headers_of_bundles() -> None:
    redactor = given_redactor(r"AB-\d+", r"\b\d{6}\b")
    assert redactor.text("AB-12 and 123456") == "⟦pattern:given_1⟧ and ⟦pattern:given_2⟧"
    assert redactor.blob("application/json", b'{"n": 123456, "m": 7}') == (
        '{"n": "⟦pattern:given_2⟧", "m": 7}'.encode()
    )
    assert redactor.event(Header(channels={}, task={"intent": "AB-1"})).task == {
        "intent": "⟦pattern:given_1⟧"
    }


@given(st.lists(st.sampled_from(["hunter22", "word", "7 ", "⟦", "⟧", "secret", "given_1"]), max_size=20))
def test_hiding_twice_changes_nothing_more(parts: list[str]) -> None:
    redactor = given_redactor(r"\w+", PW="hunter22")
    once = redactor.text("".join(parts))
    assert redactor.text(once) == once
    assert redactor.search(once) is None


@given(st.integers(0, 3 * WINDOW), st.integers(1, SPAN_MAX), st.integers(0, 2 * WINDOW))
@example(WINDOW - 1, SPAN_MAX, WINDOW)
@example(WINDOW - SPAN_MAX, SPAN_MAX, 0)
def test_no_window_hides_a_match(before: int, length: int, after: int) -> None:
    text = "." * before + "x" * length + "." * after
    assert list(spans(re.compile("x+"), text, 0, len(text))) == [(before, before + length)]


HOSTILE = ["a*a*a*a*a*a*b", "^(a?){40}a{40}b", r"\w+\d+\w+z", ".*.*=", "(?=.*b)a", r"[a-z]+@[a-z]+\.com"]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_hostile_text_keeps_no_given_pattern_busy(pattern: str) -> None:
    # Python's own engine needs minutes for most of these.
    text = "a" * 2 * WINDOW
    hidden = given_redactor(pattern).text(text)
    assert set(hidden.replace("⟦pattern:given_1⟧", "")) <= {"a"}
    assert given_redactor(pattern).search(hidden) is None


def test_what_cannot_be_searched_is_hidden() -> None:
    hidden = given_redactor("(?=.*b)a").text("a" * 4000 + "b and more")
    assert "a" not in hidden.replace("⟦pattern:given_1⟧", "")
    assert hidden.count("⟦") < 2000, "the rest is hidden at once"


@given(
    st.text("ab1. ", max_size=60),
    st.sampled_from(["a+b?", "(?<=a)b", r"\ba", "a|ab", r"a{2,}1*b?", "(a|1)+b"]),
)
def test_given_patterns_find_what_python_finds(text: str, pattern: str) -> None:
    found = [match.span() for match in re.compile(pattern).finditer(text)]
    quick, regex_matcher._QUICK_SPAN = regex_matcher._QUICK_SPAN, 0
    try:
        assert list(spans(regex_matcher.matcher(pattern), text, 0, len(text))) == found
    finally:
        regex_matcher._QUICK_SPAN = quick
    assert list(spans(regex_matcher.matcher(pattern), text, 0, len(text))) == found


@given(st.text("ab.", max_size=50), st.integers(0, 50), st.integers(0, 50))
def test_spans_are_the_matches_between_two_places(text: str, first: int, last: int) -> None:
    last = min(last, len(text))
    found = [match.span() for match in re.compile("a+b?").finditer(text, first, max(first, last))]
    assert list(spans(re.compile("a+b?"), text, first, last)) == found
