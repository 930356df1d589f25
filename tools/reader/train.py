"""Training of the reader's heads and adapters, by jax on one processor, with a fixed seed.

The lower layers of the base model never change: their states of all objectives are computed once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax
import jax.numpy as jnp
import numpy as np

from tenonos.plan.reader import encoder, heads
from tenonos.plan.reader.base import Base
from tools.reader.data import NOT_DEMANDED, Target

FROZEN = 4
"""The lower layers, without adapters."""
LAYERS = 8
"""The layers that are used: the upper ones serve the pooling that the reader doesn't do."""
RANK = 32
BUCKETS = (20, 28, 40, 96)
"""Lengths of batches, in tokens; each is compiled once."""
TOKENS = 512
"""Tokens of a batch."""
MOST_QUANTITIES = 12
_WARM = 0.06
"""The part of the steps in which the rate rises."""

Batch = dict[str, Any]
Parameters = dict[str, Any]


@dataclass(frozen=True)
class Phase:
    """A part of the training, in which the rate rises once and then falls."""

    first: int
    """The first layer that is computed anew."""
    epochs: int
    planned: int
    """Epochs in which the rate would fall to nothing."""
    heads: float
    adapters: float
    """Parts of the rates."""


@dataclass(frozen=True)
class Settings:
    """What training depends on beside its data."""

    alone: int = 2
    """Epochs of the heads alone, on states that don't change."""
    together: int = 4
    """Epochs of the heads with the adapters, on the objectives with all labels."""
    planned: int = 4
    """Epochs in which their rate falls to nothing."""
    seed: int = 1
    rate: float = 2e-3
    adapter_rate: float = 2e-3
    slower: float = 0.5
    """The rate of the heads beside the adapters, as a part of their own."""
    decay: float = 0.02
    dropout: float = 0.1
    unknown: float = 0.3
    """The part of labels without their correction, as a new library has none."""


def states_of(
    base: Base, targets: Sequence[Target], first: int, last: int, before: Sequence[Any] = ()
) -> list[np.ndarray[Any, Any]]:
    """The states of tokens after layers [first, last) of the base model, from those `before`."""
    layers = [short(encoder.layer(base, number)) for number in range(first, last)]
    found: list[Any] = [None] * len(targets)

    @jax.jit
    def run(layers: Any, states: Any, mask: Any) -> Any:
        for parameters in layers:
            states = encoder.apply(jnp, base.shape, parameters, states, mask, product)
        return states

    for length, indices in batches(targets, None):
        pieces = np.ones((len(indices), length), np.int64)
        mask = np.zeros((len(indices), length), np.float32)
        for row, index in enumerate(indices):
            known = [piece.index for piece in targets[index].pieces]
            pieces[row, : len(known)] = known
            mask[row, : len(known)] = 1
        if before:
            given = np.zeros((len(indices), length, base.shape.width), np.float32)
            for row, index in enumerate(indices):
                given[row, : len(targets[index].pieces)] = before[index]
        else:
            given = encoder.embedded(base, pieces)
        states = np.asarray(run(layers, given, mask)).astype(np.float16)
        for row, index in enumerate(indices):
            found[index] = states[row, : len(targets[index].pieces)]
    return found


def batches(
    targets: Sequence[Target], random: np.random.Generator | None
) -> Iterator[tuple[int, list[int]]]:
    """Lengths and indices of batches of texts of like length, each of one fixed size."""
    queues: dict[int, list[int]] = {length: [] for length in BUCKETS}
    order = np.arange(len(targets)) if random is None else random.permutation(len(targets))
    full: list[tuple[int, list[int]]] = []
    for index in order.tolist():
        length = next(n for n in BUCKETS if n >= len(targets[index].pieces))
        queues[length].append(index)
        if len(queues[length]) == TOKENS // length:
            full.append((length, queues[length]))
            queues[length] = []
    for length, rest in queues.items():
        size = TOKENS // length
        if rest:
            full.append((length, (rest * size)[:size]))
    if random is not None:
        random.shuffle(full)  # type: ignore[arg-type]
    yield from full


