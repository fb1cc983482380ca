"""docs/mcp.md: its configuration starts a server, its command finds the skill, its tables are the server's."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client import Client

from replaykit.integrations.mcp.tool_server import tool_server
from replaykit.testing import trajectory
from tests.blocks import ROOT, block

PAGE = (ROOT / "docs" / "mcp.md").read_text("utf-8")


def test_the_configuration_starts_a_server(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    trajectory().answer("x").write(tmp_path / "runs" / "a.zst")
    documented = json.loads(block("docs/mcp.md", '{"mcpServers"').text)["mcpServers"]["replaykit"]
    assert documented["command"] == "replaykit"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "replaykit", *documented["args"]],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
    )

    async def main() -> Any:
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return await session.call_tool("list_runs", {})

    assert "a.zst" in anyio.run(main).content[0].text


def test_the_tables_name_every_tool_with_its_arguments_and_every_resource(tmp_path: Path) -> None:
    async def main() -> Any:
        async with Client(tool_server([tmp_path])) as client:
            tools = (await client.list_tools()).tools
            return tools, (await client.list_resource_templates()).resource_templates

    tools, templates = anyio.run(main)
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE, flags=re.M)
    documented = {name: set(re.findall(r"`(\w+)`", arguments)) for name, arguments in rows}
    assert documented == {tool.name: set(tool.input_schema["properties"]) for tool in tools}
    for template in templates:
        assert f"`{template.uri_template.replace('{+', '{')}`" in PAGE


def test_the_command_prints_where_the_skill_is() -> None:
    program, *words = shlex.split(block("docs/mcp.md", "python -c").text)
    assert program == "python"
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True, cwd=ROOT)
    assert Path(done.stdout.strip()).is_file()
