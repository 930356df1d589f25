"""Periods and deadlines of `system.toml` below the least that can be, and values too large."""

import pytest
from descriptions import described, motor, table

from tenonos import system
from tenonos.build.images import images
from tenonos.errors import InputError
from tenonos.system.schema import parse


def refused(folder, *tasks, board="qemu-virt", **keys):
    text = described("least", motor(*(table("vm.task", **t) for t in tasks), cpus=[0]), **keys)
    (folder / "system.toml").write_text(text.replace('"qemu-virt"', f'"{board}"'))
    with pytest.raises(InputError) as error:
        system.load(folder)
    return str(error.value)


@pytest.mark.parametrize("period", ["1ns", "10ns", "16ns", "291ns"])
def test_a_period_below_the_cost_of_a_release_is_refused(tmp_path, period):
    line = refused(tmp_path, {"name": "control", "period": period})
    assert line.endswith(
        f'period {period} of task "control" is below the least on qemu-virt: a tick of its counter '
        "takes 16 ns, a release 292 instructions, 163 of them before its body; "
        'write period = "292ns" or more'
    )
    assert "system.toml:" in line


def test_the_least_follows_the_board(tmp_path):
    line = refused(tmp_path, {"name": "control", "period": "2us"}, board="raspberry-pi-4")
    assert "a tick of its counter takes 19 ns" in line
    assert line.endswith('write period = "2920ns" or more')


def test_a_deadline_before_the_first_instruction_is_refused(tmp_path):
    line = refused(tmp_path, {"name": "control", "period": "1ms", "deadline": "10ns"})
    assert 'deadline 10ns of task "control" is below the least' in line
    assert line.endswith('write deadline = "163ns" or more')


def test_releases_of_several_tasks_fit_the_core_together(tmp_path):
    tasks = [{"name": f"task-{n}", "period": "500ns"} for n in range(2)]
    line = refused(tmp_path, *tasks)
    assert 'releases alone take 116.8 % of a core in VM "motor"' in line


def test_a_configured_period_has_the_same_bound(tmp_path):
    (tmp_path / "system.toml").write_text(described("bare", motor(cpus=[0]), mode="bare"))
    bare = system.load(tmp_path)
    assert images(bare, ["CONFIG_TENON_PERIODIC_PERIOD_NS=292"])
    with pytest.raises(InputError, match=r"period 10ns of VM .* is below the least on qemu-virt"):
        images(bare, ["CONFIG_TENON_PERIODIC_PERIOD_NS=10"])


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ('"1ms"', '"99999999999s"', 'period: "99999999999s" is too long'),
        ('"1ms"', '"1Ms"', 'period: "1Ms" is not a duration'),
        ('"1ms"', '"1MS"', 'period: "1MS" is not a duration'),
        ('"16M"', '"16m"', 'memory: "16m" is not a size'),
        ('"16M"', '"99999999999999G"', 'memory: "99999999999999G" is too large'),
        ('"16M"', "0x" + "f" * 30, "memory: 0xffff"),
    ],
)
def test_a_value_too_large_or_of_another_case_is_one_line(old, new, line):
    text = described("large", motor(table("vm.task", name="a", period="1ms"), cpus=[0]))
    with pytest.raises(InputError) as error:
        parse(text.replace(old, new), "system.toml")
    assert line in str(error.value)
    assert len(str(error.value)) < 300