def batch(
    targets: Sequence[Target],
    states: Sequence[Any],
    length: int,
    indices: list[int],
    names: dict[str, int],
) -> Batch:
    """The arrays of a batch."""
    count, known = len(indices), len(names)
    groups = len(heads.GROUPS)
    found: Batch = {
        "states": np.zeros((count, length, states[indices[0]].shape[1]), np.float32),
        "mask": np.zeros((count, length), np.float32),
        "polarities": np.zeros((count, known), np.int32),
        "weights": np.zeros((count, known), np.float32),
        "full": np.zeros(count, np.float32),
        "evidence": np.zeros((count, known, length), np.float32),
        "marks": np.zeros((count, length, groups), np.int32),
        "counts": np.full((count, length, 2), -1, np.int32),
        "relations": np.full((count, len(heads.RELATIONS), length, length), -1, np.int8),
        "pieces": np.zeros((count, MOST_QUANTITIES, length), np.float32),
        "roles": np.full((count, MOST_QUANTITIES), -1, np.int32),
    }
    for row, index in enumerate(indices):
        target = targets[index]
        found["states"][row, : len(target.pieces)] = states[index]
        found["mask"][row, : len(target.pieces)] = 1
        found["full"][row] = float(target.full)
        found["weights"][row] = target.weight
        for name, polarity in target.polarities.items():
            found["polarities"][row, names[name]] = polarity
        for name, tokens in target.evidence.items():
            found["evidence"][row, names[name], tokens] = 1
        for token, group, mark in target.marks:
            if found["marks"][row, token, group] != 1:
                found["marks"][row, token, group] = mark
        for token, which, number in target.counts:
            found["counts"][row, token, which] = number
        for relation, start, end, held in target.relations:
            found["relations"][row, relation, start, end] = held
        for at, (tokens, role) in enumerate(target.quantities[:MOST_QUANTITIES]):
            found["pieces"][row, at, tokens] = 1 / len(tokens)
            found["roles"][row, at] = role
    return found


@jax.custom_vjp
def product(value: Any, matrix: Any) -> Any:
    """The product of states with a matrix, both rounded to 16 bits: a processor with a matrix
    unit computes it five times as fast."""
    return _rounded(value, matrix, 1, 0)


def _rounded(one: Any, other: Any, of_one: int, of_other: int) -> Any:
    """The product of two arrays, with all axes but the last as one, over an axis of each."""
    short = (each.reshape(-1, each.shape[-1]).astype(jnp.bfloat16) for each in (one, other))
    found = jax.lax.dot_general(
        *short, (((of_one,), (of_other,)), ((), ())), preferred_element_type=jnp.float32
    )
    return found if of_one == 0 else found.reshape(*one.shape[:-1], -1)


def _forward(value: Any, matrix: Any) -> Any:
    return product(value, matrix), (value, matrix)


def _backward(kept: Any, slope: Any) -> Any:
    value, matrix = kept
    return _rounded(slope, matrix, 1, 1), _rounded(value, slope, 0, 0)


product.defvjp(_forward, _backward)


def short(layer: Parameters) -> Parameters:
    """A layer with its matrices in 16 bits, as `product` takes them."""
    return {
        name: jnp.asarray(value, jnp.bfloat16 if value.ndim == 2 else jnp.float32)
        for name, value in layer.items()
    }


