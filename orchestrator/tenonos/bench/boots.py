"""What a composition is worth: whether its images build, and each of its VMs boots.

All of them take an hour or two: what was good is kept in a journal, so that a run that was ended
goes on where it was, and what was not is tried again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tenonos import build, paths, system
from tenonos.errors import TenonError
from tenonos.explore.journal import Journal, key
from tenonos.explore.oracle import Verdict
from tenonos.plan.models import Composition
from tenonos.run import RunOptions, Session, Target

SECONDS = 0.5
"""Of guest time in which nothing may stop once all have booted."""
ENDED = frozenset({"stopped", "restarting", "empty", "starting"})
"""States of a VM that did not boot, or died; a program that ran to its end is `off`."""
FOLDER = paths.DOT / "bench" / "composed"
JOURNAL = paths.DOT / "bench" / "composed.jsonl"


class Boots:
    """Compositions built and booted, equal ones once."""

    def __init__(self, tell: Callable[[str], None], journal: Path = JOURNAL) -> None:
        self._tell = tell
        paths.ensure(journal.parent)
        self._journal = Journal.opened(journal)
        self._done: dict[str, Verdict] = {}

    @property
    def different(self) -> int:
        """How many were not equal to an earlier one."""
        return len(self._done)

    def of(self, answer: Composition) -> Verdict:
        """What became of a composition."""
        files = {n: _settings(text) for n, text in answer.files.items() if n != "explain.json"}
        made = key(files, SECONDS)
        if made not in self._done:
            known = self._journal.found.get(made)
            if known is None:
                self._tell(f"system {len(self._done) + 1}, {answer.objective}")
                known = _judged(answer)
                if known.good:
                    self._journal.add(made, answer.objective, known)
            self._done[made] = known
        return self._done[made]


def _settings(text: str) -> str:
    """A file without its comments, which tell the objective."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


def _judged(answer: Composition) -> Verdict:
    folder = paths.ensure(FOLDER)
    for stale in folder.glob("*"):
        stale.unlink()
    answer.write(folder)
    try:
        built = build.build(system.load(folder))
    except TenonError as error:
        return Verdict(built=False, why=str(error))
    try:
        result = Session(Target.of(built), RunOptions(seconds=SECONDS), ()).run()
    except TenonError as error:
        return Verdict(built=True, why=str(error))
    ended = [f"{vm.name} is {vm.state}" for vm in result.vms if vm.state in ENDED]
    good = not ended
    return Verdict(built=True, booted=good, good=good, why=", ".join(ended) or None)
