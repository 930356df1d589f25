"""The grammar of quantities: rates, times, sizes and counts in English.

Exact arithmetic throughout: a rate becomes a period in whole nanoseconds, a size
becomes whole bytes. Sizes are binary (64 MB is 64 MiB), as memory is sold and mapped.

The case of a unit is read where it changes the value: mHz and MHz, ms and Ms. A unit of
ambiguous case (`mhz`, `MS`, `Mb`) gets its likely value, and `doubt` refuses the demand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeVar

from tenonos.plan.english.text import Token, number_at

Dimension = Literal["rate", "time", "size", "count"]

_TIME = {
    1: "ns nsec nanosecond nanoseconds",
    1_000: "us µs μs usec usecs microsecond microseconds micros",
    1_000_000: "ms msec msecs millisecond milliseconds millis",
    1_000_000_000: "s sec secs second seconds",
    60_000_000_000: "min minute minutes",
    3_600_000_000_000: "h hr hrs hour hours",
    86_400_000_000_000: "day days",
}
_RATE = {
    Fraction(1, 1_000_000): "µhz μhz uhz microhertz",
    Fraction(1, 1_000): "millihertz",
    Fraction(1): "hz hertz fps",
    Fraction(1_000): "khz kilohertz",
    Fraction(1_000_000): "mhz megahertz",
    Fraction(1_000_000_000): "ghz gigahertz",
}
_SIZE = {
    1: "b byte bytes",
    1 << 10: "k kb kib kbyte kbytes kilobyte kilobytes kibibyte kibibytes",
    1 << 20: "m mb mib mbyte mbytes megabyte megabytes mebibyte mebibytes meg megs",
    1 << 30: "g gb gib gbyte gbytes gigabyte gigabytes gibibyte gibibytes gig gigs",
    1 << 40: "tb tib terabyte terabytes tebibyte tebibytes",
}


Scale = TypeVar("Scale", int, Fraction)


def _table(rows: dict[Scale, str]) -> dict[str, Scale]:
    return {name: scale for scale, names in rows.items() for name in names.split()}


TIME, RATE, SIZE = _table(_TIME), _table(_RATE), _table(_SIZE)
_MEGA_PER_MILLI = 10**9
CORES = frozenset(
    ["core", "cores", "cpu", "cpus", "vcpu", "vcpus", "pcpu", "pcpus", "processor", "processors"]
)
MULTICORE = {"single": 1, "dual": 2, "quad": 4, "quadruple": 4, "hexa": 6, "octa": 8, "octo": 8}
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_REPEATED = frozenset(
    "times x cycles iterations samples updates activations rounds runs passes executions".split()
)
"""Nouns for events per unit of time."""
_EACH = frozenset(("per", "a", "an", "each", "every", "/"))
_A_UNIT = frozenset(("per", "a", "an", "/"))


def _time(words: Sequence[Token], at: int) -> int | None:
    """Nanoseconds of the unit of time at a token; `Ms` is 10⁹ times `ms`."""
    scale = TIME.get(_word(words, at))
    if scale is None or words[at].word not in ("ms", "msec", "msecs"):
        return scale
    text = words[at].text
    return scale * _MEGA_PER_MILLI if text[0] == "M" and not text.isupper() else scale


def _rate(words: Sequence[Token], at: int) -> Fraction | None:
    """Hertz of the unit of a rate at a token; `MHz` is 10⁹ times `mHz`."""
    scale = RATE.get(_word(words, at))
    if scale is None or words[at].word != "mhz":
        return scale
    text = words[at].text
    return scale / _MEGA_PER_MILLI if text[0] == "m" and not text.islower() else scale


_DOUBTS = (
    (re.compile(r"mhz"), "mHz (one thousandth) or MHz (one million)"),
    (re.compile(r"MS(?:ECS?)?"), "ms (one thousandth) or Ms (one million)"),
    (re.compile(r"[KMGT]i?b"), "B for bytes; b is for bits"),
    (re.compile(r"mB"), "MB for 2^20 bytes; mB is a thousandth of one"),
)


def doubt(words: Sequence[Token]) -> str | None:
    """The error of the first unit of ambiguous case, in the words of a demand."""
    for unit in words:
        found = next((mend for form, mend in _DOUBTS if form.fullmatch(unit.text)), None)
        if found:
            return f"the unit {unit.text} may mean two values: write {found}"
    return None


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its dimension, over a range of tokens."""

    dimension: Dimension
    value: int
    """Its value: nanoseconds of one period (`rate`), nanoseconds, bytes or a count."""
    first: int
    last: int
    """Its tokens [first, last)."""


def quantity_at(words: Sequence[Token], at: int) -> Quantity | None:
    """The longest quantity that starts at a token."""
    return (
        _every(words, at)
        or _multicore(words, at)
        or _number(words, at)
        or _times(words, at, 1, at, at)
    )


