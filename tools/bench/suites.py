"""Suites: images, environments and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from tenonos import build, system
from tenonos.build import Built
from tenonos.build.elf import sections
from tenonos.errors import InputError
from tools.bench import (
    abi,
    applications,
    assurance,
    boot,
    cache,
    compose,
    coverage,
    detach,
    exits,
    foreground,
    forward,
    hyplet,
    lidar,
    lifecycle,
    messages,
    net,
    regain,
    sensors,
    share,
    slowdown,
    storm,
    vlib,
    vlib_timeout,
)
from tools.bench.machine import Place
from tools.bench.machine import run as start
from tools.bench.programs import NATIVE
from tools.bench.reading import ROUTES, Setting, rows_of
from tools.bench.row import Kinds, Row
from tools.bench.share import DYNAMIC

SUITES = (
    "sched",
    "irq",
    "timer",
    "thread-metric",
    "boot",
    "exits",
    "size",
    "cache",
    "share",
    "dispatch",
    "lifecycle",
    "regain",
    "storm",
    "channel",
    "hyplet",
    "detach",
    "vlib",
    "abi",
    "net",
    "assurance",
    "coverage",
    "compose",
    "applications",
)

BARE, ALONE, BESIDE = "bare", exits.STATIC, "mortise-static+linux"
ENVIRONMENTS = (BARE, ALONE, BESIDE, DYNAMIC, NATIVE, compose.HOST)

SYSTEMS = {
    "bench-bare": (BARE, ALONE),
    "bench-linux": (BESIDE,),
    "bench-fp": (BARE, ALONE),
    "bench-smp": (BARE, ALONE),
    "bench-tick": (BARE,),
    "bench-channel": (ALONE,),
}
"""The systems with a measuring VM `bench`, and their environments."""

ONLY = {"bench-fp": "fp", "bench-smp": "cores", "bench-tick": "mode", "bench-channel": "ends"}
"""The param that a system is for: rows without it come from `bench-bare`."""

COUNTED = frozenset({"sched", "irq", "timer", "thread-metric", "channel"})
"""The suites of `bench/apps/bench`."""

MEASURES = {name: COUNTED - {"channel"} for name in SYSTEMS if name != "bench-bare"} | {
    "bench-channel": frozenset({"channel"})
}
"""The suites of a system, if not all."""

CHIPS = ("gicv2", "gicv3")

BUSY = frozenset({"expire", "masked_max", "periodic_load"})
"""Suites that depend on the clock, which is not meaningful with other cores busy."""


@dataclass(frozen=True)
class Choice:
    """The requested suites and environments."""

    suites: frozenset[str]
    environments: frozenset[str]
    full: bool = False
    """Whether to run suites in their full form."""


def choose(suites: Sequence[str], environments: Sequence[str] = (), full: bool = False) -> Choice:
    """The suites and environments of those names; without names all."""
    return Choice(
        _chosen("suite", suites, SUITES), _chosen("environment", environments, ENVIRONMENTS), full
    )


def _chosen(what: str, names: Sequence[str], known: Sequence[str]) -> frozenset[str]:
    unknown = next((name for name in names if name not in known), None)
    if unknown is not None:
        raise InputError(f'no {what} "{unknown}"', mend=f"known are {', '.join(known)}")
    return frozenset(names or known)


def run(choice: Choice, tell: Callable[[str], None] = lambda _: None) -> list[Row]:
    """The rows of a choice, in the order of suites, operations and environments."""
    rows: list[Row] = []
    if choice.suites & COUNTED:
        for name, environments in SYSTEMS.items():
            if not choice.suites & MEASURES.get(name, COUNTED):
                continue
            for environment in environments:
                if environment in choice.environments:
                    tell(f"{name}, {environment}")
                    rows += counted(build.build(system.load(name)), environment)
    if choice.suites & {"boot", "size"} and BARE in choice.environments:
        tell("hello")
        rows += _hello()
    if "size" in choice.suites and ALONE in choice.environments:
        rows += boot.sizes(tell)
    if "boot" in choice.suites and ALONE in choice.environments:
        rows += boot.rows(tell)
    if "exits" in choice.suites and ALONE in choice.environments:
        rows += exits.rows(tell)
    if "cache" in choice.suites and ALONE in choice.environments:
        rows += cache.rows(tell)
    if choice.suites & {"share", "dispatch"} and DYNAMIC in choice.environments:
        rows += share.rows(choice.full, tell)
    if "channel" in choice.suites and BESIDE in choice.environments:
        rows += messages.rows(tell)
    if "lifecycle" in choice.suites and DYNAMIC in choice.environments:
        rows += lifecycle.rows(tell)
    if "regain" in choice.suites and DYNAMIC in choice.environments:
        rows += regain.rows(tell)
    if "storm" in choice.suites and DYNAMIC in choice.environments:
        rows += storm.rows(tell)
    if "hyplet" in choice.suites and BESIDE in choice.environments:
        rows += hyplet.rows(choice.full, tell)
        rows += sensors.rows(tell)
    if "detach" in choice.suites and BESIDE in choice.environments:
        rows += detach.rows(choice.full, tell)
        rows += forward.rows(tell)
    if "vlib" in choice.suites and DYNAMIC in choice.environments:
        rows += slowdown.rows(tell)
        rows += foreground.rows(tell)
        rows += vlib_timeout.rows(tell)
        rows += lidar.rows(tell) if choice.full else ()
    if "vlib" in choice.suites and BESIDE in choice.environments:
        rows += vlib.rows(tell)
    if "abi" in choice.suites:
        rows += abi.rows(choice.environments, tell)
    if "net" in choice.suites:
        rows += net.rows(choice.environments, tell)
    if "assurance" in choice.suites and ALONE in choice.environments:
        rows += assurance.rows(choice.full, tell)
    if "coverage" in choice.suites and ALONE in choice.environments:
        rows += coverage.rows(tell)
    if "compose" in choice.suites and compose.HOST in choice.environments:
        rows += compose.rows(choice.full, tell)
    if "applications" in choice.suites and compose.HOST in choice.environments:
        rows += applications.rows(choice.full, tell)
    suites = {name: index for index, name in enumerate(SUITES)}
    # Applications are another set of compositions.
    kept = [r for r in rows if r.suite in choice.suites or r.params.get("set") in choice.suites]
    first = {row.key: index for index, row in reversed([*enumerate(kept)])}
    return sorted(kept, key=lambda row: (suites[row.suite], first[row.key]))


def counted(built: Built, environment: str) -> Iterator[Row]:
    """What `bench/apps/bench` measures in one environment."""
    setting = _setting(built, "bench", environment)
    place = Place(built, "bench", bare=environment == BARE, cores=setting.cores)
    only = ONLY.get(built.system.name)
    for row in rows_of(start(place, "end of bench", list(ROUTES.values())), setting):
        busy = environment == BESIDE and row.name in BUSY
        if not busy and (only is None or only in row.params):
            yield row
            if row.suite == "channel":
                yield _throughput(row)


def _throughput(row: Row) -> Row:
    """The throughput of a channel from the cost of messages; the most expensive one gives the
    minimum."""
    carried = [
        round(row.params["size"] * 1000 / cost) for cost in (row.max, row.median, row.min, row.min)
    ]
    statistics = dict(zip(("min", "median", "p99", "max"), carried, strict=True))
    return replace(row, name="throughput", unit="bytes per 1000 instructions", **statistics)


def _setting(built: Built, name: str, environment: str = BARE) -> Setting:
    """The origin of rows from a built image."""
    image = next(image for image in built.images if image.name == name)
    config = image.config
    fp = config["TENON_THREAD_FP"] is True
    cores = int(config["TENON_THREAD_CORES"] or 1)
    mode = "tick" if config["TENON_TIME_TICK"] is True else "tickless"
    options = {
        "optimisation": image.optimisation.strip('"') + ", fat LTO",
        "asserts": config["TENON_THREAD_ASSERTIONS"] is True,
        "fp": fp,
        "smp": cores,
        "tick": mode,
        "irqchip": next(
            (chip for chip in CHIPS if config[f"TENON_IRQCHIP_{chip.upper()}"]), "auto"
        ),
        "trace": config["TENON_THREAD_TRACE"] is True,
    }
    return Setting(built.system.name, environment, fp, cores, mode, options)


def _hello() -> Iterator[Row]:
    """The smallest application: boot time and size."""
    built = build.build(system.load("hello"))
    said = _setting(built, "hello")
    routes = [("image_start", "hello::main")]
    (taken,) = start(Place(built, "hello"), "hello from Tenon", routes).passages
    kinds = Kinds(taken.barriers, taken.sysreg_writes, taken.mmio)
    yield said.row(("boot", "tenon_reset_to_main"), {}, [taken.instructions], kinds)
    for part, size in sections(built.elf_files["hello"].read_bytes()).items():
        row = said.row(("size", "tenon_hello"), {"part": part}, [size], Kinds())
        yield replace(row, unit="bytes")
