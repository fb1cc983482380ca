"""The shop task by Playwright's MCP server, driven by a client that sends JSON-RPC over standard streams."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from shop_task import EMAIL, ORDER, SEARCH, Reporter

SERVER = Path(__file__).parent / "node_modules" / "@playwright" / "mcp" / "cli.js"


class Client:
    """One session with the server."""

    def __init__(self, *arguments: str) -> None:
        argv = ["node", str(SERVER), *arguments]
        # It writes files of its own into the folder where it runs.
        folder = Path(os.environ["REPLAYKIT_EVENTS"]).parent
        self._server = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=folder
        )
        self._number = 0
        about = {"name": "shop-task", "version": "1"}
        self.ask("initialize", protocolVersion="2025-03-26", capabilities={}, clientInfo=about)
        self._write({"method": "notifications/initialized"})

    def ask(self, method: str, **params: Any) -> Any:
        """Call a method of the protocol; return its result."""
        self._number += 1
        self._write({"id": self._number, "method": method, "params": params})
        assert self._server.stdout is not None
        for line in self._server.stdout:
            said = json.loads(line)
            if said.get("id") == self._number and "method" not in said:
                assert "error" not in said, said
                return said["result"]
        raise AssertionError("the server has ended")

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool; return what it says."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        text = "\n".join(part.get("text", "") for part in result["content"])
        assert not result.get("isError"), text
        return text

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(30)
        self._server.stdout.close()

    def _write(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._server.stdin.flush()


class Page:
    """The tab as the server describes it: elements have a role, a name and a reference."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def use(self, tool: str, role: str, name: str, **arguments: Any) -> None:
        """Use a tool on the element of that role and name."""
        output = self._client.call("browser_snapshot")
        found = re.search(rf'- {role} "{name}[^"]*".*?\[ref=(\w+)\]', output)
        assert found, output
        self._client.call(tool, element=name, target=found[1], **arguments)

    def text(self, pattern: str) -> str:
        """Return the group of a pattern that the page shows."""
        output = self._client.call("browser_snapshot")
        found = re.search(pattern, output)
        assert found, output
        return found[1]


def main() -> None:
    """Do the shop task in the browser that is open."""
    # Slow machines need more than the 5 s that it allows an action.
    client = Client("--cdp-endpoint", os.environ["REPLAYKIT_CDP_URL"], "--timeout-action=60000")
    page = Page(client)
    page.use("browser_click", "link", "Orders")
    page.use("browser_type", "searchbox", "Search", text=SEARCH, slowly=True)
    client.call("browser_press_key", key="Enter")
    page.use("browser_click", "link", ORDER)
    total = page.text(r"Total\W+definition[^€]*(€[\d.]+)")
    page.use("browser_click", "link", "Settings")
    page.use("browser_type", "textbox", "Contact email", text=EMAIL)
    page.use("browser_select_option", "combobox", "Language", values=["fi"])
    page.use("browser_click", "checkbox", "Send the weekly digest")
    page.use("browser_click", "button", "Save settings")
    client.call("browser_wait_for", text="saved")
    Reporter().answer(total)
    client.close()


if __name__ == "__main__":
    main()
