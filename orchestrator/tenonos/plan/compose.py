"""Composition: the pipeline from an objective to images that are checked to fit together.

Each stage is entered once: *read* the objective into a plan, *place* its demands on VMs, *check*
that they can hold together, *solve* each image's configuration, *finish* the plan with the chosen
applications, *write* the files.

The answer is one of three: images, a conflict (the minimal set of demands that cannot hold
together), or capabilities missing from the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tenonos.errors import InputError
from tenonos.plan import channels, configuration, devices, native_tasks, schedule, sizes, templates
from tenonos.plan.allocate import Share, allocate
from tenonos.plan.amend import names_of, renamed, with_apps, with_cores
from tenonos.plan.assignment import placed
from tenonos.plan.configuration import Solved
from tenonos.plan.defaults import complete
from tenonos.plan.demands import images
from tenonos.plan.english.text import UNREADABLE
from tenonos.plan.feasibility import NO_CONFIGURATION, Feasibility, cores_of, unclear_unit
from tenonos.plan.missing import missing
from tenonos.plan.models import (
    BYTES,
    NO_DEMAND,
    PROCESSES,
    Assumption,
    Clash,
    Composition,
    Image,
    Item,
    Missing,
    Plan,
    is_bare,
)
from tenonos.plan.planner import Planner, planner, verified
from tenonos.plan.pool import Pool
from tenonos.plan.task_groups import together
from tenonos.plan.write import explain_json, system_files
from tenonos.system import board as boards
from tenonos.system.board import Board

if TYPE_CHECKING:
    from tenonos.linux.program import Brought

BOARD = "qemu-virt"
CONTRADICTORY = "the words contradict each other"
"""The reason where the reader is sure of a contradiction that no rule finds."""
LENGTH = 2_000
"""The most characters of an objective: about a page."""


def compose(
    objective: str,
    board: str | None = None,
    *,
    pool: Pool | None = None,
    using: Planner | None = None,
    name: str | None = None,
    program: Brought | None = None,
) -> Composition:
    """The composition an objective asks for on a board; a refused one has a reason.

    `program` is the first process of its VM with processes.
    """
    if odd := UNREADABLE.search(objective):
        raise InputError(f"character {odd.start()} is not text", "objective", "write it in UTF-8")
    if len(objective) > LENGTH:
        raise InputError(f"{len(objective)} characters", "objective", f"use at most {LENGTH}")
    chosen = boards.load(board or BOARD, "--board" if board else None)
    work = Composer(pool or Pool(), chosen, using or planner("offline"), board is not None)
    work.program = program
    return work.run(objective, name)


def _disputed(answer: Composition, other: Plan) -> list[Assumption]:
    """The demands that no one application has together and that another reading has not.

    Contradictions in numbers and with prohibitions are the user's own.
    """
    if not answer.reason.startswith(NO_CONFIGURATION) or any(
        clash.kind == "forbid" for clash in answer.conflict
    ):
        return []
    known = {(item.kind, item.value) for item in other.items}
    found = []
    for clash in answer.conflict:
        if (clash.kind, clash.value) not in known and clash.source:
            at = answer.objective.find(clash.source)
            found.append(
                Assumption(
                    source=clash.source,
                    span=(at, at + len(clash.source)),
                    taken_as=NO_DEMAND,
                    instead_of=f"{clash.kind} {clash.value}".strip(),
                    confidence=0.5,
                )
            )
    return found


@dataclass
class Composer:
    """A composition in progress."""

    pool: Pool
    board: Board
    using: Planner
    asked: bool = False
    """Whether the board was named on the command line."""
    apps: dict[str, str] = field(default_factory=dict)
    """The chosen application of each real-time VM."""
    program: Brought | None = None
    """The program that the user brings for the first process."""
    default: Board = field(init=False)
    """The board in the size of its `board.toml`."""

    def run(self, objective: str, name: str | None) -> Composition:
        """The stages in order."""
        plan = self._read(objective)
        self.default = self.board
        answer = self._made(plan, name)
        if plan.instead is not None and (doubts := _disputed(answer, plan.instead)):
            instead = plan.instead.model_copy(
                update={"assumptions": [*plan.instead.assumptions, *doubts]}
            )
            other = self._made(verified(instead, self.pool), name)
            return other if other.accepted else answer
        return answer

    def _made(self, plan: Plan, name: str | None) -> Composition:
        """The stages after the reading."""
        if unclear := unclear_unit(plan.items):
            return self._refused(plan, *unclear)
        self.board = self.default
        plan = self._placed(plan)
        if plan.missing:
            return self._refused(plan, missing=plan.missing)
        assumed = self._size(plan)
        if conflict := Feasibility(self.pool, self.board).conflict(plan):
            return self._refused(plan, *conflict)
        if plan.contradictory:
            return self._refused(plan, CONTRADICTORY, plan.contradictory)
        plan = plan.model_copy(update={"assumptions": [*plan.assumptions, *assumed]})
        plan, solved = self._solved(plan)
        plan, shares = self._finished(plan, solved)
        if conflict := Feasibility(self.pool, self.board).late(plan, shares):
            return self._refused(plan, *conflict)
        return self._composed(plan, solved, shares, name)

    # Read

    def _read(self, objective: str) -> Plan:
        """The plan of an objective, for the board that it names unless the command line does."""
        plan = self._planned(objective)
        names = {str(item.value) for item in plan.items if item.kind == "board"}
        if self.asked or len(names) != 1 or names == {self.board.name}:
            return plan
        self.board, self.asked = boards.load(names.pop()), True
        return self._planned(objective)

    def _planned(self, objective: str) -> Plan:
        return verified(self.using.plan(objective, self.board, self.pool), self.pool)

    # Place

    def _placed(self, plan: Plan) -> Plan:
        """The plan with each demand on a VM, and with what the pool does not provide."""
        plan = native_tasks.settled(plan, self.pool)
        plan = placed(together(plan, self.pool), self.pool)
        plan = renamed(plan, self._names(plan))
        lacks = plan.missing or missing(plan, self.pool, self.board)
        return plan.model_copy(update={"missing": lacks})

    def _size(self, plan: Plan) -> list[Assumption]:
        """Fit the size of the board to the demands unless the user names it; what is assumed."""
        if self.asked or any(item.kind == "board" for item in plan.items):
            return []
        self.board, assumed = sizes.Sizes(plan, self.default, self.pool).choose()
        return [assumed] if assumed else []

    def _names(self, plan: Plan) -> dict[str, str]:
        """Names for VMs with several possible applications: after the smallest."""
        asked = channels.choices(self.pool, plan.guests, plan.items)
        lightest = {
            name: min(apps, key=self.pool.costs.__getitem__)
            for name, apps in asked.items()
            if len(apps) < len(self.pool.apps)
        }
        return names_of(lightest, self.pool)

    # Solve

    def _solved(self, plan: Plan) -> tuple[Plan, dict[str, Solved]]:
        """The configuration of each image; VMs are renamed after their applications."""
        memory = Feasibility(self.pool, self.board).with_memory(plan.guests, plan.items)
        shares = allocate(plan.guests, memory, self.board)
        found = {
            n: configuration.solved(n, kind, plan, cores_of(n, shares), self.pool, self.board)
            for n, kind in images(plan.guests, plan.items)
        }
        apps = {n: made.app for n, made in found.items() if made.kind == "tenon"}
        names = names_of(apps, self.pool)
        self.apps = {names[old]: app for old, app in apps.items()}
        return renamed(plan, names), {names.get(old, old): made for old, made in found.items()}

    # Finish

    def _finished(self, plan: Plan, solved: dict[str, Solved]) -> tuple[Plan, dict[str, Share]]:
        """The plan with every default, and the shares and numbers that follow from it."""
        plan = self._with_program(with_apps(plan, self.apps, self.pool), solved)
        plan = complete(plan, self.board, self.pool, self.apps, self.asked)
        shares = allocate(plan.guests, plan.items, self.board)
        plan = with_cores(plan, shares)
        for each in plan.guests:
            if each.kind == "tenon":
                name = each.name
                configuration.number(name, solved[name], plan, shares[name], self.pool)
        return plan, shares

    def _with_program(self, plan: Plan, solved: dict[str, Solved]) -> Plan:
        """The plan with room for the program that the user brings, in the VM with processes."""
        if self.program is None:
            return plan
        processes = [self.pool.symbol(name) for name in PROCESSES]
        fit = [n for n, made in solved.items() if any(made.config.values.get(s) for s in processes)]
        if not fit:
            raise InputError(
                "nothing in it runs the program",
                "objective",
                'add to it: "and my Linux binary as a process, without a Linux kernel"',
            )
        if plan.of(fit[0], "ram"):
            return plan
        room = {"value": self.program.memory, "unit": BYTES, "image": fit[0]}
        item = Item(kind="ram", rule="room-for-the-program", **room)
        return plan.model_copy(update={"items": [*plan.items, item]})

    # Write

    def _composed(
        self, plan: Plan, solved: dict[str, Solved], shares: dict[str, Share], name: str | None
    ) -> Composition:
        """The composition with its files; a refusal if a driver has no device."""
        made = self._images(plan, solved, shares)
        try:
            owned = (
                {}
                if is_bare(plan.items)
                else devices.given(self.pool, self.board, plan.guests, made)
            )
        except devices.NoDevice as error:
            core = [i for i in plan.items if i.image in error.images and i.kind == "capability"]
            return self._refused(plan, str(error), [i for i in core if i.stated])
        answer = Composition(
            objective=plan.objective,
            planner=plan.planner,
            board=self.board.name,
            plan=plan.items,
            images=made,
            devices=owned,
            ignored=plan.ignored,
            assumptions=plan.assumptions,
            channels=channels.between(self.pool, plan.guests, plan.items, self.apps),
            analysis=schedule.analyse(
                plan.guests,
                plan.items,
                shares,
                self.board,
                {n: image.capabilities for n, image in made.items()},
            ),
        )
        on_demand = templates.of(plan, made, answer.channels)
        answer = answer.model_copy(update={"templates": on_demand})
        files = system_files(answer, plan, self, solved, name)
        files["explain.json"] = explain_json(answer, plan, self, solved)
        return answer.model_copy(update={"files": files})

    def _images(
        self, plan: Plan, solved: dict[str, Solved], shares: dict[str, Share]
    ) -> dict[str, Image]:
        found = {n: s.image(self.board, shares.get(n), self.pool) for n, s in solved.items()}
        found |= native_tasks.images(plan, shares, self.pool)
        for guest in plan.guests:
            if guest.kind == "linux":
                share = shares[guest.name]
                found[guest.name] = Image(
                    kind="linux",
                    cpus=list(share.cpus),
                    memory=share.memory,
                    capabilities=["guest.linux"],
                )
        return found

    def _refused(
        self,
        plan: Plan,
        reason: str = "",
        conflict: Sequence[Item] = (),
        *,
        missing: Sequence[Missing] = (),
    ) -> Composition:
        """The answer without images."""
        found = [
            Clash(kind=i.kind, value="" if i.value is None else i.value, source=i.source)
            for i in conflict
        ]
        return Composition(
            objective=plan.objective,
            planner=plan.planner,
            board=self.board.name,
            plan=[i for i in plan.items if i.value is not None],
            missing=list(missing),
            conflict=list(dict.fromkeys(found)),
            ignored=plan.ignored,
            assumptions=plan.assumptions,
            reason=reason,
        )
