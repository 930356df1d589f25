"""Parameters: each has the value that its rule gives it, and says the rule."""

import re
from dataclasses import replace

import pytest

from tenonos import system
from tenonos.build.images import images
from tenonos.plan.compose import compose
from tenonos.plan.explain import Explainer
from tenonos.plan.infer import STACK, stack, ticks
from tenonos.plan.pool import Pool
from tenonos.plan.report import made_lines
from tenonos.pool.kconfig import PREFIX


def told(answer, folder, pool):
    answer.write(folder)
    return {(image, p.symbol): p for image, p in Explainer(folder, pool).parameters()}


@pytest.mark.parametrize(
    ("periods", "rate"),
    [
        ([1_000_000], 1_000),
        ([10_000_000], 1_000),
        ([500_000], 2_000),
        ([400_000, 1_000_000], 5_000),
        ([666_667], 10_000),
    ],
)
def test_each_period_is_a_whole_number_of_the_slowest_tick(periods, rate):
    assert ticks(periods) == rate


def test_the_tick_follows_the_period_into_the_built_image(composed, tmp_path, pool):
    found = told(composed("a 2 kHz control loop with a periodic tick"), tmp_path, pool)
    rate = found["motor", "TENON_TIME_TICK_HZ"]
    assert (rate.value, rate.rule) == ("2000", "periods-are-whole-ticks")
    image = next(i for i in images(system.load(tmp_path)) if i.name == "motor")
    assert image.config.values[rate.symbol.removeprefix(PREFIX)] == 2000


def test_a_period_shorter_than_any_tick_is_refused_with_both(composed):
    answer = composed("a 20 kHz control loop with a periodic tick")
    assert {(c.kind, c.value) for c in answer.conflict} == {
        ("period", 50_000),
        ("capability", "time.tick"),
    }


def test_a_program_in_c_has_half_of_the_memory_it_was_given_as_its_heap(composed, tmp_path, pool):
    said = "a POSIX program in C with message queues, {}8 MiB of RAM"
    found = told(composed(said.format("at least ")), tmp_path / "given", pool)
    assert found["metronome", "TENON_LIBC_HEAP"].value == str(4 << 20)
    assert composed(said.format("at least ")).images["metronome"].memory == 8 << 20
    found = told(composed("a POSIX program in C with message queues"), tmp_path / "open", pool)
    assert found["metronome", "TENON_LIBC_HEAP"].rule == "default-of-the-library"


@pytest.mark.parametrize(
    ("deepest", "size"), [(0, 4096), (2400, 4096), (2500, 8192), (5734, 8192), (14832, 20480)]
)
def test_a_stack_has_a_quarter_and_room_for_interrupts_to_spare(deepest, size):
    assert stack(deepest) == size


def test_a_program_with_deeper_calls_has_a_larger_stack(tmp_path, pool):
    usual = told(compose("hello world", pool=pool), tmp_path / "usual", pool)
    assert usual["hello", STACK].rule == "default-of-the-library"
    assert int(usual["hello", STACK].value) >= stack(pool.deepest(["APP_HELLO"]))

    deep = Pool()
    cards = dict(deep.estimates.cards)
    part = replace(cards["apps/hello"].parts["tenon"], stack=14_832)
    cards["apps/hello"] = replace(cards["apps/hello"], parts={"tenon": part})
    deep.estimates = replace(deep.estimates, cards=cards)
    found = told(compose("hello world", pool=deep), tmp_path / "deep", deep)
    assert (found["hello", STACK].value, found["hello", STACK].rule) == (
        "20480",
        "deepest-of-the-program",
    )
    image = next(i for i in images(system.load(tmp_path / "deep")) if i.name == "hello")
    assert image.config.values[STACK] == 20480


@pytest.mark.parametrize(("rate", "slots"), [("1 kHz", 16), ("4 kHz", 64)])
def test_a_channel_holds_what_is_written_while_linux_does_not_read(composed, rate, slots):
    answer = composed(f"a low-pass filter at {rate} that sends its state to Linux")
    assert [channel.slots for channel in answer.channels] == [slots]


def test_places_have_reasons_and_what_the_build_counts_is_as_built(composed, tmp_path, pool):
    found = told(composed("a 1 kHz control loop on core 2 beside Linux"), tmp_path, pool)
    assert found["motor", "cpus"].words == "on core 2"
    assert found["motor", "interrupts"].value == "direct"
    assert found["linux", "interrupts"].rule == "linux-has-a-virtual-gic"
    built = next(i for i in images(system.load(tmp_path)) if i.name == "mortise").config.values
    for symbol in ("MORTISE_VMS", "MORTISE_CORES", "MORTISE_PAGE_TABLES"):
        assert found["mortise", symbol].value == str(built[symbol])
        assert found["mortise", symbol].rule != "default-of-the-library"
    assert all(parameter.because for parameter in found.values())


def test_devices_are_shown(composed):
    answer = composed("a lamp dimmed by PWM on a GPIO pin beside Linux")
    assert "device gpio: assigned to dimmer" in made_lines([], [], answer.devices)


def test_an_image_that_cannot_be_so_small_names_what_costs_most(composed):
    answer = composed("a control loop with its image under 4 KiB")
    costs = re.findall(r"(\w+/[\w-]+) ([\d,]+)", answer.reason.partition("most cost ")[2])
    bytes_of = {library: int(size.replace(",", "")) for library, size in costs}
    assert "tenon/thread" in bytes_of, answer.reason
    assert list(bytes_of.values()) == sorted(bytes_of.values(), reverse=True), answer.reason
