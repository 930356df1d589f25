"""Second opinions: a solver of another kind, and Kconfig's own program in C."""

import os
import re
import subprocess
from pathlib import Path

import numpy
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_matrix

from tenonos.linux.tools import machine
from tenonos.setup import debian

INFEASIBLE = 2


class Integers:
    """An encoding as an integer program, for branch and cut."""

    def __init__(self, encoding):
        self.encoding = encoding
        self.count = max(abs(literal) for clause in encoding.clauses for literal in clause)
        self.clauses = self._rows(encoding.clauses)

    def _rows(self, clauses):
        """A clause as a row: those that are true, less those that are not, are enough."""
        places, signs, least = [], [], []
        for row, clause in enumerate(map(set, clauses)):
            places += [(row, abs(literal) - 1) for literal in clause]
            signs += [1 if literal > 0 else -1 for literal in clause]
            least.append(1 - sum(literal < 0 for literal in clause))
        shape = (len(least), self.count)
        return LinearConstraint(csr_matrix((signs, tuple(zip(*places, strict=True))), shape), least)

    def least(self, clauses, costs):
        """The least cost, or None if the clauses cannot hold together."""
        if not all(clauses):
            return None
        weights = numpy.zeros(self.count)
        for symbol, cost in costs.items():
            weights[self.encoding.literals[symbol] - 1] = cost
        found = milp(
            weights,
            constraints=[self.clauses, self._rows(clauses)],
            integrality=numpy.ones(self.count),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0},
        )
        assert found.status in (0, INFEASIBLE), found.message
        return None if found.status else round(found.fun)


class KconfigConf:
    """Debian's kconfig-conf, unpacked in a folder with the pool's tree as one file."""

    def __init__(self, folder: Path, root: Path):
        package = debian.package("kconfig-frontends", architecture=machine())
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        (library,) = folder.glob("usr/lib/*/libkconfig-parser-*.so")
        self.program = folder / "usr/bin/kconfig-conf"
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(library.parent)}
        self.tree = folder / "Kconfig"
        self.tree.write_text(whole(root, "pool/Kconfig"))

    def settled(self, file: Path) -> tuple[str, str]:
        """A configuration as it keeps it, and what it complains of."""
        done = subprocess.run(
            [self.program, "--olddefconfig", self.tree],
            env=self.environment | {"KCONFIG_CONFIG": str(file)},
            cwd=file.parent,
            capture_output=True,
            text=True,
            check=True,
        )
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return file.read_text(), "\n".join(said)


def whole(root: Path, name: str) -> str:
    """A Kconfig file with all it sources, which may be patterns, in place."""
    lines = []
    for line in (root / name).read_text().splitlines():
        sourced = re.fullmatch(r'\s*o?source "(.*)"', line)
        found = sorted(root.glob(sourced[1])) if sourced else []
        lines += [whole(root, str(file.relative_to(root))) for file in found] if sourced else [line]
    return "\n".join(lines) + "\n"


def values(text: str) -> dict[str, str]:
    """The symbols of a .config that are not n."""
    return dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))
