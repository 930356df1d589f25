"""Reader of objectives: a base model, trained adapters and heads, and the grammar of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tenonos.plan.reader import encoder, heads, weights
from tenonos.plan.reader.base import Base
from tenonos.plan.reader.decode import Decoder, Scores, probabilities, tokens_of
from tenonos.plan.reader.labels import digest
from tenonos.plan.reader.numbers import Found, quantities
from tenonos.plan.reader.pieces import Piece, pieces_of
from tenonos.plan.reader.reading import Reading

TOKENS = 510
"""The longest text, in tokens: the base model has 512 positions."""

Floats = np.ndarray[Any, Any]


class Reader:
    """A reader that is loaded; `texts` are those of the capabilities, by name."""

    def __init__(self, base: Base, file: Path, texts: Mapping[str, str]) -> None:
        self.base = base
        self.parameters, self.record = weights.read(file)
        # What the pool may lack is known by the weights; a capability of the pool takes its name.
        texts = {**texts, **{n: t for n, t in self.record["lacking"].items() if n not in texts}}
        self.names = tuple(texts)
        used: int = self.record["layers"]
        plain = (encoder.layer(base, number) for number in range(used))
        self._layers = [
            encoder.merged(encoder.adapted(one, self.parameters, number))
            for number, one in enumerate(plain)
        ]
        self._labels = self._label(texts)

    def read(self, text: str) -> Reading:
        """The reading of an objective."""
        pieces = pieces_of(text, self.base.vocabulary)
        cut = pieces[TOKENS].start if len(pieces) > TOKENS else None
        pieces = pieces[:TOKENS]
        numbers = [found for found in quantities(text) if cut is None or found.end <= cut]
        scores = self.scores(pieces, numbers)
        return Decoder(text, pieces, scores, numbers).reading(self.names, cut)

    def scores(self, pieces: list[Piece], numbers: list[Found]) -> Scores:
        """The scores of a text."""
        states = encoder.embedded(self.base, np.array([[piece.index for piece in pieces]]))
        mask = np.ones(states.shape[:2], np.float32)
        for parameters in self._layers:
            states = encoder.apply(np, self.base.shape, parameters, states, mask)
        known = self.parameters
        said, evidence = heads.statements(np, known, states, mask, self._labels)
        features, marks, counts = heads.marks(np, known, states)
        parts = np.zeros((1, len(numbers), len(pieces)), np.float32)
        for row, found in enumerate(numbers):
            tokens = tokens_of(pieces, found.start, found.end)
            parts[0, row, tokens] = 1 / max(len(tokens), 1)
        return Scores(
            polarities=probabilities(said[0] / self.record["temperature"]),
            evidence=evidence[0],
            marks=probabilities(marks[0]),
            counts=counts[0],
            relations=heads.relations(known, states)[0],
            roles=probabilities(heads.roles(known, features, parts)[0]),
        )

    def _label(self, texts: Mapping[str, str]) -> Floats:
        """The labels of capabilities; the text of a new one is embedded now."""
        stored: dict[str, int] = self.record["texts"]
        names: dict[str, int] = self.record["names"]
        rows, known = [], []
        plain: list[dict[str, Any]] = []
        for name, text in texts.items():
            if (at := stored.get(digest(text))) is not None:
                rows.append(self.parameters["texts"][at])
            else:
                plain = plain or plain_layers(self.base)
                rows.append(embedding(self.base, plain, text))
            at = names.get(name)
            correction = self.parameters["label.known"]
            known.append(np.zeros(heads.WIDTH) if at is None else correction[at])
        centred = (np.array(rows) - self.parameters["texts.mean"]) / self.parameters["texts.scale"]
        labels: Floats = heads.labels(
            np, self.parameters, centred.astype(np.float32), np.array(known, np.float32)
        )
        return labels


def plain_layers(base: Base) -> list[dict[str, Any]]:
    """All layers of the base model, without adapters."""
    return [encoder.layer(base, number) for number in range(base.shape.layers)]


def embedding(base: Base, layers: list[dict[str, Any]], text: str) -> Floats:
    """The embedding of a text by the base model: the mean of its tokens' last states."""
    pieces = pieces_of(text, base.vocabulary)[:TOKENS]
    states = encoder.embedded(base, np.array([[piece.index for piece in pieces]]))
    mask = np.ones(states.shape[:2], np.float32)
    for parameters in layers:
        states = encoder.apply(np, base.shape, parameters, states, mask)
    mean: Floats = states[0].mean(0)
    return mean
