"""The solver against brute force: on small random trees, kconfiglib is the judge."""

import itertools
import time

import kconfiglib
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pysat.solvers import Solver

from tenonos.plan.encode import encode
from tenonos.plan.solve import Demand, Problem, minimal, satisfiable, solve

NAMES = "ABCDEFG"
relaxed = settings(suppress_health_check=list(HealthCheck), max_examples=60)


@st.composite
def trees(draw):
    """Kconfig text over a few bools: dependencies upwards, selects downwards, maybe a choice."""
    count = draw(st.integers(2, len(NAMES)))
    members = draw(st.integers(0, 3))
    lines = []
    if members:
        optional = draw(st.booleans())
        lines += ["choice", '\tprompt "choice"'] + (["\toptional"] if optional else [])
        lines += [f'config M{i}\n\tbool "m{i}"' for i in range(members)] + ["endchoice"]
    earlier = [f"M{i}" for i in range(members)]
    for place in range(count):
        name = NAMES[place]
        lines.append(f"config {name}")
        lines.append(f'\tbool "{name}"' if draw(st.booleans()) else "\tbool")
        if earlier and draw(st.booleans()):
            lines.append(f"\tdepends on {draw(expressions(earlier))}")
        if draw(st.booleans()):
            lines.append(f"\tdefault y{condition(draw, earlier)}")
        for target in NAMES[place + 1 : count]:
            if draw(st.integers(0, 3)) == 0:
                word = draw(st.sampled_from(["select", "select", "imply"]))
                lines.append(f"\t{word} {target}{condition(draw, earlier)}")
        earlier.append(name)
    return "\n".join(lines) + "\n"


def condition(draw, names):
    return f" if {draw(expressions(names))}" if names and draw(st.booleans()) else ""


def expressions(names):
    leaf = st.sampled_from(names).flatmap(
        lambda n: st.sampled_from([n, f"!{n}", f"{n} = y", f"{n} != y"])
    )
    return st.recursive(
        leaf,
        lambda inner: st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        max_leaves=3,
    )


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    file = tmp_path_factory.mktemp("kconfig") / "Kconfig"

    def read(text):
        file.write_text(text)
        return kconfiglib.Kconfig(str(file), warn_to_stderr=False)

    return read


def reachable(tree):
    """Every configuration a person can reach, without a select that overrides dependencies."""
    free = [s for s in tree.unique_defined_syms if any(n.prompt for n in s.nodes)]
    singles = [s for s in free if s.choice is None]
    choices = tree.unique_choices
    found = set()
    picks = [[None, *choice.syms] if choice.is_optional else choice.syms for choice in choices]
    for bits in itertools.product((0, 2), repeat=len(singles)):
        for picked in itertools.product(*picks):
            tree.unset_values()
            for choice, pick in zip(choices, picked, strict=True):
                choice.set_value(0 if pick is None else 2)
                if pick is not None:
                    pick.set_value(2)
            for symbol, bit in zip(singles, bits, strict=True):
                symbol.set_value(bit)
            if all(sound(s) for s in tree.unique_defined_syms):
                found.add(frozenset(s.name for s in tree.unique_defined_syms if s.tri_value))
    tree.unset_values()
    return found


def sound(symbol):
    return not kconfiglib.expr_value(symbol.rev_dep) or kconfiglib.expr_value(symbol.direct_dep)


def models(encoding):
    """Every configuration the clauses allow."""
    found = set()
    with Solver(name="cadical153", bootstrap_with=encoding.clauses) as solver:
        while solver.solve():
            values = encoding.model(solver.get_model())
            found.add(frozenset(name for name, value in values.items() if value))
            solver.add_clause([-encoding.literal(name, v) for name, v in values.items()])
    return found


@relaxed
@given(text=trees())
def test_the_clauses_allow_exactly_the_configurations_of_kconfig(load, text):
    tree = load(text)
    assert models(encode(tree)) == reachable(tree)


@relaxed
@given(text=trees(), data=st.data())
def test_the_optimum_is_the_cheapest_of_all_configurations(load, text, data):
    tree = load(text)
    names = [s.name for s in tree.unique_defined_syms]
    costs = {name: data.draw(st.integers(1, 20)) for name in names}
    wanted = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    banned = data.draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    demands = [Demand((n,)) for n in wanted] + [Demand((n,), False) for n in banned]
    fitting = [c for c in reachable(tree) if c.issuperset(wanted) and c.isdisjoint(banned)]
    solution = solve(Problem(encode(tree), demands, costs))
    if not fitting:
        assert solution is None
        return
    assert solution is not None
    assert solution.cost == min(sum(costs[n] for n in config) for config in fitting)
    assert frozenset(n for n, v in solution.values.items() if v) in fitting


