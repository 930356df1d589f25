"""Words for what a run waits for: VMs with their states, and the ends of channels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tenonos.run.console import Transcript, clean
from tenonos.run.formats import Reason, State, Status
from tenonos.run.target import WatchedChannel

MOST = 4
"""The most VMs that a line names."""

LONGEST = 60
"""The most characters of a line of a console."""

_STATES = {
    State.EMPTY: "not started",
    State.STARTING: "starting",
    State.RUNNING: "running",
    State.OFF: "off",
    State.RESTARTING: "restarting",
    State.CREATED: "created and not started",
    State.PAUSED: "paused",
    State.DESTROYING: "being destroyed",
    State.DESTROYED: "destroyed",
    State.LOST: "without its core, which does not answer",
}


def state(status: Status | None) -> str:
    """The state of a VM, after its name or a comma."""
    if status is None:
        return "not started"
    if status.state is State.STOPPED:
        return "stopped" if status.reason is Reason.NONE else f"stopped by {status.reason.text}"
    return _STATES[status.state]


def shortened(transcript: Transcript) -> str:
    """The last line of a console that is not empty, at most as long as a message allows."""
    lines = (clean(line.text).strip() for line in reversed(transcript.lines))
    last = next((line for line in lines if line), "")
    return last if len(last) <= LONGEST else f"{last[:LONGEST]}…"


def with_states(names: Iterable[str], statuses: Mapping[str, Status]) -> str:
    """VMs with their states: `motor (running) and linux (not started)`."""
    told = [f"{name} ({state(statuses.get(name))})" for name in names]
    if len(told) > MOST:
        told = [*told[: MOST - 1], f"{len(told) - MOST + 1} more"]
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)


def idle(channels: Sequence[WatchedChannel], statuses: Mapping[str, Status]) -> str:
    """Channels without a message so far: an end of each may wait for the other."""
    told = []
    for each in channels[:MOST]:
        ends = with_states([name for name in (each.origin, each.to) if name], statuses)
        told.append(f"{each.name} between {ends}" if ends else each.name)
    return f", no message yet on channel {'; '.join(told)}" if told else ""
