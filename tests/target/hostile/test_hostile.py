"""A hostile guest: each attack is contained or stopped, without effects on other VMs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

import pytest
from conftest import ROOT
from test_path import ALONE, measure

from tenonos import build
from tenonos import system as systems
from tenonos.errors import WorkError
from tenonos.run import RunOptions, Session, Target, plugin
from tenonos.run.symbols import address, interrupt
from tenonos.system.limits import PAGE
from tenonos.system.memory_map import Layout

OUTCOME = re.compile(
    r"(?P<name>(?P<kind>[a-z]+)/[a-z-]+) (?P<case>\d+) (?P<outcome>contained|stopped): "
)
ROUND = re.compile(r"round \d+ ends: (\d+) stopped, (\d+) contained, (\d+) called back, (\d+)")
KINDS = {"memory", "gic", "calls", "registers", "instructions", "power", "console"}
MARK = bytes.fromhex("d500dfba")
"""Upper half of all values that the guest stores outside of its memory."""


class Watch:
    """Ends a run after a whole round of attacks and checks memory.

    A Linux stores a value before the round, and returns it afterwards.
    """

    def __init__(self, built):
        self.built = built
        self.linux = built.system.console == "linux"
        self.outcomes = []
        self.round = None
        self.rounds = 0
        self.since = None
        self.until = 0
        self.asked = 0
        self._seen = 0
        self.breaches = []

    def chunk(self, chunk):
        pass

    def tick(self, session):
        self._read(session)
        if self.since is None and (not self.linux or "linux" in session.ready):
            self.since = len(self.outcomes)
            self.until = self.rounds + 2  # the second round is complete
            if self.linux:
                session.send("linux", b"head -c 20000000 /dev/urandom >f; sha256sum <f >s\n")
        if self.since is None or self.rounds < self.until:
            return
        if not self.linux:
            session.finish()
        elif not self.asked:
            self.asked = 1
            session.send("linux", b"sha256sum <f | cmp - s && echo kept $((6*7))\n")
        elif "kept 42" in session.transcripts["linux"].text:
            session.finish()

    def close(self, session):
        """Asserts that memory outside of the guest is unchanged."""
        self._read(session)
        layout: Layout = self.built.layout
        ends = {
            name: address(self.built, "mortise", f"__{name}")
            for name in ("image_start", "rodata_end", "image_end")
        }
        start = ends["image_start"]
        image = self.built.image.read_bytes()
        # Mortise writes the status pages, between the manifest and the payloads.
        statuses = [vm.status_pa for vm in layout.vms.values()]
        payloads, end = max(statuses) + PAGE, start + len(image)
        assert ends["image_end"] + layout.manifest_size == min(statuses)
        assert payloads - min(statuses) == len(statuses) * PAGE
        for low, high in (
            (start, ends["rodata_end"]),
            (ends["image_end"], min(statuses)),
            (payloads, end),
        ):
            now = session.memory.read(low, high - low)
            if digest(now) != digest(image[low - start : high - start]):
                self.breaches.append(f"{low:#x} to {high:#x} of the system image changed")
        own = layout.vm("hostile")
        # Mortise saves the registers of a fault in its variables and the status page.
        known = [
            (own.pa, own.pa + own.size),
            (own.status_pa, own.status_pa + PAGE),
            (start, min(statuses)),
            (payloads, end),
        ]
        self.breaches += marks(session, known)

    def _read(self, session):
        lines = session.transcripts["hostile"].lines if "hostile" in session.transcripts else []
        for line in lines[self._seen : len(lines) - 1]:
            if found := OUTCOME.match(line.text):
                self.outcomes.append(found)
            elif found := ROUND.match(line.text):
                self.round = [int(number) for number in found.groups()]
                self.rounds += 1
        self._seen = max(self._seen, len(lines) - 1)


class UntilStopped:
    """Ends a run a little after the hostile guest is permanently stopped."""

    def __init__(self):
        self.stopped = None

    def chunk(self, chunk):
        pass

    def tick(self, session):
        status = session.statuses.get("hostile")
        if status is None or not status.state.ended:
            return
        self.stopped = self.stopped or session.transcripts["mortise"].lines[-1].time_ns
        if session.window.latest() > self.stopped + 200_000_000:
            session.finish()

    def close(self, session):
        pass


class UntilLinuxPrints:
    """Ends a run at the first line of Linux."""

    def chunk(self, chunk):
        pass

    def tick(self, session):
        if "linux" in session.transcripts:
            session.finish()

    def close(self, session):
        assert "linux" in session.transcripts


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def digest(data):
    return hashlib.sha256(data).hexdigest()


def marks(session, known):
    """Addresses of the guest's mark in memory, except for permitted ones."""
    for base, data in session.memory.written():
        at = data.find(MARK)
        while at >= 0:
            if not any(low <= base + at < high for low, high in known):
                yield f"the guest's mark is at {base + at:#x}"
            at = data.find(MARK, at + 1)


