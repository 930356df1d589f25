"""What a composition is worth: whether its images build, and each of its VMs boots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tenonos import build, paths, system
from tenonos.errors import TenonError
from tenonos.plan.models import Composition
from tenonos.run import RunOptions, Session, Target

SECONDS = 0.5
"""Of guest time in which nothing may stop once all have booted."""
ENDED = frozenset({"stopped", "restarting", "empty", "starting"})
"""States of a VM that did not boot, or died; a program that ran to its end is `off`."""


@dataclass(frozen=True)
class Outcome:
    """How far a composition came, and what kept it from coming further."""

    built: bool
    booted: bool
    fault: str = ""


class Boots:
    """Compositions built and booted, equal ones once."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._done: dict[frozenset[tuple[str, str]], Outcome] = {}

    @property
    def different(self) -> int:
        """How many were not equal to an earlier one."""
        return len(self._done)

    def of(self, answer: Composition) -> Outcome:
        """The outcome of a composition."""
        made = frozenset(
            (name, _settings(text)) for name, text in answer.files.items() if name != "explain.json"
        )
        if made not in self._done:
            self._tell(f"system {len(self._done) + 1}, {answer.objective}")
            self._done[made] = _outcome(answer)
        return self._done[made]


def _settings(text: str) -> str:
    """A file without its comments, which tell the objective."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _outcome(answer: Composition) -> Outcome:
    folder = paths.ensure(paths.DOT / "bench" / "composed")
    for stale in folder.glob("*"):
        stale.unlink()
    answer.write(folder)
    try:
        built = build.build(system.load(folder))
    except TenonError as error:
        return Outcome(False, False, str(error))
    try:
        result = Session(Target.of(built), RunOptions(seconds=SECONDS), ()).run()
    except TenonError as error:
        return Outcome(True, False, str(error))
    ended = [f"{vm.name} is {vm.state}" for vm in result.vms if vm.state in ENDED]
    return Outcome(True, not ended, ", ".join(ended))
