"""Whatever is in a `system.toml`, the answer is a system or one line with a place in it."""

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from tenonos import system
from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.system.schema import (
    ChannelSpec,
    DetachSpec,
    DiskSpec,
    ManagesSpec,
    NetworkSpec,
    RegionSpec,
    ReserveSpec,
    SystemSpec,
    TaskSpec,
    TemplateSpec,
    VlibSpec,
    VmSpec,
    parse,
)

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
    "name": st.sampled_from(["motor", "linux", "a", "b", "c", "d"]),
    "board": st.just("qemu-virt"),
    "pool": st.just("0.1"),
    "kind": st.sampled_from(["tenon"] * 7 + ["image"]),
    "cpus": st.lists(st.integers(0, 3), min_size=1, max_size=2, unique=True),
    "memory": st.sampled_from(["16M", "64M"]),
    "app": st.just("motor"),
    "period": st.just("1ms"),
    "mode": st.sampled_from(["static", "dynamic"]),
    "interrupts": st.just("shared"),
    "from": st.sampled_from(["motor", "linux"]),
    "to": st.sampled_from(["a", "linux"]),
    "slots": st.sampled_from([1, 64]),
    "size": st.just(64),
}


def keys(model, *tables):
    """Mostly right keys with mostly right values."""
    fields = model.model_fields.items()
    names = [field.alias or name for name, field in fields if name not in tables]
    known = st.dictionaries(st.sampled_from([*names, "zebra"]), VALUES, max_size=2)
    # A VM's period is that of its budget, and has none alone.
    own = [name for name in names if name in GOOD and (name != "period" or model is TaskSpec)]
    right = st.fixed_dictionaries({name: GOOD[name] for name in own})
    # Seldom enough that some whole files are right.
    known = st.one_of(*[st.just({})] * 7, known)
    drop = st.sampled_from([False] * 15 + [True])
    return st.builds(lambda a, b, drop: {**a, **b} if not drop else b, right, known, drop)


def toml(table):
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())


def table(header, model, *tables):
    """At most one table of its own."""
    return st.one_of(st.just(""), keys(model, *tables).map(lambda t: header + toml(t)))


def guests(name, model):
    tasks = st.lists(keys(TaskSpec).map(lambda t: f"[[{name}.task]]\n" + toml(t)), max_size=2)
    manages = table("[vm.manages]\n", ManagesSpec) if name == "vm" else st.just("")
    detach = table("[vm.detach]\n", DetachSpec) if name == "vm" else st.just("")
    region = table("[[vm.region]]\n", RegionSpec) if name == "vm" else st.just("")
    inside = ("task", "manages", "detach", "region")
    own = keys(model, *inside).map(lambda t: f"[[{name}]]\n" + toml(t))
    return st.tuples(own, tasks.map("".join), manages, detach, region).map("".join)


FILES = st.tuples(
    keys(SystemSpec, *("vm", "reserve", "template", "channel", "vlib", "disk", "network")).map(
        toml
    ),
    table("[reserve]\n", ReserveSpec),
    st.lists(guests("vm", VmSpec), max_size=3).map("".join),
    st.lists(guests("template", TemplateSpec), max_size=2).map("".join),
    st.lists(table("[[channel]]\n", ChannelSpec), max_size=2).map("".join),
    st.lists(table("[[vlib]]\n", VlibSpec), max_size=2).map("".join),
    table("[[disk]]\n", DiskSpec),
    table("[[network]]\n", NetworkSpec),
).map("".join)


def answer(text):
    """The system, or None after a complaint that has its form."""
    try:
        spec, lines = parse(text, "s.toml")
        return system.from_spec(spec, ROOT / "s.toml", "s.toml", lines)
    except InputError as error:
        place = re.match(r"s\.toml:(\d+): \S", str(error))
        assert place, str(error)
        assert 1 <= int(place[1]) <= max(1, len(text.splitlines()))
        assert "\n" not in str(error)
        return None


@settings(max_examples=400)
@given(FILES)
def test_anything_of_the_right_shape(text):
    loaded = answer(text)
    if loaded is not None:
        cpus = [cpu for vm in loaded.guests for cpu in vm.cpus]
        assert all(0 <= cpu < 4 for cpu in cpus)
        if loaded.mode == "static":
            assert len(cpus) == len(set(cpus))
        for vm in loaded.vms:
            if vm.interrupts == "direct":
                assert not any(loaded.is_shared(cpu) for cpu in vm.cpus)


@given(st.text('[]{}v m="\n.1#é\t', max_size=40))
def test_anything(text):
    answer(text)


@given(
    st.sampled_from(
        [
            *("vm", "vm.task", "vm.manages", "vm.detach", "vm.region", "console", "name"),
            *("reserve", "template", "template.task", "channel", "vlib", "disk", "network"),
        ]
    ),
    VALUES,
)
def test_a_value_where_a_table_belongs(key, value):
    good = '\nname = "a"\nboard = "qemu-virt"\npool = "0.1"\n[[vm]]\nname = "a"\nkind = "tenon"\n'
    answer(f"{key} = {json.dumps(value)}" + good)
    answer(f"{good}{key} = {json.dumps(value)}\n")
