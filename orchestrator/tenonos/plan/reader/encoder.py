"""Encoder: states of a text's tokens, by numpy or, when it is trained, by an equal library.

Each layer is attention and a feed-forward network, both with a residual and a normalisation. The
upper layers have low-rank adapters, which are all of the encoder that training changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import matmul
from typing import Any

import numpy as np

from tenonos.plan.reader.base import Base, Shape

Array = Any
"""An array of numpy, or of a library with the same functions."""
Parameters = Mapping[str, Array]
Product = Callable[[Array, Array], Array]

MATRICES = ("q", "k", "v", "ao", "fi", "fo")
"""Query, key, value, output of attention; feed-forward in and out."""
_MASKED = -1e9


def embedded(base: Base, indices: Array) -> Array:
    """The input of the first layer, for the indices of pieces, as [text, token, width]."""
    first_kind = base.vector("emb.type")[: base.shape.width]
    states = base.words(indices) + base.positions(indices.shape[-1]) + first_kind
    return normal(np, states, base.vector("emb.ln.w"), base.vector("emb.ln.b"), base.shape.epsilon)


def layer(base: Base, number: int) -> dict[str, Array]:
    """The parameters of a layer; a matrix is transposed: its input is the first axis."""
    shape = base.shape
    found: dict[str, Array] = {}
    for name in MATRICES:
        width = shape.inner if name == "fo" else shape.width
        found[f"{name}.w"] = np.ascontiguousarray(base.matrix(f"l{number}.{name}.w", width).T)
        found[f"{name}.b"] = base.vector(f"l{number}.{name}.b")
    for name in ("aln", "oln"):
        for part in "wb":
            found[f"{name}.{part}"] = base.vector(f"l{number}.{name}.{part}")
    return found


def adapted(parameters: Parameters, adapters: Parameters, number: int) -> dict[str, Array]:
    """The parameters of a layer with its adapters, two matrices of low rank beside each matrix."""
    head = f"l{number}."
    own = {name[len(head) :]: a for name, a in adapters.items() if name.startswith(head)}
    return {**parameters, **own}


def merged(parameters: Parameters) -> dict[str, Array]:
    """The parameters of a layer with its adapters added to its matrices."""
    found = {name: a for name, a in parameters.items() if not name.endswith((".down", ".up"))}
    for name in MATRICES:
        if f"{name}.down" in parameters:
            extra = parameters[f"{name}.down"] @ parameters[f"{name}.up"]
            found[f"{name}.w"] = found[f"{name}.w"] + extra
    return found


def apply(
    xp: Any,
    shape: Shape,
    parameters: Parameters,
    states: Array,
    mask: Array,
    product: Product = matmul,
) -> Array:
    """One layer; `mask` is 1 for the tokens of a text and 0 for its padding, `product` is that of
    states with a matrix."""

    def linear(name: str, value: Array) -> Array:
        found = product(value, parameters[f"{name}.w"]) + parameters[f"{name}.b"]
        if (down := parameters.get(f"{name}.down")) is None:
            return found
        return found + product(product(value, down), parameters[f"{name}.up"])

    def heads(value: Array) -> Array:
        texts, tokens, width = value.shape
        return value.reshape(texts, tokens, shape.heads, width // shape.heads).transpose(0, 2, 1, 3)

    query, key, value = (heads(linear(name, states)) for name in "qkv")
    scores = query @ key.transpose(0, 1, 3, 2) / float(np.sqrt(shape.width // shape.heads))
    scores = scores + (1 - mask[:, None, None, :]) * _MASKED
    weights = softmax(xp, scores)
    mixed = (weights @ value).transpose(0, 2, 1, 3).reshape(states.shape)
    states = normal(
        xp,
        states + linear("ao", mixed),
        parameters["aln.w"],
        parameters["aln.b"],
        shape.epsilon,
    )
    inner = linear("fo", gelu(xp, linear("fi", states)))
    return normal(xp, states + inner, parameters["oln.w"], parameters["oln.b"], shape.epsilon)


def softmax(xp: Any, scores: Array) -> Array:
    """The probabilities along the last axis."""
    raised = xp.exp(scores - scores.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def gelu(xp: Any, value: Array) -> Array:
    """The activation, by its approximation with a hyperbolic tangent."""
    return 0.5 * value * (1 + xp.tanh(0.7978845608 * (value + 0.044715 * value * value * value)))


def normal(xp: Any, value: Array, weight: Array, bias: Array, epsilon: float) -> Array:
    """The values with mean and variance of the last axis taken away, scaled and shifted."""
    mean = value.mean(-1, keepdims=True)
    centred = value - mean
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred / xp.sqrt(variance + epsilon) * weight + bias