def on_cpu(target, cpu):
    """The target with another CPU of the emulator, or as it is."""
    return replace(target, machine=replace(target.machine, cpu=cpu)) if cpu else target


def run(system, deterministic=False, cpu=None):
    built = build.build(systems.load(system))
    watch = Watch(built)
    route = (interrupt(built, "motor"), address(built, "motor", "motor::step"))
    options = RunOptions(deterministic=deterministic, routes=(route,) if deterministic else ())
    session = Session(on_cpu(Target.of(built), cpu), options, [watch])
    try:
        return session.run(), watch, session
    except WorkError as error:
        pytest.fail(f"{error}; last outcomes: {[o[0] for o in watch.outcomes[-3:]]}")


def assert_motor_unharmed(result, watch):
    """Returns the result of its VM."""
    assert watch.breaches == []
    (task,) = result.periodic
    assert task.released == task.completed > 100
    assert task.duplicates == 0
    motor = next(vm for vm in result.vms if vm.name == "motor")
    assert (motor.state, motor.restarts) == ("running", None)
    return motor


def assert_victims_unharmed(result, watch):
    motor = assert_motor_unharmed(result, watch)
    assert motor.exits_in_window == 0
    for vm in result.vms:
        assert vm.state in ("running", "restarting"), vm.name


def assert_all_contained(result, watch, session):
    said = session.transcripts["hostile"].lines
    assert [line.text for line in said if "UNEXPECTED" in line.text] == []
    assert watch.round is not None and watch.round[3] == 0
    assert {found["kind"] for found in watch.outcomes[watch.since :]} >= KINDS
    # A forged index of its log ring prints old bytes again, truncated anywhere.
    whole, cut = [], []
    for found in watch.outcomes:
        (whole if found["kind"].endswith(tuple(KINDS)) else cut).append(found.string)
    assert [line for line in cut if not is_end_of_one(line, whole)] == []
    # The last line may be truncated by the end of the run.
    mortise = session.transcripts["mortise"].lines[:-1]
    stops = [line.text for line in mortise if line.text.startswith("hostile stopped: ")]
    reasons = r"hostile stopped: (data|instruction) abort( at 0x[0-9a-f]+)?( \((read|write)\))? on "
    assert all(re.match(reasons, stop) for stop in stops)
    assert len(stops) >= watch.round[0]
    hostile = next(vm for vm in result.vms if vm.name == "hostile")
    assert hostile.restarts > watch.round[0]
    assert re.match(reasons, f"hostile stopped: {hostile.fault.text} on ")


def is_end_of_one(line, lines):
    """Whether one of the lines ends like this one, from the name of the attack on."""
    return any(whole.endswith(line[line.index("/") :]) for whole in lines)


def assert_nothing_forged(session):
    for name, transcript in session.transcripts.items():
        if name != "hostile":
            assert not [line.text for line in transcript.lines if line.text == "forged"], name


@pytest.fixture(scope="module")
def without_linux(tmp_path_factory):
    """A system without its Linux, which takes long to boot deterministically."""

    def reduce(name, old="", new=""):
        text = (ROOT / "tests/systems" / name / "system.toml").read_text()
        parts = [p for p in text.split("[[vm]]") if 'kind = "linux"' not in p]
        folder = tmp_path_factory.mktemp(name)
        for config in (ROOT / "tests/systems" / name).glob("*.config"):
            (folder / config.name).write_text(config.read_text())
        (folder / "system.toml").write_text("[[vm]]".join(parts).replace('console = "linux"', ""))
        change(folder / "system.toml", old, new)
        return folder

    return reduce


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The path of the motor without other VMs."""
    folder = tmp_path_factory.mktemp("motor-alone")
    (folder / "system.toml").write_text(ALONE)
    return measure(folder)


SYSTEMS = ["hostile-direct", "hostile-shared", "hostile-one-core"]


@pytest.mark.long(150, "pool/mortise/vcpu", "pool/mortise/dispatch")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_core_with_ras_contains_a_guest_as_well(without_linux, name):
    assert_contained_on("cortex-a76", without_linux(name), deterministic=True)


@pytest.mark.long(150, "pool/mortise/vcpu", "pool/mortise/dispatch")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_core_with_all_features_of_the_emulator_contains_a_guest_as_well(without_linux, name):
    assert_contained_on("max", without_linux(name), deterministic=True)


def assert_contained_on(cpu, system, deterministic=False):
    """`cpu` is a model of the emulator; None for the board's."""
    result, watch, session = run(system, deterministic, cpu)
    assert result.failure is None
    assert_all_contained(result, watch, session)
    assert_nothing_forged(session)
    assert_motor_unharmed(result, watch)


@pytest.mark.alone
@pytest.mark.timeout(400)
def test_linux_and_the_motor_beside_a_guest_that_owns_its_interrupts():
    assert_contained_and_victims_unharmed("hostile-direct")


@pytest.mark.long(180, "pool/mortise/vcpu", "pool/mortise/sysregs")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("cpu", ["cortex-a76", "max"])
def test_linux_and_the_motor_beside_such_a_guest_on_newer_cores(cpu):
    """By the host's clock the guest's own watchdog ends attacks that `max` emulates too slowly."""
    assert_contained_and_victims_unharmed("hostile-direct", cpu, deterministic=True)


