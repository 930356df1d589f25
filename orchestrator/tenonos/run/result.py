"""The result of a run, as `--json` writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tenonos import outputs

HOST_NOISE = "late and latency_ns include the host's noise; --deterministic has none"
FIXED_SEED = "random numbers of guests come from a fixed seed: --deterministic runs repeat them"


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Exits(_Record):
    """Exits to EL2 by cause."""

    irq: int = 0
    hypercall: int = 0
    mmio: int = 0
    sysreg: int = 0
    wfi: int = 0
    other: int = 0


class FaultResult(_Record):
    """The last fault of a VM; addresses and registers in hexadecimal."""

    text: str
    vcpu: int
    esr: str
    far: str
    hpfar: str
    elr: str
    spsr: str
    registers: list[str]


class UnservedCall(_Record):
    """A system call that no library of an image serves, and the first program that made it."""

    program: str
    number: int
    call: str


class VmResult(_Record):
    """The final state of one VM."""

    name: str
    kind: str
    cpus: list[int]
    state: str
    exit_reason: str | None
    boot_ns: int
    exits: Exits
    exits_in_window: int
    el2_instructions_in_window: int | None = None
    restarts: int | None = None
    exit_status: int | None = None
    """Exit status of a C program or of the first process: the result of `main`, or the argument of
    `exit`."""
    unserved: list[UnservedCall] | None = None
    calls: list[str] | None = None
    """The names of the system calls that processes made, in a run with `--strace`."""
    fault: FaultResult | None = None


class Latency(_Record):
    """Nearest-rank percentiles of the time from release to body."""

    min: int
    p50: int
    p99: int
    p999: int
    max: int


class EmulatorDelays(_Record):
    """Releases of a deterministic run that began later because the emulator ran other cores."""

    releases: int
    late: int
    """Those that would not have been late otherwise."""
    max_ns: int


class PeriodicResult(_Record):
    """The statistics of one periodic task in the window."""

    vm: str
    task: str
    period_ns: int
    released: int
    completed: int
    late: int
    duplicates: int
    deadline_ns: int
    first_ns: int
    last_ns: int
    latency_ns: Latency
    emulator_turns: EmulatorDelays | None = None
    """Where they can be told from the system's: on cores that no other VM uses."""


class ChannelResult(_Record):
    """A stream of messages out of a VM."""

    name: str
    messages: int
    lost: int


class UsedTime(_Record):
    """Execution time that was charged to a budget in a period."""

    mean: int
    max: int


class BudgetResult(_Record):
    """The use of one budget, of a VM on a core or of a server in a Tenon image."""

    vm: str
    cpu: int | None = None
    server: str | None = None
    budget_ns: int
    period_ns: int
    periods: int
    exhausted: int
    used_per_period_ns: UsedTime


class PathResult(_Record):
    """Instructions executed by a vCPU from one address to another."""

    name: str | None = None
    """The task of which it is the path from interrupt to job."""
    start: str
    end: str
    vcpu: int
    count: int
    min: int
    max: int
    histogram: dict[int, int]


class Result(_Record):
    """The result of a run."""

    board: str
    mode: str
    timing: Literal["host", "deterministic"]
    note: str | None = None
    emulator: str | None = None
    """The emulator and its version, for which counts of instructions hold."""
    sources: str | None = None
    """The hash of what was run, from its sources."""
    vms: list[VmResult]
    periodic: list[PeriodicResult]
    channels: list[ChannelResult]
    budgets: list[BudgetResult] | None = None
    paths: list[PathResult] | None = None
    problem: str | None = Field(default=None, exclude=True)

    @property
    def failure(self) -> str | None:
        """The reason for exit status 1, if there is one."""
        if self.problem is not None:
            return self.problem
        for vm in self.vms:
            if vm.state == "lost":
                return f"{vm.name} lost a core that it put to sleep"
            if vm.state == "stopped":
                return f"{vm.name} stopped: {vm.exit_reason}"
            if vm.exit_status:
                return f"{vm.name} ended with exit status {vm.exit_status}"
        return None

    def to_json(self) -> str:
        """The JSON, without empty optional keys, except `exit_reason`."""
        return json.dumps(_without_absent(self.model_dump()), indent=2, ensure_ascii=False) + "\n"

    def write(self, path: Path) -> None:
        """Write the JSON to a file."""
        outputs.write(path, self.to_json())


def _without_absent(value: Any) -> Any:
    """A value without empty optional keys."""
    if isinstance(value, dict):
        return {
            k: _without_absent(v) for k, v in value.items() if v is not None or k == "exit_reason"
        }
    return [_without_absent(item) for item in value] if isinstance(value, list) else value
