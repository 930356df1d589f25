"""Retrieval: meaning comes from the pool's texts and from nowhere else."""

import re
import shutil

import pytest

from tenonos.paths import ROOT
from tenonos.plan.compose import compose
from tenonos.plan.knowledge import split_keywords
from tenonos.plan.pool import Pool


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("networking", "net.ip"),
        ("TCP/IP", "net.ip"),
        ("web pages", "net.ip"),
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
    "\thelp\n\t  A CAN bus controller: frames go over the field bus of vehicles.\n"
    "\t  Wheel speeds and other sensor values can be read from it.\n"
)
OBJECTIVE = "read wheel speeds from a CAN bus"


def bus(tmp_path, symbol, text):
    """The pool of this tree with one more library dropped in."""
    for part in ("pool", "boards", "apps"):
        kconfigs = shutil.ignore_patterns("src", "tests", "target", "*.rs", "*.S", "*.ld")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=kconfigs)
    folder = tmp_path / "pool" / "tenon" / symbol.lower()
    folder.mkdir()
    (folder / "Kconfig").write_text(
        f'config LIB_TENON_{symbol}\n\tbool "Field bus"\n\tdepends on IMAGE_TENON\n{text}'
    )
    return Pool(tmp_path)


@pytest.mark.parametrize("symbol", ["CANBUS", "XYZZY"])
def test_a_library_dropped_in_is_found_by_its_own_words(tmp_path, symbol):
    answer = compose(OBJECTIVE, pool=bus(tmp_path, symbol, HELP))
    assert not answer.missing
    libraries = [library for image in answer.images.values() for library in image.libraries]
    assert f"tenon/{symbol.lower()}" in libraries
    (item,) = [i for i in answer.plan if i.kind == "capability" and i.stated]
    assert item.source == "CAN bus"


def test_without_its_help_the_objective_is_refused(tmp_path):
    answer = compose(OBJECTIVE, pool=bus(tmp_path, "XYZZY", ""))
    assert "CAN bus" in [m.source for m in answer.missing]
