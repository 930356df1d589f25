"""Whatever is in a `system.toml`, the answer is a system or one line with a place in it."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from tenonos import system
from tenonos.errors import InputError
from tenonos.paths import SYSTEMS
from tenonos.system.schema import SystemSpec, TaskSpec, VmSpec, parse

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-1, 9),
    st.sampled_from(
        ["motor", "linux", "tenon", "qemu-virt", "0.1", "16M", "1ms", "direct", "shared", "gpio"]
    ),
    st.sampled_from(["0x58000000", "static", "restart", "hello", ".", "0K", "1.0000000001s", "é"]),
    st.text('aM1."\\é\n', max_size=6),
)
VALUES = st.one_of(SCALARS, st.lists(SCALARS, max_size=3))
GOOD = {
    "name": st.sampled_from(["motor", "linux", "a"]),
    "board": st.just("qemu-virt"),
    "pool": st.just("0.1"),
    "kind": st.sampled_from(["tenon", "linux"]),
    "cpus": st.lists(st.integers(0, 4), min_size=1, max_size=2),
    "memory": st.sampled_from(["16M", "512M", "3G"]),
    "app": st.just("motor"),
    "period": st.just("1ms"),
}


def keys(model, *tables):
    """Mostly right keys with mostly right values."""
    names = [name for name in model.model_fields if name not in tables]
    known = st.dictionaries(st.sampled_from([*names, "zebra"]), VALUES, max_size=2)
    right = st.fixed_dictionaries({name: GOOD[name] for name in names if name in GOOD})
    return st.builds(lambda a, b, drop: {**a, **b} if not drop else b, right, known, st.booleans())


def toml(table):
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())


FILES = st.builds(
    lambda top, vms: (
        toml(top)
        + "".join(
            "[[vm]]\n" + toml(vm) + "".join("[[vm.task]]\n" + toml(task) for task in tasks)
            for vm, tasks in vms
        )
    ),
    keys(SystemSpec, "vm"),
    st.lists(st.tuples(keys(VmSpec, "task"), st.lists(keys(TaskSpec), max_size=2)), max_size=3),
)


def answer(text):
    """The system, or None after a complaint that has its form."""
    try:
        spec, lines = parse(text, "s.toml")
        return system.from_spec(spec, SYSTEMS / "s.toml", "s.toml", lines)
    except InputError as error:
        place = re.match(r"s\.toml:(\d+): \S", str(error))
        assert place, str(error)
        assert 1 <= int(place[1]) <= max(1, len(text.splitlines()))
        assert "\n" not in str(error)
        return None


@given(FILES)
def test_anything_of_the_right_shape(text):
    loaded = answer(text)
    if loaded is not None:
        cpus = [cpu for vm in loaded.vms for cpu in vm.cpus]
        assert len(cpus) == len(set(cpus))
        assert all(0 <= cpu < 4 for cpu in cpus)


@given(st.text('[]{}v m="\n.1#é\t', max_size=40))
def test_anything(text):
    answer(text)


@given(st.sampled_from(["vm", "vm.task", "console", "name"]), VALUES)
def test_a_value_where_a_table_belongs(key, value):
    good = '\nname = "a"\nboard = "qemu-virt"\npool = "0.1"\n[[vm]]\nname = "a"\nkind = "tenon"\n'
    answer(f"{key} = {json.dumps(value)}" + good)
    answer(f"{good}{key} = {json.dumps(value)}\n")
