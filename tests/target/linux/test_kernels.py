"""Kernels of Debian's packages, by name: PREEMPT_RT, and the newest of the backports."""

import re

import pytest
from conftest import assert_well, cases
from descriptions import CONTROL, described, linux, motor, section, table

NEWER = "linux-image-cloud-arm64/backports"
RT = "linux-image-rt-arm64"

MODULE = """\
#!/bin/sh
uname -r
echo "algorithms still to be tested: $(grep -c 'selftest.*unknown' /proc/crypto)"
sum=$(sha256sum < /bin/busybox)
[ "$(tenon-detach sha256sum < /bin/busybox)" = "$sum" ] && echo detached program: same sum
# The CPU is returned to Linux after the program has ended.
until grep -q 0-2 /sys/devices/system/cpu/online; do sleep 0.1; done
hyplet-timer --khz 5 --releases 200
echo hello > /dev/tenon/requests
head -n 1 /dev/tenon/replies
tenonctl stats
nproc
dmesg | grep -E 'WARNING|BUG|Oops'
echo kernel over
"""


@pytest.mark.long(60, "linux", "orchestrator/tenonos/linux", "orchestrator/tenonos/setup")
@pytest.mark.timeout(1200)
def test_module_and_programs_work_on_the_kernel_of_the_backports(tenon, tmp_path):
    lends = section("vm.detach", cpus=[3])
    names = (("requests", "linux", "echo"), ("replies", "echo", "linux"))
    text = described(
        "backports",
        table("vm", name="echo", kind="tenon", app="echo", cpus=[2], memory="4M"),
        linux("\n" + lends, cpus=[0, 1, 3], kernel=NEWER, files="root"),
        *(
            table("channel", name=name, slots=16, size=64, **{"from": origin, "to": to})
            for name, origin, to in names
        ),
    )
    (tmp_path / "system.toml").write_text(text)
    options = cases(tmp_path, MODULE, "kernel over")
    outcome = tenon("run", tmp_path, "--headless", "--deterministic", *options, limit=1000)
    assert_well(outcome)
    said = outcome.said("linux")
    release = next(line for line in said if re.match(r"\d+\.\d+\.\d+.*-cloud-arm64", line))
    assert tuple(map(int, release.split(".")[:2])) >= (6, 12)
    assert "algorithms still to be tested: 0" in said
    assert "detached program: same sum" in said
    assert any("200 releases" in line for line in said), said
    assert "hello" in said
    assert "3" in said
    assert not [line for line in said if re.search(r"WARNING|BUG|Oops", line)]


MEASURE = """\
#!/bin/sh
uname -v
cyclictest --mlockall --smp --priority=80 --interval=1000 --distance=0 --loops=200 --quiet
echo measured
"""


@pytest.mark.long(60, "pool/mortise/vgic", "pool/mortise/gicd", "orchestrator/tenonos/setup")
@pytest.mark.timeout(1200)
def test_a_preempt_rt_kernel_measures_itself_beside_a_loop_without_exits(tenon, tmp_path):
    text = described(
        "preempt-rt",
        motor(CONTROL, cpus=[3]),
        linux(cpus=[0, 1], memory="512M", kernel=RT, packages=["rt-tests"], files="root"),
    )
    (tmp_path / "system.toml").write_text(text)
    options = cases(tmp_path, MEASURE, "measured")
    outcome = tenon("run", tmp_path, "--headless", "--deterministic", *options, limit=1000)
    assert_well(outcome)
    said = outcome.said("linux")
    assert any("PREEMPT_RT" in line for line in said), said[:20]
    threads = [line for line in said if re.match(r"T: ?\d", line)]
    assert len(threads) == 2, said
    for thread in threads:
        # The others are stopped with the first one that has all its loops.
        assert int(re.search(r"P:80 I:1000 C: *(\d+) ", thread)[1]) >= 190, thread
    assert outcome.vm("motor")["exits_in_window"] == 0
    assert outcome.task["duplicates"] == 0
