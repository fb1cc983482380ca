"""The recorder attached to pages of this process: what the bundle then holds, and what the agent notices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import UsageError
from replaykit.recorder.recorder import AsyncRecorder, Recorder
from replaykit.snapshot.codec import decode
from replaykit.tasks.checks import PageCheck
from replaykit.tasks.task import Task, decode_task
from replaykit.trajectory.action import Action, Click, Fill, Goto, Press, SelectOption, tag_of
from replaykit.trajectory.exchange import Dialog, Exchange, Gap, Message, Navigation, TabChange
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.step import Probe, Step, Trajectory

if TYPE_CHECKING:
    from conftest import Site
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.live

SHOP = """<!doctype html><title>Shop</title>
<form action=/done method=get>
<label>Name <input name=name id=name></label>
<label>Size <select name=size id=size><option value=s>Small<option value=l>Large</select></label>
<label><input type=checkbox name=gift id=gift> Gift</label>
<input type=password name=pin id=pin>
<button id=buy>Buy</button></form>
<a href=/other id=other>Other</a> <a href=/other target=_blank id=popup>New tab</a>
<button type=button id=sure onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Sure</button>
<button type=button id=ask onclick="document.title = prompt('Who?', 'Ann') ?? 'nobody'">Ask</button>
"""
DONE = "<!doctype html><title>Done</title><p id=said>Thank you.</p>"
OTHER = "<!doctype html><title>Other</title><p>Elsewhere</p>"


@pytest.fixture
def start(site: Site) -> str:
    """The URL of the shop's first page."""
    site.add("/done", DONE)
    site.add("/other", OTHER)
    site.add("/favicon.ico", "", "image/x-icon")
    return site.add("/", SHOP)


@pytest.fixture
def context(browser: Browser) -> Any:
    made = browser.new_context(viewport={"width": 800, "height": 600})
    made.set_default_timeout(60_000)
    yield made
    made.close()


def recorded(path: Path) -> Trajectory:
    with open_bundle(path) as bundle:
        assert bundle.layout == "sealed"
        trajectory = bundle.trajectory
        for event in trajectory.events:
            for id in snapshots(event):
                decode(bundle.blob(id))
    return trajectory


def snapshots(event: Any) -> list[str]:
    looks = [event.before] if isinstance(event, Step) else [event]
    return [one.snapshot for one in looks if isinstance(one, Observation) and isinstance(one.snapshot, str)]


def acts(trajectory: Trajectory) -> list[tuple[str, str | None]]:
    return [(tag_of(step.action), css(step.action)) for step in trajectory.steps]


def css(action: Action) -> str | None:
    return action.element.css if action.element else None


def looks(trajectory: Trajectory, role: str) -> list[Observation]:
    return [one for one in trajectory.of_type(Observation) if one.role == role]


def record(
    out: Path, context: BrowserContext, start: str, act: Callable[[Page, Recorder], Any], **options: Any
) -> Trajectory:
    """Open the start page, record what `act` does, return what the bundle holds."""
    page = context.new_page()
    page.goto(start)
    with Recorder(out, **options) as run:
        run.attach(context)
        act(page, run)
    return recorded(out)


