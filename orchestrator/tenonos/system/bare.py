"""Systems without Mortise: one Tenon image on the bare machine."""

from tenonos.errors import InputError
from tenonos.system.model import System

BARE = "bare"
"""The mode of such a system."""

_KEYS = frozenset(
    {
        *("name", "kind", "app", "cpus", "memory", "image_limit", "ram_limit", "input", "config"),
        *("files", "packages", "program", "arguments", "environment"),
    }
)
"""Keys of its VM that apply; everything else is implemented by Mortise."""

_TABLES = ("vm", "name", "board", "pool", "mode", "console", "disk", "network")


def check(system: System) -> None:
    """Refuse keys that need Mortise."""
    if system.mode != BARE:
        return
    if len(system.vms) != 1 or system.vms[0].kind != "tenon":
        raise InputError(
            "without Mortise there is one Tenon image",
            where=system.where("mode"),
            mend='leave one VM of kind = "tenon", or write mode = "static"',
        )
    first = system.vms[0]
    for path in filter(None, system.lines):
        alone = path[0] in _TABLES and (path[0] != "vm" or len(path) < 3 or path[2] in _KEYS)
        if not alone:
            raise InputError(
                f"{path[2] if path[0] == 'vm' else path[0]} needs Mortise, which is not here",
                where=system.where(*path),
                mend='remove it, or write mode = "static"',
            )
    if first.cpus != tuple(range(len(first.cpus))):
        raise InputError(
            "without Mortise the CPUs of an image start at 0",
            where=system.at(first, "cpus"),
            mend=f"write cpus = {list(range(len(first.cpus)))}",
        )
