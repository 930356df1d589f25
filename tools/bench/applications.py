"""Suite of the applications in `bench/applications.toml`: composed, built, booted, tested.

Each is one sentence. The composed system gets a random number at run time, and must answer with the
result of its libraries for that number, which is computed here as well. With `--full` its libraries
are also removed, one at a time.
"""

from __future__ import annotations

import random
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from tenonos import build, paths, system
from tenonos.cards.estimate import of_tree
from tenonos.errors import InputError, TenonError
from tenonos.plan.compose import compose
from tenonos.plan.models import Composition, Model
from tenonos.plan.pool import Pool
from tenonos.run import RunOptions, Session, Target, script
from tools.bench import library_ablation
from tools.bench.row import Row
from tools.bench.verdicts import HOST, STAGES, SUITE
from tools.cards.measure import own_size
from tools.cards.specimens import settings

FILE = paths.ROOT / "bench" / "applications.toml"
SET = "applications"
PARAMS = {"planner": "offline", "set": SET}
NUMBER, ANSWER = "NUMBER", "ANSWER"
"""Variables of a script: the number, and the expected answer."""
DIALOGUE = f"expect which number?\nsend {NUMBER}\nexpect the answer is {ANSWER}\n"
"""The default dialogue on the console of a VM."""


class Application(Model):
    """An application: its objective, and the computation of the answer."""

    name: str
    text: str
    steps: int
    """The number of steps of the computation."""
    scripts: dict[str, str] = Field(default_factory=dict)
    """Dialogues of VMs other than `DIALOGUE`."""

    def dialogues(self, answer: Composition, number: int) -> dict[str, str]:
        """The console dialogues of the composed VMs."""
        asked = {name: DIALOGUE for name, i in answer.images.items() if i.kind == "tenon"}
        made = stepped(number, self.steps)
        return {
            name: text.replace(NUMBER, str(number)).replace(ANSWER, str(made))
            for name, text in (asked | self.scripts).items()
            if text
        }


@dataclass(frozen=True)
class Tried:
    """The stage that an application reached, and the error that stopped it."""

    application: Application
    composed: bool = False
    built: bool = False
    booted: bool = False
    correct: bool = False
    fault: str = ""
    seconds: float = 0.0
    card_error: float | None = None
    """The error of the sum of cards for the built image, in percent."""

    def told(self) -> dict[str, Any]:
        """These values, for a row."""
        asked = {"name": self.application.name, "text": self.application.text}
        return asked | {
            key: getattr(self, key) for key in (*STAGES, "fault", "seconds", "card_error")
        }


def applications(file: Path = FILE) -> list[Application]:
    """All applications."""
    try:
        return [Application(**each) for each in tomllib.loads(file.read_text())["application"]]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{where}: {first['msg']}", paths.shown(file)) from None


def stepped(number: int, steps: int) -> int:
    """A challenge after `steps` steps, as defined in `tests/support/challenge`."""
    for _ in range(steps):
        turned = (number << 7 | number >> 25) & 0xFFFF_FFFF
        number = (turned * 0x2545_F491 & 0xFFFF_FFFF) ^ 0x6D2B_79F5
    return number


def rows(full: bool, tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the suite: numbers of applications composed, built, booted, and correct."""
    pool = Pool()
    tried = []
    missed: list[library_ablation.Ablation] = []
    for application in applications():
        tell(application.name)
        number = random.SystemRandom().randrange(1 << 32)
        tried.append(attempt(application, pool, number))
        if full and tried[-1].correct:
            missed += without(application, pool, number, tell)
    yield from counted(tried)
    if full:
        yield from library_ablation.rows(missed, PARAMS)


def without(
    application: Application, pool: Pool, number: int, tell: Callable[[str], None]
) -> Iterator[library_ablation.Ablation]:
    """Ablations of the application, one for each demanded library."""
    name = application.name
    answer = compose(application.text, pool=pool, name=name)

    def ask(built: build.Built) -> str:
        return _asked(Tried(application), built, application.dialogues(answer, number)).fault

    for one in library_ablation.ablations(name, answer, _written(answer, f"{name}-taken"), ask):
        tell(f"{name} without {one.library}")
        yield one


def attempt(application: Application, pool: Pool, number: int) -> Tried:
    """Compose, build, boot and test an application."""
    tried = Tried(application)
    begun = time.perf_counter()
    try:
        answer = compose(application.text, pool=pool, name=application.name)
        if not answer.accepted:
            return replace(tried, fault="refused")
        tried = replace(tried, composed=True)
        built = build.build(system.load(_written(answer, application.name)))
        tried = replace(tried, built=True, card_error=_card_error(built))
        tried = _asked(tried, built, application.dialogues(answer, number))
    except TenonError as error:
        tried = replace(tried, fault=str(error))
    return replace(tried, seconds=round(time.perf_counter() - begun, 1))


def _written(answer: Composition, name: str) -> Path:
    """The folder of the composition, cleared of earlier files."""
    folder = paths.ensure(paths.DOT / "bench" / SET / name)
    for stale in folder.glob("*"):
        if stale.name not in answer.files:
            stale.unlink()
    answer.write(folder)
    return folder


def _card_error(built: build.Built) -> float:
    images = (
        (
            image.kind,
            [*(library.id for library in image.libraries), *settings(image)],
            own_size(image, built.elf_files[image.name].read_bytes()),
        )
        for image in built.images
    )
    return round(of_tree(paths.ROOT).error(images), 1)


def _asked(tried: Tried, built: build.Built, dialogues: Mapping[str, str]) -> Tried:
    scripts = {vm: script.parse_text(text, f"the script of {vm}") for vm, text in dialogues.items()}
    session = Session(Target.of(built), RunOptions(scripts=scripts), ())
    try:
        session.run()
    except TenonError as error:
        return replace(tried, booted=bool(session.transcripts.keys() & scripts), fault=str(error))
    return replace(tried, booted=True, correct=not session.problem, fault=session.problem or "")


def counted(tried: Sequence[Tried]) -> Iterator[Row]:
    """The numbers of applications by stage, with errors."""

    def row(name: str, count: int, options: dict[str, Any]) -> Row:
        values = {"unit": "count", "environment": HOST, "system": SET}
        return Row(SUITE, name, PARAMS, 1, count, count, count, count, options=options, **values)

    yield row("total", len(tried), {})
    for name in STAGES[:-1]:
        yield row(name, sum(getattr(each, name) for each in tried), {})
    errors = [abs(each.card_error) for each in tried if each.card_error is not None]
    if errors:
        values = {"unit": "percent", "environment": HOST, "system": SET}
        yield Row.of((SUITE, "card_error"), PARAMS, errors, **values)
    yield row("correct", sum(t.correct for t in tried), {SET: [t.told() for t in tried]})
