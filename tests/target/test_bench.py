"""`./tenon bench`: the figures repeat, and each has what other tools read."""

import json

from conftest import assert_well

KEYS = {
    *("suite", "name", "params", "environment", "system", "build", "unit", "samples"),
    *("min", "median", "p99", "max", "barriers", "sysreg_writes", "mmio"),
}


def test_two_runs_agree_to_the_instruction(tenon):
    first, second = (tenon("bench", "sched", "irq") for _ in range(2))
    assert_well(first)
    assert first.result == second.result
    rows = {(row["name"], json.dumps(row["params"])): row for row in first.result}
    assert all(row.keys() == KEYS and row["samples"] == 1000 for row in first.result)
    few, many = (rows["yield", f'{{"threads": {n}, "fp": false}}'] for n in (2, 1000))
    assert few["max"] == many["max"], "the cost of a yield does not depend on the threads"
    entry = rows["entry", '{"fp": false}']
    assert entry["min"] == entry["max"], "every interrupt takes the same way in"


def test_an_unknown_suite_is_refused(tenon):
    outcome = tenon("bench", "speed", json_file=False)
    assert outcome.status == 2
    assert outcome.stderr.strip().count("\n") == 0 and "known are sched, irq" in outcome.stderr