def in_thread(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run async work where no sync driver owns the event loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()


def shop_round(page: Page, run: Recorder) -> None:
    page.fill("#name", "Ann")
    page.select_option("#size", "l")
    page.check("#gift")
    page.click("#buy")
    page.wait_for_selector("#said")
    run.answer("done")


def test_actions_of_a_form_in_order(tmp_path: Path, context: BrowserContext, start: str) -> None:
    trajectory = record(tmp_path / "run.zst", context, start, shop_round)
    assert acts(trajectory) == [
        ("fill", "#name"),
        ("select_option", "#size"),
        ("check", "#gift"),
        ("click", "#buy"),
    ]
    fill, select, _, click = (step.action for step in trajectory.steps)
    assert isinstance(fill, Fill)
    assert isinstance(select, SelectOption)
    assert isinstance(click, Click)
    assert (fill.value, select.values, select.labels) == ("Ann", ("l",), ("Large",))
    assert click.element is not None
    assert (click.element.role, click.element.name) == ("button", "Buy")
    assert [step.index for step in trajectory.steps] == [0, 1, 2, 3]
    assert all(step.before is not None and step.before.snapshot for step in trajectory.steps)
    assert trajectory.answer == "done"
    assert trajectory.ending is not None
    assert (trajectory.ending.kind, trajectory.ending.cause) == ("answered", "agent")
    assert trajectory.of_type(Gap) == ()


def test_start_is_an_observation_and_no_step(tmp_path: Path, context: BrowserContext, start: str) -> None:
    trajectory = record(tmp_path / "run.zst", context, start, lambda page, run: None)
    assert trajectory.steps == ()
    (first,) = looks(trajectory, "start")
    (last,) = looks(trajectory, "final")
    assert first.url == last.url == start
    assert (first.title, first.viewport) == ("Shop", (800, 600))
    assert first.snapshot == last.snapshot
    assert trajectory.ending is not None
    assert trajectory.ending.kind == "stopped"
    environment = trajectory.header.environment
    assert (environment.driver, environment.browser, environment.headless) == ("playwright", "chromium", True)
    assert environment.browser_version


@pytest.mark.thorough
def test_navigation_is_caused_by_its_step_and_has_its_exchange(
    tmp_path: Path, context: BrowserContext, start: str
) -> None:
    trajectory = record(tmp_path / "run.zst", context, start, shop_round)
    (moved,) = trajectory.of_type(Navigation)
    assert (moved.kind, moved.cause, moved.step, moved.status) == ("form", "step", 3, 200)
    assert moved.url == start + "done?name=Ann&size=l&gift=on&pin="
    (exchange,) = [one for one in trajectory.of_type(Exchange) if one.id == moved.exchange]
    assert (exchange.method, exchange.resource, exchange.status) == ("GET", "document", 200)
    assert ("Referer", start) in (exchange.request_headers or ())
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert isinstance(exchange.body, str)
        assert bundle.blob(exchange.body) == DONE.encode()
    (last,) = looks(trajectory, "final")
    assert (last.title, last.status) == ("Done", 200)


def test_goto_back_and_reload_are_the_agent_s(tmp_path: Path, context: BrowserContext, start: str) -> None:
    def act(page: Page, run: Recorder) -> None:
        page.goto(start + "other")
        page.go_back()
        page.reload()
        page.go_forward()

    trajectory = record(tmp_path / "run.zst", context, start, act)
    assert [tag_of(step.action) for step in trajectory.steps] == ["goto", "go_back", "reload", "go_forward"]
    first = trajectory.steps[0].action
    assert isinstance(first, Goto)
    assert first.url == start + "other"


def test_screenshots_are_the_pixels(tmp_path: Path, context: BrowserContext, start: str) -> None:
    trajectory = record(tmp_path / "run.zst", context, start, lambda page, run: page.wait_for_timeout(600))
    (first,) = looks(trajectory, "start")
    assert isinstance(first.screenshot, str)
    with open_bundle(tmp_path / "run.zst") as bundle:
        assert bundle.blob_type(first.screenshot) == "image/x-portable-pixmap"
        assert bundle.blob(first.screenshot).startswith(b"P6\n800 600\n255\n")


@pytest.mark.thorough
def test_without_screenshots_and_network_their_channels_are_absent(
    tmp_path: Path, context: BrowserContext, start: str
) -> None:
    trajectory = record(tmp_path / "run.zst", context, start, shop_round, screenshots="off", network="off")
    assert trajectory.channel("screenshots") == trajectory.channel("network") == "absent"
    assert all(one.screenshot is None for one in trajectory.of_type(Observation))
    assert trajectory.of_type(Exchange) == ()


@pytest.mark.thorough
def test_dialogs_are_seen_and_still_dismissed(tmp_path: Path, context: BrowserContext, start: str) -> None:
    def act(page: Page, run: Recorder) -> None:
        page.click("#sure")
        assert page.title() == "no"
        page.click("#ask")
        assert page.title() == "nobody"

    trajectory = record(tmp_path / "run.zst", context, start, act)
    sure, ask = trajectory.of_type(Dialog)
    assert (sure.kind, sure.message, sure.accepted, sure.step) == ("confirm", "Sure?", False, 0)
    assert (ask.kind, ask.default, ask.accepted, ask.step) == ("prompt", "Ann", False, 1)


def test_agent_s_own_dialog_handler_decides(tmp_path: Path, context: BrowserContext, start: str) -> None:
    def act(page: Page, run: Recorder) -> None:
        page.on("dialog", lambda dialog: dialog.accept("Bob"))
        page.click("#ask")
        assert page.title() == "Bob"

    (dialog,) = record(tmp_path / "run.zst", context, start, act).of_type(Dialog)
    assert (dialog.accepted, dialog.input) == (True, "Bob")


def test_popup_is_a_tab_with_its_opener(tmp_path: Path, context: BrowserContext, start: str) -> None:
    def act(page: Page, run: Recorder) -> None:
        with page.expect_popup() as opened:
            page.click("#popup")
        opened.value.wait_for_selector("text=Elsewhere")
        opened.value.wait_for_timeout(300)
        opened.value.close()

    trajectory = record(tmp_path / "run.zst", context, start, act)
    states = [(tab.state, tab.page) for tab in trajectory.of_type(TabChange)]
    assert ("opened", 1) in states
    assert ("closed", 1) in states
    (opened,) = [tab for tab in trajectory.of_type(TabChange) if (tab.state, tab.page) == ("opened", 1)]
    assert opened.opener == 0
    assert any(one.page == 1 and one.url == start + "other" for one in looks(trajectory, "after"))


def test_password_leaves_no_trace(tmp_path: Path, context: BrowserContext, start: str) -> None:
    word = "hunter2-hunter2"

    def act(page: Page, run: Recorder) -> None:
        page.fill("#pin", word)
        page.locator("#pin").press_sequentially("zq")
        page.wait_for_timeout(300)

    trajectory = record(tmp_path / "run.zst", context, start, act)
    fill = trajectory.steps[0].action
    assert isinstance(fill, Fill)
    assert fill.value == "⟦masked⟧"
    with open_bundle(tmp_path / "run.zst") as bundle:
        held = [*bundle.lines, *(bundle.blob(id) for id in bundle.blob_ids)]
    assert not any(word.encode() in data for data in held)


FETCHED = """fetch('/other', {method: 'POST', headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({user: {pw: key.value}})}); return false"""


@pytest.mark.parametrize(
    "attributes",
    [
        'method="post"',
        'method="post" enctype="multipart/form-data"',
        'method="get"',
        f'onsubmit="{FETCHED}"',
    ],
    ids=["form", "multipart", "query", "JSON"],
)
def test_a_password_is_not_kept_where_its_page_sends_it(
    attributes: str, tmp_path: Path, context: BrowserContext, start: str
) -> None:
    word = "walrus-under-ice"
    field = (
        '<input id="key" name="user[pw]" type="password" aria-label="Key"><input name="note" value="kept">'
    )
    form = f"<form action='/other' {attributes}>{field}<button>Enter</button></form>"

    def act(page: Page, run: Recorder) -> None:
        page.evaluate("html => { document.body.innerHTML = html }", form)
        page.fill("#key", word)
        with page.expect_response("**/other*"):
            page.click("text=Enter")

    trajectory = record(tmp_path / "run.zst", context, start, act)
    with open_bundle(tmp_path / "run.zst") as bundle:
        held = [*bundle.lines, *(bundle.blob(id) for id in bundle.blob_ids)]
        (sent,) = [
            one for one in trajectory.of_type(Exchange) if one.url.partition("?")[0].endswith("/other")
        ]
        said = bundle.blob(sent.post) if isinstance(sent.post, str) else sent.url.encode()
    assert not any(word.encode() in data for data in held)
    assert b"masked" in said


def test_declared_secret_is_named_by_its_id_only(tmp_path: Path, context: BrowserContext, start: str) -> None:
    word = "Qx7-very-secret"

    def act(page: Page, run: Recorder) -> None:
        run.thought(f"I will type {word}")
        page.fill("#name", word)
        page.click("#buy")
        page.wait_for_selector("#said")

    trajectory = record(tmp_path / "run.zst", context, start, act, secrets={"TOKEN": word})
    fill = trajectory.steps[0].action
    assert isinstance(fill, Fill)
    assert fill.value == "⟦secret:TOKEN⟧"
    assert trajectory.header.secrets == ("TOKEN",)
    with open_bundle(tmp_path / "run.zst") as bundle:
        held = [*bundle.lines, *(bundle.blob(id) for id in bundle.blob_ids)]
    assert not any(word.encode() in data for data in held)


def test_exception_of_the_agent_is_its_ending_and_goes_on(
    tmp_path: Path, context: BrowserContext, start: str
) -> None:
    page = context.new_page()
    page.goto(start)
    with pytest.raises(ZeroDivisionError), Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        page.fill("#name", "Ann")
        raise ZeroDivisionError("by zero")
    trajectory = recorded(tmp_path / "run.zst")
    assert acts(trajectory) == [("fill", "#name")]
    ending = trajectory.ending
    assert ending is not None
    assert ending.error is not None
    assert (ending.kind, ending.cause, ending.error.name, ending.error.message) == (
        "crashed",
        "agent",
        "ZeroDivisionError",
        "by zero",
    )


def test_interrupt_seals_as_stopped_by_a_person(tmp_path: Path, context: BrowserContext, start: str) -> None:
    page = context.new_page()
    page.goto(start)
    with pytest.raises(KeyboardInterrupt), Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        raise KeyboardInterrupt
    ending = recorded(tmp_path / "run.zst").ending
    assert ending is not None
    assert (ending.kind, ending.cause) == ("stopped", "person")


def test_closing_what_was_attached_takes_the_last_look_first(
    tmp_path: Path, browser: Browser, start: str
) -> None:
    own = browser.new_context()
    page = own.new_page()
    page.goto(start)
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(own)
        page.evaluate("document.title = 'changed just now'")
        own.close()
        run.answer("closed")
    trajectory = recorded(tmp_path / "run.zst")
    (last,) = looks(trajectory, "final")
    assert last.title == "changed just now"
    assert not last.from_last
    assert trajectory.answer == "closed"


def test_objects_are_as_they_were_afterwards(
    tmp_path: Path, browser: Browser, context: BrowserContext, start: str
) -> None:
    record(tmp_path / "run.zst", context, start, lambda page, run: None)
    for target in (browser, context, context.pages[0]):
        assert not {"close", "new_page", "new_context"} & vars(target).keys()
    context.new_page().goto(start)


def test_page_cannot_detect_that_it_is_recorded(tmp_path: Path, context: BrowserContext, start: str) -> None:
    look = "[Object.getOwnPropertyNames(globalThis).sort(), document.documentElement.outerHTML, document.hasFocus()]"
    page = context.new_page()
    page.goto(start)
    plain = page.evaluate(look)
    with Recorder(tmp_path / "run.zst") as run:
        run.attach(page)
        assert page.evaluate(look) == plain
        page.reload()
        page.wait_for_timeout(300)
        assert page.evaluate(look) == plain


@pytest.mark.thorough
def test_questions_are_messages_and_thoughts_belong_to_steps(
    tmp_path: Path, context: BrowserContext, start: str
) -> None:
    def act(page: Page, run: Recorder) -> None:
        run.thought("The name first.")
        page.fill("#name", "Ann")
        assert run.ask("May I buy it?", reply="Yes.", approved=True) == "Yes."
        page.click("#buy")
        page.wait_for_selector("#said")
        run.message("Bought.")
        run.answer("42")

    trajectory = record(tmp_path / "run.zst", context, start, act)
    assert [step.thought for step in trajectory.steps] == ["The name first.", None]
    words = [(one.role, one.kind, one.text, one.approved) for one in trajectory.of_type(Message)]
    assert words == [
        ("agent", "ask", "May I buy it?", None),
        ("user", "reply", "Yes.", True),
        ("agent", "say", "Bought.", None),
        ("agent", "answer", "42", None),
    ]


def test_scripted_user_answers(tmp_path: Path, context: BrowserContext, start: str) -> None:
    user = {"rules": [{"match": "BUY", "reply": "No.", "approved": False}]}
    said = []

    def act(page: Page, run: Recorder) -> None:
        said.extend([run.ask("May I buy it?"), run.ask("And else?")])

    trajectory = record(tmp_path / "run.zst", context, start, act, user=user)
    assert said == ["No.", None]
    assert [one.approved for one in trajectory.of_type(Message) if one.kind == "reply"] == [False]


def test_declared_steps_merge_with_what_was_seen(tmp_path: Path, context: BrowserContext, start: str) -> None:
    def act(page: Page, run: Recorder) -> None:
        with run.step("fill('a1', 'Ann')", thought="Name."):
            page.fill("#name", "Ann")
        with run.step("noop(100)"):
            page.wait_for_timeout(100)
        with pytest.raises(UsageError, match="step inside of a step"), run.step("noop()"), run.step("noop()"):
            pass

    trajectory = record(tmp_path / "run.zst", context, start, act)
    first, second = trajectory.steps[:2]
    assert (first.origin, first.raw, first.thought) == ("both", "fill('a1', 'Ann')", "Name.")
    assert first.action.element is not None
    assert (first.action.element.ref, first.action.element.css) == ("a1", "#name")
    assert (second.origin, tag_of(second.action)) == ("declared", "noop")


def task_for(start: str, *checks: dict[str, Any]) -> Task:
    return decode_task(
        {"id": "t", "intent": "Buy.", "start_urls": [start], "sites": ["shop"], "checks": list(checks)}
    )


def test_probes_read_what_the_checks_ask_for(tmp_path: Path, context: BrowserContext, start: str) -> None:
    task = task_for(
        start,
        {
            "type": "page",
            "url": "__SHOP__/done",
            "selector": "#said",
            "property": "text",
            "expect": {"contains": "Thank"},
        },
        {
            "type": "page",
            "url": "last",
            "selector": "#name",
            "property": "value",
            "expect": {"equals": "Ann"},
        },
    )
    assert isinstance(task.checks[0], PageCheck)
    trajectory = record(
        tmp_path / "run.zst",
        context,
        start,
        lambda page, run: page.fill("#name", "Ann"),
        task=task,
        sites={"shop": start.rstrip("/")},
    )
    post = [probe for probe in trajectory.of_type(Probe) if probe.phase == "post"]
    values = {probe.requested: [read.value for read in probe.reads] for probe in post}
    assert values[start + "done"] == ["Thank you."]
    assert next(value for url, value in values.items() if url != start + "done") == ["Ann"]
    (elsewhere,) = [probe for probe in post if probe.requested == start + "done"]
    assert (elsewhere.status, elsewhere.settled, elsewhere.error) == (200, True, None)
    assert isinstance(elsewhere.snapshot, str)
    assert {one.actor for one in trajectory.of_type(Exchange) if one.url == start + "done"} == {"probe"}
    assert not any(tab.url == start + "done" for look in trajectory.of_type(Observation) for tab in look.tabs)
    assert len(context.pages) == 1


def test_existing_file_is_never_overwritten_unless_asked(
    tmp_path: Path, context: BrowserContext, start: str
) -> None:
    out = tmp_path / "run.zst"
    out.write_bytes(b"precious")
    with pytest.raises(Exception, match=r"run\.zst"), Recorder(out):
        pass
    assert out.read_bytes() == b"precious"
    record(out, context, start, lambda page, run: None, force=True)


@pytest.mark.parametrize("options", [{"screnshots": "off"}, {"network": "all"}, {"secrets": {"A": "abc"}}])
def test_options_that_mean_nothing_are_usage_errors(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Recorder(tmp_path / "run.zst", **options)


@pytest.mark.thorough
def test_async_pages_give_the_same_steps(
    tmp_path: Path, context: BrowserContext, start: str, browser_path: Path
) -> None:
    async def act() -> None:
        from playwright.async_api import async_playwright

        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=browser_path)
            page = await browser.new_page(viewport={"width": 800, "height": 600})
            await page.goto(start)
            async with AsyncRecorder(tmp_path / "async.zst") as run:
                await run.attach(page)
                await page.fill("#name", "Ann")
                await page.select_option("#size", "l")
                await page.check("#gift")
                async with run.step("click('b7')"):
                    await page.click("#buy")
                await page.wait_for_selector("#said")
                await page.click("#said")
                await page.keyboard.press("Escape")
                run.answer("done")
            await browser.close()

    def same(page: Page, run: Recorder) -> None:
        page.fill("#name", "Ann")
        page.select_option("#size", "l")
        page.check("#gift")
        with run.step("click('b7')"):
            page.click("#buy")
        page.wait_for_selector("#said")
        page.click("#said")
        page.keyboard.press("Escape")
        run.answer("done")

    in_thread(act)
    one, other = recorded(tmp_path / "async.zst"), record(tmp_path / "sync.zst", context, start, same)
    assert acts(one) == acts(other)
    assert isinstance(one.steps[-1].action, Press)
    assert exact(one) == exact(other)
    assert one.answer == other.answer


def exact(trajectory: Trajectory) -> list[Any]:
    """Snapshots taken inside of the gesture; for other actions, how far they lag behind depends on the pace."""
    steps = [step for step in trajectory.steps if tag_of(step.action) in ("fill", "check", "press")]
    assert all(step.before is not None and step.before.stale is None for step in steps)
    return [step.before.snapshot for step in steps if step.before is not None]
