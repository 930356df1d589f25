"""Quantities and words: what a number in an objective is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenonos.plan.english.quantities import quantity_at
from tenonos.plan.english.text import number_at, stem, tokens


def only(text):
    """The one quantity of a text, as (dimension, value, verbatim words)."""
    words = tokens(text)
    for index in range(len(words)):
        if found := quantity_at(words, index):
            span = text[words[found.first].start : words[found.last - 1].end]
            return found.dimension, found.value, span
    return None


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1 kHz", 1_000_000),
        ("1kHz", 1_000_000),
        ("2-kHz", 500_000),
        ("2.5 kHz", 400_000),
        ("1,000 Hz", 1_000_000),
        ("1e3 Hz", 1_000_000),
        ("20 k Hz", 50_000),
        ("a hundred hertz", 10_000_000),
        ("one thousand two hundred hertz", 833_333),
        ("twenty-five Hz", 40_000_000),
        ("every 2 ms", 2_000_000),
        ("every 250us", 250_000),
        ("each millisecond", 1_000_000),
        ("every other millisecond", 2_000_000),
        ("every half millisecond", 500_000),
        ("1000 times a second", 1_000_000),
        ("a thousand times per second", 1_000_000),
        ("1 000 times a second", 1_000_000),
        ("20 times in 10 milliseconds", 500_000),
        ("two dozen times a second", 41_666_667),
        ("every hundredth of a second", 10_000_000),
        ("two hundred and fifty times a second", 4_000_000),
        ("twice a second", 500_000_000),
        ("once per millisecond", 1_000_000),
        ("once every 2 ms", 2_000_000),
        ("10 per second", 100_000_000),
        ("2k5 Hz", 400_000),
        ("10^3 Hz", 1_000_000),
        ("2 x 10^3 Hz", 500_000),
        ("48 ksps", 20_833),
        ("2 kSa/s", 500_000),
        ("100k samples/s", 10_000),
        ("every 1 min 30 s", 90_000_000_000),
    ],
)
def test_a_rate_is_a_period_in_nanoseconds(text, nanoseconds):
    assert only(text) == ("rate", nanoseconds, text)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("500 µs", 500_000),
        ("500 μs", 500_000),
        ("0.5 ms", 500_000),
        ("1/2 ms", 500_000),
        ("half a millisecond", 500_000),
        ("one and a half ms", 1_500_000),
        ("five hundred microseconds", 500_000),
        ("800ns", 800),
        ("1 min 30 s", 90_000_000_000),
    ],
)
def test_a_time_is_nanoseconds(text, nanoseconds):
    assert only(text) == ("time", nanoseconds, text)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64 MiB", 64 << 20),
        ("64MB", 64 << 20),
        ("512M", 512 << 20),
        ("32 KiB", 32 << 10),
        ("half a gigabyte", 512 << 20),
        ("a quarter of a gigabyte", 256 << 20),
        ("two gigabytes", 2 << 30),
        ("0x10000 bytes", 64 << 10),
    ],
)
def test_a_size_is_bytes_and_binary(text, size):
    assert only(text) == ("size", size, text)


@pytest.mark.parametrize(
    ("text", "count"),
    [("four cores", 4), ("quad-core", 4), ("two 1 kHz loops", 2), ("3 m", 3), ("half a dozen", 6)],
)
def test_a_count_is_a_count(text, count):
    found = only(text)
    assert found is not None
    assert found[:2] == ("count", count)


def test_only_a_time_of_a_smaller_unit_belongs_to_a_time():
    assert only("5 min 2 min") == ("time", 300_000_000_000, "5 min")
    assert only("1 min " * 3_000) == ("time", 60_000_000_000, "1 min")


def test_nothing_comes_of_words_without_a_number():
    assert only("a control loop beside Linux") is None
    assert only("a second loop") is None
    assert only("zero cores") is None


@given(st.integers(1, 999_999))
def test_a_spelled_number_is_read_back(number):
    text = spelled(number)
    words = tokens(text)
    assert number_at(words, 0) == (number, len(words)), text


def spelled(number):
    ones = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen"
    ).split()
    tens = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
    if number < 20:
        return ones[number]
    if number < 100:
        rest = f"-{ones[number % 10]}" if number % 10 else ""
        return tens[number // 10] + rest
    if number < 1000:
        rest = f" and {spelled(number % 100)}" if number % 100 else ""
        return f"{ones[number // 100]} hundred{rest}"
    rest = f" {spelled(number % 1000)}" if number % 1000 else ""
    return f"{spelled(number // 1000)} thousand{rest}"


@given(st.integers(1, 1_000_000))
def test_a_frequency_in_hertz_is_its_period_rounded(hertz):
    assert only(f"{hertz} Hz") == ("rate", round(10**9 / hertz), f"{hertz} Hz")


@given(st.text(max_size=60))
def test_tokens_cover_every_visible_character_and_point_at_themselves(text):
    words = tokens(text)
    assert all(text[w.start : w.end] == w.text for w in words)
    covered = {i for w in words for i in range(w.start, w.end)}
    assert all(c.isspace() for i, c in enumerate(text) if i not in covered)


@given(st.text(max_size=40))
def test_no_text_breaks_the_grammar_of_quantities(text):
    words = tokens(text)
    for index in range(len(words)):
        found = quantity_at(words, index)
        assert found is None or (found.value > 0 and index <= found.first < found.last)


def test_a_stem_joins_the_forms_of_a_word():
    assert stem("loops") == stem("loop")
    assert stem("controlling") == stem("controlled") == stem("controller") == stem("controls")
    assert stem("capacities") == stem("capacity")
    assert stem("bus") == "bus"
