"""Retrieval: meaning comes from the pool's texts and from nowhere else."""

import re
import shutil

import pytest

from tenonos import new
from tenonos.paths import ROOT
from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool
from tenonos.plan.retrieval.knowledge import split_keywords


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("networking", "net.ip"),
        ("TCP/IP", "net.ip"),
        ("web pages", "net.http"),
        ("virtual network", "virt.net"),
        ("Linux", "guest.linux"),
        ("linnux", "guest.linux"),
        ("Debian", "guest.linux"),
        ("Linux binary", "abi.linux"),
        ("semaphors", "sync.semaphore"),
        ("mutexes", "sync.mutex"),
        ("floating-point filter", "fp.context"),
        ("message queues", "sync.queue"),
        ("cache colouring", "virt.cache-colouring"),
        ("cache coloring", "virt.cache-colouring"),
        ("preemptive scheduler", "sched.preemptive"),
        ("hypervisor", "virt.partition"),
        ("GPIO pins", "driver.gpio"),
        ("PWM", "dimmer"),
        ("serial port", "driver.serial"),
        ("watchdog", "watchdog"),
        ("interactive shell", "shell"),
        ("event tracing", "trace"),
    ],
)
def test_a_phrase_finds_its_capability(pool, phrase, name):
    hits = pool.retriever.search(re.findall(r"\w+", phrase))
    assert hits, phrase
    assert hits[0].entry.name == name


@pytest.mark.parametrize(
    "phrase",
    ["blorp", "face recognition", "Zephyr", "drone", "wheel speeds", "Raspberry Pi 4", "qq"],
)
def test_nonsense_and_what_the_pool_lacks_finds_nothing(pool, phrase):
    assert pool.retriever.search(phrase.split()) == []


def test_keywords_are_the_last_paragraph_of_a_help_text():
    text = "A bus.\n\nKeywords: CAN bus, field\nbus, no wires."
    assert split_keywords(text) == ("A bus.", ("CAN bus", "field bus", "no wires"))
    assert split_keywords("No more than this.") == ("No more than this.", ())


HELP = (
    "\t  A controller area network: frames go over the CAN bus of vehicles.\n"
    "\t  Wheel speeds and other values of sensors can be read from it.\n"
)
OBJECTIVE = "read wheel speeds from a CAN bus"


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A copy of this tree without its code, to which libraries are added."""
    for part in ("pool", "boards", "examples/apps", "tests/guests", "bench/apps"):
        code = shutil.ignore_patterns("src", "tests", "target", "*.rs", "*.S", "*.ld")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=code)
    shutil.copy(ROOT / "Cargo.toml", tmp_path)
    monkeypatch.setattr(new, "POOL", tmp_path / "pool")
    monkeypatch.setattr(new, "ROOT", tmp_path)
    return tmp_path


def with_help(name, text):
    """`./tenon new library NAME`, and what it is for."""
    folder, _ = new.library(name, new.ROOT)
    kconfig = folder / "Kconfig"
    before, _, _ = kconfig.read_text().partition("\thelp\n")
    kconfig.write_text(before + (f"\thelp\n{text}" if text else ""))
    return kconfig


def libraries(answer):
    return {library for image in answer.images.values() for library in image.libraries}


def test_a_library_dropped_in_is_found_by_its_own_words(tree):
    with_help("canbus", HELP)
    answer = compose(OBJECTIVE, pool=Pool(tree))
    assert not answer.missing
    assert "tenon/canbus" in libraries(answer)
    (item,) = [i for i in answer.plan if i.kind == "capability" and i.stated]
    assert item.source == "CAN bus"


@pytest.mark.parametrize(
    ("text", "objective"),
    [
        ("Controller area network. Sends and receives CAN frames.", OBJECTIVE),
        (
            "A Modbus RTU master over a serial line. Holding registers of a slave are read.",
            "read an energy meter every 50 ms over Modbus",
        ),
        (
            "An I2C master. Registers of chips on the bus are read and written.",
            "sample an accelerometer on the I2C bus at 200 Hz",
        ),
        (
            "MQTT client. Publishes measured values to a broker and subscribes to topics.",
            "subscribe to an MQTT topic beside Linux",
        ),
        (
            "Quadrature encoder: counts position and direction of a shaft from two signals.",
            "measure shaft position with an encoder every 200 microseconds",
        ),
        (
            "EtherCAT master: exchanges process data with drives in a cyclic frame.",
            "an EtherCAT master at 1 kHz next to Linux",
        ),
        (
            "A ring log in flash memory. Entries survive power failures.",
            "log events to flash",
        ),
    ],
)
def test_words_that_no_other_text_has_are_its_names(tree, text, objective):
    assert compose(objective, pool=Pool(tree)).missing
    with_help("xyzzy", f"\t  {text}\n")
    answer = compose(objective, pool=Pool(tree))
    assert not answer.missing
    assert "tenon/xyzzy" in libraries(answer)


@pytest.mark.parametrize("objective", ["a 1 kHz motor loop beside Linux", "hello world"])
def test_whoever_does_not_name_it_does_not_get_it(tree, objective):
    with_help("xyzzy", "\t  An I2C master. Registers of chips on the bus are read and written.\n")
    answer = compose(objective, pool=Pool(tree))
    assert answer.images
    assert "tenon/xyzzy" not in libraries(answer)


def test_the_symbol_does_not_count(tree):
    kconfig = with_help("canbus", HELP)
    kconfig.write_text(kconfig.read_text().replace("LIB_TENON_CANBUS", "LIB_TENON_XYZZY"))
    answer = compose(OBJECTIVE, pool=Pool(tree))
    assert not answer.missing
    assert any("CONFIG_LIB_TENON_XYZZY=y" in text for text in answer.files.values())


def test_nor_does_the_name_of_its_folder(tree):
    with_help("xyzzy", HELP)
    assert "tenon/xyzzy" in libraries(compose(OBJECTIVE, pool=Pool(tree)))


@pytest.mark.parametrize("name", ["canbus", "xyzzy"])
def test_without_its_help_the_objective_is_refused(tree, name):
    with_help(name, "")
    answer = compose(OBJECTIVE, pool=Pool(tree))
    assert not answer.images
    assert "CAN bus" in [m.source for m in answer.missing]


def test_plain_words_name_no_library_of_processes(composed):
    named = {str(item.value) for item in composed("a disk of 48 MiB, mounted by Linux").plan}
    assert not any(name.startswith("tenon/") for name in named)
