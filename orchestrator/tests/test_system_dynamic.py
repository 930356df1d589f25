"""What a dynamic system may say: its reserve, templates, managers and channels."""

from pathlib import Path

import pytest
from descriptions import described, linux, motor, section, table

from tenonos import system
from tenonos.build.images import space
from tenonos.errors import InputError
from tenonos.system.schema import parse
from tenonos.system.write import render

DYNAMIC = described(
    "busy",
    section("reserve", memory="32M", cpus=[1, 2]),
    motor(cpus=[0], interrupts="shared"),
    linux(
        section("vm.manages", vms=["job", "motor", "*"], memory="16M", cpus=[2]),
        cpus=[0, 1],
    ),
    table(
        "template",
        table("template.task", name="control", period="1ms"),
        **{"name": "job", "app": "motor", "cpus": [2], "memory": "4M"},
        **{"start_on": "jobs", "retire": "off"},
    ),
    table("channel", **{"name": "jobs", "from": "linux", "to": "job", "slots": 64, "size": 64}),
    mode="dynamic",
)


def load(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> system.System:
    monkeypatch.chdir(folder)
    Path("system.toml").write_text(text)
    return system.load(Path("system.toml"))


def test_a_dynamic_system(tmp_path, monkeypatch):
    busy = load(tmp_path, monkeypatch, DYNAMIC)
    motor, linux = busy.vms
    (template,), (jobs,) = busy.templates, busy.channels
    assert busy.reserve == system.Reserve(32 << 20, (1, 2), 4)
    assert (motor.cpus, linux.cpus) == ((0,), (0, 1))
    assert [busy.is_shared(cpu) for cpu in range(4)] == [True, True, True, False]
    assert linux.manages == system.Manages(("job", "motor", "*"), 16 << 20, (2,), 31)
    assert linux.manages.files
    assert (template.vm.name, template.vm.interrupts) == ("job", "shared")
    assert template.start_on == "jobs"
    assert template.vm.tasks[0].name == "control"
    assert (jobs.origin, jobs.to, jobs.slots, jobs.size) == ("linux", "job", 64, 64)
    assert busy.at(template.vm, "start_on") == "system.toml:33"
    spec, _ = parse(DYNAMIC, "")
    assert parse(render(spec), "")[0] == spec


# what is changed in DYNAMIC, to what, the whole line of the complaint
WRONG_DYNAMIC = [
    ('"dynamic"', '"static"', '21: CPU 0 is given to "motor" already; free: 2, 3'),
    (
        'interrupts = "shared"\n',
        "",
        '14: VM "motor" may not own CPU 0, and has direct interrupts; write',
    ),
    ("cpus = [1, 2]", "cpus = [1, 4]", "8: there is no CPU 4: qemu-virt has 4; use 0 to 3"),
    ("cpus = [1, 2]", "cpus = [2, 2]", "8: a CPU is in the reserve twice; name it once"),
    ("cpus = [1, 2]", "cpus = [1]", '31: template "job" names CPU 2, which is not in the reserve;'),
    (
        "cpus = [1, 2]\n",
        "cpu = [1]\n",
        '8: unknown key "cpu"; did you mean cpus?',
    ),
    ('"32M"', '"1M"', "7: memory of the reserve is not a multiple of 2 MiB; for example memory ="),
    ('"32M"', '"258M"', "7: the reserve has more than 256M; give more to VMs at boot"),
    ('"256M"', '"1G"', "22: 1072M for VMs do not fit the 1024M of qemu-virt;"),
    ('"4M"', '"64M"', '32: template "job" needs more memory than the reserve has; at most 32M'),
    ('"4M"', '"4097K"', '32: memory of VM "job" is not a multiple of 2 MiB; for example'),
    (
        'name = "job"',
        'name = "motor"',
        '29: two VMs are called "motor" (first in line 11); rename one',
    ),
    (
        'start_on = "jobs"',
        'start_on = "job"',
        '33: start_on = "job": no channel of that name goes to "job"; use jobs',
    ),
    (
        'retire = "off"',
        'retire = "never"',
        '34: unknown retire "never" of template "job"; use "off"',
    ),
    (
        'retire = "off"',
        'devices = ["gpio"]',
        '34: unknown key "devices" of template "job"; known are name,',
    ),
    (
        '["job", "motor", "*"]',
        '["jab"]',
        '24: VM "linux" cannot manage "jab"; use motor, job, *',
    ),
    (
        '["job", "motor", "*"]',
        '["linux"]',
        '24: VM "linux" cannot manage itself; use motor, job, *',
    ),
    (
        '"16M"\ncpus = [2]',
        '"64M"\ncpus = [2]',
        '25: VM "linux" may create VMs with more memory than the reserve has; use at most "32M"',
    ),
    ('"16M"\ncpus = [2]', '"16M"\ncpus = [3]', '26: VM "linux" names CPU 3, which is not in the'),
    ('"16M"\ncpus = [2]', '"16M"', '25: VM "linux" may create VMs, but has no part of the reserve'),
    (
        'from = "linux"',
        'from = "lunix"',
        '41: channel "jobs" goes from "lunix", which is not a VM;',
    ),
    ('from = "linux"', 'from = "job"', '42: both ends of channel "jobs" are in VM "job"; threads'),
    ('from = "linux"\n', "", '39: from of channel "jobs" is missing; add from = "motor"'),
    ("slots = 64", "slots = 63", '43: slots of channel "jobs" are not a power of two up to 65536;'),
    ("slots = 64", 'slots = "x"', '43: slots of channel "jobs": input should be a valid integer;'),
    ("size = 64", 'size = "1M"', '44: messages of channel "jobs" are larger than 65536 bytes;'),
]


@pytest.mark.parametrize(("old", "new", "line"), WRONG_DYNAMIC, ids=[w[2] for w in WRONG_DYNAMIC])
def test_a_wrong_dynamic_system(tmp_path, monkeypatch, old, new, line):
    assert old in DYNAMIC
    with pytest.raises(InputError) as complaint:
        load(tmp_path, monkeypatch, DYNAMIC.replace(old, new, 1))
    assert str(complaint.value).startswith(f"system.toml:{line}")


def test_a_channel_of_linux_leaves_the_control_file_its_name(tmp_path, monkeypatch):
    text = DYNAMIC.replace('"jobs"', '"control"')
    with pytest.raises(InputError, match=':40: a channel of Linux cannot be called "control"'):
        load(tmp_path, monkeypatch, text)
    # Nothing of that name is in the way elsewhere.
    load(tmp_path, monkeypatch, text.replace('from = "linux"', 'from = "motor"'))


def test_a_reserve_is_needed(tmp_path, monkeypatch):
    text = DYNAMIC.replace('[reserve]\nmemory = "32M"\ncpus = [1, 2]\n', "")
    with pytest.raises(InputError, match='no reserve to create template "job" from; add '):
        load(tmp_path, monkeypatch, text)
    text = text[: text.index("[[template]]")].replace('"job", ', "")
    with pytest.raises(InputError, match='nothing for VM "linux" to create VMs from'):
        load(tmp_path, monkeypatch, text)


STATIC = (
    DYNAMIC[: DYNAMIC.index("[reserve]")].replace("dynamic", "static")
    + """
[[vm]]
name = "motor"
kind = "tenon"
app = "motor"
cpus = [0]
memory = "16M"
"""
)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[reserve]\nmemory = "2M"\ncpus = [2]\n', "a reserve"),
        ('[vm.manages]\nvms = ["motor"]\n', 'VM "motor" as a manager'),
        ('[[template]]\nname = "t"\napp = "motor"\ncpus = [1]\nmemory = "2M"\n', "templates"),
    ],
)
def test_a_static_system_stays_as_it_is(tmp_path, monkeypatch, text, what):
    with pytest.raises(InputError) as complaint:
        load(tmp_path, monkeypatch, STATIC + text)
    line = f'system.toml:13: a static system cannot have {what}; write mode = "dynamic"'
    assert str(complaint.value) == line


