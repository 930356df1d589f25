"""Composition: a plan made into images that are proven to fit together.

Every answer is one of three: images, a conflict (the minimal set of demands that
cannot hold together) or what is missing from the pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from tenonos.errors import InputError, WorkError
from tenonos.plan.allocate import (
    Infeasible,
    Share,
    allocate,
    check_company,
    check_count,
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
from tenonos.plan.defaults import complete
from tenonos.plan.models import Clash, Composition, Guest, Image, Item, Missing, Plan
from tenonos.plan.planner import Planner, planner, verified
from tenonos.plan.pool import Pool
from tenonos.plan.solve import Demand, Problem, Solution, minimal, satisfiable, solve
from tenonos.plan.subjects import UNNAMED
from tenonos.plan.write import explain_json, system_files
from tenonos.pool.kconfig import Assignment, Config
from tenonos.system import board as boards
from tenonos.system.board import Board

BOARD = "qemu-virt"
MORTISE = "mortise"
LENGTH = 2_000
"""Characters of an objective at most: a page; no reader could check a longer one either."""
SMP = "sched.smp"
DIRECT, SHARED = "virt.irq.direct", "virt.irq.shared"


def compose(
    objective: str,
    board: str | None = None,
    *,
    pool: Pool | None = None,
    using: Planner | None = None,
    name: str | None = None,
) -> Composition:
    """The composition an objective asks for on a board; refused ones say why."""
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


@dataclass
class Composer:
    """One composition being made."""

    pool: Pool
    board: Board
    using: Planner
    asked: bool = False
    """Whether the board was named on the command line."""
    apps: dict[str, str] = field(default_factory=dict)
    """The application of each real-time VM, once chosen."""

    def run(self, objective: str, name: str | None) -> Composition:
        """The answer."""
        plan = verified(self.using.plan(objective, self.board, self.pool), self.pool)
        plan = self._placed(plan)
        plan = plan.model_copy(update={"missing": plan.missing or self._lacking(plan)})
        if plan.missing:
            return self._answer(plan, missing=plan.missing)
        if reason := self._objection(plan.guests, plan.items):
            core = minimal(
                [i for i in plan.items if i.stated],
                lambda items: self._objection(*reduced(plan, items)) is None,
            )
            return self._answer(plan, conflict=named(plan, core, self._objection), reason=reason)
        return self._composed(plan, name)

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

    def _lacking(self, plan: Plan) -> list[Missing]:
        """What the plan implies and the pool has not: a scheduler for several cores, priorities."""
        for item in plan.items:
            # Applications set their threads' priorities themselves; nothing passes one in. Of a
            # guest system, neither the image nor the timing is ours.
            own = item.kind in ("image", "period", "deadline", "jitter", "wcet")
            if item.kind == "priority" or (own and item.image is None):
                return [Missing(source=item.source)]
        for name in (g.name for g in plan.guests if g.kind == "tenon"):
            for item in self._several_cores(plan, name):
                if not self._available(SMP):
                    return [Missing(capability=SMP, source=item.source)]
        return []

    def _several_cores(self, plan: Plan, name: str) -> list[Item]:
        own = [i for i in plan.of(name, "cores") if i.unit == "cores"]
        alone = len(plan.guests) == 1
        whole = [i for i in plan.of(None, "cores") if alone and i.value != self.board.cpus]
        wanted = range(2, self.board.cpus + 1)
        return [i for i in (*own, *whole) if i.value in wanted]

    def _available(self, name: str) -> bool:
        entry = self.pool.by_name.get(name)
        return entry is not None and entry.available

    def _objection(self, guests: Sequence[Guest], items: Sequence[Item]) -> str | None:
        """Why demands cannot hold together, in one clause; None if they can."""
        try:
            check_company(guests, items, self.board)
            check_count(guests, items)
            check_timing(guests, items)
            allocate(guests, self._with_memory(guests, items), self.board)
        except Infeasible as error:
            return str(error)
        for name, kind in self._images(guests):
            if not satisfiable(
                Problem(self.pool.encoding, self._demands(name, kind, guests, items))
            ):
                return f"no configuration of {name} meets them together"
        return None

    def _with_memory(self, guests: Sequence[Guest], items: Sequence[Item]) -> list[Item]:
        plan = Plan(objective="", planner="", guests=list(guests), items=list(items))
        return complete(plan, self.board, self.pool, {}).items

    # Images

    @staticmethod
    def _images(guests: Sequence[Guest]) -> list[tuple[str, str]]:
        tenons = [(g.name, "tenon") for g in guests if g.kind == "tenon"]
        return [(MORTISE, MORTISE), *tenons]

    def _placed(self, plan: Plan) -> Plan:
        """The plan with each capability on the image that can have it."""
        tenons = [g.name for g in plan.guests if g.kind == "tenon"]
        items = []
        shared: set[str | None] = set()
        named = list(plan.guests)
        for item in plan.items:
            if item.kind == "capability" and not str(item.value).startswith("guest."):
                symbol = self.pool.symbol(str(item.value))
                if item.value == SHARED:
                    shared.add(item.image)
                if item.image in (None, *tenons) and not self.pool.fits("tenon", symbol):
                    item = item.model_copy(update={"image": MORTISE})
                elif item.image is None and tenons:
                    item = item.model_copy(update={"image": tenons[0]})
                elif item.image is None:
                    # It takes a LibOS, and none was named: one more VM, for this.
                    item = item.model_copy(update={"image": UNNAMED})
                    named = [Guest(name=UNNAMED, kind="tenon"), *named]
                    tenons = [UNNAMED]
            items.append(item)
        guests = [
            g.model_copy(update={"interrupts": "shared"}) if g.name in shared else g for g in named
        ]
        return plan.model_copy(update={"items": items, "guests": guests})

    def _demands(
        self, name: str, kind: str, guests: Sequence[Guest], items: Sequence[Item]
    ) -> list[Demand]:
        """What one image must be."""
        demands = [Demand((f"IMAGE_{kind.upper()}",)), Demand((self.board.symbol,))]
        for item in items:
            value = str(item.value)
            if item.kind == "forbid" and not value.startswith("guest."):
                demands.append(Demand((self.pool.symbol(value),), False, value))
            elif item.kind == "capability" and item.image == name:
                demands.append(Demand((self.pool.symbol(value),), True, value))
        if kind == MORTISE:
            return demands + self._mortise(guests)
        timing = ("period", "deadline", "jitter", "wcet")
        periodic = any(i.image == name and i.kind in timing for i in items)
        fit = [a for a in self.pool.apps if not periodic or self.pool.tasks(a)]
        pairs = combinations(self.pool.apps, 2)
        one = [Demand(pair, False, "one application") for pair in pairs]
        return [*demands, Demand(tuple(fit), True, "an application"), *one]

    def _mortise(self, guests: Sequence[Guest]) -> list[Demand]:
        needs = {"virt.partition"}
        for guest in guests:
            needs.add(DIRECT if guest.kind == "tenon" and guest.interrupts == "direct" else SHARED)
            needs |= {"guest.linux"} if guest.kind == "linux" else set()
        return [Demand((self.pool.symbol(need),), True, need) for need in sorted(needs)]

    def _solve(self, name: str, kind: str, plan: Plan) -> Solved:
        demands = self._demands(name, kind, plan.guests, plan.items)
        costs = self.pool.costs
        solution = solve(Problem(self.pool.encoding, demands, costs))
        if solution is None:
            raise WorkError(f"the demands on {name} were found to hold together, and then not")
        solved = Solved(kind, demands, solution)
        solved.config = self._applied(name, solution)
        return solved

    def _applied(self, name: str, solution: Solution) -> Config:
        """The solution as kconfiglib evaluates it, which must be the same."""
        tree = self.pool.tree
        settable = self.pool.encoding.settable
        given = [
            Assignment(symbol, "y" if value else "n", "the solver")
            for symbol, value in solution.values.items()
            if symbol in settable and (value or tree.symbols[symbol].choice is None)
        ]
        config = tree.evaluate(given, strict=False)
        wrong = [s for s, v in solution.values.items() if config.values.get(s) != v]
        if wrong:
            raise WorkError(f"solver and Kconfig disagree about {', '.join(wrong)} of {name}")
        return config

    def _composed(self, plan: Plan, name: str | None) -> Composition:
        solved = {n: self._solve(n, kind, plan) for n, kind in self._images(plan.guests)}
        self.apps = {n: _only_app(s) for n, s in solved.items() if s.kind == "tenon"}
        names = names_of(self.apps, self.pool)
        plan = renamed(plan, names)
        self.apps = {names[old]: app for old, app in self.apps.items()}
        solved = {names.get(old, old): made for old, made in solved.items()}
        plan = with_apps(plan, self.apps, self.pool)
        plan = complete(plan, self.board, self.pool, self.apps, self.asked)
        shares = allocate(plan.guests, plan.items, self.board)
        plan = with_cores(plan, shares)
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
        answer = Composition(
            objective=plan.objective,
            planner=plan.planner,
            board=self.board.name,
            plan=plan.items,
            images=images,
            ignored=plan.ignored,
        )
        files = system_files(answer, plan, self, solved, name)
        files["explain.json"] = explain_json(answer, plan, self, solved)
        return answer.model_copy(update={"files": files})

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


def _only_app(solved: Solved) -> str:
    assert solved.solution is not None
    chosen = [s for s, v in solved.solution.values.items() if v and s.startswith("APP_")]
    if len(chosen) != 1:
        raise InputError(f"{len(chosen)} applications in one VM: {', '.join(chosen)}")
    return chosen[0]
