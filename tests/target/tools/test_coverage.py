"""Coverage of Mortise: executed lines are reported, and no others."""

import pytest
from conftest import ROOT

from tenonos import build
from tenonos import system as systems
from tenonos.analysis.coverage import Coverage
from tenonos.run import RunOptions, Session, Target, plugin, script
from tools.bench import coverage as suite

KERNEL = ("pool/mortise/partition", "pool/mortise/run", "pool/mortise/machine")


class Ran:
    """A manager that restarts another VM ten times, with two records of the executed code."""

    def __init__(self):
        built = build.build(systems.load("random-restarts"))
        self.first, self.steps = set(), set()
        self.told = 0
        steps = script.parse_text("timeout 100\nexpect 10 kills\n", "kills")
        plan = ("visits", "steps", plugin.EXECUTED)
        options = RunOptions(
            deterministic=True, scripts={"manager": steps}, plan=plan, count=self._count
        )
        result = Session(Target.of(built), options, []).run()
        assert result.failure is None
        self.image = suite.image(built)
        self.coverage = Coverage()
        self.coverage.add(self.image, self.first)

    def _count(self, record):
        if isinstance(record, plugin.Executed):
            self.first.add(record.address)
            self.told += 1
        elif isinstance(record, plugin.Visit):
            self.steps.update(record.steps)

    def lines(self, file, text):
        """Whether all lines with code and this text were executed."""
        path = ROOT / file
        found = [n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line]
        known = [self.coverage.lines[file, n] for n in found if (file, n) in self.coverage.lines]
        assert known, f"no line of {file} with {text!r} has code"
        return known

    def function(self, name, folder=KERNEL):
        """Whether all lines with code of this function were executed."""
        known = [
            covered
            for line, covered in self.coverage.lines.items()
            if line[0].startswith(folder) and self.image.function(line).rpartition("::")[2] == name
        ]
        assert known, f"no function {name} has code"
        return known


@pytest.fixture(scope="module")
def ran():
    return Ran()


@pytest.mark.timeout(300)
def test_an_instruction_is_reported_once_if_it_was_executed(ran):
    assert ran.told == len(ran.first) > 5_000
    # The instruction-wise records of visits are an independent count of the same.
    assert ran.steps <= ran.first
    # Visits in progress at the end are not recorded, such as that of a core that is being regained.
    assert len(ran.first - ran.steps) < len(ran.first) // 20


@pytest.mark.timeout(300)
def test_what_each_call_goes_through_is_covered(ran):
    assert any(ran.lines("pool/mortise/hypercall/src/call.rs", "self.registers"))
    assert any(ran.function("restart_boot_vm", "pool/mortise/lifecycle"))
    assert any(ran.function("hypercall")) and any(ran.function("primary"))


@pytest.mark.timeout(300)
def test_what_ends_the_machine_is_not(ran):
    for name in ("panicked", "mortise_panic", "hypervisor_fault", "mortise_report"):
        assert not any(ran.function(name)), name
    assert not any(ran.lines("pool/hw/arch/src/firmware.rs", "system_off"))
    labels = {w.label: covered for w, covered in ran.coverage.assembly.items() if covered}
    assert "mortise_fault" not in labels and "mortise_own_fault" not in labels
    # Nearly all of the assembly from reset to Rust.
    assert "image_start" in labels


@pytest.mark.timeout(300)
def test_a_library_that_nobody_calls_is_not(ran):
    # At most one VM per core: the dispatcher is not used.
    lines, covered = ran.coverage.of("mortise/dispatch")
    assert lines > 100 and covered == 0
    lines, covered = ran.coverage.of("mortise/partition")
    assert 0.4 * lines < covered < lines
