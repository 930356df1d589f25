"""Statement of what a silent run waits for."""

from __future__ import annotations

import time
from collections.abc import Callable

from tenonos.run.session import Session

SILENCE = 10.0
"""Host seconds without a line, after which a run states what it waits for."""


class Waiting:
    """An observer that states what the run waits for, whenever nothing was printed for a while."""

    def __init__(self, tell: Callable[[str], None], silence: float = SILENCE) -> None:
        self._tell, self._silence = tell, silence
        self._last = time.monotonic()

    def printed(self) -> None:
        """A line was printed."""
        self._last = time.monotonic()

    def chunk(self, chunk: object) -> None:
        """Nothing: output may be of a console that is not printed."""

    def tick(self, session: Session) -> None:
        """State what is awaited."""
        if time.monotonic() - self._last >= self._silence:
            self._tell(f"waiting for {session.awaited()}; Ctrl-C ends the run")
            self.printed()

    def close(self, session: Session) -> None:
        """Nothing is left to state."""
