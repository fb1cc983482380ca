"""The command `replaykit`, and `python -m replaykit`.

Every worker of a pool reads the module that began its parent, so this one loads nothing by itself.
"""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its documented code."""
    import signal

    # Ctrl-C ends what is still being loaded as it ends any program: there is nothing to clean up.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from replaykit.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
