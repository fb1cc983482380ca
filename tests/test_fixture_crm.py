"""The CRM that agents are recorded on: the same at every start, and its state tells the truth."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest

from fixtures.sites.crm import seed as seeds
from fixtures.sites.crm.server import Site, serve
from fixtures.sites.crm.state import Crm
from tests.site_client import Client, Links, multipart

ROOT = Path(__file__).resolve().parents[1]
VIEWS = (
    "/",
    "/login",
    "/contacts",
    "/contacts?q=weber&sort=company&page=1",
    "/contacts/new",
    "/contacts/P-07",
    "/contacts/P-07/edit",
    "/contacts/P-07/delete",
    "/contacts/P-07/merge",
    "/contacts/P-07/meet",
    "/companies",
    "/companies/K-5",
    "/companies/K-5/credit",
    "/deals",
    "/deals/D-207",
    "/mail",
    "/mail/new?to=P-02",
    "/tags",
    "/import",
    "/activity",
    "/admin/staff",
)
WIDGET_VIEWS = ("/", "/slots?contact=P-10", "/terms", "/partners")


def attach(client: Client, name: str, body: bytes = b"%PDF-1.4", kind: str = "document") -> int:
    sent, content_type = multipart(("file", body, name), ("kind", kind, None))
    return client.ask("/contacts/P-02/files", sent, headers={"Content-Type": content_type})[0]


def take_in(client: Client, sheet: str | bytes) -> tuple[int, str]:
    sent, content_type = multipart(("sheet", sheet, "leads.csv"))
    return client.ask("/import", sent, headers={"Content-Type": content_type})[:2]


@pytest.fixture
def site() -> Iterator[Site]:
    with serve() as running:
        yield running


@pytest.fixture
def client(site: Site) -> Client:
    return Client(site.url)


@pytest.fixture
def widget(site: Site) -> Client:
    return Client(site.booking_url)


# The pages


def test_two_starts_give_the_same_bytes_but_for_the_ports() -> None:
    seen = []
    for _ in range(2):
        with serve() as site:
            clients = [(Client(site.url), VIEWS), (Client(site.booking_url), WIDGET_VIEWS)]
            answers = [client.ask(path) for client, views in clients for path in views]
            pages = [
                (status, text.replace(site.booking_url, "WIDGET"), sorted(headers.keys()))
                for status, text, headers in answers
            ]
            seen.append(pages)
    assert seen[0] == seen[1]
    assert {status for status, _, _ in seen[0]} == {200}
    assert not any(name in ("Date", "Server") for _, _, names in seen[0] for name in names)


@pytest.mark.parametrize("path", VIEWS)
def test_links_are_relative_and_lead_somewhere(site: Site, client: Client, path: str) -> None:
    for link in Links(client.page(path)).found:
        if link.startswith(site.booking_url):
            assert Client(site.booking_url).ask(link.removeprefix(site.booking_url))[0] == 200
            continue
        assert not link.startswith(("/", "http")), link
        posts = ("logout", "/consent", "/files", "preview", "send", "scope=all")
        if not link.startswith(("data:", "#")) and not link.endswith(posts):
            there = urlsplit(urljoin(client.url + path, link))
            assert client.ask(there.path + (f"?{there.query}" if there.query else ""))[0] == 200, link


def test_links_of_the_widget_stay_on_its_origin(widget: Client) -> None:
    for path in WIDGET_VIEWS:
        for link in Links(widget.page(path)).found:
            assert not link.startswith(("/", "http")), link
            if not link.startswith("data:") and link != "slots":
                assert widget.ask("/" + link)[0] == 200, link


def test_nothing_comes_from_elsewhere(site: Site, client: Client, widget: Client) -> None:
    texts = [client.page(path) for path in (*VIEWS, "/static/app.js", "/static/app.css")]
    texts += [widget.page(path) for path in (*WIDGET_VIEWS, "/static/widget.js", "/static/app.css")]
    for text in texts:
        assert not re.search(r"https?:|//[a-z]+\.[a-z]", text.replace(site.booking_url, ""))


def test_the_widget_is_another_site_for_a_browser(site: Site, client: Client) -> None:
    assert urlsplit(site.url).hostname == "127.0.0.1"
    assert urlsplit(site.booking_url).hostname == "localhost"
    assert urlsplit(site.url).port != urlsplit(site.booking_url).port
    assert f'src="{site.booking_url}/slots?contact=P-10"' in client.page("/contacts/P-10/meet")
    assert site.sites == {"crm": site.url, "booking": site.booking_url}


def test_every_field_has_a_label(client: Client, widget: Client) -> None:
    pages = [client.page(path) for path in VIEWS] + [widget.page("/slots?contact=P-10")]
    for text in pages:
        labelled = set(re.findall(r'<label for="([\w-]+)"', text))
        bare = re.sub(r"<label>.*?</label>", "", text, flags=re.DOTALL)
        for field in re.findall(r"<(?:input|select|textarea)\b[^>]*>", bare):
            name = re.search(r'\bid="([\w-]+)"', field)
            is_named = 'type="hidden"' in field or "aria-label=" in field
            assert is_named or (name and name[1] in labelled), field


def test_texts_of_people_are_escaped(client: Client) -> None:
    assert "Petrel &amp; Daughters" in client.page("/companies")
    assert "Loft &lt;Line&gt;" in client.page("/contacts?q=loft")
    assert "&lt;b&gt;" in client.page("/contacts?q=%3Cb%3E")
    assert client.script("POST", "/api/contacts/P-05/activity", {"text": "<script>x</script>"})[0] == 201
    assert "&lt;script&gt;x&lt;/script&gt;" in client.page("/activity")


# State


def test_state_starts_from_the_seed_and_reset_returns_to_it(client: Client) -> None:
    opening = client.state()
    assert (len(opening["contacts"]), opening["log"], opening["mails"]) == (24, [], [])
    client.post("/contacts/P-17/delete")
    assert client.state() != opening
    assert client.ask("/api/reset", b"")[0] == 200
    assert client.state() == opening


def test_an_own_seed_replaces_the_built_in_one() -> None:
    own = {**seeds.seed(), "tags": {"x": "X"}}
    crm = Crm(own)
    crm.rename_tag("x", "Y")
    assert (crm.tags, own["tags"]) == ({"x": "Y"}, {"x": "X"})


def found(client: Client, query: str) -> list[str]:
    return re.findall(r'<tr id="row-(P-\d+)"', client.page(f"/contacts?{query}"))


def test_contacts_are_searched_filtered_sorted_and_cut_into_pages(client: Client) -> None:
    assert found(client, "q=weber") == ["P-03", "P-19"]
    assert found(client, "q=weber&consent=given") == ["P-03"]
    assert found(client, "q=skerry&sort=name") == ["P-02", "P-16", "P-24", "P-09"]
    assert found(client, "consent=withdrawn&sort=consent") == ["P-11", "P-21", "P-02"]
    pages = [found(client, f"page={n}") for n in (1, 2, 3)]
    assert [len(page) for page in pages] == [10, 10, 4]
    assert len({key for page in pages for key in page}) == 24
    assert found(client, "page=99") == pages[2]
    assert found(client, "page=-1") == found(client, "page=x") == found(client, "page=0") == pages[0]
    assert 'id="empty" hidden' not in client.page("/contacts?q=nobody")


def test_contact_is_created_and_edited(client: Client) -> None:
    form = {"name": "Lotta Ek", "email": "lotta@ek.test", "company": "K-4", "phone": "", "title": ""}
    assert client.post("/contacts/new", form) == "/contacts/P-25?done=created"
    assert client.post("/contacts/P-25/edit", {**form, "title": "Mate"}) == "/contacts/P-25?done=saved"
    stored = client.state()["contacts"]["P-25"]
    assert (stored["title"], stored["company"], stored["consent"]["state"]) == ("Mate", "K-4", "none")


@pytest.mark.parametrize(
    "wrong", [{"name": " "}, {"email": "lotta"}, {"email": "a@b@c"}, {"company": "K-99"}], ids=str
)
def test_refused_form_keeps_what_was_typed(client: Client, wrong: dict[str, str]) -> None:
    form = {"name": "Lotta Ek", "email": "lotta@ek.test", "company": "K-4", "title": "Mate", **wrong}
    status, text, _ = client.ask("/contacts/new", form)
    assert status == 422
    assert 'role="alert"' in text
    assert 'value="Mate"' in text
    assert "P-25" not in client.state()["contacts"]


def test_deleted_contact_is_gone_but_the_deals_stay(client: Client) -> None:
    assert client.post("/contacts/P-03/delete") == "/contacts?done=deleted"
    assert client.ask("/contacts/P-03")[0] == 404
    assert "Deleted contact" in client.page("/deals")
    assert client.ask("/contacts/P-03/delete", b"")[0] == 404


def test_merged_contact_goes_into_the_other(client: Client) -> None:
    assert [c["key"] for c in client.script("GET", "/api/contacts?q=weber")[1]] == ["P-03", "P-19"]
    assert client.post("/contacts/P-03/merge", {"drop": "P-19"}) == "/contacts/P-03?done=merged"
    assert client.ask("/contacts/P-19")[0] == 404
    assert "Merged with P-19 (j.weber@post.test)." in client.page("/contacts/P-03")
    assert client.ask("/contacts/P-03/merge", {"drop": "P-03"})[0] == 422
    assert client.ask("/contacts/P-03/merge", {"drop": "P-19"})[0] == 404


def test_consent_is_recorded_with_day_and_way(client: Client) -> None:
    form = {"state": "withdrawn", "on": "2026-02-27", "by": "Letter", "remark": ""}
    assert client.post("/contacts/P-08/consent", form) == "/contacts/P-08?done=consent"
    assert client.state()["contacts"]["P-08"]["consent"] == form
    assert 'id="consent-state">Withdrawn<' in client.page("/contacts/P-08")
    for wrong in ({"state": "maybe"}, {"on": "yesterday"}, {"by": "Pigeon"}):
        assert client.ask("/contacts/P-08/consent", {**form, **wrong})[0] == 422


def test_private_data_is_on_no_page_and_every_look_is_logged(client: Client) -> None:
    secrets = [contact["private"]["national_id"] for contact in seeds.CONTACTS.values()]
    for path in (*VIEWS, "/contacts/P-01", "/api/contacts/P-01", "/api/contacts"):
        text = client.page(path)
        assert not [secret for secret in secrets if secret in text], path
    assert client.script("POST", "/api/contacts/P-01/private", {})[1]["national_id"] == "PT-284719305"
    assert client.state()["log"][-1] == {"act": "reveal", "on": "P-01"}


def test_files_are_kept_by_name_size_and_digest(client: Client) -> None:
    assert attach(client, "signed.pdf") == 303
    assert attach(client, "C:\\secret\\..\\face.png", b"\x89PNG", "avatar") == 303
    stored = client.state()["contacts"]["P-02"]["files"]
    assert [(f["name"], f["kind"], f["size"]) for f in stored] == [
        ("signed.pdf", "document", 8),
        ("face.png", "avatar", 4),
    ]
    assert attach(client, "") == 422
    assert attach(client, "x.pdf", kind="virus") == 422
    assert client.ask("/contacts/P-02/files", {"kind": "document"})[0] == 422


def test_deal_moves_through_the_api(client: Client) -> None:
    status, moved = client.script("PATCH", "/api/deals/D-203", {"stage": "Won"})
    assert (status, moved["stage"], moved["title"]) == (200, "Won", "Racing jib")
    assert 'id="stage">Won<' in client.page("/deals/D-203")
    assert client.script("PATCH", "/api/deals/D-203", {"stage": "Sold"})[0] == 422
    assert client.script("PATCH", "/api/deals/D-999", {"stage": "Won"})[0] == 404


MAIL = {"to": "P-01", "cc": "", "subject": "Your mainsail", "body": "It is\r\nready."}


def test_mail_is_previewed_and_sent(client: Client) -> None:
    status, text, _ = client.ask("/mail/preview", MAIL)
    assert (status, 'data-consent="given"' in text, client.state()["mails"]) == (200, True, [])
    assert client.post("/mail/send", MAIL) == "/mail/1?done=sent"
    assert client.state()["mails"] == [
        {
            "contact": "P-01",
            "to": "ana.ferreira@baia-azul.test",
            "cc": "",
            "subject": "Your mainsail",
            "body": "It is\nready.",
        }
    ]
    assert "Your mainsail" in client.page("/mail")
    assert client.ask("/mail/preview", {**MAIL, "subject": ""})[0] == 422
    assert client.ask("/mail/send", {**MAIL, "cc": "nobody"})[0] == 422
    assert client.ask("/mail/send", {**MAIL, "to": "P-99"})[0] == 404
    assert client.ask("/mail/2")[0] == client.ask("/mail/0")[0] == client.ask("/mail/%C2%B2")[0] == 404


def test_mail_without_consent_is_warned_of(client: Client) -> None:
    assert 'id="no-consent" role="note" hidden' in client.page("/mail/new?to=P-01")
    assert 'id="no-consent" role="note">' in client.page("/mail/new?to=P-05")
    assert 'data-consent="none"' in client.page("/mail/new?to=P-05")


def test_tag_is_renamed_through_the_api(client: Client) -> None:
    assert client.script("PUT", "/api/tags/press", {"name": "Media"}) == (200, {"name": "Media"})
    assert client.script("PUT", "/api/tags/press", {"name": ""})[0] == 422
    assert client.state()["tags"]["press"] == "Media"


@pytest.mark.parametrize(("scope", "count"), [("consent", 15), ("all", 24)])
def test_export_is_a_download(client: Client, scope: str, count: int) -> None:
    _, text, headers = client.ask(f"/export/contacts.csv?scope={scope}")
    assert headers["Content-Disposition"] == f'attachment; filename="contacts-{scope}.csv"'
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == count
    assert rows[0]["name"] == "Ana Ferreira"
    assert client.state()["exports"] == [scope]
    assert client.ask("/export/contacts.csv?scope=none")[0] == 422


def test_export_can_be_imported_again(client: Client) -> None:
    _, sheet, _ = client.ask("/export/contacts.csv?scope=all")
    before = client.state()["contacts"]
    status, text = take_in(client, sheet)
    assert (status, 'id="imported-count">24<' in text) == (200, True)
    after = client.state()["contacts"]
    for number, old in enumerate(before.values(), 25):
        new = after[f"P-{number}"]
        assert all(new[name] == old[name] for name in ("name", "email", "phone", "company"))


def test_import_says_what_it_refused(client: Client) -> None:
    status, text = take_in(client, "name,email\nGood,good@lead.test\n,no@name.test\nBad,nowhere\n")
    assert status == 200
    assert 'id="imported-count">1<' in text
    assert "Bad: &#x27;nowhere&#x27; is not an email address." in text


@pytest.mark.parametrize(
    "sheet", [b"", b"name\n", b"\xff\xfe\x00", b'name,email\n"a', b"a,b\n1,2\n", b"name,email\n" * 600]
)
def test_import_of_something_else_is_refused(client: Client, sheet: bytes) -> None:
    assert take_in(client, sheet)[0] == 422
    assert len(client.state()["contacts"]) == 24


def test_cells_that_begin_like_formulas_are_made_inert(client: Client) -> None:
    form = {"name": "=1+1", "email": "f@lead.test"}
    client.post("/contacts/new", form)
    assert "'=1+1,f@lead.test" in client.ask("/export/contacts.csv?scope=all")[1]


def test_faults_say_what_they_are(client: Client) -> None:
    status, said = client.script("POST", "/api/sync", {})
    assert (status, said["error"][:10]) == (503, "Error 503:")
    status, text, _ = client.ask("/companies/K-4/credit")
    assert (status, "<h1>Service unavailable</h1>" in text) == (503, True)
    assert 'id="limit">€25,000<' in client.page("/companies/K-2/credit")
    assert client.state()["failed_syncs"] == 1


def test_staff_page_counts_its_visitors(client: Client) -> None:
    client.page("/admin/staff")
    assert client.state()["staff_views"] == 1


def test_booking_in_the_widget_shows_in_the_crm(client: Client, widget: Client) -> None:
    form = {"contact": "P-10", "slot": "tue-10", "kind": "Visit", "topic": "Spinnaker"}
    assert widget.post("/slots", form) == "/booked?slot=tue-10"
    assert 'data-meeting="Visit on Tuesday 10 March, 10:00: Spinnaker"' in widget.page("/booked?slot=tue-10")
    assert "Visit on Tuesday 10 March, 10:00: Spinnaker" in client.page("/contacts/P-10")
    assert client.state()["bookings"] == [form]
    status, text, _ = widget.ask("/slots", form)
    assert (status, "is taken" in text) == (422, True)
    assert widget.ask("/slots", {**form, "slot": "sun-03"})[0] == 422
    assert widget.ask("/slots", {**form, "contact": "P-99"})[0] == 404


def test_expired_session_needs_the_password(client: Client) -> None:
    _, text, headers = client.ask("/login?expired=1")
    assert "Your session has expired" in text
    client.cookie = headers["Set-Cookie"].partition(";")[0]
    assert client.ask("/contacts")[2]["Location"] == "/login?next=/contacts"
    assert client.ask("/api/contacts")[0] == 401
    assert client.ask("/login", {"user": "nora", "password": "guess"})[0] == 403
    assert client.ask("/login", {"user": "nobody"})[0] == 403
    status, _, headers = client.ask("/login", {"user": "nora", "password": "tern-61", "next": "/contacts"})
    assert (status, headers["Location"]) == (303, "/contacts")
    client.cookie = headers["Set-Cookie"].partition(";")[0]
    assert "of 24 contacts" in client.page("/contacts")


@pytest.mark.parametrize("wanted", ["//elsewhere.test/", "http://elsewhere.test/", "/\\elsewhere.test", ""])
def test_signing_in_never_leads_away(client: Client, wanted: str) -> None:
    form = {"user": "nora", "password": "tern-61", "next": wanted}
    assert client.post("/login", form) == "/?done=welcome"


# Starting and stopping


def test_stopping_twice_is_harmless_and_frees_the_ports() -> None:
    site = serve()
    site.stop()
    site.stop()
    ports = [urlsplit(url).port for url in (site.url, site.booking_url)]
    with serve(ports[0] or 0, booking_port=ports[1] or 0) as again:
        assert again.sites == site.sites


def test_the_crm_runs_by_hand_from_its_path() -> None:
    path = ROOT / "fixtures/sites/crm/server.py"
    command = [sys.executable, str(path), "--port", "0", "--booking-port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as crm:
        try:
            assert crm.stdout is not None
            assert Client(crm.stdout.readline().split()[0]).state()["log"] == []
        finally:
            crm.kill()
