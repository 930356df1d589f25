"""Writer of `system.toml`; `schema.parse` reads the same specification back."""

import json

from pydantic import BaseModel

from tenonos.system.schema import SystemSpec

_PLAIN = ("native", "channel", "vlib", "disk", "card")
"""Arrays of tables without nested tables."""


def render(spec: SystemSpec) -> str:
    """`spec` as TOML, in the usual order, without defaults."""
    parts = [
        _table("", spec, "machine", "reserve", "regulation", "vm", "template", "network", *_PLAIN)
    ]
    if spec.machine is not None:
        parts.append(_table("[machine]\n", spec.machine))
    if spec.reserve is not None:
        parts.append(_table("[reserve]\n", spec.reserve))
    if spec.regulation is not None:
        parts.append(_table("[regulation]\n", spec.regulation))
    for vm in spec.vm:
        parts.append(_table("[[vm]]\n", vm, "task", "manages", "detach", "region"))
        parts += [_table("[[vm.task]]\n", task) for task in vm.task]
        if vm.manages is not None:
            parts.append(_table("[vm.manages]\n", vm.manages))
        if vm.detach is not None:
            parts.append(_table("[vm.detach]\n", vm.detach))
        parts += [_table("[[vm.region]]\n", region) for region in vm.region]
    for template in spec.template:
        parts.append(_table("[[template]]\n", template, "task"))
        parts += [_table("[[template.task]]\n", task) for task in template.task]
    for name in _PLAIN:
        parts += [_table(f"[[{name}]]\n", each) for each in getattr(spec, name)]
    for network in spec.network:
        parts.append(_table("[[network]]\n", network, "port"))
        parts += [_table("[[network.port]]\n", port) for port in network.port]
    return "\n".join(parts)


def _table(header: str, spec: BaseModel, *skip: str) -> str:
    values = spec.model_dump(exclude=set(skip), exclude_defaults=True, by_alias=True)
    # Written although it is the default, for the reader.
    if isinstance(spec, SystemSpec):
        values["mode"] = spec.mode
    names = [field.alias or name for name, field in type(spec).model_fields.items()]
    known = sorted((n for n in names if n in values), key=lambda n: n not in ("name", "kind"))
    return header + "".join(f"{name} = {_value(values[name])}\n" for name in known)


def _value(value: str | int | list[str] | list[int]) -> str:
    """A value as TOML; JSON's forms of text, number and list are TOML's too."""
    return json.dumps(value, ensure_ascii=False)
