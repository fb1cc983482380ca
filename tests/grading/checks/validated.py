"""Task files at random: right ones, near misses and nonsense, for every kind of check and policy."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

WORDS = st.sampled_from(
    [
        "Paid",
        "42",
        "$5",
        "",
        " ",
        "June 5, 2023",
        "soon",
        "a |OR| ",
        "N/A",
        "[",
        "(a",
        "(a*)*b",
        "a{1001}",
        "x" * 1200,
        "^[$",
        "^(a*)*$",
        "^a$",
    ]
)
URLS = st.sampled_from(
    ["http://h.test/a", "__SHOP__/a", "/a", "h.test", "", " ", "http://h.test/*", "http://h.test/{a,b}", "^http://h.test/.*$",
     "http://h.test/(", "http://h.test/\\d+", "http://h.test/a?b=1", "http://h.test/a\\?b=1", "http://[", "^(a*)*$", "^[$",
     "http://h.test/a |OR| ", "last", "^/a$", "http://h.test:99999/"]
)  # fmt: skip
TYPES = st.sampled_from(
    ["auto", "text", "number", "currency", "date", "month", "boolean", "url", "distance", "duration"]
)
SELECTORS = st.sampled_from(
    ["#b", "h1", "", "h1:has-text('x')", "[", "//h1", "//h1[", "text=Paid", "h1:visible", "h1 >> b"]
)
LOCATORS = st.sampled_from(
    ["document.title", "document.querySelector('h1').innerText", "", "document.", "alert(1)", "func:nothing(1)", "//h1[",
     "document.querySelector('h1:has-text(1)').innerText", "func:shopping_get_latest_order_url()", "[...document"]
)  # fmt: skip
PATHS = st.sampled_from(["", "$.a", "/a/0", "$[", "a.b", "$..a[?(@.b == 1)]", "$.a[?(@.b =~ '(a*)*b')]"])
PATTERNS = st.sampled_from(["a+", "[", "(a*)*b", "^a$", "", "(?<n>a)", "(a)\\1"])
VALUES = st.one_of(WORDS, st.integers(-2, 3), st.none(), st.booleans(), st.lists(WORDS, max_size=2), PATTERNS)
INEQUALITIES = st.sampled_from(["<= 700", "700", "> x", "== 0 |OR| > 5", "=< 5", ""])


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def listed(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return texts | st.lists(texts, max_size=3)


def check(
    kind: str, needed: dict[str, Any], **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(kind), **needed}, optional=fields)


EXPECT = some(
    equals=WORDS, contains=listed(WORDS), any_of=st.lists(WORDS, max_size=2), all_of=st.lists(WORDS, max_size=2),
    excludes=listed(WORDS), regex=PATTERNS, not_empty=st.booleans(),
)  # fmt: skip

STRING = check(
    "string_match", {}, exact=listed(WORDS), must_include=listed(WORDS), must_exclude=listed(WORDS),
    one_of=listed(WORDS), required_values=listed(INEQUALITIES), **{"as": TYPES}, tolerance=st.sampled_from([0, 1.5]),
)  # fmt: skip
URL = check(
    "url_match", {"url": listed(URLS)}, path=st.sampled_from(["exact", "prefix", "regex"]),
    query=st.sampled_from(["subset", "exact", "ignore"]), ignore=st.lists(WORDS, max_size=2),
    fragment=st.sampled_from(["given", "exact", "ignore"]),
)  # fmt: skip
PAGE = st.one_of(
    check("page", {"selector": SELECTORS, "expect": EXPECT}, property=st.sampled_from(["text", "value", "href", "disabled"]),
          url=URLS, **{"as": TYPES}),
    check("page", {"locator": LOCATORS, "expect": EXPECT}, url=st.just("last"), **{"as": TYPES}),
    check("page", {"expect": EXPECT}, url=st.just("last")),
)  # fmt: skip
FIELDS = st.dictionaries(
    st.sampled_from(["a", "$.a", "$[", "$.^a$", "$.^[$", "$.^(a*)*b$"]), VALUES, max_size=2
)
NETWORK = check(
    "network",
    {"expected": st.fixed_dictionaries(
        {"url": listed(URLS)}, optional={
            "http_method": st.sampled_from(["GET", "POST", "post", ""]), "response_status": st.sampled_from([200, 302, -1]),
            "headers": FIELDS, "query_params": FIELDS, "post_data": FIELDS, "response_content": FIELDS,
            "response_cookies": FIELDS,
        })},
    last_event_only=st.booleans(), should_not_exist=st.booleans(), is_navigation=st.booleans(),
    ignored_query_params=st.lists(WORDS, max_size=2), ignored_query_params_patterns=st.lists(PATTERNS, max_size=2),
    ignored_post_data_params_patterns=st.lists(PATTERNS, max_size=2), decode_base64_query=st.booleans(),
)  # fmt: skip
STATE = check(
    "state.http",
    {"exchange": st.fixed_dictionaries(
        {"method": st.sampled_from(["GET", "POST"]), "path": st.sampled_from(["/api", "/none", "api", "http://h.test/api"])},
        optional={"which": st.sampled_from(["first", "last", "any", "count"]),
                  "side": st.sampled_from(["request", "response", "status", "headers"]), "ok": st.booleans()})},
    where=st.lists(
        st.fixed_dictionaries({"at": PATHS}, optional={
            "op": st.sampled_from(["equals", "not_equals", "in", "contains", "subset", "matches", "exists", "absent",
                                   "length", "lt", "le", "gt", "ge", "changed"]),
            "value": VALUES, "type": TYPES, "any": st.booleans()}),
        max_size=2),
)  # fmt: skip
SCRIPT = check(
    "state.script", {"value": st.sampled_from(["done", "a b", ""])}, op=st.sampled_from(["equals", "matches", "lt", "in"]),
    expected=VALUES,
)  # fmt: skip
RESPONSE = check(
    "agent_response",
    {"expected": st.fixed_dictionaries(
        {"task_type": st.sampled_from(["retrieve", "mutate", "navigate"])},
        optional={"retrieved_data": st.none() | st.lists(VALUES, max_size=2)})},
    results_schema=st.sampled_from([{}, {"type": "array", "items": {"type": "string"}}, {"type": "null"},
                                    {"type": "array", "items": {"type": "number"}}]),
    ordered=st.booleans(),
)  # fmt: skip

TEXT = st.one_of(
    WORDS, st.lists(WORDS, max_size=2),
    some(equals=WORDS, contains=WORDS, regex=PATTERNS, any_of=st.lists(WORDS, max_size=2)),
)  # fmt: skip
TERM = st.one_of(URLS, some(host=WORDS, path=WORDS, regex=PATTERNS, equals=URLS, contains=WORDS))
MATCH = some(
    kind=st.sampled_from(["step", "answer", "request", "dialog"]), action=st.sampled_from(["click", "press", "@activate", "clik"]),
    text=TEXT, value=TEXT, message=TEXT, selector=SELECTORS, url=st.lists(TERM, max_size=2),
)  # fmt: skip
RULE = st.one_of(
    st.fixed_dictionaries({"type": st.just("never"), "match": MATCH}),
    st.fixed_dictionaries({"type": st.just("at_most"), "n": st.integers(0, 2), "match": MATCH}),
    st.fixed_dictionaries({"type": st.just("url_boundary")}, optional={"deny": st.lists(TERM, max_size=2), "allow": st.lists(TERM, max_size=2)}),
    st.fixed_dictionaries({"type": st.just("page_state"), "expect": EXPECT}, optional={"locator": LOCATORS | SELECTORS, "property": st.just("text")}),
)  # fmt: skip
POLICIES = st.fixed_dictionaries({"id": st.just("p"), "dimension": st.just("user_consent"), "rule": RULE})

BASE = {"id": "t", "intent": "Try it.", "start_urls": ["http://h.test/"], "sites": ["shop"]}
KINDS = {
    "string_match": STRING, "url_match": URL, "page": PAGE, "network": NETWORK, "state.http": STATE,
    "state.script": SCRIPT, "agent_response": RESPONSE,
}  # fmt: skip
TASKS = {name: kind.map(lambda one: {**BASE, "checks": [one]}) for name, kind in KINDS.items()}
TASKS["policy"] = POLICIES.map(
    lambda one: {**BASE, "checks": [{"type": "string_match", "exact": "x"}], "policies": [one]}
)
