"""The oracle: an alternative is good when it is built, boots and does what it is for.

It works from files alone, so that it can be asked in another process or on another machine.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from tenonos import build, paths
from tenonos import system as systems
from tenonos.build import Built, size
from tenonos.errors import TenonError
from tenonos.locks import exclusive
from tenonos.run import RunOptions, Session, Target
from tenonos.run.console import Chunk
from tenonos.run.result import Result

Name = TypeVar("Name")

MEASURES = ("size", "latency", "boot")
"""What alternatives are compared by; of each the least is best."""
ENDED = frozenset({"stopped", "restarting", "empty", "starting"})
"""States of a VM that did not boot, or died; a program that ran to its end is `off`."""
QUESTION, NUMBER = "which number?", b"1\n"
"""What an application asks before it begins, and what it is given."""


@dataclass(frozen=True)
class Verdict:
    """What became of an alternative."""

    built: bool
    booted: bool = False
    good: bool = False
    why: str | None = None
    """Why it is not good."""
    size: int | None = None
    """Bytes of all images."""
    latency: int | None = None
    """From a release to its body at most, in instructions; none without a periodic task."""
    boot: int | None = None
    """Instructions until the last of the real-time VMs begins."""

    @property
    def measures(self) -> tuple[int, ...]:
        """What it is compared by, where there is nothing: no difference."""
        return tuple(getattr(self, name) or 0 for name in MEASURES)

    def dominates(self, other: Verdict) -> bool:
        """Whether it is at least as good in everything, and better in something."""
        pairs = list(zip(self.measures, other.measures, strict=True))
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON."""
        return asdict(self)


def unbeaten(verdicts: Mapping[Name, Verdict]) -> dict[Name, Verdict]:
    """Those that are good and that no other good one dominates: the Pareto front, with equals."""
    good = {name: verdict for name, verdict in verdicts.items() if verdict.good}
    return {
        name: verdict
        for name, verdict in good.items()
        if not any(other.dominates(verdict) for other in good.values())
    }


def judge(files: Mapping[str, str], seconds: float) -> Verdict:
    """Build, boot and measure the system in these files."""
    with _written(files) as folder:
        try:
            system = systems.load(folder)
            built = build.build(system)
        except TenonError as error:
            return Verdict(built=False, why=str(error))
        try:
            return _booted(built, seconds)
        finally:
            build.discard(system)


@contextmanager
def _written(files: Mapping[str, str]) -> Iterator[Path]:
    """A folder with these files, of the same name each time: what is built has it in it."""
    digest = hashlib.sha256("\0".join(map("\0".join, sorted(files.items()))).encode()).hexdigest()
    folder = paths.RUN / f"explore-{digest[:16]}"
    with exclusive(folder):
        try:
            for name, text in files.items():
                (folder / name).write_text(text)
            yield folder
        finally:
            shutil.rmtree(folder)


class Answering:
    """An observer that gives a number to each VM that asks for one."""

    def __init__(self) -> None:
        self._answered: dict[str, int] = {}

    def chunk(self, chunk: Chunk) -> None:
        """A piece of console output: it is read when it is whole."""

    def tick(self, session: Session) -> None:
        """Answer what was asked since."""
        for name, transcript in session.transcripts.items():
            asked = sum(QUESTION in line.text for line in transcript.lines)
            if asked > self._answered.get(name, 0):
                self._answered[name] = asked
                session.send(name, NUMBER)

    def close(self, session: Session) -> None:
        """The run is over."""


def _booted(built: Built, seconds: float) -> Verdict:
    total = sum(image["total"] for image in size.measure(built)["images"])
    options = RunOptions(seconds=seconds, deterministic=True)
    target = Target.of(built)
    session = Session(target, options, [Answering()])
    try:
        result = session.run()
    except TenonError as error:
        return Verdict(built=True, size=total, why=str(error))
    own = [vm for vm in result.vms if vm.kind == "tenon"]
    # Without Mortise nobody keeps a VM's state: it began if it said something.
    silent = not all(vm.boot_ns for vm in own)
    if target.alone is not None:
        silent = target.alone not in session.transcripts
    why = wrong(result) or ("a VM never began" if silent else None)
    return Verdict(
        built=True,
        booted=not silent,
        good=why is None,
        why=why,
        size=total,
        latency=max((p.latency_ns.max for p in result.periodic), default=None),
        boot=max((vm.boot_ns for vm in own), default=None),
    )


def wrong(result: Result) -> str | None:
    """Why a run is not what it should be: a VM that died, a release lost, doubled or late."""
    if result.failure is not None:
        return result.failure
    for vm in result.vms:
        if vm.state in ENDED:
            return f"{vm.name} is {vm.state}"
    for task in result.periodic:
        lost = task.released - task.completed
        if not task.released or lost or task.duplicates or task.late:
            return (
                f"{task.vm}: of {task.released} releases {lost} lost, "
                f"{task.duplicates} twice, {task.late} late"
            )
    return None
