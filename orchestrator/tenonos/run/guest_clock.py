"""Guest time of a deterministic run, by the instructions that watched VMs executed.

One instruction of any core is one nanosecond, and idle time only adds to that. So the instructions
of a core since a known moment are a lower bound of the time since then.
"""

from __future__ import annotations

from tenonos.run.plugin import VCPUS, Executing, Moment


class GuestClock:
    """A lower bound of guest time, from the records of the counting plugin."""

    def __init__(self) -> None:
        self._begun = 0
        self._counts = (0,) * VCPUS

    def publish(self, moment: Moment) -> None:
        """Take the time of a job that has begun, and the counters at its end."""
        if moment.sample.begin_ns >= self._begun:
            self._begun, self._counts = moment.sample.begin_ns, moment.guest

    def at(self, record: Executing) -> int:
        """The least time at a record."""
        return self._begun + max(0, record.instructions - self._counts[record.vcpu])
