"""The import direction of docs/architecture.md, read off the source."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import replaykit

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "replaykit"
ARCHITECTURE = ROOT / "docs" / "architecture.md"

# Lowest first; parts in one row are strangers.
ROWS = [
    ["patterns"],
    ["charsets", "errors", "decoders", "display_hooks", "file_types", "open_connections"],
    ["trajectory"],
    ["form_texts", "tasks"],
    ["bundle", "snapshot", "browser"],
    ["secrets"],
    ["recorder", "replay"],
    ["grading.calibration_scope"],
    [
        "grading.verdict",
        "grading.gate_kinds",
        "grading.model_request",
        "grading.untrusted_text",
        "http_replay",
    ],
    ["grading.share_thresholds"],
    [
        "grading.grade_options",
        "grading.values",
        "grading.statistics",
        "grading.run_scores",
        "grading.saved_reports",
    ],
    [
        "grading.peers",
        "grading.server_changes",
        "grading.blocked_pages",
        "grading.judge_rates",
        "grading.grounding",
        "grading.error_phrases",
    ],
    [
        "grading.checks",
        "grading.policies",
        "grading.metrics",
        "grading.gate",
    ],
    ["grading.findings"],
    ["grading.judges"],
    ["grading.calibrated_judges"],
    [
        "grading.grader",
        "grading.mutation_counts",
    ],
    [
        "grading.workers",
    ],
    [
        "grading.engine",
        "grading.policy_trials",
        "grading.reference_faults",
    ],
    ["grading.agreement"],
    ["grading.judge_runs"],
    ["report", "testing", "interop", "redaction"],
    ["demo", "labelling", "reruns"],
    ["integrations"],
    ["cli", "pytest_plugin"],
    ["__main__"],
]
RANK = {part: row for row, parts in enumerate(ROWS) for part in parts}

# Package to the only modules that may import it.
CAGES = {
    "playwright": (
        "recorder.browser.sync_driver",
        "recorder.browser.effect_runner",
        "recorder.browser.lifecycle",
        "recorder.browser.async_driver",
        "recorder.recorder",
        "recorder.agent_runs",
        "replay.offline_page.chromium",
        "replay.offline_page.frame_builder",
        "reruns",
        "integrations.inspect",
        "browser",
    ),
    "anthropic": ("grading.judges.clients.anthropic_client",),
    "openai": ("grading.judges.clients.openai_client",),
    "mcp": ("integrations.mcp",),
    "zstandard": ("bundle",),
    "fsspec": ("bundle",),
    "ray": ("grading.workers.ray_executor",),
    "click": ("cli",),
    "rich": ("cli",),
    "pytest": ("pytest_plugin",),
    "inspect_ai": ("integrations.inspect",),
    "anyio": ("integrations.inspect", "integrations.mcp"),
    "opentelemetry": ("integrations.otel",),
    "a2a": (),
    "atif": (),
}


def modules() -> dict[str, Path]:
    names = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        dotted = (
            ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        )
        names[dotted] = path
    return names


def part_of(module: str) -> str:
    return ".".join(module.split(".")[: 2 if module.startswith("grading.") else 1])


@cache
def parsed(path: Path) -> ast.Module:
    """A module's tree, which most tests here walk."""
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    """Every module imported, and whether only for types."""
    tree = parsed(path)
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in ast.walk(block)
    }
    found = []
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
        found += [(name, id(node) in typing_only) for name in names]
    return tuple(found)


MODULES = modules()


@pytest.mark.parametrize("part", sorted({part_of(name) for name in MODULES if name}))
def test_a_part_imports_only_from_rows_below(part: str) -> None:
    for module in (name for name in MODULES if name and part_of(name) == part):
        imports_only_from_rows_below(module)


def imports_only_from_rows_below(module: str) -> None:
    own = part_of(module)
    if own not in RANK:
        assert not [name for name, _ in imports(MODULES[module]) if name.startswith("replaykit")] or own in (
            "grading",
        ), f"{module} has no row"
        return
    for name, _ in imports(MODULES[module]):
        if not name.startswith("replaykit") or (own == "integrations" and name == "replaykit"):
            continue
        assert name != "replaykit", f"{module} imports the package root"
        other = part_of(name.removeprefix("replaykit."))
        assert other == own or RANK[other] < RANK[own], f"{module} may not import {name}"


@pytest.mark.parametrize("module", [name for name in MODULES if part_of(name) == "integrations"])
def test_an_integration_uses_only_public_names(module: str) -> None:
    """An integration is written as a user would write it: what it needs, others can use."""
    tree = parsed(MODULES[module])
    own = f"replaykit.{'.'.join(module.split('.')[:2])}"
    for name, _ in imports(MODULES[module]):
        if name.startswith("replaykit.") and not f"{name}.".startswith(f"{own}."):
            raise AssertionError(
                f"{module} may use only the names that `import replaykit` offers, not {name}"
            )
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "replaykit":
            assert node.attr in replaykit.__all__, f"{module} uses replaykit.{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module == "replaykit":
            assert {alias.name for alias in node.names} <= set(replaykit.__all__), module


