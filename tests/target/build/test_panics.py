"""Panics in a linked Mortise: none is reachable from a guest's exit.

All calls of all functions are read from the instructions. A library without an entry below has no
path to a panic: the compiler has proven and removed each of its checks.
"""

import pytest

from tenonos import build
from tenonos import system as systems
from tenonos.analysis.graph import Graph
from tenonos.analysis.source_locations import SourceLocations, visible

STARTING = {
    "core/manifest": "reads the manifest, which no guest can write, before any guest runs",
    "mortise/partition/src/boot.rs": "builds the virtual machines, before any guest runs",
    "/spin-": "is begun once by the first core: a second beginning would find a panic of the first",
}
MANIFEST = {
    "core/memory/src/blocks.rs": "divides by the size of a block, which is more than nothing",
    "core/sched/src/policy.rs": "divides by a period, of the manifest's",
}
MAPPING = {
    "core/paging": "maps what the manifest or a descriptor that was checked says",
}


def ways(elf):
    """Call sites of panics in functions that also return: source frames, outermost first."""
    graph = Graph(elf)
    locations = SourceLocations(graph.elf)
    for function in graph.functions.values():
        for call in function.calls:
            called = None if call.target is None else graph.at(call.target)
            if called and {function.start, called.start} & graph.panicking == {called.start}:
                yield [frame.where for frame in visible(locations.at(call.site))] or [function.name]


def excused(frames):
    return any(name in frame for name in STARTING | MAPPING | MANIFEST for frame in frames)


@pytest.mark.parametrize("system", ["random-exits", "lifecycle-one-core", "disk", "partitions"])
def test_no_exit_of_a_guest_leads_to_a_panic(system):
    built = build.build(systems.load(system))
    found = [*ways(built.elf_files["mortise"].read_bytes())]
    # The analysis finds panics at all.
    assert any("boot.rs" in frame for frames in found for frame in frames)
    assert [frames for frames in found if not excused(frames)] == []
