"""A study that AgentLab wrote: its own agent and classes, a scripted model, a page with a password.

`agentlab/` was written by AgentLab 0.4.2 with BrowserGym 0.14.3: `GenericAgent`, whose model gave one answer a
step, on a page of one form.
"""

from __future__ import annotations

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.interop.browsergym import pickles
from replaykit.interop.browsergym.experiments import split_thought
from replaykit.interop.browsergym.gym_targets import targeted
from replaykit.interop.browsergym.pickles import (
    DEPTH_MAX,
    Forbidden,
    Undecodable,
    plain_values,
    read_pickle,
)
from replaykit.interop.password_masking import masked
from replaykit.interop.run_import import import_run
from replaykit.trajectory.action import Click, DragAndDrop, Element, Fill, Scroll, SendMsgToUser
from replaykit.trajectory.exchange import Message, Rest
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.step import AgentInfo
from tests.interop.conftest import Importing
from tests.interop.samples import gym_pickle, write
from tests.interop.test_flaws import everything

(STUDY,) = (Path(__file__).parent / "agentlab").iterdir()

TYPED = b"tr0ub4dor&3"
"""Text that the agent typed into the password field."""


def test_every_action_of_the_study_is_read(imported: Importing) -> None:
    run = imported("browsergym", STUDY).trajectory
    fill, click, say = run.steps
    assert isinstance(fill.action, Fill) and isinstance(click.action, Click)
    assert click.error is not None and 'bid "zz9"' in click.error.message
    assert say.action == SendMsgToUser(text="The tin mug is 4 EUR.") and run.answer == say.action.text
    assert [step.thought for step in run.steps] == [
        "I will fill now.", "I will click now.", "I will send_msg_to_user now.",
    ]  # fmt: skip
    assert run.header.agent == AgentInfo(name="GenericAgent-scripted", model="scripted")
    assert run.header.task == {"id": "openended", "intent": "Which mug is cheapest?"}


def test_an_action_names_the_element_that_the_page_showed(imported: Importing) -> None:
    element = imported("browsergym", STUDY).trajectory.steps[0].action.element
    assert element == Element(
        ref="9", tag="input", type="password", role="textbox", name="Password", masked=True,
        attributes={"id": "p", "name": "password", "type": "password"},
    )  # fmt: skip


def test_the_password_is_in_no_part_of_the_bundle(imported: Importing) -> None:
    assert TYPED not in everything(imported("browsergym", STUDY))
    assert TYPED in everything(imported("browsergym", STUDY, keeps_secrets=True))


def test_times_are_those_of_the_harness(imported: Importing) -> None:
    run = imported("browsergym", STUDY).trajectory
    assert run.header.created == "2026-11-25T13:26:40.280Z" and run.header.clock == "source"
    assert [step.t for step in run.steps] == [4789, 6489, 7135]
    assert [step.before.t for step in run.steps if step.before] == [4769, 6467, 7119]
    assert [one.stated_at for one in run.of_type(Message)] == [4584, 4598, 7137]


def test_what_no_field_holds_is_kept_and_the_rest_is_named(tmp_path: Path) -> None:
    done = import_run("browsergym", STUDY, tmp_path / "run.zst")
    (words,) = done.warnings
    parts = ("axtree_object (4)", "dom_object (4)", "extra_element_properties (4)")
    assert words == "left out: *.log (1), *.txt (1), " + ", ".join(
        f"step_*.pkl.gz obs.{one}" for one in parts
    )
    with open_bundle(tmp_path / "run.zst") as bundle:
        kept = {one.place: one.value for one in bundle.trajectory.of_type(Rest)}
    prompt = kept["step_1.pkl.gz"]["agent_info"]["chat_messages"]["messages"]
    assert [one["role"] for one in prompt] == ["system", "user", "assistant"]
    assert kept["step_1.pkl.gz"]["stats"]["n_token_goal"] == 4
    assert kept["summary_info.json"]["stats.cum_n_token_goal"] == 12
    assert kept["exp_args.pkl"]["value"]["agent_args"]["flags"]["obs"]["use_screenshot"] is True


def test_only_the_password_of_a_turn_is_masked_in_its_text(tmp_path: Path, imported: Importing) -> None:
    said = "fill('n', 'hunter the cat')\nfill('p', 'hunter')\nclick('p')"
    tree = "[n] textbox 'Name'\n[p] textbox 'Password'"
    write(tmp_path / "run", "step_0.pkl.gz", gym_pickle(0, said, axtree_txt=tree))
    write(tmp_path / "run", "step_1.pkl.gz", gym_pickle(1, None))
    steps = imported("browsergym", tmp_path / "run").trajectory.steps
    assert [getattr(step.action, "value", None) for step in steps] == ["hunter the cat", MASKED, None]
    assert all("fill('p', 'hunter')" not in step.raw for step in steps)


