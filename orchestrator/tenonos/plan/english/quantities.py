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

from tenonos.plan.english.text import Token, number_at, word_at

Dimension = Literal["rate", "time", "size", "count"]

_TIME = {
    1: "ns nsec nanosecond nanoseconds",
    1_000: "us µs μs usec usecs microsecond microseconds micros",
    1_000_000: "ms msec msecs millisecond milliseconds millis",
    1_000_000_000: "s sec secs second seconds",
    60_000_000_000: "min minute minutes",
    3_600_000_000_000: "h hr hrs hour hours",
    86_400_000_000_000: "day days",
    10**15: "Ms Msec Msecs",
}
_RATE = {
    Fraction(1, 1_000_000): "µhz μhz uhz microhertz",
    Fraction(1, 1_000): "millihertz mHz mHZ",
    Fraction(1): "hz hertz fps",
    Fraction(1_000): "khz kilohertz ksps",
    Fraction(1_000_000): "mhz megahertz msps",
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
LONGEST = max(TIME.values())
CORES = frozenset(
    ["core", "cores", "cpu", "cpus", "vcpu", "vcpus", "pcpu", "pcpus", "processor", "processors"]
)
MULTICORE = {"single": 1, "dual": 2, "quad": 4, "quadruple": 4, "hexa": 6, "octa": 8, "octo": 8}
_TIMES = {"once": 1, "twice": 2, "thrice": 3}
_REPEATED = "times x cycles iterations samples updates activations rounds runs passes executions sa"
_EVENTS = _TIMES | dict.fromkeys(_REPEATED.split(), 1) | {"ksa": 1_000, "ks": 1_000, "msa": 10**6}
"""Words for events per unit of time, each with its number."""
_EACH = frozenset("per a an each every / in within".split())
_A_UNIT = frozenset(("per", "a", "an", "/"))
_NAMES = TIME.keys() | RATE.keys() | SIZE.keys()
_PLURALS = {name for name in ("times", *_NAMES) if len(name) > 3 and name.endswith("s")}
"""Units that follow an article only in place of words of another language."""


def _unit(table: dict[str, Scale], words: Sequence[Token], at: int) -> Scale | None:
    """The scale of the unit at a token, as written or in lower case: `Ms` is 10⁹ times `ms`."""
    return table.get(words[at].text) or table.get(words[at].word) if at < len(words) else None


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
        or _frequency(words, at, None, at)
    )


MOST = 64
"""Numbers of a list with a common unit, at most: longer ones are no quantities."""


def listed_at(words: Sequence[Token], at: int) -> list[Quantity]:
    """Quantities with a common unit: `1, 2 and 4 kHz`. Only the last includes the unit."""
    numbers: list[tuple[int, int]] = []
    index = at
    while index < len(words) and len(numbers) < MOST and (number := number_at(words, index)):
        after = number[1]
        if word_at(words, after) not in (",", "and"):
            break
        numbers.append((index, after))
        index = after + 1
        if word_at(words, index) == "and":
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


def span_at(words: Sequence[Token], at: int, longest: int = LONGEST) -> tuple[Fraction, int] | None:
    """Nanoseconds, and the index after them: `2 ms`, `1 min 30 s`, `half second`, `second`.

    The unit is at most `longest`, in nanoseconds.
    """
    number = number_at(words, at) if at < len(words) else None
    value, index = number or (1, at)
    index = _skip_hyphen(words, index)
    scale = _unit(TIME, words, index)
    if scale is None or scale > longest:
        return None
    parts = number and scale >= TIME["minute"] and word_at(words, index + 1)[:1].isdecimal()
    rest = span_at(words, index + 1, scale - 1) if parts else None
    if rest is None or rest[0] >= scale:
        rest = Fraction(0), index + 1
    return Fraction(str(value)) * scale + rest[0], rest[1]


def _every(words: Sequence[Token], at: int) -> Quantity | None:
    """`every 2 ms`, `each millisecond`, `every half second`, `every other millisecond`."""
    if words[at].word not in ("every", "each"):
        return None
    other = word_at(words, at + 1) in ("other", "second") and word_at(words, at + 2) in TIME
    span = span_at(words, at + 1 + other)
    return _whole("rate", span[0] * (1 + other), at, span[1]) if span else None


def _multicore(words: Sequence[Token], at: int) -> Quantity | None:
    """`quad-core`, `single core`."""
    count = MULTICORE.get(words[at].word)
    index = _skip_hyphen(words, at + 1)
    if count is None or word_at(words, index) not in CORES:
        return None
    return Quantity("count", count, at, index + 1)


def _number(words: Sequence[Token], at: int) -> Quantity | None:
    one = words[at].word == "a" and word_at(words, at + 1) in _PLURALS
    number = (1, at + 1) if one else number_at(words, at)
    if number is None:
        return None
    value, after = Fraction(str(number[0])), number[1]
    index = _skip_hyphen(words, after)
    unit = word_at(words, index)
    rate = _frequency(words, at, value, after)
    if rate is None and unit == "k" and word_at(words, index + 1) not in _A_UNIT:
        rate = _frequency(words, at, value * 1_000, index + 1)
    if rate:
        return rate
    if (span := span_at(words, at + one)) and not (unit in ("s", "min", "h") and index != after):
        return _whole("time", span[0], at, span[1])
    if unit in SIZE and _is_size(words, index):
        return _whole("size", value * SIZE[unit], at, index + 1)
    if value.denominator == 1 and value > 0 and not one:
        return Quantity("count", int(value), at, after)
    return None


def _is_size(words: Sequence[Token], index: int) -> bool:
    """Whether a unit is valid: a lone `b` or `m` after a blank is a word."""
    unit = words[index]
    return len(unit.word) > 1 or unit.start == words[index - 1].end


def _frequency(
    words: Sequence[Token], first: int, value: Fraction | None, at: int
) -> Quantity | None:
    """`1 kHz`, `1000 times a second`, `twice per millisecond`, `once every 2 ms`, `10 per second`,
    `50 frames a second`; `value` is the number before a token, if any."""
    index = _skip_hyphen(words, at)
    if value and (hertz := _unit(RATE, words, index)):
        return _whole("rate", Fraction(1_000_000_000) / (value * hertz), first, index + 1)
    word, index = word_at(words, at), at + 1
    if word in _EVENTS and not (word in _TIMES and value is not None):
        value = (1 if value is None else value) * _EVENTS[word]
    elif value is not None and word in _A_UNIT and word_at(words, index) in TIME:
        index = at
    else:
        per = word_at(words, index) in _A_UNIT and word_at(words, index + 1) in TIME
        if value is None or word in _NAMES or not per or not word.isalpha():
            return None
    if word_at(words, index) not in _EACH:
        return None
    span = span_at(words, index + 1)
    return _whole("rate", span[0] / value, first, span[1]) if span and value else None


def _whole(dimension: Dimension, value: Fraction, first: int, last: int) -> Quantity | None:
    """A quantity in whole units, of which less than one counts as one."""
    return Quantity(dimension, max(round(value), 1), first, last) if value > 0 else None


def _skip_hyphen(words: Sequence[Token], at: int) -> int:
    return at + 1 if word_at(words, at) in ("-", "‑", "–") else at


def signed(words: Sequence[Token], first: int) -> bool:
    """Whether a minus precedes a number: negative quantities are not supported."""
    if not first or words[first - 1].word not in ("-", "−"):
        return False
    sign = words[first - 1]
    apart = first < 2 or words[first - 2].end < sign.start
    return apart and sign.end == words[first].start
