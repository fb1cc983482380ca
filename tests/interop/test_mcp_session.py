"""Sessions of Playwright's MCP server: both forms of `session.md`, and what lies beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.interop.playwright_mcp.mcp_log import CALL, parse
from replaykit.interop.run_import import import_run, import_runs
from replaykit.trajectory.action import (
    Check,
    Click,
    Fill,
    Goto,
    SelectOption,
    ToolCall,
    Type,
    Unknown,
    tag_of,
)
from replaykit.trajectory.exchange import Console, Rest
from replaykit.trajectory.observation import Observation
from tests.interop.conftest import Importing
from tests.interop.samples import MCP_PAGE, mcp_entries, mcp_entry, playwright_mcp, png, trace_events, write


def test_calls_are_steps_and_a_form_is_one_for_each_field(tmp_path: Path, imported: Importing) -> None:
    run = imported("playwright-mcp", playwright_mcp(tmp_path)).trajectory
    go, name, news, size, password, look, click, shot, script = [step.action for step in run.steps]
    assert go == Goto(url="http://shop.test/")
    assert isinstance(name, Fill) and name.value == "Ann" and name.element is not None
    assert (name.element.ref, name.element.text) == ("e5", "Name")
    assert isinstance(news, Check) and isinstance(size, SelectOption) and size.labels == ("two",)
    assert isinstance(password, Type) and password.value == "⟦masked⟧"
    assert isinstance(look, ToolCall) and isinstance(shot, ToolCall) and isinstance(script, Unknown)
    assert isinstance(click, Click) and click.element is not None and click.element.ref == "e12"
    assert [step.turn for step in run.steps] == [1, 2, 2, 2, 3, 4, 5, 6, 7]
    assert run.steps[6].error is not None and run.steps[6].error.message == "Error: covered"


SECRET_CODES = [
    "await page.getByLabel('Notes').fill(process.env['SHOP_PW']);",
    "page.get_by_label('Notes').fill(os.environ['SHOP_PW'])",
    'page.getByLabel("Notes").fill(System.getenv("SHOP_PW"));',
    'await page.GetByLabel("Notes").FillAsync(Environment.GetEnvironmentVariable("SHOP_PW"));',
]


@pytest.mark.parametrize("code", SECRET_CODES)
def test_the_name_of_a_secret_was_never_entered(code: str, tmp_path: Path, imported: Importing) -> None:
    # `--secrets` of the server: the agent names the secret, and the server enters it.
    form = [{"target": "e5", "name": "Notes", "type": "textbox", "value": "SHOP_PW"}]
    entries = [
        mcp_entry("browser_type", {"target": "e5", "element": "Notes", "text": "SHOP_PW"}, code=code),
        mcp_entry("browser_fill_form", {"fields": form}, code=code),
        mcp_entry("browser_type", {"target": "e5", "element": "Notes", "text": "tea"}, code=code),
        mcp_entry("browser_type", {"target": "e5", "element": "Notes", "text": "SHOP_PW"}, code="fill('SHOP_PW')"),
    ]  # fmt: skip
    path = write(tmp_path, "session-1/session.md", "\n".join(entries))
    actions = [step.action for step in imported("playwright-mcp", path).trajectory.steps]
    values = [one.value for one in actions if isinstance(one, Type | Fill)]
    assert values == ["⟦masked⟧", "⟦masked⟧", "tea", "SHOP_PW"]


def test_pages_trees_and_screenshots_follow_their_calls(tmp_path: Path, imported: Importing) -> None:
    bundle = imported("playwright-mcp", playwright_mcp(tmp_path))
    looks = {one.of: one for one in bundle.trajectory.of_type(Observation)}
    assert (looks[0].url, looks[0].title) == ("http://shop.test/", "Shop")
    assert [(tab.url, tab.title, tab.active) for tab in looks[6].tabs] == [
        ("http://shop.test/", "Shop [1]", False), ("http://shop.test/2", "Two", True),
    ]  # fmt: skip
    assert bundle.blob(str(looks[7].screenshot)) == png(4)
    assert '"Password" [ref=e7]: ⟦masked⟧' in bundle.blob(str(looks[5].a11y)).decode()
    everything = b"".join(bundle.lines) + b"".join(map(bundle.blob, bundle.blob_ids))
    assert b"hunter22secret" not in everything
    for name in ("actions", "urls", "a11y", "screenshots", "console"):
        assert bundle.trajectory.channel(name) == "partial", name


def test_a_short_password_is_masked_in_trees(tmp_path: Path, imported: Importing) -> None:
    tree = '- textbox "Password" [active] [ref=e7]: tea\n- \'textbox "Your PIN: password" [ref=e8]\': "4711"\n- text: tea'
    path = playwright_mcp(tmp_path, mcp_entry("browser_snapshot", {}, page=MCP_PAGE, inlineSnapshot=tree))
    bundle = imported("playwright-mcp", path)
    (look,) = bundle.trajectory.of_type(Observation)
    text = bundle.blob(str(look.a11y)).decode()
    assert text.count("⟦masked⟧") == 2 and "4711" not in text and text.endswith("- text: tea")


def test_consoles_are_read_by_their_lines(tmp_path: Path, imported: Importing) -> None:
    run = imported("playwright-mcp", playwright_mcp(tmp_path)).trajectory
    assert [(one.level, one.text, one.source, one.step) for one in run.of_type(Console)] == [
        ("error", "Not found", "http://shop.test/x:0", 0), ("log", "two", None, 0),
    ]  # fmt: skip


def test_what_is_not_beside_the_log_is_reported_once(tmp_path: Path) -> None:
    entries = [
        mcp_entry("browser_take_screenshot", {}, result="- [Screenshot of viewport](out/page-1.png)"),
        mcp_entry("browser_take_screenshot", {}, result="Took it and saved it as /tmp/out/page-2.jpeg"),
        mcp_entry(
            "browser_click", {"element": "x", "ref": "e1"}, events="- New console entries: a/gone.log#L1"
        ),
    ]
    path = playwright_mcp(tmp_path / "in", *entries)
    write(path, "page-2.jpeg", png(9))
    (done,) = import_runs("playwright-mcp", [path], tmp_path / "out")
    assert done.warnings == (
        "out/page-1.png is a screenshot that is not in the folder",
        "a/gone.log is a console log that is not in the folder",
    )


def test_a_trace_of_the_session_names_its_log(tmp_path: Path) -> None:
    folder = playwright_mcp(tmp_path / "in")
    lines = "\n".join(json.dumps(one) for one in trace_events())
    write(folder, "traces/trace-1795595353400.trace", lines)
    done, log = import_runs("auto", [folder], tmp_path / "out")
    assert done.warnings[0] == "its session.md is a separate run: `replaykit import playwright-mcp` reads it"
    assert (log.state, Path(log.source).parent) == ("left", folder)


OLD = """
### Tool call: browser_navigate
- Args
```json
{
  "url": "http://shop.test/"
}
```
- Code
```js
await page.goto('http://shop.test/');
```
- Snapshot: 001.snapshot.yml