def test_messages_without_a_known_role_are_kept(tmp_path: Path, imported: Importing) -> None:
    chat = [{"role": "info", "message": "LINE-7", "timestamp": 1.0}, {"role": "user", "message": "Find it."}]
    write(tmp_path / "run", "step_0.pkl.gz", gym_pickle(0, "noop()", chat_messages=chat))
    bundle = imported("browsergym", tmp_path / "run")
    assert [one.text for one in bundle.trajectory.of_type(Message)] == ["Find it."]
    assert b"LINE-7" in everything(bundle)


TREE = "[1] RootWebArea 'Shop'\n\t[9] textbox 'It\\'s \"yours\"', required\n\t[19] button 'Go'"
HTML = '<form bid="1"><input bid="9" type="password" id="pw" value="x"/><a bid=\'19\'>Go</a></form>'
STRINGS = ["bid", "9", "type", "password", "INPUT", "id", "pw"]
DOM = {
    "strings": STRINGS,
    "documents": [{"nodes": {"nodeName": [4], "attributes": [[0, 1, 2, 3, 5, 6]]}}],
}


@pytest.mark.parametrize(
    ("tree", "html", "dom", "fields"),
    [
        (TREE, None, None, {"role": "textbox", "name": "It's \"yours\""}),
        (None, HTML, None, {"tag": "input", "type": "password", "attributes": {"id": "pw", "type": "password"}}),
        (None, None, DOM, {"tag": "input", "type": "password", "attributes": {"id": "pw", "type": "password"}}),
        ("[99] textbox 'no'", '<input bid="99"/>', {"strings": 3}, {}),
        ("[9] textbox 'cut", '<input bid="9"', {"strings": ["9"], "documents": [{"nodes": {}}]}, {}),
        (None, None, {"strings": ["9", "bid"], "documents": [{"nodes": {"attributes": [[1, 0], 7, [9, -1]]}}]}, {}),
    ],
)  # fmt: skip
def test_each_view_of_a_page_describes_the_element_of_a_bid(
    tree: Any, html: Any, dom: Any, fields: Any
) -> None:
    element = Element(ref="9", **fields)
    assert targeted(Click(element=Element(ref="9")), tree, html, dom) == Click(element=element)
    dragged = targeted(DragAndDrop(element=Element(ref="x"), to=Element(ref="9")), tree, html, dom)
    assert dragged == DragAndDrop(element=Element(ref="x"), to=element)


@given(st.text(max_size=80), st.text(max_size=80), st.recursive(st.none() | st.integers() | st.text(max_size=4), lambda part: st.lists(part) | st.dictionaries(st.sampled_from(["strings", "documents", "nodes", "attributes", "nodeName"]), part)))  # fmt: skip
def test_any_page_leaves_an_element(tree: str, html: str, dom: Any) -> None:
    found = targeted(Click(element=Element(ref="9")), tree, html, dom)
    assert found.element is not None and found.element.ref == "9"


class Words(dict[str, Any]):
    """A dict of a package of its own."""


class Talk(list[Any]):
    """A list of one."""


@pytest.mark.parametrize("protocol", range(2, 6))
def test_dicts_and_lists_of_foreign_classes_are_read(protocol: int) -> None:
    talk = Talk([Words(role="user", content="Find it.")])
    found = plain_values(read_pickle(pickle.dumps({"talk": talk, "tags": {"b", "a"}}, protocol)), print)
    assert found == {"talk": [{"role": "user", "content": "Find it."}], "tags": ["a", "b"]}


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.dates() | st.frozensets(st.integers()), lambda part: st.lists(part) | st.dictionaries(st.text() | st.integers(), part) | st.tuples(part)))  # fmt: skip
def test_what_a_pickle_held_fits_into_json_or_is_reported(value: Any) -> None:
    lost: list[str] = []
    found = plain_values(read_pickle(pickle.dumps(value)), lost.append)
    json.dumps(found, allow_nan=False)
    assert bool(lost) == _holds_bytes(value)


def _holds_bytes(value: Any) -> bool:
    parts = list(value.values()) if isinstance(value, dict) else value
    if isinstance(parts, list | tuple):
        return any(map(_holds_bytes, parts))
    return isinstance(value, bytes)


