"""JSON schema and parser of a model's replies.

A model only refers to words: a demand has a kind and verbatim words, and its number is read from
the words by the grammar of quantities.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

LONGEST = 100_000
"""The most characters of a reply."""
MOST = 100
"""The most claims of one kind: an objective has 2,000 characters."""
SHOWN = 80
"""The most characters of a reply in a message."""

Words = Annotated[str, Field(alias="from", min_length=1)]
ClaimKind = Literal[
    "period", "deadline", "jitter", "wcet", "ram", "image", "cores", "core", "vms",
    "priority", "capability", "forbid", "utility", "board",
]  # fmt: skip


class Part(BaseModel):
    """Common base: no other fields, no conversion of types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Vm(Part):
    """A VM of the objective; its name is only a handle within the reply."""

    name: str
    kind: Literal["tenon", "linux"]
    words: Words


class Claim(Part):
    """A demand, on one VM or on the whole system."""

    kind: ClaimKind
    name: str | None
    """The name of a capability, prohibition, utility or board."""
    vm: str | None
    at_most: bool
    words: Words


class Remark(Part):
    """Words without a match in the pool, or that are no demand, with the reason."""

    words: Words
    why: str


class Reply(Part):
    """A whole reply."""

    vms: list[Vm] = Field(max_length=16)
    demands: list[Claim] = Field(max_length=MOST)
    missing: list[Remark] = Field(max_length=MOST)
    ignored: list[Remark] = Field(max_length=MOST)


class Unusable(Exception):
    """An unusable reply; the message is the complaint in one clause."""


def schema() -> dict[str, Any]:
    """The JSON schema of a reply."""
    return Reply.model_json_schema()


def parse(text: str) -> Reply:
    """The reply in a text, which may have a fence or a sentence around it."""
    if len(text) > LONGEST:
        raise Unusable(f"{len(text)} characters; a reply has {LONGEST} at most")
    start = text.find("{")
    if start < 0:
        raise Unusable(f"there is no JSON object in “{shown(text)}”")
    try:
        value, _end = json.JSONDecoder(object_pairs_hook=_once).raw_decode(text, start)
        return Reply.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the reply"
        raise Unusable(shown(f"{where}: {first['msg']}", 2 * SHOWN)) from None
    except (ValueError, RecursionError) as error:
        raise Unusable(f"it is not JSON: {shown(str(error))}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without duplicate keys, which parsers treat differently."""
    found = dict(pairs)
    if len(found) < len(pairs):
        (key, _count), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise Unusable(f"“{shown(key)}” stands there twice")
    return found


def shown(text: str, most: int = SHOWN) -> str:
    """Text of a model for a message: one line, printable, truncated."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"
