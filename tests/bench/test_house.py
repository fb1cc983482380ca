"""Counts of bench.house, on a package that is small enough to count by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bench.house import (
    PACKAGE,
    PRIVATE_IN_TESTS,
    ROOT,
    Module,
    code_lines,
    comments,
    crumbs,
    doubled_classes,
    doubled_stems,
    figures,
    folders,
    private_names,
    private_script_names,
    read,
    reasons,
    table,
)

FILES = {
    "__init__.py": "",
    "pages.py": '"""Pages."""\nfrom own.rooms import doors\n\n\nclass Page:\n    """One."""\n',
    "rooms/__init__.py": "",
    "rooms/doors.py": "import own.rooms.walls\n\n# why: a door needs one\nOPEN = 1  # noqa: X\n",
    "rooms/walls.py": "class Page: ...\nclass _Own: ...\n",
    "rooms/pages.py": "from own.rooms.walls import Page\nTEXT = '''a\n\nb'''\nLONG = (\n    1,\n)\n",
    "rooms/script.js": "1;\n",
}


@cache
def shipped() -> dict[str, Module]:
    """Every module of the package."""
    return read(PACKAGE)


def package(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "own"


def test_comments_count_and_words_to_tools_do_not(tmp_path: Path) -> None:
    modules = read(package(tmp_path))
    assert {name: comments(one.text) for name, one in modules.items() if comments(one.text)} == {
        "own.rooms.doors": 1
    }


def test_lines_of_code_are_neither_blank_nor_text_about_code(tmp_path: Path) -> None:
    modules = read(package(tmp_path))
    assert code_lines(modules["own.pages"]) == 2
    assert code_lines(modules["own.rooms.doors"]) == 2
    assert code_lines(modules["own.rooms.pages"]) == 7


def test_a_crumb_is_imported_once(tmp_path: Path) -> None:
    assert crumbs(read(package(tmp_path))) == ["own.rooms.doors"]


def test_a_small_module_stays_for_a_reason_that_shows(tmp_path: Path) -> None:
    own = package(tmp_path)
    assert reasons(own, read(own)) == {"own.rooms.doors": "another part imports it"}
    (own / "pages.py").write_text("")
    (own / "rooms/pages.py").write_text("import own.rooms.doors\n")
    assert reasons(own, read(own))["own.rooms.doors"] == ""
    doors = own / "rooms/doors.py"
    doors.write_text('"""Doors. Own module: walls have none."""\n')
    assert reasons(own, read(own))["own.rooms.doors"] == "its docstring says why"
    (tmp_path / "CONTRIBUTING.md").write_text("Register it in `own/rooms/pages.py`.")
    (own / "rooms/pages.py").write_text("def f():\n    import own.rooms.doors\n" + "\n" * 450)
    assert reasons(own, read(own))["own.rooms.doors"].split(", ") == [
        "loaded on demand",
        "with its importer over 450 lines",
        "one file each by CONTRIBUTING.md",
        "its docstring says why",
    ]


def test_every_small_module_has_a_reason_to_stay() -> None:
    assert [name for name, why in reasons(PACKAGE, shipped()).items() if not why] == []


def test_names_that_stand_twice_are_named_with_their_homes(tmp_path: Path) -> None:
    modules = read(package(tmp_path))
    assert doubled_classes(modules) == {"Page": ["own.pages", "own.rooms.walls"]}
    assert doubled_stems(modules) == {"pages": ["own.pages", "own.rooms.pages"]}


def test_no_further_class_or_file_has_the_name_of_another() -> None:
    assert doubled_classes(shipped()) == {}
    assert doubled_stems(shipped()) == {}


def test_names_with_a_private_word_are_found(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "pages.py").write_text(
        "class MouseAct:\n    def deed(self, action: int) -> None:\n        exact = is_told = 1\n"
    )
    assert private_names(read(own)) == {name: {"own.pages"} for name in ("MouseAct", "deed", "is_told")}


SCRIPT = """// What it tells, he said.
const tellOpen = (books) => `${books} told`;  // told
const action = { isTold: 'told', at: "it's said" };
/* deeds
   of old */
function exact() {}
"""


def test_names_of_scripts_with_a_private_word_are_found_outside_of_texts(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/page.js").write_text(SCRIPT)
    names = ("books", "isTold", "tellOpen")
    assert private_script_names(tmp_path / "own") == {name: {"own/page.js"} for name in names}


def test_no_name_has_a_private_word() -> None:
    assert private_names(shipped()) == {}
    assert private_script_names(PACKAGE) == {}


def test_no_name_in_tests_has_a_private_word() -> None:
    # To parse all tests takes ten times as long.
    assert private_names(read(ROOT / "tests", PRIVATE_IN_TESTS), PRIVATE_IN_TESTS) == {}


def test_only_modules_with_a_word_are_read_where_words_are_given(tmp_path: Path) -> None:
    own = package(tmp_path)
    assert list(read(own, ["DOOR", "nowhere"])) == ["own.pages", "own.rooms.doors"]


def test_no_file_of_tests_has_a_private_word() -> None:
    words = (set(path.stem.split("_")) for path in (ROOT / "tests").rglob("*.py"))
    assert [stems for stems in words if stems & PRIVATE_IN_TESTS] == []


def test_retired_words_are_found(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/pages.py").write_text(
        "def stir(): ...\nclass Teller: ...\nveiled = errands = sight = 1\n"
    )
    (tmp_path / "own/page.js").write_text("const noteVeil = (overlay) => unstirring(overlay);\n")
    names = ("Teller", "errands", "sight", "stir", "veiled")
    assert private_names(read(tmp_path / "own")) == {name: {"own.pages"} for name in names}
    assert sorted(private_script_names(tmp_path / "own")) == ["noteVeil", "unstirring"]


def test_folders_count_scripts(tmp_path: Path) -> None:
    assert folders(package(tmp_path)) == [("own/rooms", 4), ("own", 1)]


def test_no_folder_has_more_files_than_a_reader_takes_in() -> None:
    assert [row for row in folders(PACKAGE) if row[1] > 25] == []


def test_the_table_has_a_goal_for_every_figure(tmp_path: Path) -> None:
    head, *rows = table(figures(package(tmp_path))).splitlines()
    assert head.split() == ["what", "today", "goal"]
    assert [row.split("  ")[0] for row in rows] == [
        "comments per 100 code lines",
        "modules with one importer, under 80 lines, without a reason",
        "public class names defined twice or more",
        "module stems used twice or more",
        "names with a private word",
        "files in the fullest folder",
        "modules",
        "lines of Python, of code",
    ]
