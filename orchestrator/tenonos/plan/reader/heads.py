"""Heads of the reader: scores of capabilities, pieces, relations and quantities from states.

All of an objective is scored at once. A capability takes part by its help text alone, with a
learned correction for those of the training: one that is new is scored by its text.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from tenonos.plan.reader.encoder import Array, Parameters, gelu, softmax
from tenonos.plan.reader.reading import Polarity, Role, VmKind

CONTRADICTED = "contradicted"
"""Both demanded and forbidden, in one objective."""
POLARITIES = ("neutral", *get_args(Polarity), CONTRADICTED)
KINDS = get_args(VmKind)
UTILITIES = ("footprint", "latency", "balance", "power", "security")
SPANS = ("application", "background", "other-system", "instruction", "board", "conflict")
GROUPS = (
    *(f"vm.{kind}" for kind in KINDS),
    "name",
    "role",
    "task",
    *SPANS,
    *(f"utility.{value}" for value in UTILITIES),
)
"""Kinds of marked pieces; pieces of different kinds may overlap."""
MARKS = ("outside", "begin", "inside")
RELATIONS = ("task-vm", "name-vm", "role-vm", "quantity-task", "quantity-vm")
"""From the first token of one piece to that of another; to the first token of all: to none."""
ROLES = ("none", *get_args(Role))
MOST = 8
"""The largest count of VMs or tasks in one piece."""
WIDTH = 128
HIDDEN = 64
_MASKED = -1e9


def shapes(width: int, labels: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the parameters, for states of `width` and a number of known labels."""
    return {
        "label.w": (width, WIDTH),
        "label.b": (WIDTH,),
        "label.known": (labels, WIDTH),
        "key.w": (width, WIDTH),
        "key.b": (WIDTH,),
        "value.w": (width, WIDTH),
        "value.b": (WIDTH,),
        "whole.w": (width, HIDDEN),
        "context.w": (WIDTH, HIDDEN),
        "match.w": (WIDTH, HIDDEN),
        "prior.w": (WIDTH, HIDDEN),
        "polarity.b": (HIDDEN,),
        "polarity.out.w": (HIDDEN, len(POLARITIES)),
        "polarity.out.b": (len(POLARITIES),),
        "polarity.seen.w": (len(POLARITIES),),
        "evidence.b": (1,),
        "mark.w": (width, 2 * WIDTH),
        "mark.b": (2 * WIDTH,),
        "mark.out.w": (2 * WIDTH, len(GROUPS) * len(MARKS)),
        "mark.out.b": (len(GROUPS) * len(MARKS),),
        "count.w": (2 * WIDTH, 2 * MOST),
        "count.b": (2 * MOST,),
        "from.w": (width, len(RELATIONS) * HIDDEN),
        "to.w": (width, len(RELATIONS) * HIDDEN),
        "from.b": (len(RELATIONS) * HIDDEN,),
        "relation.b": (len(RELATIONS),),
        "quantity.w": (2 * WIDTH, len(ROLES)),
        "quantity.b": (len(ROLES),),
    }


def labels(xp: Any, parameters: Parameters, texts: Array, known: Array) -> Array:
    """The labels of capabilities, from the embeddings of their texts and their corrections."""
    return xp.tanh(texts @ parameters["label.w"] + parameters["label.b"]) + known


def statements(
    xp: Any, parameters: Parameters, states: Array, mask: Array, names: Array
) -> tuple[Array, Array]:
    """Scores of polarities as [text, label, polarity], of evidence as [text, label, token]."""
    keys = states @ parameters["key.w"] + parameters["key.b"]
    values = gelu(xp, states @ parameters["value.w"] + parameters["value.b"])
    near = xp.einsum("btd,cd->bct", keys, names) / float(np.sqrt(WIDTH))
    evidence = near + parameters["evidence.b"]
    hidden = evidence + (1 - mask[:, None, :]) * _MASKED
    context = xp.einsum("bct,btd->bcd", softmax(xp, hidden), values)
    mixed = (
        context @ parameters["context.w"]
        + (context * names[None]) @ parameters["match.w"]
        + (names @ parameters["prior.w"])[None]
        + (_mean(states, mask) @ parameters["whole.w"])[:, None, :]
        + parameters["polarity.b"]
    )
    seen = hidden.max(-1)[..., None] * parameters["polarity.seen.w"]
    scores = gelu(xp, mixed) @ parameters["polarity.out.w"] + parameters["polarity.out.b"] + seen
    return scores, evidence


def marks(xp: Any, parameters: Parameters, states: Array) -> tuple[Array, Array, Array]:
    """Features of tokens; scores of marks as [text, token, group, mark], and of counts as [text,
    token, 2, count], of VMs and of tasks."""
    features = gelu(xp, states @ parameters["mark.w"] + parameters["mark.b"])
    scores = features @ parameters["mark.out.w"] + parameters["mark.out.b"]
    counts = features @ parameters["count.w"] + parameters["count.b"]
    texts, tokens, _ = states.shape
    return (
        features,
        scores.reshape(texts, tokens, len(GROUPS), len(MARKS)),
        counts.reshape(texts, tokens, 2, MOST),
    )


def relations(parameters: Parameters, states: Array) -> Array:
    """Scores of relations, as [text, relation, from token, to token]."""
    texts, tokens, _ = states.shape

    def side(value: Array) -> Array:
        return value.reshape(texts, tokens, len(RELATIONS), HIDDEN).transpose(0, 2, 1, 3)

    ends = side(states @ parameters["from.w"] + parameters["from.b"])
    others = side(states @ parameters["to.w"]).transpose(0, 1, 3, 2)
    scores = ends @ others / float(np.sqrt(HIDDEN))
    return scores + parameters["relation.b"][None, :, None, None]


def roles(parameters: Parameters, features: Array, pieces: Array) -> Array:
    """Scores of roles as [text, quantity, role]; `pieces` has the weights of tokens in each."""
    return (pieces @ features) @ parameters["quantity.w"] + parameters["quantity.b"]


def _mean(states: Array, mask: Array) -> Array:
    return (states * mask[..., None]).sum(1) / mask.sum(1)[:, None]
