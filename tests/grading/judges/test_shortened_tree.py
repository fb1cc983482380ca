"""Smaller trees: what is dropped says nothing, what stays stays as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading.judges.agent_reward_judge import STRUCTURE, fitted, pruned

ARIA = """\
- generic [ref=e1]:
  - banner [ref=e2]:
    - list:
      - listitem [ref=e3]: Milk
      - listitem [ref=e4]:
        - text: Eggs
  - heading "Shop" [level=1] [ref=e5]
  - textbox [ref=e6]
  - group "Size" [ref=e7]:"""

GYM = """\
RootWebArea 'Shop', focused
\t[12] generic ''
\t\t[13] link 'Home', clickable
\t\t\tStaticText 'Home'
\t\t\t\tInlineTextBox 'Home'
\t[14] generic, clickable
\t[15] textbox ''
\t[bid-1] paragraph ''"""


def test_empty_structure_goes() -> None:
    assert pruned(ARIA).split("\n") == [
        "  - banner [ref=e2]:",
        "      - listitem [ref=e3]: Milk",
        "        - text: Eggs",
        '  - heading "Shop" [level=1] [ref=e5]',
        "  - textbox [ref=e6]",
        '  - group "Size" [ref=e7]:',
    ]
    assert pruned(GYM).split("\n") == [
        "RootWebArea 'Shop', focused",
        "\t\t[13] link 'Home', clickable",
        "\t\t\tStaticText 'Home'",
        "\t[14] generic, clickable",
        "\t[15] textbox ''",
    ]


@pytest.mark.parametrize("text", ['{"role": "generic"}', '[7]: <button> "Buy";', "generic text of no tree"])
def test_what_is_no_such_line_stays(text: str) -> None:
    assert pruned(text) == text


def test_a_tree_is_made_smaller_only_where_it_has_to_be() -> None:
    assert fitted(ARIA, len(ARIA)) == ARIA
    assert fitted(ARIA, len(ARIA) - 1) == pruned(ARIA)
    assert fitted(ARIA, 20) == pruned(ARIA)[:20] + f"⟦cut:{len(pruned(ARIA)) - 20}⟧"
    assert fitted("", 1) == ""


LINES = st.lists(
    st.one_of(
        st.sampled_from([*ARIA.split("\n"), *GYM.split("\n"), ""]),
        st.text(alphabet=st.characters(blacklist_characters="\n"), max_size=30),
        st.sampled_from(sorted(STRUCTURE)).map(lambda role: f"  - {role}:"),
    ),
    max_size=20,
)


@given(LINES)
def test_pruning_keeps_lines_in_order_and_is_done_once(lines: list[str]) -> None:
    tree = "\n".join(lines)
    rest = iter(tree.split("\n"))
    kept = pruned(tree)
    assert all(line in rest for line in kept.split("\n") if line)
    assert pruned(kept) == kept


@given(LINES, st.text(st.characters(categories=("L", "N")), min_size=1, max_size=9))
def test_whatever_has_a_name_stays(lines: list[str], name: str) -> None:
    named = [f'  - {role} "{name}":' for role in sorted(STRUCTURE - {"inlinetextbox"})]
    kept = pruned("\n".join([*lines, *named])).split("\n")
    assert kept[-len(named) :] == named
