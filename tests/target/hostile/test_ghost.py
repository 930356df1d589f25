"""A Mortise that checks its ghost state at each exit of the fuzzer."""

from dataclasses import replace

import pytest

from tenonos import build
from tenonos import system as systems
from tenonos.run import RunOptions, Session, Target
from tenonos.run.symbols import address

EXITS = 20_000
"""Number of exits of the fuzzer in each case."""


LEAF = 0x7FD
"""A block descriptor of normal memory with all permissions (Arm ARM, D8.3.2 and D8.5)."""


BLOCK = 2 << 20
"""Size of a block in bytes."""


class UntilChecked:
    """Ends a run after a number of checked exits."""

    def __init__(self, built):
        self.place = address(built, "mortise", "MORTISE_GHOST_CHECKS")
        self.exits = 0
        self.looks = 0

    def chunk(self, chunk):
        pass

    def tick(self, session):
        status = session.statuses.get("fuzzer")
        self.exits = sum(status.totals) if status else 0
        if self.exits >= EXITS:
            session.finish()

    def close(self, session):
        self.looks = int.from_bytes(session.memory.read(self.place, 8), "little")


def of(irq, memory=BLOCK):
    """The system with this interrupt mode and memory size of the fuzzer."""
    whole = systems.load("random-exits-checked")
    wfi = "trap" if irq == "direct" else "pass"
    vms = tuple(
        replace(vm, interrupts=irq, wfi=wfi, memory=memory) if vm.name == "fuzzer" else vm
        for vm in whole.vms
    )
    return replace(whole, name=f"random-exits-checked-{irq}", vms=vms)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("irq", ["shared", "direct"])
def test_random_exits_agree_with_the_ghost_state(irq):
    built = build.build(of(irq))
    watch = UntilChecked(built)
    session = Session(Target.of(built), RunOptions(deterministic=True), [watch])
    result = session.run()
    said = [line.text for line in session.transcripts["mortise"].lines]
    assert [text for text in said if "ghost" in text or "panicked" in text] == [], said
    assert result.failure is None
    assert watch.exits >= EXITS
    # Fast paths in the vectors are checked at the next slow exit.
    assert watch.looks >= EXITS // 2
    fuzzer = next(vm for vm in result.vms if vm.name == "fuzzer")
    assert fuzzer.state in ("running", "restarting") and fuzzer.restarts > 0


class Planter(UntilChecked):
    """Maps the motor's memory into the fuzzer's stage 2 during a run.

    It changes the last block of the guest, which the guest does not use. A guest that finds the
    motor's code in place of its own could take exceptions for ever, without an executed instruction
    or an exit.
    """

    def __init__(self, built):
        super().__init__(built)
        fuzzer, self.foreign = (built.layout.vm(name).pa for name in ("fuzzer", "motor"))
        self.own = fuzzer + BLOCK
        self.tables = [
            address(built, "mortise", f"__{name}") for name in ("rodata_end", "image_end")
        ]
        self.planted = 0

    def tick(self, session):
        super().tick(session)
        if self.exits >= 1_000 and not self.planted:
            start, end = self.tables
            ram, old = session.memory, (self.own | LEAF).to_bytes(8, "little")
            at = ram.read(start, end - start).find(old)
            assert at >= 0 and at % 8 == 0
            with ram.path.open("r+b", buffering=0) as file:
                file.seek(start + at - ram.base)
                file.write((self.foreign | LEAF).to_bytes(8, "little"))
            self.planted = self.exits

    def close(self, session):
        pass


@pytest.mark.timeout(200)
def test_a_foreign_page_in_stage_2_is_found_and_told_in_one_line():
    built = build.build(of("shared", memory=2 * BLOCK))
    planter = Planter(built)
    session = Session(Target.of(built), RunOptions(deterministic=True), [planter])
    session.run()
    assert planter.planted
    said = [line.text for line in session.transcripts["mortise"].lines]
    found = [text for text in said if text.startswith("ghost: ")]
    leaf = f"{planter.foreign | LEAF:#x}"
    rule = f"ghost: rule reach: stage 2 has {leaf} at "
    assert len(found) == 1 and found[0].startswith(rule), said
    assert "; fuzzer vCPU " in found[0]
    # The machine stopped there.
    assert planter.exits < EXITS