### Tool call: browser_evaluate
- Args
```json
{
  "function": "() => text"
}
```
- Result
```
a fence:
```
more
```
- Code
```js
await page.evaluate('() => text');
```
- Snapshot: 002.snapshot.yml


### User action: click
- Args
```json
{
  "name": "click",
  "button": "left"
}
```
- Code
```js
await page.getByText('x').click();
```
- Snapshot: 003.snapshot.yml


### Tool call: browser_click
- Args
```json
{
  "element": "Buy",
  "ref": "e3"
}
```
- Error
```
Error: no such ref
```
- Snapshot: 004.snapshot.yml

"""
"""As releases 0.0.37 to 0.0.55 write it."""


def test_the_older_form(tmp_path: Path, imported: Importing) -> None:
    folder = tmp_path / "session-7"
    write(folder, "session.md", OLD)
    for number in (1, 2, 4):
        write(folder, f"00{number}.snapshot.yml", f'- textbox "Password" [ref=e7]: pass{number}word')
    bundle = imported("playwright-mcp", folder)
    run = bundle.trajectory
    assert [tag_of(step.action) for step in run.steps] == ["goto", "browser_evaluate", "click"]
    assert run.steps[1].returned == {
        "result": "a fence:\n```\nmore",
        "code": "await page.evaluate('() => text');",
    }
    assert run.steps[2].error is not None and run.steps[2].error.message == "Error: no such ref"
    assert [one.of for one in run.of_type(Observation)] == [0, 1, 2]
    assert b"2word" not in b"".join(map(bundle.blob, bundle.blob_ids))
    (user,) = run.of_type(Rest)
    assert user.value["user"] == "click" and "getByText" in str(user.value)


def test_only_a_tool_that_takes_screenshots_names_one(tmp_path: Path, imported: Importing) -> None:
    shot = mcp_entry("browser_take_screenshot", {}, result="- [Screenshot of viewport](./shot.png)")
    entry = mcp_entry("browser_evaluate", {}, result="shot.png and http://shop.test/logo.png")
    folder = tmp_path / "session-7"
    write(folder, "session.md", entry + shot)
    write(folder, "shot.png", png(1))
    found = imported("playwright-mcp", folder).trajectory.of_type(Observation)
    assert [look.of for look in found if look.screenshot] == [1]


def test_an_entry_that_a_page_forged_shows_by_its_number(tmp_path: Path) -> None:
    forged = "done\n```\n\n### Tool call: browser_click\n- Args\n```json\n{}\n```\n- Snapshot: 002.snapshot.yml\n\n"
    text = OLD.replace("a fence:\n", forged)
    write(tmp_path / "in" / "session-7", "session.md", text)
    (done,) = import_runs("playwright-mcp", [tmp_path / "in"], tmp_path / "out")
    assert any("whose number is another one" in line for line in done.warnings)


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_marks_and_line_ends_of_other_systems(change, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]  # text to text
    lines = []
    for number, how in enumerate((lambda text: text, change)):
        path = playwright_mcp(tmp_path / str(number), how("".join(mcp_entries())))
        import_run("playwright-mcp", path, tmp_path / f"{number}.zst")
        with open_bundle(tmp_path / f"{number}.zst") as bundle:
            lines.append([bytes(line) for line in bundle.lines[1:]])
    assert lines[0] == lines[1]


@given(
    st.lists(
        st.sampled_from([*OLD.split("\n"), *mcp_entries()[0].split("\n"), "```", CALL + "x"]), max_size=30
    )
)
def test_any_lines_are_read(lines: list[str]) -> None:
    log = parse("\n".join(lines))
    heads = [line for line in lines if line.startswith(("### Tool call: ", "### User action: "))]
    assert len(log.entries) <= len(heads)
