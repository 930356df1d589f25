"""Random sets of demands, bans and bounds, each judged twice over.

A feasible set has its optimum confirmed by an integer program, and its configuration by kconfiglib
and by Kconfig's program in C, without a warning. An infeasible one is infeasible there too, and
without any one of the demands that are named it is not.

`TENON_DEMAND_SETS=1000` tries as many, `TENON_SEED` others.
"""

import os
import random
from dataclasses import dataclass

import kconfiglib
import pytest
from second import Integers, KconfigConf, values

from tenonos.cards import card
from tenonos.paths import ROOT
from tenonos.plan import bounds
from tenonos.plan.configuration import applied
from tenonos.plan.models import Item, Plan
from tenonos.plan.pool import CORES
from tenonos.plan.solve import Demand, Problem, minimal, satisfiable
from tenonos.pool.kconfig import isolated

SETS = int(os.environ.get("TENON_DEMAND_SETS", "200"))
SEED = int(os.environ.get("TENON_SEED", "2026"))
LOTS = 10
NAME = "image"


@dataclass(frozen=True)
class Bound:
    """The most bytes an image may have, or the number of cores it runs on."""

    kind: str
    value: int


@dataclass(frozen=True)
class Asked:
    """A set: what kind of image, and what is asked of it."""

    kind: str
    named: tuple

    def __str__(self):
        said = (
            f"{d.symbols[0]}={'ny'[d.value]}" if isinstance(d, Demand) else d for d in self.named
        )
        return f"{self.kind}: {', '.join(map(str, said))}"


class Judge:
    """A set as the planner and as the second solver see it."""

    def __init__(self, pool):
        self.pool = pool
        self.integers = {}

    def problem(self, kind, named, cores):
        """What the planner solves."""
        demands = [Demand((f"IMAGE_{kind.upper()}",)), Demand(("BOARD_QEMU_VIRT",))]
        demands += [one for one in named if isinstance(one, Demand)]
        return Problem(self.pool.encoded(cores), demands)

    def cores(self, kind, named):
        """The numbers of cores that a set leaves; with two or with four, all is the same."""
        free = [1, 2] if kind == "tenon" else [1]
        return [b.value for b in named if isinstance(b, Bound) and b.kind == "cores"] or free

    def items(self, named):
        """The bounds on size, as the planner has them."""
        sizes = [one.value for one in named if isinstance(one, Bound) and one.kind == "image"]
        return [Item(kind="image", value=size, image=NAME, rule="test") for size in sizes]

    def holds(self, kind, named):
        """The number of cores with which the planner finds that a set can hold, if any."""
        for cores in self.cores(kind, named):
            problem = self.problem(kind, named, cores)
            if satisfiable(problem) and not self.too_large(problem, kind, named):
                return cores
        return None

    def too_large(self, problem, kind, named):
        """Whether the planner says that no image is as small."""
        return bounds.objection(problem, NAME, kind, self.items(named), self.pool)

    def least(self, kind, named, cores):
        """The second solver's optimum."""
        problem = self.problem(kind, named, cores)
        if cores not in self.integers:
            self.integers[cores] = Integers(problem.encoding)
        return self.integers[cores].least(problem.clauses(), self.pool.bytes_in(kind))

    def agrees(self, kind, named):
        """Whether the second solver finds a set feasible, too."""
        own = self.pool.loaded(kind, [])
        bound = bounds.limits(NAME, self.items(named)).get(bounds.IMAGE)
        found = [self.least(kind, named, cores) for cores in self.cores(kind, named)]
        return any(f is not None and (bound is None or own + f <= bound) for f in found)


def draw(rng, known, fitting):
    """A random set: mostly of what images of its kind can have."""
    kind = rng.choice(card.KINDS)
    wanted = rng.sample(fitting[kind] if rng.random() < 0.9 else known, rng.randint(1, 3))
    banned = rng.sample(known, rng.randint(0, 3))
    named = [Demand((s,), True, s) for s in wanted] + [Demand((s,), False, s) for s in banned]
    if rng.random() < 0.5:
        named.append(Bound("image", rng.randint(24, 256) << 10))
    if kind == "tenon" and rng.random() < 0.3:
        named.append(Bound("cores", rng.choice([1, 2, 4])))
    return Asked(kind, tuple(dict.fromkeys(named)))


