"""The weights of the reader, made from its sentences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tenonos.plan.pool import Pool
from tenonos.plan.reader import labels, load, weights
from tenonos.plan.reader.base import Base
from tenonos.plan.reader.pieces import pieces_of
from tenonos.plan.reader.reader import embedding, plain_layers
from tools.bench.labelled import lacking, part
from tools.bench.objectives import objectives
from tools.reader.data import LONGEST, Target, of_labelled, of_objective

TEMPERATURE = 1.0
"""Divides the scores of polarities, so that a confidence is a part of right answers: measured on
authors that were held out."""


def targets(base: Base, without: Collection[str] = ()) -> list[Target]:
    """The targets of all sentences for training; `without` are authors to hold out."""
    known = base.vocabulary
    of_all = [
        of_labelled(found, pieces_of(found.text, known))
        for found in part("training")
        if found.author not in without
    ]
    of_all += [
        of_objective(found, pieces_of(found.text, known))
        for found in objectives()
        if found.part == "tuning"
    ]
    return [target for target in of_all if len(target.pieces) <= LONGEST]


def texts() -> tuple[dict[str, str], dict[str, str]]:
    """The texts of the pool's capabilities, and of those that it may lack."""
    pool = labels.texts_of(Pool().entries.values())
    lacks = {n: labels.text_of(n, t) for n, t in lacking().items() if n not in pool}
    return pool, lacks


def make(file: Path, without: Collection[str], tell: Callable[[str], None]) -> None:
    """Train, and write the weights to a file."""
    from tools.reader import train

    base = Base(load.provide())
    pool, lacks = texts()
    every = pool | lacks
    tell("texts of capabilities")
    layers = plain_layers(base)
    rows = np.array([embedding(base, layers, text) for text in every.values()])
    mean, scale = rows.mean(0), rows.std(0)
    tell("states of sentences")
    found = targets(base, without)
    names = {name: at for at, name in enumerate(every)}
    settings = train.Settings()
    centred = ((rows - mean) / scale).astype(np.float32)
    trained = train.train(base, found, centred, names, settings, tell)
    arrays: dict[str, Any] = {**trained, "texts": rows, "texts.mean": mean, "texts.scale": scale}
    record = {
        "base": load.HASH,
        "sentences": len(found),
        "data": digest(found),
        "settings": asdict(settings),
        "layers": train.LAYERS,
        "temperature": TEMPERATURE,
        "names": names,
        "texts": {labels.digest(text): at for at, text in enumerate(every.values())},
        "lacking": lacks,
        "without": sorted(without),
    }
    weights.write(file, arrays, record)


def digest(found: Collection[Target]) -> str:
    """The hash of all sentences with their targets."""
    hashed = hashlib.sha256()
    for target in found:
        hashed.update(json.dumps(asdict(target), sort_keys=True).encode())
    return hashed.hexdigest()
