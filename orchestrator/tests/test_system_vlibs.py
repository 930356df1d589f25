"""What a system may say of Linux as a library, and what becomes of it in memory."""

import struct

import pytest
from descriptions import described, linux, motor, read, table

from tenonos.build.images import space
from tenonos.errors import InputError
from tenonos.system import device_trees
from tenonos.system.layout import lay_out
from tenonos.system.limits import PAGE
from tenonos.system.memory_map import Content
from tenonos.system.schema import parse
from tenonos.system.write import render

HELPED = described(
    "helped",
    motor(cpus=[3]),
    linux(cpus=[0, 1], programs=["helper.c"]),
    table("channel", **{"name": "words", "from": "motor", "to": "linux", "slots": 4, "size": 64}),
    table("vlib", name="helper", master="motor", server="linux", size="8K", time="virtual"),
)


def test_it_is_understood_and_written_back():
    loaded = read(HELPED)
    (vlib,) = loaded.vlibs
    assert (vlib.master, vlib.server, vlib.size) == ("motor", "linux", 8192)
    assert vlib.virtual_time and loaded.vms[1].programs == ("helper.c",)
    spec, _ = parse(HELPED, "system.toml")
    assert parse(render(spec), "again")[0] == spec


def test_mortise_gets_the_library():
    assert space(read(HELPED)).evaluate("mortise")["LIB_MORTISE_VLIB"]


def test_master_and_server_share_memory_and_the_master_reads_the_status():
    loaded = read(HELPED)
    contents = {
        "motor": Content({"image": 50_000, "header": 4096}, 0, 60_000),
        "linux": Content({"kernel": 1 << 20, "initramfs": 1 << 20, "tree": 4096}, 0, 2 << 20),
    }
    layout = lay_out(loaded, 1 << 20, contents)
    there = layout.vlibs["helper"]
    master, server = (layout.vm(name).vlibs["helper"] for name in ("motor", "linux"))
    status, memory = master.areas
    assert (status.pa, status.size, status.flags) == (there.pa, PAGE, 0)
    assert (memory.pa, memory.size, memory.flags) == (there.pa + PAGE, 8192, 1)
    (shared,) = server.areas
    assert (shared.ipa, shared.pa, shared.size) == (memory.pa, memory.pa, 8192)
    # Behind the channel, in memory as the master sees it and among its interrupts.
    channel = layout.vm("motor").channels["words"]
    assert status.ipa == channel.ipa + channel.channel.size
    assert (channel.interrupt, master.interrupt, server.interrupt) == (8, 9, None)
    assert memory.ipa + memory.size == layout.vm("motor").window.stop
    tree = device_trees.linux(loaded, loaded.vms[1], layout)
    assert b"tenonos,vlib" in tree and b"helper" in tree
    # And as its door the page in front, which it does not have.
    assert struct.pack(">4Q", shared.ipa, shared.size, there.pa, PAGE) in tree


@pytest.mark.parametrize(
    ("right", "wrong", "place", "said"),
    [
        ('"8K"', '"5K"', "size", 'size of vLib "helper" is not a multiple of 4K up to 16M'),
        ('"8K"', '"17M"', "size", "not a multiple of 4K up to 16M"),
        ('master = "motor"', 'master = "linux"', "master", 'is "linux", which is not a Tenon VM'),
        ('server = "linux"', 'server = "motor"', "server", 'is "motor", which is not a Linux VM'),
        ('server = "linux"', 'server = "other"', "server", 'is "other", which is not a Linux VM'),
        ("cpus = [3]", "cpus = [2, 3]", "master", 'master of vLib "helper" has 2 CPUs'),
        ('name = "helper"', 'name = "words"', "name", 'vLib "words" is called like a channel'),
        ('name = "helper"', 'name = "control"', "name", 'vLib "control" is called like a device'),
        ('time = "virtual"', 'time = "late"', "time", 'unknown time "late"'),
        ('time = "virtual"', "size_of = 1", "size_of", 'unknown key "size_of" of vlib "helper"'),
    ],
)
def test_what_is_wrong_is_one_line(right, wrong, place, said):
    text = HELPED.replace(right, wrong)
    with pytest.raises(InputError) as refused:
        read(text)
    lines = text.splitlines()
    vlib = lines.index("[[vlib]]")
    line = next(n for n in range(vlib, len(lines)) if lines[n].startswith(f"{place} = ")) + 1
    assert str(refused.value).startswith(f"system.toml:{line}: ") and said in str(refused.value)


def test_a_server_serves_one():
    second = HELPED[HELPED.index("[[vlib]]") :].replace("helper", "other")
    with pytest.raises(InputError, match='VM "linux" serves vLib "helper" already'):
        read(HELPED + second)


def test_time_that_stands_still_needs_cores_of_its_own():
    shared = HELPED.replace('pool = "0.1"', 'pool = "0.1"\nmode = "dynamic"')
    shared = shared.replace("cpus = [3]", 'cpus = [1]\ninterrupts = "shared"')
    with pytest.raises(InputError, match="has virtual time, and its server shares a CPU"):
        read(shared)
    assert read(shared.replace('"virtual"', '"real"')).vlibs
