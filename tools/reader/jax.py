"""Installation of jax, with which the reader is trained, on first use of `./tenon train`."""

from __future__ import annotations

from tenonos import paths
from tenonos.setup.extras import Extra

LOCK = paths.ROOT / "orchestrator" / "train.lock"


EXTRA = Extra("jax", "jax", LOCK, "4 packages, 90 MB to fetch, 300 MB on disk")


def provide() -> None:
    """Install it if it is missing; fail with the reason."""
    EXTRA.provide()
