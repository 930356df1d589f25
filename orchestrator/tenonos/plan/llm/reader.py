"""The planner by a language model: question, validation, repeated questions, pruning."""

from __future__ import annotations

from tenonos import ui
from tenonos.errors import InputError, WorkError
from tenonos.plan.llm.check import Checked, Checker
from tenonos.plan.llm.prompt import complaint, conversation
from tenonos.plan.llm.reply import LONGEST, Unusable, parse
from tenonos.plan.llm.tape import Player, Recorder, Source
from tenonos.plan.llm.words import Words
from tenonos.plan.models import Missing, Plan
from tenonos.plan.planner import Model
from tenonos.plan.pool import Pool
from tenonos.settings import SETTINGS
from tenonos.system.board import Board, played

TRIES = 3


class Llm:
    """A planner by a language model, with validation."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def plan(self, objective: str, board: Board, pool: Pool) -> Plan:
        """The demands an objective states."""
        if not objective.strip():
            return Plan(objective=objective, planner="llm", missing=[Missing(source=objective)])
        self.source.start(objective, board.name)
        checked = self._read(Words(objective, played()), pool)
        plan = checked.plan()
        for wrong in checked.complaints:
            if wrong.span is None:
                ui.warn(f"the model's claim is left out: {wrong.text}")
        for evidence in plan.evidence:
            if not evidence.matched:
                ui.warn(f"only the model says that “{evidence.words}” means {evidence.capability}")
        return plan

    def _read(self, words: Words, pool: Pool) -> Checked:
        """The first valid reading, or the one with the fewest errors."""
        messages = conversation(words.text, played(), pool)
        best: Checked | None = None
        wrong: list[str] = []
        for _ in range(TRIES):
            text = self.source.ask(messages)
            try:
                checked = Checker(words, pool, played()).check(parse(text))
                wrong = [found.text for found in checked.complaints]
                if best is None or len(wrong) < len(best.complaints):
                    best = checked
            except Unusable as unusable:
                wrong = [str(unusable)]
            if not wrong:
                break
            ui.detail(f"the model's reply is refused: {'; '.join(wrong)}")
            messages += [{"role": "assistant", "content": text[:LONGEST]}, complaint(wrong)]
        if best is None:
            raise WorkError(f"{TRIES} replies and no plan; the last: {wrong[0]}", "the llm planner")
        return best


def reader(asked: Model) -> Llm:
    """The planner for the model that is asked for."""
    if asked.replay:
        if asked.record:
            raise InputError("a replay has nothing to record", "--record", "leave it out")
        return Llm(Player(asked.replay))
    if SETTINGS.offline:
        raise InputError("a model needs the network", "--offline", "use --replay FILE")
    if not asked.name:
        raise InputError("which model?", "--model", "name a model of the endpoint")
    from tenonos.plan.llm.endpoint import Endpoint

    source = Endpoint(asked.name, asked.seconds, asked.tokens)
    return Llm(Recorder(source, asked.name, asked.record) if asked.record else source)