def test_mortise_has_room_for_what_comes(tmp_path, monkeypatch):
    busy = load(tmp_path, monkeypatch, DYNAMIC)
    given = {demand.symbol: demand.value for demand in space(busy).given("mortise")}
    assert given["MORTISE_VMS"] == "6"
    assert given["MORTISE_PAGE_TABLES"] == str(80 + 8 * 4 + 4 * 1)
    for library in ("DISPATCH", "LIFECYCLE", "CHANNEL"):
        assert given[f"LIB_MORTISE_{library}"] == "y"
    alone = {demand.symbol for demand in space(system.load("motor-linux")).given("mortise")}
    assert not alone & {f"LIB_MORTISE_{name}" for name in ("DISPATCH", "LIFECYCLE", "CHANNEL")}


def test_mortise_has_no_room_for_what_never_comes():
    def given(name):
        demands = space(system.load(name)).given("mortise")
        return {d.symbol: d.value for d in demands if d.symbol.startswith("MORTISE_")}

    assert given("bench-min") == {
        "MORTISE_VMS": "1",
        "MORTISE_CORES": "1",
        "MORTISE_VIRTUAL_DEVICES": "n",
        "MORTISE_LOG_RINGS": "n",
        # Of the core two gibibytes, interrupt controller, serial port and image; of the VM its
        # root, one for its memory, two for its status page, and two for its serial port.
        "MORTISE_PAGE_TABLES": str(5 + 1 + 1 + 2 + 2),
    }
    beside = given("motor-linux")
    assert "MORTISE_VIRTUAL_DEVICES" not in beside and beside["MORTISE_LOG_RINGS"] == "y"
    assert (beside["MORTISE_VMS"], beside["MORTISE_CORES"]) == ("2", "4")
    # What channels take is on top of what is always enough.
    assert given("bench-channel")["MORTISE_PAGE_TABLES"] == str(80 + 4 * 4)