@pytest.mark.alone
@pytest.mark.long(50, "pool/hw/irqchip-gicv2", "pool/mortise/gicd", "pool/mortise/vgic")
@pytest.mark.timeout(400)
def test_linux_and_the_motor_beside_such_a_guest_on_gicv2():
    assert_contained_and_victims_unharmed("hostile-gicv2")


def assert_contained_and_victims_unharmed(name, cpu=None, deterministic=False):
    result, watch, session = run(ROOT / "tests/systems" / name, deterministic, cpu)
    assert result.failure is None
    assert_all_contained(result, watch, session)
    assert_victims_unharmed(result, watch)
    assert_nothing_forged(session)


@pytest.mark.alone
@pytest.mark.long(120, "pool/mortise/entropy", "pool/mortise/run", "pool/mortise/transfer")
@pytest.mark.timeout(400)
def test_linux_starts_whenever_the_console_interrupts_its_core():
    """In one of four runs an interrupt is pending while its seeds are written, on a core that takes
    none until the start is complete."""
    built = build.build(systems.load(ROOT / "tests/systems/hostile-direct"))
    for _ in range(12):
        assert Session(Target.of(built), RunOptions(), [UntilLinuxPrints()]).run().failure is None


@pytest.mark.alone
@pytest.mark.long(35, "pool/mortise/vgic", "pool/mortise/vcpu", "pool/hw/irqchip-gicv3")
@pytest.mark.timeout(400)
def test_the_motor_beside_a_guest_behind_list_registers():
    result, watch, session = run(ROOT / "tests/systems/hostile-shared")
    assert result.failure is None
    assert_all_contained(result, watch, session)
    assert_victims_unharmed(result, watch)


@pytest.mark.alone
@pytest.mark.long(35, "pool/mortise/dispatch", "pool/mortise/vcpu")
@pytest.mark.timeout(400)
def test_the_motor_on_one_core_with_a_hostile_guest():
    assert_contained_on(None, ROOT / "tests/systems/hostile-one-core")


@pytest.mark.timeout(400)
def test_no_attack_keeps_the_core_from_its_neighbour_for_long():
    built = build.build(systems.load(ROOT / "tests/systems/hostile-one-core"))
    boot = address(built, "mortise", "secondary_start")
    longest = []

    def count(record):
        if isinstance(record, plugin.Visit) and record.vcpu == 1 and record.first != boot:
            longest.append(record.section)

    options = RunOptions(0.1, deterministic=True, plan=("visits",), count=count)
    result = Session(Target.of(built), options, []).run()
    assert result.failure is None
    hostile = next(vm for vm in result.vms if vm.name == "hostile")
    assert hostile.restarts > 10 and len(longest) > 1000
    # Longest sections before changes: 17,933 for the line about a stopped guest, 4,214 for the
    # withdrawal of its memory, 1,612 for its halt, 639 for eight bytes of the reason in its status
    # page, and rarely 547 for a write that activates many interrupts.
    assert max(longest) <= 150


@pytest.mark.long(55, "pool/mortise/run", "pool/mortise/dispatch", "pool/mortise/vcpu")
@pytest.mark.timeout(400)
def test_the_motor_s_path_is_the_same_beside_a_hostile_guest(without_linux, alone):
    result, watch, session = run(without_linux("hostile-direct"), deterministic=True)
    assert_all_contained(result, watch, session)
    assert_victims_unharmed(result, watch)
    (path,) = result.paths
    motor = next(vm for vm in result.vms if vm.name == "motor")
    assert motor.el2_instructions_in_window == 0
    # The emulator runs a spinning core for up to 100 ms at a time, so that several late releases
    # share one interrupt: the path is checked, not the number of releases.
    assert path.count > 100
    assert (path.vcpu, path.min, path.max) == (3, alone.min, alone.max), path.histogram


@pytest.mark.alone
@pytest.mark.timeout(200)
def test_the_reason_is_named_when_the_limit_of_restarts_is_reached(without_linux):
    folder = without_linux("hostile-direct", "restart_limit = 1000000", "restart_limit = 2")
    watch = UntilStopped()
    target = Target.of(build.build(systems.load(folder)))
    session = Session(target, RunOptions(), [watch])
    result = session.run()
    assert result.failure == "hostile stopped: data-abort"
    motor, hostile = result.vms
    assert (motor.state, motor.exits_in_window) == ("running", 0)
    assert (hostile.state, hostile.exit_reason, hostile.restarts) == ("stopped", "data-abort", 2)
    assert re.match(r"data abort at 0x[0-9a-f]+ \(read\)$", hostile.fault.text)
    said = [line.text for line in session.transcripts["mortise"].lines]
    assert "hostile stays stopped: 2 restarts were its limit" in said
    (task,) = result.periodic
    assert task.released == task.completed
    assert task.last_ns > watch.stopped + 200_000_000
