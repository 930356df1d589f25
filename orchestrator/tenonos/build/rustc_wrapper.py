"""The compiler as cargo calls it for an image: hashes of crates do not depend on their paths.

Cargo passes `-C metadata=HASH` for each crate. The hash decides symbol names and, by them, the
order of functions. For a crate with a path it depends on that path, so two clones of one commit
would give images with different bytes. Here it is computed from the crate's name, its version and
the other arguments, without paths. Crates of the registry keep cargo's hash.

`rustc-wrapper` executes this file for each crate, so it imports only what it needs.
"""

import hashlib
import os
import sys
from collections.abc import Mapping, Sequence

METADATA = "metadata="
OF_THE_MACHINE = METADATA, "extra-filename=", "--diagnostic-width"
"""Arguments that depend on where the files are, or on the terminal; those with a path do too."""


def arguments(given: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The command line to execute: the compiler and its arguments."""
    folder = environment.get("CARGO_MANIFEST_DIR", "")
    home = environment.get("CARGO_HOME") or f"{environment.get('HOME', '')}/.cargo"
    if not folder or folder.startswith(f"{home}/registry/"):
        return list(given)
    own = f"{METADATA}{identity(given, environment)}"
    return [own if each.startswith(METADATA) else each for each in given]


def identity(given: Sequence[str], environment: Mapping[str, str]) -> str:
    """A hash of the crate and of how it is compiled, the same wherever its files are."""
    kept = (each for each in given if "/" not in each and not each.startswith(OF_THE_MACHINE))
    crate = environment.get("CARGO_PKG_NAME", ""), environment.get("CARGO_PKG_VERSION", "")
    return hashlib.sha256("\0".join((*crate, *kept)).encode()).hexdigest()[:16]


if __name__ == "__main__":
    line = arguments(sys.argv[1:], os.environ)
    os.execvp(line[0], line)