def initial(width: int, layers: int, inner: int, labels: int, seed: int) -> Parameters:
    """The parameters before training; adapters begin without effect."""
    random = np.random.default_rng(seed)
    found: Parameters = {}
    for name, shape in heads.shapes(width, labels).items():
        scale = 0.0 if len(shape) == 1 or name == "label.known" else shape[0] ** -0.5
        found[name] = (random.standard_normal(shape) * scale).astype(np.float32)
    found["evidence.b"] -= 4
    found["mark.out.b"].reshape(-1, len(heads.MARKS))[:, 0] += 4
    found["polarity.out.b"][0] += 4
    found["relation.b"] -= 1
    for number in range(FROZEN, layers):
        for name in encoder.MATRICES:
            into = inner if name == "fo" else width
            out = inner if name == "fi" else width
            down = random.standard_normal((into, RANK)) * into**-0.5
            found[f"l{number}.{name}.down"] = down.astype(np.float32)
            found[f"l{number}.{name}.up"] = np.zeros((RANK, out), np.float32)
    return found


def loss(
    parameters: Parameters,
    given: Batch,
    key: Any,
    layers: Sequence[Any],
    first: int,
    shape: Any,
    texts: Any,
    settings: Settings,
) -> Any:
    """The sum of the heads' losses for a batch."""
    keys = jax.random.split(key, 3)

    def dropped(value: Any, with_key: Any) -> Any:
        kept = jax.random.bernoulli(with_key, 1 - settings.dropout, value.shape)
        return value * kept / (1 - settings.dropout)

    mask = given["mask"]
    states = dropped(given["states"], keys[0])
    for number, layer in enumerate(layers, start=first):
        own = encoder.adapted(layer, parameters, number)
        states = encoder.apply(jnp, shape, own, states, mask, product)
    states = dropped(states, keys[1])
    used = jax.random.bernoulli(keys[2], 1 - settings.unknown, (texts.shape[0], 1))
    names = heads.labels(jnp, parameters, texts, parameters["label.known"] * used)
    scores, evidence = heads.statements(jnp, parameters, states, mask, names)
    features, marks, counts = heads.marks(jnp, parameters, states)
    count = mask.shape[0]
    full = given["full"]

    logs = jax.nn.log_softmax(scores)
    polarities = given["polarities"]
    exact = -jnp.take_along_axis(logs, jnp.maximum(polarities, 0)[..., None], -1)[..., 0]
    others = -jnp.log1p(-jnp.exp(jnp.minimum(logs[..., 1], -1e-6)))
    total = (jnp.where(polarities == NOT_DEMANDED, others, exact) * given["weights"]).sum()

    wanted = given["evidence"]
    each = jax.nn.softplus(evidence) - wanted * evidence
    total += 0.1 * (each * mask[:, None, :] * full[:, None, None]).sum()

    logs = jax.nn.log_softmax(marks)
    each = -jnp.take_along_axis(logs, given["marks"][..., None], -1)[..., 0]
    total += 0.15 * (each * (mask * full[:, None])[..., None]).sum()

    logs = jax.nn.log_softmax(counts)
    each = -jnp.take_along_axis(logs, jnp.maximum(given["counts"], 0)[..., None], -1)[..., 0]
    total += 0.3 * (each * (given["counts"] >= 0)).sum()

    related = heads.relations(parameters, states)
    each = jax.nn.softplus(related) - given["relations"] * related
    total += 0.3 * (each * (given["relations"] >= 0)).sum()

    logs = jax.nn.log_softmax(heads.roles(parameters, features, given["pieces"]))
    each = -jnp.take_along_axis(logs, jnp.maximum(given["roles"], 0)[..., None], -1)[..., 0]
    total += 0.5 * (each * (given["roles"] >= 0) * full[:, None]).sum()
    return total / count


