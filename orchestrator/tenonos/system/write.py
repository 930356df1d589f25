"""The text of a `system.toml`: what `schema.parse` reads back as the same specification."""

import json

from tenonos.system.schema import SystemSpec, TaskSpec, VmSpec


def render(spec: SystemSpec) -> str:
    """`spec` as TOML, in the order people write it, defaults left out."""
    parts = [_table("", spec, skip="vm")]
    for vm in spec.vm:
        parts.append(_table("[[vm]]\n", vm, skip="task"))
        parts += [_table("[[vm.task]]\n", task) for task in vm.task]
    return "\n".join(parts)


def _table(header: str, spec: SystemSpec | VmSpec | TaskSpec, skip: str | None = None) -> str:
    # Where the mode or the interrupts are the default, saying so still helps the reader.
    values = spec.model_dump(exclude={skip} if skip else None, exclude_defaults=True)
    if isinstance(spec, SystemSpec):
        values["mode"] = spec.mode
    known = [name for name in type(spec).model_fields if name in values]
    return header + "".join(f"{name} = {_value(values[name])}\n" for name in known)


def _value(value: str | int | list[str] | list[int]) -> str:
    """A value as TOML; JSON's forms of text, number and list are TOML's too."""
    return json.dumps(value, ensure_ascii=False)
