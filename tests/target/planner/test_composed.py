"""Generic applications that the planner uses in place of a customer's."""

import pytest
from conftest import assert_well

from tenonos.plan.compose import compose
from tenonos.plan.pool import Pool


@pytest.fixture(scope="module")
def pool():
    return Pool()


@pytest.mark.long(35, "orchestrator/tenonos/plan", "pool/apps/task-set")
def test_several_tasks_of_one_vm_keep_their_periods(tenon, pool, tmp_path):
    text = "three periodic tasks in one VM: 2 ms, 5 ms and 10 ms, beside Linux"
    compose(text, pool=pool).write(tmp_path)
    outcome = tenon("run", tmp_path, "--deterministic", "--seconds", "0.2")
    assert_well(outcome)
    tasks = {task["task"]: task for task in outcome.result["periodic"]}
    assert {name: task["period_ns"] // 1_000_000 for name, task in tasks.items()} == {
        "task-1": 2,
        "task-2": 5,
        "task-3": 10,
    }
    for task in tasks.values():
        assert task["released"] == task["completed"] > 0
        assert task["late"] == task["duplicates"] == 0
    assert {f"{name} holds its value" for name in tasks} <= {
        line.partition("] ")[2] or line for line in outcome.said("task-set")
    }


@pytest.mark.long(45, "orchestrator/tenonos/plan", "pool/apps/task-set")
def test_tasks_use_what_was_demanded_beside_them(tenon, pool, tmp_path):
    text = (
        "two periodic tasks in one VM, 2 ms and 8 ms, with a mutex, a message queue and a GPIO pin"
    )
    answer = compose(text, pool=pool)
    assert {"sync.mutex", "sync.queue", "driver.gpio"} <= {*answer.images["task-set"].capabilities}
    answer.write(tmp_path)
    outcome = tenon("run", tmp_path, "--deterministic", "--seconds", "0.2")
    assert_well(outcome)
    said = "\n".join(outcome.said("task-set"))
    assert "task-1 holds its value" in said and "task-2 holds its value" in said
    assert "sum of 2 values: 2000" in said


@pytest.mark.long(45, "orchestrator/tenonos/plan", "pool/apps/task-set")
def test_two_vms_with_tasks_exchange_their_values(tenon, pool, tmp_path):
    text = (
        "Two guests, primary and standby, each with a 10 ms loop, exchange messages over a channel."
    )
    compose(text, pool=pool).write(tmp_path)
    outcome = tenon("run", tmp_path, "--deterministic", "--seconds", "0.3")
    assert_well(outcome)
    for vm in ("task-set-1", "task-set-2"):
        assert any("another VM sends its value" in line for line in outcome.said(vm))
    assert all(task["late"] == 0 for task in outcome.result["periodic"])


@pytest.mark.parametrize(
    ("text", "vm", "said"),
    [
        ("GPIO every 5 ms", "beacon", "the lamp blinks"),
        ("a 1 kHz control loop that drives GPIO pins", "thermostat", "holds 60 degrees"),
    ],
)
def test_pins_are_driven(tenon, pool, tmp_path, text, vm, said):
    compose(text, pool=pool).write(tmp_path)
    outcome = tenon("run", tmp_path, "--deterministic", "--seconds", "0.5")
    assert_well(outcome)
    assert any(line.endswith(said) for line in outcome.said(vm))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("Linux with five cores beside a 1 kHz control loop", "5 cores and 0 GiB"),
        ("a 1 kHz control loop beside Linux with 2 GiB", "3 cores and 1 GiB"),
    ],
)
def test_a_machine_larger_than_the_default_one_is_composed(tenon, pool, tmp_path, text, size):
    """Whole GiB that the kernel of the guest has for programs, beside its own."""
    compose(text, pool=pool).write(tmp_path)
    script = tmp_path / "script"
    memory = "$(awk '/MemTotal/ { print int($2 / 1048576) }' /proc/meminfo)"
    said = f"send echo $(nproc) cores and {memory} GiB\nexpect {size}\n"
    script.write_text(f"expect tenon-ready\nexpect #\n{said}")
    options = ("--deterministic", "--seconds", "2", "--input", f"linux={script}")
    outcome = tenon("run", tmp_path, *options)
    assert_well(outcome)
    (task,) = outcome.result["periodic"]
    assert task["released"] == task["completed"] > 0


def test_linux_has_memory_beyond_4_gib(tenon, pool, tmp_path):
    """From the end of RAM, at its start and at its next one."""
    compose("a 1 kHz control loop beside Linux with 128 MiB", pool=pool).write(tmp_path)
    file = tmp_path / "system.toml"
    file.write_text(file.read_text().replace("\n[[vm]]", '\n[machine]\nram = "4G"\n\n[[vm]]', 1))
    script = tmp_path / "script"
    script.write_text(
        "expect tenon-ready\nexpect #\nsend reboot -f\nexpect tenon-ready\nexpect #\n"
        "send grep RAM /proc/iomem\nexpect 138000000-13fffffff : System RAM\n"
    )
    options = ("--deterministic", "--seconds", "2", "--input", f"linux={script}")
    outcome = tenon("run", tmp_path, *options)
    assert_well(outcome)
    assert outcome.vm("linux")["restarts"] == 1


@pytest.mark.long(60, "orchestrator/tenonos/plan", "pool/apps/beat", "pool/mortise/bare")
def test_a_native_task_keeps_its_period_beside_a_vm_and_linux(tenon, pool, tmp_path):
    text = "a native task with a period of 500 us, beside a 1 kHz control loop and Linux"
    compose(text, pool=pool).write(tmp_path)
    outcome = tenon("run", tmp_path, "--deterministic", "--seconds", "0.2")
    assert_well(outcome)
    first, last = outcome.said("native")
    assert first == "waits for 1000 releases, 500000 ns apart"
    assert last.startswith("1000 releases, the latest ")
    (task,) = outcome.result["periodic"]
    assert (task["vm"], task["late"]) == ("motor", 0) and task["released"] == task["completed"] > 0


@pytest.mark.long(30, "orchestrator/tenonos/plan", "pool/mortise/vdev-net")
def test_two_linux_vms_reach_each_other_by_their_addresses(tenon, pool, tmp_path):
    compose("two Linux VMs with a virtual network", pool=pool).write(tmp_path)
    script = tmp_path / "script"
    script.write_text(
        "timeout 250\nexpect tenon-ready\nexpect #\n"
        "send for n in $(seq 60); do ping -c 1 -W 1 10.0.0.2 > /dev/null && break; done\n"
        "expect #\nsend ping -c 3 10.0.0.2 | tail -2\nexpect 3 packets received\n"
    )
    outcome = tenon("run", tmp_path, "--headless", "--input", f"linux-1={script}", limit=400)
    assert_well(outcome)