def train(
    base: Base,
    targets: Sequence[Target],
    texts: np.ndarray[Any, Any],
    names: dict[str, int],
    settings: Settings,
    tell: Callable[[str], None],
    after: Callable[[Parameters], None] = lambda _: None,
) -> Parameters:
    """The trained parameters: the heads alone first, which costs little, then the adapters too."""
    width, inner = base.shape.width, base.shape.inner
    parameters = initial(width, LAYERS, inner, len(names), settings.seed)
    work = Work(base, texts, names, settings, tell, after)
    frozen = states_of(base, targets, 0, FROZEN)
    fixed = states_of(base, targets, FROZEN, LAYERS, frozen)
    own = {name: value for name, value in parameters.items() if not _of_adapter(name)}
    tell("heads alone")
    plan = Phase(LAYERS, settings.alone, settings.alone, 1.0, 0.0)
    parameters |= work.epochs(own, targets, fixed, plan)
    full = [at for at, target in enumerate(targets) if target.full]
    some, states = [targets[at] for at in full], [frozen[at] for at in full]
    tell("heads and adapters")
    plan = Phase(FROZEN, settings.together, settings.planned, settings.slower, 1.0)
    return work.epochs(parameters, some, states, plan)


def _of_adapter(name: str) -> bool:
    return name.endswith((".down", ".up"))


@dataclass
class Work:
    """What the phases of a training have in common."""

    base: Base
    texts: np.ndarray[Any, Any]
    names: dict[str, int]
    settings: Settings
    tell: Callable[[str], None]
    after: Callable[[Parameters], None]

    def epochs(
        self,
        parameters: Parameters,
        targets: Sequence[Target],
        states: Sequence[Any],
        plan: Phase,
    ) -> Parameters:
        """Train from the states before the first layer of a phase."""
        settings = self.settings
        layers = [short(encoder.layer(self.base, n)) for n in range(plan.first, LAYERS)]
        parameters = {name: jnp.asarray(value) for name, value in parameters.items()}
        rates = {
            name: settings.adapter_rate * plan.adapters
            if _of_adapter(name)
            else settings.rate * plan.heads
            for name in parameters
        }
        moments = {name: (jnp.zeros_like(p), jnp.zeros_like(p)) for name, p in parameters.items()}
        random = np.random.default_rng(settings.seed)
        steps = plan.planned * sum(1 for _ in batches(targets, np.random.default_rng(0)))
        lost_of = partial(
            loss,
            first=plan.first,
            shape=self.base.shape,
            texts=self.texts,
            settings=settings,
        )

        # The slopes are compiled for each length, the step once.
        slopes_of = jax.jit(jax.value_and_grad(lost_of))

        @jax.jit
        def step(parameters: Any, moments: Any, slopes: Any, at: Any, steps: Any) -> Any:
            size = jnp.sqrt(sum((s * s).sum() for s in slopes.values()))
            clip = jnp.minimum(1, 5 / (size + 1e-6))
            rise = at / (_WARM * steps)
            fall = 0.5 * (1 + jnp.cos(jnp.pi * (at / steps - _WARM) / (1 - _WARM)))
            pace = jnp.where(rise < 1, rise, fall)
            new, kept = {}, {}
            for name, value in parameters.items():
                slope = slopes[name] * clip
                one = 0.9 * moments[name][0] + 0.1 * slope
                two = 0.98 * moments[name][1] + 0.02 * slope * slope
                move = one / (1 - 0.9**at) / (jnp.sqrt(two / (1 - 0.98**at)) + 1e-8)
                decay = settings.decay * value if value.ndim > 1 else 0.0
                new[name] = value - pace * rates[name] * (move + decay)
                kept[name] = one, two
            return new, kept

        key = jax.random.PRNGKey(settings.seed)
        at = 0
        for epoch in range(plan.epochs):
            begun, lost = time.process_time(), []
            for length, indices in batches(targets, random):
                given = batch(targets, states, length, indices, self.names)
                key, own = jax.random.split(key)
                at += 1
                one, slopes = slopes_of(parameters, given=given, key=own, layers=layers)
                parameters, moments = step(parameters, moments, slopes, float(at), float(steps))
                lost.append(float(one))
            took = time.process_time() - begun
            self.tell(f"epoch {epoch + 1}: loss {np.mean(lost):.3f}, {took:.0f} s")
            self.after(parameters)
        return parameters
