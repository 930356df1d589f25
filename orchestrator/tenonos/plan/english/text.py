"""Words of an objective, each with its place in the text.

Places are code-point offsets into the user's objective, so that every demand can refer to exactly
its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

_TOKEN = re.compile(
    r"(?<!\S)w/o?(?=\s)|0x[\da-f]{1,12}(?!\w)|\d+k\d+(?=\s?Hz)"
    r"|(?:\d+(?:\.\d+)?\s?[x×*·]\s?)?10(?:\^\d\d?|[²³⁴⁵⁶⁷⁸⁹])"
    r"|\d+(?:[,_]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:e[+-]?\d+(?![a-z]))?|\.\d+"
    r"|[^\W\d_][^\W_]*(?:['’][^\W\d_]+)*|\S",
    re.IGNORECASE,
)

_SUPERSCRIPTS = str.maketrans({digit: f"^{value}" for value, digit in enumerate("²³⁴⁵⁶⁷⁸⁹", 2)})

UNREADABLE = re.compile(r"[\ud800-\udfff]")
"""Surrogates for bytes that are not UTF-8."""
ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBERS = {word: value for value, word in enumerate(ONES)}
NUMBERS |= {word: 10 * value for value, word in enumerate(TENS, start=2)}
SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000}
GROUPS = {"pair": 2, "couple": 2, "trio": 3, "quartet": 4}
LARGEST = 1e15
"""Limit of numbers; a larger one is a typing error."""
_AMERICAN = re.compile(r"(\w{3})iz(?=e|ing|ation)")
_BRITISH = re.compile(r"(\w{3})our(?=s?$|ed$|ing$)")
"""Alternative spellings of endings, mapped to one."""
FRACTIONS = {"half": 0.5, "quarter": 0.25, "tenth": 0.1, "hundredth": 0.01, "thousandth": 0.001}
FRACTIONS |= {"½": 0.5, "¼": 0.25}
_TH = """third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
    fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split()
