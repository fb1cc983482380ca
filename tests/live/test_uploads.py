"""Contents of uploaded files, whoever gives them to the page and whatever the page does with them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.task import decode_task
from replaykit.trajectory.action import FileInfo, UploadFile
from replaykit.trajectory.scalars import Omitted
from tests.thorough import one_in

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import BrowserContext, Page

pytestmark = pytest.mark.live

SECRET = "RX-5502-QUARTZ"
TEXT = f"name,code\nAnn,{SECRET}\n"
PLAIN = "name,code\nAnn,none\n"
PAGE = """<!doctype html><title>Up</title><input type=file id=f multiple><input type=file id=once>
<div id=zone style="width:200px;height:80px;background:#eee">Drop</div><button id=b>Go</button><script>
once.addEventListener('change', () => { once.value = ''; });
zone.ondragover = zone.ondrop = (event) => event.preventDefault();
</script>"""
DROP = """(text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], 'a.csv', {type: 'text/csv'}));
  const fire = (name) => zone.dispatchEvent(new DragEvent(name, {dataTransfer: data, bubbles: true, cancelable: true}));
  fire('dragenter'), fire('dragover'), fire('drop');
}"""


def by_buffer(page: Page, path: Path) -> None:
    page.set_input_files("#f", {"name": "a.csv", "mimeType": "text/csv", "buffer": path.read_bytes()})


def by_path(page: Page, path: Path) -> None:
    page.set_input_files("#f", path)


def to_one_that_is_emptied(page: Page, path: Path) -> None:
    page.set_input_files("#once", path)


def over_cdp(page: Page, path: Path) -> None:
    session = page.context.new_cdp_session(page)
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    node = session.send("DOM.querySelector", {"nodeId": root, "selector": "#f"})["nodeId"]
    session.send("DOM.setFileInputFiles", {"nodeId": node, "files": [str(path)]})


def by_drop(page: Page, path: Path) -> None:
    page.evaluate(DROP, path.read_text())


WAYS = [by_buffer, by_path, to_one_that_is_emptied, over_cdp, by_drop]


def recorded(
    context: BrowserContext, site: Site, out: Path, act: Callable[[Page], None], **options: Any
) -> tuple[list[FileInfo], dict[str, bytes]]:
    """Record one action; returns the files that were uploaded, and the contents that were kept."""
    page = context.new_page()
    page.goto(site.add("/", PAGE))
    with Recorder(out, **options) as run:
        run.attach(page)
        act(page)
        page.click("#b")
    with open_bundle(out) as bundle:
        uploads = [one.action for one in bundle.trajectory.steps if isinstance(one.action, UploadFile)]
        files = [file for upload in uploads for file in upload.files]
        return files, {one.body: bundle.blob(one.body) for one in files if isinstance(one.body, str)}


def leak(out: Path) -> tuple[str, tuple[str, ...]]:
    rule = {"type": "no_leak", "secrets": [SECRET]}
    task = {
        "id": "t",
        "intent": "x",
        "start_urls": [],
        "checks": [],
        "policies": [{"id": "p", "dimension": "user_consent", "rule": rule}],
    }
    (found,) = grade(out, task=decode_task(task)).policies
    return str(found.outcome), found.missing


@pytest.mark.parametrize("way", one_in(3, [*WAYS]))
@pytest.mark.parametrize(("text", "outcome"), [(TEXT, "VIOLATED"), (PLAIN, "OK")])
def test_a_text_file_is_kept_and_decides(
    context: BrowserContext, site: Site, tmp_path: Path, way: Any, text: str, outcome: str
) -> None:
    (tmp_path / "a.csv").write_text(text)
    out = tmp_path / "run.zst"
    (file,), kept = recorded(context, site, out, lambda page: way(page, tmp_path / "a.csv"))
    assert (file.name, file.size) == ("a.csv", len(text))
    assert list(kept.values()) == [text.encode()]
    assert leak(out)[0] == outcome


def test_files_that_are_no_text_or_too_large_are_named_by_their_digests(
    context: BrowserContext, site: Site, tmp_path: Path
) -> None:
    contents = {"a.bin": b"\0\x01\x02", "b.txt": b"x" * (2**20 + 1), "c.txt": "ä€".encode("utf-16")}
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    out, paths = tmp_path / "run.zst", [tmp_path / name for name in contents]
    files, kept = recorded(context, site, out, lambda page: page.set_input_files("#f", paths))
    digests = [hashlib.sha256(data).hexdigest() for data in contents.values()]
    assert [file.body for file in files[:2]] == [
        Omitted(why="type", n=3, sha256=digests[0]),
        Omitted(why="cap", n=2**20 + 1, sha256=digests[1]),
    ]
    assert list(kept.values()) == ["ä€".encode()]
    assert leak(out) == ("UNDECIDED", ("upload@0",))


def test_secrets_do_not_reach_the_disk(context: BrowserContext, site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TEXT)
    out = tmp_path / "run.zst"
    _, kept = recorded(
        context, site, out, lambda page: by_path(page, tmp_path / "a.csv"), secrets={"own": SECRET}
    )
    assert list(kept.values()) == [TEXT.replace(SECRET, "⟦secret:own⟧").encode()]


def test_a_page_that_goes_at_once_leaves_it_open(context: BrowserContext, site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(PLAIN)
    site.add("/next", "<button id=b>Go</button>")
    out = tmp_path / "run.zst"

    def act(page: Page) -> None:
        page.evaluate("f.addEventListener('change', () => { location = '/next'; })")
        page.set_input_files("#f", tmp_path / "a.csv")
        page.wait_for_url("**/next")

    (file,), kept = recorded(context, site, out, act)
    assert leak(out)[0] == ("OK" if kept else "UNDECIDED")
    assert file.name == "a.csv"
