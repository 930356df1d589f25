"""The entry point that `./tenon` starts: `python orchestrator ARGUMENTS`."""

import sys
from pathlib import Path

from tenonos.cli import main

sys.path.append(str(Path(__file__).resolve().parents[1]))
"""The tree itself, for the package `tools`."""

if __name__ == "__main__":
    main()
