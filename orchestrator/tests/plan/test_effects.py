"""Rules of mechanisms: a demand that is listed has the keys by which it acts."""

import pytest

from tenonos import system

LOOP = "a 1 kHz control loop beside Linux"


def loaded(answer, folder):
    answer.write(folder / "composed")
    return system.load(folder / "composed" / "system.toml")


def test_memory_bandwidth_is_regulated_on_the_cores_of_linux(composed, tmp_path):
    made = loaded(composed(f"{LOOP} with memory bandwidth regulation"), tmp_path)
    linux = next(vm for vm in made.vms if vm.name == "linux")
    assert made.regulation is not None
    assert all(made.is_shared(cpu) for cpu in linux.cpus)
    motor = next(vm for vm in made.vms if vm.name == "motor")
    assert not any(made.is_shared(cpu) for cpu in motor.cpus)


def test_linux_lends_a_core_to_its_programs(composed, tmp_path):
    made = loaded(composed(f"{LOOP}, and detached threads of Linux"), tmp_path)
    linux = next(vm for vm in made.vms if vm.name == "linux")
    assert [*linux.detach] == [*linux.cpus[-1:]]


def test_linux_has_a_virtual_disk_and_its_driver(composed, tmp_path):
    made = loaded(composed(f"{LOOP} with a virtual disk"), tmp_path)
    assert [disk.vm for disk in made.disks] == ["linux"]
    linux = next(vm for vm in made.vms if vm.name == "linux")
    assert "virtio_blk" in linux.modules


def test_two_linux_vms_have_a_network_with_addresses(composed, tmp_path):
    made = loaded(composed("two Linux VMs with a virtual network"), tmp_path)
    (network,) = made.virtual_networks
    ports = [(port.vm, port.address) for port in network.ports]
    assert ports == [("linux-1", "10.0.0.1/24"), ("linux-2", "10.0.0.2/24")]
    assert all({"virtio_mmio", "virtio_net"} <= {*vm.modules} for vm in made.vms)


def test_a_called_linux_has_a_vlib_with_its_program(composed, tmp_path):
    answer = composed("image-client calls Linux as a library")
    made = loaded(answer, tmp_path)
    (vlib,) = made.vlibs
    assert (vlib.master, vlib.server) == ("image-client", "linux")
    assert "virt.vlib" in answer.images["mortise"].capabilities
    assert (tmp_path / "composed" / "classifier.c").exists()
    assert (tmp_path / "composed" / "root" / "etc" / "start").stat().st_mode & 0o100


def test_a_demand_without_a_vm_to_act_on_is_missing(composed):
    answer = composed("two control loops at 1 kHz with memory bandwidth regulation")
    assert [missing.capability for missing in answer.missing] == ["virt.bandwidth"]


@pytest.mark.parametrize("objective", [LOOP, "a 1 kHz control loop"])
def test_nothing_is_stated_that_is_not_demanded(composed, objective):
    text = composed(objective).files["system.toml"]
    assert not any(key in text for key in ("[regulation]", "[[disk]]", "[[vlib]]", "[vm.detach]"))


def test_a_task_has_the_stated_priority(composed, tmp_path):
    made = loaded(composed("a 1 kHz control loop with priority 5 beside Linux"), tmp_path)
    motor = next(vm for vm in made.vms if vm.name == "motor")
    assert [(task.name, task.priority) for task in motor.tasks] == [("control", 5)]


def test_a_priority_without_a_period_holds_for_the_period_of_the_application(composed, tmp_path):
    made = loaded(composed("a control loop of priority 12"), tmp_path)
    (task,) = made.vms[0].tasks
    assert (task.period, task.priority) == (1_000_000, 12)


def test_a_priority_that_no_task_can_have_is_a_conflict(composed):
    answer = composed("a 1 kHz control loop of priority 80")
    assert [(clash.kind, clash.value) for clash in answer.conflict] == [("priority", 80)]
    assert "1 to 63" in answer.reason


def test_cores_that_are_named_twice_are_shared(composed, tmp_path):
    made = loaded(composed("a 1 kHz control loop on core 1 and Linux on cores 0 and 1"), tmp_path)
    assert made.is_shared(1)


def test_cores_of_their_own_that_are_named_twice_are_a_conflict(composed):
    text = "static partitioning: a 1 kHz control loop on core 1 and Linux on cores 0 and 1"
    assert not composed(text).accepted
