"""Stack usage of runs stays below the bound that was computed from the image."""

from __future__ import annotations

import pytest

from tenonos import build
from tenonos import system as systems
from tenonos.build.size import measure
from tenonos.run import RunOptions, Session, Target

PAGE = 4096
OWN = {"IDLE_STACK": "idle", "TENON_INTERRUPT_STACK": "interrupts"}


class Watcher:
    """Ends a run after a VM's last line, and reads how deep each of its stacks was written.

    Memory is initially zero.
    """

    def __init__(self, vm, stacks):
        self.vm, self.stacks, self.used = vm, stacks, {}

    def chunk(self, chunk):
        pass

    def tick(self, session):
        if self.vm in session.transcripts and " failed" in session.transcripts[self.vm].text:
            session.finish()

    def close(self, session):
        for name, (address, size) in self.stacks.items():
            below = session.memory.read(address + PAGE, size)
            self.used[name] = len(below.lstrip(b"\0"))


def stacks_of(built, image):
    """The stacks of an image by name, as physical address and size."""
    from elftools.elf.elffile import ELFFile

    from tenonos.analysis.demangle import demangled

    place = built.layout.vm(image)
    with built.elf_files[image].open("rb") as file:
        for symbol in ELFFile(file).get_section_by_name(".symtab").iter_symbols():
            name = demangled(symbol.name).split("::")[-1]
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"]:
                yield name, symbol["st_value"] - place.ipa + place.pa, symbol["st_size"]


@pytest.mark.long(70, "orchestrator/tenonos/analysis", "pool/tenon", "pool/mortise/vcpu")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("system", "image"), [("selftest", "selftest"), ("selftest-fp", "floats")])
def test_what_is_used_is_within_the_bounds(system, image):
    built = build.build(systems.load(system))
    rows = {r["name"]: r for r in measure(built)["stacks"] if r["image"] == image}
    statics = {name: (address, size) for name, address, size in stacks_of(built, image)}
    sizes = {name: rows[row]["size"] for name, row in OWN.items()}
    # The stack of consecutive threads of the test.
    threads = [row for row in rows.values() if row["size"] == 4096 and row["name"] != "interrupts"]
    storages = {name for name, (_, size) in statics.items() if size == 3 * PAGE and name in "ABC"}
    sizes |= dict.fromkeys(storages, 4096)
    assert len(storages) >= 1 and len(threads) >= 4

    watcher = Watcher(image, {name: (statics[name][0], size) for name, size in sizes.items()})
    Session(Target.of(built), RunOptions(deterministic=True), [watcher]).run()
    for name, row in OWN.items():
        assert rows[row]["bounded"], row
        assert 0 < watcher.used[name] <= rows[row]["need"], (name, watcher.used, rows[row])
    # The maximum of an idle thread is an interrupt with a preemption, which happens soon.
    assert watcher.used["IDLE_STACK"] == rows["idle"]["need"]
    most = max(row["need"] for row in threads)
    least = min(row["need"] for row in threads)
    for name in storages:
        assert least / 2 < watcher.used[name] <= most, (name, watcher.used)
