"""Statement of what a silent run waits for."""

from __future__ import annotations

import time
from collections.abc import Callable

from tenonos.run.session import Session
from tenonos.silence import LIMIT

SILENCE = LIMIT
"""Host seconds without a line, after which a run states what it waits for."""


class Waiting:
    """An observer that states what the run waits for, whenever nothing was printed for a while.

    `boots`: until the window opens only, as a user at a console decides how it goes on.
    """

    def __init__(
        self,
        tell: Callable[[str], None],
        silence: float = SILENCE,
        *,
        boots: bool = False,
        how: str = "Ctrl-C ends the run",
    ) -> None:
        self._tell, self._silence = tell, silence
        self._boots, self._how = boots, how
        self._last = time.monotonic()

    def printed(self) -> None:
        """A line was printed."""
        self._last = time.monotonic()

    def chunk(self, chunk: object) -> None:
        """Nothing: output may be of a console that is not printed."""

    def tick(self, session: Session) -> None:
        """State what is awaited."""
        if self._boots and session.window.start is not None:
            return
        if time.monotonic() - self._last >= self._silence:
            self._tell(f"waiting for {session.awaited()}; {self._how}")
            self.printed()

    def close(self, session: Session) -> None:
        """Nothing is left to state."""
