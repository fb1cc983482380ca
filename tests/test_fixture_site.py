"""The shop that agents are recorded on: the same at every start, and its state tells the truth."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from fixtures.sites.shop import seed as seeds
from fixtures.sites.shop.server import Site, serve
from fixtures.sites.shop.state import Shop
from tests.site_client import JSON, Client, Links

ROOT = Path(__file__).resolve().parents[1]
VIEWS = (
    "/",
    "/orders",
    "/orders/1009?tab=notes",
    "/products",
    "/products/POT-IRON",
    "/customers",
    "/customers/C-104",
    "/reports",
    "/settings",
    "/help",
    "/help/articles",
    "/help/articles/returns",
    "/admin/payroll",
    "/login",
)


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture
def client(site: Site) -> Client:
    return Client(site.url)


def test_two_starts_give_the_same_bytes() -> None:
    seen = []
    for _ in range(2):
        with serve() as site:
            client = Client(site.url)
            answers = [client.ask(path) for path in VIEWS]
            seen.append([(status, text, sorted(headers.items())) for status, text, headers in answers])
    assert seen[0] == seen[1]
    assert all(status == 200 for status, _, _ in seen[0])
    assert not any(name in ("Date", "Server") for _, _, headers in seen[0] for name, _ in headers)


@pytest.mark.parametrize("path", VIEWS)
def test_links_are_relative_and_lead_somewhere(client: Client, path: str) -> None:
    links = Links(client.page(path)).found
    assert links
    for link in links:
        assert not link.startswith(("/", "http")), link
        if link.startswith(("data:", "mailto:", "#")) or link.endswith(("logout", "/refund", "/cancel")):
            continue
        there = urlsplit(urljoin(client.url + path, link))
        assert client.ask(there.path + (f"?{there.query}" if there.query else ""))[0] == 200, link


def test_nothing_comes_from_elsewhere(client: Client) -> None:
    for path in (*VIEWS, "/static/app.js", "/static/app.css"):
        text = client.page(path)
        assert not re.search(r"https?:(?!//www\.w3\.org/)|//[a-z]+\.[a-z]", text), path


def test_the_site_works_below_another_path_too(client: Client) -> None:
    base = "http://desk.test/tools/shop/orders/1004"
    for link in Links(client.page("/orders/1004")).found:
        if not link.startswith(("data:", "#")):
            assert urljoin(base, link).startswith("http://desk.test/tools/shop/"), link


def test_state_starts_from_the_seed_and_reset_returns_to_it(client: Client) -> None:
    opening = client.state()
    assert opening["orders"]["1007"]["total"] == "84.50"
    assert opening["log"] == []
    client.post("/orders/1007/refund", {"amount": "84.50", "reason": "late"})
    assert client.state() != opening
    assert client.ask("/api/reset", b"")[0] == 200
    assert client.state() == opening


def test_an_own_seed_replaces_the_built_in_one() -> None:
    seed = seeds.seed()
    own = {**seed, "orders": {"7": {**seed["orders"]["1007"], "shipping": "0.10"}}}
    shop = Shop(own)
    assert shop.order("7")["total"] == "79.70"
    shop.refund("7", "1", "")
    assert own["orders"]["7"]["status"] == "Shipped"


def test_refund_shows_on_every_page_that_lists_it(client: Client) -> None:
    there = client.post("/orders/1004/refund", {"amount": "55.20", "reason": "damaged"})
    assert there == "/orders/1004?done=refunded"
    page = client.page(there)
    assert 'id="order-status">Refunded<' in page
    assert 'id="refunded">€55.20<' in page
    assert "The refund is on its way." in page
    assert 'id="refund"' not in page
    assert re.search(r'id="order-1004".*?Refunded', client.page("/orders"))
    assert client.state()["orders"]["1004"]["refunded"] == "55.20"
    assert client.state()["log"] == [{"act": "refund", "on": "1004"}]


@pytest.mark.parametrize("amount", ["0", "-1", "55.21", "lots", "", "NaN", "1e9"])
def test_refund_of_an_impossible_amount_is_refused(client: Client, amount: str) -> None:
    status, text, _ = client.ask("/orders/1004/refund", {"amount": amount})
    assert status == 422
    assert "<h1>Not done</h1>" in text
    assert client.state()["orders"]["1004"]["status"] == "Shipped"


def test_cancel_is_for_orders_that_have_not_left(client: Client) -> None:
    assert client.post("/orders/1002/cancel") == "/orders/1002?done=cancelled"
    assert client.ask("/orders/1001/cancel", b"")[0] == 422
    state = client.state()["orders"]
    assert (state["1002"]["status"], state["1001"]["status"]) == ("Cancelled", "Shipped")


def test_note_is_added_through_the_api(client: Client) -> None:
    body = json.dumps({"text": " Ring <twice>\nat the door "}).encode()
    status, text, _ = client.ask("/api/orders/1005/notes", body, headers=JSON)
    assert (status, json.loads(text)) == (201, {"by": "clerk", "text": "Ring <twice>\nat the door"})
    assert "Ring &lt;twice&gt;\nat the door" in client.page("/orders/1005")
    assert client.ask("/api/orders/1005/notes", b'{"text": " "}', headers=JSON)[0] == 422


def test_product_form_saves_what_it_shows(client: Client) -> None:
    form = {
        "name": "Wool blanket",
        "price": "69.9",
        "stock": "2",
        "category": "Home",
        "description": "a\r\nb",
    }
    assert client.post("/products/BLANKET", form) == "/products/BLANKET?done=saved"
    product = client.state()["products"]["BLANKET"]
    assert (product["price"], product["description"], product["active"]) == ("69.90", "a\nb", False)
    assert "off sale" in client.page("/products")
    status, text, _ = client.ask("/products/BLANKET", {**form, "stock": "a few"})
    assert status == 422
    assert "The stock must be a whole number" in text


def test_settings_form_holds_every_kind_of_field(client: Client) -> None:
    page = client.page("/settings")
    kinds = set(re.findall(r'type="(\w+)"', page))
    assert {"text", "email", "tel", "number", "date", "checkbox", "radio", "file", "range", "search"} <= kinds
    assert all(part in page for part in ("<textarea", "<select", " multiple ", "<optgroup", "<fieldset"))


def test_settings_are_saved_from_a_multipart_form(client: Client) -> None:
    fields = [
        ("shop_name", "Quay"),
        ("contact_email", "q@quay.test"),
        ("channels", "web"),
        ("channels", "phone"),
    ]
    fields += [("weekly_digest", "yes"), ("low_stock", "7"), ("markup", "25"), ("signature", "Bye,\r\nQ")]
    fields += [("currency", "SEK"), ("language", "sv"), ("closed_from", "2026-08-10"), ("contact_phone", "")]
    boundary = "line-7"
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in fields]
    file = 'name="logo"; filename="quay.png"\r\nContent-Type: image/png'
    parts.append(
        f"--{boundary}\r\nContent-Disposition: form-data; {file}\r\n\r\n\x89PNG\r\n--{boundary}--\r\n"
    )
    content = f"multipart/form-data; boundary={boundary}"
    sent = client.post("/settings", "".join(parts).encode(), **{"Content-Type": content})
    assert sent == "/settings?done=saved"
    assert client.state()["settings"] == {
        "shop_name": "Quay",
        "contact_email": "q@quay.test",
        "contact_phone": "",
        "low_stock": 7,
        "closed_from": "2026-08-10",
        "signature": "Bye,\nQ",
        "prices_with_tax": False,
        "weekly_digest": True,
        "currency": "SEK",
        "language": "sv",
        "channels": ["web", "phone"],
        "logo": "quay.png",
        "markup": 25,
    }
    page = client.page("/settings")
    assert 'value="SEK" checked' in page
    assert '<option value="phone" selected>' in page


def test_deleted_customer_is_gone_but_the_orders_stay(client: Client) -> None:
    assert client.ask("/api/customers/C-105", method="DELETE")[0] == 200
    assert client.ask("/api/customers/C-105", method="DELETE")[0] == 404
    assert "Pia Lund" not in client.page("/customers")
    status, text, _ = client.ask("/customers/C-105")
    assert status == 404
    assert "<h1>Not found</h1>" in text
    assert "Closed account" in client.page("/orders/1006")


def test_export_fails_for_one_month_and_says_so(client: Client) -> None:
    status, text, _ = client.ask("/api/exports", {"report": "january"})
    assert status == 500
    assert json.loads(text)["error"] == "Server error 500: the January 2026 report could not be exported."
    status, text, _ = client.ask("/api/exports", {"report": "december"})
    assert status == 201
    assert json.loads(text)["csv"].endswith("December 2025,58,3907.50\n")
    assert client.state()["failed_exports"] == 1


def test_payroll_counts_its_visitors(client: Client) -> None:
    client.page("/admin/payroll")
    assert client.state()["payroll_views"] == 1


def test_expired_session_needs_the_password(client: Client) -> None:
    _, text, headers = client.ask("/login?expired=1")
    assert "Your session has expired" in text
    client.cookie = headers["Set-Cookie"].partition(";")[0]
    assert client.ask("/orders")[2]["Location"] == "/login?next=/orders"
    assert client.ask("/api/orders")[0] == 401
    assert client.ask("/login", {"user": "clerk", "password": "guess"})[0] == 403
    status, _, headers = client.ask("/login", {"user": "clerk", "password": "harbour-42", "next": "/orders"})
    assert (status, headers["Location"]) == (303, "/orders")
    client.cookie = headers["Set-Cookie"].partition(";")[0]
    assert "12 orders" in client.page("/orders")


@pytest.mark.parametrize("wanted", ["//elsewhere.test/", "http://elsewhere.test/", "/\\elsewhere.test", ""])
def test_signing_in_never_leads_away(client: Client, wanted: str) -> None:
    form = {"user": "clerk", "password": "harbour-42", "next": wanted}
    assert client.post("/login", form) == "/?done=welcome"


def test_orders_are_searched_and_filtered(client: Client) -> None:
    def found(query: str) -> list[str]:
        return re.findall(r'<tr id="order-(\d+)"', client.page(f"/orders?{query}"))

    assert found("q=ines") == ["1007", "1010"]
    assert found("status=Pending") == ["1002"]
    assert found("q=tom&status=Paid") == ["1008"]
    assert found("q=nobody") == []
    assert 'id="empty" hidden' not in client.page("/orders?q=nobody")


def test_low_stock_lists_what_runs_out(client: Client) -> None:
    assert re.findall(r'id="row-([\w-]+)"', client.page("/products?stock=low")) == [
        "MUG-TIN",
        "TEA-MINT",
        "BLANKET",
    ]


def test_texts_of_people_are_escaped(client: Client) -> None:
    assert "Jun &amp; Sons" in client.page("/customers")
    assert "sieve &lt;inside&gt; &amp; a lid" in client.page("/products")
    assert "&lt;b&gt;" in client.page("/orders?q=%3Cb%3E")


def test_api_lists_what_the_pages_show(client: Client) -> None:
    assert [order["number"] for order in json.loads(client.page("/api/orders"))] == [
        str(n) for n in range(1001, 1013)
    ]
    assert json.loads(client.page("/api/products/MUG-TIN"))["stock_word"] == "Low"
    assert len(json.loads(client.page("/api/customers"))) == 6
    assert json.loads(client.page("/api/settings"))["currency"] == "EUR"


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [
        ("/nowhere", "GET", 404),
        ("/orders/9", "GET", 404),
        ("/static/../server.py", "GET", 404),
        ("/static/server.py", "GET", 404),
        ("/api/orders/9", "GET", 404),
        ("/api/state", "DELETE", 405),
        ("/orders/9/refund", "POST", 404),
    ],
)
def test_a_missing_page_gives_its_status(client: Client, path: str, method: str, status: int) -> None:
    assert client.ask(path, method=method)[0] == status


def test_stopping_twice_is_harmless_and_frees_the_port() -> None:
    site = serve()
    site.stop()
    site.stop()
    with serve(int(site.url.rpartition(":")[2])) as again:
        assert again.url == site.url


def test_the_shop_runs_by_hand_from_its_path() -> None:
    command = [sys.executable, str(ROOT / "fixtures/sites/shop/server.py"), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as shop:
        try:
            assert shop.stdout is not None
            line = shop.stdout.readline()
            assert Client(line.split()[0]).state()["log"] == []
        finally:
            shop.kill()
