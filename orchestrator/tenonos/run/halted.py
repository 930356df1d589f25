"""Recognition of guests that do not continue: at a kernel panic, or at a prompt without input.

A Linux that panics waits for a reset for ever unless it says that it reboots. A boot loader that
finds nothing to boot prints its prompt, and a run without a terminal types nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tenonos.run.console import Transcript, clean

PANIC = "Kernel panic - not syncing"
"""Begin of the line by which a Linux states that it does not continue."""
_RESTARTS = ("Rebooting in ", "Booting Linux on ")
"""Parts of lines by which a Linux states that it starts again, or does so."""

_PROMPTS = {
    "U-Boot": r"=>|(?:\S+ )*U-Boot>|ZynqMP>",
    "EDK2": r"Shell>|FS\d+:[^>]*>",
    "GRUB": r"grub(?: rescue)?>",
    "the initramfs of Debian": r"\(initramfs\)",
}
"""The prompts of boot loaders and emergency shells, by what prints them."""

_REMEDIES = {
    "No working init": "its first program did not start: link it with -static, or add its loader "
    "and libraries; rdinit= in cmdline names another",
    "Requested init": "its root file system has no such program: see rdinit= in its cmdline",
    "Unable to mount root fs": "give it an initramfs, or a disk and root= in its cmdline",
    "Attempted to kill init": "its first program ended: that has to run for ever, or power off",
}
_TYPE = "nothing types there: write the lines with --input, or leave --headless out"


@dataclass(frozen=True)
class Halt:
    """A state in which a guest does not continue."""

    line: str
    """What it printed last."""
    remedy: str
    panicked: bool

    @property
    def text(self) -> str:
        """The line and the remedy, as the end of a sentence that names the VM."""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"`{self.line}`, and no more{remedy}"


class Halted:
    """The guests of a run that do not continue."""

    def __init__(self) -> None:
        self._panics: dict[str, str] = {}
        self._heard: dict[str, float] = {}

    def heard(self, name: str, line: str, now: float) -> None:
        """Take the line of a guest that is being printed, at a time in seconds."""
        self._heard[name] = now
        if PANIC in line:
            # Without advice for users of a distribution, which follows two blanks.
            said = line[line.index(PANIC) :].partition(".  ")[0]
            self._panics[name] = clean(said).strip(" ]-.")
        elif any(each in line for each in _RESTARTS):
            self._panics.pop(name, None)

    def silence(self, name: str, now: float) -> float:
        """The seconds since the last line of a guest, or of Mortise; 0 before the first."""
        return now - self._heard.get(name, now)

    def of(self, name: str, transcript: Transcript | None, now: float, after: float) -> Halt | None:
        """The state of a guest that has been silent for that long in which it does not continue."""
        if transcript is None or self.silence(name, now) < after:
            return None
        if (line := self._panics.get(name)) is not None:
            remedies = (text for part, text in _REMEDIES.items() if part in line)
            return Halt(line, next(remedies, ""), panicked=True)
        last = clean(transcript.lines[-1].text).strip()
        for printer, prompt in _PROMPTS.items():
            if re.fullmatch(prompt, last):
                return Halt(last, f"that is the prompt of {printer}, and {_TYPE}", panicked=False)
        return None


def told(halts: Mapping[str, Halt]) -> str:
    """One clause for each VM that does not continue."""
    return "; ".join(f"{name} printed {halt.text}" for name, halt in halts.items())
