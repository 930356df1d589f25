"""Detached cores, which a Linux VM lends to its programs: checks, manifest record, device tree.

Each core has a page, its cell, shared by Linux and Mortise (docs/formats.md).
"""

from typing import Any

from tenonos.errors import InputError
from tenonos.system.limits import PAGE
from tenonos.system.memory_map import VmLayout
from tenonos.system.model import System, Vm
from tenonos.system.node import Node


def size(vm: Vm) -> int:
    """Bytes of the cells of a VM."""
    return PAGE * len(vm.detach)


def check(system: System) -> None:
    """Refuse to lend cores that the VM shares, or its last core."""
    for vm in system.vms:
        where = system.at(vm, "detach", "cpus")
        lendable = [cpu for cpu in vm.cpus[1:] if not system.is_shared(cpu)]
        use = f"use {', '.join(map(str, lendable))}" if lendable else "give the VM more CPUs"
        for cpu in vm.detach:
            if cpu not in vm.cpus:
                raise InputError(f'VM "{vm.name}" has no CPU {cpu} to lend', where=where, mend=use)
            if cpu == vm.cpus[0]:
                raise InputError(
                    f'VM "{vm.name}" may not lend its first CPU', where=where, mend=use
                )
            if cpu not in lendable:
                raise InputError(
                    f'VM "{vm.name}" may not lend CPU {cpu}, which others may use',
                    where=where,
                    mend=use,
                )
        if len(set(vm.detach)) < len(vm.detach):
            raise InputError(
                f'VM "{vm.name}" lends a CPU twice', where=where, mend="name each once"
            )


def record(system: System, vm: Vm, place: VmLayout) -> dict[str, Any]:
    """The record in the manifest."""
    cells = place.cells
    ipa, pa, bytes_ = (cells.ipa, cells.pa, cells.size) if cells is not None else (0, 0, 0)
    return {
        "cells": {"start": ipa, "size": bytes_},
        "memory": {"start": pa, "size": bytes_},
        "vcpus": [vm.cpus.index(cpu) for cpu in vm.detach],
        "interrupt": system.board.gic.detach_spi if cells is not None else 0,
    }


def tree(root: Node, system: System, vm: Vm, place: VmLayout) -> None:
    """The node for the Linux module, with CPU numbers of the VM's own tree."""
    if place.cells is None:
        return
    node = root.child(f"detach@{place.cells.ipa:x}")
    node.text("compatible", "tenonos,detach")
    node.longs("reg", place.cells.ipa, place.cells.size)
    # A shared peripheral interrupt, edge-triggered.
    node.cells("interrupts", 0, system.board.gic.detach_spi - 32, 1)
    node.cells("tenonos,cpus", *(vm.cpus.index(cpu) for cpu in vm.detach))