def test_a_list_in_itself_and_one_named_too_often_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Undecodable, match=f"more than {DEPTH_MAX} deep"):
        plain_values(read_pickle(pickle.dumps(loop)), print)
    laughs: list[Any] = ["ha"]
    for _ in range(30):
        laughs = [laughs, laughs]
    monkeypatch.setattr(pickles, "PARTS_MAX", 20_000)
    with pytest.raises(Undecodable, match="more than 20000 lists"):
        plain_values(read_pickle(pickle.dumps(laughs)), print)


@pytest.mark.parametrize("name", ["os.system", "posix.system", "nt.system", "subprocess.Popen", "builtins.exec", "builtins.getattr", "builtins.__import__", "functools.partial", "importlib.import_module", "imp.load_source", "sys.exit", "pathlib.os.system"])  # fmt: skip
def test_names_of_pythons_library_with_effects_are_refused(name: str) -> None:
    module, _, attribute = name.partition(".")
    code = f"c{module}\n{attribute}\n(S'x'\ntR.".encode()
    with pytest.raises(Forbidden, match=name):
        read_pickle(code)


@pytest.mark.parametrize("name", ["openai.types.chat.Message", "my_agent.Info", "__main__.Agent"])
def test_names_of_other_packages_do_nothing(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    found = read_pickle(f"c{module}\n{attribute}\n(S'x'\ntR.".encode())
    assert plain_values(found, print) == ["x"]


@pytest.mark.parametrize("key", ["n_token_goal", "stats.max_n_token_url", "input_tokens", "token_count", "max_token_limit"])  # fmt: skip
def test_a_number_of_tokens_is_no_secret(key: str) -> None:
    assert masked({key: 4}, print) == {key: 4}


def test_a_password_that_is_a_number_is_one() -> None:
    assert masked({"password": 20261125}, print) == {"password": MASKED}


@pytest.mark.parametrize(
    ("stated", "thought", "actions"),
    [
        ("I open it.\n```click('a1')```", "I open it.", "click('a1')"),
        ("```send_msg_to_user('42')```", None, "send_msg_to_user('42')"),
        ("```\nnoop()\n```", None, "noop()"),
        ("```python\nclick('a1')\n```", None, "click('a1')"),
        ("```python click('a1')```", None, "click('a1')"),
        ("First: ```scroll(0, 200)```\nThen: ```fill('a48', '9')```", "First: \n\nThen:", "scroll(0, 200)\nfill('a48', '9')"),
        ("I did click('a1').\n```noop()```", None, "I did click('a1').\n```noop()```"),
        ("<action>fill('a', '```x```')</action>", None, "fill('a', '```x```')"),
    ],
)  # fmt: skip
def test_actions_keep_their_names_whatever_the_fence(stated: str, thought: str | None, actions: str) -> None:
    assert split_thought(stated) == (thought, actions)


@given(
    st.sampled_from(["click('a1')", "goto('http://x.test/')", "press('a', 'Enter')"]),
    st.text("ab \n.", max_size=9),
)
def test_an_action_in_a_fence_is_that_action(call: str, prose: str) -> None:
    assert split_thought(f"{prose}```{call}```{prose}")[1] == call


def test_all_fences_of_an_answer_are_steps(tmp_path: Path, imported: Importing) -> None:
    folder = tmp_path / "2024-11-06_13-49-20_DemoAgentArgs_on_webarena.4_11"
    parts = [{"type": "text", "text": "Order nine."}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    write(folder, "goal_object.pkl.gz", gzip.compress(pickle.dumps(parts), mtime=0))
    write(folder, "exp_args.pkl", pickle.dumps({"agent_args": {"agent_name": "Demo", "model_name": "m-1"}}))
    stated = "Down.\n```scroll(0, 200)```\nNine.\n```fill('a', '9')```"
    write(folder, "step_0.pkl.gz", gym_pickle(0, stated, goal=None))
    write(folder, "step_1.pkl.gz", gym_pickle(1, "```send_msg_to_user('Done.')```", goal=None))
    write(folder, "step_2.pkl.gz", gym_pickle(2, None, goal=None))
    run = imported("browsergym", folder).trajectory
    assert [type(step.action) for step in run.steps] == [Scroll, Fill, SendMsgToUser]
    assert run.header.task == {"id": "webarena.4", "intent": "Order nine."}
    assert run.header.agent == AgentInfo(name="Demo", model="m-1")


@pytest.mark.parametrize("text", ["<action>" * 30_000, "</action>" + "<action>" * 30_000, "```" * 30_001])
def test_tags_that_nothing_closes_are_text(text: str) -> None:
    assert "click" not in split_thought(text)[1]