_TIETH = "thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth".split()
ORDINALS = {word: 1 / value for value, word in enumerate(_TH, start=3)}
ORDINALS |= {word: 0.1 / value for value, word in enumerate(_TIETH, start=3)}
"""Fractions that are numbers only before `of`."""
PARTS = {"halves": 0.5, "quarters": 0.25, "tenths": 0.1, "hundredths": 0.01, "thousandths": 0.001}
PARTS |= {"thirds": 1 / 3, "fifths": 0.2, "eighths": 0.125}
SHORT = {"w/": "with", "w/o": "without"}
"""Abbreviations in notes."""
MANY = frozenset("several multiple many few various numerous".split())
"""Words for an unspecified plural."""
STOP = frozenset(
    """a an the of for from to in on at by with and or that this these those which is are be as it
    its their his her our my your own into than then so such any some each every all both other
    else per via over through using used uses use run runs running""".split()
)
"""Stop words."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign of the objective."""

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The token in lower case, with plain apostrophes."""
        return SHORT.get(self.text) or self.text.lower().replace("’", "'")

    @property
    def is_number(self) -> bool:
        """Whether it is written in digits."""
        return self.text[0].isdecimal() or (self.text[0] == "." and len(self.text) > 1)

    @property
    def is_word(self) -> bool:
        """Whether it is made of letters."""
        return self.text[0].isalpha()


def tokens(text: str) -> list[Token]:
    """The tokens of a text in order; `1kHz` and `motor-control` fall into their parts."""
    return [Token(m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text)]


def number_at(words: Sequence[Token], at: int) -> tuple[float, int] | None:
    """The number that starts at a token, and the index after it.

    Digits (`1,000`, `2.5`, `1/2`, `10^3`, `2k5`, `0x40`), words (`four`, `twenty-five`, `a
    thousand`, `one and a half`) and fractions (`half a`, `a quarter of a`, `half a dozen`).
    """
    token = words[at]
    if token.is_number:
        first = at
        while _is_group(words, at):
            at += 1
        value = _value("".join(word.text for word in words[first : at + 1]))
        if value > LARGEST:
            return None
        if word_at(words, at + 1) == "/" and word_at(words, at + 2)[:1].isdecimal():
            divisor = _value(words[at + 2].text)
            return (value / divisor, at + 3) if divisor else None
        return _scaled(words, value, at + 1)
    return _fraction(words, at) or _spelled(words, at)


def _value(text: str) -> float:
    """The value of a number in digits."""
    plain = re.sub(r"[,_\s]", "", text.lower().translate(_SUPERSCRIPTS))
    factor, power, exponent = plain.partition("10^")
    if power:
        return float(f"{factor.rstrip('x×*·') or 1}e{exponent}")
    if plain.startswith("0x"):
        return float(int(plain, 16))
    return float(f"{plain.replace('k', '.')}e3" if "k" in plain else plain)


def _scaled(words: Sequence[Token], value: float, at: int) -> tuple[float, int]:
    """A number with the scale that may follow: `2 thousand`, `half a dozen`."""
    scale = SCALES.get(word_at(words, at))
    return (value * scale, at + 1) if scale else (value, at)


def _is_group(words: Sequence[Token], at: int) -> bool:
    """Whether a number continues after a blank: `100 000`."""
    one, other = word_at(words, at), word_at(words, at + 1)
    digits = one.isdecimal() and other.isdecimal() and len(one) <= 3 == len(other)
    return digits and words[at + 1].start == words[at].end + 1


def _fraction(words: Sequence[Token], at: int) -> tuple[float, int] | None:
    index = at + 1 if word_at(words, at) in ("a", "one") else at
    value = FRACTIONS.get(word_at(words, index))
    if value is None and [word_at(words, index + 1), word_at(words, index + 2)] == ["of", "a"]:
        value = ORDINALS.get(word_at(words, index))
    if value is None:
        return None
    return _scaled(words, value, _of_a(words, index + 1))


def _of_a(words: Sequence[Token], index: int) -> int:
    """The index after the `of a` of a fraction."""
    if word_at(words, index) == "of":
        index += 1
    return index + 1 if word_at(words, index) in ("a", "an") else index


def _spelled(words: Sequence[Token], at: int) -> tuple[float, int] | None:
    pair = at + 1 if word_at(words, at) == "a" else at
    if word_at(words, pair) in GROUPS and word_at(words, pair + 1) == "of":
        return float(GROUPS[word_at(words, pair)]), pair + 2
    total, current, index, seen = 0, 0, at, False
    if word_at(words, at) in ("a", "an") and word_at(words, at + 1) in SCALES:
        current, index, seen = 1, at + 1, True
    while True:
        word = word_at(words, index)
        if word in NUMBERS:
            rest = current % 100
            if rest and (rest < 20 or rest % 10 or NUMBERS[word] > 9):
                break  # "two three": two numbers, not one
            current += NUMBERS[word]
        elif word in SCALES and (seen or _is_hundred(words, index)):
            current = max(current, 1) * SCALES[word]
            if SCALES[word] >= 1_000:
                total, current = total + current, 0
        elif word in ("-", "and") and seen and _continues(words, index, total + current):
            index += 1
            continue
        else:
            break
        seen = True
        index += 1
    if not seen:
        return None
    value = float(total + current)
    if (part := PARTS.get(word_at(words, index))) is not None:
        return value * part, _of_a(words, index + 1)  # "three quarters of a"
    if word_at(words, index) == "and" and word_at(words, index + 1) == "a":
        part = FRACTIONS.get(word_at(words, index + 2))
        if part is not None:
            return value + part, index + 3
    return value, index


def _is_hundred(words: Sequence[Token], at: int) -> bool:
    """Whether a scale is the whole number: `every hundred milliseconds`."""
    return word_at(words, at - 1) in ("every", "each", "per") and word_at(words, at) != "dozen"


def _continues(words: Sequence[Token], at: int, value: int) -> bool:
    """Whether a hyphen or `and` joins two parts of one spelled number."""
    following = NUMBERS.get(word_at(words, at + 1))
    if following is None:
        return False
    if word_at(words, at) == "-":
        return value % 10 == 0 and value % 100 >= 20 and following < 10
    return value >= 100


def compounds(words: Sequence[Token], indices: Sequence[int]) -> list[list[int]]:
    """Single words, with hyphenated ones joined: `anti-lock` is no lock."""
    found: list[list[int]] = []
    for index in indices:
        sign = words[index - 1]
        if found and sign.text == "-" and found[-1][-1] == index - 2:
            joined = words[index - 2].end == sign.start and sign.end == words[index].start
            if joined:
                found[-1].append(index)
                continue
        if words[index].text != "-":
            found.append([index])
    return found


def word_at(words: Sequence[Token], at: int) -> str:
    """The word at an index; empty outside of the text."""
    return words[at].word if 0 <= at < len(words) else ""


def words_of(text: str) -> list[str]:
    """The stemmed words of a text, without stop words."""
    found = (stem(word) for word in re.findall(r"[^\W_]+", text.lower()))
    return [word for word in found if word not in STOP]


@cache
def stem(word: str) -> str:
    """A word without common English endings, to match plural and verb forms."""
    word = word.lower()
    if len(word) <= 3 or not word.isascii():
        return word
    word = _AMERICAN.sub(r"\1is", _BRITISH.sub(r"\1or", word))
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ally", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    for ending in ("ing", "ed", "ers", "er", "ors", "or"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    if word.endswith("isation") and len(word) > 9:
        word = word[:-5]
    elif word.endswith("ion") and len(word) > 9:
        word = word[:-3]  # what a supervisor does is supervision
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeios":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word.endswith("e") else word
