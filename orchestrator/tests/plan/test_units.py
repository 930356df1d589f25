"""Units in which case changes the value, and quantities below or above what can be."""

import pytest

from tenonos.plan.english.quantities import quantity_at
from tenonos.plan.english.text import tokens

SECOND = 1_000_000_000


def value(text):
    words = tokens(text)
    found = quantity_at(words, 0)
    assert found is not None
    assert found.last == len(words)
    return found.value


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1 mHz", 1_000 * SECOND),
        ("1mHz", 1_000 * SECOND),
        ("0.1 mHz", 10_000 * SECOND),
        ("500 millihertz", 2 * SECOND),
        ("5 µHz", 200_000 * SECOND),
        ("1 MHz", 1_000),
        ("1 MHZ", 1_000),
        ("2 Megahertz", 500),
        ("1 GHz", 1),
        ("10 GHz", 1),
        ("1 KHz", 1_000_000),
        ("1 KHZ", 1_000_000),
        ("2 ms", 2_000_000),
        ("2 mS", 2_000_000),
        ("2 Ms", 2_000_000 * SECOND),
        ("every 2 Ms", 2_000_000 * SECOND),
        ("5 per Ms", 200_000 * SECOND),
        ("once every 2 hours", 7_200 * SECOND),
        ("every 2 h", 7_200 * SECOND),
        ("once a day", 86_400 * SECOND),
        ("0.2 ns", 1),
        ("99999999999 times a second", 1),
    ],
)
def test_the_case_of_a_prefix_counts(text, nanoseconds):
    assert value(text) == nanoseconds


@pytest.mark.parametrize("size", ["64 kB", "64 KB", "64 kb", "64 KiB", "64 kib", "64K"])
def test_bytes_are_read_in_every_usual_spelling(size):
    assert value(size) == 64 << 10


@pytest.mark.parametrize(
    ("unit", "mend"),
    [
        ("1 mhz", "write mHz (one thousandth) or MHz (one million)"),
        ("1 MS", "write ms (one thousandth) or Ms (one million)"),
    ],
)
def test_a_period_of_two_values_is_refused(composed, unit, mend):
    answer = composed(f"a control loop with a period of {unit} beside Linux")
    assert [clash.source for clash in answer.conflict] == [unit]
    assert answer.reason.endswith(mend)


@pytest.mark.parametrize("unit", ["512 Mb", "512 Mib", "512 mB", "524288 Kb"])
def test_memory_in_bits_or_thousandths_is_refused(composed, unit):
    answer = composed(f"a 1 kHz control loop, and Linux with {unit} of memory")
    assert [clash.source for clash in answer.conflict] == [unit]
    assert "write" in answer.reason


def test_a_slow_loop_is_composed_with_the_period_it_states(composed, tmp_path):
    composed("a control loop at 1 mHz beside Linux").write(tmp_path)
    assert 'period = "1000s"' in (tmp_path / "system.toml").read_text()


def test_a_period_of_hours_is_not_dropped(composed):
    answer = composed("a control loop every 2 hours beside Linux")
    assert ("period", 7_200 * SECOND) in [(item.kind, item.value) for item in answer.plan]


@pytest.mark.parametrize(
    "words", ["100 MHz", "1 GHz", "every 5 ns", "every 0.2 ns", "every 291 ns", "10 GHz"]
)
def test_a_period_below_the_cost_of_a_release_is_refused(composed, words):
    answer = composed(
        f"a {words} control loop beside Linux" if "Hz" in words else f"a loop {words}"
    )
    assert [clash.source for clash in answer.conflict] == [words]
    assert "the least on qemu-virt is 292ns: a tick of its counter takes 16 ns" in answer.reason


def test_the_least_period_is_composed(composed):
    assert composed("a control loop every 292 ns").images


def test_a_shared_core_has_a_longer_least_period(composed):
    answer = composed("a 1 MHz loop and Linux on the same core")
    assert "the least on qemu-virt is 1013ns" in answer.reason


@pytest.mark.parametrize("bound", ["a deadline of 10 ns", "jitter below 1 ns"])
def test_a_bound_below_the_cost_of_a_release_is_refused(composed, bound):
    answer = composed(f"a 1 kHz loop with {bound} beside Linux")
    assert [clash.kind for clash in answer.conflict] in (["deadline"], ["jitter"])
    assert "the least on qemu-virt is 163ns" in answer.reason


@pytest.mark.parametrize("words", ["a 1e-12 Hz loop", "a loop every 99999999999 s"])
def test_a_period_beyond_the_kernels_nanoseconds_is_refused(composed, words):
    answer = composed(f"{words} beside Linux")
    assert [clash.kind for clash in answer.conflict] == ["period"]
    assert "63 bits" in answer.reason


def test_a_negative_time_is_not_read_as_a_positive_one(composed):
    answer = composed("a loop with a period of -5 ms beside Linux")
    assert [lack.source for lack in answer.missing] == ["5 ms"]
