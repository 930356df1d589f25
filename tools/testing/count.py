"""What the tests came to, and the line that says so."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Count:
    """Tests passed, failed and skipped, with the names of those that failed."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)

    def __add__(self, other: Count) -> Count:
        return Count(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            self.failures + other.failures,
        )

    def fail(self, name: str) -> None:
        """One more failure."""
        self.failed += 1
        self.failures.append(name)

    @property
    def line(self) -> str:
        """The closing line; other programs read it."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"
