"""Former names of libraries and symbols, which files outside the tree may still use."""

from __future__ import annotations

LIBRARIES = {
    "core/native": "core/bare",
    "core/plain": "core/bare",
    "core/wheel": "core/timer",
    "hw/serial-cadence": "hw/serial",
    "hw/serial-dw": "hw/serial",
    "hw/serial-pl011": "hw/serial",
    "mortise/authority": "mortise/sysregs",
    "mortise/bytes": "core/memcpy",
    "mortise/gic-frame": "mortise/gicd",
    "mortise/gic-mediated": "mortise/gicd",
    "mortise/gicv2-mediated": "mortise/gicv2",
    "mortise/memcpy": "core/memcpy",
    "mortise/native": "mortise/bare",
    "mortise/plain": "core/bare",
    "tenon/mqueue": "tenon/posix",
    "tenon/plain": "core/bare",
    "tenon/posix-mutex": "tenon/posix-sync",
    "tenon/posix-semaphore": "tenon/posix-sync",
    "tenon/posix-signal": "tenon/pthread",
    "tenon/posix-time": "tenon/posix",
    "tenon/posix-timer": "tenon/posix",
    "tenon/server-c": "tenon/c-api",
    "tenon/vlib-c": "tenon/c-api",
    "tenon/vm-c": "tenon/c-api",
}
"""Libraries that were renamed or merged into another one."""

PACKAGES = {old.replace("/", "-"): new.replace("/", "-") for old, new in LIBRARIES.items()}


def _symbol(library: str) -> str:
    return "LIB_" + library.upper().replace("/", "_").replace("-", "_")


SYMBOLS = {
    **{_symbol(old): _symbol(new) for old, new in LIBRARIES.items()},
    "LIB_TENON_SERVER_C": "TENON_C_API_SERVERS",
    "LIB_TENON_VLIB_C": "TENON_C_API_VLIB",
    "LIB_TENON_VM_C": "TENON_C_API_VM",
}
"""Kconfig symbols, without `CONFIG_`."""
