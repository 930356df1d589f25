"""File of trained weights: matrices in 8 bits with a scale per column, the rest in 16 bits.

A line of JSON has the shapes, the record of the training and what else is not an array; the
arrays follow in its order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tenonos.errors import InputError

MAGIC = b"tenon-reader 1\n"
_SMALL = 4096
"""Arrays with fewer elements are not quantised."""

Arrays = dict[str, np.ndarray[Any, Any]]


def write(file: Path, arrays: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Write arrays and a record."""
    shapes, data = {}, []
    for name, array in sorted(arrays.items()):
        value = np.asarray(array, np.float32)
        small = value.ndim != 2 or value.size < _SMALL
        shapes[name] = {"shape": list(value.shape), "bits": 16 if small else 8}
        if small:
            data.append(value.astype("<f2").tobytes())
            continue
        scales = np.maximum(np.abs(value).max(0) / 127, 1e-7).astype("<f4")
        data.extend([scales.tobytes(), np.rint(value / scales).astype("i1").tobytes()])
    head = json.dumps({"arrays": shapes, "record": record}, sort_keys=True, ensure_ascii=False)
    file.write_bytes(MAGIC + head.encode() + b"\n" + b"".join(data))


def read(file: Path) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and the record of a file."""
    data = file.read_bytes()
    if not data.startswith(MAGIC):
        raise InputError("it has no weights of the reader", where=str(file))
    end = data.index(b"\n", len(MAGIC))
    head = json.loads(data[len(MAGIC) : end])
    at = end + 1
    arrays: Arrays = {}
    for name, form in head["arrays"].items():
        shape = form["shape"]
        count = int(np.prod(shape))
        if form["bits"] == 16:
            arrays[name] = np.frombuffer(data, "<f2", count, at).reshape(shape).astype(np.float32)
            at += 2 * count
            continue
        scales = np.frombuffer(data, "<f4", shape[1], at)
        at += scales.nbytes
        arrays[name] = np.frombuffer(data, "i1", count, at).reshape(shape) * scales
        at += count
    return arrays, head["record"]
