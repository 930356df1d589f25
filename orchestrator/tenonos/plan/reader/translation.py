"""Words of quantities in the reader's languages, and the English words in their place.

A word is replaced at its own place: each token keeps its characters in the text.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

from tenonos.plan.english.quantities import CORES, RATE, SIZE, TIME
from tenonos.plan.english.text import NUMBERS, SCALES, Token, tokens, word_at

_UNITS = {
    "nanoseconds": "nanosekunde nanosekunden nanoseconde nanosecondes nanosegundo nanosegundos"
    " 纳秒 ナノ秒",
    "microseconds": "mikrosekunde mikrosekunden microseconde microsecondes microsegundo"
    " microsegundos 微秒 マイクロ秒",
    "milliseconds": "millisekunde millisekunden milliseconde millisecondes milisegundo"
    " milisegundos 毫秒 ミリ秒",
    "seconds": "sekunde sekunden seconde secondes segundo segundos 秒 秒钟 秒間",
    "minutes": "minuten minutos minuto 分 分钟 分間",
    "hours": "stunde stunden heure heures hora horas 小时 時間",
    "hz": "赫兹 赫 ヘルツ hercios",
    "khz": "千赫兹 千赫 キロヘルツ kilohercios",
    "bytes": "octet octets 字节 バイト",
    "kilobytes": "kilobyte ko kio 千字节 キロバイト",
    "megabytes": "megabyte mo mio mega megas 兆 兆字节 メガ メガバイト",
    "gigabytes": "gigabyte go gio giga gigas 吉 吉字节 ギガ ギガバイト",
    "cores": "kern kerne kernen coeur coeurs cœur cœurs núcleo núcleos nucleo nucleos 核 核心"
    " コア 个核 個 つ",
    "times": "mal fois vez veces 次 回 帧",
    "per": "pro je par por each 每 毎",
    "a": "ein eine einen einem einer un une una",
    "every": "alle jede jeden jedes chaque toutes cada 每隔",
    "half": "halb halbe halben halber halbes demi demie medio media 半",
    "to": "から 至",
    "priority": "prio priorität prioritaet priorité priorite prioridad 优先级 優先度",
}
_NUMBERS = {
    0: "null zéro cero 零 〇",
    1: "uno 一",
    2: "zwei beide beiden deux dos ambos 二 两 二つ 両",
    3: "drei trois tres 三",
    4: "vier quatre cuatro 四",
    5: "fünf cinq cinco 五",
    6: "sechs six seis 六",
    7: "sieben sept siete 七",
    8: "acht huit ocho 八",
    9: "neun neuf nueve 九",
    10: "zehn dix diez 十",
    11: "elf onze once",
    12: "zwölf douze doce",
    13: "dreizehn treize trece",
    14: "vierzehn quatorze catorce",
    15: "fünfzehn quinze quince",
    16: "sechzehn seize dieciséis",
    17: "siebzehn diecisiete",
    18: "achtzehn dieciocho",
    19: "neunzehn diecinueve",
    20: "zwanzig vingt veinte",
    30: "dreißig trente treinta",
    40: "vierzig quarante cuarenta",
    50: "fünfzig cinquante cincuenta",
    60: "sechzig soixante sesenta",
    70: "siebzig setenta",
    80: "achtzig ochenta",
    90: "neunzig noventa",
    100: "hundert cent cien",
    200: "doscientos doscientas",
    500: "quinientos quinientas",
    1000: "tausend mille mil 千",
}
_ORDINALS = (
    "first erste ersten erster premier première primer primera",
    "second seconds zweite zweiten zweiter deuxième segunda",
    "third dritte dritten dritter troisième tercer tercera",
    "fourth vierte vierten vierter quatrième cuarto",
    "fifth fünfte fünften cinquième quinto",
    "sixth sechste sechsten sixième sexto",
    "seventh siebte siebten septième séptimo",
    "eighth achte achten huitième octavo",
)
_WHOLE = """十分 半分 部分 自分 分区 分割 分配 分け 分か 分散 分离 分離 分之 分别 分类 分類 分析
    分布 分解 分力"""
"""Words of which no part is a number or a unit."""
_AMBIGUOUS = frozenset("seize once elf quince cent mil mille je media medio mega giga".split())
"""Words that are read in texts of their own languages only."""
_GERMAN = {"ein": 1} | {row.split()[0]: value for value, row in _NUMBERS.items() if 1 < value < 100}
_PARTS = {"hundert": 100, "tausend": 1000}
_WORDED = {value: word for word, value in (NUMBERS | SCALES).items()}


def _number(word: str, value: int) -> str:
    """A number for the grammar: in words, which may go on, but in digits for wide scripts."""
    return _WORDED.get(value, str(value)) if word < WIDE or value == 1000 else str(value)


WIDE = "\u2e80"
"""The first character of the scripts without blanks."""
WORDS = {word: unit for unit, words in _UNITS.items() for word in words.split()}
WORDS |= {w: _number(w, value) for value, words in _NUMBERS.items() for w in words.split()}
WORDS |= {f"{w}{end}": str(n * scale) for w, n in _GERMAN.items() for end, scale in _PARTS.items()}
WORDS |= {
    f"{one}und{ten}": str(value + more)
    for one, value in _GERMAN.items()
    for ten, more in _GERMAN.items()
    if value < 10 < 20 <= more
}
"""Words of other languages, and those of the grammar in their place."""
ORDINALS = {word: value for value, words in enumerate(_ORDINALS) for word in words.split()}

_UNIT_WORDS = TIME.keys() | RATE.keys() | SIZE.keys()
_MEASURES = [w for w in (*_UNIT_WORDS, *WORDS) if len(w) > 1 and WORDS.get(w, w) in _UNIT_WORDS]
_LONG = "|".join(sorted((w for w in _MEASURES if w < WIDE), key=len, reverse=True))
_WIDE_UNITS = "|".join(w for w in WORDS if w >= WIDE and WORDS[w] in _UNIT_WORDS)
_UNIT = rf"(?:(?:{_LONG})(?![^\W\d_])|{_WIDE_UNITS})"
_SPANS = "|".join(w for w in WORDS if w < WIDE and WORDS[w] in TIME) + "|second|minute|hour"

_NUMBERED = "|".join({*CORES, *(w for w in WORDS if WORDS[w] in ("cores", "priority"))})
_COUNTED = "|".join(
    w for w in WORDS if {WORDS[w]} & {"a", *NUMBERS, *SCALES} or WORDS[w].isdecimal()
)
_WIDE_WORDS = sorted((w for w in WORDS if w >= WIDE), key=len, reverse=True)
_FIGURES = "〇一二三四五六七八九"
_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000}
_NUMERAL = (
    r"(?<![\d.])(?=[\d一二两三四五六七八九十])(?:\d{1,9}(?:\.\d{1,9})?)?[〇零一二两三四五六七八九十百千万]*"
    r"(?:[十百万]|千(?![赫字兆バヘ]))[一二两三四五六七八九]?"
)
_SPLIT = re.compile(
    rf"{'|'.join(_WHOLE.split())}|{_NUMERAL}|{'|'.join(_WIDE_WORDS)}|[\u2e80-\uffef]"
    rf"|(?<![a-zà-ÿ\d_])(?:(?:{_NUMBERED})(?=\d)|(?-i:P)(?=\d\d?(?![a-z\d_]))"
    rf"|(?:{_COUNTED})(?=mal\b)|[a-zà-ÿ]{{2,}}(?=\d+(?:\.\d+)?{_UNIT}))",
    re.IGNORECASE,
)
"""Tokens of scripts without blanks, and words directly before another: `RAM512KB`, `zehnmal`."""
_REWRITTEN = (
    (rf"\b(?:à la|a la|in (?:der|einer|a)|al)(?= (?:{_SPANS})\b)", "/"),
    (rf"\b(?:toutes les|todos los|todas las)(?= (?:demi-|medias )?(?:{_SPANS})\b)", "every"),
    (r"\b(?:n(?:\.?\s?o\b|°|\.)|nr|no|num(?:ber|mer|[eé]ro)|número)\.?\s?(?=\d)|№", ""),
    (r"-(?=mal\b)", ""),
)
"""Words that are read as one: `10 fois à la seconde`, `CPU n.º 3`."""
_REWRITES = [(re.compile(pattern, re.IGNORECASE), word) for pattern, word in _REWRITTEN]
_FUNCTION = frozenset(
    """der die das und mit ein eine einen einem einer für auf im zu von den dem des bei ist soll
    jede alle kein ohne le la les et une pour dans avec sur du par est qui au aux ne pas sans chaque
    toutes el los las y con una cada para en por del que se sin de un es su""".split()
)
_ENGLISH = frozenset(
    """the a an of and with for at to is are each its it on in from that no not be by every
    without""".split()
)
_ACCENT = re.compile(r"[ß-öø-ÿœ]")
_DIGITS = re.compile(r"(?<![\d.,])\d+(?:[.,]\d+)+")
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})?(?:(?!\1)[.,]\d+)?")
_MEASURED = re.compile(rf"[\s-]?(?:{_UNIT}|[sh]\b)", re.IGNORECASE)


def translated(text: str) -> list[Token]:
    """The tokens of a text, those of other languages with the words of the grammar."""
    narrow = "".join(_narrow(character) for character in text)
    words = re.findall(r"[^\W\d_]+", narrow.lower())
    told = sum((word in _FUNCTION) - (word in _ENGLISH) for word in words)
    foreign = told + len(_ACCENT.findall(narrow.lower())) > 0
    narrow = _DIGITS.sub(lambda found: _pointed(found, foreign), narrow)
    for pattern, word in _REWRITES:
        narrow = pattern.sub(lambda found, word=word: word.ljust(len(found[0])), narrow)
    split = [Token(m.group(), m.start(), m.end()) for m in _SPLIT.finditer(narrow)]
    plain = _SPLIT.sub(lambda found: " " * len(found[0]), narrow)
    both = sorted([*tokens(plain), *split], key=lambda token: token.start)
    return [Token(_english(both, at, foreign), t.start, t.end) for at, t in enumerate(both)]


def _narrow(character: str) -> str:
    """A character in its plain width, if that is one character; superscripts stay."""
    plain = unicodedata.normalize("NFKC", character)
    raised = unicodedata.decomposition(character).startswith("<super>") and plain.isdecimal()
    return plain if len(plain) == 1 and not raised else character


def _pointed(found: re.Match[str], foreign: bool) -> str:
    """A number with a comma between thousands and a decimal point.

    A comma or point before three digits, which may be either, is by the language of the text; but
    three zeros are thousands.
    """
    text = found[0]
    signs = [sign for sign in text if sign in ",."]
    if grouped := _GROUPED.fullmatch(text):
        thousands = len(signs) > 1 or text.endswith("000") or (grouped[1] == ".") == foreign
        if thousands:
            return text if grouped[1] == "," else text.translate(str.maketrans(".,", ",."))
        return text.replace(",", ".")
    decimal = signs == [","] and _MEASURED.match(found.string, found.end())
    return text.replace(",", ".") if decimal else text


def _english(words: list[Token], at: int, foreign: bool) -> str:
    """The word of the grammar for a token."""
    token, word, after = words[at], words[at].word, word_at(words, at + 1)
    if re.fullmatch(_NUMERAL, word):
        return _numeral(word)
    if word == "p" and at + 1 < len(words) and words[at + 1].start == token.end:
        return "priority"
    before = WORDS.get(word_at(words, at - 1), word_at(words, at - 1))
    foreign = foreign or (after in WORDS and after != "each")
    own = word in _AMBIGUOUS and not (foreign and token.text.islower())
    if own or (before, word) == ("a", "go"):
        return token.text
    english = WORDS.get(word, token.text)
    if word in ("segundo", "seconde") and before in ("a", "el", "la", "le"):
        return english if after in _FUNCTION or not after.isalpha() else "second"
    if word in ("each", "每", "毎") and WORDS.get(after, after) in TIME and before not in SIZE:
        counted = words[at + 2].is_number if at + 2 < len(words) else False
        return "per" if counted else "each"
    if word < WIDE and foreign and english in SCALES and not before[:1].isdecimal():
        return english if before in NUMBERS else str(SCALES[english])
    return english


def _numeral(text: str) -> str:
    """The value of a number in Chinese figures, in digits."""
    total = section = Fraction(0)
    figure: Fraction | None = None
    for part in re.findall(r"[\d.]+|.", text.replace("两", "二").replace("零", "〇")):
        scale = _SCALES.get(part)
        if scale is None:
            figure = Fraction(_FIGURES.index(part) if part in _FIGURES else part)
        elif part == "万":
            total, section, figure = (total + section + (figure or 0)) * scale, Fraction(0), None
        else:
            section, figure = section + (1 if figure is None else figure) * scale, None
    value = total + section + (figure or 0)
    return str(int(value)) if value.denominator == 1 else str(float(value))
