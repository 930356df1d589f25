"""Evaluation of one alternative: whether it builds, boots and works, and its measures.

It needs files only, so it can run in another process or on another machine.
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
"""The measures to compare; less is better."""
ENDED = frozenset({"stopped", "restarting", "empty", "starting"})
"""States of a VM that did not boot or failed; a completed program is `off`."""
QUESTION, NUMBER = "which number?", b"1\n"
"""Prompts of applications at their start, and the input given."""


@dataclass(frozen=True)
class Verdict:
    """The result for an alternative."""

    built: bool
    booted: bool = False
    good: bool = False
    why: str | None = None
    """The reason why it is not good."""
    size: int | None = None
    """Bytes of all images."""
    latency: int | None = None
    """The longest latency from release to body, in instructions; none without a periodic task."""
    boot: int | None = None
    """Instructions until the start of the last real-time VM."""

    @property
    def measures(self) -> tuple[int, ...]:
        """The measures to compare, with 0 for a missing one."""
        return tuple(getattr(self, name) or 0 for name in MEASURES)

    def dominates(self, other: Verdict) -> bool:
        """Whether it is as good in every measure, and better in one."""
        pairs = list(zip(self.measures, other.measures, strict=True))
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    def to_json(self) -> dict[str, Any]:
        """The verdict as JSON."""
        return asdict(self)


def unbeaten(verdicts: Mapping[Name, Verdict]) -> dict[Name, Verdict]:
    """The good verdicts that no other dominates: the Pareto front, with ties."""
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
    """A temporary folder with these files, of constant name, as it appears in builds."""
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
    """An observer that answers the prompts of applications."""

    def __init__(self) -> None:
        self._answered: dict[str, int] = {}

    def chunk(self, chunk: Chunk) -> None:
        """Nothing: output is read at the next tick."""

    def tick(self, session: Session) -> None:
        """Answer new prompts."""
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
    # Without Mortise there is no VM state: console output shows that it started.
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
    """The reason why a run failed: a failed VM, a lost, duplicate or late release."""
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
