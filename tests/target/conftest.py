"""Common helpers of tests on the emulated machine."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = ROOT / "tests" / "support"
sys.path.insert(0, str(ROOT / "orchestrator"))


@dataclass
class Outcome:
    """A finished `./tenon` command."""

    status: int
    stdout: str
    stderr: str
    result: dict

    def vm(self, name):
        return next(vm for vm in self.result["vms"] if vm["name"] == name)

    @property
    def task(self):
        (task,) = self.result["periodic"]
        return task

    def said(self, name):
        """The lines of a VM; those that another source interrupted are joined."""
        lines = []
        for line in self.stderr.splitlines():
            if line.startswith(f"{name}| "):
                lines.append(line.removeprefix(f"{name}| "))
            elif line.startswith(f"{name}+ ") and lines:
                lines[-1] += line.removeprefix(f"{name}+ ")
        return [line.rstrip() for line in lines]


def pytest_addoption(parser):
    parser.addoption("--full", action="store_true", help="as often as promised, in hours")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--full"):
        for item in items:
            item.add_marker(pytest.mark.timeout(0), append=False)


STARTED = pytest.StashKey[float]()


def processor_seconds():
    """Processor time of this process, and of the processes that it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[STARTED] = processor_seconds()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Record what a test took, with its fixtures, for comparison with its mark `long`."""
    if call.when == "teardown":
        spent = processor_seconds() - item.stash[STARTED]
        item.user_properties.append(("processor_seconds", f"{spent:.1f}"))


@pytest.fixture(scope="session")
def full(request):
    """Whether tests run with their full numbers of repetitions."""
    return request.config.getoption("--full")


@pytest.fixture(scope="session")
def times(full):
    """A number of repetitions: the given one, or a thousand with `--full`."""
    return lambda short: 1000 if full else short


@pytest.fixture(scope="session")
def tenon(full, tmp_path_factory):
    """Calls `./tenon` with a time-out and reads its JSON."""
    patience = 20 if full else 1

    def call(*arguments, limit=300, json_file=True, entry=(ROOT / "orchestrator",)):
        limit *= patience
        file = tmp_path_factory.mktemp("run") / "out.json"
        line = [sys.executable, *map(str, entry), *map(str, arguments)]
        if json_file:
            line += ["--json", str(file)]
        try:
            done = subprocess.run(
                line,
                cwd=ROOT,
                check=False,
                capture_output=True,
                text=True,
                timeout=limit,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as late:
            tail = (late.stderr or b"").decode(errors="replace")[-3000:]
            pytest.fail(f"{' '.join(line[2:])} took more than {limit} s; last words:\n{tail}")
        result = json.loads(file.read_text()) if file.exists() else {}
        return Outcome(done.returncode, done.stdout, done.stderr, result)

    return call


def compile_guest(folder, name, *places):
    """An ELF of a guest in C, with its sections at these places."""
    command = [
        *("aarch64-linux-gnu-gcc", "-O1", "-Wall", "-Werror", "-ffreestanding", "-nostdlib"),
        *("-mgeneral-regs-only", "-mstrict-align", "-fno-pie", "-no-pie"),
        *(f"-Wl,{option}" for option in ("--build-id=none", "-n", "-e,entry", *places)),
        *("-o", folder / f"{name}.elf", SUPPORT / "guests" / f"{name}.c"),
    ]
    subprocess.run(command, check=True)


def vm_image(tenon, folder, name):
    """The image file of a VM of the system in `folder`, from which it is created at run time."""
    built = tenon("build", folder, "--vm-image", name, json_file=False)
    assert_well(built)
    return ROOT / built.stdout.splitlines()[-1]


def cases(folder, script, last, patience=240):
    """Options of a run in which Linux, with the files in `root`, runs a script until a line.

    Linux has booted before, so that the script has no time-out of its own.
    """
    file = folder / "root/etc/cases"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(script)
    file.chmod(0o755)
    lines = ("expect tenon-ready", "expect # ", "send /etc/cases", f"expect {last}")
    typed = folder / "linux.cases"
    typed.write_text("\n".join((f"timeout {patience}", *lines, "")))
    return ["--input", f"linux={typed}"]


def until(folder, *, patience=240, **last):
    """Options of a run that ends when each of these VMs has printed its last line.

    A system without periodic tasks is limited by the host's clock: a run with a limit in seconds
    would be too short on a busy host.
    """
    options = []
    for name, text in last.items():
        script = folder / f"{name}.until"
        script.write_text(f"timeout {patience}\nexpect {text}\n")
        options += ["--input", f"{name}={script}"]
    return options


def bare(image, folder, last, **terms):
    """The lines of an image without Mortise, until this number of them contains `last`."""
    return [line.split("] ", 1)[-1] for line in bare_with_times(image, folder, last, **terms)]


def bare_with_times(
    image, folder, last, *, machine="gic-version=3", cores=4, count=1, limit=240, options=()
):
    """The lines of an image without Mortise, each after its time in brackets.

    Deterministic, however busy the host is. Only complete lines count. The emulator gets `options`
    too.
    """
    serial = folder / "serial"
    command = [
        *("qemu-system-aarch64", "-M", f"virt,{machine}", "-cpu", "cortex-a53", "-m", "1G"),
        *("-smp", str(cores), "-icount", "shift=0,sleep=off"),
        *("-nodefaults", "-nic", "none", "-display", "none"),
        *("-serial", f"file:{serial}", "-kernel", image, *options),
    ]
    emulator = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = []
    try:
        end = time.monotonic() + limit
        while time.monotonic() < end and sum(last in line for line in lines) < count:
            time.sleep(0.1)
            text = serial.read_text(errors="replace") if serial.exists() else ""
            lines = text.split("\n")[:-1]
    finally:
        emulator.kill()
        emulator.wait()
    return lines


def assert_well(outcome):
    """Asserts that the command succeeded, and shows its output if not."""
    assert outcome.status == 0, outcome.stderr[-4000:]


def assert_overloaded(outcome):
    """Asserts that the run came to its end, with tasks that demand more than they are granted; the
    releases that never came are named."""
    assert outcome.status == 1, outcome.stderr[-4000:]
    assert re.search(r"tenon: .*\d+ of \d+ releases of task \S+ of \S+ never came", outcome.stderr)


LOST = 4096
"""Memory in KiB that Linux may cache after many kills: less than the memory of the killed
programs, and with `--full` less than a page of each."""


def assert_nothing_lost(said):
    """Asserts that Linux reported no lost memory and no hung task; `-s` shows the report."""
    (line,) = (line for line in said if line.startswith("lost "))
    print(*(line for line in said if line.startswith(("killed ", "lost "))), sep="; ")
    memory, stuck = re.fullmatch(r"lost (-?\d+) KiB, (\d+) tasks stuck", line).groups()
    assert int(memory) < LOST and stuck == "0", line
