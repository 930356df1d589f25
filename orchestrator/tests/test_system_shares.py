"""CPU reservations: valid keys, and infeasible reservations."""

import re
from pathlib import Path

import pytest

from tenonos import system
from tenonos.errors import InputError
from tenonos.system import manifest
from tenonos.system.layout import lay_out
from tenonos.system.memory_map import Content
from tenonos.system.schema import parse
from tenonos.system.units import duration_text
from tenonos.system.write import render

SHARED = """\
name = "busy"
board = "qemu-virt"
pool = "0.1"
mode = "dynamic"

[[vm]]
name = "a"
kind = "tenon"
app = "motor"
cpus = [0]
memory = "16M"
interrupts = "shared"
priority = 40
budget = "2ms"
period = "10ms"
exhausted = "wait"

[[vm]]
name = "b"
kind = "tenon"
app = "motor"
cpus = [0, 1]
memory = "16M"
interrupts = "shared"
priority = 20
schedule = "edf"
budget = "3ms"
period = "20ms"
exhausted = "background"

[[vm]]
name = "linux"
kind = "linux"
cpus = [0]
memory = "256M"
"""


def load(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> system.System:
    monkeypatch.chdir(folder)
    Path("system.toml").write_text(text)
    return system.load(Path("system.toml"))


def test_shares_reach_the_manifest(tmp_path, monkeypatch):
    busy = load(tmp_path, monkeypatch, SHARED)
    ms = 1_000_000
    assert [vm.share for vm in busy.vms] == [
        system.Share(40, False, 2 * ms, 10 * ms, False),
        system.Share(20, True, 3 * ms, 20 * ms, True),
        system.Share(0),
    ]
    spec, _ = parse(SHARED, "")
    assert parse(render(spec), "")[0] == spec
    small = Content({"image": 50_000, "header": 4096}, 0, 60_000)
    large = Content({"kernel": 30 << 20, "initramfs": 1 << 20, "tree": 16 << 10}, 0, 32 << 20)
    contents = {"a": small, "b": small, "linux": large}
    told = manifest.read(manifest.write(busy, lay_out(busy, 100_000, contents)))
    assert [tuple(vm["schedule"].values()) for vm in told["vms"]] == [
        (2 * ms, 10 * ms, 40, 0, 0),
        (3 * ms, 20 * ms, 20, 1, 1),
        (0, 0, 0, 0, 0),
    ]


# what is changed in SHARED, to what, the whole line of the complaint
WRONG = [
    ("priority = 40", "priority = 64", '13: priority of VM "a": input should be less than'),
    (
        '"edf"',
        '"rr"',
        '26: unknown schedule "rr" of VM "b"; use "fixed", "edf" or "rate-monotonic"',
    ),
    ('"wait"', '"stop"', '16: unknown exhausted "stop" of VM "a"; use "wait" or "background"'),
    ('period = "10ms"\n', "", '14: budget of VM "a" needs a period too; for example budget ='),
    ('budget = "2ms"\n', "", '14: period of VM "a" needs a budget too; for example budget ='),
    ('budget = "3ms"\nperiod = "20ms"\n', "", '27: exhausted of VM "b" needs a budget too; for'),
    (
        'budget = "3ms"\nperiod = "20ms"\nexhausted = "background"\n',
        "",
        '26: schedule of VM "b" needs a budget too; for example budget',
    ),
    ('"2ms"', '"9us"', '14: budget 9us of VM "a" is below 10us; write budget = "10us" or more'),
    (
        '"2ms"',
        '"11ms"',
        '14: budget of VM "a", 11ms, is longer than its period, 10ms; write budget = "5390us" or',
    ),
    ('"20ms"', '"5s"', '28: period 5s of VM "b" is above 4s; write period = "4s" or less'),
    (
        "priority = 20",
        "priority = 0",
        '26: VM "b" is in the background, where schedule means nothing; give it a priority from',
    ),
    (
        'priority = 20\nschedule = "edf"',
        "priority = 0",
        '28: VM "b" is in the background, where exhausted means nothing; give it a priority from',
    ),
    (
        '"3ms"',
        '"19ms"',
        '27: VMs on CPU 0 reserve 115 % of it: "a" 20 %, "b" 95 %; write budget = "12720us" or '
        "less, or reserve less for the other",
    ),
    (
        'budget = "2ms"\nperiod = "10ms"\nexhausted = "wait"\n',
        "",
        '24: "b" cannot be guaranteed its budget on CPU 0: "a" has an equal or higher priority and '
        'no budget; give "a" a budget, or "b" a priority above 40',
    ),
    (
        '"3ms"',
        '"16ms"',
        '27: "b" asks for 16ms in each 20ms on CPU 0, and at most 12720us can be guaranteed: '
        '"a" (2ms in each 10ms) can run first, and it may use one budget at the end of its own '
        'period and the next at once; write budget = "12720us" or less, give "b" a priority above '
        '40, or reduce the budget of "a"',
    ),
    (
        'schedule = "edf"\nbudget = "3ms"\nperiod = "20ms"',
        'budget = "6ms"\nperiod = "10ms"\nschedule = "fixed"',
        "",
    ),
    (
        'schedule = "edf"\nbudget = "3ms"\nperiod = "20ms"',
        'budget = "7ms"\nperiod = "10ms"\nschedule = "fixed"',
        '26: "b" asks for 7ms in each 10ms on CPU 0, and at most 6ms can be guaranteed: ',
    ),
    (
        "priority = 20",
        "priority = 40",
        '13: "a" and "b" have one priority on CPU 0, and only one of them a deadline; use two',
    ),
    (
        "cpus = [0, 1]",
        "cpus = [1]",
        '25: priority is for cores that VMs share, and "b" has its own',
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_an_error_is_one_line_with_what_where_and_how(tmp_path, monkeypatch, old, new, message):
    assert SHARED.count(old) >= 1
    text = SHARED.replace(old, new, 1)
    if not message:
        load(tmp_path, monkeypatch, text)
        return
    with pytest.raises(InputError) as error:
        load(tmp_path, monkeypatch, text)
    assert str(error.value).startswith(f"system.toml:{message}")
    assert "\n" not in str(error.value)


def test_what_can_be_guaranteed_is_accepted_and_no_more(tmp_path, monkeypatch):
    """The budget that a refusal names is the largest."""
    for schedule, most in (("fixed", 14_000), ("edf", 12_720)):
        text = SHARED.replace('"edf"', f'"{schedule}"').replace(
            'exhausted = "background"', 'exhausted = "wait"'
        )
        load(tmp_path, monkeypatch, text.replace('"3ms"', f'"{most}us"'))
        with pytest.raises(InputError) as error:
            load(tmp_path, monkeypatch, text.replace('"3ms"', f'"{most + 10}us"'))
        assert f'write budget = "{duration_text(most * 1000)}" or less' in str(error.value)


@pytest.mark.parametrize(
    ("old", "new"), [('"3ms"', '"19ms"'), ('"3ms"', '"21ms"'), ('"2ms"', '"11ms"')]
)
def test_the_budget_that_a_refusal_names_fits_and_none_above(tmp_path, monkeypatch, old, new):
    with pytest.raises(InputError) as refused:
        load(tmp_path, monkeypatch, SHARED.replace(old, new, 1))
    most = re.search(r'write budget = "(\d+)us" or less', str(refused.value))
    load(tmp_path, monkeypatch, SHARED.replace(old, f'"{most[1]}us"', 1))
    with pytest.raises(InputError):
        load(tmp_path, monkeypatch, SHARED.replace(old, f'"{int(most[1]) + 10}us"', 1))


def test_a_refusal_names_no_budget_where_none_fits(tmp_path, monkeypatch):
    """Whatever the budget of one VM is, another one asks for more than is left."""
    second = SHARED[SHARED.index("[[vm]]") : SHARED.index('[[vm]]\nname = "b"')]
    second = second.replace('name = "a"', 'name = "c"').replace('"2ms"', '"9900us"')
    text = SHARED.replace('"3ms"', '"19ms"') + "\n" + second
    with pytest.raises(InputError) as refused:
        load(tmp_path, monkeypatch, text)
    assert str(refused.value).endswith('"c" 99 %; reserve less for the others')


def test_a_refusal_names_all_that_take_the_core_first(tmp_path, monkeypatch):
    second = SHARED[SHARED.index("[[vm]]") : SHARED.index('[[vm]]\nname = "b"')]
    second = second.replace('name = "a"', 'name = "c"').replace("priority = 40", "priority = 63")
    fixed = SHARED.replace('"edf"', '"fixed"').replace('"3ms"', '"10ms"')
    text = fixed + "\n" + second
    with pytest.raises(InputError) as error:
        load(tmp_path, monkeypatch, text)
    assert str(error.value) == (
        'system.toml:27: "b" asks for 10ms in each 20ms on CPU 0, and at most 8ms can be '
        'guaranteed: "a" (2ms in each 10ms) and "c" (2ms in each 10ms) can run first, and '
        "each may use one budget at the end of its own period and the next at once, 12ms of such a "
        "period; "
        'write budget = "8ms" or less, or reduce the budget of "a" or "c"'
    )


RATED = SHARED.replace("priority = 40\n", 'schedule = "rate-monotonic"\n').replace(
    'priority = 20\nschedule = "edf"', 'schedule = "rate-monotonic"'
)


def test_a_period_determines_the_priority_of_a_vm(tmp_path, monkeypatch):
    first, second, linux = load(tmp_path, monkeypatch, RATED).vms
    assert (first.share.priority, second.share.priority) == (34, 33)
    assert not first.share.background and second.share.background
    assert linux.share.priority == 0
    # Equal periods have one priority; by default a VM continues in the background.
    text = RATED.replace('"20ms"', '"10ms"').replace('exhausted = "wait"\n', "")
    first, second, _ = load(tmp_path, monkeypatch, text).vms
    assert (first.share.priority, second.share.priority) == (33, 33)
    assert first.share.background


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'schedule = "rate',
            'priority = 40\nschedule = "rate',
            '13: priority of VM "a" follows from its period with schedule = "rate-monotonic"',
        ),
        (
            'budget = "2ms"\nperiod = "10ms"\nexhausted = "wait"\n',
            "",
            '13: schedule of VM "a" needs a budget too; for example budget',
        ),
        (
            '"3ms"',
            '"16ms"',
            '26: "b" asks for 16ms in each 20ms on CPU 0, and at most 14ms can be guaranteed: '
            '"a" (2ms in each 10ms) can run first, and it may use one budget at the end of its own '
            'period and the next at once, 6ms of such a period; write budget = "14ms" or less, or '
            'reduce the budget of "a"',
        ),
    ],
)
def test_a_rate_that_means_nothing_or_cannot_be_kept_is_refused(
    tmp_path, monkeypatch, old, new, message
):
    assert old in RATED
    with pytest.raises(InputError) as error:
        load(tmp_path, monkeypatch, RATED.replace(old, new, 1))
    assert str(error.value).startswith(f"system.toml:{message}")


