"""Building blocks of Mortise's binary records, for construct: bounded lists and choices.

All values are little endian, and a kernel uses a record where it lies: padding is written out, so
that the description shows each offset.
"""

from __future__ import annotations

from typing import Any

from construct import Adapter, Array, Construct, Enum, Int8ul, Int32ul, Padding, Struct


class List(Adapter):  # type: ignore[misc]
    """Up to `most` items, then their count; a name is a list of letters."""

    def __init__(self, item: Construct, most: int, *, pad: int = 0) -> None:
        items = {"items": Array(most, item), "count": Int32ul}
        super().__init__(Struct(**items) if not pad else Struct(**items, pad=Padding(pad)))
        self._most, self._empty = most, item.parse(bytes(item.sizeof()))

    def _encode(self, obj: Any, context: Any, path: str) -> dict[str, Any]:
        values = list(obj)
        assert len(values) <= self._most, f"{len(values)} items, there is room for {self._most}"
        return {"items": values + [self._empty] * (self._most - len(values)), "count": len(values)}

    def _decode(self, obj: Any, context: Any, path: str) -> list[Any]:
        return list(obj["items"][: obj["count"]])


def choice(*words: str, of: Construct = Int8ul) -> Construct:
    """One of several words, as its index among them."""
    return Enum(of, **{word: index for index, word in enumerate(words)})


def plain(value: Any) -> Any:
    """A parsed value of construct as plain dictionaries, lists and strings."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items() if not name.startswith("_")}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, str) else value
