"""Quantities in the reader's languages: their values, and the words that state them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenonos.plan.reader.numbers import quantities


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a loop at 2 kHz", [("rate", 500_000)]),
        ("eine Regelung mit 0,5 ms", [("time", 500_000)]),
        ("alle zwei Millisekunden", [("rate", 2_000_000)]),
        ("toutes les 3 ms, 64 Mo", [("time", 3_000_000), ("size", 64 << 20)]),
        ("cada 10 milisegundos", [("rate", 10_000_000)]),
        ("轴500us独占核", [("time", 500_000)]),
        ("每隔5毫秒", [("rate", 5_000_000)]),
        ("２５０マイクロ秒", [("time", 250_000)]),
        ("on cores 0 to 2, the rest on core 3", [("cpu", (0, 1, 2)), ("cpu", (3,))]),
        ("CPUs 1, 2 and 3", [("cpu", (1, 2, 3))]),
        ("cores 0 and 1, 500 us, 8 KiB", [("cpu", (0, 1)), ("time", 500_000), ("size", 8192)]),
        ("1,000 jobs", [("count", 1_000)]),
        ("50 frames per second, 20 fps", [("rate", 20_000_000), ("rate", 50_000_000)]),
        ("a hundred a second", [("rate", 10_000_000)]),
        ("three loops every 5 ms", [("count", 3), ("rate", 5_000_000)]),
        ("priority 12, 4 ms", [("count", 12), ("time", 4_000_000)]),
        ("Linux", []),
    ],
)
def test_numbers_are_found_in_each_language(text, values):
    assert [(found.dimension, found.value) for found in quantities(text)] == values


def whole(text):
    """The one quantity of a text, which is all of it."""
    found = quantities(text)
    assert [text[each.start : each.end] for each in found] == [text]
    return found[0].dimension, found[0].value


SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("einmal pro Sekunde", 1),
        ("zehnmal pro Sekunde", 0.1),
        ("100-mal pro Sekunde", 0.01),
        ("10 mal je Sekunde", 0.1),
        ("10 mal in der Sekunde", 0.1),
        ("zweitausend Hertz", 0.0005),
        ("alle fünfundzwanzig Millisekunden", 0.025),
        ("toutes les heures", 3600),
        ("une fois par minute", 60),
        ("vingt fois par seconde", 0.05),
        ("10 fois à la seconde", 0.1),
        ("una vez por minuto", 60),
        ("cada media hora", 1800),
        ("10 veces al segundo", 0.1),
        ("mil veces por segundo", 0.001),
        ("cien veces por segundo", 0.01),
        ("dos mil veces por segundo", 0.0005),
        ("每秒100次", 0.01),
        ("每秒采样1000次", 0.001),
        ("100次/秒", 0.01),
        ("每分钟一次", 60),
        ("每秒", 1),
        ("每小时", 3600),
        ("毎秒100回", 0.01),
        ("1秒に10回", 0.1),
        ("2回/分", 30),
        ("ten times in a second", 0.1),
        ("each hour", 3600),
    ],
)
def test_a_rate_is_read_in_the_words_of_each_language(text, seconds):
    assert whole(text) == ("rate", round(seconds * SECOND))


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("eine halbe Sekunde", "time", SECOND // 2),
        ("einer Millisekunde", "time", SECOND // 1000),
        ("une seconde", "time", SECOND),
        ("vingt-cinq ms", "time", SECOND // 40),
        ("medio segundo", "time", SECOND // 2),
        ("un milisegundo", "time", SECOND // 1000),
        ("二十毫秒", "time", SECOND // 50),
        ("半秒", "time", SECOND // 2),
        ("1分", "time", 60 * SECOND),
        ("½ s", "time", SECOND // 2),
        ("un gigabyte", "size", 1 << 30),
        ("512 megas", "size", 512 << 20),
        ("64千字节", "size", 64 << 10),
        ("1吉", "size", 1 << 30),
        ("zwölf", "count", 12),
        ("seize", "count", 16),
        ("veinte", "count", 20),
        ("五十", "count", 50),
        ("一千二百", "count", 1200),
        ("1.5万", "count", 15_000),
    ],
)
def test_a_quantity_is_read_in_the_words_of_each_language(text, dimension, value):
    language = "" if text != "seize" else "dans une "
    (found,) = quantities(language + text)
    assert (found.dimension, found.value) == (dimension, value)
    assert (language + text)[found.start : found.end] == text


@pytest.mark.parametrize(
    ("text", "hertz"),
    [
        ("a loop with 1,000 Hz", 1_000),
        ("a loop with 2,500 Hz", 2_500),
        ("a loop with 2.500 Hz", 2.5),
        ("a loop with 1,234.5 Hz", 1_234.5),
        ("1.000 Hz", 1_000),
        ("Regler für die Achse mit 2.500 Hz", 2_500),
        ("Regler für die Achse mit 2,500 Hz", 2.5),
        ("boucle de la pompe à 1.234,5 Hz", 1_234.5),
        ("lazo de la bomba a 1.000 veces por segundo", 1_000),
        ("10³ Hz", 1_000),
    ],
)
def test_the_language_tells_a_decimal_comma_from_thousands(text, hertz):
    assert [found.value for found in quantities(text)] == [round(SECOND / hertz)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("core 3, one after another", [("cpu", (3,)), ("count", 1)]),
        ("core 5, two spare", [("cpu", (5,)), ("count", 2)]),
        ("cores one and two", [("cpu", (1, 2))]),
        ("CPU1 500us", [("cpu", (1,)), ("time", 500_000)]),
        ("core 1 500 us", [("cpu", (1,)), ("time", 500_000)]),
        ("1 core 400 MiB", [("count", 1), ("size", 400 << 20)]),
        ("CPU n.º 3", [("cpu", (3,))]),
        ("cœur n° 3", [("cpu", (3,))]),
        ("Kern Nr. 3", [("cpu", (3,))]),
        ("der dritte Kern", [("cpu", (2,))]),
        ("le premier cœur libre", []),
        ("第三个核", [("cpu", (2,))]),
        ("2号核", [("cpu", (2,))]),
        ("3号CPU", [("cpu", (3,))]),
        ("コア0から2", [("cpu", (0, 1, 2))]),
        ("priority 0", [("count", 0)]),
        ("优先级0", [("count", 0)]),
        ("P7", [("count", 7)]),
        ("RAM512KB", [("size", 512 << 10)]),
        ("RAM1.5GB", [("size", 3 << 29)]),
        ("pH5秒", [("time", 5 * SECOND)]),
        ("STM32F4, RK3568, IEC61850, I2S, MP3s", []),
    ],
)
def test_a_name_before_a_number_is_told_from_a_part_name(text, found):
    assert [(each.dimension, each.value) for each in quantities(text)] == found


@pytest.mark.parametrize(
    "text",
    ["to seize the bus", "the ELF loader", "get a go", "il faut une seconde VM", "un segundo lazo"],
)
def test_a_word_of_another_meaning_is_no_number(text):
    assert quantities(text) == []


@pytest.mark.parametrize("text", ["十分に速い", "每秒200MB", "200 MB each second"])
def test_a_word_within_another_is_no_quantity(text):
    assert all(found.dimension == "size" for found in quantities(text))


@pytest.mark.parametrize(
    ("text", "span"),
    [("每50毫秒", "50毫秒"), ("每20毫秒一次", "20毫秒"), ("toutes les 3 ms", "3 ms")],
)
def test_a_time_with_a_number_is_without_its_determiner(text, span):
    found = quantities(text)[0]
    assert (found.dimension, text[found.start : found.end]) == ("time", span)


@given(st.text(max_size=60))
def test_a_number_stands_at_its_place(text):
    for found in quantities(text):
        assert 0 <= found.start < found.end <= len(text)


def test_a_long_list_takes_time_by_its_length_alone():
    # At each number the whole rest was read: a minute and a half.
    began = time.process_time()
    assert len(list(quantities(",".join(["1"] * 8000)))) == 8000
    assert time.process_time() - began < 20
