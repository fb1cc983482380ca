"""Find a Chromium, and start it as a process of its own: with a CDP endpoint on loopback, or with a pipe.

The process gets a fresh profile; closing it ends the whole process group and removes the
profile. So does the end of this process, even a violent one, where there is a POSIX shell. Nothing here
speaks to pages.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from replaykit.errors import NoBrowser, RecorderError

START_MAX_S = 30.0
"""A browser that has not opened its port after this time is broken.

A loaded two-core machine needs about 3 s.
"""

STOP_MAX_S = 3.0
"""Grace between SIGTERM and SIGKILL."""

WATCH = """
trap '' HUP INT TERM
read -r said && exit 0
kill -s TERM -- "-$1" 2>/dev/null
for second in 1 2 3; do
  kill -s 0 -- "-$1" 2>/dev/null || break
  sleep 1
done
kill -s KILL -- "-$1" 2>/dev/null
rm -rf -- "$2"
"""
"""Shell script of the watcher: its input ends when this process does, however that came about.

Why not the kernel's death signal? It comes when the thread ends that started the browser, not the process.
"""

NO_SANDBOX = "running as root: the browser was started with --no-sandbox"
"""The notice whenever the sandbox is off."""

FEATURES_OFF = "--disable-features="
"""The option by which features are turned off; of several the last one counts."""

UNISOLATED = "IsolateSandboxedIframes"
"""Off: sandboxed frames in processes of their own run before anybody can listen in them."""

UNSEEN = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
"""Off: each context would start a process for menus of the address bar, half of all that a context costs."""

FLAGS = (
    "--disable-gpu",
    "--disable-quic",  # its packets would be invisible to request timing
    "--disable-auto-reload",  # of error pages: it would look like an action of the agent
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    f"{FEATURES_OFF}Translate,OptimizationHints,MediaRouter,{','.join((UNISOLATED, *UNSEEN))}",
    # As Playwright starts a browser: agents that connect rely on it.
    "--disable-back-forward-cache",  # `go_back` waits for a load that a cached page never has
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-dev-shm-usage",  # containers give it 64 MiB
    "--allow-pre-commit-input",
    "--force-color-profile=srgb",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
)
"""Flags of every start: nothing phones home, nothing is kept back from a page in the background."""

NET_LOG = "net-log.json"
"""File of the browser's log of its requests; it goes with the profile."""

_PIPE = "--remote-debugging-pipe"

_LAUNCHER = """
import os, sys
reads, writes = int(sys.argv[1]), int(sys.argv[2])
os.dup2(reads, 3)
os.dup2(writes, 4)
os.close(reads)
os.close(writes)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser wants its pipe at the numbers 3 and 4, which are taken in this process."""

_PIPE_FROM = 10
"""Numbers of a pipe begin here, so that 3 and 4 are free for the browser."""

_ENDPOINT = ("--remote-debugging-port=0", "--remote-debugging-address=127.0.0.1")

CHANNELS = {
    "chromium": ("chromium", "chromium-browser"),
    "chrome": ("google-chrome-stable", "google-chrome", "chrome"),
    "chrome-beta": ("google-chrome-beta",),
    "msedge": ("microsoft-edge-stable", "microsoft-edge", "msedge"),
}
"""Channel name to the names of its program, best first."""

_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)


def find_browser(
    path: str | Path | None = None, channel: str | None = None, environ: Mapping[str, str] | None = None
) -> Path:
    """Return the path of a Chromium program, for `executable_path` of Playwright's `launch`.

    It looks in this order: `path`, the variable `REPLAYKIT_BROWSER`, `channel` (`chromium chrome chrome-beta
    msedge`), Playwright's own build, PATH. `environ`: variables to read; default: those of this process.
    Raises NoBrowser if a named browser does not exist; no other one replaces it silently.
    """
    environ = os.environ if environ is None else environ
    named = path or environ.get("REPLAYKIT_BROWSER")
    if named:
        return _named(str(named), environ)
    if channel:
        return _channel(channel, environ)
    search = environ.get("PATH")
    installed = [*_playwright_builds(environ), *_on_path(_all_programs(), search), *map(Path, _PLACES)]
    found = next((place for place in installed if place.exists()), None)
    if found is None:
        raise NoBrowser(tried="Playwright's own build, " + ", ".join(_all_programs()) + " on PATH")
    return found


