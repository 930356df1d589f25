"""Memory of the last boot: what RAM holds when the machine starts reaches no VM.

RAM is filled with a pattern before the boot loader loads the image. Stage 2 of each VM that runs
names all memory that the VM can access; none of it may hold the pattern.
"""

from dataclasses import replace

import pytest
from test_tables import RAM, Reader

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target, gdb, session
from tenonos.run.memory import Ram
from tenonos.system.limits import PAGE

SECRET = b"SECRET!!"
STEP = 1 << 24


class Filled(Ram):
    """RAM that holds the pattern when the machine starts."""

    def __init__(self, path, *arguments):
        super().__init__(path, *arguments)
        with path.open("r+b") as file:
            for _ in range(0, self.size, STEP):
                file.write(SECRET * (STEP // len(SECRET)))


class Search(Reader):
    """Finds the pages with the pattern that VMs can access, by VM."""

    def look(self, session):
        super().look(session)
        self.found, self.pages = {}, 0
        for vm, reached in self.guests.items():
            for leaf in reached:
                if leaf.pa < RAM:
                    continue
                for at in range(leaf.pa, leaf.pa + leaf.size, PAGE):
                    self.pages += 1
                    if SECRET in session.memory.at(at, PAGE):
                        self.found.setdefault(vm, []).append(hex(at))


def in_place(system):
    """The system with Linux loaded where it runs."""
    vms = (replace(vm, in_place=vm.kind == "linux") for vm in system.vms)
    return replace(system, vms=tuple(vms))


CASES = {
    "tasks": ("motor-linux", "linux", "Booting Linux", lambda system: system),
    "in-place": ("motor-linux", "linux", "Booting Linux", in_place),
    "channels": ("channels", "initiator", "", lambda system: system),
    "colours": ("motor-coloured", "linux", "Booting Linux", lambda system: system),
    "lent-cores": ("detach", "linux", "Booting Linux", lambda system: system),
    "vlib": ("bench-vlib", "linux", "Booting Linux", lambda system: system),
    "instance": ("lifecycle", "job", "", lambda system: system),
}


@pytest.mark.long(60, "pool/mortise/transfer", "pool/mortise/channel", "pool/mortise/vlib")
@pytest.mark.parametrize(("name", "vm", "line", "change"), CASES.values(), ids=CASES)
def test_no_vm_finds_what_ram_held_before_the_boot(monkeypatch, name, vm, line, change):
    monkeypatch.setattr(session, "Ram", Filled)
    built = build.build(change(systems.load(name)))
    search = Search(gdb.port(), vm, line)
    Session(Target.of(built), RunOptions(gdb=search.port), [search]).run()
    assert search.guests and search.pages
    assert search.found == {}
