"""The tape: the replies of a run in a file, by which it can be repeated without a network.

The file has the objective, the board, the model's name and each reply to the letter; neither
the endpoint nor its key.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from tenonos import outputs
from tenonos.errors import InputError

Messages = Sequence[dict[str, str]]


class Source(Protocol):
    """Where replies come from: an endpoint, or a tape."""

    def start(self, objective: str, board: str) -> None:
        """A new objective begins."""
        ...

    def ask(self, messages: Messages) -> str:
        """The model's answer to a conversation."""
        ...


class Tape(BaseModel):
    """The contents of the file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    objective: str
    board: str
    model: str
    replies: list[str] = []


class Recorder:
    """A source whose replies are written down as they come, the useless ones too."""

    def __init__(self, source: Source, model: str, file: Path) -> None:
        outputs.check(file, "--record")
        self.source, self.model, self.file = source, model, file

    def start(self, objective: str, board: str) -> None:
        """A new objective begins, and a new tape."""
        self.tape = Tape(objective=objective, board=board, model=self.model)
        self.source.start(objective, board)

    def ask(self, messages: Messages) -> str:
        """The source's answer."""
        reply = self.source.ask(messages)
        self.tape.replies.append(reply)
        # Escaped: half of a surrogate pair is in JSON's power, but not in UTF-8's.
        outputs.write(self.file, json.dumps(self.tape.model_dump(), indent=1) + "\n")
        return reply


class Player:
    """The replies of a tape, in their order."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self.tape = Tape.model_validate(json.loads(file.read_text(encoding="utf-8")))
        except OSError as error:
            raise InputError(f"cannot read it: {error.strerror}", str(file)) from None
        except (ValidationError, ValueError, RecursionError):
            raise self._wrong("it is not a record of replies") from None

    def start(self, objective: str, board: str) -> None:
        """The objective that is asked for, which must be the one on the tape."""
        if (objective, board) != (self.tape.objective, self.tape.board):
            raise self._wrong("it was recorded for another objective or board")
        self.left = list(self.tape.replies)

    def ask(self, messages: Messages) -> str:
        """The next reply."""
        if not self.left:
            raise self._wrong(f"its {len(self.tape.replies)} replies give no plan")
        return self.left.pop(0)

    def _wrong(self, what: str) -> InputError:
        return InputError(what, str(self.file), "make one with --record")
