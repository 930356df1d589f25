"""Composition of a plan into images that are checked to fit together.

The answer is one of three: images, a conflict (the minimal set of demands that cannot hold
together), or capabilities missing from the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from tenonos.errors import InputError, WorkError
from tenonos.plan import bounds, channels, devices, infer, schedule, templates
from tenonos.plan.allocate import (
    Infeasible,
    Share,
    allocate,
    check_bare,
    check_company,
    check_count,
    check_interrupts,
    check_timing,
)
from tenonos.plan.amend import (
    config_lines,
    named,
    names_of,
    reduced,
    renamed,
    with_apps,
    with_cores,
)
from tenonos.plan.assignment import SHARED, placed
from tenonos.plan.defaults import complete, is_direct
from tenonos.plan.english.text import UNREADABLE
from tenonos.plan.infer import Inferred
from tenonos.plan.missing import missing
from tenonos.plan.models import (
    CHANNEL,
    DISPATCH,
    TIMING,
    Clash,
    Composition,
    Guest,
    Image,
    Item,
    Missing,
    Plan,
    is_bare,
    manages,
)
from tenonos.plan.planner import Planner, planner, verified
from tenonos.plan.pool import C_LIBRARY, CORES, Pool
from tenonos.plan.solve import Demand, Problem, Solution, minimal, satisfiable
from tenonos.plan.task_groups import together
from tenonos.plan.write import explain_json, system_files
from tenonos.pool.kconfig import Assignment, Config
from tenonos.system import board as boards
from tenonos.system.board import Board

BOARD = "qemu-virt"
MORTISE = "mortise"
LENGTH = 2_000
"""The most characters of an objective: about a page."""
DIRECT = "virt.irq.direct"


def compose(
    objective: str,
    board: str | None = None,
    *,
    pool: Pool | None = None,
    using: Planner | None = None,
    name: str | None = None,
) -> Composition:
    """The composition an objective asks for on a board; refused ones say why."""
    if odd := UNREADABLE.search(objective):
        raise InputError(f"character {odd.start()} is no text", "objective", "write it in UTF-8")
    if len(objective) > LENGTH:
        raise InputError(f"{len(objective)} characters", "objective", f"say it in {LENGTH}")
    chosen = boards.load(board or BOARD, "--board" if board else None)
    work = Composer(pool or Pool(), chosen, using or planner("offline"), board is not None)
    return work.run(objective, name)


@dataclass
class Solved:
    """One image's demands and the configuration that meets them."""

    kind: str
    demands: list[Demand]
    solution: Solution | None = None
    config: Config | None = None
    numbers: list[Inferred] = field(default_factory=list)
    """Numbers inferred from the plan."""


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

    def run(self, objective: str, name: str | None) -> Composition:
        """The composition."""
        plan = verified(self.using.plan(objective, self.board, self.pool), self.pool)
        if (other := self._named_board(plan)) is not None:
            return replace(self, board=other, asked=True).run(objective, name)
        plan = placed(together(plan, self.pool), self.pool)
        plan = renamed(plan, self._names(plan))
        plan = plan.model_copy(
            update={"missing": plan.missing or missing(plan, self.pool, self.board)}
        )
        if plan.missing:
            return self._answer(plan, missing=plan.missing)
        if reason := self._objection(plan.guests, plan.items):
            core = minimal(
                [i for i in plan.items if i.stated],
                lambda items: self._objection(*reduced(plan, items)) is None,
            )
            return self._answer(plan, conflict=named(plan, core, self._objection), reason=reason)
        return self._composed(plan, name)

    def _named_board(self, plan: Plan) -> Board | None:
        """The board named by the objective, if the command line names none."""
        names = {str(item.value) for item in plan.items if item.kind == "board"}
        if self.asked or len(names) != 1 or names == {self.board.name}:
            return None
        return boards.load(names.pop())

    def _names(self, plan: Plan) -> dict[str, str]:
        """Names for VMs with several possible applications: after the smallest."""
        asked = channels.choices(self.pool, plan.guests, plan.items)
        lightest = {
            name: min(apps, key=self.pool.costs.__getitem__)
            for name, apps in asked.items()
            if len(apps) < len(self.pool.apps)
        }
        return names_of(lightest, self.pool)

    # Refusals

    def _answer(
        self,
        plan: Plan,
        *,
        missing: Sequence[Missing] = (),
        conflict: Sequence[Item] = (),
        reason: str = "",
    ) -> Composition:
        found = [
            Clash(kind=i.kind, value="" if i.value is None else i.value, source=i.source)
            for i in conflict
        ]
        clashes = list(dict.fromkeys(found))
        known = [i for i in plan.items if i.value is not None]
        return Composition(
            objective=plan.objective,
            planner=plan.planner,
            board=self.board.name,
            plan=known,
            missing=list(missing),
            conflict=clashes,
            ignored=plan.ignored,
            reason=reason,
        )

    def _objection(self, guests: Sequence[Guest], items: Sequence[Item]) -> str | None:
        """The reason why demands cannot hold together, in one clause; None if they can."""
        try:
            check_company(guests, items, self.board)
            check_interrupts(guests, items)
            check_count(guests, items)
            check_bare(guests, items)
            check_timing(guests, items)
            infer.check_ticks(guests, items)
            channels.check(self.pool, guests, items)
            whole = self._with_memory(guests, items)
            shares = allocate(guests, whole, self.board)
            schedule.check(guests, whole, shares, self.board)
        except (Infeasible, channels.Unlinked) as error:
            return str(error)
        for name, kind in self._images(guests, items):
            encoding = self.pool.encoded(_cores(name, shares))
            problem = Problem(encoding, self._demands(name, kind, guests, items))
            if not satisfiable(problem):
                free = [d for d in problem.demands if d.symbols != (self.board.symbol,)]
                if satisfiable(replace(problem, demands=free)):
                    return f"{self.board.name} has not what {name} takes for that"
                return f"no configuration of {name} meets them together"
            if reason := bounds.objection(problem, name, kind, items, self.pool):
                return reason
        return None

    def _with_memory(self, guests: Sequence[Guest], items: Sequence[Item]) -> list[Item]:
        plan = Plan(objective="", planner="", guests=list(guests), items=list(items))
        return complete(plan, self.board, self.pool, {}).items

    # Images

    @staticmethod
    def _images(guests: Sequence[Guest], items: Sequence[Item]) -> list[tuple[str, str]]:
        tenons = [(g.name, "tenon") for g in guests if g.kind == "tenon"]
        return tenons if is_bare(items) else [(MORTISE, MORTISE), *tenons]

    def _demands(
        self, name: str, kind: str, guests: Sequence[Guest], items: Sequence[Item]
    ) -> list[Demand]:
        """The demands on one image."""
        demands = [Demand((f"IMAGE_{kind.upper()}",)), Demand((self.board.symbol,))]
        for item in items:
            value = str(item.value)
            if item.kind == "forbid" and not value.startswith("guest."):
                demands.append(Demand((self.pool.symbol(value),), False, value))
            elif item.kind == "capability" and item.image == name:
                demands.append(Demand((self.pool.symbol(value),), True, value))
        if kind == MORTISE:
            return demands + self._mortise(guests, items)
        periodic = any(i.image == name and i.kind in TIMING for i in items)
        asked = {symbol for demand in demands if demand.value for symbol in demand.symbols}
        guest = next(guest for guest in guests if guest.name == name)
        fit = [
            app
            for app in self.pool.apps
            if self.pool.has_tasks(app, periodic, guest.tasks, app in asked)
            and self.pool.is_whole(app, asked)
            and channels.talks(self.pool, app, guest, guests, items)
        ]
        one = [Demand(pair, False, "one application") for pair in combinations(self.pool.apps, 2)]
        rust = [a for a in self.pool.apps if not self.pool.in_c(a)]
        alien = [Demand((a, C_LIBRARY), False, "the interface for C") for a in rust]
        if not self.pool.speaks_of_c(asked):
            fit = [app for app in fit if app in rust] or fit
        return [*demands, Demand(tuple(fit), True, "an application"), *one, *alien]

    def _mortise(self, guests: Sequence[Guest], items: Sequence[Item]) -> list[Demand]:
        needs = {"virt.partition"} | ({DISPATCH} if manages(items) else set())
        needs |= {CHANNEL} if channels.wanted_by_any(self.pool, guests, items) else set()
        for guest in guests:
            needs.add(DIRECT if is_direct(guest, self.board) else SHARED)
        return [Demand((self.pool.symbol(need),), True, need) for need in sorted(needs)]

    def _solve(self, name: str, kind: str, plan: Plan, cores: int) -> Solved:
        demands = self._demands(name, kind, plan.guests, plan.items)
        problem = Problem(self.pool.encoded(cores), demands)
        solution = bounds.best(problem, name, kind, plan, self.pool)
        if solution is None:
            raise WorkError(f"the demands on {name} were found to hold together, and then not")
        solved = Solved(kind, demands, solution)
        solved.config = self._applied(name, solution, cores)
        return solved

    def _number(self, name: str, made: Solved, plan: Plan, share: Share) -> None:
        """Assign an image the numbers that follow from the plan."""
        assert made.solution is not None and made.config is not None
        values = made.config.values
        deepest = self.pool.deepest_of_program(made.solution.chosen)
        bounded = bounds.RAM in bounds.limits(name, plan.items)
        made.numbers = [*infer.numbers(name, plan.items, share.memory, values, deepest, bounded)]
        if made.numbers:
            given = [number.assignment for number in made.numbers]
            made.config = self._applied(name, made.solution, len(share.cpus), given)

    def _applied(
        self, name: str, solution: Solution, cores: int, numbers: Sequence[Assignment] = ()
    ) -> Config:
        """The solution evaluated by kconfiglib, which must agree."""
        tree = self.pool.tree
        settable = self.pool.encoding.settable
        given = [
            Assignment(symbol, "y" if value else "n", "the solver")
            for symbol, value in solution.values.items()
            if symbol in settable and (value or tree.symbols[symbol].choice is None)
        ]
        if cores > 1:
            given.append(Assignment(CORES, str(cores), "the cores of its VM"))
        config = tree.evaluate([*given, *numbers], strict=False)
        wrong = [s for s, v in solution.values.items() if config.values.get(s) != v]
        if wrong:
            raise WorkError(f"solver and Kconfig disagree about {', '.join(wrong)} of {name}")
        return config

    def _composed(self, plan: Plan, name: str | None) -> Composition:
        shares = allocate(plan.guests, self._with_memory(plan.guests, plan.items), self.board)
        solved = {
            n: self._solve(n, kind, plan, _cores(n, shares))
            for n, kind in self._images(plan.guests, plan.items)
        }
        self.apps = {n: _only_app(s) for n, s in solved.items() if s.kind == "tenon"}
        names = names_of(self.apps, self.pool)
        plan = renamed(plan, names)
        self.apps = {names[old]: app for old, app in self.apps.items()}
        solved = {names.get(old, old): made for old, made in solved.items()}
        plan = with_apps(plan, self.apps, self.pool)
        plan = complete(plan, self.board, self.pool, self.apps, self.asked)
        shares = allocate(plan.guests, plan.items, self.board)
        plan = with_cores(plan, shares)
        for each in plan.guests:
            if each.kind == "tenon":
                self._number(each.name, solved[each.name], plan, shares[each.name])
        if late := self._too_late(plan, shares):
            return late
        images = {n: self._image(n, s, shares) for n, s in solved.items()}
        for guest in plan.guests:
            if guest.kind == "linux":
                share = shares[guest.name]
                images[guest.name] = Image(
                    kind="linux",
                    cpus=list(share.cpus),
                    memory=share.memory,
                    capabilities=["guest.linux"],
                )
        try:
            owned = (
                {}
                if is_bare(plan.items)
                else devices.given(self.pool, self.board, plan.guests, images)
            )
        except devices.NoDevice as error:
            core = [i for i in plan.items if i.image in error.images and i.kind == "capability"]
            return self._answer(plan, conflict=[i for i in core if i.stated], reason=str(error))
        answer = Composition(
            objective=plan.objective,
            planner=plan.planner,
            board=self.board.name,
            plan=plan.items,
            images=images,
            devices=owned,
            ignored=plan.ignored,
            channels=channels.between(self.pool, plan.guests, plan.items, self.apps),
            analysis=schedule.analyse(
                plan.guests,
                plan.items,
                shares,
                self.board,
                {n: image.capabilities for n, image in images.items()},
            ),
        )
        made = templates.of(plan, images, answer.channels)
        answer = answer.model_copy(update={"templates": made})
        files = system_files(answer, plan, self, solved, name)
        files["explain.json"] = explain_json(answer, plan, self, solved)
        return answer.model_copy(update={"files": files})

    def _too_late(self, plan: Plan, shares: dict[str, Share]) -> Composition | None:
        """Refuse a plan that is infeasible with the periods of its applications."""

        def objection(items: Sequence[Item]) -> str:
            try:
                schedule.check(plan.guests, [*given, *items], shares, self.board)
            except Infeasible as error:
                return str(error)
            return ""

        given = [i for i in plan.items if not i.stated]
        stated = [i for i in plan.items if i.stated]
        if not (reason := objection(stated)):
            return None
        core = minimal(stated, lambda items: not objection(items))
        return self._answer(plan, conflict=core, reason=reason)

    def _image(self, name: str, solved: Solved, shares: dict[str, Share]) -> Image:
        assert solved.config is not None
        share = shares.get(name)
        return Image(
            kind="mortise" if solved.kind == MORTISE else "tenon",
            cpus=list(share.cpus) if share else list(range(self.board.cpus)),
            memory=share.memory if share else None,
            libraries=sorted(self._identity(symbol) for symbol in solved.config.libraries),
            capabilities=solved.config.capabilities,
            config=config_lines(solved.config.minimal),
        )

    def _identity(self, symbol: str) -> str:
        entry = self.pool.entries[symbol]
        return f"apps/{entry.name}" if entry.kind == "app" else entry.name


def _cores(name: str, shares: dict[str, Share]) -> int:
    """The number of cores that run an image's threads; zero for a hypervisor."""
    return len(shares[name].cpus) if name in shares else 1


def _only_app(solved: Solved) -> str:
    assert solved.solution is not None
    chosen = [s for s, v in solved.solution.values.items() if v and s.startswith("APP_")]
    if len(chosen) != 1:
        raise InputError(f"{len(chosen)} applications in one VM: {', '.join(chosen)}")
    return chosen[0]
