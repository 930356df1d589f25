"""Suite `net`: sockets and servers of Linux over the loopback, on Tenon and on Debian's kernel.

One program on one core measures datagrams, streams and requests to servers from Debian's packages
between marks, so that only executed instructions count. `rt_wake` is the time from a release to its
job beside a flood of datagrams.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tenonos import build, system
from tenonos.errors import WorkError
from tenonos.paths import ROOT
from tenonos.run.plugin import QUIET, Passage
from tools.bench import boot, exits, machine, programs
from tools.bench.machine import Place, Trace
from tools.bench.programs import NATIVE
from tools.bench.reading import Setting
from tools.bench.row import Row

SOURCE = ROOT / "bench" / "programs" / "net.c"
SUITE = "net"
SYSTEM, VM = "bench-net", "programs"
SERVERS = {
    "nginx": "nginx -c /etc/nginx.conf -e stderr",
    "redis": "redis-server /etc/redis.conf >/tmp/log &",
    "sqlite": "",
}
"""The servers, each with the command that starts it before its requests, so that none starts beside
those of another."""
FLOOD = "flood"
END = "net end"

_CONTENTS = {
    "etc/passwd": b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
    "www/small": b"a line\n",
    "etc/nginx.conf": b"""\
pid /tmp/nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    keepalive_requests 1000000;
    server { listen 8081; root /www; }
}
""",
    "etc/redis.conf": b'dir /tmp\nsave ""\n',
}

_START = """\
#!/bin/busybox sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
{first}
busybox date -s @1700000000
busybox mkdir -p /tmp /var/lib/nginx /var/log/nginx
/bin/net
{requests}
echo {end}
{last}
"""


def start(first: str, last: str) -> bytes:
    """The start script, with the first and the last command of one kernel."""
    requests = "\n".join(
        f"{command}\n/bin/net request {server}" for server, command in SERVERS.items()
    )
    return _START.format(first=first, requests=requests, end=END, last=last).encode()


def rows(environments: frozenset[str], tell: Callable[[str], None]) -> Iterator[Row]:
    """The rows of each environment that is asked for."""
    compiled = programs.compiled(SOURCE)
    if exits.STATIC in environments:
        tell(f"{SYSTEM}, {exits.STATIC}")
        place = Place(build.build(tenon(compiled)), VM, bare=False, more=("blocks",))
        yield from measured(machine.run(place, END), Setting(SYSTEM, exits.STATIC))
    if NATIVE in environments:
        tell(f"{boot.LINUX}, {NATIVE}")
        yield from measured(native(compiled), Setting(boot.LINUX, NATIVE))
    if exits.STATIC in environments:
        tell(f"{SYSTEM}, load {FLOOD}")
        yield programs.wake(build.build(tenon(compiled, FLOOD)), SUITE, FLOOD)


def tenon(compiled: bytes, load: str | None = None) -> system.System:
    """The system that measures, or has the load beside its loop."""
    described = system.load(SYSTEM)
    (vm,) = described.vms
    script = start("", "busybox sleep 9999")
    contents = {**_CONTENTS, "bin/net": compiled, "etc/start": script}
    vm = replace(vm, files=programs.files(described, contents))
    if load is None:
        vm = replace(vm, tasks=())
    else:
        vm = replace(vm, program="/bin/net", arguments=(load,))
    return replace(described, vms=(vm,))


def native(compiled: bytes) -> Trace:
    """The run on Debian's kernel, with the same packages."""
    (vm,) = system.load(SYSTEM).vms
    script = start("busybox ifconfig lo 127.0.0.1 up", "busybox poweroff -f")
    contents = {**_CONTENTS, "bin/net": compiled, "etc/start": script}
    with programs.native(contents, vm.packages) as target:
        plan = lambda ram, pipe: machine.plugin.plan(  # noqa: E731
            target, ram, pipe, (), ("marks", "blocks", QUIET)
        )
        return machine.counted(target, plan, machine.off)


def measured(trace: Trace, setting: Setting) -> Iterator[Row]:
    """The rows that the program printed, each with its passages."""
    passages = iter(trace.passages)

    def batches(numbers: list[int]) -> list[int]:
        return [executed(next(passages, None)) for _ in range(numbers[0])]

    return programs.measured(SUITE, trace.lines, setting, batches)


def executed(passage: Passage | None) -> int:
    """The instructions of a passage, all of which one core executed."""
    if passage is None:
        raise WorkError("the run ended within a measurement")
    return passage.instructions + passage.other
