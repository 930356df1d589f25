"""Schema of `system.toml`, with one-line errors.

`SystemSpec` is the content of the file; `parse` reads it and turns the first error, of TOML or of
the schema, into an `InputError` with file and line. `tenonos.system.check` checks values on the
board.
"""

import re
from difflib import get_close_matches
from ipaddress import IPv4Address, IPv4Interface
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from tenonos import inputs
from tenonos.errors import InputError
from tenonos.system.limits import PRIORITIES
from tenonos.system.lines import Path, locate, nearest
from tenonos.system.units import Address, Duration, Offset, Size


def _name(value: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,30}", value):
        raise ValueError(
            f'"{value}" is not a name; use up to 31 of a-z, 0-9 and "-", a letter first'
        )
    return value


Name = Annotated[str, AfterValidator(_name)]


def _text(value: str) -> str:
    """A string without control characters, which no file name, option or property needs."""
    if odd := re.search(r"[\x00-\x1f\x7f-\x9f]", value):
        raise ValueError(f"it has the control character {ord(odd[0]):#04x}; remove it")
    return value


def _filled(value: str) -> str:
    if not value:
        raise ValueError("it is empty; give a name or a file, or leave the key out")
    return _text(value)


def _command_line(value: str) -> str:
    if (length := len(value.encode())) >= COMMAND_LINE:
        raise ValueError(
            f"it has {length:,} bytes, and Linux reads {COMMAND_LINE - 1:,}; shorten it"
        )
    return _text(value)


COMMAND_LINE = 2_048
"""Bytes of a command line with its end (Linux, arch/arm64, COMMAND_LINE_SIZE)."""
Filled = Annotated[str, AfterValidator(_filled)]
"""A name or path, which is not empty."""
CommandLine = Annotated[str, AfterValidator(_command_line)]


def _program(value: str) -> str:
    if not value.startswith("/") or value.endswith("/"):
        raise ValueError(f'"{value}" is no path of a program; write one as "/bin/busybox"')
    return _text(value)


def _argument(value: str) -> str:
    if "\0" in value:
        raise ValueError("it has the character 0, which ends arguments; remove it")
    return value


def _variable(value: str) -> str:
    name, separator, _ = value.partition("=")
    if not name or not separator:
        raise ValueError(f'"{value}" is no variable; write NAME=VALUE')
    return _argument(value)


ProgramPath = Annotated[str, AfterValidator(_program)]
"""The path of a program in a file tree."""
Argument = Annotated[str, AfterValidator(_argument)]
Variable = Annotated[str, AfterValidator(_variable)]
"""A variable of an environment."""


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class TaskSpec(_Spec):
    """One periodic task of a Tenon VM: `[[vm.task]]`."""

    name: Name
    period: Duration
    deadline: Duration | None = None
    priority: int | None = Field(default=None, ge=PRIORITIES[0], le=PRIORITIES[-1])


class GuestSpec(_Spec):
    """Common keys of a VM and a template."""

    name: Name
    app: Filled | None = None
    cpus: list[int] = Field(min_length=1)
    memory: Size
    image_limit: Size | None = None
    ram_limit: Size | None = None
    config: Filled | None = None
    priority: int | None = Field(default=None, ge=0, le=63)
    schedule: Literal["fixed", "edf", "rate-monotonic"] = "fixed"
    budget: Duration | None = None
    period: Duration | None = None
    exhausted: Literal["wait", "background"] | None = None
    task: list[TaskSpec] = []


class ManagesSpec(_Spec):
    """Authority of a VM over the life cycles of others: `[vm.manages]`."""

    vms: list[Filled] = Field(min_length=1)
    memory: Size | None = None
    cpus: list[int] = []
    priority: int = Field(default=31, ge=0, le=63)


class DetachSpec(_Spec):
    """CPUs that a Linux VM may detach for its programs: `[vm.detach]`."""

    cpus: list[int] = Field(min_length=1)


class RegionSpec(_Spec):
    """Additional memory at an address that an image expects: `[[vm.region]]`."""

    at: Address
    size: Size


class VmSpec(GuestSpec):
    """One VM: `[[vm]]`."""

    kind: Literal["tenon", "linux", "image"]
    kernel: Filled | None = None
    initramfs: Filled | None = None
    root: Literal["initramfs", "disk"] = "initramfs"
    cmdline: CommandLine | None = None
    packages: list[Filled] = []
    modules: list[Filled] = []
    files: Filled | None = None
    programs: list[Filled] = []
    program: ProgramPath | None = None
    arguments: list[Argument] = []
    environment: list[Variable] = []
    calls: list[Filled] | None = None
    ready: Filled | None = None
    image: Filled | None = None
    load: Address | None = None
    entry: Address | None = None
    device_tree: Filled | None = None
    device_tree_at: Address | None = None
    memory_at: Address | None = None
    memory_seen_at: Address | None = None
    colours: int | None = Field(default=None, ge=1)
    interrupts: Literal["direct", "shared"] | None = None
    wfi: Literal["pass", "trap"] = "pass"
    on_fault: Literal["stop", "restart", "inject"] = "stop"
    restart_limit: int = Field(default=3, ge=1, le=1_000_000)
    devices: list[Filled] = []
    in_place: bool = False
    input: bool = False
    manages: ManagesSpec | None = None
    detach: DetachSpec | None = None
    region: list[RegionSpec] = []


