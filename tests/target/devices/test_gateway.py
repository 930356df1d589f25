"""The example `gateway`: a Tenon VM with a loop and a web page, which a Linux VM fetches."""

import json
import re
import shutil

import pytest
from conftest import ROOT, SUPPORT, assert_well

SYSTEM = ROOT / "examples" / "systems" / "gateway"
LINE = re.compile(r"page: (\d+) bytes, (\d+) releases, (\d+) late")

pytestmark = pytest.mark.long(60, "pool/tenon/http", "pool/tenon/inet", "pool/mortise/vdev-net")

FETCHED = """\
timeout 250
expect tenon-ready
expect releases
send wget -q -O page http://10.0.0.1/; cat page; echo e''nd
expect end
send wget -q -O values http://10.0.0.1/histogram.json; cat values; echo e''nd
expect end
send wget -q -O none http://10.0.0.1/none || echo mis''sing
expect missing
send flood 20000
expect flooded with 20000 datagrams
expect releases
expect releases
send ping -c 3 10.0.0.1 | tail -2; echo e''nd
expect end
"""
"""Input of Linux, which fetches the page every second beside it."""


def fetches(outcome):
    """Bytes of the page, releases and late ones, as Linux states them every second."""
    lines = map(LINE.search, outcome.said("linux"))
    return [tuple(map(int, line.groups())) for line in lines if line]


@pytest.mark.timeout(900)
def test_linux_fetches_the_page_and_a_flood_delays_no_release(tenon, tmp_path):
    folder = tmp_path / "gateway"
    shutil.copytree(SYSTEM, folder)
    shutil.copy(SUPPORT / "flood.c", folder)
    description = folder / "system.toml"
    text = description.read_text()
    description.write_text(text.replace('files = "root"', 'files = "root"\nprograms = ["flood.c"]'))
    (tmp_path / "script").write_text(FETCHED)
    outcome = tenon(
        "run", folder, "--headless", "--input", f"linux={tmp_path / 'script'}", limit=600
    )
    assert_well(outcome)

    seen = fetches(outcome)
    # The flood may delay a client beyond the time that the server gives it.
    sizes = [size for size, _, _ in seen]
    assert len(seen) >= 3 and sizes[0] > 2000 and sizes[-1] > 2000, sizes
    releases = [number for _, number, _ in seen]
    assert releases == sorted(set(releases))

    own = [line for line in outcome.said("linux") if not LINE.search(line)]
    first = own.index("<!doctype html>")
    page = own[first : own.index("end", first)]
    assert page[-1].endswith("</main>") and any("<rect" in line for line in page)
    (tmp_path / "page.html").write_text("\n".join(page))
    values = next(json.loads(line) for line in own if line.startswith("{"))
    assert values["period_us"] == 1000
    assert sum(values["counts"]) == values["releases"] > 0
    assert len(values["begin_us"]) == len(values["counts"])
    assert any("404 Not Found" in line for line in own)
    assert any(line.startswith("3 packets transmitted, 3 packets received") for line in own)

    task = outcome.task
    assert task["released"] == task["completed"] > 1000 and task["duplicates"] == 0
    assert outcome.vm("gateway")["state"] == "running"


@pytest.mark.timeout(600)
def test_no_release_is_late_while_the_page_is_served(tenon):
    outcome = tenon("run", SYSTEM, "--headless", "--deterministic", "--seconds", "2", limit=500)
    assert_well(outcome)
    # Those late before the window of the run are of the boot, which is not deterministic.
    sizes, releases, late = zip(*fetches(outcome), strict=True)
    assert min(sizes) > 2000 and releases[-1] > releases[0] + 500 and len(set(late)) == 1
    task = outcome.task
    assert task["released"] == task["completed"] > 1900
    assert (task["late"], task["duplicates"]) == (0, 0)
