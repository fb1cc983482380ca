"""URL terms by their shape, and conditions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.policies.events.url_conditions import UrlTests, address, is_blank, parts_of
from replaykit.tasks.policy_rules import Url

TERMS = [
    # has ://
    ("http://shop.test/orders", "https://shop.test/orders/7", True),
    ("http://shop.test/orders", "http://shop.test/orders-old", False),
    ("http://shop.test/orders", "http://shop.test:8080/orders", False),
    ("http://shop.test:8080/", "http://shop.test:8080/any", True),
    ("http://SHOP.test:80/a/../b", "http://shop.test/b", True),
    ("http://shop.test/?tab=notes", "http://shop.test/orders?tab=notes&x=1", True),
    ("http://shop.test/app#/users", "http://shop.test/app#/users/7", True),
    ("http://shop.test", "http://evil.test/http://shop.test", False),
    # a final dot, other letters
    ("shop.test", "http://www.shop.test./x", True),
    ("http://shop.test/x", "http://shop.test./x", True),
    ("shop.test.", "http://shop.test/x", True),
    ("bücher.test", "http://xn--bcher-kva.test/", True),
    # wildcards: a segment
    ("https://shop.test/admin/*", "https://shop.test/admin/users", True),
    ("https://shop.test/admin/*", "https://shop.test/admin/users/7", True),
    ("https://shop.test/admin/*", "https://shop.test/admin", False),
    ("https://shop.test/*", "https://shop.test/", True),
    ("/orders/*/edit", "https://shop.test/eu/orders/7/edit", True),
    ("/orders/*/edit", "https://shop.test/orders/7/8/edit", False),
    ("/orders-*", "https://shop.test/orders-2020/x", True),
    ("/orders-*", "https://shop.test/orders", False),
    ("/a*b*c", "https://shop.test/a1bb2c", True),
    ("/a*ab", "https://shop.test/ab", False),
    # any number of segments
    ("https://shop.test/admin/**", "https://shop.test/admin", True),
    ("/orders/**/edit", "https://shop.test/orders/7/8/edit", True),
    ("**/edit", "https://shop.test/orders/7/8/edit", True),
    ("/orders/**/edit", "https://shop.test/orders/7/8/view", False),
    # hosts, ports, schemes, pairs, routes
    ("*.shop.test", "https://www.eu.shop.test/", True),
    ("*.shop.test", "https://shop.test/", True),
    ("*.shop.test", "https://myshop.test/", False),
    ("https://*.shop.test/x", "https://a.shop.test/x/y", True),
    ("https://*.shop.test/x", "https://evil.test/shop.test/x", False),
    ("https://shop-*.test/", "https://shop-eu.test/x", True),
    ("https://shop-*.test/", "https://a.shop-eu.test/x", False),
    ("shop-*.test", "https://a.shop-eu.test/x", True),
    ("face*", "https://www.facebook.com/", True),
    ("http://localhost:*/x", "http://localhost:8123/x", True),
    ("localhost:*", "http://localhost:8123/x", True),
    ("*://shop.test/x", "https://shop.test/x", True),
    ("http*://shop.test/x", "https://shop.test/x", True),
    ("view=Pay*", "http://hr.test/app.php?view=Payroll", True),
    ("?view=Pay*", "http://hr.test/app.php?view=Repay", False),
    ("/#/admin*", "http://crm.test/#/administration/index", True),
    ("/#/admin", "http://crm.test/#/administration/index", False),
    # an escaped one is a character
    ("/a%2Ab", "http://hr.test/a*b", True),
    ("/a%2Ab", "http://hr.test/axb", False),
    # key=value
    ("view=Payroll", "http://hr.test/app.php?view=payroll", True),
    ("view=Payroll", "http://hr.test/app.php#/list?view=Payroll", True),
    ("view=Payroll", "http://hr.test/view=Payroll/x", True),
    ("view=Payroll", "http://hr.test/app.php?preview=Payroll", False),
    ("q=a b", "http://hr.test/?q=a+b", True),
    # path, query, fragment
    ("/billing", "http://shop.test/billing-faq", False),
    ("/billing", "http://shop.test/eu/billing/7", True),
    ("/billing", "http://shop.test/app#/billing", True),
    ("/billing", "http://shop.test/faq#billing", False),
    ("/a/b", "http://h.test/a/x/b", False),
    ("/profile", "http://h.test/profiler", False),
    ("/caf%C3%A9", "http://h.test/café", True),
    ("/a%2Fb", "http://h.test/a/b", False),
    ("?tab=history", "http://h.test/orders?tab=history", True),
    ("/orders?tab=history", "http://h.test/orders", False),
    ("#settings", "http://h.test/x#settings", True),
    # dot
    ("shop.test", "http://www.shop.test/x", True),
    ("shop.test", "http://notshop.test/", False),
    ("shop.test:8080", "http://shop.test:8080/", True),
    ("shop.test:8080", "http://shop.test/", False),
    # bare word
    ("hr", "http://hr.corp.test/", True),
    ("hr", "http://corp.test/hr", False),
    ("localhost", "http://localhost:3000/", True),
    # host and path, without a scheme
    ("shop.test/admin", "https://shop.test/admin/users", True),
    ("shop.test/admin", "https://eu.shop.test/admin", True),
    ("shop.test/admin", "https://shop.test/administrators", False),
    ("shop.test/admin", "https://shop.test/eu/admin", False),
    ("shop.test/admin", "https://other.test/shop.test/admin", False),
    ("shop.test/*/edit", "https://shop.test/7/edit", True),
    ("shop.test/app#/users", "https://shop.test/app#/users/7", True),
    ("//shop.test/admin", "https://shop.test/admin", True),
    ("https:shop.test/admin", "https://shop.test/admin", True),
    ("localhost:3000/admin", "http://localhost:3000/admin", True),
    ("localhost:3000/admin", "http://localhost:4000/admin", False),
    ("[::1]:3000/admin", "http://[0:0::1]:3000/admin", True),
    ("//admin", "https://shop.test/admin", True),
    # the same host, written otherwise
    ("shop.test/admin", "https://SHOP.test./admin", True),
    ("shop.test:443", "https://shop.test/", True),
    ("shop.test:80", "http://shop.test/", True),
    ("shop.test:80", "https://shop.test/", False),
    ("::1", "http://[::1]:8080/", True),
    ("bücher.test", "https://xn--bcher-kva.test/", True),
    ("xn--bcher-kva.test", "https://bücher.test/", True),
    ("bücher", "https://xn--bcher-kva.test/", True),
    ("127.0.0.1", "http://2130706433/", True),
    # what stands before `@` is no host
    ("shop.test", "https://shop.test@evil.test/", False),
    ("https://shop.test", "https://shop.test:pw@evil.test/", False),
    ("evil.test", "https://shop.test@evil.test/", True),
    # other spellings of a path
    ("/admin", "https://h.test/%61dmin", True),
    ("/admin", "https://h.test/%2561dmin", False),
    ("/admin", "https://h.test/x/%2e%2e/admin", True),
    ("/admin", "https://h.test\\admin", True),
    ("/admin", "https://h.test/ad\tmin", True),
    ("/admin", "https://h.test/admin;jsessionid=1/users", True),
    ("/admin", "https://h.test/?next=/admin", False),
    ("/admin", "https://h.test/#!/admin/users", True),
    ("https://h.test/#/a", "https://h.test/x#/a", False),
    ("https://h.test/x#/a", "https://h.test/x/#/a/b", True),
    # any host, any address of a scheme
    ("https://*", "http://any.test/x", True),
    ("*://*:3000/x", "http://any.test:3000/x/y", True),
    ("data:", "data:text/html,<p>x", True),
    ("javascript:", "https://h.test/javascript:", False),
]


@pytest.mark.parametrize(("term", "url", "holds"), TERMS)
def test_terms(term, url, holds):
    assert UrlTests(term).holds(url) is holds


@pytest.mark.parametrize(
    ("condition", "url", "holds"),
    [
        (Url(host="*.example.test"), "http://desk.example.test/", True),
        (Url(path="/orders/*/edit"), "http://h.test/eu/orders/7/edit", True),
        (Url(path="/orders/*/edit"), "http://h.test/eu/orders/edit", False),
        (Url(query={"tab": "n*s"}), "http://h.test/?tab=notes", True),
        (Url(fragment="#/admin*"), "http://h.test/#/administration", True),
        (Url(host="example.test"), "http://desk.example.test/", True),
        (Url(host="desk.example.test"), "http://example.test/", False),
        (Url(path="/orders"), "http://h.test/eu/orders/7", True),
        (Url(path="orders/7"), "http://h.test/orders/77", False),
        (Url(fragment="users"), "http://h.test/#/all/users/7", True),
        (Url(query={"tab": ("a", "b")}), "http://h.test/?tab=B", True),
        (Url(query={"tab": "a"}), "http://h.test/#/x?tab=a", True),
        (Url(query={"tab": "a"}), "http://h.test/?tab=ab", False),
        (Url(equals="HTTP://H.test:80/x"), "http://h.test/x", True),
        (Url(equals="https://h.test./x/?b=2&a=1"), "http://h.test/%78?a=1&b=2", True),
        (Url(equals="https://h.test/x"), "https://h.test./x", True),
        (Url(equals="https://h.test/x"), "https://h.test/x/y", False),
        (Url(equals="https://h.test/x"), "https://h.test/x#/y", False),
        (Url(equals="https://h.test/x"), "https://h.test:8443/x", False),
        (Url(contains="h.test/x"), "https://h.test./x", True),
        (Url(contains="shop.test"), "https://shop.test@evil.test/", False),
        (Url(regex="^https://shop"), "https://shop.test@evil.test/", False),
        (Url(fragment="!/users"), "http://h.test/#!/users/7", True),
        (Url(host="shop.test."), "https://shop.test/", True),
        (Url(contains="a b"), "http://h.test/a%20b", True),
        (Url(regex=r"/orders/\d+$"), "http://h.test/orders/12", True),
        (Url(host="h.test", path="/x"), "http://h.test/y", False),
    ],
)
def test_conditions(condition, url, holds):
    assert UrlTests((condition,)).holds(url) is holds


@pytest.mark.parametrize(
    "url", ["", "about:blank", "about:newtab", "chrome://newtab/", "chrome-error://chromewebdata/"]
)
def test_empty_tabs_are_nowhere(url):
    assert is_blank(url)


def test_what_no_browser_goes_to_has_no_address():
    assert address("http://[::") is None
    assert not UrlTests("/x").holds("http://[::")
    assert address("shop.test/x").host == "shop.test"


SEGMENT = st.text("abcxyz0%é ", min_size=1, max_size=5).map(lambda t: t.strip().replace("%", "%25") or "0")


@given(st.lists(SEGMENT, min_size=1, max_size=4), st.data())
def test_every_run_of_segments_is_a_term_of_its_url(path, data):
    low = data.draw(st.integers(0, len(path) - 1))
    high = data.draw(st.integers(low + 1, len(path)))
    url = "http://h.test/" + "/".join(path)
    where = address(url)
    run = "/" + "/".join(path[low:high])
    if len(where.path) == len(path):  # a browser drops blanks at the end
        assert UrlTests(run).holds(url)


URL = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["http://h.test", "https://a.h.test:8080", "about:blank", "//", ""]),
    st.lists(st.sampled_from(["/a", "/b", "/a=1", "/a%0Ab", "/"]), max_size=3).map("".join),
    st.sampled_from(["", "?a=1", "?b=2&a=1", "?c"]),
    st.sampled_from(["", "#a", "#/b/a?a=1", "#!/a"]),
)
TERM = URL | st.sampled_from(
    [
        "*",
        "/a/*",
        "**/b",
        "*.h.test",
        "a=*",
        "/#/*",
        "http://*.h.test:*/a",
        "h*.test",
        "/a*/**",
        "a",
        "h.test",
        "a.h.test:8080",
        "a=1",
        "a=1&b=2",
        "/a/b",
        "?a=1",
        "#a",
        "/#/b",
        "h",
    ]
)


@given(TERM, URL)
def test_every_url_that_meets_a_term_holds_one_of_its_words(term, url):
    tests = UrlTests(term)
    if tests.words is not None and tests.holds(url):
        assert any(word in parts_of(url) for word in tests.words)


@pytest.mark.parametrize(("term", "url", "holds"), TERMS)
def test_the_words_of_terms_are_few_but_never_wrong(term, url, holds):
    words = UrlTests(term).words
    assert (words is None) is ("*" in term or term in ("data:", "javascript:"))
    if words is None:
        return
    assert not holds or any(word in parts_of(url) for word in words)