class MachineSpec(_Spec):
    """The size of the emulated machine: `[machine]`."""

    cores: int | None = Field(default=None, ge=1)
    ram: Size | None = None


class ReserveSpec(_Spec):
    """Resources of dynamic VMs: `[reserve]`."""

    memory: Size
    cpus: list[int] = Field(min_length=1)
    vms: int = Field(default=4, ge=1, le=8)


class TemplateSpec(GuestSpec):
    """A Tenon VM created on demand: `[[template]]`."""

    start_on: Filled | None = None
    retire: Literal["off"] = "off"


class ChannelSpec(_Spec):
    """Messages from one VM to another: `[[channel]]`."""

    name: Name
    origin: Filled = Field(alias="from")
    to: Filled
    slots: int
    size: Size


class VlibSpec(_Spec):
    """A Linux VM that serves a Tenon VM as a library: `[[vlib]]`."""

    name: Name
    master: Filled
    server: Filled
    size: Size
    time: Literal["real", "virtual"] = "real"


class RegulationSpec(_Spec):
    """Memory bandwidth regulation of shared cores: `[regulation]`."""

    event: Literal["instructions", "cycles", "l2-refill", "bus-access"]
    limit: int = Field(ge=1, le=0xFFFF_FFFF)
    interval: Duration = 1_000_000


class NativeSpec(_Spec):
    """A program linked into Mortise: `[[native]]`."""

    name: Name
    app: Filled
    cpus: list[int] = Field(min_length=1, max_length=1)
    rights: list[Filled] = []
    period: Duration | None = None


class DiskSpec(_Spec):
    """A disk behind a virtio transport, of the emulator's or of Mortise's: `[[disk]]`."""

    name: Name | None = None
    device: Filled | None = None
    vm: Filled | None = None
    on: Filled | None = None
    file: Filled | None = None
    size: Size | None = None
    at: Offset | None = None
    partition: int | None = Field(default=None, ge=1, le=128)
    read_only: bool = False
    keep: bool = False
    format: Literal["fat"] | None = None


def _forwarded_port(value: str) -> str:
    if not re.fullmatch(r"[0-9]{1,5}:[0-9]{1,5}/(udp|tcp)", value):
        raise ValueError(f'"{value}" is not a port to forward; write "HOST:GUEST/udp" or "…/tcp"')
    if any(not 0 < int(port) < 1 << 16 for port in value.split("/")[0].split(":")):
        raise ValueError(f'"{value}" has a port that is not from 1 to 65535')
    return value


