"""Delays of releases that are the emulator's: turns of other cores in a deterministic run.

A deterministic emulator runs busy cores one after another, while guest time passes for all. A core
whose interrupt is pending then begins late, although neither its own code nor Mortise held it up. A
core that no other VM uses executes nothing but its VM and Mortise, one instruction per nanosecond.
So what exceeds the instructions that it executed since the release is not the system's delay.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tenonos.run.formats import Sample
from tenonos.run.plugin import Moment
from tenonos.run.target import Target


def own_cores(target: Target) -> list[tuple[int, ...] | None]:
    """For each task the cores of its VM, or none if another VM may run there."""
    cores: dict[str, tuple[int, ...]] = {vm.name: vm.cpus for vm in target.vms}
    found: list[tuple[int, ...] | None] = []
    for task in target.tasks:
        others = {cpu for name, cpus in cores.items() if name != task.vm for cpu in cpus}
        shared = target.slots or others & set(cores[task.vm])
        found.append(None if shared else cores[task.vm])
    return found


class EmulatorTurns:
    """The delays of one task's jobs, each at least as long as stated."""

    def __init__(self, cores: Sequence[int]) -> None:
        self._cores = tuple(cores)
        self._published: int | None = None
        """Instructions of the cores at the last publication."""
        self._begun: deque[tuple[int, int]] = deque()
        """The begins of jobs, with the instructions at the publication before each."""

    def delay(self, sample: Sample, moment: Moment) -> int:
        """The least time from release to begin in which the cores executed nothing.

        A sample is published after its job. The instructions since the release are therefore
        bounded by those since the publication before the last job that began by the release.
        """
        executed = sum(moment.el2[cpu] + moment.guest[cpu] for cpu in self._cores)
        base = self._published
        self._published = executed
        if base is not None:
            self._begun.append((sample.begin_ns, base))
        while len(self._begun) > 1 and self._begun[1][0] <= sample.release_ns:
            self._begun.popleft()
        if not self._begun or self._begun[0][0] > sample.release_ns:
            return 0
        return max(0, sample.latency_ns - (executed - self._begun[0][1]))