class Browser:
    """A running browser that this process started."""

    def __init__(
        self, path: Path, started: _Started, endpoint: str, pipe: tuple[int, int] | None = None
    ) -> None:
        self.path = path
        """The program."""
        self.endpoint = endpoint
        """HTTP address of its CDP endpoint; empty where it has a pipe instead."""
        self.pipe = pipe
        """Where to read its messages and where to write; whoever uses them closes them."""
        self.notice = NO_SANDBOX if _is_root() else None
        """A note for the user about this start."""
        self._started = started

    @property
    def net_log(self) -> Path:
        """Its log of all its requests; gone when it is closed."""
        return self._started.profile / NET_LOG

    @property
    def version(self) -> str:
        """`Chrome/156.0.8078.79`, as the endpoint says."""
        return str(self._about()["Browser"])

    @property
    def is_running(self) -> bool:
        """Whether its process is alive."""
        return self._started.process.poll() is None

    def fault(self, what: str) -> RecorderError:
        """Return an error with the reason, in the browser's own last words."""
        return RecorderError(what=f"browser {self.path} did not start ({what}): {self._started.words}")

    def close(self) -> None:
        """End the process group and remove the profile; harmless when done before."""
        self._started.end()

    def _about(self) -> dict[str, Any]:
        # A proxy from the environment must never see loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.endpoint}/json/version", timeout=5) as reply:
            about: dict[str, Any] = json.load(reply)
            return about

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def launch(
    path: str | Path | None = None,
    *,
    channel: str | None = None,
    headed: bool = False,
    viewport: tuple[int, int] | None = None,
    arguments: Iterable[str] = (),
    has_pipe: bool = False,
) -> Browser:
    """Start a browser with a fresh profile and return it once its endpoint is open.

    `has_pipe`: the browser has no endpoint and no port; only this process can send it commands.
    Raises NoBrowser if no browser is installed, RecorderError if it does not start.
    """
    program = find_browser(path, channel)
    profile = Path(tempfile.mkdtemp(prefix="replaykit-profile-"))
    flags = _flags(profile, headed=headed, viewport=viewport, has_pipe=has_pipe)
    command = [str(program), *flags, *arguments, "about:blank"]
    if has_pipe:
        return _launched_with_pipe(program, command, profile)
    with (profile / "stderr.log").open("wb") as log:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        except OSError as error:
            shutil.rmtree(profile, ignore_errors=True)
            raise RecorderError(what=f"cannot start browser {program}: {error}") from error
    started = _Started(process, profile)
    try:
        return Browser(program, started, f"http://127.0.0.1:{_port(program, process, profile)}")
    except BaseException:
        started.end()
        raise


def _launched_with_pipe(program: Path, command: list[str], profile: Path) -> Browser:
    """Start a browser that communicates through a pipe; it answers as soon as it can."""
    if os.name != "posix":
        shutil.rmtree(profile, ignore_errors=True)
        raise RecorderError(
            what="record -- COMMAND needs pipes of POSIX; start a browser and record it with --cdp URL"
        )
    theirs_in, ours_out = map(_raised, os.pipe())
    ours_in, theirs_out = map(_raised, os.pipe())
    words = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(theirs_in), str(theirs_out), *command]
    try:
        with (profile / "stderr.log").open("wb") as log:
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=(theirs_in, theirs_out),
            )
    except OSError as error:
        os.close(ours_in)
        os.close(ours_out)
        shutil.rmtree(profile, ignore_errors=True)
        raise RecorderError(what=f"cannot start browser {program}: {error}") from error
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    return Browser(program, _Started(process, profile), "", (ours_in, ours_out))


def _raised(number: int) -> int:
    import fcntl

    higher = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _PIPE_FROM)
    os.close(number)
    return higher


class _Started:
    """A browser's process, and the watcher that ends it if this process cannot."""

    def __init__(self, process: subprocess.Popen[bytes], profile: Path) -> None:
        self.process = process
        self.profile = profile
        self._watcher = _watch(process.pid, profile)

    @property
    def words(self) -> str:
        """The fault in its log."""
        with contextlib.suppress(OSError):
            log = (self.profile / "stderr.log").read_text("utf-8", "replace").strip().splitlines()
            return _fault_of(log) or "it printed nothing"
        return "it printed nothing"

    def end(self) -> None:
        """End the process group and remove the profile; harmless when done before."""
        _end_group(self.process)
        shutil.rmtree(self.profile, ignore_errors=True)
        if self._watcher is not None:
            self._watcher.communicate(b"done\n")
            self._watcher = None