def test_a_static_system_has_no_shares(tmp_path, monkeypatch):
    static = SHARED.replace('mode = "dynamic"\n', "").replace("cpus = [0, 1]", "cpus = [1]")
    static = static[: static.index('[[vm]]\nname = "linux"')]
    with pytest.raises(InputError) as error:
        load(tmp_path, monkeypatch, static)
    assert "12: priority is for cores that VMs share, and in a static system" in str(error.value)


def test_deadlines_may_have_the_whole_core(tmp_path, monkeypatch):
    a = 'priority = 20\nschedule = "edf"\nbudget = "17ms"\nperiod = "20ms"'
    text = SHARED.replace('priority = 40\nbudget = "2ms"\nperiod = "10ms"', a)
    load(tmp_path, monkeypatch, text)


def test_those_made_from_files_are_below_a_promise(tmp_path, monkeypatch):
    manages = """[reserve]
memory = "32M"
cpus = [0]

[[vm]]
name = "manager"
kind = "linux"
cpus = [2]
memory = "256M"
[vm.manages]
vms = ["*"]
memory = "16M"
cpus = [0]
priority = 20
"""
    load(tmp_path, monkeypatch, f"{SHARED}{manages.replace('20', '19')}")
    with pytest.raises(InputError) as error:
        load(tmp_path, monkeypatch, f"{SHARED}{manages}")
    assert 'VMs that "manager" creates may have an equal or higher priority; at most 19' in str(
        error.value
    )