@pytest.fixture(scope="module")
def judge(pool):
    return Judge(pool)


@pytest.fixture(scope="module")
def sets(pool):
    rng = random.Random(SEED)
    print(f"seed {SEED}, {SETS} sets")
    # Without a card there is no bound that could be held against it.
    lacking = {s for s, crate in pool.libraries.items() if crate.id not in pool.estimates.cards}
    known = sorted({e.symbol for e in pool.entries.values() if e.available} - lacking)
    fitting = {kind: [s for s in known if pool.fits(kind, s)] for kind in card.KINDS}
    return [draw(rng, known, fitting) for _ in range(SETS)]


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    return KconfigConf(tmp_path_factory.mktemp("kconfig"), ROOT)


@pytest.fixture(scope="module")
def fresh():
    with isolated(ROOT):
        return kconfiglib.Kconfig(str(ROOT / "pool/Kconfig"), warn_to_stderr=False)


FEASIBLE = {}


def test_a_second_opinion_may_differ(second, judge, tmp_path):
    file = tmp_path / ".config"
    file.write_text("CONFIG_IMAGE_MORTISE=y\nCONFIG_LIB_TENON_SYNC=y\nCONFIG_MORTISE_VMS=x\n")
    kept, said = second.settled(file)
    assert "MORTISE_VMS" in said or "invalid" in said
    assert "LIB_TENON_SYNC" not in values(kept) and values(kept)["IMAGE_MORTISE"] == "y"
    both = [Demand(("APP_HELLO",)), Demand(("LIB_TENON_THREAD",), False)]
    assert not judge.agrees("tenon", both)
    assert all(judge.agrees("tenon", [one]) for one in both)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("lot", range(LOTS))
def test_each_set_is_judged_alike(judge, sets, second, fresh, tmp_path, lot):
    for asked in sets[lot::LOTS]:
        cores = judge.holds(asked.kind, asked.named)
        FEASIBLE[asked] = cores is not None
        if cores is None:
            infeasible(judge, asked)
        else:
            configured(best(judge, asked, cores), second, fresh, tmp_path / ".config")


@pytest.mark.timeout(1200)
def test_neither_kind_of_set_is_rare(judge, sets):
    found = [FEASIBLE.get(one, judge.holds(one.kind, one.named) is not None) for one in sets]
    print(f"seed {SEED}: {sum(found)} of {len(found)} feasible")
    assert 0.3 <= sum(found) / len(found) <= 0.7, f"seed {SEED}: {sum(found)} of {len(found)}"


def best(judge, asked, cores):
    """The configuration of a feasible set, with a cost that the second solver confirms."""
    problem = judge.problem(asked.kind, asked.named, cores)
    footprint = Item(kind="utility", value="footprint", rule="test")
    plan = Plan(objective="", planner="", items=[*judge.items(asked.named), footprint])
    solution = bounds.best(problem, NAME, asked.kind, plan, judge.pool)
    assert solution is not None, f"seed {SEED}: {asked}"
    assert solution.cost == judge.least(asked.kind, asked.named, cores), f"seed {SEED}: {asked}"
    config = applied(NAME, solution, cores, judge.pool)
    assert config.values[CORES] in (0, cores), f"seed {SEED}: {asked}"
    return config


def configured(config, second, fresh, file):
    """Both Kconfigs keep each value of a configuration, without a warning."""
    file.write_text(config.minimal)
    fresh.warnings.clear()
    fresh.load_config(str(file))
    assert not fresh.warnings, fresh.warnings
    fresh.write_config(str(file), header="")
    wanted = values(file.read_text())
    assert {n for n, v in wanted.items() if v == "y"} == config.enabled
    kept, said = second.settled(file)
    assert not said, said
    assert values(kept) == wanted


def infeasible(judge, asked):
    """The second solver agrees, also that any one of the named demands is one too many."""
    named = list(asked.named)
    assert not judge.agrees(asked.kind, named), f"seed {SEED}: {asked}"
    core = minimal(named, lambda rest: judge.holds(asked.kind, rest) is not None)
    for one in core:
        rest = [other for other in core if other is not one]
        assert judge.holds(asked.kind, rest), f"seed {SEED}: {asked} without {one}"
        assert judge.agrees(asked.kind, rest), f"seed {SEED}: {asked} without {one}"
