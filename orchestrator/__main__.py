"""The entry point that `./tenon` starts: `python orchestrator ARGUMENTS`."""

from tenonos.cli import main

if __name__ == "__main__":
    main()
