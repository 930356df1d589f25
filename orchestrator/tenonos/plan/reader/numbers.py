"""Quantities of an objective in any of the reader's languages, by the grammar of numbers.

The grammar reads English. Words of other languages are replaced with its words, each at its own
place; a number of a core, which it does not know, is a list of counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tenonos.plan.english.quantities import CORES, listed_at, quantity_at
from tenonos.plan.english.text import NUMBERS, Token, tokens

Dimension = Literal["rate", "time", "size", "count", "cpu"]

_UNITS = {
    "ns": "nanosekunde nanosekunden nanoseconde nanosecondes nanosegundo nanosegundos 纳秒 ナノ秒",
    "us": "mikrosekunde mikrosekunden microseconde microsecondes microsegundo microsegundos 微秒"
    " マイクロ秒",
    "ms": "millisekunde millisekunden milliseconde millisecondes milisegundo milisegundos 毫秒"
    " ミリ秒",
    "s": "sekunde sekunden seconde secondes segundo segundos 秒 秒钟 秒間",
    "minute": "minuten minutos minuto 分钟 分間",
    "hour": "stunde stunden heure heures hora horas 小时 時間",
    "hz": "赫兹 赫 ヘルツ hercios",
    "khz": "千赫兹 千赫 キロヘルツ kilohercios",
    "byte": "octet octets 字节 バイト",
    "kb": "ko kio キロバイト",
    "mb": "mo mio 兆 兆字节 メガ メガバイト",
    "gb": "go gio ギガ ギガバイト",
    "cores": "kern kerne kernen coeur coeurs cœur cœurs núcleo núcleos nucleo nucleos 核 核心"
    " コア 个核 個 つ",
    "times": "mal fois veces 次 回",
    "per": "pro par por each 每 毎",
    "a": "ein eine einen einem einer un une una",
    "every": "alle jede jeden jedes chaque toutes cada 每隔",
}
_NUMBERS = (
    "null zéro cero 零 〇",
    "uno 一",
    "zwei beide beiden deux dos ambos 二 两 二つ 両",
    "drei trois tres 三",
    "vier quatre cuatro 四",
    "fünf cinq cinco 五",
    "sechs six seis 六",
    "sieben sept siete 七",
    "acht huit ocho 八",
    "neun neuf nueve 九",
    "zehn dix diez 十",
)
WORDS = {word: unit for unit, words in _UNITS.items() for word in words.split()}
WORDS |= {word: str(value) for value, words in enumerate(_NUMBERS) for word in words.split()}
WORDS |= {"tausend": "thousand", "mille": "thousand", "mil": "thousand", "千": "thousand"}
"""Words of other languages, and those of the grammar in their place."""
_WIDE = sorted((word for word in WORDS if word[0] > "\u2e7f"), key=len, reverse=True)
_SPLIT = re.compile(f"{'|'.join(_WIDE)}|[\u2e80-\uffef]")
_COMMA = re.compile(
    r"(?<![\d,.])(\d+),(\d+)(?=\s?(?:[nuµμm]?s|[km]?hz|[kmg]i?[bo])\b)", re.IGNORECASE
)
"""A decimal comma, known by its unit."""
_NAMED = CORES | {"#"}
_JOINED = frozenset([",", "and", "&", "/", "und", "et", "y", "e", "、", "と", "和"])
_TO = frozenset(["-", "–", "to", "bis", "à", "a", "~", "到", "から"])


@dataclass(frozen=True, slots=True)
class Found:
    """A quantity, and the characters [start, end) that state it."""

    dimension: Dimension
    value: int | tuple[int, ...]
    start: int
    end: int


def quantities(text: str) -> list[Found]:
    """Every quantity of a text in order; the longest at each place."""
    words = _words(text)
    found = [*_cores(words), *_amounts(words)]
    found.sort(key=lambda each: (each.start, each.start - each.end))
    kept: list[Found] = []
    for each in found:
        if each.dimension == "cpu" or not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def _words(text: str) -> list[Token]:
    """The tokens of a text, those of other languages with the words of the grammar."""
    narrow = "".join(_narrow(character) for character in text)
    narrow = _COMMA.sub(r"\1.\2", narrow)
    plain = _SPLIT.sub(lambda found: " " * len(found.group()), narrow)
    wide = [Token(m.group(), m.start(), m.end()) for m in _SPLIT.finditer(narrow)]
    both = sorted([*tokens(plain), *wide], key=lambda token: token.start)
    return [Token(WORDS.get(t.word, t.text), t.start, t.end) for t in both]


def _narrow(character: str) -> str:
    """A character in its plain width, if that is one character."""
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def _amounts(words: Sequence[Token]) -> Iterator[Found]:
    at = 0
    while at < len(words):
        several = listed_at(words, at)
        one = quantity_at(words, at)
        for each in several or ([one] if one else []):
            start, end = words[each.first].start, words[each.last - 1].end
            yield Found(each.dimension, each.value, start, end)
        last = several[-1].last if several else one.last if one else at + 1
        at = max(last, at + 1)


def _cores(words: Sequence[Token]) -> Iterator[Found]:
    """The numbers of cores: `core 3`, `cores 0 to 2`, `CPUs 1, 2 and 3`."""
    for at, token in enumerate(words):
        index = at + 1
        if token.word not in _NAMED or _number(words, index) is None:
            continue
        values: list[int] = []
        first = index
        while (value := _number(words, index)) is not None:
            values.append(value)
            index += 1
            link = words[index].word if index < len(words) else ""
            after = _number(words, index + 1)
            if link in _TO and after is not None and value < after < value + 64:
                values.extend(range(value + 1, after))
                index += 1
            elif link in _JOINED and after is not None and not _has_unit(words, index + 1):
                index += 1
            else:
                break
        yield Found("cpu", tuple(values), words[first].start, words[index - 1].end)


def _has_unit(words: Sequence[Token], at: int) -> bool:
    """Whether a number is a time, a rate or a size: `core 3, 500 us`."""
    found = quantity_at(words, at)
    return found is not None and found.dimension != "count"


def _number(words: Sequence[Token], at: int) -> int | None:
    if at >= len(words):
        return None
    word = words[at].word
    value = int(word) if word.isdecimal() and len(word) < 4 else NUMBERS.get(word)
    return value if value is not None and value < 1024 else None