def _watch(group: int, profile: Path) -> subprocess.Popen[bytes] | None:
    shell = shutil.which("sh", path=os.defpath)
    if os.name != "posix" or shell is None:
        return None
    # In a session of its own: a signal that ends the whole process group must not end the watcher.
    return subprocess.Popen(
        [shell, "-c", WATCH, "watch", str(group), str(profile)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


def _named(named: str, environ: Mapping[str, str]) -> Path:
    found = shutil.which(named, path=environ.get("PATH"))
    if found is None:
        raise NoBrowser(tried=named)
    return Path(found)


def _channel(channel: str, environ: Mapping[str, str]) -> Path:
    programs = CHANNELS.get(channel)
    if programs is None:
        raise NoBrowser(tried=f"channel {channel!r}; there are {', '.join(CHANNELS)}")
    found = next(iter(_on_path(programs, environ.get("PATH"))), None)
    if found is None:
        raise NoBrowser(tried=f"channel {channel!r}: {', '.join(programs)} on PATH")
    return found


def _all_programs() -> tuple[str, ...]:
    return tuple(name for names in CHANNELS.values() for name in names)


def _on_path(programs: Iterable[str], search: str | None) -> list[Path]:
    found = (shutil.which(name, path=search) for name in programs)
    return [Path(place) for place in found if place]


def _playwright_builds(environ: Mapping[str, str]) -> list[Path]:
    # Asking Playwright itself costs the start of its driver, about half a second.
    folder = environ.get("PLAYWRIGHT_BROWSERS_PATH") or _playwright_folder(environ)
    revisions = sorted(Path(folder).glob("chromium-*"), key=_revision, reverse=True)
    programs = ("chrome-*/chrome", "chrome-*/chrome.exe", "chrome-mac*/*.app/Contents/MacOS/*")
    return [place for build in revisions for pattern in programs for place in sorted(build.glob(pattern))]


def _playwright_folder(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or str(Path.home())
    if sys.platform == "darwin":
        return f"{home}/Library/Caches/ms-playwright"
    if sys.platform == "win32":
        return f"{environ.get('LOCALAPPDATA', home)}/ms-playwright"
    return f"{environ.get('XDG_CACHE_HOME') or home + '/.cache'}/ms-playwright"


def _revision(build: Path) -> int:
    number = build.name.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def _flags(
    profile: Path, *, headed: bool, viewport: tuple[int, int] | None, has_pipe: bool = False
) -> list[str]:
    flags = [
        f"--user-data-dir={profile}",
        f"--log-net-log={profile / NET_LOG}",
        *((_PIPE,) if has_pipe else _ENDPOINT),
        *FLAGS,
    ]
    if not headed:
        flags.append("--headless=new")
    if viewport:
        flags.append(f"--window-size={viewport[0]},{viewport[1]}")
    if _is_root():
        flags.append("--no-sandbox")
    return flags


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _port(program: Path, process: subprocess.Popen[bytes], profile: Path) -> int:
    # The browser writes this file once, when its endpoint listens: there is nothing else to wait on.
    deadline = time.monotonic() + START_MAX_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            lines = (profile / "DevToolsActivePort").read_text().splitlines()
            if len(lines) == 2:
                return int(lines[0])
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.01)
            break
    log = (profile / "stderr.log").read_text("utf-8", "replace").strip().splitlines()
    words = _fault_of(log) or "it printed nothing"
    code = process.poll()
    why = f"no endpoint in {START_MAX_S:.0f} s" if code is None else f"exit code {code}"
    raise RecorderError(what=f"browser {program} did not start ({why}): {words}")


def _fault_of(log: list[str]) -> str:
    """The first fault in a log, without its place in the source; else the last line."""
    # Where there is no message bus, and no one needs one, every start says so.
    faults = [line for line in log if ":ERROR:" in line and "dbus" not in line]
    return re.sub(r"^\[.*?:ERROR:.*?\] ", "", next(iter(faults or log[-1:]), ""))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    if not hasattr(os, "killpg"):  # Windows: the browser's children end with it
        process.kill()
        process.wait()
        return
    # The program may be a shell script, and has a dozen children: only the group has them all.
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_MAX_S)
            if number is signal.SIGKILL or not _group_lives(process.pid):
                return


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True