def _hardware_address(value: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", value):
        raise ValueError(f'"{value}" is not an Ethernet address; write one as 02:00:00:00:00:01')
    return value


def _network_address(value: str) -> str:
    try:
        host, _, prefix = value.partition("/")
        mask = IPv4Interface(f"{host}/{int(prefix)}")
    except ValueError:
        raise ValueError(
            f'"{value}" is not an IPv4 address with its prefix; write one as 10.0.0.2/24'
        ) from None
    if mask.ip.is_unspecified or mask.ip.is_multicast or mask.ip == IPv4Address(2**32 - 1):
        raise ValueError(f'"{value}" is not the address of one host; write one as 10.0.0.2/24')
    return value


class PortSpec(_Spec):
    """Keys of a VM's card in a network: `[[network.port]]`."""

    vm: Filled
    address: Annotated[str, AfterValidator(_network_address)] | None = None
    mac: Annotated[str, AfterValidator(_hardware_address)] | None = None
    rate: Size | None = None
    isolated: bool = False


class NetworkSpec(_Spec):
    """A network behind a virtio transport of the emulator's, or one between VMs: `[[network]]`."""

    name: Name | None = None
    device: Filled | None = None
    vms: list[Filled] = []
    port: list[PortSpec] = []
    forward: list[Annotated[str, AfterValidator(_forwarded_port)]] = []


def _model_of_card(value: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]*(,[a-z][a-z0-9_-]*=[A-Za-z0-9_.-]+)*", value):
        raise ValueError(f'"{value}" is not a device of QEMU; write one, followed by ",NAME=VALUE"')
    return value


class CardSpec(_Spec):
    """A PCI device of the emulator: `[[card]]`."""

    device: Filled
    model: Annotated[str, AfterValidator(_model_of_card)]


class SystemSpec(_Spec):
    """A whole `system.toml`."""

    name: Name
    board: Filled
    boards: list[Filled] = []
    pool: Filled
    mode: Literal["static", "dynamic", "bare"] = "static"
    console: Filled | None = None
    libraries: list[Filled] = []
    machine: MachineSpec | None = None
    reserve: ReserveSpec | None = None
    regulation: RegulationSpec | None = None
    vm: list[VmSpec] = []
    native: list[NativeSpec] = []
    template: list[TemplateSpec] = []
    channel: list[ChannelSpec] = []
    vlib: list[VlibSpec] = []
    disk: list[DiskSpec] = []
    network: list[NetworkSpec] = []
    card: list[CardSpec] = []


def parse(text: str, shown: str) -> tuple[SystemSpec, dict[Path, int]]:
    """The specification in `text` and the line of each key.

    `shown` is the file's name in messages.
    """
    values = inputs.toml(text, shown)
    lines = locate(text)
    try:
        return SystemSpec.model_validate(values), lines
    except ValidationError as error:
        # A misspelt key is a missing one too: unknown keys first, then in the order of lines.
        first = min(
            error.errors(include_url=False),
            key=lambda e: (e["type"] != "extra_forbidden", nearest(lines, e["loc"])),
        )
        what, mend = _explain(first, values)
        raise InputError(what, where=f"{shown}:{nearest(lines, first['loc'])}", mend=mend) from None


def _explain(error: Any, values: dict[str, Any]) -> tuple[str, str | None]:
    """The message and remedy for one validation error of pydantic."""
    path, kind, context = error["loc"], error["type"], error.get("ctx", {})
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    model = _model(path)
    of = _of(path, values)
    match kind:
        case "extra_forbidden":
            known = [field.alias or name for name, field in model.model_fields.items()]
            close = get_close_matches(key, known, 1, 0.6)
            mend = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
            return f'unknown key "{key}"{of}', mend
        case "missing":
            return f"{key}{of} is missing", f"add {_example(key)}"
        case "literal_error":
            expected = context["expected"].replace("'", '"')
            noun = "VM kind" if key == "kind" else key
            return f'unknown {noun} "{error["input"]}"{of}', f"use {expected}"
        case "value_error":
            what, _, mend = str(context["error"]).partition("; ")
            return f"{key}: {what}", mend or None
        case "too_short":
            return (f"{key}{of} is empty", f"add {_example(key)}")
        case _:
            detail = error["msg"][:1].lower() + error["msg"][1:]
            return f"{key}{of}: {detail}", f"for example {_example(key)}"


_TABLES: dict[str, type[_Spec]] = {
    "vm": VmSpec,
    "template": TemplateSpec,
    "channel": ChannelSpec,
    "vlib": VlibSpec,
    "native": NativeSpec,
    "disk": DiskSpec,
    "network": NetworkSpec,
    "port": PortSpec,
    "card": CardSpec,
    "task": TaskSpec,
    "manages": ManagesSpec,
    "detach": DetachSpec,
    "region": RegionSpec,
    "machine": MachineSpec,
    "reserve": ReserveSpec,
    "regulation": RegulationSpec,
}


def _model(path: tuple[str | int, ...]) -> type[_Spec]:
    """The model with the key in the last part of `path`."""
    around = [part for part in path[:-1] if isinstance(part, str)]
    return _TABLES.get(around[-1], SystemSpec) if around else SystemSpec


def _of(path: tuple[str | int, ...], values: dict[str, Any]) -> str:
    """` of VM "motor"`: the named item that contains an error."""
    try:
        name = values[path[0]][path[1]]["name"] if len(path) > 2 else None
    except (KeyError, TypeError, IndexError):
        name = None
    noun = "VM" if path[0] == "vm" else path[0]
    return f' of {noun} "{name}"' if isinstance(name, str) and path[-1] != "name" else ""


_EXAMPLES = {
    "name": 'name = "motor"',
    "board": 'board = "qemu-virt"',
    "boards": 'boards = ["../my-board"]',
    "pool": 'pool = "0.1"',
    "vm": "a [[vm]] table",
    "kind": 'kind = "tenon", kind = "linux" or kind = "image"',
    "cpus": "cpus = [3]",
    "memory": 'memory = "16M"',
    "period": 'period = "1ms"',
    "budget": 'budget = "2ms"',
    "priority": "priority = 40",
    "image_limit": 'image_limit = "64K"',
    "ram_limit": 'ram_limit = "128K"',
    "devices": 'devices = ["gpio"]',
    "device": 'device = "virtio0"',
    "model": 'model = "e1000e"',
    "packages": 'packages = ["stress-ng"]',
    "modules": 'modules = ["virtio_blk"]',
    "programs": 'programs = ["server.c"]',
    "restart_limit": "restart_limit = 3",
    "image": 'image = "rtos.elf"',
    "partition": "partition = 1",
    "at": 'at = "0x0400_0000"',
    "from": 'from = "motor"',
    "to": 'to = "linux"',
    "master": 'master = "motor"',
    "server": 'server = "linux"',
    "slots": "slots = 64",
    "size": "size = 64",
    "vms": 'vms = ["job"]',
    "event": 'event = "l2-refill"',
    "limit": "limit = 100000",
    "interval": 'interval = "1ms"',
    "app": 'app = "beat"',
    "cores": "cores = 6",
    "ram": 'ram = "2G"',
    "reserve": '[reserve] with memory = "32M"',
}


def _example(key: str) -> str:
    return _EXAMPLES.get(key, f'{key} = "..."')
