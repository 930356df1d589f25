"""Composition: the contract of `compose --json`, the files, and the one line of a refusal."""

import json
import time
import tomllib

import pytest
from objectives import CASES

from tenonos import cli, system
from tenonos.build.images import images
from tenonos.errors import InputError
from tenonos.plan.compose import compose
from tenonos.plan.defaults import RULES
from tenonos.plan.explain import Explainer
from tenonos.plan.models import Item
from tenonos.plan.pool import Pool
from tenonos.system.limits import BLOCK
from tenonos.system.schema import parse

DEMO = (
    "a 1 kHz motor-control loop with bounded jitter beside Linux on four cores, smallest footprint"
)
KINDS = (
    "period deadline jitter wcet tick ram image cores vms priority capability forbid utility board"
).split()


@pytest.fixture(scope="module")
def folder(composed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("composed") / "demo"
    composed(DEMO).write(folder)
    return folder


def test_it_is_chosen_and_solved_in_time():
    """The pool is loaded within the measurement, in seconds of processor time."""
    pool, began = Pool(), time.process_time()
    assert compose(DEMO, pool=pool).accepted
    assert time.process_time() - began < 2


def test_the_json_is_that_of_the_contract(composed):
    answer = json.loads(json.dumps(composed(DEMO).json_dict()))
    assert list(answer) == ("objective planner board plan images conflict missing ignored".split())
    assert answer["planner"] == "offline"
    assert answer["board"] == "qemu-virt"
    for item in answer["plan"]:
        assert list(item) == "kind value unit image from span rule".split()
        assert item["kind"] in KINDS
    assert answer["plan"][0] == {
        "kind": "period", "value": 1000000, "unit": "ns", "image": "motor",
        "from": "1 kHz", "span": [2, 7], "rule": None,
    }  # fmt: skip
    motor = answer["images"]["motor"]
    assert (motor["kind"], motor["cpus"], motor["memory"]) == ("tenon", [3], 16 << 20)
    assert {"core/timer", "apps/motor"} <= set(motor["libraries"])
    assert "time.tickless" in motor["capabilities"]
    linux = answer["images"]["linux"]
    assert (linux["cpus"], linux["memory"]) == ([0, 1, 2], 512 << 20)
    assert linux["capabilities"] == ["guest.linux"]
    assert answer["images"]["mortise"]["kind"] == "mortise"


def test_the_demo_is_composed_equal_in_meaning_to_the_system_kept_in_the_tree(folder):
    made, kept = system.load(folder), system.load("motor-linux")
    for vm, same in zip(made.vms, kept.vms, strict=True):
        ours = {k: v for k, v in vars(vm).items() if k != "config"}
        assert ours == {k: v for k, v in vars(same).items() if k != "config"}
    assert (made.board, made.mode, made.console) == (kept.board, kept.mode, kept.console)
    for image, same in zip(images(made), images(kept), strict=True):
        assert image.config.values == same.config.values


def test_the_capabilities_are_exactly_those_of_the_configuration_built(composed, folder):
    answer = composed(DEMO)
    for image in images(system.load(folder)):
        assert answer.images[image.name].capabilities == image.config.capabilities
        written = (folder / f"{image.name}.config").read_text()
        for name, value in answer.images[image.name].config.items():
            assert f"{name}={value}" in written or value == "n"


@pytest.mark.parametrize("case", [c for c in CASES if c.vms], ids=lambda case: case.text[:60])
def test_every_composition_is_a_system_that_loads(composed, tmp_path, case):
    composed(case.text).write(tmp_path)
    loaded = system.load(tmp_path)
    assert {vm.name for vm in loaded.vms} == set(case.vms)
    images(loaded)


def test_a_bound_on_the_image_is_handed_to_the_build(composed, tmp_path):
    composed("a 1 kHz control loop in under 48 KiB beside Linux").write(tmp_path)
    motor, linux = system.load(tmp_path).vms
    assert motor.image_limit == 48 << 10
    assert linux.image_limit is None


def test_less_memory_than_a_block_bounds_what_the_image_takes(composed, tmp_path):
    answer = composed("a 1 kHz control loop with 92 KiB of RAM")
    answer.write(tmp_path)
    (motor,) = system.load(tmp_path).vms
    assert (motor.memory, motor.ram_limit) == (BLOCK, 92 << 10)
    answer = composed("a 1 kHz control loop with 91 KiB of RAM")
    assert {clash.source for clash in answer.conflict} == {"control loop", "91 KiB"}
    assert "takes 94,208 bytes" in answer.reason


def test_a_bound_that_the_cards_exceed_is_a_conflict_in_the_users_words(composed, pool):
    answer = composed("a 1 kHz control loop in under 9 KiB beside Linux")
    assert [clash.source for clash in answer.conflict] == ["9 KiB"]
    assert "the smallest motor that meets them has" in answer.reason
    # Room for the lightest application, but not for the one that was asked for.
    loop = json.loads(composed(DEMO).files["explain.json"])["cost"]["images"]["motor"]
    bound = f"{loop >> 10} KiB"
    answer = composed(f"a 1 kHz control loop in under {bound} beside Linux")
    assert {clash.source for clash in answer.conflict} == {"control loop", bound}


def test_what_matters_most_weighs_most(pool):
    sizes, taken = pool.bytes_in("tenon"), pool.estimates.instructions("tenon/irq")
    assert pool.weights("tenon", "footprint") == sizes
    latency = pool.weights("tenon", "latency")
    assert latency["LIB_TENON_IRQ"] > taken * sum(sizes.values()) > sizes["LIB_TENON_IRQ"]
    assert latency["APP_HELLO"] == sizes["APP_HELLO"]
    balance = pool.weights("tenon", "balance")
    assert latency["LIB_TENON_IRQ"] > balance["LIB_TENON_IRQ"] > sizes["LIB_TENON_IRQ"]


def test_a_line_of_the_objective_cannot_leave_its_comment(composed, tmp_path):
    composed('a 1 kHz control loop\nname = "evil"\n[[vm]]').write(tmp_path)
    if (tmp_path / "system.toml").exists():
        assert tomllib.loads((tmp_path / "system.toml").read_text())["name"] == "motor"


def test_every_rule_that_is_used_is_explained(composed):
    from objectives import CASES

    used = {i.rule for case in CASES for i in composed(case.text).plan if i.rule}
    assert used <= set(RULES)


def test_a_demand_has_an_origin():
    with pytest.raises(ValueError, match="names its rule"):
        Item(kind="period", value=1)
    with pytest.raises(ValueError, match="or neither"):
        Item(kind="period", value=1, source="1 kHz")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["blorp"], "not understood: “blorp”"),
        (
            ["an MQTT broker at 1 kHz"],
            "nothing in the pool provides “MQTT broker” (net.mqtt); understood: period 1ms",
        ),
        ([DEMO, "--board", "qemu-vrit"], 'unknown board "qemu-vrit"; did you mean qemu-virt?'),
        (
            ["a 1 kHz loop on six cores"],
            "“six cores” cannot be met: 6 cores for motor, and a real-time VM has 4 at most",
        ),
        (
            ["six control loops at 1 kHz, each with its own core", "--board", "qemu-virt"],
            "“control loops” cannot be met: 6 cores, and qemu-virt has 4: let VMs share a core, "
            "or ask for fewer; understood: ",
        ),
        (
            ["four control loops beside Linux", "--board", "qemu-virt"],
            "“control loops” and “Linux” cannot be met together: 5 cores for VMs (motor-1 1, "
            "motor-2 1, motor-3 1, motor-4 1, linux 1), and qemu-virt has 4: let VMs share a core",
        ),
        (
            ["Linux with eight cores and a control loop"],
            "“eight cores” and “control loop” cannot be met together: 9 cores for VMs (motor 1, "
            "linux 8), and qemu-virt has 8",
        ),
        ([""], "objective: empty; state what is to run"),
        (["a loop \udcff beside Linux"], "objective: character 7 is not text; write it in UTF-8"),
        (["9" * 1900], f"not understood: “{'9' * 120}…”; state what is to run"),
        (["x" * 1_000_000], "objective: 1000000 characters; use at most 2000"),
        (
            ["a control loop and no control loop"],
            "“control loop” cannot be met: control.loop is both demanded and forbidden",
        ),
        (["Linux, no Linux"], "“Linux” cannot be met: guest.linux is both demanded and forbidden"),
        (["loop " * 1000], "objective: 5000 characters; use at most 2000"),
        ([DEMO, "--planner", "llm"], "--model: which model?; name a model of the endpoint"),
        ([DEMO, "--model", "gpt"], "--planner: the offline planner uses no model; use llm"),
        ([DEMO, "--planner", "oracle"], 'unknown planner "oracle"'),
    ],
)
def test_a_refusal_is_one_line_and_status_2(capsys, arguments, line):
    assert cli.run(["compose", *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert line in shown.err


@pytest.mark.parametrize(
    "objective",
    [
        "Keep Linux off the first core and run a 1 kHz control loop there",
        "Linux, but not on the first core, beside a 1 kHz control loop",
        "A 1 kHz control loop; leave the first core free, Linux on the others",
        "Linux must not run on core 3, beside a 1 kHz control loop",
        "Linux away from cores 2 and 3, and a 1 kHz control loop",
    ],
)
def test_a_core_that_something_is_not_to_have_is_not_given_to_it(composed, objective):
    with pytest.raises(InputError) as refusal:
        composed(objective)
    assert "excludes a core; name the cores to use" in str(refusal.value)


def test_with_json_a_refusal_is_printed_too(capsys):
    assert cli.run(["compose", "an MQTT broker at 1 kHz", "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["missing"] == [{"capability": "net.mqtt", "from": "MQTT broker"}]
    assert answer["images"] == {}
    assert answer["conflict"] == []


def test_the_command_writes_the_folder_and_prints_json(capsys, tmp_path):
    target = tmp_path / "mine"
    assert cli.run(["compose", DEMO, "-o", str(target), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    names = sorted(p.name for p in target.iterdir())
    assert names == ["explain.json", "mortise.config", "motor.config", "system.toml"]
    assert tomllib.loads((target / "system.toml").read_text())["name"] == "mine"
    assert json.loads((target / "explain.json").read_text())["plan"] == answer["plan"]


def test_a_folder_not_composed_is_not_overwritten(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "motor").mkdir()
    assert cli.run(["compose", "a 1 kHz control loop"]) == 2
    assert "exists and is not a composition" in capsys.readouterr().err
    assert list((tmp_path / "motor").iterdir()) == []


# explain


def test_a_library_is_explained_from_the_words_to_the_cost(pool, folder):
    timer = Explainer(folder, pool).one("LIB_CORE_TIMER", "motor")
    assert timer.chosen
    assert timer.words == "motor-control loop"
    assert DEMO[slice(*timer.span)] == timer.words
    assert timer.path[0].source == "APP_MOTOR"
    assert timer.path[-1].target == "LIB_CORE_TIMER"
    assert timer.cost == pool.estimates.size("tenon", "core/timer").loaded > 50
    assert timer.instructions["start"] > 20 and timer.measured


def test_every_parameter_has_a_rule(pool, folder, composed, tmp_path):
    found = {(image, p.symbol): p for image, p in Explainer(folder, pool).parameters()}
    stack = found["motor", "TENON_THREAD_MAIN_STACK"]
    assert stack.rule == "default-of-the-library" and int(stack.value) >= 1024
    assert found["motor", "TENON_TIME_TICKLESS"].rule == "default-of-the-library"
    assert found["motor", "TENON_THREAD_CORES"].rule == "cores-of-the-vm"
    assert not found.keys() & {("mortise", "TENON_THREAD_MAIN_STACK"), ("motor", "IMAGE_TENON")}
    composed("a 1 kHz control loop with a periodic tick beside Linux").write(tmp_path)
    found = {(image, p.symbol): p for image, p in Explainer(tmp_path, pool).parameters()}
    assert found["motor", "TENON_TIME_TICK"].rule == "demanded"
    assert ("motor", "TENON_TIME_TICKLESS") not in found


def test_every_chosen_library_has_a_reason_that_leads_to_a_demand(pool, folder):
    for explanation in Explainer(folder, pool).all():
        assert explanation.words or explanation.rule, explanation


def test_what_is_out_is_explained_too(pool, folder):
    explainer = Explainer(folder, pool)
    assert {e.because for e in explainer.about("net.mqtt")} == {
        "no library of the pool provides it"
    }
    out = [e.because for e in explainer.about("APP_HELLO")]
    assert any("depends on IMAGE_TENON" in because for because in out)
    assert any("nothing demands it" in because for because in out)


def test_explain_reports_unknown_symbols(capsys, folder, tmp_path):
    assert cli.run(["explain", str(folder), "core/timr"]) == 2
    assert "did you mean core/timer?" in capsys.readouterr().err
    assert cli.run(["explain", str(tmp_path)]) == 2
    assert "no readable explain.json" in capsys.readouterr().err


def test_explain_speaks_json(capsys, folder):
    assert cli.run(["explain", str(folder), "CONFIG_LIB_MORTISE_VGIC", "--json"]) == 0
    (vgic,) = json.loads(capsys.readouterr().out)
    assert vgic["image"] == "mortise"
    assert vgic["chosen"] is True


def test_vms_that_share_a_core_make_a_dynamic_system(composed):
    answer = composed("a 1 kHz control loop on the same core as Linux")
    assert "virt.dispatch" in answer.images["mortise"].capabilities
    assert "core/sched" in answer.images["mortise"].libraries
    spec, _ = parse(answer.files["system.toml"], "system.toml")
    assert spec.mode == "dynamic"
    assert [(vm.cpus, vm.interrupts) for vm in spec.vm] == [([0], "shared")] * 2
    alone = composed("a 1 kHz control loop beside Linux")
    assert "core/sched" not in alone.images["mortise"].libraries


def test_linux_manages_the_others_if_it_is_asked_to(composed, tmp_path):
    answer = composed("Linux and a 1 kHz control loop that it can pause")
    assert {"virt.lifecycle", "virt.dispatch"} <= set(answer.images["mortise"].capabilities)
    answer.write(tmp_path / "pausing")
    loaded = system.load(tmp_path / "pausing")
    motor, linux = loaded.vms
    assert (motor.interrupts, motor.cpus) == ("direct", (3,)), "it has its core for itself still"
    assert linux.manages.vms == ("motor", "*")
    assert loaded.reserve.cpus == linux.manages.cpus == (2,)


def test_more_cores_than_the_board_has_cannot_be_shared(composed):
    answer = composed("Linux on six cores, a 1 kHz control loop on the same core")
    assert [c.kind for c in answer.conflict] == ["cores"]


@pytest.mark.parametrize(
    ("objective", "colours"),
    [
        ("a cache-coloured control loop beside Linux", [7, 9]),
        ("a cache-coloured control loop beside Linux with 128 MiB", [8, 8]),
        ("a cache-coloured 1 kHz control loop alone", [16]),
        ("a control loop beside Linux", [None, None]),
    ],
)
def test_where_the_cache_is_partitioned_every_vm_has_colours(composed, objective, colours):
    answer = composed(objective)
    assert answer.accepted
    spec, _ = parse(answer.files["system.toml"], "system.toml")
    assert [vm.colours for vm in spec.vm] == colours


def test_a_vm_that_manages_others_is_not_coloured(composed):
    answer = composed("Linux and a cache-coloured 1 kHz control loop that it can pause")
    found = {(clash.kind, clash.source) for clash in answer.conflict}
    assert {("capability", "cache-coloured"), ("capability", "pause")} <= found
    assert "a VM that manages others" in answer.reason


@pytest.mark.parametrize(
    ("folder", "name"),
    [("servo", "servo"), ("98f727", "f727"), ("Servo 2", "servo-2"), ("42", "system")],
)
def test_a_folder_of_any_name_makes_a_system_of_one(tmp_path, folder, name):
    assert cli.run(["compose", "a 1 kHz control loop", "-o", str(tmp_path / folder)]) == 0
    assert system.load(tmp_path / folder).name == name


def test_on_a_board_with_a_gicv2_all_have_their_interrupts_direct(composed, tmp_path):
    composed("a 1 kHz control loop on a ZCU102 beside Linux").write(tmp_path)
    read = system.load(tmp_path)
    assert read.board.name == "qemu-zcu102"
    assert [vm.interrupts for vm in read.vms] == ["direct", "direct"]


@pytest.mark.parametrize(
    ("board", "chosen"), [("raspberry-pi-4", True), ("zcu102", True), ("rk3568", False)]
)
def test_the_partitions_have_the_driver_of_the_boards_gic(tmp_path, board, chosen):
    line = ["compose", "a 1 kHz control loop beside Linux", "--board", board, "-o"]
    assert cli.run([*line, str(tmp_path / "card")]) == 0
    (mortise,) = (
        image for image in images(system.load(tmp_path / "card")) if image.name == "mortise"
    )
    assert ("mortise-gicv2" in {library.package for library in mortise.libraries}) is chosen


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ("that sends samples over a channel to Linux", "sends samples"),
        ("with cache colouring beside Linux", "cache colouring"),
    ],
)
def test_what_a_board_has_not_is_refused_before_it_is_written(composed, more, asked):
    answer = composed(f"a 1 kHz control loop on a ZCU102 {more}")
    assert asked in {clash.source for clash in answer.conflict}
    assert answer.reason == (
        "qemu-zcu102 lacks what mortise takes for that, and "
        "qemu-imx8mp or qemu-virt or rk3568 has it"
    )
