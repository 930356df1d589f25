"""Writer of a composition's files: `system.toml`, a fragment per image, `explain.json`."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tenonos.errors import InputError
from tenonos.paths import ROOT
from tenonos.plan import (
    bounds,
    disks,
    effects,
    native_tasks,
    networks,
    parameters,
    priorities,
    sizes,
    templates,
)
from tenonos.plan.allocate import allocate
from tenonos.plan.defaults import RULES, is_direct
from tenonos.plan.models import (
    PROCESSES,
    Channel,
    Composition,
    Guest,
    Plan,
    is_bare,
    manages,
    shares_cores,
    utility,
    vms,
)
from tenonos.plan.pool import COST, INPUT
from tenonos.system.schema import ChannelSpec, SystemSpec, TaskSpec, TemplateSpec, VmSpec
from tenonos.system.units import duration_text, size_text
from tenonos.system.write import render

if TYPE_CHECKING:
    from tenonos.plan.compose import Composer
    from tenonos.plan.configuration import Solved

RESTARTS = 3
KERNEL, INITRAMFS = "debian-cloud", "busybox"
FIRST_PROCESS: dict[str, Any] = {
    "packages": ["busybox-static"],
    "program": "/bin/busybox",
    "arguments": ["uname", "-a"],
}
"""The first process of a VM with processes, unless a program is named."""


def system_files(
    answer: Composition,
    plan: Plan,
    composer: Composer,
    solved: dict[str, Solved],
    name: str | None,
) -> dict[str, str]:
    """`system.toml` and one `.config` per image but Linux."""
    there, made = templates.apart(plan.guests)
    pool = composer.pool
    spec = SystemSpec(
        name=name or _name(answer),
        board=answer.board,
        pool=_pool_version(),
        mode=_mode(plan),
        machine=sizes.stated(composer.board),
        reserve=templates.reserve(answer, plan),
        console=_console(plan),
        vm=[_vm(guest, answer, plan, composer) for guest in vms(there)],
        native=native_tasks.tables(plan, allocate(plan.guests, plan.items, composer.board), pool),
        template=[_template(guest.name, answer, plan, composer) for guest in made],
        channel=[_channel(channel) for channel in answer.channels],
    )
    cpus = {name: image.cpus for name, image in answer.images.items()}
    spec = effects.keyed(spec, plan, cpus, composer.board)
    spec = networks.keyed(spec, plan, answer.images, composer.board)
    spec = disks.keyed(spec, plan, composer.board)
    header = f"# Composed from: {_one_line(answer.objective)}\n"
    files = {"system.toml": header + render(spec)}
    files |= effects.files(plan.items)
    for image, made in solved.items():
        files[f"{image}.config"] = _fragment(image, made.config.minimal)
    return files


def _mode(plan: Plan) -> Literal["static", "dynamic", "bare"]:
    if is_bare(plan.items):
        return "bare"
    return "dynamic" if shares_cores(plan.items) or manages(plan.items) else "static"


def _name(answer: Composition) -> str:
    return system_name([name for name, image in answer.images.items() if image.kind != "mortise"])


def system_name(images: list[str]) -> str:
    """A name for a system from the names of its VMs or its folder, beginning with a letter."""
    plain = re.sub(r"[^a-z0-9-]", "-", "-".join(images).lower())
    return re.sub(r"^[^a-z]+", "", plain)[:31].rstrip("-") or "system"


def folder_for(answer: Composition) -> Path:
    """The default folder of a composition: named after it, and not one of another system."""
    folder = Path(_name(answer))
    if folder.exists() and not (folder / "explain.json").exists():
        raise InputError(f"{folder} exists and is not a composition", mend="name a folder with -o")
    return folder


def _fragment(image: str, minimal: str) -> str:
    return f"# What {image} has beyond its defaults; ./tenon explain says why.\n{minimal}"


def _vm(guest: Guest, answer: Composition, plan: Plan, composer: Composer) -> VmSpec:
    name = guest.name
    image = answer.images[name]
    share = allocate(plan.guests, plan.items, composer.board)[name]
    common: dict[str, Any] = {
        "colours": share.colours,
        "name": name,
        "kind": image.kind,
        "cpus": image.cpus,
        "memory": size_text(image.memory or 0),
    }
    if image.kind == "linux":
        return VmSpec(
            **common,
            interrupts="direct" if is_direct(guest, composer.board) else "shared",
            kernel=KERNEL,
            initramfs=INITRAMFS,
            devices=answer.devices.get(name, []),
            manages=templates.authority(answer, plan, name),
        )
    app = composer.apps[name]
    common |= {"app": composer.pool.entries[app].name, "input": INPUT in image.libraries}
    if set(PROCESSES) & set(image.capabilities):
        common |= FIRST_PROCESS if composer.program is None else composer.program.keys
    if is_bare(plan.items):
        return VmSpec(**common, **_limits(name, plan))
    return VmSpec(
        **common,
        interrupts=guest.interrupts,
        **_limits(name, plan),
        on_fault="restart",
        restart_limit=RESTARTS,
        devices=answer.devices.get(name, []),
        task=_tasks(name, app, plan, composer),
    )


def _template(name: str, answer: Composition, plan: Plan, composer: Composer) -> TemplateSpec:
    template = next(each for each in answer.templates if each.name == name)
    app = composer.apps[name]
    return TemplateSpec(
        name=name,
        app=composer.pool.entries[app].name,
        cpus=template.cpus,
        memory=size_text(template.memory),
        **_limits(name, plan),
        start_on=template.start_on,
        task=_tasks(name, app, plan, composer),
    )


def _channel(channel: Channel) -> ChannelSpec:
    ends = {"from": channel.origin, "to": channel.to}
    return ChannelSpec(name=channel.name, slots=channel.slots, size=size_text(channel.size), **ends)


def _limits(name: str, plan: Plan) -> dict[str, str]:
    """The bounds on an image and on its memory, which the build checks."""
    return {
        f"{kind}_limit": size_text(bound) for kind, bound in bounds.limits(name, plan.items).items()
    }


def _tasks(name: str, app: str, plan: Plan, composer: Composer) -> list[TaskSpec]:
    def values(kind: str) -> list[int]:
        return sorted(int(i.value) for i in plan.of(name, kind) if i.value is not None)

    urgency = priorities.of(name, plan.items)
    own = composer.pool.tasks(app)
    periods, deadlines = values("period"), values("deadline")
    if not periods and urgency:
        periods = [next(iter(own.values()))]
        urgency = dict.fromkeys(periods, urgency[None])
    if not periods:
        return []
    if composer.pool.has_any_task(app):
        named = enumerate(periods, start=1)
        return [
            TaskSpec(name=f"task-{at}", period=duration_text(each), priority=urgency.get(each))
            for at, each in named
        ]
    deadline = duration_text(deadlines[0]) if deadlines else None
    (period, *_), (task, *_) = periods, own
    priority = urgency.get(period)
    return [TaskSpec(name=task, period=duration_text(period), deadline=deadline, priority=priority)]


def _console(plan: Plan) -> str | None:
    """The VM with the console: the first Linux, or the first; none without VMs."""
    named = sorted(vms(plan.guests), key=lambda guest: guest.kind != "linux")
    return named[0].name if named else None


def _pool_version() -> str:
    values = tomllib.loads((ROOT / "Cargo.toml").read_text())
    return ".".join(str(values["workspace"]["package"]["version"]).split(".")[:2])


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def explain_json(
    answer: Composition, plan: Plan, composer: Composer, solved: dict[str, Solved]
) -> str:
    """Everything `explain` needs: the answer, the evidence, the graph and the costs."""
    rules = sorted({i.rule for i in answer.plan if i.rule})
    record = answer.json_dict() | {
        "evidence": [e.json_dict() for e in plan.evidence],
        "rules": {rule: RULES.get(rule, "") for rule in rules},
        "analysis": answer.analysis.json_dict(),
        "channels": [channel.json_dict() for channel in answer.channels],
        "templates": [template.json_dict() for template in answer.templates],
        "cost": {
            "unit": COST,
            "proven": "minimal",
            "utility": utility(plan),
            "images": {
                n: composer.pool.loaded(s.kind, s.solution.chosen) for n, s in solved.items()
            },
            "libraries": composer.pool.costs,
        },
        "symbols": {
            name: {s: v for s, v in made.config.values.items() if v is True}
            for name, made in solved.items()
        },
        "parameters": _parameters(answer, plan, composer, solved),
        "devices": answer.devices,
        "demanded": {
            name: sorted(
                s for d in made.demands if d.value and len(d.symbols) == 1 for s in d.symbols
            )
            for name, made in solved.items()
        },
    }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def _parameters(
    answer: Composition, plan: Plan, composer: Composer, solved: dict[str, Solved]
) -> dict[str, list[Any]]:
    """The parameters of each image: its placement, then those of its libraries."""
    shares = allocate(plan.guests, plan.items, composer.board)
    colours = {name: share.colours for name, share in shares.items()}
    found: dict[str, list[Any]] = {name: [] for name in answer.images}
    for name, parameter in parameters.places(answer, plan, composer.board, colours):
        found[name].append(parameter.json_dict())
    for name, made in solved.items():
        of = parameters.of(composer.pool.tree, made.config, made.numbers)
        found[name] += [parameter.json_dict() for parameter in of]
    return found