@relaxed
@given(text=trees(), data=st.data())
def test_a_conflict_is_minimal(load, text, data):
    tree = load(text)
    names = [s.name for s in tree.unique_defined_syms]
    demands = data.draw(
        st.lists(st.builds(Demand, st.sampled_from(names).map(lambda n: (n,)), st.booleans()))
    )
    problem = Problem(encode(tree))
    assume(not satisfiable(problem, demands))
    core = minimal(demands, lambda subset: satisfiable(problem, subset))
    assert not satisfiable(problem, core)
    for demand in core:
        assert satisfiable(problem, [other for other in core if other is not demand])


def test_symbols_without_a_demand_keep_their_defaults(load):
    tree = load(
        'config LIB\n\tbool "lib"\nif LIB\nconfig ON\n\tbool "on"\n\tdefault y\n'
        'config OFF\n\tbool "off"\nchoice\n\tprompt "level"\n\tdefault SECOND\n'
        'config FIRST\n\tbool "first"\nconfig SECOND\n\tbool "second"\nendchoice\nendif\n'
    )
    solution = solve(Problem(encode(tree), [Demand(("LIB",))], {"LIB": 7}))
    assert solution is not None
    assert {n for n, v in solution.values.items() if v} == {"LIB", "ON", "SECOND"}
    assert solution.cost == 7


def test_a_demand_for_a_symbol_that_does_not_exist_is_never_met(load):
    problem = Problem(encode(load('config A\n\tbool "a"\n')))
    assert not satisfiable(problem, [Demand(("NOWHERE",))])
    assert satisfiable(problem, [Demand(("NOWHERE",), False)])
    assert satisfiable(problem, [Demand(("NOWHERE", "A"))])


NUMBERED = """\
config LIB
	bool "lib"
	select SEVERAL if CORES > 1
config C
	bool "c"
	select LIB
config SEVERAL
	bool
if LIB
config CORES
	int "cores"
	default 1
	range 1 1 if C
	range 1 4
config TICK
	bool "tick"
	depends on CORES = 1
endif
"""


@pytest.mark.parametrize(
    ("numbers", "wanted", "there"),
    [
        ({}, "TICK", True),
        ({}, "SEVERAL", False),
        ({"CORES": 1}, "C", True),
        ({"CORES": 2}, "SEVERAL", True),
        ({"CORES": 2}, "TICK", False),
        ({"CORES": 2}, "C", False),
        ({"CORES": 5}, "LIB", False),
    ],
)
def test_a_number_decides_what_depends_on_it(load, numbers, wanted, there):
    problem = Problem(encode(load(NUMBERED), numbers))
    assert satisfiable(problem, [Demand((wanted,))]) is there


def test_six_hundred_libraries_are_solved_in_time(tmp_path):
    """Five hundred stand on one another, a hundred on two of those, and no two neighbours go."""
    lines = []
    for i in range(600):
        lines += [f"config L{i}", f'\tbool "library {i}"']
        lines += [f"\tselect L{j}" for j in (2 * i + 1, 2 * i + 2) if j < 500 and i % 7]
        lines += [f"\tdepends on L{i - 400} || L{i - 300}"] if i >= 500 else []
        lines += [f"\tdepends on !L{i - 1}"] if i > 500 else []
    (tmp_path / "Kconfig").write_text("\n".join(lines) + "\n")
    began = time.process_time()
    encoding = encode(kconfiglib.Kconfig(str(tmp_path / "Kconfig"), warn=False), {})
    demands = [Demand((f"L{i}",)) for i in (5, 8, 520, 522, 580)]
    costs = {f"L{i}": 1 + i % 13 for i in range(600)}
    solution = solve(Problem(encoding, demands, costs))
    assert time.process_time() - began < 5, "in seconds of a processor, whoever else wants it"
    assert solution is not None
    chosen = {symbol for symbol, value in solution.values.items() if value}
    assert {"L11", "L12", "L23", "L17", "L18"} <= chosen, "what they stand on"
    assert not chosen & {"L521", "L0", "L1"}, "and no more"
    assert all(chosen & {f"L{i - 400}", f"L{i - 300}"} for i in (520, 522, 580))
