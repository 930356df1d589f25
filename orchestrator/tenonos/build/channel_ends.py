"""The ends of channels that applications state, compared with the channels of their system."""

import re
from collections.abc import Iterator, Mapping

from tenonos.pool.library import End, Library
from tenonos.system import System


def missing(system: System, apps: Mapping[str, Library]) -> Iterator[str]:
    """A line for each end without a channel: the application opens it and gets an error.

    An application may do without, so that this is no error of the build. Only names are compared:
    the size that an application states is the largest that it handles. VMs made at run time are
    left out, as their manager knows their channels.
    """
    for vm in system.vms:
        app = apps.get(vm.name)
        for end in app.ends if app is not None else ():
            if not any(_connects(system, vm.name, end, origin) for origin in _directions(end)):
                verb = {"sends": "from", "receives": "to", "exchanges": "with"}[end.does]
                yield (
                    f'{system.at(vm, "app")}: VM "{vm.name}" {end.does} "{end.name}", and there is '
                    f"no [[channel]] of that name {verb} it"
                )


def _directions(end: End) -> tuple[bool, ...]:
    """Whether the VM may be the origin of the channel."""
    return {"sends": (True,), "receives": (False,), "exchanges": (True, False)}[end.does]


def _connects(system: System, vm: str, end: End, origin: bool) -> bool:
    """Whether there is such a channel; `compose` numbers several of one name."""
    name = re.compile(re.escape(end.name) + r"(-\d+)?")
    return any(
        name.fullmatch(channel.name) and vm == (channel.origin if origin else channel.to)
        for channel in system.channels
    )