@pytest.mark.parametrize("package", CAGES)
def test_a_caged_package_stays_in_its_cage(package: str) -> None:
    for module, path in MODULES.items():
        used = any(name.split(".")[0] == package for name, _ in imports(path))
        allowed = any(module == home or module.startswith(home + ".") for home in CAGES[package])
        assert not used or allowed, f"{module} imports {package}"


def import_rows() -> str:
    """Return the rows as the page on architecture shows them, top first."""
    return "\n".join(", ".join(parts) for parts in reversed(ROWS))


def cage_table() -> str:
    rows = [
        (package, ", ".join(f"`{home}`" for home in homes) or "nowhere") for package, homes in CAGES.items()
    ]
    return "\n".join(f"| `{package}` | {homes} |" for package, homes in rows)


def with_import_tables(page: str) -> str:
    """Return the page with both tables of its section on imports as they are held here."""
    head, title, rest = page.partition("## Import direction\n")
    section, end, tail = rest.partition("\n## ")
    section, blocks = re.subn(r"(?s)```\n.*?\n```", lambda _: f"```\n{import_rows()}\n```", section)
    section, tables = re.subn(
        r"(?s)(\| --- \| --- \|\n).*?\n(?!\|)", lambda found: f"{found[1]}{cage_table()}\n", section
    )
    assert (blocks, tables) == (1, 1)
    return head + title + section + end + tail


def test_the_import_tables_of_architecture_are_those_that_are_held(update_goldens: bool) -> None:
    page = ARCHITECTURE.read_text()
    if update_goldens:
        ARCHITECTURE.write_text(with_import_tables(page))
    assert ARCHITECTURE.read_text() == with_import_tables(page)


def test_no_module_imports_itself_through_others() -> None:
    """Imports for types count: whoever reads one module of a circle has to read all of them."""
    graph = {
        f"replaykit.{module}": {name for name, _ in imports(path) if name.startswith("replaykit.")}
        for module, path in MODULES.items()
        if module  # the package itself names all that is public
    }
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) >= len(graph)


def test_modules_are_small() -> None:
    sizes = {module: len(path.read_text().splitlines()) for module, path in MODULES.items()}
    assert not {module: size for module, size in sizes.items() if size > 500}


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        module
        for module, path in MODULES.items()
        if path.read_text().strip() and not ast.get_docstring(parsed(path))
    ]
    assert not silent


def test_the_tree_has_no_drawer_for_everything() -> None:
    forbidden = {"utils", "helpers", "common", "core", "base", "models", "util", "misc"}
    assert not [module for module in MODULES if forbidden & set(module.split("."))]


def test_only_decoders_asks_msgspec_for_a_type() -> None:
    """msgspec learns a type on first use, which crashes the interpreter where two threads do it at once."""
    for module, path in MODULES.items():
        calls = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
        asked = [ast.unparse(call) for call in calls if _asks_for_a_type(call)]
        assert module == "decoders" or not asked, f"{module}: {asked[0]} belongs to replaykit.decoders"


OWN_JSON = {
    "browser", "decoders", "grading.checks.verifier", "grading.peers.webarena_verified.structures",
    "interop.untrusted_json", "interop.oversized_events", "interop.table.table_runs", "pytest_plugin.verdict_files",
    "recorder.browser.tab.cdp_tab", "recorder.browser.target_relay", "recorder.proxy.client_sessions",
    "recorder.proxy.protocol_messages", "report.html.run_diff_rows", "tasks.task", "testing.pages",
}  # fmt: skip
"""Modules that decode what replaykit or a browser wrote, or check the nesting by themselves."""


def test_json_from_outside_is_decoded_to_one_depth() -> None:
    """The depth that is refused depends on the version of Python in every other decoder."""
    for module, path in MODULES.items():
        calls = [ast.unparse(node.func) for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
        own = {"json.loads", "json.load", "msgspec.json.decode"} & set(calls)
        own |= {call for call in calls if call.endswith("raw_decode")}
        assert module in OWN_JSON or not own, f"{module}: {own} belongs to replaykit.decoders"


def _asks_for_a_type(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    typed = any(keyword.arg == "type" for keyword in call.keywords)
    return name.startswith("msgspec.") and (
        name.endswith((".convert", ".Decoder")) or (name.endswith(".decode") and typed)
    )


def test_msgspec_is_imported_by_its_name() -> None:
    """Else the test above would not see `from msgspec import convert`."""
    for module, path in MODULES.items():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "msgspec":
                names = {alias.name for alias in node.names}
                assert not names & {"convert", "json", "Decoder", "decode", "yaml", "toml", "msgpack"}, module
