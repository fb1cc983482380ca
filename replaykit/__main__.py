"""`python -m replaykit` is the command `replaykit`."""

from replaykit.cli.main import main

if __name__ == "__main__":
    main()
