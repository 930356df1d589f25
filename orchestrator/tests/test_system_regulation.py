"""What a system may say of bandwidth regulation, and what Mortise reads of it."""

import pytest
from descriptions import described, load_vm, read, section

from tenonos.build.images import space
from tenonos.errors import InputError
from tenonos.run.plugin import Passage
from tenonos.system import regulation
from tenonos.system.schema import parse
from tenonos.system.write import render
from tools.bench import slowdown

REGULATED = described(
    "regulated",
    section("regulation", event="l2-refill", limit=5000, interval="500us"),
    load_vm("one"),
    load_vm("other"),
    mode="dynamic",
)


def test_it_is_understood_and_written_back():
    said = read(REGULATED).regulation
    assert (said.event, said.limit, said.interval) == ("l2-refill", 5000, 500_000)
    spec, _ = parse(REGULATED, "system.toml")
    assert parse(render(spec), "again")[0] == spec
    told = regulation.record(said)
    assert told == {"interval": 500_000, "event": 0x17, "limit": 5000}


def test_who_asks_for_it_gets_the_library():
    mortise = [space(read(text)).evaluate("mortise") for text in (REGULATED, without(REGULATED))]
    assert [config["LIB_MORTISE_REGULATE"] for config in mortise] == [True, False]


def without(text):
    return text[: text.index("[regulation]")] + text[text.index("[[vm]]") :]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"l2-refill"', '"misses"', 'unknown event "misses"'),
        ("limit = 5000\n", "", "limit of regulation is missing|limit is missing"),
        ("limit = 5000", "limit = 0", "limit"),
        ('"500us"', '"50us"', "interval of the regulation is not from 100us to 100ms"),
        ('"500us"', '"1s"', "interval of the regulation is not from 100us to 100ms"),
        ("\n" + load_vm("other"), "", "and no core is shared"),
    ],
)
def test_what_is_not_allowed_is_named(right, wrong, said):
    assert right in REGULATED
    with pytest.raises(InputError, match=said) as refused:
        read(REGULATED.replace(right, wrong))
    assert refused.value.where.startswith("system.toml:")


def test_a_static_system_has_no_background():
    with pytest.raises(InputError):
        read(REGULATED.replace('mode = "dynamic"\n', ""))


def test_a_miss_costs_what_the_model_assumes():
    sweeps = [Passage(0, 0, 24_000), Passage(0, 0, 24_000, misses=4_096)]
    assert slowdown.taken(sweeps) == 48_000 + 409_600
