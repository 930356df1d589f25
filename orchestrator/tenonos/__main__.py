"""The same entry point for `python -m tenonos`."""

from tenonos.cli import main

if __name__ == "__main__":
    main()
