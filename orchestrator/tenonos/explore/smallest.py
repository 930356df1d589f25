"""Search for the smallest alternative in few trials, by size alone.

An untried setting is tried by itself, and kept if the result is good and smaller. Settings that
saved bytes in an earlier search are applied together, and in halves if that fails; settings that
saved nothing are not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tenonos.explore.oracle import Verdict
from tenonos.explore.space import Alternative, Deviation, Space

Grown = dict[tuple[str, str, bool], int]
"""Growth in bytes of an image of a kind by a setting."""


@dataclass
class Smallest:
    """A search for the smallest good alternative."""

    space: Space
    judge: Callable[[Alternative], Verdict]
    grown: Grown
    """Results of earlier searches, which are extended."""
    best: Alternative = ()
    verdict: Verdict = field(init=False)

    def run(self) -> None:
        """Search; the result is in `best` and `verdict`."""
        self.verdict = self.judge(())
        if not self.verdict.good:
            return
        known = {setting: self.grown.get(self._name(setting)) for setting in self.space.settings}
        self._take([s for s, _ in sorted(known.items(), key=_by_bytes) if (known[s] or 0) < 0])
        for setting in (setting for setting, bytes_ in known.items() if bytes_ is None):
            before, verdict = self.verdict, self._take([setting])
            if verdict is not None and verdict.size is not None and before.size is not None:
                self.grown[self._name(setting)] = verdict.size - before.size

    def _name(self, setting: Deviation) -> tuple[str, str, bool]:
        return self.space.kind(setting.image), setting.symbol, setting.value

    def _take(self, settings: Sequence[Deviation]) -> Verdict | None:
        """Apply as many of these as work and save bytes; the verdict on all together."""
        wanted = self.best
        for setting in settings:
            wanted = self.space.joined(wanted, (setting,)) or wanted
        if wanted == self.best:
            return None
        verdict = self.judge(wanted)
        if verdict.good and _size(verdict) < _size(self.verdict):
            self.best, self.verdict = wanted, verdict
        elif len(settings) > 1:
            half = len(settings) // 2
            self._take(settings[:half])
            self._take(settings[half:])
        return verdict


def _by_bytes(known: tuple[Deviation, int | None]) -> tuple[int, Deviation]:
    setting, grown = known
    return grown or 0, setting


def _size(verdict: Verdict) -> int:
    return verdict.size or 0
