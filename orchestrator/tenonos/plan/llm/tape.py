"""Records of a model's replies in a file, to repeat a run without a network.

The file has the objective, the board, the model's name and each reply verbatim; neither the
endpoint nor its key.
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
    """A source of replies: an endpoint, or a record."""

    def start(self, objective: str, board: str) -> None:
        """Start a new objective."""
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
    """A source that records its replies, unusable ones included."""

    def __init__(self, source: Source, model: str, file: Path) -> None:
        outputs.check(file, "--record")
        self.source, self.model, self.file = source, model, file

    def start(self, objective: str, board: str) -> None:
        """Start a new objective and a new record."""
        self.tape = Tape(objective=objective, board=board, model=self.model)
        self.source.start(objective, board)

    def ask(self, messages: Messages) -> str:
        """The source's answer."""
        reply = self.source.ask(messages)
        self.tape.replies.append(reply)
        # Escaped: JSON can represent lone surrogates, UTF-8 cannot.
        outputs.write(self.file, json.dumps(self.tape.model_dump(), indent=1) + "\n")
        return reply


class Player:
    """The replies of a record, in their order."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self.tape = Tape.model_validate(json.loads(file.read_text(encoding="utf-8-sig")))
        except OSError as error:
            raise InputError(f"cannot read it: {error.strerror}", str(file)) from None
        except (ValidationError, ValueError, RecursionError):
            raise self._wrong("it is not a record of replies") from None

    def start(self, objective: str, board: str) -> None:
        """Start an objective, which must be the recorded one."""
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