def listed_at(words: Sequence[Token], at: int) -> list[Quantity]:
    """Quantities with a common unit: `1, 2 and 4 kHz`. Only the last includes the unit."""
    numbers: list[tuple[int, int]] = []
    index = at
    while index < len(words) and (number := number_at(words, index)):
        after = number[1]
        if _word(words, after) not in (",", "and"):
            break
        numbers.append((index, after))
        index = after + 1
        if _word(words, index) == "and":
            index += 1
    last = quantity_at(words, index) if numbers and index < len(words) else None
    number = number_at(words, index) if last else None
    if last is None or number is None or last.dimension == "count":
        return []
    unit = list(words[number[1] : last.last])
    found = []
    for first, after in numbers:
        alike = quantity_at([*words[first:after], *unit], 0)
        if alike is None or alike.dimension != last.dimension:
            return []
        found.append(Quantity(alike.dimension, alike.value, first, after))
    return [*found, last]


def _every(words: Sequence[Token], at: int) -> Quantity | None:
    """`every 2 ms`, `each millisecond`, `every half second`, `every other millisecond`."""
    if words[at].word not in ("every", "each", "per"):
        return None
    index, factor = at + 1, Fraction(1)
    if _word(words, index) in ("other", "second") and _word(words, index + 1) in TIME:
        factor, index = Fraction(2), index + 1
    elif index < len(words) and (number := number_at(words, index)):
        factor, index = Fraction(str(number[0])), number[1]
    index = _skip_hyphen(words, index)
    scale = _time(words, index)
    if scale is None or words[at].word == "per":
        return None
    return _whole("rate", factor * scale, at, index + 1)


def _multicore(words: Sequence[Token], at: int) -> Quantity | None:
    """`quad-core`, `single core`."""
    count = MULTICORE.get(words[at].word)
    index = _skip_hyphen(words, at + 1)
    if count is None or _word(words, index) not in CORES:
        return None
    return Quantity("count", count, at, index + 1)


def _number(words: Sequence[Token], at: int) -> Quantity | None:
    number = number_at(words, at)
    if number is None:
        if words[at].word in ("a", "an", "one"):
            return _times(words, at, 1, at, at)
        return None
    value, after = Fraction(str(number[0])), number[1]
    times = _times(words, at, value, after, at)
    if times:
        return times
    index = _skip_hyphen(words, after)
    unit = _word(words, index)
    if unit == "k" and _word(words, index + 1) == "hz":
        return _period(value * 1_000, at, index + 2)
    if hertz := _rate(words, index):
        return _period(value * hertz, at, index + 1)
    if (scale := _time(words, index)) and not (unit in ("s", "min", "h") and index != after):
        return _whole("time", value * scale, at, index + 1)
    if unit in SIZE and _is_size(words, index):
        return _whole("size", value * SIZE[unit], at, index + 1)
    if value.denominator == 1 and value > 0:
        return Quantity("count", int(value), at, after)
    return None


def _is_size(words: Sequence[Token], index: int) -> bool:
    """Whether a unit is valid: a lone `b` or `m` after a blank is a word."""
    unit = words[index]
    return len(unit.word) > 1 or unit.start == words[index - 1].end


def _times(
    words: Sequence[Token], at: int, value: Fraction | int, after: int, first: int
) -> Quantity | None:
    """`1000 times a second`, `twice per millisecond`, `once every 2 ms`, `10 per second`, `50
    frames a second`."""
    word = _word(words, after)
    if word in _TIMES and after == at:
        value, index = Fraction(_TIMES[word]), after + 1
    elif word in _REPEATED:
        index = after + 1
    elif after > at and word in _A_UNIT and _word(words, after + 1) in TIME:
        index = after
    elif after > at and _is_event(words, after):
        index = after + 1
    else:
        return None
    if _word(words, index) not in _EACH | {"in", "within"}:
        return None
    index += 1
    if index < len(words) and (span := number_at(words, index)):
        unit = _skip_hyphen(words, span[1])
        if (scale := _time(words, unit)) and value:
            return _whole("rate", Fraction(str(span[0])) * scale / value, first, unit + 1)
    scale = _time(words, index)
    if scale is None or not value:
        return None
    return _whole("rate", Fraction(scale) / value, first, index + 1)


def _is_event(words: Sequence[Token], at: int) -> bool:
    """Whether a noun that is no unit stands before a unit of time: `frames per second`."""
    word = _word(words, at)
    unit = word in TIME or word in SIZE or word in RATE
    each = _word(words, at + 1) in _A_UNIT
    return word.isalpha() and not unit and each and _word(words, at + 2) in TIME


def _period(hertz: Fraction, first: int, last: int) -> Quantity | None:
    return _whole("rate", Fraction(1_000_000_000) / hertz, first, last) if hertz > 0 else None


def _whole(dimension: Dimension, value: Fraction, first: int, last: int) -> Quantity | None:
    """A quantity in whole units, of which less than one counts as one."""
    return Quantity(dimension, max(round(value), 1), first, last) if value > 0 else None


def _skip_hyphen(words: Sequence[Token], at: int) -> int:
    return at + 1 if _word(words, at) in ("-", "‑", "–") else at


def _word(words: Sequence[Token], at: int) -> str:
    return words[at].word if 0 <= at < len(words) else ""


def signed(words: Sequence[Token], first: int) -> bool:
    """Whether a minus precedes a number: negative quantities are not supported."""
    if not first or words[first - 1].word not in ("-", "−"):
        return False
    sign = words[first - 1]
    apart = first < 2 or words[first - 2].end < sign.start
    return apart and sign.end == words[first].start
