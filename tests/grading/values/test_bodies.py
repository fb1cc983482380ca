"""Bodies of requests as strangers send them: what they hold counts, not what they are called."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.values.bodies import ROOT, decoded, read_fields

PART = '--XX\r\nContent-Disposition: form-data; name="s"\r\n\r\nPaid\r\n--XX--\r\n'


@pytest.mark.parametrize(
    ("media_type", "text", "fields"),
    [
        ("application/json", '\ufeff{"s": "Paid"}', {"s": "Paid"}),
        ("application/json", '{"s": "Open", "s": "Paid"}', {"s": "Paid"}),
        ("application/json", '[{"id": 1}]', {ROOT: [{"id": 1}]}),
        ("application/x-ndjson", '{"id": 1}\n{"id": 2}\n', {ROOT: [{"id": 1}, {"id": 2}]}),
        ("application/x-ndjson", '{"id": 1}\nnone', None),
        ("text/plain", "s=Paid&n=5", None),
        ("Application/X-WWW-Form-Urlencoded; Charset=utf-8", "s=caf%C3%A9+noir", {"s": "café noir"}),
        ('multipart/form-data; boundary="XX"', PART, {"s": "Paid"}),
        ("multipart/form-data", PART, {"s": "Paid"}),
        ("multipart/form-data; boundary=XX", PART.replace("\r", ""), {"s": "Paid"}),
        ("application/xml", "<s>Paid</s>", None),
    ],
)
def test_fields_of_a_body(media_type: str, text: str, fields: dict[str, Any] | None) -> None:
    assert read_fields(media_type, text) == fields


@given(
    st.dictionaries(st.text(min_size=1), st.integers() | st.text()),
    st.sampled_from(["", "text/plain", "a/b+json"]),
)
def test_json_is_read_under_any_name(fields: dict[str, Any], media_type: str) -> None:
    assert read_fields(media_type, json.dumps(fields)) == fields


@given(st.text(alphabet="aé€ß"), st.sampled_from(["utf-8", "utf-16", "UTF-8", "nonsense"]))
def test_a_body_is_read_in_the_charset_that_it_names(text: str, charset: str) -> None:
    data = text.encode("utf-16" if charset == "utf-16" else "utf-8")
    assert decoded(data, f"application/json; charset={charset}") == text


@given(st.text(max_size=50), st.sampled_from(["", "text/plain", "multipart/form-data", "application/json"]))
def test_any_text_is_read_or_has_no_fields(text: str, media_type: str) -> None:
    found = read_fields(media_type, text)
    assert found is None or isinstance(found, dict)
